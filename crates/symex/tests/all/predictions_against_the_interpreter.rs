//! The interpreter runs every test of an exploration: it must end as predicted and cover the
//! claimed labels.

use lydian_objective::Criterion;
use lydian_symex::Config;

use crate::common::explore_file;
use crate::common::measure::confirm;

const LOGIC: [Criterion; 4] = [Criterion::Dc, Criterion::Cc, Criterion::Mcc, Criterion::Gacc];

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
