//! Registers as whole numbers, and the differences of them that follow from assignments and tests.
//!
//! The bits of a register are two numbers, a signed and an unsigned one. Each is a variable of its
//! own in [`Differences`]. A bound on one is used for the other if the ranges show that they are
//! equal.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lydian_ir::{BinOp, Body, CastOp, CmpOp, Expr, ExprId, LocalId, Stmt, Type};

use super::cells::LoadCells;
use super::differences::Differences;
use super::{Interval, Ranges, State, register};

/// The number that bits represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signedness {
    /// In two's complement.
    Signed,
    /// In binary.
    Unsigned,
}

impl Signedness {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::Signed, Self::Unsigned];
}

/// A register's number.
pub(crate) type Number = (LocalId, Signedness);

/// A number plus a constant.
type Sum = (Number, i128);

/// The numbers of a type that are followed; none for others.
pub(super) fn extent(ty: Type, signedness: Signedness) -> Option<Interval> {
    match (ty, signedness) {
        (Type::Ptr, Signedness::Unsigned) => Some(Interval { low: 0, high: (1 << 64) - 1 }),
        (Type::BOOL, _) => None,
        (_, Signedness::Signed) => Interval::of(ty),
        (_, Signedness::Unsigned) => {
            Interval::of(ty).map(|_| Interval { low: 0, high: (1 << ty.bits()) - 1 })
        }
    }
}

/// The registers and cells that are compared with others, and those that their values come from.
pub(super) fn related(body: &Body, loads: &LoadCells) -> BTreeSet<LocalId> {
    let base = |body, expr| base(body, loads, expr);
    let exprs = &body.exprs;
    let mut related = BTreeSet::new();
    for expr in exprs.values() {
        if let Expr::Cmp(_, a, b) = expr
            && let (Some(a), Some(b)) = (base(body, *a), base(body, *b))
        {
            related.extend([a, b]);
        }
    }
    loop {
        let before = related.len();
        for stmt in body.stmts.values() {
            let Stmt::Assign { dst, value } = stmt else { continue };
            if let Some(base) = base(body, *value)
                && (related.contains(&base) || related.contains(dst))
            {
                related.extend([base, *dst]);
            }
        }
        if related.len() == before {
            return related;
        }
    }
}

/// The one register or cell that an expression is a sum of, with constants and under conversions.
fn base(body: &Body, loads: &LoadCells, expr: ExprId) -> Option<LocalId> {
    let base = |body, expr| base(body, loads, expr);
    let is_constant = |expr: &ExprId| matches!(body.exprs[*expr], Expr::Const(..));
    match &body.exprs[expr] {
        Expr::Local(local) => register(body, *local).map(|_| *local),
        Expr::Load { .. } => loads.cell(expr),
        Expr::Binary(BinOp::AddS | BinOp::AddU | BinOp::SubS | BinOp::SubU, a, b)
            if is_constant(b) =>
        {
            base(body, *a)
        }
        Expr::Index { base: a, index, .. } if is_constant(index) => base(body, *a),
        Expr::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc, _, a) => base(body, *a),
        _ => None,
    }
}

