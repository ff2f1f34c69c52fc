//! How runs of both versions end, where one of them does not return. That is a difference as a value is, if
//! both ends are ones that C defines: a return, `exit`, `abort` or another end on purpose, or no end at all.
//!
//! A driver calls the old version first, so nothing is seen of the new one on inputs on which the old one
//! ends the program. Such paths are explored once more, each with a test, and both versions run on it alone.

use std::fmt;

use lydian_base::{Budget, CancelToken};
use lydian_inputs::InputSpec;
use lydian_ir::interp::{self, End, Options, Silent};
use lydian_ir::test::Test;
use lydian_ir::{Program, TrapKind};
use lydian_native::Outcome;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Cut, Ending, Event, Summary, Task};

use super::Observed;
use super::comparison::{Comparison, config, settings};
use super::confirmation::{Finding, Native};
use super::minimise::minimised;
use crate::error::Error;

/// The most steps of a run of one version. A run that takes more counts as one that never ends, if the native
/// program runs out of time, too.
const MOST_STEPS: u64 = 2_000_000;
/// The most tests of an exploration that are looked at.
const MOST_TESTS: usize = 200;

/// The end of a run of one version that C defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionEnd {
    Returned,
    /// With the status that the system sees.
    Exited(u8),
    /// On purpose, by `abort` or a trap instruction.
    Trapped(TrapKind),
    Endless,
}

impl VersionEnd {
    fn of(end: End) -> Option<Self> {
        match end {
            End::Returned => Some(Self::Returned),
            End::Exited(status) => Some(Self::Exited(status as u8)),
            End::Trapped(kind) if kind.is_deliberate() => Some(Self::Trapped(kind)),
            End::Stopped(_) => Some(Self::Endless),
            _ => None,
        }
    }

    /// Whether a native run ended so.
    pub(super) fn is_of(self, native: &Outcome) -> bool {
        match self {
            Self::Returned => matches!(native, Outcome::Returned(_)),
            Self::Exited(status) => {
                matches!(native, Outcome::Exited(own) if *own as u8 == status)
            }
            Self::Trapped(TrapKind::Abort) => matches!(native, Outcome::Aborted),
            Self::Trapped(_) => matches!(native, Outcome::Crashed(_) | Outcome::EndedBy(_)),
            Self::Endless => matches!(native, Outcome::TimedOut(_)),
        }
    }
}

impl fmt::Display for VersionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned => f.write_str("returns"),
            Self::Exited(status) => write!(f, "exits with status {status}"),
            Self::Trapped(TrapKind::Abort) => f.write_str("aborts"),
            Self::Trapped(kind) => write!(f, "ends by a {kind}"),
            Self::Endless => f.write_str("does not end"),
        }
    }
}

/// The ends of both versions.
pub(super) type Ends = (VersionEnd, VersionEnd);

/// What is observed of two ends.
pub(super) fn observed((old, new): Ends) -> Observed {
    let what = "the function".to_owned();
    Observed { what, old: old.to_string(), new: new.to_string() }
}

/// What is observed where the new version traps, on purpose or by undefined behaviour.
pub(super) fn observed_trap(kind: TrapKind) -> Observed {
    let trapped = VersionEnd::Trapped(kind);
    let new = match kind.is_deliberate() {
        true => trapped.to_string(),
        false => format!("undefined behaviour: {kind}"),
    };
    Observed { new, ..observed((VersionEnd::Returned, trapped)) }
}

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
