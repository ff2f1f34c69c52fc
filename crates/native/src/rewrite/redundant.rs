//! Redundant probes: those whose cells follow from the cells of others, so that they are left out.
//!
//! A probe is redundant if control can come from it only to certain other probes, its *witnesses*,
//! and can reach these only through it. Then a witness that was passed shows that the probe was
//! passed (Agrawal, "Dominators, super blocks, and program coverage", without its post-dominators,
//! since a run that ends early must not hide the probes that it passed). In `if (a) if (b) ...`, an
//! outcome of `b` shows that `a` was true.
//!
//! So a probe is left out if every way from its place leads to a witness
//! - before the function is left, a call is made, a cycle begins, or memory is accessed that was
//!   not accessed before, so that no crash or end of the run comes between; and
//! - that is not reachable from the function's entry without passing the probe's place.
//!
//! A witness may be left out itself. A place dominates its witnesses, so there is no cycle.
//!
//! A probe with several possible cells, such as a use whose last definition is known only at run
//! time, is a witness too. A probe with several possible cells is itself redundant only if its
//! witnesses are such probes and their choices of a cell determine its own ([`CellChoice`]). After
//! `for (i = 0, p = a; ...; i++, p++)`, the definition of `i` that reaches a use determines the
//! definition of `p` that reaches another: both follow from the edge by which control entered the
//! loop's head.

use indexmap::IndexMap;
use indexmap::map::Entry;
use lydian_base::{EntityId, Span};
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::{Edge, Terminator};
use lydian_ir::{BinOp, BlockId, Body, Expr, ExprId, LocalId, MarkId, Stmt, StmtId};
use lydian_objective::dataflow::UseSite;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::RedundantCell;
use crate::rewrite::redundant::accesses::{
    AccessKind, Accesses, FactSet, for_each_part, is_in_variable,
};
use crate::rewrite::redundant::followers::Followers;
use crate::rewrite::redundant::last_definitions::LastDefinitions;

pub(crate) mod accesses;
mod cell_choice;
mod followers;
pub(crate) mod last_definitions;
pub(crate) mod steady;

pub(crate) use self::cell_choice::CellChoice;

/// The most blocks that a search for witnesses enters.
const REACH: usize = 64;

/// A probe: when control passes its place, one of its cells is set.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) place: ProbePlace,
    /// Its cells, in rows: the first cell of each row, and the number of cells. There are several
    /// cells if their choice depends on more than the place.
    pub(crate) cells: Vec<(u32, u32)>,
    /// Whether it is kept even if probes with one cell follow from it or imply it.
    pub(crate) fixed: bool,
    /// How its cell is chosen, as far as that is known.
    pub(crate) chooser: Option<CellChoice>,
}

impl Probe {
    /// A probe that sets one of several cells on edges. `None` if there are no edges.
    pub(crate) fn on(edges: Vec<Edge>, cells: (u32, u32)) -> Option<Self> {
        let (place, fixed) = (ProbePlace::Edges(edges.clone()), cells.1 > 1);
        let cells = vec![cells];
        (!edges.is_empty()).then_some(Self { place, cells, fixed, chooser: None })
    }

    /// A probe on edges that sets a cell or a later one: each of `choices` may add one of its
    /// offsets to the cell's number.
    pub(crate) fn on_one_of(edges: Vec<Edge>, cell: u32, choices: &[Vec<u32>]) -> Option<Self> {
        let mut cells = vec![(cell, 1)];
        for choice in choices {
            let beyond = choice.iter().flat_map(|by| cells.iter().map(move |(at, _)| (at + by, 1)));
            let beyond: Vec<_> = beyond.collect();
            cells.extend(beyond);
        }
        let fixed = cells.len() > 1;
        let place = ProbePlace::on(edges)?;
        Some(Self { place, cells, fixed, chooser: None })
    }

    /// A probe that sets a cell at a place.
    pub(crate) fn at(place: ProbePlace, cell: u32) -> Self {
        Self { place, cells: vec![(cell, 1)], fixed: false, chooser: None }
    }

