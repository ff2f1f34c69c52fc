//! Expressions: their nodes in the order of evaluation, each made an operation or folded into
//! the operation that uses it.
//!
//! No recursion, whatever the depth. What cannot trap and is cheap (constants, addresses as sums,
//! extensions of an index) is kept as a [`Val`] until something needs it in a slot.

use lydian_base::EntityId;

use super::Builder;
use super::subscripts::accessed;
use crate::interp::code::{Op, Slow};
use crate::interp::layout::Home;
use crate::interp::memory::function_address;
use crate::interp::plan::Plan;
use crate::interp::slots::{Slot, is_wide, slots_of};
use crate::program::arith;
use crate::program::expr::{BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};
use crate::program::function::Body;
use crate::program::function::LocalId;

/// Expressions of more nodes are evaluated without slots.
const MOST_NODES: usize = 4000;

/// A slot that holds a value. An owned one is free once the value was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ref {
    pub(super) slot: Slot,
    owned: bool,
}

/// The base of an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    Slot(Ref),
    /// The frame's first byte.
    Frame,
    /// Zero.
    Zero,
}

/// An index times a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScaledIndex {
    pub(super) index: Ref,
    /// Whether it has 32 bits, to be extended by its sign.
    pub(super) extend: bool,
    pub(super) size: u32,
}

/// The parts whose sum is an address.
struct AddressParts {
    base: Base,
    scaled: Option<ScaledIndex>,
    offset: u64,
}

impl AddressParts {
    const fn of_base(base: Base, offset: u64) -> Self {
        Self { base, scaled: None, offset }
    }
}

/// A value on its way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Val {
    Slot(Ref),
    Const(u128),
    /// A 32-bit value to be extended to 64 bits by its sign.
    Extended(Ref),
    Address {
        base: Base,
        scaled: Option<ScaledIndex>,
        offset: u64,
    },
}

impl Val {
    /// The same without owning any slot.
    fn shared(self) -> Self {
        let share = |reference: Ref| Ref { owned: false, ..reference };
        match self {
            Self::Slot(slot) => Self::Slot(share(slot)),
            Self::Const(bits) => Self::Const(bits),
            Self::Extended(slot) => Self::Extended(share(slot)),
            Self::Address { base, scaled, offset } => Self::Address {
                base: if let Base::Slot(slot) = base { Base::Slot(share(slot)) } else { base },
                scaled: scaled.map(|scaled| ScaledIndex { index: share(scaled.index), ..scaled }),
                offset,
            },
        }
    }
}

/// The nodes of the expression that is being compiled.
#[derive(Default)]
pub(super) struct Nodes {
    /// By expression: how many users are still to come.
    uses: Vec<u32>,
    /// By expression: whether it is used more than once.
    shared: Vec<bool>,
    vals: Vec<Option<Val>>,
    order: Vec<ExprId>,
    /// By expression: whether it is the address of a load or store.
    accessed: Vec<bool>,
}

impl Nodes {
    pub(super) fn new(body: &Body) -> Self {
        let exprs = body.exprs.len();
        Self {
            uses: vec![0; exprs],
            shared: vec![false; exprs],
            vals: vec![None; exprs],
            order: Vec::new(),
            accessed: accessed(body),
        }
    }

    /// Whether an expression is the address of a load or store.
    pub(super) fn is_accessed(&self, address: ExprId) -> bool {
        self.accessed.get(address.index()).copied().unwrap_or_default()
    }
}

impl Builder<'_, '_> {
    /// Lists the nodes of an expression, operands first.
    fn list(&mut self, root: ExprId) {
        let mut order = std::mem::take(&mut self.nodes.order);
        order.clear();
        let mut work = vec![(root, false)];
        while let Some((id, ready)) = work.pop() {
            if ready {
                order.push(id);
                continue;
            }
            self.nodes.uses[id.index()] += 1;
            if self.nodes.uses[id.index()] > 1 {
                continue;
            }
            work.push((id, true));
            let first = work.len();
            self.body.exprs[id].for_each_operand(|operand| work.push((operand, false)));
            work[first..].reverse();
        }
        for id in &order {
            self.nodes.shared[id.index()] = self.nodes.uses[id.index()] > 1;
        }
        self.nodes.order = order;
    }

