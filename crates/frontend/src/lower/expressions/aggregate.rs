//! Values of struct and union type, complex numbers and vectors: they are somewhere in memory, and
//! are copied.

use lydian_ir::source::{Point, RootKind};
use lydian_ir::{ExprId, Stmt, Storage, Terminator};

use crate::ast::{self, BinaryOp, CastKind, ExprKind, UnaryOp, ValueCategory};
use crate::ctypes::{CType, Quals, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::effects::Effects;
use crate::lower::expressions::lvalue::{is_lvalue, unsupported_name};
use crate::lower::expressions::vector::Swizzle;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::layout_of;

impl FunctionLowering<'_, '_> {
    /// Whether values of a type are kept in memory.
    pub(in crate::lower) fn is_aggregate(&self, ty: TypeId) -> bool {
        matches!(
            self.unit.types.get(ty),
            CType::Record(_) | CType::Array { .. } | CType::Complex(_) | CType::Vector { .. }
        )
    }

    pub(in crate::lower) fn size_of(&self, ty: TypeId, span: lydian_base::Span) -> Lowering<u64> {
        layout_of(self.unit, ty)
            .map(|layout| layout.size)
            .ok_or_else(|| UnsupportedConstruct::new(self.module.type_description(ty), span))
    }

    /// Lowers an expression of struct or union type to the address of its value, which is valid
    /// until the next effect.
    pub(in crate::lower) fn aggregate(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        if expr.ty.quals.has(Quals::VOLATILE) {
            self.note_volatile_part();
        }
        if self.is_computed(e) {
            let temp = self.memory_temp(expr.ty.ty, expr.span)?;
            self.captures.opaque = true;
            self.apart(|l| l.initialise(temp, expr.ty, e))?;
            return Ok(temp);
        }
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Constant { inner, .. }
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => self.aggregate(*inner),
            ExprKind::CompoundAssign { op, target, value, compute_result, .. } => {
                self.captures.opaque = true;
                let result = compute_result.ty;
                self.apart(|l| match l.is_vector(*target) {
                    true => l.vector_compound_assign(*op, *target, *value, expr.span),
                    false => l.complex_compound_assign(*op, *target, *value, result, expr.span),
                })
            }
            ExprKind::Unary {
                op: op @ (UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec),
                operand,
            } => {
                self.captures.opaque = true;
                let (old, new) = self.apart(|l| l.complex_increment(*op, *operand, expr.span))?;
                let post = matches!(op, UnaryOp::PostInc | UnaryOp::PostDec);
                let part = self.complex_part(expr.ty.ty).unwrap_or(expr.ty.ty);
                let temp = self.memory_temp(expr.ty.ty, expr.span)?;
                self.store_complex(temp, if post { old } else { new }, part, expr.span)?;
                Ok(temp)
            }
            ExprKind::Cast {
                kind: CastKind::BitCast | CastKind::LValueBitCast, operand, ..
            } => self.aggregate(*operand),
            ExprKind::Cast {
                kind:
                    CastKind::LValueToRValue
                    | CastKind::NoOp
                    | CastKind::AtomicToNonAtomic
                    | CastKind::NonAtomicToAtomic,
                operand,
                ..
            } => self.aggregate(*operand),
            ExprKind::Assign { target, value } => {
                self.captures.opaque = true;
                self.apart(|l| l.assign_aggregate(*target, *value))
            }
            ExprKind::Binary { op: BinaryOp::Comma, left, right } => {
                self.captures.opaque |= self.effects_of(*left).hoists;
                self.apart(|l| l.discard(*left))?;
                self.aggregate(*right)
            }
            ExprKind::Call { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::StmtExpr(_)
            | ExprKind::InitList(_)
            | ExprKind::ImplicitValueInit
            | ExprKind::DesignatedInitUpdate { .. }
            | ExprKind::Cast { kind: CastKind::ToUnion, .. } => {
                let temp = self.memory_temp(expr.ty.ty, expr.span)?;
                self.captures.opaque = true;
                self.apart(|l| l.initialise(temp, expr.ty, e))?;
                Ok(temp)
            }
            ExprKind::Atomic { op, args } => {
                self.captures.opaque = true;
                let value = self.apart(|l| l.atomic(e, op, args))?;
                value.ok_or_else(|| UnsupportedConstruct::new("this struct expression", expr.span))
            }
            ExprKind::VaArg { list } => {
                self.captures.opaque = true;
                self.va_arg(e, *list)
            }
            // The literal that clang makes of a transparent union's argument is no lvalue.
            ExprKind::Member { .. } | ExprKind::CompoundLiteral { .. } => self.address(e),
            // An lvalue of another kind would come back here.
            kind if expr.category == ValueCategory::LValue && is_lvalue(kind) => self.address(e),
            ExprKind::Unsupported(name) => {
                Err(UnsupportedConstruct::new(unsupported_name(name), expr.span))
            }
            _ => Err(UnsupportedConstruct::new("this struct expression", expr.span)),
        }
    }

    /// Whether a complex or vector expression is computed, rather than found in memory.
    pub(in crate::lower) fn is_computed(&self, e: ast::ExprId) -> bool {
        (self.is_complex(e) && self.computes_complex(e))
            || (self.is_vector(e) && self.computes_vector(e))
    }

    /// The address of an argument, copied if a later argument could change it.
    pub(in crate::lower) fn aggregate_argument(
        &mut self,
        e: ast::ExprId,
        later: &Effects,
    ) -> Lowering<ExprId> {
        let addr = self.aggregate(e)?;
        if !later.memory && self.is_stable(addr, later) {
            return Ok(addr);
        }
        let expr = &self.unit.exprs[e];
        let temp = self.memory_temp(expr.ty.ty, expr.span)?;
        self.copy(temp, addr, expr.ty.ty, expr.span)?;
        Ok(temp)
    }

    /// Copies a value of a type.
    pub(in crate::lower) fn copy(
        &mut self,
        dst: ExprId,
        src: ExprId,
        ty: TypeId,
        span: lydian_base::Span,
    ) -> Lowering<()> {
        let size = self.size_of(ty, span)?;
        if size > 0 && dst != src {
            self.emit(Stmt::Copy { dst, src, size });
        }
        Ok(())
    }

    /// `target = value` for structs and unions; gives the target's address. Clang evaluates the
    /// target first here.
    pub(in crate::lower) fn assign_aggregate(
        &mut self,
        target: ast::ExprId,
        value: ast::ExprId,
    ) -> Lowering<ExprId> {
        let ty = self.unit.exprs[target].ty.ty;
        let span = self.unit.exprs[target].span;
        if let ExprKind::Swizzle { base, arrow, lanes } =
            &self.unit.exprs[self.unit.strip_parens(target)].kind
        {
            let swizzle = Swizzle { base: *base, arrow: *arrow, lanes };
            self.assign_swizzle(swizzle, value, span)?;
            return self.aggregate(target);
        }
        if self.unit.exprs[target].ty.quals.has(Quals::VOLATILE) {
            self.note_volatile_part();
        }
        let later = self.effects_of(value);
        let (addr, mut captures) = self.with_captures(|l| l.address(target))?;
        let addr = if self.is_stable(addr, &later) {
            addr
        } else {
            captures.opaque = true;
            let pointee = self.ctype(ty);
            let pointer = self.module.program.types.pointer(pointee);
            let temp = self.temp_of(pointer, lydian_ir::Type::Ptr);
            self.emit(Stmt::Assign { dst: temp, value: addr });
            self.read(temp)
        };
        let src = self.apart(|l| l.aggregate(value))?;
        let size = self.size_of(ty, span)?;
        if size > 0 {
            let stmt = self.emit(Stmt::Copy { dst: addr, src, size });
            let text = self.text(target);
            self.root(Point::Stmt(stmt), addr, RootKind::Address, text, captures);
        }
        Ok(addr)
    }

    /// Both arms of a conditional of struct type, into `dst`.
    pub(in crate::lower) fn conditional_into(
        &mut self,
        dst: ExprId,
        ty: crate::ctypes::QualType,
        condition: ast::ExprId,
        then: ast::ExprId,
        otherwise: ast::ExprId,
    ) -> Lowering<()> {
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.control_decision(condition, then_block, else_block)?;
        for (block, arm) in [(then_block, then), (else_block, otherwise)] {
            self.start(block);
            self.apart(|l| l.initialise(dst, ty, arm))?;
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        Ok(())
    }

    /// The address of a compound literal, filled.
    pub(in crate::lower) fn compound_literal(
        &mut self,
        e: ast::ExprId,
        init: ast::ExprId,
        file_scope: bool,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        if file_scope {
            return match self.module.file_literal(e) {
                Some(global) => Ok(self.expr(lydian_ir::Expr::AddrGlobal(global))),
                None => Err(UnsupportedConstruct::new("this compound literal", expr.span)),
            };
        }
        let addr = self.memory_temp(expr.ty.ty, expr.span)?;
        self.captures.opaque = true;
        self.apart(|l| l.initialise(addr, expr.ty, init))?;
        Ok(addr)
    }

    /// Bytes of a memory local.
    pub(in crate::lower) fn memory_size(&self, local: lydian_ir::LocalId) -> u64 {
        match self.body.locals[local].storage {
            Storage::Memory { size, .. } => size,
            Storage::Register(ty) => ty.bytes(),
        }
    }
}
