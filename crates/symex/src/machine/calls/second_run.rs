//! A second run on each path: the function under test runs again from the path's own inputs, with
//! another value of one variable, or another version of it does, and what both runs leave is compared
//! ([`SecondRun`](crate::config::SecondRun)).
//!
//! The state stays one path: its facts are those of both runs, and inputs have the same symbols in both.
//! When the first run has returned, memory becomes what it was at its beginning ([`Memory::begin_again`]),
//! results of undefined functions are given anew, each call by its number, and the function is entered
//! again. Calls of the function under test ([`further_calls`](super::further_calls)) are repeated, too.
//! The two runs of a path are a *product* of two programs (Barthe, Crespo and Kunz, "Relational
//! Verification Using Product Programs", FM 2011, compose them in this way).
//!
//! # Why nothing that differs is missed
//! Inputs on which the first run traps have no defined behaviour and are left out. On all others of the
//! path both runs are followed to their ends. A second run that traps, never ends, or exits differs.
//! Where both return, the condition that results or memory differ is asked for. Memory is compared as a
//! whole, reachable or not. Where calls of undefined functions or volatile memory take part, a complete
//! exploration says nothing, since what others do between the calls is not compared.
//!
//! A path leaves out inputs on which what it does with an address is undefined: a pointer that it follows
//! is valid, a moved pointer stays in its object. For the first run that is C's word. For the second it is
//! not: there the mutant alone does it. So an exploration is not complete where a second run restricts its
//! inputs, or looks at bytes of an input object that the first does not look at
//! ([`Machine::note_restriction`]).

use std::sync::Arc;

use lydian_inputs::{ExternalPlan, WriteContents};
use lydian_ir::libc::{LibFn, model_named};
use lydian_ir::{CType, FuncId, Overflow};
use lydian_smt::Term;

use crate::config::SecondRun;
use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::calls::first_run::{FirstRun, RESTRICTED, RecordedCall, object_of};
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::difference::values_differ;
use crate::machine::memory::{Background, Contents, Memory, NewObject, ObjectKind};
use crate::machine::questions::Feasible;
use crate::machine::state::{Notes, Passing, ReturnTo, State};

impl<N: Notes> State<N> {
    /// The meaning of signed overflow, where it has `usual` for first runs. In a second run it wraps: a
    /// compiler may do otherwise, but rarely does, and overflow alone tells no mutant from its original.
    pub(crate) fn overflow(&self, usual: Overflow) -> Overflow {
        match self.course.first_run {
            Some(_) => Overflow::Wrap,
            None => usual,
        }
    }

    /// In a second run, the values that the next call of an undefined function wrote in the first, if that
    /// had the call.
    pub(crate) fn written_in_first_run(&self, function: &str) -> Option<Vec<Term>> {
        let nth = self.calls_of(function);
        let first = self.course.first_run.as_ref()?;
        let mut calls = first.externals.iter();
        let call = calls.find(|call| &*call.function == function && call.nth == nth)?;
        let values = call.writes.iter().flat_map(|write| match &write.contents {
            WriteContents::Cells { cells, .. } => cells.iter().map(|cell| cell.value).collect(),
            WriteContents::Row { symbol, .. } => vec![*symbol],
        });
        Some(values.collect())
    }

    /// Whether two states belong to the same run of the same calls.
    pub(crate) fn is_run_like(&self, other: &Self) -> bool {
        let same_first = match (&self.course.first_run, &other.course.first_run) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let (a, b) = (&self.inputs.calls, &other.inputs.calls);
        same_first && (Arc::ptr_eq(a, b) || a == b)
    }
}

impl<N: Notes> Machine<'_, '_, N> {
    /// Notes that a path goes on with a part of its inputs, which in a second run leaves some of them
    /// without a comparison.
    pub(crate) fn note_restriction(&mut self, state: &State<N>) {
        if state.course.first_run.is_some() {
            self.cut(Cut::Unsupported(RESTRICTED.to_owned()));
        }
    }

    /// Notes that something of a path is not compared, where runs are compared.
    pub(crate) fn leave_open(&mut self, what: &str) {
        if self.context.config.second_run.is_some() {
            self.cut(Cut::Unsupported(format!("a comparison of {what}")));
        }
    }

    /// Notes that a second run ends in another way than the first on some input, whether or not there is a
    /// test of it.
    pub(crate) const fn note_difference(&mut self, state: &State<N>) {
        self.runs_differ |= state.course.first_run.is_some();
    }

