//! Several workers within one exploration decide hyperlabels as one worker does, although the parts of
//! one may be covered on paths of different workers.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::Rng;
use lydian_ir::interp::Options;
use lydian_objective::trace::Tracer;
use lydian_objective::{
    Consolidation, CoverageRecord, Criterion, HtolFile, RecordRequest, Request,
};
use lydian_symex::{Config, Cut, FoundTest, HyperRef, LeftHyper, Search, Summary};
use lydian_testkit::oracle::{ExplorationResult, Subject, seeds};
use lydian_testkit::{cgen, hyperlabels};

use crate::files::root;
use crate::functions::{Function, hinders, unlimited};

/// The criteria whose objectives relate several runs.
const LOGIC: [Criterion; 5] =
    [Criterion::Mcdc, Criterion::Cacc, Criterion::Racc, Criterion::Ricc, Criterion::Cutpnfp];

/// Sequences and others beside them.
const MORE: [Criterion; 7] = [
    Criterion::Mcdc,
    Criterion::AllUses,
    Criterion::AllDefs,
    Criterion::AllUsesCells,
    Criterion::Ppc,
    Criterion::Epc,
    Criterion::Dc,
];

const SEARCHES: [Search; 4] = [Search::Mixed, Search::DepthFirst, Search::RandomPath, Search::Cpgs];

/// The most events of a trace; longer ones take the trace semantics too long.
const EVENTS: usize = 400;

/// The last function of a text.
fn last_of(text: &str, request: &Request) -> Function {
    Function::last_of(Subject::read_with(text, request), String::new())
}

/// The decisions of an exploration about hyperlabels: covered ones, open ones with cuts for each, and
/// all cuts.
type Verdicts = (BTreeSet<HyperRef>, BTreeMap<HyperRef, Vec<Cut>>, BTreeSet<Cut>);

fn verdicts(summary: &Summary) -> Verdicts {
    let left = summary.left_hypers.iter().map(|left| (left.hyper, left.reasons.clone()));
    let covered = summary.covered_hypers.iter().copied().collect();
    (covered, left.collect(), summary.cuts.keys().cloned().collect())
}

/// Whether neither a limit nor an unanswered question interfered.
fn is_complete(summary: &Summary) -> bool {
    !summary.cuts.keys().any(hinders)
        && !summary.left_hypers.iter().any(|left| left.reasons.iter().any(hinders))
}

fn infeasible(summary: &Summary) -> impl Iterator<Item = &LeftHyper> {
    summary.left_hypers.iter().filter(|left| left.reasons.is_empty())
}

/// Checks by the trace semantics that each test completes its hyperlabels together with the tests
/// before it, and that all covered ones are claimed. Returns the number of confirmed ones.
fn confirm(function: &Function, found: &ExplorationResult, what: &str) -> usize {
    let Subject { objectives, program, short_circuit, .. } = &function.subject;
    let tracer = Tracer::new(program, objectives, *short_circuit);
    let wanted = RecordRequest::of(objectives);
    let mut consolidation = Consolidation::new(objectives);
    let mut records = vec![CoverageRecord::new(); objectives.len()];
    let mut claimed = BTreeSet::new();
    for found in &found.tests {
        let run = tracer.run(&found.test, &Options::default());
        let (trace, _) = run.unwrap_or_else(|error| panic!("{error}: {:?}", found.test));
        if trace.events.len() > EVENTS {
            return 0;
        }
        for ((record, of), wanted) in records.iter_mut().zip(objectives).zip(&wanted) {
            record.merge(&trace.record(of, wanted));
        }
        consolidation.update(&records);
        for claim in &found.completes {
            let at = objectives.iter().position(|of| of.function == claim.func);
            let at = at.expect("it is of one of the functions");
            assert!(consolidation.is_covered(at, claim.hyper), "{what}: {claim:?}");
            claimed.insert(*claim);
        }
    }
    assert_eq!(claimed, found.summary.covered_hypers.iter().copied().collect(), "{what}");
    claimed.len()
}

/// The numbers of compared items.
#[derive(Debug, Default)]
struct ComparisonCounts {
    complete: usize,
    handed_over: u64,
    confirmed: usize,
    infeasible: usize,
}

impl ComparisonCounts {
    /// Explores with one worker and with several, and compares their decisions.
    fn compare(&mut self, function: &Function, config: &Config, what: &str) {
        let one = function.explore(config, 1);
        if !is_complete(&one.summary) {
            return;
        }
        for workers in [2, 3] {
            let what = format!("{what}, {workers} workers");
            let found = function.explore(config, workers);
            if !is_complete(&found.summary) {
                // Of a question that takes some seconds, whoever has it.
                continue;
            }
            assert_eq!(verdicts(&found.summary), verdicts(&one.summary), "{what}");
            self.confirmed += confirm(function, &found, &what);
            self.complete += 1;
            self.handed_over += found.summary.statistics.handed_over;
            self.infeasible += infeasible(&found.summary).count();
        }
    }

