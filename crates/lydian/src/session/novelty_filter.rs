//! Which tests are worth recording where every path gives one.

use lydian_symex::Ending;
use rustc_hash::FxHashSet;

use super::goals::Goal;
use super::state::MeasuredTest;

/// What tests have not shown yet.
pub(crate) struct NoveltyFilter {
    /// The objectives that none covers.
    open: FxHashSet<Goal>,
    /// How tests that did not end well ended, with what they cover.
    endings: FxHashSet<(String, Vec<Goal>)>,
}

impl NoveltyFilter {
    /// No tests yet; these objectives are left.
    pub(crate) fn of(left: &[Goal]) -> Self {
        Self { open: left.iter().copied().collect(), endings: FxHashSet::default() }
    }

    /// Whether a test that was run is the first to cover some objective, contradicts a claim, or is
    /// the first of those with its objectives that were expected to end so, where that is no good end.
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
