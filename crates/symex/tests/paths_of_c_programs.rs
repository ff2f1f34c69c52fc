//! Exploring C programs through the front end.

mod common;

use common::{explore_c, explore_file, plain};
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending};

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
