//! `setjmp` and `longjmp`, by the tickets of [`crate::nonlocal`].

use crate::interp::code::{Code, Op};
use crate::interp::machine::{Machine, Step};
use crate::interp::slots::Window;
use crate::libc::JumpFn;
use crate::nonlocal::Ticket;
use crate::program::source::Point;
use crate::program::stmt::TrapKind;

/// The bytes of a `jmp_buf` that `setjmp` writes.
const SAVED: u64 = 8 * 8 + 4;

impl Machine<'_, '_> {
    /// The result of `setjmp`. `longjmp` has none: the newest frame is then the one whose `setjmp`
    /// returns again, and the value waits for [`Self::jumped`].
    pub(in crate::interp) fn jump_function(
        &mut self,
        function: JumpFn,
        buffer: u64,
        value: u32,
    ) -> Step<Option<u128>> {
        if function.sets() {
            let ticket = self.ticket().ok_or(TrapKind::BadJump)?;
            for (index, word) in (0..).zip(ticket.words()) {
                self.memory.store(buffer.wrapping_add(8 * index), 8, u128::from(word))?;
            }
            // Registers, and whether signals are saved: nobody but `longjmp` can say what they are.
            self.memory.forget(buffer, SAVED);
            return Ok(Some(0));
        }
        let mut words = [0; 2];
        for (index, word) in (0..).zip(&mut words) {
            *word = self.memory.load(buffer.wrapping_add(8 * index), 8)?.0 as u64;
        }
        self.jump_back(words)?;
        self.jump_with(value.max(1));
        Ok(None)
    }

    /// Where the running call stands.
    fn ticket(&self) -> Option<Ticket> {
        let frame = self.frame();
        let index = frame.code.points.index_at(frame.pc.checked_sub(1)?)?;
        let Point::Stmt(stmt) = frame.code.points.get(index)?.point else { return None };
        let found = frame.code.body.blocks.iter().find_map(|(id, block)| {
            let position = block.stmts.iter().position(|other| *other == stmt)?;
            Some((id, position))
        });
        let (block, position) = found?;
        Some(Ticket { activation: frame.serial, block, position: position as u32 })
    }

    fn jump_back(&mut self, words: [u64; 2]) -> Step<()> {
        let ticket = Ticket::of_words(words).ok_or(TrapKind::BadJump)?;
        let code = self.call_of(ticket.activation).ok_or(TrapKind::BadJump)?.code;
        if !ticket.suits(self.program, code.body) {
            return Err(TrapKind::BadJump.into());
        }
        let stmt = code.body.blocks[ticket.block].stmts[ticket.position as usize];
        let pc = after_call(code, Point::Stmt(stmt)).ok_or(TrapKind::BadJump)?;
        self.return_to(ticket.activation);
        self.frame_mut().pc = pc;
        Ok(())
    }

    /// Gives the `setjmp` that returns again its value.
    pub(in crate::interp) fn jumped(&mut self, regs: &mut Window) {
        let frame = self.frame();
        let (code, pc) = (frame.code, frame.pc);
        let value = self.take_jump_value().unwrap_or(1);
        if let Some(Op::CallModel(site) | Op::CallTo(_, site)) = code.ops.get(pc - 1) {
            code.sites[*site as usize].give(regs, u128::from(value));
        }
    }
}

/// The position after the call that a statement is.
fn after_call(code: &Code<'_>, point: Point) -> Option<usize> {
    let start = code.points.start_of(point)?;
    let calls = |op: &Op| matches!(op, Op::CallModel(_) | Op::CallTo(..));
    Some(start + code.ops[start..].iter().position(calls)? + 1)
}
