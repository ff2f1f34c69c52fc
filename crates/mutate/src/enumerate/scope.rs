//! The variables that a text can name at a place, and that have a value there.

use lydian_frontend::ast::{TranslationUnit, VarDecl, VarId, VarStorage};
use lydian_frontend::ctypes::{CType, Quals};

/// The variables in scope, the outermost first.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    ast: &'a TranslationUnit,
    visible: Vec<VarId>,
}

impl<'a> Scope<'a> {
    /// The scope at a function's begin.
    pub(crate) fn of(ast: &'a TranslationUnit, params: &[VarId]) -> Self {
        Self { ast, visible: params.to_vec() }
    }

    /// The number of variables, to which [`Scope::leave`] goes back.
    pub(crate) fn depth(&self) -> usize {
        self.visible.len()
    }

    pub(crate) fn declare(&mut self, var: VarId) {
        self.visible.push(var);
    }

    pub(crate) fn leave(&mut self, depth: usize) {
        self.visible.truncate(depth);
    }

    /// The other variables of a variable's type that can be read, or written, at a place of the text,
    /// the nearest first.
    pub(crate) fn others(&self, var: VarId, at: u32, written: bool) -> Vec<VarId> {
        let of = &self.ast.vars[var];
        let fits = |other: &VarDecl| {
            other.ty.ty == of.ty.ty
                && *other.name != *of.name
                && !other.name.is_empty()
                && !other.ty.quals.has(Quals::VOLATILE)
                && !(written && other.ty.quals.has(Quals::CONST))
                && (has_value(other) || written)
        };
        let locals = self.visible.iter().rev().copied();
        let globals = self.ast.vars.iter().filter(|(_, other)| {
            let is_global = matches!(other.storage, VarStorage::Global { .. });
            is_global && !other.in_system_header && other.span.start < at
        });
        let globals = globals.map(|(id, _)| id).collect::<Vec<_>>().into_iter().rev();
        let mut names: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for id in locals.chain(globals) {
            let other = &self.ast.vars[id];
            // Of two variables with one name, the nearer hides the other.
            if names.contains(&&*other.name) {
                continue;
            }
            names.push(&other.name);
            if fits(other) {
                found.push(id);
            }
        }
        found
    }

    /// Whether an assignment to a variable may go to another without leaving it undefined.
    pub(crate) fn can_keep(&self, var: VarId) -> bool {
        let var = &self.ast.vars[var];
        let is_scalar = matches!(
            self.ast.ty(var.ty),
            CType::Int(_) | CType::Float(_) | CType::Pointer(_) | CType::Enum(_)
        );
        is_scalar && has_value(var) && !var.ty.quals.has(Quals::VOLATILE)
    }
}

/// Whether a variable has a value wherever it is in scope.
fn has_value(var: &VarDecl) -> bool {
    !matches!(var.storage, VarStorage::Local(_)) || var.init.is_some()
}
