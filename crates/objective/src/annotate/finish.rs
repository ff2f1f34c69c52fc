//! From the drafts of an annotated function to its objectives, with texts and keys.

use indexmap::IndexMap;
use lydian_base::{Arena, Diagnostic, Span};
use lydian_ir::ctext::UserC;

use super::context::{Context, HyperDraft, LabelDraft};
use super::text;
use crate::criterion::Criterion;
use crate::fingerprint::KeyMaker;
use crate::hyper::{HyperEntry, Hyperlabel};
use crate::label::{Label, LabelEntry, LabelId, Pred, Site};
use crate::objectives::FunctionObjectives;

/// The objectives of a function, and warnings about those that are missing.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The objectives.
    pub objectives: FunctionObjectives,
    /// Warnings about objectives that were left out.
    pub diagnostics: Vec<Diagnostic>,
}

impl Context<'_> {
    /// The text to show for a label. Criteria that share a label give different texts for it. This
    /// text follows from the label alone, so it does not depend on the order of the criteria.
    fn shown_span(&self, site: Site, pred: &Pred, pushed: Span) -> Span {
        match site {
            Site::Decision(id) => {
                let decision = &self.body.decisions[id];
                let first = pred.first_condition();
                first.map_or(decision.span, |condition| decision.conditions[condition].span)
            }
            Site::Root(id) if matches!(pred, Pred::Const(_)) => self.body.source.roots[id].span,
            _ => pushed,
        }
    }

    /// Gives each label its text and key.
    fn labels(
        &self,
        drafts: Arena<LabelId, LabelDraft>,
        keys: &mut KeyMaker,
    ) -> Arena<LabelId, Label> {
        let temporaries = text::temporaries(self);
        let spelled = |expr| text::spelled(self, &temporaries, expr);
        let user = UserC::new(self.program, self.body, self.exprs.arena(), &spelled);
        let conditions = text::Conditions::default();
        let labels = drafts.into_values().map(|LabelDraft { site, pred, span }| {
            let span = self.shown_span(site, &pred, span);
            Label {
                text: text::predicate(self, &user, &conditions, site, &pred).into(),
                place: self.map.place(span.start),
                key: keys.key(self.program, self.exprs.arena(), site, &pred),
                site,
                pred,
            }
        });
        labels.collect()
    }

    /// Gives labels and hyperlabels their texts and keys. `criteria` and `hyper_criteria` have the
    /// entries of the criteria that were asked for.
    pub(super) fn finish(
        mut self,
        criteria: IndexMap<Criterion, Vec<LabelEntry>>,
        hyper_criteria: IndexMap<Criterion, Vec<HyperEntry>>,
    ) -> Annotation {
        let func = self.id();
        let mut keys = KeyMaker::new(self.program, self.map, func);
        let drafts = std::mem::take(&mut self.drafts);
        let labels = self.labels(drafts, &mut keys);
        let sequences = std::mem::take(&mut self.sequences);
        let hypers = std::mem::take(&mut self.hypers);
        let hypers = hypers.into_values().map(|HyperDraft { hyper, text, span }| Hyperlabel {
            key: keys.hyper_key(func, &labels, &sequences, &hyper),
            place: self.map.place(span.start),
            hyper,
            text,
        });
        let hypers = hypers.collect();
        let exprs = self.exprs.finish();
        let objectives = FunctionObjectives {
            function: func,
            exprs,
            labels,
            criteria,
            sequences,
            hypers,
            hyper_criteria,
        };
        Annotation { objectives, diagnostics: self.diagnostics }
    }
}
