//! The objectives that a test covers, as the interpreter sees it.

use std::collections::BTreeSet;

use lydian_ir::Program;
use lydian_ir::interp::{BadTest, End, Options};
use lydian_ir::test::Test;
use lydian_objective::trace::Tracer;
use lydian_objective::{Consolidation, CoverageInterpreter, CoverageRecord};

use super::asked::{AskedObjectives, Objective};
use super::monitor::SequenceMonitor;

/// The steps of a run that is followed at first.
const FEW_STEPS: u64 = 1 << 14;
/// Why a run counts for nothing that breaks an assumption.
const BROKEN: &str = "a run that was found breaks an assumption";
/// The factor of the steps from one run to the next.
const GROWTH: u64 = 8;
/// The most calls that may be open at once in such a run.
const MOST_CALLS: u32 = 100_000;

/// Judges tests, one after another: objectives may need several.
pub(super) struct CoverageJudge<'a> {
    asked: &'a AskedObjectives<'a>,
    labels: CoverageInterpreter<'a>,
    tracer: Tracer<'a>,
    monitor: SequenceMonitor<'a>,
    consolidation: Consolidation<'a>,
    records: Vec<CoverageRecord>,
}

impl<'a> CoverageJudge<'a> {
    pub(super) fn new(program: &'a Program, asked: &'a AskedObjectives<'a>) -> Self {
        let functions = asked.functions;
        Self {
            asked,
            labels: CoverageInterpreter::new(program, functions, asked.short_circuit),
            tracer: Tracer::new(program, functions, asked.short_circuit),
            monitor: SequenceMonitor::new(asked),
            consolidation: Consolidation::new(functions),
            records: vec![CoverageRecord::new(); functions.len()],
        }
    }

    /// The numbers of the objectives that a test covers, with those before it for some hyperlabels. A run
    /// that does not end is followed until it covers what is claimed, or for so many steps.
    ///
    /// # Errors
    /// The reason why the test counts for nothing.
    pub(super) fn covered(
        &mut self,
        test: &Test,
        claimed: &[usize],
        most: u64,
    ) -> Result<BTreeSet<usize>, String> {
        let mut steps = FEW_STEPS.min(most);
        loop {
            let (found, end) = self.covered_within(test, steps)?;
            let is_cut = matches!(end, End::Stopped(_));
            if !is_cut || steps >= most || claimed.iter().all(|one| found.contains(one)) {
                return Ok(found);
            }
            steps = most.min(steps * GROWTH);
        }
    }

    /// The same for so many steps of the run, and how it ends.
    fn covered_within(
        &mut self,
        test: &Test,
        max_steps: u64,
    ) -> Result<(BTreeSet<usize>, End), String> {
        let options = Options { max_steps, max_depth: MOST_CALLS, ..Options::default() };
        let misfit = |error| format!("a run that was found is no test: {error}");
        let (mut found, mut ended) = (BTreeSet::new(), None);
        if !self.asked.choice.sequences.is_empty() {
            let (trace, outcome) = self.tracer.run(test, &options).map_err(misfit)?;
            if outcome.end == End::Assumption {
                return Err(BROKEN.to_owned());
            }
            ended = Some(outcome.end);
            for (at, sequence) in self.monitor.covered(&trace) {
                self.records[at].cover_sequence(sequence);
                found.extend(self.asked.of_sequence((at, sequence)));
            }
        }
        if self.asked.needs_labels {
            ended = Some(self.take_labels(test, &options, &mut found).map_err(misfit)?);
        }
        let hypers = self.consolidation.update(&self.records);
        let hypers = hypers.into_iter().map(|(at, hyper)| Objective::Hyper(at, hyper));
        found.extend(hypers.filter_map(|one| self.asked.number(one)));
        match ended {
            Some(End::Assumption) => Err(BROKEN.to_owned()),
            Some(end) => Ok((found, end)),
            None => Err("nothing is asked for".to_owned()),
        }
    }

    /// Adds the labels that a run covers, and all that hyperlabels need of them.
    fn take_labels(
        &mut self,
        test: &Test,
        options: &Options,
        found: &mut BTreeSet<usize>,
    ) -> Result<End, BadTest> {
        let run = self.labels.run(test, options)?;
        if run.outcome.end == End::Assumption {
            return Ok(End::Assumption);
        }
        for (at, labels) in run.covered.iter().enumerate() {
            let objectives = labels.iter().map(|label| Objective::Label(at, *label));
            found.extend(objectives.filter_map(|one| self.asked.number(one)));
            let record = &mut self.records[at];
            labels.iter().for_each(|label| _ = record.cover_label(*label));
        }
        for (record, vectors) in self.records.iter_mut().zip(run.vectors) {
            vectors.into_iter().for_each(|(decision, one)| _ = record.add_vector(decision, one));
        }
        for (record, bound) in self.records.iter_mut().zip(run.bound) {
            bound.into_iter().for_each(|(values, row)| _ = record.add_label_values(values, row));
        }
        Ok(run.outcome.end)
    }
}
