//! Instrumentation: the user's preprocessed text, with records of what control passes.
//!
//! # What is put in
//! Every record is the store of a 1 to a cell of a static array (see [`crate::Plan`]). No line is
//! added or removed, so line markers stay true. All edits are expressions in place or statements
//! beside the user's; a variable that one needs is declared at the start of the function's body.
//!
//! # What holds
//! - Nothing that has an effect or may trap is evaluated more often than the user's text does. Pure
//!   conditions that cannot trap are evaluated again, or before their turn.
//! - A function that is not watched stays as it is, but for its static locals, which are marked as
//!   used, so that tests can set them, and for the user's labels.
//! - The calls of the user's labels are taken out, watched or not: nothing evaluates their
//!   predicates but the records, whose guards let no trap through.
//! - A label whose place cannot be rewritten is listed in the plan as unwatched, with the reason.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use lydian_base::{Arena, SourceMap, Span};
use lydian_ir::source::{Capture, DecisionSite, MarkSite, MarkStyle, RootId};
use lydian_ir::stmt::Edge;
use lydian_ir::{
    Body, ConditionId, Decision, DecisionId, DecisionKind, ExprArena, FuncId, LocalId, MarkId,
    Program, UnreachedValue,
};
use lydian_objective::event::vector_bits;
use lydian_objective::{FunctionObjectives, LabelId, Pred, Site, UnitFlows, Wanted};
use rustc_hash::FxHashSet;

use crate::harness::static_local;
use crate::plan::{CellMeaning, DecisionCells, Plan, WideDecision};
use decision::{DecisionEdit, Late};
use hooks::{Hooks, POISON, Recorded, Standing};
use judges::Judges;
use recorded::{Elsewhere, labels_recorded};
use render::{Renderer, tests_bits};
use roots::RootRecord;
use switches::SwitchEdit;
use texts::{Around, Scope, further_prelude, prelude};
use tree::{Edit, nest, splice};
use uninstrumentable::{NO_PLACE, OVERLAP, add_refused};
use vectors::{Recording, recording};

mod accesses;
mod borders;
mod cells;
pub(crate) mod code;
mod counts;
mod dataflow;
mod decision;
mod environments;
mod hooks;
mod implied;
mod judges;
mod labels;
mod monitors;
mod mutants;
mod numbers;
mod pairs;
mod paths;
mod rails;
mod recorded;
mod render;
mod roots;
mod scan;
mod statements;
mod switches;
mod texts;
mod thread_locals;
mod tree;
mod uninstrumentable;
mod units;
mod vectors;
mod ways;

pub(crate) use vectors::vector;

/// What is to be rewritten.
#[derive(Clone, Copy, Debug)]
pub struct RewriteRequest<'a> {
    /// The preprocessed text, or those of several units of the program, one after the other.
    pub map: &'a SourceMap,
    /// Where the text of each unit begins; empty where there is one. Only functions of the first
    /// are watched. What these ask of the others, definitions and uses of globals, is recorded
    /// there.
    pub starts: &'a [u32],
    /// The program that was lowered from it.
    pub program: &'a Program,
    /// The functions to be watched, with what is to be watched.
    pub watched: &'a [FunctionObjectives],
    /// Whether conditions that evaluation does not reach are unknown.
    pub short_circuit: bool,
    /// Whether signed overflow is a fault.
    pub overflow_traps: bool,
    /// What the text is compiled into.
    pub purpose: Purpose,
    /// Whether records that follow from others are left out ([`crate::plan::add_implied`] adds
    /// them).
    pub leaves_out: bool,
    /// Whether it is counted how often control passes entries, statements, and the ways of conditions
    /// and switches.
    pub counts: bool,
    /// Whether the compiler may evaluate the operands of an expression in another order than from
    /// left to right, as gcc does. Which calls precede a use is known only at run time then.
    pub any_order: bool,
    /// The data flow of the program, where others have asked for it; it is worked out if there is
    /// none.
    pub flows: Option<&'a UnitFlows>,
}

/// What an instrumented text is compiled into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An object that the runner calls functions of: tests set its static and thread-local
    /// variables, and its compile flags make every automatic variable start as zero.
    Tests,
    /// The user's own program, with the user's flags: its variables stay what they are, and a
    /// condition that evaluation would not reach may have no defined value, which then must not
    /// become undefined behaviour.
    Program,
}

