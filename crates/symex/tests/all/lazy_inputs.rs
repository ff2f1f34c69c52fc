//! Lazy input memory: the possible targets of pointers, and the contents of the tests of such
//! paths.

use std::collections::BTreeSet;

use lydian_ir::TrapKind;
use lydian_ir::test::{PointerTarget, Test};
use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, Ending, LeftLabel};

use crate::common::lazy::{branches, explore, rests_on};
use crate::common::{explore_c, measure};

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
fn lists_may_be_circular() {
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
fn the_use_of_a_void_pointer_gives_the_type_of_its_target() {
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
fn nothing_is_claimed_about_memory_at_an_address_named_by_the_program() {
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
    assert!(found.summary.left.is_empty(), "{:?}", found.summary);
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

/// Structs with arrays of numbers, of arrays and of structs, for the tests of subscripts.
const ARRAYS: &str = "
    struct in { char name[8]; int v[3]; };
    struct s { char head[16]; int m[4][3]; struct in sub[5]; unsigned char buf[300];
               union { unsigned char b[16]; unsigned w[4]; } u; };
";

#[test]
fn arrays_within_structs_are_read_and_written_at_any_index() {
    let all_covered = [
        "int f(struct s *s, int e, int i) {
             if (e < 0 || e > 3 || i < 0 || i > 7) return 0;
             if (s[e].head[i] == 'x' && e == 2 && i == 5) return 1;
             return 2;
         }",
        "int f(struct s *s, int i, int j) {
             s->sub[i].name[j] = 'q';
             if (s->sub[4].name[7] == 'q' && i == 4) return 1;
             return 2;
         }",
        "int f(struct s *s, int i, int j) {
             s->sub[i].v[j] = 5;
             if (s->sub[1].v[2] == 5 && s->sub[1].v[1] != 5) return 1;
             return 0;
         }",
        "void *memcpy(void *, const void *, unsigned long);
         int f(struct s *s, struct s *t, int i) {
             memcpy(&s->sub[i], &t->sub[2], sizeof s->sub[0]);
             if (s->sub[3].v[1] == 9 && s->sub[3].name[2] == 'z') return 1;
             return 0;
         }",
        "int f(struct s *s, unsigned i) {
             if (i < 200 && s->buf[i] == 3 && s->buf[i + 99] == 4) return 1;
             return 0;
         }",
        "int f(struct s *s, unsigned i) {
             s->u.w[1] = 0x01020304;
             if (s->u.b[i] == 2) return 1;
             return 0;
         }",
    ];
    for text in all_covered {
        let found = explore(&format!("{ARRAYS}{text}"));
        let all = found.objectives.iter().flat_map(|of| of.criteria.get(&Criterion::Bc));
        assert_eq!(found.covered(Criterion::Bc).len(), all.flatten().count(), "{text}");
    }
}

#[test]
fn a_subscript_stays_within_its_array() {
    branches(
        &format!(
            "{ARRAYS} int f(struct s *s, int i, int j) {{
                 s->sub[2].name[0] = 1;
                 s->m[i][j] = 4;
                 if (s->sub[2].name[0] != 1) return 9;
                 if (i > 3) return 8;
                 return 0;
             }}"
        ),
        2,
        2,
    );
}

#[test]
fn a_walk_over_the_bytes_of_a_struct_claims_nothing() {
    let walk =
        "int f(struct s *s, int k) { char *p = (char *)s; if (p[k] == 'm') return 1; return 0; }";
    let found = explore(&format!("{ARRAYS}{walk}"));
    assert!(!found.summary.complete || found.covered(Criterion::Bc).len() == 2);
}

#[test]
fn a_walk_from_a_member_to_others_of_its_type_leads_there_unless_the_struct_has_pointers() {
    let walk = |members: &str| {
        let text = format!(
            "struct s {{ {members} }};
             int f(struct s *s, int i) {{ return (&s->x)[i] == 5 && i == 1 ? 1 : 2; }}"
        );
        explore(&text).summary.left
    };
    let is_settled = |left: &[LeftLabel]| left.iter().all(|left| left.reasons.is_empty());
    assert!(walk("long a; int x; int y;").is_empty());
    assert!(!is_settled(&walk("char *a; int x; int y;")));
    assert!(is_settled(&walk("long a; int x; float y;")));
}

