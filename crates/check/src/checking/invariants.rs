//! The invariants of a certificate on states.

use std::collections::BTreeSet;

use lydian_base::EntityId;
use lydian_ir::{LocalId, Storage, Type};

use crate::document::{Certificate, Place};
use crate::fault::Fault;
use crate::formula::{Formula, Parts};
use crate::machine::{Machine, Scene};
use crate::meaning::float;
use crate::objects::Layout;
use crate::state::{Key, State, Value};
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
}

impl Invariants {
    pub(crate) fn new(scene: &Scene<'_>, certificate: &Certificate) -> Result<Self, Fault> {
        let mut sorts = Vec::new();
        for (at, part) in certificate.state.iter().enumerate() {
            let sort = sort_of_place(scene, part.place);
            sorts.push(sort.ok_or_else(|| Fault::form(format!("x{at} has no place")))?);
        }
        let (mut formulas, mut used, mut current) = (Vec::new(), BTreeSet::new(), Vec::new());
        for (at, point) in certificate.points.iter().enumerate() {
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
        Ok(Self { places, sorts, formulas, used, current })
    }

    /// The parts that formulas speak of and that are not current at a point.
    fn ghosts(&self, scene: &Scene<'_>, point: usize) -> Vec<u32> {
        let is_ghost = |part: &u32| {
            // All are current where runs begin, and elements that are cells are everywhere.
            let array_of_cells = match self.places[*part as usize] {
                Place::Elements { object, .. } => {
                    matches!(scene.objects.all[object].layout, Layout::Cells(_))
                }
                _ => false,
            };
            point != 0 && !array_of_cells && !self.current[point].contains(part)
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
                _ => View { machine, state: before, invariants: self }.value(part),
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
        let mut view = View { machine, state, invariants: self };
        self.formulas[point].iter().map(|formula| formula.on(&mut view)).collect()
    }
}

/// The sort of a part; none if its place is not there.
fn sort_of_place(scene: &Scene<'_>, place: Place) -> Option<Sort> {
    let object_of = |object: usize| scene.objects.all.get(object);
    match place {
        Place::Register { instance, local } => {
            let body = scene.unfolding.instances.get(instance)?.body;
            match body.locals.get(LocalId::from_index(local as usize))?.storage {
                Storage::Register(Type::F32) => Some(Sort::F32),
                Storage::Register(Type::F64) => Some(Sort::F64),
                Storage::Register(Type::Int(1)) => Some(Sort::Bool),
                Storage::Register(ty) => Some(Sort::Bits(ty.bits())),
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

/// The parts of a state.
struct View<'v, 's, 'a> {
    machine: &'v mut Machine<'s, 'a>,
    state: &'v mut State,
    invariants: &'v Invariants,
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
                let body = machine.scene.unfolding.instances[instance].body;
                match body.locals[LocalId::from_index(local as usize)].storage {
                    Storage::Register(ty @ (Type::F32 | Type::F64)) => {
                        float(&mut machine.terms, ty, value).unwrap_or(value)
                    }
                    Storage::Register(Type::Ptr) => machine.terms.zero_extend(value, 64),
                    _ => value,
                }
            }
            Place::Bytes { object, offset, size, float: is_float } => {
                let offset = machine.terms.bits(machine.scene.address_bits(), offset.into());
                let bits = machine.read(self.state, object, offset, size);
                match (is_float, size) {
                    (true, 4) => float(&mut machine.terms, Type::F32, bits).unwrap_or(bits),
                    (true, 8) => float(&mut machine.terms, Type::F64, bits).unwrap_or(bits),
                    _ => bits,
                }
            }
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
        let width = machine.scene.address_bits();
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
