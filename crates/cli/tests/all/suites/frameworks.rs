//! Suites for test frameworks, compiled and run with the real ones where they are installed.

#![allow(clippy::print_stdout, reason = "a test says which frameworks are not there")]

use std::process::Command;

use crate::common::unity::UNITY;
use crate::common::{Ran, Workplace};

const UNIT: &str = "\
#define fail(x) (x)
static int assert_int_equal, state = 3;
int kind(const char *s, int n)
{
    assert_int_equal = fail(n);
    state = n > 100 ? 0 : state + 1;
    if (n > 10 && s[0] == 'a')
        return 1;
    if (n == -7)
        __builtin_trap();
    return 0;
}
";

fn compile(place: &Workplace, compiler: &str, words: &str) -> Ran {
    let mut command = Command::new(compiler);
    command.args(words.split_whitespace());
    place.settle(&mut command);
    Ran::of(&mut command)
}

/// Whether a header is there.
fn has_header(place: &Workplace, compiler: &str, header: &str) -> bool {
    let language = if compiler == "c++" { "c++" } else { "c" };
    place.write("probe.h", &format!("#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <{header}>\n"));
    compile(place, compiler, &format!("-fsyntax-only -x {language} probe.h")).code == Some(0)
}

#[test]
fn suites_compile_and_run_with_every_framework_that_is_installed() {
    let place = Workplace::with(UNIT);
    let formats = "unity,cmocka,check,cunit,criterion,googletest";
    place.done(&format!("gen unit.c -c dc,rte --format {formats}"));
    std::fs::create_dir(place.path("unity")).unwrap();
    place.write("unity/unity.h", UNITY);
    let text = std::fs::read_to_string(place.path("tests/tests.c")).unwrap();
    let cases = text.matches("LYDIAN_CASE(").count();
    let made = compile(
        &place,
        "clang-19",
        "-w -DLYDIAN_NO_MAIN -DLYDIAN_RUN_CRASHING -DLYDIAN_RUN_UNDEFINED -c tests/tests.c -o tests.o",
    );
    assert_eq!(made.code, Some(0), "{made}");
    let crashing = "-w -DLYDIAN_RUN_CRASHING -DLYDIAN_RUN_UNDEFINED";
    let frameworks = [
        ("unity", "cc", "stddef.h", "tests_unity.c -Iunity"),
        ("cmocka", "cc", "cmocka.h", "tests_cmocka.c -lcmocka"),
        ("check", "cc", "check.h", "tests_check.c -lcheck -lsubunit -lm -lrt -lpthread"),
        ("cunit", "cc", "CUnit/Basic.h", "tests_cunit.c -lcunit"),
        ("criterion", "cc", "criterion/criterion.h", "tests_criterion.c -lcriterion"),
        (
            "googletest",
            "c++",
            "gtest/gtest.h",
            "tests_googletest.cc tests.o -lgtest -lgtest_main -lpthread",
        ),
    ];
    for (name, compiler, header, words) in frameworks {
        if !has_header(&place, compiler, header) {
            println!("{name} is not installed: its suite is not compiled");
            continue;
        }
        let words = words.replace("tests_", "tests/tests_");
        let made = compile(&place, compiler, &format!("{crashing} {words} -o with_{name}"));
        assert_eq!(made.code, Some(0), "{name}: {made}");
        let mut command = Command::new(place.path(&format!("with_{name}")));
        place.settle(&mut command);
        if name == "criterion" {
            command.arg("--verbose");
        }
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, Some(0), "{name}: {ran}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(&cases.to_string()), "{name}: {cases} tests: {said}");
    }
}

#[test]
fn a_test_that_fails_fails_in_its_framework() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c dc --format unity,cmocka");
    std::fs::create_dir(place.path("unity")).unwrap();
    place.write("unity/unity.h", UNITY);
    // The source changes after the tests were written.
    place.write("unit.c", &UNIT.replace("return 1;", "return 2;"));
    let mut all = vec![("unity", "tests/tests_unity.c -Iunity")];
    if has_header(&place, "cc", "cmocka.h") {
        all.push(("cmocka", "tests/tests_cmocka.c -lcmocka"));
    }
    for (name, words) in all {
        let made = compile(&place, "cc", &format!("-w {words} -o with_{name}"));
        assert_eq!(made.code, Some(0), "{name}: {made}");
        let mut command = Command::new(place.path(&format!("with_{name}")));
        place.settle(&mut command);
        let ran = Ran::of(&mut command);
        assert!(ran.code.is_some_and(|code| code > 0), "{name}: {ran}");
    }
}
