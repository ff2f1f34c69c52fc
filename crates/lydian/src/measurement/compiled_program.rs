//! The program under test, instrumented and compiled once.

use std::sync::{Arc, OnceLock};

use lydian_base::CancelToken;
use lydian_ir::Program;
use lydian_ir::libc::{model_named, model_of};
use lydian_native::{
    Confinement, InstrumentedProgram, Limits, MeasureError, MeasureRequest, Measurer, Optimization,
    RewriteRequest,
};
use lydian_objective::FunctionObjectives;

use super::MeasurementOptions;
use crate::error::Error;
use crate::objectives::{Objectives, Semantics};
use crate::project::{COMPILER, Project};

/// The parts that a measurer borrows.
pub(crate) struct Measurement<'a> {
    pub(super) project: &'a Project,
    pub(super) objectives: &'a [FunctionObjectives],
    /// The objectives that the first program measures, where these are fewer. Each function keeps its
    /// position.
    some: Option<Vec<FunctionObjectives>>,
    pub(super) short_circuit: bool,
    flags: Vec<String>,
    limits: Limits,
    modelled: Box<dyn Fn(&str) -> bool + Send + Sync + 'a>,
}

/// The instrumented program, compiled once for all threads.
pub(crate) struct CompiledProgram<'m> {
    measurement: &'m Measurement<'m>,
    /// The objectives that it measures.
    objectives: &'m [FunctionObjectives],
    made: OnceLock<Result<Arc<InstrumentedProgram<'m>>, Error>>,
}

impl<'m> CompiledProgram<'m> {
    /// The program. The first caller compiles it, and all other callers wait.
    pub(crate) fn get(&self) -> Result<&Arc<InstrumentedProgram<'m>>, Error> {
        let made =
            self.made.get_or_init(|| self.measurement.compile(self.objectives).map(Arc::new));
        made.as_ref().map_err(Clone::clone)
    }

    /// Whether it is compiled, or cannot be.
    pub(crate) fn is_done(&self) -> bool {
        self.made.get().is_some()
    }

    /// A measurer of it.
    pub(crate) fn measurer(&self) -> Result<Measurer<'m>, Error> {
        Measurer::of(self.get()?.clone(), self.measurement.limits.clone()).map_err(failure)
    }
}

/// Whether a function is the one of C's library that engines model, also by its type. For the others,
/// tests give the results.
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

impl<'a> Measurement<'a> {
    pub(crate) fn new(
        project: &'a Project,
        objectives: &'a Objectives,
        options: MeasurementOptions,
        confinement: Confinement,
    ) -> Self {
        Self {
            project,
            objectives: &objectives.functions,
            some: None,
            short_circuit: objectives.semantics == Semantics::ShortCircuit,
            flags: project.build.flags.for_parsing().map(String::from).collect(),
            limits: Limits {
                test: options.test_time,
                // After Ctrl-C, tests that were found are still run and written.
                cancel: CancelToken::new(),
                confinement,
                ..Limits::default()
            },
            modelled: Box::new(|name| is_modelled(&project.program, name)),
        }
    }

    /// The same with fewer objectives in the first program. Each function keeps its position.
    pub(crate) fn with_some(self, some: Option<Vec<FunctionObjectives>>) -> Self {
        Self { some, ..self }
    }

    /// The program in which some functions are measured, and the one in which all are, not yet compiled. They
    /// are the same unless there are fewer.
    pub(crate) fn begin(&self) -> [Arc<CompiledProgram<'_>>; 2] {
        let of = |objectives| {
            Arc::new(CompiledProgram { measurement: self, objectives, made: OnceLock::new() })
        };
        let all = of(self.objectives);
        match &self.some {
            None => [all.clone(), all],
            Some(some) => [of(some), all],
        }
    }

    /// Instruments and compiles the program.
    fn compile<'m>(
        &'m self,
        objectives: &'m [FunctionObjectives],
    ) -> Result<InstrumentedProgram<'m>, Error> {
        let request = MeasureRequest {
            rewrite: RewriteRequest {
                starts: &self.project.texts.starts,
                short_circuit: self.short_circuit,
                ..RewriteRequest::for_tests(
                    &self.project.texts.users,
                    &self.project.program,
                    objectives,
                )
            },
            companions: &self.project.build.companions,
            flags: &self.flags,
            entries: self.project.entries(),
            modelled: &*self.modelled,
            // Tests are few and short, and the interpreter follows each, too: an optimiser costs more
            // than it saves.
            level: Optimization::None,
            compiler: COMPILER,
        };
        InstrumentedProgram::new(request).map_err(|error| failure(error.into()))
    }
}

/// The failure for trouble with measurement.
pub(crate) fn failure(error: MeasureError) -> Error {
    Error::environment("native", error.to_string())
}
