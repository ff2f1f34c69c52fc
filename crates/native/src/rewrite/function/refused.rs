//! Edits that could not be made since their texts overlap: their labels and sequences become
//! uninstrumentable.

use lydian_ir::DecisionId;
use lydian_objective::Site;

use crate::plan::{Plan, UnmeasuredLabel};
use crate::rewrite::edits::EditAction;
use crate::rewrite::function::FunctionEdits;
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::uninstrumentable::{self, OVERLAP};

/// Adds the labels and sequences of a refused edit to the uninstrumentable ones.
pub(crate) fn add_refused(
    action: &EditAction,
    functions: &[(u32, FunctionEdits)],
    request: &RewriteRequest<'_>,
    plan: &mut Plan,
) {
    let (function, site) = match action {
        EditAction::Root { function, root } => (*function, Site::Root(*root)),
        EditAction::Decision { function, index }
        | EditAction::Condition { function, index, .. } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let decision = found.decisions[*index].id;
            uninstrumentable::add_all(&found.flow.sequences_with_decision(decision), OVERLAP, plan);
            let is_on_paths = |key: &(DecisionId, _)| key.0 == decision;
            if found.paths.conditions.keys().any(is_on_paths) {
                found.paths.add_uninstrumentable(*function, plan);
            }
            uninstrumentable::add_all(&found.decisions[*index].sequences, OVERLAP, plan);
            (*function, Site::Decision(decision))
        }
        EditAction::Unit { function, span } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let unit = &found.units[span];
            unit.sequences
                .iter()
                .for_each(|affected| uninstrumentable::add_all(affected, OVERLAP, plan));
            return uninstrumentable::add_labels(*function, &unit.labels, OVERLAP, plan);
        }
        EditAction::Place { function, span } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let affected = found.places[span].sequences.iter();
            return affected
                .for_each(|affected| uninstrumentable::add_all(affected, OVERLAP, plan));
        }
        EditAction::Insert(_)
        | EditAction::Remove
        | EditAction::Start { .. }
        | EditAction::Mark { .. }
        | EditAction::Label { .. }
        | EditAction::Switch { .. }
        | EditAction::Case { .. }
        | EditAction::Goto { .. }
        | EditAction::Capture { .. } => {
            return;
        }
    };
    let labels = request.watched[function as usize].labels.iter();
    let own = labels.filter(|(_, label)| label.site == site).map(|(label, _)| UnmeasuredLabel {
        function,
        label,
        reason: OVERLAP.to_owned(),
    });
    plan.unmeasured_labels.extend(own);
}
