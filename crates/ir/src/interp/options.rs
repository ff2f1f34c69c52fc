//! Options of a run: its limits, and its behaviour where C leaves it open.

use crate::program::arith::Overflow;

/// The effect of a use of a value that was never written: of a test, an address, a divisor, an argument,
/// a result or output that depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum UninitialisedUse {
    /// It is noted in the outcome, the first one with its place; the value is zero.
    #[default]
    Note,
    /// It ends the run with [`crate::TrapKind::Uninitialised`].
    Trap,
}

/// The limits of a run, and its behaviour where C leaves it open.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The behaviour of signed operators on overflow.
    pub overflow: Overflow,
    /// The effect of a use of a value that was never written.
    pub uninitialised: UninitialisedUse,
    /// How many statements and terminators may run.
    pub max_steps: u64,
    /// How many calls may be open at once.
    pub max_depth: u32,
    /// How many bytes the heap and the stack may have together.
    pub max_memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            overflow: Overflow::Wrap,
            uninitialised: UninitialisedUse::Note,
            max_steps: 10_000_000,
            max_depth: 1000,
            max_memory: 256 << 20,
        }
    }
}
