//! Invariants of types: conditions that, as the user states, every object of a type among the
//! inputs meets when the function is called. This part finds where a path meets one: it is about to
//! look at an object with an invariant that it does not suppose yet.

use lydian_inputs::lazy::REACH;
use lydian_ir::{CType, CTypeId, CTypes};
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::ScaledOffset;
use crate::machine::memory::{Candidate, Offset, Resolution};
use crate::machine::program::context::Context;
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::{Notes, State};

/// The most objects with invariants that are looked at for one test.
pub(crate) const MOST_OBJECTS: usize = 1 << 10;
/// Consecutive values of a type.
struct Elements {
    ty: CTypeId,
    /// The offset of one of them from the start of their object.
    first: i64,
    /// The address of the object's start in first contents.
    base: u64,
    /// The size of the object in bytes, where known.
    size: Option<u64>,
}

impl Context<'_> {
    /// The objects with an invariant that contain a byte of a value: the positions of the
    /// invariants, and the offsets at which the objects begin.
    pub(crate) fn invariants_over(&self, ty: CTypeId, at: u64) -> SmallVec<[(usize, u64); 2]> {
        let mut found = SmallVec::new();
        self.add_over(ty, (0, at), &mut found);
        found
    }

    fn add_over(
        &self,
        ty: CTypeId,
        (start, at): (u64, u64),
        found: &mut SmallVec<[(usize, u64); 2]>,
    ) {
        found.extend(self.invariants_of(ty).map(|invariant| (invariant, start)));
        let types = &self.program.types;
        if let Some((part, begin)) = part_over(types, ty, at - start) {
            self.add_over(part, (start + begin, at), found);
        }
    }

    /// The positions of the invariants of a type.
    pub(crate) fn invariants_of(&self, ty: CTypeId) -> impl Iterator<Item = usize> + '_ {
        let types = &self.program.types;
        let is_it = move |other: CTypeId| match (types.get(ty), types.get(other)) {
            (CType::Record(a), CType::Record(b)) => a == b,
            _ => false,
        };
        let all = self.invariants.iter().enumerate();
        all.filter(move |(_, invariant)| is_it(invariant.ty)).map(|(at, _)| at)
    }

    /// All objects with an invariant in a value of a type that begins at an address.
    pub(crate) fn invariants_within(&self, ty: CTypeId, start: u64, found: &mut Vec<(usize, u64)>) {
        if found.len() > MOST_OBJECTS {
            return;
        }
        found.extend(self.invariants_of(ty).map(|invariant| (invariant, start)));
        let types = &self.program.types;
        match types.get(ty) {
            CType::Array { element, length: Some(length) } if self.has_invariants(*element) => {
                let size = types.size(*element).unwrap_or(1).max(1);
                for index in 0..*length {
                    self.invariants_within(*element, start + index * size, found);
                }
            }
            CType::Record(record) if !types.records[*record].is_union => {
                for field in &types.records[*record].fields {
                    self.invariants_within(field.ty, start + field.bit_offset / 8, found);
                }
            }
            _ => {}
        }
    }

    /// Whether a value of a type is or has an object with an invariant.
    pub(crate) fn has_invariants(&self, ty: CTypeId) -> bool {
        let types = &self.program.types;
        self.invariants_of(ty).next().is_some()
            || match types.get(ty) {
                CType::Array { element, .. } => self.has_invariants(*element),
                CType::Record(record) if !types.records[*record].is_union => {
                    let mut fields = types.records[*record].fields.iter();
                    fields.any(|field| self.has_invariants(field.ty))
                }
                _ => false,
            }
    }
}

/// The element or member of a type that contains a byte, and its offset. Unions have no such parts.
fn part_over(types: &CTypes, ty: CTypeId, at: u64) -> Option<(CTypeId, u64)> {
    match types.get(ty) {
        CType::Array { element, length } => {
            let size = types.size(*element)?.max(1);
            let index = at / size;
            length.is_none_or(|length| index < length).then_some((*element, index * size))
        }
        CType::Record(record) if !types.records[*record].is_union => {
            let record = &types.records[*record];
            let fields = record.fields.iter().filter(|field| field.bits.is_none());
            let mut fields = fields.map(|field| (field.ty, field.bit_offset / 8));
            fields.find(|(ty, begin)| {
                let is_open = matches!(types.get(*ty), CType::Array { length: None | Some(0), .. });
                let size = if is_open { u64::MAX } else { types.size(*ty).unwrap_or(0) };
                at >= *begin && at - begin < size
            })
        }
        _ => None,
    }
}

