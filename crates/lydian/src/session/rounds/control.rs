//! A first exploration of the objectives of control flow, which are cheap to decide.
//!
//! Statements, branches and MC/DC are few, and paths of the program decide most of them. Mutants,
//! boundaries and pairs are many, need one question each, and in a short time leave none for the
//! others. If both kinds are requested, the former are explored alone at first for a part of the time.
//! Their tests count for all objectives, and their open objectives are explored again with the rest.

use std::time::Duration;

use lydian_base::Budget;
use lydian_symex::{Config, Mode, Summary};
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, LastDiscovery, Round, Session};

/// The time for this: a fixed part and a fraction of the session's time, but at most three quarters of
/// it.
const TIME: Duration = Duration::from_millis(150);
const SHARE: u32 = 5;

impl Session<'_, '_> {
    /// Proves and explores the objectives of control flow alone, if there are more objectives of other
    /// kinds. Returns the result of the exploration, if there was one.
    pub(crate) fn decide_control(
        &mut self,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<Option<(Summary, LastDiscovery)>, Error> {
        let left = self.open_goals()?;
        let control = self.of_control(&left);
        if config.mode == Mode::Plain
            || config.augmentation.is_some()
            || left.len() <= 2 * control.len()
        {
            return Ok(None);
        }
        let Some(time) = budget.remaining() else { return Ok(None) };
        let budget = budget.part(Some((TIME + time / SHARE).min(time * 3 / 4)));
        self.prove(&control, config, &budget)?;
        self.record_implied_verdicts()?;
        let control = self.of_control(&self.open_goals()?);
        if control.is_empty() || budget.exceeded().is_some() {
            return Ok(None);
        }
        let round =
            Round { spec: &self.project.spec, concludes: Conclusion::IfComplete, ends_well: false };
        // Crashes are found in the main exploration.
        let config = Config { crash_tests: false, ..config.clone() };
        // An error is recorded for all objectives in the main exploration.
        let found =
            self.explore(&round, &control, hyper_coverage, &config, &budget, contradictions)?;
        Ok(found.ok())
    }

    /// The goals that a criterion of control flow asks for.
    fn of_control(&self, left: &[Goal]) -> Vec<Goal> {
        let left: FxHashSet<Goal> = left.iter().copied().collect();
        let mut seen = FxHashSet::default();
        let entries = self.entries_of(&left);
        let control = entries.filter(|(_, entry)| entry.criterion.is_of_control());
        control.map(|(_, entry)| entry.goal).filter(|goal| seen.insert(*goal)).collect()
    }
}