/// What becomes of the texts of a program's units.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The text of the first unit.
    pub text: String,
    /// The texts of the others; `None` where nothing is recorded in one.
    pub others: Vec<Option<String>>,
    /// What its cells mean.
    pub plan: Plan,
}

/// Rewrites the text of one unit. Never fails: what cannot be watched is listed in the plan.
pub fn rewrite(request: &RewriteRequest<'_>) -> (String, Plan) {
    let Rewritten { text, plan, .. } = rewrite_units(request);
    (text, plan)
}

/// Rewrites the texts of all units.
pub fn rewrite_units(request: &RewriteRequest<'_>) -> Rewritten {
    let units = request.units();
    let mut plan = match request.purpose {
        Purpose::Tests => Plan::default(),
        Purpose::Program => Plan::for_program(),
    };
    let mut edits = Vec::new();
    if request.purpose == Purpose::Tests {
        edits.extend(static_locals(request));
        edits.extend(thread_locals::made_plain(request));
    }
    let mut functions = Vec::new();
    let mut judges = Judges::new();
    let wanted = Wanted::of(request.watched);
    let own = UnitFlows::default();
    let flows = request.flows.unwrap_or(&own);
    let flow = dataflow::Asked::new(request, || flows.whole(request.program, request.map));
    let cells = cells::AskedCells::new(request, || flows.cells(request.program, request.map));
    flow.note_shared(&mut plan);
    // What others ask of functions that are not watched is recorded in these, too.
    let mut all = Cow::Borrowed(request.watched);
    let further = flow.pairs.further.iter().chain(&cells.pairs.further);
    let further: BTreeSet<FuncId> = further.copied().collect();
    if !further.is_empty() {
        all.to_mut().extend(further.into_iter().map(nothing_of));
    }
    let (user, request) = (request, &RewriteRequest { watched: &all, ..*request });
    labels::of_unwatched(request, &mut edits);
    // Other units stay as they are but for records.
    edits.retain(|edit| edit.span.start < units[0].end);
    let unit_of = |function: FuncId| {
        let body = request.program.functions[function].body.as_ref();
        body.map_or(0, |body| request.unit_at(body.source.body.start))
    };
    let recorded: BTreeSet<usize> = all.iter().map(|of| unit_of(of.function)).collect();
    plan.shares_cells = recorded.iter().any(|unit| *unit > 0);
    let nothing = Wanted::default();
    let mut monitors = monitors::monitors(request, &wanted, &mut plan);
    let elsewhere = Elsewhere::of(request.watched);
    let asked = (&flow, &cells, &elsewhere);
    let scope = |unit: usize| match (plan.shares_cells, unit) {
        (false, _) => Scope::Text,
        (true, 0) => Scope::First,
        (true, unit) => Scope::Further(unit),
    };
    let declared = |unit: usize| flow.declarations(scope(unit)) + &cells.declarations(scope(unit));
    let epilogue = |unit: usize| flow.epilogue(scope(unit)) + &cells.epilogue(scope(unit));
    let around: Vec<(String, String)> =
        (0..units.len()).map(|unit| (declared(unit), epilogue(unit))).collect();
    let mut declarations = around[0].0.clone();
    if flow.pairs.asks_any_path() || cells.pairs.asks_any_path() {
        declarations.push_str(&ways::declarations());
    }
    declarations.push_str(&monitors.declarations(request.program.types.target, &plan));
    for (index, objectives) in request.watched.iter().enumerate() {
        let Some(body) = request.program.functions[objectives.function].body.as_ref() else {
            continue;
        };
        let number = index as u32;
        let wanted = &wanted.get(index).unwrap_or(&nothing).decisions;
        let mut watch = Watch::new(request, number, body, wanted, asked, &mut plan, &mut judges);
        let own = monitors.functions.get_mut(index).map(std::mem::take).unwrap_or_default();
        watch.all_sites(&own, &mut edits);
        functions.push((number, watch.finish()));
    }
    let (nodes, refused) = nest(edits);
    if request.leaves_out {
        for (number, function) in &mut functions {
            let id = request.watched[*number as usize].function;
            if let Some(body) = request.program.functions[id].body.as_ref() {
                function.leave_out((request.program, body), *number, &refused, &mut plan);
            }
        }
    }
    for action in refused {
        add_refused(&action, &functions, request, &mut plan);
    }
    flow.pairs.lost_of_shared(&mut plan);
    let renderer = Renderer { request, functions: functions.into_iter().collect() };
    let mut rest = nodes.as_slice();
    let mut texts = units.iter().map(|unit| {
        let (own, others) = rest.split_at(rest.partition_point(|node| node.span.start < unit.end));
        rest = others;
        splice(request.map.text(), *unit, own, &mut |node| renderer.render(node))
    });
    let text = texts.next().unwrap_or_default();
    let own = Around { text: &text, declarations: &declarations, epilogue: &around[0].1 };
    let text = prelude(user, &own, &judges) + &text + own.epilogue;
    let others = (1..units.len()).zip(texts).map(|(unit, text)| {
        let (declarations, epilogue) = &around[unit];
        recorded.contains(&unit).then(|| {
            let own = Around { text: &text, declarations, epilogue };
            further_prelude(user, units[unit].start, &own) + &text + epilogue
        })
    });
    let others: Vec<Option<String>> = others.collect();
    counts::forget_lost(&mut plan, others.iter().flatten().chain([&text]).map(String::as_str));
    Rewritten { text, others, plan }
}

