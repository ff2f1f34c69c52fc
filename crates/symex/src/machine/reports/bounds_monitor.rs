//! The bounds monitor: finds the bounds on inputs that make a difference, for
//! [`lydian_inputs::bounds`].
//!
//! Every access of every path is compared with the bounds of the objects that it may meet. Most
//! accesses lie at a known distance from an object's start, and are settled at once. Where the
//! distance or the object depends on the input, a *suspicion* is kept until the engine can ask the
//! solver whether the path allows it. A bound that was met is not looked at again, so that the cost
//! ends with the first path that meets it.
//!
//! An operation of a label's predicate restricts that label alone: no other depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_inputs::bounds::nothing_before;
use lydian_inputs::{Bound, RawPointer, Reach};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::machine::memory::AccessKind;
use crate::machine::memory::{Candidate, Memory, ObjectId, ObjectKind, Offset, Region, Resolution};
use crate::machine::program::site::ObserverId;

/// The most questions to the solver. After that every suspicion counts as confirmed.
pub(crate) const MOST_QUESTIONS: u32 = 4096;
/// The most choices and sums that are searched for the addresses in a value.
const MOST_CHOICES: u32 = 256;

/// A bound, with the accesses of paths to it.
#[derive(Debug)]
struct MonitoredBound {
    bound: Bound,
    /// Whether the program met it.
    met: bool,
    /// The end of the furthest access at a known place.
    furthest: u64,
    /// Whether all accesses were at known places.
    exact: bool,
}

/// The actor of the operations that are noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The program, or code that is not told apart from it.
    #[default]
    Program,
    /// The predicates of these labels.
    Labels(Arc<[ObserverId]>),
}

/// A limit that an operation may exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MonitoredLimit {
    /// The bound at this position.
    Bound(usize),
    /// The beginning of an object, given by its address, where it is assumed that the object begins
    /// there.
    Start(u64),
    /// The beginning of an object where that is not assumed: the position of the object's bound,
    /// and the object's address.
    Early(usize, u64),
    /// The length of an array, which a subscript may exceed.
    Subscript,
}

/// A question whether a path exceeds a limit.
#[derive(Debug)]
pub(crate) struct Suspicion {
    pub(crate) condition: Term,
    pub(crate) limit: MonitoredLimit,
    pub(crate) actor: Actor,
}

/// The bounds and assumptions that the predicates of a label met.
#[derive(Debug, Default)]
struct LabelBounds {
    bounds: Vec<usize>,
    told_apart: Vec<Assumption>,
}

/// The bounds of an exploration.
#[derive(Debug, Default)]
pub(crate) struct BoundsMonitor {
    all: Vec<MonitoredBound>,
    /// The positions of the bounds that can be met, by the address of their object.
    by_object: FxHashMap<u64, SmallVec<[usize; 2]>>,
    /// The number of bounds that the program did not meet.
    open: usize,
    /// The conditions under which limits are exceeded, to be asked about.
    pub(crate) suspicions: Vec<Suspicion>,
    /// The current actor.
    actor: Actor,
    /// The bounds met for labels alone.
    of_labels: FxHashMap<ObserverId, LabelBounds>,
    /// The assumptions that two input objects differ, with pointers that were compared.
    told_apart: Vec<Assumption>,
    /// Numbers that are excluded where they are used as addresses, with the assumption for that.
    raw_pointers: FxHashMap<Term, Assumption>,
    /// The assumptions made for such numbers, and about undefined functions.
    assumed: Vec<Assumption>,
    /// The assumptions of predicates that nothing lies before an object, by the object's address.
    starts: BTreeMap<u64, Assumption>,
    /// Objects before which the program may read or write, by address.
    early: BTreeSet<u64>,
    /// Whether a path had a subscript outside of its array of known length.
    leaves_arrays: bool,
    /// Whether a path left a lazy object, which is as large as objects can be.
    leaves_rooms: bool,
    /// Whether a pointer to characters could lead into an object of another type.
    parts_characters: bool,
    /// The condition under which the accesses that are noted now happen.
    guard: Option<Term>,
    /// The condition that the subscripts of the address that is read now are within their arrays;
    /// `None` where they surely are.
    pub(crate) within_arrays: Option<Term>,
    /// Whether an operation since [`Self::begin_telling`] may make a difference to anybody, on this
    /// path or on another with the same values at the same places. Loads are not counted, since
    /// they are repeated each time.
    tells: bool,
    /// The values of `tells` before the loads that are evaluated now.
    told_before: SmallVec<[bool; 2]>,
    /// The positions of the bounds met since [`Self::begin_load`], also of those that already make
    /// a difference to the actor. `None` where meeting a bound sets `tells` instead.
    meets: Option<SmallVec<[usize; 2]>>,
    /// Whether a path has objects with bounds that others do not have, so that the contents of
    /// memory depend on the path.
    adds: bool,
    /// Whether an undecided address is not a use: it is decided before the address is used.
    tentative: bool,
    pub(crate) questions: u32,
}

