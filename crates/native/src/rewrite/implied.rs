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
//! only, it speaks for others too that surely follow it and that cannot be met without it. It is left
//! out itself where its witnesses are such records whose choice of a cell says what its own would
//! be ([`Chooser`]): after `for (i = 0, p = a; ...; i++, p++)`, which definition of `i` a use meets
//! says which one of `p` another does, and the edge by which control came to the loop's head says both.
//! What one of these follows from is one of these, so that nothing follows from itself.

use indexmap::IndexMap;
use indexmap::map::Entry;
use lydian_base::{EntityId, Span};
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::{Edge, Terminator};
use lydian_ir::{
    BinOp, BlockId, Body, ConditionId, DecisionId, Expr, ExprId, LocalId, MarkId, Program, Stmt,
    StmtId,
};
use lydian_objective::dataflow::UseSite;
use rustc_hash::{FxHashMap, FxHashSet};

use super::accesses::{Accesses, Facts, Kind, for_each_part, is_in_variable};
use super::dataflow::{NumberSet, TablePlace};
use super::numbers::{Number, Numbers};
use super::paths::{self, WayOn};
use super::switches::SwitchEdit;
use super::{Action, WatchedFunction};
use crate::plan::{Implied, Plan};

/// Blocks that a search for witnesses enters at most.
const REACH: usize = 64;

