//! Pointers of the inputs: what they may lead to is found when a path first follows them
//! ([`lydian_inputs::lazy`]).
//!
//! Where an address is resolved that is made of a pointer which was not followed yet, the path gets
//! the object in the pointer's home, and the fact that the pointer leads there or into an object that
//! the path has already. That is no restriction of the inputs: every other value is null, which the
//! access itself excludes, or no pointer that C lets anybody follow. Where several objects are
//! possible the access is one to all of them, each under its guard, and not several paths.
//!
//! What only the predicate of a label follows is forgotten behind it, so that the path does not depend
//! on which labels were left; its facts are added to what the predicate asks for.

use std::sync::Arc;

use lydian_eval::{Fault, Traps};
use lydian_inputs::lazy::{PointerInput, REACH, ROOM};
use lydian_inputs::looked_at::LookedAt;
use lydian_ir::{CType, CTypeId, RecordId, Type};
use lydian_smt::{BinOp, Evaluator, Model, Node, Sort, Term, TermPool, Value};
use rustc_hash::FxHashMap;

use super::env::{Scope, Stop};
use super::state::State;
use super::tape::Question;
use crate::memory::{
    Background, Contents, Expansion, Memory, NewObject, ObjectKind, Offset, Region, Resolution,
};

/// What the code does with pointers of the inputs.
#[derive(Debug, Default)]
pub(super) struct PointerUses {
    /// The struct or union that a pointer was last used as a pointer into, and how far from where the
    /// pointer leads it begins.
    records: FxHashMap<Term, (RecordId, i64)>,
    /// What the predicate that is evaluated now supposes about pointers that the path did not follow.
    supposed: Vec<Term>,
}

/// What a predicate's evaluation changes and gives back.
pub(super) struct Aside {
    memory: Memory,
    expanded: Arc<FxHashMap<Term, Arc<Expansion>>>,
    supposed: Vec<Term>,
}

impl PointerUses {
    /// Notes that an address is used as that of a record.
    pub(super) fn note(
        &mut self,
        pool: &TermPool,
        derived: &FxHashMap<Term, (Term, Term)>,
        base: Term,
        record: RecordId,
    ) {
        if pool.as_u64(base).is_some() {
            return;
        }
        let moved = derived.get(&base).and_then(|(from, by)| Some((*from, pool.as_i64(*by)?)));
        let (pointer, origin) = moved.unwrap_or((base, 0));
        let known = self.records.insert(address_of(pool, pointer), (record, origin));
        // The record around a member, rather than the member.
        if origin == 0 && let Some((around, before)) = known && before != 0 {
            self.records.insert(address_of(pool, pointer), (around, before));
        }
    }

    /// The predicate of a label is evaluated from now on.
    pub(super) fn begin_aside(&mut self, state: &State) -> Aside {
        Aside {
            memory: state.memory.clone(),
            expanded: state.expanded.clone(),
            supposed: std::mem::take(&mut self.supposed),
        }
    }

    /// It was evaluated: it holds only on inputs on which its pointers are what was supposed.
    pub(super) fn end_aside(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        before: Aside,
        traps: &mut Traps,
    ) {
        let supposed = std::mem::replace(&mut self.supposed, before.supposed);
        if supposed.is_empty() {
            return;
        }
        state.memory = before.memory;
        state.expanded = before.expanded;
        for fact in supposed {
            let other = pool.not(fact);
            traps.add(pool, Fault::LeftOut, other);
        }
    }
}

/// The address of a pointer that may be null.
fn address_of(pool: &TermPool, pointer: Term) -> Term {
    match pool.node(pointer) {
        Node::Ite(_, null, address) if pool.as_u64(null) == Some(0) => address,
        _ => pointer,
    }
}

/// Where a pointer may lead.
struct Places {
    /// Guard, address and what is added to it.
    places: Vec<(Term, u64, Option<Term>)>,
}

