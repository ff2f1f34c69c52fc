//! Stub.

use lydian_smt::TermPool;

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::trace::Course;
use crate::system::{GoalId, System};

/// The result of some work on a goal.
pub(crate) enum Outcome {
    /// This run reaches it.
    Reached(Course),
    /// These formulas, with the invariants, are inductive and exclude it.
    Unreachable(Invariants),
    /// Neither yet.
    Open,
}

pub(crate) struct Refinement<'s> {
    system: &'s System,
}

impl<'s> Refinement<'s> {
    pub(crate) fn new(_pool: &mut TermPool, system: &'s System) -> Self {
        Self { system }
    }

    pub(crate) fn work(
        &mut self,
        _queries: &mut Queries<'_>,
        _goal: GoalId,
        _invariants: &Invariants,
    ) -> Outcome {
        let _ = self.system;
        Outcome::Open
    }
}
