//! CACC, RACC, RICC and MCDC: pairs of evaluations of a decision ([002] Example 1 and V-D1, Ammann
//! and Offutt, [003]).
//!
//! With `d` the outcome, `c` the condition in question and `m1, m2, ...` the other ones:
//!
//! | criterion | per condition | hyperlabel |
//! |---|---|---|
//! | CACC | 1 | `< (c && c decides) \|> {r <- d} . (!c && c decides) \|> {r' <- d} \| r != r' >` |
//! | RACC | 1 | `< d \|> {ci <- ci ...} . !d \|> {ci' <- ci ...} \| c != c' && m1 == m1' && ... >` |
//! | RICC | 2 | the same with `d . d`, and with `!d . !d` |
//! | MCDC | 1 | `< (c not masked) && c \|> {r <- d} . (c not masked) && !c \|> {r' <- d} \| r != r' >` |
//!
//! RACC is written as in Example 1: if `c` alone differs and the outcome does, too, then `c` decides.
//! RICC is alike: if `c` alone differs and the outcome does not, then `c` is idle. A condition that
//! always decides, as both operands of `^` do, has no idle case and no objective for RICC.
//!
//! A condition that may trap or has an effect has no value where evaluation does not reach it, and a
//! predicate that depends on it is unknown there. So CACC and RACC cannot be covered for `p` in `p &&
//! p->x`: it is unknown whether `p` decides where it is null. MCDC can be covered, since masking does
//! not depend on conditions that were not reached.
//!
//! Under [`crate::annotate::Request::short_circuit`] a condition that evaluation does not reach has
//! no value. Its value is then free: a condition decides if some values of the conditions that were
//! not reached let it, and two evaluations agree on a condition unless both reached it with different
//! values. This is Table I of [003]. RACC is then the unique-cause MC/DC that compilers measure, and
//! CACC is MCDC.

use lydian_ir::{BoolTree, ConditionId, DecisionId};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text::shown;
use crate::criterion::Criterion;
use crate::decision::masking::unmasked_conditions;
use crate::decision::predicates::{active_conditions, conditions, outcome, signed};
use crate::hyper::{Binding, BoundValue, Formula, FormulaOp, Hyper};
use crate::label::{Pred, Site};

/// The most conditions of a decision for which `racc` and `ricc` make objectives, each of which
/// names all conditions.
pub const RESTRICTED_CONDITIONS: usize = 128;

/// CACC: each condition true and false while it decides the outcome, which differs.
pub(crate) struct CorrelatedActiveClauses;

impl Annotator for CorrelatedActiveClauses {
    fn criterion(&self) -> Criterion {
        Criterion::Cacc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for id in cx.body.decisions.ids() {
            for (condition, decides) in deciding(cx, &cx.tree(id)) {
                correlated(cx, id, condition, &decides);
            }
        }
    }
}

/// MCDC: each condition unmasked while true and while false, with different outcomes.
pub(crate) struct MaskingConditions;

impl Annotator for MaskingConditions {
    fn criterion(&self) -> Criterion {
        Criterion::Mcdc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for id in cx.body.decisions.ids() {
            for (condition, unmasked) in unmasked_conditions(&cx.tree(id)) {
                correlated(cx, id, condition, &unmasked);
            }
        }
    }
}

/// RACC: two evaluations that differ in one condition and in the outcome.
pub(crate) struct RestrictedActiveClauses;

impl Annotator for RestrictedActiveClauses {
    fn criterion(&self) -> Criterion {
        Criterion::Racc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for id in few_conditions(cx, Criterion::Racc) {
            for (condition, decides) in active_conditions(&cx.tree(id)) {
                if decides != Pred::Const(false) {
                    restricted(cx, id, condition, [true, false]);
                }
            }
        }
    }
}

/// RICC: two evaluations with one outcome that differ in one condition, for each outcome.
pub(crate) struct RestrictedInactiveClauses;

impl Annotator for RestrictedInactiveClauses {
    fn criterion(&self) -> Criterion {
        Criterion::Ricc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for id in few_conditions(cx, Criterion::Ricc) {
            for (condition, decides) in active_conditions(&cx.tree(id)) {
                if decides != Pred::Const(true) {
                    restricted(cx, id, condition, [true, true]);
                    restricted(cx, id, condition, [false, false]);
                }
            }
        }
    }
}

/// The decisions with few enough conditions that each condition can be compared with all others.
/// Warns of the other decisions.
fn few_conditions(cx: &mut Context<'_>, criterion: Criterion) -> Vec<DecisionId> {
    let body = cx.body;
    let mut few = Vec::new();
    for (id, decision) in body.decisions.iter() {
        let count = conditions(&cx.tree(id)).len();
        if count <= RESTRICTED_CONDITIONS {
            few.push(id);
        } else {
            let message = format!(
                "{criterion} has no objectives for a decision with {count} conditions: the limit \
                 is {RESTRICTED_CONDITIONS}"
            );
            cx.warn("restricted-conditions", message, decision.span);
        }
    }
    few
}

