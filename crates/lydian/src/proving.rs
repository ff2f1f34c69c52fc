//! Proofs about a whole program: whether any input leads to a call of an error function.
//!
//! A program is encoded as a transition system, and the engines of `lydian-prove` decide its goals. An
//! answer "reached" counts only if the interpreter, given the inputs of the run that was found, gets to
//! the same call. An answer "unreachable" has a certificate, whose conditions were checked by
//! queries of their own.

use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Place, Span};
use lydian_ir::interp::{self, End, Location, Options, View, run};
use lydian_ir::source::Point;
use lydian_ir::test::{ExternalResult, Image, Test};
use lydian_ir::{FuncId, LocalId, StmtId};
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, GoalMeaning, Goals, InputRead, Rules, UninitialisedRead,
    encode,
};
use lydian_prove::engines::{
    self, Certificate, Choice, Decision, Flaw, Schedule, Trace, Verdict, decide,
};
use lydian_prove::system::GoalId;
use lydian_prove::{Semantics, readable};
use lydian_smt::{
    ChainConfig, Evaluator, Limits, Model, Solver, Term, TermPool, Z3Use, standard_chain,
};
use serde::Serialize;

use crate::error::Error;
use crate::events::Observer;
use crate::project::linked::{LinkRequest, LinkedProgram};
use crate::project::location_span;

/// The time of each question that checks an argument.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// The function where a program begins.
const MAIN: &str = "main";
/// The most steps of the interpreter that confirm an answer.
const MOST_STEPS: u64 = 200_000_000;

/// A program, and the time for the proofs.
#[derive(Clone, Debug)]
pub struct ProofRequest {
    /// The files of the program.
    pub program: LinkRequest,
    /// The time in all.
    pub time: Duration,
}

/// Proofs about the errors of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Proofs {
    /// Each call of an error function, in the order of the text.
    pub errors: Vec<ErrorProof>,
    /// Why the encoding may have more runs than the program; empty where it has the same.
    pub inexact: Vec<String>,
    /// The time of encoding, in seconds.
    pub encoding_seconds: f64,
    /// The time of the engines, in seconds.
    pub proving_seconds: f64,
}

/// What is known of a call of an error function.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorProof {
    /// The place of the call.
    pub place: Option<Place>,
    /// The function with the call.
    pub function: String,
    /// The answer.
    pub answer: ErrorAnswer,
    /// The engine that found the answer.
    pub engine: String,
}

/// The answer for a call of an error function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorAnswer {
    /// A run with these inputs gets there, as the interpreter confirms.
    Reached(Vec<InputValue>),
    /// No run gets there.
    Unreachable(Argument),
    /// Neither is known.
    Unknown(String),
    /// An internal error: this part of an engine's argument is false.
    Unconfirmed(String),
}

/// The value of a call that gives the program an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputValue {
    /// The function that is called.
    pub function: String,
    /// The bytes of its result, in the order of memory.
    pub bytes: Vec<u8>,
}

/// Why no run gets to a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// The number of successive states that the induction looks at; 1 for plain induction.
    pub depth: u32,
    /// Whether all runs are shorter than that, so that they were looked at one and all.
    pub exhaustive: bool,
    /// What holds whenever control is at a loop's head.
    pub invariants: Vec<PointInvariants>,
}

/// The invariants of a loop's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PointInvariants {
    /// The function.
    pub function: String,
    /// The place of the head.
    pub place: Option<Place>,
    /// The invariants, as text.
    pub formulas: Vec<String>,
}

impl Proofs {
    /// Decides for each call of an error function whether a run gets there.
    ///
    /// # Errors
    /// C that cannot be read or does not link, a program without `main`, and what the encoding does not
    /// support.
    pub fn of_errors(
        request: &ProofRequest,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let end = Instant::now() + request.time;
        let program = LinkedProgram::load(&request.program, observer)?;
        let begun = Instant::now();
        let mut pool = TermPool::new();
        let (encoded, main) = encoded(&mut pool, &program)?;
        let encoding_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let config = ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() };
        let interruptible = Limits { interrupt: Some(cancel.flag().clone()), ..Limits::none() };
        let limits = Limits { end: Some(end), ..interruptible.clone() };
        let schedule = Schedule { rounds: u32::MAX, limits, ..Schedule::default() };
        let goals: Vec<_> = encoded.system.goals.ids().collect();
        let mut solver = standard_chain(&config);
        let verdicts = decide(&mut pool, &encoded.system, &goals, &mut *solver, &schedule);
        let proving_seconds = begun.elapsed().as_secs_f64();
        let mut reader = AnswerReader {
            program: &program,
            main,
            encoded: &encoded,
            pool: &mut pool,
            solver: &mut *solver,
            limits: Limits { time: Some(CHECK_TIME), ..interruptible },
        };
        let mut errors: Vec<_> = verdicts.iter().filter_map(|one| reader.proof(one)).collect();
        errors.sort_by(|a, b| a.place.cmp(&b.place));
        let inexact = encoded.system.inexact.clone();
        Ok(Self { errors, inexact, encoding_seconds, proving_seconds })
    }
}

fn encoded(pool: &mut TermPool, program: &LinkedProgram) -> Result<(Encoded, FuncId), Error> {
    let program = &program.linked.program;
    let main = program.function_named(MAIN).filter(|main| program.functions[*main].body.is_some());
    let main = main.ok_or_else(|| Error::source("no-main", "the program has no `main`"))?;
    let request = EncodeRequest {
        program,
        entry: main,
        goals: Goals { errors: true, ..Goals::default() },
        semantics: Semantics::default(),
        rules: Rules { uninitialised: UninitialisedRead::AnyValue, allocation_succeeds: true },
        limits: EncodeLimits::default(),
    };
    let encoded = encode(pool, &request);
    Ok((encoded.map_err(|error| Error::source("encoding", error.to_string()))?, main))
}

/// Reads the engines' verdicts in the terms of the program.
struct AnswerReader<'a> {
    program: &'a LinkedProgram,
    main: FuncId,
    encoded: &'a Encoded,
    pool: &'a mut TermPool,
    solver: &'a mut dyn Solver,
    /// The limits of a question that checks an argument.
    limits: Limits,
}

impl AnswerReader<'_> {
    fn proof(&mut self, verdict: &Verdict) -> Option<ErrorProof> {
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
        match certificate.check(self.pool, system, goal, self.solver, &self.limits) {
            Ok(()) => ErrorAnswer::Unreachable(Argument {
                depth: certificate.depth,
                exhaustive: certificate.argument == engines::Argument::Exhaustion,
                invariants: self.invariants(&certificate.invariants),
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
        let options = Options { max_steps: MOST_STEPS, ..Options::default() };
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
