//! The writes of undefined functions, as the test lists them ([`crate::test::ExternalWrite`]).

use super::externals::{ExternalAnswer, GivenWrite, WriteStart};
use crate::interp::code::CallSite;
use crate::interp::machine::{Machine, Step};
use crate::interp::outcome::BadTest;
use crate::interp::slots::Window;
use crate::interp::start;
use crate::outside::variable_words;
use crate::program::function::Function;
use crate::program::stmt::{Stmt, TrapKind};
use crate::test::{ExternalResult, Test, WriteBase};

impl Machine<'_, '_> {
    /// The writes of a call.
    pub(in crate::interp) fn given_writes(
        &self,
        test: &Test,
        call: &ExternalResult,
    ) -> Result<Vec<GivenWrite>, BadTest> {
        let mut writes = Vec::with_capacity(call.writes.len());
        for write in &call.writes {
            let (program, memory) = (self.program, &self.memory);
            let bytes = start::image_bytes(program, memory, test, &write.image, &call.function)?;
            let to = match &write.to {
                WriteBase::Argument(position) => WriteStart::Argument(*position),
                WriteBase::Variable(position) => WriteStart::Variable(*position),
                WriteBase::Global(name) => {
                    let global = program.global_named(name);
                    let global = global.ok_or_else(|| BadTest::NoGlobal(name.clone()))?;
                    WriteStart::At(memory.global_address(global))
                }
            };
            let (through, offset) = (write.through.clone(), write.offset);
            writes.push(GivenWrite { to, through, offset, bytes });
        }
        Ok(writes)
    }

    /// Does the writes of a call of an undefined function, in the order of the test. A write is left out
    /// if a null pointer lies on the way to its place.
    pub(in crate::interp) fn write_given(
        &mut self,
        given: &ExternalAnswer,
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
        to: WriteStart,
        function: &Function,
        site: &CallSite<'_>,
        regs: &Window,
    ) -> Step<u64> {
        let argument = |at: usize| site.arguments(regs).get(at).map(|bits| *bits as u64);
        match to {
            WriteStart::At(address) => Ok(address),
            WriteStart::Argument(position) => Ok(argument(position as usize).unwrap_or(0)),
            WriteStart::Variable(position) => {
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
