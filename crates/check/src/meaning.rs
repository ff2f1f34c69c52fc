//! The meaning of the IR's operators as terms.
//!
//! A truth value (`i1`) is a Boolean, another integer a bit-vector, and a float its bits, which
//! operations convert. The bits of a NaN that an operation gives are any of a NaN's. An address has as
//! many bits as the target's pointers.

use lydian_ir::{BinOp, BitField, CastOp, CmpOp, Type, UnOp};

use crate::terms::{Sort, Term, Terms};

/// The result of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// The value; none if it is any value of its type.
    pub value: Option<Term>,
    /// Where it traps; none if it never does.
    pub traps: Option<Term>,
}

impl Meaning {
    const fn of(value: Term) -> Self {
        Self { value: Some(value), traps: None }
    }

    const fn anything() -> Self {
        Self { value: None, traps: None }
    }
}

/// The sort of values of a type.
pub fn sort_of(ty: Type, pointer_bits: u32) -> Sort {
    match ty {
        Type::Int(1) => Sort::Bool,
        Type::Ptr => Sort::Bits(pointer_bits),
        _ => Sort::Bits(ty.bits()),
    }
}

/// A constant by its bits.
pub fn constant(terms: &mut Terms, ty: Type, bits: u128, pointer_bits: u32) -> Term {
    match sort_of(ty, pointer_bits) {
        Sort::Bool => terms.truth(bits & 1 == 1),
        Sort::Bits(width) => terms.bits(width, bits),
        Sort::Float(..) | Sort::Array(..) => terms.truth(false),
    }
}

/// The float of some bits, if terms have its format.
pub fn float(terms: &mut Terms, ty: Type, bits: Term) -> Option<Term> {
    let sort = float_sort(ty)?;
    Some(terms.apply(sort.conversion("to_fp"), &[bits], sort))
}

/// The sort of floats of a type, if terms have its format.
const fn float_sort(ty: Type) -> Option<Sort> {
    match ty {
        Type::F32 => Some(Sort::F32),
        Type::F64 => Some(Sort::F64),
        _ => None,
    }
}

/// The bits of a float: a symbol that is defined by them.
fn bits_of(terms: &mut Terms, ty: Type, value: Term) -> Option<Term> {
    let bits = terms.fresh("bits", Sort::Bits(ty.bits()));
    let back = float(terms, ty, bits)?;
    let equation = terms.equal(back, value);
    terms.define(bits, equation);
    Some(bits)
}

/// `op a`.
pub fn unary(terms: &mut Terms, op: UnOp, ty: Type, a: Term) -> Meaning {
    match (op, ty) {
        (UnOp::Not, Type::Int(1)) => Meaning::of(terms.not(a)),
        (UnOp::Not, Type::Int(width)) => {
            let ones = terms.bits(width.into(), u128::MAX);
            Meaning::of(terms.arithmetic("bvxor", a, ones))
        }
        (UnOp::NegU | UnOp::NegS, Type::Int(width)) if width > 1 => {
            let zero = terms.bits(width.into(), 0);
            Meaning::of(terms.sub(zero, a))
        }
        (UnOp::FNeg, Type::F32 | Type::F64) => {
            let sign = terms.bits(ty.bits(), 1 << (ty.bits() - 1));
            Meaning::of(terms.arithmetic("bvxor", a, sign))
        }
        _ => Meaning::anything(),
    }
}

/// `a op b` on a type.
pub fn binary(terms: &mut Terms, op: BinOp, ty: Type, a: Term, b: Term) -> Meaning {
    if op.is_float() {
        return float_binary(terms, op, ty, a, b);
    }
    match ty {
        Type::Int(1) => {
            let both = terms.and(a, b);
            let either = terms.or(a, b);
            match op {
                BinOp::And => Meaning::of(both),
                BinOp::Or => Meaning::of(either),
                BinOp::Xor => {
                    let not_both = terms.not(both);
                    Meaning::of(terms.and(either, not_both))
                }
                _ => Meaning::anything(),
            }
        }
        Type::Int(width) => integer_binary(terms, op, width.into(), a, b),
        _ => Meaning::anything(),
    }
}

