//! Functions with `...`: their arguments are inputs, of the types that the function reads.

use std::process::Command;

use crate::common::unity::UNITY;
use crate::common::{Ran, Workplace, figures};

/// Reads arguments of several types, more words than there are registers for them, and some in a
/// function of its own that gets the list.
const PICK: &str = "\
#include <stdarg.h>
static int sum(int n, va_list list)
{
    int all = 0;
    while (n-- > 0)
        all += va_arg(list, int);
    return all;
}
int pick(int what, ...)
{
    va_list list;
    int found = 0;
    va_start(list, what);
    switch (what) {
    case 0: {
        int small = va_arg(list, int);
        long large = va_arg(list, long);
        if (small > 5 && large == 1L << 40)
            found = 1;
        break;
    }
    case 1: {
        double real = va_arg(list, double);
        const char *text = va_arg(list, const char *);
        unsigned number = va_arg(list, unsigned);
        if (real > 2.5 && text[0] == 'o' && text[1] == 'k' && number == 4000000000u)
            found = 2;
        break;
    }
    case 2: {
        int *place = va_arg(list, int *);
        if (*place == 3)
            *place = found = 3;
        break;
    }
    case 3: {
        long words = 0;
        double floats = 0;
        for (int i = 0; i < 8; i++) {
            words = words * 3 + va_arg(list, long);
            floats = floats * 2 + va_arg(list, double);
        }
        if (words == 9840 && floats == 255)
            found = 4;
        break;
    }
    case 4: {
        int n = va_arg(list, int);
        if (n == 4 && sum(n, list) == 42)
            found = 5;
        break;
    }
    case 5: {
        int n = va_arg(list, int);
        if (n > 3 && n < 2)
            found = 6;
        break;
    }
    }
    va_end(list);
    return found;
}
";

fn compiled_and_run(place: &Workplace, words: &str) -> Ran {
    let mut command = Command::new("clang-19");
    command.args(words.split_whitespace()).args(["-w", "-fwrapv", "-o", "program"]);
    place.settle(&mut command);
    let made = Ran::of(&mut command);
    assert_eq!(made.code, Some(0), "{made}");
    let mut command = Command::new(place.path("program"));
    place.settle(&mut command);
    Ran::of(&mut command)
}

#[test]
fn arguments_of_every_type_that_a_function_reads_are_found_measured_and_emitted() {
    let place = Workplace::with(PICK);
    place.done("gen unit.c -c mcdc,stmt --function pick --json t.json --format unity");
    let table = place.json("t.json");
    // Of `n > 3 && n < 2` both conditions need the whole to be true.
    let [objectives, covered, infeasible, _, unknown] = figures(&table, "pick", "mcdc");
    assert_eq!((objectives - covered, infeasible, unknown), (2, 2, 0), "{table}");
    let [objectives, covered, infeasible, _, unknown] = figures(&table, "pick", "stmt");
    assert_eq!((objectives - covered, infeasible, unknown), (1, 1, 0), "{table}");

    let tests = place.json("tests/tests.json");
    let with_result = |result: i64| {
        let mut tests = tests["tests"].as_array().unwrap().iter();
        let found = tests.find(|test| test["expected"]["result"] == result);
        found.unwrap_or_else(|| panic!("no test returns {result}: {tests:?}"))["variable"].clone()
    };
    let first = with_result(1);
    assert_eq!(first[1], serde_json::json!({ "type": "long", "value": 1i64 << 40 }));
    let types = |result| -> Vec<String> {
        let arguments = with_result(result);
        let arguments = arguments.as_array().unwrap().iter();
        arguments.map(|argument| argument["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(2), ["double", "const char *", "unsigned int"]);
    assert_eq!(types(4), ["long", "double"].repeat(8));
    assert_eq!(types(5), ["int"; 5]);

    let ran = compiled_and_run(&place, "tests/tests.c");
    assert!(ran.code == Some(0) && ran.out.contains(" 0 failed"), "{ran}");
    place.write("tests/unity.h", UNITY);
    assert_eq!(compiled_and_run(&place, "tests/tests_unity.c -Itests").code, Some(0));

    place.done("cover unit.c -c mcdc,stmt --tests tests/tests.json --json c.json");
    let measured = place.json("c.json");
    for criterion in ["mcdc", "stmt"] {
        let [_, covered, ..] = figures(&table, "pick", criterion);
        assert_eq!(figures(&measured, "pick", criterion)[1], covered, "{measured}");
    }
}

/// What tests cannot give makes nothing infeasible.
#[test]
fn arguments_that_no_test_can_give_leave_objectives_unknown() {
    let cases = [
        ("if (va_arg(list, long double) > 3) return 1;", "of type `long double`"),
        ("struct pair p = va_arg(list, struct pair); if (p.x == 4) return 1;", "`struct pair`"),
        ("for (int i = 0; i < 9; i++) sum += va_arg(list, int); if (sum == 4) return 1;", "than 8"),
        (
            "if (n) sum = va_arg(list, int); va_end(list); va_start(list, n); \
             if (n && va_arg(list, long) == 5) return 1;",
            "with two types",
        ),
    ];
    for (text, reason) in cases {
        let place = Workplace::with(&format!(
            "#include <stdarg.h>\nstruct pair {{ int x, y; }};\n\
             int f(int n, ...)\n{{\n    va_list list;\n    int sum = 0;\n    va_start(list, n);\n    \
             {text}\n    va_end(list);\n    return sum;\n}}\n"
        ));
        let ran = place.done("gen unit.c -c dc --json t.json");
        let [_, _, infeasible, _, unknown] = figures(&place.json("t.json"), "f", "dc");
        assert!(infeasible == 0 && unknown > 0, "{text}: {ran}");
        assert!(format!("{}{}", ran.out, ran.err).contains(reason), "{text}: {ran}");
    }
}

#[test]
fn settings_name_an_argument_by_its_position() {
    let place = Workplace::with(
        "#include <stdarg.h>\nint f(int arg1, ...)\n{\n    va_list list;\n    va_start(list, arg1);\n    \
         int first = va_arg(list, int);\n    int second = va_arg(list, int);\n    va_end(list);\n    \
         return first > 7 || second > 7 || arg1 > 7;\n}\n",
    );
    // The parameter is called as the first further argument would be.
    place.write(
        "lydian.toml",
        "[function.f.places]\n\"arg1_\" = { range = [0, 5] }\n\"arg2\" = { range = [0, 6] }\n",
    );
    place.done("gen unit.c -c cc --json t.json");
    let [objectives, covered, infeasible, ..] = figures(&place.json("t.json"), "f", "cc");
    assert_eq!((objectives, covered, infeasible), (6, 4, 2));
    let tests = place.json("tests/tests.json");
    for test in tests["tests"].as_array().unwrap() {
        let given = |at: usize| test["variable"][at]["value"].as_i64().unwrap();
        assert!((0..=5).contains(&given(0)) && (0..=6).contains(&given(1)), "{test}");
    }
}

#[test]
fn a_parameter_that_is_a_list_of_arguments_is_written_as_compilers_know_it() {
    let place = Workplace::with(
        "#include <stdarg.h>\nint f(int n, va_list list)\n{\n    \
         return n > 0 && va_arg(list, int) > 10;\n}\n",
    );
    place.done("gen unit.c -c dc");
    let ran = compiled_and_run(&place, "tests/tests.c");
    assert!(ran.code == Some(0) && ran.out.contains(" 0 failed"), "{ran}");
}
