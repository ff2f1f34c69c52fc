//! Last definitions: how def-use pairs are recorded ([002] III, with a variable instead of monitors).
//!
//! `lydian_dN` holds the number of the last definition of local `vN` in this activation, 0 for
//! none. A definition sets it, a use sets the cell of its own table that the number names: one
//! store each, whatever the number of pairs. The compiler keeps the numbers in registers.
//! A use that only one definition can reach needs no number: it sets its cell.
//!
//! A write through a pointer that may hit a variable keeps its address in `lydian_heldN`, and sets the
//! number after it if the address lies in the variable.
//!
//! The number of a global, 0 for its initial value, lies in a static variable `lydian_gN`. In the
//! user's own program the number of a global of external linkage lies in a weak variable,
//! `lydian_last_NAME`, which all units share: it has a base that tells the unit apart, plus the
//! number, so that a definition in one unit ends the reach of those of others and is not taken for
//! one of them.
//!
//! Pairs of globals that must be reached by a path are recorded beside ([`super::ways`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::{EntityId, Span};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BlockId, Body, ConditionId, DecisionId, Expr, ExprId, FuncId, GlobalId, Linkage, LocalId,
    Program, Stmt, StmtId, Terminator,
};
use lydian_objective::dataflow::{Definition, DefinitionSite, Use, UseId, UseSite, Variable};
use lydian_objective::{SequenceId, Site, UnitFlow};
use rustc_hash::FxHashMap;

use self::aim::Aim;
use super::pairs::{Address, NOT_WATCHED, OfFunction, Pairs, calls_within, unit_number};
use super::switches::OnWayOut;
use super::units::{Host, Units};
use super::ways::Ways;
use super::{NO_PLACE, Purpose, RewriteRequest, Scope};
use crate::plan::{Plan, SharedPlace, SharedUse};

mod aim;
mod shared;

use shared::{NUMBER, REACH, Table, Which, asks_others, says_visible};

pub(super) use aim::aim;

/// What all watched functions together ask of the data flow.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) pairs: Pairs<'a>,
    globals: BTreeMap<GlobalId, Global>,
    /// Where functions are not watched and may not be rewritten.
    tests: bool,
    /// Whether calls of one expression may come in any order.
    any_order: bool,
}

/// A global of which something is asked.
#[derive(Debug, Default)]
struct Global {
    /// Whether its last definition must be known.
    dynamic: bool,
    /// How many stores there are to it.
    stores: u32,
    /// The variable with the number of its last definition.
    name: String,
    /// What is added to numbers, if the variable is shared with other units.
    base: Option<u64>,
    /// Whether the text says that other linked files see it, whatever the compiler's flags say.
    is_visible: bool,
    /// The numbers of definitions that cannot be recorded, with the reasons.
    lost: BTreeMap<u32, &'static str>,
    /// Where it is, if writes through pointers may hit it.
    at: Option<Address>,
    /// The variable with the time of its last definition, if paths from there are asked for.
    time: Option<String>,
}

/// Definitions of locals that cannot be recorded, by variable and number, with the reasons.
type UninstrumentableDefinitions = BTreeMap<(Variable, u32), &'static str>;

impl<'a> Asked<'a> {
    /// `flow` gives the data flow of the program.
    pub(super) fn new(request: &RewriteRequest<'_>, flow: impl FnOnce() -> &'a UnitFlow) -> Self {
        let asks = |of: &lydian_objective::FunctionObjectives| {
            of.sequences.values().any(|sequence| sequence.flow.is_some())
        };
        let shares = request.purpose == Purpose::Program && asks_others(request);
        if !shares && !request.watched.iter().any(asks) {
            return Self::default();
        }
        let flow = flow();
        let storing = |id| flow.stores(id).all().map(|(function, _)| *function).collect();
        let mut pairs = Pairs::new(request, flow, |sequence| sequence.flow, storing);
        if shares {
            pairs.share(request);
        }
        let tests = request.purpose == Purpose::Tests;
        let any_order = request.any_order;
        let mut this = Self { pairs, globals: BTreeMap::new(), tests, any_order };
        this.globals(request, flow);
        this
    }

    /// Adds what is known of shared variables before functions are looked at.
    pub(super) fn note_shared(&self, plan: &mut Plan) {
        let shared = self.globals.iter().filter_map(|(id, of)| Some((id, of, of.base?)));
        for (id, global, base) in shared {
            plan.shared.base = base;
            let lost = global.lost.iter().map(|(number, reason)| {
                (SharedPlace::Definition(*id, *number), (*reason).to_owned())
            });
            plan.shared.lost.extend(lost);
        }
    }

