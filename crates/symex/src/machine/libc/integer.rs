//! Builtin functions on one integer.

use lydian_eval::Traps;
use lydian_ir::TrapKind;
use lydian_ir::arith::Overflow;
use lydian_ir::libc::IntegerFn;
use lydian_smt::{Term, TermPool};

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn integer_function(
        &mut self,
        state: &mut State<N>,
        function: IntegerFn,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        use IntegerFn::*;
        let a = args[0];
        let mut traps = Traps::none();
        if matches!(function, Clz | Clzl | Clzll | Ctz | Ctzl | Ctzll) {
            let some = self.pool.is_nonzero(a);
            let none = self.pool.not(some);
            traps.add(&self.pool, TrapKind::Unreachable, none);
        }
        if matches!(function, Abs | Labs | Llabs)
            && state.overflow(self.context.config.overflow) == Overflow::Trap
        {
            let overflows = self.pool.sneg_overflows(a);
            traps.add(&self.pool, TrapKind::SignedOverflow, overflows);
        }
        self.leave_traps(state, &traps)?;
        let pool = &mut self.pool;
        Ok(match function {
            Abs | Labs | Llabs => {
                let negative = pool.sign_bit(a);
                let negated = pool.neg(a);
                pool.ite(negative, negated, a)
            }
            Clz | Clzl | Clzll => leading_zeros(pool, a),
            Ctz | Ctzl | Ctzll => trailing_zeros(pool, a),
            Clrsb | Clrsbl | Clrsbll => {
                let last = pool.bv(pool.width(a), u64::from(pool.width(a)) - 1);
                let sign = pool.ashr(a, last);
                let magnitude = pool.bvxor(a, sign);
                let zeros = leading_zeros(pool, magnitude);
                let one = pool.bv(32, 1);
                pool.sub(zeros, one)
            }
            Popcount | Popcountl | Popcountll => ones(pool, a),
            Parity | Parityl | Parityll => {
                let count = ones(pool, a);
                let bit = pool.extract(0, 0, count);
                pool.zext(bit, 32)
            }
            Ffs | Ffsl | Ffsll => {
                let some = pool.is_nonzero(a);
                let zeros = trailing_zeros(pool, a);
                let (one, zero) = (pool.bv(32, 1), pool.bv(32, 0));
                let position = pool.add(zeros, one);
                pool.ite(some, position, zero)
            }
            Bswap16 | Bswap32 | Bswap64 => {
                let mut swapped = pool.extract(7, 0, a);
                for byte in 1..pool.width(a) / 8 {
                    let next = pool.extract(byte * 8 + 7, byte * 8, a);
                    swapped = pool.concat(swapped, next);
                }
                swapped
            }
        })
    }
}

/// The number of leading zeros, or the width for zero; 32 bits.
pub(crate) fn leading_zeros(pool: &mut TermPool, a: Term) -> Term {
    let width = pool.width(a);
    let mut result = pool.bv(32, u64::from(width));
    for bit in 0..width {
        let one = bit_is_set(pool, a, bit);
        let zeros = pool.bv(32, u64::from(width - 1 - bit));
        result = pool.ite(one, zeros, result);
    }
    result
}

/// The number of trailing zeros, or the width for zero; 32 bits.
fn trailing_zeros(pool: &mut TermPool, a: Term) -> Term {
    let width = pool.width(a);
    let mut result = pool.bv(32, u64::from(width));
    for bit in (0..width).rev() {
        let one = bit_is_set(pool, a, bit);
        let zeros = pool.bv(32, u64::from(bit));
        result = pool.ite(one, zeros, result);
    }
    result
}

fn bit_is_set(pool: &mut TermPool, a: Term, bit: u32) -> Term {
    let bit = pool.extract(bit, bit, a);
    pool.is_nonzero(bit)
}

/// The number of ones; 32 bits.
fn ones(pool: &mut TermPool, a: Term) -> Term {
    let mut counts: Vec<Term> = (0..pool.width(a))
        .map(|bit| {
            let bit = pool.extract(bit, bit, a);
            pool.zext(bit, 32)
        })
        .collect();
    while counts.len() > 1 {
        counts = counts
            .chunks(2)
            .map(|pair| if let [x, y] = pair { pool.add(*x, *y) } else { pair[0] })
            .collect();
    }
    counts[0]
}
