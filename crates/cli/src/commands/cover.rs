//! `lydian cover`: what a folder of tests covers, measured natively.

use std::collections::BTreeMap;
use std::time::Instant;

use lydian_base::Diagnostic;
use lydian_objective::ledger::{CriterionRow, Evidence, TestHash, Verdict, verdict};
use lydian_objective::{FunctionObjectives, LabelId};
use lydian_report::{CriterionSummary, FunctionSummary, Summary};
use rustc_hash::FxHashSet;

use crate::args::CoverArgs;
use crate::counting::Unfit;
use crate::exit::{ExitCode, Failure};
use crate::load::Loaded;
use crate::measure::Measuring;
use crate::{config, interrupt, load, objectives, output, render, suite, table};

pub(crate) fn run(args: &CoverArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let config = config::read(args.source.config.as_deref(), &args.source.file)?;
    let loaded = load::load(&args.source, config)?;
    load::require_x86_64(&loaded)?;
    let suite = suite::read(&args.tests, &loaded)?;
    let objectives = objectives::of(&loaded, &args.criteria)?;
    let begun = Instant::now();
    let measuring = Measuring::new(&loaded, &objectives, &args.criteria, args.test_time);
    let mut counting = measuring.start()?;
    let mut covered = vec![FxHashSet::default(); objectives.len()];
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refused = Vec::new();
    for case in &suite {
        if cancel.is_cancelled() {
            break;
        }
        match counting.measure(&case.test)? {
            Ok(measured) => {
                *counts.entry(case.test.function.as_str()).or_default() += 1;
                for (index, labels) in measured.covered.iter().enumerate() {
                    covered[index].extend(labels.iter().copied());
                }
            }
            Err(error) => refused.push(refusal(&case.name, &error)),
        }
    }
    render::diagnostics(&refused);
    let seconds = begun.elapsed().as_secs_f64();
    let mut summary = Summary::default();
    for (function, covered) in objectives.iter().zip(&covered) {
        let name = loaded.program.functions[function.function].name.clone();
        let tests = counts.get(name.as_str()).copied().unwrap_or(0);
        let criteria = rows(function, covered);
        summary.functions.push(FunctionSummary { name, criteria, tests, seconds });
    }
    output::text(&(table::render(&summary) + "\n"))?;
    if args.missing {
        output::text(&missing(&loaded, &objectives, &covered))?;
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

/// The counts, with measurement as the only evidence.
fn rows(objectives: &FunctionObjectives, covered: &FxHashSet<LabelId>) -> Vec<CriterionSummary> {
    let by_a_test = Evidence::Measured { test: TestHash(String::new()) };
    let rows = objectives.criteria.iter().map(|(criterion, entries)| {
        let verdicts = entries.iter().map(|entry| {
            let evidence =
                if covered.contains(&entry.label) { std::slice::from_ref(&by_a_test) } else { &[] };
            verdict(entry.duplicate_of, evidence)
        });
        let verdicts: Vec<Result<Verdict, _>> = verdicts.collect();
        let mut row = CriterionSummary::from(CriterionRow::count(*criterion, verdicts));
        // What tests do not cover is no riddle here, so there is no reason to give.
        row.reasons.clear();
        row
    });
    rows.collect()
}

/// The objectives that no test covers, a line each.
fn missing(
    loaded: &Loaded,
    objectives: &[FunctionObjectives],
    covered: &[FxHashSet<LabelId>],
) -> String {
    let mut text = String::new();
    for (function, covered) in objectives.iter().zip(covered) {
        let name = &loaded.program.functions[function.function].name;
        for (criterion, entries) in &function.criteria {
            let open = |entry: &&lydian_objective::Entry| {
                entry.duplicate_of.is_none() && !covered.contains(&entry.label)
            };
            for entry in entries.iter().filter(open) {
                let label = &function.labels[entry.label];
                let (place, label) = (&label.place, &label.text);
                text += &format!("{place}: {name} {criterion} {}: {label}\n", entry.name);
            }
        }
    }
    text
}