    /// Records a call of an undefined function, where runs are compared.
    pub(crate) fn record_call(&self, state: &mut State<N>, func: FuncId, args: &[Term]) {
        if self.context.config.second_run.is_some() {
            let call = RecordedCall { func, args: args.to_vec() };
            Arc::make_mut(&mut state.inputs.calls).push(call);
        }
    }

    /// The place for the result of a function that is called by a test: a struct has one where runs are
    /// compared.
    pub(crate) fn place_of_result(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
    ) -> Result<ReturnTo, Interrupt> {
        let types = &self.context.program.types;
        let second = self.context.config.second_run;
        let is_other = second.and_then(SecondRun::function) == Some(func);
        let is_compared = second.is_some() && (func == self.plan.function || is_other);
        let CType::Function { result, .. } = types.get(self.context.program.functions[func].ty)
        else {
            return Ok(ReturnTo::default());
        };
        let size = types.size(*result).unwrap_or(0);
        if !is_compared || size == 0 || types.scalar(*result).is_some() {
            return Ok(ReturnTo::default());
        }
        let object = state.memory.allocate(NewObject {
            size,
            alignment: 16,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: "result".into(),
            contents: Contents::new(Background::Zero),
        });
        let object = object.ok_or_else(|| Interrupt::unsupported("more memory"))?;
        let address = self.pool.bv(64, state.memory.object(object).base);
        Ok(ReturnTo { register: None, memory: Some((address, size)) })
    }

    /// Begins the second run of a path whose first run returned.
    pub(crate) fn begin_second_run(&mut self, state: &mut State<N>) -> Result<(), Interrupt> {
        let Some(second) = self.context.config.second_run else {
            return Err(Interrupt::unsupported("a second run that nobody asked for"));
        };
        let Some(mut memory) = state.memory.begin_again(&self.first_memory) else {
            return Err(Interrupt::unsupported("a second run with a block that `realloc` moved"));
        };
        if let SecondRun::Variable { value, .. } = second {
            let Some(object) = object_of(second, &self.context, &memory) else {
                return Err(Interrupt::unsupported("a second run of code without the variable"));
            };
            let size = memory.object(object).size;
            let value = self.pool.bv(size as u32 * 8, value);
            memory.object_mut(object).contents.write(&mut self.pool, 0, size, value);
        }
        let first = FirstRun {
            result: state.course.result.take(),
            memory: std::mem::replace(&mut state.memory, memory),
            externals: std::mem::take(&mut state.inputs.externals),
            calls: std::mem::take(&mut state.inputs.calls),
        };
        state.course.first_run = Some(Arc::new(first));
        state.inputs.cursor = self.plan.cursor;
        state.passing = Passing::default();
        self.begin_again(state)
    }

    /// The function that a path enters next: a precondition, the function under test, or that of the second
    /// run.
    pub(crate) fn next_root(&self, state: &State<N>) -> FuncId {
        let other = self.context.config.second_run.and_then(SecondRun::function);
        match other.filter(|_| state.course.first_run.is_some()) {
            Some(other) => other,
            None => self.roots[state.course.root],
        }
    }

    /// Calls the function under test, or that of the second run, without its preconditions, which the path's
    /// inputs meet.
    fn begin_again(&mut self, state: &mut State<N>) -> Result<(), Interrupt> {
        state.course.root = self.roots.len() - 1;
        self.begin_root(state)
    }

    /// Begins the next call of a second run, if the first run had one more.
    pub(crate) fn next_call_of_second_run(
        &mut self,
        state: &mut State<N>,
    ) -> Option<Result<(), Interrupt>> {
        let first = state.course.first_run.clone()?;
        let mut calls = first.externals.iter().filter(|call| call.is_further_call());
        let next = calls.nth(state.further_calls() as usize)?.clone();
        let taken = self.take_inputs(state, &next);
        Some(taken.and_then(|()| {
            Arc::make_mut(&mut state.inputs.externals).push(next);
            self.begin_again(state)
        }))
    }

