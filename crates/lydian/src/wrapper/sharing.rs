//! The notes of a unit for pairs of definitions and uses across units.

use std::collections::BTreeMap;

use lydian_base::{EntityId as _, Place, SourceMap};
use lydian_ir::{FuncId, GlobalId, Program};
use lydian_native::cc::{ForeignTable, NotedDefinition, NotedShared, NotedUse, NotedVariable};
use lydian_native::{Plan, SharedPlace, SharedUse};
use lydian_objective::dataflow::{
    Definition, DefinitionSite, UseId, UseSite, Variable, c_name, cells,
};
use lydian_objective::{DefUseNames, FunctionObjectives, UnitFlow};
use rustc_hash::FxHashMap;

/// A unit that was rewritten.
pub(crate) struct Sharing<'a> {
    pub(crate) program: &'a Program,
    pub(crate) map: &'a SourceMap,
    /// The descriptions of the definitions and uses of each function.
    pub(crate) described: &'a BTreeMap<FuncId, DefUseNames>,
    pub(crate) plan: &'a Plan,
}

/// The reason for which a use or a definition is not recorded if its function has no objectives.
const NOT_WATCHED: &str = "it is in a function that is not instrumented";

impl Sharing<'_> {
    /// The notes. `flow` is the unit's data flow of whole variables.
    pub(crate) fn noted(
        &self,
        flow: &UnitFlow,
        watched: &[FunctionObjectives],
        table: Option<ForeignTable>,
    ) -> NotedShared {
        let shared = flow.for_others(self.program);
        let uses = self.plan.shared.uses.iter();
        let recorded = uses.map(|usage| ((usage.function, usage.usage), usage));
        let recorded: FxHashMap<(FuncId, UseId), &SharedUse> = recorded.collect();
        let position = |function: FuncId| {
            let found = watched.iter().position(|of| of.function == function);
            found.map(|position| position as u32)
        };
        let mut variables: Vec<NotedVariable> =
            shared.variables.iter().map(|global| self.variable(*global)).collect();
        for function in &shared.functions {
            let Some(data) = flow.function(*function) else { continue };
            for (index, definition) in data.definitions.iter().enumerate() {
                let Variable::Global(global) = definition.variable else { continue };
                let Ok(at) = shared.variables.binary_search(&global) else { continue };
                if !matches!(definition.at, DefinitionSite::Stmt(_)) {
                    continue;
                }
                let noted = self.definition((*function, index), definition, position(*function));
                let there = &mut variables[at].definitions;
                let number = definition.number as usize;
                if there.len() < number {
                    there.resize_with(number, || nowhere(self.map));
                }
                there[number - 1] = noted;
            }
        }
        let uses = shared.uses.iter().map(|(function, id)| {
            let usage = flow.function(*function).map(|data| data.usage(*id));
            let is_condition = usage.is_some_and(|of| matches!(of.at, UseSite::Condition(..)));
            let place = self.map.place(usage.map_or(0, |usage| usage.span.start));
            let recorded = recorded.get(&(*function, *id)).copied();
            self.usage((*function, *id), recorded, position(*function), (place, is_condition))
        });
        let (uses, base) = (uses.collect(), self.plan.shared.base);
        NotedShared { uses, flow: shared.flow, base, table, variables }
    }

    fn why_uninstrumentable(&self, place: SharedPlace) -> Option<String> {
        let mut all = self.plan.shared.uninstrumentable.iter();
        all.find(|(of, _)| *of == place).map(|(_, reason)| reason.clone())
    }

    fn variable(&self, global: GlobalId) -> NotedVariable {
        NotedVariable {
            name: c_name(&self.program.globals[global].name).to_owned(),
            has_cells: cells::global_has_cells(self.program, global),
            definitions: Vec::new(),
            uninstrumentable: self.why_uninstrumentable(SharedPlace::Variable(global)),
        }
    }

    fn definition(
        &self,
        (function, index): (FuncId, usize),
        definition: &Definition,
        position: Option<u32>,
    ) -> NotedDefinition {
        let described = self.described.get(&function);
        let text = described.and_then(|of| of.definitions.get(index)).cloned();
        let uninstrumentable = match (position, definition.variable) {
            (None, _) => Some(NOT_WATCHED.to_owned()),
            (_, Variable::Global(global)) => {
                self.why_uninstrumentable(SharedPlace::Definition(global, definition.number))
            }
            (_, Variable::Local(_)) => None,
        };
        NotedDefinition {
            function: position,
            place: self.map.place(definition.span.start),
            text: text.unwrap_or_default(),
            uninstrumentable,
        }
    }

    fn usage(
        &self,
        (function, id): (FuncId, UseId),
        recorded: Option<&SharedUse>,
        position: Option<u32>,
        (place, is_condition): (Place, bool),
    ) -> NotedUse {
        let described = self.described.get(&function);
        let ways = described.and_then(|of| of.uses.get(id.index())).cloned();
        let uninstrumentable = match recorded {
            None if position.is_none() => Some(NOT_WATCHED.to_owned()),
            Some(_) => self.why_uninstrumentable(SharedPlace::Use(function, id)),
            None => self.why_uninstrumentable(SharedPlace::Use(function, id)).or_else(not_recorded),
        };
        NotedUse {
            function: position,
            place,
            name: id.to_string(),
            ways: ways.unwrap_or_default(),
            is_condition,
            cells: recorded.map_or((0, 0), |recorded| recorded.cells),
            uninstrumentable,
        }
    }
}

fn not_recorded() -> Option<String> {
    Some("nothing in the instrumented text records it".to_owned())
}

/// An unknown definition.
fn nowhere(map: &SourceMap) -> NotedDefinition {
    let (place, text) = (map.place(0), String::new());
    NotedDefinition { function: None, place, text, uninstrumentable: not_recorded() }
}
