//! Random walks through the tree of paths.

use lydian_base::Rng;
use rustc_hash::FxHashMap;

use crate::State;
use crate::search::searcher::{Order, Origin, Rank, Waiting};

/// The state at the end of a random walk from the root, which takes each side of a fork with the
/// same probability.
///
/// Leaves are states: the waiting ones and the running one. Where a state ended, its sibling
/// replaces their fork, so that all forks have two sides.
#[derive(Default)]
pub(crate) struct RandomPath {
    nodes: Vec<Node>,
    /// Unused nodes.
    free: Vec<usize>,
    root: Option<usize>,
    leaves: FxHashMap<u64, usize>,
    /// The leaf of the state that was taken last, until it is back.
    running: Option<usize>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: Option<usize>,
    kind: NodeKind,
}

#[derive(Clone, Copy)]
enum NodeKind {
    Fork([usize; 2]),
    /// A waiting state.
    Waiting(u64),
    /// The state that was taken last.
    Running,
}

impl RandomPath {
    fn node(&mut self, parent: Option<usize>, kind: NodeKind) -> usize {
        let node = Node { parent, kind };
        if let Some(at) = self.free.pop() {
            self.nodes[at] = node;
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Turns a node into a fork, with a new leaf as its other side.
    fn split(&mut self, at: usize, kind: NodeKind) -> usize {
        let parent = self.nodes[at].parent;
        let leaf = self.node(None, kind);
        let fork = self.node(parent, NodeKind::Fork([at, leaf]));
        self.nodes[at].parent = Some(fork);
        self.nodes[leaf].parent = Some(fork);
        self.put(parent, at, fork);
        leaf
    }

    /// Replaces a node by another below a parent, or at the root.
    fn put(&mut self, parent: Option<usize>, old: usize, new: usize) {
        match parent.map(|parent| &mut self.nodes[parent].kind) {
            Some(NodeKind::Fork(sides)) => {
                let side = usize::from(sides[1] == old);
                sides[side] = new;
            }
            _ => self.root = Some(new),
        }
        self.nodes[new].parent = parent;
    }

    /// Removes a leaf.
    fn remove(&mut self, leaf: usize) {
        self.free.push(leaf);
        let Some(fork) = self.nodes[leaf].parent else {
            self.root = None;
            return;
        };
        if let NodeKind::Fork(sides) = self.nodes[fork].kind {
            let sibling = sides[usize::from(sides[0] == leaf)];
            let above = self.nodes[fork].parent;
            self.put(above, fork, sibling);
        }
        self.free.push(fork);
    }

    /// Adds a leaf.
    fn grow(&mut self, number: u64, origin: Origin) {
        let kind = NodeKind::Waiting(number);
        let leaf = match (origin, self.running) {
            (Origin::Back, Some(running)) => {
                self.running = None;
                self.nodes[running].kind = kind;
                running
            }
            (Origin::Fork, Some(running)) => self.split(running, kind),
            // A state that left the tree for a while, or the first state.
            (_, None) => match self.root {
                Some(root) => self.split(root, kind),
                None => {
                    let leaf = self.node(None, kind);
                    self.root = Some(leaf);
                    leaf
                }
            },
        };
        self.leaves.insert(number, leaf);
    }

    /// The state at the end of a random walk.
    fn walk(&mut self, rng: &mut Rng) -> Option<u64> {
        self.end_running();
        let mut at = self.root?;
        loop {
            match self.nodes[at].kind {
                NodeKind::Fork(sides) => at = sides[rng.below(2) as usize],
                NodeKind::Waiting(number) => return Some(number),
                NodeKind::Running => return None,
            }
        }
    }

    fn end_running(&mut self) {
        if let Some(leaf) = self.running.take() {
            self.remove(leaf);
        }
    }
}

impl Order for RandomPath {
    fn add(&mut self, number: u64, origin: Origin, _: &State, _: &Rank<'_>) {
        self.grow(number, origin);
    }
    fn choose(&mut self, _: &Waiting, rng: &mut Rng, _: &Rank<'_>) -> Option<u64> {
        self.walk(rng)
    }

    fn taken(&mut self, number: u64) {
        self.end_running();
        let Some(leaf) = self.leaves.remove(&number) else { return };
        self.nodes[leaf].kind = NodeKind::Running;
        self.running = Some(leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_with_one_path_is_as_likely_as_one_with_many() {
        let mut order = RandomPath::default();
        let mut rng = Rng::new(7);
        order.grow(1, Origin::Fork);
        order.taken(1);
        order.grow(2, Origin::Fork);
        for number in 3..=40 {
            order.grow(number, Origin::Fork);
        }
        order.grow(41, Origin::Back);
        let mut often = 0;
        for _ in 0..4000 {
            often += u32::from(order.walk(&mut rng) == Some(2));
        }
        assert!((1800..2200).contains(&often), "{often} of 4000");
    }

    #[test]
    fn every_waiting_state_is_chosen_once_and_ended_ones_never() {
        let mut order = RandomPath::default();
        let mut rng = Rng::new(1);
        let (mut next, mut chosen) = (1, Vec::new());
        order.grow(1, Origin::Fork);
        while let Some(number) = order.walk(&mut rng) {
            chosen.push(number);
            order.taken(number);
            if next < 200 {
                for _ in 0..number % 3 {
                    next += 1;
                    order.grow(next, Origin::Fork);
                }
                if number.is_multiple_of(5) {
                    next += 1;
                    order.grow(next, Origin::Back);
                }
            }
        }
        chosen.sort_unstable();
        assert_eq!(chosen, (1..=next).collect::<Vec<_>>());
        assert!(order.leaves.is_empty() && order.root.is_none());
    }
}
