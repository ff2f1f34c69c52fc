//! The effect of statements and calls on a state.

pub(crate) mod region;

use lydian_base::EntityId;
use lydian_ir::ctype::IntKind;
use lydian_ir::libc::MOST_OF_A_BLOCK;
use lydian_ir::{CType, CTypeId, Callee, ExprId, FuncId, LocalId, Stmt, StmtId, Storage};

use crate::library::calls::effect_at;
use crate::library::{Effect, effect_of};
use crate::machine::Machine;
use crate::meaning::with_bit_field;
use crate::objects::MOST_AT_ONE_PLACE;
use crate::pointers::targets::Targets;
use crate::state::{Base, Key, OFFSET_BITS, State, Value};
use crate::terms::{Sort, Term};

/// A call in an instance.
#[derive(Clone, Copy)]
pub(crate) struct CallSite<'c> {
    pub(crate) instance: usize,
    pub(crate) stmt: StmtId,
    pub(crate) args: &'c [ExprId],
    pub(crate) dst: Option<LocalId>,
}

impl Machine<'_, '_> {
    /// Executes a statement. A call is one that is not followed.
    pub(crate) fn stmt(&mut self, state: &mut State, (instance, stmt): (usize, StmtId)) {
        let body = self.scene.unfolding.instances[instance].body;
        match &body.stmts[stmt] {
            Stmt::Assign { dst, value } => {
                let value = self.eval(state, (instance, *value));
                state.set(Key::Register(instance, dst.index() as u32), value);
            }
            Stmt::Store { addr, value, .. } => {
                let value = self.eval(state, (instance, *value)).term;
                let bits = self.as_bytes(value);
                self.write_through(state, (instance, *addr), bits);
            }
            Stmt::StoreBits { addr, field, value } => {
                let value = self.eval(state, (instance, *value)).term;
                let address = self.eval(state, (instance, *addr));
                let targets = self.scene.pointers.of(instance, *addr);
                let found = self.resolve_for_write(state, (address, targets), field.bytes());
                for candidate in &found.candidates {
                    let old = self.read(state, candidate.object, candidate.offset, field.bytes());
                    let new = with_bit_field(&mut self.terms, *field, old, value);
                    self.write(state, *candidate, new);
                }
            }
            Stmt::Copy { dst, src, size } => {
                self.copy_through(state, instance, (*dst, *src), *size);
            }
            Stmt::Zero { dst, size } => {
                let zero = self.terms.bits(8, 0);
                self.fill_through(state, (instance, *dst), (zero, *size));
            }
            Stmt::Call { .. } => self.call(state, (instance, stmt)),
            Stmt::Enter(local) => self.reset_local(state, instance, *local),
            Stmt::Alloca { dst, size, .. } => {
                let size = self.eval(state, (instance, *size)).term;
                let block = self.allocate(state, (instance, stmt), size);
                state.set(Key::Register(instance, dst.index() as u32), block);
            }
            Stmt::Release { pointer } => {
                let null = self.terms.bits(self.scene.address_bits(), 0);
                let key = Key::Register(instance, pointer.index() as u32);
                state.set(key, Value::plain(null));
            }
            Stmt::VaStart { list } => {
                let targets = self.scene.pointers.of(instance, *list);
                self.havoc_targets(state, targets);
            }
            Stmt::Havoc(havoc) => {
                for register in &havoc.registers {
                    let key = Key::Register(instance, register.index() as u32);
                    let value = self.fresh(key);
                    state.set(key, value);
                }
                for (addr, _) in &havoc.places {
                    let targets = self.scene.pointers.of(instance, *addr);
                    self.havoc_targets(state, targets);
                }
                if havoc.memory {
                    self.havoc_known_outside(state);
                }
            }
            Stmt::Mark(_) | Stmt::Leave(_) | Stmt::VaArg { .. } => {}
        }
    }

    fn write_through(&mut self, state: &mut State, (instance, addr): (usize, ExprId), bits: Term) {
        let address = self.eval(state, (instance, addr));
        let targets = self.scene.pointers.of(instance, addr);
        self.store_bits(state, (address, targets), bits);
    }

