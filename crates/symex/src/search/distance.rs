//! What lies ahead of a place in the program: how far the next label is that is left, and whether there
//! is any ([000]'s look-ahead).
//!
//! Distances are edges of the control-flow graphs, calls included. An indirect call may lead to any
//! function that is looked at. Nothing is ever missed: where no label that is left lies ahead of a
//! place, none can be met from there, whatever the input.

use lydian_base::EntityId;
use lydian_ir::libc::{Family, model_of};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, Body, Callee, FuncId, Program, Stmt, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::goals::labels::{LabelTable, SiteKey};

/// Further than any path of blocks.
pub(crate) const FAR: u32 = 1 << 20;

/// Blocks and positions in them, by site.
type Places = FxHashMap<SiteKey, SmallVec<[(BlockId, u32); 1]>>;

/// What to be near to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Labels that are left.
    Left,
    /// Labels that are left and that no path reached.
    New,
}

/// What lies ahead of the places of a program.
#[derive(Default)]
pub(crate) struct Ahead {
    /// The functions that are looked at, in the order in which they are met.
    functions: Vec<Function>,
    /// Where each function that is looked at stands among them, and its first block.
    entries: FxHashMap<FuncId, (usize, BlockId)>,
    /// Where each site lies, by function.
    sites: Vec<Places>,
    /// What lies ahead for each target, by function and block; empty for functions that are not looked at.
    views: [Vec<Vec<View>>; 2],
    /// Whether a call may end in another place than behind it.
    jumps: bool,
}

/// What control may come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    /// By function and block the first position.
    places: FxHashMap<(FuncId, BlockId), u32>,
    /// Sites that it passed already and that are still to be looked at.
    passed: FxHashSet<(FuncId, SiteKey)>,
}

impl Reached {
    /// Adds a site.
    pub(crate) fn pass(&mut self, func: FuncId, site: SiteKey) {
        self.passed.insert((func, site));
    }

    /// Adds all of another.
    pub(crate) fn add(&mut self, other: Self) {
        for (place, position) in other.places {
            let from = self.places.entry(place).or_insert(position);
            *from = position.min(*from);
        }
        self.passed.extend(other.passed);
    }
}

/// What does not change of a function.
struct Function {
    func: FuncId,
    blocks: Vec<Block>,
}

/// A block as calls and edges see it.
struct Block {
    next: SmallVec<[BlockId; 2]>,
    /// Calls with their positions; an indirect one has no function.
    calls: SmallVec<[(u32, Option<FuncId>); 2]>,
}

/// What lies ahead in a block, and behind it.
#[derive(Clone, Copy)]
struct View {
    /// The distance to the next label in the block itself or in what it calls.
    own: u32,
    /// Just behind the last position in the block at which there is one; 0 without any.
    until: u32,
    /// The distance to the next one behind the block.
    behind: u32,
}

impl View {
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

impl Ahead {
    /// For functions that calls may lead to, and the labels that are asked for.
    pub(crate) fn new(program: &Program, functions: &[FuncId], labels: &LabelTable<'_>) -> Self {
        let mut this = Self::default();
        this.sites.resize_with(program.functions.len(), FxHashMap::default);
        let others = program.functions.ids().filter(|func| labels.has(*func));
        let others = others.filter(|func| !functions.contains(func));
        for func in functions.iter().copied().chain(others) {
            let Some(body) = &program.functions[func].body else { continue };
            this.entries.insert(func, (this.functions.len(), body.entry));
            this.functions.push(Function { func, blocks: blocks_of(body) });
            this.sites[func.index()] = places_of(body, labels.sites(func));
            this.jumps |= body.stmts.values().any(|stmt| comes_back(program, stmt));
        }
        this
    }

    /// How many blocks there are: what bringing the distances up to date costs.
    pub(crate) fn size(&self) -> usize {
        self.functions.iter().map(|function| function.blocks.len()).sum()
    }

    /// Brings the distances up to date with the labels that are left.
    pub(crate) fn refresh(&mut self, labels: &LabelTable<'_>) {
        for target in [Target::Left, Target::New] {
            let mut all = vec![Vec::new(); self.sites.len()];
            for Function { func, blocks } in &self.functions {
                let mut views = vec![View::NOTHING; blocks.len()];
                let wanted = |site: &(&SiteKey, _)| match target {
                    Target::Left => labels.is_open(*func, *site.0),
                    Target::New => labels.is_new(*func, *site.0),
                };
                let sites = self.sites[func.index()].iter().filter(wanted);
                for (block, position) in sites.flat_map(|(_, places)| places) {
                    views[block.index()].see(*position, 0);
                }
                all[func.index()] = views;
            }
            self.views[target as usize] = all;
            while self.relax(target) {}
        }
    }

