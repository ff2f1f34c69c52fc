//! The edits of one watched function.
//!
//! [`FunctionRewriter`] goes over the sites of the function's labels and sequences, adds cells to
//! the plan, and collects an edit for each site. Its submodules have one kind of site each. The
//! data that rendering needs later is in [`FunctionEdits`].

use std::collections::BTreeMap;

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::source::{Capture, DecisionSite, MarkSite, RootId};
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BlockId, Body, ConditionId, Decision, DecisionId, DecisionKind, MarkId, UnreachedValue,
};
use lydian_objective::criterion::RootProbe;
use lydian_objective::decision::vector::vector_bits;
use lydian_objective::{FunctionObjectives, LabelId, Pred, Site};
use rustc_hash::FxHashSet;

use crate::plan::{CellMeaning, DecisionCells, Plan, WideDecision};
use crate::rewrite::counters::Counters;
use crate::rewrite::data_flow::FunctionContext;
use crate::rewrite::data_flow::cells::{CellPairs, add_cell_probes};
use crate::rewrite::data_flow::probes::{FlowProbes, TablePlace};
use crate::rewrite::data_flow::variables::{VariablePairs, flow_probes};
use crate::rewrite::decision::DecisionEdit;
use crate::rewrite::decision::unreached::LateEvaluation;
use crate::rewrite::decision::vectors::{Recording, recording};
use crate::rewrite::edits::{EditAction, rank};
use crate::rewrite::labels::{LabelsElsewhere, labels_by_probe, standalone_labels};
use crate::rewrite::mutant_probes::MutantProbes;
use crate::rewrite::paths::{ChoiceExit, PathProbes, path_probes};
use crate::rewrite::predicates::POISON;
use crate::rewrite::predicates::writer::{LabelCell, PredicateWriter, TextContext};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::sequences::monitors::FunctionMonitors;
use crate::rewrite::source::bit_fields::tests_bits;
use crate::rewrite::source::scan;
use crate::rewrite::statement_probes::{ExpressionProbes, LvalueProbes, StatementProbes};
use crate::rewrite::switches::SwitchEdit;
use crate::rewrite::text::tree::Edit;
use crate::rewrite::text::user_labels;
use crate::rewrite::uninstrumentable;
use crate::rewrite::uninstrumentable::NO_PLACE;

mod counting;
mod mutants;
mod redundancy;
pub(crate) mod refused;
mod roots;
mod statements;
mod switches;

/// The edits of one watched function, as rendering needs them.
#[derive(Debug, Default)]
pub(crate) struct FunctionEdits {
    pub(crate) decisions: Vec<DecisionEdit>,
    pub(crate) switches: Vec<SwitchEdit>,
    /// The probes of each root, with its captures.
    pub(crate) roots: IndexMap<RootId, String>,
    pub(crate) flow: FlowProbes,
    pub(crate) paths: PathProbes,
    pub(crate) units: IndexMap<Span, ExpressionProbes>,
    pub(crate) places: IndexMap<Span, LvalueProbes>,
    /// Variables and probes of sequences at the start of the function's body.
    pub(crate) monitors: String,
    /// Steps of sequences on ways out of switches.
    pub(crate) steps: IndexMap<Edge, String>,
    /// The cells of the entry and of marks that are set whatever the state is.
    pub(crate) entry: Option<u32>,
    pub(crate) marks: Vec<(MarkId, u32)>,
    /// The redundant cells, which are not set.
    pub(crate) left_out: FxHashSet<u32>,
}

impl FunctionEdits {
    /// The probes that set one of several cells on a way out of a switch: the first cell of each,
    /// and the text of the index.
    pub(crate) fn tables_on_edge(&self, edge: Edge) -> impl Iterator<Item = (u32, String)> {
        let of_uses = self.flow.tables.iter().filter_map(move |table| match table.place {
            TablePlace::Out(at) if at == edge => Some((table.cells.0, table.index.clone())),
            _ => None,
        });
        let of_paths = self.paths.tables.iter().filter_map(move |table| match table.way {
            ChoiceExit::Out(at) if at == edge => {
                Some((table.cells.first().copied().unwrap_or(u32::MAX), table.index.clone()))
            }
            _ => None,
        });
        of_uses.chain(of_paths)
    }
}

