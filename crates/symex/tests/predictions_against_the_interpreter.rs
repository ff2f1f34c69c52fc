//! Every test that exploring gives is run by the interpreter: it must end as predicted and cover
//! what was claimed.

mod common;
#[path = "common/measure.rs"]
mod measure;

use common::{Explored, explore_file};
use lydian_ir::interp::End;
use lydian_objective::Criterion;
use lydian_symex::{Config, Ending};
use measure::measure;

const LOGIC: [Criterion; 4] = [Criterion::Dc, Criterion::Cc, Criterion::Mcc, Criterion::Gacc];

/// Runs all tests; gives how many claims were confirmed.
fn confirm(found: &Explored) -> usize {
    let mut confirmed = 0;
    for test in &found.tests {
        let (end, covered) = measure(&found.program, &found.objectives, &test.test);
        let as_predicted = match (&test.ending, end) {
            (Ending::Returned, End::Returned) | (Ending::Exited, End::Exited(_)) => true,
            (Ending::Trapped(a), End::Trapped(b)) => *a == b,
            (Ending::Cut(_), _) => true,
            _ => false,
        };
        assert!(as_predicted, "{:?} but {end:?}: {:#?}", test.ending, test.test);
        for label in &test.covers {
            let objectives = found.objectives.iter().find(|all| all.function == label.func);
            let text = objectives.map(|all| &all.labels[label.label]);
            assert!(covered.contains(label), "{label:?} {text:#?} not covered by {:#?}", test.test);
            confirmed += 1;
        }
    }
    assert_eq!(confirmed, found.summary.covered.len());
    confirmed
}

#[test]
fn a_header_parser_with_all_criteria() {
    let criteria = [&LOGIC[..], &[Criterion::Wm, Criterion::Stmt, Criterion::Fc]].concat();
    let config = Config::default();
    let found = explore_file("examples/parse_header.c", "parse_header", &criteria, &config);
    assert!(confirm(&found) > 100);
}

#[test]
fn collision_avoidance_with_the_logic_criteria() {
    let found =
        explore_file("examples/table1/tcas.c", "collision_advice", &LOGIC, &Config::default());
    assert!(confirm(&found) > 50);
}

#[test]
fn small_programs_with_weak_mutation() {
    let criteria = [&LOGIC[..], &[Criterion::Wm]].concat();
    for (file, function) in [
        ("examples/table1/trityp.c", "trityp"),
        ("examples/table1/four_balls.c", "four_balls"),
        ("examples/table1/utf8.c", "utf8_3"),
        ("examples/median.c", "median"),
        ("examples/thermostat.c", "thermostat_step"),
    ] {
        let found = explore_file(file, function, &criteria, &Config::default());
        assert!(confirm(&found) > 10, "{file}");
    }
}
