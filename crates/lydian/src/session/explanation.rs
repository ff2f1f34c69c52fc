//! The state of each objective, for `lydian explain` and the table as JSON.

use lydian_base::Place;
use lydian_objective::Criterion;
use lydian_objective::evidence::{Evidence, Verdict};
use lydian_report::{ObjectiveSummary, VerdictKind};

use super::goals::{Entry, FunctionUnderTest, Goal};
use super::state::Session;
use crate::error::Error;

impl Session<'_, '_> {
    /// The state of the objectives of a function under test, in the order of its criteria. Tests are
    /// given by their positions among the kept ones; `reached` has the goals that each covers.
    pub(crate) fn explained(
        &self,
        at: usize,
        target: &FunctionUnderTest<'_>,
    ) -> Result<Vec<(Goal, ObjectiveSummary)>, Error> {
        let verdicts = self.verdicts(target)?;
        let all = target.all_entries(at).map(|Entry { criterion, name, goal, same_as }| {
            let place = target.place(goal);
            let text = match self.text_with_macros(goal).trim() {
                // Its predicate is always true.
                "1" => "control passes here".to_owned(),
                text => text.to_owned(),
            };
            let mut told = told(criterion, name, place, text);
            match (same_as, verdicts.get(target.key(goal))) {
                (Some(first), _) => {
                    told.verdict = VerdictKind::Duplicate;
                    told.reason = format!("the same as {first}");
                }
                (None, Some(Ok(verdict))) => say(verdict, &mut told),
                (None, Some(Err(_))) => told.verdict = VerdictKind::Contradictory,
                (None, None) => told.reason = "not tried".to_owned(),
            }
            (goal, told)
        });
        Ok(all.collect())
    }
}

fn told(criterion: Criterion, name: &str, place: &Place, text: String) -> ObjectiveSummary {
    ObjectiveSummary {
        criterion,
        name: name.to_owned(),
        file: place.file.to_string(),
        line: place.line,
        column: place.column,
        text,
        verdict: VerdictKind::Unknown,
        reason: String::new(),
        assumptions: Vec::new(),
        only_by: None,
        tests: Vec::new(),
    }
}

/// Adds a verdict.
fn say(verdict: &Verdict, told: &mut ObjectiveSummary) {
    match verdict {
        Verdict::Covered { .. } => told.verdict = VerdictKind::Covered,
        Verdict::Infeasible { argument } => {
            told.verdict = VerdictKind::Infeasible;
            argue(argument, told);
        }
        Verdict::InfeasibleAssumed { argument, assumptions } => {
            told.verdict = VerdictKind::InfeasibleAsAssumed;
            argue(argument, told);
            told.assumptions.clone_from(assumptions);
        }
        Verdict::Duplicate { .. } => told.verdict = VerdictKind::Duplicate,
        Verdict::Unknown { reason } => told.reason = reason.to_string(),
    }
}

fn argue(argument: &Evidence, told: &mut ObjectiveSummary) {
    argument.method().clone_into(&mut told.reason);
    if let Evidence::Complete { preconditions, assumptions, invariants, .. } = argument {
        if !preconditions.is_empty() {
            told.reason += &format!(", with {preconditions}");
        }
        if !invariants.is_empty() {
            told.reason += &format!(": {}", invariants.join("; "));
        }
        told.assumptions.clone_from(assumptions);
    }
}
