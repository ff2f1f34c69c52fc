//! The graph of nodes of a function, and the sets of paths that criteria ask for.
//!
//! A node is a basic block in the textbook's sense: a longest run of the IR's blocks that control
//! enters at its head and leaves at its end. Blocks that do nothing but go on are no nodes. Nor are
//! blocks that hold only the beginning of a loop, whose test or body runs first. A branch on a
//! constant goes one way. Conditions that short-circuit evaluation may skip are nodes of their own.
//!
//! A path is a list of nodes, each a successor of the one before ([002] III-B; Ammann and Offutt,
//! *Introduction to Software Testing*, 2.2). Sets of paths may be exponentially large. Each is made
//! up to a limit; a set that exceeds the limit is not made at all.

use std::collections::{BTreeMap, VecDeque};

use lydian_base::{EntityId, Span};
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::{MarkKind, Terminator};
use lydian_ir::{BlockId, Body, Expr, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

/// A node, by its position in [`NodeGraph::nodes`].
pub type NodeId = usize;

/// A path: nodes that follow one another.
pub type Path = Vec<NodeId>;

/// A function's nodes.
#[derive(Clone, Debug)]
pub struct NodeGraph {
    /// The nodes, the entry first, then in reverse postorder.
    pub nodes: Vec<Node>,
    /// Whether some branch is neither a condition of the user's nor a switch. The text then has no
    /// place that shows which way control goes.
    pub has_hidden_branch: bool,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its first block: control enters the node where it enters this block.
    pub head: BlockId,
    /// Its last block, which has the terminator.
    pub last: BlockId,
    /// The node that each way out of it leads to, by [`lydian_ir::stmt::Edge::way`]; one if there is
    /// no choice.
    pub ways: Vec<NodeId>,
    /// Whether the way out is a choice.
    pub branches: bool,
}

/// A set of paths that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {limit} paths")]
pub struct TooManyPaths {
    /// The most paths that are made.
    pub limit: usize,
}

/// The number of steps of a search for each path that it may return.
pub(crate) const STEPS: usize = 1000;

impl NodeGraph {
    /// The nodes of a body.
    pub fn of(body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let shape = Shape { body };
        // The entry stays a node of its own if it is empty and a loop follows: no edge leads to it.
        let entry = body.entry;
        // The number of edges that enter each block, and one for the function's entry.
        let mut entered = vec![0u32; body.blocks.len()];
        entered[entry.index()] += 1;
        let mut reached = FxHashSet::default();
        let mut rest = vec![entry];
        while let Some(block) = rest.pop() {
            if !reached.insert(block) {
                continue;
            }
            for to in shape.successors(block) {
                entered[to.index()] += 1;
                rest.push(to);
            }
        }
        // A block belongs to the node of the one before it if control cannot come from elsewhere.
        let mut heads = vec![entry];
        let mut number: FxHashMap<BlockId, NodeId> = [(entry, 0)].into_iter().collect();
        for block in cfg.reverse_postorder().iter().filter(|block| reached.contains(block)) {
            let successors = shape.successors(*block);
            for to in &successors {
                let is_head = successors.len() > 1 || entered[to.index()] > 1;
                if is_head && !number.contains_key(to) {
                    number.insert(*to, heads.len());
                    heads.push(*to);
                }
            }
        }
        let mut has_hidden_branch = false;
        let nodes = heads.iter().map(|head| {
            let mut last = *head;
            loop {
                match shape.successors(last)[..] {
                    [next] if !number.contains_key(&next) => last = next,
                    _ => break,
                }
            }
            let term = &body.blocks[last].term;
            has_hidden_branch |= shape.constant_way(term).is_none()
                && matches!(term, Terminator::Branch { origin: None, .. });
            let successors = shape.successors(last);
            let ways: Vec<NodeId> =
                successors.iter().filter_map(|to| number.get(to).copied()).collect();
            Node { head: *head, last, branches: ways.len() > 1, ways }
        });
        let nodes = nodes.collect();
        Self { nodes, has_hidden_branch }
    }

    /// The blocks of each node in order, with those that are passed over between them.
    pub fn blocks(&self, body: &Body) -> Vec<Vec<BlockId>> {
        blocks_of_nodes(body, self)
    }

    /// The node that begins with a block.
    pub fn node_at(&self, head: BlockId) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.head == head)
    }

    /// The distinct successors of a node, in order.
    pub fn successors(&self, node: NodeId) -> Vec<NodeId> {
        let mut seen = FxHashSet::default();
        self.nodes[node].ways.iter().copied().filter(|to| seen.insert(*to)).collect()
    }

    /// Whether a run of the function can end in a node.
    fn is_exit(&self, node: NodeId) -> bool {
        self.nodes[node].ways.is_empty()
    }

    /// The distinct predecessors of each node.
    pub(crate) fn predecessors(&self) -> Vec<Vec<NodeId>> {
        let mut all = vec![Vec::new(); self.nodes.len()];
        for node in 0..self.nodes.len() {
            self.successors(node).into_iter().for_each(|to| all[to].push(node));
        }
        all
    }

    /// EPC: the paths of two edges, and the shorter ones that are part of none.
    pub fn edge_pairs(&self) -> Vec<Path> {
        let predecessors = self.predecessors();
        let mut paths = Vec::new();
        for (first, before) in predecessors.iter().enumerate() {
            for second in self.successors(first) {
                for third in self.successors(second) {
                    paths.push(vec![first, second, third]);
                }
                if self.is_exit(second) && before.is_empty() {
                    paths.push(vec![first, second]);
                }
            }
            if self.is_exit(first) && before.is_empty() {
                paths.push(vec![first]);
            }
        }
        paths
    }

    /// PPC: the longest simple paths: no node occurs twice, but the first may be the last, and none
    /// is part of another.
    ///
    /// # Errors
    /// If there are more than `limit`, or the search for them takes too long.
    pub fn prime_paths(&self, limit: usize) -> Result<Vec<Path>, TooManyPaths> {
        let predecessors = self.predecessors();
        let mut search = Simple {
            graph: self,
            predecessors: &predecessors,
            on_path: vec![false; self.nodes.len()],
            path: Vec::new(),
            found: Vec::new(),
            limit,
            steps: limit.saturating_mul(STEPS),
        };
        for node in 0..self.nodes.len() {
            search.extend(node)?;
        }
        Ok(search.found)
    }

    /// BPC: a basis of the complete paths (McCabe): a path that takes the shortest way out
    /// everywhere, and for each other edge a path from the entry over that edge to an exit. Edges
    /// from which no exit is reached are in none.
    pub fn basis(&self) -> Vec<Path> {
        let out = self.towards_exit();
        let (order, before) = self.by_distance();
        let to_exit = |mut node: NodeId, path: &mut Path| {
            path.push(node);
            while let Some(next) = out[node] {
                node = next;
                path.push(node);
            }
        };
        let leads_out = |node: NodeId| out[node].is_some() || self.is_exit(node);
        let mut paths = Vec::new();
        if leads_out(0) {
            let mut path = Vec::new();
            to_exit(0, &mut path);
            paths.push(path);
        }
        for node in order {
            let others = self.successors(node).into_iter().filter(|to| Some(*to) != out[node]);
            for to in others.filter(|to| leads_out(*to)) {
                let mut path = vec![node];
                while let Some(previous) = before[path[path.len() - 1]] {
                    path.push(previous);
                }
                path.reverse();
                to_exit(to, &mut path);
                paths.push(path);
            }
        }
        paths
    }

    /// CPC: the paths from the entry to an exit in which no node occurs more than `turns + 1` times.
    ///
    /// # Errors
    /// If there are more than `limit`, or the search for them takes too long.
    pub fn complete(&self, turns: u32, limit: usize) -> Result<Vec<Path>, TooManyPaths> {
        let mut found = Vec::new();
        let mut steps = limit.saturating_mul(STEPS);
        let out = self.towards_exit();
        let mut counts = vec![0u32; self.nodes.len()];
        let mut path: Path = vec![0];
        counts[0] = 1;
        // For each node of the path, the successors that are still to be taken.
        let mut open: Vec<Vec<NodeId>> = vec![self.reversed_successors(0)];
        if self.is_exit(0) {
            found.push(path.clone());
        }
        while let Some(rest) = open.last_mut() {
            let Some(next) = rest.pop() else {
                open.pop();
                if let Some(node) = path.pop() {
                    counts[node] -= 1;
                }
                continue;
            };
            steps = steps.checked_sub(1).ok_or(TooManyPaths { limit })?;
            if counts[next] > turns || (out[next].is_none() && !self.is_exit(next)) {
                continue;
            }
            path.push(next);
            counts[next] += 1;
            if self.is_exit(next) {
                if found.len() == limit {
                    return Err(TooManyPaths { limit });
                }
                found.push(path.clone());
            }
            open.push(self.reversed_successors(next));
        }
        Ok(found)
    }

    fn reversed_successors(&self, node: NodeId) -> Vec<NodeId> {
        let mut successors = self.successors(node);
        successors.reverse();
        successors
    }

    /// For each node, the successor on a shortest path to an exit.
    fn towards_exit(&self) -> Vec<Option<NodeId>> {
        let predecessors = self.predecessors();
        let mut next = vec![None; self.nodes.len()];
        let exits = (0..self.nodes.len()).filter(|node| self.is_exit(*node));
        let mut queue: VecDeque<NodeId> = exits.collect();
        let mut seen: FxHashSet<NodeId> = queue.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            for before in &predecessors[node] {
                if seen.insert(*before) {
                    next[*before] = Some(node);
                    queue.push_back(*before);
                }
            }
        }
        next
    }

    /// The nodes by their distance from the entry, and for each node the one before it on a shortest
    /// path.
    fn by_distance(&self) -> (Vec<NodeId>, Vec<Option<NodeId>>) {
        let mut before = vec![None; self.nodes.len()];
        let mut order = vec![0];
        let mut seen: FxHashSet<NodeId> = [0].into_iter().collect();
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            at += 1;
            for to in self.successors(node) {
                if seen.insert(to) {
                    before[to] = Some(node);
                    order.push(to);
                }
            }
        }
        (order, before)
    }
}