impl WatchedFunction {
    /// Finds the records that follow from others, where no edit of theirs was refused.
    pub(super) fn leave_out(
        &mut self,
        (program, body): (&Program, &Body),
        number: u32,
        refused: &[Action],
        plan: &mut Plan,
    ) {
        let mut lost: FxHashSet<u32> = FxHashSet::default();
        let mut lost_decisions: FxHashSet<usize> = FxHashSet::default();
        let mut lost_switches: FxHashSet<BlockId> = FxHashSet::default();
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
                Action::Switch { function, index } if *function == number => {
                    lost_switches.insert(self.switches[*index].block);
                }
                Action::Unit { function, span } if *function == number => {
                    lost_units.insert(*span);
                }
                _ => {}
            }
        }
        let places = Places::new(body);
        let edges = Ends::new(body);
        let tables = self.tables(
            (program, body),
            &places,
            &edges,
            (&lost_units, &lost_decisions, &lost_switches),
        );
        let (follow, firsts) = tables_implied(body, &tables);
        self.left_out.extend(firsts);
        plan.implied.extend(follow);
        let mut records = tables;
        if let Some(cell) = self.entry.filter(|cell| !lost.contains(cell)) {
            records.push(Record::at(Place::At(body.entry, -1), cell));
        }
        for (mark, cell) in self.marks.iter().filter(|(_, cell)| !lost.contains(cell)) {
            let place = places.of_mark(*mark);
            records.extend(place.map(|place| Record::at(place, *cell)));
        }
        for used in self.flow.cells.iter().filter(|used| !lost_units.contains(&used.around)) {
            let place = places.of_use(body, used.at, used.around);
            records.extend(place.map(|place| Record::at(place, used.cell)));
        }
        let decisions = self.decisions.iter().enumerate();
        for (_, edit) in decisions.filter(|(index, _)| !lost_decisions.contains(index)) {
            records.extend(edit.edge_records(&edges));
        }
        let switches = self.switches.iter().filter(|edit| !lost_switches.contains(&edit.block));
        records.extend(switches.flat_map(SwitchEdit::edge_records));
        let implied = implied(body, &records);
        self.left_out.extend(implied.iter().map(|implied| implied.cell));
        self.decisions.iter_mut().for_each(|edit| edit.leave_out(&self.left_out));
        plan.implied.extend(implied);
    }

    /// The records that set one of several cells, on ways of conditions and before statements.
    fn tables(
        &self,
        (program, body): (&Program, &Body),
        places: &Places,
        edges: &Ends,
        (lost_units, lost_decisions, lost_switches): (
            &FxHashSet<Span>,
            &FxHashSet<usize>,
            &FxHashSet<BlockId>,
        ),
    ) -> Vec<Record> {
        let cfg = Cfg::new(body);
        // Where statements have copies or control can return to a `setjmp`, it is not followed what
        // was executed last.
        let follows = body.source.copies.is_empty() && !paths::returns_twice(program, body);
        let place = |stmt| places.stmts.get(&stmt).copied();
        let sets = self.flow.numbers.iter().filter(|_| follows);
        let numbers = |(local, (begin, sets)): (&LocalId, &(u32, Vec<NumberSet>))| {
            (*local, Numbers::new(body, &cfg, place, (*begin, sets)))
        };
        let numbers: FxHashMap<LocalId, Numbers> = sets.map(numbers).collect();
        let is_lost = |decision: DecisionId| {
            let mut all = self.decisions.iter().enumerate();
            let edit = all.find(|(_, edit)| edit.id == decision);
            edit.is_none_or(|(index, edit)| lost_decisions.contains(&index) || edit.keeps_value())
        };
        let has_edit = |block: BlockId| {
            !lost_switches.contains(&block) && self.switches.iter().any(|edit| edit.block == block)
        };
        let mut records = Vec::new();
        for table in &self.flow.tables {
            let place = match table.place {
                TablePlace::Before { around, at } if !lost_units.contains(&around) => {
                    places.of_use(body, at, around)
                }
                TablePlace::Way(decision, condition, value) if !is_lost(decision) => {
                    Place::on(edges.of_condition(decision, condition, value))
                }
                TablePlace::Out(edge) if has_edit(edge.from) => Some(Place::Edges(vec![edge])),
                TablePlace::Before { .. } | TablePlace::Way(..) | TablePlace::Out(_) => None,
            };
            let Some(place) = place else { continue };
            let chooser = table.local.and_then(|(local, read_at)| {
                let numbers = numbers.get(&local)?;
                let number = match read_at.map(|stmt| places.stmts.get(&stmt)) {
                    Some(at) => at.and_then(|(block, position)| numbers.before(*block, *position)),
                    None => place.position().and_then(|(block, at)| numbers.before(block, at)),
                };
                Chooser::of_number(&cfg, body, (local, numbers), number?, table.cells)
            });
            records.push(Record { place, cells: vec![table.cells], fixed: true, chooser });
        }
        for table in &self.paths.tables {
            let place = match table.way {
                WayOn::Condition((decision, condition), value) if !is_lost(decision) => {
                    Place::on(edges.of_condition(decision, condition, value))
                }
                WayOn::Out(edge) if has_edit(edge.from) => Some(Place::Edges(vec![edge])),
                WayOn::Condition(..) | WayOn::Out(_) => None,
            };
            let Some(place) = place else { continue };
            let by_origin =
                table.by_origin.as_ref().filter(|_| follows && place.position().is_some());
            let chooser =
                by_origin.map(|(head, cells)| Chooser::of_origin(&cfg, body, *head, cells));
            let cells = table.cells.iter().map(|cell| (*cell, 1)).collect();
            records.push(Record { place, cells, fixed: true, chooser });
        }
        records
    }
}

/// A record: passing its place sets one of its cells.
#[derive(Clone, Debug)]
pub(super) struct Record {
    place: Place,
    /// Its cells: the first of each row of them, and how many. More than one if their choice depends
    /// on more than the place.
    cells: Vec<(u32, u32)>,
    /// Whether it stays for all that records say which set one cell whatever the state is.
    fixed: bool,
    /// What chooses its cell, as far as that is known.
    chooser: Option<Chooser>,
}

/// What chooses the cell of a record that sets one of several: the edge by which control last entered
/// a block.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chooser {
    merged: BlockId,
    /// What each edge into the block chooses, in their order.
    by_edge: Vec<Chosen>,
    /// The local whose number it is, and the first of its cells.
    number: Option<(LocalId, u32)>,
    /// How many cells there are, if it is a number's.
    count: u32,
}

/// What an edge chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// A cell.
    Cell(u32),
    /// The one that was chosen before.
    Same,
    /// It is not known which.
    Unknown,
}

impl Implied {
    fn of_one(cell: u32, other: u32) -> Self {
        Self { cell, of: vec![(other, 1)] }
    }
}

