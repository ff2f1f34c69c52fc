//! Runs of several calls of the function under test.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_inputs::globals::can_be_input;
use lydian_inputs::{Bound, has_pointers};
use lydian_inputs::{FurtherCall, Reach, further_call};
use lydian_ir::{CType, GlobalId};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashSet;

use crate::machine::Machine;
use crate::machine::calls::statics::{
    CallStart, MOST_BYTES, Novelty, OngoingSequences, SharedValue, Statics, Variable,
    follows_calls, is_begin_of_program,
};
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{Contents, Memory, Region};
use crate::machine::program::context::{Context, TouchedSymbols};
use crate::machine::program::static_values::VariableUses;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Notes the assumptions about static locals: their values where the function under test is
    /// first called are the initial ones, unless earlier calls changed them elsewhere. The same is
    /// true of a static of another file, which only other code can change.
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
            let uses = VariableUses::of(program, &touched.functions, *id);
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

    /// A variable of this name.
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

    /// Assumes that variables which other code may change between two calls stay as they are, where
    /// the path depends on them.
    fn assume_unchanged_between_calls(&mut self, state: &State<N>) {
        let asked = self.asked_symbols(state);
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
            if is_asked(&mut self.pool, variable, first, &asked) || is_written(variable, first) {
                names.push(variable.name.clone());
            }
        }
        for name in names {
            let sentence = format!("between calls nobody else writes to {name}");
            self.bounds.assume(Assumption::new(AssumptionKind::Other, &*name, sentence));
        }
    }

    /// Whether further calls of the function under test can be made, which need arguments that are
    /// scalars.
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

    /// The contents of the static variables at the beginning of the first call.
    pub(crate) fn begin_statics(&mut self, memory: &Memory) -> CallStart {
        for (variable, first) in &mut self.statics.shared {
            let object = memory.object_at(variable.address);
            *first = object.map(|object| memory.object(object).contents.clone());
        }
        let contents = self.statics.contents(memory);
        match self.numbers_of(&contents) {
            Some(numbers) => self.statics.begin_first(numbers),
            None => self.statics.omissions = true,
        }
        let shared = self.statics.shared_contents(memory);
        CallStart { statics: contents, shared, ongoing: Arc::default() }
    }

    /// The values that variables which other code may write to have at the end of a call.
    fn shared_values(&mut self, state: &State<N>) -> Vec<SharedValue> {
        let asked = self.asked_symbols(state);
        let Self { statics, pool, .. } = self;
        let values = statics.shared.iter().map(|(variable, first)| {
            let object = state.memory.object_at(variable.address);
            let now = object.map(|object| &state.memory.object(object).contents);
            match (first, now) {
                (None, _) | (_, None) => SharedValue::Any, // the path does not have it
                (Some(first), Some(now)) if first == now => {
                    match is_asked(pool, variable, first, &asked) {
                        true => SharedValue::Other,
                        false => SharedValue::Any,
                    }
                }
                (_, Some(_)) if variable.size > MOST_BYTES => SharedValue::Other,
                (_, Some(now)) => {
                    let bytes = (0..variable.size).map(|at| {
                        let byte = now.read_bits(pool, at, 1);
                        Some(pool.as_u64(byte)? as u8)
                    });
                    bytes.collect::<Option<_>>().map_or(SharedValue::Other, SharedValue::Bytes)
                }
            }
        });
        values.collect()
    }

    /// The symbols that the facts of a path are about.
    fn asked_symbols(&mut self, state: &State<N>) -> FxHashSet<Term> {
        let mut asked = FxHashSet::default();
        for fact in state.path.facts.iter() {
            asked.extend(self.pool.vars_of(*fact).iter().copied());
        }
        asked
    }

    /// Withdraws the assumptions about variables for which all values were followed.
    pub(crate) fn settle_statics(&mut self) {
        if self.statics.were_all_followed() {
            for variable in &self.statics.of_others {
                self.bounds.release(variable.address);
            }
        }
    }

    /// Whether a path may go on with a further call, so that every place is still ahead of it.
    pub(crate) fn may_call_again(&self, state: &State<N>) -> bool {
        !self.statics.are_none()
            && !state.course.replay
            && state.further_calls() + 1 < self.context.config.limits.calls
    }

    /// Whether a path goes on with a further call: the static variables have values with which no
    /// call began, or other things differ that a call begins with, as far as that can be seen.
    pub(crate) fn calls_again(&mut self, state: &State<N>, ongoing: &OngoingSequences) -> bool {
        if self.statics.are_none() || state.course.replay {
            return false;
        }
        let contents = self.statics.contents(&state.memory);
        if contents == state.inputs.began_with.statics && self.begins_like_last(state, ongoing) {
            return false;
        }
        if state.depends.are_some() {
            self.leave_to_dependences(state);
            return false;
        }
        match self.novelty(state, &contents, ongoing) {
            Novelty::New => self.has_room_for_call(state),
            Novelty::Known => false,
            Novelty::LeftOut => {
                self.assume_no_other_beginnings();
                false
            }
        }
    }

    /// Whether a further call, which has the same static variables as the last one, would do nothing that
    /// the last one does not do on some inputs. A run's first call has any values of other variables.
    fn begins_like_last(&self, state: &State<N>, ongoing: &OngoingSequences) -> bool {
        let began = &state.inputs.began_with;
        match state.further_calls() {
            0 => ongoing.since_start,
            _ => {
                ongoing.keys.iter().all(|key| began.ongoing.contains(key))
                    && self.statics.shared_contents(&state.memory) == began.shared
            }
        }
    }

    /// Whether a further call may do anything new.
    fn novelty(
        &mut self,
        state: &State<N>,
        contents: &[Contents],
        ongoing: &OngoingSequences,
    ) -> Novelty {
        let shared = self.shared_values(state);
        if let Some(numbers) = self.numbers_of(contents) {
            return self.statics.begin_again(numbers, ongoing, shared);
        }
        // Contents of other functions' variables that are no numbers are not followed.
        self.statics.omissions = true;
        let own = self.statics.own.len();
        let is_all_open = shared.iter().all(|value| *value == SharedValue::Any);
        match contents[..own] != state.inputs.began_with.statics[..own] {
            true => Novelty::New,
            false if is_all_open && ongoing.since_start => Novelty::Known,
            false => Novelty::LeftOut,
        }
    }

    /// Assumes that further calls which were left out do nothing new.
    fn assume_no_other_beginnings(&mut self) {
        self.statics.omissions = true;
        let name = &self.context.program.functions[self.plan.function].name;
        let sentence = format!(
            "further calls of {name} do nothing new with other values of variables than were followed"
        );
        self.bounds.assume(Assumption::new(AssumptionKind::Other, &**name, sentence));
    }

    /// Whether a run may have a further call, which is an assumption where it may not.
    fn has_room_for_call(&mut self, state: &State<N>) -> bool {
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

    /// The contents of the static variables as bytes; `None` where some are neither numbers nor
    /// addresses.
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
    pub(crate) fn begin_further_call(
        &mut self,
        state: &mut State<N>,
        ongoing: &OngoingSequences,
    ) -> Result<(), Interrupt> {
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
        state.inputs.began_with = CallStart {
            statics: self.statics.contents(&state.memory),
            shared: self.statics.shared_contents(&state.memory),
            ongoing: ongoing.keys.as_slice().into(),
        };
        state.course.root = 0;
        self.begin_root(state)
    }

    /// The arguments of the current call.
    pub(crate) fn arguments_of(&self, state: &State<N>) -> Vec<Term> {
        let further = state.inputs.externals.iter().rfind(|call| call.is_further_call());
        match further {
            Some(call) => call.cells.iter().map(|cell| cell.value).collect(),
            None => self.arguments.clone(),
        }
    }
}

/// Whether the first value of a variable depends on some symbols.
fn is_asked(
    pool: &mut TermPool,
    variable: &Variable,
    first: &Contents,
    asked: &FxHashSet<Term>,
) -> bool {
    variable.size > MOST_BYTES
        || (0..variable.size).any(|at| {
            let byte = first.read_bits(pool, at, 1);
            pool.vars_of(byte).iter().any(|var| asked.contains(var))
        })
}
