//! Clauses, [004] 4.3: general active (4), correlated active, and general inactive clause coverage.
//!
//! | form | transformed conditions of a decision `P` and a condition `C` of it |
//! |---|---|
//! | active (GACC, CACC) | `C` decides `P`; `P` true, `P` false |
//! | inactive (GICC) | `C` does not decide `P`; each combination of the values of `C` and `P` |
//!
//! Where `C` occurs below `&&`, `||` and `!` alone, its value follows from that of `P` where it decides.
//! Then the two active conditions are a pair of both GACC and CACC. Below `==`, `^` and in the test of
//! `?:` it does not follow. The paper then adds to the second of a pair of conditions the value that the
//! first left. Here all four combinations of `C` and `P` stand for themselves, so that a pair of CACC is
//! there whichever combination came first.

use lydian_ir::{BoolTree, ConditionId, DecisionId};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::logic::clauses::deciding;
use crate::annotate::text::shown;
use crate::criterion::Criterion;
use crate::decision::predicates::{active_conditions, outcome, signed};
use crate::label::{Pred, Site};

pub(in crate::annotate) struct AugmentedClauses;

impl Annotator for AugmentedClauses {
    fn criterion(&self) -> Criterion {
        Criterion::AugLogic
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for decision in cx.body.decisions.ids() {
            for (condition, decides) in deciding(cx, &cx.tree(decision)) {
                active(cx, decision, condition, &decides);
            }
            for (condition, decides) in active_conditions(&cx.tree(decision)) {
                inactive(cx, decision, condition, decides);
            }
        }
    }
}

/// The four combinations of the values of a condition and of its decision.
const COMBINATIONS: [(bool, bool); 4] =
    [(true, true), (true, false), (false, true), (false, false)];

fn active(cx: &mut Context<'_>, id: DecisionId, condition: ConditionId, decides: &Pred) {
    let tree = cx.tree(id);
    let polarity = polarity(&tree, condition);
    for (value, result) in COMBINATIONS {
        let literal = Pred::and(signed(Pred::Cond(condition), value), decides.clone());
        let pred = match polarity {
            // The outcome follows.
            Some(same) if (value == same) == result => literal,
            Some(_) => continue,
            None => Pred::and(literal, signed(outcome(&tree), result)),
        };
        push(cx, (id, condition), pred, (value, "decides", result));
    }
}

fn inactive(cx: &mut Context<'_>, id: DecisionId, condition: ConditionId, decides: Pred) {
    let inactive = Pred::not(decides);
    for (value, result) in COMBINATIONS {
        let literal = signed(Pred::Cond(condition), value);
        let outcome = signed(outcome(&cx.tree(id)), result);
        let pred = Pred::and(Pred::and(literal, inactive.clone()), outcome);
        push(cx, (id, condition), pred, (value, "does not decide", result));
    }
}

fn push(
    cx: &mut Context<'_>,
    (id, condition): (DecisionId, ConditionId),
    pred: Pred,
    (value, verb, result): (bool, &str, bool),
) {
    let decision = &cx.body.decisions[id];
    let span = decision.conditions[condition].span;
    let (clause, whole) = (shown(cx, span), shown(cx, decision.span));
    let name = format!("clause {clause}: {value} {verb} {whole}, {result}");
    cx.push(Site::Decision(id), pred, span, name);
}

/// Whether a condition that decides has the value of its decision, where that follows from the tree.
fn polarity(tree: &BoolTree, condition: ConditionId) -> Option<bool> {
    let has = |tree: &BoolTree| {
        let mut found = false;
        tree.for_each_condition(&mut |other| found |= other == condition);
        found
    };
    match tree {
        BoolTree::Cond(_) => Some(true),
        BoolTree::Not(a) => polarity(a, condition).map(|same| !same),
        BoolTree::And(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b) => polarity(if has(a) { a } else { b }, condition),
        BoolTree::Ite(test, a, b) if !has(test) => polarity(if has(a) { a } else { b }, condition),
        BoolTree::Const(_) | BoolTree::Eq(..) | BoolTree::Xor(..) | BoolTree::Ite(..) => None,
    }
}