    /// Compares the runs of a path that both returned. Where some input tells them apart, a path ends
    /// beside this one, with a test.
    pub(crate) fn compare_runs(&mut self, state: &mut State<N>) {
        let Some(first) = state.course.first_run.clone() else { return };
        let calls_differ = self.calls_differ(&first, state);
        self.leave_open_what_others_do(state);
        if state.depends.are_some() {
            return; // nothing counts on this path
        }
        let further = state.memory.further_accesses(&mut self.pool, &first.memory);
        let is_none = self.pool.as_bool(further) == Some(false);
        if !is_none && !matches!(self.ask(state, Some(further)), Feasible::No) {
            self.note_restriction(state);
        }
        let differs = match calls_differ {
            true => Some(self.pool.tt()),
            false => self.difference_of_runs(&first, state),
        };
        let Some(differs) = differs else {
            return self.leave_open("memory that came into being in two ways");
        };
        match self.ask(state, Some(differs)) {
            Feasible::No => {}
            Feasible::Unknown(cut) => self.cut(cut),
            Feasible::Yes(model) => {
                self.note_difference(state);
                let mut apart = state.fork();
                apart.model = model;
                apart.pending = false;
                apart.claims.keep = true;
                apart.claims.promises.push(differs);
                self.end_beside(Some(apart), Ending::Returned);
            }
        }
    }

    /// Whether the runs called other undefined functions, or another number of them.
    fn calls_differ(&self, first: &FirstRun, state: &State<N>) -> bool {
        let functions = |calls: &[RecordedCall]| -> Vec<FuncId> {
            calls.iter().map(|call| call.func).collect()
        };
        functions(&first.calls) != functions(&state.inputs.calls)
    }

    /// The condition on which results, arguments of undefined functions, or memory differ.
    fn difference_of_runs(&mut self, first: &FirstRun, state: &State<N>) -> Option<Term> {
        let second = self.context.config.second_run?;
        let variable = object_of(second, &self.context, &state.memory);
        let memories = (&first.memory, &state.memory);
        let mut differs = Memory::difference(&mut self.pool, memories, variable)?;
        let results = match (first.result, state.course.result) {
            (Some(a), Some(b)) => values_differ(&mut self.pool, a, b),
            (None, None) => self.pool.ff(),
            _ => self.pool.tt(),
        };
        differs = self.pool.or(differs, results);
        for (a, b) in first.calls.iter().zip(&*state.inputs.calls) {
            for (a, b) in a.args.iter().zip(&b.args) {
                let own = values_differ(&mut self.pool, *a, *b);
                differs = self.pool.or(differs, own);
            }
        }
        Some(differs)
    }

    /// The results of undefined functions on a path, of both runs.
    pub(crate) fn externals_of_runs(state: &State<N>) -> Arc<Vec<Arc<ExternalPlan>>> {
        let Some(first) = &state.course.first_run else { return state.inputs.externals.clone() };
        let mut all = first.externals.clone();
        let known = |all: &[Arc<ExternalPlan>], call: &ExternalPlan| {
            all.iter().any(|known| known.function == call.function && known.nth == call.nth)
        };
        for call in &*state.inputs.externals {
            if !known(&all, call) {
                Arc::make_mut(&mut all).push(call.clone());
            }
        }
        all
    }

    /// Notes that nothing is known of all inputs where others take part in a path: undefined functions,
    /// and what changes volatile memory.
    fn leave_open_what_others_do(&mut self, state: &State<N>) {
        let is_own = |call: &ExternalPlan| {
            let model = model_named(&call.function).map(|model| model.function);
            call.is_further_call()
                || call.is_variable_argument()
                || matches!(model, Some(LibFn::Allocation(_)))
        };
        let all = Self::externals_of_runs(state);
        if let Some(call) = all.iter().find(|call| !is_own(call)) {
            self.leave_open(&format!("what `{}` does in between", call.function));
        }
        if !state.inputs.volatile.is_empty() {
            self.leave_open("volatile memory");
        }
    }

    /// Notes how a path ended that did not return from both runs: it has a test where the second run
    /// ends in another way than the first. Where the first run does not return, the second is not known.
    pub(crate) fn compare_endings(&mut self, state: &mut State<N>, ending: &Ending) {
        if self.context.config.second_run.is_none() || !state.has_begun(self.roots.len()) {
            return;
        }
        let is_second = state.course.first_run.is_some();
        match ending {
            Ending::Trapped(kind) if !is_second && kind.is_deliberate() => {
                self.leave_open("runs that do not return");
            }
            Ending::Exited | Ending::Endless if !is_second => {
                self.leave_open("runs that do not return");
            }
            Ending::Exited
            | Ending::Endless
            | Ending::Cut(
                Cut::LoopBound(_) | Cut::Recursion(_) | Cut::CallDepth(_) | Cut::PathSteps(_),
            ) if is_second => {
                self.note_difference(state);
                state.claims.keep |= !state.depends.are_some();
            }
            // The second run alone asks for this, so these inputs are left without a comparison.
            Ending::Assumption => self.note_restriction(state),
            _ => {}
        }
    }
}
