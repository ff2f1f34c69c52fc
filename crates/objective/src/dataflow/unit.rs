//! Data flow over all functions of a program: definitions of globals reach uses in other functions.
//!
//! The graph is the usual supergraph without contexts: a call leads to the callee's entry, and a
//! return to all of the function's calls. What comes back from a call is only what was there before
//! it or what the callee, with all that it calls, defines; and the definitions of what it does not
//! define go around it. A callee that is not known stands for any sequence of calls of
//! functions that others can call: those of external linkage, those whose address is taken, and
//! those that nobody calls. Definitions that reach the end of one of these reach the entry of all.
//!
//! States are bit sets, one bit a definition and one for each initial value. Functions are worked off
//! one by one until nothing changes, so that time is about that of a few passes over the program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::{
    Expr, FuncId, GlobalId, GlobalInit, Linkage, Program, RelocationTarget, StmtId, Terminator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Access, Grain, may_meet, overwrites};
use super::events::{Event, Globals, Target};
use super::local::Part;
use super::{DataFlow, Definition, DefinitionId, DefinitionSite, Use, UseId, Variable};
use crate::hyper::{CellDefinition, CellDefinitions, Definitions};
use crate::label::{LabelId, Pred, Site};

/// The definitions and uses of all functions of a program.
#[derive(Clone, Debug, Default)]
pub struct UnitFlow {
    functions: BTreeMap<FuncId, DataFlow>,
    /// The stores to each global, by number from 1.
    stores: BTreeMap<GlobalId, Arc<Definitions>>,
    /// The same as stores to cells, in a data flow of cells.
    cell_stores: BTreeMap<GlobalId, Arc<CellDefinitions>>,
    /// The labels of a function that sequences of others have as atoms, with their texts.
    shared: BTreeMap<FuncId, IndexMap<(Site, Pred), Span>>,
}

/// The data flows of one program that was lowered from one text, each of which is worked out when it
/// is first asked for. All who ask must name that program and text.
#[derive(Debug, Default)]
pub struct UnitFlows {
    whole: OnceLock<UnitFlow>,
    cells: OnceLock<UnitFlow>,
}

impl UnitFlows {
    /// That of whole variables: [`UnitFlow::of`].
    pub fn whole(&self, program: &Program, map: &SourceMap) -> &UnitFlow {
        self.whole.get_or_init(|| UnitFlow::of(program, map))
    }

    /// That of cells: [`UnitFlow::of_cells`].
    pub fn cells(&self, program: &Program, map: &SourceMap) -> &UnitFlow {
        self.cells.get_or_init(|| UnitFlow::of_cells(program, map, self.whole(program, map)))
    }
}

impl UnitFlow {
    /// Finds the definitions and uses of a program that was lowered from a text, and what reaches
    /// what. Functions and globals that are not of the text, as they come from other units that were
    /// linked, have none: they are as unknown as if they were only declared.
    pub fn of(program: &Program, map: &SourceMap) -> Self {
        let mut this = Self::with_grain(program, map, Grain::Whole);
        this.share(program);
        this
    }

    /// The same of the cells of the variables that have some, which alone are among its variables
    /// ([`super::cells`]). `whole` is [`Self::of`] the same program: its shared labels come before
    /// those of this one.
    pub fn of_cells(program: &Program, map: &SourceMap, whole: &Self) -> Self {
        let mut this = Self::with_grain(program, map, Grain::Cells);
        this.shared = whole.shared.clone();
        this.share(program);
        this
    }