    /// Makes all nodes but the root, which is left to `root`.
    pub(super) fn tree<R>(&mut self, root: ExprId, make: impl FnOnce(&mut Self) -> R) -> R {
        self.list(root);
        let order = std::mem::take(&mut self.nodes.order);
        for id in &order[..order.len() - 1] {
            let val = self.node(*id, None);
            self.nodes.vals[id.index()] = Some(val);
        }
        let result = make(self);
        for id in &order {
            self.nodes.uses[id.index()] = 0;
            self.nodes.vals[id.index()] = None;
        }
        self.nodes.order = order;
        result
    }

    /// The value of an expression, on its way.
    pub(super) fn value(&mut self, root: ExprId, dst: Option<Slot>) -> Val {
        if let Some(val) = self.leaf(root) {
            return val;
        }
        if self.is_too_large(root) {
            return self.planned(root, dst);
        }
        self.tree(root, |builder| builder.node(root, dst))
    }

    /// The value of an expression in a slot.
    pub(super) fn slot(&mut self, root: ExprId) -> Ref {
        let ty = self.types[root];
        let val = self.value(root, None);
        self.in_slot(val, ty)
    }

    /// The value of an expression in this slot.
    pub(super) fn value_into(&mut self, root: ExprId, dst: Slot) {
        let ty = self.types[root];
        let val = self.value(root, Some(dst));
        self.put(val, ty, dst);
    }

    fn leaf(&mut self, root: ExprId) -> Option<Val> {
        match &self.body.exprs[root] {
            Expr::Const(..) | Expr::Local(_) | Expr::AddrLocal(_) => Some(self.node(root, None)),
            _ => None,
        }
    }

