//! The values that variables of few values have together at each point.
//!
//! A state machine in C keeps its state in a variable that is only set to constants. The combinations of
//! such variables' values that runs have are found one after the other, as explicit-state model checking
//! finds states: a query asks for a transition from a known combination to an unknown one (Beyer and
//! Löwe: *Explicit-State Software Model Checking Based on CEGAR and Interpolation*, 2013, for explicit
//! values beside a path's constraints; Reps, Sagiv and Yorsh: *Symbolic Implementation of the Best
//! Transformer*, 2004, for the queries). Other variables may have any value that the invariants allow.
//!
//! Where a combination is given, most of a transition's terms are constants. So most queries are answered
//! by the pool's rewrites. A combination may say nothing of a variable: where it is set to an input or to
//! another variable of which nothing is known. A variable that turns out to have many values is given up,
//! and the search begins anew without it.

use std::collections::VecDeque;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Model, Node, Sort, Term, TermPool, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::sampling::Samples;
use crate::system::{PointId, System, Transition};

/// The most values at a point of a variable that may be set to others than constants.
const MOST_FOUND: usize = 16;
/// The most values at a point of one that is only set to constants.
const MOST_SET: usize = 128;
/// The constants of which a variable is set to some if it is watched for flags though it may have any value.
const MANY_CONSTANTS: usize = 3;
/// The most variables that are watched.
const MOST_WATCHED: usize = 24;
/// The most combinations of all points in the first search. Later ones may find more.
const MOST_COMBINATIONS: usize = 2_000;
/// The searches after which no further variable is given up.
const MOST_SEARCHES: usize = 40;

/// The values of the watched variables; none where a variable may have any.
pub(crate) type Combination = Vec<Option<u64>>;

/// A variable that is watched.
#[derive(Clone, Copy)]
struct Watched {
    /// Its position.
    at: usize,
    /// The most values that it may have at a point.
    most: usize,
    /// Whether nothing is said of it where it is set to others than constants.
    is_loose: bool,
}

/// A search for all combinations.
pub(crate) struct Values<'s> {
    system: &'s System,
    watched: Vec<Watched>,
    /// By point: the combinations that are known.
    known: Vec<FxHashSet<Combination>>,
    /// By point and watched variable: its values.
    values: Vec<Vec<FxHashSet<u64>>>,
    /// Combinations whose successors are not known yet; of the entry, an empty one.
    waiting: VecDeque<(PointId, Combination)>,
    searches: usize,
    /// Whether Boolean variables are left out.
    only_words: bool,
    /// Whether there is nothing more to find.
    over: bool,
    evaluator: Evaluator,
}

/// The end of looking at one combination's successors.
enum Look {
    Done,
    TooMany,
    /// Out of time, or a query had no answer.
    Stopped,
}

impl<'s> Values<'s> {
    /// A search that has not begun.
    pub(crate) fn new(system: &'s System) -> Self {
        Self {
            system,
            watched: Vec::new(),
            known: Vec::new(),
            values: Vec::new(),
            waiting: VecDeque::new(),
            searches: 0,
            only_words: false,
            over: false,
            evaluator: Evaluator::new(),
        }
    }

    /// The same without the Boolean variables.
    pub(crate) fn of_words(system: &'s System) -> Self {
        Self { only_words: true, ..Self::new(system) }
    }

    /// Whether the search is complete, or has nothing to look for.
    pub(crate) const fn is_over(&self) -> bool {
        self.over
    }

    /// The symbols of the watched variables, if all combinations of their values are known.
    pub(crate) fn symbols(&self) -> Vec<Term> {
        let symbols: Vec<Term> = self.system.symbols().collect();
        let watched = self.watched.iter().map(|watched| symbols[watched.at]);
        if self.over && self.waiting.is_empty() { watched.collect() } else { Vec::new() }
    }

    /// The combinations of a point, in order.
    pub(crate) fn combinations(&self, point: PointId) -> Vec<Combination> {
        let mut found: Vec<Combination> = self.known[point.index()].iter().cloned().collect();
        found.sort_unstable();
        found
    }

