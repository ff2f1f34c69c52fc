//! Terms about single values: symbols of a machine type, ranges, constants.

use lydian_ir::Type;
use lydian_smt::{FloatSort, Sort, Term, TermPool, Wide};

use crate::settings::Number;

/// The sort of the terms that stand for values of a machine type in memory.
pub(crate) fn sort_of(ty: Type) -> Sort {
    match ty {
        Type::Int(bits) => Sort::BitVec(u32::from(bits)),
        Type::Ptr => Sort::BitVec(64),
        Type::F16 | Type::BF16 | Type::F80 => Sort::BitVec(ty.bits()),
        Type::F32 => Sort::Float(FloatSort::F32),
        Type::F64 => Sort::Float(FloatSort::F64),
    }
}

/// The constant of a machine type from its bits.
pub(crate) fn constant(pool: &mut TermPool, ty: Type, bits: u128) -> Term {
    match ty {
        Type::F32 => pool.fp_const(FloatSort::F32, bits as u64),
        Type::F64 => pool.fp_const(FloatSort::F64, bits as u64),
        _ => pool.bv_wide(ty.bits(), Wide::from_u128(bits)),
    }
}

/// A number with the facts that restrictions of it need: its type and its sign.
pub(crate) struct RestrictedNumber {
    pub(crate) value: Term,
    pub(crate) signed: bool,
}

impl RestrictedNumber {
    /// The condition that the value lies in a range; an error if no value of the type does.
    pub(crate) fn within(
        &self,
        pool: &mut TermPool,
        low: Number,
        high: Number,
    ) -> Result<Term, String> {
        if let Sort::Float(sort) = pool.sort(self.value) {
            let (low, high) = (float(pool, sort, low), float(pool, sort, high));
            let above = pool.fp_le(low, self.value);
            let below = pool.fp_le(self.value, high);
            return Ok(pool.and(above, below));
        }
        let (least, greatest) = self.limits(pool);
        let (low, high) = (integer(low, true)?, integer(high, false)?);
        if low > greatest || high < least {
            return Err(format!("no value from {low} to {high} fits its type"));
        }
        let width = pool.width(self.value);
        let mut both = Vec::new();
        if low > least {
            let low = pool.bv_wide(width, Wide::from_u128(low as u128));
            both.push(if self.signed {
                pool.sle(low, self.value)
            } else {
                pool.ule(low, self.value)
            });
        }
        if high < greatest {
            let high = pool.bv_wide(width, Wide::from_u128(high as u128));
            both.push(if self.signed {
                pool.sle(self.value, high)
            } else {
                pool.ule(self.value, high)
            });
        }
        Ok(pool.and_all(both))
    }

    /// The condition that the value is one of several.
    pub(crate) fn among(&self, pool: &mut TermPool, values: &[Number]) -> Result<Term, String> {
        let mut any = Vec::new();
        for value in values {
            let constant = match pool.sort(self.value) {
                Sort::Float(sort) => float(pool, sort, *value),
                _ => {
                    let (least, greatest) = self.limits(pool);
                    let value = match value {
                        Number::Int(value) => *value,
                        Number::Float(_) => return Err(format!("{value} is no integer")),
                    };
                    if value < least || value > greatest {
                        return Err(format!("{value} does not fit its type"));
                    }
                    let width = pool.width(self.value);
                    pool.bv_wide(width, Wide::from_u128(value as u128))
                }
            };
            any.push(pool.eq(self.value, constant));
        }
        Ok(pool.or_all(any))
    }

    /// Least and greatest value; 128-bit unsigned numbers are limited to what settings can write.
    fn limits(&self, pool: &TermPool) -> (i128, i128) {
        let width = pool.width(self.value);
        match (self.signed, width) {
            (true, 128..) => (i128::MIN, i128::MAX),
            (true, _) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            (false, 127..) => (0, i128::MAX),
            (false, _) => (0, (1 << width) - 1),
        }
    }
}

/// The outermost integer inside of a range at one of its ends.
fn integer(number: Number, is_low: bool) -> Result<i128, String> {
    match number {
        Number::Int(value) => Ok(value),
        Number::Float(value) if value.is_nan() => Err("NaN is no end of a range".into()),
        Number::Float(value) if is_low => Ok(value.ceil() as i128),
        Number::Float(value) => Ok(value.floor() as i128),
    }
}

fn float(pool: &mut TermPool, sort: FloatSort, number: Number) -> Term {
    match sort {
        FloatSort::F32 => pool.f32(number.as_f64() as f32),
        FloatSort::F64 => pool.f64(number.as_f64()),
    }
}

/// The number as a 64-bit one, by its sign or with zeros.
pub(crate) fn to_64_bits(pool: &mut TermPool, value: Term, signed: bool) -> Term {
    if signed { pool.resize_signed(value, 64) } else { pool.resize_unsigned(value, 64) }
}
