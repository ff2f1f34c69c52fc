//! Invariants that the user states of types, and preconditions that relate parameters: paths
//! consider only inputs that meet them, and all objects of tests meet them.

use lydian_inputs::Settings;
use lydian_inputs::settings::{FunctionSettings, TypeSettings};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::test::{Image, ImagePointer, PointerTarget, Test};
use lydian_ir::{CTypeId, Program};
use lydian_objective::Criterion;
use lydian_symex::Config;

use crate::common::measure;
use crate::common::{Explored, explore_c_with};

/// Explores `f` where every object of a type meets some invariants, which are compiled as the command
/// line compiles them. Every test must do what is claimed, and meet the invariants.
fn explore(text: &str, ty: &str, invariants: &[&str]) -> Explored {
    let stated = TypeSettings {
        invariants: invariants.iter().map(|text| (*text).to_owned()).collect(),
        ..TypeSettings::default()
    };
    let types = [(ty.to_owned(), stated)].into_iter().collect();
    let settings = Settings { types, ..Settings::default() };
    let compiled = invariants.iter().enumerate().map(|(n, of)| {
        format!("static int lydian_inv_0_{n}({ty} *self) {{ return ({of}) != 0; }}\n")
    });
    let text = format!("{text}\n{}", compiled.collect::<String>());
    let criteria = [Criterion::Stmt, Criterion::Bc];
    let found = explore_c_with(&text, "f", &criteria, &Config::default(), settings);
    measure::confirm(&found);
    for test in &found.tests {
        meets(&found.program, &test.test, ty, invariants.len());
    }
    found
}

/// Asserts that every object of a type in a test meets the invariants, evaluated by the
/// interpreter.
fn meets(program: &Program, test: &Test, ty: &str, invariants: usize) {
    for (at, object) in test.objects.iter().enumerate() {
        let period = program.types.size(object.ty).unwrap_or(1).max(1);
        for start in (0..object.image.bytes.len() as u64).step_by(period as usize) {
            for offset in places_of(program, object.ty, ty, start) {
                let target = PointerTarget::Object(at as u32, offset);
                (0..invariants).for_each(|n| assert_holds(program, test, n, &target));
            }
        }
    }
}

/// The places of values of a type within one of another type that begins at an offset.
fn places_of(program: &Program, whole: CTypeId, ty: &str, start: u64) -> Vec<u64> {
    use lydian_ir::CType;
    if program.types.spell(whole, "") == ty {
        return vec![start];
    }
    match program.types.get(whole) {
        CType::Array { element, length } => {
            let size = program.types.size(*element).unwrap_or(1);
            let starts = (0..length.unwrap_or(0)).map(|index| start + index * size);
            starts.flat_map(|start| places_of(program, *element, ty, start)).collect()
        }
        CType::Record(record) => {
            let fields = program.types.records[*record].fields.iter();
            let fields = fields.map(|field| (field.ty, start + field.bit_offset / 8));
            fields.flat_map(|(part, start)| places_of(program, part, ty, start)).collect()
        }
        _ => Vec::new(),
    }
}

fn assert_holds(program: &Program, test: &Test, n: usize, target: &PointerTarget) {
    let mut asked = test.clone();
    asked.function = format!("lydian_inv_0_{n}");
    let pointers = vec![ImagePointer { offset: 0, target: target.clone() }];
    asked.args = vec![Image { bytes: vec![0; 8], pointers }];
    asked.variable = Vec::new();
    let outcome = run(program, &asked, &Options::default(), &mut Silent).expect("the test fits");
    let holds = outcome.result.as_deref().is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0));
    assert!(outcome.end == End::Returned && holds, "{target:?} does not meet {n}: {test:#?}");
}

/// The number of covered branches of `f`, and of all its branches.
fn branches(found: &Explored) -> (usize, usize) {
    let func = found.program.function_named("f").expect("it is there");
    let of_f = found.objectives.iter().filter(|of| of.function == func);
    let all = of_f.flat_map(|of| of.criteria.get(&Criterion::Bc)).flatten().count();
    (found.covered(Criterion::Bc).len(), all)
}

/// Asserts how many branches are covered, and that all others are infeasible without assumptions.
fn assert_branches(found: &Explored, covered: usize, infeasible: usize) {
    assert_eq!(branches(found), (covered, covered + infeasible), "{:?}", found.summary);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    assert!(found.summary.bounds.is_empty(), "{:?}", found.summary.bounds);
}

fn unmet(found: &Explored) -> Vec<String> {
    found.summary.unmet.iter().map(ToString::to_string).collect()
}

const BUFFER: &str = "struct buf { unsigned len, cap; int *data; };";

#[test]
fn labels_excluded_by_an_invariant_are_infeasible_under_a_named_precondition() {
    let text = "int f(struct buf *b) { if (b->len > b->cap) return 1; return 0; }";
    let found = explore(&format!("{BUFFER}{text}"), "struct buf", &["self->len <= self->cap"]);
    assert_branches(&found, 1, 1);
    let said = "every struct buf among the inputs meets `self->len <= self->cap`";
    assert_eq!(found.summary.preconditions, [said]);
    let without = explore(&format!("{BUFFER}{text}"), "struct buf", &[]);
    assert_branches(&without, 2, 0);
}

