//! The open objectives in the form that explorations take.

use lydian_ir::FuncId;
use lydian_objective::{CoverageRecord, FunctionObjectives};
use lydian_symex::{HyperRef, LabelRef};
use rustc_hash::FxHashSet;

use super::goals::{FunctionUnderTest, Goal};
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::state::MeasuredFunctions;
use crate::objectives::functions_named;

/// The objectives to explore: those of the functions under test with only the open entries, and those
/// of other functions whose labels they mention without any entries.
pub(crate) struct OpenObjectives {
    pub(crate) objectives: Vec<FunctionObjectives>,
    /// The evidence of existing tests for each.
    pub(crate) known: Vec<CoverageRecord>,
    /// The functions under test.
    targets: Vec<FuncId>,
}

impl OpenObjectives {
    /// `further` has the labels of functions that are not measured.
    pub(crate) fn new(
        MeasuredFunctions { all, further, .. }: MeasuredFunctions<'_>,
        targets: &[FunctionUnderTest<'_>],
        left: &[Goal],
        hyper_coverage: &HyperlabelCoverage<'_>,
    ) -> Self {
        let left: FxHashSet<Goal> = left.iter().copied().collect();
        let mut chosen: Vec<(usize, FunctionObjectives)> = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let open = only(target.objectives, &|goal| left.contains(&goal), at);
            if open.criteria.values().any(|entries| !entries.is_empty())
                || open.hyper_criteria.values().any(|entries| !entries.is_empty())
            {
                chosen.push((target.index, open));
            }
        }
        let needed: FxHashSet<FuncId> =
            chosen.iter().flat_map(|(_, open)| functions_named(open)).collect();
        for (index, other) in all.iter().enumerate() {
            let known = chosen.iter().any(|(_, open)| open.function == other.function);
            if !known && needed.contains(&other.function) {
                chosen.push((index, only(other, &|_| false, 0)));
            }
        }
        let known = chosen.iter().map(|(index, _)| hyper_coverage.record(*index));
        let mut known: Vec<CoverageRecord> = known.collect();
        let further = further.iter().filter(|other| needed.contains(&other.function));
        let further: Vec<FunctionObjectives> = further.cloned().collect();
        known.resize_with(known.len() + further.len(), CoverageRecord::new);
        let targets = targets.iter().map(|target| target.objectives.function).collect();
        let chosen = chosen.into_iter().map(|(_, open)| open);
        Self { objectives: chosen.chain(further).collect(), known, targets }
    }

    fn target(&self, func: FuncId) -> Option<usize> {
        self.targets.iter().position(|target| *target == func)
    }

    /// A label of a function under test.
    pub(crate) fn label(&self, label: LabelRef) -> Option<Goal> {
        Some(Goal::Label(self.target(label.func)?, label.label))
    }

    /// A hyperlabel of a function under test.
    pub(crate) fn hyper(&self, hyper: HyperRef) -> Option<Goal> {
        Some(Goal::Hyper(self.target(hyper.func)?, hyper.hyper))
    }
}

/// The objectives with only some entries. Labels, sequences and hyperlabels keep their numbers.
fn only(
    objectives: &FunctionObjectives,
    is_left: &dyn Fn(Goal) -> bool,
    target: usize,
) -> FunctionObjectives {
    let mut open = objectives.clone();
    for entries in open.criteria.values_mut() {
        entries.retain(|entry| is_left(Goal::Label(target, entry.label)));
    }
    for entries in open.hyper_criteria.values_mut() {
        entries.retain(|entry| is_left(Goal::Hyper(target, entry.hyper)));
    }
    open
}