    fn copy_through(
        &mut self,
        state: &mut State,
        instance: usize,
        (dst, src): (ExprId, ExprId),
        size: u64,
    ) {
        let (from, to) = (self.eval(state, (instance, src)), self.eval(state, (instance, dst)));
        let pointers = &self.scene.pointers;
        let (of_from, of_to) = (pointers.of(instance, src), pointers.of(instance, dst));
        self.copy(state, ((to, of_to), (from, of_from)), size);
    }

    fn fill_through(
        &mut self,
        state: &mut State,
        (instance, dst): (usize, ExprId),
        (byte, size): (Term, u64),
    ) {
        let to = self.eval(state, (instance, dst));
        let targets = self.scene.pointers.of(instance, dst);
        self.fill(state, (to, targets), (byte, size));
    }

    /// Gives any contents to what code that is not known may write to.
    fn havoc_known_outside(&mut self, state: &mut State) {
        for object in &self.scene.pointers.known_outside {
            self.havoc(state, *object);
        }
    }

    /// Makes a block of a size at a place, and returns its address.
    fn allocate(
        &mut self,
        state: &mut State,
        (instance, stmt): (usize, StmtId),
        size: Term,
    ) -> Value {
        let width = self.scene.address_bits();
        let object = self.scene.objects.allocated(instance, stmt);
        let site = object.and_then(|object| Some((object, self.scene.objects.all[object].site?)));
        let Some((object, site)) = site else {
            return Value::plain(self.terms.fresh("block", Sort::Bits(width)));
        };
        let size = self.terms.resize(size, 64);
        let key = Key::End(object);
        let (start, next) = match site.repeats {
            false => (self.terms.bits(64, 0), size),
            true => {
                let end = self.get(state, key).term;
                let step = match site.step {
                    Some(step) => self.terms.bits(64, step.into()),
                    None => {
                        // The next multiple of 16 that leaves a gap.
                        let (gap, mask) =
                            (self.terms.bits(64, 31), self.terms.bits(64, !15_u64 as u128));
                        let past = self.terms.add(size, gap);
                        self.terms.arithmetic("bvand", past, mask)
                    }
                };
                (end, self.terms.add(end, step))
            }
        };
        let most = self.terms.bits(64, site.most.into());
        let (begins, fits) =
            (self.terms.compare("bvule", start, most), self.terms.compare("bvule", next, most));
        let advances = self.terms.compare("bvule", start, next);
        let fits = self.terms.all(&[begins, fits, advances]);
        if site.most < MOST_AT_ONE_PLACE {
            let beyond = self.terms.not(fits);
            let beyond = self.terms.and(state.guard, beyond);
            self.reach_all(beyond);
        }
        state.assume(&mut self.terms, fits);
        if !site.repeats {
            self.set_contents(state, object, site.zeroed);
        }
        state.set(key, Value::plain(next));
        let offset = self.terms.resize(start, OFFSET_BITS);
        self.address(Base { object, offset })
    }

    /// Makes a block, or gives null where it would be too large.
    fn try_allocate(&mut self, state: &mut State, at: (usize, StmtId), size: Term) -> Value {
        let size = self.terms.resize(size, 64);
        let most = self.terms.bits(64, MOST_OF_A_BLOCK.into());
        let fits = self.terms.compare("bvule", size, most);
        let zero = self.terms.bits(64, 0);
        if self.terms.truth_of(fits) == Some(false) {
            return Value::plain(self.terms.bits(self.scene.address_bits(), 0));
        }
        let taken = self.terms.choose(fits, size, zero);
        let block = self.allocate(state, at, taken);
        if self.terms.truth_of(fits) == Some(true) {
            return block;
        }
        let null = self.terms.bits(self.scene.address_bits(), 0);
        Value::plain(self.terms.choose(fits, block.term, null))
    }

