//! What is called by tests, a function or a whole program, from objectives to their verdicts: what
//! the ledger knows, what its tests cover now, what is proved, what exploration finds and
//! measurement confirms.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indexmap::IndexSet;
use lydian_base::{Arena, Budget};
use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_native::{Measured, Outcome};
use lydian_objective::ledger::{
    CriterionRow, Evidence, FunctionName, Ledger, Scope, TestHash, UnknownReason, Verdict,
};
use lydian_objective::{Criterion, FunctionObjectives, Label, LabelId};
use lydian_prove::local::{LocalProver, Semantics};
use lydian_report::CriterionSummary;
use lydian_report::minimise::{Effort, minimise};
use lydian_report::names;
use lydian_smt::{ChainConfig, TermPool, standard_chain};
use lydian_symex::exec::{Event, Unreached};
use lydian_symex::{Config, Cut, Ending, FoundTest, LabelRef, Summary, explore};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counting::Counting;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::progress::Progress;
use crate::suite::Kept;
use crate::{ledger, output};

/// How long one local proof may take: most take no time at all, the others are left to exploration.
const PROOF_TIME: Duration = Duration::from_millis(200);

/// Committing to the ledger may take one part of so many of an exploration's time. Findings come in
/// bursts with long silence after them, so they do not wait for a fixed time.
const COMMIT_SHARE: u32 = 10;

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
    pub(crate) unit: &'a str,
    pub(crate) counting: &'a mut Counting<'m>,
    pub(crate) ledger: &'a mut Ledger,
    /// Where tests that contradict a claim are kept.
    pub(crate) replay_folder: PathBuf,
    pub(crate) progress: &'a Progress,
    /// How small the suite is made.
    pub(crate) effort: Effort,
}

/// What came of it.
pub(crate) struct Settled {
    /// For each target.
    pub(crate) rows: Vec<Vec<CriterionSummary>>,
    /// The tests worth keeping, with what was measured.
    pub(crate) tests: Vec<Kept>,
    /// One sentence for each internal error.
    pub(crate) contradictions: Vec<String>,
}

/// A test that was run, waiting to be recorded.
struct Pending {
    test: Test,
    /// What it covers.
    covered: Vec<Goal>,
    /// Claims that measuring did not confirm, and what it showed instead.
    unconfirmed: Option<(Vec<Goal>, String)>,
}

/// A label of a target, by the target's position.
type Goal = (usize, LabelId);

