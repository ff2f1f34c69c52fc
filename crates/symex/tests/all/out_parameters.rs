//! Undefined functions that set variables through pointers that they are given. The interpreter
//! runs every test, which must do what the exploration claims.

use lydian_inputs::Settings;
use lydian_ir::test::ExternalWrite;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending, Limits, Search};

use crate::common::measure::confirm;
use crate::common::{Explored, explore_c, explore_c_with, plain};

/// Explores for decisions, and has every test confirmed.
fn explored(text: &str, function: &str) -> Explored {
    let found = explore_c(text, function, &[Criterion::Dc, Criterion::Stmt], &Config::default());
    confirm(&found);
    found
}

/// Asserts that a number of outcomes of decisions are covered, and that none is left.
fn covers_all(found: &Explored, outcomes: usize) {
    let covered = found.covered(Criterion::Dc);
    assert_eq!(covered.len(), outcomes, "{covered:?} {:#?}", found.summary);
    assert!(found.summary.left.is_empty(), "{:#?}", found.summary);
}

fn all_writes(found: &Explored) -> impl Iterator<Item = &ExternalWrite> {
    let calls = found.tests.iter().flat_map(|test| &test.test.externals);
    calls.flat_map(|call| &call.writes)
}

#[test]
fn out_parameters_of_a_parser_and_a_look_up_take_every_branch() {
    let text = "
        extern int parse(const char *s, int *value, char *kind);
        extern void *lookup(int key, long *size);
        int g(const char *s) {
            int v; char k = 0;
            if (!parse(s, &v, &k)) return -1;
            if (v > 100) return 1;
            if (k == 'x') return 2;
            long n;
            void *p = lookup(v, &n);
            if (p && n == 17) return 3;
            return 0;
        }";
    covers_all(&explored(text, "g"), 8);
}

#[test]
fn a_variable_that_has_a_value_gets_another_one() {
    let text = "
        extern void next(int *at);
        static int last = 4;
        int f(void) {
            int at = 3;
            next(&at);
            if (at == 3) return 0;
            next(&last);
            if (last > 4 && at > last) return 1;
            return 2;
        }";
    covers_all(&explored(text, "f"), 4);
}

#[test]
fn a_variable_stays_as_it_is_where_the_pointer_is_null() {
    let text = "
        extern int set(int *to);
        int f(int a) {
            int x = 1;
            set(a > 5 ? &x : 0);
            if (a <= 5 && x != 1) return -1;
            if (a > 5 && x == 77) return 1;
            return 0;
        }";
    let found = explored(text, "f");
    assert!(found.summary.complete, "{:#?}", found.summary);
    assert_eq!(found.covered(Criterion::Dc).len(), 5, "{:#?}", found.summary);
    assert_eq!(found.summary.left.len(), 2, "a decision's outcome and a statement");
    assert!(all_writes(&found).next().is_some());
}

#[test]
fn a_pointer_that_is_set_may_stay_be_null_or_point_to_something_new() {
    let text = "
        extern long number(const char *text, char **end);
        int f(const char *s) {
            char *end = (char *)s;
            long n = number(s, &end);
            if (end == s) return -1;
            if (!end) return -2;
            if (*end == '!' && n == 5) return 1;
            return 0;
        }";
    covers_all(&explored(text, "f"), 6);
}

#[test]
fn calls_in_a_loop_set_a_pointer_anew_each_time() {
    let text = "
        extern int next(char **word);
        int f(void) {
            char *word = 0; int count = 0;
            for (int i = 0; i < 12; i++) {
                if (!next(&word)) break;
                if (word && word[0] == 'a') count++;
            }
            if (count == 12) return 1;
            return 0;
        }";
    let config = Config { limits: Limits { paths: Some(150), ..Limits::default() }, ..plain() };
    let found = explore_c(text, "f", &[], &config);
    assert!(found.summary.path_count() > 100, "{:#?}", found.summary);
    let few =
        Config { limits: Limits { paths: Some(600), ..Limits::default() }, ..Config::default() };
    let found = explore_c(text, "f", &[Criterion::Dc], &few);
    confirm(&found);
    assert!(found.covered(Criterion::Dc).len() >= 7, "{:#?}", found.summary);
}

#[test]
fn a_struct_is_filled_by_the_call_that_gets_it_first_and_changed_by_the_next() {
    let text = "
        struct info { long size; unsigned mode : 4, kind : 3; char name[12]; struct info *next; };
        extern int stat_of(const char *path, struct info *to);
        extern void show(struct info *what);
        int f(const char *path) {
            struct info info;
            if (stat_of(path, &info)) return -1;
            show(&info);
            if (info.size > 4096 && info.mode == 5) return 1;
            if (info.name[0] == 'q' && info.name[1] == 0) return 2;
            if (info.next && info.next->size == 9) return 3;
            long before = info.size;
            show(&info);
            if (info.size != before) return 4;
            return 0;
        }";
    covers_all(&explored(text, "f"), 10);
}

