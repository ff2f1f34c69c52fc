//! Probes of def-use pairs of array cells ([002] V-D2).
//!
//! Each variable with cells has a table beside it. The table of a local lies in the activation
//! (`lydian_tcN`), that of a global in a static variable (`lydian_tgN`), and that of a global with
//! external linkage in a weak variable that all units share. For each cell, the table has the
//! number of the cell's last definition. A definition sets the entries that it writes. A use looks
//! up the entry that it reads, and sets the cell of its own table that the number selects. A
//! definition of all cells begins a new epoch, so it costs one store too: entries of earlier epochs
//! stand for its number.
//!
//! Entry 0 of a table is the epoch, and entry 1 the number of the last definition of all cells. The
//! others are `epoch | number`. Entries of locals have 32 bits, 12 of them for the number. Entries
//! of globals have 64 bits, 48 of them for the number, which is the unit's base plus the
//! definition's number. Nothing is read or written beyond a table: an access outside of its
//! variable sets no cell.
//!
//! Where pairs must be reached by a path ([`super::path_history`]), a second table has the time of
//! each entry's definition.
//!
//! A place that is read or written by name is recorded where its text is evaluated: `a[i]` becomes
//! `*({ p = &a[i]; ...; p; })`. So the index is evaluated once, and at the same time as before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lydian_base::{EntityId, Span};
use lydian_ir::cexact::{Names, ScopedNames};
use lydian_ir::source::{Point, Root, RootKind};
use lydian_ir::{Body, Expr, FuncId, GlobalId, Linkage, LocalId, Program, StmtId};
use lydian_objective::dataflow::{
    Access, Definition, DefinitionSite, Use, UseId, UseSite, Variable, cells,
};
use lydian_objective::{Sequence, SequenceId, UnitFlow};

use crate::plan::Plan;
use crate::rewrite::data_flow::FunctionContext;
use crate::rewrite::data_flow::pairs::{
    FunctionPairs, GlobalAddress, NOT_WATCHED, WantedPairs, unit_hash,
};
use crate::rewrite::data_flow::path_history::PathHistory;
use crate::rewrite::data_flow::pointer_writes::pointer_write;
use crate::rewrite::data_flow::probes::FlowProbes;
use crate::rewrite::request::{Purpose, RewriteRequest};
use crate::rewrite::source::calls::calls_within;
use crate::rewrite::statement_probes::{ProbeHost, SequenceList, StatementProbes};
use crate::rewrite::text::prelude::UnitRole;
use crate::rewrite::uninstrumentable;
use crate::rewrite::uninstrumentable::NO_PLACE;

/// The most entries of a table in an activation, and of a static one.
const MOST_OF_LOCAL: u64 = 1 << 14;
const MOST_OF_GLOBAL: u64 = 1 << 20;
/// The most definitions of a local: numbers have 12 bits.
const MOST_DEFINITIONS: usize = 4095;

const TOO_MANY: &str = "it has too many cells";

/// The pairs of cells that all watched functions together want, with the tables of globals.
#[derive(Debug, Default)]
pub(crate) struct CellPairs<'a> {
    pub(crate) pairs: WantedPairs<'a>,
    globals: BTreeMap<GlobalId, GlobalCells>,
}

/// A table.
#[derive(Clone, Debug)]
struct CellTable {
    name: String,
    /// How many entries it has for cells.
    cells: u64,
    /// How many bytes one of them stands for.
    unit: u64,
    /// For a table of a global, with numbers of 48 bits: the unit's base of numbers. `None` for a
    /// table of a local.
    wide: Option<u64>,
    /// The highest number.
    most: usize,
    /// If paths are wanted: the table with the time of each entry's definition, and the text of the
    /// number that is added to times which outlive activations.
    times: Option<(String, &'static str)>,
}

/// A global of which pairs are wanted.
#[derive(Debug)]
struct GlobalCells {
    table: CellTable,
    /// Whether other units share the table.
    shared: bool,
    /// Its address, if writes through pointers may hit it.
    at: Option<GlobalAddress>,
    /// Why there can be no table.
    uninstrumentable: Option<&'static str>,
    /// The numbers of definitions in functions that are not instrumented.
    not_watched: BTreeSet<u32>,
}

/// How the cells of a use are found.
struct CellLookup<'f> {
    /// The first of them.
    first: usize,
    /// How many bytes one entry of the table stands for.
    unit: u64,
    /// The number that stands for no definition.
    none: usize,
    /// The text that looks up a number for a place: that of the last definition, or of a leaf.
    number: &'f dyn Fn(&str) -> String,
}

