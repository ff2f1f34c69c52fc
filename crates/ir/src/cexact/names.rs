//! The names of variables at one place of a function's text, by C's scopes.

use std::fmt;

use super::*;
use crate::program::{Global, GlobalInit};

/// Names by the scopes of C, at one offset of the preprocessed text. A variable that another one
/// hides at that place has no name.
pub struct ScopedNames<'a> {
    program: &'a Program,
    function: FuncId,
    body: &'a Body,
    offset: u32,
    temporary: &'a dyn Fn(LocalId) -> Option<String>,
}

impl fmt::Debug for ScopedNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopedNames({} at {})", self.function, self.offset)
    }
}

impl<'a> ScopedNames<'a> {
    /// Names at `offset` in `function`, whose body is `body`. `temporary` names the temporaries.
    pub fn new(
        program: &'a Program,
        function: FuncId,
        body: &'a Body,
        offset: u32,
        temporary: &'a dyn Fn(LocalId) -> Option<String>,
    ) -> Self {
        Self { program, function, body, offset, temporary }
    }

    /// The innermost local that the name means here.
    fn visible(&self, name: &str) -> Option<LocalId> {
        let here = |scope: lydian_base::Span| scope.start <= self.offset && self.offset < scope.end;
        let locals = self.body.locals.iter();
        let named = locals.filter(|(_, local)| !local.name.is_empty() && local.name == name);
        // The inner of two scopes that hold one place begins later.
        named
            .filter(|(_, local)| here(local.scope))
            .max_by_key(|(_, local)| local.scope.start)
            .map(|(id, _)| id)
    }

    /// The name of a static local of this function, if no other one could be meant by it.
    fn static_local(&self, name: &str) -> Option<String> {
        let function = &self.program.functions.get(self.function)?.name;
        let own = name.strip_prefix(function.as_str())?.strip_prefix('.')?;
        let second = format!("{name}.2");
        let alone = !own.contains('.') && self.program.global_named(&second).is_none();
        alone.then(|| own.to_owned())
    }
}

impl Names for ScopedNames<'_> {
    fn local(&self, local: LocalId) -> Option<String> {
        let found = self.body.locals.get(local)?;
        if found.kind == LocalKind::Temp && found.name.is_empty() {
            return (self.temporary)(local);
        }
        (!found.name.is_empty() && self.visible(&found.name) == Some(local))
            .then(|| found.name.clone())
    }

    fn global(&self, global: GlobalId) -> Option<String> {
        let name = &self.program.globals.get(global)?.name;
        let name = match name.find('.') {
            None => name.clone(),
            Some(_) => self.static_local(name)?,
        };
        self.visible(&name).is_none().then_some(name)
    }

    fn function(&self, function: FuncId) -> Option<String> {
        let name = self.program.functions.get(function)?.name.clone();
        self.visible(&name).is_none().then_some(name)
    }
}

/// The text of a string literal that has these contents; `None` if the global is none (its name
/// begins with `.str`), or holds addresses.
pub fn string_literal(global: &Global) -> Option<String> {
    let wanted = global.name.starts_with(".str") && global.size <= 4096;
    let mut bytes = vec![0u8; if wanted { global.size as usize } else { return None }];
    match &global.init {
        GlobalInit::Extern => return None,
        GlobalInit::Zero => {}
        GlobalInit::Data { items, relocations } => {
            if !relocations.is_empty() {
                return None;
            }
            for item in items {
                let start = usize::try_from(item.offset).ok()?;
                let end = start.checked_add(item.bytes.len())?;
                bytes.get_mut(start..end)?.copy_from_slice(&item.bytes);
            }
        }
    }
    // The compiler adds the last zero.
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' if byte != b'?' => text.push(char::from(byte)),
            _ => write!(text, "\\{byte:03o}").expect("a String takes all text"),
        }
    }
    text.push('"');
    Some(text)
}
