//! Integer arithmetic that reports overflow.

use lydian_eval::{Traps, to_bytes};
use lydian_ir::libc::{OverflowFn, OverflowOp};
use lydian_ir::{CTypeId, TrapKind};
use lydian_smt::{Term, TermPool};

use crate::machine::Machine;
use crate::machine::interrupt::Interrupt;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Computes in a width that holds the exact result, stores the bits that fit, and returns
    /// whether the result did not fit.
    pub(crate) fn overflow_function(
        &mut self,
        state: &mut State<N>,
        function: OverflowFn,
        args: &[Term],
        arg_types: &[CTypeId],
    ) -> Result<Term, Interrupt> {
        let types = &self.context.program.types;
        let (&[a, b, pointer], &[a_ty, b_ty, pointer_ty]) = (args, arg_types) else {
            return Err(self.trapped(state, TrapKind::BadCall));
        };
        let Some(result_ty) = types.pointee(pointer_ty) else {
            return Err(self.trapped(state, TrapKind::BadCall));
        };
        let bits = types.scalar(result_ty).map_or(32, |ty| ty.bits());
        let size = types.size(result_ty).unwrap_or(4);
        let signed = SignedTypes {
            a: types.is_signed(a_ty),
            b: types.is_signed(b_ty),
            result: types.is_signed(result_ty),
        };
        let (a, b) = (to_bytes(&mut self.pool, a), to_bytes(&mut self.pool, b));
        let (stored, overflows) = self.exactly(function.operation(), [a, b], signed, bits);
        let mut traps = Traps::none();
        let to = self.resolve_for_write(state, pointer, size, &mut traps)?;
        self.leave_traps(state, &traps)?;
        state.memory.store(&mut self.pool, &to, size, stored);
        Ok(overflows)
    }

    /// The low `bits` of the exact result, and whether the result does not fit.
    fn exactly(
        &mut self,
        operation: OverflowOp,
        [a, b]: [Term; 2],
        signed: SignedTypes,
        bits: u32,
    ) -> (Term, Term) {
        let pool = &mut self.pool;
        let alike = pool.width(a) == bits && pool.width(b) == bits;
        if alike && signed.a == signed.b && signed.a == signed.result {
            let overflows = match (operation, signed.a) {
                (OverflowOp::Add, true) => pool.sadd_overflows(a, b),
                (OverflowOp::Sub, true) => pool.ssub_overflows(a, b),
                (OverflowOp::Mul, true) => pool.smul_overflows(a, b),
                (OverflowOp::Add, false) => pool.uadd_overflows(a, b),
                (OverflowOp::Sub, false) => pool.usub_overflows(a, b),
                (OverflowOp::Mul, false) => pool.umul_overflows(a, b),
            };
            return (apply(pool, operation, a, b), overflows);
        }
        let widest = bits.max(pool.width(a)).max(pool.width(b));
        let wide = match operation {
            OverflowOp::Mul => bits.max(pool.width(a) + pool.width(b)) + 2,
            _ => widest + 2,
        };
        let (x, y) = (widen(pool, a, signed.a, wide), widen(pool, b, signed.b, wide));
        let exact = apply(pool, operation, x, y);
        let stored = pool.extract(bits - 1, 0, exact);
        let back = widen(pool, stored, signed.result, wide);
        (stored, pool.neq(back, exact))
    }
}

fn widen(pool: &mut TermPool, a: Term, signed: bool, width: u32) -> Term {
    if signed { pool.sext(a, width) } else { pool.zext(a, width) }
}

fn apply(pool: &mut TermPool, operation: OverflowOp, a: Term, b: Term) -> Term {
    match operation {
        OverflowOp::Add => pool.add(a, b),
        OverflowOp::Sub => pool.sub(a, b),
        OverflowOp::Mul => pool.mul(a, b),
    }
}

/// Which of the types of an operation are signed.
#[derive(Clone, Copy)]
struct SignedTypes {
    a: bool,
    b: bool,
    result: bool,
}
