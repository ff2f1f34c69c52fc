//! The pages that list all functions, and the exclusions by comments.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use super::draft::Draft;
use super::view::{FileView, Site};
use super::{draft, shell};
use crate::coverage::{FunctionCoverage, ObjectiveCoverage, ObjectiveStatus};

pub(super) fn functions(site: &Site<'_>) -> Vec<Draft> {
    let criteria = &site.report.coverage.criteria;
    let files = site.files.iter();
    let rows = files.flat_map(|file| {
        let functions = file.coverage.functions.iter();
        functions.map(|function| function_row(site, file, function).into_string())
    });
    let table = |rows: &str| {
        html! {
            (shell::filter("functions", "functions or files"))
            (shell::columns("functions", criteria, 4))
            div.scroll role="region" aria-label="Functions" tabindex="0" {
                table id="functions" {
                    thead { tr {
                        (shell::sortable("Function"))
                        (shell::sortable("File"))
                        (shell::sortable("Run"))
                        @for criterion in criteria { (shell::sortable(criterion.name())) }
                    } }
                    tbody { (PreEscaped(rows)) }
                }
            }
        }
    };
    on_pages("functions", "Functions", rows.collect(), table)
}

/// Pages of rows, with links to each other.
fn on_pages(
    stem: &str,
    title: &str,
    rows: Vec<String>,
    body: impl Fn(&str) -> Markup,
) -> Vec<Draft> {
    let mut groups = draft::grouped(rows);
    if groups.is_empty() {
        groups.push(String::new());
    }
    let names: Vec<String> = (0..groups.len()).map(|part| draft::part_name(stem, part)).collect();
    let draft = |(here, group): (usize, &String)| {
        let body = html! {
            @if names.len() > 1 {
                nav.parts aria-label="Parts of the list" { ul {
                    @for (number, name) in names.iter().enumerate() {
                        li { a href=(name) aria-current=[(number == here).then_some("page")] { "part " (number + 1) } }
                    }
                } }
            }
            (body(group))
        };
        let (name, title) = (names[here].clone(), title.to_owned());
        Draft { name, title, lines: None, body: body.into_string() }
    };
    groups.iter().enumerate().map(draft).collect()
}

fn function_row(site: &Site<'_>, file: &FileView<'_>, function: &FunctionCoverage) -> Markup {
    let totals = function.totals(&site.report.coverage.criteria);
    let excluded = file.coverage.exclusions.line(function.start.line);
    let ran = function.ran();
    let gaps = !excluded && (!ran || totals.iter().any(|row| row.covered < row.denominator()));
    let place = format!("{}:{:08}", file.shown, function.start.line);
    html! {
        tr data-gaps[gaps] {
            th scope="row" { a href=(draft::link(file.index, function.start.line)) { (function.name) } }
            td data-v=(place) { (file.shown) ":" (function.start.line) }
            td data-v=(u8::from(ran)) {
                @if excluded { "excluded" } @else if ran { "✓ yes" } @else { "✗ no" }
            }
            (shell::parts(&totals))
        }
    }
}

/// The most characters of an objective's text that are shown.
const MOST_TEXT: usize = 300;

/// The exclusions on one line: the justified objectives one by one, the others as counts.
#[derive(Default)]
struct ExcludedItems<'a> {
    justified: Vec<(&'a ObjectiveCoverage, &'a str)>,
    counts: BTreeMap<&'static str, usize>,
}

/// The justified objectives one by one, and the lines that markers exclude.
pub(super) fn excluded(site: &Site<'_>) -> Vec<Draft> {
    let lines = excluded_lines(site);
    let justified = lines.iter().flat_map(|(place, entry)| {
        entry.justified.iter().map(move |(objective, why)| (place, objective, why))
    });
    let justified = justified.map(|((file, line), objective, why)| {
        let text = draft::clipped(&draft::clean(&objective.text), MOST_TEXT);
        let row = html! {
            tr {
                th scope="row" { (place(site, *file, *line)) }
                td { (objective.criterion) }
                td { (objective.name) ": " code { (text) } }
                td { (draft::clean(why)) }
            }
        };
        row.into_string()
    });
    let marked = lines.iter().filter(|(_, entry)| !entry.counts.is_empty());
    let marked = marked.map(|((file, line), entry)| {
        let row = html! {
            tr {
                th scope="row" { (place(site, *file, *line)) }
                td { (counts(&entry.counts)) }
            }
        };
        row.into_string()
    });
    let (justified, marked): (Vec<String>, Vec<String>) = (justified.collect(), marked.collect());
    let count = marked.len();
    let justified = on_pages("excluded", "Excluded objectives", justified, |rows| {
        html! {
            p { a href="marked.html" { (count) " lines with objectives are excluded by markers." } }
            h2 id="justified" { "Justified" }
            @if rows.is_empty() { p { "No objective is justified by a comment." } } @else {
                (table("justified", &["Place", "Criterion", "Objective", "Justification"], rows))
            }
        }
    });
    let marked = on_pages("marked", "Excluded by markers", marked, |rows| {
        html! {
            p { a href="excluded.html" { "What comments justify is listed apart." } }
            h2 id="marked" { "Lines" }
            @if rows.is_empty() { p { "No line with objectives is excluded by a marker." } } @else {
                (table("marked", &["Place", "Objectives"], rows))
            }
        }
    });
    justified.into_iter().chain(marked).collect()
}

fn table(heading: &str, columns: &[&str], rows: &str) -> Markup {
    html! {
        div.scroll role="region" aria-labelledby=(heading) tabindex="0" {
            table {
                thead { tr { @for column in columns { (shell::sortable(column)) } } }
                tbody { (PreEscaped(rows)) }
            }
        }
    }
}

fn excluded_lines<'a>(site: &Site<'a>) -> BTreeMap<(usize, u32), ExcludedItems<'a>> {
    let mut lines: BTreeMap<(usize, u32), ExcludedItems<'a>> = BTreeMap::new();
    for (index, file) in site.files.iter().enumerate() {
        for (line, objectives) in &file.objectives {
            for objective in objectives {
                let ObjectiveStatus::Excluded(why) = &objective.status else { continue };
                let entry = lines.entry((index, *line)).or_default();
                match why {
                    Some(why) => entry.justified.push((objective, why)),
                    None => *entry.counts.entry(objective.criterion.name()).or_default() += 1,
                }
            }
        }
    }
    lines
}

fn place(site: &Site<'_>, file: usize, line: u32) -> Markup {
    html! { a href=(draft::link(file, line)) { (site.files[file].shown) ":" (line) } }
}

fn counts(counts: &BTreeMap<&'static str, usize>) -> String {
    let each = counts.iter().map(|(criterion, count)| format!("{count} {criterion}"));
    each.collect::<Vec<_>>().join(", ")
}
