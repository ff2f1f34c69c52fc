//! What a project is loaded from.

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
    /// Which values are decisions, too.
    pub value_decisions: ValueDecisions,
    /// How `main` is tested, where the program may be tested as a whole.
    pub program: Option<WholeProgramRequest>,
    /// The settings.
    pub configuration: Configuration,
}

impl ProjectRequest {
    /// All functions of a file, with its flags and without settings.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// How its files are lowered.
    pub(crate) const fn lowering(&self) -> LoweringOptions {
        LoweringOptions { value_decisions: self.value_decisions, outlines: false }
    }
}

/// A program that is tested as a whole: tests run `main`, and what it asks for are its inputs. It is
/// tested so where anything here asks for that, or where its text asks for inputs in the way of
/// verifiers and no functions are named.
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
    /// Whether it asks for a whole program, whatever the text says.
    pub(crate) const fn is_asked_for(&self) -> bool {
        self.always || self.arguments.is_some() || self.stdin.is_some() || self.files.is_some()
    }
}

/// How many arguments `main` gets, and how long they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentBounds {
    /// The least number of arguments.
    pub least: u32,
    /// The greatest number of arguments.
    pub most: u32,
    /// The most characters of each.
    pub length: u32,
}

/// How many files a program may read as inputs, and how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBounds {
    /// The number of files, which are called A, B and so on.
    pub count: u32,
    /// The most bytes of each.
    pub bytes: u32,
}
