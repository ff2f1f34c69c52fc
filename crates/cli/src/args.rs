//! The command line.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lydian_objective::criterion::set::{self, CriterionChoice};
use lydian_objective::{AcceptedAssumptions, Criterion};
use lydian_report::exports::{gcov_json, lcov};
use lydian_report::filters::paths::PathPattern;
use lydian_report::totals::thresholds::Threshold;

mod augmentation;
mod change;
mod checker;
mod diff;
mod for_other_tools;
mod mutate;
mod proofs;

pub(crate) use augmentation::AugmentationArgs;
pub(crate) use change::ChangeArgs;
pub(crate) use checker::CheckerArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use for_other_tools::OtherToolArgs;
pub(crate) use mutate::MutateArgs;
pub(crate) use proofs::{CheckArgs, ProveArgs, ProversArg};

/// Says what tests of a C program must reach, measures what they reach, writes those that are
/// missing, and proves what no test can reach.
#[derive(Debug, Parser)]
#[command(name = "lydian", version, max_term_width = 100)]
#[command(after_help = "Compiler flags follow `--`: lydian gen src/parse.c -- -Iinclude -DNDEBUG")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Write what Lydian does to standard error: a level (`info`, `debug`), or levels of crates, as in
    /// `info,lydian_symex=debug` [default: $LYDIAN_LOG, else nothing]
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write tests that reach the objectives, and say which objectives none can reach
    Gen(GenArgs),
    /// Measure which objectives a folder of tests covers
    Cover(CoverArgs),
    /// List the objectives, each with its place and predicate
    Objectives(ObjectivesArgs),
    /// Say what is known of some objectives: the verdict, tests, the argument and its assumptions
    Explain(ExplainArgs),
    /// Write a commented lydian.toml with what Lydian guesses about the inputs
    Init(InitArgs),
    /// Compile and link with another compiler, and measure what runs of the program cover
    Cc(CcArgs),
    /// Print the intermediate representation of a file, or of the functions that are named alone
    Ir(IrArgs),
    /// Show what runs of instrumented programs covered, in every form
    Report(ReportArgs),
    /// Say which tests covered what, and which are to be run after a change
    Tests(TestsArgs),
    /// Run a test, so that what it covers is known as its own
    Mark(MarkArgs),
    /// Say which mutants of a program its tests kill, and show the others as diffs
    Mutate(MutateArgs),
    /// Say which functions two versions of a file have in common, and show inputs on which others differ
    Diff(DiffArgs),
    /// Show what `gen --trace` wrote: the tree of each exploration
    Trace(TraceArgs),
    /// Run the tests again that internal errors left: what was claimed, and what the runs show
    Replay(ReplayArgs),
    /// Prove that no input leads a program to a call of an error function, or find inputs that do
    Prove(ProveArgs),
    /// Check certificates of proofs with z3 or cvc5
    Check(CheckArgs),
    /// Run a program's main in the interpreter, which names undefined behaviour and its place
    Run(RunArgs),
}

impl Command {
    /// Whether it parses C with clang, surely and first of all.
    pub(crate) const fn parses(&self) -> bool {
        !matches!(
            self,
            // A replay parses in the folder of the case, which is not known yet.
            Self::Cc(_)
                | Self::Mutate(_)
                | Self::Report(_)
                | Self::Check(_)
                | Self::Explain(_)
                | Self::Trace(_)
                | Self::Replay(_)
        )
    }
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The file that `gen --trace` wrote
    pub(crate) file: PathBuf,
    /// Only the explorations of this function
    #[arg(long, short, value_name = "NAME")]
    pub(crate) function: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "lydian replay tests/unconfirmed/*.json")]
pub(crate) struct ReplayArgs {
    /// The files that `gen` kept in the folder `unconfirmed` of its tests
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// What every command that reads C takes.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// The C file
    pub(crate) file: PathBuf,
    /// Another C file of the program, or a compile_commands.json for all its files: functions that
    /// they define are followed and linked; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Vec<PathBuf>,
    /// A function of the file; may be given again [default: every function it defines]
    #[arg(long = "function", short = 'f', value_name = "NAME")]
    pub(crate) functions: Vec<String>,
    /// Settings of the project [default: lydian.toml beside the file or in a folder above it]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Take the compiler flags from this compile_commands.json
    #[arg(long, value_name = "FILE", conflicts_with = "flags")]
    pub(crate) compile_commands: Option<PathBuf>,
    /// Which Boolean expressions that are used as values are decisions
    #[arg(long, value_enum, default_value_t = ValueDecisionsArg::WithOperators)]
    pub(crate) value_decisions: ValueDecisionsArg,
    /// Compiler flags
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}

