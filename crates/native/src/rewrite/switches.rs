//! The probes on the ways out of a switch of the user's: at its labels, or in a dispatch beside it.

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
    /// Whether its probes stand at the label in the user's text, and not in an inner switch.
    pub(crate) at_label: bool,
}

impl SwitchExit {
    /// The probes on the way: statements.
    fn probes(&self, left_out: &FxHashSet<u32>) -> String {
        let cells = self.on_way.cells.iter().filter(|cell| !left_out.contains(cell));
        let tables = self.tables.iter().filter(|(first, _)| !left_out.contains(first));
        let indices = cells.map(u32::to_string).chain(tables.map(|(_, index)| index.clone()));
        let mut text = String::new();
        indices.for_each(|index| _ = write!(text, "lydian_hit[{index}] = 1; "));
        text + &self.on_way.text
    }

    /// The user's label with the probes, which control from the statement before does not pass.
    pub(crate) fn at_label(&self, label: &str, left_out: &FxHashSet<u32>) -> String {
        let probes = self.probes(left_out);
        match self.at_label && !probes.is_empty() {
            true => format!("if (0) {{ {label} {probes}}}"),
            false => label.to_owned(),
        }
    }
}

impl SwitchEdit {
    /// An inner switch on the captured operand tells which way the user's switch goes, for the ways
    /// whose probes do not stand at a label. `None` if there are none.
    pub(crate) fn dispatch(&self, left_out: &FxHashSet<u32>) -> Option<String> {
        let probes = |way: &SwitchExit| match way.at_label {
            true => String::new(),
            false => way.probes(left_out),
        };
        let last = self.ways.last().map_or(String::new(), probes);
        let mut text = String::from("switch (lydian_x) { ");
        for way in &self.ways {
            let probes = probes(way);
            // Ways beside the last one, which stands for all other values.
            if !probes.is_empty() || !last.is_empty() {
                let _ = write!(text, "{}: {probes}break; ", way.label);
            }
        }
        text.ends_with("break; ").then(|| text + "}")
    }

    /// Its probes that depend on no state, for the search of redundant probes.
    pub(crate) fn edge_probes(&self) -> impl Iterator<Item = Probe> {
        (0..).zip(&self.ways).flat_map(|(way, out)| {
            let edge = Edge { from: self.block, way };
            out.on_way.cells.iter().filter_map(move |cell| Probe::on(vec![edge], (*cell, 1)))
        })
    }
}
