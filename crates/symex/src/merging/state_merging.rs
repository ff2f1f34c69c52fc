//! State merging: one state for two with paths that parted and met again.
//!
//! Two states at one place, of paths that were one up to a fork, are *merged* where only values
//! differ. Common facts stay. The other facts become a choice on the condition on which the paths
//! parted, and so does each register and each byte of memory that differs.
//!
//! An input takes one of the two paths, since every fork is on a Boolean over the inputs and its
//! negation, or on ways of a switch of which one is taken. So an input satisfies the facts of the
//! merged state exactly if it takes one of the two paths, and each value is then that of this path.
//! Whatever the program does next on some input of the merged state, it does on that input's own
//! path. Everything that the merged state excludes is excluded on both paths, and a test of it is a
//! test of one of them. Where its model already covers labels, the state promises to stay on the
//! path on which the model covered them.
//!
//! Not every merge is worth it. Where a hot register ([`crate::merging::hot_variables`]), a
//! pointer, or many bytes of memory differ, two paths with plain values have simpler questions than
//! one with choices, and stay two.
//!
//! States are not merged where anything else differs: calls with results that are inputs, live
//! objects, sequences under way, or dependences on unwritten memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::{Undetermined, sort_of, undefined_symbol};
use lydian_ir::{BlockId, Body, DecisionId, LocalId, Storage, Terminator};
use lydian_smt::{Term, TermPool};

use crate::Machine;
use crate::State;
use crate::machine::decision_log::DecisionLog;
use crate::machine::memory::{Facts, Memory};
use crate::machine::reports::outbox::MergedStates;
use crate::machine::state::{DecisionEvent, Frame};
use crate::merging::Merging;
use crate::merging::hot_variables::holds;
use crate::notes::Home;

/// The point at which the paths of two states parted.
struct Parting {
    /// The number of common facts.
    common: usize,
    /// The condition, for inputs of either path, that the path is the first.
    first: Term,
    /// The disjunction of the remaining facts of the two.
    fact: Term,
}

impl Merging {
    /// Merges states of paths that met again as far as possible, those that parted last first.
    pub(crate) fn merge_all(
        &mut self,
        machine: &mut Machine<'_, '_>,
        states: Vec<Box<State>>,
    ) -> Vec<Box<State>> {
        let mut states: Vec<Option<Box<State>>> = states.into_iter().map(Some).collect();
        // The number of merges that had been made when each state came to its place.
        let mut since = vec![0; states.len()];
        let mut merges = 0;
        let mut pairs = BinaryHeap::new();
        for b in 1..states.len() {
            pairs.extend((0..b).filter_map(|a| MergeCandidate::of(&states, a, b, 0)));
        }
        while let Some(MergeCandidate { a: Reverse(a), b: Reverse(b), merges: at, .. }) =
            pairs.pop()
        {
            let (Some(one), Some(other)) = (&states[a], &states[b]) else { continue };
            if at < since[a].max(since[b]) {
                continue;
            }
            let Some(merged) = self.merge(machine, one, other) else { continue };
            machine.statistics.merged_states += 1;
            if machine.context.config.traces {
                let (state, other) = (one.course.number, other.course.number);
                let place = machine.text_at(one);
                machine.outbox.merged.push(MergedStates { state, other, place });
            }
            merges += 1;
            (states[a], states[b], since[a]) = (Some(merged), None, merges);
            let others = (0..states.len()).filter(|other| *other != a);
            let with =
                |other: usize| MergeCandidate::of(&states, a.min(other), a.max(other), merges);
            pairs.extend(others.filter_map(with));
        }
        states.into_iter().flatten().collect()
    }

