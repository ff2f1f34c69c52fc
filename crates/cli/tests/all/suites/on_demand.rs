//! Tests that a suite runs on demand only, and what the table says of them.

use crate::common::{Ran, Workplace};

use super::in_all_builds::passes_everywhere;

/// Each statement but those of failing assertions has an input that ends well; the first input that an
/// engine thinks of goes on into an assertion that fails, or overflows.
const PLACES: &str = "\
#include <assert.h>
int places(const unsigned *weights, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned weight = weights[i];
        assert(weight > 0);
        if (weight > 9)
            sum += weight * 2;
        else
            sum += weight;
    }
    assert(n < 3 || sum == 77);
    return (int)sum;
}
int twice(int a, int b)
{
    int sum = a + b;
    if (a > 5 && b > 7)
        return sum;
    return a;
}
";

/// The objectives of a function's statements by line, with the kind of tests that cover each.
fn kinds(place: &Workplace, function: usize) -> Vec<(u64, String)> {
    let table = place.json("out.json");
    let objectives = table["functions"][function]["objectives"].as_array().unwrap().clone();
    let of_statements = objectives.iter().filter(|one| one["criterion"] == "stmt");
    let kinds = of_statements.map(|one| {
        let kind = one["only_by"].as_str().unwrap_or("default");
        (one["line"].as_u64().unwrap(), kind.to_owned())
    });
    kinds.collect()
}

#[test]
fn an_objective_has_a_test_that_ends_well_if_some_input_does() {
    let place = Workplace::with(PLACES);
    place.done("gen unit.c --time 2 --json out.json");
    passes_everywhere(&place, "");
    for function in [0, 1] {
        let kinds = kinds(&place, function);
        let others: Vec<&(u64, String)> =
            kinds.iter().filter(|(_, kind)| kind != "default").collect();
        assert!(others.iter().all(|(line, _)| [7, 13].contains(line)), "{kinds:?}");
    }
}

#[test]
fn what_only_a_crash_or_an_undefined_run_reaches_is_said() {
    let place = Workplace::with(
        "#include <stdlib.h>\nint check(int n)\n{\n    if (n > 9) {\n        n = 3;\n        abort();\n    \
         }\n    return n;\n}\nint wraps(int a)\n{\n    int next = a + 1;\n    if (next < a)\n        return \
         0;\n    return next;\n}\n",
    );
    let ran = place.done("gen unit.c -c stmt --time 2 --json out.json");
    let crashing = "check stmt: 2 covered only by tests that crash, abort or run out of time \
                    (-DLYDIAN_RUN_CRASHING)";
    let undefined = "wraps stmt: 1 covered only by tests whose runs C leaves undefined \
                     (-DLYDIAN_RUN_UNDEFINED)";
    assert!(ran.out.contains(crashing) && ran.out.contains(undefined), "{ran}");
    assert_eq!(kinds(&place, 0)[1..3], [(5, "crashing".into()), (6, "crashing".into())]);
    let explained = place.run("explain 5");
    assert!(explained.out.contains("only by tests that crash"), "{explained}");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("#ifdef LYDIAN_RUN_UNDEFINED\n"), "{suite}");
    let ran = |flags: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("gcc -w {flags} tests/tests.c -o suite && ./suite")]);
        place.settle(&mut shell);
        Ran::of(&mut shell)
    };
    assert_eq!(ran("").code, Some(0), "{}", ran(""));
    let all = "-DLYDIAN_RUN_CRASHING -DLYDIAN_RUN_UNDEFINED";
    assert_eq!(ran(all).code, Some(0), "{}", ran(all));
}

#[test]
fn a_count_of_leading_zeros_of_zero_is_undefined() {
    let place = Workplace::with(
        "int highest(unsigned x)\n{\n    return 31 - __builtin_clz(x);\n}\nint lowest(unsigned long \
         x)\n{\n    if (x == 0)\n        return -1;\n    return __builtin_ctzl(x);\n}\n",
    );
    passes_everywhere(&place, "");
    assert!(!place.read("tests/tests.c").contains("highest(0"), "{}", place.read("tests/tests.c"));
}

#[test]
fn zeros_between_elements_are_left_out() {
    let place = Workplace::with(
        "int last(const int *values, unsigned n)\n{\n    if (n == 20 && values[19] == 1234 && values[3] == \
         5)\n        return 1;\n    return 0;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("{ 0, 0, 0, 5, [19] = 1234 };"), "{suite}");
}
