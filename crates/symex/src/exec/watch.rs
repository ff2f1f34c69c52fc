//! Which bounds on inputs make a difference: what [`crate::inputs::bounds`] needs to know of the
//! paths of an exploration.
//!
//! Every access of every path is held against the bounds of the objects that it may meet. Most
//! accesses lie at a known distance from an object's start, and are settled at once; where the
//! distance or the object depends on the input, a *suspicion* is kept until the engine can ask the
//! solver whether the path allows it. A bound that was met is not looked at again, so that the
//! cost ends with the first path that meets it.

use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::explore::Engine;
use super::query::Feasible;
use super::state::State;
use crate::inputs::{Bound, RawPointer, Reach};
use crate::memory::{Candidate, Memory, ObjectId, ObjectKind, Offset, Region, Resolution};

/// After so many questions to the solver a suspicion counts as confirmed.
const MOST_QUESTIONS: u32 = 4096;
/// No value is looked through for the addresses in it beyond so many choices and sums.
const MOST_CHOICES: u32 = 256;

/// A bound and what paths did about it.
#[derive(Debug)]
struct Watched {
    bound: Bound,
    met: bool,
    /// Just behind the last byte that an access at a known place had.
    furthest: u64,
    /// Whether all accesses were at known places.
    exact: bool,
}

/// The bounds of an exploration.
#[derive(Debug, Default)]
pub(super) struct Watch {
    all: Vec<Watched>,
    /// Positions of those that can be met, by the address of their object.
    by_object: FxHashMap<u64, SmallVec<[usize; 2]>>,
    /// How many of them were not met.
    open: usize,
    /// Conditions under which a bound is met, to be asked about.
    suspicions: Vec<(Term, usize)>,
    /// Pairs of objects of the inputs whose pointers were compared, as sentences.
    told_apart: Vec<String>,
    /// Numbers that are left out where they are used as addresses, with what is assumed for that.
    raw_pointers: FxHashMap<Term, String>,
    /// What was assumed so.
    assumed: Vec<String>,
    /// What must hold for the accesses that are noted now to happen.
    pub(super) guard: Option<Term>,
    questions: u32,
}

