//! The invariants of a certificate on states.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_ir::{LocalId, Storage, Type};

use crate::document::{Certificate, Place, PointKind};
use crate::fault::Fault;
use crate::formula::{Formula, Parts};
use crate::machine::{Machine, Scene, result_type};
use crate::meaning::float;
use crate::objects::Layout;
use crate::state::{Key, OFFSET_BITS, State, Value};
use crate::terms::{Sort, Term, Terms};

/// The invariants of all points, and the parts of the state that they speak of.
#[derive(Debug)]
pub(crate) struct Invariants {
    pub(crate) places: Vec<Place>,
    sorts: Vec<Sort>,
    /// The formulas of each point.
    pub(crate) formulas: Vec<Vec<Formula>>,
    /// The parts that some formula speaks of.
    used: BTreeSet<u32>,
    /// The parts that are current at each point.
    current: Vec<BTreeSet<u32>>,
    /// Terms that are used in place of parts of any value, with their sorts.
    instantiations: Vec<(Formula, Sort)>,
    /// The points where recursive instances return, by instance.
    returns: BTreeMap<usize, usize>,
    /// The points where recursive instances are entered, with the instances.
    enters: BTreeMap<usize, usize>,
}

impl Invariants {
    pub(crate) fn new(scene: &Scene<'_>, certificate: &Certificate) -> Result<Self, Fault> {
        let mut sorts = Vec::new();
        for (at, part) in certificate.state.iter().enumerate() {
            let sort = sort_of_place(scene, part.place);
            sorts.push(sort.ok_or_else(|| Fault::form(format!("x{at} has no place")))?);
        }
        let (mut formulas, mut used, mut current) = (Vec::new(), BTreeSet::new(), Vec::new());
        let (mut returns, mut enters) = (BTreeMap::new(), BTreeMap::new());
        let mut instantiations = Vec::new();
        for text in &certificate.instantiations {
            let term = Formula::parse_term(text, &sorts);
            let term = term.map_err(|error| Fault::form(format!("a term: {error}: {text}")))?;
            used.extend(term.parts());
            let sort = term.sort_of_all();
            instantiations.push((term, sort));
        }
        for (at, point) in certificate.points.iter().enumerate() {
            match point.kind {
                PointKind::Block => {}
                PointKind::Enter => _ = enters.insert(at, point.instance),
                PointKind::Return => _ = returns.insert(point.instance, at),
            }
            let mut of_point = Vec::new();
            for text in &point.invariants {
                let formula = Formula::parse(text, &sorts).map_err(|error| {
                    Fault::form(format!("an invariant of point {at}: {error}: {text}"))
                })?;
                used.extend(formula.parts());
                of_point.push(formula);
            }
            formulas.push(of_point);
            current.push(point.current.iter().copied().collect());
        }
        let places = certificate.state.iter().map(|part| part.place).collect();
        Ok(Self { places, sorts, formulas, used, current, instantiations, returns, enters })
    }

    /// The contract of a recursive instance: the formulas where it returns that speak of nothing but a
    /// call's arguments and result, and global variables before and after it.
    pub(crate) fn contract(&self, scene: &Scene<'_>, instance: usize) -> Vec<&Formula> {
        let Some(point) = self.returns.get(&instance).copied() else { return Vec::new() };
        let is_known = |part: u32| match self.places[part as usize] {
            Place::Argument { instance: of, .. }
            | Place::Before { instance: of, .. }
            | Place::Result { instance: of } => of == instance,
            place => scene.is_in_global(place),
        };
        let current = &self.current[point];
        let speaks_of_calls = |formula: &&Formula| {
            formula.parts().all(|part| current.contains(&part) && is_known(part))
        };
        self.formulas[point].iter().filter(speaks_of_calls).collect()
    }

    /// The parts that formulas speak of and that are not current at a point.
    fn ghosts(&self, scene: &Scene<'_>, point: usize) -> Vec<u32> {
        let is_ghost = |part: &u32| {
            // All are current where runs begin, and elements that are cells and any values are everywhere.
            let is_everywhere = match self.places[*part as usize] {
                Place::Elements { object, .. } => {
                    matches!(scene.objects.all[object].layout, Layout::Cells(_))
                }
                Place::Any { .. } => true,
                _ => false,
            };
            point != 0 && !is_everywhere && !self.current[point].contains(part)
        };
        self.used.iter().copied().filter(is_ghost).collect()
    }