    /// The merge of two states; `None` where more than values differ.
    fn merge(&mut self, machine: &mut Machine<'_, '_>, a: &State, b: &State) -> Option<Box<State>> {
        if !may_merge_states(a, b) {
            return None;
        }
        let parting = parting(machine, &a.path.facts, &b.path.facts)?;
        let frame = self.merge_frames(machine, a, b, parting.first)?;
        let memory = Memory::either(&mut machine.pool, parting.first, &a.memory, &b.memory)?;
        // The result's model is that of one of the two, and covers the same labels.
        let (one, other) = if is_first(a, b) { (a, b) } else { (b, a) };
        let mut merged = Box::new(one.clone());
        *merged.frames.last_mut()? = Arc::new(frame);
        merged.memory = memory;
        merged.path.facts = one.path.facts.first(parting.common);
        merged
            .path
            .resolved
            .retain(|address, target| other.path.resolved.get(address) == Some(target));
        if one.path.expanded != other.path.expanded {
            Arc::make_mut(&mut merged.path.expanded)
                .retain(|pointer, places| other.path.expanded.get(pointer) == Some(places));
        }
        if !merged.add_fact(&mut machine.pool, parting.fact) {
            return None;
        }
        // The labels may have been covered after the paths parted, so another input must take that
        // path.
        if !one.claims.covered.is_empty() || one.claims.keep {
            merged.claims.promises.extend(&one.path.facts[parting.common..]);
        }
        merged.tries = 0;
        merged.notes.goals.haste |= other.notes.goals.haste;
        merged.placed = merged.placed.or(other.placed);
        merged.course.steps = merged.course.steps.max(other.course.steps);
        merged.notes.search.idle = merged.notes.search.idle.min(other.notes.search.idle);
        merged.course.activations = merged.course.activations.max(other.course.activations);
        merged.inputs.unknowns = merged.inputs.unknowns.max(other.inputs.unknowns);
        other.inputs.volatile.iter().for_each(|place| merged.note_volatile(*place));
        merged.notes.merging.mark = None;
        begin_anew(&mut merged);
        Some(merged)
    }

    /// The innermost activation of the merge of two states at one place.
    fn merge_frames(
        &mut self,
        machine: &mut Machine<'_, '_>,
        a: &State,
        b: &State,
        first: Term,
    ) -> Option<Frame> {
        let depth = a.frames.len();
        let (a, b) = (a.frame(), b.frame());
        let body = machine.context.program.functions[a.func].body.as_ref()?;
        let hot = self.analyses.hot_variables(a.func, body, depth > 1);
        let hot = hot.before(body, a.block, a.next);
        let mut frame = a.clone();
        for (at, (x, y)) in a.registers.iter().zip(&b.registers).enumerate() {
            if x == y {
                continue;
            }
            let local = LocalId::from_index(at);
            if holds(&hot, local) {
                return None;
            }
            let Storage::Register(ty) = body.locals[local].storage else { return None };
            // A register that was never set has an undefined value.
            let mut value = |value: &Option<Term>| {
                value.unwrap_or_else(|| {
                    let name = &machine.context.program.functions[a.func].name;
                    let place = format!("{name}.{local}.{depth}");
                    undefined_symbol(
                        &mut machine.pool,
                        Undetermined::Unwritten,
                        &place,
                        sort_of(ty),
                    )
                })
            };
            let (x, y) = (value(x), value(y));
            if machine.pool.sort(x) != machine.pool.sort(y) {
                return None;
            }
            frame.registers[at] = Some(machine.pool.ite(first, x, y));
        }
        for (block, count) in &b.loops {
            match frame.loops.iter_mut().find(|(known, _)| known == block) {
                Some(known) => known.1 = known.1.max(*count),
                None => frame.loops.push((*block, *count)),
            }
        }
        merge_events(body, &mut frame, &b.events)?;
        Some(frame)
    }
}

/// Two of some states, by their positions. The greatest pair is tried first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct MergeCandidate {
    /// The number of facts that their paths have in common at the beginning.
    common: usize,
    a: Reverse<usize>,
    b: Reverse<usize>,
    /// The number of merges before the pair was made.
    merges: u32,
}

impl MergeCandidate {
    /// The states at two positions, if both are present.
    fn of(states: &[Option<Box<State>>], a: usize, b: usize, merges: u32) -> Option<Self> {
        let (one, other) = states[a].as_ref().zip(states[b].as_ref())?;
        let common = common_facts(&one.path.facts, &other.path.facts);
        Some(Self { common, a: Reverse(a), b: Reverse(b), merges })
    }
}

/// The number of facts that two paths have in common at the beginning.
fn common_facts(a: &Facts, b: &Facts) -> usize {
    a.iter().zip(b.iter()).take_while(|(a, b)| a == b).count()
}

