//! Vectors: the values of a decision's conditions in one evaluation.

use lydian_base::EntityId;
use lydian_ir::{BoolTree, ConditionId, Decision, ExprId, Truth, UnreachedValue};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::event::Event;

/// A set of a decision's conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConditionSet {
    /// Bits, lowest first; never ends with a zero word, so that equal sets are equal values.
    words: SmallVec<[u64; 2]>,
}

impl ConditionSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set whose members are the positions of the one bits, `c0` being the lowest.
    pub fn from_bits(bits: u64) -> Self {
        let mut words = SmallVec::new();
        if bits != 0 {
            words.push(bits);
        }
        Self { words }
    }

    /// Adds a condition.
    pub fn insert(&mut self, condition: ConditionId) {
        let (word, bit) = (condition.index() / 64, condition.index() % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    /// Whether it holds a condition.
    pub fn contains(&self, condition: ConditionId) -> bool {
        let word = self.words.get(condition.index() / 64).copied().unwrap_or(0);
        word >> (condition.index() % 64) & 1 == 1
    }

    /// The members of both sets.
    pub fn intersection(&self, with: &Self) -> Self {
        let words = self.words.iter().zip(&with.words).map(|(word, other)| word & other);
        let mut words: SmallVec<[u64; 2]> = words.collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { words }
    }

    /// The number of its members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl FromIterator<ConditionId> for ConditionSet {
    fn from_iter<I: IntoIterator<Item = ConditionId>>(conditions: I) -> Self {
        let mut set = Self::new();
        conditions.into_iter().for_each(|condition| set.insert(condition));
        set
    }
}

/// The conditions of a decision that, where they are not reached, have a value on some states only,
/// in order.
pub fn sometimes_defined(
    decision: &Decision,
    short_circuit: bool,
) -> impl Iterator<Item = ConditionId> + '_ {
    let conditions = decision.conditions.iter().filter(move |(_, condition)| {
        !short_circuit && matches!(condition.unreached, UnreachedValue::WhereDefined(_))
    });
    conditions.map(|(id, _)| id)
}

/// The number of bits that represent a vector of a decision ([`DecisionVector::from_bits`]).
pub fn vector_bits(decision: &Decision, short_circuit: bool) -> usize {
    decision.conditions.len() + sometimes_defined(decision, short_circuit).count()
}

/// One evaluation of a decision: the event of [`crate::Site::Decision`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DecisionVector {
    /// The conditions that short-circuit evaluation reached.
    pub reached: ConditionSet,
    /// The conditions that have a value: those reached, and those that have one on the state at the
    /// outcome.
    pub known: ConditionSet,
    /// The known conditions that are true.
    pub value: ConditionSet,
}

impl DecisionVector {
    /// The vector that bits represent: for each condition its value, then for each of
    /// [`sometimes_defined`] whether it has a value though it is not reached. With `short_circuit` no
    /// condition has one there.
    pub fn from_bits(
        decision: &Decision,
        short_circuit: bool,
        bit: impl Fn(usize) -> bool,
    ) -> Self {
        let sometimes: SmallVec<[_; 8]> = sometimes_defined(decision, short_circuit).collect();
        let count = decision.conditions.len();
        let is_defined = |condition: ConditionId| {
            let position = sometimes.iter().position(|one| *one == condition);
            position.is_some_and(|position| bit(count + position))
        };
        Self::of(decision, short_circuit, |condition| bit(condition.index()), is_defined)
    }

    /// The vector of an evaluation with the given value for each condition that evaluation would
    /// reach. A condition that is not reached and has a value on some states only has one if
    /// `is_defined` is true. With `short_circuit` no such condition has one.
    pub fn of(
        decision: &Decision,
        short_circuit: bool,
        value: impl Fn(ConditionId) -> bool,
        is_defined: impl Fn(ConditionId) -> bool,
    ) -> Self {
        let mut vector = Self::default();
        evaluate(&decision.tree, &mut |condition| {
            vector.reached.insert(condition);
            value(condition)
        });
        for (id, condition) in decision.conditions.iter() {
            let has_value = match condition.unreached {
                UnreachedValue::Never => false,
                UnreachedValue::Always(_) => !short_circuit,
                UnreachedValue::WhereDefined(_) => !short_circuit && is_defined(id),
            };
            if has_value || vector.reached.contains(id) {
                vector.known.insert(id);
                if value(id) {
                    vector.value.insert(id);
                }
            }
        }
        vector
    }

