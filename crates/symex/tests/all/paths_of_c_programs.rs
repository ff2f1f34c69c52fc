//! Exploring C programs through the front end.

use lydian_base::StopReason;
use lydian_ir::TrapKind;
use lydian_ir::test::PointerTarget;
use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, Ending, Limits, Mode, Undetermined};

use crate::common::{explore_c, explore_c_with, explore_file, guessed, plain};

#[test]
fn a_header_parser_is_covered_through_a_buffer_with_its_length() {
    let criteria = [Criterion::Dc, Criterion::Mcc];
    let found =
        explore_file("examples/parse_header.c", "parse_header", &criteria, &Config::default());
    assert_eq!(found.covered(Criterion::Dc).len(), 16, "{:?}", found.summary);
}

#[test]
fn a_trap_behind_a_null_pointer_is_kept_as_a_test() {
    let text = "int get(const int *p, int i) { if (i > 2) return p[i - 3]; return 0; }";
    let found = explore_c(text, "get", &[], &plain());
    let null = Ending::Trapped(TrapKind::NullDereference);
    assert!(found.summary.paths.contains_key(&null), "{:?}", found.summary);
    // An array with a guessed size has an end.
    let found = explore_c_with(text, "get", &[], &plain(), guessed());
    let outside = Ending::Trapped(TrapKind::OutOfBounds);
    assert!(found.summary.paths.contains_key(&outside), "{:?}", found.summary);
}

#[test]
fn where_only_good_ends_count_a_label_is_covered_by_a_run_that_returns() {
    let text = "
        void abort(void);
        int f(const int *p, int n) {
            int sum = 0;
            if (n > 3) {
                sum = p[0] + 1;
                if (sum < -2) abort();
            }
            if (n == 7) abort();
            return sum;
        }";
    let config = |good_ends| Config { good_ends, ..Config::default() };
    let found = explore_c(text, "f", &[Criterion::Dc], &config(true));
    let crashed = found.tests.iter().filter(|test| test.ending != Ending::Returned);
    assert_eq!(crashed.count(), 0, "{:?}", found.tests);
    let covered = found.covered(Criterion::Dc);
    assert_eq!(covered.len(), 4, "two outcomes lead to nothing but `abort`: {covered:?}");
    let found = explore_c(text, "f", &[Criterion::Dc], &config(false));
    assert_eq!(found.covered(Criterion::Dc).len(), 6, "{:?}", found.summary);
}

#[test]
fn a_standard_stream_is_no_other_object_and_is_not_looked_into() {
    let text = "
        typedef struct _IO_FILE FILE;
        extern FILE *stdin, *stdout, *stderr;
        struct part { FILE *to; char name[4]; };
        int put(FILE *out);
        int f(struct part *part, int n) {
            FILE *to = part->to;
            if (!to || to == stdin) return 0;
            if (to == stderr) return n > 3 ? put(stdout) : 1;
            if (stdin == stdout || stdout == 0) return 2;
            if (to == stdout && ((char *)to)[0] == 9) return 3;
            return 4;
        }";
    let found = explore_c(text, "f", &[Criterion::Dc, Criterion::Cc], &Config::default());
    let covered = found.covered(Criterion::Dc);
    assert_eq!(covered.len(), 8, "{covered:?} {:?}", found.summary);
    let what = "the contents of `*stdout`, which only the C library knows";
    assert!(found.summary.cuts.contains_key(&Cut::Unsupported(what.into())), "{:?}", found.summary);
    let streams = found.tests.iter().flat_map(|test| &test.test.objects);
    let streams = streams.flat_map(|object| &object.image.pointers);
    let named = |name: &str| PointerTarget::Stream(name.into());
    let targets: Vec<_> = streams.map(|pointer| &pointer.target).collect();
    assert!(targets.contains(&&named("stdin")), "{targets:?}");
    assert!(targets.contains(&&named("stderr")), "{targets:?}");
}

