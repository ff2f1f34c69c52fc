//! Functions that are worked on at once: what comes of them does not depend on how many are.

use std::collections::BTreeMap;
use std::process::Command;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::common::{LONG, Ran, Workplace, children, is_alive, wait_until};

/// Functions of all kinds: with objectives that none reaches, with faults, with state, and one that
/// takes longer than those behind it. None has a question that a time limit could end.
const MANY: &str = r#"
static int level;
static unsigned calls;

int slow(const unsigned char key[5])
{
    unsigned hash = 7;
    int score = 0;
    for (int i = 0; i < 5; i++) {
        if (key[i] > 100 && key[i] < 200)
            score++;
        hash = (hash << 1) + key[i];
    }
    return score == 3 && (hash & 7) == 1 ? 2 : score > 4;
}

int sign(int x) { if (x > 0) return 1; if (x < 0) return -1; return 0; }

int never(int x)
{
    if (x > 10 && x < 5)
        return 1;
    return x == 3 || x != 3;
}

int leap(int year) { return ((year & 3) == 0 && year != 1900) || year == 2400; }

int set_level(int to)
{
    calls++;
    if (to < 0 || to > 9)
        return -1;
    level = to;
    return level;
}

int get_level(int least)
{
    if (level < least)
        return least;
    return calls > 3 ? level : 0;
}

int fault(int x) { if (x > 5 && x < 9) return *(int *)0; return x; }

int first(const char *text)
{
    if (*text == 'a')
        return 1;
    return text[0] == 'b' && text[1] == 'c';
}

unsigned turns_of(unsigned n)
{
    unsigned turns = 0;
    while (n != 1 && turns < 5) {
        n = n & 1 ? n + n + n + 1 : n >> 1;
        turns++;
    }
    return turns;
}

int grade(int points)
{
    switch (points >> 3) {
    case 12:
    case 11: return 'A';
    case 10: return 'B';
    default: return points < 0 ? 0 : 'F';
    }
}

int within(int x, int low, int high) { return low <= x && x <= high && low != high; }
"#;

/// A result as JSON without times.
fn timeless(mut json: Value) -> Value {
    fn drop_times(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !name.contains("seconds"));
                fields.values_mut().for_each(drop_times);
            }
            Value::Array(values) => values.iter_mut().for_each(drop_times),
            _ => {}
        }
    }
    drop_times(&mut json);
    json
}

/// A table without its last column, that of times.
fn without_times(table: &str) -> String {
    let of_line = |line: &str| match line.trim_end_matches('|').rsplit_once('|') {
        Some((all_but_last, _)) if line.starts_with('|') => format!("{all_but_last}\n"),
        _ => format!("{line}\n"),
    };
    table.lines().map(of_line).collect()
}

#[test]
fn one_thread_and_two_give_the_same_verdicts_the_same_files_and_the_same_output() {
    let place = Workplace::with(MANY);
    let run = |jobs: usize| {
        let ran = place.done(&format!(
            "gen unit.c -c dc,cc,mcc,gacc,mcdc,wm,all-uses --time 600 --solver-time 60000 \
             --test-time 20000 --format unity --jobs {jobs} --json t.json -o tests"
        ));
        let files = ["tests/tests.json", "tests/tests.c", "tests/tests_unity.c"];
        let files = files.map(|name| place.read(name));
        std::fs::remove_dir_all(place.path("tests")).expect("the tests are there");
        (timeless(place.json("t.json")), files, without_times(&ran.out), ran.err)
    };
    let (one, two) = (run(1), run(2));
    let functions = one.0["functions"].as_array().expect("a list of functions");
    assert_eq!(functions.len(), 11);
    assert!(one.2.contains("fails: crash"), "{}", one.2);
    assert_eq!(one, two);
}

/// The verdicts of a finished run: the evidence that decides, for each function and objective.
fn decided(place: &Workplace, folder: &str) -> BTreeMap<(String, String), String> {
    let ledger = Connection::open(place.path(folder).join("ledger.sqlite")).expect("a ledger");
    let mut query = ledger
        .prepare(
            "SELECT name, label, kind FROM evidence JOIN function ON function.id = function
             WHERE kind != 'unknown' ORDER BY name, label, kind",
        )
        .expect("the ledger has evidence");
    let row = |row: &rusqlite::Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get(2)?));
    let rows = query.query_map([], row).expect("it can be read");
    rows.map(|row| row.expect("each row can be read")).collect()
}

