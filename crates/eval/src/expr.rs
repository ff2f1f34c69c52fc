//! The meaning of a pure expression: a term, and where it traps.

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

/// Where an expression's leaves get their values from.
///
/// Every method may stop the evaluation with a reason of the engine's own, such as an address that
/// must be decided first.
pub trait Environment {
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
    /// The value of what terms do not model, named as a noun: any of the sort, or a stop.
    fn unmodelled(
        &mut self,
        pool: &mut TermPool,
        what: &str,
        sort: Sort,
    ) -> Result<Term, Self::Stop>;
    /// The index of a subscript into an array of known length, `count` elements of `size` bytes from
    /// `base` on: a term of the same value where control is and nothing that is added to `traps`
    /// happens.
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
    /// An address that is read from is evaluated from now on; gives what [`Self::address_ends`] wants.
    fn address_begins(&mut self) -> Option<Term> {
        None
    }
    /// It was read from.
    fn address_ends(&mut self, outer: Option<Term>) {
        let _ = outer;
    }
    /// Notes that the address `result` is `base + offset` in the program's eyes, which the term
    /// alone may no longer show.
    fn derived(&mut self, pool: &TermPool, result: Term, base: Term, offset: Term) {
        let _ = (pool, result, base, offset);
    }
    /// Notes that an address is used as that of a struct or union.
    fn as_record(&mut self, pool: &TermPool, base: Term, record: RecordId) {
        let _ = (pool, base, record);
    }
    /// How far the first of two addresses lies behind the second.
    fn distance(&mut self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Result<Term, Self::Stop> {
        Ok(pool.sub(a, b))
    }
    /// Notes that two values, which may be addresses, are compared for equality, or else for their
    /// order or distance. Gives whether the first lies below the second where their numbers do not
    /// say that.
    fn related(
        &mut self,
        pool: &mut TermPool,
        values: [Term; 2],
        equality: bool,
    ) -> Result<Option<Term>, Self::Stop> {
        let _ = (pool, values, equality);
        Ok(None)
    }
    /// Whether so many low bits of a value are zero wherever what it points to lies.
    fn is_aligned(&mut self, pool: &mut TermPool, value: Term, bits: u32) -> bool {
        let _ = (pool, value, bits);
        false
    }
    /// Notes that a value, which may be an address, is used as a number.
    fn as_number(&mut self, pool: &mut TermPool, value: Term) {
        let _ = (pool, value);
    }
}

/// Evaluates the expressions of one function.
pub struct Evaluation<'a> {
    /// The C types, for the layout of records.
    pub types: &'a CTypes,
    /// The expressions.
    pub exprs: &'a ExprArena,
    /// What signed overflow does.
    pub overflow: Overflow,
    /// Whether a read traps at a subscript that its array of known length does not have, as it does in
    /// predicates. What the program itself does there, memory says.
    pub subscripts: bool,
}

impl<'a> Evaluation<'a> {
    /// For expressions of this arena in a program where signed overflow wraps.
    pub const fn new(types: &'a CTypes, exprs: &'a ExprArena) -> Self {
        Self { types, exprs, overflow: Overflow::Wrap, subscripts: false }
    }

