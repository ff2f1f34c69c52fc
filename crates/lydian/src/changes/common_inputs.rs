//! Comparison of both versions of a function from inputs of every form, by second runs: where a driver
//! cannot copy the inputs, or has followed only so many elements.
//!
//! The exploration runs the old version, and then the new one from the same inputs
//! ([`SecondRun::Function`]). Tests are written as C with assertions of what the old version does. A
//! difference is shown by a test that passes with the old version and fails with the new one, natively.

use lydian_inputs::{InputSpec, Settings};
use lydian_ir::test::Test;
use lydian_objective::Criterion;
use lydian_objective::changes::{FunctionChange, FunctionStatus};
use lydian_report::suite::names;
use lydian_symex::{Config, Limits, SecondRun};

use super::common_program::CommonProgram;
use super::comparison::{Comparison, QUESTION};
use super::driver::Pair;
use super::product::library_state;
use super::second_runs::{ComparisonVerdict, Effort, TwoRuns, as_test_of};
use super::two_version_test::TwoVersionTest;
use super::{DiffVerdict, Difference};
use crate::error::Error;
use crate::events::Event;
use crate::measurement::compiled_program::Measurement;
use crate::measurement::{MeasurementOptions, confinement};
use crate::objectives::ObjectiveRequest;
use crate::suite::{KeptTest, Suite};

/// The most tests that are tried for a difference.
const MOST_TESTS: usize = 8;

impl Comparison<'_> {
    /// Compares both versions from the inputs that `lydian gen` follows.
    pub(super) fn compare_on_common_inputs(
        &self,
        change: &FunctionChange,
        pair: Pair<'_>,
    ) -> Result<DiffVerdict, Error> {
        let unknown = |reason: String| Ok(DiffVerdict::Unknown { reason });
        let is_equal = |name: &str| {
            let mut all = self.changes.functions.iter();
            all.any(|one| one.name == name && matches!(one.status, FunctionStatus::Equal))
        };
        let common = match CommonProgram::link(self.versions, pair, change, &is_equal) {
            Ok(common) => common,
            Err(reason) => return unknown(reason),
        };
        let spec = InputSpec::new(&common.program, Settings::default());
        let limits =
            Limits { query_time: Some(QUESTION), memory: Some(1 << 30), ..Limits::default() };
        let config = Config { merge: false, nice_values: true, limits, ..Config::default() };
        let runs = TwoRuns {
            program: &common.program,
            func: common.old,
            spec: &spec,
            second: SecondRun::Function(common.new),
            wraps: self.versions.old.flags.wraps_on_overflow(),
            config: &config,
        };
        let effort = Effort { time: self.request.time, tests: MOST_TESTS };
        let found = runs.compare(effort, self.cancel);
        match found.verdict {
            ComparisonVerdict::Differs => {
                let tests = found.tests.into_iter().map(|mut test| {
                    test.function.clone_from(&change.name);
                    test
                });
                self.confirmed_by_tests(change, &common, tests)
            }
            ComparisonVerdict::Same(assumptions) => {
                if let Some(name) = library_state(&common.program, [common.old, common.new]) {
                    return unknown(format!("the C library's `{name}` has variables of its own"));
                }
                let assumptions = assumptions.into_iter().map(|one| one.sentence).collect();
                Ok(DiffVerdict::Proved { assumptions, paths: found.paths })
            }
            ComparisonVerdict::Unknown(reason) => {
                unknown(format!("no difference was found, but not all was compared: {reason}"))
            }
        }
    }

    /// The first of some tests that passes with the old version and fails with the new one.
    fn confirmed_by_tests(
        &self,
        change: &FunctionChange,
        common: &CommonProgram,
        tests: impl Iterator<Item = Test>,
    ) -> Result<DiffVerdict, Error> {
        let silent = |_: Event<'_>| {};
        let project = self.versions.project(&self.request.old, &change.name)?;
        let objectives = project.objectives(&ObjectiveRequest::new([Criterion::Fc]), &silent)?;
        let confinement = confinement::confinement(true, self.observer);
        let options = MeasurementOptions::default();
        let measurement = Measurement::new(&project, &objectives, options, confinement);
        let compiled = measurement.begin();
        let mut runner = measurement.runner(&compiled);
        let mut reason = "inputs on which they should differ were found, but none is a test in C";
        for test in tests {
            if self.cancel.is_cancelled() {
                break;
            }
            let Some(test) = as_test_of(&project.program, &common.program, test) else { continue };
            let name = names::of_test(&change.name, "differs");
            let kept = KeptTest::with_assertions(&mut runner, test, name)?;
            let Some(kept) = kept else { continue };
            let mut suite = Suite::default();
            suite.add(&project.program, vec![kept]);
            suite.tests.iter_mut().for_each(|test| test.thorough = true);
            let build = compiled[0].get()?.build();
            let shown =
                TwoVersionTest::of(&suite, (&project, build), (self.request, &change.name))?;
            reason = "inputs on which they should differ were found, but no test with them fails";
            if let Some(observed) = shown.observed(self.versions)? {
                let inputs = Vec::new();
                let (call, test) = (Some(shown.call), Some(shown.text));
                let difference = Difference { inputs, call, observed, test };
                return Ok(DiffVerdict::Differs(Box::new(difference)));
            }
        }
        Ok(DiffVerdict::Unknown { reason: reason.to_owned() })
    }
}