/// How many functions have an objective that a test covers, as far as the ledger knows by now.
fn functions_with_findings(place: &Workplace) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let open = Connection::open_with_flags(place.path("tests/ledger.sqlite"), flags);
    let count = open.and_then(|ledger| {
        let query = "SELECT count(DISTINCT function) FROM evidence WHERE kind = 'measured'";
        ledger.query_row(query, [], |row| row.get::<_, u32>(0))
    });
    count.unwrap_or(0)
}

/// Copies of a function that takes a while, each with an objective that no input reaches.
fn copies(count: usize) -> String {
    let copy = |number: usize| {
        format!(
            "int f{number}(const unsigned char key[6])\n{{\n    int score = 0, next;\n    \
             unsigned hash = {number};\n    for (int i = 0; i < 6; i++) {{\n        \
             if (key[i] > 100 && key[i] < 200)\n            score++;\n        \
             hash = hash * 33 + key[i];\n    }}\n    next = hash + 1;\n    \
             if (score == 3 && (hash * next) % 2)\n        return 2;\n    return score > 5;\n}}\n"
        )
    };
    (0..count).map(copy).collect()
}

#[test]
fn a_run_with_several_threads_that_is_killed_goes_on_to_the_same_verdicts() {
    let place = Workplace::with(&copies(6));
    let words = "gen unit.c -c dc,cc,mcc --time 600 --search dfs --no-merge --jobs 2";
    let mut child =
        place.command(&format!("{words} -o tests --json t.json")).spawn().expect("it starts");
    wait_until("findings of three functions", || functions_with_findings(&place) >= 3);
    let runners = children(child.id());
    child.kill().expect("it is killed with SIGKILL");
    child.wait().expect("it ends");
    assert!(!place.path("t.json").exists(), "it was killed before its end");
    wait_until("the runners' ends", || runners.iter().all(|pid| !is_alive(*pid)));

    place.done(&format!("{words} -o tests --json t.json"));
    place.done(&format!("{words} -o undisturbed --json u.json"));
    assert_same_findings(&place);
}

#[test]
fn an_interrupt_stops_all_threads_and_keeps_what_each_found() {
    let place = Workplace::with(&(LONG.to_owned() + &LONG.replace("int f(", "int g(")));
    place.write("unit.c", &(place.read("unit.c") + "int unbegun(int x) { return x > 3; }\n"));
    let child = place
        .command(
            "gen unit.c -c dc,cc,mcc -o tests --time 600 --search dfs --no-merge \
             --max-paths 1000000000 --jobs 2 --json t.json",
        )
        .spawn()
        .expect("it starts");
    wait_until("findings of both functions", || functions_with_findings(&place) == 2);
    let mut runners = Vec::new();
    wait_until("a runner for each thread", || {
        runners = children(child.id());
        runners.len() == 2
    });
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    ran.says(130, &["warning[interrupted]", "goes on from here"]);
    let table = place.json("t.json");
    let functions = table["functions"].as_array().expect("a list of functions");
    let names: Vec<&str> = functions.iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["f", "g"], "those that were begun, in the order of the file");
    for function in functions {
        let criteria = function["criteria"].as_array().expect("a list of criteria");
        assert!(criteria.iter().any(|row| row["covered"].as_u64() > Some(0)), "{function:#}");
        assert!(function["tests"].as_u64() > Some(0), "{function:#}");
    }
    wait_until("the runners' ends", || runners.iter().all(|pid| !is_alive(*pid)));
    assert!(place.left_over().is_empty());
}

/// A function with more paths than one worker follows before others help: three to the power of
/// `elements`.
fn one_long(elements: u32) -> String {
    copies(1).replace("[6]", &format!("[{elements}]")).replace("< 6", &format!("< {elements}"))
}

/// Whether a process has a thread that helps to explore.
fn has_helper(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let names = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("comm")));
    names.flatten().any(|name| name.trim() == "explorer")
}

/// What the criteria say in a written table.
fn criteria_of(place: &Workplace, table: &str) -> Vec<Value> {
    let functions = place.json(table)["functions"].as_array().expect("a list").clone();
    functions.into_iter().map(|function| function["criteria"].clone()).collect()
}

