//! Exploring C programs through the front end.

mod common;

use common::{explore_c, explore_file, plain};
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending, Limits, Mode};

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
    let outside = Ending::Trapped(TrapKind::OutOfBounds);
    assert!(found.summary.paths.contains_key(&outside), "{:?}", found.summary);
}

/// All paths of an example program of `examples/table1`.
fn all_paths(mode: Mode, label_patience: u32) -> Config {
    Config {
        mode,
        label_patience,
        limits: Limits::unbounded(),
        stop_when_covered: false,
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
    // All paths need far more: each turn of the loop has at least three ways.
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
