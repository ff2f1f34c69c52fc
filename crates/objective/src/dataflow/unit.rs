//! Data flow over all functions of a program, in which definitions of globals reach uses in other
//! functions.
//!
//! It is computed on the graph of all functions ([`super::graph`]). The functions that others can
//! call are those of external linkage, those whose address is taken, and those that nothing calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::{
    Expr, FuncId, GlobalId, GlobalInit, Linkage, Program, RelocationTarget, StmtId, Terminator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Access, Grain};
use super::def_use::{DataFlow, Definition, DefinitionId, DefinitionSite, Use, UseId, Variable};
use super::events::{CallTarget, VariableEvent};
use super::globals::TrackedGlobals;
use super::graph::{FlowBlock, FlowEvent, FlowFunction, FlowGraph, FlowUse, FlowVariable};
use super::linked::SharedFlow;
use super::local::LocalFlow;
use crate::hyper::{CellDefinition, CellDefinitions, Definitions};
use crate::label::{LabelId, Pred, Site};

/// The definitions and uses of all functions of a program.
#[derive(Clone, Debug, Default)]
pub struct UnitFlow {
    functions: BTreeMap<FuncId, DataFlow>,
    /// The stores to each global, by number from 1.
    stores: BTreeMap<GlobalId, Arc<Definitions>>,
    /// The same for stores to cells, in a data flow of cells.
    cell_stores: BTreeMap<GlobalId, Arc<CellDefinitions>>,
    /// The labels of a function that sequences of others have as atoms, with their texts.
    shared: BTreeMap<FuncId, IndexMap<(Site, Pred), Span>>,
    /// The graph on which reaching definitions were computed.
    graph: FlowGraph,
    /// The uses of the graph.
    graph_uses: Vec<(FuncId, UseId)>,
    /// The globals that are not followed, because an unsupported function names them.
    untracked: Vec<GlobalId>,
}

/// The data flow of a unit that other units need, and the meaning of its numbers.
#[derive(Clone, Debug, Default)]
pub struct UnitShared {
    /// The data flow that other units need.
    pub flow: SharedFlow,
    /// The variables of the graph.
    pub variables: Vec<GlobalId>,
    /// Its functions.
    pub functions: Vec<FuncId>,
    /// Its uses.
    pub uses: Vec<(FuncId, UseId)>,
}

/// The data flows of one program that was lowered from one text, each computed when it is first asked
/// for. All calls must be for the same program and text.
#[derive(Debug, Default)]
pub struct UnitFlows {
    whole: OnceLock<UnitFlow>,
    cells: OnceLock<UnitFlow>,
}

impl UnitFlows {
    /// The data flow of whole variables: [`UnitFlow::of`].
    pub fn whole(&self, program: &Program, map: &SourceMap) -> &UnitFlow {
        self.whole.get_or_init(|| UnitFlow::of(program, map))
    }

    /// The data flow of cells: [`UnitFlow::of_cells`].
    pub fn cells(&self, program: &Program, map: &SourceMap) -> &UnitFlow {
        self.cells.get_or_init(|| UnitFlow::of_cells(program, map, self.whole(program, map)))
    }
}

impl UnitFlow {
    /// Computes the data flow of a program that was lowered from a text. Functions and globals of
    /// other units that were linked have no definitions and uses: they are as unknown as if they were
    /// only declared.
    pub fn of(program: &Program, map: &SourceMap) -> Self {
        let mut this = Self::with_grain(program, map, Grain::Whole);
        this.share(program);
        this
    }

    /// The same for the cells of variables that have some; other variables are left out
    /// ([`super::cells`]). `whole` is [`Self::of`] the same program. Its shared labels come before
    /// those of this data flow.
    pub fn of_cells(program: &Program, map: &SourceMap, whole: &Self) -> Self {
        let mut this = Self::with_grain(program, map, Grain::Cells);
        this.shared = whole.shared.clone();
        this.share(program);
        this
    }

