//! The context of an annotator: the function, and the objectives that are made of it.

use std::rc::Rc;
use std::sync::Arc;

use lydian_base::{Arena, Diagnostic, EntityId as _, SourceMap, Span};
use lydian_ir::source::{Root, RootId, RootKind};
use lydian_ir::stmt::MarkKind;
use lydian_ir::{Body, BoolTree, DecisionId, Expr, ExprId, FuncId, Function, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exprs::ExprBuilder;
use super::program::ProgramContext;
use super::request::Request;
use crate::criterion::Criterion;
use crate::dataflow::def_use::{DataFlow, DefUse, Variable};
use crate::dataflow::unit::UnitFlow;
use crate::hyper::{
    Atom, Binding, CellDefinitions, Definitions, Hyper, HyperEntry, HyperId, Sequence, SequenceId,
};
use crate::label::{LabelEntry, LabelId, Pred, Site};
use crate::paths::{NodeGraph, Path, TooManyPaths};

/// One criterion's labelling function.
pub trait Annotator: Sync {
    /// The criterion.
    fn criterion(&self) -> Criterion;
    /// Adds the function's objectives, in an order that follows from the program alone.
    fn annotate(&self, cx: &mut Context<'_>);
}

/// Why a function has no objectives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotateError {
    /// The function is only declared, or its body holds something that is not supported.
    #[error("the function `{0}` has no body to put objectives on")]
    NoBody(String),
}

/// The function that is annotated, and the objectives that annotators have added so far.
pub struct Context<'a> {
    pub(super) shared: &'a ProgramContext<'a>,
    pub(crate) program: &'a Program,
    pub(crate) map: &'a SourceMap,
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) request: &'a Request,
    pub(crate) exprs: ExprBuilder<'a>,
    /// The expressions that have the text of an update.
    pub(super) updates: FxHashSet<ExprId>,
    func: FuncId,
    /// The labels so far.
    pub(super) drafts: Arena<LabelId, LabelDraft>,
    known: FxHashMap<(Site, Pred), LabelId>,
    pub(super) sequences: Arena<SequenceId, Sequence>,
    pub(super) hypers: Arena<HyperId, HyperDraft>,
    known_hypers: FxHashMap<Hyper, HyperId>,
    pub(super) shared_sequences: SharedSequences,
    /// The trees that criteria ask about, by decision.
    trees: Vec<Rc<BoolTree>>,
    /// Results that several criteria need, once one of them has computed them.
    graph: Option<Rc<NodeGraph>>,
    prime_paths: Option<Rc<Result<Vec<Path>, TooManyPaths>>>,
    /// The labels and hyperlabels that the current annotator has added, with their names.
    pub(super) found: Vec<(LabelId, String)>,
    found_hypers: Vec<(HyperId, String)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The sequences that several criteria ask for, and the definitions in them.
#[derive(Default)]
pub(super) struct SharedSequences {
    /// The sequences of pairs.
    pub(super) pairs: FxHashMap<DefUse, SequenceId>,
    /// The sequences of pairs of cells.
    pub(super) cell_pairs: FxHashMap<DefUse, SequenceId>,
    /// The definitions of cells of each variable.
    pub(super) cells: FxHashMap<Variable, Arc<CellDefinitions>>,
    /// The definitions of variables that sequences must not pass.
    pub(super) clear: FxHashMap<Variable, Arc<Definitions>>,
    /// The sequences of paths.
    pub(super) paths: FxHashMap<Path, SequenceId>,
}

/// A label before it has text and key.
pub(super) struct LabelDraft {
    pub(super) site: Site,
    pub(super) pred: Pred,
    pub(super) span: Span,
}

/// A hyperlabel before it has a key.
pub(super) struct HyperDraft {
    pub(super) hyper: Hyper,
    pub(super) text: Arc<str>,
    pub(super) span: Span,
}

impl<'a> Context<'a> {
    pub(super) fn new(shared: &'a ProgramContext<'a>, func: FuncId) -> Result<Self, AnnotateError> {
        let ProgramContext { program, map, request, .. } = *shared;
        let function = &program.functions[func];
        let body = function.body.as_ref();
        let body = body.ok_or_else(|| AnnotateError::NoBody(function.name.clone()))?;
        Ok(Self {
            shared,
            program,
            map,
            function,
            body,
            request,
            exprs: ExprBuilder::new(body),
            updates: updates(body),
            func,
            drafts: Arena::new(),
            known: FxHashMap::default(),
            sequences: Arena::new(),
            hypers: Arena::new(),
            known_hypers: FxHashMap::default(),
            shared_sequences: SharedSequences::default(),
            trees: body.decisions.values().map(|it| it.asked(&body.exprs).into()).collect(),
            graph: None,
            prime_paths: None,
            found: Vec::new(),
            found_hypers: Vec::new(),
            diagnostics: Vec::new(),
        })
    }

    /// The roots that a text can take the place of and that read nothing volatile, in the order of the
    /// text. A condition whose text is lowered more than once is still one condition, and comes once.
    pub(crate) fn rewritable_roots(&self) -> Vec<(RootId, &'a Root)> {
        let mut seen = FxHashSet::default();
        let all = self.body.source.roots.iter().filter(|(_, root)| root.rewritable);
        let readable = all.filter(|(_, root)| !self.exprs.reads_volatile(root.expr));
        let once = readable.filter(|(_, root)| match root.kind {
            RootKind::Condition { decision, condition } => seen.insert((decision, condition)),
            _ => true,
        });
        once.collect()
    }

