//! Exploration of the objectives that are covered, but only by tests that the suite runs on demand.
//!
//! The main exploration takes any run for a test. One that crashes behind its objective, or whose behaviour
//! C leaves undefined, is behind a macro in the suite, and coverage tools do not see it. So these
//! objectives are explored once more: traps end paths as assumptions do that do not hold, signed overflow
//! among them, and only tests that end well are accepted. This finds tests and decides nothing: an objective
//! without such a test stays covered by the one that there is, and the table says so.

use std::time::Duration;

use lydian_base::Budget;
use lydian_symex::{Config, Mode};
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, Round, Session};

/// The time for this in a session without a limit.
const TIME: Duration = Duration::from_secs(1);
/// The fraction (one n-th) of a session's time that is reserved for it.
const SHARE: u32 = 10;

impl Session<'_, '_> {
    /// The time that is reserved for such an exploration.
    pub(crate) fn time_for_default_tests(config: &Config, budget: &Budget) -> Duration {
        if config.mode != Mode::Tight || config.augmentation.is_some() || config.every_path {
            return Duration::ZERO;
        }
        budget.remaining().map_or(TIME, |remaining| remaining / SHARE)
    }

    /// Looks for tests that run by default where there are only others, in the time that is reserved for it.
    pub(crate) fn explore_for_default_tests(
        &mut self,
        time: Duration,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        if time.is_zero() || budget.exceeded().is_some() {
            return Ok(());
        }
        let left = self.goals_on_demand()?;
        let spec = &self.project.spec;
        let round = Round { spec, concludes: Conclusion::Never, ends_well: true };
        let config = Config { good_ends: true, overflow: self.runner.overflow(), ..config.clone() };
        self.explore_again(&round, (left, time), hyper_coverage, &config, budget, contradictions)
    }

    /// The labels that known tests cover, and none of them that runs by default.
    fn goals_on_demand(&mut self) -> Result<Vec<Goal>, Error> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let (mut by_default, mut others) = (FxHashSet::default(), Vec::new());
        for (test, measured) in all {
            let covered = self.covered_by(&measured);
            match self.on_demand(&test, &measured) {
                None => by_default.extend(covered),
                Some(_) => others.extend(covered),
            }
            self.recorded.put_back(test, measured);
        }
        let mut seen = by_default;
        others.retain(|goal| seen.insert(*goal));
        Ok(others)
    }
}
