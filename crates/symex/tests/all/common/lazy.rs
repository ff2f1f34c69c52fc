//! Explores functions with lazy input memory.

use std::collections::BTreeSet;

use lydian_inputs::Settings;
use lydian_objective::Criterion;
use lydian_symex::Config;

use crate::common::{Explored, explore_c_with, measure};

/// Explores `f` with statements and branches. Every test must do what is claimed of it.
pub(crate) fn explore(text: &str) -> Explored {
    let settings = Settings { lazy_inputs: true, ..Settings::default() };
    let criteria = [Criterion::Stmt, Criterion::Bc];
    let found = explore_c_with(text, "f", &criteria, &Config::default(), settings);
    measure::confirm(&found);
    found
}

/// Asserts how many branches are covered, and that the others are infeasible without assumptions.
pub(crate) fn branches(text: &str, covered: usize, infeasible: usize) {
    let found = explore(text);
    let names = found.covered(Criterion::Bc);
    assert_eq!(names.len(), covered, "{names:?} {:?}", found.summary);
    if infeasible > 0 {
        assert!(found.summary.complete, "{:?}", found.summary.cuts);
        assert!(found.summary.bounds.is_empty(), "{:?}", found.summary.bounds);
    }
    let all = found.objectives.iter().flat_map(|of| of.criteria.get(&Criterion::Bc));
    assert_eq!(all.flatten().count(), covered + infeasible);
}

/// The sentences of the assumptions and bounds that verdicts of a function depend on.
pub(crate) fn rests_on(text: &str) -> Vec<String> {
    let summary = explore(text).summary;
    let of_labels = summary.left.iter().flat_map(|label| &label.bounds);
    let all = summary.bounds.iter().chain(&summary.assumptions).chain(of_labels);
    let sentences: BTreeSet<String> = all.map(|one| one.sentence.clone()).collect();
    sentences.into_iter().collect()
}
