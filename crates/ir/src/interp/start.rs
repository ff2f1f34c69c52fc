//! The state in which a test begins.

use super::memory::{GAP, Memory};
use crate::interp::outcome::BadTest;
use crate::libc::{TABLE_START, case_table, class_table, streams};
use crate::program::{GlobalInit, Program, RelocationTarget};
use crate::test::{Image, PointerTarget, Test, TestObject};

/// Bytes of an image, its pointers being filled in.
pub(super) fn image_bytes(
    program: &Program,
    memory: &Memory,
    test: &Test,
    image: &Image,
    name: &str,
) -> Result<Vec<u8>, BadTest> {
    let bad = || BadTest::Pointer(name.to_owned());
    let mut bytes = image.bytes.clone();
    for pointer in &image.pointers {
        let address = match &pointer.target {
            PointerTarget::Object(index, offset) => {
                let object = test.objects.get(*index as usize).ok_or_else(bad)?;
                object.address.wrapping_add(*offset)
            }
            PointerTarget::Global(global, offset) => {
                let global = program.global_named(global).ok_or_else(bad)?;
                memory.global_address(global).wrapping_add(*offset)
            }
            PointerTarget::Function(function) => {
                let function = program.function_named(function).ok_or_else(bad)?;
                memory.function_address(function)
            }
            PointerTarget::Stream(name) => memory.stream(name).ok_or_else(bad)?,
        };
        let start = usize::try_from(pointer.offset).map_err(|_| bad())?;
        let end = start.checked_add(memory.target().pointer_bytes() as usize).ok_or_else(bad)?;
        let place = bytes.get_mut(start..end).ok_or_else(bad)?;
        place.copy_from_slice(&memory.pointer_bytes(address));
    }
    Ok(bytes)
}

/// Memory with the program's globals, none of them larger than `max_size`, not yet protected.
pub(super) fn globals(program: &Program, max_size: u64) -> Result<Memory, BadTest> {
    let mut memory = Memory::new(program.functions.len(), program.types.target);
    let total = program.globals.values().map(|global| global.size + global.align + GAP);
    memory.reserve_globals(total.fold(0, u64::saturating_add).min(max_size));
    for global in program.globals.values() {
        let too_large = || BadTest::TooLarge(global.name.clone());
        if global.size > max_size {
            return Err(too_large());
        }
        memory.add_global(global.size, global.align).ok_or_else(too_large)?;
    }
    initialise_globals(program, &mut memory);
    for id in streams(program) {
        let name = &program.globals[id].name;
        let stream = memory.add_stream(name).ok_or_else(|| BadTest::TooLarge(name.clone()))?;
        let bytes = memory.pointer_bytes(stream);
        _ = memory.write(memory.global_address(id), &bytes);
    }
    Ok(memory)
}

/// Memory with globals ([`globals`]) and the test's objects, none of them larger than `max_size`.
pub(super) fn with_inputs(
    program: &Program,
    mut memory: Memory,
    test: &Test,
    max_size: u64,
) -> Result<Memory, BadTest> {
    for object in &test.objects {
        let size = program.types.size(object.ty).and_then(|size| size.checked_mul(object.count));
        // The bytes behind the elements belong to a flexible array member.
        let size = size.unwrap_or(0).max(object.image.bytes.len() as u64);
        if size > max_size {
            return Err(BadTest::TooLarge(object.name.clone()));
        }
        if !memory.place_input(object.address, size) {
            return Err(BadTest::Misplaced(object.name.clone()));
        }
    }
    for object in &test.objects {
        let bytes = image_bytes(program, &memory, test, &object.image, &object.name)?;
        let placed = memory.write(object.address, &bytes);
        placed.map_err(|_| BadTest::Misplaced(object.name.clone()))?;
        leave_padding(program, &mut memory, object);
    }
    for input in &test.globals {
        let name = &input.name;
        let global = program.global_named(name).ok_or_else(|| BadTest::NoGlobal(name.clone()))?;
        let bytes = image_bytes(program, &memory, test, &input.image, name)?;
        let address = memory.global_address(global);
        let written = memory.write(address, &bytes);
        written.map_err(|_| BadTest::TooLarge(name.clone()))?;
    }
    protect(program, &mut memory);
    for object in test.objects.iter().filter(|object| object.read_only) {
        memory.protect(object.address);
    }
    Ok(memory)
}

