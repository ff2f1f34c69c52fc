//! Variable length arrays, and pointers to them.
//!
//! Each bound is evaluated where control passes its declaration, into a register. The array itself
//! is an object of its own ([`Stmt::Alloca`]) whose address a register holds; a scope that is left
//! releases it. Which registers are the bounds of an expression's type follows from the declaration
//! that the expression comes from, since every step inwards takes the outermost bound off.

use lydian_base::Span;
use lydian_ir::{BinOp, CmpOp, Expr, ExprId, LocalId, Stmt, Terminator, Type};

use crate::ast::{
    self, Bound, BoundOwner, CastKind, DeclRef, ExprKind, TraitArgument, UnaryOp, VarId,
};
use crate::ctypes::{ArrayLength, CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, layout_of};

/// How far one step of a pointer goes, in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) enum Step {
    /// Always so far.
    Fixed(u64),
    /// As far as an `i64` says.
    Varying(ExprId),
}

impl FunctionLowering<'_, '_> {
    /// How many variable bounds a type has.
    fn bound_count(&self, ty: TypeId) -> usize {
        let mut count = 0;
        let mut at = ty;
        loop {
            at = match self.unit.types.get(at) {
                CType::Array { element, length } => {
                    count += usize::from(*length == ArrayLength::Variable);
                    element.ty
                }
                CType::Pointer(pointee) => pointee.ty,
                _ => return count,
            };
        }
    }

    /// Whether a type is an array whose size is not known while compiling.
    pub(in crate::lower) fn is_variable_array(&self, ty: TypeId) -> bool {
        matches!(self.unit.types.get(ty), CType::Array { .. })
            && layout_of(self.unit, ty).is_none()
            && self.bound_count(ty) > 0
    }

    /// Evaluates the bounds of a declaration.
    pub(in crate::lower) fn evaluate_bounds(
        &mut self,
        owner: BoundOwner,
        ty: TypeId,
        span: Span,
    ) -> Lowering<()> {
        let count = self.bound_count(ty);
        if count == 0 {
            return Ok(());
        }
        let bounds = self.unit.bounds.get(&owner);
        let Some(bounds) = bounds.filter(|bounds| bounds.len() == count) else {
            // A pointer to such an array can be passed on without its bounds.
            return match self.is_variable_array(ty) {
                true => Err(UnsupportedConstruct::new("a variable-length array", span)),
                false => Ok(()),
            };
        };
        let registers = self.bound_registers(bounds, span)?;
        self.variables.set_bounds(owner, registers);
        Ok(())
    }

    /// Evaluates the bounds of the type that a cast names, if it has any.
    pub(in crate::lower) fn cast_bounds(&mut self, cast: ast::ExprId) -> Lowering<()> {
        let owner = BoundOwner::Cast(cast);
        if !self.unit.bounds.contains_key(&owner) {
            return Ok(());
        }
        let expr = &self.unit.exprs[cast];
        self.evaluate_bounds(owner, expr.ty.ty, expr.span)
    }

    fn bound_registers(&mut self, bounds: &[Bound], span: Span) -> Lowering<Vec<LocalId>> {
        let mut registers = Vec::with_capacity(bounds.len());
        for bound in bounds {
            registers.push(match bound {
                Bound::Expr(e) => self.bound_register(*e)?,
                Bound::Of(owner, index) => {
                    let known = self.variables.bounds(*owner).and_then(|known| known.get(*index));
                    *known
                        .ok_or_else(|| UnsupportedConstruct::new("a variable-length array", span))?
                }
            });
        }
        Ok(registers)
    }

    fn bound_register(&mut self, e: ast::ExprId) -> Lowering<LocalId> {
        let expr = &self.unit.exprs[e];
        let from = self.scalar(expr.ty.ty, expr.span)?;
        let value = self.apart(|l| l.rvalue(e))?;
        let value = self.convert(value, from, Scalar::INDEX);
        let long = self.module.program.types.int(self.target().word64(true));
        let dst = self.temp_of(long, Type::Int(64));
        self.emit(Stmt::Assign { dst, value });
        Ok(dst)
    }

