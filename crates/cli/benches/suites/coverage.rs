//! What gcov and llvm-cov measure of a suite, held against what its table claims.
//!
//! Claimed is what `objectives.json` says that tests of the C file cover which run by default: lines with a
//! statement, and the ways of conditions. gcov is asked for lines, llvm-cov for lines and conditions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::foreign::{Library, Unit};
use crate::llvm::{self, Agreement, ListedFunction, ObjectivesListing, Share};

/// How much of a file's claims the tools agree with.
#[derive(Default)]
pub(crate) struct ToolAgreement {
    pub(crate) gcov_lines: Share,
    /// Lines of which both say something, and one of the two what is claimed. Each counts lines behind calls
    /// that did not return, in places of its own.
    pub(crate) lines_of_one: Share,
    /// llvm-cov's; the notes are of both.
    pub(crate) llvm: Agreement,
}

/// What is asked of an objective.
#[derive(Deserialize)]
struct Objective {
    criterion: String,
    name: String,
    file: String,
    line: u64,
    column: u64,
    #[serde(default)]
    tests: Vec<String>,
}

/// Compiles the suite in a folder with each tool, runs it, and compares.
pub(crate) fn confirm(
    library: &Library,
    unit: &Unit,
    folder: &Path,
) -> Result<ToolAgreement, String> {
    let claims = Claims::read(unit, folder)?;
    let ToolAgreement { mut gcov_lines, mut lines_of_one, mut llvm } = ToolAgreement::default();
    let by_gcov = gcov(library, unit, folder)?;
    claims.compare_lines(&by_gcov, "gcov", &mut gcov_lines, &mut llvm.notes);
    let (by_llvm, json) = llvm_cov(library, unit, folder)?;
    claims.compare_lines(&by_llvm, "llvm-cov", &mut llvm.lines, &mut llvm.notes);
    for (line, claimed) in &claims.lines {
        if let (Some(one), Some(other)) = (by_gcov.get(line), by_llvm.get(line)) {
            lines_of_one.add(*claimed == (*one > 0) || *claimed == (*other > 0));
        }
    }
    let text = std::fs::read_to_string(library.place.join(&unit.file));
    let text = text.map_err(|error| error.to_string())?;
    for function in &claims.functions {
        let Some(theirs) = llvm::branches(&json, &function.name) else { continue };
        let ways = function.objectives.iter().filter(|objective| objective.criterion == "bc");
        let text =
            |o: &Objective| text.lines().nth(o.line as usize - 1)?.get(..o.column as usize - 1);
        // The condition of `!x` is `x` to Lydian and `!x` to llvm-cov.
        let is_negated =
            |o: &Objective| text(o).is_some_and(|text| llvm::begins_negated(text.chars().rev()));
        let ways: Vec<(&Objective, String)> = ways
            .map(|o| {
                (
                    o,
                    match is_negated(o) {
                        true => inverted(&o.name),
                        false => o.name.clone(),
                    },
                )
            })
            .collect();
        let ways = ways.iter().map(|(o, name)| (o.line, o.column, name.as_str(), claims.covers(o)));
        llvm::compare_sides(&llvm::sides(ways, " to "), &theirs, true, &mut llvm);
    }
    Ok(ToolAgreement { gcov_lines, lines_of_one, llvm })
}

/// The name of the other side of a condition.
fn inverted(name: &str) -> String {
    match name.strip_suffix("true") {
        Some(start) => format!("{start}false"),
        None => name.strip_suffix("false").map_or(name.to_owned(), |start| format!("{start}true")),
    }
}

/// What a suite is said to cover.
struct Claims {
    functions: Vec<ListedFunction<Objective>>,
    /// The tests that the C file runs.
    run: BTreeSet<String>,
    /// For each line of the file with a statement, whether it is covered.
    lines: BTreeMap<u64, bool>,
}

