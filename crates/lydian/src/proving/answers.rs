//! Answers in the terms of the program: what the engines found, confirmed by parties of their own.

use std::cell::RefCell;

use lydian_base::{Place, SourceMap, Span};
use lydian_ir::test::{ExternalResult, Image, Test};
use lydian_ir::{CTypes, FuncId, LocalId, Program, StmtId};
use lydian_prove::encode::{Encoded, GoalMeaning, InputRead};
use lydian_prove::engines::{self, Certificate, Contracts, Decision, Flaw, Trace, Verdict};
use lydian_prove::readable;
use lydian_prove::system::GoalId;
use lydian_smt::{Evaluator, Limits, Model, Solver, Term, TermPool};
use rustc_hash::FxHashMap;

use super::board::Finding;
use super::confirmation::{confirm, location};
use crate::certificates::Proof;

use super::invariants::PointInvariants;
use super::verdicts::{Argument, EXPLORATION, ErrorAnswer, ErrorProof, InputValue, spelled};
use crate::project::linked::LinkedProgram;
use crate::project::location_span;

/// A program that is reasoned about, with its text.
#[derive(Clone, Copy)]
pub(super) struct ProvedText<'a> {
    pub(super) program: &'a Program,
    pub(super) texts: &'a SourceMap,
    /// A function that is not supported, if there is one.
    pub(super) left_out: Option<&'a str>,
}

impl<'a> ProvedText<'a> {
    pub(super) fn of(linked: &'a LinkedProgram) -> Self {
        Self {
            program: &linked.linked.program,
            texts: &linked.linked.source,
            left_out: linked.left_out.first().map(String::as_str),
        }
    }
}

/// Reads the engines' verdicts in the terms of the program.
pub(super) struct AnswerReader<'a> {
    pub(super) text: ProvedText<'a>,
    pub(super) main: FuncId,
    pub(super) encoded: &'a Encoded,
    pub(super) pool: &'a mut TermPool,
    pub(super) solver: &'a mut dyn Solver,
    /// The limits of a question that checks an argument.
    pub(super) limits: Limits,
    /// The contracts of recursive functions that answers rest on.
    pub(super) contracts: &'a Contracts,
    /// Why they were not confirmed, if so.
    pub(super) flaw: Option<Flaw>,
    /// Formulas as text: arguments share many.
    pub(super) shown: RefCell<FxHashMap<Term, String>>,
}

