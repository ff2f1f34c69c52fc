//! Lines and branches as line-oriented formats have them (lcov, Cobertura, gcov).
//!
//! A branch is a way that one condition went, where evaluations were recorded, and a way of the
//! whole decision, where they were not; each way of a switch is one, too. The line of a function's name
//! is a line, as compilers have it: it is passed where the function is entered. Counts are not kept, so a
//! number of times is 1 or 0. What comments exclude is left out, and what is
//! not covered where they justify that.

use std::collections::BTreeMap;

use lydian_objective::Criterion;

use crate::coverage::{
    ConditionCoverage, DecisionCoverage, FileCoverage, FunctionCoverage, ObjectiveStatus, Position,
    SwitchCoverage,
};
use crate::independence::{Analysis, analyse};

/// What is known of the lines of a file, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// The lines with code or branches.
    pub lines: BTreeMap<u32, Line>,
}

/// What is known of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Whether control passed it.
    pub covered: bool,
    /// Its branches, by where they begin.
    pub branches: Vec<BranchGroup>,
    /// The conditions of its decisions whose evaluations were recorded.
    pub decisions: Vec<IndependenceGroup>,
}

/// The ways of one condition, decision or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchGroup {
    /// Where it begins.
    pub start: Position,
    /// What decides.
    pub kind: BranchKind,
    /// Whether control came here at all.
    pub reached: bool,
    /// The ways that count; true before false.
    pub ways: Vec<Way>,
}

/// A way of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Its number among all ways of the branch, those that do not count too.
    pub number: usize,
    /// Whether it was taken.
    pub taken: bool,
}

impl Way {
    fn all(taken: impl IntoIterator<Item = bool>) -> Vec<Self> {
        taken.into_iter().enumerate().map(|(number, taken)| Self { number, taken }).collect()
    }
}

/// What decides at a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// A condition, or a decision.
    Jump,
    /// A switch.
    Switch,
}

/// Whether each condition of a decision was seen to decide the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndependenceGroup {
    /// Where the decision begins.
    pub start: Position,
    /// For each condition its text, and whether it decided by being false, and true.
    pub conditions: Vec<(String, [bool; 2])>,
}

impl LineTable {
    /// The lines of a file without what is excluded.
    pub fn of(file: &FileCoverage) -> Self {
        let mut table = Self::default();
        for function in &file.functions {
            table.add(file, function);
        }
        for line in table.lines.values_mut() {
            line.branches.sort_by_key(|group| group.start);
            line.decisions.sort_by_key(|group| group.start);
            line.covered |= line.branches.iter().any(|group| group.reached);
        }
        table
    }

    fn add(&mut self, file: &FileCoverage, function: &FunctionCoverage) {
        let excused = Excused::of(function);
        let first = function.start.line;
        let is_counted = function.is_listed() && !file.exclusions.line(first);
        if is_counted && (function.ran() || !excused.statements(first)) {
            self.lines.entry(first).or_default().covered |= function.ran();
        }
        let measured = function.lines.iter().filter(|line| !file.exclusions.line(line.line));
        for line in measured.filter(|line| line.covered || !excused.statements(line.line)) {
            self.lines.entry(line.line).or_default().covered |= line.covered;
        }
        for decision in &function.decisions {
            self.add_decision(file, decision, &excused);
        }
        for switch in &function.switches {
            self.add_group(file, switch_group(switch), &excused);
        }
    }

    fn add_group(&mut self, file: &FileCoverage, mut group: BranchGroup, excused: &Excused) {
        if excused.branches(group.start.line) {
            group.ways.retain(|way| way.taken);
        }
        if !file.exclusions.branch(group.start.line) && !group.ways.is_empty() {
            self.lines.entry(group.start.line).or_default().branches.push(group);
        }
    }

