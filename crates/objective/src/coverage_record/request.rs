//! Requests: the facts of runs that must be recorded so that hyperlabels can be judged.
//!
//! Only values that some guard uses are requested ([002] VII-A: unused metavariables are removed
//! first). Names play no part: two labels that bind the same expressions under other names, as the
//! two halves of a pair do, share one request. The conjuncts of a guard that are about one label or
//! sequence alone filter its environments, so that environments which cannot satisfy the guard are
//! not recorded.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{DecisionId, FuncId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::vectors_give;
use crate::hyper::{Atom, BoundValue, Formula, Hyper, Sequence, SequenceId};
use crate::label::{LabelId, Pred};
use crate::objectives::FunctionObjectives;

/// A label, and the values to record at each event that covers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelValues {
    /// The label.
    pub label: LabelId,
    /// The values, in the order of a [`super::Row`].
    pub values: Vec<BoundValue>,
}

/// A sequence, and the values to record whenever a run covers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SequenceValues {
    /// The sequence.
    pub sequence: SequenceId,
    /// The values, in the order of a [`super::Row`]: the positions of an atom in the sequence and
    /// of a binding in the atom.
    pub values: Vec<(u32, u32)>,
}

/// The values that must be recorded for one function, beside the labels and sequences that are
/// covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRequest {
    /// The decisions whose vectors are needed, with the values that are bound to them.
    pub decisions: BTreeMap<DecisionId, Vec<Pred>>,
    /// The labels whose environments are needed and do not follow from vectors.
    pub labels: Vec<RequestedValues<LabelValues>>,
    /// The sequences whose environments are needed.
    pub sequences: Vec<RequestedValues<SequenceValues>>,
}

/// Values of a label or a sequence that guards ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedValues<T> {
    /// The values.
    pub values: T,
    /// The formula of the rows that can matter, in which a name is a position in the row, in digits.
    /// It has the conjuncts of a guard that are about this part alone. `None` if any row can matter.
    pub filter: Option<Formula>,
}

impl RecordRequest {
    /// The requests of the hyperlabels of these functions, function by function.
    pub fn of(all: &[FunctionObjectives]) -> Vec<Self> {
        let mut wanted = vec![Self::default(); all.len()];
        let numbers: FxHashMap<FuncId, usize> =
            all.iter().enumerate().map(|(number, one)| (one.function, number)).collect();
        for (owner, objectives) in all.iter().enumerate() {
            for hyper in objectives.hypers.values() {
                gather(all, &numbers, owner, &hyper.hyper, &mut Vec::new(), &mut wanted);
            }
        }
        wanted
    }
}

/// Adds the requests of a hyperlabel. `guards` are those around it.
fn gather<'h>(
    all: &'h [FunctionObjectives],
    numbers: &FxHashMap<FuncId, usize>,
    owner: usize,
    hyper: &'h Hyper,
    guards: &mut Vec<&'h Formula>,
    wanted: &mut [RecordRequest],
) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for guard in guards.iter() {
        guard.for_each_name(&mut |name| _ = used.insert(name));
    }
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
                        if let BoundValue::Truth(pred) = value {
                            push_new(bound, pred);
                        }
                    }
                }
                None => {
                    let names = atom.bindings.iter().map(|binding| binding.name.as_str());
                    let names: Vec<&str> = names.filter(|name| used.contains(name)).collect();
                    ask(&mut wanted[number].labels, values, filter(guards, &names));
                }
            }
        }
        Hyper::Sequence(id) => {
            let sequence = &all[owner].sequences[*id];
            let values = used_in_sequence(*id, sequence, |name| used.contains(name));
            if !values.values.is_empty() {
                let names = values.values.iter().map(|(atom, binding)| {
                    let binding = &sequence.atoms[*atom as usize].bindings[*binding as usize];
                    binding.name.as_str()
                });
                let names: Vec<&str> = names.collect();
                ask(&mut wanted[owner].sequences, values, filter(guards, &names));
            }
        }
        Hyper::Guard(inner, formula) => {
            guards.push(formula);
            gather(all, numbers, owner, inner, guards, wanted);
            guards.pop();
        }
        Hyper::All(parts) | Hyper::Any(parts) => {
            for part in parts {
                gather(all, numbers, owner, part, guards, wanted);
            }
        }
    }
}

/// Adds a request. The filters of several hyperlabels for the same values are joined.
fn ask<T: PartialEq>(list: &mut Vec<RequestedValues<T>>, values: T, filter: Option<Formula>) {
    match list.iter_mut().find(|asked| asked.values == values) {
        Some(known) if known.filter == filter => {}
        Some(known) => {
            let both = known.filter.take().zip(filter);
            known.filter = both.map(|(a, b)| Formula::or(a, b));
        }
        None => list.push(RequestedValues { values, filter }),
    }
}

/// The conjuncts of guards that are about these names alone, with positions in the place of names.
fn filter(guards: &[&Formula], names: &[&str]) -> Option<Formula> {
    let conjuncts = guards.iter().flat_map(|guard| guard.conjuncts());
    let own = conjuncts.filter_map(|conjunct| by_position(conjunct, names));
    own.reduce(Formula::and)
}

fn by_position(formula: &Formula, names: &[&str]) -> Option<Formula> {
    let inner = |formula: &Formula| by_position(formula, names);
    Some(match formula {
        Formula::Number(number) => Formula::Number(*number),
        Formula::Name(name) => {
            let position = names.iter().position(|own| own == name)?;
            Formula::Name(position.to_string())
        }
        Formula::State(_) => return None,
        Formula::Not(a) => Formula::Not(Box::new(inner(a)?)),
        Formula::Negate(a) => Formula::Negate(Box::new(inner(a)?)),
        Formula::Binary(op, a, b) => Formula::binary(*op, inner(a)?, inner(b)?),
    })
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The values of an atom that are used, in the order of its bindings.
pub fn used_values(atom: &Atom, used: impl Fn(&str) -> bool) -> LabelValues {
    let bindings = atom.bindings.iter().filter(|binding| used(&binding.name));
    LabelValues { label: atom.label, values: bindings.map(|b| b.value.clone()).collect() }
}

/// The values of a sequence that are used, in the order of its atoms and their bindings.
pub fn used_in_sequence(
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
