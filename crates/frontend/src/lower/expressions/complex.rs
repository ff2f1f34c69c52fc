//! Complex numbers: a value is a pair of parts, which lie one after the other in memory.
//!
//! The operators are those of clang at -O0. Multiplication and division of two complex floats are
//! calls of the run-time library's `__muldc3`, `__divdc3` and their like, which C99's Annex G
//! describes: clang computes the product first and calls only where both parts are NaN, and the
//! function gives the same product everywhere else. A real operand stays real: no zero imaginary
//! part takes part in the computation.

use lydian_base::Span;
use lydian_ir as ir;
use lydian_ir::{BinOp, Callee, CmpOp, Expr, ExprId, Stmt, Type, UnOp};

use crate::ast::{self, BinaryOp, CastKind, ExprKind, UnaryOp};
use crate::ctypes::{CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::expressions::convert;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, layout_of};

/// A complex value. Its parts are constants and registers that nothing else writes.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Complex {
    /// The real part.
    pub re: ExprId,
    /// The imaginary part; `None` for a real operand of a complex operator.
    pub im: Option<ExprId>,
}

impl FunctionLowering<'_, '_> {
    /// The type of the parts of a complex type.
    pub(in crate::lower) fn complex_part(&self, ty: TypeId) -> Option<TypeId> {
        match self.unit.types.get(ty) {
            CType::Complex(element) => Some(*element),
            _ => None,
        }
    }

    /// Whether an expression has a complex value.
    pub(in crate::lower) fn is_complex(&self, e: ast::ExprId) -> bool {
        self.complex_part(self.unit.exprs[e].ty.ty).is_some()
    }

    /// Keeps a part in a register of its own, unless it is a constant.
    fn part(&mut self, value: ExprId, part: TypeId, span: Span) -> Lowering<ExprId> {
        if self.as_const(value).is_some() {
            return Ok(value);
        }
        let (_, temp) = self.keep(value, part, span)?;
        Ok(self.read(temp))
    }

    /// The parts of a complex value in memory.
    pub(in crate::lower) fn load_complex(
        &mut self,
        addr: ExprId,
        part: TypeId,
        span: Span,
    ) -> Lowering<Complex> {
        let scalar = self.scalar(part, span)?;
        let size = self.size_of(part, span)?;
        let second = self.offset_addr(addr, size);
        let re = self.expr(Expr::Load { ty: scalar.ty, addr, volatile: false });
        let re = self.part(re, part, span)?;
        let im = self.expr(Expr::Load { ty: scalar.ty, addr: second, volatile: false });
        let im = self.part(im, part, span)?;
        Ok(Complex { re, im: Some(im) })
    }

    /// Writes a complex value to memory.
    pub(in crate::lower) fn store_complex(
        &mut self,
        addr: ExprId,
        value: Complex,
        part: TypeId,
        span: Span,
    ) -> Lowering<()> {
        let ty = self.scalar(part, span)?.ty;
        let size = self.size_of(part, span)?;
        let second = self.offset_addr(addr, size);
        let im = value.im.unwrap_or_else(|| self.zero(ty));
        self.emit(Stmt::Store { addr, value: value.re, ty, volatile: false });
        self.emit(Stmt::Store { addr: second, value: im, ty, volatile: false });
        Ok(())
    }

    /// Whether the value of a complex expression is computed, rather than found in memory.
    pub(in crate::lower) fn computes_complex(&self, e: ast::ExprId) -> bool {
        match &self.unit.exprs[e].kind {
            ExprKind::Imaginary(_) => true,
            ExprKind::Cast { kind, .. } => {
                matches!(kind, CastKind::RealToComplex | CastKind::ComplexCast)
            }
            ExprKind::Unary { op, .. } => {
                matches!(op, UnaryOp::Minus | UnaryOp::Plus | UnaryOp::BitNot)
            }
            ExprKind::Binary { op, .. } => *op != BinaryOp::Comma,
            ExprKind::Call { callee, .. } => self.complex_builtin(*callee).is_some(),
            ExprKind::InitList(ast::InitList::Scalar(None)) | ExprKind::ImplicitValueInit => true,
            _ => false,
        }
    }

