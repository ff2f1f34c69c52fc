//! Questions about paths to the solver.

use std::time::{Duration, Instant};

use lydian_base::StopReason;
use lydian_smt::{Answer, Model, Subject, Term};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::memory::{definedness, depends_on_undefined};
use crate::machine::questions::{Effort, Feasible};
use crate::machine::reports::outbox::AskedQuestion;
use crate::machine::reports::undetermined::text_at;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Handles a value that the path is about to depend on, and that may depend on memory that was
    /// never written. If it does on the state's model, so does the path. Otherwise the path
    /// continues with the inputs on which the value is defined, and the others are left out.
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
        // Reported when the path was followed the first time.
        let told = state.log.is_played();
        if !told && !matches!(self.ask(state, Some(undefined)), Feasible::No) {
            let dependences = self.dependences_of(state, value);
            dependences.cuts().into_iter().for_each(|cut| self.cut_ahead(state, cut));
        }
        state.add_fact(&mut self.pool, defined);
    }

    /// The value of a term on the state's model. The path depends on it from now on.
    pub(crate) fn value_on_model(&mut self, state: &mut State<N>, term: Term) -> u64 {
        let Self { pool, evaluator, .. } = self;
        state.log.answer(Question::Value, || evaluator.eval_u64(pool, &state.model, term))
    }

    /// Whether a condition holds on the state's model. The path depends on that from now on.
    pub(crate) fn holds_on_model(&mut self, state: &mut State<N>, condition: Term) -> bool {
        let Self { pool, evaluator, .. } = self;
        state.log.decide(Question::Holds, || evaluator.holds(pool, &state.model, condition))
    }

    /// Whether some input takes the path and makes `extra` true.
    pub(crate) fn ask(&mut self, state: &State<N>, extra: Option<Term>) -> Feasible {
        self.ask_within(state, &[], extra, Effort::FULL).0
    }

    /// Whether some input takes the path, with the effort that the question is worth after earlier
    /// attempts.
    pub(crate) fn try_to_ask(&mut self, state: &State<N>) -> Feasible {
        self.ask_within(state, &[], None, Effort::after(state.tries)).0
    }

    /// As [`Self::ask`], with further terms that are to hold.
    pub(crate) fn ask_more(&mut self, state: &State<N>, more: &[Term], extra: Term) -> Feasible {
        self.ask_within(state, more, Some(extra), Effort::FULL).0
    }

    /// As [`Self::ask`], for an input that also keeps the promises of the state's model.
    pub(crate) fn ask_with_promises(&mut self, state: &State<N>, extra: Term) -> Feasible {
        self.ask_within(state, &state.claims.promises, Some(extra), Effort::FULL).0
    }

    /// As [`Self::ask_with_promises`], with little effort, for a wish that need not be met.
    pub(crate) fn ask_for_wish(&mut self, state: &State<N>, wish: Term) -> Feasible {
        self.ask_within(state, &state.claims.promises, Some(wish), Effort::WISH).0
    }

    /// As [`Self::ask`], with little time, for an input that is not needed or can be asked for
    /// again.
    pub(crate) fn ask_in_haste(&mut self, state: &State<N>, extra: Option<Term>) -> Feasible {
        self.ask_within(state, &[], extra, Effort::HASTE).0
    }

    /// Whether some input takes the path and makes further terms true. If none does, also returns
    /// terms that exclude it, where the solver knows them.
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

    /// The solver's answer to such a question; an error if the exploration is to stop.
    pub(crate) fn answer(
        &mut self,
        state: &State<N>,
        more: &[Term],
        extra: Option<Term>,
        effort: Effort,
    ) -> Result<Answer, StopReason> {
        // A solver without time left would still translate the question first, and a site with many
        // labels asks many questions.
        let remaining = self.questions.remaining()?;
        let count = state.path.facts.len() + more.len() + 1;
        let mut assumptions = Vec::with_capacity(count);
        assumptions.extend_from_slice(&state.path.facts);
        assumptions.extend_from_slice(more);
        assumptions.extend(extra);
        let begun = Instant::now();
        let query_time = self.context.config.limits.query_time;
        let limits = self.questions.limits(begun, remaining, query_time, effort);
        self.questions.solver.offer(&self.pool, &state.model);
        let program = self.context.program;
        self.questions.solver.set_subject(&|| Subject::At(text_at(program, state)));
        let answer = self.questions.solver.check(&mut self.pool, &assumptions, &limits);
        let time = begun.elapsed();
        self.statistics.solver_time += time;
        self.trace_question(state, &answer, time);
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

    /// Leaves a question and its answer in the outbox, if a trace is made.
    fn trace_question(&mut self, state: &State<N>, answer: &Answer, time: Duration) {
        if !self.context.config.traces {
            return;
        }
        let place = self.text_at(state);
        let answer = match answer {
            Answer::Sat(_) => Some(true),
            Answer::Unsat { .. } => Some(false),
            Answer::Unknown(_) => None,
        };
        self.outbox.asked.push(AskedQuestion { state: state.course.number, answer, time, place });
    }

    /// Completes a model with the first model's values of inputs that it says nothing about. This
    /// keeps preferences where possible.
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
