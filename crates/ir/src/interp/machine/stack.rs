//! Objects that are made on the stack while a function runs: arrays of variable length, and the variable
//! arguments of a call.

use crate::interp::code::Code;
use crate::interp::machine::{Machine, Step};
use crate::interp::memory::Bytes;
use crate::interp::slots::{Window, is_wide, read};
use crate::program::stmt::{MAX_OBJECT, Stmt, TrapKind};
use crate::variadic::{self, Area, ListWord};

impl<'p> Machine<'p, '_> {
    /// `Stmt::Alloca`: the address of the object.
    pub(in crate::interp) fn alloca(&mut self, size: i64, align: u64, array: bool) -> Step<u64> {
        if size < i64::from(array) || size as u64 > MAX_OBJECT {
            return Err(TrapKind::BadSize.into());
        }
        self.stack_object(size as u64, align)
    }

    /// An object of the newest frame, with bytes that were never written; its address.
    fn stack_object(&mut self, size: u64, align: u64) -> Step<u64> {
        self.use_bytes(size)?;
        let span = self.memory.push_dynamic(size, align).ok_or(self.no_room())?;
        self.memory.enter(span.base, size);
        let frame = self.frame_mut();
        frame.span.end = span.end;
        frame.bytes += size;
        Ok(span.base)
    }

    /// `Stmt::Release` of the object that a register points to.
    pub(in crate::interp) fn release(&mut self, address: u64) {
        if address == 0 {
            return;
        }
        if let Some(size) = self.memory.end_dynamic(address) {
            self.give_back_bytes(size);
            let frame = self.frame_mut();
            frame.bytes = frame.bytes.saturating_sub(size);
        }
    }

    /// The bytes of a call's arguments after the fixed ones, read before the callee begins.
    pub(in crate::interp) fn variable_arguments(
        &self,
        callee: &Code<'p>,
        caller: &Code<'p>,
        number: u32,
        regs: &Window,
    ) -> Step<Vec<Bytes>> {
        if !callee.params.is_variadic {
            return Ok(Vec::new());
        }
        let site = &caller.sites[number as usize];
        let Stmt::Call { arg_types, .. } = site.stmt else { return Ok(Vec::new()) };
        let types = &self.program.types;
        let fixed = callee.params.slots.len();
        let area = site.variable.get_or_init(|| variadic::area(types, arg_types, fixed));
        let bytes = |slot: &variadic::Slot| {
            let passed = site.args[slot.argument];
            let bits = read(regs, site.at + passed.slot, passed.ty);
            match slot.by_address {
                true => Ok(self.memory.read(bits as u64, slot.size)?),
                false => {
                    let size = slot.size.min(if is_wide(passed.ty) { 16 } else { 8 });
                    Ok(Bytes::written(bits.to_le_bytes()[..size as usize].to_vec()))
                }
            }
        };
        area.slots.iter().map(bytes).collect()
    }

    /// Makes the variable arguments of the newest frame.
    pub(in crate::interp) fn pass_variable(
        &mut self,
        caller: &Code<'p>,
        number: u32,
        callee: &Code<'p>,
        images: &[Bytes],
    ) -> Step<()> {
        let site = &caller.sites[number as usize];
        let Some(area) = site.variable.get().filter(|_| callee.params.is_variadic) else {
            return Ok(());
        };
        let address = self.stack_object(area.size, area.align)?;
        for (slot, image) in area.slots.iter().zip(images) {
            self.memory.write_as_read(address + slot.offset, image)?;
        }
        self.frame_mut().variable = address;
        Ok(())
    }

    /// Makes the variable arguments of the function under test.
    pub(in crate::interp) fn give_variable(&mut self, area: &Area, images: &[Vec<u8>]) -> Step<()> {
        let address = self.stack_object(area.size, area.align)?;
        for (slot, image) in area.slots.iter().zip(images) {
            self.memory.write(address + slot.offset, image)?;
        }
        self.frame_mut().variable = address;
        Ok(())
    }

    /// `Stmt::VaStart`.
    pub(in crate::interp) fn va_start(&mut self, list: u64) -> Result<(), TrapKind> {
        let first = self.frame().variable;
        for ListWord { offset, size, value } in variadic::started(self.program.types.target, first)
        {
            self.memory.store(list.wrapping_add(offset), size, u128::from(value))?;
        }
        Ok(())
    }
}
