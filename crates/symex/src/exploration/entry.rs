//! The entry points of an exploration.

use std::time::Instant;

use lydian_smt::Solver;

use crate::exploration::explore::Engine;
use crate::exploration::outcome::{Event, Summary};
use crate::exploration::task::Task;
use crate::exploration::trace_event::TraceEvent;
use crate::exploration::workers::Workers;
use crate::machine::reports::statistics::Statistics;
use crate::machine::setup::ExploreError;

impl Task<'_> {
    /// Explores the function with one worker. `solver` must not have seen terms of another pool;
    /// `sink` gets every test as soon as it is found.
    ///
    /// # Errors
    /// Fails for a function without a body, and for inputs that do not fit the specification.
    pub fn run(
        &self,
        solver: &mut dyn Solver,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, ExploreError> {
        self.run_by(None, solver, sink)
    }

    /// Explores the function as [`Self::run`] does. Several workers share an exploration that takes
    /// long enough and that all of them can take part in ([`Workers`]).
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
            engine.trace(&first, |_| TraceEvent::Begin);
            engine.push(first);
        }
        if let Some(workers) = workers.filter(|_| !self.config.traces) {
            engine.run_with(workers, self);
        }
        engine.run();
        engine.machine.statistics.total_time = begun.elapsed();
        let summary = engine.into_summary();
        self.log_summary(&summary);
        Ok(summary)
    }

    fn log_summary(&self, summary: &Summary) {
        let Statistics { steps, queries, evicted, solver_time, total_time, .. } =
            summary.statistics;
        let name = &self.program.functions[self.func].name;
        log::info!(
            "explored {name} in {total_time:.1?}: {} paths, {steps} steps, {queries} questions in \
             {solver_time:.1?}, {evicted} states evicted; {} labels covered and {} left; {}",
            summary.path_count(),
            summary.covered.len(),
            summary.left.len(),
            if summary.complete { "complete" } else { "not complete" }
        );
        for (cut, count) in &summary.cuts {
            log::debug!("exploring {name} cut off {count} times: {cut}");
        }
    }
}
