//! The coverage of given tests, measured natively.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use lydian_base::{CancelToken, Diagnostic, Place};
use lydian_native::{Attempt, Plan};
use lydian_objective::evidence::{CriterionRow, Evidence, TestHash, Verdict, verdict};
use lydian_objective::{
    AcceptedAssumptions, Consolidation, CoverageRecord, Criterion, FunctionObjectives, HyperId,
    LabelId,
};
use lydian_report::{CriterionSummary, FunctionSummary, SuiteTest, Summary};

use super::compiled_program::Measurement;
use super::test_runner::TestMisfit;
use super::{MeasurementOptions, confinement};
use crate::error::Error;
use crate::events::{Observer, tell};
use crate::objectives::Objectives;
use crate::project::Project;

/// The coverage of a project by a suite.
#[derive(Debug)]
pub struct SuiteCoverage {
    /// The counts, function by function, with measurement as the only evidence.
    pub summary: Summary,
    /// The objectives that no test covers, in the order of the functions and their criteria.
    pub missing: Vec<MissingObjective>,
    /// The number of tests that do not fit the program. Each was reported to the observer.
    pub refused: usize,
}

/// An objective that no test covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingObjective {
    /// Its place.
    pub place: Place,
    /// The function that has it.
    pub function: String,
    /// The criterion that asks for it.
    pub criterion: Criterion,
    /// The criterion's name for it.
    pub name: String,
    /// The condition that must hold there, in C.
    pub text: String,
}

impl Project {
    /// Runs tests natively and returns the objectives that they cover. Once `cancel` is cancelled, no
    /// further test is run.
    ///
    /// # Errors
    /// A program that cannot be compiled or run, and one that is not for x86-64.
    pub fn measure(
        &self,
        objectives: &Objectives,
        tests: &[SuiteTest],
        options: MeasurementOptions,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<SuiteCoverage, Error> {
        self.require_x86_64()?;
        let begun = Instant::now();
        let confinement = confinement::confinement(options.confined, observer);
        let measurement = Measurement::new(self, objectives, options, confinement);
        let compiled = measurement.begin();
        compiled[0].get()?;
        let mut runner = measurement.runner(&compiled);
        let functions = &objectives.functions;
        let mut records = vec![CoverageRecord::new(); functions.len()];
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut attempts: BTreeMap<&str, BTreeSet<Attempt>> = BTreeMap::new();
        let mut refused = Vec::new();
        for case in tests {
            if cancel.is_cancelled() {
                break;
            }
            match runner.measure(&case.test)? {
                Ok(measured) => {
                    let called = case.test.function.as_str();
                    *counts.entry(called).or_default() += 1;
                    let tried = runner.take_attempts();
                    attempts.entry(self.caller(called)).or_default().extend(tried);
                    let found = records.iter_mut().enumerate();
                    found.for_each(|(index, record)| measured.add_to(record, index));
                }
                Err(error) => refused.push(refusal(&case.name, &error)),
            }
        }
        tell(observer, &refused);
        attempts.iter().for_each(|(function, tried)| confinement::warn(function, tried, observer));
        let seconds = begun.elapsed().as_secs_f64();
        let mut consolidation = Consolidation::new(functions);
        consolidation.update(&records);
        tell(observer, &unjudged(functions, &consolidation));
        tell(observer, &unmeasured(self, functions, compiled[0].get()?.plan()));
        let coverage = Coverage { records, consolidation };
        let summaries = functions.iter().enumerate().map(|(index, function)| {
            let name = self.name(function.function).to_owned();
            FunctionSummary {
                criteria: rows(function, &coverage, index),
                tests: counts.get(name.as_str()).copied().unwrap_or(0),
                seconds,
                exploration: None,
                attempts: attempts
                    .get(name.as_str())
                    .map(confinement::summaries)
                    .unwrap_or_default(),
                objectives: Vec::new(),
                name,
            }
        });
        let summary = Summary { functions: summaries.collect(), ..Summary::default() };
        let missing = missing(self, functions, &coverage);
        Ok(SuiteCoverage { summary, missing, refused: refused.len() })
    }
}

fn refusal(name: &str, error: &TestMisfit) -> Diagnostic {
    Diagnostic::error("tests", format!("the test `{name}` cannot be run: {error}"))
}

/// The coverage of all functions, by position.
struct Coverage<'a> {
    records: Vec<CoverageRecord>,
    consolidation: Consolidation<'a>,
}