    fn add_decision(
        &mut self,
        file: &FileCoverage,
        decision: &DecisionCoverage,
        excused: &Excused,
    ) {
        for group in jump_groups(decision) {
            self.add_group(file, group, excused);
        }
        if decision.recorded && !file.exclusions.branch(decision.start.line) {
            let analysis = analyse(decision);
            let effects = analysis.iter().map(Analysis::decided);
            let conditions = decision.conditions.iter().zip(effects);
            let counts = |(condition, decided): &(&ConditionCoverage, [bool; 2])| {
                *decided == [true; 2] || !excused.pairs(condition.start.line)
            };
            let conditions: Vec<(String, [bool; 2])> = conditions
                .filter(counts)
                .map(|(condition, decided)| (condition.text.clone(), decided))
                .collect();
            if !conditions.is_empty() {
                let group = IndependenceGroup { start: decision.start, conditions };
                self.lines.entry(decision.start.line).or_default().decisions.push(group);
            }
        }
    }

    /// How many lines there are, and how many were passed.
    pub fn count(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.values().filter(|line| line.covered).count())
    }

    /// How many branches there are, and how many were taken.
    pub fn count_branches(&self) -> (usize, usize) {
        let all = self.lines.values().map(Line::count_branches);
        all.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1))
    }

    /// How many conditions there are with a value each, and how many decided with it.
    pub fn count_conditions(&self) -> (usize, usize) {
        let groups = self.lines.values().flat_map(|line| &line.decisions);
        let decided = groups.flat_map(|group| &group.conditions).flat_map(|(_, decided)| decided);
        decided.fold((0, 0), |(all, hit), decided| (all + 1, hit + usize::from(*decided)))
    }
}

impl Line {
    /// How many branches it has, and how many were taken.
    pub fn count_branches(&self) -> (usize, usize) {
        let ways = || self.branches.iter().flat_map(|group| &group.ways);
        (ways().count(), ways().filter(|way| way.taken).count())
    }
}

/// The lines of a function of which comments justify that something is not covered.
struct Excused(Vec<(u32, Criterion)>);

impl Excused {
    fn of(function: &FunctionCoverage) -> Self {
        let excused = function
            .objectives
            .iter()
            .filter(|objective| matches!(objective.status, ObjectiveStatus::Excluded(Some(_))));
        Self(excused.map(|objective| (objective.start.line, objective.criterion)).collect())
    }

    fn has(&self, line: u32, criteria: &[Criterion]) -> bool {
        self.0.iter().any(|(own, criterion)| *own == line && criteria.contains(criterion))
    }

    fn statements(&self, line: u32) -> bool {
        self.has(line, &[Criterion::Stmt])
    }

    fn branches(&self, line: u32) -> bool {
        self.has(line, &[Criterion::Bc, Criterion::Dc, Criterion::Cc, Criterion::Dcc])
    }

    fn pairs(&self, line: u32) -> bool {
        self.has(line, &[Criterion::Mcdc, Criterion::Cacc, Criterion::Racc])
    }
}

fn jump_groups(decision: &DecisionCoverage) -> Vec<BranchGroup> {
    if !decision.recorded {
        let [no, yes] = decision.outcomes;
        return vec![BranchGroup {
            start: decision.start,
            kind: BranchKind::Jump,
            reached: no || yes,
            ways: Way::all([yes, no]),
        }];
    }
    let group = |(index, condition): (usize, &crate::coverage::ConditionCoverage)| {
        let seen = |value: bool| {
            decision.rows.iter().any(|row| row.reached[index] && row.values[index] == Some(value))
        };
        let (yes, no) = (seen(true), seen(false));
        BranchGroup {
            start: condition.start,
            kind: BranchKind::Jump,
            reached: yes || no,
            ways: Way::all([yes, no]),
        }
    };
    decision.conditions.iter().enumerate().map(group).collect()
}

fn switch_group(switch: &SwitchCoverage) -> BranchGroup {
    let ways = Way::all(switch.ways.iter().map(|way| way.covered));
    BranchGroup {
        start: switch.start,
        kind: BranchKind::Switch,
        reached: ways.iter().any(|way| way.taken),
        ways,
    }
}
