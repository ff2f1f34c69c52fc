//! Validation of the tests that exploration finds: each test is run natively, and its coverage is
//! compared with the exploration's claims before it is recorded.
//!
//! Exploration does not wait for the compiler. Tests that are found before the program is compiled are
//! queued, and run afterwards in the order in which they were found. Exploration gets no results of
//! tests, so its findings do not depend on when they are run.

use std::collections::VecDeque;
use std::time::Instant;

use lydian_base::{Budget, Span};
use lydian_ir::test::{ExternalResult, Test};
use lydian_native::{MeasuredRun, Outcome};
use lydian_symex::Event as Finding;
use lydian_symex::{Cut, Ending, FoundTest, TracedEvent, Undetermined};

use super::goals::Goal;
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::novelty_filter::NoveltyFilter;
use super::open_objectives::OpenObjectives;
use super::state::{LastDiscovery, MeasuredTest, Session};
use super::unknown_reasons::with_place;
use crate::error::Error;
use crate::events::Event;
use crate::measurement::claimed_ending::agrees;
use crate::measurement::test_runner::{Patience, TestMisfit};
use crate::project::location_span;
use crate::replay::keeper::Case;
use crate::replay::kept_case::ClaimedVerdict;

/// Commits to the ledger may take this fraction (one n-th) of an exploration's time. Findings come in
/// bursts with long pauses after them, so they do not wait for a fixed time.
pub(crate) const COMMIT_SHARE: u32 = 10;

/// The most tests that wait for the compiler; with more of them exploration waits, too.
const MOST_WAITING: usize = 4096;

/// The most objectives that the report of a contradiction names.
const MOST_NAMED: usize = 3;

/// The reason for which claims of a test do not count although its run may cover them.
const UNWRITTEN: &str = "not confirmed by its test, which uses uninitialised memory";
/// The reason for which a label is unknown if its predicate reads memory that has no value in its test.
const PADDING: &str = "not confirmed by its test, in which its predicate reads padding or other memory without a value";
/// The reason for which an objective is unknown if its test destroys the record of its run.
const DAMAGED: &str = "not confirmed by its test, which writes over the memory of what runs it";
/// The same if its run enters assembly, after which exploration takes any values.
const ASSEMBLY: &str = "not confirmed by its test, which runs inline assembly";
/// The same if the system refused the test an operation.
const REACHES_OUT: &str =
    "its test tries something outside of the program, which is refused (confined)";

/// The same if it calls a function that exploration knows nothing of, by its name.
const LEFT_OUT: &str = "not confirmed by its test, which calls";

/// The name of the exploration in claims.
const EXPLORATION: &str = "exploration";

/// Tests of an exploration on their way to the ledger.
pub(crate) struct TestValidation<'s, 'a, 'm, 'j> {
    session: &'s mut Session<'a, 'm>,
    open: &'s OpenObjectives,
    hyper_coverage: &'s mut HyperlabelCoverage<'j>,
    contradictions: &'s mut Vec<String>,
    /// The budget of the exploration.
    budget: &'s Budget,
    /// The filter for tests, if only tests with new coverage are recorded.
    novelty: Option<NoveltyFilter>,
    begun: Instant,
    /// Paths that have ended.
    paths: u64,
    /// Tests that are not run yet, with the exploration's progress when it found them.
    waiting: VecDeque<(FoundTest, LastDiscovery)>,
    /// Tests that are not recorded yet.
    pending: Vec<MeasuredTest>,
    next_commit: Instant,
    last: LastDiscovery,
    /// Whether only tests that are expected to end well are accepted.
    pub(crate) ends_well: bool,
}

impl<'s, 'a, 'm, 'j> TestValidation<'s, 'a, 'm, 'j> {
    /// Begins the validation of an exploration's tests.
    pub(crate) fn new(
        session: &'s mut Session<'a, 'm>,
        open: &'s OpenObjectives,
        hyper_coverage: &'s mut HyperlabelCoverage<'j>,
        contradictions: &'s mut Vec<String>,
        budget: &'s Budget,
        novelty: Option<NoveltyFilter>,
    ) -> Self {
        let begun = Instant::now();
        Self {
            session,
            open,
            hyper_coverage,
            contradictions,
            budget,
            novelty,
            begun,
            paths: 0,
            waiting: VecDeque::new(),
            pending: Vec::new(),
            next_commit: begun,
            last: LastDiscovery::default(),
            ends_well: false,
        }
    }