impl Chooser {
    /// That of a use, whose cells are one for each number from 0 on. `None` if the number was not
    /// merged.
    fn of_number(
        cfg: &Cfg,
        body: &Body,
        (local, numbers): (LocalId, &Numbers),
        number: Number,
        (first, count): (u32, u32),
    ) -> Option<Self> {
        let Number::Merged(merged) = number else { return None };
        let chosen = |edge: &Edge| match numbers.at_end(edge.from) {
            Some(Number::Of(number)) => Chosen::Cell(first + number),
            Some(same) if same == number => Chosen::Same,
            Some(Number::Merged(_) | Number::After(_)) | None => Chosen::Unknown,
        };
        let edges = cfg.predecessors(merged).iter().map(chosen);
        let entry = (merged == body.entry).then_some(Chosen::Unknown);
        let by_edge = edges.chain(entry).collect();
        Some(Self { merged, by_edge, number: Some((local, first)), count })
    }

    /// That of a record in a node that begins with a block, by the blocks from which control comes.
    fn of_origin(cfg: &Cfg, body: &Body, head: BlockId, cells: &[(BlockId, u32)]) -> Self {
        let chosen = |edge: &Edge| {
            let found = cells.iter().find(|(from, _)| *from == edge.from);
            found.map_or(Chosen::Unknown, |(_, cell)| Chosen::Cell(*cell))
        };
        let edges = cfg.predecessors(head).iter().map(chosen);
        let entry = (head == body.entry).then_some(Chosen::Unknown);
        Self { merged: head, by_edge: edges.chain(entry).collect(), number: None, count: 0 }
    }

    /// Which cells of another record are set where this one sets which, if its choice says so: each
    /// with those of which one is set then.
    fn says(&self, other: &Self) -> Option<Vec<Implied>> {
        if self.merged != other.merged {
            return None;
        }
        if let (Some((local, first)), Some((same, theirs))) = (self.number, other.number)
            && local == same
        {
            let row = 0..self.count.min(other.count);
            return Some(row.map(|n| Implied::of_one(theirs + n, first + n)).collect());
        }
        let mut says: IndexMap<u32, u32> = IndexMap::new();
        for edges in self.by_edge.iter().zip(&other.by_edge) {
            match edges {
                (Chosen::Cell(own), Chosen::Cell(cell)) => {
                    if says.insert(*own, *cell).is_some_and(|before| before != *cell) {
                        return None;
                    }
                }
                (Chosen::Same, Chosen::Same) => {}
                _ => return None,
            }
        }
        Some(says.into_iter().map(|(own, cell)| Implied::of_one(cell, own)).collect())
    }
}

impl Record {
    /// One that sets one of some cells on edges; none where there are no edges.
    pub(super) fn on(edges: Vec<Edge>, cells: (u32, u32)) -> Option<Self> {
        let (place, fixed) = (Place::Edges(edges.clone()), cells.1 > 1);
        let cells = vec![cells];
        (!edges.is_empty()).then_some(Self { place, cells, fixed, chooser: None })
    }

    /// One that sets, on edges, a cell or one that lies beyond it by one of each of these choices.
    pub(super) fn on_one_of(edges: Vec<Edge>, cell: u32, choices: &[Vec<u32>]) -> Option<Self> {
        let mut cells = vec![(cell, 1)];
        for choice in choices {
            let beyond = choice.iter().flat_map(|by| cells.iter().map(move |(at, _)| (at + by, 1)));
            let beyond: Vec<_> = beyond.collect();
            cells.extend(beyond);
        }
        let fixed = cells.len() > 1;
        let place = Place::on(edges)?;
        Some(Self { place, cells, fixed, chooser: None })
    }

