//! Several calls of the function under test in one run.
//!
//! A static variable of a function has its first value at the first call, and what earlier calls left in it
//! at the others. So a path that ends with other values of the function's own static variables than its
//! call began with goes on with a further call, which has arguments of its own. Where each path ends with
//! values that some call began with, all values were followed that the function's own code can give them,
//! and what is left is infeasible for every sequence of calls: a call from values that were followed
//! already does nothing new, since its arguments have any values again. Variables that others may write to
//! between two calls have what the earlier call left there: where it looked at one, that is an assumption of
//! what is left, and so it is where a static variable has a pointer to what others may write to.
//!
//! The static variables of functions that it calls have what the text says that they can have
//! ([`crate::machine::static_values`]): anybody may have called those before. Where paths began with each of these
//! values, whatever the function's own variables had then, nothing is assumed of them.
//!
//! Values are compared as terms, and those that are known numbers by what they are. No run has more calls
//! than [`Limits::calls`](crate::Limits::calls) says; where one would need more, that is an assumption of
//! what is left.

use std::collections::BTreeSet;
use std::sync::Arc;

use lydian_base::EntityId;
use lydian_inputs::{FurtherCall, Reach, further_call};
use lydian_ir::{CType, FuncId, GlobalId, Program};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::Term;
use rustc_hash::FxHashSet;

use crate::config::{Config, Mode};
use crate::machine::Machine;
use crate::machine::context::{Context, TouchedSymbols};
use crate::machine::memory::{Contents, Memory, Region};
use crate::machine::state::{Notes, State};
use crate::machine::static_values::Uses;
use crate::machine::step::Interrupt;
use lydian_inputs::globals::can_be_input;
use lydian_inputs::{Bound, has_pointers};

/// Bytes of static variables whose values are compared.
const MOST_BYTES: u64 = 256;

/// So many combinations of values of other functions' variables are followed.
const MOST_COMBINATIONS: usize = 16;

/// A static variable whose values are followed from call to call.
#[derive(Debug)]
struct Variable {
    address: u64,
    size: u64,
    name: String,
    /// Whether it has a pointer, or may have one.
    has_pointer: bool,
}

/// The static variables of the function under test, and of functions that it calls, where runs of
/// several calls are followed.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    own: Vec<Variable>,
    /// Those of other functions.
    of_others: Vec<Variable>,
    /// Variables that the function gets at and that others may write to between two calls, each with what
    /// it has when the first call begins, from there on.
    shared: Vec<(Variable, Option<Contents>)>,
    /// All combinations of values that those of other functions can have, as bytes one after the other; none where
    /// there are no such variables.
    combinations: Vec<Vec<u8>>,
    /// Values with which calls began that are numbers: the function's own, and the others'.
    begun: FxHashSet<[Vec<u8>; 2]>,
    /// Whether there are values with which a call was not followed, or that are no numbers.
    omissions: bool,
}

impl Statics {
    /// What they have, the function's own first.
    pub(crate) fn contents(&self, memory: &Memory) -> Arc<[Contents]> {
        let variables = self.own.iter().chain(&self.of_others);
        let objects = variables.filter_map(|variable| memory.object_at(variable.address));
        objects.map(|object| memory.object(object).contents.clone()).collect()
    }

    fn are_none(&self) -> bool {
        self.own.is_empty() && self.of_others.is_empty()
    }

    /// Adds one of another function that can have these values, if there are few enough of all.
    fn add_of_other(&mut self, variable: Variable, values: &BTreeSet<Vec<u8>>) {
        if self.of_others.is_empty() {
            self.combinations = vec![Vec::new()];
        }
        let each = |value: &Vec<u8>| {
            self.combinations.iter().map(|first| [&first[..], value].concat()).collect::<Vec<_>>()
        };
        let combinations: Vec<Vec<u8>> = values.iter().flat_map(each).collect();
        if combinations.len() <= MOST_COMBINATIONS {
            self.combinations = combinations;
            self.of_others.push(variable);
        }
    }

    /// Whether calls began with all that the variables of others can have, for each that those of the
    /// function's own had.
    fn were_all_followed(&self) -> bool {
        let all_began = |[own, _]: &[Vec<u8>; 2]| {
            let began = |others: &Vec<u8>| self.begun.contains(&[own.clone(), others.clone()]);
            self.combinations.iter().all(began)
        };
        !self.omissions && self.begun.iter().all(all_began)
    }
}

/// Whether a run begins with a function: `main`, where the program does not use it itself.
fn is_begin_of_program(program: &Program, function: FuncId) -> bool {
    program.functions[function].name == "main" && !program.is_used(function)
}

/// Whether an exploration may follow several calls: it looks for labels, and ends when none is left.
fn follows_calls(config: &Config) -> bool {
    config.mode == Mode::Tight
        && config.label_deletion.deletes()
        && !config.every_path
        && config.limits.calls > 1
}

