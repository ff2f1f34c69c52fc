//! The parts of a function that are not supported, as the attempts to make an outline of it find them.

use rustc_hash::FxHashMap;

use crate::ast::{ExprId, StmtId, VarId};
use crate::lower::outcome::UnsupportedConstruct;

/// A part of a function that can be left to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::lower) enum Part {
    /// A statement without statements in it, but for those of statement expressions.
    Stmt(StmtId),
    /// A variable where it is declared, with its initialiser.
    Var(VarId),
    /// An expression.
    Expr(ExprId),
}

/// The parts that are left to their texts.
#[derive(Debug, Default)]
pub(in crate::lower) struct Gaps {
    known: FxHashMap<Part, UnsupportedConstruct>,
    /// Those that this attempt found.
    found: FxHashMap<Part, UnsupportedConstruct>,
}

impl Gaps {
    /// Whether an attempt before this one failed at a part.
    pub(in crate::lower) fn is_known(&self, part: Part) -> bool {
        self.known.contains_key(&part)
    }

    /// This attempt fails at a part.
    pub(in crate::lower) fn add(&mut self, part: Part, unsupported: UnsupportedConstruct) {
        self.found.insert(part, unsupported);
    }

    /// Adds the parts that an attempt found; whether there are any.
    pub(in crate::lower) fn learn(&mut self) -> bool {
        let found = std::mem::take(&mut self.found);
        let is_new = !found.is_empty();
        self.known.extend(found);
        is_new
    }

    /// The parts, in the order of the text: those that are not in others.
    pub(in crate::lower) fn into_all(self) -> Vec<UnsupportedConstruct> {
        let mut all: Vec<UnsupportedConstruct> = self.known.into_values().collect();
        all.sort_by_key(|gap| (gap.span.start, gap.span.end));
        all.dedup();
        all
    }
}
