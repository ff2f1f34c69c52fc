//! The tests worth keeping: few that cover all that all of them cover.
//!
//! Labels, and hyperlabels that one run covers, make a set cover problem. A hyperlabel that only runs
//! together cover is none of its elements: where the chosen tests do not cover it, those that do
//! together are added, and at the end tests are dropped that nothing needs.

use indexmap::IndexSet;
use lydian_objective::CoverageRecord;
use lydian_report::suite::minimise::{Effort, minimise};
use rustc_hash::FxHashSet;

use crate::session::hyperlabel_coverage::{HyperOf, HyperlabelCoverage};

/// A test with what it covers.
pub(crate) struct Candidate<G> {
    /// What it covers by itself, in order.
    pub(crate) covers: Vec<G>,
    /// What it has that hyperlabels ask for, function by function.
    pub(crate) has: Vec<CoverageRecord>,
}

/// A hyperlabel that tests cover together, with tests that do.
pub(crate) struct JointCover {
    pub(crate) hyper: HyperOf,
    pub(crate) tests: Vec<usize>,
}

/// The positions of tests that together cover what all cover, in order.
pub(crate) fn minimise_suite<G: Copy + Eq + std::hash::Hash>(
    tests: &[Candidate<G>],
    together: &[JointCover],
    hyper_coverage: &HyperlabelCoverage<'_>,
    effort: Effort,
) -> Vec<usize> {
    let mut numbers: IndexSet<G> = IndexSet::new();
    let numbered = tests
        .iter()
        .map(|test| test.covers.iter().map(|goal| numbers.insert_full(*goal).0 as u32).collect());
    let numbered: Vec<Vec<u32>> = numbered.collect();
    let mut chosen = minimise(&numbered, effort);
    if effort == Effort::None || together.is_empty() {
        return chosen;
    }
    for one in together {
        if !hyper_coverage.covers(one.hyper, &coverage_together(tests, &chosen)) {
            chosen.extend(
                one.tests.iter().filter(|test| !chosen.contains(test)).copied().collect::<Vec<_>>(),
            );
        }
    }
    chosen.sort_unstable();
    drop_superfluous(tests, together, hyper_coverage, &numbered, &mut chosen);
    chosen
}

/// What some tests have together.
pub(crate) fn coverage_together<G>(
    tests: &[Candidate<G>],
    chosen: &[usize],
) -> Vec<CoverageRecord> {
    let functions = tests.first().map_or(0, |test| test.has.len());
    let mut all = vec![CoverageRecord::new(); functions];
    for at in chosen {
        all.iter_mut().zip(&tests[*at].has).for_each(|(all, own)| _ = all.merge(own));
    }
    all
}

fn drop_superfluous<G>(
    tests: &[Candidate<G>],
    together: &[JointCover],
    hyper_coverage: &HyperlabelCoverage<'_>,
    numbered: &[Vec<u32>],
    chosen: &mut Vec<usize>,
) {
    let needed: FxHashSet<u32> = numbered.iter().flatten().copied().collect();
    for at in chosen.clone().into_iter().rev() {
        let rest: Vec<usize> = chosen.iter().copied().filter(|other| *other != at).collect();
        let kept: FxHashSet<u32> = rest.iter().flat_map(|at| &numbered[*at]).copied().collect();
        let still = kept.len() == needed.len() && {
            let has = coverage_together(tests, &rest);
            together.iter().all(|one| hyper_coverage.covers(one.hyper, &has))
        };
        if still {
            *chosen = rest;
        }
    }
}
