//! The table of coverage on the terminal.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use lydian_report::{Report, Totals, totals};

use crate::args::ByArg;

const HEADER: [&str; 8] = [
    "criterion",
    "objectives",
    "covered",
    "missing",
    "duplicate",
    "excluded",
    "unmeasured",
    "coverage",
];

/// A row for each criterion, and for each folder, file or function if that is asked for.
pub(crate) fn render(report: &Report, by: ByArg) -> String {
    let coverage = &report.coverage;
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once("").chain(HEADER));
    if by == ByArg::Folder {
        for (folder, totals) in totals::of_folders(report) {
            rows(&mut table, &folder, &totals);
        }
    }
    for file in &coverage.files {
        let shown = report.shown(&file.path);
        match by {
            ByArg::Total | ByArg::Folder => {}
            ByArg::File => rows(&mut table, &shown, &file.totals(&coverage.criteria)),
            ByArg::Function => {
                for function in &file.functions {
                    let name = format!("{shown}:{} {}", function.start.line, function.name);
                    rows(&mut table, &name, &function.totals(&coverage.criteria));
                }
            }
        }
    }
    rows(&mut table, "total", &coverage.totals());
    let mut text = table.to_string();
    for file in &coverage.plain {
        text += &format!("\n{}: not measured: {}", report.shown(&file.path), file.reason);
    }
    text
}

/// The rows of one file, folder or function.
fn rows(table: &mut Table, name: &str, totals: &[Totals]) {
    for (index, row) in totals.iter().filter(|row| row.objectives > 0).enumerate() {
        let name = if index == 0 { name } else { "" };
        let counts = [
            row.objectives,
            row.covered,
            row.missing,
            row.duplicates,
            row.excluded,
            row.unmeasured,
        ];
        let numbers = counts.map(|n| n.to_string()).into_iter().chain([row.percent().to_string()]);
        let mut cells = vec![Cell::new(name), Cell::new(row.criterion)];
        cells.extend(numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right)));
        table.add_row(cells);
    }
}
