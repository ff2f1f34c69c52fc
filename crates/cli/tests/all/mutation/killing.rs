//! Tests that are made to kill mutants.

use serde_json::Value;

use super::{mutate, outcome, outcomes};
use crate::common::Workplace;

/// Pointers, arrays, texts, static variables and loops.
const UNIT: &str = "\
int sum(unsigned n)
{
    static const int table[4] = { 3, -1, 4, -2 };
    int s = 0;
    for (unsigned i = 0; i < n && i < 4; i++)
        if (table[i] > 0)
            s += table[i];
    return s;
}
static int total;
void add(int *p, int n)
{
    if (p && n > 3)
        *p += n;
    total = total + n;
}
unsigned turns(unsigned n)
{
    static unsigned calls;
    calls++;
    return n == 7 ? calls : 0;
}
int is_word(const char *s)
{
    while (*s >= 'a' && *s <= 'z')
        s++;
    return *s == 0;
}
unsigned half(unsigned n)
{
    if (n > 100)
        return 50;
    return n / 2;
}
";

/// The counts of a criterion of all functions together: objectives, covered, infeasible, unknown.
fn counts(at: &Workplace) -> [u64; 4] {
    let summary = at.json("tests/objectives.json");
    let rows = summary["functions"].as_array().unwrap().iter().flat_map(|function| {
        function["criteria"].as_array().unwrap().iter().filter(|row| row["criterion"] == "sm")
    });
    let keys = ["objectives", "covered", "infeasible", "unknown"];
    rows.fold([0; 4], |sum, row| {
        std::array::from_fn(|at| sum[at] + row[keys[at]].as_u64().unwrap())
    })
}

fn mutants<'r>(report: &'r Value, kind: &str) -> Vec<&'r Value> {
    let all = report["mutants"].as_array().unwrap().iter();
    all.filter(|it| it["outcome"]["kind"] == kind).collect()
}