/// The pairs and labels that all watched functions together want.
#[derive(Clone, Copy)]
pub(crate) struct WantedProbes<'p> {
    pub(crate) variables: &'p VariablePairs<'p>,
    pub(crate) cells: &'p CellPairs<'p>,
    pub(crate) elsewhere: &'p LabelsElsewhere,
}

/// Collects the edits of one watched function.
pub(crate) struct FunctionRewriter<'a, 'p> {
    pub(crate) request: &'a RewriteRequest<'a>,
    pub(crate) objectives: &'a FunctionObjectives,
    pub(crate) body: &'a Body,
    pub(crate) number: u32,
    /// The decisions whose vectors hyperlabels want.
    wanted: &'p BTreeMap<DecisionId, Vec<Pred>>,
    flow: &'p VariablePairs<'p>,
    cells: &'p CellPairs<'p>,
    pub(crate) plan: &'p mut Plan,
    pub(crate) mutant_probes: &'p mut MutantProbes,
    pub(crate) predicates: PredicateWriter<'a>,
    sites: IndexMap<Site, Vec<LabelId>>,
    /// The labels that have a cell of their own.
    standalone: Vec<LabelId>,
    /// The labels of run-time errors, and of mutants.
    pub(crate) errors: FxHashSet<LabelId>,
    pub(crate) mutants: FxHashSet<LabelId>,
    /// The probes of the user's labels.
    pub(crate) user_labels: IndexMap<MarkId, String>,
    /// The counters of the function.
    pub(crate) counters: Counters,
    pub(crate) function: FunctionEdits,
}

impl<'a, 'p> FunctionRewriter<'a, 'p> {
    pub(crate) fn new(
        request: &'a RewriteRequest<'a>,
        number: u32,
        body: &'a Body,
        wanted: &'p BTreeMap<DecisionId, Vec<Pred>>,
        wanted_probes: WantedProbes<'p>,
        plan: &'p mut Plan,
        mutant_probes: &'p mut MutantProbes,
    ) -> Self {
        let WantedProbes { variables: flow, cells, elsewhere } = wanted_probes;
        let objectives = &request.watched[number as usize];
        let mut sites: IndexMap<Site, Vec<LabelId>> = IndexMap::new();
        let function = objectives.function;
        let shared = flow.pairs.shared_labels(function).max(cells.pairs.shared_labels(function));
        let standalone = standalone_labels(objectives, elsewhere, shared);
        for label in &standalone {
            sites.entry(objectives.labels[*label].site).or_default().push(*label);
        }
        let predicates = PredicateWriter::new(request, objectives, body);
        let function = FunctionEdits::default();
        let user_labels = IndexMap::new();
        Self {
            request,
            objectives,
            body,
            number,
            wanted,
            flow,
            cells,
            plan,
            mutant_probes,
            predicates,
            sites,
            standalone,
            errors: labels_by_probe(objectives, RootProbe::Error),
            mutants: labels_by_probe(objectives, RootProbe::Mutant),
            user_labels,
            counters: Counters::default(),
            function,
        }
    }

    pub(crate) fn finish(self) -> FunctionEdits {
        self.function
    }

    /// Collects the edits of all sites of the function.
    pub(crate) fn all_sites(
        &mut self,
        monitors: &FunctionMonitors<'_>,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let sites = std::mem::take(&mut self.sites);
        let mut units = StatementProbes::new(self.body, self.request.map.text());
        let (flow, paths) = self.sequence_probes(&mut units);
        let mut exits = switches_with_probes(&flow, &paths);
        let mut entry = self.control_sites(&sites, &mut exits, edits);
        // After the decisions, whose conditions may be roots.
        for (site, labels) in &sites {
            if let Site::Root(root) = *site {
                self.root(root, labels, edits);
            }
        }
        self.at_conditions(&flow, &paths, edits);
        self.counters = self.count(&sites, edits);
        entry.push_str(&self.counters.entry);
        self.function.flow = flow;
        self.function.paths = paths;
        for (site, labels) in &sites {
            if let Site::Stmt(stmt) = *site {
                self.statement(stmt, labels, &mut units);
            }
        }
        self.monitors(monitors, &mut units, &mut exits, edits);
        self.at_statements(units, edits);
        user_labels::of_function(self.body, &mut self.user_labels, edits);
        self.conditions(edits);
        for (block, labels) in exits {
            self.switch(block, &labels, edits);
        }
        self.at_start(&entry, edits);
    }

