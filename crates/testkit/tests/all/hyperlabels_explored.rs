//! Exploration for hyperlabels on random functions: its claims about joint coverage by tests agree with
//! the trace semantics, and no random test helps to cover a hyperlabel that it calls infeasible.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::time::Duration;

use lydian_base::Rng;
use lydian_ir::interp::Options;
use lydian_ir::test::Test;
use lydian_native::Optimization;
use lydian_objective::trace::Tracer;
use lydian_objective::{Consolidation, CoverageRecord, Criterion, RecordRequest, Request};
use lydian_symex::{Config, HyperRef, Limits, Search};
use lydian_testkit::cgen;

use lydian_testkit::oracle::{ExplorationResult, Subject, disturb, seeds};

/// The most events of a trace; longer ones take the trace semantics too long.
const EVENTS: usize = 400;
const RANDOM_TESTS: u32 = 60;
/// One seed of this many is also run natively.
const NATIVE: u64 = 4;

/// The criteria whose objectives are hyperlabels, and some of labels beside them.
fn criteria() -> Vec<Criterion> {
    let all = Criterion::ALL.into_iter().map(|(criterion, _)| criterion);
    let hyper = all.filter(|criterion| criterion.is_hyper() && !criterion.is_written());
    hyper.chain([Criterion::Dc, Criterion::Gacc]).collect()
}

/// The coverage of tests by the trace semantics.
struct TraceJudgement<'a> {
    subject: &'a Subject,
    tracer: Tracer<'a>,
    wanted: Vec<RecordRequest>,
    consolidation: Consolidation<'a>,
    records: Vec<CoverageRecord>,
}

impl<'a> TraceJudgement<'a> {
    fn new(subject: &'a Subject, short_circuit: bool) -> Self {
        let all = &subject.objectives;
        Self {
            subject,
            tracer: Tracer::new(&subject.program, all, short_circuit),
            wanted: RecordRequest::of(all),
            consolidation: Consolidation::new(all),
            records: vec![CoverageRecord::new(); all.len()],
        }
    }

    /// Adds a test; false where its trace is too long.
    fn add(&mut self, test: &Test) -> bool {
        let run = self.tracer.run(test, &Options::default());
        let (trace, _) = run.unwrap_or_else(|error| panic!("{error}: {test:?}"));
        if trace.events.len() > EVENTS {
            return false;
        }
        for ((record, of), wanted) in
            self.records.iter_mut().zip(&self.subject.objectives).zip(&self.wanted)
        {
            record.merge(&trace.record(of, wanted));
        }
        self.consolidation.update(&self.records);
        true
    }

    fn position(&self, hyper: HyperRef) -> usize {
        let found = self.subject.objectives.iter().position(|of| of.function == hyper.func);
        found.expect("the hyperlabel is of a function that was given")
    }

    fn covers(&self, hyper: HyperRef) -> bool {
        self.consolidation.is_covered(self.position(hyper), hyper.hyper)
    }

    fn text(&self, hyper: HyperRef) -> &'a str {
        &self.subject.objectives[self.position(hyper)].hypers[hyper.hyper].text
    }
}

/// Compares the claims with native runs of the tests.
fn check_natively(seed: u64, subject: &Subject, explored: &ExplorationResult) {
    let mut measurer = subject.measurer(Optimization::Some);
    let tests: Vec<Test> = explored.tests.iter().map(|found| found.test.clone()).collect();
    let measured = measurer.measure(&tests).unwrap_or_else(|error| panic!("{error}"));
    let all = &subject.objectives;
    let mut consolidation = Consolidation::new(all);
    let mut records = vec![CoverageRecord::new(); all.len()];
    for (found, native) in explored.tests.iter().zip(&measured) {
        for (index, record) in records.iter_mut().enumerate() {
            native.add_to(record, index);
        }
        consolidation.update(&records);
        for claim in &found.completes {
            let at = all.iter().position(|of| of.function == claim.func);
            let at = at.expect("the hyperlabel is of a function that was given");
            let hyper = &all[at].hypers[claim.hyper];
            // A part that the text cannot record, or of which the table was too small.
            let lost = measurer.plan().why_hyperlabel_unmeasured(all, at, &hyper.hyper).is_some()
                || consolidation.judgement_error(at, claim.hyper).is_some();
            let covered = consolidation.is_covered(at, claim.hyper);
            let text = &hyper.text;
            assert!(covered || lost, "seed {seed}: claimed, not measured: {text}");
        }
    }
}

