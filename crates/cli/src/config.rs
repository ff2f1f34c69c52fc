//! Finding and reading `lydian.toml`.

use std::path::{Path, PathBuf};

use lydian_inputs::Settings;

use crate::exit::Failure;

/// The name of the file of settings.
pub(crate) const FILE: &str = "lydian.toml";

/// Settings, and the folder that paths in them are relative to.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    /// The file that they come from, if there is one.
    pub(crate) file: Option<PathBuf>,
}

impl Config {
    /// The C files that define functions which the program leaves undefined.
    pub(crate) fn stubs(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        self.settings.stubs.iter().map(move |stub| folder.join(stub))
    }
}

/// Reads the file named, or the nearest `lydian.toml` beside or above the source file; none is no
/// error.
pub(crate) fn read(named: Option<&Path>, source: &Path) -> Result<Config, Failure> {
    let Some(file) = named.map(Path::to_owned).or_else(|| nearest(source)) else {
        return Ok(Config::default());
    };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Failure::usage("configuration", format!("cannot read {}: {error}", file.display()))
    })?;
    let settings = Settings::from_toml_str(&text).map_err(|error| {
        Failure::usage("configuration", format!("{}: {error}", file.display()))
            .note("`lydian init` writes a file that shows every setting")
    })?;
    Ok(Config { settings, file: Some(file) })
}

fn nearest(source: &Path) -> Option<PathBuf> {
    let source = std::path::absolute(source).ok()?;
    let found = source.ancestors().skip(1).map(|folder| folder.join(FILE));
    found.into_iter().find(|file| file.is_file())
}
