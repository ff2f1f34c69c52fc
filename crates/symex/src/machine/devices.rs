//! Devices: memory at addresses that the program names as numbers ([`lydian_ir::device`]).
//!
//! Each volatile read is an input of its own, the next of the test's script. A volatile write changes
//! nothing that the program sees: what it reads there later is another input. So a path knows nothing of
//! a device but its script, and two paths with the same registers, memory and facts go on in the same
//! way whatever they read before.
//!
//! Other accesses of such memory are not followed.
//!
//! Volatile reads of variables of the program ([`lydian_ir::device::VolatileVariables`]) are inputs in the
//! same way, whoever writes there in between. The value is in memory afterwards. Volatile variables of a
//! function that nobody else has are memory like all other. All other volatile memory has its value the
//! first time, and nothing is claimed of what is read there again.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_inputs::CellPlan;
use lydian_inputs::concretise::{READ_ANYWHERE, read_at};
use lydian_ir::device::{
    ADDRESSES_END, DEVICE_READ, DevicePlace, FIRST_ADDRESS, ReadPlace, ReservedBits, is_device,
};
use lydian_ir::{GlobalId, LocalId, Target, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::machine::Machine;
use crate::machine::evaluation::{as_read, is_named_by_the_program};
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{
    AddressTarget, Candidate, NULL_PAGE, ObjectId, ObjectKind, Offset, flatten_address,
};
use crate::machine::program::context::Context;
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::{Frame, Notes, State};

/// The widest value of a register of a device, in bytes.
const WIDEST: u64 = 8;

/// Why an access of memory at an address that the program names as a number is not followed.
pub(crate) fn unsupported(target: Target, address: u64) -> String {
    let named = format!("memory at {address:#x}, which the program names as a number");
    match (target, address < FIRST_ADDRESS) {
        (Target::X86_64, true) => format!("{named} and this machine cannot map"),
        (Target::X86_64, false) => {
            format!("{named}, and accesses otherwise than as one volatile number")
        }
        _ => named,
    }
}

/// The address of a device.
#[derive(Clone, Copy)]
pub(crate) enum DeviceAddress {
    /// A number.
    At(DevicePlace),
    /// One that depends on the input.
    Anywhere(Term),
}

impl DeviceAddress {
    /// The place for the test's script.
    pub(crate) fn place(self) -> String {
        match self {
            Self::At(place) => place.to_string(),
            Self::Anywhere(_) => READ_ANYWHERE.to_owned(),
        }
    }

    /// The address, where it depends on the input.
    pub(crate) const fn term(self) -> Option<Term> {
        match self {
            Self::At(_) => None,
            Self::Anywhere(address) => Some(address),
        }
    }
}

/// What volatile memory is, if it lies in objects.
pub(crate) enum VolatileMemory {
    /// Each read is an input, at this place of the test.
    Input(String),
    /// Nobody else has it.
    Kept,
    /// Others may write it; what is read there again is not known.
    Other,
}

impl<N: Notes> StateView<'_, '_, N> {
    /// The device at an address of which `size` bytes are accessed; none if an object or nothing is there.
    /// The path is split where that depends on the input.
    pub(crate) fn device_at(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
        size: u64,
    ) -> Result<Option<DeviceAddress>, Stop> {
        if let Some(address) = pool.as_u64(addr).filter(|address| (1..NULL_PAGE).contains(address))
        {
            return self.device_of(address).map(Some);
        }
        let limit = self.context.config.limits.pointer_choices;
        let Some(alternatives) = flatten_address(pool, addr, self.knowledge(), limit) else {
            return Ok(None);
        };
        let mut named = alternatives.iter().filter_map(|(guard, target)| match target {
            AddressTarget::Known(address, offset) if is_named_by_the_program(*address) => {
                Some((*guard, *address, *offset))
            }
            _ => None,
        });
        match (named.next(), &alternatives[..]) {
            (Some((_, address, None)), [_]) => self.device_of(address).map(Some),
            (Some(_), [_]) => self.device_anywhere(pool, addr, size),
            (Some((guard, ..)), _) => Err(self.split_by_model(pool, guard)),
            // A number of the inputs.
            (None, [(_, AddressTarget::Opaque(_))]) if !pool.mentions_address(addr) => {
                self.device_anywhere(pool, addr, size)
            }
            _ => Ok(None),
        }
    }

    fn device_of(&self, address: u64) -> Result<DeviceAddress, Stop> {
        let target = self.context.program.types.target;
        match is_device(target, address) {
            true => Ok(DeviceAddress::At(DevicePlace { address })),
            false => Err(Stop::Unsupported(unsupported(target, address))),
        }
    }

    /// The device at an address that depends on the input, where it is one. What is read does not depend
    /// on the address, so the registers are not told apart.
    fn device_anywhere(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
        size: u64,
    ) -> Result<Option<DeviceAddress>, Stop> {
        if self.context.program.types.target != Target::X86_64 {
            return Ok(None);
        }
        let (first, end) = (pool.bv(64, FIRST_ADDRESS), pool.bv(64, ADDRESSES_END - WIDEST));
        let (begins, ends) = (pool.uge(addr, first), pool.ult(addr, end));
        let (low, zero) = (pool.bv(64, size.next_power_of_two() - 1), pool.bv(64, 0));
        let rest = pool.bvand(addr, low);
        let aligned = pool.eq(rest, zero);
        let inside = pool.and(begins, ends);
        let inside = pool.and(inside, aligned);
        match self.state.knowledge().known(pool, inside) {
            Some(true) => Ok(Some(DeviceAddress::Anywhere(addr))),
            Some(false) => {
                let what = "memory at a number of the inputs that this machine cannot map, or that is \
                            not aligned";
                Err(Stop::Unsupported(what.to_owned()))
            }
            None => Err(self.split_by_model(pool, inside)),
        }
    }

    /// The kind of volatile memory at an address that lies in objects.
    pub(crate) fn volatile_memory(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
        ty: Type,
    ) -> Result<VolatileMemory, Stop> {
        let found = self.resolve(pool, addr, Some(ty))?;
        let candidate = self.one_of_several(pool, &found.candidates)?;
        let Some(Candidate { object, offset, .. }) = candidate else {
            return Ok(VolatileMemory::Other);
        };
        let (kind, base) = {
            let object = self.state.memory.object(object);
            (object.kind, object.base)
        };
        if kind == ObjectKind::Local {
            return Ok(if self.is_kept(object) {
                VolatileMemory::Kept
            } else {
                VolatileMemory::Other
            });
        }
        let Context { program, globals, volatile, .. } = &self.context;
        let global = globals.iter().position(|at| *at == base).map(GlobalId::from_index);
        let global = global.filter(|_| kind == ObjectKind::Global);
        if global.is_some_and(|global| volatile.keeps_static(program, global)) {
            return Ok(VolatileMemory::Kept);
        }
        let is_number = ty != Type::Ptr && ty.bytes() <= WIDEST;
        let is_writable = !self.state.memory.object(object).read_only;
        let is_of_others = matches!(kind, ObjectKind::Input | ObjectKind::Lazy) || global.is_some();
        let target = program.types.target;
        if !(is_number && is_writable && is_of_others && target == Target::X86_64) {
            return Ok(VolatileMemory::Other);
        }
        let start = match offset {
            Offset::Known(start) => start,
            // The elements are told apart.
            Offset::Scaled(_) => self.one_address(pool, addr)?.wrapping_sub(base) as i64,
        };
        // No other handler runs meanwhile.
        if self.state.is_in_handler() {
            return Ok(VolatileMemory::Kept);
        }
        let Some(global) = global else {
            return Ok(VolatileMemory::Input(read_at(base.wrapping_add_signed(start))));
        };
        let Context { program, volatile, .. } = &self.context;
        let start = start as u64;
        let bytes = start..start.wrapping_add(ty.bytes());
        let is_input =
            start < program.globals[global].size && volatile.is_input(program, global, bytes);
        let place = || ReadPlace::Variable(program.globals[global].name.clone(), start).to_string();
        Ok(if is_input { VolatileMemory::Input(place()) } else { VolatileMemory::Other })
    }

    /// The object that is accessed. The path is split on it.
    fn one_of_several(
        &mut self,
        pool: &mut TermPool,
        candidates: &[Candidate],
    ) -> Result<Option<Candidate>, Stop> {
        if candidates.len() < 2 {
            return Ok(candidates.first().copied());
        }
        let mut guards = candidates.iter().map(|candidate| candidate.guard);
        let holds = guards.find(|guard| self.holds_on_model(pool, *guard));
        let guard = holds.unwrap_or(candidates[0].guard);
        match self.state.knowledge().known(pool, guard) {
            Some(true) => Ok(candidates.iter().find(|one| one.guard == guard).copied()),
            Some(false) => Ok(None),
            None => Err(self.split_by_model(pool, guard)),
        }
    }

    /// The number of an address. The path is split on it.
    fn one_address(&mut self, pool: &mut TermPool, addr: Term) -> Result<u64, Stop> {
        let address = self.value_on_model(pool, addr);
        let number = pool.bv(64, address);
        let is_it = pool.eq(addr, number);
        match self.state.knowledge().known(pool, is_it) {
            Some(true) => Ok(address),
            _ => Err(Stop::Split(is_it, None)),
        }
    }

    /// Whether nobody but the function of an automatic variable has its address.
    fn is_kept(&self, object: ObjectId) -> bool {
        let of_frame = |frame: &Arc<Frame>| {
            let at = frame.objects.iter().position(|known| *known == Some(object))?;
            Some((frame.func, LocalId::from_index(at)))
        };
        let local = self.state.frames.iter().rev().find_map(of_frame);
        local.is_some_and(|(func, local)| self.context.volatile.keeps_local(func, local))
    }

    /// The value that the next read of a script gives at a place.
    pub(crate) fn script_value_at(
        &mut self,
        pool: &mut TermPool,
        place: &str,
        ty: Type,
    ) -> Result<Term, Stop> {
        if self.state.log.is_in_predicate() {
            let what = format!("a predicate that reads volatile memory at {place}");
            return Err(Stop::Unsupported(what));
        }
        if ty == Type::Ptr || ty.bytes() > WIDEST {
            let what = format!("a pointer or wide number that is read from the device at {place}");
            return Err(Stop::Unsupported(what));
        }
        let reserved = reserved(self.context, place, ty);
        let value = script_value(pool, self.state.calls_of(DEVICE_READ), ty, reserved);
        Ok(as_read(pool, ty, value))
    }
}

/// The bits of a read at a place that do not vary, as far as they are stated.
fn reserved(context: &Context<'_>, place: &str, ty: Type) -> Option<ReservedBits> {
    match place.parse() {
        Ok(ReadPlace::Device(place)) => context.spec.devices.reserved(place.address, ty.bytes()),
        _ => None,
    }
}

/// The value that the `nth` read of a path gives: an input, but for bits that do not vary.
fn script_value(pool: &mut TermPool, nth: u32, ty: Type, reserved: Option<ReservedBits>) -> Term {
    let bits = ty.bytes() as u32 * 8;
    let input = pool.var(&format!("{DEVICE_READ}{bits}#{nth}"), Sort::BitVec(bits));
    let Some(ReservedBits { mask, value }) = reserved else { return input };
    let (varying, fixed) = (pool.bv(bits, !mask), pool.bv(bits, value));
    let input = pool.bvand(input, varying);
    pool.bvor(input, fixed)
}

impl<N: Notes> Machine<'_, '_, N> {
    /// The device at an address of which `size` bytes are accessed.
    pub(crate) fn device_at(
        &mut self,
        state: &mut State<N>,
        addr: Term,
        size: u64,
    ) -> Result<Option<DeviceAddress>, Interrupt> {
        let (mut scope, pool) = self.scope(state);
        let device = scope.device_at(pool, addr, size);
        device.map_err(|stop| self.stopped(state, stop))
    }

    /// The kind of volatile memory at an address that lies in objects.
    pub(crate) fn volatile_memory(
        &mut self,
        state: &mut State<N>,
        addr: Term,
        ty: Type,
    ) -> Result<VolatileMemory, Interrupt> {
        let (mut scope, pool) = self.scope(state);
        let memory = scope.volatile_memory(pool, addr, ty);
        memory.map_err(|stop| self.stopped(state, stop))
    }

    /// A read was made: its value is part of the script. `address` is that of a place which depends on the
    /// input. Returns the value's bytes.
    pub(crate) fn take_script_read(
        &mut self,
        state: &mut State<N>,
        (place, address): (String, Option<Term>),
        (ty, is_truth_value): (Type, bool),
    ) -> Result<Term, Interrupt> {
        let nth = state.calls_of(DEVICE_READ);
        let reserved = reserved(&self.context, &place, ty);
        let value = script_value(&mut self.pool, nth, ty, reserved);
        let cell = CellPlan { offset: 0, ty: Type::Int(ty.bytes() as u8 * 8), value };
        let address =
            address.map(|value| CellPlan { offset: ty.bytes(), ty: Type::Int(64), value });
        let cells = [cell].into_iter().chain(address).collect();
        let mut plan = self.input_plan(state, DEVICE_READ, place, ty.bytes(), cells);
        if is_truth_value {
            // No other byte is one.
            let one = self.pool.bv(ty.bytes() as u32 * 8, 1);
            plan.constraints.push(self.pool.ule(value, one));
        }
        self.take_inputs(state, &plan)?;
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        Ok(value)
    }

    /// A read was made that finds what a handler of interrupts left in memory: the script says so, too.
    pub(crate) fn note_script_read(
        &self,
        state: &mut State<N>,
        place: String,
        ty: Type,
        value: Term,
    ) {
        let cell = CellPlan { offset: 0, ty, value };
        let plan = self.input_plan(state, DEVICE_READ, place, ty.bytes(), vec![cell]);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
    }
}
