//! Questions to the solver.

use std::time::Instant;

use lydian_smt::{Answer, Limits, Model, Term};

use super::explore::Engine;
use super::state::State;
use crate::limits::Cut;

/// The answer to a question about a path.
pub(super) enum Feasible {
    /// Some input of the path is so.
    Yes(Model),
    /// None is.
    No,
    /// Not known, and why.
    Unknown(Cut),
}

impl Engine<'_, '_> {
    /// Whether some input takes the path and makes `extra` true.
    pub(super) fn ask(&mut self, state: &State, extra: Option<Term>) -> Feasible {
        let mut assumptions = Vec::with_capacity(state.facts.len() + 1);
        assumptions.extend_from_slice(&state.facts);
        assumptions.extend(extra);
        let remaining = self.budget.remaining();
        let time = match (self.world.config.limits.query_time, remaining) {
            (Some(query), Some(remaining)) => Some(query.min(remaining)),
            (query, remaining) => query.or(remaining),
        };
        let interrupt = Some(self.budget.cancel_token().flag().clone());
        let limits = Limits { time, interrupt, ..Limits::none() };
        let begun = Instant::now();
        let answer = self.solver.check(&mut self.pool, &assumptions, &limits);
        self.statistics.solver_time += begun.elapsed();
        self.statistics.queries += 1;
        match answer {
            Answer::Sat(model) => {
                self.statistics.satisfiable += 1;
                Feasible::Yes(self.with_preferences(model))
            }
            Answer::Unsat { .. } => Feasible::No,
            Answer::Unknown(reason) => {
                self.statistics.unanswered += 1;
                Feasible::Unknown(Cut::Solver(reason.to_string()))
            }
        }
    }

    /// The model with the preferred value of every input that it says nothing about.
    fn with_preferences(&self, model: Model) -> Model {
        if self.preferred.is_empty() {
            return model;
        }
        let open = self.preferred.iter().filter(|(var, _)| model.get(*var).is_none());
        let open: Vec<_> = open.cloned().collect();
        if open.is_empty() { model } else { model.with(open) }
    }
}
