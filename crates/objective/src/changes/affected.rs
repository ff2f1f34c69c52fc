//! The nodes that a change may affect: the least fixed point of control and data dependence from the
//! nodes that changed, over all functions that a run enters.
//!
//! The rules are those for affected tests and affected writes of Person, Yang, Rungta and Khurshid (Figure
//! 5), with calls, globals and memory added. The old version is looked at first, from the nodes that
//! the new one does not have. What is affected there is affected here where it is matched.

use lydian_ir::source::Point;
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::{BlockId, Body, FuncId, GlobalId, Linkage, LocalId, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dependence::ControlDependence;
use super::matching::{FunctionStatus, NodeMatching, ProgramChanges};
use super::nodes::{NodeId, Nodes};
use super::places::{Effects, PlaceOf, ProgramPlaces};

/// What a change may affect in one function.
#[derive(Clone, Debug, Default)]
pub struct AffectedNodes {
    /// The nodes that are new or changed.
    pub changed: FxHashSet<NodeId>,
    /// The nodes with an affected operand.
    pub operands: FxHashSet<NodeId>,
    /// The blocks whose execution is affected.
    pub blocks: FxHashSet<BlockId>,
    /// The nodes whose execution is affected, though that of their block's begin may not be.
    pub executions: FxHashSet<NodeId>,
    /// The locals with an affected value just before a node.
    pub locals: FxHashMap<NodeId, FxHashSet<LocalId>>,
}

/// What a change may affect in all functions that a run enters.
#[derive(Clone, Debug, Default)]
pub struct AffectedPlaces {
    /// By function.
    pub functions: FxHashMap<FuncId, AffectedNodes>,
    /// Globals with an affected value.
    pub globals: FxHashSet<GlobalId>,
    /// Whether memory has an affected value.
    pub memory: bool,
}

/// A version of a program, prepared for the analysis of any of its functions.
#[derive(Debug)]
pub struct VersionFlow<'a> {
    program: &'a Program,
    places: ProgramPlaces<'a>,
    /// The functions that calls through pointers may call.
    addressed: Vec<FuncId>,
    bodies: FxHashMap<FuncId, BodyFlow>,
}

#[derive(Debug)]
struct BodyFlow {
    nodes: Nodes,
    effects: FxHashMap<NodeId, Effects>,
    control: ControlDependence,
}

impl<'a> VersionFlow<'a> {
    /// Prepares a program.
    pub fn of(program: &'a Program) -> Self {
        let addressed = program.addressed_functions().into_iter().collect();
        Self {
            program,
            places: ProgramPlaces::of(program),
            addressed,
            bodies: FxHashMap::default(),
        }
    }

    /// The nodes of a function that was looked at.
    pub fn nodes(&self, function: FuncId) -> Option<&Nodes> {
        self.bodies.get(&function).map(|flow| &flow.nodes)
    }

    /// The places of the program.
    pub const fn places(&self) -> &ProgramPlaces<'a> {
        &self.places
    }

    /// The functions with a body that a run of a function may enter, itself first.
    fn reached(&self, function: FuncId) -> Vec<FuncId> {
        let mut found = self.program.entered_from(function);
        found.retain(|id| self.program.functions[*id].body.is_some());
        found
    }

    /// The functions that a call may call.
    fn callees<'c>(&'c self, callee: &'c Callee) -> &'c [FuncId] {
        match callee {
            Callee::Direct(callee) => std::slice::from_ref(callee),
            Callee::Indirect(_) => &self.addressed,
        }
    }

    fn prepare(&mut self, function: FuncId) {
        if self.bodies.contains_key(&function) {
            return;
        }
        let Some(body) = &self.program.functions[function].body else { return };
        let nodes = Nodes::of(self.program, function, body);
        let effects =
            nodes.ids().map(|id| (id, self.places.effects(function, nodes.point(id)))).collect();
        let control = ControlDependence::of(body);
        self.bodies.insert(function, BodyFlow { nodes, effects, control });
    }
}

/// What an analysis begins with.
#[derive(Default)]
struct Seeds {
    changed: FxHashMap<FuncId, FxHashSet<NodeId>>,
    redirected: FxHashMap<FuncId, FxHashSet<NodeId>>,
    /// What the other version's analysis found, in this version's terms.
    known: AffectedPlaces,
}

