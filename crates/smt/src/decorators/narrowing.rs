//! Narrowing of multiplications and divisions by variables to the width that the query's bounds allow.
//!
//! `0 < x < 60000` lets a 32-bit `x` be 16 zeros and 16 bits; the product of two such numbers is
//! a quarter of the gates, and a signed division is an unsigned one. Bounds come from interval
//! propagation ([`Bounds`]), which also refutes some queries by itself.
//!
//! The rewritten query is equivalent to the original, not just equisatisfiable: the premises of a
//! rewrite (that upper bits are zero, that a divisor is not) follow from the query and are assumptions
//! of the rewritten one. Models are models of both, and are checked. In a core, a rewritten assumption
//! stands for the original one and for the reasons of all its premises.
//!
//! Queries without such operators are passed on unchanged.

use crate::analysis::bounds::{Bounds, Reasons};
use crate::solver::{Answer, Limits, Solver, checked};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term};
use rustc_hash::FxHashMap;

/// Rewrites queries with multiplications and divisions by variables by the bounds in them.
pub struct Narrowing<S> {
    inner: S,
    pool: u64,
    /// By term: whether it has an operator that is worth the effort; 0 for not known.
    worth: Vec<u8>,
    evaluator: Evaluator,
    /// Queries that bounds alone refuted.
    pub refuted: u64,
}

const NO: u8 = 1;
const YES: u8 = 2;

impl<S: Solver> Narrowing<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> Narrowing<S> {
        Narrowing { inner, pool: 0, worth: Vec::new(), evaluator: Evaluator::new(), refuted: 0 }
    }

    /// Whether the term has a multiplication or division of two terms that are not constants.
    fn is_worth(&mut self, pool: &TermPool, root: Term) -> bool {
        self.worth.resize(pool.len(), 0);
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.worth[t.index()] != 0 {
                stack.pop();
                continue;
            }
            let children = pool.children(t);
            let of = |w: &[u8], c: &Term| w[c.index()];
            if is_hard(pool, t) || children.iter().any(|c| of(&self.worth, c) == YES) {
                self.worth[t.index()] = YES;
            } else if children.iter().all(|c| of(&self.worth, c) == NO) {
                self.worth[t.index()] = NO;
            } else {
                stack.extend(children.iter().filter(|c| of(&self.worth, c) == 0));
            }
        }
        self.worth[root.index()] == YES
    }
}

fn is_hard(pool: &TermPool, t: Term) -> bool {
    use BinOp::{Mul, SDiv, SRem, UDiv, URem};
    match pool.node(t) {
        Node::Bin(Mul | UDiv | URem | SDiv | SRem, a, b) => {
            pool.width(t) <= 64 && !pool.is_constant(a) && !pool.is_constant(b)
        }
        _ => false,
    }
}

/// A query being rewritten.
struct Rewriting<'a> {
    pool: &'a mut TermPool,
    bounds: &'a Bounds,
    /// The rewritten terms, with the reasons for their premises.
    done: FxHashMap<Term, (Term, Reasons)>,
    /// The premises, each with its reasons.
    granted: Vec<(Term, Reasons)>,
}