    fn with_grain(program: &Program, map: &SourceMap, grain: Grain) -> Self {
        let globals = TrackedGlobals::of(program, map, grain);
        let local_flows: BTreeMap<FuncId, LocalFlow> = program
            .defined()
            .filter(|(id, _)| globals.defined.contains(id))
            .filter_map(|(id, f)| Some((id, LocalFlow::of(program, f.body.as_ref()?, &globals))))
            .collect();
        let stores = Stores::new(&globals, &local_flows);
        let made = GraphMaker::new(program, &stores, &local_flows).make();
        let mut reached = made.graph.reaching();
        let mut reaching: BTreeMap<FuncId, BTreeMap<usize, BTreeSet<u32>>> = BTreeMap::new();
        for (index, (function, usage)) in made.uses.iter().enumerate() {
            let numbers = std::mem::take(&mut reached[index]);
            reaching.entry(*function).or_default().insert(*usage, numbers);
        }
        let mut untracked: Vec<GlobalId> = globals.untracked.iter().copied().collect();
        untracked.sort_unstable();
        let mut joiner =
            Joiner { program, grain, stores: &stores, reaching, order: FxHashMap::default() };
        let flow = joiner.join(local_flows);
        let id = |(function, at): &(FuncId, usize)| (*function, joiner.order[function][*at]);
        let graph_uses = made.uses.iter().map(id).collect();
        Self { graph: made.graph, graph_uses, untracked, ..flow }
    }

    /// The data flow that other units of a program that is linked later need: the effects of this
    /// unit's functions on variables of external linkage.
    pub fn for_others(&self, program: &Program) -> UnitShared {
        let is_external = |id: &GlobalId| program.globals[*id].linkage == Linkage::External;
        let all: Vec<GlobalId> = self.stores.keys().copied().collect();
        let (graph, kept) = self.graph.reduced(|at| is_external(&all[at]));
        let name = |id: &GlobalId| program.globals[*id].name.clone();
        let untracked = self.untracked.iter().filter(|id| is_external(id)).map(name).collect();
        let taken = taken(program).into_iter().map(|id| &program.functions[id]);
        let taken = taken.filter(|function| function.body.is_none() || function.library);
        let mut taken: Vec<String> = taken.map(|function| function.name.clone()).collect();
        taken.sort_unstable();
        UnitShared {
            flow: SharedFlow { graph, untracked, taken },
            variables: all.into_iter().filter(is_external).collect(),
            functions: self.functions.keys().copied().collect(),
            uses: kept.into_iter().map(|at| self.graph_uses[at]).collect(),
        }
    }

    /// The definitions and uses of a function with a body.
    pub fn function(&self, function: FuncId) -> Option<&DataFlow> {
        self.functions.get(&function)
    }

    /// The stores to a global, by number from 1.
    pub fn stores(&self, global: GlobalId) -> Arc<Definitions> {
        self.stores.get(&global).cloned().unwrap_or_default()
    }

    /// The stores to cells of a global, by number from 1, in a data flow of cells.
    pub fn cell_stores(&self, global: GlobalId) -> Arc<CellDefinitions> {
        self.cell_stores.get(&global).cloned().unwrap_or_default()
    }

    /// The labels of a function that sequences of others have as atoms, with the texts to show for
    /// them. They are its first labels, in this order.
    pub fn shared(&self, function: FuncId) -> impl Iterator<Item = (Site, &Pred, Span)> {
        let labels = self.shared.get(&function).into_iter().flatten();
        labels.map(|((site, pred), span)| (*site, pred, *span))
    }

    /// The number that a label of [`Self::shared`] has.
    pub fn shared_label(&self, function: FuncId, site: Site, pred: &Pred) -> Option<LabelId> {
        let labels = self.shared.get(&function)?;
        labels.get_index_of(&(site, pred.clone())).map(LabelId::from_index)
    }

    /// Collects the labels of each function that are atoms of sequences of other functions.
    fn share(&mut self, program: &Program) {
        let mut atoms: BTreeMap<FuncId, BTreeSet<SharedAtom>> = BTreeMap::new();
        for flow in self.functions.values() {
            for definition in &flow.definitions {
                if let DefinitionSite::Elsewhere(function, stmt) = definition.at {
                    let start = definition.span.start;
                    let atom = SharedAtom::Definition { start, stmt };
                    atoms.entry(function).or_default().insert(atom);
                }
            }
            for usage in &flow.uses {
                if let Some((function, id)) = usage.elsewhere {
                    let atom = SharedAtom::Use { start: usage.span.start, id };
                    atoms.entry(function).or_default().insert(atom);
                }
            }
        }
        for (function, atoms) in atoms {
            let Some(body) = &program.functions[function].body else { continue };
            let flow = &self.functions[&function];
            let labels = self.shared.entry(function).or_default();
            for atom in atoms {
                let id = match atom {
                    SharedAtom::Definition { stmt, .. } => {
                        let label = (Site::Stmt(stmt), Pred::Const(true));
                        labels.entry(label).or_insert(body.source.stmts[stmt]);
                        continue;
                    }
                    SharedAtom::Use { id, .. } => id,
                };
                let usage = flow.usage(id);
                for way in 0..usage.ways {
                    labels.entry(usage.at.label(body, way)).or_insert(usage.span);
                }
                if let Some(stmt) = usage.read_at {
                    let label = (Site::Stmt(stmt), Pred::Const(true));
                    labels.entry(label).or_insert(usage.span);
                }
            }
        }
    }
}

