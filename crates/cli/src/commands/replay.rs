//! `lydian replay`: kept cases of internal errors, run again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{ContentArrangement, Table};
use lydian::{ClaimedVerdict, KeptCase, Replay, ReplayEndings, ReplayedObjective};

use crate::args::ReplayArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::{output, render};

const HEADER: [&str; 8] =
    ["function", "criterion", "objective", "at", "claimed", "interpreter", "native", ""];

/// The mark of an objective whose claim a run contradicts.
const CONTRADICTED: &str = "contradicted";

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    // All paths are made absolute first, since a replay changes the current folder.
    let files: Vec<PathBuf> = args.files.iter().map(absolute).collect();
    let mut code = ExitCode::Done;
    for (shown, path) in args.files.iter().zip(&files) {
        let replayed = replay(path).and_then(|replay| {
            output::text(&rendered(shown, &replay))?;
            Ok(if replay.agrees() { ExitCode::Done } else { ExitCode::Internal })
        });
        code = code.max(replayed.unwrap_or_else(|failure| {
            render::diagnostics(&failure.diagnostics);
            failure.code
        }));
    }
    Ok(code)
}

fn replay(path: &Path) -> Result<Replay, Failure> {
    let case = KeptCase::read(path)?;
    let folder = case.directory();
    std::env::set_current_dir(folder).map_err(|error| {
        let what = format!("the case is about files in {}: {error}", folder.display());
        Failure::source("replay", what)
    })?;
    Ok(case.replay(&Terminal::new())?)
}

/// The text about the replay of a case.
fn rendered(path: &Path, replay: &Replay) -> String {
    let Replay { trouble, lydian, function, objectives, endings } = replay;
    let mut text = format!("{}: a test of {function}\n", path.display());
    let _ = writeln!(text, "Lydian {lydian} said: {trouble}");
    if !objectives.is_empty() {
        let _ = writeln!(text, "{}", table(objectives));
    }
    match endings {
        Ok(ReplayEndings { claimed, interpreted, measured, agree }) => {
            let claimed = claimed.as_deref().unwrap_or("not claimed");
            let _ = writeln!(text, "the run's end, as claimed: {claimed}");
            let _ = writeln!(text, "in the interpreter: {interpreted}");
            let _ = writeln!(text, "natively: {measured}");
            if !agree {
                text += "the end is contradicted\n";
            }
        }
        Err(misfit) => {
            let _ = writeln!(text, "the test cannot be run: {misfit}");
        }
    }
    text + match replay.agrees() {
        true => "all agree: the error does not show\n",
        false => "the error still shows\n",
    }
}

fn table(objectives: &[ReplayedObjective]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(HEADER);
    for objective in objectives {
        let ReplayedObjective { claim, interpreted, measured } = objective;
        let claimed = match claim.verdict {
            ClaimedVerdict::Covered => format!("covered ({})", claim.engine),
            ClaimedVerdict::Infeasible => format!("infeasible ({})", claim.engine),
        };
        table.add_row([
            claim.function.clone(),
            claim.criterion.to_string(),
            claim.name.clone(),
            claim.place.clone(),
            claimed,
            shown(*interpreted).to_owned(),
            shown(*measured).to_owned(),
            if objective.agrees() { "" } else { CONTRADICTED }.to_owned(),
        ]);
    }
    table
}

/// The text for whether a run covers an objective, if that is known.
const fn shown(covered: Option<bool>) -> &'static str {
    match covered {
        Some(true) => "covered",
        Some(false) => "not covered",
        None => "not known",
    }
}
