//! Declarations: functions, variables, records, enumerations, typedefs.
//!
//! Every entity of the program has one declaration here, whatever the number of times it was
//! declared in the text: redeclarations are folded into the first id, and the definition's facts
//! win.

use super::expr::ExprId;
use super::stmt::StmtId;
use crate::ctypes::{EnumId, Layout, QualType, RecordId, TypeId};
use lydian_base::{Span, entity_id};

entity_id! {
    /// A function, declared or defined.
    FunctionId, "fn"
}
entity_id! {
    /// A variable: global, static local, local or parameter.
    VarId, "var"
}
entity_id! {
    /// An enumeration constant.
    EnumConstantId, "ec"
}
entity_id! {
    /// A typedef.
    TypedefId, "td"
}
entity_id! {
    /// A label of a function.
    LabelId, "label"
}

/// A function.
#[derive(Clone, Debug)]
pub struct FunctionDecl {
    /// Its name.
    pub name: Box<str>,
    /// Its name for the linker, where that is another (`asm` in a declaration).
    pub symbol: Option<Box<str>>,
    /// Its type, a [`crate::ctypes::CType::Function`].
    pub ty: QualType,
    /// Its type as the user wrote it, typedef names kept.
    pub written: Box<str>,
    /// Its parameters in order: of the definition when there is one, else of the first declaration.
    pub params: Vec<VarId>,
    /// Its body. `None` for functions that are only declared and for functions whose body lies in
    /// a system header (`body_skipped` tells them apart), but for the intrinsics that are needed.
    pub body: Option<StmtId>,
    /// Whether there is a definition whose body was not kept, because it is in a system header.
    pub body_skipped: bool,
    /// The specifiers of all its declarations together.
    pub specifiers: FunctionSpecifiers,
    /// Whether it is a library or `__builtin_` function known to clang and never declared.
    pub is_builtin: bool,
    /// The whole declaration; of the definition when there is one.
    pub span: Span,
    /// The name within `span`.
    pub name_span: Span,
    /// Whether it is declared (defined, when it is) in a system header.
    pub in_system_header: bool,
    /// Every variable declared in the body, in order: locals and static locals, no parameters.
    pub locals: Vec<VarId>,
    /// Every label of the body, in the order in which they are first mentioned.
    pub labels: Vec<LabelId>,
}

/// The specifiers of a function, attributes among them. What one declaration says holds for the function.
#[derive(Clone, Debug, Default)]
pub struct FunctionSpecifiers {
    /// Whether it is `static`.
    pub is_static: bool,
    /// Whether it is `inline`.
    pub is_inline: bool,
    /// Whether it never returns, by its attributes.
    pub no_return: bool,
    /// The function that it is another name of (`alias`, `weakref`).
    pub alias: Option<Box<str>>,
    /// The alignment in bytes that an attribute asks for.
    pub alignment: Option<u64>,
    /// Its priority if it runs before `main`.
    pub constructor: Option<u32>,
    /// Its priority if it runs when the program ends.
    pub destructor: Option<u32>,
    /// The names of its attributes as clang calls them, such as `ConstAttr`; sorted.
    pub attributes: Vec<Box<str>>,
}

/// Where a variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VarStorage {
    /// File scope.
    Global {
        /// `static`: no other file sees it.
        internal: bool,
    },
    /// Declared `static` in a function.
    StaticLocal(FunctionId),
    /// Automatic, or `register`.
    Local(FunctionId),
    /// A parameter; its index is its place in [`FunctionDecl::params`].
    Param(FunctionId),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Its name; empty for unnamed parameters.
    pub name: Box<str>,
    /// Its type; the completed one when an array was declared without its length first.
    pub ty: QualType,
    /// Its type as the user wrote it, typedef names kept.
    pub written: Box<str>,
    /// Where it lives.
    pub storage: VarStorage,
    /// Whether some declaration in this translation unit defines it (no lone `extern`).
    pub is_definition: bool,
    /// Whether each thread has its own.
    pub thread_local: bool,
    /// Whether a definition in another translation unit takes the place of its own.
    pub weak: bool,
    /// The variable that it is another name of (`alias`).
    pub alias: Option<Box<str>>,
    /// The function that is called with its address where its scope is left (`cleanup`).
    pub cleanup: Option<FunctionId>,
    /// Its initialiser: with semantic [`super::ExprKind::InitList`]s when it is an aggregate's.
    pub init: Option<ExprId>,
    /// The alignment in bytes that an attribute asks for (`aligned`, `_Alignas`), its own or that
    /// of the typedef that it is declared with.
    pub alignment: Option<u64>,
    /// The whole declaration, from its type to the end of its initialiser.
    pub span: Span,
    /// The name within `span`.
    pub name_span: Span,
    /// Whether it is declared in a system header.
    pub in_system_header: bool,
}

/// Struct or union.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordKind {
    /// `struct`.
    Struct,
    /// `union`.
    Union,
}

