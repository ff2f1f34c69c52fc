//! Addresses as the objects that they are of, and loads.

use super::precedence::{Text, level};
use super::shape::Shape;
use super::{LEFT_OUT, Lvalue, MAX_DEPTH, UserC, Val, element};
use crate::arith;
use crate::ctype::{CType, CTypeId, RecordId};
use crate::expr::{BitField, Expr, ExprId, Type};

impl UserC<'_> {
    /// The object at an address.
    pub(super) fn lvalue(&self, addr: ExprId, depth: u32) -> Lvalue {
        let Some(node) = self.arena.get(addr).filter(|_| depth <= MAX_DEPTH) else {
            return Lvalue { text: Text::primary(LEFT_OUT), ty: None, pointer: None };
        };
        match node {
            Expr::AddrLocal(local) => Lvalue {
                text: Text::primary(self.local_name(*local)),
                ty: Some(self.body.locals[*local].ty),
                pointer: None,
            },
            Expr::AddrGlobal(global) => Lvalue {
                text: Text::primary(self.global_name(*global)),
                ty: Some(self.program.globals[*global].ty),
                pointer: None,
            },
            Expr::Field { base, record, field } => self.member(*base, *record, *field, depth + 1),
            Expr::Index { base, index, size, .. } => self.element(*base, *index, *size, depth + 1),
            _ => {
                let ty = self.pointee(addr);
                let pointer = self.value(addr, depth + 1).text;
                Lvalue { text: Text::prefix("*", &pointer), ty, pointer: Some(pointer) }
            }
        }
    }

    /// A member. One without a name is the record around it as far as C's words go.
    fn member(&self, base: ExprId, record: RecordId, field: u32, depth: u32) -> Lvalue {
        let base = self.lvalue(base, depth);
        let field = self.program.types.records[record].fields.get(field as usize);
        let ty = field.map(|field| field.ty);
        match field.map_or("", |field| field.name.as_str()) {
            "" => Lvalue { ty, ..base },
            name => {
                let text = match &base.pointer {
                    Some(pointer) => Text::postfix(pointer, &format!("->{name}")),
                    None => Text::postfix(&base.text, &format!(".{name}")),
                };
                Lvalue { text, ty, pointer: None }
            }
        }
    }

    fn element(&self, base: ExprId, index: ExprId, size: u64, depth: u32) -> Lvalue {
        let types = &self.program.types;
        let subscript = format!("[{}]", self.value(index, depth).text.text);
        let fits = |ty: CTypeId| types.size(ty).is_none_or(|element| element == size);
        if self.is_object(base) {
            let array = self.lvalue(base, depth);
            let item = array.ty.filter(|ty| matches!(types.get(*ty), CType::Array { .. }));
            let item = item.and_then(|ty| element(self.program, ty)).filter(|ty| fits(*ty));
            if item.is_some() {
                let text = Text::postfix(&array.text, &subscript);
                return Lvalue { text, ty: item, pointer: None };
            }
        }
        let pointer = self.value(base, depth).text;
        let item = self.pointee(base).filter(|ty| fits(*ty));
        let pointer = match item {
            Some(_) => pointer,
            None => Text::prefix("(char *)", &pointer),
        };
        Lvalue { text: Text::postfix(&pointer, &subscript), ty: item, pointer: None }
    }

    /// Whether an address is written as the place of an object, not as a pointer's value.
    fn is_object(&self, addr: ExprId) -> bool {
        matches!(
            self.arena.get(addr),
            Some(
                Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } | Expr::Index { .. }
            )
        )
    }

    /// What a pointer's value points to, as far as C's types say.
    fn pointee(&self, addr: ExprId) -> Option<CTypeId> {
        let ty = match self.arena.get(addr)? {
            Expr::Local(local) => self.body.locals[*local].ty,
            Expr::Load { addr, .. } => self.object_type(*addr, 0)?,
            Expr::Index { base, .. } if !self.is_object(*base) => return self.pointee(*base),
            _ if self.is_object(addr) => {
                let ty = self.object_type(addr, 0)?;
                let is_array = matches!(self.program.types.get(ty), CType::Array { .. });
                return if is_array { element(self.program, ty) } else { Some(ty) };
            }
            _ => return None,
        };
        self.program.types.pointee(ty)
    }

    /// The C type of the object at an address.
    fn object_type(&self, addr: ExprId, depth: u32) -> Option<CTypeId> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.arena.get(addr)? {
            Expr::AddrLocal(local) => Some(self.body.locals[*local].ty),
            Expr::AddrGlobal(global) => Some(self.program.globals[*global].ty),
            Expr::Field { record, field, .. } => {
                let record = &self.program.types.records[*record];
                record.fields.get(*field as usize).map(|field| field.ty)
            }
            Expr::Index { base, .. } if self.is_object(*base) => {
                let ty = self.object_type(*base, depth + 1)?;
                match self.program.types.get(ty) {
                    CType::Array { element, .. } => Some(*element),
                    _ => Some(ty),
                }
            }
            Expr::Index { base, .. } => self.pointee(*base),
            _ => self.pointee(addr),
        }
    }

    /// An address as a value.
    pub(super) fn address(&self, id: ExprId, depth: u32) -> Val {
        if let Expr::Index { base, index, .. } = &self.arena[id]
            && !self.is_object(*base)
        {
            let pointer = self.value(*base, depth).text;
            let index = self.value(*index, depth).text;
            let text = Text::infix(&pointer, "+", &index, level::ADD);
            return Val { text, shape: Shape::Other };
        }
        let object = self.lvalue(id, depth);
        let is_array =
            object.ty.is_some_and(|ty| matches!(self.program.types.get(ty), CType::Array { .. }));
        let is_literal = object.text.text.starts_with('"');
        let text = match is_array || is_literal {
            true => object.text,
            false => Text::prefix("&", &object.text),
        };
        Val { text, shape: Shape::Other }
    }

    /// A load: the object by its name, or through a cast where it is not read as what it is.
    pub(super) fn load(&self, ty: Type, addr: ExprId, depth: u32) -> Val {
        let object = self.lvalue(addr, depth);
        let types = &self.program.types;
        let unread = object.ty.is_some_and(|found| types.scalar(found) != Some(ty));
        let known = object.ty.filter(|found| types.scalar(*found) == Some(ty));
        let shape = match (known, ty) {
            (Some(known), _) => Shape::of(types, known),
            (None, _) if ty.is_float() => Shape::Float { bits: ty.bits() },
            (None, Type::Ptr) => Shape::Other,
            (None, _) => Shape::int(ty, false),
        };
        if !unread {
            return Val { text: object.text, shape };
        }
        let pointer = match &object.pointer {
            Some(pointer) => pointer.clone(),
            None => self.address(addr, depth).text,
        };
        let name = if shape == Shape::Other { "void *" } else { shape.name() };
        let separator = if name.ends_with('*') { "" } else { " " };
        let pointer = Text::prefix(&format!("({name}{separator}*)"), &pointer);
        Val { text: Text::prefix("*", &pointer), shape }
    }

    /// A bit-field by its name. The address is that of the record plus the field's first byte.
    pub(super) fn bit_field(&self, field: &BitField, addr: ExprId, depth: u32) -> Val {
        let base = match self.arena.get(addr) {
            Some(Expr::Index { base, index, size: 1, .. }) => match self.arena.get(*index) {
                Some(Expr::Const(_, offset))
                    if arith::signed(64, *offset) == i128::from(field.byte_offset) =>
                {
                    *base
                }
                _ => addr,
            },
            _ => addr,
        };
        let object = self.member(base, field.record, field.field, depth);
        let shape = Shape::int(field.ty, field.signed);
        // A field that is narrower than `int` is promoted to it, whatever its sign.
        let fits_int = u32::from(field.bits) < 32;
        Val { text: object.text, shape: if fits_int { Shape::INT } else { shape } }
    }
}
