//! User, HTOL and SPC: the labels that the user wrote at a place of the source, and the hyperlabels
//! and paths of `.htol` files and of comments.

use lydian_ir::stmt::MarkKind;

use super::points;
use super::trees::{self, Objective};
use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::htol::HtolError;
use crate::htol::references::References;
use crate::label::Site;

/// User: one objective for each label in the source. Its conditions are expressions on the state at
/// its place. A condition that traps is unknown, and Kleene's logic resolves it as short-circuit
/// evaluation would.
pub(crate) struct UserLabels;

impl Annotator for UserLabels {
    fn criterion(&self) -> Criterion {
        Criterion::User
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for (id, mark) in cx.body.marks.iter() {
            let MarkKind::UserLabel { name, .. } = &mark.kind else { continue };
            if let Some(pred) = points::user_predicate(cx, id) {
                cx.push_unconditionally(Site::Mark(id), pred, mark.span, name.clone());
            }
        }
    }
}

/// HTOL: the hyperlabels of `.htol` files and of comments that are about the function.
pub(crate) struct UserHyperlabels;

impl Annotator for UserHyperlabels {
    fn criterion(&self) -> Criterion {
        Criterion::Htol
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        push_written(cx, trees::objectives);
    }
}

/// SPC: the paths of `.htol` files and of comments that are about the function.
pub(crate) struct SpecifiedPaths;

impl Annotator for SpecifiedPaths {
    fn criterion(&self) -> Criterion {
        Criterion::Spc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        push_written(cx, trees::paths);
    }
}

/// Makes objectives of a file's items about the function of a context.
type Make = fn(&mut Context<'_>, &References<'_>, usize) -> (Vec<Objective>, Vec<HtolError>);

fn push_written(cx: &mut Context<'_>, make: Make) {
    let references = &cx.shared.references;
    for (index, file) in cx.request.htol.iter().enumerate() {
        let (objectives, errors) = make(cx, references, index);
        for Objective { name, hyper, span, text } in objectives {
            cx.push_hyper(hyper, span, name, text);
        }
        cx.diagnostics.extend(errors.iter().map(|error| file.diagnostic(error)));
    }
}
