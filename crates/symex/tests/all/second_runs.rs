//! A second run of a function from the inputs of each path: where the two runs differ, and where a
//! complete exploration says that they do not.

use lydian_base::{Budget, CancelToken};
use lydian_inputs::{InputSpec, Settings, prepare};
use lydian_ir::Program;
use lydian_ir::test::Test;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Ending, Event, Limits, SecondRun, Task, Workers};

use crate::common::{Explored, explore_c, program_of};

/// Explores `f` of a program with a variable `other`, which is 1 in the second run.
fn compared(text: &str) -> Explored {
    let text = format!("static unsigned other;\n{text}");
    explore_c(&text, "f", &[], &second_run(&program_of(&text)))
}

/// The configuration in which `other` of a program is 1 in the second run.
fn second_run(program: &Program) -> Config {
    let variable = program.globals.iter().find(|(_, global)| global.name == "other");
    let second_run =
        Some(SecondRun::Variable { variable: variable.expect("it is there").0, value: 1 });
    let limits = Limits { loop_bound: Some(20), ..Limits::default() };
    Config {
        second_run,
        limits,
        look_ahead: false,
        stop_when_covered: false,
        crash_tests: false,
        ..Config::default()
    }
}

/// Whether a complete exploration without assumptions found no difference.
fn is_same(found: &Explored) -> bool {
    let summary = &found.summary;
    found.tests.is_empty()
        && summary.complete
        && !summary.runs_differ
        && summary.assumptions.is_empty()
        && summary.bounds.is_empty()
}

fn number(test: &Test, at: usize) -> i32 {
    i32::from_le_bytes(test.args[at].bytes[..4].try_into().expect("four bytes"))
}

#[test]
fn results_differ_on_the_inputs_that_reach_a_change_and_let_it_through() {
    let found = compared(
        "int f(int a, int b) { int big = other ? a >= b : a > b; return a == 7 ? big : 0; }",
    );
    assert!(!found.tests.is_empty());
    for test in &found.tests {
        assert_eq!((number(&test.test, 0), number(&test.test, 1)), (7, 7));
        assert_eq!(test.ending, Ending::Returned);
    }
}

#[test]
fn a_change_that_shows_nowhere_is_proved() {
    let found = compared("int f(int a, int b) { return other ? b + a : a + b; }");
    assert!(is_same(&found), "{:?}", found.summary);
    let found = compared("int f(int a, int b) { return (other ? a >= b : a > b) ? a : b; }");
    assert!(is_same(&found), "{:?}", found.summary);
}

#[test]
fn memory_behind_pointers_and_globals_is_compared() {
    let found = compared("void f(int *p) { if (p && *p > 3) *p = other ? 5 : 4; }");
    assert!(!found.tests.is_empty() && found.summary.complete);
    let found = compared("int total; void f(int n) { total += other ? n + 1 : n; }");
    assert!(!found.tests.is_empty());
    let found = compared("void f(int *p) { if (p) *p = other ? *p + 1 - 1 : *p; }");
    assert!(is_same(&found), "{:?}", found.summary);
}

#[test]
fn the_second_run_begins_with_the_memory_of_the_first() {
    let found =
        compared("int total; int f(int *p) { *p += 1; total += *p; return other ? *p : *p; }");
    assert!(is_same(&found), "{:?} {:?}", found.tests, found.summary);
}

#[test]
fn loops_over_arrays_are_followed_in_both_runs() {
    let text = "int f(const int *p, unsigned n)
        {
            int sum = 0;
            if (n > 3) return -1;
            for (unsigned i = other ? 1 : 0; i < n; i++) sum += p[i];
            return sum;
        }";
    let found = compared(text);
    assert!(!found.tests.is_empty());
    assert!(found.tests.iter().all(|test| (1..=3).contains(&number(&test.test, 1))));
    let same = text.replace("other ? 1 : 0", "other ? 1 - 1 : 0");
    assert!(is_same(&compared(&same)));
    let same = "int f(const int *p, unsigned n)
        {
            int s = 0;
            for (unsigned i = 0; (other ? i != n : i < n) && i < 4; i++) if (p[i] > 0) s += p[i];
            return s;
        }";
    let found = compared(same);
    assert!(is_same(&found), "{:?} {:?}", found.tests, found.summary);
}

