//! Vectors (`vector_size`, `ext_vector_type`): they are in memory, and operators go over their
//! elements one by one.
//!
//! Elements narrower than `int` are not promoted, and signed elements wrap. A comparison gives all
//! ones or zero in an integer as wide as the element.

use lydian_base::Span;
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, Stmt, Type, UnOp};

use crate::ast::{self, BinaryOp, CastKind, ExprKind, InitList, UnaryOp};
use crate::ctypes::{CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::effects::Effects;
use crate::lower::builtins::vector_builtin::vector_builtin;
use crate::lower::expressions::convert;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, scalar_of};

/// The layout of a vector type.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct VectorType {
    /// The type of an element.
    pub element: Scalar,
    /// Bytes of an element.
    pub size: u64,
    /// How many elements.
    pub length: u64,
}

/// The elements of an operand.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    /// In memory.
    At(ExprId, VectorType),
    /// All the same.
    Splat(ExprId, Scalar),
}

impl Lanes {
    const fn element(self) -> Scalar {
        match self {
            Self::At(_, ty) => ty.element,
            Self::Splat(_, element) => element,
        }
    }
}

/// Several elements of the vector that is, or that a pointer leads to (`arrow`).
#[derive(Clone, Copy)]
pub(in crate::lower) struct Swizzle<'a> {
    pub(in crate::lower) base: ast::ExprId,
    pub(in crate::lower) arrow: bool,
    /// The positions of the elements.
    pub(in crate::lower) lanes: &'a [u8],
}

impl FunctionLowering<'_, '_> {
    /// The vector type, if it is one that is computed with.
    pub(in crate::lower) fn vector_type(&self, ty: TypeId) -> Option<VectorType> {
        let CType::Vector { element, length } = *self.unit.types.get(ty) else { return None };
        let scalar = scalar_of(self.unit, element)?;
        Some(VectorType { element: scalar, size: scalar.ty.bytes(), length })
    }

    pub(in crate::lower) fn vector_of(&self, e: ast::ExprId) -> Lowering<VectorType> {
        let expr = &self.unit.exprs[e];
        self.vector_type(expr.ty.ty).ok_or_else(|| {
            UnsupportedConstruct::new(self.module.type_description(expr.ty.ty), expr.span)
        })
    }

    /// Whether an expression has a vector as its value.
    pub(in crate::lower) fn is_vector(&self, e: ast::ExprId) -> bool {
        matches!(self.unit.ty(self.unit.exprs[e].ty), CType::Vector { .. })
    }

    /// Whether the value of a vector expression is computed, rather than found in memory.
    pub(in crate::lower) fn computes_vector(&self, e: ast::ExprId) -> bool {
        match &self.unit.exprs[e].kind {
            ExprKind::Shuffle(_) | ExprKind::ConvertVector(_) => true,
            ExprKind::Swizzle { .. } | ExprKind::InitList(_) | ExprKind::ImplicitValueInit => true,
            ExprKind::Cast { kind, operand, .. } => match kind {
                CastKind::BitCast => !self.is_vector(*operand),
                CastKind::VectorSplat
                | CastKind::IntegralCast
                | CastKind::IntegralToFloating
                | CastKind::FloatingToIntegral
                | CastKind::FloatingCast => true,
                _ => false,
            },
            ExprKind::Unary { op, .. } => {
                matches!(op, UnaryOp::Minus | UnaryOp::Plus | UnaryOp::BitNot | UnaryOp::LogicalNot)
            }
            ExprKind::Binary { op, .. } => *op != BinaryOp::Comma,
            ExprKind::Call { callee, .. } => {
                self.builtin_name(*callee).is_some_and(|name| vector_builtin(name).is_some())
            }
            _ => false,
        }
    }

    pub(in crate::lower) fn lane_addr(&mut self, addr: ExprId, index: u64, size: u64) -> ExprId {
        if index == 0 { addr } else { self.element_addr(addr, index, size) }
    }

    fn lane(&mut self, lanes: Lanes, index: u64) -> ExprId {
        match lanes {
            Lanes::Splat(value, _) => value,
            Lanes::At(addr, ty) => {
                let addr = self.lane_addr(addr, index, ty.size);
                self.expr(Expr::Load { ty: ty.element.ty, addr, volatile: false })
            }
        }
    }

    pub(in crate::lower) fn store_lane(
        &mut self,
        dst: ExprId,
        ty: VectorType,
        index: u64,
        value: ExprId,
    ) {
        let addr = self.lane_addr(dst, index, ty.size);
        self.emit(Stmt::Store { addr, value, ty: ty.element.ty, volatile: false });
    }

