//! The meaning of a pure expression: a term, and the conditions under which it traps.

use lydian_ir::arith::Overflow;
use lydian_ir::expr::type_of;
use lydian_ir::{
    BinOp, BitField, CTypes, CastOp, CmpOp, Expr, ExprArena, ExprId, FuncId, GlobalId, LocalId,
    RecordId, TrapKind, Type, UnOp,
};
use lydian_smt::{Sort, Term, TermPool};

use crate::arith;
use crate::soft;
use crate::sort::{constant, float_sort, sort_of};
use crate::traps::Traps;

/// Gives an evaluation the values that an expression reads from a state, and is told how the
/// evaluation uses addresses.
///
/// Every method may stop the evaluation with a reason of the engine's own, such as an address that
/// must be decided first.
pub trait StateReader {
    /// Why an evaluation has no result yet.
    type Stop;

    /// The value of a register, of the sort of its type.
    fn local(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Self::Stop>;
    /// The address of a memory local.
    fn local_address(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Self::Stop>;
    /// The address of a global.
    fn global_address(&mut self, pool: &mut TermPool, global: GlobalId)
    -> Result<Term, Self::Stop>;
    /// The address of a function.
    fn function_address(&mut self, pool: &mut TermPool, func: FuncId) -> Result<Term, Self::Stop>;
    /// The value of type `ty` at an address, of the sort of the type; adds the conditions under
    /// which the access traps. `ty` may be an integer of any number of whole bytes up to 16.
    fn load(
        &mut self,
        pool: &mut TermPool,
        ty: Type,
        addr: Term,
        volatile: bool,
        traps: &mut Traps,
    ) -> Result<Term, Self::Stop>;
    /// The type of a register.
    fn local_type(&self, local: LocalId) -> Type;
    /// A value that terms do not model, such as one of inline assembly: any value of the sort, or a stop.
    /// `what` is a noun for messages.
    fn unmodelled(
        &mut self,
        pool: &mut TermPool,
        what: &str,
        sort: Sort,
    ) -> Result<Term, Self::Stop>;
    /// The index of a subscript into an array of known length, which has `count` elements of `size`
    /// bytes from `base` on. The result has the same value wherever control is and no condition in
    /// `traps` holds.
    fn subscript(
        &mut self,
        pool: &mut TermPool,
        base: Term,
        index: Term,
        (count, size): (u64, u64),
        traps: &mut Traps,
    ) -> Result<Term, Self::Stop> {
        let _ = (pool, base, count, size, traps);
        Ok(index)
    }
    /// Notes the expression of the address that [`Self::load`] is called with next.
    fn address_of_read(&mut self, addr: ExprId) {
        let _ = addr;
    }
    /// Notes that the evaluation of an address begins, from which a value will be read. Returns a term to
    /// be passed to [`Self::address_ends`].
    fn address_begins(&mut self) -> Option<Term> {
        None
    }
    /// Notes that the value was read. `outer` is the result of [`Self::address_begins`].
    fn address_ends(&mut self, outer: Option<Term>) {
        let _ = outer;
    }
    /// Notes that the program computed the address `result` as `base + offset`. Rewriting may have hidden
    /// that in the term.
    fn derived(&mut self, pool: &TermPool, result: Term, base: Term, offset: Term) {
        let _ = (pool, result, base, offset);
    }
    /// Notes that an address is used as that of a struct or union.
    fn as_record(&mut self, pool: &TermPool, base: Term, record: RecordId) {
        let _ = (pool, base, record);
    }
    /// The distance from the second of two addresses to the first, in bytes.
    fn distance(&mut self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Result<Term, Self::Stop> {
        Ok(pool.sub(a, b))
    }
    /// Notes that two values, which may be addresses, are compared for equality, or else for their
    /// order or distance. Returns a Boolean for whether they are equal, or else for whether the first lies
    /// below the second, if that of their numbers is not that of the addresses.
    fn related(
        &mut self,
        pool: &mut TermPool,
        values: [Term; 2],
        equality: bool,
    ) -> Result<Option<Term>, Self::Stop> {
        let _ = (pool, values, equality);
        Ok(None)
    }
    /// The lowest `bits` bits of a pointer, if they are the same wherever its object lies.
    fn low_bits(&mut self, pool: &mut TermPool, value: Term, bits: u32) -> Option<u64> {
        let _ = (pool, value, bits);
        None
    }
    /// Notes that a value, which may be an address, is used as a number.
    fn as_number(&mut self, pool: &mut TermPool, value: Term) {
        let _ = (pool, value);
    }
}

/// Some of the lowest bits of a pointer, as a number.
struct LowBits {
    pointer: ExprId,
    /// The type of the number.
    ty: Type,
    mask: u64,
}

/// Evaluates the expressions of one function.
pub struct Evaluation<'a> {
    /// The C types, for the layout of records.
    pub types: &'a CTypes,
    /// The expressions.
    pub exprs: &'a ExprArena,
    /// The effect of signed overflow.
    pub overflow: Overflow,
    /// Whether a read traps at a subscript beyond an array of known length. Predicates of labels trap there.
    /// A read of the program itself does what memory says.
    pub subscripts: bool,
}

impl<'a> Evaluation<'a> {
    /// For expressions of this arena in a program where signed overflow wraps.
    pub const fn new(types: &'a CTypes, exprs: &'a ExprArena) -> Self {
        Self { types, exprs, overflow: Overflow::Wrap, subscripts: false }
    }

    /// Adds the conditions under which an address that is read has a subscript beyond its array of known
    /// length, if such reads trap.
    fn check_subscripts<E: StateReader>(
        &self,
        pool: &mut TermPool,
        addr: ExprId,
        reader: &mut E,
        traps: &mut Traps,
    ) -> Result<(), E::Stop> {
        if !self.subscripts {
            return Ok(());
        }
        let mut at = addr;
        loop {
            at = match &self.exprs[at] {
                Expr::Field { base, .. } => *base,
                Expr::Index { base, index, bound, .. } => {
                    if let Some(bound) = bound {
                        let index = self.eval(pool, *index, reader, traps)?;
                        let bound = pool.bv(64, *bound);
                        let beyond = pool.uge(index, bound);
                        traps.add(pool, TrapKind::OutOfBounds, beyond);
                    }
                    *base
                }
                _ => return Ok(()),
            };
        }
    }

    /// The value of `expr`; its trap conditions are added to `traps` in order of evaluation.
    pub fn eval<E: StateReader>(
        &self,
        pool: &mut TermPool,
        expr: ExprId,
        reader: &mut E,
        traps: &mut Traps,
    ) -> Result<Term, E::Stop> {
        match &self.exprs[expr] {
            Expr::Const(ty, bits) => Ok(constant(pool, *ty, *bits)),
            Expr::Local(local) => reader.local(pool, *local),
            Expr::AddrLocal(local) => reader.local_address(pool, *local),
            Expr::AddrGlobal(global) => reader.global_address(pool, *global),
            Expr::AddrFunc(func) => reader.function_address(pool, *func),
            Expr::Load { ty, addr, volatile } => {
                self.read(pool, *addr, (*ty, *volatile), reader, traps)
            }
            Expr::LoadBits { field, addr } => {
                let holder = Type::Int((field.bytes() * 8) as u8);
                let bytes = self.read(pool, *addr, (holder, false), reader, traps)?;
                Ok(extract_bit_field(pool, *field, bytes))
            }
            Expr::Unary(op, a) => {
                let a = self.eval(pool, *a, reader, traps)?;
                if *op == UnOp::FNeg && matches!(pool.sort(a), Sort::BitVec(_)) {
                    return Ok(soft::negated(pool, a));
                }
                Ok(arith::unary(pool, *op, a, self.overflow, traps))
            }
            Expr::Binary(op, a, b) => {
                if let Some(low) = self.low_bits(*op, *a, *b, reader) {
                    let value = self.eval(pool, low.pointer, reader, traps)?;
                    let bits = u64::BITS - low.mask.leading_zeros();
                    if let Some(known) = reader.low_bits(pool, value, bits) {
                        return Ok(constant(pool, low.ty, u128::from(known & low.mask)));
                    }
                }
                let soft = op.is_float().then(|| self.soft_float(*a, reader)).flatten();
                let a = self.eval(pool, *a, reader, traps)?;
                let b = self.eval(pool, *b, reader, traps)?;
                if let Some(ty) = soft {
                    return match soft::binary(pool, *op, ty, a, b) {
                        Some(result) => Ok(result),
                        None => reader.unmodelled(pool, soft::name(ty), sort_of(ty)),
                    };
                }
                Ok(arith::binary(pool, *op, a, b, self.overflow, traps))
            }
            Expr::Cmp(op, a, b) => {
                let soft = op.is_float().then(|| self.soft_float(*a, reader)).flatten();
                let a = self.eval(pool, *a, reader, traps)?;
                let b = self.eval(pool, *b, reader, traps)?;
                if let Some(ty) = soft {
                    return match soft::compare(pool, *op, ty, a, b) {
                        Some(result) => Ok(result),
                        None => reader.unmodelled(pool, soft::name(ty), Sort::Bool),
                    };
                }
                let is_wide = pool.sort(a) == Sort::BitVec(64);
                let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
                let related = if is_wide { reader.related(pool, [a, b], equality)? } else { None };
                Ok(match related {
                    Some(holds) if *op == CmpOp::Eq || op.is_less() => holds,
                    Some(holds) => pool.not(holds),
                    None => arith::compare(pool, *op, a, b),
                })
            }
            Expr::Cast(op, to, a) => {
                let from = *a;
                if (*op, *to) == (CastOp::Bits, Type::Ptr)
                    && let Some((pointer, distance)) = self.moved_as_number(from, reader)
                {
                    let base = self.eval(pool, pointer, reader, traps)?;
                    let distance = pool.bv_signed(64, distance);
                    let result = pool.add(base, distance);
                    reader.derived(pool, result, base, distance);
                    return Ok(result);
                }
                if *op == CastOp::Bits
                    && let Some(float) = self.sign_cleared(from, reader)
                {
                    let float = self.eval(pool, float, reader, traps)?;
                    return Ok(pool.fp_abs(float));
                }
                let a = self.eval(pool, from, reader, traps)?;
                if let Some(from) = self.soft_cast(*op, from, *to, reader) {
                    let named = if from.is_soft_float() { from } else { *to };
                    return match soft::cast(pool, *op, from, *to, a, traps) {
                        Some(result) => Ok(result),
                        None => reader.unmodelled(pool, soft::name(named), sort_of(*to)),
                    };
                }
                if (*op, *to) == (CastOp::Bits, Type::Int(64)) {
                    reader.as_number(pool, a);
                }
                Ok(arith::cast(pool, *op, *to, a, traps))
            }
            Expr::Field { base, record, field } => {
                let base = self.eval(pool, *base, reader, traps)?;
                reader.as_record(pool, base, *record);
                let offset = pool.bv(64, field_offset(self.types, *record, *field));
                let result = pool.add(base, offset);
                reader.derived(pool, result, base, offset);
                Ok(result)
            }
            Expr::Index { base, index, size, bound } => {
                let base = self.eval(pool, *base, reader, traps)?;
                let mut index = self.eval(pool, *index, reader, traps)?;
                if let Some(count) = bound {
                    index = reader.subscript(pool, base, index, (*count, *size), traps)?;
                }
                let size = pool.bv(64, *size);
                let offset = pool.mul(index, size);
                let result = pool.add(base, offset);
                reader.derived(pool, result, base, offset);
                Ok(result)
            }
            Expr::Select { test, then, otherwise } => {
                let test = self.eval(pool, *test, reader, traps)?;
                match pool.as_bool(test) {
                    Some(true) => self.eval(pool, *then, reader, traps),
                    Some(false) => self.eval(pool, *otherwise, reader, traps),
                    None => {
                        let not_test = pool.not(test);
                        let then = self.eval_where(pool, test, *then, reader, traps)?;
                        let otherwise =
                            self.eval_where(pool, not_test, *otherwise, reader, traps)?;
                        Ok(pool.ite(test, then, otherwise))
                    }
                }
            }
            Expr::PtrDiff { a, b, size } => {
                let a = self.eval(pool, *a, reader, traps)?;
                let b = self.eval(pool, *b, reader, traps)?;
                reader.related(pool, [a, b], false)?;
                let bytes = reader.distance(pool, [a, b])?;
                Ok(exact_quotient(pool, bytes, *size))
            }
        }
    }

    /// The value in memory of a type, which may be volatile, at the address that an expression gives.
    fn read<E: StateReader>(
        &self,
        pool: &mut TermPool,
        addr: ExprId,
        (ty, volatile): (Type, bool),
        reader: &mut E,
        traps: &mut Traps,
    ) -> Result<Term, E::Stop> {
        self.check_subscripts(pool, addr, reader, traps)?;
        let outer = reader.address_begins();
        let address = self.eval(pool, addr, reader, traps)?;
        reader.address_of_read(addr);
        let value = reader.load(pool, ty, address, volatile, traps)?;
        reader.address_ends(outer);
        Ok(value)
    }

    /// The value of an operand that is evaluated only if `chosen` holds. It traps only then.
    fn eval_where<E: StateReader>(
        &self,
        pool: &mut TermPool,
        chosen: Term,
        expr: ExprId,
        reader: &mut E,
        traps: &mut Traps,
    ) -> Result<Term, E::Stop> {
        let mut own = Traps::none();
        let value = self.eval(pool, expr, reader, &mut own)?;
        for (kind, condition) in own.iter() {
            let condition = pool.and(chosen, condition);
            traps.add(pool, kind, condition);
        }
        Ok(value)
    }

    /// The pointer and the constant of a number that is a moved address. `(uintptr_t)p -
    /// offsetof(struct item, link)` as a pointer does not depend on the place of the object.
    fn moved_as_number<E: StateReader>(&self, number: ExprId, reader: &E) -> Option<(ExprId, i64)> {
        let constant = |expr: ExprId| match self.exprs[expr] {
            Expr::Const(Type::Int(64), value) => Some(value as i64),
            _ => None,
        };
        match self.exprs[number] {
            Expr::Cast(CastOp::Bits, Type::Int(64), pointer) => {
                let ty = type_of(self.exprs, pointer, |local| reader.local_type(local));
                (ty == Type::Ptr).then_some((pointer, 0))
            }
            Expr::Binary(BinOp::AddU, a, b) => {
                let (pointer, moved) = self.moved_as_number(a, reader)?;
                Some((pointer, moved.checked_add(constant(b)?)?))
            }
            Expr::Binary(BinOp::SubU, a, b) => {
                let (pointer, moved) = self.moved_as_number(a, reader)?;
                Some((pointer, moved.checked_sub(constant(b)?)?))
            }
            _ => None,
        }
    }

    /// The low bits of a pointer, if an operator gives such a number (`(uintptr_t)p & 3`).
    fn low_bits<E: StateReader>(
        &self,
        op: BinOp,
        number: ExprId,
        mask: ExprId,
        reader: &E,
    ) -> Option<LowBits> {
        let (ty, mask) = self.constant_of(mask)?;
        let low = match op {
            BinOp::And => mask,
            BinOp::RemU if mask.is_power_of_two() => mask - 1,
            _ => return None,
        };
        let mut number = number;
        while let Expr::Cast(CastOp::Trunc | CastOp::SExt | CastOp::ZExt, _, inner) =
            self.exprs[number]
        {
            number = inner;
        }
        let Expr::Cast(CastOp::Bits, Type::Int(64), pointer) = self.exprs[number] else {
            return None;
        };
        let is_pointer =
            type_of(self.exprs, pointer, |local| reader.local_type(local)) == Type::Ptr;
        let mask = u64::try_from(low).ok().filter(|_| is_pointer)?;
        Some(LowBits { pointer, ty, mask })
    }

    /// The type and the bits of a constant, or of an operator on two constants.
    fn constant_of(&self, expr: ExprId) -> Option<(Type, u128)> {
        match self.exprs[expr] {
            Expr::Const(ty, bits) => Some((ty, bits)),
            Expr::Binary(op, a, b) => {
                let ((ty, a), (_, b)) = (self.constant_of(a)?, self.constant_of(b)?);
                Some((ty, lydian_ir::arith::binary(op, ty, a, b, self.overflow).ok()?))
            }
            _ => None,
        }
    }

    /// The type of an expression if it is a float that terms do not model.
    fn soft_float<E: StateReader>(&self, expr: ExprId, reader: &E) -> Option<Type> {
        let ty = type_of(self.exprs, expr, |local| reader.local_type(local));
        ty.is_soft_float().then_some(ty)
    }

    /// The float whose bits are read with the sign cleared, as the mutant `fabs(x)` does.
    fn sign_cleared<E: StateReader>(&self, bits: ExprId, reader: &E) -> Option<ExprId> {
        let Expr::Binary(BinOp::And, taken, mask) = self.exprs[bits] else { return None };
        let Expr::Cast(CastOp::Bits, Type::Int(width), float) = self.exprs[taken] else {
            return None;
        };
        let ty = type_of(self.exprs, float, |local| reader.local_type(local));
        let but_sign = u128::MAX >> (129 - u32::from(width));
        let clears = matches!(self.exprs[mask], Expr::Const(_, bits) if bits == but_sign);
        (clears && float_sort(ty).is_some()).then_some(float)
    }

    /// The operand's type of a conversion that terms do not model.
    fn soft_cast<E: StateReader>(
        &self,
        op: CastOp,
        operand: ExprId,
        to: Type,
        reader: &E,
    ) -> Option<Type> {
        let converts =
            matches!(op, CastOp::SToF | CastOp::UToF | CastOp::FToS | CastOp::FToU | CastOp::FToF);
        if !converts {
            return None;
        }
        let from = type_of(self.exprs, operand, |local| reader.local_type(local));
        (from.is_soft_float() || to.is_soft_float()).then_some(from)
    }
}

/// The byte offset of a member that is no bit-field.
pub fn field_offset(types: &CTypes, record: RecordId, field: u32) -> u64 {
    types.records[record].fields[field as usize].bit_offset / 8
}

/// The value of a bit-field, extended to its type, from the bytes that hold it.
pub fn extract_bit_field(pool: &mut TermPool, field: BitField, bytes: Term) -> Term {
    let (low, bits) = (u32::from(field.bit), u32::from(field.bits));
    let value = pool.extract(low + bits - 1, low, bytes);
    let width = field.ty.bits();
    if bits >= width {
        return pool.extract(width - 1, 0, value);
    }
    if field.signed { pool.sext(value, width) } else { pool.zext(value, width) }
}

/// The bytes that hold a bit-field after the low bits of `value` were written to it.
pub fn insert_bit_field(pool: &mut TermPool, field: BitField, bytes: Term, value: Term) -> Term {
    let bits = u32::from(field.bits);
    let kept = pool.resize_unsigned(value, bits.max(pool.width(value)));
    let kept = pool.extract(bits - 1, 0, kept);
    replace_bits(pool, bytes, kept, field.bit.into())
}

/// `old` with the bits of `new` in place of its own from position `low` on.
pub fn replace_bits(pool: &mut TermPool, old: Term, new: Term, low: u32) -> Term {
    let (width, high) = (pool.width(old), low + pool.width(new));
    let mut bits = new;
    if low > 0 {
        let below = pool.extract(low - 1, 0, old);
        bits = pool.concat(bits, below);
    }
    if high < width {
        let above = pool.extract(width - 1, high, old);
        bits = pool.concat(above, bits);
    }
    bits
}

/// `bytes / size`, which C defines only if there is no remainder; a shift if possible, so that the
/// distance of `&a[i]` and `a` becomes `i` again.
fn exact_quotient(pool: &mut TermPool, bytes: Term, size: u64) -> Term {
    if size.is_power_of_two() {
        let amount = pool.bv(64, u64::from(size.trailing_zeros()));
        return pool.ashr(bytes, amount);
    }
    let size = pool.bv(64, size);
    pool.sdiv(bytes, size)
}
