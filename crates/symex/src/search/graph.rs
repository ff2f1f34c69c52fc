//! The control flow of all functions at the level of statements.
//!
//! A node is a statement or a terminator of one function. An activation goes from node to node,
//! past calls; a call also leads to the first nodes of its callees. The nodes of a call that
//! returned are on no way to a place, so every way through the graph is one that calls can take: as
//! if callees were inlined, but with one copy of each function.
//!
//! Distances are instructions, as in [001] Algorithm 1: passing a call costs the shortest way
//! through its callee.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lydian_base::EntityId;
use lydian_ir::{BlockId, Body, Callee, FuncId, Program, Stmt, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::search::distance::FAR;

pub(crate) type NodeId = usize;

/// The nodes of some functions.
#[derive(Default)]
pub(crate) struct Graph {
    /// The first node of each block, by function and block; empty for functions that are not
    /// explored.
    first: Vec<Vec<NodeId>>,
    nodes: Vec<Node>,
    /// The predecessors of each node, each with whether it leads there by a call.
    before: Vec<SmallVec<[(NodeId, bool); 2]>>,
    /// The first node of each function.
    entries: FxHashMap<FuncId, NodeId>,
    /// For each node, the number of instructions to the end of its activation.
    to_end: Vec<u32>,
    /// A node that stands for a call of any function.
    any: NodeId,
}

#[derive(Default)]
struct Node {
    func: Option<FuncId>,
    /// The successors in the activation.
    next: SmallVec<[NodeId; 2]>,
    /// The entries of the callees.
    calls: SmallVec<[NodeId; 1]>,
    /// The number of instructions that passing it takes.
    cost: u32,
    returns: bool,
}

/// The edges that ways may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The edges within an activation.
    Activation,
    /// Also the edges of calls.
    Calls,
}

impl Graph {
    /// The graph of functions that calls may lead to.
    pub(crate) fn new(program: &Program, functions: &[FuncId]) -> Self {
        let mut this = Self::default();
        this.first.resize_with(program.functions.len(), Vec::new);
        let with_bodies = functions.iter().filter_map(|func| {
            let body = program.functions[*func].body.as_ref()?;
            Some((*func, body))
        });
        let bodies: Vec<(FuncId, &Body)> = with_bodies.collect();
        for (func, body) in &bodies {
            this.number(*func, body);
        }
        this.any = this.nodes.len();
        let entries = bodies.iter().map(|(func, _)| this.entries[func]).collect();
        this.nodes.push(Node { calls: entries, cost: FAR, ..Node::default() });
        for (func, body) in &bodies {
            this.connect(program, *func, body);
        }
        this.note_before();
        this.measure_calls();
        this
    }

    fn number(&mut self, func: FuncId, body: &Body) {
        for block in body.blocks.values() {
            self.first[func.index()].push(self.nodes.len());
            let node = || Node { func: Some(func), cost: 1, ..Node::default() };
            self.nodes.extend((0..=block.stmts.len()).map(|_| node()));
        }
        self.entries.insert(func, self.first[func.index()][body.entry.index()]);
    }

    fn connect(&mut self, program: &Program, func: FuncId, body: &Body) {
        for (id, block) in body.blocks.iter() {
            let first = self.first[func.index()][id.index()];
            for (position, stmt) in block.stmts.iter().enumerate() {
                let calls = match &body.stmts[*stmt] {
                    Stmt::Call { callee: Callee::Direct(callee), .. } => {
                        let has_body = program.functions[*callee].body.is_some();
                        self.entries.get(callee).copied().filter(|_| has_body)
                    }
                    Stmt::Call { callee: Callee::Indirect(_), .. } => Some(self.any),
                    _ => None,
                };
                let node = &mut self.nodes[first + position];
                node.next.push(first + position + 1);
                node.calls.extend(calls);
            }
            let mut next = SmallVec::new();
            block.term.for_each_successor(|to| {
                let to = self.first[func.index()][to.index()];
                if !next.contains(&to) {
                    next.push(to);
                }
            });
            let last = &mut self.nodes[first + block.stmts.len()];
            last.next = next;
            last.returns = matches!(block.term, Terminator::Return(_));
        }
    }

    fn note_before(&mut self) {
        self.before.resize_with(self.nodes.len(), SmallVec::new);
        for (id, node) in self.nodes.iter().enumerate() {
            node.next.iter().for_each(|to| self.before[*to].push((id, false)));
            node.calls.iter().for_each(|to| self.before[*to].push((id, true)));
        }
    }

