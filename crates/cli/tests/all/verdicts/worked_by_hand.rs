//! Every criterion on small functions: objectives and coverage as worked out by hand.
//!
//! The functions are in `by_hand`, with what is expected before each (`by_hand/README.md` has the
//! form). All of a file is compiled once for each semantics of conditions, and run once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::common::wrapped::{built, coverage, shell, warnings};
use crate::common::{self, Workplace};

/// The criteria that `lydian report` measures, in the order of its tables.
const CRITERIA: [&str; 37] = [
    "fc",
    "fcc",
    "stmt",
    "bbc",
    "bc",
    "slo",
    "elo",
    "mlo",
    "dc",
    "cc",
    "dcc",
    "mcc",
    "gacc",
    "gicc",
    "cacc",
    "racc",
    "ricc",
    "mcdc",
    "ic",
    "utpc",
    "cutpnfp",
    "bva",
    "wm",
    "idc",
    "rte",
    "all-defs",
    "all-uses",
    "all-du-paths",
    "all-defs-cells",
    "all-uses-cells",
    "all-du-paths-cells",
    "epc",
    "ppc",
    "srtc",
    "crtc",
    "bpc",
    "cpc",
];
/// The criteria of which `labels.c` has examples.
const WRITTEN: [&str; 3] = ["user", "htol", "spc"];
/// How many functions each criterion is worked out on at least.
const EXAMPLES: usize = 6;

/// What is expected of one function and criterion.
#[derive(Debug, Default)]
struct Row {
    function: String,
    criterion: String,
    short_circuit: bool,
    covered: usize,
    objectives: usize,
    duplicates: usize,
    /// A status, and all objectives that have it.
    listed: Option<(String, Vec<String>)>,
}

/// A file with its expectations.
struct HandWorkedFile {
    text: String,
    rows: Vec<Row>,
    /// Runs for `lydian cover`: a function and its arguments.
    tests: Vec<(String, Value)>,
    /// The letters of lines.
    letters: BTreeMap<u64, String>,
}

impl HandWorkedFile {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/by_hand").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut entries: Vec<String> = Vec::new();
        let mut letters = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            match line.strip_prefix("//= ") {
                Some(more) if more.starts_with(' ') => {
                    let entry = entries.last_mut().unwrap_or_else(|| panic!("{name}:{number}"));
                    entry.push(' ');
                    entry.push_str(more.trim());
                }
                Some(entry) => entries.push(entry.to_owned()),
                None => {
                    if let Some((_, letter)) = line.split_once("// @") {
                        letters.insert(number, format!("@{letter}"));
                    }
                }
            }
        }
        let mut this = Self { text, rows: Vec::new(), tests: Vec::new(), letters };
        let mut function = String::new();
        for entry in &entries {
            let (word, rest) = entry.split_once(' ').unwrap_or((entry, ""));
            match word {
                "function" => function = rest.to_owned(),
                "test" => {
                    let args = serde_json::from_str(rest);
                    let args = args.unwrap_or_else(|e| panic!("{name}: {entry}: {e}"));
                    this.tests.push((function.clone(), args));
                }
                _ => this.rows.extend(rows(&function, entry)),
            }
        }
        this
    }

    /// A text with the letters of its lines in the place of their numbers.
    fn lettered(&self, text: &str) -> String {
        let letter = |number: &str| {
            let known = number.parse().ok().and_then(|number: u64| self.letters.get(&number));
            known.cloned().unwrap_or_else(|| number.to_owned())
        };
        if let Some(list) = text.strip_prefix("lines ") {
            return list.split(", ").map(letter).collect::<Vec<_>>().join(" ");
        }
        if let Some((pair, path)) = text.split_once(" by ") {
            return format!("{} by {}", self.lettered(pair), self.lettered(path));
        }
        let mut parts = text.split("line ");
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            out += "line ";
            out += &letter(&part[..end]);
            out += &part[end..];
        }
        out
    }

    /// The names by which an expectation may list an objective of a report.
    fn names(&self, objective: &Value) -> Vec<String> {
        let text = |key: &str| objective[key].as_str().unwrap_or("").to_owned();
        let mut names = vec![text("name"), self.lettered(&text("text"))];
        names.extend(path_of(&names[1]));
        let line = objective["start"][0].as_u64().unwrap_or(0);
        names.extend(self.letters.get(&line).cloned());
        names
    }
}

