//! Arguments of the commands about proofs.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lydian_objective::criterion::set::CriterionChoice;

use super::{CheckerArgs, OtherToolArgs, SearchArg, SemanticsArg, seconds};

#[derive(Debug, Args)]
#[command(
    after_help = "lydian prove program.c --time 60 -- -m32\nlydian prove program.c --criteria all-uses"
)]
pub(crate) struct ProveArgs {
    /// The C files of the program, or a compile_commands.json, which stands for all its files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Decide the objectives of these criteria, of the whole program, instead of errors: criteria and sets
    /// of criteria, separated by commas
    #[arg(long, short = 'c', value_delimiter = ',')]
    pub(crate) criteria: Vec<CriterionChoice>,
    /// With criteria: only the objectives of this function; may be given again
    #[arg(long = "function", short = 'f', value_name = "NAME", requires = "criteria")]
    pub(crate) functions: Vec<String>,
    /// With criteria: the value of a condition that evaluation does not reach
    #[arg(long, value_enum, default_value_t = SemanticsArg::ThreeValued)]
    pub(crate) semantics: SemanticsArg,
    /// With criteria: a file of hyperlabels, for the criterion `htol`
    #[arg(long, value_name = "FILE", requires = "criteria")]
    pub(crate) htol: Vec<PathBuf>,
    /// Seconds for all proofs together
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time: f64,
    /// Who looks for answers: the engines of proofs, the exploration of paths, or both
    #[arg(long, value_enum, default_value = "together")]
    pub(crate) provers: ProversArg,
    /// With criteria: which state the exploration of paths takes next
    #[arg(long, value_enum, default_value_t = SearchArg::Mixed, requires = "criteria")]
    pub(crate) search: SearchArg,
    /// How many threads work at once; with one, both parties take turns [default: as many as there are
    /// cores]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Also write a C file for each error that is reached, or for each set of inputs that covers
    /// objectives, to be linked with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) tests: Option<PathBuf>,
    /// Also write the answers as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a certificate of each proof into this folder, for `lydian check`
    #[arg(long, value_name = "DIR")]
    pub(crate) certificates: Option<PathBuf>,
    /// Keep the answers in this ledger: a later run on the same program with no more effort takes them over.
    /// With criteria: also record what no run covers, with its certificates; `gen` keeps a ledger in its
    /// folder of tests, `ledger.sqlite`
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// With a ledger: prove again what an earlier run answered
    #[arg(long, requires = "ledger", conflicts_with = "criteria")]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) other_tools: OtherToolArgs,
    #[command(flatten)]
    pub(crate) outside: CheckerArgs,
    /// Take the compiler flags from this compile_commands.json
    #[arg(long, value_name = "FILE")]
    pub(crate) compile_commands: Option<PathBuf>,
    /// Compiler flags
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}

/// Who looks for answers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProversArg {
    Together,
    Engines,
    Exploration,
}

#[derive(Debug, Args)]
#[command(after_help = "lydian prove program.c --certificates proofs && lydian check proofs")]
pub(crate) struct CheckArgs {
    /// Certificates that `prove --certificates` wrote, folders of them, or ledgers: then the certificates that
    /// their verdicts rest on
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Seconds for each condition
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time: f64,
    /// The solver [default: z3, else cvc5]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) solver: Option<PathBuf>,
    /// Also write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}
