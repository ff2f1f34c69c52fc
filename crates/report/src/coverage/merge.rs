//! Coverage of several machines or builds as one.
//!
//! An objective is covered if one of the parts covers it, and counts add up. An objective that a pair
//! of evaluations of a decision shows is judged by the evaluations of all parts. Other objectives
//! that need two runs are covered only if one part has both runs, since parts are judged already. To
//! judge these over all runs, merge data directories instead of reports.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lydian_objective::decision::clause_pairs::ClausePairObjective;
use lydian_objective::{Criterion, DecisionVector};

use super::{
    Coverage, DecisionCoverage, DefUseCoverage, FileCoverage, FunctionCoverage, LineRanges,
    ObjectiveCoverage, ObjectiveStatus, SwitchCoverage, TestCoverage,
};

impl Coverage {
    /// Adds the coverage of another part. Files with another text under the same path are left out,
    /// with a warning.
    pub fn merge(&mut self, other: Self) {
        for criterion in other.criteria {
            if !self.criteria.contains(&criterion) {
                self.criteria.push(criterion);
            }
        }
        let mut files: BTreeMap<_, FileCoverage> =
            std::mem::take(&mut self.files).into_iter().map(|f| (f.path.clone(), f)).collect();
        for file in other.files {
            match files.entry(file.path.clone()) {
                Entry::Vacant(place) => {
                    place.insert(file);
                }
                Entry::Occupied(mut place) => {
                    if let Some(warning) = place.get_mut().merge(file) {
                        self.warnings.push(warning);
                    }
                }
            }
        }
        self.files = files.into_values().collect();
        append_new(&mut self.warnings, other.warnings);
        merge_tests(&mut self.tests, other.tests);
        self.plain.extend(other.plain);
        self.plain.sort();
        self.plain.dedup();
    }
}

/// Adds the tests of another part: tests of one name are one.
fn merge_tests(ours: &mut Vec<TestCoverage>, theirs: Vec<TestCoverage>) {
    for test in theirs {
        let Some(own) = ours.iter_mut().find(|own| own.name == test.name) else {
            ours.push(test);
            continue;
        };
        for (file, lines) in test.files {
            let found = own.files.entry(file).or_default();
            let all: BTreeSet<u32> = found.lines().chain(lines.lines()).collect();
            *found = LineRanges::of(all);
        }
    }
    ours.sort_by(|a, b| a.name.cmp(&b.name));
}

impl FileCoverage {
    /// Adds the coverage of another part of the same text. Returns a warning if the texts differ.
    fn merge(&mut self, other: Self) -> Option<String> {
        if let (Some(ours), Some(theirs)) = (&self.digest, &other.digest)
            && ours != theirs
        {
            let path = self.path.display();
            return Some(format!(
                "the reports that were merged have different texts of {path}; only the first counts"
            ));
        }
        self.digest = self.digest.take().or(other.digest);
        self.changed |= other.changed;
        let mut functions: BTreeMap<_, FunctionCoverage> = std::mem::take(&mut self.functions)
            .into_iter()
            .map(|f| ((f.start, f.name.clone()), f))
            .collect();
        for function in other.functions {
            match functions.entry((function.start, function.name.clone())) {
                Entry::Vacant(place) => {
                    place.insert(function);
                }
                Entry::Occupied(mut place) => place.get_mut().merge(function),
            }
        }
        self.functions = functions.into_values().collect();
        self.exclusions.lines.merge(other.exclusions.lines);
        self.exclusions.branches.merge(other.exclusions.branches);
        None
    }
}

impl LineRanges {
    /// Adds other ranges.
    pub fn merge(&mut self, other: Self) {
        let mut both: Vec<(u32, u32)> = std::mem::take(&mut self.0);
        both.extend(other.0);
        both.sort_unstable();
        for (first, last) in both {
            match self.0.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => self.0.push((first, last)),
            }
        }
    }
}

