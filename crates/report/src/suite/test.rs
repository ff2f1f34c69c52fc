//! The tests of a suite.

use lydian_ir::test::Test;

use super::observation::Observation;

/// A test with its name and, once it has run, what was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteTest {
    /// A C identifier, unique in its suite: the function's name and a number.
    pub name: String,
    /// The inputs.
    pub test: Test,
    /// What happened.
    pub observed: Option<Observation>,
    /// What it is kept for, in words: the objectives that no earlier test covers.
    pub covers: Vec<String>,
    /// The same as a reader of the source finds it: a line of the source each, with what is to hold there.
    pub kept_for: Vec<String>,
    /// Whether its user wants it to stay, whatever other tests cover.
    pub keep: bool,
}
