//! What is shown above a function: its counts, and its variables from definition to use.

use std::collections::BTreeMap;
use std::path::Path;

use maud::{Markup, html};

use super::{FileView, Site, shell, source};
use crate::coverage::{DefUseCoverage, FunctionCoverage, Position};

pub(super) fn render(site: &Site<'_>, file: &FileView<'_>, function: &FunctionCoverage) -> Markup {
    let totals = function.totals(&site.report.coverage.criteria);
    let totals: Vec<_> = totals.into_iter().filter(|row| row.objectives > 0).collect();
    let ran = function.ran();
    let excluded = file.coverage.exclusions.line(function.start.line);
    let gaps: usize = totals.iter().map(|row| row.denominator() - row.covered).sum();
    html! {
        details.function {
            summary {
                h2 { (function.name) } " "
                @if excluded {
                    span.sym.out aria-hidden="true" { "–" } " excluded"
                } @else if ran {
                    span.sym.yes aria-hidden="true" { "✓" } " run"
                } @else {
                    span.sym.no aria-hidden="true" { "✗" } " not run"
                }
                @if gaps > 0 { ", " (gaps) " objectives not covered" }
            }
            @if totals.is_empty() { p { "It has no objectives." } } @else {
                div.scroll role="region" aria-label={ "Criteria of " (function.name) } tabindex="0" {
                    table {
                        thead { tr { @for row in &totals { th scope="col" { (row.criterion) } } } }
                        tbody { tr { (shell::parts(&totals)) } }
                    }
                }
            }
            @if !function.def_uses.is_empty() { (variables(site, file, function)) }
        }
    }
}

fn variables(site: &Site<'_>, file: &FileView<'_>, function: &FunctionCoverage) -> Markup {
    let mut by_variable: BTreeMap<&str, Vec<&DefUseCoverage>> = BTreeMap::new();
    for pair in &function.def_uses {
        by_variable.entry(&pair.variable).or_default().push(pair);
    }
    let shown = file.text.is_ok();
    html! {
        section.flow {
            h3 { "From definition to use" }
            @if shown {
                p.note { "A button draws the pairs of a variable over the source: a full line was passed, a dashed one was not." }
                div.variables role="group" aria-label={ "Variables of " (function.name) } {
                    @for (variable, pairs) in &by_variable { (button(file, variable, pairs)) }
                }
            }
            details {
                summary { "All pairs as a table" }
                div.scroll role="region" aria-label="Definitions and uses" tabindex="0" {
                    table {
                        thead { tr {
                            (shell::sortable("Variable"))
                            (shell::sortable("Definition"))
                            (shell::sortable("Use"))
                            (shell::sortable("Covered"))
                        } }
                        tbody {
                            @for (variable, pairs) in &by_variable {
                                @for pair in pairs { (row(site, variable, pair, shown)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn button(file: &FileView<'_>, variable: &str, pairs: &[&DefUseCoverage]) -> Markup {
    let covered = pairs.iter().filter(|pair| pair.covered).count();
    let place = |position: Position| format!("{}:{}", position.line, visual(file, position));
    let drawn = pairs.iter().filter(|pair| pair.definition_file.is_none());
    let arrows = drawn.map(|pair| {
        format!("{}>{}>{}", place(pair.definition), place(pair.usage), u8::from(pair.covered))
    });
    let arrows = arrows.collect::<Vec<_>>().join(" ");
    html! {
        button type="button" aria-pressed="false" data-arrows=(arrows) data-variable=(variable) {
            code { (variable) } " " span.count { (covered) "/" (pairs.len()) span.sr { " pairs covered" } }
        }
    }
}

/// The column at which a place is seen, from 0.
fn visual(file: &FileView<'_>, position: Position) -> usize {
    let line = file.text.as_ref().ok().and_then(|text| text.line(position.line)).unwrap_or("");
    let before = (position.column as usize).saturating_sub(1).min(line.len());
    let before = &line[..line.floor_char_boundary(before)];
    source::tabs_expanded(before).chars().count()
}

fn row(site: &Site<'_>, variable: &str, pair: &DefUseCoverage, linked: bool) -> Markup {
    html! {
        tr {
            th scope="row" { code { (variable) } }
            td data-v=(pair.definition.line) {
                @match &pair.definition_file {
                    None => (place(pair.definition, linked)),
                    Some(file) => (elsewhere(site, file, pair.definition)),
                }
            }
            td data-v=(pair.usage.line) {
                (place(pair.usage, linked))
                @if let Some(value) = pair.branch { ", where the condition is " (value) }
            }
            td data-v=(u8::from(pair.covered)) {
                @if pair.covered {
                    span.sym.yes aria-hidden="true" { "✓" } " covered"
                } @else {
                    span.sym.no aria-hidden="true" { "✗" } " not covered"
                }
            }
        }
    }
}

/// A place in another file, with a link if that is in the report.
fn elsewhere(site: &Site<'_>, file: &Path, position: Position) -> Markup {
    let found = site.files.iter().position(|view| view.coverage.path == *file);
    html! {
        @match found {
            Some(index) => a href=(site.link(index, position.line)) { "line " (position.line) },
            None => { "line " (position.line) }
        }
        ", column " (position.column) " of " (site.report.shown(file))
    }
}

fn place(position: Position, linked: bool) -> Markup {
    html! {
        @if linked {
            a href={ "#L" (position.line) } { "line " (position.line) }
        } @else {
            "line " (position.line)
        }
        ", column " (position.column)
    }
}