    /// The cell of a probe that may be left out.
    fn removable(&self) -> Option<u32> {
        match self.cells[..] {
            [(cell, 1)] if !self.fixed => Some(cell),
            _ => None,
        }
    }
}

/// The place of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProbePlace {
    /// On any of these edges.
    Edges(Vec<Edge>),
    /// In a block, at the position of a statement. Position -1 is before the first statement, and
    /// the number of statements is the position of the terminator.
    At(BlockId, isize),
}

impl ProbePlace {
    /// On some edges. `None` if there are none.
    pub(crate) fn on(edges: Vec<Edge>) -> Option<Self> {
        (!edges.is_empty()).then_some(Self::Edges(edges))
    }

    /// The block and the position in it, if it is in one block or on one edge.
    pub(crate) fn position(&self) -> Option<(BlockId, isize)> {
        match self {
            Self::Edges(edges) => match edges[..] {
                [edge] => Some((edge.from, isize::MAX)),
                _ => None,
            },
            Self::At(block, position) => Some((*block, *position)),
        }
    }
}

/// The positions of a function's statements.
pub(crate) struct StatementPlaces {
    pub(crate) stmts: FxHashMap<StmtId, (BlockId, isize)>,
    /// The marks that stand at one place only.
    pub(crate) marks: FxHashMap<MarkId, StmtId>,
}

impl StatementPlaces {
    pub(crate) fn new(body: &Body) -> Self {
        let (mut stmts, mut marks) = (FxHashMap::default(), FxHashMap::default());
        let mut twice = FxHashSet::default();
        for (id, block) in body.blocks.iter() {
            for (position, stmt) in (0..).zip(&block.stmts) {
                stmts.insert(*stmt, (id, position));
                if let Stmt::Mark(mark) = body.stmts[*stmt]
                    && marks.insert(mark, *stmt).is_some()
                {
                    twice.insert(mark);
                }
            }
        }
        marks.retain(|mark, _| !twice.contains(mark));
        Self { stmts, marks }
    }

    pub(crate) fn of_mark(&self, mark: MarkId) -> Option<ProbePlace> {
        self.of_stmt(*self.marks.get(&mark)?)
    }

    /// The place of a probe for a use outside of conditions: before an expression that contains
    /// neither choices nor calls.
    pub(crate) fn of_use(&self, body: &Body, at: UseSite, around: Span) -> Option<ProbePlace> {
        let (block, position) = match at {
            UseSite::Stmt(stmt) => *self.stmts.get(&stmt)?,
            UseSite::Return(block) => (block, body.blocks[block].stmts.len() as isize),
            UseSite::Condition(..) | UseSite::Switch(_) => return None,
        };
        let before = body.blocks[block].stmts.iter().take(position as usize).rev();
        let is_part = |stmt: &&StmtId| {
            let span = body.source.stmts[**stmt];
            !span.is_none()
                && around.contains(span)
                && !matches!(body.stmts[**stmt], Stmt::Mark(_) | Stmt::Call { .. })
        };
        let parts = before.take_while(is_part).count();
        Some(ProbePlace::At(block, position - parts as isize))
    }

    pub(crate) fn of_stmt(&self, stmt: StmtId) -> Option<ProbePlace> {
        self.stmts.get(&stmt).map(|(block, position)| ProbePlace::At(*block, *position))
    }
}

/// The redundant probes of a function: their cells, each with the cells of which one is set if
/// control passed the probe.
pub(crate) fn redundant_probes(body: &Body, probes: &[Probe]) -> Vec<RedundantCell> {
    if probes.len() < 2 {
        return Vec::new();
    }
    let mut implied = Vec::new();
    // Of several probes at one place, one is enough.
    let mut first: IndexMap<&ProbePlace, &Probe> = IndexMap::new();
    for probe in probes {
        match first.entry(&probe.place) {
            Entry::Vacant(free) => _ = free.insert(probe),
            Entry::Occupied(mut taken) if probe.fixed && !taken.get().fixed => {
                _ = taken.insert(probe);
            }
            Entry::Occupied(_) => {}
        }
    }
    for probe in probes {
        let (first, Some(cell)) = (first[&probe.place], probe.removable()) else { continue };
        if first.cells != probe.cells {
            implied.push(RedundantCell { cell, of: first.cells.clone() });
        }
    }
    let probes: Vec<Probe> = first.into_values().cloned().collect();
    let flow = ProbeGraph::new(body, &probes);
    implied.extend(Followers::of(&flow).cells());
    implied
}