    /// Begins a call of an instance.
    pub(crate) fn begin_call(
        &mut self,
        state: &mut State,
        (caller, stmt): (usize, StmtId),
        callee: usize,
    ) {
        let instances = &self.scene.unfolding.instances;
        let Stmt::Call { args, dst_addr, .. } = &instances[caller].body.stmts[stmt] else {
            return;
        };
        let values: Vec<Value> = args.iter().map(|arg| self.eval(state, (caller, *arg))).collect();
        let result = dst_addr.map(|addr| self.eval(state, (caller, addr)));
        let body = instances[callee].body;
        for (local, content) in body.locals.iter() {
            match content.storage {
                Storage::Register(_) => {
                    let key = Key::Register(callee, local.index() as u32);
                    let value = self.fresh(key);
                    state.set(key, value);
                }
                Storage::Memory { .. } => self.reset_local(state, callee, local),
            }
        }
        let result = result.unwrap_or_else(|| self.fresh(Key::Result(callee)));
        state.set(Key::Result(callee), result);
        for ((param, arg), value) in body.params.iter().zip(args).zip(values) {
            self.pass(state, (callee, *param), ((caller, *arg), value));
        }
    }

    /// Gives a parameter its value.
    fn pass(
        &mut self,
        state: &mut State,
        (callee, param): (usize, LocalId),
        (arg, value): ((usize, ExprId), Value),
    ) {
        let local = &self.scene.unfolding.instances[callee].body.locals[param];
        let types = &self.scene.program().types;
        let key = Key::Register(callee, param.index() as u32);
        match (local.storage, types.scalar(local.ty)) {
            (Storage::Register(_), _) => {
                let value = self.coerced(value, self.scene.sort(key));
                state.set(key, value);
            }
            (Storage::Memory { size, .. }, scalar) => {
                let Some(object) = self.scene.objects.local(callee, param) else { return };
                let offset = self.terms.bits(OFFSET_BITS, 0);
                let to = self.address(Base { object, offset });
                let targets = Targets::object(object, Some(0));
                match scalar {
                    Some(ty) => {
                        let bytes = self.scene.objects.target.stored_bytes(ty);
                        let bits = self.as_bytes(value.term);
                        let value = self.coerced(Value::plain(bits), Sort::Bits(bytes as u32 * 8));
                        self.store_bits(state, (to, &targets), value.term);
                    }
                    None => {
                        let from = self.scene.pointers.of(arg.0, arg.1);
                        self.copy(state, ((to, &targets), (value, from)), size);
                    }
                }
            }
        }
    }

    /// A value as one of another sort: cut, or filled with any bits.
    pub(crate) fn coerced(&mut self, value: Value, sort: Sort) -> Value {
        if self.terms.sort(value.term) == sort {
            return value;
        }
        Value::plain(self.terms.fresh("passed", sort))
    }

    /// Ends an instance: its result goes to the register or the address of its call.
    pub(crate) fn end_call(&mut self, state: &mut State, instance: usize, value: Option<ExprId>) {
        let instances = &self.scene.unfolding.instances;
        let result = value.map(|value| (value, self.eval(state, (instance, value))));
        if instances[instance].ends.is_some() {
            self.return_recursive(state, instance, result.map(|(_, value)| value));
            return;
        }
        let Some((caller, stmt)) = instances[instance].call else { return };
        let Stmt::Call { dst, dst_addr, .. } = &instances[caller].body.stmts[stmt] else { return };
        if let Some(dst) = dst {
            let key = Key::Register(caller, dst.index() as u32);
            let value = match result {
                Some((_, value)) => self.coerced(value, self.scene.sort(key)),
                None => self.fresh(key),
            };
            state.set(key, value);
        }
        if let (Some(addr), Some((expr, from))) = (dst_addr, result) {
            let to = self.get(state, Key::Result(instance));
            let of_to = self.scene.pointers.of(caller, *addr);
            let of_from = self.scene.pointers.of(instance, expr);
            let size = self.result_size(instance);
            match size {
                Some(size) => self.copy(state, ((to, of_to), (from, of_from)), size),
                None => self.havoc_targets(state, of_to),
            }
        }
    }

    fn result_size(&self, instance: usize) -> Option<u64> {
        let program = self.scene.program();
        let function = &program.functions[self.scene.unfolding.instances[instance].function];
        match program.types.get(function.ty) {
            CType::Function { result, .. } => program.types.size(*result),
            _ => None,
        }
    }