    fn shows_something(&self) {
        let Self { complete, handed_over, confirmed, infeasible } = *self;
        assert!(complete > 0 && handed_over > 0 && confirmed > 0 && infeasible > 0, "{self:?}");
    }
}

#[test]
fn verdicts_on_hyperlabels_are_those_of_one_worker_whatever_the_number_of_workers() {
    let mut compared = ComparisonCounts::default();
    for seed in seeds(0..16) {
        for (at, criteria) in [&LOGIC[..], &MORE[..]].into_iter().enumerate() {
            let function = Function::random(seed, criteria);
            let search = SEARCHES[(seed as usize + at) % SEARCHES.len()];
            let fewer = (seed / 4).is_multiple_of(2);
            let config = Config { search, look_ahead: fewer, merge: fewer, ..unlimited() };
            compared.compare(&function, &config, &format!("seed {seed}, {search:?}, {at}"));
        }
    }
    compared.shows_something();
}

/// The functions of the example programs whose inputs need no settings.
const EXAMPLES: [(&str, &str); 8] = [
    ("median.c", "median"),
    ("ring.c", "ring_put"),
    ("ring.c", "ring_take"),
    ("thermostat.c", "thermostat_step"),
    ("table1/trityp.c", "trityp"),
    ("table1/four_balls.c", "four_balls"),
    ("table1/utf8.c", "utf8_3"),
    ("table1/tcas.c", "collision_advice"),
];

#[test]
fn two_workers_decide_the_examples_as_one_does() {
    let mut compared = ComparisonCounts::default();
    for (file, name) in EXAMPLES {
        let text = std::fs::read_to_string(root().join("examples").join(file))
            .expect("the example is there");
        let subject = Subject::read(&text, &LOGIC, false);
        let func = subject.program.defined().find(|(_, of)| of.name == name);
        let (func, _) = func.unwrap_or_else(|| panic!("{file} has no {name}"));
        let function = Function { subject, func, settings: String::new() };
        for merge in [true, false] {
            let config = Config { merge, ..unlimited() };
            compared.compare(&function, &config, name);
        }
    }
    compared.shows_something();
}

/// Each way through the loop binds other values, and only inputs of two ways can have what is asked.
const VALUES: &str = "
int f(const unsigned char key[3], unsigned char low)
{
    unsigned sum = low;
    //! in: 1
    for (int i = 0; i < 3; i++) {
        if (key[i] > 100)
            sum += 3;
        else if (key[i] > 50)
            sum += 1;
    }
    unsigned odd = sum & 1;
    //! out: 1
    if (sum > 12)
        odd += 2;
    //! late: odd > 1
    return odd;
}
";

/// One that two ways have, one that the extreme ways have, one of three runs; and three that are just
/// beyond what any have.
const RELATIONS: &str = "
function f;
objective interference =
  < [in |> { a <- low } -> out |> { r <- sum }] . [in |> { b <- low } -> out |> { s <- sum }]
  | a == b && r == s + 9 >;
objective no_interference =
  < [in |> { a <- low } -> out |> { r <- sum }] . [in |> { b <- low } -> out |> { s <- sum }]
  | a == b && r > s + 9 >;
objective far = < out |> { r <- sum } . out |> { s <- sum } | r == s + 264 >;
objective too_far = < out |> { r <- sum } . out |> { s <- sum } | r == s + 265 >;
objective three = < in |> { a <- low } . out |> { r <- sum } . out |> { s <- sum }
  | a == 255 && r == a + 9 && r == s + 264 >;
objective apart = < out |> { r <- sum } . late |> { s <- odd } | r < 3 && s == 1 >;
";

/// That, to be explored for hyperlabels over values.
fn values() -> Function {
    let file = HtolFile::read("unit.htol", RELATIONS);
    let file = file.unwrap_or_else(|error| panic!("{error:?}"));
    let request = Request { htol: vec![file], ..Request::new([Criterion::Htol]) };
    last_of(VALUES, &request)
}

#[test]
fn guards_over_values_relate_paths_of_different_workers() {
    let function = values();
    for search in SEARCHES {
        let config = Config { search, merge: false, ..unlimited() };
        let one = function.explore(&config, 1).summary;
        assert_eq!((one.covered_hypers.len(), infeasible(&one).count()), (3, 3), "{one:#?}");
        for workers in [2, 4] {
            let what = format!("{search:?}, {workers} workers");
            let found = function.explore(&config, workers);
            assert_eq!(verdicts(&found.summary), verdicts(&one), "{what}");
            assert_eq!(confirm(&function, &found, &what), 3);
            assert!(found.summary.statistics.handed_over > 0, "{what}");
        }
    }
}

const DECISIONS: [&str; 3] =
    ["(a && b) || (c && d)", "a && (b || (c && !d))", "(a || b) && (c || d) && !(a && d)"];

