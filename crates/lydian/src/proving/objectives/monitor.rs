//! Sequences that a run covers, followed along its trace.
//!
//! A flag says that the run is in the midst of a sequence ([001] 4.3, Figure 2). The meaning is that of
//! [`lydian_objective::trace`], which looks at all ways; here it takes one pass, for sequences whose
//! passages are definitions or forbidden sites. Others are left to the reference where the trace is short.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::FuncId;
use lydian_objective::hyper::{Formula, Passage, Sequence, SequenceScope};
use lydian_objective::trace::{Trace, TraceEvent, is_covered};
use lydian_objective::{FunctionObjectives, Hyper, SequenceId, Site};

use super::asked::AskedObjectives;

/// The most events of a trace that the reference is asked about.
const MOST_EVENTS: usize = 512;

/// The name of a sequence: the position of its function, and its number.
type Name = (usize, SequenceId);
/// The activation that a flag belongs to; 0 for those of a run.
type Activation = u32;

/// The sequences that are asked for.
pub(super) struct SequenceMonitor<'a> {
    functions: &'a [FunctionObjectives],
    followed: Vec<(Name, &'a Sequence)>,
    /// Whether a trace covered each of these.
    done: Vec<bool>,
    /// The others.
    beyond: Vec<Name>,
    /// By function and site: the followed sequences with an atom there.
    at: BTreeMap<(FuncId, Site), Vec<usize>>,
    /// By function and site: the followed sequences with a passage that may end there.
    ends: BTreeMap<(FuncId, Site), Vec<usize>>,
}

impl<'a> SequenceMonitor<'a> {
    pub(super) fn new(asked: &AskedObjectives<'a>) -> Self {
        let mut monitor = Self {
            functions: asked.functions,
            followed: Vec::new(),
            done: Vec::new(),
            beyond: Vec::new(),
            at: BTreeMap::new(),
            ends: BTreeMap::new(),
        };
        for (position, of) in asked.functions.iter().enumerate() {
            for (id, sequence) in of.sequences.iter() {
                if asked.choice.sequences.contains(&(of.function, id)) {
                    monitor.add(asked, (position, id), sequence);
                }
            }
        }
        monitor
    }

    fn add(&mut self, asked: &AskedObjectives<'a>, name: Name, sequence: &'a Sequence) {
        if !is_plain(sequence) {
            self.beyond.push(name);
            return;
        }
        let number = self.followed.len();
        self.followed.push((name, sequence));
        self.done.push(false);
        for atom in &sequence.atoms {
            if let Some(position) = asked.position(atom.function) {
                let site = asked.functions[position].labels[atom.label].site;
                push_new(self.at.entry((atom.function, site)).or_default(), number);
            }
        }
        for passage in &sequence.passages {
            let mut end = |place| push_new(self.ends.entry(place).or_default(), number);
            match passage {
                Passage::Clear(of) => of.all().for_each(|place| end(*place)),
                Passage::Obliged(duties) => {
                    duties.iter().for_each(|duty| end((duty.function, duty.site)));
                }
                _ => {}
            }
        }
    }

    /// The sequences that a trace covers, without those that traces before it covered.
    pub(super) fn covered(&mut self, trace: &Trace) -> BTreeSet<Name> {
        // By sequence: how many atoms were covered, for each activation.
        let mut begun: Vec<BTreeSet<(usize, Activation)>> =
            vec![BTreeSet::new(); self.followed.len()];
        let mut covered = BTreeSet::new();
        for event in &trace.events {
            let place = (event.function, event.site);
            let ends = self.ends.get(&place).map_or(&[][..], Vec::as_slice);
            for number in self.at.get(&place).into_iter().flatten() {
                if self.done[*number] {
                    continue;
                }
                let (name, sequence) = self.followed[*number];
                Self::pass(event, sequence, &mut begun[*number], || _ = covered.insert(name));
            }
            for number in ends {
                let is_passed = self.at.get(&place).is_some_and(|here| here.contains(number));
                if !is_passed && !self.done[*number] && !begun[*number].is_empty() {
                    end(event, self.followed[*number].1, &mut begun[*number]);
                }
            }
        }
        if trace.events.len() <= MOST_EVENTS {
            let traces = std::slice::from_ref(trace);
            let is_met = |(position, id): &&Name| {
                is_covered(traces, &self.functions[*position], &Hyper::Sequence(*id))
            };
            covered.extend(self.beyond.iter().filter(is_met));
        }
        for (done, (name, _)) in self.done.iter_mut().zip(&self.followed) {
            *done |= covered.contains(name);
        }
        covered
    }

    /// Moves a sequence at an event that may cover an atom of it: atoms first, then what ends a passage
    /// that began before, then the atoms that were covered.
    fn pass(
        event: &TraceEvent,
        sequence: &Sequence,
        begun: &mut BTreeSet<(usize, Activation)>,
        complete: impl FnOnce(),
    ) {
        let own = activation(event, sequence);
        let last = sequence.atoms.len() - 1;
        let is_met = |(at, atom): &(usize, &lydian_objective::hyper::Atom)| {
            atom.function == event.function
                && event.labels.contains(&atom.label)
                && (if *at == 0 { defines(event, sequence) } else { begun.contains(&(*at, own)) })
        };
        let met: Vec<usize> =
            sequence.atoms.iter().enumerate().filter(is_met).map(|(at, _)| at).collect();
        end(event, sequence, begun);
        if met.contains(&last) {
            complete();
        }
        begun.extend(met.into_iter().filter(|at| *at != last).map(|at| (at + 1, own)));
    }
}

/// Whether a sequence has no values, and passages that certain places end.
pub(super) fn is_plain(sequence: &Sequence) -> bool {
    let is_place = |passage: &Passage| match passage {
        Passage::Free | Passage::Clear(_) => true,
        Passage::Obliged(duties) => duties.iter().all(|duty| duty.holds == Formula::Number(0)),
        Passage::Adjacent | Passage::Cell(_) | Passage::By(..) => false,
    };
    sequence.passages.iter().all(is_place)
        && sequence.atoms.iter().all(|atom| atom.bindings.is_empty())
}

fn activation(event: &TraceEvent, sequence: &Sequence) -> Activation {
    match sequence.scope {
        SequenceScope::Activation => event.activation,
        SequenceScope::Run => 0,
    }
}

/// Ends what an event breaks.
fn end(event: &TraceEvent, sequence: &Sequence, begun: &mut BTreeSet<(usize, Activation)>) {
    let own = activation(event, sequence);
    begun.retain(|(covered, of)| *of != own || !breaks(event, &sequence.passages[covered - 1]));
}

/// Whether an event breaks a passage.
fn breaks(event: &TraceEvent, passage: &Passage) -> bool {
    let place = (event.function, event.site);
    match passage {
        Passage::Clear(of) => {
            of.places.contains(&place)
                || of.indirect.contains(&place)
                    && of.of.is_some_and(|variable| event.hits.contains(&variable))
        }
        Passage::Obliged(duties) => duties.iter().any(|duty| (duty.function, duty.site) == place),
        _ => false,
    }
}

/// Whether an event that covers the first atom defines the variable that the sequence is about.
fn defines(event: &TraceEvent, sequence: &Sequence) -> bool {
    let Some(Passage::Clear(of)) = sequence.passages.first() else { return true };
    !of.indirect.contains(&(event.function, event.site))
        || of.of.is_some_and(|variable| event.hits.contains(&variable))
}

fn push_new(all: &mut Vec<usize>, number: usize) {
    if all.last() != Some(&number) && !all.contains(&number) {
        all.push(number);
    }
}
