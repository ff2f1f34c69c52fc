//! What a test covers when the interpreter runs it: the independent party.
#![allow(unreachable_pub, reason = "a module of tests")]

use std::collections::BTreeSet;

use lydian_ir::Program;
use lydian_ir::interp::{End, Options};
use lydian_ir::test::Test;
use lydian_objective::{Foresight, FunctionObjectives};
use lydian_symex::LabelRef;

/// Runs a test and gives how it ended and the labels that it covers.
pub fn measure(
    program: &Program,
    objectives: &[FunctionObjectives],
    test: &Test,
) -> (End, BTreeSet<LabelRef>) {
    let foresight = Foresight::new(program, objectives, false);
    let foreseen = foresight
        .run(test, &Options::default())
        .unwrap_or_else(|error| panic!("{error}: {test:?}"));
    let by_function = objectives.iter().zip(foreseen.covered);
    let covered = by_function.flat_map(|(of, labels)| {
        labels.into_iter().map(|label| LabelRef { func: of.function, label })
    });
    (foreseen.outcome.end, covered.collect())
}