/// Objectives that ask for nothing.
fn nothing_of(function: FuncId) -> FunctionObjectives {
    FunctionObjectives {
        function,
        exprs: ExprArena::default(),
        labels: Arena::new(),
        criteria: IndexMap::new(),
        sequences: Arena::new(),
        hypers: Arena::new(),
        hyper_criteria: IndexMap::new(),
    }
}

/// An edit of the text.
#[derive(Debug)]
enum Action {
    /// Text that is put in, at an empty span.
    Insert(String),
    /// Text that is taken out, but for its lines.
    Remove,
    /// What stands at the start of a function's body: declarations, and the cell of its entry.
    Start { function: u32, text: String, cell: Option<u32> },
    /// A record at a mark: a cell that is set whatever the state is, and more.
    Mark { function: u32, style: MarkStyle, cell: Option<u32>, record: String },
    /// The call of a label of the user's, with the record that takes its place.
    Label { style: MarkStyle, record: String },
    /// The operand of a switch.
    Switch { function: u32, index: usize },
    /// The operand of a computed `goto`: cells of ways, and what tells the ways apart.
    Goto { dispatch: String },
    /// A decision of a watched function.
    Decision { function: u32, index: usize },
    /// A condition of it.
    Condition { function: u32, index: usize, condition: usize },
    /// A root with labels.
    Root { function: u32, root: RootId },
    /// A part of a root's text that is evaluated first.
    Capture { temp: LocalId },
    /// An expression that reads or defines variables.
    Unit { function: u32, span: Span },
    /// A place that is read or written to, of whose address something is recorded.
    Place { function: u32, span: Span },
}

/// Ranks of edits that share a span, from the outermost in.
mod rank {
    pub(super) const INSERT: u8 = 0;
    pub(super) const MARK: u8 = 1;
    pub(super) const SWITCH: u8 = 2;
    /// A root that has a capture of its own span, which is a decision's value.
    pub(super) const ROOT_OF_DECISION: u8 = 3;
    /// A capture of a decision's value.
    pub(super) const CAPTURE_OF_DECISION: u8 = 4;
    pub(super) const DECISION: u8 = 5;
    pub(super) const CONDITION: u8 = 6;
    /// A root that has a capture of its own span.
    pub(super) const CAPTURING_ROOT: u8 = 7;
    pub(super) const CAPTURE: u8 = 8;
    /// What is recorded at a statement comes before the hooks of a root that is its whole text,
    /// which evaluate what the program is about to, and trap where it does.
    pub(super) const UNIT: u8 = 9;
    pub(super) const ROOT: u8 = 10;
    pub(super) const PLACE: u8 = 11;
}

