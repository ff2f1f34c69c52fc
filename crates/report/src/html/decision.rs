//! The truth table of a decision: the rows that were seen, those of them which show that a condition
//! decides, and the missing ones. A decision of one condition needs no table, since its outcomes have
//! the same information.

use maud::{Markup, html};

use super::draft;
use crate::coverage::{ConditionCoverage, DecisionCoverage, DecisionRow, ExecutionCount};
use crate::independence::{Analysis, MissingRow, analyse, wanted};
use crate::sources::SourceText;

/// The most rows that are shown beside those of pairs.
const MOST_ROWS: usize = 64;
/// The most characters of a decision that are shown.
const MOST_TEXT: usize = 2000;
/// The most characters of a condition that are shown.
const MOST_SHORT: usize = 160;

/// The view of one condition.
struct View<'a> {
    condition: &'a ConditionCoverage,
    analysis: Analysis,
    /// The missing rows; `None` if the condition can never decide.
    wanted: Option<Vec<MissingRow>>,
}

/// A decision; `source` is the text of its file.
pub(super) fn render(decision: &DecisionCoverage, source: Option<&SourceText>, id: &str) -> Markup {
    let analyses = analyse(decision);
    let views: Vec<View<'_>> = decision
        .conditions
        .iter()
        .zip(analyses)
        .enumerate()
        .map(|(index, (condition, analysis))| {
            let wanted = wanted(decision, index, &analysis);
            View { condition, analysis, wanted }
        })
        .collect();
    html! {
        section.decision id=(id) {
            h4 {
                "Decision "
                @match written(decision, source) {
                    Some(line) => { code { (line) } " " span.flag { "with macros" } }
                    None => code { (text(&decision.text)) },
                }
            }
            @if decision.from_macro && source.is_some() {
                details.expansion { summary { "Macros expanded" } code { (text(&decision.text)) } }
            }
            p.outcomes { "Outcomes: " (outcome(decision, true)) ", " (outcome(decision, false)) }
            @if views.len() > 1 { (counts(decision, &views)) }
            @if decision.recorded && views.len() > 1 {
                (table(decision, &views, id))
                (conditions(decision, &views, id))
            } @else if !decision.recorded {
                p { "Its evaluations were not recorded one by one." }
            }
        }
    }
}

/// The line on which a decision from a macro begins, as it is written.
fn written(decision: &DecisionCoverage, source: Option<&SourceText>) -> Option<String> {
    let line = source?.line(decision.start.line).filter(|_| decision.from_macro)?;
    Some(text(line.trim()))
}

/// A text, not too long. All of it is in the JSON form.
fn text(text: &str) -> String {
    draft::clipped(&draft::clean(text), MOST_TEXT)
}

fn short(text: &str) -> String {
    draft::clipped(&draft::clean(text), MOST_SHORT)
}

fn outcome(decision: &DecisionCoverage, value: bool) -> Markup {
    let count = decision.outcome_counts()[usize::from(value)];
    html! {
        @if decision.outcomes[usize::from(value)] {
            span.sym.yes aria-hidden="true" { "✓" } " " (value) " seen" (times(count))
        } @else {
            span.sym.no aria-hidden="true" { "✗" } " " (value) " not seen"
        }
    }
}

/// The number of times that each condition had each value, if that was counted.
fn counts(decision: &DecisionCoverage, views: &[View<'_>]) -> Markup {
    let counted = views.iter().any(|view| view.condition.counts.iter().any(|c| !c.is_none()));
    html! {
        @if counted {
            ul.counts {
                @for (index, view) in asked(decision, views) {
                    @let [no, yes] = view.condition.counts.map(|count| count.0.unwrap_or(0));
                    li { (name(views, index)) ": true " (yes) "×, false " (no) "×" }
                }
            }
        }
    }
}

/// A number of times, if it was counted.
pub(super) fn times(count: ExecutionCount) -> Markup {
    html! { @if let ExecutionCount(Some(count)) = count { " " (count) "×" } }
}

/// The conditions with objectives, with their positions.
fn asked<'v, 'a>(
    decision: &DecisionCoverage,
    views: &'v [View<'a>],
) -> impl Iterator<Item = (usize, &'v View<'a>)> {
    views.iter().enumerate().filter(|(index, _)| decision.asks(*index))
}

