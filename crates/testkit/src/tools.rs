//! Random programs under `lydian cc`, gcov and clang's own coverage: each where the definitions
//! agree.
//!
//! A batch's text is one unit, and a `main` in another file makes the calls of its tests. Compared
//! are
//! - all objectives that `lydian report` lists, with the trace semantics;
//! - lines with statements, with gcov's lines and what it counts on them;
//! - branches of conditions and switches, with gcov's, line by line where both see the same number,
//!   and with clang's, place by place;
//! - how often conditions had each value and functions were entered, with clang's counts, and how
//!   often lines ran, with gcov's;
//! - the conditions of decisions of `&&`, `||` and `!`, under short-circuit semantics, with clang's
//!   MC/DC. Clang asks that the other conditions have the same value or were not evaluated in one
//!   of the two rows, Lydian (masking MC/DC) that they do not matter; so the rows that Lydian saw
//!   must give clang's answer by clang's rule, and Lydian's own answer may only be more.
//!
//! Where definitions differ, `docs/differences.md` says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lydian_native::Optimization;
use lydian_objective::FunctionObjectives;
use lydian_objective::criterion::RootProbe;
use lydian_objective::trace::{self, Trace, Tracer};
use serde_json::Value;

use crate::agreement::{Batch, Settings, TracedTest};

pub mod across;

/// The counts of a comparison: agreements, disagreements, and items of one side alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Both tools agree.
    pub agree: u64,
    /// They disagree.
    pub differ: u64,
    /// Lydian alone has the item.
    pub only_lydian: u64,
    /// The other tool alone has the item.
    pub only_other: u64,
}

impl Agreement {
    fn add(&mut self, agrees: bool) {
        match agrees {
            true => self.agree += 1,
            false => self.differ += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.agree += other.agree;
        self.differ += other.differ;
        self.only_lydian += other.only_lydian;
        self.only_other += other.only_other;
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agree, differ, only_lydian, only_other } = self;
        write!(f, "{agree:>8} {differ:>8} {only_lydian:>12} {only_other:>11}")
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Cases with a test at least.
    pub cases: u64,
    /// Tests.
    pub tests: u64,
    /// The counts by the compared item.
    pub counts: BTreeMap<&'static str, Agreement>,
    /// Conditions that are independent by masking, and not for clang, whose rule is stricter.
    pub masked_only: u64,
    /// Disagreements, in words.
    pub mismatches: Vec<String>,
}

impl Comparison {
    /// Nothing compared yet, of these tests by case.
    fn of(tests: &[Vec<TracedTest>]) -> Self {
        let sizes = tests.iter().map(|tests| tests.len() as u64).filter(|count| *count > 0);
        Self { cases: sizes.clone().count() as u64, tests: sizes.sum(), ..Self::default() }
    }

    /// Adds another result.
    pub fn merge(&mut self, other: Self) {
        for (what, count) in other.counts {
            self.counts.entry(what).or_default().merge(count);
        }
        self.cases += other.cases;
        self.tests += other.tests;
        self.masked_only += other.masked_only;
        self.mismatches.extend(other.mismatches);
    }

    fn judge(&mut self, what: &'static str, agrees: bool, text: impl FnOnce() -> String) {
        self.counts.entry(what).or_default().add(agrees);
        if !agrees {
            self.mismatches.push(format!("{what}: {}", text()));
        }
    }
}

/// A line and a column, both from 1.
type Position = (u64, u64);

/// A folder with a batch in it.
struct BatchFolder<'a> {
    folder: tempfile::TempDir,
    lydian: &'a Path,
}

impl BatchFolder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program in the folder. Panics if it fails, since these programs are known to work.
    fn run(&self, program: impl AsRef<Path>, words: &[&str]) -> Output {
        let program = program.as_ref();
        let output = Command::new(program)
            .args(words)
            .current_dir(self.folder.path())
            .env("LYDIAN_DIR", self.path("store"))
            .env("LLVM_PROFILE_FILE", self.path("clang.profraw"))
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {words:?}: {said}", program.display());
        output
    }
}

