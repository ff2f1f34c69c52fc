//! Pure expressions: trees in a function's arena that read memory and registers but change nothing.
//!
//! Every side effect is a statement, so an expression can be evaluated as often as one likes on one
//! state and always gives one value or one trap. Signedness is in the operator, not in the type.
//! C's `&&`, `||`, `!` on tests and `?:` are control flow where the program evaluates them; a
//! [`Expr::Select`] stands for them in what a condition is where evaluation does not reach it.

use lydian_base::{Arena, entity_id};
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::ctype::RecordId;
use crate::function::LocalId;
use crate::program::{FuncId, GlobalId};

entity_id!(
    /// Names an expression of an [`ExprArena`].
    ExprId,
    "e"
);

/// The expressions of a function. Operands come before their users, so ids are a topological order.
pub type ExprArena = Arena<ExprId, Expr>;

/// A machine type. Pointers are 64 bits wherever they are computed with; how many bytes of memory
/// they take is the target's ([`crate::Target::stored_bytes`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// An integer of 1, 8, 16, 32, 64 or 128 bits. One bit is what a comparison gives.
    Int(u8),
    /// IEEE binary16, C's `_Float16`.
    F16,
    /// The upper half of a binary32, C's `__bf16`.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The x87's extended format of 80 bits, C's `long double` on x86.
    F80,
    /// An address. On a 32-bit target the upper half is zero, and in memory it takes 4 bytes.
    Ptr,
}

impl Type {
    /// What a comparison gives.
    pub const BOOL: Self = Self::Int(1);

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Int(bits) => bits as u32,
            Self::F16 | Self::BF16 => 16,
            Self::F32 => 32,
            Self::F64 | Self::Ptr => 64,
            Self::F80 => 80,
        }
    }

    /// How many bytes hold the value: 10 for an [`Type::F80`], whose C type takes more. In memory a
    /// pointer may take less: [`crate::Target::stored_bytes`].
    pub const fn bytes(self) -> u64 {
        self.bits().div_ceil(8) as u64
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64 | Self::F80)
    }

    /// Whether it is a float that solvers' terms do not model: they have it as its bits.
    pub const fn is_soft_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F80)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::F16 => f.write_str("f16"),
            Self::BF16 => f.write_str("bf16"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::F80 => f.write_str("f80"),
            Self::Ptr => f.write_str("ptr"),
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A constant: its bits, zero-extended; floats by their IEEE pattern.
    Const(Type, u128),
    /// The value of a register local.
    Local(LocalId),
    /// The address of a memory local.
    AddrLocal(LocalId),
    /// The address of a global.
    AddrGlobal(GlobalId),
    /// The address of a function.
    AddrFunc(FuncId),
    /// The value at an address. Traps where the address is not of a live object with that many
    /// bytes left.
    Load {
        /// What is read.
        ty: Type,
        /// From where.
        addr: ExprId,
        /// Whether C calls it volatile. Such a load stands alone, as the whole value of an
        /// assignment to a temporary.
        volatile: bool,
    },
    /// The value of a bit-field, extended to its type.
    LoadBits {
        /// Which bits, of what.
        field: BitField,
        /// Address of the record's first byte plus `field.byte_offset`.
        addr: ExprId,
    },
    /// `op a`.
    Unary(UnOp, ExprId),
    /// `a op b`. Shift amounts have the type of what is shifted.
    Binary(BinOp, ExprId, ExprId),
    /// A comparison, of type `i1`.
    Cmp(CmpOp, ExprId, ExprId),
    /// A conversion to a type.
    Cast(CastOp, Type, ExprId),
    /// The address of a member: `base` plus the member's byte offset.
    Field {
        /// Address of the record.
        base: ExprId,
        /// Which struct or union.
        record: RecordId,
        /// Which member, by its position in the record.
        field: u32,
    },
    /// `base + index * size`, as C's subscripts and pointer arithmetic do.
    Index {
        /// Address of element 0.
        base: ExprId,
        /// A 64-bit signed integer.
        index: ExprId,
        /// Bytes of an element.
        size: u64,
        /// How many elements there are, for an array of known length that is subscripted directly.
        bound: Option<u64>,
    },
    /// `(a - b) / size` on addresses, as a 64-bit signed integer. The difference wraps at the
    /// width of the target's pointers.
    PtrDiff {
        /// Minuend.
        a: ExprId,
        /// Subtrahend.
        b: ExprId,
        /// Bytes of an element.
        size: u64,
    },
    /// `test ? then : otherwise`. Only the operand that is chosen is evaluated, so only that one may
    /// trap. It stands in no code: only in what a condition is where it is not reached
    /// ([`crate::decision::Unreached`]).
    Select {
        /// An `i1`.
        test: ExprId,
        /// The value where the test is true.
        then: ExprId,
        /// The value where it is false, of the same type.
        otherwise: ExprId,
    },
}

