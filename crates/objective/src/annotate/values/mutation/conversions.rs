//! Conversions of the value of a mutant whose type is not that of the replaced expression.
//!
//! `!u` is an `int` for every type of `u`, and so are `-c`, `~c` and `c + 1` of a narrow `c`. In the
//! text of the mutant C would convert anew from there on: `!u - 2 < n` compares signed numbers where
//! `u - 2 < n` compares unsigned ones. So the mutant is rebuilt from the replaced node up: implied
//! conversions are dropped, the usual arithmetic conversions are made again, and operators get the
//! signs of the new types. This ends at a conversion that the user wrote, an assignment, an argument
//! or a test.

use lydian_ir::{ArithmeticType, BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};

use crate::annotate::context::Context;
use crate::annotate::values::types::used_type;

/// An expression and its type in C.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) expr: ExprId,
    pub(super) ty: ArithmeticType,
}

/// The result of an operator on an operand of another type.
enum ParentResult {
    /// A value that is converted in turn.
    Converted(Value),
    /// A result whose type does not depend on the operand's.
    Final(ExprId),
}

/// The expression at the root of `path` with `node`, at its end, replaced by a value.
pub(super) fn substitute(
    cx: &mut Context<'_>,
    path: &[(ExprId, usize)],
    node: ExprId,
    value: Value,
) -> ExprId {
    let machine = cx.exprs.type_of(node);
    let same = |ty: ArithmeticType| ty.promoted() == value.ty && value.ty.machine() == machine;
    let Some(types) = cx.body.source.c_types[node].filter(|types| !same(types.text)) else {
        let target = used_type(cx, node).unwrap_or(value.ty);
        let value = if value.ty.machine() == machine { value } else { convert(cx, value, target) };
        return cx.exprs.replace(path, value.expr);
    };
    let mut value = match types.written == types.text {
        true => value,
        false => convert(cx, value, types.written),
    };
    let mut child = node;
    for (depth, &(parent, position)) in path.iter().enumerate().rev() {
        match parent_result(cx, value, child, parent, position) {
            ParentResult::Converted(new) => value = new,
            ParentResult::Final(new) => return cx.exprs.replace(&path[..depth], new),
        }
        child = parent;
    }
    as_used(cx, value, child)
}

/// The value in the type of `child`, if its place needs that type.
fn as_used(cx: &mut Context<'_>, value: Value, child: ExprId) -> ExprId {
    match used_type(cx, child) {
        Some(ty) => convert(cx, value, ty).expr,
        None => value.expr,
    }
}

fn parent_result(
    cx: &mut Context<'_>,
    value: Value,
    child: ExprId,
    parent: ExprId,
    position: usize,
) -> ParentResult {
    let noted = cx.body.source.c_types[parent];
    let node = cx.exprs.arena()[parent].clone();
    let result = match (node, noted) {
        // A pointer takes the number in the type that it had.
        (Expr::Cast(_, Type::Ptr, _), _) => None,
        (Expr::Cast(..), _) if is_implied(cx, parent) => return ParentResult::Converted(value),
        (Expr::Cast(..), Some(types)) => Some(convert(cx, value, types.text)),
        (Expr::Unary(op, _), Some(_)) => unary(cx, op, value),
        (Expr::Binary(op, _, b), Some(_)) if is_shift(op) && position == 0 => {
            shifted(cx, op, value, b)
        }
        (Expr::Binary(op, a, b), Some(_)) if !is_shift(op) => {
            arithmetic(cx, op, value, (a, b), position)
        }
        (Expr::Cmp(op, a, b), _) => {
            if let Some(test) = compared(cx, op, value, (a, b), position) {
                return ParentResult::Final(test);
            }
            None
        }
        _ => None,
    };
    match (result, noted) {
        (Some(value), Some(types)) if types.written != types.text => {
            ParentResult::Converted(convert(cx, value, types.written))
        }
        (Some(value), _) => ParentResult::Converted(value),
        // An index, the amount of a shift, or a use that is no arithmetic: it takes the type that it
        // had.
        (None, _) => {
            let operand = as_used(cx, value, child);
            ParentResult::Final(cx.exprs.replace(&[(parent, position)], operand))
        }
    }
}

/// Whether a conversion is one that C makes by itself.
fn is_implied(cx: &Context<'_>, cast: ExprId) -> bool {
    let machine = cx.exprs.type_of(cast);
    cx.body.source.c_types[cast].is_none_or(|types| types.written.machine() != machine)
}

