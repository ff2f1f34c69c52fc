//! ALL-DEFS, ALL-USES and ALL-DU-PATHS with array cells told apart ([002] V-D2).
//!
//! A variable without arrays has the same objectives as without cells. For other variables, a
//! definition and a use make a pair if they may be of one cell, and a run covers the pair if they
//! are: the definition binds the address that it writes, the use the one that it reads. A path of a
//! pair is covered by a run that takes it from the definition to the use.

use std::sync::Arc;

use lydian_ir::BlockId;

use super::variables::{Pairs, elsewhere, sequence_with, snippet, way_name};
use crate::annotate::context::{Annotator, Context};
use crate::annotate::control_flow::paths::too_many;
use crate::criterion::Criterion;
use crate::dataflow::cells::variable_has_cells;
use crate::dataflow::{DataFlow, DefUse, DefinitionSite, Use, UseSite, Variable};
use crate::hyper::{CellDefinition, CellDefinitions, Passage, SameCell, SequenceId};
use crate::label::Site;
use crate::paths::TooManyPaths;

/// ALL-DEFS with cells: each definition reaches one of its uses.
pub(crate) struct AllDefinitionsOfCells;

impl Annotator for AllDefinitionsOfCells {
    fn criterion(&self) -> Criterion {
        Criterion::AllDefsCells
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let whole = Pairs::of_variables(cx);
        for of_one in whole.by_definition() {
            if is_whole(cx, whole.flow, of_one[0]) {
                whole.reach_one(cx, &of_one);
            }
        }
        let pairs = pairs_of_cells(cx);
        for of_one in pairs.by_definition() {
            pairs.reach_one(cx, &of_one);
        }
    }
}

/// ALL-USES with cells: each definition reaches each use that it can reach.
pub(crate) struct AllUsesOfCells;

impl Annotator for AllUsesOfCells {
    fn criterion(&self) -> Criterion {
        Criterion::AllUsesCells
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let whole = Pairs::of_variables(cx);
        let (program, body) = (cx.program, cx.body);
        let has_cells = |pair: DefUse| {
            let variable = whole.flow.definition(pair.definition).variable;
            variable_has_cells(program, body, variable)
        };
        whole.reach_each(cx, |pair| !has_cells(pair));
        pairs_of_cells(cx).reach_each(cx, |_| true);
    }
}

/// ALL-DU-PATHS with cells: each pair within the function by each of its paths.
pub(crate) struct AllDuPathsOfCells;

impl Annotator for AllDuPathsOfCells {
    fn criterion(&self) -> Criterion {
        Criterion::AllDuPathsCells
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let (program, body, limit) = (cx.program, cx.body, cx.request.paths);
        let has_cells = |variable| variable_has_cells(program, body, variable);
        let (whole, pairs) = (Pairs::of_variables(cx), pairs_of_cells(cx));
        let found = whole.paths(cx, |variable| !has_cells(variable), limit);
        let found = found.and_then(|(paths, left)| {
            let of_cells = pairs.paths(cx, |_| true, left);
            Ok((paths, of_cells.map_err(|_| TooManyPaths { limit })?.0))
        });
        match found {
            Ok((paths, of_cells)) => {
                whole.push_paths(cx, paths);
                pairs.push_paths(cx, of_cells);
            }
            Err(error) => too_many(cx, self.criterion(), error),
        }
    }
}

/// The definitions and uses of cells.
fn pairs_of_cells<'a>(cx: &Context<'a>) -> Pairs<'a> {
    static NONE: DataFlow = DataFlow { definitions: Vec::new(), uses: Vec::new() };
    Pairs { flow: cx.unit_cells().function(cx.id()).unwrap_or(&NONE), sequence, by, used }
}

/// Whether a pair is of a variable without cells.
fn is_whole(cx: &Context<'_>, flow: &DataFlow, pair: DefUse) -> bool {
    let variable = flow.definition(pair.definition).variable;
    !variable_has_cells(cx.program, cx.body, variable)
}

/// The sequence of a pair of cells.
fn sequence(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse) -> SequenceId {
    if let Some(known) = cx.shared_sequences.cell_pairs.get(&pair) {
        return *known;
    }
    let same = same_cell(cx, flow, pair);
    let sequence = sequence_with(cx, flow, pair, same);
    let id = cx.sequence(sequence);
    cx.shared_sequences.cell_pairs.insert(pair, id);
    id
}

/// The sequence of a pair of cells by a path.
fn by(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse, path: Vec<BlockId>) -> SequenceId {
    let same = same_cell(cx, flow, pair);
    let sequence = sequence_with(cx, flow, pair, Passage::By(path, Box::new(same)));
    cx.sequence(sequence)
}

/// The passage from a definition to a use of one cell.
fn same_cell(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse) -> Passage {
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    Passage::Cell(SameCell {
        of: definitions(cx, flow, definition.variable),
        written: definition.cell.map(|access| access.bytes),
        read: usage.cell.map_or(1, |access| if access.scalar { 1 } else { access.bytes }),
        pair,
    })
}

/// The definitions of a variable's cells that no sequence of it may pass.
fn definitions(cx: &mut Context<'_>, flow: &DataFlow, variable: Variable) -> Arc<CellDefinitions> {
    if let Some(known) = cx.shared_sequences.cells.get(&variable) {
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
    cx.shared_sequences.cells.insert(variable, Arc::clone(&made));
    made
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
        Some((function, _)) => format!("{place} of {}", elsewhere(cx, function, usage.span)),
        None => place,
    }
}
