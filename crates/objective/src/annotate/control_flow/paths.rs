//! EPC, PPC, SRTC, CRTC, BPC and CPC, and the hyperlabels of paths for SPC: paths of the graph of
//! nodes ([002] V-D3).
//!
//! A path is a sequence of the heads of its nodes, adjacent to one another.

use lydian_base::Span;
use lydian_ir::{Body, Stmt};

use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::hyper::{Hyper, Passage, Sequence, SequenceScope};
use crate::label::{Pred, Site};
use crate::paths::{self, NodeGraph, NodeId, Path, TooManyPaths};

/// EPC: each two edges that follow one another.
pub(crate) struct EdgePairs;
/// PPC: each prime path.
pub(crate) struct PrimePaths;
/// SRTC: for each node that has one, one of its prime round trips.
pub(crate) struct SimpleRoundTrips;
/// CRTC: for each node that has one, all of its prime round trips.
pub(crate) struct CompleteRoundTrips;
/// BPC: each path of a basis.
pub(crate) struct BasisPaths;
/// CPC: each complete path on which no node occurs again more often than the limit says.
pub(crate) struct CompletePaths;

impl Annotator for EdgePairs {
    fn criterion(&self) -> Criterion {
        Criterion::Epc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let graph = cx.node_graph();
        push_each(cx, &graph, &graph.edge_pairs());
    }
}

impl Annotator for PrimePaths {
    fn criterion(&self) -> Criterion {
        Criterion::Ppc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let graph = cx.node_graph();
        match &*cx.prime_paths() {
            Ok(paths) => push_each(cx, &graph, paths),
            Err(error) => too_many(cx, self.criterion(), *error),
        }
    }
}

impl Annotator for SimpleRoundTrips {
    fn criterion(&self) -> Criterion {
        Criterion::Srtc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        round_trips(cx, self.criterion(), Hyper::Any);
    }
}

impl Annotator for CompleteRoundTrips {
    fn criterion(&self) -> Criterion {
        Criterion::Crtc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        round_trips(cx, self.criterion(), Hyper::All);
    }
}

impl Annotator for BasisPaths {
    fn criterion(&self) -> Criterion {
        Criterion::Bpc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let graph = cx.node_graph();
        push_each(cx, &graph, &graph.basis());
    }
}

impl Annotator for CompletePaths {
    fn criterion(&self) -> Criterion {
        Criterion::Cpc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let graph = cx.node_graph();
        match graph.complete(cx.request.loop_turns, cx.request.paths) {
            Ok(paths) => push_each(cx, &graph, &paths),
            Err(error) => too_many(cx, self.criterion(), error),
        }
    }
}

pub(crate) fn too_many(cx: &mut Context<'_>, criterion: Criterion, error: TooManyPaths) {
    let function = &cx.function.name;
    let message = format!("{criterion} has no objectives for `{function}`: it has {error}");
    let span = cx.function.span;
    cx.warn("paths", message, span);
}

fn push_each(cx: &mut Context<'_>, graph: &NodeGraph, paths: &[Path]) {
    for path in paths {
        let hyper = hyper(cx, graph, path);
        let span = place(cx.body, graph, path[0]);
        cx.push_hyper(hyper, span, name(path), lines(cx, graph, path));
    }
}

fn round_trips(cx: &mut Context<'_>, criterion: Criterion, join: fn(Vec<Hyper>) -> Hyper) {
    let graph = cx.node_graph();
    let trips = match &*cx.prime_paths() {
        Ok(paths) => paths::round_trips(paths),
        Err(error) => return too_many(cx, criterion, *error),
    };
    for (node, paths) in trips {
        let all: Vec<Hyper> = paths.iter().map(|path| hyper(cx, &graph, path)).collect();
        let span = place(cx.body, &graph, node);
        let line = cx.map.place(span.start).line;
        let word = if criterion == Criterion::Srtc { "one" } else { "each" };
        let text = format!("{word} of {} round trips from line {line}", paths.len());
        cx.push_hyper(join(all), span, format!("n{node}"), text);
    }
}

/// The nodes by number.
pub(crate) fn name(path: &[NodeId]) -> String {
    path.iter().map(|node| format!("n{node}")).collect::<Vec<_>>().join(" ")
}

/// The lines in which the nodes begin.
pub(crate) fn lines(cx: &Context<'_>, graph: &NodeGraph, path: &[NodeId]) -> String {
    let line = |node: &NodeId| cx.map.place(place(cx.body, graph, *node).start).line.to_string();
    format!("lines {}", path.iter().map(line).collect::<Vec<_>>().join(", "))
}

/// Where a node begins in the text.
fn place(body: &Body, graph: &NodeGraph, node: NodeId) -> Span {
    let head = graph.nodes[node].head;
    let block = &body.blocks[head];
    let of_mark = block.stmts.iter().find_map(|stmt| match &body.stmts[*stmt] {
        Stmt::Mark(mark) => Some(body.marks[*mark].span),
        _ => None,
    });
    let of_stmt = || block.stmts.iter().map(|stmt| body.source.stmts[*stmt]).find(|s| !s.is_none());
    of_mark.or_else(of_stmt).unwrap_or(body.source.terms[head])
}

/// A path as a hyperlabel.
pub(crate) fn hyper(cx: &mut Context<'_>, graph: &NodeGraph, path: &[NodeId]) -> Hyper {
    let atoms = path.iter().map(|node| {
        let span = place(cx.body, graph, *node);
        let label = cx.label(Site::Block(graph.nodes[*node].head), Pred::Const(true), span);
        cx.atom(label, Vec::new())
    });
    let mut atoms: Vec<_> = atoms.collect();
    if atoms.len() == 1 {
        return Hyper::Atom(atoms.remove(0));
    }
    if let Some(known) = cx.shared_sequences.paths.get(path) {
        return Hyper::Sequence(*known);
    }
    let passages = vec![Passage::Adjacent; path.len() - 1];
    let sequence = Sequence { atoms, passages, scope: SequenceScope::Activation, flow: None };
    let id = cx.sequence(sequence);
    cx.shared_sequences.paths.insert(path.to_vec(), id);
    Hyper::Sequence(id)
}

/// Nodes that follow one another, as a hyperlabel. Other nodes may lie before those for which `gaps`
/// is true.
pub(crate) fn walk(
    cx: &mut Context<'_>,
    graph: &NodeGraph,
    nodes: &[NodeId],
    gaps: &[bool],
) -> Hyper {
    if !gaps.contains(&true) {
        return hyper(cx, graph, nodes);
    }
    let atoms = nodes.iter().map(|node| {
        let span = place(cx.body, graph, *node);
        let label = cx.label(Site::Block(graph.nodes[*node].head), Pred::Const(true), span);
        cx.atom(label, Vec::new())
    });
    let atoms = atoms.collect();
    let passage = |gap: &bool| if *gap { Passage::Free } else { Passage::Adjacent };
    let passages = gaps.iter().map(passage).collect();
    let sequence = Sequence { atoms, passages, scope: SequenceScope::Activation, flow: None };
    Hyper::Sequence(cx.sequence(sequence))
}
