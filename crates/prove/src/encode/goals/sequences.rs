//! Sequences of labels as goals.
//!
//! A *flag* says that a run is in the midst of a sequence: it covered the first labels, and kept their
//! passages since. It is the cover flag of [001] 4.3 (Figure 2), one for each label but the last:
//! it is set where its label is covered while the flag before it is set, reset where its passage is
//! broken, and asked where the last label is. Sequences share flags of equal beginnings.
//!
//! Passages that need more than flags count as kept: equal cells, writes through pointers that may hit
//! a variable, paths, formulas over values. So do labels of functions whose objectives are not given count
//! as covered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_ir::FuncId;
use lydian_objective::hyper::{Atom, Formula, Passage, Sequence, SequenceId, SequenceScope};
use lydian_objective::{FunctionObjectives, LabelId, Site};
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::encoded::GoalMeaning;
use crate::encode::goals::labels::{Moment, Taken, moments, moments_of};
use crate::encode::ids::{InstanceId, NodeId, SlotId};
use crate::encode::inlined::Inlined;
use crate::encode::machine::Machine;
use crate::encode::provenance::{FlagOrigin, SequenceEnd};
use crate::encode::request::Goals;
use crate::encode::state::State;
use crate::encode::state::liveness::Notes;
use crate::encode::state::slots::{SlotKind, Slots};

/// A place of a function where events happen.
type Place = (FuncId, Site);

/// A beginning of sequences.
#[derive(Debug)]
struct Flag<'a> {
    /// The beginning without the last label; none where that is the only one.
    before: Option<usize>,
    label: (FuncId, LabelId),
    site: Site,
    passage: &'a Passage,
    scope: SequenceScope,
}

/// A sequence as a goal: the last label, and the flag of all before it.
#[derive(Debug)]
struct Ending {
    function: FuncId,
    sequence: SequenceId,
    /// None where labels of other functions are all that comes before.
    flag: Option<usize>,
    /// None where it is of a function without objectives, which counts as covered at once.
    label: Option<(FuncId, LabelId)>,
}

/// The flags and endings of the sequences of functions.
#[derive(Debug, Default)]
pub(crate) struct SequenceSites<'a> {
    objectives: BTreeMap<FuncId, &'a FunctionObjectives>,
    flags: Vec<Flag<'a>>,
    endings: Vec<Ending>,
    /// The places with events at each moment of a function, in the order of the events.
    at: BTreeMap<(FuncId, Moment), Vec<Site>>,
    sets: BTreeMap<Place, Vec<usize>>,
    resets: BTreeMap<Place, BTreeSet<usize>>,
    asks: BTreeMap<Place, Vec<usize>>,
    /// The functions with places at the start of the run.
    at_start: Vec<FuncId>,
    /// Whether some passage counts as kept that may be broken.
    is_inexact: bool,
}

impl<'a> SequenceSites<'a> {
    pub(crate) fn new(inlined: &Inlined<'a>, goals: Goals<'a>) -> Self {
        let all = goals.sequences.iter();
        let mut sites = Self {
            objectives: all.map(|objectives| (objectives.function, objectives)).collect(),
            ..Self::default()
        };
        for objectives in goals.sequences {
            let function = objectives.function;
            let sequences = objectives.sequences.iter();
            for (id, sequence) in sequences.filter(|(id, _)| goals.has_sequence((function, *id))) {
                sites.add(objectives, id, sequence);
            }
        }
        let mut places: BTreeSet<Place> = sites.sets.keys().copied().collect();
        places.extend(sites.asks.keys());
        places.extend(sites.resets.keys());
        for (function, site) in places {
            let Some(body) = &inlined.program.functions[function].body else { continue };
            for moment in moments(body, site) {
                sites.at.entry((function, moment)).or_default().push(site);
            }
        }
        // A statement's own event comes before those of what it evaluates.
        for sites in sites.at.values_mut() {
            sites.sort_by_key(|site| (matches!(site, Site::Root(_)), *site));
        }
        let started = sites.at.keys().filter(|(_, moment)| *moment == Moment::Start);
        sites.at_start = started.map(|(function, _)| *function).collect();
        sites
    }

