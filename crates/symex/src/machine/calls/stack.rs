//! Objects and values that come into being while a function runs: arrays of variable length,
//! variable arguments, and the unknown results of inline assembly.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::{Traps, Undetermined, sort_of, undefined_symbol};
use lydian_inputs::{Bound, Reach, VariableRead, variable_argument};
use lydian_ir::stmt::{Havoc, MAX_OBJECT};
use lydian_ir::variadic::{self, Area, Class, Room};
use lydian_ir::{CTypeId, ExprId, FuncId, LocalId, TrapKind};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Sort, Term};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::interrupt::Interrupt;
use crate::machine::libc::{AllocationSize, ROOM};
use crate::machine::memory::AccessKind;
use crate::machine::memory::{
    Background, Contents, LEFT_BY_ASSEMBLY, NewObject, ObjectId, ObjectKind, Region, Resolution,
};
use crate::machine::program::context::Context;
use crate::machine::state::{Notes, State};

/// The arguments of a call after its fixed ones.
pub(crate) struct VariableArguments {
    area: Area,
    values: Vec<VariableArgument>,
}

/// One argument.
enum VariableArgument {
    Value(Term),
    /// A struct or union, copied from this address.
    From(Resolution),
}

impl<N: Notes> Machine<'_, '_, N> {
    /// Executes `Stmt::Alloca`. A size that depends on the input is a length of the object, as for
    /// `malloc`. The path is split where the size may be invalid, or greater than the room that
    /// such an object has.
    pub(crate) fn alloca(
        &mut self,
        state: &mut State<N>,
        dst: LocalId,
        size: ExprId,
        array: bool,
    ) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let size = self.eval(state, size, &mut traps)?;
        let least = self.pool.bv(64, u64::from(array));
        let most = self.pool.bv(64, MAX_OBJECT);
        let (small, large) = (self.pool.slt(size, least), self.pool.ugt(size, most));
        let bad = self.pool.or(small, large);
        traps.add(&self.pool, TrapKind::BadSize, bad);
        self.leave_traps(state, &traps)?;
        let size = self.within_room(state, size)?;
        let Some(size) = self.size_of_allocation(state, size)? else {
            return Err(self.trapped(state, TrapKind::BadSize));
        };
        let (size, length) = match size {
            AllocationSize::Known(size) => (size, None),
            AllocationSize::Symbolic(length, room) => (room, Some(length)),
        };
        let name = self.body(state).locals[dst].name.clone();
        let object = self.make_object(state, size, length, &name)?;
        let address = self.pool.bv(64, state.memory.object(object).base);
        self.set_register(state, dst, address);
        Ok(())
    }

    /// A size that is a constant or at most [`ROOM`]. Where inputs ask for more, the path is split
    /// and one larger size is followed; the others are cut.
    fn within_room(&mut self, state: &mut State<N>, size: Term) -> Result<Term, Interrupt> {
        if self.pool.as_u64(size).is_some() {
            return Ok(size);
        }
        let room = self.pool.bv(64, ROOM);
        let fits = self.pool.ule(size, room);
        if self.split_on(state, fits)? {
            return Ok(size);
        }
        let value = self.value_on_model(state, size);
        let constant = self.pool.bv(64, value);
        let pinned = self.pool.eq(size, constant);
        if state.knowledge().known(&mut self.pool, pinned) != Some(true) {
            if !state.log.is_played() {
                let what = "most lengths of an array on the stack of more than";
                self.cut_ahead(state, Cut::Unsupported(format!("{what} {ROOM} bytes")));
            }
            state.add_fact(&mut self.pool, pinned);
        }
        Ok(constant)
    }

    /// Makes an object of the innermost activation, with indeterminate bytes.
    fn make_object(
        &mut self,
        state: &mut State<N>,
        size: u64,
        length: Option<Term>,
        name: &str,
    ) -> Result<ObjectId, Interrupt> {
        let object = state.memory.allocate(NewObject {
            size,
            alignment: 1,
            length,
            kind: ObjectKind::Local,
            read_only: false,
            name: name.into(),
            contents: Contents::new(Background::Zero),
        });
        let Some(object) = object else { return Err(Interrupt::unsupported("more memory")) };
        let base = state.memory.object(object).base;
        state.memory.object_mut(object).contents = Contents::new(Background::Undefined(base));
        state.frame_mut().made.push(object);
        Ok(object)
    }

    /// Executes `Stmt::Release`.
    pub(crate) fn release(
        &mut self,
        state: &mut State<N>,
        pointer: LocalId,
    ) -> Result<(), Interrupt> {
        let Some(value) = state.frame().registers[pointer.index()] else { return Ok(()) };
        let Some(address) = self.pool.as_u64(value) else {
            return Err(Interrupt::unsupported("the end of an array at an unknown address"));
        };
        let memory = &state.memory;
        let made = state.frame().made.iter();
        let at = made.rev().position(|object| memory.object(*object).base == address);
        if let Some(from_end) = at {
            let made = &mut state.frame_mut().made;
            let object = made.remove(made.len() - 1 - from_end);
            state.memory.release(object);
        }
        let null = self.pool.bv(64, 0);
        self.set_register(state, pointer, null);
        Ok(())
    }

    /// The arguments of a call after its fixed ones; `None` where the function takes no more.
    pub(crate) fn variable_arguments(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        (args, arg_types): (&[Term], &[CTypeId]),
        fixed: usize,
    ) -> Result<Option<VariableArguments>, Interrupt> {
        let program = self.context.program;
        if !variadic::is_variadic(&program.types, program.functions[func].ty) {
            return Ok(None);
        }
        let area = variadic::area(&program.types, arg_types, fixed);
        let mut values = Vec::with_capacity(area.slots.len());
        let mut traps = Traps::none();
        for slot in &area.slots {
            let arg = args[slot.argument];
            if !slot.by_address {
                values.push(VariableArgument::Value(arg));
                continue;
            }
            let from = self.resolve(state, arg)?;
            if slot.size > 0 {
                self.note_access(state, &from, slot.size, AccessKind::Read);
                state.memory.access_traps(
                    &mut self.pool,
                    &from,
                    slot.size,
                    AccessKind::Read,
                    &mut traps,
                );
            }
            values.push(VariableArgument::From(from));
        }
        self.leave_traps(state, &traps)?;
        Ok(Some(VariableArguments { area, values }))
    }

    /// Makes the variable arguments of the new activation.
    pub(crate) fn pass_variable(
        &mut self,
        state: &mut State<N>,
        arguments: Option<VariableArguments>,
    ) -> Result<(), Interrupt> {
        let Some(VariableArguments { area, values }) = arguments else { return Ok(()) };
        let object = self.make_object(state, area.size, None, "...")?;
        state.frame_mut().variable = state.memory.object(object).base;
        let all = self.resolution_of(object);
        for (slot, value) in area.slots.iter().zip(values) {
            let to = all.shifted(slot.offset);
            match value {
                VariableArgument::Value(value) if slot.size > 0 => {
                    state.memory.store(&mut self.pool, &to, slot.size, value);
                }
                VariableArgument::From(from) if slot.size > 0 => {
                    state.memory.copy(&mut self.pool, &to, &from, slot.size);
                }
                VariableArgument::Value(_) | VariableArgument::From(_) => {}
            }
        }
        Ok(())
    }

    /// Makes room for the variable arguments of the function under test. They are made where
    /// `va_arg` reads them ([`Self::va_arg`]).
    pub(crate) fn open_variable(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
    ) -> Result<(), Interrupt> {
        let program = self.context.program;
        if !variadic::is_variadic(&program.types, program.functions[func].ty) {
            return Ok(());
        }
        let room = room_bytes(variadic::room(program, func));
        let object = self.make_object(state, room, None, "...")?;
        let object = state.memory.object(object).base;
        state.frame_mut().variable = object;
        // Only code that does not use `va_arg` accesses this memory.
        let reach = Reach::Behind { object, from: room, element: 1 };
        let name = &program.functions[func].name;
        let sentence = format!("{name} is given at most {room} bytes of arguments for `...`");
        let assumption = Assumption::new(AssumptionKind::Size, name, sentence);
        self.add_on_path(&[Bound { assumption, reach, shown: false }]);
        Ok(())
    }

    /// Executes `Stmt::VaArg`. Where the path has read all variable arguments of the function under
    /// test that exist so far, it gets one more: an input of the type that is read.
    ///
    /// So a path has exactly the arguments that it reads, which are all that it can observe. It
    /// would not notice more of them, and with fewer or others the call would be undefined. An
    /// argument that cannot be an input (another type, more than there is room for, or two reads
    /// with different types) cuts the path, so that nothing is infeasible because it is missing.
    /// Memory that is read without `va_arg` has no value, or lies behind a bound.
    pub(crate) fn va_arg(
        &mut self,
        state: &mut State<N>,
        at: ExprId,
        ty: CTypeId,
    ) -> Result<(), Interrupt> {
        let Some(root) = state.frames.first().filter(|root| root.variable != 0) else {
            return Ok(());
        };
        let (first, func) = (root.variable, root.func);
        let mut traps = Traps::none();
        let at = self.eval(state, at, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let program = self.context.program;
        let room = variadic::room(program, func);
        let Some(at) = self.pool.as_u64(at) else {
            return Err(Interrupt::unsupported("an argument for `...` whose place is not known"));
        };
        let Some(offset) = at.checked_sub(first).filter(|at| *at <= room_bytes(room)) else {
            return Ok(()); // one of a call on the path
        };
        let types = &program.types;
        let passed: Vec<CTypeId> = state.variable_arguments().map(|argument| argument.ty).collect();
        let area = variadic::area(types, &passed, 0);
        if let Some(known) = area.slots.iter().position(|slot| slot.offset == offset) {
            let same = types.scalar(passed[known]) == types.scalar(ty);
            return match same {
                true => Ok(()),
                false => {
                    Err(Interrupt::unsupported("an argument for `...` that is read with two types"))
                }
            };
        }
        if offset != area.size {
            return Err(Interrupt::unsupported(
                "arguments for `...` that are not read in their order",
            ));
        }
        let Some(class) = variadic::class(types, ty) else {
            let ty = types.spell(ty, "");
            return Err(Interrupt::unsupported(format!("an argument of type `{ty}` for `...`")));
        };
        let (most, what) = match class {
            Class::Word => (room.words, "numbers and pointers"),
            Class::Float => (room.floats, "`double`s"),
        };
        let alike = passed.iter().filter(|ty| variadic::class(types, **ty) == Some(class)).count();
        if alike >= most {
            return Err(Interrupt::unsupported(format!("more than {most} {what} for `...`")));
        }
        self.give_argument(state, func, (first, offset), ty)
    }

    /// Makes one more variable argument, at an offset from the first.
    fn give_argument(
        &mut self,
        state: &mut State<N>,
        function: FuncId,
        (first, offset): (u64, u64),
        ty: CTypeId,
    ) -> Result<(), Interrupt> {
        let Context { program, spec, .. } = &self.context;
        let nth = state.variable_arguments().count() as u32;
        let read = VariableRead { function, nth, ty, cursor: state.inputs.cursor };
        let plan = variable_argument(&mut self.pool, program, read, spec, &self.context);
        let plan = plan.map_err(|error| Interrupt::unsupported(error.to_string()))?;
        self.take_inputs(state, &plan)?;
        let object = state.memory.object_near(first);
        let object =
            object.ok_or_else(|| Interrupt::unsupported("arguments for `...` that ended"))?;
        let object = state.memory.object_mut(object);
        for cell in &plan.cells {
            object.contents.write(
                &mut self.pool,
                offset + cell.offset,
                cell.ty.bytes(),
                cell.value,
            );
        }
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        Ok(())
    }

    /// Executes `Stmt::VaStart`.
    pub(crate) fn va_start(&mut self, state: &mut State<N>, list: ExprId) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let list = self.eval(state, list, &mut traps)?;
        let target = self.context.program.types.target;
        let to = self.resolve_for_write(state, list, variadic::list_bytes(target), &mut traps)?;
        self.leave_traps(state, &traps)?;
        for variadic::ListWord { offset, size, value } in
            variadic::started(target, state.frame().variable)
        {
            let value = self.pool.bv(size as u32 * 8, value);
            state.memory.store(&mut self.pool, &to.shifted(offset), size, value);
        }
        Ok(())
    }

    /// Executes `Stmt::Havoc`: sets values that the engine does not compute. Labels that depend on
    /// them are not claimed as covered, but the path's test is given and measured.
    pub(crate) fn havoc(&mut self, state: &mut State<N>, havoc: &Havoc) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let mut places = Vec::with_capacity(havoc.places.len());
        for (addr, size) in &havoc.places {
            let addr = self.eval(state, *addr, &mut traps)?;
            places.push((self.resolve_for_write(state, addr, *size, &mut traps)?, *size));
        }
        self.leave_traps(state, &traps)?;
        let here = self.text_at(state);
        let havocs = &mut self.havocs;
        let number = state.log.answer(Question::Havoc, || {
            *havocs += 1;
            *havocs
        });
        for register in &havoc.registers {
            let ty = self.register_type(state, *register);
            let name = format!("{number}.{register}");
            let value =
                undefined_symbol(&mut self.pool, Undetermined::Assembly, &name, sort_of(ty));
            self.reads.note(&mut self.pool, value, || here);
            self.set_register(state, *register, value);
        }
        for (index, (to, size)) in places.iter().enumerate() {
            for offset in 0..*size {
                let name = format!("{number}.{index}+{offset}");
                let sort = Sort::BitVec(8);
                let byte = undefined_symbol(&mut self.pool, Undetermined::Assembly, &name, sort);
                self.reads.note(&mut self.pool, byte, || here);
                state.memory.store(&mut self.pool, &to.shifted(offset), 1, byte);
            }
        }
        if havoc.memory {
            forget_memory(state, number);
        }
        state.claims.keep = true;
        Ok(())
    }
}

