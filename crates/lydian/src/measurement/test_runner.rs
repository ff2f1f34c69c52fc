//! What a test counts for: the one answer for tests that are found, known from before, or given.
//!
//! A label counts if the native run covers it and, in two cases, the interpreter covers it too
//! ([`lydian_objective::foresee`]):
//! - where the run does what C leaves undefined: only what is covered before that counts;
//! - where the label's predicate may trap, as that of a mutant which reads through a pointer: a
//!   native run does not know where every object ends.
//!
//! Which sequences a run covers before it does what C leaves undefined says a trace of the
//! interpreter's ([`lydian_objective::trace`]), if it is short.
//!
//! The interpreter follows a test only so far: through a limited number of steps, and not into
//! functions that the front end does not support. What is not followed counts as measured unless
//! the native run crashes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use lydian_base::Budget;
use lydian_ir::interp::{self, BadTest, End, Interpreter, Location, Options, Silent};
use lydian_ir::test::{INPUT_PREFIX, Image, Test};
use lydian_ir::{DecisionId, GlobalId, Overflow, Program, TrapKind};
use lydian_native::{
    Attempt, BoundOf, Haste, MeasureError, Measured, Measurer, Outcome, Run, RunError, TestError,
};
use lydian_objective::trace::{Trace, Tracer, is_covered};
use lydian_objective::{
    DecisionVector, Foreseen, Foresight, FunctionObjectives, Hyper, HyperId, LabelId,
};
use rustc_hash::FxHashSet;

use super::compiled_program::{self, CompiledProgram, Measurement};
use crate::error::Error;
use crate::project::Project;

/// Calls that may be open at once: natively the stack is what limits them.
const MOST_CALLS: u32 = 1 << 16;

/// The most events of a trace that is looked at.
const MOST_EVENTS: usize = 512;

/// How far a test is followed first, and at all if it does not come to an end natively.
pub(crate) const STEPS_OF_ENDLESS: u64 = 200_000;

/// Runs tests natively and in the interpreter.
pub(crate) struct TestRunner<'a> {
    project: &'a Project,
    compiled: Arc<CompiledProgram<'a>>,
    /// The time of the function whose tests are measured.
    budget: Option<Budget>,
    /// None before the first test.
    measurer: Option<Measurer<'a>>,
    interpreter: Interpreter<'a>,
    foresight: Foresight<'a>,
    objectives: &'a [FunctionObjectives],
    tracer: Tracer<'a>,
    options: Options,
    /// Whether sequences of the last test are not known, as its trace is too long.
    untraced: bool,
    /// Whether the last test does what C leaves undefined, as the interpreter says.
    undefined: bool,
    /// Where the last test first uses memory that nobody set, as the interpreter says.
    uninitialised: Option<Location>,
    /// The undefined functions whose results tests give; none before the first test.
    given: FxHashSet<String>,
    /// Tests of this function that were stopped early.
    given_up: Vec<Test>,
    /// What tests of this function tried outside of the program.
    attempts: BTreeSet<Attempt>,
}

/// How long a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as a test may, unless it was stopped early before.
    Usual,
    /// No end of the run is expected: it is stopped early.
    Short,
    /// It was stopped early, before it did what is expected of it.
    Full,
}

/// The runs of a test, with all that they show.
pub(crate) struct BothRuns {
    /// By the interpreter.
    pub(crate) foreseen: Foreseen,
    /// The interpreter's trace, where it was asked for, is short and goes to the run's end.
    pub(crate) trace: Option<Trace>,
    /// Natively.
    pub(crate) measured: Measured,
    /// Whether the interpreter follows the run to its end.
    pub(crate) is_followed: bool,
}