impl AffectedPlaces {
    /// What the changes between two versions may affect in runs of a function of the new one.
    pub fn from(
        changes: &ProgramChanges,
        (old, new): (&mut VersionFlow<'_>, &mut VersionFlow<'_>),
        function: FuncId,
    ) -> Self {
        let change = changes.of_new(function);
        if change.is_some_and(|change| change.status == FunctionStatus::Equal) {
            return Self::default();
        }
        let before = change.and_then(|change| change.old);
        let globals = &changes.globals;
        let mut known = Self::default();
        if let Some(before) = before {
            let mut seeds = old_seeds(changes);
            seeds.known.add_globals(old, globals.iter().map(|both| both.0));
            let found = Propagation::run(old, before, seeds);
            known = translated(&found, changes, old, new.program);
        }
        known.add_globals(new, globals.iter().map(|both| both.1));
        let seeds = Seeds { known, ..new_seeds(changes) };
        Propagation::run(new, function, seeds)
    }

    /// The affected nodes of a function.
    pub fn of(&self, function: FuncId) -> Option<&AffectedNodes> {
        self.functions.get(&function)
    }

    /// Whether nothing is affected.
    pub fn is_empty(&self) -> bool {
        self.functions.values().all(AffectedNodes::is_empty)
    }

    /// Whether a place has an affected value just before a node of a function.
    pub(super) fn has(&self, place: PlaceOf, (nodes, node): (&AffectedNodes, NodeId)) -> bool {
        match place {
            PlaceOf::Local(local) => {
                nodes.locals.get(&node).is_some_and(|locals| locals.contains(&local))
            }
            shared => self.has_shared(shared),
        }
    }

    /// Whether a global or memory has an affected value.
    pub(super) fn has_shared(&self, place: PlaceOf) -> bool {
        match place {
            PlaceOf::Local(_) => false,
            PlaceOf::Global(global) => self.globals.contains(&global),
            PlaceOf::Memory => self.memory,
        }
    }

    /// Adds globals whose first contents are affected.
    fn add_globals(&mut self, flow: &VersionFlow<'_>, globals: impl Iterator<Item = GlobalId>) {
        for global in globals {
            match flow.places.is_exposed(global) {
                true => self.memory = true,
                false => _ = self.globals.insert(global),
            }
        }
    }
}

impl AffectedNodes {
    /// Whether no node is affected.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
            && self.operands.is_empty()
            && self.blocks.is_empty()
            && self.executions.is_empty()
    }
}

fn old_seeds(changes: &ProgramChanges) -> Seeds {
    let mut seeds = Seeds::default();
    for change in &changes.functions {
        let Some(old) = change.old.filter(|_| compares(&change.status)) else { continue };
        let nodes = &change.nodes;
        seeds.changed.insert(old, nodes.removed.iter().copied().collect());
        let redirected = nodes.redirected.iter().filter_map(|new| nodes.old_of.get(new).copied());
        seeds.redirected.insert(old, redirected.collect());
    }
    seeds
}

fn new_seeds(changes: &ProgramChanges) -> Seeds {
    let mut seeds = Seeds::default();
    for change in &changes.functions {
        let Some(new) = change.new.filter(|_| compares(&change.status)) else { continue };
        seeds.changed.insert(new, change.nodes.added.iter().copied().collect());
        seeds.redirected.insert(new, change.nodes.redirected.iter().copied().collect());
    }
    seeds
}

/// Whether the nodes of a function may differ.
const fn compares(status: &FunctionStatus) -> bool {
    !matches!(status, FunctionStatus::Equal | FunctionStatus::ReachesChange)
}

/// What is affected in the old version, in terms of the new one.
fn translated(
    found: &AffectedPlaces,
    changes: &ProgramChanges,
    flow: &VersionFlow<'_>,
    new: &Program,
) -> AffectedPlaces {
    let old = flow.program;
    let named = |global: &GlobalId| new.global_named(&old.globals[*global].name);
    let mut functions = FxHashMap::default();
    for (before, nodes) in &found.functions {
        let after = match changes.of_old(*before) {
            Some(change) => change.new.map(|new| (new, Some(change))),
            // A function of the C library is the same in both.
            None => new.function_named(&old.functions[*before].name).map(|new| (new, None)),
        };
        let Some((after, change)) = after else { continue };
        let matching = change.map(|change| &change.nodes);
        functions.insert(after, translated_nodes(nodes, matching, flow.nodes(*before)));
    }
    AffectedPlaces {
        functions,
        globals: found.globals.iter().filter_map(named).collect(),
        memory: found.memory,
    }
}

