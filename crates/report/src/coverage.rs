//! The coverage of a program by runs, as reports show it.
//!
//! It consists of plain text and numbers: measuring has judged the objectives already. Every form of
//! report (pages, tracefiles, JSON) is made from it and from the sources as they are now. Its
//! serialised form is documented in `docs/coverage-json.md`, and [`form`] has the differences from
//! the types.

mod count;
mod form;
mod merge;

use std::collections::BTreeMap;
use std::path::PathBuf;

use lydian_base::EntityId as _;
use lydian_ir::ConditionId;
use lydian_objective::{Criterion, DecisionVector};
use serde::{Deserialize, Serialize};

pub use count::ExecutionCount;

/// The coverage of a program's sources by runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The criteria that were measured, in the order in which the user named them.
    pub criteria: Vec<Criterion>,
    /// The sources with instrumented code, headers too, by path.
    pub files: Vec<FileCoverage>,
    /// The files that were compiled as they are.
    pub plain: Vec<PlainFile>,
    /// Warnings: damaged counters, sources that changed, lost runs. One sentence each.
    pub warnings: Vec<String>,
    /// The tests that runs were marked as, by name, with the lines that each of them passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestCoverage>,
}

/// The lines that the runs of one marked test passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCoverage {
    /// The test's name.
    pub name: String,
    /// The lines of statements and of names of functions, by file.
    pub files: BTreeMap<PathBuf, LineRanges>,
}

/// A file that was compiled without instrumentation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlainFile {
    /// The file.
    pub path: PathBuf,
    /// Why: one sentence.
    pub reason: String,
}

/// The coverage of one file. Functions that several units have are merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileCoverage {
    /// The file: an absolute path, or the path that the compiler was given if the file cannot be
    /// found.
    pub path: PathBuf,
    /// The BLAKE3 hash, in hexadecimal, of the bytes that were compiled, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether the file has changed since it was compiled.
    #[serde(default)]
    pub changed: bool,
    /// Functions by the place where they begin.
    pub functions: Vec<FunctionCoverage>,
    /// The lines that comments take out of the count ([`crate::filters::exclusion`]).
    #[serde(default, skip_serializing_if = "Exclusions::is_empty")]
    pub exclusions: Exclusions,
}

/// Ranges of lines, both ends included, in order and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineRanges(pub Vec<(u32, u32)>);

/// The lines that comments take out of the count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusions {
    /// With everything that begins on them.
    #[serde(default)]
    pub lines: LineRanges,
    /// With the branches and decisions that begin on them.
    #[serde(default)]
    pub branches: LineRanges,
}

/// A place in a file: line and column, from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

/// The coverage of one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionCoverage {
    /// Its name.
    pub name: String,
    /// The place of its declared name.
    pub start: Position,
    /// Its last line.
    pub end_line: u32,
    /// Whether this is the part of the function that comes from another file: one that it includes,
    /// or that `#line` names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// Whether it was entered; `None` if that was not measured.
    pub entered: Option<bool>,
    /// The number of times.
    #[serde(default, skip_serializing_if = "ExecutionCount::is_none")]
    pub entries: ExecutionCount,
    /// The lines that begin statements, and whether one of these was passed. Empty if that was not
    /// measured.
    pub lines: Vec<LineCoverage>,
    /// Its decisions, in the order of the source.
    pub decisions: Vec<DecisionCoverage>,
    /// Its switches, in the order of the source.
    pub switches: Vec<SwitchCoverage>,
    /// The objectives of all criteria.
    pub objectives: Vec<ObjectiveCoverage>,
    /// Its definitions and uses, if data flow was measured.
    pub def_uses: Vec<DefUseCoverage>,
}

/// A line that begins a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCoverage {
    /// The line.
    pub line: u32,
    /// Whether control passed it.
    pub covered: bool,
    /// The number of times that its most frequent statement ran.
    #[serde(default, skip_serializing_if = "ExecutionCount::is_none")]
    pub count: ExecutionCount,
}

