//! The choice of a suite's tests: few, small, and named after the objectives that they are kept for.

use std::time::Duration;

use lydian_base::Place;
use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
use lydian_objective::CoverageRecord;
use lydian_report::suite::minimise::Effort;
use lydian_report::suite::names;
use rustc_hash::{FxHashMap, FxHashSet};

use super::goals::{Entry, Goal};
use super::hyperlabel_coverage::{HyperlabelCoverage, MeasuredHyperlabel};
use super::state::{Session, SuiteCounts};
use crate::error::Error;
use crate::suite::KeptTest;
use purpose::MacroLine;
use reduction::{Needs, Patience, SuiteNeeds, TestReduction};
pub(crate) use suite_minimisation::Candidate;
use suite_minimisation::JointCover;

mod purpose;
mod reduction;
mod suite_minimisation;
mod texts;
mod write_probes;

impl Session<'_, '_> {
    /// A small set of tests with the coverage of all tests, and the tests that do not end well. Each
    /// has the objectives that it covers alone, or is the last to cover together with others.
    pub(crate) fn tests_worth_keeping(
        &mut self,
        time: Option<Duration>,
    ) -> Result<Vec<(KeptTest, FxHashSet<Goal>)>, Error> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let mut hyper_coverage = HyperlabelCoverage::new(self.all);
        let mut together: Vec<JointCover> = Vec::new();
        let mut candidates: Vec<Candidate<Goal>> = Vec::new();
        for (test, measured) in &all {
            let found = self.completed_by(test, measured, &mut hyper_coverage);
            let position = |test: &Test| all.iter().position(|(known, _)| known == test);
            together.extend(found.into_iter().filter_map(|(goal, tests)| {
                let tests = tests.iter().filter_map(position).collect();
                Some(JointCover { hyper: self.hyper_of(goal)?, tests })
            }));
            let (covers, has) = (self.covered_by(measured), hyper_coverage.of_run(measured));
            candidates.push(Candidate { covers, has });
        }
        self.add_single(&mut candidates, &mut together, &hyper_coverage);
        prefer_good_ends(&all, &mut candidates);
        let mut kept = suite_minimisation::minimise_suite(
            &candidates,
            &together,
            &hyper_coverage,
            self.options.effort,
        );
        if self.recorded.augments {
            self.recorded.counts = SuiteCounts {
                all: all.len(),
                by_heuristic: self.count_by_heuristic(&all, &candidates),
                minimised: kept.len(),
            };
        }
        let of_occurrences = self.made_for_occurrences(&all);
        let occurrences: FxHashMap<usize, Vec<String>> =
            of_occurrences.iter().map(|at| (*at, self.occurrences_of(&all[*at].0))).collect();
        let all =
            self.smaller_tests(all, &mut candidates, &kept, &hyper_coverage, &Patience::of(time))?;
        if self.options.effort != Effort::None && !kept.is_empty() {
            self.drop_superfluous(&mut kept, &candidates, &hyper_coverage);
        }
        let mut names = self.names_of_new(&candidates, &all, &kept);
        let kept: FxHashSet<usize> = kept.into_iter().chain(of_occurrences).collect();
        let mut worth = Vec::new();
        for (position, (test, measured)) in all.into_iter().enumerate() {
            let outcome = &measured.run.outcome;
            if !kept.contains(&position) && outcome.is_orderly() {
                continue;
            }
            let new = names.remove(&position).unwrap_or_default();
            let (covers, mut kept_for) = (self.names_of(&new), self.kept_for(&new));
            kept_for.extend(occurrences.get(&position).into_iter().flatten().cloned());
            let (forecast, seen) = self.runner.observed(&test, outcome)?;
            let name = self.name_after(&new);
            let goals = candidates[position].covers.iter().copied().chain(new).collect();
            let kept = KeptTest { name, covers, kept_for, test, measured, seen, forecast };
            worth.push((kept, goals));
        }
        Ok(worth)
    }

    /// The tests, with the kept ones reduced in size while they still cover the same together. Tests that
    /// were made for an occurrence stay as they are: a smaller test may satisfy the transformed condition
    /// in another turn.
    fn smaller_tests(
        &mut self,
        mut all: Vec<(Test, MeasuredRun)>,
        candidates: &mut [Candidate<Goal>],
        kept: &[usize],
        hyper_coverage: &HyperlabelCoverage<'_>,
        patience: &Patience,
    ) -> Result<Vec<(Test, MeasuredRun)>, Error> {
        if all.is_empty() {
            return Ok(all);
        }
        let has = suite_minimisation::coverage_together(candidates, kept);
        let hypers = self.covered_hyperlabels(hyper_coverage, &has);
        // Tests that are kept only for their ending come last.
        let endings = (0..all.len()).filter(|position| {
            !kept.contains(position) && !all[*position].1.run.outcome.is_orderly()
        });
        let order = kept.iter().copied().chain(endings);
        let order: Vec<usize> =
            order.filter(|position| !self.is_for_occurrence(&all[*position].0)).collect();
        for position in order {
            if patience.is_late() {
                break;
            }
            let is_kept = kept.contains(&position);
            let needs = match is_kept {
                true => needs_of(position, kept, candidates, &hypers, hyper_coverage),
                false => {
                    let labels = candidates[position].covers.iter().filter(|goal| goal.is_label());
                    Needs { labels: labels.copied().collect(), ..Needs::default() }
                }
            };
            let suite = SuiteNeeds { needs: &needs, hyper_coverage, patience };
            let Some(smaller) = TestReduction::new(self, suite, &all[position]) else { continue };
            all[position] = smaller.run()?;
            let (covers, has) =
                (self.covered_by(&all[position].1), hyper_coverage.of_run(&all[position].1));
            let hypers = candidates[position].covers.iter().filter(|goal| goal.label().is_none());
            let hypers = hypers.filter(|goal| {
                self.hyper_of(**goal).is_some_and(|hyper| hyper_coverage.covers(hyper, &has))
            });
            let covers = covers.into_iter().chain(hypers.copied()).collect();
            candidates[position] = Candidate { covers, has };
        }
        Ok(all)
    }

    /// The hyperlabels of the targets that this evidence covers.
    fn covered_hyperlabels(
        &self,
        hyper_coverage: &HyperlabelCoverage<'_>,
        has: &[CoverageRecord],
    ) -> Vec<MeasuredHyperlabel> {
        let hypers = self.targets.iter().flat_map(|target| {
            target.objectives.hypers.iter().map(|(hyper, _)| (target.index, hyper))
        });
        hypers.filter(|hyper| hyper_coverage.covers(*hyper, has)).collect()
    }

    /// Drops kept tests that the others make superfluous since they were reduced, the last ones first.
    fn drop_superfluous(
        &self,
        kept: &mut Vec<usize>,
        candidates: &[Candidate<Goal>],
        hyper_coverage: &HyperlabelCoverage<'_>,
    ) {
        let has = suite_minimisation::coverage_together(candidates, kept);
        let hypers = self.covered_hyperlabels(hyper_coverage, &has);
        for position in kept.clone().into_iter().rev() {
            if needs_of(position, kept, candidates, &hypers, hyper_coverage).is_nothing() {
                kept.retain(|other| *other != position);
            }
        }
    }

    /// Hyperlabels that single tests cover are covered by these as labels are.
    fn add_single(
        &self,
        candidates: &mut [Candidate<Goal>],
        together: &mut Vec<JointCover>,
        hyper_coverage: &HyperlabelCoverage<'_>,
    ) {
        together.retain(|one| {
            if one.tests.len() != 1 {
                return true;
            }
            let at = self.targets.iter().position(|target| target.index == one.hyper.0);
            let goal = at.map(|at| Goal::Hyper(at, one.hyper.1));
            for candidate in candidates.iter_mut() {
                if hyper_coverage.covers(one.hyper, &candidate.has) {
                    candidate.covers.extend(goal);
                }
            }
            false
        });
    }

    /// The objectives that each kept test adds to those of the tests before it.
    fn names_of_new(
        &self,
        candidates: &[Candidate<Goal>],
        all: &[(Test, MeasuredRun)],
        kept: &[usize],
    ) -> FxHashMap<usize, FxHashSet<Goal>> {
        let mut seen: FxHashSet<Goal> = FxHashSet::default();
        let mut hyper_coverage = HyperlabelCoverage::new(self.all);
        let new = kept.iter().map(|position| {
            let (test, measured) = &all[*position];
            let completes = self.completed_by(test, measured, &mut hyper_coverage).into_iter();
            let goals = candidates[*position].covers.iter().copied();
            let goals = goals.chain(completes.map(|(goal, _)| goal));
            (*position, goals.filter(|goal| seen.insert(*goal)).collect())
        });
        new.collect()
    }

    /// The name of a test after the first objective that it adds, in the order of the functions and
    /// criteria. Objectives without words in C come last.
    fn name_after(&self, goals: &FxHashSet<Goal>) -> String {
        let mut last = None;
        for (target, Entry { goal, name: entry, .. }) in self.entries_of(goals) {
            let function = &self.project.program.functions[target.objectives.function].name;
            let words = match goal {
                Goal::Label(..) => self.words_of(target.place(goal), &self.text_with_macros(goal)),
                // Their texts are sentences, and their names have few words for people.
                Goal::Hyper(..) => String::new(),
            };
            if !words.is_empty() {
                return names::of_test(function, &words);
            }
            let words = match entry.split_whitespace().next() {
                Some("case" | "default") => names::words_of(&format!("{entry} ")),
                _ => format!("line_{}", target.place(goal).line),
            };
            last.get_or_insert_with(|| names::of_test(function, &words));
        }
        last.unwrap_or_else(|| self.name().to_owned())
    }

    /// A predicate as words; its line if macros hide the operands.
    fn words_of(&self, place: &Place, predicate: &str) -> String {
        match self.hidden_by_macros(place, predicate) {
            Some(MacroLine { line, is_negated }) => {
                let words = names::words_of_line(line);
                if is_negated { format!("not_{words}") } else { words }
            }
            None => names::words_of(names::last_part(predicate)),
        }
    }

    /// The criteria's names for some objectives.
    fn names_of(&self, goals: &FxHashSet<Goal>) -> Vec<String> {
        let named = self.entries_of(goals).map(|(target, Entry { name, criterion, .. })| {
            let function = &self.project.program.functions[target.objectives.function].name;
            match self.targets.len() {
                1 => format!("{criterion}: {name}"),
                _ => format!("{function}: {criterion}: {name}"),
            }
        });
        named.collect()
    }
}

