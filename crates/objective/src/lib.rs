//! Test objectives: labels, one annotator for each criterion, and the evidence and verdicts on them.
//!
//! Objectives lie beside the program. A label is a [`Site`] of a function and a [`Pred`] that is
//! evaluated there in Kleene's logic; it is covered where that is surely true. Engines see labels,
//! never criteria. Reports see criteria, each of which counts its labels.
//!
//! | module | what is in it |
//! |---|---|
//! | [`label`], [`hyper`], [`objectives`] | labels, hyperlabels, and all of them of one function |
//! | [`event`], [`decision`] | the meaning of predicates, and the events of decisions |
//! | [`criterion`] | criteria and sets of them |
//! | [`dataflow`], [`paths`] | analyses of definitions, uses and paths |
//! | [`htol`] | the user's language of hyperlabels |
//! | [`annotate`] | from a function to its objectives |
//! | [`fingerprint`] | keys that stay the same across edits |
//! | [`changes`] | the difference between two versions, and the objectives that it may affect |
//! | [`trace`], [`interpreted_coverage`] | the reference for coverage, and coverage in the interpreter |
//! | [`coverage_record`] | records of runs, from which hyperlabels are judged |
//! | [`evidence`], [`assumption`] | evidence, and the verdicts that follow from it |

pub mod annotate;
pub mod assumption;
pub mod changes;
pub mod coverage_record;
pub mod criterion;
pub mod dataflow;
pub mod decision;
pub mod event;
pub mod evidence;
pub mod fingerprint;
pub mod htol;
pub mod hyper;
pub mod interpreted_coverage;
pub mod label;
pub mod objectives;
pub mod paths;
#[cfg(test)]
mod testing;
pub mod trace;

pub use annotate::{AnnotateError, Annotation, Annotators, DefUseNames, Request, annotate};
pub use assumption::{AcceptedAssumptions, Assumption, AssumptionKind};
pub use coverage_record::{
    Consolidation, CoverageRecord, JudgementError, LabelValues, RecordRequest, SequenceValues,
};
pub use criterion::Criterion;
pub use dataflow::{DataFlow, DefUse, UnitFlow, UnitFlows};
pub use decision::vector::{ConditionSet, DecisionVector};
pub use event::Event;
pub use evidence::{Evidence, UnknownReason, Verdict};
pub use fingerprint::code_fingerprint;
pub use htol::HtolFile;
pub use hyper::{Hyper, HyperEntry, HyperId, Hyperlabel, Sequence, SequenceId};
pub use interpreted_coverage::{CoverageInterpreter, InterpretedRun};
pub use label::{Label, LabelEntry, LabelId, LabelKey, Pred, Site};
pub use objectives::FunctionObjectives;