    /// Takes a finding of the exploration.
    pub(crate) fn take_finding(&mut self, event: Finding) -> Result<(), Error> {
        match event {
            Finding::Progress(counters) => {
                self.paths = counters.paths;
                let function = self.session.name();
                self.session.records.observer.notice(Event::Progress { function, counters });
            }
            Finding::Trace(TracedEvent { event, place }) => {
                let function = self.session.name();
                let map = &self.session.project.texts.all;
                let place = (!place.is_none()).then(|| map.place(place.start).to_string());
                let place = place.as_deref();
                self.session.records.observer.notice(Event::Trace {
                    function,
                    event: &event,
                    place,
                });
            }
            Finding::Test(found) => {
                let seconds = self.begun.elapsed().as_secs_f64();
                self.waiting.push_back((*found, LastDiscovery { paths: self.paths, seconds }));
            }
        }
        if self.session.runner.is_ready() || self.waiting.len() > MOST_WAITING {
            self.run_waiting()?;
        }
        let begun = Instant::now();
        if !self.pending.is_empty() && begun >= self.next_commit {
            self.session.record_tests(std::mem::take(&mut self.pending))?;
            self.next_commit = Instant::now() + COMMIT_SHARE * begun.elapsed();
        }
        Ok(())
    }

    /// Ends the validation: runs and records the remaining tests. Returns the exploration's progress at
    /// its last test with new coverage.
    pub(crate) fn finish(mut self) -> Result<LastDiscovery, Error> {
        self.run_waiting()?;
        self.session.record_tests(self.pending)?;
        Ok(self.last)
    }

    /// Runs the tests that wait.
    fn run_waiting(&mut self) -> Result<(), Error> {
        while let Some((found, at)) = self.waiting.pop_front() {
            let (ending, known) = (found.ending.clone(), self.hyper_coverage.count());
            let claims = !found.covers.is_empty() || !found.completes.is_empty();
            let (open, hyper_coverage) = (self.open, &mut *self.hyper_coverage);
            let (session, ends_well) = (&mut *self.session, self.ends_well);
            let confirmed =
                session.confirm(found, open, hyper_coverage, self.contradictions, ends_well)?;
            let fails = matches!(ending, Ending::Trapped(_) | Ending::Endless);
            if confirmed.is_some() && (fails || session.runner.was_undefined()) {
                self.budget.need_reserve();
            }
            let of_hypers = self.hyper_coverage.count() > known;
            let every_path = self.novelty.is_some();
            let is_kept = |one: &MeasuredTest| {
                let novelty = self.novelty.as_mut();
                novelty.is_none_or(|novelty| of_hypers | novelty.admits(one, ending))
            };
            let kept = confirmed.filter(is_kept);
            if kept.is_some() && (claims || every_path) {
                self.last = at;
            }
            self.pending.extend(kept);
        }
        Ok(())
    }
}

