//! `lydian init`: a commented file of settings with what exploring the functions tells of their inputs, or
//! with what is guessed where inputs are planned.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lydian_base::{Budget, CancelToken};
use lydian_inputs::write_learned::{Explored, write_learned};
use lydian_inputs::write_toml::write_toml;
use lydian_ir::FuncId;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Limits, Mode, Task};

use crate::args::InitArgs;
use crate::exit::{ExitCode, Failure};
use crate::load::Loaded;
use crate::{config, interrupt, load, output};

/// All functions together may take so many times as long as one.
const FUNCTIONS: f64 = 60.0;
/// A loop of the program is gone round so often.
const TURNS: u32 = 4;

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let beside = || args.source.file.with_file_name(config::FILE);
    let file: PathBuf = args.output.clone().unwrap_or_else(beside);
    if file.exists() && !args.force {
        let message = format!("{} is there already", file.display());
        return Err(Failure::usage("configuration", message)
            .note("give another name with `-o`, or `--force` to write over it"));
    }
    if !(args.time.is_finite() && args.time >= 0.0) {
        return Err(Failure::usage("arguments", "--time takes a number of seconds"));
    }
    // What is written does not depend on settings that are there already.
    let loaded = load::load(&args.source, config::Config::default())?;
    let text = match args.planned {
        true => write_toml(&loaded.program, &loaded.functions),
        false => write_learned(&loaded.program, &explore_all(&loaded, args)?),
    };
    output::file(&file, &text)?;
    output::text(&format!("wrote {}\n", file.display()))?;
    Ok(ExitCode::Done)
}

/// What is learned of each function, in their order.
fn explore_all(loaded: &Loaded, args: &InitArgs) -> Result<Vec<(FuncId, Explored)>, Failure> {
    load::require_x86_64(loaded)?;
    let cancel = interrupt::install()?;
    let end = Instant::now() + Duration::from_secs_f64(args.time * FUNCTIONS);
    let explore = |function: &FuncId| {
        let left = end.saturating_duration_since(Instant::now());
        let time = left.min(Duration::from_secs_f64(args.time));
        let explored = match time.is_zero() {
            true => Explored::default(),
            false => explore(loaded, *function, time, &cancel),
        };
        (*function, explored)
    };
    Ok(loaded.functions.iter().map(explore).collect())
}

/// What is learned of a function in some time.
fn explore(loaded: &Loaded, func: FuncId, time: Duration, cancel: &CancelToken) -> Explored {
    let limits = Limits { time: Some(time), loop_bound: Some(TURNS), ..Config::default().limits };
    let config = Config {
        mode: Mode::Plain,
        merge: false,
        crash_tests: false,
        stop_when_covered: false,
        learns: true,
        limits,
        ..Config::default()
    };
    let budget = Budget::start(Some(time), cancel.clone());
    let task = Task {
        program: &loaded.program,
        func,
        spec: &loaded.spec,
        objectives: &[],
        known: &[],
        config: &config,
        budget: &budget,
    };
    let mut solver = standard_chain(&ChainConfig::default());
    let Ok(summary) = task.run(&mut *solver, &mut |_| {}) else { return Explored::default() };
    let (paths, all) = (summary.path_count(), summary.complete);
    let some = if all { "all of them" } else { "and there are more" };
    let several = if paths == 1 { "" } else { "s" };
    Explored { how_far: format!("on {paths} path{several}, {some}"), learned: summary.learned }
}
