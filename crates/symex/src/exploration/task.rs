//! What is explored.

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_ir::{FuncId, Program};
use lydian_objective::{CoverageRecord, FunctionObjectives};

use crate::config::Config;

/// What is explored, and how.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function that is run.
    pub func: FuncId,
    /// What its inputs are.
    pub spec: &'a InputSpec,
    /// The objectives of this function and of others that it may call.
    pub objectives: &'a [FunctionObjectives],
    /// What tests that there are give, for each of the objectives, or nothing: hyperlabels may be
    /// covered by them together with what is found.
    pub known: &'a [CoverageRecord],
    /// How to explore.
    pub config: &'a Config,
    /// The wall clock with the user's wish to stop. The limit in `config.limits.time` is the caller's to
    /// put into it.
    pub budget: &'a Budget,
}
