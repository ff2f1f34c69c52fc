//! Bounds on inputs that nobody stated: which of them make a difference, and whether the others
//! really do not.

use std::collections::BTreeSet;
use std::time::Duration;

use lydian_base::Rng;
use lydian_inputs::{Settings, SettingsError};
use lydian_objective::{Assumption, AssumptionKind, Criterion};
use lydian_symex::{Config, Cut, LabelRef, LeftLabel, Limits, Undetermined};

use crate::common::{Explored, explore_c_with, guessed};

const BRANCHES: [Criterion; 2] = [Criterion::Dc, Criterion::Cc];
const MUTANTS: [Criterion; 1] = [Criterion::Wm];

/// Settings in which every default size is at least twice as large.
const LARGER: &str = "[defaults]\nmax-string = 40\nmax-length = 40\nmax-records = 16\ndepth = 6\n";

/// Stated settings, with guesses for the rest.
fn guessed_but(text: &str) -> Result<Settings, SettingsError> {
    Ok(Settings { lazy_inputs: false, ..Settings::from_toml_str(text)? })
}

fn config() -> Config {
    let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
    Config { limits, stop_when_covered: false, look_ahead: false, ..Config::default() }
}

/// Explores `f` within default bounds. The exploration must be complete.
fn explored(text: &str, criteria: &[Criterion]) -> Explored {
    let found = explore_c_with(text, "f", criteria, &config(), guessed());
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    found
}

/// The sentences of some assumptions.
fn sentences(all: &[Assumption]) -> Vec<&str> {
    all.iter().map(|assumption| assumption.sentence.as_str()).collect()
}

#[track_caller]
fn makes_a_difference(text: &str, criteria: &[Criterion], bound: &str) {
    let bounds = explored(text, criteria).summary.bounds;
    let bounds = sentences(&bounds);
    assert!(bounds.iter().any(|sentence| sentence.contains(bound)), "{bounds:?}");
}

#[track_caller]
fn makes_none(text: &str, criteria: &[Criterion], assumption: &str) {
    let summary = explored(text, criteria).summary;
    assert_eq!(summary.bounds, Vec::new());
    let assumed = sentences(&summary.assumptions).into_iter();
    let mut told = assumed.chain(summary.preconditions.iter().map(String::as_str));
    assert!(told.any(|sentence| sentence.contains(assumption)), "{summary:?}");
}

/// The bounds that each of the user's labels that are left meets, where the program itself meets
/// none.
#[track_caller]
fn bounds_of_labels(text: &str) -> Vec<String> {
    let summary = explored(text, &[Criterion::User]).summary;
    assert_eq!(summary.bounds, Vec::new());
    summary.left.iter().map(|label| sentences(&label.bounds).join("; ")).collect()
}

#[test]
fn a_string_with_few_read_characters_may_be_longer_without_a_bound() {
    let text = "int f(const char *s) { return s[0] == 'a' && s[1] == 'b' && s[6] == 'c'; }";
    let told = "s has at most 16 characters, of which no path uses more than";
    makes_none(text, &BRANCHES, told);
    makes_none(text, &MUTANTS, told);
}

