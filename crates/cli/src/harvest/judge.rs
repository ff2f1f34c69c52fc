//! What a unit's counters say about each of its functions.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{EntityId as _, Place};
use lydian_ir::stmt::Edge;
use lydian_ir::{DecisionId, Purity, Truth};
use lydian_native::cc::{NotedDecision, NotedFunction, NotedPlan, NotedSwitch, Notes};
use lydian_objective::event::DecisionVector;
use lydian_objective::{Criterion, LabelId, Site};
use lydian_report::coverage::{
    ConditionCoverage, DecisionCoverage, DecisionRow, FunctionCoverage, LineCoverage,
    ObjectiveCoverage, ObjectiveStatus, Position, SwitchCoverage, SwitchWay,
};

use super::Counters;

/// What is known of one function.
#[derive(Debug, Default)]
struct Judged {
    covered: BTreeSet<LabelId>,
    /// The evaluations of decisions that are recorded.
    vectors: BTreeMap<DecisionId, BTreeSet<DecisionVector>>,
    /// The outcomes of decisions of which no more is recorded.
    outcomes: BTreeMap<DecisionId, [bool; 2]>,
    unmeasured: BTreeMap<LabelId, String>,
}

/// The functions of a unit, in the order of its notes.
pub(super) fn functions(notes: &Notes, counters: &Counters) -> Vec<FunctionCoverage> {
    let mut all: Vec<Judged> = notes.functions.iter().map(|_| Judged::default()).collect();
    read_plan(notes, counters, &mut all);
    let coverage = |(function, judged): (&NotedFunction, &mut Judged)| {
        labels_of_vectors(function, judged);
        function_coverage(function, judged)
    };
    notes.functions.iter().zip(&mut all).map(coverage).collect()
}

/// Reads the cells and tables as the plan says.
fn read_plan(notes: &Notes, counters: &Counters, all: &mut [Judged]) {
    let NotedPlan { labels, vectors, outcomes, tables, unwatched, .. } = &notes.plan;
    for (cell, function, of_cell) in labels {
        if let Some(judged) = all.get_mut(*function as usize)
            && counters.set.contains(cell)
        {
            judged.covered.extend(of_cell);
        }
    }
    for (function, decision, first) in outcomes {
        let Some(judged) = all.get_mut(*function as usize) else { continue };
        let seen = [0, 1].map(|outcome| counters.set.contains(&(first + outcome)));
        judged.outcomes.insert(*decision, seen);
    }
    let noted = |function: u32, decision: DecisionId| {
        notes.functions.get(function as usize)?.decisions.get(decision.index())
    };
    for (function, decision, first, conditions) in vectors {
        let (Some(judged), Some(noted)) =
            (all.get_mut(*function as usize), noted(*function, *decision))
        else {
            continue;
        };
        let seen = judged.vectors.entry(*decision).or_default();
        let cells = counters.set.range(*first..first + (1 << conditions));
        seen.extend(
            cells.map(|cell| vector(noted, notes.short_circuit, &[u64::from(cell - first)])),
        );
    }
    for table in tables {
        let (Some(judged), Some(noted)) =
            (all.get_mut(table.function as usize), noted(table.function, table.decision))
        else {
            continue;
        };
        let seen = judged.vectors.entry(table.decision).or_default();
        let stride = 1 + table.words as usize;
        for words in &counters.tables {
            let words = words.get(table.at as usize..).unwrap_or(&[]);
            let entries = words.chunks_exact(stride).take(table.capacity as usize);
            let there = entries.filter(|entry| entry[0] == 2);
            seen.extend(there.map(|entry| vector(noted, notes.short_circuit, &entry[1..])));
        }
    }
    for (function, label, reason) in unwatched {
        if let Some(judged) = all.get_mut(*function as usize) {
            judged.unmeasured.insert(*label, reason.clone());
        }
    }
}

/// The evaluation whose true conditions are the bits.
fn vector(noted: &NotedDecision, short_circuit: bool, words: &[u64]) -> DecisionVector {
    DecisionVector::of(&noted.decision, short_circuit, |condition| {
        let word = words.get(condition.index() / 64).copied().unwrap_or(0);
        word >> (condition.index() % 64) & 1 == 1
    })
}

/// The labels that recorded evaluations cover.
fn labels_of_vectors(function: &NotedFunction, judged: &mut Judged) {
    for (id, label) in function.labels.iter() {
        let Site::Decision(decision) = label.site else { continue };
        let Some(seen) = judged.vectors.get(&decision) else { continue };
        if seen.iter().any(|vector| label.pred.eval(vector).is_true()) {
            judged.covered.insert(id);
        }
    }
}

