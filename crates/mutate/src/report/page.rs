//! The results as one HTML page: scores, and each file with its mutants beside the lines.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::mutant::Mutant;
use crate::results::{MutantResult, MutationResults, Outcome, Score};

const STYLE: &str = "body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}\
table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}pre{margin:0;font:12.5px/1.5 ui-monospace,monospace}\
.source td{border:0;padding:0 .6em;text-align:left;vertical-align:top}.source td:first-child{color:#888;text-align:right}\
.alive{background:#fde8e6}.dead{background:#e9f6e9}.mixed{background:#fff4dc}\
details{margin:.2em 0 .6em}summary{cursor:pointer}.diff{background:#f7f7f7;padding:.5em;overflow:auto}\
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}.alive{background:#4a2320}\
.dead{background:#1f3a22}.mixed{background:#453714}.diff{background:#222}td,th{border-color:#444}}";

/// The page. `read` gives the text of a file, `shown` its path for people, `diff` that of a mutant.
pub fn render(
    results: &MutationResults,
    read: &dyn Fn(&str) -> String,
    shown: &dyn Fn(&str) -> String,
    diff: &dyn Fn(&Mutant) -> String,
) -> String {
    let mut files: BTreeMap<&str, Vec<&MutantResult>> = BTreeMap::new();
    results.all().for_each(|result| files.entry(&result.mutant.file).or_default().push(result));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Mutants" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Mutants" }
                (scores("file", results.scores_by(|mutant| shown(&mutant.file))))
                (scores("function", results.scores_by(|mutant| mutant.function.clone())))
                (scores("operator", results.scores_by(|mutant| mutant.operator.name().to_owned())))
                @for (file, mutants) in &files {
                    h2 { (shown(file)) }
                    (source(&read(file), mutants, diff))
                }
            }
        }
    };
    page.into_string()
}

fn scores(of: &str, scores: BTreeMap<String, Score>) -> Markup {
    html! {
        table {
            tr { th { (of) } @for head in Score::HEADS { th { (head) } } th { "score" } }
            @for (name, score) in &scores {
                tr {
                    td { (name) }
                    @for count in score.counts() { td { (count) } }
                    td { (score.percent().map_or("-".to_owned(), |percent| format!("{percent:.1} %"))) }
                }
            }
        }
    }
}

fn source(text: &str, mutants: &[&MutantResult], diff: &dyn Fn(&Mutant) -> String) -> Markup {
    let mut lines: BTreeMap<u32, Vec<&MutantResult>> = BTreeMap::new();
    for result in mutants {
        lines.entry(result.mutant.start.line).or_default().push(result);
    }
    html! {
        table class="source" {
            @for (number, line) in (1u32..).zip(text.lines()) {
                @let own = lines.get(&number).map_or(&[][..], Vec::as_slice);
                tr class=[class(own)] {
                    td { (number) }
                    td {
                        pre { (line) }
                        @if !own.is_empty() { (on_line(own, diff)) }
                    }
                }
            }
        }
    }
}

fn class(mutants: &[&MutantResult]) -> Option<&'static str> {
    let alive = mutants.iter().filter(|result| result.outcome.is_alive()).count();
    let killed = mutants.iter().any(|result| matches!(result.outcome, Outcome::Killed { .. }));
    match (alive, killed) {
        (0, false) => None,
        (0, true) => Some("dead"),
        (_, true) => Some("mixed"),
        (_, false) => Some("alive"),
    }
}

fn on_line(mutants: &[&MutantResult], diff: &dyn Fn(&Mutant) -> String) -> Markup {
    let killed =
        mutants.iter().filter(|result| matches!(result.outcome, Outcome::Killed { .. })).count();
    html! {
        details {
            summary { (killed) " of " (mutants.len()) " killed" }
            @for result in mutants {
                div {
                    (result.mutant.name) ": " (result.outcome.name())
                    @if let Outcome::Killed { test, .. } = &result.outcome { " by " (test) }
                    @if result.outcome.is_alive() { pre class="diff" { (diff(&result.mutant)) } }
                }
            }
        }
    }
}
