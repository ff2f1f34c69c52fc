//! The evidence that a session records in its ledger, and the verdicts that follow.

use std::sync::Arc;

use indexmap::IndexSet;
use lydian_ir::test::Test;
use lydian_ledger::{LedgerError, LedgerTransaction, criterion_rows};
use lydian_native::MeasuredRun;
use lydian_objective::evidence::{Contradiction, Engine, Evidence, TestHash, UnknownReason};
use lydian_objective::{FunctionObjectives, LabelId};
use lydian_report::CriterionSummary;

use super::goals::{FunctionUnderTest, Goal, Verdicts};
use super::hyperlabel_coverage::{HyperlabelCoverage, MeasuredHyperlabel};
use super::state::{MeasuredTest, Session};
use crate::error::Error;
use crate::replay::keeper::Case;
use crate::replay::kept_case::ClaimedVerdict;

/// An objective that is both covered and infeasible.
struct ContradictoryGoal {
    goal: Goal,
    /// The error, for the user.
    sentence: String,
    error: Contradiction,
}

impl Session<'_, '_> {
    /// Records evidence for each function under test, by its position, all in one transaction.
    pub(crate) fn record(
        &mut self,
        mut fill: impl FnMut(
            usize,
            &FunctionUnderTest<'_>,
            &mut LedgerTransaction<'_>,
        ) -> Result<(), LedgerError>,
    ) -> Result<(), Error> {
        let Some(first) = self.targets.first() else { return Ok(()) };
        self.runs.verdicts.borrow_mut().clear();
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
        record().map_err(Error::from)
    }

    /// Records documents that evidence names.
    pub(crate) fn record_documents(&mut self, documents: &[(String, String)]) -> Result<(), Error> {
        if documents.is_empty() {
            return Ok(());
        }
        self.record(|at, _, recording| {
            let new = if at == 0 { documents } else { &[] };
            new.iter().try_for_each(|(name, text)| recording.document(name, text))
        })
    }

