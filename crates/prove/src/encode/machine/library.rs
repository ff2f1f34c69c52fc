//! The functions of the C library that have a meaning here. Of the others, results are any value.

use lydian_eval::{Traps, to_bytes};
use lydian_ir::arith::Overflow;
use lydian_ir::libc::{
    AllocationFn, ExactMathFn, FloatTestFn, HintFn, IntegerFn, LibFn, MODELLED, MemoryFn, Model,
    OverflowFn, VerificationFn,
};
use lydian_ir::{CTypeId, TrapKind};
use lydian_smt::{RoundingMode, Sort, Term, TermPool};

use crate::encode::encoded::InputRead;
use crate::encode::ids::ObjectId;
use crate::encode::machine::Machine;
use crate::encode::machine::call_effects::Call;
use crate::encode::memory::layout::{Cell, Layout};
use crate::encode::pointers::{Place, Targets, constant};
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;

/// The most bytes of an object that are listed as inputs.
const MOST_OF_AN_INPUT: u64 = 1024;

impl Machine<'_, '_> {
    /// Executes a call of a modelled function. The result is none where it is any value.
    pub(crate) fn model(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        model: &'static Model,
    ) -> Option<Term> {
        let result = match model.function {
            LibFn::Verification(function) => {
                return self.verification(pool, state, call, (function, model));
            }
            LibFn::Integer(function) => self.integer(pool, state, call, function),
            LibFn::ExactMath(function) => exact(pool, function, &call.values),
            LibFn::FloatTest(function) => float_test(pool, function, &call.values),
            LibFn::Overflow(function) => self.overflow(pool, state, call, function),
            LibFn::Hint(function) => return self.hint(pool, state, call, function),
            LibFn::Allocation(function) => return self.allocation(pool, state, call, function),
            LibFn::Memory(function) => return self.memory_function(pool, state, call, function),
            _ => None,
        };
        let row = MODELLED.iter().find(|row| row.name == model.name);
        if let Some(effects) = row.and_then(|row| row.effects)
            && !matches!(model.function, LibFn::Overflow(_))
        {
            let given: Vec<_> =
                call.args.iter().map(|arg| self.targets((call.instance, *arg))).collect();
            self.apply(state, &given, effects);
        }
        if result.is_none() {
            self.more(format!("the result of {}", model.name));
        }
        result
    }

    fn verification(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        (function, model): (VerificationFn, &Model),
    ) -> Option<Term> {
        let input = |machine: &mut Self, pool: &mut TermPool, state: &State| {
            let symbol = pool.fresh_var(model.name, Sort::BitVec(32));
            let ty = machine.int_type(call);
            ty.into_iter().for_each(|ty| machine.note_read(pool, state, (symbol, ty), model.name));
            symbol
        };
        match function {
            VerificationFn::VerifierAssume
            | VerificationFn::KleeAssume
            | VerificationFn::CproverAssume => {
                let bits = to_bytes(pool, *call.values.first()?);
                let is_narrow = function == VerificationFn::KleeAssume || pool.width(bits) <= 32;
                let bits = if is_narrow { bits } else { pool.extract(31, 0, bits) };
                let holds = pool.is_nonzero(bits);
                state.assume(pool, holds);
                None
            }
            VerificationFn::KleeMakeSymbolic => {
                let targets = self.targets((call.instance, *call.args.first()?));
                self.havoc_targets(state, &targets);
                self.note_object(pool, state, call, &targets);
                None
            }
            VerificationFn::KleeInt => Some(input(self, pool, state)),
            VerificationFn::KleeRange => {
                let value = input(self, pool, state);
                let (low, high) = (*call.values.first()?, *call.values.get(1)?);
                let (above, below) = (pool.sle(low, value), pool.slt(value, high));
                state.assume(pool, above);
                state.assume(pool, below);
                Some(value)
            }
            // The goal was noted where the call is met, and those that end the path did.
            VerificationFn::CproverAssert
            | VerificationFn::VerifierError
            | VerificationFn::ReachError
            | VerificationFn::KleeSilentExit => None,
        }
    }

