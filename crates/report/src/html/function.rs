//! The part of a page above a function: its counts, and its variables from definition to use.

use std::collections::BTreeMap;
use std::path::Path;

use maud::{Markup, PreEscaped, html};

use super::draft::Draft;
use super::view::{FileView, Site};
use super::{draft, shell};
use crate::coverage::{DefUseCoverage, FunctionCoverage, Position};

/// The most pairs that are shown above a function. More have pages of their own.
const MOST_PAIRS: usize = 60;
/// The most pairs of a variable with a button that draws them.
const MOST_ARROWS: usize = 40;
/// The most variables with a button.
const MOST_VARIABLES: usize = 100;

pub(super) fn render(
    site: &Site<'_>,
    file: &FileView<'_>,
    function: &FunctionCoverage,
    others: &mut Vec<Draft>,
) -> Markup {
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
                (shell::chips(&totals, &format!("Criteria of {}", function.name)))
            }
            @if !function.def_uses.is_empty() { (variables(site, file, function, others)) }
        }
    }
}

fn variables(
    site: &Site<'_>,
    file: &FileView<'_>,
    function: &FunctionCoverage,
    others: &mut Vec<Draft>,
) -> Markup {
    let mut by_variable: BTreeMap<&str, Vec<&DefUseCoverage>> = BTreeMap::new();
    for pair in &function.def_uses {
        by_variable.entry(&pair.variable).or_default().push(pair);
    }
    let shown = file.text.is_ok();
    let drawn = by_variable.iter().filter(|(_, pairs)| pairs.len() <= MOST_ARROWS);
    let drawn: Vec<_> = drawn.take(MOST_VARIABLES).collect();
    let rows = || {
        let all = by_variable.iter();
        all.flat_map(|(variable, pairs)| {
            pairs.iter().map(move |pair| row(site, file, variable, pair))
        })
    };
    let is_many = function.def_uses.len() > MOST_PAIRS;
    let pages = if is_many { apart(file, function, rows(), others) } else { Vec::new() };
    html! {
        section.flow {
            h3 { "From definition to use" }
            @if shown && !drawn.is_empty() {
                p.note { "A button draws the pairs of a variable over the source: a full line was passed, a dashed one was not." }
                div.variables role="group" aria-label={ "Variables of " (function.name) } {
                    @for (variable, pairs) in drawn { (button(file, variable, pairs)) }
                }
            }
            @if is_many {
                @for (number, page) in pages.iter().enumerate() {
                    p { a href=(page) {
                        "All " (function.def_uses.len()) " pairs as a table"
                        @if pages.len() > 1 { ", part " (number + 1) }
                    } }
                }
            } @else {
                details {
                    summary { "All pairs as a table" }
                    (table(&html! { @for row in rows() { (row) } }, None))
                }
            }
        }
    }
}

/// Makes pages of the pairs of a function. Returns their names.
fn apart(
    file: &FileView<'_>,
    function: &FunctionCoverage,
    rows: impl Iterator<Item = Markup>,
    others: &mut Vec<Draft>,
) -> Vec<String> {
    let line = function.start.line;
    let stem = format!("{}.flow-{line}-{}", file.stem, function.start.column);
    let title = format!("From definition to use: {} of {}", function.name, file.shown);
    let rows = rows.map(Markup::into_string).collect();
    draft::apart(&stem, &title, rows, others, |group| {
        html! {
            p { a href=(draft::link(file.index, line)) { "Back to " (function.name) } }
            (shell::filter("pairs", "variables or definitions"))
            (table(&PreEscaped(group), Some("pairs")))
        }
    })
}

fn table(rows: &Markup, id: Option<&str>) -> Markup {
    html! {
        div.scroll role="region" aria-label="Definitions and uses" tabindex="0" {
            table id=[id] {
                thead { tr {
                    (shell::sortable("Variable"))
                    (shell::sortable("Definition"))
                    (shell::sortable("Use"))
                    (shell::sortable("Covered"))
                } }
                tbody { (rows) }
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

/// The column at which a place is shown, from 0.
fn visual(file: &FileView<'_>, position: Position) -> usize {
    let line = file.text.as_ref().ok().and_then(|text| text.line(position.line)).unwrap_or("");
    let before = (position.column as usize).saturating_sub(1).min(line.len());
    let before = &line[..line.floor_char_boundary(before)];
    draft::tabs_expanded(before).chars().count()
}

fn row(site: &Site<'_>, file: &FileView<'_>, variable: &str, pair: &DefUseCoverage) -> Markup {
    html! {
        tr data-gaps[!pair.covered] {
            th scope="row" { code { (variable) } }
            td data-v=(pair.definition.line) {
                @match &pair.definition_file {
                    None => (place(file, pair.definition)),
                    Some(other) => (elsewhere(site, other, pair.definition)),
                }
            }
            td data-v=(pair.usage.line) {
                (place(file, pair.usage))
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
    let found = site.files.iter().find(|view| view.coverage.path == *file);
    let found = found.filter(|view| view.text.is_ok());
    html! {
        @match found {
            Some(view) => a href=(draft::link(view.index, position.line)) { "line " (position.line) },
            None => { "line " (position.line) }
        }
        ", column " (position.column) " of " (site.report.shown(file))
    }
}

fn place(file: &FileView<'_>, position: Position) -> Markup {
    html! {
        @if file.text.is_ok() {
            a href=(draft::link(file.index, position.line)) { "line " (position.line) }
        } @else {
            "line " (position.line)
        }
        ", column " (position.column)
    }
}
