//! Proofs about a whole program: whether any input leads to a call of an error function.
//!
//! A program is encoded as a transition system, and the engines of `lydian-prove` decide its goals. An
//! answer "reached" counts only if the interpreter, given the inputs of the run that was found, gets to
//! the same call. An answer "unreachable" of these engines has a certificate, whose conditions were
//! checked by queries of their own.
//!
//! The exploration of `lydian-symex` works on the same goals at the same time ([`exploration`]), and
//! decides those at which all paths come to an end. The two share the time ([`board`]).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use lydian_base::{Budget, CancelToken, Place};
use lydian_ir::{CTypeId, CTypes, FuncId, Program, StmtId};
use lydian_prove::Semantics;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, GoalMeaning, Goals, Rules, UninitialisedRead, encode,
};
use lydian_prove::engines::{
    Companion, Contracts, Decided, Decision, Recursive, Schedule, Verdict, decide_recursive,
};
use lydian_prove::system::GoalId;
use lydian_smt::{ChainConfig, Limits, Solver, Term, TermPool, Z3Use, standard_chain};
use serde::Serialize;

use crate::certificates::Certificates;
use crate::error::Error;
use crate::events::Observer;
use crate::generation::workers;
use crate::project::linked::{LinkRequest, LinkedProgram};
pub(crate) use answers::arguments as zero_arguments;
pub(crate) use answers::external;
use answers::{AnswerReader, arguments};
use board::Board;
pub(crate) use confirmation::confirm;
use execution::Execution;
use exploration::ErrorExploration;
pub use invariants::PointInvariants;
pub use native_tests::NativeTest;
use source_invariants::SourceInvariants;

mod answers;
mod board;
mod confirmation;
mod execution;
mod exploration;
pub(crate) mod invariants;
mod native_tests;
pub(crate) mod source_invariants;

/// The time of each question that checks an argument.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// The part of the time for runs of the program itself.
const EXECUTION: u32 = 4;
/// The function where a program begins.
pub(crate) const MAIN: &str = "main";
/// How often it is looked whether the user asked to stop.
const LOOK: Duration = Duration::from_millis(10);
/// The bytes of a thread's stack. Recursive functions walk through terms and expressions.
const STACK: usize = 64 << 20;

/// Who looks for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provers {
    /// The engines of `lydian-prove` and the exploration, which share the time.
    #[default]
    Together,
    /// The engines alone.
    Engines,
    /// The exploration alone.
    Exploration,
}

/// A program, and the time for the proofs.
#[derive(Clone, Debug)]
pub struct ProofRequest {
    /// The files of the program.
    pub program: LinkRequest,
    /// The time in all.
    pub time: Duration,
    /// Who looks for answers.
    pub provers: Provers,
    /// How many threads work at once; none for as many as there are cores. With one, the engines and the
    /// exploration take turns.
    pub jobs: Option<NonZeroUsize>,
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
    /// The time of the search for answers, in seconds.
    pub proving_seconds: f64,
    /// The functions that the program leaves undefined.
    #[serde(skip)]
    undefined: Vec<String>,
    /// The certificates of what is unreachable.
    #[serde(skip)]
    pub certificates: Certificates,
    /// The program, for other tools.
    #[serde(skip)]
    pub(crate) proved: Arc<ProvedProgram>,
}

