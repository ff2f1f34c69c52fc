//! `lydian ir`: the program, or functions of it, as the engines see it.

use crate::args::IrArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use lydian::Project;
use lydian_ir::text;

pub(crate) fn run(args: &IrArgs) -> Result<ExitCode, Failure> {
    let request = args.source.request(args.source.configuration()?);
    let project = Project::load(&request, &Terminal::new())?;
    let shown = match args.source.functions.is_empty() {
        true => text::print(project.program()),
        false => {
            let chosen = project.functions().iter();
            let texts = chosen.map(|id| text::print_function(project.program(), *id));
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    crate::output::text(&shown)?;
    Ok(ExitCode::Done)
}