/// Why a test does not fit the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestMisfit {
    /// The native program cannot take it.
    #[error(transparent)]
    Native(#[from] TestError),
    /// The interpreter cannot.
    #[error(transparent)]
    Interpreter(#[from] BadTest),
}

impl<'a> Measurement<'a> {
    /// What counts tests, for one thread. The program is compiled when its first test is run.
    pub(crate) fn runner<'m>(&'m self, compiled: &Arc<CompiledProgram<'m>>) -> TestRunner<'m> {
        let program = &self.project.program;
        let foresight = Foresight::new(program, self.objectives, self.short_circuit);
        let tracer = Tracer::new(program, self.objectives, self.short_circuit);
        TestRunner::new(self.project, compiled.clone(), foresight, (self.objectives, tracer))
    }
}

impl<'a> TestRunner<'a> {
    pub(crate) fn new(
        project: &'a Project,
        compiled: Arc<CompiledProgram<'a>>,
        foresight: Foresight<'a>,
        (objectives, tracer): (&'a [FunctionObjectives], Tracer<'a>),
    ) -> Self {
        Self {
            project,
            compiled,
            budget: None,
            measurer: None,
            interpreter: Interpreter::new(&project.program),
            foresight,
            objectives,
            tracer,
            options: Options { max_depth: MOST_CALLS, ..Options::default() },
            untraced: false,
            undefined: false,
            uninitialised: None,
            given: FxHashSet::default(),
            given_up: Vec::new(),
            attempts: BTreeSet::new(),
        }
    }

    /// What tests tried outside of the program since this was asked for last.
    pub(crate) fn take_attempts(&mut self) -> BTreeSet<Attempt> {
        std::mem::take(&mut self.attempts)
    }

    /// Whether a test can be run without waiting for the compiler.
    pub(crate) fn is_ready(&self) -> bool {
        self.measurer.is_some() || self.compiled.is_done()
    }

    /// What runs tests. Waits until the program is compiled.
    fn measurer(&mut self) -> Result<&mut Measurer<'a>, Error> {
        if self.measurer.is_none() {
            let waits = Instant::now();
            let measurer = self.compiled.measurer()?;
            // The compiler's time is no function's own.
            self.budget.iter().for_each(|budget| budget.pause(waits.elapsed()));
            self.given = measurer.build().externals().map(str::to_owned).collect();
            self.measurer = Some(measurer);
        }
        Ok(self.measurer.as_mut().expect("it is made where there was none"))
    }

    /// Why a label of a function, by its position, cannot be measured; none where it can, or where no
    /// test was run yet.
    pub(crate) fn why_unwatched(&self, index: usize, label: LabelId) -> Option<&str> {
        self.measurer.as_ref()?.plan().why_unwatched(index, label)
    }

    /// The same for a hyperlabel.
    pub(crate) fn why_unmeasured(&self, (index, hyper): (usize, HyperId)) -> Option<&str> {
        let hyper = &self.objectives[index].hypers[hyper].hyper;
        self.measurer.as_ref()?.plan().why_unmeasured(self.objectives, index, hyper)
    }

    /// Whether the last test may cover sequences before what is undefined that were not counted.
    pub(crate) const fn is_untraced(&self) -> bool {
        self.untraced
    }

    /// Whether the last test does what C leaves undefined, as the interpreter says.
    pub(crate) const fn was_undefined(&self) -> bool {
        self.undefined
    }

    /// Where the last test first uses memory that nobody set, as the interpreter says.
    pub(crate) const fn uninitialised(&self) -> Option<Location> {
        self.uninitialised
    }

    /// Another function's tests begin: how long those of the last one took says nothing of them.
    pub(crate) fn begin_function(&mut self, budget: &Budget) {
        self.budget = Some(budget.clone());
        self.given_up.clear();
        self.attempts.clear();
        if let Some(measurer) = &mut self.measurer {
            measurer.be_patient();
        }
    }

    /// Runs a test; the labels in the result are those that count. The inner error says why the
    /// test does not fit the program.
    pub(crate) fn measure(&mut self, test: &Test) -> Result<Result<Measured, TestMisfit>, Error> {
        self.measure_with(test, Patience::Usual)
    }

    /// The same, where something is known of how long the run takes.
    pub(crate) fn measure_with(
        &mut self,
        test: &Test,
        patience: Patience,
    ) -> Result<Result<Measured, TestMisfit>, Error> {
        if patience == Patience::Full {
            self.given_up.retain(|known| known != test);
        }
        (self.untraced, self.undefined, self.uninitialised) = (false, false, None);
        let mut options = self.options;
        options.max_steps = STEPS_OF_ENDLESS;
        let mut foreseen = match self.foresight.run_on(&self.interpreter, test, &options) {
            Ok(foreseen) => foreseen,
            Err(error) => return Ok(Err(error.into())),
        };
        self.undefined = is_undefined(foreseen.outcome.end);
        let haste = match foreseen.outcome.end {
            _ if patience == Patience::Full => Haste::None,
            // What the program does after undefined behaviour counts for nothing.
            End::Trapped(_) => Haste::Some,
            End::Stopped(_) if patience == Patience::Short => Haste::Much,
            End::Stopped(_) if self.given_up.contains(test) => Haste::Some,
            _ => Haste::None,
        };
        let measurer = self.measurer()?;
        measurer.hurry(haste);
        let mut measured = match measurer.measure(std::slice::from_ref(test)) {
            Ok(mut measured) => measured.pop().expect("one test gives one run"),
            Err(MeasureError::Run(RunError::Test { error, .. })) => return Ok(Err(error.into())),
            Err(error) => return Err(compiled_program::failure(error)),
        };
        self.attempts.extend(measured.run.attempts.iter().cloned());
        if measured.run.outcome == Outcome::Assumption {
            // What the program assumes of its inputs does not hold, so it is no test of it.
            measured.forget();
            return Ok(Ok(measured));
        }
        let is_endless = matches!(measured.run.outcome, Outcome::TimedOut(_));
        if is_endless && haste != Haste::None && !self.given_up.contains(test) {
            self.given_up.push(test.clone());
        }
        if matches!(foreseen.outcome.end, End::Stopped(_)) && !is_endless {
            options = self.options;
            foreseen = match self.foresight.run_on(&self.interpreter, test, &options) {
                Ok(foreseen) => foreseen,
                Err(error) => return Ok(Err(error.into())),
            };
        }
        self.undefined |= is_undefined(foreseen.outcome.end);
        self.uninitialised = foreseen.outcome.uninitialised;
        let standing = self.standing(&foreseen, &measured.run.outcome);
        let foresight = &self.foresight;
        let found = measured.covered.iter_mut().zip(&foreseen.covered).enumerate();
        for (index, (covered, foreseen)) in found {
            covered.retain(|label| match standing {
                Standing::NotFollowed => true,
                Standing::Defined if !foresight.may_trap(index, *label) => true,
                Standing::Defined | Standing::Undefined => foreseen.binary_search(label).is_ok(),
            });
        }
        let found = measured.bound.iter_mut().zip(&foreseen.bound);
        for (bound, foreseen) in found {
            bound.retain(|(of, row)| match (of, standing) {
                (_, Standing::NotFollowed) => true,
                // As for sequences without values.
                (BoundOf::Sequence(_), standing) => matches!(standing, Standing::Defined),
                // The interpreter also knows what was never written.
                (BoundOf::Label(values), _) => foreseen.contains(&(values.clone(), row.clone())),
            });
        }
        if matches!(standing, Standing::Undefined) {
            // The interpreter knows the values of all conditions, the native run those that
            // objectives ask for.
            for (vectors, foreseen) in measured.vectors.iter_mut().zip(&foreseen.vectors) {
                let is_measured = |(of, whole): &&(DecisionId, DecisionVector)| {
                    vectors.iter().any(|(other, vector)| of == other && vector.goes_as(whole))
                };
                *vectors = foreseen.iter().filter(is_measured).cloned().collect();
            }
            self.untraced = !self.keep_traced(test, &options, &mut measured);
        }
        Ok(Ok(measured))
    }

    /// Runs a test by the interpreter and natively, and leaves out nothing of what either shows: for those who
    /// compare the runs. `traces` asks for the interpreter's trace. The inner error says why the test does
    /// not fit the program.
    pub(crate) fn run_both(
        &mut self,
        test: &Test,
        traces: bool,
    ) -> Result<Result<BothRuns, TestMisfit>, Error> {
        let foreseen = match self.foresight.run_on(&self.interpreter, test, &self.options) {
            Ok(foreseen) => foreseen,
            Err(error) => return Ok(Err(error.into())),
        };
        let measurer = self.measurer()?;
        measurer.hurry(Haste::None);
        let measured = match measurer.measure(std::slice::from_ref(test)) {
            Ok(mut measured) => measured.pop().expect("one test gives one run"),
            Err(MeasureError::Run(RunError::Test { error, .. })) => return Ok(Err(error.into())),
            Err(error) => return Err(compiled_program::failure(error)),
        };
        let end = foreseen.outcome.end;
        let is_stopped = matches!(end, End::Stopped(_) | End::TooDeep(_) | End::Unknown(_));
        let is_followed = !is_stopped && self.is_as_given(&foreseen.outcome);
        let trace = match traces && is_followed {
            true => self.short_trace(test, &self.options),
            false => None,
        };
        Ok(Ok(BothRuns { foreseen, trace, measured, is_followed }))
    }

    /// The interpreter's trace of a test; none where it is too long to be looked at.
    fn short_trace(&self, test: &Test, options: &Options) -> Option<Trace> {
        let traced = self.tracer.run_on(&self.interpreter, test, options).ok();
        traced.map(|(trace, _)| trace).filter(|trace| trace.events.len() <= MOST_EVENTS)
    }

    /// Whether all functions that a run called and that are not defined return what the test says.
    fn is_as_given(&self, run: &interp::Outcome) -> bool {
        run.externals.iter().all(|function| {
            let function = &self.project.program.functions[*function];
            function.noreturn
                || self.given.contains(&function.name)
                || function.name.starts_with(INPUT_PREFIX)
        })
    }

    /// What the interpreter says of a test that it follows so many steps: signed overflow traps, unless the
    /// user's flags define it. None where the test does not fit the program.
    pub(crate) fn foresee(&self, test: &Test, max_steps: u64) -> Option<Foreseen> {
        self.foresight.run_on(&self.interpreter, test, &self.strict(max_steps)).ok()
    }

    /// The same but for what is covered, which takes several times as long to say.
    pub(crate) fn follow(&self, test: &Test, max_steps: u64) -> Option<interp::Outcome> {
        self.interpreter.run(test, &self.strict(max_steps), &mut Silent).ok()
    }

    fn strict(&self, max_steps: u64) -> Options {
        let wraps = |flag: &str| matches!(flag, "-fwrapv" | "-fno-strict-overflow" | "-ftrapv");
        let overflow = match self.project.flags.for_parsing().any(wraps) {
            true => Overflow::Wrap,
            false => Overflow::Trap,
        };
        Options { overflow, max_steps, ..self.options }
    }

    /// What the interpreter says of a test that ends well, of what no native run shows.
    pub(crate) fn foretell(&self, test: &Test) -> Forecast {
        let Some(run) = self.follow(test, self.options.max_steps) else {
            return Forecast::default();
        };
        let returns = matches!(run.end, End::Returned);
        let mut calls: Vec<(String, u32)> = Vec::new();
        for function in run.externals.iter().filter(|_| returns) {
            let name = &self.project.program.functions[*function].name;
            match calls.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => calls.push((name.clone(), 1)),
            }
        }
        let is_undefined = does_undefined(&run);
        let has_no_result = returns && run.result.is_none();
        let undetermined = UndeterminedBytes {
            globals: run.undetermined_globals,
            objects: run.undetermined_objects,
            blocks: run.undetermined_blocks,
        };
        let no_variables = run.missed_variables;
        Forecast { is_undefined, has_no_result, undetermined, calls, no_variables }
    }

    /// What a test that ends well leaves in memory, and what it leaves where memory that nobody wrote has
    /// other values.
    pub(crate) fn observe(&mut self, test: &Test) -> Result<[Run; 2], Error> {
        let measurer = self.measurer()?;
        let mut run = |fill| measurer.observe(test, fill).map_err(compiled_program::failure);
        Ok([run(false)?, run(true)?])
    }

    /// Keeps the sequences that end before what is undefined, none where that is not known; whether
    /// it is.
    fn keep_traced(&self, test: &Test, options: &Options, measured: &mut Measured) -> bool {
        if measured.sequences.iter().all(Vec::is_empty) {
            return true;
        }
        let trace = self.short_trace(test, options);
        for (of, sequences) in self.objectives.iter().zip(&mut measured.sequences) {
            sequences.retain(|id| {
                let covers =
                    |trace| is_covered(std::slice::from_ref(trace), of, &Hyper::Sequence(*id));
                trace.as_ref().is_some_and(covers)
            });
        }
        trace.is_some()
    }

    fn standing(&self, foreseen: &Foreseen, native: &Outcome) -> Standing {
        let run = &foreseen.outcome;
        let ended_well = native.is_orderly() || matches!(native, Outcome::TimedOut(_));
        match run.end {
            _ if !ended_well => Standing::Undefined,
            _ if !self.is_as_given(run) => Standing::NotFollowed,
            _ if run.uninitialised.is_some() => Standing::Undefined,
            end if is_undefined(end) => Standing::Undefined,
            End::Stopped(_) | End::TooDeep(_) | End::Unknown(_) => Standing::NotFollowed,
            End::Returned
            | End::Exited(_)
            | End::NoReturn(_)
            | End::Assumption
            | End::Trapped(_) => Standing::Defined,
        }
    }
}

