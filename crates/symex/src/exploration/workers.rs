//! Several workers within one exploration, each a thread with an engine of its own.
//!
//! Terms belong to the pool of one engine, so a state is handed over as what is left of it when it is
//! evicted ([`eviction`](crate::exploration::eviction)): its decisions, its model, where control is, and the labels
//! that are still to be looked at there. The other worker follows its path again in its own pool, and
//! holds the fingerprint against it. Where rewriting in another order made other terms of it, so that
//! the fingerprints differ, the state goes back to where it came from.
//!
//! An exploration begins with one worker. Further ones are started when it has lasted ([`ALONE`]) and
//! states wait, of which each gets a share. From then on all work in *rounds* ([`rounds`]): in each
//! round a worker does so much work, as it is counted in steps and questions, not in time, and tells
//! the others at its end what it found. So what a worker knows in a round, and all that it does,
//! depends on the number of workers and on nothing else that could differ from run to run: not on
//! time, nor on the number of cores, nor on what else the machine does.
//!
//! # Why what is left is infeasible
//!
//! Where no worker cut anything off, what all of them left is infeasible, as it is for one worker:
//! - *No path is lost.* At each time a state that waits is held by one worker or lies in one delivery,
//!   which exactly one worker receives. Rounds end only when all workers had nothing to do and as many
//!   states had been received as were sent, all told in the same round.
//! - *No label is taken as covered too early.* A worker tells of a label only when it gave the test that
//!   covers it, so that it will not open it again. What others merely expect to cover is open for it.
//!   So a label that nobody gave a test for is open for everybody, all the time, and no worker drops a
//!   state from which it can be reached, or passes its site without looking.
//! - *Nothing is forgotten.* What stands in the way of a label somewhere, what was cut off and which
//!   bounds paths met is put together at the end ([`merged`]).
//!
//! Hyperlabels relate paths to each other, which may be those of different workers. What a path has met
//! for them goes with its state ([`seen`]); what is known of them is told as what is covered is
//! ([`findings`]). Nothing of what makes one infeasible is lost:
//! - *Rows of truth values.* No worker takes a vector as one that need not be asked for unless itself or
//!   another has an input with it. At the end the vectors that any worker knows are put together, and a
//!   hyperlabel is infeasible only where these do not cover it.
//! - *Combinations of paths.* Each worker comes to know of all paths that cover a part of a guarded
//!   conjunction, and each combination is asked for by exactly one (`Pairing::ask_of`).
//! - *No hyperlabel is taken as covered too early.* A worker judges by what tests give that the caller
//!   has or will get: its own, and those of which others told it what they give. The caller gets each
//!   test that gives anything new ([`Engine::pass_on`]), and is told what it completes as the worker
//!   that talks to it finds, which knows just the tests that the caller has.
//! - *The end is the end.* That nothing is under way includes all that was told.
//!
//! Direct instrumentation, whose labels are branches that tapes do not have, is explored by one worker.

mod merged;
mod portable_notes;
mod rounds;
mod state_transfer;
mod synchronisation;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lydian_objective::Harvest;
use lydian_smt::Solver;
use rustc_hash::FxHashSet;

use self::merged::Part;
use self::rounds::{Links, Member, Seed};
use self::state_transfer::Parcel;
use crate::State;
use crate::config::Mode;
use crate::exploration::explore::Engine;
use crate::exploration::outcome::{Event, FoundTest};
use crate::exploration::task::Task;
use crate::goals::labels::GoalId;
use crate::goals::shared::Asker;
use crate::machine::ending::Ending;
use crate::machine::traps::crashes::CrashPlace;
use crate::machine::traps::crashes::place_of;

/// So much work an exploration does before others help: some 50 milliseconds.
const ALONE: u64 = 100_000;
/// The work of a round: some 20 milliseconds. The less, the sooner a worker without states gets some;
/// the more, the less it matters that equal work takes unequal time.
const ROUND: u64 = 40_000;
/// What a question counts beside what the solver counts itself, in steps.
const QUESTION: u64 = 20;
/// What the solver counts for the work of a step.
const EFFORT: u64 = 4;
/// What a test counts for the worker that hands it to the caller, who runs it.
const TEST: u64 = 1000;
/// So often a worker that is at the limit of memory goes on, since others evict their states, too.
const MEMORY_LOOKS: u32 = 16;
/// Bytes of a thread's stack. Terms and expressions are walked to their depths.
const STACK: usize = 64 << 20;

/// Who explores.
pub struct Workers<'a> {
    count: usize,
    alone: u64,
    round: u64,
    solver: &'a (dyn Fn() -> Box<dyn Solver> + Sync),
}

