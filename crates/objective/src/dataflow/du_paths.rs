//! Definition-clear paths: those from a definition to a use without another definition between.
//!
//! They are paths over the graph of nodes in which no node occurs twice, except that the first may be
//! the last (Rapps and Weyuker; Frankl and Weyuker, *An Applicable Family of Data Flow Testing
//! Criteria*). A path to a use in a condition or switch has one node more: the one that the way leads
//! to, which may be any node. As in other paths, the rest of a node after a call that does not return
//! counts as passed.
//!
//! A definition of cells is between if it surely overwrites the written or the read cell. Definitions
//! by calls and by writes through pointers are never between.

use lydian_ir::{BlockId, Body, LocalId, Stmt, StmtId, Terminator};
use rustc_hash::FxHashMap;

use super::cells::{Access, overwrites};
use super::def_use::{DataFlow, DefUse, DefinitionSite, UseSite, Variable};
use crate::paths::{NodeGraph, NodeId, Path, STEPS, TooManyPaths, blocks_of_nodes, passed_over};

/// The paths of one function's pairs.
#[derive(Debug)]
pub struct DuPaths<'a> {
    body: &'a Body,
    graph: &'a NodeGraph,
    flow: &'a DataFlow,
    /// The edges that leave each node, and the nodes before it.
    edges: Vec<Vec<NodeEdge>>,
    before: Vec<Vec<NodeId>>,
    /// The node of each statement, and the position of the statement in it.
    place: FxHashMap<StmtId, (NodeId, usize)>,
    /// The places where each variable is defined or its lifetime begins.
    kills: FxHashMap<Variable, Vec<Kill>>,
    limit: usize,
    /// The number of paths that may still be found.
    left: usize,
    steps: usize,
}

/// An edge between nodes.
#[derive(Debug)]
struct NodeEdge {
    to: NodeId,
    /// The variables whose lifetime begins on the edge, for each sequence of blocks that it may stand
    /// for.
    begun: Vec<Vec<LocalId>>,
}

impl NodeEdge {
    /// Whether one of these sequences passes no block which begins the variable's lifetime.
    fn is_clear(&self, variable: Variable) -> bool {
        let Variable::Local(local) = variable else { return true };
        self.begun.iter().any(|begun| !begun.contains(&local))
    }
}

/// A place where a variable is defined, or its lifetime begins.
#[derive(Debug)]
struct Kill {
    at: (NodeId, usize),
    /// The cells that it writes: none if all.
    cell: Option<Access>,
}

/// A variable that must stay live from a definition to a use.
#[derive(Clone, Copy)]
struct LiveDefinition {
    variable: Variable,
    /// The cells that the definition writes and the use reads, of a variable with cells.
    written: Option<Access>,
    read: Option<Access>,
}

impl LiveDefinition {
    fn is_killed_by(&self, kill: &Kill) -> bool {
        let is_read = |read| overwrites(kill.cell.as_ref(), Some(read));
        overwrites(kill.cell.as_ref(), self.written.as_ref())
            || self.read.as_ref().is_some_and(is_read)
    }
}

/// The place of a use in the graph.
struct UsePosition {
    node: NodeId,
    /// The position of the read in the node.
    position: usize,
    /// The node to which the way of a p-use leads.
    then: Option<NodeId>,
}

impl<'a> DuPaths<'a> {
    /// The paths of a function, at most `limit` for all of its pairs.
    pub fn new(body: &'a Body, graph: &'a NodeGraph, flow: &'a DataFlow, limit: usize) -> Self {
        let mut place = FxHashMap::default();
        let mut kills: FxHashMap<Variable, Vec<Kill>> = FxHashMap::default();
        for (node, blocks) in blocks_of_nodes(body, graph).into_iter().enumerate() {
            let stmts = blocks.iter().flat_map(|block| &body.blocks[*block].stmts);
            for (position, stmt) in stmts.enumerate() {
                place.insert(*stmt, (node, position));
                if let Stmt::Enter(local) = &body.stmts[*stmt] {
                    let kill = Kill { at: (node, position), cell: None };
                    kills.entry(Variable::Local(*local)).or_default().push(kill);
                }
            }
        }
        for definition in &flow.definitions {
            if let DefinitionSite::Stmt(stmt) = definition.at
                && !definition.indirect
                && let Some(at) = place.get(&stmt)
            {
                let kill = Kill { at: *at, cell: definition.cell };
                kills.entry(definition.variable).or_default().push(kill);
            }
        }
        let steps = limit.saturating_mul(STEPS);
        let nodes = 0..graph.nodes.len();
        let onward =
            |from: NodeId, to: NodeId| NodeEdge { to, begun: begun(body, graph, from, to) };
        let of = |from: NodeId| graph.successors(from).into_iter().map(move |to| onward(from, to));
        let edges: Vec<Vec<NodeEdge>> = nodes.map(|from| of(from).collect()).collect();
        let before = graph.predecessors();
        Self { body, graph, flow, edges, before, place, kills, limit, left: limit, steps }
    }