/// Checks that the disturbed run (`t.json`, `tests`) ended with the rows and the verdicts of the other
/// (`u.json`, `undisturbed`), and that there are measured and complete ones.
fn assert_same_findings(place: &Workplace) {
    assert_eq!(criteria_of(place, "t.json"), criteria_of(place, "u.json"));
    let verdicts = decided(place, "undisturbed");
    assert_eq!(decided(place, "tests"), verdicts);
    for kind in ["measured", "complete"] {
        assert!(verdicts.values().any(|found| found == kind), "no {kind} in {verdicts:?}");
    }
}

/// Criteria of labels, and of hyperlabels that relate tests to each other.
const LABELS: &str = "dc,cc,mcc";
const HYPERLABELS: &str = "mcdc,racc,ricc,all-uses,ppc";

/// One worker and two find the same, and two the same tests each time.
fn compare_one_worker_with_two(criteria: &str) {
    let place = Workplace::with(&one_long(7));
    let run = |jobs: usize, folder: &str| {
        place.done(&format!(
            "gen unit.c -c {criteria} --time 600 --solver-time 60000 --no-merge --explore all \
             --jobs {jobs} -o {folder} --json {folder}.json"
        ));
        (criteria_of(&place, &format!("{folder}.json")), decided(&place, folder))
    };
    let (one, two, again) = (run(1, "one"), run(2, "two"), run(2, "again"));
    assert_eq!(one, two);
    assert_eq!(two, again);
    assert_eq!(place.read("two/tests.json"), place.read("again/tests.json"));
    let exploration = |table: &str| place.json(table)["functions"][0]["exploration"].clone();
    let (one, two) = (exploration("one.json"), exploration("two.json"));
    assert_eq!((&one["paths"], &one["complete"]), (&two["paths"], &two["complete"]));
}

#[test]
fn two_workers_in_one_function_find_what_one_finds_and_the_same_tests_each_time() {
    compare_one_worker_with_two(LABELS);
}

#[test]
fn two_workers_find_for_hyperlabels_what_one_finds_and_the_same_tests_each_time() {
    compare_one_worker_with_two(HYPERLABELS);
}

/// A run with two workers that is killed goes on to the verdicts of one that was not.
fn kill_and_go_on(criteria: &str) {
    let place = Workplace::with(&one_long(9)); // some seconds, to be killed in time
    let words =
        format!("gen unit.c -c {criteria} --time 600 --solver-time 60000 --no-merge --explore all");
    let mut child = place
        .command(&format!("{words} --jobs 2 -o tests --json t.json"))
        .spawn()
        .expect("it starts");
    wait_until("findings, and a second worker", || {
        functions_with_findings(&place) == 1 && has_helper(child.id())
    });
    let runners = children(child.id());
    child.kill().expect("it is killed with SIGKILL");
    child.wait().expect("it ends");
    assert!(!place.path("t.json").exists(), "it was killed before its end");
    wait_until("the runners' ends", || runners.iter().all(|pid| !is_alive(*pid)));

    place.done(&format!("{words} --jobs 2 -o tests --json t.json"));
    place.done(&format!("{words} --jobs 1 -o undisturbed --json u.json"));
    assert_same_findings(&place);
}

#[test]
fn a_run_with_two_workers_in_one_function_that_is_killed_goes_on_to_the_same_verdicts() {
    kill_and_go_on(LABELS);
}

#[test]
fn a_run_with_two_workers_for_hyperlabels_that_is_killed_goes_on_to_the_same_verdicts() {
    kill_and_go_on(HYPERLABELS);
}

#[test]
fn an_interrupt_stops_all_workers_in_one_function() {
    let place = Workplace::with(LONG);
    let child = place
        .command(
            "gen unit.c -c dc,cc,mcc -o tests --time 600 --search dfs --no-merge \
             --max-paths 1000000000 --jobs 2 --json t.json",
        )
        .spawn()
        .expect("it starts");
    wait_until("a second worker", || has_helper(child.id()));
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    ran.says(130, &["warning[interrupted]", "goes on from here"]);
    let rows = criteria_of(&place, "t.json");
    let rows = rows[0].as_array().expect("a list of criteria");
    assert!(rows.iter().any(|row| row["covered"].as_u64() > Some(0)), "{rows:#?}");
    assert!(place.left_over().is_empty());
}

#[test]
fn no_jobs_at_all_are_refused() {
    let place = Workplace::with("int f(int x) { return x > 1; }\n");
    place.refused("gen unit.c --jobs 0", 2, &["--jobs"]);
}
