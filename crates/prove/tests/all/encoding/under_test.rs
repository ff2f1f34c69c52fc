//! Functions under test: parameters, globals and memory behind pointers are inputs.

use lydian_smt::{Answer, BitBlastSolver, Limits, SatBackend, Solver, TermPool};

use super::common::{encoded, load};

/// Whether a function without loops may call `reach_error`.
fn reaches(c: &str) -> bool {
    let unit = load(&format!("extern void reach_error(void); {c}"));
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "f");
    let mut solver = BitBlastSolver::new(SatBackend::default());
    let goals = encoded.system.goals.values();
    let conditions: Vec<_> =
        goals.flat_map(|goal| &goal.approaches).map(|approach| approach.condition).collect();
    conditions.into_iter().any(|condition| {
        match solver.check(&mut pool, &[condition], &Limits::default()) {
            Answer::Sat(_) => true,
            Answer::Unsat { .. } => false,
            Answer::Unknown(reason) => panic!("{reason}"),
        }
    })
}

#[test]
fn parameters_and_globals_have_any_value() {
    assert!(reaches("void f(int a, int b) { if (a > b && a - b == 7) reach_error(); }"));
    assert!(!reaches("void f(int a) { if (a > 3 && a < 2) reach_error(); }"));
    assert!(reaches("static int g = 3; void f(void) { if (g == 4) reach_error(); }"));
    assert!(!reaches("static const int g = 3; void f(void) { if (g == 4) reach_error(); }"));
    assert!(reaches(
        "struct s { int x; char c[4]; };
         void f(struct s s) { if (s.x == 4 && s.c[2] == 'q') reach_error(); }"
    ));
}

#[test]
fn reads_of_one_place_behind_a_pointer_agree() {
    assert!(reaches("void f(int *p) { if (*p == 3) reach_error(); }"));
    assert!(!reaches("void f(int *p) { if (*p > 3) if (*p < 2) reach_error(); }"));
    assert!(reaches("void f(int *p, int *q) { if (*p > 3) if (*q < 2) reach_error(); }"));
    assert!(!reaches("void f(int *p) { if (p) return; if (*p) reach_error(); }"));
    assert!(!reaches(
        "struct s { int n; struct s *next; };
         void f(struct s *p) { if (p->next->n == 1 && p->next->n != 1) reach_error(); }"
    ));
}

#[test]
fn a_write_behind_a_pointer_is_found_there_and_may_hit_what_other_pointers_lead_to() {
    assert!(!reaches("void f(int *p) { *p = 5; if (*p != 5) reach_error(); }"));
    assert!(reaches("void f(int *p, int *q) { *p = 5; *q = 6; if (*p != 5) reach_error(); }"));
    assert!(reaches("int g; void f(int *p) { g = 1; *p = 2; if (g == 2) reach_error(); }"));
    assert!(reaches("int g; void f(int *p) { *p = 2; g = 1; if (*p == 1) reach_error(); }"));
    assert!(!reaches("void f(int *p) { int x = 1; *p = 2; if (x == 2) reach_error(); }"));
    assert!(reaches("void f(int **p) { int x = 1; *p = &x; **p = 2; if (x == 2) reach_error(); }"));
    assert!(reaches(
        "void f(int **p) { int x; *p = &x; if (((unsigned char *)p)[1] == 9) reach_error(); }"
    ));
    assert!(!reaches(
        "struct s { unsigned a : 3; unsigned b : 5; };
         void f(struct s *p) { p->a = 5; p->b = 9; if (p->a != 5 || p->b != 9) reach_error(); }"
    ));
}

#[test]
fn code_that_is_not_known_may_change_memory_behind_pointers() {
    assert!(reaches(
        "extern void unknown(void);
         void f(int *p) { *p = 1; unknown(); if (*p == 2) reach_error(); }"
    ));
    assert!(reaches(
        "extern int *unknown(void);
         void f(int *p) { *p = 1; *unknown() = 2; if (*p == 2) reach_error(); }"
    ));
}
