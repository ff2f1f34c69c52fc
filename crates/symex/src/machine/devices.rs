//! Devices: memory at addresses that the program names as numbers ([`lydian_ir::device`]).
//!
//! Each volatile read is an input of its own, the next of the test's script. A volatile write changes
//! nothing that the program sees: what it reads there later is another input. So a path knows nothing of
//! a device but its script, and two paths with the same registers, memory and facts go on in the same
//! way whatever they read before.
//!
//! Other accesses of such memory are not followed.

use std::sync::Arc;

use lydian_inputs::CellPlan;
use lydian_ir::device::{DEVICE_READ, DevicePlace, FIRST_ADDRESS, is_device};
use lydian_ir::{Target, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::machine::Machine;
use crate::machine::evaluation::{as_read, is_named_by_the_program};
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{AddressTarget, NULL_PAGE, flatten_address};
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::{Notes, State};

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

    /// The value that the next read of a device gives.
    pub(crate) fn device_value(
        &mut self,
        pool: &mut TermPool,
        device: DevicePlace,
        ty: Type,
    ) -> Result<Term, Stop> {
        if self.state.log.is_in_predicate() {
            let what = format!("a predicate that reads the device at {device}");
            return Err(Stop::Unsupported(what));
        }
        if ty == Type::Ptr || ty.bytes() > WIDEST {
            let what = format!("a pointer or wide number that is read from the device at {device}");
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

    /// A read was made: its value is part of the script.
    pub(crate) fn take_device_read(&mut self, state: &mut State<N>, device: DevicePlace, ty: Type) {
        let nth = state.calls_of(DEVICE_READ);
        let value = script_value(&mut self.pool, nth, ty);
        let cell = CellPlan { offset: 0, ty: Type::Int(ty.bytes() as u8 * 8), value };
        let place = device.to_string();
        let plan = self.input_plan(state, DEVICE_READ, place, ty.bytes(), vec![cell]);
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
    }
}