/// All paths of an example program of `examples/table1`.
fn all_paths(mode: Mode, label_patience: u32) -> Config {
    Config {
        mode,
        label_patience,
        limits: Limits::unbounded(),
        stop_when_covered: false,
        look_ahead: false,
        merge: false,
        crash_tests: false,
        ..Config::default()
    }
}

#[test]
fn labels_add_at_most_a_fifth_to_the_paths_and_waiting_loses_none() {
    for (file, function) in [("four_balls.c", "four_balls"), ("utf8.c", "utf8_3")] {
        let path = format!("examples/table1/{file}");
        let explore = |mode, patience| {
            explore_file(&path, function, &[Criterion::Wm], &all_paths(mode, patience)).summary
        };
        let plain = explore(Mode::Plain, 0);
        let patient = explore(Mode::Tight, 32);
        let impatient = explore(Mode::Tight, 0);
        assert!(plain.complete && patient.complete && impatient.complete);
        assert_eq!(patient.paths, plain.paths, "labels do not constrain paths");
        let paths = patient.path_count() + patient.label_paths;
        assert!(5 * paths <= 6 * plain.path_count(), "{function}: {paths} paths");
        assert_eq!(patient.covered.len(), impatient.covered.len());
        assert_eq!(patient.left, impatient.left);
    }
}

#[test]
fn a_state_that_covers_labels_is_followed_to_its_end_before_others() {
    let text = "struct key { unsigned char at[24]; };
    int f(struct key key) {
        int n = 0;
        for (int i = 0; i < 24; i++) {
            if (key.at[i] > 'a' && key.at[i] < 'z') n++;
            if (key.at[i] == '-') n += 2;
        }
        return n;
    }";
    let mut config = Config::default();
    // All paths need far more steps: each iteration of the loop has at least three ways.
    config.limits.steps = Some(2000);
    config.crash_tests = false;
    let criteria = [Criterion::Dc, Criterion::Cc, Criterion::Mcc];
    let found = explore_c(text, "f", &criteria, &config);
    let first = found.tests.first().expect("a test");
    assert_eq!(first.ending, Ending::Returned, "{:?}", found.summary);
    assert!(!first.covers.is_empty());
    let ended = found.tests.iter().filter(|test| test.ending == Ending::Returned);
    let given: usize = ended.map(|test| test.covers.len()).sum();
    assert_eq!(given, found.summary.covered.len(), "no label waits for the end");
}

#[test]
fn a_path_that_is_a_cycle_ends_and_cuts_nothing_off() {
    let text = "int ready(void);
        int f(int x, int *p) {
            int n = 0;
            for (;;) {
                if (x > 3) n = 1; else n = 2;
                *p = !*p;
                if (x > 9) ready();
                if (n == 0) return 1;
            } }";
    let found = explore_c(text, "f", &[Criterion::Dc], &Config::default());
    assert_eq!(found.covered(Criterion::Dc).len(), 7, "{:?}", found.summary);
    assert!(found.summary.complete && found.summary.paths.contains_key(&Ending::Endless));
    assert_eq!(found.summary.left.len(), 1, "{:?}", found.summary.left);
}

#[test]
fn a_path_that_only_takes_long_is_followed_to_its_end() {
    for text in [
        "int f(int x) { unsigned n = 0; for (;;) if (++n == 9000) return x > 3 ? 1 : 2; }",
        "static unsigned n; int f(int x) { for (;;) if (n++ == 9000) return x > 3 ? 1 : 2; }",
        "int next(void); int f(int x) { unsigned n = 0; int last = 0;
            while (n < 3000) { n++; last = next(); }
            if (last == 7) return x > 3 ? 1 : 2; return 0; }",
    ] {
        let found = explore_c(text, "f", &[Criterion::Dc], &Config::default());
        assert!(!found.summary.paths.contains_key(&Ending::Endless), "{:?}", found.summary);
        assert_eq!(found.summary.left, Vec::new(), "{text}");
    }
}

