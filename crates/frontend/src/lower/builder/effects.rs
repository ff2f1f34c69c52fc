//! Side effects of expressions of the tree.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use crate::ast::{ExprId, VarId};

/// Effects of an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::lower) struct Effects {
    /// Whether lowering it emits statements or branches at all.
    pub hoists: bool,
    /// Whether it may write memory, or have another effect that cannot be undone.
    pub memory: bool,
    /// Whether it may write any variable.
    pub all_vars: bool,
    /// The variables that it writes by name.
    pub vars: Vec<VarId>,
}

impl Effects {
    /// Statements or branches, but nothing is written.
    pub(in crate::lower) const HOISTS: Self =
        Self { hoists: true, memory: false, all_vars: false, vars: Vec::new() };
    /// Memory is written.
    pub(in crate::lower) const MEMORY: Self =
        Self { hoists: true, memory: true, all_vars: false, vars: Vec::new() };
    /// Anything.
    pub(in crate::lower) const ALL: Self =
        Self { hoists: true, memory: true, all_vars: true, vars: Vec::new() };

    /// Adds the effects of another expression.
    pub(in crate::lower) fn join(&mut self, other: &Self) {
        self.hoists |= other.hoists;
        self.memory |= other.memory;
        self.all_vars |= other.all_vars;
        self.vars.extend(
            other.vars.iter().filter(|var| !self.vars.contains(var)).copied().collect::<Vec<_>>(),
        );
    }
}

/// Effects of the expressions asked for.
#[derive(Debug, Default)]
pub(in crate::lower) struct EffectsTable {
    known: FxHashMap<ExprId, Rc<Effects>>,
}

impl EffectsTable {
    /// The effects of an expression, if they were asked for before.
    pub(in crate::lower) fn get(&self, e: ExprId) -> Option<Rc<Effects>> {
        self.known.get(&e).cloned()
    }

    pub(in crate::lower) fn insert(&mut self, e: ExprId, effects: Rc<Effects>) {
        self.known.insert(e, effects);
    }
}
