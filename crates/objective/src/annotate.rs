//! Annotators: from a function to the labels of each criterion.
//!
//! A criterion is a labelling function ([000] III-B). Each is an [`Annotator`] that adds objectives
//! (a site, a predicate and a name) in its own order; [`annotate`] gives each its label, marks the
//! duplicates within a criterion and lets criteria share labels.
//!
//! | criterion | objectives |
//! |---|---|
//! | `fc` | the function's entry |
//! | `stmt` | each statement: its mark |
//! | `bbc` | each block that holds a statement's mark: the first one in it; and each condition that begins a block, being evaluated only for some values of those before it |
//! | `bc` | each edge of a decision: each condition reached and true, reached and false; each edge of a `switch`, the implicit `default` too |
//! | `dc` | each decision true, false |
//! | `cc` | each condition true, false |
//! | `dcc` | those of `dc`, then those of `cc`; a decision of one condition counts once |
//! | `mcc` | each combination of a decision's `n` conditions, 2^n of them |
//! | `gacc` | each condition true, false, while it decides the outcome |
//! | `gicc` | each condition true, false, while it does not decide the outcome, for each outcome |
//! | `wm` | one a mutant ([`mutation`]) |
//! | `idc` | the classes of each parameter ([`domain`]) |
//! | `rte` | one a run-time error that an expression can have ([`runtime`]) |
//! | `user` | the labels that the user wrote |

use indexmap::IndexMap;
use lydian_base::{Diagnostic, SourceMap, Span};
use lydian_ir::stmt::MarkKind;
use lydian_ir::{Body, ExprId, FuncId, Function, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::criterion::Criterion;
use crate::fingerprint::KeyMaker;
use crate::label::{Entry, FunctionObjectives, Label, LabelId, Pred, Site};
use exprs::ExprBuilder;

mod control;
pub mod domain;
mod exprs;
mod initialised;
mod logic;
pub mod mutation;
pub mod runtime;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod user;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The criteria, in the order of the result. A criterion named twice counts once.
    pub criteria: Vec<Criterion>,
    /// The most conditions for which `mcc` makes objectives, since their number is 2^n. A decision
    /// with more gets none, and a warning. At most 20.
    pub mcc_conditions: u32,
    /// The most other variables that `wm` puts in the place of an assigned one.
    pub replaced_targets: usize,
}

impl Request {
    /// These criteria with the usual limits: 16 conditions, 4 other variables.
    pub fn new(criteria: impl Into<Vec<Criterion>>) -> Self {
        Self { criteria: criteria.into(), mcc_conditions: 16, replaced_targets: 4 }
    }
}

/// The objectives of a function, and what the user should know about those that are missing.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The objectives.
    pub objectives: FunctionObjectives,
    /// Warnings about what was left out.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a function has no objectives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotateError {
    /// The function is only declared, or its body holds something that is not supported.
    #[error("the function `{0}` has no body to put objectives on")]
    NoBody(String),
}

/// One criterion's labelling function.
pub trait Annotator: Sync {
    /// The criterion.
    fn criterion(&self) -> Criterion;
    /// Adds the function's objectives, in an order that follows from the program alone.
    fn annotate(&self, cx: &mut Context<'_>);
}

/// Every criterion's annotator, in the order of [`Criterion::ALL`].
pub const ANNOTATORS: [&dyn Annotator; 14] = [
    &control::FunctionCoverage,
    &control::StatementCoverage,
    &control::BlockCoverage,
    &control::BranchCoverage,
    &logic::DecisionCoverage,
    &logic::ConditionCoverage,
    &logic::DecisionConditionCoverage,
    &logic::MultipleConditionCoverage,
    &logic::ActiveClauseCoverage,
    &logic::InactiveClauseCoverage,
    &mutation::WeakMutation,
    &domain::InputDomainCoverage,
    &runtime::RuntimeErrorCoverage,
    &user::UserLabels,
];

/// Makes the objectives of one function for the criteria asked for.
///
/// `map` is the text that the program was lowered from. Deterministic: equal arguments give equal
/// results, and neither labels' keys nor their texts depend on which criteria are asked for.
///
/// # Errors
/// A function without a body has no objectives.
pub fn annotate(
    program: &Program,
    map: &SourceMap,
    func: FuncId,
    request: &Request,
) -> Result<Annotation, AnnotateError> {
    let function = &program.functions[func];
    let body = function.body.as_ref();
    let body = body.ok_or_else(|| AnnotateError::NoBody(function.name.clone()))?;
    let mut cx = Context {
        program,
        map,
        function,
        body,
        request,
        exprs: ExprBuilder::new(body),
        updates: text::updates(body),
        found: Vec::new(),
        diagnostics: Vec::new(),
    };
    let mut per_criterion = IndexMap::new();
    for criterion in &request.criteria {
        if per_criterion.contains_key(criterion) {
            continue;
        }
        for annotator in ANNOTATORS.iter().filter(|a| a.criterion() == *criterion) {
            annotator.annotate(&mut cx);
        }
        per_criterion.insert(*criterion, std::mem::take(&mut cx.found));
    }
    Ok(cx.finish(func, per_criterion))
}

/// What an annotator sees of the function, and where it puts its objectives.
pub struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) map: &'a SourceMap,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) request: &'a Request,
    pub(crate) exprs: ExprBuilder<'a>,
    /// The expressions whose text is that of an update.
    updates: FxHashSet<ExprId>,
    found: Vec<Objective>,
    diagnostics: Vec<Diagnostic>,
}

