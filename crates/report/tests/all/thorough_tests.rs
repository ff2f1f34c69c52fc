//! Tests that assert everything that a call may write, and texts as they stand in C.

use crate::suite_c_programs::World;

const UNIT: &str = "
int total;
static int other = 3;
void put(int *p, int n)
{
    if (n > 3)
        *p += n;
    if (n == 77)
        other = 1;
    total = n;
}
";

/// The test of a call that changes `total` alone, as far as it is told, with a value of `*p` before.
fn test(name: &str, n: u32, thorough: bool) -> String {
    format!(
        r#"{{ "name": "{name}", "function": "put", "args": {{ "p": "&p[0]", "n": {n} }},
           "thorough": {thorough},
           "objects": [ {{ "name": "p", "type": "int", "count": 1, "align": 16,
                          "address": "0x2000000000", "value": 5 }} ],
           "expected": {{ "outcome": "returned", "globals": {{ "total": {n} }} }} }}"#
    )
}

#[test]
fn what_a_call_leaves_alone_is_asserted_by_thorough_tests_alone() {
    let world = World::new(UNIT);
    world.passes(&test("put", 3, true));
    // Neither is what the program does.
    world.passes(&test("put", 8, false));
    let ran = world.run(&test("put", 8, true), &[]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.output.contains("13, expected 5"), "{}", ran.output);
    let ran = world.run(&test("put", 77, true), &[]);
    assert!(ran.output.contains("other is 1, expected 3"), "{}", ran.output);
}

#[test]
fn a_text_of_characters_that_do_not_print_ends_with_a_zero() {
    let world =
        World::new("int length(const char *s) { int n = 0; while (s[n]) n++; return n; }\n");
    world.passes(
        r#"{ "name": "length", "function": "length", "args": { "s": "&s[0]" },
             "objects": [ { "name": "s", "type": "char", "count": 4, "align": 16,
                            "address": "0x2000000000", "value": [1, 2, 3, 0] } ],
             "expected": { "outcome": "returned", "result": 3 } }"#,
    );
}