impl<N: Notes> StateView<'_, '_, N> {
    /// Supposes the invariants of the objects at places that the path is about to look at.
    pub(crate) fn meet_invariants(
        &mut self,
        pool: &mut TermPool,
        found: &Resolution,
    ) -> Result<(), Stop> {
        let is_idle = self.context.invariants.is_empty() || self.state.course.check.is_some();
        if is_idle || self.state.log.is_in_predicate() {
            return Ok(());
        }
        for candidate in &found.candidates {
            let Some(elements) = self.elements_of(candidate) else { continue };
            if self.context.has_invariants(elements.ty) {
                self.meet_at(pool, candidate.guard, candidate.offset, &elements)?;
            }
        }
        Ok(())
    }

    /// The values that an input object is made of.
    fn elements_of(&self, candidate: &Candidate) -> Option<Elements> {
        let object = self.state.memory.object(candidate.object);
        if let Some(first) = &object.first {
            let elements = match candidate.offset {
                Offset::Known(at) => first.elements_at(at.wrapping_sub(REACH as i64)),
                Offset::Scaled(ScaledOffset { start, .. }) => {
                    first.elements_at(start.wrapping_sub(REACH as i64))
                }
            };
            let (ty, first, base) =
                (elements.ty, REACH as i64 + elements.origin, first.home - REACH);
            return Some(Elements { ty, first, base, size: None });
        }
        let ty = *self.context.planned.get(&object.base)?;
        let size = object.length.is_none().then_some(object.size);
        Some(Elements { ty, first: 0, base: object.base, size: size.or(Some(0)) })
    }

    fn meet_at(
        &mut self,
        pool: &mut TermPool,
        guard: Term,
        offset: Offset,
        elements: &Elements,
    ) -> Result<(), Stop> {
        let at = match offset {
            Offset::Known(at) => at,
            Offset::Scaled(_) => {
                let term = offset.term(pool);
                self.value_on_model(pool, term) as i64
            }
        };
        let types = &self.context.program.types;
        let period = types.size(elements.ty).unwrap_or(1).max(1) as i64;
        let has_tail = has_tail(types, elements.ty) && at >= elements.first;
        let within =
            if has_tail { at - elements.first } else { (at - elements.first).rem_euclid(period) };
        let begin = at - within;
        for (invariant, start) in self.context.invariants_over(elements.ty, within as u64) {
            let start = begin + start as i64;
            let size = types.size(self.context.invariants[invariant].ty).unwrap_or(0);
            if elements.size.is_some_and(|whole| start < 0 || start as u64 + size > whole) {
                continue;
            }
            let object = match offset {
                Offset::Scaled(ScaledOffset { stride, .. }) if stride >= size => {
                    if elements.size.is_some() {
                        continue; // whether it lies inside is for the access to say
                    }
                    let place = offset.term(pool);
                    let base = elements.base.wrapping_add_signed(start - at);
                    let base = pool.bv(64, base);
                    pool.add(place, base)
                }
                _ => pool.bv(64, elements.base.wrapping_add_signed(start)),
            };
            if self.state.inputs.met.contains(&(invariant, object)) {
                continue;
            }
            if self.state.knowledge().known(pool, guard) != Some(true) {
                return Err(self.split_by_model(pool, guard));
            }
            return Err(Stop::Invariant(invariant, object));
        }
        Ok(())
    }
}

/// Whether a struct ends in a flexible array member.
fn has_tail(types: &CTypes, ty: CTypeId) -> bool {
    let CType::Record(record) = types.get(ty) else { return false };
    let last = types.records[*record].fields.last();
    let is_open =
        |ty: CTypeId| matches!(types.get(ty), CType::Array { length: None | Some(0), .. });
    last.is_some_and(|field| is_open(field.ty))
}

impl<N: Notes> Machine<'_, '_, N> {
    /// As `StateView::meet_invariants`, for an address that was resolved outside of an expression.
    pub(crate) fn meet_invariants(
        &mut self,
        state: &mut State<N>,
        found: &Resolution,
    ) -> Result<(), Interrupt> {
        if self.context.invariants.is_empty() {
            return Ok(());
        }
        let (mut scope, pool) = self.scope(state);
        let met = scope.meet_invariants(pool, found);
        met.map_err(|stop| self.stopped(state, stop))
    }
}
