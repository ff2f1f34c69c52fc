//! Annotators: from a function to the labels of each criterion.
//!
//! A criterion is a labelling function ([000] III-B). Each is an [`Annotator`] that adds objectives
//! (a site, a predicate and a name) in its own order; [`annotate`] gives each its label, marks the
//! duplicates within a criterion and lets criteria share labels.
//!
//! | criterion | objectives |
//! |---|---|
//! | `fc` | the function's entry |
//! | `fcc` | each function that is called by name: one of the calls ([`calls`]) |
//! | `stmt` | each statement: its mark |
//! | `bbc` | each block, by what the text has first in it: a statement; a decision; a condition that evaluation may skip; an arm of `?:` |
//! | `bc` | each edge of a decision: each condition reached and true, reached and false; each edge of a `switch`, the implicit `default` too |
//! | `slo`, `elo`, `mlo` | each loop skipped, entered, entered more than once ([`loops`]) |
//! | `dc` | each decision true, false |
//! | `cc` | each condition true, false |
//! | `dcc` | those of `dc`, then those of `cc`; a decision of one condition counts once |
//! | `mcc` | each combination of a decision's `n` conditions, 2^n of them |
//! | `gacc` | each condition true, false, while it decides the outcome |
//! | `gicc` | each condition true, false, while it does not decide the outcome, for each outcome |
//! | `cacc`, `racc` | each condition: a pair of evaluations that shows its independence ([`clauses`]) |
//! | `ricc` | each condition, for each outcome: a pair of evaluations that shows it idle ([`clauses`]) |
//! | `mcdc` | each condition: a pair of marks ([`clauses`], [`crate::marking`]) |
//! | `ic`, `utpc` | each implicant of a decision and of its negation: true; true alone ([`implicants`]) |
//! | `cutpnfp` | each literal of each implicant: a pair of points ([`implicants`]) |
//! | `bva` | each relational condition: at its border, just inside, just outside ([`boundary`]) |
//! | `wm` | one a mutant ([`mutation`]) |
//! | `idc` | the classes of each parameter ([`domain`]) |
//! | `rte` | one a run-time error that an expression can have ([`runtime`]) |
//! | `all-defs` | each definition that reaches a use, in whatever function: with one of them ([`crate::dataflow`]) |
//! | `all-uses` | each use with each definition that reaches it, in whatever function |
//! | `all-du-paths` | each pair of a local, and of a global within the function, by each simple path without another definition ([`crate::dataflow::DuPaths`]) |
//! | `all-defs-cells`, `all-uses-cells`, `all-du-paths-cells` | those of `all-defs`, `all-uses`, `all-du-paths`, but for arrays the pairs of their cells ([`crate::dataflow::cells`]) |
//! | `epc` | each two edges that follow one another ([`crate::paths`]) |
//! | `ppc` | each prime path |
//! | `srtc`, `crtc` | for each node with prime round trips: one of them, all of them |
//! | `bpc` | each path of a basis |
//! | `cpc` | each complete path, loops turned up to a limit |
//! | `spc` | each path that the user lists ([`crate::htol`]) |
//! | `user` | the labels that the user wrote |
//! | `htol` | the hyperlabels that the user wrote ([`crate::htol`]) |

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use lydian_base::{Arena, Diagnostic, EntityId as _, SourceMap, Span};
use lydian_ir::ctext::UserC;
use lydian_ir::stmt::MarkKind;
use lydian_ir::{Body, BoolTree, DecisionId, ExprId, FuncId, Function, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::criterion::Criterion;
use crate::dataflow::{DataFlow, DefUse, UnitFlow, UnitFlows, Variable};
use crate::fingerprint::KeyMaker;
use crate::htol::{self, HtolError};
use crate::hyper::{
    Atom, Binding, CellDefinitions, Definitions, Hyper, HyperEntry, HyperId, Hyperlabel, Sequence,
    SequenceId,
};
use crate::label::{Entry, FunctionObjectives, Label, LabelId, Pred, Site};
use crate::paths::{NodeGraph, Path, TooManyPaths};
pub use dataflow::Described;
use exprs::ExprBuilder;
pub(crate) use paths::way;
pub use written::HtolFile;

pub mod boundary;
pub mod calls;
mod cells;
pub mod clauses;
mod control;
mod dataflow;
pub mod domain;
mod exprs;
pub mod implicants;
mod initialised;
mod logic;
pub mod loops;
pub mod mutation;
mod paths;
pub mod runtime;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod user;
mod written;

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
    /// Whether a condition that evaluation does not reach has no value. Its value is
    /// then free for the active clause criteria, as in Table I of [003] ([`clauses`]).
    pub short_circuit: bool,
    /// The most paths of a function for which a criterion of paths makes objectives. A function
    /// with more gets none, and a warning.
    pub paths: usize,
    /// How often `cpc` lets a node occur again on one path.
    pub loop_turns: u32,
    /// The files of which `htol` takes the hyperlabels, and `spc` the paths.
    pub htol: Vec<HtolFile>,
}

