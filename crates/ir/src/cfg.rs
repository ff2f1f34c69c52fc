//! Control-flow analyses of one body: predecessors, reverse postorder, dominators and
//! post-dominators, natural loops.
//!
//! Everything is computed for the blocks that the entry reaches. Dominators are those of Cooper,
//! Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". A loop is natural: the target of an
//! edge that its own target dominates, and all that reaches the edge without passing the target.
//! Cycles that `goto` makes with two entries have no header and are no loops here;
//! [`Loops::irreducible`] tells of them.

use lydian_base::{Arena, EntityId, entity_id};

use crate::program::function::Body;
use crate::program::stmt::{BlockId, Edge};

entity_id!(
    /// Names a natural loop of a body.
    LoopId,
    "loop"
);

/// The edges between blocks, in both directions.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Vec<Vec<BlockId>>,
    predecessors: Vec<Vec<Edge>>,
    order: Vec<BlockId>,
    position: Vec<Option<u32>>,
}

impl Cfg {
    /// Reads the terminators. Edges to blocks that do not exist are left out.
    pub fn new(body: &Body) -> Self {
        let count = body.blocks.len();
        let mut successors = vec![Vec::new(); count];
        let mut predecessors = vec![Vec::new(); count];
        for (from, block) in body.blocks.iter() {
            let mut way = 0;
            block.term.for_each_successor(|to| {
                if to.index() < count {
                    successors[from.index()].push(to);
                    predecessors[to.index()].push(Edge { from, way });
                }
                way += 1;
            });
        }
        let next = |block: usize| successors[block].iter().map(|to| to.index()).collect();
        let order = reverse_postorder(count, body.entry.index(), next);
        let mut position = vec![None; count];
        for (index, block) in order.iter().enumerate() {
            position[*block] = Some(index as u32);
        }
        let order = order.into_iter().map(BlockId::from_index).collect();
        Self { successors, predecessors, order, position }
    }

    /// The blocks that a block's edges lead to, by [`Edge::way`].
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.index()]
    }

    /// The edges that lead to a block, also from blocks that are not reachable.
    pub fn predecessors(&self, block: BlockId) -> &[Edge] {
        &self.predecessors[block.index()]
    }

    /// The reachable blocks, each before its successors but for back edges. The entry is first.
    pub fn reverse_postorder(&self) -> &[BlockId] {
        &self.order
    }

    /// Whether control can reach a block, as far as edges say.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.index()].is_some()
    }

    /// A block's position in [`Self::reverse_postorder`].
    pub fn position(&self, block: BlockId) -> Option<u32> {
        self.position[block.index()]
    }

    /// Where an edge leads.
    pub fn target(&self, edge: Edge) -> Option<BlockId> {
        self.successors.get(edge.from.index())?.get(edge.way as usize).copied()
    }
}