#[test]
fn a_model_that_stops_early_reads_no_further() {
    let text = "int strncmp(const char *, const char *, unsigned long);
        void *memcpy(void *, const void *, unsigned long);
        int f(const char *s, unsigned key) {
            char b[8];
            if (key > 8) return 0;
            memcpy(b, s, key);
            if (key > 2 && b[1] == 'x') return 1;
            return strncmp(s, \"key\", 3) == 0;
        }";
    makes_none(text, &BRANCHES, "s has at most 16 characters, ");
}

#[test]
fn an_index_that_the_path_limits_reads_no_further() {
    let text = "int f(const int *a, unsigned i) { if (i < 5) return a[i * 2 + 1] > 3; return 0; }";
    makes_none(text, &BRANCHES, "a has at most 16 elements, and no path uses more");
}

#[test]
fn a_walk_to_the_end_of_a_string_meets_its_bound() {
    let bound = "s has at most 16 characters";
    let strlen = "unsigned long strlen(const char *);\n";
    let call = format!("{strlen}int f(const char *s) {{ return strlen(s) > 20 ? 1 : 0; }}");
    makes_a_difference(&call, &BRANCHES, bound);
    let walk = "int f(const char *s) { int n = 0; while (s[n]) n++; return n > 20 ? 1 : 0; }";
    makes_a_difference(walk, &BRANCHES, bound);
    let chr = "void *memchr(const void *, int, unsigned long);
        int f(const char *s) { if (memchr(s, 'x', 40)) return 1; return 0; }";
    makes_a_difference(chr, &BRANCHES, bound);
}

#[test]
fn an_index_from_the_input_meets_the_bound() {
    let text = "int f(const char *s, int i) { if (s[i] == 'x') return 1; return 0; }";
    makes_a_difference(text, &BRANCHES, "s has at most 16 characters");
    let constant = "int f(const char *s) { if (s[20] == 'x') return 1; return 0; }";
    makes_a_difference(constant, &BRANCHES, "s has at most 16 characters");
    let write = "int f(int *a, int i) { a[i] = 3; if (i > 20) return 1; return a[i + 1]; }";
    makes_a_difference(write, &BRANCHES, "a has at most 16 elements");
}

#[test]
fn a_predicate_that_reads_beyond_a_bound_meets_it_for_its_label_alone() {
    let text = "int f(const char *s) {
            lydian_label(\"beyond\", s[20] == 'x'); lydian_label(\"never\", s[3] > 300);
            return s[5]; }";
    makes_none(text, &BRANCHES, "no path uses more than 6");
    assert_eq!(bounds_of_labels(text), ["s has at most 16 characters", ""]);
}

#[test]
fn a_mutant_that_alone_reads_before_an_array_assumes_that_nothing_lies_there() {
    let text = "int f(const int *a) { int i = 0; return a[i] > 3 ? 1 : 0; }";
    let told = Assumption::new(
        AssumptionKind::LeadingElements,
        "a",
        "nothing lies before the elements of a",
    );
    let found = explored(text, &MUTANTS);
    assert!(found.summary.assumptions.contains(&told), "{:?}", found.summary.assumptions);
    assert!(found.summary.left.iter().all(|label| label.bounds.is_empty()));
    let branches = explored(text, &BRANCHES).summary;
    assert!(!branches.assumptions.contains(&told), "{:?}", branches.assumptions);
    // With elements before, the same mutants are covered.
    let settings =
        guessed_but("[function.f.places]\na = { kind = \"array\", length = 4, before = 2 }\n")
            .unwrap();
    let before = explore_c_with(text, "f", &MUTANTS, &config(), settings).summary;
    assert!(before.left.len() < found.summary.left.len(), "{:?}", before.left);
    assert!(!before.assumptions.contains(&told), "{:?}", before.assumptions);
}

#[test]
fn a_predicate_that_compares_input_pointers_assumes_for_itself_that_they_differ() {
    let text = "int f(int *p, char *q) {
            lydian_label(\"same\", p && (void *)p == (void *)q); lydian_label(\"never\", *p > 3 && *p < 2);
            return *p + *q; }";
    assert_eq!(bounds_of_labels(text), ["p and q are different objects", ""]);
}

#[test]
fn a_length_among_the_inputs_keeps_its_bound() {
    let text = "int f(const int *a, unsigned long n) {
        if (n == 0) return 0;
        if (a[n - 1] == 7) return 1;
        return n > 30 ? 2 : 3; }";
    makes_a_difference(text, &BRANCHES, "a has at most 31 elements");
    let end = "int f(const char *s, const char *end) { if (s == end) return 0; return *s == 'x'; }";
    makes_a_difference(end, &BRANCHES, "s has at most");
}

