//! The C type behind an IR expression, as far as the expression shows it.
//!
//! The IR's types have no signs. Operators have, variables and members have. What follows from
//! neither is unknown, and no objective is made that hangs on it.

use lydian_ir::{BinOp, CType, CTypeId, CastOp, Expr, ExprArena, ExprId, Type, UnOp};

use super::Context;

/// How an expression's value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a signed integer.
    Signed,
    /// As an unsigned integer, or as a signed one that is never negative.
    Unsigned,
    /// As a float.
    Float,
    /// As an address or a truth value: no arithmetic.
    None,
}

/// How the value of an expression is read. Where nothing says more, integers are unsigned.
pub(super) fn reading(cx: &Context<'_>, expr: ExprId) -> Reading {
    match cx.exprs.type_of(expr) {
        Type::Ptr | Type::Int(1) => Reading::None,
        ty if ty.is_float() => Reading::Float,
        Type::Int(_) if is_signed(cx, expr) => Reading::Signed,
        _ => Reading::Unsigned,
    }
}

fn is_signed(cx: &Context<'_>, expr: ExprId) -> bool {
    let arena = cx.exprs.arena();
    match &arena[expr] {
        Expr::Unary(UnOp::NegS, _) | Expr::PtrDiff { .. } => true,
        Expr::Unary(UnOp::Not, a) => is_signed(cx, *a),
        Expr::Binary(op, a, b) => match op {
            BinOp::AddS
            | BinOp::SubS
            | BinOp::MulS
            | BinOp::DivS
            | BinOp::RemS
            | BinOp::ShlS
            | BinOp::ShrS => true,
            BinOp::And | BinOp::Or | BinOp::Xor => is_signed(cx, *a) || is_signed(cx, *b),
            _ => false,
        },
        Expr::Cast(CastOp::SExt | CastOp::FToS, ..) => true,
        Expr::LoadBits { field, .. } => field.signed,
        Expr::Local(local) => cx.program.types.is_signed(cx.body.locals[*local].ty),
        Expr::Load { ty, addr, .. } => {
            let types = &cx.program.types;
            let pointee = pointee(cx, arena, *addr);
            pointee.is_some_and(|c| types.scalar(c) == Some(*ty) && types.is_signed(c))
        }
        _ => false,
    }
}

/// The C type of what an address is of, where the expression shows it: members, named variables,
/// elements of these and of what a pointer variable points to.
fn pointee(cx: &Context<'_>, arena: &ExprArena, addr: ExprId) -> Option<CTypeId> {
    let types = &cx.program.types;
    match &arena[addr] {
        Expr::AddrLocal(local) => Some(cx.body.locals[*local].ty),
        Expr::AddrGlobal(global) => Some(cx.program.globals[*global].ty),
        Expr::Field { record, field, .. } => {
            types.records[*record].fields.get(*field as usize).map(|field| field.ty)
        }
        Expr::Index { base, size, .. } => {
            let base = pointee(cx, arena, *base)?;
            let element = match types.get(base) {
                CType::Array { element, .. } => *element,
                _ => base,
            };
            (types.size(element) == Some(*size)).then_some(element)
        }
        Expr::Local(local) => types.pointee(cx.body.locals[*local].ty),
        Expr::Load { ty: Type::Ptr, addr, .. } => types.pointee(pointee(cx, arena, *addr)?),
        _ => None,
    }
}
