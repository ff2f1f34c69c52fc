//! What runs of a program covered, as reports show it.
//!
//! This is plain text and numbers: who measured has judged already. Every form of report (pages,
//! tracefiles, JSON) is made from it and from the sources as they are now.

use std::path::PathBuf;

use lydian_objective::Criterion;
use serde::{Deserialize, Serialize};

/// What runs covered of a program's sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The criteria that were measured, in the order in which the user named them.
    pub criteria: Vec<Criterion>,
    /// The sources with instrumented code, headers too, by path.
    pub files: Vec<FileCoverage>,
    /// The files that were compiled as they are.
    pub plain: Vec<PlainFile>,
    /// What the user should know: damaged counters, sources that changed, lost runs. One sentence
    /// each.
    pub warnings: Vec<String>,
}

/// A file that was compiled without instrumentation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlainFile {
    /// The file.
    pub path: PathBuf,
    /// Why: one sentence.
    pub reason: String,
}

/// What runs covered of one file. Functions that several units hold are merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCoverage {
    /// The file: absolute, or as the compiler was given it where it cannot be found.
    pub path: PathBuf,
    /// Whether the file is no longer what was compiled.
    pub changed: bool,
    /// Functions by the place where they begin.
    pub functions: Vec<FunctionCoverage>,
}

/// A place in a file: line and column, from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

/// What runs covered of one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCoverage {
    /// Its name.
    pub name: String,
    /// Where its name is declared.
    pub start: Position,
    /// Its last line.
    pub end_line: u32,
    /// Whether it was entered; `None` where that was not measured.
    pub entered: Option<bool>,
    /// The lines that begin statements, and whether one of them was passed. Empty where that was
    /// not measured.
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
}

/// A decision with everything that was seen of it.
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
    /// Its tree, with conditions by position.
    pub tree: lydian_ir::BoolTree,
    /// Each distinct evaluation. Empty with `outcomes` set where vectors were not recorded.
    pub rows: Vec<DecisionRow>,
    /// Whether it was seen false, and true.
    pub outcomes: [bool; 2],
    /// Whether its evaluations were recorded as `rows`.
    pub recorded: bool,
}

/// A condition of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionCoverage {
    /// Where it begins.
    pub start: Position,
    /// Its text.
    pub text: String,
    /// Whether it has a value where evaluation does not reach it.
    pub pure: bool,
}

/// One evaluation of a decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
}

/// One objective of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectiveCoverage {
    /// The criterion.
    pub criterion: Criterion,
    /// What the criterion calls it.
    pub name: String,
    /// Its place.
    pub start: Position,
    /// It as text.
    pub text: String,
    /// What is known of it.
    pub status: ObjectiveStatus,
}

/// What is known of an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveStatus {
    /// A run covers it.
    Covered,
    /// No run does.
    Missing,
    /// It is the same as an earlier one of the criterion.
    Duplicate,
    /// It cannot be measured: why.
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
    /// Where it is used.
    pub usage: Position,
    /// For a use in a condition, the value of the condition.
    pub branch: Option<bool>,
    /// Whether a run passes both with no other definition between.
    pub covered: bool,
}
