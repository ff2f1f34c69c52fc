//! Records that follow from others, and so are left out.
//!
//! Where control cannot but come from one record to others, and to those only by way of the first,
//! these say all that the first would (Agrawal, "Dominators, super blocks, and program coverage",
//! without its post-dominators: the end of a run must not hide what was passed before). In
//! `if (a) if (b) ...` an outcome of `b` says that `a` was true.
//!
//! A record is left out where from its place every way leads to records ("witnesses")
//! - before the function is left, a call is made, a cycle begins, or memory is accessed that
//!   was not accessed before, so that no end of the run comes between: what waits is not lost by
//!   a crash either; and
//! - that cannot be reached from the function's entry but through its place.
//!
//! What is left out may be a witness itself: places precede their witnesses, which orders them.
//!
//! Where a record sets one of several cells, as a use does whose definition is known at run time
//! only, it cannot be left out, and speaks for others too that surely follow it and that
//! cannot be met without it.

use indexmap::IndexMap;
use indexmap::map::Entry;
use lydian_base::{EntityId, Span};
use lydian_ir::cfg::{Cfg, Dominators, Loops};
use lydian_ir::stmt::{Edge, Terminator};
use lydian_ir::{
    BinOp, BlockId, Body, ConditionId, DecisionId, Expr, ExprId, LocalId, LocalKind, MarkId, Stmt,
    StmtId,
};
use lydian_objective::dataflow::UseSite;
use rustc_hash::{FxHashMap, FxHashSet};

use super::dataflow::TablePlace;
use super::{Action, WatchedFunction};
use crate::plan::{Implied, Plan};

/// Blocks that a search for witnesses enters at most.
const REACH: usize = 64;

impl WatchedFunction {
    /// Finds the records that follow from others, where no edit of theirs was refused.
    pub(super) fn leave_out(
        &mut self,
        body: &Body,
        number: u32,
        refused: &[Action],
        plan: &mut Plan,
    ) {
        let mut lost: FxHashSet<u32> = FxHashSet::default();
        let mut lost_decisions: FxHashSet<usize> = FxHashSet::default();
        let mut lost_units: FxHashSet<Span> = FxHashSet::default();
        for action in refused {
            match action {
                Action::Decision { function, index }
                | Action::Condition { function, index, .. }
                    if *function == number =>
                {
                    lost_decisions.insert(*index);
                }
                Action::Start { function, cell: Some(cell), .. }
                | Action::Mark { function, cell: Some(cell), .. }
                    if *function == number =>
                {
                    lost.insert(*cell);
                }
                Action::Unit { function, span } if *function == number => {
                    lost_units.insert(*span);
                }
                _ => {}
            }
        }
        let mut records = Vec::new();
        if let Some(cell) = self.entry.filter(|cell| !lost.contains(cell)) {
            records.push(Record::at(Place::At(body.entry, -1), cell));
        }
        let places = Places::new(body);
        for (mark, cell) in self.marks.iter().filter(|(_, cell)| !lost.contains(cell)) {
            let place = places.of_mark(*mark);
            records.extend(place.map(|place| Record::at(place, *cell)));
        }
        for used in self.flow.cells.iter().filter(|used| !lost_units.contains(&used.around)) {
            let place = places.of_use(body, used.at);
            records.extend(place.map(|place| Record::at(place, used.cell)));
        }
        for table in &self.flow.tables {
            if let TablePlace::Before { around, at } = table.place
                && !lost_units.contains(&around)
                && let Some(place) = places.of_use(body, at)
            {
                records.push(Record { place, cells: vec![table.cells], fixed: true });
            }
        }
        let edges = Ends::new(body);
        let decisions = self.decisions.iter().enumerate();
        for (_, edit) in decisions.filter(|(index, _)| !lost_decisions.contains(index)) {
            records.extend(edit.edge_records(&edges));
        }
        let implied = implied(body, &records);
        self.left_out = implied.iter().map(|implied| implied.cell).collect();
        self.decisions.iter_mut().for_each(|edit| edit.leave_out(&self.left_out));
        plan.implied.extend(implied);
    }
}

