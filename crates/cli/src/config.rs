//! Finding and reading `lydian.toml`.

use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Place};
use lydian_inputs::Settings;
use lydian_inputs::settings::{Position, Within};

use crate::exit::Failure;

/// The name of the file of settings.
pub(crate) const FILE: &str = "lydian.toml";

/// Settings, and the folder that paths in them are relative to.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    /// The file that they come from, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// Its text.
    pub(crate) text: String,
}

impl Config {
    /// The file that they come from, as messages name it.
    pub(crate) fn path(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Some(file.display().to_string())
    }

    /// Where something stands in the file.
    pub(crate) fn position(&self, way: &[Within<'_>]) -> Option<Position> {
        Position::find(&self.text, way)
    }

    /// The place of something in the file, or of what it lies in.
    pub(crate) fn place(&self, way: &[Within<'_>]) -> Option<Place> {
        let file = self.path()?.into();
        let mut steps = (1..=way.len()).rev();
        let at = steps.find_map(|count| self.position(&way[..count]))?;
        Some(Place { file, line: at.line as u32, column: at.byte_column as u32 })
    }

    /// That something in the file is wrong.
    pub(crate) fn wrong(&self, way: &[Within<'_>], why: impl Into<String>) -> Diagnostic {
        let wrong = Diagnostic::error("configuration", why);
        match self.place(way) {
            Some(place) => wrong.at(place),
            None => wrong,
        }
    }

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
    Ok(Config { settings, file: Some(file), text })
}

fn nearest(source: &Path) -> Option<PathBuf> {
    let source = std::path::absolute(source).ok()?;
    let found = source.ancestors().skip(1).map(|folder| folder.join(FILE));
    found.into_iter().find(|file| file.is_file())
}
