//! One command of a build: its files are compiled, or a program is linked.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_base::{Diagnostic, Severity};
use lydian_frontend::lower::{LoweringOptions, ValueDecisions};
use lydian_native::cc::{Action, CommandLine, Input, InputKind, Runtime, Store, Stores, UnitState};
use lydian_objective::{Criterion, HtolFile};

use super::absolute;
use super::compiler::{Compiler, CompilerName, code};
use super::mutants::MutantRequest;
use super::unit::{Hyperlabels, Instrumentation, Job};
use crate::error::Error;
use crate::events::{Event, Observer, tell};
use crate::objectives::Semantics;

/// A command of a build, to be executed with measurement built in.
#[derive(Clone, Debug, Default)]
pub struct WrapperRequest {
    /// The compiler's name, which may be left out, and its words.
    pub words: Vec<OsString>,
    /// The criteria, in the order in which reports have them.
    pub criteria: Vec<Criterion>,
    /// Files of hyperlabels and paths.
    pub htol: Vec<PathBuf>,
    /// The semantics of conditions that were not evaluated.
    pub semantics: Semantics,
    /// The values that count as decisions, too.
    pub value_decisions: ValueDecisions,
    /// The compiler where the words name none.
    pub compiler: Option<String>,
    /// The store; none for the one that is found from the present folder.
    pub store: Option<PathBuf>,
    /// Whether every record is made where and when it happens.
    pub exact: bool,
    /// The kind of execution counters, if executions are counted.
    pub counts: Option<Counters>,
    /// The mutants to build in, instead of measurement.
    pub mutants: Option<MutantRequest>,
    /// Whether the command is carried out without measurement.
    pub off: bool,
}

/// The kinds of execution counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// As other records are.
    Plain,
    /// So that no count is lost among threads.
    Atomic,
}

/// The outcome of a command.
#[derive(Debug)]
pub enum WrapperOutcome {
    /// It was executed, with this exit code.
    Ended(u8),
    /// It must be executed unchanged.
    Plain {
        /// The command to run instead.
        command: Box<Command>,
        /// The compiler, which a launcher may start.
        compiler: PathBuf,
    },
}

/// Compiles and links as a command says, with measurement built in. The observer gets diagnostics about
/// omissions and about messages of the linker. The compiler's messages go to the output of this
/// process.
///
/// # Errors
/// A compiler that cannot be started.
pub fn compile(request: &WrapperRequest, observer: &dyn Observer) -> Result<WrapperOutcome, Error> {
    let words: Option<Vec<String>> =
        request.words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    // Words that are not Unicode are not parsed.
    let Some(words) = words else {
        let program = request.compiler.clone().unwrap_or_else(|| "cc".to_owned());
        return Ok(plain(&CompilerName::alone(&program), &request.words));
    };
    let (program, words) = Compiler::of(request.compiler.as_deref(), &words);
    let directory = std::env::current_dir();
    let (Ok(directory), Ok(line)) = (directory, CommandLine::parse(words)) else {
        return Ok(plain(&program, words));
    };
    if line.action == Action::Other || is_probe(&line, &directory) {
        return Ok(plain(&program, words));
    }
    let store = match &request.store {
        Some(path) => Store::at(absolute(&directory, path)),
        None => Store::locate(&directory),
    };
    if request.off {
        forget_plain(&store, &line, &directory);
        return Ok(plain(&program, words));
    }
    let compiler = Compiler::at(program);
    let (criteria, htol) = written(request, &directory, &store, observer);
    let sanitizes_threads = words.iter().any(|word| {
        word.strip_prefix("-fsanitize=").is_some_and(|list| list.split(',').any(|s| s == "thread"))
    });
    let stores = match (sanitizes_threads, request.exact) {
        (true, _) => Stores::Atomic,
        (false, true) => Stores::Exact,
        (false, false) if compiler.is_gcc => Stores::Plain,
        (false, false) => Stores::InPlace,
    };
    let value_decisions = request.value_decisions;
    let job = Job {
        compiler: &compiler,
        line: &line,
        store: &store,
        directory: &directory,
        criteria: &criteria,
        // A read that the program itself would not make may race with a write.
        short_circuit: request.semantics == Semantics::ShortCircuit || sanitizes_threads,
        lowering: LoweringOptions { value_decisions, outlines: false },
        stores,
        counts: request.counts.map(|how| match how {
            Counters::Plain => stores,
            Counters::Atomic => Stores::Atomic,
        }),
        htol: &htol,
        mutants: request.mutants.as_ref(),
        observer,
    };
    if line.wants_lto() && store.first_time("lto") {
        job.warn("link-time optimisation is left out: it would merge counters".to_owned());
    }
    let code = match line.action {
        Action::Object => objects(&job)?,
        Action::Link | Action::Other => link(&job)?,
    };
    Ok(WrapperOutcome::Ended(code))
}

