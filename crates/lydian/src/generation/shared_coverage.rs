//! Coverage of a function by the tests of other functions.
//!
//! A test of a function also executes its callees. If the tests of a callee leave one of its
//! objectives, or cover it only with tests that do not run by default, the tests of its callers count,
//! too: the table then shows the coverage of the suite as a whole. These tests were measured in this run.
//! They are not recorded in the ledger, since its evidence on a function must not depend on the
//! callers.

use lydian_objective::LabelId;
use lydian_report::{CriterionSummary, ObjectiveSummary, VerdictKind};

use crate::session::SessionOutcome;
use crate::suite::KeptTest;

/// Adds to the outcome of each function the coverage by tests of the others. `target` maps a function
/// of a task to its position among all measured functions. Returns the objectives that are covered now
/// and were proved infeasible.
pub(crate) fn credit(
    all: &mut [&mut SessionOutcome],
    target: impl Fn(usize, usize) -> usize,
) -> Vec<SharedContradiction> {
    let mut contradictions = Vec::new();
    for at in 0..all.len() {
        let mut own = std::mem::take(&mut all[at].objectives);
        let mut rows = std::mem::take(&mut all[at].rows);
        for (position, (objectives, rows)) in own.iter_mut().zip(&mut rows).enumerate() {
            let index = target(at, position);
            for objective in objectives {
                let runs = |test: &usize| all[at].tests[*test].on_demand().is_none();
                let Some(label) = objective.label else { continue };
                if objective.told.verdict == VerdictKind::Duplicate
                    || objective.tests.iter().any(runs)
                {
                    continue;
                }
                let covers = |kept: &KeptTest| {
                    let covered = kept.measured.covered.get(index);
                    covered.is_some_and(|covered| covered.contains(&label))
                        && kept.on_demand().is_none()
                };
                let others = all.iter().enumerate().filter(|(other, _)| *other != at);
                let others = others.flat_map(|(other, outcome)| {
                    let tests = outcome.tests.iter().enumerate();
                    tests.filter(|(_, kept)| covers(kept)).map(move |(test, _)| (other, test))
                });
                objective.elsewhere = others.collect();
                let Some(test) = objective.elsewhere.first().copied() else { continue };
                if let Some(sentence) = count(&mut objective.told, rows) {
                    let told = objective.told.clone();
                    contradictions.push(SharedContradiction {
                        at,
                        index,
                        label,
                        told,
                        test,
                        sentence,
                    });
                }
            }
        }
        (all[at].objectives, all[at].rows) = (own, rows);
    }
    contradictions
}

/// An objective that was proved infeasible and that a test of another function covers.
pub(crate) struct SharedContradiction {
    /// The position of the objective's function among the outcomes.
    pub(crate) at: usize,
    /// The position of the function among all measured functions.
    pub(crate) index: usize,
    pub(crate) label: LabelId,
    pub(crate) told: ObjectiveSummary,
    /// The position of the test's function among the outcomes, and that of the test.
    pub(crate) test: (usize, usize),
    pub(crate) sentence: String,
}

/// Counts an objective as covered. Returns a sentence if it was proved infeasible.
fn count(told: &mut ObjectiveSummary, rows: &mut [CriterionSummary]) -> Option<String> {
    let row = rows.iter_mut().find(|row| row.criterion == told.criterion)?;
    match told.verdict {
        VerdictKind::Unknown => {
            row.unknown -= 1;
            let known = row.reasons.iter().position(|(reason, _)| *reason == told.reason);
            if let Some(known) = known {
                row.reasons[known].1 -= 1;
                row.reasons.retain(|(_, count)| *count > 0);
            }
        }
        VerdictKind::InfeasibleAsAssumed => {
            row.infeasible_as_assumed -= 1;
            row.assumed.retain(|assumed| assumed.name != told.name);
        }
        VerdictKind::Infeasible => {
            told.verdict = VerdictKind::Contradictory;
            row.infeasible -= 1;
            row.unknown += 1;
            return Some(format!(
                "{}:{}: {} is covered by a test of another function, but was proved to be infeasible",
                told.file, told.line, told.name
            ));
        }
        VerdictKind::Covered | VerdictKind::Contradictory | VerdictKind::Duplicate => return None,
    }
    row.covered += 1;
    told.verdict = VerdictKind::Covered;
    told.reason.clear();
    told.assumptions.clear();
    None
}
