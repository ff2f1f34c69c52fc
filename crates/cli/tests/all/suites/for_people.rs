//! Suites as people would write them: few tests, named after what they reach.

use serde_json::Value;

use crate::common::{Workplace, figures};

const UNIT: &str = "\
int price(int age, int is_student)
{
    if (age < 0 || age > 120)
        return -1;
    if (age < 18 || (is_student && age < 27))
        return 5;
    return 8;
}
int both(int x)
{
    switch (x) {
    case 3:
        return 1;
    case 9:
        return 2;
    default:
        return price(x, 0) == 8;
    }
}
";

fn names(place: &Workplace) -> Vec<String> {
    let suite: Value = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().expect("a suite has tests");
    tests.iter().map(|test| test["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn tests_are_named_after_what_they_reach_and_keep_their_names() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c dc,bc,wm");
    let first = names(&place);
    for name in &first {
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        assert!(letters && (name.starts_with("price_") || name.starts_with("both_")), "{name}");
    }
    let distinct: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), first.len(), "{first:?}");
    assert!(first.iter().any(|name| name == "both_case_9"), "{first:?}");
    assert!(first.iter().any(|name| name.contains("age_lt_18")), "{first:?}");
    place.done("gen unit.c -c dc,bc,wm");
    assert_eq!(names(&place), first);
    place.done("gen unit.c -c dc,bc,wm --fresh");
    assert_eq!(names(&place), first);
}

#[test]
fn the_smallest_suite_covers_what_all_tests_cover() {
    let place = Workplace::with(UNIT);
    let mut counts = Vec::new();
    let mut covered = Vec::new();
    for how in ["none", "greedy", "exact"] {
        place.done(&format!("gen unit.c -c dc,bc,mcc,wm --minimise {how}"));
        counts.push(names(&place).len());
        place.done("cover unit.c -c dc,bc,mcc,wm --tests tests --json cover.json");
        let table = place.json("cover.json");
        let of = |function: &str| {
            ["dc", "bc", "mcc", "wm"].map(|criterion| figures(&table, function, criterion)[1])
        };
        covered.push((of("price"), of("both")));
    }
    assert!(counts[0] >= counts[1] && counts[1] >= counts[2], "{counts:?}");
    assert!(covered.iter().all(|found| *found == covered[0]), "{covered:?}");
}

#[test]
fn inputs_have_values_that_a_person_would_choose() {
    let place = Workplace::with(
        "int f(int x, unsigned y, const char *s, double d)\n{\n    \
         if (x > 1000000)\n        return 1;\n    if (x < -70000)\n        return 2;\n    \
         if (y >= 5000000 && s[0] >= 128 - 256 && s[0] != 'q')\n        return 3;\n    \
         if (d > 0.1 && d < 7.3)\n        return 4;\n    return 0;\n}\n",
    );
    place.done("gen unit.c -c dc,mcc --json out.json");
    let table = place.json("out.json");
    assert_eq!(figures(&table, "f", "dc"), [8, 8, 0, 0, 0], "{table:#}");
    let suite = place.json("tests/tests.json");
    for test in suite["tests"].as_array().unwrap() {
        let args = &test["args"];
        let x = args["x"].as_i64().unwrap();
        assert!(x.abs() <= 1000 || x == 1_000_001 || x == -70_001, "{test:#}");
        let y = args["y"].as_i64().unwrap();
        assert!(y <= 1000 || y == 5_000_000, "{test:#}");
        // Only what is no number is on neither side.
        let d = args["d"].as_f64().unwrap_or(0.0);
        assert!(d.abs() <= 1000.0 && (d * 4.0).fract() == 0.0, "{test:#}");
    }
}

#[test]
fn the_text_of_strings_that_are_returned_or_stored_is_asserted() {
    let place = Workplace::with(
        "struct status { int code; const char *text; };
static const char *last;
const char *name_of(int code) { if (code == 1) return \"late\"; return \"none\"; }
void set(struct status *s, int code) { s->code = code; s->text = code ? \"bad\" : \"good\"; }
void note(int big) { last = big ? \"big\" : \"small\"; }
const char *version(void) { return \"1.2.3\"; }
",
    );
    place.done("gen unit.c");
    let text = place.read("tests/tests.c");
    let strings = ["\"late\"", "\"none\"", "CHECK_STR(version(), \"1.2.3\");"];
    let stored = ["CHECK_STR(s.text, \"bad\");", "CHECK_STR(s.text, \"good\");"];
    let kept = ["CHECK_STR(last, \"big\");", "CHECK_STR(last, \"small\");"];
    for expected in strings.into_iter().chain(stored).chain(kept) {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("CHECK_NOT_NULL"), "{text}");
}

#[test]
fn small_numbers_in_structs_and_arrays_are_asserted() {
    let place = Workplace::with(
        "struct s { int first, second; long third; unsigned char text[4]; };\nint fill(struct s *s, int \
         a[6])\n{\n    s->first = 85;\n    s->second = 127;\n    s->third = 32;\n    s->text[1] = 86;\n    a[1] = 7;\n    \
         a[2] = 85;\n    a[4] = 32;\n    return 1;\n}\n",
    );
    place.done("gen unit.c --time 2");
    let suite = place.read("tests/tests.c");
    for check in [
        "CHECK_INT(s.first, 85);",
        "CHECK_INT(s.second, 127);",
        "CHECK_INT(s.third, 32);",
        "CHECK_BYTES(s.text + 1, \"V\", 1);",
        "CHECK_INT(a[1], 7);",
        "CHECK_INT(a[2], 85);",
        "CHECK_INT(a[4], 32);",
    ] {
        assert!(suite.contains(check), "{check}\n{suite}");
    }
}

#[test]
fn positions_in_arrays_are_small_together_with_what_stands_there() {
    let place = Workplace::with(
        "struct reader { const char *text; unsigned long at, end; };\n\
         int blanks(struct reader *r)\n\
         {\n\
             int count = 0;\n\
             while (r->at < r->end && (r->text[r->at] == ' ' || r->text[r->at] == '\\t'))\n\
                 r->at++, count++;\n\
             if (r->at > 4)\n\
                 count = -count;\n\
             return count;\n\
         }\n\
         int peeks(const int *numbers, int top)\n\
         {\n\
             if (top < 1)\n\
                 return -1;\n\
             return numbers[top] == 7 && numbers[top - 1] == 9;\n\
         }\n",
    );
    place.done("gen unit.c -c stmt,bc,mcdc");
    let text = place.read("tests/tests.c");
    for expected in
        ["int numbers[2] = { 0, 7 };", "int numbers[2] = { 9, 7 };", "char text[] = \"aaaa \\t\";"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn setters_and_getters_of_large_structs_are_checked() {
    let members: String = (0..40).map(|at| format!("    int m{at};\n")).collect();
    let place = Workplace::with(&format!(
        "typedef int (*reader)(void *);\nstruct state {{\n{members}    reader read;\n    void *data;\n}};\nvoid \
         set_reader(struct state *s, reader read, void *data)\n{{\n    s->read = read;\n    s->data = data;\n}}\nvoid \
         get_reader(struct state *s, reader *read, void **data)\n{{\n    *read = s->read;\n    *data = \
         s->data;\n}}\n"
    ));
    place.done("gen unit.c --time 2");
    let suite = place.read("tests/tests.c");
    for check in ["s.read, NULL", "s.data, NULL", "CHECK_PTR(read, NULL", "CHECK_PTR(data, NULL"] {
        assert!(suite.contains(check), "{check}\n{suite}");
    }
    assert!(!suite.contains("s.m0"), "{suite}");
}
