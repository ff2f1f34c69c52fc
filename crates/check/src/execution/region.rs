//! All paths from a point to the next ones.
//!
//! Nodes are visited each after those that lead to it, and states are merged where paths meet, so that
//! the terms of a condition are linear in the number of statements.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_ir::stmt::Terminator;
use lydian_ir::{Callee, Stmt, StmtId, SwitchCase};

use crate::document::objectives::Moment;
use crate::execution::CallSite;
use crate::fault::Fault;
use crate::machine::{Machine, fresh};
use crate::state::{Key, State, merged};
use crate::terms::{Term, Terms};
use crate::unfolding::Exit;

/// The most terms of one condition.
const MOST_TERMS: usize = 2_000_000;

/// The ends of all paths from a point.
pub(crate) struct Ends {
    /// The states at the points that come next, by the points' positions.
    pub(crate) arrivals: BTreeMap<usize, State>,
    /// Whether one of the paths comes to each goal.
    pub(crate) goals: Vec<Term>,
}

impl Machine<'_, '_> {
    /// Follows all paths from a point.
    pub(crate) fn follow(&mut self, point: usize, state: State) -> Result<Ends, Fault> {
        let unfolding = &self.scene.unfolding;
        let start = unfolding.points[point];
        let order = unfolding.between_points(start);
        let mut left = BTreeSet::new();
        self.goals.fill(self.terms.truth(false));
        let mut waiting: BTreeMap<usize, Vec<State>> = BTreeMap::from([(start, vec![state])]);
        let mut arrived: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for node in order {
            left.insert(node);
            let Some(states) = waiting.remove(&node) else { continue };
            let Some(state) = self.merge(states) else { continue };
            if self.terms.len() > MOST_TERMS {
                return Err(Fault::unsupported("so large a program"));
            }
            for (to, state) in self.leave_node(node, state) {
                if state.has_ended(&self.terms) {
                    continue;
                }
                match unfolding.points.iter().position(|point| *point == to) {
                    Some(0) => return Err(Fault::form("a run comes to its beginning again")),
                    Some(point) => arrived.entry(point).or_default().push(state),
                    // Where no run comes a cycle does not matter.
                    None if left.contains(&to) => {
                        return Err(Fault::form("a cycle passes no point"));
                    }
                    None => waiting.entry(to).or_default().push(state),
                }
            }
        }
        let mut arrivals = BTreeMap::new();
        for (point, states) in arrived {
            if let Some(state) = self.merge(states) {
                arrivals.insert(point, state);
            }
        }
        Ok(Ends { arrivals, goals: self.goals.clone() })
    }

    pub(crate) fn merge(&mut self, states: Vec<State>) -> Option<State> {
        let scene = self.scene;
        merged(&mut self.terms, states, &mut |terms: &mut Terms, key: Key| fresh(scene, terms, key))
    }

    /// Executes a node, and returns the states at its ways out.
    fn leave_node(&mut self, node: usize, mut state: State) -> Vec<(usize, State)> {
        let scene = self.scene;
        let content = &scene.unfolding.nodes[node];
        self.come_to_node(&mut state, node);
        for stmt in &content.stmts {
            self.come_to(&mut state, content.instance, Moment::Statement(stmt.index() as u32));
            self.stmt(&mut state, (content.instance, *stmt));
            if state.has_ended(&self.terms) {
                return Vec::new();
            }
        }
        let before = match content.exit {
            Exit::Call { stmt, .. } | Exit::Recursion { stmt, .. } => {
                Some(Moment::Statement(stmt.index() as u32))
            }
            Exit::Terminator => Some(Moment::Terminator(content.block.index() as u32)),
            Exit::Enter | Exit::Return => None,
        };
        before.into_iter().for_each(|moment| self.come_to(&mut state, content.instance, moment));
        match content.exit {
            Exit::Call { stmt, next } => self.leave_by_call((content.instance, stmt), state, next),
            Exit::Recursion { stmt, callee, next } => {
                self.leave_by_recursion((content.instance, stmt), state, (callee, next))
            }
            Exit::Enter => vec![(scene.unfolding.entry_of(content.instance), state)],
            Exit::Return => Vec::new(),
            Exit::Terminator => self.leave_by_terminator(node, state),
        }
    }

    /// The events where control comes to a node: of the run, the function, the block.
    fn come_to_node(&mut self, state: &mut State, node: usize) {
        let unfolding = &self.scene.unfolding;
        let content = &unfolding.nodes[node];
        let instance = content.instance;
        if unfolding.points.first() == Some(&node) {
            self.start_run(state, instance);
        }
        let is_end = matches!(content.exit, Exit::Enter | Exit::Return);
        if is_end || unfolding.block(instance, content.block) != node {
            return;
        }
        if unfolding.entry_of(instance) == node {
            self.enter_instance(state, instance);
        }
        self.come_to(state, instance, Moment::Block(content.block.index() as u32));
    }

