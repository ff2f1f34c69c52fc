//! Inputs in which lengths and ends are not those of their arrays.
//!
//! Guesses tie `len` to `buf` and `end` to `next`, which is what people mean by such names, and keeps
//! the first exploration from reading beyond arrays. A function may still be given a reader that is at
//! its end, in the midst of a larger buffer. Where objectives are left, what is guessed so is given up
//! and they are explored once more: an array may have more elements than its length says, or fewer, and
//! an end may lie anywhere in its array. What the user says stays as it is. That finds tests that end
//! well and decides nothing else: a test that crashes since its length is wrong says nothing of the
//! program.

use std::time::Duration;

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_symex::{Config, Mode};

use crate::error::Error;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, Round, Session};

/// The time for this.
const TIME: Duration = Duration::from_secs(1);
/// So large a part of a target's time is kept for it.
const SHARE: u32 = 10;

impl Session<'_, '_> {
    /// The inputs in which guessed lengths and ends are anything; none if there are no such guesses.
    pub(crate) fn without_lengths(&self, config: &Config) -> Option<InputSpec> {
        if config.mode == Mode::Plain || self.project.entry.is_some() {
            return None;
        }
        self.project.spec.without_guessed_lengths(&self.project.program, self.entry)
    }

    /// How much of the time is kept for exploring such inputs.
    pub(crate) fn time_for_relaxed_lengths(spec: Option<&InputSpec>, budget: &Budget) -> Duration {
        let share = budget.remaining().map_or(TIME, |remaining| remaining / SHARE);
        spec.map_or(Duration::ZERO, |_| share.min(TIME))
    }

    /// Explores what is left with them.
    pub(crate) fn explore_relaxed_lengths(
        &mut self,
        spec: Option<&InputSpec>,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        let Some(spec) = spec else { return Ok(()) };
        let round = Round { spec, concludes: Conclusion::Never, ends_well: true };
        self.explore_open(&round, TIME, hyper_coverage, config, budget, contradictions)
    }
}
