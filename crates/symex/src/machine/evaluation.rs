//! Evaluation of expressions on a state.

use lydian_base::EntityId;
use lydian_eval::{
    Evaluation, Fault, StateReader, Traps, Undetermined, from_bytes, sort_of, to_bytes,
    undefined_symbol,
};
use lydian_ir::{ExprArena, ExprId, FuncId, GlobalId, LocalId, Overflow, RecordId, Type};
use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp};
use smallvec::SmallVec;

use crate::limits::Cut;
use crate::machine::decision_log::Question;
use crate::machine::devices::{self, VolatileMemory};
use crate::machine::memory::AccessKind;
use crate::machine::memory::{
    AddressTarget, Candidate, Knowledge, Memory, NULL_PAGE, ObjectId, ObjectKind, Region,
    Resolution, flatten_address, function_address, function_at, mentions_kind, within_count,
};
use crate::machine::program::context::Context;
use crate::machine::reports::bounds_monitor::objects_of;
use crate::machine::reports::undetermined::text_at;
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::{Notes, State, VolatilePlace};

/// The most of the lowest bits of an address that are looked at.
const MOST_LOW_BITS: u32 = 12;

/// The effects of a load besides its value.
pub(crate) struct LoadEffects {
    /// The positions of the bounds that it meets.
    pub(crate) meets: SmallVec<[usize; 2]>,
    /// Whether any other report about it may make a difference.
    pub(crate) tells: bool,
}

impl<N: Notes> StateView<'_, '_, N> {
    /// The value of an expression of the program, and the conditions under which it traps.
    pub(crate) fn eval(
        &mut self,
        pool: &mut TermPool,
        exprs: &ExprArena,
        expr: ExprId,
        traps: &mut Traps,
    ) -> Result<Term, Stop> {
        let value =
            evaluation(self.context, self.overflow(), exprs, false).eval(pool, expr, self, traps);
        // Only valid while the expression is evaluated.
        self.bounds.within_arrays = None;
        value
    }

    /// The value of an expression of a predicate, and the conditions under which it traps. A
    /// subscript outside of its array traps, too.
    pub(crate) fn eval_predicate(
        &mut self,
        pool: &mut TermPool,
        exprs: &ExprArena,
        expr: ExprId,
        traps: &mut Traps,
    ) -> Result<Term, Stop> {
        let outer = self.state.log.set_in_predicate(true);
        let outer_pointers = self.uses.begin_predicate();
        let value =
            evaluation(self.context, self.overflow(), exprs, true).eval(pool, expr, self, traps);
        self.bounds.within_arrays = None;
        if traps.iter().any(|(fault, _)| fault == Fault::LeftOut) {
            self.bounds.leave_room();
        }
        self.uses.end_predicate(pool, self.state, outer_pointers, traps);
        self.state.log.set_in_predicate(outer);
        value
    }

    /// As [`Self::eval_predicate`]. Also returns whether the evaluation may make a difference
    /// beyond its value.
    pub(crate) fn eval_observed(
        &mut self,
        pool: &mut TermPool,
        exprs: &ExprArena,
        expr: ExprId,
        traps: &mut Traps,
    ) -> (Result<Term, Stop>, bool) {
        self.bounds.begin_telling();
        let value = self.eval_predicate(pool, exprs, expr, traps);
        (value, self.bounds.tells())
    }

    /// As [`Self::eval_observed`], for a load; also returns the bounds that it meets.
    pub(crate) fn eval_observed_load(
        &mut self,
        pool: &mut TermPool,
        exprs: &ExprArena,
        load: ExprId,
        traps: &mut Traps,
    ) -> (Result<Term, Stop>, LoadEffects) {
        self.bounds.begin_load();
        let value = self.eval_predicate(pool, exprs, load, traps);
        let meets = self.bounds.end_load();
        (value, LoadEffects { meets, tells: self.bounds.tells() })
    }

