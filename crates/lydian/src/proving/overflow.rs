//! Signed overflow of a program whose compiler is not told that it wraps (`-fwrapv`).
//!
//! C leaves undefined what a run does from an overflow on. The parties of a proof let it wrap. So that no
//! answer rests on that unseen, two questions follow the search:
//!
//! - Does a run that reaches an error overflow before ([`overflow_before`])? The answer says where.
//! - Does some run overflow at all ([`OverflowingRun::find`])? Then *unreachable* says too much, since C
//!   allows this run to come to the error, and the answer is *unknown*, with the run.
//!
//! The second question is the reachability of labels that an operation is about to overflow, which the
//! engines decide. A run counts if the interpreter, told to stop at overflows, stops at one.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Place};
use lydian_ir::interp::{End, Location, Observer, Options, Silent, run};
use lydian_ir::test::Test;
use lydian_ir::{FuncId, Overflow, Program, TrapKind};
use lydian_objective::annotate::values::runtime::is_signed_overflow;
use lydian_objective::{Criterion, FunctionObjectives, Request, annotate};
use lydian_prove::Semantics;
use lydian_prove::call_graph::called_from;
use lydian_prove::encode::{Encoded, GoalChoice, Goals};
use lydian_prove::engines::{Companion, FoundRun, Recursive, Schedule, decide_recursive};
use lydian_prove::system::GoalId;
use lydian_smt::{Limits, TermPool, standard_chain};

use super::answers::{RunReader, run_of};
use super::confirmation::{CallWatch, location};
use super::search::{chain, encode_whole};
use super::verdicts::{ErrorAnswer, ErrorProof, InputValue};
use crate::project::linked::LinkedProgram;
use crate::project::location_span;

/// The most steps of a run that is looked at for overflows.
const MOST_STEPS: u64 = 1 << 24;
/// The most calls that may be open at once in such a run.
const MOST_CALLS: u32 = 100_000;
/// The least time of the search for a run that overflows, if there is as much.
const LEAST_TIME: Duration = Duration::from_millis(250);
/// The inputs that a sentence lists.
const MOST_INPUTS: usize = 4;

/// The end of the search for a run that overflows: it has as much time as the answers took.
pub(super) fn search_end(begun: Instant, end: Instant) -> Instant {
    let now = Instant::now();
    end.min(now + now.duration_since(begun).max(LEAST_TIME))
}

/// The place of an overflow.
fn place_of(program: &LinkedProgram, at: Location) -> Option<Place> {
    let span = location_span(&program.linked.program, at)?;
    Some(program.linked.source.place(span.start))
}

/// Where the run with these inputs overflows before it comes to the call of an error; none if it does not,
/// or if the run is too long to be looked at.
pub(super) fn overflow_before(
    program: &LinkedProgram,
    main: FuncId,
    (error, inputs): (&ErrorProof, &[InputValue]),
) -> Option<Place> {
    let test = run_of(&program.linked.program, main, inputs);
    let call = location(error.call);
    let mut watch = CallWatch::new(std::slice::from_ref(&call));
    let at = overflow_of(&program.linked.program, &test, &mut watch)?;
    place_of(program, at).filter(|_| watch.last.is_none())
}

/// Where a run overflows first, which ends it.
fn overflow_of(program: &Program, test: &Test, observer: &mut impl Observer) -> Option<Location> {
    let outcome = run(program, test, &options(), observer).ok()?;
    let overflows = outcome.end == End::Trapped(TrapKind::SignedOverflow);
    outcome.location.filter(|_| overflows)
}

fn options() -> Options {
    Options {
        overflow: Overflow::Trap,
        max_steps: MOST_STEPS,
        max_depth: MOST_CALLS,
        ..Options::default()
    }
}

/// A run that overflows, as the interpreter confirms.
#[derive(Debug)]
pub(super) struct OverflowingRun {
    at: Location,
    inputs: Vec<InputValue>,
}

