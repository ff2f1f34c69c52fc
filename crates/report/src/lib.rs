//! What users keep: suites of tests and reports.

pub mod branches;
pub mod changes;
pub mod coverage;
pub mod coverage_json;
pub mod exclusion;
pub mod exports;
pub mod frameworks;
pub mod html;
pub mod independence;
pub mod ktest;
pub mod minimise;
pub mod names;
pub mod paths;
pub mod report;
pub mod sources;
pub mod suite;
pub mod suite_c;
pub mod suite_json;
pub mod summary;
pub mod testcomp;
pub mod thresholds;
pub mod totals;
pub mod trend;

mod comments;
mod inputs;
mod value;
mod written;

pub use report::Report;
pub use suite::{Memory, Observed, ObservedImage, Outcome, SuiteTest};
pub use summary::{
    AttemptSummary, CriterionSummary, Exploration, FunctionSummary, GuessSummary, ObjectiveSummary,
    Summary, VerdictKind,
};
pub use totals::Totals;