/// The redundant probes among those that set one of several cells: their cells with the cells that
/// imply them, and the first cell of each probe.
pub(crate) fn redundant_tables(
    body: &Body,
    tables: &[Probe],
    numbers: &FxHashMap<LocalId, LastDefinitions>,
) -> (Vec<RedundantCell>, Vec<u32>) {
    let flow = ProbeGraph::new(body, tables);
    let (mut implied, mut firsts) = (Vec::new(), FxHashMap::default());
    let mut by_place: IndexMap<&ProbePlace, Vec<usize>> = IndexMap::new();
    for (index, table) in tables.iter().enumerate() {
        by_place.entry(&table.place).or_default().push(index);
    }
    let says = |from: usize, to: usize| {
        let (from, to) = (tables[from].chooser.as_ref()?, tables[to].chooser.as_ref()?);
        from.says(to).or_else(|| from.says_by_numbers(to, &flow.cfg, body, numbers))
    };
    let first = |table: usize| Some(tables[table].chooser.as_ref()?.number?.1);
    // Of several probes at one place, those that are kept determine the others.
    for all in by_place.values() {
        for table in all {
            let Some(own) = first(*table) else { continue };
            let mut others = all.iter().filter(|other| !firsts.contains_key(*other));
            let follows = others.find_map(|other| says(*other, *table).filter(|_| other != table));
            if let Some(follows) = follows {
                implied.extend(follows);
                firsts.insert(*table, own);
            }
        }
    }
    for (table, probe) in tables.iter().enumerate() {
        let Some(own) = first(table).filter(|_| !firsts.contains_key(&table)) else { continue };
        let speaks =
            |other: usize| tables[other].place != probe.place && says(other, table).is_some();
        let Some(witnesses) = flow.witnesses(table, &speaks) else { continue };
        implied.extend(witnesses.into_iter().filter_map(|other| says(other, table)).flatten());
        firsts.insert(table, own);
    }
    let mut firsts: Vec<u32> = firsts.into_values().collect();
    firsts.sort_unstable();
    (implied, firsts)
}

/// A function's control flow with its probes.
struct ProbeGraph<'a> {
    body: &'a Body,
    probes: &'a [Probe],
    cfg: Cfg,
    at_edge: FxHashMap<Edge, Vec<usize>>,
    /// The probes on edges that set one of several cells.
    fixed: FxHashMap<Edge, Vec<usize>>,
    /// The probes in a block, in their order.
    inside: FxHashMap<BlockId, Vec<(isize, usize)>>,
    accesses: Accesses<'a>,
}