/// What whole programs are tested with.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Whole programs")]
pub(crate) struct ProgramArgs {
    /// Tests run main from the program's start, whatever function they are to reach [default: where
    /// the program asks for inputs itself, as by `__VERIFIER_nondet_int()`, and no function is named]
    #[arg(long)]
    pub(crate) program: bool,
    /// The arguments of main are inputs: how many there are, and how long they are at most
    #[arg(long, num_args = 3, value_names = ["MIN", "MAX", "LENGTH"])]
    pub(crate) sym_args: Vec<u32>,
    /// Standard input is an input, of so many bytes at most
    #[arg(long, value_name = "BYTES")]
    pub(crate) sym_stdin: Option<u32>,
    /// The files `A`, `B` and so on are inputs: how many, and how many bytes they have at most
    #[arg(long, num_args = 2, value_names = ["COUNT", "BYTES"])]
    pub(crate) sym_files: Vec<u32>,
}

/// What every command about objectives takes.
#[derive(Debug, Args)]
pub(crate) struct CriteriaArgs {
    #[arg(
        long,
        short = 'c',
        value_delimiter = ',',
        default_value = "stmt,bc,mcdc",
        help = criteria_help(),
        long_help = criteria_described()
    )]
    pub(crate) criteria: Vec<CriterionChoice>,
    /// The value of a condition that evaluation does not reach
    #[arg(long, value_enum, default_value_t = SemanticsArg::ThreeValued)]
    pub(crate) semantics: SemanticsArg,
    /// A file of hyperlabels, for the criterion `htol`
    #[arg(long, value_name = "FILE")]
    pub(crate) htol: Vec<PathBuf>,
}

impl CriteriaArgs {
    /// The criteria that are asked for.
    pub(crate) fn chosen(&self) -> Vec<Criterion> {
        CriterionChoice::together(&self.criteria)
    }
}

fn criteria_help() -> String {
    let names = set::names();
    format!("Criteria and sets of criteria, separated by commas ({names}); `--help` describes them")
}

fn fail_under_help() -> String {
    let criteria = Criterion::ALL.map(|(_, name)| name).join(", ");
    format!(
        "Exit with code 1 if a criterion ({criteria}) is covered to less than so many percent, of \
         everything, of a file or folder, or of each file that a pattern matches; may be given again"
    )
}

fn criteria_described() -> String {
    format!("Criteria and sets of criteria, separated by commas:\n{}", set::listed())
}

#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    #[command(flatten)]
    pub(crate) augmentation: AugmentationArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) confinement: ConfinementArgs,
    #[command(flatten)]
    pub(crate) exploration: ExplorationArgs,
    /// How many threads explore: each a function of its own, and where fewer functions are left,
    /// several one function together. Verdicts do not depend on it; tests are the same for the same
    /// number [default: as many as there are cores]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Kinds of assumptions under which infeasible counts though nobody stated them, separated by
    /// commas, or `all`; the same as `accept` in lydian.toml
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = kind_of_assumption)]
    pub(crate) accept: Vec<String>,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Try again what an earlier run with no less effort left open, instead of taking over its reasons
    #[arg(long)]
    pub(crate) again: bool,
    /// Forget what an earlier run found (the old ledger is kept under another name)
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) outside: CheckerArgs,
}

/// The files that generation leaves.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// The folder of the tests and the ledger
    #[arg(long, short, value_name = "DIR", default_value = "tests")]
    pub(crate) output: PathBuf,
    /// Write the tests in these forms too, separated by commas; `tests.json` and `tests.c` are always
    /// there
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMS")]
    pub(crate) format: Vec<FormatArg>,
    /// How small the suite is made that covers all that was covered
    #[arg(long, value_enum, value_name = "HOW", default_value_t = MinimiseArg::Exact)]
    pub(crate) minimise: MinimiseArg,
    /// Write the table as JSON too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Records of an exploration for people who look into it.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Write each fork, merge, end and question of the explorations, as lines of JSON that `lydian trace`
    /// shows as trees
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write each question to a solver as a file of SMT-LIB 2, with its answer, which another solver can
    /// answer again; files of an earlier run are replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) log_queries: Option<PathBuf>,
}