impl BoundsMonitor {
    /// Adds bounds that are not yet known.
    pub(crate) fn add(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            if self.all.iter().any(|known| known.bound == *bound) {
                continue;
            }
            let met = bound.reach == Reach::Always;
            if let Some(object) = bound.reach.object() {
                self.by_object.entry(object).or_default().push(self.all.len());
                self.open += 1;
            }
            self.all.push(MonitoredBound { bound: bound.clone(), met, furthest: 0, exact: true });
        }
    }

    /// Adds the accesses of another worker's paths.
    pub(crate) fn add_all(&mut self, other: Self) {
        let bounds: Vec<Bound> =
            other.all.iter().map(|monitored| monitored.bound.clone()).collect();
        self.add(&bounds);
        let places: Vec<usize> = bounds
            .iter()
            .filter_map(|bound| self.all.iter().position(|known| known.bound == *bound))
            .collect();
        let outer = self.set_actor(Actor::Program);
        for (monitored, place) in other.all.iter().zip(&places) {
            if monitored.met && !self.all[*place].met {
                self.meet(*place);
            }
            let known = &mut self.all[*place];
            known.furthest = known.furthest.max(monitored.furthest);
            known.exact &= monitored.exact;
        }
        self.set_actor(outer);
        for (label, of_other) in other.of_labels {
            let of_label = self.of_labels.entry(label).or_default();
            for bound in of_other.bounds.iter().map(|at| places[*at]) {
                if !of_label.bounds.contains(&bound) {
                    of_label.bounds.push(bound);
                }
            }
            add_new(&mut of_label.told_apart, of_other.told_apart);
        }
        add_new(&mut self.told_apart, other.told_apart);
        add_new(&mut self.assumed, other.assumed);
        self.starts.extend(other.starts);
        self.early.extend(other.early);
        self.leaves_arrays |= other.leaves_arrays;
        self.leaves_rooms |= other.leaves_rooms;
        self.parts_characters |= other.parts_characters;
    }

    /// Adds numbers that may lie where the program expects a pointer.
    pub(crate) fn add_raw_pointers(&mut self, more: &[RawPointer]) {
        self.raw_pointers.extend(more.iter().map(|raw| (raw.bits, raw.assumption.clone())));
    }

    /// Whether an address is made of a number that lies where the program expects a pointer, so
    /// that it belongs to none of the considered inputs. Notes the assumption.
    pub(crate) fn is_no_pointer(&mut self, pool: &mut TermPool, address: Term) -> bool {
        if self.raw_pointers.is_empty() {
            return false;
        }
        let vars = pool.vars_of(address);
        let Some(assumption) = vars.iter().find_map(|var| self.raw_pointers.get(var)) else {
            return false;
        };
        add_new(&mut self.assumed, [assumption.clone()]);
        true
    }

    /// Notes that the address of an object as a number makes a difference to the actor.
    pub(crate) fn meet_place_of(&mut self, pointer: &str) {
        let sentence = format!("where {pointer} points to is a number that Lydian chose");
        let assumption = Assumption::new(AssumptionKind::Other, pointer, sentence);
        // No access reaches this.
        let reach = Reach::Within { object: u64::MAX, from: 0, to: 0 };
        let bound = Bound { assumption, reach, shown: false };
        self.add(std::slice::from_ref(&bound));
        if let Some(position) = self.all.iter().position(|known| known.bound == bound) {
            self.meet(position);
        }
    }

    /// Notes that the bounds of an object make no difference after all: all its possible contents
    /// were followed.
    pub(crate) fn release(&mut self, object: u64) {
        let positions = self.by_object.remove(&object).unwrap_or_default();
        positions.iter().for_each(|at| self.all[*at].met = false);
        for of_label in self.of_labels.values_mut() {
            of_label.bounds.retain(|at| !positions.contains(at));
        }
    }

    /// Notes that an access could leave a lazy object, or an allocation could need an object of 1
    /// GiB.
    pub(crate) const fn leave_room(&mut self) {
        self.leaves_rooms = true;
    }

    /// Notes that a pointer to characters could lead into an object of another type, or the
    /// reverse. Such targets are not followed.
    pub(crate) const fn part_characters(&mut self) {
        self.parts_characters = true;
    }

    /// Notes an assumption about an undefined function that a path calls.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        add_new(&mut self.assumed, [assumption]);
    }

    /// The condition under which the accesses that are noted now happen.
    pub(crate) const fn guard(&self) -> Option<Term> {
        self.guard
    }

    /// Sets this condition. Returns the previous one.
    pub(crate) fn set_guard(&mut self, guard: Option<Term>) -> Option<Term> {
        std::mem::replace(&mut self.guard, guard)
    }

    /// Whether an undecided address is not a use.
    pub(crate) const fn is_tentative(&self) -> bool {
        self.tentative
    }

    /// Sets whether an undecided address is not a use. Returns the previous value.
    pub(crate) const fn set_tentative(&mut self, tentative: bool) -> bool {
        std::mem::replace(&mut self.tentative, tentative)
    }

    /// Whether an operation since [`Self::begin_telling`] may make a difference to anybody.
    pub(crate) const fn tells(&self) -> bool {
        self.tells
    }

    /// Notes that the current operation may make a difference.
    pub(crate) const fn tell(&mut self) {
        self.tells = true;
    }

    /// The bounds that loads met since [`Self::begin_load`].
    pub(crate) fn end_load(&mut self) -> SmallVec<[usize; 2]> {
        self.meets.take().unwrap_or_default()
    }

    /// Sets the actor of the operations that are noted. Returns the previous one.
    pub(crate) const fn set_actor(&mut self, actor: Actor) -> Actor {
        std::mem::replace(&mut self.actor, actor)
    }

    /// Whether the program may read or write before an input object, as far as was noticed.
    pub(crate) fn begins_early(&self, object: u64) -> bool {
        self.early.contains(&object)
    }

    /// The bounds that made a difference to all labels.
    pub(crate) fn met(&self) -> Vec<Assumption> {
        let mut met: Vec<Assumption> = Vec::new();
        let bounds = self.all.iter().filter(|monitored| monitored.met);
        add_new(&mut met, bounds.map(|monitored| monitored.bound.assumption.clone()));
        met.extend(self.told_apart.iter().cloned());
        met
    }

    /// The bounds that made a difference to a label alone.
    pub(crate) fn met_for(&self, label: ObserverId) -> Vec<Assumption> {
        let mut met: Vec<Assumption> = Vec::new();
        let Some(of_label) = self.of_labels.get(&label) else { return met };
        let bounds = of_label.bounds.iter().map(|at| &self.all[*at]);
        let bounds =
            bounds.filter(|monitored| !monitored.met).map(|monitored| &monitored.bound.assumption);
        let own = bounds.chain(&of_label.told_apart);
        add_new(&mut met, own.filter(|one| !self.told_apart.contains(one)).cloned());
        met
    }

    /// The bounds that made a difference to some label alone.
    pub(crate) fn met_for_some(&self) -> Vec<Assumption> {
        let mut labels: Vec<ObserverId> = self.of_labels.keys().copied().collect();
        labels.sort_unstable();
        let mut met: Vec<Assumption> = Vec::new();
        add_new(&mut met, labels.into_iter().flat_map(|label| self.met_for(label)));
        met
    }

    /// The user's statements about sizes among the plan's sentences, and the other sentences that
    /// made no difference, each of the latter with the reason.
    pub(crate) fn preconditions(&self, sentences: &[String]) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for sentence in sentences {
            let mut of = self.all.iter().filter(|of| of.bound.assumption.sentence == *sentence);
            match of.clone().next() {
                Some(_) if of.any(|monitored| monitored.met) => {}
                Some(monitored) => told.push(format!("{sentence}, {}", monitored.unrestrictive())),
                None => told.push(sentence.clone()),
            }
        }
        told
    }

    /// The assumptions other than bounds that nobody stated.
    pub(crate) fn assumptions(&self) -> Vec<Assumption> {
        let within = "subscripts of arrays of known length are such as the arrays have";
        let within = Assumption::new(AssumptionKind::Subscript, "", within);
        let within = self.leaves_arrays.then_some(within);
        let small = "no object has 1 GiB or more";
        let small = Assumption::new(AssumptionKind::ObjectSize, "", small);
        let small = self.leaves_rooms.then_some(small);
        let characters = "a character pointer of the inputs leads to characters alone";
        let characters = Assumption::new(AssumptionKind::CharacterPointer, "", characters);
        let characters = self.parts_characters.then_some(characters);
        let mut all: Vec<Assumption> = Vec::new();
        let others = self.assumed.iter().chain(self.starts.values()).cloned();
        add_new(&mut all, others.chain(within).chain(small).chain(characters));
        all
    }

    /// Adds the bounds of an object that other paths do not have.
    pub(crate) fn add_on_path(&mut self, bounds: &[Bound]) {
        self.add(bounds);
        self.adds = true;
    }

    /// Begins to record whether an operation makes a difference.
    pub(crate) fn begin_telling(&mut self) {
        self.tells = false;
        self.told_before.clear();
    }

    /// As [`Self::begin_telling`], with the bounds that loads meet.
    pub(crate) fn begin_load(&mut self) {
        self.tells = false;
        self.meets = Some(SmallVec::new());
    }

    /// Begins the evaluation of a load's address.
    pub(crate) fn load_begins(&mut self) {
        if self.meets.is_none() {
            self.told_before.push(self.tells);
        }
    }

    /// Ends a load.
    pub(crate) fn load_ends(&mut self) {
        if self.meets.is_none()
            && let Some(tells) = self.told_before.pop()
        {
            self.tells = tells;
        }
    }

    /// Notes that the actor meets bounds that others met at the same place.
    pub(crate) fn meet_again(&mut self, positions: &[usize]) {
        positions.iter().for_each(|position| self.meet(*position));
    }

    /// Whether a path has objects with bounds that others do not have.
    pub(crate) const fn adds(&self) -> bool {
        self.adds
    }

    /// Notes that the actor meets a bound.
    fn meet(&mut self, position: usize) {
        match &mut self.meets {
            Some(meets) if meets.contains(&position) => {}
            Some(meets) => meets.push(position),
            None => self.tells = true,
        }
        let monitored = &mut self.all[position];
        match &self.actor {
            Actor::Program => {
                self.open -= usize::from(!std::mem::replace(&mut monitored.met, true));
            }
            Actor::Labels(labels) => {
                for label in labels.iter() {
                    let of_label = self.of_labels.entry(*label).or_default();
                    if !of_label.bounds.contains(&position) {
                        of_label.bounds.push(position);
                    }
                }
            }
        }
    }

    /// Whether the bound at a position already makes a difference to the actor.
    fn is_met(&self, position: usize) -> bool {
        let met_for = |label: &ObserverId| {
            let of_label = self.of_labels.get(label);
            of_label.is_some_and(|of_label| of_label.bounds.contains(&position))
        };
        self.all[position].met
            || matches!(&self.actor, Actor::Labels(labels) if labels.iter().all(met_for))
    }

    /// Whether the program can still meet a bound.
    pub(crate) const fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Notes that the address that is read now has a subscript within its array where a condition
    /// holds.
    pub(crate) fn subscript(&mut self, pool: &mut TermPool, inside: Term) {
        if pool.as_bool(inside) != Some(true) {
            let others = self.within_arrays.unwrap_or_else(|| pool.tt());
            self.within_arrays = Some(pool.and(others, inside));
        }
    }

    /// Notes that an operation exceeds a limit.
    pub(crate) fn exceed(&mut self, memory: &Memory, limit: MonitoredLimit) {
        self.tells |= !matches!(limit, MonitoredLimit::Bound(_));
        match limit {
            MonitoredLimit::Bound(position) => self.meet(position),
            MonitoredLimit::Subscript => self.leaves_arrays = true,
            MonitoredLimit::Early(position, object) => {
                self.meet(position);
                self.early.insert(object);
            }
            MonitoredLimit::Start(object) => {
                let object = memory.object_at(object).map(|object| memory.object(object));
                let name = object.map_or("an input", |object| &object.name);
                let assumption = nothing_before(name);
                self.starts.entry(object.map_or(0, |object| object.base)).or_insert(assumption);
            }
        }
    }

    /// Whether exceeding a limit makes no further difference to the actor.
    pub(crate) fn is_exceeded(&self, limit: MonitoredLimit) -> bool {
        match limit {
            MonitoredLimit::Bound(position) => self.is_met(position),
            MonitoredLimit::Subscript => self.leaves_arrays,
            MonitoredLimit::Start(object) => self.starts.contains_key(&object),
            MonitoredLimit::Early(_, object) => self.early.contains(&object),
        }
    }

    fn meet_object(&mut self, object: u64) {
        let positions = self.by_object.get(&object).cloned().unwrap_or_default();
        positions.into_iter().for_each(|position| self.meet(position));
    }

    /// Notes that the addresses of all objects make a difference.
    pub(crate) fn meet_all(&mut self) {
        for position in 0..self.all.len() {
            if self.all[position].bound.reach != Reach::Always {
                self.meet(position);
            }
        }
    }

    /// Notes an access of `size` bytes.
    pub(crate) fn access(
        &mut self,
        pool: &mut TermPool,
        memory: &Memory,
        resolution: &Resolution,
        size: u64,
        kind: AccessKind,
    ) {
        if self.open == 0 || size == 0 {
            return;
        }
        for candidate in &resolution.candidates {
            let object = memory.object(candidate.object);
            if kind == AccessKind::Read
                && let Offset::Known(start) = candidate.offset
            {
                let part = object.contents.part_of_wider(start, size);
                part.into_iter().for_each(|address| self.escaped(pool, memory, address));
            }
            let base = object.base;
            let Some(positions) = self.by_object.get(&base).cloned() else { continue };
            for position in positions {
                self.access_bound(pool, memory, candidate, (size, kind), position);
            }
        }
    }

    /// Keeps a suspicion that the actor exceeds a limit where a condition holds.
    fn suspect(&mut self, condition: Term, limit: MonitoredLimit) {
        self.tells = true;
        if !self.is_exceeded(limit) {
            let actor = self.actor.clone();
            self.suspicions.push(Suspicion { condition, limit, actor });
        }
    }

    /// Compares an access with one bound.
    fn access_bound(
        &mut self,
        pool: &mut TermPool,
        memory: &Memory,
        candidate: &Candidate,
        (size, kind): (u64, AccessKind),
        position: usize,
    ) {
        // A bound that the actor already met is looked at again where it is also noted for others.
        let again = self.meets.is_some() && !self.all[position].met;
        if self.is_met(position) && !again {
            return;
        }
        let reach = self.all[position].bound.reach;
        let (met, before) = match reach {
            Reach::Always => return,
            Reach::Within { .. } if kind == AccessKind::Write => return,
            Reach::Behind { object, from, .. } => {
                let (behind, before) = outside(pool, candidate.offset, from, size);
                (behind, Some((object, before)))
            }
            Reach::Within { from, to, .. } => {
                (reaches_into(pool, candidate.offset, (from, to), size), None)
            }
        };
        let mut limits = SmallVec::<[(Term, MonitoredLimit); 3]>::new();
        let (met, before) = match (self.within_arrays, before) {
            (Some(within), Some((object, before))) => {
                // Behind such a subscript C defines nothing, so the input does not matter.
                let outside = pool.or(met, before);
                let left = pool.not(within);
                limits.push((pool.and(outside, left), MonitoredLimit::Subscript));
                (pool.and(met, within), Some((object, pool.and(before, within))))
            }
            whole => (met, whole.1),
        };
        limits.push((met, MonitoredLimit::Bound(position)));
        if let Some((object, before)) = before {
            // A program that reads there is tested with elements before, as many as are guessed.
            let limit = match self.actor {
                Actor::Program => MonitoredLimit::Early(position, object),
                Actor::Labels(_) => MonitoredLimit::Start(object),
            };
            limits.push((before, limit));
        }
        for (condition, limit) in limits {
            let mut condition = pool.and(candidate.guard, condition);
            if let Some(guard) = self.guard {
                condition = pool.and(guard, condition);
            }
            if self.is_exceeded(limit) && !(again && limit == MonitoredLimit::Bound(position)) {
                continue;
            }
            match pool.as_bool(condition) {
                Some(true) => self.exceed(memory, limit),
                Some(false) => {}
                None => self.suspect(condition, limit),
            }
        }
        if !self.is_met(position) {
            self.all[position].note_furthest(candidate.offset, size);
        }
    }

    /// Notes that the program computed an address from another. Outside of the object it may be a
    /// neighbour's.
    pub(crate) fn moved(&mut self, pool: &TermPool, memory: &Memory, from: Term, to: Term) {
        if self.open == 0 || from == to {
            return;
        }
        let (Some(before), Some(after)) = (constants(pool, from), constants(pool, to)) else {
            return self.meet_all();
        };
        self.tells |= self.adds;
        let (before, after) = (bases(memory, &before), bases(memory, &after));
        if after.iter().any(|object| object.is_none() || !before.contains(object)) {
            self.meet_objects(memory, &before);
        }
    }

    /// Notes that the program compared or subtracted two values, which may be addresses.
    pub(crate) fn related(
        &mut self,
        pool: &TermPool,
        memory: &Memory,
        [a, b]: [Term; 2],
        equality: bool,
    ) {
        let (Some(a), Some(b)) = (constants(pool, a), constants(pool, b)) else {
            self.tells = true;
            return self.meet_all();
        };
        let (of_a, of_b) = (pointed_to(memory, &a), pointed_to(memory, &b));
        if of_a.is_empty() || of_b.is_empty() {
            return;
        }
        let one = of_a.len() == 1 && of_a == of_b;
        self.tells |= !one || self.adds;
        self.tell_apart(memory, &of_a, &of_b);
        if self.open == 0 {
            return;
        }
        // Pointers to known places within different objects are never equal.
        let known = a.iter().chain(&b).all(|(_, shifted)| !shifted);
        if one || equality && known {
            return;
        }
        self.meet_objects(memory, &of_a);
        self.meet_objects(memory, &of_b);
    }

    /// Notes a comparison of two pointers of the inputs that can never lead to the same object.
    /// Nobody said that they cannot, unless an alias was stated.
    fn tell_apart(
        &mut self,
        memory: &Memory,
        of_a: &[Option<ObjectId>],
        of_b: &[Option<ObjectId>],
    ) {
        if of_a.iter().any(|object| of_b.contains(object)) {
            return;
        }
        let mut told_apart = Vec::new();
        for a in of_a.iter().flatten().map(|object| memory.object(*object)) {
            for b in of_b.iter().flatten().map(|object| memory.object(*object)) {
                let outside = |kind| matches!(kind, ObjectKind::Input | ObjectKind::Global);
                let inputs = [a.kind, b.kind].contains(&ObjectKind::Input);
                if !inputs || !outside(a.kind) || !outside(b.kind) {
                    continue;
                }
                let pair = format!("{} and {}", a.name, b.name);
                let sentence = format!("{pair} are different objects");
                told_apart.push(Assumption::new(AssumptionKind::Alias, pair, sentence));
            }
        }
        told_apart.retain(|assumption| !self.told_apart.contains(assumption));
        match &self.actor {
            Actor::Program => add_new(&mut self.told_apart, told_apart),
            Actor::Labels(labels) => {
                for label in labels.iter() {
                    let of_label = self.of_labels.entry(*label).or_default();
                    add_new(&mut of_label.told_apart, told_apart.iter().cloned());
                }
            }
        }
    }

    /// Notes that the program uses a value as a number, which may be an address.
    pub(crate) fn escaped(&mut self, pool: &TermPool, memory: &Memory, address: Term) {
        if self.open == 0 {
            return;
        }
        match constants(pool, address) {
            Some(constants) => {
                let objects = pointed_to(memory, &constants);
                self.meet_objects(memory, &objects);
            }
            None => self.meet_all(),
        }
    }

    fn meet_objects(&mut self, memory: &Memory, objects: &[Option<ObjectId>]) {
        for object in objects.iter().flatten() {
            self.meet_object(memory.object(*object).base);
        }
    }
}