/// An objective before it has a label.
struct Objective {
    site: Site,
    pred: Pred,
    span: Span,
    name: String,
}

impl Context<'_> {
    /// Adds an objective. `span` is the text to show for it. One whose predicate is constantly
    /// false says nothing about the program, and is left out.
    pub(crate) fn push(&mut self, site: Site, pred: Pred, span: Span, name: impl Into<String>) {
        if pred != Pred::Const(false) {
            self.push_written(site, pred, span, name.into());
        }
    }

    /// Adds an objective, whatever its predicate: the user wrote it so.
    fn push_written(&mut self, site: Site, pred: Pred, span: Span, name: String) {
        self.found.push(Objective { site, pred, span, name });
    }

    /// Tells the user something about a place of the text.
    pub(crate) fn warn(&mut self, code: &'static str, message: String, span: Span) {
        let place = self.map.place(span.start);
        self.diagnostics.push(Diagnostic::warning(code, message).at(place));
    }

    /// The statements' marks in the order of the source.
    pub(crate) fn statement_marks(&self) -> impl Iterator<Item = (lydian_ir::MarkId, Span)> + '_ {
        let marks = self.body.marks.iter();
        marks.filter(|(_, mark)| mark.kind == MarkKind::Statement).map(|(id, mark)| (id, mark.span))
    }

    /// The text to show for a label. Criteria that share a label name different texts for it; this
    /// one follows from the label, so that it does not hang on which criterion came first.
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

    /// Gives each objective its label.
    fn finish(
        mut self,
        func: FuncId,
        per_criterion: IndexMap<Criterion, Vec<Objective>>,
    ) -> Annotation {
        let mut labels = lydian_base::Arena::new();
        let mut known: FxHashMap<(Site, Pred), LabelId> = FxHashMap::default();
        let mut keys = KeyMaker::new(self.program, self.map, func);
        let mut criteria = IndexMap::new();
        for (criterion, found) in per_criterion {
            let mut entries: Vec<Entry> = Vec::with_capacity(found.len());
            let mut first: FxHashMap<LabelId, u32> = FxHashMap::default();
            for Objective { site, pred, span, name } in found {
                let label = *known.entry((site, pred)).or_insert_with_key(|(site, pred)| {
                    let span = self.shown_span(*site, pred, span);
                    labels.push(Label {
                        site: *site,
                        pred: pred.clone(),
                        text: text::predicate(&mut self, *site, pred),
                        place: self.map.place(span.start),
                        key: keys.key(self.program, self.exprs.arena(), *site, pred),
                    })
                });
                let duplicate_of = first.get(&label).copied();
                if duplicate_of.is_none() {
                    first.insert(label, entries.len() as u32);
                }
                entries.push(Entry { label, name, duplicate_of });
            }
            criteria.insert(criterion, entries);
        }
        let exprs = self.exprs.finish();
        let objectives = FunctionObjectives { function: func, exprs, labels, criteria };
        Annotation { objectives, diagnostics: self.diagnostics }
    }
}
