//! The choice of a suite's tests: few, small, and named after the objectives that they are kept for.

use std::time::Duration;

use lydian_base::Place;
use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
use lydian_report::OnDemand;
use lydian_report::suite::minimise::Effort;
use lydian_report::suite::names;
use rustc_hash::{FxHashMap, FxHashSet};

use super::goals::{Entry, Goal};
use super::hyperlabel_coverage::HyperlabelCoverage;
use super::state::{Session, SuiteCounts};
use crate::error::Error;
use crate::suite::KeptTest;
use purpose::MacroLine;
pub(crate) use suite_minimisation::Candidate;
use suite_minimisation::JointCover;

mod byte_holders;
mod kept_reduction;
mod kept_selection;
pub(super) mod kept_suite;
mod positions;
mod purpose;
mod reduction;
mod scripts;
mod smaller_tests;
mod suite_minimisation;
mod texts;
mod write_probes;

/// Tests for the suite, each with what it covers.
pub(crate) type WorthKeeping = Vec<(KeptTest, FxHashSet<Goal>)>;

/// A test that is chosen for the suite.
struct ChosenTest {
    test: Test,
    measured: MeasuredRun,
    /// What it covers.
    covers: FxHashSet<Goal>,
    /// What it covers that the tests before it do not.
    adds: FxHashSet<Goal>,
}

impl Session<'_, '_> {
    /// A small set of tests with the coverage of all tests, and the tests that do not end well. Each
    /// has the objectives that it covers alone, or is the last to cover together with others.
    pub(crate) fn tests_worth_keeping(
        &mut self,
        time: Option<Duration>,
    ) -> Result<WorthKeeping, Error> {
        let tests = self.known_tests()?;
        let all = self.measure_all(tests)?;
        let mut hyper_coverage = self.measured.hyper_coverage();
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
        let on_demand: Vec<Option<OnDemand>> =
            all.iter().map(|(test, measured)| self.on_demand(test, measured)).collect();
        prefer_default_tests(&on_demand, &mut candidates);
        let mut kept = suite_minimisation::minimise_suite(
            &candidates,
            &together,
            &hyper_coverage,
            self.options.minimise,
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
        let all = self.reduced(all, &mut candidates, &kept, &hyper_coverage, time)?;
        if self.options.minimise != Effort::None && !kept.is_empty() {
            self.drop_superfluous(&mut kept, &candidates, &hyper_coverage);
        }
        let mut names = self.names_of_new(&candidates, &all, &kept);
        let kept: FxHashSet<usize> = kept.into_iter().chain(of_occurrences).collect();
        let mut chosen = Vec::new();
        for (position, (test, measured)) in all.into_iter().enumerate() {
            let outcome = &measured.run.outcome;
            if !kept.contains(&position) && outcome.is_orderly() {
                continue;
            }
            let adds = names.remove(&position).unwrap_or_default();
            let covers = candidates[position].covers.iter().chain(&adds).copied().collect();
            chosen.push((position, ChosenTest { test, measured, covers, adds }));
        }
        self.keep_selection(&chosen);
        let mut worth = Vec::new();
        for (position, one) in chosen {
            let (mut kept, goals) = self.kept_test(one)?;
            kept.kept_for.extend(occurrences.get(&position).into_iter().flatten().cloned());
            worth.push((kept, goals));
        }
        Ok(worth)
    }

    /// A test of the suite, with all that it says, and what it covers.
    fn kept_test(&mut self, chosen: ChosenTest) -> Result<(KeptTest, FxHashSet<Goal>), Error> {
        let ChosenTest { test, measured, covers: goals, adds } = chosen;
        let (covers, mut kept_for) = (self.names_of(&adds), self.kept_for(&adds));
        let outcome = &measured.run.outcome;
        let fails_at = (!outcome.is_regular()).then(|| self.failing_place(&test)).flatten();
        // What it shows is all that a test is kept for which covers nothing that others do not.
        kept_for.extend(fails_at.as_ref().map(|place| format!("{place}: {outcome}")));
        let observed = self.observed(&test, &measured)?;
        let name = self.name_after(&adds);
        Ok((KeptTest { name, covers, kept_for, test, measured, observed, fails_at }, goals))
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
        let mut hyper_coverage = self.measured.hyper_coverage();
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

/// Removes from tests that run on demand the objectives that better tests cover: those that run by default
/// first, then each kind of the others.
fn prefer_default_tests(on_demand: &[Option<OnDemand>], candidates: &mut [Candidate<Goal>]) {
    let mut kinds: Vec<Option<OnDemand>> = on_demand.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let mut better: FxHashSet<Goal> = FxHashSet::default();
    for kind in kinds {
        let of_kind = || on_demand.iter().enumerate().filter(move |(_, other)| **other == kind);
        for (position, _) in of_kind() {
            candidates[position].covers.retain(|goal| !better.contains(goal));
        }
        better.extend(of_kind().flat_map(|(position, _)| &candidates[position].covers));
    }
}
