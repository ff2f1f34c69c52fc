//! Hyperlabels that the tests of a session cover, alone or together: the same consolidation as in
//! `lydian cover`, over native measurements, test by test.

use std::collections::BTreeSet;

use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_native::MeasuredRun;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Consolidation, CoverageRecord, FunctionObjectives, HyperId, LabelId};
use rustc_hash::FxHashMap;

/// A hyperlabel of a measured function, by the function's position.
pub(crate) type MeasuredHyperlabel = (usize, HyperId);

/// The tests so far, and their coverage of the functions that they can reach. Records of runs are in the
/// order of these functions.
pub(crate) struct HyperlabelCoverage<'a> {
    /// The positions of these functions among those that are measured, in order.
    functions: &'a [usize],
    objectives: Vec<&'a FunctionObjectives>,
    /// For each of them, the labels that hyperlabels are made of. Other labels are not kept.
    parts: Vec<BTreeSet<LabelId>>,
    consolidation: Consolidation<'a>,
    records: Vec<CoverageRecord>,
    tests: Vec<(Test, Vec<CoverageRecord>)>,
    /// Whether a test was found and not added, so that later claims of the exploration may rest on it.
    lacking: bool,
}

/// A hyperlabel that became covered.
pub(crate) struct Completion {
    pub(crate) hyper: MeasuredHyperlabel,
    /// Tests that cover it together, none of which could be left out.
    pub(crate) tests: Vec<Test>,
}

impl<'a> HyperlabelCoverage<'a> {
    /// No tests. `all` are the objectives of all measured functions, and `functions` the positions of those
    /// that tests can reach, in order.
    pub(crate) fn new(all: &'a [FunctionObjectives], functions: &'a [usize]) -> Self {
        let objectives: Vec<_> = functions.iter().map(|at| &all[*at]).collect();
        Self {
            functions,
            parts: parts_of_hypers(&objectives),
            consolidation: Consolidation::new(objectives.iter().copied()),
            records: vec![CoverageRecord::new(); objectives.len()],
            objectives,
            tests: Vec::new(),
            lacking: false,
        }
    }

    /// Notes that a test was found and not added.
    pub(crate) fn lack(&mut self) {
        self.lacking = true;
    }

    /// Whether such a test was found.
    pub(crate) const fn lacks_some(&self) -> bool {
        self.lacking
    }

    /// The number of tests with new coverage.
    pub(crate) const fn count(&self) -> usize {
        self.tests.len()
    }

    /// The tests with new coverage, in the order in which they were added.
    pub(crate) fn tests(&self) -> Vec<Test> {
        self.tests.iter().map(|(test, _)| test.clone()).collect()
    }

    /// Whether there is anything to judge.
    fn is_idle(&self) -> bool {
        self.objectives.iter().all(|of| of.hypers.is_empty())
    }

    /// The evidence of all tests for a function, by its position among those that are measured.
    pub(crate) fn record(&self, function: usize) -> CoverageRecord {
        self.position(function).map(|at| self.records[at].clone()).unwrap_or_default()
    }

    /// The position of a function among those that tests can reach.
    fn position(&self, function: usize) -> Option<usize> {
        self.functions.binary_search(&function).ok()
    }

    /// Whether the tests cover a hyperlabel.
    pub(crate) fn is_covered(&self, (function, hyper): MeasuredHyperlabel) -> bool {
        let at = self.position(function);
        at.is_some_and(|at| self.consolidation.is_covered(at, hyper))
    }

    /// The given hyperlabels that the tests would not cover even with one more.
    pub(crate) fn missing_with(
        &self,
        measured: &MeasuredRun,
        claimed: &[MeasuredHyperlabel],
    ) -> Vec<MeasuredHyperlabel> {
        if claimed.is_empty() {
            return Vec::new();
        }
        let mut records = self.of_run(measured);
        records.iter_mut().zip(&self.records).for_each(|(own, all)| _ = own.merge(all));
        let is_missing =
            |hyper: &MeasuredHyperlabel| !self.is_covered(*hyper) && !self.covers(*hyper, &records);
        claimed.iter().copied().filter(is_missing).collect()
    }

    /// Adds a test. Returns the hyperlabels that the tests cover now and did not before.
    pub(crate) fn add(&mut self, test: &Test, measured: &MeasuredRun) -> Vec<Completion> {
        if self.is_idle() {
            return Vec::new();
        }
        let own = self.of_run(measured);
        let mut grown = false;
        for (all, own) in self.records.iter_mut().zip(&own) {
            grown |= all.merge(own);
        }
        if !grown {
            return Vec::new();
        }
        self.tests.push((test.clone(), own));
        let found = self.consolidation.update(&self.records);
        let found = found.into_iter().map(|(at, hyper)| (self.functions[at], hyper));
        found.map(|hyper| self.completed(hyper)).collect()
    }

    /// The evidence of a run for hyperlabels.
    pub(crate) fn of_run(&self, measured: &MeasuredRun) -> Vec<CoverageRecord> {
        let of_function = |(function, parts): (&usize, &BTreeSet<LabelId>)| {
            let mut all = CoverageRecord::new();
            measured.add_to(&mut all, *function);
            all.keep_labels(parts);
            all
        };
        self.functions.iter().zip(&self.parts).map(of_function).collect()
    }

    /// Whether runs with this evidence together cover a hyperlabel.
    pub(crate) fn covers(
        &self,
        (function, hyper): MeasuredHyperlabel,
        records: &[CoverageRecord],
    ) -> bool {
        let at = self.position(function);
        at.is_some_and(|at| self.consolidation.covers_with(at, hyper, records) == Some(true))
    }

    /// A minimal set of tests that cover a hyperlabel, which all tests cover and did not without the
    /// last one.
    fn completed(&self, hyper: MeasuredHyperlabel) -> Completion {
        let positions = self.together(hyper);
        let tests = positions.into_iter().map(|at| self.tests[at].0.clone()).collect();
        Completion { hyper, tests }
    }

    fn together(&self, hyper: MeasuredHyperlabel) -> Vec<usize> {
        let last = self.tests.len() - 1;
        let covers = |positions: &[usize]| {
            let mut records = vec![CoverageRecord::new(); self.objectives.len()];
            for at in positions {
                let own = records.iter_mut().zip(&self.tests[*at].1);
                own.for_each(|(all, own)| _ = all.merge(own));
            }
            self.covers(hyper, &records)
        };
        if covers(&[last]) {
            return vec![last];
        }
        if let Some(partner) = (0..last).find(|partner| covers(&[*partner, last])) {
            return vec![partner, last];
        }
        let mut chosen: Vec<usize> = (0..=last).collect();
        for at in 0..last {
            let rest: Vec<usize> = chosen.iter().copied().filter(|other| *other != at).collect();
            if covers(&rest) {
                chosen = rest;
            }
        }
        chosen
    }
}

fn parts_of_hypers(all: &[&FunctionObjectives]) -> Vec<BTreeSet<LabelId>> {
    let functions: FxHashMap<FuncId, usize> =
        all.iter().enumerate().map(|(at, of)| (of.function, at)).collect();
    let mut parts = vec![BTreeSet::new(); all.len()];
    for function in all {
        for hyper in function.hypers.values() {
            hyper.hyper.for_each_part(&mut |part| {
                let Part::Atom(atom) = part else { return };
                let at = functions.get(&atom.function);
                at.into_iter().for_each(|at| _ = parts[*at].insert(atom.label));
            });
        }
    }
    parts
}