fn translated_nodes(
    nodes: &AffectedNodes,
    matching: Option<&NodeMatching>,
    all: Option<&Nodes>,
) -> AffectedNodes {
    let to_new = |node: &NodeId| match matching {
        Some(matching) => matching.new_of.get(node).copied(),
        None => Some(*node),
    };
    let local = |local: &LocalId| match matching {
        Some(matching) => matching.locals.get(local).copied(),
        None => Some(*local),
    };
    let mut found = AffectedNodes {
        operands: nodes.operands.iter().filter_map(to_new).collect(),
        executions: nodes.executions.iter().filter_map(to_new).collect(),
        ..AffectedNodes::default()
    };
    for (node, locals) in &nodes.locals {
        if let Some(node) = to_new(node) {
            found.locals.insert(node, locals.iter().filter_map(local).collect());
        }
    }
    // Blocks have other numbers; the execution of each node in them is affected.
    if let Some(all) = all {
        let inside = all.ids().filter(|id| nodes.blocks.contains(&all.block(*id)));
        found.executions.extend(inside.filter_map(|id| to_new(&id)));
    }
    found
}

/// The iteration to the fixed point.
struct Propagation<'f, 'a> {
    flow: &'f VersionFlow<'a>,
    seeds: Seeds,
    found: AffectedPlaces,
    /// Functions some call of which is made or not because of the change.
    entered: FxHashSet<FuncId>,
    /// Parameters with an affected argument, by position.
    params: FxHashSet<(FuncId, usize)>,
    /// Functions whose result is affected.
    results: FxHashSet<FuncId>,
    /// Functions within which a run may end because of the change.
    ends: FxHashSet<FuncId>,
    grew: bool,
}

impl<'f, 'a> Propagation<'f, 'a> {
    fn run(flow: &'f mut VersionFlow<'a>, function: FuncId, seeds: Seeds) -> AffectedPlaces {
        let reached = flow.reached(function);
        reached.iter().for_each(|id| flow.prepare(*id));
        let mut found = seeds.known.clone();
        found.functions.retain(|id, _| reached.contains(id));
        let mut this = Self {
            flow,
            seeds,
            found,
            entered: FxHashSet::default(),
            params: FxHashSet::default(),
            results: FxHashSet::default(),
            ends: FxHashSet::default(),
            grew: true,
        };
        while std::mem::take(&mut this.grew) {
            for id in &reached {
                this.function(*id);
            }
        }
        this.found
    }

    /// Applies all rules to one function until nothing changes in it.
    fn function(&mut self, function: FuncId) {
        let flow = self.flow;
        let (Some(body_flow), Some(body)) =
            (flow.bodies.get(&function), &flow.program.functions[function].body)
        else {
            return;
        };
        let mut nodes = self.found.functions.remove(&function).unwrap_or_default();
        let before = size(&nodes);
        if let Some(changed) = self.seeds.changed.get(&function) {
            nodes.changed.extend(changed);
        }
        self.enter(function, body, body_flow, &mut nodes);
        loop {
            let at_first = size(&nodes);
            for node in body_flow.nodes.ids() {
                self.node((function, body, body_flow), node, &mut nodes);
            }
            if size(&nodes) == at_first {
                break;
            }
        }
        self.grew |= size(&nodes) != before;
        self.found.functions.insert(function, nodes);
    }

    /// The effects of affected calls on the function's own nodes.
    fn enter(&self, function: FuncId, body: &Body, flow: &BodyFlow, nodes: &mut AffectedNodes) {
        if self.entered.contains(&function) {
            nodes.blocks.extend(flow.nodes.ids().map(|id| flow.nodes.block(id)));
        }
        let first = flow.nodes.first_of(body.entry);
        for (at, local) in body.params.iter().enumerate() {
            if self.params.contains(&(function, at)) {
                first.into_iter().for_each(|first| spread(flow, first, *local, nodes));
            }
        }
    }

    fn node(
        &mut self,
        (function, body, flow): (FuncId, &Body, &BodyFlow),
        node: NodeId,
        nodes: &mut AffectedNodes,
    ) {
        let effects = &flow.effects[&node];
        let (point, block) = (flow.nodes.point(node), flow.nodes.block(node));
        let seeded = self.seeds.redirected.get(&function);
        if seeded.is_some_and(|all| all.contains(&node)) {
            end_here(flow, node, nodes);
        }
        if effects.reads.iter().any(|place| self.found.has(*place, (nodes, node))) {
            nodes.operands.insert(node);
        }
        let executed = nodes.blocks.contains(&block) || nodes.executions.contains(&node);
        let changed = nodes.changed.contains(&node);
        let affected = executed || changed || nodes.operands.contains(&node);
        if let Point::Stmt(stmt) = point {
            let how = (executed || changed, affected);
            self.call((function, body, flow), (node, &body.stmts[stmt]), how, nodes);
        }
        if !affected {
            return;
        }
        self.write(flow, node, effects, nodes);
        if let Point::Term(block) = point {
            self.terminator(function, &body.blocks[block].term);
            nodes.blocks.extend(flow.control.on(block));
        }
        let leaves = matches!(point, Point::Term(block) if flow.control.is_in_loop(block));
        if effects.may_trap || leaves {
            end_here(flow, node, nodes);
        }
        if effects.may_trap {
            self.grew |= self.ends.insert(function);
        }
    }