    /// Notes the bytes of an object that a call fills as inputs, if it is known which object that is. So
    /// a run can be given to the program.
    fn note_object(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        targets: &Targets,
    ) {
        let exprs = self.analysed.inlined.instances[call.instance].exprs;
        let size = call.args.get(1).and_then(|size| constant(exprs, *size));
        let Some((Place::Object(object), offset)) = targets.first_key_value() else { return };
        let own = self.analysed.objects.all[*object].size;
        let is_whole = targets.len() == 1 && offset.exact() == Some(0) && own == size;
        let Some(size) = size.filter(|size| is_whole && *size <= MOST_OF_AN_INPUT) else { return };
        let zero = pool.bv(8, 0);
        let mut bytes = vec![zero; size as usize];
        for (offset, value) in self.contents(pool, state, *object) {
            let bits = to_bytes(pool, value);
            let places = bytes.iter_mut().skip(offset as usize);
            for (at, byte) in (0..pool.width(bits) / 8).zip(places) {
                *byte = pool.extract(8 * at + 7, 8 * at, bits);
            }
        }
        let (condition, ty) = (state.guard(pool), call.types[0]);
        let reads = bytes.into_iter().enumerate().map(|(at, symbol)| InputRead {
            symbol,
            condition,
            function: "klee_make_symbolic".to_owned(),
            ty,
            part: Some(at as u64),
            writes: None,
        });
        self.reads.extend(reads);
    }

    /// The scalars in an object, each with its offset.
    fn contents(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        object: ObjectId,
    ) -> Vec<(u64, Term)> {
        match self.analysed.layouts.of(object) {
            Layout::Cells(cells) => {
                let slots = cells.iter().enumerate();
                let value = |(at, cell): (usize, &Cell)| {
                    let slot = self.slot(SlotKind::Cell(object, at));
                    (cell.offset, self.value(pool, state, slot))
                };
                slots.map(value).collect()
            }
            Layout::Lanes(all) => {
                let mut found = Vec::new();
                for (at, lane) in all.lanes.iter().enumerate() {
                    let slot = self.slot(SlotKind::Lane(object, at));
                    let array = self.value(pool, state, slot);
                    for index in 0..all.count {
                        let place = pool.bv(all.index_bits, index);
                        let element = pool.select(array, place);
                        found.push((index * all.period + lane.offset, element));
                    }
                }
                found
            }
        }
    }

    /// The type that a call's register has.
    fn int_type(&self, call: &Call<'_>) -> Option<CTypeId> {
        let body = self.analysed.inlined.instances[call.instance].body;
        match &body.stmts[call.stmt] {
            lydian_ir::Stmt::Call { dst: Some(dst), .. } => Some(body.locals[*dst].ty),
            _ => None,
        }
    }

    fn integer(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        function: IntegerFn,
    ) -> Option<Term> {
        use IntegerFn::*;
        let a = *call.values.first()?;
        let mut traps = Traps::none();
        if matches!(function, Clz | Clzl | Clzll | Ctz | Ctzl | Ctzll) {
            let some = pool.is_nonzero(a);
            let none = pool.not(some);
            traps.add(pool, TrapKind::Unreachable, none);
        }
        let is_magnitude = matches!(function, Abs | Labs | Llabs);
        if is_magnitude && self.request.semantics.overflow == Overflow::Trap {
            let overflows = pool.sneg_overflows(a);
            traps.add(pool, TrapKind::SignedOverflow, overflows);
        }
        Self::leave(pool, state, &traps);
        match function {
            Abs | Labs | Llabs => {
                let (negative, negated) = (pool.sign_bit(a), pool.neg(a));
                Some(pool.ite(negative, negated, a))
            }
            Popcount | Popcountl | Popcountll => Some(ones(pool, a)),
            Parity | Parityl | Parityll => {
                let ones = ones(pool, a);
                let bit = pool.extract(0, 0, ones);
                Some(pool.zext(bit, 32))
            }
            Ctz | Ctzl | Ctzll => Some(first_one(pool, a, Side::Low)),
            Clz | Clzl | Clzll => Some(first_one(pool, a, Side::High)),
            Ffs | Ffsl | Ffsll => {
                let (some, zeros) = (pool.is_nonzero(a), first_one(pool, a, Side::Low));
                let (one, zero) = (pool.bv(32, 1), pool.bv(32, 0));
                let position = pool.add(zeros, one);
                Some(pool.ite(some, position, zero))
            }
            Bswap16 | Bswap32 | Bswap64 => {
                let bytes = (0..pool.width(a) / 8).map(|at| (at * 8 + 7, at * 8));
                let bytes: Vec<Term> =
                    bytes.map(|(high, low)| pool.extract(high, low, a)).collect();
                bytes.into_iter().reduce(|high, low| pool.concat(high, low))
            }
            Clrsb | Clrsbl | Clrsbll => None,
        }
    }

