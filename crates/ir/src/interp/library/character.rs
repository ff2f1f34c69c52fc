//! `<ctype.h>` in the C locale.

use crate::interp::machine::{Machine, Step};
use crate::libc::{
    CharacterClassFn, CharacterFn, TABLE_START, case_of, character_classes, class_bit,
};
use crate::program::stmt::TrapKind;

/// The bit of a character's classes that a function asks for. glibc reads its table at this index.
pub(in crate::interp) fn class_function(function: CharacterClassFn, c: i32) -> Step<u128> {
    if !(TABLE_START..=255).contains(&c) {
        return Err(TrapKind::OutOfBounds.into());
    }
    let classes = u8::try_from(c).map_or(0, character_classes);
    Ok(u128::from(classes & class_bit(function)))
}

impl Machine<'_, '_> {
    pub(in crate::interp) fn character_function(&mut self, function: CharacterFn, c: i32) -> u128 {
        match function {
            CharacterFn::Tolower => u128::from(case_of(c, false) as u32),
            CharacterFn::Toupper => u128::from(case_of(c, true) as u32),
            CharacterFn::CtypeBLoc => u128::from(self.character_tables().classes),
            CharacterFn::CtypeTolowerLoc => u128::from(self.character_tables().to_lower),
            CharacterFn::CtypeToupperLoc => u128::from(self.character_tables().to_upper),
        }
    }
}
