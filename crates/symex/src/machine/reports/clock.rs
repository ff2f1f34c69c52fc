//! The time that an exploration spends on terms.
//!
//! Work on terms (making and evaluating them, reading and writing memory, looking facts up) comes
//! in spans of well under a microsecond, of which a look at the clock takes a good part. So nothing
//! is measured unless [`Config::measure_terms`](crate::config::Config::measure_terms) asks for it,
//! and the cost of the looks is measured and subtracted.

use std::time::{Duration, Instant};

/// The number of looks at the clock in a row whose total gives the cost of one.
const LOOKS: u32 = 500;
/// How often that cost is measured.
const ROUNDS: u32 = 50;

/// Adds up spans of work on terms. Spans within spans count once.
#[derive(Default)]
pub(crate) struct TermClock {
    on: bool,
    running: bool,
    spent: Duration,
    spans: u32,
}

/// The start of a span, if the span counts.
pub(crate) struct TermSpan(Option<Instant>);

impl TermClock {
    /// A clock, which does nothing unless `on`.
    pub(crate) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Begins a span.
    #[inline]
    pub(crate) fn begin(&mut self) -> TermSpan {
        if !self.on || self.running {
            return TermSpan(None);
        }
        self.running = true;
        TermSpan(Some(Instant::now()))
    }

    /// Ends a span.
    #[inline]
    pub(crate) fn end(&mut self, span: TermSpan) {
        if let TermSpan(Some(begun)) = span {
            self.spent += begun.elapsed();
            self.running = false;
            self.spans += 1;
        }
    }

    /// The time spent on terms, and the time spent on looking at the clock for it.
    pub(crate) fn result(&self) -> (Duration, Duration) {
        if self.spans == 0 {
            return Default::default();
        }
        // The least of several rounds: other work of the machine may lengthen a round.
        let rounds = (0..ROUNDS).map(|_| {
            let begun = Instant::now();
            for _ in 0..LOOKS {
                std::hint::black_box(Instant::now());
            }
            begun.elapsed()
        });
        let looks = rounds.min().unwrap_or_default() * self.spans / LOOKS;
        // Each span contains the end of one look and the start of another.
        (self.spent.saturating_sub(looks), looks * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_within_a_span_counts_once_and_a_clock_that_is_off_counts_nothing() {
        for on in [true, false] {
            let mut clock = TermClock::new(on);
            let outer = clock.begin();
            let inner = clock.begin();
            clock.end(inner);
            clock.end(outer);
            assert_eq!(clock.spans, u32::from(on));
            assert!(!clock.running);
        }
    }
}