#[test]
fn reads_beyond_an_array_in_a_struct_are_no_inputs_of_a_program_that_c_defines() {
    let text = "struct request { int kind; char line[8]; int last; };
        int f(const struct request *r, int from) {
            if (r->kind == 3 && r->last == 4) return 1;
            if (r->line[from] == 7) return r->kind > 5 && r->kind < 3 ? 2 : 3;
            return 0; }";
    makes_none(text, &BRANCHES, "subscripts of arrays of known length are such as the arrays have");
    let pointer = text.replace("r->line[from]", "*(r->line + from)");
    makes_a_difference(&pointer, &BRANCHES, "r points to one object");
    let through = text.replace("r->line[from]", "(&r->kind)[from]");
    makes_a_difference(&through, &BRANCHES, "r points to one object");
    let both = text.replace("r->line[from]", "*(r->line + from) == 9 || r->line[from]");
    makes_a_difference(&both, &BRANCHES, "r points to one object");
    let older = text.replace("char line[8]; int last;", "int last; char line[1];");
    makes_a_difference(&older, &BRANCHES, "r");
}

#[test]
fn a_length_in_memory_that_no_path_reads_keeps_nothing_from_being_proved() {
    let text = |condition: &str| {
        format!(
            "struct buffer {{ const int *data; unsigned len; int kind; }};
            int f(const struct buffer *b) {{
                if (b->data[0] > 3 && b->data[2] < b->kind) return 1;
                return {condition} ? 2 : 3; }}"
        )
    };
    let told = "b->data has at most 16 elements, of which no path uses more than 3";
    makes_none(&text("b->data[1] == 4"), &BRANCHES, told);
    makes_a_difference(&text("b->len > 40"), &BRANCHES, "b->data has at most 41 elements");
    makes_a_difference(
        &text("b->data[b->kind] == 4"),
        &BRANCHES,
        "b->data has at most 16 elements",
    );
    let shared = "struct pair { const int *xs, *ys; unsigned len; };
        int f(const struct pair *p) { return p->xs[0] > p->ys[1] ? 1 : 2; }";
    let places = "[function.f.places]\n\"p->xs\" = { kind = \"array\", length = \"p->len\" }\n";
    let bounds = |text: &str| {
        let settings = guessed_but(text).unwrap();
        let met = explore_c_with(shared, "f", &BRANCHES, &config(), settings).summary.bounds;
        sentences(&met).join("; ")
    };
    let with = |rest: &str| bounds(&format!("{places}\"p->ys\" = {{ kind = \"array\", {rest}"));
    assert_eq!(with("length = 4 }"), "");
    assert_eq!(with("length = \"p->len\", max = 4 }"), "p->xs has at most 16 elements");
    let restricted = "length = 4 }\n\"p->len\" = { range = [0, 90] }\n";
    assert_eq!(with(restricted), "p->xs has at most 16 elements");
}

#[test]
fn arguments_after_the_fixed_ones_are_inputs_where_va_arg_reads_them() {
    let text = |argument: &str| {
        format!(
            "int f(int what, ...) {{
                __builtin_va_list list; int data = 0;
                __builtin_va_start(list, what);
                if (what > 3) data = {argument};
                __builtin_va_end(list);
                if (data == 7) return 1;
                return what == 2; }}"
        )
    };
    let given = explored(&text("__builtin_va_arg(list, int)"), &BRANCHES);
    assert!(given.summary.complete && given.summary.bounds.is_empty(), "{:?}", given.summary);
    assert!(given.summary.left.is_empty());
    // The pointer in the list leads there, too.
    let raw = explore_c_with(&text("*((int **)list)[1]"), "f", &BRANCHES, &config(), guessed());
    assert!(!raw.summary.complete && !raw.summary.left.is_empty(), "{:?}", raw.summary);
    makes_a_difference(&text("((int **)list)[1][99]"), &BRANCHES, "bytes of arguments for `...`");
    let unread = "int f(int what, ...) { if (what > 3 && what < 3) return 1; return what == 2; }";
    assert_eq!(explored(unread, &BRANCHES).summary.bounds, Vec::new());
}