    /// The paths of a pair of a local, in the order of a depth-first search.
    ///
    /// # Errors
    /// Where all pairs together have more paths than allowed, or the search takes too long.
    pub fn of(&mut self, pair: DefUse) -> Result<Vec<Path>, TooManyPaths> {
        match self.flow.definition(pair.definition).variable {
            Variable::Local(_) => self.paths(pair, true),
            Variable::Global(_) => Ok(Vec::new()),
        }
    }

    /// The paths of a pair of a global or of cells, whose definition and use are both in the
    /// function. Each is given as the first blocks of the nodes that control enters between the
    /// definition and the read of the value.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn entered(&mut self, pair: DefUse) -> Result<Vec<Vec<BlockId>>, TooManyPaths> {
        let at = self.flow.definition(pair.definition).at;
        // Control enters the first node after the parameters are defined.
        let passed = usize::from(at != DefinitionSite::Entry);
        let paths = self.paths(pair, false)?.into_iter();
        let heads = |path: Path| path[passed..].iter().map(|n| self.graph.nodes[*n].head).collect();
        Ok(paths.map(heads).collect())
    }

    /// The number of paths that are left for other pairs of the function.
    pub const fn left(&self) -> usize {
        self.left
    }

    /// The paths of a pair, up to the node to which the way of a p-use leads, or up to the read of
    /// the value.
    fn paths(&mut self, pair: DefUse, with_way: bool) -> Result<Vec<Path>, TooManyPaths> {
        let definition = self.flow.definition(pair.definition);
        let usage = self.flow.usage(pair.usage);
        let start = match definition.at {
            DefinitionSite::Entry => Some((0, None)),
            DefinitionSite::Stmt(stmt) => {
                self.place.get(&stmt).map(|(node, position)| (*node, Some(*position)))
            }
            _ => None,
        };
        let Some((first, defined)) = start else { return Ok(Vec::new()) };
        let (written, read) = (definition.cell, usage.cell);
        let live = LiveDefinition { variable: definition.variable, written, read };
        let ends = match usage.read_at.and_then(|stmt| self.place.get(&stmt)) {
            Some((node, position)) if !with_way => {
                vec![UsePosition { node: *node, position: *position, then: None }]
            }
            _ => self.ends(pair),
        };
        let mut found = Vec::new();
        for end in ends {
            let end = if with_way { end } else { UsePosition { then: None, ..end } };
            self.search(live, first, defined, &end, &mut found)?;
        }
        Ok(found)
    }

    /// The places of a pair's use. The copies of a condition are several places.
    fn ends(&self, pair: DefUse) -> Vec<UsePosition> {
        let usage = self.flow.usage(pair.usage);
        let read = usage.read_at.and_then(|stmt| self.place.get(&stmt));
        let at_terminator = |node: NodeId| {
            let position = read.filter(|(of, _)| *of == node).map_or(usize::MAX, |(_, at)| *at);
            let then = self.graph.nodes[node].ways.get(pair.way as usize).copied();
            UsePosition { node, position, then }
        };
        let nodes = || self.graph.nodes.iter().enumerate();
        match usage.at {
            UseSite::Stmt(stmt) => {
                let at = self.place.get(&stmt).into_iter();
                at.map(|(node, position)| UsePosition {
                    node: *node,
                    position: *position,
                    then: None,
                })
                .collect()
            }
            UseSite::Return(block) => {
                let of = nodes().filter(|(_, node)| node.last == block);
                let end = |(node, _)| UsePosition { node, position: usize::MAX, then: None };
                of.map(end).collect()
            }
            UseSite::Switch(block) => {
                let of = nodes().filter(|(_, node)| node.last == block && node.branches);
                of.map(|(node, _)| at_terminator(node)).collect()
            }
            UseSite::Condition(decision, condition) => {
                let evaluates = |term: &Terminator| match term {
                    Terminator::Branch { origin: Some(origin), .. } => {
                        (origin.decision, origin.condition) == (decision, condition)
                    }
                    _ => false,
                };
                let of = nodes().filter(|(_, node)| {
                    node.branches && evaluates(&self.body.blocks[node.last].term)
                });
                // Way 1 of a condition is true, and is the first way of its branch.
                let flipped = |node: NodeId| {
                    let way = 1 - pair.way as usize;
                    let then = self.graph.nodes[node].ways.get(way).copied();
                    UsePosition { then, ..at_terminator(node) }
                };
                of.map(|(node, _)| flipped(node)).collect()
            }
        }
    }

    /// Whether a variable is defined in a node after one position and before another.
    fn is_killed(
        &self,
        live: LiveDefinition,
        node: NodeId,
        after: Option<usize>,
        before: usize,
    ) -> bool {
        let kills = self.kills.get(&live.variable).map_or(&[][..], Vec::as_slice);
        kills.iter().any(|kill| {
            let (of, at) = kill.at;
            let is_between = of == node && after.is_none_or(|after| at > after) && at < before;
            is_between && live.is_killed_by(kill)
        })
    }

    fn search(
        &mut self,
        live: LiveDefinition,
        first: NodeId,
        defined: Option<usize>,
        end: &UsePosition,
        found: &mut Vec<Path>,
    ) -> Result<(), TooManyPaths> {
        // The definition and the use are in one node, the use after the definition.
        let is_later = defined.is_none_or(|defined| defined < end.position);
        if first == end.node && is_later && !self.is_killed(live, first, defined, end.position) {
            self.add(vec![first], end, found)?;
        }
        if self.is_killed(live, first, defined, usize::MAX)
            || self.is_killed(live, end.node, None, end.position)
        {
            return Ok(());
        }
        let useful = self.leading_to(live, end.node);
        let mut is_on_path = vec![false; useful.len()];
        is_on_path[first] = true;
        let mut path = vec![first];
        let mut open = vec![self.onward(live, first, &useful)];
        while let Some(rest) = open.last_mut() {
            let Some(next) = rest.pop() else {
                open.pop();
                path.pop().into_iter().for_each(|node| is_on_path[node] = false);
                continue;
            };
            self.steps = self.steps.checked_sub(1).ok_or(TooManyPaths { limit: self.limit })?;
            if next == end.node {
                let mut whole = path.clone();
                whole.push(next);
                self.add(whole, end, found)?;
            } else if !is_on_path[next] {
                is_on_path[next] = true;
                path.push(next);
                open.push(self.onward(live, next, &useful));
            }
        }
        Ok(())
    }

    /// The nodes by which a path may go on, in reverse order.
    fn onward(&self, live: LiveDefinition, from: NodeId, useful: &[bool]) -> Vec<NodeId> {
        let edges = self.edges[from].iter().rev();
        let is_open = |edge: &&NodeEdge| useful[edge.to] && edge.is_clear(live.variable);
        edges.filter(is_open).map(|edge| edge.to).collect()
    }

    /// For each node, whether a use is reached from it without a definition between. The node of the
    /// use counts as reaching it.
    fn leading_to(&self, live: LiveDefinition, end: NodeId) -> Vec<bool> {
        let mut is_ended = vec![false; self.edges.len()];
        for kill in self.kills.get(&live.variable).into_iter().flatten() {
            is_ended[kill.at.0] |= live.is_killed_by(kill);
        }
        let mut useful = vec![false; self.edges.len()];
        let mut rest = vec![end];
        while let Some(node) = rest.pop() {
            if !std::mem::replace(&mut useful[node], true) {
                rest.extend(self.before[node].iter().filter(|before| !is_ended[**before]));
            }
        }
        useful
    }

    fn add(
        &mut self,
        mut path: Path,
        end: &UsePosition,
        found: &mut Vec<Path>,
    ) -> Result<(), TooManyPaths> {
        path.extend(end.then);
        self.left = self.left.checked_sub(1).ok_or(TooManyPaths { limit: self.limit })?;
        found.push(path);
        Ok(())
    }
}

/// For each sequence of blocks that an edge may stand for, the variables whose lifetime begins in it.
fn begun(body: &Body, graph: &NodeGraph, from: NodeId, to: NodeId) -> Vec<Vec<LocalId>> {
    let (mut ways, head) = (Vec::new(), graph.nodes[to].head);
    body.blocks[graph.nodes[from].last].term.for_each_successor(|target| {
        let passed = passed_over(body, target);
        let ends = passed.last().map_or(target, |last| {
            let mut next = head;
            body.blocks[*last].term.for_each_successor(|to| next = to);
            next
        });
        if ends != head {
            return;
        }
        let stmts = passed.iter().flat_map(|block| &body.blocks[*block].stmts);
        let begun = stmts.filter_map(|stmt| match body.stmts[*stmt] {
            Stmt::Enter(local) => Some(local),
            _ => None,
        });
        ways.push(begun.collect());
    });
    ways
}
