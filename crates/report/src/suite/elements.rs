//! The elements that undefined functions write, by C types: the type at the end of the path of
//! pointers to the write, and the number of elements.

use lydian_ir::outside::{handed_over, out_parameters};
use lydian_ir::test::{ExternalWrite, WriteBase};
use lydian_ir::{CType, CTypeId, CTypes, Program};

use crate::suite::signature::parameter_names;

/// The written elements of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The type of one.
    pub(crate) ty: CTypeId,
    /// The number of elements.
    pub(crate) count: u64,
    /// Whether they are a part of the object that the path leads to, such as a member, and not the
    /// whole of it or several of its kind.
    pub(crate) is_part: bool,
}

/// The elements of a write; `None` if the types along its path do not determine the type there, or
/// the write is no whole number of elements.
pub(crate) fn elements(
    program: &Program,
    function: &str,
    write: &ExternalWrite,
) -> Option<Elements> {
    let types = &program.types;
    let ty = type_at(program, function, &write.to, &write.through)?;
    let size = types.size(ty).filter(|size| *size > 0)?;
    let bytes = write.image.bytes.len() as u64;
    if write.offset.is_multiple_of(size) && bytes.is_multiple_of(size) {
        return Some(Elements { ty, count: bytes / size, is_part: false });
    }
    let (ty, count) = part(types, ty, write.offset % size, bytes)?;
    Some(Elements { ty, count, is_part: true })
}

/// The type that a path leads to. It begins at the pointee of a parameter, or at a variable, and
/// follows a pointer at each step.
pub(crate) fn type_at(
    program: &Program,
    function: &str,
    to: &WriteBase,
    through: &[u64],
) -> Option<CTypeId> {
    let types = &program.types;
    let first = match to {
        WriteBase::Argument(position) if through.is_empty() => {
            let out = out_parameters(types, function, function_type(program, function)?);
            out.into_iter().find(|out| out.position == *position)?.pointee
        }
        WriteBase::Argument(position) => parameter_pointee(program, function, *position)?,
        WriteBase::Variable(_) => return None,
        WriteBase::Global(name) => program.globals[program.global_named(name)?].ty,
    };
    through.iter().try_fold(first, |ty, step| pointee_at(types, ty, *step))
}

fn function_type(program: &Program, function: &str) -> Option<CTypeId> {
    Some(program.functions[program.function_named(function)?].ty)
}

/// The pointee of a parameter at which a path can begin.
fn parameter_pointee(program: &Program, function: &str, position: u32) -> Option<CTypeId> {
    let ty = function_type(program, function)?;
    let handed = handed_over(&program.types, function, ty);
    let CType::Function { params, .. } = program.types.get(ty) else { return None };
    let param = params.get(position as usize).filter(|_| handed.pointers.contains(&position));
    program.types.pointee(*param?)
}

/// Whether a path can begin at a function's parameter. A path without steps needs a parameter that
/// may be written through.
pub(crate) fn begins_at(program: &Program, function: &str, position: u32, steps: usize) -> bool {
    match steps {
        0 => type_at(program, function, &WriteBase::Argument(position), &[]).is_some(),
        _ => parameter_pointee(program, function, position).is_some(),
    }
}

/// The number of words for `...` that the stub of a function can reach.
pub(crate) fn words(program: &Program, function: &str) -> u32 {
    let ty = function_type(program, function);
    ty.map_or(0, |ty| handed_over(&program.types, function, ty).words)
}

/// The pointee of the pointer that lies so many bytes after the start of elements of a type.
pub fn pointee_at(types: &CTypes, ty: CTypeId, at: u64) -> Option<CTypeId> {
    let at = at % types.size(ty).filter(|size| *size > 0)?;
    match types.get(ty) {
        CType::Pointer { pointee, .. } => (at == 0).then_some(*pointee),
        CType::Array { element, .. } => pointee_at(types, *element, at),
        CType::Record(_) => {
            members_at(types, ty, at, 1).find_map(|(ty, behind)| pointee_at(types, ty, behind))
        }
        _ => None,
    }
}

/// The type and the number of the elements at some bytes of a value of a type.
fn part(types: &CTypes, ty: CTypeId, at: u64, bytes: u64) -> Option<(CTypeId, u64)> {
    if at == 0 && types.size(ty) == Some(bytes) {
        return Some((ty, 1));
    }
    match types.get(ty) {
        CType::Array { element, .. } => {
            let size = types.size(*element).filter(|size| *size > 0)?;
            if at.is_multiple_of(size) && bytes.is_multiple_of(size) {
                return Some((*element, bytes / size));
            }
            let within = at % size + bytes <= size;
            within.then(|| part(types, *element, at % size, bytes))?
        }
        CType::Record(_) => {
            members_at(types, ty, at, bytes).find_map(|(ty, behind)| part(types, ty, behind, bytes))
        }
        _ => None,
    }
}

/// The members of a struct or union that contain all of these bytes, without bit-fields, and the
/// offset of the bytes in each member.
fn members_at(
    types: &CTypes,
    ty: CTypeId,
    at: u64,
    bytes: u64,
) -> impl Iterator<Item = (CTypeId, u64)> + '_ {
    let fields = match types.get(ty) {
        CType::Record(record) => types.records[*record].fields.as_slice(),
        _ => &[],
    };
    let fields = fields.iter().filter(|field| field.bits.is_none());
    fields.filter_map(move |field| {
        let behind = at.checked_sub(field.bit_offset / 8)?;
        let end = behind.checked_add(bytes)?;
        (end <= types.size(field.ty)?).then_some((field.ty, behind))
    })
}

/// The name of the beginning of a path: a parameter, a word for `...` or a variable.
pub(crate) fn base_name(program: &Program, function: &str, to: &WriteBase) -> String {
    match to {
        WriteBase::Argument(position) => parameter_name(program, function, *position),
        WriteBase::Variable(position) => format!("word{position}"),
        WriteBase::Global(name) => name.clone(),
    }
}

/// The name of a function's parameter.
pub(crate) fn parameter_name(program: &Program, function: &str, position: u32) -> String {
    let names = program.function_named(function).map(|id| parameter_names(program, id));
    let name = names.and_then(|names| names.get(position as usize).cloned());
    name.unwrap_or_else(|| format!("arg{position}"))
}