impl Request {
    /// These criteria with the usual limits: 16 conditions, 4 other variables, 2,000 paths, loops
    /// turned twice; conditions that are not reached have their value on the state.
    pub fn new(criteria: impl Into<Vec<Criterion>>) -> Self {
        Self {
            criteria: criteria.into(),
            mcc_conditions: 16,
            replaced_targets: 4,
            short_circuit: false,
            paths: 2000,
            loop_turns: 2,
            htol: Vec::new(),
        }
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

/// The annotator of a criterion.
pub const fn annotator_of(criterion: Criterion) -> &'static dyn Annotator {
    match criterion {
        Criterion::Fc => &control::FunctionCoverage,
        Criterion::Fcc => &calls::CallCoverage,
        Criterion::Stmt => &control::StatementCoverage,
        Criterion::Bbc => &control::BlockCoverage,
        Criterion::Bc => &control::BranchCoverage,
        Criterion::Slo => &loops::LoopsSkipped,
        Criterion::Elo => &loops::LoopsEntered,
        Criterion::Mlo => &loops::LoopsRepeated,
        Criterion::Dc => &logic::DecisionCoverage,
        Criterion::Cc => &logic::ConditionCoverage,
        Criterion::Dcc => &logic::DecisionConditionCoverage,
        Criterion::Mcc => &logic::MultipleConditionCoverage,
        Criterion::Gacc => &logic::ActiveClauseCoverage,
        Criterion::Gicc => &logic::InactiveClauseCoverage,
        Criterion::Cacc => &clauses::CorrelatedActiveClauses,
        Criterion::Racc => &clauses::RestrictedActiveClauses,
        Criterion::Ricc => &clauses::RestrictedInactiveClauses,
        Criterion::Mcdc => &clauses::MarkedConditions,
        Criterion::Ic => &implicants::ImplicantCoverage,
        Criterion::Utpc => &implicants::UniqueTruePoints,
        Criterion::Cutpnfp => &implicants::NearFalsePoints,
        Criterion::Bva => &boundary::BoundaryValues,
        Criterion::Wm => &mutation::WeakMutation,
        Criterion::Idc => &domain::InputDomainCoverage,
        Criterion::Rte => &runtime::RuntimeErrorCoverage,
        Criterion::AllDefs => &dataflow::AllDefinitions,
        Criterion::AllUses => &dataflow::AllUses,
        Criterion::AllDuPaths => &dataflow::AllDuPaths,
        Criterion::AllDefsCells => &cells::AllDefinitionsOfCells,
        Criterion::AllUsesCells => &cells::AllUsesOfCells,
        Criterion::AllDuPathsCells => &cells::AllDuPathsOfCells,
        Criterion::Epc => &paths::EdgePairs,
        Criterion::Ppc => &paths::PrimePaths,
        Criterion::Srtc => &paths::SimpleRoundTrips,
        Criterion::Crtc => &paths::CompleteRoundTrips,
        Criterion::Bpc => &paths::BasisPaths,
        Criterion::Cpc => &paths::CompletePaths,
        Criterion::Spc => &user::SpecifiedPaths,
        Criterion::User => &user::UserLabels,
        Criterion::Htol => &user::UserHyperlabels,
    }
}

/// Makes the objectives of one function for the criteria asked for: [`Annotators::function`], for
/// those who want no other function's.
///
/// # Errors
/// A function without a body has no objectives.
pub fn annotate(
    program: &Program,
    map: &SourceMap,
    func: FuncId,
    request: &Request,
) -> Result<Annotation, AnnotateError> {
    Annotators::new(program, map, request).function(func)
}

/// Makes the objectives of a program's functions. What several functions need is worked out once.
#[derive(Debug)]
pub struct Annotators<'a> {
    program: &'a Program,
    map: &'a SourceMap,
    request: &'a Request,
    /// The text that pairs of globals are within: that of the user's units.
    own: &'a SourceMap,
    /// Where each of these units begins in it.
    starts: &'a [u32],
    flows: UnitFlows,
    written: htol::Written<'a>,
    /// What hyperlabels of other functions ask of each function.
    elsewhere: RefCell<FxHashMap<FuncId, Asked>>,
}