/// A decision with its recorded evaluations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionCoverage {
    /// Where it begins.
    pub start: Position,
    /// Its text as the compiler saw it: macros expanded.
    pub text: String,
    /// Whether (part of) it comes from a macro, so that the source does not show `text`.
    pub from_macro: bool,
    /// Its conditions, from left to right.
    pub conditions: Vec<ConditionCoverage>,
    /// Its tree, with conditions by position. A condition that is not in it has a constant value, as
    /// `(x++, 1)` has, and no objective.
    #[serde(with = "form::tree")]
    pub tree: lydian_ir::BoolTree,
    /// The distinct evaluations. Empty, with `outcomes` set, if vectors were not recorded.
    pub rows: Vec<DecisionRow>,
    /// Whether it was seen false, and true.
    pub outcomes: [bool; 2],
    /// Whether its evaluations were recorded as `rows`.
    pub recorded: bool,
    /// Whether conditions that evaluation does not reach have no value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short_circuit: bool,
}

/// A condition of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionCoverage {
    /// Where it begins.
    pub start: Position,
    /// Its text.
    pub text: String,
    /// Whether it has a value where evaluation does not reach it, on some states at least.
    pub pure: bool,
    /// The number of times that it was false, and true, when evaluation reached it.
    #[serde(default, skip_serializing_if = "count::are_none")]
    pub counts: [ExecutionCount; 2],
}

/// One evaluation of a decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DecisionRow {
    /// The value of each condition; `None` where it is unknown.
    pub values: Vec<Option<bool>>,
    /// Whether short-circuit evaluation reached each condition.
    pub reached: Vec<bool>,
    /// The outcome.
    pub outcome: bool,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchCoverage {
    /// Where it begins.
    pub start: Position,
    /// Its ways.
    pub ways: Vec<SwitchWay>,
}

/// A way out of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchWay {
    /// `case 3`, `default`.
    pub name: String,
    /// Where the case label stands.
    pub start: Position,
    /// Whether it was taken.
    pub covered: bool,
    /// The number of times.
    #[serde(default, skip_serializing_if = "ExecutionCount::is_none")]
    pub count: ExecutionCount,
}

/// One objective of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectiveCoverage {
    /// The criterion.
    pub criterion: Criterion,
    /// Its name in the criterion.
    pub name: String,
    /// Its place.
    pub start: Position,
    /// Its text.
    pub text: String,
    /// Its status.
    pub status: ObjectiveStatus,
    /// For an objective that a pair of evaluations of a decision shows, the position of the decision
    /// among those of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<u32>,
}

/// The name of the objective that stands for all objectives of a criterion in a function that cannot
/// be measured.
pub const WHOLE_FUNCTION: &str = "whole function";

impl ObjectiveCoverage {
    /// The objective that stands for all objectives of a criterion in a function that cannot be
    /// measured.
    pub fn whole_function(criterion: Criterion, name: &str, start: Position, why: String) -> Self {
        Self {
            criterion,
            name: WHOLE_FUNCTION.to_owned(),
            start,
            text: format!("all of `{name}`"),
            status: ObjectiveStatus::Unmeasured(why),
            decision: None,
        }
    }

    /// Whether it stands for a whole function.
    pub fn is_whole_function(&self) -> bool {
        self.name == WHOLE_FUNCTION
    }
}

/// The status of an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveStatus {
    /// A run covers it.
    Covered,
    /// No run does.
    Missing,
    /// It is the same as an earlier one of the criterion.
    Duplicate,
    /// It cannot be measured, for this reason.
    Unmeasured(String),
    /// A comment takes it out of the count; with the justification, if there is one.
    Excluded(Option<String>),
}

/// A definition of a variable and a use that it may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefUseCoverage {
    /// The variable.
    pub variable: String,
    /// Where it is defined.
    pub definition: Position,
    /// The file of the definition, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_file: Option<PathBuf>,
    /// Where it is used.
    pub usage: Position,
    /// For a use in a condition, the value of the condition.
    pub branch: Option<bool>,
    /// Whether a run passes both with no other definition between.
    pub covered: bool,
}

impl LineRanges {
    /// Whether a line of a range, both ends included, is in one of the ranges.
    pub fn meets(&self, first: u32, last: u32) -> bool {
        self.0.iter().any(|(from, to)| *from <= last && first <= *to)
    }

    /// The lines, one by one.
    pub fn lines(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Whether a line is in one of the ranges.
    pub fn contains(&self, line: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= line);
        after > 0 && line <= self.0[after - 1].1
    }