/// A bit-field inside the bytes that hold it, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BitField {
    /// Which struct or union.
    pub record: RecordId,
    /// Which member, by its position in the record.
    pub field: u32,
    /// Offset in bytes of the first byte that holds a bit of it, from the record's start.
    pub byte_offset: u64,
    /// Position of its lowest bit within that byte, 0 to 7.
    pub bit: u8,
    /// How many bits, 1 to 128; at most 16 bytes hold them.
    pub bits: u8,
    /// Whether the value is sign-extended.
    pub signed: bool,
    /// The type of the value (the declared type).
    pub ty: Type,
}

impl BitField {
    /// How many bytes hold it.
    pub const fn bytes(&self) -> u64 {
        (self.bit as u64 + self.bits as u64).div_ceil(8)
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnOp {
    /// Two's complement negation of an unsigned type.
    NegU,
    /// Negation of a signed type: wraps, or traps where signed overflow is checked.
    NegS,
    /// `~`; also negation of an `i1`.
    Not,
    /// IEEE negation.
    FNeg,
}

/// Operators with two operands of one type and a result of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BinOp {
    /// Unsigned addition, which wraps.
    AddU,
    /// Signed addition: wraps, or traps where signed overflow is checked.
    AddS,
    /// Unsigned subtraction, which wraps.
    SubU,
    /// Signed subtraction: wraps, or traps where signed overflow is checked.
    SubS,
    /// Unsigned multiplication, which wraps.
    MulU,
    /// Signed multiplication: wraps, or traps where signed overflow is checked.
    MulS,
    /// Unsigned division; traps on a zero divisor.
    DivU,
    /// Signed division; traps on a zero divisor, and on the least number by -1.
    DivS,
    /// Unsigned remainder; traps on a zero divisor.
    RemU,
    /// Signed remainder; traps on a zero divisor, and on the least number by -1.
    RemS,
    /// Left shift of an unsigned type; traps where the amount is not less than the width.
    ShlU,
    /// Left shift of a signed type; as `ShlU`, and where signed overflow is checked also when bits
    /// are lost or the operand is negative.
    ShlS,
    /// Right shift that fills with zeros; traps where the amount is not less than the width.
    ShrU,
    /// Right shift that fills with the sign; traps where the amount is not less than the width.
    ShrS,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// IEEE addition, rounding to nearest, ties to even; so are the other three.
    FAdd,
    /// IEEE subtraction.
    FSub,
    /// IEEE multiplication.
    FMul,
    /// IEEE division.
    FDiv,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CmpOp {
    /// Equal bits.
    Eq,
    /// Different bits.
    Ne,
    /// Unsigned less; also for addresses.
    LtU,
    /// Unsigned less or equal.
    LeU,
    /// Unsigned greater.
    GtU,
    /// Unsigned greater or equal.
    GeU,
    /// Signed less.
    LtS,
    /// Signed less or equal.
    LeS,
    /// Signed greater.
    GtS,
    /// Signed greater or equal.
    GeS,
    /// IEEE equal: false with a NaN, true for both zeros.
    FEq,
    /// Not IEEE equal: true with a NaN.
    FNe,
    /// IEEE less: false with a NaN; so are the other three.
    FLt,
    /// IEEE less or equal.
    FLe,
    /// IEEE greater.
    FGt,
    /// IEEE greater or equal.
    FGe,
}

/// Conversions. The operand's type and the target type together say what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CastOp {
    /// To fewer bits.
    Trunc,
    /// To more bits, with zeros.
    ZExt,
    /// To more bits, with the sign.
    SExt,
    /// Signed integer to float, rounding to nearest.
    SToF,
    /// Unsigned integer to float, rounding to nearest.
    UToF,
    /// Float to signed integer, towards zero; traps where the integer part does not fit.
    FToS,
    /// Float to unsigned integer, towards zero; traps where the integer part does not fit.
    FToU,
    /// Between floats, rounding to nearest.
    FToF,
    /// The same bits as another type of the same width (integers and addresses, floats and
    /// integers).
    Bits,
}

impl UnOp {
    /// Every operator with its text.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::NegU, "neg.u"), (Self::NegS, "neg.s"), (Self::Not, "not"), (Self::FNeg, "fneg")];
}

impl BinOp {
    /// Every operator with its text.
    pub const ALL: [(Self, &'static str); 21] = [
        (Self::AddU, "add.u"),
        (Self::AddS, "add.s"),
        (Self::SubU, "sub.u"),
        (Self::SubS, "sub.s"),
        (Self::MulU, "mul.u"),
        (Self::MulS, "mul.s"),
        (Self::DivU, "div.u"),
        (Self::DivS, "div.s"),
        (Self::RemU, "rem.u"),
        (Self::RemS, "rem.s"),
        (Self::ShlU, "shl.u"),
        (Self::ShlS, "shl.s"),
        (Self::ShrU, "shr.u"),
        (Self::ShrS, "shr.s"),
        (Self::And, "and"),
        (Self::Or, "or"),
        (Self::Xor, "xor"),
        (Self::FAdd, "fadd"),
        (Self::FSub, "fsub"),
        (Self::FMul, "fmul"),
        (Self::FDiv, "fdiv"),
    ];

    /// Whether it computes on floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::FAdd | Self::FSub | Self::FMul | Self::FDiv)
    }

