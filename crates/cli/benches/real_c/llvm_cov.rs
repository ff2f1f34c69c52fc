//! What clang's own coverage says of the emitted C tests, held against Lydian's measurement.
//!
//! A test that ends in a crash writes no profile, so Lydian measures the same tests without those.
//! Compared are, in the function under test alone:
//!
//! - lines with statements: executed by llvm-cov's line counts, covered by criterion `stmt`;
//! - branches: true and false counts of each condition, covered by criterion `bc`;
//! - decisions of one condition: the same counts, covered by criterion `dc`.
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

use super::{Work, first_error};

/// How many of what was compared agrees.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    agree: usize,
    all: usize,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agree, self.all)
    }
}

impl Count {
    fn add(&mut self, agrees: bool) {
        self.all += 1;
        self.agree += usize::from(agrees);
    }
}

/// The result of a comparison.
#[derive(Default)]
pub(crate) struct Agreement {
    pub(crate) lines: Count,
    pub(crate) branches: Count,
    pub(crate) decisions: Count,
    /// Each disagreement, and what was not compared.
    pub(crate) notes: Vec<String>,
}

/// `lydian objectives --json`.
#[derive(Deserialize)]
struct Listed {
    functions: Vec<ListedFunction>,
}

#[derive(Deserialize)]
struct ListedFunction {
    name: String,
    objectives: Vec<Objective>,
}

#[derive(Deserialize)]
struct Objective {
    criterion: String,
    name: String,
    file: String,
    line: u64,
    column: u64,
    predicate: String,
    duplicate_of: Option<u32>,
}

/// By line, column and name of a condition or decision: whether its sides, true and false, are
/// covered, where they are objectives.
type Sides = BTreeMap<(u64, u64, String), Covered>;
type Covered = [Option<bool>; 2];

/// By line, in the order of the text: how often each condition was true and false.
type Branches = BTreeMap<u64, Vec<Counts>>;
type Counts = [u64; 2];

/// Compiles and runs the emitted tests and compares.
pub(super) fn compare(work: &Work<'_>, folder: &Path) -> Result<Agreement, String> {
    let llvm = Llvm::measure(work, folder)?;
    let (objectives, missing) = lydian(work, folder)?;
    let mut agreement = Agreement::default();
    let covered = |objective: &Objective| !missing.contains(&entry_of(work, objective));
    let function: Vec<&Objective> =
        objectives.iter().filter(|o| o.duplicate_of.is_none()).collect();

    let mut lines: BTreeMap<u64, bool> = BTreeMap::new();
    for objective in function.iter().filter(|objective| objective.criterion == "stmt") {
        *lines.entry(objective.line).or_default() |= covered(objective);
    }
    for (line, ours) in lines {
        match llvm.lines.get(&line) {
            Some(count) => {
                let agrees = ours == (*count > 0);
                agreement.lines.add(agrees);
                if !agrees {
                    let what = format!("line {line}: lydian {ours}, llvm-cov {count} times");
                    agreement.notes.push(what);
                }
            }
            None => agreement.notes.push(format!("line {line}: llvm-cov has no count")),
        }
    }
    let branches = sides(function.iter().filter(|o| o.criterion == "bc"), " to ", &covered);
    compare_sides(&branches, &llvm.branches, true, &mut agreement);
    let decisions = sides(function.iter().filter(|o| o.criterion == "dc"), " ", &covered);
    compare_sides(&decisions, &llvm.branches, false, &mut agreement);
    Ok(agreement)
}

/// The sides of conditions or decisions, whose names end with `true` or `false` behind `before`.
fn sides<'a>(
    objectives: impl Iterator<Item = &'a &'a Objective>,
    before: &str,
    covered: &impl Fn(&Objective) -> bool,
) -> Sides {
    let mut sides = Sides::new();
    for objective in objectives {
        for (side, word) in ["true", "false"].into_iter().enumerate() {
            if let Some(name) = objective.name.strip_suffix(&format!("{before}{word}")) {
                let key = (objective.line, objective.column, name.to_owned());
                sides.entry(key).or_default()[side] = Some(covered(objective));
            }
        }
    }
    sides
}