    fn overflow(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        function: OverflowFn,
    ) -> Option<Term> {
        let types = &self.analysed.inlined.program.types;
        let (&[a, b, pointer], &[a_ty, b_ty, pointer_ty]) = (&call.values[..], call.types) else {
            return None;
        };
        let result_ty = types.pointee(pointer_ty)?;
        let scalar = types.scalar(result_ty)?;
        let signed = [types.is_signed(a_ty), types.is_signed(b_ty), types.is_signed(result_ty)];
        let (a, b) = (to_bytes(pool, a), to_bytes(pool, b));
        let bits = scalar.bits();
        // Wide enough for any exact result.
        let wide = bits.max(pool.width(a) + pool.width(b)) + 2;
        let widened = |pool: &mut TermPool, value, signed| match signed {
            true => pool.sext(value, wide),
            false => pool.zext(value, wide),
        };
        let (x, y) = (widened(pool, a, signed[0]), widened(pool, b, signed[1]));
        let exact = match sum_of(function) {
            Arithmetic::Sum => pool.add(x, y),
            Arithmetic::Difference => pool.sub(x, y),
            Arithmetic::Product => pool.mul(x, y),
        };
        let stored = pool.extract(bits - 1, 0, exact);
        let back = widened(pool, stored, signed[2]);
        let targets = self.targets((call.instance, call.args[2]));
        self.store(pool, state, (pointer, &targets), (scalar, stored));
        let overflows = pool.neq(back, exact);
        Some(pool.bool_to_bv(overflows, 8))
    }

    fn hint(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        function: HintFn,
    ) -> Option<Term> {
        match function {
            HintFn::Assume => {
                let bits = to_bytes(pool, *call.values.first()?);
                let holds = pool.is_nonzero(bits);
                state.assume(pool, holds);
                None
            }
            HintFn::Expect | HintFn::ExpectWithProbability | HintFn::AssumeAligned => {
                call.values.first().copied()
            }
            HintFn::ConstantP
            | HintFn::ObjectSize
            | HintFn::DynamicObjectSize
            | HintFn::Prefetch
            | HintFn::GoesOn
            | HintFn::Anything => None,
        }
    }

    fn allocation(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        function: AllocationFn,
    ) -> Option<Term> {
        let at = (call.instance, call.stmt);
        let size = match function {
            AllocationFn::Free => return None,
            AllocationFn::Malloc => *call.values.first()?,
            AllocationFn::Calloc => {
                let (count, size) = (*call.values.first()?, *call.values.get(1)?);
                let (count, size) = (pool.zext(count, 128), pool.zext(size, 128));
                let product = pool.mul(count, size);
                let most = pool.bv(128, u64::MAX);
                let fits = pool.ule(product, most);
                let (low, high) = (pool.extract(63, 0, product), pool.bv(64, u64::MAX));
                pool.ite(fits, low, high)
            }
            AllocationFn::Realloc => {
                self.more("the contents of memory after realloc");
                *call.values.get(1)?
            }
            AllocationFn::Strdup | AllocationFn::Strndup => {
                self.more("the contents of a copied string");
                let size = pool.fresh_var("length", Sort::BitVec(32));
                pool.zext(size, 64)
            }
        };
        Some(self.try_allocate(pool, state, at, size))
    }

    fn memory_function(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        call: &Call<'_>,
        function: MemoryFn,
    ) -> Option<Term> {
        use MemoryFn::*;
        let exprs = self.analysed.inlined.instances[call.instance].exprs;
        let size = call.args.get(2).and_then(|size| constant(exprs, *size));
        let to = self.targets((call.instance, *call.args.first()?));
        let first = call.values[0];
        match (function, size) {
            (Memcpy | Memmove, Some(size)) => {
                let from = self.targets((call.instance, call.args[1]));
                self.copy(pool, state, ((first, &to), (call.values[1], &from)), size);
            }
            (Memset, Some(size)) => {
                let byte = pool.extract(7, 0, call.values[1]);
                self.fill(pool, state, (first, &to), (byte, size));
            }
            (Memcpy | Memmove | Memset | Strcpy | Stpcpy | Strncpy | Strcat | Strncat, _) => {
                self.more("memory that a function of the C library writes");
                self.havoc_targets(state, &to);
            }
            _ => self.more("results of functions on strings"),
        }
        let gives_first =
            matches!(function, Memcpy | Memmove | Memset | Strcpy | Strncpy | Strcat | Strncat);
        gives_first.then_some(first)
    }
}

