//! From the text of a program to the result of exploring one of its functions.

pub(crate) mod lazy;
pub(crate) mod measure;

use lydian_base::{Budget, CancelToken, SourceMap};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_inputs::{InputSpec, Settings, prepare};
use lydian_ir::Program;
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_smt::{BitBlastSolver, ChainConfig, SatBackend, Solver, standard_chain};
use lydian_symex::{Config, Event, FoundTest, Mode, Summary, Task};

/// The result of an exploration.
pub(crate) struct Explored {
    pub(crate) program: Program,
    pub(crate) objectives: Vec<FunctionObjectives>,
    pub(crate) tests: Vec<FoundTest>,
    pub(crate) summary: Summary,
}

impl Explored {
    /// The names of a criterion's objectives with covered labels.
    pub(crate) fn covered(&self, criterion: Criterion) -> Vec<String> {
        let mut names = Vec::new();
        for function in &self.objectives {
            for entry in function.criteria.get(&criterion).into_iter().flatten() {
                let covered = self.summary.covered.iter();
                let mut covered = covered.filter(|label| label.func == function.function);
                if covered.any(|label| label.label == entry.label) {
                    names.push(entry.name.clone());
                }
            }
        }
        names
    }
}

/// Reads a program, annotates all its defined functions, and explores one.
pub(crate) fn explore_text(
    text: &str,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
) -> Explored {
    let program = lydian_ir::text::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let map = SourceMap::from_preprocessed(" ".repeat(4096), "test.c");
    explore_program(program, &map, function, criteria, config, Settings::default())
}

/// Loads a C file of the repository, annotates all its functions, and explores one.
pub(crate) fn explore_file(
    path: &str,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
) -> Explored {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let path = std::path::Path::new(root).join(path);
    // The solver of the command line, since the number of paths depends on the answers that need no
    // solving.
    let mut solver = standard_chain(&ChainConfig::default());
    load(&mut *solver, path, function, criteria, config, Settings::default())
}

/// Loads C text, annotates all its functions, and explores one.
pub(crate) fn explore_c(
    text: &str,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
) -> Explored {
    explore_c_with(text, function, criteria, config, Settings::default())
}

/// Settings for inputs that are guessed from signatures and uses, and kept within limits.
pub(crate) fn guessed() -> Settings {
    Settings { lazy_inputs: false, ..Settings::default() }
}

/// As [`explore_c`], with settings for the inputs.
pub(crate) fn explore_c_with(
    text: &str,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
    settings: Settings,
) -> Explored {
    let dir = tempfile::tempdir().expect("a directory for the source");
    let path = dir.path().join("test.c");
    std::fs::write(&path, text).expect("the source can be written");
    let mut solver = BitBlastSolver::new(SatBackend::default());
    load(&mut solver, path, function, criteria, config, settings)
}

/// The program of C text.
pub(crate) fn program_of(text: &str) -> Program {
    let dir = tempfile::tempdir().expect("a directory for the source");
    let path = dir.path().join("test.c");
    std::fs::write(&path, text).expect("the source can be written");
    let request = LoadRequest::new(ParseRequest::new(path, CompileFlags::default()));
    lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}")).program
}

fn load(
    solver: &mut dyn Solver,
    path: std::path::PathBuf,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
    settings: Settings,
) -> Explored {
    let request = LoadRequest::new(ParseRequest::new(path, CompileFlags::default()));
    let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
    let missing = unit.diagnostics.iter().filter(|found| found.code != "inline-assembly");
    let missing: Vec<_> = missing.map(|found| &found.message).collect();
    assert!(missing.is_empty(), "{missing:?}");
    explore_with(solver, unit.program, &unit.source, function, criteria, config, settings)
}

/// Annotates all defined functions of a program and explores one.
pub(crate) fn explore_program(
    program: Program,
    map: &SourceMap,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
    settings: Settings,
) -> Explored {
    let mut solver = BitBlastSolver::new(SatBackend::default());
    explore_with(&mut solver, program, map, function, criteria, config, settings)
}

/// As [`explore_program`], with a given solver.
pub(crate) fn explore_with(
    solver: &mut dyn Solver,
    mut program: Program,
    map: &SourceMap,
    function: &str,
    criteria: &[Criterion],
    config: &Config,
    settings: Settings,
) -> Explored {
    prepare(&mut program);
    let request = Request::new(criteria.to_vec());
    let objectives: Vec<_> = program
        .defined()
        .map(|(id, _)| annotate(&program, map, id, &request).expect("it has a body").objectives)
        .collect();
    let spec = InputSpec::new(&program, settings);
    let func = program.function_named(function).expect("the function exists");
    let budget = Budget::start(config.limits.time, CancelToken::new());
    let mut tests = Vec::new();
    let mut sink = |event: Event| {
        if let Event::Test(test) = event {
            tests.push(*test);
        }
    };
    let task = Task {
        program: &program,
        func,
        spec: &spec,
        objectives: &objectives,
        known: &[],
        config,
        budget: &budget,
    };
    let summary = task.run(solver, &mut sink).expect("the function can be explored");
    Explored { program, objectives, tests, summary }
}

/// A configuration for all paths, without labels.
pub(crate) fn plain() -> Config {
    Config { mode: Mode::Plain, every_path: true, merge: false, ..Config::default() }
}
