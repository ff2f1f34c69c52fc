//! Tests for functions of real C libraries, confirmed by measuring and by an independent tool.
//!
//!     cargo bench -p lydian-cli --bench real_c [-- [WORD...] [time=SECONDS]]
//!
//! For each function of `examples/real-c.toml` (words choose some by library or name; `time` is
//! `lydian gen --time`, default 20 s):
//!
//! 1. `scripts/real-c` fetches the library if it is not in `target/real-c`;
//! 2. `lydian gen` writes tests for dc, cc, mcc, gacc and wm into a new folder;
//! 3. `lydian cover` measures that folder alone: it must cover what `gen` said;
//! 4. the emitted C file is compiled by clang with its own coverage and run; what llvm-cov says of
//!    the lines and branches of the function is held against `lydian cover` for stmt, bc and dc on
//!    the same tests ([`llvm_cov`]).

#[path = "shared/evaluation.rs"]
mod evaluation;
#[path = "shared/llvm.rs"]
mod llvm;
#[path = "real_c/llvm_cov.rs"]
mod llvm_cov;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use comfy_table::{Table, presets};
use evaluation::{Evaluation, RealFunction, config_of, place_of};
use llvm::Agreement;
use lydian_report::{CriterionSummary, FunctionSummary, Summary};

/// What tests are made for.
const CRITERIA: &str = "dc,cc,mcc,gacc,wm";

/// What is known of one function in the end.
struct Result {
    subject: RealFunction,
    /// What `gen` said, or how it failed.
    generated: std::result::Result<FunctionSummary, String>,
    /// `gen`'s own reports of contradictions.
    contradictions: Vec<String>,
    /// Criteria for which `cover` counts otherwise than `gen`.
    unconfirmed: std::result::Result<Vec<String>, String>,
    agreement: std::result::Result<Agreement, String>,
}

fn main() {
    let mut words = Vec::new();
    let mut time = "20".to_owned();
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("time", seconds)) => time = seconds.to_owned(),
            _ => words.push(word),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let Evaluation { library, function } = Evaluation::read(&root);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chosen = function.into_iter().filter(|subject| {
        let is = |word: &String| subject.library == *word || subject.function.contains(&**word);
        words.is_empty() || words.iter().any(is)
    });
    let mut results = Vec::new();
    for subject in chosen {
        let flags = &library[&subject.library].flags;
        let place = place_of(&root, &subject.library).expect("it can be fetched");
        let work = Work {
            config: config_of(&root, &subject.library),
            output: folder.path().join(format!("{}-{}", subject.library, subject.function)),
            flags,
            place,
            file: subject.file.clone(),
            function: subject.function.clone(),
        };
        let result = work.all(subject, &time);
        show(&result);
        results.push(result);
    }
    say(&table(&results));
}

/// One function, its place and flags.
struct Work<'a> {
    /// The library's folder, which flags and file are relative to.
    place: PathBuf,
    file: String,
    function: String,
    flags: &'a [String],
    config: Option<PathBuf>,
    /// The folder of its tests.
    output: PathBuf,
}

impl Work<'_> {
    fn all(&self, subject: RealFunction, time: &str) -> Result {
        let json = self.output.with_extension("gen.json");
        let out = self.lydian("gen", &["-c", CRITERIA, "--time", time, "-o"], &self.output, &json);
        let contradictions = contradictions(&out);
        let generated = self.row(&out, &json);
        let (unconfirmed, agreement) = match &generated {
            Ok(row) if row.tests > 0 => (self.confirm(row), llvm_cov::compare(self, &self.output)),
            _ => (Err("no tests".to_owned()), Err("no tests".to_owned())),
        };
        Result { subject, generated, contradictions, unconfirmed, agreement }
    }

    /// Runs a command of Lydian on the function.
    fn lydian(&self, command: &str, options: &[&str], folder: &Path, json: &Path) -> Output {
        let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
        lydian.current_dir(&self.place).arg(command).arg(&self.file);
        lydian.args(["-f", &self.function]).args(options).arg(folder).arg("--json").arg(json);
        if let Some(config) = &self.config {
            lydian.arg("--config").arg(config);
        }
        lydian.arg("--").args(self.flags).output().expect("lydian can be started")
    }

    fn row(&self, out: &Output, json: &Path) -> std::result::Result<FunctionSummary, String> {
        let text = std::fs::read_to_string(json).map_err(|_| first_error(out))?;
        let summary: Summary = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        summary.functions.into_iter().next().ok_or_else(|| first_error(out))
    }

    /// The criteria for which measuring the folder of tests counts otherwise.
    fn confirm(&self, generated: &FunctionSummary) -> std::result::Result<Vec<String>, String> {
        let json = self.output.with_extension("cover.json");
        let out = self.lydian("cover", &["-c", CRITERIA, "--tests"], &self.output, &json);
        let measured = self.row(&out, &json)?;
        let pairs = generated.criteria.iter().zip(&measured.criteria);
        let differ = pairs.filter(|(a, b)| a.covered != b.covered).map(|(a, b)| {
            format!("{}: {} generated, {} measured", a.criterion, a.covered, b.covered)
        });
        Ok(differ.collect())
    }
}