    /// Makes the probes of def-use pairs and of paths. Those at statements are added to `units`.
    fn sequence_probes(&mut self, units: &mut StatementProbes<'_>) -> (FlowProbes, PathProbes) {
        let (program, body) = (self.request.program, self.body);
        let of = FunctionContext { program, body, function: self.objectives.function };
        let mut history = None;
        let mut flow = flow_probes(self.flow, of, units, &mut history, self.plan);
        add_cell_probes(self.cells, of, units, &mut history, self.plan, &mut flow);
        let (objectives, standalone) = (self.objectives, &self.standalone);
        let mut paths = path_probes(program, body, objectives, standalone, self.number, self.plan);
        if let Some(reason) = paths.unmeasured {
            uninstrumentable::add_sequences(self.number, &paths.sequences, reason, self.plan);
            self.add_uninstrumentable(&paths.labels, reason);
        }
        if let Some(history) = history {
            history.note(&mut paths);
        }
        (flow, paths)
    }

    /// Adds the edits of labels at the entry, at marks, on edges and at decisions. Returns the probes
    /// at the entry.
    fn control_sites(
        &mut self,
        sites: &IndexMap<Site, Vec<LabelId>>,
        exits: &mut IndexMap<BlockId, Vec<(u32, LabelId)>>,
        edits: &mut Vec<Edit<EditAction>>,
    ) -> String {
        let mut entry = String::new();
        for (site, labels) in sites {
            match *site {
                Site::Entry => {
                    let at = self.body_start();
                    let (cell, others) = self.plain_cell(labels);
                    self.function.entry = cell;
                    entry = self.label_probes(&others, false, TextContext::at(at));
                }
                Site::Mark(mark) => self.mark(mark, labels, edits),
                Site::Edge(edge) => {
                    let ways = exits.entry(edge.from).or_default();
                    ways.extend(labels.iter().map(|label| (edge.way, *label)));
                }
                Site::Decision(id) => self.decision(id, labels, edits),
                // Roots and statements have steps of their own. Sequences of data flow and of paths
                // have probes as wholes.
                Site::Root(_) | Site::Stmt(_) => {}
                Site::Start | Site::Block(_) | Site::Condition(..) => {}
            }
        }
        entry
    }

    /// Puts the probes of def-use pairs and of paths on the ways of conditions.
    fn at_conditions(
        &mut self,
        flow: &FlowProbes,
        paths: &PathProbes,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        self.on_ways(&flow.conditions, edits);
        for ((decision, condition), cells) in &flow.condition_cells {
            let index = self.edit_of(*decision, edits);
            let cells = cells.map(|cell| vec![cell]);
            self.function.decisions[index].set_on_ways(*condition, &cells);
        }
        for ((decision, condition), cells) in &paths.cells {
            let index = self.edit_of(*decision, edits);
            self.function.decisions[index].set_on_ways(*condition, cells);
        }
        self.on_ways(&paths.conditions, edits);
        self.tables_on_ways(flow, paths, edits);
    }

    /// Adds the text at the start of the body: the declarations, and the probes at the entry.
    fn at_start(&self, entry: &str, edits: &mut Vec<Edit<EditAction>>) {
        let declarations = self.declarations();
        let cell = self.function.entry;
        if !declarations.is_empty() || !entry.is_empty() || cell.is_some() {
            let at = self.body_start();
            let text = format!(" {declarations}{entry}");
            let action = EditAction::Start { function: self.number, text, cell };
            edits.push(Edit { span: Span::new(at, at), rank: rank::INSERT, action });
        }
    }

