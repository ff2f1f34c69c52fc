//! Generating tests: sessions for functions run one by one or several at a time, and their results are
//! put together. At the end a folder has the suite, the ledger and the state of each objective.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexSet;
use lydian_base::{Budget, CancelToken};
use lydian_ir::FuncId;
use lydian_native::Build;
use lydian_objective::fingerprint::reachable;
use lydian_objective::{AcceptedAssumptions, AssumptionKind, Criterion, FunctionObjectives};
use lydian_report::suite::minimise::Effort;
use lydian_report::{FunctionSummary, ObjectiveSummary, SuiteTest, Summary};
use lydian_smt::QueryLog;
use lydian_symex::Config;
use lydian_symex::Unreached;
use rustc_hash::FxHashSet;

use crate::changes::ChangeImpact;
use crate::error::Error;
use crate::events::{Event, Observer};
use crate::files;
use crate::measurement::compiled_program::{CompiledProgram, Measurement};
use crate::measurement::test_runner::TestRunner;
use crate::measurement::{MeasurementOptions, confinement};
use crate::objectives::{Objectives, Semantics, functions_named};
use crate::outside::OutsideRequest;
use crate::project::Project;
use crate::replay::keeper::{self, Case, CaseKeeper};
use crate::replay::kept_case::{Claim, ClaimedVerdict};
use crate::session::{
    FunctionUnderTest, KeptRuns, MeasuredFunctions, NamedPlaces, ProgramNames, Session,
    SessionChecker, SessionOptions, SessionOutcome, SessionRecords, Standing, TestMemory,
};
use crate::shared_ledger::{self, Scopes, SharedLedger};
use crate::suite::{FailingTest, KeptTest, Suite, SuiteFormat, ownership};
use shared_coverage::SharedContradiction;

mod shared_coverage;
mod strong;
mod troubles;
pub(crate) mod workers;

/// The name of the file with the state of all objectives, in a folder of tests.
pub const OBJECTIVES_FILE: &str = "objectives.json";

/// The options of a generator.
#[derive(Clone, Debug)]
pub struct GeneratorOptions {
    /// The folder of the suite and its ledger. It is created if it does not exist. Results of earlier
    /// runs in it are used.
    pub folder: PathBuf,
    /// The time for each function, or for a program that is tested as a whole.
    pub time: Duration,
    /// The configuration of explorations. `unreached` follows from the objectives.
    pub exploration: Config,
    /// Whether objectives that exploration leaves are proved infeasible over all runs, where they are.
    pub proofs: bool,
    /// The options of native runs.
    pub measurement: MeasurementOptions,
    /// The effort for minimising the suite.
    pub minimise: Effort,
    /// The number of threads; none for as many as there are cores.
    pub jobs: Option<NonZeroUsize>,
    /// The kinds of assumptions under which *infeasible* counts, beside those that settings accept.
    pub accept: Vec<AssumptionKind>,
    /// Whether objectives are tried again that an earlier run with no less effort left open. Otherwise its
    /// reasons are taken over.
    pub again: bool,
    /// Whether an old ledger is set aside first.
    pub fresh: bool,
    /// Forms for other tools in which the suite is written, too.
    pub formats: Vec<SuiteFormat>,
    /// A file for the summary as JSON, in addition to the one in the folder.
    pub json: Option<PathBuf>,
    /// A folder for the questions of explorations and proofs to solvers, each as SMT-LIB with its answer;
    /// none for no log. The questions of an earlier run are removed from it.
    pub query_log: Option<PathBuf>,
    /// The outside checker that is asked about objectives of whole programs, too.
    pub outside: Option<OutsideRequest>,
    /// The objectives that a change affects, where only those are asked for. Explorations are cheaper with
    /// [`Config::merge_silent_code`] then.
    pub impact: Option<ChangeImpact>,
}