    fn add(
        &mut self,
        objectives: &'a FunctionObjectives,
        sequence: SequenceId,
        content: &'a Sequence,
    ) {
        let Some((last, first)) = content.atoms.split_last() else { return };
        let mut flag = None;
        let function = objectives.function;
        for (atom, passage) in first.iter().zip(&content.passages) {
            if let Some(of_atom) = self.known(function, content.scope, atom) {
                flag = Some(self.flag(of_atom, flag, atom, (passage, content.scope)));
            } else {
                // Its label may be covered at any time, and its passage kept.
                (flag, self.is_inexact) = (None, true);
            }
        }
        let of_last = self.known(function, content.scope, last);
        let label = of_last.map(|_| (last.function, last.label));
        let place = match (of_last, flag) {
            (Some(of_last), _) => (last.function, of_last.labels[last.label].site),
            (None, Some(flag)) => (self.flags[flag].label.0, self.flags[flag].site),
            (None, None) => (function, Site::Entry),
        };
        let ending = self.endings.len();
        self.endings.push(Ending { function, sequence, flag, label });
        self.asks.entry(place).or_default().push(ending);
    }

    /// The objectives with the label of an atom, if its events are followed. A sequence of an activation has
    /// them in its own function alone.
    fn known(
        &self,
        function: FuncId,
        scope: SequenceScope,
        atom: &Atom,
    ) -> Option<&'a FunctionObjectives> {
        let is_here = scope == SequenceScope::Run || atom.function == function;
        self.objectives.get(&atom.function).copied().filter(|_| is_here)
    }

    /// The flag of a beginning, made if it is new.
    fn flag(
        &mut self,
        objectives: &'a FunctionObjectives,
        before: Option<usize>,
        atom: &Atom,
        (passage, scope): (&'a Passage, SequenceScope),
    ) -> usize {
        let label = (atom.function, atom.label);
        let is_same = |flag: &Flag<'_>| {
            (flag.before, flag.label, flag.scope) == (before, label, scope)
                && same_passage(flag.passage, passage)
        };
        if let Some(known) = self.flags.iter().position(is_same) {
            return known;
        }
        let (id, site) = (self.flags.len(), objectives.labels[atom.label].site);
        self.flags.push(Flag { before, label, site, passage, scope });
        self.sets.entry((objectives.function, site)).or_default().push(id);
        match passage.otherwise() {
            Passage::Clear(of) => {
                self.is_inexact |= !of.indirect.is_empty();
                of.places
                    .iter()
                    .for_each(|place| _ = self.resets.entry(*place).or_default().insert(id));
            }
            Passage::Obliged(obligations) => {
                for duty in obligations {
                    let place = (duty.function, duty.site);
                    match duty.holds {
                        Formula::Number(0) => {
                            self.resets.entry(place).or_default().insert(id);
                        }
                        _ => self.is_inexact = true,
                    }
                }
            }
            Passage::Adjacent => {
                let labels = objectives.labels.values();
                for site in labels.map(|label| label.site) {
                    if matches!(site, Site::Block(_)) {
                        self.resets.entry((objectives.function, site)).or_default().insert(id);
                    }
                }
                self.is_inexact = true;
            }
            Passage::Free => {}
            Passage::Cell(_) | Passage::By(..) => self.is_inexact = true,
        }
        self.is_inexact |= matches!(passage, Passage::By(..));
        id
    }

    fn kind(&self, instance: InstanceId, flag: usize) -> SlotKind {
        match self.flags[flag].scope {
            SequenceScope::Activation => SlotKind::Flag(Some(instance), flag),
            SequenceScope::Run => SlotKind::Flag(None, flag),
        }
    }

    /// Makes the slots of all flags.
    pub(crate) fn add_slots(&self, inlined: &Inlined<'_>, slots: &mut Slots) {
        for (flag, content) in self.flags.iter().enumerate() {
            let (function, label) = content.label;
            let line = self.objectives[&function].labels[label].place.line;
            let name = format!("since_line_{line}.{flag}");
            if content.scope == SequenceScope::Run {
                slots.add(SlotKind::Flag(None, flag), Sort::Bool, name);
                continue;
            }
            for (id, instance) in inlined.instances.iter() {
                if instance.function == function {
                    let name = format!("{}::{name}", instance.name);
                    slots.add(SlotKind::Flag(Some(id), flag), Sort::Bool, name);
                }
            }
        }
    }

    /// The flags, for what is said of them outside.
    pub(crate) fn origins(&self) -> Vec<FlagOrigin> {
        let origin = |(at, flag): (usize, &Flag<'_>)| FlagOrigin {
            before: flag.before,
            label: flag.label,
            resets: self
                .resets
                .iter()
                .filter(|(_, flags)| flags.contains(&at))
                .map(|(place, _)| *place)
                .collect(),
            scope: flag.scope,
        };
        self.flags.iter().enumerate().map(origin).collect()
    }

    /// The ends of all sequences.
    pub(crate) fn ends(&self) -> BTreeMap<(FuncId, SequenceId), SequenceEnd> {
        let end = |ending: &Ending| {
            let end = SequenceEnd { flag: ending.flag, label: ending.label };
            ((ending.function, ending.sequence), end)
        };
        self.endings.iter().map(end).collect()
    }

    /// Why more runs may cover the sequences.
    pub(crate) fn inexact(&self) -> Option<String> {
        self.is_inexact.then(|| "conditions between the labels of a sequence".to_owned())
    }

    /// Adds the reads that sequences make in a node.
    pub(crate) fn notes(
        &self,
        (inlined, slots): (&Inlined<'_>, &Slots),
        node: NodeId,
        notes: &mut Notes,
    ) {
        let instance = inlined.nodes[node].instance;
        let function = inlined.instances[instance].function;
        for moment in moments_of(inlined, node) {
            for site in self.at.get(&(function, moment)).into_iter().flatten() {
                let place = (function, *site);
                let asked = self.asks.get(&place).into_iter().flatten();
                let asked = asked.map(|at| &self.endings[*at]);
                let set = self.sets.get(&place).into_iter().flatten().map(|at| &self.flags[*at]);
                let labels = asked.clone().filter_map(|ending| ending.label);
                for (function, label) in labels.chain(set.clone().map(|flag| flag.label)) {
                    let labels = &self.objectives[&function].labels;
                    labels[label].pred.for_each_expr(&mut |expr| notes.exprs.push(expr));
                }
                let flags = asked.filter_map(|ending| ending.flag);
                let flags = flags.chain(set.filter_map(|flag| flag.before));
                let kinds = flags.map(|flag| self.kind(instance, flag));
                notes.reads.extend(kinds.filter_map(|kind| slots.of(kind)));
            }
        }
    }
}

