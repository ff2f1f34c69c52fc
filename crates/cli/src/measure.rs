//! Native measurement of the loaded program, as the commands need it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_ir::Program;
use lydian_ir::libc::{model_named, model_of};
use lydian_native::{
    Confinement, Instrumented, Limits, MeasureError, MeasureRequest, Measurer, Optimization,
    RewriteRequest,
};
use lydian_objective::trace::Tracer;
use lydian_objective::{Foresight, FunctionObjectives};

use crate::args::{CriteriaArgs, SemanticsArg};
use crate::counting::Counting;
use crate::exit::Failure;
use crate::load::{COMPILER, Loaded};

/// What a measurer borrows, and how it is made.
pub(crate) struct Measuring<'a> {
    loaded: &'a Loaded,
    objectives: &'a [FunctionObjectives],
    short_circuit: bool,
    flags: Vec<String>,
    limits: Limits,
    modelled: Box<dyn Fn(&str) -> bool + Send + Sync + 'a>,
}

/// The program as it is measured, instrumented and compiled once for all threads.
pub(crate) struct Compiled<'m> {
    measuring: &'m Measuring<'m>,
    made: OnceLock<Result<Arc<Instrumented<'m>>, Failure>>,
}

impl<'m> Compiled<'m> {
    /// The program, which the first that asks compiles while all others that ask wait.
    pub(crate) fn get(&self) -> Result<&Arc<Instrumented<'m>>, Failure> {
        let made = self.made.get_or_init(|| self.measuring.compile().map(Arc::new));
        made.as_ref().map_err(Clone::clone)
    }

    /// Whether it is compiled, or cannot be.
    pub(crate) fn is_done(&self) -> bool {
        self.made.get().is_some()
    }

    /// A measurer of it.
    pub(crate) fn measurer(&self) -> Result<Measurer<'m>, Failure> {
        Measurer::of(self.get()?.clone(), self.measuring.limits.clone()).map_err(failure)
    }
}

/// Whether a function is the one of C's library that engines model, also by its type; the others
/// return what tests say.
fn is_modelled(program: &Program, name: &str) -> bool {
    match program.function_named(name) {
        Some(function) => {
            let function = &program.functions[function];
            (function.library && function.body.is_some())
                || model_of(&program.types, name, function.ty).is_some()
        }
        None => model_named(name).is_some(),
    }
}

impl<'a> Measuring<'a> {
    pub(crate) fn new(
        loaded: &'a Loaded,
        objectives: &'a [FunctionObjectives],
        criteria: &CriteriaArgs,
        (test_milliseconds, confinement): (u64, Confinement),
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
                confinement,
                ..Limits::default()
            },
            modelled: Box::new(|name| is_modelled(&loaded.program, name)),
        }
    }

    /// The program, not yet compiled.
    pub(crate) fn begin(&self) -> Arc<Compiled<'_>> {
        Arc::new(Compiled { measuring: self, made: OnceLock::new() })
    }

    /// Instruments and compiles the program.
    fn compile(&self) -> Result<Instrumented<'_>, Failure> {
        let request = MeasureRequest {
            rewrite: RewriteRequest {
                map: &self.loaded.users,
                starts: &self.loaded.starts,
                program: &self.loaded.program,
                watched: self.objectives,
                short_circuit: self.short_circuit,
                overflow_traps: false,
                purpose: lydian_native::Purpose::Tests,
                leaves_out: false,
                counts: false,
                any_order: false,
                flows: None,
            },
            companions: &self.loaded.companions,
            flags: &self.flags,
            entries: self.loaded.entries(),
            modelled: &*self.modelled,
            // Tests are few and short, and each is followed by the interpreter, too: what an
            // optimiser takes is more than what it brings.
            level: Optimization::None,
            compiler: COMPILER,
        };
        Instrumented::new(request).map_err(|error| failure(error.into()))
    }

    /// What counts tests, for one thread. The program is compiled when its first test is run.
    pub(crate) fn counting<'m>(&'m self, compiled: &Arc<Compiled<'m>>) -> Counting<'m> {
        let program = &self.loaded.program;
        let foresight = Foresight::new(program, self.objectives, self.short_circuit);
        let tracer = Tracer::new(program, self.objectives, self.short_circuit);
        Counting::new(self.loaded, compiled.clone(), foresight, (self.objectives, tracer))
    }
}

/// The failure for trouble with measuring.
pub(crate) fn failure(error: MeasureError) -> Failure {
    Failure::environment("native", error.to_string())
}
