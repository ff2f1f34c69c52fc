//! The shape of the inlined graph: an order of its nodes, the points, the cycles.
//!
//! A depth-first walk from the entry finds *retreating* edges, which lead to a node that is still open
//! (Tarjan, *Depth-First Search and Linear Graph Algorithms*). Without them the graph has no cycle. So
//! the points of the system are their targets, and loops with several entries need nothing else. The
//! entry and the returns of a recursive function are points, too.

use lydian_base::EntityId;

use crate::encode::ids::NodeId;
use crate::encode::inlined::Inlined;

/// The shape of the inlined graph.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The nodes that the entry reaches, each before those that it leads to but for retreating edges.
    pub(crate) order: Vec<NodeId>,
    /// The position of each node in the order.
    position: Vec<Option<usize>>,
    /// Whether a node is the entry, the target of a retreating edge, or one of those of a summary.
    is_point: Vec<bool>,
    /// Whether a node is in a cycle.
    in_cycle: Vec<bool>,
}

impl Graph {
    pub(crate) fn new(inlined: &Inlined<'_>) -> Self {
        let next: Vec<&[NodeId]> =
            inlined.nodes.values().map(|node| &node.successors[..]).collect();
        let count = next.len();
        let mut walk = Walk { next, state: vec![Visit::New; count], order: Vec::new() };
        let mut is_point = vec![false; count];
        is_point[inlined.entry.index()] = true;
        for summary in &inlined.summaries {
            is_point[summary.enter.index()] = true;
            is_point[summary.exit.index()] = true;
        }
        walk.run(inlined.entry, &mut is_point);
        let Walk { mut order, .. } = walk;
        order.reverse();
        let mut position = vec![None; count];
        for (at, node) in order.iter().enumerate() {
            position[node.index()] = Some(at);
        }
        let in_cycle = cycles(inlined, &order);
        Self { order, position, is_point, in_cycle }
    }

    /// The position of a node in the order; none where the entry does not reach it.
    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.position[node.index()]
    }

    pub(crate) fn is_point(&self, node: NodeId) -> bool {
        self.is_point[node.index()]
    }

    pub(crate) fn is_in_cycle(&self, node: NodeId) -> bool {
        self.in_cycle[node.index()]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// A depth-first walk, which leaves nodes in postorder.
struct Walk<'g> {
    next: Vec<&'g [NodeId]>,
    state: Vec<Visit>,
    order: Vec<NodeId>,
}

impl Walk<'_> {
    fn run(&mut self, root: NodeId, retreating: &mut [bool]) {
        let mut stack = vec![(root, 0)];
        self.state[root.index()] = Visit::Open;
        while let Some((node, at)) = stack.last_mut() {
            let Some(to) = self.next[node.index()].get(*at).copied() else {
                self.state[node.index()] = Visit::Done;
                self.order.push(*node);
                stack.pop();
                continue;
            };
            *at += 1;
            match self.state[to.index()] {
                Visit::New => {
                    self.state[to.index()] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => retreating[to.index()] = true,
                Visit::Done => {}
            }
        }
    }
}

/// Which nodes are in a cycle: those of a strongly connected component of several nodes, or with an edge
/// to themselves (Kosaraju's algorithm, as Sharir published it).
fn cycles(inlined: &Inlined<'_>, order: &[NodeId]) -> Vec<bool> {
    let count = inlined.nodes.len();
    let mut before: Vec<Vec<NodeId>> = vec![Vec::new(); count];
    for node in order {
        for to in &inlined.nodes[*node].successors {
            before[to.index()].push(*node);
        }
    }
    let (mut component, mut in_cycle) = (vec![None; count], vec![false; count]);
    for root in order {
        if component[root.index()].is_some() {
            continue;
        }
        let (mut members, mut waiting) = (Vec::new(), vec![*root]);
        while let Some(node) = waiting.pop() {
            if component[node.index()].replace(*root).is_none() {
                members.push(node);
                let unseen = before[node.index()].iter();
                waiting.extend(unseen.filter(|node| component[node.index()].is_none()));
            }
        }
        let own = inlined.nodes[*root].successors.contains(root);
        members.iter().for_each(|node| in_cycle[node.index()] = own || members.len() > 1);
    }
    in_cycle
}