/// The nodes that `start` reaches, in reverse postorder.
fn reverse_postorder(count: usize, start: usize, next: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    if start >= count {
        return order;
    }
    seen[start] = true;
    let mut stack = vec![(start, next(start).into_iter())];
    while let Some((node, rest)) = stack.last_mut() {
        match rest.next() {
            Some(to) if !seen[to] => {
                seen[to] = true;
                stack.push((to, next(to).into_iter()));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// A tree of dominance over numbered nodes.
#[derive(Clone, Debug)]
struct Tree {
    parent: Vec<Option<usize>>,
    /// For each node of the tree the time of its first and last visit.
    visits: Vec<Option<(u32, u32)>>,
}

impl Tree {
    /// `order` is the reverse postorder from the root, its first node; `before` are predecessors.
    fn new(count: usize, order: &[usize], before: impl Fn(usize) -> Vec<usize>) -> Self {
        let mut position = vec![usize::MAX; count];
        for (index, node) in order.iter().enumerate() {
            position[*node] = index;
        }
        let mut parent: Vec<Option<usize>> = vec![None; count];
        let Some(root) = order.first().copied() else {
            return Self { parent, visits: vec![None; count] };
        };
        parent[root] = Some(root);
        let before: Vec<Vec<usize>> = (0..count).map(before).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().skip(1) {
                let mut known =
                    before[*node].iter().copied().filter(|node| parent[*node].is_some());
                let Some(first) = known.next() else { continue };
                let new = known.fold(first, |a, b| common(&parent, &position, a, b));
                if parent[*node] != Some(new) {
                    parent[*node] = Some(new);
                    changed = true;
                }
            }
        }
        parent[root] = None;
        let visits = visits(count, root, order, &parent);
        Self { parent, visits }
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.visits[a], self.visits[b]) {
            (Some((a_in, a_out)), Some((b_in, b_out))) => a_in <= b_in && b_out <= a_out,
            _ => false,
        }
    }
}

/// The deepest node above both.
fn common(parent: &[Option<usize>], position: &[usize], a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        if position[a] > position[b] {
            a = parent[a].unwrap_or(b);
        } else {
            b = parent[b].unwrap_or(a);
        }
    }
    a
}

fn visits(
    count: usize,
    root: usize,
    order: &[usize],
    parent: &[Option<usize>],
) -> Vec<Option<(u32, u32)>> {
    let mut children = vec![Vec::new(); count];
    for node in order {
        if let Some(parent) = parent[*node] {
            children[parent].push(*node);
        }
    }
    let mut visits = vec![None; count];
    let mut time = 0;
    let mut stack = vec![(root, 0)];
    while let Some((node, child)) = stack.last_mut() {
        if *child == 0 {
            visits[*node] = Some((time, time));
            time += 1;
        }
        if let Some(next) = children[*node].get(*child).copied() {
            *child += 1;
            stack.push((next, 0));
        } else {
            if let Some((_, out)) = &mut visits[*node] {
                *out = time;
            }
            stack.pop();
        }
    }
    visits
}

/// Which nodes every way from the root passes, in a graph of the caller's.
#[derive(Clone, Debug)]
pub struct DominatorTree(Tree);

impl DominatorTree {
    /// For nodes from 0 to `count - 1`, of which one is the root, and what follows each.
    pub fn new(count: usize, root: usize, next: impl Fn(usize) -> Vec<usize>) -> Self {
        let order = reverse_postorder(count, root, &next);
        let mut before = vec![Vec::new(); count];
        for node in &order {
            next(*node).into_iter().for_each(|to| before[to].push(*node));
        }
        Self(Tree::new(count, &order, |node| before[node].clone()))
    }

    /// Whether the root reaches a node.
    pub fn reaches(&self, node: usize) -> bool {
        self.0.visits[node].is_some()
    }

    /// The closest node that dominates this one, other than itself. `None` for the root and for what
    /// it does not reach.
    pub fn immediate(&self, node: usize) -> Option<usize> {
        self.0.parent[node]
    }

    /// Whether every way from the root to `b` passes `a`; every node dominates itself. False where
    /// one of them is not reached. In constant time.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.0.dominates(a, b)
    }

    /// The closest node that every way to any of some nodes passes, those that are not reached left
    /// aside.
    pub fn common(&self, nodes: impl IntoIterator<Item = usize>) -> Option<usize> {
        let mut found: Option<usize> = None;
        for node in nodes.into_iter().filter(|node| self.reaches(*node)) {
            let mut above = found.unwrap_or(node);
            while !self.dominates(above, node) {
                above = self.immediate(above)?;
            }
            found = Some(above);
        }
        found
    }
}

/// Which blocks every way from the entry passes.
#[derive(Clone, Debug)]
pub struct Dominators(Tree);

impl Dominators {
    /// Computes the dominators of every reachable block.
    pub fn new(cfg: &Cfg) -> Self {
        let order: Vec<usize> = cfg.order.iter().map(|block| block.index()).collect();
        let before =
            |block: usize| cfg.predecessors[block].iter().map(|edge| edge.from.index()).collect();
        Self(Tree::new(cfg.successors.len(), &order, before))
    }

    /// The closest block that dominates this one, other than itself. `None` for the entry and for
    /// what is not reachable.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.0.parent[block.index()].map(BlockId::from_index)
    }

    /// Whether every way from the entry to `b` passes `a`; every block dominates itself. False
    /// where one of them is not reachable. In constant time.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.0.dominates(a.index(), b.index())
    }
}

/// Which blocks every way to the function's end passes.
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: Tree,
    exit: usize,
}

impl PostDominators {
    /// Computes the post-dominators of every reachable block that reaches an end (a return or a
    /// trap).
    pub fn new(cfg: &Cfg) -> Self {
        let exit = cfg.successors.len();
        let reachable = |block: &usize| cfg.position[*block].is_some();
        let ends: Vec<usize> =
            (0..exit).filter(reachable).filter(|block| cfg.successors[*block].is_empty()).collect();
        let back = |block: usize| -> Vec<usize> {
            match block == exit {
                true => ends.clone(),
                false => {
                    let before = cfg.predecessors[block].iter().map(|edge| edge.from.index());
                    before.filter(reachable).collect()
                }
            }
        };
        let forth = |block: usize| -> Vec<usize> {
            match cfg.successors.get(block) {
                None => Vec::new(),
                Some(next) if next.is_empty() => vec![exit],
                Some(next) => next.iter().map(|to| to.index()).collect(),
            }
        };
        let order = reverse_postorder(exit + 1, exit, back);
        Self { tree: Tree::new(exit + 1, &order, forth), exit }
    }