    /// The elements of an operand, which is kept where `later` operands could change it.
    fn lanes(&mut self, e: ast::ExprId, later: Option<ast::ExprId>) -> Lowering<Lanes> {
        let unit = self.unit;
        let inner = unit.strip_parens(e);
        let expr = &unit.exprs[inner];
        if let ExprKind::Cast { kind: CastKind::VectorSplat, operand, .. } = expr.kind {
            let from = self.unit.exprs[operand].ty.ty;
            let scalar = self.scalar(from, expr.span)?;
            let value = self.rvalue(operand)?;
            if self.as_const(value).is_some() {
                return Ok(Lanes::Splat(value, scalar));
            }
            let (_, temp) = self.keep(value, from, expr.span)?;
            return Ok(Lanes::Splat(self.read(temp), scalar));
        }
        let ty = self.vector_of(inner)?;
        let effects = match later {
            Some(later) => self.effects_of_all(&[later]),
            None => Effects::default(),
        };
        Ok(Lanes::At(self.aggregate_argument(inner, &effects)?, ty))
    }

    /// Computes a vector expression into `dst`, which none of its operands is.
    pub(in crate::lower) fn vector_into(&mut self, dst: ExprId, e: ast::ExprId) -> Lowering<()> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let ty = self.vector_of(e)?;
        match &expr.kind {
            ExprKind::Binary { op, left, right } => {
                let a = self.lanes(*left, Some(*right))?;
                let b = self.lanes(*right, None)?;
                for index in 0..ty.length {
                    let (x, y) = (self.lane(a, index), self.lane(b, index));
                    let value = self.lane_operation(*op, (x, a), (y, b), ty, expr.span)?;
                    self.store_lane(dst, ty, index, value);
                }
                Ok(())
            }
            ExprKind::Unary { op, operand } => {
                let a = self.lanes(*operand, None)?;
                for index in 0..ty.length {
                    let x = self.lane(a, index);
                    let value = self.lane_unary(*op, x, a.element(), ty);
                    self.store_lane(dst, ty, index, value);
                }
                Ok(())
            }
            ExprKind::Cast { kind: CastKind::BitCast, operand, .. } => {
                let from = self.scalar(unit.exprs[*operand].ty.ty, expr.span)?;
                let value = self.rvalue(*operand)?;
                self.emit(Stmt::Store { addr: dst, value, ty: from.ty, volatile: false });
                Ok(())
            }
            ExprKind::Cast { kind: CastKind::VectorSplat, .. } => {
                let a = self.lanes(e, None)?;
                self.convert_lanes(dst, a, ty)
            }
            ExprKind::Cast { operand, .. } | ExprKind::ConvertVector(operand) => {
                let a = self.lanes(*operand, None)?;
                self.convert_lanes(dst, a, ty)
            }
            ExprKind::Call { callee, args } => {
                match self.builtin_name(*callee).and_then(vector_builtin) {
                    Some(builtin) => self.vector_builtin_into(dst, e, builtin, args),
                    None => Err(UnsupportedConstruct::new("this vector expression", expr.span)),
                }
            }
            ExprKind::Shuffle(args) => self.shuffle(dst, ty, args, expr.span),
            ExprKind::Swizzle { base, arrow, lanes } => {
                let (base, from) = self.swizzle_base(*base, *arrow, expr.span)?;
                for (index, lane) in lanes.iter().enumerate() {
                    let value = self.lane(Lanes::At(base, from), u64::from(*lane));
                    self.store_lane(dst, ty, index as u64, value);
                }
                Ok(())
            }
            ExprKind::ImplicitValueInit => {
                let size = self.size_of(expr.ty.ty, expr.span)?;
                self.emit(Stmt::Zero { dst, size });
                Ok(())
            }
            ExprKind::InitList(list) => {
                let size = self.size_of(expr.ty.ty, expr.span)?;
                self.emit(Stmt::Zero { dst, size });
                self.fill_vector(dst, ty, list, expr.span)
            }
            _ => Err(UnsupportedConstruct::new("this vector expression", expr.span)),
        }
    }

    /// Writes an initialiser's elements, which may be vectors themselves, into zeros.
    pub(in crate::lower) fn fill_vector(
        &mut self,
        dst: ExprId,
        ty: VectorType,
        list: &InitList,
        span: Span,
    ) -> Lowering<()> {
        let InitList::Array { elements, filler: None } = list else {
            return Err(UnsupportedConstruct::new("this initialiser", span));
        };
        let mut index = 0;
        for element in elements {
            if let Some(part) = self.vector_type(self.unit.exprs[*element].ty.ty) {
                let lanes = Lanes::At(self.aggregate(*element)?, part);
                for lane in 0..part.length {
                    let value = self.lane(lanes, lane);
                    self.store_lane(dst, ty, index, value);
                    index += 1;
                }
                continue;
            }
            if !self.module.is_zero(*element) {
                let value = self.apart(|l| l.rvalue(*element))?;
                self.store_lane(dst, ty, index, value);
            }
            index += 1;
        }
        Ok(())
    }

    fn convert_lanes(&mut self, dst: ExprId, a: Lanes, ty: VectorType) -> Lowering<()> {
        for index in 0..ty.length {
            let value = self.lane(a, index);
            let value = self.convert(value, a.element(), ty.element);
            self.store_lane(dst, ty, index, value);
        }
        Ok(())
    }

    /// One element of `a op b`; `ty` is the type of the result.
    fn lane_operation(
        &mut self,
        op: BinaryOp,
        (x, a): (ExprId, Lanes),
        (y, b): (ExprId, Lanes),
        ty: VectorType,
        span: Span,
    ) -> Lowering<ExprId> {
        let on = a.element();
        if let Some(compare) = convert::comparison(op, on) {
            let test = self.expr(Expr::Cmp(compare, x, y));
            return Ok(self.cast(CastOp::SExt, ty.element.ty, test));
        }
        // Additions and the like wrap; only division and right shifts see the sign.
        let sees_sign = matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr);
        let on = Scalar::new(on.ty, on.signed && sees_sign);
        self.arithmetic(op, (x, on), (y, Scalar { signed: false, ..b.element() }), span)
    }

    fn lane_unary(&mut self, op: UnaryOp, x: ExprId, on: Scalar, ty: VectorType) -> ExprId {
        match op {
            UnaryOp::Minus if on.ty.is_float() => self.unary(UnOp::FNeg, x),
            UnaryOp::Minus => self.unary(UnOp::NegU, x),
            UnaryOp::BitNot => self.unary(UnOp::Not, x),
            UnaryOp::LogicalNot => {
                let zero = self.zero(on.ty);
                let op = if on.ty.is_float() { CmpOp::FEq } else { CmpOp::Eq };
                let test = self.expr(Expr::Cmp(op, x, zero));
                self.cast(CastOp::SExt, ty.element.ty, test)
            }
            _ => x,
        }
    }

    /// `__builtin_shufflevector`: of two vectors by constant positions, or of one by another.
    fn shuffle(
        &mut self,
        dst: ExprId,
        ty: VectorType,
        args: &[ast::ExprId],
        span: Span,
    ) -> Lowering<()> {
        let [first, second, positions @ ..] = args else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        let a = self.lanes(*first, Some(*second))?;
        let b = self.lanes(*second, None)?;
        let (Lanes::At(from, of), Lanes::At(..)) = (a, b) else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        if positions.is_empty() {
            // Bits above those that number the elements do not count.
            let mask = i128::from(of.length.next_power_of_two() - 1);
            for index in 0..ty.length {
                let position = self.lane(b, index);
                let unsigned = Scalar { signed: false, ..b.element() };
                let position = self.convert(position, unsigned, Scalar::INDEX);
                let mask = self.constant(Type::Int(64), mask);
                let index_of = self.expr(Expr::Binary(BinOp::And, position, mask));
                let base = from;
                let addr =
                    self.expr(Expr::Index { base, index: index_of, size: of.size, bound: None });
                let value = self.expr(Expr::Load { ty: of.element.ty, addr, volatile: false });
                self.store_lane(dst, ty, index, value);
            }
            return Ok(());
        }
        for (index, position) in (0..ty.length).zip(positions) {
            let Some(position) = self.module.constant_integer(*position) else {
                return Err(UnsupportedConstruct::new("this builtin", span));
            };
            // -1 leaves the element undefined.
            let position = u64::try_from(position).unwrap_or(0);
            let value = match position.checked_sub(of.length) {
                None => self.lane(a, position),
                Some(position) => self.lane(b, position),
            };
            self.store_lane(dst, ty, index, value);
        }
        Ok(())
    }

    /// The address of the vector that `base.xyz` or `base->xyz` is of.
    fn swizzle_base(
        &mut self,
        base: ast::ExprId,
        arrow: bool,
        span: Span,
    ) -> Lowering<(ExprId, VectorType)> {
        let ty = self.unit.exprs[base].ty.ty;
        let vector = if arrow { self.unit.types.pointee(ty).map(|to| to.ty) } else { Some(ty) };
        let vector = vector.and_then(|ty| self.vector_type(ty));
        let vector =
            vector.ok_or_else(|| UnsupportedConstruct::new("this vector component", span))?;
        let addr = if arrow { self.rvalue(base)? } else { self.address(base)? };
        Ok((addr, vector))
    }

    /// The address of the one element that `base.x` designates.
    pub(in crate::lower) fn swizzle_address(
        &mut self,
        base: ast::ExprId,
        arrow: bool,
        lane: u8,
        span: Span,
    ) -> Lowering<ExprId> {
        let (addr, ty) = self.swizzle_base(base, arrow, span)?;
        Ok(self.lane_addr(addr, u64::from(lane), ty.size))
    }

    /// The address of `vector[index]`.
    pub(in crate::lower) fn vector_element(
        &mut self,
        vector: ast::ExprId,
        index: ast::ExprId,
    ) -> Lowering<ExprId> {
        let ty = self.vector_of(vector)?;
        let span = self.unit.exprs[index].span;
        let index_type = self.scalar(self.unit.exprs[index].ty.ty, span)?;
        let later = self.effects_of(index);
        let base = match self.unit.exprs[vector].category {
            ast::ValueCategory::LValue => self.address(vector)?,
            ast::ValueCategory::PrValue => self.apart(|l| l.aggregate_argument(vector, &later))?,
        };
        let base = if self.is_stable(base, &later) {
            base
        } else {
            let temp = self.pointer_temp(base);
            self.read(temp)
        };
        let index = self.rvalue(index)?;
        let index = self.index(index, index_type);
        Ok(self.expr(Expr::Index { base, index, size: ty.size, bound: Some(ty.length) }))
    }

    /// `target.xy = value` of several elements.
    pub(in crate::lower) fn assign_swizzle(
        &mut self,
        Swizzle { base, arrow, lanes }: Swizzle<'_>,
        value: ast::ExprId,
        span: Span,
    ) -> Lowering<()> {
        let from = self.lanes(value, None)?;
        // The value may be of the vector that is written.
        let mut values = Vec::new();
        for index in 0..lanes.len() as u64 {
            let value = self.lane(from, index);
            let element = from.element();
            let ctype = self.element_ctype(base, arrow, span)?;
            let temp = self.temp_of(ctype, element.ty);
            self.emit(Stmt::Assign { dst: temp, value });
            values.push(self.read(temp));
        }
        let (addr, ty) = self.swizzle_base(base, arrow, span)?;
        for (lane, value) in lanes.iter().zip(values) {
            self.store_lane(addr, ty, u64::from(*lane), value);
        }
        Ok(())
    }

    fn element_ctype(
        &mut self,
        base: ast::ExprId,
        arrow: bool,
        span: Span,
    ) -> Lowering<lydian_ir::CTypeId> {
        let ty = self.unit.exprs[base].ty.ty;
        let ty = if arrow { self.unit.types.pointee(ty).map_or(ty, |to| to.ty) } else { ty };
        match *self.unit.types.get(ty) {
            CType::Vector { element, .. } => Ok(self.ctype(element)),
            _ => Err(UnsupportedConstruct::new("this vector component", span)),
        }
    }

    /// `target op= value`; gives the target's address.
    pub(in crate::lower) fn vector_compound_assign(
        &mut self,
        op: BinaryOp,
        target: ast::ExprId,
        value: ast::ExprId,
        span: Span,
    ) -> Lowering<ExprId> {
        let ty = self.vector_of(target)?;
        let later = self.effects_of(target);
        let b = match self.lanes(value, None)? {
            splat @ Lanes::Splat(..) => splat,
            Lanes::At(addr, of) if !later.memory && self.is_stable(addr, &later) => {
                Lanes::At(addr, of)
            }
            Lanes::At(addr, of) => {
                let value_type = self.unit.exprs[value].ty.ty;
                let temp = self.memory_temp(value_type, span)?;
                self.copy(temp, addr, value_type, span)?;
                Lanes::At(temp, of)
            }
        };
        let addr = self.address(target)?;
        let temp = self.pointer_temp(addr);
        let addr = self.read(temp);
        let a = Lanes::At(addr, ty);
        for index in 0..ty.length {
            let (x, y) = (self.lane(a, index), self.lane(b, index));
            let new = self.lane_operation(op, (x, a), (y, b), ty, span)?;
            self.store_lane(addr, ty, index, new);
        }
        Ok(addr)
    }
}
