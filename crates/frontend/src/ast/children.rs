//! The subexpressions of an expression.

use super::expr::{ExprId, ExprKind, InitList};

/// Calls `visit` with each subexpression that evaluating an expression may evaluate, except those
/// inside statement expressions.
pub fn for_each_child(kind: &ExprKind, visit: &mut impl FnMut(ExprId)) {
    match kind {
        ExprKind::Integer(_)
        | ExprKind::Character(_)
        | ExprKind::Floating(_)
        | ExprKind::String(_)
        | ExprKind::DeclRef(_)
        | ExprKind::OpaqueValue { .. }
        | ExprKind::ImplicitValueInit
        | ExprKind::NoInit
        | ExprKind::TypeTrait { .. }
        | ExprKind::StmtExpr(_)
        | ExprKind::Predefined { .. }
        | ExprKind::AddrLabel(_)
        | ExprKind::Imaginary(_)
        | ExprKind::Unsupported(_) => {}
        ExprKind::OffsetOf { variable, .. } => {
            let indices = variable.iter().flat_map(|offset| &offset.indices);
            indices.for_each(|(index, _)| visit(*index));
        }
        ExprKind::Member { base, .. } => visit(*base),
        ExprKind::Subscript { pointer, index } => {
            visit(*pointer);
            visit(*index);
        }
        ExprKind::Call { callee, args } => {
            visit(*callee);
            args.iter().for_each(|arg| visit(*arg));
        }
        ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => visit(*operand),
        ExprKind::Binary { left, right, .. } => {
            visit(*left);
            visit(*right);
        }
        ExprKind::Assign { target, value } | ExprKind::CompoundAssign { target, value, .. } => {
            visit(*value);
            visit(*target);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            visit(*condition);
            visit(*then);
            visit(*otherwise);
        }
        ExprKind::BinaryConditional { common, condition, then, otherwise } => {
            [*common, *condition, *then, *otherwise].into_iter().for_each(visit);
        }
        ExprKind::InitList(list) => for_each_initialiser(list, visit),
        ExprKind::DesignatedInitUpdate { base, updater } => {
            visit(*base);
            visit(*updater);
        }
        ExprKind::CompoundLiteral { init, .. } => visit(*init),
        ExprKind::VaArg { list } => visit(*list),
        ExprKind::Chosen(inner) | ExprKind::Paren(inner) => visit(*inner),
        ExprKind::Constant { inner, .. } => visit(*inner),
        ExprKind::Atomic { args, .. } | ExprKind::Shuffle(args) => {
            args.iter().for_each(|arg| visit(*arg));
        }
        ExprKind::VectorElement { vector, index } => {
            visit(*vector);
            visit(*index);
        }
        ExprKind::Swizzle { base, .. } => visit(*base),
        ExprKind::ConvertVector(operand) => visit(*operand),
    }
}

fn for_each_initialiser(list: &InitList, visit: &mut impl FnMut(ExprId)) {
    match list {
        InitList::Array { elements, filler } => {
            elements.iter().chain(filler).for_each(|element| visit(*element));
        }
        InitList::Struct(fields) => fields.iter().for_each(|(_, value)| visit(*value)),
        InitList::Union(field) => field.iter().for_each(|(_, value)| visit(*value)),
        InitList::Scalar(value) => value.iter().for_each(|value| visit(*value)),
    }
}