/// A function each path of which has one vector of a decision, out of some. So the vectors of a pair
/// lie on two paths, and what covers a label first has often no partner.
fn vectors(decision: &str, seed: u64) -> Function {
    let mut rng = Rng::new(seed);
    let ways = (1..12).map(|way| format!("case {way}: bits = {}; break;\n", rng.below(16)));
    let ways: String = ways.collect();
    let text = format!(
        "int f(unsigned char key, int x)
        {{
            int bits;
            switch (key) {{ {ways} default: bits = {}; }}
            int a = bits & 1, b = bits & 2, c = bits & 4, d = bits & 8;
            if ({decision}) return x > 3;
            return x & 4 ? 2 : 3;
        }}",
        rng.below(16)
    );
    let criterion = LOGIC[seed as usize % LOGIC.len()];
    last_of(&text, &Request::new([criterion]))
}

#[test]
fn rows_of_truth_values_on_paths_of_different_workers_make_pairs() {
    let mut compared = ComparisonCounts::default();
    for seed in seeds(0..30) {
        for decision in DECISIONS {
            let function = vectors(decision, seed);
            let search = SEARCHES[seed as usize % SEARCHES.len()];
            let config = Config { search, look_ahead: false, merge: false, ..unlimited() };
            compared.compare(&function, &config, &format!("seed {seed}, {decision}, {search:?}"));
        }
    }
    compared.shows_something();
}

#[test]
fn written_hyperlabels_are_decided_as_by_one_worker() {
    let mut compared = ComparisonCounts::default();
    for seed in seeds(0..16) {
        let name = format!("f{seed}");
        let subject = Subject::read_asking(&cgen::small_function(&name, seed), |program, map| {
            let file = hyperlabels::file(program, map, std::slice::from_ref(&name), seed);
            Request { htol: vec![file], ..Request::new([Criterion::Htol, Criterion::Spc]) }
        });
        let function = Function::last_of(subject, cgen::settings(&name));
        compared.compare(&function, &unlimited(), &format!("seed {seed}"));
    }
    compared.shows_something();
}

#[test]
fn so_many_workers_find_the_same_tests_for_hyperlabels_each_time() {
    let mut handed_over = 0;
    let random = seeds(100..106).map(|seed| Function::random(seed, &LOGIC));
    for (at, function) in random.chain([values()]).enumerate() {
        let config = Config { nice_values: true, merge: false, ..unlimited() };
        let of_test =
            |found: &FoundTest| (found.test.clone(), found.covers.clone(), found.completes.clone());
        let what = format!("function {at}");
        handed_over += function.explore_twice(&config, is_complete, of_test, &what);
    }
    assert!(handed_over > 0);
}

#[test]
fn compacting_all_states_that_wait_changes_nothing_for_hyperlabels_with_several_workers() {
    let mut evicted = 0;
    for seed in seeds(300..306) {
        let function = Function::random(seed, &LOGIC);
        let one = function.explore(&unlimited(), 1).summary;
        if !is_complete(&one) {
            continue;
        }
        let mut config = unlimited();
        config.limits.whole_states = Some(0);
        let found = function.explore(&config, 2).summary;
        assert_eq!(verdicts(&found), verdicts(&one), "seed {seed}");
        evicted += found.statistics.evicted;
    }
    assert!(evicted > 0);
}

#[test]
fn what_an_assumption_takes_back_is_not_taken_as_given_by_other_workers() {
    // Vectors are met before the assumption, which most of their inputs break.
    let text = "
        extern int __VERIFIER_nondet_int(void);
        extern void __VERIFIER_assume(int);
        int f(int kind)
        {
            int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), sum = 0;
            for (int i = 0; i < 3; i++) {
                int c = __VERIFIER_nondet_int();
                if ((c > 10 && a > 2) || (c < -10 && b < 3)) sum += 1;
                else if (c == a) sum -= 1;
            }
            if ((a > 5 && b > 5) || kind == 3) sum += 2;
            __VERIFIER_assume(a < 6 || b < 6);
            __VERIFIER_assume(a != 7);
            if (sum == 3 && (a > 5 || b == 9)) return 1;
            return a > 5 && b > 5 ? 3 : 4;
        }";
    let function = last_of(text, &Request::new(LOGIC));
    for search in SEARCHES {
        let config = Config { search, ..unlimited() };
        let decided = |workers: usize| {
            let what = format!("{search:?}, {workers} workers");
            let found = function.explore(&config, workers);
            assert!(is_complete(&found.summary), "{what}: {:?}", found.summary.cuts);
            confirm(&function, &found, &what);
            let covered: BTreeSet<HyperRef> =
                found.summary.covered_hypers.iter().copied().collect();
            let never: BTreeSet<HyperRef> =
                infeasible(&found.summary).map(|left| left.hyper).collect();
            (covered, never)
        };
        let one = decided(1);
        for workers in [2, 4] {
            let found = decided(workers);
            // What is lost to an assumption depends on the order, and is not proved infeasible then.
            assert!(found.1.is_disjoint(&one.0) && one.1.is_disjoint(&found.0), "{search:?}");
            assert!(found.0.len() > 10, "{search:?}, {workers}: {}", found.0.len());
        }
    }
}
