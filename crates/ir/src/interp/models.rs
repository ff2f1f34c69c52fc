//! Allocation, the ends of a program, and promises to the compiler.

use super::End;
use super::machine::{Machine, Step, Stop};
use crate::libc::{LibFn, MOST_OF_A_BLOCK, Model, NO_MEMORY, error_number};
use crate::stmt::TrapKind;
use crate::test::NumberKind;

impl Machine<'_, '_> {
    pub(super) fn allocation_function(
        &mut self,
        model: &Model,
        a: u64,
        b: u64,
    ) -> Step<Option<u128>> {
        let address = match model.function {
            LibFn::Malloc => self.allocate(model.name, Some(a))?,
            LibFn::Calloc => {
                let size = a.checked_mul(b);
                let address = self.allocate(model.name, size)?;
                if address != 0 {
                    self.memory.fill(address, size.unwrap_or(0), 0)?;
                }
                address
            }
            LibFn::Realloc => self.reallocate(model.name, a, b)?,
            LibFn::Free => {
                self.free(a)?;
                return Ok(None);
            }
            _ => {
                let limit = if model.function == LibFn::Strdup { u64::MAX } else { b };
                let length = self.length(a, limit)?;
                let address = self.allocate(model.name, length.checked_add(1))?;
                if address != 0 {
                    self.memory.copy(address, a, length)?;
                    self.memory.fill(address + length, 1, 0)?;
                }
                address
            }
        };
        Ok(Some(u128::from(address)))
    }

    /// Memory that was never written; 0 where the test says that this call fails, or the size is
    /// more than any block has.
    fn allocate(&mut self, name: &str, size: Option<u64>) -> Step<u64> {
        let fails = self.next_result(name).is_some_and(|image| image.first() == Some(&0));
        let nth = self.count_allocation(name);
        let Some(size) = size.filter(|size| !fails && *size <= MOST_OF_A_BLOCK) else {
            if !fails {
                self.refused.push((name.to_owned(), nth));
            }
            if let Some(error_number) = error_number(self.program) {
                let address = self.memory.global_address(error_number);
                self.memory.write(address, &NO_MEMORY.to_le_bytes())?;
            }
            return Ok(0);
        };
        self.use_bytes(size)?;
        self.memory.allocate(size).ok_or(self.no_room())
    }

    /// Counts a call of an allocator; how many there were before.
    fn count_allocation(&mut self, name: &str) -> u32 {
        match self.allocations.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.allocations.push((name.to_owned(), 1));
                0
            }
        }
    }

    fn reallocate(&mut self, name: &str, old: u64, size: u64) -> Step<u64> {
        if old == 0 {
            return self.allocate(name, Some(size));
        }
        let kept = self.memory.allocated(old)?.min(size);
        if size == 0 {
            self.free(old)?;
            return Ok(0);
        }
        let new = self.allocate(name, Some(size))?;
        if new != 0 {
            self.memory.copy(new, old, kept)?;
            self.free(old)?;
        }
        Ok(new)
    }

    fn free(&mut self, address: u64) -> Step<()> {
        if address != 0 {
            let size = self.memory.release(address)?;
            self.used = self.used.saturating_sub(size);
        }
        Ok(())
    }

    pub(super) fn end_function(&mut self, function: LibFn, status: u128) -> Step<Option<u128>> {
        Err(match function {
            LibFn::Abort | LibFn::AssertFail => TrapKind::Abort.into(),
            LibFn::Unreachable => TrapKind::Unreachable.into(),
            LibFn::Trap => TrapKind::Trap.into(),
            _ => Stop::End(End::Exited(status as u32 as i32)),
        })
    }

    /// Inputs, and what is assumed of them. `args` are the first two arguments.
    pub(super) fn verification_function(
        &mut self,
        model: &Model,
        args: &[u128; 2],
    ) -> Step<Option<u128>> {
        let broken = Stop::End(End::Assumption);
        Ok(match model.function {
            LibFn::KleeSilentExit => return Err(broken),
            LibFn::KleeAssume if args[0] != 0 => None,
            // The others take an `int`.
            LibFn::VerifierAssume | LibFn::CproverAssume if args[0] as u32 != 0 => None,
            LibFn::VerifierAssume | LibFn::KleeAssume | LibFn::CproverAssume => {
                return Err(broken);
            }
            LibFn::CproverAssert if args[0] as u32 != 0 => None,
            LibFn::KleeMakeSymbolic => {
                let mut bytes =
                    self.next_input(model.name, NumberKind::Integer)?.unwrap_or_default().bytes;
                self.use_bytes(args[1] as u64)?;
                bytes.resize(args[1] as usize, 0);
                self.memory.write(args[0] as u64, &bytes)?;
                None
            }
            LibFn::KleeInt | LibFn::KleeRange => {
                let bytes =
                    self.next_input(model.name, NumberKind::Integer)?.unwrap_or_default().bytes;
                let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
                let value = i32::from_le_bytes(std::array::from_fn(byte));
                let (least, end) = (args[0] as u32 as i32, args[1] as u32 as i32);
                if model.function == LibFn::KleeRange && !(least..end).contains(&value) {
                    return Err(broken);
                }
                Some(u128::from(value as u32))
            }
            _ => return Err(TrapKind::Abort.into()),
        })
    }

    /// The value of the environment variable whose name is at an address.
    pub(super) fn environment_function(&mut self, name: u64) -> Step<Option<u128>> {
        let length = self.length(name, u64::MAX)?;
        let name = self.memory.read(name, length)?.bytes;
        let address = std::str::from_utf8(&name).map_or(0, |name| self.variable(name));
        Ok(Some(u128::from(address)))
    }

    pub(super) fn hint_function(
        &mut self,
        function: LibFn,
        a: u128,
        b: u128,
    ) -> Step<Option<u128>> {
        Ok(match function {
            LibFn::Assume if a == 0 => return Err(TrapKind::Unreachable.into()),
            LibFn::Assume | LibFn::Prefetch => None,
            // A text that lies in memory is read to its end.
            LibFn::ConstantP | LibFn::GoesOn | LibFn::Anything => Some(0),
            // Nothing is known of the object's size: as much as can be, or as little.
            LibFn::ObjectSize | LibFn::DynamicObjectSize => {
                Some(if b & 2 == 0 { u128::from(u64::MAX) } else { 0 })
            }
            _ => Some(a),
        })
    }
}