    /// Works out how the last definitions of globals are known.
    fn globals(&mut self, request: &RewriteRequest<'_>, flow: &UnitFlow) {
        let program = request.program;
        // Numbers have the lower bits to themselves, and no sum is 0, which is an initial value.
        let base = (unit_number(request.map) | 1 << 63) & !0xff_ffff;
        for id in self.pairs.globals() {
            let stores = flow.stores(id);
            let shared = !self.tests && program.globals[id].linkage == Linkage::External;
            let by_path = self.pairs.asks_paths(Variable::Global(id));
            let mut global = Global {
                dynamic: shared || by_path,
                time: by_path.then(|| format!("lydian_when_g{}", id.index())),
                stores: stores.all().count() as u32,
                name: match shared {
                    true => format!("lydian_last_{}", program.globals[id].name),
                    false => format!("lydian_g{}", id.index()),
                },
                base: shared.then_some(base),
                is_visible: says_visible(request.map.slice(program.globals[id].span)),
                lost: BTreeMap::new(),
                at: (!stores.indirect.is_empty())
                    .then(|| Address::of(request, id, format!("lydian_at_g{}", id.index()))),
            };
            for (function, site) in stores.all() {
                let body = program.functions[*function].body.as_ref();
                let (Some(body), Site::Stmt(stmt)) = (body, site) else { continue };
                let units = Units::new(body, request.map.text());
                let indirect = stores.indirect.contains(&(*function, *site));
                let lost = match self.pairs.is_rewritten(*function) {
                    false => Some(NOT_WATCHED),
                    true if indirect => {
                        aim(program, *function, body, &units, *stmt, Variable::Global(id)).err()
                    }
                    true => units.host(*stmt, body.source.stmts[*stmt]).err(),
                };
                let number = lost.and_then(|_| self.number(*function, id, *stmt, indirect));
                global.lost.extend(number.zip(lost));
            }
            self.globals.insert(id, global);
        }
        for (_, _, usage) in self.pairs.all_uses() {
            if let Variable::Global(global) = usage.variable
                && (self.any_order || is_dynamic(usage))
                && let Some(global) = self.globals.get_mut(&global)
            {
                global.dynamic = true;
            }
        }
    }

    /// The number of the definition of a global that a statement makes.
    fn number(&self, function: FuncId, of: GlobalId, at: StmtId, indirect: bool) -> Option<u32> {
        let mut definitions = self.pairs.function(function)?.definitions.iter();
        let found = definitions.find(|definition| {
            definition.variable == Variable::Global(of)
                && definition.at == DefinitionSite::Stmt(at)
                && definition.indirect == indirect
        });
        found.map(|definition| definition.number)
    }

    /// The variables with the numbers of globals.
    pub(super) fn declarations(&self, scope: Scope) -> String {
        let mut text = String::new();
        let used = || self.globals.values().filter(|global| global.dynamic);
        if self.tests && used().next().is_some() {
            text.push_str("typedef unsigned long long lydian_definition;\n");
        }
        if used().any(|global| global.base.is_some()) {
            text.push_str(NUMBER);
        }
        if self.pairs.shares() {
            text.push_str(REACH);
        }
        for global in used() {
            let _ = match global.base {
                Some(_) => {
                    let visible = ", visibility(\"default\")";
                    let more = if global.is_visible { visible } else { "" };
                    writeln!(text, "lydian_definition {} __attribute__((weak{more}));", global.name)
                }
                None => writeln!(text, "{} lydian_definition {};", scope.storage(), global.name),
            };
            if let Some(at) = &global.at {
                at.declare(scope, &mut text);
            }
            if let Some(time) = &global.time {
                let _ = writeln!(text, "static lydian_definition {time};");
            }
        }
        text
    }

    /// What stands after the text: the addresses of globals.
    pub(super) fn epilogue(&self, scope: Scope) -> String {
        let used = self.globals.values().filter(|global| global.dynamic);
        used.filter_map(|global| global.at.as_ref()).map(|at| at.define(scope)).collect()
    }

    /// Whether which definition reached a use is known only at run time.
    fn is_dynamic(&self, usage: &Use) -> bool {
        let by_run = || match usage.variable {
            Variable::Global(global) => {
                let global = self.globals.get(&global);
                let is_kept = |of: &Global| of.base.is_some() || of.time.is_some();
                self.any_order || global.is_some_and(is_kept)
            }
            Variable::Local(_) => false,
        };
        is_dynamic(usage) || by_run()
    }
}

