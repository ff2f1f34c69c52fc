//! Coverage records: what runs covered of the objectives of a function, from which hyperlabels are
//! judged ([002] VII-A, there *harvest*).
//!
//! A [`CoverageRecord`] has sets of labels, sequences, environments and decision vectors, so records
//! of runs merge in any order, and repeated facts take no room. A label at a decision needs no
//! environments of its own: its truth and its bindings follow from the decision's vectors, from which
//! all logic criteria are judged. [`RecordRequest`] has the further values that must be recorded;
//! metavariables that no guard uses are not among them. [`Consolidation`] judges hyperlabels.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use lydian_ir::DecisionId;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::decision::vector::DecisionVector;
use crate::hyper::{BoundValue, SequenceId};
use crate::label::{LabelId, Pred, Site};
use crate::objectives::FunctionObjectives;

mod consolidate;
mod join;
mod request;
#[cfg(test)]
mod tests;

pub use consolidate::{Consolidation, JudgementError};
pub use request::{
    LabelValues, RecordRequest, RequestedValues, SequenceValues, used_in_sequence, used_values,
};

type Set<T> = IndexSet<T, FxBuildHasher>;
type Map<K, V> = IndexMap<K, V, FxBuildHasher>;

/// The values of one environment, in the order of the requested values.
pub type Row = Vec<i128>;

/// What runs covered of the objectives of one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoverageRecord {
    labels: BTreeSet<LabelId>,
    sequences: BTreeSet<SequenceId>,
    vectors: Map<DecisionId, Set<DecisionVector>>,
    #[serde(with = "indexmap::map::serde_seq")]
    label_rows: Map<LabelValues, Set<Row>>,
    #[serde(with = "indexmap::map::serde_seq")]
    sequence_rows: Map<SequenceValues, Set<Row>>,
    /// Labels and sequences of which not all environments could be kept.
    incomplete_labels: BTreeSet<LabelId>,
    incomplete_sequences: BTreeSet<SequenceId>,
}

impl CoverageRecord {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that a label was covered. Returns whether that is new.
    pub fn cover_label(&mut self, label: LabelId) -> bool {
        self.labels.insert(label)
    }

    /// Records that a sequence was covered. Returns whether that is new.
    pub fn cover_sequence(&mut self, sequence: SequenceId) -> bool {
        self.sequences.insert(sequence)
    }

    /// Records an evaluation of a decision. Returns whether that is new.
    pub fn add_vector(&mut self, decision: DecisionId, vector: DecisionVector) -> bool {
        self.vectors.entry(decision).or_default().insert(vector)
    }

    /// Records that a label was covered with these values. Returns whether that is new.
    pub fn add_label_values(&mut self, values: LabelValues, row: Row) -> bool {
        debug_assert_eq!(values.values.len(), row.len(), "a value for each that is asked for");
        self.labels.insert(values.label);
        self.label_rows.entry(values).or_default().insert(row)
    }

    /// Records that a sequence was covered with these values. Returns whether that is new.
    pub fn add_sequence_values(&mut self, values: SequenceValues, row: Row) -> bool {
        debug_assert_eq!(values.values.len(), row.len(), "a value for each that is asked for");
        self.sequences.insert(values.sequence);
        self.sequence_rows.entry(values).or_default().insert(row)
    }

    /// Records that not all environments of a label could be kept. A hyperlabel that asks for them
    /// and is not covered by the others may be covered all the same.
    pub fn mark_label_incomplete(&mut self, label: LabelId) {
        self.incomplete_labels.insert(label);
    }

    /// As [`Self::mark_label_incomplete`], of a sequence.
    pub fn mark_sequence_incomplete(&mut self, sequence: SequenceId) {
        self.incomplete_sequences.insert(sequence);
    }