impl<N: Notes> Machine<'_, '_, N> {
    /// A static local has its first value where the first call begins, and any that earlier calls gave it
    /// elsewhere. So has a static of another file, which only others can give another.
    pub(crate) fn note_static_locals(&mut self, touched: &TouchedSymbols) {
        let program = self.context.program;
        let function = &program.functions[self.plan.function];
        let own = self.context.spec.settings.function.get(&function.name);
        let own = own.and_then(|own| own.globals.as_ref());
        if own.is_some_and(Vec::is_empty) || is_begin_of_program(program, self.plan.function) {
            return; // the run begins with the program, or so it is stated
        }
        let has_calls = self.has_further_calls();
        for id in &touched.globals {
            let global = &program.globals[*id];
            let is_static_local = global.name.contains('.') && !global.read_only;
            if !is_static_local {
                if has_calls && can_be_input(program, *id) && !global.read_only {
                    self.statics.shared.push((self.variable(*id, &global.name), None));
                }
                continue;
            }
            let uses = Uses::of(program, &touched.functions, *id);
            if !uses.may_change() {
                continue;
            }
            let name = match global.name.split_once('@') {
                Some((name, file)) => format!("{name} of {file}"),
                None => global.name.rsplit('.').next().unwrap_or_default().to_owned(),
            };
            let object = self.context.globals[id.index()];
            let variable = self.variable(*id, &name);
            let of_function = global.name.strip_prefix(&*function.name);
            let is_own = of_function.is_some_and(|rest| rest.starts_with('.'));
            let mut sentence = format!("the static variable {name} has its first value");
            if is_own && has_calls && global.size <= MOST_BYTES {
                self.statics.own.push(variable);
                if !uses.escapes {
                    continue;
                }
                sentence = format!("only {} writes to its static variable {name}", function.name);
            } else if has_calls && let Some(values) = uses.values {
                self.statics.add_of_other(variable, &values);
            }
            let assumption = Assumption::new(AssumptionKind::Other, &*name, sentence);
            let reach = Reach::Within { object, from: 0, to: global.size };
            self.bounds.add(&[Bound { assumption, reach, shown: false }]);
        }
    }

    /// A variable, by this name.
    fn variable(&self, id: GlobalId, name: &str) -> Variable {
        let Context { program, globals, .. } = &self.context;
        let global = &program.globals[id];
        Variable {
            address: globals[id.index()],
            size: global.size,
            name: name.to_owned(),
            has_pointer: has_pointers(&program.types, global.ty),
        }
    }

    /// What others may write to between two calls stays as it is: that is an assumption of what is left,
    /// where the path hangs on it.
    fn assume_unchanged_between_calls(&mut self, state: &State<N>) {
        let mut asked = FxHashSet::default();
        for fact in state.path.facts.iter() {
            asked.extend(self.pool.vars_of(*fact).iter().copied());
        }
        let Statics { own, shared, .. } = &self.statics;
        let memory = &state.memory;
        let is_written = |variable: &Variable, first: &Contents| {
            let object = memory.object_at(variable.address).map(|id| memory.object(id));
            object.is_some_and(|object| object.contents != *first)
        };
        let pointers = own.iter().filter(|variable| variable.has_pointer);
        let mut names: Vec<String> =
            pointers.map(|variable| format!("what {} points to", variable.name)).collect();
        for (variable, first) in shared {
            let Some(first) = first else { continue }; // the path does not have it
            let is_asked = variable.size > MOST_BYTES
                || (0..variable.size).any(|at| {
                    let byte = first.read_bits(&mut self.pool, at, 1);
                    self.pool.vars_of(byte).iter().any(|var| asked.contains(var))
                });
            if is_asked || is_written(variable, first) {
                names.push(variable.name.clone());
            }
        }
        for name in names {
            let sentence = format!("between calls nobody else writes to {name}");
            self.bounds.assume(Assumption::new(AssumptionKind::Other, &*name, sentence));
        }
    }

    /// Whether further calls of the function under test can be made: with scalars alone.
    fn has_further_calls(&self) -> bool {
        let program = self.context.program;
        let types = &program.types;
        let is_variadic = !matches!(
            types.get(program.functions[self.plan.function].ty),
            CType::Function { variadic: false, .. }
        );
        let is_scalar = |ty| types.scalar(ty).is_some();
        let scalars = self.plan.args.iter().all(|arg| is_scalar(arg.ty) && arg.cells.len() == 1);
        follows_calls(&self.context.config) && self.context.spec.lazy && !is_variadic && scalars
    }

    /// What the static variables have when the first call begins.
    pub(crate) fn begin_statics(&mut self, memory: &Memory) -> Arc<[Contents]> {
        for (variable, first) in &mut self.statics.shared {
            let object = memory.object_at(variable.address);
            *first = object.map(|object| memory.object(object).contents.clone());
        }
        let contents = self.statics.contents(memory);
        match self.numbers_of(&contents) {
            Some(numbers) => _ = self.statics.begun.insert(numbers),
            None => self.statics.omissions = true,
        }
        contents
    }

