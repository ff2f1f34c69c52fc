//! The answers of an outside checker, and what is written for other tools.

use std::fmt::Write as _;
use std::path::Path;

use lydian::{CancelToken, CheckedError, CheckerAnswer, Conclusion, OutsideRequest, Proofs, files};
use serde::Serialize;

use crate::args::OtherToolArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;

/// The answers of an outside checker.
#[derive(Default, Serialize)]
pub(super) struct OutsideAnswers {
    /// The answers, in the order of the errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checked: Vec<CheckedError>,
    /// Why it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
}

impl OutsideAnswers {
    /// Asks the checker, if there is one. What the proofs found is not lost where that fails.
    pub(super) fn ask(
        proofs: &mut Proofs,
        request: Option<&OutsideRequest>,
        cancel: &CancelToken,
    ) -> Self {
        let Some(request) = request else { return Self::default() };
        match proofs.ask_outside(request, cancel) {
            Ok(checked) => Self { checked, not_checked: None },
            Err(error) => Self { checked: Vec::new(), not_checked: Some(error.to_string()) },
        }
    }

    /// The answers, and a line with their count.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        self.checked.iter().for_each(|error| show(&mut text, error));
        if let Some(why) = &self.not_checked {
            let _ = writeln!(text, "the checker was not asked: {why}");
        }
        let Some(first) = self.checked.first() else { return text };
        let count = |holds: fn(&Conclusion) -> bool| {
            self.checked.iter().filter(|error| holds(&error.conclusion)).count()
        };
        let disagreements = count(|one| matches!(one, Conclusion::Disagrees(_)));
        let _ = writeln!(
            text,
            "{} was asked about {}: it decides {}, agrees on {}, disagrees on {disagreements}",
            first.report.tool,
            self.checked.len(),
            count(|one| *one == Conclusion::Decides),
            count(|one| *one == Conclusion::Agrees),
        );
        text
    }

    /// Writes what was asked for, for other tools.
    pub(super) fn write(&self, proofs: &Proofs, asked: &OtherToolArgs) -> Result<(), Failure> {
        if let Some(file) = &asked.export_c {
            export_c(proofs, file)?;
        }
        if let Some(folder) = &asked.witnesses {
            write_witnesses(proofs, folder)?;
        }
        match &asked.disagreements {
            Some(folder) => self.keep(folder),
            None => Ok(()),
        }
    }

    /// Keeps the programs about which the answers contradict each other.
    fn keep(&self, folder: &Path) -> Result<(), Failure> {
        let contradicted = self.checked.iter().filter_map(|error| match &error.conclusion {
            Conclusion::Disagrees(sentence) => Some((error, sentence)),
            _ => None,
        });
        for (number, (error, sentence)) in contradicted.enumerate() {
            let place = folder.join(format!("{}-{number}", error.function));
            files::folder(&place)?;
            for (unit, text) in error.question.iter().enumerate() {
                files::file(&place.join(format!("unit-{unit}.i")), text)?;
            }
            output::json(&place.join("answers.json"), error)?;
            files::file(&place.join("README"), &format!("{sentence}\n"))?;
        }
        Ok(())
    }

    /// The exit code that the answers ask for: a checker that is not there or gave no answer.
    pub(super) fn code(&self) -> ExitCode {
        let has_failed =
            |error: &CheckedError| matches!(error.report.answer, CheckerAnswer::Failed(_));
        match self.not_checked.is_some() || self.checked.iter().any(has_failed) {
            true => ExitCode::Environment,
            false => ExitCode::Done,
        }
    }
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

/// Writes the proofs as C, or says why there is none.
fn export_c(proofs: &Proofs, file: &Path) -> Result<(), Failure> {
    match proofs.in_c() {
        Ok(proof) => {
            files::file(file, &proof.text)?;
            for part in &proof.left_out {
                output::text(&format!("{} leaves out: {part}\n", file.display()))?;
            }
        }
        Err(why) => output::text(&format!("the program has no proof in C: {why}\n"))?,
    }
    Ok(())
}

/// Writes the witnesses, and says what they leave out.
fn write_witnesses(proofs: &Proofs, folder: &Path) -> Result<(), Failure> {
    files::folder(folder)?;
    for witness in proofs.witnesses() {
        files::file(&folder.join(&witness.file), &witness.text)?;
        for part in &witness.left_out {
            output::text(&format!("{} leaves out what has no form in C: {part}\n", witness.file))?;
        }
    }
    Ok(())
}
