//! Objectives that a stopped exploration calls infeasible are covered on no path of a complete one.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::collections::BTreeSet;
use std::time::Duration;

use lydian_ir::FuncId;
use lydian_objective::{Criterion, Request};
use lydian_symex::LabelRef;
use lydian_symex::{Config, HyperRef, Limits, Search, Summary};
use lydian_testkit::cgen;
use lydian_testkit::oracle::{Subject, seeds};

use crate::functions::PATHS;

const CRITERIA: [Criterion; 8] = [
    Criterion::Stmt,
    Criterion::Bc,
    Criterion::Mcc,
    Criterion::Mcdc,
    Criterion::Racc,
    Criterion::AllUses,
    Criterion::Ppc,
    Criterion::Wm,
];

const SEARCHES: [Search; 5] =
    [Search::Mixed, Search::DepthFirst, Search::BreadthFirst, Search::RandomPath, Search::Cpgs];

const TIME: Duration = Duration::from_secs(20);

/// The objectives that an exploration calls infeasible: no cut lies before them, and nothing else
/// hindered it.
fn infeasible(summary: &Summary) -> (BTreeSet<LabelRef>, BTreeSet<HyperRef>) {
    let labels = summary.left.iter().filter(|left| left.reasons.is_empty());
    let hypers = summary.left_hypers.iter().filter(|left| left.reasons.is_empty());
    (labels.map(|left| left.label).collect(), hypers.map(|left| left.hyper).collect())
}

/// The limits that stop an exploration at one place or another, by a number.
fn stopped_at(number: u64) -> Limits {
    let all = Limits { paths: Some(PATHS), ..Limits::unbounded() };
    match number % 6 {
        0 => Limits { paths: Some(1), ..all },
        1 => Limits { paths: Some(1 + number % 17), ..all },
        2 => Limits { steps: Some(40 + number % 400), ..all },
        3 => Limits { steps: Some(400 + 7 * (number % 400)), whole_states: Some(0), ..all },
        4 => Limits { loop_bound: Some(1), ..all },
        _ => Limits { path_steps: 20 + number % 200, ..all },
    }
}

#[test]
fn what_is_infeasible_to_a_stopped_exploration_is_so_to_a_whole_one() {
    let (mut stopped, mut labels, mut hypers) = (0, 0, 0);
    for seed in seeds(0..12) {
        let name = format!("f{seed}");
        let (text, settings) = (cgen::small_function(&name, seed), cgen::settings(&name));
        let criteria = match seed % 2 {
            0 => &CRITERIA[..5],
            _ => &CRITERIA[3..],
        };
        let subject = Subject::read_with(&text, &Request::new(criteria));
        let func: FuncId = *subject.functions.last().expect("there is a function");
        let config = |search: Search, limits: Limits| Config {
            search,
            limits,
            stop_when_covered: false,
            ..Config::default()
        };
        let explore =
            |config: &Config| subject.explore_with(func, &settings, config, TIME, 1).summary;
        let all = Limits { paths: Some(PATHS), ..Limits::unbounded() };
        let whole = explore(&config(Search::Mixed, all));
        if !whole.complete {
            continue;
        }
        let covered: BTreeSet<LabelRef> = whole.covered.iter().copied().collect();
        let covered_hypers: BTreeSet<HyperRef> = whole.covered_hypers.iter().copied().collect();
        for (at, search) in SEARCHES.into_iter().enumerate() {
            for number in 0..6 {
                let limits = stopped_at(seed * 31 + at as u64 * 7 + number);
                let found = explore(&config(search, limits.clone()));
                let (no_label, no_hyper) = infeasible(&found);
                let what = format!("seed {seed}, {search:?}, {limits:?}:\n{text}");
                let wrong: Vec<_> = no_label.intersection(&covered).collect();
                assert!(wrong.is_empty(), "{wrong:?}, {what}");
                let wrong: Vec<_> = no_hyper.intersection(&covered_hypers).collect();
                assert!(wrong.is_empty(), "{wrong:?}, {what}");
                if !found.complete {
                    stopped += 1;
                    labels += no_label.len();
                    hypers += no_hyper.len();
                }
            }
        }
    }
    assert!(stopped > 0 && labels > 0 && hypers > 0, "{stopped}, {labels}, {hypers}");
}