/// Where the probe of a use stands.
#[derive(Clone, Copy, Debug)]
enum UsePlacement {
    /// At the evaluation of a place, whose address the probe uses.
    Place(Span),
    /// Before an expression that reads.
    Around(ProbeHost),
}

impl<'a> CellPairs<'a> {
    /// `flow` gives the data flow of cells of the program.
    pub(crate) fn new(request: &RewriteRequest<'_>, flow: impl FnOnce() -> &'a UnitFlow) -> Self {
        let asks = |of: &lydian_objective::FunctionObjectives| {
            of.hyper_criteria.keys().any(|criterion| criterion.tells_cells_apart())
        };
        if !request.watched.iter().any(asks) {
            return Self::default();
        }
        let flow = flow();
        let storing =
            |id| flow.cell_stores(id).places.iter().map(|definition| definition.place.0).collect();
        let pairs = WantedPairs::new(request, flow, Sequence::cell_pair, storing);
        let mut this = Self { pairs, globals: BTreeMap::new() };
        this.globals(request, flow);
        this
    }

    /// Works out the tables of globals.
    fn globals(&mut self, request: &RewriteRequest<'_>, flow: &UnitFlow) {
        let program = request.program;
        // Numbers have the lower bits to themselves, and no sum is 0, which is an initial value.
        let base = (unit_hash(request.map) & 0xffff_ffff | 1) << 16;
        let tests = request.purpose == Purpose::Tests;
        for id in self.pairs.globals() {
            let stores = flow.cell_stores(id);
            let found = &program.globals[id];
            let shared = !tests && found.linkage == Linkage::External;
            let unit = cells::unit(&program.types, found.ty);
            let table = CellTable {
                name: match shared {
                    true => format!("lydian_lasts_{}", found.name),
                    false => format!("lydian_tg{}", id.index()),
                },
                cells: found.size.div_ceil(unit),
                unit,
                wide: Some(if shared { base } else { 0 }),
                most: stores.places.len(),
                times: self
                    .pairs
                    .asks_paths(Variable::Global(id))
                    .then(|| (format!("lydian_when_tg{}", id.index()), "lydian_act + ")),
            };
            let numbered = (1..).zip(&stores.places);
            let not_watched = numbered.filter(|(_, of)| !self.pairs.is_rewritten(of.place.0));
            let too_many = table.cells > MOST_OF_GLOBAL || table.most > usize::from(u16::MAX);
            let indirect = stores.places.iter().any(|place| place.indirect);
            let global = GlobalCells {
                shared,
                at: indirect
                    .then(|| GlobalAddress::of(request, id, format!("lydian_hg{}", id.index()))),
                uninstrumentable: too_many.then_some(TOO_MANY),
                not_watched: not_watched.map(|(number, _)| number).collect(),
                table,
            };
            self.globals.insert(id, global);
        }
    }

    /// The declarations of the tables of globals, and of the functions that set and look up
    /// entries.
    pub(crate) fn declarations(&self, scope: UnitRole) -> String {
        if self.pairs.is_empty() {
            return String::new();
        }
        let mut text = functions();
        for global in self.globals.values().filter(|global| global.uninstrumentable.is_none()) {
            let (name, entries) = (&global.table.name, global.table.cells + 2);
            let _ = match global.shared {
                true => {
                    writeln!(text, "unsigned long long {name}[{entries}] __attribute__((weak));")
                }
                false => {
                    let storage = scope.storage();
                    writeln!(text, "{storage} unsigned long long {name}[{entries}];")
                }
            };
            if let Some(at) = &global.at {
                at.declare(scope, &mut text);
            }
            if let Some((times, _)) = &global.table.times {
                let _ = writeln!(text, "static unsigned long {times}[{entries}];");
            }
        }
        text
    }