    /// One that sets a cell at a place.
    fn at(place: Place, cell: u32) -> Self {
        Self { place, cells: vec![(cell, 1)], fixed: false, chooser: None }
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

impl Place {
    /// On some edges; none where there are none.
    fn on(edges: Vec<Edge>) -> Option<Self> {
        (!edges.is_empty()).then_some(Self::Edges(edges))
    }

    /// The block and the position in it with which it is, if that is one.
    fn position(&self) -> Option<(BlockId, isize)> {
        match self {
            Self::Edges(edges) => match edges[..] {
                [edge] => Some((edge.from, isize::MAX)),
                _ => None,
            },
            Self::At(block, position) => Some((*block, *position)),
        }
    }
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

    /// The place where a use that is no condition's is recorded: before an expression of which no part
    /// is a choice or a call.
    fn of_use(&self, body: &Body, at: UseSite, around: Span) -> Option<Place> {
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
        Some(Place::At(block, position - parts as isize))
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
    /// Reads the branches of a body.
    pub(super) fn new(body: &Body) -> Self {
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
        let witnesses = flow.sources(index).or_else(|| flow.witnesses(index, &|_| true))?;
        let of = witnesses.into_iter().flat_map(|witness| records[witness].cells.clone());
        Some(Implied { cell, of: of.collect() })
    }));
    implied
}

/// Which records that set one of several cells follow from others of them: what their cells follow
/// from, and the first cell of each such record.
fn tables_implied(body: &Body, tables: &[Record]) -> (Vec<Implied>, Vec<u32>) {
    let flow = Flow::new(body, tables);
    let (mut implied, mut firsts) = (Vec::new(), FxHashMap::default());
    let mut by_place: IndexMap<&Place, Vec<usize>> = IndexMap::new();
    for (index, table) in tables.iter().enumerate() {
        by_place.entry(&table.place).or_default().push(index);
    }
    let says =
        |from: usize, to: usize| tables[from].chooser.as_ref()?.says(tables[to].chooser.as_ref()?);
    let first = |table: usize| Some(tables[table].chooser.as_ref()?.number?.1);
    // Of those at one place, those that stay say what the others would.
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
    for (table, record) in tables.iter().enumerate() {
        let Some(own) = first(table).filter(|_| !firsts.contains_key(&table)) else { continue };
        let speaks =
            |other: usize| tables[other].place != record.place && says(other, table).is_some();
        let Some(witnesses) = flow.witnesses(table, &speaks) else { continue };
        implied.extend(witnesses.into_iter().filter_map(|other| says(other, table)).flatten());
        firsts.insert(table, own);
    }
    let mut firsts: Vec<u32> = firsts.into_values().collect();
    firsts.sort_unstable();
    (implied, firsts)
}

/// A function's control flow with its records.
struct Flow<'a> {
    body: &'a Body,
    records: &'a [Record],
    cfg: Cfg,
    at_edge: FxHashMap<Edge, Vec<usize>>,
    /// Those on edges that set one of several cells.
    fixed: FxHashMap<Edge, Vec<usize>>,
    /// The records in a block, in their order.
    inside: FxHashMap<BlockId, Vec<(isize, usize)>>,
    accesses: Accesses<'a>,
}

