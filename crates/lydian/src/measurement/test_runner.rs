//! The objectives that a test counts for. Tests that are found, known from earlier runs, or given are
//! all counted here.
//!
//! A label counts if the native run covers it and, in two cases, the interpreter covers it too
//! ([`lydian_objective::interpreted_coverage`]):
//! - where the run has undefined behaviour: only labels covered before it count;
//! - where the label's predicate may trap, as that of a mutant which reads through a pointer: a native
//!   run does not know the ends of all objects.
//!
//! A trace of the interpreter ([`lydian_objective::trace`]), if it is short, tells which sequences a
//! run covers before undefined behaviour.
//!
//! The interpreter follows a test through a limited number of steps, and not into functions that the
//! front end does not support. Beyond that, labels count as measured unless the native run crashes.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::handler_races::has_race;
use lydian_base::Budget;
use lydian_ir::interp::{self, BadTest, End, Interpreter, Location, Options, Silent, UnknownCause};
use lydian_ir::test::{INPUT_PREFIX, Image, Test};
use lydian_ir::{DecisionId, GlobalId, Overflow, Program, TrapKind};
use lydian_native::{
    Attempt, BoundOf, Haste, MeasureError, MeasuredRun, Measurer, Outcome, Run, RunError, TestError,
};
use lydian_objective::trace::{Trace, Tracer, is_covered};
use lydian_objective::{
    CoverageInterpreter, DecisionVector, FunctionObjectives, Hyper, HyperId, InterpretedRun,
    LabelId,
};
use rustc_hash::FxHashSet;

use super::claimed_ending::{ends_alike, is_cut_short};
use super::compiled_program::{self, CompiledProgram, Measurement};
use super::literal_pointers::LiteralPointers;
use super::placement;
use crate::error::Error;
use crate::project::Project;

/// The most nested calls; natively the stack limits them.
const MOST_CALLS: u32 = 1 << 16;

/// The most events of a trace that is used.
const MOST_EVENTS: usize = 512;

/// The steps through which a test is followed at first, and the limit for tests that do not end
/// natively.
pub(crate) const STEPS_OF_ENDLESS: u64 = 200_000;

/// The same for all predicates together: with many of them, a step may take as long as a hundred.
const PREDICATES_OF_ENDLESS: u64 = 20_000_000;

/// What makes something when it is first needed.
type Made<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// Runs tests natively and in the interpreter.
pub(crate) struct TestRunner<'a> {
    project: &'a Project,
    /// The program in which only some functions are measured, and the whole one. Often they are the same.
    compiled: [Arc<CompiledProgram<'a>>; 2],
    /// The position of the one that is run.
    chosen: usize,
    /// The time of the function whose tests are measured.
    budget: Option<Budget>,
    /// One for each program; none before its first test.
    measurers: [Option<Measurer<'a>>; 2],
    interpreter: Interpreter<'a>,
    /// Made when the first test runs.
    coverage_interpreter: LazyCell<CoverageInterpreter<'a>, Made<'a, CoverageInterpreter<'a>>>,
    objectives: &'a [FunctionObjectives],
    tracer: LazyCell<Tracer<'a>, Made<'a, Tracer<'a>>>,
    options: Options,
    /// Whether the sequences of the last test are unknown because its trace is too long.
    untraced: bool,
    /// Whether the interpreter stopped at assembly in the last test.
    meets_assembly: bool,
    /// Whether the last test has undefined behaviour according to the interpreter.
    undefined: bool,
    /// The place where the last test first uses uninitialised memory according to the interpreter.
    uninitialised: Option<Location>,
    /// The labels of each function that the last test passes with predicates that read memory without a
    /// value.
    unwritten: Vec<FxHashSet<LabelId>>,
    /// The undefined functions whose results tests give; none before the first test.
    given: FxHashSet<String>,
    /// Tests of this function that were stopped early.
    given_up: Vec<Test>,
    /// Attempts of tests of this function to reach out of the program.
    attempts: BTreeSet<Attempt>,
}

/// The time that a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// The usual limit, unless the test was stopped early before.
    Usual,
    /// The run is expected not to end, and is stopped early.
    Short,
    /// The full limit, after a run that was stopped before it met its claims.
    Full,
}