/// Whether only values can differ between two states at one place.
fn may_merge_states(a: &State, b: &State) -> bool {
    let (x, y) = (a.frame(), b.frame());
    let outer = a.frames.len() - 1;
    let same_calls = || {
        let mut pairs = a.frames[..outer].iter().zip(&b.frames[..outer]);
        a.frames.len() == b.frames.len() && pairs.all(|(a, b)| Arc::ptr_eq(a, b) || a.goes_on_as(b))
    };
    let same_inputs = || {
        let mut pairs = a.inputs.externals.iter().zip(b.inputs.externals.iter());
        a.inputs.externals.len() == b.inputs.externals.len()
            && pairs.all(|(a, b)| Arc::ptr_eq(a, b))
    };
    is_plain(a)
        && is_plain(b)
        && (x.func, x.block, x.next, x.sites_done) == (y.func, y.block, y.next, y.sites_done)
        && (x.serial, x.variable) == (y.serial, y.variable)
        && (&x.objects, &x.made) == (&y.objects, &y.made)
        && (&a.depends, a.course.root, a.inputs.cursor, &a.inputs.met)
            == (&b.depends, b.course.root, b.inputs.cursor, &b.inputs.met)
        && (a.claims.covered.is_empty() && !a.claims.keep
            || b.claims.covered.is_empty() && !b.claims.keep)
        && a.notes.goals.trail.is(&b.notes.goals.trail)
        && a.notes.goals.underway.is(&b.notes.goals.underway)
        && same_calls()
        && same_inputs()
        && a.is_run_like(b)
}

/// Whether there is nothing to look at before a state goes on.
fn is_plain(state: &State) -> bool {
    !state.course.replay
        && state.passing.queue.is_empty()
        && state.notes.goals.undecided.is_empty()
        && state.passing.evaluated.is_none()
        && state.passing.arrival.is_none()
        && state.notes.eviction.evicted.is_none()
        && !state.log.is_played()
}

/// Whether the merged state takes the model and claims of the first of two states.
fn is_first(a: &State, b: &State) -> bool {
    let has_test = |state: &State| state.claims.keep || !state.claims.covered.is_empty();
    has_test(a) || !has_test(b) && !a.pending
}

/// Makes a merged state the beginning of its own paths. Two paths led to it, so no log replays it
/// from the first state, and no other worker can follow it.
fn begin_anew(merged: &mut State) {
    merged.log = DecisionLog::default();
    merged.notes.eviction.home = Home::Here;
    merged.notes.merging.start = None;
    let mut start = merged.clone();
    start.claims.covered.clear();
    start.claims.promises.clear();
    start.claims.conditions.clear();
    start.claims.keep = false;
    merged.notes.merging.start = Some(Rc::new(start));
}

/// Whether an evaluation of a decision may go on from the start of a block: a branch that continues
/// the decision is met before one that begins it.
fn may_go_on(body: &Body, block: BlockId, decision: DecisionId) -> bool {
    let mut seen = vec![false; body.blocks.len()];
    let mut waiting = vec![block];
    while let Some(block) = waiting.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let term = &body.blocks[block].term;
        if let Terminator::Branch { origin: Some(origin), .. } = term
            && origin.decision == decision
        {
            if !origin.begins {
                return true;
            }
            continue;
        }
        term.for_each_successor(|next| waiting.push(next));
    }
    false
}

/// The parting of the paths of two states with these facts; `None` where one has no facts but the
/// other's.
fn parting(machine: &mut Machine<'_, '_>, a: &Facts, b: &Facts) -> Option<Parting> {
    let common = common_facts(a, b);
    let (of_a, of_b) = (&a[common..], &b[common..]);
    let (&first, &other) = (of_a.first()?, of_b.first()?);
    let negated = machine.pool.not(other);
    let all = |pool: &mut TermPool, facts: &[Term]| pool.and_all(facts.iter().copied());
    if first == negated {
        let (of_a, of_b) = (all(&mut machine.pool, &of_a[1..]), all(&mut machine.pool, &of_b[1..]));
        let fact = machine.pool.ite(first, of_a, of_b);
        return Some(Parting { common, first, fact });
    }
    let (of_a, of_b) = (all(&mut machine.pool, of_a), all(&mut machine.pool, of_b));
    let fact = machine.pool.or(of_a, of_b);
    Some(Parting { common, first: of_a, fact })
}

/// Removes evaluations of decisions that differ: no label asks for an evaluation that is over.
/// Returns `None` where one may not be over.
fn merge_events(body: &Body, frame: &mut Frame, others: &[DecisionEvent]) -> Option<()> {
    let same = |event: &DecisionEvent| others.contains(event);
    let block = frame.block;
    let differing = frame.events.iter().filter(|event| !same(event));
    let only_other = others.iter().filter(|event| !frame.events.contains(event));
    if differing.chain(only_other).any(|event| may_go_on(body, block, event.decision)) {
        return None;
    }
    frame.events.retain(|event| same(event));
    Some(())
}
