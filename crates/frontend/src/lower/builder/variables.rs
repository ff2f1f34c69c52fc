//! The locals and registers of the variables of the function that is being lowered.

use lydian_ir::{ExprId, LocalId};
use rustc_hash::FxHashMap;

use crate::ast::{self, BoundOwner, VarId};

/// The locals, arrays and bounds of variables, and the values of operands that are evaluated once.
#[derive(Debug, Default)]
pub(in crate::lower) struct Variables {
    locals: FxHashMap<VarId, LocalId>,
    /// The registers with the addresses of variable length arrays.
    arrays: FxHashMap<VarId, LocalId>,
    /// The registers of the bounds in the types of declarations that control has passed.
    bounds: FxHashMap<BoundOwner, Vec<LocalId>>,
    /// Values of `a` in `a ?: b`.
    once: FxHashMap<ast::ExprId, ExprId>,
}

impl Variables {
    /// The local of a variable, if it has one.
    pub(in crate::lower) fn local(&self, var: VarId) -> Option<LocalId> {
        self.locals.get(&var).copied()
    }

    pub(in crate::lower) fn set_local(&mut self, var: VarId, local: LocalId) {
        self.locals.insert(var, local);
    }

    /// The register with the address of a variable length array.
    pub(in crate::lower) fn array(&self, var: VarId) -> Option<LocalId> {
        self.arrays.get(&var).copied()
    }

    pub(in crate::lower) fn set_array(&mut self, var: VarId, pointer: LocalId) {
        self.arrays.insert(var, pointer);
    }

    /// The registers of the bounds in the type of a declaration.
    pub(in crate::lower) fn bounds(&self, owner: BoundOwner) -> Option<&[LocalId]> {
        self.bounds.get(&owner).map(Vec::as_slice)
    }

    pub(in crate::lower) fn set_bounds(&mut self, owner: BoundOwner, registers: Vec<LocalId>) {
        self.bounds.insert(owner, registers);
    }

    /// Notes the value of an operand that is evaluated once; the one that was noted before.
    pub(in crate::lower) fn set_once(
        &mut self,
        operand: ast::ExprId,
        value: ExprId,
    ) -> Option<ExprId> {
        self.once.insert(operand, value)
    }

    /// Takes the note of [`Self::set_once`] back; `before` is what that gave.
    pub(in crate::lower) fn restore_once(&mut self, operand: ast::ExprId, before: Option<ExprId>) {
        match before {
            Some(value) => _ = self.once.insert(operand, value),
            None => _ = self.once.remove(&operand),
        }
    }

    /// The value of an operand that is evaluated once.
    pub(in crate::lower) fn once(&self, operand: ast::ExprId) -> Option<ExprId> {
        self.once.get(&operand).copied()
    }

    /// All such operands with their values.
    pub(in crate::lower) fn all_once(&self) -> impl Iterator<Item = (ast::ExprId, ExprId)> {
        self.once.iter().map(|(operand, value)| (*operand, *value))
    }
}