/// A label that is an atom of sequences of other functions. Definitions come before uses, and each
/// kind in the order of the text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SharedAtom {
    Definition { start: u32, stmt: StmtId },
    Use { start: u32, id: UseId },
}

/// The stores to globals, and their numbers.
struct Stores {
    /// The number of stores to a global in functions before this one.
    before: FxHashMap<(FuncId, GlobalId), u32>,
    /// All stores of a global, by number.
    of: BTreeMap<GlobalId, Vec<(FuncId, StmtId)>>,
    /// The numbers of those through pointers.
    indirect: FxHashSet<(GlobalId, u32)>,
    /// The cells of stores that do not write all cells, by number.
    cells: FxHashMap<(GlobalId, u32), Access>,
}

impl Stores {
    fn new(globals: &TrackedGlobals, local_flows: &BTreeMap<FuncId, LocalFlow>) -> Self {
        let mut of: BTreeMap<GlobalId, Vec<(FuncId, StmtId)>> =
            globals.all().into_iter().map(|global| (global, Vec::new())).collect();
        let mut before = FxHashMap::default();
        let mut indirect = FxHashSet::default();
        let mut cells = FxHashMap::default();
        for (function, local_flow) in local_flows {
            for definition in &local_flow.definitions {
                let Variable::Global(global) = definition.variable else { continue };
                let DefinitionSite::Stmt(stmt) = definition.at else { continue };
                let all = of.entry(global).or_default();
                before.entry((*function, global)).or_insert(all.len() as u32);
                all.push((*function, stmt));
                let number = all.len() as u32;
                if definition.indirect {
                    indirect.insert((global, number));
                }
                cells.extend(definition.cell.map(|cell| ((global, number), cell)));
            }
        }
        Self { before, of, indirect, cells }
    }

    /// The number in the program of a definition, from its number in a function.
    fn number(&self, function: FuncId, global: GlobalId, own: u32) -> u32 {
        own + self.before.get(&(function, global)).copied().unwrap_or(0)
    }
}

/// Makes the graph of a program.
struct GraphMaker<'a> {
    program: &'a Program,
    stores: &'a Stores,
    local_flows: &'a BTreeMap<FuncId, LocalFlow>,
    variables: FxHashMap<GlobalId, u32>,
    functions: FxHashMap<FuncId, u32>,
    made: MadeGraph,
}

/// A graph, and the uses that it was made of.
#[derive(Default)]
struct MadeGraph {
    graph: FlowGraph,
    /// The function of each use, and its position there.
    uses: Vec<(FuncId, usize)>,
}

impl<'a> GraphMaker<'a> {
    fn new(
        program: &'a Program,
        stores: &'a Stores,
        local_flows: &'a BTreeMap<FuncId, LocalFlow>,
    ) -> Self {
        let variables = stores.of.keys().zip(0..).map(|(id, index)| (*id, index)).collect();
        let functions = local_flows.keys().zip(0..).map(|(id, index)| (*id, index)).collect();
        Self { program, stores, local_flows, variables, functions, made: MadeGraph::default() }
    }

    fn make(mut self) -> MadeGraph {
        for (global, stores) in &self.stores.of {
            let writes = |number| self.stores.cells.get(&(*global, number)).map(Access::extent);
            self.made.graph.variables.push(FlowVariable {
                name: self.program.globals[*global].name.clone(),
                definitions: (1..=stores.len() as u32).map(writes).collect(),
            });
        }
        let taken = taken(self.program);
        let visible = visible(self.program, self.local_flows, &taken);
        for (function, local_flow) in self.local_flows {
            let blocks = self.blocks(*function, local_flow);
            let found = &self.program.functions[*function];
            self.made.graph.functions.push(FlowFunction {
                name: found.name.clone(),
                external: found.linkage == Linkage::External,
                visible: visible.contains(function),
                taken: taken.contains(function),
                blocks,
            });
        }
        self.made
    }