/// Adds the assumptions that are not there yet.
fn add_new(assumptions: &mut Vec<Assumption>, more: impl IntoIterator<Item = Assumption>) {
    for assumption in more {
        if !assumptions.contains(&assumption) {
            assumptions.push(assumption);
        }
    }
}

/// The conditions that an access of `size` bytes ends more than `from` bytes behind an object's
/// start, and that it begins before the start.
fn outside(pool: &mut TermPool, offset: Offset, from: u64, size: u64) -> (Term, Term) {
    if let Offset::Known(start) = offset {
        let end = i128::from(start) + i128::from(size);
        return (pool.bool(end > i128::from(from)), pool.bool(start < 0));
    }
    let inside = offset.lies_within(pool, from, size);
    let outside = pool.not(inside);
    let offset = offset.term(pool);
    let zero = pool.bv(64, 0);
    let before = pool.slt(offset, zero);
    let not_before = pool.not(before);
    (pool.and(outside, not_before), pool.and(outside, before))
}

/// The condition that an access of `size` bytes has a byte between two distances from an object's
/// start.
fn reaches_into(pool: &mut TermPool, offset: Offset, (from, to): (u64, u64), size: u64) -> Term {
    if let Offset::Known(start) = offset {
        let end = i128::from(start) + i128::from(size);
        return pool.bool(end > i128::from(from) && i128::from(start) < i128::from(to));
    }
    let offset = offset.term(pool);
    let first = pool.bv_signed(64, from as i64 - size as i64 + 1);
    let end = pool.bv(64, to);
    let (after, before) = (pool.sle(first, offset), pool.slt(offset, end));
    pool.and(after, before)
}

