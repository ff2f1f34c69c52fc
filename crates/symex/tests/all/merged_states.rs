//! States of the ways through loops and calls without a goal are merged behind them, and nothing is
//! lost or made up: traps, endless loops and limits inside stay what they are.

use lydian_inputs::Settings;
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, Ending, Limits, Search};

use crate::common::measure::confirm;
use crate::common::{Explored, explore_c, explore_c_with, guessed};

/// Follows every path to its end, and merges the states of scopes at once, or never.
fn all(merge_states_after: Option<u32>) -> Config {
    let limits = Limits { loop_bound: Some(12), ..Limits::unbounded() };
    let config = Config { merge_states_after, limits, nice_values: true, ..Config::default() };
    Config { stop_when_covered: false, look_ahead: false, ..config }
}

/// Explores a function without merging, with merging, with merging and eviction of all waiting states, and
/// with merging of everything that has no label left. Compares the covered labels, the remaining ones, and the omissions. All tests must end
/// as predicted and cover the claimed labels.
fn both(text: &str, criteria: &[Criterion]) -> [Explored; 2] {
    both_with(text, criteria, Settings::default())
}

/// As [`both`], with settings for the inputs.
fn both_with(text: &str, criteria: &[Criterion], settings: Settings) -> [Explored; 2] {
    let mut compacting = all(Some(0));
    compacting.limits.whole_states = Some(0);
    let silent = Config { merge_silent_code: true, ..all(Some(0)) };
    let [apart, merged, evicted, silent] = [all(None), all(Some(0)), compacting, silent]
        .map(|config| explore_c_with(text, "f", criteria, &config, settings.clone()));
    for found in [&merged, &evicted, &silent] {
        confirm(found);
        for criterion in criteria {
            assert_eq!(found.covered(*criterion), apart.covered(*criterion), "{criterion:?}");
        }
        assert_eq!(found.summary.covered_hypers, apart.summary.covered_hypers);
        let left = |found: &Explored| -> Vec<_> {
            found.summary.left.iter().map(|left| left.label).collect()
        };
        assert_eq!(left(found), left(&apart));
        assert_eq!(found.summary.complete, apart.summary.complete, "{:?}", found.summary.cuts);
    }
    assert_eq!(merged.summary.paths, evicted.summary.paths);
    [apart, merged]
}

/// The numbers of paths, without and with merging.
fn paths(found: &[Explored; 2]) -> [u64; 2] {
    found.each_ref().map(|found| found.summary.path_count())
}

const BRANCHES: &[Criterion] = &[Criterion::Bc];

#[test]
fn a_loop_left_after_any_iteration_is_one_path_where_its_counter_is_not_read_again() {
    let text = "
        int f(unsigned n, int a, unsigned char to[8]) {
            for (unsigned i = 0; i < n && i < 8; i++) to[i] = i + 1;
            return a > 3 ? 1 : 0;
        }";
    let found = both_with(text, &[], guessed());
    let [apart, merged] = paths(&found);
    assert!(6 * merged <= apart, "{merged} paths of {apart}");
    assert!(found.iter().all(|found| found.summary.complete));
}

#[test]
fn later_conditions_distinguish_the_writes_of_a_merged_loop() {
    let text = "
        int f(unsigned n, int a, unsigned char to[4]) {
            if (a & 1) to[0] = 5;
            if (a & 2) to[1] = 6;
            for (unsigned i = 0; i < n && i < 4; i++) to[i] = 7;
            if (to[2] == 7 && n < 3) return to[2] == 7 ? 1 : 2;
            if (n == 3 && to[2] != 7) return 3;
            return to[1] == 7 ? 4 : 5;
        }";
    let [_, merged] = both(text, BRANCHES);
    assert!(!merged.summary.left.is_empty());
    assert!(merged.summary.complete && merged.summary.statistics.merged_states > 0);
}

#[test]
fn an_input_on_which_a_merged_loop_traps_covers_nothing_behind_it() {
    let text = "
        int f(unsigned n, signed char d[4]) {
            int sum = 0;
            for (unsigned i = 0; i < n && i < 4; i++) sum += 100 / d[i];
            if (n > 1 && d[1] == 0) return 1;
            return sum == 100 ? 2 : 3;
        }";
    let [apart, merged] = both(text, BRANCHES);
    let divided = Ending::Trapped(TrapKind::DivisionByZero);
    for found in [apart, merged] {
        assert!(found.summary.complete && found.summary.paths.contains_key(&divided));
        assert_eq!(found.summary.left.len(), 1, "{:?}", found.summary.left);
    }
}

#[test]
fn an_input_on_which_a_loop_never_ends_covers_nothing_behind_it() {
    let text = "
        int f(int n, int a) {
            int turns = 0;
            while (n == 7) turns = a;
            for (int i = 0; i < (a & 3); i++) turns++;
            if (n == 7) return 1;
            return turns;
        }";
    let [_, merged] = both(text, BRANCHES);
    assert!(merged.summary.complete && merged.summary.paths.contains_key(&Ending::Endless));
    assert_eq!(merged.summary.left.len(), 1, "{:?}", merged.summary.left);
}

