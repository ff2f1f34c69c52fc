//! Instrumentation: rewrites the user's preprocessed text so that it records what control passes.
//!
//! A *probe* is the code in the rewritten text that records one event. Most probes store a 1 to a
//! cell of a static array; [`crate::Plan`] says which labels each cell stands for. No line is added
//! or removed, so line markers stay true. Every edit is an expression in place, or a statement
//! beside the user's. A variable that a probe needs is declared at the start of the function's
//! body.
//!
//! [`rewrite_units`] runs the passes: it finds the pairs and sequences that watched functions want,
//! makes the edits of each function ([`function`]), joins them to a tree ([`text::tree`]), leaves
//! out redundant probes ([`redundant`]), and renders the text ([`render`]).
//!
//! # Invariants
//! - Nothing that has an effect or may trap is evaluated more often than the user's text does. A
//!   pure condition that cannot trap may be evaluated again, or before its turn.
//! - A function that is not watched stays as it is, with two exceptions: its static locals are
//!   marked as used, so that tests can set them, and calls of the user's labels are removed.
//! - Calls of the user's labels are removed from every function. Only probes evaluate the
//!   predicates of labels, under guards that stop traps.
//! - A label whose place cannot be rewritten is listed in the plan with the reason.

use std::borrow::Cow;
use std::collections::BTreeSet;

use lydian_ir::{ExprArena, FuncId, Linkage};
use lydian_objective::{FunctionObjectives, RecordRequest, UnitFlows};

use crate::plan::Plan;
use crate::rewrite::counters::forget_uncounted;
use crate::rewrite::data_flow::cells::CellPairs;
use crate::rewrite::data_flow::path_history::path_history_declarations;
use crate::rewrite::data_flow::variables::VariablePairs;
use crate::rewrite::edits::EditAction;
use crate::rewrite::function::refused::add_refused;
use crate::rewrite::function::{FunctionEdits, FunctionRewriter, WantedProbes};
use crate::rewrite::labels::LabelsElsewhere;
use crate::rewrite::mutant_probes::MutantProbes;
use crate::rewrite::render::Renderer;
use crate::rewrite::sequences::monitors::sequence_monitors;
use crate::rewrite::text::prelude::{UnitFrame, UnitRole, further_prelude, prelude};
use crate::rewrite::text::storage::{plain_thread_locals, static_locals};
use crate::rewrite::text::tree::{Node, nest, splice};
use crate::rewrite::text::user_labels;

pub(crate) mod checked;
mod counters;
mod data_flow;
mod decision;
mod edges;
mod edits;
mod function;
mod labels;
mod mutant_probes;
mod paths;
pub(crate) mod predicates;
mod redundant;
mod render;
mod request;
mod sequences;
mod source;
mod statement_probes;
mod switches;
mod text;
mod uninstrumentable;

pub(crate) use self::decision::vectors::vector;
pub use self::request::{Purpose, RewriteRequest};

/// The rewritten texts of a program's units.
#[derive(Clone, Debug)]
pub struct RewrittenUnits {
    /// The text of the first unit.
    pub text: String,
    /// The texts of the other units; `None` for a unit without probes.
    pub others: Vec<Option<String>>,
    /// The meanings of the cells.
    pub plan: Plan,
}

/// Rewrites the text of one unit. Labels that cannot be instrumented are listed in the plan.
pub fn rewrite(request: &RewriteRequest<'_>) -> (String, Plan) {
    let RewrittenUnits { text, plan, .. } = rewrite_units(request);
    (text, plan)
}

