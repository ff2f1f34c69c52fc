//! Objectives that are left alone because a change does not affect them.

use lydian_objective::evidence::{Evidence, UnknownReason, Verdict};

use super::goals::Goal;
use super::state::Session;
use crate::error::Error;

/// The reason for which nothing is known of such an objective.
pub(crate) const LEFT_ALONE: &str = "left alone: the change does not affect it";

impl Session<'_, '_> {
    /// Records the reason for objectives that were never asked for because of the change. Those with
    /// any other evidence keep it.
    pub(crate) fn record_left_alone(&mut self) -> Result<(), Error> {
        let mut all = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            let verdicts = self.verdicts(target)?;
            let is_untried = |goal: &Goal| match verdicts.get(target.key(*goal)) {
                None => true,
                Some(Ok(Verdict::Unknown { reason })) => *reason == UnknownReason::NotTried,
                Some(_) => false,
            };
            let goals = target.entries(at).map(|entry| entry.goal);
            let alone = goals.filter(|goal| !target.asks_for(*goal)).filter(is_untried);
            all.extend(alone.map(|goal| {
                let reason = UnknownReason::NotFollowed(LEFT_ALONE.to_owned());
                (goal, Evidence::Unknown { reason })
            }));
        }
        if all.is_empty() {
            return Ok(());
        }
        self.record_evidence(&all)
    }
}