impl GeneratorOptions {
    /// Thirty seconds for each function, and the default exploration.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            time: Duration::from_secs(30),
            exploration: Config { nice_values: true, ..Config::default() },
            measurement: MeasurementOptions::default(),
            proofs: true,
            minimise: Effort::Exact,
            jobs: None,
            accept: Vec::new(),
            again: false,
            fresh: false,
            formats: Vec::new(),
            json: None,
            query_log: None,
            outside: None,
            impact: None,
        }
    }
}

/// Generates tests that reach a project's objectives.
#[derive(Debug)]
pub struct Generator<'p> {
    project: &'p Project,
    objectives: &'p Objectives,
    options: GeneratorOptions,
}

/// The result of generating tests.
#[derive(Debug)]
pub struct Generation {
    /// The verdicts and counts, function by function.
    pub summary: Summary,
    /// The tests.
    pub suite: Vec<SuiteTest>,
    /// The tests that do not end well, because they show a fault of the program under test.
    pub failing: Vec<FailingTest>,
    /// For each function of a program that is tested as a whole, the tests that cover something of it.
    pub shares: Vec<FunctionShare>,
    /// The end of the run.
    pub end: GenerationEnd,
    /// The result of writing the files, and the log of questions.
    pub written: Result<(), Error>,
}

/// The tests of a whole program that cover something of one of its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionShare {
    /// The function.
    pub function: String,
    /// The names of the tests.
    pub tests: Vec<String>,
}

/// The end of a run of a generator. Of several functions the worst counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GenerationEnd {
    /// Everything asked for was done.
    Done,
    /// The settings about inputs are contradictory, or do not fit the function.
    WrongInputs,
    /// Engines contradicted each other or the native program, which is a fault of Lydian's.
    Contradiction,
    /// It was cancelled. All findings are kept, and the same request continues from there.
    Interrupted,
}

impl<'p> Generator<'p> {
    /// A generator of tests for these objectives of the project's.
    pub const fn new(
        project: &'p Project,
        objectives: &'p Objectives,
        options: GeneratorOptions,
    ) -> Self {
        Self { project, objectives, options }
    }

    /// Runs the generator. Once `cancel` is cancelled, it stops early with its findings.
    ///
    /// # Errors
    /// A program that is not for x86-64 or cannot be compiled; a folder or ledger that cannot be used.
    pub fn run(&self, cancel: &CancelToken, observer: &dyn Observer) -> Result<Generation, Error> {
        let (project, options) = (self.project, &self.options);
        project.require_x86_64()?;
        let outside = options.outside.as_ref().map(SessionChecker::find).transpose()?;
        let confinement = confinement::confinement(options.measurement.confined, observer);
        files::folder(&options.folder)?;
        let query_log = query_log(project, options)?;
        let mut names = Suite::files(&options.formats);
        names.push(OBJECTIVES_FILE);
        ownership::check(&options.folder, &names)?;
        let ledger = shared_ledger::open(&options.folder, options.fresh, observer)?;
        let run = Run {
            project,
            objectives: self.objectives,
            options,
            unit: shared_ledger::unit_name(&project.build.file),
            accepted: accepted(project, options),
            query_log: query_log.as_ref(),
            keeper: CaseKeeper {
                folder: options.folder.join(keeper::FOLDER),
                project,
                objectives: &self.objectives.request,
                measurement: options.measurement,
            },
            cancel,
            observer,
            outside: outside.as_ref(),
        };
        let tasks = run.tasks();
        let runs = run.known_runs(&tasks, &ledger)?;
        let measurement =
            Measurement::new(project, self.objectives, options.measurement, confinement)
                .with_some(run.measured_functions(&tasks, &runs));
        let compiled = measurement.begin();
        // The program is compiled while exploration begins.
        std::thread::scope(|scope| {
            scope.spawn(|| drop(compiled[0].get()));
            let threads = workers::count(options.jobs, tasks.len());
            let runners = (0..threads).map(|_| measurement.runner(&compiled)).collect();
            let kills = self.objectives.request.criteria.contains(&Criterion::Sm);
            let further = kills.then(|| measurement.runner(&compiled));
            let mut generation = run.all((&tasks, runs), ledger, runners, further, &compiled[0])?;
            let logged = query_log.as_ref().map_or(Ok(()), |log| check_written(log));
            generation.written = generation.written.and(logged);
            Ok(generation)
        })
    }
}

