//! How much of real libraries is lowered, why the rest is not, how long it takes and in what memory.
//!
//!     cargo bench -p lydian-testkit --bench lowering [-- [LIBRARY...] [files=WORD] [list=1]]
//!
//! For each library of `benches/lowering/libraries.toml` (or those named): `scripts/real-c` fetches
//! it if it is not in `target/real-c`; every file that its build compiles goes through the front
//! end and the verifier. `files=WORD` takes only files with the word in their path; `list=1` names
//! every function that is refused. SQLite's amalgamation is also compiled by `clang-19 -O0 -c`, for
//! the ratio of the times.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lydian_testkit::survey::{
    FileSurvey, SourceFile, peak_memory, processor_time, reset_peak_memory, survey,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Libraries {
    library: Vec<Library>,
}

#[derive(Deserialize)]
struct Library {
    name: String,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    /// Libraries whose headers it includes.
    #[serde(default)]
    needs: Vec<String>,
    units: Option<String>,
}

/// The whole of a library.
struct Row {
    name: String,
    files: Vec<FileSurvey>,
    functions: BTreeSet<String>,
    refused: BTreeMap<String, String>,
    time: Duration,
    memory: Option<u64>,
}

fn main() {
    let (mut names, mut word, mut list) = (Vec::new(), String::new(), false);
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        match argument.split_once('=') {
            Some(("files", given)) => given.clone_into(&mut word),
            Some(("list", given)) => list = given == "1",
            _ => names.push(argument),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let Libraries { library } =
        toml::from_str(include_str!("lowering/libraries.toml")).expect("the list is TOML");
    let chosen = |library: &&Library| names.is_empty() || names.contains(&library.name);
    let mut rows = Vec::new();
    for library in library.iter().filter(chosen) {
        for name in std::iter::once(&library.name).chain(&library.needs) {
            fetch(&root, name);
        }
        let sources = sources(&root.join("target/real-c").join(&library.name), library);
        let sources = sources
            .into_iter()
            .filter(|source| word.is_empty() || source.file.to_string_lossy().contains(&word));
        let row = measure(&library.name, sources);
        say(&line(&row));
        rows.push((row, library));
    }
    say("");
    for (row, _) in &rows {
        say(&details(row, list));
    }
    say(&reasons(&rows));
    say(&speed_of_small_files(&rows));
    for (row, library) in rows.iter().filter(|(row, _)| row.name == "sqlite") {
        say(&against_clang(&root.join("target/real-c/sqlite"), row, library));
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn fetch(root: &Path, library: &str) {
    if !root.join("target/real-c").join(library).join(".from").is_file() {
        let status = Command::new(root.join("scripts/real-c")).arg(library).status();
        assert!(status.is_ok_and(|status| status.success()), "{library} cannot be fetched");
    }
}

/// The compilations of a library.
fn sources(place: &Path, library: &Library) -> Vec<SourceFile> {
    let source =
        |file: PathBuf, flags: Vec<String>| SourceFile { file, directory: place.to_owned(), flags };
    if let Some(units) = &library.units {
        let text = std::fs::read_to_string(place.join(units)).expect("the list of units");
        let lines = text.lines().filter_map(shlex::split);
        return lines.map(|words| source(words[0].clone().into(), words[1..].to_vec())).collect();
    }
    let mut found = Vec::new();
    for pattern in &library.files {
        match pattern.strip_suffix("*.c") {
            Some(folder) => found.extend(c_files(place, folder)),
            None => found.push(PathBuf::from(pattern)),
        }
    }
    let left_out = |file: &PathBuf| {
        library.except.iter().any(|name| file.file_name().is_some_and(|own| *own == **name))
    };
    found.retain(|file| !left_out(file));
    found.into_iter().map(|file| source(file, library.flags.clone())).collect()
}

fn c_files(place: &Path, folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place.join(folder)).expect("the folder is there");
    let names = entries.map(|entry| PathBuf::from(entry.expect("an entry").file_name()));
    let is_c = |name: &PathBuf| name.extension().is_some_and(|extension| extension == "c");
    let mut files: Vec<PathBuf> =
        names.filter(is_c).map(|name| Path::new(folder).join(name)).collect();
    files.sort();
    files
}

fn measure(name: &str, sources: impl Iterator<Item = SourceFile>) -> Row {
    reset_peak_memory();
    let start = Instant::now();
    let files: Vec<FileSurvey> = sources.map(|source| survey(&source)).collect();
    let time = start.elapsed();
    let functions = files.iter().flat_map(|file| file.functions.clone()).collect();
    let refused = files.iter().flat_map(|file| file.refused.clone()).collect();
    Row { name: name.to_owned(), files, functions, refused, time, memory: peak_memory() }
}

fn line(row: &Row) -> String {
    let (all, refused) = (row.functions.len(), row.refused.len());
    let lowered = all - refused;
    let failed = row.files.iter().filter(|file| file.failure.is_some()).count();
    let initialisers: usize = row.files.iter().map(|file| file.initialisers.len()).sum();
    let violations: usize = row.files.iter().map(|file| file.violations.len()).sum();
    let percent = 100.0 * lowered as f64 / all.max(1) as f64;
    let memory = row.memory.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string());
    format!(
        "{:<9} {:>4} files ({failed} fail) {all:>6} functions {lowered:>6} lowered {percent:>7.3} % \
         {refused:>4} refused {initialisers:>3} others {violations:>3} violations {:>7.1} s {memory:>5} MiB",
        row.name,
        row.files.len(),
        row.time.as_secs_f64(),
    )
}

/// Failures, violations and what is no function; with `list`, refused functions too.
fn details(row: &Row, list: bool) -> String {
    let mut lines = Vec::new();
    for file in &row.files {
        let name = file.file.display();
        lines.extend(file.failure.iter().map(|why| format!("{} {name}: fails: {why}", row.name)));
        lines.extend(file.violations.iter().map(|why| format!("{} {name}: {why}", row.name)));
        lines.extend(file.initialisers.iter().map(|what| format!("{} {what}", row.name)));
    }
    if list {
        lines.extend(row.refused.iter().map(|(key, why)| format!("{} {key}: {why}", row.name)));
    }
    lines.join("\n")
}

/// Reasons, most frequent first, with the libraries that they are met in.
fn reasons(rows: &[(Row, &Library)]) -> String {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (row, _) in rows {
        for reason in row.refused.values() {
            *counts.entry(reason).or_default().entry(&row.name).or_default() += 1;
        }
    }
    let mut sorted: Vec<(usize, &str, String)> = counts
        .iter()
        .map(|(reason, by_library)| {
            let places = by_library.iter().map(|(name, count)| format!("{name} {count}"));
            (by_library.values().sum(), *reason, places.collect::<Vec<_>>().join(", "))
        })
        .collect();
    sorted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let lines =
        sorted.iter().map(|(count, reason, places)| format!("{count:>5} {reason} ({places})"));
    std::iter::once("refused functions by reason:".to_owned())
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The times of files of about a thousand lines.
fn speed_of_small_files(rows: &[(Row, &Library)]) -> String {
    let files = rows.iter().flat_map(|(row, _)| &row.files);
    let mut times: Vec<(Duration, &FileSurvey)> = files
        .filter(|file| (900..=1100).contains(&file.lines))
        .map(|file| (file.processor, file))
        .collect();
    times.sort_by_key(|(time, _)| *time);
    let Some((slowest, file)) = times.last() else { return String::new() };
    let median = times[times.len() / 2].0;
    format!(
        "{} files of 900 to 1,100 lines: median {:.3} s (processor time, clang's included), slowest \
         {:.3} s ({}, lowering alone {:.3} s)",
        times.len(),
        median.as_secs_f64(),
        slowest.as_secs_f64(),
        file.file.display(),
        file.lowering.as_secs_f64(),
    )
}

/// The amalgamation's times beside those of the compiler, best of three each: by the clock, and
/// processor time.
fn against_clang(place: &Path, row: &Row, library: &Library) -> String {
    let Some(first) = row.files.first() else { return String::new() };
    let source = SourceFile {
        file: first.file.clone(),
        directory: place.to_owned(),
        flags: library.flags.clone(),
    };
    let output = tempfile::tempdir().expect("a temporary folder");
    let compile = || {
        let (start, before) = (Instant::now(), processor_time());
        let mut clang = Command::new("clang-19");
        clang.current_dir(place).args(["-O0", "-c", "-w"]).args(&library.flags);
        clang.arg("-o").arg(output.path().join("a.o")).arg(&first.file);
        assert!(clang.status().is_ok_and(|status| status.success()), "clang compiles it");
        let processor = processor_time().zip(before).map_or(Duration::ZERO, |(a, b)| a - b);
        (start.elapsed(), processor)
    };
    let clang: Vec<(Duration, Duration)> = (0..3).map(|_| compile()).collect();
    let again = [survey(&source), survey(&source)];
    let ours: Vec<&FileSurvey> = again.iter().chain([first]).collect();
    let best =
        |times: &mut dyn Iterator<Item = Duration>| times.min().unwrap_or_default().as_secs_f64();
    let clock = best(&mut ours.iter().map(|file| file.time()));
    let processor = best(&mut ours.iter().map(|file| file.processor));
    let lowering = best(&mut ours.iter().map(|file| file.lowering));
    let clang_clock = best(&mut clang.iter().map(|(clock, _)| *clock));
    let clang_processor = best(&mut clang.iter().map(|(_, processor)| *processor));
    format!(
        "{}: {clock:.2} s by the clock (lowering alone {lowering:.2} s), {processor:.2} s of processor \
         time; clang-19 -O0 -c {clang_clock:.2} s, {clang_processor:.2} s; ratios {:.2}, {:.2}",
        first.file.display(),
        clock / clang_clock,
        processor / clang_processor,
    )
}