    /// Makes the array of a declaration; its bounds are evaluated.
    pub(in crate::lower) fn declare_array(&mut self, var: VarId) -> Lowering<()> {
        let decl = &self.unit.vars[var];
        let bounds = self.variables.bounds(BoundOwner::Var(var)).unwrap_or_default().to_vec();
        let size = self.size_with(decl.ty.ty, &bounds, decl.span)?;
        let align = self.element_align(decl.ty.ty).max(decl.alignment.unwrap_or(1));
        let ctype = self.ctype(decl.ty.ty);
        let element = match self.module.program.types.get(ctype) {
            lydian_ir::CType::Array { element, .. } => *element,
            _ => ctype,
        };
        let dst = match self.variables.array(var) {
            Some(known) => known,
            None => {
                let pointer = self.module.program.types.pointer(element);
                let dst = self.temp_of(pointer, Type::Ptr);
                // The array's name means its address, in C too.
                let start = decl.name_span.start.max(decl.span.start);
                let end = self.facts.scope_ends.get(&var).copied().unwrap_or(decl.span.end);
                let local = &mut self.body.locals[dst];
                local.name = decl.name.to_string();
                local.scope = Span::new(start, end.max(start));
                dst
            }
        };
        self.variables.set_array(var, dst);
        // Control may come here again without leaving the scope, by a jump back.
        self.emit(Stmt::Release { pointer: dst });
        self.emit(Stmt::Alloca { dst, size, align, array: true });
        self.nesting.add_array(dst);
        // C23 initialises one by `{}` alone.
        match decl.init.map(|init| &self.unit.exprs[init].kind) {
            None => {}
            Some(ExprKind::InitList(_) | ExprKind::ImplicitValueInit) => self.clear(dst, size),
            Some(_) => {
                let what = "an initialiser of a variable-length array";
                return Err(UnsupportedConstruct::new(what, decl.span));
            }
        }
        Ok(())
    }

    /// Sets `size` bytes from the address in a register on to zero, byte by byte.
    fn clear(&mut self, pointer: LocalId, size: ExprId) {
        let word = Type::Int(64);
        let long = self.module.program.types.int(self.target().word64(true));
        let (end, at) = (self.temp_of(long, word), self.temp_of(long, word));
        self.emit(Stmt::Assign { dst: end, value: size });
        let zero = self.constant(word, 0);
        self.emit(Stmt::Assign { dst: at, value: zero });
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.goto_and_start(head);
        let (index, limit) = (self.read(at), self.read(end));
        let cond = self.expr(Expr::Cmp(CmpOp::LtU, index, limit));
        self.terminate(Terminator::Branch { cond, then_to: inside, else_to: exit, origin: None });
        self.start(inside);
        let (base, index) = (self.read(pointer), self.read(at));
        let addr = self.expr(Expr::Index { base, index, size: 1, bound: None });
        let value = self.constant(Type::Int(8), 0);
        self.emit(Stmt::Store { addr, value, ty: Type::Int(8), volatile: false });
        let (index, one) = (self.read(at), self.constant(word, 1));
        let value = self.expr(Expr::Binary(BinOp::AddU, index, one));
        self.emit(Stmt::Assign { dst: at, value });
        self.terminate(Terminator::Goto(head));
        self.start(exit);
    }

    fn element_align(&self, mut ty: TypeId) -> u64 {
        while let CType::Array { element, .. } = self.unit.types.get(ty) {
            ty = element.ty;
        }
        layout_of(self.unit, ty).map_or(1, |layout| layout.align)
    }

    /// The address of a variable that is such an array.
    pub(in crate::lower) fn array_address(&mut self, var: VarId) -> Option<ExprId> {
        let pointer = self.variables.array(var)?;
        Some(self.read(pointer))
    }

    /// Bytes of a type, an `i64`. `bounds` are those of the type.
    fn size_with(&mut self, ty: TypeId, bounds: &[LocalId], span: Span) -> Lowering<ExprId> {
        let word = Type::Int(64);
        if let Some(layout) = layout_of(self.unit, ty) {
            return Ok(self.constant(word, i128::from(layout.size)));
        }
        let missing = || UnsupportedConstruct::new("the size of a variable-length array", span);
        let CType::Array { element, length } = *self.unit.types.get(ty) else {
            return Err(missing());
        };
        let (count, rest) = match length {
            ArrayLength::Constant(n) => (self.constant(word, i128::from(n)), bounds),
            ArrayLength::Variable => {
                let (first, rest) = bounds.split_first().ok_or_else(missing)?;
                (self.read(*first), rest)
            }
            ArrayLength::Incomplete => return Err(missing()),
        };
        let size = self.size_with(element.ty, rest, span)?;
        Ok(match self.as_const(size) {
            Some((_, 1)) => count,
            _ => self.expr(Expr::Binary(BinOp::MulU, count, size)),
        })
    }

    /// The registers of the bounds of an expression's type.
    fn bounds_of(&self, e: ast::ExprId) -> Option<Vec<LocalId>> {
        let count = self.bound_count(self.unit.exprs[e].ty.ty);
        let all = self.bounds_at(e)?;
        let start = all.len().checked_sub(count)?;
        Some(all[start..].to_vec())
    }

