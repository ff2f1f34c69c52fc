//! Settings made of observations of explorations, or of guesses for planned inputs.

use std::time::{Duration, Instant};

use lydian_base::{Budget, CancelToken};
use lydian_inputs::settings_file::guessed::write_toml;
use lydian_inputs::settings_file::learned::{ExplorationFindings, write_learned};
use lydian_ir::FuncId;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Limits, Mode, Task};

use crate::error::Error;
use crate::project::Project;

/// The time of all functions together, in times of one.
const FUNCTIONS: f64 = 60.0;
/// The bound on turns of loops.
const TURNS: u32 = 4;

impl Project {
    /// A commented file of settings with the guesses about the inputs of its functions.
    pub fn planned_settings(&self) -> String {
        write_toml(&self.program, &self.functions)
    }

    /// A commented file of settings with observations from exploring each of its functions for some
    /// time.
    ///
    /// # Errors
    /// A program that is not for x86-64.
    pub fn learned_settings(&self, time: Duration, cancel: &CancelToken) -> Result<String, Error> {
        Ok(write_learned(&self.program, &explore_all(self, time, cancel)?))
    }
}

/// The observations about each function, in their order.
fn explore_all(
    project: &Project,
    time: Duration,
    cancel: &CancelToken,
) -> Result<Vec<(FuncId, ExplorationFindings)>, Error> {
    project.require_x86_64()?;
    let end = Instant::now() + time.mul_f64(FUNCTIONS);
    let explore = |function: &FuncId| {
        let left = end.saturating_duration_since(Instant::now());
        let time = left.min(time);
        let explored = match time.is_zero() {
            true => ExplorationFindings::default(),
            false => explore(project, *function, time, cancel),
        };
        (*function, explored)
    };
    Ok(project.functions.iter().map(explore).collect())
}

/// The observations about one function.
fn explore(
    project: &Project,
    func: FuncId,
    time: Duration,
    cancel: &CancelToken,
) -> ExplorationFindings {
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
        program: &project.program,
        func,
        spec: &project.spec,
        objectives: &[],
        known: &[],
        config: &config,
        budget: &budget,
    };
    let mut solver = standard_chain(&ChainConfig::default());
    let Ok(summary) = task.run(&mut *solver, &mut |_| {}) else {
        return ExplorationFindings::default();
    };
    let (paths, all) = (summary.path_count(), summary.complete);
    let some = if all { "all of them" } else { "and there are more" };
    let several = if paths == 1 { "" } else { "s" };
    ExplorationFindings {
        how_far: format!("on {paths} path{several}, {some}"),
        learned: summary.learned,
    }
}
