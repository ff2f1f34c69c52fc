//! The table of verdicts on the terminal.

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use indexmap::IndexMap;
use lydian_base::Place;
use lydian_objective::{Assumption, AssumptionKind};
use lydian_report::{AugmentationFigures, CriterionSummary, FunctionSummary, OnDemand, Summary};

/// The most places that are named for objectives with the same assumptions.
const MOST_PLACES: usize = 6;

/// The most sentences that are shown for one kind of granted or accepted assumptions.
const MOST_SENTENCES: usize = 6;

const HEADER: [&str; 11] = [
    "function",
    "criterion",
    "objectives",
    "covered",
    "infeasible",
    "as assumed",
    "duplicate",
    "unknown",
    "coverage",
    "tests",
    "time",
];

/// The table, and below it the reasons for unknown objectives, the assumptions of others, and granted
/// and accepted assumptions.
pub(crate) fn render(summary: &Summary) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(HEADER);
    for function in &summary.functions {
        for (index, row) in function.criteria.iter().enumerate() {
            let once = |text: String| if index == 0 { text } else { String::new() };
            let mut cells = vec![Cell::new(once(function.name.clone())), Cell::new(row.criterion)];
            let counts = [
                row.objectives,
                row.covered,
                row.infeasible,
                row.infeasible_as_assumed,
                row.duplicate,
                row.unknown,
            ]
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
                let option = option_of(reason);
                text +=
                    &format!("\n{} {criterion}: {count} unknown: {reason}{option}", function.name);
            }
            text += &assumed(&function.name, row);
            text += &only_on_demand(function, row);
        }
        text += &augmentation(function);
    }
    text + &granted(summary) + &taken_over(summary)
}

/// A line for each reason why tests cover objectives of a row only on demand.
fn only_on_demand(function: &FunctionSummary, row: &CriterionSummary) -> String {
    let of_row = function.objectives.iter().filter(|one| one.criterion == row.criterion);
    let mut counts: BTreeMap<OnDemand, usize> = BTreeMap::new();
    of_row.filter_map(|one| one.only_by).for_each(|why| *counts.entry(why).or_default() += 1);
    let lines = counts.iter().map(|(why, count)| {
        let (name, criterion, option) = (&function.name, row.criterion, why.macro_name());
        format!("\n{name} {criterion}: {count} covered only by {why} (-D{option})")
    });
    lines.collect()
}

/// A line about objectives that were not tried, since an earlier run left them open.
fn taken_over(summary: &Summary) -> String {
    let objectives: usize = summary.taken_over.iter().map(|of| of.objectives).sum();
    let functions = summary.taken_over.len();
    let (an_s, of_functions) =
        (if objectives == 1 { "" } else { "s" }, if functions == 1 { "" } else { "s" });
    match objectives {
        0 => String::new(),
        _ => format!(
            "\n{objectives} unknown objective{an_s} of {functions} function{of_functions} not tried again: \
             the reasons are those of an earlier run with no less effort (--again tries again)"
        ),
    }
}

/// The figures of the augmentation of a function's paths.
fn augmentation(function: &FunctionSummary) -> String {
    let figures = function.exploration.as_ref().and_then(|found| found.augmentation);
    let Some(AugmentationFigures { questions, tests, by_heuristic, minimised }) = figures else {
        return String::new();
    };
    format!(
        "\n{} augmentation: {questions} questions; of {tests} tests, {by_heuristic} are kept by the length \
         of their paths, and {minimised} by the minimisation of suites",
        function.name
    )
}

/// The option that a limit can be raised with, in brackets.
fn option_of(reason: &str) -> String {
    let is_limit = |(begin, end): (&str, &str)| reason.starts_with(begin) && reason.ends_with(end);
    let limits = [
        (("time limit of ", ""), "--time"),
        (("limit of ", " states"), "--max-states"),
        (("limit of ", " paths"), "--max-paths"),
        (("memory limit of ", ""), "--max-memory"),
        (("loop bound of ", ""), "--loop-bound"),
        (("recursion bound of ", ""), "--recursion"),
    ];
    let option = limits.into_iter().find(|(text, _)| is_limit(*text));
    option.map_or_else(String::new, |(_, option)| format!(" ({option})"))
}