/// The blocks from one on that do nothing but go on, before the first one that does something.
pub(crate) fn passed_over(body: &Body, block: BlockId) -> Vec<BlockId> {
    let shape = Shape { body };
    let to = shape.forwarded(block);
    let (mut at, mut passed) = (block, Vec::new());
    while at != to && passed.len() < body.blocks.len() {
        passed.push(at);
        let term = &body.blocks[at].term;
        match (term, shape.constant_way(term)) {
            (Terminator::Goto(next), _) => at = *next,
            (_, Some(next)) => at = next,
            _ => break,
        }
    }
    passed
}

/// The blocks of each node in order, with those that are passed over between them.
pub(crate) fn blocks_of_nodes(body: &Body, graph: &NodeGraph) -> Vec<Vec<BlockId>> {
    let shape = Shape { body };
    let of = |node: &Node| {
        let mut blocks = vec![node.head];
        let mut at = node.head;
        while at != node.last && blocks.len() <= body.blocks.len() {
            let term = &body.blocks[at].term;
            let mut next = shape.constant_way(term);
            if next.is_none() {
                term.for_each_successor(|to| next = Some(to));
            }
            let Some(next) = next else { break };
            blocks.extend(passed_over(body, next));
            at = shape.forwarded(next);
            blocks.push(at);
        }
        blocks
    };
    graph.nodes.iter().map(of).collect()
}

