//! The table of verdicts on the terminal.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use lydian_report::{CriterionSummary, Summary};

const HEADER: [&str; 10] = [
    "function",
    "criterion",
    "objectives",
    "covered",
    "infeasible",
    "duplicate",
    "unknown",
    "coverage",
    "tests",
    "time",
];

/// The table, and below it why objectives are unknown.
pub(crate) fn render(summary: &Summary) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(HEADER);
    for function in &summary.functions {
        for (index, row) in function.criteria.iter().enumerate() {
            let once = |text: String| if index == 0 { text } else { String::new() };
            let mut cells = vec![Cell::new(once(function.name.clone())), Cell::new(row.criterion)];
            let counts = [row.objectives, row.covered, row.infeasible, row.duplicate, row.unknown]
                .map(|n| n.to_string());
            let last =
                [once(function.tests.to_string()), once(format!("{:.2} s", function.seconds))];
            let numbers = counts.into_iter().chain([percent(row)]).chain(last);
            cells.extend(numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right)));
            table.add_row(cells);
        }
    }
    let mut text = table.to_string();
    for function in &summary.functions {
        for row in &function.criteria {
            for (reason, count) in &row.reasons {
                let criterion = row.criterion;
                text += &format!("\n{} {criterion}: {count} unknown: {reason}", function.name);
            }
        }
    }
    text
}

/// Coverage, rounded down so that only full coverage reads 100%.
fn percent(row: &CriterionSummary) -> String {
    format!("{:.1}%", (row.coverage() * 1000.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_objective::Criterion;
    use lydian_report::FunctionSummary;

    #[test]
    fn nearly_full_coverage_is_not_shown_as_full() {
        let row = CriterionSummary {
            criterion: Criterion::Dc,
            objectives: 2000,
            covered: 1999,
            infeasible: 0,
            duplicate: 0,
            unknown: 1,
            reasons: vec![("loop bound of 8 turns".into(), 1)],
        };
        assert_eq!(percent(&row), "99.9%");
        let function = FunctionSummary {
            name: "f".into(),
            criteria: vec![row],
            tests: 7,
            seconds: 0.5,
            exploration: None,
        };
        let text = render(&Summary { functions: vec![function] });
        assert!(text.contains("f dc: 1 unknown: loop bound of 8 turns"), "{text}");
    }
}
