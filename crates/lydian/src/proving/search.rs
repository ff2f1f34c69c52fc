//! The search for answers by all that take part: the engines on this thread, the exploration on others.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_ir::{FuncId, Program};
use lydian_prove::Semantics;
use lydian_prove::encode::{
    EncodeLimits, EncodeRequest, Encoded, Goals, Rules, UninitialisedRead, encode,
};
use lydian_prove::engines::{
    Companion, Contracts, Decided, Decision, Recursive, Schedule, Verdict, decide_recursive,
};
use lydian_prove::system::GoalId;
use lydian_smt::{ChainConfig, Limits, Solver, TermPool, Z3Use};

use super::board::Board;
use super::verdicts::Provers;
use crate::error::Error;
use crate::generation::workers;

/// The time of each question that checks an argument.
pub(super) const CHECK_TIME: Duration = Duration::from_secs(10);
/// How often it is looked whether the user asked to stop.
const LOOK: Duration = Duration::from_millis(10);
/// The bytes of a thread's stack. Recursive functions walk through terms and expressions.
const STACK: usize = 64 << 20;

/// The rounds in which all goals are asked for together, before groups of them are.
const ROUNDS_OF_ALL: u32 = 3;
/// The rounds in which the goals of a group are asked for before those of the next one.
const ROUNDS_OF_A_GROUP: u32 = 2;

/// The options of the engines' solvers.
pub(super) fn chain() -> ChainConfig {
    ChainConfig { z3: Z3Use::Off, bisection: true, ..ChainConfig::default() }
}

/// Takes the verdicts of a later search that decide something, or have a better reason why not.
fn take(decided: &mut Decided, found: Decided) {
    for new in found.verdicts {
        let known = decided.verdicts.iter_mut().find(|known| known.goal == new.goal);
        if let Some(known) = known.filter(|known| matches!(known.decision, Decision::Unknown(_))) {
            *known = new;
        }
    }
}

/// Encodes a program from its beginning, by the rules of verification tasks.
pub(super) fn encode_whole(
    pool: &mut TermPool,
    (program, entry): (&Program, FuncId),
    goals: Goals<'_>,
    (semantics, limits): (Semantics, &Limits),
) -> Result<Encoded, Error> {
    let request = EncodeRequest {
        program,
        entry,
        whole: true,
        goals,
        semantics,
        rules: Rules { uninitialised: UninitialisedRead::AnyValue, allocation_succeeds: true },
        limits: EncodeLimits::default(),
        time: Some(limits),
    };
    let encoded = encode(pool, &request);
    encoded.map_err(|error| Error::source("encoding", error.to_string()))
}

/// Whether the engines and the exploration have one thread together.
pub(super) fn alternates(provers: Provers, jobs: Option<NonZeroUsize>) -> bool {
    provers == Provers::Together && workers::jobs(jobs) == 1
}

/// The goals of a system, and the parties that look for answers.
pub(super) struct Search<'a> {
    pub(super) encoded: &'a Encoded,
    /// The goals that are looked for.
    pub(super) goals: &'a [GoalId],
    /// Goals that are asked for together where all at once are too many; none where that is never so.
    pub(super) groups: Vec<Vec<GoalId>>,
    pub(super) provers: Provers,
    pub(super) jobs: Option<NonZeroUsize>,
    pub(super) end: Instant,
    /// The findings of the exploration as the engines see them.
    pub(super) companion: Arc<dyn Companion + 'a>,
    /// Explores with so many workers.
    pub(super) explore: &'a (dyn Fn(usize) + Sync),
}

impl Search<'_> {
    /// The findings of the engines. What the exploration finds is on the board.
    pub(super) fn run<K: Copy + Ord + Send>(
        &self,
        pool: &mut TermPool,
        solver: &mut dyn Solver,
        board: &Arc<Board<K>>,
        cancel: &CancelToken,
    ) -> Decided {
        let jobs = workers::jobs(self.jobs);
        let together = self.provers == Provers::Together;
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            scope.spawn(move || {
                while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    if cancel.is_cancelled() {
                        board.stop();
                    }
                }
            });
            let explorer = (self.provers != Provers::Engines).then(|| {
                let workers = if together { jobs.saturating_sub(1).max(1) } else { jobs };
                let thread = thread::Builder::new().name("exploration".into()).stack_size(STACK);
                thread.spawn_scoped(scope, move || (self.explore)(workers))
            });
            let decided = match self.provers {
                Provers::Exploration => self.undecided(),
                _ => self.decide(pool, solver, board.engines()),
            };
            board.end_turns();
            if !self.is_open(&decided) {
                board.exploration().cancel();
            }
            if let Some(Ok(explorer)) = explorer
                && let Err(panic) = explorer.join()
            {
                std::panic::resume_unwind(panic);
            }
            drop(done);
            decided
        })
    }

    fn decide(
        &self,
        pool: &mut TermPool,
        solver: &mut dyn Solver,
        engines: &CancelToken,
    ) -> Decided {
        let limits = Limits {
            end: Some(self.end),
            interrupt: Some(engines.flag().clone()),
            ..Limits::none()
        };
        let companion = Some(self.companion.clone());
        let schedule = Schedule { limits, companion, ..Schedule::default() };
        let recursive = Recursive { system: &self.encoded.system, calls: &self.encoded.calls };
        if self.groups.len() < 2 || !self.encoded.calls.is_empty() {
            let schedule = Schedule { rounds: u32::MAX, ..schedule };
            return decide_recursive(pool, recursive, self.goals, solver, &schedule);
        }
        let first = Schedule { rounds: ROUNDS_OF_ALL, ..schedule.clone() };
        let mut decided = decide_recursive(pool, recursive, self.goals, solver, &first);
        let mut schedule = Schedule { rounds: ROUNDS_OF_A_GROUP, ..schedule };
        while !schedule.limits.expired() && self.is_open(&decided) {
            for group in &self.groups {
                let open = self.open_of(&decided, group.clone());
                if open.is_empty() || schedule.limits.expired() {
                    continue;
                }
                let found = decide_recursive(pool, recursive, &open, solver, &schedule);
                take(&mut decided, found);
            }
            schedule.first = schedule.first.saturating_mul(schedule.growth);
        }
        decided
    }

    /// Whether some goal is not decided by anybody.
    fn is_open(&self, decided: &Decided) -> bool {
        decided.verdicts.iter().any(|one| {
            matches!(one.decision, Decision::Unknown(_)) && !self.companion.has_decided(one.goal)
        })
    }

    /// The goals among some that are not decided by anybody.
    fn open_of(&self, decided: &Decided, mut goals: Vec<GoalId>) -> Vec<GoalId> {
        let of_engines = |goal: GoalId| {
            let mut all = decided.verdicts.iter();
            all.any(|one| one.goal == goal && !matches!(one.decision, Decision::Unknown(_)))
        };
        goals.retain(|goal| !of_engines(*goal) && !self.companion.has_decided(*goal));
        goals
    }

    /// Verdicts that say nothing.
    fn undecided(&self) -> Decided {
        let of = |goal| Verdict::unknown(goal, "the engines were not asked");
        let system = &self.encoded.system;
        Decided {
            verdicts: self.goals.iter().copied().map(of).collect(),
            contracts: Contracts::none(system),
            system: system.clone(),
        }
    }
}
