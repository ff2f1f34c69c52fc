//! The progress of tests on mutants: told now and then, and kept, so that little is lost if the process ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::kept::KeptResults;
use crate::events::{Event, MutantProgress, Observer};

/// The time between two reports.
const REPORTS: Duration = Duration::from_millis(200);
/// The time between two lines of the log.
const LINES: Duration = Duration::from_secs(5);
/// The time between two writings of what is kept.
const KEEPING: Duration = Duration::from_secs(20);

/// The progress of a schedule.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    kept: Option<&'a KeptResults>,
    all: usize,
    done: AtomicUsize,
    killed: AtomicUsize,
    /// When something was last told, logged and kept.
    last: Mutex<[Instant; 3]>,
}

impl<'a> Progress<'a> {
    /// None yet of a number of mutants.
    pub(crate) fn new(
        observer: &'a dyn Observer,
        kept: Option<&'a KeptResults>,
        all: usize,
    ) -> Self {
        let (done, killed) = Default::default();
        let last = Mutex::new([Instant::now(); 3]);
        let progress = Self { observer, kept, all, done, killed, last };
        progress.tell();
        progress
    }

    /// Takes note of mutants with an outcome.
    pub(crate) fn add(&self, mutants: usize, killed: usize) {
        self.done.fetch_add(mutants, Ordering::Relaxed);
        self.killed.fetch_add(killed, Ordering::Relaxed);
        let now = Instant::now();
        // Another thread that is at it does the same.
        let Ok(mut last) = self.last.try_lock() else { return };
        let is_due = |at: &mut Instant, time: Duration| {
            let is_due = now.duration_since(*at) >= time;
            if is_due {
                *at = now;
            }
            is_due
        };
        if is_due(&mut last[0], REPORTS) {
            self.tell();
        }
        if is_due(&mut last[1], LINES) {
            let MutantProgress { done, all, killed } = self.now();
            log::info!("{done} of {all} mutants have an outcome, {killed} are killed");
        }
        if is_due(&mut last[2], KEEPING)
            && let Some(Err(error)) = self.kept.map(KeptResults::write_so_far)
        {
            log::warn!("results are not kept yet: {error:?}");
        }
    }

    fn now(&self) -> MutantProgress {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        MutantProgress { done: read(&self.done), all: self.all, killed: read(&self.killed) }
    }

    fn tell(&self) {
        self.observer.notice(Event::Mutants(self.now()));
    }

    /// All mutants have an outcome, or the time is over.
    pub(crate) fn end(&self) {
        self.observer.notice(Event::Mutants(MutantProgress::default()));
    }
}
