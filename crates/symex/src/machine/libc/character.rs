//! `<ctype.h>` in the C locale.

use lydian_eval::Traps;
use lydian_ir::TrapKind;
use lydian_ir::libc::{CharacterClassFn, CharacterFn, TABLE_START, character_classes, class_bit};
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    pub(crate) fn class_function(
        &mut self,
        state: &mut State<N>,
        function: CharacterClassFn,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        self.has_class(state, args[0], class_bit(function))
    }

    pub(crate) fn character_function(
        &mut self,
        function: CharacterFn,
        args: &[Term],
    ) -> Result<Term, Interrupt> {
        let table = match function {
            CharacterFn::Tolower => return Ok(self.other_case(args[0], b'A', 32)),
            CharacterFn::Toupper => return Ok(self.other_case(args[0], b'a', -32)),
            CharacterFn::CtypeBLoc => self.tables.map(|tables| tables.classes),
            CharacterFn::CtypeTolowerLoc => self.tables.map(|tables| tables.to_lower),
            CharacterFn::CtypeToupperLoc => self.tables.map(|tables| tables.to_upper),
        };
        let table = table.ok_or_else(|| Interrupt::unsupported("tables of characters"))?;
        Ok(self.pool.bv(64, table))
    }

    /// The bit of a class where a character is in it, otherwise 0.
    fn has_class(&mut self, state: &mut State<N>, c: Term, bit: u16) -> Result<Term, Interrupt> {
        let start = self.pool.bv_signed(32, i64::from(-TABLE_START));
        let index = self.pool.add(c, start);
        let entries = self.pool.bv(32, 384);
        let inside = self.pool.ult(index, entries);
        let outside = self.pool.not(inside);
        let mut traps = Traps::none();
        traps.add(&self.pool, TrapKind::OutOfBounds, outside);
        self.leave_traps(state, &traps)?;
        let mut is_in = self.pool.ff();
        let mut first = 0u8;
        while first < 128 {
            let len = (first..128).take_while(|c| character_classes(*c) & bit != 0).count() as u8;
            if len > 0 {
                let low = self.pool.bv(32, u64::from(first));
                let distance = self.pool.sub(c, low);
                let count = self.pool.bv(32, u64::from(len));
                let here = self.pool.ult(distance, count);
                is_in = self.pool.or(is_in, here);
            }
            first += len + 1;
        }
        let (yes, no) = (self.pool.bv(32, u64::from(bit)), self.pool.bv(32, 0));
        Ok(self.pool.ite(is_in, yes, no))
    }

    /// `tolower` or `toupper`: moves the 26 letters from `first` on by `shift`. Values from -128 to
    /// -2 become their values as `unsigned char`.
    fn other_case(&mut self, c: Term, first: u8, shift: i64) -> Term {
        let low = self.pool.bv(32, u64::from(first));
        let distance = self.pool.sub(c, low);
        let letters = self.pool.bv(32, 26);
        let is_letter = self.pool.ult(distance, letters);
        let shift = self.pool.bv_signed(32, shift);
        let moved = self.pool.add(c, shift);
        let least = self.pool.bv_signed(32, i64::from(TABLE_START));
        let distance = self.pool.sub(c, least);
        let count = self.pool.bv(32, 127);
        let is_negative = self.pool.ult(distance, count);
        let bytes = self.pool.bv(32, 256);
        let positive = self.pool.add(c, bytes);
        let other = self.pool.ite(is_negative, positive, c);
        self.pool.ite(is_letter, moved, other)
    }
}