/// Bytes that hold at the end what was computed from bytes that nobody wrote.
#[derive(Default)]
pub(crate) struct UndeterminedBytes {
    /// Of the test's objects: the object's position, and the byte's.
    objects: Vec<(usize, usize)>,
    globals: Vec<(GlobalId, usize)>,
    /// Of blocks, the newest first, each with its size; empty where there are none.
    blocks: Vec<(u64, Vec<usize>)>,
}

impl UndeterminedBytes {
    /// Changes these bytes of a run, so that it differs there from another one.
    pub(crate) fn disturb(&self, program: &Program, run: &mut Run, from: &Run) {
        for (object, byte) in &self.objects {
            let other = from.objects.get(*object).and_then(|bytes| bytes.get(*byte));
            let found = run.objects.get_mut(*object).and_then(|bytes| bytes.get_mut(*byte));
            found.into_iter().zip(other).for_each(|(byte, other)| *byte = !other);
        }
        for (global, byte) in &self.globals {
            let name = &program.globals[*global].name;
            let initial = || Image::initial(program, *global).bytes;
            let position = |run: &Run| run.globals.iter().position(|(known, _)| known == name);
            let other = position(from).map_or_else(initial, |at| from.globals[at].1.clone());
            let at = position(run).unwrap_or_else(|| {
                run.globals.push((name.clone(), initial()));
                run.globals.len() - 1
            });
            let found = run.globals[at].1.get_mut(*byte);
            found.into_iter().zip(other.get(*byte)).for_each(|(byte, other)| *byte = !other);
        }
        if self.blocks.is_empty() {
            return;
        }
        let sizes = self.blocks.iter().map(|(size, _)| *size);
        let is_same = sizes.eq(run.blocks.iter().map(|(_, bytes)| bytes.len() as u64));
        let contents = run.blocks.iter_mut().zip(&from.blocks).enumerate();
        for (at, ((_, contents), (_, others))) in contents {
            let mut differ = |byte: usize| {
                let found = contents.get_mut(byte).into_iter().zip(others.get(byte));
                found.for_each(|(byte, other)| *byte = !other);
            };
            match self.blocks.get(at).filter(|_| is_same) {
                Some((_, bytes)) => bytes.iter().copied().for_each(differ),
                // Which block is which is not known.
                None => (0..others.len()).for_each(&mut differ),
            }
        }
    }
}

