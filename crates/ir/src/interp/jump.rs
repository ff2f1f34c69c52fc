//! `setjmp` and `longjmp`; see [`crate::nonlocal`].

use super::machine::{Machine, Step};
use super::plan::Value;
use crate::libc::LibFn;
use crate::nonlocal::{Ticket, sets};
use crate::stmt::{Stmt, TrapKind};
use lydian_base::EntityId;

impl Machine<'_> {
    fn ticket(&mut self) -> Ticket {
        let frame = self.frame();
        let (block, next) = frame.place();
        Ticket { activation: frame.serial, block, position: next as u32 }
    }

    /// The result of `setjmp`; `longjmp` has none, and leaves the machine at the call that returns
    /// again.
    pub(super) fn jump_function(
        &mut self,
        function: LibFn,
        buffer: u64,
        value: u128,
    ) -> Step<Option<u128>> {
        if sets(function) {
            let ticket = self.ticket();
            for (index, word) in (0..).zip(ticket.words()) {
                self.memory.store(buffer.wrapping_add(8 * index), 8, u128::from(word))?;
            }
            return Ok(Some(0));
        }
        let mut words = [0; 3];
        for (index, word) in (0..).zip(&mut words) {
            *word = self.memory.load(buffer.wrapping_add(8 * index), 8)?.0 as u64;
        }
        self.jump_back(words, value as u32)?;
        Ok(None)
    }

    fn jump_back(&mut self, words: [u64; 3], value: u32) -> Step<()> {
        let ticket = Ticket::of_words(words).ok_or(TrapKind::BadJump)?;
        let waits = |frame: &super::machine::Frame<'_>| frame.serial == ticket.activation;
        let frame = self.frames.iter().find(|frame| waits(frame)).ok_or(TrapKind::BadJump)?;
        if !ticket.suits(self.program, frame.code.body) {
            return Err(TrapKind::BadJump.into());
        }
        while self.frames.last().is_some_and(|frame| !waits(frame)) {
            self.pop_frame();
        }
        let frame = self.frame();
        frame.go_to(ticket.block, ticket.position as usize);
        let stmt = frame.code.body.blocks[ticket.block].stmts[ticket.position as usize];
        if let Stmt::Call { dst: Some(dst), .. } = &frame.code.body.stmts[stmt] {
            let bits = u128::from(value.max(1));
            frame.registers[dst.index()] = Value { bits, uninitialised: false };
        }
        Ok(())
    }
}
