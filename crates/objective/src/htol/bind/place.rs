//! Variables of the program, their members and elements, as expressions.

use lydian_base::{EntityId, Span};
use lydian_ir::function::LocalKind;
use lydian_ir::{
    BitField, CType, CTypeId, CastOp, Expr, ExprId, GlobalId, LocalId, RecordId, Storage, Type,
};

use super::super::HtolError;
use super::super::syntax::{Term, TermKind};
use super::{WIDE, unsupported};
use crate::annotate::Context;

/// Names as they are seen at a place of the text.
pub(super) struct Places {
    /// The place.
    pub(super) at: Span,
}

/// What a term stands for.
enum Place {
    /// A value.
    Value(ExprId, CTypeId),
    /// An object at an address.
    Object(ExprId, CTypeId),
    /// A bit-field of the record at an address.
    Bits(ExprId, BitField),
}

impl Places {
    /// The value of a variable, member or element as an integer of 128 bits.
    pub(super) fn read(&self, cx: &mut Context<'_>, term: &Term) -> Result<ExprId, HtolError> {
        let (value, signed) = match self.place(cx, term)? {
            Place::Bits(addr, field) => {
                (cx.exprs.make(&Expr::LoadBits { field, addr }), field.signed)
            }
            place => {
                let (value, ty) = scalar(cx, place, term)?;
                (value, cx.program.types.is_signed(ty))
            }
        };
        let ty = cx.exprs.type_of(value);
        let integer = match ty {
            Type::Ptr => cx.exprs.make(&Expr::Cast(CastOp::Bits, Type::Int(64), value)),
            Type::Int(_) => value,
            _ => return unsupported("a value that is neither integer nor pointer", &term.at.0),
        };
        let op = if signed { CastOp::SExt } else { CastOp::ZExt };
        Ok(match cx.exprs.type_of(integer) {
            WIDE => integer,
            _ => cx.exprs.make(&Expr::Cast(op, WIDE, integer)),
        })
    }

    fn place(&self, cx: &mut Context<'_>, term: &Term) -> Result<Place, HtolError> {
        match &term.kind {
            TermKind::Name(name) => self.variable(cx, name, term),
            TermKind::Member(record, name) => match self.place(cx, record)? {
                Place::Object(addr, ty) => member(cx, addr, ty, name, term),
                _ => unsupported("a member of what is no object", &term.at.0),
            },
            TermKind::Arrow(pointer, name) => {
                let (base, ty) = self.pointer(cx, pointer)?;
                member(cx, base, ty, name, term)
            }
            TermKind::Deref(pointer) => {
                let (addr, ty) = self.pointer(cx, pointer)?;
                Ok(Place::Object(addr, ty))
            }
            TermKind::Index(array, index) => self.element(cx, array, index, term),
            _ => unsupported("an operator in a place", &term.at.0),
        }
    }

    fn variable(&self, cx: &mut Context<'_>, name: &str, term: &Term) -> Result<Place, HtolError> {
        if let Some(local) = local_named(cx, name, self.at) {
            let (ty, storage) = (cx.body.locals[local].ty, cx.body.locals[local].storage);
            return Ok(match storage {
                Storage::Register(_) => Place::Value(cx.exprs.make(&Expr::Local(local)), ty),
                Storage::Memory { .. } => Place::Object(cx.exprs.make(&Expr::AddrLocal(local)), ty),
            });
        }
        let own = format!("{}.{name}", cx.function.name);
        let global = global_named(cx, &own).or_else(|| global_named(cx, name));
        let Some(global) = global else {
            let what = format!("`{}` knows no variable `{name}` here", cx.function.name);
            return Err(HtolError::Unknown { what, at: term.at.0.clone() });
        };
        let ty = cx.program.globals[global].ty;
        Ok(Place::Object(cx.exprs.make(&Expr::AddrGlobal(global)), ty))
    }

    /// The address that a pointer holds, and the type of what lies there.
    fn pointer(&self, cx: &mut Context<'_>, term: &Term) -> Result<(ExprId, CTypeId), HtolError> {
        let place = self.place(cx, term)?;
        let (value, ty) = match place {
            // The address of an array's first element is that of the array.
            Place::Object(addr, ty) if element_of(cx, ty).is_some() => {
                return Ok((addr, element_of(cx, ty).map_or(ty, |(element, _)| element)));
            }
            place => scalar(cx, place, term)?,
        };
        match cx.program.types.pointee(ty) {
            Some(pointee) => Ok((value, pointee)),
            None => unsupported("to follow what is no pointer", &term.at.0),
        }
    }

