//! Probes of def-use pairs of whole variables ([002] III, with a variable in place of monitors).
//!
//! `lydian_dN` holds the number of the last definition of local `vN` in this activation; 0 means
//! that there was none. A definition sets the variable. A use sets the cell of its own table that
//! the number selects. So both cost one store, whatever the number of pairs, and compilers keep the
//! numbers in registers. A use that only one definition can reach needs no number: it sets its
//! cell.
//!
//! A write through a pointer that may hit a variable keeps its address in `lydian_heldN`. After the
//! write, the number is set if the address lies in the variable.
//!
//! The number of a global lies in a static variable `lydian_gN`; 0 stands for the initial value. In
//! the user's own program, the number of a global with external linkage lies in a weak variable
//! `lydian_last_NAME`, which all units share. There, a number is the unit's base plus the
//! definition's number, so that definitions of different units differ.
//!
//! Pairs of globals that must be reached by a path are recorded by [`super::path_history`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lydian_base::{EntityId, Span};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BlockId, Body, ConditionId, DecisionId, FuncId, GlobalId, Linkage, LocalId, Program, Stmt,
    StmtId, Terminator,
};
use lydian_objective::dataflow::{Definition, DefinitionSite, Use, UseId, UseSite, Variable};
use lydian_objective::{Site, UnitFlow};
use rustc_hash::FxHashMap;

use crate::plan::{Plan, SharedPlace, SharedUse};
use crate::rewrite::data_flow::FunctionContext;
use crate::rewrite::data_flow::pairs::{
    FunctionPairs, GlobalAddress, NOT_WATCHED, WantedPairs, unit_hash,
};
use crate::rewrite::data_flow::path_history::PathHistory;
use crate::rewrite::data_flow::pointer_writes::{PointerWrite, pointer_write};
use crate::rewrite::data_flow::probes::{FlowProbes, TablePlace, UseCell, UseTable};
use crate::rewrite::data_flow::use_cells::{
    NUMBER, REACH, ReachingNumber, UseCells, asks_others, says_visible,
};
use crate::rewrite::redundant::last_definitions::NumberSet;
use crate::rewrite::request::{Purpose, RewriteRequest};
use crate::rewrite::source::bit_fields::reads_bits;
use crate::rewrite::source::calls::calls_within;
use crate::rewrite::source::scan;
use crate::rewrite::statement_probes::{ProbeHost, StatementProbes};
use crate::rewrite::text::prelude::UnitRole;
use crate::rewrite::uninstrumentable;
use crate::rewrite::uninstrumentable::NO_PLACE;

/// The pairs of whole variables that all watched functions together want, with the variables of
/// globals.
#[derive(Debug, Default)]
pub(crate) struct VariablePairs<'a> {
    pub(crate) pairs: WantedPairs<'a>,
    globals: BTreeMap<GlobalId, GlobalNumber>,
    /// Where functions are not watched and may not be rewritten.
    tests: bool,
    /// Whether calls of one expression may come in any order.
    any_order: bool,
}

/// A global of which pairs are wanted.
#[derive(Debug, Default)]
struct GlobalNumber {
    /// Whether its last definition must be known.
    dynamic: bool,
    /// How many stores there are to it.
    stores: u32,
    /// The variable with the number of its last definition.
    name: String,
    /// The base that is added to numbers, if units share the variable.
    base: Option<u64>,
    /// Whether its declaration has the attribute of default visibility.
    is_visible: bool,
    /// The numbers of uninstrumentable definitions, with the reasons.
    uninstrumentable: BTreeMap<u32, &'static str>,
    /// Its address, if writes through pointers may hit it.
    at: Option<GlobalAddress>,
    /// The variable with the time of its last definition, if paths from there are wanted.
    time: Option<String>,
}

/// Uninstrumentable definitions of locals, by variable and number, with the reasons.
type UninstrumentableDefinitions = BTreeMap<(Variable, u32), &'static str>;