/// Whether two passages are the same. Those of one variable share their definitions.
fn same_passage(a: &Passage, b: &Passage) -> bool {
    match (a, b) {
        (Passage::Clear(a), Passage::Clear(b)) => Arc::ptr_eq(a, b) || a == b,
        _ => a == b,
    }
}

impl<'s, 'a> Machine<'s, 'a> {
    /// Moves the flags of sequences at a moment, and asks those that end there.
    pub(crate) fn sequences_at(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        branch: Option<Taken>,
    ) {
        let sites: &'s SequenceSites<'a> = self.sequences;
        if moment == Moment::Entry {
            self.forget_activation(pool, state, instance);
        }
        let own = [self.analysed.inlined.instances[instance].function];
        let functions = if moment == Moment::Start { &sites.at_start } else { &own[..] };
        for function in functions.iter().copied() {
            self.sequences_of(pool, state, (instance, moment), (function, branch));
        }
    }

    /// The same for the places of one function. The start of the run is a place of each.
    fn sequences_of(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        (function, branch): (FuncId, Option<Taken>),
    ) {
        let sites: &'s SequenceSites<'a> = self.sequences;
        for site in sites.at.get(&(function, moment)).into_iter().flatten() {
            let at = (instance, moment);
            let truth = |machine: &mut Self, pool: &mut TermPool, state: &mut State, label| {
                machine.label_truth(pool, state, at, (label, branch))
            };
            for ending in sites.asks.get(&(function, *site)).into_iter().flatten() {
                let ending = &sites.endings[*ending];
                // Where the last label is another function's, it is asked for where the flag is set.
                if let Some(label) = ending.label {
                    let covered = truth(self, pool, state, label);
                    let begun = self.flag_value(pool, state, instance, ending.flag);
                    let reached = pool.and(covered, begun);
                    self.reach_sequence(pool, state, (ending, reached));
                }
            }
            self.move_flags(pool, state, at, ((function, *site), branch));
            for ending in sites.asks.get(&(function, *site)).into_iter().flatten() {
                let ending = &sites.endings[*ending];
                if ending.label.is_none() {
                    let begun = self.flag_value(pool, state, instance, ending.flag);
                    self.reach_sequence(pool, state, (ending, begun));
                }
            }
        }
    }

