//! Folds integer constant expressions, where clang does not print the value.
//!
//! The arithmetic is C's on the target: every operation is done in the type that clang gave to it,
//! and what C leaves undefined in a constant (overflow, division by zero, shifts by too much) does
//! not fold. Recursion is as deep as the expression.

use super::{
    BinaryOp, CastKind, DeclRef, ExprId, ExprKind, InitList, TranslationUnit, UnaryOp, VarStorage,
};
use crate::ctypes::{CType, FloatKind, IntKind, QualType};

impl TranslationUnit {
    /// The value of an integer constant expression, or of a pointer made of one. `None` if the
    /// expression is not constant, or not of integer or pointer type.
    pub fn const_eval(&self, id: ExprId) -> Option<i128> {
        let expr = &self.exprs[id];
        let value = match &expr.kind {
            ExprKind::Integer(value) => *value,
            ExprKind::Character(value) => (*value).into(),
            ExprKind::Constant { inner, value } => {
                (*value).map_or_else(|| self.const_eval(*inner), Some)?
            }
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.const_eval(*inner)?,
            ExprKind::DeclRef(DeclRef::EnumConstant(constant)) => {
                self.enum_constants[*constant].value
            }
            ExprKind::TypeTrait { value, .. } | ExprKind::OffsetOf { value, .. } => {
                (*value)?.into()
            }
            ExprKind::Cast { kind, operand, .. } => self.fold_cast(kind, *operand, expr.ty)?,
            ExprKind::Unary { op, operand } => self.fold_unary(*op, *operand, expr.ty)?,
            ExprKind::Binary { op, left, right } => {
                self.fold_binary(*op, *left, *right, expr.ty)?
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let chosen = if self.fold_truth(*condition)? { *then } else { *otherwise };
                self.const_eval(chosen)?
            }
            ExprKind::ImplicitValueInit => self.wrap_to(0, expr.ty)?,
            ExprKind::InitList(InitList::Scalar(init)) => match init {
                Some(init) => self.const_eval(*init)?,
                None => 0,
            },
            _ => return None,
        };
        Some(value)
    }

