//! Answers in the terms of the program: what the engines found, confirmed by parties of their own.

use lydian_base::{Place, Span};
use lydian_ir::interp::{self, End, Location, Options, View, run};
use lydian_ir::source::Point;
use lydian_ir::test::{ExternalResult, Image, Test};
use lydian_ir::{FuncId, LocalId, StmtId};
use lydian_prove::encode::{Encoded, GoalMeaning, InputRead};
use lydian_prove::engines::{self, Certificate, Choice, Contracts, Decision, Flaw, Trace, Verdict};
use lydian_prove::readable;
use lydian_prove::system::GoalId;
use lydian_smt::{Evaluator, Limits, Model, Solver, Term, TermPool};

use super::{Argument, ErrorAnswer, ErrorProof, InputValue, MAIN, PointInvariants};
use crate::project::linked::LinkedProgram;
use crate::project::location_span;

/// The most steps of the interpreter that confirm an answer.
const MOST_STEPS: u64 = 200_000_000;
/// The most open calls of the interpreter that confirms an answer.
const MOST_DEPTH: u32 = 100_000;

/// Reads the engines' verdicts in the terms of the program.
pub(super) struct AnswerReader<'a> {
    pub(super) program: &'a LinkedProgram,
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
}

impl AnswerReader<'_> {
    /// The answer for a goal; none if the goal is no error.
    pub(super) fn proof(&mut self, verdict: &Verdict) -> Option<ErrorProof> {
        let GoalMeaning::Error { function, call } = self.encoded.goals[verdict.goal] else {
            return None;
        };
        let linked = &self.program.linked;
        let location = Location { function, point: Point::Stmt(call) };
        let span = location_span(&linked.program, location);
        let answer = match &verdict.decision {
            Decision::Reached(trace) => self.confirmed(verdict, trace, (function, call)),
            Decision::Unreachable(certificate) => self.checked(verdict.goal, certificate),
            Decision::Unknown(why) => ErrorAnswer::Unknown(why.clone()),
        };
        Some(ErrorProof {
            place: span.and_then(|span| self.place(span)),
            function: linked.program.functions[function].name.clone(),
            answer,
            engine: verdict.engine.to_owned(),
        })
    }

    fn place(&self, span: Span) -> Option<Place> {
        (!span.is_none()).then(|| self.program.linked.source.place(span.start))
    }

    /// The argument, if its certificate stands.
    fn checked(&mut self, goal: GoalId, certificate: &Certificate) -> ErrorAnswer {
        let system = &self.encoded.system;
        if let Some(function) = self.program.left_out.first() {
            return ErrorAnswer::Unknown(format!(
                "`{function}` uses a construct that is not supported, and may lead there"
            ));
        }
        let contracts = self.flaw.clone().map_or(Ok(()), Err);
        let checked = contracts
            .and_then(|()| certificate.check(self.pool, system, goal, self.solver, &self.limits));
        match checked {
            Ok(()) => ErrorAnswer::Unreachable(Argument {
                depth: certificate.depth,
                exhaustive: certificate.argument == engines::Argument::Exhaustion,
                invariants: [
                    self.invariants(self.contracts.formulas()),
                    self.invariants(&certificate.invariants),
                ]
                .concat(),
            }),
            Err(Flaw::Refuted(part)) => ErrorAnswer::Unconfirmed(part),
            Err(flaw @ Flaw::Open(_)) => {
                ErrorAnswer::Unknown(format!("an argument was found and not confirmed: {flaw}"))
            }
        }
    }

    fn invariants(&self, of_points: &[Vec<Term>]) -> Vec<PointInvariants> {
        let points = self.encoded.system.points.iter();
        let known = points.zip(of_points).filter(|(_, formulas)| !formulas.is_empty());
        let text = |formula: &Term| readable::formula(self.pool, *formula);
        known
            .map(|((_, point), formulas)| PointInvariants {
                function: point.name.split(':').next().unwrap_or_default().to_owned(),
                place: self.place(point.span),
                formulas: formulas.iter().map(text).collect(),
            })
            .collect()
    }

    /// The inputs of a run, if the interpreter gets to the call with them.
    fn confirmed(&mut self, verdict: &Verdict, trace: &Trace, to: (FuncId, StmtId)) -> ErrorAnswer {
        let inputs = self.inputs(verdict, trace);
        let external = |input: &InputValue| ExternalResult {
            function: input.function.clone(),
            result: Image { bytes: input.bytes.clone(), pointers: Vec::new() },
            object: None,
            writes: Vec::new(),
        };
        let program = &self.program.linked.program;
        let test = Test {
            externals: inputs.iter().map(external).collect(),
            ..Test::calling(MAIN, self.arguments())
        };
        let options =
            Options { max_steps: MOST_STEPS, max_depth: MOST_DEPTH, ..Options::default() };
        let mut watch = CallWatch { call: to, reached: false };
        match run(program, &test, &options, &mut watch) {
            Ok(outcome) if watch.reached && outcome.end != End::Assumption => {
                ErrorAnswer::Reached(inputs)
            }
            Ok(_) => ErrorAnswer::Unknown(
                "a run that was found is none of the program's: the interpreter does not get there"
                    .to_owned(),
            ),
            Err(error) => ErrorAnswer::Unknown(format!("a run that was found is no test: {error}")),
        }
    }

    /// Zero bytes for the parameters of `main`.
    fn arguments(&self) -> Vec<Image> {
        let program = &self.program.linked.program;
        let body = program.functions[self.main].body.as_ref();
        let params = body.map_or(&[][..], |body| &body.params);
        let size = |local: &LocalId| {
            let ty = body.map(|body| body.locals[*local].ty);
            ty.and_then(|ty| program.types.size(ty)).unwrap_or(0) as usize
        };
        params.iter().map(|local| Image { bytes: vec![0; size(local)], pointers: vec![] }).collect()
    }

    /// The values that the run's calls of input functions give, in order.
    fn inputs(&mut self, verdict: &Verdict, trace: &Trace) -> Vec<InputValue> {
        let system = &self.encoded.system;
        let mut found = Vec::new();
        for step in &trace.steps {
            let reads = match step.choice {
                Choice::Transition(index) => {
                    self.encoded.inputs[system.transitions[index].from].as_slice()
                }
                Choice::Approach(index) => self.encoded.inputs_of_approach(verdict.goal, index),
            };
            found.extend(reads.iter().filter_map(|read| self.value(read, &step.values)));
        }
        found
    }

    /// The value of a read, if the step comes there.
    fn value(&self, read: &InputRead, values: &Model) -> Option<InputValue> {
        let mut evaluator = Evaluator::new();
        evaluator.holds(self.pool, values, read.condition).then_some(())?;
        let bits = evaluator.eval(self.pool, values, read.symbol).to_wide()?.low_u128();
        let size = self.program.linked.program.types.size(read.ty)? as usize;
        let bytes = bits.to_le_bytes().get(..size)?.to_vec();
        Some(InputValue { function: read.function.clone(), bytes })
    }
}

/// Notes whether a run comes to a call.
struct CallWatch {
    call: (FuncId, StmtId),
    reached: bool,
}

impl interp::Observer for CallWatch {
    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        self.reached |= self.call == (view.function(), stmt);
    }
}