/// How paths are explored.
#[derive(Debug, Args)]
pub(crate) struct ExplorationArgs {
    /// How labels are explored
    #[arg(long, value_enum, default_value_t = ModeArg::Tight)]
    pub(crate) mode: ModeArg,
    /// In tight mode: which labels are asked for no more
    #[arg(long, value_enum, default_value_t = DeletionArg::Kept)]
    pub(crate) label_deletion: DeletionArg,
    /// Follow paths to their ends on which no objective is left, too
    #[arg(long)]
    pub(crate) no_look_ahead: bool,
    /// How far paths are explored
    #[arg(long, value_enum, default_value_t = ExploreArg::Needed)]
    pub(crate) explore: ExploreArg,
    /// Follow each way through a decision as a path of its own, and each side of a choice of values
    #[arg(long)]
    pub(crate) no_merge: bool,
    /// Follow each way through a loop or a call in which no objective is left as a path of its own
    #[arg(long, alias = "no-unite")]
    pub(crate) no_state_merging: bool,
    /// Leave out proofs over all runs, which have a quarter of the time for what exploration leaves
    #[arg(long)]
    pub(crate) no_proofs: bool,
    /// Which state goes next
    #[arg(long, value_enum, default_value_t = SearchArg::Mixed)]
    pub(crate) search: SearchArg,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// What code under test may do where it is run.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ConfinementArgs {
    /// Let code under test do what it likes: by itself it reads no files of yours, writes only in a folder
    /// that is removed, starts no processes, and reaches no other process and no network
    #[arg(long)]
    pub(crate) unconfined: bool,
}

/// Budgets. Each one that is hit is the stated reason of an unknown verdict.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitArgs {
    /// Seconds for each function
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time: f64,
    /// Milliseconds for each question to the solver
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    pub(crate) solver_time: u64,
    /// Finished paths for each function
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) max_paths: u64,
    /// States alive at once; where there are so many, paths are followed to their ends first
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_states: u64,
    /// Resident memory in MiB: where it is short, states that wait keep only what makes them again
    /// [default: half of what is available, at most 4096]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_memory: Option<u64>,
    /// Turns of one loop on one path
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) loop_bound: u32,
    /// Nested calls of one function on one path
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) recursion: u32,
    /// Milliseconds for one native test
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub(crate) test_time: u64,
}

/// Unless it is stated, no run takes more memory than so many MiB.
const MOST_MEMORY: u64 = 4096;

impl LimitArgs {
    /// What the whole process may have, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let half = || lydian_base::memory::available().map_or(u64::MAX, |bytes| (bytes / 2) >> 20);
        let mebibytes = self.max_memory.unwrap_or_else(|| half().clamp(64, MOST_MEMORY));
        mebibytes.saturating_mul(1 << 20)
    }
}

