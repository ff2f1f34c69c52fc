//! What undefined functions write, as the test says ([`crate::test::ExternalWrite`]).

use super::BadTest;
use super::calls::arguments;
use super::code::CallSite;
use super::machine::{Given, Machine, Step, Window};
use super::start;
use crate::function::Function;
use crate::outside::variable_words;
use crate::stmt::{Stmt, TrapKind};
use crate::test::{ExternalResult, Test, WriteBase};

/// One write, its images and names being resolved.
#[derive(Debug)]
pub(super) struct GivenWrite {
    to: Start,
    /// The pointers that are followed.
    through: Vec<u64>,
    /// The distance from where the way ends.
    offset: u64,
    bytes: Vec<u8>,
}

/// Where the way of a write begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    Argument(u32),
    /// A word among the arguments for `...`.
    Variable(u32),
    /// A variable's address.
    At(u64),
}

impl Machine<'_, '_> {
    /// What a call is to write.
    pub(super) fn given_writes(
        &self,
        test: &Test,
        call: &ExternalResult,
    ) -> Result<Vec<GivenWrite>, BadTest> {
        let mut writes = Vec::with_capacity(call.writes.len());
        for write in &call.writes {
            let (program, memory) = (self.program, &self.memory);
            let bytes = start::image_bytes(program, memory, test, &write.image, &call.function)?;
            let to = match &write.to {
                WriteBase::Argument(position) => Start::Argument(*position),
                WriteBase::Variable(position) => Start::Variable(*position),
                WriteBase::Global(name) => {
                    let global = program.global_named(name);
                    let global = global.ok_or_else(|| BadTest::NoGlobal(name.clone()))?;
                    Start::At(memory.global_address(global))
                }
            };
            let (through, offset) = (write.through.clone(), write.offset);
            writes.push(GivenWrite { to, through, offset, bytes });
        }
        Ok(writes)
    }

    /// Writes what a test says that a call of an undefined function writes, in that order. A write on
    /// whose way a null pointer lies is left out.
    pub(super) fn write_given(
        &mut self,
        given: &Given,
        function: &Function,
        site: &CallSite<'_>,
        regs: &Window,
    ) -> Step<()> {
        for write in &given.writes {
            let first = self.first_pointer(write.to, function, site, regs)?;
            if let Some(end) = self.follow_way(first, &write.through)? {
                self.memory.write(end.wrapping_add(write.offset), &write.bytes)?;
            }
        }
        Ok(())
    }

    /// Where a way begins. To read a word for `...` that was not passed is out of bounds, as it is for a
    /// function with a body.
    fn first_pointer(
        &self,
        to: Start,
        function: &Function,
        site: &CallSite<'_>,
        regs: &Window,
    ) -> Step<u64> {
        let argument = |at: usize| arguments(site, regs).get(at).map(|bits| *bits as u64);
        match to {
            Start::At(address) => Ok(address),
            Start::Argument(position) => Ok(argument(position as usize).unwrap_or(0)),
            Start::Variable(position) => {
                let Stmt::Call { arg_types, .. } = site.stmt else {
                    return Err(TrapKind::BadCall.into());
                };
                let types = &self.program.types;
                let words = variable_words(types, &function.name, function.ty, arg_types);
                let word = words.get(position as usize).and_then(|at| argument(*at));
                Ok(word.ok_or(TrapKind::OutOfBounds)?)
            }
        }
    }

    /// Where a way from a pointer leads; `None` where it meets a null pointer.
    fn follow_way(&mut self, mut pointer: u64, through: &[u64]) -> Step<Option<u64>> {
        let size = self.program.types.target.pointer_bytes();
        for step in through {
            if pointer == 0 {
                return Ok(None);
            }
            let (next, written) = self.memory.load(pointer.wrapping_add(*step), size)?;
            if !written {
                self.note_uninitialised()?;
            }
            pointer = next as u64;
        }
        Ok((pointer != 0).then_some(pointer))
    }
}
