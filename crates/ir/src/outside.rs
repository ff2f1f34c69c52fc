//! What functions that nobody defines may do beside returning: set variables through the pointers
//! that they are given.
//!
//! Which parameters that concerns follows from the declaration alone, so that the exploration, the
//! interpreter, the stubs of the native harness and those of emitted suites agree. What a call does
//! write is said by the test ([`crate::test::ExternalWrite`]).

use crate::ctype::{CType, CTypeId, CTypes};
use crate::libc::gives_inputs;
use crate::test::INPUT_PREFIX;

/// A parameter that an undefined function may write through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutParameter {
    /// Its position, from 0.
    pub position: u32,
    /// What it points to: `void`, or a type of known size.
    pub pointee: CTypeId,
}

/// What the names of functions begin with that the compiler knows, whatever is declared. They have
/// no stubs, so that no test can say what they do.
const COMPILERS_OWN: [&str; 3] = ["__builtin_", "__atomic_", "__sync_"];

/// The tags of records in which the machine keeps what no engine knows.
const MACHINES_OWN: [&str; 3] = ["__va_list_tag", "__jmp_buf_tag", "_IO_FILE"];

/// Whether an undefined function of this name is known to write nothing: the compiler's own, and those
/// that give inputs.
pub fn writes_nothing(name: &str) -> bool {
    let known = COMPILERS_OWN.iter().any(|prefix| name.starts_with(prefix));
    known || gives_inputs(name) || name.starts_with(INPUT_PREFIX)
}

/// The parameters of a function of this name and type that it may write through if it is undefined:
/// pointers to what is not const. There are none among variable arguments, whose types a definition
/// does not know, and none behind a parameter whose type C cannot spell.
pub fn out_parameters(types: &CTypes, name: &str, ty: CTypeId) -> Vec<OutParameter> {
    let CType::Function { params, .. } = types.get(ty) else { return Vec::new() };
    if writes_nothing(name) {
        return Vec::new();
    }
    let spelled = params.iter().take_while(|param| can_be_passed(types, **param));
    let pointers = spelled.zip(0..).filter_map(|(param, position)| match types.get(*param) {
        CType::Pointer { pointee, to_const: false } => {
            Some(OutParameter { position, pointee: *pointee })
        }
        _ => None,
    });
    pointers.filter(|out| can_be_written(types, out.pointee)).collect()
}

/// Whether a definition can have a parameter of the type.
fn can_be_passed(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Opaque { .. } | CType::Void => false,
        CType::Record(_) => types.size(ty).is_some() && !holds(types, ty, &is_opaque),
        _ => true,
    }
}

fn can_be_written(types: &CTypes, pointee: CTypeId) -> bool {
    match types.get(pointee) {
        CType::Void => true,
        CType::Function { .. } | CType::Opaque { .. } => false,
        _ => {
            types.size(pointee).is_some_and(|size| size > 0)
                && !holds(types, pointee, &|types, ty| is_machines_own(types, ty))
        }
    }
}

fn is_opaque(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Opaque { .. })
}

fn is_machines_own(types: &CTypes, ty: CTypeId) -> bool {
    let CType::Record(record) = types.get(ty) else { return false };
    let name = &types.records[*record].name;
    MACHINES_OWN.iter().any(|tag| name.strip_prefix("struct ").unwrap_or(name) == *tag)
}

/// Whether a value of the type is one of what is looked for, or has one in it.
fn holds(types: &CTypes, ty: CTypeId, is_one: &dyn Fn(&CTypes, CTypeId) -> bool) -> bool {
    if is_one(types, ty) {
        return true;
    }
    match types.get(ty) {
        CType::Array { element, .. } => holds(types, *element, is_one),
        CType::Record(record) => {
            types.records[*record].fields.iter().any(|field| holds(types, field.ty, is_one))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctype::{IntKind, Record};

    #[test]
    fn pointers_to_what_is_not_const_are_written_through() {
        let mut types = CTypes::default();
        let int = types.int(IntKind::Int);
        let void = types.intern(CType::Void);
        let pointer = |types: &mut CTypes, pointee, to_const| {
            types.intern(CType::Pointer { pointee, to_const })
        };
        let record = |types: &mut CTypes, name: &str, size| {
            let name = name.to_owned();
            let record = Record { name, is_union: false, fields: Vec::new(), size, align: 1 };
            let record = types.records.push(record);
            types.intern(CType::Record(record))
        };
        let incomplete = record(&mut types, "struct handle", None);
        let list = record(&mut types, "struct __va_list_tag", Some(24));
        let opaque = types.intern(CType::Opaque { name: "__float128".into(), size: 16, align: 16 });
        let to_function =
            types.intern(CType::Function { result: int, params: Vec::new(), variadic: false });
        let mut params = vec![
            pointer(&mut types, int, true),
            pointer(&mut types, int, false),
            int,
            pointer(&mut types, void, false),
            pointer(&mut types, incomplete, false),
            pointer(&mut types, list, false),
            pointer(&mut types, to_function, false),
        ];
        params.extend([opaque, params[1]]);
        let ty = types.intern(CType::Function { result: int, params, variadic: true });
        let found = out_parameters(&types, "set", ty);
        let written = |position, pointee| OutParameter { position, pointee };
        assert_eq!(found, [written(1, int), written(3, void)]);
        assert_eq!(out_parameters(&types, "__builtin_set", ty), []);
    }
}
