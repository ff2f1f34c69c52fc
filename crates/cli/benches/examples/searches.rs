//! Searches side by side: when each has covered what it covers.

use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::{CellAlignment, Table, presets};
use lydian_report::Summary;

use super::evaluation::{Evaluation, config_of, place_of};
use super::{Arguments, programs, say};

/// What is explored.
struct Subject {
    name: String,
    /// The folder in which the command runs.
    folder: PathBuf,
    file: PathBuf,
    /// One function; all of the file if none.
    function: Option<String>,
    config: Option<PathBuf>,
    flags: Vec<String>,
}

/// What a search came to, over all functions of a program.
#[derive(Clone, Copy, Default)]
struct SearchFigures {
    covered: u64,
    unknown: u64,
    paths_to_last: u64,
    seconds_to_last: f64,
    paths: u64,
    seconds: f64,
}

/// Prints the table.
pub(super) fn compare(root: &Path, asked: &Arguments) {
    let root = root.canonicalize().expect("the workspace is there");
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "program",
        "search",
        "covered",
        "unknown",
        "paths to last",
        "seconds to last",
        "paths",
        "seconds",
    ]);
    let mut sums = vec![SearchFigures::default(); asked.searches.len()];
    for subject in subjects(&root, asked) {
        for (position, search) in asked.searches.iter().enumerate() {
            let name = if position == 0 { &*subject.name } else { "" };
            let Some(found) = subject.explore(search, asked) else {
                say(&format!("{} with {search}: no table", subject.name));
                continue;
            };
            sums[position].add(found);
            table.add_row(found.row(name, search));
        }
    }
    for (position, search) in asked.searches.iter().enumerate() {
        table.add_row(sums[position].row(if position == 0 { "all" } else { "" }, search));
    }
    table.column_iter_mut().skip(2).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
    say(&table.to_string());
}

/// The example programs, and those of the real functions that are asked for.
fn subjects(root: &Path, asked: &Arguments) -> Vec<Subject> {
    let examples = programs(root, &asked.only).into_iter().map(|file| Subject {
        name: file.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into()),
        folder: root.to_owned(),
        file,
        function: None,
        config: None,
        flags: Vec::new(),
    });
    let mut all: Vec<Subject> = examples.collect();
    if asked.real.is_empty() {
        return all;
    }
    let Evaluation { library, function } = Evaluation::read(root);
    for real in function.into_iter().filter(|real| asked.real.contains(&real.function)) {
        all.push(Subject {
            name: real.function.clone(),
            folder: place_of(root, &real.library).expect("it can be fetched"),
            file: real.file.into(),
            function: Some(real.function),
            config: config_of(root, &real.library),
            flags: library[&real.library].flags.clone(),
        });
    }
    all
}

impl Subject {
    /// Explores it in a new folder.
    fn explore(&self, search: &str, asked: &Arguments) -> Option<SearchFigures> {
        let output = tempfile::tempdir().expect("a temporary folder can be made");
        let json = output.path().join("table.json");
        let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
        lydian.current_dir(&self.folder).arg("gen").arg(&self.file);
        lydian.args(["-c", &asked.criteria, "--time", &asked.seconds, "--search", search]);
        lydian.arg("-o").arg(output.path().join("tests")).arg("--json").arg(&json);
        self.function.iter().for_each(|name| _ = lydian.args(["--function", name]));
        self.config.iter().for_each(|file| _ = lydian.arg("--config").arg(file));
        let ran = lydian.arg("--").args(&self.flags).output().expect("lydian runs");
        if !ran.status.success() {
            say(&String::from_utf8_lossy(&ran.stderr));
        }
        let text = std::fs::read_to_string(&json).ok()?;
        let summary: Summary = serde_json::from_str(&text).ok()?;
        let mut all = SearchFigures::default();
        for function in summary.functions {
            let rows = function.criteria.iter();
            let of = function.exploration;
            all.add(SearchFigures {
                covered: rows.clone().map(|row| row.covered as u64).sum(),
                unknown: rows.map(|row| row.unknown as u64).sum(),
                paths_to_last: of.map_or(0, |of| of.paths_to_last),
                seconds_to_last: of.map_or(0.0, |of| of.seconds_to_last),
                paths: of.map_or(0, |of| of.paths),
                seconds: of.map_or(0.0, |of| of.seconds),
            });
        }
        Some(all)
    }
}

impl SearchFigures {
    fn add(&mut self, other: Self) {
        self.covered += other.covered;
        self.unknown += other.unknown;
        self.paths_to_last += other.paths_to_last;
        self.seconds_to_last += other.seconds_to_last;
        self.paths += other.paths;
        self.seconds += other.seconds;
    }

    fn row(self, name: &str, search: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            search.to_owned(),
            self.covered.to_string(),
            self.unknown.to_string(),
            self.paths_to_last.to_string(),
            format!("{:.2}", self.seconds_to_last),
            self.paths.to_string(),
            format!("{:.2}", self.seconds),
        ]
    }
}
