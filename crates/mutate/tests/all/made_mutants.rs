//! The mutants of small texts.

use lydian_mutate::{Operator, clones};

use crate::common::Program;

fn of(operator: Operator, text: &str) -> Vec<String> {
    let program = Program::with(text, &[operator]);
    let shown = |(name, old, new): (&str, &str, &str)| format!("{name}: {old} => {new}");
    program.changes().into_iter().map(shown).collect()
}

#[test]
fn operators_are_replaced_and_precedence_is_kept() {
    let found = of(Operator::Aor, "int f(int a, int b) { return a - b * 2; }");
    let expected = [
        "AOR - -> +: a - b * 2 => a + b * 2",
        "AOR - -> *: a - b * 2 => (a * (b * 2))",
        "AOR - -> /: a - b * 2 => (a / (b * 2))",
        "AOR - -> %: a - b * 2 => (a % (b * 2))",
        "AOR * -> +: b * 2 => (b + 2)",
        "AOR * -> -: b * 2 => (b - 2)",
        "AOR * -> /: b * 2 => b / 2",
        "AOR * -> %: b * 2 => b % 2",
    ];
    assert_eq!(found, expected);
}

#[test]
fn mutants_that_are_equal_by_construction_are_not_made() {
    assert_eq!(
        of(Operator::Lor, "int f(int a) { return a | 0; }"),
        ["LOR | -> &: a | 0 => (a & 0)"]
    );
    assert_eq!(of(Operator::Cro, "int f(int a) { return a * 1; }").len(), 2);
    assert!(of(Operator::Abs, "unsigned f(unsigned a) { return a; }").is_empty());
    assert!(of(Operator::Ror, "int f(const char *p) { return p == 0; }").len() == 3);
}

#[test]
fn statements_are_deleted_with_all_that_they_hold() {
    let found = of(
        Operator::Sdl,
        "void g(int); void f(int n) { int i; for (i = 0; i < n; i++) if (n) g(i); else break; }",
    );
    let expected = [
        "SDL for: for (i = 0; i < n; i++) if (n) g(i); else break; => ;",
        "SDL if: if (n) g(i); else break; => ;",
        "SDL statement: g(i); => ;",
        "SDL break: break; => ;",
    ];
    assert_eq!(found, expected);
}

#[test]
fn arguments_are_left_out_and_swapped() {
    let text = "int g(int, int, char); int h(const char *, ...);
                int f(int a, int b) { return g(a, b, 'x') + h(\"\", a, b); }";
    let swaps = of(Operator::Ars, text);
    assert_eq!(swaps, ["ARS: a, b => b, a"]);
    let gone = of(Operator::Arr, text);
    assert_eq!(gone, ["ARR -> 0: a => 0", "ARR -> 0: b => 0", "ARR left out: , b => "]);
}

#[test]
fn variables_are_confused_with_others_of_their_type_that_have_values() {
    let text =
        "int global; int f(int a, long b) { int unset; int c = a; unset = c; return unset; }";
    let expected =
        ["VRR a -> global: a => global", "VRR c -> a: c => a", "VRR c -> global: c => global"];
    let found = of(Operator::Vrr, text);
    assert_eq!(found[..3], expected);
    assert!(found[3..].iter().all(|it| it.starts_with("VRR unset -> ")), "{found:?}");
    let assigned =
        of(Operator::Lhs, "int f(int a) { int b; int c = 1; b = a; c = a; return b + c; }");
    assert_eq!(assigned, ["LHS c -> b: c => b", "LHS c -> a: c => a"]);
}

#[test]
fn returned_values_are_replaced() {
    let found = of(Operator::Rvr, "char *f(char *p) { return p; } double g(void) { return 1.0; }");
    let expected = ["RVR -> 0: p => 0", "RVR -> 0: 1.0 => 0.0", "RVR -> -1: 1.0 => (-1.0)"];
    assert!(
        found.iter().all(|it| expected.contains(&it.as_str()) || it.contains("=> 1.0")),
        "{found:?}"
    );
}

#[test]
fn the_place_of_a_mutant_is_that_of_its_text_in_the_file() {
    let program =
        Program::new("#define ZERO 0\nint f(int a)\n{\n    return a\n        + ZERO;\n}\n");
    let sum = program.found.mutants.iter().find(|it| it.name == "AOR + -> *").unwrap();
    assert_eq!((sum.start.line, sum.start.column, sum.end.line), (4, 12, 5));
    assert!(sum.in_macro, "part of it is the text of a macro");
    let variable = program.found.mutants.iter().find(|it| it.original == "a").unwrap();
    assert!(!variable.in_macro);
    assert_eq!((variable.start.column, variable.end.column), (12, 13));
}

#[test]
fn keys_stay_when_other_functions_change() {
    let first = Program::new("int f(int a) { return a + 1; }");
    let second = Program::new("int g(void) { return 7; }\n\nint f(int a) { return a + 1; }");
    let keys = |program: &Program| -> Vec<String> {
        let own = program.found.mutants.iter().filter(|it| it.function == "f");
        own.map(|it| it.key.clone()).collect()
    };
    assert_eq!(keys(&first), keys(&second));
    let mut all = keys(&first);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), keys(&first).len(), "and no two mutants share one");
}

