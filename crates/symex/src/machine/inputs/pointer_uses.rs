//! What the code does with pointers of the inputs.

use std::sync::Arc;

use lydian_eval::{Fault, Traps};
use lydian_inputs::learned::PointerObservations;
use lydian_ir::RecordId;
use lydian_smt::{Node, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::machine::memory::{Expansion, Memory};
use crate::machine::state::State;

/// No choice of pointers is looked through beyond so many parts.
const MOST_LOOKED: usize = 64;

/// What pointers of the inputs may lead to, by their addresses.
type Expanded = Arc<FxHashMap<Term, Arc<Expansion>>>;

/// What the code does with pointers of the inputs.
#[derive(Debug, Default)]
pub(crate) struct PointerUses {
    /// The struct or union that a pointer was used as a pointer into: the last that does not lie within
    /// the one before.
    pub(crate) records: FxHashMap<Term, UsedRecord>,
    /// The largest record that an address was used as that of, and its size.
    at: FxHashMap<Term, (RecordId, u64)>,
    /// Whether a path took an address for one into a larger record than what it had expanded it to.
    pub(crate) outgrown: bool,
    /// The predicate that is evaluated now.
    aside: Aside,
    /// What is learned of them, where that is asked for.
    pub(crate) learned: Option<PointerObservations>,
}

/// A struct or union as a pointer into which a pointer was used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedRecord {
    pub(crate) record: RecordId,
    /// How far from where the pointer leads it begins.
    pub(crate) origin: i64,
    /// Its size.
    pub(crate) size: u64,
}

impl UsedRecord {
    /// Whether another is a member of it, as far as the places tell, or an element behind it.
    const fn is_around(self, other: Self) -> bool {
        other.is_part_of(self) || other.origin > 0
    }

    /// Whether it lies in another, which is larger.
    pub(crate) const fn is_part_of(self, other: Self) -> bool {
        let (end, end_of_other) =
            (self.origin + self.size as i64, other.origin + other.size as i64);
        other.origin <= self.origin && end <= end_of_other && other.size > self.size
    }
}

/// What the evaluation of a predicate does with pointers that the path did not follow.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// What it supposes about them.
    supposed: Vec<Term>,
    /// What the path had before the first of them.
    before: Option<(Memory, Expanded)>,
}

impl PointerUses {
    /// Notes that an address is used as that of a record. Gives the addresses that it is made from.
    pub(crate) fn note(
        &mut self,
        pool: &TermPool,
        derived: &FxHashMap<Term, (Term, Term)>,
        base: Term,
        (record, size): (RecordId, u64),
    ) -> Option<(Vec<Term>, UsedRecord)> {
        if pool.as_u64(base).is_some() {
            return None;
        }
        let largest = self.at.entry(base).or_insert((record, size));
        if size > largest.1 {
            *largest = (record, size);
        }
        // An element of an array at a pointer says what the pointer leads to, too.
        let moved = derived.get(&base).map(|(from, by)| (*from, pool.as_i64(*by).unwrap_or(0)));
        let (pointer, origin) = moved.unwrap_or((base, 0));
        let used = UsedRecord { record, origin, size };
        let addresses = addresses_of(pool, pointer);
        for address in &addresses {
            if !self.records.get(address).is_some_and(|known| known.is_around(used)) {
                self.records.insert(*address, used);
            }
        }
        Some((addresses, used))
    }

    /// Whether a path found a larger record since that was asked last.
    pub(crate) const fn take_outgrown(&mut self) -> bool {
        std::mem::replace(&mut self.outgrown, false)
    }

    /// The record that lies at an address, as far as the code says so.
    pub(crate) fn record_at(&self, address: Term) -> Option<RecordId> {
        self.at.get(&address).map(|(record, _)| *record)
    }

    /// The predicate of a label is evaluated from now on; gives what [`Self::end_aside`] wants.
    pub(crate) fn begin_aside(&mut self) -> Aside {
        std::mem::take(&mut self.aside)
    }

    /// It was evaluated: it holds only on inputs on which its pointers are what was supposed.
    pub(crate) fn end_aside<N>(
        &mut self,
        pool: &mut TermPool,
        state: &mut State<N>,
        outer: Aside,
        traps: &mut Traps,
    ) {
        let Aside { supposed, before } = std::mem::replace(&mut self.aside, outer);
        if let Some((memory, expanded)) = before {
            (state.memory, state.path.expanded) = (memory, expanded);
        }
        for fact in supposed {
            let other = pool.not(fact);
            traps.add(pool, Fault::LeftOut, other);
        }
    }

    /// The predicate supposes something about a pointer, which the path is to know nothing of.
    pub(crate) fn suppose_aside<N>(&mut self, state: &State<N>, fact: Term) {
        self.keep_aside(state);
        self.aside.supposed.push(fact);
    }

    /// The predicate changes what the path has, which the path is to know nothing of.
    pub(crate) fn keep_aside<N>(&mut self, state: &State<N>) {
        self.aside
            .before
            .get_or_insert_with(|| (state.memory.clone(), state.path.expanded.clone()));
    }
}

/// The addresses that a pointer is a choice of, as far as it is looked through.
pub(crate) fn addresses_of(pool: &TermPool, pointer: Term) -> Vec<Term> {
    let (mut found, mut waiting) = (Vec::new(), vec![pointer]);
    let mut looked = 0;
    while let Some(next) = waiting.pop() {
        match pool.node(next) {
            _ if pool.as_u64(next).is_some() || found.contains(&next) => {}
            Node::Ite(_, then, other) if looked < MOST_LOOKED => waiting.extend([other, then]),
            _ => found.push(next),
        }
        looked += 1;
    }
    found
}

/// The address of a pointer that may be null.
pub(crate) fn address_of(pool: &TermPool, pointer: Term) -> Term {
    match pool.node(pointer) {
        Node::Ite(_, null, address) if pool.as_u64(null) == Some(0) => address,
        _ => pointer,
    }
}
