//! The reference semantics of hyperlabels on traces of runs ([002] Figure 5), by its rules and
//! nothing else.
//!
//! This is the oracle for all faster implementations: it is naive, and exponential. A test suite is a
//! list of traces, and a trace the list of the events of a run. [`environments`] returns all the
//! least environments with which a suite covers a hyperlabel. The suite covers it if there is one.
//! The rules allow larger environments, too, which makes no difference for well-formed hyperlabels,
//! since their guards use bound names only.
//!
//! An event has the labels that are true at its site, and the known values that hyperlabels ask for
//! there. [`Tracer`] makes the events of a run in the interpreter, at every kind of site. A statement
//! that writes through a pointer defines a variable if it hits the variable in this run; otherwise it
//! is no first atom of the variable's sequences, and does not end the reach of other definitions. For
//! cells, the addresses that events bind determine the bytes that are written and read.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{DecisionId, FuncId};
use rustc_hash::FxHashMap;

use crate::coverage_record::{CoverageRecord, RecordRequest};
use crate::dataflow::Variable;
use crate::decision::vector::DecisionVector;
use crate::hyper::{
    Atom, BoundValue, CellDefinition, Definitions, Formula, Hyper, Obligation, Passage, SameCell,
    Sequence, SequenceScope,
};
use crate::label::{LabelId, Site};
use crate::objectives::FunctionObjectives;

#[cfg(test)]
mod tests;
mod tracer;

pub use tracer::Tracer;

/// The events of a run, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The events.
    pub events: Vec<TraceEvent>,
}

/// One passage of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    /// The function.
    pub function: FuncId,
    /// The activation of a function that it is in, by number within the run.
    pub activation: u32,
    /// The site.
    pub site: Site,
    /// The labels of the function that it covers.
    pub labels: BTreeSet<LabelId>,
    /// The values that are known.
    pub values: FxHashMap<BoundValue, i128>,
    /// The vector of a decision's event.
    pub vector: Option<(DecisionId, DecisionVector)>,
    /// The variables that a write through a pointer hits.
    pub hits: BTreeSet<Variable>,
}

/// The values of metavariables.
pub type Environment = BTreeMap<String, i128>;

