//! `lydian harvest`: what runs covered, for other programs.

use lydian_native::cc::Store;

use crate::args::HarvestArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;
use crate::wrapper::unit::absolute;

pub(crate) fn run(args: &HarvestArgs) -> Result<ExitCode, Failure> {
    let directory = std::env::current_dir().map_err(|error| {
        Failure::environment("harvest", format!("the current directory cannot be found: {error}"))
    })?;
    let store = match &args.dir {
        Some(path) => Store::at(absolute(&directory, path)),
        None => Store::locate(&directory),
    };
    let coverage = crate::harvest::harvest(&store);
    let text = serde_json::to_string_pretty(&coverage).map_err(|error| {
        Failure::environment("harvest", format!("the coverage cannot be written: {error}"))
    })?;
    output::text(&(text + "\n"))?;
    Ok(ExitCode::Done)
}