impl AnswerReader<'_> {
    /// The answer for a goal by the engines' verdict and what the exploration found; none if the goal is
    /// no error.
    pub(super) fn proof(
        &mut self,
        verdict: &Verdict,
        explored: Option<Finding>,
    ) -> Option<ErrorProof> {
        let GoalMeaning::Error { function, call } = self.encoded.goals[verdict.goal] else {
            return None;
        };
        let answer = match &verdict.decision {
            Decision::Reached(trace) => self.confirmed(verdict, trace, (function, call)),
            Decision::Unreachable(certificate) => self.checked(verdict.goal, certificate),
            Decision::Unknown(why) => ErrorAnswer::Unknown(why.clone()),
        };
        let (answer, engine) = reconciled((answer, verdict.engine), explored);
        self.error(verdict.goal, answer, engine)
    }

    /// A goal with its answer; none if the goal is no error.
    pub(super) fn error(
        &self,
        goal: GoalId,
        answer: ErrorAnswer,
        engine: &str,
    ) -> Option<ErrorProof> {
        let GoalMeaning::Error { function, call } = self.encoded.goals[goal] else {
            return None;
        };
        let program = self.text.program;
        let span = location_span(program, location((function, call)));
        Some(ErrorProof {
            place: span.and_then(|span| self.place(span)),
            function: program.functions[function].name.clone(),
            answer,
            engine: engine.to_owned(),
            overflow: None,
            call: (function, call),
        })
    }

    /// The proof of a goal that is unreachable.
    pub(super) fn certified<'v>(
        &self,
        verdict: &'v Verdict,
        proof: &ErrorProof,
    ) -> Option<Proof<'v>> {
        let GoalMeaning::Error { function, call } = self.encoded.goals[verdict.goal] else {
            return None;
        };
        match (&verdict.decision, &proof.answer) {
            (Decision::Unreachable(certificate), ErrorAnswer::Unreachable(_)) => Some(Proof {
                function,
                statement: call,
                place: proof.place.as_ref().map(ToString::to_string),
                certificate,
            }),
            _ => None,
        }
    }

    fn place(&self, span: Span) -> Option<Place> {
        (!span.is_none()).then(|| self.text.texts.place(span.start))
    }

    /// The argument, if its certificate stands.
    pub(super) fn checked(&mut self, goal: GoalId, certificate: &Certificate) -> ErrorAnswer {
        let system = &self.encoded.system;
        if let Some(function) = self.text.left_out {
            return ErrorAnswer::Unknown(format!(
                "`{function}` uses a construct that is not supported, and may lead there"
            ));
        }
        if self.limits.expired() {
            let why = "an argument was found, and there was no time to confirm it";
            return ErrorAnswer::Unknown(why.to_owned());
        }
        let contracts = self.flaw.clone().map_or(Ok(()), Err);
        let checked = contracts
            .and_then(|()| certificate.check(self.pool, system, goal, self.solver, &self.limits));
        match checked {
            Ok(()) => ErrorAnswer::Unreachable(self.argument(certificate)),
            Err(Flaw::Refuted(part)) => ErrorAnswer::Unconfirmed(part),
            Err(flaw @ Flaw::Open(_)) => {
                ErrorAnswer::Unknown(format!("an argument was found and not confirmed: {flaw}"))
            }
        }
    }

    /// The arguments for goals, by certificates of one kind, if they stand together.
    pub(super) fn checked_together(
        &mut self,
        all: &[(GoalId, &Certificate)],
    ) -> Option<Vec<(GoalId, ErrorAnswer)>> {
        if self.text.left_out.is_some() || self.flaw.is_some() || self.limits.expired() {
            return None;
        }
        let mut together = (*all.first()?.1).clone();
        for (_, certificate) in all {
            for (known, new) in together.invariants.iter_mut().zip(&certificate.invariants) {
                let new = new.iter().filter(|one| !known.contains(one));
                let new: Vec<Term> = new.copied().collect();
                known.extend(new);
            }
        }
        let goals: Vec<GoalId> = all.iter().map(|(goal, _)| *goal).collect();
        let system = &self.encoded.system;
        let checked = together.check_together(self.pool, system, &goals, self.solver, &self.limits);
        let argument = |certificate| ErrorAnswer::Unreachable(self.argument(certificate));
        checked.ok()?;
        Some(all.iter().map(|(goal, certificate)| (*goal, argument(certificate))).collect())
    }

    fn argument(&self, certificate: &Certificate) -> Argument {
        Argument {
            depth: certificate.depth,
            exhaustive: certificate.argument == engines::Argument::Exhaustion,
            invariants: [
                self.invariants(self.contracts.formulas()),
                self.invariants(&certificate.invariants),
            ]
            .concat(),
            paths: None,
        }
    }

    fn invariants(&self, of_points: &[Vec<Term>]) -> Vec<PointInvariants> {
        let pool = &*self.pool;
        let mut shown = self.shown.borrow_mut();
        let mut show = |formula| {
            shown.entry(formula).or_insert_with(|| readable::formula(pool, formula)).clone()
        };
        PointInvariants::shown_by(&mut show, self.encoded, of_points, self.text.texts)
    }

    /// The inputs of a run, if the interpreter gets to the call with them.
    fn confirmed(&mut self, verdict: &Verdict, trace: &Trace, to: (FuncId, StmtId)) -> ErrorAnswer {
        let inputs = self.inputs(verdict, trace);
        let test = run_of(self.text.program, self.main, &inputs);
        match confirm(self.text.program, &test, to) {
            Ok(()) => ErrorAnswer::Reached(inputs),
            Err(why) => ErrorAnswer::Unknown(why),
        }
    }

    /// The values that the run's calls of input functions give, in order.
    pub(super) fn inputs(&mut self, verdict: &Verdict, trace: &Trace) -> Vec<InputValue> {
        let (encoded, types) = (self.encoded, &self.text.program.types);
        RunReader { encoded, types, pool: self.pool }.inputs(verdict.goal, trace)
    }
}

