//! The strongest linear equations between given terms that every transition preserves.
//!
//! Karr's analysis (*Affine Relationships Among Variables of a Program*, 1976), modulo a power of two as
//! by Müller-Olm and Seidl (*Analysis of Modular Arithmetic*, 2007). The steps are queries: the
//! equations of the states that were seen at a point hold until a transition leads to a state that
//! violates them, and then that state counts, too (Reps, Sagiv and Yorsh: *Symbolic Implementation of
//! the Best Transformer*, 2004). With products of variables among the terms the equations are
//! polynomial.

use lydian_base::EntityId as _;
use lydian_smt::{Answer, BinOp, Evaluator, Model, Node, Term, TermPool, ones};

use crate::engines::invariants::kernel::kernel;
use crate::engines::invariants::{Consecution, Invariants, both, later_terms, settle, words};
use crate::engines::queries::Queries;
use crate::engines::sampling::Samples;
use crate::system::{PointId, System, Transition};

/// The most terms that are related with one another.
const MOST_COLUMNS: usize = 24;
/// The most variables of which products are formed.
const MOST_FACTORS: usize = 4;
/// The most conditions that count as numbers.
const MOST_CONDITIONS: usize = 4;
/// The most states by which the equations of a point are weakened.
const MOST_STATES: usize = 400;

/// The words of one width, for each width of the system, and on demand the products of two.
pub(crate) fn columns(pool: &mut TermPool, system: &System, products: bool) -> Vec<Vec<Term>> {
    let mut by_width: Vec<(u32, Vec<Term>)> = Vec::new();
    for word in words(pool, system) {
        let width = pool.width(word);
        match by_width.iter_mut().find(|(known, _)| *known == width) {
            Some((_, terms)) => terms.push(word),
            None => by_width.push((width, vec![word])),
        }
    }
    let conditions = conditions(pool, system);
    let mut columns = Vec::new();
    for (width, mut terms) in by_width {
        terms.truncate(MOST_COLUMNS);
        let (one, zero) = (pool.bv(width, 1), pool.bv(width, 0));
        let counted = terms.len();
        for condition in conditions.iter().filter(|_| counted > 1) {
            terms.push(pool.ite(*condition, one, zero));
        }
        if products {
            let count = terms.len().min(MOST_FACTORS);
            for (a, b) in (0..count).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                let product = pool.mul(terms[a], terms[b]);
                terms.push(product);
            }
        }
        columns.push(terms);
    }
    columns
}

/// The conditions over variables on which values of variables depend: as numbers they are 1 and 0.
fn conditions(pool: &mut TermPool, system: &System) -> Vec<Term> {
    let mut found = Vec::new();
    for term in later_terms(pool, system) {
        let Node::Ite(condition, _, _) = pool.node(term) else { continue };
        let symbols = pool.vars_of(condition);
        let fits = !symbols.is_empty() && symbols.iter().all(|s| system.is_variable(*s));
        if fits && !found.contains(&condition) {
            found.push(condition);
        }
    }
    found.sort_unstable();
    found.truncate(MOST_CONDITIONS);
    found
}

/// The equations between terms of one width, by point.
pub(crate) fn equations(
    queries: &mut Queries<'_>,
    system: &System,
    samples: &Samples<'_>,
    known: &Invariants,
    columns: &[Term],
) -> Invariants {
    let Some(first) = columns.first() else { return vec![Vec::new(); system.points.len()] };
    let mut fixpoint = Fixpoint {
        system,
        width: queries.pool.width(*first),
        columns,
        rows: vec![Vec::new(); system.points.len()],
        equations: vec![Vec::new(); system.points.len()],
        settled: vec![false; system.points.len()],
        consecution: Consecution::new(system),
        evaluator: Evaluator::new(),
        has_products: columns.iter().any(|term| is_product(queries.pool, *term)),
    };
    fixpoint.begin(queries.pool, samples);
    fixpoint.run(queries, known)
}

/// The equations so far, and the states that they are from.
struct Fixpoint<'s> {
    system: &'s System,
    width: u32,
    columns: &'s [Term],
    /// By point: 1 and the values of the columns in each state.
    rows: Vec<Vec<Vec<u64>>>,
    equations: Invariants,
    /// By point: whether equations are only removed, and no longer made from states.
    settled: Vec<bool>,
    consecution: Consecution<'s>,
    evaluator: Evaluator,
    has_products: bool,
}

