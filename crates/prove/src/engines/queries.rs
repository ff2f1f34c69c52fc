//! Queries within a share of the time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use lydian_smt::{Answer, Limits, Model, Solver, Term, TermPool};

use crate::engines::algebra::{Products, simplified};

/// The assumptions that are tried to be left out of a contradiction.
const MOST_TRIED: usize = 64;

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
        let mut products = self.products.borrow_mut();
        if open.iter().any(|term| products.has(self.pool, *term))
            && let Some(core) = contradiction(self.pool, &open)
        {
            return Answer::Unsat { core: Some(core) };
        }
        self.solver.check(self.pool, &open, &limits)
    }

    /// Whether the assumptions contradict each other, for sure.
    pub(crate) fn contradict(&mut self, assumptions: &[Term]) -> bool {
        self.check(assumptions).is_unsat()
    }
}

/// Assumptions that contradict each other as equations between polynomials, as few as are needed.
fn contradiction(pool: &mut TermPool, assumptions: &[Term]) -> Option<Vec<Term>> {
    let falsehood = pool.ff();
    let mut core = assumptions.to_vec();
    simplified(pool, &core).contains(&falsehood).then_some(())?;
    for assumption in assumptions.iter().take(MOST_TRIED) {
        let mut trial = core.clone();
        trial.retain(|other| other != assumption);
        if simplified(pool, &trial).contains(&falsehood) {
            core = trial;
        }
    }
    Some(core)
}
