//! Models of the functions in [`lydian_ir::libc::MODELLED`] over symbolic memory, equal to the
//! interpreter's models.
//!
//! Functions on strings look at one byte after the other, to the end of the objects. Their result
//! is one term, a choice over the places where they may stop, so that a call does not split the
//! path. Where a place is read only if the call gets there, its traps hold only under that
//! condition.

mod alloc;
mod character;
pub(crate) mod character_tables;
mod environment;
pub(crate) mod farthest;
mod float_parts;
mod integer;
mod math;
mod overflow;
mod strings;
mod verification;
mod write;

use std::borrow::Cow;

use lydian_eval::{Traps, to_bytes};
use lydian_ir::libc::{EndFn, EnvironmentFn, HintFn, LibFn, Model, library_function};
use lydian_ir::{CTypeId, Target, TrapKind, Type};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::libc::farthest::SIGHTS;
use crate::machine::memory::AccessKind;
use crate::machine::memory::{Offset, Region};
use crate::machine::scope::Stop;
use crate::machine::state::{Notes, State};

pub(crate) use alloc::{AllocationSize, ROOM};

/// Whether the C library's function may set `errno`, which its model does not: a mathematical
/// function outside of its domain or range.
fn may_set_error_number(model: &Model) -> bool {
    let effects = library_function(model.name).and_then(|row| row.effects);
    effects.is_some_and(|effects| effects.errno)
}

impl<N: Notes> Machine<'_, '_, N> {
    /// Executes a call of a modelled function.
    pub(crate) fn call_model(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        site: &CallSite,
        arg_types: &[CTypeId],
    ) -> Result<(), Interrupt> {
        let args = self.model_arguments(model, &site.args);
        let result = self.result_of_model(state, model, &args, arg_types);
        let result = result.map_err(|flow| match flow {
            Interrupt::End(Ending::Cut(Cut::Unsupported(what))) if what != model.name => {
                Interrupt::unsupported(format!("`{}`: {what}", model.name))
            }
            other => other,
        })?;
        if let (Some(register), Some(result)) = (site.register, result) {
            self.set_result(state, register, result);
        }
        if self.context.error_number.is_some() && may_set_error_number(model) {
            let sentence = format!("{} leaves errno as it is", model.name);
            let kind = AssumptionKind::ExternalWrites;
            self.bounds.assume(Assumption::new(kind, model.name, sentence));
        }
        state.frame_mut().advance();
        Ok(())
    }