    /// Takes back what is assumed of variables all of whose values were followed.
    pub(crate) fn settle_statics(&mut self) {
        if self.statics.were_all_followed() {
            for variable in &self.statics.of_others {
                self.bounds.release(variable.address);
            }
        }
    }

    /// Whether a path may go on with a further call, so that nothing is out of its reach.
    pub(crate) fn may_call_again(&self, state: &State<N>) -> bool {
        !self.statics.are_none()
            && !state.course.replay
            && state.further_calls() + 1 < self.context.config.limits.calls
    }

    /// Whether a path goes on with a further call: where the static variables have values with which no
    /// call began, as far as that is seen.
    pub(crate) fn calls_again(&mut self, state: &State<N>, is_done: bool) -> bool {
        if self.statics.are_none() || state.course.replay {
            return false;
        }
        let contents = self.statics.contents(&state.memory);
        if contents == state.inputs.began_with || is_done {
            return false;
        }
        if state.depends.are_some() {
            self.leave_to_dependences(state);
            return false;
        }
        let own = self.statics.own.len();
        let is_new = match self.numbers_of(&contents) {
            Some(numbers) => self.statics.begun.insert(numbers),
            // What others have that is no number is followed no further.
            None => {
                self.statics.omissions = true;
                contents[..own] != state.inputs.began_with[..own]
            }
        };
        if !is_new {
            return false;
        }
        let may = self.may_call_again(state);
        if !may {
            self.statics.omissions = true;
            let calls = self.context.config.limits.calls;
            for Variable { name, .. } in &self.statics.own {
                let sentence = format!(
                    "the static variable {name} has a value that {calls} calls can give it"
                );
                self.bounds.assume(Assumption::new(AssumptionKind::Other, &**name, sentence));
            }
        }
        may
    }

    /// What the static variables have as bytes; none where they do not have numbers, or addresses.
    fn numbers_of(&mut self, contents: &[Contents]) -> Option<[Vec<u8>; 2]> {
        let Statics { own, of_others, .. } = &self.statics;
        let mut numbers = Vec::new();
        for (contents, Variable { size, .. }) in contents.iter().zip(own.iter().chain(of_others)) {
            let first = numbers.len();
            for at in 0..*size {
                let byte = contents.read_bits(&mut self.pool, at, 1);
                numbers.push(self.pool.as_u64(byte)? as u8);
            }
            for word in numbers[first..].chunks_exact(8) {
                let word = u64::from_le_bytes(word.try_into().ok()?);
                if Region::of(word).is_some() {
                    return None;
                }
            }
        }
        let bytes_of_own: u64 = own.iter().map(|variable| variable.size).sum();
        let others = numbers.split_off(bytes_of_own as usize);
        Some([numbers, others])
    }

    /// Begins a further call with fresh arguments.
    pub(crate) fn begin_further_call(&mut self, state: &mut State<N>) -> Result<(), Interrupt> {
        self.assume_unchanged_between_calls(state);
        let Context { program, spec, .. } = &self.context;
        let call = FurtherCall {
            function: self.plan.function,
            nth: state.further_calls(),
            cursor: state.inputs.cursor,
        };
        let plan = further_call(&mut self.pool, program, call, spec, &self.context);
        let plan = plan.map_err(|error| Interrupt::unsupported(error.to_string()))?;
        self.take_inputs(state, &plan)?;
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        state.inputs.began_with = self.statics.contents(&state.memory);
        state.course.root = 0;
        self.begin_root(state)
    }

    /// The arguments of the call that a path is in.
    pub(crate) fn arguments_of(&self, state: &State<N>) -> Vec<Term> {
        let further = state.inputs.externals.iter().rfind(|call| call.is_further_call());
        match further {
            Some(call) => call.cells.iter().map(|cell| cell.value).collect(),
            None => self.arguments.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_was_followed_where_calls_began_with_each_value_of_others_for_each_of_its_own() {
        let variable =
            |name: &str| Variable { address: 0, size: 1, name: name.into(), has_pointer: false };
        let mut statics = Statics::default();
        statics.own.push(variable("own"));
        statics.add_of_other(variable("a"), &BTreeSet::from([vec![0], vec![1]]));
        statics.add_of_other(variable("b"), &BTreeSet::from([vec![5], vec![6]]));
        assert_eq!(statics.combinations.len(), 4);
        let all = statics.combinations.clone();
        for own in [0, 9] {
            for (count, others) in all.iter().enumerate() {
                assert!(!statics.were_all_followed() || count == 0, "{own} {count}");
                statics.begun.insert([vec![own], others.clone()]);
            }
            assert!(statics.were_all_followed());
        }
        statics.omissions = true;
        assert!(!statics.were_all_followed(), "what else its own was, was not begun with all");
    }
}
