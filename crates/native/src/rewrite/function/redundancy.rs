//! Collects the probes of a function for [`redundant`](crate::rewrite::redundant), and leaves out
//! those that it finds to be redundant.

use lydian_base::Span;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, DecisionId, LocalId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::Plan;
use crate::rewrite::data_flow::probes::TablePlace;
use crate::rewrite::edges::DecisionEdges;
use crate::rewrite::edits::EditAction;
use crate::rewrite::function::FunctionEdits;
use crate::rewrite::paths::{ChoiceExit, returns_twice};
use crate::rewrite::redundant::last_definitions::{LastDefinitions, NumberSet};
use crate::rewrite::redundant::steady::steady_cells;
use crate::rewrite::redundant::{
    CellChoice, Probe, ProbePlace, StatementPlaces, redundant_probes, redundant_tables,
};
use crate::rewrite::switches::SwitchEdit;

/// The edits of one function that could not be made.
#[derive(Default)]
struct RefusedEdits {
    cells: FxHashSet<u32>,
    decisions: FxHashSet<usize>,
    switches: FxHashSet<BlockId>,
    expressions: FxHashSet<Span>,
}

impl FunctionEdits {
    /// Finds the redundant probes among those whose edits were not refused.
    pub(crate) fn leave_out(
        &mut self,
        (program, body): (&Program, &Body),
        (number, may_be_inlined): (u32, bool),
        refused: &[EditAction],
        plan: &mut Plan,
    ) {
        let refused = self.refused_edits(number, refused);
        let places = StatementPlaces::new(body);
        let edges = DecisionEdges::new(body);
        let (tables, numbers) = self.tables((program, body), &places, &edges, &refused);
        let (follow, firsts) = redundant_tables(body, &tables, &numbers);
        self.left_out.extend(firsts);
        plan.redundant.extend(follow);
        let mut probes = tables;
        if let Some(cell) = self.entry.filter(|cell| !refused.cells.contains(cell)) {
            probes.push(Probe::at(ProbePlace::At(body.entry, -1), cell));
        }
        for (mark, cell) in self.marks.iter().filter(|(_, cell)| !refused.cells.contains(cell)) {
            let place = places.of_mark(*mark);
            probes.extend(place.map(|place| Probe::at(place, *cell)));
        }
        for used in
            self.flow.cells.iter().filter(|used| !refused.expressions.contains(&used.around))
        {
            let place = places.of_use(body, used.at, used.around);
            probes.extend(place.map(|place| Probe::at(place, used.cell)));
        }
        let decisions = self.decisions.iter().enumerate();
        for (_, edit) in decisions.filter(|(index, _)| !refused.decisions.contains(index)) {
            probes.extend(edit.edge_probes(&edges));
        }
        let switches = self.switches.iter().filter(|edit| !refused.switches.contains(&edit.block));
        probes.extend(switches.flat_map(SwitchEdit::edge_probes));
        let implied = redundant_probes(body, &probes);
        plan.steady.extend(steady_cells(Some(program), body, &probes, may_be_inlined));
        self.left_out.extend(implied.iter().map(|implied| implied.cell));
        self.decisions.iter_mut().for_each(|edit| edit.leave_out(&self.left_out));
        plan.redundant.extend(implied);
    }

    /// The refused edits of this function, by its position.
    fn refused_edits(&self, number: u32, refused: &[EditAction]) -> RefusedEdits {
        let mut all = RefusedEdits::default();
        for action in refused {
            match action {
                EditAction::Decision { function, index }
                | EditAction::Condition { function, index, .. }
                    if *function == number =>
                {
                    all.decisions.insert(*index);
                }
                EditAction::Start { function, cell: Some(cell), .. }
                | EditAction::Mark { function, cell: Some(cell), .. }
                    if *function == number =>
                {
                    all.cells.insert(*cell);
                }
                EditAction::Switch { function, index } if *function == number => {
                    all.switches.insert(self.switches[*index].block);
                }
                EditAction::Unit { function, span } if *function == number => {
                    all.expressions.insert(*span);
                }
                _ => {}
            }
        }
        all
    }

    /// The probes that set one of several cells, on ways of conditions and before statements, and the
    /// numbers of last definitions that choose them.
    fn tables(
        &self,
        (program, body): (&Program, &Body),
        places: &StatementPlaces,
        edges: &DecisionEdges,
        refused: &RefusedEdits,
    ) -> (Vec<Probe>, FxHashMap<LocalId, LastDefinitions>) {
        let cfg = Cfg::new(body);
        // Last definitions are not followed if statements have copies or control can return to a
        // `setjmp`.
        let follows = body.source.copies.is_empty() && !returns_twice(program, body);
        let place = |stmt| places.stmts.get(&stmt).copied();
        let sets = self.flow.numbers.iter().filter(|_| follows);
        let numbers = |(local, (begin, sets)): (&LocalId, &(u32, Vec<NumberSet>))| {
            (*local, LastDefinitions::new(body, &cfg, place, (*begin, sets)))
        };
        let numbers: FxHashMap<LocalId, LastDefinitions> = sets.map(numbers).collect();
        let is_refused = |decision: DecisionId| {
            let mut all = self.decisions.iter().enumerate();
            let edit = all.find(|(_, edit)| edit.id == decision);
            edit.is_none_or(|(index, edit)| {
                refused.decisions.contains(&index) || edit.keeps_value()
            })
        };
        let has_edit = |block: BlockId| {
            !refused.switches.contains(&block)
                && self.switches.iter().any(|edit| edit.block == block)
        };
        let mut probes = Vec::new();
        for table in &self.flow.tables {
            let place = match table.place {
                TablePlace::Before { around, at } if !refused.expressions.contains(&around) => {
                    places.of_use(body, at, around)
                }
                TablePlace::Way(decision, condition, value) if !is_refused(decision) => {
                    ProbePlace::on(edges.of_condition(decision, condition, value))
                }
                TablePlace::Out(edge) if has_edit(edge.from) => Some(ProbePlace::Edges(vec![edge])),
                TablePlace::Before { .. } | TablePlace::Way(..) | TablePlace::Out(_) => None,
            };
            let Some(place) = place else { continue };
            let chooser = table.local.and_then(|(local, read_at)| {
                let numbers = numbers.get(&local)?;
                let number = match read_at.map(|stmt| places.stmts.get(&stmt)) {
                    Some(at) => at.and_then(|(block, position)| numbers.before(*block, *position)),
                    None => place.position().and_then(|(block, at)| numbers.before(block, at)),
                };
                CellChoice::of_number(&cfg, body, (local, numbers), number?, table.cells)
            });
            probes.push(Probe { place, cells: vec![table.cells], fixed: true, chooser });
        }
        for table in &self.paths.tables {
            let place = match table.way {
                ChoiceExit::Condition((decision, condition), value) if !is_refused(decision) => {
                    ProbePlace::on(edges.of_condition(decision, condition, value))
                }
                ChoiceExit::Out(edge) if has_edit(edge.from) => Some(ProbePlace::Edges(vec![edge])),
                ChoiceExit::Condition(..) | ChoiceExit::Out(_) => None,
            };
            let Some(place) = place else { continue };
            let by_origin =
                table.by_origin.as_ref().filter(|_| follows && place.position().is_some());
            let chooser =
                by_origin.map(|(head, cells)| CellChoice::of_origin(&cfg, body, *head, cells));
            let cells = table.cells.iter().map(|cell| (*cell, 1)).collect();
            probes.push(Probe { place, cells, fixed: true, chooser });
        }
        (probes, numbers)
    }
}