impl Rewriting<'_> {
    /// The rewritten form of a term; terms without bounds stay.
    fn of(&self, t: Term) -> (Term, Reasons) {
        self.done.get(&t).copied().unwrap_or((t, Reasons::default()))
    }

    fn grant(&mut self, t: Term, why: Reasons) {
        if self.pool.as_bool(t) != Some(true) && self.granted.iter().all(|g| g.0 != t) {
            self.granted.push((t, why));
        }
    }

    /// The low bits of a term whose other bits are zero by its bounds, which is noted.
    fn low_bits(&mut self, t: Term, bits: u32, why: Reasons) -> Term {
        let w = self.pool.width(t);
        if bits >= w {
            return t;
        }
        let upper = self.pool.extract(w - 1, bits, t);
        let zero = self.pool.bv(w - bits, 0);
        let is_zero = self.pool.eq(upper, zero);
        self.grant(is_zero, why);
        self.pool.extract(bits - 1, 0, t)
    }

    fn rewrite(&mut self, t: Term) -> (Term, Reasons) {
        match self.pool.node(t) {
            Node::Var(_) => self.variable(t),
            Node::Bin(op, a, b) if is_hard(self.pool, t) => self.hard(t, op, a, b),
            _ => self.rebuilt(t),
        }
    }

    fn variable(&mut self, t: Term) -> (Term, Reasons) {
        let w = self.pool.width(t);
        match self.bounds.get(t) {
            Some((i, why)) if i.bits() < w && matches!(self.pool.sort(t), Sort::BitVec(_)) => {
                if i.high == 0 {
                    let zero = self.pool.bv(w, 0);
                    let is_zero = self.pool.eq(t, zero);
                    self.grant(is_zero, why);
                    return (zero, why);
                }
                let low = self.low_bits(t, i.bits(), why);
                (self.pool.zext(low, w), why)
            }
            _ => (t, Reasons::default()),
        }
    }

    /// The term over its rewritten operands.
    fn rebuilt(&mut self, t: Term) -> (Term, Reasons) {
        let mut why = Reasons::default();
        let children: Vec<Term> = self
            .pool
            .children(t)
            .iter()
            .map(|&c| {
                let (new, reasons) = self.of(c);
                why = why.or(reasons);
                new
            })
            .collect();
        (self.pool.with_children(t, &children), why)
    }

    /// A multiplication or division, at the width that its operands' bounds need.
    fn hard(&mut self, t: Term, op: BinOp, a: Term, b: Term) -> (Term, Reasons) {
        let w = self.pool.width(t);
        let (Some((x, rx)), Some((y, ry))) = (self.bounds.get(a), self.bounds.get(b)) else {
            return self.rebuilt(t);
        };
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let fits = match op {
            BinOp::Mul => true,
            _ => y.low > 0 && !(signed && (x.bits() >= w || y.bits() >= w)),
        };
        let bits = match op {
            BinOp::Mul => (x.bits() + y.bits()).min(w),
            _ => x.bits().max(y.bits()),
        };
        if !fits || x.high == 0 || y.high == 0 || (bits >= w && !signed && op != BinOp::Mul) {
            return self.rebuilt(t);
        }
        let ((a, why_a), (b, why_b)) = (self.of(a), self.of(b));
        let why = why_a.or(why_b).or(rx).or(ry);
        let (low_a, low_b) = (self.low_bits(a, x.bits(), rx), self.low_bits(b, y.bits(), ry));
        let (p, q) = (self.pool.zext(low_a, bits), self.pool.zext(low_b, bits));
        if op != BinOp::Mul {
            let zero = self.pool.bv(w, 0);
            let nonzero = self.pool.neq(b, zero);
            self.grant(nonzero, ry);
        }
        let narrow = match op {
            BinOp::Mul => self.pool.mul(p, q),
            BinOp::UDiv | BinOp::SDiv => self.pool.udiv(p, q),
            _ => self.pool.urem(p, q),
        };
        (self.pool.zext(narrow, w), why)
    }
}