/// The kinds of assumptions that the options and the settings accept.
fn accepted(project: &Project, options: &GeneratorOptions) -> AcceptedAssumptions {
    let asked: Vec<String> = options.accept.iter().map(ToString::to_string).collect();
    let names = asked.iter().chain(&project.settings.accepted).map(String::as_str);
    AcceptedAssumptions::named(names).expect("names were checked when they were read")
}

/// Begins the log of questions, if it is requested.
fn query_log(
    project: &Project,
    options: &GeneratorOptions,
) -> Result<Option<Arc<QueryLog>>, Error> {
    let Some(folder) = &options.query_log else { return Ok(None) };
    let log = QueryLog::begin(folder, project.texts.all.clone());
    let log = log.map_err(|error| unwritten_log(folder, &error))?;
    Ok(Some(Arc::new(log)))
}

/// Fails if not all questions could be logged.
fn check_written(log: &QueryLog) -> Result<(), Error> {
    let Some(error) = log.take_error() else { return Ok(()) };
    let count = log.count();
    let note = format!("question {count} and those after it are not logged; all else was done");
    Err(unwritten_log(log.folder(), &error).note(note))
}

fn unwritten_log(folder: &Path, error: &std::io::Error) -> Error {
    let what = format!("cannot log questions in {}: {error}", folder.display());
    Error::environment("log-queries", what)
}

/// The work on all functions.
struct Run<'a> {
    project: &'a Project,
    objectives: &'a Objectives,
    options: &'a GeneratorOptions,
    /// The unit, as the ledger names it.
    unit: String,
    accepted: AcceptedAssumptions,
    query_log: Option<&'a Arc<QueryLog>>,
    keeper: CaseKeeper<'a>,
    cancel: &'a CancelToken,
    observer: &'a dyn Observer,
    outside: Option<&'a SessionChecker<'a>>,
}

/// A function that tests call, with the functions whose objectives they are to reach.
struct Task<'a> {
    entry: FuncId,
    targets: Vec<FunctionUnderTest<'a>>,
    /// The positions of the functions that tests can reach or hyperlabels name, among those with objectives.
    reached: Vec<usize>,
}

/// The result of a task.
struct TaskResult {
    outcome: SessionOutcome,
    /// Its time.
    seconds: f64,
}