    /// The value of a complex expression, or of a real one that is an operand beside a complex.
    pub(in crate::lower) fn complex(&mut self, e: ast::ExprId) -> Lowering<Complex> {
        let unit = self.unit;
        let e = unit.strip_parens(e);
        let expr = &unit.exprs[e];
        let Some(part) = self.complex_part(expr.ty.ty) else {
            let value = self.rvalue(e)?;
            return Ok(Complex { re: self.part(value, expr.ty.ty, expr.span)?, im: None });
        };
        self.captures.opaque = true;
        match &expr.kind {
            ExprKind::Constant { inner, .. }
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension | UnaryOp::Plus, operand: inner } => {
                self.complex(*inner)
            }
            ExprKind::InitList(ast::InitList::Scalar(None)) | ExprKind::ImplicitValueInit => {
                let ty = self.scalar(part, expr.span)?.ty;
                let zero = self.zero(ty);
                Ok(Complex { re: zero, im: Some(zero) })
            }
            ExprKind::Imaginary(inner) => {
                let ty = self.scalar(part, expr.span)?.ty;
                let im = self.rvalue(*inner)?;
                Ok(Complex { re: self.zero(ty), im: Some(im) })
            }
            ExprKind::Cast { kind: CastKind::RealToComplex, operand, .. } => {
                let ty = self.scalar(part, expr.span)?.ty;
                let value = self.complex(*operand)?;
                Ok(Complex { re: value.re, im: Some(self.zero(ty)) })
            }
            ExprKind::Cast { kind: CastKind::ComplexCast, operand, .. } => {
                self.complex_cast(*operand, part, expr.span)
            }
            ExprKind::Unary { op: op @ (UnaryOp::Minus | UnaryOp::BitNot), operand } => {
                let scalar = self.scalar(part, expr.span)?;
                let value = self.complex(*operand)?;
                let re = match op {
                    UnaryOp::Minus => self.negated(value.re, scalar),
                    _ => value.re,
                };
                let im = value.im.map(|im| self.negated(im, scalar));
                self.kept(Complex { re, im }, part, expr.span)
            }
            ExprKind::Binary { op, left, right } if *op != BinaryOp::Comma => {
                let a = self.complex(*left)?;
                let b = self.complex(*right)?;
                self.complex_arithmetic(*op, a, b, expr.ty.ty, expr.span)
            }
            ExprKind::Call { callee, args } => match self.complex_builtin(*callee) {
                Some(builtin) => self.complex_call(builtin, args, part, expr.span),
                None => {
                    let addr = self.aggregate(e)?;
                    self.load_complex(addr, part, expr.span)
                }
            },
            _ => {
                let addr = self.aggregate(e)?;
                self.load_complex(addr, part, expr.span)
            }
        }
    }

    fn kept(&mut self, value: Complex, part: TypeId, span: Span) -> Lowering<Complex> {
        let re = self.part(value.re, part, span)?;
        let im = match value.im {
            Some(im) => Some(self.part(im, part, span)?),
            None => None,
        };
        Ok(Complex { re, im })
    }

    fn negated(&mut self, value: ExprId, scalar: Scalar) -> ExprId {
        let op = match scalar {
            Scalar { ty, .. } if ty.is_float() => UnOp::FNeg,
            Scalar { signed: true, .. } => UnOp::NegS,
            _ => UnOp::NegU,
        };
        self.unary(op, value)
    }

    fn complex_cast(
        &mut self,
        operand: ast::ExprId,
        part: TypeId,
        span: Span,
    ) -> Lowering<Complex> {
        let from = self.unit.exprs[operand].ty.ty;
        let from = self.scalar(self.complex_part(from).unwrap_or(from), span)?;
        let to = self.scalar(part, span)?;
        let value = self.complex(operand)?;
        let re = self.convert(value.re, from, to);
        let im = value.im.map(|im| self.convert(im, from, to));
        self.kept(Complex { re, im }, part, span)
    }

    /// An arithmetic operator of which at least one operand is complex. `ty` is the result's.
    pub(in crate::lower) fn complex_arithmetic(
        &mut self,
        op: BinaryOp,
        a: Complex,
        b: Complex,
        ty: TypeId,
        span: Span,
    ) -> Lowering<Complex> {
        let part = self.complex_part(ty).unwrap_or(ty);
        let on = self.scalar(part, span)?;
        let compute = |l: &mut Self, op, a, b| {
            let value = l.arithmetic(op, (a, on), (b, on), span)?;
            l.part(value, part, span)
        };
        Ok(match (op, a.im, b.im) {
            (BinaryOp::Add | BinaryOp::Sub, x, y) => {
                let re = compute(self, op, a.re, b.re)?;
                let im = match (x, y) {
                    (Some(x), Some(y)) => Some(compute(self, op, x, y)?),
                    (None, Some(y)) if op == BinaryOp::Sub => {
                        let negated = self.negated(y, on);
                        Some(self.part(negated, part, span)?)
                    }
                    (x, y) => x.or(y),
                };
                Complex { re, im }
            }
            (BinaryOp::Mul | BinaryOp::Div, Some(x), None) => Complex {
                re: compute(self, op, a.re, b.re)?,
                im: Some(compute(self, op, x, b.re)?),
            },
            (BinaryOp::Mul, None, Some(y)) => Complex {
                re: compute(self, op, a.re, b.re)?,
                im: Some(compute(self, op, a.re, y)?),
            },
            (BinaryOp::Mul | BinaryOp::Div, _, Some(y)) if on.ty.is_float() => {
                let x = a.im.unwrap_or_else(|| self.zero(on.ty));
                self.complex_library(op, [a.re, x, b.re, y], ty, part, span)?
            }
            (BinaryOp::Mul, Some(x), Some(y)) => {
                let (ac, bd) = (compute(self, op, a.re, b.re)?, compute(self, op, x, y)?);
                let (bc, ad) = (compute(self, op, x, b.re)?, compute(self, op, a.re, y)?);
                let re = compute(self, BinaryOp::Sub, ac, bd)?;
                Complex { re, im: Some(compute(self, BinaryOp::Add, bc, ad)?) }
            }
            (BinaryOp::Div, x, Some(y)) => {
                // Integers: (a + ib) / (c + id) = (ac + bd + i(bc - ad)) / (cc + dd).
                let x = x.unwrap_or_else(|| self.zero(on.ty));
                let times = |l: &mut Self, a, b| compute(l, BinaryOp::Mul, a, b);
                let (ac, bd) = (times(self, a.re, b.re)?, times(self, x, y)?);
                let (cc, dd) = (times(self, b.re, b.re)?, times(self, y, y)?);
                let (bc, ad) = (times(self, x, b.re)?, times(self, a.re, y)?);
                let over = compute(self, BinaryOp::Add, cc, dd)?;
                let re = compute(self, BinaryOp::Add, ac, bd)?;
                let im = compute(self, BinaryOp::Sub, bc, ad)?;
                let re = compute(self, BinaryOp::Div, re, over)?;
                Complex { re, im: Some(compute(self, BinaryOp::Div, im, over)?) }
            }
            _ => return Err(UnsupportedConstruct::new("this operator on complex numbers", span)),
        })
    }

    /// A call of `__muldc3` and the like.
    fn complex_library(
        &mut self,
        op: BinaryOp,
        parts: [ExprId; 4],
        ty: TypeId,
        part: TypeId,
        span: Span,
    ) -> Lowering<Complex> {
        let machine = self.scalar(part, span)?.ty;
        let suffix = match machine {
            Type::F32 => "sc3",
            Type::F64 => "dc3",
            Type::F80 => "xc3",
            _ => return Err(UnsupportedConstruct::new("a complex number of this type", span)),
        };
        let name = format!("__{}{suffix}", if op == BinaryOp::Mul { "mul" } else { "div" });
        let (whole, part_type) = (self.ctype(ty), self.ctype(part));
        let function = self.module.runtime_function(&name, whole, vec![part_type; 4], span);
        let dst = self.memory_temp(ty, span)?;
        let call = Stmt::Call {
            callee: Callee::Direct(function),
            args: parts.to_vec(),
            arg_types: vec![part_type; 4],
            dst: None,
            dst_addr: Some(dst),
            ty: self.module.program.functions[function].ty,
        };
        self.within(span, |l| l.emit(call));
        self.load_complex(dst, part, span)
    }

    /// `a == b` or `a != b`, of type `i1`.
    pub(in crate::lower) fn complex_compare(
        &mut self,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
    ) -> Lowering<ExprId> {
        let ty = self.unit.exprs[left].ty.ty;
        let ty = if self.is_complex(left) { ty } else { self.unit.exprs[right].ty.ty };
        let part = self.complex_part(ty).unwrap_or(ty);
        let on = self.scalar(part, span)?;
        let (a, b) = (self.complex(left)?, self.complex(right)?);
        let Some(compare) = convert::comparison(op, on) else {
            return Err(UnsupportedConstruct::new("this comparison", span));
        };
        let zero = self.zero(on.ty);
        let re = self.expr(Expr::Cmp(compare, a.re, b.re));
        let im = self.expr(Expr::Cmp(compare, a.im.unwrap_or(zero), b.im.unwrap_or(zero)));
        let join = if op == BinaryOp::Equal { BinOp::And } else { BinOp::Or };
        Ok(self.expr(Expr::Binary(join, re, im)))
    }

    /// Whether a complex value is not zero, as an `i1`.
    pub(in crate::lower) fn complex_truth(&mut self, operand: ast::ExprId) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[operand];
        let part = self.complex_part(expr.ty.ty).unwrap_or(expr.ty.ty);
        let ty = self.scalar(part, expr.span)?.ty;
        let value = self.complex(operand)?;
        let zero = self.zero(ty);
        let op = if ty.is_float() { CmpOp::FNe } else { CmpOp::Ne };
        let re = self.expr(Expr::Cmp(op, value.re, zero));
        let im = self.expr(Expr::Cmp(op, value.im.unwrap_or(zero), zero));
        Ok(self.expr(Expr::Binary(BinOp::Or, re, im)))
    }

    /// `__real__ e` or `__imag__ e` as a value.
    pub(in crate::lower) fn complex_part_value(
        &mut self,
        op: UnaryOp,
        operand: ast::ExprId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[operand];
        if !self.is_complex(operand) {
            // Of a real number.
            if op == UnaryOp::Real {
                return self.rvalue(operand);
            }
            self.discard(operand)?;
            let ty = self.scalar(expr.ty.ty, expr.span)?.ty;
            return Ok(self.zero(ty));
        }
        let value = self.apart(|l| l.complex(operand))?;
        self.captures.opaque = true;
        Ok(match op {
            UnaryOp::Real => value.re,
            _ => value.im.unwrap_or(value.re),
        })
    }

    /// The address of `__real__ e` or `__imag__ e`, an lvalue.
    pub(in crate::lower) fn complex_part_address(
        &mut self,
        op: UnaryOp,
        operand: ast::ExprId,
    ) -> Lowering<ExprId> {
        let addr = self.address(operand)?;
        let expr = &self.unit.exprs[operand];
        if op == UnaryOp::Real {
            return Ok(addr);
        }
        let part = self.complex_part(expr.ty.ty);
        match part.and_then(|part| layout_of(self.unit, part)) {
            Some(layout) => Ok(self.offset_addr(addr, layout.size)),
            None => Err(UnsupportedConstruct::new("the imaginary part of this lvalue", expr.span)),
        }
    }

    /// `real op= complex`: the real part of the result, kept in a register.
    pub(in crate::lower) fn real_compound_assign(
        &mut self,
        op: BinaryOp,
        target: ast::ExprId,
        value: ast::ExprId,
        result: TypeId,
        span: Span,
    ) -> Lowering<ExprId> {
        let b = self.complex(value)?;
        let target_ty = self.unit.exprs[target].ty.ty;
        let compute = self.complex_part(result).unwrap_or(result);
        let (ty, on) = (self.scalar(target_ty, span)?, self.scalar(compute, span)?);
        let place = self.lvalue(target)?;
        let old = self.read_lvalue(place, ty, target)?;
        let old = self.convert(old, ty, on);
        let a = Complex { re: self.part(old, compute, span)?, im: None };
        let new = self.complex_arithmetic(op, a, b, result, span)?;
        let value = self.convert(new.re, on, ty);
        let value = self.part(value, target_ty, span)?;
        self.write_lvalue(place, value, ty.ty);
        Ok(value)
    }

    /// `target op= value` of a complex target: gives its address.
    pub(in crate::lower) fn complex_compound_assign(
        &mut self,
        op: BinaryOp,
        target: ast::ExprId,
        value: ast::ExprId,
        result: TypeId,
        span: Span,
    ) -> Lowering<ExprId> {
        let b = self.complex(value)?;
        let target_ty = self.unit.exprs[target].ty.ty;
        let compute = self.complex_part(result).unwrap_or(result);
        let Some(part) = self.complex_part(target_ty) else {
            return Err(UnsupportedConstruct::new("this assignment", span));
        };
        let addr = self.address(target)?;
        let addr = self.pointer_temp(addr);
        let addr = self.read(addr);
        let (from, on) = (self.scalar(part, span)?, self.scalar(compute, span)?);
        let old = self.load_complex(addr, part, span)?;
        let re = self.convert(old.re, from, on);
        let im = old.im.map(|im| self.convert(im, from, on));
        let a = self.kept(Complex { re, im }, compute, span)?;
        let new = self.complex_arithmetic(op, a, b, result, span)?;
        let re = self.convert(new.re, on, from);
        let im = new.im.map(|im| self.convert(im, on, from));
        self.store_complex(addr, Complex { re, im }, part, span)?;
        Ok(addr)
    }

    /// `++` and `--` of a complex number, which change its real part: the value before and after.
    pub(in crate::lower) fn complex_increment(
        &mut self,
        op: UnaryOp,
        target: ast::ExprId,
        span: Span,
    ) -> Lowering<(Complex, Complex)> {
        let ty = self.unit.exprs[target].ty.ty;
        let part = self.complex_part(ty).unwrap_or(ty);
        let scalar = self.scalar(part, span)?;
        let addr = self.address(target)?;
        let addr = self.pointer_temp(addr);
        let addr = self.read(addr);
        let old = self.load_complex(addr, part, span)?;
        let one = match scalar.ty {
            ty if ty.is_float() => ir::arith::float_bits(ty, 1.0),
            _ => 1,
        };
        let one = Complex { re: self.expr(Expr::Const(scalar.ty, one)), im: None };
        let op = match op {
            UnaryOp::PreInc | UnaryOp::PostInc => BinaryOp::Add,
            _ => BinaryOp::Sub,
        };
        let new = self.complex_arithmetic(op, old, one, ty, span)?;
        self.store_complex(addr, new, part, span)?;
        Ok((old, new))
    }

    /// What a called function is if it only makes or takes apart complex numbers.
    pub(in crate::lower) fn complex_builtin(&self, callee: ast::ExprId) -> Option<ComplexBuiltin> {
        let function = &self.unit.functions[self.unit.direct_callee(callee)?];
        let name = &*function.name;
        let plain = name.strip_prefix("__builtin_");
        if plain == Some("complex") {
            return Some(ComplexBuiltin::Make);
        }
        if plain.is_none() && function.body.is_some() {
            return None;
        }
        match plain.unwrap_or(name) {
            "conj" | "conjf" | "conjl" => Some(ComplexBuiltin::Conjugate),
            "creal" | "crealf" | "creall" => Some(ComplexBuiltin::Real),
            "cimag" | "cimagf" | "cimagl" => Some(ComplexBuiltin::Imaginary),
            _ => None,
        }
    }

    fn complex_call(
        &mut self,
        builtin: ComplexBuiltin,
        args: &[ast::ExprId],
        part: TypeId,
        span: Span,
    ) -> Lowering<Complex> {
        match (builtin, args) {
            (ComplexBuiltin::Make, [re, im]) => {
                let re = self.complex(*re)?.re;
                let im = self.complex(*im)?.re;
                Ok(Complex { re, im: Some(im) })
            }
            (ComplexBuiltin::Conjugate, [operand]) => {
                let scalar = self.scalar(part, span)?;
                let value = self.complex(*operand)?;
                let im = value.im.map(|im| self.negated(im, scalar));
                self.kept(Complex { re: value.re, im }, part, span)
            }
            _ => Err(UnsupportedConstruct::new("this call", span)),
        }
    }
}

/// Functions on complex numbers that compute nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum ComplexBuiltin {
    /// From two parts.
    Make,
    /// The imaginary part negated.
    Conjugate,
    /// The real part, a scalar.
    Real,
    /// The imaginary part, a scalar.
    Imaginary,
}
