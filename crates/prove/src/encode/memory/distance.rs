//! Distances within an object as sums, and their division by the strides that they consist of.

use lydian_smt::{BinOp, Node, Term, TermPool};

use crate::encode::memory::layout::Lanes;
use crate::encode::pointers::offset::Offset;

/// The most parts of a sum.
const MOST_PARTS: usize = 32;

/// The index of the period in which a distance lies that is `start` bytes after the period's beginning.
///
/// An index of few bits is enough, since the distance lies inside of the object. So the division can be
/// done on the factors of a sum: `(8 * x + 4 - 4) / 8` has the lowest bits of `x`.
pub(crate) fn index_of(pool: &mut TermPool, distance: Term, start: u64, lanes: &Lanes) -> Term {
    let bits = lanes.index_bits;
    if let Some(constant) = pool.as_u64(distance) {
        return pool.bv(bits, constant / lanes.period);
    }
    if let Some(sum) = linear(pool, distance)
        && let Some(index) = sum.divided(pool, (start, lanes.period), bits)
    {
        return index;
    }
    if lanes.period.is_power_of_two() {
        let low = lanes.period.trailing_zeros();
        return pool.extract(low + bits - 1, low, distance);
    }
    let start = pool.bv(64, start);
    let rest = pool.sub(distance, start);
    let period = pool.bv(64, lanes.period);
    let index = pool.udiv(rest, period);
    pool.extract(bits - 1, 0, index)
}

/// Whether a distance, which is `start` more than a multiple of the stride, is at most `last`. Where that
/// is simpler, the multiples are compared.
pub(crate) fn is_within(pool: &mut TermPool, distance: Term, at: Offset, last: u64) -> Term {
    let shift = at.stride.trailing_zeros().min(32);
    let step = 1 << shift;
    let start = at.start.rem_euclid(step) as u64;
    let multiple = match at.stride {
        0 => None,
        _ => linear(pool, distance)
            .and_then(|sum| sum.divided(pool, (start, step as u64), 64 - shift)),
    };
    let Some(multiple) = multiple.filter(|_| start <= last) else {
        let last = pool.bv(64, last);
        return pool.ule(distance, last);
    };
    let most = pool.bv(64 - shift, (last - start) >> shift);
    pool.ule(multiple, most)
}

/// A sum of terms with factors, modulo 2^64. A term of fewer bits has a factor whose zeros make up for
/// those that it lacks.
struct Sum {
    parts: Vec<(i64, Term)>,
    constant: i64,
}

impl Sum {
    /// The lowest bits of the number by which `period` has to be multiplied to give the sum less
    /// `start`, if all factors are multiples of the period.
    fn divided(self, pool: &mut TermPool, (start, period): (u64, u64), bits: u32) -> Option<Term> {
        let period = i64::try_from(period).ok()?;
        let constant = self.constant.wrapping_sub(start as i64);
        let divides = |number: i64| number % period == 0;
        if !divides(constant) || !self.parts.iter().all(|(factor, _)| divides(*factor)) {
            return None;
        }
        let mut quotient = pool.bv_signed(bits, constant / period);
        for (factor, part) in self.parts {
            let factor = pool.bv_signed(bits, factor / period);
            let part = pool.resize_unsigned(part, bits);
            let part = pool.mul(part, factor);
            quotient = pool.add(quotient, part);
        }
        Some(quotient)
    }
}

/// A term of 64 bits as a sum, if it has one with few parts.
fn linear(pool: &TermPool, term: Term) -> Option<Sum> {
    let mut sum = Sum { parts: Vec::new(), constant: 0 };
    let mut waiting = vec![(1_i64, term)];
    while let Some((factor, term)) = waiting.pop() {
        if let Some(constant) = pool.as_i64(term) {
            sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(constant));
            continue;
        }
        match pool.node(term) {
            Node::Bin(BinOp::Add, a, b) => waiting.extend([(factor, a), (factor, b)]),
            Node::Bin(BinOp::Sub, a, b) => {
                waiting.extend([(factor, a), (factor.wrapping_neg(), b)]);
            }
            Node::Bin(BinOp::Mul, a, b) => match (pool.as_i64(a), pool.as_i64(b)) {
                (Some(by), _) => waiting.push((factor.wrapping_mul(by), b)),
                (_, Some(by)) => waiting.push((factor.wrapping_mul(by), a)),
                _ => sum.parts.push((factor, term)),
            },
            Node::Bin(BinOp::Shl, a, b) => match pool.as_u64(b) {
                Some(by @ 0..=62) => waiting.push((factor.wrapping_mul(1 << by), a)),
                _ => sum.parts.push((factor, term)),
            },
            Node::Bin(BinOp::Concat, a, b) if pool.as_u64(b) == Some(0) && pool.width(b) <= 62 => {
                waiting.push((factor.wrapping_mul(1 << pool.width(b)), a));
            }
            Node::Un(lydian_smt::UnOp::BvNeg, a) => waiting.push((factor.wrapping_neg(), a)),
            _ => sum.parts.push((factor, term)),
        }
        if sum.parts.len() + waiting.len() > MOST_PARTS {
            return None;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use lydian_smt::{Evaluator, Model, Sort, Value};

    use super::*;
    use crate::encode::memory::layout::Lane;

    #[test]
    fn a_distance_divided_by_its_factors_is_the_quotient() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::BitVec(32));
        for (period, start) in [(8, 4), (12, 8), (24, 20), (2, 0), (7, 3)] {
            let lanes = Lanes {
                period,
                lanes: vec![Lane { offset: start, size: 1 }],
                index_bits: 10,
                count: 1000,
            };
            let (wide, factor) = (pool.sext(x, 64), pool.bv(64, period));
            let (product, more) = (pool.mul(wide, factor), pool.bv(64, 3 * period + start));
            let distance = pool.add(product, more);
            let index = index_of(&mut pool, distance, start, &lanes);
            let at = Offset::ZERO.plus(start as i64).with_stride(period);
            let within = is_within(&mut pool, distance, at, 999 * period + start);
            for value in [0, 1, 5, 996, 997, 0xffff_fffd, 0xffff_fffc, 1 << 30] {
                let value = Value::from_u64(Sort::BitVec(32), value);
                let model = Model::from_values(vec![(x, value)]);
                let mut evaluator = Evaluator::new();
                let exact = evaluator.eval_u64(&pool, &model, distance);
                let is_in = exact <= 999 * period + start;
                assert_eq!(evaluator.holds(&pool, &model, within), is_in, "{exact} of {period}");
                if is_in {
                    let found = evaluator.eval_u64(&pool, &model, index);
                    assert_eq!(found, exact / period, "{exact} by {period}");
                }
            }
        }
    }
}
