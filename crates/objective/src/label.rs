//! Labels: a site, a predicate, and a key that identifies them across edits of the file.

use std::fmt;
use std::sync::Arc;

use lydian_base::{Place, entity_id};
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, ConditionId, DecisionId, ExprId, MarkId, StmtId};
use serde::{Deserialize, Serialize};

entity_id!(
    /// Names a label of a function.
    LabelId,
    "l"
);

/// The site of a label, where its predicate is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Site {
    /// At the start of the run, before the first function is entered. There is no state that a
    /// predicate could read.
    Start,
    /// When the function is entered. Its parameters have their values.
    Entry,
    /// When control passes a mark.
    Mark(MarkId),
    /// When an edge of a switch is taken (edges of decisions are predicates on the decision).
    Edge(Edge),
    /// When a decision has its outcome: its event carries, for each condition, whether it was
    /// reached and its value.
    Decision(DecisionId),
    /// Just before the statement or terminator that evaluates a root does so.
    Root(lydian_ir::source::RootId),
    /// Just before a statement or a copy of it ([`lydian_ir::source::FunctionSource::copies`]).
    Stmt(StmtId),
    /// When control enters a block.
    Block(BlockId),
    /// When short-circuit evaluation has evaluated a condition: its event knows the value of this
    /// condition alone.
    Condition(DecisionId, ConditionId),
}

/// A predicate, evaluated in Kleene's logic on the state at its site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pred {
    /// A constant.
    Const(bool),
    /// The value of a condition in the decision's event. If the condition was reached, it is the
    /// evaluated value. Else it is the value on the state at the outcome if evaluating it there would
    /// only compute and not trap, or else unknown.
    Cond(ConditionId),
    /// Whether short-circuit evaluation reached the condition. Always known.
    Reached(ConditionId),
    /// The value of a mutant of a condition: an `i1` expression. If its condition is reached, it is
    /// evaluated on the state just before. Else it is evaluated on the state at the outcome if
    /// condition and mutant are both pure and cannot trap, or else it is unknown.
    Mutant(ConditionId, ExprId),
    /// An `i1` expression on the state at the site; unknown if evaluating it would trap.
    Expr(ExprId),
    /// Negation.
    Not(Arc<Pred>),
    /// Conjunction.
    And(Arc<Pred>, Arc<Pred>),
    /// Disjunction.
    Or(Arc<Pred>, Arc<Pred>),
    /// Exclusive or.
    Xor(Arc<Pred>, Arc<Pred>),
}

/// Identifies a label by its meaning and not by its place: by the function's name, the function's
/// text and the label's own. An edit elsewhere in the file does not change it. Hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelKey(pub String);

impl fmt::Display for LabelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A label: covered by a run that passes its site with its predicate true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The site.
    pub site: Site,
    /// The predicate that must be true there.
    pub pred: Pred,
    /// The predicate as C text for the user.
    pub text: Arc<str>,
    /// The place in the user's file.
    pub place: Place,
    /// Its key, which identifies it across runs.
    pub key: LabelKey,
}

/// A label as one criterion counts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelEntry {
    /// The label.
    pub label: LabelId,
    /// Its name in the criterion, such as `d3 true` or `AOR + -> -`.
    pub name: String,
    /// The position in the criterion's list of an earlier entry with the same site and predicate.
    /// Such a duplicate is outside of the denominator.
    pub duplicate_of: Option<u32>,
}

impl Pred {
    /// Negation. A double negation is dropped.
    #[allow(clippy::should_implement_trait, reason = "a constructor, named as the variant is")]
    pub fn not(a: Self) -> Self {
        match a {
            Self::Const(value) => Self::Const(!value),
            Self::Not(inner) => Arc::unwrap_or_clone(inner),
            other => Self::Not(Arc::new(other)),
        }
    }

    /// Conjunction. Constants are simplified away.
    pub fn and(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Const(true), other) | (other, Self::Const(true)) => other,
            (Self::Const(false), _) | (_, Self::Const(false)) => Self::Const(false),
            (a, b) => Self::And(Arc::new(a), Arc::new(b)),
        }
    }

    /// Disjunction. Constants are simplified away.
    pub fn or(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Const(false), other) | (other, Self::Const(false)) => other,
            (Self::Const(true), _) | (_, Self::Const(true)) => Self::Const(true),
            (a, b) => Self::Or(Arc::new(a), Arc::new(b)),
        }
    }

    /// Exclusive or. Constants are simplified away.
    pub fn xor(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Const(false), other) | (other, Self::Const(false)) => other,
            (Self::Const(true), other) | (other, Self::Const(true)) => Self::not(other),
            (a, b) => Self::Xor(Arc::new(a), Arc::new(b)),
        }
    }

    /// The first condition that it names.
    pub fn first_condition(&self) -> Option<ConditionId> {
        match self {
            Self::Const(_) | Self::Expr(_) => None,
            Self::Cond(condition) | Self::Reached(condition) | Self::Mutant(condition, _) => {
                Some(*condition)
            }
            Self::Not(a) => a.first_condition(),
            Self::And(a, b) | Self::Or(a, b) | Self::Xor(a, b) => {
                a.first_condition().or_else(|| b.first_condition())
            }
        }
    }

    /// Calls `visit` with each mutant in it and the condition of the mutant.
    pub fn for_each_mutant(&self, visit: &mut impl FnMut(ConditionId, ExprId)) {
        match self {
            Self::Mutant(condition, expr) => visit(*condition, *expr),
            Self::Const(_) | Self::Cond(_) | Self::Reached(_) | Self::Expr(_) => {}
            Self::Not(a) => a.for_each_mutant(visit),
            Self::And(a, b) | Self::Or(a, b) | Self::Xor(a, b) => {
                a.for_each_mutant(visit);
                b.for_each_mutant(visit);
            }
        }
    }

    /// Whether there is a mutant in it.
    pub fn has_mutant(&self) -> bool {
        let mut found = false;
        self.for_each_mutant(&mut |_, _| found = true);
        found
    }

    /// Whether it reads a decision's event alone: no mutant, and nothing on the state.
    pub fn is_of_event(&self) -> bool {
        let mut found = true;
        self.for_each_expr(&mut |_| found = false);
        found
    }

    /// Calls `visit` with each expression in it.
    pub fn for_each_expr(&self, visit: &mut impl FnMut(ExprId)) {
        match self {
            Self::Const(_) | Self::Cond(_) | Self::Reached(_) => {}
            Self::Mutant(_, expr) | Self::Expr(expr) => visit(*expr),
            Self::Not(a) => a.for_each_expr(visit),
            Self::And(a, b) | Self::Or(a, b) | Self::Xor(a, b) => {
                a.for_each_expr(visit);
                b.for_each_expr(visit);
            }
        }
    }
}
