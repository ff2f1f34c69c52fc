//! Expressions.
//!
//! The conversions of C are explicit: wherever a value changes its type, decays or is read from
//! an lvalue, clang has put a [`ExprKind::Cast`].

use super::decl::{Bound, EnumConstantId, FieldRef, FunctionId, LabelId, VarId};
use super::stmt::StmtId;
use crate::ctypes::QualType;
use lydian_base::{Span, entity_id};

entity_id! {
    /// An expression of a translation unit.
    ExprId, "e"
}

/// Whether an expression designates an object or is a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueCategory {
    /// A value, or void.
    PrValue,
    /// An object or function.
    LValue,
}

/// An expression, its type and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its type.
    pub ty: QualType,
    /// Whether it designates an object.
    pub category: ValueCategory,
    /// From its first token to the end of its last one; [`Span::NONE`] for what has no text
    /// (implicit initialisers).
    pub span: Span,
}

/// The declaration that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclRef {
    /// A variable or parameter.
    Var(VarId),
    /// A function.
    Function(FunctionId),
    /// An enumeration constant; its value is with the declaration.
    EnumConstant(EnumConstantId),
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOp {
    /// `++x`.
    PreInc,
    /// `--x`.
    PreDec,
    /// `x++`.
    PostInc,
    /// `x--`.
    PostDec,
    /// `&x`.
    AddressOf,
    /// `*x`.
    Deref,
    /// `+x`.
    Plus,
    /// `-x`.
    Minus,
    /// `~x`.
    BitNot,
    /// `!x`.
    LogicalNot,
    /// `__extension__ x`.
    Extension,
    /// `__real__ x`.
    Real,
    /// `__imag__ x`.
    Imag,
}

/// Operators with two operands; assignment is apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // Each variant is the C operator of its name.
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    LogicalAnd,
    LogicalOr,
    Comma,
}

impl BinaryOp {
    /// Whether it is `&&` or `||`.
    pub const fn is_logical(self) -> bool {
        matches!(self, Self::LogicalAnd | Self::LogicalOr)
    }

    /// Whether it compares.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
        )
    }

    /// The operator as C writes it.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessEqual => "<=",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::LogicalAnd => "&&",
            Self::LogicalOr => "||",
            Self::Comma => ",",
        }
    }

    /// The operator that C writes as `symbol`.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        const ALL: [BinaryOp; 19] = [
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Shl,
            BinaryOp::Shr,
            BinaryOp::Less,
            BinaryOp::Greater,
            BinaryOp::LessEqual,
            BinaryOp::GreaterEqual,
            BinaryOp::Equal,
            BinaryOp::NotEqual,
            BinaryOp::BitAnd,
            BinaryOp::BitXor,
            BinaryOp::BitOr,
            BinaryOp::LogicalAnd,
            BinaryOp::LogicalOr,
            BinaryOp::Comma,
        ];
        ALL.into_iter().find(|op| op.symbol() == symbol)
    }
}

/// The kinds of conversions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each variant is clang's cast kind of the same name.
pub enum CastKind {
    /// Reads an object.
    LValueToRValue,
    /// Changes qualifiers or nothing at all.
    NoOp,
    ArrayToPointerDecay,
    FunctionToPointerDecay,
    /// A builtin function is called (the operand is its name).
    BuiltinFnToFnPtr,
    /// Between pointer types, same address.
    BitCast,
    /// Reads an object as if it had another type of the same size.
    LValueBitCast,
    NullToPointer,
    IntegralToPointer,
    PointerToIntegral,
    PointerToBoolean,
    /// Between integer types: truncates or extends as the operand's type is signed.
    IntegralCast,
    IntegralToBoolean,
    IntegralToFloating,
    FloatingToIntegral,
    FloatingToBoolean,
    FloatingCast,
    BooleanToSignedIntegral,
    ToVoid,
    /// To a union that has a member of the operand's type (GNU).
    ToUnion,
    AtomicToNonAtomic,
    NonAtomicToAtomic,
    /// From a number to a complex one of that part.
    RealToComplex,
    /// The real part.
    ComplexToReal,
    /// Whether one of the parts is not zero.
    ComplexToBoolean,
    /// Between complex types.
    ComplexCast,
    /// A scalar as every element of a vector.
    VectorSplat,
    /// Any other (matrices, address spaces), by clang's name.
    Unsupported(Box<str>),
}