/// A struct or union.
#[derive(Clone, Debug)]
pub struct RecordDecl {
    /// Struct or union.
    pub kind: RecordKind,
    /// Its tag, if it has one.
    pub tag: Option<Box<str>>,
    /// For a record without a tag: the typedef that names it (`typedef struct { … } name;`).
    pub typedef_name: Option<Box<str>>,
    /// Its fields in order; empty while it is incomplete. Bit-fields without a name are included.
    pub fields: Vec<FieldDecl>,
    /// Size and alignment; `None` while it is incomplete.
    pub layout: Option<Layout>,
    /// Its definition, else its first declaration.
    pub span: Span,
    /// Whether it is declared in a system header.
    pub in_system_header: bool,
    /// Whether it is declared in a function.
    pub is_local: bool,
}

impl RecordDecl {
    /// A name to show: `struct tag`, the typedef's name, or `struct (anonymous)`.
    pub fn display_name(&self) -> String {
        let kind = match self.kind {
            RecordKind::Struct => "struct",
            RecordKind::Union => "union",
        };
        match (&self.tag, &self.typedef_name) {
            (Some(tag), _) => format!("{kind} {tag}"),
            (None, Some(name)) => name.to_string(),
            (None, None) => format!("{kind} (anonymous)"),
        }
    }
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct FieldDecl {
    /// Its name; `None` for anonymous struct and union members and unnamed bit-fields.
    pub name: Option<Box<str>>,
    /// Its type. A last field of type `T[]` is a flexible array member.
    pub ty: QualType,
    /// Its type as the user wrote it.
    pub written: Box<str>,
    /// The distance from the record's start, in bits.
    pub bit_offset: u64,
    /// The width in bits of a bit-field; 0 only for unnamed ones.
    pub bit_width: Option<u32>,
    /// The declaration.
    pub span: Span,
}

impl FieldDecl {
    /// The distance in bytes from the record's start. Whole for all fields but bit-fields.
    pub const fn byte_offset(&self) -> u64 {
        self.bit_offset / 8
    }
}

/// A field of a record, by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldRef {
    /// The record.
    pub record: RecordId,
    /// The index in [`RecordDecl::fields`].
    pub index: u32,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Its tag, if it has one.
    pub tag: Option<Box<str>>,
    /// For an enumeration without a tag: the typedef that names it.
    pub typedef_name: Option<Box<str>>,
    /// The integer type that it is compatible with; `None` while it is incomplete.
    pub underlying: Option<TypeId>,
    /// Its constants in order.
    pub constants: Vec<EnumConstantId>,
    /// The declaration.
    pub span: Span,
    /// Whether it is declared in a system header.
    pub in_system_header: bool,
}

/// An enumeration constant.
#[derive(Clone, Debug)]
pub struct EnumConstant {
    /// Its name.
    pub name: Box<str>,
    /// Its value.
    pub value: i128,
    /// The type of the constant in expressions (`int`, unless it does not fit).
    pub ty: QualType,
    /// The enumeration that it belongs to.
    pub parent: EnumId,
    /// The declaration.
    pub span: Span,
}

/// A typedef.
#[derive(Clone, Debug)]
pub struct TypedefDecl {
    /// Its name.
    pub name: Box<str>,
    /// What it stands for.
    pub ty: QualType,
    /// What it stands for, as the user wrote it.
    pub written: Box<str>,
    /// The alignment in bytes that its attributes ask for; the variables of this type that are
    /// declared by its name have it too.
    pub alignment: Option<u64>,
    /// The declaration.
    pub span: Span,
    /// Whether it is declared in a system header.
    pub in_system_header: bool,
}

/// A declaration whose type has variable length arrays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoundOwner {
    /// A local variable or a parameter.
    Var(VarId),
    /// A typedef in a function.
    Typedef(TypedefId),
    /// A parameter that is written as an array, for its outermost bound: its type has none, but the
    /// bound is evaluated all the same. Noted only where that could have an effect.
    Outermost(VarId),
    /// An explicit cast to a pointer to such an array.
    Cast(ExprId),
}

/// How many elements a variable length array has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The value of an expression when control passes the declaration.
    Expr(ExprId),
    /// The bound of this number of an earlier declaration.
    Of(BoundOwner, usize),
}

/// A label of a function.
#[derive(Clone, Debug)]
pub struct LabelDecl {
    /// Its name.
    pub name: Box<str>,
    /// The function that it belongs to.
    pub function: FunctionId,
    /// The labelled statement ([`super::StmtKind::Label`]); `None` when clang printed none.
    pub stmt: Option<StmtId>,
}

/// A declaration at file scope, in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopLevel {
    /// A function, at its first declaration and again at its definition.
    Function(FunctionId),
    /// A variable, at its first declaration.
    Var(VarId),
    /// A struct or union, at its definition.
    Record(RecordId),
    /// An enumeration.
    Enum(EnumId),
    /// A typedef.
    Typedef(TypedefId),
    /// `asm("…")` at file scope.
    Asm(Span),
}
