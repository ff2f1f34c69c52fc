//! The choice of tests that are worth recording when every path gives one.

use lydian_symex::Ending;
use rustc_hash::FxHashSet;

use super::goals::Goal;
use super::state::MeasuredTest;

/// Objectives and endings that no test has shown yet.
pub(crate) struct NoveltyFilter {
    /// The objectives that none covers.
    open: FxHashSet<Goal>,
    /// The endings of tests that did not end well, with the objectives that they cover.
    endings: FxHashSet<(String, Vec<Goal>)>,
}

impl NoveltyFilter {
    /// A filter without tests; these objectives are open.
    pub(crate) fn of(left: &[Goal]) -> Self {
        Self { open: left.iter().copied().collect(), endings: FxHashSet::default() }
    }

    /// Whether a test is worth recording: it is the first to cover some objective, it contradicts a
    /// claim, or it is the first of its objectives with an expected ending that is not good.
    pub(crate) fn admits(&mut self, test: &MeasuredTest, ending: Ending) -> bool {
        let completed = test.completes.iter().map(|(goal, _)| goal);
        let before = self.open.len();
        test.covered.iter().chain(completed).for_each(|goal| _ = self.open.remove(goal));
        let ends_badly = !matches!(ending, Ending::Returned | Ending::Exited);
        self.open.len() < before
            || test.unconfirmed.is_some()
            || ends_badly && self.endings.insert((ending.to_string(), test.covered.clone()))
    }
}
