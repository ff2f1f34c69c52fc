//! The observed behaviour of a test, in the suite's form.

use lydian_ir::Program;
use lydian_ir::test::Test;
use lydian_native::{MeasuredRun, Outcome, Run};
use lydian_report::{Memory, Observation, Outcome as Ending};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::measurement::test_runner::{Forecast, TestRunner};

/// What is known of the runs of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObservedTest {
    pub(crate) observation: Observation,
    /// The environment variables that it reads and does not set, and which the runner does not have.
    pub(crate) no_variables: Vec<String>,
    /// Whether the memory after it is known: it ends well, in a defined way.
    pub(crate) has_memory: bool,
}

impl ObservedTest {
    /// Runs a test that was measured, as often as it takes.
    pub(crate) fn of(
        runner: &mut TestRunner<'_>,
        test: &Test,
        measured: &MeasuredRun,
    ) -> Result<Self, Error> {
        let (forecast, seen) = runner.observed(test, &measured.run.outcome)?;
        let observation = observation(runner.program(), (test, measured), &forecast, seen.as_ref());
        let no_variables = forecast.no_variables;
        Ok(Self { observation, no_variables, has_memory: seen.is_some() })
    }
}

/// The observation of a test, with the memory after it from two runs, in which uninitialised memory has
/// different values.
fn observation(
    program: &Program,
    (test, measured): (&Test, &MeasuredRun),
    forecast: &Forecast,
    seen: Option<&[Run; 2]>,
) -> Observation {
    let ending = match &measured.run.outcome {
        Outcome::Returned(_) => Ending::Returned,
        Outcome::Exited(status) => Ending::Exited(*status),
        Outcome::Aborted => Ending::Aborted,
        Outcome::Crashed(crash) => Ending::Crashed(crash.signal),
        Outcome::TimedOut(limit) => Ending::TimedOut(*limit),
        Outcome::OutranScript => Ending::OutranScript,
        other => Ending::Ended(other.to_string()),
    };
    let Forecast { is_undefined, has_no_result, varies, calls, .. } = forecast;
    let mut seen = match seen {
        Some([first, other]) if !is_undefined => {
            let seen = Observation::of(program, test, ending, &memory(first), Some(&memory(other)));
            Observation { device_writes: first.device_writes.clone(), ..seen }
        }
        _ => Observation::ended(ending),
    };
    if *has_no_result {
        seen.result = None;
    }
    let attempts = measured.run.attempts.iter().map(|attempt| attempt.what.clone()).collect();
    let (is_undefined, varies) = (*is_undefined, *varies);
    Observation { is_undefined, varies, calls: calls.clone(), attempts, ..seen }
}

/// The memory of a run.
fn memory(run: &Run) -> Memory<'_> {
    Memory {
        result: if let Outcome::Returned(bytes) = &run.outcome { bytes } else { &[] },
        objects: &run.objects,
        globals: &run.globals,
        released: &run.released,
        blocks: &run.blocks,
        places: Some(&run.places),
    }
}
