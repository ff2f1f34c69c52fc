//! The simulation of calls of recursive functions, and of their returns.

use lydian_ir::Stmt;
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::ids::{InstanceId, NodeId, SlotId};
use crate::encode::inlined::Exit;
use crate::encode::machine::Machine;
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;
use crate::encode::summaries::{Kept, Parts};

/// A call of a recursive function, by the slots of its contract.
#[derive(Clone, Debug)]
pub(crate) struct SlotCall {
    pub(crate) callee: InstanceId,
    /// Holds on the way behind the call.
    pub(crate) returns: Term,
    /// Where the call is reached.
    pub(crate) condition: Term,
    /// How many of the values are from the entry.
    pub(crate) given: usize,
    /// The values before and after the call.
    pub(crate) values: Vec<(SlotId, Term)>,
}

impl Machine<'_, '_> {
    /// Calls a recursive function at the end of a node: the states where it is entered, and behind the
    /// call.
    pub(crate) fn call_recursive(
        &mut self,
        pool: &mut TermPool,
        node: NodeId,
        state: State,
    ) -> Vec<(NodeId, State)> {
        let content = &self.analysed.inlined.nodes[node];
        let (Exit::Recursion { stmt, callee }, [to, next]) =
            (&content.exit, &content.successors[..])
        else {
            return Vec::new();
        };
        let Some(parts) = self.analysed.summaries.of(*callee) else { return Vec::new() };
        let caller = content.instance;
        let (mut enter, mut after) = (state.clone(), state);
        self.begin_call(pool, &mut enter, (caller, *stmt), *callee);
        let inlined = self.analysed.inlined;
        let Stmt::Call { args, dst, .. } = &inlined.instances[caller].body.stmts[*stmt] else {
            return Vec::new();
        };
        args.iter().for_each(|arg| _ = self.eval(pool, &mut after, (caller, *arg)));
        if enter.ended || after.ended {
            return Vec::new();
        }
        let name = &inlined.program.functions[parts.summary.function].name;
        self.more(format!("a contract stands for the calls of {name}"));
        let condition = after.guard(pool);
        self.keep(pool, &mut enter, parts);
        let returns = pool.fresh_var("returns", Sort::Bool);
        let stays = pool.not(returns);
        enter.assume(pool, stays);
        after.assume(pool, returns);
        let mut values = Vec::new();
        for Kept { before, .. } in parts.kept() {
            values.push((before, self.value(pool, &mut enter, before)));
        }
        let given = values.len();
        self.havoc_visible(&mut after);
        let escaped = self.analysed.pointers.escaped_functions();
        let functions = escaped.chain([parts.summary.function]);
        self.begin_in(pool, &mut after, &self.analysed.code.may_run(functions));
        for Kept { now, .. } in &parts.globals {
            values.push((*now, self.value(pool, &mut after, *now)));
        }
        let result = parts.result.map(|slot| (slot, self.any_value(pool, slot)));
        values.extend(result);
        if let Some(dst) = dst {
            let slot = self.slot(SlotKind::Register(caller, *dst));
            self.set_coerced(pool, &mut after, slot, result.map(|(_, value)| value));
        }
        self.recursive_calls.push(SlotCall { callee: *callee, returns, condition, given, values });
        vec![(*to, enter), (*next, after)]
    }

    /// Keeps the values of parameters and globals where a function is entered.
    fn keep(&self, pool: &mut TermPool, state: &mut State, parts: &Parts) {
        for Kept { now, before } in parts.kept() {
            let value = self.value(pool, state, now);
            state.set(before, Some(value));
        }
    }

    /// Gives any contents to what a recursive function may know.
    fn havoc_visible(&self, state: &mut State) {
        self.havoc_outside(state);
        for object in &self.analysed.summaries.visible {
            self.havoc_object(state, *object);
        }
    }

    /// Begins a simulation where a function is entered: parameters and globals have the values that are
    /// kept.
    pub(crate) fn enter_recursive(&self, node: NodeId, state: &mut State) {
        let Some(parts) = self.analysed.summaries.entered_at(node) else { return };
        for Kept { now, before } in parts.kept() {
            let value = state.get(before);
            state.set(now, value);
        }
    }

    /// Ends an activation of a recursive function with a value.
    pub(crate) fn return_recursive(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        instance: InstanceId,
        value: Option<Term>,
    ) {
        let parts = self.analysed.summaries.of(instance);
        let Some(slot) = parts.and_then(|parts| parts.result) else { return };
        self.set_coerced(pool, state, slot, value);
    }
}
