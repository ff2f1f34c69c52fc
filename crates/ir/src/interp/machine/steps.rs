//! The steps of a run, and its limit of steps.

use lydian_base::StopReason;

use crate::interp::outcome::{End, Location};

/// The steps after which it is asked whether a run goes on.
const INTERVAL: u64 = 1 << 22;

/// Counts the statements and terminators that ran.
pub(super) struct StepCounter {
    taken: u64,
    /// The limit of the run.
    limit: u64,
    /// The steps up to the next checkpoint, or to the limit.
    most: u64,
    /// Where the limit will stop the run.
    stop_at: Option<Location>,
    /// Where it did.
    stopped_at: Option<Location>,
}

impl StepCounter {
    /// A counter that allows so many steps.
    pub(super) fn new(limit: u64) -> Self {
        Self { taken: 0, limit, most: limit.min(INTERVAL), stop_at: None, stopped_at: None }
    }

    /// Counts the steps of a run of statements that begins; whether they go beyond the limit, or beyond a
    /// checkpoint.
    #[inline(always)]
    pub(super) const fn count(&mut self, steps: u64) -> bool {
        self.taken += steps;
        self.taken > self.most
    }

    /// Whether the steps beyond which the count went are those of a checkpoint.
    pub(super) const fn is_checkpoint(&self) -> bool {
        self.taken <= self.limit
    }

    /// Lets the run go on to the next checkpoint.
    pub(super) fn go_on(&mut self) {
        self.most = self.limit.min(self.taken.saturating_add(INTERVAL));
    }

    /// The observer stops the run at a checkpoint.
    pub(super) const fn cancel(&self) -> End {
        End::Stopped(StopReason::Cancelled)
    }

    /// How many steps were counted; those of the run of statements that is being executed are all among
    /// them.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }

    /// How many steps too many were counted.
    pub(super) const fn excess(&self) -> u64 {
        self.taken - self.limit
    }

    /// Notes where the limit will stop the run.
    pub(super) const fn stop_at(&mut self, location: Location) {
        self.stop_at = Some(location);
    }

    /// The limit stops the run.
    pub(super) const fn stop(&mut self) -> End {
        self.taken = self.limit;
        self.stopped_at = self.stop_at;
        End::Stopped(StopReason::Steps(self.limit))
    }

    /// Where the limit stopped the run, if it did.
    pub(super) const fn stopped_at(&self) -> Option<Location> {
        self.stopped_at
    }
}
