//! What a run leaves open, later runs with no more effort take over, and others try again.

use std::process::Command;

use crate::common::{LONG, Ran, Workplace, wait_until};

/// `u` has no value on one way.
const UNKNOWN: &str = "\
int other(int a)
{
    return a > 3;
}
int f(int a)
{
    int u;
    if (a > 2)
        u = 1;
    if (u > a)
        return 1;
    return 0;
}
";

/// The functions that a run explored, and what it says about those that it took over.
fn generate(at: &Workplace, options: &str) -> (Vec<String>, Vec<(String, u64)>, Ran) {
    let ran = at.done(&format!("gen unit.c -c bc --json table.json {options}"));
    let table = at.json("table.json");
    let functions = table["functions"].as_array().unwrap();
    let explored = functions.iter().filter(|of| !of["exploration"].is_null());
    let explored = explored.map(|of| of["name"].as_str().unwrap().to_owned()).collect();
    let taken = table["taken_over"].as_array().into_iter().flatten();
    let taken = taken.map(|of| {
        (of["function"].as_str().unwrap().to_owned(), of["objectives"].as_u64().unwrap())
    });
    let taken: Vec<_> = taken.collect();
    assert_eq!(ran.out.contains("not tried again"), !taken.is_empty(), "{ran}");
    (explored, taken, ran)
}

/// The reasons for which objectives are unknown, as the output shows them.
fn reasons(ran: &Ran) -> Vec<&str> {
    ran.out.lines().filter(|line| line.contains(" unknown: ")).collect()
}

#[test]
fn a_run_with_no_more_effort_takes_the_reasons_over_and_says_so() {
    let at = Workplace::with(UNKNOWN);
    let (explored, taken, first) = generate(&at, "");
    assert_eq!((explored.as_slice(), taken.len()), (&["f".to_owned()][..], 0));
    assert!(reasons(&first)[0].contains("depends on uninitialised memory"), "{first}");
    for options in ["", "--time 5", "--no-proofs", "--loop-bound 7", "--max-memory 900"] {
        let (explored, taken, ran) = generate(&at, options);
        assert!(explored.is_empty(), "{options}: {explored:?}");
        assert_eq!(taken, [("f".to_owned(), 1)], "{options}");
        assert_eq!(reasons(&ran), reasons(&first), "{options}");
    }
}

#[test]
fn more_effort_another_way_and_the_users_wish_try_again() {
    let at = Workplace::with(UNKNOWN);
    generate(&at, "--no-proofs --time 10");
    let ways = [
        "--no-proofs --time 10 --seed 3",
        "--no-proofs --time 10 --search dfs",
        "--no-proofs --time 10 --loop-bound 5000",
        "--no-proofs --time 10 --again",
        "--no-proofs --time 10 --log-queries questions",
        "--no-proofs --time 11",
        "--time 10",
        "--time 10 --unconfined",
        "--time 10 --semantics short-circuit",
    ];
    for options in ways {
        let (explored, taken, _) = generate(&at, options);
        assert_eq!((explored.as_slice(), taken.len()), (&["f".to_owned()][..], 0), "{options}");
    }
    at.write("lydian.toml", "[function.f]\npreconditions = [\"a < 100\"]\n");
    let (explored, _, _) = generate(&at, "--time 10");
    assert_eq!(explored, ["f"], "other inputs");
    let (_, taken, _) = generate(&at, "--time 10");
    assert_eq!(taken.len(), 1);
    let (explored, _, _) = generate(&at, "--time 10 -c stmt,bc,mcdc");
    assert!(explored.contains(&"f".to_owned()), "more objectives: {explored:?}");
}

#[test]
fn places_in_reasons_move_with_the_text() {
    let at = Workplace::with(UNKNOWN);
    generate(&at, "");
    let edited = UNKNOWN.replace("int f(int a)\n{", "\n/* f */ int f(int a)\n{ /* u */\n\n");
    at.write("unit.c", &format!("int first(int b)\n{{\n    return b ? 1 : 2;\n}}\n{edited}"));
    let (explored, taken, kept) = generate(&at, "");
    assert_eq!((explored.as_slice(), taken.len()), (&["first".to_owned()][..], 1));
    let (_, _, fresh) = generate(&at, "-o fresh");
    assert_eq!(reasons(&kept), reasons(&fresh));
    assert!(reasons(&fresh)[0].ends_with("read at unit.c:17:9"), "{fresh}");
}