    /// Goes on with the search. Gives formulas that hold at the points, once it is complete.
    pub(crate) fn work(
        &mut self,
        queries: &mut Queries<'_>,
        samples: &Samples<'_>,
        invariants: &Invariants,
    ) -> Option<Invariants> {
        if self.over {
            return None;
        }
        if self.searches == 0 {
            self.watched = watched(queries.pool, self.system, samples);
            if self.only_words {
                self.keep_words(queries.pool);
            }
            self.begin();
        }
        while let Some((point, combination)) = self.waiting.front().cloned() {
            let look = match self.is_covered(point, &combination) {
                true => Look::Done,
                false => self.look(queries, invariants, point, &combination),
            };
            match look {
                Look::Done => {
                    self.waiting.pop_front();
                }
                Look::TooMany => self.give_up_some(),
                Look::Stopped => return None,
            }
            if self.over {
                return None;
            }
        }
        self.over = true;
        (!self.watched.is_empty()).then(|| self.formulas(queries.pool))
    }

    /// Leaves out Boolean variables, and those that some states of a point have from a constant and others
    /// have not, unless transitions set them to many constants, as they do the state of a state machine.
    fn keep_words(&mut self, pool: &TermPool) {
        let system = self.system;
        let symbols: Vec<Term> = system.symbols().collect();
        self.watched.retain(|one| pool.sort(symbols[one.at]) != Sort::Bool);
        let mixed = mixed(pool, system, &self.watched);
        self.watched.retain(|one| {
            let is_clear = !one.is_loose || !mixed.contains(&one.at);
            is_clear || is_set_to_many(pool, system, one.at)
        });
    }

    fn begin(&mut self) {
        self.searches += 1;
        self.known = vec![FxHashSet::default(); self.system.points.len()];
        self.values = vec![vec![FxHashSet::default(); self.watched.len()]; self.known.len()];
        self.waiting = [(self.system.entry, Vec::new())].into_iter().collect();
        self.over = self.watched.is_empty() || self.searches > MOST_SEARCHES;
    }

    /// Begins anew without the variables that have too many values; if none has, without that of the most.
    fn give_up_some(&mut self) {
        let count =
            |at: usize| self.values.iter().map(|values| values[at].len()).max().unwrap_or(0);
        let counts: Vec<usize> = (0..self.watched.len()).map(count).collect();
        let is_over = |at: usize| counts[at] > self.watched[at].most;
        let mut given_up: Vec<usize> = (0..counts.len()).filter(|at| is_over(*at)).collect();
        if given_up.is_empty() {
            given_up.extend((0..counts.len()).max_by_key(|at| counts[*at]));
        }
        let watched = std::mem::take(&mut self.watched);
        for (at, watched) in watched.into_iter().enumerate() {
            if !given_up.contains(&at) {
                self.watched.push(watched);
            } else if !watched.is_loose {
                self.watched.push(Watched { is_loose: true, ..watched });
            }
        }
        self.begin();
    }

    /// Whether another combination that is known has all states of one.
    fn is_covered(&self, point: PointId, combination: &Combination) -> bool {
        let mut others = self.known[point.index()].iter().filter(|other| *other != combination);
        others.any(|other| {
            other.iter().zip(combination).all(|(other, own)| other.is_none() || other == own)
        })
    }

    /// Finds the successors of a combination that are not known.
    fn look(
        &mut self,
        queries: &mut Queries<'_>,
        invariants: &Invariants,
        point: PointId,
        combination: &Combination,
    ) -> Look {
        let mut known = self.constants(queries.pool, combination);
        let mut premises = Vec::new();
        for formula in &invariants[point.index()] {
            premises.push(queries.pool.substituted(*formula, &mut known));
        }
        let system = self.system;
        for index in system.leaving(point).collect::<Vec<usize>>() {
            let transition = &system.transitions[index];
            let guard = queries.pool.substituted(transition.guard, &mut known);
            if guard == queries.pool.ff() {
                continue;
            }
            let mut next = Vec::new();
            for watched in &self.watched {
                let value = transition.next[watched.at];
                next.push(queries.pool.substituted(value, &mut known));
            }
            let mut query = premises.clone();
            query.push(guard);
            match self.successors(queries, transition.to, query, &next) {
                Look::Done => {}
                end => return end,
            }
        }
        Look::Done
    }

