//! The ways into an exploration.

use std::time::Instant;

use lydian_base::Budget;
use lydian_ir::{FuncId, Program};
use lydian_objective::{FunctionObjectives, Harvest};
use lydian_smt::Solver;

use crate::config::Config;
use crate::exploration::explore::Engine;
use crate::exploration::outcome::{Event, Summary};
use crate::exploration::workers::Workers;
use crate::machine::setup::ExploreError;
use lydian_inputs::InputSpec;

/// What is explored, and how.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function that is run.
    pub func: FuncId,
    /// What its inputs are.
    pub spec: &'a InputSpec,
    /// The objectives of this function and of others that it may call.
    pub objectives: &'a [FunctionObjectives],
    /// What tests that there are give, for each of the objectives, or nothing: hyperlabels may be
    /// covered by them together with what is found.
    pub known: &'a [Harvest],
    /// How to explore.
    pub config: &'a Config,
    /// The wall clock with the user's wish to stop. The limit in `config.limits.time` is the caller's to
    /// put into it.
    pub budget: &'a Budget,
}

impl Task<'_> {
    /// Explores the function alone. Takes a solver that has not seen other pools; `sink` gets every test
    /// as soon as it is found.
    ///
    /// # Errors
    /// A function without a body, and inputs that do not fit the specification.
    pub fn run(
        &self,
        solver: &mut dyn Solver,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, ExploreError> {
        self.run_by(None, solver, sink)
    }

    /// Explores the function as [`Self::run`] does, with several workers where that takes long enough
    /// and all of them can help ([`Workers`]).
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_among(
        &self,
        workers: &Workers<'_>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, ExploreError> {
        self.run_by(Some(workers), &mut *workers.new_solver(), sink)
    }

    fn run_by(
        &self,
        workers: Option<&Workers<'_>>,
        solver: &mut dyn Solver,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, ExploreError> {
        let begun = Instant::now();
        let (mut engine, first) = Engine::set_up(self, solver, sink)?;
        if let Some(first) = first {
            engine.machine.begin_with(&first);
            engine.push(first);
        }
        if let Some(workers) = workers {
            engine.run_with(workers, self);
        }
        engine.run();
        engine.machine.statistics.total_time = begun.elapsed();
        Ok(engine.into_summary())
    }
}
