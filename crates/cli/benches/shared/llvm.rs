//! What clang's coverage says of a program's lines and conditions, and how it is held against what Lydian
//! says of objectives.
//!
//! Lydian's columns are those of the preprocessed text and llvm-cov's those of the source, so
//! conditions are paired by line and their order in it. Lines on which the two see different
//! numbers of conditions (constants that clang folds, macros over several lines) are not compared.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// What `lydian objectives --json` and `objectives.json` have in common, with what is read of an objective.
#[derive(Deserialize)]
pub(crate) struct ObjectivesListing<O> {
    pub(crate) functions: Vec<ListedFunction<O>>,
}

#[derive(Deserialize)]
pub(crate) struct ListedFunction<O> {
    pub(crate) name: String,
    pub(crate) objectives: Vec<O>,
}

/// How many of what was compared agrees.
#[derive(Clone, Copy, Default)]
pub(crate) struct Share {
    pub(crate) agree: usize,
    pub(crate) all: usize,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agree, self.all)
    }
}

impl Share {
    pub(crate) fn add(&mut self, agrees: bool) {
        self.all += 1;
        self.agree += usize::from(agrees);
    }
}

/// The result of a comparison.
#[derive(Default)]
pub(crate) struct Agreement {
    pub(crate) lines: Share,
    pub(crate) branches: Share,
    pub(crate) decisions: Share,
    /// Each disagreement, and what was not compared.
    pub(crate) notes: Vec<String>,
}

/// By line, column and name of a condition or decision, its numbers first: whether its sides, true and
/// false, are covered, where they are objectives.
pub(crate) type Sides = BTreeMap<(u64, u64, (Vec<u64>, String)), SideCoverage>;
pub(crate) type SideCoverage = [Option<bool>; 2];

/// By line, in the order of the text: how often each condition was true and false.
pub(crate) type Branches = BTreeMap<u64, Vec<Counts>>;
pub(crate) type Counts = [u64; 2];

/// The sides of conditions or decisions, by line, column, name and whether they are covered; their names end with `true` or `false` behind `before`.
pub(crate) fn sides<'a>(
    objectives: impl Iterator<Item = (u64, u64, &'a str, bool)>,
    before: &str,
) -> Sides {
    let mut sides = Sides::new();
    for (line, column, name, covered) in objectives {
        for (side, word) in ["true", "false"].into_iter().enumerate() {
            if let Some(name) = name.strip_suffix(&format!("{before}{word}")) {
                let key = (line, column, (numbers_in(name), name.to_owned()));
                sides.entry(key).or_default()[side] = Some(covered);
            }
        }
    }
    sides
}

/// The numbers in a name: 12 and 3 of `d12.c3`.
fn numbers_in(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Pairs by line and order. Decisions are only compared on lines where each has one condition.
pub(crate) fn compare_sides(
    ours: &Sides,
    theirs: &Branches,
    conditions: bool,
    agreement: &mut Agreement,
) {
    let mut lines: BTreeMap<u64, Vec<(&str, SideCoverage)>> = BTreeMap::new();
    for ((line, _, (_, name)), sides) in ours {
        lines.entry(*line).or_default().push((name, *sides));
    }
    for (line, ours) in lines {
        let theirs = theirs.get(&line).map_or(&[][..], Vec::as_slice);
        if ours.len() != theirs.len() {
            if conditions {
                let (here, there) = (ours.len(), theirs.len());
                let what =
                    format!("line {line}: {here} conditions, by llvm-cov {there}: not compared");
                agreement.notes.push(what);
            }
            continue;
        }
        for ((name, ours), counts) in ours.into_iter().zip(theirs) {
            for (side, word) in ["true", "false"].into_iter().enumerate() {
                let Some(covered) = ours[side] else { continue };
                let agrees = covered == (counts[side] > 0);
                let count =
                    if conditions { &mut agreement.branches } else { &mut agreement.decisions };
                count.add(agrees);
                if !agrees {
                    agreement.notes.push(format!(
                        "line {line}: {name} {word}: lydian {covered}, llvm-cov {} times",
                        counts[side]
                    ));
                }
            }
        }
    }
}

/// The output of a command, or what it complains about.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|error| format!("{name}: {error}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let both = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&both);
    let lines: Vec<&str> = text.lines().take(4).collect();
    Err(format!("{name}: {}: {}", out.status, lines.join(" | ")))
}

