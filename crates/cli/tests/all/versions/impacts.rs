//! `lydian gen --against`.

use serde_json::Value;

use crate::common::{Workplace, figures};

const OLD: &str = "\
int f(int a, int b, int c)
{
    int r = 0;
    if (a > 10 && b < 5)
        r = 1;
    if (c > 3) {
        r += 2;
        if (c == 77 || a == 5)
            r += 4;
    }
    if (r > 6 && r < 0)
        return b;
    return r;
}
int g(int x) { return x > 3 ? x : 0; }
int h(int x)
{
    if (g(x) > 7)
        return 1;
    return 2;
}
int k(int x) { return x == 1 && x == 2; }
";

/// An objective of a table.
struct Known {
    name: String,
    verdict: String,
    is_left_alone: bool,
}

fn objectives(table: &Value) -> Vec<Known> {
    let mut all = Vec::new();
    for function in table["functions"].as_array().expect("a list of functions") {
        for one in function["objectives"].as_array().expect("a list of objectives") {
            let name = format!("{} {} {}", function["name"], one["criterion"], one["name"]);
            let verdict = one["verdict"].as_str().expect("a verdict").to_owned();
            let is_left_alone = one.to_string().contains("left alone");
            all.push(Known { name, verdict, is_left_alone });
        }
    }
    all
}

#[test]
fn all_impacted_objectives_are_decided_as_without_the_old_version() {
    for (from, to) in [("c > 3", "c > 4"), ("a > 10", "a > 11"), ("return b", "return b + 1")] {
        let at = Workplace::with(&OLD.replace(from, to));
        at.write("old.c", OLD);
        let criteria = "-c stmt,bc,mcdc,mcc,all-uses,wm,epc";
        at.done(&format!("gen unit.c {criteria} -o all --json all.json --time 20"));
        let ran = at.done(&format!(
            "gen unit.c {criteria} --against old.c -o some --json some.json --time 20"
        ));
        let (all, some) = (at.json("all.json"), at.json("some.json"));
        let (whole, part) = (objectives(&all), objectives(&some));
        assert_eq!(whole.len(), part.len());
        let mut decided = 0;
        for (full, own) in whole.iter().zip(&part).filter(|(_, own)| !own.is_left_alone) {
            assert_eq!(full.verdict, own.verdict, "{from} -> {to}: {}", own.name);
            assert_eq!(full.name, own.name);
            decided += 1;
        }
        assert!(decided > 0, "{ran}");
        assert!(ran.out.contains("objectives are impacted"), "{ran}");
        assert!(ran.out.contains("g: 0 of "), "{ran}");
    }
}

#[test]
fn a_changed_callee_impacts_its_callers_and_nobody_else() {
    let at = Workplace::with(&OLD.replace("x > 3", "x > 4"));
    at.write("old.c", OLD);
    let ran = at.done("gen unit.c --against old.c -o t --json t.json");
    let table = at.json("t.json");
    assert_eq!(figures(&table, "g", "bc"), [2, 2, 0, 0, 0]);
    assert_eq!(figures(&table, "h", "bc"), [2, 2, 0, 0, 0]);
    assert_eq!(figures(&table, "k", "bc"), [4, 0, 0, 0, 4]);
    assert!(ran.out.contains("left alone: the change does not affect it"), "{ran}");
}

#[test]
fn what_is_untouched_keeps_its_tests_and_verdicts() {
    let at = Workplace::with(OLD);
    at.write("old.c", OLD);
    at.done("gen unit.c -o t --json first.json");
    at.write("unit.c", &OLD.replace("x > 3", "x > 4"));
    at.done("gen unit.c --against old.c -o t --json second.json");
    let (first, second) = (at.json("first.json"), at.json("second.json"));
    for criterion in ["stmt", "bc", "mcdc"] {
        for function in ["f", "g", "h", "k"] {
            let before = figures(&first, function, criterion);
            assert_eq!(before, figures(&second, function, criterion), "{function} {criterion}");
        }
    }
}

#[test]
fn a_callee_that_is_entered_because_of_the_change_is_impacted_from_its_entry_on() {
    let text = "extern int __VERIFIER_nondet_int(void);\n\
                static int twice(int x) { return x * 2; }\n\
                static int other(int x) { return x + 2; }\n\
                int main(void)\n{\n    int c = __VERIFIER_nondet_int();\n    int r = other(c);\n\
                \x20   if (c > 3)\n        r += twice(c);\n    return r;\n}\n";
    let at = Workplace::with(&text.replace("c > 3", "c > 4"));
    at.write("old.c", text);
    let ran = at.done("gen unit.c -c fc,stmt --against old.c -o t");
    assert!(ran.out.contains("twice: 2 of 2 objectives are impacted"), "{ran}");
    assert!(ran.out.contains("other: 0 of 2 objectives are impacted"), "{ran}");
}

#[test]
fn other_contents_of_a_table_impact_what_reads_it_also_through_pointers() {
    let text = "struct limits { int least, most; };\n\
                static const struct limits a = { LEAST, 9 };\n\
                static const struct { const struct limits *of; } table[] = { { &a } };\n\
                static const int steps[2] = { 1, LEAST };\n\
                int f(int x) { return x < table[0].of->least ? 1 : 0; }\n\
                int g(int x) { return x < steps[x & 1] ? 1 : 0; }\n\
                int h(int x) { return x < 3 ? 1 : 0; }\n";
    let at = Workplace::with(&text.replace("LEAST", "2"));
    at.write("old.c", &text.replace("LEAST", "5"));
    let ran = at.done("gen unit.c -c bc --against old.c -o t");
    for (name, count) in [("f", 2), ("g", 2), ("h", 0)] {
        let words = format!("{name}: {count} of 2 objectives are impacted");
        assert!(ran.out.contains(&words), "{ran}");
    }
}

#[test]
fn an_old_version_needs_no_entry_in_the_compilation_database() {
    let at = Workplace::with(&OLD.replace("x > 3", "x > 4"));
    at.write("old.c", OLD);
    let folder = at.path("").display().to_string();
    let arguments = "[\"cc\", \"-O2\", \"-c\", \"unit.c\"]";
    let entry = format!(
        "[{{\"directory\": \"{folder}\", \"file\": \"unit.c\", \"arguments\": {arguments}}}]"
    );
    at.write("all.json", &entry);
    let ran = at.done("gen unit.c -c bc --compile-commands all.json --against old.c -o t");
    assert!(ran.out.contains("g: 2 of 2 objectives are impacted"), "{ran}");
}

#[test]
fn an_old_version_that_is_no_use_is_named() {
    let at = Workplace::with(OLD);
    at.refused("gen unit.c --against none.c", 3, &["there is no file none.c", "--since"]);
    at.write("old.c", "int f(");
    at.refused("gen unit.c --against old.c", 3, &["this is the old version"]);
    at.refused("gen unit.c --against old.c --since HEAD", 2, &["cannot be used with"]);
}
