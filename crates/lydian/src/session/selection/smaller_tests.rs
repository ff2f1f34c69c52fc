//! The kept tests, each made smaller while the suite keeps its coverage.

use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
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
        let hypers = self.targets.iter().flat_map(|target| {
            target.objectives.hypers.iter().map(|(hyper, _)| (target.index, hyper))
        });
        let hypers: Vec<MeasuredHyperlabel> =
            hypers.filter(|hyper| hyper_coverage.covers(*hyper, &has)).collect();
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
            let others: Vec<usize> =
                kept.iter().copied().filter(|other| *other != position).collect();
            let mut labels: FxHashSet<Goal> = candidates[position]
                .covers
                .iter()
                .filter(|goal| goal.label().is_some())
                .copied()
                .collect();
            let needs = if is_kept {
                for other in &others {
                    candidates[*other].covers.iter().for_each(|goal| _ = labels.remove(goal));
                }
                let others = suite_minimisation::coverage_together(candidates, &others);
                let open =
                    hypers.iter().copied().filter(|hyper| !hyper_coverage.covers(*hyper, &others));
                Needs { labels, hypers: open.collect(), others }
            } else {
                Needs { labels, hypers: Vec::new(), others: Vec::new() }
            };
            let suite = SuiteNeeds { needs: &needs, hyper_coverage, patience };
            let Some(smaller) = TestReduction::new(self, suite, &all[position]) else { continue };
            all[position] = smaller.run()?;
            candidates[position] =
                self.candidate(&all[position].1, &candidates[position], hyper_coverage);
        }
        Ok(all)
    }
}
