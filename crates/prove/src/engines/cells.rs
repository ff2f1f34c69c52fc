//! Formulas about all elements of arrays, by one element of any index.
//!
//! That all elements before `i` are zero is that one element is, whichever it is: `k < i` implies
//! `a[k] == 0` for a symbol `k` that stands for any index and never changes. The transitions say what
//! happens to `a[k]`, so no quantifier is needed (Monniaux and Gonnord: *Cell Morphing: From Array
//! Programs to Array-Free Horn Clauses*, 2016; Flanagan and Qadeer: *Predicate Abstraction for Software
//! Verification*, 2002, for symbols in place of bound variables).
//!
//! Candidates are the conditions of the system that read arrays, with such a symbol in place of the
//! variable or the number that is the index, for all symbols, and for those on one side of a variable or
//! number. Houdini keeps those that hold. They are used with the indexes that a condition reads in place
//! of the symbols ([`Parameters`]).

use lydian_base::EntityId as _;
use lydian_smt::{BinOp, Node, Sort, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::certificate::Parameters;
use crate::engines::invariants::houdini::preserved;
use crate::engines::invariants::templates::Found;
use crate::engines::invariants::{Invariants, extend};
use crate::engines::queries::Queries;
use crate::engines::stage::{subterms, terms_of};
use crate::system::{GoalId, System};

/// The most conditions that candidates are made of.
const MOST_PROPERTIES: usize = 24;
/// The most terms that an index is compared with.
const MOST_BORDERS: usize = 12;

/// Formulas about elements of arrays.
pub(crate) struct Cells<'s> {
    system: &'s System,
    parameters: Parameters,
    candidates: Vec<Term>,
    /// Those that hold, once that is known.
    found: Option<Invariants>,
    /// The number of invariants that were known when it was found out which hold.
    known: usize,
}

impl<'s> Cells<'s> {
    /// The candidates for a system.
    pub(crate) fn new(pool: &mut TermPool, system: &'s System) -> Self {
        let is_array = |symbol: Term| matches!(pool.sort(symbol), Sort::Array { .. });
        let has_arrays = system.symbols().any(is_array);
        let mut maker = Maker {
            pool,
            system,
            symbols: FxHashMap::default(),
            parameters: Parameters::default(),
            candidates: Vec::new(),
            seen: FxHashSet::default(),
        };
        if has_arrays {
            maker.make();
        }
        let Maker { parameters, candidates, .. } = maker;
        Self { system, parameters, candidates, found: None, known: 0 }
    }

    /// The symbols for any index, and the indexes that take their places.
    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The formulas that hold at the points for each value of the symbols, if there was time to find them.
    pub(crate) fn work(
        &mut self,
        queries: &mut Queries<'_>,
        invariants: &Invariants,
    ) -> Option<&Invariants> {
        let known = invariants.iter().map(Vec::len).sum();
        if self.candidates.is_empty() || (self.found.is_some() && self.known == known) {
            return None;
        }
        let all = vec![self.candidates.clone(); self.system.points.len()];
        let survivors = preserved(queries, self.system, invariants, all);
        survivors.hold.then_some(())?;
        self.known = known;
        self.found = Some(survivors.candidates);
        self.found.as_ref()
    }

    /// Whether formulas with indexes in place of the symbols exclude a goal.
    pub(crate) fn exclude(
        &self,
        queries: &mut Queries<'_>,
        goal: GoalId,
        invariants: &Invariants,
    ) -> bool {
        let Some(found) = &self.found else { return false };
        let approaches = self.system.goals[goal].approaches.iter();
        let mut later = approaches.filter(|approach| approach.from != self.system.entry);
        later.all(|approach| {
            let at = approach.from.index();
            let mut query = vec![approach.condition];
            query.extend(&invariants[at]);
            query.extend(self.parameters.instances_of(queries.pool, &found[at]));
            queries.contradict(&query)
        })
    }

    /// All formulas that a proof rests on.
    pub(crate) fn with(&self, invariants: &Invariants) -> Invariants {
        let mut all = invariants.clone();
        extend(&mut all, self.found.clone().unwrap_or_default());
        all
    }
}

