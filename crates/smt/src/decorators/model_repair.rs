//! Repairs a model that almost satisfies a query.
//!
//! Along a path each query is the previous one with one more condition, so the parent's model violates
//! just that condition. Most conditions of programs compare a variable with a term, and setting the
//! variable to the boundary satisfies them. If that breaks another assumption, it is repaired in turn,
//! a few steps deep. A model is returned only if the evaluator confirms that it satisfies everything.
//! Other queries, and all unsatisfiable ones, go to the inner solver.

use crate::analysis::inversion::{self, Change, Changes};
use crate::solver::{Answer, Limits, Solver};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;

/// The most successive changes of a repair.
const MAX_STEPS: usize = 6;
/// The most models that are evaluated for one query.
const MAX_TRIALS: u32 = 40;
/// The most violated assumptions of a model that is repaired.
const MAX_BROKEN: usize = 4;

/// Answers satisfiable queries by changing a model that the caller offered or that answered the
/// last query.
pub struct ModelRepair<S> {
    inner: S,
    pool: u64,
    /// The start of repairs: the model that was offered last, with the answers since then on top.
    start: Model,
    evaluator: Evaluator,
    trial: Evaluator,
    /// Queries answered without the inner solver.
    pub hits: u64,
    /// Models that were evaluated.
    pub trials: u64,
}

/// A changed model, the assumptions that it still violates, and the changes that led to it.
struct Attempt {
    model: Model,
    broken: Vec<Term>,
    last: Changes,
}

impl<S: Solver> ModelRepair<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> ModelRepair<S> {
        ModelRepair {
            inner,
            pool: 0,
            start: Model::new(),
            evaluator: Evaluator::new(),
            trial: Evaluator::new(),
            hits: 0,
            trials: 0,
        }
    }

    /// A model of all assumptions near the start, if a short search finds one.
    fn repaired(&mut self, pool: &mut TermPool, assumptions: &[Term]) -> Option<Model> {
        let start = self.start.clone();
        let mut broken = Vec::new();
        for &a in assumptions.iter().rev() {
            if !self.evaluator.holds(pool, &start, a) {
                broken.push(a);
                if broken.len() > MAX_BROKEN {
                    return None;
                }
            }
        }
        if broken.is_empty() {
            return Some(start);
        }
        let mut trials = MAX_TRIALS;
        let attempt = Attempt { model: start, broken, last: Changes::new() };
        let found = self.descend(pool, assumptions, &attempt, MAX_STEPS, &mut trials);
        self.trials += u64::from(MAX_TRIALS - trials);
        found
    }

    /// Repairs the first broken assumption in every way that does not undo the change made last,
    /// and goes on from there, what breaks least first.
    fn descend(
        &mut self,
        pool: &mut TermPool,
        assumptions: &[Term],
        now: &Attempt,
        steps: usize,
        trials: &mut u32,
    ) -> Option<Model> {
        if steps == 0 {
            return None;
        }
        let aim = now.broken[0];
        let proposals = inversion::changes(pool, &mut self.evaluator, &now.model, aim, 1);
        let mut attempts: Vec<Attempt> = Vec::new();
        for changes in proposals {
            if changes.iter().any(|c| now.last.iter().any(|m| m.place() == c.place())) {
                continue;
            }
            if *trials == 0 {
                return None;
            }
            *trials -= 1;
            let model = inversion::apply(pool, &now.model, &changes);
            let broken = self.broken_by(pool, assumptions, &model, &now.broken, &changes);
            // A proposal that does not even satisfy its own assumption is dropped.
            match broken.first() {
                None => return Some(model),
                Some(&first) if first == aim || broken.len() > MAX_BROKEN => {}
                Some(_) => attempts.push(Attempt { model, broken, last: changes }),
            }
        }
        attempts.sort_by_key(|a| a.broken.len());
        for next in attempts {
            let found = self.descend(pool, assumptions, &next, steps - 1, trials);
            if found.is_some() || *trials == 0 {
                return found;
            }
        }
        None
    }

    /// The assumptions that the changed model violates: those that the changes broke, after those
    /// that were broken before.
    fn broken_by(
        &mut self,
        pool: &mut TermPool,
        assumptions: &[Term],
        changed: &Model,
        before: &[Term],
        changes: &[Change],
    ) -> Vec<Term> {
        let holds = |e: &mut Evaluator, pool: &TermPool, a| e.holds(pool, changed, a);
        let mut broken: Vec<Term> =
            before.iter().copied().filter(|&a| !holds(&mut self.trial, pool, a)).collect();
        for &a in assumptions.iter().rev() {
            let vars = pool.vars_of(a);
            if changes.iter().any(|c| vars.binary_search(&c.place().0).is_ok())
                && !before.contains(&a)
                && !holds(&mut self.trial, pool, a)
            {
                broken.push(a);
                if broken.len() > MAX_BROKEN {
                    break;
                }
            }
        }
        broken
    }
}

