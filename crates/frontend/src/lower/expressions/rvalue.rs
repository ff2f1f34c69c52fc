//! Values of scalar expressions, and expressions whose value is not used.

use lydian_base::Span;
use lydian_ir::{BinOp, Expr, ExprId, UnOp};

use crate::ast::{
    self, BinaryOp, CastKind, DeclRef, ExprKind, InitList, UnaryOp, ValueCategory, for_each_child,
};
use crate::ctypes::{CType, Quals};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::constant::{Constant, unary_op};
use crate::lower::expressions::convert;
use crate::lower::expressions::lvalue::unsupported_name;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::statements::vla::Step;
use crate::lower::types::{Scalar, scalar_of};

impl FunctionLowering<'_, '_> {
    /// Lowers an expression of scalar type; its effects go before what is emitted next.
    pub(in crate::lower) fn rvalue(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let value = self.rvalue_unnamed(e)?;
        self.note_span(value, self.unit.exprs[e].span);
        self.note_type(value, e);
        Ok(value)
    }

    fn rvalue_unnamed(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        if self.is_half_arithmetic(e) {
            return self.half_arithmetic(e);
        }
        let unit = self.unit;
        let expr = &unit.exprs[e];
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.rvalue(*inner),
            ExprKind::Constant { inner, value: None } => self.rvalue(*inner),
            ExprKind::Integer(_)
            | ExprKind::Character(_)
            | ExprKind::Floating(_)
            | ExprKind::Constant { .. }
            | ExprKind::DeclRef(DeclRef::EnumConstant(_))
            | ExprKind::ImplicitValueInit
            | ExprKind::InitList(InitList::Scalar(None)) => self.literal(e),
            ExprKind::TypeTrait { .. } if self.module.constant(e).is_none() => {
                self.variable_size(e)
            }
            ExprKind::TypeTrait { .. } => self.literal(e),
            ExprKind::OffsetOf { variable: Some(offset), .. } => self.variable_offset(offset),
            ExprKind::OffsetOf { .. } => self.literal_or(e, "this `offsetof`"),
            ExprKind::InitList(InitList::Scalar(Some(inner))) => self.rvalue(*inner),
            ExprKind::Cast { kind, operand, .. } => self.conversion(e, kind, *operand),
            ExprKind::Unary { op, operand } => self.unary_rvalue(e, *op, *operand),
            ExprKind::Binary { op, left, right } => self.binary_rvalue(e, *op, *left, *right),
            ExprKind::Assign { .. } | ExprKind::CompoundAssign { .. } => {
                self.assignment(e, true)?.ok_or_else(|| no_value(expr.span))
            }
            ExprKind::Conditional { .. } => match self.value_decision(e)? {
                Some(value) => Ok(value),
                None => self.conditional(e),
            },
            ExprKind::BinaryConditional { .. } => self.binary_conditional(e),
            ExprKind::OpaqueValue { source } => self.opaque_value(*source, expr.span),
            ExprKind::Call { .. } => self.call_value(e),
            ExprKind::StmtExpr(body) => self.statement_expression(e, *body),
            ExprKind::Member { .. } if expr.category == ValueCategory::PrValue => {
                let scalar = self.scalar(expr.ty.ty, expr.span)?;
                let (value, captures) = self.with_captures(|l| {
                    let place = l.lvalue(e)?;
                    l.read_lvalue(place, scalar, e)
                })?;
                let captures = Captures { opaque: true, ..captures };
                self.keep_part(value, e, captures)
            }
            ExprKind::VectorElement { .. } | ExprKind::Swizzle { .. } => {
                let scalar = self.scalar(expr.ty.ty, expr.span)?;
                let place = self.apart(|l| l.lvalue(e))?;
                self.captures.opaque = true;
                let value = self.read_lvalue(place, scalar, e)?;
                let (_, temp) = self.keep(value, expr.ty.ty, expr.span)?;
                Ok(self.read(temp))
            }
            ExprKind::AddrLabel(label) => Ok(self.label_address(*label)),
            ExprKind::VaArg { list } => self.va_arg_value(e, *list),
            ExprKind::Atomic { op, args } => {
                self.atomic(e, op, args)?.ok_or_else(|| no_value(expr.span))
            }
            ExprKind::Unsupported(name) => {
                Err(UnsupportedConstruct::new(unsupported_name(name), expr.span))
            }
            _ => Err(UnsupportedConstruct::new("this expression", expr.span)),
        }
    }

    /// `offsetof` with indices that are not constant.
    fn variable_offset(&mut self, offset: &ast::VariableOffset) -> Lowering<ExprId> {
        let mut sum = self.constant(Scalar::INDEX.ty, offset.base.into());
        for (index, size) in &offset.indices {
            let index_expr = &self.unit.exprs[*index];
            let scalar = self.scalar(index_expr.ty.ty, index_expr.span)?;
            let index = self.rvalue(*index)?;
            let (index, size) =
                (self.index(index, scalar), self.constant(Scalar::INDEX.ty, (*size).into()));
            let scaled = self.expr(Expr::Binary(BinOp::MulU, index, size));
            sum = self.expr(Expr::Binary(BinOp::AddU, sum, scaled));
        }
        Ok(self.as_difference(sum))
    }

    fn literal_or(&mut self, e: ast::ExprId, what: &str) -> Lowering<ExprId> {
        if self.module.constant(e).is_none() {
            return Err(UnsupportedConstruct::new(what, self.unit.exprs[e].span));
        }
        self.literal(e)
    }

    fn literal(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let scalar = self.scalar(expr.ty.ty, expr.span)?;
        match self.module.constant(e) {
            Some(Constant::Bits(bits)) => Ok(self.expr(Expr::Const(scalar.ty, bits))),
            _ => Err(UnsupportedConstruct::new("this constant", expr.span)),
        }
    }

    fn conversion(
        &mut self,
        e: ast::ExprId,
        kind: &CastKind,
        operand: ast::ExprId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        self.cast_bounds(e)?;
        match kind {
            CastKind::LValueToRValue => {
                let scalar = self.scalar(expr.ty.ty, expr.span)?;
                let lvalue = &self.unit.exprs[operand];
                if !lvalue.ty.quals.has(Quals::VOLATILE) {
                    let place = self.lvalue(operand)?;
                    return self.read_lvalue(place, scalar, operand);
                }
                let value = self.apart(|l| {
                    let place = l.lvalue(operand)?;
                    l.read_lvalue(place, scalar, operand)
                })?;
                match self.body.exprs[value] {
                    Expr::Local(temp) => self.capture(self.text(operand), temp),
                    _ => self.captures.opaque = true,
                }
                Ok(value)
            }
            CastKind::LValueBitCast => {
                let scalar = self.scalar(expr.ty.ty, expr.span)?;
                let place = self.lvalue(operand)?;
                self.read_lvalue(place, scalar, operand)
            }
            CastKind::ArrayToPointerDecay | CastKind::FunctionToPointerDecay => {
                self.address(operand)
            }
            // The bytes of a vector as a number.
            CastKind::BitCast if self.is_vector(operand) => {
                let ty = self.scalar(expr.ty.ty, expr.span)?.ty;
                let addr = self.apart(|l| l.aggregate(operand))?;
                self.captures.opaque = true;
                let value = self.expr(Expr::Load { ty, addr, volatile: false });
                let (_, temp) = self.keep(value, expr.ty.ty, expr.span)?;
                Ok(self.read(temp))
            }
            CastKind::ComplexToReal => self.complex_part_value(UnaryOp::Real, operand),
            CastKind::ComplexToBoolean => {
                let test = self.apart(|l| l.complex_truth(operand))?;
                self.captures.opaque = true;
                let to = self.scalar(expr.ty.ty, expr.span)?;
                Ok(self.test_value(test, to))
            }
            CastKind::NoOp
            | CastKind::BitCast
            | CastKind::AtomicToNonAtomic
            | CastKind::NonAtomicToAtomic => self.rvalue(operand),
            CastKind::NullToPointer => {
                self.discard(operand)?;
                Ok(self.zero(lydian_ir::Type::Ptr))
            }
            CastKind::IntegralToPointer
            | CastKind::PointerToIntegral
            | CastKind::PointerToBoolean
            | CastKind::IntegralCast
            | CastKind::IntegralToBoolean
            | CastKind::IntegralToFloating
            | CastKind::FloatingToIntegral
            | CastKind::FloatingToBoolean
            | CastKind::FloatingCast
            | CastKind::BooleanToSignedIntegral => {
                let from_ty = self.unit.exprs[operand].ty.ty;
                let from = self.scalar(from_ty, expr.span)?;
                let to = self.scalar(expr.ty.ty, expr.span)?;
                let value = self.rvalue(operand)?;
                Ok(self.convert(value, from, to))
            }
            CastKind::BuiltinFnToFnPtr => {
                Err(UnsupportedConstruct::new("a builtin function that is not called", expr.span))
            }
            CastKind::ToVoid
            | CastKind::ToUnion
            | CastKind::RealToComplex
            | CastKind::ComplexCast
            | CastKind::VectorSplat => Err(no_value(expr.span)),
            CastKind::Unsupported(name) => {
                Err(UnsupportedConstruct::new(format!("the conversion `{name}`"), expr.span))
            }
        }
    }

    fn unary_rvalue(
        &mut self,
        e: ast::ExprId,
        op: UnaryOp,
        operand: ast::ExprId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        match op {
            UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                self.assignment(e, true)?.ok_or_else(|| no_value(expr.span))
            }
            UnaryOp::AddressOf => self.address(operand),
            UnaryOp::Real | UnaryOp::Imag => self.complex_part_value(op, operand),
            UnaryOp::Plus | UnaryOp::Extension => self.rvalue(operand),
            UnaryOp::LogicalNot => match self.value_decision(e)? {
                Some(value) => Ok(value),
                None => Err(no_value(expr.span)),
            },
            UnaryOp::Minus | UnaryOp::BitNot => {
                let scalar = self.scalar(expr.ty.ty, expr.span)?;
                let value = self.rvalue(operand)?;
                let op = unary_op(op, scalar).unwrap_or(UnOp::Not);
                let value = self.unary(op, value);
                Ok(self.extended(value, scalar))
            }
            // A value of a dereference that clang did not convert: a function.
            UnaryOp::Deref => self.address(e),
        }
    }

    /// Lowers a condition to an `i1`.
    pub(in crate::lower) fn truth(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let inner = self.unit.strip_parens(e);
        if let ExprKind::Binary { op, left, right } = self.unit.exprs[inner].kind
            && op.is_comparison()
        {
            return self.compare(inner, op, left, right);
        }
        if self.is_complex(inner) {
            let test = self.apart(|l| l.complex_truth(inner))?;
            self.captures.opaque = true;
            return Ok(test);
        }
        let value = self.rvalue(e)?;
        Ok(self.test(value))
    }

    /// A comparison, of type `i1`.
    fn compare(
        &mut self,
        e: ast::ExprId,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
    ) -> Lowering<ExprId> {
        let span = self.unit.exprs[e].span;
        if self.is_complex(left) || self.is_complex(right) {
            let test = self.apart(|l| l.complex_compare(op, left, right, span))?;
            self.captures.opaque = true;
            self.note_span(test, span);
            return Ok(test);
        }
        let on = self.scalar(self.unit.exprs[left].ty.ty, span)?;
        self.note_unsequenced(&[left, right]);
        let later = self.effects_of(right);
        let a = self.operand(left, &later)?;
        let b = self.rvalue(right)?;
        let Some(op) = convert::comparison(op, on) else {
            return Err(UnsupportedConstruct::new("this comparison", span));
        };
        let test = self.expr(Expr::Cmp(op, a, b));
        self.note_span(test, span);
        Ok(test)
    }

    fn binary_rvalue(
        &mut self,
        e: ast::ExprId,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
    ) -> Lowering<ExprId> {
        if op == BinaryOp::Comma {
            return match self.computes {
                // The value of the left side is not used.
                true => self.rvalue(right),
                false => self.comma(e, left, right),
            };
        }
        if let Some(value) = self.value_decision(e)? {
            return Ok(value);
        }
        let span = self.unit.exprs[e].span;
        if op.is_comparison() {
            let test = self.compare(e, op, left, right)?;
            let to = self.scalar(self.unit.exprs[e].ty.ty, span)?;
            return Ok(self.test_value(test, to));
        }
        self.note_unsequenced(&[left, right]);
        let later = self.effects_of(right);
        let a = self.operand(left, &later)?;
        let b = self.rvalue(right)?;
        let exprs = &self.unit.exprs;
        let on = self.scalar(exprs[left].ty.ty, span)?;
        let other = self.scalar(exprs[right].ty.ty, span)?;
        if matches!(self.unit.ty(exprs[left].ty), CType::Pointer(_)) {
            let step = self.step_of(left)?;
            return match (op, self.unit.ty(exprs[right].ty)) {
                (BinaryOp::Sub, CType::Pointer(_)) => Ok(self.steps_between(a, b, step)),
                _ => Ok(self.pointer_step(a, b, other, step, op == BinaryOp::Sub)),
            };
        }
        if matches!(self.unit.ty(exprs[right].ty), CType::Pointer(_)) {
            let step = self.step_of(right)?;
            return Ok(self.pointer_step(b, a, on, step, false));
        }
        self.arithmetic(op, (a, on), (b, other), span)
    }

    /// `base ± count` steps.
    pub(in crate::lower) fn pointer_step(
        &mut self,
        base: ExprId,
        count: ExprId,
        count_type: Scalar,
        step: Step,
        down: bool,
    ) -> ExprId {
        let mut index = self.index(count, count_type);
        if down {
            index = self.unary(UnOp::NegS, index);
        }
        self.stepped(base, index, step, None)
    }

    /// An arithmetic or bitwise operator on values that clang has brought to one type (but for
    /// shifts).
    pub(in crate::lower) fn arithmetic(
        &mut self,
        op: BinaryOp,
        (a, on): (ExprId, Scalar),
        (b, other): (ExprId, Scalar),
        span: Span,
    ) -> Lowering<ExprId> {
        let Some(ir_op) = convert::arithmetic(op, on) else {
            return Err(UnsupportedConstruct::new("this operator", span));
        };
        let b = match op {
            BinaryOp::Shl | BinaryOp::Shr => self.convert(b, other, Scalar::new(on.ty, on.signed)),
            _ => b,
        };
        let value = self.expr(Expr::Binary(ir_op, a, b));
        Ok(self.extended(value, on))
    }

    fn comma(&mut self, e: ast::ExprId, left: ast::ExprId, right: ast::ExprId) -> Lowering<ExprId> {
        let hoists = self.effects_of(left).hoists;
        self.apart(|l| l.discard(left))?;
        if !hoists {
            return self.rvalue(right);
        }
        let (value, captures) = self.with_captures(|l| l.rvalue(right))?;
        let span = self.text(right);
        let ty = self.unit.exprs[e].ty.ty;
        let (stmt, temp) = self.within(span, |l| l.keep(value, ty, span))?;
        let point = lydian_ir::source::Point::Stmt(stmt);
        self.root(point, value, lydian_ir::source::RootKind::Value, span, captures);
        self.capture(self.text(e), temp);
        Ok(self.read(temp))
    }

    /// Lowers an expression for its effects alone.
    pub(in crate::lower) fn discard(&mut self, e: ast::ExprId) -> Lowering<()> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) | ExprKind::Constant { inner, .. } => {
                self.discard(*inner)
            }
            ExprKind::CompoundAssign { .. } if self.is_aggregate(expr.ty.ty) => {
                self.within(expr.span, |l| l.apart(|l| l.aggregate(e))).map(drop)
            }
            ExprKind::Assign { .. } | ExprKind::CompoundAssign { .. } => {
                self.assignment(e, false).map(drop)
            }
            ExprKind::Unary { op, operand } => match op {
                UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec
                    if self.is_aggregate(expr.ty.ty) =>
                {
                    self.within(expr.span, |l| l.apart(|l| l.aggregate(e))).map(drop)
                }
                UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                    self.assignment(e, false).map(drop)
                }
                UnaryOp::LogicalNot => self.discard_boolean(e),
                _ => self.discard(*operand),
            },
            ExprKind::Call { .. } => self.call_for_effect(e),
            ExprKind::Cast { kind: CastKind::LValueToRValue, operand, .. }
                if unit.exprs[*operand].ty.quals.has(Quals::VOLATILE)
                    && scalar_of(unit, expr.ty.ty).is_some() =>
            {
                self.apart(|l| l.rvalue(e)).map(drop)
            }
            ExprKind::Cast { kind: CastKind::Unsupported(name), .. } => {
                Err(UnsupportedConstruct::new(format!("the conversion `{name}`"), expr.span))
            }
            ExprKind::Cast { operand, explicit: true, .. } => {
                self.cast_bounds(e)?;
                self.discard(*operand)
            }
            ExprKind::Binary { op, .. } if op.is_logical() => self.discard_boolean(e),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.discard_conditional(e, *condition, *then, *otherwise)
            }
            ExprKind::BinaryConditional { .. } => self.apart(|l| l.rvalue(e)).map(drop),
            ExprKind::StmtExpr(body) => self.apart(|l| l.stmt_expr_for_effect(*body)),
            ExprKind::CompoundLiteral { .. } => self.apart(|l| l.address(e)).map(drop),
            ExprKind::VaArg { list } => self.apart(|l| l.va_arg(e, *list)).map(drop),
            ExprKind::Atomic { op, args } => self.apart(|l| l.atomic(e, op, args)).map(drop),
            ExprKind::Unsupported(name) => {
                Err(UnsupportedConstruct::new(unsupported_name(name), expr.span))
            }
            kind => {
                let mut children = Vec::new();
                for_each_child(kind, &mut |child| children.push(child));
                children.into_iter().try_for_each(|child| self.discard(child))
            }
        }
    }
}

fn no_value(span: Span) -> UnsupportedConstruct {
    UnsupportedConstruct::new("the value of this expression", span)
}
