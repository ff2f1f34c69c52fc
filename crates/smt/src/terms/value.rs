//! Concrete values and models.

use crate::terms::sort::{FloatSort, Sort};
use crate::terms::term::Term;
use crate::terms::wide::Wide;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A concrete array: finitely many elements that differ from a default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArrayValue {
    /// The element at every index that is not in `elements`.
    pub default: u64,
    /// Elements by index.
    pub elements: BTreeMap<u64, u64>,
}

impl ArrayValue {
    /// The element at `index`.
    pub fn get(&self, index: u64) -> u64 {
        self.elements.get(&index).copied().unwrap_or(self.default)
    }
}

/// A concrete value of some sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A bit-vector of at most 64 bits; bits at and above `width` are clear.
    Bits {
        /// Width in bits.
        width: u32,
        /// The unsigned number.
        value: u64,
    },
    /// A bit-vector of more than 64 bits.
    Wide {
        /// Width in bits.
        width: u32,
        /// The unsigned number.
        value: Box<Wide>,
    },
    /// A float by its bit pattern (NaN is [`FloatSort::nan_bits`]).
    Float {
        /// The format.
        sort: FloatSort,
        /// The bit pattern.
        bits: u64,
    },
    /// An array.
    Array(Arc<ArrayValue>),
}

impl Value {
    /// The value of a sort whose every bit is zero; also what a model gives an absent variable.
    pub fn zero(sort: Sort) -> Value {
        match sort {
            Sort::Array { .. } => Value::Array(Arc::default()),
            _ => Value::from_wide(sort, Wide::ZERO),
        }
    }

    /// The value of a sort (no array) that has this bit pattern.
    pub fn from_wide(sort: Sort, bits: Wide) -> Value {
        match sort {
            Sort::BitVec(width) if width > 64 => {
                Value::Wide { width, value: Box::new(bits.mask(width)) }
            }
            _ => Value::from_u64(sort, bits.low_u64()),
        }
    }

    /// The value of a sort of at most 64 bits that has this bit pattern.
    pub fn from_u64(sort: Sort, bits: u64) -> Value {
        match sort {
            Sort::Bool => Value::Bool(bits & 1 == 1),
            Sort::BitVec(width) if width <= 64 => {
                Value::Bits { width, value: bits & crate::terms::semantics::ones(width) }
            }
            Sort::BitVec(width) => Value::Wide { width, value: Box::new(Wide::from_u64(bits)) },
            Sort::Float(sort) => {
                Value::Float { sort, bits: crate::terms::float_ops::canonical(sort, bits) }
            }
            Sort::Array { .. } => {
                Value::Array(Arc::new(ArrayValue { default: bits, elements: BTreeMap::new() }))
            }
        }
    }

    /// The bit pattern; `None` for arrays.
    pub fn to_wide(&self) -> Option<Wide> {
        match self {
            Value::Wide { value, .. } => Some(**value),
            _ => self.to_u64().map(Wide::from_u64),
        }
    }

    /// The bit pattern if it takes at most 64 bits; `None` for wide vectors and arrays.
    pub fn to_u64(&self) -> Option<u64> {
        match *self {
            Value::Bool(b) => Some(b as u64),
            Value::Bits { value, .. } => Some(value),
            Value::Float { bits, .. } => Some(bits),
            Value::Wide { .. } | Value::Array(_) => None,
        }
    }

    /// Whether this is a value of the sort.
    pub fn has_sort(&self, sort: Sort) -> bool {
        match (self, sort) {
            (Value::Bool(_), Sort::Bool) => true,
            (Value::Bits { width, .. } | Value::Wide { width, .. }, Sort::BitVec(w)) => *width == w,
            (Value::Float { sort, .. }, Sort::Float(f)) => *sort == f,
            (Value::Array(_), Sort::Array { .. }) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Bits { width, value } => write!(f, "{value}:{width}"),
            Value::Wide { width, value } => write!(f, "0x{:x}:{width}", **value),
            Value::Float { sort: FloatSort::F32, bits } => {
                write!(f, "{:?}f", f32::from_bits(*bits as u32))
            }
            Value::Float { sort: FloatSort::F64, bits } => write!(f, "{:?}", f64::from_bits(*bits)),
            Value::Array(a) => {
                write!(f, "{{")?;
                for (i, v) in a.elements.iter().take(64) {
                    write!(f, "{i}: {v}, ")?;
                }
                write!(f, "else {}}}", a.default)
            }
        }
    }
}

