//! Queries within a share of the time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use lydian_smt::{Answer, Evaluator, Limits, Model, Solver, Term, TermPool};

use crate::engines::algebra::{Products, contradiction};

/// The time of a question about words that equations between products depend on.
const QUESTION: Duration = Duration::from_millis(50);

/// A pool, a solver, and the limits of the work that is done with them.
pub(crate) struct Queries<'a> {
    /// The terms.
    pub(crate) pool: &'a mut TermPool,
    solver: &'a mut dyn Solver,
    limits: Limits,
    /// The most time of one query.
    most: Duration,
    products: Rc<RefCell<Products>>,
}

impl<'a> Queries<'a> {
    /// Queries within limits; `most` bounds the time of each.
    pub(crate) fn new(
        pool: &'a mut TermPool,
        solver: &'a mut dyn Solver,
        limits: &Limits,
        most: Duration,
    ) -> Self {
        Self { pool, solver, limits: limits.clone(), most, products: Rc::default() }
    }

    /// The same for a share of the time that is left.
    pub(crate) fn within(&mut self, time: Duration) -> Queries<'_> {
        let (limits, products) = (self.limits.within(time), self.products.clone());
        let most = self.most.min(time);
        Queries { pool: self.pool, solver: self.solver, limits, most, products }
    }

    /// The same with at most so much time for a query.
    pub(crate) fn at_most(&mut self, time: Duration) -> Queries<'_> {
        let most = self.most.min(time);
        let (limits, products) = (self.limits.clone(), self.products.clone());
        Queries { pool: self.pool, solver: self.solver, limits, most, products }
    }

    /// Whether the time is over, or the run was told to stop.
    pub(crate) fn expired(&self) -> bool {
        self.limits.expired()
    }

    /// The time that is left, if there is an end.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.limits.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether all assumptions hold in some model.
    pub(crate) fn check(&mut self, assumptions: &[Term]) -> Answer {
        let mut limits = self.limits.clone();
        limits.time = Some(limits.time.map_or(self.most, |time| time.min(self.most)));
        let (truth, falsehood) = (self.pool.tt(), self.pool.ff());
        if assumptions.contains(&falsehood) {
            return Answer::Unsat { core: Some(vec![falsehood]) };
        }
        let open: Vec<Term> = assumptions.iter().copied().filter(|term| *term != truth).collect();
        if open.is_empty() {
            return Answer::Sat(Model::new());
        }
        if let Some(core) = self.contradiction(&open) {
            return Answer::Unsat { core: Some(core) };
        }
        self.solver.check(self.pool, &open, &limits)
    }

    /// Whether assumptions and premises hold in some model. Premises with products are only looked at where
    /// the others do not suffice.
    pub(crate) fn check_with(&mut self, assumptions: &[Term], premises: &[Term]) -> Answer {
        let (hard, plain): (Vec<Term>, Vec<Term>) =
            premises.iter().copied().partition(|premise| self.multiplies(*premise));
        let mut query = [assumptions, &plain].concat();
        if !hard.is_empty() && !assumptions.iter().any(|term| self.multiplies(*term)) {
            let answer = self.check(&query);
            let mut evaluator = Evaluator::new();
            let suffices = match &answer {
                Answer::Unsat { .. } => true,
                Answer::Sat(model) => {
                    hard.iter().all(|term| evaluator.holds(self.pool, model, *term))
                }
                Answer::Unknown(_) => false,
            };
            if suffices {
                return answer;
            }
        }
        query.extend(hard);
        self.check(&query)
    }

    /// Whether a term has a product of variables in it.
    pub(crate) fn multiplies(&self, term: Term) -> bool {
        self.products.borrow_mut().has(self.pool, term)
    }

    /// Assumptions with products that contradict each other as equations.
    fn contradiction(&mut self, open: &[Term]) -> Option<Vec<Term>> {
        let products = &mut *self.products.borrow_mut();
        open.iter().any(|term| products.has(self.pool, *term)).then_some(())?;
        let limits = self.limits.within(QUESTION.min(self.most));
        let solver = &mut *self.solver;
        let mut refute = |pool: &mut TermPool, query: &[Term]| {
            (!limits.expired()).then_some(())?;
            match solver.check(pool, query, &limits) {
                Answer::Unsat { core } => Some(core.unwrap_or_else(|| query.to_vec())),
                _ => None,
            }
        };
        contradiction(self.pool, products, open, &mut refute)
    }

    /// Whether the assumptions contradict each other, for sure.
    pub(crate) fn contradict(&mut self, assumptions: &[Term]) -> bool {
        self.check(assumptions).is_unsat()
    }
}
