//! The simulation of all paths from one point to the next ones, and the transitions that come of it.
//!
//! Nodes are visited in an order in which each comes after those that lead to it. Where paths join, their
//! states are merged (Kuznetsov, Kinder, Bucur and Candea, *Efficient State Merging in Symbolic
//! Execution*, without its restraint: the terms of a transition have to have all paths). Terms are
//! shared, so that their size is linear in the number of statements and not in that of paths.

use std::collections::BTreeMap;

use lydian_base::{Arena, EntityId, SideTable};
use lydian_ir::stmt::Terminator;
use lydian_ir::{Callee, Edge, Stmt, SwitchCase};
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashMap;

use crate::encode::encoded::Encoded;
use crate::encode::goals::labels::Moment;
use crate::encode::ids::{NodeId, SlotId};
use crate::encode::inlined::Exit;
use crate::encode::inlined::graph::Graph;
use crate::encode::machine::Machine;
use crate::encode::machine::call_effects::Call;
use crate::encode::machine::recursive_calls::SlotCall;
use crate::encode::pointers::Place;
use crate::encode::provenance::{GoalOrigins, VariablePlace, provenance};
use crate::encode::request::EncodeError;
use crate::encode::state::liveness::Liveness;
use crate::encode::state::scopes;
use crate::encode::state::slots::SlotKind;
use crate::encode::state::{State, merged};
use crate::system::{
    Approach, Goal, GoalId, Point, PointId, RecursiveCall, System, Transition, VarId, Variable,
};

/// A way out of a node.
type Exits = Vec<(NodeId, State)>;

/// Makes the system.
pub(crate) struct Builder<'b, 's, 'a> {
    pub(crate) machine: Machine<'s, 'a>,
    pub(crate) graph: &'b Graph,
    pub(crate) live: &'b Liveness,
    /// The symbols of the slots that are variables.
    symbols: BTreeMap<SlotId, Term>,
    points: Arena<PointId, Point>,
    point_nodes: Vec<NodeId>,
    ids: FxHashMap<NodeId, PointId>,
    arrivals: Vec<Arrival>,
    approaches: BTreeMap<GoalId, Vec<(Approach, usize)>>,
    inputs: SideTable<PointId, Vec<crate::encode::encoded::InputRead>>,
    /// The registers that have no value yet where a node begins.
    begun: BTreeMap<NodeId, Vec<SlotId>>,
    calls: Vec<(PointId, SlotCall)>,
}

/// The merged state of all paths between two points.
struct Arrival {
    from: PointId,
    to: PointId,
    state: State,
    guard: Term,
}

impl<'b, 's, 'a> Builder<'b, 's, 'a> {
    pub(crate) fn new(machine: Machine<'s, 'a>, graph: &'b Graph, live: &'b Liveness) -> Self {
        let begun = scopes::begun(machine.analysed, live);
        Self {
            machine,
            graph,
            live,
            symbols: BTreeMap::new(),
            points: Arena::new(),
            point_nodes: Vec::new(),
            ids: FxHashMap::default(),
            arrivals: Vec::new(),
            approaches: BTreeMap::new(),
            inputs: SideTable::new(Vec::new()),
            begun,
            calls: Vec::new(),
        }
    }

    /// Simulates from the entry and from each point that is reached.
    pub(crate) fn build(mut self, pool: &mut TermPool) -> Result<Encoded, EncodeError> {
        let entry = self.point(self.machine.analysed.inlined.entry);
        let mut next = 0;
        while let Some(node) = self.point_nodes.get(next).copied() {
            let point = PointId::from_index(next);
            next += 1;
            let state = match point == entry {
                true => self.initial_state(pool, node),
                false => self.state_at(pool, node),
            };
            self.simulate(pool, point, state)?;
        }
        Ok(self.finish(pool, entry))
    }

