//! The findings about objectives as the engines see them, who ask about goals of the system.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lydian_base::EntityId as _;
use lydian_prove::engines::Companion;
use lydian_prove::system::GoalId;

use super::super::board::Board;
use super::asked::Conjunctions;

/// A goal is decided where all objectives that it is part of are.
#[derive(Debug)]
pub(super) struct ObjectiveCompanion {
    board: Arc<Board<usize>>,
    /// By goal: the objectives that it is part of.
    part_of: Vec<Vec<usize>>,
    begun: Instant,
    /// When the engines decided goals.
    decided: Mutex<BTreeMap<GoalId, Duration>>,
}

impl ObjectiveCompanion {
    /// For the goals of a system, whose objectives have these parts.
    pub(super) fn new(board: Arc<Board<usize>>, parts: &[Conjunctions], goals: usize) -> Self {
        let mut part_of = vec![Vec::new(); goals];
        for (objective, conjunctions) in parts.iter().enumerate() {
            for goal in conjunctions.iter().flatten().flatten() {
                part_of[goal.index()].push(objective);
            }
        }
        Self { board, part_of, begun: Instant::now(), decided: Mutex::default() }
    }

    /// When an objective was decided, in seconds.
    pub(super) fn seconds(&self, objective: usize, parts: &[Conjunctions]) -> Option<f64> {
        if self.board.decides(objective) {
            return self.board.found_after(objective).map(|after| after.as_secs_f64());
        }
        let decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let goals = parts[objective].iter().flatten().flatten();
        goals.filter_map(|goal| decided.get(goal)).max().map(Duration::as_secs_f64)
    }
}

impl Companion for ObjectiveCompanion {
    fn has_decided(&self, goal: GoalId) -> bool {
        self.part_of[goal.index()].iter().all(|objective| self.board.relieves_engines(*objective))
    }

    fn take_turn(&self, share: Duration) {
        self.board.give_turn(share);
    }

    fn note_decided(&self, goal: GoalId) {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        decided.entry(goal).or_insert_with(|| self.begun.elapsed());
    }
}
