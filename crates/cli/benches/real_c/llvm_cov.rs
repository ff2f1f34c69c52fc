//! What clang's own coverage says of the emitted C tests, held against Lydian's measurement.
//!
//! A test that ends in a crash writes no profile, so Lydian measures the same tests without those.
//! Compared are, in the function under test alone:
//!
//! - lines with statements: executed by llvm-cov's line counts, covered by criterion `stmt`;
//! - branches: true and false counts of each condition, covered by criterion `bc`;
//! - decisions of one condition: the same counts, covered by criterion `dc`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::llvm::{
    self, Agreement, Branches, ObjectivesListing, branches, compare_sides, lines, run, sides,
};
use super::{Work, first_error};

/// What is asked of an objective.
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
    let of = |criterion: &'static str| {
        let of = function.iter().filter(move |objective| objective.criterion == criterion);
        of.map(|o| (o.line, o.column, o.name.as_str(), covered(o)))
    };
    let branches = sides(of("bc"), " to ");
    compare_sides(&branches, &llvm.branches, true, &mut agreement);
    let decisions = sides(of("dc"), " ");
    compare_sides(&decisions, &llvm.branches, false, &mut agreement);
    Ok(agreement)
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
    let listed: ObjectivesListing<Objective> =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
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
        let profile = llvm::merged(&raw, profile)?;
        let export = |format| llvm::export(&program, &profile, format);
        let json: Value =
            serde_json::from_str(&export("-format=text")?).map_err(|e| e.to_string())?;
        Ok(Self {
            lines: lines(&export("-format=lcov")?, &work.file),
            branches: branches(&json, &work.function).ok_or("llvm-cov has no such function")?,
        })
    }
}
