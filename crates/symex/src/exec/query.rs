//! Questions to the solver.

use std::time::Instant;

use lydian_smt::{Answer, Limits, Model, Term};

use super::explore::Engine;
use super::state::State;
use crate::limits::Cut;
use crate::memory::{definedness, depends_on_undefined};

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
    /// The path is about to depend on a value, which may depend on memory that was never written.
    /// Only the inputs on which it does not go on, if the state's model is one of them.
    pub(super) fn meet_undefined(&mut self, state: &mut State, value: Term) {
        if state.undefined || !depends_on_undefined(&mut self.pool, value) {
            return;
        }
        let defined = definedness(&mut self.pool, value);
        if !self.evaluator.holds(&self.pool, &state.model, defined) {
            state.undefined = true;
            return;
        }
        if state.replay || state.knowledge().known(&mut self.pool, defined) == Some(true) {
            return;
        }
        let undefined = self.pool.not(defined);
        if !matches!(self.ask(state, Some(undefined)), Feasible::No) {
            self.cut(Cut::Undefined);
        }
        state.add_fact(&mut self.pool, defined);
    }

    /// Whether some input takes the path and makes `extra` true.
    pub(super) fn ask(&mut self, state: &State, extra: Option<Term>) -> Feasible {
        // A solver that has no time left would still translate the question first, and a place with
        // many labels asks many.
        if let Some(reason) = self.budget.exceeded() {
            return Feasible::Unknown(Cut::Stopped(reason));
        }
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
        self.solver.offer(&self.pool, &state.model);
        let answer = self.solver.check(&mut self.pool, &assumptions, &limits);
        self.statistics.solver_time += begun.elapsed();
        self.statistics.queries += 1;
        match answer {
            Answer::Sat(model) => {
                self.statistics.satisfiable += 1;
                Feasible::Yes(self.with_preferences(state, extra, model))
            }
            Answer::Unsat { .. } => Feasible::No,
            Answer::Unknown(reason) => {
                self.statistics.unanswered += 1;
                Feasible::Unknown(match self.budget.exceeded() {
                    Some(stop) => Cut::Stopped(stop),
                    None => Cut::Solver(reason.to_string()),
                })
            }
        }
    }

    /// The model with the first model's value of every input that it says nothing about, which
    /// keeps what is preferred where it can.
    fn with_preferences(&mut self, state: &State, extra: Option<Term>, model: Model) -> Model {
        let open: Vec<_> = self
            .base
            .iter()
            .filter(|(var, _)| model.get(*var).is_none())
            .map(|(var, value)| (var, value.clone()))
            .collect();
        if open.is_empty() {
            return model;
        }
        let merged = model.with(open);
        let mut all = state.facts.iter().copied().chain(extra);
        if all.all(|fact| self.evaluator.holds(&self.pool, &merged, fact)) { merged } else { model }
    }
}
