//! Lines and branches for line-oriented formats (lcov, Cobertura, gcov).
//!
//! If the evaluations of a decision were recorded, each way of each of its conditions is a branch;
//! else each way of the whole decision is one. Each way of a switch is a branch, too. The line of a
//! function's name counts as a line, as for compilers: it is passed when the function is entered. An
//! execution count is 1 or 0 if nothing was counted. Lines and branches that comments exclude are
//! left out, and so are those that are not covered with a justification.

use std::collections::BTreeMap;

use lydian_ir::BoolTree;
use lydian_objective::Criterion;
use lydian_objective::criterion::LineEntry;

use crate::coverage::{
    ConditionCoverage, DecisionCoverage, ExecutionCount, FileCoverage, FunctionCoverage,
    ObjectiveStatus, Position, SwitchCoverage,
};
use crate::independence::{Analysis, analyse};

/// The coverage of the lines of a file, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// The lines with code or branches.
    pub lines: BTreeMap<u32, Line>,
}

/// The coverage of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The number of times that control passed it ([`ExecutionCount::or_once`]).
    pub hits: u64,
    /// Its branches, by the places where they begin.
    pub branches: Vec<BranchGroup>,
    /// The conditions of its decisions whose evaluations were recorded.
    pub decisions: Vec<IndependenceGroup>,
}

/// The ways of one condition, decision or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchGroup {
    /// Where it begins.
    pub start: Position,
    /// Its kind.
    pub kind: BranchKind,
    /// The number of times that control came here ([`ExecutionCount::or_once`]).
    pub reached: u64,
    /// The ways that count; true before false.
    pub ways: Vec<BranchWay>,
}

/// A way of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchWay {
    /// Its number among all ways of the branch, those that do not count too.
    pub number: usize,
    /// The number of times that it was taken ([`ExecutionCount::or_once`]).
    pub hits: u64,
}

impl BranchWay {
    /// Whether it was taken.
    pub const fn taken(&self) -> bool {
        self.hits > 0
    }
}

/// The kinds of branches.
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
    /// The lines of a file, without excluded ones.
    pub fn of(file: &FileCoverage) -> Self {
        let mut table = Self::default();
        for function in &file.functions {
            table.add(file, function);
        }
        for line in table.lines.values_mut() {
            line.branches.sort_by_key(|group| group.start);
            line.decisions.sort_by_key(|group| group.start);
            let reached = line.branches.iter().map(|group| group.reached).max();
            line.pass(reached.unwrap_or(0));
        }
        table
    }

    fn add(&mut self, file: &FileCoverage, function: &FunctionCoverage) {
        let justified = JustifiedLines::of(function);
        let first = function.start.line;
        let is_counted = function.is_listed() && !file.exclusions.line(first);
        if is_counted && (function.ran() || !justified.statements(first)) {
            let hits = function.entries.or_once(function.ran());
            self.lines.entry(first).or_default().pass(hits);
        }
        let measured = function.lines.iter().filter(|line| !file.exclusions.line(line.line));
        for line in measured.filter(|line| line.covered || !justified.statements(line.line)) {
            self.lines.entry(line.line).or_default().pass(line.count.or_once(line.covered));
        }
        for decision in &function.decisions {
            self.add_decision(file, decision, &justified);
        }
        for switch in &function.switches {
            self.add_group(file, switch_group(switch), &justified);
        }
    }

    fn add_group(
        &mut self,
        file: &FileCoverage,
        mut group: BranchGroup,
        justified: &JustifiedLines,
    ) {
        if justified.branches(group.start.line) {
            group.ways.retain(BranchWay::taken);
        }
        if !file.exclusions.branch(group.start.line) && !group.ways.is_empty() {
            self.lines.entry(group.start.line).or_default().branches.push(group);
        }
    }

    fn add_decision(
        &mut self,
        file: &FileCoverage,
        decision: &DecisionCoverage,
        justified: &JustifiedLines,
    ) {
        for group in jump_groups(decision) {
            self.add_group(file, group, justified);
        }
        if decision.recorded && !file.exclusions.branch(decision.start.line) {
            let analysis = analyse(decision);
            let effects = analysis.iter().map(Analysis::decided);
            let conditions = decision.conditions.iter().zip(effects).enumerate();
            let conditions = conditions.filter(|(index, _)| decision.asks(*index));
            let counts = |(_, (condition, decided)): &(usize, (&ConditionCoverage, [bool; 2]))| {
                *decided == [true; 2] || !justified.pairs(condition.start.line)
            };
            let conditions: Vec<(String, [bool; 2])> = conditions
                .filter(counts)
                .map(|(_, (condition, decided))| (condition.text.clone(), decided))
                .collect();
            if !conditions.is_empty() {
                let group = IndependenceGroup { start: decision.start, conditions };
                self.lines.entry(decision.start.line).or_default().decisions.push(group);
            }
        }
    }

    /// The number of lines, and the number that were passed.
    pub fn count(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.values().filter(|line| line.covered()).count())
    }

    /// The number of branches, and the number that were taken.
    pub fn count_branches(&self) -> (usize, usize) {
        let all = self.lines.values().map(Line::count_branches);
        all.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1))
    }

    /// The number of pairs of a condition and a value, and the number of those that decided.
    pub fn count_conditions(&self) -> (usize, usize) {
        let groups = self.lines.values().flat_map(|line| &line.decisions);
        let decided = groups.flat_map(|group| &group.conditions).flat_map(|(_, decided)| decided);
        decided.fold((0, 0), |(all, hit), decided| (all + 1, hit + usize::from(*decided)))
    }
}

