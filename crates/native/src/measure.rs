//! Measuring: which labels of the watched functions each test covers.
//!
//! The text is rewritten and compiled once. Runs that do not end well are repeated on a second
//! build, made when it is first needed. Of a build with optimisation it is one without: an
//! optimiser may move a record past a fault or out of a loop that never ends, and only without one
//! do the cells tell exactly what control passed. Of a build without it is one with: what takes too
//! long or too much of the stack may end well there, and counts then. So both ways give the same,
//! but for undefined behaviour, which optimisers take advantage of.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use lydian_ir::test::Test;
use lydian_ir::{Decision, DecisionId, FuncId, Program};
use lydian_objective::{DecisionVector, LabelId};

use crate::build::{Build, BuildError, BuildRequest, Companion};
use crate::flags::Optimization;
use crate::outcome::{CrashClass, MeasuredRun, Outcome, Run};
use crate::plan::{CellMeaning, Column, Plan, add_redundant};
use crate::request::Wants;
use crate::rewrite::{RewriteRequest, RewrittenUnits, rewrite_units, vector};
use crate::runner::{Haste, Limits, RunError, Runner};

/// What to measure, and how.
#[derive(Clone, Copy)]
pub struct MeasureRequest<'a> {
    /// The text, the program and the watched functions.
    pub rewrite: RewriteRequest<'a>,
    /// The other units of the program, which are linked with their rewritten texts.
    pub companions: &'a [Companion],
    /// The user's compile flags.
    pub flags: &'a [String],
    /// The functions that tests call.
    pub entries: &'a [FuncId],
    /// Says which undefined functions are the C library's own rather than inputs.
    pub modelled: &'a (dyn Fn(&str) -> bool + Sync),
    /// How the text is compiled for runs that end well.
    pub level: Optimization,
    /// The compiler, such as `clang-19`.
    pub compiler: &'a str,
}

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The instrumented text could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The tests could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Measures tests of one program, as many and as often as one likes.
///
/// There may be several of one program, one for each thread: it is compiled once, and the tests of
/// each run in a process and a folder of their own.
pub struct Measurer<'a> {
    instrumented: Arc<InstrumentedProgram<'a>>,
    limits: Limits,
    runner: Runner,
    second: Option<Runner>,
    haste: Haste,
}

/// A program that is rewritten and compiled. Several measurers may share it.
pub struct InstrumentedProgram<'a> {
    request: MeasureRequest<'a>,
    text: String,
    companions: Vec<Companion>,
    plan: Plan,
    build: Arc<Build>,
    /// The second build. The first measurer that needs it makes it, and others wait.
    second: Mutex<Option<Arc<Build>>>,
}

impl<'a> InstrumentedProgram<'a> {
    /// Rewrites and compiles.
    ///
    /// # Errors
    /// Where the build fails.
    pub fn new(request: MeasureRequest<'a>) -> Result<Self, BuildError> {
        let begun = Instant::now();
        let RewrittenUnits { text, others, plan } = rewrite_units(&request.rewrite);
        let mut companions = request.companions.to_vec();
        for (companion, text) in companions.iter_mut().zip(others) {
            companion.text = text.unwrap_or_else(|| std::mem::take(&mut companion.text));
        }
        let rewriting = begun.elapsed();
        let build = build(&request, (&text, &companions), &plan, request.level)?;
        log::info!(
            "instrumented the program in {rewriting:.1?}, {} bytes of text, and built it in {:.1?}",
            text.len(),
            begun.elapsed() - rewriting
        );
        Ok(Self { request, text, companions, plan, build, second: Mutex::new(None) })
    }

    /// The meanings of the cells, and the labels that cannot be measured.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The build that runs tests that end well.
    pub const fn build(&self) -> &Arc<Build> {
        &self.build
    }

    fn second(&self) -> Result<Arc<Build>, BuildError> {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(build) = &*second {
            return Ok(build.clone());
        }
        let level = match self.request.level {
            Optimization::None => Optimization::Some,
            Optimization::Some | Optimization::Full => Optimization::None,
        };
        log::debug!("a test makes a second build necessary, with optimisation level {level:?}");
        let made = build(&self.request, (&self.text, &self.companions), &self.plan, level)?;
        Ok(second.insert(made).clone())
    }

    /// Whether a run that ended so is repeated on the second build.
    const fn repeats(&self, outcome: &Outcome) -> bool {
        match self.request.level {
            Optimization::None => ran_out(outcome),
            Optimization::Some | Optimization::Full => !outcome.is_orderly(),
        }
    }

