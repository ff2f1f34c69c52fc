//! Queries with float arithmetic, decided by intervals and bisection before they are solved as circuits.
//!
//! Branch and prune, as for constraints over floats (Botella, Gotlieb and Michel: *Symbolic Execution of
//! Floating-Point Computations*, 2006): a box gives each variable an interval of bit patterns. A box in
//! which intervals refute an assumption goes. Of others a corner and the middle are tried, and then the
//! box is cut in two. Bit patterns put as many numbers in each half, and their halves have one sign
//! first of all, then one exponent.

use crate::analysis::boxes::Boxes;
use crate::solver::{Answer, Limits, Solver, checked};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::semantics::ones;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::value::{Model, Value};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// The most variables of a query that is tried.
const MOST_VARIABLES: usize = 8;
/// The most terms of such a query.
const MOST_TERMS: usize = 4_000;
/// The most boxes of a query with one variable; those with more get a part of them.
const MOST_BOXES: usize = 4_000_000;
/// The boxes between two looks at the clock.
const BETWEEN_LOOKS: usize = 256;

/// Bit patterns from the first to the last, by variable.
type Domain = Vec<(u64, u64)>;

/// The end of a search.
enum Search {
    /// No box is left.
    Refuted,
    /// This satisfies all assumptions, if the intervals are right.
    Found(Model),
    /// The boxes or the time were not enough.
    Open,
}

/// Decides queries with float arithmetic over few variables.
pub struct Branching<S> {
    inner: S,
    evaluator: Evaluator,
    arithmetic: FloatArithmetic,
    /// Queries answered without the inner solver.
    pub answered: u64,
}

impl<S: Solver> Branching<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> Branching<S> {
        Branching {
            inner,
            evaluator: Evaluator::new(),
            arithmetic: FloatArithmetic::default(),
            answered: 0,
        }
    }

    fn search(&mut self, pool: &TermPool, assumptions: &[Term], limits: &Limits) -> Search {
        let arithmetic = &mut self.arithmetic;
        if limits.conflicts == Some(0) || !assumptions.iter().any(|a| arithmetic.is_in(pool, *a)) {
            return Search::Open;
        }
        let Some(boxes) = Boxes::of(pool, assumptions, MOST_TERMS) else { return Search::Open };
        let is_small = |(term, _): &(Term, usize)| pool.sort(*term).is_small();
        let count = boxes.variables.len();
        if count > MOST_VARIABLES || !boxes.variables.iter().all(is_small) {
            return Search::Open;
        }
        let rest = MOST_BOXES >> (2 * count.saturating_sub(1)).min(12);
        let evaluator = &mut self.evaluator;
        Bisection { pool, assumptions, boxes, evaluator, rest }.run(limits)
    }
}

impl<S: Solver> Solver for Branching<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let answer = match self.search(pool, assumptions, limits) {
            Search::Refuted => Answer::Unsat { core: None },
            Search::Found(model) => {
                checked(&mut self.evaluator, pool, assumptions, model, "bisection")
            }
            Search::Open => return self.inner.check(pool, assumptions, limits),
        };
        self.answered += 1;
        answer
    }

    fn forget(&mut self) {
        self.evaluator = Evaluator::new();
        self.arithmetic = FloatArithmetic::default();
        self.inner.forget();
    }

    forward_to_inner!(offer, effort, name);
}

/// The terms that have float arithmetic in them. Queries share most of their terms.
#[derive(Default)]
struct FloatArithmetic {
    /// The pool of the terms.
    pool: u64,
    /// Terms without any.
    plain: FxHashSet<Term>,
    /// Assumptions with some.
    computing: FxHashSet<Term>,
}

impl FloatArithmetic {
    fn is_in(&mut self, pool: &TermPool, root: Term) -> bool {
        if self.pool != pool.id() {
            *self = Self { pool: pool.id(), ..Self::default() };
        }
        if self.computing.contains(&root) {
            return true;
        }
        let mut stack = vec![root];
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        while let Some(term) = stack.pop() {
            if self.plain.contains(&term) || !seen.insert(term) {
                continue;
            }
            match pool.node(term) {
                Node::Bin(BinOp::FpAdd | BinOp::FpSub | BinOp::FpMul | BinOp::FpDiv, ..)
                | Node::Un(UnOp::FpSqrt, _) => {
                    self.computing.insert(root);
                    return true;
                }
                _ => stack.extend(pool.children(term)),
            }
        }
        self.plain.extend(seen);
        false
    }
}

