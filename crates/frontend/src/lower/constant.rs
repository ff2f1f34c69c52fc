//! Constant expressions: arithmetic, addresses, and places with a fixed address.
//!
//! Computed on the tree, before anything is lowered, with the IR's own arithmetic. A constant that
//! would trap is none.

use lydian_ir as ir;
use lydian_ir::Type;
use lydian_ir::arith::{self, Overflow};

use crate::ast::{
    BinaryOp, CastKind, DeclRef, ExprId, ExprKind, FunctionId, InitList, UnaryOp, VarId, VarStorage,
};
use crate::ctypes::CType;
use crate::lower::expressions::convert;
use crate::lower::module::Module;
use crate::lower::types::{Scalar, layout_of, scalar_of, target_of};

/// The base of an address constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConstBase {
    /// A variable with static storage.
    Var(VarId),
    /// A function.
    Function(FunctionId),
    /// A string literal or a compound literal at file scope.
    Literal(ExprId),
    /// The labels of a function: each is a byte of one object.
    Labels(FunctionId),
}

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// Bits of the expression's machine type.
    Bits(u128),
    /// An address and an offset from it.
    Address(ConstBase, i64),
}

/// An operand whose bits are known, with the type in which they are used.
#[derive(Clone, Copy)]
struct ConstantOperand {
    expr: ExprId,
    bits: u128,
    scalar: Scalar,
}

