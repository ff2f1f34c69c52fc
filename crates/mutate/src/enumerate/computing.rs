//! Functions that compute a number from numbers, and nothing else.

use lydian_frontend::ast::{
    BinaryOp, CastKind, DeclRef, ExprId, ExprKind, FunctionDecl, LocalDecl, StmtId, StmtKind,
    TranslationUnit, UnaryOp, VarStorage, for_each_child,
};
use lydian_frontend::ctypes::{CType, IntKind, QualType, Quals};

use super::operands::type_name;

/// The types of the parameters of a function without loops, calls, memory and traps, whose result is an
/// integer; none for others.
pub(crate) fn computes(ast: &TranslationUnit, function: &FunctionDecl) -> Vec<String> {
    let is_number = |ty: QualType| {
        let is_wide = matches!(ast.ty(ty), CType::Int(IntKind::Int128 | IntKind::UInt128));
        let is_integer = matches!(ast.ty(ty), CType::Int(_) | CType::Enum(_));
        let is_plain = !ty.quals.has(Quals::VOLATILE) && !ty.quals.has(Quals::ATOMIC);
        is_integer && !is_wide && is_plain
    };
    let CType::Function { result, params, variadic: false, prototype: true } = ast.ty(function.ty)
    else {
        return Vec::new();
    };
    let all_numbers = is_number(*result) && params.iter().all(|ty| is_number(*ty));
    let Some(body) = function.body.filter(|_| all_numbers) else { return Vec::new() };
    let StmtKind::Compound(all) = &ast.stmts[body].kind else { return Vec::new() };
    // Control never comes to the function's end, even where a statement is gone.
    let returns =
        all.last().is_some_and(|last| matches!(ast.stmts[*last].kind, StmtKind::Return(Some(_))));
    let locals = function.locals.iter().all(|id| is_number(ast.vars[*id].ty));
    match returns && locals && statement(ast, body) {
        true => params.iter().filter_map(|ty| type_name(ast, *ty)).collect(),
        false => Vec::new(),
    }
}

fn statement(ast: &TranslationUnit, id: StmtId) -> bool {
    match &ast.stmts[id].kind {
        StmtKind::Compound(all) => all.iter().all(|inner| statement(ast, *inner)),
        StmtKind::Decl(all) => all.iter().all(|decl| match decl {
            // A local without a value would have one of its own in each version.
            LocalDecl::Var(var) => match ast.vars[*var].storage {
                VarStorage::Local(_) => {
                    ast.vars[*var].init.is_some_and(|init| expression(ast, init))
                }
                _ => false,
            },
            LocalDecl::NoEffect => true,
            _ => false,
        }),
        StmtKind::Expr(expr) => expression(ast, *expr),
        StmtKind::Null | StmtKind::Break => true,
        StmtKind::If { condition, then, otherwise } => {
            expression(ast, *condition)
                && statement(ast, *then)
                && otherwise.is_none_or(|inner| statement(ast, inner))
        }
        StmtKind::Switch { value, body } => expression(ast, *value) && statement(ast, *body),
        StmtKind::Case { body, .. } | StmtKind::Default(body) => statement(ast, *body),
        StmtKind::Return(value) => value.is_some_and(|value| expression(ast, value)),
        _ => false,
    }
}

fn expression(ast: &TranslationUnit, id: ExprId) -> bool {
    let own = match &ast.exprs[id].kind {
        ExprKind::Integer(_) | ExprKind::Character(_) | ExprKind::Paren(_) => true,
        ExprKind::Constant { value, .. } => return value.is_some(),
        ExprKind::DeclRef(DeclRef::EnumConstant(_)) => true,
        ExprKind::DeclRef(DeclRef::Var(var)) => {
            matches!(ast.vars[*var].storage, VarStorage::Local(_) | VarStorage::Param(_))
        }
        ExprKind::Unary { op, .. } => {
            !matches!(op, UnaryOp::AddressOf | UnaryOp::Deref | UnaryOp::Real | UnaryOp::Imag)
        }
        ExprKind::Binary { op, .. } | ExprKind::CompoundAssign { op, .. } => {
            !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr)
        }
        ExprKind::Assign { .. } | ExprKind::Conditional { .. } => true,
        ExprKind::Cast { kind, .. } => matches!(
            kind,
            CastKind::LValueToRValue
                | CastKind::NoOp
                | CastKind::IntegralCast
                | CastKind::IntegralToBoolean
                | CastKind::BooleanToSignedIntegral
                | CastKind::ToVoid
        ),
        _ => false,
    };
    let mut all = own;
    for_each_child(&ast.exprs[id].kind, &mut |child| all &= expression(ast, child));
    all
}
