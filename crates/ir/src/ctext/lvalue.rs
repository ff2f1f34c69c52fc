//! Addresses as the objects that they are of, and loads.

use super::precedence::{Text, level};
use super::shape::Shape;
use super::{LEFT_OUT, Lvalue, MAX_DEPTH, UserC, Val, element};
use crate::program::arith;
use crate::program::ctype::{CType, CTypeId, RecordId};
use crate::program::expr::{BitField, Expr, ExprId, Type};

impl UserC<'_> {
    /// The object at an address.
    pub(super) fn lvalue(&self, addr: ExprId, depth: u32) -> Lvalue {
        let Some(node) = self.arena.get(addr).filter(|_| depth <= MAX_DEPTH) else {
            return Lvalue { text: Text::primary(LEFT_OUT), ty: None, pointer: None };
        };
        match node {
            Expr::AddrLocal(local) => {
                let found = &self.body.locals[*local];
                // What has no name is a literal's object or the result of a call.
                let spelled = (self.spelled)(addr).filter(|text| !text.is_empty());
                let text = match spelled.filter(|_| found.name.is_empty()) {
                    Some(text) => Text::foreign(text),
                    None => Text::primary(self.local_name(*local)),
                };
                Lvalue { text, ty: Some(found.ty), pointer: None }
            }
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
        let base = self.as_record(base, record, depth);
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

    /// The object at an address as a record, by a cast where C has it as something else.
    fn as_record(&self, addr: ExprId, record: RecordId, depth: u32) -> Lvalue {
        let found = self.lvalue(addr, depth);
        let types = &self.program.types;
        let is_record = |ty: CTypeId| matches!(types.get(ty), CType::Record(of) if *of == record);
        if found.ty.is_some_and(is_record) {
            return found;
        }
        let ty = types.iter().find(|(id, _)| is_record(*id)).map(|(id, _)| id);
        let Some(ty) = ty else { return found };
        let pointer = match found.pointer {
            Some(pointer) => pointer,
            None => self.address_of(found).text,
        };
        let name = types.spell_compiled(ty, "*");
        let pointer = Text::prefix(&format!("({name})"), &pointer);
        Lvalue { text: Text::prefix("*", &pointer), ty: Some(ty), pointer: Some(pointer) }
    }

    fn element(&self, base: ExprId, index: ExprId, size: u64, depth: u32) -> Lvalue {
        let types = &self.program.types;
        if self.is_object(base) {
            let array = self.lvalue(base, depth);
            let item = array.ty.filter(|ty| matches!(types.get(*ty), CType::Array { .. }));
            let item = item.and_then(|ty| element(self.program, ty));
            if let Some(item) = item.filter(|ty| types.size(*ty) == Some(size)) {
                let subscript = format!("[{}]", self.value(index, depth).text.text);
                let text = Text::postfix(&array.text, &subscript);
                return Lvalue { text, ty: Some(item), pointer: None };
            }
        }
        match self.steps_by(base, size) {
            Some(item) if types.scalar(item).is_some() || types.size(item).is_some() => {
                let subscript = format!("[{}]", self.value(index, depth).text.text);
                let pointer = self.value(base, depth).text;
                Lvalue { text: Text::postfix(&pointer, &subscript), ty: Some(item), pointer: None }
            }
            _ => {
                let pointer = self.stepped(base, index, size, depth);
                Lvalue { text: Text::prefix("*", &pointer), ty: None, pointer: Some(pointer) }
            }
        }
    }

    /// The type that a pointer points to, if C's arithmetic on it goes in steps of this size.
    fn steps_by(&self, pointer: ExprId, size: u64) -> Option<CTypeId> {
        let types = &self.program.types;
        self.pointee(pointer).filter(|ty| match types.get(*ty) {
            CType::Void => size == 1,
            _ => types.size(*ty) == Some(size),
        })
    }

    /// A pointer moved by some elements.
    fn stepped(&self, base: ExprId, index: ExprId, size: u64, depth: u32) -> Text {
        let pointer = self.value(base, depth).text;
        let value = self.value(index, depth);
        if self.steps_by(base, size).is_some() {
            return Text::infix(&pointer, "+", &value.text, level::ADD);
        }
        let pointer = Text::prefix("(char *)", &pointer);
        if size == 1 {
            return Text::infix(&pointer, "+", &value.text, level::ADD);
        }
        let is_wide = value.shape.bits() == 64 && value.shape.is_integer();
        let wide = Shape::Int { bits: 64, signed: true };
        let index = if is_wide { value } else { self.cast_to(wide, value) };
        let bytes = Text::infix(&index.text, "*", &Text::primary(size.to_string()), level::MUL);
        Text::infix(&pointer, "+", &bytes, level::ADD)
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

    /// The type that a pointer's value points to, as far as C's types say.
    pub(super) fn pointee(&self, addr: ExprId) -> Option<CTypeId> {
        let ty = match self.arena.get(addr)? {
            Expr::Local(local) => self.body.locals[*local].ty,
            Expr::Load { addr, .. } => self.object_type(*addr, 0)?,
            Expr::Index { base, size, .. } if !self.is_object(*base) => {
                return self.steps_by(*base, *size);
            }
            Expr::AddrFunc(function) => return Some(self.program.functions[*function].ty),
            Expr::Select { then, .. } => return self.pointee(*then),
            _ if self.is_object(addr) => {
                let ty = self.object_type(addr, 0)?;
                let is_array = matches!(self.program.types.get(ty), CType::Array { .. });
                return if is_array { element(self.program, ty) } else { Some(ty) };
            }
            _ => return None,
        };
        match self.program.types.get(ty) {
            CType::Array { element, .. } => Some(*element),
            _ => self.program.types.pointee(ty),
        }
    }

    /// The C type of the object at an address.
    pub(super) fn object_type(&self, addr: ExprId, depth: u32) -> Option<CTypeId> {
        if depth > MAX_DEPTH {
            return None;
        }
        let types = &self.program.types;
        match self.arena.get(addr)? {
            Expr::AddrLocal(local) => Some(self.body.locals[*local].ty),
            Expr::AddrGlobal(global) => Some(self.program.globals[*global].ty),
            Expr::Field { record, field, .. } => {
                let record = &types.records[*record];
                record.fields.get(*field as usize).map(|field| field.ty)
            }
            Expr::Index { base, size, .. } if self.is_object(*base) => {
                let ty = self.object_type(*base, depth + 1)?;
                let item = match types.get(ty) {
                    CType::Array { element, .. } => *element,
                    _ => ty,
                };
                Some(item).filter(|item| types.size(*item) == Some(*size))
            }
            Expr::Index { base, size, .. } => self.steps_by(*base, *size),
            _ => self.pointee(addr),
        }
    }

    /// An address as a value.
    pub(super) fn address(&self, id: ExprId, depth: u32) -> Val {
        if let Expr::Index { base, index, size, .. } = &self.arena[id]
            && !self.is_object(*base)
        {
            return Val { text: self.stepped(*base, *index, *size, depth), shape: Shape::Other };
        }
        self.address_of(self.lvalue(id, depth))
    }

    /// The address of an object as a value.
    fn address_of(&self, object: Lvalue) -> Val {
        let is_array =
            object.ty.is_some_and(|ty| matches!(self.program.types.get(ty), CType::Array { .. }));
        let is_literal = object.text.text.starts_with('"');
        let text = match object.pointer {
            Some(pointer) if !is_array => pointer,
            _ if is_array || is_literal => object.text,
            _ => Text::prefix("&", &object.text),
        };
        Val { text, shape: Shape::Other }
    }

    /// A load: the object by its name, or through a cast where it is not read as what it is.
    pub(super) fn load(&self, ty: Type, addr: ExprId, depth: u32) -> Val {
        let object = self.lvalue(addr, depth);
        let types = &self.program.types;
        let known = object.ty.filter(|found| types.scalar(*found) == Some(ty));
        if let Some(known) = known {
            return Val { text: object.text, shape: Shape::of(types, known) };
        }
        let shape = match ty {
            Type::Ptr => Shape::Other,
            _ if ty.is_float() => Shape::Float(ty),
            _ => Shape::int(ty, false),
        };
        let pointer = self.address_of(object).text;
        let name = shape.name(types.target);
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
        let shape = Shape::Int { bits: u32::from(field.bits), signed: field.signed };
        let value = Val { text: object.text, shape };
        // Compilers compute with wider fields in different types.
        match field.bits {
            ..=32 => value,
            _ => self.cast_to(Shape::int(field.ty, field.signed), value),
        }
    }

    /// `a - b` in elements.
    pub(super) fn difference(&self, a: ExprId, b: ExprId, size: u64, depth: u32) -> Val {
        let (x, y) = (self.value(a, depth).text, self.value(b, depth).text);
        let shape = Shape::Int { bits: 64, signed: true };
        let alike = self.steps_by(a, size).is_some() && self.pointee(a) == self.pointee(b);
        if alike {
            return Val { text: Text::infix(&x, "-", &y, level::ADD), shape };
        }
        let [x, y] = [x, y].map(|text| Text::prefix("(char *)", &text));
        let bytes = Text::infix(&x, "-", &y, level::ADD);
        let text = match size {
            0 | 1 => bytes,
            _ => {
                let size = Text::primary(format!("{size}l"));
                Text::infix(&bytes, "/", &size, level::MUL)
            }
        };
        Val { text, shape }
    }
}