impl Line {
    /// Whether control passed it.
    pub const fn covered(&self) -> bool {
        self.hits > 0
    }

    fn pass(&mut self, hits: u64) {
        self.hits = self.hits.max(hits);
    }

    /// The number of its branches, and the number that were taken.
    pub fn count_branches(&self) -> (usize, usize) {
        let ways = || self.branches.iter().flat_map(|group| &group.ways);
        (ways().count(), ways().filter(|way| way.taken()).count())
    }
}

/// The lines of a function on which comments justify that something is not covered.
struct JustifiedLines(Vec<(u32, Criterion)>);

impl JustifiedLines {
    fn of(function: &FunctionCoverage) -> Self {
        let justified = function
            .objectives
            .iter()
            .filter(|objective| matches!(objective.status, ObjectiveStatus::Excluded(Some(_))));
        Self(justified.map(|objective| (objective.start.line, objective.criterion)).collect())
    }

    fn has(&self, line: u32, entry: LineEntry) -> bool {
        self.0
            .iter()
            .any(|(own, criterion)| *own == line && criterion.construct().line_entry() == entry)
    }

    fn statements(&self, line: u32) -> bool {
        self.has(line, LineEntry::Statement)
    }

    fn branches(&self, line: u32) -> bool {
        self.has(line, LineEntry::Branch)
    }

    fn pairs(&self, line: u32) -> bool {
        self.has(line, LineEntry::Pair)
    }
}

fn jump_groups(decision: &DecisionCoverage) -> Vec<BranchGroup> {
    let jump = |start, seen, [no, yes]: [ExecutionCount; 2]| {
        let [seen_false, seen_true] = seen;
        group(start, BranchKind::Jump, [(seen_true, yes), (seen_false, no)])
    };
    if !decision.recorded {
        let whole = || jump(decision.start, decision.outcomes, decision.outcome_counts());
        let is_asked = !matches!(decision.tree, BoolTree::Const(_));
        return is_asked.then(whole).into_iter().collect();
    }
    let of_condition = |(index, condition): (usize, &ConditionCoverage)| {
        let seen = |value: bool| {
            decision.rows.iter().any(|row| row.reached[index] && row.values[index] == Some(value))
        };
        jump(condition.start, [seen(false), seen(true)], condition.counts)
    };
    let conditions = decision.conditions.iter().enumerate();
    conditions.filter(|(index, _)| decision.asks(*index)).map(of_condition).collect()
}

fn switch_group(switch: &SwitchCoverage) -> BranchGroup {
    let ways = switch.ways.iter().map(|way| (way.covered, way.count));
    group(switch.start, BranchKind::Switch, ways)
}

/// A branch with its ways: whether each was taken, and the number of times.
fn group(
    start: Position,
    kind: BranchKind,
    ways: impl IntoIterator<Item = (bool, ExecutionCount)>,
) -> BranchGroup {
    let (mut reached, mut sum) = (false, ExecutionCount::default());
    let way = |(number, (taken, count)): (usize, (bool, ExecutionCount))| {
        reached |= taken;
        sum.add(count);
        BranchWay { number, hits: count.or_once(taken) }
    };
    let ways = ways.into_iter().enumerate().map(way).collect();
    BranchGroup { start, kind, reached: sum.or_once(reached), ways }
}
