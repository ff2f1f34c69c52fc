//! How the cell of a probe with several cells is chosen, and which choices determine others.

use indexmap::IndexMap;
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, Body, LocalId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::RedundantCell;
use crate::rewrite::redundant::last_definitions::{LastDefinition, LastDefinitions};

/// How the cell of a probe with several cells is chosen: by the edge through which control last
/// entered a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellChoice {
    pub(crate) merged: BlockId,
    /// The choice of each edge into the block, in their order.
    pub(crate) by_edge: Vec<EdgeChoice>,
    /// If the cell is chosen by the number of a local's last definition: the local, and the first
    /// cell.
    pub(crate) number: Option<(LocalId, u32)>,
    /// The number of cells, if it is chosen by such a number.
    pub(crate) count: u32,
}

/// The cell that an edge chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeChoice {
    /// A cell.
    Cell(u32),
    /// The cell that was chosen before.
    Same,
    /// An unknown one.
    Unknown,
}

impl RedundantCell {
    fn of_one(cell: u32, other: u32) -> Self {
        Self { cell, of: vec![(other, 1)] }
    }
}

impl CellChoice {
    /// The choice of a use, which has one cell for each number from 0 on. `None` if the number is
    /// no merged value.
    pub(crate) fn of_number(
        cfg: &Cfg,
        body: &Body,
        (local, numbers): (LocalId, &LastDefinitions),
        number: LastDefinition,
        (first, count): (u32, u32),
    ) -> Option<Self> {
        let LastDefinition::Merged(merged) = number else { return None };
        let chosen = |edge: &Edge| match numbers.at_end(edge.from) {
            Some(LastDefinition::Of(number)) => EdgeChoice::Cell(first + number),
            Some(same) if same == number => EdgeChoice::Same,
            Some(LastDefinition::Merged(_) | LastDefinition::After(_)) | None => {
                EdgeChoice::Unknown
            }
        };
        let edges = cfg.predecessors(merged).iter().map(chosen);
        let entry = (merged == body.entry).then_some(EdgeChoice::Unknown);
        let by_edge = edges.chain(entry).collect();
        Some(Self { merged, by_edge, number: Some((local, first)), count })
    }

    /// The choice of a probe in the node that begins with `head`, by the block from which control
    /// comes.
    pub(crate) fn of_origin(
        cfg: &Cfg,
        body: &Body,
        head: BlockId,
        cells: &[(BlockId, u32)],
    ) -> Self {
        let chosen = |edge: &Edge| {
            let found = cells.iter().find(|(from, _)| *from == edge.from);
            found.map_or(EdgeChoice::Unknown, |(_, cell)| EdgeChoice::Cell(*cell))
        };
        let edges = cfg.predecessors(head).iter().map(chosen);
        let entry = (head == body.entry).then_some(EdgeChoice::Unknown);
        Self { merged: head, by_edge: edges.chain(entry).collect(), number: None, count: 0 }
    }

    /// If this choice determines another probe's choice: for each cell of the other probe, the
    /// cells of this one that imply it.
    pub(crate) fn says(&self, other: &Self) -> Option<Vec<RedundantCell>> {
        if self.merged != other.merged {
            return None;
        }
        if let (Some((local, first)), Some((same, theirs))) = (self.number, other.number)
            && local == same
        {
            let row = 0..self.count.min(other.count);
            return Some(row.map(|n| RedundantCell::of_one(theirs + n, first + n)).collect());
        }
        let mut says: IndexMap<u32, u32> = IndexMap::new();
        for edges in self.by_edge.iter().zip(&other.by_edge) {
            match edges {
                (EdgeChoice::Cell(own), EdgeChoice::Cell(cell)) => {
                    if says.insert(*own, *cell).is_some_and(|before| before != *cell) {
                        return None;
                    }
                }
                (EdgeChoice::Same, EdgeChoice::Same) => {}
                _ => return None,
            }
        }
        Some(says.into_iter().map(|(own, cell)| RedundantCell::of_one(cell, own)).collect())
    }

    /// The same where numbers of two locals are merged at the same blocks along the way, such as
    /// those of variables that are set together: each number of the one goes with one of the other.
    pub(crate) fn says_by_numbers(
        &self,
        other: &Self,
        cfg: &Cfg,
        body: &Body,
        numbers: &FxHashMap<LocalId, LastDefinitions>,
    ) -> Option<Vec<RedundantCell>> {
        let ((local, first), (same, theirs)) = (self.number?, other.number?);
        if self.merged != other.merged {
            return None;
        }
        let both = (numbers.get(&local)?, numbers.get(&same)?);
        let pairs = numbers_together(cfg, body, both, self.merged)?;
        let pairs = pairs.into_iter().filter(|(own, _)| *own < self.count);
        let cells = pairs.filter(|(_, number)| *number < other.count);
        Some(cells.map(|(own, n)| RedundantCell::of_one(theirs + n, first + own)).collect())
    }

    /// The cells that are chosen exactly if control last entered the block by these edges.
    pub(crate) fn cells_of(&self, cfg: &Cfg, edges: &[Edge]) -> Option<Vec<(u32, u32)>> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let ways = cfg.predecessors(self.merged).iter().map(Some).chain(std::iter::repeat(None));
        for (choice, edge) in self.by_edge.iter().zip(ways) {
            match (choice, edge.is_some_and(|edge| edges.contains(edge))) {
                (EdgeChoice::Cell(cell), true) => own.push((*cell, 1)),
                (EdgeChoice::Cell(cell), false) => others.push((*cell, 1)),
                (EdgeChoice::Same, false) => {}
                (EdgeChoice::Same, true) | (EdgeChoice::Unknown, _) => return None,
            }
        }
        let all_lead_here = edges.iter().all(|edge| cfg.target(*edge) == Some(self.merged));
        let is_sure =
            all_lead_here && !own.is_empty() && own.iter().all(|cell| !others.contains(cell));
        is_sure.then_some(own)
    }
}

/// The numbers of a second local that go with those of a first one, where both are merged at a
/// block. `None` if one of the first goes with several, or some are not known.
fn numbers_together(
    cfg: &Cfg,
    body: &Body,
    (one, other): (&LastDefinitions, &LastDefinitions),
    merged: BlockId,
) -> Option<IndexMap<u32, u32>> {
    let mut together: IndexMap<u32, u32> = IndexMap::new();
    let (mut work, mut seen) = (vec![merged], FxHashSet::default());
    while let Some(block) = work.pop() {
        if !seen.insert(block) {
            continue;
        }
        if block == body.entry {
            return None;
        }
        for edge in cfg.predecessors(block) {
            match (one.at_end(edge.from), other.at_end(edge.from)) {
                (Some(LastDefinition::Of(own)), Some(LastDefinition::Of(number))) => {
                    if together.insert(own, number).is_some_and(|before| before != number) {
                        return None;
                    }
                }
                (Some(LastDefinition::Merged(a)), Some(LastDefinition::Merged(b))) if a == b => {
                    work.push(a);
                }
                (None, None) => {}
                _ => return None,
            }
        }
    }
    Some(together)
}