impl<'a> Session<'a, '_> {
    /// Does the work. What was found until a limit or Ctrl-C is in the ledger.
    pub(crate) fn run(&mut self, config: &Config, budget: &Budget) -> Result<Settled, Failure> {
        for target in self.targets {
            let objectives = target.objectives;
            self.record(target, |recording| recording.objectives(objectives))?;
        }
        self.measure_known_tests()?;
        self.prove(config, budget)?;
        let mut contradictions = Vec::new();
        let left = self.left()?;
        if !left.is_empty() && !budget.cancel_token().is_cancelled() {
            self.explore(&left, config, budget, &mut contradictions)?;
        }
        contradictions.extend(self.contradictory()?);
        let rows = self.targets.iter().map(|target| self.rows(target));
        let rows = rows.collect::<Result<_, _>>()?;
        let tests = self.tests_worth_keeping()?;
        Ok(Settled { rows, tests, contradictions })
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

    fn record(
        &mut self,
        target: &Target<'_>,
        fill: impl FnOnce(
            &mut lydian_objective::ledger::Recording<'_>,
        ) -> Result<(), lydian_objective::ledger::LedgerError>,
    ) -> Result<(), Failure> {
        let function = self.function(target);
        let mut recording = self.ledger.record(function, &target.scope).map_err(ledger::failure)?;
        fill(&mut recording).map_err(ledger::failure)?;
        recording.commit().map_err(ledger::failure)
    }

    /// The tests of earlier runs and of this one, without those that contradicted a claim.
    fn known_tests(&self) -> Result<Vec<Test>, Failure> {
        let mut known: IndexSet<Test> = IndexSet::new();
        for target in self.targets {
            let types = &self.loaded.program.types;
            let stored = self.ledger.tests(self.function(target), &target.scope, types);
            let stored = stored.map_err(ledger::failure)?;
            known.extend(stored.into_iter().map(|stored| stored.test));
        }
        Ok(known.into_iter().collect())
    }

    /// Tests of earlier runs may cover what is asked for now, or survive an edit of the function.
    fn measure_known_tests(&mut self) -> Result<(), Failure> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let pending = all.into_iter().map(|(test, measured)| Pending {
            covered: self.covered_by(&measured),
            test,
            unconfirmed: None,
        });
        let pending = pending.collect();
        self.record_tests(pending)
    }

    /// The labels of all targets that a run covers, in order.
    fn covered_by(&self, measured: &Measured) -> Vec<Goal> {
        let all = self.targets.iter().enumerate();
        let labels = all.flat_map(|(at, target)| {
            measured.covered[target.index].iter().map(move |label| (at, *label))
        });
        labels.collect()
    }

    /// Runs tests of the ledger; those that no longer fit the program are left out.
    fn measure_all(&mut self, tests: Vec<Test>) -> Result<Vec<(Test, Measured)>, Failure> {
        let mut kept = Vec::new();
        for test in tests {
            if let Ok(measured) = self.counting.measure(&test)? {
                kept.push((test, measured));
            }
        }
        Ok(kept)
    }

    fn record_tests(&mut self, pending: Vec<Pending>) -> Result<(), Failure> {
        if pending.is_empty() {
            return Ok(());
        }
        let types = &self.loaded.program.types;
        for (at, target) in self.targets.iter().enumerate() {
            let labels = &target.objectives.labels;
            let of_target = |goals: &[Goal]| -> Vec<LabelId> {
                goals.iter().filter(|goal| goal.0 == at).map(|goal| goal.1).collect()
            };
            self.record(target, |recording| {
                for found in &pending {
                    let covered = of_target(&found.covered);
                    let unconfirmed = found.unconfirmed.as_ref();
                    let claimed = unconfirmed.map(|(claimed, _)| of_target(claimed));
                    let claimed = claimed.unwrap_or_default();
                    if at > 0 && covered.is_empty() && claimed.is_empty() {
                        continue;
                    }
                    let hash: TestHash = recording.test(&found.test, types)?;
                    for label in covered {
                        let evidence = Evidence::Measured { test: hash.clone() };
                        recording.evidence(&labels[label].key, &evidence)?;
                    }
                    for label in claimed {
                        let evidence = Evidence::Unconfirmed {
                            claimed_by: "exploration".into(),
                            test: hash.clone(),
                            measured: unconfirmed.map(|(_, what)| what.clone()).unwrap_or_default(),
                        };
                        recording.evidence(&labels[label].key, &evidence)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Labels whose predicate no state satisfies are infeasible, explored or not.
    fn prove(&mut self, config: &Config, budget: &Budget) -> Result<(), Failure> {
        self.targets.iter().try_for_each(|target| self.prove_of(target, config, budget))
    }

    fn prove_of(
        &mut self,
        target: &Target<'_>,
        config: &Config,
        budget: &Budget,
    ) -> Result<(), Failure> {
        let program = &self.loaded.program;
        let objectives = target.objectives;
        let Some(body) = &program.functions[objectives.function].body else { return Ok(()) };
        let semantics = Semantics {
            overflow: config.overflow,
            short_circuit: config.unreached == Unreached::Unknown,
        };
        let mut prover = LocalProver::new(&program.types, body, objectives, semantics);
        let (mut pool, mut solver) = (TermPool::new(), standard_chain(&ChainConfig::default()));
        let mut limits = lydian_smt::Limits::time(PROOF_TIME);
        limits.interrupt = Some(budget.cancel_token().flag().clone());
        let labels = &objectives.labels;
        let mut proofs = Vec::new();
        for label in self.left_of(target)? {
            if budget.exceeded().is_some() {
                break;
            }
            let outcome = prover.prove(&mut pool, &mut *solver, &limits, &labels[label]);
            proofs.extend(outcome.evidence().map(|evidence| (label, evidence)));
        }
        self.record(target, |recording| {
            proofs
                .iter()
                .try_for_each(|(label, proof)| recording.evidence(&labels[*label].key, proof))
        })
    }

    /// The labels of all targets without a verdict, in order.
    fn left(&self) -> Result<Vec<Goal>, Failure> {
        let mut left = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            left.extend(self.left_of(target)?.into_iter().map(|label| (at, label)));
        }
        Ok(left)
    }

    /// The labels of a target without a verdict, in order.
    fn left_of(&self, target: &Target<'_>) -> Result<Vec<LabelId>, Failure> {
        let verdicts = self.ledger.verdicts(self.function(target), &target.scope);
        let verdicts = verdicts.map_err(ledger::failure)?;
        let settled: FxHashSet<_> = verdicts
            .into_iter()
            .filter(|found| !matches!(found.verdict, Ok(Verdict::Unknown { .. })))
            .map(|found| found.label)
            .collect();
        let labels = target.objectives.labels.iter();
        Ok(labels.filter(|(_, label)| !settled.contains(&label.key)).map(|(id, _)| id).collect())
    }

    fn explore(
        &mut self,
        left: &[Goal],
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let left = Left::new(self.targets, left);
        let objectives = left.objectives(self.targets);
        let (program, spec, entry) = (&self.loaded.program, &self.loaded.spec, self.entry);
        let mut solver = standard_chain(&ChainConfig::default());
        let mut pending = Vec::new();
        let mut next_commit = Instant::now();
        let mut trouble = None;
        let progress = self.progress;
        let mut sink = |event: Event| match event {
            Event::Test(_) if trouble.is_some() => {}
            event => {
                let handle = || -> Result<(), Failure> {
                    match event {
                        Event::Progress(counters) => progress.update(&counters),
                        Event::Test(found) => {
                            pending.extend(self.confirm(*found, &left, contradictions)?);
                        }
                    }
                    let begun = Instant::now();
                    if !pending.is_empty() && begun >= next_commit {
                        self.record_tests(std::mem::take(&mut pending))?;
                        next_commit = Instant::now() + COMMIT_SHARE * begun.elapsed();
                    }
                    Ok(())
                };
                if let Err(failure) = handle() {
                    budget.cancel_token().cancel();
                    trouble = Some(failure);
                }
            }
        };
        let summary =
            explore(program, entry, spec, &objectives, config, &mut *solver, budget, &mut sink);
        if let Some(failure) = trouble {
            return Err(failure);
        }
        self.record_tests(pending)?;
        match summary {
            Ok(summary) => self.record_left(&summary, &left),
            Err(error) => Err(Failure::usage("inputs", error.to_string())),
        }
    }

    /// Runs a test natively and holds it against what the exploration claimed.
    fn confirm(
        &mut self,
        found: FoundTest,
        left: &Left,
        contradictions: &mut Vec<String>,
    ) -> Result<Option<Pending>, Failure> {
        let claimed: Vec<Goal> = found.covers.iter().map(|claim| left.goal(*claim)).collect();
        let test = found.test;
        let measured = match self.counting.measure(&test)? {
            Ok(measured) => measured,
            Err(error) => {
                let kept = self.keep_for_replay(&test, contradictions.len())?;
                let kept = kept.display();
                contradictions
                    .push(format!("a generated test cannot be run: {error}; kept in {kept}"));
                return Ok(None);
            }
        };
        if measured.run.outcome == Outcome::Assumption && matches!(found.ending, Ending::Cut(_)) {
            // The exploration did not follow the path to the assumption.
            return Ok(None);
        }
        let covered = self.covered_by(&measured);
        let missing: Vec<Goal> =
            claimed.iter().copied().filter(|goal| !covered.contains(goal)).collect();
        let ended_as_claimed = agrees(&found.ending, &measured.run.outcome);
        if missing.is_empty() && ended_as_claimed {
            return Ok(Some(Pending { test, covered, unconfirmed: None }));
        }
        let what =
            format!("claimed to end so: {}; ended so: {}", found.ending, measured.run.outcome);
        let missed: Vec<&str> =
            missing.iter().map(|goal| self.label(*goal).text.as_str()).collect();
        let kept = self.keep_for_replay(&test, contradictions.len())?;
        contradictions.push(format!(
            "a test does not do what exploration claimed ({what}; not covered: {}); kept in {}",
            if missed.is_empty() { "nothing".into() } else { missed.join("; ") },
            kept.display()
        ));
        let missing = if ended_as_claimed { missing } else { claimed };
        if missing.is_empty() {
            // Nothing in the ledger would tell it from tests that did as foreseen.
            return Ok(None);
        }
        Ok(Some(Pending { test, covered: Vec::new(), unconfirmed: Some((missing, what)) }))
    }

    fn label(&self, (target, label): Goal) -> &'a Label {
        &self.targets[target].objectives.labels[label]
    }

    fn keep_for_replay(&self, test: &Test, number: usize) -> Result<PathBuf, Failure> {
        output::folder(&self.replay_folder)?;
        let path = self.replay_folder.join(format!("{}-{number}.json", self.name()));
        let text = serde_json::to_string_pretty(test).expect("a test is valid JSON");
        output::file(&path, &text)?;
        Ok(path)
    }

    /// Evidence on what exploration left: infeasible if nothing was cut off, else why unknown.
    fn record_left(&mut self, summary: &Summary, left: &Left) -> Result<(), Failure> {
        let surroundings = &self.loaded.surroundings;
        let preconditions: Vec<&str> =
            surroundings.iter().chain(&summary.assumptions).map(String::as_str).collect();
        let preconditions = preconditions.join("; ");
        for (at, target) in self.targets.iter().enumerate() {
            let labels = &target.objectives.labels;
            self.record(target, |recording| {
                let goals = summary.left.iter().map(|label| (left.goal(label.label), label));
                for ((_, id), label) in goals.filter(|(goal, _)| goal.0 == at) {
                    let key = &labels[id].key;
                    let complete = summary.complete && label.reasons.is_empty();
                    let evidence = if complete && summary.bounds.is_empty() {
                        Evidence::Complete {
                            method: "complete exploration".into(),
                            preconditions: preconditions.clone(),
                        }
                    } else if complete {
                        let bounds = summary.bounds.join("; ");
                        Evidence::Unknown { reason: UnknownReason::InputBounds(bounds) }
                    } else {
                        let cuts = label.reasons.iter().chain(summary.cuts.keys());
                        Evidence::Unknown { reason: reason(cuts) }
                    };
                    recording.evidence(key, &evidence)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// What the ledger says of labels that are both covered and infeasible.
    fn contradictory(&self) -> Result<Vec<String>, Failure> {
        let mut all = Vec::new();
        for target in self.targets {
            let verdicts = self.ledger.verdicts(self.function(target), &target.scope);
            let labels = &target.objectives.labels;
            let of_key = |key| labels.values().find(|label| label.key == key);
            all.extend(verdicts.map_err(ledger::failure)?.into_iter().filter_map(|found| {
                let error = found.verdict.err()?;
                let label = of_key(found.label)?;
                Some(format!("{}: {}: {error}", label.place, label.text))
            }));
        }
        Ok(all)
    }

    fn rows(&self, target: &Target<'_>) -> Result<Vec<CriterionSummary>, Failure> {
        let criteria: Vec<Criterion> = target.objectives.criteria.keys().copied().collect();
        let rows = self.ledger.rows(self.function(target), &target.scope, &criteria);
        let mut rows = rows.map_err(ledger::failure)?;
        // The ledger has no row for a criterion that asks for nothing here.
        let all = criteria.into_iter().map(|criterion| {
            let known = rows.iter().position(|row| row.criterion == criterion);
            let row = known.map(|at| rows.swap_remove(at));
            row.unwrap_or_else(|| CriterionRow::count(criterion, Vec::new()))
        });
        Ok(all.map(CriterionSummary::from).collect())
    }

    /// A small set of tests that covers all that is covered, and those that do not end well.
    fn tests_worth_keeping(&mut self) -> Result<Vec<Kept>, Failure> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let covered: Vec<Vec<Goal>> =
            all.iter().map(|(_, measured)| self.covered_by(measured)).collect();
        let mut new = reduce(&covered, self.effort);
        let kept = all.into_iter().enumerate().filter_map(|(position, (test, measured))| {
            let new = new.remove(&position);
            let wanted = new.is_some() || !measured.run.outcome.is_orderly();
            let new = new.unwrap_or_default();
            let covers = self.names_of(&new);
            wanted.then(|| Kept { name: self.name_after(&new), covers, test, measured })
        });
        Ok(kept.collect())
    }

    /// The name of a test after the first thing that it adds, in the order of the targets and of the
    /// criteria; things that C has no words for come last.
    fn name_after(&self, labels: &FxHashSet<Goal>) -> String {
        let mut last = None;
        for (at, target) in self.targets.iter().enumerate() {
            let function = &self.loaded.program.functions[target.objectives.function].name;
            for entry in target.objectives.criteria.values().flatten() {
                if !labels.contains(&(at, entry.label)) {
                    continue;
                }
                let label = &target.objectives.labels[entry.label];
                let words = names::words_of(&label.text);
                if !words.is_empty() {
                    return format!("{function}_{words}");
                }
                let words = match entry.name.split_whitespace().next() {
                    Some("case" | "default") => names::words_of(&format!("{} ", entry.name)),
                    _ => format!("line_{}", label.place.line),
                };
                last.get_or_insert_with(|| format!("{function}_{words}"));
            }
        }
        last.unwrap_or_else(|| self.name().to_owned())
    }

    /// What the criteria call some labels.
    fn names_of(&self, labels: &FxHashSet<Goal>) -> Vec<String> {
        let mut named = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            let function = &self.loaded.program.functions[target.objectives.function].name;
            let of = if self.targets.len() > 1 { format!("{function}: ") } else { String::new() };
            for (criterion, entries) in &target.objectives.criteria {
                let new = |entry: &&lydian_objective::Entry| {
                    labels.contains(&(at, entry.label)) && entry.duplicate_of.is_none()
                };
                let entries = entries.iter().filter(new);
                named.extend(entries.map(|entry| format!("{of}{criterion}: {}", entry.name)));
            }
        }
        named
    }
}

/// The positions of tests that together cover what all cover, each with what it adds to those before
/// it.
fn reduce(covered: &[Vec<Goal>], effort: Effort) -> FxHashMap<usize, FxHashSet<Goal>> {
    let mut numbers: IndexSet<Goal> = IndexSet::new();
    let numbered = covered
        .iter()
        .map(|goals| goals.iter().map(|goal| numbers.insert_full(*goal).0 as u32).collect());
    let numbered: Vec<Vec<u32>> = numbered.collect();
    let mut seen: FxHashSet<Goal> = FxHashSet::default();
    let chosen = minimise(&numbered, effort).into_iter().map(|position| {
        let new = covered[position].iter().copied().filter(|goal| seen.insert(*goal));
        (position, new.collect())
    });
    chosen.collect()
}

/// The labels that are explored, numbered anew in each target.
struct Left {
    /// For each target its function and its labels in the order of their new numbers.
    targets: Vec<(FuncId, Vec<LabelId>)>,
}

impl Left {
    fn new(targets: &[Target<'_>], left: &[Goal]) -> Self {
        let of_target = |(at, target): (usize, &Target<'_>)| {
            let labels = left.iter().filter(|goal| goal.0 == at).map(|goal| goal.1);
            (target.objectives.function, labels.collect())
        };
        Self { targets: targets.iter().enumerate().map(of_target).collect() }
    }

    /// The objectives of the targets that have any left.
    fn objectives(&self, targets: &[Target<'_>]) -> Vec<FunctionObjectives> {
        let all = targets.iter().zip(&self.targets);
        let some = all.filter(|(_, (_, labels))| !labels.is_empty());
        some.map(|(target, (_, labels))| only(target.objectives, labels)).collect()
    }

    fn goal(&self, label: LabelRef) -> Goal {
        use lydian_base::EntityId as _;
        let at = self.targets.iter().position(|(function, _)| *function == label.func);
        let at = at.expect("only labels of the targets are explored");
        (at, self.targets[at].1[label.label.index()])
    }
}

/// The objectives with only these labels, numbered anew in their order.
fn only(objectives: &FunctionObjectives, labels: &[LabelId]) -> FunctionObjectives {
    let labels: Arena<LabelId, _> =
        labels.iter().map(|label| objectives.labels[*label].clone()).collect();
    FunctionObjectives {
        function: objectives.function,
        exprs: objectives.exprs.clone(),
        labels,
        criteria: indexmap::IndexMap::new(),
        sequences: Arena::new(),
        hypers: Arena::new(),
        hyper_criteria: indexmap::IndexMap::new(),
    }
}

/// Whether a run ended as foreseen. Undefined behaviour may end any way.
fn agrees(claimed: &Ending, outcome: &Outcome) -> bool {
    match claimed {
        Ending::Returned => matches!(outcome, Outcome::Returned(_)),
        Ending::Exited => {
            matches!(outcome, Outcome::Exited(_) | Outcome::Aborted | Outcome::EndedBy(_))
        }
        Ending::Assumption => matches!(outcome, Outcome::Assumption),
        Ending::Trapped(_) | Ending::Cut(_) => true,
    }
}

/// The reason to show of several: what the user can change least comes first.
fn reason<'c>(cuts: impl Iterator<Item = &'c Cut>) -> UnknownReason {
    let weight = |cut: &&Cut| match cut {
        Cut::Unsupported(_) => 0,
        Cut::Stopped(_) => 1,
        Cut::Solver(_) => 2,
        Cut::Undefined | Cut::Assumption => 3,
        Cut::LoopBound(_) | Cut::Recursion(_) | Cut::CallDepth(_) | Cut::PathSteps(_) => 4,
    };
    let bound = |what: &str, limit: u64| UnknownReason::Bound { what: what.into(), limit };
    match cuts.min_by_key(weight) {
        None => UnknownReason::NotTried,
        Some(Cut::Stopped(reason)) => UnknownReason::Budget(*reason),
        Some(Cut::LoopBound(limit)) => bound("loop", u64::from(*limit)),
        Some(Cut::Recursion(limit)) => bound("recursion", u64::from(*limit)),
        Some(Cut::CallDepth(limit)) => bound("call depth", u64::from(*limit)),
        Some(Cut::PathSteps(limit)) => bound("path length", *limit),
        Some(Cut::Solver(_)) => UnknownReason::SolverGaveUp,
        Some(cut @ (Cut::Unsupported(_) | Cut::Undefined | Cut::Assumption)) => {
            UnknownReason::NotFollowed(cut.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId as _;

    use super::*;

    #[test]
    fn the_reduced_suite_covers_all_and_each_test_says_what_it_adds() {
        let labels: Vec<LabelId> = (0..5).map(LabelId::from_index).collect();
        let of = |all: &[usize]| all.iter().map(|at| (0, labels[*at])).collect::<Vec<Goal>>();
        let chosen = reduce(&[of(&[0]), of(&[0, 1, 2]), of(&[2, 3])], Effort::Exact);
        let mut positions: Vec<usize> = chosen.keys().copied().collect();
        positions.sort_unstable();
        assert_eq!(positions, [1, 2]);
        assert_eq!((chosen[&1].len(), chosen[&2].len()), (3, 1));
    }

    #[test]
    fn what_the_user_can_change_least_is_the_reason_that_is_shown() {
        let cuts = [Cut::LoopBound(8), Cut::Unsupported("longjmp".into())];
        assert!(reason(cuts.iter()).to_string().contains("longjmp"));
        assert_eq!(reason(cuts[..1].iter()).to_string(), "loop bound of 8");
    }
}
