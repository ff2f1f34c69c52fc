//! Table 2 of [001]: the pairs that searches cover, and when.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;

use super::tables::{Run, Verdict};

/// The lines of the paper's table, and a line with the names of the columns.
const FIGURES: &str = include_str!("paper_searches.csv");

/// The names of the paper's columns for Lydian's searches.
const NAMES: [(&str, &str); 5] = [
    ("dfs", "dfs"),
    ("random-state", "rss"),
    ("md2u", "rss_md2u"),
    ("sdgs", "sdgs"),
    ("cpgs", "cpgs"),
];

/// Covered pairs, the median of their times in seconds, and half the distance between the quartiles.
#[derive(Clone, Copy)]
struct Covered {
    pairs: usize,
    median: f64,
    spread: f64,
}

impl Covered {
    /// Those of a run.
    fn of(run: &Run) -> Self {
        let covered = run.pairs.iter().filter(|pair| pair.verdict == Verdict::Feasible);
        let mut times: Vec<f64> = covered.clone().filter_map(|pair| pair.seconds).collect();
        times.sort_by(f64::total_cmp);
        let at = |quarter: usize| times.get(times.len() * quarter / 4).copied().unwrap_or(0.0);
        Self { pairs: covered.count(), median: at(2), spread: (at(3) - at(1)) / 2.0 }
    }

    /// The paper's for a subject and a search.
    fn of_paper(subject: &str, search: &str) -> Option<Self> {
        let (_, name) = NAMES.iter().find(|(own, _)| *own == search)?;
        let mut lines = FIGURES.lines();
        let column = lines.next()?.split(',').position(|head| head == format!("{name}_covered"))?;
        let line = lines.find(|line| line.split(',').next() == Some(subject))?;
        let mut cells = line.split(',').skip(column);
        let mut next = || cells.next();
        Some(Self {
            pairs: next()?.parse().ok()?,
            median: next()?.parse().ok()?,
            spread: next()?.parse().ok()?,
        })
    }

    fn shown(&self) -> String {
        format!("{}, {:.2} ± {:.2}", self.pairs, self.median, self.spread)
    }
}

/// A row for each subject: for each search Lydian's figures and the paper's.
pub(crate) fn table(runs: &[Run], searches: &[String]) -> String {
    let mut table = Table::new();
    let heads = searches.iter().flat_map(|search| [search.clone(), "paper".to_owned()]);
    let head = ["subject", "pairs"].map(String::from).into_iter().chain(heads);
    table.load_style(ASCII_MARKDOWN).set_header(head.collect::<Vec<_>>());
    let mut totals = vec![0; searches.len()];
    for of_subject in runs.chunk_by(|a, b| a.subject == b.subject) {
        let [first, ..] = of_subject else { continue };
        let mut row = vec![first.subject.clone(), first.pairs.len().to_string()];
        for (run, total) in of_subject.iter().zip(&mut totals) {
            let own = Covered::of(run);
            *total += own.pairs;
            let paper = Covered::of_paper(&run.subject, &run.provers);
            row.extend([own.shown(), paper.map_or_else(String::new, |paper| paper.shown())]);
        }
        table.add_row(row);
    }
    let totals = searches.iter().zip(totals).map(|(search, total)| format!("{search} {total}"));
    let totals: Vec<String> = totals.collect();
    format!("{table}\ncovered in all: {}", totals.join(", "))
}