    fn element(
        &self,
        cx: &mut Context<'_>,
        array: &Term,
        index: &Term,
        term: &Term,
    ) -> Result<Place, HtolError> {
        let bound = match self.place(cx, array)? {
            Place::Object(_, ty) => element_of(cx, ty).and_then(|(_, count)| count),
            _ => None,
        };
        let (base, element) = self.pointer(cx, array)?;
        let Some(size) = cx.program.types.size(element) else {
            return unsupported("an element without a size", &term.at.0);
        };
        let wide = self.wide(cx, index)?;
        let index = cx.exprs.make(&Expr::Cast(CastOp::Trunc, Type::Int(64), wide));
        let addr = cx.exprs.make(&Expr::Index { base, index, size, bound });
        Ok(Place::Object(addr, element))
    }
}

/// The value of a place of scalar type.
fn scalar(cx: &mut Context<'_>, place: Place, term: &Term) -> Result<(ExprId, CTypeId), HtolError> {
    match place {
        Place::Value(value, ty) => Ok((value, ty)),
        Place::Object(addr, of) => match cx.program.types.scalar(of) {
            Some(ty) => Ok((cx.exprs.make(&Expr::Load { ty, addr, volatile: false }), of)),
            None => unsupported("a struct, union or array as a value", &term.at.0),
        },
        Place::Bits(..) => unsupported("a bit-field as a pointer", &term.at.0),
    }
}

/// The element type of an array, and how many there are.
fn element_of(cx: &Context<'_>, ty: CTypeId) -> Option<(CTypeId, Option<u64>)> {
    match cx.program.types.get(ty) {
        CType::Array { element, .. } => {
            let size = cx.program.types.size(*element).filter(|size| *size > 0);
            let count = cx.program.types.size(ty).zip(size).map(|(all, one)| all / one);
            Some((*element, count))
        }
        _ => None,
    }
}

fn member(
    cx: &mut Context<'_>,
    base: ExprId,
    ty: CTypeId,
    name: &str,
    term: &Term,
) -> Result<Place, HtolError> {
    let CType::Record(record) = *cx.program.types.get(ty) else {
        return unsupported("a member of what is no struct or union", &term.at.0);
    };
    find_member(cx, base, record, name).ok_or_else(|| {
        let what = format!("{} has no member `{name}`", cx.program.types.spell(ty, ""));
        HtolError::Unknown { what, at: term.at.0.clone() }
    })
}

/// A member of a record or of an anonymous one in it.
fn find_member(cx: &mut Context<'_>, base: ExprId, record: RecordId, name: &str) -> Option<Place> {
    let fields = &cx.program.types.records[record].fields;
    let anonymous = |ty: CTypeId| match *cx.program.types.get(ty) {
        CType::Record(inner) => Some(inner),
        _ => None,
    };
    for (position, field) in (0..).zip(fields) {
        if field.name == name && !name.is_empty() {
            let ty = field.ty;
            return Some(match field.bits {
                Some(bits) => bit_field(cx, base, record, (position, bits)),
                None => {
                    let addr = Expr::Field { base, record, field: position };
                    Place::Object(cx.exprs.make(&addr), ty)
                }
            });
        }
        if let Some(inner) = anonymous(field.ty).filter(|_| field.name.is_empty()) {
            let addr = cx.exprs.make(&Expr::Field { base, record, field: position });
            if let Some(found) = find_member(cx, addr, inner, name) {
                return Some(found);
            }
        }
    }
    None
}

fn bit_field(
    cx: &mut Context<'_>,
    base: ExprId,
    record: RecordId,
    (position, bits): (u32, u16),
) -> Place {
    let types = &cx.program.types;
    let field = &types.records[record].fields[position as usize];
    let bits = BitField {
        record,
        field: position,
        byte_offset: field.bit_offset / 8,
        bit: (field.bit_offset % 8) as u8,
        bits: bits as u8,
        signed: types.is_signed(field.ty),
        ty: types.scalar(field.ty).unwrap_or(Type::Int(32)),
    };
    let offset = cx.exprs.int(Type::Int(64), i128::from(bits.byte_offset));
    let addr = match bits.byte_offset {
        0 => base,
        _ => cx.exprs.make(&Expr::Index { base, index: offset, size: 1, bound: None }),
    };
    Place::Bits(addr, bits)
}

/// The variable of this name whose declaration is nearest before the place.
fn local_named(cx: &Context<'_>, name: &str, at: Span) -> Option<LocalId> {
    let is_seen = |scope: Span| scope.start <= at.start && at.start <= scope.end;
    let locals = cx.body.locals.iter();
    let named = locals.filter(|(_, local)| {
        local.kind != LocalKind::Temp && local.name == name && is_seen(local.scope)
    });
    named.max_by_key(|(id, local)| (local.scope.start, id.index())).map(|(id, _)| id)
}

fn global_named(cx: &Context<'_>, name: &str) -> Option<GlobalId> {
    cx.program.globals.iter().find(|(_, global)| global.name == name).map(|(id, _)| id)
}
