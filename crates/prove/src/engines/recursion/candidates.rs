//! Candidates for contracts, and for what holds where functions are entered, that all states which were
//! seen there satisfy.
//!
//! - Tables: the result for given arguments. Recursion on constants has few different calls.
//! - Linear equations modulo a power of two (Müller-Olm and Seidl: *Analysis of Modular Arithmetic*,
//!   2007), later also with products of arguments.
//! - Bounds and comparisons of results.
//! - Equations, bounds and comparisons under an atom about the arguments.

use lydian_base::EntityId as _;
use lydian_smt::{Evaluator, Model, Sort, Term, TermPool, ones};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::invariants::Invariants;
use crate::engines::invariants::kernel::kernel;
use crate::engines::invariants::templates::{Effort, Found, candidates as loop_candidates};
use crate::engines::recursion::contracts::Recursive;
use crate::engines::recursion::walks::Walks;
use crate::system::{PointId, RecursiveCall};

/// The most lines of a table.
const MOST_LINES: usize = 64;
/// The most atoms that candidates are tried under.
const MOST_CASES: usize = 6;
/// The most candidates of a point.
const MOST_CANDIDATES: usize = 500;
/// The most arguments of which products are formed.
const MOST_FACTORS: usize = 3;

/// The forms of candidates, each with those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Forms {
    /// Tables and equations.
    Equations,
    /// Bounds and comparisons.
    Bounds,
    /// Products.
    Products,
}

/// The candidates by point that the states of walks satisfy.
pub(crate) fn candidates(
    pool: &mut TermPool,
    recursive: Recursive<'_>,
    walks: &Walks<'_>,
    forms: Forms,
) -> Invariants {
    let system = recursive.system;
    let own: FxHashSet<PointId> = walks.exits().union(walks.enters()).copied().collect();
    let has_loops = system.transitions.iter().any(|transition| !own.contains(&transition.to));
    let mut found = vec![Vec::new(); system.points.len()];
    if has_loops {
        let effort = if forms == Forms::Products { Effort::High } else { Effort::Low };
        found = loop_candidates(pool, system, &walks.samples, effort);
    }
    let mut done = FxHashSet::default();
    for call in recursive.calls {
        let (Some(enter), Some(exit)) = (call.enter, call.exit) else { continue };
        if done.insert(exit) {
            let atoms = atoms(pool, recursive, call);
            let mut search = Search::new(pool, walks, exit, forms);
            search.contract(call, &atoms);
            found[exit.index()] = search.found;
            let mut search = Search::new(pool, walks, enter, forms);
            search.entry(call, &atoms);
            found[enter.index()] = search.found;
        }
    }
    found
}

/// The atoms about arguments on the paths from where a function is entered.
fn atoms(pool: &mut TermPool, recursive: Recursive<'_>, call: &RecursiveCall) -> Vec<Term> {
    let system = recursive.system;
    let mut found = Found::new(system);
    let leaving = system.transitions.iter().filter(|way| Some(way.from) == call.enter);
    leaving.for_each(|way| found.add_parts(pool, way.guard));
    let given: FxHashSet<Term> = call.values[..call.given].iter().map(|(own, _)| *own).collect();
    let is_atom = |pool: &mut TermPool, atom: Term| {
        let plain = pool.children(atom).iter().all(|child| pool.sort(*child) != Sort::Bool);
        plain && pool.vars_of(atom).iter().all(|symbol| given.contains(symbol))
    };
    let mut atoms: Vec<Term> =
        found.formulas().iter().copied().filter(|atom| is_atom(pool, *atom)).collect();
    atoms.truncate(MOST_CASES);
    atoms
}

/// The search for the candidates of one point.
struct Search<'p> {
    pool: &'p mut TermPool,
    states: Vec<Model>,
    evaluator: Evaluator,
    forms: Forms,
    found: Vec<Term>,
    seen: FxHashSet<Term>,
}

impl<'p> Search<'p> {
    fn new(pool: &'p mut TermPool, walks: &Walks<'_>, point: PointId, forms: Forms) -> Self {
        let states = walks.samples.models(point);
        let seen = [pool.tt(), pool.ff()].into_iter().collect();
        Self { pool, states, evaluator: Evaluator::new(), forms, found: Vec::new(), seen }
    }

