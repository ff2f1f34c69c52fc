//! The results as JSON of Lydian's own.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mutant::Mutant;
use crate::results::{MutationResults, Score};

/// The version of the form.
const VERSION: u32 = 1;

/// The results as JSON. `diff` gives the diff of a mutant.
pub fn render(results: &MutationResults, diff: &dyn Fn(&Mutant) -> String) -> String {
    let mutants: Vec<Value> = results
        .units
        .iter()
        .flat_map(|unit| unit.mutants.iter().map(move |result| (unit, result)))
        .map(|(unit, result)| {
            let mutant = &result.mutant;
            let alive = result.outcome.is_alive();
            json!({
                "id": unit.unit.id_of(mutant).to_string(),
                "key": mutant.key,
                "operator": mutant.operator.name(),
                "name": mutant.name,
                "file": mutant.file,
                "function": mutant.function,
                "start": mutant.start,
                "end": mutant.end,
                "original": mutant.original,
                "replacement": mutant.replacement,
                "outcome": result.outcome,
                "reached_by": result.reached_by,
                "infected_by": result.infected_by,
                "killed_by": result.killed_by,
                "subsumed": result.subsumed,
                "generated": result.generated,
                "diff": alive.then(|| diff(mutant)),
            })
        })
        .collect();
    let left_out: Vec<Value> = results
        .units
        .iter()
        .flat_map(|unit| &unit.unit.left_out)
        .map(|(function, reason)| json!({ "function": function, "reason": reason }))
        .collect();
    let tests: Vec<Value> = results
        .tests
        .iter()
        .map(|(name, micros)| json!({ "name": name, "microseconds": micros }))
        .collect();
    let whole = json!({
        "version": VERSION,
        "score": scored(results.score()),
        "files": by(results, |mutant| mutant.file.clone()),
        "functions": by(results, |mutant| mutant.function.clone()),
        "operators": by(results, |mutant| mutant.operator.name().to_owned()),
        "runs": results.runs,
        "taken_over": results.taken_over,
        "microseconds": results.micros,
        "tests": tests,
        "left_out": left_out,
        "mutants": mutants,
    });
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Scored {
    #[serde(flatten)]
    counts: Score,
    percent: Option<f64>,
}

fn scored(counts: Score) -> Value {
    json!(Scored { counts, percent: counts.percent() })
}

fn by(results: &MutationResults, key: impl Fn(&Mutant) -> String) -> Value {
    let scores = results.scores_by(key).into_iter();
    scores.map(|(name, score)| (name, scored(score))).collect::<serde_json::Map<_, _>>().into()
}
