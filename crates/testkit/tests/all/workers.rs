//! Several workers within one exploration have the same findings as one worker: on random functions, in
//! all orders of exploration, and for programs with assumptions about their inputs.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{Budget, CancelToken, StopReason};
use lydian_inputs::{InputSpec, Settings};
use lydian_objective::{Assumption, Criterion};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::LabelRef;
use lydian_symex::{
    Config, Cut, Event, FoundTest, LabelDeletion, Mode, Search, Summary, Task, Workers,
};
use lydian_testkit::oracle::{ExplorationResult, Subject, seeds};

use crate::functions::{Function, as_in_the_paper, hinders, unlimited};

const CRITERIA: [Criterion; 6] =
    [Criterion::Bbc, Criterion::Dc, Criterion::Cc, Criterion::Mcc, Criterion::Gacc, Criterion::Wm];

/// The decisions of an exploration: covered labels; open labels, with cuts and bounds for each; all
/// cuts, and the bounds that all met.
type Verdicts = (
    BTreeSet<LabelRef>,
    BTreeMap<LabelRef, (Vec<Cut>, BTreeSet<Assumption>)>,
    BTreeSet<Cut>,
    BTreeSet<Assumption>,
);

fn verdicts(summary: &Summary) -> Verdicts {
    let left = summary.left.iter().map(|left| {
        let bounds = left.bounds.iter().cloned().collect();
        (left.label, (left.reasons.clone(), bounds))
    });
    (
        summary.covered.iter().copied().collect(),
        left.collect(),
        summary.cuts.keys().cloned().collect(),
        summary.bounds.iter().cloned().collect(),
    )
}

/// Whether neither a limit nor an unanswered question interfered.
fn is_complete(summary: &Summary) -> bool {
    !summary.cuts.keys().any(hinders)
        && !summary.left.iter().any(|left| left.reasons.iter().any(hinders))
}

/// Checks that each test meets its claims in the interpreter, and that all covered labels are claimed.
fn confirm(function: &Function, found: &ExplorationResult, what: &str) {
    let coverage_interpreter = function.subject.coverage_interpreter();
    let mut claimed = BTreeSet::new();
    for FoundTest { test, covers, .. } in &found.tests {
        let run = coverage_interpreter.run(test, &lydian_ir::interp::Options::default());
        let run = run.unwrap_or_else(|error| panic!("{error}: {test:?}"));
        for label in covers {
            let at = function.subject.functions.iter().position(|func| *func == label.func);
            let at = at.expect("the label is of one of the functions");
            assert!(run.covered[at].contains(&label.label), "{what}: {label:?} by {test:?}");
            claimed.insert(*label);
        }
    }
    assert_eq!(claimed, found.summary.covered.iter().copied().collect(), "{what}");
}

#[test]
fn verdicts_are_those_of_one_worker_whatever_the_number_of_workers() {
    let (mut complete, mut handed, mut left) = (0, 0, 0);
    for seed in seeds(0..24) {
        let criteria = if seed.is_multiple_of(3) { &CRITERIA[..] } else { &CRITERIA[..4] };
        let function = Function::random(seed, criteria);
        for (at, search) in Search::ALL.into_iter().enumerate() {
            // Each order once with and once without what makes fewer paths, over the seeds.
            let fewer = (seed as usize + at).is_multiple_of(2);
            let config = Config { search, look_ahead: fewer, merge: fewer, ..unlimited() };
            let one = function.explore(&config, 1);
            if !is_complete(&one.summary) {
                continue;
            }
            for workers in [2, 4] {
                let what = format!("seed {seed}, {search:?}, {workers} workers");
                let found = function.explore(&config, workers);
                assert_eq!(verdicts(&found.summary), verdicts(&one.summary), "{what}");
                confirm(&function, &found, &what);
                complete += 1;
                handed += found.summary.statistics.handed_over;
                left += found.summary.left.len();
            }
        }
    }
    assert!(complete > 0 && handed > 0 && left > 0, "{complete}, {handed}, {left}");
}

