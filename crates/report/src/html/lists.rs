//! The pages that list all functions, and what comments take out of the count.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{FileView, Site, shell};
use crate::coverage::{FunctionCoverage, ObjectiveCoverage, ObjectiveStatus};

pub(super) fn functions(site: &Site<'_>) -> String {
    let criteria = &site.report.coverage.criteria;
    let body = html! {
        (shell::filter("functions", "functions or files"))
        div.scroll role="region" aria-label="Functions" tabindex="0" {
            table id="functions" {
                thead { tr {
                    (shell::sortable("Function"))
                    (shell::sortable("File"))
                    (shell::sortable("Run"))
                    @for criterion in criteria { (shell::sortable(criterion.name())) }
                } }
                tbody {
                    @for (index, file) in site.files.iter().enumerate() {
                        @for function in &file.coverage.functions {
                            (function_row(site, index, file, function))
                        }
                    }
                }
            }
        }
    };
    shell::page("Functions", "functions.html", &body)
}

fn function_row(
    site: &Site<'_>,
    index: usize,
    file: &FileView<'_>,
    function: &FunctionCoverage,
) -> Markup {
    let totals = function.totals(&site.report.coverage.criteria);
    let excluded = file.coverage.exclusions.line(function.start.line);
    let ran = function.ran();
    let gaps = !excluded && (!ran || totals.iter().any(|row| row.covered < row.denominator()));
    let place = format!("{}:{:08}", file.shown, function.start.line);
    html! {
        tr data-gaps[gaps] {
            th scope="row" { a href=(site.link(index, function.start.line)) { (function.name) } }
            td data-v=(place) { (file.shown) ":" (function.start.line) }
            td data-v=(u8::from(ran)) {
                @if excluded { "excluded" } @else if ran { "✓ yes" } @else { "✗ no" }
            }
            (shell::parts(&totals))
        }
    }
}

/// What is excluded on one line: the justified objectives one by one, the others as counts.
#[derive(Default)]
struct Excluded<'a> {
    justified: Vec<(&'a ObjectiveCoverage, &'a str)>,
    counts: BTreeMap<&'static str, usize>,
}

pub(super) fn excluded(site: &Site<'_>) -> String {
    let lines = excluded_lines(site);
    let justified = lines.iter().flat_map(|(place, entry)| {
        entry.justified.iter().map(move |(objective, why)| (place, objective, why))
    });
    let marked: Vec<_> = lines.iter().filter(|(_, entry)| !entry.counts.is_empty()).collect();
    let justified: Vec<_> = justified.collect();
    let body = html! {
        section aria-labelledby="justified" {
            h2 id="justified" { "Justified" }
            @if justified.is_empty() { p { "No objective is justified by a comment." } } @else {
                div.scroll role="region" aria-labelledby="justified" tabindex="0" {
                    table {
                        thead { tr {
                            (shell::sortable("Place"))
                            (shell::sortable("Criterion"))
                            (shell::sortable("Objective"))
                            (shell::sortable("Justification"))
                        } }
                        tbody {
                            @for ((file, line), objective, why) in justified {
                                tr {
                                    th scope="row" { (place(site, *file, *line)) }
                                    td { (objective.criterion) }
                                    td { (objective.name) ": " code { (objective.text) } }
                                    td { (why) }
                                }
                            }
                        }
                    }
                }
            }
        }
        section aria-labelledby="marked" {
            h2 id="marked" { "Excluded by markers" }
            @if marked.is_empty() { p { "No line with objectives is excluded by a marker." } } @else {
                div.scroll role="region" aria-labelledby="marked" tabindex="0" {
                    table {
                        thead { tr { (shell::sortable("Place")) (shell::sortable("Objectives")) } }
                        tbody {
                            @for ((file, line), entry) in marked {
                                tr {
                                    th scope="row" { (place(site, *file, *line)) }
                                    td { (counts(&entry.counts)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    shell::page("Excluded objectives", "excluded.html", &body)
}

fn excluded_lines<'a>(site: &Site<'a>) -> BTreeMap<(usize, u32), Excluded<'a>> {
    let mut lines: BTreeMap<(usize, u32), Excluded<'a>> = BTreeMap::new();
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
    html! { a href=(site.link(file, line)) { (site.files[file].shown) ":" (line) } }
}

fn counts(counts: &BTreeMap<&'static str, usize>) -> String {
    let each = counts.iter().map(|(criterion, count)| format!("{count} {criterion}"));
    each.collect::<Vec<_>>().join(", ")
}
