//! ALL-DEFS and ALL-USES with array cells told apart ([002] V-D2).
//!
//! Variables without arrays have the objectives that they have in ALL-DEFS and ALL-USES. For others a
//! definition and a use make a pair where they may be of one cell, and cover it where they are: the
//! definition binds the address that it writes, the use the one that it reads.

use std::sync::Arc;

use super::dataflow::{
    all_definitions, all_uses, by_definition, definition_atom, name, read_atom, snippet, use_atom,
    variable, way_name,
};
use super::{Annotator, Context};
use crate::criterion::Criterion;
use crate::dataflow::cells::variable_has_cells;
use crate::dataflow::{DataFlow, DefUse, Definition, DefinitionSite, Use, UseSite, Variable};
use crate::hyper::{
    Atom, Binding, Bound, CellDefinition, CellDefinitions, Formula, Hyper, Obligation, Passage,
    SameCell, Scope, Sequence, SequenceId,
};
use crate::label::Site;

/// ALL-DEFS with cells: each definition reaches one of its uses.
pub(super) struct AllDefinitionsOfCells;

impl Annotator for AllDefinitionsOfCells {
    fn criterion(&self) -> Criterion {
        Criterion::AllDefsCells
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let flow = cx.data_flow();
        for pairs in by_definition(flow) {
            if is_whole(cx, flow, pairs[0]) {
                all_definitions(cx, flow, &pairs);
            }
        }
        let flow = cells(cx);
        for pairs in by_definition(flow) {
            let definition = flow.definition(pairs[0].definition);
            let mut alternatives: Vec<Hyper> =
                pairs.iter().map(|pair| Hyper::Sequence(sequence(cx, flow, *pair))).collect();
            let (hyper, text) = match &pairs[..] {
                [one] => (alternatives.remove(0), said(cx, flow, *one)),
                _ => {
                    let text = format!("{} reaches a use", defined(cx, definition));
                    (Hyper::Any(alternatives), text)
                }
            };
            let name = format!("{} {}", variable(cx, definition), definition.number);
            cx.push_hyper(hyper, definition.span, name, text);
        }
    }
}

/// ALL-USES with cells: each definition reaches each use that it can reach.
pub(super) struct AllUsesOfCells;

impl Annotator for AllUsesOfCells {
    fn criterion(&self) -> Criterion {
        Criterion::AllUsesCells
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let flow = cx.data_flow();
        for pair in flow.pairs() {
            if is_whole(cx, flow, pair) {
                all_uses(cx, flow, pair);
            }
        }
        let flow = cells(cx);
        for pair in flow.pairs() {
            let hyper = Hyper::Sequence(sequence(cx, flow, pair));
            let (name, text) = (name(cx, flow, pair), said(cx, flow, pair));
            cx.push_hyper(hyper, flow.definition(pair.definition).span, name, text);
        }
    }
}

/// The definitions and uses of cells.
fn cells<'a>(cx: &Context<'a>) -> &'a DataFlow {
    static NONE: DataFlow = DataFlow { definitions: Vec::new(), uses: Vec::new() };
    cx.unit_cells().function(cx.id()).unwrap_or(&NONE)
}

/// Whether a pair is of a variable without cells.
fn is_whole(cx: &Context<'_>, flow: &DataFlow, pair: DefUse) -> bool {
    let variable = flow.definition(pair.definition).variable;
    !variable_has_cells(cx.program, cx.body, variable)
}

/// The sequence of a pair, one for all criteria.
fn sequence(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse) -> SequenceId {
    if let Some(known) = cx.cell_pairs.get(&pair) {
        return *known;
    }
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    let bind = |name: &str, access: &crate::dataflow::Access| Binding {
        name: name.to_owned(),
        value: Bound::Expr(access.addr),
    };
    let mut first = definition_atom(cx, definition);
    first.bindings = definition.cell.iter().map(|access| bind("defined", access)).collect();
    let same = Passage::Cell(SameCell {
        of: definitions(cx, flow, definition.variable),
        written: definition.cell.map(|access| access.bytes),
        read: usage.cell.map_or(1, |access| if access.scalar { 1 } else { access.bytes }),
        pair,
    });
    let bindings = || usage.cell.iter().map(|access| bind("used", access)).collect();
    let last = use_atom(cx, usage, pair.way);
    let (mut atoms, mut passages) = (vec![first], vec![same]);
    match read_atom(cx, usage) {
        Some(read) => {
            // The address is that of the read: what it depends on may be another at the branch.
            let site = usage.read_at.map(Site::Stmt);
            let again =
                |site| Obligation { function: read.function, site, holds: Formula::Number(0) };
            passages.push(Passage::Obliged(site.into_iter().map(again).collect()));
            atoms.push(Atom { bindings: bindings(), ..read });
            atoms.push(last);
        }
        None => atoms.push(Atom { bindings: bindings(), ..last }),
    }
    let scope = match definition.variable {
        Variable::Local(_) => Scope::Activation,
        Variable::Global(_) => Scope::Run,
    };
    let id = cx.sequence(Sequence { atoms, passages, scope, flow: None });
    cx.cell_pairs.insert(pair, id);
    id
}

/// The definitions of a variable's cells that no sequence of it may pass.
fn definitions(cx: &mut Context<'_>, flow: &DataFlow, variable: Variable) -> Arc<CellDefinitions> {
    if let Some(known) = cx.cells.get(&variable) {
        return Arc::clone(known);
    }
    let made = match variable {
        Variable::Global(global) => cx.unit_cells().cell_stores(global),
        Variable::Local(local) => {
            let own = flow.definitions.iter().filter(|other| other.variable == variable);
            let places = own.filter_map(|definition| match definition.at {
                DefinitionSite::Stmt(stmt) => Some(CellDefinition {
                    place: (cx.id(), Site::Stmt(stmt)),
                    writes: definition.cell.map(|access| (access.addr, access.bytes)),
                    indirect: definition.indirect,
                }),
                _ => None,
            });
            let variable_name = format!("{} {local}", cx.body.locals[local].name);
            let (places, of) = (places.collect(), Some(variable));
            Arc::new(CellDefinitions { variable: variable_name, of, places })
        }
    };
    cx.cells.insert(variable, Arc::clone(&made));
    made
}

/// A pair in words.
fn said(cx: &Context<'_>, flow: &DataFlow, pair: DefUse) -> String {
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    format!("{} reaches {}", defined(cx, definition), used(cx, usage, pair.way))
}

/// A definition in words.
fn defined(cx: &Context<'_>, definition: &Definition) -> String {
    let whole = super::dataflow::defined(cx, definition);
    match definition.cell {
        None => whole,
        Some(_) => format!("the cell of {whole}"),
    }
}

/// A use in words.
fn used(cx: &Context<'_>, usage: &Use, way: u32) -> String {
    let line = cx.map.place(usage.span.start).line;
    let text = usage.cell.map_or(usage.span, |access| access.text);
    let text = match text.is_none() {
        true => usage.variable.name(cx.program, cx.body),
        false => snippet(cx, text),
    };
    let place = match usage.at {
        UseSite::Stmt(_) => format!("`{text}` in line {line}"),
        UseSite::Return(_) => format!("`{text}` of the return in line {line}"),
        UseSite::Condition(..) => {
            format!("`{text}` of the condition in line {line}, {}", way_name(cx, usage, way))
        }
        UseSite::Switch(_) => {
            format!("`{text}` of the switch in line {line}, {}", way_name(cx, usage, way))
        }
    };
    match usage.elsewhere {
        Some((function, _)) => format!("{place} of {}", cx.program.functions[function].name),
        None => place,
    }
}