#[test]
fn a_pointer_may_lead_to_the_struct_around_the_target_of_another() {
    let item = "struct node { struct node *next, *prev; };
                struct item { int key; struct node link; char tag; char *text; };";
    branches(
        &format!(
            "{item} int f(const char *s, struct item *it) {{
                 if (s[0] == 'x' && it->tag == 'x' && it->text && it->text[0] == 'q') {{
                     it->tag = 'y';
                     if (s[0] == 'y') return 2;
                     return 1;
                 }}
                 return 0;
             }}"
        ),
        10,
        0,
    );
    branches(
        &format!(
            "{item} int f(struct node *n, struct item *it) {{
                 n->next = 0;
                 if (it->link.next == 0 && it->key == 9) return 1;
                 return 0;
             }}"
        ),
        4,
        0,
    );
    branches(
        &format!(
            "{item} void free(void *);
             int f(struct node *n) {{
                 struct item *it = (struct item *)((unsigned long)n - 8);
                 if (!n) return 0;
                 if (it->key < 0) {{ free(it); return 1; }}
                 if (it->key < -3) return 9;
                 return 0;
             }}"
        ),
        5,
        1,
    );
}

#[test]
fn blocks_of_the_inputs_are_reallocated_whatever_their_size() {
    branches(
        "void *realloc(void *, unsigned long);
         struct v { int *data; unsigned n; };
         int f(struct v *v, unsigned n) {
             int *new;
             if (n < 2 || n > 1000000 || !v->data) return 0;
             new = realloc(v->data, n * sizeof *new);
             if (!new) return 1;
             v->data = new;
             if (new[1] == 5) return 2;
             if (new[1] == 5) return 3;
             return 4;
         }",
        11,
        1,
    );
}

#[test]
fn order_of_pointers_holds_however_many_places_they_may_lead_to() {
    branches(
        "struct s { unsigned char id; char b, c; unsigned char v, num, last;
                    unsigned char *data, *end; unsigned crc; struct s *next; };
         unsigned table[256];
         void f(struct s *s) {
             unsigned char *p = s->data;
             s->crc = 0xffffffff;
             while (p < s->end) {
                 s->crc = (s->crc << 8) ^ table[(s->crc >> 24) ^ *p];
                 p++;
             }
             s->end[0] = s->crc >> 24;
         }",
        2,
        0,
    );
}

#[test]
fn blocks_have_any_size_without_a_path_for_each() {
    branches(
        "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);
         void *realloc(void *, unsigned long); void free(void *);
         int f(unsigned n, unsigned i) {
             int *a, *b;
             if (n > 1000000 || i >= n) return 0;
             a = malloc(n * sizeof *a);
             b = calloc(n, sizeof *b);
             if (!a || !b) return 1;
             a[i] = 7;
             a = realloc(a, (n + 1) * sizeof *a);
             if (!a) return 2;
             if (a[i] != 7 || b[i] != 0) return 9;
             if (i == 999999) return 3;
             return 4;
         }",
        14,
        2,
    );
}

#[test]
fn no_more_bytes_are_copied_than_an_object_can_have() {
    branches(
        "void *memcpy(void *, const void *, unsigned long);
         int f(char *to, const char *from, int n) {
             if (n > 20) return 0;
             memcpy(to, from, n);
             if (n < 0) return 9; /* that many bytes as an unsigned number */
             if (n == 3 && to[2] == 'x') return 1;
             return 2;
         }",
        7,
        1,
    );
}

#[test]
fn labels_covered_before_union_bits_are_followed_as_a_pointer_are_in_a_test() {
    let text = "
        typedef union { long *p; long number; } top;
        int f(top *top, int op) {
            if (op != 12 && op != 13) return 1;
            return *top->p == 5;
        }";
    let found = explore(text);
    assert!(found.summary.left.is_empty(), "{:?}", found.summary.left);
    let covered: BTreeSet<_> = found.tests.iter().flat_map(|test| &test.covers).collect();
    assert_eq!(covered.len(), found.summary.covered.len());
}