    /// Whether both are vectors of evaluations that took the same way: the conditions that were
    /// reached had the same values.
    pub fn goes_as(&self, other: &Self) -> bool {
        self.reached == other.reached
            && self.value.intersection(&self.reached) == other.value.intersection(&other.reached)
    }
}

impl Event for DecisionVector {
    fn condition(&self, condition: ConditionId) -> Truth {
        if self.known.contains(condition) {
            Truth::from(self.value.contains(condition))
        } else {
            Truth::Unknown
        }
    }

    fn reached(&self, condition: ConditionId) -> bool {
        self.reached.contains(condition)
    }

    /// A vector holds no values of mutants.
    fn mutant(&self, _: ConditionId, _: ExprId) -> Truth {
        Truth::Unknown
    }

    /// A vector holds no state.
    fn expr(&self, _: ExprId) -> Truth {
        Truth::Unknown
    }
}

/// Evaluates a tree as C does: `condition` is called for each condition that is reached, in order.
/// Returns the outcome.
pub fn evaluate(tree: &BoolTree, condition: &mut impl FnMut(ConditionId) -> bool) -> bool {
    match tree {
        BoolTree::Const(value) => *value,
        BoolTree::Cond(id) => condition(*id),
        BoolTree::Not(a) => !evaluate(a, condition),
        BoolTree::And(a, b) => evaluate(a, condition) && evaluate(b, condition),
        BoolTree::Or(a, b) => evaluate(a, condition) || evaluate(b, condition),
        BoolTree::BitAnd(a, b) => evaluate(a, condition) & evaluate(b, condition),
        BoolTree::BitOr(a, b) => evaluate(a, condition) | evaluate(b, condition),
        BoolTree::Eq(a, b) => evaluate(a, condition) == evaluate(b, condition),
        BoolTree::Xor(a, b) => evaluate(a, condition) != evaluate(b, condition),
        BoolTree::Ite(test, a, b) => {
            if evaluate(test, condition) {
                evaluate(a, condition)
            } else {
                evaluate(b, condition)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Pred;

    fn id(index: usize) -> ConditionId {
        ConditionId::from_index(index)
    }

    #[test]
    fn vectors_go_the_same_way_whatever_is_recorded_of_what_was_not_reached() {
        let vector = |reached, known, value| DecisionVector {
            reached: ConditionSet::from_bits(reached),
            known: ConditionSet::from_bits(known),
            value: ConditionSet::from_bits(value),
        };
        let full = vector(0b01, 0b11, 0b10);
        assert!(vector(0b01, 0b01, 0b00).goes_as(&full) && vector(0b01, 0b11, 0b00).goes_as(&full));
        assert!(!vector(0b11, 0b11, 0b10).goes_as(&full), "it went further");
        assert!(!vector(0b01, 0b01, 0b01).goes_as(&full), "it went another way");
        let set = |ids: &[usize]| ids.iter().copied().map(id).collect::<ConditionSet>();
        assert_eq!(set(&[3, 70]).intersection(&set(&[3, 64])), set(&[3]));
    }

    #[test]
    fn a_set_holds_more_than_64_conditions() {
        let set: ConditionSet = [id(1), id(100)].into_iter().collect();
        assert_eq!(set.len(), 2);
        assert!(set.contains(id(1)) && set.contains(id(100)) && !set.contains(id(64)));
        assert!(!set.contains(id(1000)));
    }

    #[test]
    fn a_predicate_about_what_a_vector_does_not_hold_is_unknown() {
        let vector = DecisionVector {
            reached: ConditionSet::from_bits(1),
            known: ConditionSet::from_bits(1),
            value: ConditionSet::new(),
        };
        assert_eq!(Pred::Cond(id(0)).eval(&vector), Truth::False);
        assert_eq!(Pred::Cond(id(1)).eval(&vector), Truth::Unknown);
        assert_eq!(Pred::not(Pred::Cond(id(1))).eval(&vector), Truth::Unknown);
        assert_eq!(Pred::Reached(id(1)).eval(&vector), Truth::False);
        let mutant = Pred::Mutant(id(0), ExprId::from_index(0));
        assert_eq!(mutant.eval(&vector), Truth::Unknown);
    }
}
