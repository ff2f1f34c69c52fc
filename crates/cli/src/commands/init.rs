//! `lydian init`: a commented file of settings with what is guessed about the inputs.

use lydian_inputs::write_toml::write_toml;

use crate::args::InitArgs;
use crate::exit::{ExitCode, Failure};
use crate::{config, load, output};

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    if args.output.exists() && !args.force {
        let message = format!("{} is there already", args.output.display());
        return Err(Failure::usage("configuration", message)
            .note("give another name with `-o`, or `--force` to write over it"));
    }
    // What is guessed does not depend on settings that are there already.
    let loaded = load::load(&args.source, config::Config::default())?;
    let text = write_toml(&loaded.program, &loaded.functions);
    output::file(&args.output, &text)?;
    output::text(&format!("wrote {}\n", args.output.display()))?;
    Ok(ExitCode::Done)
}
