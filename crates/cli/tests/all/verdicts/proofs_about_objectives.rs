//! `lydian prove --criteria`: objectives of whole programs, by the engines, by the exploration, and by
//! both.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, Workplace};

const HEAD: &str = "\
int __VERIFIER_nondet_int(void);
static int seen;
static void use(int value) { seen += value; }
";

/// The verdict on each objective by its text, and what the command said.
fn verdicts(program: &str, options: &str) -> (BTreeMap<String, &'static str>, String) {
    let place = Workplace::with(&format!("{HEAD}{program}"));
    let ran = place.done(&format!("prove unit.c --time 120 --json t.json {options}"));
    let proofs = place.json("t.json");
    let objectives = proofs["objectives"].as_array().expect("a list of objectives");
    let kind = |one: &Value| match &one["answer"] {
        answer if answer.get("reached").is_some() => "reached",
        answer if answer.get("unreachable").is_some() => "unreachable",
        _ => "unknown",
    };
    let name = |one: &Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}: {}", text("criterion"), text("function"), text("name"), text("text"))
    };
    (objectives.iter().map(|one| (name(one), kind(one))).collect(), ran.out.clone())
}

fn count(verdicts: &BTreeMap<String, &str>, kind: &str) -> usize {
    verdicts.values().filter(|verdict| **verdict == kind).count()
}

/// A limit that is set in one function and used in another, with pairs that no run covers.
const LIMITED: &str = "
static int limit = 3;
static int mode;
static void choose(int x)
{
    if (x > 10)
        limit = 10;
    else if (x > 20)
        limit = 20;
    mode = x > 10;
}
static int apply(int y)
{
    if (mode)
        return y + limit;
    return y;
}
int main(void)
{
    int x = __VERIFIER_nondet_int();
    choose(x);
    use(apply(x));
    if (mode == 0)
        use(limit);
    return 0;
}
";

#[test]
fn pairs_of_globals_across_functions_are_decided_by_each_party_in_the_same_way() {
    let (together, text) = verdicts(LIMITED, "-c all-uses --jobs 1");
    assert_eq!(count(&together, "unknown"), 0, "{text}");
    assert!(count(&together, "unreachable") >= 3, "{text}");
    let (explored, text) = verdicts(LIMITED, "-c all-uses --provers exploration");
    assert_eq!(explored, together, "{text}");
    let (proved, text) = verdicts(LIMITED, "-c all-uses --provers engines");
    assert_eq!(proved, together, "{text}");
}

#[test]
fn labels_are_decided_by_each_party_in_the_same_way() {
    let options = "-c stmt,bc,dc,rte";
    let program = "
    int main(void)
    {
        int x = __VERIFIER_nondet_int() & 7, y = 0;
        while (y < x)
            y += 2;
        if (y > 8)
            use(1);
        if (y % 2 == 1 || y == 4)
            use(100 / (y - 4));
        return 0;
    }";
    let (explored, text) = verdicts(program, &format!("{options} --provers exploration"));
    assert_eq!(count(&explored, "unknown"), 0, "{text}");
    assert!(count(&explored, "unreachable") >= 3, "{text}");
    let (proved, text) = verdicts(program, &format!("{options} --provers engines"));
    assert_eq!(proved, explored, "{text}");
}

#[test]
fn objectives_in_recursive_functions_are_decided_by_each_party_in_the_same_way() {
    let options = "-c all-uses,bc,dc,mcc";
    let program = "
    static int level;
    static int walk(int n)
    {
        int done = 0, count = 0;
        while (!done) {
            if (n < 2) {
                done = 1;
            } else {
                level = n;
                count = walk(n - 2);
                done = 1;
            }
        }
        if (done)
            use(level);
        return count + 1;
    }
    int main(void)
    {
        int x = __VERIFIER_nondet_int() & 3;
        level = 7;
        use(walk(x));
        return 0;
    }";
    let (explored, text) = verdicts(program, &format!("{options} --provers exploration"));
    assert_eq!(count(&explored, "unknown"), 0, "{text}");
    assert!(count(&explored, "unreachable") >= 7, "{text}");
    let (proved, text) = verdicts(program, &format!("{options} --provers engines"));
    assert_eq!(proved, explored, "{text}");
}

