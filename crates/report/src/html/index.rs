//! The first page of a report.

use maud::{Markup, html};

use super::draft::Draft;
use super::shell;
use super::view::{FileView, Site};
use crate::totals::{Totals, of_folders};

pub(super) fn draft(site: &Site<'_>, has_trend: bool) -> Draft {
    let totals = site.report.coverage.totals();
    let body = html! {
        (warnings(site))
        (shell::chips(&totals, "Criteria"))
        @if has_trend { p { a href="trend.html" { "From commit to commit" } } }
        (files(site))
        (folders(site))
        (plain(site))
        (criteria(&totals))
    };
    Draft {
        name: "index.html".to_owned(),
        title: "Coverage".to_owned(),
        lines: None,
        body: body.into_string(),
    }
}

/// The folders, if there are several.
fn folders(site: &Site<'_>) -> Markup {
    let folders = of_folders(site.report);
    let criteria = &site.report.coverage.criteria;
    html! {
        @if folders.len() > 1 {
            section aria-labelledby="folders-title" {
                h2 id="folders-title" { "Folders" }
                (shell::columns("folders", criteria, 2))
                div.scroll role="region" aria-labelledby="folders-title" tabindex="0" {
                    table id="folders" {
                        thead { tr {
                            (shell::sortable("Folder"))
                            @for criterion in criteria { (shell::sortable(criterion.name())) }
                        } }
                        tbody { @for (folder, totals) in &folders {
                            tr { th scope="row" { (folder) } (shell::parts(totals)) }
                        } }
                    }
                }
            }
        }
    }
}

fn warnings(site: &Site<'_>) -> Markup {
    let warnings = &site.report.coverage.warnings;
    let changed: Vec<&FileView<'_>> = site.files.iter().filter(|file| file.text.is_err()).collect();
    html! {
        @if !warnings.is_empty() || !changed.is_empty() {
            section.warnings aria-labelledby="warnings" {
                h2 id="warnings" { "Warnings" }
                ul {
                    @for warning in warnings { li { (warning) } }
                    @for file in changed {
                        @if let Err(why) = &file.text { li { code { (file.shown) } ": " (why) } }
                    }
                }
            }
        }
    }
}

fn criteria(totals: &[Totals]) -> Markup {
    html! {
        section aria-labelledby="totals" {
            h2 id="totals" { "Criteria" }
            div.scroll role="region" aria-labelledby="totals" tabindex="0" {
                table id="criteria" {
                    thead { tr {
                        th scope="col" { "Criterion" }
                        th scope="col" { "Coverage" }
                        th scope="col" { "Objectives" }
                        th scope="col" { "Missing" }
                        th scope="col" { "Duplicate" }
                        th scope="col" { "Excluded" }
                        th scope="col" { "Unmeasured" }
                    } }
                    tbody {
                        @for row in totals {
                            tr {
                                th scope="row" { (row.criterion) }
                                (shell::part(row.covered, row.denominator()))
                                @for n in [row.objectives, row.missing, row.duplicates, row.excluded, row.unmeasured] {
                                    td.number { (n) }
                                }
                            }
                        }
                    }
                }
            }
            p.note {
                "Coverage is covered objectives in objectives without duplicates and excluded ones. "
                "What cannot be measured counts as not covered. Percentages are rounded down."
            }
        }
    }
}

fn files(site: &Site<'_>) -> Markup {
    let criteria = &site.report.coverage.criteria;
    html! {
        section aria-labelledby="files-title" {
            h2 id="files-title" { "Files" }
            (shell::filter("files", "files"))
            (shell::columns("files", criteria, 5))
            div.scroll role="region" aria-labelledby="files-title" tabindex="0" {
                table id="files" {
                    thead { tr {
                        (shell::sortable("File"))
                        (shell::sortable("Functions"))
                        (shell::sortable("Lines"))
                        (shell::sortable("Branches"))
                        @for criterion in criteria { (shell::sortable(criterion.name())) }
                    } }
                    tbody { @for file in &site.files { (row(file)) } }
                }
            }
        }
    }
}

fn row(file: &FileView<'_>) -> Markup {
    let counted = || {
        let all = file.coverage.functions.iter();
        all.filter(|function| !file.coverage.exclusions.line(function.start.line))
    };
    let (lines, passed) = file.table.count();
    let (branches, taken) = file.table.count_branches();
    let gaps = file.totals.iter().any(|row| row.covered < row.denominator());
    html! {
        tr data-gaps[gaps] {
            th scope="row" {
                a href={ (file.stem) ".html" } { (file.shown) }
                @if file.text.is_err() { " " span.flag { "text not shown" } }
            }
            (shell::part(counted().filter(|f| f.ran()).count(), counted().count()))
            (shell::part(passed, lines))
            (shell::part(taken, branches))
            (shell::parts(&file.totals))
        }
    }
}

fn plain(site: &Site<'_>) -> Markup {
    let plain = &site.report.coverage.plain;
    html! {
        @if !plain.is_empty() {
            section aria-labelledby="plain" {
                h2 id="plain" { "Files that were compiled as they are" }
                p { "Nothing is known of what was run in them, and they are not in the counts." }
                ul {
                    @for file in plain {
                        li { code { (site.report.shown(&file.path)) } ": " (file.reason) }
                    }
                }
            }
        }
    }
}