/// Rewrites the texts of all units.
pub fn rewrite_units(request: &RewriteRequest<'_>) -> RewrittenUnits {
    let units = request.units();
    let mut plan = match request.purpose {
        Purpose::Tests => Plan::default(),
        Purpose::Program => Plan::for_program(),
    };
    let mut edits = Vec::new();
    if request.purpose == Purpose::Tests {
        edits.extend(static_locals(request));
        edits.extend(plain_thread_locals(request));
    }
    let mut mutant_probes = MutantProbes::new();
    let wanted = RecordRequest::of(request.watched);
    let own = UnitFlows::default();
    let flows = request.flows.unwrap_or(&own);
    let flow = VariablePairs::new(request, || flows.whole(request.program, request.map));
    let cells = CellPairs::new(request, || flows.cells(request.program, request.map));
    flow.note_shared(&mut plan);
    let all = with_further_functions(request.watched, &flow, &cells);
    let (user, request) = (request, &RewriteRequest { watched: &all, ..*request });
    user_labels::of_unwatched(request, &mut edits);
    // Other units get probes and no other edits.
    edits.retain(|edit| edit.span.start < units[0].end);
    let recorded = units_with_probes(request);
    plan.shares_cells = recorded.iter().any(|unit| *unit > 0);
    let nothing = RecordRequest::default();
    let monitors = sequence_monitors(request, &wanted, &mut plan);
    let elsewhere = LabelsElsewhere::of(request.watched);
    let asked = WantedProbes { variables: &flow, cells: &cells, elsewhere: &elsewhere };
    let role = |unit: usize| UnitRole::of(unit, plan.shares_cells);
    let frames: Vec<FlowFrame> =
        (0..units.len()).map(|unit| FlowFrame::new(role(unit), &flow, &cells)).collect();
    let mut declarations = frames[0].declarations.clone();
    if flow.pairs.asks_any_path() || cells.pairs.asks_any_path() {
        declarations.push_str(&path_history_declarations());
    }
    declarations.push_str(&monitors.declarations(request.program.types.target, &plan));
    let mut functions = Vec::new();
    for (index, objectives) in request.watched.iter().enumerate() {
        let Some(body) = request.program.functions[objectives.function].body.as_ref() else {
            continue;
        };
        let number = index as u32;
        let wanted = &wanted.get(index).unwrap_or(&nothing).decisions;
        let mut rewriter = FunctionRewriter::new(
            request,
            number,
            body,
            wanted,
            asked,
            &mut plan,
            &mut mutant_probes,
        );
        rewriter.all_sites(&monitors.functions[index], &mut edits);
        functions.push((number, rewriter.finish()));
    }
    let (nodes, refused) = nest(edits);
    for action in &refused {
        if let EditAction::Case { function, index, way } = action {
            let found = functions.iter_mut().find(|(number, _)| number == function);
            let Some((_, of)) = found else { continue };
            of.switches[*index].ways[*way].at_label = false;
        }
    }
    if request.leaves_out {
        leave_out_redundant(request, &mut functions, &refused, &mut plan);
    }
    for action in refused {
        add_refused(&action, &functions, request, &mut plan);
    }
    flow.pairs.move_shared_places(&mut plan);
    let mut texts = rendered_units(request, functions, &nodes).into_iter();
    let text = texts.next().unwrap_or_default();
    let own = UnitFrame { text: &text, declarations: &declarations, epilogue: &frames[0].epilogue };
    let text = prelude(user, &own, &mutant_probes.text()) + &text + own.epilogue;
    let others = (1..units.len()).zip(texts).map(|(unit, text)| {
        let FlowFrame { declarations, epilogue } = &frames[unit];
        recorded.contains(&unit).then(|| {
            let own = UnitFrame { text: &text, declarations, epilogue };
            further_prelude(user, units[unit].start, &own) + &text + epilogue
        })
    });
    let others: Vec<Option<String>> = others.collect();
    forget_uncounted(&mut plan, others.iter().flatten().chain([&text]).map(String::as_str));
    RewrittenUnits { text, others, plan }
}

/// The watched functions, and after them the functions that are not watched but get probes of
/// pairs.
fn with_further_functions<'w>(
    watched: &'w [FunctionObjectives],
    flow: &VariablePairs<'_>,
    cells: &CellPairs<'_>,
) -> Cow<'w, [FunctionObjectives]> {
    let mut all = Cow::Borrowed(watched);
    let further = flow.pairs.further.iter().chain(&cells.pairs.further);
    let further: BTreeSet<FuncId> = further.copied().collect();
    if !further.is_empty() {
        let nothing = |function| FunctionObjectives::none(function, ExprArena::default());
        all.to_mut().extend(further.into_iter().map(nothing));
    }
    all
}

/// The numbers of the units that have functions with probes.
fn units_with_probes(request: &RewriteRequest<'_>) -> BTreeSet<usize> {
    let unit_of = |objectives: &FunctionObjectives| {
        let body = request.program.functions[objectives.function].body.as_ref();
        body.map_or(0, |body| request.unit_at(body.source.body.start))
    };
    request.watched.iter().map(unit_of).collect()
}

/// Leaves redundant probes out of all functions. `refused` are the edits that overlap others.
fn leave_out_redundant(
    request: &RewriteRequest<'_>,
    functions: &mut [(u32, FunctionEdits)],
    refused: &[EditAction],
    plan: &mut Plan,
) {
    for (number, function) in functions {
        let id = request.watched[*number as usize].function;
        let of = &request.program.functions[id];
        if let Some(body) = of.body.as_ref() {
            let may_be_inlined = of.linkage == Linkage::Internal;
            function.leave_out((request.program, body), (*number, may_be_inlined), refused, plan);
        }
    }
}

/// The texts of all units with their edits, in the order of the units.
fn rendered_units(
    request: &RewriteRequest<'_>,
    functions: Vec<(u32, FunctionEdits)>,
    nodes: &[Node<EditAction>],
) -> Vec<String> {
    let renderer = Renderer { request, functions: functions.into_iter().collect() };
    let mut rest = nodes;
    let texts = request.units().into_iter().map(|unit| {
        let (own, others) = rest.split_at(rest.partition_point(|node| node.span.start < unit.end));
        rest = others;
        splice(request.map.text(), unit, own, &mut |node| renderer.render(node))
    });
    texts.collect()
}

/// The text of data-flow probes before and after a unit's text.
struct FlowFrame {
    declarations: String,
    epilogue: String,
}

impl FlowFrame {
    fn new(role: UnitRole, flow: &VariablePairs<'_>, cells: &CellPairs<'_>) -> Self {
        Self {
            declarations: flow.declarations(role) + &cells.declarations(role),
            epilogue: flow.epilogue(role) + &cells.epilogue(role),
        }
    }
}