/// Pairs by line and order. Decisions are only compared on lines where each has one condition.
fn compare_sides(ours: &Sides, theirs: &Branches, conditions: bool, agreement: &mut Agreement) {
    let mut lines: BTreeMap<u64, Vec<(&str, Covered)>> = BTreeMap::new();
    for ((line, _, name), sides) in ours {
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

/// An objective as `lydian cover --missing` writes it, with the ends of lines around it: the text of
/// a condition may have several lines.
fn entry_of(work: &Work<'_>, objective: &Objective) -> String {
    let Objective { criterion, name, file, line, column, predicate, .. } = objective;
    format!("\n{file}:{line}:{column}: {} {criterion} {name}: {predicate}\n", work.function)
}

/// The objectives, and those that the tests of the emitted file miss, as text.
fn lydian(work: &Work<'_>, folder: &Path) -> Result<(Vec<Objective>, String), String> {
    let criteria = ["-c", "stmt,bc,dc"];
    let json = folder.with_extension("objectives.json");
    let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
    lydian.current_dir(&work.place).args(["objectives", &work.file, "-f", &work.function]);
    lydian.args(criteria).arg("--json").arg(&json);
    // With preconditions Lydian reads the file through another one, which shows in the places.
    if let Some(config) = &work.config {
        lydian.arg("--config").arg(config);
    }
    lydian.arg("--").args(work.flags);
    let out = lydian.output().map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&json).map_err(|_| first_error(&out))?;
    let listed: Listed = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let function = listed.functions.into_iter().find(|function| function.name == work.function);
    let objectives = function.ok_or("the function is not listed")?.objectives;

    let same = with_profile(folder)?;
    let json = folder.with_extension("stmt.json");
    let out = work.lydian("cover", &["-c", "stmt,bc,dc", "--missing", "--tests"], &same, &json);
    if !out.status.success() {
        return Err(first_error(&out));
    }
    Ok((objectives, String::from_utf8_lossy(&out.stdout).into_owned()))
}

/// A file with the tests whose run writes a profile: those that the emitted C has and that end well.
fn with_profile(folder: &Path) -> Result<PathBuf, String> {
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let c = read("tests.c")?;
    let mut suite: Value = serde_json::from_str(&read("tests.json")?).map_err(|e| e.to_string())?;
    let tests =
        suite.get_mut("tests").and_then(Value::as_array_mut).ok_or("tests.json: no tests")?;
    tests.retain(|test| {
        let name = test.get("name").and_then(Value::as_str).unwrap_or_default();
        let outcome = test.pointer("/expected/outcome").unwrap_or(&Value::Null);
        let ends_well = outcome == "returned" || outcome.get("exited").is_some();
        ends_well && !c.contains(&format!("/* {name} is only in the JSON form"))
    });
    let path = folder.with_extension("run.json");
    std::fs::write(&path, suite.to_string()).map_err(|error| error.to_string())?;
    Ok(path)
}

/// What llvm-cov says of the function.
struct Llvm {
    /// Counts of lines of the source file.
    lines: BTreeMap<u64, u64>,
    branches: Branches,
}

impl Llvm {
    fn measure(work: &Work<'_>, folder: &Path) -> Result<Self, String> {
        let program = folder.with_extension("llvm");
        let profile = folder.with_extension("profdata");
        let mut clang = Command::new("clang-19");
        clang.current_dir(&work.place).args(["-w", "-g", "-O0"]).args(work.flags);
        clang.args(["-fprofile-instr-generate", "-fcoverage-mapping"]);
        // What the function does not need may call what no one defines.
        clang.args(["-ffunction-sections", "-Wl,--gc-sections"]);
        clang.arg(folder.join("tests.c")).arg("-o").arg(&program).arg("-lm");
        run(&mut clang)?;
        let raw = folder.join("llvm");
        let mut tests = Command::new(&program);
        tests.env("LLVM_PROFILE_FILE", raw.join("%m.profraw")).current_dir(folder);
        run(&mut tests).map_err(|error| format!("the emitted tests fail: {error}"))?;
        let raws = std::fs::read_dir(&raw).map_err(|error| format!("no profile: {error}"))?;
        let raws = raws.flatten().map(|entry| entry.path());
        run(Command::new("llvm-profdata-19")
            .args(["merge", "-sparse", "-o"])
            .arg(&profile)
            .args(raws))?;
        let instr = format!("-instr-profile={}", profile.display());
        let export = |format: &str| {
            run(Command::new("llvm-cov-19").arg("export").arg(format).arg(&program).arg(&instr))
        };
        let json: Value =
            serde_json::from_str(&export("-format=text")?).map_err(|e| e.to_string())?;
        Ok(Self {
            lines: lines(&export("-format=lcov")?, &work.file),
            branches: branches(&json, &work.function).ok_or("llvm-cov has no such function")?,
        })
    }
}

/// The output of a command, or what it complains about.
fn run(command: &mut Command) -> Result<String, String> {
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
fn lines(lcov: &str, file: &str) -> BTreeMap<u64, u64> {
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
fn branches(json: &Value, function: &str) -> Option<Branches> {
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
    for branch in numbers("branches").iter().filter(|branch| branch.len() >= 7) {
        let mut place = vec![(branch[0], branch[1])];
        let mut file = branch[6];
        while let Some((outer, line, column)) = uses.get(&file) {
            place.insert(0, (*line, *column));
            file = *outer;
        }
        found.push((place, [branch[4], branch[5]]));
    }
    found.sort();
    let mut lines = Branches::new();
    for (place, counts) in found {
        lines.entry(place[0].0).or_default().push(counts);
    }
    Some(lines)
}
