//! Cells that are stored in each turn of a loop.
//!
//! Compilers move such a store out of the loop, where it costs nothing. They do the same with a
//! store that only some turns make, but then keep in a register whether it was made, which costs
//! as much in each turn, more at the end of the loop, and much time of the compiler.

use lydian_ir::cfg::{Cfg, Dominators, Loops, PostDominators};
use lydian_ir::{BlockId, Body};

use crate::rewrite::redundant::{Probe, ProbePlace};

/// The cells of probes that stand in each turn of the innermost loop around them. Of probes outside
/// of loops, those that stand in each call, since their function may be inlined into a loop.
pub(crate) fn steady_cells(body: &Body, probes: &[Probe]) -> Vec<u32> {
    let cfg = Cfg::new(body);
    let (dominators, ends) = (Dominators::new(&cfg), PostDominators::new(&cfg));
    let loops = Loops::new(&cfg, &dominators);
    let is_steady = |block: BlockId| match loops.innermost(block) {
        None => ends.post_dominates(block, body.entry),
        Some(around) => {
            let around = &loops.loops[around];
            let exits = around.exits.iter().filter(|exit| exit.from != around.header);
            let mut ends = around.back_edges.iter().chain(exits);
            ends.all(|edge| dominators.dominates(block, edge.from))
        }
    };
    let steady = probes.iter().filter_map(|probe| {
        let cell = probe.removable()?;
        let block = block_of(&cfg, &probe.place)?;
        (cfg.is_reachable(block) && is_steady(block)).then_some(cell)
    });
    steady.collect()
}

/// The block that is executed exactly when the place is passed.
fn block_of(cfg: &Cfg, place: &ProbePlace) -> Option<BlockId> {
    match place {
        ProbePlace::At(block, _) => Some(*block),
        ProbePlace::Edges(edges) => {
            let [edge] = edges[..] else { return None };
            let to = cfg.target(edge)?;
            match (cfg.predecessors(to).len(), cfg.successors(edge.from).len()) {
                (1, _) => Some(to),
                (_, 1) => Some(edge.from),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::{Arena, EntityId};
    use lydian_ir::source::FunctionSource;
    use lydian_ir::stmt::{Block, Edge, SwitchCase, Terminator};

    use super::*;

    fn bb(index: usize) -> BlockId {
        BlockId::from_index(index)
    }

    /// A body of blocks with these successors.
    fn body(edges: &[&[usize]]) -> Body {
        let block = |to: &&[usize]| {
            let case = |to: &usize| SwitchCase {
                low: 0,
                high: 0,
                target: bb(*to),
                span: lydian_base::Span::NONE,
            };
            let term = match to {
                [] => Terminator::Return(None),
                [one] => Terminator::Goto(bb(*one)),
                [cases @ .., last] => Terminator::Switch {
                    value: lydian_ir::ExprId::from_index(0),
                    cases: cases.iter().map(case).collect(),
                    default: bb(*last),
                },
            };
            Block { stmts: vec![], term }
        };
        Body {
            params: vec![],
            locals: Arena::new(),
            exprs: Arena::new(),
            stmts: Arena::new(),
            blocks: edges.iter().map(block).collect(),
            entry: bb(0),
            decisions: Arena::new(),
            marks: Arena::new(),
            source: FunctionSource::default(),
        }
    }

    #[test]
    fn a_store_in_each_turn_or_call_is_steady_and_one_in_some_is_not() {
        // 0 -> 1: head of a loop; 2: its body, with an arm 3; 4: its last block; 5: behind it, with
        // an arm 6; 7: the end.
        let body = body(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[6, 7], &[7], &[]]);
        let probe = |block: usize| Probe::at(ProbePlace::At(bb(block), 0), block as u32);
        let on = |from: usize, way: u32, cell: u32| {
            let edge = Edge { from: bb(from), way };
            Probe::on(vec![edge], (cell, 1)).into_iter()
        };
        let mut probes: Vec<Probe> = (0..8).map(probe).collect();
        probes.extend(on(1, 0, 10).chain(on(2, 0, 11)).chain(on(2, 1, 12)).chain(on(5, 1, 13)));
        assert_eq!(steady_cells(&body, &probes), [0, 1, 2, 4, 5, 7, 10]);
    }
}