    /// Notes that control comes to a call. Returns whether the goal is one where the argument is false.
    pub(crate) fn come_to_call(&mut self, state: &mut State, (instance, stmt): (usize, StmtId)) {
        let content = &self.scene.unfolding.instances[instance];
        if Some((content.function, stmt)) != self.scene.error {
            return;
        }
        let Stmt::Call { callee, args, .. } = &content.body.stmts[stmt] else { return };
        let effect = match callee {
            Callee::Direct(callee) => effect_of(self.scene.program(), *callee),
            Callee::Indirect(_) => Effect::Unknown,
        };
        let reached = match (effect, args.first()) {
            (Effect::Assert, Some(arg)) => {
                let mut there = state.clone();
                let value = self.eval(&mut there, (instance, *arg)).term;
                let holds = self.condition(value);
                let fails = self.terms.not(holds);
                self.terms.and(there.guard, fails)
            }
            _ => state.guard,
        };
        self.reach_goal(0, reached);
    }

    /// Whether the argument of an assumption or assertion is true: only the bits of an `int` count,
    /// whatever is passed.
    fn condition(&mut self, value: Term) -> Term {
        let bits = self.as_bytes(value);
        let width = self.terms.width(bits).min(32);
        let bits = self.terms.extract(bits, width - 1, 0);
        self.terms.is_nonzero(bits)
    }

    /// Executes a call that is not followed.
    fn call(&mut self, state: &mut State, (instance, stmt): (usize, StmtId)) {
        self.come_to_call(state, (instance, stmt));
        let body = self.scene.unfolding.instances[instance].body;
        let Stmt::Call { callee, args, dst, .. } = &body.stmts[stmt] else { return };
        let site = CallSite { instance, stmt, args, dst: *dst };
        match callee {
            Callee::Direct(callee) => {
                let effect = effect_at(&self.scene.unfolding, (instance, args), *callee);
                self.call_named(state, site, (*callee, effect));
            }
            Callee::Indirect(pointer) => {
                let targets = self.scene.pointers.of(instance, *pointer);
                let functions = self.scene.not_followed((instance, stmt), targets);
                self.call_unknown(state, site, functions);
            }
        }
    }

    fn call_named(&mut self, state: &mut State, site: CallSite<'_>, called: (FuncId, Effect)) {
        let (callee, effect) = called;
        let values: Vec<Value> =
            site.args.iter().map(|arg| self.eval(state, (site.instance, *arg))).collect();
        let first = values.first().copied();
        let result = match effect {
            Effect::End => {
                state.guard = self.terms.truth(false);
                return;
            }
            Effect::Assume | Effect::Assert => {
                if let Some(value) = first {
                    let holds = self.condition(value.term);
                    state.assume(&mut self.terms, holds);
                }
                None
            }
            Effect::Value => None,
            Effect::First => first,
            Effect::Magnitude => first.map(|value| self.magnitude(value.term)),
            Effect::Malloc | Effect::Calloc | Effect::Realloc => {
                self.allocation(state, site, effect, &values)
            }
            Effect::Copy | Effect::Fill => self.memory_function(state, site, effect, &values),
            Effect::Unknown => {
                self.call_unknown(state, site, vec![callee]);
                return;
            }
        };
        let ty = self.scene.program().functions[callee].ty;
        self.set_result(state, site, result, ty);
    }

    fn magnitude(&mut self, value: Term) -> Value {
        let zero = self.terms.bits(self.terms.width(value), 0);
        let is_negative = self.terms.compare("bvslt", value, zero);
        let negated = self.terms.sub(zero, value);
        Value::plain(self.terms.choose(is_negative, negated, value))
    }

    fn allocation(
        &mut self,
        state: &mut State,
        site: CallSite<'_>,
        effect: Effect,
        values: &[Value],
    ) -> Option<Value> {
        let size = match (effect, values) {
            (Effect::Malloc, [size]) => size.term,
            (Effect::Realloc, [_, size]) => {
                self.havoc_known_outside(state);
                size.term
            }
            (Effect::Calloc, [count, size]) => {
                let (count, size) =
                    (self.terms.resize(count.term, 128), self.terms.resize(size.term, 128));
                let product = self.terms.arithmetic("bvmul", count, size);
                let most = self.terms.bits(128, u64::MAX.into());
                let fits = self.terms.compare("bvule", product, most);
                let (low, high) =
                    (self.terms.extract(product, 63, 0), self.terms.bits(64, u64::MAX.into()));
                self.terms.choose(fits, low, high)
            }
            _ => return None,
        };
        let block = self.try_allocate(state, (site.instance, site.stmt), size);
        // The contents of what is reallocated are any.
        if effect == Effect::Realloc {
            let object = self.scene.objects.allocated(site.instance, site.stmt);
            object.into_iter().for_each(|object| self.havoc(state, object));
            return Some(self.or_null_of_nothing(block, size));
        }
        Some(block)
    }