#[test]
fn a_run_that_is_interrupted_leaves_no_attempt() {
    let at = Workplace::with(LONG);
    let command = "gen unit.c -c mcdc --no-merge --no-proofs --time 60 --max-paths 1000000000";
    let mut command = at.command(command);
    let mut running = command.spawn().expect("the command can be started");
    let ledger = at.path("tests/ledger.sqlite");
    wait_until("a ledger is there", || ledger.exists());
    let pid = running.id().to_string();
    let mut stop = Command::new("kill");
    assert!(stop.args(["-INT", &pid]).status().expect("kill can be started").success());
    assert_eq!(running.wait().expect("it ends").code(), Some(130));
    let (explored, taken, _) = generate(&at, "-c mcdc --no-merge --no-proofs --time 0.3");
    assert_eq!((explored.as_slice(), taken.len()), (&["f".to_owned()][..], 0));
    let (explored, taken, _) = generate(&at, "-c mcdc --no-merge --no-proofs --time 0.3");
    assert_eq!((explored.len(), taken.len()), (0, 1), "that one came to its end");
}

#[test]
fn what_other_functions_do_to_a_variable_decides_whether_a_branch_can_be_taken() {
    let reads = "static int mode;\nint f(int a)\n{\n    return mode > 0 ? 1 : a;\n}\n";
    let at = Workplace::with(reads);
    generate(&at, "-f f");
    assert_eq!(crate::common::figures(&at.json("table.json"), "f", "bc"), [2, 1, 1, 0, 0]);
    at.write("unit.c", &format!("{reads}void set(int m)\n{{\n    mode = m;\n}}\n"));
    generate(&at, "-f f");
    assert_eq!(crate::common::figures(&at.json("table.json"), "f", "bc"), [2, 2, 0, 0, 0]);
}

#[test]
fn what_main_does_decides_what_is_infeasible_in_a_program() {
    let program = "\
int __VERIFIER_nondet_int(void);
static int g(int a)
{
    return a > 100 ? 1 : 0;
}
int main(void)
{
    return g(__VERIFIER_nondet_int() & 63);
}
";
    let at = Workplace::with(program);
    generate(&at, "");
    assert_eq!(crate::common::figures(&at.json("table.json"), "g", "bc"), [2, 1, 1, 0, 0]);
    at.write("unit.c", &program.replace("63", "127"));
    generate(&at, "");
    assert_eq!(crate::common::figures(&at.json("table.json"), "g", "bc"), [2, 2, 0, 0, 0]);
}

/// Its tests assert texts of literals, which have numbers.
const NAMES: &str = "\
struct point { int x; const char *name; };
const char *size(int a)
{
    return a > 3 ? \"many\" : \"few\";
}
int named(struct point *p)
{
    p->name = p->x > 5 ? \"large\" : \"small\";
    return p->x == 7;
}
";
const BEFORE: &str = "const char *sign(int b)\n{\n    return b < 0 ? \"minus\" : \"plus\";\n}\n";

#[test]
fn a_suite_after_an_edit_is_that_of_a_fresh_run_though_no_test_of_other_functions_ran() {
    let at = Workplace::with(NAMES);
    at.done("gen unit.c -c stmt,bc,mcdc,wm -o kept");
    at.write("unit.c", &format!("{BEFORE}{NAMES}"));
    let log = at.done("gen unit.c -c stmt,bc,mcdc,wm -o kept --log info");
    let explored = log.err.lines().filter(|line| line.contains("exploring "));
    assert!(explored.clone().all(|line| line.contains("exploring sign")), "{log}");
    assert!(explored.count() > 0, "{log}");
    at.done("gen unit.c -c stmt,bc,mcdc,wm -o fresh");
    assert_eq!(at.read("kept/tests.c"), at.read("fresh/tests.c"));
    for command in ["cc -o suite kept/tests.c kept/lydian.h -w", "./suite"] {
        let mut shell = Command::new("sh");
        at.settle(shell.args(["-c", &command.replace(" kept/lydian.h", "")]));
        let ran = Ran::of(&mut shell);
        assert_eq!(ran.code, Some(0), "{command}: {ran}");
    }
}