    /// Whether a run on the second build that ended so counts in the place of the first.
    const fn replaces(&self, outcome: &Outcome) -> bool {
        match self.request.level {
            Optimization::None => outcome.is_orderly(),
            Optimization::Some | Optimization::Full => true,
        }
    }
}

impl std::fmt::Debug for InstrumentedProgram<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstrumentedProgram").field("build", &self.build).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Measurer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measurer").field("runner", &self.runner).finish_non_exhaustive()
    }
}

impl<'a> Measurer<'a> {
    /// Rewrites and compiles.
    ///
    /// # Errors
    /// Where the build fails or the system gives no shared memory.
    pub fn new(request: MeasureRequest<'a>, limits: Limits) -> Result<Self, MeasureError> {
        Self::of(Arc::new(InstrumentedProgram::new(request)?), limits)
    }

    /// A measurer of a program that is compiled.
    ///
    /// # Errors
    /// Where the system gives no shared memory.
    pub fn of(
        instrumented: Arc<InstrumentedProgram<'a>>,
        limits: Limits,
    ) -> Result<Self, MeasureError> {
        let runner = Runner::new(instrumented.build.clone(), limits.clone())?;
        Ok(Self { instrumented, limits, runner, second: None, haste: Haste::None })
    }

    /// The meanings of the cells, and the labels that cannot be measured.
    pub fn plan(&self) -> &Plan {
        &self.instrumented.plan
    }

    /// The instrumented text.
    pub fn text(&self) -> &str {
        &self.instrumented.text
    }

    /// The build that runs tests that end well.
    pub fn build(&self) -> &Arc<Build> {
        self.runner.build()
    }

    /// Lets tests run as long as the limit says again ([`Runner::be_patient`]).
    pub const fn be_patient(&mut self) {
        self.runner.be_patient();
        if let Some(second) = &mut self.second {
            second.be_patient();
        }
    }

    /// Sets how much of the time limit the next tests have ([`Runner::hurry`]). Tests in haste that
    /// take longer are not repeated.
    pub const fn hurry(&mut self, haste: Haste) {
        self.haste = haste;
        self.runner.hurry(haste);
    }

    /// Runs the tests. Returns the outcome and the coverage of each.
    ///
    /// # Errors
    /// Where a test does not fit the program, or no runner can be started.
    pub fn measure(&mut self, tests: &[Test]) -> Result<Vec<MeasuredRun>, MeasureError> {
        let wants = Wants { cells: true, memory: true, ..Wants::default() };
        let mut runs = self.runner.run(tests, wants)?;
        let repeats = |index: &usize| {
            let outcome = &runs[*index].outcome;
            let given_up = self.haste != Haste::None && matches!(outcome, Outcome::TimedOut(_));
            !given_up && self.instrumented.repeats(outcome)
        };
        let again: Vec<usize> = (0..runs.len()).filter(repeats).collect();
        let chosen: Vec<Test> = again.iter().map(|index| tests[*index].clone()).collect();
        for (index, run) in again.into_iter().zip(self.run_on_second(&chosen, wants)?) {
            if self.instrumented.replaces(&run.outcome) {
                runs[index] = run;
            }
        }
        Ok(runs.into_iter().map(|run| self.judge(run)).collect())
    }

    /// Runs a test to observe the final memory, including the heap. With `fill`, memory that was
    /// never written has other values, so that values that differ between two runs are
    /// undetermined.
    ///
    /// # Errors
    /// As of [`Measurer::measure`].
    pub fn observe(&mut self, test: &Test, fill: bool) -> Result<Run, MeasureError> {
        let wants = Wants { cells: false, memory: true, heap: true, fill };
        let mut runs = self.runner.run(std::slice::from_ref(test), wants)?;
        Ok(runs.pop().expect("one test gives one run"))
    }

    fn run_on_second(&mut self, tests: &[Test], wants: Wants) -> Result<Vec<Run>, MeasureError> {
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let runner = match &mut self.second {
            Some(runner) => runner,
            none => {
                let build = self.instrumented.second()?;
                none.insert(Runner::new(build, self.limits.clone())?)
            }
        };
        Ok(runner.run(tests, wants)?)
    }

