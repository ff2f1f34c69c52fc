//! Proofs about a whole program: whether any input leads to a call of an error function.
//!
//! A program is encoded as a transition system, and the engines of `lydian-prove` decide its goals. An
//! answer "reached" counts only if the interpreter, given the inputs of the run that was found, gets to
//! the same call. An answer "unreachable" of these engines has a certificate, whose conditions were
//! checked by queries of their own.
//!
//! The exploration of `lydian-symex` works on the same goals at the same time ([`exploration`]), and
//! decides those at which all paths come to an end. The two share the time ([`board`]).

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lydian_base::{Budget, CancelToken};
use lydian_ir::{FuncId, Program};
use lydian_prove::Semantics;
use lydian_prove::encode::{Encoded, GoalMeaning, Goals};
use lydian_prove::engines::Recursive;
use lydian_prove::system::GoalId;
use lydian_smt::{Limits, Term, TermPool, standard_chain};
use serde::Serialize;

use crate::certificates::Certificates;
use crate::error::Error;
use crate::events::Observer;
use crate::project::linked::{LinkRequest, LinkedProgram};
use answers::{AnswerReader, ProvedText, arguments};
pub(crate) use answers::{external, run_of};
use board::{Board, Finding};
pub(crate) use confirmation::confirm;
use execution::{Execution, Hit};
use exploration::ErrorExploration;
pub(crate) use exploration::error_label;
pub use invariants::PointInvariants;
use kept_answers::{AnswerStore, KeptAnswers};
pub use native_tests::NativeTest;
pub use objectives::{ObjectiveProof, ObjectiveProofRequest, ObjectiveProofs};
use overflow::OverflowingRun;
use search::{CHECK_TIME, Search, alternates, chain, encode_whole};
use source_invariants::SourceInvariants;
pub(crate) use verdicts::MAIN;
pub use verdicts::{Argument, ErrorAnswer, ErrorProof, InputValue, Provers};

mod answers;
mod board;
mod confirmation;
mod execution;
mod exploration;
pub(crate) mod invariants;
mod kept_answers;
mod native_tests;
mod objectives;
mod overflow;
mod search;
pub(crate) mod source_invariants;
pub(crate) mod verdicts;

/// The name of runs of the program itself among the engines.
const RUN: &str = "execution";
/// The part of the time for runs of the program itself, before everything else.
const EXECUTION: u32 = 10;
/// The part of the time for the one run of a program without inputs, beside the engines.
const WHOLE_RUN: u32 = 2;

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
    /// Whether certificates are wanted, or what other tools take: witnesses, and the program with its
    /// invariants as C. Without it these have no invariants. With it the engines look for arguments of
    /// what the exploration has proved, too.
    pub certify: bool,
    /// The ledger that keeps the answers for later runs, if there is one.
    pub ledger: Option<PathBuf>,
    /// Whether answers of earlier runs in the ledger do not count.
    pub again: bool,
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
    /// Whether the answers are those of an earlier run, in the ledger.
    pub taken_over: bool,
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
        let program = LinkedProgram::load_needed(&request.program, observer)?;
        Self::of_linked(program, request, cancel)
    }

    /// The same of a program that is linked already.
    pub(crate) fn of_linked(
        mut program: LinkedProgram,
        request: &ProofRequest,
        cancel: &CancelToken,
    ) -> Result<Self, Error> {
        let end = Instant::now() + request.time;
        let plain = program.linked.program.clone();
        let store = AnswerStore::of(&program, request);
        if let Some(kept) = store.as_ref().map_or(Ok(None), AnswerStore::known)? {
            return Self::taken_over((program, plain), kept);
        }
        lydian_ir::beginnings::make_inputs(&mut program.linked.program);
        let begun = Instant::now();
        let mut pool = TermPool::new();
        let interruptible = Limits { interrupt: Some(cancel.flag().clone()), ..Limits::none() };
        let (mut encoded, main) = encoded(&mut pool, &program, &interruptible)?;
        let encoding_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut execution =
            Execution::new(&program, &encoded, arguments(&program.linked.program, main));
        let hits = match request.provers {
            Provers::Exploration => Vec::new(),
            _ => execution.hits(end.saturating_duration_since(begun) / EXECUTION),
        };
        let is_open = |goal: &GoalId| !hits.iter().any(|hit| hit.goal == *goal);
        let goals: Vec<_> = encoded.system.goals.ids().filter(is_open).collect();
        let board = Board::new(goals.len(), alternates(request.provers, request.jobs));
        let board = Arc::new(board.certifying(request.certify));
        let whole_run = execution.is_single().then_some(&execution);
        let explore = |workers: usize| {
            if let Some(hit) = whole_run.and_then(|execution| run_whole(execution, &board, end)) {
                board.note(hit.goal, Finding::Reached(hit.inputs, RUN));
            }
            explore((&program, main), (&encoded, &goals), (&board, end), workers);
        };
        let search = Search {
            encoded: &encoded,
            goals: &goals,
            groups: Vec::new(),
            provers: request.provers,
            jobs: request.jobs,
            end,
            companion: board.clone(),
            explore: &explore,
        };
        let mut solver = standard_chain(&chain());
        let decided = search.run(&mut pool, &mut *solver, &board, cancel);
        drop(search);
        let limits = Limits { time: Some(CHECK_TIME), ..interruptible };
        let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
        let contracts = decided.contracts.check(&mut pool, recursive, &mut *solver, &limits);
        encoded.system = decided.system;
        let proving_seconds = begun.elapsed().as_secs_f64();
        let mut reader = AnswerReader {
            text: ProvedText::of(&program),
            main,
            encoded: &encoded,
            pool: &mut pool,
            solver: &mut *solver,
            limits,
            contracts: &decided.contracts,
            flaw: contracts.err(),
            shown: RefCell::default(),
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
            errors.extend(reader.error(hit.goal, ErrorAnswer::Reached(hit.inputs), RUN));
        }
        if !program.wraps_on_overflow
            && judge_overflow(&program, main, &mut errors, (begun, end), cancel)
        {
            proofs.clear();
            explored.clear();
        }
        let (mut certificates, mut invariants) = Default::default();
        if request.certify {
            let of = (&encoded, &pool);
            certificates = Certificates::of_proofs(&program, of, &decided.contracts, &proofs);
            let found = proofs.iter().map(|proof| proof.certificate.invariants.as_slice());
            let found: Vec<&[Vec<Term>]> = found.collect();
            invariants = SourceInvariants::of(&program, of, &found);
        }
        for function in explored {
            let why =
                "all paths were explored, and no engine had an argument in the time".to_owned();
            certificates.missing.push((function, why));
        }
        errors.sort_by(|a, b| a.place.cmp(&b.place));
        let inexact = encoded.system.inexact.clone();
        if let Some(store) = store.filter(|_| !cancel.is_cancelled()) {
            store.keep(&errors, &inexact)?;
        }
        let undefined = undefined(&program.linked.program);
        let is_recursive = !encoded.calls.is_empty();
        let proved = ProvedProgram { linked: program, plain, main, invariants, is_recursive };
        Ok(Self {
            errors,
            inexact,
            encoding_seconds,
            proving_seconds,
            taken_over: false,
            undefined,
            certificates,
            proved: Arc::new(proved),
        })
    }

    /// The answers of an earlier run about the same program.
    fn taken_over(
        (mut program, plain): (LinkedProgram, Program),
        kept: KeptAnswers,
    ) -> Result<Self, Error> {
        lydian_ir::beginnings::make_inputs(&mut program.linked.program);
        let main = main_of(&program.linked.program)?;
        let undefined = undefined(&program.linked.program);
        let (invariants, is_recursive) = (SourceInvariants::default(), false);
        let proved = ProvedProgram { linked: program, plain, main, invariants, is_recursive };
        Ok(Self {
            inexact: kept.inexact.clone(),
            errors: kept.errors(),
            encoding_seconds: 0.0,
            proving_seconds: 0.0,
            taken_over: true,
            undefined,
            certificates: Certificates::default(),
            proved: Arc::new(proved),
        })
    }
}