    /// Finds the cost of passing calls, inner ones first: each iteration treats those with known
    /// callees.
    fn measure_calls(&mut self) {
        let all = 0..self.nodes.len();
        // The node for a call of any function has the highest number, and is settled first.
        let calls: Vec<NodeId> = all.rev().filter(|id| !self.nodes[*id].calls.is_empty()).collect();
        calls.iter().for_each(|id| self.nodes[*id].cost = FAR);
        let ends: Vec<NodeId> =
            (0..self.nodes.len()).filter(|id| self.nodes[*id].returns).collect();
        loop {
            self.to_end = self.distances(&ends, Extent::Activation, &FxHashSet::default());
            let mut changed = false;
            for id in calls.iter().copied() {
                let through = |to: &NodeId| match *to == self.any {
                    true => self.nodes[self.any].cost,
                    false => self.to_end[*to],
                };
                let inner = self.nodes[id].calls.iter().map(through).min().unwrap_or(0);
                let cost = inner.saturating_add(1).min(FAR);
                changed |= std::mem::replace(&mut self.nodes[id].cost, cost) != cost;
            }
            if !changed {
                return;
            }
        }
    }

    /// The node of a position in a block; the terminator comes after the last statement.
    pub(crate) fn node(&self, func: FuncId, block: BlockId, position: usize) -> Option<NodeId> {
        let first = self.first.get(func.index())?.get(block.index())?;
        Some(first + position)
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The first node of a function.
    pub(crate) fn entry(&self, func: FuncId) -> Option<NodeId> {
        self.entries.get(&func).copied()
    }

    /// The first node of a node's function, and the function's number of nodes.
    pub(crate) fn range_of(&self, node: NodeId) -> (NodeId, usize) {
        let func = self.nodes[node].func;
        let start = func.map_or(node, |func| self.first[func.index()][0]);
        let same = self.nodes[start..].iter().take_while(|other| other.func == func);
        (start, same.count())
    }

    /// Whether control has a choice at a node.
    pub(crate) fn chooses(&self, node: NodeId) -> bool {
        self.nodes[node].next.len() > 1
    }

    /// The number of instructions from a node to the end of its activation.
    pub(crate) fn to_end(&self, node: NodeId) -> u32 {
        self.to_end[node]
    }

    /// The successors of a node in its activation, and the entries of its callees.
    pub(crate) fn next(&self, node: NodeId) -> (&[NodeId], &[NodeId]) {
        (&self.nodes[node].next, &self.nodes[node].calls)
    }

    /// The successors of a node at the end of its activation: the nodes behind calls of its
    /// function. Empty for other nodes.
    pub(crate) fn returns_to(&self, node: NodeId) -> Vec<NodeId> {
        let entry = self.nodes[node].func.filter(|_| self.nodes[node].returns);
        let Some(entry) = entry.and_then(|func| self.entry(func)) else { return Vec::new() };
        let callers = |to: NodeId| {
            let by_call = self.before[to].iter().filter(|(_, call)| *call);
            by_call.map(|(caller, _)| *caller)
        };
        let direct = callers(entry).filter(|caller| *caller != self.any);
        let calls = direct.chain(callers(self.any));
        calls.flat_map(|call| self.nodes[call].next.iter().copied()).collect()
    }

    /// For each node, the number of instructions to the nearest of some nodes. [`FAR`] where each
    /// way there passes a node in `closed`.
    pub(crate) fn distances(
        &self,
        to: &[NodeId],
        extent: Extent,
        closed: &FxHashSet<NodeId>,
    ) -> Vec<u32> {
        let mut distances = vec![FAR; self.nodes.len()];
        let mut heap = BinaryHeap::new();
        for node in to {
            distances[*node] = 0;
            heap.push((Reverse(0u32), *node));
        }
        while let Some((Reverse(distance), node)) = heap.pop() {
            if distance > distances[node] {
                continue;
            }
            for (before, call) in &self.before[node] {
                if closed.contains(before) || *call && extent == Extent::Activation {
                    continue;
                }
                let cost = if *call { 1 } else { self.nodes[*before].cost };
                let through = distance.saturating_add(cost).min(FAR);
                if through < distances[*before] {
                    distances[*before] = through;
                    heap.push((Reverse(through), *before));
                }
            }
        }
        distances
    }
}
