//! Terms of the language of hyperlabels as expressions on the program's state.
//!
//! Expressions over the program's variables are over mathematical integers, of 128 bits: a variable
//! of an integer type counts with its value, one of a pointer type with its address, and neither
//! wraps in the expression. It is unknown where reading it would trap. Floats, calls and conversions
//! are not supported here; a label of the program's own (`//! name: predicate`) takes any C
//! predicate.

use std::ops::Range;

use lydian_base::{EntityId, Span};
use lydian_ir::function::LocalKind;
use lydian_ir::{
    BinOp, BitField, CType, CTypeId, CastOp, CmpOp, Expr, ExprId, GlobalId, LocalId, RecordId,
    Storage, Type, UnOp,
};

use crate::annotate::context::Context;
use crate::htol::HtolError;
use crate::htol::syntax::{Term, TermKind};
use crate::hyper::FormulaOp;
use crate::label::Pred;

/// Translates terms to predicates and expressions of the IR. Names are those that are known at a place of
/// the text.
pub(super) struct TermTranslator {
    /// The place.
    pub(super) at: Span,
}

/// A wide enough integer.
const WIDE: Type = Type::Int(128);

/// A variable of the program, or a part of one.
enum Operand {
    /// A value.
    Value(ExprId, CTypeId),
    /// An object at an address.
    Object(ExprId, CTypeId),
    /// A bit-field of the record at an address.
    Bits(ExprId, BitField),
}

impl TermTranslator {
    /// The predicate that a term is true. `&&`, `||` and `!` are Kleene's.
    pub(super) fn pred(&self, cx: &mut Context<'_>, term: &Term) -> Result<Pred, HtolError> {
        match &term.kind {
            TermKind::Number(number) => Ok(Pred::Const(*number != 0)),
            TermKind::Not(a) => Ok(Pred::not(self.pred(cx, a)?)),
            TermKind::Binary(FormulaOp::And, a, b) => {
                Ok(Pred::and(self.pred(cx, a)?, self.pred(cx, b)?))
            }
            TermKind::Binary(FormulaOp::Or, a, b) => {
                Ok(Pred::or(self.pred(cx, a)?, self.pred(cx, b)?))
            }
            TermKind::Binary(op, a, b) if comparison(*op).is_some() => {
                let op = comparison(*op).unwrap_or(CmpOp::Eq);
                let (a, b) = (self.wide(cx, a)?, self.wide(cx, b)?);
                Ok(cx.exprs.test(op, a, b))
            }
            _ => {
                let value = self.wide(cx, term)?;
                let zero = cx.exprs.zero(WIDE);
                Ok(cx.exprs.test(CmpOp::Ne, value, zero))
            }
        }
    }