/// A string literal's code units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringLiteral {
    /// The code units without the terminator that C adds. The expression's array type says how
    /// many there are in all: pad with zeros, or cut, to its length.
    pub units: Box<[u32]>,
    /// Bytes in a unit: 1, 2 or 4.
    pub unit_size: u8,
}

/// A floating literal's value.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatLiteral {
    /// The value for `float` (exactly representable) and `double`; the nearest double for wider
    /// types.
    pub value: f64,
    /// The decimal text that clang prints; reads back to the exact value of the literal's type.
    pub text: Box<str>,
}

/// The initialiser list of an aggregate, in its semantic form: designators are resolved.
#[derive(Clone, Debug)]
pub enum InitList {
    /// Of an array.
    Array {
        /// The first elements, in order.
        elements: Vec<ExprId>,
        /// The initialiser of every further element; zeros when absent.
        filler: Option<ExprId>,
    },
    /// Of a struct: a pair of field and value for each initialised field, in order. Fields that
    /// are missing (unnamed bit-fields, flexible arrays) are zero.
    Struct(Vec<(FieldRef, ExprId)>),
    /// Of a union: the active field. `None` leaves the union zero.
    Union(Option<(FieldRef, ExprId)>),
    /// Of a scalar: `{ 1 }`; `None` for C23's `{}`.
    Scalar(Option<ExprId>),
}

/// An offset that depends on indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableOffset {
    /// The offset in bytes where these indices are 0.
    pub base: u64,
    /// The indices that are not constant, each with the size of an element.
    pub indices: Vec<(ExprId, u64)>,
}

/// The argument of `sizeof` and its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraitArgument {
    /// `sizeof(type)`.
    Type(QualType),
    /// `sizeof expression`, which is evaluated only when its type is variable-length.
    Expr(ExprId),
}

