//! Paths that a user lists, as sequences of the nodes of the function's graph.
//!
//! A step names a place, and stands for a node that has it: the node of a statement or a condition
//! that begins there. Of a line with several nodes, as the head of a loop is, each may be meant: the
//! path is covered by any of the ways that are ones. A step further on in the node of the step
//! before it stays in this node; any other goes over an edge, or, after `...`, on any way.

use lydian_base::Span;
use lydian_ir::stmt::Terminator;
use lydian_ir::{BlockId, MarkId, Stmt};

use super::super::HtolError;
use super::super::syntax::{PathTree, PointKind, PointRef};
use super::{point, unsupported};
use crate::annotate::{Context, way};
use crate::hyper::Hyper;
use crate::paths::{NodeGraph, NodeId, blocks_of_nodes};

/// A node that has a place, and the positions of what begins at the place in the node.
struct Stop {
    node: NodeId,
    positions: Vec<usize>,
}

/// What begins in a node.
struct Content {
    span: Span,
    mark: Option<MarkId>,
}

/// A way along some of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    nodes: Vec<NodeId>,
    /// For each node but the first whether others may lie before it.
    gaps: Vec<bool>,
    /// The position in the last node.
    at: usize,
}

/// A path as a hyperlabel, with the place of its first step.
pub(super) fn hyper(cx: &mut Context<'_>, path: &PathTree) -> Result<(Hyper, Span), HtolError> {
    let graph = cx.node_graph();
    let contents = contents(cx, &graph);
    let mut routes: Vec<Route> = Vec::new();
    let mut first = None;
    for (index, step) in path.steps.iter().enumerate() {
        let stops = stops(cx, &contents, step)?;
        let Some(before) = index.checked_sub(1) else {
            let span = |stop: &Stop| contents[stop.node].get(stop.positions[0]).map(|c| c.span);
            first = stops.first().and_then(span);
            let begin = |stop: &Stop| Route {
                nodes: vec![stop.node],
                gaps: Vec::new(),
                at: stop.positions[0],
            };
            routes = stops.iter().map(begin).collect();
            continue;
        };
        let gap = path.gaps.get(before).copied().unwrap_or(false);
        let mut longer: Vec<Route> = Vec::new();
        for route in &routes {
            for next in stops.iter().filter_map(|stop| extended(&graph, route, stop, gap)).flatten()
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
    for Route { nodes, gaps, .. } in routes {
        if !ways.contains(&(nodes.clone(), gaps.clone())) {
            ways.push((nodes, gaps));
        }
    }
    let mut all: Vec<Hyper> =
        ways.iter().map(|(nodes, gaps)| way(cx, &graph, nodes, gaps)).collect();
    let span = first.unwrap_or(cx.function.span);
    Ok((if all.len() == 1 { all.remove(0) } else { Hyper::Any(all) }, span))
}

/// A route that goes on to a stop, in each way in which it can.
fn extended(graph: &NodeGraph, route: &Route, stop: &Stop, gap: bool) -> Option<Vec<Route>> {
    let last = *route.nodes.last()?;
    let mut all = Vec::new();
    let further = stop.positions.iter().copied().find(|at| stop.node == last && *at > route.at);
    if let Some(at) = further {
        all.push(Route { at, ..route.clone() });
    }
    if gap || graph.successors(last).contains(&stop.node) {
        let mut next = route.clone();
        next.nodes.push(stop.node);
        next.gaps.push(gap);
        next.at = stop.positions[0];
        all.push(next);
    }
    Some(all)
}

/// What begins in each node, in order; first what stands for its beginning.
fn contents(cx: &Context<'_>, graph: &NodeGraph) -> Vec<Vec<Content>> {
    let of_block = |block: &BlockId| {
        let data = &cx.body.blocks[*block];
        let statements = data.stmts.iter().map(|stmt| match cx.body.stmts[*stmt] {
            Stmt::Mark(mark) => Content { span: cx.body.marks[mark].span, mark: Some(mark) },
            _ => Content { span: cx.body.source.stmts[*stmt], mark: None },
        });
        let end = match &data.term {
            Terminator::Branch { origin: Some(origin), .. } => {
                cx.body.decisions[origin.decision].conditions[origin.condition].span
            }
            _ => cx.body.source.terms[*block],
        };
        statements.chain([Content { span: end, mark: None }]).collect::<Vec<_>>()
    };
    let nodes = blocks_of_nodes(cx.body, graph);
    let begin = || Content { span: Span::NONE, mark: None };
    let of_node = |blocks: &Vec<BlockId>| {
        std::iter::once(begin()).chain(blocks.iter().flat_map(of_block)).collect()
    };
    nodes.iter().map(of_node).collect()
}

/// The nodes that have a place.
fn stops(
    cx: &Context<'_>,
    contents: &[Vec<Content>],
    step: &PointRef,
) -> Result<Vec<Stop>, HtolError> {
    if step.function.as_ref().is_some_and(|name| name.text != cx.function.name) {
        return unsupported("a path of several functions", &step.at.0);
    }
    let mark = match &step.kind {
        PointKind::Entry => return Ok(vec![Stop { node: 0, positions: vec![0] }]),
        PointKind::Label(name) => {
            Some(point::label_mark(&cx.function.name, cx.body, name, &step.at)?.0)
        }
        PointKind::Line(..) => None,
    };
    let is_there = |content: &Content| match &step.kind {
        PointKind::Line(file, line) => {
            !content.span.is_none() && point::is_at(cx, content.span.start, file.as_deref(), *line)
        }
        _ => content.mark.is_some() && content.mark == mark,
    };
    let positions = |all: &[Content]| -> Vec<usize> {
        (0..).zip(all).filter(|(_, content)| is_there(content)).map(|(at, _)| at).collect()
    };
    let stops = contents.iter().enumerate();
    let stops = stops.map(|(node, all)| Stop { node, positions: positions(all) });
    let stops: Vec<Stop> = stops.filter(|stop| !stop.positions.is_empty()).collect();
    match (&step.kind, stops.is_empty()) {
        (_, false) => Ok(stops),
        (PointKind::Line(_, line), true) => Err(point::no_statement(cx, *line, step)),
        (_, true) => {
            let what = format!("control does not reach `{step}`");
            Err(HtolError::Unknown { what, at: step.at.0.clone() })
        }
    }
}