/// Leaves the padding of an object without a value, as an initialiser in C does. Padding that is given
/// another value than zero is written by bytes. Behind a struct with a flexible array are its elements.
fn leave_padding(program: &Program, memory: &mut Memory, object: &TestObject) {
    let holes = program.types.padding(object.ty);
    if holes.is_empty() {
        return;
    }
    let size = program.types.size(object.ty).unwrap_or(0);
    let structs = if program.types.has_flexible_end(object.ty) { 1 } else { object.count };
    for index in 0..structs {
        for hole in &holes {
            let start = index * size + hole.start;
            let given = object.image.bytes.get(start as usize..(index * size + hole.end) as usize);
            if given.is_none_or(|bytes| bytes.iter().all(|byte| *byte == 0)) {
                memory.leave_unwritten(object.address + start, hole.end - hole.start);
            }
        }
    }
}

fn initialise_globals(program: &Program, memory: &mut Memory) {
    for (id, global) in program.globals.iter() {
        let GlobalInit::Data { items, relocations } = &global.init else { continue };
        let base = memory.global_address(id);
        // The verifier has seen that all of this lies inside.
        for item in items {
            _ = memory.write(base + item.offset, &item.bytes);
        }
        for relocation in relocations {
            let address = target_address(memory, relocation.target);
            let address = address.wrapping_add_signed(relocation.addend);
            let bytes = memory.pointer_bytes(address);
            _ = memory.write(base + relocation.offset, &bytes);
        }
    }
}

/// The address of the target of a relocation.
fn target_address(memory: &Memory, target: RelocationTarget) -> u64 {
    match target {
        RelocationTarget::Global(global) => memory.global_address(global),
        RelocationTarget::Function(function) => memory.function_address(function),
    }
}

/// Makes globals that may not be written read-only, once they have their contents.
pub(super) fn protect(program: &Program, memory: &mut Memory) {
    for (id, _) in program.globals.iter().filter(|(_, global)| global.read_only) {
        let address = memory.global_address(id);
        memory.protect(address);
    }
}

/// The C library's tables of characters, and the address that each function returns for its one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CharacterTables {
    pub(super) classes: u64,
    pub(super) to_lower: u64,
    pub(super) to_upper: u64,
}

impl CharacterTables {
    /// Puts the tables behind the globals.
    pub(super) fn place(memory: &mut Memory) -> Self {
        let classes = class_table().iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let case = |to_upper| {
            let table = case_table(to_upper);
            table.iter().flat_map(|entry| entry.to_le_bytes()).collect::<Vec<u8>>()
        };
        Self {
            classes: place_table(memory, classes, 2),
            to_lower: place_table(memory, case(false), 4),
            to_upper: place_table(memory, case(true), 4),
        }
    }
}

/// A table, and the address of a pointer to its entry for 0.
fn place_table(memory: &mut Memory, bytes: Vec<u8>, entry: u64) -> u64 {
    let zero = |base: u64| base + entry * u64::from(TABLE_START.unsigned_abs());
    let base = place_constant(memory, &bytes);
    let pointer = memory.pointer_bytes(zero(base));
    place_constant(memory, &pointer)
}

/// Puts read-only bytes behind the globals: their address; 0 where there is no room.
pub(super) fn place_constant(memory: &mut Memory, bytes: &[u8]) -> u64 {
    let address = memory.add_global(bytes.len() as u64, 8).unwrap_or(0);
    _ = memory.write(address, bytes);
    memory.protect(address);
    address
}
