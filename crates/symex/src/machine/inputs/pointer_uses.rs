//! The code's uses of pointers of the inputs.

use std::sync::Arc;

use lydian_eval::{Fault, Traps};
use lydian_inputs::learned::PointerObservations;
use lydian_ir::RecordId;
use lydian_smt::{Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::memory::{Expansion, Memory};
use crate::machine::state::State;

/// The most parts of a choice of pointers that are looked through.
const MOST_LOOKED: usize = 64;

/// The possible targets of pointers of the inputs, by their addresses.
type Expanded = Arc<FxHashMap<Term, Arc<Expansion>>>;

/// The code's uses of pointers of the inputs.
#[derive(Debug, Default)]
pub(crate) struct PointerUses {
    /// The struct or union that a pointer was used as a pointer into: the last that does not lie
    /// within the one before.
    pub(crate) records: FxHashMap<Term, UsedRecord>,
    /// The largest record that an address was used with, and the record's size.
    at: FxHashMap<Term, (RecordId, u64)>,
    /// The places of pointers to records that the code walks over byte by byte, as over the
    /// messages in a packet. Such an object is laid out as bytes.
    pub(crate) bytes: FxHashSet<Arc<str>>,
    /// Whether a path used an address with a larger record than it had expanded it to, or walks
    /// over the bytes of records.
    pub(crate) outgrown: bool,
    /// The pointers of the predicate that is evaluated now.
    suppositions: PredicateSuppositions,
    /// The results of [`Config::learns`](crate::Config::learns).
    pub(crate) learned: Option<PointerObservations>,
}

/// A struct or union that a pointer was used as a pointer into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedRecord {
    pub(crate) record: RecordId,
    /// The distance of its beginning from the place that the pointer leads to.
    pub(crate) origin: i64,
    /// Its size in bytes.
    pub(crate) size: u64,
}

impl UsedRecord {
    /// Whether another record is a member of it, as far as the places tell, or an element behind
    /// it.
    const fn is_around(self, other: Self) -> bool {
        other.is_part_of(self) || other.origin > 0
    }

    /// Whether it lies in another record, which is larger.
    pub(crate) const fn is_part_of(self, other: Self) -> bool {
        let (end, end_of_other) =
            (self.origin + self.size as i64, other.origin + other.size as i64);
        other.origin <= self.origin && end <= end_of_other && other.size > self.size
    }
}

/// The effect of evaluating a predicate on pointers that the path did not follow.
#[derive(Debug, Default)]
pub(crate) struct PredicateSuppositions {
    /// The facts that it supposes about them.
    supposed: Vec<Term>,
    /// The path's memory and targets before the first of them.
    before: Option<(Memory, Expanded)>,
}

impl PointerUses {
    /// Notes that an address is used as that of a record. Returns the addresses that it is made
    /// from.
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
        // An element of an array at a pointer also shows what the pointer leads to.
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

    /// Whether a path found a larger record since the last call.
    pub(crate) const fn take_outgrown(&mut self) -> bool {
        std::mem::replace(&mut self.outgrown, false)
    }

    /// The record at an address, as far as the code shows it.
    pub(crate) fn record_at(&self, address: Term) -> Option<RecordId> {
        self.at.get(&address).map(|(record, _)| *record)
    }

    /// Begins the evaluation of a label's predicate. Returns the argument for
    /// [`Self::end_predicate`].
    pub(crate) fn begin_predicate(&mut self) -> PredicateSuppositions {
        std::mem::take(&mut self.suppositions)
    }

    /// Ends the evaluation: the predicate holds only on inputs on which the supposed facts hold.
    pub(crate) fn end_predicate<N>(
        &mut self,
        pool: &mut TermPool,
        state: &mut State<N>,
        outer: PredicateSuppositions,
        traps: &mut Traps,
    ) {
        let PredicateSuppositions { supposed, before } =
            std::mem::replace(&mut self.suppositions, outer);
        if let Some((memory, expanded)) = before {
            (state.memory, state.path.expanded) = (memory, expanded);
        }
        for fact in supposed {
            let other = pool.not(fact);
            traps.add(pool, Fault::LeftOut, other);
        }
    }

    /// Supposes a fact about a pointer for the predicate alone, without an effect on the path.
    pub(crate) fn suppose_in_predicate<N>(&mut self, state: &State<N>, fact: Term) {
        self.keep_before_predicate(state);
        self.suppositions.supposed.push(fact);
    }

    /// Keeps the path's data before the predicate changes them, so that the path is not affected.
    fn keep_before_predicate<N>(&mut self, state: &State<N>) {
        self.suppositions
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
