//! `lydian gen`: finds tests, runs them, proves objectives infeasible, and writes the results to a
//! folder.

use std::fmt::Write as _;

use lydian::{
    ChangeImpact, Diagnostic, FailingTest, FunctionImpact, FunctionShare, GenerationEnd, Generator,
    GeneratorOptions, Project, ProjectRequest,
};

use super::old_version;

use crate::args::GenArgs;
use crate::exit::{ExitCode, Failure};
use crate::tracing::Tracing;
use crate::{guesses, interrupt, output, render, table};

/// The most tests that are named for one function.
const MOST_NAMED: usize = 6;

pub(crate) fn run(args: &GenArgs) -> Result<ExitCode, Failure> {
    let cancel = interrupt::install()?;
    let observer = Tracing::begin(args.records.trace.as_deref())?;
    let program = Some(args.program.request()?);
    let request = args.source.request(args.source.configuration()?);
    let request = ProjectRequest { program, ..request };
    let project = Project::load(&request, &observer)?;
    project.require_x86_64()?;
    output::text(&guesses::render(project.guesses()))?;
    let objectives = project.objectives(&args.objectives(), &observer)?;
    let impact = old_version::impact(&args.change, (&project, &request), &objectives, &observer)?;
    let shown_impact = impact.as_ref().map(shown_impact).unwrap_or_default();
    let mut options = GeneratorOptions { impact, ..args.options() };
    // Most code has no objective that is asked for then.
    options.exploration.merge_silent_code = options.impact.is_some();
    let generator = Generator::new(&project, &objectives, options);
    let generation = generator.run(&cancel, &observer)?;
    let traced = observer.end();
    let mut text = table::render(&generation.summary) + "\n";
    text += &shown_impact;
    text.extend(generation.shares.iter().map(shown_share));
    for FailingTest { name, ending } in &generation.failing {
        text += &format!("{name}: {ending}\n");
    }
    output::text(&text)?;
    generation.written?;
    traced?;
    Ok(match generation.end {
        GenerationEnd::Done => ExitCode::Done,
        GenerationEnd::WrongInputs => ExitCode::Usage,
        GenerationEnd::Contradiction => ExitCode::Internal,
        GenerationEnd::Interrupted => {
            let what = "stopped by the user; the same command goes on from here";
            render::diagnostics(&[Diagnostic::warning("interrupted", what)]);
            ExitCode::Interrupted
        }
    })
}

/// How many objectives of each function are impacted, and how many were left alone.
fn shown_impact(impact: &ChangeImpact) -> String {
    let mut text = String::new();
    for FunctionImpact { function, impacted, all } in &impact.counts {
        let alone = all - impacted;
        let _ = writeln!(
            text,
            "{function}: {impacted} of {all} objectives are impacted, {alone} were left alone"
        );
    }
    text
}

/// A line with the tests of a program that cover something of one of its functions.
fn shown_share(FunctionShare { function, tests }: &FunctionShare) -> String {
    let named: Vec<&str> = tests.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match tests.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.is_empty() {
        true => String::new(),
        false => format!("{function}: covered by {}{more}\n", named.join(", ")),
    }
}