    /// The ranges that cover a set of lines, which come in order.
    pub fn of(lines: impl IntoIterator<Item = u32>) -> Self {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match ranges.last_mut() {
                Some((_, last)) if line <= last.saturating_add(1) => *last = line.max(*last),
                _ => ranges.push((line, line)),
            }
        }
        Self(ranges)
    }
}

impl Exclusions {
    /// Whether no line is excluded.
    pub fn is_empty(&self) -> bool {
        self.lines.0.is_empty() && self.branches.0.is_empty()
    }

    /// Whether a line is out of the count with everything on it.
    pub fn line(&self, line: u32) -> bool {
        self.lines.contains(line)
    }

    /// Whether the branches of a line are out of the count.
    pub fn branch(&self, line: u32) -> bool {
        self.lines.contains(line) || self.branches.contains(line)
    }
}

impl FunctionCoverage {
    /// Whether it is a function of the file with recorded coverage.
    pub fn is_listed(&self) -> bool {
        !self.part && self.is_measured()
    }

    /// Whether any coverage of it is recorded.
    fn is_measured(&self) -> bool {
        self.entered.is_some()
            || !self.lines.is_empty()
            || !self.decisions.is_empty()
            || !self.switches.is_empty()
            || self.objectives.iter().any(|objective| !objective.is_whole_function())
    }

    /// Whether it was entered, as far as its coverage shows.
    pub fn ran(&self) -> bool {
        self.entered.unwrap_or_else(|| {
            self.lines.iter().any(|line| line.covered)
                || self.decisions.iter().any(DecisionCoverage::evaluated)
                || self.switches.iter().any(|switch| switch.ways.iter().any(|way| way.covered))
                || self.objectives.iter().any(|o| o.status == ObjectiveStatus::Covered)
        })
    }
}

impl DecisionRow {
    /// The evaluation that it shows.
    fn vector(&self) -> DecisionVector {
        let mut vector = DecisionVector::default();
        for (at, (value, reached)) in self.values.iter().zip(&self.reached).enumerate() {
            let id = ConditionId::from_index(at);
            if *reached {
                vector.reached.insert(id);
            }
            if value.is_some() {
                vector.known.insert(id);
            }
            if *value == Some(true) {
                vector.value.insert(id);
            }
        }
        vector
    }
}

impl DecisionCoverage {
    /// Whether a condition, by its position, has objectives.
    pub fn asks(&self, condition: usize) -> bool {
        self.tree.has(ConditionId::from_index(condition))
    }

    /// The number of times that it was false, and true, by the counts of its conditions: each
    /// condition ends the evaluation with one of its values or both. Unknown if an operator evaluates
    /// both of its sides.
    pub fn outcome_counts(&self) -> [ExecutionCount; 2] {
        let mut counts = [ExecutionCount::default(); 2];
        if !self.tree.is_in_order() {
            return counts;
        }
        for (index, condition) in self.conditions.iter().enumerate() {
            let id = ConditionId::from_index(index);
            for value in [false, true] {
                if let Some(outcome) = count::end(&self.tree, id, value) {
                    counts[usize::from(outcome)].add(condition.counts[usize::from(value)]);
                }
            }
        }
        counts
    }

    /// The vectors of its rows, with their outcomes.
    pub fn vectors(&self) -> Vec<(DecisionVector, bool)> {
        self.rows.iter().map(|row| (row.vector(), row.outcome)).collect()
    }

    /// Makes the rows of a decision of one condition from its outcomes, if its evaluations were not
    /// recorded. The two are equivalent.
    pub fn complete(&mut self) {
        if self.recorded || self.conditions.len() != 1 {
            return;
        }
        let outcome = |value: bool| self.tree.eval(&|_| value.into()).known();
        let (Some(yes), Some(no)) = (outcome(true), outcome(false)) else { return };
        if yes == no {
            return;
        }
        let seen = [(false, no), (true, yes)];
        let seen = seen.into_iter().filter(|(_, outcome)| self.outcomes[usize::from(*outcome)]);
        self.rows = seen
            .map(|(value, outcome)| DecisionRow {
                values: vec![Some(value)],
                reached: vec![true],
                outcome,
            })
            .collect();
        self.recorded = true;
    }

    /// Whether it was evaluated to its end at least once.
    pub fn evaluated(&self) -> bool {
        self.outcomes[0] || self.outcomes[1] || !self.rows.is_empty()
    }
}
