//! The input of an exploration.

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_ir::{FuncId, Program};
use lydian_objective::{CoverageRecord, FunctionObjectives};

use crate::config::Config;

/// A function to be explored, with the options.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function under test.
    pub func: FuncId,
    /// The specification of its inputs.
    pub spec: &'a InputSpec,
    /// The objectives of this function and of functions that it may call.
    pub objectives: &'a [FunctionObjectives],
    /// The coverage record of existing tests, for each of `objectives`, or empty. Hyperlabels may be
    /// covered by existing tests together with new ones.
    pub known: &'a [CoverageRecord],
    /// The options.
    pub config: &'a Config,
    /// The wall clock and the user's request to stop. The caller puts the limit of
    /// `config.limits.time` into it.
    pub budget: &'a Budget,
}