impl<'a> VariablePairs<'a> {
    /// `flow` gives the data flow of the program.
    pub(crate) fn new(request: &RewriteRequest<'_>, flow: impl FnOnce() -> &'a UnitFlow) -> Self {
        let asks = |of: &lydian_objective::FunctionObjectives| {
            of.sequences.values().any(|sequence| sequence.flow.is_some())
        };
        let shares = request.purpose == Purpose::Program && asks_others(request);
        if !shares && !request.watched.iter().any(asks) {
            return Self::default();
        }
        let flow = flow();
        let storing = |id| flow.stores(id).all().map(|(function, _)| *function).collect();
        let mut pairs = WantedPairs::new(request, flow, |sequence| sequence.flow, storing);
        if shares {
            pairs.share(request);
        }
        let tests = request.purpose == Purpose::Tests;
        let any_order = request.any_order;
        let mut this = Self { pairs, globals: BTreeMap::new(), tests, any_order };
        this.globals(request, flow);
        this
    }

    /// Adds the base and the uninstrumentable definitions of shared variables to the plan.
    pub(crate) fn note_shared(&self, plan: &mut Plan) {
        let shared = self.globals.iter().filter_map(|(id, of)| Some((id, of, of.base?)));
        for (id, global, base) in shared {
            plan.shared.base = base;
            let affected = global.uninstrumentable.iter().map(|(number, reason)| {
                (SharedPlace::Definition(*id, *number), (*reason).to_owned())
            });
            plan.shared.uninstrumentable.extend(affected);
        }
    }

