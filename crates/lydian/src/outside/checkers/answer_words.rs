//! Tools that answer in words: ESBMC, CPAchecker, and commands of the user's.
//!
//! The answer is the last line with a verdict, in the words of these tools and of SV-COMP. Inputs are read
//! from the witness that the tool wrote, if it did.

use std::fs;
use std::path::PathBuf;

use super::dialect::PROPERTY_FILE;
use super::process::Ended;
use super::tool::{Checker, Place};
use super::{Asked, CheckerAnswer, witness_inputs};
use crate::error::Error;
use crate::proving::InputValue;

/// The file that a tool is to write its witness to.
const WITNESS: &str = "witness.graphml";
/// The folder for the files of CPAchecker.
const OUTPUT: &str = "output";
/// The files in which a tool may have left its witness, the better ones first.
const WITNESSES: [&str; 5] = [
    WITNESS,
    "witness.yml",
    "output/witness-2.0.yml",
    "output/witness.yml",
    "output/Counterexample.1.graphml",
];

/// A verdict in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Reachable,
    Unreachable,
    Unknown,
}

/// Asks once.
pub(super) fn ask(asked: &Asked<'_>) -> Result<CheckerAnswer, Error> {
    let time = asked.ready.options.time;
    let ended = asked.run(&arguments(asked), time)?;
    Ok(match verdict(&ended) {
        Some(Verdict::Reachable) => CheckerAnswer::Reachable(inputs(asked)),
        Some(Verdict::Unreachable) => {
            let assumed = |name: &String| format!("`{name}` writes to no variable of the program");
            let assumptions = asked.question.unknown.iter().map(assumed).collect();
            CheckerAnswer::Unreachable { bounds: Vec::new(), assumptions }
        }
        Some(Verdict::Unknown) => CheckerAnswer::Open("it does not know".to_owned()),
        None if ended.status.is_none() => {
            CheckerAnswer::Open(format!("no answer in {:.0} s", time.as_secs_f64().max(1.0)))
        }
        None => CheckerAnswer::Failed(format!("it gave no verdict: {}", ended.told())),
    })
}

fn arguments(asked: &Asked<'_>) -> Vec<String> {
    let place = |place: Place| fill(asked, place);
    let one = |of: Place| fill(asked, of).join(" ");
    let (model, time) = (format!("--{}", one(Place::Model)), format!("{}s", one(Place::Time)));
    let mut words: Vec<String> = Vec::new();
    match &asked.ready.options.checker {
        Checker::Command(template) => return template.arguments(place),
        Checker::Esbmc(_) => {
            words.extend([model, "--timeout".to_owned(), time]);
            words.extend(["--witness-output".to_owned(), one(Place::Witness)]);
            let checks = [
                "--k-induction",
                "--unlimited-k-steps",
                "--floatbv",
                "--no-bounds-check",
                "--no-pointer-check",
                "--no-div-by-zero-check",
                "--no-align-check",
                "--force-malloc-success",
            ];
            words.extend(checks.map(str::to_owned));
            if asked.ready.options.memory.is_some() {
                words.extend(["--memlimit".to_owned(), format!("{}m", one(Place::Memory))]);
            }
        }
        Checker::CpaChecker(_) | Checker::Cbmc(_) => {
            words.extend([model, "--timelimit".to_owned(), time]);
            words.extend(["--spec".to_owned(), one(Place::Property)]);
            words.extend(["--output-path".to_owned(), shown(asked.folder.join(OUTPUT))]);
        }
    }
    words.extend(place(Place::Files));
    words
}

fn fill(asked: &Asked<'_>, place: Place) -> Vec<String> {
    let options = asked.ready.options;
    let one = match place {
        Place::Files => return asked.files.iter().cloned().map(shown).collect(),
        Place::Function => super::dialect::ERROR_FUNCTION.to_owned(),
        Place::Property => shown(asked.folder.join(PROPERTY_FILE)),
        Place::Time => (options.time.as_secs_f64().ceil() as u64).to_string(),
        Place::Memory => (options.memory.unwrap_or(MEMORY) >> 20).max(1).to_string(),
        Place::Model => asked.question.model.to_string(),
        Place::Witness => shown(asked.folder.join(WITNESS)),
    };
    vec![one]
}

/// The memory that a tool is told of where there is no limit.
const MEMORY: u64 = 8 << 30;

fn shown(path: PathBuf) -> String {
    path.display().to_string()
}

/// The verdict that a tool wrote last.
fn verdict(ended: &Ended) -> Option<Verdict> {
    let lines = ended.output.lines().rev().chain(ended.errors.lines().rev());
    lines.map(str::trim).find_map(verdict_of_line)
}

fn verdict_of_line(line: &str) -> Option<Verdict> {
    let line = line.to_lowercase();
    let line = line.strip_prefix("verification result:").unwrap_or(&line).trim();
    let line = line.strip_prefix("verification ").unwrap_or(line);
    let word = line.split(|character: char| !character.is_ascii_alphabetic()).next()?;
    // A word within a sentence is no verdict.
    let is_sentence =
        line.split_whitespace().count() > 1 && !line[word.len()..].starts_with(['(', '.', ',']);
    match word {
        _ if is_sentence => None,
        "failed" | "false" | "reachable" => Some(Verdict::Reachable),
        "successful" | "true" | "unreachable" => Some(Verdict::Unreachable),
        "unknown" | "timeout" => Some(Verdict::Unknown),
        _ => None,
    }
}

/// The inputs of the run that a tool found, from its witness.
fn inputs(asked: &Asked<'_>) -> Vec<InputValue> {
    let files = WITNESSES.iter().map(|name| asked.folder.join(name));
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    let read = texts.map(|text| witness_inputs::read(&text, asked.question));
    read.into_iter().find(|inputs| !inputs.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_known_in_the_words_of_several_tools() {
        use Verdict::{Reachable, Unknown, Unreachable};
        let known = [
            ("VERIFICATION FAILED", Reachable),
            ("VERIFICATION SUCCESSFUL", Unreachable),
            ("VERIFICATION UNKNOWN", Unknown),
            (
                "Verification result: TRUE. No property violation found by chosen configuration.",
                Unreachable,
            ),
            ("Verification result: FALSE. Property violation (reach_error) found.", Reachable),
            ("Verification result: UNKNOWN, incomplete analysis.", Unknown),
            ("false(unreach-call)", Reachable),
            ("FALSE_REACH", Reachable),
            ("true", Unreachable),
        ];
        for (line, verdict) in known {
            assert_eq!(verdict_of_line(line), Some(verdict), "{line}");
        }
        let others =
            ["", "true story of a crash", "Segmentation fault", "failed to open x", "x = true"];
        for line in others {
            assert_eq!(verdict_of_line(line), None, "{line}");
        }
    }
}
