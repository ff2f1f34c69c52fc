//! Input memory that comes into being where a path looks at it: what pointers may lead to, and what
//! the tests of such paths have.

mod common;
#[path = "common/measure.rs"]
mod measure;

use common::{Explored, explore_c_with};
use lydian_inputs::Settings;
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending};

/// Explores `f` with statements and branches; every test must do what is claimed of it.
fn explore(text: &str) -> Explored {
    let settings = Settings { lazy_inputs: true, ..Settings::default() };
    let criteria = [Criterion::Stmt, Criterion::Bc];
    let found = explore_c_with(text, "f", &criteria, &Config::default(), settings);
    measure::confirm(&found);
    found
}

/// Asserts how many branches are covered, and that the others are infeasible without assumptions.
fn branches(text: &str, covered: usize, infeasible: usize) {
    let found = explore(text);
    let names = found.covered(Criterion::Bc);
    assert_eq!(names.len(), covered, "{names:?} {:?}", found.summary);
    if infeasible > 0 {
        assert!(found.summary.complete, "{:?}", found.summary.cuts);
        assert!(found.summary.bounds.is_empty(), "{:?}", found.summary.bounds);
    }
    let all = found.objectives.iter().flat_map(|of| of.criteria.get(&Criterion::Bc));
    assert_eq!(all.flatten().count(), covered + infeasible);
}

#[test]
fn pointers_in_arrays_within_structs_may_be_null() {
    branches(
        "struct n { int v; }; struct a { struct n *c[4]; };
         int f(struct a *t) { if (t->c[1] == 0) return 1; return t->c[2]->v > 5 ? 2 : 3; }",
        4,
        0,
    );
}

#[test]
fn two_pointers_may_lead_to_one_object() {
    branches("int f(int *a, int *b) { *a = 1; *b = 2; if (*a == 2) return 1; return 0; }", 2, 0);
}

#[test]
fn a_pointer_may_lead_to_a_global() {
    branches("int g; int f(int *p) { g = 1; *p = 2; if (g == 2) return 1; return 0; }", 2, 0);
}

#[test]
fn lists_may_be_rings() {
    branches(
        "struct l { struct l *next; int v; };
         int f(struct l *h) {
             h->v = 0; h->next->v = 1; h->next->next->v = 2;
             if (h->v == 2) return 1;
             if (h->v == 1) return 2; /* then it points to itself, and the last write was to it */
             return 0;
         }",
        3,
        1,
    );
}

#[test]
fn elements_at_any_index_are_the_same_at_each_look() {
    branches(
        "int f(int *a, unsigned i) {
             if (a[i] > 5) { if (a[i] < 3) return 9; return 1; }
             return 0;
         }",
        3,
        1,
    );
}

#[test]
fn a_buffer_may_lie_within_another() {
    branches(
        "int f(char *a, char *b) {
             a[0] = 1; b[0] = 2; b[1] = 7;
             if (a[0] == 2) return 1;
             if (a[0] == 7) return 2;
             return 0;
         }",
        4,
        0,
    );
}

#[test]
fn a_pointer_that_is_compared_for_order_leads_into_the_same_object() {
    branches(
        "int f(const char *p, const char *end) {
             int n = 0;
             while (p < end && n < 4) { if (*p == 'x') n++; p++; }
             if (n == 3) return 1;
             return 0;
         }",
        8,
        0,
    );
}

#[test]
fn the_struct_around_a_member_comes_into_being_with_it() {
    branches(
        "struct link { struct link *next; }; struct item { int key; struct link link; };
         int f(struct link *l) {
             if (!l) return 0;
             struct item *it = (struct item *)((char *)l - __builtin_offsetof(struct item, link));
             if (it->key == 77) return 1;
             return 0;
         }",
        4,
        0,
    );
}

#[test]
fn what_a_void_pointer_leads_to_is_what_the_code_takes_it_for() {
    branches(
        "struct n { int v; struct n *next; };
         int f(void *p) {
             struct n *n = p;
             if (n->v == 5 && n->next && n->next->v == 6) return 1;
             return 0;
         }",
        6,
        0,
    );
}

#[test]
fn a_flexible_array_has_as_many_elements_as_are_used() {
    branches(
        "struct s { int n; char d[]; };
         int f(struct s *s) {
             int sum = 0;
             for (int i = 0; i < s->n && i < 5; i++) sum += s->d[i];
             if (sum == 300) return 1;
             return 0;
         }",
        6,
        0,
    );
}

#[test]
fn blocks_of_the_inputs_may_be_freed_once() {
    let text = "
        #include <stdlib.h>
        struct n { int v; struct n *next; };
        int f(struct n *n, int again) {
            int k = 0;
            while (n && k < 2) { struct n *next = n->next; free(n); if (again) free(n); n = next; k++; }
            if (k == 2) return 1;
            return 0;
        }";
    let found = explore(text);
    assert!(found.summary.paths.contains_key(&Ending::Trapped(TrapKind::BadFree)));
    let ended_well = found.tests.iter().filter(|test| test.ending == Ending::Returned);
    assert!(ended_well.count() >= 2);
}

#[test]
fn a_block_of_the_inputs_may_be_made_larger() {
    branches(
        "#include <stdlib.h>
         struct vec { int *data; unsigned n, cap; };
         int f(struct vec *v, int x) {
             if (v->n == v->cap) {
                 int *d = realloc(v->data, (v->n + 1) * sizeof *d);
                 if (!d) return -1;
                 v->data = d;
             }
             v->data[v->n] = x;
             return 0;
         }",
        4,
        0,
    );
}

#[test]
fn a_static_local_has_its_first_value_only_as_is_assumed() {
    let text = "int f(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }";
    let settings = Settings { lazy_inputs: true, ..Settings::default() };
    let found = explore_c_with(text, "f", &[Criterion::Bc], &Config::default(), settings);
    let bounds: Vec<String> = found.summary.bounds.iter().map(|b| b.sentence.clone()).collect();
    assert_eq!(bounds, ["the static variable calls has its first value"]);
}

#[test]
fn nothing_is_claimed_of_memory_that_the_program_names_by_its_address() {
    let text = "
        int f(void) {
            while (!(*(volatile unsigned *)0x40011000 & 0x80)) {}
            return 1;
        }";
    let found = explore(text);
    assert!(!found.summary.complete, "{:?}", found.summary);
}

#[test]
fn two_reads_of_volatile_memory_need_not_agree() {
    let found = explore("int f(volatile int *p) { if (*p != *p) return 1; return 0; }");
    assert!(!found.summary.complete, "{:?}", found.summary);
}

#[test]
fn a_test_has_no_byte_but_zero_that_its_run_does_not_read() {
    let text = "
        struct big { int a, b, c; char text[20]; struct big *other; };
        int f(struct big *p) { if (p->b == 1234) return 1; return 0; }";
    for test in explore(text).tests {
        for object in &test.test.objects {
            let read = 4..8;
            let others = object.image.bytes.iter().enumerate().filter(|(at, _)| !read.contains(at));
            assert!(others.into_iter().all(|(_, byte)| *byte == 0), "{:?}", object.image);
            assert!(object.image.pointers.is_empty());
        }
    }
}
