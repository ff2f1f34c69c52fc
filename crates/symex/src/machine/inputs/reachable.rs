//! Reachability from calls of undefined functions: the objects and variables that a call can reach,
//! the ways to them, and the values in them that make a difference.

use std::ops::Range;

use lydian_base::EntityId;
use lydian_inputs::lazy::shape::{PartKind, Shape, Values, distance_in};
use lydian_inputs::lazy::{LazyObject, REACH};
use lydian_inputs::{MOST_WRITTEN, PointerChain};
use lydian_ir::libc::is_confined;
use lydian_ir::outside::{handed_over, may_write_behind_list, out_parameters, variable_words};
use lydian_ir::test::WriteBase;
use lydian_ir::{CType, CTypeId, FuncId, Function, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::inputs::aliasing::is_character;
use crate::machine::inputs::pointer_uses::address_of;
use crate::machine::memory::{
    AddressTarget, Background, Knowledge, Object, ObjectId, ObjectKind, depends_on_undefined,
    distance, flatten_address,
};
use crate::machine::state::{Notes, State};

/// The most places that a pointer may lead to; with more it is not followed.
const MOST_PLACES: usize = 8;
/// The size of a pointer in bytes.
const POINTER_BYTES: u64 = Type::Ptr.bytes();
/// The most objects that are reached from one call.
const MOST_REACHED: usize = 64;

/// A part of an object that a call can reach.
#[derive(Clone)]
pub(crate) struct ReachableRange {
    /// The condition under which it can.
    pub(crate) guard: Term,
    pub(crate) object: ObjectId,
    /// The place in the object that the way leads to, if known.
    pub(crate) place: Option<u64>,
    /// The bytes of the object that the call may write to, or follow pointers from.
    pub(crate) bytes: Range<u64>,
    /// The type of the values from the first of these bytes on, where known.
    pub(crate) element: Option<CTypeId>,
    /// Whether it may be written to.
    pub(crate) writable: bool,
    pub(crate) way: PointerChain,
}

impl ReachableRange {
    /// The distance of a place in the object from the end of the way, or from the object's start
    /// where the end is not known, modulo 2^64.
    pub(crate) fn behind_way(&self, at: u64) -> u64 {
        at.wrapping_sub(self.place.unwrap_or(0))
    }
}

/// A pointer with its C type.
#[derive(Clone, Copy)]
struct TypedPointer {
    term: Term,
    ty: CTypeId,
}

/// An argument that is a pointer.
struct PassedPointer {
    /// The name of the argument in a stub.
    to: WriteBase,
    pointer: TypedPointer,
}

/// A pointer in a reached range.
struct StoredPointer {
    /// The distance in bytes from the end of the way to the range.
    step: u64,
    pointer: TypedPointer,
}

/// A value in an object that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The offset of its first byte.
    pub(crate) at: u64,
    pub(crate) kind: PartKind,
}

/// Everything that a call can reach.
#[derive(Default)]
pub(crate) struct ReachableMemory {
    pub(crate) found: Vec<ReachableRange>,
    /// Whether something was left out.
    pub(crate) incomplete: bool,
}

/// Whether a function is defined by a library of the system, which knows no variable of the
/// program.
pub(crate) fn is_of_system(function: &Function) -> bool {
    function.system || is_confined(&function.name)
}

