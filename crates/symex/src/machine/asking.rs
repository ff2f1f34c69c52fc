//! Questions about paths are asked.

use std::time::Instant;

use lydian_base::StopReason;
use lydian_smt::{Answer, Limits, Model, Subject, Term};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::memory::{definedness, depends_on_undefined};
use crate::machine::questions::{Effort, Feasible};
use crate::machine::reports::outbox::Asked;
use crate::machine::reports::undetermined::text_at;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// The path is about to depend on a value, which may depend on memory that was never written.
    /// Only the inputs on which it does not go on, if the state's model is one of them.
    pub(crate) fn meet_undefined(&mut self, state: &mut State<N>, value: Term) {
        if !depends_on_undefined(&mut self.pool, value) {
            return;
        }
        if state.depends.are_some() {
            return self.depend_on(state, value);
        }
        let defined = definedness(&mut self.pool, value);
        let Self { pool, evaluator, .. } = self;
        let undefined = || !evaluator.holds(pool, &state.model, defined);
        if state.log.decide(Question::Undefined, undefined) {
            return self.depend_on(state, value);
        }
        if state.course.replay || state.knowledge().known(&mut self.pool, defined) == Some(true) {
            return;
        }
        let undefined = self.pool.not(defined);
        // The first time that the path was followed said so.
        let told = state.log.is_played();
        if !told && !matches!(self.ask(state, Some(undefined)), Feasible::No) {
            let dependences = self.dependences_of(state, value);
            dependences.cuts().into_iter().for_each(|cut| self.cut_ahead(state, cut));
        }
        state.add_fact(&mut self.pool, defined);
    }

    /// The value of a term on the state's model, on which the path is to depend.
    pub(crate) fn value_on_model(&mut self, state: &mut State<N>, term: Term) -> u64 {
        let Self { pool, evaluator, .. } = self;
        state.log.answer(Question::Value, || evaluator.eval_u64(pool, &state.model, term))
    }

    /// Whether a condition holds on the state's model, where the path is to depend on that.
    pub(crate) fn holds_on_model(&mut self, state: &mut State<N>, condition: Term) -> bool {
        let Self { pool, evaluator, .. } = self;
        state.log.decide(Question::Holds, || evaluator.holds(pool, &state.model, condition))
    }

    /// Whether some input takes the path and makes `extra` true.
    pub(crate) fn ask(&mut self, state: &State<N>, extra: Option<Term>) -> Feasible {
        self.ask_within(state, &[], extra, Effort::FULL).0
    }

    /// Whether some input takes the path, with the effort that its question is worth after it was tried
    /// before.
    pub(crate) fn try_to_ask(&mut self, state: &State<N>) -> Feasible {
        self.ask_within(state, &[], None, Effort::after(state.tries)).0
    }

    /// The same, with further terms that are to hold.
    pub(crate) fn ask_more(&mut self, state: &State<N>, more: &[Term], extra: Term) -> Feasible {
        self.ask_within(state, more, Some(extra), Effort::FULL).0
    }

    /// The same for an input that keeps what the state's model promises, too.
    pub(crate) fn ask_with_promises(&mut self, state: &State<N>, extra: Term) -> Feasible {
        self.ask_within(state, &state.claims.promises, Some(extra), Effort::FULL).0
    }

    /// The same for what one would like of it, with little effort.
    pub(crate) fn ask_for_wish(&mut self, state: &State<N>, wish: Term) -> Feasible {
        self.ask_within(state, &state.claims.promises, Some(wish), Effort::WISH).0
    }

    /// The same with little time: for what is wanted but not needed, or can be asked again.
    pub(crate) fn ask_in_haste(&mut self, state: &State<N>, extra: Option<Term>) -> Feasible {
        self.ask_within(state, &[], extra, Effort::HASTE).0
    }

    /// Whether some input takes the path and makes some more terms true; if none does, terms that
    /// exclude it, where the solver knows.
    pub(crate) fn ask_within(
        &mut self,
        state: &State<N>,
        more: &[Term],
        extra: Option<Term>,
        effort: Effort,
    ) -> (Feasible, Option<Vec<Term>>) {
        match self.answer(state, more, extra, effort) {
            Ok(Answer::Sat(model)) => (Feasible::Yes(model), None),
            Ok(Answer::Unsat { core }) => (Feasible::No, core),
            Ok(Answer::Unknown(reason)) => {
                (Feasible::Unknown(Cut::Solver(reason.to_string())), None)
            }
            Err(stop) => (Feasible::Unknown(Cut::Stopped(stop)), None),
        }
    }

    /// What the solver says of that; an error if the exploration is to stop.
    pub(crate) fn answer(
        &mut self,
        state: &State<N>,
        more: &[Term],
        extra: Option<Term>,
        effort: Effort,
    ) -> Result<Answer, StopReason> {
        // A solver that has no time left would still translate the question first, and a place with
        // many labels asks many.
        let remaining = self.questions.budget.remaining();
        if remaining.is_some_and(|left| left.is_zero())
            || self.questions.budget.cancel_token().is_cancelled()
        {
            self.questions.late = true;
            return Err(self.questions.budget.exceeded().unwrap_or(StopReason::Cancelled));
        }
        let count = state.path.facts.len() + more.len() + 1;
        let mut assumptions = Vec::with_capacity(count);
        assumptions.extend_from_slice(&state.path.facts);
        assumptions.extend_from_slice(more);
        assumptions.extend(extra);
        let query_time = self.context.config.limits.query_time.map(|time| time / effort.haste);
        let time = match (query_time, remaining) {
            (Some(query), Some(remaining)) => Some(query.min(remaining)),
            (query, remaining) => query.or(remaining),
        };
        let interrupt = Some(self.questions.budget.cancel_token().flag().clone());
        let begun = Instant::now();
        let end = remaining.map(|left| begun + left);
        let conflicts = effort.conflicts;
        let limits = Limits { time, end, interrupt, conflicts, ..Limits::none() };
        self.questions.solver.offer(&self.pool, &state.model);
        let program = self.context.program;
        self.questions.solver.set_subject(&|| Subject::At(text_at(program, state)));
        let answer = self.questions.solver.check(&mut self.pool, &assumptions, &limits);
        let time = begun.elapsed();
        self.statistics.solver_time += time;
        if self.context.config.traces {
            let place = self.text_at(state);
            let said = match &answer {
                Answer::Sat(_) => Some(true),
                Answer::Unsat { .. } => Some(false),
                Answer::Unknown(_) => None,
            };
            self.outbox.asked.push(Asked { state: state.course.number, answer: said, time, place });
        }
        self.statistics.queries += 1;
        match answer {
            Answer::Sat(model) => {
                self.statistics.satisfiable += 1;
                Ok(Answer::Sat(self.with_preferences(&assumptions, model)))
            }
            Answer::Unsat { core } => Ok(Answer::Unsat { core }),
            Answer::Unknown(reason) => {
                self.statistics.unanswered += 1;
                match self.questions.budget.exceeded() {
                    Some(stop) => {
                        self.questions.late = true;
                        Err(stop)
                    }
                    None => Ok(Answer::Unknown(reason)),
                }
            }
        }
    }

    /// The model with the first model's value of every input that it says nothing about, which
    /// keeps what is preferred where it can.
    fn with_preferences(&mut self, assumptions: &[Term], model: Model) -> Model {
        let open: Vec<_> = self
            .questions
            .base
            .iter()
            .filter(|(var, _)| model.get(*var).is_none())
            .map(|(var, value)| (var, value.clone()))
            .collect();
        if open.is_empty() {
            return model;
        }
        let merged = model.with(open);
        let mut all = assumptions.iter();
        if all.all(|term| self.evaluator.holds(&self.pool, &merged, *term)) {
            merged
        } else {
            model
        }
    }
}