    /// The point of a node, made if it is new.
    fn point(&mut self, node: NodeId) -> PointId {
        if let Some(point) = self.ids.get(&node) {
            return *point;
        }
        let inlined = self.machine.analysed.inlined;
        let content = &inlined.nodes[node];
        let part = match (&content.exit, &content.successors[..]) {
            (Exit::Empty, []) => Some("return"),
            (Exit::Empty, _) => Some("enter"),
            _ => None,
        };
        let name = match part {
            Some(part) => format!("{}:{part}", inlined.instances[content.instance].name),
            None => self.machine.place_name(content.instance, content.block),
        };
        let instance = &inlined.instances[content.instance];
        let point = self.points.push(Point { name, span: instance.block_span(content.block) });
        self.ids.insert(node, point);
        self.point_nodes.push(node);
        point
    }

    /// The symbol of a slot that is a variable.
    fn symbol(&mut self, pool: &mut TermPool, slot: SlotId) -> Term {
        let content = &self.machine.analysed.slots.all[slot];
        let fresh = || pool.fresh_var(&content.name, content.sort);
        *self.symbols.entry(slot).or_insert_with(fresh)
    }

    /// The state at a point: a variable for each slot that matters.
    fn state_at(&mut self, pool: &mut TermPool, node: NodeId) -> State {
        let slots = self.machine.analysed.slots.all.ids();
        let mut state = State::new(slots.len());
        for slot in slots.filter(|slot| self.live.at(node).contains(*slot)) {
            let symbol = self.symbol(pool, slot);
            state.set(slot, Some(symbol));
        }
        state
    }

    /// The state at the entry: constants where values are known, variables for inputs.
    fn initial_state(&mut self, pool: &mut TermPool, node: NodeId) -> State {
        let slots = self.machine.analysed.slots.all.ids();
        let mut state = State::new(slots.len());
        for slot in slots.filter(|slot| self.live.at(node).contains(*slot)) {
            let value = match self.machine.initial_value(pool, slot) {
                Some(value) => value,
                None => self.symbol(pool, slot),
            };
            state.set(slot, Some(value));
        }
        state
    }

    fn simulate(
        &mut self,
        pool: &mut TermPool,
        point: PointId,
        state: State,
    ) -> Result<(), EncodeError> {
        self.machine.reads.clear();
        self.machine.goals.hits.clear();
        let start = self.point_nodes[point.index()];
        let mut waiting: BTreeMap<usize, (NodeId, Vec<State>)> = BTreeMap::new();
        let mut arrived: BTreeMap<PointId, (NodeId, Vec<State>)> = BTreeMap::new();
        let first = self.graph.position(start).unwrap_or(0);
        waiting.insert(first, (start, vec![state]));
        while let Some((_, (node, states))) = waiting.pop_first() {
            self.machine.request.check_time()?;
            let Some(state) = self.merge(pool, node, states) else { continue };
            for (to, state) in self.leave_node(pool, node, state) {
                if state.ended {
                    continue;
                }
                if self.graph.is_point(to) {
                    let to_point = self.point(to);
                    arrived.entry(to_point).or_insert((to, Vec::new())).1.push(state);
                } else if let Some(position) = self.graph.position(to) {
                    waiting.entry(position).or_insert((to, Vec::new())).1.push(state);
                }
            }
        }
        for (to, (node, states)) in arrived {
            if let Some(state) = self.merge(pool, node, states) {
                let guard = state.guard(pool);
                if pool.as_bool(guard) != Some(false) {
                    self.arrivals.push(Arrival { from: point, to, state, guard });
                }
            }
        }
        for (goal, hit) in std::mem::take(&mut self.machine.goals.hits) {
            let approach = Approach { from: point, condition: hit.condition };
            self.approaches.entry(goal).or_default().push((approach, hit.inputs));
        }
        self.inputs.set(point, std::mem::take(&mut self.machine.reads));
        let calls = std::mem::take(&mut self.machine.recursive_calls).into_iter();
        self.calls.extend(calls.map(|call| (point, call)));
        Ok(())
    }

    fn merge(&self, pool: &mut TermPool, node: NodeId, states: Vec<State>) -> Option<State> {
        let machine = &self.machine;
        let mut fresh = |pool: &mut TermPool, slot: SlotId| machine.any_value(pool, slot);
        merged(pool, states, self.live.at(node), &mut fresh)
    }

