//! Arguments of `lydian diff`.

use std::path::PathBuf;

use clap::Args;

use super::seconds;

#[derive(Debug, Args)]
#[command(after_help = "lydian diff old/queue.c queue.c --tests differences/ -- -Iinclude")]
pub(crate) struct DiffArgs {
    /// The old version of a C file
    pub(crate) old: PathBuf,
    /// The new version
    pub(crate) new: PathBuf,
    /// Only this function; may be given again [default: every function of either version]
    #[arg(long = "function", short = 'f', value_name = "NAME")]
    pub(crate) functions: Vec<String>,
    /// Seconds for each function
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time: f64,
    /// How many elements a pointer among the parameters leads to
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) elements: u64,
    /// Write a C program for each function that differs into this folder, which shows the difference
    #[arg(long, value_name = "DIR")]
    pub(crate) tests: Option<PathBuf>,
    /// Write the results as JSON too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Take the compiler flags of the new version from this compile_commands.json
    #[arg(long, value_name = "FILE", conflicts_with = "flags")]
    pub(crate) compile_commands: Option<PathBuf>,
    /// A compiler flag of the old version, in place of those of the new one; may be given again
    #[arg(long = "old-flag", value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) old_flags: Vec<String>,
    /// Compiler flags of both versions
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}
