//! Augmentation asks the paths that cover something for transformed conditions, and changes nothing else.

use lydian_objective::Criterion;
use lydian_symex::{Augmentation, AugmentationKind, Config, Cut, FoundTest, LabelRef, Limits};

use crate::common::{Explored, explore_c};

const BOUNDARIES: [Criterion; 2] = [Criterion::Bc, Criterion::AugBoundary];

fn augmented(text: &str, kind: AugmentationKind, each_occurrence: bool) -> Explored {
    let augmentation = Some(Augmentation { kind, each_occurrence });
    let limits = Limits { paths: Some(100), ..Limits::unbounded() };
    let config = Config { augmentation, limits, ..Config::default() };
    explore_c(text, "f", &BOUNDARIES, &config)
}

fn weakly(text: &str) -> Explored {
    augmented(text, AugmentationKind::Weak, false)
}

const TWO_CHOICES: &str = "
    int f(int a, int b) {
        int r = 0;
        if (a > 10) r = b / (a - 10);
        if (b > 20) r = a / (b - 20);
        return r;
    }";

#[test]
fn both_sides_of_a_decision_are_asked_although_the_search_drops_one() {
    let found = weakly(TWO_CHOICES);
    assert_eq!(found.covered(Criterion::Bc).len(), 4);
    assert_eq!(found.covered(Criterion::AugBoundary).len(), 8);
}

#[test]
fn strict_conditions_are_those_that_hold_on_whole_paths() {
    let text = "
        int f(int a) {
            if (a < 100) return 0;
            if (a < 50) return 1;
            return 2;
        }";
    let weak = weakly(text);
    let strict = augmented(text, AugmentationKind::Strict, false);
    let first = |found: &Explored| {
        let names = found.covered(Criterion::AugBoundary).into_iter();
        names.filter(|name| name.contains("a < 100")).count()
    };
    assert_eq!((first(&weak), first(&strict)), (4, 4));
    assert!(
        strict.covered(Criterion::AugBoundary).len() <= weak.covered(Criterion::AugBoundary).len()
    );
}

#[test]
fn what_augmentation_leaves_is_not_infeasible() {
    let found = weakly("int f(int a) { int i = 0; while (i < 3) i++; return a + i; }");
    assert!(!found.summary.left.is_empty());
    for left in &found.summary.left {
        assert!(left.reasons.contains(&Cut::NotAugmented), "{left:?}");
    }
}

const TURNS: &str = "
    int f(int n) {
        int s = 0;
        while (n > 0) { s += n; n -= 3; }
        return s;
    }";

#[test]
fn a_loop_is_augmented_once_or_in_each_turn() {
    let once = weakly(TURNS);
    assert_eq!(once.covered(Criterion::AugBoundary).len(), 4);
    assert!(once.tests.iter().all(|test| test.transformed.is_empty()));
    let each = augmented(TURNS, AugmentationKind::Weak, true);
    let turns = each.tests.iter().flat_map(|test| &test.transformed).map(|(_, turn)| *turn);
    assert!(turns.max() > Some(1), "{:?}", each.tests);
    let questions = |found: &Explored| found.summary.statistics.augmented_queries;
    assert!(questions(&once) < questions(&each), "{} {}", questions(&once), questions(&each));
}

#[test]
fn no_question_is_asked_about_what_paths_satisfy_by_themselves() {
    let found = weakly("int f(int a) { if (a == 7) return 1; return 0; }");
    // The model of one path is 7, and the other path is asked for the values beside it.
    assert_eq!(found.covered(Criterion::AugBoundary).len(), 3);
    assert!(found.summary.statistics.augmented_queries <= 3);
}

#[test]
fn paths_of_other_objectives_are_the_same_with_and_without_augmentation() {
    let config = Config { limits: Limits::unbounded(), ..Config::default() };
    let plain = explore_c(TWO_CHOICES, "f", &BOUNDARIES[..1], &config);
    let augmented = weakly(TWO_CHOICES);
    assert_eq!(plain.covered(Criterion::Bc), augmented.covered(Criterion::Bc));
}

#[test]
fn the_path_of_a_function_without_branches_is_augmented() {
    let augmentation = Some(Augmentation::default());
    let config = Config { augmentation, limits: Limits::unbounded(), ..Config::default() };
    let criteria = [Criterion::Bc, Criterion::AugErrors];
    let found = explore_c("int f(int a, int b) { return a / (b - 5); }", "f", &criteria, &config);
    let covered = found.covered(Criterion::AugErrors);
    assert!(covered.iter().any(|name| name.ends_with("`: division by zero")), "{covered:?}");
    assert!(covered.iter().any(|name| name.ends_with("no division by zero")), "{covered:?}");
}

/// The first argument of a test.
fn argument(test: &FoundTest) -> i64 {
    let bytes = test.test.args[0].bytes.as_slice();
    i64::from(i32::from_le_bytes(bytes.try_into().expect("an `int`")))
}

#[test]
fn the_turn_of_a_condition_counts_the_turns_in_which_nothing_can_be_transformed() {
    let text = "
        int f(int x) {
            int r = 0;
            for (int i = 0; i < 10; i++)
                if (i == 7 && x < 3) r++;
            return r;
        }";
    let kind = AugmentationKind::Weak;
    let config = Config {
        augmentation: Some(Augmentation { kind, each_occurrence: true }),
        limits: Limits { paths: Some(100), ..Limits::unbounded() },
        ..Config::default()
    };
    let found = explore_c(text, "f", &[Criterion::AugBoundary], &config);
    let names = &found.objectives[0].criteria[&Criterion::AugBoundary];
    let name = |label: &LabelRef| {
        let mut entries = names.iter();
        &entries.find(|entry| entry.label == label.label).expect("it is counted").name
    };
    let turns = found.tests.iter().flat_map(|test| &test.transformed);
    let turns = turns.filter(|(label, _)| name(label).contains("`x < 3`"));
    let turns: Vec<u32> = turns.map(|(_, turn)| *turn).collect();
    assert!(!turns.is_empty() && turns.iter().all(|turn| *turn == 8), "{turns:?}");
}

#[test]
fn an_occurrence_is_transformed_although_the_input_of_a_path_without_a_test_satisfies_it() {
    let each = augmented(TURNS, AugmentationKind::Weak, true);
    let all: Vec<i64> = each.tests.iter().map(argument).collect();
    let turns = each.tests.iter().flat_map(|test| &test.transformed).map(|(_, turn)| *turn);
    let last = turns.max().expect("a transformed condition");
    assert!(last > 1, "{all:?}");
    for turn in 0..i64::from(last) {
        // The path up to this turn is that `n` was above 0 in all turns before.
        let left = all.iter().filter(|n| turn == 0 || **n - 3 * (turn - 1) > 0);
        let left: Vec<i64> = left.map(|n| n - 3 * turn).collect();
        let has = |is_one: fn(&i64) -> bool| left.iter().any(is_one);
        assert!(
            has(|n| *n == 1) && has(|n| *n > 1) && has(|n| *n == 0) && has(|n| *n < 0),
            "turn {}: {left:?}",
            turn + 1
        );
    }
}