    /// A term as an integer of 128 bits.
    pub(super) fn wide(&self, cx: &mut Context<'_>, term: &Term) -> Result<ExprId, HtolError> {
        let truth = |cx: &mut Context<'_>, op: CmpOp, a: ExprId, b: ExprId| {
            let truth = cx.exprs.cmp(op, a, b);
            cx.exprs.make(&Expr::Cast(CastOp::ZExt, WIDE, truth))
        };
        match &term.kind {
            TermKind::Number(number) => Ok(cx.exprs.int(WIDE, *number)),
            TermKind::Negate(a) => {
                let a = self.wide(cx, a)?;
                Ok(cx.exprs.unary(UnOp::NegU, a))
            }
            TermKind::Not(a) => {
                let (a, zero) = (self.wide(cx, a)?, cx.exprs.zero(WIDE));
                Ok(truth(cx, CmpOp::Eq, a, zero))
            }
            TermKind::Binary(op, a, b) => {
                let (mut a, mut b) = (self.wide(cx, a)?, self.wide(cx, b)?);
                if let Some(op) = comparison(*op) {
                    return Ok(truth(cx, op, a, b));
                }
                if matches!(op, FormulaOp::And | FormulaOp::Or) {
                    let zero = cx.exprs.zero(WIDE);
                    a = truth(cx, CmpOp::Ne, a, zero);
                    b = truth(cx, CmpOp::Ne, b, zero);
                }
                Ok(cx.exprs.binary(arithmetic(*op), a, b))
            }
            _ => self.read(cx, term),
        }
    }

    /// The value of a variable, member or element as an integer of 128 bits.
    fn read(&self, cx: &mut Context<'_>, term: &Term) -> Result<ExprId, HtolError> {
        let (value, signed) = match self.operand(cx, term)? {
            Operand::Bits(addr, field) => {
                (cx.exprs.make(&Expr::LoadBits { field, addr }), field.signed)
            }
            operand => {
                let (value, ty) = scalar(cx, operand, term)?;
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

    fn operand(&self, cx: &mut Context<'_>, term: &Term) -> Result<Operand, HtolError> {
        match &term.kind {
            TermKind::Name(name) => self.variable(cx, name, term),
            TermKind::Member(record, name) => match self.operand(cx, record)? {
                Operand::Object(addr, ty) => member(cx, addr, ty, name, term),
                _ => unsupported("a member of what is no object", &term.at.0),
            },
            TermKind::Arrow(pointer, name) => {
                let (base, ty) = self.pointer(cx, pointer)?;
                member(cx, base, ty, name, term)
            }
            TermKind::Deref(pointer) => {
                let (addr, ty) = self.pointer(cx, pointer)?;
                Ok(Operand::Object(addr, ty))
            }
            TermKind::Index(array, index) => self.element(cx, array, index, term),
            _ => unsupported("an operator in a place", &term.at.0),
        }
    }

    fn variable(
        &self,
        cx: &mut Context<'_>,
        name: &str,
        term: &Term,
    ) -> Result<Operand, HtolError> {
        if let Some(local) = local_named(cx, name, self.at) {
            let (ty, storage) = (cx.body.locals[local].ty, cx.body.locals[local].storage);
            return Ok(match storage {
                Storage::Register(_) => Operand::Value(cx.exprs.make(&Expr::Local(local)), ty),
                Storage::Memory { .. } => {
                    Operand::Object(cx.exprs.make(&Expr::AddrLocal(local)), ty)
                }
            });
        }
        let own = format!("{}.{name}", cx.function.name);
        let global = global_named(cx, &own).or_else(|| global_named(cx, name));
        let Some(global) = global else {
            let what = format!("`{}` knows no variable `{name}` here", cx.function.name);
            return Err(HtolError::Unknown { what, at: term.at.0.clone() });
        };
        let ty = cx.program.globals[global].ty;
        Ok(Operand::Object(cx.exprs.make(&Expr::AddrGlobal(global)), ty))
    }

    /// The address that a pointer holds, and the type of what lies there.
    fn pointer(&self, cx: &mut Context<'_>, term: &Term) -> Result<(ExprId, CTypeId), HtolError> {
        let (value, ty) = match self.operand(cx, term)? {
            // The address of an array's first element is that of the array.
            Operand::Object(addr, ty) if element_of(cx, ty).is_some() => {
                return Ok((addr, element_of(cx, ty).map_or(ty, |(element, _)| element)));
            }
            operand => scalar(cx, operand, term)?,
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
    ) -> Result<Operand, HtolError> {
        let bound = match self.operand(cx, array)? {
            Operand::Object(_, ty) => element_of(cx, ty).and_then(|(_, count)| count),
            _ => None,
        };
        let (base, element) = self.pointer(cx, array)?;
        let Some(size) = cx.program.types.size(element) else {
            return unsupported("an element without a size", &term.at.0);
        };
        let wide = self.wide(cx, index)?;
        let index = cx.exprs.make(&Expr::Cast(CastOp::Trunc, Type::Int(64), wide));
        let addr = cx.exprs.make(&Expr::Index { base, index, size, bound });
        Ok(Operand::Object(addr, element))
    }
}

/// The value of an operand of scalar type.
fn scalar(
    cx: &mut Context<'_>,
    operand: Operand,
    term: &Term,
) -> Result<(ExprId, CTypeId), HtolError> {
    match operand {
        Operand::Value(value, ty) => Ok((value, ty)),
        Operand::Object(addr, of) => match cx.program.types.scalar(of) {
            Some(ty) => Ok((cx.exprs.make(&Expr::Load { ty, addr, volatile: false }), of)),
            None => unsupported("a struct, union or array as a value", &term.at.0),
        },
        Operand::Bits(..) => unsupported("a bit-field as a pointer", &term.at.0),
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
) -> Result<Operand, HtolError> {
    let CType::Record(record) = *cx.program.types.get(ty) else {
        return unsupported("a member of what is no struct or union", &term.at.0);
    };
    find_member(cx, base, record, name).ok_or_else(|| {
        let what = format!("{} has no member `{name}`", cx.program.types.spell(ty, ""));
        HtolError::Unknown { what, at: term.at.0.clone() }
    })
}

/// A member of a record or of an anonymous one in it.
fn find_member(
    cx: &mut Context<'_>,
    base: ExprId,
    record: RecordId,
    name: &str,
) -> Option<Operand> {
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
                    Operand::Object(cx.exprs.make(&addr), ty)
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
) -> Operand {
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
    Operand::Bits(addr, bits)
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

const fn comparison(op: FormulaOp) -> Option<CmpOp> {
    match op {
        FormulaOp::Eq => Some(CmpOp::Eq),
        FormulaOp::Ne => Some(CmpOp::Ne),
        FormulaOp::Lt => Some(CmpOp::LtS),
        FormulaOp::Le => Some(CmpOp::LeS),
        FormulaOp::Gt => Some(CmpOp::GtS),
        FormulaOp::Ge => Some(CmpOp::GeS),
        _ => None,
    }
}

const fn arithmetic(op: FormulaOp) -> BinOp {
    match op {
        FormulaOp::And => BinOp::And,
        FormulaOp::Or => BinOp::Or,
        FormulaOp::Sub => BinOp::SubU,
        FormulaOp::Mul => BinOp::MulU,
        FormulaOp::Div => BinOp::DivS,
        FormulaOp::Rem => BinOp::RemS,
        _ => BinOp::AddU,
    }
}

pub(super) fn unsupported<T>(what: &str, at: &Range<usize>) -> Result<T, HtolError> {
    Err(HtolError::Unsupported { what: what.to_owned(), at: at.clone() })
}
