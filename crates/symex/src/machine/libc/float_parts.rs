//! `frexp`, `modf`, `ldexp` and `scalbn` as exact terms.

use lydian_eval::Traps;
use lydian_eval::nan::is_negative;
use lydian_ir::libc::FloatPartsFn;
use lydian_smt::{FloatSort, RoundingMode, Sort, Term, TermPool};

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::libc::integer::leading_zeros;
use crate::machine::state::{Notes, State};

/// The bits of a double's fraction.
const FRACTION: u32 = 52;
/// Powers of two beyond this in either direction take every number to zero or infinity.
const MOST_POWER: i64 = 2200;

impl<N: Notes> Machine<'_, '_, N> {
    /// Calls one of the functions; `None` where it does not take its arguments.
    pub(crate) fn parts_function(
        &mut self,
        state: &mut State<N>,
        function: FloatPartsFn,
        args: &[Term],
    ) -> Result<Option<Term>, Interrupt> {
        use FloatPartsFn::*;
        let (Some(&x), Some(&second)) = (args.first(), args.get(1)) else { return Ok(None) };
        let Sort::Float(sort) = self.pool.sort(x) else { return Ok(None) };
        let pool = &mut self.pool;
        let (result, other) = match function {
            Frexp | Frexpf => {
                let wide = pool.fp_to_fp(FloatSort::F64, x);
                let (fraction, exponent) = frexp(pool, wide);
                (fraction, Some((4, exponent)))
            }
            Modf | Modff => {
                let whole = pool.fp_round(RoundingMode::TowardZero, x);
                let rest = fraction_of(pool, sort, x, whole);
                (rest, Some((u64::from(sort.width() / 8), whole)))
            }
            Ldexp | Ldexpf | Scalbn | Scalbnf => {
                let wide = pool.fp_to_fp(FloatSort::F64, x);
                (ldexp(pool, wide, second), None)
            }
        };
        let result = pool.fp_to_fp(sort, result);
        if let Some((size, value)) = other {
            let mut traps = Traps::none();
            let to = self.resolve_for_write(state, second, size, &mut traps)?;
            self.leave_traps(state, &traps)?;
            state.memory.store(&mut self.pool, &to, size, value);
        }
        Ok(Some(result))
    }
}

/// The significand, at least a half and below one, and the exponent. Zeros, infinities and NaNs are
/// themselves with exponent 0.
fn frexp(pool: &mut TermPool, x: Term) -> (Term, Term) {
    let bits = pool.fp_to_bits(x);
    let sign = pool.extract(63, 63, bits);
    let biased = pool.extract(62, FRACTION, bits);
    let fraction = pool.extract(FRACTION - 1, 0, bits);
    let bias = pool.bv(32, 1022);
    let wide = pool.zext(biased, 32);
    let exponent = pool.sub(wide, bias);
    // Of a subnormal number, the leading one is moved out of the fraction.
    let zeros = leading_zeros(pool, fraction);
    let least = pool.neg(bias);
    let small_exponent = pool.sub(least, zeros);
    let one = pool.bv(FRACTION, 1);
    let distance = pool.resize_unsigned(zeros, FRACTION);
    let distance = pool.add(distance, one);
    let small_fraction = pool.shl(fraction, distance);
    let normal = pool.is_nonzero(biased);
    let exponent = pool.ite(normal, exponent, small_exponent);
    let fraction = pool.ite(normal, fraction, small_fraction);
    let half = pool.bv(11, 0x3fe);
    let high = pool.concat(sign, half);
    let whole = pool.concat(high, fraction);
    let scaled = pool.fp_from_bits(FloatSort::F64, whole);
    let (zero, infinite, nan) = (pool.fp_is_zero(x), pool.fp_is_inf(x), pool.fp_is_nan(x));
    let itself = pool.or(infinite, nan);
    let itself = pool.or(zero, itself);
    let none = pool.bv(32, 0);
    (pool.ite(itself, x, scaled), pool.ite(itself, none, exponent))
}

/// The fractional part, with the sign of the whole.
fn fraction_of(pool: &mut TermPool, sort: FloatSort, x: Term, whole: Term) -> Term {
    let rest = pool.fp_sub(x, whole);
    let zero = pool.fp_const(sort, 0);
    let infinite = pool.fp_is_inf(x);
    let rest = pool.ite(infinite, zero, rest);
    let magnitude = pool.fp_abs(rest);
    let opposite = pool.fp_neg(magnitude);
    let negative = is_negative(pool, x);
    pool.ite(negative, opposite, magnitude)
}

/// `x * 2^power`, rounded once: every step but the last is exact.
fn ldexp(pool: &mut TermPool, x: Term, power: Term) -> Term {
    let most = pool.bv_signed(32, MOST_POWER);
    let least = pool.bv_signed(32, -MOST_POWER);
    let over = pool.slt(most, power);
    let under = pool.slt(power, least);
    let power = pool.ite(over, most, power);
    let mut power = pool.ite(under, least, power);
    let mut x = x;
    for _ in 0..2 {
        let (up, down) = (pool.bv_signed(32, 1023), pool.bv_signed(32, -969));
        let lowest = pool.bv_signed(32, -1022);
        let (large, small) = (pool.slt(up, power), pool.slt(power, lowest));
        let none = pool.bv(32, 0);
        let step = pool.ite(small, down, none);
        let step = pool.ite(large, up, step);
        let factor = two_to(pool, step);
        x = pool.fp_mul(x, factor);
        power = pool.sub(power, step);
    }
    let lowest = pool.bv_signed(32, -1022);
    let highest = pool.bv_signed(32, 1023);
    let (large, small) = (pool.slt(highest, power), pool.slt(power, lowest));
    let power = pool.ite(large, highest, power);
    let power = pool.ite(small, lowest, power);
    let factor = two_to(pool, power);
    pool.fp_mul(x, factor)
}

/// The double `2^power` for powers from -1022 to 1023.
fn two_to(pool: &mut TermPool, power: Term) -> Term {
    let bias = pool.bv(32, 1023);
    let biased = pool.add(power, bias);
    let exponent = pool.extract(11, 0, biased);
    let fraction = pool.bv(FRACTION, 0);
    let bits = pool.concat(exponent, fraction);
    pool.fp_from_bits(FloatSort::F64, bits)
}