/// What hyperlabels of other functions ask of a function, or why it cannot be.
type Asked = Rc<Vec<Result<htol::Bound, HtolError>>>;

impl<'a> Annotators<'a> {
    /// For the criteria asked for. `map` is the text that the program was lowered from.
    pub fn new(program: &'a Program, map: &'a SourceMap, request: &'a Request) -> Self {
        let written = htol::Written::of(program, &request.htol);
        let elsewhere = RefCell::default();
        let flows = UnitFlows::default();
        Self { program, map, request, own: map, starts: &[], flows, written, elsewhere }
    }

    /// The same for functions of the first of several units of a program, whose texts are the
    /// beginning of the whole one, each from an offset of `starts` on: pairs of globals have at
    /// least one end in that unit, and none in what comes after `own`, a library.
    pub fn of_units(self, own: &'a SourceMap, starts: &'a [u32]) -> Self {
        Self { own, starts, flows: UnitFlows::default(), ..self }
    }

    /// What the definitions and uses of a function are called, those of whole variables.
    ///
    /// # Errors
    /// A function without a body has none.
    pub fn described(&self, func: FuncId) -> Result<Described, AnnotateError> {
        Ok(Described::of(&Context::new(self, func)?))
    }

    /// The data flows that were worked out, of the program and the text of the unit.
    pub fn into_flows(self) -> UnitFlows {
        self.flows
    }

    /// The objectives of one function. Deterministic: equal arguments give equal results, and
    /// neither labels' keys nor their texts depend on which criteria are asked for.
    ///
    /// # Errors
    /// A function without a body has no objectives.
    pub fn function(&self, func: FuncId) -> Result<Annotation, AnnotateError> {
        annotate_one(self, func)
    }

    /// The labels of a function that hyperlabels of others name, under the numbers that these know,
    /// and no objective of its own.
    ///
    /// # Errors
    /// A function without a body has no labels.
    pub fn labels_for_others(&self, func: FuncId) -> Result<FunctionObjectives, AnnotateError> {
        let mut cx = Context::new(self, func)?;
        cx.first_labels();
        let nothing = self.request.criteria.iter().map(|criterion| (*criterion, Vec::new()));
        Ok(cx.finish(nothing.collect(), IndexMap::new()).objectives)
    }

    fn flow(&self) -> &UnitFlow {
        self.flows.whole(self.program, self.own)
    }

    /// Which of the units a place of the text lies in.
    fn unit_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn cells(&self) -> &UnitFlow {
        self.flows.cells(self.program, self.own)
    }

    const fn written(&self) -> &htol::Written<'a> {
        &self.written
    }

    /// What hyperlabels of other functions ask of a function.
    fn asked_of(&self, func: FuncId) -> Asked {
        if let Some(known) = self.elsewhere.borrow().get(&func) {
            return Rc::clone(known);
        }
        let made = Context::new(self, func).map(|mut cx| cx.first_labels()).unwrap_or_default();
        let made: Asked = Rc::new(made);
        self.elsewhere.borrow_mut().insert(func, Rc::clone(&made));
        made
    }
}

fn annotate_one(of: &Annotators<'_>, func: FuncId) -> Result<Annotation, AnnotateError> {
    let request = of.request;
    let mut cx = Context::new(of, func)?;
    cx.first_labels();
    let mut criteria = IndexMap::new();
    let mut hyper_criteria = IndexMap::new();
    for criterion in &request.criteria {
        if criteria.contains_key(criterion) || hyper_criteria.contains_key(criterion) {
            continue;
        }
        annotator_of(*criterion).annotate(&mut cx);
        if criterion.is_hyper() {
            hyper_criteria.insert(*criterion, cx.hyper_entries());
        } else {
            criteria.insert(*criterion, cx.entries());
        }
    }
    Ok(cx.finish(criteria, hyper_criteria))
}

/// What an annotator sees of the function, and where it puts its objectives.
pub struct Context<'a> {
    of: &'a Annotators<'a>,
    pub(crate) program: &'a Program,
    pub(crate) map: &'a SourceMap,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) request: &'a Request,
    pub(crate) exprs: ExprBuilder<'a>,
    /// The expressions whose text is that of an update.
    updates: FxHashSet<ExprId>,
    func: FuncId,
    /// The labels so far.
    drafts: Arena<LabelId, Draft>,
    known: FxHashMap<(Site, Pred), LabelId>,
    sequences: Arena<SequenceId, Sequence>,
    hypers: Arena<HyperId, HyperDraft>,
    known_hypers: FxHashMap<Hyper, HyperId>,
    /// The sequences of pairs, for criteria that share them.
    pairs: FxHashMap<DefUse, SequenceId>,
    /// The same of pairs of cells.
    cell_pairs: FxHashMap<DefUse, SequenceId>,
    /// The definitions of cells of each variable.
    cells: FxHashMap<Variable, Arc<CellDefinitions>>,
    /// The definitions of variables that sequences must not pass.
    clear: FxHashMap<Variable, Arc<Definitions>>,
    known_paths: FxHashMap<Path, SequenceId>,
    /// The trees that criteria ask about, by decision.
    trees: Vec<Rc<BoolTree>>,
    /// What several criteria work out, once one has.
    graph: Option<Rc<NodeGraph>>,
    prime_paths: Option<Rc<Result<Vec<Path>, TooManyPaths>>>,
    /// What the annotator at work has found.
    found: Vec<(LabelId, String)>,
    found_hypers: Vec<(HyperId, String)>,
    diagnostics: Vec<Diagnostic>,
}

