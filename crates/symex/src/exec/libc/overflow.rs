//! Integer arithmetic that tells of overflow.

use lydian_eval::Traps;
use lydian_ir::libc::LibFn;
use lydian_ir::{CTypeId, TrapKind};
use lydian_smt::Term;

use super::super::explore::Engine;
use super::super::state::State;
use super::super::step::Flow;

impl Engine<'_, '_> {
    /// Computes in a width that holds the exact result, stores what fits, and tells whether it did
    /// not.
    pub(super) fn overflow_function(
        &mut self,
        state: &mut State,
        function: LibFn,
        args: &[Term],
        arg_types: &[CTypeId],
    ) -> Result<Term, Flow> {
        let types = &self.world.program.types;
        let (&[a, b, pointer], &[a_ty, b_ty, pointer_ty]) = (args, arg_types) else {
            return Err(self.trapped(state, TrapKind::BadCall));
        };
        let Some(result_ty) = types.pointee(pointer_ty) else {
            return Err(self.trapped(state, TrapKind::BadCall));
        };
        let bits = types.scalar(result_ty).map_or(32, |ty| ty.bits());
        let signs = [a_ty, b_ty, result_ty].map(|ty| types.is_signed(ty));
        let widest = bits.max(self.pool.width(a)).max(self.pool.width(b));
        let wide = widest * 2 + 2;
        let mut widen = |a: Term, signed: bool| match signed {
            true => self.pool.sext(a, wide),
            false => self.pool.zext(a, wide),
        };
        let (x, y) = (widen(a, signs[0]), widen(b, signs[1]));
        let exact = match operation(function) {
            Operation::Add => self.pool.add(x, y),
            Operation::Sub => self.pool.sub(x, y),
            Operation::Mul => self.pool.mul(x, y),
        };
        let stored = self.pool.extract(bits - 1, 0, exact);
        let back = match signs[2] {
            true => self.pool.sext(stored, wide),
            false => self.pool.zext(stored, wide),
        };
        let overflows = self.pool.neq(back, exact);
        let mut traps = Traps::none();
        let size = u64::from(bits.div_ceil(8));
        let to = self.resolve_for_write(state, pointer, size, &mut traps)?;
        self.leave_traps(state, &traps)?;
        state.memory.store(&mut self.pool, &to, size, stored);
        Ok(overflows)
    }
}

enum Operation {
    Add,
    Sub,
    Mul,
}

const fn operation(function: LibFn) -> Operation {
    use LibFn::*;
    match function {
        AddOverflow | SaddOverflow | UaddOverflow | SaddlOverflow | UaddlOverflow
        | SaddllOverflow | UaddllOverflow => Operation::Add,
        SubOverflow | SsubOverflow | UsubOverflow | SsublOverflow | UsublOverflow
        | SsubllOverflow | UsubllOverflow => Operation::Sub,
        _ => Operation::Mul,
    }
}
