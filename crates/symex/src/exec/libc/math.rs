//! `<math.h>`: what IEEE 754 defines exactly, as terms. The rest has values that the engine does
//! not know; nothing that depends on one is claimed.

use lydian_ir::Type;
use lydian_ir::libc::{LibFn, Model};
use lydian_smt::{FloatSort, RoundingMode, Sort, Term};

use super::super::explore::Engine;
use super::super::step::Flow;
use crate::memory::undefined_symbol;

impl Engine<'_, '_> {
    pub(super) fn math_function(&mut self, model: &Model, args: &[Term]) -> Result<Term, Flow> {
        use LibFn::*;
        let pool = &mut self.pool;
        let a = args.first().copied();
        let float = match model.signature.as_bytes()[0] {
            b'f' => FloatSort::F32,
            _ => FloatSort::F64,
        };
        if let Some(mode) = rounding(model.function)
            && let Some(a) = a
        {
            return Ok(pool.fp_round(mode, a));
        }
        Ok(match (model.function, a, args.get(1).copied()) {
            (Fabs | Fabsf, Some(a), _) => pool.fp_abs(a),
            (Sqrt | Sqrtf, Some(a), _) => pool.fp_sqrt(a),
            (Fmin | Fminf, Some(a), Some(b)) => self.least(a, b),
            (Fmax | Fmaxf, Some(a), Some(b)) => {
                let (a, b) = (pool.fp_neg(a), pool.fp_neg(b));
                let least = self.least(a, b);
                self.pool.fp_neg(least)
            }
            (Copysign | Copysignf, Some(a), Some(b)) => {
                let magnitude = pool.fp_abs(a);
                let opposite = pool.fp_neg(magnitude);
                let negative = pool.fp_is_negative(b);
                pool.ite(negative, opposite, magnitude)
            }
            (Inf | HugeVal | Inff | HugeValf, ..) => pool.fp_const(float, float.infinity_bits()),
            (Nan | Nanf, ..) => pool.fp_const(float, float.nan_bits()),
            (function, Some(a), b) if matches!(pool.sort(a), Sort::Float(_)) => {
                match self.test(function, a, b.unwrap_or(a)) {
                    Some(test) => self.pool.bool_to_bv(test, 32),
                    None if function == IsinfSign => self.infinity_sign(a),
                    None => self.unknown_value(model, args),
                }
            }
            _ => return Err(Flow::unsupported(model.name)),
        })
    }

    /// A test of one or two numbers; `None` for functions that are none.
    fn test(&mut self, function: LibFn, a: Term, b: Term) -> Option<Term> {
        use LibFn::*;
        let pool = &mut self.pool;
        Some(match function {
            Isnan => pool.fp_is_nan(a),
            Isinf => pool.fp_is_inf(a),
            Isfinite => {
                let (nan, infinite) = (pool.fp_is_nan(a), pool.fp_is_inf(a));
                let neither = pool.or(nan, infinite);
                pool.not(neither)
            }
            Isnormal => {
                let Sort::Float(sort) = pool.sort(a) else { return None };
                let magnitude = pool.fp_abs(a);
                let least = pool.fp_const(sort, 1 << (sort.significand_bits() - 1));
                let infinity = pool.fp_const(sort, sort.infinity_bits());
                let (low, high) = (pool.fp_le(least, magnitude), pool.fp_lt(magnitude, infinity));
                pool.and(low, high)
            }
            Signbit => pool.fp_is_negative(a),
            Isgreater => pool.fp_lt(b, a),
            Isgreaterequal => pool.fp_le(b, a),
            Isless => pool.fp_lt(a, b),
            Islessequal => pool.fp_le(a, b),
            Islessgreater => {
                let (less, greater) = (pool.fp_lt(a, b), pool.fp_lt(b, a));
                pool.or(less, greater)
            }
            Isunordered => {
                let (a, b) = (pool.fp_is_nan(a), pool.fp_is_nan(b));
                pool.or(a, b)
            }
            _ => return None,
        })
    }

    fn infinity_sign(&mut self, a: Term) -> Term {
        let pool = &mut self.pool;
        let (infinite, negative) = (pool.fp_is_inf(a), pool.fp_is_negative(a));
        let (one, minus_one, zero) = (pool.bv(32, 1), pool.bv_signed(32, -1), pool.bv(32, 0));
        let sign = pool.ite(negative, minus_one, one);
        pool.ite(infinite, sign, zero)
    }

    /// The lesser number, the first of equal ones; a NaN only if both are.
    fn least(&mut self, a: Term, b: Term) -> Term {
        let pool = &mut self.pool;
        let (a_is_nan, b_is_nan) = (pool.fp_is_nan(a), pool.fp_is_nan(b));
        let ordered = pool.fp_le(a, b);
        let least = pool.ite(ordered, a, b);
        let least = pool.ite(b_is_nan, a, least);
        pool.ite(a_is_nan, b, least)
    }

    /// The value of a function that no term computes: one symbol for equal arguments.
    fn unknown_value(&mut self, model: &Model, args: &[Term]) -> Term {
        let ty = if model.signature.starts_with('f') { Type::F32 } else { Type::F64 };
        let place = format!("{}({args:?})", model.name);
        undefined_symbol(&mut self.pool, &place, lydian_eval::sort_of(ty))
    }
}

const fn rounding(function: LibFn) -> Option<RoundingMode> {
    use LibFn::*;
    Some(match function {
        Floor | Floorf => RoundingMode::TowardNegative,
        Ceil | Ceilf => RoundingMode::TowardPositive,
        Trunc | Truncf => RoundingMode::TowardZero,
        Round | Roundf => RoundingMode::NearestAway,
        Rint | Rintf | Nearbyint | Nearbyintf => RoundingMode::NearestEven,
        _ => return None,
    })
}