/// Runs the tests of a batch under all tools, and compares. `level` is that of the text which
/// `lydian cc` instruments; the other tools have `-O0`, at which they count what the text says.
pub fn compare(
    batch: &Batch,
    settings: &Settings,
    lydian: &Path,
    level: Optimization,
) -> Comparison {
    let (place, tests) = prepared(batch, settings, lydian);
    let report = lydian_report(&place, batch, level, true);
    let mut found = Comparison::of(&tests);
    objectives(batch, &tests, &report, &mut found);
    let source = Source { lines: batch.text.lines().collect() };
    gcov(&place, &source, &report, &mut found);
    clang(&place, batch, &source, &report, &mut found);
    found
}

/// Runs the tests of a batch under `lydian cc` alone, and compares with the trace semantics.
pub fn compare_program(
    batch: &Batch,
    settings: &Settings,
    lydian: &Path,
    level: Optimization,
) -> Comparison {
    let (place, tests) = prepared(batch, settings, lydian);
    let report = lydian_report(&place, batch, level, false);
    let mut found = Comparison::of(&tests);
    objectives(batch, &tests, &report, &mut found);
    found
}

/// A folder with a batch and its tests.
fn prepared<'a>(
    batch: &Batch,
    settings: &Settings,
    lydian: &'a Path,
) -> (BatchFolder<'a>, Vec<Vec<TracedTest>>) {
    let subject = &batch.subject;
    let tracer = Tracer::new(&subject.program, &subject.objectives, subject.short_circuit);
    let tests: Vec<Vec<TracedTest>> =
        (0..batch.cases.len()).map(|index| batch.tests(&tracer, index, settings)).collect();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let place = BatchFolder { folder, lydian };
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text);
    write("unit.c", &batch.text).expect("the folder takes it");
    write("main.c", &main_of(batch, &tests)).expect("the folder takes it");
    let htol = batch.htol.as_deref().unwrap_or("");
    write("unit.htol", htol).expect("the folder takes it");
    (place, tests)
}

/// A `main` that makes the calls; with `FORK` each in a run of its own, since what one leaves in a
/// global is no definition for the next.
fn main_of(batch: &Batch, tests: &[Vec<TracedTest>]) -> String {
    let mut text = String::new();
    batch.cases.iter().for_each(|case| text.push_str(&case.declaration()));
    text.push_str("static void run(int test)\n{\n    switch (test) {\n");
    let mut count = 0;
    for (case, tests) in batch.cases.iter().zip(tests) {
        for test in tests {
            let _ = writeln!(text, "    case {count}: {} break;", case.call(&test.arguments));
            count += 1;
        }
    }
    let _ = write!(
        text,
        "    }}\n}}\n#include <sys/wait.h>\n#include <unistd.h>\nint main(void)\n{{\n    \
         for (int test = 0; test < {count}; test++) {{\n#ifdef FORK\n        \
         pid_t child = fork();\n        if (child == 0) {{\n            run(test);\n            \
         _exit(0);\n        }}\n        waitpid(child, 0, 0);\n#else\n        run(test);\n\
         #endif\n    }}\n    return 0;\n}}\n"
    );
    text
}