#[test]
fn an_invariant_is_about_objects_at_the_call_of_the_function() {
    let text = "int f(struct buf *b, struct buf *c) {
                    b->len = 7; b->cap = 3;
                    if (b->len > b->cap) { if (c->len > c->cap) return c == b; return 1; }
                    return 0;
                }";
    let found = explore(&format!("{BUFFER}{text}"), "struct buf", &["self->len <= self->cap"]);
    // The first condition is always true; the second is true where both pointers lead to one
    // object.
    assert_branches(&found, 3, 1);
}

#[test]
fn circular_lists_close() {
    let text = "struct ring { struct ring *next, *prev; int v; };
                int f(struct ring *r) {
                    if (r->next->prev != r) return 9;
                    if (r->next == r) return 1;
                    if (r->prev == r) return 8;
                    if (r->next->next == r) return 2;
                    return 3;
                }";
    let found =
        explore(text, "struct ring", &["self->next->prev == self", "self->prev->next == self"]);
    assert_branches(&found, 6, 2);
}

#[test]
fn objects_that_only_an_invariant_looked_at_may_be_met_by_another_pointer() {
    let text = "struct node { struct node *peer; int v; };
                int f(struct node *a, struct node *b) {
                    if (a->v != 1) return 0;
                    if (b->v == 2) { if (a->peer == b) return 1; return 2; }
                    return 3;
                }";
    let found = explore(text, "struct node", &["self->peer->peer == self"]);
    assert_branches(&found, 6, 0);
}

#[test]
fn an_invariant_may_be_a_choice() {
    let text = "struct list { struct list *next; int key; };
                int f(struct list *l) {
                    int n = 0;
                    for (; l && n < 3; l = l->next) {
                        if (l->next && l->next->key <= l->key) return -1;
                        n++;
                    }
                    return n;
                }";
    let found = explore(text, "struct list", &["!self->next || self->next->key > self->key"]);
    let (covered, all) = branches(&found);
    assert_eq!((covered, all), (7, 8), "{:?}", found.summary);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
}

#[test]
fn an_invariant_holds_for_elements_at_any_index_and_for_members() {
    let text = "struct pair { int low, high; };
                struct box { int kind; struct pair range; };
                int f(struct pair *p, unsigned i, struct box *b) {
                    if (p[i].low > p[i].high) return 1;
                    if (b->kind == 4 && b->range.high < b->range.low) return 2;
                    return 0;
                }";
    let found = explore(text, "struct pair", &["self->low <= self->high"]);
    assert_branches(&found, 4, 2);
}

#[test]
fn elements_that_no_path_looks_at_meet_the_invariant_in_tests() {
    let text = "struct cell { int size; };
                int f(struct cell *c) { if (c[3].size == 5) return 1; return 0; }";
    let found = explore(text, "struct cell", &["self->size > 2"]);
    assert_branches(&found, 2, 0);
    assert!(found.tests.iter().all(|test| test.test.objects[0].count >= 4));
}

#[test]
fn an_invariant_holds_for_structs_passed_by_value_and_for_globals() {
    let text = "struct pair { int low, high; };
                struct pair limits = { 1, 5 };
                int f(struct pair p) {
                    if (p.low > p.high) return 1;
                    if (limits.low > limits.high) return 2;
                    if (limits.low == 40) return 3;
                    return 0;
                }";
    let found = explore(text, "struct pair", &["self->low <= self->high"]);
    assert_branches(&found, 4, 2);
}

#[test]
fn an_invariant_without_a_value_does_not_hold() {
    let text = "struct box { int *at; };
                int f(struct box *b) { if (!b->at) return 1; return *b->at > 3; }";
    let found = explore(text, "struct box", &["*self->at >= 0"]);
    assert_branches(&found, 1, 1);
}

#[test]
fn an_invariant_may_call_functions_and_loop() {
    let text = "struct text { int n; char s[4]; };
                static int ends(const char *s, int n) {
                    for (int i = 0; i < n; i++) if (!s[i]) return 1;
                    return 0;
                }
                int f(struct text *t) {
                    if (t->s[0] && t->s[1] && t->s[2] && t->s[3]) return 1;
                    if (t->s[0] == 'x' && t->s[1] == 0) return 2;
                    return 0;
                }";
    let found = explore(text, "struct text", &["ends(self->s, 4)"]);
    let (covered, all) = branches(&found);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    assert_eq!(all - covered, 1, "{:?}", found.summary);
}