/// The runs of a test in the interpreter and natively, with all that they show.
pub(crate) struct BothRuns {
    /// The run in the interpreter.
    pub(crate) interpreted: InterpretedRun,
    /// The interpreter's trace, if it was asked for, is short and covers the whole run.
    pub(crate) trace: Option<Trace>,
    /// The native run.
    pub(crate) measured: MeasuredRun,
    /// Whether the interpreter follows the run to its end.
    pub(crate) is_followed: bool,
}

/// The reason for which a test does not fit the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestMisfit {
    /// The native program cannot take it.
    #[error(transparent)]
    Native(#[from] TestError),
    /// The interpreter cannot take it.
    #[error(transparent)]
    Interpreter(#[from] BadTest),
}

impl<'a> Measurement<'a> {
    /// The runner of tests of one thread. The program is compiled when its first test is run.
    pub(crate) fn runner<'m>(&'m self, compiled: &[Arc<CompiledProgram<'m>>; 2]) -> TestRunner<'m> {
        let program = &self.project.program;
        let (objectives, short_circuit) = (self.objectives, self.short_circuit);
        TestRunner::new(
            self.project,
            compiled.clone(),
            Box::new(move || CoverageInterpreter::new(program, objectives, short_circuit)),
            (objectives, Box::new(move || Tracer::new(program, objectives, short_circuit))),
        )
    }
}

/// The steps through which races with handlers of interrupts are looked for. A test that takes more counts as
/// one with a race.
const MOST_STEPS_FOR_RACES: u64 = 1 << 16;

impl<'a> TestRunner<'a> {
    pub(crate) fn new(
        project: &'a Project,
        compiled: [Arc<CompiledProgram<'a>>; 2],
        coverage_interpreter: Made<'a, CoverageInterpreter<'a>>,
        (objectives, tracer): (&'a [FunctionObjectives], Made<'a, Tracer<'a>>),
    ) -> Self {
        Self {
            project,
            compiled,
            chosen: 0,
            budget: None,
            measurers: [None, None],
            interpreter: Interpreter::new(&project.program),
            coverage_interpreter: LazyCell::new(coverage_interpreter),
            objectives,
            tracer: LazyCell::new(tracer),
            options: Options { max_depth: MOST_CALLS, ..Options::default() },
            untraced: false,
            meets_assembly: false,
            undefined: false,
            uninitialised: None,
            unwritten: Vec::new(),
            given: FxHashSet::default(),
            given_up: Vec::new(),
            attempts: BTreeSet::new(),
        }
    }

    /// The program under test.
    pub(crate) const fn program(&self) -> &'a Program {
        &self.project.program
    }

    /// Notes attempts of a test that ran earlier.
    pub(crate) fn note_attempts<'t>(&mut self, attempts: impl IntoIterator<Item = &'t Attempt>) {
        self.attempts.extend(attempts.into_iter().cloned());
    }

    /// The attempts of tests since the last call.
    pub(crate) fn take_attempts(&mut self) -> BTreeSet<Attempt> {
        std::mem::take(&mut self.attempts)
    }

    /// Whether a test can be run without waiting for the compiler.
    pub(crate) fn is_ready(&self) -> bool {
        self.measurers[self.chosen].is_some() || self.compiled[self.chosen].is_done()
    }

    /// The native measurer. Waits until the program is compiled.
    fn measurer(&mut self) -> Result<&mut Measurer<'a>, Error> {
        let measurer = &mut self.measurers[self.chosen];
        if measurer.is_none() {
            let waits = Instant::now();
            let made = self.compiled[self.chosen].measurer()?;
            // The compiler's time is no function's own.
            self.budget.iter().for_each(|budget| budget.pause(waits.elapsed()));
            self.given = made.build().externals().map(str::to_owned).collect();
            *measurer = Some(made);
        }
        Ok(measurer.as_mut().expect("it is made where there was none"))
    }

    /// The reason for which a label of a function cannot be measured; none if it can, or if no test was
    /// run yet.
    pub(crate) fn why_label_unmeasured(&self, index: usize, label: LabelId) -> Option<&str> {
        self.measurers[self.chosen].as_ref()?.plan().why_label_unmeasured(index, label)
    }

    /// The same for a hyperlabel.
    pub(crate) fn why_hyperlabel_unmeasured(
        &self,
        (index, hyper): (usize, HyperId),
    ) -> Option<&str> {
        let hyper = &self.objectives[index].hypers[hyper].hyper;
        self.measurers[self.chosen].as_ref()?.plan().why_hyperlabel_unmeasured(
            self.objectives,
            index,
            hyper,
        )
    }

    /// Whether the last test may cover sequences before undefined behaviour that were not counted.
    pub(crate) const fn is_untraced(&self) -> bool {
        self.untraced
    }

    /// Whether the interpreter followed the last test to inline assembly, and no further.
    pub(crate) const fn meets_assembly(&self) -> bool {
        self.meets_assembly
    }

    /// Whether the last test has undefined behaviour according to the interpreter.
    pub(crate) const fn was_undefined(&self) -> bool {
        self.undefined
    }

    /// The place where the last test first uses uninitialised memory according to the interpreter.
    pub(crate) const fn uninitialised(&self) -> Option<Location> {
        self.uninitialised
    }

    /// Whether the last test passes a label whose predicate then reads memory without a value, as the
    /// padding of an input, by the position of its function.
    pub(crate) fn reads_unwritten(&self, index: usize, label: LabelId) -> bool {
        self.unwritten.get(index).is_some_and(|labels| labels.contains(&label))
    }

    /// Begins the tests of another function: the running times of the previous ones do not matter for
    /// it. Functions that are expected to have no new tests may not be measured in the first program.
    pub(crate) fn begin_function(&mut self, budget: &Budget, has_no_new_tests: bool) {
        self.chosen = usize::from(has_no_new_tests);
        self.budget = Some(budget.clone());
        self.given_up.clear();
        self.attempts.clear();
        for measurer in self.measurers.iter_mut().flatten() {
            measurer.be_patient();
        }
    }

    /// Runs a test. The result has the labels that count. The inner error is the reason for which the
    /// test does not fit the program.
    pub(crate) fn measure(
        &mut self,
        test: &Test,
    ) -> Result<Result<MeasuredRun, TestMisfit>, Error> {
        self.measure_with(test, Patience::Usual)
    }

    /// The same with an expectation about the running time.
    pub(crate) fn measure_with(
        &mut self,
        test: &Test,
        patience: Patience,
    ) -> Result<Result<MeasuredRun, TestMisfit>, Error> {
        if patience == Patience::Full {
            self.given_up.retain(|known| known != test);
        }
        (self.untraced, self.undefined, self.uninitialised) = (false, false, None);
        self.unwritten.clear();
        self.meets_assembly = false;
        let mut options = self.options;
        let predicates = self.coverage_interpreter.predicates().max(1) as u64;
        options.max_steps = STEPS_OF_ENDLESS.min(PREDICATES_OF_ENDLESS / predicates);
        let mut interpreted =
            match self.coverage_interpreter.run_on(&self.interpreter, test, &options) {
                Ok(interpreted) => interpreted,
                Err(error) => return Ok(Err(error.into())),
            };
        self.undefined = is_undefined(interpreted.outcome.end);
        let haste = match interpreted.outcome.end {
            _ if patience == Patience::Full => Haste::None,
            // Behaviour after undefined behaviour does not count.
            End::Trapped(_) => Haste::Some,
            End::Stopped(_) if patience == Patience::Short => Haste::Much,
            End::Stopped(_) if self.given_up.contains(test) => Haste::Some,
            _ => Haste::None,
        };
        let mut measured = match self.run_natively(test, haste)? {
            Ok(measured) => measured,
            Err(misfit) => return Ok(Err(misfit)),
        };
        self.attempts.extend(measured.run.attempts.iter().cloned());
        if measured.run.outcome == Outcome::Assumption {
            // An assumption of the program about its inputs does not hold, so this is no test of it.
            measured.forget();
            return Ok(Ok(measured));
        }
        let is_endless = matches!(measured.run.outcome, Outcome::TimedOut(_));
        if is_endless && haste != Haste::None && !self.given_up.contains(test) {
            self.given_up.push(test.clone());
        }
        if matches!(interpreted.outcome.end, End::Stopped(_)) && !is_endless {
            options = self.options;
            interpreted = match self.coverage_interpreter.run_on(&self.interpreter, test, &options)
            {
                Ok(interpreted) => interpreted,
                Err(error) => return Ok(Err(error.into())),
            };
        }
        self.undefined |= is_undefined(interpreted.outcome.end);
        self.meets_assembly = matches!(interpreted.outcome.end, End::Unknown(_));
        self.uninitialised = interpreted.outcome.uninitialised;
        self.unwritten = std::mem::take(&mut interpreted.unwritten);
        let definedness = self.definedness(&interpreted, &measured.run.outcome);
        self.discard_uncounted(definedness, &interpreted, &mut measured);
        if matches!(definedness, Definedness::Undefined) {
            self.untraced = !self.keep_traced(test, &options, &mut measured);
        }
        Ok(Ok(measured))
    }

    /// Runs a test natively. The inner error is the reason for which it does not fit the program.
    fn run_natively(
        &mut self,
        test: &Test,
        haste: Haste,
    ) -> Result<Result<MeasuredRun, TestMisfit>, Error> {
        let measurer = self.measurer()?;
        measurer.hurry(haste);
        match measurer.measure(std::slice::from_ref(test)) {
            Ok(mut measured) => Ok(Ok(measured.pop().expect("one test gives one run"))),
            Err(MeasureError::Run(RunError::Test { error, .. })) => Ok(Err(error.into())),
            Err(error) => Err(compiled_program::failure(error)),
        }
    }

    /// Discards labels, combinations of values and vectors of a native run that do not count.
    fn discard_uncounted(
        &self,
        definedness: Definedness,
        interpreted: &InterpretedRun,
        measured: &mut MeasuredRun,
    ) {
        let coverage_interpreter = &self.coverage_interpreter;
        let found = measured.covered.iter_mut().zip(&interpreted.covered).enumerate();
        for (index, (covered, interpreted)) in found {
            covered.retain(|label| match definedness {
                Definedness::NotFollowed => true,
                Definedness::Defined if !coverage_interpreter.may_trap(index, *label) => true,
                Definedness::Defined | Definedness::Undefined => {
                    interpreted.binary_search(label).is_ok()
                }
            });
        }
        let found = measured.bound.iter_mut().zip(&interpreted.bound);
        for (bound, interpreted) in found {
            bound.retain(|(of, row)| match (of, definedness) {
                (_, Definedness::NotFollowed) => true,
                // As for sequences without values.
                (BoundOf::Sequence(_), definedness) => matches!(definedness, Definedness::Defined),
                // The interpreter also knows which memory was never written.
                (BoundOf::Label(values), _) => interpreted.contains(&(values.clone(), row.clone())),
            });
        }
        if matches!(definedness, Definedness::Undefined) {
            // The interpreter knows the values of all conditions, the native run those that
            // objectives ask for.
            for (vectors, interpreted) in measured.vectors.iter_mut().zip(&interpreted.vectors) {
                let is_measured = |(of, whole): &&(DecisionId, DecisionVector)| {
                    vectors.iter().any(|(other, vector)| of == other && vector.goes_as(whole))
                };
                *vectors = interpreted.iter().filter(is_measured).cloned().collect();
            }
        }
    }

    /// Runs a test in the interpreter and natively, and keeps all that either run shows, for a comparison of
    /// the runs. `traces` asks for the interpreter's trace. The inner error is the reason for which the test
    /// does not fit the program.
    pub(crate) fn run_both(
        &mut self,
        test: &Test,
        traces: bool,
    ) -> Result<Result<BothRuns, TestMisfit>, Error> {
        let interpreted =
            match self.coverage_interpreter.run_on(&self.interpreter, test, &self.options) {
                Ok(interpreted) => interpreted,
                Err(error) => return Ok(Err(error.into())),
            };
        let measured = match self.run_natively(test, Haste::None)? {
            Ok(measured) => measured,
            Err(misfit) => return Ok(Err(misfit)),
        };
        let outcome = &interpreted.outcome;
        let is_followed = !is_cut_short(outcome.end) && self.is_as_given(outcome);
        let trace = match traces && is_followed {
            true => self.short_trace(test, &self.options),
            false => None,
        };
        Ok(Ok(BothRuns { interpreted, trace, measured, is_followed }))
    }

    /// The interpreter's trace of a test; none if it is too long to be used.
    fn short_trace(&self, test: &Test, options: &Options) -> Option<Trace> {
        let traced = self.tracer.run_on(&self.interpreter, test, options).ok();
        traced.map(|(trace, _)| trace).filter(|trace| trace.events.len() <= MOST_EVENTS)
    }

    /// Whether the test gives the results of all undefined functions that a run called.
    fn is_as_given(&self, run: &interp::Outcome) -> bool {
        run.externals.iter().all(|function| {
            let function = &self.project.program.functions[*function];
            function.noreturn
                || self.given.contains(&function.name)
                || function.name.starts_with(INPUT_PREFIX)
        })
    }

    /// The coverage of a test by the interpreter within a number of steps. Signed overflow traps unless
    /// the user's flags define it. None if the test does not fit the program.
    pub(crate) fn interpret(&self, test: &Test, max_steps: u64) -> Option<InterpretedRun> {
        self.coverage_interpreter.run_on(&self.interpreter, test, &self.strict(max_steps)).ok()
    }

    /// The outcome of a test by the interpreter without its coverage, which would take several times as
    /// long.
    pub(crate) fn follow(&self, test: &Test, max_steps: u64) -> Option<interp::Outcome> {
        self.interpreter.run(test, &self.strict(max_steps), &mut Silent).ok()
    }

    /// Whether C leaves undefined what a test does, as far as the interpreter tells.
    pub(crate) fn is_undefined(&self, test: &Test) -> bool {
        self.follow(test, self.options.max_steps).is_some_and(|run| does_undefined(&run))
            || self.has_race(test)
    }

    /// Whether a handler of interrupts that the test lets run races with the code.
    pub(crate) fn has_race(&self, test: &Test) -> bool {
        let options = self.strict(MOST_STEPS_FOR_RACES);
        has_race(&self.project.program, &self.interpreter, test, &options)
    }

    fn strict(&self, max_steps: u64) -> Options {
        Options { overflow: self.overflow(), max_steps, ..self.options }
    }

    /// What signed overflow does in C: it traps, unless the user's flags define it.
    pub(crate) fn overflow(&self) -> Overflow {
        let wraps = |flag: &str| matches!(flag, "-fwrapv" | "-fno-strict-overflow" | "-ftrapv");
        match self.project.build.flags.for_parsing().any(wraps) {
            true => Overflow::Wrap,
            false => Overflow::Trap,
        }
    }

    /// The interpreter's facts about a test that ends well which no native run shows.
    pub(crate) fn forecast(&self, test: &Test) -> Forecast {
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
        let is_undefined = does_undefined(&run) || self.has_race(test);
        let varies = run.end == End::Unknown(UnknownCause::VaryingAssembly);
        let has_no_result = returns && run.result.is_none();
        let literals = LiteralPointers::of(&self.project.program, &run);
        let undetermined = UndeterminedBytes {
            result: run.undetermined_result,
            globals: run.undetermined_globals,
            objects: run.undetermined_objects,
            blocks: run.undetermined_blocks,
        };
        let no_variables = run.missed_variables;
        Forecast {
            is_undefined,
            has_no_result,
            undetermined,
            varies,
            literals,
            calls,
            no_variables,
        }
    }

    /// The memory after a test that ends well, and the same from a run in which uninitialised memory
    /// has other values and the objects lie elsewhere.
    pub(crate) fn observe(&mut self, test: &Test) -> Result<[Run; 2], Error> {
        let measurer = self.measurer()?;
        let mut run =
            |test: &Test, fill| measurer.observe(test, fill).map_err(compiled_program::failure);
        let first = run(test, false)?;
        let other = match placement::with_moved_objects(test).next_back() {
            Some(moved) => {
                let mut other = run(&moved, true)?;
                placement::move_back(&mut other, &moved, test);
                other
            }
            None => run(test, true)?,
        };
        Ok([first, other])
    }

    /// What is known of a test that was measured, for its assertions: the interpreter's facts about it, and
    /// the memory after two runs, where it ends well and C defines it.
    pub(crate) fn observed(
        &mut self,
        test: &Test,
        outcome: &Outcome,
    ) -> Result<(Forecast, Option<[Run; 2]>), Error> {
        let ends_well = outcome.is_regular();
        let mut forecast = match ends_well {
            true => self.forecast(test),
            false => Forecast::default(),
        };
        let mut seen = match ends_well && !forecast.is_undefined && !forecast.varies {
            true => Some(self.observe(test)?),
            false => None,
        };
        let is_alike = |run: &Run| ends_alike(&run.outcome, outcome);
        let is_one_run = |[first, other]: &[Run; 2]| {
            is_alike(first) && is_alike(other) && first.device_writes == other.device_writes
        };
        if !seen.as_ref().is_none_or(is_one_run) {
            (forecast.is_undefined, seen) = (true, None);
        }
        match &mut seen {
            Some([first, other]) => {
                forecast.literals.tell(first);
                forecast.literals.tell(other);
                forecast.undetermined.disturb(&self.project.program, other, first);
            }
            None => forecast.calls.clear(),
        }
        Ok((forecast, seen))
    }

    /// Keeps the sequences that end before undefined behaviour, or none if these are not known. Returns
    /// whether they are known.
    fn keep_traced(&self, test: &Test, options: &Options, measured: &mut MeasuredRun) -> bool {
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

    fn definedness(&self, interpreted: &InterpretedRun, native: &Outcome) -> Definedness {
        let run = &interpreted.outcome;
        let ended_well = native.is_orderly() || matches!(native, Outcome::TimedOut(_));
        match run.end {
            _ if !ended_well => Definedness::Undefined,
            _ if !self.is_as_given(run) => Definedness::NotFollowed,
            _ if run.uninitialised.is_some() => Definedness::Undefined,
            end if is_undefined(end) => Definedness::Undefined,
            End::Stopped(_) | End::TooDeep(_) | End::Unknown(_) => Definedness::NotFollowed,
            End::Returned
            | End::Exited(_)
            | End::NoReturn(_)
            | End::OutrunsScript
            | End::Assumption
            | End::Trapped(_) => Definedness::Defined,
        }
    }
}

/// Bytes that are uninitialised at the end, or whose values depend on such bytes.
#[derive(Default)]
pub(crate) struct UndeterminedBytes {
    result: Vec<usize>,
    /// Of the test's objects: the object's position, and the byte's.
    objects: Vec<(usize, usize)>,
    globals: Vec<(GlobalId, usize)>,
    /// For each block, the newest first, its size and its bytes; empty if there are none.
    blocks: Vec<(u64, Vec<usize>)>,
}

impl UndeterminedBytes {
    /// Changes these bytes of a run so that they differ from another run's.
    pub(crate) fn disturb(&self, program: &Program, run: &mut Run, from: &Run) {
        if let (Outcome::Returned(bytes), Outcome::Returned(from)) =
            (&mut run.outcome, &from.outcome)
        {
            self.result.iter().for_each(|at| make_differ(bytes, from, *at));
        }
        for (object, at) in &self.objects {
            let both = (run.objects.get_mut(*object), from.objects.get(*object));
            if let (Some(bytes), Some(from)) = both {
                make_differ(bytes, from, *at);
            }
        }
        for (global, at) in &self.globals {
            let name = &program.globals[*global].name;
            let initial = || Image::initial(program, *global).bytes;
            let position = |run: &Run| run.globals.iter().position(|(known, _)| known == name);
            let other = position(from).map_or_else(initial, |at| from.globals[at].1.clone());
            let position = position(run).unwrap_or_else(|| {
                run.globals.push((name.clone(), initial()));
                run.globals.len() - 1
            });
            make_differ(&mut run.globals[position].1, &other, *at);
        }
        if self.blocks.is_empty() {
            return;
        }
        let sizes = self.blocks.iter().map(|(size, _)| *size);
        let is_same = sizes.eq(run.blocks.iter().map(|(_, bytes)| bytes.len() as u64));
        let contents = run.blocks.iter_mut().zip(&from.blocks).enumerate();
        for (at, ((_, contents), (_, others))) in contents {
            let mut differ = |at: usize| make_differ(contents, others, at);
            match self.blocks.get(at).filter(|_| is_same) {
                Some((_, bytes)) => bytes.iter().copied().for_each(differ),
                // The blocks cannot be identified.
                None => (0..others.len()).for_each(&mut differ),
            }
        }
    }
}

/// Makes a byte differ from another run's, if both runs have it.
fn make_differ(bytes: &mut [u8], from: &[u8], at: usize) {
    let both = bytes.get_mut(at).into_iter().zip(from.get(at));
    both.for_each(|(byte, other)| *byte = !other);
}

/// The interpreter's facts about a test that ends well.
#[derive(Default)]
pub(crate) struct Forecast {
    /// Whether it has undefined behaviour, including cases that machines define: signed overflow, and
    /// misuse of library functions.
    pub(crate) is_undefined: bool,
    /// Whether the function returns without a value, so that its result means nothing.
    pub(crate) has_no_result: bool,
    pub(crate) undetermined: UndeterminedBytes,
    /// Whether it runs assembly whose outputs may differ from machine to machine or from run to run.
    pub(crate) varies: bool,
    /// The string literals that pointers lead to.
    pub(crate) literals: LiteralPointers,
    /// The number of calls of each undefined function; empty if the interpreter does not follow the
    /// test to its end.
    pub(crate) calls: Vec<(String, u32)>,
    /// The environment variables that it reads and does not set, and which the runner does not have.
    pub(crate) no_variables: Vec<String>,
}

/// Whether a run has undefined behaviour.
pub(crate) fn does_undefined(run: &interp::Outcome) -> bool {
    is_undefined(run.end) || run.uninitialised.is_some() || run.misused.is_some()
}

/// Whether a run ends by undefined behaviour. `abort` is defined.
fn is_undefined(end: End) -> bool {
    matches!(end, End::Trapped(kind) if kind != TrapKind::Abort)
}

/// Whether C defines a run.
#[derive(Clone, Copy)]
enum Definedness {
    /// C defines all of it.
    Defined,
    /// C does not define it from some place on.
    Undefined,
    /// The interpreter did not follow it to its end.
    NotFollowed,
}