/// Marks static locals as used: the optimiser then leaves them in memory, where tests find them.
fn static_locals(request: &RewriteRequest<'_>) -> Vec<Edit<Action>> {
    let mut starts: Vec<u32> = request
        .program
        .globals
        .iter()
        .filter(|(_, global)| static_local(&global.name).is_some() && !global.span.is_none())
        .map(|(_, global)| global.span.start)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let is_declaration = |at: &u32| {
        let text = request.map.text().get(*at as usize..).unwrap_or("");
        let thread_local = ["_Thread_local", "thread_local", "__thread"];
        ["static", "const"].iter().chain(&thread_local).any(|word| text.starts_with(word))
    };
    let insert = |at: u32| Edit {
        span: Span::new(at, at),
        rank: rank::INSERT,
        action: Action::Insert("__attribute__((used)) ".to_owned()),
    };
    starts.into_iter().filter(is_declaration).map(insert).collect()
}

/// A watched function's decisions and roots, as rendering needs them.
#[derive(Debug, Default)]
struct WatchedFunction {
    decisions: Vec<DecisionEdit>,
    switches: Vec<SwitchEdit>,
    /// Hooks of each root, with its captures.
    roots: IndexMap<RootId, String>,
    flow: dataflow::Flow,
    paths: paths::Paths,
    units: IndexMap<Span, units::Unit>,
    places: IndexMap<Span, units::Place>,
    /// Variables and records of sequences at the start of the function's body.
    monitors: String,
    /// Steps of sequences on ways out of switches.
    steps: IndexMap<Edge, String>,
    /// The cells of the entry and of marks that are set whatever the state is.
    entry: Option<u32>,
    marks: Vec<(MarkId, u32)>,
    /// The cells that follow from others, and are not set.
    left_out: FxHashSet<u32>,
}

impl WatchedFunction {
    /// The tables of which a cell is set on a way out of a switch: the first cell of each, and the
    /// text of the index.
    fn tables_on_edge(&self, edge: Edge) -> impl Iterator<Item = (u32, String)> {
        let of_uses = self.flow.tables.iter().filter_map(move |table| match table.place {
            dataflow::TablePlace::Out(at) if at == edge => {
                Some((table.cells.0, table.index.clone()))
            }
            _ => None,
        });
        let of_paths = self.paths.tables.iter().filter_map(move |table| match table.way {
            paths::WayOn::Out(at) if at == edge => {
                Some((table.cells.first().copied().unwrap_or(u32::MAX), table.index.clone()))
            }
            _ => None,
        });
        of_uses.chain(of_paths)
    }
}

/// Collects the edits of one watched function.
struct Watch<'a, 'p> {
    request: &'a RewriteRequest<'a>,
    objectives: &'a FunctionObjectives,
    body: &'a Body,
    number: u32,
    /// The decisions whose vectors hyperlabels want.
    wanted: &'p BTreeMap<DecisionId, Vec<Pred>>,
    flow: &'p dataflow::Asked<'p>,
    cells: &'p cells::AskedCells<'p>,
    plan: &'p mut Plan,
    judges: &'p mut Judges,
    hooks: Hooks<'a>,
    sites: IndexMap<Site, Vec<LabelId>>,
    /// The labels that are to be recorded.
    recorded: Vec<LabelId>,
    /// The labels of run-time errors, and of mutants.
    errors: FxHashSet<LabelId>,
    mutants: FxHashSet<LabelId>,
    /// The records of the user's labels.
    user_labels: IndexMap<MarkId, String>,
    /// The counters of the function.
    counters: counts::Counters,
    function: WatchedFunction,
}

