//! The lines of a source with their coverage.
//!
//! If the text has changed since it was compiled, the recorded coverage is shown by line numbers,
//! without the lines of the present text.

use std::ops::RangeInclusive;

use lydian_objective::Criterion;
use maud::{Markup, PreEscaped, html};

use super::draft::Draft;
use super::view::{FileView, Site, StatusMark};
use super::{decision, draft, function, highlight, objectives};

/// The number of lines from which on a page of a source is cut at the next function.
const PAGE_LINES: u32 = 1500;
/// The most lines of a page.
const MOST_PAGE_LINES: u32 = 5000;
/// The most characters of a line of a source that are shown.
const MOST_COLUMNS: usize = 4000;
/// The most tests of a line that are named.
const MOST_TESTS: usize = 8;
/// The most characters that are shown of a decision in place of its line, and of names of tests.
const MOST_TEXT: usize = 400;

/// The pages of a file: its lines, and pages for large pieces.
pub(super) fn drafts(site: &Site<'_>, file: &FileView<'_>) -> Vec<Draft> {
    let mut others = Vec::new();
    let mut parts: Vec<Part> = vec![Part::default()];
    let mut colours = highlight::State::default();
    for line in listed(file) {
        let begins = file.functions.contains_key(&line);
        let piece = piece(site, file, line, &mut colours, &mut others);
        let part = parts.last_mut().expect("there is one from the beginning");
        let (lines, bytes) = (part.lines.len() as u32, part.body.len());
        let is_long = lines >= MOST_PAGE_LINES || (begins && lines >= PAGE_LINES);
        let is_heavy = bytes + piece.len() > draft::PAGE_BYTES
            || (begins && bytes + piece.len() > draft::PAGE_BYTES * 2 / 3);
        if lines > 0 && (is_long || is_heavy) {
            parts.push(Part::default());
        }
        let part = parts.last_mut().expect("there is one from the beginning");
        part.body.push_str(&piece);
        part.lines.push(line);
    }
    let mut names: Vec<PageLines> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let first = if number == 0 { 1 } else { part.lines[0] };
        let last = parts.get(number + 1).map(|next| next.lines[0] - 1);
        let last = last.or(part.lines.last().copied()).unwrap_or(first);
        names.push(PageLines { name: draft::part_name(&file.stem, number), lines: first..=last });
    }
    let drafts = parts.iter().enumerate().map(|(number, part)| Draft {
        name: names[number].name.clone(),
        title: file.shown.clone(),
        lines: Some(names[number].lines.clone()),
        body: page(site, file, part, &names, number).into_string(),
    });
    drafts.chain(others).collect()
}

/// Some lines of a file, as they are shown.
#[derive(Default)]
struct Part {
    lines: Vec<u32>,
    body: String,
}

/// The name of a page of a file, and the lines that belong to it.
struct PageLines {
    name: String,
    lines: RangeInclusive<u32>,
}

fn page(
    site: &Site<'_>,
    file: &FileView<'_>,
    part: &Part,
    names: &[PageLines],
    here: usize,
) -> Markup {
    let lines = &names[here].lines;
    html! {
        @if let Err(why) = &file.text {
            p.warning role="note" {
                strong { "The source is not shown: " } (why) ". "
                "Below is what was recorded when it was compiled, by the lines of then."
            }
        }
        (parts(names, here))
        (functions(file, lines))
        (tools(&site.report.coverage.criteria))
        div.source {
            table.code aria-label={ "Lines " (lines.start()) " to " (lines.end()) } {
                thead.sr { tr {
                    th scope="col" { "Line" }
                    th scope="col" { "Covered" }
                    @if site.counts { th scope="col" { "Times" } }
                    th scope="col" { "Code" }
                } }
                tbody { (PreEscaped(&part.body)) }
            }
            svg.arrows aria-hidden="true" focusable="false" {}
        }
        (parts(names, here))
    }
}

/// The lines to show: all lines of a text; if the text is not shown, the lines with recorded
/// coverage.
fn listed(file: &FileView<'_>) -> Vec<u32> {
    match &file.text {
        Ok(text) => (1..=u32::try_from(text.lines.len()).unwrap_or(u32::MAX)).collect(),
        Err(_) => file.recorded().into_iter().collect(),
    }
}