    fn blocks(&mut self, function: FuncId, local_flow: &LocalFlow) -> Vec<FlowBlock> {
        let Some(body) = &self.program.functions[function].body else { return Vec::new() };
        let reads: FxHashMap<(usize, usize), usize> = local_flow
            .global_reads
            .iter()
            .map(|read| ((read.block.index(), read.event), read.usage))
            .collect();
        let mut uses: FxHashMap<usize, u32> = FxHashMap::default();
        let order = local_flow.cfg.reverse_postorder();
        let at: FxHashMap<_, u32> = order.iter().copied().zip(0..).collect();
        let mut blocks = Vec::new();
        for block in order {
            let mut events = Vec::new();
            for (index, event) in local_flow.events[block.index()].iter().enumerate() {
                let usage = reads.get(&(block.index(), index)).copied();
                let usage = usage.map(|usage| {
                    *uses.entry(usage).or_insert_with(|| self.usage(function, local_flow, usage))
                });
                events.extend(self.event(function, local_flow, event, usage));
            }
            let successors = local_flow.cfg.successors(*block).iter().map(|to| at[to]).collect();
            let returns = matches!(body.blocks[*block].term, Terminator::Return(_));
            blocks.push(FlowBlock { events, successors, returns });
        }
        blocks
    }

    fn usage(&mut self, function: FuncId, local_flow: &LocalFlow, position: usize) -> u32 {
        let usage = &local_flow.uses[position];
        let Variable::Global(global) = usage.variable else { return 0 };
        let (variable, reads) = (self.variables[&global], usage.cell.as_ref().map(Access::extent));
        self.made.uses.push((function, position));
        self.made.graph.uses.push(FlowUse { variable, reads });
        self.made.uses.len() as u32 - 1
    }

    fn event(
        &self,
        function: FuncId,
        local_flow: &LocalFlow,
        event: &VariableEvent,
        usage: Option<u32>,
    ) -> Option<FlowEvent> {
        match event {
            VariableEvent::Write { variable: Variable::Global(global), at, .. }
            | VariableEvent::MayWrite { variable: Variable::Global(global), at, .. } => {
                let made = local_flow.made.get(&(*at, Variable::Global(*global)));
                let number = made.map_or(0, |made| {
                    let own = local_flow.definitions[made.index()].number;
                    self.stores.number(function, *global, own)
                });
                let variable = self.variables[global];
                let may_miss = matches!(event, VariableEvent::MayWrite { .. });
                Some(FlowEvent::Define { variable, number, may_miss })
            }
            VariableEvent::Call(CallTarget::Function(callee)) => {
                Some(FlowEvent::Call(self.functions[callee]))
            }
            VariableEvent::Call(CallTarget::Undefined(callee)) => {
                Some(FlowEvent::CallNamed(self.program.functions[*callee].name.clone()))
            }
            VariableEvent::Call(CallTarget::Outside) => Some(FlowEvent::CallOutside),
            VariableEvent::Read { .. } => usage.map(FlowEvent::Use),
            VariableEvent::Write { .. }
            | VariableEvent::MayWrite { .. }
            | VariableEvent::Forget { .. } => None,
        }
    }
}

/// The functions that code outside of the program may call.
fn visible(
    program: &Program,
    local_flows: &BTreeMap<FuncId, LocalFlow>,
    taken: &FxHashSet<FuncId>,
) -> BTreeSet<FuncId> {
    let called: FxHashSet<FuncId> = local_flows
        .values()
        .flat_map(|local_flow| local_flow.events.iter().flatten())
        .filter_map(|event| match event {
            VariableEvent::Call(CallTarget::Function(callee)) => Some(*callee),
            _ => None,
        })
        .collect();
    let is_visible = |id: &FuncId| {
        program.functions[*id].linkage == Linkage::External
            || taken.contains(id)
            || !called.contains(id)
    };
    local_flows.keys().copied().filter(is_visible).collect()
}

