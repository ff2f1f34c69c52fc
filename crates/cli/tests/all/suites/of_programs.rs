//! Suites of whole programs in other tools' forms: written, read back and measured.

use crate::common::{Workplace, entries, figures};

const PROGRAM: &str = "\
extern int __VERIFIER_nondet_int(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern double __VERIFIER_nondet_double(void);
void klee_make_symbolic(void *, unsigned long, const char *);
int main(void)
{
    int x = __VERIFIER_nondet_int();
    long y;
    klee_make_symbolic(&y, sizeof y, \"y\");
    if (x < -100 && y == 123456789012)
        return 1;
    if (__VERIFIER_nondet_ushort() > 60000)
        return __VERIFIER_nondet_double() == 0.1;
    if (__VERIFIER_nondet_double() < -1e300)
        return 3;
    return 0;
}
";

#[test]
fn suites_read_back_from_every_form_cover_what_the_tests_cover() {
    let place = Workplace::with(PROGRAM);
    place.done("gen unit.c -c bc,mcc --format testcomp,ktest --json out.json");
    let table = place.json("out.json");
    for criterion in ["bc", "mcc"] {
        let [objectives, covered, infeasible, ..] = figures(&table, "main", criterion);
        assert_eq!(covered + infeasible, objectives, "{table:#}");
        for form in ["tests", "tests/testcomp.zip", "tests/ktest"] {
            place.done(&format!("cover unit.c -c bc,mcc --tests {form} --json cover.json"));
            let found = figures(&place.json("cover.json"), "main", criterion)[1];
            assert_eq!(found, covered, "{form}: {criterion}");
        }
    }
    let tests = entries(&place.path("tests/ktest"));
    assert!(tests.len() >= 3, "{tests:?}");
    let one = std::fs::read(&tests[0]).unwrap();
    assert_eq!(one[..5], *b"KTEST");
    let one = format!("cover unit.c -c bc --tests {} --json one.json", tests[0].display());
    place.done(&one);
    assert!(figures(&place.json("one.json"), "main", "bc")[1] > 0);
}

#[test]
fn a_run_ends_where_a_suite_of_another_tool_has_no_more_inputs() {
    let place = Workplace::with(
        "extern int __VERIFIER_nondet_int(void);\nint main(void)\n{\n    int sum = 0;\n    \
         while (__VERIFIER_nondet_int() > 0)\n        sum++;\n    if (sum > 1)\n        return 1;\n    \
         return 0;\n}\n",
    );
    std::fs::create_dir(place.path("suite")).unwrap();
    place.write(
        "suite/metadata.xml",
        "<test-metadata><entryfunction>main</entryfunction></test-metadata>",
    );
    let test = |inputs: &[&str]| {
        let inputs: String = inputs.iter().map(|text| format!("<input>{text}</input>")).collect();
        format!("<?xml version=\"1.0\"?>\n<testcase>{inputs}</testcase>\n")
    };
    let covered = |place: &Workplace| {
        place.done("cover unit.c -c dc --tests suite --json cover.json");
        figures(&place.json("cover.json"), "main", "dc")[1]
    };
    // Without the last input the loop's end is not reached.
    place.write("suite/a.xml", &test(&["5", "0x7f"]));
    assert_eq!(covered(&place), 1);
    place.write("suite/a.xml", &test(&["5", "'z'", "-1"]));
    assert_eq!(covered(&place), 3);
    place.write("suite/b.xml", &test(&["0"]));
    assert_eq!(covered(&place), 4);
    place.write("suite/b.xml", &test(&["abc"]));
    place.refused("cover unit.c -c dc --tests suite", 2, &["the input `abc` is no number"]);
}

#[test]
fn forms_for_programs_are_refused_for_tests_of_functions() {
    let place = Workplace::with("int f(int x)\n{\n    return x > 0;\n}\n");
    place.refused("gen unit.c -c dc --format ktest", 2, &["for tests of whole programs alone"]);
    place.write("one.ktest", "no test");
    place.refused("cover unit.c --tests one.ktest", 2, &["whole programs"]);
    place.write("unit.c", "int main(void)\n{\n    return 0;\n}\n");
    place.refused("cover unit.c --program --tests one.ktest", 2, &["no .ktest file"]);
}

#[test]
fn what_a_form_cannot_hold_is_told() {
    let place = Workplace::with(
        "extern int __VERIFIER_nondet_int(void);\nvoid *malloc(unsigned long);\n\
         int main(void)\n{\n    char *p = malloc(10);\n    if (!p)\n        return 1;\n    \
         return __VERIFIER_nondet_int() > 5;\n}\n",
    );
    let ran = place.done("gen unit.c -c dc --format testcomp");
    assert!(ran.err.contains("it depends on what malloc returns"), "{ran}");
}