    /// Works out how the last definitions of globals are known.
    fn globals(&mut self, request: &RewriteRequest<'_>, flow: &UnitFlow) {
        let program = request.program;
        // Numbers have the lower bits to themselves, and no sum is 0, which is an initial value.
        let base = (unit_hash(request.map) | 1 << 63) & !0xff_ffff;
        for id in self.pairs.globals() {
            let stores = flow.stores(id);
            let shared = !self.tests && program.globals[id].linkage == Linkage::External;
            let by_path = self.pairs.asks_paths(Variable::Global(id));
            let mut global = GlobalNumber {
                dynamic: shared || by_path,
                time: by_path.then(|| format!("lydian_when_g{}", id.index())),
                stores: stores.all().count() as u32,
                name: match shared {
                    true => format!("lydian_last_{}", program.globals[id].name),
                    false => format!("lydian_g{}", id.index()),
                },
                base: shared.then_some(base),
                is_visible: says_visible(request.map.slice(program.globals[id].span)),
                uninstrumentable: BTreeMap::new(),
                at: (!stores.indirect.is_empty())
                    .then(|| GlobalAddress::of(request, id, format!("lydian_at_g{}", id.index()))),
            };
            for (function, site) in stores.all() {
                let body = program.functions[*function].body.as_ref();
                let (Some(body), Site::Stmt(stmt)) = (body, site) else { continue };
                let units = StatementProbes::new(body, request.map.text());
                let indirect = stores.indirect.contains(&(*function, *site));
                let affected = match self.pairs.is_rewritten(*function) {
                    false => Some(NOT_WATCHED),
                    true if indirect => {
                        pointer_write(program, *function, body, &units, *stmt, Variable::Global(id))
                            .err()
                    }
                    true => units.host(*stmt, body.source.stmts[*stmt]).err(),
                };
                let number = affected.and_then(|_| self.number(*function, id, *stmt, indirect));
                global.uninstrumentable.extend(number.zip(affected));
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
    pub(crate) fn declarations(&self, scope: UnitRole) -> String {
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

    /// The text after the unit's text: the addresses of globals.
    pub(crate) fn epilogue(&self, scope: UnitRole) -> String {
        let used = self.globals.values().filter(|global| global.dynamic);
        used.filter_map(|global| global.at.as_ref()).map(|at| at.define(scope)).collect()
    }

    /// Whether which definition reached a use is known only at run time.
    fn is_dynamic(&self, usage: &Use) -> bool {
        let by_run = || match usage.variable {
            Variable::Global(global) => {
                let global = self.globals.get(&global);
                let is_kept = |of: &GlobalNumber| of.base.is_some() || of.time.is_some();
                self.any_order || global.is_some_and(is_kept)
            }
            Variable::Local(_) => false,
        };
        is_dynamic(usage) || by_run()
    }
}

/// Makes the probes of one function, and adds their cells to the plan.
pub(crate) fn flow_probes<'a>(
    asked: &VariablePairs<'_>,
    context: FunctionContext<'a>,
    units: &mut StatementProbes<'_>,
    history: &mut Option<PathHistory<'a>>,
    plan: &mut Plan,
) -> FlowProbes {
    let FunctionContext { program, body, function } = context;
    let Some(pairs) = FunctionPairs::new(&asked.pairs, function) else {
        return FlowProbes::default();
    };
    if pairs.asks_any_path() {
        history.get_or_insert_with(|| PathHistory::new(program, body));
    }
    let (out, joint_cells) = (FlowProbes::default(), FxHashMap::default());
    let mut builder = FlowProbeBuilder {
        asked,
        pairs,
        program,
        body,
        function,
        units,
        history,
        plan,
        out,
        reads: 0,
        joint_cells,
    };
    builder.all();
    builder.out
}

struct FlowProbeBuilder<'a, 't, 'w> {
    asked: &'a VariablePairs<'a>,
    pairs: FunctionPairs<'a>,
    program: &'a Program,
    body: &'a Body,
    function: FuncId,
    units: &'a mut StatementProbes<'t>,
    history: &'a mut Option<PathHistory<'w>>,
    plan: &'a mut Plan,
    out: FlowProbes,
    /// How many values are kept for conditions that read before an effect.
    reads: usize,
    /// The first cell of all uses in one place that one definition reaches each.
    joint_cells: FxHashMap<JointPlace, usize>,
}

/// Where several uses have one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum JointPlace {
    Before(Span),
    Condition(DecisionId, ConditionId),
}

impl FlowProbeBuilder<'_, '_, '_> {
    fn all(&mut self) {
        let uses = self.pairs.uses();
        let mut dynamic: BTreeSet<Variable> = uses
            .iter()
            .filter(|(_, usage)| self.is_dynamic(usage))
            .map(|(_, usage)| usage.variable)
            .collect();
        let globals = self.asked.globals.iter().filter(|(_, global)| global.dynamic);
        dynamic.extend(globals.map(|(id, _)| Variable::Global(*id)));
        let uninstrumentable = self.define(&dynamic);
        for (id, usage) in uses {
            let is_dynamic = self.is_dynamic(usage);
            let reason = match self.obstacle(usage, &uninstrumentable).filter(|_| is_dynamic) {
                Some(reason) => Some(reason),
                None => self.probe_with_paths(id, usage).err(),
            };
            if let Some(reason) = reason {
                uninstrumentable::add_all(&self.pairs.sequences_of(id), reason, self.plan);
            }
        }
    }

    /// Whether which definition reached a use is known only at run time.
    fn is_dynamic(&self, usage: &Use) -> bool {
        self.asked.is_dynamic(usage) || self.is_left_open(usage)
    }

    /// Whether a call that gets a local's address may come before or after a use in the same
    /// expression, by the compiler's choice.
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

    /// The local of a use, if the graph determines which of its definitions precede the use.
    fn followed(&self, usage: &Use) -> Option<LocalId> {
        usage.variable.local().filter(|_| !self.is_left_open(usage))
    }