    /// The arguments of a model, whose sizes have 64 bits on every target.
    fn model_arguments<'t>(&mut self, model: &Model, args: &'t [Term]) -> Cow<'t, [Term]> {
        if self.context.program.types.target == Target::X86_64 {
            return Cow::Borrowed(args);
        }
        let letters = model.signature.bytes().skip(1);
        let widened = args.iter().zip(letters.chain(std::iter::repeat(b'.')));
        let widened = widened.map(|(arg, letter)| match letter {
            b'l' => self.pool.resize_unsigned(*arg, 64),
            _ => *arg,
        });
        Cow::Owned(widened.collect())
    }

    fn result_of_model(
        &mut self,
        state: &mut State<N>,
        model: &Model,
        args: &[Term],
        arg_types: &[CTypeId],
    ) -> Result<Option<Term>, Interrupt> {
        match model.function {
            LibFn::Memory(function) => self.string_function(state, function, args),
            LibFn::CharacterClass(function) => self.class_function(state, function, args).map(Some),
            LibFn::Character(function) => self.character_function(function, args).map(Some),
            LibFn::Allocation(function) => self.allocation_function(state, function, model, args),
            LibFn::Integer(function) => self.integer_function(state, function, args).map(Some),
            LibFn::ExactMath(function) => {
                self.exact_function(state, function, model, args).map(Some)
            }
            LibFn::FloatParts(function) => match self.parts_function(state, function, args)? {
                Some(result) => Ok(Some(result)),
                None => Err(Interrupt::unsupported(model.name)),
            },
            LibFn::FloatTest(function) => self.float_test(function, model, args).map(Some),
            LibFn::InexactMath(_) => self.inexact_function(state, model, args).map(Some),
            LibFn::Overflow(function) => {
                self.overflow_function(state, function, args, arg_types).map(Some)
            }
            LibFn::Hint(function) => self.hint_function(state, function, args),
            LibFn::Jump(_) => Err(Interrupt::unsupported("a jump as a value")),
            LibFn::Verification(function) => {
                self.verification_function(state, function, model, args)
            }
            LibFn::Environment(EnvironmentFn::Getenv | EnvironmentFn::SecureGetenv) => {
                self.environment_function(state, model, args[0]).map(Some)
            }
            LibFn::End(function) => Err(self.end_function(state, function)),
        }
    }

    /// Sets the result's register, which may be narrower or wider than the model's result.
    fn set_result(&mut self, state: &mut State<N>, register: lydian_ir::LocalId, result: Term) {
        let ty = self.register_type(state, register);
        if ty.is_float() || ty == Type::BOOL {
            self.set_register(state, register, result);
            return;
        }
        let bits = to_bytes(&mut self.pool, result);
        let bits = self.pool.resize_unsigned(bits, ty.bits());
        self.set_register(state, register, bits);
    }

    fn end_function(&mut self, state: &mut State<N>, function: EndFn) -> Interrupt {
        let kind = match function {
            EndFn::Abort | EndFn::AssertFail => TrapKind::Abort,
            EndFn::Unreachable => TrapKind::Unreachable,
            EndFn::Trap => TrapKind::Trap,
            EndFn::Exit | EndFn::UnderscoreExit | EndFn::CapitalExit => {
                return Interrupt::End(Ending::Exited);
            }
        };
        self.trapped(state, kind)
    }

    fn hint_function(
        &mut self,
        state: &mut State<N>,
        function: HintFn,
        args: &[Term],
    ) -> Result<Option<Term>, Interrupt> {
        match function {
            HintFn::Assume => {
                let promise = to_bytes(&mut self.pool, args[0]);
                let holds = self.pool.is_nonzero(promise);
                let broken = self.pool.not(holds);
                let mut traps = Traps::none();
                traps.add(&self.pool, TrapKind::Unreachable, broken);
                self.leave_traps(state, &traps)?;
                Ok(None)
            }
            HintFn::Prefetch => Ok(None),
            HintFn::ConstantP => Ok(Some(self.pool.bv(32, 0))),
            HintFn::ObjectSize | HintFn::DynamicObjectSize => {
                let most = self.pool.as_u64(args[1]).unwrap_or(0) & 2 == 0;
                Ok(Some(self.pool.bv(64, if most { u64::MAX } else { 0 })))
            }
            HintFn::GoesOn => {
                let endless = self.is_endless(state, args[0])?;
                Ok(Some(self.pool.bv(32, endless.into())))
            }
            HintFn::Anything => Ok(Some(self.not_followed(state, 64))),
            HintFn::Expect | HintFn::ExpectWithProbability | HintFn::AssumeAligned => {
                Ok(Some(args[0]))
            }
        }
    }

    /// An address plus a number of bytes.
    pub(crate) fn address_at(&mut self, base: Term, offset: u64) -> Term {
        if offset == 0 {
            return base;
        }
        let offset = self.pool.bv(64, offset);
        self.address_plus(base, offset)
    }

    /// An address plus a term.
    pub(crate) fn address_plus(&mut self, base: Term, offset: Term) -> Term {
        let address = self.pool.add(base, offset);
        if base < address {
            self.derived.insert(address, (base, offset));
        }
        address
    }

    /// The byte at a distance from an address, read only where `alive` holds. `None` where the read
    /// surely traps. The caller has read the bytes before it, under conditions that hold wherever
    /// `alive` does.
    fn byte_at(
        &mut self,
        state: &mut State<N>,
        base: Term,
        offset: u64,
        alive: Term,
        traps: &mut Traps,
    ) -> Result<Option<Term>, Interrupt> {
        self.element_at(state, Type::Int(8), base, offset, alive, traps)
    }

    /// As [`Self::byte_at`], for an integer of any size.
    fn element_at(
        &mut self,
        state: &mut State<N>,
        ty: Type,
        base: Term,
        offset: u64,
        alive: Term,
        traps: &mut Traps,
    ) -> Result<Option<Term>, Interrupt> {
        let address = self.address_at(base, offset);
        let mut own = Traps::none();
        let value =
            self.where_holds(alive, |machine| machine.load(state, ty, address, &mut own))?;
        let surely = self.add_guarded(&own, alive, traps);
        let surely = surely || self.is_beyond(state, base, offset, alive, traps)?;
        Ok((!surely).then_some(value))
    }

    /// Whether a place at a distance from an address surely lies beyond the end of the address's
    /// object. If so, adds a trap where `alive` holds.
    fn is_beyond(
        &mut self,
        state: &mut State<N>,
        base: Term,
        offset: u64,
        alive: Term,
        traps: &mut Traps,
    ) -> Result<bool, Interrupt> {
        // An access at a constant place finds the trap itself.
        if self.pool.as_u64(base).is_some() {
            return Ok(false);
        }
        let room = self.room(state, base)?;
        if offset >= room {
            traps.add(&self.pool, TrapKind::OutOfBounds, alive);
        }
        Ok(offset >= room)
    }

    /// The most bytes between an address and the end of its object.
    fn room(&mut self, state: &mut State<N>, address: Term) -> Result<u64, Interrupt> {
        let resolution = self.resolve(state, address)?;
        let rooms = resolution.candidates.iter().map(|candidate| {
            let size = state.memory.object(candidate.object).size;
            match candidate.offset {
                Offset::Known(start) => size.saturating_sub(start.max(0) as u64),
                Offset::Scaled(_) => size,
            }
        });
        Ok(rooms.max().unwrap_or(0))
    }

    /// Adds traps that hold only where `alive` does. Returns whether one of them surely happens
    /// there.
    fn add_guarded(&mut self, own: &Traps, alive: Term, traps: &mut Traps) -> bool {
        let mut surely = false;
        for (kind, condition) in own.iter() {
            surely |= self.pool.as_bool(condition) == Some(true);
            let guarded = self.pool.and(alive, condition);
            traps.add(&self.pool, kind, guarded);
        }
        surely
    }

    /// Whether the path surely does not reach a point where `alive` holds, by a fact about this
    /// condition as a whole. Its parts were looked up when it was made.
    fn is_dead(&mut self, state: &State<N>, alive: Term) -> bool {
        state.knowledge().known_alone(&mut self.pool, alive) == Some(false)
    }

    /// The value of `condition` where the path knows it, otherwise the condition itself.
    fn simplified(&mut self, state: &State<N>, condition: Term) -> Term {
        match state.knowledge().known(&mut self.pool, condition) {
            Some(known) => self.pool.bool(known),
            None => condition,
        }
    }

    /// Whether a function looks at a byte at a distance, which it does on the inputs on which
    /// `alive` holds. An error where it looks at more bytes than the limit. Where no end is in
    /// sight, the path is split into paths on which the string ends soon and others.
    fn looks_at(
        &mut self,
        state: &mut State<N>,
        bytes: u64,
        alive: Term,
    ) -> Result<bool, Interrupt> {
        let limit = self.context.config.limits.libc_bytes;
        if bytes >= limit {
            let what = format!("on more than {limit} bytes");
            return Err(Interrupt::End(Ending::Cut(Cut::Unsupported(what))));
        }
        let endless = state.memory.objects(Region::Lazy).next().is_some();
        if !endless || !SIGHTS.contains(&bytes) {
            return Ok(true);
        }
        self.split_on(state, alive)
    }

    /// Whether the memory at an address is of unlimited size, whichever object it lies in. A test
    /// then has another byte there, which the path does not constrain: zero, which ends strings.
    fn is_endless(&mut self, state: &mut State<N>, address: Term) -> Result<bool, Interrupt> {
        let resolution = self.resolve(state, address)?;
        let mut objects = resolution.candidates.iter().map(|of| state.memory.object(of.object));
        let is_endless = objects.all(|object| object.first.is_some());
        if is_endless {
            self.note_access(state, &resolution, 1, AccessKind::Write);
        }
        Ok(is_endless)
    }

    /// Splits the path so that a number has one value, and returns it.
    fn one_value(&mut self, state: &mut State<N>, number: Term) -> Result<u64, Interrupt> {
        if let Some(value) = self.pool.as_u64(number) {
            return Ok(value);
        }
        let value = self.value_on_model(state, number);
        let constant = self.pool.bv(self.pool.width(number), value);
        let equal = self.pool.eq(number, constant);
        if state.knowledge().known(&mut self.pool, equal) == Some(true) {
            return Ok(value);
        }
        Err(self.stopped(state, Stop::Split(equal, None)))
    }

    /// The arm of the first condition that holds; `last` where none does.
    fn first_of(&mut self, arms: &[(Term, Term)], last: Term) -> Term {
        let mut result = last;
        for (condition, value) in arms.iter().rev() {
            result = self.pool.ite(*condition, *value, result);
        }
        result
    }
}
