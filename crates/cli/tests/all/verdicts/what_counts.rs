//! Which of the labels that a run passes count: `gen`, `gen` again and `cover` agree.

use serde_json::Value;

use crate::common::{Workplace, figures, rows};

/// What makes inputs be guessed from signatures and uses, and kept within limits.
const GUESSED: &str = "lazy-inputs = false\n";

/// An index of 4 or more reads outside of the array, which stops no native run. Only such a run
/// passes the decision with a true outcome.
const READS_OUTSIDE: &str = "\
int f(unsigned i)
{
    int a[4] = { 1, 2, 3, 4 };
    int x = a[i & 7];
    if ((i & 4) != 0)
        return -1;
    return x;
}
";

/// The names of what a suite's tests are kept for.
fn kept_for(suite: &Value) -> Vec<String> {
    let tests = suite["tests"].as_array().expect("a suite has a list of tests");
    let names =
        tests.iter().flat_map(|test| test["covers"].as_array().cloned().unwrap_or_default());
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn what_a_run_passes_after_undefined_behaviour_counts_nowhere() {
    let place = Workplace::with(READS_OUTSIDE);
    let gen_again = "gen unit.c -c rte,dc --max-paths 0 --json again.json";
    place.done("gen unit.c -c rte,dc --json first.json");
    place.done(gen_again);
    for table in ["first.json", "again.json"] {
        let table = place.json(table);
        assert_eq!(figures(&table, "f", "dc"), [2, 1, 1, 0, 0], "{table:#}");
        assert_eq!(figures(&table, "f", "rte")[1], 1, "{table:#}");
    }
    let kept = kept_for(&place.json("tests/tests.json"));
    assert!(kept.iter().all(|name| name != "dc: d0 true"), "{kept:?}");
    assert!(kept.iter().any(|name| name.starts_with("rte: ")), "{kept:?}");
    place.done("cover unit.c -c rte,dc --tests tests --json cover.json");
    let table = place.json("cover.json");
    assert_eq!(figures(&table, "f", "dc"), [2, 1, 0, 0, 1], "{table:#}");
    assert_eq!(figures(&table, "f", "rte")[1], 1, "{table:#}");
}

#[test]
fn a_test_that_was_given_counts_up_to_where_it_uses_what_was_never_written() {
    let place = Workplace::with(
        "int g(int c)\n{\n    int x;\n    if (c)\n        x = 5;\n    int y = x;\n    \
         if (y != 12345)\n        return 1;\n    return 0;\n}\n",
    );
    let one = |c: u32| {
        format!(
            r#"{{"version": 1, "source": "unit.c", "tests": [
            {{"name": "one", "function": "g", "args": {{"c": {c}}}}}]}}"#
        )
    };
    place.write("unset.json", &one(0));
    place.write("set.json", &one(1));
    place.done("cover unit.c -c dc --tests unset.json --json unset_table.json");
    assert_eq!(figures(&place.json("unset_table.json"), "g", "dc"), [4, 1, 0, 0, 3]);
    place.done("cover unit.c -c dc --tests set.json --json set_table.json");
    assert_eq!(figures(&place.json("set_table.json"), "g", "dc"), [4, 2, 0, 0, 2]);
}

#[test]
fn a_test_that_calls_what_is_not_supported_counts_as_measured() {
    let place = Workplace::with(
        "int one(void) { int x; __asm__(\"movl $1, %0\" : \"=r\"(x)); return x; }\n\
         int h(int c) { int k = one(); if (8 / k + c > 9) return 1; return 0; }\n",
    );
    let test = r#"{"version": 1, "source": "unit.c", "tests": [
        {"name": "one", "function": "h", "args": {"c": 2}}]}"#;
    place.write("mine.json", test);
    let ran = place.run("cover unit.c -c dc --function h --tests mine.json --json t.json");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(figures(&place.json("t.json"), "h", "dc"), [2, 1, 0, 0, 1]);
}

