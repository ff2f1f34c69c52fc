//! `lydian ir`: the program as the engines see it.

use crate::args::IrArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use lydian::Project;

pub(crate) fn run(args: &IrArgs) -> Result<ExitCode, Failure> {
    let request = args.source.request(args.source.configuration()?);
    let project = Project::load(&request, &Terminal::new())?;
    crate::output::text(&lydian_ir::text::print(project.program()))?;
    Ok(ExitCode::Done)
}
