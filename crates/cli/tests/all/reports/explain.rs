//! `lydian explain`: one objective after the other.

use crate::common::Workplace;

const UNIT: &str = "\
int grade(int points, int max)
{
    if (max <= 0 || points > max)
        return -1;
    if (points > 10 && points < 5)
        return 7;
    return points > 50 ? 1 : 2;
}
int again(int *p, int *q)
{
    *p = 1;
    *q = 2;
    return *p == 2;
}
";

#[test]
fn an_objective_is_explained_with_its_verdict_its_tests_and_its_argument() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c");
    let covered = place.done("explain unit.c:3 mcdc --tests tests");
    assert!(covered.out.contains("unit.c:3:9: `max <= 0` decides"), "{covered}");
    assert!(covered.out.contains("grade: mcdc: d0.c0 decides: covered"), "{covered}");
    let tests = place.json("tests/tests.json")["tests"].clone();
    let line = covered.out.lines().find_map(|line| line.strip_prefix("  tests: ")).unwrap();
    for name in line.split(", ") {
        assert!(tests.as_array().unwrap().iter().any(|test| test["name"] == name), "{name}");
    }
    let infeasible = place.done("explain 6 stmt");
    assert!(infeasible.out.contains("control passes here"), "{infeasible}");
    assert!(infeasible.out.contains(": infeasible\n  because: "), "{infeasible}");
    assert!(!infeasible.out.contains("tests: "), "{infeasible}");
    // A verdict, a function and a part of a predicate choose, too.
    let all = place.done("explain infeasible grade");
    assert!(all.out.contains("`points < 5` decides"), "{all}");
    assert_eq!(all.out.matches(": infeasible\n").count(), all.out.matches("because: ").count());
}

#[test]
fn what_is_not_there_to_be_explained_is_an_error_that_says_what_to_do() {
    let place = Workplace::with(UNIT);
    place.refused("explain 3", 2, &["objectives.json", "`lydian gen` writes it"]);
    place.done("gen unit.c --function again");
    place.refused("explain 3 nowhere", 2, &["no objective is meant by `3 nowhere`", "FILE:LINE"]);
    place.write("tests/objectives.json", "{");
    place.refused("explain 3", 2, &["run `lydian gen` again"]);
}

#[test]
fn the_table_as_json_has_every_objective() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c stmt,bc,mcdc --json t.json");
    let table = place.json("t.json");
    for function in table["functions"].as_array().unwrap() {
        let objectives = function["objectives"].as_array().unwrap();
        for row in function["criteria"].as_array().unwrap() {
            let of_row = |kind: &str| {
                let mut all = objectives.iter().filter(|one| one["criterion"] == row["criterion"]);
                let all = all.by_ref().filter(|one| one["verdict"] == kind);
                all.count() as u64
            };
            for kind in ["covered", "infeasible", "duplicate", "unknown"] {
                assert_eq!(row[kind], of_row(kind), "{kind} of {row}");
            }
        }
        for one in objectives.iter().filter(|one| one["verdict"] == "covered") {
            assert!(one["tests"].as_array().is_some_and(|tests| !tests.is_empty()), "{one}");
            assert!(one["line"].as_u64().is_some_and(|line| line > 0), "{one}");
        }
    }
}
