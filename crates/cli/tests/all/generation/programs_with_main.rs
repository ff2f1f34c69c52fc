//! `gen` and `cover` of whole programs: inputs that the program asks for, assumptions, ends.

use crate::common::{Workplace, figures};

const VERIFIER: &str = "\
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern double __VERIFIER_nondet_double(void);
extern long long __VERIFIER_nondet_longlong(void);
extern unsigned __int128 __VERIFIER_nondet_uint128(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
extern void abort(void);
extern void exit(int);
";

fn verifier(rest: &str) -> Workplace {
    Workplace::with(&format!("{VERIFIER}{rest}"))
}

/// What the test covers of DC for which a function without a body gives a value.
fn covered_by(place: &Workplace, function: &str, result: i32) -> serde_json::Value {
    let test = format!(
        r#"{{"version": 1, "source": "unit.c", "tests": [{{"name": "one", "function": "main",
        "args": {{}}, "externals": [{{"function": "{function}", "result": {result}}}]}}]}}"#
    );
    place.write("one.json", &test);
    place.done("cover unit.c -c dc --tests one.json --json cover.json");
    place.json("cover.json")
}

#[test]
fn what_a_program_asks_for_is_its_input_and_all_functions_are_reached_through_main() {
    let place = verifier(
        "static int kind(int x)\n{\n    if (x > 100 && x < 200)\n        return 1;\n    \
         return x == 77 ? 2 : 0;\n}\n\
         int main(void)\n{\n    int sum = 0;\n    for (int i = 0; i < 3; i++)\n        \
         sum += kind(__VERIFIER_nondet_int());\n    if (sum == 5)\n        exit(3);\n    \
         return sum;\n}\n",
    );
    place.done("gen unit.c -c dc,bc --json out.json");
    let table = place.json("out.json");
    assert_eq!(figures(&table, "main", "dc"), [4, 4, 0, 0, 0], "{table:#}");
    assert_eq!(figures(&table, "kind", "dc"), [4, 4, 0, 0, 0], "{table:#}");
    let suite = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().unwrap();
    assert!(tests.iter().all(|test| test["function"] == "main"), "{suite:#}");
    let exits = tests.iter().any(|test| test["expected"]["outcome"]["exited"] == 3);
    assert!(exits, "{suite:#}");
    place.done("cover unit.c -c dc,bc --tests tests --json cover.json");
    let table = place.json("cover.json");
    assert_eq!(figures(&table, "kind", "dc"), [4, 4, 0, 0, 0], "{table:#}");
}

#[test]
fn inputs_have_every_type_that_programs_ask_for() {
    let place = verifier(
        "int main(void)\n{\n    if (__VERIFIER_nondet_uchar() == 200)\n        return 1;\n    \
         if (__VERIFIER_nondet_double() == 2.5)\n        return 2;\n    \
         if (__VERIFIER_nondet_longlong() == -5000000000LL)\n        return 3;\n    \
         if (__VERIFIER_nondet_bool())\n        return 4;\n    \
         if (__VERIFIER_nondet_uint128() >> 100 == 77)\n        return 5;\n    return 0;\n}\n",
    );
    place.done("gen unit.c -c dc --json out.json");
    assert_eq!(figures(&place.json("out.json"), "main", "dc"), [10, 10, 0, 0, 0]);
}

#[test]
fn a_run_that_breaks_an_assumption_counts_nowhere() {
    // The first decision's true side is only taken where the assumption then fails.
    let place = verifier(
        "int main(void)\n{\n    int x = __VERIFIER_nondet_int();\n    int y = 0;\n    \
         if (x < 10)\n        y = 1;\n    __VERIFIER_assume(x > 20);\n    \
         if (x == 30)\n        return 7;\n    return y;\n}\n",
    );
    place.done("gen unit.c -c dc --json out.json");
    let table = place.json("out.json");
    let [objectives, covered, ..] = figures(&table, "main", "dc");
    assert_eq!((objectives, covered), (4, 3), "{table:#}");
    for (x, covers) in [(5, 0), (30, 2)] {
        let table = covered_by(&place, "__VERIFIER_nondet_int", x);
        assert_eq!(figures(&table, "main", "dc")[1], covers, "x = {x}: {table:#}");
    }
}