    /// The first position in the body for a statement: after the pragmas that C allows only at the
    /// start.
    pub(crate) fn body_start(&self) -> u32 {
        let brace = self.body.source.body.start;
        let text = self.request.map.text().get(brace as usize..).unwrap_or("");
        brace + scan::after_first_pragmas(text)
    }

    pub(crate) fn declarations(&self) -> String {
        let mut text = String::from("int lydian_bad; (void)lydian_bad; ");
        for decision in &self.function.decisions {
            text.push_str(&decision.declarations());
        }
        text + &self.function.flow.declarations
            + &self.function.paths.declarations
            + &self.function.monitors
    }

    /// Puts probes on the ways of conditions.
    pub(crate) fn on_ways(
        &mut self,
        conditions: &IndexMap<(DecisionId, ConditionId), [String; 2]>,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        for ((decision, condition), texts) in conditions {
            let index = self.edit_of(*decision, edits);
            self.function.decisions[index].on_ways(*condition, texts);
        }
    }

    /// Puts probes that set one of several cells on the ways of conditions.
    pub(crate) fn tables_on_ways(
        &mut self,
        flow: &FlowProbes,
        paths: &PathProbes,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        for table in &flow.tables {
            if let TablePlace::Way(decision, condition, value) = table.place {
                let index = self.edit_of(decision, edits);
                let edit = &mut self.function.decisions[index];
                edit.sets_one_of(condition, value, (table.cells.0, table.index.clone()));
            }
        }
        for table in &paths.tables {
            let ChoiceExit::Condition((decision, condition), value) = table.way else {
                continue;
            };
            let (index, first) = (self.edit_of(decision, edits), table.cells.first().copied());
            let edit = &mut self.function.decisions[index];
            let text = (first.unwrap_or(u32::MAX), table.index.clone());
            edit.sets_one_of(condition, value, text);
        }
    }

    /// The edit of a decision, made if nothing needed one so far.
    pub(crate) fn edit_of(
        &mut self,
        decision: DecisionId,
        edits: &mut Vec<Edit<EditAction>>,
    ) -> usize {
        let made = self.function.decisions.iter().position(|edit| edit.id == decision);
        made.unwrap_or_else(|| {
            self.decision(decision, &[], edits);
            self.function.decisions.len() - 1
        })
    }

    /// Adds the edits of statements' probes.
    pub(crate) fn at_statements(
        &mut self,
        units: StatementProbes<'_>,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let function = self.number;
        for span in units.around.keys().copied() {
            let action = EditAction::Unit { function, span };
            edits.push(Edit { span, rank: rank::UNIT, action });
            let around = |edit: &&mut DecisionEdit| edit.span.contains(span);
            self.function.decisions.iter_mut().filter(around).for_each(DecisionEdit::keep_text);
        }
        for (site, probe) in &units.before {
            edits.push(self.at_mark(site, None, probe.clone()));
        }
        for span in units.places.keys().copied() {
            edits.push(Edit {
                span,
                rank: rank::PLACE,
                action: EditAction::Place { function, span },
            });
            let around = |edit: &&mut DecisionEdit| edit.span.contains(span);
            self.function.decisions.iter_mut().filter(around).for_each(DecisionEdit::keep_text);
        }
        self.function.units = units.around;
        self.function.places = units.places;
    }

    pub(crate) fn add_uninstrumentable(&mut self, labels: &[LabelId], reason: &str) {
        uninstrumentable::add_labels(self.number, labels, reason, self.plan);
    }

    /// Statements that evaluate the predicates of labels on the state at a place and set their
    /// cells.
    pub(crate) fn label_probes(
        &mut self,
        labels: &[LabelId],
        before_undefined: bool,
        standing: TextContext<'_>,
    ) -> String {
        let mut text = String::new();
        for label in labels {
            let pred = &self.objectives.labels[*label].pred;
            let cell = LabelCell { number: self.plan.cells.len(), before_undefined, open: None };
            match self.predicates.label_probe(pred, cell, standing) {
                Ok(probe) => {
                    self.plan.cell(self.number, vec![*label]);
                    text.push_str(&probe);
                }
                Err(reason) => self.add_uninstrumentable(&[*label], &reason),
            }
        }
        text
    }

