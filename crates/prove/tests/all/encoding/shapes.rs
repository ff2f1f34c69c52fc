//! The shapes of systems: points, variables and terms of small programs.

use lydian_ir::Program;
use lydian_smt::TermPool;

use super::common::{encoded, load, load_with, request_for, run};

#[test]
fn a_loop_over_an_array_has_one_point_for_the_loop_and_one_array() {
    let unit = load(
        "extern int __VERIFIER_nondet_int(void);
         void reach_error(void);
         int main(void) {
             int a[10], i;
             for (i = 0; i < 10; i++) a[i] = __VERIFIER_nondet_int();
             if (a[3] == 7) reach_error();
             return 0;
         }",
    );
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    let system = &encoded.system;
    assert_eq!(system.points.len(), 2, "{}", system.text(&pool));
    let names: Vec<&str> = system.variables.values().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["main::i", "main::a[]"], "{}", system.text(&pool));
    assert!(system.inexact.is_empty(), "{:?}", system.inexact);
    let goal = system.goals.ids().next().expect("a goal");
    let hit = run(&pool, &encoded, &[1, 2, 3, 7]);
    assert!(hit.goals.contains(&goal) && hit.inputs == 10, "{hit:?}");
    assert!(run(&pool, &encoded, &[7, 7, 7, 6, 7]).goals.is_empty());
}

/// The text of a program's system.
fn text_of(c: &str) -> String {
    let unit = load(c);
    let mut pool = TermPool::new();
    encoded(&mut pool, &unit.program, "main").system.text(&pool)
}

