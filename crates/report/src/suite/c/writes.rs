//! The writes of undefined functions, as data for their stubs.

use std::collections::BTreeSet;

use lydian_ir::libc;
use lydian_ir::test::{ExternalWrite, PointerTarget, WriteBase};

use super::literal::{Names, array, characters, identifier, initialiser, string, unique};
use super::stubs::Stubs;
use crate::suite::elements::{self, Elements};
use crate::suite::image::plain;
use crate::suite::value::{Pointer, Value, read};

impl Stubs<'_> {
    /// The address and the size of a write. `before` gets the declarations that it needs.
    pub(super) fn written(
        &self,
        names: &Names<'_>,
        function: &str,
        write: &ExternalWrite,
        before: &mut Vec<String>,
        taken: &mut BTreeSet<String>,
    ) -> Result<(String, usize), String> {
        let program = names.program;
        let types = &program.types;
        let size = write.image.bytes.len();
        let is_zero = write.image.bytes.iter().all(|byte| *byte == 0);
        if is_zero && write.image.pointers.is_empty() {
            return Ok(("0".to_owned(), size));
        }
        let elements = elements::elements(program, function, write);
        let elements = elements.filter(|of| !types.spell(of.ty, "").contains('{'));
        let value = elements.map(|Elements { ty, count, .. }| {
            let value = read(types, ty, count, &write.image.clone().into());
            let text = match &value {
                Value::Text(bytes) if count != 1 => Ok(characters(program, ty, bytes, count)),
                Value::Array(elements) if count != 1 => array(names, ty, elements),
                value => initialiser(names, ty, value),
            };
            (ty, count, text)
        });
        match value {
            Some((ty, 1, Ok(text))) if types.scalar(ty).is_some() => {
                Ok((format!("&({}){{ {text} }}", types.spell_compiled(ty, "")), size))
            }
            Some((ty, count, Ok(text))) => {
                let place = elements::base_name(program, function, &write.to);
                let variable = unique(identifier(&format!("{place}_written")), taken);
                let declarator = match count {
                    1 => variable.clone(),
                    _ => format!("{variable}[{count}]"),
                };
                before.push(format!("{} = {text};", types.spell_compiled(ty, &declarator)));
                let address = if count == 1 { "&" } else { "" };
                Ok((format!("{address}{variable}"), size))
            }
            _ => {
                let image = plain(&write.image);
                if image.pointers.is_empty() {
                    return Ok((string(&image.bytes), size));
                }
                let place = elements::base_name(program, function, &write.to);
                let variable = unique(identifier(&format!("{place}_written")), taken);
                let bytes = string(&image.bytes);
                before.push(format!("unsigned char {variable}[{size}];"));
                before.push(format!("__builtin_memcpy({variable}, {bytes}, {size});"));
                for pointer in &image.pointers {
                    let target = names.pointer(&Pointer::To(pointer.target.clone()), None)?;
                    let at = pointer.offset;
                    before.push(format!(
                        "{{ const void *pointer = {target}; \
                         __builtin_memcpy({variable} + {at}, &pointer, sizeof pointer); }}"
                    ));
                }
                Ok((variable, size))
            }
        }
    }

    /// The members with the destination of a write.
    pub(super) fn way(
        &self,
        names: &Names<'_>,
        function: &str,
        write: &ExternalWrite,
    ) -> Result<String, String> {
        let is_error_number =
            |name: &str| name == libc::ERROR_NUMBER && libc::error_number(names.program).is_some();
        let mut way = match &write.to {
            WriteBase::Argument(position) => format!(".argument = {position}"),
            WriteBase::Variable(position) => {
                format!(".argument = {} + {position}", self.parameters(function))
            }
            WriteBase::Global(name) if is_error_number(name) => ".variable = &errno".to_owned(),
            WriteBase::Global(name) => {
                let pointer = Pointer::To(PointerTarget::Global(name.clone(), 0));
                format!(".variable = {}", names.pointer(&pointer, None)?)
            }
        };
        if write.through.len() > MOST_STEPS {
            return Err(format!("what {function} writes lies behind too many pointers"));
        }
        if !write.through.is_empty() {
            let steps: Vec<String> = write.through.iter().map(u64::to_string).collect();
            let (list, count) = (steps.join(", "), steps.len());
            way.push_str(&format!(", .through = {{ {list} }}, .steps = {count}"));
        }
        if write.offset > 0 {
            way.push_str(&format!(", .offset = {}", write.offset as i64));
        }
        Ok(way)
    }
}

/// The most pointers on a path for which `struct lydian_write` has room.
const MOST_STEPS: usize = 8;