impl OverflowingRun {
    /// Looks for a run of a program that overflows, until this moment.
    pub(super) fn find(
        program: &LinkedProgram,
        main: FuncId,
        end: Instant,
        cancel: &CancelToken,
    ) -> Option<Self> {
        let (objectives, choice) = overflows(program, main);
        if choice.labels.is_empty() {
            return None;
        }
        let goals = Goals { labels: &objectives, choice: Some(&choice), ..Goals::default() };
        let limits =
            Limits { end: Some(end), interrupt: Some(cancel.flag().clone()), ..Limits::none() };
        let text = &program.linked.program;
        let mut pool = TermPool::new();
        let semantics = (Semantics::default(), &limits);
        let encoded = encode_whole(&mut pool, (text, main), goals, semantics).ok()?;
        let goals: Vec<GoalId> = encoded.system.goals.ids().collect();
        let watch = OverflowWatch { text, main, encoded: &encoded, found: Mutex::default() };
        let watch = Arc::new(watch);
        let companion: Arc<dyn Companion + '_> = watch.clone();
        let schedule = Schedule {
            rounds: u32::MAX,
            limits,
            companion: Some(companion),
            ..Schedule::default()
        };
        let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
        decide_recursive(&mut pool, recursive, &goals, &mut *standard_chain(&chain()), &schedule);
        watch.found().take()
    }

    /// What it says about an error that no run gets to where overflow wraps.
    pub(super) fn sentence(&self, program: &LinkedProgram) -> String {
        let place = place_of(program, self.at);
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        let shown = self.inputs.iter().take(MOST_INPUTS);
        let shown = shown.map(|input| format!("{}() = {}", input.function, input.number()));
        let mut shown: Vec<String> = shown.collect();
        if self.inputs.len() > MOST_INPUTS {
            shown.push("further inputs".to_owned());
        }
        let with = match shown.is_empty() {
            true => String::new(),
            false => format!(" with {}", shown.join(", ")),
        };
        format!(
            "no run gets there if signed overflow wraps (-fwrapv), but the run{with} overflows{place}, and C \
             leaves open what it does then"
        )
    }
}

/// Takes back *unreachable* where a run overflows.
pub(super) fn take_back(error: &mut ErrorProof, sentence: &str) {
    if matches!(error.answer, ErrorAnswer::Unreachable(_)) {
        error.answer = ErrorAnswer::Unknown(sentence.to_owned());
    }
}

/// The overflows of the user's functions that runs may enter.
fn overflows(program: &LinkedProgram, main: FuncId) -> (Vec<FunctionObjectives>, GoalChoice) {
    let text = &program.linked.program;
    let request = Request::new([Criterion::Rte]);
    let own = called_from(text, main).into_iter().filter(|id| !text.functions[*id].library);
    let made = own.filter_map(|id| annotate(text, &program.linked.source, id, &request).ok());
    let objectives: Vec<FunctionObjectives> = made.map(|made| made.objectives).collect();
    let mut choice = GoalChoice::default();
    for of in &objectives {
        let entries = of.criteria.values().flatten();
        let entries = entries.filter(|entry| is_signed_overflow(&entry.name));
        choice.labels.extend(entries.map(|entry| (of.function, entry.label)));
    }
    (objectives, choice)
}

/// Follows the runs that the engines find, and ends their search at the first that overflows.
struct OverflowWatch<'a> {
    text: &'a Program,
    main: FuncId,
    encoded: &'a Encoded,
    found: Mutex<Option<OverflowingRun>>,
}

impl OverflowWatch<'_> {
    fn found(&self) -> MutexGuard<'_, Option<OverflowingRun>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OverflowWatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverflowWatch").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Companion for OverflowWatch<'_> {
    fn has_decided(&self, _goal: GoalId) -> bool {
        self.found().is_some()
    }

    fn take_turn(&self, _share: Duration) {}

    fn take_run(&self, pool: &TermPool, run: FoundRun<'_>) -> bool {
        let reader = RunReader { encoded: self.encoded, types: &self.text.types, pool };
        let inputs = reader.inputs(run.goal, run.trace);
        let test = run_of(self.text, self.main, &inputs);
        let Some(at) = overflow_of(self.text, &test, &mut Silent) else { return false };
        self.found().get_or_insert(OverflowingRun { at, inputs });
        true
    }
}
