//! How runs of both versions end, where one of them does not return. That is a difference as a value is, if
//! both ends are ones that C defines: a return, `exit`, `abort` or another end on purpose, or no end at all.
//!
//! A driver calls the old version first, so nothing is seen of the new one on inputs on which the old one
//! ends the program. Such paths are explored once more, each with a test, and both versions run on it alone.

use lydian_base::{Budget, CancelToken};
use lydian_inputs::InputSpec;
use lydian_ir::Program;
use lydian_ir::interp::{self, Options, Silent};
use lydian_ir::test::Test;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Cut, Ending, Event, Summary, Task};

use super::comparison::{Comparison, config, settings};
use super::confirmation::{Finding, Native};
use super::minimise::minimised;
use super::version_end::{Ends, VersionEnd};
use crate::error::Error;

/// The most steps of a run of one version. A run that takes more counts as one that never ends, if the native
/// program runs out of time, too.
const MOST_STEPS: u64 = 2_000_000;
/// The most tests of an exploration that are looked at.
const MOST_TESTS: usize = 200;

impl Comparison<'_> {
    /// The first inputs on which one version ends the program, or never ends, and the other one ends otherwise.
    /// `summary` is that of an exploration without another difference.
    pub(super) fn ending_difference(
        &self,
        native: &Native<'_>,
        function: &str,
        summary: &Summary,
    ) -> Result<Option<Finding>, Error> {
        if !summary.ends.iter().any(|end| is_end(&end.ending)) || self.cancel.is_cancelled() {
            return Ok(None);
        }
        let versions = [&self.request.old, &self.request.new];
        let versions = versions.map(|file| self.versions.project(file, function));
        let [old, new] = versions;
        let (old, new) = (old?, new?);
        let ends = |test: &Test| {
            let of = |program: &Program| {
                let own = native.test_of(program, function, test)?;
                end_of(program, &own)
            };
            let both = (of(&old.program)?, of(&new.program)?);
            (both.0 != both.1).then_some(both)
        };
        let Some((test, first)) = self.explore_ends(native, &ends) else { return Ok(None) };
        let mut differs = |candidate: &Test| ends(candidate) == Some(first);
        let test = minimised(&native.product.program, test, &mut differs);
        Ok(Some(Finding::of_ends(test, first)))
    }

    /// Explores all paths for the first test on which the ends differ.
    fn explore_ends(
        &self,
        native: &Native<'_>,
        ends: &dyn Fn(&Test) -> Option<Ends>,
    ) -> Option<(Test, Ends)> {
        let program = &native.product.program;
        let spec = InputSpec::new(program, settings(native.driver, false));
        let budget = Budget::start(Some(self.request.time), CancelToken::new());
        let config = Config { every_path: true, stop_when_covered: false, ..config() };
        let task = Task {
            program,
            func: native.product.driver,
            spec: &spec,
            objectives: &[],
            known: &[],
            config: &config,
            budget: &budget,
        };
        let (mut found, mut looked_at) = (None, 0);
        let mut sink = |event: Event| {
            let Event::Test(test) = event else { return };
            if found.is_none() && is_end(&test.ending) {
                found = ends(&test.test).map(|both| (test.test, both));
                looked_at += 1;
            }
            if found.is_some() || looked_at >= MOST_TESTS || self.cancel.is_cancelled() {
                budget.cancel_token().cancel();
            }
        };
        let explored = task.run(&mut *standard_chain(&ChainConfig::default()), &mut sink);
        if let Err(error) = explored {
            log::info!("ends are not compared: {error}");
        }
        found
    }
}

/// Whether a path ends in a way that is compared here.
const fn is_end(ending: &Ending) -> bool {
    match ending {
        Ending::Exited | Ending::Endless | Ending::Cut(Cut::PathSteps(_)) => true,
        Ending::Trapped(kind) => kind.is_deliberate(),
        _ => false,
    }
}

/// The end of a run of one version; none if C does not define it.
fn end_of(program: &Program, test: &Test) -> Option<VersionEnd> {
    let options = Options { max_steps: MOST_STEPS, ..Options::default() };
    let outcome = interp::run(program, test, &options, &mut Silent).ok()?;
    let is_defined = outcome.uninitialised.is_none() && outcome.misused.is_none();
    VersionEnd::of(outcome.end).filter(|_| is_defined)
}
