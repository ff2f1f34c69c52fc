//! What undefined functions write, as tables that their stubs read.

use lydian_ir::libc;
use lydian_ir::test::{ExternalResult, ExternalWrite, PointerTarget, WriteBase};

use super::literal::{Names, array, characters, identifier, initialiser, unique};
use super::{Parts, Writer, fill};
use crate::value::{Pointer, Value, read};
use crate::written::{self, Elements};

impl Writer<'_> {
    /// What the calls of a function write.
    pub(super) fn writes(
        &mut self,
        names: &Names,
        name: &str,
        calls: &[&ExternalResult],
        parts: &mut Parts,
    ) -> Result<(), String> {
        let Some(function) = calls.first().map(|call| call.function.as_str()) else {
            return Ok(());
        };
        if !self.stubs.writes(function) {
            return Ok(());
        }
        let variable = format!("lydian_writes_{function}");
        if calls.iter().all(|call| call.writes.is_empty()) {
            parts.set_up.push(format!("{variable} = 0;"));
            return Ok(());
        }
        if self.stubs.passed(function).is_none() {
            return Err(format!("the type of a parameter of {function} has no name"));
        }
        let mut all = Vec::new();
        for call in calls {
            all.push(self.writes_of(names, name, call, parts)?);
        }
        let place = unique(format!("{name}_{function}_calls"), &mut self.taken);
        let all = all.join(", ");
        let declared = format!("static const struct lydian_writes {place}[] = {{ {all} }};");
        parts.definitions.push(declared);
        parts.set_up.push(format!("{variable} = {place};"));
        Ok(())
    }

    /// A table of what one call writes, and the entry that names it.
    fn writes_of(
        &mut self,
        names: &Names,
        name: &str,
        call: &ExternalResult,
        parts: &mut Parts,
    ) -> Result<String, String> {
        if call.writes.is_empty() {
            return Ok("{ 0, 0 }".to_owned());
        }
        let function = call.function.as_str();
        let mut list = Vec::new();
        for write in &call.writes {
            list.push(self.write_from(names, name, (function, write), parts)?);
        }
        let place = unique(format!("{name}_{function}_writes"), &mut self.taken);
        let (count, list) = (list.len(), list.join(", "));
        let to_error_number = |at: &usize| self.is_error_number(&call.writes[*at].to);
        let set: Vec<usize> = (0..count).filter(to_error_number).collect();
        let constant = if set.is_empty() { "const " } else { "" };
        let declared = format!("static {constant}struct lydian_write {place}[] = {{ {list} }};");
        parts.definitions.push(declared);
        // Its address is no constant.
        parts.set_up.extend(set.iter().map(|at| format!("{place}[{at}].variable = &errno;")));
        Ok(format!("{{ {count}, {place} }}"))
    }

    fn is_error_number(&self, to: &WriteBase) -> bool {
        let is_named = matches!(to, WriteBase::Global(name) if name == libc::ERROR_NUMBER);
        is_named && libc::error_number(self.program).is_some()
    }

    /// A variable with what is written, and the entry that says where it goes.
    fn write_from(
        &mut self,
        names: &Names,
        name: &str,
        (function, write): (&str, &ExternalWrite),
        parts: &mut Parts,
    ) -> Result<String, String> {
        let types = &self.program.types;
        let place = written::base_name(self.program, function, &write.to);
        let variable = unique(format!("{name}_{function}_{}", identifier(&place)), &mut self.taken);
        let way = self.way(names, function, write)?;
        let entry = format!("{{ {way}, .from = &{variable}, .size = sizeof {variable} }}");
        let elements = written::elements(self.program, function, write);
        let elements = elements.filter(|of| !types.spell(of.ty, "").contains('{'));
        let Some(Elements { ty, count, .. }) = elements else {
            let size = write.image.bytes.len();
            parts.declarations.push(format!("static unsigned char {variable}[{size}];"));
            return fill(names, &variable, &write.image, parts).map(|()| entry);
        };
        let declarator = match count {
            1 => variable.clone(),
            _ => format!("{variable}[{count}]"),
        };
        let declared = format!("static {}", types.spell_compiled(ty, &declarator));
        let value = read(types, ty, count, &write.image.clone().into());
        let initial = match &value {
            Value::Text(bytes) if count != 1 => Ok(characters(self.program, ty, bytes, count)),
            Value::Array(elements) if count != 1 => array(names, ty, elements),
            value => initialiser(names, ty, value),
        };
        match initial {
            Ok(text) => parts.definitions.push(format!("{declared} = {text};")),
            Err(_) => {
                parts.declarations.push(format!("{declared};"));
                fill(names, &variable, &write.image, parts)?;
            }
        }
        Ok(entry)
    }

    /// The members of an entry that say where a write goes.
    fn way(&self, names: &Names, function: &str, write: &ExternalWrite) -> Result<String, String> {
        let mut way = match &write.to {
            WriteBase::Argument(position) => format!(".argument = {position}"),
            WriteBase::Variable(position) => {
                format!(".argument = {} + {position}", self.stubs.parameters(function))
            }
            to @ WriteBase::Global(_) if self.is_error_number(to) => ".variable = 0".to_owned(),
            WriteBase::Global(name) => {
                let pointer = Pointer::To(PointerTarget::Global(name.clone(), 0));
                format!(".variable = {}", names.pointer(&pointer, None)?)
            }
        };
        if !write.through.is_empty() {
            let steps: Vec<String> = write.through.iter().map(u64::to_string).collect();
            let list = steps.join(", ");
            way.push_str(&format!(
                ", .through = (const __SIZE_TYPE__[]){{ {list} }}, .steps = {}",
                steps.len()
            ));
        }
        if write.offset > 0 {
            way.push_str(&format!(", .offset = {}", write.offset));
        }
        Ok(way)
    }
}