#[test]
fn a_value_that_an_assumption_asks_for_later_is_kept_together_with_what_was_covered_before() {
    let place = verifier(
        "int main(void)\n{\n    int x = __VERIFIER_nondet_int();\n    \
         int y = __VERIFIER_nondet_int();\n    int r = 0;\n    if (x == 12)\n        r = 1;\n    \
         if (y > x)\n        r = 2;\n    __VERIFIER_assume(x + y == 100);\n    return r;\n}\n",
    );
    place.done("gen unit.c -c dc,mcc --json out.json");
    assert_eq!(figures(&place.json("out.json"), "main", "dc"), [4, 4, 0, 0, 0]);
}

#[test]
fn an_error_that_is_reached_ends_the_run_and_counts_up_to_there() {
    let place = verifier(
        "int main(void)\n{\n    if (__VERIFIER_nondet_int() == 1234)\n        reach_error();\n    \
         return 0;\n}\n",
    );
    place.done("gen unit.c -c dc,stmt --json out.json");
    let table = place.json("out.json");
    assert_eq!(figures(&table, "main", "dc"), [2, 2, 0, 0, 0], "{table:#}");
    let suite = place.json("tests/tests.json");
    let tests = suite["tests"].as_array().unwrap();
    let aborts = tests.iter().find(|test| test["expected"]["outcome"] == "aborted");
    assert_eq!(aborts.expect("a test aborts")["externals"][0]["result"], 1234);
}