#[test]
fn paths_in_the_same_state_are_told_apart_by_the_definitions_that_they_passed() {
    let program = "
    int main(void)
    {
        int value = 0;
        while (1) {
            int command = __VERIFIER_nondet_int();
            if (command == 1)
                value = 0;
            else if (command == 2)
                value = 0;
            else if (command == 3)
                use(value);
        }
    }";
    let (explored, text) = verdicts(program, "-c all-uses -f main --provers exploration");
    let of_value = explored.iter().filter(|(name, _)| name.contains(" value "));
    let of_value: Vec<_> = of_value.collect();
    assert!(of_value.len() >= 3, "{text}");
    assert!(of_value.iter().all(|(_, verdict)| **verdict == "reached"), "{text}");
}

#[test]
fn pairs_of_a_loop_without_bound_are_proved_for_all_runs() {
    let program = "
    int main(void)
    {
        int state = 0, turns = 0;
        while (__VERIFIER_nondet_int()) {
            turns++;
            if (state == 0 && turns > 3)
                state = 1;
            else if (state == 1)
                state = 2;
            else if (state == 3)
                state = 4;
        }
        use(state);
        return 0;
    }";
    let (proved, text) = verdicts(program, "-c all-uses -f main --jobs 1");
    assert_eq!(count(&proved, "unknown"), 0, "{text}");
    assert!(text.contains("unreachable"), "{text}");
}

#[test]
fn a_first_value_that_is_open_is_an_input_and_no_definition() {
    let program = "
    int main(void)
    {
        int open;
        if (open == 5)
            use(open);
        return 0;
    }";
    let (proved, text) = verdicts(program, "-c bc,all-uses -f main");
    assert!(!proved.is_empty() && count(&proved, "reached") == proved.len(), "{text}");
    assert!(text.contains("`open` in `main` begins as 5"), "{text}");
}

#[test]
fn runs_that_cover_objectives_become_c_that_leads_there() {
    let program = "
    #include <stdio.h>
    int main(void)
    {
        int x = __VERIFIER_nondet_int();
        if (x == 4711)
            puts(\"found\");
        return 0;
    }";
    let place = Workplace::with(&format!("{HEAD}{program}"));
    place.done("prove unit.c --time 60 -c bc --tests runs");
    let tests = crate::common::entries(&place.path("runs"));
    assert!(!tests.is_empty());
    let mut outputs = Vec::new();
    for test in tests {
        let program = place.path("program");
        let mut compile = Command::new("gcc");
        compile.arg(place.path("unit.c")).arg(test).arg("-o").arg(&program);
        Ran::of(&mut compile).says(0, &[]);
        outputs.push(Ran::of(&mut Command::new(&program)).out);
    }
    assert!(outputs.iter().any(|output| output.contains("found")), "{outputs:?}");
}

#[test]
fn each_order_of_the_exploration_comes_to_the_same_verdicts_where_all_paths_end() {
    let place = crate::common::Workplace::with(
        "int __VERIFIER_nondet_int(void);
int main(void)
{
    int x = __VERIFIER_nondet_int(), y = 1;
    if (x > 3)
        y = 2;
    if (x > 5 && y == 1)
        y = 3;
    return y;
}
",
    );
    for search in ["mixed", "dfs", "random-state", "md2u", "sdgs", "cpgs"] {
        let ran = place.done(&format!(
            "prove unit.c -c all-uses --provers exploration --search {search} --json t.json"
        ));
        let found = place.json("t.json");
        let answers = found["objectives"].as_array().expect("a list").iter();
        let unreachable = answers.filter(|one| one["answer"].get("unreachable").is_some());
        let texts: Vec<&str> = unreachable.filter_map(|one| one["text"].as_str()).collect();
        // `y = 1` to either outcome of `y == 1`, which x > 5 excludes; `y = 2` to true; `y = 3`.
        assert_eq!(texts.len(), 4, "{search}: {texts:?}\n{ran}");
    }
    place.refused("prove unit.c --search dfs", 2, &["--criteria"]);
}
