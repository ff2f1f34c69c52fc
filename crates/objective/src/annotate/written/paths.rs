//! Paths that a user lists, as sequences of the nodes of the function's graph.
//!
//! A step names a place, and stands for the node of a statement or a condition that begins there. A
//! line may have several nodes, as the head of a loop has; each of them may be meant, so the path is
//! covered by each of the possible sequences of nodes. If a step lies further on in the node of the
//! step before it, the path stays in this node. Any other step goes over an edge, or, after `...`,
//! over any path.

use lydian_base::Span;
use lydian_ir::stmt::Terminator;
use lydian_ir::{BlockId, MarkId, Stmt};

use super::points;
use super::terms::unsupported;
use crate::annotate::context::Context;
use crate::annotate::control_flow::paths::walk;
use crate::htol::HtolError;
use crate::htol::syntax::{PathTree, PointKind, PointRef};
use crate::hyper::Hyper;
use crate::paths::{NodeGraph, NodeId, blocks_of_nodes};

/// A node that has a place, and the positions of the items in the node that begin at the place.
struct NodeMatch {
    node: NodeId,
    positions: Vec<usize>,
}

/// An item of a node: a statement, a mark or a branch, with its text.
struct NodeItem {
    span: Span,
    mark: Option<MarkId>,
}

/// A path along the first steps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PartialPath {
    nodes: Vec<NodeId>,
    /// For each node but the first whether others may lie before it.
    gaps: Vec<bool>,
    /// The position in the last node.
    at: usize,
}

/// A path as a hyperlabel, with the place of its first step.
pub(super) fn hyper(cx: &mut Context<'_>, path: &PathTree) -> Result<(Hyper, Span), HtolError> {
    let graph = cx.node_graph();
    let items = items(cx, &graph);
    let mut routes: Vec<PartialPath> = Vec::new();
    let mut first = None;
    for (index, step) in path.steps.iter().enumerate() {
        let matches = matches(cx, &items, step)?;
        let Some(before) = index.checked_sub(1) else {
            let span =
                |found: &NodeMatch| items[found.node].get(found.positions[0]).map(|c| c.span);
            first = matches.first().and_then(span);
            let begin = |found: &NodeMatch| PartialPath {
                nodes: vec![found.node],
                gaps: Vec::new(),
                at: found.positions[0],
            };
            routes = matches.iter().map(begin).collect();
            continue;
        };
        let gap = path.gaps.get(before).copied().unwrap_or(false);
        let mut longer: Vec<PartialPath> = Vec::new();
        for route in &routes {
            for next in
                matches.iter().filter_map(|found| extended(&graph, route, found, gap)).flatten()
            {
                if !longer.contains(&next) {
                    longer.push(next);
                }
            }
        }
        if longer.is_empty() {
            let what = format!(
                "control does not go from `{}` to `{step}` without another node between",
                path.steps[before]
            );
            return Err(HtolError::Unknown { what, at: step.at.0.clone() });
        }
        if longer.len() > cx.request.paths {
            let what = format!("a path that stands for more than {} ways", cx.request.paths);
            return unsupported(&what, &path.at.0);
        }
        routes = longer;
    }
    let mut ways: Vec<(Vec<NodeId>, Vec<bool>)> = Vec::new();
    for PartialPath { nodes, gaps, .. } in routes {
        if !ways.contains(&(nodes.clone(), gaps.clone())) {
            ways.push((nodes, gaps));
        }
    }
    let mut all: Vec<Hyper> =
        ways.iter().map(|(nodes, gaps)| walk(cx, &graph, nodes, gaps)).collect();
    let span = first.unwrap_or(cx.function.span);
    Ok((if all.len() == 1 { all.remove(0) } else { Hyper::Any(all) }, span))
}

/// The extensions of a path to the node of the next step.
fn extended(
    graph: &NodeGraph,
    route: &PartialPath,
    found: &NodeMatch,
    gap: bool,
) -> Option<Vec<PartialPath>> {
    let last = *route.nodes.last()?;
    let mut all = Vec::new();
    let further = found.positions.iter().copied().find(|at| found.node == last && *at > route.at);
    if let Some(at) = further {
        all.push(PartialPath { at, ..route.clone() });
    }
    if gap || graph.successors(last).contains(&found.node) {
        let mut next = route.clone();
        next.nodes.push(found.node);
        next.gaps.push(gap);
        next.at = found.positions[0];
        all.push(next);
    }
    Some(all)
}

/// The items of each node, in order. The first one stands for the beginning of the node.
fn items(cx: &Context<'_>, graph: &NodeGraph) -> Vec<Vec<NodeItem>> {
    let of_block = |block: &BlockId| {
        let data = &cx.body.blocks[*block];
        let statements = data.stmts.iter().map(|stmt| match cx.body.stmts[*stmt] {
            Stmt::Mark(mark) => NodeItem { span: cx.body.marks[mark].span, mark: Some(mark) },
            _ => NodeItem { span: cx.body.source.stmts[*stmt], mark: None },
        });
        let end = match &data.term {
            Terminator::Branch { origin: Some(origin), .. } => {
                cx.body.decisions[origin.decision].conditions[origin.condition].span
            }
            _ => cx.body.source.terms[*block],
        };
        statements.chain([NodeItem { span: end, mark: None }]).collect::<Vec<_>>()
    };
    let nodes = blocks_of_nodes(cx.body, graph);
    let begin = || NodeItem { span: Span::NONE, mark: None };
    let of_node = |blocks: &Vec<BlockId>| {
        std::iter::once(begin()).chain(blocks.iter().flat_map(of_block)).collect()
    };
    nodes.iter().map(of_node).collect()
}

/// The nodes that have a place.
fn matches(
    cx: &Context<'_>,
    items: &[Vec<NodeItem>],
    step: &PointRef,
) -> Result<Vec<NodeMatch>, HtolError> {
    if step.function.as_ref().is_some_and(|name| name.text != cx.function.name) {
        return unsupported("a path of several functions", &step.at.0);
    }
    let mark = match &step.kind {
        PointKind::Entry => return Ok(vec![NodeMatch { node: 0, positions: vec![0] }]),
        PointKind::Label(name) => {
            Some(points::label_mark(&cx.function.name, cx.body, name, &step.at)?.0)
        }
        PointKind::Line(..) => None,
    };
    let is_there = |item: &NodeItem| match &step.kind {
        PointKind::Line(file, line) => {
            !item.span.is_none() && points::is_at(cx, item.span.start, file.as_deref(), *line)
        }
        _ => item.mark.is_some() && item.mark == mark,
    };
    let positions = |all: &[NodeItem]| -> Vec<usize> {
        (0..).zip(all).filter(|(_, item)| is_there(item)).map(|(at, _)| at).collect()
    };
    let matches = items.iter().enumerate();
    let matches = matches.map(|(node, all)| NodeMatch { node, positions: positions(all) });
    let matches: Vec<NodeMatch> = matches.filter(|found| !found.positions.is_empty()).collect();
    match (&step.kind, matches.is_empty()) {
        (_, false) => Ok(matches),
        (PointKind::Line(_, line), true) => Err(points::no_statement(cx, *line, step)),
        (_, true) => {
            let what = format!("control does not reach `{step}`");
            Err(HtolError::Unknown { what, at: step.at.0.clone() })
        }
    }
}