/// Reads runs of the engines in the terms of the program.
pub(super) struct RunReader<'r> {
    pub(super) encoded: &'r Encoded,
    pub(super) types: &'r CTypes,
    pub(super) pool: &'r TermPool,
}

impl RunReader<'_> {
    /// The values that a run's calls of input functions give, in order.
    pub(super) fn inputs(&self, goal: GoalId, trace: &Trace) -> Vec<InputValue> {
        let mut found = Vec::new();
        for step in &trace.steps {
            let reads = self.encoded.inputs_of_step(goal, step.choice);
            let mut evaluator = Evaluator::new();
            for read in reads {
                let value = self.value(read, &step.values, &mut evaluator);
                match (value, found.last_mut()) {
                    (Some(byte), Some(object)) if read.part.is_some_and(|at| at > 0) => {
                        let object: &mut InputValue = object;
                        object.bytes.extend(byte.bytes);
                    }
                    (value, _) => found.extend(value),
                }
            }
        }
        found
    }

    /// The value of a read, if the step comes there.
    fn value(
        &self,
        read: &InputRead,
        values: &Model,
        evaluator: &mut Evaluator,
    ) -> Option<InputValue> {
        evaluator.holds(self.pool, values, read.condition).then_some(())?;
        let bits = evaluator.eval(self.pool, values, read.symbol).to_wide()?.low_u128();
        let (size, ty) = match read.part {
            Some(_) => (1, None),
            None => (self.types.size(read.ty)?, Some(spelled(self.types, read.ty))),
        };
        let bytes = bits.to_le_bytes().get(..size as usize)?.to_vec();
        Some(InputValue { function: read.function.clone(), ty, bytes })
    }
}

/// The answer that two parties give together, and the one that found it.
pub(super) fn reconciled(
    (answer, engine): (ErrorAnswer, &str),
    explored: Option<Finding>,
) -> (ErrorAnswer, &str) {
    let by_paths = |text: String| {
        let argument =
            Argument { depth: 0, exhaustive: true, invariants: Vec::new(), paths: Some(text) };
        (ErrorAnswer::Unreachable(argument), EXPLORATION)
    };
    let differ = |text: &str| {
        let part = format!("{text}, though another engine found the opposite");
        (ErrorAnswer::Unconfirmed(part), EXPLORATION)
    };
    match (answer, explored) {
        (ErrorAnswer::Unreachable(_), Some(Finding::Reached(..))) => {
            (ErrorAnswer::Unconfirmed("a run gets there".to_owned()), engine)
        }
        (ErrorAnswer::Reached(_), Some(Finding::Unreachable(text))) => differ(&text),
        (ErrorAnswer::Unknown(_), Some(Finding::Reached(inputs, by))) => {
            (ErrorAnswer::Reached(inputs), by)
        }
        (ErrorAnswer::Unknown(_), Some(Finding::Unreachable(text))) => by_paths(text),
        (ErrorAnswer::Unknown(why), Some(Finding::Open(other))) if why != other => {
            (ErrorAnswer::Unknown(format!("{why}; exploration: {other}")), engine)
        }
        (answer, _) => (answer, engine),
    }
}

/// Zero bytes for the parameters of `main`.
pub(super) fn arguments(program: &Program, main: FuncId) -> Vec<Image> {
    let body = program.functions[main].body.as_ref();
    let params = body.map_or(&[][..], |body| &body.params);
    let size = |local: &LocalId| {
        let ty = body.map(|body| body.locals[*local].ty);
        ty.and_then(|ty| program.types.size(ty)).unwrap_or(0) as usize
    };
    params.iter().map(|local| Image { bytes: vec![0; size(local)], pointers: vec![] }).collect()
}

/// The run of a program from its beginning with these inputs.
pub(crate) fn run_of(program: &Program, main: FuncId, inputs: &[InputValue]) -> Test {
    Test {
        externals: inputs.iter().map(external).collect(),
        ..Test::calling(&program.functions[main].name, arguments(program, main))
    }
}

/// The answer to a call that gives this input.
pub(crate) fn external(input: &InputValue) -> ExternalResult {
    let result = Image { bytes: input.bytes.clone(), pointers: Vec::new() };
    ExternalResult::new(&input.function, result)
}