#[test]
fn what_klee_makes_symbolic_is_filled_under_its_name() {
    let place = Workplace::with(
        "void klee_make_symbolic(void *, unsigned long, const char *);\n\
         void klee_assume(unsigned long);\nint klee_range(int, int, const char *);\n\
         int klee_int(const char *);\nvoid klee_silent_exit(int);\n\
         struct point { int x; char name[4]; };\n\
         int main(void)\n{\n    struct point p;\n    \
         klee_make_symbolic(&p, sizeof p, \"p\");\n    klee_assume(p.x > 5);\n    \
         int k = klee_range(2, 9, \"k\"), n = klee_int(\"n\");\n    \
         if (p.x * 3 == 21 && p.name[0] == 'a')\n        return 1;\n    \
         if (k == 9)\n        return 2;\n    if (k == 8)\n        return 3;\n    \
         if (n == 77)\n        klee_silent_exit(4);\n    return 0;\n}\n",
    );
    place.done("gen unit.c -c dc --json out.json");
    let table = place.json("out.json");
    let [objectives, covered, infeasible, ..] = figures(&table, "main", "dc");
    // `k` is never 9, and a run that exits silently is no test.
    assert_eq!((objectives, covered, infeasible), (8, 6, 1), "{table:#}");
    let suite = place.json("tests/tests.json");
    let names: Vec<_> = suite["tests"][0]["externals"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names.iter().map(|call| call["object"].as_str().unwrap()).collect();
    assert_eq!(names, ["p", "k", "n"]);
}

#[test]
fn functions_of_cbmc_need_no_declaration() {
    let place = Workplace::with(
        "int nondet_int();\nint main(void)\n{\n    int a = nondet_int();\n    \
         __CPROVER_assume(a > 0 && a < 1000);\n    __CPROVER_assert(a != 500 && a, \"not 500\");\n    \
         if (a == 999)\n        return 1;\n    if (a == 1000)\n        return 2;\n    \
         return 0;\n}\n",
    );
    place.done("gen unit.c -c stmt,dc --json out.json");
    let table = place.json("out.json");
    let [_, covered, infeasible, ..] = figures(&table, "main", "dc");
    assert_eq!((covered, infeasible), (6, 1), "{table:#}");
    // A run ends at the assertion that fails, and counts up to there.
    for (x, covers) in [(500, 2), (2000, 0), (7, 4)] {
        let table = covered_by(&place, "nondet_int", x);
        assert_eq!(figures(&table, "main", "dc")[1], covers, "a = {x}: {table:#}");
    }
}

#[test]
fn the_arguments_of_main_are_inputs_of_the_number_and_length_that_are_asked_for() {
    let place = Workplace::with(
        "int main(int argc, char **argv)\n{\n    int verbose = 0;\n    \
         for (int i = 1; i < argc; i++)\n        \
         if (argv[i][0] == '-' && argv[i][1] == 'v' && !argv[i][2])\n            verbose++;\n    \
         if (verbose == 2)\n        return 1;\n    if (argc == 4)\n        return 2;\n    \
         if (argv[argc])\n        return 3;\n    return 0;\n}\n",
    );
    place.done("gen unit.c -c dc --sym-args 0 2 3 --json out.json");
    let table = place.json("out.json");
    // Neither are there three arguments, nor does anything follow the last.
    assert_eq!(figures(&table, "main", "dc"), [10, 8, 2, 0, 0], "{table:#}");
    place.done("cover unit.c -c dc --sym-args 0 2 3 --tests tests --json cover.json");
    assert_eq!(figures(&place.json("cover.json"), "main", "dc")[1], 8);
    place.refused("gen unit.c --sym-args 3 2 1", 2, &["--sym-args takes MIN, MAX"]);
}

const READS: &str = "\
#include <stdio.h>
#include <string.h>
int main(void)
{
    int c = getchar(), n;
    if (c == EOF)
        return 9;
    if (c == '#') {
        char line[8];
        if (!fgets(line, sizeof line, stdin))
            return 8;
        return strcmp(line, \"ok\\n\") == 0 ? 7 : 6;
    }
    ungetc(c, stdin);
    char word[4];
    if (scanf(\"%d%3s\", &n, word) == 2) {
        if (n == 42)
            return 1;
        return 2;
    }
    FILE *file = fopen(\"A\", \"r\");
    if (!file || fopen(\"/no/such/file\", \"r\"))
        return 5;
    char bytes[3];
    if (fread(bytes, 1, 3, file) == 3 && bytes[1] == 'z')
        return 3;
    if (feof(file))
        return 4;
    fclose(file);
    return 0;
}
";

/// Standard input and the file `A` of a test.
fn contents(test: &serde_json::Value) -> [Vec<u8>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for call in test["externals"].as_array().into_iter().flatten() {
        let at = match call["function"].as_str().unwrap() {
            "lydian_input_stdin" => 0,
            "lydian_input_A" => 1,
            _ => continue,
        };
        found[at].extend(u8::try_from(call["result"].as_i64().unwrap()));
    }
    found
}

#[test]
fn standard_input_and_files_are_inputs_and_the_program_itself_does_with_them_what_tests_say() {
    let place = Workplace::with(READS);
    let options = "--sym-stdin 6 --sym-files 1 3";
    place.done(&format!("gen unit.c -c bc {options} --json out.json"));
    let table = place.json("out.json");
    let [objectives, covered, infeasible, ..] = figures(&table, "main", "bc");
    // The file exists, the other does not.
    assert_eq!((covered, infeasible), (objectives - 2, 2), "{table:#}");
    let compiled = std::process::Command::new("cc")
        .args(["-w", "-o", "unit", "unit.c"])
        .current_dir(place.path("."))
        .status();
    assert!(compiled.unwrap().success());
    let suite = place.json("tests/tests.json");
    for test in suite["tests"].as_array().unwrap() {
        let [stdin, file] = contents(test);
        std::fs::write(place.path("A"), file).unwrap();
        std::fs::write(place.path("stdin"), stdin).unwrap();
        let given = std::fs::File::open(place.path("stdin")).unwrap();
        let mut command = std::process::Command::new(place.path("unit"));
        place.settle(&mut command);
        let status = command.stdin(given).status().unwrap();
        assert_eq!(status.code().map(i64::from), test["expected"]["result"].as_i64(), "{test:#}");
    }
    place.done(&format!("cover unit.c -c bc {options} --tests tests --json cover.json"));
    assert_eq!(figures(&place.json("cover.json"), "main", "bc")[1], covered);
    emitted_tests_pass(&place);
    place.refused("gen unit.c --sym-stdin 5000", 2, &["at most 4096 bytes"]);
}

/// Compiles `tests/tests.c` and runs it.
fn emitted_tests_pass(place: &Workplace) {
    let mut compiler = std::process::Command::new("clang-19");
    compiler.args(["-w", "-DLYDIAN_RUN_CRASHING", "tests/tests.c", "-o", "emitted"]);
    place.settle(&mut compiler);
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = std::process::Command::new(place.path("emitted"));
    place.settle(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" 0 failed"), "{said}");
}

#[test]
fn the_c_form_of_tests_of_programs_has_what_they_ask_for() {
    let place = Workplace::with(
        "int nondet_int();\nint main(int argc, char **argv)\n{\n    int a = nondet_int(), k;\n    \
         klee_make_symbolic(&k, sizeof k, \"k\");\n    __CPROVER_assume(a > 0);\n    \
         if (argc > 1 && argv[1][0] == '-' && k == 77)\n        return 1;\n    \
         if (klee_range(2, 5, \"r\") == 4)\n        reach_error();\n    return 0;\n}\n\
         void klee_make_symbolic(void *, unsigned long, const char *);\n",
    );
    let declared = "void klee_make_symbolic(void *, unsigned long, const char *);\n\
                    int klee_range(int, int, const char *);\n";
    let text = format!("{declared}{}", place.read("unit.c"));
    place.write("unit.c", &text);
    place.done("gen unit.c -c bc --sym-args 0 1 2 --json out.json");
    let covered = figures(&place.json("out.json"), "main", "bc")[1];
    assert_eq!(covered, 8);
    emitted_tests_pass(&place);
}

#[test]
fn a_program_without_main_is_refused_as_one() {
    let place = Workplace::with("int f(int x)\n{\n    return x;\n}\n");
    place.refused("gen unit.c --program", 3, &["defines no main"]);
}

#[test]
fn each_row_of_a_program_says_which_tests_cover_it() {
    let place = Workplace::with(
        "extern int __VERIFIER_nondet_int(void);\nstatic int sign(int x) { return x < 0 ? -1 : x > 0; \
         }\nint main(void)\n{\n    int x = __VERIFIER_nondet_int();\n    if (x == 12)\n        return \
         5;\n    return sign(x) == 1;\n}\n",
    );
    let ran = place.done("gen unit.c --program -c bc --json out.json");
    let table = place.json("out.json");
    let functions = table["functions"].as_array().unwrap();
    let sign = functions.iter().find(|function| function["name"] == "sign").unwrap();
    let mut tests: Vec<&str> = Vec::new();
    for objective in sign["objectives"].as_array().unwrap() {
        tests
            .extend(objective["tests"].as_array().unwrap().iter().filter_map(|test| test.as_str()));
    }
    tests.sort_unstable();
    tests.dedup();
    assert_eq!(sign["tests"], tests.len(), "{sign:#}");
    let line = ran.out.lines().find(|line| line.starts_with("sign: covered by ")).expect("a line");
    assert!(tests.len() >= 2 && tests.iter().all(|test| line.contains(test)), "{line}");
}

#[test]
fn functions_before_main_run_and_those_that_the_system_calls_are_not_infeasible() {
    let place = Workplace::with(
        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic int ready, value;\nstatic char \
         *memory;\n__attribute__((constructor(102))) static void second(void)\n{\n    if (ready == 1)\n        \
         ready = 2;\n    puts(\"early\");\n}\n__attribute__((constructor(101))) static void \
         first(void)\n{\n    ready = 1;\n    memory = malloc(3);\n}\n__attribute__((destructor)) static void \
         late(void)\n{\n    free(memory);\n}\nstatic void bye(void)\n{\n    value = 4;\n}\nstatic void *run(void \
         *p)\n{\n    value = 5;\n    return p;\n}\nint main(int argc, char **argv)\n{\n    pthread_t thread;\n    if \
         (ready != 2)\n        return 7;\n    atexit(bye);\n    pthread_create(&thread, 0, run, 0);\n    return \
         argc > 2;\n}\n",
    );
    let ran = place.done("gen unit.c --program --sym-args 0 2 1 -c stmt --time 4 --json out.json");
    let table = place.json("out.json");
    let of = |name: &str| figures(&table, name, "stmt");
    for (name, expected) in [
        ("main", [5, 4, 0, 0, 0]),
        ("first", [2, 2, 0, 0, 0]),
        ("second", [3, 3, 0, 0, 0]),
        ("late", [1, 0, 0, 0, 1]),
        ("bye", [1, 0, 0, 0, 1]),
        ("run", [2, 0, 0, 0, 2]),
    ] {
        assert_eq!(of(name), expected, "{name}: {ran}");
    }
    assert!(ran.out.contains("run stmt: 2 unknown: it may run where `pthread_create`"), "{ran}");
    assert!(ran.out.contains("what `pthread_create` has run, as `run`, changes nothing"), "{ran}");
}
