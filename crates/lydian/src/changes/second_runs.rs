//! Explorations that run two programs from the same inputs ([`SecondRun`]): an original and its mutant, or
//! two versions of a function.

use std::time::Duration;

use lydian_base::{Budget, CancelToken};
use lydian_inputs::InputSpec;
use lydian_ir::test::Test;
use lydian_ir::{FuncId, Overflow, Program};
use lydian_objective::{AcceptedAssumptions, Assumption};
use lydian_report::SuiteTest;
use lydian_report::suite::json;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Event as Finding, Limits, SecondRun, Summary, Task};

/// The most steps of a path: a second run may never end, and a test of that has to run out of time.
const MOST_STEPS: u64 = 1 << 16;

/// The effort for one exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The longest time.
    pub(crate) time: Duration,
    /// The tests after which the exploration ends.
    pub(crate) tests: usize,
}

/// Two runs from the same inputs.
pub(crate) struct TwoRuns<'a> {
    pub(crate) program: &'a Program,
    /// The function of the first run.
    pub(crate) func: FuncId,
    pub(crate) spec: &'a InputSpec,
    pub(crate) second: SecondRun,
    /// Whether signed overflow in the first run has a result. Inputs on which it has none are left out.
    pub(crate) wraps: bool,
    pub(crate) config: &'a Config,
}

/// What is known of two runs after an exploration.
pub(crate) struct Comparison {
    /// Inputs on which the second should end in another way than the first.
    pub(crate) tests: Vec<Test>,
    pub(crate) verdict: ComparisonVerdict,
    /// The paths that were followed to their ends.
    pub(crate) paths: u64,
}

/// Whether two runs can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComparisonVerdict {
    /// Some input tells them apart, as the exploration has it.
    Differs,
    /// No input does, under these assumptions beside those that anybody grants.
    Same(Vec<Assumption>),
    /// It is not known, for this reason.
    Unknown(String),
}

impl TwoRuns<'_> {
    /// Explores both runs. Tests are those of the function of the first.
    pub(crate) fn compare(&self, effort: Effort, cancel: &CancelToken) -> Comparison {
        let config = Config {
            second_run: Some(self.second),
            look_ahead: false,
            stop_when_covered: false,
            every_path: false,
            crash_tests: false,
            traces: false,
            learns: false,
            overflow: if self.wraps { Overflow::Wrap } else { Overflow::Trap },
            limits: Limits {
                path_steps: self.config.limits.path_steps.min(MOST_STEPS),
                ..self.config.limits.clone()
            },
            ..self.config.clone()
        };
        // A token of its own, as this exploration ends when it has found enough.
        let own = CancelToken::new();
        let budget = Budget::start(Some(effort.time), own.clone());
        let task = Task {
            program: self.program,
            func: self.func,
            spec: self.spec,
            objectives: &[],
            known: &[],
            config: &config,
            budget: &budget,
        };
        let mut tests = Vec::new();
        let mut sink = |finding: Finding| {
            if let Finding::Test(found) = finding {
                tests.push(found.test);
            }
            if tests.len() >= effort.tests || cancel.is_cancelled() {
                own.cancel();
            }
        };
        let summary = task.run(&mut *standard_chain(&ChainConfig::default()), &mut sink);
        let verdict = match &summary {
            _ if !tests.is_empty() => ComparisonVerdict::Differs,
            Ok(summary) => self.verdict(summary),
            Err(error) => ComparisonVerdict::Unknown(format!("no inputs could be made: {error}")),
        };
        let paths = summary.as_ref().map_or(0, Summary::path_count);
        Comparison { tests, verdict, paths }
    }

    /// The verdict of an exploration without tests.
    fn verdict(&self, summary: &Summary) -> ComparisonVerdict {
        if let Some(unmet) = summary.unmet.first() {
            return ComparisonVerdict::Unknown(unmet.to_string());
        }
        if summary.runs_differ {
            let why = "it differs on inputs of which no test could be made";
            return ComparisonVerdict::Unknown(why.to_owned());
        }
        if !summary.complete {
            let cut = summary.cuts.keys().next();
            let why =
                cut.map_or_else(|| "not all paths were followed".to_owned(), |cut| cut.to_string());
            return ComparisonVerdict::Unknown(why);
        }
        let granted = AcceptedAssumptions::default();
        let all = summary.assumptions.iter().chain(&summary.bounds);
        let assumed = all.filter(|one| !self.spec.states(self.program, self.func, one));
        let assumed = assumed.filter(|one| !granted.includes(one));
        ComparisonVerdict::Same(assumed.cloned().collect())
    }
}

impl Comparison {
    pub(crate) fn unknown(why: &str) -> Self {
        let verdict = ComparisonVerdict::Unknown(why.to_owned());
        Self { tests: Vec::new(), verdict, paths: 0 }
    }
}

/// A test of a program as one of another program, whose types have other numbers.
pub(crate) fn as_test_of(of: &Program, program: &Program, test: Test) -> Option<Test> {
    let test = SuiteTest::new("test".to_owned(), test);
    let text = json::to_json(program, "", &[test]);
    let read = json::from_json(of, "", &text);
    let read = read.inspect_err(|error| log::info!("a test of two runs is left out: {error}"));
    Some(read.ok()?.pop()?.test)
}
