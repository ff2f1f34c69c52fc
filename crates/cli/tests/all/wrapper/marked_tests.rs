//! Runs that are marked as tests: which lines each passed, and which of them a change is about.

use crate::common::wrapped::{built, coverage, shell};
use crate::common::{self, LYDIAN, Workplace};

const UNIT: &str = "\
#include <stdlib.h>
int low(int n)
{
    return n < 3 ? n : 3;
}
int high(int n)
{
    n += 4;
    return n;
}
int main(int count, char **words)
{
    int n = atoi(words[1]);
    return count == 3 ? high(n) : low(n);
}
";

/// A repository with a program that three tests ran.
fn place() -> Workplace {
    let at = Workplace::with(UNIT);
    at.write(".gitignore", ".lydian\nunit\nb\n");
    for line in ["init -q .", "add .", "commit -qm base"] {
        let line = format!("git -c user.name=t -c user.email=t@example.org {line}");
        assert_eq!(shell(&at, &line).code, Some(0), "{line}");
    }
    built(&at, "-c stmt", "gcc unit.c -o unit");
    let run = |line: &str, code| assert_eq!(shell(&at, line).code, Some(code), "{line}");
    run(&format!("{LYDIAN} mark 'small numbers' -- ./unit 2"), 2);
    run(&format!("{LYDIAN} mark large -- ./unit 7"), 3);
    run("LYDIAN_TEST=above ./unit 1 x", 5);
    at
}

#[test]
fn each_test_is_known_by_the_lines_that_it_passed_and_all_count_together() {
    let at = place();
    let table = at.done("tests").out;
    let row = |name: &str| -> Vec<String> {
        let line =
            table.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{table}"));
        line.split('|').map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(row("small numbers"), ["small numbers", "1", "5", "0"]);
    assert_eq!(row("above"), ["above", "1", "6", "3"]);
    assert_eq!(at.done("tests --at unit.c:8").out, "above\n");
    assert_eq!(at.done("tests --at unit.c:2-5").out, "large\nsmall numbers\n");
    assert_eq!(at.done("tests --at unit.c").out, "above\nlarge\nsmall numbers\n");
    let found = coverage(&at);
    let entered = |name: &str| common::wrapped::entered(&found, name);
    assert!(entered("low") && entered("high"));
    at.done("report --json one.json --html pages");
    assert_eq!(at.done("tests --from-json one.json --at unit.c:8").out, "above\n");
    assert!(at.read("pages/src_unit.c.html").contains("title=\"1 test: above\""));
    at.refused("tests --at none.c", 2, &["cannot find", "none.c"]);
    at.refused("tests --at unit.c:x", 2, &["`x` in unit.c:x is no line"]);
    at.refused("mark name", 2, &["no command is given"]);
    at.refused("mark name -- ./none", 5, &["cannot start ./none"]);
}

#[test]
fn the_tests_of_a_change_are_those_that_ran_what_it_touches() {
    let at = place();
    let after = |from: &str, to: &str| {
        at.write("unit.c", &UNIT.replacen(from, to, 1));
        at.done("tests --diff HEAD").out
    };
    assert_eq!(after("n += 4;", "n += 5;"), "above\n");
    assert_eq!(after("    return n <", "    n--;\n    return n <"), "large\nsmall numbers\n");
    assert_eq!(after("#include", "#define X 1\n#include"), "above\nlarge\nsmall numbers\n");
    assert_eq!(shell(&at, "git checkout -q unit.c").code, Some(0));
    assert_eq!(at.done("tests --diff HEAD").out, "");
}

#[test]
fn without_marked_runs_that_is_said() {
    let at = Workplace::with(UNIT);
    built(&at, "-c stmt", "gcc unit.c -o unit");
    assert_eq!(shell(&at, "./unit 1").code, Some(1));
    at.refused("tests", 2, &["no run was marked as a test", "lydian mark"]);
}

#[test]
fn tests_of_ctest_are_marked_by_their_names() {
    if shell(&Workplace::with(""), "ctest --version").code != Some(0) {
        // CMake is no part of what the tests need.
        return;
    }
    let at = Workplace::with(UNIT);
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(unit unit.c)\n\
                 enable_testing()\nadd_test(NAME low.1+ COMMAND unit 0)\n\
                 add_test(NAME high COMMAND unit -4 x)\n";
    at.write("CMakeLists.txt", lists);
    at.write("cc", &format!("#!/bin/sh\nexec {LYDIAN} cc -c stmt -- gcc \"$@\"\n"));
    let ran =
        shell(&at, "chmod +x cc && cmake -S . -B b -DCMAKE_C_COMPILER=$PWD/cc && cmake --build b");
    assert_eq!(ran.code, Some(0), "{ran}");
    let ran = at.done("mark --ctest b");
    assert!(ran.out.contains("2 tests passed"), "{ran}");
    assert_eq!(at.done("tests --at unit.c:8").out, "high\n");
    assert_eq!(at.done("tests --at unit.c:4").out, "low.1+\n");
}

#[test]
fn lines_of_labels_are_lines_of_tests() {
    let at = Workplace::with(
        "int main(int n, char **words)\n{\n    switch (n) {\n    case 2:\n        n = 0;\n        \
         break;\n    default:\n        n = 0;\n    }\n    return n;\n}\n",
    );
    built(&at, "-c stmt", "gcc unit.c -o unit");
    for line in ["mark two -- ./unit x", "mark one -- ./unit"] {
        assert_eq!(shell(&at, &format!("{LYDIAN} {line}")).code, Some(0), "{line}");
    }
    assert_eq!(at.done("tests --at unit.c:4").out, "two\n");
    assert_eq!(at.done("tests --at unit.c:7").out, "one\n");
}
