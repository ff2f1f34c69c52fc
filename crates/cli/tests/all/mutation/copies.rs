//! Tests that run as copies of one process, against tests that are started one by one.

use serde_json::{Value, json};

use super::mutate;
use crate::common::Workplace;

/// Mutants of it fail, crash, never end, exit early, and change what runs before `main`. It has functions
/// of its own with the names of system calls.
const UNIT: &str = r#"
static int table[4];
int fork(void) { return 7; }
int kill(int n) { return n + 1; }
long send(int a, int b) { return a - b; }
static __attribute__((constructor)) void fill(void)
{
    for (int i = 0; i < 4; i++)
        table[i] = 10 * i + 1;
}
int sum(const int *all, int count)
{
    int at = 0, sum = 0;
    const int *last = all + count - 1;
    while (at < count) {
        sum += all[at];
        at++;
    }
    return sum + *last - *last;
}
int table_at(int i)
{
    return table[i];
}
int counted(void)
{
    static int calls;
    calls++;
    return calls;
}
"#;

/// Exits with different codes, and notes in a file whether its parent is the same program.
const CHECK: &str = r#"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
int fork(void), kill(int);
long send(int, int);
int sum(const int *, int), table_at(int), counted(void);
static void note(void)
{
    char path[64], own[512] = "", parent[512] = "";
    snprintf(path, sizeof path, "/proc/%d/exe", (int)getppid());
    if (readlink("/proc/self/exe", own, 511) < 0 || readlink(path, parent, 511) < 0) exit(9);
    FILE *log = fopen("starts", "a");
    fputs(strcmp(own, parent) ? "started\n" : "copied\n", log);
    fclose(log);
}
int main(int count, char **words)
{
    static const int all[] = {5, 6, 7};
    char folder[512];
    if (getenv("MODE") && !strcmp(getenv("MODE"), "quiet") && count != 3) return 8;
    if (getcwd(folder, sizeof folder)) note();
    if (count > 1 && !strcmp(words[1], "calls"))
        return fork() != 7 ? 2 : kill(3) != 4 ? 3 : send(5, 2) != 3 ? 4 : 0;
    if (counted() != 1 || counted() != 2) abort();
    if (table_at(3) != 31) return 5;
    return sum(all, 3) != 18 ? 6 : 0;
}
"#;

fn place() -> Workplace {
    let at = Workplace::with(UNIT);
    at.write("check.c", CHECK);
    at
}

/// What each mutant's runs told, and how the programs were started.
fn results(at: &Workplace, build: &str, tests: &[&str]) -> (Vec<Value>, String) {
    at.write("starts", "");
    let mut words = vec!["unit.c", "--build", build, "--json", "m.json", "--all-tests", "--fresh"];
    words.extend(["--proof-time", "0", "--time-factor", "2"]);
    tests.iter().for_each(|test| words.extend(["--test", *test]));
    let ran = mutate(at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let mutants = report["mutants"].as_array().unwrap().iter();
    let told = mutants.map(|it| {
        let outcome = &it["outcome"];
        // Times decide which of two tests comes first.
        let failure = if tests.len() == 1 { &outcome["failure"] } else { &Value::Null };
        json!([
            it["name"],
            it["start"],
            outcome["kind"],
            failure,
            it["killed_by"].as_array().unwrap().len()
        ])
    });
    (told.collect(), at.read("starts"))
}

const BUILD: &str = "$CC -O1 -c unit.c && $CC unit.o check.c -o check";
const SHARED: &str = "$CC -O1 -fPIC -shared unit.c -o libunit.so && \
                      $CC check.c -L. -lunit -Wl,-rpath,. -o check";

#[test]
fn a_copy_is_the_mutant_that_a_started_program_is() {
    let at = place();
    let (copied, starts) = results(&at, BUILD, &["./check"]);
    let runs = starts.lines().filter(|line| *line == "copied").count();
    assert!(runs > 30, "{starts}");
    let (started, starts) = results(&at, BUILD, &["exec ./check"]);
    assert!(!starts.contains("copied"), "`exec` is no program: {starts}");
    assert_eq!(copied, started);
    let failures: Vec<String> = started.iter().map(|it| it[3].to_string()).collect();
    let has = |word: &str| failures.iter().any(|it| it.contains(word));
    assert!(has("status") && has("signal") && has("timeout"), "{failures:?}");
}

#[test]
fn mutants_of_a_shared_library_are_chosen_in_copies() {
    let at = place();
    let (copied, starts) = results(&at, SHARED, &["./check"]);
    assert!(starts.contains("copied"), "{starts}");
    let (started, _) = results(&at, BUILD, &["exec ./check"]);
    assert_eq!(copied, started);
}

#[test]
fn each_command_has_copies_with_its_own_words_variables_and_folder() {
    let at = place();
    std::fs::create_dir(at.path("part")).unwrap();
    let tests = ["./check calls", "MODE=quiet ./check all 1", "cd part && ../check"];
    let (copied, starts) = results(&at, BUILD, &tests);
    assert!(starts.contains("copied") && at.read("part/starts").contains("copied"), "{starts}");
    let started = tests.map(|test| format!("{test}; exit $?"));
    let (started, starts) = results(&at, BUILD, &started.each_ref().map(String::as_str));
    assert!(!starts.contains("copied"), "{starts}");
    assert_eq!(copied, started);
}

#[test]
fn a_program_that_a_script_starts_is_not_copied() {
    let at = place();
    at.write("check.sh", "rm -f state\n./check && touch state\n");
    let (_, starts) = results(&at, BUILD, &["/bin/sh check.sh"]);
    assert!(starts.lines().count() > 10 && !starts.contains("copied"), "{starts}");
}
