//! The flow graph: the effects of functions on globals, without their bodies. Reaching definitions of
//! globals are computed on it.
//!
//! It is made of one program ([`super::UnitFlow`]), or kept with each unit that is compiled apart and
//! joined for a linked program ([`super::linked`]).
//!
//! The graph is the usual supergraph without contexts: a call leads to the callee's entry, and a
//! return to all of the function's calls. Only definitions that reached the call, or that the callee
//! and its callees make, come back from it. Definitions of variables that the callee does not define
//! go around it. An unknown callee stands for any sequence of calls of functions that others can
//! call, so definitions that reach the end of one of these reach the entry of all.
//!
//! States are bit sets, with one bit for each definition and each initial value. Functions are
//! processed one by one until nothing changes, which takes about a few passes over the program.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

/// The bytes of a variable that are written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The lowest and the highest offset that the first byte may have.
    pub within: (u64, u64),
    /// The number of bytes.
    pub bytes: u64,
}

/// The effects of functions on globals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowGraph {
    /// The globals. In the graph of a unit that others know, they are identified by their names.
    pub variables: Vec<FlowVariable>,
    /// The functions.
    pub functions: Vec<FlowFunction>,
    /// The uses.
    pub uses: Vec<FlowUse>,
}

/// A global.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowVariable {
    /// Its name for the linker.
    pub name: String,
    /// The bytes that each definition writes, by number from 1: none if all.
    pub definitions: Vec<Option<Extent>>,
}

/// A use of a global.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FlowUse {
    /// The global.
    pub variable: u32,
    /// The bytes that it reads: none if all.
    pub reads: Option<Extent>,
}

/// A function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowFunction {
    /// Its name for the linker.
    pub name: String,
    /// Whether other units know it by this name.
    pub external: bool,
    /// Whether unknown code may call it.
    pub visible: bool,
    /// Whether its address is taken somewhere, or the system calls it.
    pub taken: bool,
    /// Its blocks in reverse postorder, the entry first.
    pub blocks: Vec<FlowBlock>,
}

/// A block of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowBlock {
    /// Its events, in order.
    pub events: Vec<FlowEvent>,
    /// The blocks after it.
    pub successors: Vec<u32>,
    /// Whether the function returns at its end.
    pub returns: bool,
}

/// An event of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowEvent {
    /// A global is written.
    Define {
        /// The global.
        variable: u32,
        /// The number of the definition; 0 if the write is no definition.
        number: u32,
        /// Whether it may miss the global. It then does not end the reach of other definitions.
        may_miss: bool,
    },
    /// A use.
    Use(u32),
    /// A call of a function of the graph.
    Call(u32),
    /// A call of one of several functions.
    CallOneOf(Vec<u32>),
    /// A call of a function of another unit, by name.
    CallNamed(String),
    /// A call of unknown code.
    CallOutside,
}

impl Extent {
    /// Its offset in the variable, if that is always the same.
    pub fn fixed(&self) -> Option<u64> {
        (self.within.0 == self.within.1).then_some(self.within.0)
    }

    /// Whether the two may have a byte in common.
    fn may_meet(&self, other: &Self) -> bool {
        let end = |of: &Self| of.within.1.saturating_add(of.bytes);
        self.within.0 < end(other) && other.within.0 < end(self)
    }

    /// Whether it surely covers all bytes of another extent.
    fn covers(&self, other: &Self) -> bool {
        match (self.fixed(), other.fixed()) {
            (Some(own), Some(there)) => own <= there && there + other.bytes <= own + self.bytes,
            _ => false,
        }
    }
}

/// Whether a definition of these bytes (none: all) may reach a use of those.
pub(super) fn may_meet(definition: Option<&Extent>, usage: Option<&Extent>) -> bool {
    match (definition, usage) {
        (Some(definition), Some(usage)) => definition.may_meet(usage),
        _ => true,
    }
}

