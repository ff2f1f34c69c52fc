//! What `lydian gen` decides of whole files of real libraries.
//!
//!     cargo bench -p lydian-cli --bench whole_files [-- [LIBRARY/FILE...] [seconds=2] [criteria=mcdc]
//!         [jobs=1] [open]]
//!
//! For each file (by default three of more than 1,000 lines each, [`FILES`]) `scripts/real-c` fetches
//! its library if it is not in `target/real-c`, and one `lydian gen` works on every function of it, with
//! so many seconds for each. Printed are the functions; those of which every objective is decided,
//! that is covered as measured, proved infeasible, or a duplicate, and their share; the objectives
//! and what became of them; the tests; and the mean time of a function, which is the time of the run,
//! compilation included, divided by the functions. With `open`, the functions with objectives left
//! follow, with how many.

#[path = "shared/evaluation.rs"]
mod evaluation;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use comfy_table::{Table, presets};
use evaluation::{Evaluation, place_of};
use lydian_report::{CriterionSummary, FunctionSummary, Summary};

const FILES: [&str; 3] = ["lua/lapi.c", "zlib/deflate.c", "libpng/pngset.c"];

struct Arguments {
    files: Vec<String>,
    seconds: String,
    criteria: String,
    jobs: String,
    open: bool,
}

impl Arguments {
    fn of_arguments() -> Self {
        let mut asked = Self {
            files: Vec::new(),
            seconds: "2".to_owned(),
            criteria: "mcdc".to_owned(),
            jobs: "1".to_owned(),
            open: false,
        };
        for word in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
            match word.split_once('=') {
                Some(("seconds", number)) => asked.seconds = number.to_owned(),
                Some(("criteria", names)) => asked.criteria = names.to_owned(),
                Some(("jobs", number)) => asked.jobs = number.to_owned(),
                None if word == "open" => asked.open = true,
                _ => asked.files.push(word),
            }
        }
        if asked.files.is_empty() {
            asked.files = FILES.map(str::to_owned).to_vec();
        }
        asked
    }
}

/// What became of one file.
struct FileResult {
    lines: usize,
    functions: Vec<FunctionSummary>,
    seconds: f64,
}

fn main() {
    let asked = Arguments::of_arguments();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let libraries = Evaluation::read(&root);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "file",
        "lines",
        "functions",
        "decided",
        "share",
        "objectives",
        "covered",
        "infeasible",
        "unknown",
        "tests",
        "s/function",
    ]);
    let mut open = String::new();
    for name in &asked.files {
        match generate(&root, name, &libraries, &asked) {
            Ok(found) => {
                table.add_row(row(name, &found));
                for function in found.functions.iter().filter(|function| !is_decided(function)) {
                    let left = sum(function, |counts| counts.unknown);
                    open += &format!("{name}: {}: {left} left\n", function.name);
                }
            }
            Err(why) => say(&format!("{name}: {why}")),
        }
    }
    say(&table.to_string());
    if asked.open {
        say(&open);
    }
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("standard output takes it");
}

fn generate(
    root: &Path,
    name: &str,
    libraries: &Evaluation,
    asked: &Arguments,
) -> Result<FileResult, String> {
    let (library, file) = name.split_once('/').ok_or("no LIBRARY/FILE")?;
    let flags = libraries.library.get(library).ok_or("no library of examples/real-c.toml")?;
    let place = place_of(root, library)?;
    let text = std::fs::read(place.join(file)).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("table.json");
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_lydian"))
        .current_dir(&place)
        .args(["gen", file, "-c", &asked.criteria, "--time", &asked.seconds])
        .args(["--jobs", &asked.jobs, "-o"])
        .arg(folder.path().join("tests"))
        .arg("--json")
        .arg(&json)
        .arg("--")
        .args(&flags.flags)
        .output()
        .expect("lydian runs");
    let seconds = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    let table = std::fs::read(&json).map_err(|error| format!("no table: {error}"))?;
    let summary: Summary = serde_json::from_slice(&table).map_err(|error| error.to_string())?;
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    Ok(FileResult { lines, functions: summary.functions, seconds })
}

fn sum(function: &FunctionSummary, count: impl Fn(&CriterionSummary) -> usize) -> usize {
    function.criteria.iter().map(count).sum()
}

fn is_decided(function: &FunctionSummary) -> bool {
    sum(function, |counts| counts.unknown) == 0
}

fn row(name: &str, found: &FileResult) -> Vec<String> {
    let FileResult { lines, functions, seconds } = found;
    let decided = functions.iter().filter(|function| is_decided(function)).count();
    let count = functions.len().max(1) as f64;
    let all = |count: fn(&CriterionSummary) -> usize| -> String {
        functions.iter().map(|function| sum(function, count)).sum::<usize>().to_string()
    };
    let tests: usize = functions.iter().map(|function| function.tests).sum();
    vec![
        name.to_owned(),
        lines.to_string(),
        functions.len().to_string(),
        decided.to_string(),
        format!("{:.1} %", 100.0 * decided as f64 / count),
        all(|counts| counts.objectives),
        all(|counts| counts.covered),
        all(|counts| counts.infeasible),
        all(|counts| counts.unknown),
        tests.to_string(),
        format!("{:.2} s", seconds / count),
    ]
}
