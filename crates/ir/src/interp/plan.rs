//! Expressions prepared for evaluation: their nodes in the order in which they are evaluated.
//!
//! That order is the one of the operands from left to right, each node before its users and once.
//! So an expression is evaluated without recursion, whatever its depth, and a trap is the first
//! one in that order. Where there is a [`Expr::Select`], each node has a value or a trap of its own,
//! and the choice passes on what its chosen operand has.

use lydian_base::SideTable;
use rustc_hash::FxHashMap;

use super::layout::{FrameLayout, Home};
use super::memory::Memory;
use super::slots::{FarRegister, read};
use crate::program::Program;
use crate::program::arith::{self, Overflow};
use crate::program::expr::{BitField, Expr, ExprArena, ExprId, Type};
use crate::program::function::LocalId;
use crate::program::stmt::TrapKind;

/// A node with the positions of its operands.
#[derive(Clone, Debug)]
struct Node {
    expr: Expr,
    /// Type of the first operand.
    ty: Type,
    a: u32,
    b: u32,
    c: u32,
    /// For a member: its offset from the base.
    offset: u64,
    /// For what is read: the positions of the subscripts on the way to it, each with how many
    /// elements there are. Memory alone does not tell where an array ends and another object begins.
    subscripts: Vec<(u32, u64)>,
    /// For what is read at an address that is made from a variable's.
    within: Option<Within>,
}

/// A variable that an access must not leave.
#[derive(Clone, Copy, Debug)]
struct Within {
    /// The position of its address.
    variable: u32,
    extent: Extent,
    /// How many bytes are accessed.
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
enum Extent {
    Global(u64),
    Local(LocalId),
}

/// An expression that is ready for evaluation on any state of its function.
#[derive(Clone, Debug)]
pub struct Plan {
    nodes: Vec<Node>,
    /// Whether not all nodes are always evaluated.
    chooses: bool,
}

/// The bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The bits, zero-extended.
    pub bits: u128,
    /// Whether something that was never written went into it.
    pub uninitialised: bool,
}

/// The state on which an expression is evaluated.
pub(super) struct EvalContext<'a> {
    pub(super) memory: &'a Memory,
    /// The running call's window.
    pub(super) slots: &'a [u64],
    /// By slot whether its value is undefined; those beyond are not.
    pub(super) undefined: &'a [bool],
    pub(super) far: &'a [FarRegister],
    pub(super) layout: &'a FrameLayout,
    /// Address of the frame's first byte.
    pub(super) frame: u64,
    pub(super) overflow: Overflow,
}

impl EvalContext<'_> {
    fn register(&self, local: LocalId) -> Value {
        let ty = self.layout.ty(local);
        match self.layout.home(local) {
            Home::Near(slot) => {
                let flag = self.layout.flag(local);
                let marked = self.undefined.get(usize::from(slot)).copied().unwrap_or(false);
                let unset = flag.is_some_and(|flag| self.slots[usize::from(flag)] == 0);
                let uninitialised = marked || unset;
                Value { bits: read(self.slots, slot, ty), uninitialised }
            }
            Home::Far(index) => {
                let far = self.far[index as usize];
                Value { bits: far.bits, uninitialised: !far.set }
            }
            Home::Memory { .. } => Value { bits: 0, uninitialised: false },
        }
    }
}

impl Plan {
    /// Prepares an expression. `types` are those of the arena's expressions
    /// ([`crate::Body::types_in`]).
    pub fn new(
        program: &Program,
        arena: &ExprArena,
        types: &SideTable<ExprId, Type>,
        expr: ExprId,
    ) -> Self {
        let mut nodes = Vec::new();
        let mut positions: FxHashMap<ExprId, u32> = FxHashMap::default();
        let mut work = vec![(expr, false)];
        while let Some((id, operands_done)) = work.pop() {
            if positions.contains_key(&id) {
                continue;
            }
            let mut operands = [None; 3];
            let mut count = 0;
            arena[id].for_each_operand(|operand| {
                operands[count] = Some(operand);
                count += 1;
            });
            if !operands_done && count > 0 {
                work.push((id, true));
                work.extend(operands.iter().rev().flatten().map(|operand| (*operand, false)));
                continue;
            }
            let position =
                |operand: Option<ExprId>| operand.map_or(0, |operand| positions[&operand]);
            let offset = match &arena[id] {
                Expr::Field { record, field, .. } => {
                    program.types.records[*record].fields[*field as usize].bit_offset / 8
                }
                _ => 0,
            };
            nodes.push(Node {
                expr: arena[id].clone(),
                ty: operands[0].map_or(Type::Ptr, |operand| types[operand]),
                a: position(operands[0]),
                b: position(operands[1]),
                c: position(operands[2]),
                offset,
                subscripts: subscripts(arena, id).map(|(e, n)| (positions[&e], n)).collect(),
                within: accessed(program, arena, id).map(
                    |Access { variable: e, extent, bytes }| Within {
                        variable: positions[&e],
                        extent,
                        bytes,
                    },
                ),
            });
            positions.insert(id, nodes.len() as u32 - 1);
        }
        let chooses = nodes.iter().any(|node| matches!(node.expr, Expr::Select { .. }));
        Self { nodes, chooses }
    }

