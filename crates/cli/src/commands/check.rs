//! `lydian check`: certificates of proofs, checked by an external solver.

use std::fmt::Write as _;

use lydian::{CertificateCheck, CheckRequest, CheckResult, Checks};

use crate::args::CheckArgs;
use crate::exit::{ExitCode, Failure};
use crate::requests::time_limit;
use crate::{interrupt, output};

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let request = CheckRequest {
        paths: args.paths.clone(),
        time: time_limit(args.time),
        solver: args.solver.clone(),
    };
    let checks = Checks::run(&request, &cancel)?;
    output::text(&shown(&checks))?;
    if let Some(path) = &args.json {
        output::json(path, &checks)?;
    }
    if cancel.is_cancelled() {
        return Ok(ExitCode::Interrupted);
    }
    let codes = checks.certificates.iter().map(code);
    Ok(codes.max().unwrap_or(ExitCode::Done))
}

const fn code(check: &CertificateCheck) -> ExitCode {
    match check.result {
        _ if !check.withdrawn.is_empty() => ExitCode::Internal,
        CheckResult::Checked => ExitCode::Done,
        CheckResult::Open { .. } => ExitCode::Below,
        CheckResult::IllFormed(_) => ExitCode::Usage,
        CheckResult::Unanswered(_) => ExitCode::Environment,
        CheckResult::Refuted { .. } => ExitCode::Internal,
    }
}

/// The results as text.
fn shown(checks: &Checks) -> String {
    let mut text = String::new();
    checks.certificates.iter().for_each(|check| show(&mut text, check));
    let all = &checks.certificates;
    let stand = all.iter().filter(|check| check.result == CheckResult::Checked).count();
    let conditions: u32 = all.iter().map(|check| check.conditions).sum();
    let seconds = all.iter().fold(0.0, |sum, check| sum + check.seconds);
    let _ = writeln!(
        text,
        "{stand} of {} certificates stand ({conditions} conditions, {seconds:.1} s, {})",
        all.len(),
        checks.solver
    );
    text
}

fn show(text: &mut String, check: &CertificateCheck) {
    let file = match &check.name {
        Some(name) => {
            let short: String = name.chars().take(DIGITS).collect();
            format!("{} {short}", check.file.display())
        }
        None => check.file.display().to_string(),
    };
    let work = format!("{} conditions, {:.1} s", check.conditions, check.seconds);
    let _ = match &check.result {
        CheckResult::Checked => writeln!(text, "{file}: {} ({work})", subject(check)),
        CheckResult::Open { condition, reason } => {
            writeln!(text, "{file}: not decided ({work}): {condition}: {reason}")
        }
        CheckResult::IllFormed(what) | CheckResult::Unanswered(what) => {
            writeln!(text, "{file}: {what}")
        }
        CheckResult::Refuted { condition, model } => {
            let shown: Vec<&str> = model.lines().take(MOST_LINES).collect();
            let model = shown.join("\n    ");
            writeln!(text, "{file}: false ({work}): {condition}\n    {model}")
        }
    };
    for objective in &check.withdrawn {
        let _ = writeln!(text, "    internal error: no longer infeasible: {objective}");
    }
    if check.result == CheckResult::Checked {
        for named in check.objectives.iter().flat_map(|objective| &objective.of) {
            let _ = writeln!(text, "    {}: {}: {}", named.place, named.criterion, named.text);
        }
    }
}

/// How many digits of a name in a ledger are shown.
const DIGITS: usize = 12;

/// What a certificate says.
fn subject(check: &CertificateCheck) -> String {
    match (&check.goal, check.objectives.len()) {
        (Some(goal), _) => format!("{goal} is unreachable"),
        (None, 1) => "no run covers 1 objective".to_owned(),
        (None, count) => format!("no run covers any of {count} objectives"),
    }
}

/// How many lines of a solver's values are shown.
const MOST_LINES: usize = 40;