/// A record: passing its place sets one of its cells.
#[derive(Clone, Debug)]
pub(super) struct Record {
    place: Place,
    /// Its cells: the first of each row of them, and how many. More than one if their choice depends
    /// on more than the place.
    cells: Vec<(u32, u32)>,
    /// Whether it cannot be left out.
    fixed: bool,
}

impl Record {
    /// One that sets one of some cells on edges; none where there are no edges.
    pub(super) fn on(edges: Vec<Edge>, cells: (u32, u32)) -> Option<Self> {
        let (place, fixed) = (Place::Edges(edges.clone()), cells.1 > 1);
        (!edges.is_empty()).then_some(Self { place, cells: vec![cells], fixed })
    }

    /// The same for one that cannot be left out.
    pub(super) fn fixed_on(edges: Vec<Edge>, cells: Vec<(u32, u32)>) -> Option<Self> {
        let place = Place::Edges(edges.clone());
        (!edges.is_empty()).then_some(Self { place, cells, fixed: true })
    }

    /// One that sets a cell at a place.
    fn at(place: Place, cell: u32) -> Self {
        Self { place, cells: vec![(cell, 1)], fixed: false }
    }

    /// The cell, of a record that can be left out.
    fn removable(&self) -> Option<u32> {
        match self.cells[..] {
            [(cell, 1)] if !self.fixed => Some(cell),
            _ => None,
        }
    }
}

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// On any of these edges.
    Edges(Vec<Edge>),
    /// In a block, with one of its statements; -1 is before the first, and their number is with
    /// what ends the block.
    At(BlockId, isize),
}

/// Where the statements of a function stand.
struct Places {
    stmts: FxHashMap<StmtId, (BlockId, isize)>,
    /// Marks that stand at one place.
    marks: FxHashMap<MarkId, StmtId>,
}

impl Places {
    fn new(body: &Body) -> Self {
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

    fn of_mark(&self, mark: MarkId) -> Option<Place> {
        self.of_stmt(*self.marks.get(&mark)?)
    }

    /// The place of a use that is no condition's.
    fn of_use(&self, body: &Body, at: UseSite) -> Option<Place> {
        match at {
            UseSite::Stmt(stmt) => self.of_stmt(stmt),
            UseSite::Return(block) => {
                Some(Place::At(block, body.blocks[block].stmts.len() as isize))
            }
            UseSite::Condition(..) | UseSite::Switch(_) => None,
        }
    }

    fn of_stmt(&self, stmt: StmtId) -> Option<Place> {
        self.stmts.get(&stmt).map(|(block, position)| Place::At(*block, *position))
    }
}

/// The edges on which evaluations of decisions go.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Where a condition is false, and where it is true.
    ways: FxHashMap<(DecisionId, ConditionId), [Vec<Edge>; 2]>,
    /// Where a decision ends with false, and with true.
    outcomes: FxHashMap<DecisionId, [Vec<Edge>; 2]>,
}

impl Ends {
    fn new(body: &Body) -> Self {
        let mut this = Self::default();
        for (from, block) in body.blocks.iter() {
            let Terminator::Branch { origin: Some(origin), .. } = &block.term else { continue };
            let outcomes = [origin.then_outcome, origin.else_outcome];
            for ((way, outcome), value) in (0..).zip(outcomes).zip([true, false]) {
                let edge = Edge { from, way };
                let ways = this.ways.entry((origin.decision, origin.condition)).or_default();
                ways[usize::from(value)].push(edge);
                if let Some(outcome) = outcome {
                    let ends = this.outcomes.entry(origin.decision).or_default();
                    ends[usize::from(outcome)].push(edge);
                }
            }
        }
        this
    }

    /// The edges with which a decision's evaluation ends with an outcome.
    pub(super) fn of_outcome(&self, decision: DecisionId, outcome: bool) -> Vec<Edge> {
        self.outcomes.get(&decision).map_or(Vec::new(), |ends| ends[usize::from(outcome)].clone())
    }

