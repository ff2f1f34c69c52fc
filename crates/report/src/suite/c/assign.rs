//! Assignments that make one value another.

use lydian_ir::device::volatile_variables;
use lydian_ir::{CType, CTypeId, CTypes};

use super::literal::{Names, member_of, scalar, string};
use crate::suite::image::ObservedImage;
use crate::suite::value::{Value, member, read};

/// Assigns the parts of a value that differ from those before. `count` is that of the elements, if the
/// whole is an array of them.
pub(super) fn assign(
    names: &Names<'_>,
    (ty, count): (CTypeId, Option<u64>),
    lvalue: &str,
    value: &Value,
    before: &Value,
    lines: &mut Vec<String>,
) -> Result<(), String> {
    if value == before {
        return Ok(());
    }
    let types = &names.program.types;
    let element = match (count, types.get(ty)) {
        (Some(_), _) => Some(ty),
        (None, CType::Array { element, .. }) => Some(*element),
        _ => None,
    };
    match (value, element, types.get(ty)) {
        (Value::Raw(_), ..) => Err("it has bytes that no value of its type has".into()),
        (Value::Text(bytes), Some(_), _) => {
            let known = if let Value::Text(known) = before {
                known.len()
            } else {
                return Err("bytes".into());
            };
            let mut all = bytes.clone();
            all.resize(known.max(bytes.len()), 0);
            let to = if is_volatile(names, lvalue) { "(void *)" } else { "" };
            lines.push(format!("__builtin_memcpy({to}{lvalue}, {}, {});", string(&all), all.len()));
            Ok(())
        }
        (Value::Array(elements), Some(element), _) => {
            let Value::Array(known) = before else { return Err("another array".into()) };
            let zero = zero_of(types, element);
            for index in 0..elements.len().max(known.len()) {
                let (new, old) = (elements.get(index), known.get(index));
                let place = format!("{lvalue}[{index}]");
                let (new, old) = (new.unwrap_or(&zero), old.unwrap_or(&zero));
                assign(names, (element, None), &place, new, old, lines)?;
            }
            Ok(())
        }
        (Value::Struct(members), _, CType::Record(record)) => {
            let Value::Struct(known) = before else { return Err("another struct".into()) };
            for (name, value) in members {
                let found = member(types, *record, name);
                let (field, _) = found.ok_or("it has bytes in a member without a name")?;
                let old = known.iter().find(|(other, _)| other == name).map(|(_, old)| old);
                let old = old.ok_or("another member of a union")?;
                assign(names, (field.ty, None), &member_of(lvalue, name), value, old, lines)?;
            }
            Ok(())
        }
        (Value::Union(name, value), _, CType::Record(record)) => {
            let found = member(types, *record, name);
            let (field, _) = found.ok_or("it has bytes in a member without a name")?;
            let Value::Union(known, old) = before else { return Err("another union".into()) };
            if known != name {
                return Err("another member of a union".into());
            }
            assign(names, (field.ty, None), &member_of(lvalue, name), value, old, lines)
        }
        (value, None, _) => {
            lines.push(format!("{lvalue} = {};", scalar(names, ty, value)?));
            Ok(())
        }
        _ => Err("it is no value of its type".into()),
    }
}

/// The zero of a type.
fn zero_of(types: &CTypes, ty: CTypeId) -> Value {
    read(types, ty, 1, &ObservedImage::zero(types.size(ty).unwrap_or(0)))
}

/// Whether a place lies in a variable that the program accesses as volatile.
fn is_volatile(names: &Names<'_>, lvalue: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let variable = lvalue.split(|c| !is_word(c)).next().unwrap_or_default();
    let variable = names.program.global_named(variable);
    variable.is_some_and(|variable| volatile_variables(names.program).any(|one| one == variable))
}
