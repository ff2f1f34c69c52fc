//! Allocation, the ends of a program, and promises to the compiler.

use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::End;
use crate::libc::{
    AllocationFn, EndFn, HintFn, MOST_OF_A_BLOCK, NO_MEMORY, VerificationFn, error_number,
};
use crate::program::stmt::TrapKind;
use crate::test::NumberKind;

impl Machine<'_, '_> {
    pub(in crate::interp) fn allocation_function(
        &mut self,
        function: AllocationFn,
        name: &str,
        a: u64,
        b: u64,
    ) -> Step<Option<u128>> {
        let address = match function {
            AllocationFn::Malloc => self.allocate(name, Some(a))?,
            AllocationFn::Calloc => {
                let size = a.checked_mul(b);
                let address = self.allocate(name, size)?;
                if address != 0 {
                    self.memory.fill(address, size.unwrap_or(0), 0)?;
                }
                address
            }
            AllocationFn::Realloc => self.reallocate(name, a, b)?,
            AllocationFn::Free => {
                self.free(a)?;
                return Ok(None);
            }
            AllocationFn::Strdup => self.duplicate(name, a, u64::MAX)?,
            AllocationFn::Strndup => self.duplicate(name, a, b)?,
        };
        Ok(Some(u128::from(address)))
    }

    /// A copy of at most `limit` bytes of a text, with an end.
    fn duplicate(&mut self, name: &str, text: u64, limit: u64) -> Step<u64> {
        let length = self.length(text, limit)?;
        let address = self.allocate(name, length.checked_add(1))?;
        if address != 0 {
            self.memory.copy(address, text, length)?;
            self.memory.fill(address + length, 1, 0)?;
        }
        Ok(address)
    }

    /// Memory that was never written; 0 where the test says that this call fails, or the size is
    /// more than any block has.
    fn allocate(&mut self, name: &str, size: Option<u64>) -> Step<u64> {
        let fails = self.next_result(name).is_some_and(|image| image.first() == Some(&0));
        let nth = self.count_allocation(name);
        let Some(size) = size.filter(|size| !fails && *size <= MOST_OF_A_BLOCK) else {
            if !fails {
                self.refuse_allocation(name, nth);
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
            self.give_back_bytes(size);
        }
        Ok(())
    }

    /// The functions of verifiers: inputs and assumptions. `args` are the first two arguments.
    pub(in crate::interp) fn verification_function(
        &mut self,
        function: VerificationFn,
        name: &str,
        args: &[u128; 2],
    ) -> Step<Option<u128>> {
        // All but KLEE's take an `int`.
        let (whole, int) = (args[0] != 0, args[0] as u32 != 0);
        match function {
            VerificationFn::KleeSilentExit => assume(false),
            VerificationFn::KleeAssume => assume(whole),
            VerificationFn::VerifierAssume | VerificationFn::CproverAssume => assume(int),
            VerificationFn::CproverAssert if int => Ok(None),
            VerificationFn::CproverAssert
            | VerificationFn::VerifierError
            | VerificationFn::ReachError => Err(TrapKind::Abort.into()),
            VerificationFn::KleeMakeSymbolic => {
                let mut bytes =
                    self.next_input(name, NumberKind::Integer)?.unwrap_or_default().bytes;
                self.use_bytes(args[1] as u64)?;
                bytes.resize(args[1] as usize, 0);
                self.memory.write(args[0] as u64, &bytes)?;
                Ok(None)
            }
            VerificationFn::KleeInt => Ok(Some(u128::from(self.next_int(name)? as u32))),
            VerificationFn::KleeRange => {
                let value = self.next_int(name)?;
                let (least, end) = (args[0] as u32 as i32, args[1] as u32 as i32);
                assume((least..end).contains(&value))?;
                Ok(Some(u128::from(value as u32)))
            }
        }
    }

    /// The next input of a function that gives `int`s.
    fn next_int(&mut self, name: &str) -> Step<i32> {
        let bytes = self.next_input(name, NumberKind::Integer)?.unwrap_or_default().bytes;
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        Ok(i32::from_le_bytes(std::array::from_fn(byte)))
    }

    /// The value of the environment variable whose name is at an address.
    pub(in crate::interp) fn environment_function(&mut self, name: u64) -> Step<Option<u128>> {
        let length = self.length(name, u64::MAX)?;
        let name = self.memory.read(name, length)?.bytes;
        let address = std::str::from_utf8(&name).map_or(0, |name| self.variable(name));
        Ok(Some(u128::from(address)))
    }
}

/// The end of a run by a function that does not return.
pub(in crate::interp) fn ended(function: EndFn, status: u128) -> Stop {
    match function {
        EndFn::Abort | EndFn::AssertFail => TrapKind::Abort.into(),
        EndFn::Unreachable => TrapKind::Unreachable.into(),
        EndFn::Trap => TrapKind::Trap.into(),
        EndFn::Exit | EndFn::UnderscoreExit | EndFn::CapitalExit => {
            Stop::End(End::Exited(status as u32 as i32))
        }
    }
}

/// Ends the run unless the assumption holds.
fn assume(holds: bool) -> Step<Option<u128>> {
    match holds {
        true => Ok(None),
        false => Err(Stop::End(End::Assumption)),
    }
}

/// The answer to a question to the compiler.
pub(in crate::interp) fn hint_function(function: HintFn, a: u128, b: u128) -> Step<Option<u128>> {
    Ok(match function {
        HintFn::Assume if a == 0 => return Err(TrapKind::Unreachable.into()),
        HintFn::Assume | HintFn::Prefetch => None,
        // A text that lies in memory is read to its end.
        HintFn::ConstantP | HintFn::GoesOn | HintFn::Anything => Some(0),
        // Nothing is known of the object's size: as much as can be, or as little.
        HintFn::ObjectSize | HintFn::DynamicObjectSize => {
            Some(if b & 2 == 0 { u128::from(u64::MAX) } else { 0 })
        }
        HintFn::Expect | HintFn::ExpectWithProbability | HintFn::AssumeAligned => Some(a),
    })
}
