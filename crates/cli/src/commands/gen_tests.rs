//! `lydian gen`: finds tests, runs them, proves objectives infeasible, and writes the results to a
//! folder.

use lydian::{
    Diagnostic, FailingTest, FunctionShare, GenerationEnd, Generator, Project, ProjectRequest,
};

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
    let project = Project::load(&ProjectRequest { program, ..request }, &observer)?;
    project.require_x86_64()?;
    output::text(&guesses::render(project.guesses()))?;
    let objectives = project.objectives(&args.objectives(), &observer)?;
    let generator = Generator::new(&project, &objectives, args.options());
    let generation = generator.run(&cancel, &observer)?;
    let traced = observer.end();
    let mut text = table::render(&generation.summary) + "\n";
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