    pub(super) fn is_too_large(&self, root: ExprId) -> bool {
        // Operands come before their users, so this many nodes are the most there can be.
        if root.index() < MOST_NODES {
            return false;
        }
        let mut count = 0;
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            count += 1;
            if count > MOST_NODES {
                return true;
            }
            self.body.exprs[id].for_each_operand(|operand| work.push(operand));
        }
        false
    }

    fn planned(&mut self, root: ExprId, dst: Option<Slot>) -> Val {
        let plan = Plan::new(self.program, &self.body.exprs, &self.types, root);
        let wide = is_wide(self.types[root]);
        let to = self.destination(dst, slots_of(self.types[root]));
        let number = self.code.plans.len() as u32;
        self.code.plans.push(plan);
        self.emit(Op::Plan(to.slot, number, wide));
        Val::Slot(to)
    }

    // Slots.

    fn allocate(&mut self, count: u16) -> Slot {
        if count == 1
            && let Some(slot) = self.free.pop()
        {
            return slot;
        }
        let slot = self.cursor;
        self.cursor = self.cursor.saturating_add(count);
        slot
    }

    pub(super) fn temporary(&mut self, ty: Type) -> Ref {
        Ref { slot: self.allocate(slots_of(ty)), owned: true }
    }

    pub(super) fn destination(&mut self, dst: Option<Slot>, count: u16) -> Ref {
        match dst {
            Some(slot) => Ref { slot, owned: false },
            None => Ref { slot: self.allocate(count), owned: true },
        }
    }

    fn used(&mut self, reference: Ref, ty: Type) {
        if reference.owned && !is_wide(ty) {
            self.free.push(reference.slot);
        }
    }

    /// Frees a slot that an address was made of.
    pub(super) fn release_slot(&mut self, reference: Ref) {
        self.used(reference, Type::Ptr);
    }

    /// The value that an operand has, for one of its users.
    pub(super) fn operand(&mut self, id: ExprId) -> Val {
        let val = self.nodes.vals[id.index()].expect("operands come before their users");
        if self.nodes.shared[id.index()] { val.shared() } else { val }
    }

    pub(super) fn in_slot(&mut self, val: Val, ty: Type) -> Ref {
        if let Val::Slot(reference) = val {
            return reference;
        }
        let to = self.temporary(ty);
        self.put(val, ty, to.slot);
        to
    }

    /// The operand in a slot; the slot is free for what is made next.
    pub(super) fn take(&mut self, val: Val, ty: Type) -> Slot {
        let reference = self.in_slot(val, ty);
        self.used(reference, ty);
        reference.slot
    }

    /// Puts a value into a slot.
    pub(super) fn put(&mut self, val: Val, ty: Type, dst: Slot) {
        match val {
            Val::Slot(from) => {
                if from.slot != dst {
                    self.emit(Op::Move(dst, from.slot));
                    if is_wide(ty) {
                        self.emit(Op::Move(dst + 1, from.slot + 1));
                    }
                }
                self.used(from, ty);
            }
            Val::Const(bits) => {
                self.emit(Op::Const(dst, bits as u64));
                if is_wide(ty) {
                    self.emit(Op::Const(dst + 1, (bits >> 64) as u64));
                }
            }
            Val::Extended(from) => {
                self.emit(Op::SExt32To64(dst, from.slot));
                self.used(from, Type::Int(32));
            }
            Val::Address { base, scaled, offset } => self.put_address(base, scaled, offset, dst),
        }
    }

    /// Computes an address; on a 32-bit target it wraps.
    fn put_address(&mut self, base: Base, scaled: Option<ScaledIndex>, offset: u64, dst: Slot) {
        let target = self.program.types.target;
        let may_wrap = scaled.is_some() || (offset != 0 && matches!(base, Base::Slot(_)));
        let offset = if scaled.is_none() && matches!(base, Base::Zero) {
            target.wrap_address(offset)
        } else {
            offset
        };
        self.put_sum(base, scaled, offset, dst);
        if may_wrap && target.pointer_bits() == 32 {
            self.emit(Op::AddI32(dst, dst, 0));
        }
    }

    fn put_sum(&mut self, base: Base, scaled: Option<ScaledIndex>, offset: u64, dst: Slot) {
        let Some(scaled) = scaled else {
            match base {
                Base::Zero => self.emit(Op::Const(dst, offset)),
                Base::Frame => match u32::try_from(offset) {
                    Ok(offset) => self.emit(Op::FrameAddr(dst, offset)),
                    Err(_) => {
                        self.emit(Op::FrameAddr(dst, 0));
                        self.emit(Op::AddI64(dst, dst, offset));
                    }
                },
                Base::Slot(from) => {
                    match offset {
                        0 => self.emit(Op::Move(dst, from.slot)),
                        _ => self.emit(Op::MovePtr(dst, from.slot, offset)),
                    }
                    self.used(from, Type::Ptr);
                }
            }
            return;
        };
        let (base, offset) = self.indexed_base(base, offset);
        let (index, size) = (scaled.index.slot, scaled.size);
        self.emit(match scaled.extend {
            true => Op::LeaS(dst, base.slot, index, size, offset),
            false => Op::LeaX(dst, base.slot, index, size, offset),
        });
        self.used(base, Type::Ptr);
        self.used(scaled.index, Type::Int(64));
    }

    /// A base in a slot, with as much of the offset as an operation cannot take.
    pub(super) fn indexed_base(&mut self, base: Base, offset: u64) -> (Ref, i32) {
        if let (Base::Slot(slot), Ok(small)) = (base, i32::try_from(offset as i64)) {
            return (slot, small);
        }
        let to = self.temporary(Type::Ptr);
        self.put_address(base, None, offset, to.slot);
        (to, 0)
    }

    // Nodes.

    fn node(&mut self, id: ExprId, dst: Option<Slot>) -> Val {
        let body = self.body;
        let ty = self.types[id];
        match &body.exprs[id] {
            Expr::Const(_, bits) => Val::Const(*bits),
            Expr::Local(local) => self.local(*local),
            Expr::AddrLocal(local) => match self.code.layout.home(*local) {
                Home::Memory { offset, .. } => {
                    Val::Address { base: Base::Frame, scaled: None, offset: u64::from(offset) }
                }
                // The verifier has seen that it is in memory.
                _ => Val::Const(0),
            },
            Expr::AddrGlobal(global) => {
                let address = self.settings.globals.get(global.index()).copied().unwrap_or(0);
                Val::Address { base: Base::Zero, scaled: None, offset: address }
            }
            Expr::AddrFunc(function) => {
                let target = self.program.types.target;
                Val::Const(u128::from(function_address(target, *function)))
            }
            Expr::Load { ty, addr, volatile } => {
                let addr = self.operand(*addr);
                match volatile {
                    true => self.load_volatile(*ty, addr, dst),
                    false => self.load(*ty, addr, dst),
                }
            }
            Expr::LoadBits { field, addr } => {
                let addr = self.operand(*addr);
                let from = self.take(addr, Type::Ptr);
                let number = self.field(field);
                let to = self.destination(dst, slots_of(ty));
                self.emit(Op::LoadBits(to.slot, from, number));
                Val::Slot(to)
            }
            Expr::Unary(op, a) => {
                let a = self.operand(*a);
                self.unary(*op, ty, a, dst)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.binary(*op, ty, a, b, dst)
            }
            Expr::Cmp(op, a, b) => {
                let of = self.types[*a];
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.compare(*op, of, a, b, dst)
            }
            Expr::Cast(op, to, a) => {
                let from = self.types[*a];
                let a = self.operand(*a);
                self.cast(*op, from, *to, a, dst)
            }
            Expr::Field { base, record, field } => {
                let base = self.operand(*base);
                let bits = self.program.types.records[*record].fields[*field as usize].bit_offset;
                self.moved(base, bits / 8)
            }
            Expr::Index { base: array, index, size, .. } => {
                let (base, index) = (self.operand(*array), self.operand(*index));
                self.check_subscript(id, *array, index, *size);
                self.index(base, index, *size)
            }
            // No code has one.
            Expr::Select { .. } => self.planned(id, dst),
            Expr::PtrDiff { a, b, size } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                let (a, b) = self.take_two(a, b, Type::Ptr);
                let to = self.destination(dst, 1);
                self.emit(match self.program.types.target.pointer_bits() {
                    32 => Op::PtrDiff32(to.slot, a, b, *size),
                    _ => Op::PtrDiff(to.slot, a, b, *size),
                });
                Val::Slot(to)
            }
        }
    }

    fn local(&mut self, local: LocalId) -> Val {
        match self.code.layout.home(local) {
            Home::Near(slot) => {
                if let Some(flag) = self.code.layout.flag(local)
                    && !crate::assigned::contains(&self.set, local)
                {
                    self.emit(Op::Check(flag, slot));
                }
                Val::Slot(Ref { slot, owned: false })
            }
            Home::Far(index) => {
                let ty = self.code.layout.ty(local);
                let to = self.temporary(ty);
                self.emit(Op::GetFar(to.slot, index, is_wide(ty)));
                Val::Slot(to)
            }
            Home::Memory { .. } => Val::Const(0),
        }
    }

    /// Two operands in slots, which are free for what is made next.
    pub(super) fn take_two(&mut self, a: Val, b: Val, ty: Type) -> (Slot, Slot) {
        let (a, b) = (self.in_slot(a, ty), self.in_slot(b, ty));
        self.used(a, ty);
        self.used(b, ty);
        (a.slot, b.slot)
    }

    fn address(&mut self, val: Val) -> AddressParts {
        match val {
            Val::Address { base, scaled, offset } => AddressParts { base, scaled, offset },
            Val::Const(bits) => AddressParts::of_base(Base::Zero, bits as u64),
            Val::Slot(slot) => AddressParts::of_base(Base::Slot(slot), 0),
            Val::Extended(_) => AddressParts::of_base(Base::Slot(self.in_slot(val, Type::Ptr)), 0),
        }
    }

    /// An address and some bytes more.
    fn moved(&mut self, val: Val, bytes: u64) -> Val {
        let AddressParts { base, scaled, offset } = self.address(val);
        Val::Address { base, scaled, offset: offset.wrapping_add(bytes) }
    }

    fn index(&mut self, base: Val, index: Val, size: u64) -> Val {
        if let Val::Const(index) = index {
            return self.moved(base, (index as u64).wrapping_mul(size));
        }
        let AddressParts { base, scaled, offset } = self.address(base);
        let Ok(small) = u32::try_from(size) else {
            let index = self.in_slot(index, Type::Int(64));
            self.used(index, Type::Int(64));
            let to = self.temporary(Type::Ptr);
            self.emit(Op::MulI64(to.slot, index.slot, size));
            return self.index_by(
                base,
                scaled,
                offset,
                ScaledIndex { index: to, extend: false, size: 1 },
            );
        };
        let scaled_index = match index {
            Val::Extended(index) => ScaledIndex { index, extend: true, size: small },
            _ => ScaledIndex {
                index: self.in_slot(index, Type::Int(64)),
                extend: false,
                size: small,
            },
        };
        self.index_by(base, scaled, offset, scaled_index)
    }

    fn index_by(
        &mut self,
        base: Base,
        scaled: Option<ScaledIndex>,
        offset: u64,
        by: ScaledIndex,
    ) -> Val {
        if scaled.is_none() {
            return Val::Address { base, scaled: Some(by), offset };
        }
        let to = self.temporary(Type::Ptr);
        self.put_address(base, scaled, 0, to.slot);
        Val::Address { base: Base::Slot(to), scaled: Some(by), offset }
    }

    // Operators.

    pub(super) fn slow(
        &mut self,
        slow: Slow,
        operands: (Slot, Slot),
        dst: Option<Slot>,
        to: Type,
    ) -> Val {
        let number = self.code.slow.len() as u32;
        self.code.slow.push(slow);
        let to = self.destination(dst, slots_of(to));
        self.emit(Op::Slow(to.slot, operands.0, operands.1, number));
        Val::Slot(to)
    }

    /// An operation on one slot that gives one.
    pub(super) fn simple(
        &mut self,
        make: fn(Slot, Slot) -> Op,
        a: Val,
        ty: Type,
        dst: Option<Slot>,
    ) -> Val {
        let a = self.take(a, ty);
        let to = self.destination(dst, 1);
        self.emit(make(to.slot, a));
        Val::Slot(to)
    }

    pub(super) fn with_constant(
        &mut self,
        make: fn(Slot, Slot, u64) -> Op,
        (a, ty): (Val, Type),
        constant: u64,
        dst: Option<Slot>,
    ) -> Val {
        let a = self.take(a, ty);
        let to = self.destination(dst, 1);
        self.emit(make(to.slot, a, constant));
        Val::Slot(to)
    }

    fn unary(&mut self, op: UnOp, ty: Type, a: Val, dst: Option<Slot>) -> Val {
        let overflow = self.settings.overflow;
        if let Val::Const(a) = a
            && let Ok(bits) = arith::unary(op, ty, a, overflow)
        {
            return Val::Const(bits);
        }
        let checked = op == UnOp::NegS && overflow == arith::Overflow::Trap;
        let mask = arith::mask(ty.bits()) as u64;
        match (op, ty.bits()) {
            (UnOp::Not, 1..=64) => self.with_constant(Op::XorI, (a, ty), mask, dst),
            (UnOp::FNeg, 1..=64) => {
                self.with_constant(Op::XorI, (a, ty), 1 << (ty.bits() - 1), dst)
            }
            (UnOp::NegU | UnOp::NegS, 32) if !checked => self.simple(Op::Neg32, a, ty, dst),
            (UnOp::NegU | UnOp::NegS, 64) if !checked => self.simple(Op::Neg64, a, ty, dst),
            (UnOp::NegS, 32) => self.simple(Op::CheckedNeg32, a, ty, dst),
            (UnOp::NegS, 64) => self.simple(Op::CheckedNeg64, a, ty, dst),
            _ => {
                let a = self.take(a, ty);
                self.slow(Slow::Unary(op, ty), (a, a), dst, ty)
            }
        }
    }

    fn binary(&mut self, op: BinOp, ty: Type, a: Val, b: Val, dst: Option<Slot>) -> Val {
        let overflow = self.settings.overflow;
        if let (Val::Const(a), Val::Const(b)) = (a, b)
            && let Ok(bits) = arith::binary(op, ty, a, b, overflow)
        {
            return Val::Const(bits);
        }
        let checked = overflow == arith::Overflow::Trap;
        let (a, b) = match a {
            Val::Const(_) if super::select::commutes(op) => (b, a),
            _ => (a, b),
        };
        if let Val::Const(b) = b
            && let Some((make, constant)) = super::select::constant(op, ty, b, checked)
        {
            return self.with_constant(make, (a, ty), constant, dst);
        }
        let (a, b) = self.take_two(a, b, ty);
        match super::select::binary(op, ty, checked) {
            Some(make) => {
                let to = self.destination(dst, 1);
                self.emit(make(to.slot, a, b));
                Val::Slot(to)
            }
            None => self.slow(Slow::Binary(op, ty), (a, b), dst, ty),
        }
    }

    fn compare(&mut self, op: CmpOp, ty: Type, a: Val, b: Val, dst: Option<Slot>) -> Val {
        if let (Val::Const(a), Val::Const(b)) = (a, b) {
            return Val::Const(u128::from(arith::compare(op, ty, a, b)));
        }
        if let (Val::Const(k), other) | (other, Val::Const(k)) = (a, b)
            && let Some(make) = super::select::equality(op, ty)
        {
            return self.with_constant(make, (other, ty), k as u64, dst);
        }
        let (a, b) = self.take_two(a, b, ty);
        match super::select::compare(op, ty) {
            Some((make, swapped)) => {
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let to = self.destination(dst, 1);
                self.emit(make(to.slot, a, b));
                Val::Slot(to)
            }
            None => self.slow(Slow::Cmp(op, ty), (a, b), dst, Type::BOOL),
        }
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type, a: Val, dst: Option<Slot>) -> Val {
        if let Val::Const(bits) = a
            && let Ok(bits) = arith::cast(op, from, to, bits)
        {
            return Val::Const(bits);
        }
        let (narrow, narrows) = (!is_wide(from), !is_wide(to));
        match op {
            CastOp::ZExt | CastOp::Bits if is_wide(from) == is_wide(to) => return a,
            CastOp::Trunc if narrow => {
                if let (Val::Extended(slot), 32) = (a, to.bits()) {
                    return Val::Slot(slot);
                }
                return self.with_constant(Op::AndI, (a, from), arith::mask(to.bits()) as u64, dst);
            }
            CastOp::ZExt if narrow => {
                let reference = self.in_slot(a, from);
                let pair = self.destination(dst, 2);
                self.emit(Op::Move(pair.slot, reference.slot));
                self.emit(Op::Const(pair.slot + 1, 0));
                self.used(reference, from);
                return Val::Slot(pair);
            }
            CastOp::SExt if from.bits() == 32 && to.bits() == 64 => {
                return Val::Extended(self.in_slot(a, from));
            }
            _ => {}
        }
        if narrow
            && narrows
            && let Some(make) = super::select::cast(op, from, to)
        {
            return self.simple(make, a, from, dst);
        }
        let a = self.take(a, from);
        self.slow(Slow::Cast(op, from, to), (a, a), dst, to)
    }
}
