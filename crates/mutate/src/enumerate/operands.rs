//! What is to be known of operands: their types, their values, and how they stand in a longer text.

use lydian_frontend::ast::{BinaryOp, CastKind, ExprId, ExprKind, TranslationUnit};
use lydian_frontend::ctypes::{CType, FloatKind, IntKind, QualType};

use super::site::ValueKind;

/// An arithmetic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// An integer of this many bits.
    Int { bits: u32, signed: bool },
    /// `float`, `double` or `long double`.
    Float(FloatKind),
}

impl Number {
    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// Whether a promoted value can be negative.
    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Self::Float(_) | Self::Int { signed: true, .. })
    }

    /// The function of the compiler that gives the absolute value.
    pub(crate) const fn absolute(self) -> Option<&'static str> {
        match self {
            Self::Int { bits: ..=32, .. } => Some("__builtin_abs"),
            Self::Int { bits: ..=64, .. } => Some("__builtin_llabs"),
            Self::Int { .. } => None,
            Self::Float(FloatKind::Float) => Some("__builtin_fabsf"),
            Self::Float(FloatKind::LongDouble) => Some("__builtin_fabsl"),
            Self::Float(_) => Some("__builtin_fabs"),
        }
    }
}

/// The arithmetic type of an expression's value as it is written, `_Bool` and unusual types left out.
pub(crate) fn number(ast: &TranslationUnit, ty: QualType) -> Option<Number> {
    let of_int = |kind: IntKind| Number::Int {
        bits: ast.target.int(kind).size as u32 * 8,
        signed: ast.target.is_signed(kind),
    };
    match ast.ty(ty) {
        CType::Int(IntKind::Bool) => None,
        CType::Int(kind) => Some(of_int(*kind)),
        CType::Enum(id) => match ast.types.get(ast.enums[*id].underlying?) {
            CType::Int(kind) => Some(of_int(*kind)),
            _ => None,
        },
        CType::Float(kind @ (FloatKind::Float | FloatKind::Double | FloatKind::LongDouble)) => {
            Some(Number::Float(*kind))
        }
        _ => None,
    }
}

/// How the schema keeps a value of a type.
pub(crate) fn value_kind(ast: &TranslationUnit, ty: QualType) -> ValueKind {
    match ast.ty(ty) {
        CType::Int(_) | CType::Enum(_) => ValueKind::Number,
        CType::Float(FloatKind::Float | FloatKind::Double | FloatKind::LongDouble) => {
            ValueKind::Number
        }
        CType::Pointer(_) => ValueKind::Copied,
        _ => ValueKind::None,
    }
}

/// The name of a scalar type to which values are converted; `void *` stands for all pointers.
pub(crate) fn type_name(ast: &TranslationUnit, ty: QualType) -> Option<String> {
    match ast.ty(ty) {
        CType::Int(kind) => Some(kind.name().to_owned()),
        CType::Float(kind) => Some(kind.name().to_owned()),
        CType::Enum(id) => match ast.types.get(ast.enums[*id].underlying?) {
            CType::Int(kind) => Some(kind.name().to_owned()),
            _ => None,
        },
        CType::Pointer(_) => Some("void *".to_owned()),
        _ => None,
    }
}

/// A number that takes the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Zero,
    One,
    MinusOne,
}

impl Rule {
    pub(crate) const fn value(self) -> i128 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
            Self::MinusOne => -1,
        }
    }

    /// Its text, with the suffix of the number that it replaces.
    pub(crate) fn text(self, float: bool, suffix: &str) -> String {
        let point = if float { ".0" } else { "" };
        match self {
            Self::MinusOne => format!("(-1{point}{suffix})"),
            _ => format!("{}{point}{suffix}", self.value()),
        }
    }
}

/// Whether an expression's text binds tighter than every unary operator.
pub(crate) fn is_postfix(ast: &TranslationUnit, id: ExprId) -> bool {
    match &ast.exprs[id].kind {
        ExprKind::Cast { explicit: false, operand, .. } => is_postfix(ast, *operand),
        ExprKind::Constant { inner, .. } => is_postfix(ast, *inner),
        ExprKind::Integer(value) => *value >= 0,
        ExprKind::Character(_)
        | ExprKind::Floating(_)
        | ExprKind::String(_)
        | ExprKind::DeclRef(_)
        | ExprKind::Member { .. }
        | ExprKind::Subscript { .. }
        | ExprKind::Call { .. }
        | ExprKind::Paren(_) => true,
        _ => false,
    }
}

/// Whether an expression's text binds as tight as a unary operator.
pub(crate) fn is_unary(ast: &TranslationUnit, id: ExprId) -> bool {
    match &ast.exprs[id].kind {
        ExprKind::Cast { explicit: false, operand, .. } => is_unary(ast, *operand),
        ExprKind::Cast { explicit: true, .. }
        | ExprKind::Unary { .. }
        | ExprKind::TypeTrait { .. } => true,
        _ => is_postfix(ast, id),
    }
}

/// How tight a binary operator binds.
pub(crate) const fn precedence(op: BinaryOp) -> u32 {
    match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 10,
        BinaryOp::Add | BinaryOp::Sub => 9,
        BinaryOp::Shl | BinaryOp::Shr => 8,
        BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessEqual | BinaryOp::GreaterEqual => 7,
        BinaryOp::Equal | BinaryOp::NotEqual => 6,
        BinaryOp::BitAnd => 5,
        BinaryOp::BitXor => 4,
        BinaryOp::BitOr => 3,
        BinaryOp::LogicalAnd => 2,
        BinaryOp::LogicalOr => 1,
        BinaryOp::Comma => 0,
    }
}

/// The expression of a name, below conversions and parentheses: the cast that reads it left out.
pub(crate) fn read_place(ast: &TranslationUnit, id: ExprId) -> Option<ExprId> {
    match ast.exprs[id].kind {
        ExprKind::Cast { kind: CastKind::LValueToRValue, operand, .. } => Some(operand),
        _ => None,
    }
}
