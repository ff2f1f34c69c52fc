//! Executes one statement or terminator of one state.

use lydian_base::EntityId;
use lydian_eval::{Traps, Undetermined, from_bytes, sort_of, to_bytes};
use lydian_ir::device::is_truth_value;
use lydian_ir::source::Point;
use lydian_ir::{BitField, Body, Expr, ExprId, LocalId, Stmt, Storage, Type};
use lydian_smt::{Term, TermPool};

use crate::config::Mode;
use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::devices::VolatileMemory;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::AccessKind;
use crate::machine::memory::{
    AddressTarget, Background, Contents, NewObject, ObjectKind, Resolution, depends_on_undefined,
    mentions,
};
use crate::machine::scope::Stop;
use crate::machine::state::{Notes, State, VolatilePlace};

/// Why labels of a path are reopened where none of its inputs goes on.
const NOWHERE: &str = "a path on which a pointer of the inputs leads nowhere";

impl<'p, N: Notes> Machine<'p, '_, N> {
    /// The body of the innermost activation.
    pub(crate) fn body(&self, state: &State<N>) -> &'p Body {
        let function = &self.context.program.functions[state.frame().func];
        function.body.as_ref().expect("only functions with bodies are entered")
    }

    /// Whether observers look at the sites that a state passes. In a replay they have already done
    /// so.
    pub(crate) fn observes(&self, state: &State<N>) -> bool {
        let begun = self.context.config.mode != Mode::Plain && state.has_begun(self.roots.len());
        begun && !state.log.is_played()
    }

    /// Evaluates the expressions of a statement or terminator in advance, so that addresses are
    /// decided.
    pub(crate) fn evaluate_early(
        &mut self,
        state: &mut State<N>,
        point: Point,
    ) -> Result<(), Interrupt> {
        let body = self.body(state);
        let mut exprs: Vec<ExprId> = Vec::new();
        match point {
            Point::Stmt(id) => body.stmts[id].for_each_expr(|expr| exprs.push(expr)),
            Point::Term(block) => exprs.extend(body.blocks[block].term.operand()),
        }
        for expr in exprs {
            self.eval(state, expr, &mut Traps::none())?;
        }
        Ok(())
    }

    /// The value of an expression of the innermost activation's body.
    pub(crate) fn eval(
        &mut self,
        state: &mut State<N>,
        expr: ExprId,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let body = self.body(state);
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let value = scope.eval(pool, &body.exprs, expr, traps);
        self.term_clock.end(span);
        self.settle_suspicions(state);
        check_outgrown(state)?;
        value.map_err(|stop| self.stopped(state, stop))
    }

    /// The value of an expression that is evaluated only where `guard` holds. `None` where it may
    /// trap there, or has no value without a split of the path.
    pub(crate) fn value_where(
        &mut self,
        state: &mut State<N>,
        expr: ExprId,
        guard: Term,
    ) -> Option<Term> {
        let body = self.body(state);
        let mut traps = Traps::none();
        let value = self.where_holds(guard, |machine| {
            let (mut scope, pool) = machine.scope(state);
            let value = scope.eval(pool, &body.exprs, expr, &mut traps);
            machine.settle_suspicions(state);
            value
        });
        let value = value.ok()?;
        for (_, condition) in traps.iter() {
            let trap = self.pool.and(guard, condition);
            if state.knowledge().known(&mut self.pool, trap) != Some(false) {
                return None;
            }
        }
        (!depends_on_undefined(&mut self.pool, value)).then_some(value)
    }

    /// The objects that an address may lie in.
    pub(crate) fn resolve(
        &mut self,
        state: &mut State<N>,
        addr: Term,
    ) -> Result<Resolution, Interrupt> {
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let resolution = scope.resolve(pool, addr, None);
        self.term_clock.end(span);
        resolution.map_err(|stop| self.stopped(state, stop))
    }

    /// The value of type `ty` at an address.
    pub(crate) fn load(
        &mut self,
        state: &mut State<N>,
        ty: Type,
        addr: Term,
        traps: &mut Traps,
    ) -> Result<Term, Interrupt> {
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let value = scope.load_at(pool, ty, addr, traps);
        self.term_clock.end(span);
        self.settle_suspicions(state);
        value.map_err(|stop| self.stopped(state, stop))
    }

    /// Resolves an address for writing, and adds the conditions under which the write traps.
    pub(crate) fn resolve_for_write(
        &mut self,
        state: &mut State<N>,
        addr: Term,
        size: u64,
        traps: &mut Traps,
    ) -> Result<Resolution, Interrupt> {
        let resolution = self.resolve(state, addr)?;
        self.meet_invariants(state, &resolution)?;
        self.note_access(state, &resolution, size, AccessKind::Write);
        let span = self.term_clock.begin();
        state.memory.access_traps(&mut self.pool, &resolution, size, AccessKind::Write, traps);
        self.term_clock.end(span);
        Ok(resolution)
    }

    /// Splits the path where an evaluation asked for it.
    pub(crate) fn stopped(&mut self, state: &mut State<N>, stop: Stop) -> Interrupt {
        match stop {
            Stop::Unsupported(what) => Interrupt::unsupported(what),
            Stop::Infeasible => {
                self.note_restriction(state);
                self.retract_for(state, Cut::Unsupported(NOWHERE.into()));
                Interrupt::Infeasible
            }
            Stop::Suppose(condition) => {
                if self.narrow(state, condition, Cut::Unsupported(NOWHERE.into())) {
                    return Interrupt::Yield;
                }
                self.stopped(state, Stop::Infeasible)
            }
            Stop::Invariant(invariant, object) => Interrupt::Invariant(invariant, object),
            Stop::Split(condition, resolved) => {
                let facts = state.path.facts.len();
                let (holds, other) = self.split(state, condition);
                let progress =
                    other.is_some() || state.path.facts.len() > facts || resolved.is_some();
                if let Some(resolved) = resolved.filter(|_| holds) {
                    if self.is_by_chance(state, resolved) {
                        state.depends.add(Undetermined::Location, self.text_at(state));
                    }
                    state.path.resolved.entry(resolved.0).or_insert(resolved.1);
                }
                other.into_iter().for_each(|other| self.fork_off(other));
                if progress {
                    Interrupt::Yield
                } else {
                    Interrupt::unsupported("an address of many objects")
                }
            }
        }
    }

    /// Whether an address lies in an object only because its number happens to: no part of it was
    /// made from the object's address. Addresses of objects differ from run to run and from suite
    /// to suite, so no test should depend on it.
    fn is_by_chance(
        &mut self,
        state: &mut State<N>,
        (address, target): (Term, AddressTarget),
    ) -> bool {
        let base = match target {
            AddressTarget::Known(base, _) => base,
            // Other inputs of the path may lead to an object.
            AddressTarget::Wild if !self.pool.mentions_address(address) => {
                if !self.bounds.is_no_pointer(&mut self.pool, address) {
                    let at = self.text_at(state);
                    self.cut_ahead(state, Cut::Undetermined(Undetermined::Location, at));
                }
                self.value_on_model(state, address)
            }
            _ => return false,
        };
        let Some(id) = state.memory.object_at(base) else { return false };
        let object = state.memory.object(id);
        let in_object =
            |number: u64| number.checked_sub(object.base).is_some_and(|at| at <= object.size);
        !mentions(&self.pool, address, in_object)
    }

    /// Decides a Boolean by the state's model. The state goes on with that side. Returns a pending
    /// state for the other side, unless the path excludes it.
    pub(crate) fn split(
        &mut self,
        state: &mut State<N>,
        condition: Term,
    ) -> (bool, Option<Box<State<N>>>) {
        let span = self.term_clock.begin();
        let known = state.knowledge().known(&mut self.pool, condition);
        self.term_clock.end(span);
        if let Some(known) = known {
            self.statistics.free_branches += u64::from(!state.log.is_played());
            return (known, None);
        }
        self.meet_undefined(state, condition);
        let span = self.term_clock.begin();
        let Self { pool, evaluator, .. } = self;
        let told = state.log.played(Question::Side);
        let side = match told {
            Some(side) => side != 0,
            None => evaluator.holds(pool, &state.model, condition),
        };
        let negation = self.pool.not(condition);
        self.term_clock.end(span);
        let (here, there) = if side { (condition, negation) } else { (negation, condition) };
        let mut other = None;
        if !state.course.replay {
            let mut fork = state.fork();
            fork.pending = true;
            fork.log.note(Question::Side, u64::from(!side));
            let span = self.term_clock.begin();
            other = fork.add_fact(&mut self.pool, there).then_some(fork);
            self.term_clock.end(span);
        }
        state.log.note(Question::Side, u64::from(side));
        let span = self.term_clock.begin();
        state.add_fact(&mut self.pool, here);
        self.term_clock.end(span);
        (side, other)
    }

    /// Executes a statement of the innermost activation. Marks do nothing.
    pub(crate) fn statement(
        &mut self,
        state: &mut State<N>,
        body: &Body,
        stmt: &Stmt,
    ) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        match stmt {
            Stmt::Mark(_) => {}
            Stmt::Assign { dst, value: expr } => {
                if let Expr::Load { addr, ty, volatile: true } = body.exprs[*expr]
                    && self.begins_handler(state, addr, ty)?
                {
                    return Ok(());
                }
                let value = self.eval(state, *expr, &mut traps)?;
                self.leave_traps(state, &traps)?;
                if let Expr::Load { addr, ty, volatile: true } = body.exprs[*expr] {
                    self.note_volatile_read(state, addr, ty)?;
                }
                state.frame_mut().registers[dst.index()] = Some(value);
            }
            Stmt::Store { addr, value, ty, volatile } => {
                if *volatile {
                    self.leave_open("volatile memory");
                }
                let value = self.eval(state, *value, &mut traps)?;
                let addr = self.eval(state, *addr, &mut traps)?;
                if *volatile && self.device_at(state, addr, ty.bytes())?.is_some() {
                    self.leave_traps(state, &traps)?;
                    state.frame_mut().advance();
                    return Ok(());
                }
                let to = self.resolve_for_write(state, addr, ty.bytes(), &mut traps)?;
                self.leave_traps(state, &traps)?;
                let span = self.term_clock.begin();
                state.memory.store(&mut self.pool, &to, ty.bytes(), value);
                self.term_clock.end(span);
            }
            Stmt::StoreBits { addr, field, value } => {
                self.store_bits(state, *addr, *field, *value)?;
            }
            Stmt::Copy { dst, src, size } => {
                let src = self.eval(state, *src, &mut traps)?;
                let dst = self.eval(state, *dst, &mut traps)?;
                self.copy(state, dst, src, *size, &mut traps)?;
            }
            Stmt::Zero { dst, size } => {
                let dst = self.eval(state, *dst, &mut traps)?;
                let to = self.resolve_for_write(state, dst, *size, &mut traps)?;
                self.leave_traps(state, &traps)?;
                state.memory.zero(&mut self.pool, &to, *size);
            }
            Stmt::Call { .. } => return self.call(state, stmt),
            Stmt::Enter(local) => self.enter_local(state, body, *local)?,
            Stmt::Leave(local) => leave_local(state, *local),
            Stmt::Alloca { dst, size, array, .. } => self.alloca(state, *dst, *size, *array)?,
            Stmt::Release { pointer } => self.release(state, *pointer)?,
            Stmt::VaStart { list } => self.va_start(state, *list)?,
            Stmt::VaArg { at, ty } => self.va_arg(state, *at, *ty)?,
            Stmt::Havoc(havoc) => {
                self.leave_open("inline assembly");
                self.havoc(state, havoc)?;
            }
        }
        state.frame_mut().advance();
        Ok(())
    }

    /// Notes that volatile memory is read: a device's next value is taken from the inputs, and other
    /// memory may differ when it is read again.
    fn note_volatile_read(
        &mut self,
        state: &mut State<N>,
        addr: ExprId,
        ty: Type,
    ) -> Result<(), Interrupt> {
        let read = (ty, is_truth_value(self.context.program, self.body(state), addr));
        let address = self.eval(state, addr, &mut Traps::none())?;
        if let Some(device) = self.device_at(state, address, ty.bytes())? {
            self.take_script_read(state, (device.place(), device.term()), read)?;
            return Ok(());
        }
        match self.volatile_memory(state, address, ty)? {
            VolatileMemory::Input(place) if state.frame().interrupted => {
                let value = self.load(state, ty, address, &mut Traps::none())?;
                self.note_script_read(state, place, ty, value);
                return Ok(());
            }
            VolatileMemory::Input(place) => {
                let value = self.take_script_read(state, (place, None), read)?;
                let to = self.resolve(state, address)?;
                state.memory.store(&mut self.pool, &to, ty.bytes(), value);
                return Ok(());
            }
            VolatileMemory::Kept => return Ok(()),
            VolatileMemory::Other => {}
        }
        let found = self.resolve(state, address)?.candidates;
        found.iter().for_each(|at| state.note_volatile(VolatilePlace::of(at, ty.bytes())));
        state.inputs.unknowns += 1;
        Ok(())
    }

    /// Copies `size` bytes; traps found so far come first.
    pub(crate) fn copy(
        &mut self,
        state: &mut State<N>,
        dst: Term,
        src: Term,
        size: u64,
        traps: &mut Traps,
    ) -> Result<(), Interrupt> {
        if size == 0 {
            return self.leave_traps(state, traps);
        }
        let from = self.resolve(state, src)?;
        self.meet_invariants(state, &from)?;
        self.note_access(state, &from, size, AccessKind::Read);
        state.memory.access_traps(&mut self.pool, &from, size, AccessKind::Read, traps);
        let to = self.resolve_for_write(state, dst, size, traps)?;
        self.leave_traps(state, traps)?;
        state.memory.copy(&mut self.pool, &to, &from, size);
        Ok(())
    }

    fn store_bits(
        &mut self,
        state: &mut State<N>,
        addr: ExprId,
        field: BitField,
        value: ExprId,
    ) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let value = self.eval(state, value, &mut traps)?;
        let addr = self.eval(state, addr, &mut traps)?;
        let size = field.bytes();
        let to = self.resolve_for_write(state, addr, size, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let bytes = state.memory.load(&mut self.pool, &to, size);
        let bytes = to_bytes(&mut self.pool, bytes);
        let value = to_bytes(&mut self.pool, value);
        let bytes = lydian_eval::expr::insert_bit_field(&mut self.pool, field, bytes, value);
        state.memory.store(&mut self.pool, &to, size, bytes);
        Ok(())
    }

    /// Begins the lifetime of a memory local, with indeterminate bytes.
    pub(crate) fn enter_local(
        &mut self,
        state: &mut State<N>,
        body: &Body,
        local: LocalId,
    ) -> Result<(), Interrupt> {
        leave_local(state, local);
        let Storage::Memory { size, align } = body.locals[local].storage else { return Ok(()) };
        let new = NewObject {
            size,
            alignment: align,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: body.locals[local].name.as_str().into(),
            contents: Contents::new(Background::Zero),
        };
        let object = state.memory.allocate(new);
        let Some(object) = object else { return Err(Interrupt::unsupported("more memory")) };
        let base = state.memory.object(object).base;
        state.memory.object_mut(object).contents = Contents::new(Background::Undefined(base));
        state.frame_mut().set_object(local, object);
        Ok(())
    }
}

/// Interrupts a path on which a pointer was used with a larger record than it leads to.
pub(crate) fn check_outgrown<N: Notes>(state: &State<N>) -> Result<(), Interrupt> {
    match state.inputs.outgrown && !state.course.replay {
        true => Err(Interrupt::Outgrown),
        false => Ok(()),
    }
}

/// Ends the lifetime of a memory local, if it is alive.
pub(crate) fn leave_local<N: Notes>(state: &mut State<N>, local: LocalId) {
    if let Some(object) = state.frame().object(local) {
        state.frame_mut().objects[local.index()] = None;
        state.memory.release(object);
    }
}

/// A value of the machine type, from a term of the same number of bits.
pub(crate) fn as_type(pool: &mut TermPool, ty: Type, value: Term) -> Term {
    if pool.sort(value) == sort_of(ty) {
        return value;
    }
    let bytes = to_bytes(pool, value);
    // A call without a prototype may pass a wider integer.
    let bytes = pool.resize_unsigned(bytes, ty.bits().max(8));
    from_bytes(pool, ty, bytes)
}
