//! The character tables of glibc.

use lydian_ir::Program;
use lydian_ir::libc::{TABLE_START, case_table, class_table};
use lydian_smt::TermPool;

use crate::machine::memory::{Background, Contents, Memory, NewObject, ObjectKind};

/// The addresses of pointers into the character tables of glibc.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CharacterTables {
    pub(crate) classes: u64,
    pub(crate) to_lower: u64,
    pub(crate) to_upper: u64,
}

impl CharacterTables {
    /// Makes the tables if the program uses one of them. Also returns `None` where there is no
    /// room.
    pub(crate) fn make(
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

/// Adds a table and a pointer to its entry for 0. Returns the pointer's address.
fn add_table(
    pool: &mut TermPool,
    memory: &mut Memory,
    bytes: Vec<u8>,
    element: u64,
) -> Option<u64> {
    let constant = |size: u64, contents: Contents| NewObject {
        size,
        alignment: 1,
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
