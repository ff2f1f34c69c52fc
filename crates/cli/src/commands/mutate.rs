//! `lydian mutate`: the mutants that tests kill.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use lydian::mutation::report::{difference, elements, json, page};
use lydian::mutation::results::{MutantResult, MutationResults, Outcome, Score};
use lydian::mutation::{
    KillerRequest, Killers, Mutant, MutationTask, MutationTests, Operator, ProductProver,
    TimeLimits, patterns,
};
use lydian::{Configuration, Project, ProjectRequest, Store, files};
use lydian_report::filters::paths;

use super::report::{changed, folder};
use crate::args::MutateArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::requests::time_limit;
use crate::{interrupt, output};

/// The file with results of earlier runs, in the store.
const KEPT: &str = "mutation-results.json";

pub(crate) fn run(args: &MutateArgs) -> Result<ExitCode, Failure> {
    let root = folder("mutate", None)?;
    let missing = args.files.iter().find(|file| !file.is_file());
    if let Some(file) = missing {
        return Err(Failure::source("mutate", format!("there is no file {}", file.display())));
    }
    let changes = args.since.as_deref().map(|revision| changed::since(&root, revision));
    let changes = changes.transpose()?;
    let nearest = args.files.first().map_or_else(|| root.join("lydian"), |file| whole(file));
    let configuration = Configuration::read(None, &nearest)?;
    let task = task(args, &root, &configuration)?;
    let cancel = interrupt::install()?;
    let changed = changes.as_ref().map(|changes| {
        let files = changes.files();
        let whole = files.filter_map(|(path, lines)| Some((path.canonicalize().ok()?, lines)));
        whole.collect::<Vec<_>>()
    });
    let keeps = |mutant: &Mutant| {
        let own = Path::new(&mutant.file);
        changed.as_ref().is_none_or(|all| {
            let mut of_file = all.iter().filter(|(path, _)| path == own);
            of_file.any(|(_, lines)| lines.meets(mutant.start.line, mutant.end.line))
        })
    };
    let time = Duration::from_secs_f64(args.proof_time);
    let prover = ProductProver { time, suite: args.tests.as_ref().map(|_| args.flags.clone()) };
    let observer = Terminal::new();
    let generation = generation(args, &task)?;
    if args.fresh {
        forget(&store(args, &root).join(KEPT))?;
    }
    let mut results = task.run(&keeps, &prover, &cancel, &observer)?;
    let killers = generation.as_ref().map(|request| {
        let project = project(args, &task, configuration, &observer)?;
        Ok::<_, Failure>(request.run(&project, &mut results, &cancel, &observer)?)
    });
    let shown = Shown { root: &root };
    shown.write(args, &results)?;
    output::text(&shown.text(&results, args.show))?;
    // An error there leaves the results as they are.
    let killers = killers.transpose()?;
    if let (Some(killers), Some(request)) = (&killers, &generation) {
        output::text(&generated(killers, &request.folder, &results))?;
    }
    let score = results.score();
    if cancel.is_cancelled() {
        return Ok(ExitCode::Interrupted);
    }
    if killers.is_some_and(|killers| killers.contradictory) {
        return Ok(ExitCode::Internal);
    }
    if score.mutants == 0 && changes.is_some() {
        output::text("No mutant is on a changed line.\n")?;
    }
    let is_below = args.fail_under.zip(score.percent()).is_some_and(|(least, own)| own < least);
    Ok(if is_below { ExitCode::Below } else { ExitCode::Done })
}

/// The request for tests that kill survivors. One that cannot be met is refused.
fn generation(args: &MutateArgs, task: &MutationTask) -> Result<Option<KillerRequest>, Failure> {
    let Some(folder) = &args.generate else { return Ok(None) };
    if args.files.len() != 1 {
        return Err(Failure::usage("mutate", "--generate makes tests for one file at a time"));
    }
    if args.tests.as_ref() == Some(folder) {
        let what = "--generate makes a suite of its own, and would overwrite that of --tests";
        return Err(Failure::usage("mutate", what).note(
            "name another folder, or use `lydian gen --criteria sm`, which extends a suite",
        ));
    }
    let request = KillerRequest {
        folder: folder.to_owned(),
        time: time_limit(args.time),
        operators: task.operators.clone(),
        jobs: args.jobs,
        of_suite: args.tests.is_some(),
    };
    request.check()?;
    Ok(Some(request))
}

