//! Intervals of unsigned numbers, beside those of signed ones.
//!
//! If only intervals of signed numbers were kept, the first test of a byte that is neither 0 nor
//! above 2 as an unsigned number would restrict nothing: 1 to 255 are numbers of both signs. So a
//! register or cell has an interval of unsigned numbers, too, if it is more precise than the signed
//! one. Each of the two restricts the other. An entry of [`State::unsigned`] is a fact like one of
//! [`State::ranges`]: every run has such a number there.

use std::collections::BTreeSet;

use lydian_ir::{CmpOp, ExprId, LocalId, Type};

use super::interval::{as_signed, mirrored, restrict};
use super::numbers::{extent, with_signedness};
use super::{Interval, Ranges, Signedness, State};

impl Ranges<'_> {
    /// The register or cell that an expression reads, if it is followed as an unsigned number.
    fn read_unsigned(&self, expr: ExprId) -> Option<LocalId> {
        let local = self.read(expr)?;
        let ty = self.ty(local).filter(|ty| *ty != Type::BOOL)?;
        Interval::of(ty).map(|_| local)
    }

    /// The unsigned numbers that the signed interval of a register allows.
    fn by_sign(&self, state: &State, local: LocalId) -> Option<Interval> {
        let ty = self.ty(local)?;
        let all = extent(ty, Signedness::Unsigned)?;
        Some(with_signedness(self.range(state, local)?, ty, Signedness::Unsigned).unwrap_or(all))
    }

    /// The unsigned numbers that a register can be; none for those that are not followed.
    pub(super) fn unsigned(&self, state: &State, local: LocalId) -> Option<Interval> {
        let by_sign = self.by_sign(state, local)?;
        let known = state.unsigned.get(&local).and_then(|known| known.meet(by_sign));
        Some(known.unwrap_or(by_sign))
    }

    /// The same of an expression.
    pub(super) fn eval_unsigned(&self, state: &State, expr: ExprId) -> Option<Interval> {
        if let Some(local) = self.read_unsigned(expr) {
            return self.unsigned(state, local);
        }
        let ty = self.types[expr];
        Interval::of(ty).filter(|_| ty != Type::BOOL)?;
        let all = extent(ty, Signedness::Unsigned)?;
        Some(
            self.eval(state, expr)
                .and_then(|v| with_signedness(v, ty, Signedness::Unsigned))
                .unwrap_or(all),
        )
    }

    /// Restricts a register's unsigned number to some values.
    fn learn_unsigned_register(
        &self,
        mut state: State,
        local: LocalId,
        values: Interval,
    ) -> Option<State> {
        let (Some(known), Some(ty)) = (self.unsigned(&state, local), self.ty(local)) else {
            return Some(state);
        };
        let known = known.meet(values)?;
        state.unsigned.insert(local, known);
        // A fact about the signed number also restricts this one.
        let all = Interval::of(ty)?;
        let state = self.learn_register(state, local, all)?;
        Some(self.without_repetition(state, local))
    }

    /// The state where the unsigned number of an expression is one of some; none if it never is.
    pub(super) fn learn_unsigned(
        &self,
        state: State,
        expr: ExprId,
        values: Interval,
    ) -> Option<State> {
        match self.read_unsigned(expr) {
            Some(local) => self.learn_unsigned_register(state, local, values),
            None => Some(state),
        }
    }

    /// Applies a comparison to the unsigned numbers of its sides.
    pub(super) fn compared_unsigned(
        &self,
        state: State,
        op: CmpOp,
        a: ExprId,
        b: ExprId,
    ) -> Option<State> {
        use CmpOp::{Eq, GeU, GtU, LeU, LtU, Ne};
        if !matches!(op, Eq | Ne | LtU | LeU | GtU | GeU)
            || self.read_unsigned(a).is_none() && self.read_unsigned(b).is_none()
        {
            return Some(state);
        }
        let sides = self.eval_unsigned(&state, a).zip(self.eval_unsigned(&state, b));
        let Some((x, y)) = sides else { return Some(state) };
        let op = as_signed(op);
        let state = self.learn_unsigned(state, a, restrict(op, x, y).ok()?)?;
        self.learn_unsigned(state, b, restrict(mirrored(op), y, x).ok()?)
    }

    /// The part of a register's signed interval that its unsigned one allows; `None` if it is empty.
    pub(super) fn by_both(
        &self,
        state: &State,
        local: LocalId,
        signed: Interval,
    ) -> Option<Interval> {
        let (Some(unsigned), Some(ty)) = (state.unsigned.get(&local), self.ty(local)) else {
            return Some(signed);
        };
        let span = 1i128 << ty.bits();
        let all = Interval::of(ty)?;
        // The numbers of each sign, as far as both allow them.
        let natural = unsigned.meet(Interval { low: 0, high: all.high });
        let natural = natural.and_then(|part| part.meet(signed));
        let negative = unsigned.plus(-span).meet(Interval { low: all.low, high: -1 });
        let negative = negative.and_then(|part| part.meet(signed));
        match (negative, natural) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (a, b) => a.or(b),
        }
    }

    /// Drops an unsigned interval that is not more precise than the signed one.
    fn without_repetition(&self, mut state: State, local: LocalId) -> State {
        if self.unsigned(&state, local) == self.by_sign(&state, local) {
            state.unsigned.remove(&local);
        }
        state
    }

    /// The unsigned intervals where one of two states holds; all that say something.
    pub(super) fn joined_unsigned(&self, one: &State, other: &State) -> Vec<(LocalId, Interval)> {
        let named: BTreeSet<LocalId> =
            one.unsigned.keys().chain(other.unsigned.keys()).copied().collect();
        let joined = |local: LocalId| {
            let both = self.unsigned(one, local)?.join(self.unsigned(other, local)?);
            let range = self.range(one, local)?.join(self.range(other, local)?);
            let all = extent(self.ty(local)?, Signedness::Unsigned)?;
            let of_range =
                with_signedness(range, self.ty(local)?, Signedness::Unsigned).unwrap_or(all);
            (both != of_range).then_some((local, both))
        };
        named.into_iter().filter_map(joined).collect()
    }

    /// Widening: drops the unsigned intervals that grew.
    pub(super) fn widen_unsigned(&self, new: &mut State, old: &State) {
        new.unsigned.retain(|local, range| {
            let before = self.unsigned(old, *local);
            before.is_some_and(|before| before.join(*range) == before)
        });
    }
}
