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
