//! What is cheap to decide is decided first, whatever else is asked.
//!
//! Statements, branches and MC/DC are few, and paths of the program decide most of them. Mutants, boundaries and
//! pairs are many, each a question of its own, and in a short time leave none for the others. So where both
//! are asked for, those are explored alone at first, for a part of the time; their tests count for all. What
//! that leaves is explored with the rest.

use std::time::Duration;

use lydian_base::Budget;
use lydian_symex::{Config, Mode, Summary};
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, LastDiscovery, Round, Session};

/// The time for this is so much and a part of what there is, but three quarters of that at most.
const TIME: Duration = Duration::from_millis(150);
const SHARE: u32 = 5;

impl Session<'_, '_> {
    /// Proves and explores the objectives of control alone, where more others are asked for. Gives what
    /// came of the exploration, if there was one.
    pub(crate) fn decide_control(
        &mut self,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<Option<(Summary, LastDiscovery)>, Error> {
        let left = self.open_goals()?;
        let control = self.of_control(&left);
        if config.mode == Mode::Plain || left.len() <= 2 * control.len() {
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
        // What crashes does so afterwards, too.
        let config = Config { crash_tests: false, ..config.clone() };
        // What cannot be explored is said of all objectives then.
        let found =
            self.explore(&round, &control, hyper_coverage, &config, &budget, contradictions)?;
        Ok(found.ok())
    }

    /// Those of some objectives that a criterion of control asks for.
    fn of_control(&self, left: &[Goal]) -> Vec<Goal> {
        let left: FxHashSet<Goal> = left.iter().copied().collect();
        let mut seen = FxHashSet::default();
        let entries = self.entries_of(&left);
        let control = entries.filter(|(.., criterion)| criterion.is_of_control());
        control.map(|(_, goal, ..)| goal).filter(|goal| seen.insert(*goal)).collect()
    }
}