/// The functions whose addresses are taken somewhere, or that the system calls.
fn taken(program: &Program) -> FxHashSet<FuncId> {
    let mut taken = FxHashSet::default();
    for (_, function) in program.defined() {
        let exprs = function.body.iter().flat_map(|body| body.exprs.iter());
        taken.extend(exprs.filter_map(|(_, expr)| match expr {
            Expr::AddrFunc(function) => Some(*function),
            _ => None,
        }));
    }
    let target = |target: &RelocationTarget| match target {
        RelocationTarget::Function(function) => Some(*function),
        RelocationTarget::Global(_) => None,
    };
    for global in program.globals.values() {
        if let GlobalInit::Data { relocations, .. } = &global.init {
            taken.extend(relocations.iter().filter_map(|relocation| target(&relocation.target)));
        }
    }
    taken.extend(program.startup.iter().map(|startup| startup.function));
    taken.extend(program.aliases.iter().filter_map(|alias| target(&alias.target)));
    taken
}

/// Makes the data flow of functions from their own flows and the reaching definitions.
struct Joiner<'a> {
    program: &'a Program,
    grain: Grain,
    stores: &'a Stores,
    /// The numbers of the definitions that reach each use of a global, by function and position.
    reaching: BTreeMap<FuncId, BTreeMap<usize, BTreeSet<u32>>>,
    /// The numbers of each function's uses, by their first positions.
    order: FxHashMap<FuncId, Vec<UseId>>,
}