/// The command as it is.
fn plain(compiler: &CompilerName, words: &[impl AsRef<OsStr>]) -> WrapperOutcome {
    WrapperOutcome::Plain {
        command: Box::new(compiler.command(words)),
        compiler: compiler.program.clone(),
    }
}

/// Removes the records of files that the user wants compiled without measurement.
fn forget_plain(store: &Store, line: &CommandLine, directory: &Path) {
    for input in line.inputs() {
        let object = match line.action {
            Action::Object => absolute(directory, line.object_of(input)),
            Action::Link | Action::Other => named_object(line, directory, input),
        };
        store.forget_plain(&object);
    }
}

/// The criteria, and the files of hyperlabels. An unreadable file is a warning, and a note of the
/// units: the build continues.
fn written(
    request: &WrapperRequest,
    directory: &Path,
    store: &Store,
    observer: &dyn Observer,
) -> (Vec<Criterion>, Vec<Hyperlabels>) {
    let mut criteria = request.criteria.clone();
    if !request.htol.is_empty() && !criteria.iter().any(|criterion| criterion.is_written()) {
        criteria.push(Criterion::Htol);
    }
    let read = |given: &PathBuf| {
        // Builds change directories: a path that does not exist here is relative to the store.
        let here = absolute(directory, given);
        let root = store.path().parent().map(|root| absolute(root, given));
        let found = root.filter(|path| !here.exists() && path.exists()).unwrap_or(here);
        let path = given.display().to_string();
        let file = match std::fs::read_to_string(&found) {
            Ok(text) => HtolFile::read(path.clone(), text),
            Err(error) => Err(Diagnostic::error("htol", format!("{path} cannot be read: {error}"))),
        };
        if let Err(wrong) = &file {
            let warning = Diagnostic { severity: Severity::Warning, ..wrong.clone() };
            tell(observer, &[warning]);
        }
        Hyperlabels { path, file }
    };
    let htol = request.htol.iter().map(read).collect();
    (criteria, htol)
}

/// Whether the command is a probe of the compiler's features, as configuration scripts make them:
/// measurement would only slow it down.
fn is_probe(line: &CommandLine, directory: &Path) -> bool {
    const PLACES: [&str; 6] = [
        "CMakeFiles/CMakeTmp",
        "CMakeFiles/CMakeScratch",
        "CMakeFiles/ShowIncludes",
        "CompilerIdC",
        "TryCompile-",
        "meson-private",
    ];
    let is_probed = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = absolute(directory, path).to_string_lossy().into_owned();
        name.starts_with("conftest") || PLACES.iter().any(|place| whole.contains(place))
    };
    let mut paths = line.inputs().map(|input| Path::new(input.path.as_str()));
    paths.any(is_probed) || line.output().is_some_and(|output| is_probed(Path::new(output)))
}

/// `-c`: one object for each input.
fn objects(job: &Job<'_>) -> Result<u8, Error> {
    let mut worst = 0;
    for input in job.line.inputs() {
        let object = job.line.object_of(input);
        if job.line.saves_temporaries() && input.kind != InputKind::Other {
            // The requested files are those of the plain command. Its messages come from the runs
            // below, which also make the object anew.
            drop(job.compiler.output(&job.line.plain_of(input))?);
        }
        let reason = match input.kind {
            InputKind::Other => None,
            _ => match instrumented(job, input, &object)? {
                None => continue,
                reason => reason,
            },
        };
        let status = job.compiler.run(&job.line.plain_of(input))?;
        match (status.success(), reason) {
            (true, Some(reason)) => left_plain(job, input, &object, reason),
            (true, None) => {}
            (false, _) => worst = worst.max(code(status)),
        }
    }
    Ok(worst)
}