    pub(super) fn eval(
        &self,
        context: &EvalContext<'_>,
        scratch: &mut Vec<u128>,
    ) -> Result<Value, TrapKind> {
        if self.chooses {
            return self.eval_choosing(context);
        }
        scratch.clear();
        let mut uninitialised = false;
        for node in &self.nodes {
            let (a, b) = (operand(scratch, node.a), operand(scratch, node.b));
            let beyond = |(at, bound): &(u32, u64)| operand(scratch, *at) as u64 >= *bound;
            let leaves = |within: &Within| {
                within.is_left(context, operand(scratch, within.variable) as u64, a as u64)
            };
            if node.subscripts.iter().any(beyond) || node.within.as_ref().is_some_and(leaves) {
                return Err(TrapKind::OutOfBounds);
            }
            let value = node.eval(context, a, b, &mut uninitialised)?;
            scratch.push(value);
        }
        let bits = scratch.last().copied().unwrap_or(0);
        Ok(Value { bits, uninitialised })
    }

    /// Evaluates every node for itself, since an operand that is not chosen may trap.
    fn eval_choosing(&self, context: &EvalContext<'_>) -> Result<Value, TrapKind> {
        let mut values: Vec<Result<Value, TrapKind>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = node.eval_alone(context, &values);
            values.push(value);
        }
        values.pop().unwrap_or(Ok(Value { bits: 0, uninitialised: false }))
    }
}

impl Within {
    /// Whether an access at an address leaves the variable, whose own address is `start`.
    fn is_left(&self, context: &EvalContext<'_>, start: u64, at: u64) -> bool {
        let size = match self.extent {
            Extent::Global(size) => size,
            Extent::Local(local) => match context.layout.home(local) {
                Home::Memory { size, .. } => u64::from(size),
                Home::Near(_) | Home::Far(_) => return false,
            },
        };
        let offset = at.wrapping_sub(start);
        self.bytes > size || offset > size - self.bytes
    }
}

/// An access at an address that is made from a variable's.
struct Access {
    /// The variable's address.
    variable: ExprId,
    extent: Extent,
    /// How many bytes are accessed.
    bytes: u64,
}

/// The variable from whose address the one is made that an expression reads at, and the bytes.
fn accessed(program: &Program, arena: &ExprArena, expr: ExprId) -> Option<Access> {
    let (mut at, bytes) = match &arena[expr] {
        Expr::Load { ty, addr, .. } => (*addr, program.types.target.stored_bytes(*ty)),
        Expr::LoadBits { addr, field, .. } => (*addr, field.bytes()),
        _ => return None,
    };
    loop {
        match &arena[at] {
            Expr::Field { base, .. } | Expr::Index { base, .. } => at = *base,
            Expr::AddrGlobal(global) => {
                let extent = Extent::Global(program.globals[*global].size);
                return Some(Access { variable: at, extent, bytes });
            }
            Expr::AddrLocal(local) => {
                return Some(Access { variable: at, extent: Extent::Local(*local), bytes });
            }
            _ => return None,
        }
    }
}

/// The subscripts of arrays of known length in the address that an expression reads at.
fn subscripts(arena: &ExprArena, expr: ExprId) -> impl Iterator<Item = (ExprId, u64)> {
    let mut at = match &arena[expr] {
        Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => Some(*addr),
        _ => None,
    };
    std::iter::from_fn(move || {
        loop {
            match &arena[at?] {
                Expr::Field { base, .. } => at = Some(*base),
                Expr::Index { base, index, bound, .. } => {
                    at = Some(*base);
                    if let Some(bound) = bound {
                        return Some((*index, *bound));
                    }
                }
                _ => return None,
            }
        }
    })
}

