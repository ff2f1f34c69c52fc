//! Functions that are explored in several ways, whose results are compared.

use std::time::Duration;

use lydian_ir::FuncId;
use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, FoundTest, Limits, Summary};
use lydian_testkit::cgen;
use lydian_testkit::oracle::{ExplorationResult, Subject};

const TIME: Duration = Duration::from_secs(30);

/// The most paths of an exploration that is compared: direct instrumentation multiplies them.
pub(crate) const PATHS: u64 = 3000;

/// A function, the program around it, and the settings of its inputs.
pub(crate) struct Function {
    pub(crate) subject: Subject,
    pub(crate) func: FuncId,
    pub(crate) settings: String,
}

impl Function {
    /// The last function of a program, behind what it calls.
    pub(crate) fn last_of(subject: Subject, settings: String) -> Self {
        let func = *subject.functions.last().expect("there is a function");
        Self { subject, func, settings }
    }

    /// The random function of a seed.
    pub(crate) fn random(seed: u64, criteria: &[Criterion]) -> Self {
        let name = format!("f{seed}");
        let subject = Subject::read(&cgen::small_function(&name, seed), criteria, false);
        Self::last_of(subject, cgen::settings(&name))
    }

    /// Explores it with so many workers.
    pub(crate) fn explore(&self, config: &Config, workers: usize) -> ExplorationResult {
        self.subject.explore_with(self.func, &self.settings, config, TIME, workers)
    }

    /// Explores it twice with two workers and twice with four, and checks that paths and work are the
    /// same each time, and of the tests what `of_test` takes. Returns the number of states that
    /// workers handed over. Explorations that are not complete are left out.
    pub(crate) fn explore_twice<T: PartialEq>(
        &self,
        config: &Config,
        is_complete: impl Fn(&Summary) -> bool,
        of_test: impl Fn(&FoundTest) -> T,
        what: &str,
    ) -> u64 {
        let all = |found: &ExplorationResult| {
            let tests: Vec<T> = found.tests.iter().map(&of_test).collect();
            let statistics = &found.summary.statistics;
            (tests, found.summary.paths.clone(), statistics.steps, statistics.queries)
        };
        let mut handed_over = 0;
        for workers in [2, 4] {
            let first = self.explore(config, workers);
            if !is_complete(&first.summary) {
                continue;
            }
            let second = self.explore(config, workers);
            assert!(all(&first) == all(&second), "{what}, {workers} workers");
            handed_over += first.summary.statistics.handed_over;
        }
        handed_over
    }
}

/// An exploration without limits but that of paths.
pub(crate) fn unlimited() -> Config {
    Config {
        limits: Limits { paths: Some(PATHS), ..Limits::unbounded() },
        stop_when_covered: false,
        ..Config::default()
    }
}

/// All paths of the program are followed, each for itself.
pub(crate) fn as_in_the_paper() -> Config {
    let Config { limits, .. } = unlimited();
    let limits = Limits { calls: 1, ..limits };
    Config { limits, look_ahead: false, merge: false, crash_tests: false, ..unlimited() }
}

/// Whether a limit or an unanswered question cut something off.
pub(crate) fn hinders(cut: &Cut) -> bool {
    matches!(cut, Cut::Stopped(_) | Cut::Solver(_))
}