/// Whether a definition of bytes overwrites all that another one defines.
pub(super) fn overwrites(definition: Option<&Extent>, other: Option<&Extent>) -> bool {
    match (definition, other) {
        (None, _) => true,
        (Some(definition), Some(other)) => definition.covers(other),
        (Some(_), None) => false,
    }
}

impl FlowGraph {
    /// The numbers of the definitions that reach each use, 0 for the initial value.
    pub fn reaching(&self) -> Vec<BTreeSet<u32>> {
        let mut solver = Solver::new(self);
        solver.run();
        solver.reaching()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DefinitionSet(Box<[u64]>);

impl DefinitionSet {
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

    /// Adds the definitions of another set. Returns whether any is new.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }

    /// Passes a call. The definitions before it stay, and the callee's are added, as far as they
    /// reach the end of a call.
    fn pass_call(&mut self, defined: &DefinitionEffects, exit: &Self) {
        let words = self.0.iter_mut().zip(&defined.globals.0).zip(&defined.stores.0);
        for (((word, globals), stores), exit) in words.zip(&exit.0) {
            *word = *word & !globals | exit & globals & (*word | stores);
        }
    }
}

/// Adds a state to one that may not be there yet. Returns whether that is anything new.
fn join_into(there: &mut Option<DefinitionSet>, state: &DefinitionSet) -> bool {
    match there {
        Some(there) => there.join(state),
        none => {
            *none = Some(state.clone());
            true
        }
    }
}

/// The definitions that a function and its callees may make.
#[derive(Clone)]
struct DefinitionEffects {
    /// The bits of its stores.
    stores: DefinitionSet,
    /// All bits of the globals that are defined.
    globals: DefinitionSet,
}

impl DefinitionEffects {
    fn nothing(words: usize) -> Self {
        Self { stores: DefinitionSet::empty(words), globals: DefinitionSet::empty(words) }
    }

    /// Adds the definitions of another function. Returns whether any is new.
    fn join(&mut self, other: &Self) -> bool {
        let stores = self.stores.join(&other.stores);
        self.globals.join(&other.globals) || stores
    }
}

/// The state of the computation for a function.
struct FunctionNode {
    /// The states at the start of each block.
    into: Vec<Option<DefinitionSet>>,
    exit: Option<DefinitionSet>,
    defines: DefinitionEffects,
    /// Its callers.
    callers: BTreeSet<usize>,
    calls_outside: bool,
    queued: bool,
}

struct Solver<'a> {
    graph: &'a FlowGraph,
    /// The first bit of each variable, that of its initial value; and the end.
    first: Vec<usize>,
    words: usize,
    nodes: Vec<FunctionNode>,
    /// The functions that may be called from anywhere.
    visible: Vec<usize>,
    /// The definitions that reach unknown code.
    outside: DefinitionSet,
    /// The definitions that unknown code may make.
    outside_defines: DefinitionEffects,
    queue: VecDeque<usize>,
}

impl<'a> Solver<'a> {
    fn new(graph: &'a FlowGraph) -> Self {
        let (mut first, mut bits) = (vec![0], 0);
        for variable in &graph.variables {
            bits += variable.definitions.len() + 1;
            first.push(bits);
        }
        let words = bits.div_ceil(64);
        let node = |function: &FlowFunction| FunctionNode {
            into: vec![None; function.blocks.len()],
            exit: None,
            defines: DefinitionEffects::nothing(words),
            callers: BTreeSet::new(),
            calls_outside: false,
            queued: false,
        };
        let mut nodes: Vec<FunctionNode> = graph.functions.iter().map(node).collect();
        for (index, function) in graph.functions.iter().enumerate() {
            for event in function.blocks.iter().flat_map(|block| &block.events) {
                for callee in event.callees() {
                    nodes[*callee as usize].callers.insert(index);
                }
                nodes[index].calls_outside |= event.calls_outside();
            }
        }
        let visible = graph.functions.iter().enumerate().filter(|(_, of)| of.visible);
        let visible = visible.map(|(index, _)| index).collect();
        let (outside, outside_defines) =
            (DefinitionSet::empty(words), DefinitionEffects::nothing(words));
        let queue = VecDeque::new();
        let mut this =
            Self { graph, first, words, nodes, visible, outside, outside_defines, queue };
        this.find_defined();
        this
    }

