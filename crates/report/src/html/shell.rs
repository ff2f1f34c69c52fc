//! The common parts of pages: head, navigation, heading, and the display of counts.

use lydian_objective::Criterion;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::totals::{Percent, Totals};

/// A whole page.
pub(super) fn page(title: &str, here: &str, body: &str) -> String {
    let links = [
        ("index.html", "Overview"),
        ("functions.html", "Functions"),
        ("excluded.html", "Excluded"),
    ];
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – coverage" }
                link rel="stylesheet" href="style.css";
                script src="report.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    nav aria-label="Report" {
                        ul {
                            @for (to, name) in links {
                                li {
                                    @if to == here {
                                        a href=(to) aria-current="page" { (name) }
                                    } @else {
                                        a href=(to) { (name) }
                                    }
                                }
                            }
                        }
                    }
                    h1 { (title) }
                }
                main id="main" tabindex="-1" { (PreEscaped(body)) }
                footer { "Made by Lydian " (env!("CARGO_PKG_VERSION")) }
                p.sr id="announce" role="status" {}
            }
        }
    };
    page.into_string()
}

/// A cell with a part of a whole: percentage, numbers, and a bar behind them.
pub(super) fn part(covered: usize, of: usize) -> Markup {
    let percent = Percent::of(covered, of);
    let number = format!("{}.{}", percent.tenths() / 10, percent.tenths() % 10);
    html! {
        @if of == 0 {
            td.part data-v="101" { span.none { "none" } }
        } @else {
            td.part data-v=(number) style={ "--p:" (number) "%" } {
                (percent) " " small { (covered) "/" (of) }
            }
        }
    }
}

/// The cells of the criteria.
pub(super) fn parts(totals: &[Totals]) -> Markup {
    html! { @for row in totals { (part(row.covered, row.denominator())) } }
}

/// Counts side by side; criteria without objectives are left out.
pub(super) fn chips(totals: &[Totals], label: &str) -> Markup {
    html! {
        ul.criteria aria-label=(label) {
            @for row in totals.iter().filter(|row| row.objectives > 0) {
                li data-k=(row.criterion) {
                    strong { (row.criterion) } " " (row.percent()) " "
                    span.count { (row.covered) "/" (row.denominator()) }
                }
            }
        }
    }
}

/// The field that chooses the criteria that a table shows. Their columns begin at `first`, from 1.
pub(super) fn columns(table: &str, criteria: &[Criterion], first: usize) -> Markup {
    html! {
        @if criteria.len() > 1 {
            details.columns data-table=(table) data-first=(first) {
                summary { "Criteria that are shown" }
                @for criterion in criteria {
                    span.choice {
                        input id={ (table) "-" (criterion) } type="checkbox" value=(criterion) checked;
                        label for={ (table) "-" (criterion) } { (criterion) }
                    }
                }
            }
        }
    }
}

/// A heading cell that sorts its column.
pub(super) fn sortable(name: &str) -> Markup {
    html! { th scope="col" aria-sort="none" { button type="button" data-sort="" { (name) } } }
}

/// The field that filters the rows of a table.
pub(super) fn filter(table: &str, what: &str) -> Markup {
    let field = format!("{table}-filter");
    let gaps = format!("{table}-gaps");
    html! {
        form.filter role="search" data-table=(table) {
            label for=(field) { "Show " (what) " with " }
            input id=(field) type="search" placeholder="part of the name";
            span.choice {
                input id=(gaps) type="checkbox";
                label for=(gaps) { "with gaps only" }
            }
            output for=(field) {}
        }
    }
}