fn kind_of_assumption(text: &str) -> Result<String, String> {
    let known = AcceptedAssumptions::named([text]).map(|_| text.to_owned());
    known.map_err(|error| error.to_string())
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    match seconds >= 0.0 {
        true => Ok(seconds),
        false => Err("a time is not negative".into()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct CoverArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// A folder that `lydian gen` wrote, or tests in its JSON form; for a whole program also a folder or
    /// zip file of the Competition on Software Testing, or a folder or file of KLEE's (.ktest)
    #[arg(long, value_name = "DIR")]
    pub(crate) tests: PathBuf,
    /// Write the table as JSON too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// List the objectives that no test covers
    #[arg(long)]
    pub(crate) missing: bool,
    #[command(flatten)]
    pub(crate) confinement: ConfinementArgs,
    /// Milliseconds for one native test
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub(crate) test_time: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ObjectivesArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    /// Write the list as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// What all objectives that are meant have: a line, FILE:LINE, a function, a criterion, a name, a
    /// verdict, a test, or part of a predicate
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,
    /// The folder that `lydian gen` wrote
    #[arg(long, value_name = "FOLDER", default_value = "tests")]
    pub(crate) tests: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Where to write [default: lydian.toml beside the source file]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Explore each function for so many seconds at most, and all for sixty times as long
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time: f64,
    /// Write guesses about what pointers lead to instead, for inputs that are planned
    /// (`lazy-inputs = false`)
    #[arg(long)]
    pub(crate) planned: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "lydian run main.c list.c --stdin words.txt --args -v 3 -- -Iinclude")]
pub(crate) struct RunArgs {
    /// The C files of the program, or a compile_commands.json, which stands for all its files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// What the program reads [default: Lydian's own standard input, if that is no terminal]
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,
    /// Print how many steps it took, and how many a second
    #[arg(long)]
    pub(crate) steps: bool,
    /// Stop after so many steps
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// Take the compiler flags from this compile_commands.json
    #[arg(long, value_name = "FILE")]
    pub(crate) compile_commands: Option<PathBuf>,
    /// What follows, up to `--`, are the program's arguments
    #[arg(long, num_args = 0.., allow_hyphen_values = true, value_name = "ARG")]
    pub(crate) args: Vec<String>,
    /// Compiler flags
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,
}

impl RunArgs {
    /// The program's arguments and the compiler's flags. After `--args` even `--` is taken for an
    /// argument of the option's, so it is looked for here.
    pub(crate) fn split(&self) -> (Vec<String>, Vec<String>) {
        let end = self.args.iter().position(|word| word == "--");
        let (arguments, rest) = self.args.split_at(end.unwrap_or(self.args.len()));
        let flags = rest.iter().skip(1).chain(&self.flags);
        (arguments.to_vec(), flags.cloned().collect())
    }
}

#[derive(Debug, Args)]
#[command(after_help = "CC=\"lydian cc --criteria dc,mcc --\" ./configure && make && make check")]
pub(crate) struct CcArgs {
    #[arg(
        long,
        short = 'c',
        value_delimiter = ',',
        default_value = "stmt,bc,mcdc",
        help = criteria_help(),
        long_help = criteria_described()
    )]
    pub(crate) criteria: Vec<CriterionChoice>,
    /// The value of a condition that evaluation does not reach
    #[arg(long, value_enum, default_value_t = SemanticsArg::ThreeValued)]
    pub(crate) semantics: SemanticsArg,
    /// Which Boolean expressions that are used as values are decisions
    #[arg(long, value_enum, default_value_t = ValueDecisionsArg::WithOperators)]
    pub(crate) value_decisions: ValueDecisionsArg,
    /// A file of hyperlabels and paths, for the criteria `htol` and `spc`; may be given again. With a
    /// file and neither of them `htol` is measured too
    #[arg(long, value_name = "FILE")]
    pub(crate) htol: Vec<PathBuf>,
    /// The compiler, unless the first word after `--` is one [default: $LYDIAN_CC, else clang-19]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) compiler: Option<String>,
    /// Where counters and notes are kept [default: $LYDIAN_DIR, else .lydian in the project's root]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Keep the compiler from putting records off, so that not even a crash inside a loop that calls
    /// nothing loses one, and judge mutants in every pass, which is slow
    #[arg(long)]
    pub(crate) exact: bool,
    /// Count how often lines, branches and functions run, too, which slows the program; `atomic` loses
    /// no count where threads run at once, and costs more
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "plain")]
    pub(crate) counts: Option<CountsArg>,
    /// Build in the mutants of these files instead of measurement [default: of each file that is
    /// compiled]; `lydian mutate` runs tests on them
    #[arg(long, value_name = "FILES", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub(crate) mutants: Option<Vec<PathBuf>>,
    /// The compiler's command line
    #[arg(last = true, value_name = "[COMPILER] ARGUMENTS")]
    pub(crate) words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct IrArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "lydian report --from-json coverage.json --html coverage/ --fail-under dc=90"
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// The folder that paths are shown relative to [default: the present one]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Print a row for each of these
    #[arg(long, value_enum, default_value_t = ByArg::File)]
    pub(crate) by: ByArg,
    #[command(flatten)]
    pub(crate) exports: ExportArgs,
    /// Print the objectives that are missing as annotations of GitHub Actions, after the table
    #[arg(long)]
    pub(crate) github: bool,
    #[arg(long, value_name = "[PATH:]CRITERION=PERCENT", help = fail_under_help())]
    pub(crate) fail_under: Vec<Threshold>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Add the totals to a file that has them for each commit of git; `--html` shows it as a picture
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "patch"])]
    pub(crate) trend: Option<PathBuf>,
    /// Read settings from this file [default: the nearest lydian.toml in or above the root]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The files that a report is written to.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Write pages to look at; begin with index.html
    #[arg(long, value_name = "DIR")]
    pub(crate) html: Option<PathBuf>,
    /// Write everything as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a tracefile of lcov
    #[arg(long, value_name = "FILE")]
    pub(crate) lcov: Option<PathBuf>,
    /// The version of lcov that is to read it [default: any; MC/DC is for 2.2 and newer]
    #[arg(long, value_name = "VERSION")]
    pub(crate) lcov_version: Option<lcov::Version>,
    /// Write Cobertura's XML
    #[arg(long, value_name = "FILE")]
    pub(crate) cobertura: Option<PathBuf>,
    /// Write the objectives that are missing as SARIF
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write gcov's JSON, which `gcovr --add-tracefile` reads too
    #[arg(long, value_name = "FILE")]
    pub(crate) gcov_json: Option<PathBuf>,
    /// The version of gcovr that is to read it: each reads its own files only
    #[arg(long, value_name = "VERSION", default_value = gcov_json::GCOVR_VERSION)]
    pub(crate) gcovr_version: gcov_json::GcovrFormat,
    /// Write SonarQube's generic coverage
    #[arg(long, value_name = "FILE")]
    pub(crate) sonarqube: Option<PathBuf>,
    /// Write Codecov's own JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) codecov: Option<PathBuf>,
    /// Write the objectives that are missing as GitLab's Code Quality report
    #[arg(long, value_name = "FILE")]
    pub(crate) gitlab: Option<PathBuf>,
    /// Write the objectives as test cases of JUnit's XML: those that are missing fail
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

