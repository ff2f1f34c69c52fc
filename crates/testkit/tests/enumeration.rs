//! Verdicts on random functions over pointers against all inputs of a bounded domain.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows the function and the
//! input.

use std::time::Duration;

use lydian_objective::{Criterion, LabelId};
use lydian_symex::Config;
use lydian_testkit::enumeration::{Trait, enumerate};
use lydian_testkit::oracle::{Subject, seeds};
use lydian_testkit::pointers;

const CRITERIA: [Criterion; 4] = [Criterion::Stmt, Criterion::Bc, Criterion::Mcc, Criterion::Wm];

/// What exploration and local proofs say no input reaches.
fn infeasible(subject: &Subject) -> Vec<LabelId> {
    let limit = Duration::from_secs(2);
    let explored = subject.explore(subject.functions[0], "", &Config::default(), limit);
    let mut labels = subject.proved_infeasible(0, limit);
    if explored.summary.complete {
        let left = explored.summary.left.iter().filter(|left| left.reasons.is_empty());
        labels.extend(left.map(|left| left.label.label));
    }
    labels
}

/// Objectives of a random function that are called infeasible and that an input covers which has
/// none of the traits `without`.
fn wrong_verdicts(seed: u64, without: &[Trait]) -> Vec<String> {
    let text = pointers::HEAD.to_owned() + &pointers::function("f", seed);
    let subject = Subject::read(&text, &CRITERIA, false);
    let found = enumerate(&subject, &subject.foresight(), subject.functions[0], 2_000, without);
    assert!(found.inputs > 0, "seed {seed} has no input");
    let wrong = infeasible(&subject).into_iter().filter_map(|label| {
        let covering = found.covered.get(&label)?;
        let name = subject.describe(0, label);
        let input = serde_json::to_string(&covering.test).expect("a test is JSON");
        Some(format!("seed {seed}: {name}, {:?}: {input}\n{text}", covering.traits))
    });
    wrong.collect()
}

fn check(seeds: std::ops::Range<u64>, without: &[Trait]) {
    let wrong: Vec<String> = seeds.flat_map(|seed| wrong_verdicts(seed, without)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The inputs that the engine makes by itself: separate objects, globals with any value.
#[test]
fn no_input_without_aliases_covers_what_is_called_infeasible() {
    use Trait::{Alias, Cycle, InsideArray, Member, Static, ToGlobal};
    check(seeds(0..30), &[Alias, Cycle, InsideArray, Member, Static, ToGlobal]);
}

/// All inputs of the domain. Not run by default, since inputs do not alias yet where nothing in
/// `lydian.toml` says so.
#[test]
#[ignore = "the inputs of the exploration are separate objects"]
fn no_input_covers_what_is_called_infeasible() {
    check(seeds(0..30), &[]);
}