#[test]
fn a_loop_without_a_known_bound_is_cut_off_and_nothing_behind_it_is_infeasible() {
    let text = "
        int f(unsigned n, unsigned a) {
            unsigned sum = 0;
            for (unsigned i = 0; i < n; i++) sum += a;
            if (n > 1000) return 1;
            return sum != 0;
        }";
    let [_, merged] = both(text, BRANCHES);
    assert!(merged.summary.cuts.contains_key(&Cut::LoopBound(12)), "{:?}", merged.summary.cuts);
    assert!(!merged.summary.complete);
}

#[test]
fn breaks_returns_and_jumps_out_of_a_loop_lead_where_they_do() {
    let text = "
        int f(unsigned char s[5], int a) {
            int seen = 0;
            if (a & 1) s[0] = 'a';
            if (a & 2) s[1] = 'g';
            for (int i = 0; i < 5; i++) {
                if (s[i] == 'x') break;
                if (s[i] == 'r') return a > 2 ? 1 : 2;
                for (int k = 0; k < 2; k++) {
                    if (s[i] == 'g') goto out;
                    seen ^= s[i];
                }
            }
            return a > 3 ? 3 : 4;
        out:
            return a > 4 ? 5 : seen;
        }";
    let found = both_with(text, BRANCHES, guessed());
    let [apart, merged] = paths(&found);
    assert!(merged < apart, "{merged} paths of {apart}");
    let given = &found[1].tests;
    assert!(given.iter().all(|test| test.ending == Ending::Returned), "{given:?}");
}

#[test]
fn a_call_is_one_path_for_each_result_that_is_asked_for() {
    let text = "
        static int last, calls;
        static int note(const unsigned char *s) {
            int sum = 0;
            for (int i = 0; i < 6; i++) {
                if (s[i] == 0) break;
                if (s[i] == '%') { last = i; return -1; }
                if (s[i] > 'z') sum += 2; else sum++;
            }
            calls++;
            last = sum;
            return 0;
        }
        int f(const unsigned char s[6], int a) {
            calls = 0;
            if (note(s) < 0) return 1;
            if (calls != 1) return 2;
            return last > 9 && a > 3 ? 3 : 4;
        }";
    let found = both_with(text, &[Criterion::Dc], guessed());
    let [apart, merged] = paths(&found);
    assert!(3 * merged < 2 * apart, "{merged} paths of {apart}");
    // Only `calls != 1` is left.
    assert_eq!(found[1].summary.left.len(), 1, "{:?}", found[1].summary.left);
}

#[test]
fn labels_in_a_loop_are_covered_before_its_states_are_merged() {
    let text = "
        int f(unsigned char s[5], int a) {
            int seen = 0;
            if (a & 1) s[0] = 'a';
            if (a & 2) s[1] = 'g';
            for (int i = 0; i < 5; i++) {
                if (s[i] == i + 3) seen = s[i];
                if (s[i] > 250 && i > 3) seen = 9;
            }
            return a > 3 ? seen : 0;
        }";
    let logic = [Criterion::Mcc, Criterion::Bbc, Criterion::Racc];
    let [_, merged] = both(text, &logic);
    assert!(merged.summary.complete && merged.summary.statistics.merged_states > 0);
}

#[test]
fn objects_and_inputs_made_in_a_loop_keep_its_states_apart() {
    let text = "
        #include <stdlib.h>
        int ask(void);
        int f(int n) {
            int *kept = 0, sum = 0;
            for (int i = 0; i < (n & 3); i++) {
                int local[2] = { n, i };
                sum += ask() + local[i & 1];
                free(kept);
                kept = malloc(sizeof *kept);
                if (!kept) return 0;
                *kept = sum;
            }
            int result = kept ? *kept : -1;
            free(kept);
            return result == 77 ? 1 : result < 0 ? 2 : 3;
        }";
    both(text, BRANCHES);
}

#[test]
fn memory_stays_unwritten_on_the_ways_that_did_not_write_it() {
    let text = "
        int f(unsigned n, unsigned char a) {
            unsigned char copy[4];
            int set;
            for (unsigned i = 0; i < n && i < 4; i++) { copy[i] = a + i; set = 1; }
            if (n > 2 && copy[2] == 9) return 1;
            if (n > 0 && n < 4 && set == 1) return 2;
            return 3;
        }";
    let [apart, merged] = both(text, BRANCHES);
    for found in [apart, merged] {
        assert!(!found.summary.cuts.keys().any(Cut::is_dependence), "{:?}", found.summary.cuts);
    }
}

