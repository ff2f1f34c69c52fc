//! Puts together the results of several workers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::exploration::explore::Engine;
use crate::exploration::outcome::FoundTest;
use crate::exploration::workers::FoundByWorker;
use crate::exploration::workers::rounds::found_tests;
use crate::goals::hyper::HyperReasons;
use crate::goals::labels::GoalId;
use crate::limits::Cut;
use crate::machine::ending::{CallEnd, Ending};
use crate::machine::reports::bounds_monitor::BoundsMonitor;
use crate::machine::reports::omissions::Omissions;
use crate::machine::reports::statistics::Statistics;

/// The results of a worker that does not talk to the caller.
pub(crate) struct WorkerResults {
    paths: BTreeMap<Ending, u64>,
    label_paths: u64,
    omissions: Omissions,
    statistics: Statistics,
    covered: Vec<GoalId>,
    reached: Vec<GoalId>,
    hindered: Vec<(GoalId, Cut)>,
    bounds: BoundsMonitor,
    /// Whether a path began the function under test.
    begun: bool,
    ends: BTreeSet<CallEnd>,
    /// Whether a second run ends in another way than the first.
    runs_differ: bool,
    invariants_met: BTreeMap<usize, bool>,
    hypers: HyperReasons,
    /// The tests that were not delivered.
    tests: Vec<FoundByWorker>,
}

impl Engine<'_, '_> {
    /// The results of this worker.
    pub(crate) fn into_part(mut self, outbox: &RefCell<Vec<Box<FoundTest>>>) -> WorkerResults {
        self.machine.note_left_out_targets();
        self.machine.statistics.terms = self.machine.pool.len();
        (self.machine.statistics.term_time, self.machine.statistics.clock_time) =
            self.machine.term_clock.result();
        let given = std::mem::take(&mut self.exchange.given);
        let hindered = self.goals.labels.hindered().map(|(goal, cut)| (goal, cut.clone()));
        WorkerResults {
            hindered: hindered.collect(),
            covered: self.goals.labels.covered_goals().to_vec(),
            reached: self.goals.labels.reached().collect(),
            tests: found_tests(Some(outbox), given),
            paths: self.paths,
            label_paths: self.goals.label_paths,
            omissions: self.machine.omissions,
            statistics: self.machine.statistics,
            bounds: self.machine.bounds,
            begun: self.machine.begun,
            ends: self.machine.ends,
            runs_differ: self.machine.runs_differ,
            invariants_met: self.invariants_met,
            hypers: self.goals.hypers.found(),
        }
    }

    /// Adds the results of another worker.
    pub(crate) fn take_over(&mut self, part: WorkerResults) {
        part.tests.into_iter().for_each(|found| self.pass_on(found));
        part.covered.iter().for_each(|goal| self.goals.labels.cover_elsewhere(*goal));
        part.reached.iter().for_each(|goal| self.goals.labels.note_reached(*goal));
        part.hindered.into_iter().for_each(|(goal, cut)| self.goals.labels.hinder(goal, cut));
        for (ending, count) in part.paths {
            *self.paths.entry(ending).or_default() += count;
        }
        self.machine.omissions.add(part.omissions);
        self.goals.label_paths += part.label_paths;
        self.machine.statistics.add(&part.statistics);
        self.machine.bounds.add_all(part.bounds);
        self.machine.begun |= part.begun;
        self.machine.ends.extend(part.ends);
        self.machine.runs_differ |= part.runs_differ;
        for (invariant, met) in part.invariants_met {
            *self.invariants_met.entry(invariant).or_default() |= met;
        }
        self.goals.hypers.take_over(part.hypers);
        // A path of this worker that broke an assumption may have reopened labels that another
        // worker covers.
        let published: Vec<GoalId> = self.exchange.published.iter().copied().collect();
        published.into_iter().for_each(|goal| self.goals.labels.cover_elsewhere(goal));
    }

    /// Notes that the states of a worker are lost.
    pub(crate) fn lose_a_worker(&mut self) {
        self.machine
            .cut(Cut::Unsupported("what was given to a worker that could not begin".into()));
    }
}
