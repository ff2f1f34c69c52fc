//! What the ledger knows of functions under test: their verdicts, and what is open.

use lydian_ledger::FunctionName;
use lydian_objective::evidence::Verdict;
use lydian_objective::{AcceptedAssumptions, FunctionObjectives, HyperId, LabelId, LabelKey};
use rustc_hash::FxHashSet;

use super::goals::{FunctionUnderTest, Goal, Verdicts};
use super::state::Session;
use crate::error::Error;
use crate::project::Project;
use crate::shared_ledger::SharedLedger;

/// A ledger as a session sees it.
#[derive(Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub(crate) project: &'a Project,
    pub(crate) unit: &'a str,
    pub(crate) ledger: &'a SharedLedger,
    pub(crate) accepted: &'a AcceptedAssumptions,
}

impl<'a> Standing<'a> {
    /// The ledger's name for a function under test.
    pub(crate) fn function(&self, target: &FunctionUnderTest<'_>) -> FunctionName<'a> {
        let name = &self.project.program.functions[target.objectives.function].name;
        FunctionName { unit: self.unit, name }
    }

    /// The verdicts on the recorded objectives of a function under test.
    pub(crate) fn verdicts(&self, target: &FunctionUnderTest<'_>) -> Result<Verdicts, Error> {
        let (function, accepted) = (self.function(target), self.accepted);
        let verdicts = self.ledger.lock().verdicts(function, &target.scope, accepted);
        let verdicts = verdicts.map_err(Error::from)?;
        Ok(verdicts.into_iter().map(|found| (found.label, found.verdict)).collect())
    }
}

impl FunctionUnderTest<'_> {
    /// The undecided objectives of the function: those that criteria count, each once, labels first.
    /// Objectives that are infeasible as assumed are among them, since a test may break the assumption. It is
    /// the function at a position.
    pub(super) fn open_goals(&self, at: usize, verdicts: &Verdicts) -> Vec<Goal> {
        let is_left = |key: &LabelKey| {
            let open = |verdict: &Verdict| {
                matches!(verdict, Verdict::Unknown { .. } | Verdict::InfeasibleAssumed { .. })
            };
            verdicts.get(key).is_none_or(|verdict| verdict.as_ref().is_ok_and(open))
        };
        let FunctionObjectives { criteria, labels, hyper_criteria, hypers, .. } = self.objectives;
        let counted: FxHashSet<LabelId> = criteria.values().flatten().map(|e| e.label).collect();
        let counted_hypers: FxHashSet<HyperId> =
            hyper_criteria.values().flatten().map(|e| e.hyper).collect();
        let labels =
            labels.iter().filter(|(id, label)| counted.contains(id) && is_left(&label.key));
        let hypers =
            hypers.iter().filter(|(id, hyper)| counted_hypers.contains(id) && is_left(&hyper.key));
        let labels = labels.map(|(id, _)| Goal::Label(at, id));
        let all = labels.chain(hypers.map(|(id, _)| Goal::Hyper(at, id)));
        all.filter(|goal| self.asks_for(*goal)).collect()
    }
}

impl<'a> Session<'a, '_> {
    /// What the ledger knows.
    pub(crate) fn standing(&self) -> Standing<'a> {
        let Self { project, unit, ledger, accepted, .. } = *self;
        Standing { project, unit, ledger, accepted }
    }
}
