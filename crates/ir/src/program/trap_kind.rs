//! The kinds of undefined behaviour, and of other faults, that end a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why the program under test cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrapKind {
    /// A place that the compiler was promised is never reached (`__builtin_unreachable`).
    Unreachable,
    /// `__builtin_trap`.
    Trap,
    /// Control left a function with a result without giving one, and the result is used.
    MissingReturn,
    /// Division or remainder by zero.
    DivisionByZero,
    /// The least number divided by -1, or any signed overflow where that is checked.
    SignedOverflow,
    /// A shift by a negative amount or by the width or more.
    ShiftRange,
    /// A float whose integer part does not fit the integer type.
    FloatToInt,
    /// A null pointer (or one near it) used to reach memory.
    NullDereference,
    /// Memory outside of every live object, or an object whose lifetime has ended.
    OutOfBounds,
    /// A write to memory that C or the loader protects (a string literal, a const global).
    ReadOnly,
    /// A call through a pointer that is no function, or of another type.
    BadCall,
    /// `free` of what was not allocated, or twice.
    BadFree,
    /// Memory that was freed, or a local whose scope or function was left.
    UseAfterFree,
    /// A branch, address, divisor or output that depends on what was never written.
    Uninitialised,
    /// An address that its use needs to be aligned, and that is not.
    Misaligned,
    /// A computed `goto` to what is no label of the function, or a `longjmp` to where no call of
    /// `setjmp` waits.
    BadJump,
    /// A variable length array of no or of negative size, or one too large for memory.
    BadSize,
    /// `abort`, a failed `assert`.
    Abort,
}

impl TrapKind {
    /// Whether the program ends itself this way, by `abort` or by a trap instruction. All others are
    /// undefined behaviour.
    pub const fn is_deliberate(self) -> bool {
        matches!(self, Self::Abort | Self::Trap)
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "unreachable code reached",
            Self::Trap => "trap instruction",
            Self::MissingReturn => "missing return value",
            Self::DivisionByZero => "division by zero",
            Self::SignedOverflow => "signed overflow",
            Self::ShiftRange => "shift amount out of range",
            Self::FloatToInt => "float does not fit the integer type",
            Self::NullDereference => "null pointer dereference",
            Self::OutOfBounds => "access outside of every live object",
            Self::ReadOnly => "write to read-only memory",
            Self::BadCall => "call of what is no function of that type",
            Self::BadFree => "free of what is not allocated",
            Self::UseAfterFree => "use of memory after its lifetime",
            Self::Uninitialised => "use of a value that was never written",
            Self::Misaligned => "misaligned access",
            Self::BadJump => "jump to no place that waits for it",
            Self::BadSize => "variable length array of a bad size",
            Self::Abort => "abort",
        })
    }
}