    fn reach_sequence(
        &mut self,
        pool: &mut TermPool,
        state: &State,
        (ending, reached): (&Ending, Term),
    ) {
        let mut there = state.clone();
        there.assume(pool, reached);
        let condition = there.guard(pool);
        let Ending { function, sequence, .. } = *ending;
        let meaning = GoalMeaning::Sequence { function, sequence };
        self.goals.hit(pool, meaning, condition, self.reads.len());
    }

    /// Sets and resets flags where control passes a place.
    fn move_flags(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        (place, branch): (Place, Option<Taken>),
    ) {
        let sites: &'s SequenceSites<'a> = self.sequences;
        let mut new: Vec<(SlotId, Term)> = Vec::new();
        let nobody = BTreeSet::new();
        let reset = sites.resets.get(&place).unwrap_or(&nobody);
        let set = sites.sets.get(&place).map_or(&[][..], Vec::as_slice);
        for flag in reset.iter().chain(set.iter().filter(|flag| !reset.contains(flag))) {
            let Some(slot) = self.analysed.slots.of(sites.kind(instance, *flag)) else { continue };
            let mut value = match reset.contains(flag) {
                true => pool.ff(),
                false => self.value(pool, state, slot),
            };
            if set.contains(flag) {
                let content = &sites.flags[*flag];
                let label = (content.label, branch);
                let covered = self.label_truth(pool, state, (instance, moment), label);
                let begun = self.flag_value(pool, state, instance, content.before);
                let begins = pool.and(covered, begun);
                value = pool.or(value, begins);
            }
            new.push((slot, value));
        }
        new.into_iter().for_each(|(slot, value)| state.set(slot, Some(value)));
    }

    /// Whether a run is in the midst of a beginning.
    fn flag_value(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        instance: InstanceId,
        flag: Option<usize>,
    ) -> Term {
        let kind = flag.map(|flag| self.sequences.kind(instance, flag));
        match kind.and_then(|kind| self.analysed.slots.of(kind)) {
            Some(slot) => self.value(pool, state, slot),
            None => pool.tt(),
        }
    }

    /// A new activation is in the midst of nothing.
    fn forget_activation(&mut self, pool: &mut TermPool, state: &mut State, instance: InstanceId) {
        let no = pool.ff();
        for flag in 0..self.sequences.flags.len() {
            if let Some(slot) = self.analysed.slots.of(SlotKind::Flag(Some(instance), flag)) {
                state.set(slot, Some(no));
            }
        }
    }

    /// Code that a contract stands for may be in the midst of a sequence of the run after its end if one of
    /// its functions has the label.
    pub(crate) fn begin_in(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        functions: &BTreeSet<FuncId>,
    ) {
        let yes = pool.tt();
        for (flag, content) in self.sequences.flags.iter().enumerate() {
            if let Some(slot) = self.analysed.slots.of(SlotKind::Flag(None, flag))
                && functions.contains(&content.label.0)
            {
                state.set(slot, Some(yes));
            }
        }
    }

    /// Code that is not followed may be in the midst of any sequence of the run after its end.
    pub(crate) fn begin_anything(&self, pool: &mut TermPool, state: &mut State) {
        let yes = pool.tt();
        for flag in 0..self.sequences.flags.len() {
            if let Some(slot) = self.analysed.slots.of(SlotKind::Flag(None, flag)) {
                state.set(slot, Some(yes));
            }
        }
    }
}