    /// The edges that a condition's value takes.
    pub(super) fn of_condition(
        &self,
        decision: DecisionId,
        condition: ConditionId,
        value: bool,
    ) -> Vec<Edge> {
        let ways = self.ways.get(&(decision, condition));
        ways.map_or(Vec::new(), |ways| ways[usize::from(value)].clone())
    }
}

/// Which records of a function follow from others: those whose cells need not be set, with the cells
/// of which one is then set.
fn implied(body: &Body, records: &[Record]) -> Vec<Implied> {
    if records.len() < 2 {
        return Vec::new();
    }
    let mut implied = Vec::new();
    // Of those at one place, one says what all do.
    let mut first: IndexMap<&Place, &Record> = IndexMap::new();
    for record in records {
        match first.entry(&record.place) {
            Entry::Vacant(free) => _ = free.insert(record),
            Entry::Occupied(mut taken) if record.fixed && !taken.get().fixed => {
                _ = taken.insert(record);
            }
            Entry::Occupied(_) => {}
        }
    }
    for record in records {
        let (first, Some(cell)) = (first[&record.place], record.removable()) else { continue };
        if first.cells != record.cells {
            implied.push(Implied { cell, of: first.cells.clone() });
        }
    }
    let records: Vec<Record> = first.into_values().cloned().collect();
    let flow = Flow::new(body, &records);
    implied.extend(records.iter().enumerate().filter_map(|(index, record)| {
        let cell = record.removable()?;
        let witnesses = flow.sources(index).or_else(|| flow.witnesses(index))?;
        let of = witnesses.into_iter().flat_map(|witness| records[witness].cells.clone());
        Some(Implied { cell, of: of.collect() })
    }));
    implied
}

/// A function's control flow with its records.
struct Flow<'a> {
    body: &'a Body,
    records: &'a [Record],
    cfg: Cfg,
    dominators: Dominators,
    at_edge: FxHashMap<Edge, usize>,
    /// Those on edges that cannot be left out.
    fixed: FxHashMap<Edge, usize>,
    /// The records in a block, in their order.
    inside: FxHashMap<BlockId, Vec<(isize, usize)>>,
    accesses: Accesses,
}

impl<'a> Flow<'a> {
    fn new(body: &'a Body, records: &'a [Record]) -> Self {
        let cfg = Cfg::new(body);
        let dominators = Dominators::new(&cfg);
        let (mut at_edge, mut inside) = (FxHashMap::default(), FxHashMap::<_, Vec<_>>::default());
        let mut fixed = FxHashMap::default();
        for (index, record) in records.iter().enumerate() {
            match &record.place {
                // Of those on one edge, the first is looked for.
                Place::Edges(edges) => {
                    edges.iter().for_each(|edge| _ = at_edge.entry(*edge).or_insert(index));
                    if record.fixed {
                        edges.iter().for_each(|edge| _ = fixed.entry(*edge).or_insert(index));
                    }
                }
                Place::At(block, position) => {
                    inside.entry(*block).or_default().push((*position, index));
                }
            }
        }
        inside.values_mut().for_each(|records| records.sort_unstable());
        let accesses = Accesses::new(body, &cfg, &dominators);
        Self { body, records, cfg, dominators, at_edge, fixed, inside, accesses }
    }

    /// The records of which one is met after each passage of this one, and none without it.
    fn witnesses(&self, record: usize) -> Option<Vec<usize>> {
        let mut search = Search {
            flow: self,
            from: Vec::new(),
            open: FxHashSet::default(),
            done: FxHashSet::default(),
            found: Vec::new(),
        };
        match &self.records[record].place {
            Place::Edges(edges) => {
                search.from = edges.iter().map(|edge| (edge.from, isize::MAX)).collect();
                for edge in edges {
                    match self.fixed.get(edge).filter(|witness| self.is_within(**witness, edges)) {
                        Some(witness) => search.find(*witness),
                        None => search.block(self.cfg.target(*edge)?)?,
                    }
                }
                if edges.is_empty() {
                    return None;
                }
            }
            Place::At(block, position) => {
                search.from = vec![(*block, *position)];
                search.open.insert(*block);
                search.rest(*block, *position)?;
            }
        }
        let found = search.found;
        let avoiding = self.reached_without(record);
        let is_behind = |witness: &usize| self.is_behind(*witness, record, &avoiding);
        (!found.is_empty() && found.iter().all(is_behind)).then_some(found)
    }