    pub(crate) fn mark(
        &mut self,
        mark: MarkId,
        labels: &[LabelId],
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let site = self.body.source.marks.iter().find(|site| site.mark == mark).copied();
        let Some(site) = site else {
            return self.add_uninstrumentable(labels, NO_PLACE);
        };
        if user_labels::is_user_label(self.body, mark) {
            let probe = self.label_probes(labels, false, TextContext::at(site.span.start));
            self.user_labels.insert(mark, probe);
            return;
        }
        let (cell, others) = self.plain_cell(labels);
        self.function.marks.extend(cell.map(|cell| (mark, cell)));
        let probe = self.label_probes(&others, false, TextContext::at(site.span.start));
        if cell.is_some() || !probe.is_empty() {
            edits.push(self.at_mark(&site, cell, probe));
        }
    }

    pub(crate) fn at_mark(
        &self,
        site: &MarkSite,
        cell: Option<u32>,
        probe: String,
    ) -> Edit<EditAction> {
        let (function, style) = (self.number, site.style);
        let action = EditAction::Mark { function, style, cell, probe };
        Edit { span: site.span, rank: rank::MARK, action }
    }

    /// One cell for all of the labels whose predicate is true on every state, and the others.
    pub(crate) fn plain_cell(&mut self, labels: &[LabelId]) -> (Option<u32>, Vec<LabelId>) {
        let is_plain =
            |label: &LabelId| matches!(self.objectives.labels[*label].pred, Pred::Const(true));
        let (plain, others): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|label| is_plain(label));
        let cell = (!plain.is_empty()).then(|| self.plan.cell(self.number, plain));
        (cell, others)
    }

    pub(crate) fn decision(
        &mut self,
        id: DecisionId,
        labels: &[LabelId],
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let site = self.body.source.decisions.iter().find(|site| site.decision == id);
        let Some(site) = site else {
            return self.add_uninstrumentable(labels, NO_PLACE);
        };
        let decision = &self.body.decisions[id];
        let objectives = self.objectives;
        let of_state = |label: &LabelId| {
            let mut any = false;
            objectives.labels[*label].pred.for_each_expr(&mut |_| any = true);
            any
        };
        let (stateful, plain): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|l| of_state(l));
        let (late, unsayable) = self.unreached(decision);
        let (stateful, plain) = match unsayable {
            Some(reason) => {
                self.add_uninstrumentable(labels, &reason);
                (Vec::new(), Vec::new())
            }
            None => (stateful, plain),
        };
        let preds: Vec<(LabelId, &Pred)> =
            plain.iter().map(|label| (*label, &objectives.labels[*label].pred)).collect();
        let recording = recording(
            decision,
            self.request.short_circuit,
            &preds,
            self.wanted.get(&id).map(Vec::as_slice),
        );
        let function = self.number;
        let first = self.add_cells(id, &recording);
        let mut edit = DecisionEdit::new(
            id,
            decision,
            self.body,
            self.request,
            site,
            (recording, first),
            late,
        );
        if site.keeps_value && tests_bits(self.body, decision) {
            edit.promote();
        }
        let of_mutant = |label: &LabelId| objectives.labels[*label].pred.has_mutant();
        let (mutants, others): (Vec<LabelId>, Vec<LabelId>) =
            stateful.into_iter().partition(of_mutant);
        for label in others {
            self.label_at_outcome(label, None, &mut edit);
        }
        self.mutants_of_decision(id, &mutants, &mut edit);
        let index = self.function.decisions.len();
        let action = EditAction::Decision { function, index };
        edits.push(Edit { span: site.span, rank: rank::DECISION, action });
        self.function.decisions.push(edit);
    }

    /// The value of each condition where evaluation does not reach it. With it, the reason why one
    /// of them has no text, if that is so.
    pub(crate) fn unreached(&self, decision: &Decision) -> (Vec<LateEvaluation>, Option<String>) {
        let mut bit = decision.conditions.len();
        let mut unsayable = None;
        let late = decision.conditions.values().map(|condition| match condition.unreached {
            _ if self.request.short_circuit => LateEvaluation::Never,
            UnreachedValue::Never => LateEvaluation::Never,
            UnreachedValue::Always(_) => LateEvaluation::Always,
            UnreachedValue::WhereDefined(expr) => {
                let text = self.predicates.text_where_defined(expr, condition.span.start);
                let text = text.unwrap_or_else(|reason| {
                    unsayable.get_or_insert(reason);
                    format!("({POISON} = 1)")
                });
                bit += 1;
                LateEvaluation::WhereDefined { text, bit: bit - 1 }
            }
        });
        let late = late.collect();
        (late, unsayable)
    }

    /// Adds the edits of the conditions. They depend on the other edits in the conditions' texts.
    pub(crate) fn conditions(&self, edits: &mut Vec<Edit<EditAction>>) {
        let function = self.number;
        for (index, edit) in self.function.decisions.iter().enumerate() {
            for (condition, span) in edit.condition_spans() {
                let action = EditAction::Condition { function, index, condition };
                edits.push(Edit { span, rank: rank::CONDITION, action });
            }
            for capture in edit.captures() {
                let action = EditAction::Capture { temp: capture.temp };
                edits.push(Edit { span: capture.span, rank: self.capture_rank(capture), action });
            }
        }
    }

    /// The rank of a capture, which may be a decision's value or a part of its only condition.
    pub(crate) fn capture_rank(&self, capture: &Capture) -> u8 {
        let is_value = |site: &DecisionSite| {
            let kind = self.body.decisions[site.decision].kind;
            kind == DecisionKind::Value && site.conditions != [site.span]
        };
        let mut sites = self.body.source.decisions.iter();
        match sites.any(|site| site.span == capture.span && is_value(site)) {
            true => rank::CAPTURE_OF_DECISION,
            false => rank::CAPTURE,
        }
    }

    /// Cells, or a number among the wide ones, for a decision; the first.
    pub(crate) fn add_cells(&mut self, decision: DecisionId, recording: &Recording) -> u32 {
        let function = self.number;
        let first = self.plan.cells.len() as u32;
        let (meaning, all): (_, Vec<Vec<LabelId>>) = match recording {
            Recording::Nothing => return first,
            Recording::Outcome(labels) => (CellMeaning::Outcome, labels.to_vec()),
            Recording::Vector { labels, .. } => {
                let bits = labels.len().trailing_zeros();
                (CellMeaning::Vector { bits }, labels.clone())
            }
            Recording::Wide(labels) => {
                let labels = labels.clone();
                let whole = &self.body.decisions[decision];
                let bits = vector_bits(whole, self.request.short_circuit) as u32;
                self.plan.wide.push(WideDecision { function, decision, labels, bits });
                return self.plan.wide.len() as u32 - 1;
            }
        };
        for labels in all {
            self.plan.cell(function, labels);
        }
        let wanted = self.wanted.contains_key(&decision);
        let settled = if let Recording::Vector { needed, .. } = recording { *needed } else { 0 };
        let cells = DecisionCells { function, decision, first, meaning, wanted, settled };
        self.plan.decisions.push(cells);
        first
    }
}

/// The switches on whose ways there are probes of def-use pairs and of paths; no labels yet.
fn switches_with_probes(
    flow: &FlowProbes,
    paths: &PathProbes,
) -> IndexMap<BlockId, Vec<(u32, LabelId)>> {
    let with_text = flow.switches.keys().chain(paths.switches.keys()).map(|(block, _)| *block);
    let with_tables = flow.tables.iter().filter_map(|table| match table.place {
        TablePlace::Out(edge) => Some(edge.from),
        _ => None,
    });
    with_text.chain(with_tables).map(|block| (block, Vec::new())).collect()
}