impl Module<'_> {
    /// Whether a constant expression is not zero; `None` if it is no constant expression.
    pub(super) fn constant_truth(&self, e: ExprId) -> Option<bool> {
        match self.constant(e)? {
            Constant::Bits(bits) => Some(is_not_zero(self.scalar(e)?.ty, bits)),
            Constant::Address(base, _) => self.is_surely_there(base).then_some(true),
        }
    }

    /// The value of a constant expression of scalar type.
    pub(super) fn constant(&self, e: ExprId) -> Option<Constant> {
        let expr = &self.unit.exprs[e];
        let bits =
            |value: i128| Some(Constant::Bits(arith::truncate(self.scalar(e)?.ty, value as u128)));
        match &expr.kind {
            ExprKind::Integer(value) => bits(*value),
            ExprKind::Character(value) => bits(i128::from(*value)),
            ExprKind::Floating(literal) => match self.scalar(e)?.ty {
                Type::F32 | Type::F64 => self.float(e, literal.value),
                ty => arith::parse_float(ty, printed_float(&literal.text)).map(Constant::Bits),
            },
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.constant(*inner),
            ExprKind::Constant { inner, value } => match value {
                Some(value) => bits(*value),
                None => self.constant(*inner),
            },
            ExprKind::TypeTrait { value, .. } | ExprKind::OffsetOf { value, .. } => {
                bits(i128::from((*value)?))
            }
            ExprKind::DeclRef(DeclRef::EnumConstant(id)) => {
                bits(self.unit.enum_constants[*id].value)
            }
            ExprKind::ImplicitValueInit => bits(0),
            ExprKind::InitList(InitList::Scalar(inner)) => match inner {
                Some(inner) => self.constant(*inner),
                None => bits(0),
            },
            ExprKind::Cast { kind, operand, .. } => self.constant_cast(e, kind, *operand),
            ExprKind::Unary { op, operand } => self.constant_unary(e, *op, *operand),
            ExprKind::Binary { op, left, right } => self.constant_binary(e, *op, *left, *right),
            ExprKind::Conditional { condition, then, otherwise } => {
                let chosen = if self.constant_truth(*condition)? { then } else { otherwise };
                self.constant(*chosen)
            }
            ExprKind::Call { callee, args } => self.constant_call(e, *callee, args),
            ExprKind::AddrLabel(label) => {
                let (function, index) = self.label_place(*label);
                Some(Constant::Address(ConstBase::Labels(function), index))
            }
            _ => None,
        }
    }

    /// The parts of a complex constant expression, as bits of their type.
    pub(super) fn constant_complex(&self, e: ExprId) -> Option<(u128, u128)> {
        let expr = &self.unit.exprs[e];
        let CType::Complex(part) = *self.unit.ty(expr.ty) else {
            let Constant::Bits(bits) = self.constant(e)? else { return None };
            return Some((bits, 0));
        };
        let scalar = scalar_of(self.unit, part)?;
        let number = |e: ExprId| match self.constant(e)? {
            Constant::Bits(bits) => Some(bits),
            Constant::Address(..) => None,
        };
        let compute = |op: BinaryOp, a, b| {
            let op = convert::arithmetic(op, scalar)?;
            arith::binary(op, scalar.ty, a, b, Overflow::Wrap).ok()
        };
        let negated = |a| {
            let op = unary_op(UnaryOp::Minus, scalar)?;
            arith::unary(op, scalar.ty, a, Overflow::Wrap).ok()
        };
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Constant { inner, .. }
            | ExprKind::Unary { op: UnaryOp::Extension | UnaryOp::Plus, operand: inner }
            | ExprKind::InitList(InitList::Scalar(Some(inner))) => self.constant_complex(*inner),
            ExprKind::ImplicitValueInit | ExprKind::InitList(InitList::Scalar(None)) => {
                Some((0, 0))
            }
            ExprKind::InitList(InitList::Array { elements, .. }) => match elements[..] {
                [re, im] => Some((number(re)?, number(im)?)),
                _ => None,
            },
            ExprKind::Imaginary(inner) => Some((0, number(*inner)?)),
            ExprKind::Cast { kind: CastKind::RealToComplex, operand, .. } => {
                Some((number(*operand)?, 0))
            }
            ExprKind::Cast { kind: CastKind::ComplexCast, operand, .. } => {
                let CType::Complex(from) = *self.unit.ty(self.unit.exprs[*operand].ty) else {
                    return None;
                };
                let from = scalar_of(self.unit, from)?;
                let (re, im) = self.constant_complex(*operand)?;
                Some((
                    self.fold_conversion(re, from, scalar)?,
                    self.fold_conversion(im, from, scalar)?,
                ))
            }
            ExprKind::Cast { kind: CastKind::LValueToRValue | CastKind::NoOp, operand, .. } => {
                match self.unit.exprs[self.unit.strip_parens(*operand)].kind {
                    ExprKind::CompoundLiteral { init, .. } => self.constant_complex(init),
                    _ => None,
                }
            }
            ExprKind::Unary { op: op @ (UnaryOp::Minus | UnaryOp::BitNot), operand } => {
                let (re, im) = self.constant_complex(*operand)?;
                let re = if *op == UnaryOp::Minus { negated(re)? } else { re };
                Some((re, negated(im)?))
            }
            ExprKind::Binary { op, left, right } => {
                let is_real =
                    |e: ExprId| !matches!(self.unit.ty(self.unit.exprs[e].ty), CType::Complex(_));
                let (a, b) = (self.constant_complex(*left)?, self.constant_complex(*right)?);
                match (op, is_real(*left), is_real(*right)) {
                    (BinaryOp::Add, true, _) => Some((compute(*op, a.0, b.0)?, b.1)),
                    (BinaryOp::Add | BinaryOp::Sub, _, true) => {
                        Some((compute(*op, a.0, b.0)?, a.1))
                    }
                    (BinaryOp::Sub, true, _) => Some((compute(*op, a.0, b.0)?, negated(b.1)?)),
                    (BinaryOp::Add | BinaryOp::Sub, ..) => {
                        Some((compute(*op, a.0, b.0)?, compute(*op, a.1, b.1)?))
                    }
                    (BinaryOp::Mul | BinaryOp::Div, _, true) => {
                        Some((compute(*op, a.0, b.0)?, compute(*op, a.1, b.0)?))
                    }
                    (BinaryOp::Mul, true, _) => {
                        Some((compute(*op, a.0, b.0)?, compute(*op, a.0, b.1)?))
                    }
                    (BinaryOp::Mul, ..) => {
                        let (ac, bd) = (compute(*op, a.0, b.0)?, compute(*op, a.1, b.1)?);
                        let (ad, bc) = (compute(*op, a.0, b.1)?, compute(*op, a.1, b.0)?);
                        let re = compute(BinaryOp::Sub, ac, bd)?;
                        let im = compute(BinaryOp::Add, ad, bc)?;
                        let nan = |bits| scalar.ty.is_float() && bits == arith::nan(scalar.ty);
                        (!(nan(re) && nan(im))).then_some((re, im))
                    }
                    _ => None,
                }
            }
            ExprKind::Call { callee, args } => {
                let name = &*self.unit.functions[self.unit.direct_callee(*callee)?].name;
                match (name, &args[..]) {
                    ("__builtin_complex", [re, im]) => Some((number(*re)?, number(*im)?)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value of an integer constant expression as a number.
    pub(super) fn constant_integer(&self, e: ExprId) -> Option<i128> {
        let scalar = self.scalar(e)?;
        match (self.constant(e)?, scalar.ty) {
            (Constant::Bits(bits), Type::Int(width)) if scalar.signed => {
                Some(arith::signed(u32::from(width), bits))
            }
            (Constant::Bits(bits), Type::Int(_)) => i128::try_from(bits).ok(),
            _ => None,
        }
    }

    fn float(&self, e: ExprId, value: f64) -> Option<Constant> {
        let ty = self.scalar(e)?.ty;
        ty.is_float().then(|| Constant::Bits(arith::float_bits(ty, value)))
    }

    fn constant_cast(&self, e: ExprId, kind: &CastKind, operand: ExprId) -> Option<Constant> {
        match kind {
            CastKind::ArrayToPointerDecay | CastKind::FunctionToPointerDecay => {
                let (base, offset) = self.constant_place(operand)?;
                return Some(self.address(base, offset));
            }
            CastKind::LValueToRValue | CastKind::LValueBitCast => {
                return match self.unit.exprs[self.unit.strip_parens(operand)].kind {
                    ExprKind::CompoundLiteral { init, .. } => self.constant(init),
                    _ => None,
                };
            }
            CastKind::ToVoid
            | CastKind::ToUnion
            | CastKind::RealToComplex
            | CastKind::ComplexToReal
            | CastKind::ComplexToBoolean
            | CastKind::ComplexCast
            | CastKind::VectorSplat
            | CastKind::Unsupported(_) => return None,
            _ => {}
        }
        let value = self.constant(operand)?;
        if matches!(kind, CastKind::NoOp | CastKind::BitCast) {
            return Some(value);
        }
        let to = self.scalar(e);
        match (value, self.scalar(operand), to) {
            (Constant::Bits(bits), Some(from), Some(to)) => {
                self.fold_conversion(bits, from, to).map(Constant::Bits)
            }
            (Constant::Address(base, offset), Some(_), Some(to)) => match to.ty {
                _ if to.is_bool => self.is_surely_there(base).then_some(Constant::Bits(1)),
                Type::Ptr => Some(Constant::Address(base, offset)),
                Type::Int(bits) if bits == self.pointer_bits() => {
                    Some(Constant::Address(base, offset))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn constant_unary(&self, e: ExprId, op: UnaryOp, operand: ExprId) -> Option<Constant> {
        match op {
            UnaryOp::AddressOf => {
                let (base, offset) = self.constant_place(operand)?;
                return Some(self.address(base, offset));
            }
            UnaryOp::LogicalNot => {
                return Some(Constant::Bits(u128::from(!self.constant_truth(operand)?)));
            }
            UnaryOp::Plus | UnaryOp::Extension => return self.constant(operand),
            UnaryOp::Minus | UnaryOp::BitNot => {}
            _ => return None,
        }
        match self.constant(operand)? {
            Constant::Bits(bits) => {
                let scalar = self.scalar(e)?;
                let op = unary_op(op, scalar)?;
                let result = arith::unary(op, scalar.ty, bits, Overflow::Wrap).ok()?;
                Some(Constant::Bits(scalar.extended(result)))
            }
            _ => None,
        }
    }

    fn constant_binary(
        &self,
        e: ExprId,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    ) -> Option<Constant> {
        if op.is_logical() {
            let decided = op == BinaryOp::LogicalOr;
            let truth = self.constant_truth(left)?;
            let value = if truth == decided { truth } else { self.constant_truth(right)? };
            return Some(Constant::Bits(u128::from(value)));
        }
        if op == BinaryOp::Comma {
            self.constant(left)?;
            return self.constant(right);
        }
        let (a, b) = (self.constant(left)?, self.constant(right)?);
        let (on, from_right) = (self.scalar(left)?, self.scalar(right)?);
        match (a, b) {
            (Constant::Bits(a), Constant::Bits(b)) => {
                if on.ty == Type::Ptr || from_right.ty == Type::Ptr {
                    let left = ConstantOperand { expr: left, bits: a, scalar: on };
                    let right = ConstantOperand { expr: right, bits: b, scalar: from_right };
                    return self.constant_pointer_bits(op, left, right);
                }
                if let Some(op) = convert::comparison(op, on) {
                    return Some(Constant::Bits(u128::from(arith::compare(op, on.ty, a, b))));
                }
                let b = match op {
                    BinaryOp::Shl | BinaryOp::Shr => self.fold_conversion(b, from_right, on)?,
                    _ => b,
                };
                let result =
                    arith::binary(convert::arithmetic(op, on)?, on.ty, a, b, Overflow::Wrap);
                result.ok().map(|bits| Constant::Bits(on.extended(bits)))
            }
            (Constant::Address(base, offset), Constant::Bits(_)) => {
                if let (BinaryOp::Equal | BinaryOp::NotEqual, Some(false)) =
                    (op, self.constant_truth(right))
                {
                    let equal = u128::from(op == BinaryOp::NotEqual);
                    return self.is_surely_there(base).then_some(Constant::Bits(equal));
                }
                let steps = i64::try_from(self.constant_integer(right)?).ok()?;
                let bytes = steps.checked_mul(self.step(left)?)?;
                match op {
                    BinaryOp::Add => Some(Constant::Address(base, offset.checked_add(bytes)?)),
                    BinaryOp::Sub => Some(Constant::Address(base, offset.checked_sub(bytes)?)),
                    _ => None,
                }
            }
            (Constant::Bits(_), Constant::Address(base, offset)) if op == BinaryOp::Add => {
                let steps = i64::try_from(self.constant_integer(left)?).ok()?;
                let bytes = steps.checked_mul(self.step(right)?)?;
                Some(Constant::Address(base, offset.checked_add(bytes)?))
            }
            (Constant::Address(a, x), Constant::Address(b, y)) if a == b => {
                let ty = self.scalar(e)?.ty;
                match op {
                    BinaryOp::Sub => {
                        let elements = (x - y) / self.step(left)?.max(1);
                        Some(Constant::Bits(arith::truncate(ty, elements as u128)))
                    }
                    BinaryOp::Equal => Some(Constant::Bits(u128::from(x == y))),
                    BinaryOp::NotEqual => Some(Constant::Bits(u128::from(x != y))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Arithmetic on pointers that are plain numbers, as in `(char *)0 + 8`.
    fn constant_pointer_bits(
        &self,
        op: BinaryOp,
        left: ConstantOperand,
        right: ConstantOperand,
    ) -> Option<Constant> {
        let ConstantOperand { expr: left, bits: a, scalar: on } = left;
        let ConstantOperand { expr: right, bits: b, scalar: other } = right;
        if let Some(op) = convert::comparison(op, on) {
            return Some(Constant::Bits(u128::from(arith::compare(op, on.ty, a, b))));
        }
        let pointer = Type::Int(self.pointer_bits());
        let word = |value: i128| Some(Constant::Bits(arith::truncate(pointer, value as u128)));
        let scaled = |count: ExprId, pointer: ExprId| {
            self.constant_integer(count)?.checked_mul(i128::from(self.step(pointer)?))
        };
        match (op, on.ty, other.ty) {
            (BinaryOp::Add, Type::Ptr, _) => word(a as i128 + scaled(right, left)?),
            (BinaryOp::Add, _, Type::Ptr) => word(b as i128 + scaled(left, right)?),
            (BinaryOp::Sub, Type::Ptr, Type::Ptr) => {
                let size = u64::try_from(self.step(left)?.max(1)).ok()?;
                let target = target_of(self.unit);
                word(i128::from(target.address_difference(a as u64, b as u64, size)))
            }
            (BinaryOp::Sub, Type::Ptr, _) => word(a as i128 - scaled(right, left)?),
            _ => None,
        }
    }

    /// Bytes that one step of a pointer is; 1 for integers.
    fn step(&self, e: ExprId) -> Option<i64> {
        match self.unit.ty(self.unit.exprs[e].ty) {
            CType::Pointer(pointee) => i64::try_from(layout_of(self.unit, pointee.ty)?.size).ok(),
            _ => Some(1),
        }
    }

    fn constant_call(&self, e: ExprId, callee: ExprId, args: &[ExprId]) -> Option<Constant> {
        let name = &*self.unit.functions[self.unit.direct_callee(callee)?].name;
        match (name, args) {
            ("__builtin_constant_p", [arg]) => {
                // Of addresses only a string's start is one that clang calls constant.
                let known = match self.constant(*arg) {
                    Some(Constant::Address(ConstBase::Literal(literal), 0)) => {
                        matches!(self.unit.exprs[literal].kind, ExprKind::String(_))
                    }
                    Some(Constant::Address(..)) | None => false,
                    Some(Constant::Bits(_)) => true,
                };
                Some(Constant::Bits(u128::from(known)))
            }
            ("__builtin_expect" | "__builtin_expect_with_probability", [value, ..]) => {
                self.constant(*value)
            }
            (
                "__builtin_huge_val" | "__builtin_huge_valf" | "__builtin_inf" | "__builtin_inff",
                [],
            )
            | ("__builtin_huge_vall" | "__builtin_infl", []) => self.float(e, f64::INFINITY),
            ("__builtin_classify_type", [arg]) => {
                let class = self.type_class(self.unit.exprs[*arg].ty.ty)?;
                Some(Constant::Bits(class))
            }
            ("__builtin_nans", [_]) => Some(Constant::Bits(0x7ff4_0000_0000_0000)),
            ("__builtin_nansf", [_]) => Some(Constant::Bits(0x7fa0_0000)),
            ("__builtin_nan" | "__builtin_nanf" | "__builtin_nanl", [_]) => self.float(e, f64::NAN),
            _ => None,
        }
    }

    /// GCC's number for a kind of types (`__builtin_classify_type`).
    fn type_class(&self, ty: crate::ctypes::TypeId) -> Option<u128> {
        Some(match self.unit.types.get(ty) {
            CType::Void => 0,
            CType::Int(_) | CType::Enum(_) => 1,
            CType::BitInt { .. } => 18,
            CType::Pointer(_) | CType::Array { .. } | CType::Function { .. } => 5,
            CType::Float(_) => 8,
            CType::Complex(_) => 9,
            CType::Record(record) => match self.unit.records[*record].kind {
                crate::ast::RecordKind::Struct => 12,
                crate::ast::RecordKind::Union => 13,
            },
            CType::Vector { .. } | CType::Unsupported(_) => return None,
        })
    }

    /// The address of an lvalue that has a fixed one: a base, or none for a plain number.
    pub(super) fn constant_place(&self, e: ExprId) -> Option<(Option<ConstBase>, i64)> {
        let fixed = |base| Some((Some(base), 0));
        match &self.unit.exprs[e].kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.constant_place(*inner)
            }
            ExprKind::DeclRef(DeclRef::Var(var)) => match self.unit.vars[*var].storage {
                VarStorage::Global { .. } | VarStorage::StaticLocal(_) => {
                    fixed(ConstBase::Var(*var))
                }
                _ => None,
            },
            ExprKind::DeclRef(DeclRef::Function(function)) => fixed(ConstBase::Function(*function)),
            ExprKind::String(_) => fixed(ConstBase::Literal(e)),
            ExprKind::CompoundLiteral { file_scope: true, .. } => fixed(ConstBase::Literal(e)),
            ExprKind::Predefined { literal, .. } => self.constant_place(*literal),
            ExprKind::Unary { op: UnaryOp::Deref, operand } => self.constant_pointer(*operand),
            ExprKind::Member { base, arrow, field } => {
                let (base, offset) = if *arrow {
                    self.constant_pointer(*base)?
                } else {
                    self.constant_place(*base)?
                };
                let field = self.unit.field(*field);
                let here = i64::try_from(field.byte_offset()).ok()?;
                field.bit_width.is_none().then_some((base, offset.checked_add(here)?))
            }
            ExprKind::Subscript { pointer, index } => {
                let (base, offset) = self.constant_pointer(*pointer)?;
                let index = i64::try_from(self.constant_integer(*index)?).ok()?;
                let bytes = index.checked_mul(self.step(*pointer)?)?;
                Some((base, offset.checked_add(bytes)?))
            }
            _ => None,
        }
    }

    fn constant_pointer(&self, e: ExprId) -> Option<(Option<ConstBase>, i64)> {
        match self.constant(e)? {
            Constant::Bits(bits) => Some((None, bits as i64)),
            Constant::Address(base, offset) => Some((Some(base), offset)),
        }
    }

    /// Whether an address is surely not null: a weak symbol may be missing.
    fn is_surely_there(&self, base: ConstBase) -> bool {
        match base {
            ConstBase::Function(function) => {
                let specifiers = &self.unit.functions[function].specifiers;
                !specifiers.attributes.iter().any(|name| name.starts_with("Weak"))
            }
            ConstBase::Var(var) => self.unit.vars[var].is_definition,
            ConstBase::Literal(_) | ConstBase::Labels(_) => true,
        }
    }

    /// Width of an address in bits.
    fn pointer_bits(&self) -> u8 {
        target_of(self.unit).pointer_bits()
    }

    fn address(&self, base: Option<ConstBase>, offset: i64) -> Constant {
        let pointer = Type::Int(self.pointer_bits());
        match base {
            Some(base) => Constant::Address(base, offset),
            None => Constant::Bits(arith::truncate(pointer, offset as u128)),
        }
    }

    /// A conversion of a constant, as C does it.
    fn fold_conversion(&self, bits: u128, from: Scalar, to: Scalar) -> Option<u128> {
        match convert::steps(from, to, self.pointer_bits()) {
            Some(steps) => {
                let mut at = (from.ty, bits);
                for (op, ty) in steps {
                    at = (ty, arith::cast(op, at.0, ty, at.1).ok()?);
                }
                Some(to.extended(at.1))
            }
            None => Some(u128::from(is_not_zero(from.ty, bits))),
        }
    }

    /// The scalar type of an expression, if it has one to compute with.
    pub(super) fn scalar(&self, e: ExprId) -> Option<Scalar> {
        scalar_of(self.unit, self.unit.exprs[e].ty.ty)
    }
}

/// The IR's operator for `-` or `~` on a type.
pub(super) const fn unary_op(op: UnaryOp, on: Scalar) -> Option<ir::UnOp> {
    match op {
        UnaryOp::Minus if on.ty.is_float() => Some(ir::UnOp::FNeg),
        UnaryOp::Minus if on.signed => Some(ir::UnOp::NegS),
        UnaryOp::Minus => Some(ir::UnOp::NegU),
        UnaryOp::BitNot => Some(ir::UnOp::Not),
        _ => None,
    }
}

/// Whether a value counts as true in C.
fn is_not_zero(ty: Type, bits: u128) -> bool {
    if ty.is_float() { !arith::is_float_zero(ty, bits) } else { bits != 0 }
}

/// A literal as clang prints it, in the form that is read.
fn printed_float(text: &str) -> &str {
    match text.trim_start_matches('+') {
        "Inf" => "inf",
        number => number,
    }
}
