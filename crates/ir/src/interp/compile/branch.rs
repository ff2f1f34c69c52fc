//! Branches and switches.

use super::values::Val;
use super::{Builder, Comparison, select};
use crate::interp::code::{BitRange, CaseRange, Op, Table};
use crate::interp::slots::is_wide;
use crate::program::arith;
use crate::program::expr::{ExprId, Type};
use crate::program::stmt::{BlockId, BranchOrigin, SwitchCase};

/// A table has at most so many places for each case.
const SPARSEST: u64 = 4;

/// Sets where a jump leads.
pub(super) fn set_target(op: &mut Op, target: u32) {
    match op {
        Op::Jump(to)
        | Op::JumpIf(_, to)
        | Op::JumpIfNot(_, to)
        | Op::JEq(_, _, to)
        | Op::JNe(_, _, to)
        | Op::JLtU(_, _, to)
        | Op::JLeU(_, _, to)
        | Op::JLtS32(_, _, to)
        | Op::JLeS32(_, _, to)
        | Op::JLtS64(_, _, to)
        | Op::JLeS64(_, _, to)
        | Op::JEqI(_, to, _)
        | Op::JNeI(_, to, _)
        | Op::JLtUI(_, to, _)
        | Op::JGeUI(_, to, _)
        | Op::JLtS32I(_, to, _)
        | Op::JGeS32I(_, to, _)
        | Op::JLtS64I(_, to, _)
        | Op::JGeS64I(_, to, _) => *to = target,
        _ => {}
    }
}

impl Builder<'_, '_> {
    /// To one of two blocks, of which `next` comes next.
    pub(super) fn branch(
        &mut self,
        cond: ExprId,
        then_to: BlockId,
        else_to: BlockId,
        next: Option<BlockId>,
    ) {
        // Jump on the outcome whose block does not come next.
        let (outcome, to, other) = match next == Some(then_to) {
            true => (false, else_to, then_to),
            false => (true, then_to, else_to),
        };
        let jump = match self.fused(cond, outcome) {
            Some(jump) => jump,
            None => {
                let slot = self.slot(cond).slot;
                if outcome { Op::JumpIf(slot, 0) } else { Op::JumpIfNot(slot, 0) }
            }
        };
        self.jump_by(jump, to);
        if next != Some(other) {
            self.jump(other);
        }
    }

    /// A jump that compares by itself. Where there is none, nothing is made.
    fn fused(&mut self, cond: ExprId, outcome: bool) -> Option<Op> {
        let Comparison { op, a, b } = self.comparison(cond)?;
        let ty = self.types[a];
        // Whether there is one must be known before anything is made.
        let (two, swapped) = select::jump(op, ty, outcome)?;
        if self.is_too_large(cond) {
            return None;
        }
        Some(self.tree(cond, |builder| {
            let (a, b) = (builder.operand(a), builder.operand(b));
            let constant = match (a, b) {
                (Val::Const(_), Val::Const(_)) => None,
                (other, Val::Const(k)) => {
                    select::jump_constant(op, ty, k, outcome).map(|found| (found, other))
                }
                (Val::Const(k), other) => {
                    let op = select::mirrored(op);
                    select::jump_constant(op, ty, k, outcome).map(|found| (found, other))
                }
                _ => None,
            };
            if let Some(((make, constant), other)) = constant {
                return make(builder.take(other, ty), 0, constant);
            }
            let (a, b) = builder.take_two(a, b, ty);
            if swapped { two(b, a, 0) } else { two(a, b, 0) }
        }))
    }

    /// The same with events.
    pub(super) fn watched_branch(
        &mut self,
        from: BlockId,
        cond: ExprId,
        (then_to, else_to): (BlockId, BlockId),
        origin: Option<BranchOrigin>,
    ) {
        let number = origin.map(|origin| {
            self.code.events.origins.push(origin);
            self.code.events.origins.len() as u32 - 1
        });
        if let Some(number) = number {
            self.emit(Op::SeesCondition(number));
        }
        let slot = self.slot(cond).slot;
        if let Some(number) = number {
            self.emit(Op::SeesOutcome(slot, number));
        }
        let at = self.code.ops.len();
        self.emit(Op::JumpIfNot(slot, 0));
        self.edge(from, 0, then_to, None);
        let other = self.code.ops.len() as u32;
        set_target(&mut self.code.ops[at], other);
        self.edge(from, 1, else_to, None);
    }