#[test]
fn a_suite_for_strong_mutation_kills_exactly_the_mutants_that_it_is_said_to_kill() {
    let at = Workplace::with(UNIT);
    let made = at.done("gen unit.c -o tests -c sm --time 10");
    let [objectives, covered, infeasible, unknown] = counts(&at);
    assert!(objectives > 150 && covered + infeasible + unknown == objectives, "{made}");
    assert!(covered * 100 > (objectives - infeasible) * 90, "{made}");
    let ran = mutate(&at, &["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "0"]);
    let report = at.json("m.json");
    let killed = mutants(&report, "killed").len() as u64;
    let open = at.run("explain sm unknown").out;
    assert_eq!(killed, covered, "{made}{ran}{open}");
    // What is known as equivalent, no test kills.
    assert!(mutants(&report, "killed").len() as u64 <= objectives - infeasible);
    let explained = at.done("explain sm unit.c:31").out;
    assert!(explained.contains("half: sm: ROR > -> >=: infeasible"), "{explained}");
    assert!(explained.contains("because: the mutant is equivalent"), "{explained}");
    assert!(explained.contains("ROR > -> <: covered"), "{explained}");
    assert!(at.read("tests/tests.c").contains("kills ROR"), "{}", at.read("tests/tests.c"));
}

#[test]
fn tests_for_survivors_kill_them() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c stmt --time 5");
    let functions = ["-f", "add", "-f", "half"];
    let words = ["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "0"];
    let generate = ["--generate", "more", "--time", "10"];
    let ran = mutate(&at, &[&words[..], &functions, &generate].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.contains("tests in more kill"), "{ran}");
    let report = at.json("m.json");
    let alive = report["mutants"].as_array().unwrap().iter();
    let made: Vec<&Value> = alive.filter(|it| !it["generated"].is_null()).collect();
    assert!(made.len() > 20, "{ran}");
    assert!(made.iter().all(|it| it["outcome"]["kind"] != "killed"));
    let words = ["unit.c", "--tests", "more", "--json", "n.json", "--proof-time", "0"];
    let ran = mutate(&at, &[&words[..], &functions].concat());
    let second = at.json("n.json");
    let killed: Vec<&Value> = mutants(&second, "killed").iter().map(|it| &it["key"]).collect();
    for mutant in made {
        assert!(killed.contains(&&mutant["key"]), "{mutant}{ran}");
    }
    // A name for the suite that is made, and one file.
    let ran = mutate(&at, &["unit.c", "--tests", "tests", "--generate", "tests"]);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.err.contains("name another folder"), "{ran}");
}

#[test]
fn what_is_equivalent_under_other_flags_than_those_of_the_build_stays_alive() {
    let at = Workplace::with(
        "#ifdef WIDE
typedef unsigned number;
#else
typedef unsigned char number;
#endif
int top(number n)
{
    int turns = 0;
    while (turns < 3)
        turns++;
    return n > 255 ? turns : 0;
}
",
    );
    at.write("check.c", "int top(unsigned); int main(void) { return top(1); }");
    let build = ["--build", "$CC -DWIDE unit.c check.c -o unit", "--test", "./unit"];
    let more = ["--operators", "RVR", "--json", "m.json", "--proof-time", "0"];
    let words = ["unit.c", "--generate", "more", "--time", "5"];
    let kind = |flags: &[&str]| {
        let ran = mutate(&at, &[&words[..], &build, &more, flags].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        (outcome(&at.json("m.json"), "RVR -> 0", 11), ran)
    };
    let (without, ran) = kind(&[]);
    assert_eq!(without, "not_infected", "{ran}");
    assert!(ran.out.contains("1 are left: equivalent as the flags after `--`"), "{ran}");
    let (_, ran) = kind(&["--", "-DWIDE"]);
    assert!(ran.out.contains("1 tests in more kill 1 of the 1 mutants"), "{ran}");
}

#[test]
fn a_suite_that_cannot_be_written_loses_no_results() {
    let at = Workplace::with("int half(int n)\n{\n    return n / 2;\n}\n");
    at.done("gen unit.c -o tests -c stmt --time 5");
    let words = ["unit.c", "--tests", "tests", "--json", "m.json", "--proof-time", "0"];
    at.write("file", "");
    let ran = mutate(&at, &[&words[..], &["--generate", "file/more", "--time", "2"]].concat());
    assert_eq!(ran.code, Some(5), "{ran}");
    assert!(ran.out.contains("mutants are killed"), "{ran}");
    std::fs::remove_file(at.path("m.json")).expect("it was written");
    // A folder with files of others is refused before any test runs.
    std::fs::create_dir(at.path("more")).unwrap();
    at.write("more/tests.c", "int mine;\n");
    let ran = mutate(&at, &[&words[..], &["--generate", "more"]].concat());
    ran.says(2, &["more/tests.c", "not written by Lydian"]);
    assert!(!at.path("m.json").exists(), "{ran}");
}

#[test]
fn files_without_mutants_have_a_suite_and_so_have_those_whose_mutants_fail() {
    let at = Workplace::with("void nothing(void)\n{\n}\n");
    let made = at.done("gen unit.c -o tests -c fc,sm --time 5");
    assert!(at.read("tests/tests.c").contains("nothing()"), "{made}");
    at.write("unit.c", "int half(int n)\n{\n    return n / 2;\n}\n");
    let pattern = "[[mutate.pattern]]\nname = \"x\"\nmatch = \"f($a)\"\nreplace = \"$b\"\n";
    at.write("lydian.toml", pattern);
    at.refused("gen unit.c -o more -c stmt,sm --time 5", 2, &["lydian.toml:4:"]);
    assert!(at.read("more/tests.c").contains("half("));
}

#[test]
fn other_commands_say_who_looks_at_mutants() {
    let at = Workplace::with(UNIT);
    for command in
        ["objectives unit.c -c sm", "cover unit.c --tests tests -c sm", "prove unit.c -c sm"]
    {
        let ran = at.run(command);
        assert_eq!(ran.code, Some(2), "{command}: {ran}");
        assert!(ran.err.contains("lydian mutate"), "{command}: {ran}");
    }
}

#[test]
fn patterns_of_the_settings_are_operators() {
    let at = Workplace::with(
        "int same(const char *a, const char *b)
{
    return __builtin_memcmp(a, b, 3) == 0;
}
int main(void)
{
    return !(same(\"abx\", \"abx\") && !same(\"aax\", \"abx\"));
}
",
    );
    at.write(
        "lydian.toml",
        "[[mutate.pattern]]
name = \"short\"
match = \"__builtin_memcmp($a, $b, $n)\"
replace = \"__builtin_memcmp($a, $b, $n - 1)\"
[[mutate.pattern]]
name = \"none\"
match = \"__builtin_memcmp($a, $b, $n)\"
replace = \"no_such_function($a)->b\"
",
    );
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit", "--json", "m.json"];
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let all = outcomes(&at.json("m.json"));
    let of = |name: &str| all.iter().find(|it| it.0 == name).unwrap_or_else(|| panic!("{all:?}"));
    assert_eq!((of("OWN short").1, of("OWN short").2.as_str()), (3, "survived"), "{ran}");
    assert_eq!(of("OWN none").2, "invalid", "only what makes no program is left out: {ran}");
    assert!(all.iter().any(|it| it.0.starts_with("ROR") && it.2 == "killed"), "{ran}");
    at.write(
        "lydian.toml",
        "[[mutate.pattern]]\nname = \"x\"\nmatch = \"f($a)\"\nreplace = \"$b\"\n",
    );
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.err.contains("lydian.toml:4:"), "{ran}");
    assert!(ran.err.contains("`replace` has $b, which `match` does not have"), "{ran}");
}

/// It reads a number, and its status is all that it gives.
const PROGRAM: &str = "\
int __VERIFIER_nondet_int(void);
static int limit(int a)
{
    if (a > 100)
        return 100;
    return a < 0 ? 0 : a;
}
int main(void)
{
    return limit(__VERIFIER_nondet_int()) > 50 ? 1 : 0;
}
";

/// It sums up characters of its arguments.
const ARGUMENTS: &str = "\
int main(int argc, char **argv)
{
    int sum = 0;
    for (int at = 1; at < argc; at++)
        sum += argv[at][0] == 'x' ? 2 : 0;
    return sum > 3;
}
";

#[test]
fn tests_of_whole_programs_kill_the_mutants_that_they_are_said_to_kill() {
    for (program, options) in [(PROGRAM, ""), (ARGUMENTS, "--sym-args 0 2 1")] {
        let at = Workplace::with(program);
        let gen_again = |more: &str| {
            let words = format!("gen unit.c --program {options} -o tests -c bc,sm --time 20");
            at.done(&format!("{words} --jobs 1 --json m.json {more}"))
        };
        let made = gen_again("");
        let of = |kind: &str| -> usize {
            let table = at.json("m.json");
            let functions = table["functions"].as_array().unwrap().clone();
            let all = functions.iter().flat_map(|it| it["objectives"].as_array().unwrap());
            all.filter(|it| it["criterion"] == "sm" && it["verdict"] == kind).count()
        };
        let killed = of("covered");
        assert!(killed > 20, "{made}");
        assert!(!made.out.contains("contradict"), "{made}");
        let ran = mutate(&at, &["unit.c", "--tests", "tests", "--json", "kills.json"]);
        let report = at.json("kills.json");
        assert_eq!(mutants(&report, "killed").len(), killed, "{made}{ran}");
        let again = gen_again("--log info");
        assert_eq!(of("covered"), killed, "{again}");
        let explored = again.err.lines().filter(|line| line.contains("] explored "));
        assert_eq!(explored.count(), 0, "{again}");
    }
}
