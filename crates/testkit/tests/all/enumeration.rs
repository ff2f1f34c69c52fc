//! Verdicts on random functions over pointers against all inputs of a bounded domain.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows the function and the
//! input.

use std::time::Duration;

use lydian_objective::Criterion;
use lydian_testkit::enumeration::{ASSUMING, Trait, judge};
use lydian_testkit::oracle::seeds;
use lydian_testkit::pointers::Moves;

const CRITERIA: [Criterion; 3] = [Criterion::Stmt, Criterion::Bc, Criterion::Mcc];

/// Checks that no input without these traits covers an objective that is called infeasible without
/// assumptions.
fn check(seeds: std::ops::Range<u64>, moves: Moves, without: &[Trait], settings: &str) {
    let (mut report, mut inputs, mut infeasible) = (String::new(), 0, 0);
    for seed in seeds {
        let time = Duration::from_secs(2);
        let judged = judge((seed, moves), &CRITERIA, 2_000, without, settings, time);
        inputs += judged.found.inputs;
        infeasible += judged.labels.1;
        for wrong in judged.wrong.iter().filter(|wrong| wrong.engine != ASSUMING) {
            report += &format!("seed {seed}: {wrong}\n{}\n", judged.text);
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(inputs > 0 && infeasible > 0, "{inputs} inputs, {infeasible} infeasible objectives");
}

/// Inputs as guesses about shapes make them: separate objects, and no null pointers that are never
/// compared with null.
#[test]
fn no_input_of_separate_objects_covers_what_is_called_infeasible() {
    use Trait::{Alias, Cycle, InsideArray, Member, Null, Static, ToGlobal};
    check(
        seeds(0..30),
        Moves::None,
        &[Alias, Cycle, InsideArray, Member, Null, Static, ToGlobal],
        "lazy-inputs = false",
    );
}

/// All inputs of the domain, with lazily initialised memory.
#[test]
fn no_input_covers_what_is_called_infeasible() {
    check(seeds(0..60), Moves::None, &[], "lazy-inputs = true");
}

/// The same for functions that move pointers by numbers of the input and free their targets.
#[test]
fn no_input_that_moves_a_pointer_covers_what_is_called_infeasible() {
    check(seeds(0..20), Moves::Any, &[], "lazy-inputs = true");
}
