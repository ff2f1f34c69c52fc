//! The dispatch beside a switch of the user's that sets the cells of its ways.

use std::fmt::Write as _;

use lydian_ir::BlockId;
use lydian_ir::stmt::Edge;
use rustc_hash::FxHashSet;

use crate::rewrite::edges::ExitProbes;
use crate::rewrite::redundant::Probe;

/// A switch with probes on its ways.
#[derive(Debug)]
pub(crate) struct SwitchEdit {
    pub(crate) block: BlockId,
    pub(crate) ways: Vec<SwitchExit>,
}

/// A way out of a switch.
#[derive(Debug)]
pub(crate) struct SwitchExit {
    /// The label that leads there.
    pub(crate) label: String,
    pub(crate) on_way: ExitProbes,
    /// The tables of which a cell is set: the first cell of each, and the text of the index.
    pub(crate) tables: Vec<(u32, String)>,
}

impl SwitchEdit {
    /// An inner switch on the captured operand tells which way the user's switch goes.
    pub(crate) fn dispatch(&self, left_out: &FxHashSet<u32>) -> String {
        let mut text = String::from("switch (lydian_x) { ");
        for SwitchExit { label, on_way, tables } in &self.ways {
            let _ = write!(text, "{label}: ");
            let cells = on_way.cells.iter().filter(|cell| !left_out.contains(cell));
            let tables = tables.iter().filter(|(first, _)| !left_out.contains(first));
            let indices = cells.map(u32::to_string).chain(tables.map(|(_, index)| index.clone()));
            indices.for_each(|index| _ = write!(text, "lydian_hit[{index}] = 1; "));
            let _ = write!(text, "{}break; ", on_way.text);
        }
        text + "}"
    }

    /// Its probes that depend on no state, for the search of redundant probes.
    pub(crate) fn edge_probes(&self) -> impl Iterator<Item = Probe> {
        (0..).zip(&self.ways).flat_map(|(way, out)| {
            let edge = Edge { from: self.block, way };
            out.on_way.cells.iter().filter_map(move |cell| Probe::on(vec![edge], (*cell, 1)))
        })
    }
}