    fn of_variable(&self, variable: u32) -> std::ops::Range<usize> {
        self.first[variable as usize]..self.first[variable as usize + 1]
    }

    /// Computes the definitions that functions may make.
    fn find_defined(&mut self) {
        for (index, function) in self.graph.functions.iter().enumerate() {
            for event in function.blocks.iter().flat_map(|block| &block.events) {
                let FlowEvent::Define { variable, number, .. } = event else { continue };
                let bits = self.of_variable(*variable);
                let defines = &mut self.nodes[index].defines;
                if *number > 0 {
                    defines.stores.set(bits.start + *number as usize);
                }
                bits.for_each(|bit| defines.globals.set(bit));
            }
        }
        let mut rest: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(function) = rest.pop() {
            let defines = self.nodes[function].defines.clone();
            for caller in self.nodes[function].callers.clone() {
                if self.nodes[caller].defines.join(&defines) {
                    rest.push(caller);
                }
            }
            let is_visible = self.graph.functions[function].visible;
            if is_visible && self.outside_defines.join(&defines) {
                let all = self.outside_defines.clone();
                for (caller, node) in self.nodes.iter_mut().enumerate() {
                    if node.calls_outside && node.defines.join(&all) {
                        rest.push(caller);
                    }
                }
            }
        }
    }

    fn push(&mut self, function: usize) {
        if !std::mem::replace(&mut self.nodes[function].queued, true) {
            self.queue.push_back(function);
        }
    }

    fn run(&mut self) {
        if self.words == 0 {
            return;
        }
        let mut start = DefinitionSet::empty(self.words);
        self.first[..self.graph.variables.len()].iter().for_each(|bit| start.set(*bit));
        self.reach_outside(&start);
        while let Some(function) = self.queue.pop_front() {
            self.nodes[function].queued = false;
            self.work_off(function);
        }
    }

    /// Lets definitions reach unknown code, and with it all functions that it may call.
    fn reach_outside(&mut self, state: &DefinitionSet) {
        if !self.outside.join(state) {
            return;
        }
        let all = self.outside.clone();
        for function in self.visible.clone() {
            self.enter(function, &all);
        }
        for caller in 0..self.nodes.len() {
            if self.nodes[caller].calls_outside {
                self.push(caller);
            }
        }
    }

    fn enter(&mut self, function: usize, state: &DefinitionSet) {
        if let Some(entry) = self.nodes[function].into.first_mut()
            && join_into(entry, state)
        {
            self.push(function);
        }
    }

    /// Updates the states of a function from those of its entry and of its callees.
    fn work_off(&mut self, function: usize) {
        let graph = self.graph;
        let blocks = &graph.functions[function].blocks;
        let mut exit: Option<DefinitionSet> = None;
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in blocks.iter().enumerate() {
                let Some(mut state) = self.nodes[function].into[index].clone() else { continue };
                if !self.pass(&block.events, &mut state) {
                    continue;
                }
                for to in &block.successors {
                    let to = &mut self.nodes[function].into[*to as usize];
                    changed |= join_into(to, &state);
                }
                if block.returns {
                    join_into(&mut exit, &state);
                }
            }
        }
        let Some(exit) = exit else { return };
        if join_into(&mut self.nodes[function].exit, &exit) {
            for caller in self.nodes[function].callers.clone() {
                self.push(caller);
            }
            if graph.functions[function].visible {
                self.reach_outside(&exit);
            }
        }
    }