impl Coverage<'_> {
    fn label(&self, function: usize, label: LabelId) -> bool {
        self.records[function].has_label(label)
    }

    fn hyper(&self, function: usize, hyper: HyperId) -> bool {
        self.consolidation.is_covered(function, hyper)
    }
}

/// Warnings about hyperlabels that are not judged.
fn unjudged(
    objectives: &[FunctionObjectives],
    consolidation: &Consolidation<'_>,
) -> Vec<Diagnostic> {
    let all = objectives.iter().enumerate().flat_map(|(index, function)| {
        function.hypers.iter().filter_map(move |(id, hyper)| {
            let reason = consolidation.judgement_error(index, id)?;
            let message = format!("{} is not judged: {reason}", hyper.text);
            Some(Diagnostic::warning("unjudged", message).at(hyper.place.clone()))
        })
    });
    all.collect()
}

/// Warnings about hyperlabels with a part that cannot be measured, one for each function, criterion and
/// reason.
fn unmeasured(
    project: &Project,
    objectives: &[FunctionObjectives],
    plan: &Plan,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for (index, function) in objectives.iter().enumerate() {
        for (criterion, entries) in &function.hyper_criteria {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for entry in entries {
                let hyper = &function.hypers[entry.hyper].hyper;
                let reason = plan.why_hyperlabel_unmeasured(objectives, index, hyper);
                reason.into_iter().for_each(|reason| *counts.entry(reason).or_default() += 1);
            }
            let name = &project.program.functions[function.function].name;
            warnings.extend(counts.into_iter().map(|(reason, count)| {
                let message =
                    format!("{name}: {count} objectives of {criterion} are not measured: {reason}");
                Diagnostic::warning("unmeasured", message)
            }));
        }
    }
    warnings
}

/// The counts, with measurement as the only evidence.
fn rows(
    objectives: &FunctionObjectives,
    coverage: &Coverage<'_>,
    index: usize,
) -> Vec<CriterionSummary> {
    let labels = objectives.criteria.iter().map(|(criterion, entries)| {
        let found = entries.iter().map(|e| (e.duplicate_of, coverage.label(index, e.label)));
        row(*criterion, found)
    });
    let hypers = objectives.hyper_criteria.iter().map(|(criterion, entries)| {
        let found = entries.iter().map(|e| (e.duplicate_of, coverage.hyper(index, e.hyper)));
        row(*criterion, found)
    });
    labels.chain(hypers).collect()
}

/// The counts of one criterion: for each entry whether it is a duplicate, and whether it is
/// covered.
fn row(
    criterion: Criterion,
    entries: impl Iterator<Item = (Option<u32>, bool)>,
) -> CriterionSummary {
    let by_a_test = Evidence::Measured { test: TestHash(String::new()) };
    let verdicts = entries.map(|(duplicate_of, covered)| {
        let evidence = if covered { std::slice::from_ref(&by_a_test) } else { &[] };
        verdict(duplicate_of, evidence, &AcceptedAssumptions::default())
    });
    let verdicts: Vec<Result<Verdict, _>> = verdicts.collect();
    let mut row = CriterionSummary::from(CriterionRow::count(criterion, verdicts));
    // A measurement alone needs no reasons for objectives that tests do not cover.
    row.reasons.clear();
    row
}

/// The objectives that no test covers.
fn missing(
    project: &Project,
    objectives: &[FunctionObjectives],
    coverage: &Coverage<'_>,
) -> Vec<MissingObjective> {
    let mut all = Vec::new();
    for (index, function) in objectives.iter().enumerate() {
        let mut add = |criterion: Criterion, name: &str, place: &Place, text: &str| {
            all.push(MissingObjective {
                place: place.clone(),
                function: project.name(function.function).to_owned(),
                criterion,
                name: name.to_owned(),
                text: text.to_owned(),
            });
        };
        for (criterion, entries) in &function.criteria {
            for entry in entries.iter().filter(|entry| entry.duplicate_of.is_none()) {
                if !coverage.label(index, entry.label) {
                    let label = &function.labels[entry.label];
                    add(*criterion, &entry.name, &label.place, &label.text);
                }
            }
        }
        for (criterion, entries) in &function.hyper_criteria {
            for entry in entries.iter().filter(|entry| entry.duplicate_of.is_none()) {
                if !coverage.hyper(index, entry.hyper) {
                    let hyper = &function.hypers[entry.hyper];
                    add(*criterion, &entry.name, &hyper.place, &hyper.text);
                }
            }
        }
    }
    all
}
