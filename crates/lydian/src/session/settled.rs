//! Sessions with nothing to find: the ledger has all tests and what they did, a verdict or an attempt for each
//! objective, and the selection of the suite's tests. Their outcome is read, and nothing is measured, proved,
//! explored or chosen.
//!
//! **Invariant:** the outcome is the one that the steps of a session would give.

use std::time::Duration;

use lydian_symex::Config;

use super::SessionOutcome;
use super::state::Session;
use crate::error::Error;

impl Session<'_, '_> {
    /// The outcome of a session that is settled; none if its steps are to be taken. `time` is that for making
    /// tests small.
    pub(super) fn settled_outcome(
        &mut self,
        config: &Config,
        time: Option<Duration>,
    ) -> Result<Option<SessionOutcome>, Error> {
        if !self.runs.is_settled || !self.asks_nobody_else(config) || self.has_contradictions()? {
            return Ok(None);
        }
        let taken_over = self.take_over(config)?;
        if taken_over.is_none() && self.has_work(config)? {
            return Ok(None);
        }
        let Some(tests) = self.taken_selection(time)? else { return Ok(None) };
        self.note_kept_attempts();
        log::info!("{}: {} tests are kept as an earlier run chose them", self.name(), tests.len());
        let rows = self.targets.iter().map(|target| self.rows(target));
        let rows = rows.collect::<Result<_, _>>()?;
        let objectives = self.objectives_with(&tests)?;
        let tests = tests.into_iter().map(|(kept, _)| kept).collect();
        Ok(Some(SessionOutcome {
            rows,
            tests,
            objectives,
            contradictions: Vec::new(),
            refused: None,
            taken_over: taken_over.unwrap_or_default(),
            unmet: Vec::new(),
            exploration: None,
            attempts: self.runner.take_attempts(),
        }))
    }

    /// Whether verdicts follow from the ledger alone: no checker is asked, nothing is augmented, and nothing is
    /// left alone because of a change.
    fn asks_nobody_else(&self, config: &Config) -> bool {
        self.outside.is_none()
            && config.augmentation.is_none()
            && self.targets.iter().all(|target| target.impacted.is_none())
    }

    fn has_contradictions(&self) -> Result<bool, Error> {
        for target in self.targets {
            if self.verdicts(target)?.values().any(Result::is_err) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