/// The functions of the unit, as `lydian report --json` has them, with counts or without.
fn lydian_report(
    place: &BatchFolder<'_>,
    batch: &Batch,
    level: Optimization,
    counts: bool,
) -> Vec<Value> {
    let is_written = batch.htol.is_some();
    let criteria: Vec<&str> = batch.criteria.iter().map(|criterion| criterion.name()).collect();
    let semantics = if batch.subject.short_circuit { "short-circuit" } else { "three-valued" };
    let (criteria, semantics) = (criteria.join(","), format!("--semantics={semantics}"));
    let compile = ["-fwrapv", "-w", "-c", "unit.c", "-o", "lydian.o"];
    let mut words = vec!["cc", "-c", &criteria, &semantics];
    if is_written {
        words.extend(["--htol", "unit.htol"]);
    }
    words.extend(counts.then_some("--counts"));
    words.extend(["--", "clang-19", level.flag()]);
    words.extend(compile);
    place.run(place.lydian, &words);
    place.run("clang-19", &["-w", "-DFORK", "-c", "main.c", "-o", "main.o"]);
    let link = ["cc", "--", "clang-19", "lydian.o", "main.o", "-o", "lydian"];
    place.run(place.lydian, &link);
    place.run(place.path("lydian"), &[]);
    place.run(place.lydian, &["report", "--json", "report.json", "--lcov", "report.info"]);
    let mut report = read_json(&place.path("report.json"));
    let files = report["coverage"]["files"].as_array_mut().expect("a report has files");
    let file = files.iter_mut().find(|file| text(&file["path"]).ends_with("unit.c"));
    let functions = file.map(|file| file["functions"].take()).expect("the unit is in the report");
    functions.as_array().cloned().unwrap_or_default()
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read(path).expect("it was just written");
    serde_json::from_slice(&text).expect("tools write JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn position(value: &Value) -> Position {
    (number(&value[0]), number(&value[1]))
}

/// Every objective of the report with the trace semantics.
fn objectives(batch: &Batch, tests: &[Vec<TracedTest>], report: &[Value], found: &mut Comparison) {
    let subject = &batch.subject;
    for (case, tests) in batch.cases.iter().zip(tests) {
        let traces: Vec<Trace> = tests.iter().map(|test| test.trace.clone()).collect();
        for index in batch.functions(case) {
            let own = &subject.objectives[index];
            let name = &subject.program.functions[own.function].name;
            let listed = report.iter().find(|function| text(&function["name"]) == name);
            let Some(listed) = listed else {
                found.mismatches.push(format!("{name} is not in the report"));
                continue;
            };
            function_objectives(name, own, &traces, list(&listed["objectives"]), found);
        }
    }
}

/// The objectives of a function, criterion by criterion. Criteria of paths of which the batch has
/// none, because there are too many, are left out.
fn function_objectives(
    function: &str,
    own: &FunctionObjectives,
    traces: &[Trace],
    listed: &[Value],
    found: &mut Comparison,
) {
    let label_covered = |label| {
        let events = traces.iter().flat_map(|trace| &trace.events);
        let mut events = events.filter(|event| event.function == own.function);
        events.any(|event| event.labels.contains(&label))
    };
    let labels = own.criteria.iter().map(|(criterion, entries)| {
        let judged = entries.iter().map(|e| (e.name.clone(), label_covered(e.label)));
        (*criterion, judged.collect::<Vec<_>>())
    });
    let hypers = own.hyper_criteria.iter().map(|(criterion, entries)| {
        let covered = |hyper| trace::is_covered(traces, own, &own.hypers[hyper].hyper);
        let judged = entries.iter().map(|e| (e.name.clone(), covered(e.hyper)));
        (*criterion, judged.collect::<Vec<_>>())
    });
    for (criterion, judged) in labels.chain(hypers) {
        let same: Vec<&Value> =
            listed.iter().filter(|o| text(&o["criterion"]) == criterion.name()).collect();
        if judged.is_empty() {
            continue;
        }
        if same.len() != judged.len() {
            let (theirs, ours) = (same.len(), judged.len());
            let text = format!("{function} {criterion}: {theirs} objectives instead of {ours}");
            found.mismatches.push(text);
            continue;
        }
        // Predicates of mutants and of errors may read beyond an object that a pointer leads to. The
        // program's own build knows no end of it.
        let open = criterion.construct().root_probe() != RootProbe::State;
        for ((name, covered), listed) in judged.into_iter().zip(same) {
            let theirs = match text(&listed["status"]) {
                "covered" => true,
                "missing" => false,
                _ => continue,
            };
            let agrees = theirs == covered || open && theirs;
            found.judge("lydian cc and the trace semantics", agrees, || {
                format!("{function} {criterion} {name}: {}: {theirs}", text(&listed["text"]))
            });
        }
    }
}

/// The lines with a condition of a decision that is more than `&&`, `||` and `!`: gcc computes the
/// other operators, and some of what is below them, without branches. So are those with a condition
/// that compares a choice, whose arms gcc may compare before it chooses.
fn lines_of_others(function: &Value) -> BTreeSet<u64> {
    let conditions = list(&function["decisions"]).iter().flat_map(|decision| {
        let is_other = !is_plain(&decision["tree"]);
        list(&decision["conditions"]).iter().map(move |condition| (is_other, condition))
    });
    let folded = conditions
        .filter(|(is_other, condition)| *is_other || text(&condition["text"]).contains(" ? "));
    folded.map(|(_, condition)| position(&condition["start"]).0).collect()
}

/// By line and by name of a branch whether it was taken.
type Branches = BTreeMap<u64, Vec<(Position, bool)>>;

/// The branches of a function as criterion `bc` has them, by line.
fn branches_of(function: &Value) -> Branches {
    let mut lines = Branches::new();
    for objective in list(&function["objectives"]) {
        if text(&objective["criterion"]) == "bc" {
            let at = position(&objective["start"]);
            let covered = text(&objective["status"]) == "covered";
            // Ways of a switch stand at their labels, and for gcov where the switch does.
            let name = text(&objective["name"]);
            let is_way = name.starts_with("case") || name == "default";
            if !is_way {
                lines.entry(at.0).or_default().push((at, covered));
            }
        }
    }
    for switch in list(&function["switches"]) {
        let at = position(&switch["start"]);
        for way in list(&switch["ways"]) {
            let covered = way["covered"].as_bool().unwrap_or(false);
            lines.entry(at.0).or_default().push((at, covered));
        }
    }
    lines
}

fn gcov(place: &BatchFolder<'_>, source: &Source<'_>, report: &[Value], found: &mut Comparison) {
    let flags = ["-O0", "-fwrapv", "-w", "--coverage", "unit.c", "main.c", "-o", "gcov"];
    place.run("gcc", &flags);
    place.run(place.path("gcov"), &[]);
    let output = place.run("gcov", &["--json-format", "--stdout", "-b", "gcov-unit.gcda"]);
    let said: Value = serde_json::from_slice(&output.stdout).expect("gcov writes JSON");
    let files = list(&said["files"]);
    let file = files.iter().find(|file| text(&file["file"]).ends_with("unit.c"));
    let lines = file.map_or(&[][..], |file| list(&file["lines"]));
    let lines: BTreeMap<u64, &Value> =
        lines.iter().map(|line| (number(&line["line_number"]), line)).collect();
    let ours = lines_of_tracefile(&place.path("report.info"));
    for function in report {
        gcov_lines(function, source, (&ours, &lines), found);
        gcov_branches(function, &lines, found);
    }
}

/// The number of executions of each line of the unit, by Lydian's tracefile.
fn lines_of_tracefile(path: &Path) -> BTreeMap<u64, u64> {
    let text = std::fs::read_to_string(path).expect("it was just written");
    let records = text.split("end_of_record").find(|file| file.contains("unit.c"));
    let records = records.unwrap_or("").lines().filter_map(|line| line.strip_prefix("DA:"));
    let line = |record: &str| {
        let (line, count) = record.split_once(',')?;
        Some((line.parse().ok()?, count.parse().ok()?))
    };
    records.filter_map(line).collect()
}

/// Gcov's records of the lines that it counts.
type GcovLines<'a> = BTreeMap<u64, &'a Value>;

/// The lines on which a statement begins. Where its first decision goes on below, gcc may have put
/// the code of its first line there.
fn gcov_lines(
    function: &Value,
    source: &Source<'_>,
    (own, lines): (&BTreeMap<u64, u64>, &GcovLines<'_>),
    found: &mut Comparison,
) {
    let name = text(&function["name"]);
    let blocks = lines_of_decisions(function);
    let executed = |at: u64| lines.get(&at).is_some_and(|line| number(&line["count"]) > 0);
    for line in list(&function["lines"]) {
        let (at, ours) = (number(&line["line"]), line["covered"] == Value::Bool(true));
        // Of a loop without a condition gcov counts the way back alone, of a switch over a constant the
        // way out, and of a label that control fell into sometimes nothing.
        let is_endless = source.begins(at, "while (1)") || source.begins(at, "for (;;)");
        let is_jump =
            is_endless || source.switches_over_a_constant(at) || source.is_label_of_goto(at);
        if !lines.contains_key(&at) || is_jump && ours && !executed(at) {
            found.counts.entry("lines, gcov").or_default().only_lydian += 1;
            continue;
        }
        let block = blocks.iter().find(|(first, _)| *first == at);
        let below = || block.is_some_and(|(first, last)| (*first..=*last).any(executed));
        let theirs = executed(at) || ours && below();
        found.judge("lines, gcov", ours == theirs, || {
            format!("{name} line {at}: Lydian {ours}, gcov {}", lines[&at]["count"])
        });
        // Of several branches gcov sometimes counts more than one as the beginning of their line.
        let is_plain = list(&lines[&at]["branches"]).len() <= 2 && source.is_whole(at);
        if is_jump || !is_plain {
            continue;
        }
        let (ours, theirs) = (own.get(&at).copied().unwrap_or(0), number(&lines[&at]["count"]));
        found.judge("line counts, gcov", ours == theirs, || {
            format!("{name} line {at}: Lydian {ours}, gcov {theirs}")
        });
    }
}

/// The blocks of lines over which conditions of one decision are spread, first and last; those that
/// overlap are one. Gcc may give a branch the line of an operator around it.
fn lines_of_decisions(function: &Value) -> Vec<(u64, u64)> {
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for decision in list(&function["decisions"]) {
        let conditions = list(&decision["conditions"]).iter();
        let lines = conditions.map(|condition| position(&condition["start"]).0);
        if let Some((first, last)) = lines.clone().min().zip(lines.max())
            && first < last
        {
            blocks.push((first, last));
        }
    }
    blocks.sort_unstable();
    blocks.dedup_by(|next, block| {
        let overlap = next.0 <= block.1;
        if overlap {
            block.1 = block.1.max(next.1);
        }
        overlap
    });
    blocks
}

/// Branches, line by line; those of a decision on several lines all together where line by line they
/// differ.
fn gcov_branches(function: &Value, lines: &GcovLines<'_>, found: &mut Comparison) {
    let (first, last) = (number(&function["start"][0]), number(&function["end_line"]));
    let (own, folded) = (branches_of(function), lines_of_others(function));
    let blocks = lines_of_decisions(function);
    let mut at = first;
    while at <= last {
        let end = blocks.iter().find(|block| block.0 == at).map_or(at, |block| block.1);
        let block: Vec<Line> = (at..=end).map(|at| Line::of(at, &own, lines)).collect();
        let is_folded = (at..=end).any(|at| folded.contains(&at));
        let whole = Line::sum(&block);
        match block.len() > 1 && !block.iter().all(Line::agrees) {
            _ if is_folded => whole.leave(found),
            true => whole.judge(function, found),
            false => block.iter().for_each(|line| line.judge(function, found)),
        }
        at = end + 1;
    }
}

/// Branches on a line, or on some, by whether they were taken, sorted.
#[derive(Default)]
struct Line {
    at: u64,
    ours: Vec<bool>,
    theirs: Vec<bool>,
}

impl Line {
    fn of(at: u64, own: &Branches, lines: &GcovLines<'_>) -> Self {
        let ours = own.get(&at).into_iter().flatten().map(|(_, covered)| *covered);
        let listed = lines.get(&at).map_or(&[][..], |line| list(&line["branches"]));
        let theirs = listed.iter().map(|branch| number(&branch["count"]) > 0);
        Self { at, ours: ours.collect(), theirs: theirs.collect() }.sorted()
    }

    fn sum(lines: &[Self]) -> Self {
        let at = lines.first().map_or(0, |line| line.at);
        let ours = lines.iter().flat_map(|line| line.ours.clone()).collect();
        let theirs = lines.iter().flat_map(|line| line.theirs.clone()).collect();
        Self { at, ours, theirs }.sorted()
    }

    fn sorted(mut self) -> Self {
        self.ours.sort_unstable();
        self.theirs.sort_unstable();
        self
    }

    fn agrees(&self) -> bool {
        self.ours == self.theirs
    }

    fn judge(&self, function: &Value, found: &mut Comparison) {
        if self.ours.len() != self.theirs.len() {
            return self.leave(found);
        }
        for (ours, theirs) in self.ours.iter().zip(&self.theirs) {
            found.judge("branches, gcov", ours == theirs, || {
                let name = text(&function["name"]);
                format!("{name} line {}: Lydian {ours}, gcov {theirs}", self.at)
            });
        }
    }

    /// Counts items of one side alone, without judging.
    fn leave(&self, found: &mut Comparison) {
        let count = found.counts.entry("branches, gcov").or_default();
        let (ours, theirs) = (self.ours.len(), self.theirs.len());
        count.only_lydian += ours.saturating_sub(theirs) as u64;
        count.only_other += theirs.saturating_sub(ours) as u64;
    }
}

/// A range of the text, its end exclusive, with what clang says of it.
struct Region<'a> {
    from: Position,
    to: Position,
    value: &'a Value,
}

impl Region<'_> {
    fn holds(&self, at: Position) -> bool {
        self.from <= at && at < self.to
    }
}

