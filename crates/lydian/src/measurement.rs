//! Measuring tests: the program under test, instrumented and compiled, runs each of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) mod claimed_ending;
pub(crate) mod compiled_program;
pub(crate) mod confinement;
mod handler_races;
pub(crate) mod literal_pointers;
pub(crate) mod placement;
pub(crate) mod process_group;
pub(crate) mod suite_coverage;
pub(crate) mod test_runner;

/// Options of native runs of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurementOptions {
    /// The time limit of one test.
    pub test_time: Duration,
    /// Whether tests are confined: effects outside of the program are refused, as far as the kernel
    /// can.
    pub confined: bool,
}

impl Default for MeasurementOptions {
    /// A second for each test, confined.
    fn default() -> Self {
        Self { test_time: Duration::from_secs(1), confined: true }
    }
}