    /// To the case that holds a value.
    pub(super) fn switch(
        &mut self,
        from: BlockId,
        value: ExprId,
        cases: &[SwitchCase],
        default: BlockId,
    ) {
        let ty = self.types[value];
        let slot = self.slot(value).slot;
        let number = self.code.tables.len() as u32;
        self.emit(Op::Switch(slot, number));
        // Each way is a jump after the switch, which the table leads to until jumps are known.
        let mut ways = Vec::with_capacity(cases.len());
        for (way, case) in cases.iter().enumerate() {
            let target = self.code.ops.len() as u32;
            ways.push(CaseRange { low: case.low, high: case.high, target });
            self.edge(from, way as u32, case.target, None);
        }
        let other = self.code.ops.len() as u32;
        self.edge(from, cases.len() as u32, default, None);
        self.code.tables.push(table(ty, ways, other));
    }

    /// Leads the ways of switches to where their jumps lead.
    pub(super) fn resolve_tables(&mut self) {
        let ops = &self.code.ops;
        let resolve = |target: &mut u32| {
            if let Op::Jump(to) = ops[*target as usize] {
                *target = to;
            }
        };
        for table in &mut self.code.tables {
            match table {
                Table::Dense { targets, default, .. } => {
                    targets.iter_mut().for_each(resolve);
                    resolve(default);
                }
                Table::Ranges { ranges, default } => {
                    ranges.iter_mut().for_each(|range| resolve(&mut range.target));
                    resolve(default);
                }
                Table::Cases { cases, default, .. } => {
                    cases.iter_mut().for_each(|case| resolve(&mut case.target));
                    resolve(default);
                }
            }
        }
    }
}

/// The fastest table that takes the ways that [`arith::in_case`] says.
fn table(ty: Type, cases: Vec<CaseRange>, default: u32) -> Table {
    match ranges(ty, &cases) {
        Some(ranges) => {
            let (first, last) = match (ranges.first(), ranges.last()) {
                (Some(first), Some(last)) => (first.low, last.high),
                _ => return Table::Ranges { ranges, default },
            };
            let count = ranges.len() as u64;
            if last - first >= count.saturating_mul(SPARSEST) + 8 {
                return Table::Ranges { ranges, default };
            }
            let mut targets = vec![default; (last - first + 1) as usize];
            for BitRange { low, high, target } in ranges {
                targets[(low - first) as usize..=(high - first) as usize].fill(target);
            }
            Table::Dense { first, targets, default }
        }
        None => Table::Cases { ty, cases, default },
    }
}

/// The bits that each case holds, sorted; `None` where two cases hold some bits, or the type is too
/// wide.
fn ranges(ty: Type, cases: &[CaseRange]) -> Option<Vec<BitRange>> {
    if is_wide(ty) {
        return None;
    }
    let bits = ty.bits();
    let mask = arith::mask(bits) as i128;
    let (least, greatest) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let mut found = Vec::new();
    let mut add = |low: i128, high: i128, target| {
        if low <= high {
            let (low, high) = ((low & mask) as u64, (high & mask) as u64);
            found.push(BitRange { low, high, target });
        }
    };
    for &CaseRange { low, high, target } in cases {
        // The numbers below zero, as bits; then those that either reading has; then the others.
        add(low.max(least), high.min(-1), target);
        add(low.max(0), high.min(greatest), target);
        add(low.max(greatest + 1), high.min(mask), target);
    }
    found.sort_unstable();
    found.windows(2).all(|pair| pair[0].high < pair[1].low).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_takes_the_way_that_the_cases_say() {
        let lists: [&[(i128, i128, u32)]; 5] = [
            &[(1, 1, 1), (2, 2, 2), (4, 6, 3)],
            &[(-3, -1, 1), (0, 0, 2), (100, 120, 3)],
            &[(200, 255, 1), (-1, -1, 2)],
            &[(-128, 127, 1)],
            &[],
        ];
        for cases in lists {
            let ranges = cases.iter().map(|&(low, high, target)| CaseRange { low, high, target });
            let table = table(Type::Int(8), ranges.collect(), 9);
            for bits in 0..=255u64 {
                let found = cases
                    .iter()
                    .find(|(low, high, _)| {
                        arith::in_case(Type::Int(8), u128::from(bits), *low, *high)
                    })
                    .map_or(9, |case| case.2);
                assert_eq!(table.target(bits, 0), found, "{cases:?} {bits}");
            }
        }
    }
}