/// A program with what holds at its loops.
#[derive(Debug)]
pub(crate) struct ProvedProgram {
    /// The program with inputs for variables without a value.
    pub(crate) linked: LinkedProgram,
    /// The program as its text says it.
    pub(crate) plain: Program,
    /// The function where runs begin.
    pub(crate) main: FuncId,
    pub(crate) invariants: SourceInvariants,
    pub(crate) is_recursive: bool,
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
    /// The call.
    #[serde(skip)]
    pub(crate) call: (FuncId, StmtId),
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
    /// The function that is called. For the first value of a variable that begins without one, a name
    /// that [`Beginning`](lydian_ir::beginnings::Beginning) reads.
    pub function: String,
    /// The C type of the result, where it is known.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
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
    /// The argument of the exploration, as a sentence; the rest is empty then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<String>,
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
        let mut program = LinkedProgram::load_needed(&request.program, observer)?;
        let plain = program.linked.program.clone();
        lydian_ir::beginnings::make_inputs(&mut program.linked.program);
        let begun = Instant::now();
        let mut pool = TermPool::new();
        let interruptible = Limits { interrupt: Some(cancel.flag().clone()), ..Limits::none() };
        let (mut encoded, main) = encoded(&mut pool, &program, &interruptible)?;
        let encoding_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut execution = Execution::new(&program, &encoded, arguments(&program, main));
        let hits = match request.provers {
            Provers::Exploration => Vec::new(),
            _ => execution.hits(end.saturating_duration_since(begun) / EXECUTION),
        };
        let is_open = |goal: &GoalId| !hits.iter().any(|hit| hit.goal == *goal);
        let goals: Vec<_> = encoded.system.goals.ids().filter(is_open).collect();
        let search = Search { program: &program, main, encoded: &encoded, goals, request, end };
        let config = ChainConfig { z3: Z3Use::Off, bisection: true, ..ChainConfig::default() };
        let mut solver = standard_chain(&config);
        let (decided, board) = search.run(&mut pool, &mut *solver, cancel);
        let limits = Limits { time: Some(CHECK_TIME), ..interruptible };
        let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
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
        let mut errors = Vec::new();
        let (mut proofs, mut explored) = (Vec::new(), Vec::new());
        for verdict in &decided.verdicts {
            if let Some(proof) = reader.proof(verdict, board.finding(verdict.goal)) {
                let certified = reader.certified(verdict, &proof);
                if certified.is_none() && matches!(proof.answer, ErrorAnswer::Unreachable(_)) {
                    explored.push(proof.function.clone());
                }
                proofs.extend(certified);
                errors.push(proof);
            }
        }
        for hit in hits {
            errors.extend(reader.error(hit.goal, ErrorAnswer::Reached(hit.inputs), "execution"));
        }
        let mut certificates = Certificates::of_proofs(&program, (&encoded, &pool), &proofs);
        let found = proofs.iter().map(|proof| proof.certificate.invariants.as_slice());
        let found: Vec<&[Vec<Term>]> = found.collect();
        let invariants = SourceInvariants::of(&program, (&encoded, &pool), &found);
        for function in explored {
            let why = "all paths were explored, without invariants".to_owned();
            certificates.missing.push((function, why));
        }
        errors.sort_by(|a, b| a.place.cmp(&b.place));
        let inexact = encoded.system.inexact.clone();
        let undefined = undefined(&program.linked.program);
        let is_recursive = !encoded.calls.is_empty();
        let proved = ProvedProgram { linked: program, plain, main, invariants, is_recursive };
        Ok(Self {
            errors,
            inexact,
            encoding_seconds,
            proving_seconds,
            undefined,
            certificates,
            proved: Arc::new(proved),
        })
    }
}

/// The names of the functions that a program leaves undefined.
fn undefined(program: &Program) -> Vec<String> {
    let undefined = program.functions.values().filter(|function| function.body.is_none());
    undefined.map(|function| function.name.clone()).collect()
}

/// A type as C writes it.
fn spelled(types: &CTypes, ty: CTypeId) -> String {
    types.spell(ty, "").trim().to_owned()
}

/// The search for answers by all that take part.
struct Search<'a> {
    program: &'a LinkedProgram,
    main: FuncId,
    encoded: &'a Encoded,
    /// The goals that are looked for.
    goals: Vec<GoalId>,
    request: &'a ProofRequest,
    end: Instant,
}