impl Ranges<'_> {
    /// The numbers that a register can be; `None` for registers that are not followed.
    fn number(&self, state: &State, (local, signedness): Number) -> Option<Interval> {
        let ty = self.ty(local)?;
        let all = extent(ty, signedness)?;
        if signedness == Signedness::Unsigned && ty != Type::Ptr {
            return self.unsigned(state, local);
        }
        let Some(range) = state.ranges.get(&local) else { return Some(all) };
        Some(with_signedness(*range, ty, signedness).unwrap_or(all))
    }

    /// The upper bound on the difference of two numbers by their intervals, if these give one.
    pub(super) fn apart(&self, state: &State, x: Number, y: Number) -> Option<i128> {
        let most = self.number(state, x)?.high - self.number(state, y)?.low;
        let of_type = |(local, signedness): Number| extent(self.ty(local)?, signedness);
        (most < of_type(x)?.high - of_type(y)?.low).then_some(most)
    }

    /// The least and the greatest value of a number plus a constant, by its interval and by its
    /// differences from other numbers.
    fn sums(&self, state: &State, (number, offset): Sum) -> Option<Interval> {
        let mut range = self.number(state, number)?;
        for ((x, y), most) in state.differences.iter() {
            if x == number
                && let Some(other) = self.number(state, y)
            {
                range.high = range.high.min(other.high + most);
            } else if y == number
                && let Some(other) = self.number(state, x)
            {
                range.low = range.low.max(other.low - most);
            }
        }
        Some(range.plus(offset))
    }

    /// An expression's number as the sum of a number and a constant, on every one of these states.
    fn as_sum(&self, state: &State, expr: ExprId, signedness: Signedness) -> Option<Sum> {
        let exprs = &self.body.exprs;
        let constant = |expr: ExprId| match exprs[expr] {
            Expr::Const(ty, bits) => Interval::constant(ty, bits).map(|range| range.low),
            _ => None,
        };
        let ty = self.types[expr];
        let all = extent(ty, signedness)?;
        let fits = |sum: Sum| {
            let range = self.sums(state, sum)?;
            (all.contains(range.low) && all.contains(range.high)).then_some(sum)
        };
        match exprs[expr] {
            Expr::Local(local) if self.related.contains(&local) => {
                register(self.body, local).map(|_| ((local, signedness), 0))
            }
            Expr::Load { .. } => {
                let cell = self.loads.cell(expr).filter(|cell| self.related.contains(cell));
                cell.map(|cell| ((cell, signedness), 0))
            }
            Expr::Binary(op @ (BinOp::AddS | BinOp::AddU | BinOp::SubS | BinOp::SubU), a, b) => {
                let (number, offset) = self.as_sum(state, a, signedness)?;
                let step = constant(b)?;
                let is_less = matches!(op, BinOp::SubS | BinOp::SubU);
                fits((number, if is_less { offset - step } else { offset + step }))
            }
            Expr::Index { base, index, size, .. } => {
                let (number, offset) = self.as_sum(state, base, signedness)?;
                fits((number, offset + constant(index)? * i128::from(size)))
            }
            // Extension keeps the number, if it is read in the same way or is not negative.
            Expr::Cast(CastOp::ZExt, _, a) => self.as_sum(state, a, Signedness::Unsigned),
            Expr::Cast(CastOp::SExt, _, a) if signedness == Signedness::Signed => {
                self.as_sum(state, a, Signedness::Signed)
            }
            Expr::Cast(CastOp::SExt, _, a) => {
                let natural = self.eval(state, a).is_some_and(|range| range.low >= 0);
                if natural { self.as_sum(state, a, Signedness::Signed) } else { None }
            }
            Expr::Cast(CastOp::Trunc, _, a) => fits(self.as_sum(state, a, signedness)?),
            _ => None,
        }
    }

    /// The differences after an assignment.
    pub(super) fn assigned(
        &self,
        state: &State,
        dst: LocalId,
        value: ExprId,
    ) -> Differences<Number> {
        let mut after = state.differences.clone();
        if !self.related.contains(&dst) {
            return after;
        }
        let sums = Signedness::ALL
            .map(|signedness| ((dst, signedness), self.as_sum(state, value, signedness)));
        for (number, sum) in sums {
            match sum {
                Some((base, offset)) if base == number => after.shift(number, offset),
                _ => after.forget(number),
            }
        }
        for (number, sum) in sums {
            let Some((base, offset)) = sum.filter(|((base, _), _)| *base != dst) else { continue };
            // A number without facts can be anything.
            let known = after.add(number, base, offset) && after.add(base, number, -offset);
            debug_assert!(known, "a new number contradicts nothing");
        }
        after
    }

    /// The state where `a op b` holds; `Break` if it never does.
    pub(super) fn relate(
        &self,
        mut state: State,
        op: CmpOp,
        a: ExprId,
        b: ExprId,
    ) -> ControlFlow<(), State> {
        let natural = |expr| self.eval(&state, expr).is_some_and(|range| range.low >= 0);
        let both_natural = natural(a) && natural(b);
        let applicable = Signedness::ALL.into_iter().filter(|signedness| match op {
            CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS => {
                *signedness == Signedness::Signed || both_natural
            }
            CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU => {
                *signedness == Signedness::Unsigned || both_natural
            }
            CmpOp::Eq | CmpOp::Ne => true,
            _ => false,
        });
        let sums = applicable.map(|signedness| {
            self.as_sum(&state, a, signedness).zip(self.as_sum(&state, b, signedness))
        });
        let sums: Vec<(Sum, Sum)> = sums.flatten().collect();
        for ((x, first), (y, second)) in sums {
            if x != y && !compared(&mut state.differences, op, x, y, second - first) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(state)
    }
}

/// Adds `x op y + offset`. Returns false if that never holds.
fn compared(
    differences: &mut Differences<Number>,
    op: CmpOp,
    x: Number,
    y: Number,
    offset: i128,
) -> bool {
    match op {
        CmpOp::LtS | CmpOp::LtU => differences.add(x, y, offset - 1),
        CmpOp::LeS | CmpOp::LeU => differences.add(x, y, offset),
        CmpOp::GtS | CmpOp::GtU => differences.add(y, x, -offset - 1),
        CmpOp::GeS | CmpOp::GeU => differences.add(y, x, -offset),
        CmpOp::Eq => differences.add(x, y, offset) && differences.add(y, x, -offset),
        CmpOp::Ne => {
            let (above, below) = (differences.get(x, y), differences.get(y, x));
            (above != Some(offset) || differences.add(x, y, offset - 1))
                && (below != Some(-offset) || differences.add(y, x, -offset - 1))
        }
        _ => true,
    }
}

/// An interval of a type's signed numbers with another signedness; `None` if it has numbers of both
/// signs.
pub(super) fn with_signedness(
    range: Interval,
    ty: Type,
    signedness: Signedness,
) -> Option<Interval> {
    match signedness {
        Signedness::Signed => Some(range),
        Signedness::Unsigned if range.low >= 0 => Some(range),
        Signedness::Unsigned if range.high < 0 => Some(range.plus(1 << ty.bits())),
        Signedness::Unsigned => None,
    }
}