/// A line for each set of assumptions that objectives of a row rest on.
fn assumed(function: &str, row: &CriterionSummary) -> String {
    let mut groups: IndexMap<&[Assumption], Vec<&Place>> = IndexMap::new();
    for objective in &row.assumed {
        groups.entry(&objective.assumptions).or_default().push(&objective.place);
    }
    let mut text = String::new();
    for (assumptions, all) in groups {
        let sentences: Vec<String> = assumptions.iter().map(ToString::to_string).collect();
        let mut places: Vec<String> = all.iter().map(ToString::to_string).collect();
        places.dedup();
        let more = match places.len().saturating_sub(MOST_PLACES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        places.truncate(MOST_PLACES);
        let (criterion, count) = (row.criterion, all.len());
        let (sentences, places) = (sentences.join("; "), places.join(", "));
        text += &format!(
            "\n{function} {criterion}: {count} infeasible as assumed: {sentences}: {places}{more}"
        );
    }
    text
}

/// The assumptions that *infeasible* rests on and that are granted or accepted, a line a kind.
fn granted(summary: &Summary) -> String {
    let mut kinds: BTreeMap<AssumptionKind, BTreeSet<&str>> = BTreeMap::new();
    for row in summary.functions.iter().flat_map(|function| &function.criteria) {
        for assumption in &row.granted {
            kinds.entry(assumption.kind).or_default().insert(&assumption.sentence);
        }
    }
    let mut text = String::new();
    for (kind, sentences) in kinds {
        let how = if AssumptionKind::GRANTED.contains(&kind) { "granted" } else { "accepted" };
        let shown: Vec<&str> = sentences.iter().take(MOST_SENTENCES).copied().collect();
        text += &format!("\n{how}: {} ({kind})", shown.join("; "));
        if let Some(more @ 1..) = sentences.len().checked_sub(MOST_SENTENCES) {
            text += &format!(" and {more} more");
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
    use lydian_objective::evidence::{AssumedObjective, CriterionRow};
    use lydian_report::{FunctionSummary, TakenOver};

    #[test]
    fn nearly_full_coverage_is_not_shown_as_full() {
        let row = CriterionSummary {
            criterion: Criterion::Dc,
            objectives: 2000,
            covered: 1999,
            unknown: 1,
            reasons: vec![("loop bound of 8 turns".into(), 1)],
            ..none()
        };
        assert_eq!(percent(&row), "99.9%");
        let text = render(&of_f(row));
        assert!(text.contains("f dc: 1 unknown: loop bound of 8 turns"), "{text}");
    }

    #[test]
    fn what_was_not_tried_again_is_said_in_one_line() {
        let of = |function: &str, objectives| TakenOver { function: function.into(), objectives };
        let summary = Summary { taken_over: vec![of("f", 3), of("g", 1)], ..Summary::default() };
        let text = render(&summary);
        assert!(text.contains("\n4 unknown objectives of 2 functions not tried again: "), "{text}");
        assert!(!render(&Summary::default()).contains("again"));
    }

    fn none() -> CriterionSummary {
        CriterionSummary::from(CriterionRow::count(Criterion::Dc, []))
    }

    fn of_f(row: CriterionSummary) -> Summary {
        let function = FunctionSummary {
            attempts: Vec::new(),
            name: "f".into(),
            criteria: vec![row],
            tests: 7,
            seconds: 0.5,
            exploration: None,
            objectives: Vec::new(),
        };
        Summary { functions: vec![function], ..Summary::default() }
    }

    #[test]
    fn what_is_assumed_has_a_column_and_is_named_and_what_is_granted_is_named_once() {
        let told = |kind, sentence: &str| Assumption::new(kind, "p", sentence);
        let at = |line| AssumedObjective {
            name: "d1 true".into(),
            place: Place { file: "a.c".into(), line, column: 5 },
            text: "p == q".into(),
            assumptions: vec![told(AssumptionKind::Alias, "p and q are different objects")],
        };
        let row = CriterionSummary {
            objectives: 8,
            covered: 4,
            infeasible: 2,
            infeasible_as_assumed: 2,
            assumed: vec![at(3), at(9)],
            granted: vec![
                told(AssumptionKind::ObjectSize, "no object is large"),
                told(AssumptionKind::Shape, "p points to one object"),
            ],
            ..none()
        };
        let expected = "\
| function | criterion | objectives | covered | infeasible | as assumed | duplicate | unknown | coverage | tests | time   |
|----------|-----------|------------|---------|------------|------------|-----------|---------|----------|-------|--------|
| f        | dc        |          8 |       4 |          2 |          2 |         0 |       0 |    66.6% |     7 | 0.50 s |
f dc: 2 infeasible as assumed: p and q are different objects (alias): a.c:3:5, a.c:9:5
granted: no object is large (object-size)
accepted: p points to one object (shape)";
        assert_eq!(render(&of_f(row)), expected);
    }
}