fn operand(values: &[u128], position: u32) -> u128 {
    values.get(position as usize).copied().unwrap_or(0)
}

impl Node {
    /// The node's value where each of its operands has a value, or a trap, of its own.
    fn eval_alone(
        &self,
        context: &EvalContext<'_>,
        values: &[Result<Value, TrapKind>],
    ) -> Result<Value, TrapKind> {
        let at = |position: u32| values[position as usize];
        if let Expr::Select { .. } = self.expr {
            let test = at(self.a)?;
            let chosen = at(if test.bits != 0 { self.b } else { self.c })?;
            let uninitialised = test.uninitialised || chosen.uninitialised;
            return Ok(Value { uninitialised, ..chosen });
        }
        let mut operands = [0; 2];
        let mut uninitialised = false;
        let mut next = 0;
        let mut trap = None;
        self.expr.for_each_operand(|_| {
            match at([self.a, self.b][next]) {
                Ok(value) => {
                    operands[next] = value.bits;
                    uninitialised |= value.uninitialised;
                }
                Err(kind) => _ = trap.get_or_insert(kind),
            }
            next += 1;
        });
        if let Some(trap) = trap {
            return Err(trap);
        }
        for (subscript, bound) in &self.subscripts {
            if at(*subscript)?.bits as u64 >= *bound {
                return Err(TrapKind::OutOfBounds);
            }
        }
        if let Some(within) = &self.within {
            let start = at(within.variable)?.bits as u64;
            if within.is_left(context, start, operands[0] as u64) {
                return Err(TrapKind::OutOfBounds);
            }
        }
        let bits = self.eval(context, operands[0], operands[1], &mut uninitialised)?;
        Ok(Value { bits, uninitialised })
    }

    fn eval(
        &self,
        context: &EvalContext<'_>,
        a: u128,
        b: u128,
        uninitialised: &mut bool,
    ) -> Result<u128, TrapKind> {
        let target = context.memory.target();
        Ok(match &self.expr {
            Expr::Const(_, bits) => *bits,
            Expr::Local(local) => {
                let value = context.register(*local);
                *uninitialised |= value.uninitialised;
                value.bits
            }
            Expr::AddrLocal(local) => u128::from(context.layout.address_of(*local, context.frame)),
            Expr::AddrGlobal(global) => u128::from(context.memory.global_address(*global)),
            Expr::AddrFunc(function) => u128::from(context.memory.function_address(*function)),
            Expr::Load { ty, .. } => {
                let (bits, written) = context.memory.load(a as u64, target.stored_bytes(*ty))?;
                *uninitialised |= !written;
                bits
            }
            Expr::LoadBits { field, .. } => {
                let (bits, written) = load_bits(context.memory, a as u64, field)?;
                *uninitialised |= !written;
                bits
            }
            Expr::Unary(op, _) => arith::unary(*op, self.ty, a, context.overflow)?,
            Expr::Binary(op, ..) => arith::binary(*op, self.ty, a, b, context.overflow)?,
            Expr::Cmp(op, ..) => u128::from(arith::compare(*op, self.ty, a, b)),
            Expr::Cast(op, to, _) => arith::cast(*op, self.ty, *to, a)?,
            Expr::Field { .. } => {
                u128::from(target.wrap_address((a as u64).wrapping_add(self.offset)))
            }
            Expr::Index { size, .. } => {
                let address = arith::element_address(a as u64, b as u64, *size);
                u128::from(target.wrap_address(address))
            }
            Expr::PtrDiff { size, .. } => {
                u128::from(target.address_difference(a as u64, b as u64, *size))
            }
            // Only a plan that evaluates each node for itself has one.
            Expr::Select { .. } => unreachable!("a choice passes on what it chooses"),
        })
    }
}

/// A bit-field's value. Whether its bytes were written is asked of all bytes that hold it, since
/// bits are not told apart: the other bits of a byte that a store of bits made are taken for
/// written too.
fn load_bits(memory: &Memory, address: u64, field: &BitField) -> Result<(u128, bool), TrapKind> {
    let (raw, written) = memory.load(address, field.bytes())?;
    Ok((arith::extract_bits(field, raw), written))
}