#[test]
fn a_jump_out_of_a_call_without_a_goal_leaves_it_for_good() {
    let text = "
        #include <setjmp.h>
        static jmp_buf out;
        static void check(const unsigned char *s) {
            for (int i = 0; i < 4; i++) if (s[i] > 'z') longjmp(out, 1);
        }
        int f(const unsigned char s[4], int a) {
            if (setjmp(out)) return a > 3 ? 1 : 2;
            check(s);
            return s[1] > 'z' ? 3 : 4;
        }";
    let [_, merged] = both(text, BRANCHES);
    assert_eq!(merged.summary.left.len(), 1, "{:?}", merged.summary.left);
}

#[test]
fn labels_covered_in_a_scope_are_covered_by_the_test_of_the_merged_state() {
    // Calls through pointers are not searched for labels that are left.
    let text = "
        static int seen;
        static void look(unsigned char c, int i) {
            if (i == 3 && (c == 'z' || seen == 77)) seen = c;
        }
        static void (*const looks[1])(unsigned char, int) = { look };
        int f(unsigned char s[4], unsigned char w[4], int a) {
            for (int i = 0; i < 2; i++) if (w[i] == 9) w[i] = 8;
            for (int i = 0; i < 4; i++) {
                if (s[i] == 'q') break;
                looks[0](s[i], i);
            }
            return a > 3 ? 3 : 4;
        }";
    for search in [Search::DepthFirst, Search::BreadthFirst, Search::RandomPath, Search::Mixed] {
        let config = Config { search, ..all(Some(0)) };
        let merged = explore_c(text, "f", &[Criterion::Mcc, Criterion::Bc], &config);
        confirm(&merged);
        assert!(merged.summary.complete && merged.summary.statistics.merged_states > 0);
    }
}

#[test]
fn ways_of_which_one_reads_volatile_memory_are_not_merged() {
    for reads in ["c != 0", "c == 0"] {
        let other = if reads == "c != 0" { 0 } else { 1 };
        let text = format!(
            "static void get(int c, volatile int *p, int *to) {{ if ({reads}) *to = *p; }}
            static int hit(void) {{ return 1; }}
            int f(int c, volatile int *p) {{
                int x = 0;
                get({other}, p, &x);
                get(c, p, &x);
                int y = *p;
                if (x == 1 && y == 2) return hit();
                return 0;
            }}"
        );
        let settings = Settings { lazy_inputs: true, ..Settings::default() };
        let found = explore_c_with(&text, "f", &[Criterion::Fc], &all(Some(0)), settings);
        assert!(found.summary.statistics.merged_states == 0, "{:?}", found.summary);
        assert!(found.summary.left.is_empty(), "{reads}: {:?}", found.summary);
        confirm(&found);
    }
}

/// An exploration that stops when all labels are covered, and merges code without one or not.
fn for_few(text: &str, merge_silent_code: bool) -> Explored {
    let config = Config { merge_silent_code, nice_values: true, ..Config::default() };
    let found = explore_c(text, "f", BRANCHES, &config);
    confirm(&found);
    found
}

/// Ways that write to memory and meet again, in a function without labels of its own.
const WRITES: &str = "
    struct s { int a, b, c, x, y, z; };
    static void set(struct s *s) {
        if (s->a > 3) s->x = 1;
        if (s->b > 3) s->y = s->a;
        if (s->c > 3) { s->z = 2; if (s->a > 9) s->y = 4; }
        for (int i = 0; i < (s->b & 3); i++) s->x++;
    }";

#[test]
fn ways_that_write_to_memory_are_one_path_from_the_first_time_on_in_code_without_a_label() {
    let text = format!(
        "{WRITES}
        int f(int a, int b, int c, int d) {{
            struct s s = {{a, b, c, 0, 0, 0}};
            set(&s);
            if (s.x > 9 && s.z == 1) return 1;
            return s.y == d;
        }}"
    );
    let [all, few] = [false, true].map(|silent| for_few(&text, silent));
    assert_eq!(few.covered(Criterion::Bc), all.covered(Criterion::Bc));
    let left = |found: &Explored| found.summary.left.len();
    assert!(few.summary.complete && left(&few) == left(&all) && left(&few) > 0);
    let [all, few] = [all, few].map(|found| found.summary.path_count());
    assert!(few * 3 <= all, "{few} paths of {all}");
}

#[test]
fn a_shorter_path_may_go_on_behind_ways_that_are_merged() {
    let text = "
        struct t { int range, closing, is_heard, level; };
        static void sort(struct t *t) {
            t->level = 0;
            if (!t->is_heard || t->range >= 9000) return;
            t->level = 1;
            if (t->closing > 0 && t->range < 3000) t->level = 2;
            if (t->level == 2 && (t->closing > 600 || t->range < 1000)) t->level = 3;
        }
        int f(struct t all[3], int held) {
            int i, found = 0;
            for (i = 0; i < 3; i++) sort(&all[i]);
            for (i = 1; i < 3; i++) if (all[i].level > all[found].level) found = i;
            if (all[found].level > 3) return 1;
            return held > 3 ? 2 : all[found].level;
        }";
    for silent in [false, true] {
        let found = for_few(text, silent);
        assert!(
            found.summary.complete && found.summary.left.len() == 1,
            "{:?}",
            found.summary.left
        );
    }
}