#[test]
fn each_path_is_followed_by_one_worker_and_none_is_lost() {
    let (mut complete, mut handed) = (0, 0);
    for seed in seeds(100..120) {
        let function = Function::random(seed, &CRITERIA[..5]);
        for mode in [Mode::Plain, Mode::Tight] {
            for label_deletion in [LabelDeletion::Off, LabelDeletion::Kept] {
                let config = Config { mode, label_deletion, ..as_in_the_paper() };
                let one = function.explore(&config, 1).summary;
                if !is_complete(&one) {
                    continue;
                }
                for workers in [2, 3] {
                    let found = function.explore(&config, workers).summary;
                    let what = format!("seed {seed}, {mode:?}, {label_deletion:?}, {workers}");
                    assert_eq!(found.paths, one.paths, "{what}");
                    complete += 1;
                    handed += found.statistics.handed_over;
                }
            }
        }
    }
    assert!(complete > 0 && handed > 0, "{complete}, {handed}");
}

#[test]
fn so_many_workers_find_the_same_tests_each_time() {
    let mut handed = 0;
    for seed in seeds(200..212) {
        let function = Function::random(seed, &CRITERIA);
        let config = Config { nice_values: true, ..unlimited() };
        let of_test =
            |found: &FoundTest| (found.test.clone(), found.covers.clone(), found.ending.clone());
        handed += function.explore_twice(&config, is_complete, of_test, &format!("seed {seed}"));
    }
    assert!(handed > 0);
}

#[test]
fn compacting_all_states_that_wait_changes_nothing_with_several_workers() {
    let (mut complete, mut evicted) = (0, 0);
    for seed in seeds(300..306) {
        let function = Function::random(seed, &CRITERIA);
        let one = function.explore(&unlimited(), 1).summary;
        if !is_complete(&one) {
            continue;
        }
        let mut config = unlimited();
        config.limits.whole_states = Some(0);
        let found = function.explore(&config, 2).summary;
        assert_eq!(verdicts(&found), verdicts(&one), "seed {seed}");
        complete += 1;
        evicted += found.statistics.evicted;
    }
    assert!(complete > 0 && evicted > 0, "{complete}, {evicted}");
}

#[test]
fn what_a_test_is_to_be_taken_back_for_is_not_taken_as_covered_by_other_workers() {
    // Labels are met before the assumption, which most of their inputs break.
    let text = "
        extern int __VERIFIER_nondet_int(void);
        extern void __VERIFIER_assume(int);
        int f(int kind)
        {
            int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), sum = 0;
            for (int i = 0; i < 4; i++) {
                int c = __VERIFIER_nondet_int();
                if (c > 10) sum += 1;
                else if (c < -10) sum -= 1;
            }
            if (a > 5 && b > 5) sum += 2;
            if (a == 7 || b == 9) sum += 4;
            if (kind == 3 && sum > 4) sum = 0;
            __VERIFIER_assume(a < 6 || b < 6);
            __VERIFIER_assume(a != 7);
            if (sum == 3) return 1;
            if (sum < -3) return 2;
            return a > 5 && b > 5 ? 3 : 4;
        }";
    let subject = Subject::read(text, &CRITERIA[..5], false);
    let function = Function::last_of(subject, String::new());
    for search in Search::ALL {
        let config = Config { search, ..unlimited() };
        let decided = |workers: usize| {
            let found = function.explore(&config, workers);
            assert!(is_complete(&found.summary), "{:?}", found.summary.cuts);
            let claimed = found.tests.iter().flat_map(|test| &test.covers).copied();
            let claimed: BTreeSet<LabelRef> = claimed.collect();
            let left = found.summary.left.iter();
            let infeasible = left.filter(|left| left.reasons.is_empty()).map(|left| left.label);
            (claimed, infeasible.collect::<BTreeSet<LabelRef>>(), found.summary.complete)
        };
        let one = decided(1);
        for workers in [2, 4] {
            let found = decided(workers);
            // What is lost to an assumption depends on the order, and is not proved infeasible then.
            // What is proved so is covered by nobody, however many look for it.
            assert!(found.1.is_disjoint(&one.0) && one.1.is_disjoint(&found.0), "{search:?}");
            assert_eq!(found.2, one.2, "{search:?}, {workers}");
            let decided = |(covered, infeasible, _): &(BTreeSet<_>, BTreeSet<_>, _)| {
                covered.len() + infeasible.len()
            };
            assert!(found.2 && decided(&found) > 20, "{search:?}, {workers}: {}", decided(&found));
        }
    }
}