fn integer_binary(terms: &mut Terms, op: BinOp, width: u32, a: Term, b: Term) -> Meaning {
    let head = match op {
        BinOp::AddU | BinOp::AddS => "bvadd",
        BinOp::SubU | BinOp::SubS => "bvsub",
        BinOp::MulU | BinOp::MulS => "bvmul",
        BinOp::And => "bvand",
        BinOp::Or => "bvor",
        BinOp::Xor => "bvxor",
        BinOp::DivU => "bvudiv",
        BinOp::DivS => "bvsdiv",
        BinOp::RemU => "bvurem",
        BinOp::RemS => "bvsrem",
        BinOp::ShlU | BinOp::ShlS => "bvshl",
        BinOp::ShrU => "bvlshr",
        BinOp::ShrS => "bvashr",
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv => return Meaning::anything(),
    };
    let value = Some(terms.arithmetic(head, a, b));
    let traps = match op {
        BinOp::DivU | BinOp::RemU => {
            let some = terms.is_nonzero(b);
            Some(terms.not(some))
        }
        BinOp::DivS | BinOp::RemS => {
            let (least, minus_one) = (terms.bits(width, 1 << (width - 1)), terms.bits(width, !0));
            let (is_least, is_minus) = (terms.equal(a, least), terms.equal(b, minus_one));
            let (overflows, some) = (terms.and(is_least, is_minus), terms.is_nonzero(b));
            let by_zero = terms.not(some);
            Some(terms.or(by_zero, overflows))
        }
        BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS => {
            let most = terms.bits(width, width.into());
            let fits = terms.compare("bvult", b, most);
            Some(terms.not(fits))
        }
        _ => None,
    };
    Meaning { value, traps }
}

fn float_binary(terms: &mut Terms, op: BinOp, ty: Type, a: Term, b: Term) -> Meaning {
    let (Some(x), Some(y)) = (float(terms, ty, a), float(terms, ty, b)) else {
        return Meaning::anything();
    };
    let head = match op {
        BinOp::FAdd => "fp.add RNE",
        BinOp::FSub => "fp.sub RNE",
        BinOp::FMul => "fp.mul RNE",
        _ => "fp.div RNE",
    };
    let sort = terms.sort(x);
    let result = terms.apply(head, &[x, y], sort);
    Meaning { value: bits_of(terms, ty, result), traps: None }
}

/// A comparison of integers, truth values or floats of a type; none if it is any truth value.
pub fn compare(terms: &mut Terms, op: CmpOp, ty: Type, a: Term, b: Term) -> Option<Term> {
    if op.is_float() {
        let (x, y) = (float(terms, ty, a)?, float(terms, ty, b)?);
        let (head, x, y) = match op {
            CmpOp::FEq | CmpOp::FNe => ("fp.eq", x, y),
            CmpOp::FLt => ("fp.lt", x, y),
            CmpOp::FLe => ("fp.leq", x, y),
            CmpOp::FGt => ("fp.lt", y, x),
            _ => ("fp.leq", y, x),
        };
        let result = terms.apply(head, &[x, y], Sort::Bool);
        return Some(if op == CmpOp::FNe { terms.not(result) } else { result });
    }
    if matches!(op, CmpOp::Eq | CmpOp::Ne) {
        let result = terms.equal(a, b);
        return Some(if op == CmpOp::Ne { terms.not(result) } else { result });
    }
    let [a, b] = [a, b].map(|side| match ty {
        Type::Int(1) => terms.as_number(side, 1),
        _ => side,
    });
    let (head, a, b) = match op {
        CmpOp::LtU => ("bvult", a, b),
        CmpOp::LeU => ("bvule", a, b),
        CmpOp::GtU => ("bvult", b, a),
        CmpOp::GeU => ("bvule", b, a),
        CmpOp::LtS => ("bvslt", a, b),
        CmpOp::LeS => ("bvsle", a, b),
        CmpOp::GtS => ("bvslt", b, a),
        _ => ("bvsle", b, a),
    };
    Some(terms.compare(head, a, b))
}

