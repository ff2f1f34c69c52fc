//! The lines of a source with what is known of them.
//!
//! Where the text is not what was compiled, what was recorded is shown under its line number, and no
//! line of the text as it is now.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use maud::{Markup, html};

use super::{FileView, LineStatus, Site, SourcePage, decision, function, objectives, shell};

pub(super) fn render(site: &Site<'_>, page: &SourcePage) -> String {
    let file = &site.files[page.file];
    let lines = page.first..=page.last;
    let body = html! {
        @if let Err(why) = &file.text {
            p.warning role="note" {
                strong { "The source is not shown: " } (why) ". "
                "Below is what was recorded when it was compiled, by the lines of then."
            }
        }
        (parts(site, page))
        (functions(file, &lines))
        (tools())
        div.source {
            table.code aria-label={ "Lines " (page.first) " to " (page.last) } {
                thead.sr { tr {
                    th scope="col" { "Line" }
                    th scope="col" { "Covered" }
                    th scope="col" { "Code" }
                } }
                tbody { @for line in listed(file, &lines) { (row(site, file, line)) } }
            }
            svg.arrows aria-hidden="true" focusable="false" {}
        }
        (parts(site, page))
    };
    shell::page(&file.shown, &page.name, &body)
}

/// The lines to show: all of a text, and of a recorded one those with something on them.
fn listed(file: &FileView<'_>, lines: &RangeInclusive<u32>) -> Vec<u32> {
    match &file.text {
        Ok(_) => lines.clone().collect(),
        Err(_) => file.recorded().range(lines.clone()).copied().collect(),
    }
}

/// Ways to the other pages of a long file.
fn parts(site: &Site<'_>, here: &SourcePage) -> Markup {
    let pages = &site.pages[site.files[here.file].pages.clone()];
    html! {
        @if pages.len() > 1 {
            nav.parts aria-label="Parts of the file" {
                ul {
                    @for page in pages {
                        li {
                            @if page.name == here.name {
                                a href=(page.name) aria-current="page" { (page.first) "–" (page.last) }
                            } @else {
                                a href=(page.name) { (page.first) "–" (page.last) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn functions(file: &FileView<'_>, lines: &RangeInclusive<u32>) -> Markup {
    let here: Vec<_> = file.functions.range(lines.clone()).flat_map(|(_, list)| list).collect();
    html! {
        @if here.len() > 1 {
            nav.toc aria-label="Functions on this page" {
                details {
                    summary { (here.len()) " functions on this page" }
                    ul { @for function in here {
                        li { a href={ "#L" (function.start.line) } { (function.name) } }
                    } }
                }
            }
        }
    }
}

fn tools() -> Markup {
    html! {
        div.tools role="group" aria-label="Tools" {
            button type="button" data-jump="-1" { "Previous gap" }
            button type="button" data-jump="1" { "Next gap" }
            button type="button" data-open="1" { "Open all details" }
            button type="button" data-open="0" { "Close all details" }
            span.legend {
                span { span.sym.yes aria-hidden="true" { "✓" } " covered" }
                span { span.sym.may aria-hidden="true" { "◐" } " partly" }
                span { span.sym.no aria-hidden="true" { "✗" } " not covered" }
                span { span.sym.out aria-hidden="true" { "–" } " excluded" }
            }
        }
    }
}

impl LineStatus {
    /// The class, the symbol and the word of a status.
    fn shown(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Covered => ("yes", "✓", "covered"),
            Self::Partly => ("may", "◐", "partly covered"),
            Self::Missing => ("no", "✗", "not covered"),
            Self::Excluded => ("out", "–", "excluded"),
            Self::None => ("", "", ""),
        }
    }
}

fn row(site: &Site<'_>, file: &FileView<'_>, line: u32) -> Markup {
    let (class, symbol, word) = file.status(line).shown();
    let functions = file.functions.get(&line).map_or(&[][..], Vec::as_slice);
    html! {
        @for function in functions {
            tr.above { td colspan="3" { (function::render(site, file, function)) } }
        }
        tr.line.(class)[!class.is_empty()] id={ "L" (line) } {
            td.n { a href={ "#L" (line) } { (line) } }
            td.s { @if !symbol.is_empty() { span.sym.(class) aria-hidden="true" { (symbol) } span.sr { (word) } } }
            td.c { (code(file, line)) }
        }
        (below(site, file, line))
    }
}

/// A text with blanks for tabs, to every eighth column: browsers do not agree on where tabs end.
pub(super) fn tabs_expanded(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let (mut expanded, mut column) = (String::with_capacity(text.len() + 16), 0);
    for c in text.chars() {
        let blanks = 8 - column % 8;
        match c {
            '\t' => expanded.extend(std::iter::repeat_n(' ', blanks)),
            c => expanded.push(c),
        }
        column += if c == '\t' { blanks } else { 1 };
    }
    Cow::Owned(expanded)
}

/// The text of a line; of one that is not shown, the decisions that were recorded on it.
fn code(file: &FileView<'_>, line: u32) -> Markup {
    let text = file.text.as_ref().ok().and_then(|text| text.line(line));
    html! {
        @match text {
            Some(text) => code { (tabs_expanded(text)) },
            None => {
                @for decision in file.decisions.get(&line).into_iter().flatten() {
                    code { (decision.text) } " "
                }
                span.note { "recorded" }
            }
        }
    }
}

/// What can be opened below a line.
fn below(site: &Site<'_>, file: &FileView<'_>, line: u32) -> Markup {
    let criteria = &site.report.coverage.criteria;
    let objectives = file.objectives.get(&line).map_or(&[][..], Vec::as_slice);
    let decisions = file.decisions.get(&line).map_or(&[][..], Vec::as_slice);
    let switches = file.switches.get(&line).map_or(&[][..], Vec::as_slice);
    if decisions.is_empty() && switches.is_empty() && !objectives::matter(objectives) {
        return html! {};
    }
    let tally = objectives::tally(criteria, objectives);
    let full = tally.iter().all(|(_, covered, of)| covered == of);
    html! {
        tr.below {
            td {}
            td colspan="2" {
                details id={ "D" (line) } {
                    summary.full[full] {
                        span.sr { "Line " (line) ": " }
                        @if !decisions.is_empty() { span.kind { "decision" } }
                        @if !switches.is_empty() { span.kind { "switch" } }
                        @for (criterion, covered, of) in tally {
                            span.tally.gap[covered < of] { (criterion) " " (covered) "/" (of) }
                        }
                    }
                    div.details {
                        @for (index, each) in decisions.iter().enumerate() {
                            (decision::render(each, &format!("d{line}-{index}")))
                        }
                        @for each in switches { (objectives::switch(each, file.text.is_ok())) }
                        (objectives::lists(criteria, objectives))
                    }
                }
            }
        }
    }
}