    /// Records evidence on objectives.
    pub(crate) fn record_evidence(&mut self, evidence: &[(Goal, Evidence)]) -> Result<(), Error> {
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
    pub(crate) fn known_tests(&self) -> Result<Vec<Test>, Error> {
        let mut known: IndexSet<Test> = IndexSet::new();
        for target in self.targets {
            let types = &self.project.program.types;
            let stored = self.ledger.lock().tests(self.function(target), &target.scope, types);
            let stored = stored.map_err(Error::from)?;
            known.extend(stored.into_iter().map(|stored| stored.test));
        }
        Ok(known.into_iter().collect())
    }

    /// Tests of earlier runs may cover current objectives, or survive an edit of the function.
    pub(crate) fn measure_known_tests(
        &mut self,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Result<(), Error> {
        let tests = self.known_tests()?;
        log::info!("{}: {} tests are known from before", self.name(), tests.len());
        let all = self.measure_all(tests)?;
        let is_recorded = self.knows_all(&all);
        let pending = all.into_iter();
        let pending =
            pending.map(|(test, measured)| self.measured_test(test, &measured, hyper_coverage));
        let pending: Vec<MeasuredTest> = pending.collect();
        if is_recorded {
            let covered = pending.iter().flat_map(|found| &found.covered);
            self.recorded.goals.extend(covered);
            return Ok(());
        }
        self.record_tests(pending)
    }

    /// A test of which nothing was claimed, with what it covers. Its hyperlabels are judged with it from
    /// now on.
    pub(crate) fn measured_test(
        &self,
        test: Test,
        measured: &MeasuredRun,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> MeasuredTest {
        MeasuredTest {
            covered: self.covered_by(measured),
            completes: self.completed_by(&test, measured, hyper_coverage),
            test,
            unconfirmed: None,
            uncounted: Vec::new(),
        }
    }

    /// The labels of all functions under test that a run covers, in order.
    pub(crate) fn covered_by(&self, measured: &MeasuredRun) -> Vec<Goal> {
        self.covered_in(&measured.covered)
    }

    /// The goals for covered labels, given for each measured function.
    pub(crate) fn covered_in(&self, covered: &[Vec<LabelId>]) -> Vec<Goal> {
        let all = self.targets.iter().enumerate();
        let labels = all.flat_map(|(at, target)| {
            covered[target.index].iter().map(move |label| Goal::Label(at, *label))
        });
        labels.collect()
    }

    /// Adds a test to those whose hyperlabels are judged. Returns the hyperlabels that it completes,
    /// each with the tests that cover it together.
    pub(crate) fn completed_by(
        &self,
        test: &Test,
        measured: &MeasuredRun,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
    ) -> Vec<(Goal, Vec<Test>)> {
        let found = hyper_coverage.add(test, measured).into_iter();
        let of_target = found.filter_map(|one| {
            let at = self.targets.iter().position(|target| target.index == one.hyper.0)?;
            Some((Goal::Hyper(at, one.hyper.1), one.tests))
        });
        of_target.collect()
    }

    /// The measured hyperlabel of a goal; none for a label.
    pub(crate) fn hyper_of(&self, goal: Goal) -> Option<MeasuredHyperlabel> {
        match goal {
            Goal::Label(..) => None,
            Goal::Hyper(target, hyper) => Some((self.targets[target].index, hyper)),
        }
    }

    /// The measurements of tests of the ledger. Those that no longer fit the program are left out.
    pub(crate) fn measure_all(
        &mut self,
        tests: Vec<Test>,
    ) -> Result<Vec<(Test, MeasuredRun)>, Error> {
        let mut kept = Vec::new();
        for test in tests {
            let known = self.recorded.measured.remove(&test);
            let measured = match known {
                Some(measured) => {
                    self.keep_run(&test, &measured);
                    Ok(measured)
                }
                None => self.measure_kept(&test)?,
            };
            kept.extend(measured.ok().map(|measured| (test, measured)));
        }
        Ok(kept)
    }

    pub(crate) fn record_tests(&mut self, mut pending: Vec<MeasuredTest>) -> Result<(), Error> {
        if pending.is_empty() {
            return Ok(());
        }
        for found in &mut pending {
            found.covered.retain(|goal| self.recorded.goals.insert(*goal));
        }
        let types = &self.project.program.types;
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

    /// The objectives of all functions under test without a verdict, in order.
    pub(crate) fn open_goals(&self) -> Result<Vec<Goal>, Error> {
        let mut left = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            left.extend(self.open_goals_of(at, target)?);
        }
        Ok(left)
    }

    /// The undecided objectives of a function under test.
    pub(crate) fn open_goals_of(
        &self,
        at: usize,
        target: &FunctionUnderTest<'_>,
    ) -> Result<Vec<Goal>, Error> {
        Ok(target.open_goals(at, &*self.verdicts(target)?))
    }

    /// The verdicts on the recorded objectives of a function under test. They are read anew after something
    /// was recorded.
    pub(crate) fn verdicts(&self, target: &FunctionUnderTest<'_>) -> Result<Arc<Verdicts>, Error> {
        if let Some(known) = self.runs.verdicts.borrow().get(&target.index) {
            return Ok(known.clone());
        }
        let read = Arc::new(self.standing().verdicts(target)?);
        self.runs.verdicts.borrow_mut().insert(target.index, read.clone());
        Ok(read)
    }

    /// Records the objectives of the functions under test, unless the ledger has them as they are.
    pub(crate) fn record_objectives(&mut self) -> Result<(), Error> {
        let is_known = |target: &FunctionUnderTest<'_>| {
            self.ledger.lock().has_objectives(self.function(target), target.objectives)
        };
        for target in self.targets {
            if !is_known(target).map_err(Error::from)? {
                // No verdict changes: an objective that is new to the ledger was not tried.
                let verdicts = self.runs.verdicts.take();
                self.record(|_, target, recording| recording.objectives(target.objectives))?;
                self.runs.verdicts.replace(verdicts);
                break;
            }
        }
        Ok(())
    }

    /// Withdraws the infeasible verdicts of an engine for the functions under test, because one of its
    /// claims was contradicted.
    pub(crate) fn withdraw(&mut self, engine: Engine, contradiction: &str) -> Result<(), Error> {
        self.record(|_, _, recording| recording.withdraw(engine, contradiction).map(drop))
    }

    /// The objectives that are both covered and infeasible, as sentences. All infeasible verdicts of
    /// the same exploration or proof are withdrawn.
    pub(crate) fn withdraw_contradicted(&mut self) -> Result<Vec<String>, Error> {
        let mut sentences = Vec::new();
        for contradiction in self.contradictory()? {
            let ContradictoryGoal { sentence, error, .. } = &contradiction;
            for engine in [Engine::Exploration, Engine::Proof] {
                if error.infeasible.rests_on(engine) {
                    self.withdraw(engine, sentence)?;
                }
            }
            sentences.push(self.keep_contradictory(contradiction)?);
        }
        Ok(sentences)
    }

    /// Keeps the tests that cover an infeasible objective. Returns the sentence about it.
    fn keep_contradictory(&self, contradiction: ContradictoryGoal) -> Result<String, Error> {
        let ContradictoryGoal { goal, sentence, error } = contradiction;
        let target = &self.targets[goal.target()];
        let types = &self.project.program.types;
        let stored = self.ledger.lock().tests(self.function(target), &target.scope, types);
        let stored = stored.map_err(Error::from)?.into_iter();
        let covering = stored.filter(|stored| error.covered.contains(&stored.hash));
        let mut covering: Vec<Test> = covering.map(|stored| stored.test).collect();
        let Some(test) = covering.pop() else { return Ok(sentence) };
        let engine = error.infeasible.method();
        self.records.keeper.keep(Case {
            sentence,
            test: &test,
            earlier: &covering,
            claims: self.claims([goal], engine, ClaimedVerdict::Infeasible),
            ending: None,
        })
    }

    /// The objectives that are both covered and infeasible.
    fn contradictory(&self) -> Result<Vec<ContradictoryGoal>, Error> {
        let mut all = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            let verdicts = self.verdicts(target)?;
            let FunctionObjectives { labels, hypers, .. } = target.objectives;
            let labels = labels.iter().map(|(id, label)| (&label.key, Goal::Label(at, id)));
            let hypers = hypers.iter().map(|(id, hyper)| (&hyper.key, Goal::Hyper(at, id)));
            all.extend(labels.chain(hypers).filter_map(|(key, goal)| {
                let error = verdicts.get(key)?.as_ref().err()?.clone();
                let (place, text) = (target.place(goal), self.text(goal));
                let sentence = format!("{place}: {text}: {error}");
                Some(ContradictoryGoal { goal, sentence, error })
            }));
        }
        Ok(all)
    }

    /// The counts of the criteria of a function under test.
    pub(crate) fn rows(
        &self,
        target: &FunctionUnderTest<'_>,
    ) -> Result<Vec<CriterionSummary>, Error> {
        let rows = criterion_rows(target.objectives, &*self.verdicts(target)?);
        Ok(rows.into_iter().map(CriterionSummary::from).collect())
    }
}