    /// The text after the unit's text: the addresses of globals.
    pub(crate) fn epilogue(&self, scope: UnitRole) -> String {
        let used = self.globals.values().filter(|global| global.uninstrumentable.is_none());
        used.filter_map(|global| global.at.as_ref()).map(|at| at.define(scope)).collect()
    }
}

/// Functions that define cells, define all cells, and look up the definition of one, for both
/// widths of tables.
fn functions() -> String {
    let head = "static __inline__ __attribute__((always_inline, unused))";
    let mut text = String::new();
    for (kind, ty, epoch) in
        [("n", "unsigned", "0x1000u"), ("w", "unsigned long long", "0x1000000000000ull")]
    {
        let _ = write!(
            text,
            "{head} void lydian_cell{kind}_all({ty} *t, unsigned long cells, {ty} number) \
             {{ t[1] = number; t[0] += {epoch}; if (t[0] < {epoch}) \
             {{ while (cells) t[1 + cells--] = 0; t[0] = {epoch}; }} }}\n\
             {head} void lydian_cell{kind}_set({ty} *t, unsigned long cells, unsigned long unit, \
             unsigned long at, unsigned long bytes, {ty} number) \
             {{ unsigned long n = at / unit, last = (at + bytes - 1) / unit; \
             if (n < cells) for (last = last < cells ? last : cells - 1; n <= last; n++) \
             t[n + 2] = t[0] | number; }}\n\
             {head} unsigned long lydian_cell{kind}_when(const {ty} *t, unsigned long cells, \
             unsigned long unit, unsigned long at, const unsigned long *when) \
             {{ unsigned long n = at / unit; \
             return n < cells && (t[n + 2] ^ t[0]) < {epoch} ? when[n + 2] : when[1]; }}\n"
        );
    }
    let _ = writeln!(
        text,
        "{head} void lydian_cell_noted(unsigned long *when, unsigned long cells, \
         unsigned long unit, unsigned long at, unsigned long bytes, unsigned long now) \
         {{ unsigned long n = at / unit, last = (at + bytes - 1) / unit; \
         if (n < cells) for (last = last < cells ? last : cells - 1; n <= last; n++) \
         when[n + 2] = now; }}"
    );
    let _ = write!(
        text,
        "{head} unsigned long lydian_celln_of(const unsigned *t, unsigned long cells, \
         unsigned long unit, unsigned long at, unsigned long base, unsigned long most) \
         {{ unsigned long n = at / unit; (void)base; if (n >= cells) return most + 1; \
         return (t[n + 2] ^ t[0]) < 0x1000u ? t[n + 2] & 0xfffu : t[1]; }}\n\
         {head} unsigned long lydian_cellw_of(const unsigned long long *t, unsigned long cells, \
         unsigned long unit, unsigned long at, unsigned long long base, unsigned long most) \
         {{ unsigned long n = at / unit; unsigned long long last; if (n >= cells) return most + 1; \
         last = (t[n + 2] ^ t[0]) < 0x1000000000000ull ? t[n + 2] & 0xffffffffffffull : t[1]; \
         return !last ? 0 : last - base <= most ? (unsigned long)(last - base) : most + 1; }}\n"
    );
    text
}

