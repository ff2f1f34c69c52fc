//! The C type behind an IR expression.
//!
//! The IR's types have no signs; operators have. Lowering notes the C types of the expressions that
//! the user wrote and that C converts ([`lydian_ir::source::FunctionSource::c_types`]). Lowering made
//! an expression without such a note by itself, such as the scaling of an index. Its type is that of
//! its own operator or variable.

use lydian_ir::{ArithmeticType, BinOp, CastOp, Expr, ExprId, Type, UnOp};

use crate::annotate::context::Context;

/// The interpretation of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As a signed integer.
    Signed,
    /// As an unsigned integer.
    Unsigned,
    /// As a float.
    Float,
    /// As an address or a truth value: no arithmetic.
    None,
}

impl Reading {
    /// The interpretation of the values of a type.
    pub(crate) const fn of(ty: ArithmeticType) -> Self {
        match ty {
            ArithmeticType::Float(_) => Self::Float,
            _ if ty.is_signed() => Self::Signed,
            _ => Self::Unsigned,
        }
    }
}

/// The C type of an expression's value, before a conversion that changes no bits; `None` for
/// addresses and truth values.
pub(crate) fn c_type(cx: &Context<'_>, expr: ExprId) -> Option<ArithmeticType> {
    let machine = cx.exprs.type_of(expr);
    if matches!(machine, Type::Ptr | Type::Int(1)) {
        return None;
    }
    let noted = cx.body.source.c_types[expr].and_then(|types| types.held_in(machine));
    Some(noted.unwrap_or_else(|| implied_type(cx, expr, machine)))
}

/// The C type in which the operator that takes an expression uses it.
pub(crate) fn used_type(cx: &Context<'_>, expr: ExprId) -> Option<ArithmeticType> {
    let machine = cx.exprs.type_of(expr);
    let noted = cx.body.source.c_types[expr].map(|types| types.used);
    noted.filter(|used| used.machine() == machine).or_else(|| c_type(cx, expr))
}

/// The interpretation of the operands of a comparison, in the type to which C has converted both.
pub(crate) fn compared_as(cx: &Context<'_>, a: ExprId, b: ExprId) -> Reading {
    let is_noted = |expr: ExprId| cx.body.source.c_types[expr].is_some();
    let operand = if is_noted(b) && !is_noted(a) { b } else { a };
    used_type(cx, operand).map_or(Reading::None, Reading::of)
}

/// The type of an expression that lowering made by itself.
fn implied_type(cx: &Context<'_>, expr: ExprId, machine: Type) -> ArithmeticType {
    let Type::Int(bits) = machine else { return ArithmeticType::Float(machine) };
    let signed = match &cx.exprs.arena()[expr] {
        Expr::Unary(UnOp::NegS, _)
        | Expr::PtrDiff { .. }
        | Expr::Cast(CastOp::SExt | CastOp::FToS, ..) => true,
        Expr::Binary(op, ..) => matches!(
            op,
            BinOp::AddS
                | BinOp::SubS
                | BinOp::MulS
                | BinOp::DivS
                | BinOp::RemS
                | BinOp::ShlS
                | BinOp::ShrS
        ),
        Expr::LoadBits { field, .. } => field.signed,
        Expr::Local(local) => cx.program.types.is_signed(cx.body.locals[*local].ty),
        _ => false,
    };
    ArithmeticType::Int { bits, signed }
}