/// The prime paths that return to their first node, by that node.
pub fn round_trips(prime_paths: &[Path]) -> BTreeMap<NodeId, Vec<Path>> {
    let mut by_node: BTreeMap<NodeId, Vec<Path>> = BTreeMap::new();
    let is_trip = |path: &&Path| path.len() > 1 && path.first() == path.last();
    for path in prime_paths.iter().filter(is_trip) {
        by_node.entry(path[0]).or_default().push(path.clone());
    }
    by_node
}

/// The IR's blocks, with those without content passed over.
struct Shape<'a> {
    body: &'a Body,
}

impl Shape<'_> {
    /// The way that a branch on a constant goes.
    fn constant_way(&self, term: &Terminator) -> Option<BlockId> {
        match term {
            Terminator::Branch { cond, then_to, else_to, .. } => match self.body.exprs[*cond] {
                Expr::Const(_, bits) => Some(if bits != 0 { *then_to } else { *else_to }),
                _ => None,
            },
            _ => None,
        }
    }

    /// The blocks that follow a block. Blocks without content are passed over.
    fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let term = &self.body.blocks[block].term;
        if let Some(to) = self.constant_way(term) {
            return vec![self.forwarded(to)];
        }
        let mut successors = Vec::new();
        term.for_each_successor(|to| successors.push(self.forwarded(to)));
        successors
    }

    /// The first block from here on that does something.
    fn forwarded(&self, block: BlockId) -> BlockId {
        let mut at = block;
        // A cycle of empty blocks is a node.
        for _ in 0..self.body.blocks.len() {
            let term = &self.body.blocks[at].term;
            let next = match term {
                Terminator::Goto(to) => Some(*to),
                _ => self.constant_way(term),
            };
            match next.filter(|next| *next != at && only_goes_on(self.body, at, *next)) {
                Some(next) => at = next,
                None => return at,
            }
        }
        block
    }
}

