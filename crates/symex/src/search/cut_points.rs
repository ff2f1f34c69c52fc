//! Cut points: the nodes that every way to an objective passes ([001] 4.1).
//!
//! An objective is a label or a sequence of labels. The ways to each of its labels begin where the
//! label before was met, the first at the function under test. The cut points of a label are, in
//! order, the nodes at which control has a choice and that all these ways pass, and last the
//! label's own place. For [001]'s example `power` these are the paper's. They are dominators in a
//! graph in which calls are edges, so that everything that leads to a call site is passed on the
//! way to the callee, in any function. [001] takes one caller of each function, the nearest one.
//! Here only the nodes common to all calls of a function count, so there are fewer points and each
//! is certain.
//!
//! Behind a definition the graph ends at each other definition of the variable: a way that passes
//! one covers no pair (redefinition pruning). Where a pair may cross activations, ways first leave
//! activations and then enter others, so the graph has a copy of each node for each of these.

use std::cell::OnceCell;
use std::rc::Rc;

use lydian_ir::cfg::DominatorTree;
use lydian_ir::{BlockId, FuncId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::goals::hyper_sequences::WaitId;
use crate::machine::program::site::SiteKey;
use crate::search::distance::FAR;
use crate::search::graph::{Extent, Graph, NodeId};

/// The stages of covering an objective: its labels, one after the other.
pub(crate) struct ObjectiveStages {
    pub(crate) stages: Vec<Stage>,
}

/// A label of an objective, with the ways to it from the label before.
pub(crate) struct Stage {
    /// The instance that is under way on a path that passed the labels before; `None` for the first
    /// label.
    pub(crate) wait: Option<WaitId>,
    /// The sites of the label.
    pub(crate) sites: Vec<(FuncId, SiteKey)>,
    /// The cut points without the label's own places.
    points: Vec<NodeId>,
    places: Vec<NodeId>,
    ways: AllowedWays,
    /// The distances to each cut point and to the label, computed when first asked for.
    distances: Vec<OnceCell<Vec<u32>>>,
}

/// The ways that count.
pub(crate) struct AllowedWays {
    pub(crate) extent: Extent,
    /// The nodes at which they end: definitions of the variable.
    pub(crate) closed: FxHashSet<NodeId>,
    passed: PassedPoints,
}

/// How the cut points that a path passed are found.
enum PassedPoints {
    /// From the position of the state: every dominator of it was passed.
    Dominators(Rc<Dominance>),
    /// From the required nodes that the path entered, which are the cut points.
    Entered,
}

/// The nodes that all ways from a root pass.
pub(crate) struct Dominance {
    tree: DominatorTree,
    /// The tree is about copies of the nodes from `base` to `base + count - 1`.
    base: NodeId,
    count: usize,
    copies: usize,
}

impl Dominance {
    /// On ways down from a node: within its activation, and into calls.
    pub(crate) fn down(graph: &Graph, root: NodeId) -> Self {
        let next = |node: NodeId| {
            let (next, calls) = graph.next(node);
            next.iter().chain(calls).copied().collect()
        };
        let tree = DominatorTree::new(graph.len(), root, next);
        Self { tree, base: 0, count: graph.len(), copies: 1 }
    }

    /// On ways from a node within its activation, which end at closed nodes.
    fn within(graph: &Graph, root: NodeId, closed: &FxHashSet<NodeId>) -> Self {
        let (base, count) = graph.range_of(root);
        let next = |node: usize| {
            let node = node + base;
            let ends = closed.contains(&node) && node != root;
            let next = graph.next(node).0.iter().filter(|_| !ends);
            next.map(|to| to - base).collect()
        };
        Self { tree: DominatorTree::new(count, root - base, next), base, count, copies: 1 }
    }

    /// On ways from a node out of its activation and those around it, and then into others, which
    /// end at closed nodes. The second copy of a node is in an activation that began on the way.
    fn up_and_down(graph: &Graph, root: NodeId, closed: &FxHashSet<NodeId>) -> Self {
        let count = graph.len();
        let next = |at: usize| -> Vec<usize> {
            let (copy, node) = (at / count, at % count);
            if closed.contains(&node) && at != root {
                return Vec::new();
            }
            let (next, calls) = graph.next(node);
            let same = next.iter().map(|to| copy * count + to);
            let inner = calls.iter().map(|to| count + to);
            let outer = if copy == 0 { graph.returns_to(node) } else { Vec::new() };
            same.chain(inner).chain(outer).collect()
        };
        Self { tree: DominatorTree::new(2 * count, root, next), base: 0, count, copies: 2 }
    }

    /// The copies of a node that ways reach.
    fn copies_of(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        let at = node.checked_sub(self.base).filter(|at| *at < self.count);
        let copies = if at.is_some() { self.copies } else { 0 };
        let all = (0..copies).map(move |copy| copy * self.count + at.unwrap_or(0));
        all.filter(|at| self.tree.reaches(*at))
    }

    /// The nodes with a choice that all ways to some places pass, in order, without the root and
    /// the places themselves; `None` where there is no way.
    fn choices_before(&self, graph: &Graph, places: &[NodeId]) -> Option<Vec<NodeId>> {
        let goals: Vec<usize> = places.iter().flat_map(|node| self.copies_of(*node)).collect();
        let mut at = Some(self.tree.common(goals.iter().copied())?);
        let mut chain = Vec::new();
        while let Some(node) = at {
            at = self.tree.immediate(node);
            let original = node % self.count + self.base;
            let is_inner = at.is_some() && !goals.contains(&node);
            if is_inner && graph.chooses(original) && chain.last() != Some(&original) {
                chain.push(original);
            }
        }
        chain.reverse();
        Some(chain)
    }

    /// Whether all ways to a node pass another one before.
    fn passes(&self, point: NodeId, node: NodeId) -> bool {
        let over = |at: usize| {
            self.copies_of(point).any(|point| point != at && self.tree.dominates(point, at))
        };
        let mut all = self.copies_of(node).peekable();
        all.peek().is_some() && all.all(over)
    }
}

impl AllowedWays {
    /// The ways from the start of the function under test, with known dominance.
    pub(crate) fn from_start(dominance: &Rc<Dominance>) -> Self {
        let passed = PassedPoints::Dominators(Rc::clone(dominance));
        Self { extent: Extent::Calls, closed: FxHashSet::default(), passed }
    }

    /// The ways from the place of the label before, within its activation or anywhere in the run.
    pub(crate) fn behind(
        graph: &Graph,
        root: NodeId,
        extent: Extent,
        closed: FxHashSet<NodeId>,
    ) -> Self {
        let dominance = match extent {
            Extent::Activation => Dominance::within(graph, root, &closed),
            Extent::Calls => Dominance::up_and_down(graph, root, &closed),
        };
        Self { extent, closed, passed: PassedPoints::Dominators(Rc::new(dominance)) }
    }

    /// The ways within an activation, through given nodes.
    pub(crate) fn through_nodes(closed: FxHashSet<NodeId>) -> Self {
        Self { extent: Extent::Activation, closed, passed: PassedPoints::Entered }
    }
}

impl Stage {
    /// A stage with the ways to a label at these places. `through` are the nodes that ways are
    /// required to enter, if any. `None` where no way leads there.
    pub(crate) fn new(
        graph: &Graph,
        wait: Option<WaitId>,
        sites: Vec<(FuncId, SiteKey)>,
        places: Vec<NodeId>,
        through: &[(FuncId, BlockId)],
        ways: AllowedWays,
    ) -> Option<Self> {
        let points = match &ways.passed {
            PassedPoints::Dominators(dominance) => dominance.choices_before(graph, &places)?,
            PassedPoints::Entered => {
                through.iter().filter_map(|(func, block)| graph.node(*func, *block, 0)).collect()
            }
        };
        let distances = std::iter::repeat_with(OnceCell::new).take(points.len() + 1).collect();
        Some(Self { wait, sites, points, places, ways, distances })
    }

    /// The number of cut points before the label.
    pub(crate) fn count(&self) -> usize {
        self.points.len()
    }

    /// Whether ways stay in the activation of the label before.
    pub(crate) fn is_within(&self) -> bool {
        self.wait.is_some() && self.ways.extent == Extent::Activation
    }

    /// The number of cut points up to the deepest one that a path surely passed. The path is at the
    /// nodes `at`, one for each activation; `entered` is the number of required nodes that it
    /// entered.
    pub(crate) fn passed(&self, at: &[NodeId], entered: usize) -> usize {
        let PassedPoints::Dominators(dominance) = &self.ways.passed else {
            return entered.min(self.points.len());
        };
        let is_passed = |point: NodeId| at.iter().any(|node| dominance.passes(point, *node));
        let deepest = self.points.iter().rposition(|point| is_passed(*point));
        deepest.map_or(0, |deepest| deepest + 1)
    }

    /// For each node, the number of instructions to a cut point, given by its number; to the label
    /// where all points are passed.
    pub(crate) fn distances(&self, graph: &Graph, point: usize) -> &[u32] {
        self.distances[point].get_or_init(|| {
            let to = self.points.get(point).map_or(&self.places[..], std::slice::from_ref);
            graph.distances(to, self.ways.extent, &self.ways.closed)
        })
    }

    /// The number of instructions from the label before, at one of these places, to this label.
    pub(crate) fn length(&self, graph: &Graph, from: &[NodeId]) -> u32 {
        let distances = self.distances(graph, self.points.len());
        let behind = from.iter().flat_map(|node| graph.next(*node).0);
        behind.map(|node| distances[*node].saturating_add(1)).min().unwrap_or(FAR).min(FAR)
    }

    /// The places of the label.
    pub(crate) fn places(&self) -> &[NodeId] {
        &self.places
    }

    /// The cut points without the label's own places.
    #[cfg(test)]
    pub(crate) fn points(&self) -> &[NodeId] {
        &self.points
    }
}

/// The nodes of a state's activations, outermost first, with the number of each activation.
pub(crate) type ActivationNodes = SmallVec<[(NodeId, u64); 8]>;