impl CellTable {
    fn kind(&self) -> &'static str {
        if self.wide.is_some() { "w" } else { "n" }
    }

    fn number(&self, number: u32) -> String {
        format!("{}ull", self.wide.unwrap_or(0) + u64::from(number))
    }

    /// The statement that makes a definition the last one of all cells.
    fn set_all(&self, number: u32) -> String {
        let Self { name, cells, .. } = self;
        let noted = self.times.as_ref();
        let noted = noted.map(|(times, base)| format!("{times}[1] = {base}lydian_way; "));
        let (kind, number) = (self.kind(), self.number(number));
        let noted = noted.unwrap_or_default();
        format!("lydian_cell{kind}_all({name}, {cells}ul, {number}); {noted}")
    }

    /// The same of some cells.
    fn set(&self, at: &str, bytes: u64, number: u32) -> String {
        let Self { name, cells, unit, .. } = self;
        let (kind, number) = (self.kind(), self.number(number));
        let noted = self.times.as_ref().map(|(times, base)| {
            let span = format!("{cells}ul, {unit}ul, {at}, {bytes}ul");
            format!("lydian_cell_noted({times}, {span}, {base}lydian_way); ")
        });
        let noted = noted.unwrap_or_default();
        format!(
            "lydian_cell{kind}_set({name}, {cells}ul, {unit}ul, {at}, {bytes}ul, {number}); {noted}"
        )
    }

    /// How many choices there were in this activation before the last definition of a cell.
    fn when(&self, at: &str) -> Option<String> {
        let (times, base) = self.times.as_ref()?;
        let Self { name, cells, unit, .. } = self;
        let kind = self.kind();
        let since = if base.is_empty() { "" } else { " - lydian_act" };
        Some(format!("lydian_cell{kind}_when({name}, {cells}ul, {unit}ul, {at}, {times}){since}"))
    }

    /// The number of the last definition of a cell.
    fn last(&self, at: &str) -> String {
        let Self { name, cells, unit, most, .. } = self;
        let (kind, base) = (self.kind(), self.wide.unwrap_or(0));
        format!("lydian_cell{kind}_of({name}, {cells}ul, {unit}ul, {at}, {base}ull, {most}ul)")
    }
}

/// Makes the probes of one function, adds their cells to the plan, and adds the probes to those of
/// whole variables.
pub(crate) fn add_cell_probes<'a>(
    asked: &CellPairs<'_>,
    context: FunctionContext<'a>,
    units: &mut StatementProbes<'_>,
    history: &mut Option<PathHistory<'a>>,
    plan: &mut Plan,
    out: &mut FlowProbes,
) {
    let FunctionContext { program, body, function } = context;
    let Some(pairs) = FunctionPairs::new(&asked.pairs, function) else { return };
    if pairs.asks_any_path() {
        history.get_or_insert_with(|| PathHistory::new(program, body));
    }
    let (kept, tables) = (units.kept_values(), BTreeMap::new());
    let mut builder = CellProbeBuilder {
        asked,
        pairs,
        program,
        body,
        function,
        units,
        history,
        plan,
        tables,
        out,
        reads: 0,
    };
    builder.all();
    let kept = kept..builder.units.kept_values();
    kept.for_each(|n| builder.out.declarations += &format!("unsigned long lydian_held{n} = 0; "));
}

struct CellProbeBuilder<'a, 't, 'w> {
    asked: &'a CellPairs<'a>,
    pairs: FunctionPairs<'a>,
    program: &'a Program,
    body: &'a Body,
    function: FuncId,
    units: &'a mut StatementProbes<'t>,
    history: &'a mut Option<PathHistory<'w>>,
    plan: &'a mut Plan,
    /// The table of each recorded variable.
    tables: BTreeMap<Variable, CellTable>,
    out: &'a mut FlowProbes,
    /// How many values are kept for conditions and switches.
    reads: usize,
}