fn regions(values: &[Value]) -> Vec<Region<'_>> {
    let at = |value: &Value, index: usize| (number(&value[index]), number(&value[index + 1]));
    let all = values.iter();
    all.map(|value| Region { from: at(value, 0), to: at(value, 2), value }).collect()
}

fn clang(
    place: &BatchFolder<'_>,
    batch: &Batch,
    source: &Source<'_>,
    report: &[Value],
    found: &mut Comparison,
) {
    let short_circuit = batch.subject.short_circuit;
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
    let mut words = vec!["-O0", "-fwrapv", "-w", "unit.c", "main.c", "-o", "clang"];
    words.extend(flags);
    place.run("clang-19", &words);
    place.run(place.path("clang"), &[]);
    place.run("llvm-profdata-19", &["merge", "clang.profraw", "-o", "clang.profdata"]);
    let export = ["export", "clang", "-instr-profile=clang.profdata"];
    let output = place.run("llvm-cov-19", &export);
    let said: Value = serde_json::from_slice(&output.stdout).expect("llvm-cov writes JSON");
    let files = list(&said["data"][0]["files"]);
    let Some(file) = files.iter().find(|file| text(&file["filename"]).ends_with("unit.c")) else {
        return found.mismatches.push("clang has no coverage of the unit".to_owned());
    };
    let branches = regions(list(&file["branches"]));
    let counted = list(&said["data"][0]["functions"]);
    for function in report {
        let name = text(&function["name"]);
        // Clang puts the file before the name of what is static.
        let is_it = |other: &&Value| text(&other["name"]).rsplit([':', ';']).next() == Some(name);
        if let Some(other) = counted.iter().find(is_it) {
            let (ours, theirs) = (number(&function["entries"]), number(&other["count"]));
            found.judge("entries, clang", ours == theirs, || {
                format!("{name}: Lydian {ours}, clang {theirs}")
            });
        }
        clang_branches(function, source, &branches, found);
        if short_circuit {
            clang_mcdc(function, source, &regions(list(&file["mcdc_records"])), found);
        }
    }
}