/// A label before it has text and key.
struct Draft {
    site: Site,
    pred: Pred,
    span: Span,
}

/// A hyperlabel before it has a key.
struct HyperDraft {
    hyper: Hyper,
    text: Arc<str>,
    span: Span,
}

impl<'a> Context<'a> {
    fn new(of: &'a Annotators<'a>, func: FuncId) -> Result<Self, AnnotateError> {
        let Annotators { program, map, request, .. } = *of;
        let function = &program.functions[func];
        let body = function.body.as_ref();
        let body = body.ok_or_else(|| AnnotateError::NoBody(function.name.clone()))?;
        Ok(Self {
            of,
            program,
            map,
            function,
            body,
            request,
            exprs: ExprBuilder::new(body),
            updates: text::updates(body),
            func,
            drafts: Arena::new(),
            known: FxHashMap::default(),
            sequences: Arena::new(),
            hypers: Arena::new(),
            known_hypers: FxHashMap::default(),
            pairs: FxHashMap::default(),
            cell_pairs: FxHashMap::default(),
            cells: FxHashMap::default(),
            clear: FxHashMap::default(),
            known_paths: FxHashMap::default(),
            trees: body.decisions.values().map(|it| it.asked(&body.exprs).into()).collect(),
            graph: None,
            prime_paths: None,
            found: Vec::new(),
            found_hypers: Vec::new(),
            diagnostics: Vec::new(),
        })
    }

    /// Makes the labels that hyperlabels of other functions name by their numbers, before any
    /// other, and whatever function is asked for them. Returns those of the user's hyperlabels.
    fn first_labels(&mut self) -> Vec<Result<htol::Bound, HtolError>> {
        let asks = |holds: fn(Criterion) -> bool| self.request.criteria.iter().any(|c| holds(*c));
        if asks(Criterion::is_data_flow) {
            self.shared_labels();
        }
        match asks(Criterion::is_written) {
            true => self.of.written().pieces(self),
            false => Vec::new(),
        }
    }

    /// What hyperlabels of other functions ask of a function.
    pub(crate) fn elsewhere(&self, func: FuncId) -> Asked {
        self.of.asked_of(func)
    }

    /// Adds an objective. `span` is the text to show for it. One whose predicate is constantly
    /// false says nothing about the program, and is left out.
    pub(crate) fn push(&mut self, site: Site, pred: Pred, span: Span, name: impl Into<String>) {
        if pred != Pred::Const(false) {
            self.push_written(site, pred, span, name.into());
        }
    }

    /// Adds an objective, whatever its predicate: the user wrote it so.
    fn push_written(&mut self, site: Site, pred: Pred, span: Span, name: String) {
        let label = self.label(site, pred, span);
        self.found.push((label, name));
    }

    /// The label with this site and predicate, for objectives and as an atom of hyperlabels.
    pub(crate) fn label(&mut self, site: Site, pred: Pred, span: Span) -> LabelId {
        let drafts = &mut self.drafts;
        let known = self.known.entry((site, pred));
        *known.or_insert_with_key(|(site, pred)| {
            drafts.push(Draft { site: *site, pred: pred.clone(), span })
        })
    }

    /// The function.
    pub(crate) const fn id(&self) -> FuncId {
        self.func
    }

    /// A label of this function as an atom.
    pub(crate) fn atom(&self, label: LabelId, bindings: Vec<Binding>) -> Atom {
        Atom { function: self.func, label, bindings }
    }

    /// Adds a sequence.
    pub(crate) fn sequence(&mut self, sequence: Sequence) -> SequenceId {
        self.sequences.push(sequence)
    }

