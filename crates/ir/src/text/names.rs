//! Words that the printer writes and the parser reads, each list in one place.

use crate::program::Moment;
use crate::program::ctype::IntKind;
use crate::program::decision::Purity;
use crate::program::source::MarkStyle;
use crate::program::stmt::TrapKind;

pub(super) const MOMENTS: [(Moment, &str); 2] =
    [(Moment::BeforeMain, "before"), (Moment::AtExit, "after")];

pub(super) const PURITIES: [(Purity, &str); 3] =
    [(Purity::Pure, "pure"), (Purity::MayTrap, "may-trap"), (Purity::Effects, "effects")];

pub(super) const MARK_STYLES: [(MarkStyle, &str); 4] = [
    (MarkStyle::Wrap, "wrap"),
    (MarkStyle::Before, "before"),
    (MarkStyle::Expression, "expression"),
    (MarkStyle::BeforeFor, "before-for"),
];

pub(super) const TRAPS: [(TrapKind, &str); 18] = [
    (TrapKind::Unreachable, "unreachable"),
    (TrapKind::Trap, "trap"),
    (TrapKind::MissingReturn, "missing-return"),
    (TrapKind::DivisionByZero, "division-by-zero"),
    (TrapKind::SignedOverflow, "signed-overflow"),
    (TrapKind::ShiftRange, "shift-range"),
    (TrapKind::FloatToInt, "float-to-int"),
    (TrapKind::NullDereference, "null-dereference"),
    (TrapKind::OutOfBounds, "out-of-bounds"),
    (TrapKind::ReadOnly, "read-only"),
    (TrapKind::BadCall, "bad-call"),
    (TrapKind::BadFree, "bad-free"),
    (TrapKind::UseAfterFree, "use-after-free"),
    (TrapKind::Uninitialised, "uninitialised"),
    (TrapKind::Misaligned, "misaligned"),
    (TrapKind::BadJump, "bad-jump"),
    (TrapKind::BadSize, "bad-size"),
    (TrapKind::Abort, "abort"),
];

pub(super) const INT_KINDS: [IntKind; 14] = [
    IntKind::Bool,
    IntKind::Char,
    IntKind::SChar,
    IntKind::UChar,
    IntKind::Short,
    IntKind::UShort,
    IntKind::Int,
    IntKind::UInt,
    IntKind::Long,
    IntKind::ULong,
    IntKind::LongLong,
    IntKind::ULongLong,
    IntKind::Int128,
    IntKind::UInt128,
];

/// The word for an entry of one of the lists above, which have every variant.
pub(super) fn word<T: PartialEq>(list: &[(T, &'static str)], item: &T) -> &'static str {
    list.iter().find(|(other, _)| other == item).map_or("?", |(_, word)| word)
}

/// The entry for a word.
pub(super) fn named<T: Copy>(list: &[(T, &str)], word: &str) -> Option<T> {
    list.iter().find(|(_, other)| *other == word).map(|(item, _)| *item)
}
