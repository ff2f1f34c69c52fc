//! What users keep: suites of tests and reports.

pub mod summary;

pub use summary::{CriterionSummary, FunctionSummary, Summary};