impl Scope<'_, '_> {
    /// Finds what a pointer of the inputs may lead to, which is followed as one to a value of a type, if
    /// that is known.
    pub(super) fn expand(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        access: Option<Type>,
    ) -> Result<(), Stop> {
        let world = self.world;
        let void = world.void_pointer();
        let pointer = match world.inputs.pointer_at(address) {
            Some(pointer) => pointer,
            None => world.inputs.adopt(pool, address, void),
        };
        let of = self.element_of(address, &pointer, access);
        let home = self.free_home(&pointer);
        let mut found = Places { places: Vec::new() };
        let base = pool.bv(64, home);
        found.places.push((pool.eq(address, base), home, None));
        self.add_aliases(pool, address, &pointer, of, &mut found);
        let any = pool.or_all(found.places.iter().map(|(guard, _, _)| *guard));
        self.suppose(pool, address, home, any)?;
        self.make_home(&PointerInput { home, ..(*pointer).clone() }, of)?;
        let places = found.places.into_iter().filter(|(guard, _, _)| {
            self.state.knowledge().known(pool, *guard) != Some(false)
        });
        let expansion = Arc::new(Expansion { places: places.collect() });
        Arc::make_mut(&mut self.state.expanded).insert(address, expansion);
        Ok(())
    }

    /// The type of the elements that a pointer leads to, and how far the first begins from there: what
    /// its own type says, where that says anything, or the struct that the code takes it for.
    fn element_of(
        &self,
        address: Term,
        pointer: &PointerInput,
        access: Option<Type>,
    ) -> (CTypeId, i64) {
        let types = &self.world.program.types;
        let declared = types.pointee(pointer.ty).filter(|ty| types.size(*ty).is_some());
        let plain = declared.filter(|ty| !matches!(types.get(*ty), CType::Void));
        let used = self.uses.records.get(&address).and_then(|(record, origin)| {
            let ty = self.world.record_type(*record)?;
            types.size(ty).map(|size| (ty, *origin, size))
        });
        match (plain, used) {
            (Some(ty), Some((used, origin, size))) => {
                let larger = size > types.size(ty).unwrap_or(0) || origin != 0;
                if larger { (used, origin) } else { (ty, 0) }
            }
            (Some(ty), None) => (ty, 0),
            (None, Some((used, origin, _))) => (used, origin),
            (None, None) => (self.world.type_of_access(access), 0),
        }
    }

    /// The home of a pointer, or the next one behind it that another pointer's object does not take.
    fn free_home(&self, pointer: &PointerInput) -> u64 {
        let mut home = pointer.home;
        while let Some(object) = self.state.memory.object_near(home) {
            let object = self.state.memory.object(object);
            let is_own = match object.contents.background() {
                Background::Lazy { object, .. } => object.home == home && is_of(object.name.as_ref(), pointer),
                _ => false,
            };
            if is_own {
                break;
            }
            home += ROOM;
        }
        home
    }

    /// Lets the path have the object in a pointer's home.
    fn make_home(&mut self, pointer: &PointerInput, of: (CTypeId, i64)) -> Result<(), Stop> {
        if self.state.memory.object_near(pointer.home).is_some() {
            return Ok(());
        }
        let types = &self.world.program.types;
        let object = self.world.inputs.object(types, pointer, of);
        let new = NewObject {
            size: ROOM,
            length: None,
            kind: ObjectKind::Lazy,
            read_only: false,
            name: pointer.place.clone(),
            contents: Contents::new(Background::Lazy { object, rows: Default::default() }),
        };
        let made = self.state.memory.allocate_at(pointer.home - REACH, new);
        made.map(|_| ()).ok_or_else(|| Stop::Unsupported("more memory".into()))
    }

