//! Initialisers of automatic objects: aggregates are set to zero first, then written in the order
//! of their parts.

use lydian_base::Span;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Expr, ExprId, Stmt};

use crate::ast::{self, CastKind, ExprKind, FieldRef, InitList, UnaryOp};
use crate::ctypes::{ArrayLength, CType, QualType, Quals};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::expressions::lvalue::LValue;
use crate::lower::module::string_bytes;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::scalar_of;

/// Constant initialisers of more scalars than this are copied from a read-only object, as clang
/// does.
const MANY: usize = 32;

impl FunctionLowering<'_, '_> {
    /// Fills the object at `addr`, of type `ty`, whatever it held before.
    pub(in crate::lower) fn initialise(
        &mut self,
        addr: ExprId,
        ty: QualType,
        init: ast::ExprId,
    ) -> Lowering<()> {
        let unit = self.unit;
        let expr = &unit.exprs[init];
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.initialise(addr, ty, *inner)
            }
            _ if !self.is_aggregate(ty.ty) => self.store_part(addr, ty, init),
            _ if self.is_complex(init) && self.computes_complex(init) => {
                let part = self.complex_part(expr.ty.ty).unwrap_or(expr.ty.ty);
                let value = self.complex(init)?;
                self.store_complex(addr, value, part, expr.span)
            }
            _ if self.is_vector(init) && self.computes_vector(init) => self.vector_into(addr, init),
            ExprKind::InitList(_)
            | ExprKind::DesignatedInitUpdate { .. }
            | ExprKind::ImplicitValueInit
            | ExprKind::String(_)
            | ExprKind::Predefined { .. } => {
                if self.count_scalars(init) > MANY && self.copy_constant(addr, ty, init)? {
                    return Ok(());
                }
                let size = self.size_of(ty.ty, expr.span)?;
                if size > 0 {
                    self.emit(Stmt::Zero { dst: addr, size });
                }
                self.fill(addr, ty, init)
            }
            ExprKind::Call { .. } => self.call_aggregate(init, addr),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional_into(addr, ty, *condition, *then, *otherwise)
            }
            ExprKind::StmtExpr(body) => self.stmt_expr_into(addr, ty, *body),
            ExprKind::Cast { kind: CastKind::ToUnion, operand, .. } => {
                let size = self.size_of(ty.ty, expr.span)?;
                if size > 0 {
                    self.emit(Stmt::Zero { dst: addr, size });
                }
                self.initialise(addr, unit.exprs[*operand].ty, *operand)
            }
            ExprKind::CompoundLiteral { init: inner, .. }
                if matches!(unit.ty(ty), CType::Array { .. }) =>
            {
                self.initialise(addr, ty, *inner)
            }
            _ => {
                let src = self.aggregate(init)?;
                self.copy(addr, src, ty.ty, expr.span)
            }
        }
    }

    /// Writes the parts of an initialiser into an object that is zero, or holds what an updated
    /// initialiser wrote.
    fn fill(&mut self, addr: ExprId, ty: QualType, init: ast::ExprId) -> Lowering<()> {
        let unit = self.unit;
        let expr = &unit.exprs[init];
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.fill(addr, ty, *inner)
            }
            ExprKind::ImplicitValueInit | ExprKind::NoInit => Ok(()),
            ExprKind::DesignatedInitUpdate { base, updater } => {
                self.fill(addr, ty, *base)?;
                self.fill(addr, ty, *updater)
            }
            _ if !self.is_aggregate(ty.ty) => self.store_part(addr, ty, init),
            ExprKind::InitList(list) => self.fill_list(addr, list, init),
            ExprKind::String(literal) => {
                let full = self.size_of(ty.ty, expr.span)?;
                let bytes = string_bytes(literal, full);
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                if used == 0 {
                    return Ok(());
                }
                let src = self.address(init)?;
                self.emit(Stmt::Copy { dst: addr, src, size: used as u64 });
                Ok(())
            }
            ExprKind::Predefined { literal, .. } => self.fill(addr, ty, *literal),
            _ => self.initialise(addr, ty, init),
        }
    }

    fn fill_list(&mut self, addr: ExprId, list: &InitList, init: ast::ExprId) -> Lowering<()> {
        match list {
            InitList::Array { elements, filler } => {
                let span = self.unit.exprs[init].span;
                let (element, length) = match *self.unit.ty(self.unit.exprs[init].ty) {
                    CType::Array { element, length } => (element, length),
                    CType::Complex(part) => (QualType::plain(part), ArrayLength::Constant(2)),
                    CType::Vector { .. } => return self.vector_into(addr, init),
                    _ => return Err(UnsupportedConstruct::new("this initialiser", span)),
                };
                let size = self.size_of(element.ty, span)?;
                for (index, value) in elements.iter().enumerate() {
                    if !self.module.is_zero(*value) {
                        let at = self.element_addr(addr, index as u64, size);
                        self.fill(at, element, *value)?;
                    }
                }
                let (Some(filler), ArrayLength::Constant(length)) = (filler, length) else {
                    return Ok(());
                };
                if !self.module.is_zero(*filler) {
                    for index in elements.len() as u64..length {
                        let at = self.element_addr(addr, index, size);
                        self.fill(at, element, *filler)?;
                    }
                }
                Ok(())
            }
            InitList::Struct(fields) => {
                fields.iter().try_for_each(|(field, value)| self.fill_field(addr, *field, *value))
            }
            InitList::Union(field) => {
                field.iter().try_for_each(|(field, value)| self.fill_field(addr, *field, *value))
            }
            InitList::Scalar(_) => {
                Err(UnsupportedConstruct::new("this initialiser", self.unit.exprs[init].span))
            }
        }
    }

    fn fill_field(&mut self, base: ExprId, field: FieldRef, value: ast::ExprId) -> Lowering<()> {
        if self.module.is_zero(value) {
            return Ok(());
        }
        let decl = self.unit.field(field);
        let place = self.member_lvalue(base, field, decl.ty.quals.has(Quals::VOLATILE))?;
        match place {
            LValue::Memory { addr, .. } => self.fill(addr, decl.ty, value),
            _ => {
                let scalar = self.scalar(decl.ty.ty, decl.span)?;
                let (new, captures) = self.with_captures(|l| l.rvalue(value))?;
                let stmt = self.write_lvalue(place, new, scalar.ty);
                self.part_root(stmt, new, self.text(value), captures);
                Ok(())
            }
        }
    }

    /// Stores a scalar part.
    fn store_part(&mut self, addr: ExprId, ty: QualType, init: ast::ExprId) -> Lowering<()> {
        let span = self.unit.exprs[init].span;
        let scalar = self.scalar(ty.ty, span)?;
        let (value, captures) = self.with_captures(|l| l.rvalue(init))?;
        let volatile = ty.quals.has(Quals::VOLATILE);
        let stmt = self.emit(Stmt::Store { addr, value, ty: scalar.ty, volatile });
        self.part_root(stmt, value, self.text(init), captures);
        Ok(())
    }

    /// A part of an initialiser is watched unless it is a constant, of which tables are full.
    fn part_root(
        &mut self,
        stmt: lydian_ir::StmtId,
        value: ExprId,
        text: Span,
        captures: Captures,
    ) {
        if self.as_const(value).is_none() {
            self.root(Point::Stmt(stmt), value, RootKind::Value, text, captures);
        }
    }

    /// How many scalars an initialiser writes, up to a limit.
    fn count_scalars(&self, init: ast::ExprId) -> usize {
        let mut work = vec![init];
        let mut count = 0;
        while let Some(next) = work.pop() {
            match &self.unit.exprs[next].kind {
                ExprKind::InitList(list) => match list {
                    InitList::Array { elements, .. } => work.extend(elements),
                    InitList::Struct(fields) => work.extend(fields.iter().map(|(_, value)| *value)),
                    InitList::Union(field) => work.extend(field.iter().map(|(_, value)| *value)),
                    InitList::Scalar(value) => work.extend(value),
                },
                ExprKind::ImplicitValueInit | ExprKind::NoInit => {}
                _ => count += 1,
            }
            if count > MANY {
                break;
            }
        }
        count
    }

    /// Copies a constant initialiser from a read-only object. False if it is not constant.
    fn copy_constant(&mut self, addr: ExprId, ty: QualType, init: ast::ExprId) -> Lowering<bool> {
        let span = self.unit.exprs[init].span;
        let Ok(contents) = self.module.static_init(ty, init) else { return Ok(false) };
        let size = self.size_of(ty.ty, span)?;
        let global = self.module.constant_object(ty, contents, span);
        let src = self.expr(Expr::AddrGlobal(global));
        self.emit(Stmt::Copy { dst: addr, src, size });
        Ok(true)
    }

    /// Runs the initialiser of a local, if it has one.
    pub(in crate::lower) fn initialise_local(&mut self, var: ast::VarId) -> Lowering<()> {
        let decl = &self.unit.vars[var];
        let Some(init) = decl.init else { return Ok(()) };
        let place = self.lvalue_of_variable(var)?;
        if scalar_of(self.unit, decl.ty.ty).is_some() {
            return self.initialise_scalar(var, place, init);
        }
        match place {
            LValue::Memory { addr, .. } => self.apart(|l| l.initialise(addr, decl.ty, init)),
            _ => Err(UnsupportedConstruct::new("this initialiser", decl.span)),
        }
    }
}