    /// The path's knowledge about addresses, which includes the addresses that they were made from.
    pub(crate) fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            derived: Some(self.derived),
            inputs: Some(&self.context.inputs),
            ..self.state.knowledge()
        }
    }

    /// The objects that an address may lie in. `access` is the type of the accessed value, if
    /// known.
    pub(crate) fn resolve(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
        access: Option<Type>,
    ) -> Result<Resolution, Stop> {
        let limit = self.context.config.limits.pointer_choices;
        let mut last = None;
        let mut alternatives = loop {
            let Some(alternatives) = flatten_address(pool, addr, self.knowledge(), limit) else {
                return Err(self.split_on_value(pool, addr));
            };
            let input = alternatives.iter().find_map(|(guard, target)| match target {
                AddressTarget::Input(pointer) => Some((*guard, *pointer)),
                _ => None,
            });
            match input {
                Some((_, pointer)) if last.replace(pointer) == Some(pointer) => {
                    return Err(Stop::Unsupported("an address made of several pointers".into()));
                }
                Some(pointer) => self.expand(pool, pointer, access)?,
                None => break alternatives,
            }
        };
        let named = alternatives.iter().find_map(|(_, target)| match target {
            AddressTarget::Known(address, _) if is_named_by_the_program(*address) => Some(*address),
            _ => None,
        });
        if let Some(address) = named {
            let target = self.context.program.types.target;
            return Err(Stop::Unsupported(devices::unsupported(target, address)));
        }
        for (guard, target) in &mut alternatives {
            *target = self.correct_by_model(pool, *guard, *target);
        }
        let resolution =
            self.state.memory.resolve(pool, &alternatives).map_err(|(guard, term)| {
                if !self.holds_on_model(pool, guard) {
                    let other = pool.not(guard);
                    return Stop::Split(other, None);
                }
                self.split_on_value(pool, term)
            })?;
        self.look_at_streams(pool, &resolution)?;
        self.lay_out_records(pool, addr, &resolution)?;
        Ok(resolution)
    }

    /// Ends a path that looks into a standard stream. Paths of the same statement that look
    /// elsewhere go on.
    fn look_at_streams(&mut self, pool: &mut TermPool, found: &Resolution) -> Result<(), Stop> {
        let memory = &self.state.memory;
        let mut candidates = found.candidates.iter();
        let stream = candidates.find_map(|candidate| {
            let object = memory.object(candidate.object);
            (object.kind == ObjectKind::Stream).then(|| (candidate.guard, object.name.clone()))
        });
        let Some((guard, name)) = stream else { return Ok(()) };
        if self.state.knowledge().known(pool, guard) == Some(true) {
            let what = format!("the contents of `*{name}`, which only the C library knows");
            return Err(Stop::Unsupported(what));
        }
        Err(self.split_by_model(pool, guard))
    }

    /// Corrects a target by the model. A constant that lies in no object says little about the
    /// whole address; the target is then the object that the model's address lies in, if any.
    fn correct_by_model(
        &mut self,
        pool: &mut TermPool,
        guard: Term,
        target: AddressTarget,
    ) -> AddressTarget {
        let AddressTarget::Known(address, Some(offset)) = target else { return target };
        if self.state.memory.object_at(address).is_some() || !self.holds_on_model(pool, guard) {
            return target;
        }
        let distance = self.value_on_model(pool, offset);
        let memory = &self.state.memory;
        let Some(object) = memory.object_at(address.wrapping_add(distance)) else { return target };
        let base = memory.object(object).base;
        let start = pool.bv(64, address.wrapping_sub(base));
        AddressTarget::Known(base, Some(pool.add(offset, start)))
    }

    /// Splits the path on the object that the address lies in under the state's model. A number
    /// that was made of no address is null or in no object; another address would be chance, and is
    /// not followed.
    fn split_on_value(&mut self, pool: &mut TermPool, term: Term) -> Stop {
        let by_chance = !pool.mentions_address(term);
        if !(self.bounds.is_tentative() || by_chance && self.bounds.is_no_pointer(pool, term)) {
            self.bounds.meet_all();
        }
        let value = self.value_on_model(pool, term);
        let page = pool.bv(64, NULL_PAGE);
        if value < NULL_PAGE {
            let null = pool.ult(term, page);
            return Stop::Split(null, Some((term, AddressTarget::Null)));
        }
        if by_chance {
            let address = pool.uge(term, page);
            return Stop::Split(address, Some((term, AddressTarget::Wild)));
        }
        if let Some(object) = self.state.memory.object_at(value) {
            let object = self.state.memory.object(object);
            let (base, size) = (object.base, object.size);
            let inside = lies_in(pool, term, base, size);
            return Stop::Split(inside, Some((term, AddressTarget::Known(base, None))));
        }
        let mut outside = pool.uge(term, page);
        for region in [Region::Input, Region::Global, Region::Dynamic, Region::Lazy] {
            let objects = self.state.memory.objects(region);
            let ranges: Vec<(u64, u64)> = objects
                .filter(|(_, object)| object.alive)
                .map(|(_, object)| (object.base, object.size))
                .collect();
            for (base, size) in ranges {
                let inside = lies_in(pool, term, base, size);
                let not_inside = pool.not(inside);
                outside = pool.and(outside, not_inside);
            }
        }
        Stop::Split(outside, Some((term, AddressTarget::Wild)))
    }

    /// Whether a condition holds on the state's model.
    pub(crate) fn holds_on_model(&mut self, pool: &TermPool, condition: Term) -> bool {
        let Self { state, evaluator, .. } = self;
        let State { log, model, .. } = &mut **state;
        log.decide(Question::Holds, || evaluator.holds(pool, model, condition))
    }

    /// Splits the path on a condition. It goes on with the side of its model.
    pub(crate) fn split_by_model(&mut self, pool: &mut TermPool, condition: Term) -> Stop {
        let holds = self.holds_on_model(pool, condition);
        Stop::Split(if holds { condition } else { pool.not(condition) }, None)
    }

    /// The value of a term on the state's model.
    pub(crate) fn value_on_model(&mut self, pool: &TermPool, term: Term) -> u64 {
        let Self { state, evaluator, .. } = self;
        let State { log, model, .. } = &mut **state;
        log.answer(Question::Value, || evaluator.eval_u64(pool, model, term))
    }

    /// The value of type `ty` at an address, and the conditions under which the read traps.
    pub(crate) fn load_at(
        &mut self,
        pool: &mut TermPool,
        ty: Type,
        addr: Term,
        traps: &mut Traps,
    ) -> Result<Term, Stop> {
        let resolution = self.resolve(pool, addr, Some(ty))?;
        self.meet_invariants(pool, &resolution)?;
        let size = ty.bytes();
        self.note_touched(pool, &resolution, size, AccessKind::Read);
        self.bounds.access(pool, &self.state.memory, &resolution, size, AccessKind::Read);
        self.state.memory.access_traps(pool, &resolution, size, AccessKind::Read, traps);
        if ty != Type::Ptr && mentions_kind(pool, addr, Undetermined::Length) {
            return Ok(self.far_away(pool, addr, ty));
        }
        let value = self.state.memory.load(pool, &resolution, size);
        if self.state.memory.may_see_unwritten(&resolution, size) {
            self.note_read(pool, value);
        }
        let expanded = &self.state.path.expanded;
        let is_followed = |bits: Term| expanded.contains_key(&bits);
        let inputs = &self.context.inputs;
        let is_number = ty != Type::Ptr && inputs.shows_an_address(pool, value, is_followed);
        let is_part = match is_number && (size < Type::Ptr.bytes() || ty.is_float()) {
            true => true,
            // No other value shows any bits of an address.
            false if is_number || ty == Type::Ptr => {
                inputs.shows_part_of_an_address(pool, value, is_followed)
            }
            false => false,
        };
        if is_part {
            // The input does not determine the addresses of objects.
            let place = format!("address{}", value.index());
            let value = undefined_symbol(pool, Undetermined::Location, &place, sort_of(ty));
            self.note_read(pool, value);
            return Ok(value);
        }
        if is_number {
            // The bytes there may be no pointer at all.
            self.meet_place_within(pool, value);
        }
        let value = as_read(pool, ty, value);
        Ok(self.chosen(pool, value))
    }

    /// The content of a place so far inside a string that it is not followed: any value at each
    /// read of the program. Reads of predicates are not counted, since a replay does not repeat
    /// them.
    fn far_away(&mut self, pool: &mut TermPool, addr: Term, ty: Type) -> Term {
        let (number, is_in_predicate) =
            (self.state.inputs.unknowns, self.state.log.is_in_predicate());
        let mark = if is_in_predicate { "predicate." } else { "" };
        self.state.inputs.unknowns += u64::from(!is_in_predicate);
        let name = format!("{mark}{number}.{}", addr.index());
        let value = undefined_symbol(pool, Undetermined::Length, &name, sort_of(ty));
        self.note_read(pool, value);
        value
    }

    /// Whether a subscript of characters at the first byte of an input object would look like a
    /// walk over all bytes of the object, unless its index has a limit.
    fn may_walk_from_the_first_byte(
        &self,
        pool: &mut TermPool,
        base: Term,
        index: Term,
        (count, size): (u64, u64),
    ) -> bool {
        let is_further_on = |base: Term| match pool.node(base) {
            Node::Bin(BinOp::Add, _, by) => pool.as_u64(by).is_some_and(|by| by != 0),
            _ => false,
        };
        self.context.spec.lazy
            && (size, pool.as_u64(index)) == (1, None)
            && count > 1
            && !is_further_on(base)
            && self.context.inputs.pointer_within(pool, base).is_some()
    }

    /// Notes that the evaluated value depends on the address of an object that the program places.
    /// The address may differ in another run: nothing is infeasible because of this path, and a
    /// test of it may behave differently.
    fn use_location(&mut self) {
        let Self { context, state, omissions, .. } = self;
        let at = text_at(context.program, state);
        state.placed.get_or_insert(at);
        if !state.log.is_in_predicate() && !state.log.is_played() {
            omissions.everywhere(Cut::Undetermined(Undetermined::Location, at));
        }
    }

    /// Notes that the address of an input object as a number makes a difference to the current
    /// actor, if the value depends on one.
    fn meet_place_within(&mut self, pool: &mut TermPool, value: Term) {
        self.note_number(pool, value);
        if let Some(pointer) = self.context.inputs.pointer_within(pool, value) {
            self.bounds.meet_place_of(&pointer.place);
        }
    }

    /// Notes the place where a number is made of addresses of input objects.
    fn note_number(&mut self, pool: &mut TermPool, value: Term) {
        let Self { context, state, reads, .. } = self;
        for symbol in context.inputs.address_symbols(pool, value) {
            reads.note_number(symbol, || text_at(context.program, state));
        }
    }

    /// Notes the place of a read of a value that is not fully determined.
    fn note_read(&mut self, pool: &mut TermPool, value: Term) {
        let Self { context, state, reads, .. } = self;
        reads.note(pool, value, || text_at(context.program, state));
    }

    /// The lowest bits of an address, if they are the same wherever its object lies: those of an
    /// input pointer follow from its type, those of another object from its alignment.
    fn low_bits_of(&self, pool: &mut TermPool, value: Term, bits: u32) -> Option<u64> {
        let mask = (1 << bits) - 1;
        if let Some(number) = pool.as_u64(value) {
            let Some(_) = Region::of(number) else { return Some(number & mask) };
            let object = self.state.memory.object(self.state.memory.object_near(number)?);
            let distance = number.wrapping_sub(object.base);
            let is_known = distance <= object.size && object.alignment.is_multiple_of(mask + 1);
            return is_known.then_some(distance & mask);
        }
        match pool.node(value) {
            Node::Bin(BinOp::Add, a, b) => {
                let sum =
                    self.low_bits_of(pool, a, bits)?.wrapping_add(self.low_bits_of(pool, b, bits)?);
                Some(sum & mask)
            }
            Node::Ite(_, then, otherwise) => {
                let low = self.low_bits_of(pool, then, bits)?;
                (self.low_bits_of(pool, otherwise, bits)? == low).then_some(low)
            }
            // No address of an object that the program places is within these.
            node if self.context.inputs.is_pointer(value) || is_scaled(node) => {
                let low = pool.extract(bits - 1, 0, value);
                pool.as_u64(low)
            }
            _ => None,
        }
    }

    /// An address, or a number of its width, with the choice that the path has made.
    pub(crate) fn chosen(&self, pool: &mut TermPool, value: Term) -> Term {
        let mut value = value;
        while let Node::Ite(condition, then, otherwise) = pool.node(value)
            && pool.sort(value) == Sort::BitVec(64)
            && let Some(holds) = self.state.knowledge().known(pool, condition)
        {
            value = if holds { then } else { otherwise };
        }
        value
    }
}