    /// One round of shortest paths over all functions; whether anything changed.
    fn relax(&mut self, target: Target) -> bool {
        let mut changed = false;
        let entries = self.functions.iter().map(|function| self.entry(target, function.func));
        let any = entries.min().unwrap_or(FAR);
        for Function { func, blocks } in &self.functions {
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
    fn entry(&self, target: Target, func: FuncId) -> u32 {
        let entry = self.entries.get(&func);
        entry.and_then(|(_, entry)| self.distance(target, func, *entry, 0)).unwrap_or(FAR)
    }

    /// The distance from a position in a block of a function that is looked at.
    pub(crate) fn distance(
        &self,
        target: Target,
        func: FuncId,
        block: BlockId,
        position: usize,
    ) -> Option<u32> {
        let view = self.views[target as usize].get(func.index())?.get(block.index())?;
        Some(view.from(position))
    }

    /// Adds where control may come to from the beginning of a function; false where that is not known.
    pub(crate) fn enter(&self, reached: &mut Reached, func: FuncId) -> bool {
        let Some((_, entry)) = self.entries.get(&func) else { return false };
        self.go_on(reached, func, *entry, 0)
    }

    /// Adds where control may come to in a function and in what it calls, from a position in a block on;
    /// false where that is not known.
    pub(crate) fn go_on(
        &self,
        reached: &mut Reached,
        func: FuncId,
        block: BlockId,
        position: usize,
    ) -> bool {
        if !self.entries.contains_key(&func) {
            return false;
        }
        let mut waiting = vec![(func, block, position as u32)];
        while let Some((func, block, position)) = waiting.pop() {
            // What is not looked at has no labels and calls nothing that is.
            let Some((at, _)) = self.entries.get(&func) else { continue };
            let from = reached.places.entry((func, block)).or_insert(u32::MAX);
            let before = *from;
            if before <= position {
                continue;
            }
            *from = position;
            let Block { next, calls } = &self.functions[*at].blocks[block.index()];
            if before == u32::MAX {
                waiting.extend(next.iter().map(|next| (func, *next, 0)));
            }
            let new = calls.iter().filter(|(at, _)| (position..before).contains(at));
            for (_, callee) in new {
                let entry = |func: &FuncId| Some((*func, self.entries.get(func)?.1, 0));
                match callee {
                    Some(callee) => waiting.extend(entry(callee)),
                    None => waiting.extend(self.entries.keys().filter_map(entry)),
                }
            }
        }
        true
    }

    /// Whether control may come to a site.
    pub(crate) fn lies_in(&self, reached: &Reached, func: FuncId, site: SiteKey) -> bool {
        if reached.passed.contains(&(func, site)) {
            return true;
        }
        let places = self.sites.get(func.index()).and_then(|sites| sites.get(&site));
        // What lies nowhere may lie anywhere.
        places.is_none_or(|places| {
            let is_reached = |(block, position): &(BlockId, u32)| {
                reached.places.get(&(func, *block)).is_some_and(|from| from <= position)
            };
            places.is_empty() || places.iter().any(is_reached)
        })
    }

    /// Whether control only goes where edges, calls and returns lead.
    pub(crate) const fn is_structured(&self) -> bool {
        !self.jumps
    }
}

fn blocks_of(body: &Body) -> Vec<Block> {
    let block = |block: &lydian_ir::Block| {
        let mut next = SmallVec::new();
        block.term.for_each_successor(|to| next.push(to));
        let call = |(position, stmt): (u32, &lydian_ir::StmtId)| match &body.stmts[*stmt] {
            Stmt::Call { callee: Callee::Direct(func), .. } => Some((position, Some(*func))),
            Stmt::Call { callee: Callee::Indirect(_), .. } => Some((position, None)),
            _ => None,
        };
        Block { next, calls: (0..).zip(&block.stmts).filter_map(call).collect() }
    };
    body.blocks.values().map(block).collect()
}

/// Whether a statement calls `setjmp`, which may return again.
fn comes_back(program: &Program, stmt: &Stmt) -> bool {
    let Stmt::Call { callee: Callee::Direct(func), .. } = stmt else { return false };
    let function = &program.functions[*func];
    let model = model_of(&program.types, &function.name, function.ty);
    function.body.is_none() && model.is_some_and(|model| model.family == Family::Jump)
}

/// Where some sites lie: those that control has yet to pass when it is at such a position.
pub(crate) fn places_of(body: &Body, sites: impl Iterator<Item = SiteKey>) -> Places {
    let mut places: Places = sites.map(|site| (site, SmallVec::new())).collect();
    let mut note = |site: SiteKey, block: BlockId, position: usize| {
        if let Some(places) = places.get_mut(&site) {
            places.push((block, position as u32));
        }
    };
    note(SiteKey::Entry, body.entry, 0);
    for (id, block) in body.blocks.iter() {
        for (position, stmt) in block.stmts.iter().enumerate() {
            note(SiteKey::Point(Point::Stmt(*stmt)), id, position);
            if let Stmt::Mark(mark) = &body.stmts[*stmt] {
                note(SiteKey::Mark(*mark), id, position);
            }
        }
        let end = block.stmts.len();
        note(SiteKey::Point(Point::Term(id)), id, end);
        let mut ways = 0;
        block.term.for_each_successor(|_| ways += 1);
        for way in 0..ways {
            note(SiteKey::Edge(Edge { from: id, way }), id, end);
        }
        if let Terminator::Branch { origin: Some(origin), .. } = &block.term {
            note(SiteKey::Decision(origin.decision), id, end);
            note(SiteKey::Condition(origin.decision, origin.condition), id, end);
        }
    }
    places
}
