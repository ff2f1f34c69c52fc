//! Which probes of a function follow from which others.
//!
//! A probe follows from its witnesses, which come after it, or from its *sources*, which come
//! before: control surely comes from each of them to the probe without a choice, and one of them is
//! passed before each pass of it. Behind `if (a) x = 1; y = 2;`, the outcomes of `a` are sources of
//! the last statement. So most probes where ways meet are left out.
//!
//! No probe follows from itself, over others either. Witnesses alone cannot make a circle, since a
//! place dominates them. A source is taken only if it does not follow from the probe.

use lydian_ir::BlockId;
use lydian_ir::stmt::Edge;
use rustc_hash::FxHashMap;

use crate::plan::RedundantCell;
use crate::rewrite::redundant::{ProbeGraph, ProbePlace, REACH};

/// The probes that are left out.
pub(crate) struct Followers<'f> {
    flow: &'f ProbeGraph<'f>,
    /// For each probe that is left out, the cells that it follows from.
    from: Vec<Option<Vec<(u32, u32)>>>,
    /// For each probe, those that follow from it.
    followers: Vec<Vec<usize>>,
}

impl<'f> Followers<'f> {
    /// Finds them. Witnesses are preferred: what is left are choices, and joins follow from these.
    pub(crate) fn of(flow: &'f ProbeGraph<'f>) -> Self {
        let count = flow.probes.len();
        let mut this = Self { flow, from: vec![None; count], followers: vec![Vec::new(); count] };
        for probe in 0..count {
            let is_fixed = |other: usize| flow.probes[other].fixed;
            let find =
                || sources(flow, probe, &is_fixed).or_else(|| flow.witnesses(probe, &|_| true));
            this.add(probe, &find);
        }
        for probe in 0..count {
            let is_inside = matches!(flow.probes[probe].place, ProbePlace::At(..));
            if is_inside && this.from[probe].is_none() {
                let behind = this.behind(probe);
                this.add(probe, &|| sources(flow, probe, &|other| !behind[other]));
            }
        }
        this.add_edges();
        this
    }

    fn add(&mut self, probe: usize, find: &dyn Fn() -> Option<Vec<usize>>) {
        if self.flow.probes[probe].removable().is_none() {
            return;
        }
        let Some(from) = find() else { return };
        from.iter().for_each(|other| self.followers[*other].push(probe));
        let cells = from.iter().flat_map(|other| self.flow.probes[*other].cells.clone());
        self.from[probe] = Some(cells.collect());
    }

    /// Adds the probes on edges by which a later probe chooses one of its cells: that cell shows that
    /// control came by the edge.
    fn add_edges(&mut self) {
        let flow = self.flow;
        let mut choosing: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
        for (table, probe) in flow.probes.iter().enumerate() {
            let merged = probe.chooser.as_ref().map(|chooser| chooser.merged);
            merged.into_iter().for_each(|block| choosing.entry(block).or_default().push(table));
        }
        for (index, probe) in flow.probes.iter().enumerate() {
            let ProbePlace::Edges(edges) = &probe.place else { continue };
            if self.from[index].is_some() || probe.removable().is_none() {
                continue;
            }
            let Some(to) = edges.first().and_then(|edge| flow.cfg.target(*edge)) else { continue };
            let tables = choosing.get(&to).into_iter().flatten();
            self.from[index] = tables.copied().find_map(|table| {
                let cells = flow.probes[table].chooser.as_ref()?.cells_of(&flow.cfg, edges)?;
                flow.leads_to(to, table).then_some(cells)
            });
        }
    }

    /// Which probes are this one or follow from it.
    fn behind(&self, probe: usize) -> Vec<bool> {
        let mut behind = vec![false; self.from.len()];
        let mut work = vec![probe];
        while let Some(next) = work.pop() {
            if !std::mem::replace(&mut behind[next], true) {
                work.extend(&self.followers[next]);
            }
        }
        behind
    }

    /// The cells of these probes, each with the cells of which one is set if control passed it.
    pub(crate) fn cells(&self) -> impl Iterator<Item = RedundantCell> {
        self.from.iter().zip(self.flow.probes).filter_map(|(from, probe)| {
            Some(RedundantCell { cell: probe.removable()?, of: from.clone()? })
        })
    }
}

/// The sources of a probe in a block, among the probes that `speaks` accepts. `None` if there are
/// no such probes.
fn sources(
    flow: &ProbeGraph<'_>,
    probe: usize,
    speaks: &dyn Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let ProbePlace::At(block, position) = flow.probes[probe].place else { return None };
    let mut way = BackwardSearch {
        flow,
        speaks,
        found: Vec::new(),
        inside: Vec::new(),
        edges: Vec::new(),
        between: Vec::new(),
    };
    way.back(block, position)?;
    if !way.found.iter().all(|source| flow.is_within(*source, &way.edges)) {
        return None;
    }
    let goes_on = way.between.iter().all(|(block, until)| flow.goes_on(*block, 0, *until));
    way.found.extend(way.inside);
    goes_on.then_some(way.found)
}

/// A search backward from a probe, up to the next probes without a choice in between. These stand
/// on edges, or in a block from where control surely continues: a trap may follow a probe that
/// stands before an expression.
struct BackwardSearch<'f> {
    flow: &'f ProbeGraph<'f>,
    /// Whether a probe may be a source.
    speaks: &'f dyn Fn(usize) -> bool,
    /// The probes found on edges.
    found: Vec<usize>,
    /// The probes found in blocks.
    inside: Vec<usize>,
    /// The edges that were followed back.
    edges: Vec<Edge>,
    /// The blocks in between, each with the position up to which control passes it.
    between: Vec<(BlockId, isize)>,
}

impl BackwardSearch<'_> {
    /// Follows control back in a block from a position. `None` if some way has no such probe.
    fn back(&mut self, block: BlockId, from: isize) -> Option<()> {
        let flow = self.flow;
        let here = flow.inside.get(&block).map_or(&[][..], Vec::as_slice);
        let mut before = here.iter().rev().filter(|(position, _)| *position < from);
        if let Some((position, source)) = before.find(|(_, probe)| (self.speaks)(*probe)) {
            self.inside.push(*source);
            return flow.goes_on(block, *position, from).then_some(());
        }
        self.between.push((block, from));
        if block == flow.body.entry || self.between.len() > REACH {
            return None;
        }
        for edge in flow.cfg.predecessors(block) {
            if self.edges.contains(edge) || self.edges.len() > REACH {
                return None;
            }
            self.edges.push(*edge);
            let on_edge = flow.at_edge.get(edge).into_iter().flatten();
            match on_edge.copied().find(|probe| (self.speaks)(*probe)) {
                Some(source) => self.found.push(source),
                None if flow.cfg.successors(edge.from).len() == 1 => {
                    self.back(edge.from, isize::MAX)?;
                }
                None => return None,
            }
        }
        (!self.found.is_empty() || !self.inside.is_empty()).then_some(())
    }
}