#[test]
fn a_walk_along_a_list_meets_the_bound_on_its_depth() {
    let list = "struct node { int v; struct node *next; };\n";
    let walk = format!(
        "{list}int f(const struct node *l) {{ int n = 0;
            while (l) {{ n++; l = l->next; }} return n > 9 ? 1 : 0; }}"
    );
    makes_a_difference(&walk, &BRANCHES, "is null: pointers are followed");
    let copy = format!(
        "{list}int f(struct node *l) {{ struct node a = *l; if (!a.next) return 0;
            a = *a.next; if (!a.next) return 1; a = *a.next; return a.next ? 2 : 3; }}"
    );
    makes_a_difference(&copy, &BRANCHES, "is null: pointers are followed");
}

#[test]
fn a_list_with_only_its_first_node_used_may_be_longer_without_a_bound() {
    let text = "struct node { int v; struct node *next; };
        int f(struct node *l) { if (l->v > 3 && l->v < 2) return 1; l->next = 0; return 0; }";
    makes_none(text, &BRANCHES, "is null: pointers are followed");
}

#[test]
fn a_neighbouring_object_is_not_read_behind_a_bound() {
    let text = "int f(const char *s, const char *t) {
        if (t[4] == 'a' && s[100] == 'b') return 1; return 0; }";
    makes_a_difference(text, &BRANCHES, "s has at most 16 characters");
}

#[test]
fn an_address_that_is_used_as_a_number_meets_the_bound() {
    let cast = "int f(const char *s) { if ((unsigned long)s % 64 == 8) return 1; return s[0]; }";
    makes_a_difference(cast, &BRANCHES, "s has at most 16 characters");
    let order = "int f(const char *s, const int *x) {
        if (*s == 'a' && (const void *)s > (const void *)x) return 1; return *x; }";
    makes_a_difference(order, &BRANCHES, "s has at most 16 characters");
    let within = "int f(const char *s) { const char *p = s; int n = 0;
        while (p < s + 3 && *p == 'a') { p++; n++; } if (n > 4) return 1; return p - s; }";
    makes_none(within, &BRANCHES, "s has at most 16 characters, of which no path uses more than 3");
}

#[test]
fn compared_pointers_are_assumed_to_differ() {
    let text = "int f(const int *p, const int *q) { if (p == q) return 1; return *p + *q; }";
    let object = "[function.f.places]\n\"q\" = { kind = \"object\" }\n\"p\" = { kind = \"object\"";
    let with = |more: &str| {
        let settings = guessed_but(&format!("{object}{more} }}\n"));
        explore_c_with(text, "f", &BRANCHES, &config(), settings.expect("settings")).summary
    };
    let (apart, alias) = (with(""), with(", alias = [\"q\"]"));
    let told = "p and q are different objects";
    assert_eq!(apart.bounds, [Assumption::new(AssumptionKind::Alias, "p and q", told)]);
    assert!(!apart.left.is_empty());
    assert_eq!((alias.bounds, alias.left), (Vec::new(), Vec::new()));
}

#[test]
fn elements_before_a_pointer_exist_where_they_are_used() {
    for text in [
        "int f(int *p) { if (p[-1] == 3) return 1; return 0; }",
        "int f(int *p, int by) { p -= by; if (by > 0 && *p == 3) return 1; return 0; }",
        "struct stack { int *top; };
        int f(struct stack *s) { if (*--s->top > 3) return s->top[-1]; return 0; }",
        "int f(const char *s) { if (s[-2] == 'a' && s[0] == 'b') return 1; return 0; }",
    ] {
        let found = explored(text, &[Criterion::Dc]);
        assert_eq!(found.covered(Criterion::Dc).len(), 2, "{text}: {:?}", found.summary.left);
    }
}