    /// Candidates for a contract.
    fn contract(&mut self, call: &RecursiveCall, atoms: &[Term]) {
        let symbol = |value: &(Term, Term)| value.0;
        let given: Vec<Term> = call.values[..call.given].iter().map(symbol).collect();
        let results: Vec<Term> = call.values[call.given..].iter().map(symbol).collect();
        if self.states.is_empty() {
            self.found.push(self.pool.ff());
            return;
        }
        self.table(&given, &results);
        self.relations(&given, &results);
        for atom in atoms {
            let opposite = self.pool.not(*atom);
            for case in [*atom, opposite] {
                self.in_case(case, |search| search.relations(&given, &results));
            }
        }
    }

    /// Candidates for what holds where a function is entered.
    fn entry(&mut self, call: &RecursiveCall, atoms: &[Term]) {
        let given: Vec<Term> = call.values[..call.given].iter().map(|(own, _)| *own).collect();
        if self.states.is_empty() {
            self.found.push(self.pool.ff());
            return;
        }
        for atom in atoms {
            let opposite = self.pool.not(*atom);
            self.propose(*atom);
            self.propose(opposite);
        }
        self.equations(&[], &given);
        self.bounds(&given);
        if self.forms >= Forms::Bounds {
            self.comparisons(&given, &given);
        }
    }

    /// Adds a formula that holds in all states.
    fn propose(&mut self, formula: Term) {
        let Self { pool, states, evaluator, found, seen, .. } = self;
        if found.len() < MOST_CANDIDATES
            && seen.insert(formula)
            && states.iter().all(|state| evaluator.holds(pool, state, formula))
        {
            found.push(formula);
        }
    }

    /// Adds what a search finds in the states of a case, under the condition that it is one.
    fn in_case(&mut self, case: Term, search: impl FnOnce(&mut Self)) {
        let all = std::mem::take(&mut self.states);
        let outer = std::mem::take(&mut self.found);
        // What holds always needs no case.
        let mut seen: FxHashSet<Term> = outer.iter().copied().collect();
        seen.extend([self.pool.tt(), self.pool.ff()]);
        let seen = std::mem::replace(&mut self.seen, seen);
        let is_in = |state: &&Model| self.evaluator.holds(self.pool, state, case);
        self.states = all.iter().filter(is_in).cloned().collect();
        if !self.states.is_empty() {
            search(self);
        }
        let inner = std::mem::replace(&mut self.found, outer);
        (self.states, self.seen) = (all, seen);
        for formula in inner {
            let formula = self.pool.implies(case, formula);
            self.propose(formula);
        }
    }

    fn relations(&mut self, given: &[Term], results: &[Term]) {
        self.equations(given, results);
        if self.forms >= Forms::Bounds {
            self.bounds(results);
            self.comparisons(results, given);
            self.comparisons(results, results);
        }
    }

    /// A line for each of some arguments: with these, the results are those.
    fn table(&mut self, given: &[Term], results: &[Term]) {
        let mut lines: FxHashMap<Vec<u64>, Vec<u64>> = FxHashMap::default();
        let mut several = FxHashSet::default();
        for state in self.states.clone() {
            let Some(key) = self.numbers(&state, given) else { return };
            let Some(line) = self.numbers(&state, results) else { return };
            if lines.insert(key.clone(), line.clone()).is_some_and(|known| known != line) {
                several.insert(key);
            }
        }
        let size = |number: &u64| (*number as i64).unsigned_abs();
        let mut lines: Vec<(Vec<u64>, Vec<u64>)> = lines.into_iter().collect();
        lines.retain(|(key, _)| !several.contains(key));
        lines.sort_by_key(|(key, _)| (key.iter().map(size).max(), key.clone()));
        for (key, line) in lines.into_iter().take(MOST_LINES) {
            let arguments = self.all_equal(given, &key);
            let values = self.all_equal(results, &line);
            let formula = self.pool.implies(arguments, values);
            self.propose(formula);
        }
    }

    /// The values of terms of at most 64 bits; none if there are others.
    fn numbers(&mut self, state: &Model, terms: &[Term]) -> Option<Vec<u64>> {
        let pool = &*self.pool;
        let is_small = terms.iter().all(|term| pool.sort(*term).is_small());
        let evaluator = &mut self.evaluator;
        is_small.then(|| terms.iter().map(|term| evaluator.eval_u64(pool, state, *term)).collect())
    }

    fn all_equal(&mut self, terms: &[Term], numbers: &[u64]) -> Term {
        let mut parts = Vec::new();
        for (term, number) in terms.iter().zip(numbers) {
            let value = lydian_smt::Value::from_u64(self.pool.sort(*term), *number);
            let constant = self.pool.constant(self.pool.sort(*term), &value);
            parts.push(self.pool.eq(*term, constant));
        }
        self.pool.and_all(parts)
    }

