//! The effect of calls that are not inlined.

use std::collections::BTreeSet;

use lydian_eval::sort_of;
use lydian_ir::ctype::IntKind;
use lydian_ir::libc::Effects;
use lydian_ir::{CType, CTypeId, Callee, ExprId, FuncId, Function, LocalId, Stmt, StmtId, Type};
use lydian_smt::{Term, TermPool};

use crate::encode::encoded::{CallWrites, GoalMeaning, InputRead};
use crate::encode::ids::InstanceId;
use crate::encode::inlined::calls::{
    CallEffect, effect_of, is_assertion, is_error, is_final, is_input, is_left_out, named_functions,
};
use crate::encode::machine::Machine;
use crate::encode::pointers::flows::has_function;
use crate::encode::pointers::{Place, Targets};
use crate::encode::provenance::place;
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;

/// A call that is not inlined.
pub(crate) struct Call<'c> {
    pub(crate) instance: InstanceId,
    pub(crate) stmt: StmtId,
    pub(crate) args: &'c [ExprId],
    pub(crate) types: &'c [CTypeId],
    pub(crate) values: Vec<Term>,
}

impl Machine<'_, '_> {
    /// Executes a call that is not inlined.
    pub(crate) fn call(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, stmt): (InstanceId, StmtId),
    ) {
        let body = self.analysed.inlined.instances[instance].body;
        let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = &body.stmts[stmt] else {
            return;
        };
        let values = args.iter().map(|arg| self.eval(pool, state, (instance, *arg))).collect();
        let call = Call { instance, stmt, args, types: arg_types, values };
        match callee {
            Callee::Direct(callee) => {
                self.hit_error(pool, state, &call, *callee);
                self.call_named(pool, state, &call, (*callee, *dst));
            }
            Callee::Indirect(pointer) => {
                let functions = self.functions_in(&self.targets((instance, *pointer)));
                functions.iter().for_each(|callee| self.hit_error(pool, state, &call, *callee));
                self.call_unknown(pool, state, &call, functions);
                self.set_any_result(pool, state, (instance, *dst), result_of(self, *ty));
            }
        }
        if let Some(addr) = dst_addr {
            self.havoc_targets(state, &self.targets((instance, *addr)));
        }
    }

    /// Notes that a call of an error function is reached.
    pub(crate) fn hit_error(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        callee: FuncId,
    ) {
        let inlined = self.analysed.inlined;
        let functions = &inlined.program.functions;
        let caller = inlined.instances[call.instance].function;
        let meaning = GoalMeaning::Error { function: caller, call: call.stmt };
        if is_error(&functions[callee]) && !is_error(&functions[caller]) {
            let condition = state.guard(pool);
            self.goals.hit(pool, meaning, condition, self.reads.len());
        }
        if is_assertion(&functions[callee])
            && let Some(value) = call.values.first()
        {
            let bits = lydian_eval::to_bytes(pool, *value);
            let holds = pool.is_nonzero(bits);
            let fails = pool.not(holds);
            let mut there = state.clone();
            there.assume(pool, fails);
            let condition = there.guard(pool);
            self.goals.hit(pool, meaning, condition, self.reads.len());
            state.assume(pool, holds);
        }
    }

    fn call_named(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        (callee, dst): (FuncId, Option<LocalId>),
    ) {
        let program = self.analysed.inlined.program;
        let function = &program.functions[callee];
        let given: Vec<Targets> =
            call.args.iter().map(|arg| self.targets((call.instance, *arg))).collect();
        match effect_of(program, callee) {
            CallEffect::Model(model) => {
                if is_final(model) {
                    state.ended = true;
                    return;
                }
                let result = self.model(pool, state, call, model);
                if let Some(dst) = dst {
                    let slot = self.slot(SlotKind::Register(call.instance, dst));
                    self.set_coerced(pool, state, slot, result);
                }
                return;
            }
            CallEffect::Value => {}
            CallEffect::Known(effects) => {
                if given.iter().any(|given| has_function(self.analysed.inlined, given)) {
                    let functions = given.iter().flat_map(|given| self.functions_in(given));
                    let functions = functions.collect();
                    self.call_unknown(pool, state, call, functions);
                } else {
                    self.more(format!("the effects of {}", function.name));
                    self.apply(state, &given, effects);
                }
            }
            CallEffect::Unknown => {
                self.more(format!("the effects of {}", function.name));
                self.call_unknown(pool, state, call, BTreeSet::from([callee]));
            }
        }
        if function.noreturn || is_error(function) {
            state.ended = true;
        }
        let result = result_of(self, function.ty);
        if self.is_whole && is_input(function) {
            self.set_input(pool, state, (call.instance, dst), (&function.name, result));
        } else {
            let value = self.set_any_result(pool, state, (call.instance, dst), result);
            if !self.is_whole {
                self.note_call(pool, state, call, (callee, value));
            }
        }
    }

    /// The effects of a library function on memory.
    pub(crate) fn apply(&self, state: &mut State, given: &[Targets], effects: Effects) {
        for (at, given) in given.iter().enumerate() {
            if effects.writes.contains(at) {
                self.havoc_targets(state, given);
            }
        }
        if effects.errno {
            self.havoc_error_number(state);
        }
    }

    /// The functions among some targets, and those that code which is not known may call if it is among
    /// them.
    fn functions_in(&self, targets: &Targets) -> BTreeSet<FuncId> {
        let mut found = BTreeSet::new();
        for place in targets.keys() {
            match place {
                Place::Function(function) => _ = found.insert(*function),
                Place::Unknown => {
                    found.extend(self.analysed.pointers.escaped_functions());
                    if !self.is_whole {
                        found.extend(named_functions(self.analysed.inlined.program));
                    }
                }
                Place::Object(_) => {}
            }
        }
        found
    }

    /// Runs code that is not followed: some functions, and all that they may call.
    pub(crate) fn call_unknown(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        mut functions: BTreeSet<FuncId>,
    ) {
        functions.extend(self.analysed.pointers.escaped_functions());
        let program = &self.analysed.inlined.program.functions;
        let condition = state.guard(pool);
        if functions.iter().any(|function| may_fail_unseen(&program[*function])) {
            let function = self.analysed.inlined.instances[call.instance].function;
            let meaning = GoalMeaning::Error { function, call: call.stmt };
            self.goals.hit(pool, meaning, condition, self.reads.len());
        }
        let run = self.analysed.code.may_run(functions);
        self.goals.hit_inside(pool, &run, condition, self.reads.len());
        self.begin_anything(pool, state);
        self.havoc_outside(state);
        self.havoc_escaped(state);
    }

    /// A call of none of the functions that are inlined at a call through a pointer.
    pub(crate) fn call_other(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, stmt): (InstanceId, StmtId),
    ) {
        self.more("a call through a pointer that may lead anywhere");
        self.call(pool, state, (instance, stmt));
    }

    /// Notes a call of an undefined function, its result, and what it may have written.
    fn note_call(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        (callee, value): (FuncId, Option<Term>),
    ) {
        let analysed = self.analysed;
        let function = &analysed.inlined.program.functions[callee];
        let Some(ty) = result_of(self, function.ty) else { return };
        let mut leads_outside = false;
        let mut parts = Vec::new();
        let types = &analysed.inlined.program.types;
        for (arg, ty) in call.args.iter().zip(call.types) {
            if !matches!(types.get(*ty), CType::Pointer { to_const: false, .. }) {
                continue;
            }
            for target in self.targets((call.instance, *arg)).keys() {
                leads_outside |= *target == Place::Unknown;
                let Place::Object(object) = target else { continue };
                for slot in analysed.slots.of_object(analysed.layouts, *object) {
                    let Some(place) = place(analysed, slot) else { continue };
                    parts.push((place, self.value(pool, state, slot)));
                }
            }
        }
        let outside = analysed.slots.of(SlotKind::Outside).filter(|_| leads_outside);
        let memory = outside.map(|slot| self.value(pool, state, slot));
        let args = call.values.iter().copied().zip(call.types.iter().copied()).collect();
        self.reads.push(InputRead {
            symbol: value.unwrap_or_else(|| pool.bv(8, 0)),
            condition: state.guard(pool),
            function: function.name.clone(),
            ty,
            part: None,
            writes: Some(CallWrites { args, memory, parts }),
        });
    }

    /// Sets the register of a result to any value, and returns it.
    fn set_any_result(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, dst): (InstanceId, Option<LocalId>),
        ty: Option<CTypeId>,
    ) -> Option<Term> {
        let dst = dst?;
        let slot = self.slot(SlotKind::Register(instance, dst));
        let value = self.any_value(pool, slot);
        self.restrict(pool, state, value, ty);
        state.set(slot, Some(value));
        Some(value)
    }

    /// Sets the register of a result to an input.
    fn set_input(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, dst): (InstanceId, Option<LocalId>),
        (name, ty): (&str, Option<CTypeId>),
    ) {
        let types = &self.analysed.inlined.program.types;
        let Some((ty, scalar)) = ty.and_then(|ty| Some((ty, types.scalar(ty)?))) else { return };
        let symbol = pool.fresh_var(name, sort_of(scalar));
        self.restrict(pool, state, symbol, Some(ty));
        self.note_read(pool, state, (symbol, ty), name);
        if let Some(dst) = dst {
            let slot = self.slot(SlotKind::Register(instance, dst));
            self.set_coerced(pool, state, slot, Some(symbol));
        }
    }

    /// Assumes that a value is one of its type: a `_Bool` is 0 or 1.
    fn restrict(&self, pool: &mut TermPool, state: &mut State, value: Term, ty: Option<CTypeId>) {
        let types = &self.analysed.inlined.program.types;
        let is_bool =
            ty.is_some_and(|ty| matches!(types.get(ty), CType::Int { kind: IntKind::Bool, .. }));
        if is_bool && pool.sort(value) == sort_of(Type::Int(8)) {
            let one = pool.bv(8, 1);
            let holds = pool.ule(value, one);
            state.assume(pool, holds);
        }
    }

    /// The C library may set its error number.
    pub(crate) fn havoc_error_number(&self, state: &mut State) {
        let program = self.analysed.inlined.program;
        let global = lydian_ir::libc::error_number(program);
        let kind = global.map(crate::encode::pointers::objects::ObjectKind::Global);
        if let Some(object) = kind.and_then(|kind| self.analysed.objects.of(kind)) {
            self.havoc_object(state, object);
        }
    }
}

/// Whether a function that unknown code runs may be the error that is looked for, or have a call of it,
/// at no place that the program shows.
fn may_fail_unseen(function: &Function) -> bool {
    is_error(function) || is_left_out(function)
}

/// The type of the result of a function of a type.
fn result_of(machine: &Machine<'_, '_>, ty: CTypeId) -> Option<CTypeId> {
    match machine.analysed.inlined.program.types.get(ty) {
        CType::Function { result, .. } => Some(*result),
        _ => None,
    }
}