struct Bisection<'a> {
    pool: &'a TermPool,
    assumptions: &'a [Term],
    boxes: Boxes,
    evaluator: &'a mut Evaluator,
    /// The boxes that may still be looked at.
    rest: usize,
}

impl Bisection<'_> {
    fn run(&mut self, limits: &Limits) -> Search {
        // The inner solver gets a half of the time.
        let end = limits.deadline().map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now) / 2
        });
        let mut waiting: Vec<Domain> = vec![self.whole()];
        while let Some(domain) = waiting.pop() {
            let look = self.rest.is_multiple_of(BETWEEN_LOOKS);
            let is_late = look && end.is_some_and(|end| Instant::now() >= end);
            if self.rest == 0 || is_late || (look && limits.interrupted()) {
                return Search::Open;
            }
            self.rest -= 1;
            let Some(is_certain) = self.possible(&domain) else { continue };
            if let Some(model) = self.tried(&domain, is_certain) {
                return Search::Found(model);
            }
            match halves(&domain) {
                Some([first, second]) => waiting.extend([second, first]),
                // A point at which intervals are not exact enough: zeros have two signs.
                None => return Search::Open,
            }
        }
        Search::Refuted
    }

    /// The box of all values.
    fn whole(&self) -> Domain {
        let last = |(term, _): &(Term, usize)| match self.pool.sort(*term) {
            Sort::Bool => 1,
            sort => ones(sort.width()),
        };
        self.boxes.variables.iter().map(|variable| (0, last(variable))).collect()
    }

    /// Whether all assumptions hold in all of a box; none if one fails in all of it.
    fn possible(&mut self, domain: &Domain) -> Option<bool> {
        self.boxes.evaluate(domain);
        let mut is_certain = true;
        for number in 0..self.assumptions.len() {
            let (no, yes) = self.boxes.root(number);
            yes.then_some(())?;
            is_certain &= !no;
        }
        Some(is_certain)
    }

    /// A model in a box: its first corner or its middle, if one is.
    fn tried(&mut self, domain: &Domain, is_certain: bool) -> Option<Model> {
        let is_point = domain.iter().all(|(low, high)| low == high);
        // Most boxes are far from a model, and a few tries at each size are enough.
        if !is_certain && !is_point && !self.rest.is_multiple_of(8) {
            return None;
        }
        let middle = |(low, high): &(u64, u64)| low + (high - low) / 2;
        let choices: [Vec<u64>; 2] =
            [domain.iter().map(middle).collect(), domain.iter().map(|(low, _)| *low).collect()];
        choices.into_iter().find_map(|values| {
            let model = self.model(&values);
            let mut all = self.assumptions.iter();
            all.all(|term| self.evaluator.holds(self.pool, &model, *term)).then_some(model)
        })
    }

    fn model(&self, patterns: &[u64]) -> Model {
        let value = |((term, _), bits): (&(Term, usize), &u64)| {
            (*term, Value::from_u64(self.pool.sort(*term), *bits))
        };
        Model::from_values(self.boxes.variables.iter().zip(patterns).map(value).collect())
    }
}

