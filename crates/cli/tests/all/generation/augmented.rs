//! `lydian gen --augment`: tests with values inside, on and outside of borders, and for the other
//! transformed conditions.

use serde_json::Value;

use crate::common::Workplace;

const UNIT: &str = "\
int middle(int a, int b, int c)
{
    if (a < b && b <= c)
        return b;
    return a;
}

int octal(int n)
{
    int result = 0, place = 1;
    if (n < 0 || n > 100000)
        return -1;
    while (n > 0) {
        result = result + (n % 8) * place;
        n = n / 8;
        place = place * 10;
    }
    return result;
}
";

/// The counts of a criterion for a function: objectives that are not infeasible, and covered ones.
fn counts(summary: &Value, function: &str, criterion: &str) -> (u64, u64) {
    let functions = summary["functions"].as_array().expect("a list");
    let function = functions.iter().find(|one| one["name"] == function).expect("the function");
    let criteria = function["criteria"].as_array().expect("a list");
    let row = criteria.iter().find(|row| row["criterion"] == criterion).expect("the criterion");
    let number = |name: &str| row[name].as_u64().expect("a number");
    (number("objectives") - number("infeasible"), number("covered"))
}

/// The purposes of all tests of a suite.
fn purposes(place: &Workplace) -> Vec<String> {
    let suite = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().expect("a list").iter();
    let kept = tests.filter_map(|test| test["kept_for"].as_array());
    kept.flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn tests_with_border_values_are_added_and_say_what_they_are_kept_for() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c bc --json plain.json -o plain");
    let ran = place.done("gen unit.c -c bc --augment boundary --json augmented.json");
    let (plain, augmented) = (place.json("plain.json"), place.json("augmented.json"));
    for function in ["middle", "octal"] {
        assert_eq!(counts(&plain, function, "bc"), counts(&augmented, function, "bc"));
        let (objectives, covered) = counts(&augmented, function, "aug-boundary");
        assert!(covered == objectives && objectives > 0, "{function}: {ran}");
    }
    let purposes = purposes(&place);
    let says = |what: &str| purposes.iter().any(|text| text.contains(what));
    assert!(says("boundary of `b <= c`: (a < b) && (b == c)"), "{purposes:?}");
    assert!(ran.out.contains("middle augmentation: "), "{ran}");
    assert!(place.read("tests/tests.c").contains("boundary of `"), "{purposes:?}");
}

#[test]
fn each_kind_of_transformation_is_a_criterion_with_a_row() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c bc --augment mutation,logic,errors --json all.json");
    let summary = place.json("all.json");
    for criterion in ["aug-mutation", "aug-logic", "aug-errors"] {
        let (objectives, covered) = counts(&summary, "octal", criterion);
        assert!(covered > 0 && covered <= objectives, "{criterion}: {covered} of {objectives}");
    }
}

#[test]
fn a_second_run_augments_the_paths_that_the_first_run_had_covered() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c bc");
    place.done("gen unit.c -c bc --augment boundary --json second.json");
    let (objectives, covered) = counts(&place.json("second.json"), "middle", "aug-boundary");
    assert_eq!(objectives, covered);
}

#[test]
fn strict_augmentation_satisfies_no_more_than_weak_augmentation() {
    let place = Workplace::with(UNIT);
    let covered = |kind: &str| {
        place.done(&format!(
            "gen unit.c -f octal -c bc --augment boundary --augmentation {kind} -o {kind} \
             --json {kind}.json"
        ));
        counts(&place.json(&format!("{kind}.json")), "octal", "aug-boundary").1
    };
    assert!(covered("strict") <= covered("weak"));
}

#[test]
fn each_occurrence_gives_tests_that_name_the_turn_of_a_loop() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -f octal -c bc --augment boundary");
    let once = purposes(&place);
    assert!(!once.iter().any(|text| text.contains("turn ")), "{once:?}");
    place.done("gen unit.c -f octal -c bc --augment boundary --each-occurrence --fresh");
    let each = purposes(&place);
    let second = |text: &&String| text.contains("turn 2: boundary of `n > 0`");
    assert!(each.iter().filter(second).count() > 0, "{each:?}");
}