    /// The watched variables' symbols with their values.
    pub(crate) fn constants(
        &self,
        pool: &mut TermPool,
        combination: &Combination,
    ) -> FxHashMap<Term, Term> {
        let symbols: Vec<Term> = self.system.symbols().collect();
        let mut known = FxHashMap::default();
        for (watched, value) in self.watched.iter().zip(combination) {
            let Some(value) = value else { continue };
            let symbol = symbols[watched.at];
            let sort = pool.sort(symbol);
            let constant = pool.constant(sort, &Value::from_u64(sort, *value));
            known.insert(symbol, constant);
        }
        known
    }

    /// Adds the combinations of some terms' values at a point.
    fn successors(
        &mut self,
        queries: &mut Queries<'_>,
        to: PointId,
        mut query: Vec<Term>,
        next: &[Term],
    ) -> Look {
        let constant: Vec<Option<u64>> =
            next.iter().map(|term| queries.pool.is_const(*term)?.to_u64()).collect();
        let agrees = |values: &&Combination| {
            let mut pairs = values.iter().zip(&constant);
            pairs
                .all(|(value, constant)| value.is_none() || constant.is_none() || value == constant)
        };
        let mut alike: Vec<Combination> =
            self.known[to.index()].iter().filter(agrees).cloned().collect();
        alike.sort_unstable();
        let told = self.told(queries.pool, next);
        for values in &alike {
            let same = same(queries.pool, (next, &told), values);
            query.push(queries.pool.not(same));
        }
        loop {
            if queries.expired() {
                return Look::Stopped;
            }
            let model = match queries.check(&query) {
                Answer::Unsat { .. } => return Look::Done,
                Answer::Sat(model) => model,
                Answer::Unknown(_) => return Look::Stopped,
            };
            let mut values = Vec::new();
            for (at, term) in next.iter().enumerate() {
                values.push(self.value(queries.pool, &model, at, *term));
            }
            let same = same(queries.pool, (next, &told), &values);
            query.push(queries.pool.not(same));
            if !self.known[to.index()].insert(values.clone()) {
                // The model is wrong.
                return Look::Stopped;
            }
            if self.note(to, values) {
                return Look::TooMany;
            }
        }
    }

    /// By watched variable: whether something is said of it where it is set to a term. Without Boolean
    /// variables a combination that says less of a variable is kept apart from those that say more.
    fn told(&self, pool: &mut TermPool, next: &[Term]) -> Vec<Option<Term>> {
        let mut told = Vec::new();
        for (watched, term) in self.watched.iter().zip(next) {
            let is_apart = self.only_words && watched.is_loose;
            told.push(is_apart.then(|| is_told(pool, *term, &mut FxHashMap::default())));
        }
        told
    }

    /// The value of a watched variable's term in a model, unless nothing is to be said of it.
    fn value(&mut self, pool: &TermPool, model: &Model, at: usize, term: Term) -> Option<u64> {
        let mut leaf = term;
        while let Node::Ite(condition, yes, no) = pool.node(leaf) {
            leaf = if self.evaluator.holds(pool, model, condition) { yes } else { no };
        }
        // Rewrites make other terms of choices between constants.
        let is_said = !self.watched[at].is_loose || pool.var_name(leaf).is_none();
        is_said.then(|| self.evaluator.eval_u64(pool, model, leaf))
    }

    /// Notes a new combination. Whether there are too many.
    fn note(&mut self, point: PointId, values: Combination) -> bool {
        let mut is_over = false;
        for (at, value) in values.iter().enumerate() {
            let known = &mut self.values[point.index()][at];
            known.extend(*value);
            is_over |= known.len() > self.watched[at].most;
        }
        self.waiting.push_back((point, values));
        let count: usize = self.known.iter().map(FxHashSet::len).sum();
        is_over || count > MOST_COMBINATIONS
    }

