//! The tests of a suite.

use lydian_ir::test::Test;

use super::observation::Observation;

/// A test with its name and, once it has run, its observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteTest {
    /// A C identifier, unique in its suite: the function's name and a number.
    pub name: String,
    /// The inputs.
    pub test: Test,
    /// The observation of its run.
    pub observed: Option<Observation>,
    /// The objectives that it is kept for, in words: those that no earlier test covers.
    pub covers: Vec<String>,
    /// The same for a reader of the source: a line of the source each, with the predicate that must
    /// hold there.
    pub kept_for: Vec<String>,
    /// Whether the user wants to keep it, even if other tests cover the same.
    pub keep: bool,
    /// Whether its assertions are about everything that the call may write, and not about its changes
    /// alone: tests that kill mutants.
    pub thorough: bool,
}

impl SuiteTest {
    /// A test of which nothing is known but its name and inputs.
    pub const fn new(name: String, test: Test) -> Self {
        Self {
            name,
            test,
            observed: None,
            covers: Vec::new(),
            kept_for: Vec::new(),
            keep: false,
            thorough: false,
        }
    }
}