    /// What an affected node writes is affected.
    fn write(
        &mut self,
        flow: &BodyFlow,
        node: NodeId,
        effects: &Effects,
        nodes: &mut AffectedNodes,
    ) {
        for place in &effects.writes {
            match place {
                PlaceOf::Local(local) => spread_behind(flow, node, *local, nodes),
                PlaceOf::Global(global) => self.grew |= self.found.globals.insert(*global),
                PlaceOf::Memory => {
                    self.grew |= !self.found.memory;
                    self.found.memory = true;
                }
            }
        }
    }

    fn terminator(&mut self, function: FuncId, term: &Terminator) {
        match term {
            Terminator::Return(_) => self.grew |= self.results.insert(function),
            Terminator::Trap(_) => self.grew |= self.ends.insert(function),
            _ => {}
        }
    }

    /// The rules for calls. `executed` says whether the call is made or not because of the change.
    fn call(
        &mut self,
        (function, body, flow): (FuncId, &Body, &BodyFlow),
        (node, stmt): (NodeId, &Stmt),
        (executed, affected): (bool, bool),
        nodes: &mut AffectedNodes,
    ) {
        let Stmt::Call { callee, args, dst, dst_addr, .. } = stmt else { return };
        for callee in self.flow.callees(callee).iter().copied() {
            if executed {
                self.grew |= self.entered.insert(callee);
            }
            for (at, arg) in args.iter().enumerate() {
                let reads = self.flow.places.read_by(function, &body.exprs, *arg);
                if reads.iter().any(|place| self.found.has(*place, (nodes, node))) {
                    self.grew |= self.params.insert((callee, at));
                }
            }
            let known = self.flow.program.functions[callee].body.is_some();
            if !known && affected {
                self.outside(callee);
                if self.flow.program.functions[callee].noreturn {
                    end_here(flow, node, nodes);
                }
            }
            if self.results.contains(&callee) {
                dst.iter().for_each(|dst| spread_behind(flow, node, *dst, nodes));
                if dst_addr.is_some() {
                    nodes.operands.insert(node);
                }
            }
            if self.ends.contains(&callee) {
                end_here(flow, node, nodes);
                self.grew |= self.ends.insert(function);
            }
        }
    }

    /// An undefined function may write what it can reach.
    fn outside(&mut self, callee: FuncId) {
        let program = self.flow.program;
        if lydian_ir::outside::writes_nothing(&program.functions[callee].name) {
            return;
        }
        self.grew |= !self.found.memory;
        self.found.memory = true;
        for (id, global) in program.globals.iter() {
            if global.linkage == Linkage::External && !global.read_only {
                self.grew |= self.found.globals.insert(id);
            }
        }
    }
}

/// A measure that grows with each affected thing.
fn size(nodes: &AffectedNodes) -> usize {
    let AffectedNodes { changed, operands, blocks, executions, locals } = nodes;
    let locals: usize = locals.values().map(FxHashSet::len).sum();
    changed.len() + operands.len() + blocks.len() + executions.len() + locals
}

/// Follows an affected value of a local from behind the node that sets it.
fn spread_behind(flow: &BodyFlow, node: NodeId, local: LocalId, nodes: &mut AffectedNodes) {
    for next in flow.nodes.successors(node) {
        spread(flow, next, local, nodes);
    }
}

/// Follows an affected value of a local until it is replaced.
fn spread(flow: &BodyFlow, from: NodeId, local: LocalId, nodes: &mut AffectedNodes) {
    let mut waiting = vec![from];
    while let Some(node) = waiting.pop() {
        if !nodes.locals.entry(node).or_default().insert(local) {
            continue;
        }
        if flow.effects[&node].replaces != Some(local) {
            waiting.extend(flow.nodes.successors(node));
        }
    }
}

/// The execution of all that comes behind a node is affected.
fn end_here(flow: &BodyFlow, node: NodeId, nodes: &mut AffectedNodes) {
    let block = flow.nodes.block(node);
    nodes.blocks.extend(flow.control.behind(block));
    let mut at = flow.nodes.next_in_block(node);
    while let Some(next) = at {
        nodes.executions.insert(next);
        at = flow.nodes.next_in_block(next);
    }
}