/// The path of a pair of ALL-DU-PATHS.
fn path_of(text: &str) -> Option<String> {
    text.split_once(" by @").map(|(_, path)| format!("@{path}"))
}

/// The rows of one entry.
fn rows(function: &str, entry: &str) -> Vec<Row> {
    let fail = |what: &str| -> ! { panic!("{function}: {what} is missing in `{entry}`") };
    let said = entry.split(" -- ").next().unwrap_or("").trim();
    let (short_circuit, said) = match said.strip_prefix("short-circuit ") {
        Some(rest) => (true, rest),
        None => (false, said),
    };
    let mut words = said.split_whitespace();
    let criteria = words.next().unwrap_or_else(|| fail("a criterion"));
    let counts = words.next().and_then(|counts| counts.split_once('/'));
    let (covered, objectives) = counts.unwrap_or_else(|| fail("COVERED/OBJECTIVES"));
    let number = |text: &str| text.parse().unwrap_or_else(|_| fail("a number"));
    let mut rest: Vec<&str> = words.collect();
    let mut duplicates = 0;
    if let Some(count) = rest.first().and_then(|word| word.strip_prefix('+')) {
        duplicates = number(count);
        rest.drain(..2);
    }
    let listed = rest.split_first().map(|(status, items)| {
        let items = items.join(" ");
        ((*status).to_owned(), items.split(';').map(|item| item.trim().to_owned()).collect())
    });
    let row = |criterion: &str| Row {
        function: function.to_owned(),
        criterion: criterion.to_owned(),
        short_circuit,
        covered: number(covered),
        objectives: number(objectives),
        duplicates,
        listed: listed.clone(),
    };
    criteria.split(',').map(row).collect()
}

/// Takes each item out of the names of objectives; says what is left on either side.
fn compare(listed: &[String], mut found: Vec<Vec<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for item in listed {
        let (count, name) = match item.split_once("x ") {
            Some((count, name)) if count.parse::<usize>().is_ok() => {
                (count.parse().expect("it was one"), name)
            }
            _ => (1, item.as_str()),
        };
        for _ in 0..count {
            match found.iter().position(|names| names.iter().any(|known| known == name)) {
                Some(at) => drop(found.remove(at)),
                None => wrong.push(format!("    not so: {item}")),
            }
        }
    }
    wrong.extend(found.iter().map(|names| format!("    not listed: {}", names.join(" | "))));
    wrong
}

/// Compares one row with the objectives of a report.
fn differences(worked: &HandWorkedFile, row: &Row, objectives: &[Value]) -> Vec<String> {
    let of_row: Vec<&Value> =
        objectives.iter().filter(|o| o["criterion"] == *row.criterion).collect();
    let with = |status: &str| -> Vec<&Value> {
        of_row.iter().copied().filter(|o| o["status"] == status).collect()
    };
    let (covered, duplicates) = (with("covered").len(), with("duplicate").len());
    let mut wrong = Vec::new();
    let counted = of_row.len() - duplicates;
    if (covered, counted, duplicates) != (row.covered, row.objectives, row.duplicates) {
        wrong.push(format!("    it says {covered}/{counted} +{duplicates} duplicates"));
    }
    if let Some((status, items)) = &row.listed {
        let found = with(status).into_iter().map(|objective| worked.names(objective)).collect();
        wrong.extend(compare(items, found));
    } else if !wrong.is_empty() {
        let missing = with("missing").into_iter().map(|o| worked.names(o).join(" | "));
        wrong.extend(missing.map(|name| format!("    missing: {name}")));
    }
    if !wrong.is_empty() {
        let way = if row.short_circuit { "short-circuit " } else { "" };
        let Row { function, criterion, covered, objectives, duplicates, .. } = row;
        let line = format!("{function}: {way}{criterion} {covered}/{objectives} +{duplicates}");
        wrong.insert(0, line);
    }
    wrong
}