impl MonitoredBound {
    /// Notes an access that met no bound.
    fn note_furthest(&mut self, offset: Offset, size: u64) {
        match (self.bound.reach, offset) {
            (Reach::Behind { .. }, Offset::Known(start)) => {
                let end = i128::from(start) + i128::from(size);
                self.furthest = self.furthest.max(u64::try_from(end).unwrap_or(0));
            }
            (Reach::Behind { .. }, _) => self.exact = false,
            _ => {}
        }
    }

    /// The reason why the bound makes no difference, as the end of its sentence.
    fn unrestrictive(&self) -> String {
        match self.bound.reach {
            Reach::Within { .. } => "and no path reads that".into(),
            Reach::Behind { element, .. } if self.exact => {
                format!(
                    "of which no path uses more than {}",
                    self.furthest.div_ceil(element.max(1))
                )
            }
            _ => "and no path uses more".into(),
        }
    }
}

/// The constants that a value is made from, each with whether a term is added to it; `None` where
/// there are too many.
fn constants(pool: &TermPool, value: Term) -> Option<SmallVec<[(u64, bool); 4]>> {
    let mut found = SmallVec::new();
    let mut waiting: SmallVec<[(Term, bool); 8]> = SmallVec::from_iter([(value, false)]);
    let mut looked = 0;
    while let Some((term, shifted)) = waiting.pop() {
        if let Some(number) = pool.as_u64(term) {
            found.push((number, shifted));
            continue;
        }
        looked += 1;
        if looked > MOST_CHOICES {
            return None;
        }
        match pool.node(term) {
            Node::Ite(_, a, b) => waiting.extend([(a, shifted), (b, shifted)]),
            Node::Bin(BinOp::Add | BinOp::Sub, a, b) => waiting.extend([(a, true), (b, true)]),
            _ => {}
        }
    }
    Some(found)
}