    /// Executes a node, and returns the states at its ways out.
    fn leave_node(&mut self, pool: &mut TermPool, node: NodeId, mut state: State) -> Exits {
        let inlined = self.machine.analysed.inlined;
        let instance = inlined.nodes[node].instance;
        self.begun.get(&node).into_iter().flatten().for_each(|slot| state.set(*slot, None));
        if node == inlined.entry {
            self.machine.labels_at(pool, &mut state, (instance, Moment::Start));
        }
        if inlined.begins_block(node) {
            let block = inlined.nodes[node].block;
            if node == inlined.instances[instance].entry {
                self.machine.labels_at(pool, &mut state, (instance, Moment::Entry));
            }
            self.machine.labels_at(pool, &mut state, (instance, Moment::Block(block)));
        }
        for stmt in inlined.stmts(node) {
            self.machine.labels_at(pool, &mut state, (instance, Moment::Stmt(stmt)));
            self.machine.stmt(pool, &mut state, (instance, stmt));
            if state.ended {
                return Vec::new();
            }
        }
        match &inlined.nodes[node].exit {
            Exit::Call { stmt, .. } => {
                self.machine.labels_at(pool, &mut state, (instance, Moment::Stmt(*stmt)));
                self.leave_by_call(pool, node, state)
            }
            Exit::Terminator => {
                let block = inlined.nodes[node].block;
                self.machine.labels_at(pool, &mut state, (instance, Moment::Term(block)));
                self.leave_by_terminator(pool, node, state)
            }
            Exit::Recursion { stmt, .. } => {
                self.machine.labels_at(pool, &mut state, (instance, Moment::Stmt(*stmt)));
                self.machine.call_recursive(pool, node, state)
            }
            Exit::Empty => {
                self.machine.enter_recursive(node, &mut state);
                let successors = &inlined.nodes[node].successors;
                successors.iter().map(|to| (*to, state.clone())).collect()
            }
        }
    }

    fn leave_by_call(&mut self, pool: &mut TermPool, node: NodeId, state: State) -> Exits {
        let inlined = self.machine.analysed.inlined;
        let content = &inlined.nodes[node];
        let Exit::Call { stmt, callees, .. } = &content.exit else { return Vec::new() };
        let caller = content.instance;
        let Stmt::Call { callee, args, arg_types, .. } =
            &inlined.instances[caller].body.stmts[*stmt]
        else {
            return Vec::new();
        };
        let mut state = state;
        let (pointer, targets) = match callee {
            Callee::Direct(_) => (None, None),
            Callee::Indirect(pointer) => {
                let value = self.machine.eval(pool, &mut state, (caller, *pointer));
                (Some(value), Some(self.machine.targets((caller, *pointer))))
            }
        };
        let (mut exits, mut others) = (Vec::new(), state.clone());
        let is_known = |function| {
            targets.as_ref().is_none_or(|targets| {
                targets.contains_key(&Place::Function(function))
                    || targets.contains_key(&Place::Unknown)
            })
        };
        for (callee, to) in callees.iter().zip(&content.successors) {
            let function = inlined.instances[*callee].function;
            if !is_known(function) {
                continue;
            }
            let mut state = state.clone();
            if let Some(pointer) = pointer {
                let address = self.machine.analysed.objects.function_address(function);
                let address = pool.bv(64, address);
                let is_called = pool.eq(pointer, address);
                state.assume(pool, is_called);
                let is_not = pool.not(is_called);
                others.assume(pool, is_not);
            }
            if state.ended {
                continue;
            }
            let values = Vec::new();
            let call = Call { instance: caller, stmt: *stmt, args, types: arg_types, values };
            self.machine.hit_error(pool, &mut state, &call, function);
            self.machine.begin_call(pool, &mut state, (caller, *stmt), *callee);
            exits.push((*to, state));
        }
        let Some(targets) = targets else { return exits };
        let followed = |place: &Place| {
            let mut callees = callees.iter().map(|callee| inlined.instances[*callee].function);
            callees.any(|function| *place == Place::Function(function))
        };
        if let Some(next) = content.successors.last()
            && !others.ended
            && !targets.keys().all(followed)
        {
            self.machine.call_other(pool, &mut others, (caller, *stmt));
            exits.push((*next, others));
        }
        exits
    }