impl<'a> Workers<'a> {
    /// So many workers at most, each with a solver that this makes in the worker's thread.
    pub fn new(count: usize, solver: &'a (dyn Fn() -> Box<dyn Solver> + Sync)) -> Self {
        Self { count, alone: ALONE, round: ROUND, solver }
    }

    /// The same, which all begin as soon as two states wait, and tell each other of each little thing:
    /// so that short explorations have several workers, too.
    #[must_use]
    pub fn eager(self) -> Self {
        Self { alone: 0, round: 100, ..self }
    }

    /// A solver that has not seen any pool.
    pub(crate) fn new_solver(&self) -> Box<dyn Solver> {
        (self.solver)()
    }
}

/// What other workers did, as far as a worker knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// States that wait.
    pub(crate) waiting: usize,
    /// Paths that ended.
    pub(crate) paths: u64,
    /// Steps that were taken.
    pub(crate) steps: u64,
    /// Questions that were asked.
    pub(crate) queries: u64,
}

/// What a test that was given says to other workers.
#[derive(Debug)]
pub(crate) struct TestMessage {
    /// What it covers and no test of this worker did.
    goals: Vec<GoalId>,
    /// Whether it is given for more than these.
    kept: bool,
    /// Where it traps.
    crash: Option<CrashPlace>,
    /// What it gives for hyperlabels.
    has: Has,
}

/// What a test gives for hyperlabels, by the position of functions.
type Has = Arc<[(usize, Harvest)]>;

impl TestMessage {
    /// What a test says that covers these goals and is given for more than them, or not, and what it
    /// gives for hyperlabels.
    pub(crate) fn of(covered: &[GoalId], kept: bool, has: Vec<(usize, Harvest)>) -> Self {
        Self { goals: covered.to_vec(), kept, crash: None, has: has.into() }
    }
}

/// A test that a worker found, for the one that talks to the caller.
struct FoundByWorker {
    test: Box<FoundTest>,
    given: TestMessage,
}

/// What a worker is to tell others, and what it knows of them.
#[derive(Default)]
pub(crate) struct Exchange {
    /// The worker's number; the first one, which is 0, talks to the caller.
    index: usize,
    /// Whether there may be others.
    on: bool,
    /// How many workers there are; 0 while there is only one.
    count: usize,
    /// The tests that were given since others were told.
    given: Vec<TestMessage>,
    /// How many were given to the caller.
    tests: u64,
    /// What tests that the caller has cover.
    published: FxHashSet<GoalId>,
    /// States that go back to the workers of these numbers.
    back: Vec<(usize, Parcel)>,
    others: Totals,
    /// How often workers found that memory is short, and how often this one knows of.
    shortages: Arc<AtomicU64>,
    known_shortages: u64,
    /// How often this one was at the limit and did not stop for it.
    waited_for_memory: u32,
}

impl Exchange {
    /// Whether there are other workers.
    pub(crate) const fn is_shared(&self) -> bool {
        self.count > 0
    }

    /// What the others did, as far as is known.
    pub(crate) const fn others(&self) -> Totals {
        self.others
    }

    /// Whether another worker found that memory is short since this was last asked.
    pub(crate) fn others_are_short_of_memory(&mut self) -> bool {
        let now = self.shortages.load(Ordering::Relaxed);
        std::mem::replace(&mut self.known_shortages, now) != now
    }

    /// Whether others may still give memory back that was found to be short a moment ago.
    pub(crate) const fn waits_for_memory(&mut self) -> bool {
        self.waited_for_memory += 1;
        self.on && self.waited_for_memory <= MEMORY_LOOKS
    }

    /// This worker found that memory is short.
    pub(crate) fn tell_that_memory_is_short(&mut self) {
        self.known_shortages = self.shortages.fetch_add(1, Ordering::Relaxed) + 1;
    }
}

impl Engine<'_, '_> {
    /// How much work was done, in steps. It is counted, so that it is the same in each run.
    fn work(&self) -> u64 {
        self.work_on_paths() + self.machine.statistics.replayed_steps + TEST * self.exchange.tests
    }

    /// The same, of what makes paths longer: it is the same, too, where memory is short and states are
    /// made again.
    pub(crate) fn work_on_paths(&self) -> u64 {
        let statistics = &self.machine.statistics;
        statistics.steps
            + QUESTION * statistics.queries
            + self.machine.questions.solver.effort() / EFFORT
            + self.machine.pool.len() as u64
    }

    /// Says to the goals who of the workers this one is.
    pub(crate) fn share(&mut self) {
        let Exchange { index, count, .. } = self.exchange;
        self.goals.shared.asker = Asker { index, count: count.max(1) };
        self.goals.shared.tells = count > 0;
    }