/// What a kept test contributes that the other kept ones do not, of labels and of these hyperlabels.
fn needs_of(
    position: usize,
    kept: &[usize],
    candidates: &[Candidate<Goal>],
    hypers: &[MeasuredHyperlabel],
    hyper_coverage: &HyperlabelCoverage<'_>,
) -> Needs {
    let others: Vec<usize> = kept.iter().copied().filter(|other| *other != position).collect();
    let own = candidates[position].covers.iter().filter(|goal| goal.is_label());
    let mut labels: FxHashSet<Goal> = own.copied().collect();
    for other in &others {
        candidates[*other].covers.iter().for_each(|goal| _ = labels.remove(goal));
    }
    let others = suite_minimisation::coverage_together(candidates, &others);
    let open = hypers.iter().copied().filter(|hyper| !hyper_coverage.covers(*hyper, &others));
    Needs { labels, hypers: open.collect(), others }
}

/// Removes from other tests the objectives that tests cover which end well and do not reach out of the
/// program.
fn prefer_good_ends(all: &[(Test, MeasuredRun)], candidates: &mut [Candidate<Goal>]) {
    let ends_well = |(_, measured): &(Test, MeasuredRun)| {
        measured.run.outcome.is_orderly() && measured.run.attempts.is_empty()
    };
    let well = all.iter().zip(&*candidates).filter(|(test, _)| ends_well(test));
    let well: FxHashSet<Goal> = well.flat_map(|(_, one)| &one.covers).copied().collect();
    for (_, candidate) in all.iter().zip(candidates).filter(|(test, _)| !ends_well(test)) {
        candidate.covers.retain(|goal| !well.contains(goal));
    }
}