/// A loop in which the operands of a condition change in each turn.
const MOVING: &str = "\
int moving(int n, int k)
{
    int s = 0;
    for (int i = 0; i < 4; i++) {
        if (n > k)
            s++;
        n -= 3;
        if (s == 3 && i == 3)
            s = 100;
    }
    return s;
}
";

/// The transformed conditions of `n > k` that tests of [`MOVING`] are kept for at one occurrence: `n` in
/// that turn, `k`, and the name of the condition.
fn moving_occurrences(place: &Workplace) -> Vec<(i32, i32, String)> {
    let suite = place.json("tests/tests.json");
    let mut found = Vec::new();
    for test in suite["tests"].as_array().expect("a list") {
        let number = |name: &str| test["args"][name].as_i64().expect("a number") as i32;
        let texts = test["kept_for"].as_array().into_iter().flatten();
        for text in texts.map(|text| text.as_str().expect("a text")) {
            let Some((_, said)) = text.split_once("turn ") else { continue };
            let Some((turn, name)) = said.split_once(": boundary of `n > k`: ") else { continue };
            let turns_before: i32 = turn.parse::<i32>().expect("a number") - 1;
            let n = number("n").wrapping_sub(3 * turns_before);
            found.push((n, number("k"), name.to_owned()));
        }
    }
    found
}

#[test]
fn tests_satisfy_a_transformed_condition_in_the_turn_that_the_suite_names() {
    let place = Workplace::with(MOVING);
    place.done("gen unit.c -c bc --augment boundary --each-occurrence");
    let found = moving_occurrences(&place);
    assert!(found.len() > 4, "{found:?}");
    for (n, k, name) in found {
        let holds = match name.as_str() {
            "just inside" => n.checked_sub(1) == Some(k),
            "further inside" => n.checked_sub(1).is_some_and(|below| below > k),
            "just outside" => n == k,
            "further outside" => n < k,
            other => panic!("{other}"),
        };
        assert!(holds, "{name}: {n} > {k}");
    }
}

#[test]
fn a_second_run_for_each_occurrence_keeps_its_tests() {
    let place = Workplace::with(MOVING);
    let conditions = || -> Vec<String> {
        place.done("gen unit.c -c bc --augment boundary --each-occurrence");
        let texts = purposes(&place).into_iter().filter(|text| text.contains("turn "));
        let mut texts: Vec<String> = texts.collect();
        texts.sort_unstable();
        texts
    };
    let first = conditions();
    assert!(!first.is_empty());
    assert_eq!(first, conditions());
}

#[test]
fn transformed_conditions_that_no_augmented_path_satisfies_are_unknown() {
    let place = Workplace::with(
        "int f(int n)\n{\n    int p = 1;\n    while (n > 0) {\n        n /= 8;\n        p = p * 10;\n    }\n    \
         return p;\n}\n",
    );
    let ran = place.done("gen unit.c -c bc --augment errors --no-proofs --json out.json");
    let (objectives, covered) = counts(&place.json("out.json"), "f", "aug-errors");
    assert!(covered < objectives, "{ran}");
    assert!(ran.out.contains("no path that was augmented satisfies it"), "{ran}");
}

#[test]
fn options_of_augmentation_are_refused_without_it_and_with_other_modes() {
    let place = Workplace::with(UNIT);
    place.refused("gen unit.c --each-occurrence", 2, &["--augment"]);
    place.refused("gen unit.c --augmentation strict", 2, &["--augment"]);
    place.refused("gen unit.c --augment boundary --mode plain", 2, &["--mode"]);
    place.refused("gen unit.c --augment borders", 2, &["boundary, mutation, logic, errors"]);
}
