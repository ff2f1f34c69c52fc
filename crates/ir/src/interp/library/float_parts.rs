//! `frexp`, `modf`, `ldexp`, `scalbn`: floats taken apart and put together, exactly.

use crate::interp::machine::{Machine, Step};
use crate::libc::FloatPartsFn;
use crate::program::arith::{f32_bits, f32_of, f64_bits, f64_of};

impl Machine<'_, '_> {
    /// Calls one of the functions. `b` is the second argument: where the other part goes, or the power
    /// of two.
    pub(in crate::interp) fn parts_function(
        &mut self,
        function: FloatPartsFn,
        a: u128,
        b: u128,
    ) -> Step<u128> {
        let (double, single, pointer) = (f64_of(a), f32_of(a), b as u64);
        Ok(match function {
            FloatPartsFn::Frexp => {
                let (fraction, exponent) = frexp(double);
                self.memory.store(pointer, 4, u128::from(exponent as u32))?;
                f64_bits(fraction)
            }
            FloatPartsFn::Frexpf => {
                let (fraction, exponent) = frexp(f64::from(single));
                self.memory.store(pointer, 4, u128::from(exponent as u32))?;
                f32_bits(fraction as f32)
            }
            FloatPartsFn::Modf => {
                self.memory.store(pointer, 8, f64_bits(double.trunc()))?;
                f64_bits(fraction_of(double))
            }
            FloatPartsFn::Modff => {
                self.memory.store(pointer, 4, f32_bits(single.trunc()))?;
                f32_bits(fraction_of(f64::from(single)) as f32)
            }
            FloatPartsFn::Ldexp | FloatPartsFn::Scalbn => f64_bits(ldexp(double, b as u32 as i32)),
            // What the wider format rounds is nothing in the narrower one.
            FloatPartsFn::Ldexpf | FloatPartsFn::Scalbnf => {
                f32_bits(ldexp(f64::from(single), b as u32 as i32) as f32)
            }
        })
    }
}

/// A magnitude of at least a half and below one, and the power of two that it is to be multiplied
/// by.
fn frexp(x: f64) -> (f64, i32) {
    let bits = x.to_bits();
    let (exponent, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    if x == 0.0 || exponent == 0x7ff {
        return (x, 0);
    }
    let sign = bits & (1 << 63);
    let (mantissa, exponent) = match exponent {
        0 => {
            let zeros = (mantissa << 12).leading_zeros();
            (mantissa << (zeros + 1) & ((1 << 52) - 1), -1022 - zeros as i32)
        }
        _ => (mantissa, exponent as i32 - 1022),
    };
    (f64::from_bits(sign | 0x3fe << 52 | mantissa), exponent)
}

/// The fractional part, with the sign of the whole.
fn fraction_of(x: f64) -> f64 {
    let fraction = if x.is_infinite() { 0.0 } else { x - x.trunc() };
    fraction.copysign(x)
}

/// `x * 2^power`, rounded once: before the last step nothing is lost.
fn ldexp(x: f64, power: i32) -> f64 {
    let two_to = |power: i32| f64::from_bits(((1023 + power) as u64) << 52);
    let (mut x, mut power) = (x, power.clamp(-2200, 2200));
    for _ in 0..2 {
        if power > 1023 {
            x *= two_to(1023);
            power -= 1023;
        } else if power < -1022 {
            x *= two_to(-969);
            power += 969;
        }
    }
    x * two_to(power.clamp(-1022, 1023))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_taken_apart_and_put_together_again() {
        for x in [1.0, -0.75, 1e300, 5e-324, -1.5e-310, f64::MAX, f64::MIN_POSITIVE] {
            let (fraction, exponent) = frexp(x);
            assert!((0.5..1.0).contains(&fraction.abs()), "{x}: {fraction}");
            assert_eq!(ldexp(fraction, exponent).to_bits(), x.to_bits(), "{x}");
        }
        assert_eq!(frexp(0.0), (0.0, 0));
        assert_eq!(frexp(f64::INFINITY), (f64::INFINITY, 0));
    }

    #[test]
    fn scaling_rounds_once_and_saturates() {
        // 3 * 2^-1075 lies half way between one and two of the least numbers: to the even one.
        assert_eq!(ldexp(3.0, -1075), 2.0 * 5e-324);
        assert_eq!(ldexp(1.0, -1075), 0.0);
        assert_eq!(ldexp(5e-324, 2097), f64::from_bits(0x7fe0_0000_0000_0000));
        assert_eq!(ldexp(1.0, i32::MAX), f64::INFINITY);
        assert_eq!(ldexp(-1.0, i32::MIN).to_bits(), (-0.0f64).to_bits());
        assert_eq!(fraction_of(-3.25), -0.25);
    }
}