/// Whether the build and the run of the program place objects of a kind.
pub(crate) const fn is_placed(kind: ObjectKind) -> bool {
    matches!(kind, ObjectKind::Local | ObjectKind::Heap | ObjectKind::Global)
}

/// Whether a node is that of a distance: a scaled or widened number.
const fn is_scaled(node: Node) -> bool {
    matches!(
        node,
        Node::Bin(BinOp::Mul | BinOp::Shl | BinOp::Concat, ..)
            | Node::Un(UnOp::ZExt | UnOp::SExt, _)
    )
}

/// Whether an address is less than another in a different object, where the program places one of
/// the two objects. The result is a symbol, since it differs from run to run. `None` where the
/// numbers decide it.
fn below(pool: &mut TermPool, memory: &Memory, [a, b]: [Term; 2]) -> Option<Term> {
    let (of_a, of_b) = (objects_of(pool, memory, a)?, objects_of(pool, memory, b)?);
    let is_own = |id: &ObjectId| is_placed(memory.object(*id).kind);
    let by_chance = |x: &ObjectId, y: &ObjectId| x != y && (is_own(x) || is_own(y));
    if !of_a.iter().any(|x| of_b.iter().any(|y| by_chance(x, y))) {
        return None;
    }
    // Two objects have one symbol, whatever addresses in them are compared.
    let (first, second) = match (&of_a[..], &of_b[..]) {
        ([x], [y]) => (memory.object(*x).base, memory.object(*y).base),
        _ => (pool.structure(a), pool.structure(b)),
    };
    let name = format!("{:x}<{:x}", first.min(second), first.max(second));
    let symbol = undefined_symbol(pool, Undetermined::Location, &name, Sort::Bool);
    Some(if first <= second { symbol } else { pool.not(symbol) })
}