    /// The closest block that post-dominates this one, other than itself. `None` where that is the
    /// end itself, and for blocks that reach no end.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let parent = self.tree.parent[block.index()]?;
        (parent != self.exit).then(|| BlockId::from_index(parent))
    }

    /// Whether every way from `b` to an end passes `a`. False where one of them reaches no end.
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.dominates(a.index(), b.index())
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block through which alone it is entered.
    pub header: BlockId,
    /// Its blocks, the header and those of inner loops among them, by number.
    pub blocks: Vec<BlockId>,
    /// The edges from within back to the header.
    pub back_edges: Vec<Edge>,
    /// The edges that leave it.
    pub exits: Vec<Edge>,
    /// The loop right around it.
    pub parent: Option<LoopId>,
    /// How many loops it lies in, itself included: from 1.
    pub depth: u32,
}

/// All natural loops of a body. Loops with one header are one.
#[derive(Clone, Debug)]
pub struct Loops {
    /// The loops; outer ones come before inner ones.
    pub loops: Arena<LoopId, Loop>,
    /// Whether there is a cycle that is no natural loop.
    pub irreducible: bool,
    innermost: Vec<Option<LoopId>>,
}

impl Loops {
    /// Finds the loops.
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut loops: Arena<LoopId, Loop> = Arena::new();
        let mut innermost: Vec<Option<LoopId>> = vec![None; cfg.successors.len()];
        // Outer headers dominate inner ones and so come first in this order.
        for header in &cfg.order {
            let edges = cfg.predecessors(*header).iter().copied();
            let back: Vec<Edge> =
                edges.filter(|edge| dominators.dominates(*header, edge.from)).collect();
            if back.is_empty() {
                continue;
            }
            let blocks = loop_blocks(cfg, *header, &back);
            let is_inside = |block: BlockId| blocks.binary_search(&block).is_ok();
            let ways = blocks.iter().flat_map(|from| {
                let count = cfg.successors(*from).len() as u32;
                (0..count).map(|way| Edge { from: *from, way })
            });
            let leaves = |edge: &Edge| cfg.target(*edge).is_some_and(|to| !is_inside(to));
            let exits = ways.filter(leaves).collect();
            let parent: Option<LoopId> = innermost[header.index()];
            let depth = parent.map_or(0, |parent| loops[parent].depth) + 1;
            let id = loops.next_id();
            blocks.iter().for_each(|block| innermost[block.index()] = Some(id));
            loops.push(Loop { header: *header, blocks, back_edges: back, exits, parent, depth });
        }
        Self { loops, irreducible: has_other_cycle(cfg, dominators), innermost }
    }

    /// The innermost loop that a block lies in.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    /// Whether an edge leads from within a loop back to its header.
    pub fn is_back_edge(&self, edge: Edge) -> bool {
        self.loops.values().any(|l| l.back_edges.contains(&edge))
    }
}

/// The blocks that reach a back edge without passing the header, by number.
fn loop_blocks(cfg: &Cfg, header: BlockId, back: &[Edge]) -> Vec<BlockId> {
    let mut blocks = vec![header];
    let mut inside = vec![false; cfg.successors.len()];
    inside[header.index()] = true;
    let mut work: Vec<BlockId> = back.iter().map(|edge| edge.from).collect();
    while let Some(block) = work.pop() {
        let is_new = !std::mem::replace(&mut inside[block.index()], true);
        if is_new {
            blocks.push(block);
            let before = cfg.predecessors(block).iter().map(|edge| edge.from);
            work.extend(before.filter(|from| cfg.is_reachable(*from)));
        }
    }
    blocks.sort_unstable();
    blocks
}

