//! The tools that Lydian knows, and commands of the user's.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_base::cache::locate;

use super::dialect::Dialect;
use super::process::{self, Limits};
use crate::error::Error;

/// The time of a question for a tool's version.
const VERSION_TIME: Duration = Duration::from_secs(20);
/// The most characters of a version that are shown.
const LONGEST_VERSION: usize = 60;

/// A tool that checks programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checker {
    /// CBMC, by its name or path (Clarke, Kroening and Lerda).
    Cbmc(PathBuf),
    /// ESBMC, by its name or path (Gadelha and others).
    Esbmc(PathBuf),
    /// CPAchecker, by its name or path (Beyer and Keremoglu).
    CpaChecker(PathBuf),
    /// A command with places for the parts of a question.
    Command(CommandTemplate),
}

/// A command with places, such as `tool --timeout {time} {file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTemplate {
    words: Vec<String>,
}

/// A place in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The C files of the program, a word each.
    Files,
    /// The function that must not be called.
    Function,
    /// A file with the property in the language of verification tasks.
    Property,
    /// The seconds for the question.
    Time,
    /// The memory in megabytes.
    Memory,
    /// The bits of an address: 32 or 64.
    Model,
    /// A file for the tool's witness.
    Witness,
}

impl Place {
    const ALL: [(&'static str, Self); 7] = [
        ("{file}", Self::Files),
        ("{function}", Self::Function),
        ("{property}", Self::Property),
        ("{time}", Self::Time),
        ("{memory}", Self::Memory),
        ("{model}", Self::Model),
        ("{witness}", Self::Witness),
    ];
}

impl FromStr for Checker {
    type Err = String;

    /// Reads a tool's name, its path, or a command with places.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('{') || text.trim().contains(char::is_whitespace) {
            return CommandTemplate::read(text).map(Self::Command);
        }
        let path = PathBuf::from(text);
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match name.split('.').next().unwrap_or_default() {
            "cbmc" => Ok(Self::Cbmc(path)),
            "esbmc" => Ok(Self::Esbmc(path)),
            "cpachecker" | "cpa" => Ok(Self::CpaChecker(path)),
            _ => Err(format!(
                "`{text}` is no tool that is known; there are cbmc, esbmc and cpachecker, and commands \
                 with a place for the program, such as `tool --timeout {{time}} {{file}}`"
            )),
        }
    }
}

impl CommandTemplate {
    fn read(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("`{text}` has a quote that does not end"))?;
        if !words.iter().any(|word| word == "{file}") {
            return Err(format!(
                "`{text}` has no word `{{file}}`, where the program's file stands"
            ));
        }
        for word in &words {
            let mut rest = word.as_str();
            for (name, _) in Place::ALL {
                if rest.contains(name) {
                    rest = rest.split(name).next().unwrap_or_default();
                }
            }
            if let Some(at) = rest.find('{') {
                let names = Place::ALL.map(|(name, _)| name).join(", ");
                return Err(format!("`{}` is no place; there are {names}", &rest[at..]));
            }
        }
        Ok(Self { words })
    }

    /// The words after the program's name, with the places filled.
    pub(super) fn arguments(&self, of: impl Fn(Place) -> Vec<String>) -> Vec<String> {
        let mut filled = Vec::new();
        for word in &self.words[1..] {
            match Place::ALL.iter().find(|(name, _)| word == name) {
                Some((_, place)) => filled.extend(of(*place)),
                None => {
                    let places = Place::ALL.into_iter();
                    let whole = places.fold(word.clone(), |word, (name, place)| {
                        match word.contains(name) {
                            true => word.replace(name, &of(place).join(" ")),
                            false => word,
                        }
                    });
                    filled.push(whole);
                }
            }
        }
        filled
    }
}

impl Checker {
    /// The program's name or path.
    pub fn program(&self) -> &Path {
        match self {
            Self::Cbmc(path) | Self::Esbmc(path) | Self::CpaChecker(path) => path,
            Self::Command(template) => Path::new(&template.words[0]),
        }
    }

    /// The C that the tool understands.
    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Cbmc(_) => Dialect::Cbmc,
            _ => Dialect::VerificationTask,
        }
    }

    /// The program's file.
    pub(super) fn find(&self) -> Result<PathBuf, Error> {
        let program = self.program();
        let found =
            locate(program.as_os_str()).and_then(|place| match program.components().count() {
                1 => Some(place),
                // The tool runs in a folder of its own.
                _ => place.canonicalize().ok().filter(|place| place.is_file()),
            });
        found.ok_or_else(|| {
            let message = format!("there is no program `{}`", program.display());
            let error = Error::environment("checker", message);
            error.note("`--checker` takes the name of a tool on the `PATH`, or its path")
        })
    }

    /// The tool's name with its version, as far as it tells it.
    pub(super) fn version(&self, program: &Path) -> String {
        let name =
            program.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into());
        let limits = Limits { time: VERSION_TIME, memory: None };
        let arguments = ["--version".to_owned()];
        let folder = env::temp_dir();
        let asked = process::run(program, &arguments, &folder, limits, &CancelToken::new());
        let told = asked.ok().filter(|ended| ended.status.is_some_and(|status| status.success()));
        let told = told.and_then(|ended| {
            let line = ended.output.lines().map(str::trim).find(|line| !line.is_empty())?;
            Some(line.chars().take(LONGEST_VERSION).collect::<String>())
        });
        match told {
            Some(version) if version.to_lowercase().starts_with(&name.to_lowercase()) => version,
            Some(version) => format!("{name} {version}"),
            None => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_name_wherever_it_lies() {
        let cbmc = |text: &str| Checker::from_str(text) == Ok(Checker::Cbmc(PathBuf::from(text)));
        assert!(cbmc("cbmc") && cbmc("/opt/cbmc/bin/cbmc"));
        assert!(matches!("cpachecker".parse(), Ok(Checker::CpaChecker(_))));
        assert!(matches!("esbmc".parse(), Ok(Checker::Esbmc(_))));
        assert!(Checker::from_str("gcc").is_err());
    }

    #[test]
    fn places_of_a_command_are_filled_word_by_word() {
        let Ok(Checker::Command(template)) = "t -k '{time} s' --bits={model} {file}".parse() else {
            panic!("a template")
        };
        let arguments = template.arguments(|place| match place {
            Place::Files => vec!["a b.i".to_owned(), "c.i".to_owned()],
            Place::Time => vec!["7".to_owned()],
            Place::Model => vec!["32".to_owned()],
            other => panic!("{other:?}"),
        });
        assert_eq!(arguments, ["-k", "7 s", "--bits=32", "a b.i", "c.i"]);
    }

    #[test]
    fn a_command_without_a_program_or_with_an_unknown_place_is_refused() {
        for text in ["t --fast", "t {files}", "t {file} {nothing}", "t '{file}"] {
            assert!(Checker::from_str(text).is_err(), "{text}");
        }
    }
}