#[test]
fn members_that_have_values_may_get_others() {
    let text = "
        struct pair { int left; short tag; int right; };
        extern void complete(struct pair *pair);
        int f(int a) {
            struct pair pair;
            pair.tag = 7;
            complete(&pair);
            if (pair.tag != 7) return 1;
            if (pair.left == a && pair.right == 12) return 2;
            return 0;
        }";
    let found = explored(text, "f");
    covers_all(&found, 4);
    let mut places: Vec<u64> = all_writes(&found).map(|write| write.offset).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [0, 4, 8]);
}

#[test]
fn a_buffer_is_filled_by_bytes_of_any_kind() {
    let text = "
        #include <stdlib.h>
        extern int fill(char *to, unsigned long size);
        extern long get(int from, void *to, unsigned long size);
        int f(void) {
            char buf[32];
            if (fill(buf, sizeof buf) < 0) return -1;
            if (buf[0] == 'o' && buf[1] == 'k' && !buf[2]) return 1;
            int *numbers = malloc(3 * sizeof *numbers);
            if (!numbers) return -2;
            numbers[1] = 50;
            if (get(3, numbers, 12) == 12 && numbers[0] + numbers[2] == 4711) { free(numbers); return 2; }
            int kept = numbers[1];
            free(numbers);
            if (kept == 50) return 3;
            return 4;
        }";
    covers_all(&explored(text, "f"), 10);
}

#[test]
fn a_block_whose_size_depends_on_the_input_is_written_as_far_as_it_reaches() {
    let text = "
        #include <stdlib.h>
        extern void fill(unsigned char *to, unsigned long size);
        int f(unsigned char n) {
            if (n < 2 || n > 9) return -1;
            unsigned char *block = malloc(n);
            if (!block) return -2;
            fill(block, n);
            int r = block[n - 1] == 0xee && block[0] == n;
            free(block);
            return r;
        }";
    let config = Config { every_path: true, ..Config::default() };
    let found = explore_c(text, "f", &[Criterion::Dc, Criterion::Stmt], &config);
    confirm(&found);
    assert!(found.summary.left.is_empty(), "{:#?}", found.summary);
    for test in &found.tests {
        for write in test.test.externals.iter().flat_map(|call| &call.writes) {
            let size = u64::from(test.test.args[0].bytes[0]);
            assert_eq!(write.image.bytes.len() as u64, size);
        }
    }
}

#[test]
fn constants_and_memory_that_no_path_looks_at_are_not_written() {
    let text = "
        extern void touch(int *a, const int *b, int *c, int n);
        static const int fixed = 8;
        int f(int *p, int n) {
            int x = 2, y[2] = {3, 4};
            touch(p, &x, (int *)&fixed, n);
            touch(p, y, p, n);
            if (x != 2 || y[0] != 3 || fixed != 8) return 1;
            return 0;
        }";
    let found = explored(text, "f");
    assert!(found.summary.complete, "{:#?}", found.summary);
    assert_eq!(found.covered(Criterion::Dc).len(), 1, "{:#?}", found.summary);
    assert_eq!(all_writes(&found).count(), 0);
}

#[test]
fn a_callback_sets_what_it_is_given() {
    let text = "
        typedef int (*reader)(void *self, double *to);
        int f(reader read, void *self) {
            double value = 0;
            if (!read) return -1;
            if (read(self, &value) && value > 2.5) return 1;
            return 0;
        }";
    covers_all(&explored(text, "f"), 4);
}

#[test]
fn settings_define_the_writes() {
    let text = "
        extern int parse(const char *s, int *value);
        int f(const char *s) {
            int v;
            if (!parse(s, &v)) return -1;
            if (v > 9) return 1;
            return 0;
        }";
    let toml = "[function.parse.places]\n\"*value\" = { range = [0, 9] }\n";
    let settings = Settings::from_toml_str(toml).unwrap();
    let criteria = [Criterion::Dc];
    let found = explore_c_with(text, "f", &criteria, &Config::default(), settings);
    confirm(&found);
    assert!(found.summary.complete, "{:#?}", found.summary);
    assert_eq!(found.covered(Criterion::Dc).len(), 3);
}

#[test]
fn replayed_paths_get_the_same_writes() {
    let text = "
        extern int next(int *value, char **word, void *more);
        int f(int n) {
            int value, sum = 0; char *word = 0; unsigned short more[4];
            for (int i = 0; i < 4 && next(&value, &word, more); i++) {
                if (value > 10 * i) sum++;
                if (word && *word == 'w') sum += 2;
                if (more[i] == i + 40) sum += 4;
            }
            return sum > n;
        }";
    let explore = |whole_states| {
        let limits = Limits { whole_states, paths: Some(120), ..Limits::default() };
        let config = Config { limits, search: Search::BreadthFirst, ..plain() };
        let found = explore_c(text, "f", &[], &config);
        let tests: Vec<_> = found.tests.iter().map(|test| test.test.clone()).collect();
        let returned = found.summary.paths.get(&Ending::Returned).copied();
        (tests, returned, found.summary.statistics.evicted)
    };
    let (whole, again) = (explore(None), explore(Some(3)));
    assert!(again.2 > 20 && whole.2 == 0, "{} {}", again.2, whole.2);
    assert_eq!(whole.0, again.0);
    assert_eq!(whole.1, again.1);
}
