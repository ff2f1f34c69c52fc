//! Where conditions have a value though short-circuit evaluation does not reach them.
//!
//! A condition that is not reached has its value on the state at the outcome if evaluating it there
//! has no effect and does not trap there. Lowering says which expression that is; this pass says on
//! which states it may be asked for, so that every engine gives the same answer:
//!
//! - It reads variables by their names only: whole, their members, and elements whose subscript is a
//!   constant or that of an array of known length. What lies behind a pointer may be anything where
//!   the condition is not reached.
//! - What it reads has a value on every way on which it may be asked for ([`WrittenVariables`]): what lies on
//!   the stack in a variable that nothing has written is no value.
//! - What may trap can be said in C ([`crate::cexact`]), since measuring evaluates it only where it
//!   does not trap.

use rustc_hash::FxHashSet;

use crate::program::arith::{self, Overflow};
use crate::program::decision::{ConditionId, DecisionId, UnreachedValue};
use crate::program::expr::{CastOp, Expr, ExprArena, ExprId, Type};
use crate::program::function::{Body, LocalId, Storage};
use crate::program::stmt::{BlockId, Terminator};
use crate::program::{GlobalId, Program};
use crate::trap::may_trap;

mod written;

use written::WrittenVariables;

/// A larger expression that may trap has no value where it is not reached: measuring it would be a
/// text that compilers refuse.
const MOST_NODES: u32 = 1000;
const MOST_DEPTH: u32 = 40;

/// Bits of a variable that is read by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Region {
    of: Variable,
    /// The first bit.
    from: u64,
    /// The bit behind the last one.
    to: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    /// A register, which is read whole.
    Register(LocalId),
    Local(LocalId),
    Global(GlobalId),
}

/// A condition with the expression that gives its value.
type Asked = ((DecisionId, ConditionId), ExprId);

/// Settles for each condition of a body's decisions where it has a value though it is not reached.
/// Which expression that would be stands there already.
pub fn settle(program: &Program, body: &mut Body) {
    let asked: Vec<Asked> = asked(body).collect();
    let mut found: Vec<_> =
        asked.iter().map(|(at, expr)| (*at, by_expression(program, body, *expr))).collect();
    drop_unwritten(program, body, &mut found);
    for ((decision, condition), unreached) in found {
        body.decisions[decision].conditions[condition].unreached = unreached;
    }
}

fn asked(body: &Body) -> impl Iterator<Item = Asked> + '_ {
    body.decisions.iter().flat_map(|(decision, all)| {
        let conditions = all.conditions.iter();
        conditions.filter_map(move |(id, c)| Some(((decision, id), c.unreached.expr()?)))
    })
}

/// The value that follows from the expression alone.
fn by_expression(program: &Program, body: &Body, expr: ExprId) -> UnreachedValue {
    if regions(program, body, expr).is_none() {
        return UnreachedValue::Never;
    }
    match may_trap(program, body, &body.exprs, expr, Overflow::Wrap) {
        false => UnreachedValue::Always(expr),
        true if is_sayable(body, expr) => UnreachedValue::WhereDefined(expr),
        true => UnreachedValue::Never,
    }
}

/// Takes the value from conditions that may be asked for where what they read was never written.
fn drop_unwritten(
    program: &Program,
    body: &Body,
    found: &mut [((DecisionId, ConditionId), UnreachedValue)],
) {
    let uncertain = |unreached: &UnreachedValue| -> Vec<Region> {
        let all = unreached.expr().and_then(|expr| regions(program, body, expr));
        let all = all.into_iter().flatten();
        all.filter(|region| !is_surely_written(body, region)).collect()
    };
    let reads: Vec<Vec<Region>> = found.iter().map(|(_, unreached)| uncertain(unreached)).collect();
    if reads.iter().all(Vec::is_empty) {
        return;
    }
    let written = WrittenVariables::new(program, body, reads.iter().flatten());
    for ((at, unreached), reads) in found.iter_mut().zip(&reads) {
        let mut ends = outcomes(body, *at);
        if !ends.all(|block| reads.iter().all(|region| written.has(block, region))) {
            *unreached = UnreachedValue::Never;
        }
    }
}

/// Whether a variable has a value whatever control has passed.
fn is_surely_written(body: &Body, region: &Region) -> bool {
    match region.of {
        Variable::Global(_) => true,
        Variable::Register(local) | Variable::Local(local) => body.params.contains(&local),
    }
}

/// The blocks that end a decision with another condition than this one.
fn outcomes(
    body: &Body,
    (decision, condition): (DecisionId, ConditionId),
) -> impl Iterator<Item = BlockId> + '_ {
    let ends = body.blocks.iter().filter(move |(_, block)| match block.term {
        Terminator::Branch { origin: Some(origin), .. } => {
            origin.decision == decision
                && origin.condition != condition
                && (origin.then_outcome.is_some() || origin.else_outcome.is_some())
        }
        _ => false,
    });
    ends.map(|(id, _)| id)
}