impl Joiner<'_> {
    fn join(&mut self, local_flows: BTreeMap<FuncId, LocalFlow>) -> UnitFlow {
        let mut functions = BTreeMap::new();
        let spans: FxHashMap<(FuncId, StmtId), Span> = local_flows
            .iter()
            .flat_map(|(function, local_flow)| {
                local_flow.definitions.iter().filter_map(|definition| match definition.at {
                    DefinitionSite::Stmt(stmt) => Some(((*function, stmt), definition.span)),
                    _ => None,
                })
            })
            .collect();
        let mut started = FxHashSet::default();
        for (function, local_flow) in local_flows {
            let reaching = self.reaching.remove(&function).unwrap_or_default();
            let flow = self.function(function, local_flow, reaching, &spans, &mut started);
            functions.insert(function, flow);
        }
        self.uses_elsewhere(&mut functions);
        let place = |(function, stmt): &(FuncId, StmtId)| (*function, Site::Stmt(*stmt));
        let stores = self.stores.of.iter().map(|(id, all)| {
            let variable = self.program.globals[*id].name.clone();
            let numbered = (1..).zip(all);
            let places = numbered.map(|(number, at)| {
                let indirect = self.stores.indirect.contains(&(*id, number));
                (place(at), indirect)
            });
            let (indirect, plain): (Vec<_>, Vec<_>) = places.partition(|(_, indirect)| *indirect);
            let only =
                |all: Vec<((FuncId, Site), bool)>| all.into_iter().map(|one| one.0).collect();
            let of = Some(Variable::Global(*id));
            let (places, indirect) = (only(plain), only(indirect));
            (*id, Arc::new(Definitions { variable, of, places, indirect }))
        });
        let stores = stores.collect();
        let cell_stores = self.cell_stores();
        UnitFlow { functions, stores, cell_stores, ..UnitFlow::default() }
    }

    /// The stores to cells of each global.
    fn cell_stores(&self) -> BTreeMap<GlobalId, Arc<CellDefinitions>> {
        let definitions = |id: &GlobalId, all: &[(FuncId, StmtId)]| {
            let numbered = (1..).zip(all);
            let places = numbered.map(|(number, (function, stmt))| CellDefinition {
                place: (*function, Site::Stmt(*stmt)),
                writes: self.stores.cells.get(&(*id, number)).map(|cell| (cell.addr, cell.bytes)),
                indirect: self.stores.indirect.contains(&(*id, number)),
            });
            let variable = self.program.globals[*id].name.clone();
            let (of, places) = (Some(Variable::Global(*id)), places.collect());
            (*id, Arc::new(CellDefinitions { variable, of, places }))
        };
        match self.grain {
            Grain::Whole => BTreeMap::new(),
            Grain::Cells => self.stores.of.iter().map(|(id, all)| definitions(id, all)).collect(),
        }
    }

    fn function(
        &mut self,
        function: FuncId,
        local_flow: LocalFlow,
        reaching: BTreeMap<usize, BTreeSet<u32>>,
        spans: &FxHashMap<(FuncId, StmtId), Span>,
        started: &mut FxHashSet<GlobalId>,
    ) -> DataFlow {
        let LocalFlow { mut definitions, mut uses, .. } = local_flow;
        let mut known: FxHashMap<(GlobalId, u32), DefinitionId> = FxHashMap::default();
        for (index, definition) in definitions.iter_mut().enumerate() {
            if let Variable::Global(global) = definition.variable {
                definition.number = self.stores.number(function, global, definition.number);
                known.insert((global, definition.number), DefinitionId::from_index(index));
            }
        }
        let mut order: Vec<usize> = reaching.keys().copied().collect();
        order.sort_by_key(|position| (uses[*position].span.start, *position));
        for position in order {
            let Variable::Global(global) = uses[position].variable else { continue };
            for number in &reaching[&position] {
                let id = *known.entry((global, *number)).or_insert_with(|| {
                    definitions.push(self.elsewhere(global, *number, spans, started));
                    DefinitionId::from_index(definitions.len() - 1)
                });
                uses[position].add([id], false);
            }
        }
        let mut order: Vec<usize> = (0..uses.len()).collect();
        order.sort_by_key(|at| (uses[*at].span.start, uses[*at].at, uses[*at].variable));
        let mut ids = vec![UseId::from_index(0); uses.len()];
        for (index, at) in order.iter().enumerate() {
            ids[*at] = UseId::from_index(index);
        }
        self.order.insert(function, ids);
        let uses = order.into_iter().map(|at| uses[at].clone()).collect();
        DataFlow { definitions, uses }
    }

    /// A definition of a global in another function, or its initial value.
    fn elsewhere(
        &self,
        global: GlobalId,
        number: u32,
        spans: &FxHashMap<(FuncId, StmtId), Span>,
        started: &mut FxHashSet<GlobalId>,
    ) -> Definition {
        let variable = Variable::Global(global);
        match number.checked_sub(1) {
            None => {
                let (at, own) = (DefinitionSite::Start, started.insert(global));
                let span = self.program.globals[global].span;
                Definition { variable, at, span, number, own, indirect: false, cell: None }
            }
            Some(index) => {
                let place = self.stores.of[&global][index as usize];
                let at = DefinitionSite::Elsewhere(place.0, place.1);
                let indirect = self.stores.indirect.contains(&(global, number));
                let cell = self.stores.cells.get(&(global, number)).copied();
                let (span, own) = (spans[&place], false);
                Definition { variable, at, span, number, own, indirect, cell }
            }
        }
    }

    /// Adds to each function the uses elsewhere that its definitions reach.
    fn uses_elsewhere(&self, functions: &mut BTreeMap<FuncId, DataFlow>) {
        let mut owner_of_start: FxHashMap<GlobalId, FuncId> = FxHashMap::default();
        for (id, flow) in functions.iter() {
            let own = flow.definitions.iter().filter(|d| d.own && d.at == DefinitionSite::Start);
            for definition in own {
                if let Variable::Global(global) = definition.variable {
                    owner_of_start.insert(global, *id);
                }
            }
        }
        type Reached = BTreeMap<(FuncId, UseId), (Use, Vec<u32>)>;
        let mut reached: BTreeMap<FuncId, Reached> = BTreeMap::new();
        for (function, flow) in functions.iter() {
            for (index, usage) in flow.uses.iter().enumerate() {
                let id = UseId::from_index(index);
                for definition in usage.reaching.iter().map(|id| flow.definition(*id)) {
                    let Variable::Global(global) = definition.variable else { continue };
                    let owner = match definition.at {
                        DefinitionSite::Elsewhere(owner, _) => owner,
                        DefinitionSite::Start => owner_of_start[&global],
                        DefinitionSite::Entry | DefinitionSite::Stmt(_) => continue,
                    };
                    if owner == *function {
                        continue;
                    }
                    let there = reached.entry(owner).or_default().entry((*function, id));
                    let new = || {
                        let elsewhere = Some((*function, id));
                        (Use { elsewhere, reaching: Vec::new(), ..usage.clone() }, Vec::new())
                    };
                    there.or_insert_with(new).1.push(definition.number);
                }
            }
        }
        for (owner, reached) in reached {
            let Some(flow) = functions.get_mut(&owner) else { continue };
            let ids: FxHashMap<(Variable, u32), DefinitionId> = flow
                .definitions
                .iter()
                .enumerate()
                .map(|(i, d)| ((d.variable, d.number), DefinitionId::from_index(i)))
                .collect();
            for (mut usage, numbers) in reached.into_values() {
                let variable = usage.variable;
                usage.add(numbers.into_iter().map(|number| ids[&(variable, number)]), false);
                flow.uses.push(usage);
            }
        }
    }
}
