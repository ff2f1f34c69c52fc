//! Decisions about systems with calls of recursive functions.
//!
//! In rounds, walks show what the functions do, contracts are guessed and proved, and the other engines
//! decide goals with them ([`contracts`] has the argument). A run to a goal may have calls that give what
//! their functions do not. Then it shows states from which better contracts are guessed.
//!
//! Contracts that hold stay, so each round's system has fewer runs than the one before, and proofs of
//! earlier rounds are proofs about it.

mod candidates;
pub(crate) mod contracts;
mod induction;
mod reduction;
mod walks;

use std::time::Duration;

use lydian_smt::{Solver, TermPool};

use crate::engines::companion::FoundRun;
use crate::engines::queries::Queries;
use crate::engines::recursion::candidates::{Forms, candidates};
use crate::engines::recursion::contracts::{Contracts, Recursive};
use crate::engines::recursion::induction::inductive;
use crate::engines::recursion::reduction::{Proofs, reduced};
use crate::engines::recursion::walks::{Opinion, Walks};
use crate::engines::schedule::{Decision, Schedule, Verdict, decide};
use crate::engines::trace::{Course, Trace};
use crate::system::{GoalId, System};

/// The runs that are walked in a round.
const RUNS: usize = 40;
/// The share of a round for the search of contracts, in times of an engine.
const SEARCH: u32 = 10;
/// The rounds of the engines in the first round.
const FIRST_ROUNDS: u32 = 2;
/// The rounds after which a run is taken of which walks cannot say that it is the program's.
const DOUBTFUL_ROUNDS: u32 = 2;

/// The decisions about a system with calls of recursive functions.
#[derive(Debug)]
pub struct Decided {
    /// The decision about each goal, in their order. Those by proof are about `system`.
    pub verdicts: Vec<Verdict>,
    /// The contracts that were found.
    pub contracts: Contracts,
    /// The system with the contracts.
    pub system: System,
}

/// Decides goals of a system with calls of recursive functions. Runs that reach a goal are runs of the
/// system with the contracts, and not surely of the program.
pub fn decide_recursive(
    pool: &mut TermPool,
    recursive: Recursive<'_>,
    goals: &[GoalId],
    solver: &mut dyn Solver,
    schedule: &Schedule<'_>,
) -> Decided {
    if recursive.calls.is_empty() {
        let (contracts, system) = (Contracts::none(recursive.system), recursive.system.clone());
        return Decided {
            verdicts: decide(pool, &system, goals, solver, schedule),
            contracts,
            system,
        };
    }
    let mut work = Work {
        recursive,
        schedule,
        walks: Walks::new(pool, recursive),
        contracts: Contracts::none(recursive.system),
        verdicts: vec![None; goals.len()],
        doubtful: vec![None; goals.len()],
    };
    let (mut share, mut round) = (schedule.first, 0);
    loop {
        work.walk(pool, (goals, solver), (share.saturating_mul(SEARCH), round));
        work.find_contracts(pool, solver, share.saturating_mul(SEARCH), round);
        work.ask(pool, (goals, solver), (share, round));
        round += 1;
        share = share.saturating_mul(schedule.growth);
        if work.is_over(round) || schedule.limits.expired() || round >= schedule.rounds {
            break;
        }
    }
    work.decided(pool, goals, solver)
}

/// A run with the values of all inputs: those that calls read are in no condition.
fn whole_trace(
    pool: &mut TermPool,
    recursive: Recursive<'_>,
    run: &Course,
    goal: GoalId,
) -> Option<Trace> {
    let mut trace = run.replayed(pool, recursive.system, goal)?;
    for (step, own) in trace.steps.iter_mut().zip(&run.steps) {
        let replayed = step.values.iter().map(|(symbol, value)| (symbol, value.clone()));
        step.values = own.values.with(replayed);
    }
    Some(trace)
}

struct Work<'s, 'c> {
    recursive: Recursive<'s>,
    schedule: &'c Schedule<'c>,
    walks: Walks<'s>,
    contracts: Contracts,
    verdicts: Vec<Option<Verdict>>,
    /// Runs of which no walk could say that they are the program's.
    doubtful: Vec<Option<Verdict>>,
}

