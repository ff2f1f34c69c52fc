//! Programs of several files: run in the interpreter, and explored from one of them.

use std::process::Stdio;

use crate::common::{Ran, Workplace, figures};

/// Runs a command with some input.
fn with_input(place: &Workplace, words: &str, input: &str) -> Ran {
    place.write("input.txt", input);
    let file = std::fs::File::open(place.path("input.txt")).expect("it was written");
    Ran::of(place.command(words).stdin(Stdio::from(file)))
}

const MAIN: &str = "#include <stdio.h>\n\
                    #include <stdlib.h>\n\
                    #include \"list.h\"\n\
                    static int count;\n\
                    int main(int argc, char **argv)\n{\n\
                      int numbers[100], number;\n\
                      while (count < 100 && scanf(\"%d\", &number) == 1) numbers[count++] = number;\n\
                      sort(numbers, count);\n\
                      for (int i = 0; i < count; i++) printf(\"%s%d\", i ? argv[1] : \"\", numbers[i]);\n\
                      putchar('\\n');\n\
                      return calls() % 256;\n}\n";
const LIST: &str = "#include <stdlib.h>\n\
                    #include \"list.h\"\n\
                    static int count;\n\
                    static int ascending(const void *a, const void *b)\n\
                    {\n  count++;\n  return *(const int *)a - *(const int *)b;\n}\n\
                    void sort(int *numbers, int many) { qsort(numbers, many, sizeof *numbers, ascending); }\n\
                    int calls(void) { return count; }\n";
const HEADER: &str = "void sort(int *numbers, int many);\nint calls(void);\n";

fn sorting() -> Workplace {
    let place = Workplace::with(MAIN);
    place.write("list.c", LIST);
    place.write("list.h", HEADER);
    place
}

#[test]
fn a_program_of_two_files_runs_with_its_output_and_status() {
    let ran = with_input(&sorting(), "run unit.c list.c --steps --args ;", "5 3 9 1");
    assert_eq!((ran.out.as_str(), ran.code), ("1;3;5;9\n", Some(5)), "{ran}");
    assert!(ran.err.contains("million a second"), "{ran}");
}

