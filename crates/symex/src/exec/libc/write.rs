//! Functions that write bytes and strings.
//!
//! All bytes are read and all traps are met before the first byte is written.

use lydian_eval::{Traps, to_bytes};
use lydian_ir::libc::LibFn;
use lydian_smt::Term;

use super::super::explore::Engine;
use super::super::state::State;
use super::super::step::Flow;

/// More bytes than this are not written one by one under conditions: the path is split on their
/// number.
const CONDITIONAL_BYTES: u64 = 256;

/// A byte that is written where a condition holds.
struct Write {
    address: Term,
    guard: Term,
    value: Term,
}

impl Engine<'_, '_> {
    pub(super) fn writing_function(
        &mut self,
        state: &mut State,
        function: LibFn,
        args: &[Term],
    ) -> Result<Term, Flow> {
        let (dst, second) = (args[0], args[1]);
        let mut traps = Traps::none();
        let mut writes = Vec::new();
        let mut result = dst;
        match function {
            LibFn::Memcpy | LibFn::Memmove => return self.copy_bytes(state, dst, second, args[2]),
            LibFn::Memset => {
                let byte = to_bytes(&mut self.pool, second);
                let byte = self.pool.extract(7, 0, byte);
                return self.fill_bytes(state, dst, byte, args[2]);
            }
            LibFn::Strcpy | LibFn::Stpcpy => {
                let start = self.pool.bv(64, 0);
                let plan = CopyText { dst, start, src: second, limit: None, pad: false };
                let length = self.copy_text(state, &plan, &mut traps, &mut writes)?;
                if function == LibFn::Stpcpy {
                    result = self.address_plus(dst, length);
                }
            }
            LibFn::Strncpy => {
                let start = self.pool.bv(64, 0);
                let limit = Some(args[2]);
                let plan = CopyText { dst, start, src: second, limit, pad: true };
                self.copy_text(state, &plan, &mut traps, &mut writes)?;
            }
            LibFn::Strcat | LibFn::Strncat => {
                let start = self.length(state, dst, None, &mut traps)?;
                let limit = if function == LibFn::Strcat { None } else { Some(args[2]) };
                let plan = CopyText { dst, start, src: second, limit, pad: false };
                self.copy_text(state, &plan, &mut traps, &mut writes)?;
            }
            _ => return Err(Flow::unsupported("a library function without a model")),
        }
        self.write_all(state, &traps, writes)?;
        Ok(result)
    }

    /// Meets the traps of writes and of what came before, then writes.
    fn write_all(
        &mut self,
        state: &mut State,
        before: &Traps,
        writes: Vec<Write>,
    ) -> Result<(), Flow> {
        let mut traps = before.clone();
        let mut places = Vec::with_capacity(writes.len());
        for write in &writes {
            let mut own = Traps::none();
            let to = self.resolve_for_write(state, write.address, 1, &mut own)?;
            self.add_guarded(&own, write.guard, &mut traps);
            places.push(to);
        }
        self.leave_traps(state, &traps)?;
        for (write, to) in writes.iter().zip(places) {
            let guard = self.simplified(state, write.guard);
            if self.pool.as_bool(guard) == Some(false) {
                continue;
            }
            let mut value = write.value;
            if self.pool.as_bool(guard).is_none() {
                let old = state.memory.load(&mut self.pool, &to, 1);
                let old = to_bytes(&mut self.pool, old);
                value = self.pool.ite(guard, value, old);
            }
            state.memory.store(&mut self.pool, &to, 1, value);
        }
        Ok(())
    }

    fn copy_bytes(
        &mut self,
        state: &mut State,
        dst: Term,
        src: Term,
        count: Term,
    ) -> Result<Term, Flow> {
        if let Some(count) = self.bytes_to_copy(state, count)? {
            self.copy(state, dst, src, count, &mut Traps::none())?;
            return Ok(dst);
        }
        let mut traps = Traps::none();
        let mut writes = Vec::new();
        for offset in 0.. {
            self.check_reach(offset)?;
            let here = self.pool.bv(64, offset);
            let guard = self.pool.ult(here, count);
            if self.is_dead(state, guard) {
                break;
            }
            let from = self.address_at(src, offset);
            let Some(value) = self.byte_at(state, from, guard, &mut traps)? else { break };
            let address = self.address_at(dst, offset);
            if !self.push_write(state, Write { address, guard, value }, &mut traps, &mut writes)? {
                break;
            }
        }
        self.write_all(state, &traps, writes)?;
        Ok(dst)
    }

