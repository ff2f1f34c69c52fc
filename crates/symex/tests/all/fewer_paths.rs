//! Code that only computes values is one path, and no label is lost for it.

use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending, Limits};

use crate::common::{Explored, explore_c};

const LOGIC: [Criterion; 5] =
    [Criterion::Bbc, Criterion::Bc, Criterion::Mcc, Criterion::Gacc, Criterion::Wm];

/// Follows every path to its end, with or without merging.
fn all(merge: bool) -> Config {
    Config { merge, stop_when_covered: false, limits: Limits::unbounded(), ..Config::default() }
}

/// Explores a function with and without merging, and compares the covered and the remaining labels.
fn both(text: &str, criteria: &[Criterion]) -> [Explored; 2] {
    let [forked, merged] = [false, true].map(|merge| explore_c(text, "f", criteria, &all(merge)));
    assert!(forked.summary.complete && merged.summary.complete);
    for criterion in criteria {
        assert_eq!(forked.covered(*criterion), merged.covered(*criterion), "{criterion:?}");
    }
    assert_eq!(forked.summary.covered_hypers, merged.summary.covered_hypers);
    assert_eq!(forked.summary.left, merged.summary.left);
    [forked, merged]
}

const DIGITS: &str = "
    static int letter(char c, int base) { return base > 10 && c >= 'a' && c <= 'f'; }
    static int digit(char c, int base) {
        if (c >= '0' && c <= '9')
            return c - '0';
        if (letter(c, base))
            return c - 'a' + 10;
        switch (c) {
        case '_': case '.': return 98;
        case 0: return -1;
        }
        return base - base + 99;
    }
    int f(const char text[3], int base) {
        int sum = 0;
        for (int i = 0; i < 3; i++) {
            int value = digit(text[i], base);
            if (value < 0) break;
            if (value >= base) continue;
            sum = sum * base + value;
        }
        return sum == 77 ? 1 : 0;
    }";

#[test]
fn a_call_of_a_function_that_only_computes_is_one_path() {
    let [forked, merged] = both(DIGITS, &LOGIC[..4]);
    let [forked, merged] = [forked, merged].map(|found| found.summary.path_count());
    assert!(20 * merged < forked, "{merged} paths of {forked}");
}

#[test]
fn labels_in_merged_computations_are_covered_or_excluded_as_on_separate_paths() {
    // Two iterations: all mutants are asked for on each path.
    both(&DIGITS.replace("text[3]", "text[2]").replace("i < 3", "i < 2"), &LOGIC);
}

#[test]
fn a_chain_of_choices_that_meets_again_is_one_path() {
    let text = "
        int f(unsigned char key[4]) {
            int points = 0;
            for (int i = 0; i < 4; i++) {
                int kind;
                if (key[i] < 32) kind = 0;
                else if (key[i] >= '0' && key[i] <= '9') kind = 1;
                else switch (key[i]) {
                    case 'x': kind = 4; break;
                    case 'y': kind = 5;
                    default: kind = key[i] > 90 ? 2 : 3;
                }
                points += kind;
            }
            return points > 15;
        }";
    let [forked, merged] = both(text, &LOGIC[..4]);
    let [forked, merged] = [forked, merged].map(|found| found.summary.path_count());
    assert!(20 * merged < forked, "{merged} paths of {forked}");
}

#[test]
fn a_trap_or_an_address_that_a_way_decides_prevents_merging() {
    let text = "
        static int part(int a, int b) { if (a > 3) return a / b; if (b < 0) return b; return 7; }
        static const int *of(const int *p, const int *q, int a) { if (a) return p; return q; }
        int f(int n[2], int a, int b) {
            int sum = 0;
            for (int i = 0; i < 2; i++)
                sum += part(n[i], a) + *of(&a, &b, n[i]);
            return sum;
        }";
    let [forked, merged] = [false, true].map(|merge| {
        let limits = Limits { paths: Some(1000), ..Limits::unbounded() };
        let config = Config { limits, look_ahead: false, ..all(merge) };
        explore_c(text, "f", &[], &config).summary
    });
    for summary in [forked, merged] {
        let divided = Ending::Trapped(TrapKind::DivisionByZero);
        assert!(summary.paths.contains_key(&divided), "{summary:?}");
    }
}

#[test]
fn pairs_and_rows_in_code_that_only_computes_are_still_looked_at() {
    let text = "
        static int kind(int a, int b) {
            int k = 0;
            if (a > 4) k = 1;
            if (b == 2 || a == b) k = k + 2;
            return k;
        }
        int f(int a, int b, int c) { return kind(a, b) + kind(b, c) > 3; }";
    both(text, &[Criterion::AllUses, Criterion::Racc, Criterion::Bbc]);
}

#[test]
fn replayed_states_pass_merged_computations_as_before() {
    let whole = explore_c(DIGITS, "f", &LOGIC[..4], &all(true));
    let mut config = all(true);
    config.limits.whole_states = Some(0);
    let evicted = explore_c(DIGITS, "f", &LOGIC[..4], &config);
    assert!(evicted.summary.statistics.evicted > 0);
    assert_eq!(whole.summary.paths, evicted.summary.paths);
    assert_eq!(whole.summary.covered, evicted.summary.covered);
}

#[test]
fn a_register_that_one_way_sets_alone_is_not_set_behind_it() {
    let text = "
        int f(int a, int b) {
            int only;
            if (a > 3) only = b;
            if (a > 3 && only > 7) return 1;
            return 0;
        }";
    let [forked, _] = both(text, &LOGIC[..4]);
    assert_eq!(forked.covered(Criterion::Bbc).len(), 6, "{:?}", forked.summary);
}

#[test]
fn a_way_that_returns_nothing_is_no_way_to_a_value() {
    let text = "
        static int part(int a) { if (a > 3) return 1; }
        int f(int n[5], int a) {
            for (int i = 0; i < 5; i++) part(n[i]);
            return part(a) == 1 ? 7 : 8;
        }";
    for merge in [false, true] {
        let found = explore_c(text, "f", &[Criterion::Bc], &all(merge));
        let a = |bytes: &[u8]| bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
        let mut given = found.tests.iter().map(|test| a(&test.test.args[1].bytes));
        // A call that returns nothing does not make `part(a) == 1` true.
        assert!(given.any(|a| a > Some(3)), "{merge}: {:?}", found.tests);
    }
}
