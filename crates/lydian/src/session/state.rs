//! The state of a session: its project, its functions under test, its ledger, and the memory of its
//! tests.

use std::sync::Arc;
use std::time::Duration;

use lydian_inputs::InputSpec;
use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_ledger::FunctionName;
use lydian_native::{MeasuredRun, Outcome};
use lydian_objective::{AcceptedAssumptions, FunctionObjectives};
use lydian_report::suite::minimise::Effort;
use lydian_smt::{ChainConfig, LogTarget, QueryLog, Solver, standard_chain};
use rustc_hash::{FxHashMap, FxHashSet};

use super::goals::{Entry, FunctionUnderTest, Goal};
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::kept_runs::KeptRuns;
use super::outside::SessionChecker;
use super::unknown_reasons::NamedPlaces;
use crate::events::Observer;
use crate::measurement::MeasurementOptions;
use crate::measurement::test_runner::TestRunner;
use crate::project::Project;
use crate::replay::keeper::CaseKeeper;
use crate::replay::kept_case::{Claim, ClaimedVerdict};
use crate::shared_ledger::SharedLedger;

/// The data of a session, which all its steps share.
pub(crate) struct Session<'a, 'm> {
    pub(crate) project: &'a Project,
    /// The function that tests call.
    pub(crate) entry: FuncId,
    /// The functions whose objectives they are to reach. The ledger keeps the tests with the first.
    pub(crate) targets: &'a [FunctionUnderTest<'a>],
    pub(crate) measured: MeasuredFunctions<'a>,
    pub(crate) unit: &'a str,
    pub(crate) runner: &'a mut TestRunner<'m>,
    pub(crate) ledger: &'a SharedLedger,
    pub(crate) records: SessionRecords<'a>,
    pub(crate) options: SessionOptions,
    /// What tests of the function did in earlier runs.
    pub(crate) runs: KeptRuns,
    /// The places that reasons for unknown objectives name.
    pub(crate) places: NamedPlaces<'a>,
    /// The kinds of assumptions under which *infeasible* counts.
    pub(crate) accepted: &'a AcceptedAssumptions,
    /// The memory of tests. Of several tests with the same coverage the ledger has the first.
    pub(crate) recorded: TestMemory,
    /// The outside checker that is asked, too.
    pub(crate) outside: Option<&'a SessionChecker<'a>>,
}

/// The functions that a session measures.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredFunctions<'a> {
    /// The objectives of all functions that are measured.
    pub(crate) all: &'a [FunctionObjectives],
    /// The positions among them of the functions that tests can reach, in order.
    pub(crate) reached: &'a [usize],
    /// The labels of other functions that these objectives mention.
    pub(crate) further: &'a [FunctionObjectives],
}

impl<'a> MeasuredFunctions<'a> {
    /// The coverage of hyperlabels by no tests.
    pub(crate) fn hyper_coverage(&self) -> HyperlabelCoverage<'a> {
        HyperlabelCoverage::new(self.all, self.reached)
    }
}

/// Where a session leaves what it says beside the ledger.
#[derive(Clone, Copy)]
pub(crate) struct SessionRecords<'a> {
    /// The keeper of tests that contradict a claim.
    pub(crate) keeper: &'a CaseKeeper<'a>,
    /// The observer of explorations.
    pub(crate) observer: &'a dyn Observer,
    /// The log of questions to solvers, if that is asked for.
    pub(crate) query_log: Option<&'a Arc<QueryLog>>,
}

/// The options of a session.
#[derive(Clone, Copy)]
pub(crate) struct SessionOptions {
    /// The effort for minimising the suite.
    pub(crate) minimise: Effort,
    /// Whether there are proofs over all runs.
    pub(crate) proofs: bool,
    /// The number of workers in an exploration.
    pub(crate) workers: usize,
    /// The time in all.
    pub(crate) time: Duration,
    /// The options of native runs.
    pub(crate) measurement: MeasurementOptions,
    /// Whether objectives are tried again that an earlier attempt left open.
    pub(crate) again: bool,
    /// Whether questions to solvers are logged.
    pub(crate) logs_questions: bool,
}

/// The memory of this session's tests.
#[derive(Default)]
pub(crate) struct TestMemory {
    /// The objectives for which a test is recorded.
    pub(crate) goals: FxHashSet<Goal>,
    /// The measurements of tests that exploration found, as far as there is room.
    pub(crate) measured: FxHashMap<Test, MeasuredRun>,
    /// Whether an exploration was short of memory, by its limit in bytes.
    pub(crate) memory: Option<u64>,
    /// Whether the session augments paths.
    pub(crate) augments: bool,
    /// For tests of this session's explorations, what augmentation asks about them. Empty without
    /// augmentation.
    pub(crate) made: FxHashMap<Test, MadeTest>,
    /// The numbers of tests before and after minimisation, with augmentation.
    pub(crate) counts: SuiteCounts,
    /// The size of the measurements, in labels and bytes.
    pub(crate) size: usize,
}

/// The reason why an exploration made a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeTest {
    /// The number of facts of its path.
    pub(crate) facts: usize,
    /// The labels that it was the first to cover.
    pub(crate) covers: Vec<Goal>,
    /// The transformed conditions that it satisfies at one occurrence, each with its turn.
    pub(crate) transformed: Vec<(Goal, u32)>,
}