    /// Adds the record of other runs. Returns whether it had anything new.
    pub fn merge(&mut self, other: &Self) -> bool {
        let before = self.size();
        self.labels.extend(&other.labels);
        self.sequences.extend(&other.sequences);
        for (decision, vectors) in &other.vectors {
            self.vectors.entry(*decision).or_default().extend(vectors.iter().cloned());
        }
        for (values, rows) in &other.label_rows {
            self.label_rows.entry(values.clone()).or_default().extend(rows.iter().cloned());
        }
        for (values, rows) in &other.sequence_rows {
            self.sequence_rows.entry(values.clone()).or_default().extend(rows.iter().cloned());
        }
        self.incomplete_labels.extend(&other.incomplete_labels);
        self.incomplete_sequences.extend(&other.incomplete_sequences);
        self.size() != before
    }

    /// The number of facts in it. It only grows, so equal sizes mean that nothing was added.
    pub fn size(&self) -> usize {
        let vectors: usize = self.vectors.values().map(Set::len).sum();
        let labels: usize = self.label_rows.values().map(Set::len).sum();
        let sequences: usize = self.sequence_rows.values().map(Set::len).sum();
        let short = self.incomplete_labels.len() + self.incomplete_sequences.len();
        self.labels.len() + self.sequences.len() + vectors + labels + sequences + short
    }

    /// Whether a label was covered: as recorded, or by a vector of its decision.
    pub fn covers_label(&self, objectives: &FunctionObjectives, label: LabelId) -> bool {
        if self.labels.contains(&label) {
            return true;
        }
        let asked = &objectives.labels[label];
        match vectors_judge(asked.site, &asked.pred) {
            Some(decision) => {
                self.vectors(decision).any(|vector| asked.pred.eval(vector).is_true())
            }
            None => false,
        }
    }

    /// Whether a sequence was covered.
    pub fn covers_sequence(&self, sequence: SequenceId) -> bool {
        self.sequences.contains(&sequence)
    }

    /// Whether a label was recorded as covered.
    pub fn has_label(&self, label: LabelId) -> bool {
        self.labels.contains(&label)
    }

    /// Removes the recorded labels that are not in `labels`. Their environments stay.
    pub fn keep_labels(&mut self, labels: &BTreeSet<LabelId>) {
        self.labels.retain(|label| labels.contains(label));
    }

    /// The labels that were recorded as covered.
    pub fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.labels.iter().copied()
    }

    /// The environments with which a label was recorded as covered.
    pub fn rows_of_label(&self, values: &LabelValues) -> impl Iterator<Item = &Row> {
        self.label_rows.get(values).into_iter().flatten()
    }

    /// The environments with which a sequence was recorded as covered.
    pub fn rows_of_sequence(&self, values: &SequenceValues) -> impl Iterator<Item = &Row> {
        self.sequence_rows.get(values).into_iter().flatten()
    }

    /// The distinct vectors of a decision, in the order in which they came.
    pub fn vectors(&self, decision: DecisionId) -> impl Iterator<Item = &DecisionVector> {
        self.vectors.get(&decision).into_iter().flatten()
    }
}

/// The decision whose vectors determine whether a predicate is true at its site; `None` if the site
/// is no decision, or the predicate reads the state.
fn vectors_judge(site: Site, pred: &Pred) -> Option<DecisionId> {
    let Site::Decision(decision) = site else { return None };
    let mut of_state = false;
    pred.for_each_expr(&mut |_| of_state = true);
    (!of_state).then_some(decision)
}

/// The decision whose vectors determine whether a label is true at its site, and all these values
/// there; `None` if one of them reads the state.
pub fn vectors_give<'a>(
    objectives: &FunctionObjectives,
    label: LabelId,
    values: impl IntoIterator<Item = &'a BoundValue>,
) -> Option<DecisionId> {
    let label = &objectives.labels[label];
    let of_vector = |value: &BoundValue| match value {
        BoundValue::Expr(_) => false,
        BoundValue::Truth(pred) => vectors_judge(label.site, pred).is_some(),
    };
    vectors_judge(label.site, &label.pred).filter(|_| values.into_iter().all(of_vector))
}