impl<S: Solver> Solver for ModelRepair<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if self.pool != pool.id() {
            self.pool = pool.id();
            self.start = Model::new();
        }
        if let Some(model) = self.repaired(pool, assumptions) {
            debug_assert!(assumptions.iter().all(|&a| self.trial.holds(pool, &model, a)));
            self.hits += 1;
            self.start = model.clone();
            return Answer::Sat(model);
        }
        let answer = self.inner.check(pool, assumptions, limits);
        if let Answer::Sat(model) = &answer {
            self.start = self.start.with(model.iter().map(|(t, v)| (t, v.clone())));
        }
        answer
    }

    fn offer(&mut self, pool: &TermPool, model: &Model) {
        self.pool = pool.id();
        self.start = model.clone();
        self.inner.offer(pool, model);
    }

    fn forget(&mut self) {
        (self.evaluator, self.trial) = (Evaluator::new(), Evaluator::new());
        self.inner.forget();
    }

    forward_to_inner!(effort, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::Sort;
    use crate::terms::value::Value;

    /// A solver that must not be asked.
    struct UncallableSolver;

    impl Solver for UncallableSolver {
        fn check(&mut self, pool: &mut TermPool, query: &[Term], _: &Limits) -> Answer {
            panic!(
                "asked {:?}",
                query.iter().map(|&t| pool.show(t).to_string()).collect::<Vec<_>>()
            )
        }
        fn name(&self) -> String {
            "nobody".into()
        }
    }

    fn assert_repaired(p: &mut TermPool, query: &[Term]) {
        let mut s = ModelRepair::new(UncallableSolver);
        let Answer::Sat(m) = s.check(p, query, &Limits::none()) else { panic!("not satisfiable") };
        let mut e = Evaluator::new();
        assert!(query.iter().all(|&a| e.holds(p, &m, a)), "{m:?}");
        assert_eq!(s.hits, 1);
    }

    #[test]
    fn comparisons_with_constants_and_variables_are_repaired_without_a_solver() {
        let mut p = TermPool::new();
        let v: Vec<Term> = (0..4).map(|i| p.var(&format!("v{i}"), Sort::BitVec(32))).collect();
        let k = p.bv(32, 600);
        let (a, b) = (p.slt(k, v[0]), p.eq(v[1], k));
        let sum = p.add(v[2], k);
        let (c, d) = (p.slt(sum, v[0]), p.slt(v[3], v[2]));
        assert_repaired(&mut p, &[a, b, c, d]);
        let both = p.and(a, b);
        let not_c = p.not(c);
        assert_repaired(&mut p, &[both, not_c]);
    }

    #[test]
    fn a_repair_that_breaks_another_assumption_repairs_that_too() {
        let mut p = TermPool::new();
        let v: Vec<Term> = (0..3).map(|i| p.var(&format!("v{i}"), Sort::BitVec(32))).collect();
        let zero = p.bv(32, 0);
        let q = [p.slt(zero, v[0]), p.slt(v[0], v[1]), p.slt(v[1], v[2])];
        assert_repaired(&mut p, &q);
        let reversed: Vec<Term> = q.into_iter().rev().collect();
        assert_repaired(&mut p, &reversed);
    }

    #[test]
    fn elements_of_arrays_and_parts_of_words_are_repaired() {
        let mut p = TermPool::new();
        let a = p.var("a", Sort::Array { index: 32, element: 8 });
        let i = p.var("i", Sort::BitVec(32));
        let read = p.select(a, i);
        let one = p.bv(32, 1);
        let j = p.add(i, one);
        let next = p.select(a, j);
        let word = p.concat(next, read);
        let (magic, x) = (p.bv(16, 0x4d5a), p.var("x", Sort::BitVec(64)));
        let low = p.extract(15, 0, x);
        let q = [p.eq(word, magic), p.eq(low, magic)];
        assert_repaired(&mut p, &q);
    }

    #[test]
    fn the_rest_of_a_sum_is_repaired_upwards_and_downwards() {
        for (start, rest) in [(0, 0), (0, 7), (9, 4)] {
            let mut p = TermPool::new();
            let (nine, ten) = (p.bv(8, 9), p.bv(32, 10));
            let mut query = Vec::new();
            let mut sum = p.bv(32, 2);
            let digits: Vec<Term> =
                (0..9).map(|i| p.var(&format!("d{i}"), Sort::BitVec(8))).collect();
            for &d in &digits {
                let above = p.ult(nine, d);
                query.push(p.not(above));
                let wide = p.zext(d, 32);
                sum = p.add(sum, wide);
            }
            let (modulo, wanted) = (p.urem(sum, ten), p.bv(32, rest));
            query.push(p.eq(modulo, wanted));
            let mut s = ModelRepair::new(UncallableSolver);
            let values = digits.iter().map(|&d| (d, Value::Bits { width: 8, value: start }));
            s.offer(&p, &Model::from_values(values.collect()));
            assert!(s.check(&mut p, &query, &Limits::none()).is_sat());
        }
    }

    #[test]
    fn products_and_doubles_are_inverted() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(32));
        let (k, n) = (p.bv(32, 12), p.bv(32, 60));
        let product = p.mul(x, k);
        let (f, g) = (p.var("f", Sort::F64), p.f64(2.5));
        let sum = p.fp_add(f, g);
        let ten = p.f64(10.0);
        let q = [p.eq(product, n), p.fp_lt(ten, sum)];
        assert_repaired(&mut p, &q);
    }

    #[test]
    fn a_model_that_is_offered_is_where_a_repair_starts() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(8)), p.var("y", Sort::BitVec(8)));
        let square = p.mul(x, x);
        let (k, five) = (p.bv(8, 81), p.bv(8, 5));
        let q = [p.eq(square, k), p.ult(five, y)];
        let mut s = ModelRepair::new(UncallableSolver);
        s.offer(&p, &Model::from_values(vec![(x, Value::Bits { width: 8, value: 9 })]));
        assert!(s.check(&mut p, &q, &Limits::none()).is_sat());
    }

    #[test]
    fn what_cannot_be_repaired_goes_to_the_inner_solver() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(8)), p.var("y", Sort::BitVec(8)));
        let (a, b) = (p.ult(x, y), p.ult(y, x));
        let inner = crate::bitblast::BitBlastSolver::new(crate::bitblast::SatBackend::Batsat);
        let mut s = ModelRepair::new(inner);
        assert!(s.check(&mut p, &[a, b], &Limits::none()).is_unsat());
        assert_eq!(s.hits, 0);
    }
}
