//! `lydian explain`: the state of some objectives, from the files of `lydian gen`.

use std::fmt::Write as _;
use std::path::Path;

use lydian::OBJECTIVES_FILE;
use lydian_report::{FunctionSummary, ObjectiveSummary, Summary};

use crate::args::ExplainArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let path = args.tests.join(OBJECTIVES_FILE);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage("objectives", format!("cannot read {}: {error}", path.display()))
            .note("`lydian gen` writes it into its folder; name another with --tests")
    })?;
    let summary: Summary = serde_json::from_str(&text).map_err(|error| {
        Failure::usage("objectives", format!("{}: {error}", path.display()))
            .note("remove it and run `lydian gen` again, which makes it anew from the ledger")
    })?;
    let all = summary.functions.iter().flat_map(|function| {
        function.objectives.iter().map(move |objective| (function, objective))
    });
    let is_meant = |(function, objective): &(&FunctionSummary, &ObjectiveSummary)| {
        args.words.iter().all(|word| means(word, function, objective))
    };
    let found: Vec<_> = all.filter(is_meant).collect();
    if found.is_empty() {
        let words = args.words.join(" ");
        return Err(Failure::usage("objectives", format!("no objective is meant by `{words}`"))
            .note("give a line, FILE:LINE, a function, a criterion, a verdict, or part of a predicate")
            .note("`lydian objectives` lists them all"));
    }
    let mut text = String::new();
    for (function, objective) in found {
        describe(&mut text, function, objective);
    }
    output::text(&text)?;
    Ok(ExitCode::Done)
}

/// Whether a word selects an objective: by its line, file and line, function, criterion, name or
/// verdict, a test, or a part of its predicate.
fn means(word: &str, function: &FunctionSummary, objective: &ObjectiveSummary) -> bool {
    let ObjectiveSummary { criterion, name, file, line, text, verdict, tests, .. } = objective;
    let is_file = |wanted: &str| Path::new(file).ends_with(wanted);
    if let Ok(number) = word.parse::<u32>() {
        return number == *line;
    }
    if let Some((wanted, number)) = word.rsplit_once(':')
        && let Ok(number) = number.parse::<u32>()
    {
        return number == *line && is_file(wanted);
    }
    let exact = [function.name.as_str(), criterion.name(), name.as_str(), &verdict.to_string()];
    exact.contains(&word)
        || is_file(word)
        || tests.iter().any(|test| test == word)
        || text.contains(word)
}

fn describe(out: &mut String, function: &FunctionSummary, objective: &ObjectiveSummary) {
    let ObjectiveSummary { criterion, name, file, line, column, text, verdict, .. } = objective;
    let _ = writeln!(out, "{file}:{line}:{column}: {text}");
    let _ = writeln!(out, "  {}: {criterion}: {name}: {verdict}", function.name);
    if !objective.reason.is_empty() {
        let _ = writeln!(out, "  because: {}", objective.reason);
    }
    for assumption in &objective.assumptions {
        let _ = writeln!(out, "  assuming: {assumption}");
    }
    if !objective.tests.is_empty() {
        let _ = writeln!(out, "  tests: {}", objective.tests.join(", "));
    }
    if let Some(why) = objective.only_by {
        let _ = writeln!(out, "  only by {why} (-D{})", why.macro_name());
    }
}
