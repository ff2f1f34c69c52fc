//! `lydian cover`: what a folder of tests covers, measured natively.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use lydian_base::Diagnostic;
use lydian_native::{Attempt, Plan};
use lydian_objective::evidence::{CriterionRow, Evidence, TestHash, Verdict, verdict};
use lydian_objective::{
    Accepted, Consolidation, Criterion, FunctionObjectives, Harvest, HyperId, LabelId,
};
use lydian_report::{CriterionSummary, FunctionSummary, Summary};

use crate::args::CoverArgs;
use crate::counting::Unfit;
use crate::exit::{ExitCode, Failure};
use crate::load::Loaded;
use crate::measure::Measuring;
use crate::{config, confined, interrupt, load, objectives, output, render, suite, table};

pub(crate) fn run(args: &CoverArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let config = config::read(args.source.config.as_deref(), &args.source.file)?;
    let loaded = load::load_program(&args.source, Some(&args.program), config)?;
    load::require_x86_64(&loaded)?;
    let suite = suite::read(&args.tests, &loaded)?;
    let objectives = objectives::of(&loaded, &args.criteria)?;
    let begun = Instant::now();
    let limits = (args.test_time, confined::confinement(&args.confinement));
    let measuring = Measuring::new(&loaded, &objectives, &args.criteria, limits);
    let compiled = measuring.begin();
    compiled.get()?;
    let mut counting = measuring.counting(&compiled);
    let mut harvests = vec![Harvest::new(); objectives.len()];
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut attempts: BTreeMap<&str, BTreeSet<Attempt>> = BTreeMap::new();
    let mut refused = Vec::new();
    for case in &suite {
        if cancel.is_cancelled() {
            break;
        }
        match counting.measure(&case.test)? {
            Ok(measured) => {
                *counts.entry(case.test.function.as_str()).or_default() += 1;
                attempts
                    .entry(loaded.caller(&case.test.function))
                    .or_default()
                    .extend(counting.take_attempts());
                let found = harvests.iter_mut().enumerate();
                found.for_each(|(index, harvest)| measured.add_to(harvest, index));
            }
            Err(error) => refused.push(refusal(&case.name, &error)),
        }
    }
    render::diagnostics(&refused);
    attempts.iter().for_each(|(function, attempts)| confined::warn(function, attempts));
    let seconds = begun.elapsed().as_secs_f64();
    let mut summary = Summary::default();
    let mut consolidation = Consolidation::new(&objectives);
    consolidation.update(&harvests);
    render::diagnostics(&unjudged(&objectives, &consolidation));
    render::diagnostics(&unmeasured(&loaded, &objectives, compiled.get()?.plan()));
    let coverage = Coverage { harvests, consolidation };
    for (index, function) in objectives.iter().enumerate() {
        let name = loaded.program.functions[function.function].name.clone();
        let tests = counts.get(name.as_str()).copied().unwrap_or(0);
        let criteria = rows(function, &coverage, index);
        let exploration = None;
        let attempts = attempts.get(name.as_str()).map(confined::summaries).unwrap_or_default();
        summary.functions.push(FunctionSummary {
            name,
            criteria,
            tests,
            seconds,
            exploration,
            attempts,
            objectives: Vec::new(),
        });
    }
    output::text(&(table::render(&summary) + "\n"))?;
    if args.missing {
        output::text(&missing(&loaded, &objectives, &coverage))?;
    }
    if let Some(path) = &args.json {
        output::file(path, &summary.to_json())?;
    }
    Ok(match () {
        () if cancel.is_cancelled() => ExitCode::Interrupted,
        () if refused.is_empty() => ExitCode::Done,
        () => ExitCode::Usage,
    })
}

fn refusal(name: &str, error: &Unfit) -> Diagnostic {
    Diagnostic::error("tests", format!("the test `{name}` cannot be run: {error}"))
}

/// What tests cover of all functions, by position.
struct Coverage<'a> {
    harvests: Vec<Harvest>,
    consolidation: Consolidation<'a>,
}

impl Coverage<'_> {
    fn label(&self, function: usize, label: LabelId) -> bool {
        self.harvests[function].has_label(label)
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
            let reason = consolidation.unjudged(index, id)?;
            let message = format!("{} is not judged: {reason}", hyper.text);
            Some(Diagnostic::warning("unjudged", message).at(hyper.place.clone()))
        })
    });
    all.collect()
}

/// Warnings about hyperlabels with a part that cannot be measured, one a function, criterion and
/// reason.
fn unmeasured(loaded: &Loaded, objectives: &[FunctionObjectives], plan: &Plan) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for (index, function) in objectives.iter().enumerate() {
        for (criterion, entries) in &function.hyper_criteria {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for entry in entries {
                let hyper = &function.hypers[entry.hyper].hyper;
                let lost = plan.why_unmeasured(objectives, index, hyper);
                lost.into_iter().for_each(|reason| *counts.entry(reason).or_default() += 1);
            }
            let name = &loaded.program.functions[function.function].name;
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
        verdict(duplicate_of, evidence, &Accepted::default())
    });
    let verdicts: Vec<Result<Verdict, _>> = verdicts.collect();
    let mut row = CriterionSummary::from(CriterionRow::count(criterion, verdicts));
    // What tests do not cover is no riddle here, so there is no reason to give.
    row.reasons.clear();
    row
}

/// The objectives that no test covers, a line each.
fn missing(loaded: &Loaded, objectives: &[FunctionObjectives], coverage: &Coverage<'_>) -> String {
    let mut text = String::new();
    for (index, function) in objectives.iter().enumerate() {
        let name = &loaded.program.functions[function.function].name;
        for (criterion, entries) in &function.criteria {
            let open = |e: &&lydian_objective::Entry| {
                e.duplicate_of.is_none() && !coverage.label(index, e.label)
            };
            for entry in entries.iter().filter(open) {
                let label = &function.labels[entry.label];
                let (place, label) = (&label.place, &label.text);
                text += &format!("{place}: {name} {criterion} {}: {label}\n", entry.name);
            }
        }
        for (criterion, entries) in &function.hyper_criteria {
            let open = |e: &&lydian_objective::HyperEntry| {
                e.duplicate_of.is_none() && !coverage.hyper(index, e.hyper)
            };
            for entry in entries.iter().filter(open) {
                let hyper = &function.hypers[entry.hyper];
                let (place, hyper) = (&hyper.place, &hyper.text);
                text += &format!("{place}: {name} {criterion} {}: {hyper}\n", entry.name);
            }
        }
    }
    text
}