/// The bytes of the most variable arguments of a class that there can be.
const fn room_bytes(room: Room) -> u64 {
    8 * (room.words + room.floats) as u64
}

/// Makes the contents of all writable memory unknown.
fn forget_memory<N: Notes>(state: &mut State<N>, number: u64) {
    for region in [Region::Input, Region::Global, Region::Dynamic, Region::Lazy] {
        let objects = state.memory.objects(region);
        let writable = objects.filter(|(_, object)| object.alive && !object.read_only);
        let writable: Vec<ObjectId> = writable.map(|(id, _)| id).collect();
        for (index, id) in writable.into_iter().enumerate() {
            // The number is no object's address, and differs from that of any other place.
            let name = LEFT_BY_ASSEMBLY | number << 24 | (region as u64) << 22 | index as u64;
            state.memory.object_mut(id).contents = Contents::new(Background::Undefined(name));
        }
    }
}

/// Ends the innermost activation and the lifetime of its objects.
pub(crate) fn leave_frame<N: Notes>(state: &mut State<N>) {
    let Some(frame) = state.frames.pop() else { return };
    state.notes.leave(frame.serial);
    frame.made.iter().rev().for_each(|object| state.memory.release(*object));
    let locals = frame.objects.iter().flatten();
    let locals: Vec<ObjectId> = locals.copied().collect();
    locals.into_iter().rev().for_each(|object| state.memory.release(object));
}
