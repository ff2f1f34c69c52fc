//! The bits of floats. A NaN has many possible bit patterns.
//!
//! Float terms are values: all NaNs are one value, and the two zeros are two. That is not enough if a
//! program reads the bits of a float (a union, `memcpy`, `signbit`). On x86-64 an invalid operation
//! gives a NaN with its sign set. An operator with a NaN operand gives that NaN made quiet, and the
//! first of two NaN operands, which a compiler may exchange. A NaN that a compiler computes has a
//! clear sign. So [`float_bits`] assumes only what holds however the program is compiled:
//!
//! - A float that was made of bits (an input, a loaded value) has these bits, wherever it is copied.
//!   Negation flips their sign, `fabs` clears it, and a choice chooses.
//! - A float that is no NaN has the bits of its value.
//! - A NaN that an operation gives has any sign and payload: they are a symbol that nothing
//!   restricts. So no label becomes infeasible because of assumed NaN bits. The name of the symbol
//!   shows that it is [`Undetermined::NanBits`], so an engine does not claim a label that depends on
//!   it.
//!
//! The symbol belongs to the structure of the term. A value that is read twice has one NaN, also in
//! the pool of another worker that makes the same term.

use lydian_smt::{FloatSort, Node, Sort, Term, TermPool, UnOp};

use crate::undetermined::{Undetermined, undefined_symbol};

/// The bits of a float.
pub fn float_bits(pool: &mut TermPool, float: Term) -> Term {
    let Sort::Float(sort) = pool.sort(float) else { return float };
    match pool.node(float) {
        Node::Un(UnOp::FpFromBits, bits) => bits,
        Node::Un(UnOp::FpNeg, of) => {
            let (bits, sign) = (float_bits(pool, of), sign_mask(pool, sort));
            pool.bvxor(bits, sign)
        }
        Node::Un(UnOp::FpAbs, of) => {
            let (bits, sign) = (float_bits(pool, of), sign_mask(pool, sort));
            let others = pool.bvnot(sign);
            pool.bvand(bits, others)
        }
        Node::Ite(condition, a, b) => {
            let (a, b) = (float_bits(pool, a), float_bits(pool, b));
            pool.ite(condition, a, b)
        }
        _ => {
            let nan = pool.fp_is_nan(float);
            let value = pool.fp_to_bits(float);
            if pool.as_bool(nan) == Some(false) {
                return value;
            }
            let any = any_nan(pool, sort, float);
            pool.ite(nan, any, value)
        }
    }
}

/// The float of some bits.
pub fn float_from_bits(pool: &mut TermPool, sort: FloatSort, bits: Term) -> Term {
    // Bits that [`float_bits`] made of a float are that float.
    if let Node::Ite(condition, _, value) = pool.node(bits)
        && let Node::Un(UnOp::FpToBits, float) = pool.node(value)
        && pool.sort(float) == Sort::Float(sort)
        && let Node::Un(UnOp::FpIsNan, tested) = pool.node(condition)
        && tested == float
    {
        return float;
    }
    pool.fp_from_bits(sort, bits)
}

/// Whether the sign of a float is set, be it a NaN's.
pub fn is_negative(pool: &mut TermPool, float: Term) -> Term {
    let bits = float_bits(pool, float);
    let top = pool.width(bits) - 1;
    let sign = pool.extract(top, top, bits);
    pool.is_nonzero(sign)
}

/// The result of an operation that the pool has simplified to its operand: the same value, though
/// a NaN may have been made quiet.
pub fn computed(pool: &mut TermPool, result: Term, operands: &[Term]) -> Term {
    let Sort::Float(sort) = pool.sort(result) else { return result };
    if !operands.contains(&result) {
        return result;
    }
    let nan = pool.fp_is_nan(result);
    let any = pool.fp_const(sort, sort.nan_bits());
    pool.ite(nan, any, result)
}

/// The bits of some NaN: quiet, of any sign and payload.
fn any_nan(pool: &mut TermPool, sort: FloatSort, float: Term) -> Term {
    let name = format!("{:016x}", pool.structure(float));
    let free = undefined_symbol(pool, Undetermined::NanBits, &name, Sort::BitVec(sort.width()));
    let quiet = pool.bv(sort.width(), sort.nan_bits());
    pool.bvor(free, quiet)
}

fn sign_mask(pool: &mut TermPool, sort: FloatSort) -> Term {
    pool.bv(sort.width(), 1 << (sort.width() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of_nan(name: &str) -> bool {
        Undetermined::of_symbol(name) == Some(Undetermined::NanBits)
    }

    #[test]
    fn bits_survive_that_a_float_was_made_of() {
        let mut pool = TermPool::new();
        let bits = pool.var("x", Sort::BitVec(32));
        let float = float_from_bits(&mut pool, FloatSort::F32, bits);
        assert_eq!(float_bits(&mut pool, float), bits);
        let negated = pool.fp_neg(float);
        let sign = pool.bv(32, 1 << 31);
        let flipped = pool.bvxor(bits, sign);
        assert_eq!(float_bits(&mut pool, negated), flipped);
    }

    #[test]
    fn a_nan_that_was_computed_has_undetermined_bits_and_is_itself_again() {
        let mut pool = TermPool::new();
        let (a, b) = (pool.var("a", Sort::BitVec(64)), pool.var("b", Sort::BitVec(64)));
        let (a, b) = (pool.fp_from_bits(FloatSort::F64, a), pool.fp_from_bits(FloatSort::F64, b));
        let quotient = pool.fp_div(a, b);
        let bits = float_bits(&mut pool, quotient);
        let names: Vec<String> = pool
            .vars_of(bits)
            .iter()
            .filter_map(|var| pool.var_name(*var).map(str::to_owned))
            .collect();
        assert!(names.iter().any(|name| is_of_nan(name)), "{names:?}");
        assert_eq!(float_from_bits(&mut pool, FloatSort::F64, bits), quotient);
    }

    #[test]
    fn the_same_value_has_the_same_nan_in_another_pool_and_another_value_another_one() {
        let symbols = |others: u32| {
            let mut pool = TermPool::new();
            for other in 0..others {
                pool.var(&format!("o{other}"), Sort::Bool);
            }
            let [a, b] = ["a", "b"].map(|name| {
                let bits = pool.var(name, Sort::BitVec(64));
                pool.fp_from_bits(FloatSort::F64, bits)
            });
            [(a, b), (b, a)].map(|(a, b)| {
                let quotient = pool.fp_div(a, b);
                let bits = float_bits(&mut pool, quotient);
                let names = pool.vars_of(bits).to_vec().into_iter();
                let mut names = names.filter_map(|var| pool.var_name(var).map(str::to_owned));
                names.find(|name| is_of_nan(name)).expect("a symbol of a NaN")
            })
        };
        let (here, there) = (symbols(0), symbols(7));
        assert_eq!(here, there);
        assert_ne!(here[0], here[1]);
    }

    #[test]
    fn what_cannot_be_a_nan_has_the_bits_of_its_value() {
        let mut pool = TermPool::new();
        let n = pool.var("n", Sort::BitVec(32));
        let float = pool.fp_from_signed(FloatSort::F64, n);
        let bits = pool.fp_to_bits(float);
        assert_eq!(float_bits(&mut pool, float), bits);
    }
}