#[test]
fn a_path_that_takes_long_lets_others_go_on_and_its_test_is_not_lost() {
    let text = "int f(unsigned k, int j) { unsigned sum = 0;
        if (k < 3) for (unsigned i = 0; i < 200000; i++) sum += i ^ k;
        else if (j == 77) return 1;
        return sum > 4; }";
    let limits = Limits { steps: Some(40_000), ..Limits::default() };
    let found = explore_c(text, "f", &[Criterion::Dc], &Config { limits, ..Config::default() });
    // All outcomes, except that the loop is left.
    assert_eq!(found.covered(Criterion::Dc).len(), 5, "{:?}", found.summary);
    let given: usize = found.tests.iter().map(|test| test.covers.len()).sum();
    assert_eq!(given, found.summary.covered.len());
    assert!(!found.summary.complete && found.summary.left.len() == 1, "{:?}", found.summary);
}

#[test]
fn labels_that_a_walk_over_remainders_never_meets_are_left_by_a_complete_exploration() {
    let (mut met, mut never) = (0, 0);
    for seed in 0..40u64 {
        let mut rng = lydian_base::Rng::new(seed);
        let modulus = 2 + rng.below(60);
        let [factor, add, first, goal] = [0; 4].map(|_: u64| rng.below(modulus));
        let step = |x: u64| (x * factor + add) % modulus;
        let is_met = (0..modulus).scan(first, |x, _| {
            *x = step(*x);
            Some(*x)
        });
        let is_met = is_met.into_iter().any(|x| x == goal);
        let text = format!(
            "struct walk {{ unsigned at; }};
            int f(struct walk *w) {{ unsigned y = {first};
                for (w->at = {first};; y = w->at) {{
                    w->at = (w->at * {factor}u + {add}u) % {modulus}u;
                    if (w->at == {goal}u) return y == 0 ? 1 : 2;
                }} }}"
        );
        let summary = explore_c(&text, "f", &[Criterion::Dc], &plain()).summary;
        assert!(summary.complete, "{summary:?}");
        let count = |ending| summary.paths.get(&ending).copied().unwrap_or(0);
        let expected = if is_met { (1, 0) } else { (0, 1) };
        assert_eq!((count(Ending::Returned), count(Ending::Endless)), expected, "{text}");
        met += u32::from(is_met);
        never += u32::from(!is_met);
    }
    assert!(met > 5 && never > 5, "{met} {never}");
}

#[test]
fn labels_that_depend_on_assembly_are_not_claimed_but_their_paths_give_tests() {
    let text = "int f(int x) { int y; __asm__(\"mov %1, %0\" : \"=r\"(y) : \"r\"(x)); \
                if (x > 3) return 1; if (y == 9) return 2; return 3; }";
    let found = explore_c(text, "f", &[Criterion::Dc], &Config::default());
    let covered = found.covered(Criterion::Dc);
    assert_eq!(covered.len(), 2, "only the test of `x` is claimed: {:?}", found.summary);
    assert!(!found.summary.complete, "{:?}", found.summary);
    let is_of_assembly = |cut: &Cut| matches!(cut, Cut::Undetermined(Undetermined::Assembly, _));
    assert!(found.summary.cuts.keys().any(is_of_assembly), "{:?}", found.summary);
    assert!(found.tests.len() >= 2, "both sides of what assembly decides are to be measured");
}

#[test]
fn an_array_of_a_length_from_the_input_is_explored_with_its_bad_lengths() {
    let text = "int f(int n) { char a[n]; a[0] = 1; if (n > 2) a[2] = 7; \
                return n > 2 ? a[2] : a[0]; }";
    let found = explore_c(text, "f", &[Criterion::Dc], &plain());
    let bad = Ending::Trapped(TrapKind::BadSize);
    assert!(found.summary.paths.contains_key(&bad), "{:?}", found.summary);
    assert!(found.summary.paths.contains_key(&Ending::Returned), "{:?}", found.summary);
    let outside = Ending::Trapped(TrapKind::OutOfBounds);
    assert!(!found.summary.paths.contains_key(&outside), "{:?}", found.summary);
}

