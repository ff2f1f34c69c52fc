//! Distances to labels that are left, and whether any label lies ahead of a place ([000]'s
//! look-ahead).
//!
//! Distances are edges of the control-flow graphs, calls included. An indirect call may lead to any
//! explored function. The result is an over-approximation: where no label that is left lies ahead
//! of a place, none can be met from there, whatever the input.

use std::rc::Rc;

use lydian_base::EntityId;
use lydian_ir::{BlockId, FuncId};

use crate::goals::labels::LabelTable;
use crate::machine::program::control_flow::{ControlFlow, Function, SitePlaces};
use crate::machine::program::site::SiteKey;

/// A distance greater than any path of blocks.
pub(crate) const FAR: u32 = 1 << 20;

/// The labels that distances are measured to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DistanceTarget {
    /// All labels that are left.
    Left,
    /// Labels that are left and that no path reached.
    New,
}

/// The distances from the places of a program to labels that are left.
pub(crate) struct Distances {
    control_flow: Rc<ControlFlow>,
    sites: SitePlaces,
    /// The distances for each target, by function and block; empty for functions that are not
    /// explored.
    views: [Vec<Vec<BlockDistances>>; 2],
}

/// The distances in a block, and behind it.
#[derive(Clone, Copy)]
struct BlockDistances {
    /// The distance to the next label in the block itself or in its callees.
    own: u32,
    /// The end of the last position in the block with such a label; 0 without any.
    until: u32,
    /// The distance to the next label behind the block.
    behind: u32,
}

impl BlockDistances {
    const NOTHING: Self = Self { own: FAR, until: 0, behind: FAR };

    /// The distance to the next label from a position in the block on.
    fn from(self, position: usize) -> u32 {
        if (position as u32) < self.until { self.own.min(self.behind) } else { self.behind }
    }

    fn see(&mut self, position: u32, distance: u32) -> bool {
        let before = (self.own, self.until);
        self.own = self.own.min(distance);
        self.until = self.until.max(position + 1);
        before != (self.own, self.until)
    }
}

impl Distances {
    /// Distances for the functions of a control flow, and labels at some sites.
    pub(crate) fn new(control_flow: Rc<ControlFlow>, sites: SitePlaces) -> Self {
        Self { control_flow, sites, views: Default::default() }
    }

    /// The places of the labels' sites.
    pub(crate) const fn sites(&self) -> &SitePlaces {
        &self.sites
    }

    /// The number of blocks, which the cost of updating distances is proportional to.
    pub(crate) fn size(&self) -> usize {
        self.control_flow.size()
    }

    /// Whether control follows edges, calls and returns only.
    pub(crate) fn is_structured(&self) -> bool {
        self.control_flow.is_structured()
    }

    /// Updates the distances to the labels that are left.
    pub(crate) fn refresh(&mut self, labels: &LabelTable<'_>) {
        for target in [DistanceTarget::Left, DistanceTarget::New] {
            let mut all = vec![Vec::new(); self.sites.functions()];
            for Function { func, blocks } in self.control_flow.functions() {
                let mut views = vec![BlockDistances::NOTHING; blocks.len()];
                let wanted = |site: &(&SiteKey, _)| match target {
                    DistanceTarget::Left => labels.is_sought(*func, *site.0),
                    DistanceTarget::New => labels.is_new(*func, *site.0),
                };
                let sites = self.sites.of(*func).filter(wanted);
                for (block, position) in sites.flat_map(|(_, places)| places) {
                    views[block.index()].see(*position, 0);
                }
                all[func.index()] = views;
            }
            self.views[target as usize] = all;
            while self.relax(target) {}
        }
    }

    /// One iteration of shortest paths over all functions. Returns whether anything changed.
    fn relax(&mut self, target: DistanceTarget) -> bool {
        let mut changed = false;
        let control_flow = Rc::clone(&self.control_flow);
        let functions = control_flow.functions();
        let entries = functions.iter().map(|function| self.entry(target, function.func));
        let any = entries.min().unwrap_or(FAR);
        for Function { func, blocks } in functions {
            for (at, block) in blocks.iter().enumerate().rev() {
                let mut view = self.views[target as usize][func.index()][at];
                for (position, callee) in &block.calls {
                    let inner = callee.map_or(any, |callee| self.entry(target, callee));
                    if inner < FAR {
                        changed |= view.see(*position, inner + 1);
                    }
                }
                for next in &block.next {
                    let next = self.views[target as usize][func.index()][next.index()];
                    let distance = next.from(0) + 1;
                    if distance < view.behind.min(FAR) {
                        view.behind = distance;
                        changed = true;
                    }
                }
                self.views[target as usize][func.index()][at] = view;
            }
        }
        changed
    }

    /// The distance from the entry of a function.
    fn entry(&self, target: DistanceTarget, func: FuncId) -> u32 {
        let entry = self.control_flow.entry(func);
        entry.and_then(|entry| self.distance(target, func, entry, 0)).unwrap_or(FAR)
    }

    /// The distance from a position in a block; `None` in a function that is not explored.
    pub(crate) fn distance(
        &self,
        target: DistanceTarget,
        func: FuncId,
        block: BlockId,
        position: usize,
    ) -> Option<u32> {
        let view = self.views[target as usize].get(func.index())?.get(block.index())?;
        Some(view.from(position))
    }
}
