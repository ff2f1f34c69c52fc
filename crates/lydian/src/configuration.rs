//! Finding and reading `lydian.toml`.

use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Place};
use lydian_inputs::Settings;
use lydian_inputs::settings::{Position, TomlStep};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The name of the file of settings.
pub const FILE: &str = "lydian.toml";

/// Settings, and the folder that paths in them are relative to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// The settings.
    pub settings: Settings,
    /// The file that they come from, if there is one.
    pub file: Option<PathBuf>,
    /// Its text.
    pub text: String,
}

impl Configuration {
    /// The file that they come from, as messages name it.
    pub fn path(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Some(file.display().to_string())
    }

    /// The position of a setting in the file.
    pub fn position(&self, way: &[TomlStep<'_>]) -> Option<Position> {
        Position::find(&self.text, way)
    }

    /// The place of a setting in the file; of the enclosing one if it is not there.
    pub fn place(&self, way: &[TomlStep<'_>]) -> Option<Place> {
        let file = self.path()?.into();
        let mut steps = (1..=way.len()).rev();
        let at = steps.find_map(|count| self.position(&way[..count]))?;
        Some(Place { file, line: at.line as u32, column: at.byte_column as u32 })
    }

    /// An error about a setting in the file.
    pub fn wrong(&self, way: &[TomlStep<'_>], why: impl Into<String>) -> Diagnostic {
        let wrong = Diagnostic::error("configuration", why);
        match self.place(way) {
            Some(place) => wrong.at(place),
            None => wrong,
        }
    }

    /// Reads the file named, or the nearest `lydian.toml` beside or above the source file; none is no
    /// error.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn read(named: Option<&Path>, source: &Path) -> Result<Configuration, Error> {
        let Some(file) = named.map(Path::to_owned).or_else(|| nearest(source)) else {
            return Ok(Configuration::default());
        };
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Error::usage("configuration", format!("cannot read {}: {error}", file.display()))
        })?;
        let settings = Settings::from_toml_str(&text).map_err(|error| {
            Error::usage("configuration", format!("{}: {error}", file.display()))
                .note("`lydian init` writes a file that shows every setting")
        })?;
        Ok(Configuration { settings, file: Some(file), text })
    }

    /// The C files that define functions which the program leaves undefined.
    pub fn stubs(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        self.settings.stubs.iter().map(move |stub| folder.join(stub))
    }
}

fn nearest(source: &Path) -> Option<PathBuf> {
    let source = std::path::absolute(source).ok()?;
    let found = source.ancestors().skip(1).map(|folder| folder.join(FILE));
    found.into_iter().find(|file| file.is_file())
}
