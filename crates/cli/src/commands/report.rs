//! `lydian report`: the coverage of runs, in every form.

pub(super) mod changed;
mod scope;
mod trend;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use lydian::{Store, collect, files};
use lydian_base::{Diagnostic, Severity};
use lydian_objective::Criterion;
use lydian_report::coverage::Coverage;
use lydian_report::exports::{
    cobertura, codecov, gcov_json, github, gitlab, junit, lcov, sarif, sonarqube,
};
use lydian_report::totals::trend::Trend;
use lydian_report::{Report, coverage_json, html};

use crate::args::{ExportArgs, FromArgs, ReportArgs};
use crate::exit::{ExitCode, Failure};
use crate::{coverage_table, output, render};
use scope::ReportScope;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let root = folder("report", args.root.as_deref())?;
    let scope = ReportScope::read(args, &root)?;
    let changes = changed::read(args.scope.diff.as_deref(), args.scope.patch.as_deref(), &root)?;
    let mut coverage = read("report", &args.from)?;
    let untold = changes.as_ref().map(|it| changed::untold(it, &coverage, &scope, &root));
    let left_out = scope.limit(&mut coverage);
    if let Some(changes) = &changes {
        changes.limit(&mut coverage);
    }
    // Warnings come first, since they may explain the rest.
    for warning in coverage.warnings.iter().chain(untold.iter().flatten()) {
        render::diagnostics(&[Diagnostic::warning("coverage", warning)]);
    }
    if let Some(criterion) = scope.criteria().find(|it| !coverage.criteria.contains(it)) {
        return Err(not_measured(criterion, &coverage));
    }
    let (report, warnings) = Report::read(coverage, &root)
        .map_err(|diagnostics| Failure { code: ExitCode::Usage, diagnostics })?;
    render::diagnostics(&warnings);
    let trend = args.trend.as_deref().map(|path| trend::add(path, &report)).transpose()?;
    write(&args.exports, &report, trend.as_ref())?;
    if args.exports.lcov.is_some() && args.exports.lcov_version.is_none() {
        render::diagnostics(&conditions_left_out(&report));
    }
    output::text(&(coverage_table::render(&report, args.by) + "\n"))?;
    if left_out > 0 {
        let files = if left_out == 1 { "1 file is" } else { &format!("{left_out} files are") };
        output::text(&format!("{files} left out, as --include and --exclude ask.\n"))?;
    }
    if changes.is_some() {
        output::text(&changed::lines(&report))?;
    }
    if args.github {
        output::text(&github::render(&report))?;
    }
    scope.judge(&report)
}

/// The requested coverage.
pub(super) fn read(command: &'static str, args: &FromArgs) -> Result<Coverage, Failure> {
    let mut all: Option<Coverage> = None;
    let mut add = |part: Coverage| match &mut all {
        None => all = Some(part),
        Some(all) => all.merge(part),
    };
    let directory = std::env::current_dir().map_err(|error| {
        Failure::environment(command, format!("the present folder is not known: {error}"))
    })?;
    let given = args.dir.iter().map(|path| Store::at(directory.join(path)));
    let nearest = || Store::locate(&directory);
    let found = match args.dir.is_empty() && args.from_json.is_empty() {
        true => vec![nearest()],
        false => given.collect(),
    };
    for store in found {
        let path = store.path().display();
        if !store.path().is_dir() {
            return Err(nothing(command, format!("there is no {path}")));
        }
        let found = collect(&store);
        if found == Coverage::default() {
            return Err(nothing(command, format!("{path} knows of no build")));
        }
        add(found);
    }
    for path in &args.from_json {
        add(read_json(command, path)?);
    }
    all.ok_or_else(|| Failure::usage(command, "there is nothing to report on"))
}

/// The error for a report without any figures.
fn nothing(command: &'static str, why: String) -> Failure {
    let failure = Failure::usage(command, format!("nothing was measured: {why}"));
    failure.note("build with CC=\"lydian cc --\" and run the program first")
}

fn read_json(command: &'static str, path: &Path) -> Result<Coverage, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::environment(command, format!("cannot read {}: {error}", path.display()))
    })?;
    coverage_json::read(&text)
        .map_err(|error| Failure::usage(command, format!("cannot use {}: {error}", path.display())))
}

/// The folder that paths are relative to: the given one, or the current one.
pub(super) fn folder(command: &'static str, root: Option<&Path>) -> Result<PathBuf, Failure> {
    let root = root.unwrap_or(Path::new("."));
    root.canonicalize().map_err(|error| {
        Failure::environment(command, format!("cannot find {}: {error}", root.display()))
    })
}

/// Writes all files that are asked for.
fn write(args: &ExportArgs, report: &Report, trend: Option<&Trend>) -> Result<(), Failure> {
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    if let Some(folder) = &args.html {
        write_pages(folder, report, trend)?;
    }
    type Form<'a> = &'a dyn Fn() -> String;
    let files: &[(&Option<PathBuf>, Form<'_>)] = &[
        (&args.json, &|| coverage_json::render(report)),
        (&args.lcov, &|| lcov::render(report, args.lcov_version.unwrap_or_default())),
        (&args.cobertura, &|| cobertura::render(report, seconds())),
        (&args.sarif, &|| sarif::render(report)),
        (&args.gcov_json, &|| gcov_json::render(report, &args.gcovr_version)),
        (&args.sonarqube, &|| sonarqube::render(report)),
        (&args.codecov, &|| codecov::render(report)),
        (&args.gitlab, &|| gitlab::render(report)),
        (&args.junit, &|| junit::render(report)),
    ];
    for (path, form) in files {
        if let Some(path) = path {
            files::file(path, &form())?;
        }
    }
    Ok(())
}

/// A warning if a tracefile has no MC/DC although it was measured.
fn conditions_left_out(report: &Report) -> Vec<Diagnostic> {
    let is_measured = report.coverage.criteria.contains(&Criterion::Mcdc);
    let message = "the tracefile has no MC/DC, so that every lcov reads it";
    let hint = "give --lcov-version 2.2, or a newer one, and it has";
    is_measured
        .then(|| Diagnostic::new(Severity::Note, "lcov", message).note(hint))
        .into_iter()
        .collect()
}

fn write_pages(folder: &Path, report: &Report, trend: Option<&Trend>) -> Result<(), Failure> {
    files::folder(folder)?;
    html::pages(report, trend)
        .iter()
        .try_for_each(|page| files::page(&folder.join(&page.name), &page.text))?;
    Ok(())
}

fn not_measured(criterion: Criterion, coverage: &Coverage) -> Failure {
    let names: Vec<String> = coverage.criteria.iter().map(ToString::to_string).collect();
    let measured = match names.is_empty() {
        true => "nothing was".to_owned(),
        false => format!("{} was", names.join(", ")),
    };
    Failure::usage("fail-under", format!("{criterion} was not measured; {measured}"))
}
