//! [000] Table I on Lydian's own six programs: paths, time and labels covered for plain
//! exploration, direct instrumentation and tight instrumentation with label deletion (DSE*).
//!
//! `cargo bench -p lydian-symex --bench table1 [PROGRAM...]`
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::explore_file;
use lydian_objective::Criterion;
use lydian_symex::{Config, Limits, Mode, Search};

const PROGRAMS: [(&str, &str, &str); 7] = [
    ("trityp", "examples/table1/trityp.c", "trityp"),
    ("four-balls", "examples/table1/four_balls.c", "four_balls"),
    ("utf8-3", "examples/table1/utf8.c", "utf8_3"),
    ("utf8-5", "examples/table1/utf8.c", "utf8_5"),
    ("utf8-7", "examples/table1/utf8.c", "utf8_7"),
    ("tcas", "examples/table1/tcas.c", "collision_advice"),
    ("replace", "examples/table1/replace.c", "replace"),
];

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!(
        "{:<11}{:<8}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>11}",
        "program", "mode", "paths", "labels", "queries", "total ms", "solver", "outside", "covered"
    );
    for (name, file, function) in PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        for (mode, config) in modes() {
            let criteria =
                if mode == "plain" { vec![] } else { vec![Criterion::Mcc, Criterion::Wm] };
            let begun = Instant::now();
            let found = explore_file(file, function, &criteria, &config);
            let _ = begun;
            let summary = &found.summary;
            let total = summary.statistics.total_time.as_secs_f64() * 1000.0;
            let solver = summary.statistics.solver_time.as_secs_f64() * 1000.0;
            let labels = summary.covered.len() + summary.left.len();
            println!(
                "{name:<11}{mode:<8}{:>8}{:>8}{:>9}{total:>9.0}{solver:>9.0}{:>9.0}{:>11}{}",
                summary.path_count(),
                summary.label_paths,
                summary.statistics.queries,
                total - solver,
                format!("{}/{labels}", summary.covered.len()),
                if summary.complete { "" } else { "  cut" },
            );
            for (cut, count) in &summary.cuts {
                println!("    {cut}: {count}");
            }
        }
    }
}

fn modes() -> Vec<(&'static str, Config)> {
    let limits = Limits { time: Some(std::time::Duration::from_secs(60)), ..Limits::default() };
    let base = Config {
        search: Search::DepthFirst,
        stop_when_covered: false,
        crash_tests: false,
        limits,
        ..Config::default()
    };
    vec![
        ("plain", Config { mode: Mode::Plain, ..base.clone() }),
        ("tight", Config { mode: Mode::Tight, ..base }),
    ]
}