    /// Whether some operands make it trap even while signed overflow wraps.
    pub const fn may_trap(self) -> bool {
        matches!(
            self,
            Self::DivU
                | Self::DivS
                | Self::RemU
                | Self::RemS
                | Self::ShlU
                | Self::ShlS
                | Self::ShrU
                | Self::ShrS
        )
    }
}

impl CmpOp {
    /// Every operator with its text.
    pub const ALL: [(Self, &'static str); 16] = [
        (Self::Eq, "eq"),
        (Self::Ne, "ne"),
        (Self::LtU, "lt.u"),
        (Self::LeU, "le.u"),
        (Self::GtU, "gt.u"),
        (Self::GeU, "ge.u"),
        (Self::LtS, "lt.s"),
        (Self::LeS, "le.s"),
        (Self::GtS, "gt.s"),
        (Self::GeS, "ge.s"),
        (Self::FEq, "feq"),
        (Self::FNe, "fne"),
        (Self::FLt, "flt"),
        (Self::FLe, "fle"),
        (Self::FGt, "fgt"),
        (Self::FGe, "fge"),
    ];

    /// Whether it compares floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::FEq | Self::FNe | Self::FLt | Self::FLe | Self::FGt | Self::FGe)
    }

    /// Whether it compares integers for *less* or *less or equal*.
    pub const fn is_less(self) -> bool {
        matches!(self, Self::LtU | Self::LeU | Self::LtS | Self::LeS)
    }

    /// As C writes it.
    pub const fn c_symbol(self) -> &'static str {
        match self {
            Self::Eq | Self::FEq => "==",
            Self::Ne | Self::FNe => "!=",
            Self::LtU | Self::LtS | Self::FLt => "<",
            Self::LeU | Self::LeS | Self::FLe => "<=",
            Self::GtU | Self::GtS | Self::FGt => ">",
            Self::GeU | Self::GeS | Self::FGe => ">=",
        }
    }
}

impl CastOp {
    /// Every conversion with its text.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Trunc, "trunc"),
        (Self::ZExt, "zext"),
        (Self::SExt, "sext"),
        (Self::SToF, "stof"),
        (Self::UToF, "utof"),
        (Self::FToS, "ftos"),
        (Self::FToU, "ftou"),
        (Self::FToF, "ftof"),
        (Self::Bits, "bits"),
    ];
}

