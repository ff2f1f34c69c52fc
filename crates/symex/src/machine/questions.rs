//! Questions to the solver.

use lydian_base::Budget;
use lydian_smt::{Model, Solver};

use crate::limits::Cut;

/// A question that can wait is asked so often with little effort.
pub(crate) const TRIES: u8 = 2;

/// A question in haste has this part of the time of others.
pub(crate) const HASTE: u32 = 4;

/// What a question may take.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Divides the time.
    pub(crate) haste: u32,
    pub(crate) conflicts: Option<u64>,
}

impl Effort {
    pub(crate) const FULL: Self = Self { haste: 1, conflicts: None };
    pub(crate) const HASTE: Self = Self { haste: HASTE, conflicts: None };
    /// For a question in which promises are kept: only what needs no SAT solver. That a label waits for
    /// an input of its own costs less than circuits of all promises, of which most contradict it.
    pub(crate) const KEEPING: Self = Self { haste: HASTE, conflicts: Some(0) };
    /// For what makes a test smaller.
    pub(crate) const WISH: Self = Self { haste: HASTE, conflicts: Some(1000) };

    /// For a question that can wait, after it was asked so often and the solver had no answer.
    pub(crate) const fn after(tries: u8) -> Self {
        match tries {
            0 => Self { haste: HASTE, conflicts: Some(500) },
            1 => Self { haste: HASTE, conflicts: Some(8_000) },
            TRIES.. => Self::FULL,
        }
    }
}

/// What questions are asked with.
pub(crate) struct Questions<'e> {
    pub(crate) solver: &'e mut dyn Solver,
    pub(crate) budget: Budget,
    /// A question was not asked as no time was left for it.
    pub(crate) late: bool,
    /// Gives the values of inputs that the solver leaves open.
    pub(crate) base: Model,
}

/// The answer to a question about a path.
pub(crate) enum Feasible {
    /// Some input of the path is so.
    Yes(Model),
    /// None is.
    No,
    /// Not known, and why.
    Unknown(Cut),
}
