//! `lydian gen`: find tests, run them, prove what none can reach, and leave a folder with it all.

use std::path::Path;
use std::time::{Duration, Instant};

use indexmap::IndexSet;
use lydian_base::{Budget, CancelToken, Diagnostic};
use lydian_inputs::settings::{INVARIANT, Within};
use lydian_inputs::{PlanError, Settings};
use lydian_ir::FuncId;
use lydian_ledger::Scope;
use lydian_native::Build;
use lydian_objective::{Accepted, FunctionObjectives};
use lydian_report::minimise::Effort;
use lydian_report::{FunctionSummary, GuessSummary, ObjectiveSummary, Summary};
use lydian_symex::exec::Unreached;
use lydian_symex::{Config, ExploreError, LabelDeletion, Limits, Mode, Search, Unmet};

use crate::args::{
    DeletionArg, ExploreArg, GenArgs, MinimiseArg, ModeArg, ProgramArgs, SearchArg, SemanticsArg,
};
use crate::commands::explain;
use crate::counting::Counting;
use crate::exit::{ExitCode, Failure};
use crate::ledger::SharedLedger;
use crate::load::Loaded;
use crate::measure::{Compiled, Measuring};
use crate::objectives::{self, Annotated};
use crate::progress::Lines;
use crate::session::{Recorded, Session, Settled, Target};
use crate::{
    config, confined, elsewhere, guesses, interrupt, ledger, load, output, owned, render, suite,
    table, workers,
};

pub(crate) fn run(args: &GenArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let config = config::read(args.source.config.as_deref(), &args.source.file)?;
    let accepted = accepted(args, &config);
    let settings = settings_text(&config);
    let loaded = load::load_program(&args.source, Some(&args.program), config)?;
    load::require_x86_64(&loaded)?;
    let configuration = configuration(args, &settings, &loaded);
    let guesses = guesses::of(&loaded);
    output::text(&guesses::render(&guesses))?;
    let Annotated { objectives, further } = objectives::annotated(&loaded, &args.criteria)?;
    let limits = (args.limits.test_time, confined::confinement(&args.confinement));
    let measuring = Measuring::new(&loaded, &objectives, &args.criteria, limits);
    let tasks = if loaded.entry.is_some() { 1 } else { objectives.len() };
    let threads = workers::count(args.jobs, tasks);
    let compiled = measuring.begin();
    let (loaded, objectives, further) = (&loaded, &objectives, &further);
    // The program is compiled while the ledger is opened and exploration begins.
    std::thread::scope(|scope| {
        scope.spawn(|| drop(compiled.get()));
        output::folder(&args.output)?;
        let mut names = suite::Collected::files(&args.format);
        names.push(explain::FILE);
        owned::check(&args.output, &names)?;
        let ledger = ledger::open(&args.output, args.fresh)?;
        let workers = (0..threads).map(|_| measuring.counting(&compiled)).collect();
        let run =
            Run { args, loaded, objectives, further, configuration, accepted, guesses, cancel };
        run.all(ledger, workers, &compiled)
    })
}

/// The kinds of assumptions that the command line and the settings accept.
fn accepted(args: &GenArgs, config: &config::Config) -> Accepted {
    let names = args.accept.iter().chain(&config.settings.accept).map(String::as_str);
    Accepted::named(names).expect("names were checked when they were read")
}

/// The settings that say which runs are considered. What is accepted is no matter of evidence.
fn settings_text(config: &config::Config) -> String {
    let settings = Settings { accept: Vec::new(), ..config.settings.clone() };
    serde_json::to_string(&settings).expect("settings are valid JSON")
}

/// What decides, beside the code, which runs are considered.
fn configuration(args: &GenArgs, settings: &str, loaded: &Loaded) -> String {
    let mut text = format!("semantics {:?}; inputs {settings}", args.criteria.semantics);
    if loaded.entry.is_some() {
        let ProgramArgs { sym_args, sym_stdin, sym_files, .. } = &args.program;
        text += &format!("; from main, with {sym_args:?} {sym_stdin:?} {sym_files:?}");
    }
    text
}