impl Claims {
    fn read(unit: &Unit, folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))
        };
        let listed: ObjectivesListing<Objective> =
            serde_json::from_str(&read("objectives.json")?).map_err(|e| e.to_string())?;
        let suite: Value = serde_json::from_str(&read("tests.json")?).map_err(|e| e.to_string())?;
        let text = read("tests.c")?;
        let tests = suite["tests"].as_array().ok_or("tests.json: no tests")?;
        let run = tests.iter().filter_map(|test| {
            let name = test["name"].as_str()?;
            let outcome = &test["expected"]["outcome"];
            let ends_well = outcome == "returned" || outcome.get("exited").is_some();
            let is_defined = test["expected"]["undefined"] != true;
            let is_left_out = text.contains(&format!("/* {name} is only in the JSON form"));
            (ends_well && is_defined && !is_left_out).then(|| name.to_owned())
        });
        let mut claims =
            Self { functions: listed.functions, run: run.collect(), lines: BTreeMap::new() };
        let mut lines: BTreeMap<u64, bool> = BTreeMap::new();
        let objectives = claims.functions.iter().flat_map(|function| &function.objectives);
        let of_file = |objective: &&Objective| Path::new(&objective.file).ends_with(&unit.file);
        for objective in objectives.filter(of_file).filter(|o| o.criterion == "stmt") {
            *lines.entry(objective.line).or_default() |= claims.covers(objective);
        }
        claims.lines = lines;
        Ok(claims)
    }

    /// Whether tests cover it that run by default.
    fn covers(&self, objective: &Objective) -> bool {
        objective.tests.iter().any(|test| self.run.contains(test))
    }

    fn compare_lines(
        &self,
        measured: &BTreeMap<u64, u64>,
        tool: &str,
        count: &mut Share,
        notes: &mut Vec<String>,
    ) {
        for (line, claimed) in &self.lines {
            let Some(times) = measured.get(line) else { continue };
            count.add(*claimed == (*times > 0));
            if *claimed != (*times > 0) {
                notes.push(format!("line {line}: claimed {claimed}, {tool} {times} times"));
            }
        }
    }
}

/// Compiles the suite of a folder to a program in a new one beside it.
fn compiled(
    (compiler, flags): (&str, &[&str]),
    library: &Library,
    unit: &Unit,
    (folder, name): (&Path, &str),
) -> Result<std::path::PathBuf, String> {
    let place = folder.join(name);
    std::fs::create_dir_all(&place).map_err(|error| error.to_string())?;
    let program = place.join("suite");
    let mut command = Command::new(compiler);
    command.current_dir(&library.place).args(["-w", "-O0"]).args(&unit.flags).args(flags);
    command.arg(folder.join("tests.c")).arg("-o").arg(&program).args(["-lm", "-lpthread"]);
    llvm::run(&mut command)?;
    Ok(program)
}

/// Runs a suite with its profile in a place; whether its tests pass is another question.
fn run(program: &Path, profile: &Path) {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program).env("LLVM_PROFILE_FILE", profile);
    let _ = command.output();
}

/// Counts of the lines of a unit by gcov.
fn gcov(library: &Library, unit: &Unit, folder: &Path) -> Result<BTreeMap<u64, u64>, String> {
    let program = compiled(("gcc", &["--coverage"]), library, unit, (folder, "gcov"))?;
    run(&program, Path::new("/dev/null"));
    let place = program.parent().expect("it lies in a folder");
    let mut gcov = Command::new("gcov");
    gcov.current_dir(place).args(["--json-format", "--stdout", "suite-tests.gcda"]);
    let json: Value = serde_json::from_str(&llvm::run(&mut gcov)?).map_err(|e| e.to_string())?;
    let files = json["files"].as_array().into_iter().flatten();
    let of_unit = files.filter(|file| {
        file["file"].as_str().is_some_and(|path| Path::new(path).ends_with(&unit.file))
    });
    let mut lines: BTreeMap<u64, u64> = BTreeMap::new();
    for line in of_unit.flat_map(|file| file["lines"].as_array().into_iter().flatten()) {
        if let (Some(number), Some(count)) = (line["line_number"].as_u64(), line["count"].as_u64())
        {
            *lines.entry(number).or_default() += count;
        }
    }
    Ok(lines)
}

/// Counts of the lines of a unit by llvm-cov, and all that it exports.
fn llvm_cov(
    library: &Library,
    unit: &Unit,
    folder: &Path,
) -> Result<(BTreeMap<u64, u64>, Value), String> {
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping"];
    let program = compiled(("clang-19", &flags), library, unit, (folder, "llvm"))?;
    let place = program.parent().expect("it lies in a folder");
    let raw = place.join("raw");
    run(&program, &raw.join("%m.profraw"));
    let profile = llvm::merged(&raw, place.join("profdata"))?;
    let export = |format| llvm::export(&program, &profile, format);
    let json = serde_json::from_str(&export("-format=text")?).map_err(|e| e.to_string())?;
    Ok((llvm::lines(&export("-format=lcov")?, &unit.file), json))
}
