//! Outside checkers: tools that answer about a program that Lydian writes, or fail to.
//!
//! Tests write small tools of their own. One of them is a checker indeed: it compiles the program with
//! the system's compiler and runs it with all inputs of a small range.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, Workplace};

/// One error that an input leads to, in line 7, and one that none does, in line 9.
const TWO_ERRORS: &str = "\
extern void abort(void);
void reach_error(void) { abort(); }
int __VERIFIER_nondet_int(void);
int main(void)
{
    int x = __VERIFIER_nondet_int() & 3, y = __VERIFIER_nondet_int() & 3;
    if (x == 2 && y == 3) reach_error();
    if (x + y > 4 && x < 2)
        reach_error();
    return 0;
}
";

/// A checker that tries all inputs from 0 to 3. It writes a witness with the inputs of a run that it
/// finds.
const BRUTE: &str = r#"#!/bin/sh
here=$(dirname "$0")
sed 's/^# .*//' "$1" > program.c
cc -w -fwrapv -Dmain=program_main -Dabort=program_abort -c program.c -o program.o || exit 9
cc -w "$here/driver.c" program.o -o program || exit 9
WITNESS="$2" exec ./program
"#;

const DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MOST = 2, VALUES = 4, REACHED = 42 };
int program_main(void);
static int inputs[MOST], given;
int __VERIFIER_nondet_int(void) { if (given == MOST) _exit(0); return inputs[given++]; }
void program_abort(void) { _exit(0); }
void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
    _exit(REACHED);
}
static void tell(void)
{
    FILE *witness = fopen(getenv("WITNESS"), "w");
    fprintf(witness, "<graphml>");
    for (int i = 0; i < MOST; i++)
        fprintf(witness, "<edge><data key=\"assumption\">\\result == %d;</data><data "
            "key=\"assumption.resultfunction\">__VERIFIER_nondet_int</data></edge>\n", inputs[i]);
    fprintf(witness, "</graphml>");
    fclose(witness);
}
int main(void)
{
    for (int all = 0; all < VALUES * VALUES; all++) {
        inputs[0] = all % VALUES;
        inputs[1] = all / VALUES;
        int status, child = fork();
        if (child == 0) { alarm(2); program_main(); _exit(0); }
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == REACHED) {
            tell();
            puts("VERIFICATION FAILED");
            return 0;
        }
    }
    puts("VERIFICATION SUCCESSFUL");
    return 0;
}
"#;

/// A place with a program and a tool of this name.
fn with_tool(program: &str, name: &str, script: &str) -> Workplace {
    let place = Workplace::with(program);
    place.write(name, script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(name), executable).expect("it is ours");
    place
}

fn with_brute(program: &str) -> Workplace {
    let place = with_tool(program, "brute", BRUTE);
    place.write("driver.c", DRIVER);
    place
}

/// `lydian prove` with a tool that gets the program's file, and more words. The provers have no time.
fn asked(place: &Workplace, tool: &str, words: &str) -> Ran {
    let mut command = place.command("prove unit.c --provers exploration --time 0 --json t.json");
    let template = format!("{} {{file}} {{witness}}", place.path(tool).display());
    command.args(["--checker", &template]).args(words.split_whitespace());
    Ran::of(&mut command)
}

fn answers(place: &Workplace) -> Vec<Value> {
    let json = place.json("t.json");
    let errors = json["errors"].as_array().expect("a list of errors");
    errors.iter().map(|error| error["answer"].clone()).collect()
}

#[test]
fn a_checker_decides_what_the_provers_leave() {
    let place = with_brute(TWO_ERRORS);
    let ran = asked(&place, "brute", "");
    assert_eq!(ran.code, Some(0), "{ran}");
    let answers = answers(&place);
    let inputs = answers[0]["reached"].as_array().unwrap_or_else(|| panic!("{ran}"));
    let values: Vec<&Value> = inputs.iter().map(|input| &input["bytes"][0]).collect();
    assert_eq!(values, [2, 3], "{ran}");
    assert!(answers[1]["unreachable"]["paths"].as_str().unwrap().contains("brute"), "{ran}");
    assert!(ran.out.contains("was asked about 2: it decides 2"), "{ran}");
}

#[test]
fn a_checker_agrees_with_the_provers_about_everything() {
    let place = with_brute(TWO_ERRORS);
    let mut command = place.command("prove unit.c --time 60 --cross-check --checker");
    command.arg(format!("{} {{file}} {{witness}}", place.path("brute").display()));
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.contains("agrees on 2, disagrees on 0"), "{ran}");
}

#[test]
fn a_tool_that_is_not_there_loses_no_answer() {
    let place = Workplace::with(TWO_ERRORS);
    let ran = place.run("prove unit.c --time 60 --checker no/such/cbmc");
    assert_eq!(ran.code, Some(5), "{ran}");
    assert!(ran.out.contains("unit.c:7:27: reached"), "{ran}");
    assert!(ran.out.contains("there is no program `no/such/cbmc`"), "{ran}");
    place.refused("gen unit.c --checker no/such/cbmc", 5, &["there is no program"]);
}

#[test]
fn a_word_that_is_no_tool_is_refused_before_anything_is_done() {
    let place = Workplace::with(TWO_ERRORS);
    place.refused("prove unit.c --checker gcc", 2, &["is no tool that is known"]);
    place.refused("prove unit.c --checker {file}x", 2, &["no word `{file}`"]);
}

#[test]
fn a_tool_that_hangs_is_stopped() {
    let place = with_tool(TWO_ERRORS, "hangs", "#!/bin/sh\nsleep 1000 &\nwait\n");
    let ran = asked(&place, "hangs", "--checker-time 0.4");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(ran.out.matches("no answer in 1 s").count(), 2, "{ran}");
}