/// Whether a retreating edge leads to a block that does not dominate its start.
fn has_other_cycle(cfg: &Cfg, dominators: &Dominators) -> bool {
    cfg.order.iter().any(|from| {
        cfg.successors(*from)
            .iter()
            .any(|to| cfg.position(*to) <= cfg.position(*from) && !dominators.dominates(*to, *from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::source::FunctionSource;
    use crate::program::stmt::{Block, SwitchCase, Terminator};
    use lydian_base::{Rng, Span};

    fn body(edges: &[&[usize]]) -> Body {
        let block = |to: &&[usize]| {
            let case = |to: &usize| SwitchCase {
                low: 0,
                high: 0,
                target: BlockId::from_index(*to),
                span: Span::NONE,
            };
            let term = match to {
                [] => Terminator::Return(None),
                [one] => Terminator::Goto(BlockId::from_index(*one)),
                [cases @ .., last] => Terminator::Switch {
                    value: crate::ExprId::from_index(0),
                    cases: cases.iter().map(case).collect(),
                    default: BlockId::from_index(*last),
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
            entry: BlockId::from_index(0),
            decisions: Arena::new(),
            marks: Arena::new(),
            source: FunctionSource::default(),
        }
    }

    fn bb(index: usize) -> BlockId {
        BlockId::from_index(index)
    }

    #[test]
    fn nested_loops_know_their_headers_parents_and_exits() {
        // 0 -> 1; 1: outer header; 2: inner header; 3: inner latch; 4: outer latch; 5: end
        let body = body(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
        let cfg = Cfg::new(&body);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        let shape: Vec<_> =
            loops.loops.values().map(|l| (l.header, l.blocks.len(), l.depth, l.parent)).collect();
        let outer = LoopId::from_index(0);
        assert_eq!(shape, [(bb(1), 4, 1, None), (bb(2), 2, 2, Some(outer))]);
        assert_eq!(loops.loops[outer].exits, [Edge { from: bb(1), way: 1 }]);
        assert_eq!(loops.innermost(bb(3)), Some(LoopId::from_index(1)));
        assert!(loops.is_back_edge(Edge { from: bb(4), way: 0 }));
        assert!(!loops.irreducible);
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_loop_but_is_told_of() {
        let body = body(&[&[1, 2], &[2], &[1, 3], &[]]);
        let cfg = Cfg::new(&body);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        assert!(loops.loops.is_empty() && loops.irreducible);
    }

    #[test]
    fn a_block_that_never_ends_has_no_post_dominator() {
        let body = body(&[&[1, 2], &[1], &[3, 4], &[5], &[5], &[]]);
        let cfg = Cfg::new(&body);
        let post = PostDominators::new(&cfg);
        assert_eq!(post.immediate(bb(1)), None);
        assert_eq!(post.immediate(bb(2)), Some(bb(5)));
        assert_eq!(post.immediate(bb(5)), None);
        assert!(post.post_dominates(bb(5), bb(3)) && !post.post_dominates(bb(3), bb(2)));
    }

    /// Whether every way from `from` to `to` passes `through`, by leaving `through` out.
    fn must_pass(edges: &[Vec<usize>], from: usize, through: usize, to: usize) -> bool {
        let mut seen = vec![false; edges.len()];
        let mut work = vec![from];
        while let Some(node) = work.pop() {
            if node == through || std::mem::replace(&mut seen[node], true) {
                continue;
            }
            work.extend(&edges[node]);
        }
        !seen[to]
    }

    #[test]
    fn dominators_are_the_blocks_that_cannot_be_left_out() {
        let mut rng = Rng::new(7);
        for _ in 0..200 {
            let count = 2 + rng.below(9) as usize;
            let edges: Vec<Vec<usize>> = (0..count)
                .map(|_| {
                    (0..rng.below(4)).map(|_| 1 + rng.below(count as u64 - 1) as usize).collect()
                })
                .collect();
            let slices: Vec<&[usize]> = edges.iter().map(Vec::as_slice).collect();
            let body = body(&slices);
            let cfg = Cfg::new(&body);
            let (dominators, post) = (Dominators::new(&cfg), PostDominators::new(&cfg));
            let mut to_end = edges.clone();
            to_end.push(vec![]);
            (0..count).filter(|n| edges[*n].is_empty()).for_each(|n| to_end[n].push(count));
            for a in 0..count {
                for b in 0..count {
                    let both = cfg.is_reachable(bb(a)) && cfg.is_reachable(bb(b));
                    let expected = both && must_pass(&edges, 0, a, b);
                    assert_eq!(dominators.dominates(bb(a), bb(b)), expected, "{edges:?} {a} {b}");
                    let ends = |n| !must_pass(&to_end, n, usize::MAX, count);
                    let expected = both && ends(a) && ends(b) && must_pass(&to_end, b, a, count);
                    assert_eq!(post.post_dominates(bb(a), bb(b)), expected, "{edges:?} {a} {b}");
                }
            }
        }
    }
}
