//! `<math.h>`: functions that IEEE 754 defines exactly, as terms. For the others, the path is split
//! on the values of the arguments, of which only a few are followed; the rest is a [`Cut`].

use lydian_eval::nan::is_negative;
use lydian_eval::sort::constant;
use lydian_ir::Type;
use lydian_ir::interp::math_function;
use lydian_ir::libc::{ExactMathFn, FloatTestFn, Model};
use lydian_smt::{FloatSort, RoundingMode, Sort, Term};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::interrupt::Interrupt;
use crate::machine::scope::Stop;
use crate::machine::state::{Notes, State};

/// The most values of an argument that are followed at one call of a function without a term.
const FOLLOWED_VALUES: u32 = 8;

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn exact_function(
        &mut self,
        state: &mut State<N>,
        function: ExactMathFn,
        model: &Model,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        use ExactMathFn::*;
        let pool = &mut self.pool;
        let a = args.first().copied();
        let float = match model.signature.as_bytes()[0] {
            b'f' => FloatSort::F32,
            _ => FloatSort::F64,
        };
        if let Some(mode) = rounding(function)
            && let Some(a) = a
        {
            return Ok(pool.fp_round(mode, a));
        }
        Ok(match (function, a, args.get(1).copied()) {
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
                let negative = is_negative(pool, b);
                pool.ite(negative, opposite, magnitude)
            }
            (Inf | HugeVal | Inff | HugeValf, ..) => pool.fp_const(float, float.infinity_bits()),
            (Nan | Nanf, ..) => pool.fp_const(float, float.nan_bits()),
            (Fmod | Fmodf, Some(_), _) => self.inexact_function(state, model, args)?,
            _ => return Err(Interrupt::unsupported(model.name)),
        })
    }

    /// Calls a function without a term.
    pub(super) fn inexact_function(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        match args.first().map(|a| self.pool.sort(*a)) {
            Some(Sort::Float(_)) => self.value_at(state, model, args),
            _ => Err(Interrupt::unsupported(model.name)),
        }
    }

    /// A predicate on one or two numbers, as C's `int`.
    pub(super) fn float_test(
        &mut self,
        function: FloatTestFn,
        model: &Model,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        let a = args.first().copied().filter(|a| matches!(self.pool.sort(*a), Sort::Float(_)));
        let a = a.ok_or_else(|| Interrupt::unsupported(model.name))?;
        if function == FloatTestFn::IsinfSign {
            return Ok(self.infinity_sign(a));
        }
        let test = self.test(function, a, args.get(1).copied().unwrap_or(a));
        let test = test.ok_or_else(|| Interrupt::unsupported(model.name))?;
        Ok(self.pool.bool_to_bv(test, 32))
    }

    /// A predicate that is true or false; `None` for the one that distinguishes signs.
    fn test(&mut self, function: FloatTestFn, a: Term, b: Term) -> Option<Term> {
        use FloatTestFn::*;
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
            Signbit => is_negative(pool, a),
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
            IsinfSign => return None,
        })
    }

    fn infinity_sign(&mut self, a: Term) -> Term {
        let pool = &mut self.pool;
        let (infinite, negative) = (pool.fp_is_inf(a), pool.fp_is_negative(a));
        let (one, minus_one, zero) = (pool.bv(32, 1), pool.bv_signed(32, -1), pool.bv(32, 0));
        let sign = pool.ite(negative, minus_one, one);
        pool.ite(infinite, sign, zero)
    }

    /// The lesser number, the first of equal ones; a NaN only if both are NaN.
    fn least(&mut self, a: Term, b: Term) -> Term {
        let pool = &mut self.pool;
        let (a_is_nan, b_is_nan) = (pool.fp_is_nan(a), pool.fp_is_nan(b));
        let ordered = pool.fp_le(a, b);
        let least = pool.ite(ordered, a, b);
        let least = pool.ite(b_is_nan, a, least);
        // The library chooses one of two NaNs, and whether it becomes quiet.
        let both = pool.fp_add(a, b);
        let only = pool.ite(b_is_nan, both, b);
        pool.ite(a_is_nan, only, least)
    }

    /// The value of a function without a term, at one value of each argument.
    fn value_at(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        let mut values = [0; 2];
        for (value, arg) in values.iter_mut().zip(args) {
            *value = u128::from(self.one_float(state, model, *arg)?);
        }
        let ty = if model.signature.starts_with('f') { Type::F32 } else { Type::F64 };
        let bits = math_function(model.function, ty, values[0], values[1]);
        let bits = bits.ok_or_else(|| Interrupt::unsupported(model.name))?;
        Ok(constant(&mut self.pool, ty, bits))
    }

    /// Splits the path so that a float has one value, and returns the value's bits.
    fn one_float(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        arg: Term,
    ) -> Result<u64, Interrupt> {
        if let Some(bits) = self.pool.as_float_bits(arg) {
            return Ok(bits);
        }
        let Sort::Float(sort) = self.pool.sort(arg) else {
            return Err(Interrupt::unsupported(model.name));
        };
        let bits = self.value_on_model(state, arg);
        let value = self.pool.fp_const(sort, bits);
        let equal = self.pool.eq(arg, value);
        if state.knowledge().known(&mut self.pool, equal) == Some(true) {
            return Ok(bits);
        }
        let place = state.frame().point();
        let values = &mut self.followed_values;
        let follows = state.log.decide(Question::Follow, || {
            let followed = values.entry(place).or_default();
            *followed += 1;
            *followed < FOLLOWED_VALUES && !state.course.replay
        });
        if follows {
            return Err(self.stopped(state, Stop::Split(equal, None)));
        }
        if !state.course.replay && !state.log.is_played() {
            let at = self.text_at(state);
            self.cut_ahead(state, Cut::Mathematics(model.name.to_owned(), at));
        }
        state.add_fact(&mut self.pool, equal);
        Ok(bits)
    }
}

const fn rounding(function: ExactMathFn) -> Option<RoundingMode> {
    use ExactMathFn::*;
    Some(match function {
        Floor | Floorf => RoundingMode::TowardNegative,
        Ceil | Ceilf => RoundingMode::TowardPositive,
        Trunc | Truncf => RoundingMode::TowardZero,
        Round | Roundf => RoundingMode::NearestAway,
        Rint | Rintf | Nearbyint | Nearbyintf => RoundingMode::NearestEven,
        Fabs | Fabsf | Sqrt | Sqrtf | Fmod | Fmodf | Fmin | Fminf | Fmax | Fmaxf | Copysign
        | Copysignf | Inf | Inff | HugeVal | HugeValf | Nan | Nanf => return None,
    })
}