/// Whether only the program names an address: mostly that of a device.
pub(crate) fn is_named_by_the_program(address: u64) -> bool {
    let small = (NULL_PAGE..1 << 47).contains(&address);
    small && Region::of(address).is_none() && function_at(address).is_none()
}

/// A value of a type, made from the bytes that hold it or from a value that was written there.
pub(crate) fn as_read(pool: &mut TermPool, ty: Type, value: Term) -> Term {
    if pool.sort(value) == sort_of(ty) && ty != Type::BOOL {
        return value;
    }
    let bytes = to_bytes(pool, value);
    from_bytes(pool, ty, bytes)
}

fn evaluation<'x>(
    context: &Context<'x>,
    overflow: Overflow,
    exprs: &'x ExprArena,
    subscripts: bool,
) -> Evaluation<'x> {
    Evaluation { types: &context.program.types, exprs, overflow, subscripts }
}

impl<N: Notes> StateView<'_, '_, N> {
    /// The meaning of signed overflow at the state.
    fn overflow(&self) -> Overflow {
        self.state.overflow(self.context.config.overflow)
    }
}

/// Whether an address lies in an object or at its end.
fn lies_in(pool: &mut TermPool, address: Term, base: u64, size: u64) -> Term {
    let base = pool.bv(64, base);
    let offset = pool.sub(address, base);
    let size = pool.bv(64, size);
    pool.ule(offset, size)
}