    fn leave_by_terminator(&mut self, pool: &mut TermPool, node: NodeId, state: State) -> Exits {
        let inlined = self.machine.analysed.inlined;
        let Some(terminator) = inlined.terminator(node) else { return Vec::new() };
        let content = &inlined.nodes[node];
        let (instance, successors) = (content.instance, &content.successors);
        let mut state = state;
        match terminator {
            Terminator::Goto(_) => vec![(successors[0], state)],
            Terminator::Branch { cond, origin, .. } => {
                let test = self.machine.eval(pool, &mut state, (instance, *cond));
                if let Some(origin) = origin {
                    self.machine.before_branch(pool, &mut state, (instance, *origin), test);
                }
                let mut exits = Vec::new();
                for (way, holds) in [(0, true), (1, false)] {
                    let mut state = state.clone();
                    let chosen = if holds { test } else { pool.not(test) };
                    state.assume(pool, chosen);
                    if state.ended {
                        continue;
                    }
                    if let Some(origin) = origin {
                        let taken = (*origin, holds);
                        self.machine.after_branch(pool, &mut state, (instance, taken));
                    }
                    exits.push((successors[way], state));
                }
                exits
            }
            Terminator::Switch { value, cases, .. } => {
                let value = self.machine.eval(pool, &mut state, (instance, *value));
                self.leave_by_switch(pool, node, state, (value, cases))
            }
            Terminator::Return(value) => {
                self.machine.end_call(pool, &mut state, instance, *value);
                successors.iter().map(|to| (*to, state.clone())).collect()
            }
            Terminator::Trap(_) => Vec::new(),
        }
    }

    fn leave_by_switch(
        &mut self,
        pool: &mut TermPool,
        node: NodeId,
        state: State,
        (value, cases): (Term, &[SwitchCase]),
    ) -> Exits {
        let content = &self.machine.analysed.inlined.nodes[node];
        let mut tests = Vec::new();
        for case in cases {
            tests.push(in_case(pool, value, case));
        }
        let any = pool.or_all(tests.iter().copied());
        tests.push(pool.not(any));
        let mut exits = Vec::new();
        for (way, (test, to)) in tests.into_iter().zip(&content.successors).enumerate() {
            let mut state = state.clone();
            state.assume(pool, test);
            if !state.ended {
                let edge = Edge { from: content.block, way: way as u32 };
                let at = (content.instance, Moment::Edge(edge));
                self.machine.labels_at(pool, &mut state, at);
                exits.push((*to, state));
            }
        }
        exits
    }

    fn finish(mut self, pool: &mut TermPool, entry: PointId) -> Encoded {
        // Values at arrivals that no slot had yet are any.
        let slots: Vec<SlotId> = self.symbols.keys().copied().collect();
        let mut variables: Arena<VarId, Variable> = Arena::new();
        let mut initial = Vec::new();
        for slot in &slots {
            let content = &self.machine.analysed.slots.all[*slot];
            let symbol = self.symbols[slot];
            variables.push(Variable { symbol, name: content.name.clone() });
            initial.push(match self.machine.initial_value(pool, *slot) {
                Some(value) => value,
                None => pool.fresh_var(&format!("initial.{}", content.name), content.sort),
            });
        }
        let mut transitions = Vec::new();
        for arrival in std::mem::take(&mut self.arrivals) {
            let live = self.live.at(self.point_nodes[arrival.to.index()]);
            let mut next = Vec::new();
            for slot in &slots {
                let value = match live.contains(*slot) {
                    true => arrival.state.get(*slot),
                    false => Some(self.symbols[slot]),
                };
                next.push(value.unwrap_or_else(|| self.machine.any_value(pool, *slot)));
            }
            let (from, to, guard) = (arrival.from, arrival.to, arrival.guard);
            transitions.push(Transition { from, to, guard, next });
        }
        let (mut goals, mut inputs_before) = (Arena::new(), Arena::new());
        for (id, meaning) in self.machine.goals.all.iter() {
            let found = self.approaches.remove(&id).unwrap_or_default();
            let (approaches, before): (Vec<Approach>, Vec<usize>) = found.into_iter().unzip();
            let name = self.machine.goal_name(*meaning);
            goals.push(Goal { name, approaches });
            inputs_before.push(before);
        }
        let origins = (&slots[..], &self.point_nodes[..]);
        let of_goals = GoalOrigins {
            notes: slots.iter().map(|slot| self.note(*slot)).collect(),
            flags: self.machine.sequences.origins(),
            sequences: self.machine.sequences.ends(),
        };
        let provenance = provenance(self.machine.analysed, of_goals, self.live, origins);
        let assumed = pool.tt();
        let calls = std::mem::take(&mut self.calls);
        let calls = calls.into_iter().map(|(from, call)| self.call(from, call)).collect();
        let inexact = self.machine.inexact.into_iter().collect();
        let points = self.points;
        let system =
            System { variables, points, entry, initial, assumed, transitions, goals, inexact };
        let (goals, inputs) = (self.machine.goals.all, self.inputs);
        let is_whole = self.machine.is_whole;
        Encoded { system, goals, inputs, inputs_before, provenance, calls, is_whole }
    }