    fn fill_bytes(
        &mut self,
        state: &mut State,
        dst: Term,
        byte: Term,
        count: Term,
    ) -> Result<Term, Flow> {
        let known = self.bytes_to_copy(state, count)?;
        if let Some(count) = known
            && self.pool.as_u64(byte) == Some(0)
        {
            let mut traps = Traps::none();
            if count > 0 {
                let to = self.resolve_for_write(state, dst, count, &mut traps)?;
                self.leave_traps(state, &traps)?;
                state.memory.zero(&mut self.pool, &to, count);
            }
            return Ok(dst);
        }
        let mut traps = Traps::none();
        let mut writes = Vec::new();
        for offset in 0.. {
            self.check_reach(offset)?;
            let here = self.pool.bv(64, offset);
            let guard = self.pool.ult(here, count);
            if self.is_dead(state, guard) {
                break;
            }
            let address = self.address_at(dst, offset);
            let write = Write { address, guard, value: byte };
            if !self.push_write(state, write, &mut traps, &mut writes)? {
                break;
            }
        }
        self.write_all(state, &traps, writes)?;
        Ok(dst)
    }

    /// Adds a write; false where it surely traps, so that nothing comes after it.
    fn push_write(
        &mut self,
        state: &mut State,
        write: Write,
        traps: &mut Traps,
        writes: &mut Vec<Write>,
    ) -> Result<bool, Flow> {
        let mut own = Traps::none();
        self.resolve_for_write(state, write.address, 1, &mut own)?;
        let surely = self.add_guarded(&own, write.guard, traps);
        writes.push(write);
        Ok(!surely)
    }

    /// The number of bytes where it is one number on this path; splits the path where the number
    /// may be great.
    fn bytes_to_copy(&mut self, state: &mut State, count: Term) -> Result<Option<u64>, Flow> {
        if let Some(count) = self.pool.as_u64(count) {
            return Ok(Some(count));
        }
        let most = self.pool.bv(64, CONDITIONAL_BYTES);
        let small = self.pool.ule(count, most);
        if self.evaluator.holds(&self.pool, &state.model, small) {
            return Ok(None);
        }
        self.one_value(state, count).map(Some)
    }

    /// Plans the copy of a string; gives its length.
    fn copy_text(
        &mut self,
        state: &mut State,
        plan: &CopyText,
        traps: &mut Traps,
        writes: &mut Vec<Write>,
    ) -> Result<Term, Flow> {
        let zero = self.pool.bv(8, 0);
        let mut alive = self.pool.tt();
        let mut length = self.pool.bv(64, 0);
        for offset in 0.. {
            self.check_reach(offset)?;
            let here = self.pool.bv(64, offset);
            let mut guard = self.pool.tt();
            if let Some(limit) = plan.limit {
                guard = self.pool.ult(here, limit);
                let within = self.pool.and(alive, guard);
                if !plan.pad {
                    // At the limit comes the null character.
                    let at_limit = self.pool.eq(here, limit);
                    let ends = self.pool.and(alive, at_limit);
                    let distance = self.pool.add(plan.start, here);
                    let address = self.address_plus(plan.dst, distance);
                    if !self.is_dead(state, ends) {
                        writes.push(Write { address, guard: ends, value: zero });
                    }
                    length = self.pool.ite(ends, here, length);
                }
                alive = within;
            }
            let over = if plan.pad { guard } else { alive };
            if self.is_dead(state, over) {
                break;
            }
            let mut value = zero;
            if !self.is_dead(state, alive) {
                let from = self.address_at(plan.src, offset);
                let Some(byte) = self.byte_at(state, from, alive, traps)? else { break };
                value = if plan.pad { self.pool.ite(alive, byte, zero) } else { byte };
                let ends = self.pool.eq(byte, zero);
                let last = self.pool.and(alive, ends);
                length = self.pool.ite(last, here, length);
                let not = self.pool.not(ends);
                alive = self.pool.and(alive, not);
            }
            let distance = self.pool.add(plan.start, here);
            let address = self.address_plus(plan.dst, distance);
            let write = Write { address, guard: over, value };
            if !self.push_write(state, write, traps, writes)? {
                break;
            }
        }
        Ok(length)
    }
}

/// A copy of a string to `dst + start`.
struct CopyText {
    dst: Term,
    start: Term,
    src: Term,
    /// How many characters at most.
    limit: Option<Term>,
    /// Whether zeros follow up to the limit (`strncpy`); else one zero follows.
    pad: bool,
}
