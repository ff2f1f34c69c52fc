//! Test objectives: labels, one annotator a criterion, and the evidence and verdicts on them.
//!
//! Objectives lie beside the program. A label is a [`Site`] of a function and a [`Pred`] that is
//! evaluated there in Kleene's logic; it is covered where that is surely true. Engines see labels,
//! never criteria; reports see criteria, which count their labels apart.

pub mod annotate;
pub mod assumption;
pub mod criterion;
pub mod criterion_set;
pub mod dataflow;
pub mod dnf;
pub mod event;
pub mod evidence;
pub mod fingerprint;
pub mod foresee;
pub mod formula;
pub mod harvest;
pub mod htol;
pub mod hyper;
pub mod label;
pub mod marking;
pub mod pairs;
pub mod paths;
#[cfg(test)]
mod testing;
pub mod trace;

pub use annotate::{AnnotateError, Annotation, Annotators, Described, HtolFile, Request, annotate};
pub use assumption::{Accepted, Assumption, AssumptionKind};
pub use criterion::Criterion;
pub use dataflow::{DataFlow, DefUse, UnitFlow, UnitFlows};
pub use event::{ConditionSet, DecisionVector, Event};
pub use evidence::{Evidence, UnknownReason, Verdict};
pub use fingerprint::code_fingerprint;
pub use foresee::{Foreseen, Foresight};
pub use harvest::{Consolidation, Harvest, LabelValues, SequenceValues, Unjudged, Wanted};
pub use hyper::{Hyper, HyperEntry, HyperId, Hyperlabel, Sequence, SequenceId};
pub use label::{Entry, FunctionObjectives, Label, LabelId, LabelKey, Pred, Site};