#[test]
fn a_compilation_database_stands_for_its_files() {
    let place = sorting();
    let entry =
        |file: &str| format!(r#"{{"directory": ".", "file": "{file}", "command": "cc {file}"}}"#);
    let database = format!("[{}, {}]", entry("unit.c"), entry("list.c"));
    place.write("compile_commands.json", &database);
    place.write("numbers.txt", "2 1");
    let ran = with_input(&place, "run compile_commands.json --stdin numbers.txt --args ,", "");
    assert_eq!((ran.out.as_str(), ran.code), ("1,2\n", Some(1)), "{ran}");
}

#[test]
fn an_alias_in_one_file_is_a_definition_for_the_others() {
    let place = Workplace::with(
        "extern int second, (*chosen)(int);\nint twice(int x);\n\
         int main(void) { second += 5; return twice(4) + second + (chosen == twice); }\n",
    );
    place.write(
        "other.c",
        "static int doubled(int x) { return 2 * x; }\nint first = 20;\n\
         extern int second __attribute__((alias(\"first\")));\n\
         int twice(int) __attribute__((alias(\"doubled\")));\nint (*chosen)(int) = doubled;\n",
    );
    for order in ["run unit.c other.c", "run other.c unit.c"] {
        let ran = with_input(&place, order, "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(34), ""), "{ran}");
    }
}

#[test]
fn compiler_flags_follow_the_arguments() {
    let text =
        "#include <stdio.h>\nint main(int c, char **v) { printf(\"%d %s %d\\n\", c, v[2], X); }\n";
    let place = Workplace::with(text);
    let ran = with_input(&place, "run unit.c --args -a --steps -- -DX=7", "");
    assert_eq!((ran.out.as_str(), ran.code), ("3 --steps 7\n", Some(0)), "{ran}");
}

#[test]
fn undefined_behaviour_is_named_with_its_place_and_callers() {
    let place = Workplace::with(
        "#include <stdio.h>\nint at(int *a, int k);\n\
         int main(void)\n{\n  int a[3] = {1, 2, 3};\n  printf(\"first\\n\");\n\
           return at(a, 3);\n}\n",
    );
    place.write("other.c", "int at(int *a, int k)\n{\n  return a[k];\n}\n");
    let ran = with_input(&place, "run unit.c other.c", "");
    assert_eq!((ran.out.as_str(), ran.code), ("first\n", Some(132)), "{ran}");
    for part in
        ["error[undefined-behaviour]", "in `at`", "other.c:3", "called in `main`", "unit.c:7"]
    {
        assert!(ran.err.contains(part), "{part} is missing: {ran}");
    }
}

#[test]
fn signed_overflow_ends_a_program_unless_its_flags_make_it_wrap() {
    let place = Workplace::with(
        "#include <limits.h>\nint main(int c, char **v) { int x = INT_MAX; x += c; return x < 0; }\n",
    );
    let ran = with_input(&place, "run unit.c", "");
    assert!(ran.code == Some(132) && ran.err.contains("signed overflow"), "{ran}");
    assert_eq!(with_input(&place, "run unit.c -- -fwrapv", "").code, Some(1));
}

#[test]
fn limits_and_failed_assertions_have_exit_codes_of_their_own() {
    let place = Workplace::with("int main(void) { for (;;) {} }\n");
    assert_eq!(with_input(&place, "run unit.c --max-steps 1000", "").code, Some(124));
    place.write(
        "talking.c",
        "#include <stdio.h>\nint main(void) { printf(\"so far\"); for (;;) {} }\n",
    );
    let ran = with_input(&place, "run talking.c --max-steps 50000", "");
    assert_eq!((ran.out.as_str(), ran.code), ("so far", Some(124)), "{ran}");
    place.write(
        "failing.c",
        "#include <assert.h>\nint main(int c, char **v) { assert(c == 2); return 0; }\n",
    );
    let ran = with_input(&place, "run failing.c", "");
    assert!(ran.code == Some(134) && ran.err.contains("Assertion `c == 2' failed"), "{ran}");
}

#[test]
fn two_definitions_of_one_name_are_shown_with_both_places() {
    let place =
        Workplace::with("int twice(int x) { return 2 * x; }\nint main(void) { return 0; }\n");
    place.write("other.c", "int twice(int x) { return x + x; }\n");
    place.refused(
        "run unit.c other.c",
        3,
        &["`twice` is defined more than once", "other.c:1", "unit.c:1"],
    );
}

const CALLER: &str = "int helper(int x);\nextern int table[], level;\n\
                      static int twice(int x) { return x * 2; }\n\
                      int f(int a)\n{\n  if (helper(a) == 30) return 1;\n\
                        if (table[2] == 7 && twice(a) == 8) return 2;\n\
                        if (level > 5) return 3;\n  return 0;\n}\n";
const CALLEE: &str = "static int twice(int x) { return x * 3; }\nstatic int calls;\n\
                      int level = 3, table[4] = {1, 2, 7, 9};\n\
                      int helper(int x) { calls++; if (calls > 1) return -1; return twice(x); }\n";

#[test]
fn functions_of_other_files_are_followed_and_run() {
    let place = Workplace::with(CALLER);
    place.write("other.c", CALLEE);
    place.done(
        "gen unit.c --with other.c -f f -c dc -o tests --json table.json --time 60 --no-proofs",
    );
    let row = figures(&place.json("table.json"), "f", "dc");
    assert_eq!(row, [6, 6, 0, 0, 0]);
    place.done("cover unit.c --with other.c -f f -c dc --tests tests --json again.json");
    assert_eq!(figures(&place.json("again.json"), "f", "dc")[1], 6);
}

/// The first step leaves `mode` 4, so that the second always defines `count`.
const ASKS: &str = "extern int mode;\nextern int count;\nvoid step(int n);\nint limit = 3;\n\
                    int f(int n) {\n  mode = n;\n  step(n);\n  if (count > limit)\n\
                        return mode;\n  limit = n;\n  step(1);\n  return count;\n}\n";
const STEPS: &str = "int mode;\nint count;\nextern int limit;\nstatic int seen;\n\
                     void step(int n) {\n  seen++;\n  if (mode == 4)\n    count = n;\n  else\n\
                         mode = 4;\n  if (limit < seen)\n    count += limit;\n}\n";

#[test]
fn pairs_of_globals_have_an_end_in_the_file_and_the_other_in_any() {
    let place = Workplace::with(ASKS);
    place.write("other.c", STEPS);
    let criteria = "-c all-defs,all-uses,all-uses-cells";
    let shown = place.done(&format!("objectives unit.c --with other.c {criteria}")).out;
    let mut pairs: Vec<&str> = shown
        .lines()
        .skip_while(|line| !line.starts_with("f all-uses:"))
        .take_while(|line| !line.starts_with("f all-uses-cells:"))
        .filter_map(|line| line.split(": ").nth(1).filter(|text| text.contains("reaches")))
        .collect();
    pairs.sort_unstable();
    let (count, limit) = ("condition in line 8", "condition in line 11");
    let mut expected: Vec<String> = Vec::new();
    for way in ["false", "true"] {
        for from in [
            "the initial value of count",
            "count of `count = n` in line 8 of step in other.c",
            "count of `count += limit` in line 12 of step in other.c",
            "limit of `limit = n` in line 10",
            "the initial value of limit",
        ] {
            expected.push(format!("{from} reaches the {count}, {way}"));
        }
        for from in ["limit of `limit = n` in line 10", "the initial value of limit"] {
            expected.push(format!("{from} reaches the {limit}, {way} of step in other.c"));
        }
        expected.push(format!(
            "mode of `mode = n` in line 6 reaches the condition in line 7, {way} of step in other.c"
        ));
    }
    for from in [
        "the initial value of count",
        "count of `count = n` in line 8 of step in other.c",
        "count of `count += limit` in line 12 of step in other.c",
    ] {
        expected.push(format!("{from} reaches the return in line 12"));
    }
    for from in ["limit of `limit = n` in line 10", "the initial value of limit"] {
        expected.push(format!("{from} reaches its use in line 12 of step in other.c"));
    }
    for from in ["mode of `mode = n` in line 6", "mode of `mode = 4` in line 10 of step in other.c"]
    {
        expected.push(format!("{from} reaches the return in line 9"));
    }
    expected
        .extend([6, 7, 10].map(|line| format!("the parameter n reaches its use in line {line}")));
    expected.sort_unstable();
    assert_eq!(pairs, expected);
    place.done(&format!(
        "gen unit.c --with other.c {criteria} -o tests --json table.json --time 60 --no-proofs"
    ));
    // One call cannot use the `limit` of another one, and `count` is defined before it is returned: as
    // is assumed, since `step` reads `seen`, which has its first value here.
    let table = place.json("table.json");
    for criterion in ["all-uses", "all-uses-cells"] {
        assert_eq!(figures(&table, "f", criterion), [26, 23, 0, 0, 0]);
    }
    assert!(table.to_string().contains("the static variable seen of other.c has its first value"));
    // Whatever it has, `count` is defined. An earlier call of the same run may have set `limit`.
    place.done(&format!(
        "gen unit.c --with other.c {criteria} -o tests --json proved.json --time 60"
    ));
    for criterion in ["all-uses", "all-uses-cells"] {
        assert_eq!(figures(&place.json("proved.json"), "f", criterion), [26, 23, 1, 0, 0]);
    }
    assert_eq!(figures(&place.json("table.json"), "f", "all-defs"), [5, 5, 0, 0, 0]);
    place.done(&format!("cover unit.c --with other.c {criteria} --tests tests --json again.json"));
    assert_eq!(figures(&place.json("again.json"), "f", "all-uses")[1], 23);
}

#[test]
fn a_function_that_is_not_asked_for_still_defines_globals() {
    let place = Workplace::with(&format!(
        "{}{}",
        STEPS.replace("extern int limit", "int limit = 3"),
        &ASKS[ASKS.find("int f").unwrap()..]
    ));
    place.done(
        "gen unit.c -f f -c all-defs,all-uses -o tests --json table.json --time 60 --no-proofs",
    );
    assert_eq!(figures(&place.json("table.json"), "f", "all-uses"), [18, 15, 3, 0, 0]);
}

#[test]
fn what_no_body_in_another_file_allows_is_infeasible() {
    let place = Workplace::with(
        "int even(int x);\nint f(int x) { if (even(x) == 3) return 1; return 0; }\n",
    );
    place.write("other.c", "int even(int x) { return x & ~1; }\n");
    place.done(
        "gen unit.c --with other.c -f f -c dc -o tests --json table.json --time 60 --no-proofs",
    );
    let row = figures(&place.json("table.json"), "f", "dc");
    assert_eq!(row, [2, 1, 1, 0, 0]);
}

#[test]
fn a_comparison_that_the_librarys_sorting_calls_is_followed() {
    let place = Workplace::with(
        "#include <stdlib.h>\n\
         static int ascending(const void *a, const void *b)\n\
         {\n  int x = *(const int *)a, y = *(const int *)b;\n  return x < y ? -1 : x > y;\n}\n\
         int middle(int a, int b, int c)\n{\n  int v[3] = {a, b, c};\n\
           qsort(v, 3, sizeof *v, ascending);\n  if (v[1] == 10) return 1;\n\
           if (v[0] > v[2]) return 2;\n  return 0;\n}\n",
    );
    place.done("gen unit.c -f middle -c dc -o tests --json table.json --time 60 --no-proofs");
    assert_eq!(figures(&place.json("table.json"), "middle", "dc"), [4, 3, 1, 0, 0]);
}
