//! The main way: from a C file to a folder of tests, and from there to coverage.

use serde_json::Value;

use crate::common::{self, Workplace, entries, figures, rows};

const CLASSIFY: &str = "\
int classify(int a, int b)
{
    if (a > 10 && b < 5)
        return 1;
    if (a == b)
        return 2;
    return 0;
}
";

/// Two functions, one of them static, and a part between them for edits.
fn two_functions(between: &str, limit: &str) -> String {
    format!(
        "{CLASSIFY}\n{between}\nstatic int clamp(int x)\n{{\n    return x > {limit} ? {limit} : x;\n}}\n\
         int twice(int x) {{ return clamp(x) * 2; }}\n"
    )
}

#[test]
fn gen_leaves_a_folder_of_tests_and_a_table() {
    let place = Workplace::with(CLASSIFY);
    let ran = place
        .done("gen unit.c --function classify --criteria dc,cc,mcc,gacc,wm -o tests --json t.json");
    for part in ["classify", "criterion", "infeasible", "dc", "wm", "100.0%"] {
        assert!(ran.out.contains(part), "`{part}` is missing: {ran}");
    }
    let table = place.json("t.json");
    assert_eq!(figures(&table, "classify", "dc"), [4, 4, 0, 0, 0]);
    assert_eq!(figures(&table, "classify", "mcc"), [6, 6, 0, 0, 0]);
    let [objectives, covered, infeasible, duplicate, unknown] = figures(&table, "classify", "wm");
    assert!(objectives > 50 && unknown == 0);
    assert_eq!(covered + infeasible + duplicate, objectives);

    let names: Vec<String> = entries(&place.path("tests"))
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(
        names.contains(&"tests.json".to_owned()) && names.contains(&"ledger.sqlite".to_owned())
    );
    let tests = place.json("tests/tests.json");
    let tests = tests["tests"].as_array().unwrap();
    assert_eq!(Some(tests.len() as u64), table["functions"][0]["tests"].as_u64());
    for test in tests {
        let number = |name: &str| test["args"][name].as_i64().unwrap();
        let (a, b) = (number("a"), number("b"));
        let expected = if a > 10 && b < 5 { 1 } else { i64::from(a == b) * 2 };
        assert_eq!(test["expected"]["result"].as_i64(), Some(expected), "{test}");
    }
    assert_eq!(place.left_over(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_table_as_json_has_exactly_the_documented_members() {
    let place = Workplace::with(CLASSIFY);
    place.done("gen unit.c -c dc,cc --json t.json");
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let table = place.json("t.json");
    assert_eq!(keys(&table), ["functions"]);
    let function = &table["functions"][0];
    let documented = ["name", "criteria", "tests", "seconds", "exploration", "objectives"];
    assert_eq!(keys(function), documented);
    let objective = keys(&function["objectives"][0]);
    let always = ["criterion", "name", "file", "line", "column", "text", "verdict"];
    assert_eq!(objective[..always.len()], always);
    assert_eq!(
        keys(&function["exploration"]),
        [
            "paths",
            "complete",
            "steps",
            "queries",
            "seconds",
            "solver_seconds",
            "paths_to_last",
            "seconds_to_last"
        ]
    );
    let number = |name: &str| function["exploration"][name].as_f64().unwrap();
    assert!(number("seconds_to_last") > 0.0 && number("paths_to_last") <= number("paths"));
    assert!(function["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));
    assert!(function["tests"].as_u64().is_some_and(|tests| tests > 0));
    let names: Vec<&str> =
        rows(&table, "classify").iter().map(|row| row["criterion"].as_str().unwrap()).collect();
    assert_eq!(names, ["dc", "cc"]);
    for row in rows(&table, "classify") {
        let wanted = [
            "criterion",
            "objectives",
            "covered",
            "infeasible",
            "infeasible_as_assumed",
            "duplicate",
            "unknown",
        ];
        assert_eq!(keys(row), wanted);
    }
}

#[test]
fn all_paths_are_explored_where_that_is_asked_for() {
    let place = Workplace::with(
        "int f(int a, int b, int c)\n{\n    int n = 0;\n    if (a > 3)\n        n++;\n    if (b > 3)\n\
         \x20       n++;\n    if (c > 3)\n        n++;\n    return n;\n}\n",
    );
    let paths = |options: &str| {
        place.done(&format!("gen unit.c -c bc --fresh --json t.json {options}"));
        let table = place.json("t.json");
        assert_eq!(figures(&table, "f", "bc"), [6, 6, 0, 0, 0]);
        table["functions"][0]["exploration"]["paths"].as_u64().unwrap()
    };
    assert!(paths("--explore needed") < 8);
    assert_eq!(paths("--explore all"), 8);
}

#[test]
fn cover_confirms_what_gen_claims() {
    let place = Workplace::with(&two_functions("", "100"));
    let criteria = "fc,stmt,bbc,bc,dc,cc,dcc,mcc,gacc,gicc,wm,idc,rte";
    place.done(&format!("gen unit.c -c {criteria} --json gen.json -o tests"));
    place.done(&format!("cover unit.c -c {criteria} --json cover.json --tests tests"));
    let (claimed, measured) = (place.json("gen.json"), place.json("cover.json"));
    for function in ["classify", "clamp", "twice"] {
        for row in rows(&claimed, function) {
            let criterion = row["criterion"].as_str().unwrap();
            let claimed = figures(&claimed, function, criterion);
            let measured = figures(&measured, function, criterion);
            assert_eq!(claimed[..2], measured[..2], "{function} {criterion}");
            assert_eq!(claimed[3], measured[3], "{function} {criterion}");
            assert_eq!(measured[4], claimed[2] + claimed[4], "{function} {criterion}");
        }
    }
}

#[test]
fn gen_and_cover_show_a_row_for_every_criterion_that_was_asked_for() {
    let place = Workplace::with("int twice(int x) { return x * 2; }\n");
    place.done("gen unit.c -c fc,dc --json gen.json");
    place.done("cover unit.c -c fc,dc --json cover.json --tests tests");
    for table in ["gen.json", "cover.json"] {
        let table = place.json(table);
        assert_eq!(figures(&table, "twice", "fc"), [1, 1, 0, 0, 0]);
        assert_eq!(figures(&table, "twice", "dc"), [0; 5]);
    }
}

#[test]
fn cover_lists_what_no_test_covers() {
    let place = Workplace::with(CLASSIFY);
    let test = r#"{"version": 1, "source": "unit.c", "tests": [
        {"name": "one", "function": "classify", "args": {"a": 11, "b": 4}}]}"#;
    place.write("mine.json", test);
    let ran = place.done("cover unit.c -c dc --tests mine.json --missing --json t.json");
    assert_eq!(figures(&place.json("t.json"), "classify", "dc"), [4, 1, 0, 0, 3]);
    let missing: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("unit.c:")).collect();
    assert_eq!(
        missing,
        [
            "unit.c:3:9: classify dc d0 false: !((a > 10) && (b < 5))",
            "unit.c:5:9: classify dc d1 true: a == b",
            "unit.c:5:9: classify dc d1 false: !(a == b)",
        ]
    );
}

/// What the second run finds on its own, without exploring: with no path allowed.
fn without_exploring(place: &Workplace) -> Value {
    place.done("gen unit.c -c dc,cc,wm -o tests --max-paths 0 --time 0 --json again.json");
    place.json("again.json")
}

fn same_figures(before: &Value, after: &Value, function: &str) -> bool {
    ["dc", "cc", "wm"].iter().all(|criterion| {
        figures(before, function, criterion) == figures(after, function, criterion)
    })
}

#[test]
fn a_second_run_continues_from_the_ledger() {
    let place = Workplace::with(&two_functions("", "100"));
    place.done("gen unit.c -c dc,cc,wm -o tests --json first.json");
    let (first, again) = (place.json("first.json"), without_exploring(&place));
    for function in ["classify", "clamp", "twice"] {
        assert!(same_figures(&first, &again, function), "{function}: {first:#} {again:#}");
    }
    assert!(place.read("tests/tests.json").contains("\"clamp_"));
}

#[test]
fn an_edit_elsewhere_in_the_file_keeps_the_verdicts() {
    let place = Workplace::with(&two_functions("", "100"));
    place.done("gen unit.c -c dc,cc,wm -o tests --json first.json");
    place.write(
        "unit.c",
        &two_functions("/* moved */\nint unrelated(int q) { return q; }\n", "100"),
    );
    let (first, again) = (place.json("first.json"), without_exploring(&place));
    for function in ["classify", "clamp", "twice"] {
        assert!(same_figures(&first, &again, function), "{function}: {first:#} {again:#}");
    }
}

#[test]
fn an_edit_of_a_function_measures_its_tests_again_and_proves_nothing_from_before() {
    let place = Workplace::with(&two_functions("", "100"));
    place.done("gen unit.c -c dc,cc,wm -o tests --json first.json");
    // No test of `x > 100` tells anything about the true side of this one.
    place.write("unit.c", &two_functions("", "2147483600"));
    let (first, again) = (place.json("first.json"), without_exploring(&place));
    assert!(same_figures(&first, &again, "classify"), "{first:#} {again:#}");
    let [objectives, covered, infeasible, ..] = figures(&again, "clamp", "dc");
    assert_eq!((objectives, infeasible), (2, 0));
    assert!(covered >= 1, "the old tests take at least one side: {again:#}");
    place.done("gen unit.c -c dc,cc,wm -o tests --json third.json");
    assert_eq!(figures(&place.json("third.json"), "clamp", "dc"), [2, 2, 0, 0, 0]);
}

#[test]
fn what_no_input_can_reach_is_infeasible() {
    let place = Workplace::with(
        "int f(unsigned x) { unsigned y = x & 7; if (y > 8) return 1; if (x > 5 && x < 3) return 2; return 0; }\n",
    );
    place.done("gen unit.c -c dc,mcc --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc"), [4, 2, 2, 0, 0]);
    assert_eq!(figures(&table, "f", "mcc"), [6, 4, 2, 0, 0]);
}

#[test]
fn static_functions_callbacks_externals_and_failing_allocation_are_all_reached() {
    let place = Workplace::with(
        "#include <stdlib.h>
int read_sensor(int channel);
static int between(int x) { return x > 3 && x < 9; }
int from_sensor(void) { if (read_sensor(1) == 77 && read_sensor(2) == 78) return between(5); return 0; }
int by_callback(int (*choose)(int), int x) { if (!choose) return -1; if (choose(x) == 12345) return 1; return 2; }
int by_allocation(unsigned n) { char *p = malloc(n % 16 + 1); if (!p) return -1; p[0] = 3; int r = p[0]; free(p); return r; }
",
    );
    place.done("gen unit.c -c dc,cc -o tests --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "between", "cc"), [4, 4, 0, 0, 0]);
    assert_eq!(figures(&table, "from_sensor", "cc"), [4, 4, 0, 0, 0]);
    assert_eq!(figures(&table, "by_callback", "dc"), [4, 4, 0, 0, 0]);
    assert_eq!(figures(&table, "by_allocation", "dc"), [2, 2, 0, 0, 0]);
    place.done("cover unit.c -c dc,cc --tests tests --json c.json");
    let covered = place.json("c.json");
    for function in ["between", "from_sensor", "by_callback", "by_allocation"] {
        assert_eq!(figures(&covered, function, "dc"), figures(&table, function, "dc"));
    }
}

/// The emitted suite compiles without a warning, and all of its tests pass.
fn passes_as_c(place: &Workplace) {
    for compiler in ["clang-19", "gcc"] {
        let mut command = std::process::Command::new(compiler);
        let words = "-Wall -Wextra -Werror -fwrapv tests/tests.c -o suite";
        place.settle(command.args(words.split(' ')));
        let compiled = common::Ran::of(&mut command);
        assert_eq!(compiled.code, Some(0), "{compiled}");
        let mut command = std::process::Command::new(place.path("suite"));
        place.settle(&mut command);
        let ran = common::Ran::of(&mut command);
        assert!(ran.code == Some(0) && ran.out.contains(" 0 failed"), "{ran}");
    }
}

#[test]
fn what_undefined_functions_set_is_found_measured_and_emitted() {
    let place = Workplace::with(
        "#include <time.h>
int parse(const char *s, int *value, char *kind);
void *lookup(int key, long *size);
int fill(char *to, unsigned long size);
long number(const char *text, char **end);
int g(const char *s) {
    int v; char k = 0;
    if (!parse(s, &v, &k)) return -1;
    if (v > 100) return 1;
    if (k == 'x') return 2;
    long n;
    void *p = lookup(v, &n);
    if (p && n == 17) return 3;
    return 0;
}
int h(const char *s) {
    char buf[32], *end = (char *)s;
    long n = number(s, &end);
    if (end == s) return -1;
    if (end && *end == ';' && n > 3) return 1;
    if (fill(buf, sizeof buf) < 0) return -2;
    if (buf[0] == 'o' && buf[1] == 'k' && !buf[2]) return 2;
    struct timespec now;
    if (timespec_get(&now, TIME_UTC) == TIME_UTC && now.tv_nsec == 500) return 3;
    return 0;
}
",
    );
    place.done("gen unit.c -c dc,cc,stmt,all-uses -o tests --json t.json");
    let found = place.json("t.json");
    assert_eq!(figures(&found, "g", "cc"), [10, 10, 0, 0, 0]);
    assert_eq!(figures(&found, "h", "cc"), [20, 20, 0, 0, 0]);
    place.done("cover unit.c -c dc,cc,stmt,all-uses --tests tests --json c.json");
    let covered = place.json("c.json");
    for function in ["g", "h"] {
        for criterion in ["dc", "cc", "stmt", "all-uses"] {
            let (found, covered) =
                (figures(&found, function, criterion), figures(&covered, function, criterion));
            assert_eq!(found[..2], covered[..2], "{function} {criterion}");
            assert_eq!(found[4], 0, "{function} {criterion}");
        }
    }
    passes_as_c(&place);
}

#[test]
fn standard_streams_are_told_apart_and_given_to_functions() {
    let place = Workplace::with(
        "#include <stdio.h>
struct log { int level; FILE *to; };
int tell(FILE *out, int n) {
    if (!out) return -1;
    if (out == stderr) { fputs(\"no\", stderr); return 1; }
    if (out == stdout) return 2;
    if (n > 3 && fprintf(out, \"%d\", n) < 0) return 3;
    return fflush(out);
}
int warn(int level, const char *what) {
    FILE *to = level > 2 ? stderr : stdout;
    if (level < 0) return -1;
    if (to == stderr) { fprintf(stderr, \"error: %s\", what); fflush(stderr); return 2; }
    if (stderr == stdout || !stdin) return 5;
    return fprintf(to, \"%s\", what);
}
int logged(struct log *log) { if (log->to == stdin && log->level > 4) return 1; return 0; }
FILE *chosen(int n) { return n == 7 ? stderr : stdin; }
int inside(void) { return *(char *)stderr == 2 ? 1 : 2; }
",
    );
    let ran = place.done("gen unit.c -c dc,stmt -o tests --json t.json");
    let found = place.json("t.json");
    for (function, dc) in [
        ("tell", [8, 8, 0, 0, 0]),
        ("warn", [8, 7, 1, 0, 0]),
        ("logged", [2, 2, 0, 0, 0]),
        ("chosen", [2, 2, 0, 0, 0]),
        ("inside", [2, 0, 0, 0, 2]),
    ] {
        assert_eq!(figures(&found, function, "dc"), dc, "{function}");
    }
    let why = "2 unknown: not supported: the contents of `*stderr`, which only the C library knows";
    assert!(ran.out.contains(why), "{ran}");
    let tests = place.read("tests/tests.json");
    assert!(tests.contains("\"out\": \"stderr\"") && tests.contains("\"to\": \"stdin\""));
    place.done("cover unit.c -c dc,stmt --tests tests --json c.json");
    let covered = place.json("c.json");
    for function in ["tell", "warn", "logged", "chosen"] {
        let (found, covered) = (figures(&found, function, "dc"), figures(&covered, function, "dc"));
        assert_eq!(found[..2], covered[..2], "{function}");
    }
    passes_as_c(&place);
}

#[test]
fn equal_seeds_give_equal_suites() {
    let place = Workplace::with(&two_functions("", "100"));
    place.done("gen unit.c -o first --seed 7");
    place.done("gen unit.c -o second --seed 7");
    assert_eq!(place.read("first/tests.json"), place.read("second/tests.json"));
}

#[test]
fn a_decision_whose_value_is_an_operand_is_measured_with_the_expression_around_it() {
    let place = Workplace::with("int f(int x, int r) { r += (x > 3 && x < 9); return r; }\n");
    place.done("gen unit.c -c dc,wm --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    assert_eq!(figures(&place.json("t.json"), "f", "wm")[4], 0);
}

#[test]
fn the_test_of_a_conditional_without_a_middle_is_a_decision_and_keeps_its_value() {
    let place = Workplace::with(
        "struct bits { unsigned low : 3; };
static int calls;
static int next(int x) { calls++; return x - 4; }
long number(int x) { return next(x) ?: 100; }
int pointed(int *p) { static int zero = 9; return *(p ?: &zero); }
int boolean(int a, int b) { return (a > 3 && b < 2) ?: 5; }
int nested(int a, int b) { return (a ?: b) ?: 7; }
long field(struct bits s, int n) { return (s.low ?: n - 9) + 1L; }
double real(double d) { return d ?: -1.0; }
",
    );
    place.done("gen unit.c -c dc,cc,mcc,wm,stmt -o tests --json gen.json");
    place.done("cover unit.c -c dc,cc,mcc,wm,stmt --tests tests --json cover.json");
    let (found, measured) = (place.json("gen.json"), place.json("cover.json"));
    for (function, decisions, conditions) in [
        ("number", 1, 1),
        ("pointed", 1, 1),
        ("boolean", 1, 2),
        ("nested", 2, 2),
        ("field", 1, 1),
        ("real", 1, 1),
    ] {
        let all = |count: u64| [2 * count, 2 * count, 0, 0, 0];
        assert_eq!(figures(&found, function, "dc"), all(decisions), "{function}");
        assert_eq!(figures(&found, function, "cc"), all(conditions), "{function}");
        for criterion in ["dc", "cc", "mcc", "wm", "stmt"] {
            let (found, measured) =
                (figures(&found, function, criterion), figures(&measured, function, criterion));
            assert_eq!(found[..2], measured[..2], "{function} {criterion}");
        }
    }
    for test in place.json("tests/tests.json")["tests"].as_array().unwrap() {
        let arg = |name: &str| test["args"][name].as_i64().unwrap();
        let result = test["expected"]["result"].as_i64();
        if test["expected"]["undefined"] == true {
            assert_eq!(result, None, "{test}");
            continue;
        }
        let or = |value: i64, other: i64| if value != 0 { value } else { other };
        match test["function"].as_str().unwrap() {
            "number" => {
                let value = i64::from((arg("x") as i32).wrapping_sub(4));
                assert_eq!(result, Some(or(value, 100)));
            }
            "boolean" => {
                let value = i64::from(arg("a") > 3 && arg("b") < 2);
                assert_eq!(result, Some(or(value, 5)));
            }
            "nested" => assert_eq!(result, Some(or(or(arg("a"), arg("b")), 7))),
            "field" => {
                let low = test["args"]["s"]["low"].as_i64().unwrap();
                let other = i64::from((arg("n") as i32).wrapping_sub(9));
                assert_eq!(result, Some(or(low, other) + 1), "{test}");
            }
            _ => {}
        }
    }
}

#[test]
fn thread_local_variables_are_inputs_and_begin_each_test_anew() {
    let place = Workplace::with(
        "extern __thread int shared;
__thread int shared = 4;
static _Thread_local int own __attribute__((tls_model(\"initial-exec\")));
int f(int x)
{
    static __thread int calls;
    if (++calls > 17) return -1;
    if (shared == 77) return own + calls;
    own = x;
    return shared++;
}
",
    );
    place.done("gen unit.c -c dc -o tests --json gen.json");
    place.done("cover unit.c -c dc --tests tests --json cover.json");
    for table in ["gen.json", "cover.json"] {
        // No run has so many calls: only the decision on `shared` goes both ways.
        assert_eq!(figures(&place.json(table), "f", "dc")[..2], [4, 3], "{table}");
    }
}

/// An outcome that the paths of the program rule out, though no look at its place alone does.
const RULED_OUT: &str = "\
int f(int x)
{
    int y = 0;
    if (x > 10)
        y = 1;
    if (y && x < 5)
        return 1;
    return 0;
}
";

#[test]
fn plain_mode_follows_each_path_and_counts_what_its_tests_are_measured_to_cover() {
    let place = Workplace::with(CLASSIFY);
    place.done("gen unit.c -c dc,mcc,wm --mode plain -o plain --json plain.json");
    let plain = place.json("plain.json");
    // a <= 10; a > 10 and b >= 5; both with a == b and without; a > 10 and b < 5.
    let exploration = &plain["functions"][0]["exploration"];
    assert_eq!(exploration["paths"].as_u64(), Some(5), "{plain}");
    assert_eq!(exploration["complete"].as_bool(), Some(true), "{plain}");
    assert_eq!(figures(&plain, "classify", "dc"), [4, 4, 0, 0, 0]);
    // Which inputs paths have is chance; that they tell all mutants apart would be much of it.
    let [_, covered, _, _, unknown] = figures(&plain, "classify", "wm");
    assert!(covered > 0 && unknown > 0, "{plain}");
    assert!(place.json("plain/tests.json")["tests"].as_array().unwrap().len() <= 5);

    let bounded = place.done("gen unit.c -c dc --mode plain --max-paths 2 -o two --json two.json");
    let two = place.json("two.json");
    assert_eq!(two["functions"][0]["exploration"]["paths"].as_u64(), Some(2), "{bounded}");
    assert_eq!(two["functions"][0]["exploration"]["complete"].as_bool(), Some(false));
}

#[test]
fn plain_mode_proves_nothing_by_its_paths_and_leaves_it_to_a_later_run() {
    let place = Workplace::with(RULED_OUT);
    place.done("gen unit.c -c dc,cacc --mode plain --json plain.json");
    let plain = place.json("plain.json");
    assert_eq!(plain["functions"][0]["exploration"]["complete"].as_bool(), Some(true));
    assert_eq!(figures(&plain, "f", "dc"), [4, 3, 0, 0, 1], "{plain}");
    let [_, _, infeasible, _, unknown] = figures(&plain, "f", "cacc");
    assert!(infeasible == 0 && unknown > 0, "{plain}");
    // The same folder: what no path asked for is open still.
    place.done("gen unit.c -c dc,cacc --json tight.json");
    let tight = place.json("tight.json");
    assert_eq!(figures(&tight, "f", "dc"), [4, 3, 1, 0, 0], "{tight}");
    assert_eq!(figures(&tight, "f", "cacc")[4], 0, "{tight}");
}

#[test]
fn plain_mode_keeps_few_of_the_tests_of_many_paths() {
    let text = "int f(int a, int b, int c, int d, int e, int g) {
    int n = 0;
    if (a > 1) n++; if (b > 2) n++; if (c > 3) n++;
    if (d > 4) n++; if (e > 5) n++; if (g > 6) n++;
    return n;
}
";
    let place = Workplace::with(text);
    place.done("gen unit.c -c dc --mode plain --minimise none --json t.json");
    let table = place.json("t.json");
    assert_eq!(table["functions"][0]["exploration"]["paths"].as_u64(), Some(64), "{table}");
    assert_eq!(figures(&table, "f", "dc"), [12, 12, 0, 0, 0]);
    // A test that is kept is the first to cover one of twelve outcomes.
    let kept = place.json("tests/tests.json")["tests"].as_array().unwrap().len();
    assert!((2..=12).contains(&kept), "{kept} tests");
}

#[test]
fn an_objective_that_a_test_covers_but_nothing_can_measure_is_unknown_with_the_reason() {
    let place = Workplace::with("int f(int x) { return ((int[]){1, x, 3})[1] > 3; }\n");
    let done = place.done("gen unit.c -c all-uses --json t.json").to_string();
    assert_eq!(figures(&place.json("t.json"), "f", "all-uses"), [1, 0, 0, 0, 1]);
    assert!(done.contains("1 unknown: not measured: its text is not that of a value"), "{done}");
}

/// glibc's headers give `sscanf` another name for the linker, and with `_FILE_OFFSET_BITS=64` many more.
#[test]
fn functions_that_headers_rename_for_the_linker_return_what_tests_say() {
    let place = Workplace::with(
        "#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int read_number(const char *text) {
    int x;
    if (sscanf(text, \"%d\", &x) != 1) return -1;
    return x > 100;
}
int length(const char *path) {
    int file = open(path, O_RDONLY);
    if (file < 0) return -1;
    off_t end = lseek(file, 0, SEEK_END);
    close(file);
    return end > 1000 ? 2 : end == 0;
}
",
    );
    place.done("gen unit.c -c dc,stmt -o tests --json t.json");
    let found = place.json("t.json");
    assert_eq!(figures(&found, "read_number", "dc"), [2, 2, 0, 0, 0]);
    assert_eq!(figures(&found, "length", "dc"), [4, 4, 0, 0, 0]);
    passes_as_c(&place);
}

#[test]
fn functions_of_the_c_library_are_pointed_to_by_tests_where_the_program_has_their_addresses() {
    let place = Workplace::with(
        "#include <stdlib.h>
struct hooks { void *(*get)(size_t); void (*drop)(void *); };
static struct hooks hooks = { malloc, free };
int replace(char **text, int keep) {
    char *fresh = hooks.get(4);
    if (!fresh) return 1;
    if (keep && hooks.drop == free) { hooks.drop(fresh); return 2; }
    *text = fresh;
    return 0;
}
",
    );
    place.done("gen unit.c --function replace -c dc -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "replace", "dc"), [4, 4, 0, 0, 0]);
    passes_as_c(&place);
}

#[test]
fn a_length_in_a_member_of_a_union_counts_the_array_beside_it() {
    let place = Workplace::with(
        "struct text { unsigned char *value; unsigned long length; };
union token { struct text scalar; struct { char *handle, *suffix; } tag; int version[2]; };
int total(const union token *t) {
    int sum = 0;
    for (unsigned long i = 0; i < t->scalar.length; i++) sum += t->scalar.value[i];
    return sum > 100;
}
",
    );
    place.done("gen unit.c -c dc -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "total", "dc")[..2], [2, 2]);
}

#[test]
fn settings_that_do_not_fit_one_function_leave_the_others_to_be_worked_on() {
    let place = Workplace::with(
        "int first(int *p, int n) { return n > 2 ? p[0] : 1; }\nint second(int x) { return x > 3 ? 1 : 2; }\n",
    );
    place.write("lydian.toml", "[function.first.places]\n\"p\" = { length = \"q\" }\n");
    place.refused("gen unit.c -c dc --json t.json", 2, &["error[inputs]", "first", "q"]);
    let found = place.json("t.json");
    assert_eq!(figures(&found, "first", "dc"), [2, 0, 0, 0, 2]);
    assert_eq!(figures(&found, "second", "dc"), [2, 2, 0, 0, 0]);
}

/// As in a queue: the end is compared with a pointer that itself is compared with the head.
#[test]
fn an_end_of_what_lies_in_an_array_is_that_arrays_end() {
    let place = Workplace::with(
        "struct item { int kind; };
struct queue { struct item *start, *end, *head, *tail; };
int add(struct queue *q, int kind) {
    if (q->tail == q->end) return 0;
    if (q->head != q->tail && q->head->kind == kind) return 2;
    q->tail->kind = kind;
    q->tail++;
    return 1;
}
",
    );
    place.done("gen unit.c -c dc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "add", "dc")[..2], [4, 4]);
}

#[test]
fn a_function_that_takes_a_pointer_to_a_va_list_is_called_by_tests() {
    let place = Workplace::with(
        "#include <stdarg.h>
static int add(int n, va_list *list) {
    int sum = 0;
    while (n-- > 0) sum += va_arg(*list, int);
    return sum;
}
int sum(int n, ...) {
    va_list list;
    va_start(list, n);
    int found = add(n, &list);
    va_end(list);
    return found > 9 ? 1 : 0;
}
",
    );
    place.done("gen unit.c -c dc -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "add", "dc"), [2, 2, 0, 0, 0]);
    passes_as_c(&place);
}

#[test]
fn a_mutant_that_differs_whatever_was_never_written_is_unknown() {
    let place = Workplace::with(
        "void set(char **to, char *end);
int last(void) {
    char one[1];
    char *to = one;
    set(&to, to + 1);
    if (to == one) return -1;
    return one[0];
}
",
    );
    let ran = place.done("gen unit.c -c wm --json t.json").to_string();
    let told = "last wm: 2 unknown: not confirmed by its test, which uses uninitialised memory, \
                at unit.c:7:5";
    assert!(ran.contains(told), "{ran}");
}

#[test]
fn elements_behind_a_struct_have_values_and_padding_that_a_mutant_reads_has_none() {
    let place = Workplace::with(
        "struct item { int n; };
struct list { unsigned char count; struct item *items[0]; };
int count(struct list *l) {
    int sum = 0;
    for (int i = 0; i < l->count && i < 2; i++)
        if (l->items[i] != 0)
            sum++;
    return sum;
}
",
    );
    let ran = place.done("gen unit.c -c wm --json t.json").to_string();
    // What is in front of the items is the padding behind the count.
    assert!(ran.contains("its predicate reads padding"), "{ran}");
    let [all, covered, infeasible, _, unknown] = figures(&place.json("t.json"), "count", "wm");
    assert!(covered + infeasible + 8 >= all && unknown <= 8, "{ran}");
}

#[test]
fn a_distance_from_null_is_no_expected_value() {
    let place = Workplace::with(
        "struct dict { const char *start; unsigned long size; };
int update(struct dict *d, const char *to, unsigned long size, const char *from) {
    if (d->size == 0) d->start = to;
    if ((unsigned long)(to - from) + size >= 65536) {
        d->start = from;
        d->size = (unsigned long)(to - from) + size;
        return 1;
    }
    d->size += size;
    return 0;
}
",
    );
    place.done("gen unit.c -o tests");
    passes_as_c(&place);
}

#[test]
fn nothing_is_in_front_of_a_block_that_is_freed() {
    let place = Workplace::with(
        "#include <stdlib.h>
int drop(int **p) {
    int n = 0;
    if (*p == NULL) return -1;
    while (n < 2 && (*p)[n] != 0) n++;
    free(*p);
    *p = NULL;
    return n;
}
",
    );
    let ran = place.done("gen unit.c -c wm --json t.json").to_string();
    let told = "not supported: memory in front of a block that the path frees";
    assert!(ran.contains(told), "{ran}");
}

/// glibc has `strlcpy` from 2.38 on; before, a program has it from another library.
#[test]
fn a_function_that_the_systems_library_may_lack_has_no_contradictions() {
    let place = Workplace::with(
        "#include <stddef.h>
size_t strlcpy(char *, const char *, size_t);
int keep(char *to, const char *name) {
    size_t length = strlcpy(to, name, 8);
    if (length == 0) return 1;
    if (length >= 8) return 2;
    return 0;
}
",
    );
    place.write(
        "lydian.toml",
        "[function.keep.places]\n\"to\" = { kind = \"array\", length = 8 }\n",
    );
    place.done("gen unit.c -c dc -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "keep", "dc"), [4, 4, 0, 0, 0]);
    passes_as_c(&place);
}

#[test]
fn pointers_far_into_a_large_struct_are_inputs_unless_guesses_have_no_room_for_them() {
    let place = Workplace::with(
        "struct attribute { const char *name, *nameEnd; };
struct parser { struct attribute atts[300]; int count; };
int first(const struct parser *p) {
    if (p->count > 3 && p->atts[2].name != p->atts[2].nameEnd) return 1;
    return p->atts[299].nameEnd ? 2 : 0;
}
",
    );
    place.done("gen unit.c -c dc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "first", "dc")[..2], [4, 4]);
    // The end of an array is null as the array is.
    place.write("lydian.toml", "lazy-inputs = false\n");
    place.done("gen unit.c -c dc -o guessed --json guessed.json");
    assert_eq!(figures(&place.json("guessed.json"), "first", "dc")[..2], [4, 3]);
}