    /// A block, or null if its size is zero: `realloc` may give either.
    fn or_null_of_nothing(&mut self, block: Value, size: Term) -> Value {
        let is_some = self.terms.is_nonzero(size);
        if self.terms.truth_of(is_some) == Some(true) {
            return block;
        }
        let is_block = self.terms.fresh("block", Sort::Bool);
        let is_block = self.terms.or(is_some, is_block);
        let null = self.terms.bits(self.scene.address_bits(), 0);
        Value::plain(self.terms.choose(is_block, block.term, null))
    }

    fn memory_function(
        &mut self,
        state: &mut State,
        site: CallSite<'_>,
        effect: Effect,
        values: &[Value],
    ) -> Option<Value> {
        let (&[to, second, ..], &[to_expr, from_expr, size]) = (values, site.args) else {
            self.havoc_known_outside(state);
            return None;
        };
        let pointers = &self.scene.pointers;
        let of_to = pointers.of(site.instance, to_expr);
        match (effect, self.scene.unfolding.constant(site.instance, size)) {
            (Effect::Copy, Some(size)) => {
                let of_from = pointers.of(site.instance, from_expr);
                self.copy(state, ((to, of_to), (second, of_from)), size);
            }
            (Effect::Fill, Some(size)) => {
                let byte = self.terms.extract(second.term, 7, 0);
                self.fill(state, (to, of_to), (byte, size));
            }
            _ => self.havoc_targets(state, of_to),
        }
        Some(to)
    }

    /// Runs code that is not followed.
    pub(crate) fn call_unknown(
        &mut self,
        state: &mut State,
        site: CallSite<'_>,
        functions: Vec<FuncId>,
    ) {
        let content = &self.scene.unfolding.instances[site.instance];
        self.run_anything(state, functions);
        self.havoc_known_outside(state);
        let Stmt::Call { dst_addr, ty, .. } = &content.body.stmts[site.stmt] else { return };
        if let Some(addr) = dst_addr {
            let targets = self.scene.pointers.of(site.instance, *addr);
            self.havoc_targets(state, targets);
        }
        self.set_result(state, site, None, *ty);
    }

    /// Sets the register of a call's result; to any value if there is none.
    fn set_result(
        &mut self,
        state: &mut State,
        site: CallSite<'_>,
        result: Option<Value>,
        ty: CTypeId,
    ) {
        let Some(dst) = site.dst else { return };
        let key = Key::Register(site.instance, dst.index() as u32);
        let value = match result {
            Some(value) => self.coerced(value, self.scene.sort(key)),
            None => {
                let value = self.fresh(key);
                self.restrict(value.term, ty);
                value
            }
        };
        state.set(key, value);
    }

    /// Sets the register of a call of a recursive instance to its result.
    pub(crate) fn set_result_of(
        &mut self,
        state: &mut State,
        (instance, stmt): (usize, StmtId),
        result: Option<Value>,
    ) {
        let body = self.scene.unfolding.instances[instance].body;
        let Stmt::Call { args, dst, ty, .. } = &body.stmts[stmt] else { return };
        let site = CallSite { instance, stmt, args, dst: *dst };
        self.set_result(state, site, result, *ty);
    }

    /// A `_Bool` that a call gives is 0 or 1.
    fn restrict(&mut self, value: Term, function: CTypeId) {
        let types = &self.scene.program().types;
        let CType::Function { result, .. } = types.get(function) else { return };
        let is_bool = matches!(types.get(*result), CType::Int { kind: IntKind::Bool, .. });
        if is_bool && self.terms.sort(value) == Sort::Bits(8) {
            let one = self.terms.bits(8, 1);
            let equation = self.terms.compare("bvule", value, one);
            self.terms.define(value, equation);
        }
    }
}