#[test]
fn a_second_run_that_traps_or_does_not_end_is_a_difference() {
    let found = compared("int f(int a, int b) { return (other || b) ? a / b : 0; }");
    assert!(found.tests.iter().any(|test| matches!(test.ending, Ending::Trapped(_))));
    assert!(found.tests.iter().all(|test| number(&test.test, 1) == 0));
    let found = compared("int f(unsigned n) { while (n && n < 10) n += other ? 0 : 1; return n; }");
    assert!(!found.tests.is_empty());
}

#[test]
fn inputs_on_which_the_first_run_traps_are_left_out() {
    let found =
        compared("int f(int *p, int i) { int t[2] = {1, 2}; return other ? t[i & 1] : t[i]; }");
    assert!(is_same(&found), "{:?}", found.tests);
}

#[test]
fn runs_of_several_calls_are_compared() {
    let found = compared(
        "int f(int a) { static int count; count = other ? count : count + 1; return count > 2; }",
    );
    let longest = found.tests.iter().map(|test| test.test.earlier.len()).max();
    assert!(longest >= Some(2), "{longest:?}");
}

#[test]
fn calls_of_undefined_functions_are_compared_and_keep_the_rest_open() {
    let found =
        compared("int get(void); int f(void) { int a = get(); return other ? a + get() : a; }");
    assert!(!found.tests.is_empty());
    let found = compared("int get(void); int f(void) { int a = get(); return other ? a * 1 : a; }");
    assert!(found.tests.is_empty() && !found.summary.complete);
}

/// C allows the first run to rely on what its pointers lead to, and the second to rely on no more.
#[test]
fn what_the_second_run_alone_does_with_memory_of_inputs_keeps_all_open() {
    let far = "int f(const int *p, unsigned n)
        {
            int s = 0;
            for (unsigned i = 0; i < n && i < 3; i++) s += p[other ? -i : i];
            return s;
        }";
    let further = "int f(const int *p, unsigned n)
        {
            int s = 0;
            if (n == 0 || n > 3) return 0;
            for (unsigned i = 0; other ? i <= n : i < n; i++) if (p[i] > 0 && i < n) s++;
            return s;
        }";
    let followed = "int f(const int *p, int n) { int a = n; if (other) a = *p; return a * 0 + n; }";
    let unused = "int f(const int *p, unsigned n)
        {
            int s = 0;
            for (unsigned i = 0; i < n && i < 3; i++) if (other ? p[-i] > 0 : p[i] > 0) s = 0;
            return s;
        }";
    let known = "int f(const int *p, unsigned n)
        {
            int s = 0;
            for (unsigned i = 0; i < n && i < 4; i++) if ((other ? p[-i] : p[i]) > 0) s += p[i];
            return s;
        }";
    for text in [far, further, followed, unused, known] {
        let found = compared(text);
        assert!(!is_same(&found), "{text}: {:?}", found.summary);
    }
}

#[test]
fn structs_that_are_returned_are_compared() {
    let text = "struct pair { int a, b; };
        struct pair f(int n) { struct pair p = { n, 2 }; if (other) p.b = n; return p; }";
    let found = compared(text);
    assert!(!found.tests.is_empty());
    assert!(found.tests.iter().all(|test| number(&test.test, 0) != 2));
}

#[test]
fn inputs_that_the_second_run_alone_gives_up_keep_all_open() {
    for gives_up in ["klee_silent_exit(0)", "klee_assume(0)", "klee_assume(a < 0)"] {
        let found = compared(&format!(
            "void klee_silent_exit(int);
            void klee_assume(unsigned long);
            int f(int a) {{ if (a > 7 && other) {gives_up}; return other ? a : a; }}"
        ));
        assert!(!is_same(&found), "{gives_up}: {:?}", found.summary);
        assert!(!found.summary.complete, "{gives_up}: {:?}", found.summary);
    }
}

