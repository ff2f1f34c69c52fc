//! `lydian ir`: the program as the engines see it.

use crate::args::IrArgs;
use crate::exit::{ExitCode, Failure};
use crate::{config, load};

pub(crate) fn run(args: &IrArgs) -> Result<ExitCode, Failure> {
    let config = config::read(args.source.config.as_deref(), &args.source.file)?;
    let loaded = load::load(&args.source, config)?;
    crate::output::text(&lydian_ir::text::print(&loaded.program))?;
    Ok(ExitCode::Done)
}
