//! The request for loading a project.

use std::path::PathBuf;

use lydian_frontend::lower::{LoweringOptions, ValueDecisions};
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;

/// A C file with its flags and settings, and the functions of it that are to be tested.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ProjectRequest {
    /// The C file.
    pub file: PathBuf,
    /// Other files of the program: C files, and compilation databases, which stand for all their files.
    pub with: Vec<PathBuf>,
    /// The functions by their names; none for all that the file defines.
    pub functions: Vec<String>,
    /// The compiler's flags. Without any, those of the compilation database.
    pub flags: Vec<String>,
    /// The compilation database; none for the nearest, if there is one.
    pub compile_commands: Option<PathBuf>,
    /// The values that count as decisions, too.
    pub value_decisions: ValueDecisions,
    /// The options for testing `main`, if the program may be tested as a whole.
    pub program: Option<WholeProgramRequest>,
    /// The settings.
    pub configuration: Configuration,
}

impl ProjectRequest {
    /// All functions of a file, with its flags and without settings.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// The options for lowering its files.
    pub(crate) const fn lowering(&self) -> LoweringOptions {
        LoweringOptions { value_decisions: self.value_decisions, outlines: false }
    }
}

/// A program that is tested as a whole: tests run `main`, and the values that it reads are its inputs.
/// A program is tested so if anything here requests it, or if no functions are named and its text has
/// inputs in the style of verifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeProgramRequest {
    /// Whether it is tested so in any case.
    pub always: bool,
    /// The arguments that it gets; none for no arguments.
    pub arguments: Option<ArgumentBounds>,
    /// The most bytes of standard input, where that is an input.
    pub stdin: Option<u32>,
    /// The files that it may read as inputs.
    pub files: Option<FileBounds>,
}

impl WholeProgramRequest {
    /// Whether it requests a whole program independently of the text.
    pub(crate) const fn is_asked_for(&self) -> bool {
        self.always || self.arguments.is_some() || self.stdin.is_some() || self.files.is_some()
    }
}

/// The number of arguments of `main`, and their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentBounds {
    /// The least number of arguments.
    pub least: u32,
    /// The greatest number of arguments.
    pub most: u32,
    /// The most characters of each.
    pub length: u32,
}

/// The number and size of the files that a program may read as inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBounds {
    /// The number of files, which are called A, B and so on.
    pub count: u32,
    /// The most bytes of each.
    pub bytes: u32,
}
