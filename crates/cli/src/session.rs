//! What is called by tests, a function or a whole program, from objectives to their verdicts: what
//! the ledger knows, what its tests cover now, what is proved, what exploration finds and
//! measurement confirms. Objectives are labels and hyperlabels; of the latter the tests so far are
//! judged together ([`judged`]).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexSet;
use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_ledger::{FunctionName, LedgerError, Recording, Scope};
use lydian_native::{Attempt, Measured, Outcome};
use lydian_objective::assumption::abridged;
use lydian_objective::evidence::{
    Contradictory, CriterionRow, Engine, Evidence, TestHash, UnknownReason, Verdict,
};
use lydian_objective::{
    Accepted, Assumption, Criterion, FunctionObjectives, HyperId, LabelId, LabelKey,
};
use lydian_report::minimise::Effort;
use lydian_report::{CriterionSummary, Exploration};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::exec::Event;
use lydian_symex::{Config, Cut, ExploreError, Summary, Task, Unmet, Workers};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counting::Counting;
use crate::elsewhere::Explained;
use crate::exit::Failure;
use crate::ledger;
use crate::ledger::SharedLedger;
use crate::load::Loaded;
use crate::progress::Progress;
use crate::suite::Kept;
use confirming::Confirming;
use judged::{HyperOf, Judged};
use left::Left;
use news::News;
use reasons::reason;

mod assumed;
mod confirming;
mod control;
mod derived;
mod earlier;
mod explained;
mod judged;
mod kept;
mod kept_for;
pub(crate) mod left;
mod loose;
mod news;
mod probe;
mod proofs;
mod reasons;
mod reduced;
mod smaller;
mod texts;
mod vectors;

/// Making the kept tests of a function smaller may take one part of so many of the time that it has.
const SHARE_OF_MAKING_SMALLER: u32 = 4;

/// A function whose objectives are to be reached.
pub(crate) struct Target<'a> {
    pub(crate) objectives: &'a FunctionObjectives,
    /// Position of the function among those that are measured.
    pub(crate) index: usize,
    pub(crate) scope: Scope,
}

/// Everything that the work on what one function's tests reach needs.
pub(crate) struct Session<'a, 'm> {
    pub(crate) loaded: &'a Loaded,
    /// What tests call.
    pub(crate) entry: FuncId,
    /// What they are to reach. The ledger keeps the tests with the first.
    pub(crate) targets: &'a [Target<'a>],
    /// The objectives of all functions that are measured.
    pub(crate) all: &'a [FunctionObjectives],
    /// The labels of other functions that these name.
    pub(crate) further: &'a [FunctionObjectives],
    pub(crate) unit: &'a str,
    pub(crate) counting: &'a mut Counting<'m>,
    pub(crate) ledger: &'a SharedLedger,
    /// Where tests that contradict a claim are kept.
    pub(crate) replay_folder: PathBuf,
    pub(crate) progress: &'a Progress,
    /// How small the suite is made.
    pub(crate) effort: Effort,
    /// How many workers explore together.
    pub(crate) workers: usize,
    /// The kinds of assumptions under which *infeasible* counts.
    pub(crate) accepted: &'a Accepted,
    /// What is known of tests. Of many that cover the same the ledger has the first.
    pub(crate) recorded: Recorded,
}

/// What is known of tests from this session.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Objectives with evidence of a test.
    goals: FxHashSet<Goal>,
    /// What tests showed that exploration found, as long as it is not too much.
    measured: FxHashMap<Test, Measured>,
    /// How many labels and bytes these have.
    size: usize,
}

/// What tests showed is kept up to so many labels and bytes; others run again when they are wanted.
const MOST_KEPT: usize = 1 << 25;