fn function_coverage(function: &NotedFunction, judged: &Judged) -> FunctionCoverage {
    let decisions = function.decisions.iter().enumerate();
    let switches = function.switches.iter();
    FunctionCoverage {
        name: function.name.clone(),
        start: position(&function.place),
        end_line: function.end_line,
        entered: entered(function, judged),
        lines: lines(function, judged),
        decisions: decisions
            .map(|(index, noted)| decision(DecisionId::from_index(index), noted, judged))
            .collect(),
        switches: switches.filter_map(|noted| switch(function, noted, judged)).collect(),
        objectives: objectives(function, judged),
        def_uses: Vec::new(),
    }
}

fn position(place: &Place) -> Position {
    Position { line: place.line, column: place.column }
}

/// Whether the function was entered, as far as something tells.
fn entered(function: &NotedFunction, judged: &Judged) -> Option<bool> {
    let telling = [Criterion::Fc, Criterion::Stmt];
    let entries = telling.iter().filter_map(|criterion| function.criteria.get(criterion));
    let mut labels = entries.flatten().map(|entry| entry.label).peekable();
    labels.peek()?;
    Some(labels.any(|label| judged.covered.contains(&label)))
}

fn lines(function: &NotedFunction, judged: &Judged) -> Vec<LineCoverage> {
    let mut lines: BTreeMap<u32, bool> = BTreeMap::new();
    for entry in function.criteria.get(&Criterion::Stmt).into_iter().flatten() {
        let covered = judged.covered.contains(&entry.label);
        *lines.entry(function.labels[entry.label].place.line).or_default() |= covered;
    }
    lines.into_iter().map(|(line, covered)| LineCoverage { line, covered }).collect()
}

fn decision(id: DecisionId, noted: &NotedDecision, judged: &Judged) -> DecisionCoverage {
    let recorded = judged.vectors.get(&id);
    let rows: Vec<DecisionRow> = recorded.into_iter().flatten().map(|v| row(noted, v)).collect();
    let seen = |outcome: bool| rows.iter().any(|row| row.outcome == outcome);
    let outcomes = match judged.outcomes.get(&id) {
        Some(outcomes) if recorded.is_none() => *outcomes,
        _ => [seen(false), seen(true)],
    };
    let conditions = noted.conditions.iter().zip(noted.decision.conditions.values());
    DecisionCoverage {
        start: position(&noted.place),
        text: noted.text.clone(),
        from_macro: noted.from_macro,
        conditions: conditions
            .map(|(noted, condition)| ConditionCoverage {
                start: position(&noted.place),
                text: noted.text.clone(),
                pure: condition.purity == Purity::Pure,
            })
            .collect(),
        tree: noted.decision.tree.clone(),
        recorded: recorded.is_some(),
        rows,
        outcomes,
    }
}

fn row(noted: &NotedDecision, vector: &DecisionVector) -> DecisionRow {
    let ids = noted.decision.conditions.ids();
    let outcome = noted.decision.tree.eval(&|condition| {
        Truth::from(vector.known.contains(condition) && vector.value.contains(condition))
    });
    DecisionRow {
        values: ids
            .clone()
            .map(|id| vector.known.contains(id).then(|| vector.value.contains(id)))
            .collect(),
        reached: ids.map(|id| vector.reached.contains(id)).collect(),
        outcome: outcome.is_true(),
    }
}

/// A switch, if its ways are watched.
fn switch(
    function: &NotedFunction,
    noted: &NotedSwitch,
    judged: &Judged,
) -> Option<SwitchCoverage> {
    let label_of = |way: u32| {
        let site = Site::Edge(Edge { from: noted.block, way });
        function.labels.iter().find(|(_, label)| label.site == site).map(|(id, _)| id)
    };
    let ways = (0..).zip(&noted.ways).map(|(way, noted)| {
        let label = label_of(way)?;
        Some(SwitchWay {
            name: noted.name.clone(),
            start: position(&noted.place),
            covered: judged.covered.contains(&label),
        })
    });
    Some(SwitchCoverage { start: position(&noted.place), ways: ways.collect::<Option<_>>()? })
}

fn objectives(function: &NotedFunction, judged: &Judged) -> Vec<ObjectiveCoverage> {
    let mut all = Vec::new();
    for (criterion, entries) in &function.criteria {
        for entry in entries {
            let label = &function.labels[entry.label];
            let unmeasured = judged.unmeasured.get(&entry.label);
            let status = if entry.duplicate_of.is_some() {
                ObjectiveStatus::Duplicate
            } else if judged.covered.contains(&entry.label) {
                ObjectiveStatus::Covered
            } else if let Some(reason) = unmeasured {
                ObjectiveStatus::Unmeasured(reason.clone())
            } else {
                ObjectiveStatus::Missing
            };
            all.push(ObjectiveCoverage {
                criterion: *criterion,
                name: entry.name.clone(),
                start: position(&label.place),
                text: label.text.clone(),
                status,
            });
        }
    }
    all
}
