//! Comparison of both versions of a function from inputs of every form, by second runs: where a driver
//! cannot copy the inputs, or has followed only so many elements.
//!
//! The exploration runs the old version, and then the new one from the same inputs
//! ([`SecondRun::Function`]). Tests are written as C with assertions of what the old version does. A
//! difference is shown by a test that passes with the old version and fails with the new one, natively.

use std::ops::Not as _;

use lydian_inputs::{InputSpec, Settings};
use lydian_ir::Program;
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
use crate::objectives::{ObjectiveRequest, Objectives};
use crate::project::Project;
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
                let tests = found.tests.into_iter().flat_map(|test| {
                    let plain = common.minimised(test.clone());
                    let own = (plain != test).then_some(test);
                    std::iter::once(plain).chain(own)
                });
                let tests = tests.map(|mut test| {
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
        let mut of_new = ConfinedRuns::new(self, change);
        let mut reason = "inputs on which they should differ were found, but none is a test in C";
        for test in tests {
            if self.cancel.is_cancelled() {
                break;
            }
            let both = (&common.program, test.clone());
            let Some(test) = as_test_of(&project.program, &common.program, test) else { continue };
            let name = names::of_test(&change.name, "differs");
            let kept = KeptTest::with_assertions(&mut runner, test, name)?;
            let Some(kept) = kept else { continue };
            // The test in C is not confined.
            if !kept.measured.run.attempts.is_empty() || of_new.reach_out(both)? {
                reason = "inputs on which they should differ were found, but a run with them reaches out of \
                          the program";
                continue;
            }
            let mut suite = Suite::default();
            suite.add(&project.program, vec![kept]);
            suite.tests.iter_mut().for_each(|test| test.thorough = true);
            let build = compiled[0].get()?.build();
            let shown =
                TwoVersionTest::of(&suite, (&project, build), (self.versions, &change.name))?;
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

/// Runs of the new version that are confined, made ready when the first is wanted.
struct ConfinedRuns<'c> {
    comparison: &'c Comparison<'c>,
    change: &'c FunctionChange,
    made: Option<(Project, Objectives)>,
}

impl<'c> ConfinedRuns<'c> {
    const fn new(comparison: &'c Comparison<'c>, change: &'c FunctionChange) -> Self {
        Self { comparison, change, made: None }
    }

    /// Whether the new version tries something outside of the program on the inputs of a test of both, or
    /// cannot be run confined on them.
    fn reach_out(&mut self, (program, test): (&Program, Test)) -> Result<bool, Error> {
        if self.made.is_none() {
            let Comparison { versions, request, .. } = self.comparison;
            let silent = |_: Event<'_>| {};
            let project = versions.project(&request.new, &self.change.name)?;
            let wanted = ObjectiveRequest::new([Criterion::Fc]);
            let objectives = project.objectives(&wanted, &silent)?;
            self.made = Some((project, objectives));
        }
        let Some((project, objectives)) = &self.made else { return Ok(false) };
        let Some(test) = as_test_of(&project.program, program, test) else { return Ok(true) };
        let confinement = confinement::confinement(true, self.comparison.observer);
        let options = MeasurementOptions::default();
        let measurement = Measurement::new(project, objectives, options, confinement);
        let compiled = measurement.begin();
        let measured = measurement.runner(&compiled).measure(&test)?;
        Ok(measured.is_ok_and(|measured| measured.run.attempts.is_empty()).not())
    }
}
