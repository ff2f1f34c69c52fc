//! Allocation functions. Each call may fail, by a choice that is one of the test's inputs.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::Traps;
use lydian_inputs::CellPlan;
use lydian_inputs::lazy::{LazyObject, REACH, readable_name};
use lydian_ir::libc::{AllocationFn, MOST_OF_A_BLOCK, Model, NO_MEMORY};
use lydian_ir::{CTypeId, TrapKind, Type};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Sort, Term};

use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{
    Background, Candidate, Contents, HEAP_ALIGNMENT, NewObject, ObjectId, ObjectKind, Offset,
};
use crate::machine::questions::Feasible;
use crate::machine::scope::Stop;
use crate::machine::state::{Notes, State};

/// The possible rooms in bytes of an allocation with a size that depends on the input: the least
/// that is surely enough. The path is split where the size may be greater than the last.
const ROOMS: [u64; 3] = [64, 512, ROOM];
pub(crate) const ROOM: u64 = 4096;
/// The most bytes of a block that are copied by a reallocation.
const MOST_COPIED: u64 = 1 << 16;

/// The bytes of a new block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewBytes {
    /// Zeros.
    Zero,
    /// Bytes without a value.
    Undefined,
}

/// The number of bytes to allocate.
#[derive(Clone, Copy)]
pub(crate) enum AllocationSize {
    Known(u64),
    /// A 64-bit term, and the most that it can be on this path.
    Symbolic(Term, u64),
}

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn allocation_function(
        &mut self,
        state: &mut State<N>,
        function: AllocationFn,
        model: &Model,
        args: &[Term],
    ) -> Result<Option<Term>, Interrupt> {
        match function {
            AllocationFn::Malloc => {
                let Some(size) = self.size_of_allocation(state, args[0])? else {
                    return self.failed(state, model).map(Some);
                };
                self.allocate(state, model, size, NewBytes::Undefined)
                    .map(|(address, _)| Some(address))
            }
            AllocationFn::Calloc => {
                let overflows = self.pool.umul_overflows(args[0], args[1]);
                let (overflows, other) = self.split(state, overflows);
                if let Some(other) = other {
                    self.fork_off(other);
                    return Err(Interrupt::Yield);
                }
                let size = self.pool.mul(args[0], args[1]);
                let size = if overflows { None } else { self.size_of_allocation(state, size)? };
                match size {
                    Some(size) => self
                        .allocate(state, model, size, NewBytes::Zero)
                        .map(|(address, _)| Some(address)),
                    None => self.failed(state, model).map(Some),
                }
            }
            AllocationFn::Realloc => self.reallocate(state, model, args[0], args[1]).map(Some),
            AllocationFn::Free => {
                let object = self.allocated(state, args[0])?;
                object.into_iter().for_each(|object| state.memory.release(object));
                Ok(None)
            }
            AllocationFn::Strdup => self.duplicate(state, model, args[0], None).map(Some),
            AllocationFn::Strndup => self.duplicate(state, model, args[0], Some(args[1])).map(Some),
        }
    }

    /// The size of an allocation; `None` where it is greater than any object, so that the call
    /// fails.
    pub(crate) fn size_of_allocation(
        &mut self,
        state: &mut State<N>,
        size: Term,
    ) -> Result<Option<AllocationSize>, Interrupt> {
        if self.pool.as_u64(size).is_none() {
            let room = self.pool.bv(64, ROOM);
            let fits = self.pool.ule(size, room);
            if state.knowledge().known(&mut self.pool, fits) == Some(true) {
                let room = self.room_for(state, size);
                return Ok(Some(AllocationSize::Symbolic(size, room)));
            }
            if self.holds_on_model(state, fits) {
                return Err(self.stopped(state, Stop::Split(fits, None)));
            }
            return self.size_of_large_block(state, size);
        }
        let value = self.one_value(state, size)?;
        if value <= MOST_OF_A_BLOCK {
            return Ok(Some(AllocationSize::Known(value)));
        }
        if i64::try_from(value).is_ok() {
            self.bounds.leave_room();
            self.note_restriction(state);
        }
        Ok(None)
    }

    /// The size of a block that is too large to keep all its bytes; `None` where it is greater than
    /// any object.
    fn size_of_large_block(
        &mut self,
        state: &mut State<N>,
        size: Term,
    ) -> Result<Option<AllocationSize>, Interrupt> {
        let most = self.pool.bv(64, MOST_OF_A_BLOCK);
        let fits = self.pool.ule(size, most);
        if self.split_on(state, fits)? {
            return Ok(Some(AllocationSize::Symbolic(size, MOST_OF_A_BLOCK)));
        }
        self.bounds.leave_room();
        self.note_restriction(state);
        Ok(None)
    }

    /// The least of [`ROOMS`] that a size surely does not exceed.
    fn room_for(&mut self, state: &mut State<N>, size: Term) -> u64 {
        if let Some(room) = state.log.played(Question::Room) {
            return room;
        }
        let room = self.least_room(state, size);
        state.log.note(Question::Room, room);
        room
    }

    fn least_room(&mut self, state: &State<N>, size: Term) -> u64 {
        let value = self.evaluator.eval_u64(&self.pool, &state.model, size);
        for room in ROOMS.into_iter().filter(|room| *room < ROOM && value <= *room) {
            let most = self.pool.bv(64, room);
            let greater = self.pool.ugt(size, most);
            if state.course.replay || matches!(self.ask(state, Some(greater)), Feasible::No) {
                return room;
            }
        }
        ROOM
    }

    /// The entry of the test's list for one allocation: the choice by which it fails.
    fn next_choice(&mut self, state: &mut State<N>, model: &Model) -> Term {
        let choice = self.choice(state, model);
        self.list(state, model, choice);
        self.note_no_memory(state, choice);
        choice
    }

    /// The choice by which the next call of an allocator fails.
    fn choice(&mut self, state: &State<N>, model: &Model) -> Term {
        if self.context.config.allocation_succeeds {
            return self.pool.ff();
        }
        let nth = state.calls_of(model.name);
        self.pool.var(&format!("{}()#{nth} == NULL", model.name), Sort::Bool)
    }

    /// Adds an entry to the test's list of allocations, which says whether the allocation fails.
    fn list(&mut self, state: &mut State<N>, model: &Model, fails: Term) {
        let (zero, one) = (self.pool.bv(8, 0), self.pool.bv(8, 1));
        let value = self.pool.ite(fails, zero, one);
        let cells = vec![CellPlan { offset: 0, ty: Type::Int(8), value }];
        let call = self.input_plan(state, model.name, String::new(), 1, cells);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(call));
    }

    /// Sets the error number where an allocation fails.
    fn note_no_memory(&mut self, state: &mut State<N>, fails: Term) {
        let Some(error_number) = self.context.error_number else { return };
        let place = self.context.globals[error_number.index()];
        let Some(object) = state.memory.object_at(place) else { return };
        let number = self.pool.bv(32, u64::from(NO_MEMORY));
        state.memory.store_where(&mut self.pool, (object, 0), fails, (4, number));
    }

    /// A C type of one byte, for the image of a choice.
    pub(crate) fn byte_type(&self) -> CTypeId {
        self.context.type_of_access(None)
    }

    /// Adds the list entry of an allocation that surely fails: the machine that runs the test might
    /// otherwise grant it.
    fn failed(&mut self, state: &mut State<N>, model: &Model) -> Result<Term, Interrupt> {
        let surely = self.pool.tt();
        self.list(state, model, surely);
        self.note_no_memory(state, surely);
        Ok(self.pool.bv(64, 0))
    }

    /// Allocates an object. Returns the pointer, which is null where the choice is to fail, and the
    /// object.
    fn allocate(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        size: AllocationSize,
        bytes: NewBytes,
    ) -> Result<(Term, ObjectId), Interrupt> {
        let (room, length) = match size {
            AllocationSize::Known(bytes) => (bytes, None),
            AllocationSize::Symbolic(length, room) => (room, Some(length)),
        };
        let object = state.memory.allocate(NewObject {
            size: room,
            alignment: HEAP_ALIGNMENT,
            length,
            kind: ObjectKind::Heap,
            read_only: false,
            name: model.name.into(),
            contents: Contents::new(Background::Zero),
        });
        let Some(object) = object else { return Err(Interrupt::unsupported("more memory")) };
        let base = state.memory.object(object).base;
        if bytes == NewBytes::Undefined {
            state.memory.object_mut(object).contents = Contents::new(Background::Undefined(base));
        }
        let choice = self.next_choice(state, model);
        let (null, address) = (self.pool.bv(64, 0), self.pool.bv(64, base));
        Ok((self.pool.ite(choice, null, address), object))
    }

    /// The live allocation with a start that a pointer points to; `None` for null. Splits the path
    /// where there are several.
    fn allocated(
        &mut self,
        state: &mut State<N>,
        pointer: Term,
    ) -> Result<Option<ObjectId>, Interrupt> {
        let resolution = self.resolve(state, pointer)?;
        self.decide(state, resolution.wild, |engine, state| {
            Err(engine.trapped(state, TrapKind::BadFree))
        })?;
        if self.split_on(state, resolution.null)? {
            // An address near null is not null.
            let zero = self.pool.bv(64, 0);
            let is_null = self.pool.eq(pointer, zero);
            if !self.split_on(state, is_null)? {
                return Err(self.trapped(state, TrapKind::BadFree));
            }
            return Ok(None);
        }
        for candidate in &resolution.candidates {
            if self.split_on(state, candidate.guard)? {
                return match self.begins_block(state, pointer, candidate)? {
                    true => Ok(Some(candidate.object)),
                    false => Err(self.trapped(state, TrapKind::BadFree)),
                };
            }
        }
        Err(self.trapped(state, TrapKind::BadFree))
    }

    /// Whether a pointer leads to the first byte of an allocated block. No bytes before it were
    /// accessed.
    fn begins_block(
        &mut self,
        state: &mut State<N>,
        pointer: Term,
        candidate: &Candidate,
    ) -> Result<bool, Interrupt> {
        let object = state.memory.object(candidate.object);
        let (base, first) = (object.base, object.first.clone());
        let start = match (&first, object.kind) {
            (Some(_), _) | (None, ObjectKind::Heap | ObjectKind::Input) => object.start(),
            (None, _) => return Ok(false),
        };
        let is_start = match candidate.offset {
            Offset::Known(offset) => self.pool.bool(offset == start as i64),
            Offset::Scaled(_) => {
                let start = self.pool.bv(64, base.wrapping_add(start));
                self.pool.eq(pointer, start)
            }
        };
        let is_start = self.split_on(state, is_start)?;
        let Some(first) = first else { return Ok(is_start) };
        if is_start {
            let (scope, pool) = self.scope(state);
            let within = scope.lies_within(pool, &first, 2 * REACH - start);
            return self.split_on(state, within);
        }
        let is_before = match candidate.offset {
            Offset::Known(offset) => offset < start as i64,
            Offset::Scaled(_) => self.derived.contains_key(&pointer),
        };
        if is_before {
            self.assume_begins_there(&first);
        }
        Ok(false)
    }

    /// Assumes that a pointer which the program frees does not lead behind the beginning of a
    /// block; such inputs are not followed.
    fn assume_begins_there(&mut self, object: &LazyObject) {
        let name = readable_name(&object.own.name);
        let sentence = format!("no block begins before the first element of {name}");
        self.bounds.assume(Assumption::new(AssumptionKind::LeadingElements, name, sentence));
    }

    /// Runs `then` where a condition holds.
    fn decide(
        &mut self,
        state: &mut State<N>,
        condition: Term,
        then: impl FnOnce(&mut Self, &mut State<N>) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        if self.split_on(state, condition)? { then(self, state) } else { Ok(()) }
    }

    /// Whether a condition holds on this path, which is split where it may and may not.
    pub(crate) fn split_on(
        &mut self,
        state: &mut State<N>,
        condition: Term,
    ) -> Result<bool, Interrupt> {
        let (side, other) = self.split(state, condition);
        if let Some(other) = other {
            self.fork_off(other);
            return Err(Interrupt::Yield);
        }
        Ok(side)
    }

    fn reallocate(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        old: Term,
        size: Term,
    ) -> Result<Term, Interrupt> {
        let old = self.allocated(state, old)?;
        let none = self.pool.bv(64, 0);
        if let Some(old) = old {
            let nothing = self.pool.eq(size, none);
            if self.split_on(state, nothing)? {
                state.memory.release(old);
                return Ok(none);
            }
        }
        let of_inputs = old.is_some_and(|old| state.memory.object(old).first.is_some());
        let size = match of_inputs {
            true => self.size_of_large_block(state, size)?,
            false => self.size_of_allocation(state, size)?,
        };
        let Some(size) = size else { return self.failed(state, model) };
        let Some(old) = old else {
            return self
                .allocate(state, model, size, NewBytes::Undefined)
                .map(|(address, _)| address);
        };
        // A failure decides whether the old block lives on, so the path is split on it first.
        let choice = self.choice(state, model);
        if self.split_on(state, choice)? {
            return self.failed(state, model);
        }
        if of_inputs {
            return self.move_input(state, model, old, size);
        }
        let (address, new) = self.allocate(state, model, size, NewBytes::Undefined)?;
        let room = state.memory.object(new).size.min(state.memory.object(old).size);
        let (to, from) = (self.resolution_of(new), self.resolution_of(old));
        let contents = state.memory.object(old).contents.clone();
        if contents.is_unwritten_beneath(&self.pool) {
            // Unwritten old bytes need not be told from the added ones.
            state.memory.object_mut(new).contents = contents;
        } else if room <= MOST_COPIED {
            state.memory.copy(&mut self.pool, &to, &from, room);
        } else {
            return Err(Interrupt::unsupported(format!(
                "a block of more than {MOST_COPIED} bytes"
            )));
        }
        state.memory.release(old);
        Ok(address)
    }

    /// Moves a block of the inputs to a new block with the same contents and another size. Places
    /// that the path first looks at there have the input block's contents.
    fn move_input(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        old: ObjectId,
        size: AllocationSize,
    ) -> Result<Term, Interrupt> {
        let size = match size {
            AllocationSize::Known(size) => self.pool.bv(64, size),
            AllocationSize::Symbolic(size, _) => size,
        };
        let start = state.memory.object(old).start();
        let before = self.pool.bv(64, start);
        let length = self.pool.add(before, size);
        // A block that was moved before has its own length, from here on without what lies before.
        let old_length = state.memory.object(old).length;
        let old_length = old_length.map(|length| self.pool.sub(length, before));
        let Some(base) = state.memory.move_input(old, length, model.name) else {
            return Err(Interrupt::unsupported("more memory"));
        };
        state.memory.object_mut(old).length = old_length;
        self.next_choice(state, model);
        Ok(self.pool.bv(64, base + start))
    }

    /// `strdup`, and `strndup` with a limit.
    fn duplicate(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        text: Term,
        limit: Option<Term>,
    ) -> Result<Term, Interrupt> {
        let mut traps = Traps::none();
        let length = self.length(state, text, limit, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let one = self.pool.bv(64, 1);
        let size = self.pool.add(length, one);
        let Some(size) = self.size_of_allocation(state, size)? else {
            return self.failed(state, model);
        };
        let bytes = self.text_bytes(state, text, length)?;
        let (address, object) = self.allocate(state, model, size, NewBytes::Zero)?;
        let to = self.resolution_of(object);
        let room = state.memory.object(object).size;
        for (offset, byte) in (0..room).zip(bytes) {
            state.memory.store(&mut self.pool, &to.shifted(offset), 1, byte);
        }
        Ok(address)
    }

    /// The first `length` bytes of a string that was already looked at, with zeros for bytes that
    /// may not be there.
    fn text_bytes(
        &mut self,
        state: &mut State<N>,
        text: Term,
        length: Term,
    ) -> Result<Vec<Term>, Interrupt> {
        let zero = self.pool.bv(8, 0);
        let mut bytes = Vec::new();
        for offset in 0.. {
            let here = self.pool.bv(64, offset);
            let inside = self.pool.ult(here, length);
            if !self.looks_at(state, offset, inside)? {
                break;
            }
            if self.is_dead(state, inside) {
                break;
            }
            let byte = self.byte_at(state, text, offset, inside, &mut Traps::none())?;
            let Some(byte) = byte else { break };
            bytes.push(self.pool.ite(inside, byte, zero));
        }
        Ok(bytes)
    }
}