#[test]
fn functions_of_the_system_have_no_mutants() {
    let program = Program::new("#include <stdlib.h>\nint f(int a) { return abs(a); }\n");
    assert!(program.found.mutants.iter().all(|it| it.function == "f"));
}

#[test]
fn equal_code_is_found_and_other_code_is_not() {
    // `a < b ? a : b` is the same with `<=`; `n * 2` is `n << 1` and no `n + 1`.
    let program = Program::new(
        "int least(int a, int b) { return a < b ? a : b; }
         unsigned twice(unsigned n) { return n * 2; }
         int prime(unsigned n) {
             switch (n) {
             case 0: return 2;
             case 1: return 3;
             case 2: return 5;
             case 3: return 7;
             case 4: return 11;
             case 5: return 13;
             default: return -2;
             }
         }",
    );
    let notes = program.notes();
    let all: Vec<_> = notes.mutants.iter().collect();
    let ir = program.ir_of_clones(&clones::text(&notes, &all));
    let equal = clones::equal(&ir, &all);
    let is_equal = |name: &str| {
        let found = all.iter().find(|it| it.name == name).unwrap();
        equal.contains(&found.number)
    };
    assert!(is_equal("ROR < -> <="));
    let of_table = all.iter().filter(|it| it.function == "prime" && it.operator == Operator::Cro);
    let of_table: Vec<u32> = of_table.map(|it| it.number).collect();
    assert!(of_table.len() > 8 && of_table.iter().all(|number| !equal.contains(number)));
    assert!(ir.contains("switch.table"), "the compiler makes a table of the constants");
    assert!(!is_equal("ROR < -> >") && !is_equal("AOR * -> +") && !is_equal("CRO 2 -> 1"));
}

#[test]
fn each_operator_has_mutants() {
    let text = "int g(int, int); int h(const char *, ...); int total;
        int f(int a, int b, int c) {
            int d = a;
            d = b;
            if (a < b && c) return g(a, b) + (a << 1);
            total = a & c;
            return h(\"\", a, 7) * 2;
        }";
    for operator in Operator::ALL.into_iter().filter(|operator| *operator != Operator::Own) {
        assert!(!of(operator, text).is_empty(), "{operator}");
    }
}

/// The original's result is zero wherever it ends, and a compiler knows that. The mutant never ends.
#[test]
fn a_mutant_that_calls_itself_for_ever_is_not_the_code_of_the_original() {
    let program = Program::new(
        "static int down(int n) { return n == 0 ? 0 : down(n - 1); }
         static int first(int n);
         static int second(int n) { return n == 0 ? 0 : first(n); }
         static int first(int n) { return second(n - 1); }
         int main(void) { return down(3) + first(3); }",
    );
    let notes = program.notes();
    let all: Vec<_> = notes.mutants.iter().collect();
    let ir = program.ir_of_clones(&clones::text(&notes, &all));
    let equal = clones::equal(&ir, &all);
    assert!(ir.contains("lydian_copy_0_of_down"), "{ir}");
    let ends_never = all
        .iter()
        .filter(|it| it.function != "main" && ["CRO 1 -> 0", "AOR - -> *"].contains(&&*it.name));
    let ends_never: Vec<u32> = ends_never.map(|it| it.number).collect();
    assert!(ends_never.len() >= 2);
    assert!(ends_never.iter().all(|number| !equal.contains(number)), "{equal:?}");
}
