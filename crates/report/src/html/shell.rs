//! What all pages have: head, way in, heading; and how counts are shown.

use maud::{DOCTYPE, Markup, html};

use crate::totals::{Percent, Totals};

/// A whole page.
pub(super) fn page(title: &str, here: &str, body: &Markup) -> String {
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
                main id="main" tabindex="-1" { (body) }
                footer { "Made by Lydian " (env!("CARGO_PKG_VERSION")) }
                p.sr id="announce" role="status" {}
            }
        }
    };
    page.into_string()
}

/// A cell with a part of a whole: numbers, percentage, and a bar that screen readers skip.
pub(super) fn part(covered: usize, of: usize) -> Markup {
    let percent = Percent::of(covered, of);
    let number = format!("{}.{}", percent.tenths() / 10, percent.tenths() % 10);
    html! {
        td.part data-v=(if of == 0 { "101" } else { &number }) {
            @if of == 0 {
                span.none { "none" }
            } @else {
                span.percent { (percent) } " "
                span.count { (covered) "/" (of) } " "
                meter min="0" max="100" low="60" high="90" optimum="100" value=(number)
                    aria-hidden="true" {}
            }
        }
    }
}

/// The cells of the criteria.
pub(super) fn parts(totals: &[Totals]) -> Markup {
    html! { @for row in totals { (part(row.covered, row.denominator())) } }
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
