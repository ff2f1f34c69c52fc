//! Suite minimisation: few tests with the coverage of all tests.
//!
//! Labels, and hyperlabels that one run covers, make a set cover problem. Hyperlabels that only several
//! runs cover together are no elements of it. If the chosen tests do not cover such a hyperlabel, tests
//! that cover it together are added, and at the end redundant tests are dropped.

use indexmap::IndexSet;
use lydian_objective::CoverageRecord;
use lydian_report::suite::minimise::{Effort, minimise};
use rustc_hash::FxHashSet;

use crate::session::hyperlabel_coverage::{HyperlabelCoverage, MeasuredHyperlabel};

/// A test with its coverage.
#[derive(Clone)]
pub(crate) struct Candidate<G> {
    /// The objectives that it covers by itself, in order.
    pub(crate) covers: Vec<G>,
    /// Its evidence for hyperlabels, for each function.
    pub(crate) has: Vec<CoverageRecord>,
}

/// A hyperlabel that tests cover together, with these tests.
pub(crate) struct JointCover {
    pub(crate) hyper: MeasuredHyperlabel,
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

/// The evidence of some tests together.
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