    /// Whether a record stands on none but these edges.
    fn is_within(&self, record: usize, edges: &[Edge]) -> bool {
        match &self.records[record].place {
            Place::Edges(own) => own.iter().all(|edge| edges.contains(edge)),
            Place::At(..) => false,
        }
    }

    /// The records, none of which can be left out, that a record in a block surely follows, and of
    /// which one is met before each passage of it.
    fn sources(&self, record: usize) -> Option<Vec<usize>> {
        let Place::At(block, position) = self.records[record].place else { return None };
        let mut way = Way { flow: self, found: Vec::new(), edges: Vec::new(), between: Vec::new() };
        way.back(block, position)?;
        if !way.found.iter().all(|source| self.is_within(*source, &way.edges)) {
            return None;
        }
        let from = way.edges.iter().map(|edge| (edge.from, isize::MAX)).collect();
        let (open, done) = (FxHashSet::default(), FxHashSet::default());
        let search = Search { flow: self, from, open, done, found: Vec::new() };
        let goes_on = way.between.iter().all(|stmt| search.goes_on_after(*stmt));
        goes_on.then_some(way.found)
    }

    /// Whether one record is met only after another, without which these blocks are reached.
    fn is_behind(&self, witness: usize, record: usize, avoiding: &[bool]) -> bool {
        match (&self.records[witness].place, &self.records[record].place) {
            _ if witness == record => false,
            (_, Place::Edges(edges)) if self.is_within(witness, edges) => true,
            (Place::Edges(edges), _) => edges.iter().all(|edge| !avoiding[edge.from.index()]),
            (Place::At(block, late), Place::At(own, early)) if block == own => early < late,
            (Place::At(block, _), _) => !avoiding[block.index()],
        }
    }

    /// The blocks that are reached from the entry without passing a record. The block in which it
    /// stands is none of them: what follows in it, edges too, comes after the record.
    fn reached_without(&self, record: usize) -> Vec<bool> {
        let mut reached = vec![false; self.body.blocks.len()];
        let place = &self.records[record].place;
        let is_own = |block| matches!(place, Place::At(own, _) if *own == block);
        let mut work = vec![self.body.entry];
        while let Some(block) = work.pop() {
            if is_own(block) || std::mem::replace(&mut reached[block.index()], true) {
                continue;
            }
            for (way, to) in (0..).zip(self.cfg.successors(block)) {
                let edge = Edge { from: block, way };
                if !matches!(place, Place::Edges(edges) if edges.contains(&edge)) {
                    work.push(*to);
                }
            }
        }
        reached
    }
}

/// What lies on the ways that lead to a record from others, without a choice in between. The others
/// stand on edges: what is recorded before an expression may be followed by a trap in it.
struct Way<'f> {
    flow: &'f Flow<'f>,
    /// The others.
    found: Vec<usize>,
    /// The edges that were gone back.
    edges: Vec<Edge>,
    /// The statements in between.
    between: Vec<StmtId>,
}

/// Statements that a search backward passes at most.
const BEFORE: usize = 64;

impl Way<'_> {
    /// Goes back in a block from a position. `None` if some way has no record that stays.
    fn back(&mut self, block: BlockId, from: isize) -> Option<()> {
        let flow = self.flow;
        let between = (0..).zip(&flow.body.blocks[block].stmts).filter(|(at, _)| *at < from);
        self.between.extend(between.map(|(_, stmt)| *stmt));
        if block == flow.body.entry || self.between.len() > BEFORE {
            return None;
        }
        for edge in flow.cfg.predecessors(block) {
            if self.edges.contains(edge) || self.edges.len() > REACH {
                return None;
            }
            self.edges.push(*edge);
            let source = flow.fixed.get(edge);
            match source {
                Some(source) => self.found.push(*source),
                None if flow.cfg.successors(edge.from).len() == 1 => {
                    self.back(edge.from, isize::MAX)?;
                }
                None => return None,
            }
        }
        (!self.found.is_empty()).then_some(())
    }
}