impl<'a> ProbeGraph<'a> {
    fn new(body: &'a Body, probes: &'a [Probe]) -> Self {
        let cfg = Cfg::new(body);
        let (mut at_edge, mut fixed) =
            (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        let mut inside = FxHashMap::<_, Vec<_>>::default();
        for (index, probe) in probes.iter().enumerate() {
            match &probe.place {
                ProbePlace::Edges(edges) => {
                    for edge in edges {
                        at_edge.entry(*edge).or_default().push(index);
                        if probe.fixed {
                            fixed.entry(*edge).or_default().push(index);
                        }
                    }
                }
                ProbePlace::At(block, position) => {
                    inside.entry(*block).or_default().push((*position, index));
                }
            }
        }
        inside.values_mut().for_each(|probes| probes.sort_unstable());
        let accesses = Accesses::new(body, &cfg);
        Self { body, probes, cfg, at_edge, fixed, inside, accesses }
    }

    /// The witnesses of a probe, among the probes that `speaks` accepts: one of them is passed
    /// after each pass of the probe, and none without it. `None` if there are no such probes.
    fn witnesses(&self, probe: usize, speaks: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut search = ForwardSearch {
            flow: self,
            speaks,
            open: FxHashSet::default(),
            done: FxHashSet::default(),
            found: Vec::new(),
        };
        match &self.probes[probe].place {
            ProbePlace::Edges(edges) => {
                for edge in edges {
                    let mut on_edge = self.fixed.get(edge).into_iter().flatten().copied();
                    let is_witness = |other: &usize| {
                        *other != probe && self.is_within(*other, edges) && speaks(*other)
                    };
                    match on_edge.find(is_witness) {
                        Some(witness) => search.find(witness),
                        None => search.block(self.cfg.target(*edge)?)?,
                    }
                }
                if edges.is_empty() {
                    return None;
                }
            }
            ProbePlace::At(block, position) => {
                search.open.insert(*block);
                search.rest(*block, *position)?;
            }
        }
        let found = search.found;
        let avoiding = self.reached_without(probe);
        let is_behind = |witness: &usize| self.is_behind(*witness, probe, &avoiding);
        (!found.is_empty() && found.iter().all(is_behind)).then_some(found)
    }

    /// Whether control surely comes from the start of a block to a probe.
    fn leads_to(&self, block: BlockId, probe: usize) -> bool {
        let mut search = ForwardSearch {
            flow: self,
            speaks: &|other| other == probe,
            open: FxHashSet::default(),
            done: FxHashSet::default(),
            found: Vec::new(),
        };
        search.block(block).is_some() && search.found == [probe]
    }

    /// Whether control surely continues after the statements of a block between two positions and,
    /// at the end of the block, after its terminator.
    fn goes_on(&self, block: BlockId, from: isize, until: isize) -> bool {
        let ProbeGraph { body, accesses, .. } = self;
        let found = &body.blocks[block];
        let first = from.max(0) as usize;
        let mut facts = accesses.before(block, first);
        for (_, stmt) in (0..).zip(&found.stmts).skip(first).take_while(|(at, _)| *at < until) {
            if !goes_on_after(self, &facts, *stmt) {
                return false;
            }
            accesses.pass(*stmt, &mut facts);
        }
        let operand = found.term.operand().filter(|_| until > found.stmts.len() as isize);
        operand.is_none_or(|operand| has_value(self, &facts, operand))
    }

    /// Whether all edges of a probe are among these edges.
    fn is_within(&self, probe: usize, edges: &[Edge]) -> bool {
        match &self.probes[probe].place {
            ProbePlace::Edges(own) => own.iter().all(|edge| edges.contains(edge)),
            ProbePlace::At(..) => false,
        }
    }

    /// Whether one probe is passed only after another. `avoiding` are the blocks that are reachable
    /// without the other probe.
    fn is_behind(&self, witness: usize, probe: usize, avoiding: &[bool]) -> bool {
        match (&self.probes[witness].place, &self.probes[probe].place) {
            _ if witness == probe => false,
            (_, ProbePlace::Edges(edges)) if self.is_within(witness, edges) => true,
            (ProbePlace::Edges(edges), _) => edges.iter().all(|edge| !avoiding[edge.from.index()]),
            (ProbePlace::At(block, late), ProbePlace::At(own, early)) if block == own => {
                early < late
            }
            (ProbePlace::At(block, _), _) => !avoiding[block.index()],
        }
    }

    /// The blocks that are reachable from the entry without passing a probe. The probe's own block
    /// is not one of them: the rest of the block and its edges come after the probe.
    fn reached_without(&self, probe: usize) -> Vec<bool> {
        let mut reached = vec![false; self.body.blocks.len()];
        let place = &self.probes[probe].place;
        let is_own = |block| matches!(place, ProbePlace::At(own, _) if *own == block);
        let mut work = vec![self.body.entry];
        while let Some(block) = work.pop() {
            if is_own(block) || std::mem::replace(&mut reached[block.index()], true) {
                continue;
            }
            for (way, to) in (0..).zip(self.cfg.successors(block)) {
                let edge = Edge { from: block, way };
                if !matches!(place, ProbePlace::Edges(edges) if edges.contains(&edge)) {
                    work.push(*to);
                }
            }
        }
        reached
    }
}

/// A search forward from a probe for its witnesses.
struct ForwardSearch<'f> {
    flow: &'f ProbeGraph<'f>,
    /// Whether a probe may be a witness.
    speaks: &'f dyn Fn(usize) -> bool,
    open: FxHashSet<BlockId>,
    done: FxHashSet<BlockId>,
    found: Vec<usize>,
}

