//! The effect of one statement, of a call and of a return on a simulated state.

use lydian_base::EntityId;
use lydian_eval::expr::insert_bit_field;
use lydian_eval::{Traps, sort_of};
use lydian_ir::libc::MOST_OF_A_BLOCK;
use lydian_ir::stmt::MAX_OBJECT;
use lydian_ir::{BitField, ExprId, LocalId, Stmt, StmtId, Storage, Target, TrapKind, Type};
use lydian_smt::{Term, TermPool};

use crate::encode::ids::{InstanceId, ObjectId};
use crate::encode::machine::Machine;
use crate::encode::memory::initial::zero;
use crate::encode::pointers::objects::ObjectKind;
use crate::encode::pointers::{Place, Targets};
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;

/// An argument of a call.
struct Argument {
    caller: InstanceId,
    expr: ExprId,
    value: Term,
}

impl Machine<'_, '_> {
    /// Executes a statement. A call is one that is not inlined.
    pub(crate) fn stmt(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, id): (InstanceId, StmtId),
    ) {
        let body = self.analysed.inlined.instances[instance].body;
        match &body.stmts[id] {
            Stmt::Assign { dst, value } => {
                let value = self.eval(pool, state, (instance, *value));
                self.set_register(state, (instance, *dst), value);
            }
            Stmt::Store { addr, value: value_expr, ty, volatile } => {
                let value = self.eval(pool, state, (instance, *value_expr));
                let addr_term = self.eval_address(pool, state, (instance, *addr));
                let targets = self.targets((instance, *addr));
                let beyond = self.beyond_with_pointers(&targets);
                let outside = self.outside_of(pool, state, &targets);
                // A number that traps here may be a device's address elsewhere.
                let traps = self.store_anyway(pool, state, (addr_term, &targets), (*ty, value));
                if !(*volatile && targets.contains_key(&Place::Unknown)) {
                    Self::leave(pool, state, &traps);
                }
                if let Some(before) = outside {
                    let at = (instance, *value_expr);
                    let bits = self.bits_for_outside(pool, at, (*ty, value));
                    self.write_outside(pool, state, before, (addr_term, bits));
                }
                if let Some(beyond) = beyond {
                    self.havoc_where(pool, state, &targets, beyond);
                }
            }
            Stmt::StoreBits { addr, field, value } => {
                let value = self.eval(pool, state, (instance, *value));
                self.store_bits(pool, state, (instance, *addr), (*field, value));
            }
            Stmt::Copy { dst, src, size } => {
                let from = self.eval(pool, state, (instance, *src));
                let to = self.eval(pool, state, (instance, *dst));
                let from_targets = self.targets((instance, *src));
                let to_targets = self.targets((instance, *dst));
                self.copy(pool, state, ((to, &to_targets), (from, &from_targets)), *size);
            }
            Stmt::Zero { dst, size } => {
                let to = self.eval(pool, state, (instance, *dst));
                let targets = self.targets((instance, *dst));
                let byte = pool.bv(8, 0);
                self.fill(pool, state, (to, &targets), (byte, *size));
            }
            Stmt::Call { .. } => self.call(pool, state, (instance, id)),
            Stmt::Enter(local) => self.reset_memory(state, (instance, *local)),
            Stmt::Alloca { dst, size, array, .. } => {
                let size = self.eval(pool, state, (instance, *size));
                self.check_size(pool, state, size, *array);
                let pointer = self.allocate(pool, state, (instance, id), size);
                self.set_register(state, (instance, *dst), pointer);
            }
            Stmt::Release { pointer } => {
                let null = pool.bv(64, 0);
                self.set_register(state, (instance, *pointer), null);
            }
            Stmt::VaStart { list } => {
                self.more("variable arguments are read");
                self.havoc_targets(state, &self.targets((instance, *list)));
            }
            Stmt::Havoc(havoc) => {
                self.more("inline assembly");
                for register in &havoc.registers {
                    let slot = self.slot(SlotKind::Register(instance, *register));
                    state.set(slot, None);
                }
                for (addr, _) in &havoc.places {
                    self.havoc_targets(state, &self.targets((instance, *addr)));
                }
                if havoc.memory {
                    self.havoc_outside(state);
                    self.havoc_escaped(state);
                }
            }
            Stmt::Mark(_) | Stmt::Leave(_) | Stmt::VaArg { .. } => {}
        }
    }

    pub(crate) fn set_register(
        &self,
        state: &mut State,
        (instance, local): (InstanceId, LocalId),
        value: Term,
    ) {
        let slot = self.slot(SlotKind::Register(instance, local));
        state.set(slot, Some(value));
    }

    /// Gives any contents to what an address may point into.
    pub(crate) fn havoc_targets(&self, state: &mut State, targets: &Targets) {
        for place in targets.keys() {
            match place {
                Place::Object(object) => self.havoc_object(state, *object),
                Place::Unknown => {
                    self.havoc_outside(state);
                    self.havoc_escaped(state);
                }
                Place::Function(_) => {}
            }
        }
    }

    /// Gives any contents to the objects among some targets where a condition holds.
    fn havoc_where(&self, pool: &mut TermPool, state: &mut State, targets: &Targets, on: Term) {
        for place in targets.keys() {
            let Place::Object(object) = place else { continue };
            for slot in self.analysed.slots.of_object(self.analysed.layouts, *object) {
                let any = self.any_value(pool, slot);
                self.set_where(pool, state, on, (slot, any));
            }
        }
    }

    /// A memory local has no value yet.
    fn reset_memory(&self, state: &mut State, (instance, local): (InstanceId, LocalId)) {
        if let Some(object) = self.analysed.objects.of(ObjectKind::Local(instance, local)) {
            self.havoc_object(state, object);
        }
    }

    fn store_bits(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        at: (InstanceId, ExprId),
        (field, value): (BitField, Term),
    ) {
        let addr = self.eval_address(pool, state, at);
        let targets = self.targets(at);
        let beyond = self.beyond_with_pointers(&targets);
        let size = field.bytes();
        let mut traps = Traps::none();
        let found = self.resolve_for_write(pool, state, (addr, &targets), size, &mut traps);
        Self::leave(pool, state, &traps);
        let outside = self.outside_of(pool, state, &targets);
        let value = lydian_eval::to_bytes(pool, value);
        self.write_to_all(pool, state, &found, |machine, pool, state, candidate| {
            let old = machine.read_bits(pool, state, candidate, size);
            let new = insert_bit_field(pool, field, old, value);
            machine.write_bits(pool, state, candidate, (new, size));
        });
        if let (Some(before), Some(slot)) = (outside, self.analysed.slots.of(SlotKind::Outside)) {
            state.set(slot, Some(before));
            let old = self.read_outside(pool, state, addr, size);
            let new = insert_bit_field(pool, field, old, value);
            self.write_outside(pool, state, before, (addr, new));
        }
        if let Some(beyond) = beyond {
            self.havoc_where(pool, state, &targets, beyond);
        }
    }

    /// Ends the path where an object on the stack has no possible size.
    fn check_size(&mut self, pool: &mut TermPool, state: &mut State, size: Term, array: bool) {
        let width = pool.width(size);
        let zero = pool.bv(width, 0);
        let least = if array { pool.sle(size, zero) } else { pool.slt(size, zero) };
        let most = match self.target() {
            Target::X86_64 => MAX_OBJECT.min(self.analysed.objects.region()),
            // What is more than a region is given up where it is allocated.
            Target::I386 => MAX_OBJECT,
        };
        let most = pool.bv(width, most);
        let too_large = pool.sgt(size, most);
        let mut traps = Traps::none();
        traps.add(pool, TrapKind::BadSize, least);
        traps.add(pool, TrapKind::BadSize, too_large);
        Self::leave(pool, state, &traps);
    }

    /// Makes a block of a size, and returns its address.
    pub(crate) fn allocate(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, stmt): (InstanceId, StmtId),
        size: Term,
    ) -> Term {
        let objects = self.analysed.objects;
        let object = objects.of(ObjectKind::Allocated(instance, stmt));
        let Some((object, site)) =
            object.and_then(|object| Some((object, *objects.sites.get(&object)?)))
        else {
            return Self::anything(pool, sort_of(Type::Ptr));
        };
        let size = pool.resize_unsigned(size, 64);
        let base = pool.bv(64, objects.all[object].base);
        let slot = self.slot(SlotKind::End(object));
        if !site.repeats {
            self.give_up_beyond(pool, state, size);
            state.set(slot, Some(size));
            self.reset_block(pool, state, object, site.zeroed);
            return base;
        }
        let end = self.value(pool, state, slot);
        let step = match site.size {
            Some(_) => pool.bv(64, site.step()),
            None => {
                // The next multiple of 16 that leaves a gap.
                let (gap, mask) = (pool.bv(64, 31), pool.bv(64, !15));
                let past = pool.add(size, gap);
                pool.bvand(past, mask)
            }
        };
        let next = pool.add(end, step);
        self.give_up_beyond(pool, state, next);
        state.set(slot, Some(next));
        pool.add(base, end)
    }

    /// The contents of a block that is the only one of its place.
    fn reset_block(&self, pool: &mut TermPool, state: &mut State, object: ObjectId, zeroed: bool) {
        for slot in self.analysed.slots.of_object(self.analysed.layouts, object) {
            let sort = self.analysed.slots.all[slot].sort;
            let value = zeroed.then(|| zero(pool, sort));
            state.set(slot, value);
        }
    }

    /// On 32-bit targets, regions may be too small for what a program allocates. Every goal counts as
    /// reached there.
    fn give_up_beyond(&mut self, pool: &mut TermPool, state: &mut State, end: Term) {
        if self.target() != Target::I386 {
            return;
        }
        let region = pool.bv(64, self.analysed.objects.region());
        let beyond = pool.ugt(end, region);
        if pool.as_bool(beyond) == Some(false) {
            return;
        }
        self.more("more memory is allocated at one place than is told apart");
        let mut there = state.clone();
        there.assume(pool, beyond);
        let condition = there.guard(pool);
        self.goals.hit_all(pool, condition, self.reads.len());
        let inside = pool.not(beyond);
        state.assume(pool, inside);
    }

    /// Whether an allocation of a size fails, and the block's address where it does not.
    pub(crate) fn try_allocate(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        at: (InstanceId, StmtId),
        size: Term,
    ) -> Term {
        let size = pool.resize_unsigned(size, 64);
        let most = pool.bv(64, MOST_OF_A_BLOCK);
        let fits = pool.ule(size, most);
        let zero = pool.bv(64, 0);
        // A block that is too large is not made: its place stays empty.
        let taken = pool.ite(fits, size, zero);
        let pointer = self.allocate(pool, state, at, taken);
        let succeeds = match self.request.rules.allocation_succeeds {
            true => fits,
            false => {
                let any = pool.fresh_var("allocates", lydian_smt::Sort::Bool);
                pool.and(fits, any)
            }
        };
        pool.ite(succeeds, pointer, zero)
    }

    /// Begins a call of an instance.
    pub(crate) fn begin_call(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (caller, stmt): (InstanceId, StmtId),
        callee: InstanceId,
    ) {
        let inlined = self.analysed.inlined;
        let Stmt::Call { args, dst_addr, .. } = &inlined.instances[caller].body.stmts[stmt] else {
            return;
        };
        let values: Vec<Term> =
            args.iter().map(|arg| self.eval(pool, state, (caller, *arg))).collect();
        let result = dst_addr.map(|addr| self.eval(pool, state, (caller, addr)));
        let body = inlined.instances[callee].body;
        for (local, content) in body.locals.iter() {
            match content.storage {
                Storage::Register(_) => {
                    let slot = self.slot(SlotKind::Register(callee, local));
                    state.set(slot, None);
                }
                Storage::Memory { .. } => self.reset_memory(state, (callee, local)),
            }
        }
        let slot = self.slot(SlotKind::ResultAddress(callee));
        state.set(slot, result);
        for ((param, arg), value) in body.params.iter().zip(args).zip(values) {
            let arg = Argument { caller, expr: *arg, value };
            self.pass(pool, state, (callee, *param), arg);
        }
    }

    /// Gives a parameter its value.
    fn pass(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (callee, param): (InstanceId, LocalId),
        Argument { caller, expr, value }: Argument,
    ) {
        let local = &self.analysed.inlined.instances[callee].body.locals[param];
        match local.storage {
            Storage::Register(ty) => {
                let value = self.coerced(pool, value, sort_of(ty));
                self.set_register(state, (callee, param), value);
            }
            Storage::Memory { size, .. } => {
                let Some(object) = self.analysed.objects.of(ObjectKind::Local(callee, param))
                else {
                    return;
                };
                let base = pool.bv(64, self.analysed.objects.all[object].base);
                let to: Targets = std::iter::once((
                    Place::Object(object),
                    crate::encode::pointers::offset::Offset::ZERO,
                ))
                .collect();
                let types = &self.analysed.inlined.program.types;
                if let Some(ty) = types.scalar(local.ty) {
                    let value = self.coerced(pool, value, sort_of(ty));
                    self.store(pool, state, (base, &to), (ty, value));
                } else {
                    let from = self.targets((caller, expr));
                    self.copy(pool, state, ((base, &to), (value, &from)), size);
                }
            }
        }
    }

    /// Ends a call of an instance with a value.
    pub(crate) fn end_call(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        instance: InstanceId,
        value: Option<ExprId>,
    ) {
        let inlined = self.analysed.inlined;
        let result = value.map(|value| self.eval(pool, state, (instance, value)));
        let Some((caller, Stmt::Call { dst, dst_addr, .. })) = inlined.call_of(instance) else {
            return self.return_recursive(pool, state, instance, result);
        };
        if let Some(dst) = dst {
            let slot = self.slot(SlotKind::Register(caller, *dst));
            self.set_coerced(pool, state, slot, result);
        }
        if let (Some(addr), Some(value), Some(from)) = (dst_addr, value, result) {
            let slot = self.slot(SlotKind::ResultAddress(instance));
            let to = self.value(pool, state, slot);
            let size = inlined.result_size(instance).unwrap_or(0);
            let (to_targets, from_targets) =
                (self.targets((caller, *addr)), self.targets((instance, value)));
            self.copy(pool, state, ((to, &to_targets), (from, &from_targets)), size);
        }
    }

    /// A name for a place, for people.
    pub(crate) fn place_name(&self, instance: InstanceId, block: lydian_ir::BlockId) -> String {
        format!("{}:{}", self.analysed.inlined.instances[instance].name, block.index())
    }
}