    /// Notes what a test that is given now says to other workers.
    pub(crate) fn note_given(&mut self, state: &State, mut given: TestMessage, ending: &Ending) {
        if !self.exchange.on {
            return;
        }
        if let Ending::Trapped(kind) = ending {
            given.crash = Some(place_of(state, *kind));
        }
        if self.exchange.index == 0 {
            self.exchange.tests += 1;
            self.exchange.published.extend(&given.goals);
        }
        self.exchange.given.push(given);
    }

    /// Whether several workers can do it together.
    fn can_be_shared(&self) -> bool {
        self.machine.context.config.mode != Mode::Direct
    }

    /// Explores alone, and with others once that took long enough, until no state is left or something
    /// is to stop it. What waits for all states to be run is left.
    pub(crate) fn run_with(&mut self, workers: &Workers<'_>, task: &Task<'_>) {
        if workers.count < 2 || !self.can_be_shared() {
            return;
        }
        self.exchange.on = true;
        while !self.stopped {
            if self.work() >= workers.alone && self.frontier.len() >= 2 {
                return self.run_among(workers, task);
            }
            if !self.run_one() {
                return;
            }
        }
    }

    /// Starts the other workers, works with them to the end, and takes over what they found.
    fn run_among(&mut self, workers: &Workers<'_>, task: &Task<'_>) {
        thread::scope(|scope| {
            let mut started = Vec::new();
            for _ in 1..workers.count {
                let (give, take) = std::sync::mpsc::channel();
                let work = move || {
                    let (links, seed) = take.recv().ok()?;
                    help(workers, task, links, seed)
                };
                let thread = thread::Builder::new().name("explorer".into()).stack_size(STACK);
                // With fewer threads than were asked for there are fewer workers.
                let Ok(handle) = thread.spawn_scoped(scope, work) else { break };
                started.push((give, handle));
            }
            let mut links = Links::between(started.len() + 1);
            let own = links.remove(0);
            self.exchange.count = started.len() + 1;
            self.share();
            log::info!(
                "{} workers explore {} together from here on",
                self.exchange.count,
                task.program.functions[task.func].name
            );
            let seeds = self.seeds(started.len());
            let mut handles = Vec::new();
            for (((give, handle), links), seed) in started.into_iter().zip(links).zip(seeds) {
                // A thread that cannot take it has panicked, which is met below.
                let _ = give.send((links, seed));
                handles.push(handle);
            }
            let mut member = Member::new(own, workers.round);
            self.take_part(&mut member, None);
            self.hear_the_rest(member);
            for handle in handles {
                match handle.join() {
                    Ok(Some(part)) => self.take_over(part),
                    // It could not begin, and what it was given is lost.
                    Ok(None) => self.lose_a_worker(),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }

    /// Hands a test of another worker to the caller, if it shows anything new.
    fn pass_on(&mut self, found: FoundByWorker) {
        let FoundByWorker { mut test, given: TestMessage { goals, kept, crash, has } } = found;
        let completes = self.goals.learn_given(&has, self.stopped);
        let published = &mut self.exchange.published;
        let new: Vec<GoalId> = goals.into_iter().filter(|goal| published.insert(*goal)).collect();
        let wanted = match crash {
            Some(place) => kept && self.machine.note_crash(place),
            None => kept,
        };
        let is_new = !new.is_empty() || completes.is_some();
        if !wanted && !is_new && !self.machine.context.config.every_path {
            return;
        }
        test.completes = completes.unwrap_or_default();
        test.covers = new.iter().filter_map(|goal| self.goals.labels.label_ref(*goal)).collect();
        self.exchange.tests += 1;
        (self.sink)(Event::Test(test));
    }
}

/// What a worker does that was started to help: gives its part of what was found. None if it could not
/// begin.
fn help(workers: &Workers<'_>, task: &Task<'_>, links: Links, seed: Seed) -> Option<Part> {
    let outbox = std::cell::RefCell::new(Vec::new());
    let mut sink = |event| {
        if let Event::Test(found) = event {
            outbox.borrow_mut().push(found);
        }
    };
    let mut solver = workers.new_solver();
    let (mut engine, first) = Engine::set_up(task, &mut *solver, &mut sink).ok()?;
    engine.machine.begin_with(&*first?);
    let mut member = Member::new(links, workers.round);
    engine.begin_to_help(&member, seed);
    engine.take_part(&mut member, Some(&outbox));
    drop(member);
    engine.drop_all_waiting();
    Some(engine.into_part(&outbox))
}