fn exact(pool: &mut TermPool, function: ExactMathFn, values: &[Term]) -> Option<Term> {
    use ExactMathFn::*;
    let a = *values.first()?;
    if !matches!(pool.sort(a), Sort::Float(_)) {
        return None;
    }
    let mode = match function {
        Fabs | Fabsf => return Some(pool.fp_abs(a)),
        Sqrt | Sqrtf => return Some(pool.fp_sqrt(a)),
        Floor | Floorf => RoundingMode::TowardNegative,
        Ceil | Ceilf => RoundingMode::TowardPositive,
        Trunc | Truncf => RoundingMode::TowardZero,
        Round | Roundf => RoundingMode::NearestAway,
        Rint | Rintf | Nearbyint | Nearbyintf => RoundingMode::NearestEven,
        _ => return None,
    };
    Some(pool.fp_round(mode, a))
}

fn float_test(pool: &mut TermPool, function: FloatTestFn, values: &[Term]) -> Option<Term> {
    use FloatTestFn::*;
    let a = *values.first()?;
    let b = values.get(1).copied().unwrap_or(a);
    if !matches!((pool.sort(a), pool.sort(b)), (Sort::Float(_), Sort::Float(_))) {
        return None;
    }
    let test = match function {
        Isnan => pool.fp_is_nan(a),
        Isinf => pool.fp_is_inf(a),
        Isfinite => {
            let (nan, infinite) = (pool.fp_is_nan(a), pool.fp_is_inf(a));
            let other = pool.or(nan, infinite);
            pool.not(other)
        }
        Isgreater => pool.fp_lt(b, a),
        Isgreaterequal => pool.fp_le(b, a),
        Isless => pool.fp_lt(a, b),
        Islessequal => pool.fp_le(a, b),
        Islessgreater => {
            let (less, greater) = (pool.fp_lt(a, b), pool.fp_lt(b, a));
            pool.or(less, greater)
        }
        Isunordered => {
            let (a, b) = (pool.fp_is_nan(a), pool.fp_is_nan(b));
            pool.or(a, b)
        }
        IsinfSign | Isnormal | Signbit => return None,
    };
    Some(pool.bool_to_bv(test, 32))
}

enum Arithmetic {
    Sum,
    Difference,
    Product,
}

const fn sum_of(function: OverflowFn) -> Arithmetic {
    use OverflowFn::*;
    match function {
        AddOverflow | SaddOverflow | UaddOverflow | SaddlOverflow | UaddlOverflow
        | SaddllOverflow | UaddllOverflow => Arithmetic::Sum,
        SubOverflow | SsubOverflow | UsubOverflow | SsublOverflow | UsublOverflow
        | SsubllOverflow | UsubllOverflow => Arithmetic::Difference,
        MulOverflow | SmulOverflow | UmulOverflow | SmullOverflow | UmullOverflow
        | SmulllOverflow | UmulllOverflow => Arithmetic::Product,
    }
}

/// The number of ones, 32 bits.
fn ones(pool: &mut TermPool, a: Term) -> Term {
    let mut sum = pool.bv(32, 0);
    for at in 0..pool.width(a) {
        let bit = pool.extract(at, at, a);
        let bit = pool.zext(bit, 32);
        sum = pool.add(sum, bit);
    }
    sum
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

/// The number of zeros before the first one from a side, 32 bits; the width where there is none.
fn first_one(pool: &mut TermPool, a: Term, side: Side) -> Term {
    let width = pool.width(a);
    let mut result = pool.bv(32, u64::from(width));
    for distance in (0..width).rev() {
        let at = if side == Side::Low { distance } else { width - 1 - distance };
        let bit = pool.extract(at, at, a);
        let (is_one, distance) = (pool.is_nonzero(bit), pool.bv(32, u64::from(distance)));
        result = pool.ite(is_one, distance, result);
    }
    result
}
