//! The operators of expressions, each with its text. Signedness is in the operator.

use std::fmt;

use serde::{Deserialize, Serialize};

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

/// Conversions. Their effect follows from the operand's type and the target type together.
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

#[cfg(test)]
mod tests {
    use super::*;

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