/// What an expression reads; none if it reads what has no name, or what is volatile.
fn regions(program: &Program, body: &Body, expr: ExprId) -> Option<FxHashSet<Region>> {
    let mut found = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut work = vec![expr];
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        match &body.exprs[id] {
            Expr::Local(local) => {
                found.insert(Region { of: Variable::Register(*local), from: 0, to: 1 });
            }
            Expr::Load { volatile: true, .. } => return None,
            Expr::Load { ty, addr, .. } => {
                let bytes = program.types.target.stored_bytes(*ty);
                found.insert(region(program, body, *addr, (0, 8 * bytes))?);
            }
            Expr::LoadBits { field, addr } => {
                let from = u64::from(field.bit);
                let to = from + u64::from(field.bits);
                found.insert(region(program, body, *addr, (from, to))?);
            }
            _ => {}
        }
        body.exprs[id].for_each_operand(|operand| work.push(operand));
    }
    Some(found)
}

/// The bits of a variable that may be read at an address, of which those from `bits.0` to `bits.1` are
/// read; none if that is not surely inside of a variable as long as all subscripts are in range.
fn region(
    program: &Program,
    body: &Body,
    addr: ExprId,
    (first, end): (u64, u64),
) -> Option<Region> {
    let (mut at, mut least, mut most) = (addr, 0i128, 0i128);
    loop {
        match &body.exprs[at] {
            Expr::Field { base, record, field } => {
                let offset = program.types.records[*record].fields[*field as usize].bit_offset / 8;
                (least, most) = (least + i128::from(offset), most + i128::from(offset));
                at = *base;
            }
            Expr::Index { base, index, size, bound } => {
                let (low, high) = match (&body.exprs[*index], *bound) {
                    (Expr::Const(ty, bits), bound) => {
                        let index = arith::signed(ty.bits(), *bits);
                        let is_inside = |bound: u64| (0..i128::from(bound)).contains(&index);
                        bound.is_none_or(is_inside).then_some((index, index))?
                    }
                    (_, Some(bound)) => (0, i128::from(bound.checked_sub(1)?)),
                    (_, None) => return None,
                };
                least = least.checked_add(low.checked_mul(i128::from(*size))?)?;
                most = most.checked_add(high.checked_mul(i128::from(*size))?)?;
                at = *base;
            }
            Expr::AddrLocal(local) => {
                let Storage::Memory { size, .. } = body.locals[*local].storage else { return None };
                return inside(Variable::Local(*local), size, (least, most), (first, end));
            }
            Expr::AddrGlobal(global) => {
                let size = program.globals[*global].size;
                return inside(Variable::Global(*global), size, (least, most), (first, end));
            }
            _ => return None,
        }
    }
}

fn inside(
    of: Variable,
    size: u64,
    (least, most): (i128, i128),
    (first, end): (u64, u64),
) -> Option<Region> {
    let from = least.checked_mul(8)? + i128::from(first);
    let to = most.checked_mul(8)? + i128::from(end);
    let all = i128::from(size) * 8;
    (from >= 0 && to <= all).then_some(Region { of, from: from as u64, to: to as u64 })
}

/// Whether an expression can be written as C that every compiler takes.
fn is_sayable(body: &Body, expr: ExprId) -> bool {
    let types = body.types_in(&body.exprs);
    let mut nodes = 0;
    let mut work = vec![(expr, 0)];
    while let Some((id, depth)) = work.pop() {
        nodes += 1;
        let is_wide = matches!(&body.exprs[id], Expr::LoadBits { field, .. } if field.bits > 64);
        let is_half = matches!(types[id], Type::F16 | Type::BF16);
        if is_wide || is_half || nodes > MOST_NODES || depth > MOST_DEPTH {
            return false;
        }
        body.exprs[id].for_each_operand(|operand| work.push((operand, depth + 1)));
    }
    true
}

/// The memory local that an address lies in, and at which byte, if that is a constant.
fn place(program: &Program, exprs: &ExprArena, addr: ExprId) -> Option<(LocalId, u64)> {
    let (mut at, mut offset) = (addr, 0i128);
    loop {
        match &exprs[at] {
            Expr::AddrLocal(local) => return Some((*local, u64::try_from(offset).ok()?)),
            Expr::Field { base, record, field } => {
                let bits = program.types.records[*record].fields[*field as usize].bit_offset;
                offset += i128::from(bits / 8);
                at = *base;
            }
            Expr::Index { base, index, size, .. } => {
                let Expr::Const(ty, index) = &exprs[*index] else { return None };
                let index = arith::signed(ty.bits(), *index);
                offset = offset.checked_add(index.checked_mul(i128::from(*size))?)?;
                at = *base;
            }
            Expr::Cast(CastOp::Bits, Type::Ptr, inner) => at = *inner,
            _ => return None,
        }
    }
}