impl<'a> Flow<'a> {
    fn new(body: &'a Body, records: &'a [Record]) -> Self {
        let cfg = Cfg::new(body);
        let (mut at_edge, mut fixed) =
            (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        let mut inside = FxHashMap::<_, Vec<_>>::default();
        for (index, record) in records.iter().enumerate() {
            match &record.place {
                Place::Edges(edges) => {
                    for edge in edges {
                        at_edge.entry(*edge).or_default().push(index);
                        if record.fixed {
                            fixed.entry(*edge).or_default().push(index);
                        }
                    }
                }
                Place::At(block, position) => {
                    inside.entry(*block).or_default().push((*position, index));
                }
            }
        }
        inside.values_mut().for_each(|records| records.sort_unstable());
        let accesses = Accesses::new(body, &cfg);
        Self { body, records, cfg, at_edge, fixed, inside, accesses }
    }

    /// The records, among those that speak for this one, of which one is met after each passage of it,
    /// and none without it.
    fn witnesses(&self, record: usize, speaks: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut search = Search {
            flow: self,
            speaks,
            open: FxHashSet::default(),
            done: FxHashSet::default(),
            found: Vec::new(),
        };
        match &self.records[record].place {
            Place::Edges(edges) => {
                for edge in edges {
                    let mut on_edge = self.fixed.get(edge).into_iter().flatten().copied();
                    let is_witness = |other: &usize| {
                        *other != record && self.is_within(*other, edges) && speaks(*other)
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
            Place::At(block, position) => {
                search.open.insert(*block);
                search.rest(*block, *position)?;
            }
        }
        let found = search.found;
        let avoiding = self.reached_without(record);
        let is_behind = |witness: &usize| self.is_behind(*witness, record, &avoiding);
        (!found.is_empty() && found.iter().all(is_behind)).then_some(found)
    }

    /// Whether control surely goes on after statements of a block, from a position to another, and, if
    /// it comes to the end, after what ends it.
    fn goes_on(&self, block: BlockId, from: isize, until: isize) -> bool {
        let Flow { body, accesses, .. } = self;
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
        let mut way = Way::new(self);
        way.back(block, position)?;
        if !way.found.iter().all(|source| self.is_within(*source, &way.edges)) {
            return None;
        }
        let goes_on = way.between.iter().all(|(block, until)| self.goes_on(*block, 0, *until));
        way.found.extend(way.inside);
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
/// stand on edges, or in a block from where control surely goes on: what is recorded before an
/// expression may be followed by a trap in it.
struct Way<'f> {
    flow: &'f Flow<'f>,
    /// The others on edges.
    found: Vec<usize>,
    /// The others in blocks.
    inside: Vec<usize>,
    /// The edges that were gone back.
    edges: Vec<Edge>,
    /// Blocks in between, each with the position up to which it is.
    between: Vec<(BlockId, isize)>,
}

impl<'f> Way<'f> {
    const fn new(flow: &'f Flow<'f>) -> Self {
        Self { flow, found: Vec::new(), inside: Vec::new(), edges: Vec::new(), between: Vec::new() }
    }

    /// Goes back in a block from a position. `None` if some way has no record that stays.
    fn back(&mut self, block: BlockId, from: isize) -> Option<()> {
        let flow = self.flow;
        let here = flow.inside.get(&block).map_or(&[][..], Vec::as_slice);
        let mut before = here.iter().rev().filter(|(position, _)| *position < from);
        let stays = |(position, record): &&(isize, usize)| {
            flow.records[*record].fixed && flow.goes_on(block, *position, from)
        };
        if let Some((_, source)) = before.find(stays) {
            self.inside.push(*source);
            return Some(());
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
            let source = flow.fixed.get(edge).and_then(|all| all.first());
            match source {
                Some(source) => self.found.push(*source),
                None if flow.cfg.successors(edge.from).len() == 1 => {
                    self.back(edge.from, isize::MAX)?;
                }
                None => return None,
            }
        }
        (!self.found.is_empty() || !self.inside.is_empty()).then_some(())
    }
}

/// A search forward from a record.
struct Search<'f> {
    flow: &'f Flow<'f>,
    /// Whether a record may be a witness.
    speaks: &'f dyn Fn(usize) -> bool,
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

/// Whether control surely goes on after a statement, where some accesses go well.
fn goes_on_after(flow: &Flow<'_>, facts: &Facts, stmt: StmtId) -> bool {
    let Flow { body, accesses, .. } = flow;
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
            accesses.goes_well(facts, *addr, Kind::Write)
        }
        Stmt::Zero { dst, .. } => is_variable(dst),
        Stmt::Copy { dst, src, .. } => is_variable(dst) && is_variable(src),
        Stmt::Call { .. } | Stmt::Alloca { .. } | Stmt::VaStart { .. } | Stmt::Havoc(_) => false,
    };
    stmt.for_each_expr(|expr| goes_on = goes_on && has_value(flow, facts, expr));
    goes_on
}

/// Whether the evaluation of an expression surely ends with a value.
fn has_value(flow: &Flow<'_>, facts: &Facts, expr: ExprId) -> bool {
    let Flow { body, accesses, .. } = flow;
    let read = |addr: ExprId| accesses.goes_well(facts, addr, Kind::Read);
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