/// Conditions with clang's region of the same text, `!` and parentheses around it apart.
fn clang_branches(
    function: &Value,
    source: &Source<'_>,
    branches: &[Region<'_>],
    found: &mut Comparison,
) {
    let name = text(&function["name"]);
    let mut covered: BTreeMap<&str, bool> = BTreeMap::new();
    for objective in list(&function["objectives"]) {
        if text(&objective["criterion"]) == "bc" {
            covered.insert(text(&objective["name"]), text(&objective["status"]) == "covered");
        }
    }
    for (number, decision) in list(&function["decisions"]).iter().enumerate() {
        for (index, condition) in list(&decision["conditions"]).iter().enumerate() {
            let at = position(&condition["start"]);
            let same =
                |region: &&Region<'_>| source.is_around(region, at, text(&condition["text"]));
            let Some(region) = branches.iter().find(same) else {
                found.counts.entry("branches, clang").or_default().only_lydian += 1;
                continue;
            };
            let way = |way: bool| covered[&*format!("d{number}.c{index} to {way}")];
            let mut ours = [way(true), way(false)];
            let mut theirs =
                [self::number(&region.value[4]) > 0, self::number(&region.value[5]) > 0];
            ours.sort_unstable();
            theirs.sort_unstable();
            found.judge("branches, clang", ours == theirs, || {
                format!("{name} at {at:?}: Lydian {ours:?}, clang {theirs:?}")
            });
            let mut ours = [0, 1].map(|way| self::number(&condition["counts"][way]));
            let mut theirs = [5, 4].map(|way| self::number(&region.value[way]));
            ours.sort_unstable();
            theirs.sort_unstable();
            found.judge("branch counts, clang", ours == theirs, || {
                format!("{name} at {at:?}: Lydian {ours:?}, clang {theirs:?}")
            });
        }
    }
}

/// The lines of the unit.
struct Source<'a> {
    lines: Vec<&'a str>,
}

