//! BVA: boundary values of relational conditions ([004] 4.1).
//!
//! For a condition `A op B` on integers the border is `A == B`. There are three objectives: the value
//! at the border, the value next to it on the side where `op` holds (just inside), and the value on
//! the other side (just outside). For `==` and `!=` the values below and above take their place. So
//! `<` and `<=` have the same objectives, and so have a condition and its negation: a border that is
//! off by one is a fault of either.
//!
//! | condition | at | inside | outside |
//! |---|---|---|---|
//! | `A < B`, `A <= B` | `A == B` | `A == B - 1` | `A == B + 1` |
//! | `A > B`, `A >= B` | `A == B` | `A == B + 1` | `A == B - 1` |
//! | `A == B`, `A != B` | `A == B` | below: `A == B - 1` | above: `A == B + 1` |
//!
//! The values are those at the time when evaluation reaches the condition, in the type in which C
//! compares. They do not wrap: nothing lies above the greatest value. Addresses and floats have the
//! objective at the border alone, since their next value depends on their meaning. Comparisons that C
//! implies (`if (n)`) and those that read volatile memory have none.

use lydian_ir::source::{Root, RootKind};
use lydian_ir::{BinOp, CmpOp, ConditionId, DecisionId, Expr, ExprId};

use super::mutation::is_written;
use super::types::{Reading, compared_as};
use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::decision::predicates::{always_reached, reached};
use crate::label::{Pred, Site};

pub(crate) struct BoundaryValues;

impl Annotator for BoundaryValues {
    fn criterion(&self) -> Criterion {
        Criterion::Bva
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        relations(cx, &mut |cx, relation| border(cx, relation));
    }
}

/// A comparison that is a condition of a decision.
pub(in crate::annotate) struct Relation<'r> {
    pub(in crate::annotate) root: &'r Root,
    pub(in crate::annotate) decision: DecisionId,
    pub(in crate::annotate) condition: ConditionId,
    pub(in crate::annotate) op: CmpOp,
    /// The two operands.
    pub(in crate::annotate) sides: (ExprId, ExprId),
    /// The predicate that evaluation reaches it.
    pub(in crate::annotate) arrives: Pred,
}

/// Calls `visit` with each comparison that is a condition of the text and reads nothing volatile, each
/// once, in the order of the text.
pub(in crate::annotate) fn relations(
    cx: &mut Context<'_>,
    visit: &mut dyn FnMut(&mut Context<'_>, &Relation<'_>),
) {
    for (_, root) in cx.rewritable_roots() {
        let RootKind::Condition { decision, condition } = root.kind else { continue };
        let Expr::Cmp(op, a, b) = cx.exprs.arena()[root.expr] else { continue };
        if is_written(cx, root.expr, &[a, b]) {
            let arrives = reached(&always_reached(&cx.tree(decision)), condition);
            let relation = Relation { root, decision, condition, op, sides: (a, b), arrives };
            visit(cx, &relation);
        }
    }
}

impl Relation<'_> {
    /// Whether integers are compared, and as signed ones. `None` for addresses and floats.
    pub(in crate::annotate) fn signedness(&self, cx: &Context<'_>) -> Option<bool> {
        let (a, b) = self.sides;
        match (self.op, compared_as(cx, a, b)) {
            (_, Reading::Float | Reading::None) => None,
            (CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS, _) => Some(true),
            (CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU, _) => Some(false),
            (_, reading) => Some(reading == Reading::Signed),
        }
    }

    /// The predicate that the two sides are equal.
    pub(in crate::annotate) fn is_equal(&self, cx: &mut Context<'_>) -> Pred {
        let equal = if self.op.is_float() { CmpOp::FEq } else { CmpOp::Eq };
        mutant(cx, self.condition, equal, self.sides.0, self.sides.1)
    }

    /// The predicate that the left side is next to the right one.
    pub(in crate::annotate) fn is_next(
        &self,
        cx: &mut Context<'_>,
        side: Side,
        signed: bool,
    ) -> Pred {
        self.beside(cx, side, signed, CmpOp::Eq)
    }

    /// The predicate that the left side is beyond the value next to the right one.
    pub(in crate::annotate) fn is_further(
        &self,
        cx: &mut Context<'_>,
        side: Side,
        signed: bool,
    ) -> Pred {
        self.beside(cx, side, signed, side.order(signed))
    }

    /// The predicate that the left side is on one side of the right one, and compares with the value next
    /// to that. The first comparison excludes values that have wrapped.
    fn beside(&self, cx: &mut Context<'_>, side: Side, signed: bool, op: CmpOp) -> Pred {
        let (a, b) = self.sides;
        let next = side.next(cx, b);
        let ordered = mutant(cx, self.condition, side.order(signed), a, b);
        Pred::and(mutant(cx, self.condition, op, a, next), ordered)
    }
}

/// The side of the border on which a value lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::annotate) enum Side {
    Below,
    Above,
}

fn border(cx: &mut Context<'_>, relation: &Relation<'_>) {
    let Relation { root, decision, condition, op, arrives, .. } = relation;
    let push = |cx: &mut Context<'_>, pred: Pred, name: &str| {
        let name = format!("{decision}.{condition} {name}");
        cx.push(Site::Decision(*decision), Pred::and(arrives.clone(), pred), root.span, name);
    };
    let at = relation.is_equal(cx);
    push(cx, at, "at the border");
    let Some(signed) = relation.signedness(cx) else { return };
    let (sides, names) = match op {
        CmpOp::LtS | CmpOp::LeS | CmpOp::LtU | CmpOp::LeU => {
            ([Side::Below, Side::Above], ["just inside", "just outside"])
        }
        CmpOp::GtS | CmpOp::GeS | CmpOp::GtU | CmpOp::GeU => {
            ([Side::Above, Side::Below], ["just inside", "just outside"])
        }
        _ => ([Side::Below, Side::Above], ["just below", "just above"]),
    };
    for (side, name) in sides.into_iter().zip(names) {
        let pred = relation.is_next(cx, side, signed);
        push(cx, pred, name);
    }
}

impl Side {
    /// The comparison that holds on this side.
    pub(in crate::annotate) const fn order(self, signed: bool) -> CmpOp {
        match (self, signed) {
            (Self::Below, true) => CmpOp::LtS,
            (Self::Below, false) => CmpOp::LtU,
            (Self::Above, true) => CmpOp::GtS,
            (Self::Above, false) => CmpOp::GtU,
        }
    }

    /// The value next to one on this side, which may wrap.
    pub(in crate::annotate) fn next(self, cx: &mut Context<'_>, value: ExprId) -> ExprId {
        let one = cx.exprs.int(cx.exprs.type_of(value), 1);
        let step = match self {
            Self::Below => BinOp::SubU,
            Self::Above => BinOp::AddU,
        };
        cx.exprs.binary(step, value, one)
    }
}

/// A comparison, evaluated where the condition is.
pub(in crate::annotate) fn mutant(
    cx: &mut Context<'_>,
    condition: ConditionId,
    op: CmpOp,
    a: ExprId,
    b: ExprId,
) -> Pred {
    match cx.exprs.test(op, a, b) {
        Pred::Expr(expr) => Pred::Mutant(condition, expr),
        constant => constant,
    }
}
