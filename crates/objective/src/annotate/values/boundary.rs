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
use rustc_hash::FxHashSet;

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
        let mut seen = FxHashSet::default();
        for root in cx.body.source.roots.values().filter(|root| root.rewritable) {
            // A condition whose text is lowered more than once is still one condition.
            if let RootKind::Condition { decision, condition } = root.kind
                && seen.insert((decision, condition))
                && !cx.exprs.reads_volatile(root.expr)
            {
                border(cx, root, decision, condition);
            }
        }
    }
}

/// The side of the border on which a value lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

fn border(cx: &mut Context<'_>, root: &Root, decision: DecisionId, condition: ConditionId) {
    let Expr::Cmp(op, a, b) = cx.exprs.arena()[root.expr] else { return };
    if !is_written(cx, root.expr, &[a, b]) {
        return;
    }
    let always = always_reached(&cx.tree(decision));
    let arrives = reached(&always, condition);
    let push = |cx: &mut Context<'_>, pred: Pred, name: &str| {
        let name = format!("{decision}.{condition} {name}");
        cx.push(Site::Decision(decision), Pred::and(arrives.clone(), pred), root.span, name);
    };
    let equal = if op.is_float() { CmpOp::FEq } else { CmpOp::Eq };
    let at = mutant(cx, condition, equal, a, b);
    push(cx, at, "at the border");
    let signed = match (op, compared_as(cx, a, b)) {
        (_, Reading::Float | Reading::None) => return,
        (CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS, _) => true,
        (CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU, _) => false,
        (_, reading) => reading == Reading::Signed,
    };
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
        let pred = beside(cx, condition, side, signed, (a, b));
        push(cx, pred, name);
    }
}

/// The predicate that `a` is next to `b` on one side. A comparison excludes values that have wrapped.
fn beside(
    cx: &mut Context<'_>,
    condition: ConditionId,
    side: Side,
    signed: bool,
    (a, b): (ExprId, ExprId),
) -> Pred {
    let (order, step) = match (side, signed) {
        (Side::Below, true) => (CmpOp::LtS, BinOp::SubU),
        (Side::Below, false) => (CmpOp::LtU, BinOp::SubU),
        (Side::Above, true) => (CmpOp::GtS, BinOp::AddU),
        (Side::Above, false) => (CmpOp::GtU, BinOp::AddU),
    };
    let one = cx.exprs.int(cx.exprs.type_of(b), 1);
    let next = cx.exprs.binary(step, b, one);
    let ordered = mutant(cx, condition, order, a, b);
    Pred::and(mutant(cx, condition, CmpOp::Eq, a, next), ordered)
}

/// A comparison, evaluated where the condition is.
fn mutant(cx: &mut Context<'_>, condition: ConditionId, op: CmpOp, a: ExprId, b: ExprId) -> Pred {
    match cx.exprs.test(op, a, b) {
        Pred::Expr(expr) => Pred::Mutant(condition, expr),
        constant => constant,
    }
}