struct Run<'a> {
    args: &'a GenArgs,
    loaded: &'a Loaded,
    objectives: &'a [FunctionObjectives],
    /// The labels of other functions that these name.
    further: &'a [FunctionObjectives],
    configuration: String,
    accepted: Accepted,
    guesses: Vec<GuessSummary>,
    cancel: CancelToken,
}

/// What is called by tests, and what they are to reach.
struct Task<'a> {
    entry: FuncId,
    targets: Vec<Target<'a>>,
}

/// What came of a task.
struct Done {
    settled: Settled,
    /// How long it took.
    seconds: f64,
}

impl<'a> Run<'a> {
    fn all(
        &self,
        ledger: SharedLedger,
        workers: Vec<Counting<'_>>,
        compiled: &Compiled<'_>,
    ) -> Result<ExitCode, Failure> {
        let tasks = self.tasks();
        let lines = Lines::new();
        let within: Vec<(&Task<'_>, usize)> = tasks
            .iter()
            .enumerate()
            .map(|(at, task)| (task, workers::within(self.args.jobs, tasks.len() - at)))
            .collect();
        let mut results =
            workers::work_on(&within, workers, &self.cancel, |(task, within), counting| {
                self.settle(task, *within, &ledger, counting, &lines)
            })?;
        let positions: Vec<usize> = results.done.iter().map(|(position, _)| *position).collect();
        let settled = results.done.iter_mut().map(|(_, done)| &mut done.settled);
        let index = |at: usize, target: usize| tasks[positions[at]].targets[target].index;
        elsewhere::credit(&mut settled.collect::<Vec<_>>(), index);
        let mut code = ExitCode::Done;
        for (position, done) in &results.done {
            code = code.max(self.report(self.name(tasks[*position].entry), &done.settled));
        }
        if let Some(failure) = results.failure {
            return Err(failure);
        }
        let build = compiled.get()?.build();
        // The ledger's log is written back meanwhile.
        std::thread::scope(|scope| {
            scope.spawn(|| drop(ledger));
            self.write(&tasks, results.done, build)
        })?;
        if self.cancel.is_cancelled() {
            code = ExitCode::Interrupted;
            render::diagnostics(&[Diagnostic::warning(
                "interrupted",
                "stopped by the user; the same command goes on from here",
            )]);
        }
        Ok(code)
    }

    fn name(&self, function: FuncId) -> &str {
        &self.loaded.program.functions[function].name
    }

    /// Does the work of one task, with so many workers.
    fn settle(
        &self,
        task: &Task<'_>,
        workers: usize,
        ledger: &SharedLedger,
        counting: &mut Counting<'_>,
        lines: &Lines,
    ) -> Result<Done, Failure> {
        let begun = Instant::now();
        let mut session = Session {
            loaded: self.loaded,
            entry: task.entry,
            targets: &task.targets,
            all: self.objectives,
            further: self.further,
            unit: &unit_name(&self.args.source.file),
            counting,
            ledger,
            replay_folder: self.args.output.join("unconfirmed"),
            progress: &lines.start(self.name(task.entry)),
            effort: match self.args.minimise {
                MinimiseArg::Exact => Effort::Exact,
                MinimiseArg::Greedy => Effort::Greedy,
                MinimiseArg::None => Effort::None,
            },
            workers,
            accepted: &self.accepted,
            recorded: Recorded::default(),
        };
        let budget = Budget::start(
            Some(Duration::from_secs_f64(self.args.limits.time.clamp(0.0, 1e9))),
            self.cancel.clone(),
        );
        let settled = session.run(&exploration(self.args), &budget)?;
        Ok(Done { settled, seconds: begun.elapsed().as_secs_f64() })
    }

    /// Writes the suite and the tables of what was done.
    fn write(
        &self,
        tasks: &[Task<'_>],
        done: Vec<(usize, Done)>,
        build: &Build,
    ) -> Result<(), Failure> {
        let mut summary = Summary { guesses: self.guesses.clone(), ..Summary::default() };
        let mut suite = suite::Collected::default();
        suite.add_kept(&self.args.output, self.loaded);
        let (mut faults, mut covering) = (String::new(), String::new());
        let (mut done, mut names) = (done, Vec::new());
        for (_, done) in &mut done {
            let tests = std::mem::take(&mut done.settled.tests);
            let (ended, of_function) = suite.add(&self.loaded.program, tests);
            faults += &ended;
            names.push(of_function);
        }
        for (at, (position, Done { settled, seconds })) in done.into_iter().enumerate() {
            let tests = names[at].len();
            // Of a whole program, tests, time and paths are those of all functions together.
            let attempts = confined::summaries(&settled.attempts);
            let mut whole = Some((tests, seconds, settled.exploration, attempts));
            let targets = tasks[position].targets.iter().zip(settled.rows).zip(settled.objectives);
            for ((target, criteria), objectives) in targets {
                let (tests, seconds, exploration, attempts) =
                    whole.take().unwrap_or((0, 0.0, None, Vec::new()));
                let name = self.name(target.objectives.function).to_owned();
                let named = objectives.into_iter().map(|objective| {
                    let own = objective.tests.iter().map(|test| (at, *test));
                    let tests = own.chain(objective.elsewhere);
                    let tests = tests.filter_map(|(of, test)| names[of].get(test).cloned());
                    ObjectiveSummary { tests: tests.collect(), ..objective.told }
                });
                let objectives: Vec<ObjectiveSummary> = named.collect();
                let (tests, shown) = match tasks[position].targets.len() {
                    1 => (tests, String::new()),
                    _ => told_by(&name, &objectives),
                };
                covering += &shown;
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
        let GenArgs { source, output, format, .. } = self.args;
        let mut files = suite.write(output, &source.file, self.loaded, build, format)?;
        let objectives = summary.to_json();
        let path = output.join(explain::FILE);
        owned::set_aside(&path)?;
        let sealed = owned::sealed(&path, &objectives);
        files.push((path, sealed));
        files.extend(self.args.json.iter().map(|path| (path.clone(), objectives.clone())));
        let written = output::files(&files);
        output::text(&(table::render(&summary) + "\n" + &covering + &faults))?;
        written
    }

    /// Each function for itself, or `main` for all of the program, its own objectives first.
    fn tasks(&self) -> Vec<Task<'a>> {
        let target = |(index, objectives): (usize, &'a FunctionObjectives)| Target {
            objectives,
            index,
            scope: self.scope(objectives.function),
        };
        let targets = self.objectives.iter().enumerate().map(target);
        let Some(entry) = self.loaded.entry else {
            let task =
                |one: Target<'a>| Task { entry: one.objectives.function, targets: vec![one] };
            return targets.map(task).collect();
        };
        let mut targets: Vec<_> = targets.collect();
        let main = self.loaded.program.function_named("main");
        targets.sort_by_key(|target| Some(target.objectives.function) != main);
        vec![Task { entry, targets }]
    }

    fn scope(&self, func: FuncId) -> Scope {
        let flags: Vec<&str> = self.loaded.flags.for_parsing().collect();
        let settings = format!("{:?} {}", self.args.criteria.semantics, flags.join(" "));
        let code = lydian_objective::code_fingerprint(
            &self.loaded.program,
            &self.loaded.map,
            func,
            &settings,
        );
        Scope { code, configuration: self.configuration.clone() }
    }

    /// What the user stated that no input meets, with its place.
    fn show_unmet(&self, name: &str, unmet: &Unmet) -> Diagnostic {
        let way = match unmet {
            Unmet::Preconditions { .. } => {
                vec![Within::Value("function"), Within::Value(name), Within::Value("preconditions")]
            }
            Unmet::Invariant { name, text } => {
                let stated = self.loaded.spec.settings.types.get(name);
                let at = stated.and_then(|of| of.invariants.iter().position(|one| one == text));
                let way = [Within::Value("types"), Within::Value(name), Within::Value(INVARIANT)];
                [&way[..], &[Within::Element(at.unwrap_or(0))]].concat()
            }
        };
        let wrong = self.loaded.config.wrong(&way, format!("{name}: {unmet}"));
        wrong.note("nothing can be said of inputs that there are none of")
    }

    /// Shows what was wrong with the inputs, and what went wrong inside Lydian; the exit code that
    /// follows.
    fn report(&self, name: &str, settled: &Settled) -> ExitCode {
        let mut code = ExitCode::Done;
        if let Some(error) = &settled.refused {
            let wrong = self.loaded.config.wrong(&way_to(error), error.to_string());
            render::diagnostics(&[Diagnostic { code: "inputs", ..wrong }.note(
                "nothing was explored for it; `lydian init` shows what its inputs are taken to be",
            )]);
            code = ExitCode::Usage;
        }
        confined::warn(self.loaded.caller(name), &settled.attempts);
        for unmet in &settled.unmet {
            render::diagnostics(&[self.show_unmet(name, unmet)]);
            code = ExitCode::Usage;
        }
        if settled.contradictions.is_empty() {
            return code;
        }
        let shown: Vec<Diagnostic> = settled
            .contradictions
            .iter()
            .map(|text| {
                Diagnostic::error("contradiction", format!("internal error in `{name}`: {text}"))
                    .note("the objective is not counted; please report this with the kept test")
            })
            .collect();
        render::diagnostics(&shown);
        ExitCode::Internal
    }
}

/// How many tests of a program cover something of one of its functions, and a line that says which.
fn told_by(function: &str, objectives: &[ObjectiveSummary]) -> (usize, String) {
    const SHOWN: usize = 6;
    let tests: IndexSet<&String> =
        objectives.iter().flat_map(|objective| &objective.tests).collect();
    let names: Vec<&str> = tests.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = match tests.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = match names.is_empty() {
        true => String::new(),
        false => format!("{function}: covered by {}{more}\n", names.join(", ")),
    };
    (tests.len(), line)
}

/// The way in the settings to what does not fit the inputs of a function.
fn way_to(error: &ExploreError) -> Vec<Within<'_>> {
    match error {
        ExploreError::Inputs(PlanError::Setting { function, place, .. }) => {
            let way = [Within::Value("function"), Within::Value(function)];
            [&way[..], &[Within::Value("places"), Within::Key(place)]].concat()
        }
        _ => Vec::new(),
    }
}

/// The translation unit as the ledger names it.
fn unit_name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn exploration(args: &GenArgs) -> Config {
    let limits = &args.limits;
    Config {
        mode: match args.mode {
            ModeArg::Tight => Mode::Tight,
            ModeArg::Direct => Mode::Direct,
            ModeArg::Plain => Mode::Plain,
        },
        label_deletion: match args.label_deletion {
            DeletionArg::Off => LabelDeletion::Off,
            DeletionArg::Solved => LabelDeletion::Solved,
            DeletionArg::Run => LabelDeletion::Run,
            DeletionArg::Kept => LabelDeletion::Kept,
        },
        search: match args.search {
            SearchArg::Mixed => Search::Mixed,
            SearchArg::Md2u => Search::Md2u,
            SearchArg::Dfs => Search::DepthFirst,
            SearchArg::Bfs => Search::BreadthFirst,
            SearchArg::RandomState => Search::RandomState,
            SearchArg::RandomPath => Search::RandomPath,
            SearchArg::Sdgs => Search::Sdgs,
            SearchArg::Cpgs => Search::Cpgs,
        },
        seed: args.seed,
        limits: Limits {
            time: None,
            query_time: Some(Duration::from_millis(limits.solver_time)),
            states: Some(limits.max_states),
            memory: Some(limits.memory()),
            paths: Some(limits.max_paths),
            loop_bound: Some(limits.loop_bound),
            recursion: limits.recursion,
            ..Limits::default()
        },
        unreached: match args.criteria.semantics {
            SemanticsArg::ThreeValued => Unreached::Evaluated,
            SemanticsArg::ShortCircuit => Unreached::Unknown,
        },
        look_ahead: !args.no_look_ahead && args.explore == ExploreArg::Needed,
        // What is merged is no path of its own, and has no test if no label asks for one.
        merge: !args.no_merge && args.mode != ModeArg::Plain,
        unite_after: Config::default().unite_after.filter(|_| !args.no_unite),
        every_path: args.mode == ModeArg::Plain,
        nice_values: true,
        stop_when_covered: args.explore == ExploreArg::Needed,
        ..Config::default()
    }
}