impl<S: Solver> Solver for Narrowing<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if self.pool != pool.id() {
            self.pool = pool.id();
            self.worth.clear();
        }
        if !assumptions.iter().any(|&a| self.is_worth(pool, a)) {
            return self.inner.check(pool, assumptions, limits);
        }
        let bounds = match Bounds::of(pool, assumptions) {
            Ok(bounds) => bounds,
            Err(core) => {
                self.refuted += 1;
                return Answer::Unsat { core: Some(core) };
            }
        };
        let mut rewriting =
            Rewriting { pool, bounds: &bounds, done: FxHashMap::default(), granted: Vec::new() };
        for &t in &bounds.order {
            let new = rewriting.rewrite(t);
            rewriting.done.insert(t, new);
        }
        let rewritten: Vec<(Term, Reasons)> = assumptions
            .iter()
            .enumerate()
            .map(|(i, &a)| {
                let (new, why) = rewriting.of(a);
                (new, why.or(Reasons::only(i)))
            })
            .chain(rewriting.granted.iter().copied())
            .collect();
        let query: Vec<Term> =
            rewritten.iter().map(|r| r.0).filter(|&t| pool.as_bool(t) != Some(true)).collect();
        match self.inner.check(pool, &query, limits) {
            Answer::Sat(model) => {
                let name = self.name();
                checked(&mut self.evaluator, pool, assumptions, model, &name)
            }
            Answer::Unsat { core: Some(core) } => {
                let mut why = Reasons::default();
                for &(_, r) in rewritten.iter().filter(|(t, _)| core.contains(t)) {
                    why = why.or(r);
                }
                Answer::Unsat { core: Some(why.of(assumptions)) }
            }
            answer => answer,
        }
    }

    fn forget(&mut self) {
        self.evaluator = Evaluator::new();
        self.inner.forget();
    }

    forward_to_inner!(offer, effort, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitblast::BitBlastSolver;
    use crate::bitblast::SatBackend;
    use crate::terms::value::{Model, Value};
    use lydian_base::Rng;

    /// Keeps the query that reaches it.
    struct Recorder(Vec<Term>);

    impl Solver for Recorder {
        fn check(&mut self, _: &mut TermPool, query: &[Term], _: &Limits) -> Answer {
            self.0 = query.to_vec();
            Answer::Unsat { core: None }
        }
        fn name(&self) -> String {
            "recorder".into()
        }
    }

    fn recorded(p: &mut TermPool, query: &[Term]) -> Vec<String> {
        let mut s = Narrowing::new(Recorder(vec![]));
        assert!(s.check(p, query, &Limits::none()).is_unsat());
        s.inner.0.iter().map(|&t| p.show(t).to_string()).collect()
    }

    #[test]
    fn a_product_and_a_signed_quotient_of_small_numbers_become_narrow_and_unsigned() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(32)), p.var("y", Sort::BitVec(32)));
        let (zero, k) = (p.bv(32, 0), p.bv(32, 200));
        let (product, quotient) = (p.mul(x, y), p.sdiv(x, y));
        let mut q: Vec<Term> = [x, y].iter().map(|&v| p.slt(zero, v)).collect();
        q.extend([p.slt(x, k), p.slt(y, k), p.slt(product, k), p.slt(k, quotient)]);
        assert!(recorded(&mut p, &q).is_empty(), "the quotient is not greater than 199");
        let ten = p.bv(32, 10);
        q[5] = p.slt(quotient, ten);
        let text = recorded(&mut p, &q).join("\n");
        assert!(text.contains("udiv") && !text.contains("sdiv"), "{text}");
        assert!(text.contains("(= (extract31:8 x) 0:24)"), "{text}");
    }

    #[test]
    fn a_query_without_hard_operators_passes_untouched() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(32));
        let (k, three) = (p.bv(32, 10), p.bv(32, 3));
        let t = p.mul(x, three);
        let q = [p.ult(x, k), p.eq(t, k)];
        let mut s = Narrowing::new(Recorder(vec![]));
        s.check(&mut p, &q, &Limits::none());
        assert_eq!(s.inner.0, q);
    }

    /// Random queries with bounds and hard operators at small widths, against all inputs.
    #[test]
    fn answers_cores_and_models_are_right_for_small_bounded_queries() {
        let mut random = Rng::new(5);
        let (mut sat, mut unsat) = (0, 0);
        for round in 0..400 {
            let w = 3 + (round % 3) as u32;
            let mut p = TermPool::new();
            let v = ["x", "y"].map(|n| p.var(n, Sort::BitVec(w)));
            let mut q = Vec::new();
            for _ in 0..2 + random.next_u64() % 5 {
                let k = p.bv(w, random.next_u64() & crate::terms::semantics::ones(w));
                let (a, b) =
                    (v[(random.next_u64() % 2) as usize], v[(random.next_u64() % 2) as usize]);
                let t = match random.next_u64() % 9 {
                    0 => p.mul(a, b),
                    1 => p.udiv(a, b),
                    2 => p.urem(a, b),
                    3 => p.sdiv(a, b),
                    4 => p.srem(a, b),
                    5 => {
                        let m = p.mul(a, b);
                        p.add(m, v[0])
                    }
                    _ => a,
                };
                let c = match random.next_u64() % 5 {
                    0 => p.eq(t, k),
                    1 => p.ult(t, k),
                    2 => p.ult(k, t),
                    3 => p.slt(t, k),
                    _ => p.slt(k, t),
                };
                q.push(c);
            }
            let mut e = Evaluator::new();
            let mut holds = |p: &TermPool, q: &[Term]| {
                (0..1u64 << (2 * w)).any(|bits| {
                    let values = [bits & crate::terms::semantics::ones(w), bits >> w];
                    let m = Model::from_values(
                        v.iter()
                            .zip(values)
                            .map(|(&t, x)| (t, Value::from_u64(p.sort(t), x)))
                            .collect(),
                    );
                    q.iter().all(|&a| e.holds(p, &m, a))
                })
            };
            let expected = holds(&p, &q);
            let mut s = Narrowing::new(BitBlastSolver::new(SatBackend::Batsat));
            match s.check(&mut p, &q, &Limits::none()) {
                Answer::Sat(_) => {
                    sat += 1;
                    assert!(expected, "query {round} has no model");
                }
                Answer::Unsat { core } => {
                    unsat += 1;
                    assert!(!expected, "query {round} has a model");
                    let core = core.expect("a core");
                    assert!(core.iter().all(|t| q.contains(t)), "a core outside of the query");
                    assert!(!holds(&p, &core), "the core of query {round} has a model");
                }
                Answer::Unknown(r) => panic!("query {round}: {r}"),
            }
        }
        assert!(sat > 50 && unsat > 50, "{sat} satisfiable, {unsat} not");
    }
}