/// The rows to show: those in pairs, then the first others.
fn shown_rows(decision: &DecisionCoverage, views: &[View<'_>]) -> Vec<usize> {
    let pairs = views.iter().flat_map(|view| [view.analysis.masking, view.analysis.unique]);
    let beside = views.iter().flat_map(|view| view.wanted.iter().flatten()).map(|w| w.beside);
    let mut rows: Vec<usize> =
        pairs.flatten().flat_map(|(a, b)| [a, b]).chain(beside.flatten()).collect();
    rows.extend(0..decision.rows.len().min(MOST_ROWS));
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn table(decision: &DecisionCoverage, views: &[View<'_>], id: &str) -> Markup {
    let rows = shown_rows(decision, views);
    let hidden = decision.rows.len() - rows.len();
    html! {
        div.scroll role="region" aria-label="Evaluations that were seen" tabindex="0" {
            table.truth {
                caption {
                    @match decision.rows.len() {
                        0 => { "It was never evaluated" }
                        1 => { "One evaluation was seen" }
                        count => { (count) " different evaluations were seen" }
                    }
                    @if hidden > 0 { "; " (hidden) " of them are not shown" }
                }
                thead { tr {
                    th scope="col" { "Row" }
                    @for (index, view) in views.iter().enumerate() {
                        th scope="col" { span.cond { "c" (index) } " " code { (short(&view.condition.text)) } }
                    }
                    th scope="col" { "Outcome" }
                } }
                tbody {
                    @for index in rows { (row(index, &decision.rows[index], id)) }
                    @for (index, view) in views.iter().enumerate() {
                        @for wanted in view.wanted.iter().flatten() { (wanted_row(index, wanted)) }
                    }
                }
            }
        }
    }
}

fn row(index: usize, row: &DecisionRow, id: &str) -> Markup {
    html! {
        tr id={ (id) "-r" (index) } {
            th scope="row" { (index + 1) }
            @for (value, reached) in row.values.iter().zip(&row.reached) {
                (value_cell(*value, *reached))
            }
            (value_cell(Some(row.outcome), true))
        }
    }
}

fn value_cell(value: Option<bool>, reached: bool) -> Markup {
    html! {
        @match (value, reached) {
            (Some(true), true) => td.t { "true" },
            (Some(false), true) => td.f { "false" },
            (Some(true), false) => td.unreached { "(true)" },
            (Some(false), false) => td.unreached { "(false)" },
            (None, _) => td.unreached { "–" span.sr { "not evaluated" } },
        }
    }
}

fn wanted_row(index: usize, wanted: &MissingRow) -> Markup {
    html! {
        tr.wanted {
            th scope="row" { "missing for c" (index) }
            @for value in &wanted.values {
                @match value {
                    Some(true) => td { "true" },
                    Some(false) => td { "false" },
                    None => td { "any" },
                }
            }
            td { (wanted.outcome) }
        }
    }
}

fn conditions(decision: &DecisionCoverage, views: &[View<'_>], id: &str) -> Markup {
    html! {
        div.scroll role="region" aria-label="Which conditions decide" tabindex="0" {
            table.conditions {
                caption { "Does each condition decide the outcome by itself?" }
                thead { tr {
                    th scope="col" { "Condition" }
                    th scope="col" { "Masking MC/DC" }
                    th scope="col" { "Unique-cause MC/DC" }
                    th scope="col" { "What is missing" }
                } }
                tbody {
                    @for (index, view) in asked(decision, views) {
                        tr {
                            th scope="row" { span.cond { "c" (index) } " " code { (short(&view.condition.text)) } }
                            td { (pair(view.analysis.masking, id)) }
                            td { (pair(view.analysis.unique, id)) }
                            td { (advice(views, index)) }
                        }
                    }
                }
            }
            p.note { "A value in brackets belongs to a condition that evaluation did not reach; a dash: it has none. The buttons mark the rows of a pair." }
        }
    }
}

/// A pair of rows as a button that marks them.
fn pair(pair: Option<(usize, usize)>, id: &str) -> Markup {
    html! {
        @match pair {
            Some((a, b)) => {
                span.sym.yes aria-hidden="true" { "✓" } " shown by "
                button type="button" aria-pressed="false" data-rows={ (id) "-r" (a) " " (id) "-r" (b) } {
                    "rows " (a + 1) " and " (b + 1)
                }
            }
            None => { span.sym.no aria-hidden="true" { "✗" } " no pair" }
        }
    }
}

fn advice(views: &[View<'_>], index: usize) -> Markup {
    let view = &views[index];
    let coupled = coupled(views, index);
    html! {
        @match view.wanted.as_deref() {
            None => { "It can never decide: the other parts are constant." }
            Some([]) => {
                @if view.analysis.unique.is_none() {
                    "For the unique cause, a pair in which no other condition changes."
                } @else { "Nothing." }
            }
            Some(rows) => {
                @for (number, wanted) in rows.iter().enumerate() {
                    p { @if number > 0 { "And " } @else { "Needs " } (sentence(views, index, wanted)) }
                }
                @if let Some(other) = coupled {
                    p.note { "c" (other) " reads the same: perhaps the two cannot change apart." }
                }
            }
        }
    }
}

/// Another condition with the same text.
fn coupled(views: &[View<'_>], index: usize) -> Option<usize> {
    let text = &views[index].condition.text;
    views
        .iter()
        .enumerate()
        .position(|(other, view)| other != index && view.condition.text == *text)
}

fn sentence(views: &[View<'_>], index: usize, wanted: &MissingRow) -> Markup {
    let others = |value: bool| {
        let given = wanted.values.iter().enumerate();
        let given = given.filter(move |(other, v)| *other != index && **v == Some(value));
        given.map(|(other, _)| other).collect::<Vec<_>>()
    };
    let (yes, no) = (others(true), others(false));
    html! {
        (name(views, index)) " " (wanted.values[index] == Some(true))
        @if !yes.is_empty() || !no.is_empty() {
            " while "
            @if !yes.is_empty() { (names(views, &yes)) (verb(&yes)) "true" }
            @if !yes.is_empty() && !no.is_empty() { " and " }
            @if !no.is_empty() { (names(views, &no)) (verb(&no)) "false" }
        }
        "; the outcome is then " (wanted.outcome) "."
        @if let Some(row) = wanted.beside { " It makes a pair with row " (row + 1) "." }
    }
}

fn verb(list: &[usize]) -> &'static str {
    if list.len() == 1 { " is " } else { " are " }
}

fn names(views: &[View<'_>], list: &[usize]) -> Markup {
    html! {
        @for (position, index) in list.iter().enumerate() {
            @if position > 0 { @if position + 1 == list.len() { " and " } @else { ", " } }
            (name(views, *index))
        }
    }
}

fn name(views: &[View<'_>], index: usize) -> Markup {
    html! { span.cond { "c" (index) } " " code { (short(&views[index].condition.text)) } }
}