impl Session<'_, '_> {
    /// Runs a test natively and compares it with the exploration's claims.
    fn confirm(
        &mut self,
        found: FoundTest,
        open: &OpenObjectives,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        contradictions: &mut Vec<String>,
        ends_well: bool,
    ) -> Result<Option<MeasuredTest>, Error> {
        let claimed: Vec<Goal> =
            found.covers.iter().filter_map(|claim| open.label(*claim)).collect();
        self.note_made(&found, open);
        let completed: Vec<Goal> =
            found.completes.iter().filter_map(|claim| open.hyper(*claim)).collect();
        let mut test = found.test;
        let patience = match found.ending {
            Ending::Endless | Ending::Cut(_) => Patience::Short,
            _ => Patience::Usual,
        };
        let mut measured = self.measure_for(&test, patience, &claimed)?;
        let mut left_out = None;
        if measured.is_err() {
            (test, left_out) = self.without_results_of_left_out(test);
        }
        if left_out.is_some() {
            measured = self.measure_for(&test, patience, &claimed)?;
        }
        let measured = match measured {
            Ok(measured) => measured,
            Err(error) => {
                let claims = claimed.into_iter().chain(completed);
                contradictions.push(self.records.keeper.keep(Case {
                    sentence: format!("a generated test cannot be run: {error}"),
                    test: &test,
                    earlier: &[],
                    claims: self.claims(claims, EXPLORATION, ClaimedVerdict::Covered),
                    ending: None,
                })?);
                return Ok(None);
            }
        };
        if measured.run.outcome == Outcome::Assumption && matches!(found.ending, Ending::Cut(_)) {
            // The exploration did not follow the path to the assumption.
            hyper_coverage.lack();
            return Ok(None);
        }
        let is_good = measured.run.outcome.is_regular();
        let claims_good_end = matches!(found.ending, Ending::Returned | Ending::Exited);
        // A run that ends worse than predicted is a contradiction, in this round as in others.
        if ends_well && !claims_good_end && (!is_good || self.runner.was_undefined()) {
            // Hyperlabels that it completes with others are not complete without it.
            hyper_coverage.lack();
            return Ok(None);
        }
        let covered = self.covered_by(&measured);
        log::debug!(
            "a test of {}: {} and {} hyperlabels claimed, {} labels measured; {}",
            self.name(),
            claimed.len(),
            completed.len(),
            covered.len(),
            measured.run.outcome
        );
        let mut missing: Vec<Goal> =
            claimed.iter().copied().filter(|goal| !covered.contains(goal)).collect();
        if self.runner.is_untraced() {
            hyper_coverage.lack();
        }
        if !hyper_coverage.lacks_some() {
            let hypers = completed.iter().filter_map(|goal| self.hyper_of(*goal));
            let uncovered = hyper_coverage.missing_with(&measured, &hypers.collect::<Vec<_>>());
            let is_uncovered =
                |goal: &Goal| self.hyper_of(*goal).is_some_and(|of| uncovered.contains(&of));
            missing.extend(completed.iter().copied().filter(is_uncovered));
        }
        let reaches_out = !measured.run.attempts.is_empty();
        let meets_assembly = self.runner.meets_assembly();
        let of_left_out =
            left_out.as_ref().map(|name| format!("{LEFT_OUT} `{name}`, which is not supported"));
        let of_all = match measured.run.outcome {
            Outcome::Damaged => Some(DAMAGED.to_owned()),
            _ if reaches_out => Some(REACHES_OUT.to_owned()),
            _ => of_left_out.or_else(|| meets_assembly.then(|| ASSEMBLY.to_owned())),
        };
        let uncounted = match of_all {
            Some(why) => missing.iter().map(|goal| (*goal, why.clone())).collect(),
            None => self.uncounted(&missing, found.placed),
        };
        if !uncounted.is_empty() {
            hyper_coverage.lack();
            missing.retain(|goal| uncounted.iter().all(|(other, _)| goal != other));
        }
        let is_open = found.placed.is_some() || reaches_out || meets_assembly || left_out.is_some();
        let ended_as_claimed = agrees(&found.ending, &measured.run.outcome) || is_open;
        if missing.is_empty() && ended_as_claimed {
            let completes = self.completed_by(&test, &measured, hyper_coverage);
            self.recorded.keep(&test, &measured);
            return Ok(Some(MeasuredTest {
                test,
                covered,
                completes,
                unconfirmed: None,
                uncounted,
            }));
        }
        let what =
            format!("claimed to end so: {}; ended so: {}", found.ending, measured.run.outcome);
        hyper_coverage.lack();
        let missed = self.first_texts(&missing);
        let counted = claimed.iter().chain(&completed).copied();
        let counted = counted.filter(|goal| uncounted.iter().all(|(other, _)| goal != other));
        let earlier = if completed.is_empty() { Vec::new() } else { hyper_coverage.tests() };
        contradictions.push(self.records.keeper.keep(Case {
            sentence: format!(
                "a test does not do what exploration claimed ({what}; not covered: {missed})"
            ),
            test: &test,
            earlier: &earlier,
            claims: self.claims(counted, EXPLORATION, ClaimedVerdict::Covered),
            ending: (!is_open).then_some(found.ending),
        })?);
        let missing = match ended_as_claimed {
            true => missing,
            false => claimed.into_iter().chain(completed).collect(),
        };
        if missing.is_empty() {
            // The ledger could not distinguish it from tests that behaved as predicted.
            return Ok(None);
        }
        let unconfirmed = Some((missing, what));
        let (covered, completes) = (Vec::new(), Vec::new());
        Ok(Some(MeasuredTest { test, covered, completes, unconfirmed, uncounted }))
    }

