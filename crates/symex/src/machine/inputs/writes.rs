//! Writes of undefined functions to memory without values: the places that their arguments lead to
//! on a path.
//!
//! An argument counts where its term names the object. No call writes through an address without
//! structure, or one at a distance that depends on the input. Nor does one write to input objects
//! in this way, which already have values of any kind. All this follows from the state alone, so
//! that a replayed path gets the same writes.

use lydian_inputs::{ExternalPlan, MOST_WRITTEN, OutTarget, PreviousPointer};
use lydian_ir::outside::{OutParameter, out_parameters};
use lydian_ir::test::WriteBase;
use lydian_ir::{FuncId, Type};
use lydian_smt::{Sort, Term};

use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::inputs::permitted::PermittedWrites;
use crate::machine::memory::{AddressTarget, ObjectId, ObjectKind, flatten_address};
use crate::machine::state::{Notes, State};

/// The most places that an argument may point to; with more, nothing is written through it.
const MOST_PLACES: usize = 4;

/// The most choices of a pointer that may stay unchanged by choice: each call would add one.
const MOST_CHOICES: usize = 4;

/// The place of a write of a call.
#[derive(Clone, Copy)]
struct WritePlace {
    object: ObjectId,
    offset: u64,
}

/// The memory that a call of an undefined function may write to.
pub(crate) struct Writable {
    pub(crate) targets: Vec<OutTarget>,
    places: Vec<WritePlace>,
}

impl<N: Notes> Machine<'_, '_, N> {
    /// The memory that a call of an undefined function may write to.
    pub(crate) fn writable(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        site: &CallSite,
        permitted: &PermittedWrites,
    ) -> Writable {
        let program = self.context.program;
        let function = &program.functions[func];
        let mut found = Writable { targets: Vec::new(), places: Vec::new() };
        for parameter in out_parameters(&program.types, &function.name, function.ty) {
            let Some(pointer) = site.args.get(parameter.position as usize).copied() else { break };
            let size = program.types.size(parameter.pointee).unwrap_or(1);
            if !permitted.allow(&WriteBase::Argument(parameter.position), &[], &(0..size)) {
                continue;
            }
            for (guard, place) in self.places_of(state, pointer) {
                found.targets.push(self.out_target(state, parameter, guard, place));
                found.places.push(place);
            }
        }
        found
    }

    /// The program's own objects that a pointer leads to, each with its condition.
    fn places_of(&mut self, state: &State<N>, pointer: Term) -> Vec<(Term, WritePlace)> {
        if self.pool.sort(pointer) != Sort::BitVec(64) {
            return Vec::new();
        }
        let pool = &mut self.pool;
        let alternatives = flatten_address(pool, pointer, state.knowledge(), MOST_PLACES);
        let known = alternatives.into_iter().flatten().filter_map(|(guard, target)| {
            let AddressTarget::Known(address, None) = target else { return None };
            let id = state.memory.object_at(address)?;
            let object = state.memory.object(id);
            let offset = address - object.base;
            let own = !matches!(object.kind, ObjectKind::Input | ObjectKind::Stream);
            let own = own && !object.read_only && !object.is_lost();
            (own && offset < object.size).then_some((guard, WritePlace { object: id, offset }))
        });
        known.collect()
    }

    fn out_target(
        &mut self,
        state: &State<N>,
        parameter: OutParameter,
        guard: Term,
        place: WritePlace,
    ) -> OutTarget {
        let object = state.memory.object(place.object);
        let room = object.size - place.offset;
        let seen = room.min(MOST_WRITTEN);
        let unwritten = object.contents.unwritten(&mut self.pool, place.offset, seen);
        let length = object.length.map(|length| {
            let start = self.pool.bv(64, place.offset);
            let (behind, none) = (self.pool.sub(length, start), self.pool.bv(64, 0));
            let reaches = self.pool.ule(start, length);
            self.pool.ite(reaches, behind, none)
        });
        let types = &self.context.program.types;
        let is_pointer = types.scalar(parameter.pointee) == Some(Type::Ptr);
        let old = match is_pointer && unwritten.len() >= 8 && !unwritten[..8].contains(&true) {
            false => PreviousPointer::None,
            true => self.old_pointer(state, place),
        };
        OutTarget { parameter, guard, room, length, unwritten, old }
    }

    /// The value of a pointer before a call that may set it.
    fn old_pointer(&mut self, state: &State<N>, place: WritePlace) -> PreviousPointer {
        let contents = &state.memory.object(place.object).contents;
        let old = contents.read_bits(&mut self.pool, place.offset, 8);
        let choices = flatten_address(&mut self.pool, old, state.knowledge(), MOST_CHOICES);
        choices.map_or(PreviousPointer::Lost, |_| PreviousPointer::Kept(old))
    }

    /// Executes the writes that were planned for a call.
    pub(crate) fn write_planned(
        &mut self,
        state: &mut State<N>,
        writable: &Writable,
        plan: &ExternalPlan,
    ) {
        for write in &plan.writes {
            let (target, place) = (&writable.targets[write.target], writable.places[write.target]);
            for cell in write.cells() {
                let at = place.offset + write.offset + cell.offset;
                let value = (cell.ty.bytes(), cell.value);
                let to = (place.object, at);
                state.memory.store_where(&mut self.pool, to, target.guard, value);
            }
        }
    }
}