#[test]
fn a_difference_that_any_of_two_workers_finds_counts() {
    for place in 0..8 {
        let text = format!(
            "static unsigned other;
            int f(int a, int b, int c)
            {{
                int at = 0;
                if (a > 0) at += 4;
                if (b > 0) at += 2;
                if (c > 0) at += 1;
                return at == {place} && other ? -1 : at;
            }}"
        );
        let mut program = program_of(&text);
        prepare(&mut program);
        let spec = InputSpec::new(&program, Settings::default());
        let task = Task {
            program: &program,
            func: program.function_named("f").expect("it is there"),
            spec: &spec,
            objectives: &[],
            known: &[],
            config: &second_run(&program),
            budget: &Budget::start(None, CancelToken::new()),
        };
        let solver = || standard_chain(&ChainConfig::default());
        let mut tests = 0;
        let mut sink = |event: Event| tests += u32::from(matches!(event, Event::Test(_)));
        let summary = task.run_among(&Workers::new(2, &solver).eager(), &mut sink);
        let summary = summary.expect("it can be explored");
        assert!(tests > 0 && summary.complete, "{place}: {summary:?}");
        assert!(summary.runs_differ, "{place}: {summary:?}");
    }
}

/// Explores `f` of a program together with `g`, another version of it.
fn versions(text: &str) -> Explored {
    let program = program_of(text);
    let config = Config {
        second_run: program.function_named("g").map(SecondRun::Function),
        merge: false,
        ..second_run(&program_of("static unsigned other; int f(void) { return other; }"))
    };
    explore_c(text, "f", &[], &config)
}

const LIST: &str = "struct list { struct list *next; int n; };
static int visits;
int f(struct list *l) { visits++; if (l && l->next) return l->next->n; return 0; }
";

#[test]
fn two_versions_that_follow_the_same_pointers_in_two_ways_are_the_same() {
    let other = "int g(struct list *l) {
        int n = 0;
        visits = visits + 1;
        if (l) { struct list *next = l->next; if (next != 0) n = next->n; }
        return n;
    }";
    let found = versions(&format!("{LIST}{other}"));
    assert!(is_same(&found), "{:?} {:?}", found.summary, found.tests);
}

#[test]
fn two_versions_differ_in_results_in_variables_and_in_traps() {
    let others = [
        "int g(struct list *l) { visits++; if (l && l->next) return l->next->n + (l->n == 7); return 0; }",
        "int g(struct list *l) { visits += 1 + (l && l->n == 7); if (l && l->next) return l->next->n; return 0; }",
        "int g(struct list *l) { visits++; if (l) return l->next->n; return 0; }",
    ];
    for other in others {
        let found = versions(&format!("{LIST}{other}"));
        assert!(!found.tests.is_empty(), "{other}: {:?}", found.summary);
    }
}

#[test]
fn calls_of_undefined_functions_by_one_version_alone_are_a_difference() {
    let text = "void log_it(int); int f(int a) { if (a > 3) log_it(a); return a; }";
    let same = versions(&format!("{text} int g(int a) {{ if (!(a <= 3)) log_it(a); return a; }}"));
    assert!(same.tests.is_empty(), "{:?}", same.tests);
    for other in ["if (a > 2) log_it(a);", "if (a > 3) log_it(a + 1);", ""] {
        let found = versions(&format!("{text} int g(int a) {{ {other} return a; }}"));
        assert!(!found.tests.is_empty(), "{other}: {:?}", found.summary);
    }
}

/// The second run knows more of the memory at the call than the first did.
#[test]
fn undefined_functions_write_the_same_in_both_runs() {
    let text = "struct s { int a; int b[4]; struct s *next; };
        void fill(struct s *);
        int f(struct s *p, int i) { fill(p); return p->a + p->b[i & 3] + (p->next ? p->next->a : 0); }
        int g(struct s *p, int i) {
            fill(p);
            int n = p->a + p->b[i & 3];
            if (p->next) n += p->next->a;
            return n;
        }";
    let found = versions(text);
    assert!(found.tests.is_empty(), "{:?}", found.tests);
    let other = versions(&text.replace("int n = p->a", "int n = 2 * p->a"));
    assert!(!other.tests.is_empty(), "{:?}", other.summary);
}
