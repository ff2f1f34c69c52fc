//! Suites that people write: tests of several calls, and undefined functions that write far away.

use crate::common::{Workplace, figures};

/// Measures a suite; the figures of some functions for branches are checked: objectives, covered.
fn covers(text: &str, tests: &str, functions: &[(&str, [u64; 2])]) {
    let place = Workplace::with(text);
    place.write("suite.json", &format!("{{ \"version\": 1, \"tests\": [ {tests} ] }}"));
    let ran = place.done("cover unit.c -c bc --tests suite.json --json c.json");
    let table = place.json("c.json");
    for (function, expected) in functions {
        let [objectives, covered, ..] = figures(&table, function, "bc");
        assert_eq!([objectives, covered], *expected, "{function}: {ran}\n{table:#}");
    }
}

#[test]
fn what_earlier_calls_of_a_test_cover_counts_and_static_variables_keep_their_values() {
    let text = "
        int f(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }
        int g(int n) {
            static int open;
            if (n == 1) { open = 1; return 0; }
            if (open) return 2;
            return 3;
        }\n";
    let test = |name: &str, function: &str, args: &str, earlier: &[&str]| {
        let earlier: Vec<String> =
            earlier.iter().map(|args| format!("{{ \"args\": {args} }}")).collect();
        format!(
            r#"{{ "name": "{name}", "function": "{function}", "args": {args}, "earlier": [ {} ] }}"#,
            earlier.join(",")
        )
    };
    let one = r#"{ "n": 1 }"#;
    let two = r#"{ "n": 2 }"#;
    let alone = [test("f_1", "f", "{}", &[]), test("g_1", "g", two, &[])].join(",");
    covers(text, &alone, &[("f", [2, 1]), ("g", [4, 2])]);
    let called = [test("f_1", "f", "{}", &["{}"; 3]), test("g_1", "g", two, &[two, one])];
    covers(text, &called.join(","), &[("f", [2, 2]), ("g", [4, 4])]);
    let short = [test("f_1", "f", "{}", &["{}"; 2]), test("f_2", "f", "{}", &["{}"; 2])];
    covers(text, &short.join(","), &[("f", [2, 1]), ("g", [4, 0])]);
}

#[test]
fn what_an_undefined_function_sets_far_away_decides_which_branches_are_covered() {
    let text = "
        #include <errno.h>
        struct item { int id; struct item *next; };
        struct context { long size; struct item *first; };
        static int state;
        int refill(const struct context *from, ...);
        int f(struct item *list) {
            int here = 0;
            struct context context = { 1, list };
            errno = 0;
            refill(&context, 2.5, &here);
            if (list->next->id == 70) return 1;
            if (state == 8) return 2;
            if (here == 9) return 3;
            if (errno == EINTR) return 4;
            return 5;
        }\n";
    let test = |name: &str, write: &str| {
        format!(
            r#"{{ "name": "{name}", "function": "f", "args": {{ "list": "&list[0]" }},
              "objects": [ {{ "name": "list", "type": "struct item", "count": 2, "align": 16,
                             "address": "0x2000000000",
                             "value": [ {{ "id": 1, "next": "&list[1]" }}, {{ "id": 2 }} ] }} ],
              "externals": [ {{ "function": "refill", "result": 1, "writes": [ {write} ] }} ] }}"#
        )
    };
    let far = r#"{ "to": "from", "through": [8, 8], "type": "int", "value": 70 }"#;
    let writes = [
        far,
        r#"{ "global": "state", "value": 8 }"#,
        r#"{ "variable": 0, "value": { "$bytes": "09000000" } }"#,
        r#"{ "global": "errno", "value": 4 }"#,
    ];
    for count in 1..=writes.len() {
        let tests: Vec<String> = writes[..count]
            .iter()
            .enumerate()
            .map(|(at, write)| test(&format!("f_{at}"), write))
            .collect();
        covers(text, &tests.join(","), &[("f", [8, 2 * count as u64 - 1])]);
    }
}
