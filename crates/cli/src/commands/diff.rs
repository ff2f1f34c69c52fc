//! `lydian diff`: what two versions of a file do differently, function by function.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lydian::{
    DiffRequest, DiffVerdict, Difference, FunctionDiff, SUITE_HEADER, VersionDiff, files,
};

use crate::args::DiffArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::requests::time_limit;
use crate::{interrupt, output};

/// The most lines that are named for a function.
const MOST_LINES: usize = 12;
/// The most inputs that are shown for a difference.
const MOST_INPUTS: usize = 24;

pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    for file in [&args.old, &args.new] {
        if !file.is_file() {
            return Err(Failure::source("diff", format!("there is no file {}", file.display())));
        }
    }
    let request = DiffRequest {
        old: args.old.clone(),
        new: args.new.clone(),
        functions: args.functions.clone(),
        flags: args.flags.clone(),
        old_flags: (!args.old_flags.is_empty()).then(|| args.old_flags.clone()),
        compile_commands: args.compile_commands.clone(),
        time: time_limit(args.time),
        elements: args.elements,
    };
    let diff = VersionDiff::between(&request, &cancel, &Terminal::new())?;
    output::text(&shown(&diff))?;
    if let Some(folder) = &args.tests {
        write_tests(folder, &diff)?;
    }
    if let Some(path) = &args.json {
        output::json(path, &diff)?;
    }
    if cancel.is_cancelled() {
        return Ok(ExitCode::Interrupted);
    }
    let codes = diff.functions.iter().map(|function| code(&function.verdict));
    Ok(codes.max().unwrap_or(ExitCode::Done))
}

const fn code(verdict: &DiffVerdict) -> ExitCode {
    match verdict {
        DiffVerdict::EqualText
        | DiffVerdict::EqualCode
        | DiffVerdict::Proved { .. }
        | DiffVerdict::ProvedByEngines { .. } => ExitCode::Done,
        DiffVerdict::Contradiction { .. } => ExitCode::Internal,
        _ => ExitCode::Below,
    }
}

/// Writes the C program of each difference, and the header that some of them include.
fn write_tests(folder: &Path, diff: &VersionDiff) -> Result<(), Failure> {
    files::folder(folder)?;
    let tests = diff.functions.iter().filter_map(|function| match &function.verdict {
        DiffVerdict::Differs(difference) => {
            let path = folder.join(format!("{}_differs.c", function.function));
            Some((path, difference.test.clone()?))
        }
        _ => None,
    });
    let mut tests: Vec<(PathBuf, String)> = tests.collect();
    let (header, text) = SUITE_HEADER;
    if tests.iter().any(|(_, test)| test.contains(&format!("#include \"{header}\""))) {
        tests.push((folder.join(header), text.to_owned()));
    }
    Ok(files::files(&tests)?)
}

fn shown(diff: &VersionDiff) -> String {
    let mut text = String::new();
    diff.functions.iter().for_each(|function| show(&mut text, function));
    let count = |kinds: &[&str]| {
        let all = diff.functions.iter();
        all.filter(|function| kinds.contains(&kind(&function.verdict))).count()
    };
    let functions = match diff.functions.len() {
        1 => "1 function".to_owned(),
        all => format!("{all} functions"),
    };
    let parts = [
        (count(&["equal", "proved"]), "equal"),
        (count(&["differs"]), "differ"),
        (count(&["added"]), "added"),
        (count(&["removed"]), "removed"),
        (count(&["signature"]), "of another type"),
        (count(&["unknown", "contradiction"]), "unknown"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let _ = writeln!(text, "{functions}: {}", parts.join(", "));
    text
}

const fn kind(verdict: &DiffVerdict) -> &'static str {
    match verdict {
        DiffVerdict::EqualText | DiffVerdict::EqualCode => "equal",
        DiffVerdict::Proved { .. } | DiffVerdict::ProvedByEngines { .. } => "proved",
        DiffVerdict::Differs(_) => "differs",
        DiffVerdict::Unknown { .. } => "unknown",
        DiffVerdict::Added => "added",
        DiffVerdict::Removed => "removed",
        DiffVerdict::Signature { .. } => "signature",
        DiffVerdict::Contradiction { .. } => "contradiction",
    }
}

fn show(text: &mut String, one: &FunctionDiff) {
    let name = &one.function;
    let _ = match &one.verdict {
        DiffVerdict::EqualText => writeln!(text, "{name}: equal, by its text"),
        DiffVerdict::EqualCode => writeln!(text, "{name}: equal, by its statements"),
        DiffVerdict::Proved { paths, .. } => {
            let all = if *paths == 1 { "the only path does" } else { "all paths do" };
            writeln!(text, "{name}: equal, proved: {all} the same in both versions")
        }
        DiffVerdict::ProvedByEngines { .. } => {
            writeln!(text, "{name}: equal, proved: no run tells the versions apart")
        }
        DiffVerdict::Differs(_) => writeln!(text, "{name}: differs"),
        DiffVerdict::Unknown { reason } => writeln!(text, "{name}: unknown: {reason}"),
        DiffVerdict::Added => writeln!(text, "{name}: added"),
        DiffVerdict::Removed => writeln!(text, "{name}: removed"),
        DiffVerdict::Signature { old, new } => {
            writeln!(text, "{name}: has another type: `{old}` became `{new}`")
        }
        DiffVerdict::Contradiction { reason } => {
            writeln!(text, "{name}: internal error: {reason}")
        }
    };
    let changes = [("changed", &one.changed_lines), ("old version's", &one.removed_lines)];
    if !matches!(one.verdict, DiffVerdict::EqualText | DiffVerdict::Added | DiffVerdict::Removed) {
        for (what, lines) in changes.iter().filter(|(_, lines)| !lines.is_empty()) {
            let _ = writeln!(text, "    {what} lines: {}", shown_lines(lines));
        }
    }
    match &one.verdict {
        DiffVerdict::Proved { assumptions, .. } | DiffVerdict::ProvedByEngines { assumptions } => {
            for assumption in assumptions {
                let _ = writeln!(text, "    if {assumption}");
            }
        }
        DiffVerdict::Differs(difference) => show_difference(text, difference),
        _ => {}
    }
}

fn show_difference(text: &mut String, difference: &Difference) {
    let Difference { inputs, call, observed, .. } = difference;
    for line in call.iter().flat_map(|call| call.lines()) {
        let _ = writeln!(text, "    {line}");
    }
    for input in inputs.iter().take(MOST_INPUTS) {
        let _ = writeln!(text, "    {} = {}", input.name, input.value);
    }
    if inputs.len() > MOST_INPUTS {
        let _ = writeln!(text, "    and {} more inputs", inputs.len() - MOST_INPUTS);
    }
    for one in observed {
        let _ = writeln!(text, "    {}: old {}, new {}", one.what, one.old, one.new);
    }
}

fn shown_lines(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(MOST_LINES).map(ToString::to_string).collect();
    match lines.len().saturating_sub(MOST_LINES) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
