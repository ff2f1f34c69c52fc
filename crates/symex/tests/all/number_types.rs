//! Number types that terms do not model, and those that consist of several numbers: constants are
//! computed, values that depend on inputs stop with a reason, and parts that terms have are
//! explored.

use std::time::Duration;

use lydian_objective::Criterion;
use lydian_symex::{Config, Limits};

use crate::common::explore_c;

fn config() -> Config {
    let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
    Config { limits, stop_when_covered: false, ..Config::default() }
}

#[test]
fn a_long_double_made_of_constants_is_computed_exactly() {
    let text = "int f(int x) {
            long double tenth = 0.1L, sum = 0;
            for (int i = 0; i < 10; i++) sum += tenth;
            if (sum == 1.0L) return x > 3;
            return 2;
        }";
    let found = explore_c(text, "f", &[Criterion::Dc], &config());
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
}

#[test]
fn a_long_double_that_depends_on_an_input_ends_the_path_with_the_reason() {
    let text = "int f(int x) { long double y = x; if (y * y > 2.0L) return 1; return 0; }";
    let found = explore_c(text, "f", &[Criterion::Dc], &config());
    assert!(!found.summary.complete);
    let reasons: Vec<String> = found.summary.cuts.keys().map(ToString::to_string).collect();
    assert!(reasons.iter().any(|reason| reason.contains("long double")), "{reasons:?}");
}

#[test]
fn parts_of_a_complex_number_and_elements_of_a_vector_are_inputs() {
    let text = "typedef int quad __attribute__((vector_size(16)));
        int f(_Complex double z, quad v) {
            quad w = v * 2 + 1;
            if (w[2] == 35) return 1;
            if (__real__ (z + 1.0i) == 2.5) return 2;
            return 0;
        }";
    let found = explore_c(text, "f", &[Criterion::Dc], &config());
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    assert_eq!(found.covered(Criterion::Dc).len(), 4);
}
