//! Functions that input pointers point to.
//!
//! A pointer to a function among the inputs points to a synthetic undefined function, so that its
//! result is an input like the result of any other undefined function. There is one for each function
//! type that inputs lead to. [`prepare`] adds them before other analyses read the program.

use std::collections::{BTreeSet, VecDeque};

use lydian_ir::test::CALLBACK_PREFIX;
use lydian_ir::{CType, CTypeId, FuncId, Function, GlobalId, GlobalInit, IntKind, Program, Type};

/// Elements of an array of scalars that another file defines, where no declaration says how many:
/// one for each value of a byte, since that is what most such tables are indexed with.
const UNKNOWN_SCALARS: u64 = 256;

/// Elements of such an array of anything else.
const UNKNOWN_RECORDS: u64 = 16;

/// Adds the synthetic functions, and the types that plans use; gives arrays that another file
/// defines a length. Doing it again changes nothing.
pub fn prepare(program: &mut Program) {
    program.types.int(IntKind::UChar);
    give_lengths(program);
    let mut wanted = function_types(program);
    wanted.extend(pointed_to(program));
    wanted.sort_unstable();
    wanted.dedup();
    for ty in wanted {
        if callback_of(program, ty).is_some() {
            continue;
        }
        let taken = program.functions.values();
        let number = taken.filter(|function| is_callback(&function.name)).count();
        let name = format!("{CALLBACK_PREFIX}{number}");
        program.functions.push(Function::declared(name, ty));
    }
}

/// Without a length such an array would have no elements, and code after a read of it would seem
/// unreachable.
fn give_lengths(program: &mut Program) {
    for (_, global) in program.globals.iter_mut() {
        let CType::Array { element, length: None } = *program.types.get(global.ty) else {
            continue;
        };
        if global.init != GlobalInit::Extern {
            continue;
        }
        let scalar = program.types.scalar(element).is_some_and(|ty| ty != Type::Ptr);
        let length = if scalar { UNKNOWN_SCALARS } else { UNKNOWN_RECORDS };
        let ty = program.types.intern(CType::Array { element, length: Some(length) });
        if let Some(size) = program.types.size(ty) {
            (global.ty, global.size) = (ty, size);
        }
    }
}

/// The number and size in bytes of the elements of another file's array, if the number may be one that
/// [`prepare`] chose. A declaration with the very same number looks alike.
pub(crate) fn is_given_length(program: &Program, global: GlobalId) -> Option<(u64, u64)> {
    let global = &program.globals[global];
    let CType::Array { element, length: Some(length) } = *program.types.get(global.ty) else {
        return None;
    };
    let scalar = program.types.scalar(element).is_some_and(|ty| ty != Type::Ptr);
    let given = if scalar { UNKNOWN_SCALARS } else { UNKNOWN_RECORDS };
    let size = program.types.size(element)?;
    (global.init == GlobalInit::Extern && length == given).then_some((length, size))
}

/// Whether the name is that of a synthetic function.
pub fn is_callback(name: &str) -> bool {
    name.strip_prefix(CALLBACK_PREFIX)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The synthetic function of a type.
pub fn callback_of(program: &Program, ty: CTypeId) -> Option<FuncId> {
    let mut all = program.functions.iter();
    all.find(|(_, function)| function.ty == ty && is_callback(&function.name)).map(|(id, _)| id)
}

/// The types of functions that any pointer type of a program leads to: objects that come into being
/// may have pointers that no signature shows.
fn pointed_to(program: &Program) -> Vec<CTypeId> {
    let types = &program.types;
    let pointees = types.iter().filter_map(|(id, _)| types.pointee(id));
    pointees.filter(|ty| matches!(types.get(*ty), CType::Function { .. })).collect()
}

/// The types of functions that pointers among inputs of any defined function lead to, in a fixed
/// order.
fn function_types(program: &Program) -> Vec<CTypeId> {
    let mut reached: VecDeque<CTypeId> = VecDeque::new();
    for function in program.functions.values() {
        if let CType::Function { result, params, .. } = program.types.get(function.ty) {
            match function.body {
                Some(_) => reached.extend(params),
                None => reached.push_back(*result),
            }
        }
    }
    reached.extend(program.globals.values().filter(|g| !g.read_only).map(|global| global.ty));
    let mut seen = BTreeSet::new();
    let mut found = BTreeSet::new();
    while let Some(ty) = reached.pop_front() {
        if !seen.insert(ty) {
            continue;
        }
        match program.types.get(ty) {
            CType::Pointer { pointee, .. } => match program.types.get(*pointee) {
                CType::Function { .. } => {
                    found.insert(*pointee);
                }
                _ => reached.push_back(*pointee),
            },
            CType::Array { element, .. } => reached.push_back(*element),
            CType::Record(record) => {
                reached.extend(program.types.records[*record].fields.iter().map(|field| field.ty));
            }
            _ => {}
        }
    }
    found.into_iter().collect()
}