#[test]
fn a_pointer_may_lead_into_an_array_of_structs_of_any_size() {
    let structs = "struct e { int a; char *b; };
         struct c { int before; struct e st[10]; struct e *os; };";
    branches(
        &format!(
            "{structs} int f(struct c *c) {{
                 if (c->os == c->st) {{ c->os->a = 5; return c->st[0].a == 5 ? 1 : 2; }}
                 return 0;
             }}"
        ),
        3,
        1,
    );
    branches(
        &format!(
            "{structs} int f(struct c *c) {{
                 if (c->os > c->st) return 7;
                 if (c->os->a == 3) return 1;
                 return 0;
             }}"
        ),
        4,
        0,
    );
}

#[test]
fn pointers_that_are_compared_for_order_lie_in_one_object() {
    branches(
        "struct e { int a; char *b; }; struct c { int before; struct e st[10]; struct e *os; };
         int f(struct c *c) {
             if (c->os->a == 7) return 3;
             if (c->os > c->st) { c->os->a = 5; return 7; }
             return 0;
         }",
        4,
        0,
    );
}

#[test]
fn an_object_first_followed_as_a_part_may_be_the_larger_struct() {
    let structs = "
        struct base { struct base *next; };
        struct derived { struct base base; long kind; };
        struct small { struct base base; int low, high; };
        struct link { struct link *next, *prev; };
        struct job { int id; int priority; struct link link; double cost; };";
    let job = "((struct job *)((char *)l - __builtin_offsetof(struct job, link)))";
    // No variable has any of the larger types; only pointers are used with them.
    for (condition, pointer) in [
        ("((struct derived *)b)->kind == 5", "struct base *b"),
        ("((struct derived *)b)->kind == -1", "struct base *b"),
        ("((struct small *)b)->high == 5", "struct base *b"),
        (&format!("{job}->priority == 5"), "struct link *l"),
        (&format!("{job}->cost > 1.0"), "struct link *l"),
    ] {
        let name = &pointer[pointer.len() - 1..];
        let text = format!(
            "{structs} int f({pointer}) {{
                 if ({name}->next == 0) return 0;
                 if ({condition}) return 1;
                 return 2;
             }}"
        );
        branches(&text, 4, 0);
    }
}

#[test]
fn the_pointer_of_a_circular_list_may_lead_to_its_head_or_to_a_member_of_a_larger_struct() {
    branches(
        "struct link { struct link *next, *prev; };
         struct job { int id; int priority; struct link link; };
         struct queue { struct link jobs; int count; };
         int f(struct queue *q) {
             struct link *node;
             for (node = q->jobs.prev; node && node != &q->jobs; node = node->prev) {
                 struct job *job = (void *)((char *)node - __builtin_offsetof(struct job, link));
                 if (job->priority >= 3) break;
             }
             if (node == 0) return 2;
             node->next->prev = node; /* of the head itself where the ring is empty */
             if (q->jobs.next == &q->jobs) return 1;
             return 0;
         }",
        10,
        0,
    );
}

#[test]
fn a_number_read_where_a_pointer_lies_rests_on_an_assumption() {
    let text = "int f(void **p) { if (p[1] == 0) return 0; return ((long *)p)[1] == 5 ? 1 : 2; }";
    assert_eq!(rests_on(text), ["where p[1] points to is a number that Lydian chose"]);
}

#[test]
fn bytes_may_be_read_as_a_pointer_to_an_object_of_the_path() {
    let text = "
        struct block { unsigned long size; struct block *next; };
        int f(unsigned char *p) {
            struct block *block;
            if (*p == 3) return 2;
            block = (struct block *)p;
            if (block->next == block) return 1;
            return 0;
        }";
    let found = explore(text);
    let leads_to_itself = |test: &Test| {
        let pointers = test.objects.iter().enumerate().map(|(at, object)| (at, &object.image));
        pointers.into_iter().any(|(at, image)| {
            let to = PointerTarget::Object(at as u32, 0);
            image.pointers.iter().any(|pointer| pointer.offset == 8 && pointer.target == to)
        })
    };
    assert!(found.tests.iter().any(|test| leads_to_itself(&test.test)), "{:?}", found.tests);
}

