//! What users keep: suites of tests and reports.

pub mod branches;
pub mod coverage;
pub mod coverage_json;
pub mod exports;
pub mod filters;
pub mod html;
pub mod independence;
pub mod report;
pub mod sources;
pub mod suite;
pub mod summary;
pub mod totals;

pub use report::Report;
pub use suite::{Memory, Observation, ObservedImage, Outcome, SuiteTest};
pub use summary::{
    AttemptSummary, AugmentationFigures, CriterionSummary, Exploration, FunctionSummary,
    GuessSummary, ObjectiveSummary, OnDemand, Summary, TakenOver, VerdictKind,
};
pub use totals::Totals;