/// The mutated file as a project, whose functions with mutants are tested.
fn project(
    args: &MutateArgs,
    task: &MutationTask,
    configuration: Configuration,
    observer: &Terminal,
) -> Result<Project, Failure> {
    let file = task.files[0].clone();
    let (functions, flags) = (args.functions.clone(), args.flags.clone());
    let request = ProjectRequest { functions, flags, configuration, ..ProjectRequest::new(file) };
    Ok(Project::load(&request, observer)?)
}

/// The tests that were made, and what is left.
fn generated(killers: &Killers, folder: &Path, results: &MutationResults) -> String {
    let killed = results.all().filter(|result| result.generated.is_some()).count();
    let alive = results.all().filter(|result| result.outcome.is_alive()).count();
    let (tests, folder) = (killers.tests.len(), folder.display());
    let mut text =
        format!("{tests} tests in {folder} kill {killed} of the {alive} mutants that are alive.\n");
    for test in &killers.tests {
        for line in &test.kept_for {
            let _ = writeln!(text, "  {}: {line}", test.name);
        }
    }
    for (reason, count) in &killers.unknown {
        let _ = writeln!(text, "{count} are left: {reason}");
    }
    text
}

/// The path of a file without links, as far as there is one.
fn whole(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

fn task(
    args: &MutateArgs,
    root: &Path,
    configuration: &Configuration,
) -> Result<MutationTask, Failure> {
    let files: Vec<PathBuf> = args.files.iter().map(|file| whole(file)).collect();
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (tests, jobs) = match &args.tests {
        Some(folder) => {
            let (folder, flags) = (folder.clone(), args.flags.clone());
            (MutationTests::Suite { folder, flags }, cores)
        }
        None => (commands(args, &files, root)?, NonZeroUsize::MIN),
    };
    let operators = match args.operators.is_empty() {
        true => Operator::ALL.to_vec(),
        false => args.operators.clone(),
    };
    let limits = TimeLimits { factor: args.time_factor, ..TimeLimits::default() };
    let functions = args.functions.clone();
    let patterns = patterns(configuration)?;
    let jobs = args.jobs.unwrap_or(jobs);
    let kept = store(args, root).join(KEPT);
    let all_tests = args.all_tests;
    Ok(MutationTask {
        files,
        tests,
        operators,
        patterns,
        functions,
        jobs,
        all_tests,
        limits,
        run_time: args.run_time.map(time_limit),
        kept: Some(kept),
        leaves_out_failing: false,
    })
}

/// Removes a file, if it is there.
fn forget(file: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let what = format!("cannot remove {}: {error}", file.display());
            Err(Failure::environment("mutate", what))
        }
        _ => Ok(()),
    }
}

/// The folder of what is kept between runs.
fn store(args: &MutateArgs, root: &Path) -> PathBuf {
    match &args.dir {
        Some(folder) => root.join(folder),
        None => Store::locate(root).path().to_owned(),
    }
}

/// The tests of a project, with this program as its compiler.
fn commands(args: &MutateArgs, files: &[PathBuf], root: &Path) -> Result<MutationTests, Failure> {
    let store = store(args, root);
    let own = std::env::current_exe().map_err(|error| {
        Failure::environment("mutate", format!("the path of this program is not known: {error}"))
    })?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let of_files = if names.is_empty() { String::new() } else { format!("={}", names.join(",")) };
    let compiler = format!("{} cc --mutants{of_files} --", own.display());
    let (build, tests) = (args.build.clone(), args.test.clone());
    Ok(MutationTests::Commands { build, tests, store, compiler })
}

/// The results as people read them.
struct Shown<'a> {
    root: &'a Path,
}