#[test]
fn a_pointer_may_point_further_into_an_array_than_elements_before_it_were_made() {
    let text = "int f(int *p, int by) { if (by != 100) return 0; p -= by;
        if (*p == 3) return 1; return 2; }";
    makes_a_difference(text, &BRANCHES, "p has at most");
    let text = "struct holder { int *kept; };
        int f(int *p) { struct holder h = { p }; if (h.kept[-1] == 3) return 1; return *p; }";
    makes_a_difference(text, &BRANCHES, "p points to one object");
}

#[test]
fn where_a_union_has_a_pointer_a_number_is_no_address() {
    let text = "union either { int *p; long n; };
        int f(union either *e) { if (*e->p == 3) return 1; if (e->n == 3) return 2; return 0; }";
    let found = explored(text, &[Criterion::Dc]);
    assert_eq!(found.covered(Criterion::Dc).len(), 3, "{:?}", found.summary.left);
    assert_eq!(found.summary.bounds, Vec::new());
    let told = "e->p is a pointer wherever it is used as one";
    let told = Assumption::new(AssumptionKind::RawPointer, "e->p", told);
    assert!(found.summary.assumptions.contains(&told), "{:?}", found.summary.assumptions);
}

#[test]
fn a_number_that_is_cast_to_a_pointer_may_be_an_address_of_anything() {
    let text = "int f(unsigned long n) { if (*(int *)n == 3) return 1; return 0; }";
    let found = explore_c_with(text, "f", &BRANCHES, &config(), guessed());
    let is_of_address = |cut: &Cut| matches!(cut, Cut::Undetermined(Undetermined::Location, _));
    assert!(found.summary.cuts.keys().any(is_of_address), "{:?}", found.summary.cuts);
    assert!(!found.summary.complete);
}

#[test]
fn a_pointer_beside_a_table_stays_a_pointer_when_the_table_is_written_at_an_unknown_place() {
    let text = "struct coder { int *out; unsigned short counts[300]; int *level; };
        int f(struct coder *c, unsigned char byte) {
            c->counts[byte]++;
            if (*c->out == 3) return 1;
            if (c->counts[byte] == 7) return *c->level == 4;
            return 0; }";
    let found = explored(text, &BRANCHES);
    assert_eq!((found.summary.left.len(), found.summary.bounds.len()), (0, 0));
}

#[test]
fn a_subscript_of_unknown_width_in_a_large_struct_lies_in_its_own_array_first() {
    let text =
        "struct state { int *out; short first[900]; int heap[300]; short last[900]; int *level; };
        int f(struct state *s, int at) {
            s->heap[at]++;
            if (*s->out == 3) return 1;
            if (s->heap[at] == 7) return *s->level == 4 ? 2 : 3;
            return 0; }";
    let found = explore_c_with(text, "f", &BRANCHES, &config(), guessed());
    assert_eq!(found.summary.left, Vec::new());
    // Where no path lies within the array, none is made up.
    let beyond = "struct state { short first[900]; int heap[300]; short last[900]; int *level; };
        int f(struct state *s, int at) {
            if (at < 300) return 0;
            if (at < 400 && s->heap[at] == 7) return 1;
            return 2; }";
    let found = explore_c_with(beyond, "f", &BRANCHES, &config(), guessed());
    assert_eq!(found.summary.left, Vec::new());
}

#[test]
fn a_parameter_may_be_what_a_member_is_that_the_body_compares_it_with() {
    let text = "struct row { int n; }; struct keeper { struct row **rows; int valid; };
        int f(struct keeper *k, struct row **rows) {
            int freed = 0;
            if (k->rows != 0 && k->rows != rows) freed = 1;
            k->rows = rows;
            return rows ? freed : 3; }";
    let found = explored(text, &BRANCHES);
    assert_eq!(found.summary.left, Vec::new());
    // Where the member leads nowhere because of its depth, there is nothing to share.
    let shallow = guessed_but("[defaults]\ndepth = 1\n").unwrap();
    let found = explore_c_with(text, "f", &BRANCHES, &config(), shallow);
    assert_eq!(found.summary.left.len(), 4, "{:?}", found.summary.left);
}