#[test]
fn a_test_that_contradicted_a_claim_is_neither_counted_nor_kept() {
    let place = Workplace::with("int f(int a) { if (a > 10) return 1; return 0; }\n");
    place.done("gen unit.c -c dc --json first.json");
    assert_eq!(figures(&place.json("first.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    let ledger = rusqlite::Connection::open(place.path("tests/ledger.sqlite")).expect("a ledger");
    let changed = ledger.execute(
        "UPDATE evidence SET kind = 'unconfirmed', detail = json_object('kind', 'unconfirmed',
             'claimed_by', 'exploration', 'test', test, 'measured', 'otherwise')
         WHERE test = (SELECT hash FROM test ORDER BY id LIMIT 1)",
        [],
    );
    assert!(changed.expect("the ledger can be changed") > 0);
    drop(ledger);
    place.done("gen unit.c -c dc --max-paths 0 --no-proofs --json again.json");
    assert_eq!(figures(&place.json("again.json"), "f", "dc"), [2, 1, 0, 0, 1]);
    assert_eq!(kept_for(&place.json("tests/tests.json")).len(), 1);
    // What is confirmed anew counts again.
    place.done("gen unit.c -c dc --json third.json");
    assert_eq!(figures(&place.json("third.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    assert_eq!(kept_for(&place.json("tests/tests.json")).len(), 2);
}

#[test]
fn a_label_whose_predicate_traps_is_unknown_there_and_crashes_no_test() {
    let place = Workplace::with(
        "struct pair { int x, y; };
static int weigh(struct pair *p)
{
    lydian_label(\"heavy\",
        p->x > 3);
    return p ? p->x : -1;
}
int f(struct pair *p, int n)
{
    int k = 0;
    if (n > 0) lydian_label(\"far\", p->y / n > 100); else k = 1;
    for (lydian_label(\"first\", 100 / n == 7); k < 2; k++)
        k += weigh(p) > 0;
    return k;
}
",
    );
    place.done("gen unit.c -c user,dc -o tests --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "user"), [2, 2, 0, 0, 0], "{table:#}");
    assert_eq!(figures(&table, "weigh", "user"), [1, 1, 0, 0, 0], "{table:#}");
    // The null pointer is one of the inputs, and no test of either function ends in a crash.
    assert_eq!(figures(&table, "weigh", "dc"), [2, 2, 0, 0, 0], "{table:#}");
    for test in place.json("tests/tests.json")["tests"].as_array().expect("tests") {
        assert_eq!(test["expected"]["outcome"], "returned", "{test:#}");
    }
    let one = |args: &str| {
        format!(
            r#"{{"version": 1, "source": "unit.c", "tests": [
            {{"name": "one", "function": "f", "args": {args}}}]}}"#
        )
    };
    place.write("null.json", &one(r#"{"p": null, "n": 14}"#));
    for criteria in ["user", "dc"] {
        let ran =
            place.done(&format!("cover unit.c -c {criteria} --tests null.json --json c.json"));
        let table = place.json("c.json");
        // `first` with 100 / 14, and no label that looks at what the null pointer points to.
        let (f, weigh) = if criteria == "user" { (1, 0) } else { (3, 1) };
        assert_eq!(figures(&table, "f", criteria)[1], f, "{ran}");
        assert_eq!(figures(&table, "weigh", criteria)[1], weigh, "{ran}");
    }
}

#[test]
fn a_mutant_that_reads_beside_an_object_of_the_stack_has_no_value() {
    let place = Workplace::with(
        "int f(unsigned i)\n{\n    int before[2] = { 7, 7 }, a[2] = { 1, 2 }, after[2] = { 7, 7 };\n    \
         int *p = a;\n    int x = p[i & 1];\n    return x + before[i & 1] + after[i & 1];\n}\n",
    );
    let one = |i: u32| {
        format!(
            r#"{{"version": 1, "source": "unit.c", "tests": [
            {{"name": "one", "function": "f", "args": {{"i": {i}}}}}]}}"#
        )
    };
    for (i, mutant) in [(0, "(i & 1) - 1"), (1, "(i & 1) + 1")] {
        place.write("one.json", &one(i));
        let ran = place.done("cover unit.c -c wm --tests one.json --missing");
        let missing = |line: &&str| line.starts_with("unit.c:5:") && line.contains(mutant);
        assert!(ran.out.lines().any(|line| missing(&line)), "{mutant}: {ran}");
    }
}

#[test]
fn a_mutant_with_a_subscript_that_its_array_does_not_have_has_no_value() {
    let place = Workplace::with(
        "struct text { char before[4]; char line[2]; };\n\
         int get(const struct text *t, int at) { return t->line[at]; }\n",
    );
    // With -1 for `at` the program itself reads the last of `before`. An input for which a mutant would
    // be told apart there alone is none for it.
    place.done("gen unit.c -c wm -o tests --json out.json");
    place.done("cover unit.c -c wm --tests tests --json cover.json");
    let [_, generated, ..] = figures(&place.json("out.json"), "get", "wm");
    let [_, covered, ..] = figures(&place.json("cover.json"), "get", "wm");
    assert!(generated > 0 && generated == covered, "{generated}, {covered}");
}

#[test]
fn a_mutant_reads_before_an_array_unless_it_is_stated_that_nothing_lies_there() {
    let place = Workplace::with(
        "int f(const char *text, int room)\n{\n    int n = 0;\n    \
         while (n < room && text[n] != 0)\n        n++;\n    return n;\n}\n",
    );
    let wm = |table: &str| figures(&place.json(table), "f", "wm");
    place.done("gen unit.c -c wm --json start.json");
    let [objectives, covered, infeasible, duplicate, unknown] = wm("start.json");
    assert_eq!((objectives, unknown), (covered + infeasible + duplicate, 0));
    // `text[-n]`, `text[~n]` and `text[-abs(n)]` are told apart by what lies before.
    place.write("lydian.toml", "[function.f.places]\ntext = { before = 0 }\n");
    place.done("gen unit.c -c wm -o again --json before.json");
    assert_eq!(wm("before.json")[1], covered - 3);
    place.write("lydian.toml", "[function.f.places]\ntext = { before = 2 }\n");
    place.done("gen unit.c -c wm -o then --json then.json");
    assert_eq!(wm("then.json"), [objectives, covered, infeasible, duplicate, 0]);
}

#[test]
fn a_mutant_that_reads_before_an_array_of_a_guessed_length_has_no_value_unless_something_lies_there()
 {
    let place = Workplace::with(
        "int f(const char *text, int room)\n{\n    int n = 0;\n    \
         while (n < room && text[n] != 0)\n        n++;\n    return n;\n}\n",
    );
    let wm = |table: &str| figures(&place.json(table), "f", "wm");
    place.write("lydian.toml", GUESSED);
    place.done("gen unit.c -c wm --json start.json");
    let [objectives, covered, infeasible, duplicate, unknown] = wm("start.json");
    assert_eq!((objectives - 3, unknown), (covered + infeasible + duplicate, 0));
    let row = &rows(&place.json("start.json"), "f")[0]["infeasible_as_assumed"].clone();
    assert_eq!(*row, 3);
    let ledger = std::fs::read(place.path("tests/ledger.sqlite")).expect("a ledger");
    let says = |what: &[u8]| ledger.windows(what.len()).any(|bytes| bytes == what);
    assert!(says(b"nothing lies before the elements of text"));
    // Now it may: `text[-n]`, `text[~n]` and `text[-abs(n)]`.
    let stated = "[function.f.places]\ntext = { before = 2 }\n";
    place.write("lydian.toml", &format!("{GUESSED}{stated}"));
    place.done("gen unit.c -c wm -o again --json before.json");
    assert_eq!(wm("before.json"), [objectives, covered + 3, infeasible, duplicate, 0]);
}

#[test]
fn a_subscript_among_the_inputs_may_be_negative_where_elements_lie_before() {
    let place = Workplace::with(
        "int f(const char *text, int at)\n{\n    if (text[at] == 'x' && at < 0)\n        \
         return 1;\n    return 0;\n}\n",
    );
    place.done("gen unit.c -c dc,cc --json table.json");
    assert_eq!(figures(&place.json("table.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    assert_eq!(figures(&place.json("table.json"), "f", "cc"), [4, 4, 0, 0, 0]);
    // That the array begins where the pointer points can be stated.
    place.write("lydian.toml", "[function.f.places]\ntext = { before = 0 }\n");
    place.done("gen unit.c -c dc,cc -o again --json stated.json");
    assert_eq!(figures(&place.json("stated.json"), "f", "dc")[1], 1);
}

#[test]
fn a_subscript_is_not_the_least_number_unless_an_object_is_large() {
    let place = Workplace::with(
        "int f(const char *text, int at, int n)\n{\n    return at < n && text[at] == 'x';\n}\n",
    );
    place.done("gen unit.c -c wm -o lazy --json lazy.json");
    let [objectives, covered, infeasible, duplicate, unknown] =
        figures(&place.json("lazy.json"), "f", "wm");
    assert_eq!((objectives, unknown), (covered + infeasible + duplicate, 0));
    place.write("lydian.toml", GUESSED);
    let ran = place.done("gen unit.c -c wm --json table.json");
    let [objectives, covered, infeasible, duplicate, unknown] =
        figures(&place.json("table.json"), "f", "wm");
    assert_eq!((objectives, unknown), (covered + infeasible + duplicate, 0));
    let ledger = std::fs::read(place.path("tests/ledger.sqlite")).expect("a ledger");
    let says = |what: &[u8]| ledger.windows(what.len()).any(|bytes| bytes == what);
    assert!(says(b"no object of the inputs has 1073741824 bytes or more"));
    let told = "granted: no object of the inputs has 1073741824 bytes or more (object-size)";
    assert_eq!(ran.out.matches(told).count(), 1, "{ran}");
}

#[test]
fn an_end_among_the_inputs_may_lie_before_what_can_be_read_unless_that_is_stated() {
    let place = Workplace::with(
        "struct reader { const unsigned char *next, *end; };\n\
         int f(struct reader *in)\n{\n    int c = *in->next;\n    \
         if (in->end <= in->next)\n        return -1;\n    return c;\n}\n",
    );
    place.done("gen unit.c -c dc --json table.json").says(0, &[]);
    assert_eq!(figures(&place.json("table.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    let suite = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().expect("a suite has a list of tests");
    let returned = |test: &&Value| test["expected"]["outcome"] == "returned";
    // A null pointer is the third.
    assert_eq!((tests.len(), tests.iter().filter(returned).count()), (3, 2), "{suite:#}");
    place.write("lydian.toml", GUESSED);
    place.done("gen unit.c -c dc -o guessed --json guessed.json").says(0, &[]);
    assert_eq!(figures(&place.json("guessed.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    let suite = place.json("guessed/tests.json");
    let tests = suite["tests"].as_array().expect("a suite has a list of tests");
    assert!(tests.iter().all(|test| returned(&test)), "{suite:#}");
    let stated = "[types.\"struct reader\"]\n\".end\" = { kind = \"end\", of = \".next\" }\n";
    place.write("lydian.toml", stated);
    place.done("gen unit.c -c dc -o again --json stated.json");
    assert_eq!(figures(&place.json("stated.json"), "f", "dc")[1], 1);
}

#[test]
fn a_length_stands_beside_an_array_of_as_many_elements_as_are_read() {
    let place = Workplace::with(
        "int f(const char *text, int length)\n{\n    if (length > 300)\n        \
         return text[length - 1];\n    return length > 0 ? text[0] : 0;\n}\n",
    );
    place.done("gen unit.c -c dc --json table.json");
    let table = place.json("table.json");
    assert_eq!(figures(&table, "f", "dc"), [4, 4, 0, 0, 0], "{table:#}");
    // A guessed length has a limit, and no test goes beyond it.
    place.write("lydian.toml", GUESSED);
    place.done("gen unit.c -c dc --no-proofs -o guessed --json guessed.json");
    let table = place.json("guessed.json");
    assert_eq!(figures(&table, "f", "dc"), [4, 3, 0, 0, 1], "{table:#}");
}

#[test]
fn a_call_that_a_compiler_would_replace_by_another_is_a_test_like_any() {
    let place = Workplace::with(
        "#include <stdio.h>\nint f(int x)\n{\n    if (x > 3)\n        printf(\"hit\\n\");\n    \
         if (x > 5)\n        fprintf(stderr, \"%s\", \"more\");\n    return x;\n}\n",
    );
    place.done("gen unit.c -c dc --json out.json");
    assert_eq!(figures(&place.json("out.json"), "f", "dc"), [4, 4, 0, 0, 0]);
}

#[test]
fn the_vector_of_a_decision_counts_though_the_run_crashes_after_it() {
    let place = Workplace::with(
        "typedef union { long *p; long number; } Top;
int f(Top *top, int op)
{
    if (op != 12 && op != 13)
        return 1;
    return *top->p == 5;
}
",
    );
    // Of the value of the second condition, where it is not reached, MC/DC alone asks less.
    place.done("gen unit.c -c mcdc --json t.json").says(0, &[]);
    assert_eq!(figures(&place.json("t.json"), "f", "mcdc"), [2, 2, 0, 0, 0]);
}

#[test]
fn nothing_is_claimed_after_a_call_that_is_given_what_was_never_written() {
    let place = Workplace::with(
        "const char *text(int at, const unsigned long *length);
long option(int at);
static long from_end(long at, unsigned long length)
{
    return at >= 0 ? at : (long)length + at + 1;
}
int f(void)
{
    unsigned long length;
    const char *s = text(1, &length);
    long at = from_end(option(2), length);
    if (at >= 1)
        return *s;
    return 0;
}
",
    );
    let ran = place.done("gen unit.c --function f -c dc --json t.json");
    let told = "f dc: 2 unknown: depends on uninitialised memory, read at unit.c:11:15\n";
    assert!(ran.out.contains(told), "{ran}");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 0, 0, 0, 2]);
}

#[test]
fn a_number_that_happens_to_be_the_address_of_a_variable_of_the_program_is_no_way_to_it() {
    let place = Workplace::with(
        "static int table[4] = { 1, 2, 3, 4 };
typedef union { int *p; long number; } Any;
int f(const Any *any, unsigned i)
{
    if (*any->p == 3)
        return 1;
    return table[i & 3] == 2;
}
",
    );
    place.done("gen unit.c -c dc --json t.json").says(0, &[]);
    let [objectives, covered, infeasible, _, unknown] = figures(&place.json("t.json"), "f", "dc");
    assert_eq!((objectives, infeasible, covered + unknown), (2, 0, 2));
}

/// Programs in which something traps, each in a place of which several objectives speak.
const FAULTS: [(&str, &str); 8] = [
    (
        "a mutant of what traps, and a use",
        "static int level;
int f(int x) { int *at = x > 3 ? &level : 0; if (x > 0 && x < 9) return *at; return x; }
",
    ),
    (
        "a value that traps, and the address that it is stored to",
        "static int a[4];
int f(int x, int i) { int *q = x > 3 ? a : 0; a[i & 3] = *q; return x; }
",
    ),
    (
        "a use after a call, before what traps",
        "static int level, *at, *bt;
static int h(int x) { return x * 2; }
static int sum(int a, int b, int c) { return a + b + c; }
int f(int x)
{
    at = x > 3 ? &level : 0;
    bt = x > 5 ? &level : 0;
    if (x > 0 && x < 9)
        return sum(h(x), *at, *bt);
    return h(x) + *at;
}
",
    ),
    (
        "a division before an effect on a register",
        "static int sum(int a, int b) { return a + b; }
int f(int x, int y, int i) { if (y) return 0; return sum(x / y, i++) + i; }
",
    ),
    (
        "a division before a decision",
        "int f(int x, int y) { if (y) return 0; return x / y + (x > 3 && x < 20 ? 1 : 2); }
",
    ),
    (
        "two errors of one expression",
        "int f(int x, int y, int i, int *p)
{
    int **pp = x > 5 ? &p : 0;
    int j = **pp % y + 1;
    *p += i / y;
    return j + i;
}
",
    ),
    (
        "a use after a call that defines",
        "static int h(int *p) { *p += 3; return *p; }
int f(int x, int i) { int y = i; x = (x > 2 ? h(&y) : 2) + y; y = h(&y) + y; return x + y; }
",
    ),
    (
        "a global pointer that becomes null",
        "static int a[4], *b;
static int h(int x) { return x * 2; }
int f(int x, int i)
{
    int *q = x > 3 ? a : 0;
    if (i > 2)
        b = 0;
    else
        b = a;
    b[i & 3] = *q + h(x);
    return x;
}
",
    ),
];

#[test]
fn what_is_claimed_of_a_run_with_a_fault_is_measured() {
    for (what, text) in FAULTS {
        let place = Workplace::with(text);
        for criteria in ["wm,all-uses,rte", "all-uses", "dc,mcc,rte,all-uses"] {
            // A contradiction has an exit code of its own.
            let ran = place.run(&format!("gen unit.c -c {criteria} -o {criteria} --json t.json"));
            assert_eq!(ran.code, Some(0), "{what}, {criteria}: {ran}");
            assert!(figures(&place.json("t.json"), "f", "all-uses")[1] > 0, "{what}: {ran}");
        }
    }
}

#[test]
fn objects_of_the_inputs_are_freed_in_each_of_several_tests() {
    let place = Workplace::with(
        "#include <stdlib.h>\nstruct n { int v; };\nint f(struct n *n, int k) {\n  \
         if (!n) return 0;\n  int v = n->v;\n  free(n);\n  if (v == 3) return 1;\n  \
         if (k > 7) return 2;\n  return 3;\n}\n",
    );
    for settings in [GUESSED, "lazy-inputs = true\n"] {
        place.write("lydian.toml", settings);
        place.done("gen unit.c --criteria bc -o tests --json table.json --fresh");
        assert_eq!(figures(&place.json("table.json"), "f", "bc"), [6, 6, 0, 0, 0]);
    }
}