/// The objects that accesses at an address, which is a choice of constants, belong to: `None` for a
/// constant far from all objects. Null gives nothing.
fn bases(memory: &Memory, constants: &[(u64, bool)]) -> SmallVec<[Option<ObjectId>; 4]> {
    let plain =
        constants.iter().filter(|(value, shifted)| !shifted && Region::of(*value).is_some());
    plain.map(|(value, _)| memory.object_near(*value)).collect()
}

/// The objects that an address may be made from, whatever is added to it.
fn pointed_to(memory: &Memory, constants: &[(u64, bool)]) -> SmallVec<[Option<ObjectId>; 4]> {
    let mut found: SmallVec<[Option<ObjectId>; 4]> = SmallVec::new();
    for (value, _) in constants.iter().filter(|(value, _)| Region::of(*value).is_some()) {
        let object = memory.object_near(*value);
        if !found.contains(&object) {
            found.push(object);
        }
    }
    found
}

/// The objects that an address may be made from; `None` where its term is too large.
pub(crate) fn objects_of(
    pool: &TermPool,
    memory: &Memory,
    address: Term,
) -> Option<SmallVec<[ObjectId; 4]>> {
    let constants = constants(pool, address)?;
    Some(pointed_to(memory, &constants).into_iter().flatten().collect())
}