/// How many objectives of each function and criterion `lydian objectives` lists.
fn listed_counts(at: &Workplace, file: &str, criteria: &str) -> BTreeMap<(String, String), usize> {
    at.done(&format!("objectives {file} -c {criteria} --json list.json -- -Wno-everything"));
    let mut counts = BTreeMap::new();
    for function in at.json("list.json")["functions"].as_array().expect("a list") {
        let name = function["name"].as_str().expect("a name");
        for objective in function["objectives"].as_array().expect("a list") {
            let criterion = objective["criterion"].as_str().expect("a criterion");
            *counts.entry((name.to_owned(), criterion.to_owned())).or_default() += 1;
        }
    }
    counts
}

/// Compiles, runs and compares a file.
fn holds(file: &str) {
    let worked = HandWorkedFile::read(file);
    let criteria = CRITERIA.join(",");
    let with_tests: BTreeSet<&str> = worked.tests.iter().map(|(name, _)| name.as_str()).collect();
    let mut wrong = Vec::new();
    for short_circuit in [false, true] {
        let rows: Vec<&Row> =
            worked.rows.iter().filter(|row| row.short_circuit == short_circuit).collect();
        if rows.is_empty() {
            continue;
        }
        let at = Workplace::with("");
        at.write(file, &worked.text);
        let options = match short_circuit {
            true => "-c mcc,gacc,gicc,cacc,racc,ricc,mcdc --semantics short-circuit".to_owned(),
            false => format!("-c {criteria}"),
        };
        built(&at, &options, &format!("clang-19 -O1 -w -pthread {file} -o worked"));
        assert_eq!(shell(&at, "./worked").code, Some(0), "{file}");
        let found = coverage(&at);
        assert_eq!(warnings(&found), "", "{file}");
        assert_eq!(found["plain"], json!([]), "{file}");
        let counts = match short_circuit {
            true => None,
            false => Some(listed_counts(&at, file, &criteria)),
        };
        let tested: Vec<&Row> =
            rows.iter().copied().filter(|row| with_tests.contains(&*row.function)).collect();
        if !tested.is_empty() {
            wrong.extend(against_tests(&worked, file, &at, &options, &tested));
        }
        for row in rows {
            let function = common::wrapped::function(&found, &row.function);
            let objectives = function["objectives"].as_array().expect("a list");
            wrong.extend(differences(&worked, row, objectives));
            if let Some(counts) = &counts {
                let key = (row.function.clone(), row.criterion.clone());
                let listed = counts.get(&key).copied().unwrap_or(0);
                if listed != row.objectives + row.duplicates {
                    wrong.push(format!("{key:?}: `lydian objectives` lists {listed}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
}

#[test]
fn decisions_and_conditions_are_as_worked_out_by_hand() {
    holds("logic.c");
}

#[test]
fn what_is_a_decision_is_as_worked_out_by_hand() {
    holds("recognised.c");
}

#[test]
fn what_is_easily_got_wrong_is_as_worked_out_by_hand() {
    holds("awkward.c");
}

#[test]
fn control_flow_paths_and_data_flow_are_as_worked_out_by_hand() {
    holds("flow.c");
}

#[test]
fn paths_from_definitions_to_uses_are_as_worked_out_by_hand() {
    holds("du_paths.c");
}

#[test]
fn array_cells_are_as_worked_out_by_hand() {
    holds("cells.c");
}

#[test]
fn calls_and_early_exits_are_as_worked_out_by_hand() {
    holds("calls.c");
}

#[test]
fn threads_are_as_worked_out_by_hand() {
    holds("threads.c");
}

#[test]
fn values_are_as_worked_out_by_hand() {
    holds("values.c");
}

#[test]
fn conditions_that_are_not_reached() {
    holds("unreached.c");
}

/// What `lydian cover` says of the runs that are written as tests, against some rows. `options` are
/// the command's.
fn against_tests(
    worked: &HandWorkedFile,
    file: &str,
    at: &Workplace,
    options: &str,
    rows: &[&Row],
) -> Vec<String> {
    let test = |(number, (function, args)): (usize, &(String, Value))| {
        let name = format!("{function}_{number}");
        json!({ "name": name, "function": function, "args": args })
    };
    let tests: Vec<Value> = worked.tests.iter().enumerate().map(test).collect();
    let suite = json!({ "version": 1, "source": file, "tests": tests });
    at.write("suite.json", &suite.to_string());
    let words = format!("cover {file} {options} --tests suite.json --missing --json table.json");
    let ran = at.done(&format!("{words} -- -Wno-everything"));
    let table = at.json("table.json");
    let mut wrong = Vec::new();
    for row in rows {
        let [objectives, covered, _, duplicates, _] =
            common::figures(&table, &row.function, &row.criterion).map(|n| n as usize);
        let counted = objectives - duplicates;
        let mut of_row = Vec::new();
        if (covered, counted, duplicates) != (row.covered, row.objectives, row.duplicates) {
            of_row.push(format!("    the tests cover {covered}/{counted} +{duplicates}"));
        }
        let begin = format!(": {} {} ", row.function, row.criterion);
        let missing: Vec<Vec<String>> =
            ran.out.lines().filter_map(|line| missing_names(worked, line, &begin)).collect();
        match &row.listed {
            Some((status, items)) if status == "missing" => of_row.extend(compare(items, missing)),
            Some((_, items)) => {
                let is_missing =
                    |item: &&String| missing.iter().flatten().any(|name| name == *item);
                let also = items.iter().filter(is_missing);
                of_row.extend(also.map(|item| format!("    missing with tests: {item}")));
            }
            None => {}
        }
        if !of_row.is_empty() {
            wrong.push(format!("{} {}, by tests", row.function, row.criterion));
            wrong.extend(of_row);
        }
    }
    wrong
}

/// The names of an objective in a line of `--missing`: `file:line:column: function criterion name: text`.
fn missing_names(worked: &HandWorkedFile, line: &str, begin: &str) -> Option<Vec<String>> {
    let (place, rest) = line.split_once(begin)?;
    let (name, text) = rest.split_once(": ").unwrap_or((rest, ""));
    let mut names = vec![name.to_owned(), worked.lettered(text)];
    names.extend(path_of(&names[1]));
    let number = place.split(':').nth(1).and_then(|number| number.parse::<u64>().ok());
    names.extend(number.and_then(|number| worked.letters.get(&number).cloned()));
    Some(names)
}

/// The rows of a file with hyperlabels, against `lydian cover`.
fn holds_of_written(name: &str, criteria: &str) {
    let file = format!("{name}.c");
    let worked = HandWorkedFile::read(&file);
    let at = Workplace::with("");
    at.write(&file, &worked.text);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/by_hand");
    let written = format!("{name}.htol");
    let htol = std::fs::read_to_string(folder.join(&written)).expect("it is there");
    at.write(&written, &htol);
    let rows: Vec<&Row> = worked.rows.iter().collect();
    let options = format!("-c {criteria} --htol {written}");
    let wrong = against_tests(&worked, &file, &at, &options, &rows);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn labels_and_hyperlabels_of_the_user_are_as_worked_out_by_hand() {
    holds_of_written("labels", "user,htol");
}

#[test]
fn hyperlabels_that_bind_values_are_as_worked_out_by_hand() {
    holds_of_written("hyperlabels", "htol");
}

#[test]
fn paths_that_are_listed_are_as_worked_out_by_hand() {
    holds_of_written("listed", "spc,htol");
}

#[test]
fn every_criterion_is_worked_out_on_enough_functions() {
    let files = [
        "logic.c",
        "recognised.c",
        "awkward.c",
        "flow.c",
        "cells.c",
        "du_paths.c",
        "calls.c",
        "threads.c",
        "values.c",
        "unreached.c",
        "labels.c",
        "hyperlabels.c",
        "listed.c",
    ];
    let mut functions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        for row in HandWorkedFile::read(file).rows {
            let name = format!("{file} {}", row.function);
            functions.entry(row.criterion).or_default().insert(name);
        }
    }
    for criterion in CRITERIA.iter().chain(&WRITTEN) {
        let found = functions.remove(*criterion).unwrap_or_default();
        assert!(found.len() >= EXAMPLES, "{criterion}: {found:?}");
    }
    assert_eq!(functions, BTreeMap::new(), "criteria that there are not");
}
