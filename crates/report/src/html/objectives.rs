//! The objectives of a line, and its switches.

use maud::{Markup, html};

use crate::coverage::{ObjectiveCoverage, ObjectiveStatus, SwitchCoverage};
use lydian_objective::Criterion;

/// Criteria of which a line's colour tells everything.
const TOLD_BY_LINE: [Criterion; 3] = [Criterion::Fc, Criterion::Stmt, Criterion::Bbc];

/// Whether there is something to open below a line for these objectives.
pub(super) fn matter(objectives: &[&ObjectiveCoverage]) -> bool {
    objectives.iter().any(|objective| match &objective.status {
        ObjectiveStatus::Missing => !TOLD_BY_LINE.contains(&objective.criterion),
        ObjectiveStatus::Unmeasured(_) | ObjectiveStatus::Excluded(Some(_)) => true,
        ObjectiveStatus::Excluded(None) | ObjectiveStatus::Covered | ObjectiveStatus::Duplicate => {
            false
        }
    })
}

/// How many objectives of each criterion count, and how many of them are covered.
pub(super) fn tally(
    criteria: &[Criterion],
    objectives: &[&ObjectiveCoverage],
) -> Vec<(Criterion, usize, usize)> {
    let totals = crate::totals::count(criteria, objectives.iter().copied());
    let counted = totals.into_iter().filter(|row| row.denominator() > 0);
    counted.map(|row| (row.criterion, row.covered, row.denominator())).collect()
}

/// The objectives that are not simply covered, by criterion.
pub(super) fn lists(criteria: &[Criterion], objectives: &[&ObjectiveCoverage]) -> Markup {
    html! {
        @for criterion in criteria {
            (of_criterion(*criterion, objectives))
        }
    }
}

fn of_criterion(criterion: Criterion, objectives: &[&ObjectiveCoverage]) -> Markup {
    let open = objectives.iter().filter(|objective| {
        objective.criterion == criterion
            && !matches!(objective.status, ObjectiveStatus::Covered | ObjectiveStatus::Duplicate)
    });
    let open: Vec<_> = open.collect();
    let missing = open.iter().filter(|objective| objective.status == ObjectiveStatus::Missing);
    let missing = missing.count();
    let title = match criterion {
        Criterion::Wm if missing > 0 => format!("wm: {missing} mutants alive"),
        _ => format!("{criterion}: {missing} missing"),
    };
    html! {
        @if !open.is_empty() {
            h4 { (title) }
            ul.objectives {
                @for objective in open { (item(objective)) }
            }
        }
    }
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
            (objective.name) ": " code { (objective.text) }
            @match &objective.status {
                ObjectiveStatus::Unmeasured(why) => { " – cannot be measured: " (why) }
                ObjectiveStatus::Excluded(Some(why)) => { " – justified: " q { (why) } }
                _ => {}
            }
        }
    }
}

/// The ways of a switch, with links to their lines where all lines are shown.
pub(super) fn switch(switch: &SwitchCoverage, linked: bool) -> Markup {
    let taken = switch.ways.iter().filter(|way| way.covered).count();
    html! {
        section.switch {
            h4 { "Switch: " (taken) " of " (switch.ways.len()) " ways taken" }
            ul.objectives {
                @for way in &switch.ways {
                    li {
                        @if way.covered {
                            span.sym.yes aria-hidden="true" { "✓" } " " span.word { "taken" }
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
