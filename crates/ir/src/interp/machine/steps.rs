//! The steps of a run, and its limit of steps.

use lydian_base::StopReason;

use crate::interp::outcome::{End, Location};

/// Counts the statements and terminators that ran.
pub(super) struct StepCounter {
    taken: u64,
    most: u64,
    /// Where the limit will stop the run.
    stop_at: Option<Location>,
    /// Where it did.
    stopped_at: Option<Location>,
}

impl StepCounter {
    /// A counter that allows so many steps.
    pub(super) const fn new(most: u64) -> Self {
        Self { taken: 0, most, stop_at: None, stopped_at: None }
    }

    /// Counts the steps of a run of statements that begins; whether they are more than allowed.
    #[inline(always)]
    pub(super) const fn count(&mut self, steps: u64) -> bool {
        self.taken += steps;
        self.taken > self.most
    }

    /// How many steps were counted; those of the run of statements that is being executed are all among
    /// them.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }

    /// How many steps too many were counted.
    pub(super) const fn excess(&self) -> u64 {
        self.taken - self.most
    }

    /// Notes where the limit will stop the run.
    pub(super) const fn stop_at(&mut self, location: Location) {
        self.stop_at = Some(location);
    }

    /// The limit stops the run.
    pub(super) const fn stop(&mut self) -> End {
        self.taken = self.most;
        self.stopped_at = self.stop_at;
        End::Stopped(StopReason::Steps(self.most))
    }

    /// Where the limit stopped the run, if it did.
    pub(super) const fn stopped_at(&self) -> Option<Location> {
        self.stopped_at
    }
}