#[test]
fn a_counter_is_a_system_of_one_variable() {
    let text = text_of(
        "extern int __VERIFIER_nondet_int(void);
         void reach_error(void);
         int main(void) {
             unsigned i = 0;
             while (i < 100 && __VERIFIER_nondet_int()) i += 2;
             if (i == 51) reach_error();
             return 0;
         }",
    );
    let lines = [
        "main:0 -> main:1 if true",
        "    main::i := 0:32",
        "main:1 -> main:1 if (and (ult main::i 100:32) (not (= __VERIFIER_nondet_int 0:32)))",
        "    main::i := (add main::i 2:32)",
        "main:1 -> goal error in main at s8 if (and (not (and (ult main::i 100:32) \
         (not (= __VERIFIER_nondet_int 0:32)))) (= main::i 51:32))",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn the_members_of_an_array_of_structs_are_arrays() {
    let text = text_of(
        "void reach_error(void);
         int main(void) {
             struct { char c; int i; } t[8];
             for (int k = 0; k < 8; k++) { t[k].c = 1; t[k].i = k; }
             if (t[5].i != 5) reach_error();
             return 0;
         }",
    );
    let lines = [
        "main:0 -> main:1 if true",
        "    main::k := 0:32",
        "    main::t[]+4 := any.main::t[]+4",
        "main:1 -> main:1 if (and (slt main::k 8:32) (not (ult 7:61 (sext61 main::k))))",
        "    main::k := (add main::k 1:32)",
        "    main::t[]+4 := (store main::t[]+4 (extract2:0 main::k) main::k)",
        "main:1 -> goal error in main at s12 if (and (not (slt main::k 8:32)) \
         (not (= (select main::t[]+4 5:3) 5:32)))",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn the_inputs_of_an_approach_end_at_the_goal() {
    let unit = load(
        "extern int __VERIFIER_nondet_int(void); extern short __VERIFIER_nondet_short(void);
         void reach_error(void);
         int main(void) {
             int a = __VERIFIER_nondet_int();
             if (__VERIFIER_nondet_short() == a) reach_error();
             return __VERIFIER_nondet_int();
         }",
    );
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    assert_eq!(encoded.inputs[encoded.system.entry].len(), 3);
    let goal = encoded.goals.ids().next().expect("a goal");
    let read = encoded.inputs_of_approach(goal, 0).iter().map(|read| read.function.as_str());
    let expected = ["__VERIFIER_nondet_int", "__VERIFIER_nondet_short"];
    assert_eq!(read.collect::<Vec<_>>(), expected);
}

/// Whether a goal of a program may be reached, as far as its terms alone tell.
fn may_reach(c: &str) -> bool {
    may_reach_in(&load(c).program)
}

fn may_reach_in(program: &Program) -> bool {
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, program, "main");
    let reaches = encoded.system.goals.values().any(|goal| !goal.approaches.is_empty());
    assert!(!reaches || !encoded.system.inexact.is_empty(), "the reason is told");
    reaches
}

#[test]
fn code_that_is_not_known_may_change_what_it_can_name_or_was_given() {
    let main = |before: &str, call: &str, test: &str| {
        format!(
            "extern void unknown(); void reach_error(void);
             int external = 1; static int own = 1; static int *keep;
             int main(void) {{
                 int local = 1, *p = &local; {before}
                 {call};
                 if ({test}) reach_error();
                 return 0;
             }}"
        )
    };
    assert!(may_reach(&main("", "unknown()", "external == 2")));
    assert!(!may_reach(&main("", "unknown()", "own == 2")));
    assert!(!may_reach(&main("", "unknown()", "local == 2")));
    assert!(may_reach(&main("", "unknown(&own)", "own == 2")));
    assert!(may_reach(&main("", "unknown(p)", "local == 2")));
    assert!(may_reach(&main("unknown(&keep); keep = p;", "unknown()", "local == 2")));
    assert!(!may_reach(&main("keep = p;", "unknown()", "local == 2")));
    assert!(may_reach(&main("", "unknown((long)p)", "local == 2")));
    assert!(may_reach(&main("", "unknown(&p)", "local == 2 && p == &local")));
}

#[test]
fn the_arguments_of_a_program_are_inputs() {
    assert!(may_reach(
        "void reach_error(void);
         int main(int n, char **v) { if (n > 1 && v[1][0] == 'x') reach_error(); return 0; }"
    ));
}

#[test]
fn a_recursive_call_may_do_what_its_function_does() {
    let main = |body: &str, test: &str| {
        format!(
            "void reach_error(void); extern void unknown(void);
             static int n, other;
             static void f(int k) {{ {body} if (k > 0) f(k - 1); }}
             int main(void) {{ f(2); if ({test}) reach_error(); return 0; }}"
        )
    };
    assert!(may_reach(&main("n++;", "n == 3")));
    assert!(!may_reach(&main("n++;", "other == 3")));
    assert!(may_reach(&main("if (k == 1) reach_error();", "0")));
    assert!(may_reach(&main("void (*g)(int) = f; if (k == 5) g(0); n = 7;", "n == 7")));
    assert!(may_reach(&main("void (*g)(void) = reach_error; if (k == 1) g();", "0")));
}

#[test]
fn a_function_that_was_not_understood_may_do_all_that_its_file_can() {
    let reaches = |body: &str, test: &str| {
        let mut unit = load(&format!(
            "void reach_error(void); static int n; static void f(void) {{ {body} }}
             int main(void) {{ f(); if ({test}) reach_error(); return 0; }}"
        ));
        let f = unit.program.function_named("f").expect("f");
        unit.program.functions[f].body = None;
        may_reach_in(&unit.program)
    };
    assert!(reaches("n = 2;", "n == 2"));
    assert!(reaches("reach_error();", "0"));
}

#[test]
fn a_function_that_is_handed_out_may_be_called_back() {
    assert!(may_reach(
        "void reach_error(void); extern void later(void (*)(void));
         static void f(void) { reach_error(); }
         int main(void) { later(f); return 0; }"
    ));
    assert!(may_reach(
        "void reach_error(void); typedef unsigned long size_t;
         extern void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
         static int n;
         static int order(const void *a, const void *b) { n = 1; return *(int *)a - *(int *)b; }
         int main(void) { int t[2] = {2, 1}; qsort(t, 2, 4, order); if (n) reach_error(); return 0; }"
    ));
    assert!(may_reach(
        "void reach_error(void); extern void later(void (*)(void));
         int main(void) { later(reach_error); return 0; }"
    ));
}

#[test]
fn the_number_of_an_address_is_any_number() {
    assert!(may_reach(
        "void reach_error(void);
         int main(void) { int x; if (((unsigned long)&x & 0xfff) == 8) reach_error(); return 0; }"
    ));
    assert!(may_reach(
        "void reach_error(void);
         int main(void) { int x, y; if (&x < &y) reach_error(); return 0; }"
    ));
    assert!(may_reach(
        "void reach_error(void);
         union u { int *p; unsigned char c[8]; };
         int main(void) { int x; union u u; u.p = &x; if (u.c[1] == 77) reach_error(); return 0; }"
    ));
    assert!(may_reach(
        "void reach_error(void); typedef unsigned long size_t;
         extern void *memcpy(void *, const void *, size_t);
         int main(void) {
             int x, *p = &x; unsigned long n, m;
             memcpy(&n, &p, sizeof n); memcpy(&m, &n, sizeof m);
             if ((m & 0xfff) == 8) reach_error();
             return 0;
         }"
    ));
    assert!(may_reach(
        "void reach_error(void); static int x, *const p = &x;
         int main(void) {
             if ((*(unsigned long *)&p & 0xfff) == 8) reach_error();
             return 0;
         }"
    ));
}

#[test]
fn the_distance_of_an_object_from_null_is_any_number() {
    let program = |first: &str, test: &str| {
        format!(
            "void reach_error(void);
             int main(void) {{
                 int a[4], *p = {first};
                 long d = p - a;
                 if ({test}) reach_error();
                 return 0;
             }}"
        )
    };
    assert!(may_reach(&program("0", "d == 1234567")));
    assert!(!may_reach(&program("a + 3", "d != 3")));
}

#[test]
fn a_pointer_that_is_overwritten_in_part_is_any_pointer() {
    let program = |head: &str, body: &str| {
        format!(
            "void reach_error(void); typedef unsigned long size_t;
             extern void *memcpy(void *, const void *, size_t);
             extern void *memset(void *, int, size_t);
             extern int __VERIFIER_nondet_int(void);
             int x, y; {head}
             int main(void) {{ {body} reach_error(); return 0; }}"
        )
    };
    let torn = [
        ("", "int *p = &x; memset(&p, 0, 4); if (p != &x)"),
        ("", "int *p = &x; memset(&p, 0, __VERIFIER_nondet_int()); if (p != &x)"),
        ("", "int *p = &x, *q = 0; memcpy(&q, &p, 4); if (q)"),
        ("", "int *p = &x, *q = 0, *r; memcpy(&q, &p, 4); memcpy(&r, &q, 8); if (r)"),
        (
            "struct s { int pad; long n; } __attribute__((packed));
             union { int *p; struct s s; } u;",
            "u.p = &x; u.s.n = 0; if (u.p)",
        ),
        (
            "union { int *p; struct { unsigned long low : 16, high : 48; } s; } u;",
            "u.p = &x; u.s.low = 0; if (u.p == &x)",
        ),
        (
            "struct s { int *p; char c; };
             struct t { int pad; int *q; } __attribute__((packed));
             union { struct s s; struct t t; } u;",
            "u.s.p = &x; u.t.q = 0; if (u.s.p)",
        ),
    ];
    for (head, body) in torn {
        assert!(may_reach(&program(head, body)), "{head} {body}");
    }
    let whole = [
        ("", "int *p = &x; memset(&p, 0, 8); if (p)"),
        ("", "int *p = &x, *q = 0; memcpy(&q, &p, 8); if (q != &x)"),
        ("struct s { int n; int *p; };", "struct s s, t = {1, &x}; s = t; if (s.p != &x)"),
        ("struct s { int n[3]; int *p; } s;", "s.p = &x; memset(&s, 0, 12); if (s.p != &x)"),
        ("struct s { int *p, *q; } s;", "s.p = &x; s.q = &y; memset(&s, 0, 8); if (s.q != &y)"),
    ];
    for (head, body) in whole {
        assert!(!may_reach(&program(head, body)), "{head} {body}");
    }
}

#[test]
fn functions_that_split_texts_write_where_earlier_arguments_and_arguments_lead() {
    let program = |before: &str, call: &str| {
        format!(
            "void reach_error(void);
             extern char *strsep(char **, const char *), *strtok(char *, const char *);
             extern char *strtok_r(char *, const char *, char **);
             extern long strtol(const char *, char **, int);
             int main(void) {{
                 char a[4] = \"a,b\", b[4] = \"a,b\", *p = a, *end;
                 {before}; a[1] = ','; {call};
                 if (a[1] != ',') reach_error();
                 return b[1] + *p;
             }}"
        )
    };
    assert!(may_reach(&program("", "strsep(&p, \",\")")));
    assert!(may_reach(&program("strtok(a, \",\")", "strtok(0, \",\")")));
    assert!(may_reach(&program("strtok_r(a, \",\", &p)", "strtok_r(0, \",\", &p)")));
    assert!(!may_reach(&program("strtok(b, \",\")", "strtok(0, \",\")")));
    assert!(!may_reach(&program("p = b", "strtol(a, &end, 10)")));
}

#[test]
fn the_end_of_an_object_may_be_the_beginning_of_another() {
    let program = |head: &str, test: &str| {
        format!(
            "void reach_error(void); typedef unsigned long size_t; extern void *malloc(size_t);
             extern char _start[], _end[]; extern int e[4], f[4]; extern int __VERIFIER_nondet_int(void);
             int a[4], b[4], x;
             int main(void) {{ {head}; if ({test}) reach_error(); return 0; }}"
        )
    };
    assert!(may_reach(&program("", "a + 4 == b")));
    assert!(may_reach(&program("", "!(b != a + 4)")));
    assert!(may_reach(&program("", "e + 4 == f")));
    assert!(may_reach(&program("", "_start == _end")));
    assert!(may_reach(&program("", "_start != _end")));
    assert!(may_reach(&program("int n = __VERIFIER_nondet_int()", "a + n == b")));
    assert!(!may_reach(&program("", "a == b")));
    assert!(!may_reach(&program("", "a + 3 == b")));
    assert!(!may_reach(&program("", "a + 4 == a")));
    assert!(!may_reach(&program("", "&x == 0")));
    assert!(!may_reach(&program("int *p = __VERIFIER_nondet_int() ? a + 4 : b", "p == 0")));
    assert!(!may_reach(&program("int *p = malloc(4), *q = malloc(8)", "p && p == q")));
}

#[test]
fn a_function_that_runs_at_the_exit_may_come_to_its_errors() {
    assert!(may_reach(
        "void reach_error(void); int atexit(void (*)(void));
         static int n;
         static void last(void) { if (n == 3) reach_error(); }
         int main(void) { atexit(last); n = 3; return 0; }"
    ));
}

#[test]
fn a_variable_that_is_declared_in_a_loop_has_no_value_from_the_round_before() {
    let program = |head: &str, tail: &str| {
        format!(
            "void reach_error(void);
             int main(void) {{
                 {head} int x; if (k == 1 && x == 6) reach_error(); x = 5; {tail}
                 return 0;
             }}"
        )
    };
    let loops = [
        ("for (int k = 0; k < 2; k++) {", "}"),
        ("int k = 0; do {", "k++; } while (k < 2);"),
        ("int k = 0; while (1) {", "if (k++) break; else continue; }"),
        ("int k = 0; again: {", "if (!k++) goto again; }"),
    ];
    for (head, tail) in loops {
        assert!(reaches_within_two_rounds(&program(head, tail)), "{head}");
    }
    assert!(!reaches_within_two_rounds(
        "void reach_error(void);
         int main(void) {
             int x;
             for (int k = 0; k < 2; k++) { if (k == 1 && x == 6) reach_error(); x = 5; }
             return 0;
         }"
    ));
}

/// Whether the error of a program without inputs may be reached in few transitions.
fn reaches_within_two_rounds(c: &str) -> bool {
    use lydian_prove::engines::{Decision, Schedule, decide};
    use lydian_smt::{ChainConfig, standard_chain};
    let unit = load(c);
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    let goals: Vec<_> = encoded.system.goals.ids().collect();
    let mut solver = standard_chain(&ChainConfig::default());
    let verdicts = decide(&mut pool, &encoded.system, &goals, &mut *solver, &Schedule::default());
    match &verdicts[..] {
        [verdict] => match &verdict.decision {
            Decision::Reached(_) => true,
            Decision::Unreachable(_) => false,
            Decision::Unknown(why) => panic!("{why}: {c}"),
        },
        _ => panic!("one error: {c}"),
    }
}

#[test]
fn a_function_that_is_not_followed_starts_no_thread() {
    let unit = load(
        "void reach_error(void);
         extern int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);
         static void *run(void *p) { return p; }
         static void start(int n) {
             unsigned long t;
             if (n > 0) start(n - 1);
             else pthread_create(&t, 0, run, 0);
         }
         int main(void) { start(2); reach_error(); return 0; }",
    );
    let mut pool = TermPool::new();
    let request = request_for(&unit.program, "main");
    assert!(lydian_prove::encode::encode(&mut pool, &request).is_err());
}

#[test]
fn an_undefined_function_may_keep_a_pointer_for_a_later_call() {
    assert!(may_reach(
        "void reach_error(void); extern void keep(int *); extern void later(void);
         int main(void) {
             int x = 1;
             keep(&x); x = 1; later();
             if (x == 2) reach_error();
             return 0;
         }"
    ));
}

#[test]
fn a_pointer_of_which_bytes_were_overwritten_may_be_equal_to_any() {
    assert!(may_reach(
        "void reach_error(void);
         union u { int *p; unsigned char c[8]; };
         int main(void) {
             int x; union u u;
             u.p = &x; u.c[0] = 0;
             if (u.p == &x) reach_error();
             return 0;
         }"
    ));
}

/// Whether a program with a loop that allocates two blocks, `p[0]` and `p[1]`, reaches its error in the
/// run whose inputs are all zero.
fn blocks_reach(size: &str, test: &str) -> bool {
    let unit = load(&format!(
        "void reach_error(void); typedef unsigned long size_t; extern void *malloc(size_t);
         int main(void) {{
             int *p[2];
             for (int i = 0; i < 2; i++) p[i] = malloc({size});
             if ({test}) reach_error();
             return 0;
         }}"
    ));
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    !run(&pool, &encoded, &[]).goals.is_empty()
}

#[test]
fn blocks_of_one_place_do_not_touch_and_have_no_order() {
    for size in ["4", "16", "32", "48"] {
        assert!(blocks_reach(size, &format!("p[0] + {size} / 4 != p[1]")), "{size}");
        assert!(blocks_reach(size, "!(p[0] < p[1])"), "{size}");
        assert!(!blocks_reach(size, "p[0] == p[1]"), "{size}");
    }
}

#[test]
fn an_array_on_the_stack_of_a_32_bit_target_may_be_large() {
    let unit = load_with(
        "void reach_error(void); extern int __VERIFIER_nondet_int(void);
         int main(void) {
             int n = __VERIFIER_nondet_int();
             if (n < 20000000) return 0;
             char a[n];
             a[0] = 1;
             reach_error();
             return 0;
         }",
        &["-m32"],
    );
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    assert!(!run(&pool, &encoded, &[30_000_000]).goals.is_empty());
}

#[test]
fn a_subscript_beyond_an_array_may_reach_the_members_beside_it() {
    let program = |index: &str, test: &str| {
        format!(
            "extern int __VERIFIER_nondet_int(void); void reach_error(void);
             struct s {{ int n; short c[6]; int *p; }};
             int main(void) {{
                 int x = 3, k = __VERIFIER_nondet_int();
                 struct s s = {{1, {{0}}, &x}};
                 s.c[{index}] = 77;
                 if ({test}) reach_error();
                 return 0;
             }}"
        )
    };
    assert!(may_reach(&program("k", "s.n == 77")));
    assert!(may_reach(&program("k", "s.c[2] == 77 && s.p != &x")));
    assert!(!may_reach(&program("3", "*s.p != 3")));
}
