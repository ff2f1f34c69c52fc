//! `setjmp` and `longjmp`; see [`lydian_ir::nonlocal`].

use lydian_eval::{Traps, to_bytes};
use lydian_ir::libc::LibFn;
use lydian_ir::nonlocal::{TICKET_BYTES, Ticket, sets};
use lydian_ir::{Stmt, TrapKind, Type};
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::calls::stack::leave_frame;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Executes a call of `setjmp`, `longjmp` or a similar function.
    pub(crate) fn jump_function(
        &mut self,
        state: &mut State<N>,
        function: LibFn,
        site: &CallSite,
    ) -> Result<(), Interrupt> {
        let Some(buffer) = site.args.first().copied() else {
            return Err(self.trapped(state, TrapKind::BadCall));
        };
        if sets(function) {
            self.set_jump(state, buffer)?;
            if let Some(register) = site.register {
                let zero = self.pool.bv(32, 0);
                self.set_register(state, register, zero);
            }
            state.frame_mut().advance();
            return Ok(());
        }
        let value = site.args.get(1).copied();
        let ticket = self.ticket_at(state, buffer)?;
        self.jump_back(state, ticket, value)
    }

    fn set_jump(&mut self, state: &mut State<N>, buffer: Term) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let to = self.resolve_for_write(state, buffer, TICKET_BYTES, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let frame = state.frame();
        let position = frame.next as u32;
        let ticket = Ticket { activation: frame.serial, block: frame.block, position };
        for (index, word) in (0..).zip(ticket.words()) {
            let word = self.pool.bv(64, word);
            state.memory.store(&mut self.pool, &to.shifted(8 * index), 8, word);
        }
        Ok(())
    }

    /// The ticket in a buffer. Traps where the buffer holds another constant.
    fn ticket_at(&mut self, state: &mut State<N>, buffer: Term) -> Result<Ticket, Interrupt> {
        let mut words = [0; 2];
        for (index, word) in (0..).zip(&mut words) {
            let mut traps = Traps::none();
            let address = self.address_at(buffer, 8 * index);
            let value = self.load(state, Type::Int(64), address, &mut traps)?;
            self.leave_traps(state, &traps)?;
            let value = self.pool.as_u64(value);
            *word = value.ok_or_else(|| Interrupt::unsupported("a jump to an unknown place"))?;
        }
        Ticket::of_words(words).ok_or_else(|| self.trapped(state, TrapKind::BadJump))
    }

    /// Ends the activations above the one that called `setjmp`, and lets that call return again.
    fn jump_back(
        &mut self,
        state: &mut State<N>,
        ticket: Ticket,
        value: Option<Term>,
    ) -> Result<(), Interrupt> {
        let waiting = state.frames.iter().rposition(|frame| frame.serial == ticket.activation);
        let suits = waiting.is_some_and(|at| {
            let function = &self.context.program.functions[state.frames[at].func];
            let body = function.body.as_ref();
            body.is_some_and(|body| ticket.suits(self.context.program, body))
        });
        let Some(waiting) = waiting.filter(|_| suits) else {
            return Err(self.trapped(state, TrapKind::BadJump));
        };
        while state.frames.len() > waiting + 1 {
            leave_frame(state);
        }
        let frame = state.frame_mut();
        frame.go_to(ticket.block);
        frame.next = ticket.position as usize;
        frame.advance();
        let body = self.body(state);
        let stmt = body.blocks[ticket.block].stmts[ticket.position as usize];
        if let Stmt::Call { dst: Some(dst), .. } = &body.stmts[stmt] {
            let (zero, one) = (self.pool.bv(32, 0), self.pool.bv(32, 1));
            let value = value.map_or(one, |value| to_bytes(&mut self.pool, value));
            let is_zero = self.pool.eq(value, zero);
            let value = self.pool.ite(is_zero, one, value);
            self.set_register(state, *dst, value);
        }
        Ok(())
    }
}
