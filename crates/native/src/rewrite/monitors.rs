//! Sequences in general: a word of bits beside each activation, or each run.
//!
//! Bit `i` of `lydian_wN` says that the first `i + 1` atoms of sequence `N` were covered in order,
//! all that is asked between them holding so far. At an event of one of its sites all bits move at
//! once: an atom whose predecessor's bit was set before the event sets its own, and what forbids
//! the site clears the bits of the passages that it forbids. This is the automaton of the sequence
//! made deterministic, so that no choice of earlier events is lost ([002] VII-A).

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_objective::hyper::{Formula, Passage, Scope, Sequence};
use lydian_objective::{FunctionObjectives, Pred, SequenceId, Site};

use crate::plan::Plan;

/// What the text of one function must record of its sequences.
#[derive(Debug, Default)]
pub(super) struct Monitors<'a> {
    /// By site, in the order of the sequences.
    pub(super) steps: IndexMap<Site, Vec<Step<'a>>>,
    /// Variables at the start of the function's body.
    pub(super) declarations: String,
}

/// What happens to one sequence's word at an event of a site.
#[derive(Clone, Debug)]
pub(super) struct Step<'a> {
    /// The sequence.
    pub(super) sequence: SequenceId,
    /// The atoms of the site: their positions and predicates.
    pub(super) atoms: Vec<(usize, &'a Pred)>,
    /// The bits that are cleared.
    clears: u64,
    /// The position of the last atom, and the cell of the sequence.
    last: usize,
    cell: usize,
}

impl Step<'_> {
    /// The statement for it, given C expressions for whether each atom's predicate is surely true.
    pub(super) fn text(&self, holds: &[String]) -> String {
        let word = format!("lydian_w{}", lydian_base::EntityId::index(self.sequence));
        let mut text = format!("{{ unsigned long lydian_u = {word}; ");
        let mut next = match self.clears {
            0 => "lydian_u".to_owned(),
            clears => format!("(lydian_u & ~{clears}ul)"),
        };
        for ((position, _), holds) in self.atoms.iter().zip(holds) {
            let before = match position.checked_sub(1) {
                None => holds.clone(),
                Some(before) => format!("({holds} & (int)(lydian_u >> {before} & 1))"),
            };
            if *position == self.last {
                let _ = write!(text, "if ({before}) lydian_hit[{}] = 1; ", self.cell);
            } else {
                let _ = write!(next, " | (unsigned long){before} << {position}");
            }
        }
        let _ = write!(text, "{word} = {next}; }} ");
        text
    }
}

/// Works out the steps for the sequences that neither data flow nor paths record. Those that
/// cannot be followed are noted in the plan.
pub(super) fn monitors<'a>(
    objectives: &'a FunctionObjectives,
    number: u32,
    plan: &mut Plan,
) -> Monitors<'a> {
    let mut out = Monitors::default();
    for (id, sequence) in objectives.sequences.iter() {
        if sequence.flow.is_some() || sequence.is_path() {
            continue;
        }
        if let Some(reason) = obstacle(objectives, sequence) {
            super::lose_sequences(number, &[id], reason, plan);
            continue;
        }
        let cell = plan.cells.len();
        plan.sequences_cell(&[(number, id)]);
        let storage = match sequence.scope {
            Scope::Activation => "",
            Scope::Run => "static ",
        };
        let word = lydian_base::EntityId::index(id);
        let _ = write!(out.declarations, "{storage}unsigned long lydian_w{word} = 0; ");
        for (site, step) in steps(objectives, id, sequence, cell) {
            out.steps.entry(site).or_default().push(step);
        }
    }
    out
}

/// The most atoms that a sequence can have.
const ATOMS: usize = 64;

/// Why a sequence cannot be followed.
fn obstacle(objectives: &FunctionObjectives, sequence: &Sequence) -> Option<&'static str> {
    let own = objectives.function;
    let forbids = |passage: &Passage| match passage {
        Passage::Free => true,
        Passage::Adjacent | Passage::Clear(_) => false,
        Passage::Obliged(all) => all.iter().all(|obligation| {
            obligation.function == own
                && obligation.holds == Formula::Number(0)
                && has_event(obligation.site)
        }),
    };
    let has_events =
        || sequence.atoms.iter().all(|atom| has_event(objectives.labels[atom.label].site));
    match () {
        () if sequence.atoms.iter().any(|atom| atom.function != own) => {
            Some("its atoms are in several functions")
        }
        () if sequence.atoms.iter().any(|atom| !atom.bindings.is_empty()) => {
            Some("it binds values of the state")
        }
        () if sequence.atoms.len() > ATOMS => Some("it has more than 64 atoms"),
        () if !sequence.passages.iter().all(forbids) => {
            Some("what it asks of a passage is not recorded")
        }
        () if !has_events() => Some("it has an atom whose site is not recorded"),
        () => None,
    }
}

/// Whether the text has an event for a site to which a step can be put.
fn has_event(site: Site) -> bool {
    matches!(site, Site::Entry | Site::Mark(_) | Site::Decision(_) | Site::Stmt(_) | Site::Edge(_))
}

/// The steps of one sequence, by site.
fn steps<'a>(
    objectives: &'a FunctionObjectives,
    id: SequenceId,
    sequence: &Sequence,
    cell: usize,
) -> IndexMap<Site, Step<'a>> {
    let last = sequence.atoms.len() - 1;
    let mut steps: IndexMap<Site, Step<'a>> = IndexMap::new();
    let new = || Step { sequence: id, atoms: Vec::new(), clears: 0, last, cell };
    for (position, atom) in sequence.atoms.iter().enumerate() {
        let label = &objectives.labels[atom.label];
        let step = steps.entry(label.site).or_insert_with(new);
        step.atoms.push((position, &label.pred));
    }
    for (position, passage) in sequence.passages.iter().enumerate() {
        if let Passage::Obliged(obligations) = passage {
            for obligation in obligations {
                let step = steps.entry(obligation.site).or_insert_with(new);
                step.clears |= 1 << position;
            }
        }
    }
    steps
}
