//! `<ctype.h>` in the C locale.

use super::machine::{Machine, Step};
use super::start::CharacterTables;
use crate::libc::{LibFn, TABLE_START, case_of, character_classes, class_bit};
use crate::stmt::TrapKind;

impl Machine<'_, '_> {
    pub(super) fn character_function(&mut self, function: LibFn, c: i32) -> Step<Option<u128>> {
        if let Some(bit) = class_bit(function) {
            // glibc reads its table at this index.
            if !(TABLE_START..=255).contains(&c) {
                return Err(TrapKind::OutOfBounds.into());
            }
            let classes = u8::try_from(c).map_or(0, character_classes);
            return Ok(Some(u128::from(classes & bit)));
        }
        let value = match function {
            LibFn::Tolower => case_of(c, false) as u32,
            LibFn::Toupper => case_of(c, true) as u32,
            _ => {
                let tables = match self.tables {
                    Some(tables) => tables,
                    None => *self.tables.insert(CharacterTables::place(&mut self.memory)),
                };
                let address = match function {
                    LibFn::CtypeBLoc => tables.classes,
                    LibFn::CtypeTolowerLoc => tables.to_lower,
                    _ => tables.to_upper,
                };
                return Ok(Some(u128::from(address)));
            }
        };
        Ok(Some(u128::from(value)))
    }
}
