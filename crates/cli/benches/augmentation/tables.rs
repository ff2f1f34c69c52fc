//! The tables.

use comfy_table::{Table, presets};

use crate::paper::Figures;
use crate::ways::{
    Adequacy, BOUNDARY, BOUNDARY_STRICT, BY_BVA, BY_WM, Cost, MUTATION, MUTATION_STRICT, PLAIN,
    WAYS,
};

/// What one way gives for a subject: averages, where the subject is several functions.
#[derive(Clone, Copy, Debug, Default)]
struct Result {
    tests: f64,
    by_heuristic: f64,
    questions: f64,
    seconds: f64,
    mutation: f64,
    boundary: f64,
    logic: f64,
}

/// A function, or the average of several.
pub(crate) struct Subject {
    name: String,
    /// By way.
    results: Vec<Result>,
    /// The greatest multiple of the time of plain exploration, by way.
    slower: Vec<f64>,
}

impl Subject {
    /// A function, with its costs and adequacies by way; the latter may be missing.
    pub(crate) fn new(name: &str, costs: &[Cost], adequacies: &[Adequacy]) -> Self {
        let result = |(at, cost): (usize, &Cost)| {
            let adequacy = adequacies.get(at);
            Result {
                tests: cost.tests as f64,
                by_heuristic: cost.by_heuristic.unwrap_or(cost.tests) as f64,
                questions: cost.questions.unwrap_or_default() as f64,
                seconds: cost.time.as_secs_f64(),
                mutation: adequacy.map_or(0.0, |one| one.mutation),
                boundary: adequacy.map_or(0.0, |one| one.boundary),
                logic: adequacy.map_or(0.0, |one| one.logic),
            }
        };
        let results: Vec<Result> = costs.iter().enumerate().map(result).collect();
        let plain = results[PLAIN].seconds;
        let slower = results.iter().map(|one| one.seconds / plain).collect();
        Self { name: name.to_owned(), results, slower }
    }

    /// The average of several functions.
    pub(crate) fn average(name: &str, all: &[Self]) -> Self {
        let mean = |way: usize, of: fn(&Result) -> f64| {
            all.iter().map(|one| of(&one.results[way])).sum::<f64>() / all.len() as f64
        };
        let result = |way| Result {
            tests: mean(way, |one| one.tests),
            by_heuristic: mean(way, |one| one.by_heuristic),
            questions: mean(way, |one| one.questions),
            seconds: mean(way, |one| one.seconds),
            mutation: mean(way, |one| one.mutation),
            boundary: mean(way, |one| one.boundary),
            logic: mean(way, |one| one.logic),
        };
        let greatest = |way: usize| all.iter().map(|one| one.slower[way]).fold(0.0, f64::max);
        let ways = 0..WAYS.len();
        let (results, slower) = (ways.clone().map(result).collect(), ways.map(greatest).collect());
        Self { name: name.to_owned(), results, slower }
    }
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    table
}

/// The three numbers of the paper as one text.
fn figures(of: Option<[&str; 3]>) -> String {
    of.map_or_else(String::new, |figures| figures.join(" / "))
}

/// Table 1: killed mutants in percent.
pub(crate) fn scores(all: &[Subject]) -> String {
    let mut table = table(&[
        "function",
        "plain",
        "boundary",
        "mutation",
        "paper: plain / boundary / mutation",
        "boundary, strict",
        "mutation, strict",
        "labels bc,bva",
        "labels bc,wm",
    ]);
    let own = [PLAIN, BOUNDARY, MUTATION];
    let other = [BOUNDARY_STRICT, MUTATION_STRICT, BY_BVA, BY_WM];
    let mean = Subject::average("average", all);
    for subject in all.iter().chain([&mean]) {
        let score = |way: &usize| format!("{:.1}", subject.results[*way].mutation);
        let paper = match subject.name.as_str() {
            "average" => Some(["59.2", "67.9", "75.3"]),
            name => Figures::of(name).map(|figures| figures.scores),
        };
        let mut row = vec![subject.name.clone()];
        row.extend(own.iter().map(score));
        row.push(figures(paper));
        row.extend(other.iter().map(score));
        table.add_row(row);
    }
    table.to_string()
}

/// Table 2: tests, questions and times.
pub(crate) fn costs(all: &[Subject]) -> String {
    let mut table = table(&[
        "function",
        "tests",
        "paper",
        "by its heuristic",
        "questions",
        "seconds",
        "paper",
        "mutation / plain",
    ]);
    let mean = Subject::average("average", all);
    for subject in all.iter().chain([&mean]) {
        let three = |of: fn(&Result) -> f64, digits: usize| {
            let texts = [PLAIN, BOUNDARY, MUTATION]
                .map(|way| format!("{:.digits$}", of(&subject.results[way])));
            texts.join(" / ")
        };
        let digits = usize::from(subject.name == "integers" || subject.name == "average");
        let paper = match subject.name.as_str() {
            "average" => Some((["7.25", "20.45", "63.13"], ["<1", "2", "272"])),
            name => Figures::of(name).map(|figures| (figures.tests, figures.seconds)),
        };
        table.add_row([
            subject.name.clone(),
            three(|one| one.tests, digits),
            figures(paper.map(|(tests, _)| tests)),
            three(|one| one.by_heuristic, digits),
            three(|one| one.questions, digits),
            three(|one| one.seconds, 2),
            figures(paper.map(|(_, seconds)| seconds)),
            format!("{:.1}", subject.slower[MUTATION]),
        ]);
    }
    table.to_string()
}

/// What each way brings, and at what cost, over all subjects.
pub(crate) fn ways(all: &[Subject]) -> String {
    let mut table = table(&[
        "way",
        "mutants killed, %",
        "boundary, %",
        "logic, %",
        "tests",
        "seconds",
        "most / plain",
    ]);
    let mean = Subject::average("average", all);
    for (at, way) in WAYS.iter().enumerate() {
        let result = mean.results[at];
        let killed = result.mutation;
        table.add_row([
            way.name.to_owned(),
            if killed.is_nan() { String::new() } else { format!("{killed:.1}") },
            format!("{:.1}", result.boundary),
            format!("{:.1}", result.logic),
            format!("{:.1}", result.tests),
            format!("{:.2}", result.seconds),
            format!("{:.1}", mean.slower[at]),
        ]);
    }
    table.to_string()
}