/// Whether a block only begins a loop, or does nothing, before control goes on to `next`.
fn only_goes_on(body: &Body, block: BlockId, next: BlockId) -> bool {
    let place = begin(body, next);
    body.blocks[block].stmts.iter().all(|stmt| match &body.stmts[*stmt] {
        Stmt::Enter(_) | Stmt::Leave(_) => true,
        Stmt::Mark(mark) => {
            let mark = &body.marks[*mark];
            // The next block lies within the statement, so the statement is no jump and not empty.
            let encloses = mark.span != place && mark.span.contains(place);
            mark.kind == MarkKind::Statement && !place.is_none() && encloses
        }
        _ => false,
    })
}

/// Whether a block holds only the beginning of a loop: control goes on to the loop's test or body, to
/// which it comes from elsewhere, too.
pub fn only_begins_a_loop(body: &Body, block: BlockId) -> bool {
    match body.blocks[block].term {
        Terminator::Goto(next) => next != block && only_goes_on(body, block, next),
        _ => false,
    }
}

/// The text with which a block begins.
fn begin(body: &Body, block: BlockId) -> Span {
    let of_mark = body.blocks[block].stmts.iter().find_map(|stmt| match body.stmts[*stmt] {
        Stmt::Mark(mark) => Some(body.marks[mark].span),
        _ => None,
    });
    let of_decision = || match &body.blocks[block].term {
        Terminator::Branch { origin: Some(origin), .. } => {
            Some(body.decisions[origin.decision].conditions[origin.condition].span)
        }
        _ => None,
    };
    of_mark.or_else(of_decision).unwrap_or(Span::NONE)
}

/// A depth-first search for prime paths.
struct Simple<'a> {
    graph: &'a NodeGraph,
    predecessors: &'a [Vec<NodeId>],
    on_path: Vec<bool>,
    path: Path,
    found: Vec<Path>,
    limit: usize,
    steps: usize,
}

