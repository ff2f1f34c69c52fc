//! IC, UTPC and CUTPNFP: criteria over a minimal DNF of a decision and of its negation (Ammann and
//! Offutt; [002] Table II).
//!
//! | criterion | objective for | what it asks |
//! |---|---|---|
//! | IC | each implicant | it is true |
//! | UTPC | each implicant | it is true and all others of its form are false: a unique true point |
//! | CUTPNFP | each literal of each implicant | a unique true point, and a point where the form is false that differs from it in this literal alone |
//!
//! The pair of CUTPNFP is a hyperlabel: the near false point has the implicant's other literals by
//! its predicate, and a guard asks for equal values of the conditions that the implicant does not
//! name. Among several minimal forms [`crate::decision::dnf`] takes a fixed one. If it reaches a
//! limit, the decision gets no objectives and a warning.

use std::rc::Rc;

use lydian_ir::{BoolTree, ConditionId, Decision, DecisionId};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text;
use crate::criterion::Criterion;
use crate::decision::dnf::{Implicant, minimal};
use crate::decision::predicates::{conditions, outcome, signed};
use crate::hyper::{Binding, BoundValue, Formula, FormulaOp, Hyper};
use crate::label::{Pred, Site};

/// IC: each implicant true.
pub(crate) struct ImplicantCoverage;

impl Annotator for ImplicantCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Ic
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for_each_implicant(cx, Criterion::Ic, |cx, form, at| {
            let pred = form.preds[at].clone();
            let name = form.name(at);
            cx.push(Site::Decision(form.id), pred, form.decision.span, name);
        });
    }
}

/// UTPC: a unique true point of each implicant.
pub(crate) struct UniqueTruePoints;

impl Annotator for UniqueTruePoints {
    fn criterion(&self) -> Criterion {
        Criterion::Utpc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for_each_implicant(cx, Criterion::Utpc, |cx, form, at| {
            let name = format!("{} alone", form.name(at));
            let pred = form.unique(at);
            cx.push(Site::Decision(form.id), pred, form.decision.span, name);
        });
    }
}

/// CUTPNFP: a unique true point and a near false point for each literal of each implicant.
pub(crate) struct NearFalsePoints;

impl Annotator for NearFalsePoints {
    fn criterion(&self) -> Criterion {
        Criterion::Cutpnfp
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for_each_implicant(cx, Criterion::Cutpnfp, |cx, form, at| {
            for (condition, _) in &form.implicants[at].literals {
                pair(cx, form, at, *condition);
            }
        });
    }
}

/// The minimal form of a decision or of its negation.
struct Form<'b> {
    id: DecisionId,
    tree: Rc<BoolTree>,
    decision: &'b Decision,
    /// Whether it is of the decision itself.
    value: bool,
    implicants: Vec<Implicant>,
    /// The predicates that the implicants are true. Objectives share them: a form of `n` implicants
    /// has unique true points of `n * n` implicants.
    preds: Vec<Pred>,
    /// The predicates that they are false.
    negations: Vec<Pred>,
}

impl Form<'_> {
    /// An implicant in the names of conditions, such as `d0 c0 !c2`, or `!d0 c1`.
    fn name(&self, at: usize) -> String {
        let mut name = format!("{}{}", if self.value { "" } else { "!" }, self.id);
        for (condition, value) in &self.implicants[at].literals {
            name += if *value { " " } else { " !" };
            name += &condition.to_string();
        }
        name
    }

    /// The predicate that an implicant is true and all others are false.
    fn unique(&self, at: usize) -> Pred {
        let others = self.negations.iter().enumerate().filter(|(other, _)| *other != at);
        others.fold(self.preds[at].clone(), |all, (_, other)| Pred::and(all, other.clone()))
    }
}

/// Calls `visit` with each implicant of each decision's form, then of its negation's.
fn for_each_implicant(
    cx: &mut Context<'_>,
    criterion: Criterion,
    visit: impl Fn(&mut Context<'_>, &Form<'_>, usize),
) {
    let body = cx.body;
    for (id, decision) in body.decisions.iter() {
        for value in [true, false] {
            let tree = cx.tree(id);
            match minimal(&tree, value) {
                Ok(implicants) => {
                    let preds: Vec<Pred> = implicants.iter().map(Implicant::pred).collect();
                    let negations = preds.iter().cloned().map(Pred::not).collect();
                    let form = Form { id, decision, tree, value, implicants, preds, negations };
                    (0..form.implicants.len()).for_each(|at| visit(cx, &form, at));
                }
                Err(error) => {
                    let of = if value { "a decision" } else { "the negation of a decision" };
                    let message = format!("{criterion} has no objectives for {of}: {error}");
                    cx.warn("dnf-limit", message, decision.span);
                }
            }
        }
    }
}

fn pair(cx: &mut Context<'_>, form: &Form<'_>, at: usize, condition: ConditionId) {
    let implicant = &form.implicants[at];
    let flipped = implicant.with_flipped(condition).pred();
    let near = Pred::and(flipped, signed(outcome(&form.tree), !form.value));
    let free: Vec<ConditionId> = {
        let all = conditions(&form.tree).into_iter();
        all.filter(|condition| !implicant.has(*condition)).collect()
    };
    let name = |condition: ConditionId, prime: &str| format!("{condition}{prime}");
    let bind = |prime: &str| -> Vec<Binding> {
        let bound = |c: &ConditionId| Binding {
            name: name(*c, prime),
            value: BoundValue::Truth(Pred::Cond(*c)),
        };
        free.iter().map(bound).collect()
    };
    let span = form.decision.conditions[condition].span;
    let atoms = [(form.unique(at), ""), (near, "'")].map(|(pred, prime)| {
        let label = cx.label(Site::Decision(form.id), pred, form.decision.span);
        Hyper::Atom(cx.atom(label, bind(prime)))
    });
    let agree = |c: &ConditionId| {
        let names = (Formula::Name(name(*c, "")), Formula::Name(name(*c, "'")));
        Formula::binary(FormulaOp::Eq, names.0, names.1)
    };
    let mut hyper = Hyper::All(atoms.into());
    if let Some(guard) = free.iter().map(agree).reduce(Formula::and) {
        hyper = Hyper::Guard(Box::new(hyper), guard);
    }
    let shown = form.name(at);
    let text = format!("{} alone makes {shown} false", text::shown(cx, span));
    cx.push_hyper(hyper, span, format!("{shown} by {condition}"), text);
}
