//! DC, CC, DCC, MCC, GACC and GICC: predicates on the event of a decision's evaluation.

use lydian_ir::{Decision, DecisionId};

use super::clauses::deciding;
use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::decision::predicates::{active_conditions, conditions, outcome, signed};
use crate::label::{Pred, Site};

/// DC: each decision true and false.
pub(crate) struct DecisionCoverage;

impl Annotator for DecisionCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Dc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, decision) in cx.body.decisions.iter() {
            for value in [true, false] {
                let pred = signed(outcome(&cx.tree(id)), value);
                cx.push(Site::Decision(id), pred, decision.span, format!("{id} {value}"));
            }
        }
    }
}

/// CC: each condition true and false.
pub(crate) struct ConditionCoverage;

impl Annotator for ConditionCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Cc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, decision) in cx.body.decisions.iter() {
            for condition in conditions(&cx.tree(id)) {
                let span = decision.conditions[condition].span;
                for value in [true, false] {
                    let pred = signed(Pred::Cond(condition), value);
                    cx.push(Site::Decision(id), pred, span, format!("{id}.{condition} {value}"));
                }
            }
        }
    }
}

/// DCC: DC and CC.
pub(crate) struct DecisionConditionCoverage;

impl Annotator for DecisionConditionCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Dcc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        DecisionCoverage.annotate(cx);
        ConditionCoverage.annotate(cx);
    }
}

/// MCC: each combination of the values of a decision's conditions.
pub(crate) struct MultipleConditionCoverage;

impl Annotator for MultipleConditionCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Mcc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, decision) in cx.body.decisions.iter() {
            let count = conditions(&cx.tree(id)).len();
            let limit = cx.request.mcc_conditions.min(20) as usize;
            if count > limit {
                let message = format!(
                    "mcc has no objectives for a decision with {count} conditions: the limit is {limit}"
                );
                cx.warn("mcc-conditions", message, decision.span);
            } else if count > 0 {
                combinations(cx, id, decision);
            }
        }
    }
}

/// All combinations, from all true to all false, the last condition changing fastest.
fn combinations(cx: &mut Context<'_>, id: DecisionId, decision: &Decision) {
    let conditions = conditions(&cx.tree(id));
    // The first conditions with each combination of their values: predicates share them.
    let mut partial = vec![(format!("{id} "), Pred::Const(true))];
    for condition in conditions {
        let one_more = partial.into_iter().flat_map(|(name, pred)| {
            [(true, 'T'), (false, 'F')].map(|(value, letter)| {
                let pred = Pred::and(pred.clone(), signed(Pred::Cond(condition), value));
                (format!("{name}{letter}"), pred)
            })
        });
        partial = one_more.collect();
    }
    for (name, pred) in partial {
        cx.push(Site::Decision(id), pred, decision.span, name);
    }
}

/// GACC: each condition true and false while it decides the outcome. For conditions without a value
/// see [`super::clauses`].
pub(crate) struct ActiveClauseCoverage;

impl Annotator for ActiveClauseCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Gacc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, decision) in cx.body.decisions.iter() {
            for (condition, decides) in deciding(cx, &cx.tree(id)) {
                let span = decision.conditions[condition].span;
                for value in [true, false] {
                    let literal = signed(Pred::Cond(condition), value);
                    let name = format!("{id}.{condition} {value} decides");
                    cx.push(Site::Decision(id), Pred::and(literal, decides.clone()), span, name);
                }
            }
        }
    }
}

/// GICC: each condition true and false while it does not decide the outcome, the outcome being
/// true and being false (Ammann and Offutt). A condition that always decides, as the only one of a
/// decision and the operands of `^` do, has no inactive case and gets no objective.
pub(crate) struct InactiveClauseCoverage;

impl Annotator for InactiveClauseCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Gicc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, decision) in cx.body.decisions.iter() {
            for (condition, decides) in active_conditions(&cx.tree(id)) {
                let span = decision.conditions[condition].span;
                let inactive = Pred::not(decides);
                for (result, value) in [(true, true), (true, false), (false, true), (false, false)]
                {
                    let literal = signed(Pred::Cond(condition), value);
                    let result_pred = signed(outcome(&cx.tree(id)), result);
                    let pred = Pred::and(Pred::and(literal, inactive.clone()), result_pred);
                    let name = format!("{id}.{condition} {value} idle, {id} {result}");
                    cx.push(Site::Decision(id), pred, span, name);
                }
            }
        }
    }
}
