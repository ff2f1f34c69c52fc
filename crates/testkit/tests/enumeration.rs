//! Verdicts on random functions over pointers against all inputs of a bounded domain.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows the function and the
//! input.

use std::time::Duration;

use lydian_objective::Criterion;
use lydian_testkit::enumeration::{ASSUMING, Trait, judge};
use lydian_testkit::oracle::seeds;

const CRITERIA: [Criterion; 3] = [Criterion::Stmt, Criterion::Bc, Criterion::Mcc];

/// No objective that is called infeasible without assumptions is covered by an input without these
/// traits.
fn check(seeds: std::ops::Range<u64>, without: &[Trait], settings: &str) {
    let (mut report, mut inputs, mut infeasible) = (String::new(), 0, 0);
    for seed in seeds {
        let judged = judge(seed, &CRITERIA, 2_000, without, settings, Duration::from_secs(2));
        inputs += judged.found.inputs;
        infeasible += judged.labels.1;
        for wrong in judged.wrong.iter().filter(|wrong| wrong.engine != ASSUMING) {
            report += &format!("seed {seed}: {wrong}\n{}\n", judged.text);
        }
    }
    assert!(report.is_empty(), "{report}");
    assert!(inputs > 0 && infeasible > 0, "{inputs} inputs, {infeasible} infeasible objectives");
}

/// The inputs that guesses about shapes make: objects apart from each other, and no null where nothing
/// is compared with it.
#[test]
fn no_input_of_separate_objects_covers_what_is_called_infeasible() {
    use Trait::{Alias, Cycle, InsideArray, Member, Null, Static, ToGlobal};
    check(
        seeds(0..30),
        &[Alias, Cycle, InsideArray, Member, Null, Static, ToGlobal],
        "lazy-inputs = false",
    );
}

/// All inputs of the domain, where what nothing states comes into being.
#[test]
fn no_input_covers_what_is_called_infeasible() {
    check(seeds(0..60), &[], "lazy-inputs = true");
}
