//! Budgets: every limit has a typed reason that carries it, and no work is cut silently.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The reason for which work stopped before its natural end.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The wall-clock limit, in milliseconds.
    Time(u64),
    /// The limit on live states.
    States(u64),
    /// The limit on finished paths.
    Paths(u64),
    /// The limit on executed instructions.
    Steps(u64),
    /// The limit on resident memory, in bytes.
    Memory(u64),
    /// The user asked to stop.
    Cancelled,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(ms) => write!(f, "time limit of {:.1} s", *ms as f64 / 1000.0),
            Self::States(limit) => write!(f, "limit of {limit} states"),
            Self::Paths(limit) => write!(f, "limit of {limit} paths"),
            Self::Steps(limit) => write!(f, "limit of {limit} steps"),
            Self::Memory(limit) => write!(f, "memory limit of {} MiB", limit >> 20),
            Self::Cancelled => write!(f, "stopped by the user"),
        }
    }
}

/// A flag that tells running work to stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a stop. Safe to call from a signal handler.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for libraries that poll one.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// A wall-clock limit together with the user's wish to stop.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    limit: Option<Duration>,
    /// The time that is reserved at the end of the limit.
    kept: Duration,
    /// The time that is reserved there once work needs it.
    reserve: Option<Arc<Reserve>>,
    /// Whether that time is at the end of this limit, and not of one that it is a part of.
    has_reserve: bool,
    /// Paused time in microseconds, of this budget and all parts of it, and its value at the start of
    /// this one.
    paused: Arc<AtomicU64>,
    before: u64,
    cancel: CancelToken,
}

/// Time for later work of which it turns out only meanwhile whether there is any.
#[derive(Debug)]
struct Reserve {
    time: Duration,
    is_needed: AtomicBool,
}

impl Budget {
    /// Starts the clock. `limit` of `None` means no wall-clock limit.
    pub fn start(limit: Option<Duration>, cancel: CancelToken) -> Self {
        Self {
            started: Instant::now(),
            limit,
            kept: Duration::ZERO,
            reserve: None,
            has_reserve: false,
            paused: Arc::default(),
            before: 0,
            cancel,
        }
    }

    /// A part of this budget that begins now and has a limit of its own. Pauses of one are pauses of
    /// the other.
    #[must_use]
    pub fn part(&self, limit: Option<Duration>) -> Self {
        let before = self.paused.load(Ordering::Relaxed);
        let (started, kept) = (Instant::now(), Duration::ZERO);
        Self { started, limit, kept, has_reserve: false, before, ..self.clone() }
    }

    /// Excludes some time from the budget, in which work waited for something else.
    pub fn pause(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.paused.fetch_add(micros, Ordering::Relaxed);
    }

    /// The same budget with some time reserved for later work. If time stops it, the reason names the
    /// whole limit.
    pub fn keeping(&self, kept: Duration) -> Self {
        Self { kept: self.kept + kept, ..self.clone() }
    }

    /// The same budget with some time that is reserved for later work once [`Self::need_reserve`] says so.
    pub fn with_reserve(&self, time: Duration) -> Self {
        let reserve = Reserve { time, is_needed: AtomicBool::new(false) };
        Self { reserve: Some(Arc::new(reserve)), has_reserve: true, ..self.clone() }
    }

    /// Reserves the time of [`Self::with_reserve`] from now on, also where this is a part of that budget.
    pub fn need_reserve(&self) {
        if let Some(reserve) = &self.reserve {
            reserve.is_needed.store(true, Ordering::Relaxed);
        }
    }

    /// All time that is reserved at the end.
    fn kept(&self) -> Duration {
        let reserve = self.reserve.as_ref().filter(|_| self.has_reserve);
        let needed = reserve.filter(|reserve| reserve.is_needed.load(Ordering::Relaxed));
        self.kept + needed.map_or(Duration::ZERO, |reserve| reserve.time)
    }

    /// The reason to stop now, if there is one.
    pub fn exceeded(&self) -> Option<StopReason> {
        if self.cancel.is_cancelled() {
            return Some(StopReason::Cancelled);
        }
        let limit = self.limit?;
        let is_over = self.elapsed() + self.kept() >= limit;
        is_over.then_some(StopReason::Time(limit.as_millis() as u64))
    }

    /// The remaining wall-clock time.
    pub fn remaining(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.elapsed() + self.kept()))
    }

    /// The time since the start, without pauses.
    pub fn elapsed(&self) -> Duration {
        let paused = self.paused.load(Ordering::Relaxed).saturating_sub(self.before);
        self.started.elapsed().saturating_sub(Duration::from_micros(paused))
    }

    /// The token that cancels this budget.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_budget_says_so_before_it_says_that_time_is_up() {
        let budget = Budget::start(Some(Duration::ZERO), CancelToken::new());
        assert_eq!(budget.exceeded(), Some(StopReason::Time(0)));
        budget.cancel_token().cancel();
        assert_eq!(budget.exceeded(), Some(StopReason::Cancelled));
    }

    #[test]
    fn time_in_reserve_counts_only_once_it_is_needed() {
        let hour = Duration::from_secs(3600);
        let whole = Budget::start(Some(hour), CancelToken::new());
        let budget = whole.with_reserve(hour);
        let part = budget.part(Some(hour));
        assert_eq!(budget.exceeded(), None);
        part.need_reserve();
        assert_eq!(budget.exceeded(), Some(StopReason::Time(3_600_000)));
        assert_eq!(part.exceeded(), None);
        assert_eq!(whole.exceeded(), None);
    }

    #[test]
    fn a_budget_of_which_time_is_kept_stops_earlier_and_names_the_whole_limit() {
        let hour = Duration::from_secs(3600);
        let budget = Budget::start(Some(hour), CancelToken::new());
        assert_eq!(budget.keeping(hour / 2).exceeded(), None);
        assert!(budget.keeping(hour / 2).remaining().is_some_and(|left| left <= hour / 2));
        let over = budget.keeping(hour / 2).keeping(hour / 2);
        assert_eq!(over.exceeded(), Some(StopReason::Time(3_600_000)));
        assert_eq!(budget.exceeded(), None);
    }

    #[test]
    fn time_that_does_not_count_does_so_in_no_part_of_a_budget() {
        let hour = Duration::from_secs(3600);
        let budget = Budget::start(Some(Duration::ZERO), CancelToken::new());
        budget.pause(hour);
        assert_eq!(budget.exceeded(), Some(StopReason::Time(0)), "it has no time at all");
        let budget = Budget::start(Some(hour), CancelToken::new());
        budget.pause(hour);
        let part = budget.part(Some(hour));
        part.pause(hour);
        assert_eq!((part.elapsed(), budget.elapsed()), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn a_budget_without_a_limit_is_never_exceeded() {
        let budget = Budget::start(None, CancelToken::new());
        assert_eq!((budget.exceeded(), budget.remaining()), (None, None));
    }
}