impl<'a> Run<'a> {
    fn all(
        &self,
        (tasks, runs): (&[Task<'_>], Vec<KeptRuns>),
        ledger: SharedLedger,
        runners: Vec<TestRunner<'_>>,
        further: Option<TestRunner<'_>>,
        compiled: &Arc<CompiledProgram<'_>>,
    ) -> Result<Generation, Error> {
        let within: Vec<(&Task<'_>, usize, Mutex<KeptRuns>)> = tasks
            .iter()
            .zip(runs)
            .enumerate()
            .map(|(at, (task, runs))| (task, self.workers(at, tasks.len()), Mutex::new(runs)))
            .collect();
        let mut results =
            workers::work_on(&within, runners, self.cancel, |(task, within, runs), runner| {
                let runs =
                    std::mem::take(&mut *runs.lock().unwrap_or_else(PoisonError::into_inner));
                self.settle((task, runs), *within, &ledger, runner)
            })?;
        let positions: Vec<usize> = results.done.iter().map(|(position, _)| *position).collect();
        let outcomes = results.done.iter_mut().map(|(_, done)| &mut done.outcome);
        let index = |at: usize, target: usize| tasks[positions[at]].targets[target].index;
        let shared = shared_coverage::credit(&mut outcomes.collect::<Vec<_>>(), index);
        for contradiction in shared {
            let told = self.keep_shared(&contradiction, &results.done)?;
            results.done[contradiction.at].1.outcome.contradictions.push(told);
        }
        let mut end = GenerationEnd::Done;
        for (position, done) in &results.done {
            let name = self.project.name(tasks[*position].entry);
            end = end.max(troubles::tell_of(self.project, name, &done.outcome, self.observer));
        }
        if let Some(error) = results.failure {
            return Err(error);
        }
        let build = compiled.get()?.build();
        let (needed, beside) = match further.is_some() {
            true => (Some(ledger), None),
            false => (None, Some(ledger)),
        };
        // The ledger's log is written back meanwhile.
        let mut generation = std::thread::scope(|scope| {
            scope.spawn(|| drop(beside));
            self.put_together((tasks, needed.as_ref()), results.done, further, build)
        })?;
        generation.end = generation.end.max(end);
        if self.cancel.is_cancelled() {
            generation.end = GenerationEnd::Interrupted;
        }
        Ok(generation)
    }

    /// The number of workers of the task at a position.
    fn workers(&self, at: usize, tasks: usize) -> usize {
        workers::within(self.options.jobs, tasks - at)
    }

    /// What the ledger knows of the tests of each task.
    fn known_runs(
        &self,
        tasks: &[Task<'_>],
        ledger: &SharedLedger,
    ) -> Result<Vec<KeptRuns>, Error> {
        let standing =
            Standing { project: self.project, unit: &self.unit, ledger, accepted: &self.accepted };
        let config = self.exploration();
        let names = Arc::new(ProgramNames::of(&self.project.program));
        let read = |(at, task): (usize, &Task<'_>)| {
            let options = self.session_options(self.workers(at, tasks.len()));
            let of = (task.entry, task.targets.as_slice());
            let reached = task.reached.iter().map(|at| &self.objectives.functions[*at]);
            let reached: Vec<_> = reached.collect();
            KeptRuns::read(&standing, of, &reached, (&config, &options), &names)
        };
        tasks.iter().enumerate().map(read).collect()
    }

    /// The objectives that tests may have to be measured for: of the functions that tasks reach which are not
    /// settled. None if these are all.
    fn measured_functions(
        &self,
        tasks: &[Task<'_>],
        runs: &[KeptRuns],
    ) -> Option<Vec<FunctionObjectives>> {
        let program = &self.project.program;
        let open = tasks.iter().zip(runs).filter(|(_, runs)| !runs.is_settled);
        let open: Vec<FuncId> = open.map(|(task, _)| task.entry).collect();
        if open.len() == tasks.len() {
            return None;
        }
        let mut reached: BTreeSet<FuncId> = BTreeSet::new();
        for entry in open {
            if !reached.contains(&entry) {
                reached.extend(reachable(program, entry).0.into_values());
            }
        }
        let some =
            self.objectives.functions.iter().map(|of| match reached.contains(&of.function) {
                true => of.clone(),
                false => FunctionObjectives::none(of.function, of.exprs.clone()),
            });
        Some(some.collect())
    }

    fn session_options(&self, workers: usize) -> SessionOptions {
        SessionOptions {
            minimise: self.options.minimise,
            proofs: self.options.proofs,
            workers,
            time: self.options.time,
            measurement: self.options.measurement,
            again: self.options.again,
            logs_questions: self.query_log.is_some(),
        }
    }

    /// Runs one task with a number of workers.
    fn settle(
        &self,
        (task, runs): (&Task<'_>, KeptRuns),
        workers: usize,
        ledger: &SharedLedger,
        runner: &mut TestRunner<'_>,
    ) -> Result<TaskResult, Error> {
        let begun = Instant::now();
        let function = self.project.name(task.entry);
        self.observer.notice(Event::Begun { function });
        let mut session = Session {
            project: self.project,
            entry: task.entry,
            targets: &task.targets,
            measured: MeasuredFunctions {
                all: &self.objectives.functions,
                reached: &task.reached,
                further: &self.objectives.further,
            },
            unit: &self.unit,
            runner,
            ledger,
            records: SessionRecords {
                keeper: &self.keeper,
                observer: self.observer,
                query_log: self.query_log,
            },
            options: self.session_options(workers),
            runs,
            places: NamedPlaces::new(&self.project.texts.all),
            accepted: &self.accepted,
            recorded: TestMemory::default(),
            outside: self.outside,
        };
        let budget = Budget::start(Some(self.options.time), self.cancel.clone());
        let outcome = session.run(&self.exploration(), &budget);
        self.observer.notice(Event::Ended { function });
        Ok(TaskResult { outcome: outcome?, seconds: begun.elapsed().as_secs_f64() })
    }

    /// Keeps a test of one function that covers an objective of another which was proved infeasible.
    /// Returns the sentence about it.
    fn keep_shared(
        &self,
        contradiction: &SharedContradiction,
        done: &[(usize, TaskResult)],
    ) -> Result<String, Error> {
        let SharedContradiction { index, label, told, test: (of, test), sentence, .. } =
            contradiction;
        let objectives = &self.objectives.functions[*index];
        let claim = Claim {
            engine: "proof".to_owned(),
            verdict: ClaimedVerdict::Infeasible,
            function: self.project.name(objectives.function).to_owned(),
            criterion: told.criterion,
            name: told.name.clone(),
            place: objectives.labels[*label].place.to_string(),
            text: told.text.clone(),
            key: objectives.labels[*label].key.clone(),
            is_hyperlabel: false,
        };
        self.keeper.keep(Case {
            sentence: sentence.clone(),
            test: &done[*of].1.outcome.tests[*test].test,
            earlier: &[],
            claims: vec![claim],
            ending: None,
        })
    }

    /// The configuration of explorations, with the semantics of the objectives for conditions that are
    /// not evaluated.
    fn exploration(&self) -> Config {
        let unreached = match self.objectives.semantics {
            Semantics::ThreeValued => Unreached::Evaluated,
            Semantics::ShortCircuit => Unreached::Unknown,
        };
        Config { unreached, ..self.options.exploration.clone() }
    }

    /// Makes the suite and the summary, and writes them.
    fn put_together(
        &self,
        (tasks, ledger): (&[Task<'_>], Option<&SharedLedger>),
        mut done: Vec<(usize, TaskResult)>,
        mut further: Option<TestRunner<'_>>,
        build: &Build,
    ) -> Result<Generation, Error> {
        let mut summary =
            Summary { guesses: self.project.guesses().to_vec(), ..Summary::default() };
        let mut suite = Suite::default();
        suite.add_kept(&self.options.folder, self.project, self.observer);
        let (mut failing, mut shares) = (Vec::new(), Vec::new());
        let (mut names, mut on_demand) = (Vec::new(), Vec::new());
        for (_, done) in &mut done {
            let tests = std::mem::take(&mut done.outcome.tests);
            on_demand.push(tests.iter().map(KeptTest::on_demand).collect::<Vec<_>>());
            let (ended, of_function) = suite.add(&self.project.program, tests);
            failing.extend(ended);
            names.push(of_function);
        }
        for (at, (position, TaskResult { outcome, seconds })) in done.into_iter().enumerate() {
            summary.taken_over.extend(outcome.taken_over);
            let tests = names[at].len();
            // For a whole program, tests, time and paths are those of all functions together.
            let attempts = confinement::summaries(&outcome.attempts);
            let mut whole = Some((tests, seconds, outcome.exploration, attempts));
            let targets = tasks[position].targets.iter().zip(outcome.rows).zip(outcome.objectives);
            for ((target, criteria), objectives) in targets {
                let (tests, seconds, exploration, attempts) =
                    whole.take().unwrap_or((0, 0.0, None, Vec::new()));
                let name = self.project.name(target.objectives.function).to_owned();
                let named = objectives.into_iter().map(|objective| {
                    let own = objective.tests.iter().map(|test| (at, *test));
                    let tests: Vec<(usize, usize)> = own.chain(objective.elsewhere).collect();
                    let only_by = tests.iter().map(|(of, test)| on_demand[*of][*test]).min();
                    let tests = tests.iter().filter_map(|(of, test)| names[*of].get(*test));
                    let tests = tests.cloned().collect();
                    ObjectiveSummary { only_by: only_by.flatten(), tests, ..objective.told }
                });
                let objectives: Vec<ObjectiveSummary> = named.collect();
                let tests = match tasks[position].targets.len() {
                    1 => tests,
                    _ => {
                        let share = share(&name, &objectives);
                        let count = share.tests.len();
                        shares.push(share);
                        count
                    }
                };
                summary.functions.push(FunctionSummary {
                    name,
                    criteria,
                    tests,
                    seconds,
                    exploration,
                    attempts,
                    objectives,
                });
            }
        }
        let is_wrong =
            self.kill_mutants((&mut suite, &mut summary), further.as_mut(), build, (tasks, ledger));
        // What was found before an error stays.
        let written = self.write(&suite, &summary, build)?;
        let is_wrong = is_wrong?;
        let suite = suite.tests;
        let end = match is_wrong {
            true => GenerationEnd::Contradiction,
            false => GenerationEnd::Done,
        };
        Ok(Generation { summary, suite, failing, shares, end, written })
    }

    /// Writes the suite and the summary. The inner error is that of the folder's own files.
    fn write(
        &self,
        suite: &Suite,
        summary: &Summary,
        build: &Build,
    ) -> Result<Result<(), Error>, Error> {
        let GeneratorOptions { folder, formats, json, .. } = self.options;
        let (project, observer) = (self.project, self.observer);
        let mut files =
            suite.write(folder, &project.build.file, project, build, formats, observer)?;
        let objectives = summary.to_json();
        let path = folder.join(OBJECTIVES_FILE);
        ownership::set_aside(&path, observer)?;
        let sealed = ownership::sealed(&path, &objectives);
        files.push((path, sealed));
        files.extend(json.iter().map(|path| (path.clone(), objectives.clone())));
        Ok(files::files(&files))
    }

    /// One task for each function, or one of `main` for the whole program, with its own objectives
    /// first.
    fn tasks(&self) -> Vec<Task<'a>> {
        let scopes = Scopes::new(self.project, self.objectives.semantics);
        let target = |(index, objectives): (usize, &'a FunctionObjectives)| FunctionUnderTest {
            objectives,
            index,
            scope: scopes.of(objectives.function),
            impacted: self.options.impact.as_ref().and_then(|impact| impact.of(index)),
        };
        let targets = self.objectives.functions.iter().enumerate().map(target);
        let Some(entry) = self.project.entry() else {
            return targets.map(|one| self.task(one.objectives.function, vec![one])).collect();
        };
        let mut targets: Vec<_> = targets.collect();
        let main = self.project.program.function_named("main");
        targets.sort_by_key(|target| Some(target.objectives.function) != main);
        vec![self.task(entry, targets)]
    }

    fn task(&self, entry: FuncId, targets: Vec<FunctionUnderTest<'a>>) -> Task<'a> {
        let (reached, _) = reachable(&self.project.program, entry);
        let mut reached: FxHashSet<FuncId> = reached.into_values().collect();
        reached.extend(targets.iter().flat_map(|target| functions_named(target.objectives)));
        let all = self.objectives.functions.iter().enumerate();
        let reached = all.filter(|(_, of)| reached.contains(&of.function)).map(|(at, _)| at);
        Task { entry, targets, reached: reached.collect() }
    }
}

/// The tests of a program that cover something of one of its functions.
fn share(function: &str, objectives: &[ObjectiveSummary]) -> FunctionShare {
    let tests: IndexSet<&String> =
        objectives.iter().flat_map(|objective| &objective.tests).collect();
    let tests = tests.into_iter().cloned().collect();
    FunctionShare { function: function.to_owned(), tests }
}
