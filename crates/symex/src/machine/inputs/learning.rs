//! What an exploration learns about pointers of the inputs, with [`Config::learns`]: the pointers
//! that it follows, those that it compares with null, and the inputs that bound the index of
//! accessed elements.
//!
//! [`Config::learns`]: crate::config::Config::learns

use std::collections::BTreeSet;

use lydian_inputs::lazy::{LazyObject, REACH, readable_name};
use lydian_inputs::learned::Dereferences;
use lydian_smt::{Model, Sort, Term, TermPool, Value};

use crate::machine::Machine;
use crate::machine::memory::ScaledOffset;
use crate::machine::memory::{Candidate, Offset};
use crate::machine::scope::StateView;
use crate::machine::state::{Notes, State};

/// The most recent facts of a path that are searched for a bound of an element.
const MOST_FACTS: usize = 64;
/// A number to try as the index of an element.
const SOME_ELEMENT: u64 = 5;

impl<N: Notes> StateView<'_, '_, N> {
    /// Notes an access to a lazy object.
    pub(crate) fn learn(&mut self, pool: &mut TermPool, candidate: &Candidate) {
        if self.uses.learned.is_none() || self.state.course.check.is_some() {
            return;
        }
        let object = self.state.memory.object(candidate.object).first.clone();
        let Some(object) = object.filter(|object| object.own.origin == 0) else { return };
        let (element, bounds) = match candidate.offset {
            Offset::Known(at) => {
                let element = (at - REACH as i64).div_euclid(object.own.period() as i64);
                let Ok(number) = u64::try_from(element) else { return };
                (Some(element), self.greater_than(pool, number))
            }
            Offset::Scaled(ScaledOffset { index, .. }) => {
                (None, self.greater_than_index(pool, index))
            }
        };
        let ends = element.is_none_or(|at| at == 0 || self.is_nonzero_before(pool, &object, at));
        let Some(learned) = &mut self.uses.learned else { return };
        let followed = learned.followed.entry(readable_name(&object.own.name));
        let followed = followed.or_insert_with(|| Dereferences::new(object.own.ty));
        followed.look(bounds);
        followed.ends_at_zero &= ends;
        match element {
            Some(element) => _ = followed.elements.insert(element),
            None => followed.varies = true,
        }
    }

    /// The inputs that are greater than a number by a fact of the path.
    fn greater_than(&mut self, pool: &mut TermPool, number: u64) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for fact in self.last_facts() {
            if let [var] = pool.vars_of(fact)[..]
                && !self.holds_for(pool, fact, &[(var, number)])
                && self.holds_for(pool, fact, &[(var, number + 1)])
            {
                found.extend(pool.var_name(var).map(str::to_owned));
            }
        }
        found
    }

    /// The inputs that are greater than an index that is itself an input.
    fn greater_than_index(&mut self, pool: &mut TermPool, index: Term) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let [number] = pool.vars_of(index)[..] else { return found };
        for fact in self.last_facts() {
            let vars = pool.vars_of(fact);
            let other = match vars[..] {
                [a, b] if a == number => b,
                [a, b] if b == number => a,
                _ => continue,
            };
            let with = |bound: u64| [(number, SOME_ELEMENT), (other, bound)];
            if !self.holds_for(pool, fact, &with(SOME_ELEMENT))
                && self.holds_for(pool, fact, &with(SOME_ELEMENT + 1))
            {
                found.extend(pool.var_name(other).map(str::to_owned));
            }
        }
        found
    }

    /// Whether a fact of the path says that the element before one of an object is not zero.
    fn is_nonzero_before(&mut self, pool: &mut TermPool, object: &LazyObject, at: i64) -> bool {
        let name = object.path_at((at - 1) * object.own.period() as i64);
        let Some(var) = pool.find_var(&name) else { return false };
        self.last_facts()
            .into_iter()
            .any(|fact| pool.vars_of(fact)[..] == [var] && !self.holds_for(pool, fact, &[(var, 0)]))
    }

    fn last_facts(&self) -> Vec<Term> {
        let facts = &self.state.path.facts;
        facts.iter().skip(facts.len().saturating_sub(MOST_FACTS)).copied().collect()
    }

    /// Whether a fact holds for some values of its inputs.
    fn holds_for(&mut self, pool: &TermPool, fact: Term, values: &[(Term, u64)]) -> bool {
        let is_number = |var: Term| matches!(pool.sort(var), Sort::BitVec(..=64));
        if !values.iter().all(|(var, _)| is_number(*var)) {
            return false;
        }
        let values = values.iter().map(|(var, value)| {
            let value = Value::from_u64(pool.sort(*var), *value);
            (*var, value)
        });
        let model = Model::from_values(values.collect());
        self.evaluator.holds(pool, &model, fact)
    }
}

impl<N: Notes> Machine<'_, '_, N> {
    /// Notes the pointers that a condition compares with null.
    pub(crate) fn learn_condition(&mut self, state: &State<N>, condition: Term) {
        if state.course.check.is_some() {
            return;
        }
        let Some(learned) = &mut self.uses.learned else { return };
        let vars = self.pool.vars_of(condition);
        let pool = &self.pool;
        let place = |var: &Term| pool.var_name(*var)?.strip_prefix("null(")?.strip_suffix(')');
        let all: Option<Vec<&str>> = vars.iter().map(place).collect();
        learned.null_tested.extend(all.into_iter().flatten().map(str::to_owned));
    }
}