    /// A state at a point of which only the invariants are known.
    pub(crate) fn state_at(
        &self,
        machine: &mut Machine<'_, '_>,
        point: usize,
        guard: Term,
    ) -> State {
        let mut state = machine.any_state(guard);
        for part in self.ghosts(machine.scene, point) {
            let sort = match self.places[part as usize] {
                Place::Elements { object, .. } => machine.scene.sort(Key::Array(object)),
                _ => self.sorts[part as usize],
            };
            let value = machine.terms.fresh(&format!("x{part}"), sort);
            state.set(Key::Ghost(part), Value::plain(value));
        }
        if let Some(instance) = self.enters.get(&point) {
            machine.keep_values(&mut state, *instance);
        }
        state
    }

    /// Gives what is not current at a point the value that it had at the point before.
    pub(crate) fn arrive(
        &self,
        machine: &mut Machine<'_, '_>,
        (before, state): (&mut State, &mut State),
        point: usize,
    ) {
        let ghosts = self.ghosts(machine.scene, point);
        state.values.retain(|key, _| !matches!(key, Key::Ghost(_)));
        for part in ghosts {
            let value = match self.places[part as usize] {
                Place::Elements { object, .. } => match before.values.get(&Key::Ghost(part)) {
                    Some(value) => value.term,
                    None => machine.get(before, Key::Array(object)).term,
                },
                _ => View::new(machine, before, self).value(part),
            };
            state.set(Key::Ghost(part), Value::plain(value));
        }
    }

    /// All invariants of a point on a state.
    pub(crate) fn on(
        &self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        point: usize,
    ) -> Vec<Term> {
        let mut view = View::new(machine, state, self);
        self.formulas[point].iter().map(|formula| formula.on(&mut view)).collect()
    }

    /// All that the invariants of a point say of a state: those with parts of any value also with the
    /// terms in their places.
    pub(crate) fn known(
        &self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        point: usize,
    ) -> Vec<Term> {
        let mut known = self.on(machine, state, point);
        let is_any = |part: u32| matches!(self.places[part as usize], Place::Any { .. });
        let general: Vec<&Formula> =
            self.formulas[point].iter().filter(|formula| formula.parts().any(is_any)).collect();
        if general.is_empty() {
            return known;
        }
        for (term, sort) in &self.instantiations {
            let mut view = View::new(machine, state, self);
            let value = term.on(&mut view);
            let replaced = self.places.iter().zip(&self.sorts).enumerate();
            view.replaced = replaced
                .filter(|(_, (place, own))| matches!(place, Place::Any { .. }) && *own == sort)
                .map(|(part, _)| (part as u32, value))
                .collect();
            let of_sort =
                |formula: &&&Formula| formula.parts().any(|part| view.replaced.contains_key(&part));
            let special: Vec<&Formula> = general.iter().filter(of_sort).copied().collect();
            known.extend(special.into_iter().map(|formula| formula.on(&mut view)));
        }
        known
    }
}

/// The sort of a part; none if its place is not there.
fn sort_of_place(scene: &Scene<'_>, place: Place) -> Option<Sort> {
    let object_of = |object: usize| scene.objects.all.get(object);
    let recursive = |instance: usize| {
        let content = scene.unfolding.instances.get(instance)?;
        content.ends.map(|_| content)
    };
    match place {
        Place::Argument { instance, local } => {
            let local_id = LocalId::from_index(local as usize);
            recursive(instance)?.body.params.contains(&local_id).then_some(())?;
            sort_of_place(scene, Place::Register { instance, local })
        }
        Place::Before { instance, object, offset, size, float } => {
            recursive(instance)?;
            let now = Place::Bytes { object, offset, size, float };
            sort_of_place(scene, now).filter(|_| scene.is_in_global(now))
        }
        Place::Result { instance } => {
            let program = scene.program();
            let function = &program.functions[recursive(instance)?.function];
            Some(sort_of_value(result_type(program, function.ty)?))
        }
        Place::Any { .. } => place.sort(),
        Place::Flag { .. }
        | Place::Reached { .. }
        | Place::Outcome { .. }
        | Place::Mutant { .. } => place.sort().filter(|_| scene.monitor.notes.contains(&place)),
        Place::Register { instance, local } => {
            let body = scene.unfolding.instances.get(instance)?.body;
            match body.locals.get(LocalId::from_index(local as usize))?.storage {
                Storage::Register(ty) => Some(sort_of_value(ty)),
                Storage::Memory { .. } => None,
            }
        }
        Place::End { object } => object_of(object)?.site.and(place.sort()),
        Place::Bytes { object, offset, size, .. }
        | Place::Elements { object, offset, size, .. } => {
            let is_inside = object_of(object)?.has(offset, size);
            place.sort().filter(|_| is_inside)
        }
    }
}

/// The sort of a part with values of a type.
fn sort_of_value(ty: Type) -> Sort {
    match ty {
        Type::F32 => Sort::F32,
        Type::F64 => Sort::F64,
        Type::Int(1) => Sort::Bool,
        ty => Sort::Bits(ty.bits()),
    }
}

