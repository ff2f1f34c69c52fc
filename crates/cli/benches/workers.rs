//! One exploration by one worker and by several: wall-clock time from C source to the end.
//!
//!     cargo bench -p lydian-cli --bench workers \
//!         [-- [WORD...] [jobs=N] [rounds=N] [time=SECONDS] [criteria=LIST]]
//!
//! Words choose programs by their names. `jobs` is how many workers there are (default: as many as
//! cores), `rounds` how often each is run (default 3), in turns; the least time counts. A run that is
//! not at its end after `time` (default 60 s) is shown so. `criteria` says what is explored for
//! (default bc); where two numbers of workers decide otherwise, that is an error.
//!
//! The programs are those of the bench `klee`, at bounds at which one worker takes seconds:
//! `lydian gen --program -c LIST --explore all`.

#[path = "klee/watched.rs"]
mod watched;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::{CellAlignment, Table, presets};
use lydian_report::{Exploration, Summary};
use watched::watch;

/// Programs, what of Table I is written before them, and their macros.
const PROGRAMS: [(&str, Option<&str>, &str); 11] = [
    ("mesh", Some("trityp"), "COUNT=4"),
    ("utf8_count", Some("utf8"), "LENGTH=11"),
    ("calculator", None, "LENGTH=7"),
    ("unpack", None, "LENGTH=7"),
    ("csv", None, "LENGTH=15"),
    ("pattern", None, "PATTERN=5 TEXT=4"),
    ("search", None, "RANGES=6 KEYS=4"),
    ("uri", None, "LENGTH=9"),
    ("utf16", None, "LENGTH=6"),
    ("table", None, "KEYS=4"),
    ("message", None, "LENGTH=8"),
];

struct Options {
    words: Vec<String>,
    jobs: usize,
    rounds: u32,
    time: f64,
    criteria: String,
}

/// What a run took.
struct Ran {
    seconds: f64,
    cpu_seconds: f64,
    /// Peaks of the process, and of the greatest of its own and of what it starts.
    own_mb: f64,
    peak_mb: f64,
    exploration: Exploration,
    /// Objectives that are covered, and infeasible.
    decided: [usize; 2],
}

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (words, criteria) = (Vec::new(), "bc".to_owned());
    let mut options = Options { words, jobs: cores, rounds: 3, time: 60.0, criteria };
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("jobs", value)) => options.jobs = value.parse().expect("jobs is a number"),
            Some(("rounds", value)) => options.rounds = value.parse().expect("rounds is a number"),
            Some(("time", value)) => options.time = value.parse().expect("time is in seconds"),
            Some(("criteria", value)) => value.clone_into(&mut options.criteria),
            _ => options.words.push(word),
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let several = format!("{}: s", options.jobs);
    table.set_header([
        "program",
        "paths",
        "1: s",
        "cpu",
        &several,
        "cpu",
        "times",
        "MB",
        "with clang",
    ]);
    for at in 1..9 {
        let column = table.column_mut(at).expect("the column is there");
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (name, before, bounds) in PROGRAMS {
        if !options.words.is_empty() && !options.words.iter().any(|word| word == name) {
            continue;
        }
        let source = write_source(folder.path(), name, before);
        let (mut one, mut several): (Option<Ran>, Option<Ran>) = (None, None);
        for _ in 0..options.rounds {
            for (best, jobs) in [(&mut one, 1), (&mut several, options.jobs)] {
                let ran = generate(folder.path(), &source, bounds, jobs, &options);
                if best.as_ref().is_none_or(|best| ran.seconds < best.seconds) {
                    *best = Some(ran);
                }
            }
        }
        let (Some(one), Some(several)) = (one, several) else { continue };
        let complete = [&one, &several].map(|ran| ran.exploration.complete);
        assert!(complete != [true; 2] || one.decided == several.decided, "{name}");
        let paths = [&one, &several].map(|ran| ran.exploration.paths);
        let end = |complete: bool| if complete { "" } else { ">" };
        table.add_row([
            format!("{name} {bounds}"),
            if paths[0] == paths[1] { paths[0].to_string() } else { format!("{paths:?}") },
            format!("{}{:.2}", end(complete[0]), one.seconds),
            format!("{:.2}", one.cpu_seconds),
            format!("{}{:.2}", end(complete[1]), several.seconds),
            format!("{:.2}", several.cpu_seconds),
            format!("{:.2}", one.seconds / several.seconds),
            format!("{:.0}, {:.0}", one.own_mb, several.own_mb),
            format!("{:.0}, {:.0}", one.peak_mb, several.peak_mb),
        ]);
        let _ = writeln!(std::io::stderr(), "{name}");
    }
    let _ = writeln!(std::io::stdout(), "{table}");
}

/// Writes a program; gives its path.
fn write_source(folder: &Path, name: &str, before: Option<&str>) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/klee");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/table1");
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let before = before.map(|name| read(examples.join(name).with_extension("c")));
    let text = read(programs.join(name).with_extension("c"));
    let path = folder.join(name).with_extension("c");
    std::fs::write(&path, before.unwrap_or_default() + &text).expect("the file is written");
    std::fs::copy(programs.join("input.h"), folder.join("input.h")).expect("the file is copied");
    path
}

fn generate(folder: &Path, source: &Path, bounds: &str, jobs: usize, options: &Options) -> Ran {
    let (tests, json) = (folder.join("tests"), folder.join("table.json"));
    if tests.exists() {
        std::fs::remove_dir_all(&tests).expect("what an earlier run left is removed");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydian"));
    command.arg("gen").arg(source).args(["--program", "-c", &options.criteria]);
    command.args(["--explore", "all"]);
    command.args(["--max-paths", "1000000000", "--max-states", "1000000000"]);
    command.args(["--solver-time", "600000", "--time", &options.time.to_string()]);
    command.args(["--jobs", &jobs.to_string()]).arg("--json").arg(&json);
    command.arg("--output").arg(&tests).arg("--");
    command.args(bounds.split_whitespace().map(|bound| format!("-D{bound}")));
    let ran = watch(command, &folder.join("log"));
    assert!(ran.status.success(), "{}: {}", source.display(), ran.said);
    let text = std::fs::read_to_string(&json).expect("the table was written");
    let summary: Summary = serde_json::from_str(&text).expect("the table is valid");
    let exploration = summary.functions.iter().find_map(|function| function.exploration);
    let exploration = exploration.expect("something was explored");
    let rows = summary.functions.iter().flat_map(|function| &function.criteria);
    let decided = rows.fold([0; 2], |[covered, infeasible], row| {
        [covered + row.covered, infeasible + row.infeasible]
    });
    Ran {
        seconds: ran.seconds,
        cpu_seconds: ran.cpu_seconds,
        own_mb: ran.own_mb,
        peak_mb: ran.peak_mb,
        exploration,
        decided,
    }
}
