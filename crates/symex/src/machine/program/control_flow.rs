//! The control flow of all functions that an exploration may reach, calls included, and the places
//! that control may still reach from a position.
//!
//! An indirect call may lead to any explored function. The result is an over-approximation: a place
//! that is not reachable here is met on no path, whatever the input.

use lydian_base::EntityId;
use lydian_ir::libc::{Family, model_of};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, Body, Callee, FuncId, Program, Stmt, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::machine::program::site::ProgramPoint;
use crate::machine::program::site::SiteKey;

/// Blocks and positions in them, by site.
type SitePositions = FxHashMap<SiteKey, SmallVec<[(BlockId, u32); 1]>>;

/// The control flow of some functions.
#[derive(Default)]
pub(crate) struct ControlFlow {
    /// The explored functions, in the order of discovery.
    functions: Vec<Function>,
    /// The position of each explored function among them, and its first block.
    entries: FxHashMap<FuncId, (usize, BlockId)>,
    /// Whether a call may end in another place than behind it.
    jumps: bool,
}

/// The places of the sites of the program's functions.
#[derive(Default)]
pub(crate) struct SitePlaces(Vec<SitePositions>);

/// The places that control may reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReachablePlaces {
    /// The first position, by function and block.
    places: FxHashMap<(FuncId, BlockId), u32>,
    /// Sites that control passed already and that are still to be looked at.
    passed: FxHashSet<(FuncId, SiteKey)>,
}

impl ReachablePlaces {
    /// Adds a site.
    pub(crate) fn pass(&mut self, func: FuncId, site: SiteKey) {
        self.passed.insert((func, site));
    }

    /// Adds all places of another set.
    pub(crate) fn add(&mut self, other: Self) {
        for (place, position) in other.places {
            let from = self.places.entry(place).or_insert(position);
            *from = position.min(*from);
        }
        self.passed.extend(other.passed);
    }
}

/// The constant facts about a function.
pub(crate) struct Function {
    pub(crate) func: FuncId,
    pub(crate) blocks: Vec<Block>,
}

/// A block, with its calls and edges.
pub(crate) struct Block {
    pub(crate) next: SmallVec<[BlockId; 2]>,
    /// The calls with their positions; an indirect one has no function.
    pub(crate) calls: SmallVec<[(u32, Option<FuncId>); 2]>,
}

impl ControlFlow {
    /// The control flow of functions that calls may lead to, each once.
    pub(crate) fn new(program: &Program, functions: impl IntoIterator<Item = FuncId>) -> Self {
        let mut this = Self::default();
        for func in functions {
            let Some(body) = &program.functions[func].body else { continue };
            this.entries.insert(func, (this.functions.len(), body.entry));
            this.functions.push(Function { func, blocks: blocks_of(body) });
            this.jumps |= body.stmts.values().any(|stmt| comes_back(program, stmt));
        }
        this
    }

    /// The explored functions.
    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The first block of an explored function.
    pub(crate) fn entry(&self, func: FuncId) -> Option<BlockId> {
        self.entries.get(&func).map(|(_, entry)| *entry)
    }

    /// The number of blocks, which the cost of updating distances is proportional to.
    pub(crate) fn size(&self) -> usize {
        self.functions.iter().map(|function| function.blocks.len()).sum()
    }

    /// Adds the places that control may reach from the beginning of a function. Returns false where
    /// they are not known.
    pub(crate) fn enter(&self, reached: &mut ReachablePlaces, func: FuncId) -> bool {
        let Some((_, entry)) = self.entries.get(&func) else { return false };
        self.go_on(reached, ProgramPoint { func, block: *entry, index: 0 })
    }

    /// Adds the places that control may reach in a function and its callees, from a position in a
    /// block on. Returns false where they are not known.
    pub(crate) fn go_on(&self, reached: &mut ReachablePlaces, from: ProgramPoint) -> bool {
        if !self.entries.contains_key(&from.func) {
            return false;
        }
        let mut waiting = vec![from];
        while let Some(ProgramPoint { func, block, index }) = waiting.pop() {
            let position = index as u32;
            // Unexplored functions have no labels and call no explored ones.
            let Some((at, _)) = self.entries.get(&func) else { continue };
            let from = reached.places.entry((func, block)).or_insert(u32::MAX);
            let before = *from;
            if before <= position {
                continue;
            }
            *from = position;
            let Block { next, calls } = &self.functions[*at].blocks[block.index()];
            if before == u32::MAX {
                let start = |next: &BlockId| ProgramPoint { func, block: *next, index: 0 };
                waiting.extend(next.iter().map(start));
            }
            let new = calls.iter().filter(|(at, _)| (position..before).contains(at));
            for (_, callee) in new {
                let entry = |func: &FuncId| {
                    let block = self.entries.get(func)?.1;
                    Some(ProgramPoint { func: *func, block, index: 0 })
                };
                match callee {
                    Some(callee) => waiting.extend(entry(callee)),
                    None => waiting.extend(self.entries.keys().filter_map(entry)),
                }
            }
        }
        true
    }

    /// Whether control follows edges, calls and returns only.
    pub(crate) const fn is_structured(&self) -> bool {
        !self.jumps
    }
}

impl SitePlaces {
    /// The places of the sites of the functions of a control flow.
    pub(crate) fn new<S: Iterator<Item = SiteKey>>(
        program: &Program,
        control_flow: &ControlFlow,
        sites: impl Fn(FuncId) -> S,
    ) -> Self {
        let mut all = Vec::new();
        all.resize_with(program.functions.len(), FxHashMap::default);
        for Function { func, .. } in control_flow.functions() {
            if let Some(body) = &program.functions[*func].body {
                all[func.index()] = places_of(body, sites(*func));
            }
        }
        Self(all)
    }

    /// The number of functions of the program.
    pub(crate) fn functions(&self) -> usize {
        self.0.len()
    }

    /// The sites of a function, each with its places.
    pub(crate) fn of(
        &self,
        func: FuncId,
    ) -> impl Iterator<Item = (&SiteKey, &SmallVec<[(BlockId, u32); 1]>)> {
        self.0[func.index()].iter()
    }

    /// Whether control may reach a site.
    pub(crate) fn lies_in(&self, reached: &ReachablePlaces, func: FuncId, site: SiteKey) -> bool {
        if reached.passed.contains(&(func, site)) {
            return true;
        }
        let places = self.0.get(func.index()).and_then(|sites| sites.get(&site));
        // A site without a place may lie anywhere.
        places.is_none_or(|places| {
            let is_reached = |(block, position): &(BlockId, u32)| {
                reached.places.get(&(func, *block)).is_some_and(|from| from <= position)
            };
            places.is_empty() || places.iter().any(is_reached)
        })
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

/// The places of sites: a position before a place has yet to pass the site.
pub(crate) fn places_of(body: &Body, sites: impl Iterator<Item = SiteKey>) -> SitePositions {
    let mut places: SitePositions = sites.map(|site| (site, SmallVec::new())).collect();
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
