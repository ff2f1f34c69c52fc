//! What must be recorded of runs so that hyperlabels can be judged.
//!
//! Only values that some guard uses are asked for ([002] VII-A: unused metavariables are removed
//! first). Names play no part: two labels that bind the same expressions under other names, as the
//! two halves of a pair do, want one record.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{DecisionId, FuncId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::vectors_give;
use crate::hyper::{Atom, Bound, Hyper, Sequence, SequenceId};
use crate::label::{FunctionObjectives, LabelId, Pred};

/// A label with what is to be known of each event that covers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelValues {
    /// The label.
    pub label: LabelId,
    /// The values, in the order of a [`super::Row`].
    pub values: Vec<Bound>,
}

/// A sequence with what is to be known of each way in which a run covers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SequenceValues {
    /// The sequence.
    pub sequence: SequenceId,
    /// The values, in the order of a [`super::Row`]: the positions of an atom in the sequence and
    /// of a binding in the atom.
    pub values: Vec<(u32, u32)>,
}

/// What must be recorded of one function beside which labels and sequences are covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The decisions whose vectors are needed, with the values that are bound to them.
    pub decisions: BTreeMap<DecisionId, Vec<Pred>>,
    /// The labels whose environments are needed and do not follow from vectors.
    pub labels: Vec<LabelValues>,
    /// The sequences whose environments are needed.
    pub sequences: Vec<SequenceValues>,
}

impl Wanted {
    /// What the hyperlabels of these functions need, function by function.
    pub fn of(all: &[FunctionObjectives]) -> Vec<Self> {
        let mut wanted = vec![Self::default(); all.len()];
        let numbers: FxHashMap<FuncId, usize> =
            all.iter().enumerate().map(|(number, one)| (one.function, number)).collect();
        for (owner, objectives) in all.iter().enumerate() {
            for hyper in objectives.hypers.values() {
                let mut used = BTreeSet::new();
                gather(all, &numbers, owner, &hyper.hyper, &mut used, &mut wanted);
            }
        }
        wanted
    }
}

/// Adds what a hyperlabel needs; `used` are the names that guards around it use.
fn gather<'h>(
    all: &'h [FunctionObjectives],
    numbers: &FxHashMap<FuncId, usize>,
    owner: usize,
    hyper: &'h Hyper,
    used: &mut BTreeSet<&'h str>,
    wanted: &mut [Wanted],
) {
    match hyper {
        Hyper::Atom(atom) => {
            let values = used_values(atom, |name| used.contains(name));
            let Some(&number) = numbers.get(&atom.function) else { return };
            if values.values.is_empty() {
                return;
            }
            match vectors_give(&all[number], atom.label, &values.values) {
                Some(decision) => {
                    let bound = wanted[number].decisions.entry(decision).or_default();
                    for value in values.values {
                        if let Bound::Truth(pred) = value {
                            push_new(bound, pred);
                        }
                    }
                }
                None => push_new(&mut wanted[number].labels, values),
            }
        }
        Hyper::Sequence(id) => {
            let sequence = &all[owner].sequences[*id];
            let values = used_in_sequence(*id, sequence, |name| used.contains(name));
            if !values.values.is_empty() {
                push_new(&mut wanted[owner].sequences, values);
            }
        }
        Hyper::Guard(inner, formula) => {
            let mut used = used.clone();
            formula.for_each_name(&mut |name| _ = used.insert(name));
            gather(all, numbers, owner, inner, &mut used, wanted);
        }
        Hyper::All(parts) | Hyper::Any(parts) => {
            for part in parts {
                gather(all, numbers, owner, part, used, wanted);
            }
        }
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The values of an atom that are used, in the order of its bindings.
pub(super) fn used_values(atom: &Atom, used: impl Fn(&str) -> bool) -> LabelValues {
    let bindings = atom.bindings.iter().filter(|binding| used(&binding.name));
    LabelValues { label: atom.label, values: bindings.map(|b| b.value.clone()).collect() }
}

/// The values of a sequence that are used, in the order of its atoms and their bindings.
pub(super) fn used_in_sequence(
    id: SequenceId,
    sequence: &Sequence,
    used: impl Fn(&str) -> bool,
) -> SequenceValues {
    let mut values = Vec::new();
    for (atom, bound) in (0..).zip(&sequence.atoms) {
        let bindings = (0..).zip(&bound.bindings).filter(|(_, binding)| used(&binding.name));
        values.extend(bindings.map(|(binding, _)| (atom, binding)));
    }
    SequenceValues { sequence: id, values }
}