    /// The place of a slot that is a note for goals.
    fn note(&self, slot: SlotId) -> Option<VariablePlace> {
        let analysed = self.machine.analysed;
        match analysed.slots.all[slot].kind {
            SlotKind::Flag(instance, flag) => {
                Some(VariablePlace::Flag(instance.map(EntityId::index), flag))
            }
            SlotKind::Reached(instance, decision, condition) => {
                Some(VariablePlace::Reached(instance.index(), decision, condition))
            }
            SlotKind::Value(instance, decision, condition) => {
                Some(VariablePlace::Outcome(instance.index(), decision, condition))
            }
            SlotKind::Mutant(instance, decision, at) => {
                let sites = self.machine.sites;
                let mutants = sites.mutants_of(analysed.inlined, instance, decision)?;
                let (condition, expr) = *mutants.get(at / 2)?;
                let (instance, value) = (instance.index(), at % 2 == 0);
                Some(VariablePlace::Mutant { instance, decision, condition, expr, value })
            }
            _ => None,
        }
    }

    /// A call of a recursive function, over the symbols of variables.
    fn call(&self, from: PointId, call: SlotCall) -> RecursiveCall {
        let inlined = self.machine.analysed.inlined;
        let SlotCall { callee, returns, condition, given, values } = call;
        let summary = inlined.summary(callee);
        let exit = summary.and_then(|summary| self.ids.get(&summary.exit));
        let enter = summary.and_then(|summary| self.ids.get(&summary.enter));
        let (enter, exit) = (enter.copied(), exit.copied());
        let named = |values: &[(SlotId, Term)]| {
            let symbol = |(slot, value): &(SlotId, Term)| Some((*self.symbols.get(slot)?, *value));
            values.iter().filter_map(symbol).collect::<Vec<_>>()
        };
        let (before, after) = (named(&values[..given]), named(&values[given..]));
        let given = before.len();
        let values = [before, after].concat();
        RecursiveCall { from, returns, condition, enter, exit, values, given }
    }
}

/// Whether a value is one of a case.
fn in_case(pool: &mut TermPool, value: Term, case: &SwitchCase) -> Term {
    let value = lydian_eval::to_bytes(pool, value);
    let width = pool.width(value);
    let number = |pool: &mut TermPool, number: i128| {
        pool.bv_wide(width, lydian_smt::Wide::from_u128(number as u128))
    };
    let low = number(pool, case.low);
    if case.low == case.high {
        return pool.eq(value, low);
    }
    let high = number(pool, case.high);
    let (above, below) = match case.low < 0 {
        true => (pool.sle(low, value), pool.sle(value, high)),
        false => {
            // Not negative, whether the type is signed or not.
            (pool.ule(low, value), pool.ule(value, high))
        }
    };
    pool.and(above, below)
}

impl Machine<'_, '_> {
    /// The name of a goal for people.
    fn goal_name(&self, meaning: crate::encode::encoded::GoalMeaning) -> String {
        let functions = &self.analysed.inlined.program.functions;
        match meaning {
            crate::encode::encoded::GoalMeaning::Error { function, call } => {
                format!("error in {} at {call}", functions[function].name)
            }
            crate::encode::encoded::GoalMeaning::Label { function, label } => {
                format!("{label} of {}", functions[function].name)
            }
            crate::encode::encoded::GoalMeaning::Sequence { function, sequence } => {
                format!("{sequence} of {}", functions[function].name)
            }
        }
    }
}