/// Explores one function with a number of workers. Returns the numbers of covered, infeasible and
/// unknown hyperlabels.
fn check(seed: u64, text: &str, name: &str, workers: usize) -> [usize; 3] {
    let short_circuit = seed % 3 == 2;
    let request = Request { short_circuit, ..Request::new(criteria()) };
    let subject = Subject::read_with(text, &request);
    let func = *subject.functions.last().expect("there is a function");
    let limits = Limits { query_time: Some(Duration::from_millis(500)), ..Limits::default() };
    let search = [Search::Mixed, Search::Cpgs, Search::Sdgs][(seed / 3 % 3) as usize];
    let config = Config { limits, search, ..Config::default() };
    let time = Duration::from_secs(3);
    let settings = cgen::settings(name);
    let explored = match workers {
        1 => subject.explore(func, &settings, &config, time),
        _ => subject.explore_with(func, &settings, &config, time, workers),
    };

    if seed.is_multiple_of(NATIVE) {
        check_natively(seed, &subject, &explored);
    }
    let mut judged = TraceJudgement::new(&subject, short_circuit);
    let mut tests = Vec::new();
    for found in &explored.tests {
        if !judged.add(&found.test) {
            return [0; 3];
        }
        for claim in &found.completes {
            let text = judged.text(*claim);
            assert!(judged.covers(*claim), "seed {seed}: claimed, not covered: {text}");
        }
        tests.push(found.test.clone());
    }
    let covered = explored.summary.covered_hypers.len();
    let left = &explored.summary.left_hypers;
    if !explored.summary.complete {
        return [covered, 0, left.len()];
    }
    let mut rng = Rng::new(seed ^ 0x4e7);
    for number in 0..RANDOM_TESTS {
        let mut test = match tests.len() {
            0 => subject.random_test(func, cgen::ARRAY_LENGTH, &mut rng),
            _ if number % 2 == 0 => subject.random_test(func, cgen::ARRAY_LENGTH, &mut rng),
            count => tests[number as usize * 7 % count].clone(),
        };
        disturb(&subject.program, &mut test, &mut rng);
        judged.add(&test);
    }
    let infeasible = left.iter().filter(|left| left.reasons.is_empty());
    let infeasible: Vec<HyperRef> = infeasible.map(|left| left.hyper).collect();
    for hyper in &infeasible {
        let text = judged.text(*hyper);
        assert!(!judged.covers(*hyper), "seed {seed}: WRONG INFEASIBLE: {text}");
    }
    [covered, infeasible.len(), left.len() - infeasible.len()]
}

/// Checks random functions.
fn check_all(seeds: impl Iterator<Item = u64>, workers: usize) {
    let mut sums = [0; 3];
    for seed in seeds {
        let name = format!("f{seed}");
        let text = cgen::small_function(&name, seed);
        let found = check(seed, &text, &name, workers);
        sums.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
    }
    let [covered, infeasible, _] = sums;
    assert!(covered > 100 && infeasible > 20, "covered, infeasible, unknown: {sums:?}");
}

#[test]
fn claims_about_hyperlabels_are_what_traces_say_and_nothing_infeasible_is_covered() {
    check_all(seeds(0..20), 1);
}

#[test]
fn what_two_workers_claim_about_hyperlabels_is_what_traces_say_and_nothing_infeasible_is_covered() {
    check_all(seeds(20..40), 2);
}