/// The parts of a state.
pub(crate) struct View<'v, 's, 'a> {
    machine: &'v mut Machine<'s, 'a>,
    state: &'v mut State,
    invariants: &'v Invariants,
    /// The values of parts that are any values, where they are not their symbols.
    replaced: BTreeMap<u32, Term>,
}

impl<'v, 's, 'a> View<'v, 's, 'a> {
    pub(crate) fn new(
        machine: &'v mut Machine<'s, 'a>,
        state: &'v mut State,
        invariants: &'v Invariants,
    ) -> Self {
        Self { machine, state, invariants, replaced: BTreeMap::new() }
    }

    /// A value of a type as formulas have it.
    fn typed(&mut self, ty: Type, value: Term) -> Term {
        let terms = &mut self.machine.terms;
        match ty {
            Type::F32 | Type::F64 => float(terms, ty, value).unwrap_or(value),
            Type::Ptr => terms.zero_extend(value, 64),
            _ => value,
        }
    }

    /// The value of a register's type.
    fn register(&mut self, (instance, local): (usize, u32), value: Term) -> Term {
        let body = self.machine.scene.unfolding.instances[instance].body;
        match body.locals[LocalId::from_index(local as usize)].storage {
            Storage::Register(ty) => self.typed(ty, value),
            Storage::Memory { .. } => value,
        }
    }

    /// Bytes, as a float if they are one.
    fn bytes(&mut self, (size, is_float): (u64, bool), bits: Term) -> Term {
        match (is_float, size) {
            (true, 4) => self.typed(Type::F32, bits),
            (true, 8) => self.typed(Type::F64, bits),
            _ => bits,
        }
    }

    /// The symbol of a part that is any value.
    fn any_value(&mut self, part: u32, bits: u32) -> Term {
        if let Some(value) = self.replaced.get(&part) {
            return *value;
        }
        let terms = &mut self.machine.terms;
        let fresh = || terms.fresh(&format!("x{part}"), Sort::Bits(bits));
        *self.machine.any_values.entry(part).or_insert_with(fresh)
    }
}

impl Parts for View<'_, '_, '_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.machine.terms
    }

    fn value(&mut self, part: u32) -> Term {
        if let Some(value) = self.state.values.get(&Key::Ghost(part)) {
            return value.term;
        }
        let machine = &mut *self.machine;
        match self.invariants.places[part as usize] {
            Place::Register { instance, local } => {
                let value = machine.get(self.state, Key::Register(instance, local)).term;
                self.register((instance, local), value)
            }
            Place::Argument { instance, local } => {
                let value = machine.get(self.state, Key::Before(part)).term;
                self.register((instance, local), value)
            }
            Place::Result { instance } => {
                let value = machine.get(self.state, Key::Returned(instance)).term;
                let program = machine.scene.program();
                let function = machine.scene.unfolding.instances[instance].function;
                match result_type(program, program.functions[function].ty) {
                    Some(ty) => self.typed(ty, value),
                    None => value,
                }
            }
            Place::Bytes { object, offset, size, float } => {
                let offset = machine.terms.bits(OFFSET_BITS, offset.into());
                let bits = machine.read(self.state, object, offset, size);
                self.bytes((size, float), bits)
            }
            Place::Before { size, float, .. } => {
                let bits = machine.get(self.state, Key::Before(part)).term;
                self.bytes((size, float), bits)
            }
            Place::Any { bits } => self.any_value(part, bits),
            note @ (Place::Flag { .. }
            | Place::Reached { .. }
            | Place::Outcome { .. }
            | Place::Mutant { .. }) => machine.get(self.state, Key::Note(note)).term,
            Place::End { object } => machine.get(self.state, Key::End(object)).term,
            Place::Elements { .. } => {
                let sort = self.invariants.sorts[part as usize];
                machine.terms.fresh("elements", sort)
            }
        }
    }

    fn element(&mut self, part: u32, index: Term) -> Term {
        let machine = &mut *self.machine;
        let Place::Elements { object, offset, size, period, .. } =
            self.invariants.places[part as usize]
        else {
            return machine.any_bytes(1);
        };
        let width = OFFSET_BITS;
        let index = machine.terms.resize(index, width);
        let (period, offset) =
            (machine.terms.bits(width, period.into()), machine.terms.bits(width, offset.into()));
        let distance = machine.terms.arithmetic("bvmul", index, period);
        let distance = machine.terms.add(distance, offset);
        let ghost = self.state.values.get(&Key::Ghost(part)).copied();
        match (&machine.scene.objects.all[object].layout, ghost) {
            (Layout::Array { grain, index_bits }, Some(array)) => {
                machine.read_array(array.term, (*grain, *index_bits), distance, size)
            }
            _ => machine.read(self.state, object, distance, size),
        }
    }
}
