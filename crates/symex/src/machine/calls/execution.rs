//! Execution of calls and returns. Defined functions are entered, so exploration is
//! interprocedural. Library functions have models. All other functions return a fresh input.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::{Traps, Undetermined, sort_of, to_bytes, undefined_symbol};
use lydian_inputs::{CellPlan, ExternalCall, ExternalPlan, OutTarget, asked_for, external_result};
use lydian_ir::libc::{Family, model_of};
use lydian_ir::outside::writes_nothing;
use lydian_ir::{
    Body, CType, CTypeId, Callee, ExprId, FuncId, Function, LocalId, Stmt, Storage, TrapKind, Type,
};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::calls::stack::leave_frame;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::inputs::permitted::PermittedWrites;
use crate::machine::inputs::reachable::is_of_system;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::AccessKind;
use crate::machine::memory::{
    AddressTarget, Background, Knowledge, NewObject, ObjectKind, Resolution, flatten_address,
    function_at, mentions_other_than,
};
use crate::machine::program::context::Context;
use crate::machine::program::site::SiteKey;
use crate::machine::setup::{add_input_object, contents_of};
use crate::machine::state::{Frame, Notes, ReturnTo, State};
use crate::machine::step::as_type;

impl<'p, N: Notes> Machine<'p, '_, N> {
    /// Executes a call statement.
    pub(crate) fn call(&mut self, state: &mut State<N>, stmt: &Stmt) -> Result<(), Interrupt> {
        let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = stmt else {
            return Err(Interrupt::unsupported("a call that is none"));
        };
        let mut traps = Traps::none();
        let position = match callee {
            Callee::Direct(func) => func.index(),
            Callee::Indirect(pointer) => {
                let pointer = self.eval(state, *pointer, &mut traps)?;
                self.leave_traps(state, &traps)?;
                traps = Traps::none();
                self.called_function(state, pointer, *ty, arg_types)?
            }
        };
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(state, *arg, &mut traps)?);
        }
        let dst_addr = dst_addr.map(|addr| self.eval(state, addr, &mut traps)).transpose()?;
        self.leave_traps(state, &traps)?;
        // A call uses its arguments: compilers may take them as defined. A string's length is
        // defined.
        for value in values.iter().chain(&dst_addr) {
            if mentions_other_than(&mut self.pool, *value, Undetermined::Length) {
                self.meet_undefined(state, *value);
            }
        }
        let result = match self.context.program.types.get(*ty) {
            CType::Function { result, .. } => *result,
            _ => return Err(Interrupt::unsupported("a call of what is no function")),
        };
        let site = CallSite { args: values, register: *dst, dst: dst_addr, result };
        self.call_function(state, position, &site, arg_types)
    }

    fn call_function(
        &mut self,
        state: &mut State<N>,
        position: usize,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> Result<(), Interrupt> {
        let functions = &self.context.program.functions;
        if position >= functions.len() {
            return Err(self.trapped(state, TrapKind::BadCall));
        }
        let func = FuncId::from_index(position);
        let function = &functions[func];
        if function.body.is_some() {
            return self.call_defined(state, func, site, arg_types);
        }
        if let Some(model) = model_of(&self.context.program.types, &function.name, function.ty) {
            if model.family == Family::Jump {
                return self.jump_function(state, model.function, site);
            }
            return self.call_model(state, model, site, arg_types);
        }
        if function.noreturn {
            return Err(Interrupt::End(Ending::Exited));
        }
        self.call_external(state, func, site, arg_types)
    }

    /// The position of the function that a pointer points to. Splits the path where there are
    /// several.
    fn called_function(
        &mut self,
        state: &mut State<N>,
        pointer: Term,
        ty: CTypeId,
        arg_types: &[CTypeId],
    ) -> Result<usize, Interrupt> {
        let limit = self.context.config.limits.pointer_choices;
        let inputs = &self.context.inputs;
        let knowledge = Knowledge { inputs: Some(inputs), ..state.knowledge() };
        let alternatives = flatten_address(&mut self.pool, pointer, knowledge, limit);
        let Some(alternatives) = alternatives else {
            return Err(Interrupt::unsupported("a call through a pointer to too many functions"));
        };
        let Self { pool, evaluator, .. } = self;
        let chosen = state.log.answer(Question::Callee, || {
            let mut guards = alternatives.iter().map(|(guard, _)| *guard);
            let chosen = guards.position(|guard| evaluator.holds(pool, &state.model, guard));
            chosen.unwrap_or(alternatives.len()) as u64
        });
        let Some((guard, target)) = alternatives.get(chosen as usize).copied() else {
            return Err(Interrupt::unsupported("a call through a pointer of unknown value"));
        };
        if alternatives.len() > 1 {
            let (_, other) = self.split(state, guard);
            if let Some(other) = other {
                self.fork_off(other);
                return Err(Interrupt::Yield);
            }
        }
        let function = match target {
            AddressTarget::Known(address, None) => {
                let of_inputs = self.context.inputs.function_at(address).map(FuncId::index);
                function_at(address).or(of_inputs)
            }
            AddressTarget::Input(address) => {
                let (mut scope, pool) = self.scope(state);
                let found = scope.expand_function(pool, address, ty);
                return Err(
                    found.map_or_else(|stop| self.stopped(state, stop), |()| Interrupt::Yield)
                );
            }
            AddressTarget::Opaque(number) if !self.bounds.is_no_pointer(&mut self.pool, number) => {
                return Err(Interrupt::unsupported("a call through a pointer made from bytes"));
            }
            _ => None,
        };
        let functions = &self.context.program.functions;
        let suits = |position: &usize| {
            let function = functions.get(FuncId::from_index(*position));
            let types = &self.context.program.types;
            function.is_some_and(|function| types.call_suits(function.ty, ty, arg_types))
        };
        function.filter(suits).ok_or_else(|| self.trapped(state, TrapKind::BadCall))
    }

    fn call_defined(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> Result<(), Interrupt> {
        let function = &self.context.program.functions[func];
        let Some(body) = &function.body else {
            return Err(Interrupt::unsupported(&*function.name));
        };
        if site.args.len() < body.params.len() {
            return Err(self.trapped(state, TrapKind::BadCall));
        }
        let memory = match site.dst {
            Some(addr) => Some((addr, self.context.program.types.size(site.result).unwrap_or(0))),
            None => None,
        };
        let return_to = ReturnTo { register: site.register, memory };
        let extra = (&site.args[..], arg_types);
        let variable = self.variable_arguments(state, func, extra, body.params.len())?;
        self.enter(state, func, body, &site.args, return_to)?;
        self.pass_variable(state, variable)
    }

    /// Enters the next precondition or the function under test.
    pub(crate) fn begin_root(&mut self, state: &mut State<N>) -> Result<(), Interrupt> {
        let func = self.next_root(state);
        state.course.root += 1;
        let program = self.context.program;
        let Some(body) = &program.functions[func].body else {
            return Err(Interrupt::unsupported(&*program.functions[func].name));
        };
        let args = self.arguments_of(state);
        if args.len() < body.params.len() {
            return Err(Interrupt::unsupported("a precondition with parameters of its own"));
        }
        let return_to = self.place_of_result(state, func)?;
        self.enter(state, func, body, &args, return_to)?;
        self.open_variable(state, func)
    }

    /// Enters a function.
    pub(crate) fn enter(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        body: &'p Body,
        args: &[Term],
        return_to: ReturnTo,
    ) -> Result<(), Interrupt> {
        self.check_depth(state, func)?;
        let sources = self.struct_arguments(state, body, args)?;
        if let Some(caller) = state.frames.last_mut() {
            Arc::make_mut(caller).advance();
        }
        state.course.activations += 1;
        let frame = Frame::new(func, body, state.course.activations, return_to);
        state.frames.push(Arc::new(frame));
        for ((param, arg), source) in body.params.iter().zip(args).zip(sources) {
            match body.locals[*param].storage {
                Storage::Register(ty) => {
                    let value = as_type(&mut self.pool, ty, *arg);
                    state.frame_mut().registers[param.index()] = Some(value);
                }
                Storage::Memory { size, .. } => {
                    self.enter_local(state, body, *param)?;
                    let Some(object) = state.frame().object(*param) else { continue };
                    match source {
                        Some(source) => {
                            let to = self.resolution_of(object);
                            state.memory.copy(&mut self.pool, &to, &source, size);
                        }
                        None => {
                            let value = to_bytes(&mut self.pool, *arg);
                            let bits = (size * 8) as u32;
                            let value = self.pool.resize_unsigned(value, bits);
                            let to = self.resolution_of(object);
                            state.memory.store(&mut self.pool, &to, size, value);
                        }
                    }
                }
            }
        }
        state.passing.arrival = Some(SiteKey::Entry);
        Ok(())
    }

    /// The sources of structs and unions that are passed by value.
    fn struct_arguments(
        &mut self,
        state: &mut State<N>,
        body: &Body,
        args: &[Term],
    ) -> Result<Vec<Option<Resolution>>, Interrupt> {
        let mut sources = Vec::with_capacity(args.len());
        let mut traps = Traps::none();
        for (param, arg) in body.params.iter().zip(args) {
            let local = &body.locals[*param];
            let by_address = self.context.program.types.scalar(local.ty).is_none();
            let Storage::Memory { size, .. } = local.storage else {
                sources.push(None);
                continue;
            };
            if !by_address || size == 0 {
                sources.push(None);
                continue;
            }
            // Before the first frame there is no point that a split could return to, but arguments
            // of the function under test lie at constant addresses.
            let source = self.resolve(state, *arg)?;
            if !state.frames.is_empty() {
                self.meet_invariants(state, &source)?;
            }
            self.note_access(state, &source, size, AccessKind::Read);
            state.memory.access_traps(&mut self.pool, &source, size, AccessKind::Read, &mut traps);
            sources.push(Some(source));
        }
        self.leave_traps(state, &traps)?;
        Ok(sources)
    }

    pub(crate) fn check_depth(&self, state: &State<N>, func: FuncId) -> Result<(), Interrupt> {
        let limits = &self.context.config.limits;
        let live = state.frames.iter().filter(|frame| frame.func == func).count();
        if live >= limits.recursion as usize {
            return Err(Interrupt::End(Ending::Cut(Cut::Recursion(limits.recursion))));
        }
        if state.frames.len() >= limits.call_depth as usize {
            return Err(Interrupt::End(Ending::Cut(Cut::CallDepth(limits.call_depth))));
        }
        Ok(())
    }

    /// Returns from the innermost activation.
    pub(crate) fn return_from(
        &mut self,
        state: &mut State<N>,
        value: Option<ExprId>,
    ) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let value = value.map(|value| self.eval(state, value, &mut traps)).transpose()?;
        let return_to = state.frame().return_to;
        match (return_to.memory, value) {
            (Some((dst, size)), Some(src)) => self.copy(state, dst, src, size, &mut traps)?,
            _ => self.leave_traps(state, &traps)?,
        }
        let callee = state.frame().func;
        leave_frame(state);
        if state.frames.is_empty() {
            return self.end_root(state, value);
        }
        if let Some(register) = return_to.register {
            let value = match value {
                Some(value) => value,
                None => {
                    let name = &self.context.program.functions[callee].name;
                    let ty = self.register_type(state, register);
                    let sort = sort_of(ty);
                    undefined_symbol(&mut self.pool, Undetermined::Unwritten, name, sort)
                }
            };
            self.set_register(state, register, value);
        }
        Ok(())
    }

    /// Handles the return of a precondition or of the function under test.
    fn end_root(&mut self, state: &mut State<N>, value: Option<Term>) -> Result<(), Interrupt> {
        if let Some(check) = &mut state.course.check {
            check.value = value;
            return Err(Interrupt::End(Ending::Returned));
        }
        if state.course.root >= self.roots.len() {
            state.course.result = value;
            return Err(Interrupt::End(Ending::Returned));
        }
        let Some(value) = value else {
            return Err(Interrupt::unsupported("a precondition's value"));
        };
        let value = to_bytes(&mut self.pool, value);
        let holds = self.pool.is_nonzero(value);
        if !state.add_fact(&mut self.pool, holds) {
            return Err(Interrupt::Infeasible);
        }
        state.pending = !self.evaluator.holds(&self.pool, &state.model, holds);
        self.begin_root(state)
    }

    pub(crate) fn register_type(&self, state: &State<N>, register: LocalId) -> Type {
        match self.body(state).locals[register].storage {
            Storage::Register(ty) => ty,
            Storage::Memory { .. } => Type::Ptr,
        }
    }

    /// Sets a register of the innermost activation.
    pub(crate) fn set_register(&mut self, state: &mut State<N>, register: LocalId, value: Term) {
        let ty = self.register_type(state, register);
        let value = as_type(&mut self.pool, ty, value);
        state.frame_mut().registers[register.index()] = Some(value);
    }

    /// The resolution of the address of an object's first byte.
    pub(crate) fn resolution_of(&self, object: crate::machine::memory::ObjectId) -> Resolution {
        let candidate = crate::machine::memory::Candidate {
            guard: self.pool.tt(),
            object,
            offset: crate::machine::memory::Offset::Known(0),
        };
        Resolution { candidates: vec![candidate], null: self.pool.ff(), wild: self.pool.ff() }
    }

    /// Calls an undefined function: its result is a fresh input, and so is everything that it
    /// writes.
    fn call_external(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> Result<(), Interrupt> {
        if let Some(dst) = site.dst {
            // The address is decided before anything is made.
            let size = self.context.program.types.size(site.result).unwrap_or(0);
            let mut traps = Traps::none();
            self.resolve_for_write(state, dst, size, &mut traps)?;
            self.leave_traps(state, &traps)?;
        }
        if !self.context.spec.lazy {
            self.assume_writes(func);
        }
        let permitted = PermittedWrites::by_contract(&self.context, func);
        let writable = self.writable(state, func, site, &permitted);
        let overwritten = self.overwrite(state, func, site, arg_types, &permitted);
        let mut plan = self.fresh_result(state, func, site, &writable.targets)?;
        self.write_planned(state, &writable, &plan);
        plan.writes.splice(0..0, overwritten);
        if let Some(dst) = site.dst {
            self.store_cells(state, dst, plan.size, &plan.cells)?;
        }
        if let Some(register) = site.register
            && let [cell] = &plan.cells[..]
        {
            self.set_register(state, register, cell.value);
        }
        Arc::make_mut(&mut state.inputs.externals).push(Arc::new(plan));
        self.record_call(state, func, &site.args);
        state.frame_mut().advance();
        Ok(())
    }

    /// Notes the assumption that an undefined function writes only to memory that its arguments
    /// point to. Nothing is assumed where there is nothing to be written.
    fn assume_writes(&mut self, func: FuncId) {
        let program = self.context.program;
        let Function { name, ty, .. } = &program.functions[func];
        let takes_pointers = match program.types.get(*ty) {
            CType::Function { params, variadic, .. } => {
                *variadic || params.iter().any(|ty| program.types.pointee(*ty).is_some())
            }
            _ => true,
        };
        let may_write =
            takes_pointers || self.context.has_variables || !self.plan.objects.is_empty();
        // Each function of the C library may set the error number.
        let is_confined =
            is_of_system(&program.functions[func]) && self.context.error_number.is_none();
        if may_write && !writes_nothing(name) && !is_confined {
            let sentence =
                format!("{name} writes nothing but variables that its arguments point to");
            let kind = AssumptionKind::ExternalWrites;
            self.bounds.assume(Assumption::new(kind, name, sentence));
        }
    }

    /// The symbolic result of the next call of an undefined function, and its writes.
    fn fresh_result(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        site: &CallSite,
        targets: &[OutTarget],
    ) -> Result<ExternalPlan, Interrupt> {
        let Context { program, spec, .. } = &self.context;
        let Function { name, ty, .. } = &program.functions[func];
        let nth = state.calls_of(name);
        let known: Vec<_> = site.args.iter().map(|arg| self.pool.as_u64(*arg)).collect();
        let bytes = asked_for(&program.types, *ty, &known);
        let call =
            ExternalCall { function: func, nth, targets, bytes, cursor: state.inputs.cursor };
        let plan = external_result(&mut self.pool, program, call, spec, &self.context);
        let plan = plan.map_err(|error| Interrupt::unsupported(error.to_string()))?;
        self.take_inputs(state, &plan)?;
        Ok(plan)
    }

    /// Adds new inputs to a path: their objects and constraints.
    pub(crate) fn take_inputs(
        &mut self,
        state: &mut State<N>,
        plan: &ExternalPlan,
    ) -> Result<(), Interrupt> {
        state.inputs.cursor = plan.cursor;
        for object in &plan.objects {
            let made = add_input_object(&mut self.pool, &mut state.memory, object);
            made.ok_or_else(|| Interrupt::unsupported("more memory for inputs"))?;
        }
        self.assume(state, &plan.constraints)?;
        let all = &mut self.plan.assumptions;
        let unknown = plan.assumptions.iter().filter(|sentence| !all.contains(sentence)).cloned();
        let unknown: Vec<String> = unknown.collect();
        all.extend(unknown);
        self.add_on_path(&plan.bounds);
        self.bounds.add_raw_pointers(&plan.raw_pointers);
        Ok(())
    }

    /// Adds constraints on new inputs. The state becomes pending where its model does not meet
    /// them.
    pub(crate) fn assume(
        &mut self,
        state: &mut State<N>,
        constraints: &[Term],
    ) -> Result<(), Interrupt> {
        for constraint in constraints {
            state.pending |= !self.evaluator.holds(&self.pool, &state.model, *constraint);
            if !state.add_fact(&mut self.pool, *constraint) {
                return Err(Interrupt::Infeasible);
            }
        }
        Ok(())
    }

    /// Writes zero bytes to an address, and cells over them.
    pub(crate) fn store_cells(
        &mut self,
        state: &mut State<N>,
        dst: Term,
        size: u64,
        cells: &[CellPlan],
    ) -> Result<(), Interrupt> {
        let contents = contents_of(&mut self.pool, Background::Zero, cells);
        let new = NewObject {
            size,
            alignment: 1,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: "result".into(),
            contents,
        };
        let Some(object) = state.memory.allocate(new) else {
            return Err(Interrupt::unsupported("more memory"));
        };
        let base = state.memory.object(object).base;
        let src = self.pool.bv(64, base);
        let copied = self.copy(state, dst, src, size, &mut Traps::none());
        state.memory.release(object);
        copied
    }
}
