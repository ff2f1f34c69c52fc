//! Whether what `lydian gen` emits compiles, passes and can be read, on C that Lydian was not developed on.
//!
//!     cargo bench -p lydian-cli --bench suites [-- [part=open|held-out] [libraries=NAME,NAME]
//!         [time=SECONDS] [files=N] [seed=N] [jobs=N] [keep=FOLDER]]
//!
//! `lydian gen` runs for stmt, bc and mcdc on the files of the libraries that `scripts/survey-c` fetches,
//! or on `files` of them, with `time` seconds a function (default 1). Each suite is compiled with the
//! flags of its source and `-Wall -Wextra` in every build of the list below, and run twice in each.
//!
//! gcov and llvm-cov then measure what the tests that do not crash cover of lines and conditions, and are
//! held against what `objectives.json` claims.
//!
//! Printed are a row for each library, one for each build, one for each tool, and every suite that does not compile, has
//! warnings in its own lines or has tests that fail, with the first message. Lines of a test are those
//! from its comment to its end. `keep` is where the suites stay.

#[path = "suites/builds.rs"]
mod builds;
#[path = "suites/coverage.rs"]
mod coverage;
#[path = "shared/foreign.rs"]
mod foreign;
#[path = "shared/llvm.rs"]
mod llvm;
#[path = "suites/reading.rs"]
mod reading;
#[path = "suites/tables.rs"]
mod tables;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use builds::{BUILDS, Built};
use coverage::ToolAgreement;
use foreign::{Library, Unit};
use reading::Reading;

struct Options {
    part: String,
    libraries: Vec<String>,
    time: f64,
    files: Option<usize>,
    seed: u64,
    jobs: usize,
    keep: Option<PathBuf>,
}

/// What became of one file.
struct Row {
    library: String,
    file: String,
    reading: Reading,
    /// For each build.
    built: Vec<Built>,
    /// What tools of coverage make of it, or why they do not.
    confirmed: Result<ToolAgreement, String>,
}

fn main() {
    let options = Options::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let libraries = foreign::libraries(&root, &options.part, &options.libraries);
    let all =
        libraries.iter().flat_map(|library| library.units.iter().map(move |unit| (library, unit)));
    let mut all: Vec<(&Library, &Unit)> = all.collect();
    if let Some(count) = options.files {
        all = foreign::sample(all, count, options.seed);
    }
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((library, unit)) = all.get(number) else { break };
                    let row = options.row(number, library, unit);
                    row.iter().for_each(Row::tell);
                    made.lock().expect("no thread panics").push((number, row));
                }
            });
        }
    });
    let mut made = made.into_inner().expect("no thread panics");
    made.sort_by_key(|(number, _)| *number);
    let rows: Vec<Row> = made.into_iter().filter_map(|(_, row)| row).collect();
    let without = all.len() - rows.len();
    let tables = [tables::by_library(&rows), tables::by_build(&rows), tables::coverage(&rows)];
    tables.iter().for_each(|table| say(&format!("\n{table}")));
    say(&format!("\n{} files with a suite, {without} without", rows.len()));
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            part: "open".to_owned(),
            libraries: Vec::new(),
            time: 1.0,
            files: None,
            seed: 1,
            jobs: 1,
            keep: None,
        };
        for word in std::env::args().skip(1).filter(|word| word != "--bench") {
            let (name, value) = word.split_once('=').expect("an option is NAME=VALUE");
            match name {
                "part" => value.clone_into(&mut options.part),
                "libraries" => options.libraries.extend(value.split(',').map(String::from)),
                "time" => options.time = value.parse().expect("seconds"),
                "files" => options.files = Some(value.parse().expect("a number")),
                "seed" => options.seed = value.parse().expect("a number"),
                "jobs" => options.jobs = value.parse().expect("a number"),
                "keep" => options.keep = Some(value.into()),
                _ => panic!("no option is named {name}"),
            }
        }
        options
    }

    /// Makes a suite of a file, builds and runs it; `None` where the file has no tests.
    fn row(&self, number: usize, library: &Library, unit: &Unit) -> Option<Row> {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = match &self.keep {
            Some(keep) => keep.join(format!("{number}")),
            None => temporary.path().join("suite"),
        };
        let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
        lydian.current_dir(&library.place).args([
            "gen",
            &unit.file,
            "-c",
            "stmt,bc,mcdc",
            "--fresh",
        ]);
        lydian.args(["--time", &self.time.to_string(), "-o"]).arg(&folder);
        lydian.arg("--").args(&unit.flags).stdout(Stdio::null()).stderr(Stdio::piped());
        let ran = lydian.output().expect("lydian can be started");
        let suite = folder.join("tests.c");
        let reading = std::fs::read_to_string(&suite).ok().map(|text| Reading::of(&text));
        let Some(reading) = reading.filter(|reading| !reading.lines.is_empty()) else {
            let said = String::from_utf8_lossy(&ran.stderr);
            let why = said.lines().find(|line| line.starts_with("error"));
            let why = why.unwrap_or("no test of its functions ends");
            say(&format!("{} {}: no suite: {why}", library.name, unit.file));
            return None;
        };
        let built = BUILDS.iter().map(|build| build.run(library, unit, &suite)).collect();
        let confirmed = coverage::confirm(library, unit, &folder);
        let (library, file) = (library.name.clone(), unit.file.clone());
        Some(Row { library, file, reading, built, confirmed })
    }
}

impl Row {
    fn tell(&self) {
        let wrong = BUILDS
            .iter()
            .zip(&self.built)
            .find_map(|(build, built)| Some(format!("{}: {}", build.name, built.trouble()?)));
        let tests = self.reading.lines.len();
        let wrong = wrong.unwrap_or_else(|| "passes".to_owned());
        say(&format!("{} {}: {tests} tests; {wrong}", self.library, self.file));
        match &self.confirmed {
            Ok(confirmed) => confirmed.llvm.notes.iter().for_each(|note| say(&format!("  {note}"))),
            Err(error) => say(&format!("  coverage: {error}")),
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
