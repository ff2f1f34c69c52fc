//! The findings about objectives as the engines see them, who ask about goals of the system.
//!
//! A run that an engine finds is followed by the interpreter at once. So all objectives that it covers are
//! decided, and a run that is none of the program's ends the search for nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lydian_base::EntityId as _;
use lydian_ir::FuncId;
use lydian_prove::encode::Encoded;
use lydian_prove::engines::{Companion, FoundRun};
use lydian_prove::system::GoalId;
use lydian_smt::TermPool;

use super::super::answers::{ProvedText, RunReader, run_of};
use super::super::board::{Board, Finding};
use super::asked::{AskedObjectives, Conjunctions};
use super::coverage::CoverageJudge;

/// The steps in which a run that an engine found gets to its goal, but for few, which are followed at the
/// end.
const FEW_STEPS: u64 = 1 << 15;

/// What runs of the engines are followed with.
#[derive(Clone, Copy)]
pub(super) struct RunJudging<'a> {
    pub(super) encoded: &'a Encoded,
    pub(super) text: ProvedText<'a>,
    pub(super) entry: FuncId,
    pub(super) asked: &'a AskedObjectives<'a>,
}

/// A goal is decided where all objectives that it is part of are.
pub(super) struct ObjectiveCompanion<'a> {
    board: Arc<Board<usize>>,
    /// By goal: the objectives that it is part of.
    part_of: Vec<Vec<usize>>,
    begun: Instant,
    /// When the engines decided goals.
    decided: Mutex<BTreeMap<GoalId, Duration>>,
    judging: RunJudging<'a>,
    judge: Mutex<CoverageJudge<'a>>,
}

impl fmt::Debug for ObjectiveCompanion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectiveCompanion").field("board", &self.board).finish_non_exhaustive()
    }
}

impl<'a> ObjectiveCompanion<'a> {
    /// For the goals of a system, whose objectives have these parts.
    pub(super) fn new(
        board: Arc<Board<usize>>,
        parts: &[Conjunctions],
        judging: RunJudging<'a>,
    ) -> Self {
        let mut part_of = vec![Vec::new(); judging.encoded.goals.len()];
        for (objective, conjunctions) in parts.iter().enumerate() {
            for goal in conjunctions.iter().flatten().flatten() {
                part_of[goal.index()].push(objective);
            }
        }
        let judge = Mutex::new(CoverageJudge::new(judging.text.program, judging.asked));
        let (begun, decided) = (Instant::now(), Mutex::default());
        Self { board, part_of, begun, decided, judging, judge }
    }

    /// When an objective was decided, in seconds.
    pub(super) fn seconds(&self, objective: usize, parts: &[Conjunctions]) -> Option<f64> {
        if self.board.decides(objective) {
            return self.board.found_after(objective).map(|after| after.as_secs_f64());
        }
        let decided = lock(&self.decided);
        let goals = parts[objective].iter().flatten().flatten();
        goals.filter_map(|goal| decided.get(goal)).max().map(Duration::as_secs_f64)
    }
}

impl Companion for ObjectiveCompanion<'_> {
    fn has_decided(&self, goal: GoalId) -> bool {
        self.part_of[goal.index()].iter().all(|objective| self.board.relieves_engines(*objective))
    }

    fn take_turn(&self, share: Duration) {
        self.board.give_turn(share);
    }

    fn take_run(&self, pool: &TermPool, run: FoundRun<'_>) -> bool {
        let RunJudging { encoded, text, entry, asked } = self.judging;
        let own = &self.part_of[run.goal.index()];
        let is_open = |one: &usize| asked.is_simple(*one) && !self.board.decides(*one);
        let claimed: Vec<usize> = own.iter().copied().filter(is_open).collect();
        if claimed.is_empty() {
            return true;
        }
        let reader = RunReader { encoded, types: &text.program.types, pool };
        let inputs = reader.inputs(run.goal, run.trace);
        let test = run_of(text.program, entry, &inputs);
        let Ok(covered) = lock(&self.judge).covered(&test, &claimed, FEW_STEPS) else {
            return false;
        };
        for objective in &covered {
            self.board.note(*objective, Finding::Reached(inputs.clone(), run.engine));
        }
        claimed.iter().any(|one| covered.contains(one))
    }

    fn note_decided(&self, goal: GoalId) {
        lock(&self.decided).entry(goal).or_insert_with(|| self.begun.elapsed());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