impl<N: Notes> Machine<'_, '_, N> {
    /// The objects that a call can reach, those behind fewer pointers first.
    pub(crate) fn reach_of(
        &mut self,
        state: &State<N>,
        func: FuncId,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> ReachableMemory {
        let mut reach = ReachableMemory::default();
        let always = self.pool.tt();
        let Function { name, ty, .. } = &self.context.program.functions[func];
        let types = &self.context.program.types;
        let out = out_parameters(types, name, *ty);
        reach.incomplete = may_write_behind_list(types, name, *ty);
        for PassedPointer { to, pointer } in self.pointers_passed(func, site, arg_types) {
            let is_out = match to {
                WriteBase::Argument(at) => out.iter().any(|out| out.position == at),
                _ => true,
            };
            let way = PointerChain { to, through: Vec::new(), from: None };
            let first = reach.found.len();
            self.add_reached(state, pointer, always, way, &mut reach);
            reach.found[first..].iter_mut().for_each(|reached| reached.writable &= is_out);
        }
        self.add_variables(state, func, &mut reach);
        let mut next = 0;
        while next < reach.found.len() {
            let reached = reach.found[next].clone();
            next += 1;
            for StoredPointer { step, pointer } in self.pointers_within(state, &reached, &mut reach)
            {
                let mut way = reached.way.clone();
                way.through.push(step);
                self.add_reached(state, pointer, reached.guard, way, &mut reach);
            }
        }
        reach
    }

    /// The arguments that are pointers, with their names in a stub.
    fn pointers_passed(
        &self,
        func: FuncId,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> Vec<PassedPointer> {
        let types = &self.context.program.types;
        let Function { name, ty, .. } = &self.context.program.functions[func];
        let CType::Function { params, .. } = types.get(*ty) else { return Vec::new() };
        let fixed = handed_over(types, name, *ty).pointers.into_iter();
        let fixed = fixed.filter_map(|at| {
            let (term, ty) = (*site.args.get(at as usize)?, *params.get(at as usize)?);
            let to = WriteBase::Argument(at);
            Some(PassedPointer { to, pointer: TypedPointer { term, ty } })
        });
        let words = variable_words(types, name, *ty, arg_types).into_iter().enumerate();
        let words = words.filter_map(|(word, at)| {
            let (term, ty) = (*site.args.get(at)?, *arg_types.get(at)?);
            types.pointee(ty)?;
            let to = WriteBase::Variable(word as u32);
            Some(PassedPointer { to, pointer: TypedPointer { term, ty } })
        });
        fixed.chain(words).collect()
    }

    /// Adds the variables that an undefined function knows by their names.
    fn add_variables(&mut self, state: &State<N>, func: FuncId, reach: &mut ReachableMemory) {
        let program = self.context.program;
        let shared = match is_of_system(&program.functions[func]) {
            true => &[][..],
            false => &self.context.shared_globals[..],
        };
        for id in shared.iter().chain(&self.context.error_number) {
            let global = &program.globals[*id];
            let Some(object) = state.memory.object_at(self.context.globals[id.index()]) else {
                continue;
            };
            let to = WriteBase::Global(global.name.clone());
            reach.found.push(ReachableRange {
                guard: self.pool.tt(),
                object,
                place: Some(0),
                bytes: 0..global.size,
                element: Some(global.ty),
                writable: true,
                way: PointerChain { to, through: Vec::new(), from: None },
            });
        }
    }

    /// Adds the objects that a pointer leads to. `outer` is the condition under which the call can
    /// reach the pointer.
    fn add_reached(
        &mut self,
        state: &State<N>,
        pointer: TypedPointer,
        outer: Term,
        way: PointerChain,
        reach: &mut ReachableMemory,
    ) {
        let types = &self.context.program.types;
        let CType::Pointer { pointee, to_const } = *types.get(pointer.ty) else { return };
        if matches!(types.get(pointee), CType::Function { .. }) {
            return;
        }
        let knowledge = Knowledge {
            derived: Some(&self.derived),
            inputs: Some(&self.context.inputs),
            ..state.knowledge()
        };
        let places = flatten_address(&mut self.pool, pointer.term, knowledge, MOST_PLACES);
        reach.incomplete |= places.is_none();
        for (guard, target) in places.into_iter().flatten() {
            reach.incomplete |= matches!(target, AddressTarget::Opaque(_));
            // Memory that the path did not follow yet has any contents.
            let AddressTarget::Known(address, offset) = target else { continue };
            let Some(id) = state.memory.object_near(address) else { continue };
            let object = state.memory.object(id);
            let start = address.wrapping_sub(object.base);
            let has_contents = object.alive && object.kind != ObjectKind::Stream;
            if !has_contents || start > object.size {
                continue;
            }
            let guard = self.pool.and(outer, guard);
            let is_known = |known: &ReachableRange| known.object == id && known.guard == guard;
            if reach.found.iter().any(is_known) {
                continue;
            }
            if reach.found.len() >= MOST_REACHED {
                reach.incomplete = true;
                return;
            }
            let place = offset.is_none().then_some(start);
            let from = offset.map(|offset| {
                let start = self.pool.bv(64, start);
                self.pool.add(start, offset)
            });
            let bytes = self.bytes_from(object, place, pointee);
            reach.found.push(ReachableRange {
                guard,
                object: id,
                place,
                bytes,
                element: place.is_some().then_some(pointee),
                writable: !to_const && !object.read_only,
                way: PointerChain { from, ..way.clone() },
            });
        }
    }

    /// The bytes of an object that a pointer to a type gives access to, given the place that it
    /// leads to: those behind the place, and in an input object those that belong to the same
    /// array.
    fn bytes_from(&self, object: &Object, place: Option<u64>, pointee: CTypeId) -> Range<u64> {
        let Some(place) = place else { return 0..object.size };
        let Background::Lazy { object: lazy, .. } = object.contents.background() else {
            return place..object.size;
        };
        let size = self.context.program.types.size(pointee).unwrap_or(u64::MAX);
        let (row, _) = lazy.row_at(distance(place));
        match size >= lazy.own.period() || row.is_dense() {
            true => 0..object.size,
            false if row.arrays.is_empty() => place..place + size,
            false => {
                let period = lazy.own.period();
                place..place + (period - row.part.min(period))
            }
        }
    }

    /// The pointers in a reached range, each with its distance from the end of the way.
    fn pointers_within(
        &mut self,
        state: &State<N>,
        reached: &ReachableRange,
        reach: &mut ReachableMemory,
    ) -> Vec<StoredPointer> {
        let object = state.memory.object(reached.object);
        reach.incomplete |= has_pointers_anywhere(&self.pool, object);
        let mut found = Vec::new();
        for Piece { at, kind } in self.pieces(state, reached) {
            let (PartKind::Pointer(_) | PartKind::Raw(POINTER_BYTES)) = kind else { continue };
            let value = object.contents.read_bits(&mut self.pool, at, POINTER_BYTES);
            let ty = match kind {
                PartKind::Pointer(ty) => ty,
                // In a union, or where no type is known.
                _ if self.is_address(value) => self.context.void_pointer(),
                _ => continue,
            };
            match reached.place {
                _ if depends_on_undefined(&mut self.pool, value) => {}
                Some(place) => {
                    let pointer = TypedPointer { term: value, ty };
                    found.push(StoredPointer { step: at.wrapping_sub(place), pointer });
                }
                None => reach.incomplete = true,
            }
        }
        found
    }

    /// The values in a reached range that make a difference: those that the path looked at or
    /// wrote.
    pub(crate) fn pieces(&mut self, state: &State<N>, reached: &ReachableRange) -> Vec<Piece> {
        let object = state.memory.object(reached.object);
        if let Background::Lazy { object: lazy, .. } = object.contents.background() {
            return touched_pieces(object, lazy, &reached.bytes);
        }
        let end = reached.bytes.end.min(reached.bytes.start.saturating_add(MOST_WRITTEN));
        let bytes = reached.bytes.start..end;
        let types = &self.context.program.types;
        let of_type = reached.element.filter(|ty| {
            let is_plain = matches!(types.get(*ty), CType::Void) || is_character(types, *ty);
            !is_plain && types.size(*ty).is_some_and(|size| size > 0)
        });
        match of_type {
            Some(element) => {
                let shape = self.context.inputs.shape(types, element);
                pieces_of_shape(&shape, &bytes)
            }
            None => self.pieces_of_cells(object, &bytes),
        }
    }

    /// Whether a value is an address, as far as its term tells.
    fn is_address(&mut self, value: Term) -> bool {
        self.context.inputs.is_pointer(address_of(&self.pool, value))
            || self.pool.mentions_address(value)
    }

    /// The values in bytes without a known type, as they were written.
    fn pieces_of_cells(&mut self, object: &Object, bytes: &Range<u64>) -> Vec<Piece> {
        let mut found = Vec::new();
        let mut next = bytes.start;
        for cell in object.contents.cells() {
            let (start, size) = (u64::from(cell.offset), u64::from(cell.size));
            if start < next || start + size > bytes.end {
                continue;
            }
            add_raw(next, start, &mut found);
            match self.pool.sort(cell.term) {
                Sort::Float(sort) => {
                    let machine = if sort.width() == 32 { Type::F32 } else { Type::F64 };
                    found.push(Piece { at: start, kind: PartKind::Number(machine, Values::All) });
                }
                _ if size == POINTER_BYTES && self.is_address(cell.term) => {
                    let kind = PartKind::Pointer(self.context.void_pointer());
                    found.push(Piece { at: start, kind });
                }
                _ => add_raw(start, start + size, &mut found),
            }
            next = start + size;
        }
        add_raw(next, bytes.end, &mut found);
        found
    }
}

/// Whether a path looked at pointers of an input object at places that depend on the input, so that
/// the object alone does not say where they lead.
fn has_pointers_anywhere(pool: &TermPool, object: &Object) -> bool {
    let Background::Lazy { object: lazy, .. } = object.contents.background() else { return false };
    let mut rows = lazy.known_arrays().into_iter();
    object.touched.is_anywhere(pool)
        && rows.any(|(row, _)| matches!(row.kind, PartKind::Pointer(_)))
}

/// The values of an input object that a path looked at, as far as they lie in some bytes.
fn touched_pieces(object: &Object, lazy: &LazyObject, bytes: &Range<u64>) -> Vec<Piece> {
    let mut found = Vec::new();
    for (from, to) in object.touched.ranges() {
        let (mut next, end) = ((*from).max(bytes.start), (*to).min(bytes.end));
        while next < end {
            let (row, number) = lazy.row_at(distance(next));
            let at = REACH.wrapping_add_signed(lazy.start_of(&row, number));
            next = at + row.kind.bytes();
            if at >= bytes.start && next <= bytes.end {
                found.push(Piece { at, kind: row.kind });
            }
        }
    }
    found
}

/// The repeated values of a shape in some bytes.
fn pieces_of_shape(shape: &Shape, bytes: &Range<u64>) -> Vec<Piece> {
    let mut found = Vec::new();
    let size = shape.size().max(1);
    let mut next = bytes.start;
    while next < bytes.end {
        let within = (next - bytes.start) % size;
        let part = shape.part_at(within);
        let at = next - within + part.first + distance_in(&part.arrays, part.number);
        next = at + part.kind.bytes();
        if next <= bytes.end {
            found.push(Piece { at, kind: part.kind });
        }
    }
    found
}

/// Adds bytes without known values, in aligned pieces.
fn add_raw(from: u64, to: u64, found: &mut Vec<Piece>) {
    let mut at = from;
    while at < to {
        let size = (to - at).min(8 - at % 8);
        found.push(Piece { at, kind: PartKind::Raw(size) });
        at += size;
    }
}
