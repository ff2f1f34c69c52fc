//! Functions that read bytes and strings.

use lydian_eval::{Traps, Undetermined, undefined_symbol};
use lydian_ir::libc::MemoryFn;
use lydian_smt::{Sort, Term};

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

/// The greatest distance, in bytes, to which searched strings are followed.
const FAR: u64 = 256;
/// The bits of the excess of an unfollowed length. Any tester grants that no object has 1 GiB.
const LENGTH_BITS: u32 = 29;

/// When two bytes are equal, and whether a zero ends the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteComparison {
    Bytes,
    Text,
    Letters,
}

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn string_function(
        &mut self,
        state: &mut State<N>,
        function: MemoryFn,
        args: &[Term],
    ) -> Result<Option<Term>, Interrupt> {
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(args[0]));
        let third = args.get(2).copied();
        let mut traps = Traps::none();
        let result = match function {
            MemoryFn::Memcmp | MemoryFn::Bcmp => {
                self.compare(state, [a, b], third, ByteComparison::Bytes, &mut traps)?
            }
            MemoryFn::Strcmp => {
                self.compare(state, [a, b], None, ByteComparison::Text, &mut traps)?
            }
            MemoryFn::Strncmp => {
                self.compare(state, [a, b], third, ByteComparison::Text, &mut traps)?
            }
            MemoryFn::Strcasecmp => {
                self.compare(state, [a, b], None, ByteComparison::Letters, &mut traps)?
            }
            MemoryFn::Strncasecmp => {
                self.compare(state, [a, b], third, ByteComparison::Letters, &mut traps)?
            }
            MemoryFn::Strlen => self.length(state, a, None, &mut traps)?,
            MemoryFn::Strnlen => self.length(state, a, Some(b), &mut traps)?,
            MemoryFn::Memchr => self.find_byte(state, a, b, third, &mut traps)?,
            MemoryFn::Strchr => self.find_byte(state, a, b, None, &mut traps)?,
            MemoryFn::Strrchr => self.last_char(state, a, b, &mut traps)?,
            MemoryFn::Strstr => self.find_text(state, a, b, &mut traps)?,
            MemoryFn::Strspn => self.span(state, [a, b], SpanResult::Inside, &mut traps)?,
            MemoryFn::Strcspn => self.span(state, [a, b], SpanResult::Outside, &mut traps)?,
            MemoryFn::Strpbrk => self.span(state, [a, b], SpanResult::Pointer, &mut traps)?,
            MemoryFn::Memcpy
            | MemoryFn::Memmove
            | MemoryFn::Memset
            | MemoryFn::Strcpy
            | MemoryFn::Stpcpy
            | MemoryFn::Strncpy
            | MemoryFn::Strcat
            | MemoryFn::Strncat => return self.writing_function(state, function, args).map(Some),
        };
        self.leave_traps(state, &traps)?;
        Ok(Some(result))
    }

    /// The length of a string. At most `limit` bytes are looked at.
    pub(crate) fn length(
        &mut self,
        state: &mut State<N>,
        text: Term,
        limit: Option<Term>,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let mut offset = 0;
        let zero = self.pool.bv(8, 0);
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            let is_far = limit.is_none() && offset == self.context.farthest;
            if is_far && self.are_endless(state, &[text], offset)? {
                let length = self.length_beyond(state, offset);
                return Ok(self.first_of(&arms, length));
            }
            let here = self.pool.bv(64, offset);
            if !self.below_limit(state, limit, offset, here, &mut alive, &mut arms) {
                break;
            }
            let Some(byte) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let ends = self.pool.eq(byte, zero);
            if !self.stop_where(state, ends, here, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        let last = self.pool.bv(64, offset);
        Ok(self.first_of(&arms, last))
    }

    /// Whether strings go on at a distance from which on they are not followed. With a known limit
    /// they are followed to the limit.
    fn is_far(
        &mut self,
        state: &mut State<N>,
        texts: &[Term],
        limit: Option<Term>,
        offset: u64,
    ) -> Result<bool, Interrupt> {
        if offset != self.context.farthest.min(FAR)
            || limit.is_some_and(|limit| self.pool.as_u64(limit).is_some())
        {
            return Ok(false);
        }
        self.are_endless(state, texts, offset)
    }

    fn are_endless(
        &mut self,
        state: &mut State<N>,
        texts: &[Term],
        offset: u64,
    ) -> Result<bool, Interrupt> {
        for text in texts {
            let place = self.address_at(*text, offset);
            if !self.is_endless(state, place)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A length of more than `bytes`, constrained only by the size of an object.
    fn length_beyond(&mut self, state: &mut State<N>, bytes: u64) -> Term {
        let more = self.not_followed(state, LENGTH_BITS);
        let (more, bytes) = (self.pool.zext(more, 64), self.pool.bv(64, bytes));
        self.pool.add(more, bytes)
    }

    /// An address of a string more than `bytes` behind its start, or another value.
    fn place_beyond(&mut self, state: &mut State<N>, text: Term, bytes: u64, other: Term) -> Term {
        let length = self.length_beyond(state, bytes);
        let address = self.address_plus(text, length);
        let any = self.not_followed(state, 1);
        let is_found = self.pool.is_nonzero(any);
        self.pool.ite(is_found, address, other)
    }

    /// A result that depends on a string too long to look at all of it: any value of `bits` bits.
    pub(crate) fn not_followed(&mut self, state: &mut State<N>, bits: u32) -> Term {
        let name = state.inputs.unknowns.to_string();
        state.inputs.unknowns += 1;
        let any = undefined_symbol(&mut self.pool, Undetermined::Length, &name, Sort::BitVec(bits));
        let at = self.text_at(state);
        self.reads.note(&mut self.pool, any, || at);
        any
    }

    /// Stops with a value where a condition holds. Returns whether the call may go on.
    fn stop_where(
        &mut self,
        state: &State<N>,
        condition: Term,
        value: Term,
        alive: &mut Term,
        arms: &mut Vec<(Term, Term)>,
    ) -> bool {
        let condition = self.simplified(state, condition);
        if self.pool.as_bool(condition) == Some(false) {
            return true;
        }
        arms.push((condition, value));
        let not = self.pool.not(condition);
        *alive = self.pool.and(*alive, not);
        !self.is_dead(state, *alive)
    }

    /// Stops with a value where a limit is reached. Returns whether the call may go on.
    fn below_limit(
        &mut self,
        state: &State<N>,
        limit: Option<Term>,
        offset: u64,
        value: Term,
        alive: &mut Term,
        arms: &mut Vec<(Term, Term)>,
    ) -> bool {
        let Some(limit) = limit else { return true };
        let here = self.pool.bv(64, offset);
        let reached = self.pool.ule(limit, here);
        self.stop_where(state, reached, value, alive, arms)
    }

    fn compare(
        &mut self,
        state: &mut State<N>,
        [a, b]: [Term; 2],
        limit: Option<Term>,
        same: ByteComparison,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let equal = self.pool.bv(32, 0);
        let zero = self.pool.bv(8, 0);
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            if self.is_far(state, &[a, b], limit, offset)? {
                let any = self.not_followed(state, 32);
                return Ok(self.first_of(&arms, any));
            }
            if !self.below_limit(state, limit, offset, equal, &mut alive, &mut arms) {
                break;
            }
            let Some(x) = self.byte_at(state, a, offset, alive, traps)? else { break };
            let Some(y) = self.byte_at(state, b, offset, alive, traps)? else { break };
            let (x, y) = match same {
                ByteComparison::Letters => (self.lower_letter(x), self.lower_letter(y)),
                _ => (x, y),
            };
            let differ = self.pool.neq(x, y);
            let (wide_x, wide_y) = (self.pool.zext(x, 32), self.pool.zext(y, 32));
            let difference = self.pool.sub(wide_x, wide_y);
            if !self.stop_where(state, differ, difference, &mut alive, &mut arms) {
                break;
            }
            if same != ByteComparison::Bytes {
                let ends = self.pool.eq(x, zero);
                if !self.stop_where(state, ends, equal, &mut alive, &mut arms) {
                    break;
                }
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, equal))
    }

    fn lower_letter(&mut self, byte: Term) -> Term {
        let a = self.pool.bv(8, u64::from(b'A'));
        let distance = self.pool.sub(byte, a);
        let letters = self.pool.bv(8, 26);
        let is_upper = self.pool.ult(distance, letters);
        let shift = self.pool.bv(8, 32);
        let lower = self.pool.add(byte, shift);
        self.pool.ite(is_upper, lower, byte)
    }

    /// `memchr` with a count, `strchr` without.
    fn find_byte(
        &mut self,
        state: &mut State<N>,
        text: Term,
        wanted: Term,
        count: Option<Term>,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let wanted = self.pool.extract(7, 0, wanted);
        let (null, zero) = (self.pool.bv(64, 0), self.pool.bv(8, 0));
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            if self.is_far(state, &[text], count, offset)? {
                let place = self.place_beyond(state, text, offset, null);
                return Ok(self.first_of(&arms, place));
            }
            if !self.below_limit(state, count, offset, null, &mut alive, &mut arms) {
                break;
            }
            let address = self.address_at(text, offset);
            let Some(byte) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let found = self.pool.eq(byte, wanted);
            if !self.stop_where(state, found, address, &mut alive, &mut arms) {
                break;
            }
            if count.is_none() {
                let ends = self.pool.eq(byte, zero);
                if !self.stop_where(state, ends, null, &mut alive, &mut arms) {
                    break;
                }
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, null))
    }

    fn last_char(
        &mut self,
        state: &mut State<N>,
        text: Term,
        wanted: Term,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let wanted = self.pool.extract(7, 0, wanted);
        let zero = self.pool.bv(8, 0);
        let mut last = self.pool.bv(64, 0);
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            if self.is_far(state, &[text], None, offset)? {
                let place = self.place_beyond(state, text, offset, last);
                return Ok(self.first_of(&arms, place));
            }
            let address = self.address_at(text, offset);
            let Some(byte) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let found = self.pool.eq(byte, wanted);
            last = self.pool.ite(found, address, last);
            let ends = self.pool.eq(byte, zero);
            if !self.stop_where(state, ends, last, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, last))
    }

    fn find_text(
        &mut self,
        state: &mut State<N>,
        text: Term,
        wanted: Term,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let (null, zero) = (self.pool.bv(64, 0), self.pool.bv(8, 0));
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            if self.is_far(state, &[text], None, offset)? {
                let place = self.place_beyond(state, text, offset, null);
                return Ok(self.first_of(&arms, place));
            }
            let address = self.address_at(text, offset);
            let matches = self.begins_with(state, address, wanted, alive, traps)?;
            if !self.stop_where(state, matches, address, &mut alive, &mut arms) {
                break;
            }
            let Some(byte) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let ends = self.pool.eq(byte, zero);
            if !self.stop_where(state, ends, null, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, null))
    }

    /// Whether the text at an address begins with a string.
    fn begins_with(
        &mut self,
        state: &mut State<N>,
        text: Term,
        wanted: Term,
        alive: Term,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let (yes, no, zero) = (self.pool.tt(), self.pool.ff(), self.pool.bv(8, 0));
        let mut alive = alive;
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            let Some(byte) = self.byte_at(state, wanted, offset, alive, traps)? else { break };
            let ends = self.pool.eq(byte, zero);
            if !self.stop_where(state, ends, yes, &mut alive, &mut arms) {
                break;
            }
            let Some(other) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let differ = self.pool.neq(other, byte);
            if !self.stop_where(state, differ, no, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, no))
    }

    /// The number of first characters that are in a set or are not, or the place of the first one
    /// in it.
    fn span(
        &mut self,
        state: &mut State<N>,
        [text, set]: [Term; 2],
        kind: SpanResult,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let (null, zero) = (self.pool.bv(64, 0), self.pool.bv(8, 0));
        let mut alive = self.pool.tt();
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            if self.is_far(state, &[text], None, offset)? {
                let beyond = match kind {
                    SpanResult::Pointer => self.place_beyond(state, text, offset, null),
                    SpanResult::Inside | SpanResult::Outside => self.length_beyond(state, offset),
                };
                return Ok(self.first_of(&arms, beyond));
            }
            let address = self.address_at(text, offset);
            let here = self.pool.bv(64, offset);
            let Some(byte) = self.byte_at(state, text, offset, alive, traps)? else { break };
            let ends = self.pool.eq(byte, zero);
            let at_end = if kind == SpanResult::Pointer { null } else { here };
            if !self.stop_where(state, ends, at_end, &mut alive, &mut arms) {
                break;
            }
            let is_in = self.is_in_set(state, set, byte, alive, traps)?;
            let stops = if kind == SpanResult::Inside { self.pool.not(is_in) } else { is_in };
            let value = if kind == SpanResult::Pointer { address } else { here };
            if !self.stop_where(state, stops, value, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        let last = if kind == SpanResult::Pointer { null } else { self.pool.bv(64, offset) };
        Ok(self.first_of(&arms, last))
    }

    /// Whether a byte other than zero is one of a string's.
    fn is_in_set(
        &mut self,
        state: &mut State<N>,
        set: Term,
        byte: Term,
        alive: Term,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let (yes, no, zero) = (self.pool.tt(), self.pool.ff(), self.pool.bv(8, 0));
        let mut alive = alive;
        let mut arms = Vec::new();
        let mut offset = 0;
        loop {
            if !self.looks_at(state, offset, alive)? {
                break;
            }
            let Some(member) = self.byte_at(state, set, offset, alive, traps)? else { break };
            let found = self.pool.eq(member, byte);
            if !self.stop_where(state, found, yes, &mut alive, &mut arms) {
                break;
            }
            let ends = self.pool.eq(member, zero);
            if !self.stop_where(state, ends, no, &mut alive, &mut arms) {
                break;
            }
            offset += 1;
        }
        Ok(self.first_of(&arms, no))
    }
}

/// The result of [`Engine::span`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpanResult {
    /// The number of characters in the set (`strspn`).
    Inside,
    /// The number of characters not in the set (`strcspn`).
    Outside,
    /// The first character in the set (`strpbrk`).
    Pointer,
}
