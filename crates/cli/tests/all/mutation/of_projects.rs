//! Projects with tests of their own.

use super::{mutate, outcome, outcomes};
use crate::common::Workplace;
use crate::common::wrapped::shell;

const UNIT: &str = "\
int clamp(int n, int most)
{
    if (n > most)
        return most;
    return n;
}
int unused(int n)
{
    return n * 2;
}
";

const CHECK: &str = "\
int clamp(int, int);
int unused(int);
int main(int count, char **words)
{
    (void)words;
    if (count > 1)
        return clamp(3, 9) != 3;
    return clamp(30, 9) != 9;
}
";

const MAKEFILE: &str = "\
check: unit.o check.o
\t$(CC) unit.o check.o -o check-clamp
\t./check-clamp
\t./check-clamp small
%.o: %.c
\t$(CC) -O1 -c $< -o $@
";

fn place() -> Workplace {
    let at = Workplace::with(UNIT);
    at.write("check.c", CHECK);
    at.write("Makefile", MAKEFILE);
    at
}

#[test]
fn make_check_builds_all_mutants_once_and_kills_those_that_it_tells_apart() {
    let at = place();
    let test = "make -s check CC=\"$CC\"";
    let ran = mutate(&at, &["unit.c", "--test", test, "--json", "m.json"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    assert_eq!(outcome(&report, "ROR > -> <", 3), "killed");
    assert_eq!(outcome(&report, "ROR > -> >=", 3), "equivalent");
    assert_eq!(outcome(&report, "AOR * -> +", 9), "not_reached");
    assert!(outcomes(&report).iter().all(|it| it.1 < 11), "check.c has no mutants: {report:#}");
    assert_eq!(report["tests"][0]["name"], test);
    assert!(at.path(".lydian/mutants").is_dir());
}

#[test]
fn each_command_is_a_test_and_only_those_that_infect_a_mutant_run_on_it() {
    let at = place();
    let build = "make -s check CC=\"$CC\"";
    let tests = ["--test", "./check-clamp", "--test", "./check-clamp small"];
    let words = [&["unit.c", "--build", build, "--json", "m.json"][..], &tests].concat();
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let mutants = report["mutants"].as_array().unwrap();
    let deleted = mutants.iter().find(|it| it["name"] == "RVR -> 0" && it["start"]["line"] == 5);
    let deleted = deleted.unwrap();
    assert_eq!(deleted["reached_by"], serde_json::json!(["./check-clamp small"]));
    assert_eq!(deleted["outcome"]["test"], "./check-clamp small");
    let runs = report["runs"].as_u64().unwrap() as usize;
    assert!(runs < 2 * mutants.len(), "{runs} of {}", mutants.len());
}

#[test]
fn only_changed_lines_have_mutants_since_a_revision() {
    let at = place();
    at.write(".gitignore", ".lydian\n*.o\ncheck-clamp\nm.json\ntmp\n");
    for line in ["init -q .", "add .", "commit -qm base"] {
        let line = format!("git -c user.name=t -c user.email=t@example.org {line}");
        assert_eq!(shell(&at, &line).code, Some(0), "{line}");
    }
    at.write("unit.c", &UNIT.replace("return n * 2", "return n * 3"));
    let test = "make -s check CC=\"$CC\"";
    let words = ["unit.c", "--test", test, "--json", "m.json", "--since", "HEAD"];
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let all = outcomes(&at.json("m.json"));
    assert!(all.len() > 5 && all.iter().all(|it| it.1 == 9), "{all:?}");
}

#[test]
fn changed_lines_of_files_that_are_compiled_in_another_folder_have_mutants_too() {
    let at = place();
    at.write(".gitignore", ".lydian\nm.json\ntmp\n");
    for line in ["init -q .", "add .", "commit -qm base"] {
        let line = format!("git -c user.name=t -c user.email=t@example.org {line}");
        assert_eq!(shell(&at, &line).code, Some(0), "{line}");
    }
    at.write("unit.c", &UNIT.replace("return n * 2", "return n * 3"));
    let test = "mkdir -p tmp && cd tmp && $CC ../unit.c ../check.c -o check-clamp && ./check-clamp";
    let words = ["unit.c", "--test", test, "--json", "m.json", "--since", "HEAD"];
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let all = outcomes(&at.json("m.json"));
    assert!(all.len() > 5 && all.iter().all(|it| it.1 == 9), "{all:?}");
}

#[test]
fn functions_that_gcc_and_clang_compile_have_the_same_mutants() {
    let at = place();
    let report = |compiler: &str, name: &str| {
        let build = format!("$CC {compiler} unit.c check.c -o check-clamp");
        let tests = ["--test", "./check-clamp", "--json", name];
        let words = [&["unit.c", "--build", &build][..], &tests].concat();
        let ran = mutate(&at, &words);
        assert_eq!(ran.code, Some(0), "{ran}");
        outcomes(&at.json(name))
    };
    assert_eq!(report("gcc", "gcc.json"), report("clang-19", "clang.json"));
}

/// No compiler knows that `n * (n + 1)` is even.
const EVEN: &str = "\
static int sorted_out(int n)
{
    if ((n * (n + 1)) & 1)
        return 5;
    if (n == 123456)
        return 4;
    return 3;
}
int main(void)
{
    return sorted_out(2) - 3;
}
";

#[test]
fn mutants_of_functions_that_only_compute_are_proved_equivalent() {
    let at = Workplace::with(EVEN);
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit", "--json", "m.json"];
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    assert_eq!(outcome(&report, "CRO 5 -> 1", 4), "equivalent");
    assert_eq!(outcome(&report, "CRO 4 -> 1", 6), "not_reached");
    let mutants = report["mutants"].as_array().unwrap();
    let proved = mutants.iter().filter(|it| it["outcome"]["proof"] == "proof");
    let proved: Vec<u64> = proved.map(|it| it["start"]["line"].as_u64().unwrap()).collect();
    // What `main` does without inputs is known, too.
    assert!(proved.len() > 3 && proved.iter().all(|line| [3, 4, 11].contains(line)), "{proved:?}");
    let without = mutate(&at, &[&words[..], &["--proof-time", "0"]].concat());
    assert_eq!(without.code, Some(0), "{without}");
    assert_eq!(outcome(&at.json("m.json"), "CRO 5 -> 1", 4), "not_reached");
}

#[test]
fn with_all_tests_each_kill_is_known_and_subsumed_mutants_are_marked() {
    let at = place();
    let build = "make -s check CC=\"$CC\"";
    let tests = ["--test", "./check-clamp", "--test", "./check-clamp small", "--all-tests"];
    let words = [&["unit.c", "--build", build, "--json", "m.json"][..], &tests].concat();
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let mutants = report["mutants"].as_array().unwrap();
    let kills = |it: &serde_json::Value| it["killed_by"].as_array().unwrap().len();
    let gone = mutants.iter().find(|it| it["name"] == "ROR > -> <").unwrap();
    assert_eq!(kills(gone), 2, "both tests tell `<` from `>`: {gone}");
    let needed = mutants.iter().filter(|it| kills(it) > 0 && it["subsumed"] == false);
    assert_eq!(needed.count(), 2, "one mutant for each test is enough");
    assert!(ran.out.contains("are subsumed"), "{ran}");
}

/// A program that tests a file which it includes.
fn including(call: &str) -> String {
    format!("#include \"unit.c\"\nint main(void)\n{{\n    return !({call});\n}}\n")
}

#[test]
fn a_file_that_several_programs_include_has_each_mutant_once() {
    let at = place();
    at.write("most.c", &including("clamp(30, 9) == 9"));
    at.write("least.c", &including("clamp(3, 9) == 3"));
    at.write("twice.c", &including("unused(4) == 8"));
    let build = "for name in most least twice; do $CC $name.c -o $name; done";
    let tests = ["--test", "./most", "--test", "./least", "--test", "./twice"];
    let words = [&["unit.c", "--build", build, "--json", "m.json"][..], &tests].concat();
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let all = report["mutants"].as_array().unwrap();
    let mut places: Vec<_> =
        all.iter().map(|it| format!("{} {} {}", it["name"], it["start"], it["end"])).collect();
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count, "{places:?}");
    let first = |name: &str, line: u64| {
        let mutants = report["mutants"].as_array().unwrap();
        mutants.iter().find(|it| it["name"] == name && it["start"]["line"] == line).unwrap().clone()
    };
    assert_eq!(first("RVR -> 0", 4)["outcome"]["test"], "./most");
    assert_eq!(first("RVR -> 0", 5)["outcome"]["test"], "./least");
    assert_eq!(first("AOR * -> +", 9)["outcome"]["test"], "./twice");
    assert_eq!(first("ROR > -> >=", 3)["outcome"]["kind"], "equivalent");
    assert_eq!(first("ROR > -> <", 3)["reached_by"], serde_json::json!(["./most", "./least"]));
}

#[test]
fn a_mutant_is_equivalent_only_if_it_is_with_the_flags_of_each_unit() {
    let at = Workplace::with("int scaled(int n)\n{\n    return n * SCALE;\n}\n");
    at.write("check.c", "int main(void)\n{\n    return 0;\n}\n");
    let build = |values: [&str; 2]| {
        let [first, second] = values;
        format!(
            "$CC -DSCALE={first} -c unit.c -o a.o && $CC -DSCALE={second} -c unit.c -o b.o && \
             $CC check.c -o check"
        )
    };
    let found = |values: [&str; 2]| {
        let build = build(values);
        let words = ["unit.c", "--build", &*build, "--test", "./check", "--json", "m.json"];
        let ran = mutate(&at, &[&words[..], &["--dir", &values.concat()]].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        outcome(&at.json("m.json"), "RVR -> 0", 3)
    };
    assert_eq!(found(["0", "0"]), "equivalent");
    assert_eq!(found(["0", "5"]), "not_reached");
    assert_eq!(found(["5", "0"]), "not_reached");
}