/// What the text of one function must record of its data flow.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// What is recorded where a condition is false, and where it is true.
    pub(super) conditions: IndexMap<(DecisionId, ConditionId), [String; 2]>,
    /// The cells that are set where a condition is false, and where it is true, whatever the state is.
    pub(super) condition_cells: IndexMap<(DecisionId, ConditionId), [u32; 2]>,
    /// The cells that are set before expressions, and the place of the use that needs each.
    pub(super) cells: Vec<UseCell>,
    /// The tables of which uses set a cell.
    pub(super) tables: Vec<UseTable>,
    /// What is recorded on a way out of a switch, but for tables.
    pub(super) switches: IndexMap<(BlockId, u32), OnWayOut>,
    /// Variables at the start of the function's body.
    pub(super) declarations: String,
    /// The number with which that of a local begins, and the definitions that set it.
    pub(super) numbers: IndexMap<LocalId, (u32, Vec<NumberSet>)>,
    /// The sequences whose uses are in a condition.
    of_conditions: IndexMap<(DecisionId, ConditionId), Vec<(u32, SequenceId)>>,
}

/// Works out the records of one function, whose cells it adds to the plan.
pub(super) fn flow<'a>(
    asked: &Asked<'_>,
    (program, body, function): (&Program, &'a Body, FuncId),
    units: &mut Units<'_>,
    ways: &mut Option<Ways<'a>>,
    plan: &mut Plan,
) -> Flow {
    let Some(pairs) = OfFunction::new(&asked.pairs, function) else { return Flow::default() };
    if pairs.asks_any_path() {
        ways.get_or_insert_with(|| Ways::new(program, body));
    }
    let (out, known) = (Flow::default(), FxHashMap::default());
    let mut maker =
        Maker { asked, pairs, program, body, function, units, ways, plan, out, reads: 0, known };
    maker.all();
    maker.out
}

/// A cell that is set before an expression, for a use that one definition reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct UseCell {
    pub(super) cell: u32,
    pub(super) around: Span,
    /// The statement that uses, or the block that returns.
    pub(super) at: UseSite,
}

/// A statement that sets the number of a local's last definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberSet {
    pub(super) stmt: StmtId,
    pub(super) number: u32,
    /// Whether it does only where a write through a pointer hits the local.
    pub(super) maybe: bool,
}

/// Cells of which a use sets one, whichever definition reached it.
#[derive(Clone, Debug)]
pub(super) struct UseTable {
    /// The first, and how many.
    pub(super) cells: (u32, u32),
    /// The text of the index of the one that is set.
    pub(super) index: String,
    pub(super) place: TablePlace,
    /// The local whose definitions they are for, where its number is looked up where the record
    /// stands, and the statement that reads it, if that is not what uses it.
    pub(super) local: Option<(LocalId, Option<StmtId>)>,
}

/// Where a table is set.
#[derive(Clone, Copy, Debug)]
pub(super) enum TablePlace {
    /// Before an expression, for what uses: a statement, or the block that returns.
    Before { around: Span, at: UseSite },
    /// Where a condition has this value.
    Way(DecisionId, ConditionId, bool),
    /// On a way out of a switch.
    Out(Edge),
}

impl Flow {
    /// Adds what is recorded on the two ways of a condition for sequences.
    pub(super) fn at_condition(
        &mut self,
        at: (DecisionId, ConditionId),
        ways: &[String; 2],
        sequences: &[(u32, SequenceId)],
    ) {
        self.of_conditions.entry(at).or_default().extend(sequences);
        let texts = self.conditions.entry(at).or_default();
        texts.iter_mut().zip(ways).for_each(|(text, way)| text.push_str(way));
    }

    /// The sequences that cannot be measured because a decision's text cannot be rewritten.
    pub(super) fn lost_with_decision(&self, decision: DecisionId) -> Vec<(u32, SequenceId)> {
        let own = |key: &&(DecisionId, ConditionId)| key.0 == decision;
        let lost = self.of_conditions.iter().filter(|(key, _)| own(key));
        lost.flat_map(|(_, sequences)| sequences.iter().copied()).collect()
    }
}