impl CellProbeBuilder<'_, '_, '_> {
    fn all(&mut self) {
        let uses = self.pairs.uses();
        let globals = self.asked.globals.keys().map(|id| Variable::Global(*id));
        let variables: BTreeSet<Variable> = self.pairs.locals().chain(globals).collect();
        for variable in variables {
            if let Err(reason) = self.variable(variable) {
                self.tables.remove(&variable);
                let affected = self.pairs.sequences_with(variable);
                uninstrumentable::add_all(&affected, reason, self.plan);
            }
        }
        for (id, usage) in uses {
            let Some(table) = self.tables.get(&usage.variable).cloned() else { continue };
            if let Err(reason) = self.record(id, usage, &table) {
                uninstrumentable::add_all(&self.pairs.sequences_of(id), reason, self.plan);
            }
        }
    }

    /// Adds the probes of a variable's definitions.
    fn variable(&mut self, variable: Variable) -> Result<(), &'static str> {
        let table = match variable {
            Variable::Local(local) => self.table_of_local(local)?,
            Variable::Global(id) => {
                let global = &self.asked.globals[&id];
                let table =
                    global.uninstrumentable.map_or_else(|| Ok(global.table.clone()), Err)?;
                // Only paths of this function begin with a definition in it.
                let times = table.times.clone().filter(|_| self.pairs.asks_paths(variable));
                CellTable { times, ..table }
            }
        };
        self.tables.insert(variable, table.clone());
        let own = self.pairs.flow.definitions.iter().filter(|d| d.variable == variable && d.own);
        for definition in own {
            if let DefinitionSite::Stmt(stmt) = definition.at
                && let Err(reason) = self.define(definition, stmt, &table)
            {
                // A definition that cannot reach a use is not the last one there.
                let affected = self.reached(variable, definition.number);
                uninstrumentable::add_all(&affected, reason, self.plan);
            }
        }
        Ok(())
    }

    /// The sequences of the uses that a definition may reach.
    fn reached(&self, variable: Variable, number: u32) -> Vec<(u32, SequenceId)> {
        let pairs = &self.asked.pairs;
        let is_reached = |(function, _, usage): &(FuncId, UseId, &Use)| {
            let Some(flow) = pairs.function(*function) else { return false };
            let is_here = variable.is_global() || *function == self.function;
            let mut reaching = usage.reaching.iter().map(|id| flow.definition(*id).number);
            is_here && usage.variable == variable && reaching.any(|other| other == number)
        };
        let uses = pairs.all_uses().filter(is_reached);
        let mut affected: Vec<_> =
            uses.flat_map(|(of, id, _)| pairs.sequences_of(of, id)).collect();
        affected.sort_unstable();
        affected
    }

    fn table_of_local(&mut self, local: LocalId) -> Result<CellTable, &'static str> {
        let ty = self.body.locals[local].ty;
        let definitions = self.pairs.flow.definitions.iter();
        let most = definitions.filter(|d| d.variable == Variable::Local(local)).count();
        let unit = cells::unit(&self.program.types, ty);
        let cells = self.program.types.size(ty).ok_or("its size is not known")?.div_ceil(unit);
        if cells > MOST_OF_LOCAL || most > MOST_DEFINITIONS {
            return Err(TOO_MANY);
        }
        if self.units.is_register(self.body.locals[local].scope.start) {
            return Err("it is declared as a register, which has no address");
        }
        let times = self.pairs.asks_paths(Variable::Local(local));
        let times = times.then(|| (format!("lydian_when_tc{}", local.index()), ""));
        let name = format!("lydian_tc{}", local.index());
        let table = CellTable { name, cells, unit, wide: None, most, times };
        let at_entry = self.pairs.flow.definitions.iter().find(|definition| {
            definition.variable == Variable::Local(local) && definition.at == DefinitionSite::Entry
        });
        let number = at_entry.map_or(0, |definition| definition.number);
        let (name, entries) = (&table.name, cells + 2);
        let _ = write!(self.out.declarations, "unsigned {name}[{entries}] = {{ 0, {number} }}; ");
        if number != 0 {
            let _ = write!(self.out.declarations, "{name}[0] = 0x1000u; ");
        }
        if let Some((times, _)) = &table.times {
            let _ =
                write!(self.out.declarations, "unsigned long {times}[{entries}]; {times}[1] = 0; ");
        }
        Ok(table)
    }

    /// Adds the probe of a definition.
    fn define(
        &mut self,
        definition: &Definition,
        stmt: StmtId,
        table: &CellTable,
    ) -> Result<(), &'static str> {
        let (variable, number) = (definition.variable, definition.number);
        let affected = self.pairs.sequences_with(variable);
        if definition.indirect {
            let pointer_write =
                pointer_write(self.program, self.function, self.body, self.units, stmt, variable)?;
            let base = match variable {
                Variable::Local(_) => pointer_write.name.clone(),
                Variable::Global(id) => {
                    let at = self.asked.globals[&id].at.as_ref();
                    at.ok_or("its address is not known")?.name.clone()
                }
            };
            let kept = pointer_write.keep(self.units, &affected);
            let at = format!("lydian_held{kept} - (unsigned long){base}");
            let set = match definition.cell {
                Some(cell) => table.set(&at, cell.bytes, number),
                None => {
                    format!("if ({at} < {}ul) {{ {}}} ", pointer_write.size, table.set_all(number))
                }
            };
            self.units.define(stmt, ProbeHost::Around(pointer_write.around), &set, &affected);
            return Ok(());
        }
        let host = self.units.host(stmt, definition.span)?;
        let set = match definition.cell {
            None => table.set_all(number),
            Some(cell) => match cell.fixed() {
                Some(at) => table.set(&format!("{at}ul"), cell.bytes, number),
                None => {
                    let (place, further) = match self.written_place(stmt) {
                        Some(place) if !cell.bits => (place, 0),
                        _ => self.place(&cell)?,
                    };
                    let base = self.base(variable, place)?;
                    let (kept, _) = self.units.keep_address(self.inside(place)?, &affected);
                    let at = format!("lydian_held{kept} + {further}ul - (unsigned long){base}");
                    table.set(&at, cell.bytes, number)
                }
            },
        };
        self.units.define(stmt, host, &set, &affected);
        Ok(())
    }

    /// The text of the place that a statement writes to, if it is watched.
    fn written_place(&self, stmt: StmtId) -> Option<Span> {
        let at = Point::Stmt(stmt);
        let mut roots = self.body.source.roots.values();
        let is_place =
            |root: &&Root| root.kind == RootKind::Address && root.points().any(|point| point == at);
        roots.find(is_place).map(|root| root.span).filter(|text| !text.is_none())
    }

    /// The text of the lvalue in which an address lies, and how many bytes further it is: a
    /// bit-field's bytes have no text of their own.
    fn place(&self, access: &Access) -> Result<(Span, u64), &'static str> {
        let (mut at, mut further) = (access.addr, 0);
        loop {
            let text = self.body.source.exprs[at];
            let is_bits = access.bits
                && further == 0
                && matches!(self.body.exprs[at], Expr::Index { size: 1, .. });
            if !text.is_none() && !is_bits {
                // It may be that of a pointer which is dereferenced.
                let is_place = is_path(self.units.text_of(text));
                return is_place
                    .then_some((text, further))
                    .ok_or("its text is not that of a place");
            }
            let Expr::Index { base, index, size, .. } = &self.body.exprs[at] else {
                return Err(NO_PLACE);
            };
            let Expr::Const(_, number) = self.body.exprs[*index] else { return Err(NO_PLACE) };
            further += size * u64::try_from(number).map_err(|_| NO_PLACE)?;
            at = *base;
        }
    }

    /// A text, if it is one of the function's body.
    fn inside(&self, text: Span) -> Result<Span, &'static str> {
        match self.body.source.body.contains(text) {
            true => Ok(text),
            false => Err(NO_PLACE),
        }
    }

    /// The address of a variable, as a text calls it.
    fn base(&self, variable: Variable, at: Span) -> Result<String, &'static str> {
        let none = |_| None;
        let names = ScopedNames::new(self.program, self.function, self.body, at.start, &none);
        let name = match variable {
            Variable::Local(local) => names.local(local),
            Variable::Global(global) => names.global(global),
        };
        name.map(|name| format!("&{name}")).ok_or("it has no name there")
    }

    /// Adds the probe of a use.
    fn record(&mut self, id: UseId, usage: &Use, table: &CellTable) -> Result<(), &'static str> {
        if let Variable::Global(id) = usage.variable {
            let not_watched = &self.asked.globals[&id].not_watched;
            let reaching = usage.reaching.iter().map(|id| self.pairs.flow.definition(*id).number);
            if reaching.into_iter().any(|number| not_watched.contains(&number)) {
                return Err(NOT_WATCHED);
            }
        }
        let access = usage.cell.ok_or(NO_PLACE)?;
        let (put, at) = self.place_of_use(usage, &access)?;
        let (unit, most) = (table.unit, table.most + 1);
        if self.pairs.by_way(id).next().is_some() {
            let first = self.hits(id, usage, table);
            let look = CellLookup { first, unit, none: most, number: &|at| table.last(at) };
            self.probe_at(id, usage, (put, &at), &look)?;
        }
        let by_path = self.pairs.by_path(id);
        let Some(history) = self.history.as_mut().filter(|_| !by_path.is_empty()) else {
            return Ok(());
        };
        let units = &*self.units;
        let trie = history.trie(self.pairs.flow, units, (usage, by_path), most, self.plan);
        let Some(trie) = trie else { return Ok(()) };
        let leaf = |at: &str| trie.leaf(&table.last(at), &table.when(at).unwrap_or_default());
        let look = CellLookup { first: trie.first, unit, none: 0, number: &leaf };
        self.probe_at(id, usage, (put, &at), &look)
    }

    /// Sets the cells of the plan at a use.
    fn probe_at(
        &mut self,
        id: UseId,
        usage: &Use,
        (put, at): (UsePlacement, &str),
        look: &CellLookup<'_>,
    ) -> Result<(), &'static str> {
        let access = usage.cell.ok_or(NO_PLACE)?;
        let affected = self.pairs.sequences_of(id).into();
        let first = look.first;
        match usage.at {
            UseSite::Stmt(_) | UseSite::Return(_) => {
                self.put(put, &hit(&access, look, at), &affected);
            }
            UseSite::Condition(decision, condition) => {
                let mut sites = self.body.source.decisions.iter();
                if !sites.any(|site| site.decision == decision) {
                    return Err(NO_PLACE);
                }
                let kept = self.keep(put, look, at, &affected);
                let set = |way: u32| format!("lydian_hit[{first} + {kept} * 2 + {way}] = 1, ");
                self.out.at_condition((decision, condition), &[set(0), set(1)], &affected);
            }
            UseSite::Switch(block) => {
                let mut sites = self.body.source.switches.iter();
                let site = sites.find(|site| site.block == block);
                if site.is_none_or(|site| site.computed) {
                    return Err("it is of a computed goto");
                }
                let (kept, ways) = (self.keep(put, look, at, &affected), usage.ways);
                for way in 0..ways {
                    let out = self.out.switches.entry((block, way)).or_default();
                    let _ = write!(out.text, "lydian_hit[{first} + {kept} * {ways} + {way}] = 1; ");
                }
            }
        }
        Ok(())
    }

    /// Where the probe of a use stands, and the text of the use's offset in its variable.
    fn place_of_use(
        &self,
        usage: &Use,
        access: &Access,
    ) -> Result<(UsePlacement, String), &'static str> {
        if (access.text.is_none() || access.bits)
            && let Some(at) = access.fixed()
        {
            return Ok((UsePlacement::Around(self.host_of_variable(usage)?), format!("{at}ul")));
        }
        // The text of a load is the text of a place.
        let is_load = access.scalar && access.text != self.body.source.exprs[access.addr];
        let (text, further) = match is_load && !access.bits {
            true => (access.text, 0),
            false => self.place(access)?,
        };
        let text = self.inside(text)?;
        let at = match access.fixed() {
            Some(at) => format!("{at}ul"),
            None => {
                let base = self.base(usage.variable, text)?;
                format!("(unsigned long)lydian_b + {further}ul - (unsigned long){base}")
            }
        };
        Ok((UsePlacement::Place(text), at))
    }

    /// Where the probe stands for the use of a whole variable by name, or of a bit-field: these
    /// have no place of their own.
    fn host_of_variable(&self, usage: &Use) -> Result<ProbeHost, &'static str> {
        let UseSite::Stmt(stmt) = usage.at else {
            return self.units.host_of_value(self.inside(usage.span)?);
        };
        let host = self.units.host_of_use(stmt)?;
        match host {
            ProbeHost::Around(span)
                if usage.variable.is_global() && calls_within(self.body, span, Some(stmt)) =>
            {
                Err("it is read between calls of one expression")
            }
            _ => Ok(host),
        }
    }

    /// Puts a probe, made of statements, at the evaluation of a use.
    fn put(&mut self, put: UsePlacement, record: &str, affected: &SequenceList) {
        match put {
            UsePlacement::Place(text) => self.units.at_place(text, record, affected),
            UsePlacement::Around(host) => {
                self.units.probe_before(host, &format!("({{ {record}}}), "), affected, &[]);
            }
        }
    }

    /// Looks up the number where the value is read, and keeps it until its condition branches.
    fn keep(
        &mut self,
        put: UsePlacement,
        look: &CellLookup<'_>,
        at: &str,
        affected: &SequenceList,
    ) -> String {
        let kept = format!("lydian_qc{}", self.reads);
        self.reads += 1;
        let _ = write!(self.out.declarations, "unsigned long {kept} = {}; ", look.none);
        self.put(put, &format!("{kept} = {}; ", (look.number)(at)), affected);
        kept
    }

    /// Adds the cells of a use to the plan, for each number and way; the first of them.
    fn hits(&mut self, id: UseId, usage: &Use, table: &CellTable) -> usize {
        let first = self.plan.cells.len();
        let cells = self.pairs.by_number(id);
        // One more number stands for definitions in other units, and for accesses outside of the
        // variable.
        for number in 0..=table.most as u32 + 1 {
            for way in 0..usage.ways {
                let all = cells.get(&(number, way)).map_or(&[][..], Vec::as_slice);
                self.plan.sequences_cell(all);
            }
        }
        first
    }
}