impl Work<'_, '_> {
    /// Whether each goal is decided, or has a run of which walks cannot say more.
    fn is_over(&self, round: u32) -> bool {
        let mut all = self.verdicts.iter().zip(&self.doubtful);
        all.all(|(verdict, doubtful)| {
            verdict.is_some() || (round >= DOUBTFUL_ROUNDS && doubtful.is_some())
        })
    }

    /// Walks, and notes the goals that walks reach.
    fn walk(
        &mut self,
        pool: &mut TermPool,
        (goals, solver): (&[GoalId], &mut dyn Solver),
        (time, round): (Duration, u32),
    ) {
        let mut queries = Queries::new(pool, solver, &self.schedule.limits, self.schedule.query);
        let runs = RUNS * (round as usize + 1);
        self.walks.run(&queries.within(time), runs, time);
        for (goal, verdict) in goals.iter().zip(&mut self.verdicts) {
            let course = self.walks.run_to(*goal).filter(|_| verdict.is_none());
            let trace = course.and_then(|run| whole_trace(pool, self.recursive, run, *goal));
            if let Some(trace) = trace {
                let run = FoundRun { goal: *goal, trace: &trace, engine: "sampling" };
                let companion = self.schedule.companion.as_ref();
                if companion.is_some_and(|companion| !companion.take_run(pool, run)) {
                    continue;
                }
                let decision = Decision::Reached(trace);
                *verdict = Some(Verdict { goal: *goal, decision, engine: "sampling" });
            }
        }
    }

    fn find_contracts(
        &mut self,
        pool: &mut TermPool,
        solver: &mut dyn Solver,
        time: Duration,
        round: u32,
    ) {
        if self.verdicts.iter().all(Option::is_some) || self.schedule.limits.expired() {
            return;
        }
        let mut queries = Queries::new(pool, solver, &self.schedule.limits, self.schedule.query);
        let forms = match round {
            0 => Forms::Equations,
            1 => Forms::Bounds,
            _ => Forms::Products,
        };
        let mut queries = queries.within(time);
        let guesses = candidates(queries.pool, self.recursive, &self.walks, forms);
        let known = &self.contracts.invariants;
        let found = inductive(&mut queries, self.recursive, known, guesses);
        if found.hold {
            self.contracts.extend(found.candidates);
        }
    }

    /// Asks the engines about the goals that are not decided.
    fn ask(
        &mut self,
        pool: &mut TermPool,
        (goals, solver): (&[GoalId], &mut dyn Solver),
        (share, round): (Duration, u32),
    ) {
        if self.schedule.limits.expired() {
            return;
        }
        let system = self.contracts.close(pool, self.recursive);
        let open: Vec<usize> = (0..goals.len()).filter(|at| self.verdicts[*at].is_none()).collect();
        let asked: Vec<GoalId> = open.iter().map(|at| goals[*at]).collect();
        let schedule = Schedule {
            rounds: FIRST_ROUNDS.saturating_add(round),
            first: share,
            ..self.schedule.clone()
        };
        let verdicts = decide(pool, &system, &asked, solver, &schedule);
        for (at, verdict) in open.into_iter().zip(verdicts) {
            match &verdict.decision {
                Decision::Unreachable(_) => self.verdicts[at] = Some(verdict),
                Decision::Reached(trace) => match self.walks.opinion(pool, verdict.goal, trace) {
                    Opinion::Confirmed => self.verdicts[at] = Some(verdict),
                    Opinion::Open => self.doubtful[at] = Some(verdict),
                    Opinion::Refuted => {}
                },
                Decision::Unknown(_) => {}
            }
        }
    }

    fn decided(self, pool: &mut TermPool, goals: &[GoalId], solver: &mut dyn Solver) -> Decided {
        let (recursive, limits) = (self.recursive, &self.schedule.limits);
        let proofs = Proofs { recursive, verdicts: &self.verdicts, limits };
        let contracts = reduced(pool, solver, proofs, self.contracts);
        let is_late = self.schedule.limits.expired();
        let verdicts = self.verdicts.into_iter().zip(self.doubtful).zip(goals);
        let verdicts = verdicts
            .map(|((verdict, doubtful), goal)| {
                verdict.or(doubtful).unwrap_or_else(|| Verdict::open(*goal, is_late))
            })
            .collect();
        let system = contracts.close(pool, recursive);
        Decided { verdicts, contracts, system }
    }
}