#[test]
fn reading_past_the_last_variable_argument_is_out_of_bounds() {
    let text = "static int sum(int n, ...) { __builtin_va_list ap; int s = 0; \
                __builtin_va_start(ap, n); while (n-- > 0) s += __builtin_va_arg(ap, int); \
                __builtin_va_end(ap); return s; } \
                int f(int n) { return n < 4 ? sum(n, 1, 2) : 0; }";
    let found = explore_c(text, "f", &[], &plain());
    let outside = Ending::Trapped(TrapKind::OutOfBounds);
    assert!(found.summary.paths.contains_key(&outside), "{:?}", found.summary);
    assert!(found.summary.paths.contains_key(&Ending::Returned), "{:?}", found.summary);
}

#[test]
fn a_jump_into_an_activation_that_returned_is_no_jump() {
    let text = "#include <setjmp.h>\n static jmp_buf env; \
                static int set(void) { return setjmp(env); } \
                int f(int x) { int r = set(); if (x == 7 && r == 0) longjmp(env, 1); return r; }";
    let found = explore_c(text, "f", &[], &plain());
    let bad = Ending::Trapped(TrapKind::BadJump);
    assert!(found.summary.paths.contains_key(&bad), "{:?}", found.summary);
}

#[test]
fn a_near_label_that_needs_another_history_is_reached() {
    let text = "struct text { char at[16]; };
    int f(struct text text) {
        int state = 0;
        for (int i = 0; i < 16; i++) {
            if (text.at[i] == '+') state = state == 0 ? 1 : 9;
            else if (text.at[i] == '.') state = state == 1 ? 2 : 9;
            else if (text.at[i] == '0') state = state >= 2 && state < 9 ? state + 1 : 9;
        }
        if (state == 4) return 1;
        return 0;
    }";
    let mut config = Config::default();
    config.limits.steps = Some(400_000);
    let found = explore_c(text, "f", &[Criterion::Dc], &config);
    assert_eq!(found.covered(Criterion::Dc).len(), 16, "{:?}", found.summary);
}

/// Each character of a string is one of three kinds: 3^n paths.
const KINDS: &str = "
    int kinds(const char text[10]) {
        int digits = 0, blanks = 0;
        for (int i = 0; i < 10; i++) {
            if (text[i] >= '0' && text[i] <= '9') digits++;
            else if (text[i] == ' ') blanks++;
        }
        return digits > 8 && blanks == 1;
    }
";

#[test]
fn a_memory_limit_that_cannot_be_kept_stops_the_exploration_and_is_its_reason() {
    let mut config = plain();
    config.limits.memory = Some(1 << 20);
    let found = explore_c(KINDS, "kinds", &[], &config);
    let stopped = Cut::Stopped(StopReason::Memory(1 << 20));
    assert!(found.summary.cuts.contains_key(&stopped), "{:?}", found.summary.cuts);
    assert!(!found.summary.complete);
    // The waiting states were evicted first.
    assert!(found.summary.statistics.evicted > 0);
}

#[test]
fn few_states_kept_whole_make_the_same_paths() {
    let mut config = Config { merge: false, label_patience: 0, ..Config::default() };
    config.stop_when_covered = false;
    config.limits.paths = Some(500);
    let whole = explore_c(KINDS, "kinds", &[Criterion::Mcc], &config).summary;
    config.limits.whole_states = Some(25);
    let evicted = explore_c(KINDS, "kinds", &[Criterion::Mcc], &config).summary;
    assert!(evicted.statistics.evicted > 250, "{:?}", evicted.statistics);
    assert_eq!(evicted.paths, whole.paths);
    assert_eq!(evicted.covered, whole.covered);
    assert_eq!(evicted.left, whole.left);
    assert_eq!(evicted.statistics.steps, whole.statistics.steps);
}