    /// That the watched variables have one of the combinations, by point.
    fn formulas(&self, pool: &mut TermPool) -> Invariants {
        let symbols: Vec<Term> = self.system.symbols().collect();
        let watched: Vec<Term> = self.watched.iter().map(|watched| symbols[watched.at]).collect();
        let mut found = vec![Vec::new(); self.system.points.len()];
        for point in self.system.points.ids().filter(|point| *point != self.system.entry) {
            let mut known: Vec<&[Option<u64>]> =
                self.known[point.index()].iter().map(Vec::as_slice).collect();
            known.sort_unstable();
            found[point.index()].push(any_of(pool, &watched, &known));
        }
        found
    }
}

/// That terms have these values, where they are given.
pub(crate) fn equal(pool: &mut TermPool, terms: &[Term], values: &[Option<u64>]) -> Term {
    let mut all = Vec::new();
    for (term, value) in terms.iter().zip(values) {
        let Some(value) = value else { continue };
        let sort = pool.sort(*term);
        let constant = pool.constant(sort, &Value::from_u64(sort, *value));
        all.push(pool.eq(*term, constant));
    }
    pool.and_all(all)
}

/// That terms have these values; of others nothing is said there, if it is known when something is.
fn same(
    pool: &mut TermPool,
    (terms, told): (&[Term], &[Option<Term>]),
    values: &[Option<u64>],
) -> Term {
    let mut all = vec![equal(pool, terms, values)];
    for (told, value) in told.iter().zip(values) {
        let Some(told) = *told else { continue };
        all.push(if value.is_some() { told } else { pool.not(told) });
    }
    pool.and_all(all)
}

/// Whether a choice of choices is a term of which something is said: no symbol.
fn is_told(pool: &mut TermPool, term: Term, known: &mut FxHashMap<Term, Term>) -> Term {
    if let Some(told) = known.get(&term) {
        return *told;
    }
    let told = match pool.node(term) {
        Node::Ite(condition, yes, no) => {
            let (yes, no) = (is_told(pool, yes, known), is_told(pool, no, known));
            pool.ite(condition, yes, no)
        }
        _ => pool.bool(pool.var_name(term).is_none()),
    };
    known.insert(term, told);
    told
}

/// The watched variables that at some point may have a value of which something is said and one of which
/// nothing is.
fn mixed(pool: &TermPool, system: &System, watched: &[Watched]) -> FxHashSet<usize> {
    let symbols: Vec<Term> = system.symbols().collect();
    let numbers: FxHashMap<Term, usize> =
        watched.iter().enumerate().map(|(number, one)| (symbols[one.at], number)).collect();
    let ends = |transition: &Transition| -> Vec<Vec<Term>> {
        watched.iter().map(|one| leaves(pool, transition.next[one.at])).collect()
    };
    let ends: Vec<Vec<Vec<Term>>> = system.transitions.iter().map(ends).collect();
    // By point and variable: whether there are values of which something is said, and whether there are others.
    let mut found = vec![vec![[false; 2]; watched.len()]; system.points.len()];
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for (transition, ends) in system.transitions.iter().zip(&ends) {
            let (from, to) = (transition.from.index(), transition.to.index());
            for (number, leaves) in ends.iter().enumerate() {
                let mut now = found[to][number];
                for leaf in leaves {
                    let [told, other] = match numbers.get(leaf) {
                        Some(own) => found[from][*own],
                        None if pool.var_name(*leaf).is_some() => [false, true],
                        None => [true, false],
                    };
                    now = [now[0] || told, now[1] || other];
                }
                is_changed |= now != found[to][number];
                found[to][number] = now;
            }
        }
    }
    let of_points = found.iter().flat_map(|of_point| of_point.iter().zip(watched));
    of_points.filter(|(is, _)| **is == [true; 2]).map(|(_, one)| one.at).collect()
}

/// Whether transitions set a variable to many constants, as they do the state of a state machine.
fn is_set_to_many(pool: &TermPool, system: &System, at: usize) -> bool {
    let ends = system.transitions.iter().flat_map(|transition| leaves(pool, transition.next[at]));
    let constants: FxHashSet<Term> = ends.filter(|leaf| pool.is_const(*leaf).is_some()).collect();
    constants.len() >= MANY_CONSTANTS
}