impl Recorded {
    /// Keeps what a test showed, if another run would show the same.
    fn keep(&mut self, test: &Test, measured: &Measured) {
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
struct Last {
    /// Paths that had ended.
    paths: u64,
    /// Time since it began.
    seconds: f64,
}

/// What came of it.
pub(crate) struct Settled {
    /// For each target.
    pub(crate) rows: Vec<Vec<CriterionSummary>>,
    /// The tests worth keeping, with what was measured.
    pub(crate) tests: Vec<Kept>,
    /// For each target what is known of its objectives, with the positions of the tests that cover them.
    pub(crate) objectives: Vec<Vec<Explained>>,
    /// One sentence for each internal error.
    pub(crate) contradictions: Vec<String>,
    /// Why nothing could be explored.
    pub(crate) refused: Option<ExploreError>,
    /// What the user stated of the inputs that none meets.
    pub(crate) unmet: Vec<Unmet>,
    /// What exploring took, if anything was explored.
    pub(crate) exploration: Option<Exploration>,
    /// What tests tried outside of the program.
    pub(crate) attempts: BTreeSet<Attempt>,
}

/// A test that was run, waiting to be recorded.
struct Pending {
    test: Test,
    /// The labels that it covers.
    covered: Vec<Goal>,
    /// The hyperlabels that it completes, with the tests that cover each together.
    completes: Vec<(Goal, Vec<Test>)>,
    /// Claims that measuring did not confirm, and what it showed instead.
    unconfirmed: Option<(Vec<Goal>, String)>,
    /// Claims that the test cannot count for, and why.
    uncounted: Vec<(Goal, String)>,
}

/// The verdicts on objectives; none where evidence is contradictory.
type Verdicts = FxHashMap<LabelKey, Option<Verdict>>;

/// An objective of a target, by the target's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Goal {
    Label(usize, LabelId),
    Hyper(usize, HyperId),
}

/// What a criterion asks for.
struct Entry<'t> {
    criterion: Criterion,
    /// What the criterion calls it.
    name: &'t str,
    goal: Goal,
    /// The name of what it is a duplicate of.
    same_as: Option<&'t str>,
}

/// Whether an exploration says why objectives are left, and does not only find tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decides {
    Always,
    /// Where nothing was cut off.
    IfComplete,
    Never,
}

/// An exploration of what is left.
struct Round<'s> {
    /// Of which inputs.
    spec: &'s InputSpec,
    decides: Decides,
    /// Whether only tests that end well are taken.
    ends_well: bool,
}

impl Goal {
    /// The label, if it is one.
    const fn label(self) -> Option<LabelId> {
        match self {
            Self::Label(_, label) => Some(label),
            Self::Hyper(..) => None,
        }
    }

    /// The target's position.
    const fn target(self) -> usize {
        match self {
            Self::Label(target, _) | Self::Hyper(target, _) => target,
        }
    }
}