impl Fixpoint<'_> {
    fn begin(&mut self, pool: &mut TermPool, samples: &Samples<'_>) {
        let symbols: Vec<Term> = self.system.symbols().collect();
        for point in self.system.points.ids() {
            for state in samples.of(point) {
                let values = symbols.iter().copied().zip(state.iter().cloned()).collect();
                let model = Model::from_values(values);
                let terms = self.columns.to_vec();
                let row = self.row(pool, &model, &terms);
                self.rows[point.index()].push(row);
            }
            self.renew(pool, point);
        }
    }

    fn row(&mut self, pool: &TermPool, model: &Model, terms: &[Term]) -> Vec<u64> {
        let values = terms.iter().map(|term| self.evaluator.eval_u64(pool, model, *term));
        [1].into_iter().chain(values).collect()
    }

    /// Makes the equations of a point from its states.
    fn renew(&mut self, pool: &mut TermPool, point: PointId) {
        let at = point.index();
        if point == self.system.entry {
            return;
        }
        self.equations[at].clear();
        for vector in kernel(self.rows[at].clone(), self.columns.len() + 1, self.width) {
            // Equations of remainders are true of most products, hard to show, and of little use.
            if self.has_products && vector.iter().all(|coefficient| coefficient & 1 == 0) {
                continue;
            }
            let formula = equation(pool, self.columns, &vector, self.width);
            self.equations[at].push(formula);
        }
    }

    fn run(mut self, queries: &mut Queries<'_>, known: &Invariants) -> Invariants {
        let system = self.system;
        // Where some equations are left out, those from one more state may not follow from the others.
        let anew = self.has_products;
        let again = |transition: &Transition, point| {
            transition.from == point || (anew && transition.to == point)
        };
        if settle(queries, system, again, |queries, index| self.weaken(queries, known, index)) {
            self.equations
        } else {
            vec![Vec::new(); system.points.len()]
        }
    }

    /// Weakens the equations where a transition ends, if it does not preserve them.
    fn weaken(&mut self, queries: &mut Queries<'_>, known: &Invariants, index: usize) -> bool {
        let transition = &self.system.transitions[index];
        let to = transition.to;
        let goals = self.equations[to.index()].clone();
        if goals.is_empty() {
            return false;
        }
        let premises = both(known, &self.equations, transition.from);
        match self.consecution.violate(queries, index, &premises, &goals) {
            Answer::Unsat { .. } => false,
            Answer::Sat(model) => {
                self.weaken_by(queries.pool, index, &model);
                true
            }
            Answer::Unknown(_) => {
                self.settled[to.index()] = true;
                self.equations[to.index()] =
                    self.consecution.kept_alone(queries, index, &premises, &goals);
                self.equations[to.index()].len() < goals.len()
            }
        }
    }

    /// Weakens the equations where a transition ends by the state there in a model.
    fn weaken_by(&mut self, pool: &mut TermPool, index: usize, model: &Model) {
        let to = self.system.transitions[index].to;
        self.settled[to.index()] |= self.rows[to.index()].len() >= MOST_STATES;
        if self.settled[to.index()] {
            let equations = &mut self.equations[to.index()];
            *equations = self.consecution.kept(pool, index, model, equations);
            return;
        }
        let mut terms = Vec::new();
        for column in self.columns {
            terms.push(self.consecution.after(pool, index, *column));
        }
        let row = self.row(pool, model, &terms);
        self.rows[to.index()].push(row);
        self.renew(pool, to);
    }
}

fn is_product(pool: &TermPool, term: Term) -> bool {
    matches!(pool.node(term), Node::Bin(BinOp::Mul, ..))
}

/// The equation with the coefficients of a vector, the first of which is that of 1.
fn equation(pool: &mut TermPool, columns: &[Term], vector: &[u64], width: u32) -> Term {
    let (mut left, mut right) = (pool.bv(width, 0), pool.bv(width, 0));
    let one = pool.bv(width, 1);
    for (coefficient, column) in vector.iter().zip([one].iter().chain(columns)) {
        let minus = coefficient.wrapping_neg() & ones(width);
        let (side, number) =
            if *coefficient <= minus { (&mut left, *coefficient) } else { (&mut right, minus) };
        let number = pool.bv(width, number);
        let summand = pool.mul(*column, number);
        *side = pool.add(*side, summand);
    }
    pool.eq(left, right)
}
