//! Whether an expression reads a bit-field, whose value has a promoted type.

use lydian_ir::{Body, Decision, Expr, ExprId, Stmt};

/// Whether a decision tests a value that was kept and is a bit-field's.
pub(crate) fn tests_bits(body: &Body, decision: &Decision) -> bool {
    let mut kept = Vec::new();
    for condition in decision.conditions.values() {
        let mut work = vec![condition.expr];
        while let Some(expr) = work.pop() {
            match &body.exprs[expr] {
                Expr::Local(local) => kept.push(*local),
                other => other.for_each_operand(|operand| work.push(operand)),
            }
        }
    }
    body.stmts.values().any(|stmt| match stmt {
        Stmt::Assign { dst, value } => kept.contains(dst) && reads_bits(body, *value),
        _ => false,
    })
}

pub(crate) fn reads_bits(body: &Body, expr: ExprId) -> bool {
    match &body.exprs[expr] {
        Expr::LoadBits { .. } => true,
        Expr::Cast(_, _, inner) => reads_bits(body, *inner),
        _ => false,
    }
}
