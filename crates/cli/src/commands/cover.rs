//! `lydian cover`: the coverage of a folder of tests, measured natively.

use lydian::{MissingObjective, Project, ProjectRequest, files, read_suite};

use crate::args::CoverArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::requests::check_labels;
use crate::{interrupt, output, table};

pub(crate) fn run(args: &CoverArgs) -> Result<ExitCode, Failure> {
    check_labels(&args.criteria.chosen())?;
    let cancel = interrupt::install()?;
    let observer = Terminal::new();
    let program = Some(args.program.request()?);
    let request = args.source.request(args.source.configuration()?);
    let project = Project::load(&ProjectRequest { program, ..request }, &observer)?;
    project.require_x86_64()?;
    let tests = read_suite(&args.tests, &project)?;
    let objectives = project.objectives(&args.criteria.request(), &observer)?;
    let coverage = project.measure(&objectives, &tests, args.measurement(), &cancel, &observer)?;
    output::text(&(table::render(&coverage.summary) + "\n"))?;
    if args.missing {
        output::text(&coverage.missing.iter().map(shown).collect::<String>())?;
    }
    if let Some(path) = &args.json {
        files::file(path, &coverage.summary.to_json())?;
    }
    Ok(match coverage.refused {
        _ if cancel.is_cancelled() => ExitCode::Interrupted,
        0 => ExitCode::Done,
        _ => ExitCode::Usage,
    })
}

/// A line for an objective that no test covers.
fn shown(missing: &MissingObjective) -> String {
    let MissingObjective { place, function, criterion, name, text } = missing;
    format!("{place}: {function} {criterion} {name}: {text}\n")
}
