//! Rules 5 to 10: expressions.

use lydian_base::EntityId;

use super::violation::{BodyContext, Rule, Violations};
use crate::program::arith;
use crate::program::expr::{BinOp, BitField, CastOp, CmpOp, Expr, ExprId, Type, UnOp};
use crate::program::function::{Body, LocalKind, Storage};
use crate::program::stmt::Stmt;

/// Rule 5. Types are only asked for where it holds, as they follow operands.
pub(super) fn operands_first(body: &Body, found: &mut Violations) -> bool {
    let mut holds = true;
    for (id, expr) in body.exprs.iter() {
        expr.for_each_operand(|operand| {
            holds &= found.require(operand < id, Rule::OperandsFirst, || {
                format!("{id} has the operand {operand}, which does not come before it")
            });
        });
    }
    holds
}

pub(super) fn check(scope: &BodyContext<'_>, found: &mut Violations) {
    for (id, expr) in scope.body.exprs.iter() {
        check_types_written(id, expr, found);
        check_operands(scope, id, expr, found);
        match expr {
            Expr::Local(local) => {
                let storage = scope.body.locals[*local].storage;
                let is_register = matches!(storage, Storage::Register(_));
                found.require(is_register, Rule::RegistersAndMemory, || {
                    format!("{id} reads {local}, which is in memory, as a register")
                });
            }
            Expr::AddrLocal(local) => {
                let storage = scope.body.locals[*local].storage;
                let in_memory = matches!(storage, Storage::Memory { .. });
                found.require(in_memory, Rule::RegistersAndMemory, || {
                    format!("{id} is the address of the register {local}")
                });
            }
            Expr::Field { record, field, .. } => {
                let record = &scope.program.types.records[*record];
                let member = record.fields.get(*field as usize);
                let is_plain = member.is_some_and(|f| f.bits.is_none() && f.bit_offset % 8 == 0);
                found.require(is_plain, Rule::Members, || {
                    format!(
                        "{id} names member {field}, which {:?} has not or is a bit-field",
                        record.name
                    )
                });
            }
            Expr::LoadBits { field, .. } => bit_field(scope, &id.to_string(), field, found),
            _ => {}
        }
    }
    volatile_loads(scope, found);
    check_choices(scope, found);
}

/// Rule 9 for bit-fields.
pub(super) fn bit_field(
    scope: &BodyContext<'_>,
    user: &str,
    field: &BitField,
    found: &mut Violations,
) {
    let record = &scope.program.types.records[field.record];
    let place = field.byte_offset.checked_mul(8).and_then(|at| at.checked_add(field.bit.into()));
    let matches = record.fields.get(field.field as usize).is_some_and(|member| {
        Some(member.bit_offset) == place && member.bits == Some(u16::from(field.bits))
    });
    let is_integer = matches!(field.ty, Type::Int(_)) && field.ty != Type::BOOL;
    let fits = field.bit < 8
        && (1..=128).contains(&field.bits)
        && field.bytes() <= 16
        && is_integer
        && u32::from(field.bits) <= field.ty.bits();
    found.require(matches && fits, Rule::Members, || {
        format!("{user} names a bit-field that {:?} does not have so", record.name)
    });
    let end = field.byte_offset.checked_add(field.bytes());
    let inside = end.is_some_and(|end| record.size.is_none_or(|size| end <= size));
    found.require(inside, Rule::Members, || format!("{user} names bits over its record's end"));
}

/// Rule 6.
fn check_types_written(id: ExprId, expr: &Expr, found: &mut Violations) {
    let ty = match expr {
        Expr::Const(ty, _) | Expr::Load { ty, .. } | Expr::Cast(_, ty, _) => *ty,
        _ => return,
    };
    if !found.require(is_machine_type(ty), Rule::Constants, || format!("{id} has the type {ty}")) {
        return;
    }
    if let Expr::Const(_, bits) = expr {
        let fits = arith::truncate(ty, *bits) == *bits;
        found.require(fits, Rule::Constants, || format!("{id} has more bits than {ty}"));
    }
}

/// Rule 24: no expression that code evaluates contains a choice.
fn check_choices(scope: &BodyContext<'_>, found: &mut Violations) {
    let body = scope.body;
    let is_choice = |expr: &Expr| matches!(expr, Expr::Select { .. });
    if !body.exprs.values().any(is_choice) {
        return;
    }
    let mut evaluated = vec![false; body.exprs.len()];
    let mut note = |expr: ExprId| {
        if let Some(evaluated) = evaluated.get_mut(expr.index()) {
            *evaluated = true;
        }
    };
    body.stmts.values().for_each(|stmt| stmt.for_each_expr(&mut note));
    body.blocks.values().for_each(|block| block.term.operand().into_iter().for_each(&mut note));
    // Operands come before their users.
    for id in body.exprs.ids().collect::<Vec<_>>().into_iter().rev() {
        if evaluated[id.index()] {
            let expr = &body.exprs[id];
            found.require(!is_choice(expr), Rule::Choices, || format!("code evaluates {id}"));
            expr.for_each_operand(|operand| {
                if let Some(evaluated) = evaluated.get_mut(operand.index()) {
                    *evaluated = true;
                }
            });
        }
    }
}

