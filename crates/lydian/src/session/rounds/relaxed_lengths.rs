//! Exploration with inputs whose lengths and ends do not match their arrays.
//!
//! Guesses tie `len` to `buf` and `end` to `next`, which is what people mean by such names, and keep
//! the main exploration from reading beyond arrays. A function may still get a reader that is at its
//! end, in the middle of a larger buffer. If objectives are open, they are explored again without these
//! guesses: an array may have more or fewer elements than its length says, and an end may lie anywhere
//! in its array. The user's settings stay. This finds tests that end well and decides nothing else: a
//! test that crashes because of a wrong length says nothing about the program.

use std::time::Duration;

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_symex::{Config, Mode};

use crate::error::Error;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, Round, Session};

/// The time for this.
const TIME: Duration = Duration::from_secs(1);
/// The fraction (one n-th) of a session's time that is reserved for it.
const SHARE: u32 = 10;

impl Session<'_, '_> {
    /// The inputs without guessed lengths and ends; none if there are no such guesses.
    pub(crate) fn without_lengths(&self, config: &Config) -> Option<InputSpec> {
        if config.mode == Mode::Plain || self.project.entry().is_some() {
            return None;
        }
        self.project.spec.without_guessed_lengths(&self.project.program, self.entry)
    }

    /// The time that is reserved for exploring such inputs.
    pub(crate) fn time_for_relaxed_lengths(spec: Option<&InputSpec>, budget: &Budget) -> Duration {
        let share = budget.remaining().map_or(TIME, |remaining| remaining / SHARE);
        spec.map_or(Duration::ZERO, |_| share.min(TIME))
    }

    /// Explores the open objectives with such inputs.
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