/// What the interpreter says of a test that ends well.
#[derive(Default)]
pub(crate) struct Forecast {
    /// Whether it does what C leaves undefined, also where machines do what is expected: signed overflow,
    /// and misuse of functions of the library.
    pub(crate) is_undefined: bool,
    /// Whether the function returns without a value: what a caller finds then is no result.
    pub(crate) has_no_result: bool,
    pub(crate) undetermined: UndeterminedBytes,
    /// How often it calls each undefined function; empty where the interpreter does not follow it to its
    /// end.
    pub(crate) calls: Vec<(String, u32)>,
    /// The environment variables that it asks for and that it does not name: the runner has none.
    pub(crate) no_variables: Vec<String>,
}

/// Whether a run does what C leaves undefined.
pub(crate) fn does_undefined(run: &interp::Outcome) -> bool {
    is_undefined(run.end) || run.uninitialised.is_some() || run.misused.is_some()
}

/// Whether a run ends with what C leaves undefined. It defines `abort`.
fn is_undefined(end: End) -> bool {
    matches!(end, End::Trapped(kind) if kind != TrapKind::Abort)
}

/// What is known of a run.
#[derive(Clone, Copy)]
enum Standing {
    /// C defines all of it.
    Defined,
    /// At some place C stops defining it.
    Undefined,
    /// The interpreter did not follow it to its end.
    NotFollowed,
}