/// `sizeof` and its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraitKind {
    /// `sizeof`.
    SizeOf,
    /// `_Alignof`.
    AlignOf,
    /// `__alignof__`: of the type on its own, which may be larger than within a struct.
    PreferredAlignOf,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `42`.
    Integer(i128),
    /// `'a'`: the value in the expression's type.
    Character(i64),
    /// `1.5`.
    Floating(FloatLiteral),
    /// `"abc"`: an lvalue of array type.
    String(StringLiteral),
    /// A name.
    DeclRef(DeclRef),
    /// `base.field` or `base->field`.
    Member {
        /// The record (an lvalue or a value), or a pointer to it when `arrow`.
        base: ExprId,
        /// Whether it is `->`.
        arrow: bool,
        /// Which field.
        field: FieldRef,
    },
    /// `pointer[index]`, written in this or the other order.
    Subscript {
        /// The operand of pointer type.
        pointer: ExprId,
        /// The operand of integer type.
        index: ExprId,
    },
    /// A call. The callee is a pointer to a function: see
    /// [`crate::ast::TranslationUnit::direct_callee`].
    Call {
        /// The function.
        callee: ExprId,
        /// The arguments, converted to the parameters' types.
        args: Vec<ExprId>,
    },
    /// An operator with one operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: ExprId,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `target = value`.
    Assign {
        /// The lvalue.
        target: ExprId,
        /// The value, converted to its type.
        value: ExprId,
    },
    /// `target op= value`.
    CompoundAssign {
        /// The operator without `=`.
        op: BinaryOp,
        /// The lvalue.
        target: ExprId,
        /// The right operand, converted for the computation.
        value: ExprId,
        /// The type that the target's value is converted to first.
        compute_target: QualType,
        /// The type of the result, before it is converted back to the target's type.
        compute_result: QualType,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// The condition.
        condition: ExprId,
        /// The value when it is not zero.
        then: ExprId,
        /// The value when it is zero.
        otherwise: ExprId,
    },
    /// GNU's `common ?: otherwise`. `common` is evaluated once; every [`ExprKind::OpaqueValue`]
    /// in `condition` and `then` whose source is `common` stands for that value.
    BinaryConditional {
        /// Evaluated first.
        common: ExprId,
        /// Tested; made of the opaque value.
        condition: ExprId,
        /// The result when it is not zero; made of the opaque value.
        then: ExprId,
        /// The result when it is zero.
        otherwise: ExprId,
    },
    /// The value of an expression that was evaluated before.
    OpaqueValue {
        /// That expression; not to be evaluated again.
        source: ExprId,
    },
    /// A conversion.
    Cast {
        /// The operation.
        kind: CastKind,
        /// The operand.
        operand: ExprId,
        /// Whether it stands in the text, as `(type) operand`.
        explicit: bool,
    },
    /// `{ … }` as an initialiser.
    InitList(InitList),
    /// Zero of the expression's type, where an initialiser says nothing.
    ImplicitValueInit,
    /// An element that the initialiser of [`ExprKind::DesignatedInitUpdate`] leaves as it is.
    NoInit,
    /// `base` with parts overwritten (`{ .a = s, .a.b = 1 }`).
    DesignatedInitUpdate {
        /// The value that is there first.
        base: ExprId,
        /// An initialiser list in which [`ExprKind::NoInit`] keeps what is there.
        updater: ExprId,
    },
    /// `(type){ … }`: an lvalue. Automatic storage in a function, static outside.
    CompoundLiteral {
        /// The initialiser.
        init: ExprId,
        /// Whether it stands outside of functions.
        file_scope: bool,
    },
    /// `sizeof`, `_Alignof`.
    TypeTrait {
        /// Which.
        kind: TraitKind,
        /// The operand.
        argument: TraitArgument,
        /// The bounds of variable length arrays in an argument that is a type.
        bounds: Vec<Bound>,
        /// The value in bytes; `None` when it is not constant (a variable-length array) or the
        /// type is not supported.
        value: Option<u64>,
    },
    /// `offsetof(type, member.path[1])`.
    OffsetOf {
        /// The offset in bytes; `None` when an index is not constant, or the path cannot be read from
        /// the text.
        value: Option<u64>,
        /// The offset where indices are not constant.
        variable: Option<VariableOffset>,
    },
    /// `({ … })`. Its value is the last statement's, when that is an expression.
    StmtExpr(StmtId),
    /// `va_arg(list, type)`; the type is the expression's.
    VaArg {
        /// The list.
        list: ExprId,
    },
    /// `_Generic` or `__builtin_choose_expr`: only the chosen expression.
    Chosen(ExprId),
    /// `__func__` and its like.
    Predefined {
        /// Its name.
        name: Box<str>,
        /// The string literal that it stands for.
        literal: ExprId,
    },
    /// `( … )`.
    Paren(ExprId),
    /// An expression that C requires to be constant (case labels, enumeration values, array
    /// sizes).
    Constant {
        /// The expression.
        inner: ExprId,
        /// Its value; `None` when it does not fold.
        value: Option<i128>,
    },
    /// GNU's `&&label`.
    AddrLabel(LabelId),
    /// `__atomic_*` and `__c11_atomic_*` builtins.
    Atomic {
        /// The builtin's name.
        op: Box<str>,
        /// Its operands in clang's order: pointer, memory order, then the values.
        args: Vec<ExprId>,
    },
    /// An imaginary literal, `2.0i`: the number.
    Imaginary(ExprId),
    /// An element of a vector.
    VectorElement {
        /// The vector, an lvalue or a value.
        vector: ExprId,
        /// Which element.
        index: ExprId,
    },
    /// `v.xyz` or `p->xyz`: elements of a vector by name. One of them is an lvalue of the
    /// element's type.
    Swizzle {
        /// The vector, or a pointer to it when `arrow`.
        base: ExprId,
        /// Whether it is `->`.
        arrow: bool,
        /// Which elements, in order.
        lanes: Box<[u8]>,
    },
    /// `__builtin_shufflevector`: two vectors and the positions taken, -1 for any; or a vector and
    /// a vector of positions.
    Shuffle(Vec<ExprId>),
    /// `__builtin_convertvector`.
    ConvertVector(ExprId),
    /// Anything else, with clang's name for it.
    Unsupported(Box<str>),
}