/// The least environments with which the traces cover a hyperlabel of a function.
pub fn environments(
    traces: &[Trace],
    objectives: &FunctionObjectives,
    hyper: &Hyper,
) -> BTreeSet<Environment> {
    match hyper {
        Hyper::Atom(atom) => {
            let events = traces.iter().flat_map(|trace| &trace.events);
            events.filter_map(|event| covers(event, atom)).collect()
        }
        Hyper::Sequence(id) => {
            let sequence = &objectives.sequences[*id];
            traces.iter().flat_map(|trace| ways(trace, sequence)).collect()
        }
        Hyper::Guard(inner, guard) => {
            let mut found = environments(traces, objectives, inner);
            found.retain(|environment| guard.holds(&|name| environment.get(name).copied()));
            found
        }
        Hyper::All(parts) => {
            let mut all = BTreeSet::from([Environment::new()]);
            for part in parts {
                let right = environments(traces, objectives, part);
                let join = |left: &Environment| {
                    let left = left.clone();
                    right.iter().filter_map(move |right| union(&left, right)).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(join).collect();
            }
            all
        }
        Hyper::Any(parts) => {
            parts.iter().flat_map(|part| environments(traces, objectives, part)).collect()
        }
    }
}

/// Whether the traces cover a hyperlabel of a function.
pub fn is_covered(traces: &[Trace], objectives: &FunctionObjectives, hyper: &Hyper) -> bool {
    !environments(traces, objectives, hyper).is_empty()
}

impl Trace {
    /// The coverage record of the run that monitors would make if they kept every environment.
    pub fn record(
        &self,
        objectives: &FunctionObjectives,
        wanted: &RecordRequest,
    ) -> CoverageRecord {
        let mut record = CoverageRecord::new();
        let own = |event: &&TraceEvent| event.function == objectives.function;
        for event in self.events.iter().filter(own) {
            event.labels.iter().for_each(|label| _ = record.cover_label(*label));
            let labels = wanted.labels.iter().map(|asked| &asked.values);
            for values in labels.filter(|v| event.labels.contains(&v.label)) {
                let row = values.values.iter().map(|value| event.values.get(value).copied());
                if let Some(row) = row.collect() {
                    record.add_label_values(values.clone(), row);
                }
            }
            if let Some((decision, vector)) = &event.vector {
                record.add_vector(*decision, vector.clone());
            }
        }
        for (id, sequence) in objectives.sequences.iter() {
            if !ways(self, sequence).is_empty() {
                record.cover_sequence(id);
            }
        }
        for values in wanted.sequences.iter().map(|asked| &asked.values) {
            let sequence = &objectives.sequences[values.sequence];
            for environment in ways(self, sequence) {
                let name = |(atom, binding): &(u32, u32)| {
                    &sequence.atoms[*atom as usize].bindings[*binding as usize].name
                };
                let row = values.values.iter().map(|value| environment[name(value)]).collect();
                record.add_sequence_values(values.clone(), row);
            }
        }
        record
    }
}

/// The union of two environments; `None` if they give a name different values.
fn union(a: &Environment, b: &Environment) -> Option<Environment> {
    let mut all = a.clone();
    for (name, value) in b {
        if *all.entry(name.clone()).or_insert(*value) != *value {
            return None;
        }
    }
    Some(all)
}

/// The environment that an event binds for an atom; `None` if it does not cover the atom.
fn covers(event: &TraceEvent, atom: &Atom) -> Option<Environment> {
    if event.function != atom.function || !event.labels.contains(&atom.label) {
        return None;
    }
    let value = |bound: &BoundValue| event.values.get(bound).copied();
    let binding = |b: &crate::hyper::Binding| Some((b.name.clone(), value(&b.value)?));
    atom.bindings.iter().map(binding).collect()
}

/// The environments in which a trace covers a sequence.
fn ways(trace: &Trace, sequence: &Sequence) -> Vec<Environment> {
    let mut found = Vec::new();
    extend(trace, sequence, &mut Vec::new(), &Environment::new(), &mut found);
    found
}

/// Adds an event for the next atom to the chosen events, in all possible ways.
fn extend(
    trace: &Trace,
    sequence: &Sequence,
    chosen: &mut Vec<usize>,
    environment: &Environment,
    found: &mut Vec<Environment>,
) {
    let Some(atom) = sequence.atoms.get(chosen.len()) else {
        found.push(environment.clone());
        return;
    };
    let from = chosen.last().map_or(0, |last| last + 1);
    for at in from..trace.events.len() {
        let event = &trace.events[at];
        let Some(bound) = covers(event, atom) else { continue };
        if chosen.is_empty() && !defines(event, sequence) {
            continue;
        }
        let Some(all) = union(environment, &bound) else { continue };
        let fits = chosen.last().is_none_or(|last| {
            let first = &trace.events[*last];
            let passage = &sequence.passages[chosen.len() - 1];
            (sequence.scope == SequenceScope::Run || first.activation == event.activation)
                && is_by(trace, *last..at, passage)
                && match passage.otherwise() {
                    Passage::Cell(same) => is_same_cell(trace, *last..at, same, sequence, atom),
                    other => is_free(trace, *last..at, other, sequence.scope, environment),
                }
        });
        if fits {
            chosen.push(at);
            extend(trace, sequence, chosen, &all, found);
            chosen.pop();
        }
    }
}

/// If the passage asks for a path: whether the first and the last event of a range are of one
/// activation, which enters exactly the nodes of the path between them.
fn is_by(trace: &Trace, range: std::ops::Range<usize>, passage: &Passage) -> bool {
    let Passage::By(path, _) = passage else { return true };
    let (first, last) = (&trace.events[range.start], &trace.events[range.end]);
    let entered =
        between(trace, range, SequenceScope::Activation).filter_map(|event| match event.site {
            Site::Block(block) => Some(block),
            _ => None,
        });
    first.activation == last.activation && entered.eq(path.iter().copied())
}

/// Whether the events after the first of a range satisfy a passage. In a sequence of one activation
/// the events of other activations do not count.
fn is_free(
    trace: &Trace,
    range: std::ops::Range<usize>,
    passage: &Passage,
    scope: SequenceScope,
    environment: &Environment,
) -> bool {
    let mut between = between(trace, range, scope);
    match passage {
        Passage::Free | Passage::Cell(_) | Passage::By(..) => true,
        Passage::Adjacent => !between.any(|event| matches!(event.site, Site::Block(_))),
        Passage::Clear(of) => !between.any(|event| {
            let place = (event.function, event.site);
            of.places.contains(&place) || of.indirect.contains(&place) && hits(event, of)
        }),
        Passage::Obliged(obligations) => between.all(|event| {
            let mut here = obligations.iter().filter(|duty| is_at(event, duty));
            here.all(|duty| holds(event, &duty.holds, environment))
        }),
    }
}

/// The events between two, those of one activation if that is the scope.
fn between(
    trace: &Trace,
    range: std::ops::Range<usize>,
    scope: SequenceScope,
) -> impl Iterator<Item = &TraceEvent> {
    let activation = trace.events[range.start].activation;
    let between = trace.events[range.start + 1..range.end].iter();
    between.filter(move |event| scope == SequenceScope::Run || event.activation == activation)
}

/// Whether the event at the end of a range, which covers an atom, reads some byte that the event at
/// its start wrote and no definition between.
fn is_same_cell(
    trace: &Trace,
    range: std::ops::Range<usize>,
    same: &SameCell,
    sequence: &Sequence,
    read: &Atom,
) -> bool {
    let address = |event: &TraceEvent, atom: &Atom| {
        let bound = &atom.bindings.first()?.value;
        event.values.get(bound).map(|value| *value as u64)
    };
    let (first, last) = (&trace.events[range.start], &trace.events[range.end]);
    let Some(from) = address(last, read) else { return false };
    let is_written = |byte: u64| match same.written {
        Some(bytes) => {
            address(first, &sequence.atoms[0]).is_some_and(|start| byte.wrapping_sub(start) < bytes)
        }
        None => {
            let mut own = same.of.at((first.function, first.site)).peekable();
            // The start of the run is not in the list.
            own.peek().is_none()
                || own.any(|definition| defines_byte(first, definition, same, byte))
        }
    };
    let is_kept = |byte: u64| {
        let mut others = between(trace, range.clone(), sequence.scope)
            .flat_map(|event| same.of.at((event.function, event.site)).map(move |d| (event, d)));
        !others.any(|(event, definition)| defines_byte(event, definition, same, byte))
    };
    (from..from.saturating_add(same.read)).any(|byte| is_written(byte) && is_kept(byte))
}

/// Whether an event at a definition of cells writes the byte at an address.
fn defines_byte(
    event: &TraceEvent,
    definition: &CellDefinition,
    same: &SameCell,
    byte: u64,
) -> bool {
    match definition.writes {
        Some((addr, bytes)) => {
            let start = event.values.get(&BoundValue::Expr(addr));
            start.is_some_and(|start| byte.wrapping_sub(*start as u64) < bytes)
        }
        None if definition.indirect => {
            same.of.of.is_some_and(|variable| event.hits.contains(&variable))
        }
        None => true,
    }
}

/// If a sequence is about a variable: whether an event, which covers its first atom, defines the
/// variable.
fn defines(event: &TraceEvent, sequence: &Sequence) -> bool {
    let passage = sequence.passages.first().map(Passage::otherwise);
    let Some(Passage::Clear(of)) = passage else { return true };
    !of.indirect.contains(&(event.function, event.site)) || hits(event, of)
}

/// Whether a write through a pointer hits a variable.
fn hits(event: &TraceEvent, of: &Definitions) -> bool {
    of.of.is_some_and(|variable| event.hits.contains(&variable))
}

fn is_at(event: &TraceEvent, obligation: &Obligation) -> bool {
    event.function == obligation.function && event.site == obligation.site
}

fn holds(event: &TraceEvent, formula: &Formula, environment: &Environment) -> bool {
    let name = |name: &str| environment.get(name).copied();
    let state = |expr| event.values.get(&BoundValue::Expr(expr)).copied();
    formula.value(&name, &state).is_some_and(|value| value != 0)
}