    fn leave_by_call(
        &mut self,
        (caller, stmt): (usize, StmtId),
        mut state: State,
        next: usize,
    ) -> Vec<(usize, State)> {
        let unfolding = &self.scene.unfolding;
        let content = &unfolding.instances[caller];
        self.come_to_call(&mut state, (caller, stmt));
        let Stmt::Call { callee, args, dst, .. } = &content.body.stmts[stmt] else {
            return Vec::new();
        };
        let callees = content.callees.get(&stmt).map(Vec::as_slice).unwrap_or_default();
        let Callee::Indirect(pointer) = callee else {
            return callees
                .iter()
                .map(|callee| {
                    let mut state = state.clone();
                    self.begin_call(&mut state, (caller, stmt), *callee);
                    (unfolding.entry_of(*callee), state)
                })
                .collect();
        };
        let value = self.eval(&mut state, (caller, *pointer)).term;
        let (mut exits, mut others) = (Vec::new(), state.clone());
        for callee in callees {
            let address = self.function_address(unfolding.instances[*callee].function).term;
            let is_called = self.terms.equal(value, address);
            let is_not = self.terms.not(is_called);
            others.assume(&mut self.terms, is_not);
            let mut state = state.clone();
            state.assume(&mut self.terms, is_called);
            self.begin_call(&mut state, (caller, stmt), *callee);
            exits.push((unfolding.entry_of(*callee), state));
        }
        let targets = self.scene.pointers.of(caller, *pointer);
        let left = self.scene.not_followed((caller, stmt), targets);
        if targets.any || !left.is_empty() {
            let site = CallSite { instance: caller, stmt, args, dst: *dst };
            self.call_unknown(&mut others, site, left);
            exits.push((next, others));
        }
        exits
    }

    fn leave_by_terminator(&mut self, node: usize, mut state: State) -> Vec<(usize, State)> {
        let unfolding = &self.scene.unfolding;
        let content = &unfolding.nodes[node];
        let instance = content.instance;
        let body = unfolding.instances[instance].body;
        let mut exits = match &body.blocks[content.block].term {
            Terminator::Goto(to) => vec![(unfolding.block(instance, *to), state)],
            Terminator::Branch { cond, then_to, else_to, origin } => {
                let test = self.eval(&mut state, (instance, *cond)).term;
                if let Some(origin) = origin {
                    self.before_branch(&mut state, (instance, *origin), test);
                }
                let not_test = self.terms.not(test);
                [(test, true, *then_to), (not_test, false, *else_to)]
                    .map(|(test, holds, to)| {
                        let mut state = state.clone();
                        state.assume(&mut self.terms, test);
                        if let Some(origin) = origin {
                            self.after_branch(&mut state, (instance, *origin, holds));
                        }
                        (unfolding.block(instance, to), state)
                    })
                    .to_vec()
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.eval(&mut state, (instance, *value)).term;
                let (mut exits, mut others) = (Vec::new(), state.clone());
                for case in cases {
                    let test = in_case(&mut self.terms, value, case);
                    let not_test = self.terms.not(test);
                    others.assume(&mut self.terms, not_test);
                    let mut state = state.clone();
                    state.assume(&mut self.terms, test);
                    exits.push((unfolding.block(instance, case.target), state));
                }
                exits.push((unfolding.block(instance, *default), others));
                exits
            }
            Terminator::Return(value) => {
                self.end_call(&mut state, instance, *value);
                let to = unfolding.instances[instance].returns_to;
                return to.map(|to| (to, state)).into_iter().collect();
            }
            Terminator::Trap(_) => Vec::new(),
        };
        let block = content.block.index() as u32;
        for (way, (_, state)) in exits.iter_mut().enumerate() {
            self.come_to(state, instance, Moment::Edge { block, way: way as u32 });
        }
        exits
    }
}

/// Whether a value is one of a case. Bounds that are negative are those of a signed type; where both are
/// not negative, the order of unsigned numbers is that of signed ones between them.
fn in_case(terms: &mut Terms, value: Term, case: &SwitchCase) -> Term {
    let width = terms.width(value);
    let [low, high] = [case.low, case.high].map(|bound| terms.bits(width, bound as u128));
    if case.low == case.high {
        return terms.equal(value, low);
    }
    let order = if case.low < 0 { "bvsle" } else { "bvule" };
    let (above, below) = (terms.compare(order, low, value), terms.compare(order, value, high));
    terms.and(above, below)
}