impl FunctionCoverage {
    fn merge(&mut self, other: Self) {
        self.entered = match (self.entered, other.entered) {
            (Some(a), Some(b)) => Some(a || b),
            (a, b) => a.or(b),
        };
        self.entries.add(other.entries);
        self.end_line = self.end_line.max(other.end_line);
        let key = |line: &super::LineCoverage| line.line;
        join(&mut self.lines, other.lines, key, |ours, theirs| {
            ours.covered |= theirs.covered;
            ours.count.add(theirs.count);
        });
        let key = |d: &DecisionCoverage| (d.start, d.text.clone());
        let places = join(&mut self.decisions, other.decisions, key, DecisionCoverage::merge);
        join(&mut self.switches, other.switches, |s| s.start, SwitchCoverage::merge);
        let key = |d: &DefUseCoverage| {
            (d.variable.clone(), d.definition_file.clone(), d.definition, d.usage, d.branch)
        };
        join(&mut self.def_uses, other.def_uses, key, |ours, theirs| {
            ours.covered |= theirs.covered
        });
        let mut objectives = other.objectives;
        for objective in &mut objectives {
            let decision = objective.decision.and_then(|at| places.get(at as usize));
            objective.decision = decision.map(|at| *at as u32);
        }
        let key = |o: &ObjectiveCoverage| (o.criterion, o.start, o.name.clone(), o.text.clone());
        join(&mut self.objectives, objectives, key, |ours, theirs| {
            let status = std::mem::replace(&mut ours.status, ObjectiveStatus::Missing);
            ours.status = status.or(theirs.status);
        });
        self.judge_pairs();
        // One part may measure criteria that another one cannot measure.
        let measured: BTreeSet<Criterion> = self
            .objectives
            .iter()
            .filter(|objective| !objective.is_whole_function())
            .map(|objective| objective.criterion)
            .collect();
        self.objectives.retain(|objective| {
            !objective.is_whole_function() || !measured.contains(&objective.criterion)
        });
    }
}

impl FunctionCoverage {
    /// Judges the objectives of pairs of evaluations by the evaluations of all parts.
    fn judge_pairs(&mut self) {
        let mut vectors: BTreeMap<u32, Vec<(DecisionVector, bool)>> = BTreeMap::new();
        for objective in &mut self.objectives {
            let Some(at) = objective.decision else { continue };
            let is_open = objective.status == ObjectiveStatus::Missing;
            let (Some(decision), true) = (self.decisions.get(at as usize), is_open) else {
                continue;
            };
            let Some((_, asked)) = ClausePairObjective::named(objective.criterion, &objective.name)
            else {
                continue;
            };
            let vectors = vectors.entry(at).or_insert_with(|| decision.vectors());
            if asked.is_shown(&decision.tree, decision.short_circuit, vectors) {
                objective.status = ObjectiveStatus::Covered;
            }
        }
    }
}

impl DecisionCoverage {
    fn merge(&mut self, other: Self) {
        self.outcomes = [0, 1].map(|way| self.outcomes[way] || other.outcomes[way]);
        self.recorded |= other.recorded;
        for (ours, theirs) in self.conditions.iter_mut().zip(&other.conditions) {
            ours.counts.iter_mut().zip(theirs.counts).for_each(|(count, more)| count.add(more));
        }
        if self.tree == other.tree {
            let seen: BTreeSet<_> = self.rows.iter().cloned().collect();
            self.rows.extend(other.rows.into_iter().filter(|row| !seen.contains(row)));
        }
    }
}

impl SwitchCoverage {
    fn merge(&mut self, other: Self) {
        let key = |way: &super::SwitchWay| (way.start, way.name.clone());
        join(&mut self.ways, other.ways, key, |ours, theirs| {
            ours.covered |= theirs.covered;
            ours.count.add(theirs.count);
        });
    }
}

impl ObjectiveStatus {
    /// The status from two parts together.
    fn or(self, other: Self) -> Self {
        let rank = |status: &Self| match status {
            Self::Excluded(Some(_)) => 5,
            Self::Excluded(None) => 4,
            Self::Duplicate => 3,
            Self::Covered => 2,
            Self::Missing => 1,
            Self::Unmeasured(_) => 0,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// Joins two lists with distinct keys: the order is that of the first list, then come the items that
/// only the second has. If several items of a list have one key, the n-th of both lists are the same.
/// Returns the new position of each item of the second list.
fn join<T, K: Ord>(
    ours: &mut Vec<T>,
    theirs: Vec<T>,
    key: impl Fn(&T) -> K,
    mut add: impl FnMut(&mut T, T),
) -> Vec<usize> {
    let mut places: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for (index, item) in ours.iter().enumerate() {
        places.entry(key(item)).or_default().push_back(index);
    }
    let place = |item: T| match places.get_mut(&key(&item)).and_then(VecDeque::pop_front) {
        Some(index) => {
            add(&mut ours[index], item);
            index
        }
        None => {
            ours.push(item);
            ours.len() - 1
        }
    };
    theirs.into_iter().map(place).collect()
}

fn append_new(ours: &mut Vec<String>, theirs: Vec<String>) {
    for text in theirs {
        if !ours.contains(&text) {
            ours.push(text);
        }
    }
}
