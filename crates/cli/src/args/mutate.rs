//! Arguments of `lydian mutate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use lydian::mutation::Operator;

use super::seconds;

#[derive(Debug, Args)]
#[command(after_help = "lydian mutate queue.c --tests tests/\n\
                        lydian mutate src/queue.c --build 'make CC=\"$CC\"' --test './check'")]
pub(crate) struct MutateArgs {
    /// The C files with mutants [default with --test: all that the build compiled]
    pub(crate) files: Vec<PathBuf>,
    /// A suite that `lydian gen` wrote: its folder
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["test", "build"],
        required_unless_present = "test",
        requires = "files"
    )]
    pub(crate) tests: Option<PathBuf>,
    /// A command that tests the program, with $CC set to a compiler that builds in mutants; each one is a
    /// test, so it may be given again
    #[arg(long, value_name = "COMMAND")]
    pub(crate) test: Vec<String>,
    /// A command that builds the program first, with $CC
    #[arg(long, value_name = "COMMAND", requires = "test")]
    pub(crate) build: Option<String>,
    /// Only mutants on lines that changed since this commit, or in this range, as `git diff` has it
    #[arg(long, value_name = "REVISION")]
    pub(crate) since: Option<String>,
    /// Only mutants of this function; may be given again
    #[arg(long = "function", short = 'f', value_name = "NAME")]
    pub(crate) functions: Vec<String>,
    /// Only these operators, separated by commas
    #[arg(long, value_name = "OPERATORS", value_delimiter = ',')]
    pub(crate) operators: Vec<Operator>,
    /// How many tests run at once [default: as many as there are cores, with --test 1]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run all tests that infect a mutant, not only until one kills it: results then have all kills, and say
    /// which mutants others subsume
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// A test's time on a mutant: so many times its time on the program, and half a second more
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) time_factor: u32,
    /// Seconds for running tests on mutants: those that are left then have no result, and the same command
    /// goes on with them [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) run_time: Option<f64>,
    /// Seconds for proofs that survivors of a file are equivalent; 0 leaves them out
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = seconds)]
    pub(crate) proof_time: f64,
    /// Run all tests anew: do not take over results of earlier runs
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Make tests that kill the mutants which are alive, and write them as a suite of their own into this
    /// folder; for one file, with its compiler flags after `--` or in a compilation database
    #[arg(long, value_name = "DIR", requires = "files")]
    pub(crate) generate: Option<PathBuf>,
    /// Seconds for --generate for each function with mutants that are alive
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub(crate) time: f64,
    /// The store of the build [default: $LYDIAN_DIR, else .lydian in the project's root]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// How many survivors are shown as diffs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) show: usize,
    /// Write all results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the results as JSON of mutation-testing-elements
    #[arg(long, value_name = "FILE")]
    pub(crate) elements: Option<PathBuf>,
    /// Write the results as a page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Exit with code 1 if less than so many percent of the mutants are killed
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fail_under: Option<f64>,
    /// Compiler flags of the suite
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}
