//! Assignments, compound assignments, increments and decrements.
//!
//! Clang evaluates the right side of a scalar assignment first, then the address on the left, then
//! writes.

use lydian_base::Span;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Expr, ExprId, Stmt, StmtId, Storage, Type};

use crate::ast::{self, BinaryOp, DeclRef, ExprKind, UnaryOp, VarStorage};
use crate::ctypes::{CType, QualType, Quals};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::expressions::lvalue::LValue;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

/// How the new value of `x op= e` is made of the old one.
struct Update {
    op: BinaryOp,
    /// The right operand and its type.
    operand: (ExprId, Scalar),
    /// The type of the computation's left operand.
    compute: Scalar,
    /// The type of its result.
    result: Scalar,
}

impl FunctionLowering<'_, '_> {
    /// Lowers an assignment of any kind. Gives its value if `want`ed and it is a scalar.
    pub(in crate::lower) fn assignment(
        &mut self,
        e: ast::ExprId,
        want: bool,
    ) -> Lowering<Option<ExprId>> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let outer = std::mem::replace(&mut self.span, expr.span);
        let (value, _) = self.with_captures(|l| match &expr.kind {
            ExprKind::Assign { target, value } => l.assign(e, *target, *value, want),
            ExprKind::CompoundAssign { op, target, value, compute_target, compute_result } => {
                l.compound_assign(e, *op, *target, *value, (*compute_target, *compute_result), want)
            }
            ExprKind::Unary { op, operand } => l.increment(e, *op, *operand, want),
            _ => Err(UnsupportedConstruct::new("this assignment", expr.span)),
        })?;
        self.span = outer;
        match value {
            Some(value) => {
                match self.body.exprs[value] {
                    Expr::Local(temp) => self.capture(self.text(e), temp),
                    _ => self.captures.opaque = true,
                }
                Ok(Some(value))
            }
            None => Ok(None),
        }
    }

    fn assign(
        &mut self,
        e: ast::ExprId,
        target: ast::ExprId,
        value: ast::ExprId,
        want: bool,
    ) -> Lowering<Option<ExprId>> {
        let target_type = self.unit.exprs[target].ty.ty;
        if self.is_aggregate(target_type) {
            self.assign_aggregate(target, value)?;
            return Ok(None);
        }
        let span = self.unit.exprs[e].span;
        let scalar = self.scalar(target_type, span)?;
        let later = self.effects_of(target);
        let ((new, spilled), captures) = self.with_captures(|l| {
            let (new, captures) = l.with_captures(|l| l.rvalue(value))?;
            let kept = l.settle(new, value, captures, &later)?;
            Ok((kept, kept != new))
        })?;
        let (place, target_captures) = self.with_captures(|l| l.lvalue(target))?;
        let kind = self.assigned_kind(target, place);
        let (text, point, result) = (self.text(value), None, None);
        let write = Write { e, place, scalar, value: new, want, point, result };
        let write = self.write(write)?;
        if !(spilled && kind == RootKind::Value)
            && let Some(point) = write.point
        {
            self.root(Point::Stmt(point), new, kind, text, captures);
        }
        self.address_root(target, place, &write, target_captures);
        Ok(write.result)
    }

    /// The kind of root of the right side of an assignment to this target.
    fn assigned_kind(&mut self, target: ast::ExprId, place: LValue) -> RootKind {
        let ExprKind::DeclRef(DeclRef::Var(var)) =
            self.unit.exprs[self.unit.strip_parens(target)].kind
        else {
            return RootKind::Value;
        };
        self.assigned_variable(var, place)
    }

    /// The kind of root of a value that is assigned to a variable.
    pub(in crate::lower) fn assigned_variable(&self, var: ast::VarId, place: LValue) -> RootKind {
        let decl = &self.unit.vars[var];
        if decl.ty.quals.has(Quals::VOLATILE) {
            return RootKind::Value;
        }
        let local = match decl.storage {
            VarStorage::Local(_) | VarStorage::Param(_) => self.variables.local(var),
            _ => None,
        };
        match place {
            LValue::Register(_) => RootKind::Assigned { local, addr: None },
            LValue::Memory { addr, .. } => RootKind::Assigned { local, addr: Some(addr) },
            LValue::Bits { .. } => RootKind::Value,
        }
    }

    /// Writes and, if wanted, keeps the value of the assignment in a temporary.
    fn write(&mut self, mut write: Write) -> Lowering<Write> {
        let Write { e, place, scalar, value, want, .. } = write;
        let ty = self.unit.exprs[e].ty.ty;
        let span = self.unit.exprs[e].span;
        match place {
            LValue::Register(local) => {
                write.point = Some(self.write_lvalue(place, value, scalar.ty));
                if want {
                    let current = self.read(local);
                    let (_, temp) = self.keep(current, ty, span)?;
                    write.result = Some(self.read(temp));
                }
            }
            _ if want => {
                let (stmt, temp) = self.keep(value, ty, span)?;
                write.point = Some(stmt);
                let kept = self.read(temp);
                self.write_lvalue(place, kept, scalar.ty);
                let read_back = self.as_read_back(place, kept);
                write.result = Some(if read_back == kept {
                    kept
                } else {
                    let (_, temp) = self.keep(read_back, ty, span)?;
                    self.read(temp)
                });
            }
            _ => write.point = Some(self.write_lvalue(place, value, scalar.ty)),
        }
        Ok(write)
    }

    /// Notes the address that an assignment writes to.
    fn address_root(
        &mut self,
        target: ast::ExprId,
        place: LValue,
        write: &Write,
        captures: Captures,
    ) {
        let (addr, is_bits) = match place {
            LValue::Register(_) => return,
            LValue::Memory { addr, .. } => (addr, false),
            LValue::Bits { addr, .. } => (addr, true),
        };
        // The last statement that was emitted for a wanted value may be its temporary.
        let store = self.last_store().or(write.point);
        let Some(store) = store else { return };
        // No expression is the address of a bit-field or of an element of a vector.
        let target_kind = &self.unit.exprs[self.unit.strip_parens(target)].kind;
        let is_element =
            matches!(target_kind, ExprKind::VectorElement { .. } | ExprKind::Swizzle { .. });
        let captures = Captures { opaque: captures.opaque || is_bits || is_element, ..captures };
        let span = self.text(target);
        self.root(Point::Stmt(store), addr, RootKind::Address, span, captures);
    }

    fn last_store(&self) -> Option<StmtId> {
        let stmts = &self.body.blocks[self.current_block()].stmts;
        stmts.iter().rev().take(3).copied().find(|stmt| {
            matches!(self.body.stmts[*stmt], Stmt::Store { .. } | Stmt::StoreBits { .. })
        })
    }

    fn compound_assign(
        &mut self,
        e: ast::ExprId,
        op: BinaryOp,
        target: ast::ExprId,
        value: ast::ExprId,
        (compute, result): (QualType, QualType),
        want: bool,
    ) -> Lowering<Option<ExprId>> {
        let span = self.unit.exprs[e].span;
        if self.complex_part(result.ty).is_some() {
            let new = self.real_compound_assign(op, target, value, result.ty, span)?;
            return Ok(want.then_some(new));
        }
        let later = self.effects_of(target);
        let mut compute = self.scalar(compute.ty, span)?;
        let mut result = self.scalar(result.ty, span)?;
        let mut operand_type = self.scalar(self.unit.exprs[value].ty.ty, span)?;
        let excess = matches!(result.ty, Type::F16 | Type::BF16);
        if excess {
            (compute, result, operand_type) = (Scalar::SINGLE, Scalar::SINGLE, Scalar::SINGLE);
        }
        let (operand, captures) = self.with_captures(|l| {
            if excess {
                return l.excess_operand(value, &later);
            }
            let (operand, captures) = l.with_captures(|l| l.rvalue(value))?;
            l.settle(operand, value, captures, &later)
        })?;
        let update = Update { op, operand: (operand, operand_type), compute, result };
        self.update(e, target, update, captures, want, false)
    }

    fn increment(
        &mut self,
        e: ast::ExprId,
        op: UnaryOp,
        target: ast::ExprId,
        want: bool,
    ) -> Lowering<Option<ExprId>> {
        let expr = &self.unit.exprs[target];
        let old = self.scalar(expr.ty.ty, expr.span)?;
        let compute = match old.ty {
            Type::Int(bits) if bits < 32 => Scalar::INT,
            Type::F16 | Type::BF16 => Scalar::SINGLE,
            _ => old,
        };
        let one = match old.ty {
            Type::Ptr => self.constant(Type::Int(64), 1),
            Type::Int(_) => self.constant(compute.ty, 1),
            _ => self.expr(Expr::Const(compute.ty, lydian_ir::arith::float_bits(compute.ty, 1.0))),
        };
        let one_type = if old.ty == Type::Ptr { Scalar::INDEX } else { compute };
        self.note_types(one, one_type, one_type);
        let op_of = |op| match op {
            UnaryOp::PreInc | UnaryOp::PostInc => BinaryOp::Add,
            _ => BinaryOp::Sub,
        };
        let update = Update { op: op_of(op), operand: (one, one_type), compute, result: compute };
        let post = matches!(op, UnaryOp::PostInc | UnaryOp::PostDec);
        self.update(e, target, update, Captures::default(), want, post)
    }

    /// Reads the target, computes, writes back. The value is the old one if `post`.
    fn update(
        &mut self,
        e: ast::ExprId,
        target: ast::ExprId,
        update: Update,
        captures: Captures,
        want: bool,
        post: bool,
    ) -> Lowering<Option<ExprId>> {
        let unit = self.unit;
        let (expr, target_expr) = (&unit.exprs[e], &unit.exprs[target]);
        let scalar = self.scalar(target_expr.ty.ty, expr.span)?;
        let ((place, old), target_captures) = self.with_captures(|l| {
            let place = l.lvalue(target)?;
            let (old, _) = l.with_captures(|l| l.read_lvalue(place, scalar, target))?;
            Ok((place, old))
        })?;
        let kept = match want && post {
            true => Some(self.keep(old, target_expr.ty.ty, expr.span)?.1),
            false => None,
        };
        let new = self.updated(old, scalar, &update, target, expr.span)?;
        let want = want && !post;
        let write = Write { e, place, scalar, value: new, want, point: None, result: None };
        let write = self.write(write)?;
        let volatile = target_expr.ty.quals.has(Quals::VOLATILE);
        let opaque = captures.opaque
            || target_captures.opaque
            || !target_captures.parts.is_empty()
            || volatile;
        if let Some(point) = write.point {
            let captures = Captures { opaque, ..captures };
            self.root(Point::Stmt(point), new, RootKind::Update, expr.span, captures);
        }
        self.address_root(target, place, &write, target_captures);
        match kept {
            Some(temp) => Ok(Some(self.read(temp))),
            None => Ok(write.result),
        }
    }

    fn updated(
        &mut self,
        old: ExprId,
        scalar: Scalar,
        update: &Update,
        target: ast::ExprId,
        span: Span,
    ) -> Lowering<ExprId> {
        let (operand, operand_type) = update.operand;
        let target_type = self.unit.exprs[target].ty;
        if matches!(self.unit.ty(target_type), CType::Pointer(_)) {
            let step = self.step_of(target)?;
            let down = update.op == BinaryOp::Sub;
            return Ok(self.pointer_step(old, operand, operand_type, step, down));
        }
        self.note_types(old, scalar, update.compute);
        let left = self.convert(old, scalar, update.compute);
        self.note_types(left, scalar, update.compute);
        let new =
            self.arithmetic(update.op, (left, update.compute), (operand, operand_type), span)?;
        self.note_types(new, update.result, scalar);
        let converted = self.convert(new, update.result, scalar);
        self.note_types(converted, update.result, scalar);
        Ok(converted)
    }

    /// Sets a variable at its declaration, as `var = init` would.
    pub(in crate::lower) fn initialise_scalar(
        &mut self,
        var: ast::VarId,
        place: LValue,
        init: ast::ExprId,
    ) -> Lowering<()> {
        let scalar = self.scalar(self.unit.vars[var].ty.ty, self.unit.exprs[init].span)?;
        let (value, captures) = self.with_captures(|l| l.rvalue(init))?;
        let point = self.write_lvalue(place, value, scalar.ty);
        let kind = self.assigned_variable(var, place);
        let text = self.text(self.scalar_initialiser(init));
        self.root(Point::Stmt(point), value, kind, text, captures);
        Ok(())
    }

    /// `1` of `{ 1 }`.
    fn scalar_initialiser(&self, init: ast::ExprId) -> ast::ExprId {
        match &self.unit.exprs[self.unit.strip_parens(init)].kind {
            ExprKind::InitList(ast::InitList::Scalar(Some(inner))) => {
                self.scalar_initialiser(*inner)
            }
            _ => init,
        }
    }

    /// Whether a local is in a register.
    pub(in crate::lower) fn in_register(&self, local: lydian_ir::LocalId) -> bool {
        matches!(self.body.locals[local].storage, Storage::Register(_))
    }
}

/// A write and what came of it.
struct Write {
    e: ast::ExprId,
    place: LValue,
    scalar: Scalar,
    value: ExprId,
    want: bool,
    /// The statement that evaluates the value.
    point: Option<StmtId>,
    /// The value of the assignment.
    result: Option<ExprId>,
}