/// The predicate of each condition that is true where it decides the outcome.
pub(crate) fn deciding(cx: &Context<'_>, tree: &BoolTree) -> Vec<(ConditionId, Pred)> {
    if cx.request.short_circuit { unmasked_conditions(tree) } else { active_conditions(tree) }
}

/// Adds the objective of a condition that is true and false where `counts` holds, with different
/// outcomes.
fn correlated(cx: &mut Context<'_>, id: DecisionId, condition: ConditionId, counts: &Pred) {
    if *counts == Pred::Const(false) {
        return;
    }
    let decision = &cx.body.decisions[id];
    let span = decision.conditions[condition].span;
    let atoms = [(true, "r"), (false, "r'")].map(|(value, name)| {
        let pred = Pred::and(signed(Pred::Cond(condition), value), counts.clone());
        let label = cx.label(Site::Decision(id), pred, span);
        let outcome = BoundValue::Truth(outcome(&cx.tree(id)));
        Hyper::Atom(cx.atom(label, vec![Binding { name: name.to_owned(), value: outcome }]))
    });
    let guard = Formula::binary(FormulaOp::Ne, Formula::name("r"), Formula::name("r'"));
    let hyper = Hyper::Guard(Box::new(Hyper::All(atoms.into())), guard);
    let text = format!("{} decides {}", shown(cx, span), shown(cx, decision.span));
    cx.push_hyper(hyper, span, format!("{id}.{condition} decides"), text);
}

/// Adds the objective of two evaluations with these outcomes that differ in one condition alone.
/// There is none if the tree shows that an outcome cannot occur, as for labels.
fn restricted(cx: &mut Context<'_>, id: DecisionId, condition: ConditionId, outcomes: [bool; 2]) {
    let decision = &cx.body.decisions[id];
    let tree = cx.tree(id);
    let whole = outcome(&tree);
    if outcomes.iter().any(|value| signed(whole.clone(), *value) == Pred::Const(false)) {
        return;
    }
    let span = decision.conditions[condition].span;
    let free = cx.request.short_circuit;
    let atoms = outcomes.into_iter().zip(["", "'"]).map(|(value, prime)| {
        let pred = signed(whole.clone(), value);
        let label = cx.label(Site::Decision(id), pred, decision.span);
        Hyper::Atom(cx.atom(label, bind_all(&tree, free, prime)))
    });
    let hyper = Hyper::All(atoms.collect());
    let guard = differ_in(&tree, free, condition);
    let active = outcomes[0] != outcomes[1];
    let (verb, name) = match (active, outcomes[0]) {
        (true, _) => ("decides", format!("{id}.{condition} alone decides")),
        (false, result) => ("is idle for", format!("{id}.{condition} alone idle, {id} {result}")),
    };
    let text = format!("{} alone {verb} {}", shown(cx, span), shown(cx, decision.span));
    cx.push_hyper(Hyper::Guard(Box::new(hyper), guard), span, name, text);
}

/// Binds each condition's value; where conditions may be free, also whether it was reached.
fn bind_all(tree: &BoolTree, free: bool, prime: &str) -> Vec<Binding> {
    let mut bindings = Vec::new();
    for condition in conditions(tree) {
        let value = Pred::Cond(condition);
        let bound = if free {
            let reached = Pred::Reached(condition);
            let name = format!("r{}{prime}", number(condition));
            bindings.push(Binding { name, value: BoundValue::Truth(reached.clone()) });
            Pred::and(reached, value)
        } else {
            value
        };
        bindings
            .push(Binding { name: value_name(condition, prime), value: BoundValue::Truth(bound) });
    }
    bindings
}

fn number(condition: ConditionId) -> usize {
    lydian_base::EntityId::index(condition)
}

fn value_name(condition: ConditionId, prime: &str) -> String {
    format!("c{}{prime}", number(condition))
}

/// The formula that two evaluations differ in a condition and agree on all others.
fn differ_in(tree: &BoolTree, free: bool, condition: ConditionId) -> Formula {
    let name = |c: ConditionId, prime: &str| Formula::Name(value_name(c, prime));
    let reached = |c: ConditionId, prime: &str| Formula::Name(format!("r{}{prime}", number(c)));
    let differs = Formula::binary(FormulaOp::Ne, name(condition, ""), name(condition, "'"));
    let both = [reached(condition, ""), reached(condition, "'")];
    let first = if free { both.into_iter().fold(differs, Formula::and) } else { differs };
    let others = conditions(tree).into_iter().filter(|other| *other != condition);
    others.fold(first, |all, other| {
        let agree = Formula::binary(FormulaOp::Eq, name(other, ""), name(other, "'"));
        let agree = if free {
            let unreached = |prime| Formula::Not(Box::new(reached(other, prime)));
            Formula::or(Formula::or(unreached(""), unreached("'")), agree)
        } else {
            agree
        };
        Formula::and(all, agree)
    })
}