#[test]
fn a_part_may_point_back_to_its_owner_and_to_another_one() {
    let text = "struct part; struct owner { struct part *part; int n; };
        struct part { struct owner *owner, *other; };
        int f(struct owner *o) {
            struct part *p = o->part;
            if (p->owner != o) return 1;
            o->n = 5;
            if (p->owner->n == 6) return 2;
            if (p->other->n == 7) return 3;
            return 0;
        }";
    // Only one outcome is infeasible: that the object behind the pointer back is another one.
    let found = explored(text, &[Criterion::Dc]);
    assert_eq!(found.covered(Criterion::Dc).len(), 5, "{:?}", found.summary.left);
    assert_eq!(found.summary.left.len(), 1);
}

#[test]
fn results_of_other_files_have_bounds_too() {
    let table = "extern int table[]; int f(int i) { if (i < 0) return 0;
        if (table[i] == 3 && i > 300) return 1; return 2; }";
    makes_a_difference(table, &BRANCHES, "table has 256 elements");
    let narrow = "extern int table[]; int f(unsigned char i) {
        if (table[i] == 3) return 1; return 2; }";
    assert_eq!(explored(narrow, &BRANCHES).summary.bounds, Vec::new());
    let strlen = "unsigned long strlen(const char *);\n";
    let called = format!(
        "{strlen}const char *name(void);
        int f(void) {{ const char *s = name(); if (s && strlen(s) > 20) return 1; return 0; }}"
    );
    makes_a_difference(&called, &BRANCHES, "name()#0 has at most 16 characters");
    let callback = format!(
        "{strlen}int f(const char *(*next)(int)) {{
            const char *s = next(1); if (s && strlen(s) > 20) return 1; return 0; }}"
    );
    makes_a_difference(&callback, &BRANCHES, "#0 has at most 16 characters");
}

/// A function that takes room for a large struct from `alloc`, with this declaration and call.
fn allocating(declared: &str, call: &str, last: usize) -> String {
    format!(
        "void *memset(void *, int, unsigned long);
        struct state {{ int kind; unsigned char bytes[1200]; }};
        {declared}
        int f(int kind) {{
            struct state *s = {call};
            if (!s) return 1;
            memset(s, 0, sizeof *s);
            s->kind = kind;
            if (kind > 4) return ((unsigned char *)s)[{last}] ? 2 : 3;
            return 4;
        }}"
    )
}

#[test]
fn a_block_of_an_unknown_allocator_has_the_requested_bytes() {
    for (declared, call) in [
        ("void *alloc(unsigned size);", "alloc(sizeof(struct state))"),
        ("void *alloc(void *, unsigned, unsigned);", "alloc(0, 1, sizeof(struct state))"),
        ("void *alloc(int, long);", "alloc(301, 4)"),
        ("void *alloc(void *, void *, long, long);", "alloc(0, 0, 7, sizeof(struct state))"),
    ] {
        let found = explored(&allocating(declared, call, 1203), &BRANCHES);
        assert_eq!(found.summary.bounds, Vec::new(), "{call}");
        // All outcomes of a decision and its condition, except that the byte is not zero.
        assert_eq!(found.covered(Criterion::Dc).len(), 5, "{call}: {:?}", found.summary.left);
        assert_eq!(found.summary.left.len(), 1, "{call}");
    }
}

#[test]
fn bytes_behind_a_block_of_an_unknown_allocator_are_a_bound() {
    let declared = "void *alloc(unsigned size);";
    let text = allocating(declared, "alloc(sizeof(struct state))", 1204);
    makes_a_difference(&text, &BRANCHES, "alloc()#0 points to 1204 elements");
    let small = "struct s { int a[9]; }; void *alloc(int kind);
        int f(void) { struct s *s = alloc(3); if (s && s->a[8] == 7) return 1; return 0; }";
    makes_a_difference(small, &BRANCHES, "alloc()#0 has at most 16 elements");
    let unknown = "struct s { int a[9]; }; void *alloc(unsigned n, unsigned size);
        int f(unsigned n) { struct s *s = alloc(n, 36); if (s && s->a[8] == 7) return 1; return 0; }";
    makes_a_difference(unknown, &BRANCHES, "alloc()#0 has at most 16 elements");
}

