//! What users keep: suites of tests and reports.

pub mod coverage;
pub mod suite;
pub mod suite_c;
pub mod suite_json;
pub mod summary;

mod value;

pub use suite::{Observed, ObservedImage, Outcome, SuiteTest};
pub use summary::{CriterionSummary, FunctionSummary, Summary};