/// The names of the functions that a program leaves undefined.
fn undefined(program: &Program) -> Vec<String> {
    let undefined = program.functions.values().filter(|function| function.body.is_none());
    undefined.map(|function| function.name.clone()).collect()
}

/// Says where answers rest on signed overflow that wraps. Whether a run overflows, so that nothing is
/// unreachable.
fn judge_overflow(
    program: &LinkedProgram,
    main: FuncId,
    errors: &mut [ErrorProof],
    (begun, end): (Instant, Instant),
    cancel: &CancelToken,
) -> bool {
    for error in &mut *errors {
        if let ErrorAnswer::Reached(inputs) = &error.answer {
            error.overflow = overflow::overflow_before(program, main, (error, inputs));
        }
    }
    if !errors.iter().any(|error| matches!(error.answer, ErrorAnswer::Unreachable(_))) {
        return false;
    }
    let until = overflow::search_end(begun, end);
    let Some(run) = OverflowingRun::find(program, main, until, cancel) else { return false };
    let sentence = run.sentence(program);
    errors.iter_mut().for_each(|error| overflow::take_back(error, &sentence));
    true
}

/// Follows the program's one run for a part of the time, in turns with the engines.
fn run_whole(execution: &Execution<'_>, board: &Board, end: Instant) -> Option<Hit> {
    let left = end.saturating_duration_since(Instant::now());
    let end = Instant::now() + left / WHOLE_RUN;
    execution.whole_run(&mut || {
        board.await_exploration();
        board.exploration().is_cancelled() || Instant::now() >= end
    })
}

/// Explores a program for error calls.
fn explore(
    (program, main): (&LinkedProgram, FuncId),
    (encoded, goals): (&Encoded, &[GoalId]),
    (board, end): (&Arc<Board>, Instant),
    workers: usize,
) {
    let errors = goals.iter().filter_map(|goal| match encoded.goals[*goal] {
        GoalMeaning::Error { function, call } => Some((*goal, (function, call))),
        _ => None,
    });
    let exploration = ErrorExploration { program, main, goals: errors.collect(), workers };
    let left = end.saturating_duration_since(Instant::now());
    exploration.run(board, &Budget::start(Some(left), board.exploration().clone()));
}

/// The function where runs begin.
fn main_of(program: &Program) -> Result<FuncId, Error> {
    let main = program.function_named(MAIN).filter(|main| program.functions[*main].body.is_some());
    main.ok_or_else(|| Error::source("no-main", "the program has no `main`"))
}

fn encoded(
    pool: &mut TermPool,
    program: &LinkedProgram,
    limits: &Limits,
) -> Result<(Encoded, FuncId), Error> {
    let program = &program.linked.program;
    let main = main_of(program)?;
    let goals = Goals { errors: true, ..Goals::default() };
    let encoded = encode_whole(pool, (program, main), goals, (Semantics::default(), limits))?;
    Ok((encoded, main))
}