impl<'a> Session<'a, '_> {
    /// Does the work. What was found until a limit or Ctrl-C is in the ledger.
    pub(crate) fn run(&mut self, config: &Config, budget: &Budget) -> Result<Settled, Failure> {
        let limit = budget.remaining();
        self.counting.begin_function(budget);
        self.record(|_, target, recording| recording.objectives(target.objectives))?;
        let mut judged = Judged::new(self.all);
        self.measure_known_tests(&mut judged)?;
        let mut contradictions = Vec::new();
        let control = self.decide_control(&mut judged, config, budget, &mut contradictions)?;
        let left = self.left()?;
        self.prove(&left, config, budget)?;
        self.derive()?;
        let left = self.left()?;
        let wanted = !left.is_empty() || !config.stop_when_covered;
        let (mut explored, mut refused) = (None, None);
        if wanted && !budget.cancel_token().is_cancelled() {
            let loose = self.without_lengths(config);
            let first = budget.keeping(Self::kept_for_loose(loose.as_ref(), budget));
            let round =
                Round { spec: &self.loaded.spec, decides: Decides::Always, ends_well: false };
            match self.explore(&round, &left, &mut judged, config, &first, &mut contradictions)? {
                Ok(found) => {
                    let (summary, loose) = (&found.0, loose.as_ref());
                    self.explore_earlier(
                        summary,
                        &mut judged,
                        config,
                        &first,
                        &mut contradictions,
                    )?;
                    self.explore_loose(loose, &mut judged, config, budget, &mut contradictions)?;
                    self.prove_assuming(summary, config, budget)?;
                    self.derive()?;
                    explored = Some(found);
                }
                Err(error) => {
                    self.record_refused(&left, &error)?;
                    refused = Some(error);
                }
            }
        }
        contradictions.extend(self.withdraw_contradicted()?);
        let rows = self.targets.iter().map(|target| self.rows(target));
        let rows = rows.collect::<Result<_, _>>()?;
        let time = limit.map(|limit| limit / SHARE_OF_MAKING_SMALLER);
        let tests = self.tests_worth_keeping(time)?;
        let longest = explored.as_ref().or(control.as_ref());
        let exploration = longest.map(|(summary, last)| in_numbers(summary, *last));
        let unmet = explored.map(|(summary, _)| summary.unmet).unwrap_or_default();
        let objectives = self.objectives_with(&tests)?;
        let tests = tests.into_iter().map(|(kept, _)| kept).collect();
        let attempts = self.counting.take_attempts();
        Ok(Settled {
            rows,
            tests,
            objectives,
            contradictions,
            refused,
            unmet,
            exploration,
            attempts,
        })
    }

    /// What is known of the objectives of each target, with the positions of the tests that cover them.
    fn objectives_with(
        &self,
        tests: &[(Kept, FxHashSet<Goal>)],
    ) -> Result<Vec<Vec<Explained>>, Failure> {
        let of_target = |(at, target): (usize, &Target<'_>)| {
            let all = self.explained(at, target)?.into_iter().map(|(goal, told)| {
                let covers =
                    |(_, (_, goals)): &(usize, &(Kept, FxHashSet<Goal>))| goals.contains(&goal);
                let tests = tests.iter().enumerate().filter(covers).map(|(position, _)| position);
                let label = goal.label();
                Explained { told, tests: tests.collect(), label, elsewhere: Vec::new() }
            });
            Ok(all.collect())
        };
        self.targets.iter().enumerate().map(of_target).collect()
    }

    /// The name of what tests call.
    fn name(&self) -> &'a str {
        &self.loaded.program.functions[self.entry].name
    }

    /// A target's function as the ledger names it.
    fn function(&self, target: &Target<'_>) -> FunctionName<'a> {
        let name = &self.loaded.program.functions[target.objectives.function].name;
        FunctionName { unit: self.unit, name }
    }

    /// Records for each target, by its position, all in one transaction.
    fn record(
        &mut self,
        mut fill: impl FnMut(usize, &Target<'_>, &mut Recording<'_>) -> Result<(), LedgerError>,
    ) -> Result<(), Failure> {
        let Some(first) = self.targets.first() else { return Ok(()) };
        let mut ledger = self.ledger.lock();
        let mut record = || {
            let mut recording = ledger.record(self.function(first), &first.scope)?;
            for (at, target) in self.targets.iter().enumerate() {
                if at > 0 {
                    recording.turn_to(self.function(target), &target.scope)?;
                }
                fill(at, target, &mut recording)?;
            }
            recording.commit()
        };
        record().map_err(ledger::failure)
    }

    /// Records evidence on objectives.
    fn record_evidence(&mut self, evidence: &[(Goal, Evidence)]) -> Result<(), Failure> {
        if evidence.is_empty() {
            return Ok(());
        }
        self.record(|at, target, recording| {
            let own = evidence.iter().filter(|(goal, _)| goal.target() == at);
            own.into_iter()
                .try_for_each(|(goal, evidence)| recording.evidence(target.key(*goal), evidence))
        })
    }

    /// The tests of earlier runs and of this one, without those that contradicted a claim.
    fn known_tests(&self) -> Result<Vec<Test>, Failure> {
        let mut known: IndexSet<Test> = IndexSet::new();
        for target in self.targets {
            let types = &self.loaded.program.types;
            let stored = self.ledger.lock().tests(self.function(target), &target.scope, types);
            let stored = stored.map_err(ledger::failure)?;
            known.extend(stored.into_iter().map(|stored| stored.test));
        }
        Ok(known.into_iter().collect())
    }

    /// Tests of earlier runs may cover what is asked for now, or survive an edit of the function.
    fn measure_known_tests(&mut self, judged: &mut Judged<'_>) -> Result<(), Failure> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let pending = all.into_iter().map(|(test, measured)| Pending {
            covered: self.covered_by(&measured),
            completes: self.completed_by(&test, &measured, judged),
            test,
            unconfirmed: None,
            uncounted: Vec::new(),
        });
        let pending = pending.collect();
        self.record_tests(pending)
    }

    /// The labels of all targets that a run covers, in order.
    fn covered_by(&self, measured: &Measured) -> Vec<Goal> {
        self.covered_in(&measured.covered)
    }

    /// The same of labels that are covered, function by function.
    fn covered_in(&self, covered: &[Vec<LabelId>]) -> Vec<Goal> {
        let all = self.targets.iter().enumerate();
        let labels = all.flat_map(|(at, target)| {
            covered[target.index].iter().map(move |label| Goal::Label(at, *label))
        });
        labels.collect()
    }

    /// Adds a test to those that are judged. Gives the hyperlabels of the targets that it completes,
    /// each with the tests that cover it together.
    fn completed_by(
        &self,
        test: &Test,
        measured: &Measured,
        judged: &mut Judged<'_>,
    ) -> Vec<(Goal, Vec<Test>)> {
        let found = judged.add(test, measured).into_iter();
        let of_target = found.filter_map(|one| {
            let at = self.targets.iter().position(|target| target.index == one.hyper.0)?;
            Some((Goal::Hyper(at, one.hyper.1), one.tests))
        });
        of_target.collect()
    }

    /// A hyperlabel of a target as it is judged; none for a label.
    fn hyper_of(&self, goal: Goal) -> Option<HyperOf> {
        match goal {
            Goal::Label(..) => None,
            Goal::Hyper(target, hyper) => Some((self.targets[target].index, hyper)),
        }
    }

    /// What tests of the ledger show; those that no longer fit the program are left out.
    fn measure_all(&mut self, tests: Vec<Test>) -> Result<Vec<(Test, Measured)>, Failure> {
        let mut kept = Vec::new();
        for test in tests {
            let known = self.recorded.measured.remove(&test);
            let measured = match known {
                Some(measured) => Ok(measured),
                None => self.counting.measure(&test)?,
            };
            kept.extend(measured.ok().map(|measured| (test, measured)));
        }
        Ok(kept)
    }

    fn record_tests(&mut self, mut pending: Vec<Pending>) -> Result<(), Failure> {
        if pending.is_empty() {
            return Ok(());
        }
        for found in &mut pending {
            found.covered.retain(|goal| self.recorded.goals.insert(*goal));
        }
        let types = &self.loaded.program.types;
        self.record(|at, target, recording| {
            let of_target = |goals: &[Goal]| -> Vec<Goal> {
                goals.iter().filter(|goal| goal.target() == at).copied().collect()
            };
            for found in &pending {
                let covered = of_target(&found.covered);
                let completes = found.completes.iter().filter(|(goal, _)| goal.target() == at);
                let completes: Vec<&(Goal, Vec<Test>)> = completes.collect();
                let unconfirmed = found.unconfirmed.as_ref();
                let claimed = unconfirmed.map(|(claimed, _)| of_target(claimed));
                let claimed = claimed.unwrap_or_default();
                for (goal, why) in found.uncounted.iter().filter(|(goal, _)| goal.target() == at) {
                    let reason = UnknownReason::NotFollowed(why.clone());
                    recording.evidence(target.key(*goal), &Evidence::Unknown { reason })?;
                }
                let has_none = covered.is_empty() && completes.is_empty() && claimed.is_empty();
                if at > 0 && has_none {
                    continue;
                }
                let hash: TestHash = recording.test(&found.test, types)?;
                for goal in covered {
                    let evidence = Evidence::Measured { test: hash.clone() };
                    recording.evidence(target.key(goal), &evidence)?;
                }
                for (goal, tests) in completes {
                    let tests = tests.iter().map(|test| recording.test(test, types));
                    let mut tests: Vec<TestHash> = tests.collect::<Result<_, _>>()?;
                    let evidence = match tests.len() {
                        1 => Evidence::Measured { test: tests.remove(0) },
                        _ => Evidence::MeasuredTogether { tests },
                    };
                    recording.evidence(target.key(*goal), &evidence)?;
                }
                for goal in claimed {
                    let evidence = Evidence::Unconfirmed {
                        claimed_by: "exploration".into(),
                        test: hash.clone(),
                        measured: unconfirmed.map(|(_, what)| what.clone()).unwrap_or_default(),
                    };
                    recording.evidence(target.key(goal), &evidence)?;
                }
            }
            Ok(())
        })
    }

    /// The objectives of all targets without a verdict, in order.
    fn left(&self) -> Result<Vec<Goal>, Failure> {
        let mut left = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            left.extend(self.left_of(at, target)?);
        }
        Ok(left)
    }

    /// The objectives of a target that are not decided: what criteria count, each once, labels first.
    /// Those that are infeasible as assumed are among them, since a test may break the assumption.
    fn left_of(&self, at: usize, target: &Target<'_>) -> Result<Vec<Goal>, Failure> {
        let verdicts = self.verdicts(target)?;
        let is_left = |key: &LabelKey| {
            let open = |verdict: &Verdict| {
                matches!(verdict, Verdict::Unknown { .. } | Verdict::InfeasibleAssumed { .. })
            };
            verdicts.get(key).is_none_or(|verdict| verdict.as_ref().is_some_and(open))
        };
        let FunctionObjectives { criteria, labels, hyper_criteria, hypers, .. } = target.objectives;
        let counted: FxHashSet<LabelId> = criteria.values().flatten().map(|e| e.label).collect();
        let counted_hypers: FxHashSet<HyperId> =
            hyper_criteria.values().flatten().map(|e| e.hyper).collect();
        let labels =
            labels.iter().filter(|(id, label)| counted.contains(id) && is_left(&label.key));
        let hypers =
            hypers.iter().filter(|(id, hyper)| counted_hypers.contains(id) && is_left(&hyper.key));
        let labels = labels.map(|(id, _)| Goal::Label(at, id));
        Ok(labels.chain(hypers.map(|(id, _)| Goal::Hyper(at, id))).collect())
    }

    /// The verdicts on what is recorded of a target; none where evidence is contradictory.
    fn verdicts(&self, target: &Target<'_>) -> Result<Verdicts, Failure> {
        let (function, accepted) = (self.function(target), self.accepted);
        let verdicts = self.ledger.lock().verdicts(function, &target.scope, accepted);
        let verdicts = verdicts.map_err(ledger::failure)?;
        Ok(verdicts.into_iter().map(|found| (found.label, found.verdict.ok())).collect())
    }

    /// Explores what is left with other inputs for some time at most, if there is any.
    fn explore_left(
        &mut self,
        round: &Round<'_>,
        time: Duration,
        judged: &mut Judged<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if budget.exceeded().is_some() {
            return Ok(());
        }
        let left = self.left()?;
        if left.is_empty() {
            return Ok(());
        }
        let time = budget.remaining().map_or(time, |remaining| remaining.min(time));
        let budget = budget.part(Some(time));
        // What crashes does so in the first exploration, too.
        let config = Config { crash_tests: false, ..config.clone() };
        // What cannot be made of these inputs was made of others.
        let _ = self.explore(round, &left, judged, &config, &budget, contradictions)?;
        Ok(())
    }

    /// The inner error says why the inputs cannot be made.
    fn explore(
        &mut self,
        round: &Round<'_>,
        left: &[Goal],
        judged: &mut Judged<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<Result<(Summary, Last), ExploreError>, Failure> {
        let news = config.every_path.then(|| News::of(left));
        let left = Left::new((self.all, self.further), self.targets, left, judged);
        let task = Task {
            program: &self.loaded.program,
            func: self.entry,
            spec: round.spec,
            objectives: &left.objectives,
            known: &left.known,
            config,
            budget,
        };
        let solver = || standard_chain(&ChainConfig::default());
        let workers = Workers::new(self.workers, &solver);
        let mut trouble = None;
        let mut confirming = Confirming::new(self, &left, judged, contradictions, news);
        confirming.ends_well = round.ends_well;
        let mut sink = |event: Event| {
            if trouble.is_none()
                && let Err(failure) = confirming.meet(event)
            {
                budget.cancel_token().cancel();
                trouble = Some(failure);
            }
        };
        let summary = task.run_among(&workers, &mut sink);
        if let Some(failure) = trouble {
            return Err(failure);
        }
        let last = confirming.finish()?;
        let summary = match summary {
            Ok(summary) => summary,
            Err(error) => return Ok(Err(error)),
        };
        let decides = match round.decides {
            Decides::Always => true,
            Decides::IfComplete => summary.complete,
            Decides::Never => false,
        };
        if decides {
            self.record_left(&summary, &left)?;
            // One of an earlier exploration speaks against this one, too.
            if let Some(contradiction) = contradictions.first() {
                self.withdraw(Engine::Exploration, contradiction)?;
            }
        }
        Ok(Ok((summary, last)))
    }

    /// Evidence on what nothing could be explored for.
    fn record_refused(&mut self, left: &[Goal], error: &ExploreError) -> Result<(), Failure> {
        let reason = UnknownReason::NotFollowed(format!("no inputs could be made: {error}"));
        let evidence = Evidence::Unknown { reason };
        let all: Vec<_> = left.iter().map(|goal| (*goal, evidence.clone())).collect();
        self.record_evidence(&all)
    }

    /// What the user sees of an objective.
    fn text(&self, goal: Goal) -> &'a str {
        let objectives = self.targets[goal.target()].objectives;
        match goal {
            Goal::Label(_, label) => &objectives.labels[label].text,
            Goal::Hyper(_, hyper) => &objectives.hypers[hyper].text,
        }
    }

    /// Evidence on what exploration left: an argument that it is infeasible if nothing that was cut off
    /// lies ahead of it, else why it is unknown.
    fn record_left(&mut self, summary: &Summary, left: &Left) -> Result<(), Failure> {
        let labels = summary.left.iter();
        let labels = labels.map(|found| (left.label(found.label), &found.reasons, &found.bounds));
        let hypers = summary.left_hypers.iter();
        let hypers = hypers.map(|found| (left.hyper(found.hyper), &found.reasons, &found.bounds));
        let all = labels.chain(hypers);
        let all = all.filter_map(|(goal, reasons, bounds)| Some((goal?, reasons, bounds)));
        let all: Vec<(Goal, &Vec<Cut>, &Vec<Assumption>)> = all.collect();
        let (program, whole) = (&self.loaded.program, self.loaded.entry.is_some());
        let mut unmet = summary.unmet.iter();
        let none_begin = unmet.find(|unmet| matches!(unmet, Unmet::Preconditions { .. }));
        let evidence = all.iter().map(|(goal, reasons, bounds)| {
            let target = &self.targets[goal.target()];
            let complete = reasons.is_empty();
            let elsewhere = complete && !whole && derived::others_may_cover(program, target, *goal);
            let evidence = if let Some(unmet) = none_begin {
                Evidence::Unknown { reason: UnknownReason::NotFollowed(unmet.to_string()) }
            } else if elsewhere {
                let what = "runs that begin in another function may cover it".to_owned();
                Evidence::Unknown { reason: UnknownReason::NotFollowed(what) }
            } else if complete {
                self.complete(summary, bounds)
            } else {
                Evidence::Unknown { reason: reason(&self.loaded.map, reasons) }
            };
            (*goal, evidence)
        });
        let evidence: Vec<(Goal, Evidence)> = evidence.collect();
        self.record_evidence(&evidence)
    }

    /// The argument of an exploration with nothing cut off for an objective that meets some bounds of
    /// its own. What settings state of its assumptions is a precondition.
    fn complete(&self, summary: &Summary, bounds: &[Assumption]) -> Evidence {
        let all = summary.assumptions.iter().chain(&summary.bounds).chain(bounds).cloned();
        let spec = &self.loaded.spec;
        let is_stated = |one: &Assumption| spec.states(&self.loaded.program, self.entry, one);
        let (stated, assumed): (Vec<_>, Vec<_>) = all.partition(is_stated);
        let preconditions = self.loaded.surroundings.iter().chain(&summary.preconditions);
        let preconditions = preconditions.chain(stated.iter().map(|stated| &stated.sentence));
        let preconditions: Vec<&str> = preconditions.map(String::as_str).collect();
        Evidence::Complete {
            method: Evidence::EXPLORATION.to_owned(),
            preconditions: preconditions.join("; "),
            assumptions: abridged(assumed),
        }
    }

    /// Withdraws what an engine claims to be infeasible in the targets, since a claim of its was
    /// contradicted.
    fn withdraw(&mut self, engine: Engine, contradiction: &str) -> Result<(), Failure> {
        self.record(|_, _, recording| recording.withdraw(engine, contradiction).map(drop))
    }

    /// What the ledger says of objectives that are both covered and infeasible. Whatever the same
    /// exploration or proof claims of others is withdrawn.
    fn withdraw_contradicted(&mut self) -> Result<Vec<String>, Failure> {
        let mut sentences = Vec::new();
        for (sentence, error) in self.contradictory()? {
            for engine in [Engine::Exploration, Engine::Proof] {
                if error.infeasible.rests_on(engine) {
                    self.withdraw(engine, &sentence)?;
                }
            }
            sentences.push(sentence);
        }
        Ok(sentences)
    }

    /// The objectives that are both covered and infeasible, each as a sentence.
    fn contradictory(&self) -> Result<Vec<(String, Contradictory)>, Failure> {
        let mut all = Vec::new();
        for target in self.targets {
            let (function, accepted) = (self.function(target), self.accepted);
            let verdicts = self.ledger.lock().verdicts(function, &target.scope, accepted);
            let FunctionObjectives { labels, hypers, .. } = target.objectives;
            let labels = labels.values().map(|label| (&label.key, &label.place, &label.text));
            let hypers = hypers.values().map(|hyper| (&hyper.key, &hyper.place, &hyper.text));
            let known: FxHashMap<_, _> =
                labels.chain(hypers).map(|(key, place, text)| (key, (place, text))).collect();
            all.extend(verdicts.map_err(ledger::failure)?.into_iter().filter_map(|found| {
                let error = found.verdict.err()?;
                let (place, text) = known.get(&found.label)?;
                Some((format!("{place}: {text}: {error}"), error))
            }));
        }
        Ok(all)
    }

    fn rows(&self, target: &Target<'_>) -> Result<Vec<CriterionSummary>, Failure> {
        let FunctionObjectives { criteria, hyper_criteria, .. } = target.objectives;
        let criteria: Vec<Criterion> =
            criteria.keys().chain(hyper_criteria.keys()).copied().collect();
        let (function, accepted) = (self.function(target), self.accepted);
        let rows = self.ledger.lock().rows(function, &target.scope, &criteria, accepted);
        let mut rows = rows.map_err(ledger::failure)?;
        // The ledger has no row for a criterion that asks for nothing here.
        let all = criteria.into_iter().map(|criterion| {
            let known = rows.iter().position(|row| row.criterion == criterion);
            let row = known.map(|at| rows.swap_remove(at));
            row.unwrap_or_else(|| CriterionRow::count(criterion, Vec::new()))
        });
        Ok(all.map(CriterionSummary::from).collect())
    }

    /// What the criteria count of some objectives, in the order of the targets and of the criteria.
    fn entries_of(
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

impl Target<'_> {
    /// What identifies an objective of it.
    fn key(&self, goal: Goal) -> &LabelKey {
        match goal {
            Goal::Label(_, label) => &self.objectives.labels[label].key,
            Goal::Hyper(_, hyper) => &self.objectives.hypers[hyper].key,
        }
    }

    /// Where an objective of it is.
    fn place(&self, goal: Goal) -> &lydian_base::Place {
        match goal {
            Goal::Label(_, label) => &self.objectives.labels[label].place,
            Goal::Hyper(_, hyper) => &self.objectives.hypers[hyper].place,
        }
    }

    /// What its criteria count, duplicates aside, with the names that they give it; labels first. It
    /// is the target at a position.
    fn entries(&self, at: usize) -> impl Iterator<Item = (Goal, &str, Criterion)> {
        let counted = self.all_entries(at).filter(|entry| entry.same_as.is_none());
        counted.map(|entry| (entry.goal, entry.name, entry.criterion))
    }

    /// All that its criteria ask for, labels first. It is the target at a position.
    fn all_entries(&self, at: usize) -> impl Iterator<Item = Entry<'_>> {
        let FunctionObjectives { criteria, hyper_criteria, .. } = self.objectives;
        let labels = criteria.iter().flat_map(move |(&criterion, entries)| {
            entries.iter().map(move |entry| {
                let first = entry.duplicate_of.and_then(|first| entries.get(first as usize));
                let (goal, name) = (Goal::Label(at, entry.label), entry.name.as_str());
                Entry { criterion, name, goal, same_as: first.map(|first| first.name.as_str()) }
            })
        });
        let hypers = hyper_criteria.iter().flat_map(move |(&criterion, entries)| {
            entries.iter().map(move |entry| {
                let first = entry.duplicate_of.and_then(|first| entries.get(first as usize));
                let (goal, name) = (Goal::Hyper(at, entry.hyper), entry.name.as_str());
                Entry { criterion, name, goal, same_as: first.map(|first| first.name.as_str()) }
            })
        });
        labels.chain(hypers)
    }
}

/// What an exploration took.
fn in_numbers(summary: &Summary, last: Last) -> Exploration {
    let statistics = &summary.statistics;
    Exploration {
        paths: summary.path_count(),
        complete: summary.complete,
        steps: statistics.steps,
        queries: statistics.queries,
        seconds: statistics.total_time.as_secs_f64(),
        solver_seconds: statistics.solver_time.as_secs_f64(),
        paths_to_last: last.paths,
        seconds_to_last: last.seconds,
    }
}