    /// The registers of the bounds of the declaration that an expression comes from.
    fn bounds_at(&self, e: ast::ExprId) -> Option<&[LocalId]> {
        if let Some(of_cast) = self.variables.bounds(BoundOwner::Cast(e)) {
            return Some(of_cast);
        }
        match &self.unit.exprs[e].kind {
            ExprKind::DeclRef(DeclRef::Var(var)) => self.variables.bounds(BoundOwner::Var(*var)),
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.bounds_at(*inner),
            ExprKind::Unary { op, operand } => match op {
                UnaryOp::LogicalNot | UnaryOp::Minus | UnaryOp::BitNot | UnaryOp::Plus => None,
                _ => self.bounds_at(*operand),
            },
            ExprKind::Subscript { pointer, .. } => self.bounds_at(*pointer),
            ExprKind::Cast { kind, operand, explicit: false } if *kind != CastKind::BitCast => {
                self.bounds_at(*operand)
            }
            ExprKind::Binary { left, right, op } => match op {
                ast::BinaryOp::Comma => self.bounds_at(*right),
                _ => self.bounds_at(*left).or_else(|| self.bounds_at(*right)),
            },
            ExprKind::Assign { target, .. } | ExprKind::CompoundAssign { target, .. } => {
                self.bounds_at(*target)
            }
            ExprKind::Conditional { then, otherwise, .. } => {
                self.bounds_at(*then).or_else(|| self.bounds_at(*otherwise))
            }
            _ => None,
        }
    }

    /// How far one step of a pointer goes.
    pub(in crate::lower) fn step_of(&mut self, pointer: ast::ExprId) -> Lowering<Step> {
        let expr = &self.unit.exprs[pointer];
        let missing = || UnsupportedConstruct::new("arithmetic on this pointer", expr.span);
        let CType::Pointer(pointee) = *self.unit.ty(expr.ty) else { return Err(missing()) };
        if let Some(layout) = layout_of(self.unit, pointee.ty) {
            return Ok(Step::Fixed(layout.size));
        }
        let bounds = self.bounds_of(pointer).ok_or_else(missing)?;
        self.size_with(pointee.ty, &bounds, expr.span).map(Step::Varying)
    }

    /// `base + index` steps; `index` is an `i64`.
    pub(in crate::lower) fn stepped(
        &mut self,
        base: ExprId,
        index: ExprId,
        step: Step,
        bound: Option<u64>,
    ) -> ExprId {
        match step {
            Step::Fixed(size) => self.expr(Expr::Index { base, index, size, bound }),
            Step::Varying(size) => {
                let index = self.expr(Expr::Binary(BinOp::MulU, index, size));
                self.expr(Expr::Index { base, index, size: 1, bound: None })
            }
        }
    }

    /// `(a - b)` in steps.
    pub(in crate::lower) fn steps_between(&mut self, a: ExprId, b: ExprId, step: Step) -> ExprId {
        match step {
            Step::Fixed(size) => {
                let steps = self.expr(Expr::PtrDiff { a, b, size: size.max(1) });
                self.as_difference(steps)
            }
            Step::Varying(size) => {
                let bytes = self.expr(Expr::PtrDiff { a, b, size: 1 });
                let steps = self.expr(Expr::Binary(BinOp::DivS, bytes, size));
                self.as_difference(steps)
            }
        }
    }

    /// An `i64` as a `ptrdiff_t` or `size_t`.
    pub(in crate::lower) fn as_difference(&mut self, value: ExprId) -> ExprId {
        let bits = self.target().pointer_bits();
        self.convert(value, Scalar::INDEX, Scalar::new(Type::Int(bits), true))
    }

    /// `sizeof` of a type whose size is not known while compiling.
    pub(in crate::lower) fn variable_size(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let missing =
            || UnsupportedConstruct::new("the size of a variable-length array", expr.span);
        let ExprKind::TypeTrait { argument, bounds, kind, .. } = &expr.kind else {
            return Err(missing());
        };
        if *kind != ast::TraitKind::SizeOf {
            return Err(missing());
        }
        match argument {
            TraitArgument::Type(ty) => {
                let registers = self.bound_registers(bounds, expr.span)?;
                let size = self.size_with(ty.ty, &registers, expr.span)?;
                Ok(self.as_difference(size))
            }
            TraitArgument::Expr(operand) => {
                self.apart(|l| l.discard(*operand))?;
                let registers = self.bounds_of(*operand).ok_or_else(missing)?;
                let size = self.size_with(unit.exprs[*operand].ty.ty, &registers, expr.span)?;
                Ok(self.as_difference(size))
            }
        }
    }
}
