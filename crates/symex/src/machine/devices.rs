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
use lydian_ir::device::{DEVICE_READ, DevicePlace, FIRST_ADDRESS, ReadPlace, is_device};
use lydian_ir::{GlobalId, LocalId, Target, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::machine::Machine;
use crate::machine::evaluation::{as_read, is_named_by_the_program};
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{
    AddressTarget, Candidate, NULL_PAGE, ObjectKind, Offset, flatten_address,
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

/// What volatile memory is, if it lies in objects.
pub(crate) enum VolatileMemory {
    /// Each read is an input.
    Input(ReadPlace),
    /// Nobody else has it.
    Kept,
    /// Others may write it; what is read there again is not known.
    Other,
}

impl<N: Notes> StateView<'_, '_, N> {
    /// The device at an address; none if an object or nothing is there. The path is split where that
    /// depends on the input.
    pub(crate) fn device_at(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
    ) -> Result<Option<DevicePlace>, Stop> {
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
        let Some((guard, address, offset)) = named.next() else { return Ok(None) };
        if alternatives.len() > 1 {
            return Err(self.split_by_model(pool, guard));
        }
        let Some(offset) = offset else { return self.device_of(address).map(Some) };
        if let Some(offset) = pool.as_u64(offset) {
            return self.device_of(address.wrapping_add(offset)).map(Some);
        }
        // The registers of a device are told apart.
        let distance = self.value_on_model(pool, offset);
        let chosen = pool.bv(64, distance);
        let is_chosen = pool.eq(offset, chosen);
        match self.state.knowledge().known(pool, is_chosen) {
            Some(true) => self.device_of(address.wrapping_add(distance)).map(Some),
            _ => Err(Stop::Split(is_chosen, None)),
        }
    }

    fn device_of(&self, address: u64) -> Result<DevicePlace, Stop> {
        let target = self.context.program.types.target;
        match is_device(target, address) {
            true => Ok(DevicePlace { address }),
            false => Err(Stop::Unsupported(unsupported(target, address))),
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
        let memory = &self.state.memory;
        let [Candidate { object, offset, .. }] = found.candidates[..] else {
            return Ok(VolatileMemory::Other);
        };
        let (kind, base) = (memory.object(object).kind, memory.object(object).base);
        let Context { program, globals, volatile, .. } = &self.context;
        match kind {
            ObjectKind::Local => {
                let frames = self.state.frames.iter();
                let of_frame = |frame: &Arc<Frame>| {
                    let at = frame.objects.iter().position(|known| *known == Some(object))?;
                    Some((frame.func, LocalId::from_index(at)))
                };
                let local = frames.rev().find_map(of_frame);
                let is_kept = local.is_some_and(|(func, local)| volatile.keeps_local(func, local));
                Ok(if is_kept { VolatileMemory::Kept } else { VolatileMemory::Other })
            }
            ObjectKind::Global => {
                let global = globals.iter().position(|at| *at == base).map(GlobalId::from_index);
                let Some(global) = global else { return Ok(VolatileMemory::Other) };
                if volatile.keeps_static(program, global) {
                    return Ok(VolatileMemory::Kept);
                }
                let Offset::Known(start) = offset else { return Ok(VolatileMemory::Other) };
                let Ok(start) = u64::try_from(start) else { return Ok(VolatileMemory::Other) };
                let bytes = start..start + ty.bytes();
                let is_number = ty != Type::Ptr && ty.bytes() <= WIDEST;
                let target = program.types.target == Target::X86_64;
                if !(target && is_number && volatile.is_input(program, global, bytes)) {
                    return Ok(VolatileMemory::Other);
                }
                let name = program.globals[global].name.clone();
                Ok(VolatileMemory::Input(ReadPlace::Variable(name, start)))
            }
            _ => Ok(VolatileMemory::Other),
        }
    }

    /// The value that the next read of a script gives at a place.
    pub(crate) fn script_value_at(
        &mut self,
        pool: &mut TermPool,
        place: &ReadPlace,
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
        let value = script_value(pool, self.state.calls_of(DEVICE_READ), ty);
        Ok(as_read(pool, ty, value))
    }
}

/// The input that the `nth` read of a path gives.
fn script_value(pool: &mut TermPool, nth: u32, ty: Type) -> Term {
    let bits = ty.bytes() as u32 * 8;
    if ty == Type::BOOL {
        // No other byte is a truth value.
        let truth = pool.var(&format!("{DEVICE_READ}1#{nth}"), Sort::BitVec(1));
        return pool.resize_unsigned(truth, bits);
    }
    pool.var(&format!("{DEVICE_READ}{bits}#{nth}"), Sort::BitVec(bits))
}

impl<N: Notes> Machine<'_, '_, N> {
    /// The device at an address.
    pub(crate) fn device_at(
        &mut self,
        state: &mut State<N>,
        addr: Term,
    ) -> Result<Option<DevicePlace>, Interrupt> {
        let (mut scope, pool) = self.scope(state);
        let device = scope.device_at(pool, addr);
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

    /// A read was made: its value is part of the script. Returns the value's bytes.
    pub(crate) fn take_script_read(
        &mut self,
        state: &mut State<N>,
        place: &ReadPlace,
        ty: Type,
    ) -> Term {
        let nth = state.calls_of(DEVICE_READ);
        let value = script_value(&mut self.pool, nth, ty);
        let cell = CellPlan { offset: 0, ty: Type::Int(ty.bytes() as u8 * 8), value };
        let plan = self.input_plan(state, DEVICE_READ, place.to_string(), ty.bytes(), vec![cell]);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        value
    }
}
