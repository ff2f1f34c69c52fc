//! What cannot be measured, and why: it is listed with the reason, and not counted as missed.

use lydian_ir::DecisionId;
use lydian_objective::{LabelId, SequenceId, Site};

use super::{Action, RewriteRequest, WatchedFunction};
use crate::plan::{Plan, UnmeasuredSequence, Unwatched};

/// The labels of an edit that could not be made.
pub(super) fn add_refused(
    action: &Action,
    functions: &[(u32, WatchedFunction)],
    request: &RewriteRequest<'_>,
    plan: &mut Plan,
) {
    let (function, site) = match action {
        Action::Root { function, root } => (*function, Site::Root(*root)),
        Action::Decision { function, index } | Action::Condition { function, index, .. } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let decision = found.decisions[*index].id;
            add_all(&found.flow.lost_with_decision(decision), OVERLAP, plan);
            let is_on_paths = |key: &(DecisionId, _)| key.0 == decision;
            if found.paths.conditions.keys().any(is_on_paths) {
                found.paths.lose(*function, plan);
            }
            add_all(&found.decisions[*index].sequences, OVERLAP, plan);
            (*function, Site::Decision(decision))
        }
        Action::Unit { function, span } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let unit = &found.units[span];
            unit.sequences.iter().for_each(|lost| add_all(lost, OVERLAP, plan));
            return add_labels(*function, &unit.labels, OVERLAP, plan);
        }
        Action::Place { function, span } => {
            let found = functions.iter().find(|(number, _)| number == function);
            let Some((_, found)) = found else { return };
            let lost = found.places[span].sequences.iter();
            return lost.for_each(|lost| add_all(lost, OVERLAP, plan));
        }
        Action::Insert(_)
        | Action::Remove
        | Action::Start { .. }
        | Action::Mark { .. }
        | Action::Label { .. }
        | Action::Switch { .. }
        | Action::Goto { .. }
        | Action::Capture { .. } => {
            return;
        }
    };
    let labels = request.watched[function as usize].labels.iter();
    let own = labels.filter(|(_, label)| label.site == site).map(|(label, _)| Unwatched {
        function,
        label,
        reason: OVERLAP.to_owned(),
    });
    plan.unwatched.extend(own);
}

/// Why an edit could not be made.
pub(super) const OVERLAP: &str = "its text overlaps that of another place";

/// Why a site could not be recorded.
pub(super) const NO_PLACE: &str = "its place in the text is not known";

/// Says that labels cannot be measured.
pub(super) fn add_labels(function: u32, labels: &[LabelId], reason: &str, plan: &mut Plan) {
    let lost =
        labels.iter().map(|label| Unwatched { function, label: *label, reason: reason.to_owned() });
    plan.unwatched.extend(lost);
}

/// Says that sequences cannot be measured, each with the position of its function.
pub(super) fn add_all(all: &[(u32, SequenceId)], reason: &str, plan: &mut Plan) {
    all.iter()
        .for_each(|(function, sequence)| add_sequences(*function, &[*sequence], reason, plan));
}

/// Says that sequences cannot be measured.
pub(super) fn add_sequences(
    function: u32,
    sequences: &[SequenceId],
    reason: &str,
    plan: &mut Plan,
) {
    let lost = sequences.iter().map(|sequence| UnmeasuredSequence {
        function,
        sequence: *sequence,
        reason: reason.to_owned(),
    });
    plan.unmeasured.extend(lost);
}