    /// Linear equations in which a result occurs, for each width.
    fn equations(&mut self, given: &[Term], results: &[Term]) {
        let mut widths: Vec<u32> = results.iter().filter_map(|term| self.word(*term)).collect();
        widths.sort_unstable();
        widths.dedup();
        for width in widths {
            let of_width = |search: &Self, terms: &[Term]| -> Vec<Term> {
                terms.iter().copied().filter(|term| search.word(*term) == Some(width)).collect()
            };
            let (outputs, mut others) = (of_width(self, results), of_width(self, given));
            if self.forms >= Forms::Products {
                let count = others.len().min(MOST_FACTORS);
                for (a, b) in (0..count).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                    others.push(self.pool.mul(others[a], others[b]));
                }
            }
            self.linear(&outputs, &others, width);
        }
    }

    /// The width of a term that is a number of several bits.
    fn word(&self, term: Term) -> Option<u32> {
        match self.pool.sort(term) {
            Sort::BitVec(width @ 2..=64) => Some(width),
            _ => None,
        }
    }

    fn linear(&mut self, outputs: &[Term], others: &[Term], width: u32) {
        let columns = [outputs, others].concat();
        let mut rows = Vec::new();
        for state in self.states.clone() {
            let Some(numbers) = self.numbers(&state, &columns) else { return };
            rows.push([vec![1], numbers].concat());
        }
        for vector in kernel(rows, columns.len() + 1, width) {
            let has_output = vector[1..=outputs.len()].iter().any(|factor| *factor != 0);
            if has_output {
                let formula = self.equation(&columns, &vector, width);
                self.propose(formula);
            }
        }
    }

    /// That a combination of 1 and some terms is zero; negative parts are on the other side.
    fn equation(&mut self, columns: &[Term], vector: &[u64], width: u32) -> Term {
        let pool = &mut *self.pool;
        let one = pool.bv(width, 1);
        let (mut left, mut right) = (pool.bv(width, 0), pool.bv(width, 0));
        for (term, factor) in std::iter::once(&one).chain(columns).zip(vector) {
            let opposite = factor.wrapping_neg() & ones(width);
            let is_negative = opposite < *factor;
            let constant = pool.bv(width, if is_negative { opposite } else { *factor });
            let part = pool.mul(constant, *term);
            let side = if is_negative { &mut right } else { &mut left };
            *side = pool.add(*side, part);
        }
        pool.eq(left, right)
    }

    /// Bounds by the least and the greatest value that was seen, and by zero.
    fn bounds(&mut self, terms: &[Term]) {
        for term in terms {
            let Some(width) = self.word(*term) else { continue };
            let mut values = Vec::new();
            for state in self.states.clone() {
                values.extend(self.numbers(&state, &[*term]).into_iter().flatten());
            }
            let signed = |number: &u64| (*number << (64 - width)) as i64;
            let (Some(low), Some(high)) =
                (values.iter().copied().min(), values.iter().copied().max())
            else {
                continue;
            };
            let signed_low = values.iter().copied().min_by_key(signed).unwrap_or(low);
            let signed_high = values.iter().copied().max_by_key(signed).unwrap_or(high);
            for limit in [low, signed_low, 0, 1] {
                let pool = &mut *self.pool;
                let constant = pool.bv(width, limit);
                let forms = [pool.ule(constant, *term), pool.sle(constant, *term)];
                forms.into_iter().for_each(|form| self.propose(form));
            }
            for limit in [high, signed_high, 0] {
                let pool = &mut *self.pool;
                let constant = pool.bv(width, limit);
                let forms = [pool.ule(*term, constant), pool.sle(*term, constant)];
                forms.into_iter().for_each(|form| self.propose(form));
            }
        }
    }

    fn comparisons(&mut self, terms: &[Term], others: &[Term]) {
        for (a, b) in terms.iter().flat_map(|a| others.iter().map(move |b| (*a, *b))) {
            if a == b || self.word(a).is_none() || self.word(a) != self.word(b) {
                continue;
            }
            let pool = &mut *self.pool;
            let mut forms = vec![pool.eq(a, b)];
            for (x, y) in [(a, b), (b, a)] {
                forms.extend([pool.slt(x, y), pool.sle(x, y), pool.ult(x, y), pool.ule(x, y)]);
            }
            forms.push(pool.not(forms[0]));
            forms.into_iter().for_each(|form| self.propose(form));
        }
    }
}
