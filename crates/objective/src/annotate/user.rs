//! User, HTOL and SPC: the labels that the user wrote at a place of the source, and the hyperlabels
//! and paths of `.htol` files and of comments.

use lydian_ir::MarkId;
use lydian_ir::stmt::MarkKind;

use super::{Annotator, Context};
use crate::criterion::Criterion;
use crate::formula::outcome_with;
use crate::htol::{self, HtolError, Objective};
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
            let MarkKind::UserLabel { name, .. } = &mark.kind else { continue };
            if let Some(pred) = cx.user_predicate(id) {
                cx.push_written(Site::Mark(id), pred, mark.span, name.clone());
            }
        }
    }
}

/// HTOL: the hyperlabels of `.htol` files and of comments that are about the function.
pub(super) struct UserHyperlabels;

impl Annotator for UserHyperlabels {
    fn criterion(&self) -> Criterion {
        Criterion::Htol
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        push_written(cx, htol::objectives);
    }
}

/// SPC: the paths of `.htol` files and of comments that are about the function.
pub(super) struct SpecifiedPaths;

impl Annotator for SpecifiedPaths {
    fn criterion(&self) -> Criterion {
        Criterion::Spc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        push_written(cx, htol::paths);
    }
}

/// Makes objectives of a file's items about the function of a context.
type Make = fn(&mut Context<'_>, &htol::Written<'_>, usize) -> (Vec<Objective>, Vec<HtolError>);

fn push_written(cx: &mut Context<'_>, make: Make) {
    let written = cx.of.written();
    for (index, file) in cx.request.htol.iter().enumerate() {
        let (objectives, errors) = make(cx, written, index);
        for Objective { name, hyper, span, text } in objectives {
            cx.push_hyper(hyper, span, name, text);
        }
        cx.diagnostics.extend(errors.iter().map(|error| file.diagnostic(error)));
    }
}

impl Context<'_> {
    /// The predicate of a label that the user wrote at a mark.
    pub(crate) fn user_predicate(&self, mark: MarkId) -> Option<Pred> {
        let MarkKind::UserLabel { predicate, .. } = &self.body.marks[mark].kind else {
            return None;
        };
        Some(outcome_with(&predicate.tree, &|condition| {
            Pred::Expr(self.exprs.canonical(predicate.conditions[condition].expr))
        }))
    }
}