/// A conversion between numbers. Addresses are none.
pub fn cast(terms: &mut Terms, op: CastOp, (from, to): (Type, Type), a: Term) -> Meaning {
    let (Type::Int(_) | Type::F32 | Type::F64, Type::Int(_) | Type::F32 | Type::F64) = (from, to)
    else {
        let is_same = op == CastOp::Bits && from.bits() == to.bits();
        return if is_same { Meaning::of(a) } else { Meaning::anything() };
    };
    let number = |terms: &mut Terms| match from {
        Type::Int(1) => terms.as_number(a, 1),
        _ => a,
    };
    match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::SExt => {
            let number = number(terms);
            let value = match op {
                CastOp::Trunc => terms.extract(number, to.bits() - 1, 0),
                CastOp::ZExt => terms.zero_extend(number, to.bits()),
                _ => terms.sign_extend(number, to.bits()),
            };
            Meaning::of(of_bits(terms, to, value))
        }
        CastOp::Bits => {
            let number = number(terms);
            Meaning::of(of_bits(terms, to, number))
        }
        CastOp::SToF | CastOp::UToF => {
            let number = number(terms);
            to_float(terms, op, to, number)
        }
        CastOp::FToF => match float(terms, from, a) {
            Some(value) => to_float(terms, op, to, value),
            None => Meaning::anything(),
        },
        CastOp::FToS | CastOp::FToU => to_integer(terms, op, (from, to), a),
    }
}

/// A bit-vector as a value of a type of integers.
fn of_bits(terms: &mut Terms, ty: Type, bits: Term) -> Term {
    match ty {
        Type::Int(1) => terms.is_nonzero(bits),
        _ => bits,
    }
}

fn to_float(terms: &mut Terms, op: CastOp, to: Type, value: Term) -> Meaning {
    let Some(sort) = float_sort(to) else { return Meaning::anything() };
    let name = if op == CastOp::UToF { "to_fp_unsigned" } else { "to_fp" };
    let result = terms.apply(format!("{} RNE", sort.conversion(name)), &[value], sort);
    Meaning { value: bits_of(terms, to, result), traps: None }
}

/// Where the integer part does not fit, SMT-LIB leaves the value open. The program traps there, and
/// nothing of that is needed: any value is more than it has.
fn to_integer(terms: &mut Terms, op: CastOp, (from, to): (Type, Type), a: Term) -> Meaning {
    let (Some(value), Type::Int(width @ 2..)) = (float(terms, from, a), to) else {
        return Meaning::anything();
    };
    let name = if op == CastOp::FToS { "fp.to_sbv" } else { "fp.to_ubv" };
    let sort = Sort::Bits(width.into());
    Meaning::of(terms.apply(format!("(_ {name} {width}) RTZ"), &[value], sort))
}

/// The value of a bit-field from the bytes that hold it.
pub fn bit_field(terms: &mut Terms, field: BitField, bytes: Term) -> Term {
    let (low, bits) = (u32::from(field.bit), u32::from(field.bits));
    let value = terms.extract(bytes, low + bits - 1, low);
    let width = field.ty.bits().max(bits);
    let value = match field.signed {
        true => terms.sign_extend(value, width),
        false => terms.zero_extend(value, width),
    };
    of_bits(terms, field.ty, value)
}

/// The bytes that hold a bit-field, with another value of it.
pub fn with_bit_field(terms: &mut Terms, field: BitField, bytes: Term, value: Term) -> Term {
    let width = terms.width(bytes);
    let (low, bits) = (u32::from(field.bit), u32::from(field.bits));
    let value = match terms.sort(value) {
        Sort::Bool => terms.as_number(value, 1),
        _ => value,
    };
    let mut all = terms.resize(value, bits);
    if low > 0 {
        let below = terms.extract(bytes, low - 1, 0);
        all = terms.concat(all, below);
    }
    if low + bits < width {
        let above = terms.extract(bytes, width - 1, low + bits);
        all = terms.concat(above, all);
    }
    all
}