impl Watch {
    /// Adds bounds, those that are known already only once.
    pub(super) fn add(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            if self.all.iter().any(|known| known.bound == *bound) {
                continue;
            }
            let met = bound.reach == Reach::Always;
            if let Some(object) = bound.reach.object() {
                self.by_object.entry(object).or_default().push(self.all.len());
                self.open += 1;
            }
            self.all.push(Watched { bound: bound.clone(), met, furthest: 0, exact: true });
        }
    }

    /// Adds numbers that may lie where the program sees a pointer.
    pub(super) fn add_raw_pointers(&mut self, more: &[RawPointer]) {
        self.raw_pointers.extend(more.iter().map(|raw| (raw.bits, raw.sentence.clone())));
    }

    /// Whether an address is made of a number that lies where the program sees a pointer, so that it
    /// is none of the inputs that are considered. Notes the assumption.
    pub(super) fn is_no_pointer(&mut self, pool: &mut TermPool, address: Term) -> bool {
        if self.raw_pointers.is_empty() {
            return false;
        }
        let vars = pool.vars_of(address);
        let Some(sentence) = vars.iter().find_map(|var| self.raw_pointers.get(var)) else {
            return false;
        };
        if !self.assumed.contains(sentence) {
            self.assumed.push(sentence.clone());
        }
        true
    }

    /// The bounds that made a difference.
    pub(super) fn met(&self) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for watched in self.all.iter().filter(|watched| watched.met) {
            if !sentences.contains(&watched.bound.sentence) {
                sentences.push(watched.bound.sentence.clone());
            }
        }
        sentences.extend(self.told_apart.iter().cloned());
        sentences
    }

    /// The assumptions with a word on each bound that made no difference, and with the bounds that
    /// did although they had seemed to go without saying.
    pub(super) fn assumptions(&self, assumptions: &[String]) -> Vec<String> {
        let met = self.met();
        let mut told: Vec<String> = Vec::new();
        for sentence in assumptions {
            let of = |watched: &&Watched| watched.bound.sentence == *sentence;
            let bound = self.all.iter().find(of).filter(|_| !met.contains(sentence));
            told.push(match bound {
                Some(watched) => format!("{sentence}, {}", watched.unrestrictive()),
                None => sentence.clone(),
            });
        }
        for sentence in met.into_iter().chain(self.assumed.iter().cloned()) {
            if !told.contains(&sentence) {
                told.push(sentence);
            }
        }
        told
    }

    fn meet(&mut self, position: usize) {
        let watched = &mut self.all[position];
        if !std::mem::replace(&mut watched.met, true) {
            self.open -= 1;
        }
    }

    fn meet_object(&mut self, object: u64) {
        let positions = self.by_object.get(&object).cloned().unwrap_or_default();
        positions.into_iter().for_each(|position| self.meet(position));
    }

    /// Something showed where all objects lie.
    pub(super) fn meet_all(&mut self) {
        for position in 0..self.all.len() {
            if self.all[position].bound.reach != Reach::Always {
                self.meet(position);
            }
        }
    }

    /// Notes an access of `size` bytes.
    pub(super) fn access(
        &mut self,
        pool: &mut TermPool,
        memory: &Memory,
        resolution: &Resolution,
        size: u64,
        write: bool,
    ) {
        if self.open == 0 || size == 0 {
            return;
        }
        for candidate in &resolution.candidates {
            let object = memory.object(candidate.object);
            if !write && let Offset::Known(start) = candidate.offset {
                let part = object.contents.part_of_wider(start, size);
                part.into_iter().for_each(|address| self.escaped(pool, memory, address));
            }
            let base = object.base;
            let Some(positions) = self.by_object.get(&base).cloned() else { continue };
            for position in positions {
                self.access_bound(pool, candidate, size, write, position);
            }
        }
    }

    fn access_bound(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        size: u64,
        write: bool,
        position: usize,
    ) {
        let watched = &mut self.all[position];
        if watched.met {
            return;
        }
        let met = match (watched.bound.reach, candidate.offset) {
            (Reach::Always, _) => return,
            (Reach::Within { .. }, _) if write => return,
            (Reach::Behind { from, .. }, Offset::Known(start)) => {
                let end = i128::from(start) + i128::from(size);
                watched.furthest = watched.furthest.max(u64::try_from(end).unwrap_or(0));
                pool.bool(end > i128::from(from) || start < 0)
            }
            (Reach::Behind { from, .. }, offset) => {
                watched.exact = false;
                let inside = offset.lies_within(pool, from, size);
                pool.not(inside)
            }
            (Reach::Within { from, to, .. }, Offset::Known(start)) => {
                let end = i128::from(start) + i128::from(size);
                pool.bool(end > i128::from(from) && i128::from(start) < i128::from(to))
            }
            (Reach::Within { from, to, .. }, offset) => {
                let offset = offset.term(pool);
                let first = pool.bv_signed(64, from as i64 - size as i64 + 1);
                let end = pool.bv(64, to);
                let (after, before) = (pool.sle(first, offset), pool.slt(offset, end));
                pool.and(after, before)
            }
        };
        let mut condition = pool.and(candidate.guard, met);
        if let Some(guard) = self.guard {
            condition = pool.and(guard, condition);
        }
        match pool.as_bool(condition) {
            Some(true) => self.meet(position),
            Some(false) => {}
            None => self.suspicions.push((condition, position)),
        }
    }

    /// Notes that the program computed an address from another: outside of the object it may be
    /// a neighbour's.
    pub(super) fn moved(&mut self, pool: &TermPool, memory: &Memory, from: Term, to: Term) {
        if self.open == 0 || from == to {
            return;
        }
        let (Some(before), Some(after)) = (constants(pool, from), constants(pool, to)) else {
            return self.meet_all();
        };
        let (before, after) = (bases(memory, &before), bases(memory, &after));
        if after.iter().any(|object| object.is_none() || !before.contains(object)) {
            self.meet_objects(memory, &before);
        }
    }

    /// Notes that the program compared or subtracted two values, which may be addresses.
    pub(super) fn related(
        &mut self,
        pool: &TermPool,
        memory: &Memory,
        [a, b]: [Term; 2],
        equality: bool,
    ) {
        let (Some(a), Some(b)) = (constants(pool, a), constants(pool, b)) else {
            return self.meet_all();
        };
        let (of_a, of_b) = (pointed_to(memory, &a), pointed_to(memory, &b));
        if of_a.is_empty() || of_b.is_empty() {
            return;
        }
        self.tell_apart(memory, &of_a, &of_b);
        if self.open == 0 {
            return;
        }
        let one = of_a.len() == 1 && of_a == of_b;
        // Pointers to known places within different objects are never equal.
        let known = a.iter().chain(&b).all(|(_, shifted)| !shifted);
        if one || equality && known {
            return;
        }
        self.meet_objects(memory, &of_a);
        self.meet_objects(memory, &of_b);
    }

    /// Two pointers of the inputs that can never lead to the same object are compared. Nobody said
    /// that they cannot, unless an alias was stated.
    fn tell_apart(
        &mut self,
        memory: &Memory,
        of_a: &[Option<ObjectId>],
        of_b: &[Option<ObjectId>],
    ) {
        if of_a.iter().any(|object| of_b.contains(object)) {
            return;
        }
        for a in of_a.iter().flatten().map(|object| memory.object(*object)) {
            for b in of_b.iter().flatten().map(|object| memory.object(*object)) {
                let outside = |kind| matches!(kind, ObjectKind::Input | ObjectKind::Global);
                let inputs = [a.kind, b.kind].contains(&ObjectKind::Input);
                if !inputs || !outside(a.kind) || !outside(b.kind) {
                    continue;
                }
                let sentence = format!("{} and {} are different objects", a.name, b.name);
                if !self.told_apart.contains(&sentence) {
                    self.told_apart.push(sentence);
                }
            }
        }
    }

    /// Notes that the program uses an address, if it is one, as a number.
    pub(super) fn escaped(&mut self, pool: &TermPool, memory: &Memory, address: Term) {
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

impl Watched {
    /// Why the bound makes no difference, as the end of its sentence.
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
/// it is made from too much to be looked through.
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

/// The objects to which accesses at an address that is a choice of constants are put down: `None`
/// for one that is far from all. Null gives nothing.
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

impl Engine<'_, '_> {
    /// Asks about what may have met a bound on this path.
    pub(super) fn settle_suspicions(&mut self, state: &State) {
        if self.watch.suspicions.is_empty() {
            return;
        }
        for (condition, position) in std::mem::take(&mut self.watch.suspicions) {
            // What a replay does the path that it follows does too.
            let told = state.replay || state.tape.is_played();
            if self.watch.all[position].met || told {
                continue;
            }
            if self.may_hold(state, condition) {
                self.watch.meet(position);
            }
        }
    }

    /// Notes an access that is no load of a value.
    pub(super) fn note_access(
        &mut self,
        state: &State,
        resolution: &Resolution,
        size: u64,
        write: bool,
    ) {
        self.watch.access(&mut self.pool, &state.memory, resolution, size, write);
        self.settle_suspicions(state);
    }

    /// Whether a condition may hold on a path. Without an answer, and where the exploration is
    /// incomplete so that it does not matter, it may.
    fn may_hold(&mut self, state: &State, condition: Term) -> bool {
        match state.knowledge().known(&mut self.pool, condition) {
            Some(known) => return known,
            None if self.evaluator.holds(&self.pool, &state.model, condition) => return true,
            None => {}
        }
        if self.is_cut() || self.watch.questions >= MOST_QUESTIONS {
            return true;
        }
        self.watch.questions += 1;
        !matches!(self.ask(state, Some(condition)), Feasible::No)
    }
}