impl<N: Notes> StateReader for StateView<'_, '_, N> {
    type Stop = Stop;

    fn local(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Stop> {
        let frame = self.state.frame();
        if let Some(value) = frame.registers[local.index()] {
            return Ok(self.chosen(pool, value));
        }
        let function = &self.context.program.functions[frame.func];
        let ty = function.body.as_ref().map(|body| body.locals[local].storage);
        let Some(lydian_ir::Storage::Register(ty)) = ty else {
            return Err(Stop::Unsupported(format!("`{local}` is no register")));
        };
        let depth = self.state.frames.len();
        let place = format!("{}.{local}.{depth}", function.name);
        let value = undefined_symbol(pool, Undetermined::Unwritten, &place, sort_of(ty));
        self.note_read(pool, value);
        Ok(value)
    }

    fn local_address(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Stop> {
        let object = self.state.frame().object(local);
        // A local outside of its lifetime has no usable address.
        let base = object.map_or(u64::MAX - 4096, |object| self.state.memory.object(object).base);
        Ok(pool.bv(64, base))
    }

    fn global_address(&mut self, pool: &mut TermPool, global: GlobalId) -> Result<Term, Stop> {
        Ok(pool.bv(64, self.context.globals[global.index()]))
    }

    fn function_address(&mut self, pool: &mut TermPool, func: FuncId) -> Result<Term, Stop> {
        Ok(pool.bv(64, function_address(func.index())))
    }

    fn load(
        &mut self,
        pool: &mut TermPool,
        ty: Type,
        addr: Term,
        volatile: bool,
        traps: &mut Traps,
    ) -> Result<Term, Stop> {
        if volatile && let Some(device) = self.device_at(pool, addr, ty.bytes())? {
            return self.script_value_at(pool, &device.place(), ty);
        }
        let value = self.load_at(pool, ty, addr, traps)?;
        if !volatile {
            return Ok(value);
        }
        match self.volatile_memory(pool, addr, ty)? {
            // What a handler of interrupts left there.
            VolatileMemory::Input(_) if self.state.frame().interrupted => return Ok(value),
            VolatileMemory::Input(place) => return self.script_value_at(pool, &place, ty),
            VolatileMemory::Kept => return Ok(value),
            VolatileMemory::Other if self.state.inputs.volatile.is_empty() => return Ok(value),
            VolatileMemory::Other => {}
        }
        // Others may have written to the memory since it was read.
        let candidates = self.resolve(pool, addr, Some(ty))?.candidates;
        let is_again = |at: &&Candidate| {
            let place = VolatilePlace::of(at, ty.bytes());
            self.state.inputs.volatile.iter().any(|read| read.meets(&place))
        };
        let again = pool.or_all(candidates.iter().filter(is_again).map(|at| at.guard));
        if pool.as_bool(again) == Some(false) {
            return Ok(value);
        }
        let name = self.state.inputs.unknowns.to_string();
        let sort = pool.sort(value);
        let anything = undefined_symbol(pool, Undetermined::Volatile, &name, sort);
        self.note_read(pool, anything);
        Ok(pool.ite(again, anything, value))
    }

    fn local_type(&self, local: LocalId) -> Type {
        let function = &self.context.program.functions[self.state.frame().func];
        match function.body.as_ref().map(|body| body.locals[local].storage) {
            Some(lydian_ir::Storage::Register(ty)) => ty,
            _ => Type::Ptr,
        }
    }

    fn unmodelled(&mut self, _: &mut TermPool, what: &str, _: Sort) -> Result<Term, Stop> {
        Err(Stop::Unsupported(what.to_owned()))
    }

    /// The address of a subscript. A subscript that could lie anywhere in a large struct is first
    /// taken to lie within its array, so that the struct's other members stay unchanged. The other
    /// inputs take a path of their own.
    fn subscript(
        &mut self,
        pool: &mut TermPool,
        base: Term,
        index: Term,
        (count, size): (u64, u64),
        traps: &mut Traps,
    ) -> Result<Term, Stop> {
        if self.may_walk_from_the_first_byte(pool, base, index, (count, size)) {
            let count_term = pool.bv(64, count);
            let beyond = pool.ugt(index, count_term);
            traps.add(pool, Fault::LeftOut, beyond);
            return Ok(within_count(pool, index, count + 1));
        }
        let is_large = |start| self.state.memory.has_too_many_places(pool, (start, size), index);
        let is_large = pool.as_u64(base).is_some_and(is_large);
        if !is_large && !self.bounds.is_open() {
            return Ok(index);
        }
        let count_term = pool.bv(64, count);
        let inside = pool.ult(index, count_term);
        self.bounds.subscript(pool, inside);
        if !is_large {
            return Ok(index);
        }
        // The rest depends on the path's knowledge.
        self.bounds.tell();
        match self.state.knowledge().known(pool, inside) {
            Some(true) => Ok(within_count(pool, index, count)),
            Some(false) => Ok(index),
            None if self.state.log.is_in_predicate() => Ok(index),
            None if self.holds_on_model(pool, inside) => Err(Stop::Split(inside, None)),
            None => Err(Stop::Split(pool.not(inside), None)),
        }
    }

    fn address_begins(&mut self) -> Option<Term> {
        self.bounds.load_begins();
        self.bounds.within_arrays.take()
    }

    fn address_ends(&mut self, outer: Option<Term>) {
        self.bounds.load_ends();
        self.bounds.within_arrays = outer;
    }

    fn derived(&mut self, pool: &TermPool, result: Term, base: Term, offset: Term) {
        self.bounds.moved(pool, &self.state.memory, base, result);
        // Entries lead from newer to older terms only, so following them ends.
        if base < result {
            self.derived.insert(result, (base, offset));
        } else if base > result && pool.as_u64(result).is_none() {
            // The result no longer shows what it was made of.
            self.bounds.meet_all();
        }
    }

    fn as_record(&mut self, pool: &TermPool, base: Term, record: RecordId) {
        self.use_as_record(pool, base, record);
    }

    fn related(
        &mut self,
        pool: &mut TermPool,
        values: [Term; 2],
        equality: bool,
    ) -> Result<Option<Term>, Stop> {
        if !equality {
            self.lead_together(pool, values)?;
        }
        self.stay_inside(pool, values, equality)?;
        self.bounds.related(pool, &self.state.memory, values, equality);
        let below = if equality { None } else { below(pool, &self.state.memory, values) };
        let Some(below) = below else { return Ok(None) };
        self.use_location();
        // The path goes on as the numbers say, since its tests are measured. A predicate gives no
        // value.
        Ok(Some(below).filter(|_| self.state.log.is_in_predicate()))
    }

    fn distance(&mut self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Result<Term, Stop> {
        if let Some(place_a) = self.place_of(pool, a)?
            && let Some(place_b) = self.place_of(pool, b)?
        {
            let memory = &self.state.memory;
            let objects = [place_a, place_b].map(|place| objects_of(pool, memory, place));
            if let [Some(of_a), Some(of_b)] = objects
                && !of_a.iter().any(|object| of_b.contains(object))
            {
                let at = text_at(self.context.program, self.state);
                self.state.placed.get_or_insert(at);
                self.meet_place_within(pool, a);
                self.meet_place_within(pool, b);
            }
            return Ok(pool.sub(place_a, place_b));
        }
        // A pointer that nobody follows may lead anywhere, and the other object lies elsewhere in the test.
        let at = text_at(self.context.program, self.state);
        self.state.placed.get_or_insert(at);
        let distance = pool.sub(a, b);
        self.note_number(pool, distance);
        Ok(distance)
    }

    fn low_bits(&mut self, pool: &mut TermPool, value: Term, bits: u32) -> Option<u64> {
        (1..=MOST_LOW_BITS).contains(&bits).then(|| self.low_bits_of(pool, value, bits))?
    }

    fn as_number(&mut self, pool: &mut TermPool, value: Term) {
        self.meet_place_within(pool, value);
        self.bounds.escaped(pool, &self.state.memory, value);
        let memory = &self.state.memory;
        let is_own = |id: &ObjectId| is_placed(memory.object(*id).kind);
        if objects_of(pool, memory, value).is_some_and(|objects| objects.iter().any(is_own)) {
            self.use_location();
        }
    }
}
