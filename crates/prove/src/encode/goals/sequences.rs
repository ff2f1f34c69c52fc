//! Sequences of labels as goals.
//!
//! A *flag* says that a run is in the midst of a sequence: it covered the first labels, and kept their
//! passages since. It is the cover flag of [001] 4.3 (Figure 2), one for each label but the last:
//! it is set where its label is covered while the flag before it is set, reset where its passage is
//! broken, and asked where the last label is. Sequences share flags of equal beginnings.
//!
//! Passages that need more than flags count as kept: equal cells, writes through pointers that may hit
//! a variable, paths, formulas over values. So may labels of other functions count as covered.

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
    label: LabelId,
    site: Site,
    passage: &'a Passage,
    scope: SequenceScope,
}

/// A sequence as a goal: the last label, and the flag of all before it.
#[derive(Debug)]
struct Ending {
    sequence: SequenceId,
    /// None where labels of other functions are all that comes before.
    flag: Option<usize>,
    /// None where it is another function's, which counts as covered at once.
    label: Option<LabelId>,
}

/// The flags and endings of the sequences of a function.
#[derive(Debug, Default)]
pub(crate) struct SequenceSites<'a> {
    objectives: Option<&'a FunctionObjectives>,
    flags: Vec<Flag<'a>>,
    endings: Vec<Ending>,
    /// The places with events at each moment of a function, in the order of the events.
    at: BTreeMap<(FuncId, Moment), Vec<Site>>,
    sets: BTreeMap<Place, Vec<usize>>,
    resets: BTreeMap<Place, BTreeSet<usize>>,
    asks: BTreeMap<Place, Vec<usize>>,
    /// Whether some passage counts as kept that may be broken.
    is_inexact: bool,
}

impl<'a> SequenceSites<'a> {
    pub(crate) fn new(inlined: &Inlined<'a>, goals: Goals<'a>) -> Self {
        let objectives = goals.sequences;
        let mut sites = Self { objectives, ..Self::default() };
        let Some(objectives) = objectives else { return sites };
        let chosen = objectives.sequences.iter().filter(|(id, _)| goals.has_sequence(*id));
        for (id, sequence) in chosen {
            sites.add(objectives, id, sequence);
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
        let is_own = |atom: &Atom| atom.function == objectives.function;
        for (atom, passage) in first.iter().zip(&content.passages) {
            if is_own(atom) {
                flag = Some(self.flag(objectives, flag, atom, (passage, content.scope)));
            } else {
                // Its label may be covered at any time, and its passage kept.
                (flag, self.is_inexact) = (None, true);
            }
        }
        let label = is_own(last).then_some(last.label);
        let place = match (label, flag) {
            (Some(label), _) => Some((objectives.function, objectives.labels[label].site)),
            (None, Some(flag)) => Some((objectives.function, self.flags[flag].site)),
            (None, None) => None,
        };
        let ending = self.endings.len();
        self.endings.push(Ending { sequence, flag, label });
        self.asks
            .entry(place.unwrap_or((objectives.function, Site::Entry)))
            .or_default()
            .push(ending);
    }

    /// The flag of a beginning, made if it is new.
    fn flag(
        &mut self,
        objectives: &'a FunctionObjectives,
        before: Option<usize>,
        atom: &Atom,
        (passage, scope): (&'a Passage, SequenceScope),
    ) -> usize {
        let is_same = |flag: &Flag<'_>| {
            (flag.before, flag.label, flag.scope) == (before, atom.label, scope)
                && same_passage(flag.passage, passage)
        };
        if let Some(known) = self.flags.iter().position(is_same) {
            return known;
        }
        let (id, site) = (self.flags.len(), objectives.labels[atom.label].site);
        self.flags.push(Flag { before, label: atom.label, site, passage, scope });
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
        for (id, instance) in inlined.instances.iter() {
            let own = self.objectives.filter(|labels| labels.function == instance.function);
            let Some(objectives) = own else { continue };
            for (flag, content) in self.flags.iter().enumerate() {
                let kind = self.kind(id, flag);
                let line = objectives.labels[content.label].place.line;
                let name = match kind {
                    SlotKind::Flag(Some(_), _) => {
                        format!("{}::since_line_{line}.{flag}", instance.name)
                    }
                    _ => format!("since_line_{line}.{flag}"),
                };
                slots.add(kind, Sort::Bool, name);
            }
        }
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
        let Some(objectives) = self.objectives else { return };
        for moment in moments_of(inlined, node) {
            for site in self.at.get(&(function, moment)).into_iter().flatten() {
                let place = (function, *site);
                let asked = self.asks.get(&place).into_iter().flatten();
                let asked = asked.map(|at| &self.endings[*at]);
                let set = self.sets.get(&place).into_iter().flatten().map(|at| &self.flags[*at]);
                let labels = asked.clone().filter_map(|ending| ending.label);
                for label in labels.chain(set.clone().map(|flag| flag.label)) {
                    objectives.labels[label].pred.for_each_expr(&mut |expr| notes.exprs.push(expr));
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
        let Some(objectives) = sites.objectives else { return };
        let function = self.place_of((instance, moment), objectives);
        if moment == Moment::Entry && function == objectives.function {
            self.forget_activation(pool, state, instance);
        }
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
                    self.reach_sequence(pool, state, (ending.sequence, reached));
                }
            }
            self.move_flags(pool, state, at, (*site, branch));
            for ending in sites.asks.get(&(function, *site)).into_iter().flatten() {
                let ending = &sites.endings[*ending];
                if ending.label.is_none() {
                    let begun = self.flag_value(pool, state, instance, ending.flag);
                    self.reach_sequence(pool, state, (ending.sequence, begun));
                }
            }
        }
    }

    /// The function whose places control passes. The start of the run is one of each function.
    fn place_of(
        &self,
        (instance, moment): (InstanceId, Moment),
        objectives: &FunctionObjectives,
    ) -> FuncId {
        match moment {
            Moment::Start => objectives.function,
            _ => self.analysed.inlined.instances[instance].function,
        }
    }

    fn reach_sequence(
        &mut self,
        pool: &mut TermPool,
        state: &State,
        (sequence, reached): (SequenceId, Term),
    ) {
        let Some(objectives) = self.sequences.objectives else { return };
        let mut there = state.clone();
        there.assume(pool, reached);
        let condition = there.guard(pool);
        let meaning = GoalMeaning::Sequence { function: objectives.function, sequence };
        self.goals.hit(pool, meaning, condition, self.reads.len());
    }

    /// Sets and resets flags where control passes a place.
    fn move_flags(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        (site, branch): (Site, Option<Taken>),
    ) {
        let sites: &'s SequenceSites<'a> = self.sequences;
        let Some(objectives) = sites.objectives else { return };
        let place = (self.place_of((instance, moment), objectives), site);
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