/// `DA:` lines of the source's section.
pub(crate) fn lines(lcov: &str, file: &str) -> BTreeMap<u64, u64> {
    let mut inside = false;
    let mut found = BTreeMap::new();
    for line in lcov.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            inside = Path::new(path).ends_with(file);
        } else if inside {
            let row = line.strip_prefix("DA:").and_then(|row| row.split_once(','));
            let numbers = row.and_then(|(line, count)| {
                Some((line.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
            });
            found.extend(numbers);
        }
    }
    found
}

/// The branches of a function by the line in the function's file at which they, or the macro that
/// they come from, stand; in the order of the text.
pub(crate) fn branches(json: &Value, function: &str) -> Option<Branches> {
    let functions = json.pointer("/data/0/functions")?.as_array()?;
    let named = |candidate: &&Value| {
        let name = candidate.get("name").and_then(Value::as_str).unwrap_or_default();
        name == function || name.rsplit(':').next() == Some(function)
    };
    let function = functions.iter().find(named)?;
    let numbers = |key: &str| -> Vec<Vec<u64>> {
        let rows = function.get(key).and_then(Value::as_array).into_iter().flatten();
        let row =
            |row: &Value| row.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        rows.map(row).collect()
    };
    // [line, column, end line, end column, count, file, expanded file, kind]; kind 1 is the use of a
    // macro, whose text is the expanded file.
    let uses: BTreeMap<u64, (u64, u64, u64)> = numbers("regions")
        .iter()
        .filter(|region| region.get(7) == Some(&1))
        .map(|region| (region[6], (region[5], region[0], region[1])))
        .collect();
    let mut found: Vec<(Vec<(u64, u64)>, Counts)> = Vec::new();
    let mut texts = SourceTexts::of(function);
    for branch in numbers("branches").iter().filter(|branch| branch.len() >= 7) {
        let mut place = vec![(branch[0], branch[1])];
        let mut file = branch[6];
        let is_negated = uses.contains_key(&file) && texts.is_negation(file, place[0]);
        while let Some((outer, line, column)) = uses.get(&file) {
            place.insert(0, (*line, *column));
            file = *outer;
        }
        // The condition of `!x` is `x` to Lydian, in macros as elsewhere.
        let (yes, no) = (branch[4], branch[5]);
        found.push((place, if is_negated { [no, yes] } else { [yes, no] }));
    }
    found.sort();
    let mut lines = Branches::new();
    for (place, counts) in found {
        lines.entry(place[0].0).or_default().push(counts);
    }
    Some(lines)
}

/// The texts of the files of a function.
struct SourceTexts {
    files: Vec<PathBuf>,
    read: BTreeMap<u64, String>,
}

impl SourceTexts {
    fn of(function: &Value) -> Self {
        let names = function.get("filenames").and_then(Value::as_array).into_iter().flatten();
        let files = names.filter_map(|name| Some(PathBuf::from(name.as_str()?))).collect();
        Self { files, read: BTreeMap::new() }
    }

    /// Whether an odd number of `!` begins at a place of a file.
    fn is_negation(&mut self, file: u64, (line, column): (u64, u64)) -> bool {
        let read = |files: &[PathBuf]| {
            let path = files.get(file as usize);
            path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let text = self.read.entry(file).or_insert_with(|| read(&self.files));
        let line = text.lines().nth(line as usize - 1).unwrap_or_default();
        let rest = line.get(column as usize - 1..).unwrap_or_default();
        begins_negated(rest.chars())
    }
}

/// Whether a text begins with an odd number of `!`, with parentheses and spaces among them.
pub(crate) fn begins_negated(text: impl Iterator<Item = char>) -> bool {
    let signs = text.take_while(|c| matches!(c, '!' | '(' | ' '));
    signs.filter(|sign| *sign == '!').count() % 2 == 1
}

/// The profile of the raw ones in a folder.
pub(crate) fn merged(raw: &Path, profile: PathBuf) -> Result<PathBuf, String> {
    let raws = std::fs::read_dir(raw).map_err(|error| format!("no profile: {error}"))?;
    let raws = raws.flatten().map(|entry| entry.path());
    let mut merge = Command::new("llvm-profdata-19");
    run(merge.args(["merge", "-sparse", "-o"]).arg(&profile).args(raws))?;
    Ok(profile)
}

/// What llvm-cov exports in a format.
pub(crate) fn export(program: &Path, profile: &Path, format: &str) -> Result<String, String> {
    let instr = format!("-instr-profile={}", profile.display());
    run(Command::new("llvm-cov-19").arg("export").arg(format).arg(program).arg(instr))
}
