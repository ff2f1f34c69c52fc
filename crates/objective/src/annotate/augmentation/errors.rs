//! Error conditions, [004] 4.4, equation (5): for each operation that can fail, a condition under which it
//! does, and one under which it does not. Which operations can fail, and when, is defined by
//! [`super::super::values::runtime`]: divisions, overflows, shifts, indices, accesses through pointers, and
//! conversions of floats.

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text::shown;
use crate::annotate::values::runtime::{PossibleError, for_each_error};
use crate::criterion::Criterion;
use crate::label::{Pred, Site};

pub(in crate::annotate) struct AugmentedErrors;

impl Annotator for AugmentedErrors {
    fn criterion(&self) -> Criterion {
        Criterion::AugErrors
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for_each_error(cx, &mut |cx, PossibleError { site, pred, span, name }| {
            // An error that cannot happen is no condition on the inputs.
            if matches!(pred, Pred::Const(_)) {
                return;
            }
            let text = shown(cx, span);
            let absent = Pred::not(pred.clone());
            cx.push(Site::Root(site), pred, span, format!("error in {text}: {name}"));
            cx.push(Site::Root(site), absent, span, format!("error in {text}: no {name}"));
        });
    }
}
