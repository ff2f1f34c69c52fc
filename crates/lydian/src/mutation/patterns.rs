//! A user's own operators, from the settings.

use std::path::Path;

use lydian_inputs::settings::{MutantPattern, TomlStep};
use lydian_mutate::Pattern;

use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};

/// The operators that settings have as `[[mutate.pattern]]`.
///
/// # Errors
/// A pattern that is ill-formed, with its place in the file, and a name that stands twice.
pub fn patterns(config: &Configuration) -> Result<Vec<Pattern>, Error> {
    let mut all: Vec<Pattern> = Vec::new();
    for (index, MutantPattern { name, find, replace }) in
        config.settings.mutate.pattern.iter().enumerate()
    {
        let wrong = |key: &str, why: &str| {
            let way = [
                TomlStep::Value("mutate"),
                TomlStep::Value("pattern"),
                TomlStep::Element(index),
                TomlStep::Value(key),
            ];
            let what = format!("pattern `{name}`: {why}");
            Error::new(ErrorKind::Usage, config.wrong(&way, what)).note(
                "a pattern has a name, an expression to `match`, in which $a stands for any, and one to \
                 `replace` it with",
            )
        };
        let pattern = Pattern::new(name, find, replace)
            .map_err(|error| wrong(error.key, &error.to_string()))?;
        if all.iter().any(|known| known.name == pattern.name) {
            return Err(wrong("name", "another pattern has this name"));
        }
        all.push(pattern);
    }
    Ok(all)
}

/// The same from the settings that are nearest to a file.
///
/// # Errors
/// Settings that cannot be read, and those of [`patterns`].
pub(crate) fn patterns_near(file: &Path) -> Result<Vec<Pattern>, Error> {
    patterns(&Configuration::read(None, file)?)
}