impl<'a, 'p> Watch<'a, 'p> {
    fn new(
        request: &'a RewriteRequest<'a>,
        number: u32,
        body: &'a Body,
        wanted: &'p BTreeMap<DecisionId, Vec<Pred>>,
        (flow, cells, elsewhere): (&'p dataflow::Asked<'p>, &'p cells::AskedCells<'p>, &Elsewhere),
        plan: &'p mut Plan,
        judges: &'p mut Judges,
    ) -> Self {
        let objectives = &request.watched[number as usize];
        let mut sites: IndexMap<Site, Vec<LabelId>> = IndexMap::new();
        let function = objectives.function;
        let shared = flow.pairs.shared_labels(function).max(cells.pairs.shared_labels(function));
        let recorded = labels_recorded(objectives, elsewhere, shared);
        for label in &recorded {
            sites.entry(objectives.labels[*label].site).or_default().push(*label);
        }
        let hooks = Hooks::new(request, objectives, body);
        let function = WatchedFunction::default();
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
            judges,
            hooks,
            sites,
            recorded,
            errors: RootRecord::Error.labels(objectives),
            mutants: RootRecord::Mutant.labels(objectives),
            user_labels,
            counters: counts::Counters::default(),
            function,
        }
    }

    fn finish(self) -> WatchedFunction {
        self.function
    }

    fn all_sites(&mut self, monitors: &monitors::OfFunction<'_>, edits: &mut Vec<Edit<Action>>) {
        let sites = std::mem::take(&mut self.sites);
        let mut units = units::Units::new(self.body, self.request.map.text());
        let function = self.objectives.function;
        let program = self.request.program;
        let (of, mut ways) = ((program, self.body, function), None);
        let mut flow = dataflow::flow(self.flow, of, &mut units, &mut ways, self.plan);
        cells::cells(self.cells, of, &mut units, &mut ways, self.plan, &mut flow);
        let mut paths = paths::paths(
            self.request.program,
            self.body,
            self.objectives,
            &self.recorded,
            self.number,
            self.plan,
        );
        if let Some(reason) = paths.unmeasured {
            uninstrumentable::add_sequences(self.number, &paths.sequences, reason, self.plan);
            self.unwatch(&paths.labels, reason);
        }
        if let Some(ways) = ways {
            ways.note(&mut paths);
        }
        let mut edges: IndexMap<_, Vec<(u32, LabelId)>> = IndexMap::new();
        let switches = flow.switches.keys().chain(paths.switches.keys());
        let tables = flow.tables.iter().filter_map(|table| match table.place {
            dataflow::TablePlace::Out(edge) => Some(edge.from),
            _ => None,
        });
        let switches = switches.map(|(block, _)| *block).chain(tables);
        switches.for_each(|block| _ = edges.entry(block).or_default());
        let mut entry = String::new();
        for (site, labels) in &sites {
            match *site {
                Site::Entry => {
                    let at = self.body_start();
                    let (cell, others) = self.plain_cell(labels);
                    self.function.entry = cell;
                    entry = self.records(&others, false, Standing::at(at));
                }
                Site::Mark(mark) => self.mark(mark, labels, edits),
                Site::Edge(edge) => {
                    let ways = edges.entry(edge.from).or_default();
                    ways.extend(labels.iter().map(|label| (edge.way, *label)));
                }
                Site::Decision(id) => self.decision(id, labels, edits),
                Site::Root(_) => {}
                // Sequences of data flow and paths are recorded as wholes, statements below.
                Site::Start | Site::Stmt(_) | Site::Block(_) | Site::Condition(..) => {}
            }
        }
        // After the decisions, whose conditions may be roots.
        for (site, labels) in &sites {
            if let Site::Root(root) = *site {
                self.root(root, labels, edits);
            }
        }
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
        self.tables_on_ways(&flow, &paths, edits);
        self.counters = self.count(&sites, edits);
        entry.push_str(&self.counters.entry);
        self.function.flow = flow;
        self.function.paths = paths;
        for (site, labels) in &sites {
            if let Site::Stmt(stmt) = *site {
                self.statement(stmt, labels, &mut units);
            }
        }
        self.monitors(monitors, &mut units, &mut edges, edits);
        self.at_statements(units, edits);
        labels::of_function(self.body, &mut self.user_labels, edits);
        self.conditions(edits);
        for (block, ways) in edges {
            self.switch(block, &ways, edits);
        }
        let declarations = self.declarations();
        let cell = self.function.entry;
        if !declarations.is_empty() || !entry.is_empty() || cell.is_some() {
            let at = self.body_start();
            let text = format!(" {declarations}{entry}");
            let action = Action::Start { function: self.number, text, cell };
            edits.push(Edit { span: Span::new(at, at), rank: rank::INSERT, action });
        }
    }

    /// Where a statement can be put first in the body: behind the pragmas that C allows only
    /// there.
    fn body_start(&self) -> u32 {
        let brace = self.body.source.body.start;
        let text = self.request.map.text().get(brace as usize..).unwrap_or("");
        brace + scan::after_first_pragmas(text)
    }

    fn declarations(&self) -> String {
        let mut text = String::from("int lydian_bad; (void)lydian_bad; ");
        for decision in &self.function.decisions {
            text.push_str(&decision.declarations());
        }
        text + &self.function.flow.declarations
            + &self.function.paths.declarations
            + &self.function.monitors
    }

    /// Puts records on the ways of conditions.
    fn on_ways(
        &mut self,
        conditions: &IndexMap<(DecisionId, ConditionId), [String; 2]>,
        edits: &mut Vec<Edit<Action>>,
    ) {
        for ((decision, condition), texts) in conditions {
            let index = self.edit_of(*decision, edits);
            self.function.decisions[index].on_ways(*condition, texts);
        }
    }

    /// Puts records that set one of several cells on the ways of conditions.
    fn tables_on_ways(
        &mut self,
        flow: &dataflow::Flow,
        paths: &paths::Paths,
        edits: &mut Vec<Edit<Action>>,
    ) {
        for table in &flow.tables {
            if let dataflow::TablePlace::Way(decision, condition, value) = table.place {
                let index = self.edit_of(decision, edits);
                let edit = &mut self.function.decisions[index];
                edit.sets_one_of(condition, value, (table.cells.0, table.index.clone()));
            }
        }
        for table in &paths.tables {
            let paths::WayOn::Condition((decision, condition), value) = table.way else {
                continue;
            };
            let (index, first) = (self.edit_of(decision, edits), table.cells.first().copied());
            let edit = &mut self.function.decisions[index];
            let text = (first.unwrap_or(u32::MAX), table.index.clone());
            edit.sets_one_of(condition, value, text);
        }
    }

    /// The edit of a decision, made if nothing needed one so far.
    fn edit_of(&mut self, decision: DecisionId, edits: &mut Vec<Edit<Action>>) -> usize {
        let made = self.function.decisions.iter().position(|edit| edit.id == decision);
        made.unwrap_or_else(|| {
            self.decision(decision, &[], edits);
            self.function.decisions.len() - 1
        })
    }

    /// Edits with the records of statements.
    fn at_statements(&mut self, units: units::Units<'_>, edits: &mut Vec<Edit<Action>>) {
        let function = self.number;
        for span in units.around.keys().copied() {
            let action = Action::Unit { function, span };
            edits.push(Edit { span, rank: rank::UNIT, action });
            let around = |edit: &&mut DecisionEdit| edit.span.contains(span);
            self.function.decisions.iter_mut().filter(around).for_each(DecisionEdit::keep_text);
        }
        for (site, record) in &units.before {
            edits.push(self.at_mark(site, None, record.clone()));
        }
        for span in units.places.keys().copied() {
            edits.push(Edit { span, rank: rank::PLACE, action: Action::Place { function, span } });
            let around = |edit: &&mut DecisionEdit| edit.span.contains(span);
            self.function.decisions.iter_mut().filter(around).for_each(DecisionEdit::keep_text);
        }
        self.function.units = units.around;
        self.function.places = units.places;
    }

    fn unwatch(&mut self, labels: &[LabelId], reason: &str) {
        uninstrumentable::add_labels(self.number, labels, reason, self.plan);
    }

    /// Statements that record labels at a place whose state their predicates speak of.
    fn records(
        &mut self,
        labels: &[LabelId],
        before_undefined: bool,
        standing: Standing<'_>,
    ) -> String {
        let mut text = String::new();
        for label in labels {
            let pred = &self.objectives.labels[*label].pred;
            let cell = Recorded { number: self.plan.cells.len(), before_undefined, open: None };
            match self.hooks.record(pred, cell, standing) {
                Ok(record) => {
                    self.plan.cell(self.number, vec![*label]);
                    text.push_str(&record);
                }
                Err(reason) => self.unwatch(&[*label], &reason),
            }
        }
        text
    }

    fn mark(&mut self, mark: MarkId, labels: &[LabelId], edits: &mut Vec<Edit<Action>>) {
        let site = self.body.source.marks.iter().find(|site| site.mark == mark).copied();
        let Some(site) = site else {
            return self.unwatch(labels, NO_PLACE);
        };
        if labels::is_user_label(self.body, mark) {
            let record = self.records(labels, false, Standing::at(site.span.start));
            self.user_labels.insert(mark, record);
            return;
        }
        let (cell, others) = self.plain_cell(labels);
        self.function.marks.extend(cell.map(|cell| (mark, cell)));
        let record = self.records(&others, false, Standing::at(site.span.start));
        if cell.is_some() || !record.is_empty() {
            edits.push(self.at_mark(&site, cell, record));
        }
    }

    fn at_mark(&self, site: &MarkSite, cell: Option<u32>, record: String) -> Edit<Action> {
        let (function, style) = (self.number, site.style);
        let action = Action::Mark { function, style, cell, record };
        Edit { span: site.span, rank: rank::MARK, action }
    }

    /// One cell for all of the labels whose predicate is true on every state, and the others.
    fn plain_cell(&mut self, labels: &[LabelId]) -> (Option<u32>, Vec<LabelId>) {
        let is_plain =
            |label: &LabelId| matches!(self.objectives.labels[*label].pred, Pred::Const(true));
        let (plain, others): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|label| is_plain(label));
        let cell = (!plain.is_empty()).then(|| self.plan.cell(self.number, plain));
        (cell, others)
    }

    fn decision(
        &mut self,
        id: lydian_ir::DecisionId,
        labels: &[LabelId],
        edits: &mut Vec<Edit<Action>>,
    ) {
        let site = self.body.source.decisions.iter().find(|site| site.decision == id);
        let Some(site) = site else {
            return self.unwatch(labels, NO_PLACE);
        };
        let decision = &self.body.decisions[id];
        let objectives = self.objectives;
        let of_state = |label: &LabelId| {
            let mut any = false;
            objectives.labels[*label].pred.for_each_expr(&mut |_| any = true);
            any
        };
        let (hooked, plain): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|l| of_state(l));
        let (late, unsayable) = self.unreached(decision);
        let (hooked, plain) = match unsayable {
            Some(reason) => {
                self.unwatch(labels, &reason);
                (Vec::new(), Vec::new())
            }
            None => (hooked, plain),
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
            hooked.into_iter().partition(of_mutant);
        for label in others {
            self.hook(label, None, &mut edit);
        }
        self.mutants_of_decision(id, &mutants, &mut edit);
        let index = self.function.decisions.len();
        let action = Action::Decision { function, index };
        edits.push(Edit { span: site.span, rank: rank::DECISION, action });
        self.function.decisions.push(edit);
    }

    /// What each condition of a decision is where it is not reached, and why one of them cannot be
    /// said in the text if that is so.
    fn unreached(&self, decision: &Decision) -> (Vec<Late>, Option<String>) {
        let mut bit = decision.conditions.len();
        let mut unsayable = None;
        let late = decision.conditions.values().map(|condition| match condition.unreached {
            _ if self.request.short_circuit => Late::Never,
            UnreachedValue::Never => Late::Never,
            UnreachedValue::Always(_) => Late::Always,
            UnreachedValue::WhereDefined(expr) => {
                let text = self.hooks.text_where_defined(expr, condition.span.start);
                let text = text.unwrap_or_else(|reason| {
                    unsayable.get_or_insert(reason);
                    format!("({POISON} = 1)")
                });
                bit += 1;
                Late::WhereDefined { text, bit: bit - 1 }
            }
        });
        let late = late.collect();
        (late, unsayable)
    }

    /// Edits of the conditions, which depend on what else stands in their texts.
    fn conditions(&self, edits: &mut Vec<Edit<Action>>) {
        let function = self.number;
        for (index, edit) in self.function.decisions.iter().enumerate() {
            for (condition, span) in edit.condition_spans() {
                let action = Action::Condition { function, index, condition };
                edits.push(Edit { span, rank: rank::CONDITION, action });
            }
            for capture in edit.captures() {
                let action = Action::Capture { temp: capture.temp };
                edits.push(Edit { span: capture.span, rank: self.capture_rank(capture), action });
            }
        }
    }

    /// What is captured may be the value of a decision, or a part of its only condition.
    fn capture_rank(&self, capture: &Capture) -> u8 {
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
    fn add_cells(&mut self, decision: lydian_ir::DecisionId, recording: &Recording) -> u32 {
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

/// No sequences.
fn no_sequences() -> units::Sequences {
    units::Sequences::default()
}