    /// The value of a floating constant expression, rounded to its type. `None` if it is not
    /// constant, or wider than `double`.
    pub fn const_eval_float(&self, id: ExprId) -> Option<f64> {
        let expr = &self.exprs[id];
        let single = match self.ty(expr.ty) {
            CType::Float(FloatKind::Float) => true,
            CType::Float(FloatKind::Double) => false,
            _ => return None,
        };
        let value = match &expr.kind {
            ExprKind::Floating(literal) => literal.value,
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.const_eval_float(*inner)?,
            ExprKind::Constant { inner, .. } => self.const_eval_float(*inner)?,
            ExprKind::Cast { kind: CastKind::IntegralToFloating, operand, .. } => {
                let value = self.const_eval(*operand)?;
                // One rounding only: directly to the type of the result.
                return Some(if single { f64::from(value as f32) } else { value as f64 });
            }
            ExprKind::Cast { kind: CastKind::FloatingCast | CastKind::NoOp, operand, .. } => {
                self.const_eval_float(*operand)?
            }
            ExprKind::Unary { op: UnaryOp::Minus, operand } => -self.const_eval_float(*operand)?,
            ExprKind::Unary { op: UnaryOp::Plus | UnaryOp::Extension, operand } => {
                self.const_eval_float(*operand)?
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.const_eval_float(*left)?, self.const_eval_float(*right)?);
                // Rounding an operation on two floats first to double and then to float gives the
                // same as rounding once: double has more than twice the digits.
                match op {
                    BinaryOp::Add => left + right,
                    BinaryOp::Sub => left - right,
                    BinaryOp::Mul => left * right,
                    BinaryOp::Div => left / right,
                    _ => return None,
                }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let chosen = if self.fold_truth(*condition)? { *then } else { *otherwise };
                self.const_eval_float(chosen)?
            }
            ExprKind::ImplicitValueInit => 0.0,
            _ => return None,
        };
        Some(if single { f64::from(value as f32) } else { value })
    }

    /// Cuts a value to an integer, enumeration or pointer type, as a conversion does.
    pub fn wrap_to(&self, value: i128, ty: QualType) -> Option<i128> {
        if let CType::Int(IntKind::Bool) = self.ty(ty) {
            return Some((value != 0).into());
        }
        let signed = match self.ty(ty) {
            CType::Pointer(_) => false,
            _ => self.is_signed(ty)?,
        };
        let bits = u32::try_from(self.value_bits(ty.ty)?).ok()?;
        let unused = 128u32.checked_sub(bits)?;
        if bits == 0 {
            return None;
        }
        let shifted = value << unused;
        // A 128-bit unsigned value does not fit the representation and keeps its bits.
        Some(if signed || bits == 128 {
            shifted >> unused
        } else {
            ((shifted as u128) >> unused) as i128
        })
    }

    /// The value, if it is one of the type's; no wrapping.
    fn fits(&self, value: i128, ty: QualType) -> Option<i128> {
        match self.is_signed(ty) {
            Some(true) => self.wrap_to(value, ty).filter(|wrapped| *wrapped == value),
            _ => self.wrap_to(value, ty),
        }
    }

    fn fold_truth(&self, id: ExprId) -> Option<bool> {
        match self.ty(self.exprs[id].ty) {
            CType::Float(_) => Some(self.const_eval_float(id)? != 0.0),
            _ => Some(self.const_eval(id)? != 0),
        }
    }

    fn fold_cast(&self, kind: &CastKind, operand: ExprId, to: QualType) -> Option<i128> {
        match kind {
            CastKind::NoOp | CastKind::BitCast => self.const_eval(operand),
            CastKind::IntegralCast
            | CastKind::IntegralToPointer
            | CastKind::PointerToIntegral
            | CastKind::BooleanToSignedIntegral => self.wrap_to(self.const_eval(operand)?, to),
            CastKind::NullToPointer => Some(0),
            CastKind::IntegralToBoolean | CastKind::PointerToBoolean => {
                Some((self.const_eval(operand)? != 0).into())
            }
            CastKind::FloatingToBoolean => Some((self.const_eval_float(operand)? != 0.0).into()),
            CastKind::FloatingToIntegral => {
                let value = self.const_eval_float(operand)?.trunc();
                let whole = value as i128;
                (value.abs() < 1e38).then_some(())?;
                self.wrap_to(whole, to).filter(|wrapped| *wrapped == whole)
            }
            CastKind::LValueToRValue => self.fold_static_const(operand),
            _ => None,
        }
    }

    /// Reads a `const` integer object with static storage, which GNU C folds.
    fn fold_static_const(&self, operand: ExprId) -> Option<i128> {
        let ExprKind::DeclRef(DeclRef::Var(var)) = self.exprs[self.strip_parens(operand)].kind
        else {
            return None;
        };
        let var = &self.vars[var];
        let constant = var.ty.quals.has(crate::ctypes::Quals::CONST)
            && !var.ty.quals.has(crate::ctypes::Quals::VOLATILE);
        let is_static =
            matches!(var.storage, VarStorage::Global { .. } | VarStorage::StaticLocal(_));
        (constant && is_static).then_some(())?;
        self.const_eval(var.init?)
    }

    fn fold_unary(&self, op: UnaryOp, operand: ExprId, ty: QualType) -> Option<i128> {
        match op {
            UnaryOp::Plus | UnaryOp::Extension => self.const_eval(operand),
            UnaryOp::Minus => self.fits(self.const_eval(operand)?.checked_neg()?, ty),
            UnaryOp::BitNot => self.wrap_to(!self.const_eval(operand)?, ty),
            UnaryOp::LogicalNot => Some((!self.fold_truth(operand)?).into()),
            UnaryOp::AddressOf => self.fold_address(operand),
            _ => None,
        }
    }

    /// The address of an lvalue that starts at a constant: `&((struct s *)0)->field`.
    fn fold_address(&self, lvalue: ExprId) -> Option<i128> {
        match &self.exprs[self.strip_parens(lvalue)].kind {
            ExprKind::Member { base, arrow, field } => {
                let base = if *arrow { self.const_eval(*base)? } else { self.fold_address(*base)? };
                base.checked_add(self.field(*field).byte_offset().into())
            }
            ExprKind::Subscript { pointer, index } => {
                let base = match &self.exprs[self.strip_parens(*pointer)].kind {
                    ExprKind::Cast { kind: CastKind::ArrayToPointerDecay, operand, .. } => {
                        self.fold_address(*operand)?
                    }
                    _ => self.const_eval(*pointer)?,
                };
                let element = self.types.pointee(self.exprs[*pointer].ty.ty)?;
                let size = i128::from(self.layout_of(element.ty)?.size);
                base.checked_add(self.const_eval(*index)?.checked_mul(size)?)
            }
            ExprKind::Unary { op: UnaryOp::Deref, operand } => self.const_eval(*operand),
            _ => None,
        }
    }

    fn fold_binary(&self, op: BinaryOp, left: ExprId, right: ExprId, ty: QualType) -> Option<i128> {
        match op {
            BinaryOp::LogicalAnd if !self.fold_truth(left)? => return Some(0),
            BinaryOp::LogicalOr if self.fold_truth(left)? => return Some(1),
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr => {
                return Some(self.fold_truth(right)?.into());
            }
            _ => {}
        }
        if let CType::Float(_) = self.ty(self.exprs[left].ty) {
            let (left, right) = (self.const_eval_float(left)?, self.const_eval_float(right)?);
            return Some(compare(op, &left, &right)?.into());
        }
        if let CType::Pointer(_) = self.ty(self.exprs[left].ty) {
            return self.fold_pointers(op, left, right);
        }
        let (a, b) = (self.const_eval(left)?, self.const_eval(right)?);
        if let Some(truth) = compare(op, &a, &b) {
            return Some(truth.into());
        }
        let bits = i128::from(self.layout_of(ty.ty)?.size) * 8;
        let value = match op {
            BinaryOp::Mul => a.checked_mul(b)?,
            BinaryOp::Div => a.checked_div(b)?,
            BinaryOp::Rem => a.checked_rem(b)?,
            BinaryOp::Add => a.checked_add(b)?,
            BinaryOp::Sub => a.checked_sub(b)?,
            // Clang folds a shift of a bit into the sign, so it is cut and not refused.
            BinaryOp::Shl if (0..bits).contains(&b) => return self.wrap_to(a << b, ty),
            BinaryOp::Shr if (0..bits).contains(&b) => a >> b,
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::BitOr => a | b,
            _ => return None,
        };
        self.fits(value, ty)
    }

    /// Comparisons and differences of constant addresses, as in `(char *)&p->x - (char *)0`.
    fn fold_pointers(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<i128> {
        let (a, b) = (self.const_eval(left)?, self.const_eval(right)?);
        if let Some(truth) = compare(op, &a, &b) {
            return Some(truth.into());
        }
        let pointee = self.types.pointee(self.exprs[left].ty.ty)?;
        let size = i128::from(self.layout_of(pointee.ty)?.size);
        let to_pointer = matches!(self.ty(self.exprs[right].ty), CType::Pointer(_));
        match (op, to_pointer) {
            (BinaryOp::Sub, true) => a.checked_sub(b)?.checked_div(size),
            (BinaryOp::Sub, false) => a.checked_sub(b.checked_mul(size)?),
            (BinaryOp::Add, false) => a.checked_add(b.checked_mul(size)?),
            _ => None,
        }
    }
}

fn compare<T: PartialOrd>(op: BinaryOp, left: &T, right: &T) -> Option<bool> {
    Some(match op {
        BinaryOp::Less => left < right,
        BinaryOp::Greater => left > right,
        BinaryOp::LessEqual => left <= right,
        BinaryOp::GreaterEqual => left >= right,
        BinaryOp::Equal => left == right,
        BinaryOp::NotEqual => left != right,
        _ => return None,
    })
}