/// Makes candidates.
struct Maker<'a> {
    pool: &'a mut TermPool,
    system: &'a System,
    /// By sort: the symbol for an index.
    symbols: FxHashMap<Sort, Term>,
    parameters: Parameters,
    candidates: Vec<Term>,
    seen: FxHashSet<Term>,
}

impl Maker<'_> {
    fn make(&mut self) {
        let conditions = self.system.approaches().map(|approach| approach.condition);
        let guards = self.system.transitions.iter().map(|transition| transition.guard);
        let mut found = Found::new(self.system);
        for term in conditions.chain(guards).collect::<Vec<Term>>() {
            found.add_parts(self.pool, term);
        }
        let reading: Vec<Term> = found.formulas().to_vec();
        let reading = reading.into_iter().filter(|formula| !self.indexes(*formula).is_empty());
        let reading: Vec<Term> = reading.take(MOST_PROPERTIES).collect();
        for property in reading {
            for index in self.indexes(property) {
                self.by_index(property, index);
                for variable in self.pool.vars_of(index).to_vec() {
                    self.by_variable(property, variable);
                }
            }
        }
    }

    /// The indexes at which a formula reads arrays.
    fn indexes(&self, formula: Term) -> Vec<Term> {
        let mut found = Vec::new();
        for term in subterms(self.pool, [formula]) {
            match self.pool.node(term) {
                Node::Bin(BinOp::Select, _, index) if !found.contains(&index) => found.push(index),
                _ => {}
            }
        }
        found.sort_unstable();
        found
    }

    /// The symbol of a sort; `instance` is to take its place.
    fn symbol(&mut self, sort: Sort, instance: Term) -> Term {
        let symbol = match self.symbols.get(&sort) {
            Some(symbol) => *symbol,
            None => {
                let symbol = self.pool.fresh_var("k", sort);
                self.symbols.insert(sort, symbol);
                self.parameters.symbols.push(symbol);
                symbol
            }
        };
        if !self.parameters.instances.contains(&instance) {
            self.parameters.instances.push(instance);
        }
        symbol
    }

    /// Candidates with the symbol in place of an index.
    fn by_index(&mut self, property: Term, index: Term) {
        let symbol = self.symbol(self.pool.sort(index), index);
        let mut known = FxHashMap::default();
        for term in subterms(self.pool, [property]) {
            if let Node::Bin(BinOp::Select, array, at) = self.pool.node(term)
                && at == index
            {
                let read = self.pool.select(array, symbol);
                known.insert(term, read);
            }
        }
        let general = self.pool.substituted(property, &mut known);
        let mut below = Vec::new();
        for other in self.all_indexes(self.pool.sort(index)) {
            below.push(self.pool.ult(symbol, other));
            // Indexes may have fewer bits than the variable that they are of, which may end beyond them.
            if let Node::Extract(inner, 0) = self.pool.node(other) {
                let extended = self.pool.zext(symbol, self.pool.width(inner));
                below.push(self.pool.ult(extended, inner));
            }
        }
        self.propose(general, &below);
    }

    /// Candidates with the symbol in place of a variable.
    fn by_variable(&mut self, property: Term, variable: Term) {
        let sort = self.pool.sort(variable);
        if !matches!(sort, Sort::BitVec(2..=64)) {
            return;
        }
        let symbol = self.symbol(sort, variable);
        let mut known: FxHashMap<Term, Term> = [(variable, symbol)].into_iter().collect();
        let general = self.pool.substituted(property, &mut known);
        let mut borders: Vec<Term> =
            self.system.symbols().filter(|other| self.pool.sort(*other) == sort).collect();
        borders.sort_by_key(|border| *border != variable);
        borders.truncate(MOST_BORDERS / 2);
        borders.extend(self.compared_constants(sort));
        let below: Vec<Term> =
            borders.into_iter().map(|border| self.pool.ult(symbol, border)).collect();
        self.propose(general, &below);
    }

    /// The indexes of all reads and writes, over variables.
    fn all_indexes(&mut self, sort: Sort) -> Vec<Term> {
        let mut found = Vec::new();
        for term in subterms(self.pool, terms_of(self.system)) {
            let index = match self.pool.node(term) {
                Node::Bin(BinOp::Select, _, index) | Node::Store(_, index, _) => index,
                _ => continue,
            };
            let symbols = self.pool.vars_of(index);
            let fits = self.pool.sort(index) == sort && !found.contains(&index);
            if fits && !symbols.is_empty() && symbols.iter().all(|s| self.system.is_variable(*s)) {
                found.push(index);
            }
        }
        found.sort_unstable();
        found.truncate(MOST_BORDERS);
        found
    }

    /// The numbers that terms of a sort are compared with.
    fn compared_constants(&self, sort: Sort) -> Vec<Term> {
        let mut found = Vec::new();
        for term in subterms(self.pool, terms_of(self.system)) {
            let Node::Bin(BinOp::Ult | BinOp::Slt | BinOp::Eq, a, b) = self.pool.node(term) else {
                continue;
            };
            let constants = [a, b].into_iter().filter(|side| self.pool.as_u64(*side).is_some());
            for constant in constants.filter(|side| self.pool.sort(*side) == sort) {
                if !found.contains(&constant) {
                    found.push(constant);
                }
            }
        }
        found.sort_unstable();
        found.truncate(MOST_BORDERS / 2);
        found
    }

    /// Adds a formula and its negation, for all symbols, and for those on each side of a border.
    fn propose(&mut self, general: Term, below: &[Term]) {
        let negation = self.pool.not(general);
        let mut sides = vec![self.pool.ff()];
        for below in below {
            let above = self.pool.not(*below);
            sides.extend([*below, above]);
        }
        for (side, property) in
            sides.into_iter().flat_map(|side| [(side, general), (side, negation)])
        {
            // The first side is none: the formula holds on the other.
            let outside = self.pool.not(side);
            let candidate = self.pool.implies(outside, property);
            if self.seen.insert(candidate) && self.pool.as_bool(candidate).is_none() {
                self.candidates.push(candidate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_base::{Arena, Span};
    use lydian_smt::{Evaluator, Limits, Model, Value};

    use super::*;
    use crate::engines::certificate::Argument;
    use crate::engines::schedule::{Decision, Schedule, decide};
    use crate::engines::testing::search::value;
    use crate::engines::testing::{Fixture, random_slice, solver};
    use crate::system::{Approach, Goal, Point, Transition, Variable};

    #[test]
    fn formulas_of_random_systems_hold_in_all_states_for_each_index() {
        let (mut held, mut proved) = (0, 0);
        for seed in 8000..8200 {
            let (mut fixture, reached) = random_slice(seed);
            let goals = fixture.goals();
            let Fixture { pool, system } = &mut fixture;
            let (mut solver, limits) = (solver(), Limits::none());
            let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
            let mut cells = Cells::new(queries.pool, system);
            let none = vec![Vec::new(); system.points.len()];
            let Some(found) = cells.work(&mut queries, &none).cloned() else { continue };
            for goal in &goals {
                let first = reached.goals.get(goal);
                let excluded = cells.exclude(&mut queries, *goal, &none);
                assert!(!excluded || first.is_none_or(|first| *first == 0), "seed {seed}");
                proved += usize::from(excluded && first.is_none());
            }
            let symbols: Vec<Term> = system.symbols().collect();
            let parameters = cells.parameters().symbols.clone();
            let mut evaluator = Evaluator::new();
            for ((point, state), k) in
                reached.states.iter().flat_map(|state| (0..8).map(move |k| (state, k)))
            {
                let values = symbols.iter().zip(state);
                let values = values.map(|(s, bits)| (*s, value(pool.sort(*s), *bits)));
                let chosen = parameters.iter().map(|p| (*p, Value::from_u64(pool.sort(*p), k)));
                let model = Model::from_values(values.chain(chosen).collect());
                for formula in &found[point.index()] {
                    assert!(evaluator.holds(pool, &model, *formula), "seed {seed}");
                    held += 1;
                }
            }
        }
        assert!(held > 300 && proved > 3, "{held}, {proved}");
    }

    /// An array is filled with numbers, one by one, and then read from the first on. Each element is that
    /// given or `wrong`.
    fn filled(wrong: u64) -> Fixture {
        let mut pool = TermPool::new();
        let (word, array) = (Sort::BitVec(16), Sort::Array { index: 16, element: 16 });
        let (i, t) = (pool.var("i", word), pool.var("t", array));
        let (zero, one, count) = (pool.bv(16, 0), pool.bv(16, 1), pool.bv(16, 1000));
        let points: Arena<_, Point> =
            (0..3).map(|at| Point { name: format!("p{at}"), span: Span::NONE }).collect();
        let ids: Vec<_> = points.ids().collect();
        let (below, next) = (pool.ult(i, count), pool.add(i, one));
        let (above, truth) = (pool.not(below), pool.tt());
        let (middle, other) = (pool.bv(16, 500), pool.bv(16, wrong));
        let is_middle = pool.eq(i, middle);
        let number = pool.ite(is_middle, other, i);
        let stored = pool.store(t, i, number);
        let element = pool.select(t, i);
        let is_same = pool.eq(element, i);
        let differs = pool.not(is_same);
        let condition = pool.and(below, differs);
        let variables = [("i", i), ("t", t)];
        let variables = variables.map(|(name, symbol)| Variable { symbol, name: name.to_owned() });
        let any = pool.var("t_0", array);
        let transition = |from: usize, to: usize, guard, next| Transition {
            from: ids[from],
            to: ids[to],
            guard,
            next,
        };
        let system = System {
            variables: variables.into_iter().collect(),
            entry: ids[0],
            initial: vec![zero, any],
            assumed: truth,
            transitions: vec![
                transition(0, 1, truth, vec![i, t]),
                transition(1, 1, below, vec![next, stored]),
                transition(1, 2, above, vec![zero, t]),
                transition(2, 2, below, vec![next, t]),
            ],
            goals: [Goal {
                name: "bad".to_owned(),
                approaches: vec![Approach { from: ids[2], condition }],
            }]
            .into_iter()
            .collect(),
            points,
            inexact: Vec::new(),
        };
        Fixture { pool, system }
    }

    #[test]
    fn all_elements_of_an_array_that_a_loop_fills_are_known() {
        let Fixture { mut pool, system } = filled(500);
        let goals: Vec<GoalId> = system.goals.ids().collect();
        let verdicts = decide(
            &mut pool,
            &system,
            &goals,
            &mut *solver(),
            &Schedule { rounds: 6, ..Schedule::default() },
        );
        let Decision::Unreachable(certificate) = &verdicts[0].decision else {
            panic!("{verdicts:?}");
        };
        let check = |certificate: &crate::engines::Certificate, pool: &mut TermPool| {
            certificate.check(pool, &system, goals[0], &mut *solver(), &Limits::none())
        };
        assert!(check(certificate, &mut pool).is_ok());
        // Without the instances the element that is read is not known.
        let mut less = certificate.clone();
        less.parameters.instances.clear();
        assert!(check(&less, &mut pool).is_err());
        let mut deeper = certificate.clone();
        (deeper.depth, deeper.argument) = (2, Argument::Induction);
        assert!(check(&deeper, &mut pool).is_err());
    }

    #[test]
    fn an_element_that_differs_leaves_no_proof() {
        let Fixture { mut pool, system } = filled(501);
        let (mut solver, limits) = (solver(), Limits::none());
        let mut queries = Queries::new(&mut pool, &mut solver, &limits, Duration::from_secs(9));
        let mut cells = Cells::new(queries.pool, &system);
        let none = vec![Vec::new(); system.points.len()];
        assert!(cells.work(&mut queries, &none).is_some());
        let goal = system.goals.ids().next().unwrap();
        assert!(!cells.exclude(&mut queries, goal, &none));
    }
}
