//! The tables of the studies.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use serde::Serialize;

use super::paper::Figures;

/// The reasons that are listed for a subject.
const MOST_REASONS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Feasible,
    Infeasible,
    Unknown,
}

/// A def-use pair, with what is known of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) verdict: Verdict,
    pub(crate) engine: String,
    /// When it was decided, since the search began.
    pub(crate) seconds: Option<f64>,
    pub(crate) why: String,
}

/// The pairs of a subject by one way to prove.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) subject: String,
    pub(crate) provers: String,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) seconds: f64,
    /// Why there are no answers.
    pub(crate) trouble: Option<String>,
}

impl Run {
    fn count(&self, verdict: Verdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }

    /// The median of the times at which pairs of a verdict were decided.
    fn median(&self, verdict: Verdict) -> String {
        let own = self.pairs.iter().filter(|pair| pair.verdict == verdict);
        let mut times: Vec<f64> = own.filter_map(|pair| pair.seconds).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).map_or_else(String::new, |time| format!("{time:.3}"))
    }

    /// The time for each decided pair, if all of the run's time is shared out among the pairs.
    fn each(&self) -> String {
        let decided = self.pairs.len() - self.count(Verdict::Unknown);
        match decided {
            0 => String::new(),
            _ => format!("{:.3}", self.seconds / decided as f64),
        }
    }

    /// The counts in a line.
    pub(crate) fn line(&self) -> String {
        let Self { subject, provers, seconds, trouble, .. } = self;
        let trouble = trouble.as_deref().unwrap_or_default();
        let [feasible, infeasible, unknown] =
            [Verdict::Feasible, Verdict::Infeasible, Verdict::Unknown].map(|one| self.count(one));
        format!(
            "{subject} {provers}: {feasible} feasible, {infeasible} infeasible, {unknown} unknown, \
             {seconds:.1} s {trouble}"
        )
    }
}

/// What is known of the pairs, beside the paper's figures.
pub(crate) fn verdicts(runs: &[&Run]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header([
        "subject",
        "pairs",
        "feasible",
        "infeasible",
        "unknown",
        "decided",
        "median feasible",
        "median infeasible",
        "time a pair",
        "time",
        "paper: pairs",
        "searched",
        "CPAchecker",
        "CBMC",
        "median infeasible, both",
    ]);
    let (mut all, mut open) = (0, 0);
    for run in runs {
        let [feasible, infeasible, unknown] =
            [Verdict::Feasible, Verdict::Infeasible, Verdict::Unknown].map(|one| run.count(one));
        let count = run.pairs.len();
        (all, open) = (all + count, open + unknown);
        let mut row = vec![run.subject.clone()];
        row.extend([count, feasible, infeasible, unknown].map(|number| number.to_string()));
        row.push(share(count - unknown, count));
        row.extend([run.median(Verdict::Feasible), run.median(Verdict::Infeasible), run.each()]);
        row.push(format!("{:.1}", run.seconds));
        if let Some(paper) = Figures::of(&run.subject) {
            let Figures { pairs, searched, cpachecker, cbmc, infeasible } = paper;
            row.extend([pairs.to_owned(), searched.to_owned(), cpachecker, cbmc, infeasible]);
        }
        table.add_row(row);
    }
    format!("{table}\n{} of {all} pairs are decided ({})", all - open, share(all - open, all))
}

fn share(part: usize, all: usize) -> String {
    if all == 0 { String::new() } else { format!("{:.1} %", 100.0 * part as f64 / all as f64) }
}

/// The pairs that two ways to prove decide differently.
pub(crate) fn disagreements(runs: &[Run]) -> String {
    let mut text = String::new();
    let mut known: BTreeMap<(&str, &str), (Verdict, &str)> = BTreeMap::new();
    for run in runs {
        for pair in run.pairs.iter().filter(|pair| pair.verdict != Verdict::Unknown) {
            let key = (run.subject.as_str(), pair.name.as_str());
            let (verdict, provers) =
                *known.entry(key).or_insert((pair.verdict, run.provers.as_str()));
            if verdict != pair.verdict {
                let _ = writeln!(
                    text,
                    "{}: {}: {verdict:?} by {provers}, {:?} by {}",
                    run.subject, pair.text, pair.verdict, run.provers
                );
            }
        }
    }
    if text.is_empty() { "no two ways to prove disagree\n".to_owned() } else { text }
}

/// The most frequent reasons for what is unknown.
pub(crate) fn reasons(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in run.pairs.iter().filter(|pair| pair.verdict == Verdict::Unknown) {
            *reasons.entry(&pair.why).or_default() += 1;
        }
        let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (why, count) in reasons.into_iter().take(MOST_REASONS) {
            let _ = writeln!(text, "{} {}: {count} unknown: {why}", run.subject, run.provers);
        }
    }
    text
}