#[test]
fn a_guess_that_a_pointer_leads_to_one_object_is_a_bound_where_more_is_used() {
    let text = "struct p { int x, y; };
        struct box { const void *v; };
        static int third(const struct box *b) { const int *i = b->v; return i[2]; }
        int f(const struct p *p) { struct box b; b.v = p; if (third(&b) == 5) return 1; return 0; }";
    makes_a_difference(text, &BRANCHES, "p points to one object");
}

#[test]
fn a_size_that_the_user_states_is_no_bound() {
    let text = "int f(const char *s) { int n = 0; while (s[n]) n++; return n > 20 ? 1 : 0; }";
    let settings = "[function.f.places]\n\"s\" = { kind = \"string\", max = 4 }\n";
    let settings = guessed_but(settings).expect("settings");
    let summary = explore_c_with(text, "f", &BRANCHES, &config(), settings).summary;
    assert!(summary.complete);
    assert_eq!(summary.bounds, Vec::new());
    assert_eq!(summary.preconditions, ["s has at most 4 characters"]);
    assert_eq!(summary.assumptions, []);
}

// ---- random functions -------------------------------------------------------------------------

/// A random function over a string, an array and a list, with conditions that often contradict each
/// other.
fn random_function(rng: &mut Rng) -> String {
    let mut text = String::from(
        "unsigned long strlen(const char *);
int strncmp(const char *, const char *, unsigned long);
void *memchr(const void *, int, unsigned long);
char *strchr(const char *, int);
struct node { int v; struct node *next; };
struct buffer { const int *data; unsigned len; };
int f(const char *s, const int *a, struct node *l, unsigned char i, const struct buffer *b) {
    int r = 0;
    const char *p = s;
",
    );
    for number in 0..3 + rng.below(3) {
        let first = condition(rng);
        let second = condition(rng);
        let operator = if rng.below(2) == 0 { "&&" } else { "||" };
        let not = if rng.below(3) == 0 { "!" } else { "" };
        text += &match rng.below(5) {
            0 => format!("    if ({first}) return {number};\n"),
            1 => format!("    if ({first}) p += {};\n", rng.below(6)),
            2 => format!("    if ({first} {operator} {not}({first})) r += {number};\n"),
            _ => format!("    if ({first} {operator} {not}({second})) r += {number};\n"),
        };
    }
    text + "    return r;\n}\n"
}

fn condition(rng: &mut Rng) -> String {
    let place = if rng.below(8) == 0 { 14 + rng.below(12) } else { rng.below(6) };
    let value = rng.below(3);
    let letter = char::from(b'a' + value as u8);
    match rng.below(16) {
        14 if rng.below(4) == 0 => format!("b->len > {place}"),
        14..16 => format!("b->data[{place}] > {value}"),
        0..3 => format!("s[{place}] == '{letter}'"),
        3 => format!("p[{place}] < '{letter}'"),
        4..6 => format!("a[{place}] > {value}"),
        6 => format!("i < {} && s[i] == '{letter}'", 1 + rng.below(20)),
        7 => format!("i < {} && a[i] == {value}", 1 + rng.below(20)),
        8 => format!("l->v == {value}"),
        9 => format!("l->next && l->next->v == {value}"),
        10 if rng.below(4) == 0 => "l->next && l->next->next && !l->next->next->next".into(),
        10 => format!("strncmp(s, \"ab\", {}) == 0", 1 + rng.below(3)),
        11 if rng.below(4) == 0 => format!("strlen(s) > {}", rng.below(24)),
        11 => format!("memchr(s, '{letter}', {})", 1 + rng.below(20)),
        12 if rng.below(4) == 0 => format!("strchr(s, '{letter}') == s + {place}"),
        12 => format!("p - s == {place}"),
        _ => format!("i == {value}"),
    }
}

#[test]
fn no_larger_input_covers_labels_left_by_a_bound_without_effect() {
    let quick = Limits {
        time: Some(Duration::from_millis(1500)),
        query_time: Some(Duration::from_millis(500)),
        ..Limits::default()
    };
    let config = Config { limits: quick, ..config() };
    let criteria = [Criterion::Dc, Criterion::Mcc, Criterion::Wm];
    let seeds = std::env::var("LYDIAN_SEEDS").ok().and_then(|text| text.parse().ok());
    let (mut decided, mut larger_covers_more) = (0, 0);
    for seed in 0..seeds.unwrap_or(40u64) {
        let text = random_function(&mut Rng::new(seed));
        let small = explore_c_with(&text, "f", &criteria, &config, guessed());
        if !small.summary.complete {
            continue;
        }
        let settings = guessed_but(LARGER).expect("settings");
        let large = explore_c_with(&text, "f", &criteria, &config, settings);
        let covered: BTreeSet<LabelRef> = large.summary.covered.iter().copied().collect();
        let left = small.summary.left.iter().filter(|left| left.reasons.is_empty());
        let found = left.filter(|left| covered.contains(&left.label));
        let unbounded =
            |left: &&LeftLabel| left.bounds.is_empty() && small.summary.bounds.is_empty();
        let (wrong, more): (Vec<_>, Vec<_>) = found.partition(unbounded);
        decided += usize::from(small.summary.bounds.is_empty());
        larger_covers_more += usize::from(!more.is_empty());
        let names: Vec<&str> = (wrong.iter())
            .map(|wrong| &*small.objectives[0].labels[wrong.label.label].text)
            .collect();
        assert!(wrong.is_empty(), "seed {seed}: {names:?}\n{text}");
    }
    let about_something = decided > 1 && larger_covers_more > 0;
    assert!(about_something, "{decided} decided, {larger_covers_more} with more for larger inputs");
}

#[test]
fn a_guessed_length_restricts_inputs_whatever_the_user_says_of_the_size() {
    let text = "int f(const unsigned char *buf, unsigned n) {
        unsigned s = 0; for (unsigned i = 0; i < n; i++) s += buf[i];
        if (n > 4) return 1; return s > 9; }";
    let with = |places: &str| {
        let settings = format!("[function.f.places]\nbuf = {{ {places} }}\n");
        let settings = guessed_but(&settings).expect("settings");
        explore_c_with(text, "f", &BRANCHES, &config(), settings).summary
    };
    let guessed = with("kind = \"array\", max = 4");
    let told = Assumption::new(AssumptionKind::Length, "buf", "n is the length of buf");
    assert_eq!(guessed.bounds, [told]);
    let stated = with("length = \"n\", max = 4");
    assert_eq!(stated.bounds, []);
    assert_eq!(stated.preconditions, ["buf has at most 4 elements"]);
    assert!(!stated.left.is_empty());
}

#[test]
fn writes_of_an_undefined_function_are_an_assumption_where_it_could_write() {
    let assumed = |text: &str| explored(text, &BRANCHES).summary.assumptions;
    let poll = "void poll(void); int mode;
        int f(void) { if (mode) return 0; poll(); if (mode == 3) return 1; return 2; }";
    let told = "poll writes nothing but variables that its arguments point to";
    assert_eq!(assumed(poll), [Assumption::new(AssumptionKind::ExternalWrites, "poll", told)]);
    let pure = "int read_sensor(int); int f(void) { return read_sensor(1) > 3 ? 1 : 0; }";
    assert_eq!(assumed(pure), []);
    let given = "int __VERIFIER_nondet_int(void); int mode;
        int f(void) { if (mode == __VERIFIER_nondet_int()) return 1; return 2; }";
    assert_eq!(assumed(given), []);
}