impl Search<'_> {
    /// The findings of the engines, and the board with what the exploration found.
    fn run(
        &self,
        pool: &mut TermPool,
        solver: &mut dyn Solver,
        cancel: &CancelToken,
    ) -> (Decided, Arc<Board>) {
        let jobs = workers::jobs(self.request.jobs);
        let together = self.request.provers == Provers::Together;
        let board = Arc::new(Board::new(self.goals.len(), together && jobs == 1));
        let decided = thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let watched = board.clone();
            scope.spawn(move || {
                while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    if cancel.is_cancelled() {
                        watched.stop();
                    }
                }
            });
            let explorer = (self.request.provers != Provers::Engines).then(|| {
                let workers = if together { jobs.saturating_sub(1).max(1) } else { jobs };
                let board = board.clone();
                let thread = thread::Builder::new().name("exploration".into()).stack_size(STACK);
                thread.spawn_scoped(scope, move || self.explore(&board, workers))
            });
            let decided = match self.request.provers {
                Provers::Exploration => self.undecided(),
                _ => self.decide(pool, solver, &board),
            };
            board.end_turns();
            let is_open = |one: &Verdict| {
                matches!(one.decision, Decision::Unknown(_)) && !board.has_decided(one.goal)
            };
            if !decided.verdicts.iter().any(is_open) {
                board.exploration().cancel();
            }
            if let Some(Ok(explorer)) = explorer
                && let Err(panic) = explorer.join()
            {
                std::panic::resume_unwind(panic);
            }
            drop(done);
            decided
        });
        (decided, board)
    }

    fn decide(&self, pool: &mut TermPool, solver: &mut dyn Solver, board: &Arc<Board>) -> Decided {
        let interrupt = Some(board.engines().flag().clone());
        let limits = Limits { end: Some(self.end), interrupt, ..Limits::none() };
        let companion = Some(board.clone() as Arc<dyn Companion>);
        let schedule = Schedule { rounds: u32::MAX, limits, companion, ..Schedule::default() };
        let recursive = Recursive { system: &self.encoded.system, calls: &self.encoded.calls };
        decide_recursive(pool, recursive, &self.goals, solver, &schedule)
    }

    /// Verdicts that say nothing.
    fn undecided(&self) -> Decided {
        let why = "the engines were not asked".to_owned();
        let of = |goal| Verdict { goal, decision: Decision::Unknown(why.clone()), engine: "none" };
        let system = &self.encoded.system;
        Decided {
            verdicts: self.goals.iter().copied().map(of).collect(),
            contracts: Contracts::none(system),
            system: system.clone(),
        }
    }

    fn explore(&self, board: &Arc<Board>, workers: usize) {
        let errors = self.goals.iter().filter_map(|goal| match self.encoded.goals[*goal] {
            GoalMeaning::Error { function, call } => Some((*goal, (function, call))),
            _ => None,
        });
        let exploration = ErrorExploration {
            program: self.program,
            main: self.main,
            goals: errors.collect(),
            workers,
        };
        let left = self.end.saturating_duration_since(Instant::now());
        exploration.run(board, &Budget::start(Some(left), board.exploration().clone()));
    }
}

fn encoded(
    pool: &mut TermPool,
    program: &LinkedProgram,
    limits: &Limits,
) -> Result<(Encoded, FuncId), Error> {
    let program = &program.linked.program;
    let main = program.function_named(MAIN).filter(|main| program.functions[*main].body.is_some());
    let main = main.ok_or_else(|| Error::source("no-main", "the program has no `main`"))?;
    let request = EncodeRequest {
        program,
        entry: main,
        whole: true,
        goals: Goals { errors: true, ..Goals::default() },
        semantics: Semantics::default(),
        rules: Rules { uninitialised: UninitialisedRead::AnyValue, allocation_succeeds: true },
        limits: EncodeLimits::default(),
        time: Some(limits),
    };
    let encoded = encode(pool, &request);
    Ok((encoded.map_err(|error| Error::source("encoding", error.to_string()))?, main))
}