/// Instruments a file. Returns the reason if it could not be instrumented.
fn instrumented(job: &Job<'_>, input: &Input, object: &Path) -> Result<Option<String>, Error> {
    if let Some(mutants) = job.mutants {
        return match job.passes_checks(input)? {
            true => job.mutate(mutants, input, object, object),
            false => Ok(Some("the compiler finds errors in it".to_owned())),
        };
    }
    let (passes, compiled) = std::thread::scope(|scope| {
        let checks = scope.spawn(|| job.passes_checks(input));
        let compiled = job.instrument(input, object);
        (checks.join().unwrap_or(Ok(true)), compiled)
    });
    if !passes? {
        return Ok(Some("the compiler finds errors in it".to_owned()));
    }
    let id = match compiled? {
        Instrumentation::Instrumented(id) => id,
        Instrumentation::Not(reason) => return Ok(Some(reason)),
    };
    let (source, object) = (absolute(job.directory, &input.path), absolute(job.directory, object));
    match job.store.record(&object, &source, UnitState::Instrumented(id)) {
        Ok(()) => Ok(None),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// Reports and records a file that was compiled as it is.
fn left_plain(job: &Job<'_>, input: &Input, object: &Path, reason: String) {
    let lacks = if job.mutants.is_some() { "without mutants" } else { "not measured" };
    job.warn(format!("{} is compiled as it is, and {lacks}: {reason}", input.path));
    let (source, object) = (absolute(job.directory, &input.path), absolute(job.directory, object));
    // If the store cannot be written, the warning must suffice.
    drop(job.store.record(&object, &source, UnitState::Plain(reason)));
}

/// Sources and objects to a program or library.
fn link(job: &Job<'_>) -> Result<u8, Error> {
    let place = match job.store.temporary() {
        Ok(place) => place,
        Err(error) => {
            job.warn(format!("nothing is measured: {error}"));
            return plainly(job);
        }
    };
    let mut compiled: Vec<(Input, PathBuf)> = Vec::new();
    let mut plain = Vec::new();
    for (number, input) in job.line.inputs().enumerate() {
        if input.kind == InputKind::Other {
            continue;
        }
        let object = place.path().join(format!("{number}.o"));
        let named = named_object(job.line, job.directory, input);
        let reason = match job.line.writes_dependencies() {
            true => Some("its dependencies are written by a command that links".to_owned()),
            false => linked_object(job, input, &object, &named)?,
        };
        match reason {
            None => compiled.push((input.clone(), object)),
            Some(reason) => plain.push((input, named, reason)),
        }
    }
    let is_partial = job.line.has("-r") || job.line.has("-Wl,-r") || job.line.has("--relocatable");
    let is_measured = !is_partial && job.mutants.is_none();
    let objects = if is_measured { runtime(job) } else { None };
    let ends = objects.as_ref().map(|found| (found.first.as_path(), found.last.as_path()));
    let words = job.line.for_linking(&compiled, ends);
    let output = job.compiler.output(&words)?;
    let mut status = output.status;
    if status.success() || ends.is_none() {
        job.observer.notice(Event::CompilerOutput(&output));
    } else {
        // Links without the run-time, which may be what does not fit.
        status = job.compiler.run(&job.line.for_linking(&compiled, None))?;
        if status.success() {
            let name = job.line.linked().display().to_string();
            job.warn(format!("{name} is not measured: it does not link with Lydian's run-time"));
        }
    }
    if !status.success() {
        return Ok(code(status));
    }
    for (input, named, reason) in plain {
        left_plain(job, input, &named, reason);
    }
    if job.mutants.is_some() {
        return Ok(0);
    }
    if let Err(error) = job.store.record_image(&absolute(job.directory, job.line.linked())) {
        job.warn(error.to_string());
    }
    Ok(0)
}

/// The name under which the store knows the object of a source that is linked at once.
fn named_object(line: &CommandLine, directory: &Path, input: &Input) -> PathBuf {
    let linked = absolute(directory, line.linked());
    let name = format!("{}({})", linked.display(), input.path);
    name.into()
}

/// Compiles a source that is linked at once. Returns the reason if it could not be instrumented.
fn linked_object(
    job: &Job<'_>,
    input: &Input,
    object: &Path,
    named: &Path,
) -> Result<Option<String>, Error> {
    if !job.passes_checks(input)? {
        return Ok(Some("the compiler finds errors in it".to_owned()));
    }
    if let Some(mutants) = job.mutants {
        return job.mutate(mutants, input, object, named);
    }
    let id = match job.instrument(input, object)? {
        Instrumentation::Instrumented(id) => id,
        Instrumentation::Not(reason) => return Ok(Some(reason)),
    };
    let source = absolute(job.directory, &input.path);
    match job.store.record(named, &source, UnitState::Instrumented(id)) {
        Ok(()) => Ok(None),
        Err(error) => Ok(Some(error.to_string())),
    }
}

fn runtime(job: &Job<'_>) -> Option<lydian_native::cc::LinkObjects> {
    let target = job.line.for_target();
    let shared = ["-shared", "-Wl,-shared", "--shared", "-dynamiclib", "-Wl,-Bshareable"];
    let runtime = Runtime {
        compiler: &job.compiler.program,
        target: &target,
        shared: shared.iter().any(|word| job.line.has(word)),
    };
    match runtime.objects(job.store) {
        Ok(objects) => Some(objects),
        Err(error) => {
            job.warn(format!("{} is not measured: {error}", job.line.linked().display()));
            None
        }
    }
}

/// The command as it is.
fn plainly(job: &Job<'_>) -> Result<u8, Error> {
    Ok(code(job.compiler.run(&job.line.plain())?))
}
