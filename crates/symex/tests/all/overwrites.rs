//! Undefined functions that overwrite existing values. The interpreter runs every test, which must
//! do what the exploration claims.

use lydian_inputs::Settings;
use lydian_ir::test::{ExternalWrite, WriteBase};
use lydian_objective::{AssumptionKind, Criterion};
use lydian_symex::Config;

use crate::common::measure;
use crate::common::{Explored, explore_c, explore_c_with};

/// Explores for branches, and has every test confirmed.
fn explored(text: &str) -> Explored {
    let found = explore_c(text, "f", &[Criterion::Bc, Criterion::Stmt], &Config::default());
    measure::confirm(&found);
    found
}

/// Asserts that all branches are covered. Returns the writes of calls in the tests.
fn writes_of_all(text: &str) -> Vec<ExternalWrite> {
    let found = explored(text);
    assert!(found.summary.left.is_empty(), "{:#?}", found.summary);
    let calls = found.tests.iter().flat_map(|test| &test.test.externals);
    calls.flat_map(|call| call.writes.clone()).collect()
}

/// Asserts that one branch cannot be covered, and the kinds of assumptions that this depends on.
fn one_is_left(text: &str, kinds: &[AssumptionKind]) {
    let found = explored(text);
    assert!(found.summary.complete, "{:#?}", found.summary);
    let bc = found.objectives.iter().flat_map(|of| of.criteria.get(&Criterion::Bc)).flatten();
    assert_eq!(found.covered(Criterion::Bc).len() + 1, bc.count(), "{:#?}", found.summary);
    let assumed: Vec<_> = found.summary.assumptions.iter().map(|one| one.kind).collect();
    assert_eq!(assumed, kinds, "{:#?}", found.summary.assumptions);
}

#[test]
fn members_of_a_struct_that_was_filled_get_other_values() {
    let writes = writes_of_all(
        "struct o { int x, y; };
         int get(struct o *o);
         int f(void) {
             struct o o = {1, 2};
             get(&o);
             if (o.x == 5 && o.y == 7) return 1;
             return 0;
         }",
    );
    assert!(writes.iter().all(|write| write.to == WriteBase::Argument(0)));
    assert!(!writes.is_empty());
}

#[test]
fn values_behind_pointers_in_a_struct_get_other_values() {
    let writes = writes_of_all(
        "struct in { int n; }; struct o { int x; struct in *in; };
         void get(const struct o *o);
         int f(void) {
             struct in in = {3};
             struct o o = {1, &in};
             get(&o);
             if (in.n != 3) return 1;
             return o.x;
         }",
    );
    assert!(writes.iter().all(|write| write.through == [8]), "{writes:?}");
}

#[test]
fn the_target_of_a_pointer_to_const_is_unchanged() {
    one_is_left(
        "struct o { int x; const int *p; };
         void see(const struct o *o);
         int f(void) {
             int n = 3;
             struct o o = {1, &n};
             see(&o);
             if (n != 3) return 1;
             return o.x;
         }",
        &[AssumptionKind::KeptPointers],
    );
}

#[test]
fn variables_of_external_linkage_get_other_values_and_statics_do_not() {
    let writes = writes_of_all(
        "int shared; void step(void);
         int f(void) { shared = 4; step(); if (shared == 9) return 1; return 0; }",
    );
    assert_eq!(writes.iter().filter(|one| one.to == WriteBase::Global("shared".into())).count(), 1);
    one_is_left(
        "static int own; void step(void);
         int f(void) { own = 4; step(); if (own == 9) return 1; return 0; }",
        &[AssumptionKind::KeptPointers],
    );
}

#[test]
fn locks_are_opaque_and_their_functions_write_nothing_else() {
    one_is_left(
        "typedef struct { int owner; void *list; } pthread_mutex_t;
         int pthread_mutex_lock(pthread_mutex_t *lock);
         struct s { pthread_mutex_t lock; int n; };
         int f(struct s *s) {
             s->n = 4;
             pthread_mutex_lock(&s->lock);
             if (s->n == 9) return 1;
             return 0;
         }",
        &[],
    );
}

#[test]
fn variable_arguments_are_written_through() {
    let writes = writes_of_all(
        "struct size { unsigned short rows, columns; };
         int control(int fd, unsigned long request, ...);
         int f(int fd) {
             struct size size = {0, 0};
             if (control(fd, 21523, &size) < 0) return -1;
             if (size.columns > 80) return 2;
             return 1;
         }",
    );
    assert!(writes.iter().any(|write| write.to == WriteBase::Variable(0)), "{writes:?}");
}

#[test]
fn objects_of_the_inputs_get_other_values() {
    writes_of_all(
        "struct s { int n; struct s *next; };
         void turn(struct s *s);
         int f(struct s *s) {
             if (s->n != 4 || s->next->n != 5) return 0;
             turn(s);
             if (s->n == 6) return 1;
             if (s->next->n == 7) return 2;
             return 3;
         }",
    );
}

#[test]
fn a_buffer_is_filled_as_far_as_it_goes() {
    writes_of_all(
        "long take(int fd, void *to, unsigned long n);
         int f(int fd, unsigned i) {
             char buffer[4096];
             if (take(fd, buffer, sizeof buffer) < 1) return -1;
             if (i < 4096 && buffer[i] == '!') return 1;
             if (buffer[4000] == '?') return 2;
             return 0;
         }",
    );
}

#[test]
fn each_call_in_a_loop_may_end_it() {
    writes_of_all(
        "struct c { int done; }; void poll(struct c *c);
         int f(void) {
             struct c c = {0}; int n = 0;
             while (!c.done) { poll(&c); n++; }
             return n > 2 ? 1 : 0;
         }",
    );
}

/// Explores with settings. Returns the numbers of branches that are covered and that are left.
fn with_contract(text: &str, toml: &str) -> (usize, usize) {
    let settings = Settings::from_toml_str(toml).unwrap();
    let found = explore_c_with(text, "f", &[Criterion::Bc], &Config::default(), settings);
    measure::confirm(&found);
    assert!(found.summary.complete && found.summary.assumptions.is_empty(), "{:#?}", found.summary);
    (found.covered(Criterion::Bc).len(), found.summary.left.len())
}

#[test]
fn a_contract_limits_the_writes_of_a_call() {
    let text = "struct in { int a, b; }; struct s { int n; struct in *in; }; int g;
         void step(struct s *s);
         int f(void) {
             struct in in = {1, 2}; struct s s = {3, &in};
             g = 4;
             step(&s);
             if (s.n != 3) return 1;
             if (in.b != 2) return 2;
             if (in.a != 1) return 3;
             if (g != 4) return 4;
             return 0;
         }";
    assert_eq!(with_contract(text, "[function.step]\npure = true\n"), (4, 4));
    let writes = "[function.step]\nwrites = [\"s->in->b\", \"g\"]\n";
    assert_eq!(with_contract(text, writes), (6, 2));
    let writes = "[function.step]\nwrites = [\"*s\"]\n";
    assert_eq!(with_contract(text, writes), (5, 3));
}

#[test]
fn a_text_that_is_filled_behind_its_end_lies_within_the_object_of_the_test() {
    writes_of_all(
        "unsigned long strlen(const char *s); char *fill(char *s, int size);
         int f(char *text, unsigned size) {
             unsigned length = 0, filled = 0;
             for (;;) {
                 length += strlen(text + length);
                 char *end = text + length;
                 if (end > text && end[-1] == '\\n') return 2;
                 if (!fill(end, size - length)) return filled;
                 filled++;
             }
         }",
    );
}