/// Writes an operator by its entry in its table.
macro_rules! display_by_table {
    ($($op:ty),*) => {$(
        impl fmt::Display for $op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let entry = Self::ALL.iter().find(|(op, _)| op == self);
                f.write_str(entry.expect("the table has every operator").1)
            }
        }
    )*};
}
display_by_table!(UnOp, BinOp, CmpOp, CastOp);

impl Expr {
    /// Calls `visit` with each operand, in order.
    pub fn for_each_operand(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Self::Const(..)
            | Self::Local(_)
            | Self::AddrLocal(_)
            | Self::AddrGlobal(_)
            | Self::AddrFunc(_) => {}
            Self::Load { addr, .. } | Self::LoadBits { addr, .. } => visit(*addr),
            Self::Unary(_, a) | Self::Cast(_, _, a) => visit(*a),
            Self::Field { base, .. } => visit(*base),
            Self::Binary(_, a, b) | Self::Cmp(_, a, b) | Self::PtrDiff { a, b, .. } => {
                visit(*a);
                visit(*b);
            }
            Self::Index { base, index, .. } => {
                visit(*base);
                visit(*index);
            }
            Self::Select { test, then, otherwise } => {
                visit(*test);
                visit(*then);
                visit(*otherwise);
            }
        }
    }

    /// Whether it has no operands: a constant, a register, an address. Such cannot trap.
    pub fn is_leaf(&self) -> bool {
        let mut leaf = true;
        self.for_each_operand(|_| leaf = false);
        leaf
    }

    /// The same expression with each operand replaced by what `map` gives for it.
    pub fn map_operands(&self, mut map: impl FnMut(ExprId) -> ExprId) -> Self {
        let mut new = self.clone();
        match &mut new {
            Self::Const(..)
            | Self::Local(_)
            | Self::AddrLocal(_)
            | Self::AddrGlobal(_)
            | Self::AddrFunc(_) => {}
            Self::Load { addr: a, .. }
            | Self::LoadBits { addr: a, .. }
            | Self::Unary(_, a)
            | Self::Cast(_, _, a)
            | Self::Field { base: a, .. } => *a = map(*a),
            Self::Binary(_, a, b)
            | Self::Cmp(_, a, b)
            | Self::PtrDiff { a, b, .. }
            | Self::Index { base: a, index: b, .. } => {
                *a = map(*a);
                *b = map(*b);
            }
            Self::Select { test, then, otherwise } => {
                *test = map(*test);
                *then = map(*then);
                *otherwise = map(*otherwise);
            }
        }
        new
    }
}

/// The type of an expression. `local_type` gives the type of a register local.
/// Linear in the length of chains of operators that keep their operand's type.
pub fn type_of(arena: &ExprArena, expr: ExprId, local_type: impl Fn(LocalId) -> Type) -> Type {
    let mut at = expr;
    loop {
        at = match &arena[at] {
            Expr::Const(ty, _) | Expr::Load { ty, .. } | Expr::Cast(_, ty, _) => return *ty,
            Expr::LoadBits { field, .. } => return field.ty,
            Expr::Local(local) => return local_type(*local),
            Expr::AddrLocal(_)
            | Expr::AddrGlobal(_)
            | Expr::AddrFunc(_)
            | Expr::Field { .. }
            | Expr::Index { .. } => return Type::Ptr,
            Expr::Cmp(..) => return Type::BOOL,
            Expr::PtrDiff { .. } => return Type::Int(64),
            Expr::Unary(_, a) | Expr::Binary(_, a, _) | Expr::Select { then: a, .. } => *a,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_stays_small_as_there_are_many() {
        assert!(size_of::<Expr>() <= 48, "{}", size_of::<Expr>());
    }

    #[test]
    fn every_operator_has_a_text_of_its_own() {
        let mut texts: Vec<&str> = Vec::new();
        texts.extend(UnOp::ALL.iter().map(|(_, text)| text));
        texts.extend(BinOp::ALL.iter().map(|(_, text)| text));
        texts.extend(CmpOp::ALL.iter().map(|(_, text)| text));
        texts.extend(CastOp::ALL.iter().map(|(_, text)| text));
        let count = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), count);
    }
}