#[test]
fn freed_and_reallocated_blocks_were_objects_when_the_function_was_called() {
    let text = "#include <stdlib.h>
                struct box { int n; struct box *other; };
                int f(struct box *b, struct box *c) {
                    if (b->n != 3) return 0;
                    free(b);
                    if (c->n < 0) return 1;
                    return 2;
                }";
    let found =
        explore(text, "struct box", &["self->n >= 0", "!self->other || self->other != self"]);
    let (covered, all) = branches(&found);
    assert_eq!((covered, all), (3, 4), "{:?}", found.summary);
}

#[test]
fn a_chain_that_no_invariant_follows_ends_in_tests() {
    let text = "struct link { struct link *next; int v; };
                int f(struct link *l) { if (l->v == 3) return 1; return 0; }";
    let found = explore(text, "struct link", &["self->next && self->next != self"]);
    assert_branches(&found, 2, 0);
}

#[test]
fn circular_lists_close_in_enclosing_structs() {
    let text = "struct ring { struct ring *next, *prev; };
                struct owner { long kind, more; struct ring head; };
                int f(struct owner *o) {
                    if (o->kind == 2) return 2;
                    return 0;
                }";
    let found =
        explore(text, "struct ring", &["self->next->prev == self", "self->prev->next == self"]);
    assert_eq!(branches(&found), (2, 2), "{:?}", found.summary);
}

#[test]
fn an_invariant_that_nothing_meets_is_named() {
    let text = format!("{BUFFER}int f(struct buf *b) {{ if (!b) return 1; return b->len > 2; }}");
    let found = explore(&text, "struct buf", &["self->len < self->cap && self->cap < self->len"]);
    assert_eq!(
        unmet(&found),
        ["no struct buf meets the invariant `self->len < self->cap && self->cap < self->len`"]
    );
}

/// Explores `f` with these parameters and some preconditions.
fn with_preconditions(text: &str, params: &str, preconditions: &[&str]) -> Explored {
    let own = FunctionSettings {
        preconditions: preconditions.iter().map(|text| (*text).to_owned()).collect(),
        ..FunctionSettings::default()
    };
    let function = [("f".to_owned(), own)].into_iter().collect();
    let settings = Settings { function, ..Settings::default() };
    let compiled = preconditions.iter().enumerate().map(|(n, of)| {
        format!("static int lydian_pre_f_{n}({params}) {{ return ({of}) != 0; }}\n")
    });
    let text = format!("{text}\n{}", compiled.collect::<String>());
    let criteria = [Criterion::Stmt, Criterion::Bc];
    let found = explore_c_with(&text, "f", &criteria, &Config::default(), settings);
    measure::confirm(&found);
    for test in &found.tests {
        for n in 0..preconditions.len() {
            let mut asked = test.test.clone();
            asked.function = format!("lydian_pre_f_{n}");
            let outcome = run(&found.program, &asked, &Options::default(), &mut Silent);
            let outcome = outcome.expect("the test fits");
            assert_eq!(outcome.end, End::Returned, "{:#?}", test.test);
            assert_ne!(outcome.result, Some(vec![0; 4]), "{n}: {:#?}", test.test);
        }
    }
    found
}

#[test]
fn a_precondition_may_say_that_pointers_differ() {
    let text = "int f(int *a, int *b) { *a = 1; *b = 2; if (*a == 2) return 1; return 0; }";
    assert_branches(&with_preconditions(text, "int *a, int *b", &["a != b"]), 1, 1);
    assert_branches(&with_preconditions(text, "int *a, int *b", &["a == b"]), 1, 1);
    assert_branches(&with_preconditions(text, "int *a, int *b", &[]), 2, 0);
}

#[test]
fn a_precondition_may_say_how_far_pointers_lie_apart() {
    let text = "int f(const int *begin, const int *end, int n) {
                    int sum = 0;
                    if (n < 0 || n > 3) return -1;
                    for (const int *p = begin; p < end; p++) sum += *p;
                    if (end - begin > 3) return 9;
                    return sum;
                }";
    let found =
        with_preconditions(text, "const int *begin, const int *end, int n", &["end - begin == n"]);
    let (covered, all) = branches(&found);
    assert_eq!(all - covered, 1, "{:?}", found.summary);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
}

#[test]
fn a_precondition_may_relate_a_member_and_a_parameter() {
    let text = "struct s { unsigned len; };
                int f(struct s *p, unsigned cap) { if (!p) return 1; if (p->len > cap) return 2; return 0; }";
    let found = with_preconditions(text, "struct s *p, unsigned cap", &["p->len <= cap"]);
    // Where p is null the precondition has no value.
    assert_branches(&found, 2, 2);
    let found = with_preconditions(text, "struct s *p, unsigned cap", &["!p || p->len <= cap"]);
    assert_branches(&found, 3, 1);
}

#[test]
fn a_precondition_that_no_input_meets_is_named() {
    let text = "int f(int x) { if (x > 3) return 1; return 0; }";
    let found = with_preconditions(text, "int x", &["x > 5", "x < 3"]);
    assert_eq!(unmet(&found), ["no input meets the preconditions `x > 5`, `x < 3`"]);
    assert!(found.tests.is_empty());
}