#[test]
fn the_low_bits_of_an_address_are_what_its_type_s_alignment_says() {
    for mask in ["3", "(__alignof__(*p) - 1)", "(sizeof *p - 1)"] {
        let text = format!(
            "int f(int *p) {{ if (p == 0 || ((unsigned long)p & {mask})) return 1; return *p; }}"
        );
        branches(&text, 3, 1);
        assert!(rests_on(&text).is_empty(), "{mask}: {:?}", rests_on(&text));
    }
    let beyond = "int f(int *p) { if ((unsigned long)p & (sizeof(long) - 1)) return 1; return 0; }";
    assert!(!rests_on(beyond).is_empty(), "a pointer to int may have that bit");
}

#[test]
fn a_pointer_may_lead_to_a_member_of_any_element() {
    branches(
        "struct ring { struct ring *next, *prev; };
         struct owner { long kind, more; struct ring head; };
         int f(struct owner *o, struct ring *r) {
             o[1].head.next = 0;
             r->next = r;
             if (o[1].head.next == r) return 1;
             return 0;
         }",
        2,
        0,
    );
    branches(
        "struct row { int kind; int cells[3]; };
         int f(struct row *rows, int *cell, unsigned i) {
             rows[i].cells[2] = 1;
             *cell = 7;
             if (rows[i].cells[2] == 7) return 1;
             return 0;
         }",
        2,
        0,
    );
}

#[test]
fn unreachable_labels_are_infeasible_where_some_tests_would_be_too_large() {
    let found = explore(
        "int f(const int *a, unsigned i) {
             if (i < 600000) return 0;
             if (i > 700000) return 1;
             if (a[i] == 3 && i == 5) return 2;
             return 3;
         }",
    );
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    // `i == 5`, and the statement behind it.
    let infeasible = found.summary.left.iter().filter(|left| left.reasons.is_empty());
    assert_eq!(infeasible.count(), 2, "{:?}", found.summary.left);
}

#[test]
fn a_struct_lies_around_its_member_only_with_all_that_was_accessed() {
    branches(
        "struct buffer { char *text; int column; };
         int f(struct buffer **stack) {
             if (!stack[20]) return 0;
             return stack[20]->column == 7 ? 1 : 2;
         }",
        4,
        0,
    );
}

#[test]
fn a_pointer_to_a_member_may_be_moved_to_the_next_members_of_its_type_alone() {
    let texts = [
        "struct s { int x, y, z; };
         int f(struct s *s, int *a) { unsigned t = a[2]; s->z = t + 1; return a[2] == t ? 0 : 1; }",
        "struct s { int x, y; };
         int f(struct s *s, int *a) { s->y = a[1]; return &s->y == a + 1 ? 0 : 1; }",
        "struct s { int a[3]; int b; };
         int f(struct s *s, int *a) { unsigned t = a[3]; s->b = t + 1; return a[3] == t ? 0 : 1; }",
    ];
    for text in texts {
        branches(text, 2, 0);
    }
    branches(
        "struct s { int x; float y; int z; };
         int f(struct s *s, int *a) { unsigned t = a[2]; s->z = t + 1; return a[2] == t ? 0 : 1; }",
        1,
        1,
    );
}

#[test]
fn a_pointer_may_lead_to_any_element_of_an_array_within_a_struct_that_is_looked_at_later() {
    branches(
        "struct s { int k; int m[3]; };
         int f(int *a, struct s *s) { *a = 1; s->m[1] = 2; if (*a == 2) return 1; return 0; }",
        2,
        0,
    );
    branches(
        "struct s { int k; int m[3]; };
         int f(int *a, struct s *s) {
             *a = 1; s->m[1] = 2; s->k = 3;
             if (*a == 2) return s->m[2] == 7 ? 1 : 2;
             return *a == 3 ? 3 : 4;
         }",
        6,
        0,
    );
}