/// The statement that sets the cells of an access.
fn hit(access: &Access, look: &CellLookup<'_>, at: &str) -> String {
    let CellLookup { first, unit, number, .. } = look;
    let hit = |at: &str| format!("lydian_hit[{first} + {}] = 1; ", number(at));
    match access.scalar || access.bytes <= *unit {
        true => hit(at),
        false => {
            let bytes = access.bytes;
            let hit = hit(&format!("{at} + lydian_n"));
            format!(
                "{{ unsigned long lydian_n = 0; \
                 for (; lydian_n < {bytes}ul; lydian_n += {unit}ul) {hit}}} "
            )
        }
    }
}

/// Whether a text is a name with members and subscripts, perhaps in parentheses.
fn is_path(text: &str) -> bool {
    let text = text.trim();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut rest = match text.strip_prefix('(') {
        Some(_) => match closed(text) {
            Some((group, rest)) if is_path(group) => rest,
            _ => return false,
        },
        None if text.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) => {
            text.trim_start_matches(is_word)
        }
        None => return false,
    };
    loop {
        rest = rest.trim_start();
        let member = rest.strip_prefix('.').or_else(|| rest.strip_prefix("->"));
        rest = match (member, rest.starts_with('[')) {
            _ if rest.is_empty() => return true,
            (Some(member), _) => member.trim_start().trim_start_matches(is_word),
            (None, true) => match closed(rest) {
                Some((_, rest)) => rest,
                None => return false,
            },
            (None, false) => return false,
        };
    }
}

/// The text within the bracket with which a text begins, and the text after it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' if depth == 1 => return Some((&text[1..at], &text[at + 1..])),
            ']' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn names_with_members_and_subscripts_are_places() {
        for text in ["a", "(a)", "a[i + 1]", "s.a[i]->b", "(m[i])[j - f(x)]", " p -> x "] {
            assert!(is_path(text), "{text}");
        }
    }

    #[test]
    fn sums_addresses_and_what_is_dereferenced_are_none() {
        for text in ["a + i", "(a + i)", "&a[1]", "*p", "a - b[2]", "", "3", "(a) + (b)"] {
            assert!(!is_path(text), "{text}");
        }
    }
}
