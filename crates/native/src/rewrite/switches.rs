//! Records on the ways out of a switch and of a computed `goto`.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::stmt::Edge;
use lydian_objective::LabelId;

use lydian_ir::BlockId;
use rustc_hash::FxHashSet;

use super::implied::Record;
use super::tree::Edit;
use super::{Action, NO_PLACE, Watch, rank};

/// What is recorded on a way out of a switch.
#[derive(Clone, Debug, Default)]
pub(super) struct OnWayOut {
    /// Cells that are set, whatever the state is.
    pub(super) cells: Vec<u32>,
    /// Statements.
    pub(super) text: String,
}

/// A switch with records on its ways.
#[derive(Debug)]
pub(super) struct SwitchEdit {
    pub(super) block: BlockId,
    ways: Vec<WayOut>,
}

/// A way out of a switch.
#[derive(Debug)]
struct WayOut {
    /// The label that leads there.
    label: String,
    on_way: OnWayOut,
    /// The tables of which a cell is set: the first cell of each, and the text of the index.
    tables: Vec<(u32, String)>,
}

impl SwitchEdit {
    /// An inner switch on the captured operand tells which way the user's switch goes.
    pub(super) fn dispatch(&self, left_out: &FxHashSet<u32>) -> String {
        let mut text = String::from("switch (lydian_x) { ");
        for WayOut { label, on_way, tables } in &self.ways {
            let _ = write!(text, "{label}: ");
            let cells = on_way.cells.iter().filter(|cell| !left_out.contains(cell));
            let tables = tables.iter().filter(|(first, _)| !left_out.contains(first));
            let indices = cells.map(u32::to_string).chain(tables.map(|(_, index)| index.clone()));
            indices.for_each(|index| _ = write!(text, "lydian_hit[{index}] = 1; "));
            let _ = write!(text, "{}break; ", on_way.text);
        }
        text + "}"
    }

    /// What it records, whatever the state is.
    pub(super) fn edge_records(&self) -> impl Iterator<Item = Record> {
        (0..).zip(&self.ways).flat_map(|(way, out)| {
            let edge = Edge { from: self.block, way };
            out.on_way.cells.iter().filter_map(move |cell| Record::on(vec![edge], (*cell, 1)))
        })
    }
}

impl Watch<'_, '_> {
    /// Puts records on the ways out of a switch.
    pub(super) fn switch(
        &mut self,
        block: lydian_ir::BlockId,
        ways: &[(u32, LabelId)],
        edits: &mut Vec<Edit<Action>>,
    ) {
        let site = self.body.source.switches.iter().find(|site| site.block == block);
        let lydian_ir::Terminator::Switch { cases, .. } = &self.body.blocks[block].term else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.unwatch(&labels, "the edge is of no switch");
        };
        let Some(site) = site else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.unwatch(&labels, NO_PLACE);
        };
        let mut by_way: IndexMap<u32, Vec<LabelId>> = IndexMap::new();
        ways.iter().for_each(|(way, label)| by_way.entry(*way).or_default().push(*label));
        if site.computed {
            let dispatch = self.labels_dispatch(block, cases, by_way);
            // Several `goto`s may lead to one dispatch.
            let sites = self.body.source.switches.iter().filter(|site| site.block == block);
            edits.extend(sites.map(|site| {
                let action = Action::Goto { dispatch: dispatch.clone() };
                Edit { span: site.operand, rank: rank::SWITCH, action }
            }));
            return;
        }
        let labels = cases.iter().map(|case| match case.low == case.high {
            true => format!("case {}", integer(case.low)),
            false => format!("case {} ... {}", integer(case.low), integer(case.high)),
        });
        let labels = labels.chain(std::iter::once("default".to_owned()));
        let ways = (0..).zip(labels);
        let ways = ways.map(|(way, label)| self.on_edge(block, way, label, &mut by_way));
        let ways = ways.collect();
        let (function, index) = (self.number, self.function.switches.len());
        self.function.switches.push(SwitchEdit { block, ways });
        let action = Action::Switch { function, index };
        edits.push(Edit { span: site.operand, rank: rank::SWITCH, action });
    }

    /// What is recorded on one way out of a switch.
    fn on_edge(
        &mut self,
        block: BlockId,
        way: u32,
        label: String,
        by_way: &mut IndexMap<u32, Vec<LabelId>>,
    ) -> WayOut {
        let mut on_way = OnWayOut::default();
        if let Some(labels) = by_way.swap_remove(&way) {
            on_way.cells.push(self.plan.cell(self.number, labels));
        }
        let of = &self.function;
        for more in [of.flow.switches.get(&(block, way)), of.paths.switches.get(&(block, way))] {
            on_way.cells.extend(more.into_iter().flat_map(|more| &more.cells));
            on_way.text.extend(more.map(|more| more.text.as_str()));
        }
        let edge = Edge { from: block, way };
        on_way.text.extend(of.steps.get(&edge).map(String::as_str));
        on_way.text.extend(self.counters.on_edges.get(&edge).map(|count| format!("{count}; ")));
        let tables = of.tables_on_edge(edge).collect();
        WayOut { label, on_way, tables }
    }

    /// Comparisons with the addresses of labels tell where a computed `goto` goes.
    fn labels_dispatch(
        &mut self,
        block: BlockId,
        cases: &[lydian_ir::SwitchCase],
        mut by_way: IndexMap<u32, Vec<LabelId>>,
    ) -> String {
        let mut dispatch = String::new();
        for (way, case) in cases.iter().enumerate() {
            let Some(labels) = by_way.swap_remove(&(way as u32)) else { continue };
            let name = self.request.map.slice(case.span);
            if name.is_empty() {
                self.unwatch(&labels, "the label has no place in the text");
                continue;
            }
            let cell = self.plan.cell(self.number, labels);
            let or = if dispatch.is_empty() { "" } else { "else " };
            let count = self.counters.on_edges.get(&Edge { from: block, way: way as u32 });
            let count = count.map_or(String::new(), |count| format!(", {count}"));
            let record = format!("lydian_hit[{cell}] = 1{count}");
            let _ = write!(dispatch, "{or}if (lydian_x == &&{name}) {record}; ");
        }
        dispatch
    }
}

/// An integer constant of C, of a type that holds it.
fn integer(value: i128) -> String {
    match value {
        -0x8000_0000_0000_0000 => "(-9223372036854775807l - 1)".to_owned(),
        _ if value > i128::from(i64::MAX) => format!("{value}ul"),
        _ => format!("{value}l"),
    }
}
