//! `lydian objectives`: the list of objectives, each with its place and predicate in C.

use std::fmt::Write as _;

use lydian::Project;
use lydian_objective::{Criterion, FunctionObjectives};
use serde::Serialize;

use crate::args::ObjectivesArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;
use crate::progress::Terminal;
use crate::requests::check_labels;

#[derive(Serialize)]
struct Listing<'a> {
    functions: Vec<ListedFunction<'a>>,
}

#[derive(Serialize)]
struct ListedFunction<'a> {
    name: &'a str,
    objectives: Vec<ListedObjective<'a>>,
}

#[derive(Serialize)]
struct ListedObjective<'a> {
    criterion: Criterion,
    name: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    predicate: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate_of: Option<u32>,
}

pub(crate) fn run(args: &ObjectivesArgs) -> Result<ExitCode, Failure> {
    check_labels(&args.criteria.chosen())?;
    let observer = Terminal::new();
    let request = args.source.request(args.source.configuration()?);
    let project = Project::load(&request, &observer)?;
    let all = project.objectives(&args.criteria.request(), &observer)?.functions;
    let mut text = String::new();
    for objectives in &all {
        let name = project.name(objectives.function);
        describe(&mut text, name, objectives);
        describe_hypers(&mut text, name, objectives);
    }
    output::text(&text)?;
    if let Some(path) = &args.json {
        let functions = all
            .iter()
            .map(|objectives| listed(project.name(objectives.function), objectives))
            .collect();
        output::json(path, &Listing { functions })?;
    }
    Ok(ExitCode::Done)
}

fn describe(text: &mut String, name: &str, objectives: &FunctionObjectives) {
    for (criterion, entries) in &objectives.criteria {
        let duplicates = entries.iter().filter(|entry| entry.duplicate_of.is_some()).count();
        heading(text, name, *criterion, entries.len(), duplicates);
        for entry in entries {
            let label = &objectives.labels[entry.label];
            let _ = write!(text, "  {} {}: {}", label.place, entry.name, label.text);
            let _ = match entry.duplicate_of {
                Some(first) => writeln!(text, " (duplicate of {})", entries[first as usize].name),
                None => writeln!(text),
            };
        }
    }
}

fn describe_hypers(text: &mut String, name: &str, objectives: &FunctionObjectives) {
    for (criterion, entries) in &objectives.hyper_criteria {
        let duplicates = entries.iter().filter(|entry| entry.duplicate_of.is_some()).count();
        heading(text, name, *criterion, entries.len(), duplicates);
        for entry in entries {
            let hyper = &objectives.hypers[entry.hyper];
            let _ = write!(text, "  {} {}: {}", hyper.place, entry.name, hyper.text);
            let _ = match entry.duplicate_of {
                Some(first) => writeln!(text, " (duplicate of {})", entries[first as usize].name),
                None => writeln!(text),
            };
        }
    }
}

fn heading(text: &mut String, name: &str, criterion: Criterion, count: usize, duplicates: usize) {
    let _ = write!(text, "{name} {criterion}: {count} objectives");
    let _ = match duplicates {
        0 => writeln!(text),
        _ => writeln!(text, ", {duplicates} of them duplicates"),
    };
}

fn listed<'a>(name: &'a str, objectives: &'a FunctionObjectives) -> ListedFunction<'a> {
    let entries = objectives.criteria.iter().flat_map(|(criterion, entries)| {
        entries.iter().map(|entry| {
            let label = &objectives.labels[entry.label];
            ListedObjective {
                criterion: *criterion,
                name: &entry.name,
                file: &label.place.file,
                line: label.place.line,
                column: label.place.column,
                predicate: &label.text,
                key: &label.key.0,
                duplicate_of: entry.duplicate_of,
            }
        })
    });
    let hypers = objectives.hyper_criteria.iter().flat_map(|(criterion, entries)| {
        entries.iter().map(|entry| {
            let hyper = &objectives.hypers[entry.hyper];
            ListedObjective {
                criterion: *criterion,
                name: &entry.name,
                file: &hyper.place.file,
                line: hyper.place.line,
                column: hyper.place.column,
                predicate: &hyper.text,
                key: &hyper.key.0,
                duplicate_of: entry.duplicate_of,
            }
        })
    });
    ListedFunction { name, objectives: entries.chain(hypers).collect() }
}