impl Simple<'_> {
    /// Tries all simple paths that go on with a node.
    fn extend(&mut self, start: NodeId) -> Result<(), TooManyPaths> {
        // The successors that are still to be tried, for each node of the path.
        let mut open = vec![self.enter(start)?];
        while let Some(rest) = open.last_mut() {
            match rest.pop() {
                Some(next) => {
                    let entered = self.enter(next)?;
                    open.push(entered);
                }
                None => {
                    open.pop();
                    if let Some(node) = self.path.pop() {
                        self.on_path[node] = false;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a node on the path, notes the prime paths that end there, and returns the successors
    /// by which the path goes on.
    fn enter(&mut self, node: NodeId) -> Result<Vec<NodeId>, TooManyPaths> {
        let too_many = TooManyPaths { limit: self.limit };
        self.steps = self.steps.checked_sub(1).ok_or(too_many)?;
        self.path.push(node);
        self.on_path[node] = true;
        let first = self.path[0];
        let successors = self.graph.successors(node);
        let closes = successors.contains(&first);
        let onward: Vec<NodeId> =
            successors.into_iter().rev().filter(|to| !self.on_path[*to]).collect();
        if closes {
            let mut trip = self.path.clone();
            trip.push(first);
            self.add(trip)?;
        }
        let extends_left =
            self.predecessors[first].iter().any(|before| !self.on_path[*before] || *before == node);
        if !closes && onward.is_empty() && !extends_left {
            self.add(self.path.clone())?;
        }
        Ok(onward)
    }

    fn add(&mut self, path: Path) -> Result<(), TooManyPaths> {
        if self.found.len() == self.limit {
            return Err(TooManyPaths { limit: self.limit });
        }
        self.found.push(path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A graph by the successors of its nodes.
    fn graph(successors: &[&[NodeId]]) -> NodeGraph {
        let nodes = successors.iter().enumerate().map(|(index, ways)| Node {
            head: BlockId::from_index(index),
            last: BlockId::from_index(index),
            ways: ways.to_vec(),
            branches: ways.len() > 1,
        });
        NodeGraph { nodes: nodes.collect(), has_hidden_branch: false }
    }

    fn is_simple(path: &[NodeId]) -> bool {
        let inner = if path.len() > 1 && path.first() == path.last() { &path[1..] } else { path };
        let distinct: FxHashSet<_> = inner.iter().collect();
        distinct.len() == inner.len()
    }

    /// All simple paths, by trying all paths up to the length that a simple one can have.
    fn all_simple(graph: &NodeGraph) -> Vec<Path> {
        let mut all: Vec<Path> = (0..graph.nodes.len()).map(|node| vec![node]).collect();
        let mut from = 0;
        for _ in 0..graph.nodes.len() {
            let until = all.len();
            for index in from..until {
                for to in graph.successors(all[index][all[index].len() - 1]) {
                    let mut longer = all[index].clone();
                    longer.push(to);
                    if is_simple(&longer) {
                        all.push(longer);
                    }
                }
            }
            from = until;
        }
        all
    }

    fn is_part(part: &[NodeId], whole: &[NodeId]) -> bool {
        whole.len() > part.len() && whole.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn a_loop_with_a_choice_in_it_has_the_prime_paths_of_the_textbook() {
        // 0 -> 1; 1 -> 2, 5; 2 -> 3, 4; 3 -> 1; 4 -> 1.
        let graph = graph(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[]]);
        let mut paths = graph.prime_paths(100).unwrap();
        paths.sort();
        assert_eq!(
            paths,
            [
                vec![0, 1, 2, 3],
                vec![0, 1, 2, 4],
                vec![0, 1, 5],
                vec![1, 2, 3, 1],
                vec![1, 2, 4, 1],
                vec![2, 3, 1, 2],
                vec![2, 3, 1, 5],
                vec![2, 4, 1, 2],
                vec![2, 4, 1, 5],
                vec![3, 1, 2, 3],
                vec![3, 1, 2, 4],
                vec![4, 1, 2, 3],
                vec![4, 1, 2, 4],
            ]
        );
    }

    #[test]
    fn a_basis_has_as_many_paths_as_mccabe_says() {
        // E - N + 2 = 7 - 6 + 2.
        let graph = graph(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[]]);
        let basis = graph.basis();
        assert_eq!(basis.len(), 3);
        assert_eq!(basis[0], [0, 1, 5]);
        assert!(basis.iter().all(|path| path[0] == 0 && path[path.len() - 1] == 5), "{basis:?}");
    }

    #[test]
    fn complete_paths_turn_each_loop_so_often_at_most() {
        let graph = graph(&[&[1], &[1, 2], &[]]);
        let paths = graph.complete(2, 100).unwrap();
        assert_eq!(paths, [vec![0, 1, 1, 1, 2], vec![0, 1, 1, 2], vec![0, 1, 2]]);
        assert_eq!(graph.complete(2, 2), Err(TooManyPaths { limit: 2 }));
    }

    #[test]
    fn a_straight_function_has_one_path_of_everything() {
        let graph = graph(&[&[]]);
        assert_eq!(graph.prime_paths(10).unwrap(), [vec![0]]);
        assert_eq!(graph.edge_pairs(), [vec![0]]);
        assert_eq!(graph.basis(), [vec![0]]);
        assert_eq!(graph.complete(1, 10).unwrap(), [vec![0]]);
        assert!(round_trips(&graph.prime_paths(10).unwrap()).is_empty());
    }

    fn any_graph() -> impl Strategy<Value = NodeGraph> {
        (2usize..7).prop_flat_map(|count| {
            let ways = prop::collection::vec(0..count, 0..3);
            prop::collection::vec(ways, count).prop_map(|all| {
                let all: Vec<&[NodeId]> = all.iter().map(Vec::as_slice).collect();
                graph(&all)
            })
        })
    }

    proptest! {
        #[test]
        fn prime_paths_are_the_simple_paths_that_are_part_of_no_other(graph in any_graph()) {
            let all = all_simple(&graph);
            let mut expected: Vec<Path> = all
                .iter()
                .filter(|path| !all.iter().any(|other| is_part(path, other)))
                .cloned()
                .collect();
            expected.sort();
            let mut found = graph.prime_paths(10_000).unwrap();
            found.sort();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn each_path_of_a_basis_has_an_edge_that_none_before_it_has(graph in any_graph()) {
            let mut seen = FxHashSet::default();
            for path in graph.basis() {
                let edges: Vec<_> = path.windows(2).map(|edge| (edge[0], edge[1])).collect();
                let new = edges.iter().filter(|edge| seen.insert(**edge)).count();
                prop_assert!(new > 0 || path.len() == 1, "{:?}", path);
            }
        }
    }
}
