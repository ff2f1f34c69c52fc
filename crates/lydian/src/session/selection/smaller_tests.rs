//! The kept tests, each made smaller while the suite keeps its coverage.

use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
use lydian_objective::CoverageRecord;
use rustc_hash::FxHashSet;

use super::reduction::{Needs, Patience, SuiteNeeds, TestReduction};
use super::suite_minimisation::{self, Candidate};
use crate::error::Error;
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::{HyperlabelCoverage, MeasuredHyperlabel};
use crate::session::state::Session;

impl Session<'_, '_> {
    /// The tests, with the kept ones reduced in size while they still cover the same together. Tests that
    /// were made for an occurrence stay as they are: a smaller test may satisfy the transformed condition
    /// in another turn.
    pub(super) fn smaller_tests(
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
            candidates[position] =
                self.candidate(&all[position].1, &candidates[position], hyper_coverage);
        }
        Ok(all)
    }

    /// The hyperlabels of the targets that this evidence covers.
    pub(super) fn covered_hyperlabels(
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
    pub(super) fn drop_superfluous(
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
