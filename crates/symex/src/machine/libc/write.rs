//! Functions that write bytes and strings.
//!
//! All bytes are read and all traps are met before the first byte is written.

use lydian_eval::{Fault, Traps, to_bytes};
use lydian_inputs::lazy::REACH;
use lydian_ir::libc::MemoryFn;
use lydian_ir::{TrapKind, Type};
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::AccessKind;
use crate::machine::memory::{Candidate, ObjectKind, Offset, Resolution};
use crate::machine::state::{Notes, State};

/// The most bytes that are written one by one under conditions. Above that the path is split on
/// their number.
const CONDITIONAL_BYTES: u64 = 256;
/// The most bytes that are written at once where only input objects limit their number.
const MOST_BYTES: u64 = 1 << 16;

/// Bytes that are written under a condition.
struct GuardedWrite {
    /// The address from which the distance to the first byte is counted.
    base: Term,
    offset: u64,
    guard: Term,
    value: Term,
    /// The number of bytes.
    size: u64,
}

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn writing_function(
        &mut self,
        state: &mut State<N>,
        function: MemoryFn,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        let (dst, second) = (args[0], args[1]);
        let mut traps = Traps::none();
        let mut writes = Vec::new();
        let mut result = dst;
        match function {
            MemoryFn::Memcpy | MemoryFn::Memmove => {
                return self.copy_bytes(state, dst, second, args[2]);
            }
            MemoryFn::Memset => {
                let byte = to_bytes(&mut self.pool, second);
                let byte = self.pool.extract(7, 0, byte);
                return self.fill_bytes(state, dst, byte, args[2]);
            }
            MemoryFn::Strcpy | MemoryFn::Stpcpy => {
                let start = self.pool.bv(64, 0);
                let plan = CopyText { dst, start, src: second, limit: None, pad: false };
                let length = self.copy_text(state, &plan, &mut traps, &mut writes)?;
                if function == MemoryFn::Stpcpy {
                    result = self.address_plus(dst, length);
                }
            }
            MemoryFn::Strncpy => {
                let start = self.pool.bv(64, 0);
                let limit = Some(args[2]);
                let plan = CopyText { dst, start, src: second, limit, pad: true };
                self.copy_text(state, &plan, &mut traps, &mut writes)?;
            }
            MemoryFn::Strcat | MemoryFn::Strncat => {
                let start = self.length(state, dst, None, &mut traps)?;
                let limit = if function == MemoryFn::Strcat { None } else { Some(args[2]) };
                let plan = CopyText { dst, start, src: second, limit, pad: false };
                self.copy_text(state, &plan, &mut traps, &mut writes)?;
            }
            _ => return Err(Interrupt::unsupported("a library function without a model")),
        }
        let mut own = Traps::none();
        let places = self.places_of_writes(state, &writes, &mut own)?;
        for (kind, condition) in own.iter() {
            traps.add(&self.pool, kind, condition);
        }
        self.leave_traps(state, &traps)?;
        self.write_all(state, &writes, places);
        Ok(result)
    }

    /// The destinations of writes, each with the condition under which it is changed, and the
    /// conditions under which the writes trap.
    fn places_of_writes(
        &mut self,
        state: &mut State<N>,
        writes: &[GuardedWrite],
        traps: &mut Traps,
    ) -> Result<Vec<(Resolution, Term)>, Interrupt> {
        let mut places = Vec::with_capacity(writes.len());
        for write in writes {
            let mut own = Traps::none();
            let to = self.resolve_where(state, write, &mut own)?;
            self.add_guarded(&own, write.guard, traps);
            // Where the bytes belong to the object only if they are written, their other value
            // cannot be observed.
            let reachable = own.absent(&mut self.pool);
            let guard = if reachable == write.guard { self.pool.tt() } else { write.guard };
            places.push((to, guard));
        }
        Ok(places)
    }

    /// Executes writes on a path that does not trap there.
    fn write_all(
        &mut self,
        state: &mut State<N>,
        writes: &[GuardedWrite],
        places: Vec<(Resolution, Term)>,
    ) {
        for (write, (to, guard)) in writes.iter().zip(places) {
            let guard = self.simplified(state, guard);
            if self.pool.as_bool(guard) == Some(false) {
                continue;
            }
            let mut value = write.value;
            if self.pool.as_bool(guard).is_none() {
                let old = state.memory.load(&mut self.pool, &to, write.size);
                let old = to_bytes(&mut self.pool, old);
                value = self.pool.ite(guard, value, old);
            }
            state.memory.store(&mut self.pool, &to, write.size, value);
        }
    }

    /// Adds the conditions under which an access to `count` bytes from an address on traps at one
    /// of them: at the first byte, or because fewer bytes follow in its object. They are equivalent
    /// to the conditions of the accesses to single bytes, in far smaller terms.
    fn range_traps(
        &mut self,
        state: &mut State<N>,
        base: Term,
        count: Term,
        kind: AccessKind,
        traps: &mut Traps,
    ) -> Result<(), Interrupt> {
        let zero = self.pool.bv(64, 0);
        let some = self.pool.ult(zero, count);
        let found = self.resolve(state, base)?;
        let mut first = Traps::none();
        state.memory.access_traps(&mut self.pool, &found, 1, kind, &mut first);
        self.add_guarded(&first, some, traps);
        let begins = first.absent(&mut self.pool);
        for candidate in &found.candidates {
            let object = state.memory.object(candidate.object);
            let size = self.pool.bv(64, object.size);
            let offset = candidate.offset.term(&mut self.pool);
            let mut beyond = self.pool.ff();
            for end in [Some(size), object.length].into_iter().flatten() {
                // The first byte lies in the object, so this does not wrap.
                let room = self.pool.sub(end, offset);
                let less = self.pool.ult(room, count);
                beyond = self.pool.or(beyond, less);
            }
            let here = self.pool.and(candidate.guard, begins);
            let condition = self.pool.and(here, beyond);
            let fault = match object.kind {
                ObjectKind::Lazy => Fault::LeftOut,
                _ => Fault::Trap(TrapKind::OutOfBounds),
            };
            traps.add(&self.pool, fault, condition);
        }
        Ok(())
    }

    fn copy_bytes(
        &mut self,
        state: &mut State<N>,
        dst: Term,
        src: Term,
        count: Term,
    ) -> Result<Term, Interrupt> {
        let known = self.bytes_to_write(state, count, &[dst, src])?;
        if let Some(count) = known {
            self.copy(state, dst, src, count, &mut Traps::none())?;
            return Ok(dst);
        }
        let size = self.element_size(state, src, count)?;
        let mut traps = Traps::none();
        self.range_traps(state, src, count, AccessKind::Read, &mut traps)?;
        self.range_traps(state, dst, count, AccessKind::Write, &mut traps)?;
        // The traps of the accesses to single bytes.
        let mut single = Traps::none();
        let mut writes = Vec::new();
        for offset in (0..).step_by(size as usize) {
            let here = self.pool.bv(64, offset);
            let guard = self.pool.ult(here, count);
            if !self.looks_at(state, offset, guard)? {
                break;
            }
            if self.is_dead(state, guard) {
                break;
            }
            let ty = Type::Int(size as u8 * 8);
            let value = self.element_at(state, ty, src, offset, guard, &mut single)?;
            let Some(value) = value else { break };
            let write = GuardedWrite { base: dst, offset, guard, value, size };
            if !self.push_write(state, write, &mut single, &mut writes)? {
                break;
            }
        }
        let places = self.places_of_writes(state, &writes, &mut single)?;
        self.leave_traps(state, &traps)?;
        self.write_all(state, &writes, places);
        Ok(dst)
    }

    /// The size of the elements in which a symbolic number of bytes is copied: that of the value at
    /// the source, where the number of bytes surely is a multiple of it. Whole elements keep their
    /// terms.
    fn element_size(
        &mut self,
        state: &mut State<N>,
        src: Term,
        count: Term,
    ) -> Result<u64, Interrupt> {
        let from = self.resolve(state, src)?;
        let [Candidate { object, offset: Offset::Known(start), .. }] = from.candidates[..] else {
            return Ok(1);
        };
        let cells = state.memory.object(object).contents.cells();
        let first = cells.iter().find(|cell| i64::from(cell.offset) == start);
        let size = first.map_or(1, |cell| u64::from(cell.size));
        if !size.is_power_of_two() || size == 1 {
            return Ok(1);
        }
        let low = self.pool.extract(size.trailing_zeros() - 1, 0, count);
        Ok(if self.pool.as_u64(low) == Some(0) { size } else { 1 })
    }

    fn fill_bytes(
        &mut self,
        state: &mut State<N>,
        dst: Term,
        byte: Term,
        count: Term,
    ) -> Result<Term, Interrupt> {
        if let Some(count) = self.bytes_to_write(state, count, &[dst])? {
            if count > 0 {
                let mut traps = Traps::none();
                let to = self.resolve_for_write(state, dst, count, &mut traps)?;
                self.leave_traps(state, &traps)?;
                self.fill_known(state, &to, byte, count);
            }
            return Ok(dst);
        }
        let mut traps = Traps::none();
        self.range_traps(state, dst, count, AccessKind::Write, &mut traps)?;
        // The traps of the accesses to single bytes.
        let mut single = Traps::none();
        let mut writes = Vec::new();
        for offset in 0.. {
            let here = self.pool.bv(64, offset);
            let guard = self.pool.ult(here, count);
            if !self.looks_at(state, offset, guard)? {
                break;
            }
            if self.is_dead(state, guard) {
                break;
            }
            let write = GuardedWrite { base: dst, offset, guard, value: byte, size: 1 };
            if !self.push_write(state, write, &mut single, &mut writes)? {
                break;
            }
        }
        let places = self.places_of_writes(state, &writes, &mut single)?;
        self.leave_traps(state, &traps)?;
        self.write_all(state, &writes, places);
        Ok(dst)
    }

    /// Sets a constant number of bytes to one value, a word at a time.
    fn fill_known(&mut self, state: &mut State<N>, to: &Resolution, byte: Term, count: u64) {
        if self.pool.as_u64(byte) == Some(0) {
            state.memory.zero(&mut self.pool, to, count);
            return;
        }
        let mut offset = 0;
        while offset < count {
            let size = 1u64 << (count - offset).ilog2().min(3);
            let mut word = byte;
            while self.pool.width(word) < size as u32 * 8 {
                word = self.pool.concat(word, word);
            }
            state.memory.store(&mut self.pool, &to.shifted(offset), size, word);
            offset += size;
        }
    }

    /// Resolves the address of a write, which happens only under its guard.
    fn resolve_where(
        &mut self,
        state: &mut State<N>,
        write: &GuardedWrite,
        traps: &mut Traps,
    ) -> Result<Resolution, Interrupt> {
        let address = self.address_at(write.base, write.offset);
        self.where_holds(write.guard, |machine| {
            machine.resolve_for_write(state, address, write.size, traps)
        })
    }

    /// Adds a write. Returns false where it surely traps, so that nothing comes after it.
    fn push_write(
        &mut self,
        state: &mut State<N>,
        write: GuardedWrite,
        traps: &mut Traps,
        writes: &mut Vec<GuardedWrite>,
    ) -> Result<bool, Interrupt> {
        let mut own = Traps::none();
        self.resolve_where(state, &write, &mut own)?;
        let surely = self.add_guarded(&own, write.guard, traps);
        let surely =
            surely || self.is_beyond(state, write.base, write.offset, write.guard, traps)?;
        writes.push(write);
        Ok(!surely)
    }

    /// The number of bytes where it has one value on this path. Where objects are large, the path
    /// is split on numbers above [`CONDITIONAL_BYTES`]. For other symbolic numbers the result is
    /// `None`.
    fn bytes_to_write(
        &mut self,
        state: &mut State<N>,
        count: Term,
        places: &[Term],
    ) -> Result<Option<u64>, Interrupt> {
        let known = self.pool.as_u64(count);
        if known.is_some_and(|count| count <= MOST_BYTES) {
            return Ok(known);
        }
        let mut room = u64::MAX;
        for place in places {
            room = room.min(self.room(state, *place)?);
        }
        if room <= CONDITIONAL_BYTES {
            return Ok(None);
        }
        if room >= REACH / 2 {
            self.leave_out_of_reach(state, count)?;
        }
        if known.is_some() {
            return Ok(known);
        }
        let most = self.pool.bv(64, CONDITIONAL_BYTES);
        let small = self.pool.ule(count, most);
        if self.split_on(state, small)? {
            return Ok(None);
        }
        self.one_value(state, count).map(Some)
    }

    /// Restricts the path to numbers of bytes that can be written one by one. No input object has
    /// more than [`REACH`] bytes.
    fn leave_out_of_reach(&mut self, state: &mut State<N>, count: Term) -> Result<(), Interrupt> {
        let reach = self.pool.bv(64, REACH);
        let beyond = self.pool.ugt(count, reach);
        let mut traps = Traps::none();
        traps.add(&self.pool, Fault::LeftOut, beyond);
        self.leave_traps(state, &traps)?;
        let most = self.pool.bv(64, MOST_BYTES);
        let few = self.pool.ule(count, most);
        if self.split_on(state, few)? {
            return Ok(());
        }
        Err(Interrupt::unsupported(format!("on more than {MOST_BYTES} bytes")))
    }

    /// Plans the copy of a string. Returns its length.
    fn copy_text(
        &mut self,
        state: &mut State<N>,
        plan: &CopyText,
        traps: &mut Traps,
        writes: &mut Vec<GuardedWrite>,
    ) -> Result<Term, Interrupt> {
        let zero = self.pool.bv(8, 0);
        let base = self.address_plus(plan.dst, plan.start);
        let mut alive = self.pool.tt();
        let mut length = self.pool.bv(64, 0);
        for offset in 0.. {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            let here = self.pool.bv(64, offset);
            let mut guard = self.pool.tt();
            if let Some(limit) = plan.limit {
                guard = self.pool.ult(here, limit);
                guard = self.simplified(state, guard);
                let within = self.pool.and(alive, guard);
                if !plan.pad {
                    // The null character follows at the limit.
                    let at_limit = self.pool.eq(here, limit);
                    let at_limit = self.simplified(state, at_limit);
                    let ends = self.pool.and(alive, at_limit);
                    if !self.is_dead(state, ends) {
                        writes.push(GuardedWrite {
                            base,
                            offset,
                            guard: ends,
                            value: zero,
                            size: 1,
                        });
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
                let byte = self.byte_at(state, plan.src, offset, alive, traps)?;
                let Some(byte) = byte else { break };
                value = if plan.pad { self.pool.ite(alive, byte, zero) } else { byte };
                let ends = self.pool.eq(byte, zero);
                let ends = self.simplified(state, ends);
                let last = self.pool.and(alive, ends);
                length = self.pool.ite(last, here, length);
                let not = self.pool.not(ends);
                alive = self.pool.and(alive, not);
            }
            let write = GuardedWrite { base, offset, guard: over, value, size: 1 };
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
    /// The most characters that are copied.
    limit: Option<Term>,
    /// Whether zeros follow up to the limit (`strncpy`); otherwise one zero follows.
    pad: bool,
}