    /// The path goes on with the inputs on which a pointer leads to one of some places.
    fn suppose(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        home: u64,
        any: Term,
    ) -> Result<(), Stop> {
        match self.state.knowledge().known(pool, any) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Stop::Infeasible),
            None => {}
        }
        if self.state.tape.is_aside() {
            self.watch.tells = true;
            self.uses.supposed.push(any);
            return Ok(());
        }
        if !self.holds_on_model(pool, any) && !self.lead_home(pool, address, home) {
            return Err(Stop::Split(any, None));
        }
        match self.state.add_fact(pool, any) {
            true => Ok(()),
            false => Err(Stop::Infeasible),
        }
    }

    /// Makes the state's model let a pointer lead to its home, if that changes nothing else of the path.
    fn lead_home(&mut self, pool: &TermPool, address: Term, home: u64) -> bool {
        let Self { state, evaluator, .. } = self;
        let State { tape, model, facts, .. } = &mut **state;
        let Node::Bin(BinOp::Concat, _, bits) = pool.node(address) else { return false };
        if pool.var_name(bits).is_none() {
            return false;
        }
        let mut changed = None;
        let leads = tape.decide(Question::Holds, || {
            let value = Value::from_u64(Sort::BitVec(62), home);
            let other = model.with([(bits, value)]);
            let fits = facts.iter().all(|fact| evaluator.holds(pool, &other, *fact));
            changed = fits.then_some(other);
            fits
        });
        if let Some(other) = changed {
            *model = other;
        }
        leads
    }

    /// Adds the objects that the path has already into which a pointer may lead.
    fn add_aliases(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        pointer: &PointerInput,
        of: (CTypeId, i64),
        found: &mut Places,
    ) {
        let _ = (pool, address, pointer, of, found);
    }

    /// Notes the bytes of lazy objects that an access touches.
    pub(super) fn note_touched(
        &mut self,
        pool: &mut TermPool,
        resolution: &Resolution,
        (size, write): (u64, bool),
    ) {
        if self.state.tape.is_aside() {
            return;
        }
        for candidate in &resolution.candidates {
            let object = self.state.memory.object(candidate.object);
            if object.kind != ObjectKind::Lazy {
                continue;
            }
            match candidate.offset {
                Offset::Known(start) => {
                    let range = (start as u64, start as u64 + size);
                    let read = !write && object.contents.shows_background(range.0, range.1);
                    if !object.touched.has(range, read) {
                        let object = self.state.memory.object_mut(candidate.object);
                        object.touched.add(range, read);
                    }
                }
                Offset::Scaled { .. } => {
                    let at = candidate.offset.term(pool);
                    if !object.touched.has_at(at, size) {
                        self.state.memory.object_mut(candidate.object).touched.add_at(at, size);
                    }
                }
            }
        }
    }
}

/// Whether an object has the name that a pointer gives it.
fn is_of(name: &str, pointer: &PointerInput) -> bool {
    name == &*pointer.place || name.strip_prefix('(').is_some_and(|name| name.starts_with(&*pointer.place))
}

/// What a path did to the objects that came into being on it, where places that depend on the input are
/// those of a model.
pub(super) fn looked_at(
    pool: &TermPool,
    evaluator: &mut Evaluator,
    memory: &Memory,
    model: &Model,
) -> Vec<LookedAt> {
    let distance = |place: u64| place as i64 - REACH as i64;
    let mut all = Vec::new();
    for (_, found) in memory.objects(Region::Lazy) {
        let Background::Lazy { object, .. } = found.contents.background() else { continue };
        let ranges = |ranges: &[(u64, u64)]| -> Vec<(i64, i64)> {
            ranges.iter().map(|(from, to)| (distance(*from), distance(*to))).collect()
        };
        let (mut touched, mut read) = (ranges(found.touched.ranges()), ranges(found.touched.read()));
        for (at, size) in found.touched.at() {
            let from = distance(evaluator.eval_u64(pool, model, *at));
            let range = (from, from.saturating_add(*size as i64));
            touched.push(range);
            read.push(range);
        }
        all.push(LookedAt { object: object.clone(), touched, read });
    }
    all
}