/// A box cut in the middle of its longest side; none for a point.
fn halves(domain: &Domain) -> Option<[Domain; 2]> {
    let length = |at: &usize| domain[*at].1 - domain[*at].0;
    let longest = (0..domain.len()).max_by_key(length).filter(|at| length(at) > 0)?;
    let (low, high) = domain[longest];
    let middle = low + (high - low) / 2;
    let (mut first, mut second) = (domain.clone(), domain.clone());
    first[longest] = (low, middle);
    second[longest] = (middle + 1, high);
    Some([first, second])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::FloatSort;
    use lydian_base::Rng;

    /// Never has an answer.
    struct Silent;

    impl Solver for Silent {
        fn check(&mut self, _: &mut TermPool, _: &[Term], _: &Limits) -> Answer {
            Answer::Unknown(crate::solver::Reason::GaveUp("silent".into()))
        }
        fn name(&self) -> String {
            "silent".into()
        }
    }

    /// A float whose upper half of bits is a variable, which gives all magnitudes.
    fn coarse(p: &mut TermPool, name: &str) -> Term {
        let (bits, zero) = (p.var(name, Sort::BitVec(8)), p.bv(24, 0));
        let pattern = p.concat(bits, zero);
        p.fp_from_bits(FloatSort::F32, pattern)
    }

    fn random_float(p: &mut TermPool, rng: &mut Rng, leaves: &[Term], depth: u32) -> Term {
        if depth == 0 || rng.below(5) == 0 {
            let number = rng.below(9) as f32 / 2.0 - 2.0;
            return match rng.below(4) {
                0 => p.f32(number),
                _ => leaves[rng.below(leaves.len() as u64) as usize],
            };
        }
        let a = random_float(p, rng, leaves, depth - 1);
        let b = random_float(p, rng, leaves, depth - 1);
        match rng.below(9) {
            0 | 1 => p.fp_add(a, b),
            2 => p.fp_sub(a, b),
            3 | 4 => p.fp_mul(a, b),
            5 => p.fp_div(a, b),
            6 => p.fp_neg(a),
            7 => p.fp_abs(a),
            _ => p.fp_sqrt(a),
        }
    }

    #[test]
    fn answers_are_those_of_all_values_of_coarse_floats() {
        let mut rng = Rng::new(11);
        let (mut sat, mut unsat, mut open) = (0, 0, 0);
        for round in 0..600 {
            let mut p = TermPool::new();
            let x = p.var("x", Sort::BitVec(8));
            let leaf = match round % 2 {
                0 => coarse(&mut p, "x"),
                _ => p.fp_from_signed(FloatSort::F32, x),
            };
            let mut query = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let a = random_float(&mut p, &mut rng, &[leaf], 3);
                let b = random_float(&mut p, &mut rng, &[leaf], 1);
                let condition = match rng.below(5) {
                    0 => p.fp_eq(a, b),
                    1 => p.fp_lt(a, b),
                    2 => p.fp_is_nan(a),
                    3 => p.fp_is_inf(a),
                    _ => p.fp_le(a, b),
                };
                query.push(if rng.below(2) == 0 { p.not(condition) } else { condition });
            }
            let mut evaluator = Evaluator::new();
            let expected = (0..256).any(|bits| {
                let model = Model::from_values(vec![(x, Value::from_u64(Sort::BitVec(8), bits))]);
                query.iter().all(|term| evaluator.holds(&p, &model, *term))
            });
            match Branching::new(Silent).check(&mut p, &query, &Limits::none()) {
                Answer::Sat(_) => sat += 1,
                Answer::Unsat { .. } => {
                    assert!(!expected, "query {round} has a model");
                    unsat += 1;
                }
                Answer::Unknown(reason) => {
                    assert!(!reason.is_internal_error(), "query {round}: {reason}");
                    open += 1;
                }
            }
        }
        assert!(sat > 100 && unsat > 100 && open < 400, "{sat}, {unsat}, {open}");
    }

    #[test]
    fn a_bound_of_a_polynomial_is_shown_and_one_that_is_too_low_is_refuted() {
        let mut p = TermPool::new();
        let bits = p.var("x", Sort::BitVec(32));
        let x = p.fp_from_bits(FloatSort::F32, bits);
        let (least, most, six) = (p.f32(-1.5), p.f32(1.5), p.f32(6.0));
        let square = p.fp_mul(x, x);
        let cube = p.fp_mul(square, x);
        let sixth = p.fp_div(cube, six);
        let sine = p.fp_sub(x, sixth);
        let inside = [p.fp_lt(least, x), p.fp_lt(x, most)];
        for (bound, expected) in [(0.95, true), (0.94, false)] {
            let bound = p.f32(bound);
            let below = p.fp_le(sine, bound);
            let above = p.not(below);
            let query = [inside[0], inside[1], above];
            let answer = Branching::new(Silent).check(&mut p, &query, &Limits::none());
            assert_eq!(answer.is_unsat(), expected, "{answer}");
            assert_eq!(answer.is_sat(), !expected, "{answer}");
        }
    }
}
