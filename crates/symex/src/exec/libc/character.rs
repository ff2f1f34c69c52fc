//! `<ctype.h>` in the C locale.

use lydian_eval::Traps;
use lydian_ir::libc::{
    CharacterClassFn, CharacterFn, TABLE_START, case_table, character_classes, class_bit,
    class_table,
};
use lydian_ir::{Program, TrapKind};
use lydian_smt::{Term, TermPool};

use super::super::explore::Engine;
use super::super::state::State;
use super::super::step::Flow;
use crate::memory::{Background, Contents, Memory, NewObject, ObjectKind};

/// The addresses of pointers into glibc's tables of characters.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct CharacterTables {
    classes: u64,
    to_lower: u64,
    to_upper: u64,
}

impl CharacterTables {
    /// Makes the tables if the program uses one of them. `None` too where there is no room.
    pub(in super::super) fn make(
        program: &Program,
        pool: &mut TermPool,
        memory: &mut Memory,
    ) -> Option<Self> {
        let names = ["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"];
        names.iter().find_map(|name| program.function_named(name))?;
        let classes = class_table().iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let mut case = |to_upper| {
            let bytes = case_table(to_upper).iter().flat_map(|entry| entry.to_le_bytes()).collect();
            add_table(pool, memory, bytes, 4)
        };
        let (to_lower, to_upper) = (case(false)?, case(true)?);
        let classes = add_table(pool, memory, classes, 2)?;
        Some(Self { classes, to_lower, to_upper })
    }
}

/// Adds a table and a pointer to its entry for 0; gives the pointer's address.
fn add_table(
    pool: &mut TermPool,
    memory: &mut Memory,
    bytes: Vec<u8>,
    element: u64,
) -> Option<u64> {
    let constant = |size: u64, contents: Contents| NewObject {
        size,
        length: None,
        kind: ObjectKind::Global,
        read_only: true,
        name: "table of characters".into(),
        contents,
    };
    let size = bytes.len() as u64;
    let contents = Contents::new(Background::Bytes(bytes.into()));
    let table = memory.allocate(constant(size, contents))?;
    let zero = memory.object(table).base + TABLE_START.unsigned_abs() as u64 * element;
    let mut contents = Contents::new(Background::Zero);
    let address = pool.bv(64, zero);
    contents.write(pool, 0, 8, address);
    let pointer = memory.allocate(constant(8, contents))?;
    Some(memory.object(pointer).base)
}

impl Engine<'_, '_> {
    pub(super) fn class_function(
        &mut self,
        state: &mut State,
        function: CharacterClassFn,
        args: &[Term],
    ) -> Result<Term, Flow> {
        self.has_class(state, args[0], class_bit(function))
    }

    pub(super) fn character_function(
        &mut self,
        function: CharacterFn,
        args: &[Term],
    ) -> Result<Term, Flow> {
        let table = match function {
            CharacterFn::Tolower => return Ok(self.other_case(args[0], b'A', 32)),
            CharacterFn::Toupper => return Ok(self.other_case(args[0], b'a', -32)),
            CharacterFn::CtypeBLoc => self.tables.map(|tables| tables.classes),
            CharacterFn::CtypeTolowerLoc => self.tables.map(|tables| tables.to_lower),
            CharacterFn::CtypeToupperLoc => self.tables.map(|tables| tables.to_upper),
        };
        let table = table.ok_or_else(|| Flow::unsupported("tables of characters"))?;
        Ok(self.pool.bv(64, table))
    }

    /// The bit of a class where a character is in it, else 0.
    fn has_class(&mut self, state: &mut State, c: Term, bit: u16) -> Result<Term, Flow> {
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

    /// `tolower` or `toupper`: the 26 letters from `first` on are moved by `shift`; -128 to -2 are
    /// the bytes that they are as `unsigned char`.
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