impl ForwardSearch<'_> {
    /// Enters a block. `None` if some way may end without a witness.
    fn block(&mut self, block: BlockId) -> Option<()> {
        if self.done.contains(&block) {
            return Some(());
        }
        if self.open.len() + self.done.len() > REACH || !self.open.insert(block) {
            return None;
        }
        self.rest(block, -2)
    }

    /// Continues in a block after a position and the probes there.
    fn rest(&mut self, block: BlockId, from: isize) -> Option<()> {
        let flow = self.flow;
        let body = flow.body;
        let found = &body.blocks[block];
        let here = flow.inside.get(&block).map_or(&[][..], Vec::as_slice);
        let next = here.iter().find(|(position, index)| *position > from && (self.speaks)(*index));
        let until = next.map_or(isize::MAX, |(position, _)| *position);
        if !flow.goes_on(block, from, until) {
            return None;
        }
        if let Some((_, witness)) = next {
            self.find(*witness);
            return self.close(block);
        }
        match &found.term {
            Terminator::Return(_) | Terminator::Trap(_) => return None,
            _ => {}
        }
        for (way, to) in (0..).zip(flow.cfg.successors(block)) {
            let on_edge = flow.at_edge.get(&Edge { from: block, way });
            match on_edge.into_iter().flatten().find(|index| (self.speaks)(**index)) {
                Some(witness) => self.find(*witness),
                None => self.block(*to)?,
            }
        }
        self.close(block)
    }

    fn find(&mut self, witness: usize) {
        if !self.found.contains(&witness) {
            self.found.push(witness);
        }
    }

    fn close(&mut self, block: BlockId) -> Option<()> {
        self.open.remove(&block);
        self.done.insert(block);
        Some(())
    }
}

/// Whether control surely continues after a statement. `facts` are the accesses that cannot trap.
fn goes_on_after(flow: &ProbeGraph<'_>, facts: &FactSet, stmt: StmtId) -> bool {
    let ProbeGraph { body, accesses, .. } = flow;
    let stmt = &body.stmts[stmt];
    let is_variable = |addr: &ExprId| is_in_variable(body, *addr);
    let mut goes_on = match stmt {
        Stmt::Mark(_)
        | Stmt::Assign { .. }
        | Stmt::Enter(_)
        | Stmt::Leave(_)
        | Stmt::VaArg { .. }
        | Stmt::Release { .. } => true,
        Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } => {
            accesses.goes_well(facts, *addr, AccessKind::Write)
        }
        Stmt::Zero { dst, .. } => is_variable(dst),
        Stmt::Copy { dst, src, .. } => is_variable(dst) && is_variable(src),
        Stmt::Call { .. } | Stmt::Alloca { .. } | Stmt::VaStart { .. } | Stmt::Havoc(_) => false,
    };
    stmt.for_each_expr(|expr| goes_on = goes_on && has_value(flow, facts, expr));
    goes_on
}

/// Whether the evaluation of an expression surely ends with a value.
fn has_value(flow: &ProbeGraph<'_>, facts: &FactSet, expr: ExprId) -> bool {
    let ProbeGraph { body, accesses, .. } = flow;
    let read = |addr: ExprId| accesses.goes_well(facts, addr, AccessKind::Read);
    let mut all = true;
    for_each_part(body, expr, &mut |part| {
        all &= match part {
            Expr::Load { addr, volatile, .. } => !volatile && read(*addr),
            Expr::LoadBits { addr, .. } => read(*addr),
            Expr::Binary(BinOp::DivU | BinOp::RemU, _, b) => {
                matches!(body.exprs[*b], Expr::Const(_, value) if value != 0)
            }
            Expr::Binary(BinOp::DivS | BinOp::RemS, _, b) => {
                // -1 has all bits of its width; a small constant is neither that nor zero.
                matches!(body.exprs[*b], Expr::Const(_, value) if (1..0x80).contains(&value))
            }
            _ => true,
        };
    });
    all
}
