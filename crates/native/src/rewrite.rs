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

use indexmap::IndexMap;
use lydian_base::Arena;
use lydian_ir::{ExprArena, FuncId};
use lydian_objective::{FunctionObjectives, RecordRequest, UnitFlows};

use crate::plan::Plan;
use crate::rewrite::counters::forget_uncounted;
use crate::rewrite::data_flow::cells::CellPairs;
use crate::rewrite::data_flow::path_history::path_history_declarations;
use crate::rewrite::data_flow::variables::VariablePairs;
use crate::rewrite::function::refused::add_refused;
use crate::rewrite::function::{FunctionRewriter, WantedProbes};
use crate::rewrite::labels::LabelsElsewhere;
use crate::rewrite::mutant_probes::MutantProbes;
use crate::rewrite::render::Renderer;
use crate::rewrite::sequences::monitors::sequence_monitors;
use crate::rewrite::text::prelude::{UnitFrame, UnitRole, further_prelude, prelude};
use crate::rewrite::text::storage::{plain_thread_locals, static_locals};
use crate::rewrite::text::tree::{nest, splice};
use crate::rewrite::text::user_labels;

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
    let mut functions = Vec::new();
    let mut mutant_probes = MutantProbes::new();
    let wanted = RecordRequest::of(request.watched);
    let own = UnitFlows::default();
    let flows = request.flows.unwrap_or(&own);
    let flow = VariablePairs::new(request, || flows.whole(request.program, request.map));
    let cells = CellPairs::new(request, || flows.cells(request.program, request.map));
    flow.note_shared(&mut plan);
    // Functions that are not watched get the probes that watched functions ask for.
    let mut all = Cow::Borrowed(request.watched);
    let further = flow.pairs.further.iter().chain(&cells.pairs.further);
    let further: BTreeSet<FuncId> = further.copied().collect();
    if !further.is_empty() {
        all.to_mut().extend(further.into_iter().map(nothing_of));
    }
    let (user, request) = (request, &RewriteRequest { watched: &all, ..*request });
    user_labels::of_unwatched(request, &mut edits);
    // Other units get probes and no other edits.
    edits.retain(|edit| edit.span.start < units[0].end);
    let unit_of = |function: FuncId| {
        let body = request.program.functions[function].body.as_ref();
        body.map_or(0, |body| request.unit_at(body.source.body.start))
    };
    let recorded: BTreeSet<usize> = all.iter().map(|of| unit_of(of.function)).collect();
    plan.shares_cells = recorded.iter().any(|unit| *unit > 0);
    let nothing = RecordRequest::default();
    let mut monitors = sequence_monitors(request, &wanted, &mut plan);
    let elsewhere = LabelsElsewhere::of(request.watched);
    let asked = WantedProbes { variables: &flow, cells: &cells, elsewhere: &elsewhere };
    let scope = |unit: usize| match (plan.shares_cells, unit) {
        (false, _) => UnitRole::Text,
        (true, 0) => UnitRole::First,
        (true, unit) => UnitRole::Further(unit),
    };
    let declared = |unit: usize| flow.declarations(scope(unit)) + &cells.declarations(scope(unit));
    let epilogue = |unit: usize| flow.epilogue(scope(unit)) + &cells.epilogue(scope(unit));
    let around: Vec<(String, String)> =
        (0..units.len()).map(|unit| (declared(unit), epilogue(unit))).collect();
    let mut declarations = around[0].0.clone();
    if flow.pairs.asks_any_path() || cells.pairs.asks_any_path() {
        declarations.push_str(&path_history_declarations());
    }
    declarations.push_str(&monitors.declarations(request.program.types.target, &plan));
    for (index, objectives) in request.watched.iter().enumerate() {
        let Some(body) = request.program.functions[objectives.function].body.as_ref() else {
            continue;
        };
        let number = index as u32;
        let wanted = &wanted.get(index).unwrap_or(&nothing).decisions;
        let mut watch = FunctionRewriter::new(
            request,
            number,
            body,
            wanted,
            asked,
            &mut plan,
            &mut mutant_probes,
        );
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
    flow.pairs.move_shared_places(&mut plan);
    let renderer = Renderer { request, functions: functions.into_iter().collect() };
    let mut rest = nodes.as_slice();
    let mut texts = units.iter().map(|unit| {
        let (own, others) = rest.split_at(rest.partition_point(|node| node.span.start < unit.end));
        rest = others;
        splice(request.map.text(), *unit, own, &mut |node| renderer.render(node))
    });
    let text = texts.next().unwrap_or_default();
    let own = UnitFrame { text: &text, declarations: &declarations, epilogue: &around[0].1 };
    let text = prelude(user, &own, &mutant_probes.text()) + &text + own.epilogue;
    let others = (1..units.len()).zip(texts).map(|(unit, text)| {
        let (declarations, epilogue) = &around[unit];
        recorded.contains(&unit).then(|| {
            let own = UnitFrame { text: &text, declarations, epilogue };
            further_prelude(user, units[unit].start, &own) + &text + epilogue
        })
    });
    let others: Vec<Option<String>> = others.collect();
    forget_uncounted(&mut plan, others.iter().flatten().chain([&text]).map(String::as_str));
    RewrittenUnits { text, others, plan }
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