/// Links to the other pages of a long file.
fn parts(names: &[PageLines], here: usize) -> Markup {
    html! {
        @if names.len() > 1 {
            nav.parts aria-label="Parts of the file" {
                ul {
                    @for (number, part) in names.iter().enumerate() {
                        li {
                            a href=(part.name) aria-current=[(number == here).then_some("page")] {
                                (part.lines.start()) "–" (part.lines.end())
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

fn tools(criteria: &[Criterion]) -> Markup {
    html! {
        div.tools role="group" aria-label="Tools" {
            @if criteria.len() > 1 {
                label for="criterion" { "Show" }
                select id="criterion" {
                    option value="" { "all criteria" }
                    @for criterion in criteria { option value=(criterion.name()) { (criterion) } }
                }
            }
            button type="button" data-jump="-1" title="Key: p" { "Previous gap" }
            button type="button" data-jump="1" title="Key: n" { "Next gap" }
            button type="button" data-open="1" title="Key: o" { "Open all details" }
            button type="button" data-open="0" title="Key: x" { "Close all details" }
            span.legend {
                span { span.sym.yes aria-hidden="true" { "✓" } " covered" }
                span { span.sym.may aria-hidden="true" { "◐" } " partly" }
                span { span.sym.no aria-hidden="true" { "✗" } " not covered" }
                span { span.sym.out aria-hidden="true" { "–" } " excluded" }
            }
        }
    }
}

/// A line, with its functions above it and the details below it.
fn piece(
    site: &Site<'_>,
    file: &FileView<'_>,
    line: u32,
    colours: &mut highlight::State,
    others: &mut Vec<Draft>,
) -> String {
    let StatusMark { class, symbol, word } = file.status(line).shown();
    let functions = file.functions.get(&line).map_or(&[][..], Vec::as_slice);
    let each = file.by_criterion(line, &site.report.coverage.criteria);
    let each = Some(each).filter(|each| each.bytes().any(|digit| digit != b'0'));
    let piece = html! {
        @for function in functions {
            tr.above { td colspan=(site.columns()) { (function::render(site, file, function, others)) } }
        }
        tr.line.(class)[!class.is_empty()] id={ "L" (line) } data-c=[each] {
            td.n { a href={ "#L" (line) } title=[tests_of(site, file, line)] { (line) } }
            td.s { @if !symbol.is_empty() { span.sym.(class) aria-hidden="true" { (symbol) } span.sr { (word) } } }
            @if site.counts { td.t { (times(file, line)) } }
            td.c { (code(file, line, colours)) }
        }
        (below(site, file, line, others))
    };
    piece.into_string()
}

/// The number of times that control passed a line with code.
fn times(file: &FileView<'_>, line: u32) -> Markup {
    html! { @if let Some(line) = file.table.lines.get(&line) { span { (line.hits) "×" } } }
}

/// The tests that passed a line, as far as runs were marked.
fn tests_of(site: &Site<'_>, file: &FileView<'_>, line: u32) -> Option<String> {
    let tests = site.report.coverage.tests.iter();
    let passed = tests.filter(|test| {
        test.files.get(&file.coverage.path).is_some_and(|lines| lines.contains(line))
    });
    let names: Vec<&str> = passed.map(|test| test.name.as_str()).collect();
    let shown = names.iter().take(MOST_TESTS).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("1 test: {shown}")),
        count if count > MOST_TESTS => Some(format!("{count} tests: {shown}, …")),
        count => Some(format!("{count} tests: {shown}")),
    }
    .map(|text| draft::clipped(&draft::clean(&text), MOST_TEXT))
}

/// The text of a line. For a line that is not shown, the decisions that were recorded on it.
fn code(file: &FileView<'_>, line: u32, colours: &mut highlight::State) -> Markup {
    let text = file.text.as_ref().ok().and_then(|text| text.line(line));
    html! {
        @match text {
            Some(text) => {
                code { (colours.line(&draft::clipped(&draft::clean(&draft::tabs_expanded(text)), MOST_COLUMNS))) }
            }
            None => {
                @for decision in file.decisions.get(&line).into_iter().flatten() {
                    code { (draft::clipped(&decision.text, MOST_TEXT)) } " "
                }
                span.note { "recorded" }
            }
        }
    }
}

/// The details that can be opened below a line. Large ones have a page of their own.
fn below(site: &Site<'_>, file: &FileView<'_>, line: u32, others: &mut Vec<Draft>) -> Markup {
    let criteria = &site.report.coverage.criteria;
    let objectives = file.objectives_at(line);
    let decisions = file.decisions.get(&line).map_or(&[][..], Vec::as_slice);
    let switches = file.switches.get(&line).map_or(&[][..], Vec::as_slice);
    if decisions.is_empty() && switches.is_empty() && !objectives::matter(objectives) {
        return html! {};
    }
    let tally = objectives::tally(criteria, objectives);
    let full = tally.iter().all(|(_, covered, of)| covered == of);
    let mut pieces = Vec::new();
    for (index, each) in decisions.iter().enumerate() {
        let id = format!("d{line}-{index}");
        pieces.push(decision::render(each, file.text.as_ref().ok().copied(), &id).into_string());
    }
    pieces.extend(switches.iter().map(|each| objectives::switch(file, each).into_string()));
    pieces.extend(objectives::lists(criteria, objectives).map(Markup::into_string));
    let size: usize = pieces.iter().map(String::len).sum();
    let apart =
        (size > draft::INLINE_BYTES).then(|| apart(file, line, pieces.split_off(0), others));
    html! {
        tr.below {
            td {}
            td colspan=(site.columns() - 1) {
                details id={ "D" (line) } {
                    summary.full[full] {
                        span.sr { "Line " (line) ": " }
                        @if !decisions.is_empty() { span.kind { "decision" } }
                        @if !switches.is_empty() { span.kind { "switch" } }
                        @for (criterion, covered, of) in tally {
                            span.tally.gap[covered < of] data-k=(criterion) {
                                (criterion) " " (covered) "/" (of)
                            }
                        }
                    }
                    div.details {
                        @for piece in &pieces { (PreEscaped(piece)) }
                        @for name in apart.iter().flatten() {
                            p { "There is much to show: it is on " a href=(name) { "a page of its own" } "." }
                        }
                    }
                }
            }
        }
    }
}

/// Makes pages of the details of a line. Returns their names.
fn apart(
    file: &FileView<'_>,
    line: u32,
    pieces: Vec<String>,
    others: &mut Vec<Draft>,
) -> Vec<String> {
    let stem = format!("{}.line-{line}", file.stem);
    let title = format!("{}, line {line}", file.shown);
    draft::apart(&stem, &title, pieces, others, |group| {
        html! {
            p { a href=(draft::link(file.index, line)) { "Back to line " (line) " of " (file.shown) } }
            div.details { (PreEscaped(group)) }
        }
    })
}
