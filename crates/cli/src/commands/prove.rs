//! `lydian prove`: whether any input leads a program to a call of an error function.

use std::fmt::Write as _;
use std::path::Path;

use lydian::{
    Argument, Beginning, ErrorAnswer, ErrorProof, InputValue, LinkRequest, NativeTest,
    ProofRequest, Proofs, files,
};
use serde::Serialize;

use super::prove_objectives;
use crate::args::ProveArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::requests::time_limit;
use crate::{interrupt, output};
use outside::OutsideAnswers;

mod outside;

/// All answers, as JSON has them.
#[derive(Serialize)]
struct Answers<'a> {
    #[serde(flatten)]
    proofs: &'a Proofs,
    #[serde(flatten)]
    outside: &'a OutsideAnswers,
}

pub(crate) fn run(args: &ProveArgs) -> Result<ExitCode, Failure> {
    if !args.criteria.is_empty() {
        return prove_objectives::run(args);
    }
    let cancel = interrupt::install()?;
    let program = LinkRequest {
        files: args.files.clone(),
        flags: args.flags.clone(),
        compile_commands: args.compile_commands.clone(),
    };
    let request = ProofRequest {
        program,
        time: time_limit(args.time),
        provers: args.provers.into(),
        jobs: args.jobs,
        certify: args.certificates.is_some()
            || args.other_tools.export_c.is_some()
            || args.other_tools.witnesses.is_some(),
        ledger: args.ledger.clone(),
        again: args.again,
    };
    let mut proofs = Proofs::of_errors(&request, &cancel, &Terminal::new())?;
    let outside = OutsideAnswers::ask(&mut proofs, args.outside.request().as_ref(), &cancel);
    output::text(&(shown(&proofs) + &outside.shown()))?;
    if let Some(path) = &args.json {
        output::json(path, &Answers { proofs: &proofs, outside: &outside })?;
    }
    if let Some(folder) = &args.tests {
        write_tests(folder, proofs.native_tests())?;
    }
    if let Some(folder) = &args.certificates {
        proofs.certificates.write(folder)?;
        for (function, why) in &proofs.certificates.missing {
            output::text(&format!("no certificate for the error in {function}: {why}\n"))?;
        }
    }
    outside.write(&proofs, &args.other_tools)?;
    let is_refuted = |error: &ErrorProof| matches!(error.answer, ErrorAnswer::Unconfirmed(_));
    Ok(match proofs.errors.iter().any(is_refuted) {
        true => ExitCode::Internal,
        false if cancel.is_cancelled() => ExitCode::Interrupted,
        false => outside.code(),
    })
}

/// Writes tests into a folder.
pub(super) fn write_tests(folder: &Path, tests: Vec<NativeTest>) -> Result<(), Failure> {
    files::folder(folder)?;
    for test in tests {
        files::file(&folder.join(test.file), &test.text)?;
    }
    Ok(())
}

fn shown(proofs: &Proofs) -> String {
    let mut text = String::new();
    if proofs.errors.is_empty() {
        text += "no call of an error function is in the program\n";
    }
    proofs.errors.iter().for_each(|error| show(&mut text, error));
    for reason in &proofs.inexact {
        let _ = writeln!(text, "the proofs take in more runs than the program has: {reason}");
    }
    if proofs.taken_over {
        text +=
            "the answers are those of an earlier run with no less effort (--again proves again)\n";
    }
    text
}

fn show(text: &mut String, error: &ErrorProof) {
    let place = error.place.as_ref().map_or_else(|| error.function.clone(), ToString::to_string);
    let _ = match &error.answer {
        ErrorAnswer::Reached(_) => writeln!(text, "{place}: reached ({})", error.engine),
        ErrorAnswer::Unreachable(_) => writeln!(text, "{place}: unreachable ({})", error.engine),
        ErrorAnswer::Unknown(why) => writeln!(text, "{place}: unknown: {why}"),
        ErrorAnswer::Unconfirmed(part) => writeln!(
            text,
            "{place}: internal error: {} says that no run gets there, and this part of its \
             argument is false: {part}",
            error.engine
        ),
    };
    match &error.answer {
        ErrorAnswer::Reached(inputs) => {
            show_inputs(text, inputs);
            if let Some(place) = &error.overflow {
                let _ = writeln!(
                    text,
                    "    a signed overflow at {place} comes first: C leaves open what follows, unless the \
                     compiler is told that it wraps (-fwrapv)"
                );
            }
        }
        ErrorAnswer::Unreachable(argument) => show_argument(text, argument),
        ErrorAnswer::Unknown(_) | ErrorAnswer::Unconfirmed(_) => {}
    }
}

/// The inputs, in the order of the run.
pub(super) fn show_inputs(text: &mut String, inputs: &[InputValue]) {
    for input in inputs {
        let (function, value) = (&input.function, input.number());
        let _ = match Beginning::of_name(function) {
            Some(Beginning { function, variable }) => {
                writeln!(text, "    `{variable}` in `{function}` begins as {value}")
            }
            None => writeln!(text, "    {function}() = {value}"),
        };
    }
}

pub(super) fn show_argument(text: &mut String, argument: &Argument) {
    let Argument { depth, exhaustive, invariants, paths } = argument;
    if let Some(paths) = paths {
        let _ = writeln!(text, "    {paths}");
        return;
    }
    for point in invariants {
        let place = point.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        let _ = writeln!(text, "    always in {}{place}:", point.function);
        point.formulas.iter().for_each(|formula| _ = writeln!(text, "        {formula}"));
    }
    let _ = match (exhaustive, depth) {
        (true, _) => writeln!(text, "    no run passes more than {depth} loop heads"),
        (false, 1) => {
            writeln!(text, "    from no state with these properties does a step lead there")
        }
        (false, _) => writeln!(
            text,
            "    from {depth} successive states with these properties no step leads there"
        ),
    };
}
