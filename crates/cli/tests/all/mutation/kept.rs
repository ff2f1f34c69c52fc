//! Results that later runs take over.

use serde_json::Value;

use super::mutate;
use crate::common::Workplace;

const UNIT: &str = "\
static int twice(int n)
{
    return n + n;
}
int larger(int a, int b)
{
    return a < b ? b : a;
}
int doubled(int a)
{
    if (a > 50)
        return 50;
    return twice(a);
}
";

/// All of a report but times and counts of runs.
fn verdicts(report: &Value) -> Vec<Value> {
    let all = report["mutants"].as_array().unwrap().iter();
    let parts = |it: &Value| {
        serde_json::json!([
            it["key"],
            it["name"],
            it["start"],
            it["outcome"]["kind"],
            it["outcome"]["proof"]
        ])
    };
    all.map(parts).collect()
}

/// The report of a run, and its number of runs of tests.
fn report(at: &Workplace, fresh: bool) -> (Value, u64) {
    let words =
        ["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "3", "--all-tests"];
    let more: &[&str] = if fresh { &["--fresh", "--dir", "other"] } else { &[] };
    let ran = mutate(at, &[&words[..], more].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let runs = report["runs"].as_u64().unwrap();
    (report, runs)
}

#[test]
fn a_second_run_runs_only_what_an_edit_changes_and_finds_what_a_fresh_one_finds() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c wm --time 5");
    let (first, all) = report(&at, false);
    assert!(all > 50, "{all}");
    let (again, runs) = report(&at, false);
    assert_eq!((verdicts(&again), runs), (verdicts(&first), 0), "nothing changed");
    // Each edit, and whether tests of `larger` depend on it.
    let edits = [
        ("return n + n;", "return n * 2;"),
        ("a > 50", "a >= 51"),
        ("int larger", "\n\nint larger"),
        ("return a < b ? b : a;", "return b > a ? b : a;"),
        ("static int twice", "static int unused;\nstatic int twice"),
    ];
    let mut text = UNIT.to_owned();
    for (old, new) in edits {
        text = text.replacen(old, new, 1);
        at.write("unit.c", &text);
        let (kept, some) = report(&at, false);
        let (fresh, all) = report(&at, true);
        assert_eq!(verdicts(&kept), verdicts(&fresh), "{old} -> {new}");
        match new {
            "\n\nint larger" => assert_eq!(some, 0, "only lines moved"),
            _ if new.contains("unused") => assert_eq!(some, all, "all may depend on it"),
            _ => assert!(some > 0 && some < all, "{old} -> {new}: {some} of {all}"),
        }
    }
}

#[test]
fn a_second_run_needs_no_test_whichever_of_them_is_the_fastest() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c wm --time 5");
    let words = ["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "0"];
    let reports = [(); 2].map(|()| {
        let ran = mutate(&at, &words);
        assert_eq!(ran.code, Some(0), "{ran}");
        at.json("m.json")
    });
    assert_eq!(reports[1]["runs"], 0);
    let killers = |report: &Value| {
        let all = report["mutants"].as_array().unwrap().iter();
        all.map(|it| it["killed_by"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(killers(&reports[1]), killers(&reports[0]));
}

#[test]
fn functions_with_the_same_text_in_two_files_have_results_of_their_own() {
    let at = Workplace::with("");
    let clamp = "static int clamp(int n)\n{\n    return n > 9 ? 9 : n;\n}\n";
    for name in ["a", "b"] {
        let text = format!("{clamp}int of_{name}(int n)\n{{\n    return clamp(n);\n}}\n");
        at.write(&format!("{name}.c"), &text);
    }
    let check = "int of_a(int); int of_b(int); int main(void) { of_b(30); return of_a(30) != 9; }";
    at.write("check.c", check);
    let build = ["--build", "$CC a.c b.c check.c -o check", "--test", "./check"];
    let words = ["a.c", "b.c", "--json", "m.json", "--proof-time", "0"];
    for _ in 0..2 {
        let ran = mutate(&at, &[&words[..], &build].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        let report = at.json("m.json");
        let all = report["mutants"].as_array().unwrap().iter();
        let same = all.filter(|it| it["name"] == "ROR > -> false");
        let outcomes: Vec<(bool, &str)> = same
            .map(|it| {
                let is_first = it["file"].as_str().unwrap().ends_with("a.c");
                (is_first, it["outcome"]["kind"].as_str().unwrap())
            })
            .collect();
        assert_eq!(outcomes, [(true, "killed"), (false, "survived")], "{ran}");
    }
}

#[test]
fn results_that_cannot_be_forgotten_are_an_error() {
    let at = Workplace::with("int main(void) { return 0; }");
    std::fs::create_dir_all(at.path(".lydian/mutation-results.json")).unwrap();
    let ran = mutate(&at, &["unit.c", "--test", "true", "--fresh"]);
    ran.says(5, &["cannot remove", "mutation-results.json"]);
}

#[test]
fn a_run_whose_time_is_over_leaves_mutants_for_the_next_one() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c wm --time 5");
    let words = ["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "3"];
    let ran = mutate(&at, &[&words[..], &["--run-time", "0"]].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.contains(" mutants were not run, as the time was over"), "{ran}");
    let kinds = |report: &Value| -> Vec<Value> {
        let all = report["mutants"].as_array().unwrap().iter();
        all.map(|it| it["outcome"]["kind"].clone()).collect()
    };
    let first = kinds(&at.json("m.json"));
    assert!(!first.is_empty() && first.iter().all(|kind| kind == &first[0]), "{first:?}");
    let ran = mutate(&at, &words);
    assert!(!ran.out.contains("were not run"), "{ran}");
    assert!(!kinds(&at.json("m.json")).contains(&first[0]), "{ran}");
}