fn unary(cx: &mut Context<'_>, op: UnOp, value: Value) -> Option<Value> {
    let value = promoted(cx, value);
    let op = match (op, value.ty) {
        (UnOp::Not, ArithmeticType::Float(_)) => return None,
        (UnOp::Not, _) => UnOp::Not,
        (_, ArithmeticType::Float(_)) => UnOp::FNeg,
        (_, ty) if ty.is_signed() => UnOp::NegS,
        _ => UnOp::NegU,
    };
    Some(Value { expr: cx.exprs.unary(op, value.expr), ..value })
}

/// `value << amount`, `value >> amount`: of the promoted type of the value.
fn shifted(cx: &mut Context<'_>, op: BinOp, value: Value, amount: ExprId) -> Option<Value> {
    let value = promoted(cx, value);
    let machine = value.ty.machine();
    let amount = match cx.exprs.arena()[amount] {
        Expr::Const(_, bits) => cx.exprs.int(machine, i128::try_from(bits).ok()?),
        _ => {
            let amount = unconverted(cx, amount)?;
            // A cut amount could be in range where the whole one is not.
            let fits = amount.ty.machine().bits() <= machine.bits();
            fits.then(|| convert(cx, amount, value.ty).expr)?
        }
    };
    let op = match (op, value.ty.is_signed()) {
        (BinOp::ShlS | BinOp::ShlU, true) => BinOp::ShlS,
        (BinOp::ShlS | BinOp::ShlU, false) => BinOp::ShlU,
        (_, true) => BinOp::ShrS,
        (_, false) => BinOp::ShrU,
    };
    Some(Value { expr: cx.exprs.binary(op, value.expr, amount), ..value })
}

fn arithmetic(
    cx: &mut Context<'_>,
    op: BinOp,
    value: Value,
    operands: (ExprId, ExprId),
    position: usize,
) -> Option<Value> {
    let (a, b, ty) = brought_together(cx, value, operands, position)?;
    let op = of_type(op, ty)?;
    Some(Value { expr: cx.exprs.binary(op, a, b), ty })
}

/// A comparison with one operand replaced; against zero, where C implies the test.
fn compared(
    cx: &mut Context<'_>,
    op: CmpOp,
    value: Value,
    (a, b): (ExprId, ExprId),
    position: usize,
) -> Option<ExprId> {
    let other = if position == 0 { b } else { a };
    let is_test = cx.body.source.c_types[other].is_none()
        && matches!(cx.exprs.arena()[other], Expr::Const(_, 0));
    if is_test {
        let zero = cx.exprs.zero(value.ty.machine());
        let op = comparison_of_type(op, value.ty);
        return Some(cx.exprs.cmp(op, value.expr, zero));
    }
    let (a, b, ty) = brought_together(cx, value, (a, b), position)?;
    Some(cx.exprs.cmp(comparison_of_type(op, ty), a, b))
}

/// Both operands of an operator in their common type, one of them being replaced.
fn brought_together(
    cx: &mut Context<'_>,
    value: Value,
    (a, b): (ExprId, ExprId),
    position: usize,
) -> Option<(ExprId, ExprId, ArithmeticType)> {
    let other = unconverted(cx, if position == 0 { b } else { a })?;
    let ty = ArithmeticType::common(value.ty, other.ty);
    if ty.machine().is_soft_float() {
        return None;
    }
    let (new, other) = (convert(cx, value, ty).expr, convert(cx, other, ty).expr);
    Some(if position == 0 { (new, other, ty) } else { (other, new, ty) })
}

/// An operand without the conversions that C implies around it; `None` where it is not known.
fn unconverted(cx: &mut Context<'_>, mut expr: ExprId) -> Option<Value> {
    while let Expr::Cast(_, _, inner) = cx.exprs.arena()[expr] {
        if !is_implied(cx, expr) {
            break;
        }
        expr = inner;
    }
    let ty = cx.body.source.c_types[expr]?.written;
    let machine = cx.exprs.type_of(expr);
    if let Expr::LoadBits { field, .. } = cx.exprs.arena()[expr]
        && field.bits < 32
        && machine.bits() == 32
    {
        return Some(Value { expr, ty: ArithmeticType::INT });
    }
    if ty.machine() == machine {
        return Some(Value { expr, ty });
    }
    // A constant that was converted when it was lowered.
    let Expr::Const(from, bits) = cx.exprs.arena()[expr] else { return None };
    let back = match (from, ty) {
        (Type::Int(_), ArithmeticType::Float(_)) => return None,
        (Type::Int(_), _) => cx.exprs.int(ty.machine(), bits as i128),
        (_, ArithmeticType::Float(_)) => return None,
        (float, _) => cx.exprs.int(ty.machine(), whole(float, bits)?),
    };
    Some(Value { expr: back, ty })
}