/// A search forward from a record.
struct Search<'f> {
    flow: &'f Flow<'f>,
    /// The blocks in which the record stands, and where in them: what lies before, and in blocks that
    /// dominate them, has been executed.
    from: Vec<(BlockId, isize)>,
    open: FxHashSet<BlockId>,
    done: FxHashSet<BlockId>,
    found: Vec<usize>,
}

impl Search<'_> {
    /// Goes on into a block. `None` if some way may end without a witness.
    fn block(&mut self, block: BlockId) -> Option<()> {
        if self.done.contains(&block) {
            return Some(());
        }
        if self.open.len() + self.done.len() > REACH || !self.open.insert(block) {
            return None;
        }
        self.rest(block, -2)
    }

    /// Goes on in a block from a statement, behind the records there.
    fn rest(&mut self, block: BlockId, from: isize) -> Option<()> {
        let flow = self.flow;
        let body = flow.body;
        let found = &body.blocks[block];
        let here = flow.inside.get(&block).map_or(&[][..], Vec::as_slice);
        let next = here.iter().find(|(position, _)| *position > from);
        let until = next.map_or(isize::MAX, |(position, _)| *position);
        for (position, stmt) in (0..).zip(&found.stmts).filter(|(position, _)| *position >= from) {
            if position >= until {
                break;
            }
            if !self.goes_on_after(*stmt) {
                return None;
            }
        }
        if let Some((_, witness)) = next {
            self.find(*witness);
            return self.close(block);
        }
        match &found.term {
            Terminator::Return(_) | Terminator::Trap(_) => return None,
            term if term.operand().is_some_and(|operand| !self.has_value(operand)) => return None,
            _ => {}
        }
        for (way, to) in (0..).zip(flow.cfg.successors(block)) {
            match flow.at_edge.get(&Edge { from: block, way }) {
                Some(witness) => self.find(*witness),
                None => self.block(*to)?,
            }
        }
        self.close(block)
    }

    /// Whether control surely goes on after a statement.
    fn goes_on_after(&self, stmt: StmtId) -> bool {
        let body = self.flow.body;
        let stmt = &body.stmts[stmt];
        let is_variable = |addr: &ExprId| matches!(root(body, *addr), Root::Variable);
        let mut goes_on = match stmt {
            Stmt::Mark(_)
            | Stmt::Assign { .. }
            | Stmt::Enter(_)
            | Stmt::Leave(_)
            | Stmt::Release { .. } => true,
            Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } => {
                self.is_accessed_before(&self.flow.accesses.written, *addr)
            }
            Stmt::Zero { dst, .. } => is_variable(dst),
            Stmt::Copy { dst, src, .. } => is_variable(dst) && is_variable(src),
            Stmt::Call { .. } | Stmt::Alloca { .. } | Stmt::VaStart { .. } | Stmt::Havoc(_) => {
                false
            }
        };
        stmt.for_each_expr(|expr| goes_on = goes_on && self.has_value(expr));
        goes_on
    }

    /// Whether the evaluation of an expression surely ends with a value.
    fn has_value(&self, expr: ExprId) -> bool {
        let body = self.flow.body;
        let read = |addr: ExprId| self.is_accessed_before(&self.flow.accesses.read, addr);
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

    /// Whether memory near an address was accessed before the record, or is a variable's.
    fn is_accessed_before(&self, accesses: &ByRegister, addr: ExprId) -> bool {
        let Flow { body, dominators, accesses: Accesses { stable, .. }, .. } = self.flow;
        match root(body, addr) {
            Root::Variable => true,
            Root::Unknown => false,
            Root::Register(local) => {
                let known = accesses.get(&local).map_or(&[][..], Vec::as_slice);
                let is_known = |(block, position): &(BlockId, isize)| {
                    known.iter().any(|(other, at)| match other == block {
                        true => at < position,
                        false => dominators.dominates(*other, *block),
                    })
                };
                stable.contains(&local) && self.from.iter().all(is_known)
            }
        }
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

/// What a function accesses through addresses that registers hold: an access near one that went well
/// goes well.
struct Accesses {
    /// The registers that keep their value once they have one.
    stable: FxHashSet<LocalId>,
    read: ByRegister,
    written: ByRegister,
}

/// Where memory near the address that a register holds is accessed: blocks, and positions in them.
type ByRegister = FxHashMap<LocalId, Vec<(BlockId, isize)>>;

/// Bytes on each side of an address that lie on pages which exist with it, for all that matters: a
/// struct's members.
const NEAR: i128 = 4096;

/// What an address is.
enum Root {
    /// Inside a variable, or near one.
    Variable,
    /// Near what a register points to.
    Register(LocalId),
    /// Anything.
    Unknown,
}

impl Accesses {
    fn new(body: &Body, cfg: &Cfg, dominators: &Dominators) -> Self {
        let loops = Loops::new(cfg, dominators);
        let mut assigned: FxHashMap<LocalId, u32> = FxHashMap::default();
        let (mut read, mut written) = (ByRegister::default(), ByRegister::default());
        let note = |accesses: &mut ByRegister, addr: ExprId, at: (BlockId, isize)| {
            if let Root::Register(local) = root(body, addr) {
                accesses.entry(local).or_default().push(at);
            }
        };
        let mut loads = |expr: ExprId, at: (BlockId, isize)| {
            for_each_part(body, expr, &mut |part| {
                if let Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } = part {
                    note(&mut read, *addr, at);
                }
            });
        };
        for block in cfg.reverse_postorder() {
            let again = loops.irreducible || loops.innermost(*block).is_some();
            let weight = if again { 2 } else { 1 };
            let found = &body.blocks[*block];
            for (position, stmt) in (0..).zip(&found.stmts) {
                let at = (*block, position);
                match &body.stmts[*stmt] {
                    Stmt::Assign { dst, .. } | Stmt::Alloca { dst, .. } => {
                        *assigned.entry(*dst).or_default() += weight;
                    }
                    Stmt::Call { dst: Some(dst), .. } => {
                        *assigned.entry(*dst).or_default() += weight;
                    }
                    Stmt::Release { pointer } => *assigned.entry(*pointer).or_default() += 2,
                    Stmt::Havoc(havoc) => {
                        havoc.registers.iter().for_each(|r| *assigned.entry(*r).or_default() += 2);
                    }
                    Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } => {
                        note(&mut written, *addr, at);
                    }
                    _ => {}
                }
                body.stmts[*stmt].for_each_expr(|expr| loads(expr, at));
            }
            if let Some(operand) = found.term.operand() {
                loads(operand, (*block, found.stmts.len() as isize));
            }
        }
        let is_stable = |id: &LocalId| {
            let given = u32::from(body.locals[*id].kind == LocalKind::Param);
            assigned.get(id).copied().unwrap_or(0) + given <= 1
        };
        Self { stable: body.locals.ids().filter(is_stable).collect(), read, written }
    }
}

/// Calls `visit` with an expression and all that it is made of.
fn for_each_part<'b>(body: &'b Body, expr: ExprId, visit: &mut impl FnMut(&'b Expr)) {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        let expr = &body.exprs[expr];
        visit(expr);
        expr.for_each_operand(|operand| work.push(operand));
    }
}

/// What an address is: only what is at a small constant distance from a base is near it.
fn root(body: &Body, mut addr: ExprId) -> Root {
    let mut distance: i128 = 0;
    loop {
        match &body.exprs[addr] {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) => break Root::Variable,
            Expr::Local(local) => break Root::Register(*local),
            Expr::Field { base, .. } => addr = *base,
            Expr::Index { base, index, size, bound } => {
                let Expr::Const(_, index) = body.exprs[*index] else { break Root::Unknown };
                let offset = i128::from(index as i64) * i128::from(*size);
                if bound.is_none() {
                    distance += offset;
                }
                if distance.abs() > NEAR {
                    break Root::Unknown;
                }
                addr = *base;
            }
            _ => break Root::Unknown,
        }
    }
}
