//! Coverage as a tracefile of lcov.
//!
//! Records: `TN`, `SF`, `FN`, `FNDA`, `FNF`, `FNH`, `BRDA`, `BRF`, `BRH`, `DA`, `LF`, `LH` as lcov
//! 1.16 reads them, and `MCDC`, `MCF`, `MCH` of lcov 2, which 1.16 skips. Counts are 1 or 0: how
//! often something ran is not kept.
//!
//! A block of branches is a condition, a decision or a switch; blocks are numbered on each line.
//! `MCDC` says of each condition whether it decided the outcome by being true, and false, as
//! [`crate::independence`] has it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::branches::{IndependenceGroup, Line, LineTable, Way};
use crate::coverage::FileCoverage;
use crate::report::Report;

/// The tracefile.
pub fn render(report: &Report) -> String {
    let mut out = String::from("TN:\n");
    for file in &report.coverage.files {
        render_file(&mut out, file);
    }
    out
}

fn render_file(out: &mut String, file: &FileCoverage) {
    let table = LineTable::of(file);
    let _ = writeln!(out, "SF:{}", one_line(&file.path.display().to_string()));
    functions(out, file);
    branches(out, &table);
    independence(out, &table);
    for (number, line) in &table.lines {
        let _ = writeln!(out, "DA:{number},{}", u8::from(line.covered));
    }
    let (found, hit) = table.count();
    let _ = writeln!(out, "LF:{found}\nLH:{hit}\nend_of_record");
}

fn functions(out: &mut String, file: &FileCoverage) {
    let mut names: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for function in file.functions.iter().filter(|function| function.is_listed()) {
        if !file.exclusions.line(function.start.line) {
            names.entry(&function.name).or_insert((function.start.line, false)).1 |= function.ran();
        }
    }
    let mut in_order: Vec<_> = names.iter().map(|(name, (line, ran))| (line, name, ran)).collect();
    in_order.sort();
    for (line, name, _) in &in_order {
        let _ = writeln!(out, "FN:{line},{name}");
    }
    for (_, name, ran) in &in_order {
        let _ = writeln!(out, "FNDA:{},{name}", u8::from(**ran));
    }
    let hit = in_order.iter().filter(|(_, _, ran)| **ran).count();
    let _ = writeln!(out, "FNF:{}\nFNH:{hit}", in_order.len());
}

fn branches(out: &mut String, table: &LineTable) {
    for (number, line) in &table.lines {
        for (block, group) in line.branches.iter().enumerate() {
            for Way { number: branch, taken } in &group.ways {
                let taken = match (group.reached, taken) {
                    (false, _) => "-",
                    (true, false) => "0",
                    (true, true) => "1",
                };
                let _ = writeln!(out, "BRDA:{number},{block},{branch},{taken}");
            }
        }
    }
    let (found, hit) = table.count_branches();
    if found > 0 {
        let _ = writeln!(out, "BRF:{found}\nBRH:{hit}");
    }
}

/// lcov tells the groups of a line apart by their sizes alone, so that of several decisions with
/// equally many conditions on one line, the conditions are joined place by place: shown as deciding
/// where that was seen in all of them.
fn independence(out: &mut String, table: &LineTable) {
    let (mut found, mut hit) = (0, 0);
    for (number, line) in &table.lines {
        for (size, conditions) in groups_by_size(line) {
            for (index, (text, [no, yes])) in conditions.iter().enumerate() {
                for (sense, decided) in [('t', *yes), ('f', *no)] {
                    let taken = u8::from(decided);
                    let _ = writeln!(out, "MCDC:{number},{size},{sense},{taken},{index},{text}");
                    found += 1;
                    hit += usize::from(decided);
                }
            }
        }
    }
    if found > 0 {
        let _ = writeln!(out, "MCF:{found}\nMCH:{hit}");
    }
}

fn groups_by_size(line: &Line) -> BTreeMap<usize, Vec<(String, [bool; 2])>> {
    let mut groups: BTreeMap<usize, Vec<(String, [bool; 2])>> = BTreeMap::new();
    for IndependenceGroup { conditions, .. } in &line.decisions {
        let theirs = conditions.iter().map(|(text, decided)| (one_line(text), *decided));
        match groups.get_mut(&conditions.len()) {
            None => {
                groups.insert(conditions.len(), theirs.collect());
            }
            Some(ours) => {
                for ((text, decided), (more, also)) in ours.iter_mut().zip(theirs) {
                    if *text != more {
                        *text += &format!(" / {more}");
                    }
                    *decided = [0, 1].map(|value| decided[value] && also[value]);
                }
            }
        }
    }
    groups
}

/// A text without ends of lines, which would end a record.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" ")
}
