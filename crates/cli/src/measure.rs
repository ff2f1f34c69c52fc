//! Native measurement of the loaded program, as the commands need it.

use std::time::Duration;

use lydian_base::CancelToken;
use lydian_native::{Limits, MeasureError, MeasureRequest, Measurer, Optimization, RewriteRequest};
use lydian_objective::FunctionObjectives;

use crate::args::{CriteriaArgs, SemanticsArg};
use crate::exit::Failure;
use crate::load::Loaded;

/// What a measurer borrows, and how it is made.
pub(crate) struct Measuring<'a> {
    loaded: &'a Loaded,
    objectives: &'a [FunctionObjectives],
    short_circuit: bool,
    flags: Vec<String>,
    limits: Limits,
}

impl<'a> Measuring<'a> {
    pub(crate) fn new(
        loaded: &'a Loaded,
        objectives: &'a [FunctionObjectives],
        criteria: &CriteriaArgs,
        test_milliseconds: u64,
    ) -> Self {
        Self {
            loaded,
            objectives,
            short_circuit: criteria.semantics == SemanticsArg::ShortCircuit,
            flags: loaded.flags.for_parsing().map(String::from).collect(),
            limits: Limits {
                test: Duration::from_millis(test_milliseconds),
                // After Ctrl-C the tests that were found are still run and written.
                cancel: CancelToken::new(),
                ..Limits::default()
            },
        }
    }

    /// Instruments and compiles the program.
    pub(crate) fn start(&self) -> Result<Measurer<'_>, Failure> {
        let request = MeasureRequest {
            rewrite: RewriteRequest {
                map: &self.loaded.map,
                program: &self.loaded.program,
                watched: self.objectives,
                short_circuit: self.short_circuit,
                overflow_traps: false,
            },
            flags: &self.flags,
            entries: &self.loaded.functions,
            modelled: &|name: &str| lydian_ir::libc::model_named(name).is_some(),
            level: Optimization::Some,
            compiler: "clang-19",
        };
        Measurer::new(request, self.limits.clone()).map_err(failure)
    }
}

/// The failure for trouble with measuring.
pub(crate) fn failure(error: MeasureError) -> Failure {
    Failure::environment("native", error.to_string())
}
