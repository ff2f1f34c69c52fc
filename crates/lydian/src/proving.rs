//! Proofs about a whole program: whether any input leads to a call of an error function.
//!
//! A program is encoded as a transition system, and the engines of `lydian-prove` decide its goals. An
//! answer "reached" counts only if the interpreter, given the inputs of the run that was found, gets to
//! the same call. An answer "unreachable" has a certificate, whose conditions were checked by
//! queries of their own.

use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Place};
use lydian_ir::FuncId;
use lydian_prove::Semantics;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, Goals, Rules, UninitialisedRead, encode,
};
use lydian_prove::engines::{Recursive, Schedule, decide_recursive};
use lydian_smt::{ChainConfig, Limits, TermPool, Z3Use, standard_chain};
use serde::Serialize;

use crate::error::Error;
use crate::events::Observer;
use crate::project::linked::{LinkRequest, LinkedProgram};
use answers::AnswerReader;

mod answers;

/// The time of each question that checks an argument.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// The function where a program begins.
const MAIN: &str = "main";

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
        let (mut encoded, main) = encoded(&mut pool, &program)?;
        let encoding_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let config = ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() };
        let interruptible = Limits { interrupt: Some(cancel.flag().clone()), ..Limits::none() };
        let limits = Limits { end: Some(end), ..interruptible.clone() };
        let schedule = Schedule { rounds: u32::MAX, limits, ..Schedule::default() };
        let goals: Vec<_> = encoded.system.goals.ids().collect();
        let mut solver = standard_chain(&config);
        let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
        let decided = decide_recursive(&mut pool, recursive, &goals, &mut *solver, &schedule);
        let limits = Limits { time: Some(CHECK_TIME), ..interruptible };
        let contracts = decided.contracts.check(&mut pool, recursive, &mut *solver, &limits);
        encoded.system = decided.system;
        let proving_seconds = begun.elapsed().as_secs_f64();
        let mut reader = AnswerReader {
            program: &program,
            main,
            encoded: &encoded,
            pool: &mut pool,
            solver: &mut *solver,
            limits,
            contracts: &decided.contracts,
            flaw: contracts.err(),
        };
        let mut errors: Vec<_> =
            decided.verdicts.iter().filter_map(|one| reader.proof(one)).collect();
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