    /// The coverage of a run: the labels of its cells, and the labels that are true on its wide
    /// vectors.
    fn judge(&self, mut run: Run) -> MeasuredRun {
        if !self.plan().redundant.is_empty() {
            let mut set = run.cells.iter().copied().collect();
            add_redundant(&mut set, &self.plan().redundant);
            run.cells = set.into_iter().collect();
        }
        let mut covered = covered_by_cells(self.plan(), &run, self.rewrite().watched.len());
        let mut vectors = self.vectors_of_cells(&run);
        let mut bound = vec![Vec::new(); covered.len()];
        for wide in &run.wide {
            if wide.decision & BOUND_TABLE != 0 {
                let Some(table) = self.plan().tables.get((wide.decision & !BOUND_TABLE) as usize)
                else {
                    continue;
                };
                if let Some(row) = Column::row(&table.columns, &wide.values) {
                    bound[table.function as usize].push((table.of.clone(), row));
                }
                continue;
            }
            let Some(found) = self.plan().wide.get(wide.decision as usize) else { continue };
            let Some(decision) = self.decision(found.function, found.decision) else { continue };
            let objectives = &self.rewrite().watched[found.function as usize];
            let event = vector(decision, self.rewrite().short_circuit, &wide.values);
            let is_true = |label: &&LabelId| objectives.labels[**label].pred.eval(&event).is_true();
            covered[found.function as usize].extend(found.labels.iter().filter(is_true));
            vectors[found.function as usize].push((found.decision, event));
        }
        for labels in &mut covered {
            labels.sort_unstable();
            labels.dedup();
        }
        let mut sequences = vec![Vec::new(); covered.len()];
        let cells = run.cells.iter().filter_map(|cell| self.plan().cells.get(*cell as usize));
        for cell in cells {
            sequences[cell.function as usize].extend(&cell.sequences);
            for (owner, sequence) in &cell.elsewhere {
                sequences[*owner as usize].push(*sequence);
            }
        }
        for of_function in &mut sequences {
            of_function.sort_unstable();
            of_function.dedup();
        }
        let mut short = vec![Vec::new(); covered.len()];
        for cell in
            self.plan().short.iter().filter(|short| run.cells.binary_search(&short.cell).is_ok())
        {
            short[cell.function as usize].push(cell.of);
        }
        MeasuredRun { run, covered, sequences, vectors, bound, short }
    }

    /// The vectors for which a run set cells, of decisions whose vectors hyperlabels want.
    fn vectors_of_cells(&self, run: &Run) -> Vec<Vec<(DecisionId, DecisionVector)>> {
        let mut vectors = vec![Vec::new(); self.rewrite().watched.len()];
        for cells in self.plan().decisions.iter().filter(|cells| cells.wanted) {
            let CellMeaning::Vector { bits } = cells.meaning else { continue };
            let Some(decision) = self.decision(cells.function, cells.decision) else { continue };
            let end = cells.first + (1 << bits);
            let from = run.cells.partition_point(|cell| *cell < cells.first);
            let set = run.cells[from..].iter().take_while(|cell| **cell < end);
            vectors[cells.function as usize].extend(set.map(|cell| {
                let bits = u64::from(cell - cells.first);
                let short_circuit = self.rewrite().short_circuit;
                (cells.decision, vector(decision, short_circuit, &[bits]))
            }));
        }
        vectors
    }

    fn rewrite(&self) -> &RewriteRequest<'a> {
        &self.instrumented.request.rewrite
    }

    fn decision(&self, function: u32, decision: DecisionId) -> Option<&Decision> {
        let objectives = &self.rewrite().watched[function as usize];
        let program: &Program = self.rewrite().program;
        let body = program.functions[objectives.function].body.as_ref()?;
        Some(&body.decisions[decision])
    }
}

/// The bit of the numbers of tables of bound values, which decisions' numbers lack. It is
/// `BOUND_TABLE` in `runner.c`.
const BOUND_TABLE: u32 = 1 << 31;

fn covered_by_cells(plan: &Plan, run: &Run, functions: usize) -> Vec<Vec<LabelId>> {
    let mut covered = vec![Vec::new(); functions];
    for cell in &run.cells {
        if let Some(cell) = plan.cells.get(*cell as usize) {
            covered[cell.function as usize].extend(&cell.labels);
        }
    }
    covered
}

/// Whether a run ended for want of time or of stack.
const fn ran_out(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::TimedOut(_) => true,
        Outcome::Crashed(crash) => matches!(crash.class, CrashClass::StackOverflow),
        _ => false,
    }
}

fn build(
    request: &MeasureRequest<'_>,
    (text, companions): (&str, &[Companion]),
    plan: &Plan,
    level: Optimization,
) -> Result<Arc<Build>, BuildError> {
    let build = Build::new(&BuildRequest {
        program: request.rewrite.program,
        text,
        own_end: request.rewrite.own_end(),
        companions,
        plan,
        flags: request.flags,
        entries: request.entries,
        modelled: request.modelled,
        level,
        compiler: request.compiler,
    })?;
    Ok(Arc::new(build))
}