/// The files and lines that a report is about.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Report on these files alone: a file, a folder, or a pattern in which `*` is any text; may be
    /// given again
    #[arg(long, value_name = "PATH")]
    pub(crate) include: Vec<PathPattern>,
    /// Do not report on these files; may be given again
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<PathPattern>,
    /// Report on what changed since a commit of git, uncommitted changes and new files too: lines that
    /// were added or that have another text
    #[arg(long, value_name = "REV")]
    pub(crate) diff: Option<String>,
    /// Report on the lines that a unified diff adds; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    pub(crate) patch: Option<PathBuf>,
}

impl ScopeArgs {
    /// Whether the report is limited to a change.
    pub(crate) const fn is_of_change(&self) -> bool {
        self.diff.is_some() || self.patch.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MinimiseArg {
    /// The fewest tests, where they are found in little time
    Exact,
    /// Few tests, always the one that adds most
    Greedy,
    /// Keep all tests
    None,
}

/// A form of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A zip file of the Competition on Software Testing (whole programs)
    Testcomp,
    /// A folder of KLEE's tests (whole programs)
    Ktest,
    /// `tests_unity.c`, to be compiled with `tests.c`, for Unity
    Unity,
    /// `tests_cmocka.c`, for CMocka
    Cmocka,
    /// `tests_check.c`, for Check
    Check,
    /// `tests_cunit.c`, for CUnit
    Cunit,
    /// `tests_criterion.c`, for Criterion
    Criterion,
    /// `tests_googletest.cc`, for GoogleTest
    Googletest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// Everything together
    Total,
    /// Each folder, with all that is below it
    Folder,
    /// Each file
    File,
    /// Each function
    Function,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SemanticsArg {
    /// Its value on the state, where evaluating it only computes and does not trap
    ThreeValued,
    /// None
    ShortCircuit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountsArg {
    /// As ordinary variables
    Plain,
    /// Atomically
    Atomic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueDecisionsArg {
    /// Those with `&&`, `||` or `!`
    WithOperators,
    /// Lone comparisons too
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Labels are asked for beside the path and add no paths
    Tight,
    /// Labels are branches, as in a program with the labels written into it
    Direct,
    /// Labels are not looked at: the tests of all paths, of which those are kept that cover something
    /// new as measured
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExploreArg {
    /// Until every objective is decided
    Needed,
    /// All paths, also when every objective is covered: inputs that make the program trap may be left
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeletionArg {
    /// None: each is asked for on each path
    Off,
    /// Those for which an input was found
    Solved,
    /// Those, and all that runs on such inputs cover
    Run,
    /// As `run`; an input for one label that covers what the path's own input does replaces it
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchArg {
    /// The state nearest to what is not covered, now and then any state
    Mixed,
    /// In turn the nearest state and any state (RSS-MD2U)
    Md2u,
    /// Depth first
    Dfs,
    /// Breadth first
    Bfs,
    /// Any state, by the seed
    RandomState,
    /// A random walk through the tree of paths, by the seed
    RandomPath,
    /// For one objective at a time the state nearest to it (SDGS)
    Sdgs,
    /// For one objective at a time the state that passed most of what all paths to it pass (CPGS)
    Cpgs,
}

/// Where what runs covered is read.
#[derive(Debug, Args)]
pub(crate) struct FromArgs {
    /// Where `lydian cc` and the program's runs left what they know; several, of several machines
    /// say, count together [default: $LYDIAN_DIR, else .lydian in the project's root]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) dir: Vec<PathBuf>,
    /// Read coverage that `--json` wrote, beside or instead of a `--dir`: of several jobs, say
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) from_json: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "lydian tests --diff main | xargs -d '\\n' -n1 ./run-test")]
pub(crate) struct TestsArgs {
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// The folder that paths are relative to [default: the present one]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Name the tests that passed one of these lines, or any line of the file; may be given again
    #[arg(long, value_name = "FILE[:LINE[-LINE]]", group = "which")]
    pub(crate) at: Vec<String>,
    /// Name the tests that ran a function which changed since a commit of git: those to be run again
    #[arg(long, value_name = "REV", group = "which")]
    pub(crate) diff: Option<String>,
    /// The same for the change that a unified diff describes; `-` is standard input
    #[arg(long, value_name = "FILE", group = "which")]
    pub(crate) patch: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "lydian mark parser-empty -- ./test_parser empty\nlydian mark --ctest build -- -j4"
)]
pub(crate) struct MarkArgs {
    /// The test's name
    #[arg(required_unless_present = "ctest", conflicts_with = "ctest")]
    pub(crate) name: Option<String>,
    /// Run each test of CTest in this folder of a build, marked by its name; what follows `--` goes to
    /// ctest
    #[arg(long, value_name = "DIR")]
    pub(crate) ctest: Option<PathBuf>,
    /// The command that runs the test
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<OsString>,
}

/// The words of the command line without what scripts put before the first `-c` that they find, taking
/// it for the compiler's though it is that of `lydian cc`: the options that write dependencies, as
/// Automake's `depcomp` has them. The script gives them again before the compiler's own `-c`.
pub(crate) fn without_dependencies(
    words: impl Iterator<Item = OsString>,
) -> impl Iterator<Item = OsString> {
    let mut words: Vec<OsString> = words.collect();
    let is_cc = words.get(1).is_some_and(|word| word == "cc");
    let own = words.iter().position(|word| word == "--").filter(|_| is_cc).unwrap_or(0);
    let compilers = words.split_off(own);
    let mut kept = Vec::new();
    let mut own = words.into_iter();
    while let Some(word) = own.next() {
        match word.to_str() {
            Some("-MD" | "-MMD" | "-MP" | "-MG" | "-M" | "-MM") if is_cc => {}
            Some("-MT" | "-MF" | "-MQ") if is_cc => _ = own.next(),
            _ => kept.push(word),
        }
    }
    kept.into_iter().chain(compilers)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn both_helps_of_each_command_that_takes_criteria_name_all_of_them() {
        for name in ["gen", "cover", "objectives", "cc", "report"] {
            let mut cli = Cli::command();
            let command = cli.find_subcommand_mut(name).expect("there is the command");
            let helps = [command.render_help(), command.render_long_help()];
            for help in helps.map(|help| help.to_string()) {
                let words: Vec<&str> =
                    help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
                for (_, criterion) in Criterion::ALL {
                    assert!(words.contains(&criterion), "{name}: {criterion}\n{help}");
                }
            }
        }
    }

    #[test]
    fn state_merging_is_turned_off_by_its_old_name_too() {
        let turned_off = |option: &str| {
            let read = Cli::try_parse_from(["lydian", "gen", "a.c", option]).expect("it is one");
            matches!(&read.command, Command::Gen(args) if args.exploration.no_state_merging)
        };
        assert!(turned_off("--no-state-merging") && turned_off("--no-unite"));
        assert!(!turned_off("--no-merge"));
    }

    #[test]
    fn options_for_dependencies_are_left_to_the_compiler() {
        let read = |text: &str| {
            let words = text.split(' ').map(OsString::from);
            let left: Vec<OsString> = without_dependencies(words).collect();
            left.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        let given = "lydian cc -MT a.o -MD -MP -MF a.tmp -c stmt -- gcc -MT a.o -MD -c a.c";
        assert_eq!(read(given), "lydian cc -c stmt -- gcc -MT a.o -MD -c a.c");
        // Other commands have no such options, and say so.
        assert_eq!(read("lydian gen -MD a.c -- -O1"), "lydian gen -MD a.c -- -O1");
    }
}
