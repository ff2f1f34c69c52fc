//! Suites of tests and reports in every format.