/// That terms have one of some combinations of values, which are in order.
pub(crate) fn any_of(pool: &mut TermPool, terms: &[Term], combinations: &[&[Option<u64>]]) -> Term {
    let Some((first, rest)) = terms.split_first() else {
        return pool.bool(!combinations.is_empty());
    };
    let mut cases = Vec::new();
    for group in combinations.chunk_by(|a, b| a[0] == b[0]) {
        let is_first = equal(pool, &[*first], &group[0][..1]);
        let of_rest: Vec<&[Option<u64>]> = group.iter().map(|values| &values[1..]).collect();
        let is_rest = any_of(pool, rest, &of_rest);
        cases.push(pool.and(is_first, is_rest));
    }
    pool.or_all(cases)
}

/// The variables that are later set to constants and to each other's values only, and those of which
/// samples show few values.
fn watched(pool: &TermPool, system: &System, samples: &Samples<'_>) -> Vec<Watched> {
    let symbols: Vec<Term> = system.symbols().collect();
    let is_word = |at: &usize| matches!(pool.sort(symbols[*at]), Sort::Bool | Sort::BitVec(1..=64));
    let words: Vec<usize> = (0..symbols.len()).filter(is_word).collect();
    let mut copied: FxHashSet<Term> = words.iter().map(|at| symbols[*at]).collect();
    loop {
        let before = copied.len();
        for at in &words {
            let later = system.transitions.iter().filter(|t| t.from != system.entry);
            let mut ends = later.flat_map(|transition| leaves(pool, transition.next[*at]));
            if !ends.all(|leaf| pool.is_const(leaf).is_some() || copied.contains(&leaf)) {
                copied.remove(&symbols[*at]);
            }
        }
        if copied.len() == before {
            break;
        }
    }
    let few = |at: &usize| {
        let mut values: FxHashSet<u64> = FxHashSet::default();
        for point in system.points.ids() {
            values.extend(samples.of(point).iter().filter_map(|state| state[*at].to_u64()));
        }
        (1..=MOST_FOUND).contains(&values.len())
    };
    let (first, second): (Vec<usize>, Vec<usize>) =
        words.into_iter().partition(|at| copied.contains(&symbols[*at]));
    let is_changed = |at: &usize| {
        let mut later = system.transitions.iter().filter(|t| t.from != system.entry);
        later.any(|transition| transition.next[*at] != symbols[*at])
    };
    let is_loose = |at: usize| pool.sort(symbols[at]) != Sort::Bool;
    let first = first.into_iter().filter(|at| is_changed(at) || few(at));
    let first = first.map(|at| Watched { at, most: MOST_SET, is_loose: is_loose(at) });
    let second = second.into_iter().filter(few);
    let second = second.map(|at| Watched { at, most: MOST_FOUND, is_loose: false });
    first.chain(second).take(MOST_WATCHED).collect()
}

/// The terms that a choice of choices may be.
fn leaves(pool: &TermPool, term: Term) -> Vec<Term> {
    let (mut waiting, mut seen, mut found) = (vec![term], FxHashSet::default(), Vec::new());
    while let Some(next) = waiting.pop() {
        if !seen.insert(next) {
            continue;
        }
        match pool.node(next) {
            Node::Ite(_, yes, no) => waiting.extend([yes, no]),
            _ => found.push(next),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::testing::{Fixture, random_slice, solver};

    /// The formulas for a system, with the number of variables that were watched at the end.
    fn found(fixture: &mut Fixture) -> (Option<Invariants>, usize) {
        let Fixture { pool, system } = fixture;
        let (mut solver, limits) = (solver(), Limits::none());
        let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
        let mut samples = Samples::new(queries.pool, system);
        samples.run(&queries, 5, &[]);
        let none = vec![Vec::new(); system.points.len()];
        let mut values = Values::new(system);
        (values.work(&mut queries, &samples, &none), values.watched.len())
    }

    #[test]
    fn all_states_of_random_systems_have_combinations_that_are_found() {
        let mut held = 0;
        for seed in 7000..7150 {
            let (mut fixture, reached) = random_slice(seed);
            let (Some(found), _) = found(&mut fixture) else { continue };
            held += reached.assert_hold(&fixture, &found);
        }
        assert!(held > 300, "{held}");
    }
}
