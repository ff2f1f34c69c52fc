//! User: the labels that the user wrote at a place of the source.

use lydian_ir::stmt::MarkKind;

use super::{Annotator, Context};
use crate::criterion::Criterion;
use crate::formula::outcome_with;
use crate::label::{Pred, Site};

/// One objective for each label written. Its conditions are expressions on the state at its place;
/// where one traps it is unknown, which Kleene's logic resolves as short-circuit evaluation would.
pub(super) struct UserLabels;

impl Annotator for UserLabels {
    fn criterion(&self) -> Criterion {
        Criterion::User
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, mark) in cx.body.marks.iter() {
            let MarkKind::UserLabel { name, predicate } = &mark.kind else { continue };
            let pred = outcome_with(&predicate.tree, &|condition| {
                Pred::Expr(cx.exprs.canonical(predicate.conditions[condition].expr))
            });
            cx.push_written(Site::Mark(id), pred, mark.span, name.clone());
        }
    }
}
