//! The objectives of a line, and its switches.

use maud::{Markup, html};

use super::view::FileView;
use super::{decision, draft};
use crate::coverage::{ObjectiveCoverage, ObjectiveStatus, SwitchCoverage};
use lydian_objective::Criterion;
use lydian_objective::criterion::Construct;

/// The most characters of an objective's text that are shown. The JSON form has all of it.
const MOST_TEXT: usize = 300;
/// The number of objectives in one piece.
const MOST_ITEMS: usize = 1000;

/// Whether there is something to open below a line for these objectives.
pub(super) fn matter(objectives: &[&ObjectiveCoverage]) -> bool {
    objectives.iter().any(|objective| match &objective.status {
        ObjectiveStatus::Missing => !objective.criterion.construct().is_told_by_line(),
        ObjectiveStatus::Unmeasured(_) | ObjectiveStatus::Excluded(Some(_)) => true,
        ObjectiveStatus::Excluded(None) | ObjectiveStatus::Covered | ObjectiveStatus::Duplicate => {
            false
        }
    })
}

/// The number of objectives of each criterion that count, and the number of covered ones.
pub(super) fn tally(
    criteria: &[Criterion],
    objectives: &[&ObjectiveCoverage],
) -> Vec<(Criterion, usize, usize)> {
    let totals = crate::totals::count(criteria, objectives.iter().copied());
    let counted = totals.into_iter().filter(|row| row.denominator() > 0);
    counted.map(|row| (row.criterion, row.covered, row.denominator())).collect()
}

/// The objectives that are not simply covered, by criterion, in pieces of bounded size.
pub(super) fn lists<'a>(
    criteria: &'a [Criterion],
    objectives: &'a [&'a ObjectiveCoverage],
) -> impl Iterator<Item = Markup> + 'a {
    criteria.iter().flat_map(move |criterion| of_criterion(*criterion, objectives))
}

fn of_criterion(criterion: Criterion, objectives: &[&ObjectiveCoverage]) -> Vec<Markup> {
    let open = objectives.iter().filter(|objective| {
        objective.criterion == criterion
            && !matches!(objective.status, ObjectiveStatus::Covered | ObjectiveStatus::Duplicate)
    });
    let open: Vec<&&ObjectiveCoverage> = open.collect();
    let missing = open.iter().filter(|objective| objective.status == ObjectiveStatus::Missing);
    let missing = missing.count();
    let title = match criterion.construct() == Construct::Mutant && missing > 0 {
        true => format!("{criterion}: {missing} mutants alive"),
        false => format!("{criterion}: {missing} missing"),
    };
    let chunks = open.chunks(MOST_ITEMS).map(|chunk| {
        html! {
            section data-k=(criterion) {
                h4 { (title) }
                ul.objectives { @for objective in chunk { (item(objective)) } }
            }
        }
    });
    chunks.collect()
}

fn item(objective: &ObjectiveCoverage) -> Markup {
    let (class, symbol, word) = match &objective.status {
        ObjectiveStatus::Missing => ("no", "✗", "missing"),
        ObjectiveStatus::Unmeasured(_) => ("may", "?", "unmeasured"),
        ObjectiveStatus::Excluded(_) => ("out", "–", "excluded"),
        ObjectiveStatus::Covered => ("yes", "✓", "covered"),
        ObjectiveStatus::Duplicate => ("out", "=", "duplicate"),
    };
    html! {
        li {
            span class={ "sym " (class) } aria-hidden="true" { (symbol) } " "
            span.word { (word) } " "
            (draft::clean(&objective.name))
            @if objective.text != "1" {
                ": " code { (draft::clipped(&draft::clean(&objective.text), MOST_TEXT)) }
            }
            @match &objective.status {
                ObjectiveStatus::Unmeasured(why) => { " – cannot be measured: " (why) }
                ObjectiveStatus::Excluded(Some(why)) => { " – justified: " q { (why) } }
                _ => {}
            }
        }
    }
}

/// The ways of a switch, with links to their lines if all lines are shown.
pub(super) fn switch(file: &FileView<'_>, switch: &SwitchCoverage) -> Markup {
    let linked = file.text.is_ok();
    let taken = switch.ways.iter().filter(|way| way.covered).count();
    html! {
        section.switch {
            h4 { "Switch: " (taken) " of " (switch.ways.len()) " ways taken" }
            ul.objectives {
                @for way in &switch.ways {
                    li {
                        @if way.covered {
                            span.sym.yes aria-hidden="true" { "✓" } " " span.word { "taken" (decision::times(way.count)) }
                        } @else {
                            span.sym.no aria-hidden="true" { "✗" } " " span.word { "not taken" }
                        }
                        " " code { (way.name) }
                        @if linked && way.start.line > 0 {
                            " " a href={ "#L" (way.start.line) } { "line " (way.start.line) }
                        }
                    }
                }
            }
        }
    }
}