    /// Passes the events of a block and updates the callees. Returns whether control passes the
    /// block.
    fn pass(&mut self, events: &[FlowEvent], state: &mut DefinitionSet) -> bool {
        for event in events {
            for callee in event.callees() {
                self.enter(*callee as usize, state);
            }
            if event.calls_outside() {
                self.reach_outside(state);
            }
            if !self.step(event, state) {
                return false;
            }
        }
        true
    }

    /// Applies an event to a state. Returns whether control passes it.
    fn step(&self, event: &FlowEvent, state: &mut DefinitionSet) -> bool {
        match event {
            FlowEvent::Use(_) => {}
            FlowEvent::Define { variable, number, may_miss } => {
                let bits = self.of_variable(*variable);
                if !may_miss {
                    self.overwrite(*variable, *number, state);
                }
                if *number > 0 {
                    state.set(bits.start + *number as usize);
                }
            }
            FlowEvent::CallOutside | FlowEvent::CallNamed(_) => {
                state.pass_call(&self.outside_defines, &self.outside);
            }
            FlowEvent::Call(_) | FlowEvent::CallOneOf(_) => {
                let mut after: Option<DefinitionSet> = None;
                for callee in event.callees() {
                    let callee = &self.nodes[*callee as usize];
                    let Some(exit) = &callee.exit else { continue };
                    let mut passed = state.clone();
                    passed.pass_call(&callee.defines, exit);
                    join_into(&mut after, &passed);
                }
                let Some(after) = after else { return false };
                *state = after;
            }
        }
        true
    }

    /// Ends the reach of the definitions that a definition overwrites: all others, unless it writes a
    /// part alone.
    fn overwrite(&self, variable: u32, number: u32, state: &mut DefinitionSet) {
        let bits = self.of_variable(variable);
        let definitions = &self.graph.variables[variable as usize].definitions;
        let own = number.checked_sub(1).and_then(|at| definitions[at as usize]);
        let Some(own) = own else { return state.clear(bits) };
        for (other, bit) in definitions.iter().zip(bits.start + 1..) {
            if overwrites(Some(&own), other.as_ref()) {
                state.clear(bit..bit + 1);
            }
        }
    }

    /// The numbers of the definitions that reach each use.
    fn reaching(&self) -> Vec<BTreeSet<u32>> {
        let mut found = vec![BTreeSet::new(); self.graph.uses.len()];
        for (function, node) in self.graph.functions.iter().zip(&self.nodes) {
            for (block, into) in function.blocks.iter().zip(&node.into) {
                let Some(mut state) = into.clone() else { continue };
                for event in &block.events {
                    if let FlowEvent::Use(usage) = event {
                        self.add_reaching(*usage, &state, &mut found[*usage as usize]);
                    }
                    if !self.step(event, &mut state) {
                        break;
                    }
                }
            }
        }
        found
    }

    fn add_reaching(&self, usage: u32, state: &DefinitionSet, found: &mut BTreeSet<u32>) {
        let usage = &self.graph.uses[usage as usize];
        let bits = self.of_variable(usage.variable);
        if state.has(bits.start) {
            found.insert(0);
        }
        let definitions = &self.graph.variables[usage.variable as usize].definitions;
        for (number, writes) in (1..).zip(definitions) {
            let meets = || may_meet(writes.as_ref(), usage.reads.as_ref());
            if state.has(bits.start + number as usize) && meets() {
                found.insert(number);
            }
        }
    }
}

impl FlowEvent {
    /// The functions of the graph that it may call.
    pub(super) fn callees(&self) -> &[u32] {
        match self {
            Self::Call(callee) => std::slice::from_ref(callee),
            Self::CallOneOf(callees) => callees,
            _ => &[],
        }
    }

    /// Whether it calls unknown code. A name without a function in the graph is unknown.
    const fn calls_outside(&self) -> bool {
        matches!(self, Self::CallOutside | Self::CallNamed(_))
    }
}