/// An assignment of values to variables, cheap to clone.
///
/// Variables that are absent have their default, zero unless the pool says otherwise
/// ([`TermPool::default_bits`](crate::TermPool::default_bits)), so that the empty model is a model of
/// every pool. Two models with equal [`id`](Model::id) are equal, which lets evaluators keep caches.
#[derive(Clone)]
pub struct Model {
    id: u64,
    /// Sorted by variable.
    values: Arc<Vec<(Term, Value)>>,
}

/// Ids distinguish the models of one process. They have no other meaning and cannot make two runs
/// differ.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Model {
    /// The model in which everything has its default.
    pub fn new() -> Model {
        Model::from_values(Vec::new())
    }

    /// A model from variables and values in any order; of two for one variable the last counts.
    pub fn from_values(values: Vec<(Term, Value)>) -> Model {
        Self::of_sorted(sorted(values))
    }

    fn of_sorted(values: Vec<(Term, Value)>) -> Model {
        Model { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), values: Arc::new(values) }
    }

    /// A number that only clones of this model share.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The value of a variable, if the model names it.
    pub fn get(&self, var: Term) -> Option<&Value> {
        let at = self.values.binary_search_by_key(&var, |(t, _)| *t).ok()?;
        Some(&self.values[at].1)
    }

    /// The same model but for the given variables.
    pub fn with(&self, changes: impl IntoIterator<Item = (Term, Value)>) -> Model {
        let changes = sorted(changes.into_iter().collect());
        let mut values = Vec::with_capacity(self.values.len() + changes.len());
        let mut kept = &self.values[..];
        for (var, value) in changes {
            let before = kept.partition_point(|(t, _)| *t < var);
            values.extend_from_slice(&kept[..before]);
            let replaced = kept.get(before).is_some_and(|(t, _)| *t == var);
            kept = &kept[before + usize::from(replaced)..];
            values.push((var, value));
        }
        values.extend_from_slice(kept);
        Self::of_sorted(values)
    }

    /// Variables and values, by variable.
    pub fn iter(&self) -> impl Iterator<Item = (Term, &Value)> {
        self.values.iter().map(|(t, v)| (*t, v))
    }

    /// The number of variables that the model names.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the model names no variable.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// By variable; of two values for one the last.
fn sorted(mut values: Vec<(Term, Value)>) -> Vec<(Term, Value)> {
    values.reverse();
    values.sort_by_key(|(t, _)| *t);
    values.dedup_by_key(|(t, _)| *t);
    values
}

impl Default for Model {
    fn default() -> Model {
        Model::new()
    }
}

impl PartialEq for Model {
    fn eq(&self, o: &Model) -> bool {
        self.id == o.id || self.values == o.values
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.values.iter().map(|(t, v)| (t, v.to_string()))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_given_for_a_variable_counts() {
        let v = |value| Value::Bits { width: 8, value };
        let m = Model::from_values(vec![(Term(3), v(1)), (Term(1), v(2)), (Term(3), v(7))]);
        assert_eq!(m.get(Term(3)), Some(&v(7)));
        assert_eq!(m.get(Term(1)), Some(&v(2)));
        assert_eq!(m.get(Term(2)), None);
        assert_eq!(m.with([(Term(1), v(9))]).get(Term(1)), Some(&v(9)));
    }

    #[test]
    fn a_changed_model_is_that_of_all_values_in_order() {
        let mut rng = lydian_base::Rng::new(7);
        let mut some = |most: u64| -> Vec<(Term, Value)> {
            let value = |value| Value::Bits { width: 8, value };
            let count = rng.below(most);
            (0..count).map(|_| (Term(rng.below(12) as u32), value(rng.below(200)))).collect()
        };
        for _ in 0..300 {
            let (before, changes) = (some(14), some(5));
            let changed = Model::from_values(before.clone()).with(changes.clone());
            let whole = Model::from_values(before.into_iter().chain(changes).collect());
            assert_eq!(changed.values, whole.values);
        }
    }
}