#[test]
fn modes_that_cannot_be_shared_are_explored_by_one_worker() {
    let handed_over = |criteria: &[Criterion], mode| {
        let subject = Subject::read(MANY, criteria, false);
        let function = Function::last_of(subject, String::new());
        let found = function.explore(&Config { mode, ..unlimited() }, 4);
        found.summary.statistics.handed_over
    };
    assert_eq!(handed_over(&[Criterion::Dc], Mode::Direct), 0);
    assert!(handed_over(&[Criterion::Dc], Mode::Tight) > 0);
    assert!(handed_over(&[Criterion::Racc], Mode::Tight) > 0);
}

/// Many paths, on each of which something may be covered.
const MANY: &str = "
    int f(const unsigned char key[9])
    {
        unsigned hash = 7, score = 0;
        for (int i = 0; i < 9; i++) {
            if (key[i] > 100 && key[i] < 200) score++;
            hash = (hash << 1) + key[i];
        }
        if (score == 3 && (hash & 7) == 1) return 2;
        return score > 8 ? 3 : score;
    }";

/// Explores this function with two workers. `meet` gets each test.
fn explore_many(config: &Config, budget: &Budget, meet: &mut dyn FnMut(&FoundTest)) -> Summary {
    let subject = Subject::read(MANY, &[Criterion::Dc, Criterion::Wm], false);
    let spec = InputSpec::new(&subject.program, Settings::default());
    let solver = || standard_chain(&ChainConfig::default());
    let workers = Workers::new(2, &solver).eager();
    let mut sink = |event| {
        if let Event::Test(found) = event {
            meet(&found);
        }
    };
    let task = Task {
        program: &subject.program,
        func: subject.functions[0],
        spec: &spec,
        objectives: &subject.objectives,
        known: &[],
        config,
        budget,
    };
    task.run_among(&workers, &mut sink).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn all_workers_stop_when_the_user_wants_it_and_what_they_covered_has_tests() {
    let cancel = CancelToken::new();
    let budget = Budget::start(None, cancel.clone());
    let mut claimed = BTreeSet::new();
    let config = Config { stop_when_covered: false, look_ahead: false, ..Config::default() };
    let summary = explore_many(&config, &budget, &mut |found| {
        claimed.extend(found.covers.iter().copied());
        if claimed.len() > 20 {
            cancel.cancel();
        }
    });
    assert!(summary.cuts.contains_key(&Cut::Stopped(StopReason::Cancelled)), "{:?}", summary.cuts);
    assert!(!summary.complete);
    assert_eq!(claimed, summary.covered.iter().copied().collect());
}

#[test]
fn limits_hold_for_all_workers_together() {
    let budget = Budget::start(None, CancelToken::new());
    let mut config = as_in_the_paper();
    config.limits.paths = Some(200);
    let summary = explore_many(&config, &budget, &mut |_| {});
    assert!(summary.cuts.contains_key(&Cut::Stopped(StopReason::Paths(200))), "{:?}", summary.cuts);
    assert!(summary.statistics.handed_over > 0);
    // A worker hears of the others' paths some rounds later.
    assert!((200..400).contains(&summary.path_count()), "{}", summary.path_count());
}
