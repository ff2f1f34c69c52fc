//! Coverage as a tracefile of lcov.
//!
//! Records: `TN`, `SF`, `FN`, `FNDA`, `FNF`, `FNH`, `BRDA`, `BRF`, `BRH`, `DA`, `LF`, `LH`, which every
//! lcov reads. From lcov 2.0 on, `FN` has the function's last line, which earlier ones would take for a
//! part of its name; from lcov 2.2 on there are `MCDC`, `MCF` and `MCH`, which 2.0 and 2.1 refuse
//! ([`Version`]). A count is 1 or 0 where it was not counted.
//!
//! A block of branches is a condition, a decision or a switch. Blocks are numbered on each line.
//! `MCDC` has for each condition whether it decided the outcome by being true, and by being false, as
//! in [`crate::independence`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use super::one_line;
use crate::branches::{BranchWay, IndependenceGroup, Line, LineTable};
use crate::coverage::FileCoverage;
use crate::report::Report;

/// The versions of the format, by the lcov that reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Every version.
    #[default]
    Any,
    /// 2.0 and newer: functions end.
    WithEnds,
    /// 2.2 and newer: MC/DC, too.
    WithConditions,
}

impl FromStr for Version {
    type Err = String;

    /// From lcov's own number: `1.16`, `2.0`, `2.3.1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad =
            || format!("`{text}` is no version of lcov, as `lcov --version` says it: 1.16, 2.3.1");
        let mut numbers = text.split('.').map(|part| part.parse::<u32>().map_err(|_| bad()));
        let major = numbers.next().unwrap_or_else(|| Err(bad()))?;
        let minor = numbers.next().unwrap_or(Ok(0))?;
        numbers.try_for_each(|number| number.map(|_| ()))?;
        Ok(match (major, minor) {
            (0 | 1, _) => Self::Any,
            (2, 0 | 1) => Self::WithEnds,
            _ => Self::WithConditions,
        })
    }
}

/// The tracefile, as a version of lcov reads it.
pub fn render(report: &Report, version: Version) -> String {
    let mut out = String::from("TN:\n");
    for file in &report.coverage.files {
        render_file(&mut out, file, version);
    }
    out
}

fn render_file(out: &mut String, file: &FileCoverage, version: Version) {
    let table = LineTable::of(file);
    let _ = writeln!(out, "SF:{}", one_line(&file.path.display().to_string()));
    functions(out, file, version);
    branches(out, &table);
    if version >= Version::WithConditions {
        independence(out, &table);
    }
    for (number, line) in &table.lines {
        let _ = writeln!(out, "DA:{number},{}", line.hits);
    }
    let (found, hit) = table.count();
    let _ = writeln!(out, "LF:{found}\nLH:{hit}\nend_of_record");
}

fn functions(out: &mut String, file: &FileCoverage, version: Version) {
    // Its first and last line, and the number of times that it ran.
    let mut names: BTreeMap<&str, (u32, u32, u64)> = BTreeMap::new();
    for function in file.functions.iter().filter(|function| function.is_listed()) {
        let (first, last) = (function.start.line, function.end_line.max(function.start.line));
        if !file.exclusions.line(first) {
            let runs = &mut names.entry(&function.name).or_insert((first, last, 0)).2;
            *runs = runs.saturating_add(function.entries.or_once(function.ran()));
        }
    }
    let mut in_order: Vec<_> = names.into_iter().collect();
    in_order.sort_by_key(|(name, (first, ..))| (*first, *name));
    for (name, (first, last, _)) in &in_order {
        let _ = match version {
            Version::Any => writeln!(out, "FN:{first},{name}"),
            _ => writeln!(out, "FN:{first},{last},{name}"),
        };
    }
    for (name, (_, _, runs)) in &in_order {
        let _ = writeln!(out, "FNDA:{runs},{name}");
    }
    let hit = in_order.iter().filter(|(_, (_, _, runs))| *runs > 0).count();
    let _ = writeln!(out, "FNF:{}\nFNH:{hit}", in_order.len());
}

fn branches(out: &mut String, table: &LineTable) {
    for (number, line) in &table.lines {
        for (block, group) in line.branches.iter().enumerate() {
            for BranchWay { number: branch, hits } in &group.ways {
                let taken = match group.reached {
                    0 => "-".to_owned(),
                    _ => hits.to_string(),
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

/// Adds the records of MC/DC. lcov distinguishes the groups of a line by their sizes alone. So of
/// several decisions with equally many conditions on one line, the conditions are joined by position:
/// one counts as deciding if it was seen to decide in all of them.
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
