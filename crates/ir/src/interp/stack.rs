//! What is made on the stack while a function runs: arrays of variable length, and the variable
//! arguments of a call.

use lydian_base::{EntityId, StopReason};

use super::End;
use super::machine::{Machine, Step, Stop};
use super::memory::{Bytes, Place, Region};
use super::plan::Value;
use crate::ctype::CTypeId;
use crate::expr::ExprId;
use crate::function::LocalId;
use crate::program::FuncId;
use crate::stmt::{MAX_OBJECT, TrapKind};
use crate::variadic;

impl Machine<'_> {
    /// `Stmt::Alloca`.
    pub(super) fn alloca(
        &mut self,
        dst: LocalId,
        size: ExprId,
        align: u64,
        array: bool,
    ) -> Step<()> {
        let size = self.eval(size)? as u64 as i64;
        if size < i64::from(array) || size as u64 > MAX_OBJECT {
            return Err(TrapKind::BadSize.into());
        }
        let bits = u128::from(self.stack_object(size as u64, align)?);
        self.frame().registers[dst.index()] = Value { bits, uninitialised: false };
        Ok(())
    }

    /// An object of the newest frame, with bytes that were never written; its address.
    fn stack_object(&mut self, size: u64, align: u64) -> Step<u64> {
        self.used = self.used.saturating_add(size);
        if self.used > self.max_memory() {
            return Err(Stop::End(End::Stopped(StopReason::Memory(self.max_memory()))));
        }
        let (object, address) = self.memory.reserve(size, align);
        self.memory.object_mut(Region::Stack, object).begin();
        Ok(address)
    }

    /// `Stmt::Release`.
    pub(super) fn release(&mut self, pointer: LocalId) {
        let address = self.frame().registers[pointer.index()].bits as u64;
        self.frame().registers[pointer.index()] = Value { bits: 0, uninitialised: false };
        if let Place::Object(Region::Stack, index, 0) = self.memory.place(address) {
            let object = self.memory.object_mut(Region::Stack, index);
            let size = object.size;
            object.end();
            self.used = self.used.saturating_sub(size);
        }
    }

    /// The bytes of a call's arguments after the fixed ones, read before the callee begins.
    pub(super) fn variable_arguments(
        &self,
        function: FuncId,
        args: &[u128],
        arg_types: &[CTypeId],
        fixed: usize,
    ) -> Step<Vec<Bytes>> {
        let types = &self.program.types;
        if !variadic::is_variadic(types, self.program.functions[function].ty) {
            return Ok(Vec::new());
        }
        let area = variadic::area(types, arg_types, fixed);
        let bytes = |slot: &variadic::Slot| {
            let arg = args.get(slot.argument).copied().unwrap_or(0);
            match slot.by_address {
                true => Ok(self.memory.read(arg as u64, slot.size)?),
                false => {
                    let bytes = arg.to_le_bytes()[..slot.size.min(16) as usize].to_vec();
                    Ok(Bytes { bytes, written: None })
                }
            }
        };
        area.slots.iter().map(bytes).collect()
    }

    /// Makes the variable arguments of the newest frame.
    pub(super) fn pass_variable(
        &mut self,
        function: FuncId,
        arg_types: &[CTypeId],
        fixed: usize,
        images: &[Bytes],
    ) -> Step<()> {
        let types = &self.program.types;
        if !variadic::is_variadic(types, self.program.functions[function].ty) {
            return Ok(());
        }
        let area = variadic::area(types, arg_types, fixed);
        let address = self.stack_object(area.size, area.align)?;
        for (slot, image) in area.slots.iter().zip(images) {
            self.memory.write_as_read(address + slot.offset, image)?;
        }
        self.frame().variable = address;
        Ok(())
    }

    /// `Stmt::VaStart`.
    pub(super) fn va_start(&mut self, list: ExprId) -> Step<()> {
        let list = self.address(list)?;
        let first = self.frame().variable;
        let words = [
            (variadic::GP_OFFSET, 4, u64::from(variadic::GP_USED_UP)),
            (variadic::FP_OFFSET, 4, u64::from(variadic::FP_USED_UP)),
            (variadic::NEXT_ARGUMENT, 8, first),
            (variadic::REGISTER_AREA, 8, 0),
        ];
        for (offset, size, value) in words {
            self.memory.store(list.wrapping_add(offset), size, u128::from(value))?;
        }
        Ok(())
    }
}
