//! Several workers within one exploration, each a thread with an engine of its own.
//!
//! Terms belong to the pool of one engine. So a state is handed over in its evicted form
//! ([`eviction`](crate::exploration::eviction)): its decision log, its model, its position, and the
//! labels that are still to be looked at there. The other worker replays the path in its own pool
//! and compares the fingerprint. Rewriting in another order may have made other terms, and so
//! another fingerprint; then the state goes back to the worker that sent it.
//!
//! An exploration begins with one worker. Further workers start when it has done a certain amount
//! of work ([`ALONE`]) and states wait; each gets a share of the states. From then on all work in
//! *rounds* ([`rounds`]). In each round a worker does a fixed amount of work, counted in steps and
//! questions and not in time, and at its end tells the others its results. So the knowledge and
//! actions of a worker in a round depend on the number of workers alone, and on nothing that could
//! differ from run to run: not on time, the number of cores, or the load of the machine.
//!
//! # Why what is left is infeasible
//!
//! Where no worker cut anything, the labels that all of them left are infeasible, as for one
//! worker:
//! - *No path is lost.* At each time a waiting state is held by one worker or is part of one
//!   delivery, which exactly one worker receives. Rounds end only when all workers had nothing to
//!   do and as many states had been received as were sent, according to notices of the same round.
//! - *No label is taken as covered too early.* A worker tells the others of a covered label only
//!   when it gave the test for it, so that it will not reopen the label. For the others, labels
//!   that it merely expects to cover are open. So a label without a given test is open for all
//!   workers at all times, and no worker drops a state from which it can be reached, or passes its
//!   site without looking.
//! - *Nothing is forgotten.* The hindrances of labels, the cuts and the bounds that paths met are
//!   put together at the end ([`merged`]).
//!
//! Hyperlabels relate paths to each other, which may belong to different workers. The notes of a
//! path about hyperlabels go with its state ([`portable_notes`]). Knowledge about hyperlabels is
//! told like covered labels ([`synchronisation`]). All knowledge that is needed to call one
//! infeasible is kept:
//! - *Rows of truth values.* A worker skips the question for a vector only if it or another worker
//!   has an input with that vector. At the end the vectors of all workers are put together, and a
//!   hyperlabel is infeasible only where these do not cover it.
//! - *Combinations of paths.* Each worker comes to know all paths that cover a part of a guarded
//!   conjunction, and exactly one worker asks for each combination (`Pairing::ask_of`).
//! - *No hyperlabel is taken as covered too early.* A worker judges by the coverage record of tests that
//!   the caller has or will get: its own, and those that others told it of. The caller gets each
//!   test that gives anything new ([`Engine::pass_on`]). The worker that talks to the caller knows
//!   exactly the caller's tests, and says what a test completes.
//! - *The end is the end.* The condition that nothing is under way includes everything that was
//!   told.
//!
//! Direct instrumentation is explored by one worker: its labels are branches, and decision logs do
//! not contain these.

mod merged;
mod portable_notes;
mod rounds;
mod state_transfer;
mod synchronisation;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lydian_objective::CoverageRecord;
use lydian_smt::Solver;
use rustc_hash::FxHashSet;

use self::merged::WorkerResults;
use self::rounds::{Links, RoundMember, WorkerStart};
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

/// The work that an exploration does before other workers start: about 50 milliseconds.
const ALONE: u64 = 100_000;
/// The work of a round: about 20 milliseconds. With shorter rounds, a worker without states gets
/// some sooner. With longer rounds, it matters less that equal work takes unequal time.
const ROUND: u64 = 40_000;
/// The work of a question in addition to the solver's own count, in steps.
const QUESTION: u64 = 20;
/// How much of the solver's own count equals one step.
const EFFORT: u64 = 4;
/// The work of a test for the worker that hands it to the caller, in steps: the caller runs it.
const TEST: u64 = 1000;
/// How often a worker at the limit of memory goes on, since others evict their states, too.
const MEMORY_LOOKS: u32 = 16;
/// The bytes of a thread's stack. Recursive functions walk through terms and expressions.
const STACK: usize = 64 << 20;

/// The workers of an exploration.
pub struct Workers<'a> {
    count: usize,
    alone: u64,
    round: u64,
    solver: &'a (dyn Fn() -> Box<dyn Solver> + Sync),
}

impl<'a> Workers<'a> {
    /// At most `count` workers. `solver` makes the solver of each, in the worker's thread.
    pub fn new(count: usize, solver: &'a (dyn Fn() -> Box<dyn Solver> + Sync)) -> Self {
        Self { count, alone: ALONE, round: ROUND, solver }
    }

    /// The same workers, but all begin as soon as two states wait, and rounds are very short. So
    /// short explorations have several workers, too.
    #[must_use]
    pub fn eager(self) -> Self {
        Self { alone: 0, round: 100, ..self }
    }

    /// A solver that has not seen terms of any pool.
    pub(crate) fn new_solver(&self) -> Box<dyn Solver> {
        (self.solver)()
    }
}

/// Counters of the other workers, as far as a worker knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Waiting states.
    pub(crate) waiting: usize,
    /// Paths that ended.
    pub(crate) paths: u64,
    /// Steps that were taken.
    pub(crate) steps: u64,
    /// Queries to the solver.
    pub(crate) queries: u64,
}

/// The message to other workers about a given test.
#[derive(Debug)]
pub(crate) struct TestMessage {
    /// The labels that it covers and that no test of this worker covered before.
    goals: Vec<GoalId>,
    /// Whether it is given for more than these labels.
    kept: bool,
    /// The place of its trap, if any.
    crash: Option<CrashPlace>,
    /// Its coverage record for hyperlabels.
    has: SharedRecord,
}

