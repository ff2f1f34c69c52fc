//! How far a state is from a label that is left: edges of the control-flow graph, calls included.

use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::{BlockId, Body, Callee, FuncId, Stmt, Terminator};
use rustc_hash::FxHashMap;

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
    distances: FxHashMap<FuncId, Vec<u32>>,
    visits: FxHashMap<(FuncId, BlockId), u32>,
    labels_left: usize,
    age: u32,
}

impl Ranks {
    /// The rank of a state: its distance, and more for blocks that were picked often.
    pub(super) fn rank(&self, state: &State) -> u64 {
        let mut best = FAR;
        for (depth, frame) in state.frames.iter().rev().enumerate() {
            let distances = self.distances.get(&frame.func);
            let here = distances.and_then(|all| all.get(frame.block.index())).copied();
            best = best.min(here.unwrap_or(FAR).saturating_add(depth as u32));
        }
        let place = state.frames.last().map(|frame| (frame.func, frame.block));
        let visits = place.and_then(|place| self.visits.get(&place)).copied().unwrap_or(0);
        u64::from(best) + u64::from((visits + 1).ilog2())
    }

    /// Notes that a state was picked.
    pub(super) fn picked(&mut self, state: &State) {
        self.age += 1;
        if let Some(frame) = state.frames.last() {
            *self.visits.entry((frame.func, frame.block)).or_default() += 1;
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
        for func in functions {
            let Some(body) = &world.program.functions[*func].body else { continue };
            let mut distances = vec![FAR; body.blocks.len()];
            for site in labels.open_sites(*func) {
                mark_blocks(body, site, &mut distances);
            }
            self.distances.insert(*func, distances);
        }
        while self.relax(world, functions) {}
    }

    /// One round of shortest paths over all functions; whether anything changed.
    fn relax(&mut self, world: &World<'_>, functions: &[FuncId]) -> bool {
        let mut changed = false;
        for func in functions {
            let Some(body) = &world.program.functions[*func].body else { continue };
            for (id, block) in body.blocks.iter().rev() {
                let distances = &self.distances[func];
                let mut best = distances[id.index()];
                block.term.for_each_successor(|next| {
                    best = best.min(distances[next.index()].saturating_add(1));
                });
                for stmt in &block.stmts {
                    if let Stmt::Call { callee: Callee::Direct(callee), .. } = &body.stmts[*stmt]
                        && let Some(inner) = self.distances.get(callee)
                        && let Some(callee) = &world.program.functions[*callee].body
                    {
                        best = best.min(inner[callee.entry.index()].saturating_add(1));
                    }
                }
                if best < self.distances[func][id.index()] {
                    changed = true;
                    if let Some(distances) = self.distances.get_mut(func) {
                        distances[id.index()] = best;
                    }
                }
            }
        }
        changed
    }
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
