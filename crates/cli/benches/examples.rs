//! What `lydian gen` reaches of the example programs, in 10 s for each function.
//!
//!     cargo bench -p lydian-cli --bench examples [-- seconds=10] [criteria=...] [only=NAME,...]
//!         [searches=NAME,...] [real=FUNCTION,...]
//!
//! With `searches`, each program is explored with each of these searches, and what is printed is, for
//! each, the objectives covered and left unknown, how many paths had ended and how much time had passed
//! when the last of them was covered, and paths and time in all ([`searches`]). With `real`, functions of
//! `examples/real-c.toml` are explored, too.
//!
//! Printed are, for each program and criterion, the objectives, those that tests cover as measured,
//! those that are proved infeasible, those that are neither, and the share of the ones that are not
//! infeasible which is covered; and for each program the time that it took, compilation included.

#[path = "shared/evaluation.rs"]
mod evaluation;
#[path = "examples/searches.rs"]
mod searches;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use comfy_table::{Table, presets};
use serde_json::Value;

const CRITERIA: &str = "dc,cc,mcc,gacc,cacc,racc,wm";

struct Arguments {
    seconds: String,
    criteria: String,
    only: Vec<String>,
    searches: Vec<String>,
    real: Vec<String>,
}

impl Arguments {
    fn of_arguments() -> Self {
        let mut asked = Self {
            seconds: "10".to_owned(),
            criteria: CRITERIA.to_owned(),
            only: Vec::new(),
            searches: Vec::new(),
            real: Vec::new(),
        };
        let list = |names: &str| names.split(',').map(str::to_owned).collect();
        for word in std::env::args().skip(1) {
            match word.split_once('=') {
                Some(("seconds", number)) => asked.seconds = number.to_owned(),
                Some(("criteria", names)) => asked.criteria = names.to_owned(),
                Some(("only", names)) => asked.only = list(names),
                Some(("searches", names)) => asked.searches = list(names),
                Some(("real", names)) => asked.real = list(names),
                _ => {}
            }
        }
        asked
    }
}

/// The counts of one criterion over all functions of a program.
#[derive(Clone, Copy, Default)]
struct Counts {
    objectives: u64,
    covered: u64,
    infeasible: u64,
    duplicate: u64,
    unknown: u64,
}

fn main() {
    let asked = Arguments::of_arguments();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !asked.searches.is_empty() {
        return searches::compare(&root, &asked);
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let columns =
        ["program", "criterion", "objectives", "covered", "infeasible", "unknown", "share", "time"];
    table.set_header(columns);
    let mut sums: Vec<(String, Counts)> = Vec::new();
    for program in programs(&root, &asked.only) {
        let name = program.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into());
        let begun = Instant::now();
        let Some(found) = generate(&program, &asked) else {
            say(&format!("{name}: no table"));
            continue;
        };
        let seconds = format!("{:.1} s", begun.elapsed().as_secs_f64());
        for (position, (criterion, counts)) in found.into_iter().enumerate() {
            let (name, time) = if position == 0 { (&*name, &*seconds) } else { ("", "") };
            table.add_row(row(name, &criterion, counts, time));
            match sums.iter_mut().find(|(known, _)| *known == criterion) {
                Some((_, sum)) => sum.add(counts),
                None => sums.push((criterion, counts)),
            }
        }
    }
    for (position, (criterion, counts)) in sums.iter().enumerate() {
        table.add_row(row(if position == 0 { "all" } else { "" }, criterion, *counts, ""));
    }
    say(&table.to_string());
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("standard output takes it");
}

/// The example programs; what only counts paths is none.
fn programs(root: &Path, only: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["examples", "examples/table1"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the examples are there");
        found.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
    }
    found.retain(|path| {
        let name = path.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let is_c = path.extension().is_some_and(|extension| extension == "c");
        is_c && name != "count_paths" && (only.is_empty() || only.contains(&name))
    });
    found.sort();
    found
}

/// The counts of each criterion.
fn generate(program: &Path, asked: &Arguments) -> Option<Vec<(String, Counts)>> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("table.json");
    let output = Command::new(env!("CARGO_BIN_EXE_lydian"))
        .arg("gen")
        .arg(program)
        .args(["-c", &asked.criteria, "--time", &asked.seconds, "-o"])
        .arg(folder.path().join("tests"))
        .arg("--json")
        .arg(&json)
        .output()
        .expect("lydian runs");
    if !output.status.success() {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(&json).ok()?;
    let table: Value = serde_json::from_str(&text).ok()?;
    let mut found: Vec<(String, Counts)> = Vec::new();
    for row in table["functions"].as_array()?.iter().flat_map(|f| f["criteria"].as_array()) {
        for row in row {
            let name = row["criterion"].as_str()?.to_owned();
            let number = |key: &str| row[key].as_u64().unwrap_or(0);
            let counts = Counts {
                objectives: number("objectives"),
                covered: number("covered"),
                infeasible: number("infeasible"),
                duplicate: number("duplicate"),
                unknown: number("unknown"),
            };
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum.add(counts),
                None => found.push((name, counts)),
            }
        }
    }
    Some(found)
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.objectives += other.objectives;
        self.covered += other.covered;
        self.infeasible += other.infeasible;
        self.duplicate += other.duplicate;
        self.unknown += other.unknown;
    }
}

fn row(program: &str, criterion: &str, counts: Counts, time: &str) -> Vec<String> {
    let objectives = counts.objectives - counts.duplicate;
    let feasible = objectives - counts.infeasible;
    let share = match feasible {
        0 => 100.0,
        _ => 100.0 * counts.covered as f64 / feasible as f64,
    };
    vec![
        program.to_owned(),
        criterion.to_owned(),
        objectives.to_string(),
        counts.covered.to_string(),
        counts.infeasible.to_string(),
        counts.unknown.to_string(),
        format!("{share:.1}%"),
        time.to_owned(),
    ]
}
