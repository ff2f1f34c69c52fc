//! Augmented exploration in a session: which objectives it explores, what it notes of tests, and its
//! figures.
//!
//! Augmentation follows the paths that cover something new. So an exploration with augmentation covers
//! all objectives again that are not infeasible, also those that tests of earlier runs cover.

use std::cmp::Reverse;

use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
use lydian_report::AugmentationFigures;
use lydian_symex::{Config, FoundTest, Summary};
use rustc_hash::FxHashSet;

use super::goals::Goal;
use super::open_objectives::OpenObjectives;
use super::selection::Candidate;
use super::state::{MadeTest, Session, SuiteCounts};
use crate::error::Error;

impl Session<'_, '_> {
    /// The objectives that the main exploration looks for. With augmentation, covered labels are among
    /// them, unless nothing is open. Where each occurrence is transformed, covered transformed
    /// conditions are among them in any case: the ledger does not know which occurrence a test is for.
    pub(crate) fn goals_to_explore(&self, config: &Config) -> Result<Vec<Goal>, Error> {
        let mut left = self.open_goals()?;
        let Some(augmentation) = config.augmentation else { return Ok(left) };
        let each = augmentation.each_occurrence;
        if left.is_empty() && !each {
            return Ok(left);
        }
        let known: FxHashSet<Goal> = left.iter().copied().collect();
        let entries = self.entries_of(&self.recorded.goals);
        let again = entries.filter(|(_, entry)| each || !entry.criterion.is_of_augmentation());
        let labels = again.map(|(_, entry)| entry.goal).filter(|goal| goal.label().is_some());
        let covered: FxHashSet<Goal> = labels.filter(|goal| !known.contains(goal)).collect();
        left.extend(covered);
        left.sort_unstable();
        Ok(left)
    }

    /// Removes the objectives that only criteria of augmentation count.
    pub(crate) fn remove_transformed(&self, goals: &mut Vec<Goal>) {
        let all: FxHashSet<Goal> = goals.iter().copied().collect();
        let others = self.entries_of(&all);
        let others = others.filter(|(_, entry)| !entry.criterion.is_of_augmentation());
        let others: FxHashSet<Goal> = others.map(|(_, entry)| entry.goal).collect();
        goals.retain(|goal| others.contains(goal));
    }

    /// Notes why an exploration made a test, in a session with augmentation.
    pub(crate) fn note_made(&mut self, found: &FoundTest, open: &OpenObjectives) {
        if !self.recorded.augments {
            return;
        }
        let made = self.recorded.made.entry(found.test.clone()).or_default();
        made.facts = made.facts.max(found.facts);
        made.covers.extend(found.covers.iter().filter_map(|label| open.label(*label)));
        let turns = found.transformed.iter();
        let turns = turns.filter_map(|(label, turn)| Some((open.label(*label)?, *turn)));
        made.transformed.extend(turns);
    }

    /// Whether a test was made to satisfy transformed conditions at one occurrence.
    pub(crate) fn is_for_occurrence(&self, test: &Test) -> bool {
        self.recorded.made.get(test).is_some_and(|made| !made.transformed.is_empty())
    }

    /// The tests that were made to satisfy transformed conditions at one occurrence.
    pub(crate) fn made_for_occurrences(&self, all: &[(Test, MeasuredRun)]) -> Vec<usize> {
        let all = all.iter().enumerate();
        let own = all.filter(|(_, (test, _))| self.is_for_occurrence(test));
        own.map(|(position, _)| position).collect()
    }

    /// A sentence for each transformed condition that a test was made to satisfy at one occurrence.
    pub(crate) fn occurrences_of(&self, test: &Test) -> Vec<String> {
        let made = self.recorded.made.get(test);
        let turns = made.into_iter().flat_map(|made| &made.transformed);
        let sentences = turns.flat_map(|(goal, turn)| {
            let goals = FxHashSet::from_iter([*goal]);
            let names: Vec<String> = self
                .entries_of(&goals)
                .filter(|(_, entry)| entry.criterion.is_of_augmentation())
                .map(|(target, entry)| {
                    let line = target.place(*goal).line;
                    format!("line {line}, turn {turn}: {}", entry.name)
                })
                .collect();
            names
        });
        sentences.collect()
    }

    /// The number of tests that the heuristic of [004] 3.3 keeps. Tests are taken by descending length of
    /// the path conditions that they solve. A test is kept if no test before it satisfies what it was
    /// made for.
    pub(crate) fn count_by_heuristic(
        &self,
        all: &[(Test, MeasuredRun)],
        candidates: &[Candidate<Goal>],
    ) -> usize {
        let none = MadeTest::default();
        let made = |at: usize| self.recorded.made.get(&all[at].0).unwrap_or(&none);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|at| Reverse(made(*at).facts));
        let mut satisfied: FxHashSet<Goal> = FxHashSet::default();
        let kept = order.into_iter().filter(|at| {
            let covers = &candidates[*at].covers;
            let made_for = Some(&made(*at).covers).filter(|own| !own.is_empty()).unwrap_or(covers);
            let is_kept = made_for.iter().any(|goal| !satisfied.contains(goal));
            if is_kept {
                satisfied.extend(covers);
            }
            is_kept
        });
        kept.count()
    }

    /// The figures of augmentation.
    pub(crate) fn augmentation_figures(
        &self,
        config: &Config,
        summary: &Summary,
    ) -> Option<AugmentationFigures> {
        config.augmentation?;
        let SuiteCounts { all, by_heuristic, minimised } = self.recorded.counts;
        let questions = summary.statistics.augmented_queries;
        Some(AugmentationFigures { questions, tests: all, by_heuristic, minimised })
    }
}