    /// Adds an objective. `span` is the text to show for it. An objective whose predicate is
    /// constantly false says nothing about the program, and is left out.
    pub(crate) fn push(&mut self, site: Site, pred: Pred, span: Span, name: impl Into<String>) {
        if pred != Pred::Const(false) {
            self.push_unconditionally(site, pred, span, name.into());
        }
    }

    /// Adds an objective even if its predicate is constantly false, since the user wrote it so.
    pub(crate) fn push_unconditionally(
        &mut self,
        site: Site,
        pred: Pred,
        span: Span,
        name: String,
    ) {
        let label = self.label(site, pred, span);
        self.found.push((label, name));
    }

    /// The label with this site and predicate, for objectives and as an atom of hyperlabels.
    pub(crate) fn label(&mut self, site: Site, pred: Pred, span: Span) -> LabelId {
        let drafts = &mut self.drafts;
        let known = self.known.entry((site, pred));
        *known.or_insert_with_key(|(site, pred)| {
            drafts.push(LabelDraft { site: *site, pred: pred.clone(), span })
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

    /// Adds an objective that is a hyperlabel. `text` shows it to the user, `span` is its place.
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
        self.shared.unit_at(span.start) != self.shared.unit_at(self.function.span.start)
    }

    /// The definitions and uses of all functions.
    pub(crate) fn unit_flow(&self) -> &'a UnitFlow {
        self.shared.flow()
    }

    /// The definitions and uses.
    pub(crate) fn data_flow(&self) -> &'a DataFlow {
        static NONE: DataFlow = DataFlow { definitions: Vec::new(), uses: Vec::new() };
        self.shared.flow().function(self.func).unwrap_or(&NONE)
    }

    /// The definitions and uses of cells of all functions.
    pub(crate) fn unit_cells(&self) -> &'a UnitFlow {
        self.shared.cells()
    }

    /// The data flow that gives the labels which sequences of other functions name by their numbers.
    pub(crate) fn shared_flow(&self) -> &'a UnitFlow {
        let cells = self.request.criteria.iter().any(|criterion| criterion.tells_cells_apart());
        if cells { self.shared.cells() } else { self.shared.flow() }
    }

    /// Makes the labels that sequences of other functions name by their numbers. They come before all
    /// other labels.
    pub(super) fn add_shared_labels(&mut self) {
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

    /// Adds a warning about a place of the text.
    pub(crate) fn warn(&mut self, code: &'static str, message: String, span: Span) {
        let place = self.map.place(span.start);
        self.diagnostics.push(Diagnostic::warning(code, message).at(place));
    }

    /// The statements' marks in the order of the source.
    pub(crate) fn statement_marks(&self) -> impl Iterator<Item = (lydian_ir::MarkId, Span)> + '_ {
        let marks = self.body.marks.iter();
        marks.filter(|(_, mark)| mark.kind == MarkKind::Statement).map(|(id, mark)| (id, mark.span))
    }

    /// The name of a parameter; `None` if it has none. In a definition in the old style, a parameter
    /// may be passed in a wider type than it is declared with; the local of the wider type has no
    /// name.
    pub(crate) fn parameter_name(&self, position: usize) -> Option<String> {
        let own = &self.body.locals[*self.body.params.get(position)?].name;
        let declared = self.function.param_names.get(position);
        let name = if own.is_empty() { declared? } else { own };
        (!name.is_empty()).then(|| name.clone())
    }

    /// The tree of a decision that criteria ask about ([`lydian_ir::Decision::asked`]).
    pub(crate) fn tree(&self, decision: DecisionId) -> Rc<BoolTree> {
        Rc::clone(&self.trees[decision.index()])
    }

    /// The labels of the annotator that has finished, duplicates marked.
    pub(super) fn entries(&mut self) -> Vec<LabelEntry> {
        let found = std::mem::take(&mut self.found);
        let entry = |(label, name, duplicate_of)| LabelEntry { label, name, duplicate_of };
        with_duplicates(found).map(entry).collect()
    }

    /// The hyperlabels of the annotator that has finished, duplicates marked.
    pub(super) fn hyper_entries(&mut self) -> Vec<HyperEntry> {
        let found = std::mem::take(&mut self.found_hypers);
        let entry = |(hyper, name, duplicate_of)| HyperEntry { hyper, name, duplicate_of };
        with_duplicates(found).map(entry).collect()
    }
}

/// Objectives, each with the position where it occurred first, if it occurred before.
fn with_duplicates<T: Copy + Eq + std::hash::Hash>(
    found: Vec<(T, String)>,
) -> impl Iterator<Item = (T, String, Option<u32>)> {
    let mut first: FxHashMap<T, u32> = FxHashMap::default();
    (0..).zip(found).map(move |(position, (id, name))| {
        let before = *first.entry(id).or_insert(position);
        (id, name, (before != position).then_some(before))
    })
}

/// The new values of `x op= e`, `x++` and the like, below the conversions at their roots. Such an
/// expression may have the text of the whole update. That text has another value in C, or must not be
/// taken for this expression.
fn updates(body: &Body) -> FxHashSet<ExprId> {
    let mut found = FxHashSet::default();
    for root in body.source.roots.values().filter(|root| root.kind == RootKind::Update) {
        let mut expr = root.expr;
        found.insert(expr);
        while let Expr::Cast(_, _, a) = body.exprs[expr] {
            expr = a;
            found.insert(expr);
        }
    }
    found
}
