//! What all parts of a session work on: its project, its targets, its ledger, and what is known of its tests.

use std::sync::Arc;

use lydian_inputs::InputSpec;
use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_ledger::FunctionName;
use lydian_native::{Measured, Outcome};
use lydian_objective::{Accepted, Criterion, FunctionObjectives};
use lydian_report::minimise::Effort;
use lydian_smt::{ChainConfig, LogTarget, QueryLog, Solver, standard_chain};
use rustc_hash::{FxHashMap, FxHashSet};

use super::goals::{Goal, Target};
use crate::events::Observer;
use crate::measurement::test_runner::TestRunner;
use crate::project::Project;
use crate::replay::keeper::CaseKeeper;
use crate::replay::kept_case::{Claim, ClaimedVerdict};
use crate::shared_ledger::SharedLedger;

/// Everything that the work on what one function's tests reach needs.
pub(crate) struct Session<'a, 'm> {
    pub(crate) project: &'a Project,
    /// What tests call.
    pub(crate) entry: FuncId,
    /// What they are to reach. The ledger keeps the tests with the first.
    pub(crate) targets: &'a [Target<'a>],
    /// The objectives of all functions that are measured.
    pub(crate) all: &'a [FunctionObjectives],
    /// The labels of other functions that these name.
    pub(crate) further: &'a [FunctionObjectives],
    pub(crate) unit: &'a str,
    pub(crate) runner: &'a mut TestRunner<'m>,
    pub(crate) ledger: &'a SharedLedger,
    /// What keeps tests that contradict a claim.
    pub(crate) keeper: &'a CaseKeeper<'a>,
    /// Whoever is told how far explorations are.
    pub(crate) observer: &'a dyn Observer,
    /// Where questions to solvers are logged, if that is asked for.
    pub(crate) query_log: Option<&'a Arc<QueryLog>>,
    /// How small the suite is made.
    pub(crate) effort: Effort,
    /// How many workers explore together.
    pub(crate) workers: usize,
    /// The kinds of assumptions under which *infeasible* counts.
    pub(crate) accepted: &'a Accepted,
    /// What is known of tests. Of many that cover the same the ledger has the first.
    pub(crate) recorded: TestMemory,
}

/// What is known of tests from this session.
#[derive(Default)]
pub(crate) struct TestMemory {
    /// Objectives with evidence of a test.
    pub(crate) goals: FxHashSet<Goal>,
    /// What tests showed that exploration found, as long as it is not too much.
    pub(crate) measured: FxHashMap<Test, Measured>,
    /// How many labels and bytes these have.
    pub(crate) size: usize,
}

/// What tests showed is kept up to so many labels and bytes; others run again when they are wanted.
const MOST_KEPT: usize = 1 << 25;

impl TestMemory {
    /// Keeps what a test showed, if another run would show the same.
    pub(crate) fn keep(&mut self, test: &Test, measured: &Measured) {
        let labels =
            measured.covered.iter().map(Vec::len).sum::<usize>() + measured.run.cells.len();
        let (objects, globals) = (&measured.run.objects, &measured.run.globals);
        let globals = globals.iter().map(|(_, bytes)| bytes.len());
        let bytes = objects.iter().map(Vec::len).chain(globals).sum::<usize>();
        let size = self.size + labels + bytes;
        // A run that ran out of time may have had less than it may take.
        let is_last = !matches!(measured.run.outcome, Outcome::TimedOut(_));
        if is_last && size <= MOST_KEPT {
            self.measured.insert(test.clone(), measured.clone());
            self.size = size;
        }
    }
}

/// How far the exploration was when it gave the last test for something new.
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
    /// Claims that measuring did not confirm, and what it showed instead.
    pub(crate) unconfirmed: Option<(Vec<Goal>, String)>,
    /// Claims that the test cannot count for, and why.
    pub(crate) uncounted: Vec<(Goal, String)>,
}

/// Whether an exploration says why objectives are left, and does not only find tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conclusion {
    Always,
    /// Where nothing was cut off.
    IfComplete,
    Never,
}

/// An exploration of what is left.
pub(crate) struct Round<'s> {
    /// Of which inputs.
    pub(crate) spec: &'s InputSpec,
    pub(crate) concludes: Conclusion,
    /// Whether only tests that end well are taken.
    pub(crate) ends_well: bool,
}

impl<'a> Session<'a, '_> {
    /// How a function's questions are decided, and where they are logged.
    pub(crate) fn chain(&self, function: FuncId) -> ChainConfig {
        let target = |log: &Arc<QueryLog>| LogTarget {
            log: log.clone(),
            asker: self.project.name(function).to_owned(),
        };
        ChainConfig { log: self.query_log.map(target), ..ChainConfig::default() }
    }

    /// A solver for questions about a function.
    pub(crate) fn solver(&self, function: FuncId) -> Box<dyn Solver> {
        standard_chain(&self.chain(function))
    }

    /// The name of what tests call.
    pub(crate) fn name(&self) -> &'a str {
        &self.project.program.functions[self.entry].name
    }

    /// A target's function as the ledger names it.
    pub(crate) fn function(&self, target: &Target<'_>) -> FunctionName<'a> {
        let name = &self.project.program.functions[target.objectives.function].name;
        FunctionName { unit: self.unit, name }
    }

    /// What the user sees of an objective.
    pub(crate) fn text(&self, goal: Goal) -> &'a str {
        let objectives = self.targets[goal.target()].objectives;
        match goal {
            Goal::Label(_, label) => &objectives.labels[label].text,
            Goal::Hyper(_, hyper) => &objectives.hypers[hyper].text,
        }
    }

    /// What an engine claims of objectives: a claim for each criterion that counts one of them.
    pub(crate) fn claims(
        &self,
        goals: impl IntoIterator<Item = Goal>,
        engine: &str,
        verdict: ClaimedVerdict,
    ) -> Vec<Claim> {
        let goals: FxHashSet<Goal> = goals.into_iter().collect();
        let entries = self.entries_of(&goals).map(|(target, goal, name, criterion)| Claim {
            engine: engine.to_owned(),
            verdict,
            function: self.project.name(target.objectives.function).to_owned(),
            criterion,
            name: name.to_owned(),
            place: target.place(goal).to_string(),
            text: self.text(goal).to_owned(),
            key: target.key(goal).clone(),
            is_hyperlabel: goal.label().is_none(),
        });
        entries.collect()
    }

    /// What the criteria count of some objectives, in the order of the targets and of the criteria.
    pub(crate) fn entries_of(
        &self,
        goals: &FxHashSet<Goal>,
    ) -> impl Iterator<Item = (&Target<'a>, Goal, &str, Criterion)> {
        let targets = self.targets.iter().enumerate();
        targets.flat_map(move |(at, target)| {
            let entries = target.entries(at).filter(|(goal, ..)| goals.contains(goal));
            entries.map(move |(goal, name, criterion)| (target, goal, name, criterion))
        })
    }
}