#[test]
fn a_link_leads_to_the_struct_around_another_link() {
    branches(
        "struct link { struct link *prev, *next; };
         struct entry { int event; struct link link; };
         int f(struct link *head, struct link *other) {
             if (other->next == head) return 0;
             struct entry *e = (struct entry *)((char *)head->next - 8);
             e->link.prev = 0;
             e->event = 3;
             if (head->next == other && !other->prev) return 1;
             return other->prev ? 2 : 3;
         }",
        7,
        1,
    );
}

#[test]
fn a_choice_of_pointers_is_compared_as_the_pointer_that_it_is() {
    branches(
        "int f(char *a, char *b, char *end, int which) {
             char *p = which ? a : b;
             if (p < end) { if (which && a == b) return 1; return 2; }
             return *a == 'x' ? 3 : 4;
         }",
        10,
        0,
    );
}

#[test]
fn a_pointer_may_lead_into_any_element_of_an_array_of_structs_that_is_looked_at_later() {
    branches(
        "struct s { int k, m; };
         int f(int *a, struct s *s) { *a = 1; s[1].m = 2; if (*a == 2) return 1; return 0; }",
        2,
        0,
    );
    branches(
        "int f(int *a, int *b) { a[1] = 1; b[2] = 2; if (a[1] == 2) return 1; return 0; }",
        2,
        0,
    );
}

#[test]
fn volatile_memory_is_read_again_through_whatever_pointer() {
    let found = explore(
        "int f(volatile int *p, volatile int *q) {
            int a = *p;
            int b = *q;
            if (p == q && a == 1 && b == 2) return 1;
            return 0;
        }",
    );
    let left = found.summary.left.iter().filter(|left| left.reasons.is_empty());
    assert_eq!(left.count(), 0, "{:?}", found.summary);
}

#[test]
fn a_string_not_followed_to_its_end_leaves_only_labels_open_that_depend_on_its_length() {
    branches(
        "unsigned long strlen(const char *);
         void put(const char *text, unsigned long length);
         int f(const char *s, int a) {
             put(s, strlen(s));
             if (a > 3) return a < 2 ? 1 : 2;
             return 0;
         }",
        3,
        1,
    );
}

#[test]
fn a_test_allocates_no_more_than_a_machine_has_where_less_will_do() {
    let text = "
        void *malloc(unsigned long);
        void free(void *);
        int f(int width, int height) {
            unsigned size = (unsigned)((long)width * height);
            if (size >= 1u << 30) return 3;
            char *red = malloc(size), *green = malloc(size), *blue = malloc(size);
            if (!red || !green || !blue) return 1;
            if (width == 100 && height < 0 && size > 5000) return 2;
            free(red); free(green); free(blue);
            return 0;
        }";
    let found = explore(text);
    assert_eq!(found.covered(Criterion::Bc).len(), 14, "{:?}", found.summary);
    for test in &found.tests {
        let args = test.test.args.iter();
        let numbers: Vec<i64> = args
            .map(|arg| i64::from(i32::from_le_bytes(arg.bytes[..4].try_into().expect("an int"))))
            .collect();
        let size = (numbers[0] * numbers[1]) as u32;
        assert!(size <= 43 << 20 || size >= 1 << 30, "{numbers:?}: {size}");
    }
}

#[test]
fn labels_ahead_of_a_dependence_on_unwritten_memory_are_not_infeasible() {
    let texts = [
        "int f(int a, int b) {
            int x, r = 0;
            if (a > 3) r = 1;
            if (x > 2) r += 2;
            if (b == 7) return r + 5;
            if (b == 9) return r;
            return 0;
        }",
        "int f(unsigned a, int b) {
            int x, r = 0;
            if (b > 100) r = 1;
            for (unsigned i = 0; i < a; i++) {
                if (x > (int)i) r += 2;
                if (i == 3 && b == 200) return r;
                if (i == 80) return 7;
            }
            return b == 9 ? 1 : 0;
        }",
    ];
    for text in texts {
        let found = explore(text);
        let left = found.summary.left.iter().filter(|left| left.reasons.is_empty());
        assert_eq!(left.count(), 0, "{:?}", found.summary);
        assert!(!found.summary.left.is_empty());
    }
}