    /// The reason if a definition that can reach a use is uninstrumentable. Other uninstrumentable
    /// definitions of the variable do not matter: they are not the last ones at the use.
    fn obstacle(
        &self,
        usage: &Use,
        uninstrumentable: &UninstrumentableDefinitions,
    ) -> Option<&'static str> {
        let mut reaching = usage.reaching.iter().map(|id| self.pairs.flow.definition(*id).number);
        match usage.variable {
            Variable::Local(_) => {
                reaching.find_map(|n| uninstrumentable.get(&(usage.variable, n)).copied())
            }
            Variable::Global(id) => {
                let uninstrumentable = &self.asked.globals[&id].uninstrumentable;
                reaching.find_map(|number| uninstrumentable.get(&number).copied())
            }
        }
    }

    /// The statement of a definition's probe.
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

    /// The text of the last definition at a use: a number, or a shared variable.
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

    /// Adds the probes of all definitions. Returns the uninstrumentable definitions of locals, with
    /// the reasons.
    fn define(&mut self, variables: &BTreeSet<Variable>) -> UninstrumentableDefinitions {
        let mut uninstrumentable = UninstrumentableDefinitions::new();
        let (mut hosts, mut writes) = (Vec::new(), Vec::new());
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
                match pointer_write(
                    self.program,
                    self.function,
                    self.body,
                    self.units,
                    stmt,
                    variable,
                ) {
                    Ok(write) => writes.push((definition, stmt, write)),
                    Err(reason) => _ = uninstrumentable.insert((variable, number), reason),
                }
                continue;
            }
            match self.units.host(stmt, definition.span) {
                Ok(host) => hosts.push((definition, stmt, host)),
                Err(reason) => _ = uninstrumentable.insert((variable, number), reason),
            }
        }
        // Without the probe of one definition, the number is not known.
        for (variable, _) in uninstrumentable.keys() {
            if let Variable::Local(local) = variable {
                self.out.numbers.shift_remove(local);
            }
        }
        for (definition, stmt, write) in writes {
            self.define_through(definition, stmt, &write);
        }
        let kept = 0..self.units.kept_values();
        kept.for_each(|n| self.out.declarations += &format!("unsigned long lydian_held{n} = 0; "));
        for (definition, stmt, host) in hosts {
            let (set, sequences) =
                (self.set(definition), self.pairs.sequences_with(definition.variable));
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
        uninstrumentable
    }

    /// Adds the probe of a write through a pointer: it sets the number if the write hits the
    /// variable.
    fn define_through(&mut self, definition: &Definition, stmt: StmtId, write: &PointerWrite) {
        let sequences = self.pairs.sequences_with(definition.variable);
        let number = write.keep(self.units, &sequences);
        let set = format!("if ({}) {{ {}}} ", write.hits(number), self.set(definition));
        self.units.define(stmt, ProbeHost::Around(write.around), &set, &sequences);
    }

    fn host_of_return(&self, block: BlockId) -> Result<ProbeHost, &'static str> {
        let mut roots = self.body.source.roots.values();
        let root = roots.find(|root| root.point == Point::Term(block));
        Ok(ProbeHost::Around(root.ok_or(NO_PLACE)?.span))
    }

    /// Adds the probe of a use.
    fn record(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        match usage.at {
            UseSite::Stmt(stmt) => {
                let host = self.units.host_of_use(stmt)?;
                self.probe_use(id, usage, host, Some(stmt))?;
            }
            UseSite::Return(block) => {
                let host = self.host_of_return(block)?;
                self.probe_use(id, usage, host, None)?;
            }
            UseSite::Condition(decision, condition) => {
                let mut sites = self.body.source.decisions.iter();
                if !sites.any(|site| site.decision == decision) {
                    return Err(NO_PLACE);
                }
                let (at, sequences) = ((decision, condition), self.pairs.sequences_of(id));
                let place = JointPlace::Condition(decision, condition);
                if self.joins(place, id, usage) {
                    self.out.at_condition(at, &Default::default(), &sequences);
                    return Ok(());
                }
                let number = self.read(id, usage)?;
                let first = self.plan.cells.len() as u32;
                let table = self.table_of(id, usage, &number, Some(place));
                self.out.at_condition(at, &Default::default(), &sequences);
                if self.is_dynamic(usage) {
                    self.out.tables.extend([(0, false), (1, true)].map(|(way, value)| UseTable {
                        cells: table.cells(way),
                        index: table.cell(way),
                        place: TablePlace::Way(decision, condition, value),
                        local: self.followed(usage).map(|local| (local, usage.read_at)),
                    }));
                } else {
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

    /// Adds the probes of a use, with and without paths.
    fn probe_with_paths(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        if self.pairs.is_shared(id) || self.pairs.by_way(id).next().is_some() {
            self.record(id, usage)?;
        }
        self.probe_paths(id, usage)
    }

    /// Adds the probes of paths by which a use of a global is reached.
    fn probe_paths(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        let asked = self.pairs.by_path(id);
        let Variable::Global(global) = usage.variable else { return Ok(()) };
        let global = &self.asked.globals[&global];
        let (Some(history), Some(time)) = (self.history.as_mut(), &global.time) else {
            return Ok(());
        };
        let most = global.stores as usize + 1;
        let units = &*self.units;
        let trie = history.trie(self.pairs.flow, units, (usage, asked), most, self.plan);
        let Some(trie) = trie else { return Ok(()) };
        let leaf = trie.leaf(&self.last(usage.variable), &format!("{time} - lydian_act"));
        let first = trie.first;
        match usage.at {
            UseSite::Stmt(stmt) => {
                let host = self.units.host_of_use(stmt)?;
                let record = format!("lydian_hit[{first} + {leaf}] = 1, ");
                self.probe_value(host, usage, Some(stmt), &record)?;
            }
            UseSite::Return(block) => {
                let host = self.host_of_return(block)?;
                let record = format!("lydian_hit[{first} + {leaf}] = 1, ");
                self.probe_value(host, usage, None, &record)?;
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

    /// Adds the probe of a use outside of conditions.
    fn probe_use(
        &mut self,
        id: UseId,
        usage: &Use,
        host: ProbeHost,
        stmt: Option<StmtId>,
    ) -> Result<(), &'static str> {
        let place = match host {
            ProbeHost::Around(span) if !self.follows_calls(span, stmt) => {
                Some(JointPlace::Before(span))
            }
            _ => None,
        };
        if place.is_some_and(|place| self.joins(place, id, usage)) {
            let affected = self.pairs.sequences_with(usage.variable);
            self.units.probe_before(host, "", &affected, &[]);
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
        if let Some(JointPlace::Before(around)) = place {
            let is_plain = self.units.is_straight(around, stmt) && !is_copied;
            if is_plain && is_dynamic {
                let (cells, index) = (table.cells(0), table.cell(0));
                let affected = self.pairs.sequences_with(usage.variable);
                self.units.set_one_before(around, (cells.0, index.clone()), &affected);
                let (place, local) = (TablePlace::Before { around, at }, self.followed(usage));
                let local = local.map(|local| (local, None));
                self.out.tables.push(UseTable { cells, index, place, local });
                return Ok(());
            }
            if !is_dynamic {
                let affected = self.pairs.sequences_with(usage.variable);
                self.units.set_before(around, first, &affected, &[]);
                if is_plain {
                    self.out.cells.push(UseCell { cell: first, around, at });
                }
                return Ok(());
            }
        }
        self.probe_value(host, usage, stmt, &format!("lydian_hit[{}] = 1, ", table.cell(0)))
    }

    /// Whether a value is read after calls in the expression around it. These may define it, or not
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

    /// Puts the probe of a use before the expression that reads the value, but after the calls in
    /// it, which may define it, and before all that follows the calls, which may trap. `stmt` is
    /// the statement that reads; `None` for a return.
    fn probe_value(
        &mut self,
        host: ProbeHost,
        usage: &Use,
        stmt: Option<StmtId>,
        record: &str,
    ) -> Result<(), &'static str> {
        let affected = self.pairs.sequences_with(usage.variable);
        match host {
            // The compiler may read an argument before it makes the calls in the arguments to its
            // left.
            ProbeHost::Around(_) if self.asked.any_order && self.is_plain_argument(usage, stmt) => {
                self.units.probe_before(ProbeHost::Around(usage.argument), record, &affected, &[]);
            }
            ProbeHost::Around(span) if self.follows_calls(span, stmt) => {
                if let Some(call) = self.last_call_before(usage) {
                    self.units.probe_after_call(call, record, &affected, &[]);
                    return Ok(());
                }
                let is_call = stmt.is_some_and(|stmt| self.is_call(stmt));
                let is_value = || {
                    let text = usage.argument;
                    !text.is_none() && text != span && !self.units.is_addressed(text)
                };
                if is_call && is_value() {
                    if scan::has_compound_literal(self.units.text_of(usage.argument)) {
                        return Err("its text has a compound literal");
                    }
                    if calls_within(self.body, usage.argument, stmt) {
                        let bits = stmt.is_some_and(|stmt| self.passes_bits(stmt, usage.argument));
                        self.units.probe_after_calls(usage.argument, bits, record, &affected, &[]);
                    } else {
                        self.units.probe_before(
                            ProbeHost::Around(usage.argument),
                            record,
                            &affected,
                            &[],
                        );
                    }
                } else if is_call {
                    return Err("it is read between calls of one expression");
                } else {
                    let bits = self.gives_bits(usage.at);
                    self.units.probe_after_calls(span, bits, record, &affected, &[]);
                }
            }
            _ => self.units.probe_before(host, record, &affected, &[]),
        }
        Ok(())
    }

    /// Whether a use is in an argument of a call that calls nothing itself, and has a text of its
    /// own.
    fn is_plain_argument(&self, usage: &Use, stmt: Option<StmtId>) -> bool {
        let text = usage.argument;
        stmt.is_some_and(|stmt| self.is_call(stmt))
            && !text.is_none()
            && !self.units.is_addressed(text)
            && !scan::has_compound_literal(self.units.text_of(text))
            && !calls_within(self.body, text, stmt)
    }

    /// Adds a use that only one definition can reach to the cells of another such use in the same
    /// place, if there is one: all of them are set when control passes. Returns whether it did.
    fn joins(&mut self, place: JointPlace, id: UseId, usage: &Use) -> bool {
        let known = self.joint_cells.get(&place).filter(|_| !self.is_dynamic(usage));
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

    /// Whether the value of a use is a bit-field's.
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

    /// The text of the number that a use in a condition or switch looks up, kept as [`Self::keep`]
    /// does; empty if only one definition reaches the use.
    fn read(&mut self, id: UseId, usage: &Use) -> Result<String, &'static str> {
        match self.is_dynamic(usage) {
            true => self.keep(usage, self.last_at(id, usage)),
            false => Ok(String::new()),
        }
    }

    /// The text of a number that a use in a condition or switch looks up. If the value is read
    /// earlier, the number is kept in a variable from there.
    fn keep(&mut self, usage: &Use, number: String) -> Result<String, &'static str> {
        let Some(stmt) = usage.read_at else { return Ok(number) };
        let host = self.units.host(stmt, self.body.source.stmts[stmt])?;
        if !matches!(host, ProbeHost::Around(_)) {
            return Err("it is read in a declaration");
        }
        let kept = format!("lydian_q{}", self.reads);
        self.reads += 1;
        let _ = write!(self.out.declarations, "unsigned long long {kept} = 0; ");
        self.probe_value(host, usage, Some(stmt), &format!("{kept} = {number}, "))?;
        Ok(kept)
    }

    /// Adds the cells of a use. If only one definition can reach it, other such uses in the same
    /// `place` join it.
    fn table_of(
        &mut self,
        id: UseId,
        usage: &Use,
        number: &str,
        place: Option<JointPlace>,
    ) -> UseCells {
        let first = self.plan.cells.len();
        let is_dynamic = self.is_dynamic(usage);
        if let Some(place) = place.filter(|_| !is_dynamic) {
            self.joint_cells.insert(place, first);
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
                // One more number stands for definitions in other units.
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
                ReachingNumber::Shared(number.to_owned(), base, stores)
            }
            None => ReachingNumber::Number(number.to_owned()),
        };
        UseCells { first, numbers: count, number: is_dynamic.then_some(number) }
    }
}

/// Whether more than one definition can reach a use.
fn is_dynamic(usage: &Use) -> bool {
    usage.undefined || usage.reaching.len() != 1
}
