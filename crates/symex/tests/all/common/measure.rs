//! The labels that a test covers when the interpreter runs it: the independent oracle.

use std::collections::BTreeSet;

use lydian_ir::Program;
use lydian_ir::interp::{End, Options};
use lydian_ir::test::Test;
use lydian_objective::{CoverageInterpreter, FunctionObjectives};
use lydian_symex::{Ending, LabelRef};

use crate::common::Explored;

/// Runs a test. Returns how it ended, and the labels that it covers.
pub(crate) fn measure(
    program: &Program,
    objectives: &[FunctionObjectives],
    test: &Test,
) -> (End, BTreeSet<LabelRef>) {
    let coverage_interpreter = CoverageInterpreter::new(program, objectives, false);
    let interpreted = coverage_interpreter
        .run(test, &Options::default())
        .unwrap_or_else(|error| panic!("{error}: {test:?}"));
    let by_function = objectives.iter().zip(interpreted.covered);
    let covered = by_function.flat_map(|(of, labels)| {
        labels.into_iter().map(|label| LabelRef { func: of.function, label })
    });
    (interpreted.outcome.end, covered.collect())
}

/// Runs all tests. Each must end as predicted and cover the claimed labels. Returns the number of
/// confirmed claims.
pub(crate) fn confirm(found: &Explored) -> usize {
    let mut confirmed = 0;
    for test in &found.tests {
        let (end, covered) = measure(&found.program, &found.objectives, &test.test);
        let as_predicted = match (&test.ending, end) {
            (Ending::Returned, End::Returned) | (Ending::Exited, End::Exited(_)) => true,
            (Ending::Trapped(a), End::Trapped(b)) => *a == b,
            (Ending::Cut(_), _) | (Ending::Endless, End::Stopped(_)) => true,
            _ => false,
        };
        assert!(as_predicted, "{:?} but {end:?}: {:#?}", test.ending, test.test);
        for label in &test.covers {
            let objectives = found.objectives.iter().find(|all| all.function == label.func);
            let text = objectives.map(|all| &all.labels[label.label]);
            assert!(covered.contains(label), "{label:?} {text:#?} not covered by {:#?}", test.test);
            confirmed += 1;
        }
    }
    assert_eq!(confirmed, found.summary.covered.len());
    confirmed
}