impl Shown<'_> {
    fn path(&self, file: &str) -> String {
        paths::shown(Path::new(file), self.root)
    }

    fn diff(&self, mutant: &Mutant) -> String {
        let own = Mutant { file: self.path(&mutant.file), ..mutant.clone() };
        difference::unified(&own, &read(&mutant.file))
    }

    fn write(&self, args: &MutateArgs, results: &MutationResults) -> Result<(), Failure> {
        let (shown, diff) = (|file: &str| self.path(file), |mutant: &Mutant| self.diff(mutant));
        if let Some(path) = &args.json {
            files::file(path, &json::render(results, &diff))?;
        }
        if let Some(path) = &args.elements {
            files::file(path, &elements::render(results, &read, &shown))?;
        }
        if let Some(path) = &args.html {
            files::file(path, &page::render(results, &read, &shown, &diff))?;
        }
        Ok(())
    }

    /// Tables, survivors and figures.
    fn text(&self, results: &MutationResults, most: usize) -> String {
        let mut text = String::new();
        let all = results.all_tests;
        let tables = [
            table(("file", all), results.scores_by(|mutant| self.path(&mutant.file))),
            table(("function", all), results.scores_by(|mutant| mutant.function.clone())),
            table(("operator", all), results.scores_by(|mutant| mutant.operator.name().to_owned())),
        ];
        tables.iter().for_each(|table| _ = writeln!(text, "{table}\n"));
        text.push_str(&self.survivors(results, most));
        let score = results.score();
        let seconds = results.micros as f64 / 1e6;
        let percent = score.percent().map_or_else(|| "no".to_owned(), |it| format!("{it:.1} %"));
        let _ = writeln!(
            text,
            "{} of {} mutants are killed ({percent}); {} are equivalent and do not count. \
             {} runs in {seconds:.1} s{}.",
            score.detected(),
            score.counted(),
            score.equivalent,
            results.runs,
            match results.taken_over {
                0 => String::new(),
                count => format!(", and {count} results of earlier runs"),
            },
        );
        let left = results.all().filter(|result| result.outcome == Outcome::Pending).count();
        if left > 0 {
            let _ = writeln!(
                text,
                "{left} mutants were not run, as the time was over: the same command goes on with them."
            );
        }
        let killed = results.all().filter(|result| !result.killed_by.is_empty());
        let killed: Vec<&MutantResult> = killed.collect();
        let subsumed = killed.iter().filter(|result| result.subsumed).count();
        if subsumed > 0 {
            let needed = killed.len() - subsumed;
            let _ = writeln!(
                text,
                "{subsumed} of the killed mutants are subsumed: tests that kill the other {needed} kill \
                 all of them."
            );
        }
        text
    }

    fn survivors(&self, results: &MutationResults, most: usize) -> String {
        let mut text = String::new();
        let mut alive: Vec<&MutantResult> =
            results.all().filter(|result| result.outcome.is_alive()).collect();
        // Those that tests infect come first: there an assertion is missing.
        alive.sort_by_key(|result| rank(&result.outcome));
        for result in alive.iter().take(most) {
            let _ = writeln!(text, "{}:", result.outcome.name());
            text.push_str(&self.diff(&result.mutant));
            text.push('\n');
        }
        if alive.len() > most {
            let more = alive.len() - most;
            let _ = writeln!(text, "and {more} more that no test kills (--show, --json, --html)\n");
        }
        text
    }
}

const fn rank(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Survived => 0,
        Outcome::NotInfected => 1,
        _ => 2,
    }
}

fn read(file: &str) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The scores as a table; with the subsumed mutants where all tests ran.
fn table(
    (of, all_tests): (&str, bool),
    scores: impl IntoIterator<Item = (String, Score)>,
) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    let subsumed = all_tests.then_some("subsumed");
    table.set_header([of].into_iter().chain(Score::HEADS).chain(subsumed).chain(["score"]));
    for (name, score) in scores {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let mut row = vec![Cell::new(name)];
        let subsumed = all_tests.then_some(score.subsumed);
        let counts = score.counts().into_iter().chain(subsumed);
        row.extend(counts.map(|count| right(count.to_string())));
        let percent = score.percent().map_or_else(|| "-".to_owned(), |it| format!("{it:.1}%"));
        row.push(right(percent));
        table.add_row(row);
    }
    table
}