struct Maker<'a, 't, 'w> {
    asked: &'a Asked<'a>,
    pairs: OfFunction<'a>,
    program: &'a Program,
    body: &'a Body,
    function: FuncId,
    units: &'a mut Units<'t>,
    ways: &'a mut Option<Ways<'w>>,
    plan: &'a mut Plan,
    out: Flow,
    /// How many values are kept for conditions that read before an effect.
    reads: usize,
    /// The first cell of all uses in one place that one definition reaches each.
    known: FxHashMap<Place, usize>,
}

/// Where uses are recorded at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Before(Span),
    Condition(DecisionId, ConditionId),
}

impl Maker<'_, '_, '_> {
    fn all(&mut self) {
        let uses = self.pairs.uses();
        let mut dynamic: BTreeSet<Variable> = uses
            .iter()
            .filter(|(_, usage)| self.is_dynamic(usage))
            .map(|(_, usage)| usage.variable)
            .collect();
        let globals = self.asked.globals.iter().filter(|(_, global)| global.dynamic);
        dynamic.extend(globals.map(|(id, _)| Variable::Global(*id)));
        let lost = self.define(&dynamic);
        for (id, usage) in uses {
            let is_dynamic = self.is_dynamic(usage);
            let reason = match self.loss(usage, &lost).filter(|_| is_dynamic) {
                Some(reason) => Some(reason),
                None => self.record_all(id, usage).err(),
            };
            if let Some(reason) = reason {
                super::uninstrumentable::add_all(&self.pairs.sequences_of(id), reason, self.plan);
            }
        }
    }

    /// Whether which definition reached a use is known only at run time.
    fn is_dynamic(&self, usage: &Use) -> bool {
        self.asked.is_dynamic(usage) || self.is_left_open(usage)
    }

    /// Whether a call that gets a local's address may come before or after a use in the same
    /// expression, as the compiler likes.
    fn is_left_open(&self, usage: &Use) -> bool {
        let Variable::Local(local) = usage.variable else { return false };
        let is_call = |at: DefinitionSite| match at {
            DefinitionSite::Stmt(stmt) => {
                matches!(&self.body.stmts[stmt], Stmt::Call { dst, .. } if *dst != Some(local))
            }
            _ => false,
        };
        let mut reaching = usage.reaching.iter().map(|id| self.pairs.flow.definition(*id).at);
        self.asked.any_order && reaching.any(is_call)
    }

    /// The local whose definitions a use is for, if it follows from the graph which precede it.
    fn followed(&self, usage: &Use) -> Option<LocalId> {
        usage.variable.local().filter(|_| !self.is_left_open(usage))
    }

    /// Why it is not known which definition reached a use: one that may be it is not recorded. One
    /// that cannot reach the use is no last definition there, so that nothing is lost with it.
    fn loss(&self, usage: &Use, lost: &UninstrumentableDefinitions) -> Option<&'static str> {
        let mut reaching = usage.reaching.iter().map(|id| self.pairs.flow.definition(*id).number);
        match usage.variable {
            Variable::Local(_) => reaching.find_map(|n| lost.get(&(usage.variable, n)).copied()),
            Variable::Global(id) => {
                let lost = &self.asked.globals[&id].lost;
                reaching.find_map(|number| lost.get(&number).copied())
            }
        }
    }

    /// The statement that makes a definition the last one.
    fn set(&self, definition: &Definition) -> String {
        let number = definition.number;
        match definition.variable {
            Variable::Local(local) => format!("lydian_d{} = {number}; ", local.index()),
            Variable::Global(id) => {
                let global = &self.asked.globals[&id];
                let set = match global.base {
                    None => format!("{} = {number}; ", global.name),
                    Some(base) => format!("{} = {}ull; ", global.name, base + u64::from(number)),
                };
                match global.time.as_ref().filter(|_| self.pairs.asks_paths(definition.variable)) {
                    Some(time) => format!("{set}{time} = lydian_act + lydian_way; "),
                    None => set,
                }
            }
        }
    }

    /// What says at a use which definition is the last one.
    fn last_at(&self, id: UseId, usage: &Use) -> String {
        match usage.variable {
            Variable::Global(global) if self.pairs.is_shared(id) => {
                self.asked.globals[&global].name.clone()
            }
            variable => self.last(variable),
        }
    }

    /// The number of the last definition.
    fn last(&self, variable: Variable) -> String {
        match variable {
            Variable::Local(local) => format!("lydian_d{}", local.index()),
            Variable::Global(id) => {
                let global = &self.asked.globals[&id];
                match global.base {
                    None => global.name.clone(),
                    Some(base) => {
                        format!("lydian_number({}, {base}ull, {}ul)", global.name, global.stores)
                    }
                }
            }
        }
    }

    /// Sets the number of the last definition wherever one is. Returns the definitions of locals for
    /// which that is not possible, with the reason.
    fn define(&mut self, variables: &BTreeSet<Variable>) -> UninstrumentableDefinitions {
        let mut lost = UninstrumentableDefinitions::new();
        let (mut hosts, mut aims) = (Vec::new(), Vec::new());
        for definition in
            self.pairs.flow.definitions.iter().filter(|d| variables.contains(&d.variable))
        {
            let DefinitionSite::Stmt(stmt) = definition.at else { continue };
            let (variable, number) = (definition.variable, definition.number);
            if let Variable::Local(local) = variable {
                let set = NumberSet { stmt, number, maybe: definition.indirect };
                self.out.numbers.entry(local).or_default().1.push(set);
            }
            if definition.indirect {
                match aim(self.program, self.function, self.body, self.units, stmt, variable) {
                    Ok(aim) => aims.push((definition, stmt, aim)),
                    Err(reason) => _ = lost.insert((variable, number), reason),
                }
                continue;
            }
            match self.units.host(stmt, definition.span) {
                Ok(host) => hosts.push((definition, stmt, host)),
                Err(reason) => _ = lost.insert((variable, number), reason),
            }
        }
        // Where one is not recorded, it is not known what the number is.
        for (variable, _) in lost.keys() {
            if let Variable::Local(local) = variable {
                self.out.numbers.shift_remove(local);
            }
        }
        for (definition, stmt, aim) in aims {
            self.define_through(definition, stmt, &aim);
        }
        let kept = 0..self.units.kept_values();
        kept.for_each(|n| self.out.declarations += &format!("unsigned long lydian_held{n} = 0; "));
        for (definition, stmt, host) in hosts {
            let (set, sequences) =
                (self.set(definition), self.pairs.lost_with(definition.variable));
            self.units.define(stmt, host, &set, &sequences);
        }
        for variable in variables {
            let Variable::Local(local) = variable else { continue };
            let at_entry = self.pairs.flow.definitions.iter().find(|definition| {
                definition.variable == *variable && definition.at == DefinitionSite::Entry
            });
            let number = at_entry.map_or(0, |definition| definition.number);
            if let Some(numbers) = self.out.numbers.get_mut(local) {
                numbers.0 = number;
            }
            let _ = write!(
                self.out.declarations,
                "unsigned long lydian_d{} = {number}; ",
                local.index()
            );
        }
        lost
    }

    /// Makes a write through a pointer the last definition of what it hits.
    fn define_through(&mut self, definition: &Definition, stmt: StmtId, aim: &Aim) {
        let sequences = self.pairs.lost_with(definition.variable);
        let number = aim.keep(self.units, &sequences);
        let set = format!("if ({}) {{ {}}} ", aim.hits(number), self.set(definition));
        self.units.define(stmt, Host::Around(aim.around), &set, &sequences);
    }

    fn host_of_return(&self, block: BlockId) -> Result<Host, &'static str> {
        let mut roots = self.body.source.roots.values();
        let root = roots.find(|root| root.point == Point::Term(block));
        Ok(Host::Around(root.ok_or(NO_PLACE)?.span))
    }

    /// Records a use in its table.
    fn record(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        match usage.at {
            UseSite::Stmt(stmt) => {
                let host = self.units.host_of_use(stmt)?;
                self.record_use(id, usage, host, Some(stmt))?;
            }
            UseSite::Return(block) => {
                let host = self.host_of_return(block)?;
                self.record_use(id, usage, host, None)?;
            }
            UseSite::Condition(decision, condition) => {
                let mut sites = self.body.source.decisions.iter();
                if !sites.any(|site| site.decision == decision) {
                    return Err(NO_PLACE);
                }
                let (at, sequences) = ((decision, condition), self.pairs.sequences_of(id));
                let place = Place::Condition(decision, condition);
                if self.joins(place, id, usage) {
                    self.out.at_condition(at, &Default::default(), &sequences);
                    return Ok(());
                }
                let number = self.read(id, usage)?;
                let first = self.plan.cells.len() as u32;
                let table = self.table_of(id, usage, &number, Some(place));
                if self.is_dynamic(usage) {
                    self.out.at_condition(at, &Default::default(), &sequences);
                    self.out.tables.extend([(0, false), (1, true)].map(|(way, value)| UseTable {
                        cells: table.cells(way),
                        index: table.cell(way),
                        place: TablePlace::Way(decision, condition, value),
                        local: self.followed(usage).map(|local| (local, usage.read_at)),
                    }));
                } else {
                    self.out.at_condition(at, &Default::default(), &sequences);
                    self.out.condition_cells.insert(at, [first, first + 1]);
                }
            }
            UseSite::Switch(block) => {
                let mut sites = self.body.source.switches.iter();
                let site = sites.find(|site| site.block == block);
                if site.is_none_or(|site| site.computed) {
                    return Err("it is of a computed goto");
                }
                let number = self.read(id, usage)?;
                let table = self.table_of(id, usage, &number, None);
                let is_dynamic = self.is_dynamic(usage);
                for way in 0..usage.ways {
                    let out = self.out.switches.entry((block, way)).or_default();
                    if !is_dynamic {
                        out.cells.push(table.cells(way).0);
                        continue;
                    }
                    self.out.tables.push(UseTable {
                        cells: table.cells(way),
                        index: table.cell(way),
                        place: TablePlace::Out(Edge { from: block, way }),
                        local: self.followed(usage).map(|local| (local, usage.read_at)),
                    });
                }
            }
        }
        Ok(())
    }

    /// Records a use, however and by which paths it is reached.
    fn record_all(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        if self.pairs.is_shared(id) || self.pairs.by_way(id).next().is_some() {
            self.record(id, usage)?;
        }
        self.record_paths(id, usage)
    }

    /// Records the paths by which a use of a global is reached.
    fn record_paths(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        let asked = self.pairs.by_path(id);
        let Variable::Global(global) = usage.variable else { return Ok(()) };
        let global = &self.asked.globals[&global];
        let (Some(ways), Some(time)) = (self.ways.as_mut(), &global.time) else { return Ok(()) };
        let most = global.stores as usize + 1;
        let units = &*self.units;
        let trie = ways.trie(self.pairs.flow, units, (usage, asked), most, self.plan);
        let Some(trie) = trie else { return Ok(()) };
        let leaf = trie.leaf(&self.last(usage.variable), &format!("{time} - lydian_act"));
        let first = trie.first;
        match usage.at {
            UseSite::Stmt(stmt) => {
                let host = self.units.host_of_use(stmt)?;
                let record = format!("lydian_hit[{first} + {leaf}] = 1, ");
                self.record_value(host, usage, Some(stmt), &record)?;
            }
            UseSite::Return(block) => {
                let host = self.host_of_return(block)?;
                let record = format!("lydian_hit[{first} + {leaf}] = 1, ");
                self.record_value(host, usage, None, &record)?;
            }
            UseSite::Condition(decision, condition) => {
                let leaf = self.keep(usage, leaf)?;
                let set = |way: u32| format!("lydian_hit[{first} + {leaf} * 2 + {way}] = 1, ");
                let sequences = self.pairs.sequences_of(id);
                self.out.at_condition((decision, condition), &[set(0), set(1)], &sequences);
            }
            UseSite::Switch(block) => {
                let leaf = self.keep(usage, leaf)?;
                let ways = usage.ways;
                for way in 0..ways {
                    let out = self.out.switches.entry((block, way)).or_default();
                    let _ = write!(out.text, "lydian_hit[{first} + {leaf} * {ways} + {way}] = 1; ");
                }
            }
        }
        Ok(())
    }

    /// Records a use where it is no condition's.
    fn record_use(
        &mut self,
        id: UseId,
        usage: &Use,
        host: Host,
        stmt: Option<StmtId>,
    ) -> Result<(), &'static str> {
        let place = match host {
            Host::Around(span) if !self.follows_calls(span, stmt) => Some(Place::Before(span)),
            _ => None,
        };
        if place.is_some_and(|place| self.joins(place, id, usage)) {
            let lost = self.pairs.lost_with(usage.variable);
            self.units.record(host, "", &lost, &[]);
            return Ok(());
        }
        let number = match self.is_dynamic(usage) {
            true => self.last_at(id, usage),
            false => String::new(),
        };
        let first = self.plan.cells.len() as u32;
        let table = self.table_of(id, usage, &number, place);
        let is_copied = stmt.is_some_and(|stmt| self.body.source.is_copied(stmt));
        let (at, is_dynamic) = (usage.at, self.is_dynamic(usage));
        if let Some(Place::Before(around)) = place {
            let is_plain = self.units.is_straight(around, stmt) && !is_copied;
            if is_plain && is_dynamic {
                let (cells, index) = (table.cells(0), table.cell(0));
                let lost = self.pairs.lost_with(usage.variable);
                self.units.set_one_before(around, (cells.0, index.clone()), &lost);
                let (place, local) = (TablePlace::Before { around, at }, self.followed(usage));
                let local = local.map(|local| (local, None));
                self.out.tables.push(UseTable { cells, index, place, local });
                return Ok(());
            }
            if !is_dynamic {
                let lost = self.pairs.lost_with(usage.variable);
                self.units.set_before(around, first, &lost, &[]);
                if is_plain {
                    self.out.cells.push(UseCell { cell: first, around, at });
                }
                return Ok(());
            }
        }
        self.record_value(host, usage, stmt, &format!("lydian_hit[{}] = 1, ", table.cell(0)))
    }

    /// Whether a value is read after calls in the expression around it, which may define it, or not
    /// return.
    fn follows_calls(&self, around: Span, stmt: Option<StmtId>) -> bool {
        calls_within(self.body, around, stmt)
    }

    /// The text of the last call that is evaluated before a use's statement is, as a part of its
    /// text; none if that is within a choice.
    fn last_call_before(&self, usage: &Use) -> Option<Span> {
        let at = match usage.at {
            UseSite::Stmt(stmt) => Point::Stmt(stmt),
            UseSite::Return(block) => Point::Term(block),
            UseSite::Condition(..) | UseSite::Switch(_) => Point::Stmt(usage.read_at?),
        };
        self.units.last_call_before(at)
    }

    /// Puts the record of a use before the expression that reads the value, but after the calls in
    /// it, which may define it, and before anything that comes after these, which may trap. `stmt`
    /// is the statement that reads; none for a return.
    fn record_value(
        &mut self,
        host: Host,
        usage: &Use,
        stmt: Option<StmtId>,
        record: &str,
    ) -> Result<(), &'static str> {
        let lost = self.pairs.lost_with(usage.variable);
        match host {
            // The compiler may read an argument before it makes the calls in those to its left.
            Host::Around(_) if self.asked.any_order && self.is_plain_argument(usage, stmt) => {
                self.units.record(Host::Around(usage.argument), record, &lost, &[]);
            }
            Host::Around(span) if self.follows_calls(span, stmt) => {
                if let Some(call) = self.last_call_before(usage) {
                    self.units.record_after(call, record, &lost, &[]);
                    return Ok(());
                }
                let is_call = stmt.is_some_and(|stmt| self.is_call(stmt));
                let is_value = || {
                    let text = usage.argument;
                    !text.is_none() && text != span && !self.units.is_addressed(text)
                };
                if is_call && is_value() {
                    if super::scan::has_compound_literal(self.units.text_of(usage.argument)) {
                        return Err("its text has a compound literal");
                    }
                    if calls_within(self.body, usage.argument, stmt) {
                        let bits = stmt.is_some_and(|stmt| self.passes_bits(stmt, usage.argument));
                        self.units.record_late(usage.argument, bits, record, &lost, &[]);
                    } else {
                        self.units.record(Host::Around(usage.argument), record, &lost, &[]);
                    }
                } else if is_call {
                    return Err("it is read between calls of one expression");
                } else {
                    let bits = self.gives_bits(usage.at);
                    self.units.record_late(span, bits, record, &lost, &[]);
                }
            }
            _ => self.units.record(host, record, &lost, &[]),
        }
        Ok(())
    }

    /// Whether a use is in an argument of a call that calls nothing itself, and has a text of its own.
    fn is_plain_argument(&self, usage: &Use, stmt: Option<StmtId>) -> bool {
        let text = usage.argument;
        stmt.is_some_and(|stmt| self.is_call(stmt))
            && !text.is_none()
            && !self.units.is_addressed(text)
            && !super::scan::has_compound_literal(self.units.text_of(text))
            && !calls_within(self.body, text, stmt)
    }

    /// Whether the cells of another use in this place are this one's too: those of the uses that
    /// one definition reaches each, which are all set when control passes.
    fn joins(&mut self, place: Place, id: UseId, usage: &Use) -> bool {
        let known = self.known.get(&place).filter(|_| !self.is_dynamic(usage));
        let Some(first) = known.copied() else { return false };
        for (way, (owner, sequence)) in self.pairs.by_way(id) {
            self.plan.add_sequence(first + way as usize, owner, sequence);
        }
        true
    }

    fn is_call(&self, stmt: StmtId) -> bool {
        matches!(self.body.stmts[stmt], Stmt::Call { .. })
    }

    /// Whether an argument of a call, with this text, is a bit-field.
    fn passes_bits(&self, call: StmtId, text: Span) -> bool {
        let Stmt::Call { args, .. } = &self.body.stmts[call] else { return false };
        let mut args = args.iter().filter(|arg| self.body.source.exprs[**arg] == text);
        args.any(|arg| reads_bits(self.body, *arg))
    }

    /// Whether the value of what reads is a bit-field's.
    fn gives_bits(&self, at: UseSite) -> bool {
        let value = match at {
            UseSite::Stmt(stmt) => match &self.body.stmts[stmt] {
                Stmt::StoreBits { .. } => return true,
                Stmt::Assign { value, .. } | Stmt::Store { value, .. } => *value,
                _ => return false,
            },
            UseSite::Return(block) => match self.body.blocks[block].term {
                Terminator::Return(Some(value)) => value,
                _ => return false,
            },
            UseSite::Condition(..) | UseSite::Switch(_) => return false,
        };
        reads_bits(self.body, value)
    }

    /// The name of the number that a condition's use looks up: kept from where the value is read,
    /// if an effect may lie between.
    fn read(&mut self, id: UseId, usage: &Use) -> Result<String, &'static str> {
        match self.is_dynamic(usage) {
            true => self.keep(usage, self.last_at(id, usage)),
            false => Ok(String::new()),
        }
    }

    /// The name of what a condition's use looks up, a number: kept from where the value is read, if
    /// that is earlier.
    fn keep(&mut self, usage: &Use, number: String) -> Result<String, &'static str> {
        let Some(stmt) = usage.read_at else { return Ok(number) };
        let host = self.units.host(stmt, self.body.source.stmts[stmt])?;
        if !matches!(host, Host::Around(_)) {
            return Err("it is read in a declaration");
        }
        let kept = format!("lydian_q{}", self.reads);
        self.reads += 1;
        let _ = write!(self.out.declarations, "unsigned long long {kept} = 0; ");
        self.record_value(host, usage, Some(stmt), &format!("{kept} = {number}, "))?;
        Ok(kept)
    }

    /// Adds the cells of a use. If only one definition can reach it, other such uses in the same
    /// `place` join it.
    fn table_of(&mut self, id: UseId, usage: &Use, number: &str, place: Option<Place>) -> Table {
        let first = self.plan.cells.len();
        let is_dynamic = self.is_dynamic(usage);
        if let Some(place) = place.filter(|_| !is_dynamic) {
            self.known.insert(place, first);
        }
        let numbers: Vec<u32> = match (is_dynamic, usage.variable) {
            (false, _) => {
                usage.reaching.iter().map(|d| self.pairs.flow.definition(*d).number).collect()
            }
            // Number 0 is that of no definition.
            (true, Variable::Local(_)) => {
                let own =
                    self.pairs.flow.definitions.iter().filter(|d| d.variable == usage.variable);
                std::iter::once(0).chain(own.map(|definition| definition.number)).collect()
            }
            (true, Variable::Global(global)) => {
                let global = &self.asked.globals[&global];
                // One more for definitions in other units.
                (0..=global.stores + u32::from(global.base.is_some())).collect()
            }
        };
        let cells = self.pairs.by_number(id);
        for way in 0..usage.ways {
            for number in &numbers {
                let all = cells.get(&(*number, way)).map_or(&[][..], Vec::as_slice);
                self.plan.sequences_cell(all);
            }
        }
        let (first, count) = (first as u32, numbers.len() as u32);
        let shared = match usage.variable {
            Variable::Global(global) if self.pairs.is_shared(id) => {
                let global = &self.asked.globals[&global];
                global.base.map(|base| (base, global.stores))
            }
            _ => None,
        };
        let number = match shared {
            Some((base, stores)) => {
                let (cells, ways) = ((first + count - 1, count), usage.ways);
                let found = SharedUse { function: self.function, usage: id, cells, ways };
                self.plan.shared.uses.push(found);
                Which::Shared(number.to_owned(), base, stores)
            }
            None => Which::Number(number.to_owned()),
        };
        Table { first, numbers: count, number: is_dynamic.then_some(number) }
    }
}

fn reads_bits(body: &Body, expr: ExprId) -> bool {
    match &body.exprs[expr] {
        Expr::LoadBits { .. } => true,
        Expr::Cast(_, _, inner) => reads_bits(body, *inner),
        _ => false,
    }
}

/// Whether more than one definition can reach a use.
fn is_dynamic(usage: &Use) -> bool {
    usage.undefined || usage.reaching.len() != 1
}
