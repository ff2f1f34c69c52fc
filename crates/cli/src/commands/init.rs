//! `lydian init`: a commented file of settings with observations from exploring the functions, or with
//! guesses for planned inputs.

use std::path::PathBuf;
use std::time::Duration;

use lydian::{CONFIGURATION_FILE, Configuration, Project, files};

use crate::args::InitArgs;
use crate::exit::{ExitCode, Failure};
use crate::progress::Terminal;
use crate::{interrupt, output};

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let beside = || args.source.file.with_file_name(CONFIGURATION_FILE);
    let file: PathBuf = args.output.clone().unwrap_or_else(beside);
    if file.exists() && !args.force {
        let message = format!("{} is there already", file.display());
        return Err(Failure::usage("configuration", message)
            .note("give another name with `-o`, or `--force` to write over it"));
    }
    if !(args.time.is_finite() && args.time >= 0.0) {
        return Err(Failure::usage("arguments", "--time takes a number of seconds"));
    }
    // The written file does not depend on existing settings.
    let request = args.source.request(Configuration::default());
    let project = Project::load(&request, &Terminal::new())?;
    let text = match args.planned {
        true => project.planned_settings(),
        false => {
            project.require_x86_64()?;
            let cancel = interrupt::install()?;
            project.learned_settings(Duration::from_secs_f64(args.time), &cancel)?
        }
    };
    files::file(&file, &text)?;
    output::text(&format!("wrote {}\n", file.display()))?;
    Ok(ExitCode::Done)
}
