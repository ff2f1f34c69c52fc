//! How far a state is from a label that is left: edges of the control-flow graph, calls included.

use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::{BlockId, Body, Callee, FuncId, Stmt, Terminator};

use super::labels::{LabelTable, SiteKey};
use super::state::State;
use super::world::World;

/// Further than any path of blocks.
const FAR: u32 = 1 << 20;
/// How many states are picked before distances follow the labels that were covered meanwhile.
const PATIENCE: u32 = 32;

/// Distances to labels that are left, kept until enough of them are covered.
#[derive(Default)]
pub(super) struct Ranks {
    /// By function and block; empty for functions that are not looked at.
    distances: Vec<Vec<u32>>,
    /// How often a block was picked, by function and block.
    visits: Vec<Vec<u32>>,
    labels_left: usize,
    age: u32,
}

impl Ranks {
    /// The rank of a state: its distance, and more for blocks that were picked often.
    pub(super) fn rank(&self, state: &State) -> u64 {
        let mut best = FAR;
        for (depth, frame) in state.frames.iter().rev().enumerate() {
            let here = at(&self.distances, frame.func, frame.block).unwrap_or(FAR);
            best = best.min(here.saturating_add(depth as u32));
        }
        let place = state.frames.last().map(|frame| (frame.func, frame.block));
        let visits = place.and_then(|(func, block)| at(&self.visits, func, block)).unwrap_or(0);
        u64::from(best) + u64::from((visits + 1).ilog2())
    }

    /// Notes that a state was picked.
    pub(super) fn picked(&mut self, state: &State) {
        self.age += 1;
        if let Some(frame) = state.frames.last() {
            let (func, block) = (frame.func.index(), frame.block.index());
            if self.visits.len() <= func {
                self.visits.resize_with(func + 1, Vec::new);
            }
            let visits = &mut self.visits[func];
            if visits.len() <= block {
                visits.resize(block + 1, 0);
            }
            visits[block] += 1;
        }
    }

    /// Brings the distances up to date if enough has happened.
    pub(super) fn refresh(
        &mut self,
        world: &World<'_>,
        functions: &[FuncId],
        labels: &LabelTable<'_>,
    ) {
        let fresh = !self.distances.is_empty()
            && (self.labels_left == labels.left() || self.age < PATIENCE);
        if fresh {
            return;
        }
        self.labels_left = labels.left();
        self.age = 0;
        self.distances.clear();
        self.distances.resize_with(world.program.functions.len(), Vec::new);
        for func in functions {
            let Some(body) = &world.program.functions[*func].body else { continue };
            let mut distances = vec![FAR; body.blocks.len()];
            for site in labels.open_sites(*func) {
                mark_blocks(body, site, &mut distances);
            }
            self.distances[func.index()] = distances;
        }
        while self.relax(world, functions) {}
    }

    /// One round of shortest paths over all functions; whether anything changed.
    fn relax(&mut self, world: &World<'_>, functions: &[FuncId]) -> bool {
        let mut changed = false;
        for func in functions {
            let Some(body) = &world.program.functions[*func].body else { continue };
            for (id, block) in body.blocks.iter().rev() {
                let distances = &self.distances[func.index()];
                let mut best = distances[id.index()];
                block.term.for_each_successor(|next| {
                    best = best.min(distances[next.index()].saturating_add(1));
                });
                for stmt in &block.stmts {
                    if let Stmt::Call { callee: Callee::Direct(callee), .. } = &body.stmts[*stmt]
                        && let Some(body) = &world.program.functions[*callee].body
                        && let Some(inner) = at(&self.distances, *callee, body.entry)
                    {
                        best = best.min(inner.saturating_add(1));
                    }
                }
                if best < self.distances[func.index()][id.index()] {
                    changed = true;
                    self.distances[func.index()][id.index()] = best;
                }
            }
        }
        changed
    }
}

/// The figure of a block, if its function has any.
fn at(figures: &[Vec<u32>], func: FuncId, block: BlockId) -> Option<u32> {
    figures.get(func.index())?.get(block.index()).copied()
}

/// Sets the distance of the blocks in which a site lies to zero.
fn mark_blocks(body: &Body, site: SiteKey, distances: &mut [u32]) {
    match site {
        SiteKey::Entry => distances[body.entry.index()] = 0,
        SiteKey::Edge(edge) => distances[edge.from.index()] = 0,
        SiteKey::Point(Point::Term(block)) => distances[block.index()] = 0,
        SiteKey::Point(Point::Stmt(stmt)) => {
            for (id, block) in body.blocks.iter() {
                if block.stmts.contains(&stmt) {
                    distances[id.index()] = 0;
                }
            }
        }
        SiteKey::Mark(mark) => {
            for (id, block) in body.blocks.iter() {
                let here = |stmt: &lydian_ir::StmtId| body.stmts[*stmt] == Stmt::Mark(mark);
                if block.stmts.iter().any(here) {
                    distances[id.index()] = 0;
                }
            }
        }
        SiteKey::Decision(decision) => {
            for (id, block) in body.blocks.iter() {
                if let Terminator::Branch { origin: Some(origin), .. } = &block.term
                    && origin.decision == decision
                {
                    distances[id.index()] = 0;
                }
            }
        }
    }
}