impl Source<'_> {
    /// Whether a line begins with a text.
    fn begins(&self, at: u64, text: &str) -> bool {
        let line = self.lines.get(at as usize - 1);
        line.is_some_and(|line| line.trim_start().starts_with(text))
    }

    /// Whether a line holds the whole of what begins on it. Of an expression that goes on on the next
    /// line gcov counts each return to the first.
    fn is_whole(&self, at: u64) -> bool {
        let line = self.lines.get(at as usize - 1).map_or("", |line| line.trim());
        line.ends_with([';', '{', '}'])
    }

    /// Whether a line is the label of a `goto`.
    fn is_label_of_goto(&self, at: u64) -> bool {
        let line = self.lines.get(at as usize - 1).map_or("", |line| line.trim());
        let name = line.strip_suffix(':').filter(|name| *name != "default");
        name.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    }

    /// Whether a line begins with a `switch` over an expression without names.
    fn switches_over_a_constant(&self, at: u64) -> bool {
        let line = self.lines.get(at as usize - 1).map_or("", |line| line.trim_start());
        let value = line.strip_prefix("switch (");
        value.is_some_and(|value| !value.contains(|c: char| c.is_ascii_alphabetic()))
    }

    /// Whether a decision is the test of a `?:`: whether `?` is what follows its last condition.
    fn is_chosen_by(&self, decision: &Value) -> bool {
        let Some(last) = list(&decision["conditions"]).last() else { return false };
        let at = position(&last["start"]);
        let end = at.1 as usize - 1 + text(&last["text"]).len();
        let line = self.lines.get(at.0 as usize - 1);
        let rest = line.and_then(|line| line.get(end..));
        rest.is_some_and(|rest| rest.trim_start_matches([')', ' ']).starts_with('?'))
    }

    /// Whether a region is a text at a place with nothing but `!` and parentheses around it.
    fn is_around(&self, region: &Region<'_>, at: Position, text: &str) -> bool {
        let (from, to) = (region.from, region.to);
        if from.0 != at.0 || to.0 != at.0 || from.1 > at.1 {
            return false;
        }
        let Some(line) = self.lines.get(at.0 as usize - 1) else { return false };
        let end = at.1 as usize + text.len();
        let before = line.get(from.1 as usize - 1..at.1 as usize - 1);
        let after = line.get(end - 1..to.1 as usize - 1);
        let only = |part: Option<&str>, of: &[char]| {
            part.is_some_and(|p| p.chars().all(|c| of.contains(&c)))
        };
        only(before, &['!', '(', ' ']) && only(after, &[')', ' '])
    }
}

