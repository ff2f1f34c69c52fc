//! The typed syntax tree of one translation unit: clang's AST, decoded.
//!
//! [`TranslationUnit`] owns everything in arenas; declarations, statements and expressions name
//! each other by typed ids. The tree keeps what clang resolved (types, conversions, layouts,
//! references) and what the user wrote (spans into the preprocessed text, written type names), and
//! nothing of clang's own representation.
//!
//! Invariants: every id is valid in its unit; an entity that is declared several times has one id;
//! a construct that is not modelled is an `Unsupported` node with its span, never an error;
//! children are decoded before their parents, so that an expression's operands have smaller ids.

mod children;
mod decl;
mod dump;
mod expr;
mod fold;
mod stmt;

pub use children::for_each_child;
pub use decl::{
    Bound, BoundOwner, EnumConstant, EnumConstantId, EnumDecl, FieldDecl, FieldRef, FunctionDecl,
    FunctionId, FunctionSpecifiers, LabelDecl, LabelId, RecordDecl, RecordKind, TopLevel,
    TypedefDecl, TypedefId, VarDecl, VarId, VarStorage,
};
pub use expr::{
    BinaryOp, CastKind, DeclRef, Expr, ExprId, ExprKind, FloatLiteral, InitList, StringLiteral,
    TraitArgument, TraitKind, UnaryOp, ValueCategory, VariableOffset,
};
pub use stmt::{Assembly, AssemblyOperand, LocalDecl, Stmt, StmtId, StmtKind};

pub use crate::ctypes::{EnumId, RecordId};

use crate::ctypes::{CType, CTypes, QualType, TargetLayout};
use indexmap::IndexMap;
use lydian_base::Arena;

/// A translation unit.
#[derive(Clone, Debug, Default)]
pub struct TranslationUnit {
    /// All types.
    pub types: CTypes,
    /// The target's scalar types.
    pub target: TargetLayout,
    /// All functions that are declared or called.
    pub functions: Arena<FunctionId, FunctionDecl>,
    /// All variables: globals, locals and parameters.
    pub vars: Arena<VarId, VarDecl>,
    /// All structs and unions.
    pub records: Arena<RecordId, RecordDecl>,
    /// All enumerations.
    pub enums: Arena<EnumId, EnumDecl>,
    /// All enumeration constants.
    pub enum_constants: Arena<EnumConstantId, EnumConstant>,
    /// All typedefs.
    pub typedefs: Arena<TypedefId, TypedefDecl>,
    /// All labels.
    pub labels: Arena<LabelId, LabelDecl>,
    /// All statements.
    pub stmts: Arena<StmtId, Stmt>,
    /// All expressions.
    pub exprs: Arena<ExprId, Expr>,
    /// The bounds of the variable length arrays in the types of variables and typedefs, from the
    /// outermost in. A type that has such arrays and no entry is not supported.
    pub bounds: IndexMap<BoundOwner, Vec<Bound>>,
    /// The declarations at file scope, in the order of the text.
    pub top_level: Vec<TopLevel>,
}

impl TranslationUnit {
    /// The function of this name at file scope.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().find(|(_, function)| &*function.name == name).map(|(id, _)| id)
    }

    /// The variable of this name at file scope.
    pub fn global_named(&self, name: &str) -> Option<VarId> {
        let is_global = |var: &VarDecl| matches!(var.storage, VarStorage::Global { .. });
        self.vars.iter().find(|(_, var)| is_global(var) && &*var.name == name).map(|(id, _)| id)
    }

    /// The functions whose bodies are here, in the order of the text.
    pub fn defined_functions(&self) -> impl Iterator<Item = (FunctionId, &FunctionDecl)> {
        let mut functions: Vec<_> =
            self.functions.iter().filter(|(_, f)| f.body.is_some()).collect();
        functions.sort_by_key(|(_, function)| function.span);
        functions.into_iter()
    }

    /// The type behind a qualified type.
    pub fn ty(&self, ty: QualType) -> &CType {
        self.types.get(ty.ty)
    }

    /// The field that a reference names.
    pub fn field(&self, field: FieldRef) -> &FieldDecl {
        &self.records[field.record].fields[field.index as usize]
    }

    /// The expression inside parentheses, `__extension__`, `_Generic` and constant wrappers.
    pub fn strip_parens(&self, mut id: ExprId) -> ExprId {
        loop {
            id = match self.exprs[id].kind {
                ExprKind::Paren(inner)
                | ExprKind::Chosen(inner)
                | ExprKind::Constant { inner, .. }
                | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => inner,
                _ => return id,
            };
        }
    }

    /// The expression inside parentheses and conversions that the text does not show.
    pub fn strip_implicit(&self, mut id: ExprId) -> ExprId {
        loop {
            id = self.strip_parens(id);
            match self.exprs[id].kind {
                ExprKind::Cast { operand, explicit: false, .. } => id = operand,
                _ => return id,
            }
        }
    }

    /// The function that a call names, when it is not called through a pointer.
    pub fn direct_callee(&self, callee: ExprId) -> Option<FunctionId> {
        match self.exprs[self.strip_implicit(callee)].kind {
            ExprKind::DeclRef(DeclRef::Function(function)) => Some(function),
            ExprKind::Unary { op: UnaryOp::Deref | UnaryOp::AddressOf, operand } => {
                self.direct_callee(operand)
            }
            _ => None,
        }
    }
}
