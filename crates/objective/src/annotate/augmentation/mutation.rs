//! Mutants, [004] 4.2, equation (3): the original and its mutant have different values.
//!
//! The operators are ROR, LOR, AOR, UOI and CRO of the paper, and SOR, which replaces a shift. What the
//! paper calls LOR is COR in [000] for `&&` and `||`; both are here under the names of their operators:
//! `&&` and `||` become each other and `^`, and so do `&` and `|`. UOI and CRO mutate variables and
//! constants alike; in the criterion `wm` UOI leaves constants alone and CRO variables.
//!
//! The paper mutates the terms of a path condition, in which assignments have been substituted. Here a
//! mutant of a condition changes the outcome of its decision, and a mutant of any other expression
//! changes the value of that expression where it is evaluated: every operator of a path is mutated
//! once where it is written, and not once for each term that it flows into.

use lydian_base::Span;
use lydian_ir::source::{Root, RootId, RootKind};
use lydian_ir::{BoolTree, DecisionId};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text::shown;
use crate::annotate::values::mutation::{
    DecidingPredicates, Mutant, mutants_of_condition, mutants_with_leaves_alike,
};
use crate::criterion::Criterion;
use crate::decision::predicates::{for_each_node, outcome};
use crate::label::{Pred, Site};

/// The mutation operators of which names of mutants begin.
const OPERATORS: [&str; 6] = ["AOR", "ROR", "LOR", "SOR", "UOI", "CRO"];

pub(in crate::annotate) struct AugmentedMutants;

impl Annotator for AugmentedMutants {
    fn criterion(&self) -> Criterion {
        Criterion::AugMutation
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        let mut decides = DecidingPredicates::default();
        for (id, root) in cx.rewritable_roots() {
            match root.kind {
                RootKind::Condition { decision, condition } => {
                    let decides = decides.get(cx, decision, condition);
                    let (mutants, prefix) = (chosen_mutants(cx, root), prefix(cx, root.span));
                    let of = (decision, condition);
                    mutants_of_condition(cx, root, of, &decides, mutants, &prefix);
                }
                RootKind::Value
                | RootKind::Address
                | RootKind::Assigned { .. }
                | RootKind::Update => mutants_of_value(cx, id, root),
            }
        }
        body.decisions.ids().for_each(|decision| mutants_of_connectives(cx, decision));
    }
}

/// The mutants of an expression by the operators of this criterion.
fn chosen_mutants(cx: &mut Context<'_>, root: &Root) -> Vec<Mutant> {
    let mut all = mutants_with_leaves_alike(cx, root);
    all.retain(|mutant| OPERATORS.iter().any(|operator| mutant.name.starts_with(operator)));
    all
}

/// The beginning of the names of an expression's mutants.
fn prefix(cx: &Context<'_>, span: Span) -> String {
    format!("mutant of {}: ", shown(cx, span))
}

fn mutants_of_value(cx: &mut Context<'_>, id: RootId, root: &Root) {
    for Mutant { expr, name, span } in chosen_mutants(cx, root) {
        let pred = cx.exprs.differ(root.expr, expr);
        let name = format!("{}{name}", prefix(cx, root.span));
        cx.push(Site::Root(id), pred, span, name);
    }
}

/// Each `&&` and `||` replaced by the other one and by `^`.
fn mutants_of_connectives(cx: &mut Context<'_>, id: DecisionId) {
    let mut found = Vec::new();
    for_each_node(&cx.tree(id), &mut |node, decides| {
        let (symbol, other, a, b) = match node {
            BoolTree::And(a, b) => ("&&", "||", outcome(a), outcome(b)),
            BoolTree::Or(a, b) => ("||", "&&", outcome(a), outcome(b)),
            _ => return,
        };
        // `&&` and `^` differ where `||` is true; `||` and `^` differ where `&&` is.
        let from_xor = match symbol {
            "&&" => Pred::or(a.clone(), b.clone()),
            _ => Pred::and(a.clone(), b.clone()),
        };
        for (new, differs) in [(other, Pred::xor(a, b)), ("^", from_xor)] {
            found.push((Pred::and(differs, decides.clone()), format!("LOR {symbol} -> {new}")));
        }
    });
    let span = cx.body.decisions[id].span;
    for (pred, name) in found {
        let name = format!("{}{name}", prefix(cx, span));
        cx.push(Site::Decision(id), pred, span, name);
    }
}