#[test]
fn a_tool_that_crashes_or_writes_nonsense_is_told_and_leaves_everything_unknown() {
    let scripts = [
        ("kill -SEGV $$", "it crashed (signal 11)"),
        ("echo all is well; exit 3", "it ended with code 3: all is well"),
        ("exit 0", "it ended with code 0 and wrote nothing"),
    ];
    for (script, said) in scripts {
        let place = with_tool(TWO_ERRORS, "fails", &format!("#!/bin/sh\n{script}\n"));
        let ran = asked(&place, "fails", "");
        assert_eq!(ran.code, Some(5), "{script}: {ran}");
        assert_eq!(ran.out.matches(said).count(), 2, "{script}: {ran}");
        assert!(answers(&place).iter().all(|answer| answer.get("unknown").is_some()), "{ran}");
    }
}

#[test]
fn a_claim_without_inputs_that_lead_there_stays_unconfirmed() {
    let place = with_tool(TWO_ERRORS, "says-false", "#!/bin/sh\necho FALSE\n");
    let ran = asked(&place, "says-false", "");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(ran.out.matches("a run gets there, unconfirmed").count(), 2, "{ran}");
    assert!(answers(&place).iter().all(|answer| answer.get("unknown").is_some()), "{ran}");
}

#[test]
fn an_opposite_answer_is_a_disagreement_and_its_program_is_kept() {
    let place = with_tool(TWO_ERRORS, "says-true", "#!/bin/sh\necho TRUE\n");
    let words = "prove unit.c --time 60 --cross-check --disagreements kept --checker";
    let mut command = place.command(words);
    command.arg(format!("{} {{file}}", place.path("says-true").display()));
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "the interpreter confirms Lydian's answer: {ran}");
    assert!(ran.out.contains("agrees on 1, disagrees on 1"), "{ran}");
    let kept = place.json("kept/main-0/answers.json");
    assert!(kept["conclusion"]["disagrees"].is_string(), "{kept}");
    assert!(place.read("kept/main-0/unit-0.i").contains("lydian_goal()"));
}

/// Definitions and uses some of which no run connects; loops, and a global.
const FLOWS: &str = "\
int __VERIFIER_nondet_int(void);
int total;
static int add(int by)
{
    total += by;
    return total;
}
int main(void)
{
    int x = __VERIFIER_nondet_int() & 3, y = __VERIFIER_nondet_int() & 3;
    int d = 0, i;
    if (x == 1)
        d = 5;
    for (i = 0; i < y; i++)
        if (add(i) > 2 && x)
            d += i;
    if (x != 1 && y == d)
        return 7;
    if (x == 1)
        return d + add(y);
    return total;
}
";

/// Objectives of whole programs that exploration left, as a checker decides them: each is covered by a
/// test that was measured, or infeasible.
#[test]
fn a_checker_decides_the_objectives_that_exploration_leaves() {
    let place = with_brute(FLOWS);
    let words =
        "gen unit.c --criteria all-uses,dc,mcc --max-paths 1 -o tests --json t.json --checker";
    let mut command = place.command(words);
    command.arg(format!("{} {{file}} {{witness}}", place.path("brute").display()));
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran}");
    let table = place.json("t.json");
    let functions = table["functions"].as_array().expect("a list of functions");
    let rows = functions.iter().flat_map(|function| function["criteria"].as_array().unwrap());
    for row in rows {
        assert_eq!(row["unknown"], 0, "{row}: {ran}");
    }
    // The same verdicts without the checker.
    let alone = place.done("gen unit.c --criteria all-uses,dc,mcc -o alone --json alone.json");
    let alone_table = place.json("alone.json");
    for (with, without) in functions.iter().zip(alone_table["functions"].as_array().unwrap()) {
        let counts = |of: &Value| -> Vec<(Value, Value)> {
            let rows = of["criteria"].as_array().unwrap().iter();
            rows.map(|row| (row["covered"].clone(), row["infeasible"].clone())).collect()
        };
        assert_eq!(counts(with), counts(without), "{ran}{alone}");
    }
}

/// The real CBMC, where there is one.
fn cbmc() -> Option<String> {
    let named = std::env::var("LYDIAN_CBMC").unwrap_or_else(|_| "cbmc".to_owned());
    let there = Command::new(&named).arg("--version").output();
    there.is_ok_and(|ran| ran.status.success()).then_some(named)
}

#[test]
fn cbmc_decides_errors_and_objectives() {
    let Some(cbmc) = cbmc() else {
        let said = "there is no cbmc on the PATH and none in LYDIAN_CBMC: this was not tested\n";
        let _ = std::io::stderr().write_all(said.as_bytes());
        return;
    };
    let place = Workplace::with(TWO_ERRORS);
    let words = "prove unit.c --provers exploration --time 0 --json t.json --checker";
    let ran = place.done(&format!("{words} {cbmc}"));
    let answers = answers(&place);
    assert!(
        answers[0].get("reached").is_some() && answers[1].get("unreachable").is_some(),
        "{ran}"
    );
    let place = Workplace::with(FLOWS);
    let words = "gen unit.c --criteria all-uses,dc --max-paths 1 -o tests --json t.json --checker";
    let ran = place.done(&format!("{words} {cbmc}"));
    let table = place.json("t.json");
    let functions = table["functions"].as_array().expect("a list of functions");
    for row in functions.iter().flat_map(|function| function["criteria"].as_array().unwrap()) {
        assert_eq!(row["unknown"], 0, "{row}: {ran}");
    }
}
