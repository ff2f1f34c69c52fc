//! Questions to the solver.

use std::time::{Duration, Instant};

use lydian_base::{Budget, StopReason};
use lydian_smt::{Limits, Model, Solver};

use crate::limits::Cut;

/// How often a question that can wait is asked with little effort.
pub(crate) const TRIES: u8 = 2;

/// The part of the time of other questions that a question in haste has, as a divisor.
pub(crate) const HASTE: u32 = 4;

/// The limits of a question.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// The divisor of the time limit.
    pub(crate) haste: u32,
    pub(crate) conflicts: Option<u64>,
}

impl Effort {
    pub(crate) const FULL: Self = Self { haste: 1, conflicts: None };
    pub(crate) const HASTE: Self = Self { haste: HASTE, conflicts: None };
    /// For a question that keeps promises: it is only answered without a SAT solver. Waiting for an
    /// input of its own costs less than translating all promises, most of which contradict the
    /// label.
    pub(crate) const KEEPING: Self = Self { haste: HASTE, conflicts: Some(0) };
    /// For wishes that make a test smaller.
    pub(crate) const WISH: Self = Self { haste: HASTE, conflicts: Some(1000) };

    /// For a question that can wait, after it was asked `tries` times without an answer.
    pub(crate) const fn after(tries: u8) -> Self {
        match tries {
            0 => Self { haste: HASTE, conflicts: Some(500) },
            1 => Self { haste: HASTE, conflicts: Some(8_000) },
            TRIES.. => Self::FULL,
        }
    }
}

/// The solver with its limits and defaults.
pub(crate) struct Questions<'e> {
    pub(crate) solver: &'e mut dyn Solver,
    pub(crate) budget: Budget,
    /// Whether a question was not asked because no time was left for it.
    pub(crate) late: bool,
    /// The values of inputs that the solver leaves open.
    pub(crate) base: Model,
}

impl<'e> Questions<'e> {
    /// Questions to a solver within a budget, where inputs that the solver leaves open have the
    /// values of `base`.
    pub(crate) fn new(solver: &'e mut dyn Solver, budget: &Budget, base: Model) -> Self {
        Self { solver, budget: budget.clone(), late: false, base }
    }

    /// The remaining time before a question is asked; `None` where time is not limited. An error is
    /// the reason to stop instead: no time is left, or the exploration is cancelled.
    pub(crate) fn remaining(&mut self) -> Result<Option<Duration>, StopReason> {
        let remaining = self.budget.remaining();
        let is_over = remaining.is_some_and(|left| left.is_zero());
        if !is_over && !self.budget.cancel_token().is_cancelled() {
            return Ok(remaining);
        }
        self.late = true;
        Err(self.budget.exceeded().unwrap_or(StopReason::Cancelled))
    }

    /// The solver's limits for a question that begins at `begun` with this
    /// [`remaining`](Self::remaining) time. `query_time` is the time of one question with full
    /// effort.
    pub(crate) fn limits(
        &self,
        begun: Instant,
        remaining: Option<Duration>,
        query_time: Option<Duration>,
        effort: Effort,
    ) -> Limits {
        let query_time = query_time.map(|time| time / effort.haste);
        let time = match (query_time, remaining) {
            (Some(query), Some(remaining)) => Some(query.min(remaining)),
            (query, remaining) => query.or(remaining),
        };
        let interrupt = Some(self.budget.cancel_token().flag().clone());
        let end = remaining.map(|left| begun + left);
        Limits { time, end, interrupt, conflicts: effort.conflicts, ..Limits::none() }
    }
}

/// The answer to a question about a path.
pub(crate) enum Feasible {
    /// Some input of the path satisfies it.
    Yes(Model),
    /// No input does.
    No,
    /// The answer is not known, for this reason.
    Unknown(Cut),
}