/// Numbers of tests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SuiteCounts {
    /// All.
    pub(crate) all: usize,
    /// Those that the heuristic of [004] 3.3 keeps.
    pub(crate) by_heuristic: usize,
    /// Those that minimisation keeps.
    pub(crate) minimised: usize,
}

/// The greatest size of kept measurements, in labels and bytes. Other tests run again when needed.
const MOST_KEPT: usize = 1 << 25;

impl TestMemory {
    /// Keeps a test's measurement, if another run would give the same.
    pub(crate) fn keep(&mut self, test: &Test, measured: &MeasuredRun) {
        let labels =
            measured.covered.iter().map(Vec::len).sum::<usize>() + measured.run.cells.len();
        let (objects, globals) = (&measured.run.objects, &measured.run.globals);
        let globals = globals.iter().map(|(_, bytes)| bytes.len());
        let bytes = objects.iter().map(Vec::len).chain(globals).sum::<usize>();
        let size = self.size + labels + bytes;
        if is_lasting(measured) && size <= MOST_KEPT {
            self.measured.insert(test.clone(), measured.clone());
            self.size = size;
        }
    }

    /// Keeps a measurement again that was taken out.
    pub(crate) fn put_back(&mut self, test: Test, measured: MeasuredRun) {
        if is_lasting(&measured) {
            self.measured.insert(test, measured);
        }
    }
}

/// Whether another run would give the same: one that timed out may have had less than its full time.
const fn is_lasting(measured: &MeasuredRun) -> bool {
    !matches!(measured.run.outcome, Outcome::TimedOut(_))
}

/// The progress of an exploration at its last test with new coverage.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastDiscovery {
    /// Paths that had ended.
    pub(crate) paths: u64,
    /// Time since it began.
    pub(crate) seconds: f64,
}

/// A test that was run, waiting to be recorded.
pub(crate) struct MeasuredTest {
    pub(crate) test: Test,
    /// The labels that it covers.
    pub(crate) covered: Vec<Goal>,
    /// The hyperlabels that it completes, with the tests that cover each together.
    pub(crate) completes: Vec<(Goal, Vec<Test>)>,
    /// The claims that the measurement did not confirm, and the observed behaviour.
    pub(crate) unconfirmed: Option<(Vec<Goal>, String)>,
    /// The claims that the test cannot count for, with reasons.
    pub(crate) uncounted: Vec<(Goal, String)>,
}

/// Whether an exploration decides open objectives, and does not only find tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conclusion {
    Always,
    /// If no path was cut.
    IfComplete,
    Never,
}

/// An exploration of the open objectives.
pub(crate) struct Round<'s> {
    /// The assumptions about its inputs.
    pub(crate) spec: &'s InputSpec,
    pub(crate) concludes: Conclusion,
    /// Whether only tests that end well are accepted.
    pub(crate) ends_well: bool,
}

impl<'a> Session<'a, '_> {
    /// The solvers for questions about a function, with the log of the questions.
    pub(crate) fn chain(&self, function: FuncId) -> ChainConfig {
        let target = |log: &Arc<QueryLog>| LogTarget {
            log: log.clone(),
            asker: self.project.name(function).to_owned(),
        };
        ChainConfig { log: self.records.query_log.map(target), ..ChainConfig::default() }
    }

    /// A solver for questions about a function.
    pub(crate) fn solver(&self, function: FuncId) -> Box<dyn Solver> {
        standard_chain(&self.chain(function))
    }

    /// The name of the function that tests call.
    pub(crate) fn name(&self) -> &'a str {
        &self.project.program.functions[self.entry].name
    }

    /// The ledger's name for a function under test.
    pub(crate) fn function(&self, target: &FunctionUnderTest<'_>) -> FunctionName<'a> {
        self.standing().function(target)
    }

    /// The text of an objective for the user.
    pub(crate) fn text(&self, goal: Goal) -> &'a str {
        let objectives = self.targets[goal.target()].objectives;
        match goal {
            Goal::Label(_, label) => &objectives.labels[label].text,
            Goal::Hyper(_, hyper) => &objectives.hypers[hyper].text,
        }
    }

    /// The claims of an engine about objectives, one for each criterion that counts one of them.
    pub(crate) fn claims(
        &self,
        goals: impl IntoIterator<Item = Goal>,
        engine: &str,
        verdict: ClaimedVerdict,
    ) -> Vec<Claim> {
        let goals: FxHashSet<Goal> = goals.into_iter().collect();
        let entries = self.entries_of(&goals).map(|(target, entry)| Claim {
            engine: engine.to_owned(),
            verdict,
            function: self.project.name(target.objectives.function).to_owned(),
            criterion: entry.criterion,
            name: entry.name.to_owned(),
            place: target.place(entry.goal).to_string(),
            text: self.text(entry.goal).to_owned(),
            key: target.key(entry.goal).clone(),
            is_hyperlabel: entry.goal.label().is_none(),
        });
        entries.collect()
    }

    /// The entries for some objectives, in the order of the functions under test and of the criteria.
    pub(crate) fn entries_of(
        &self,
        goals: &FxHashSet<Goal>,
    ) -> impl Iterator<Item = (&FunctionUnderTest<'a>, Entry<'_>)> {
        let targets = self.targets.iter().enumerate();
        targets.flat_map(move |(at, target)| {
            let entries = target.entries(at).filter(|entry| goals.contains(&entry.goal));
            entries.map(move |entry| (target, entry))
        })
    }
}