pub(super) const fn is_machine_type(ty: Type) -> bool {
    !matches!(ty, Type::Int(bits) if !matches!(bits, 1 | 8 | 16 | 32 | 64 | 128))
}

/// Rule 7.
fn check_operands(scope: &BodyContext<'_>, id: ExprId, expr: &Expr, found: &mut Violations) {
    let ty = |expr: ExprId| scope.types[expr];
    let holds = match expr {
        Expr::Load { ty: loaded, addr, .. } => ty(*addr) == Type::Ptr && *loaded != Type::BOOL,
        Expr::LoadBits { addr: a, .. } | Expr::Field { base: a, .. } => ty(*a) == Type::Ptr,
        Expr::Unary(op, a) => match op {
            UnOp::FNeg => ty(*a).is_float(),
            UnOp::Not => is_integer(ty(*a)),
            UnOp::NegU | UnOp::NegS => is_number(ty(*a)),
        },
        Expr::Binary(op, a, b) => ty(*a) == ty(*b) && binary_fits(*op, ty(*a)),
        Expr::Cmp(op, a, b) => ty(*a) == ty(*b) && compare_fits(*op, ty(*a)),
        Expr::Cast(op, to, a) => cast_fits(*op, ty(*a), *to),
        Expr::Index { base, index, size, .. } => {
            ty(*base) == Type::Ptr && ty(*index) == Type::Int(64) && *size > 0
        }
        Expr::PtrDiff { a, b, size } => {
            ty(*a) == Type::Ptr && ty(*b) == Type::Ptr && (1..=i64::MAX as u64).contains(size)
        }
        Expr::Select { test, then, otherwise } => {
            ty(*test) == Type::BOOL && ty(*then) == ty(*otherwise)
        }
        Expr::Const(..)
        | Expr::Local(_)
        | Expr::AddrLocal(_)
        | Expr::AddrGlobal(_)
        | Expr::AddrFunc(_) => true,
    };
    found.require(holds, Rule::OperandTypes, || {
        format!(
            "{id} does not suit its operands: {}",
            crate::text::print_expr(&scope.body.exprs, id)
        )
    });
}

const fn is_integer(ty: Type) -> bool {
    matches!(ty, Type::Int(_))
}

/// An integer that is no test.
const fn is_number(ty: Type) -> bool {
    matches!(ty, Type::Int(bits) if bits > 1)
}

fn binary_fits(op: BinOp, ty: Type) -> bool {
    match op {
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv => ty.is_float(),
        BinOp::And | BinOp::Or | BinOp::Xor => is_integer(ty),
        _ => is_number(ty),
    }
}

const fn compare_fits(op: CmpOp, ty: Type) -> bool {
    op.is_float() == ty.is_float()
}

/// Whether a conversion is one between these types.
fn cast_fits(op: CastOp, from: Type, to: Type) -> bool {
    match op {
        CastOp::Trunc => is_integer(from) && is_integer(to) && from.bits() > to.bits(),
        CastOp::ZExt | CastOp::SExt => {
            is_integer(from) && is_integer(to) && from.bits() < to.bits()
        }
        CastOp::SToF | CastOp::UToF => is_integer(from) && to.is_float(),
        CastOp::FToS | CastOp::FToU => from.is_float() && is_number(to),
        CastOp::FToF => from.is_float() && to.is_float() && from != to,
        CastOp::Bits => from.bits() == to.bits() && from != to,
    }
}

/// Rule 10.
fn volatile_loads(scope: &BodyContext<'_>, found: &mut Violations) {
    let body = scope.body;
    let is_volatile = |id: ExprId| matches!(body.exprs[id], Expr::Load { volatile: true, .. });
    if !body.exprs.ids().any(is_volatile) {
        return;
    }
    let mut uses = vec![0u32; body.exprs.len()];
    for (id, expr) in body.exprs.iter() {
        expr.for_each_operand(|operand| {
            found.require(!is_volatile(operand), Rule::VolatileLoads, || {
                format!("{id} has the volatile load {operand} as an operand")
            });
        });
    }
    for (id, stmt) in body.stmts.iter() {
        let to_temp = matches!(stmt, Stmt::Assign { dst, .. }
            if body.locals[*dst].kind == LocalKind::Temp);
        stmt.for_each_expr(|expr| {
            uses[expr.index()] += 1;
            found.require(to_temp || !is_volatile(expr), Rule::VolatileLoads, || {
                format!("{id} uses the volatile load {expr} but does not keep it in a temporary")
            });
        });
    }
    for (id, block) in body.blocks.iter() {
        let volatile = block.term.operand().filter(|expr| is_volatile(*expr));
        found.require(volatile.is_none(), Rule::VolatileLoads, || {
            format!("{id} ends with a volatile load")
        });
    }
    for id in body.exprs.ids().filter(|id| is_volatile(*id)) {
        found.require(uses[id.index()] <= 1, Rule::VolatileLoads, || {
            format!("the volatile load {id} is evaluated at more than one place")
        });
    }
}