    /// Adds an objective that is a hyperlabel. `text` says what it asks, `span` is its place.
    pub(crate) fn push_hyper(
        &mut self,
        hyper: Hyper,
        span: Span,
        name: impl Into<String>,
        text: impl Into<Arc<str>>,
    ) {
        debug_assert_eq!(
            hyper.visible_names(&self.sequences).err(),
            None,
            "annotators make well-formed hyperlabels, and users' ones are checked before"
        );
        let hypers = &mut self.hypers;
        let known = self.known_hypers.entry(hyper);
        let id = *known.or_insert_with_key(|hyper| {
            hypers.push(HyperDraft { hyper: hyper.clone(), text: text.into(), span })
        });
        self.found_hypers.push((id, name.into()));
    }

    /// Whether a text is in another unit than the function.
    pub(crate) fn is_foreign(&self, span: Span) -> bool {
        self.of.unit_at(span.start) != self.of.unit_at(self.function.span.start)
    }

    /// The definitions and uses of all functions.
    pub(crate) fn unit_flow(&self) -> &'a UnitFlow {
        self.of.flow()
    }

    /// The definitions and uses.
    pub(crate) fn data_flow(&self) -> &'a DataFlow {
        static NONE: DataFlow = DataFlow { definitions: Vec::new(), uses: Vec::new() };
        self.of.flow().function(self.func).unwrap_or(&NONE)
    }

    /// The definitions and uses of cells of all functions.
    pub(crate) fn unit_cells(&self) -> &'a UnitFlow {
        self.of.cells()
    }

    /// The data flow that says which labels sequences of other functions name by their numbers.
    pub(crate) fn shared_flow(&self) -> &'a UnitFlow {
        let cells = self.request.criteria.iter().any(|criterion| criterion.tells_cells_apart());
        if cells { self.of.cells() } else { self.of.flow() }
    }

    /// Makes the labels that sequences of other functions name by their numbers, before any other.
    fn shared_labels(&mut self) {
        for (site, pred, span) in self.shared_flow().shared(self.func) {
            self.label(site, pred.clone(), span);
        }
    }

    /// The graph of nodes.
    pub(crate) fn node_graph(&mut self) -> Rc<NodeGraph> {
        Rc::clone(self.graph.get_or_insert_with(|| Rc::new(NodeGraph::of(self.body))))
    }

    /// The prime paths, up to the limit of the request.
    pub(crate) fn prime_paths(&mut self) -> Rc<Result<Vec<Path>, TooManyPaths>> {
        let graph = self.node_graph();
        let make = || Rc::new(graph.prime_paths(self.request.paths));
        Rc::clone(self.prime_paths.get_or_insert_with(make))
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

    /// The tree of a decision that criteria ask about ([`lydian_ir::Decision::asked`]).
    pub(crate) fn tree(&self, decision: DecisionId) -> Rc<BoolTree> {
        Rc::clone(&self.trees[decision.index()])
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

    /// The labels of the annotator that has finished, duplicates marked.
    fn entries(&mut self) -> Vec<Entry> {
        let found = std::mem::take(&mut self.found);
        let entry = |(label, name, duplicate_of)| Entry { label, name, duplicate_of };
        with_duplicates(found).map(entry).collect()
    }

    /// The hyperlabels of the annotator that has finished, duplicates marked.
    fn hyper_entries(&mut self) -> Vec<HyperEntry> {
        let found = std::mem::take(&mut self.found_hypers);
        let entry = |(hyper, name, duplicate_of)| HyperEntry { hyper, name, duplicate_of };
        with_duplicates(found).map(entry).collect()
    }

    /// Gives each label its text and key.
    fn labels(&self, drafts: Arena<LabelId, Draft>, keys: &mut KeyMaker) -> Arena<LabelId, Label> {
        let temporaries = text::temporaries(self);
        let spelled = |expr| text::spelled(self, &temporaries, expr);
        let user = UserC::new(self.program, self.body, self.exprs.arena(), &spelled);
        let conditions = text::Conditions::default();
        let labels = drafts.into_values().map(|Draft { site, pred, span }| {
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

    fn finish(
        mut self,
        criteria: IndexMap<Criterion, Vec<Entry>>,
        hyper_criteria: IndexMap<Criterion, Vec<HyperEntry>>,
    ) -> Annotation {
        let func = self.func;
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

/// Objectives with, for each that occurred before, the position where it first did.
fn with_duplicates<T: Copy + Eq + std::hash::Hash>(
    found: Vec<(T, String)>,
) -> impl Iterator<Item = (T, String, Option<u32>)> {
    let mut first: FxHashMap<T, u32> = FxHashMap::default();
    (0..).zip(found).map(move |(position, (id, name))| {
        let before = *first.entry(id).or_insert(position);
        (id, name, (before != position).then_some(before))
    })
}
