//! The labels of a table that are left to augmentation: transformed conditions, which the search takes no
//! notice of.

use lydian_base::EntityId as _;
use lydian_ir::{DecisionId, FuncId};

use super::{GoalId, LabelTable};
use crate::machine::program::site::SiteKey;

impl LabelTable<'_> {
    /// Makes a goal one that only augmented paths are asked for.
    pub(super) fn leave_to_augmentation(&mut self, goal: GoalId) {
        let entry = &mut self.goals[goal.index()];
        entry.augments = true;
        entry.repeats = self.augmentation.is_some_and(|augmentation| augmentation.each_occurrence);
        self.left -= usize::from(entry.own);
    }

    /// Whether the search looks for paths to a site of a function: an objective that is left can be
    /// covered there, and not only by augmentation.
    pub(crate) fn is_sought(&self, func: FuncId, site: SiteKey) -> bool {
        if self.augmentation.is_none() {
            return self.is_open(func, site);
        }
        let Some(labels) = self.functions[func.index()].as_ref() else { return false };
        let sought = |goal: &GoalId| {
            let goal = &self.goals[goal.index()];
            !goal.augments && !goal.is_settled()
        };
        let ends = labels.ends.get(&site).map(Vec::as_slice).unwrap_or_default();
        self.listed(func, site).iter().any(sought)
            || ends.iter().any(|goal| self.is_followed(*goal))
            || labels.watched.get(&site).is_some_and(|count| *count > 0)
    }

    /// Whether a goal is left to augmentation.
    pub(crate) fn augments(&self, goal: GoalId) -> bool {
        self.goals[goal.index()].augments
    }

    /// Whether a goal is left to augmentation, and stays to be asked for although it is covered.
    pub(crate) fn is_asked_again(&self, goal: GoalId) -> bool {
        let goal = &self.goals[goal.index()];
        goal.augments && goal.repeats && goal.covered
    }

    /// Whether augmentation asks for labels of a site.
    pub(crate) fn augments_at(&self, func: FuncId, site: SiteKey) -> bool {
        self.augmentation.is_some()
            && self.listed(func, site).iter().any(|goal| {
                let goal = &self.goals[goal.index()];
                goal.augments && !goal.is_settled()
            })
    }

    /// The decision that a goal is a label of, with its function.
    pub(crate) fn decision_of(&self, goal: GoalId) -> Option<(FuncId, DecisionId)> {
        let decision = self.goals[goal.index()].decision?;
        Some((self.sites_of(goal)?.0, decision))
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::SourceMap;
    use lydian_objective::Criterion;
    use lydian_objective::annotate::{Request, annotate};

    use super::*;
    use crate::config::Augmentation;
    use crate::exploration::eviction::tests::program;
    use crate::limits::Cut;

    #[test]
    fn a_goal_that_stays_to_be_asked_for_is_not_open_again_once_it_is_covered_again() {
        let (program, func) = program();
        let map = SourceMap::from_preprocessed(" ".repeat(4096), "paths.c");
        let request = Request::new(vec![Criterion::AugBoundary]);
        let annotated = annotate(&program, &map, func, &request).expect("it has a body");
        let objectives = [annotated.objectives];
        let each = Augmentation { each_occurrence: true, ..Augmentation::default() };
        let mut table = LabelTable::new(&program, &objectives, Some(each));
        let goal = GoalId::from_index(0);
        assert!(table.augments(goal));
        table.cover(goal);
        table.uncover(goal, Cut::PathSteps(1));
        assert!(table.has_reopened());
        table.cover(goal);
        assert!(table.is_asked_again(goal) && !table.has_reopened());
    }
}
