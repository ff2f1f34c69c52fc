//! The answers of an outside checker, as text and files.

use std::fmt::Write as _;
use std::path::Path;

use lydian::{CheckedError, CheckerAnswer, Conclusion, Proofs, files};

use crate::exit::{ExitCode, Failure};

/// The answers, and a line with their count.
pub(super) fn shown(proofs: &Proofs) -> String {
    let mut text = String::new();
    proofs.checked.iter().for_each(|error| show(&mut text, error));
    if let Some(why) = &proofs.not_checked {
        let _ = writeln!(text, "the checker was not asked: {why}");
    }
    if let Some(first) = proofs.checked.first() {
        let count = |holds: fn(&Conclusion) -> bool| {
            proofs.checked.iter().filter(|error| holds(&error.conclusion)).count()
        };
        let disagreements = count(|one| matches!(one, Conclusion::Disagrees(_)));
        let _ = writeln!(
            text,
            "{} was asked about {}: it decides {}, agrees on {}, disagrees on {disagreements}",
            first.report.tool,
            proofs.checked.len(),
            count(|one| *one == Conclusion::Decides),
            count(|one| *one == Conclusion::Agrees),
        );
    }
    text
}

fn show(text: &mut String, error: &CheckedError) {
    let place = error.place.as_ref().map_or_else(|| error.function.clone(), ToString::to_string);
    let (tool, seconds) = (&error.report.tool, error.report.seconds);
    let answer = match &error.report.answer {
        CheckerAnswer::Reachable(_) => "reached",
        CheckerAnswer::Unreachable { bounds, .. } if !bounds.is_empty() => {
            "unreachable within bounds"
        }
        CheckerAnswer::Unreachable { .. } => "unreachable",
        CheckerAnswer::Open(_) => "unknown",
        CheckerAnswer::Failed(_) => "no answer",
    };
    let _ = match &error.conclusion {
        Conclusion::Agrees | Conclusion::Decides => {
            writeln!(text, "{place}: {answer} ({tool}, {seconds:.1} s)")
        }
        Conclusion::Nothing(why) => {
            writeln!(text, "{place}: {answer} ({tool}, {seconds:.1} s): {why}")
        }
        Conclusion::Disagrees(sentence) => writeln!(text, "{place}: disagreement: {sentence}"),
    };
}

/// Keeps the programs about which the answers contradict each other.
pub(super) fn keep(proofs: &Proofs, folder: &Path) -> Result<(), Failure> {
    let contradicted = proofs.checked.iter().filter_map(|error| match &error.conclusion {
        Conclusion::Disagrees(sentence) => Some((error, sentence)),
        _ => None,
    });
    for (number, (error, sentence)) in contradicted.enumerate() {
        let place = folder.join(format!("{}-{number}", error.function));
        files::folder(&place)?;
        for (unit, text) in error.question.iter().enumerate() {
            files::file(&place.join(format!("unit-{unit}.i")), text)?;
        }
        let json = serde_json::to_string_pretty(error).expect("answers are valid JSON");
        files::file(&place.join("answers.json"), &(json + "\n"))?;
        files::file(&place.join("README"), &format!("{sentence}\n"))?;
    }
    Ok(())
}

/// The exit code that the answers ask for: a checker that is not there or gave no answer.
pub(super) fn code(proofs: &Proofs) -> ExitCode {
    let has_failed = |error: &CheckedError| matches!(error.report.answer, CheckerAnswer::Failed(_));
    match proofs.not_checked.is_some() || proofs.checked.iter().any(has_failed) {
        true => ExitCode::Environment,
        false => ExitCode::Done,
    }
}