#[test]
fn a_function_whose_test_no_longer_does_the_same_is_measured_again() {
    let callee = "static int twice(int a)\n{\n    return a + a;\n}\n";
    let text = "int f(int a)\n{\n    return twice(a) > 100 ? 1 : 0;\n}\nint g(int a)\n{\n    return a > 3;\n}\n";
    let at = Workplace::with(&format!("{callee}{text}"));
    at.done("gen unit.c -c stmt,bc,wm -o kept --json table.json");
    let edited = format!("{}{text}", callee.replace("a + a", "a - a"));
    at.write("unit.c", &edited);
    for folder in ["kept", "fresh"] {
        at.done(&format!("gen unit.c -c stmt,bc,wm -o {folder} --json {folder}.json"));
    }
    for function in ["twice", "f", "g"] {
        let [kept, fresh] = ["kept.json", "fresh.json"].map(|name| at.json(name));
        for criterion in ["stmt", "bc", "wm"] {
            let [kept, fresh] =
                [&kept, &fresh].map(|table| crate::common::figures(table, function, criterion));
            assert_eq!(kept, fresh, "{function} {criterion}");
        }
    }
    let table = at.json("kept.json");
    assert_eq!(crate::common::figures(&table, "f", "bc")[1..3], [1, 1], "one branch is left");
}

/// The verdicts on mutants by function, and how many explorations there were.
fn mutants(at: &Workplace, folder: &str) -> (Vec<String>, usize) {
    let words =
        format!("gen unit.c -c sm --time 120 --jobs 1 -o {folder} --json m.json --log info");
    let ran = at.done(&words);
    let table = at.json("m.json");
    let mut all = Vec::new();
    for function in table["functions"].as_array().unwrap() {
        let own = function["objectives"].as_array().unwrap().iter();
        let own = own.filter(|it| it["criterion"] == "sm");
        all.extend(own.map(|it| format!("{} {} {}", function["name"], it["name"], it["verdict"])));
    }
    (all, ran.err.lines().filter(|line| line.contains("] explored ")).count())
}

#[test]
fn what_is_known_of_mutants_is_found_anew_only_where_something_changed() {
    let text = "\
int f(unsigned a)
{
    return (a & 1) > 3;
}
int g(int a)
{
    return a < 4;
}
";
    let at = Workplace::with(text);
    let (first, explored) = mutants(&at, "kept");
    assert!(explored > 0 && first.len() > 10, "{explored} {first:?}");
    let (again, explored) = mutants(&at, "kept");
    assert_eq!((&again, explored), (&first, 0));
    at.write("unit.c", &text.replace("a < 4", "a < 5"));
    let (edited, explored) = mutants(&at, "kept");
    let (fresh, anew) = mutants(&at, "fresh");
    assert_eq!(edited, fresh);
    assert!(explored < anew, "{explored} {anew}");
}

/// One error that a run reaches, one that none does, and one that nobody finds in the time.
const ERRORS: &str = "\
int __VERIFIER_nondet_int(void);
void reach_error(void);
int main(void)
{
    unsigned a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a == 7)
        reach_error();
    if (a > 5 && a < 3)
        reach_error();
    if (a > 1 && b > 1 && a < 70000000 && b < 90000000 && (unsigned long)a * b == 1000000016000000063UL)
        reach_error();
    return 0;
}
";

#[test]
fn answers_about_errors_are_kept_in_a_ledger_if_the_user_names_one() {
    let at = Workplace::with(ERRORS);
    let prove = |options: &str| {
        at.done(&format!("prove unit.c --jobs 1 --ledger answers.sqlite --json a.json {options}"))
    };
    let answers = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("an earlier run"));
        lines.map(str::to_owned).collect()
    };
    let first = prove("--time 2");
    assert_eq!(at.json("a.json")["taken_over"], false);
    assert!(!first.out.contains("an earlier run"), "{first}");
    let is_open = first.out.contains(": unknown: ");
    for options in ["--time 2", "--time 1"] {
        let again = prove(options);
        assert!(again.out.contains("those of an earlier run"), "{again}");
        assert_eq!(answers(&again.out), answers(&first.out));
        assert_eq!(at.json("a.json")["taken_over"], true);
    }
    let tests = prove("--time 2 --tests found");
    assert!(tests.out.contains("those of an earlier run"), "{tests}");
    assert!(at.path("found/error-7.c").exists());
    assert!(!prove("--time 2 --again").out.contains("an earlier run"));
    let longer = prove("--time 3");
    assert_eq!(longer.out.contains("an earlier run"), !is_open, "{longer}");
    at.write("unit.c", &ERRORS.replace("a == 7", "a == 8"));
    assert!(!prove("--time 1").out.contains("an earlier run"));
}
