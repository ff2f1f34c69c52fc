//! The type of an expression that is known only as text.
//!
//! Clang prints `typeof (expression)` inside of type strings with the expression's text and no
//! tree, as in the `const typeof (((struct s *)0)->next) *` of a list macro. The forms that stand
//! there in practice are read: names, members, indices, dereferences, addresses, casts.

use super::scopes::Resolver;
use crate::ctypes::{ArrayLength, CType, CTypes, IntKind, QualType, parse_type_prefix};

/// Operators nest at most this deep.
const MAX_DEPTH: u32 = 100;

/// The type of the expression; `None` for forms that are not read.
pub(super) fn type_of_text(
    text: &str,
    types: &mut CTypes,
    names: &mut Resolver<'_>,
) -> Option<QualType> {
    let mut reader = Reader { rest: text, depth: 0, types, names };
    let ty = reader.unary()?;
    reader.rest.trim().is_empty().then_some(ty)
}

struct Reader<'t, 'a, 'b> {
    rest: &'t str,
    depth: u32,
    types: &'a mut CTypes,
    names: &'a mut Resolver<'b>,
}

impl<'t> Reader<'t, '_, '_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| &rest[..end])
    }

    fn unary(&mut self) -> Option<QualType> {
        self.depth += 1;
        let ty = if self.depth > MAX_DEPTH { None } else { self.unary_within_depth() };
        self.depth -= 1;
        ty
    }

    fn unary_within_depth(&mut self) -> Option<QualType> {
        if self.rest.trim_start().starts_with("&&") {
            return None;
        }
        if self.eat("*") {
            let pointer = self.unary()?;
            return self.pointee(pointer);
        }
        if self.eat("&") {
            let object = self.unary()?;
            return Some(QualType::plain(self.types.pointer_to(object)));
        }
        if let Some(ty) = self.cast() {
            self.unary()?;
            return Some(ty);
        }
        let base = self.primary()?;
        self.postfix(base)
    }

    /// Goes past `(type)`; goes nowhere if that is not what comes.
    fn cast(&mut self) -> Option<QualType> {
        let inside = self.rest.trim_start().strip_prefix('(')?;
        let (ty, rest) = parse_type_prefix(inside, self.types, self.names)?;
        self.rest = rest.trim_start().strip_prefix(')')?;
        Some(ty)
    }

    fn primary(&mut self) -> Option<QualType> {
        if self.eat("(") {
            let ty = self.unary()?;
            return self.eat(")").then_some(ty);
        }
        let word = self.word()?;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let is_int = word.chars().all(|c| c.is_ascii_digit());
            return is_int.then(|| QualType::plain(self.types.intern(CType::Int(IntKind::Int))));
        }
        self.names.var(word)
    }

    fn postfix(&mut self, mut ty: QualType) -> Option<QualType> {
        loop {
            if self.eat("->") {
                let record = self.pointee(ty)?;
                ty = self.member(record)?;
            } else if self.eat(".") {
                ty = self.member(ty)?;
            } else if self.eat("[") {
                let close = self.rest.find(']')?;
                self.rest = &self.rest[close + 1..];
                ty = self.pointee(ty)?;
            } else {
                return Some(ty);
            }
        }
    }

    fn pointee(&self, ty: QualType) -> Option<QualType> {
        match self.types.get(ty.ty) {
            CType::Pointer(pointee) => Some(*pointee),
            CType::Array {
                element,
                length: ArrayLength::Constant(_) | ArrayLength::Incomplete,
            } => Some(*element),
            _ => None,
        }
    }

    fn member(&mut self, record: QualType) -> Option<QualType> {
        let name = self.word()?;
        let CType::Record(id) = self.types.get(record.ty) else { return None };
        let field = self.names.field(self.types, *id, name)?;
        Some(field.with(record.quals))
    }
}