/// The integer that a float is, if no other integer has been rounded to it.
fn whole(ty: Type, bits: u128) -> Option<i128> {
    /// Up to here every integer is a `float`, and none is rounded to another's.
    const EXACT: f64 = 16_777_216.0;
    let value = lydian_ir::arith::to_f64(ty, bits);
    (value.abs() < EXACT && value.fract() == 0.0).then_some(value as i128)
}

fn promoted(cx: &mut Context<'_>, value: Value) -> Value {
    convert(cx, value, value.ty.promoted())
}

/// A value in another type, converted as C does.
pub(super) fn convert(cx: &mut Context<'_>, value: Value, to: ArithmeticType) -> Value {
    let machine = to.machine();
    let (from, expr) = (value.ty, value.expr);
    if from == to {
        return value;
    }
    let is_float = matches!(from, ArithmeticType::Float(_));
    if to == ArithmeticType::Bool {
        let zero = cx.exprs.zero(from.machine());
        let test = cx.exprs.cmp(if is_float { CmpOp::FNe } else { CmpOp::Ne }, expr, zero);
        return Value { expr: cx.exprs.make(&Expr::Cast(CastOp::ZExt, machine, test)), ty: to };
    }
    let step = match (from.machine(), machine) {
        (a, b) if a == b => None,
        (Type::Int(a), Type::Int(b)) if b < a => Some(CastOp::Trunc),
        (Type::Int(_), Type::Int(_)) if from.is_signed() => Some(CastOp::SExt),
        (Type::Int(_), Type::Int(_)) => Some(CastOp::ZExt),
        (Type::Int(_), _) if from.is_signed() => Some(CastOp::SToF),
        (Type::Int(_), _) => Some(CastOp::UToF),
        (_, Type::Int(_)) if to.is_signed() => Some(CastOp::FToS),
        (_, Type::Int(_)) => Some(CastOp::FToU),
        _ => Some(CastOp::FToF),
    };
    let expr = match step {
        Some(op) => cx.exprs.make(&Expr::Cast(op, machine, expr)),
        None => expr,
    };
    Value { expr: extended(cx, expr, to), ty: to }
}

/// A value of the machine type of a `_BitInt`, with the bits beyond its width as they are kept.
pub(super) fn extended(cx: &mut Context<'_>, expr: ExprId, ty: ArithmeticType) -> ExprId {
    let ArithmeticType::BitInt { width, bits, signed } = ty else { return expr };
    let machine = ty.machine();
    if width == bits {
        return expr;
    }
    if !signed {
        let mask = cx.exprs.int(machine, (1i128 << width) - 1);
        return cx.exprs.binary(BinOp::And, expr, mask);
    }
    let unused = cx.exprs.int(machine, i128::from(bits - width));
    let high = cx.exprs.binary(BinOp::ShlU, expr, unused);
    cx.exprs.binary(BinOp::ShrS, high, unused)
}

const fn is_shift(op: BinOp) -> bool {
    matches!(op, BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS)
}

/// The operator that C's symbol stands for on operands of a type; `None` if C has none, as for `%`
/// of floats.
fn of_type(op: BinOp, ty: ArithmeticType) -> Option<BinOp> {
    use BinOp::*;
    let (signed, unsigned, float) = match op {
        AddS | AddU | FAdd => (AddS, AddU, Some(FAdd)),
        SubS | SubU | FSub => (SubS, SubU, Some(FSub)),
        MulS | MulU | FMul => (MulS, MulU, Some(FMul)),
        DivS | DivU | FDiv => (DivS, DivU, Some(FDiv)),
        RemS | RemU => (RemS, RemU, None),
        And | Or | Xor => (op, op, None),
        ShlS | ShlU | ShrS | ShrU => return None,
    };
    match ty {
        ArithmeticType::Float(_) => float,
        _ if ty.is_signed() => Some(signed),
        _ => Some(unsigned),
    }
}

/// The comparison that C's symbol stands for on operands of a type.
fn comparison_of_type(op: CmpOp, ty: ArithmeticType) -> CmpOp {
    use CmpOp::*;
    let (signed, unsigned, float) = match op {
        Eq | FEq => (Eq, Eq, FEq),
        Ne | FNe => (Ne, Ne, FNe),
        LtS | LtU | FLt => (LtS, LtU, FLt),
        LeS | LeU | FLe => (LeS, LeU, FLe),
        GtS | GtU | FGt => (GtS, GtU, FGt),
        GeS | GeU | FGe => (GeS, GeU, FGe),
    };
    match ty {
        ArithmeticType::Float(_) => float,
        _ if ty.is_signed() => signed,
        _ => unsigned,
    }
}