    fn with_grain(program: &Program, map: &SourceMap, grain: Grain) -> Self {
        let globals = Globals::of(program, map, grain);
        let parts: BTreeMap<FuncId, Part> = program
            .defined()
            .filter(|(id, _)| globals.defined.contains(id))
            .filter_map(|(id, f)| Some((id, Part::of(program, f.body.as_ref()?, &globals))))
            .collect();
        let bits = Bits::new(&globals, &parts);
        let mut graph = Supergraph::new(program, &bits, &parts);
        graph.run();
        let reaching = parts.iter().map(|(id, part)| (*id, graph.reaching(*id, part))).collect();
        Joiner { program, grain, bits: &bits, reaching }.join(parts)
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

    /// Notes which labels of which functions are atoms elsewhere.
    fn share(&mut self, program: &Program) {
        let mut asked: BTreeMap<FuncId, BTreeSet<(bool, u32, StmtId, UseId)>> = BTreeMap::new();
        for flow in self.functions.values() {
            for definition in &flow.definitions {
                if let DefinitionSite::Elsewhere(function, stmt) = definition.at {
                    let start = definition.span.start;
                    let none = UseId::from_index(0);
                    asked.entry(function).or_default().insert((false, start, stmt, none));
                }
            }
            for usage in &flow.uses {
                if let Some((function, id)) = usage.elsewhere {
                    let none = StmtId::from_index(0);
                    let start = usage.span.start;
                    asked.entry(function).or_default().insert((true, start, none, id));
                }
            }
        }
        for (function, asked) in asked {
            let Some(body) = &program.functions[function].body else { continue };
            let flow = &self.functions[&function];
            let labels = self.shared.entry(function).or_default();
            for (is_use, _, stmt, usage) in asked {
                if !is_use {
                    let label = (Site::Stmt(stmt), Pred::Const(true));
                    labels.entry(label).or_insert(body.source.stmts[stmt]);
                    continue;
                }
                let usage = flow.usage(usage);
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

/// The bits of a state: of each global that of its initial value, then those of its stores by
/// number.
struct Bits {
    /// The first bit of each global, and how many it has.
    of: FxHashMap<GlobalId, (usize, usize)>,
    /// How many stores to a global stand in functions before one.
    before: FxHashMap<(FuncId, GlobalId), u32>,
    /// All stores of a global, by number.
    stores: BTreeMap<GlobalId, Vec<(FuncId, StmtId)>>,
    /// The numbers of those through pointers.
    indirect: FxHashSet<(GlobalId, u32)>,
    /// The cells that those write which do not write all, by number.
    cells: FxHashMap<(GlobalId, u32), Access>,
    words: usize,
}

impl Bits {
    fn new(globals: &Globals, parts: &BTreeMap<FuncId, Part>) -> Self {
        let mut stores: BTreeMap<GlobalId, Vec<(FuncId, StmtId)>> =
            globals.all().into_iter().map(|global| (global, Vec::new())).collect();
        let mut before = FxHashMap::default();
        let mut indirect = FxHashSet::default();
        let mut cells = FxHashMap::default();
        for (function, part) in parts {
            for definition in &part.definitions {
                let Variable::Global(global) = definition.variable else { continue };
                let DefinitionSite::Stmt(stmt) = definition.at else { continue };
                let all = stores.entry(global).or_default();
                before.entry((*function, global)).or_insert(all.len() as u32);
                all.push((*function, stmt));
                let number = all.len() as u32;
                if definition.indirect {
                    indirect.insert((global, number));
                }
                cells.extend(definition.cell.map(|cell| ((global, number), cell)));
            }
        }
        let (mut of, mut bits) = (FxHashMap::default(), 0);
        for (global, stores) in &stores {
            of.insert(*global, (bits, stores.len() + 1));
            bits += stores.len() + 1;
        }
        Self { of, before, stores, indirect, cells, words: bits.div_ceil(64) }
    }

    /// The number of a definition that a function numbers on its own.
    fn number(&self, function: FuncId, global: GlobalId, own: u32) -> u32 {
        own + self.before.get(&(function, global)).copied().unwrap_or(0)
    }

    /// The numbers of the definitions of a global that a state has.
    fn numbers(&self, state: &State, global: GlobalId) -> Vec<u32> {
        let (first, count) = self.of[&global];
        (0..count).filter(|number| state.has(first + number)).map(|number| number as u32).collect()
    }

    /// The bits of the definitions that a store with a number overwrites: all, unless it writes some
    /// cells alone.
    fn overwritten(&self, global: GlobalId, number: u32) -> Vec<usize> {
        let own = self.cells.get(&(global, number));
        let (first, count) = self.of[&global];
        let numbers = 0..count as u32;
        let overwritten =
            numbers.filter(|other| overwrites(own, self.cells.get(&(global, *other))));
        overwritten.map(|other| first + other as usize).collect()
    }

    fn of_global(&self, global: GlobalId) -> std::ops::Range<usize> {
        let (first, count) = self.of[&global];
        first..first + count
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State(Box<[u64]>);

impl State {
    fn empty(words: usize) -> Self {
        Self(vec![0; words].into())
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn clear(&mut self, bits: std::ops::Range<usize>) {
        bits.for_each(|bit| self.0[bit / 64] &= !(1 << (bit % 64)));
    }

    /// Adds what another state has. Returns whether that is anything new.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }

    /// Passes a call: what was there before and what the callee makes, as far as it reaches the end
    /// of a call.
    fn pass_call(&mut self, defined: &Defined, exit: &Self) {
        let words = self.0.iter_mut().zip(&defined.globals.0).zip(&defined.stores.0);
        for (((word, globals), stores), exit) in words.zip(&exit.0) {
            *word = *word & !globals | exit & globals & (*word | stores);
        }
    }
}

/// Adds a state to one that may not be there yet. Returns whether that is anything new.
fn join_into(there: &mut Option<State>, state: &State) -> bool {
    match there {
        Some(there) => there.join(state),
        none => {
            *none = Some(state.clone());
            true
        }
    }
}

/// What a function may define, with all that it calls.
#[derive(Clone)]
struct Defined {
    /// The bits of its stores.
    stores: State,
    /// All bits of the globals that they define.
    globals: State,
}

impl Defined {
    fn nothing(bits: &Bits) -> Self {
        Self { stores: State::empty(bits.words), globals: State::empty(bits.words) }
    }

    /// Adds what another function may define. Returns whether that is anything new.
    fn join(&mut self, other: &Self) -> bool {
        let stores = self.stores.join(&other.stores);
        self.globals.join(&other.globals) || stores
    }
}

/// What is known of a function.
struct Node {
    /// The states at the start of each block.
    into: Vec<Option<State>>,
    entry: Option<State>,
    exit: Option<State>,
    defines: Defined,
    /// Who calls it.
    callers: BTreeSet<FuncId>,
    calls_outside: bool,
    queued: bool,
}

struct Supergraph<'a> {
    program: &'a Program,
    bits: &'a Bits,
    parts: &'a BTreeMap<FuncId, Part>,
    nodes: FxHashMap<FuncId, Node>,
    /// The functions that may be called from anywhere.
    visible: BTreeSet<FuncId>,
    /// The definitions that reach the outside.
    outside: State,
    /// What the outside may define.
    outside_defines: Defined,
    queue: VecDeque<FuncId>,
}

impl<'a> Supergraph<'a> {
    fn new(program: &'a Program, bits: &'a Bits, parts: &'a BTreeMap<FuncId, Part>) -> Self {
        let mut nodes: FxHashMap<FuncId, Node> = FxHashMap::default();
        for (function, part) in parts {
            nodes.insert(
                *function,
                Node {
                    into: vec![None; part.events.len()],
                    entry: None,
                    exit: None,
                    defines: Defined::nothing(bits),
                    callers: BTreeSet::new(),
                    calls_outside: false,
                    queued: false,
                },
            );
        }
        for (function, part) in parts {
            for event in part.events.iter().flatten() {
                match event {
                    Event::Call(Target::Function(callee)) => {
                        if let Some(node) = nodes.get_mut(callee) {
                            node.callers.insert(*function);
                        }
                    }
                    Event::Call(Target::Outside) => {
                        nodes.entry(*function).and_modify(|node| node.calls_outside = true);
                    }
                    _ => {}
                }
            }
        }
        let visible = visible(program, &nodes);
        let mut outside = State::empty(bits.words);
        bits.of.values().for_each(|(first, _)| outside.set(*first));
        let outside_defines = Defined::nothing(bits);
        let queue = VecDeque::new();
        let mut this =
            Self { program, bits, parts, nodes, visible, outside, outside_defines, queue };
        this.find_defined();
        this
    }

    /// Works out what functions may define.
    fn find_defined(&mut self) {
        for (function, part) in self.parts {
            let Some(node) = self.nodes.get_mut(function) else { continue };
            for definition in &part.definitions {
                if let Variable::Global(global) = definition.variable {
                    let bits = self.bits.of_global(global);
                    let number = self.bits.number(*function, global, definition.number);
                    node.defines.stores.set(bits.start + number as usize);
                    bits.for_each(|bit| node.defines.globals.set(bit));
                }
            }
        }
        let mut rest: Vec<FuncId> = self.parts.keys().copied().collect();
        while let Some(function) = rest.pop() {
            let defines = self.nodes[&function].defines.clone();
            for caller in self.nodes[&function].callers.clone() {
                if let Some(node) = self.nodes.get_mut(&caller)
                    && node.defines.join(&defines)
                {
                    rest.push(caller);
                }
            }
            if self.visible.contains(&function) && self.outside_defines.join(&defines) {
                let all = self.outside_defines.clone();
                for (caller, node) in &mut self.nodes {
                    if node.calls_outside && node.defines.join(&all) {
                        rest.push(*caller);
                    }
                }
            }
        }
    }

    fn push(&mut self, function: FuncId) {
        if let Some(node) = self.nodes.get_mut(&function)
            && !std::mem::replace(&mut node.queued, true)
        {
            self.queue.push_back(function);
        }
    }

    fn run(&mut self) {
        if self.bits.words == 0 {
            return;
        }
        let start = self.outside.clone();
        self.outside = State::empty(self.bits.words);
        self.reach_outside(&start);
        while let Some(function) = self.queue.pop_front() {
            if let Some(node) = self.nodes.get_mut(&function) {
                node.queued = false;
            }
            self.work_off(function);
        }
    }

    /// Definitions reach the outside, and with it all functions that it may call.
    fn reach_outside(&mut self, state: &State) {
        if !self.outside.join(state) {
            return;
        }
        let all = self.outside.clone();
        for function in self.visible.clone() {
            self.enter(function, &all);
        }
        let mut callers: Vec<FuncId> =
            self.nodes.iter().filter(|(_, node)| node.calls_outside).map(|(id, _)| *id).collect();
        callers.sort_unstable();
        callers.into_iter().for_each(|caller| self.push(caller));
    }

    fn enter(&mut self, function: FuncId, state: &State) {
        if let Some(node) = self.nodes.get_mut(&function)
            && join_into(&mut node.entry, state)
        {
            self.push(function);
        }
    }

    /// Brings a function's states up to date with those of its entry and of what it calls.
    fn work_off(&mut self, function: FuncId) {
        let parts = self.parts;
        let part = &parts[&function];
        let Some(body) = &self.program.functions[function].body else { return };
        let Some(node) = self.nodes.get_mut(&function) else { return };
        let Some(entry) = node.entry.clone() else { return };
        let mut into = std::mem::take(&mut node.into);
        join_into(&mut into[body.entry.index()], &entry);
        let mut exit: Option<State> = None;
        let mut changed = true;
        while changed {
            changed = false;
            for block in part.cfg.reverse_postorder() {
                let Some(mut state) = into[block.index()].clone() else { continue };
                if !self.pass(function, part, block.index(), usize::MAX, &mut state, true) {
                    continue;
                }
                for to in part.cfg.successors(*block) {
                    changed |= join_into(&mut into[to.index()], &state);
                }
                if matches!(body.blocks[*block].term, Terminator::Return(_)) {
                    join_into(&mut exit, &state);
                }
            }
        }
        let Some(node) = self.nodes.get_mut(&function) else { return };
        node.into = into;
        let Some(exit) = exit else { return };
        if join_into(&mut node.exit, &exit) {
            for caller in node.callers.clone() {
                self.push(caller);
            }
            if self.visible.contains(&function) {
                self.reach_outside(&exit);
            }
        }
    }

    /// Passes the events of a block before one. Returns whether control gets there. With `call`,
    /// callees hear of it.
    fn pass(
        &mut self,
        function: FuncId,
        part: &Part,
        block: usize,
        until: usize,
        state: &mut State,
        call: bool,
    ) -> bool {
        for event in part.events[block].iter().take(until) {
            match event {
                Event::Write { variable: Variable::Global(global), at, .. }
                | Event::MayWrite { variable: Variable::Global(global), at, .. } => {
                    let made = part.made.get(&(*at, Variable::Global(*global)));
                    let number = made.map(|made| {
                        let own = part.definitions[made.index()].number;
                        self.bits.number(function, *global, own)
                    });
                    match (event, number) {
                        (Event::Write { cell: Some(_), .. }, Some(number)) => {
                            let overwritten = self.bits.overwritten(*global, number);
                            overwritten.into_iter().for_each(|bit| state.clear(bit..bit + 1));
                        }
                        (Event::Write { .. }, _) => state.clear(self.bits.of_global(*global)),
                        _ => {}
                    }
                    if let Some(number) = number {
                        state.set(self.bits.of[global].0 + number as usize);
                    }
                }
                Event::Call(Target::Function(callee)) => {
                    if call {
                        self.enter(*callee, state);
                    }
                    let callee = &self.nodes[callee];
                    let Some(exit) = &callee.exit else { return false };
                    state.pass_call(&callee.defines, exit);
                }
                Event::Call(Target::Outside) => {
                    if call {
                        self.reach_outside(state);
                    }
                    state.pass_call(&self.outside_defines, &self.outside);
                }
                Event::Read { .. }
                | Event::Write { .. }
                | Event::MayWrite { .. }
                | Event::Forget { .. } => {}
            }
        }
        true
    }

    /// The numbers of the definitions that reach each use of a global, by the use's position.
    fn reaching(&mut self, function: FuncId, part: &Part) -> BTreeMap<usize, BTreeSet<u32>> {
        let mut found: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for (block, event, usage) in &part.global_reads {
            let numbers = found.entry(*usage).or_default();
            let into = self.nodes.get(&function).and_then(|node| node.into.get(block.index()));
            let Some(mut state) = into.cloned().flatten() else { continue };
            if !self.pass(function, part, block.index(), *event, &mut state, false) {
                continue;
            }
            let usage = &part.uses[*usage];
            if let Variable::Global(global) = usage.variable {
                let reaching = self.bits.numbers(&state, global).into_iter();
                numbers.extend(reaching.filter(|number| {
                    may_meet(self.bits.cells.get(&(global, *number)), usage.cell.as_ref())
                }));
            }
        }
        found
    }
}

/// The functions that code outside of the program may call.
fn visible(program: &Program, nodes: &FxHashMap<FuncId, Node>) -> BTreeSet<FuncId> {
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
    let is_visible = |(id, function): &(FuncId, &lydian_ir::Function)| {
        function.linkage == Linkage::External
            || taken.contains(id)
            || nodes.get(id).is_some_and(|node| node.callers.is_empty())
    };
    program
        .defined()
        .filter(|(id, _)| nodes.contains_key(id))
        .filter(is_visible)
        .map(|(id, _)| id)
        .collect()
}

/// Makes the data flow of functions from what was found.
struct Joiner<'a> {
    program: &'a Program,
    grain: Grain,
    bits: &'a Bits,
    /// The numbers of the definitions that reach each use of a global, by function and position.
    reaching: BTreeMap<FuncId, BTreeMap<usize, BTreeSet<u32>>>,
}

impl Joiner<'_> {
    fn join(mut self, parts: BTreeMap<FuncId, Part>) -> UnitFlow {
        let mut functions = BTreeMap::new();
        let spans: FxHashMap<(FuncId, StmtId), Span> = parts
            .iter()
            .flat_map(|(function, part)| {
                part.definitions.iter().filter_map(|definition| match definition.at {
                    DefinitionSite::Stmt(stmt) => Some(((*function, stmt), definition.span)),
                    _ => None,
                })
            })
            .collect();
        let mut started = FxHashSet::default();
        for (function, part) in parts {
            let reaching = self.reaching.remove(&function).unwrap_or_default();
            let flow = self.function(function, part, reaching, &spans, &mut started);
            functions.insert(function, flow);
        }
        self.uses_elsewhere(&mut functions);
        let place = |(function, stmt): &(FuncId, StmtId)| (*function, Site::Stmt(*stmt));
        let stores = self.bits.stores.iter().map(|(id, all)| {
            let variable = self.program.globals[*id].name.clone();
            let numbered = (1..).zip(all);
            let places = numbered.map(|(number, at)| {
                let indirect = self.bits.indirect.contains(&(*id, number));
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
        UnitFlow { functions, stores, cell_stores, shared: BTreeMap::new() }
    }

    /// The stores to cells of each global.
    fn cell_stores(&self) -> BTreeMap<GlobalId, Arc<CellDefinitions>> {
        let definitions = |id: &GlobalId, all: &[(FuncId, StmtId)]| {
            let numbered = (1..).zip(all);
            let places = numbered.map(|(number, (function, stmt))| CellDefinition {
                place: (*function, Site::Stmt(*stmt)),
                writes: self.bits.cells.get(&(*id, number)).map(|cell| (cell.addr, cell.bytes)),
                indirect: self.bits.indirect.contains(&(*id, number)),
            });
            let variable = self.program.globals[*id].name.clone();
            let (of, places) = (Some(Variable::Global(*id)), places.collect());
            (*id, Arc::new(CellDefinitions { variable, of, places }))
        };
        match self.grain {
            Grain::Whole => BTreeMap::new(),
            Grain::Cells => self.bits.stores.iter().map(|(id, all)| definitions(id, all)).collect(),
        }
    }

    fn function(
        &self,
        function: FuncId,
        part: Part,
        reaching: BTreeMap<usize, BTreeSet<u32>>,
        spans: &FxHashMap<(FuncId, StmtId), Span>,
        started: &mut FxHashSet<GlobalId>,
    ) -> DataFlow {
        let Part { mut definitions, mut uses, .. } = part;
        let mut known: FxHashMap<(GlobalId, u32), DefinitionId> = FxHashMap::default();
        for (index, definition) in definitions.iter_mut().enumerate() {
            if let Variable::Global(global) = definition.variable {
                definition.number = self.bits.number(function, global, definition.number);
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
        uses.sort_by_key(|usage| (usage.span.start, usage.at, usage.variable));
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
                let place = self.bits.stores[&global][index as usize];
                let at = DefinitionSite::Elsewhere(place.0, place.1);
                let indirect = self.bits.indirect.contains(&(global, number));
                let cell = self.bits.cells.get(&(global, number)).copied();
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