/// A decision of `&&`, `||` and `!` over conditions alone.
fn is_plain(tree: &Value) -> bool {
    match tree {
        Value::Number(_) => true,
        Value::Object(node) => node.iter().all(|(operator, operands)| match operator.as_str() {
            "and" | "or" => list(operands).iter().all(is_plain),
            "not" => is_plain(operands),
            _ => false,
        }),
        _ => false,
    }
}

fn clang_mcdc(
    function: &Value,
    source: &Source<'_>,
    records: &[Region<'_>],
    found: &mut Comparison,
) {
    let name = text(&function["name"]);
    let mut covered: BTreeMap<String, bool> = BTreeMap::new();
    for objective in list(&function["objectives"]) {
        if text(&objective["criterion"]) == "mcdc" {
            let is_covered = text(&objective["status"]) == "covered";
            covered.insert(text(&objective["name"]).to_owned(), is_covered);
        }
    }
    for (number, decision) in list(&function["decisions"]).iter().enumerate() {
        let places: Vec<Position> =
            list(&decision["conditions"]).iter().map(|c| position(&c["start"])).collect();
        if places.len() < 2 || !is_plain(&decision["tree"]) {
            continue;
        }
        let around = records.iter().filter(|record| {
            places.iter().all(|at| record.holds(*at))
                && list(&record.value[6]).len() == places.len()
        });
        let record = around.max_by_key(|record| (record.from, std::cmp::Reverse(record.to)));
        // Clang 19 records nothing of some decisions in `!(...) ? a : b`.
        let is_lost = |record: &&Region<'_>| {
            let shown = list(&record.value[6]).iter().any(|shown| shown.as_bool() == Some(true));
            !shown && !decision["tree"]["not"].is_null() && source.is_chosen_by(decision)
        };
        let Some(record) = record.filter(|record| !is_lost(record)) else {
            found.counts.entry("MC/DC, clang").or_default().only_lydian += 1;
            continue;
        };
        let rows: Vec<&str> = list(&decision["rows"]).iter().map(text).collect();
        for (condition, theirs) in list(&record.value[6]).iter().enumerate() {
            let theirs = theirs.as_bool().unwrap_or(false);
            let by_rule = unique_cause(&rows, condition);
            found.judge("MC/DC, clang", theirs == by_rule, || {
                format!("{name} d{number}.c{condition}: rows {rows:?}, clang {theirs}")
            });
            let ours = covered.get(&format!("d{number}.c{condition} decides"));
            let ours = ours.copied().unwrap_or(false);
            if theirs && !ours {
                let text = format!("{name} d{number}.c{condition}: independent for clang alone");
                found.mismatches.push(text);
            }
            found.masked_only += u64::from(ours && !theirs);
        }
    }
}

/// Whether two rows show a condition's independence for clang: the outcomes differ, its values
/// differ, and every other condition has one value in both or was not evaluated in one.
fn unique_cause(rows: &[&str], condition: usize) -> bool {
    let value = |row: &str, at: usize| match row.as_bytes().get(at) {
        Some(b'T') => Some(true),
        Some(b'F') => Some(false),
        _ => None,
    };
    let shows = |a: &str, b: &str| {
        let width = a.find('=').unwrap_or(0);
        let differs = |at| matches!((value(a, at), value(b, at)), (Some(x), Some(y)) if x != y);
        a.ends_with('T') != b.ends_with('T')
            && (0..width).all(|at| differs(at) == (at == condition))
    };
    rows.iter().any(|a| rows.iter().any(|b| shows(a, b)))
}