    /// The test without results of functions that are not supported: they run natively as they are. Also
    /// the first of their names, if there were some.
    fn without_results_of_left_out(&self, mut test: Test) -> (Test, Option<String>) {
        let left_out = &self.project.left_out;
        let is_left_out = |call: &ExternalResult| left_out.contains(&call.function);
        let first = test.externals.iter().find(|call| is_left_out(call));
        let first = first.map(|call| call.function.clone());
        test.externals.retain(|call| !is_left_out(call));
        (test, first)
    }

    /// The texts of the first of the given objectives, and the number of the others.
    fn first_texts(&self, goals: &[Goal]) -> String {
        if goals.is_empty() {
            return "nothing".into();
        }
        let first = goals.iter().take(MOST_NAMED).map(|goal| self.text(*goal));
        let first = first.collect::<Vec<_>>().join("; ");
        match goals.len().saturating_sub(MOST_NAMED) {
            0 => first,
            more => format!("{first}; and {more} more"),
        }
    }

    /// The given objectives that the last test cannot count for although it may cover them, with
    /// reasons: the instrumented program cannot measure them; or they depend on uninitialised memory,
    /// of which exploration does not see each use (`x != x + 1`), with the first such use; or they
    /// depend on addresses of the program's own objects, which the path used at a place of the text.
    fn uncounted(&self, goals: &[Goal], placed: Option<Span>) -> Vec<(Goal, String)> {
        if let Some(location) = self.runner.uninitialised() {
            let at = location_span(&self.project.program, location)
                .map(|span| format!(", at {}", self.places.name(span.start)));
            let why = format!("{UNWRITTEN}{}", at.unwrap_or_default());
            return goals.iter().map(|goal| (*goal, why.clone())).collect();
        }
        if let Some(at) = placed {
            let why = with_place(&self.places, &Cut::Undetermined(Undetermined::Location, at));
            return goals.iter().map(|goal| (*goal, why.clone())).collect();
        }
        let with_reason = |goal: &Goal| {
            let why = match *goal {
                Goal::Label(target, label)
                    if self.runner.reads_unwritten(self.targets[target].index, label) =>
                {
                    return Some((*goal, PADDING.to_owned()));
                }
                Goal::Label(target, label) => {
                    self.runner.why_label_unmeasured(self.targets[target].index, label)
                }
                Goal::Hyper(..) => self.runner.why_hyperlabel_unmeasured(self.hyper_of(*goal)?),
            };
            why.map(|why| (*goal, format!("not measured: {why}")))
        };
        goals.iter().filter_map(with_reason).collect()
    }

    /// Runs a test. If it is stopped early before it covers its claims, it runs again with the full
    /// time.
    fn measure_for(
        &mut self,
        test: &Test,
        patience: Patience,
        claimed: &[Goal],
    ) -> Result<Result<MeasuredRun, TestMisfit>, Error> {
        let measured = self.runner.measure_with(test, patience)?;
        if let Ok(early) = &measured
            && matches!(early.run.outcome, Outcome::TimedOut(_))
        {
            let covered = self.covered_by(early);
            if claimed.iter().any(|goal| !covered.contains(goal)) {
                return self.runner.measure_with(test, Patience::Full);
            }
        }
        Ok(measured)
    }
}
