//! The ways into an exploration.

use std::time::Instant;

use lydian_base::Budget;
use lydian_ir::{FuncId, Program};
use lydian_objective::{FunctionObjectives, Harvest};
use lydian_smt::Solver;

use super::Config;
use super::explore::Engine;
use super::outcome::{Event, Summary};
use super::workers::Workers;
use crate::inputs::{InputSpec, PlanError};

/// Why an exploration cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// The function has no body, or one that is not supported.
    #[error("`{0}` has no body that can be explored")]
    NoBody(String),
    /// Its inputs cannot be planned.
    #[error(transparent)]
    Inputs(#[from] PlanError),
    /// There is no room for its globals and inputs.
    #[error("the globals and inputs have no room in memory")]
    NoRoom,
}

/// Explores a function.
///
/// Takes the program, the function, what its inputs are, the objectives of this function and of
/// others that it may call, how to explore, a solver that has not seen other pools, and the wall
/// clock with the user's wish to stop (the limit in `config.limits.time` is the caller's to put
/// into it). `sink` gets every test as soon as it is found.
///
/// # Errors
/// A function without a body, and inputs that do not fit the specification.
#[allow(clippy::too_many_arguments, reason = "everything that an exploration depends on")]
pub fn explore(
    program: &Program,
    func: FuncId,
    spec: &InputSpec,
    objectives: &[FunctionObjectives],
    config: &Config,
    solver: &mut dyn Solver,
    budget: &Budget,
    sink: &mut dyn FnMut(Event),
) -> Result<Summary, ExploreError> {
    explore_beyond(program, func, spec, objectives, &[], config, solver, budget, sink)
}

/// Explores a function as [`explore`] does. `known` is what tests that there are give, for each of
/// the objectives, or nothing: hyperlabels may be covered by them together with what is found.
///
/// # Errors
/// Those of [`explore`].
#[allow(clippy::too_many_arguments, reason = "everything that an exploration depends on")]
pub fn explore_beyond(
    program: &Program,
    func: FuncId,
    spec: &InputSpec,
    objectives: &[FunctionObjectives],
    known: &[Harvest],
    config: &Config,
    solver: &mut dyn Solver,
    budget: &Budget,
    sink: &mut dyn FnMut(Event),
) -> Result<Summary, ExploreError> {
    let subject = Subject { program, func, spec, aims: (objectives, known), config, budget };
    explore_subject(&subject, None, solver, sink)
}

/// Explores a function as [`explore_beyond`] does, with several workers where that takes long enough and
/// all of them can help ([`Workers`]).
///
/// # Errors
/// Those of [`explore`].
#[allow(clippy::too_many_arguments, reason = "everything that an exploration depends on")]
pub fn explore_together(
    program: &Program,
    func: FuncId,
    spec: &InputSpec,
    objectives: &[FunctionObjectives],
    known: &[Harvest],
    config: &Config,
    workers: &Workers<'_>,
    budget: &Budget,
    sink: &mut dyn FnMut(Event),
) -> Result<Summary, ExploreError> {
    let subject = Subject { program, func, spec, aims: (objectives, known), config, budget };
    explore_subject(&subject, Some(workers), &mut *workers.new_solver(), sink)
}

/// What is explored, and how.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) program: &'a Program,
    pub(super) func: FuncId,
    pub(super) spec: &'a InputSpec,
    /// The objectives, and what tests that there are give of them.
    pub(super) aims: (&'a [FunctionObjectives], &'a [Harvest]),
    pub(super) config: &'a Config,
    pub(super) budget: &'a Budget,
}

fn explore_subject(
    subject: &Subject<'_>,
    workers: Option<&Workers<'_>>,
    solver: &mut dyn Solver,
    sink: &mut dyn FnMut(Event),
) -> Result<Summary, ExploreError> {
    let begun = Instant::now();
    let (mut engine, first) = Engine::of(subject, solver, sink)?;
    if let Some(first) = first {
        engine.compaction.begin_with(&first);
        engine.push(first);
    }
    if let Some(workers) = workers {
        engine.run_with(workers, subject);
    }
    engine.run();
    engine.statistics.total_time = begun.elapsed();
    Ok(engine.into_summary())
}