/// The coverage record of a test for hyperlabels, by the position of functions among the objectives.
type SharedRecord = Arc<[(usize, CoverageRecord)]>;

impl TestMessage {
    /// The message about a test that covers these goals. `kept` says whether it is given for more
    /// than them, and `has` is its coverage record for hyperlabels.
    pub(crate) fn of(covered: &[GoalId], kept: bool, has: Vec<(usize, CoverageRecord)>) -> Self {
        Self { goals: covered.to_vec(), kept, crash: None, has: has.into() }
    }
}

/// A test of another worker, for the worker that talks to the caller.
struct FoundByWorker {
    test: Box<FoundTest>,
    given: TestMessage,
}

/// What a worker is to tell the others, and what it knows of them.
#[derive(Default)]
pub(crate) struct Exchange {
    /// The worker's number. Worker 0 talks to the caller.
    index: usize,
    /// Whether there may be other workers.
    on: bool,
    /// The number of workers; 0 while there is only one.
    count: usize,
    /// The tests given since the last delivery.
    given: Vec<TestMessage>,
    /// How many tests the caller got.
    tests: u64,
    /// The labels covered by tests that the caller has.
    published: FxHashSet<GoalId>,
    /// States that go back, with the numbers of the workers that they go to.
    back: Vec<(usize, Parcel)>,
    others: Totals,
    /// How often any worker found that memory is short, and how much of this count this worker has
    /// seen.
    shortages: Arc<AtomicU64>,
    known_shortages: u64,
    /// How often this worker was at the limit of memory and did not stop for it.
    waited_for_memory: u32,
}

impl Exchange {
    /// Whether there are other workers.
    pub(crate) const fn is_shared(&self) -> bool {
        self.count > 0
    }

    /// The counters of the others, as far as they are known.
    pub(crate) const fn others(&self) -> Totals {
        self.others
    }

    /// Whether another worker found that memory is short since the last call.
    pub(crate) fn others_are_short_of_memory(&mut self) -> bool {
        let now = self.shortages.load(Ordering::Relaxed);
        std::mem::replace(&mut self.known_shortages, now) != now
    }

    /// Whether others may still free memory that was found to be short a moment ago.
    pub(crate) const fn waits_for_memory(&mut self) -> bool {
        self.waited_for_memory += 1;
        self.on && self.waited_for_memory <= MEMORY_LOOKS
    }

    /// Tells the others that memory is short.
    pub(crate) fn tell_that_memory_is_short(&mut self) {
        self.known_shortages = self.shortages.fetch_add(1, Ordering::Relaxed) + 1;
    }
}

impl Engine<'_, '_> {
    /// The work done, in steps. It is counted, and so the same in each run.
    fn work(&self) -> u64 {
        self.work_on_paths() + self.machine.statistics.replayed_steps + TEST * self.exchange.tests
    }

    /// The work that made paths longer, in steps. It is the same whether or not memory is short and
    /// states are replayed, and whether or not tests get shorter objects.
    pub(crate) fn work_on_paths(&self) -> u64 {
        self.work_of_all_questions() - self.work_on_shortness
    }

    /// As [`Self::work_on_paths`], with the work that was spent on shorter objects.
    pub(crate) fn work_of_all_questions(&self) -> u64 {
        let statistics = &self.machine.statistics;
        statistics.steps
            + QUESTION * statistics.queries
            + self.machine.questions.solver.effort() / EFFORT
            + self.machine.pool.len() as u64
    }

    /// Tells the goals this worker's number and the number of workers.
    pub(crate) fn share(&mut self) {
        let Exchange { index, count, .. } = self.exchange;
        self.goals.shared.asker = Asker { index, count: count.max(1) };
        self.goals.shared.tells = count > 0;
    }

    /// Notes the message about a test that is given now.
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

    /// Whether several workers can share the exploration.
    fn can_be_shared(&self) -> bool {
        self.machine.context.config.mode != Mode::Direct
    }

    /// Explores alone, and with other workers once that took long enough, until no state is left or
    /// the exploration stops. Questions that wait until all states were run are left.
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

    /// Starts the other workers, works with them to the end, and takes over their results.
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
                // With fewer threads than requested there are fewer workers.
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
                // A thread that cannot take it has panicked, which is handled below.
                let _ = give.send((links, seed));
                handles.push(handle);
            }
            let mut member = RoundMember::new(own, workers.round);
            self.take_part(&mut member, None);
            self.hear_the_rest(member);
            for handle in handles {
                match handle.join() {
                    Ok(Some(part)) => self.take_over(part),
                    // The worker could not begin, and its states are lost.
                    Ok(None) => self.lose_a_worker(),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }

    /// Gives the caller a test of another worker, if it shows anything new.
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

/// The work of a worker that was started to help. Returns its results; `None` if it could not
/// begin.
fn help(
    workers: &Workers<'_>,
    task: &Task<'_>,
    links: Links,
    seed: WorkerStart,
) -> Option<WorkerResults> {
    let outbox = std::cell::RefCell::new(Vec::new());
    let mut sink = |event| {
        if let Event::Test(found) = event {
            outbox.borrow_mut().push(found);
        }
    };
    let mut solver = workers.new_solver();
    let (mut engine, first) = Engine::set_up(task, &mut *solver, &mut sink).ok()?;
    engine.machine.begin_with(&*first?);
    let mut member = RoundMember::new(links, workers.round);
    engine.begin_to_help(&member, seed);
    engine.take_part(&mut member, Some(&outbox));
    drop(member);
    engine.drop_all_waiting();
    Some(engine.into_part(&outbox))
}