    /// Adds where an address that is read has a subscript which its array of known length does not
    /// have, if that traps.
    fn check_subscripts<E: Environment>(
        &self,
        pool: &mut TermPool,
        addr: ExprId,
        env: &mut E,
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
                        let index = self.eval(pool, *index, env, traps)?;
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
    pub fn eval<E: Environment>(
        &self,
        pool: &mut TermPool,
        expr: ExprId,
        env: &mut E,
        traps: &mut Traps,
    ) -> Result<Term, E::Stop> {
        match &self.exprs[expr] {
            Expr::Const(ty, bits) => Ok(constant(pool, *ty, *bits)),
            Expr::Local(local) => env.local(pool, *local),
            Expr::AddrLocal(local) => env.local_address(pool, *local),
            Expr::AddrGlobal(global) => env.global_address(pool, *global),
            Expr::AddrFunc(func) => env.function_address(pool, *func),
            Expr::Load { ty, addr, volatile } => {
                self.check_subscripts(pool, *addr, env, traps)?;
                let outer = env.address_begins();
                let addr = self.eval(pool, *addr, env, traps)?;
                let value = env.load(pool, *ty, addr, *volatile, traps)?;
                env.address_ends(outer);
                Ok(value)
            }
            Expr::LoadBits { field, addr } => {
                self.check_subscripts(pool, *addr, env, traps)?;
                let outer = env.address_begins();
                let addr = self.eval(pool, *addr, env, traps)?;
                let holder = Type::Int((field.bytes() * 8) as u8);
                let bytes = env.load(pool, holder, addr, false, traps)?;
                env.address_ends(outer);
                Ok(extract_bit_field(pool, *field, bytes))
            }
            Expr::Unary(op, a) => {
                let a = self.eval(pool, *a, env, traps)?;
                if *op == UnOp::FNeg && matches!(pool.sort(a), Sort::BitVec(_)) {
                    return Ok(soft::negated(pool, a));
                }
                Ok(arith::unary(pool, *op, a, self.overflow, traps))
            }
            Expr::Binary(op, a, b) => {
                if let Some((pointer, ty, bits)) = self.low_bits(*op, *a, *b, env) {
                    let value = self.eval(pool, pointer, env, traps)?;
                    if env.is_aligned(pool, value, bits) {
                        return Ok(constant(pool, ty, 0));
                    }
                }
                let soft = op.is_float().then(|| self.soft_float(*a, env)).flatten();
                let a = self.eval(pool, *a, env, traps)?;
                let b = self.eval(pool, *b, env, traps)?;
                if let Some(ty) = soft {
                    return match soft::binary(pool, *op, ty, a, b) {
                        Some(result) => Ok(result),
                        None => env.unmodelled(pool, soft::name(ty), sort_of(ty)),
                    };
                }
                Ok(arith::binary(pool, *op, a, b, self.overflow, traps))
            }
            Expr::Cmp(op, a, b) => {
                let soft = op.is_float().then(|| self.soft_float(*a, env)).flatten();
                let a = self.eval(pool, *a, env, traps)?;
                let b = self.eval(pool, *b, env, traps)?;
                if let Some(ty) = soft {
                    return match soft::compare(pool, *op, ty, a, b) {
                        Some(result) => Ok(result),
                        None => env.unmodelled(pool, soft::name(ty), Sort::Bool),
                    };
                }
                let is_wide = pool.sort(a) == Sort::BitVec(64);
                let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
                let below = if is_wide { env.related(pool, [a, b], equality)? } else { None };
                Ok(match below.filter(|_| !equality) {
                    Some(below) if op.is_less() => below,
                    Some(below) => pool.not(below),
                    None => arith::compare(pool, *op, a, b),
                })
            }
            Expr::Cast(op, to, a) => {
                let from = *a;
                if (*op, *to) == (CastOp::Bits, Type::Ptr)
                    && let Some((pointer, distance)) = self.moved_as_number(from, env)
                {
                    let base = self.eval(pool, pointer, env, traps)?;
                    let distance = pool.bv_signed(64, distance);
                    let result = pool.add(base, distance);
                    env.derived(pool, result, base, distance);
                    return Ok(result);
                }
                if *op == CastOp::Bits
                    && let Some(float) = self.sign_cleared(from, env)
                {
                    let float = self.eval(pool, float, env, traps)?;
                    return Ok(pool.fp_abs(float));
                }
                let a = self.eval(pool, from, env, traps)?;
                if let Some(from) = self.soft_cast(*op, from, *to, env) {
                    let named = if from.is_soft_float() { from } else { *to };
                    return match soft::cast(pool, *op, from, *to, a, traps) {
                        Some(result) => Ok(result),
                        None => env.unmodelled(pool, soft::name(named), sort_of(*to)),
                    };
                }
                if (*op, *to) == (CastOp::Bits, Type::Int(64)) {
                    env.as_number(pool, a);
                }
                Ok(arith::cast(pool, *op, *to, a, traps))
            }
            Expr::Field { base, record, field } => {
                let base = self.eval(pool, *base, env, traps)?;
                env.as_record(pool, base, *record);
                let offset = pool.bv(64, field_offset(self.types, *record, *field));
                let result = pool.add(base, offset);
                env.derived(pool, result, base, offset);
                Ok(result)
            }
            Expr::Index { base, index, size, bound } => {
                let base = self.eval(pool, *base, env, traps)?;
                let mut index = self.eval(pool, *index, env, traps)?;
                if let Some(count) = bound {
                    index = env.subscript(pool, base, index, (*count, *size), traps)?;
                }
                let size = pool.bv(64, *size);
                let offset = pool.mul(index, size);
                let result = pool.add(base, offset);
                env.derived(pool, result, base, offset);
                Ok(result)
            }
            Expr::Select { test, then, otherwise } => {
                let test = self.eval(pool, *test, env, traps)?;
                match pool.as_bool(test) {
                    Some(true) => self.eval(pool, *then, env, traps),
                    Some(false) => self.eval(pool, *otherwise, env, traps),
                    None => {
                        let not_test = pool.not(test);
                        let then = self.eval_where(pool, test, *then, env, traps)?;
                        let otherwise = self.eval_where(pool, not_test, *otherwise, env, traps)?;
                        Ok(pool.ite(test, then, otherwise))
                    }
                }
            }
            Expr::PtrDiff { a, b, size } => {
                let a = self.eval(pool, *a, env, traps)?;
                let b = self.eval(pool, *b, env, traps)?;
                env.related(pool, [a, b], false)?;
                let bytes = env.distance(pool, [a, b])?;
                Ok(exact_quotient(pool, bytes, *size))
            }
        }
    }

    /// The value of an operand that is evaluated only where `chosen` holds: it traps only there.
    fn eval_where<E: Environment>(
        &self,
        pool: &mut TermPool,
        chosen: Term,
        expr: ExprId,
        env: &mut E,
        traps: &mut Traps,
    ) -> Result<Term, E::Stop> {
        let mut own = Traps::none();
        let value = self.eval(pool, expr, env, &mut own)?;
        for (kind, condition) in own.iter() {
            let condition = pool.and(chosen, condition);
            traps.add(pool, kind, condition);
        }
        Ok(value)
    }

    /// The pointer and the constant that make a number, where it is an address that is moved: what
    /// `(uintptr_t)p - offsetof(struct item, link)` means as a pointer does not depend on where the
    /// object lies.
    fn moved_as_number<E: Environment>(&self, number: ExprId, env: &E) -> Option<(ExprId, i64)> {
        let constant = |expr: ExprId| match self.exprs[expr] {
            Expr::Const(Type::Int(64), value) => Some(value as i64),
            _ => None,
        };
        match self.exprs[number] {
            Expr::Cast(CastOp::Bits, Type::Int(64), pointer) => {
                let ty = type_of(self.exprs, pointer, |local| env.local_type(local));
                (ty == Type::Ptr).then_some((pointer, 0))
            }
            Expr::Binary(BinOp::AddU, a, b) => {
                let (pointer, moved) = self.moved_as_number(a, env)?;
                Some((pointer, moved.checked_add(constant(b)?)?))
            }
            Expr::Binary(BinOp::SubU, a, b) => {
                let (pointer, moved) = self.moved_as_number(a, env)?;
                Some((pointer, moved.checked_sub(constant(b)?)?))
            }
            _ => None,
        }
    }

    /// The pointer of which an operator gives the low bits as a number (`(uintptr_t)p & 3`), the type of
    /// the result, and how many bits.
    fn low_bits<E: Environment>(
        &self,
        op: BinOp,
        number: ExprId,
        mask: ExprId,
        env: &E,
    ) -> Option<(ExprId, Type, u32)> {
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
        let is_pointer = type_of(self.exprs, pointer, |local| env.local_type(local)) == Type::Ptr;
        is_pointer.then_some((pointer, ty, u128::BITS - low.leading_zeros()))
    }

    /// The type and the bits of a constant, or of one made of two by an operator.
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
    fn soft_float<E: Environment>(&self, expr: ExprId, env: &E) -> Option<Type> {
        let ty = type_of(self.exprs, expr, |local| env.local_type(local));
        ty.is_soft_float().then_some(ty)
    }

    /// The float whose bits are taken and their sign cleared, as the mutant `fabs(x)` does.
    fn sign_cleared<E: Environment>(&self, bits: ExprId, env: &E) -> Option<ExprId> {
        let Expr::Binary(BinOp::And, taken, mask) = self.exprs[bits] else { return None };
        let Expr::Cast(CastOp::Bits, Type::Int(width), float) = self.exprs[taken] else {
            return None;
        };
        let ty = type_of(self.exprs, float, |local| env.local_type(local));
        let but_sign = u128::MAX >> (129 - u32::from(width));
        let clears = matches!(self.exprs[mask], Expr::Const(_, bits) if bits == but_sign);
        (clears && float_sort(ty).is_some()).then_some(float)
    }

    /// The operand's type of a conversion that terms do not model.
    fn soft_cast<E: Environment>(
        &self,
        op: CastOp,
        operand: ExprId,
        to: Type,
        env: &E,
    ) -> Option<Type> {
        let converts =
            matches!(op, CastOp::SToF | CastOp::UToF | CastOp::FToS | CastOp::FToU | CastOp::FToF);
        if !converts {
            return None;
        }
        let from = type_of(self.exprs, operand, |local| env.local_type(local));
        (from.is_soft_float() || to.is_soft_float()).then_some(from)
    }
}

/// Evaluates one expression where signed overflow wraps; gives its value and where it traps.
pub fn eval_expr<E: Environment>(
    types: &CTypes,
    exprs: &ExprArena,
    expr: ExprId,
    pool: &mut TermPool,
    env: &mut E,
) -> Result<(Term, Traps), E::Stop> {
    let mut traps = Traps::none();
    let value = Evaluation::new(types, exprs).eval(pool, expr, env, &mut traps)?;
    Ok((value, traps))
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
    let (low, bits) = (u32::from(field.bit), u32::from(field.bits));
    let width = pool.width(bytes);
    let kept = pool.resize_unsigned(value, bits.max(pool.width(value)));
    let mut whole = pool.extract(bits - 1, 0, kept);
    if low > 0 {
        let below = pool.extract(low - 1, 0, bytes);
        whole = pool.concat(whole, below);
    }
    if low + bits < width {
        let above = pool.extract(width - 1, low + bits, bytes);
        whole = pool.concat(above, whole);
    }
    whole
}

/// `bytes / size`, which C defines where nothing is left over; by a shift where it can be one, so that the
/// distance of `&a[i]` and `a` is `i` again.
fn exact_quotient(pool: &mut TermPool, bytes: Term, size: u64) -> Term {
    if size.is_power_of_two() {
        let amount = pool.bv(64, u64::from(size.trailing_zeros()));
        return pool.ashr(bytes, amount);
    }
    let size = pool.bv(64, size);
    pool.sdiv(bytes, size)
}