/// The first error of a command, or its exit code.
fn first_error(out: &Output) -> String {
    let text = String::from_utf8_lossy(&out.stderr);
    let error = text.lines().skip_while(|line| !line.starts_with("error")).take(3);
    let error: Vec<&str> = error.map(str::trim).collect();
    if error.is_empty() { out.status.to_string() } else { error.join(" ") }
}

/// What `gen` reports as its own errors.
fn contradictions(out: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&out.stderr);
    let found = text.lines().filter(|line| line.starts_with("error[contradiction]"));
    found.map(String::from).collect()
}

/// Tells what came of one function.
fn show(result: &Result) {
    let RealFunction { library, function, traits, .. } = &result.subject;
    say(&format!("{library} {function} ({})", traits.join(", ")));
    match &result.generated {
        Ok(row) => {
            for criterion in &row.criteria {
                for (reason, count) in &criterion.reasons {
                    say(&format!("  {}: {count} unknown: {reason}", criterion.criterion));
                }
            }
        }
        Err(error) => say(&format!("  gen failed: {error}")),
    }
    result.contradictions.iter().for_each(|text| say(&format!("  {text}")));
    match &result.unconfirmed {
        Ok(criteria) => criteria.iter().for_each(|text| say(&format!("  not confirmed: {text}"))),
        Err(error) => say(&format!("  cover failed: {error}")),
    }
    match &result.agreement {
        Ok(agreement) => agreement.notes.iter().for_each(|text| say(&format!("  {text}"))),
        Err(error) => say(&format!("  no comparison with llvm-cov: {error}")),
    }
}

fn table(results: &[Result]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "library",
        "function",
        "dc",
        "cc",
        "mcc",
        "gacc",
        "wm",
        "tests",
        "seconds",
        "cover",
        "llvm-cov lines",
        "branches",
        "decisions",
    ]);
    for result in results {
        let mut cells = vec![result.subject.library.clone(), result.subject.function.clone()];
        match &result.generated {
            Ok(row) => {
                cells.extend(row.criteria.iter().map(verdicts));
                cells.extend([row.tests.to_string(), format!("{:.1}", row.seconds)]);
            }
            Err(_) => cells.extend(std::iter::repeat_n("failed".to_owned(), 7)),
        }
        cells.push(match &result.unconfirmed {
            Ok(criteria) if criteria.is_empty() => "equal".to_owned(),
            Ok(_) => "differs".to_owned(),
            Err(_) => "-".to_owned(),
        });
        match &result.agreement {
            Ok(agreement) => cells.extend(
                [agreement.lines, agreement.branches, agreement.decisions].map(|c| c.to_string()),
            ),
            Err(_) => cells.extend(std::iter::repeat_n("-".to_owned(), 3)),
        }
        table.add_row(cells);
    }
    format!(
        "\ncriteria: covered/objectives without duplicates, of them infeasible and unknown; \
         llvm-cov: agree/compared\n{table}"
    )
}

fn verdicts(row: &CriterionSummary) -> String {
    let mut text = format!("{}/{}", row.covered, row.objectives - row.duplicate);
    if row.infeasible > 0 {
        text += &format!(" {} inf", row.infeasible);
    }
    if row.unknown > 0 {
        text += &format!(" {} unk", row.unknown);
    }
    text
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