#[test]
fn a_block_is_freed_where_it_begins_whatever_its_address_is_made_from() {
    branches(
        "void free(void *);
         int f(char *t, long n) {
             if (!t) return 0;
             char *p = t - n;
             free(p);
             return n ? 1 : 2;
         }",
        3,
        1,
    );
}

#[test]
fn a_pointer_that_the_input_moves_stays_in_its_object_where_it_is_compared() {
    branches(
        "struct s { int x; char *p; };
         int f(struct s *s, long n) { return (char *)s - n == s->p ? 1 : 0; }",
        2,
        0,
    );
    branches("int f(char *s, char *t, long n) { return s - n == t ? *t : 0; }", 2, 0);
}

#[test]
fn a_pointer_found_equal_to_another_has_the_same_target() {
    branches(
        "struct s { int x; char *p; };
         int f(struct s *s) {
             if (!s || s->p != (char *)s) return 0;
             s->x = 77;
             return s->p[0] == 77 ? 1 : 2;
         }",
        5,
        1,
    );
    branches(
        "struct s { int x; struct s *next; };
         int f(struct s *s, char *p) {
             if (!s || p != (char *)&s->next) return 0;
             return *(struct s **)p == s ? 1 : 2;
         }",
        6,
        0,
    );
    branches(
        "struct s { int x; char *p; };
         void free(void *);
         int f(struct s *s) {
             if (!s || s->p != (char *)s) return 0;
             free(s->p);
             return s ? 1 : 2;
         }",
        5,
        1,
    );
}

#[test]
fn an_address_in_bytes_that_leads_far_behind_their_object_is_a_pointer_in_the_test() {
    let found = explore(
        "struct block { unsigned long size; struct block *next; };
         int f(unsigned char *start, unsigned char *end, unsigned char *at) {
             if (at < start + 16 || at >= end) return 0;
             if ((unsigned long)(at - start) % 16) return 0;
             struct block *block = (struct block *)at - 1;
             struct block *after = block->next;
             if (after <= block || block->size < 100000) return 1;
             if ((unsigned char *)(block + 1) + block->size == (unsigned char *)after) return 2;
             return 3;
         }",
    );
    assert!(found.summary.left.is_empty(), "{:#?}", found.summary);
}

#[test]
fn a_label_whose_test_would_be_too_large_is_left_for_that_reason() {
    let found = explore_c(
        "int f(int *a, unsigned i) { if (i >= 2) return 0; return a[i / 3000000]; }",
        "f",
        &[Criterion::Wm],
        &Config::default(),
    );
    measure::confirm(&found);
    let bytes =
        |test: &Test| -> usize { test.objects.iter().map(|object| object.image.bytes.len()).sum() };
    assert!(found.tests.iter().all(|found| bytes(&found.test) < 8 << 20));
    let reasons = found.summary.left.iter().map(|label| format!("{label:?}"));
    assert!(reasons.into_iter().any(|why| why.contains("7 MiB")), "{:#?}", found.summary.left);
}

#[test]
fn a_block_of_the_inputs_that_is_moved_has_a_size_that_a_run_can_have() {
    let found = explore(
        "void *realloc(void *block, unsigned long size);
         int f(char *text, unsigned long size, unsigned long other) {
             if (!text || !size || !other) return 0;
             text = realloc(text, size);
             if (!text) return 1;
             if (size > 900000000) return 2;
             text = realloc(text, other);
             if (!text) return 3;
             return 4;
         }",
    );
    let left = &found.summary.left;
    assert_eq!(left.len(), 2, "{left:#?}");
    let is_too_large = |reasons: &[Cut]| format!("{reasons:?}").contains("128 MiB");
    assert!(left.iter().all(|label| is_too_large(&label.reasons)), "{left:#?}");
}
