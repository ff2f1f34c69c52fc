//! Accesses: an access restricts the registers that its address is made of.
//!
//! An address is followed as a [`SymbolicAddress`]: an object or a pointer, plus a constant, plus a
//! register times the size of an element. Registers keep the addresses that they hold, so that a read
//! through `item` restricts `first` after `item = &items[first]`.
//!
//! A run that accesses memory outside of the object from which its address started has undefined
//! behaviour, and covers nothing afterwards (the trap of `Expr::Load` and `Stmt::Store`; the
//! exploration agrees). So after an access through a variable of a known size, the distance from the
//! variable's start is that of a byte of it, and the other bytes of the access follow within it.
//!
//! The distance is known modulo the number of addresses. If the registers' ranges keep it below half
//! of that, it is the distance within the object, since no variable has half of all addresses.
//! Variables that are only declared, or that another definition may replace, can have another size,
//! and restrict nothing.
//!
//! [`ObjectSizes::Small`] is the assumption, which the user must be told, that the objects which
//! parameters point to have fewer than [`LARGE_OBJECT`] bytes. The pointer and the accessed memory
//! lie within the object or just after it, so they are less than that apart.

use lydian_eval::expr::field_offset;
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    BinOp, Body, CastOp, Expr, ExprId, GlobalId, GlobalInit, LocalId, Program, Stmt, Storage, Type,
};

use super::pointers::accessed_arguments;
use super::{Interval, Ranges, State};

/// The size from which on an object is large: 1 GiB.
pub const LARGE_OBJECT: i128 = 1 << 30;

/// Assumptions on the sizes of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectSizes {
    /// No assumption.
    #[default]
    Any,
    /// Objects that parameters point to have fewer than [`LARGE_OBJECT`] bytes.
    Small,
}

/// Memory that a statement or terminator accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    addr: ExprId,
    bytes: u64,
}

/// The start of the computation of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Global(GlobalId),
    Local(LocalId),
    Pointer(LocalId),
}

/// An address: its base, plus a register times a number of bytes, plus an offset, modulo 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolicAddress {
    base: Base,
    index: Option<(LocalId, i128)>,
    offset: i128,
}

impl SymbolicAddress {
    /// The address moved by a number of bytes; `None` if that is too far to be followed.
    pub(super) fn moved(self, bytes: i128) -> Option<Self> {
        let offset = i64::try_from(self.offset.checked_add(bytes)?).ok()?;
        Some(Self { offset: offset.into(), ..self })
    }

    /// The register with the pointer that it starts from.
    pub(super) fn pointer(&self) -> Option<LocalId> {
        match self.base {
            Base::Pointer(pointer) => Some(pointer),
            Base::Global(_) | Base::Local(_) => None,
        }
    }

    /// The register with the pointer that it starts from and the distance from there, if that is
    /// constant.
    pub(super) fn constant_from_pointer(&self) -> Option<(LocalId, i128)> {
        let pointer = self.pointer().filter(|_| self.index.is_none())?;
        Some((pointer, self.offset))
    }

    /// The register whose pointer it equals.
    pub(super) fn copied(&self) -> Option<LocalId> {
        self.constant_from_pointer().filter(|(_, offset)| *offset == 0).map(|(pointer, _)| pointer)
    }

    /// Whether it is made of a register or variable.
    pub(super) fn is_made_of(&self, local: LocalId) -> bool {
        let by_base = match self.base {
            Base::Local(base) | Base::Pointer(base) => base == local,
            Base::Global(_) => false,
        };
        by_base || self.index.is_some_and(|(index, _)| index == local)
    }

    /// Whether its index register satisfies a predicate.
    pub(super) fn has_index(&self, is_meant: impl Fn(LocalId) -> bool) -> bool {
        self.index.is_some_and(|(index, _)| is_meant(index))
    }
}

/// The accesses of a statement before it changes anything.
pub(super) fn accesses_of(program: &Program, body: &Body, stmt: &Stmt) -> Vec<Access> {
    let mut found = Vec::new();
    stmt.for_each_expr(|expr| reads(body, expr, &mut found));
    match stmt {
        Stmt::Store { addr, ty, .. } => found.push(Access { addr: *addr, bytes: stored(*ty) }),
        Stmt::StoreBits { addr, .. } => found.push(Access { addr: *addr, bytes: 1 }),
        Stmt::Call { args, .. } => {
            let accessed = &args[..accessed_arguments(program, stmt).min(args.len())];
            found.extend(accessed.iter().map(|addr| Access { addr: *addr, bytes: 1 }));
        }
        _ => {}
    }
    found
}

/// The reads of a terminator before it chooses.
pub(super) fn tested(body: &Body, term: &Terminator) -> Vec<Access> {
    let mut found = Vec::new();
    let chosen_by = term.operand().filter(|_| !matches!(term, Terminator::Return(_)));
    chosen_by.into_iter().for_each(|operand| reads(body, operand, &mut found));
    found
}

/// Adds the reads of an expression's evaluation.
fn reads(body: &Body, expr: ExprId, found: &mut Vec<Access>) {
    match &body.exprs[expr] {
        Expr::Load { ty, addr, .. } => found.push(Access { addr: *addr, bytes: stored(*ty) }),
        Expr::LoadBits { addr, .. } => found.push(Access { addr: *addr, bytes: 1 }),
        _ => {}
    }
    body.exprs[expr].for_each_operand(|operand| reads(body, operand, found));
}

/// The least number of bytes of a scalar on any target.
const fn stored(ty: Type) -> u64 {
    match ty {
        Type::Ptr => 4,
        _ => ty.bytes(),
    }
}

impl Ranges<'_> {
    /// The state after accesses that did not trap; none if all do.
    pub(super) fn accessed(&self, mut state: State, accesses: &[Access]) -> Option<State> {
        for access in accesses {
            state = self.accessed_at(state, *access)?;
        }
        Some(state)
    }

    fn accessed_at(&self, state: State, access: Access) -> Option<State> {
        let state = self.accessed_through(state, access.addr)?;
        let Some(address) = self.address(&state, access.addr) else { return Some(state) };
        let Some(allowed) = self.distances(address.base, access.bytes) else { return Some(state) };
        let allowed = allowed?;
        let (ends, index) = match address.index {
            None => ([address.offset; 2], None),
            Some((index, size)) => {
                let Some(range) = self.range(&state, index) else { return Some(state) };
                let end = |number: i128| number * size + address.offset;
                ([end(range.low), end(range.high)], Some((index, size)))
            }
        };
        let half = 1i128 << (self.program.types.target.pointer_bits() - 1);
        if ends.iter().any(|end| !(-half..half).contains(end)) {
            return Some(state);
        }
        let Some((index, size)) = index else {
            return allowed.contains(address.offset).then_some(state);
        };
        let low = -(address.offset - allowed.low).div_euclid(size);
        let high = (allowed.high - address.offset).div_euclid(size);
        let values = (low <= high).then_some(Interval { low, high })?;
        self.learn_register(state, index, values)
    }

    /// The distances from a base at which an access of so many bytes can begin; `Some(None)` if there
    /// is none, `None` if they are not known.
    fn distances(&self, base: Base, bytes: u64) -> Option<Option<Interval>> {
        let size = match base {
            Base::Pointer(pointer) if self.sizes == ObjectSizes::Small => {
                let most = LARGE_OBJECT - 1;
                let is_kept = self.kept.contains_key(&pointer);
                return is_kept.then_some(Some(Interval { low: -most, high: most }));
            }
            Base::Pointer(_) => return None,
            Base::Global(global) => known_size(self.program, global)?,
            Base::Local(local) => match self.body.locals[local].storage {
                Storage::Memory { size, .. } => size,
                Storage::Register(_) => return None,
            },
        };
        let last = i128::from(size) - i128::from(bytes);
        Some((last >= 0).then_some(Interval { low: 0, high: last }))
    }

    /// An expression as a symbolic address; `None` if it is not followed.
    pub(super) fn address(&self, state: &State, addr: ExprId) -> Option<SymbolicAddress> {
        let at = |base| SymbolicAddress { base, index: None, offset: 0 };
        match &self.body.exprs[addr] {
            Expr::AddrGlobal(global) => Some(at(Base::Global(*global))),
            Expr::AddrLocal(local) => Some(at(Base::Local(*local))),
            Expr::Local(local) => {
                let known = state.addresses.get(local).copied();
                Some(known.unwrap_or_else(|| at(Base::Pointer(*local))))
            }
            Expr::Field { base, record, field } => {
                let address = self.address(state, *base)?;
                let offset = field_offset(&self.program.types, *record, *field);
                address.moved(offset.into())
            }
            Expr::Index { base, index, size, .. } => {
                let address = self.address(state, *base)?;
                let size = i128::from(i64::try_from(*size).ok().filter(|size| *size > 0)?);
                let (register, steps) = self.linear(state, *index)?;
                let index = match (address.index, register) {
                    (index, None) => index,
                    (None, Some(register)) => Some((register, size)),
                    (Some(_), Some(_)) => return None,
                };
                SymbolicAddress { index, ..address }.moved(steps * size)
            }
            _ => None,
        }
    }

    /// The register and the constant whose sum a number is, as a signed one; `None` if it is no such
    /// sum on every one of these states.
    fn linear(&self, state: &State, expr: ExprId) -> Option<(Option<LocalId>, i128)> {
        let exprs = &self.body.exprs;
        let constant = |expr: ExprId| {
            let range = self.eval(state, expr)?;
            (range.low == range.high).then_some(range.low)
        };
        let from = |inner: ExprId| self.types[inner];
        if let Some(number) = constant(expr) {
            return Some((None, number));
        }
        match &exprs[expr] {
            Expr::Local(_) | Expr::Load { .. } => {
                let local = self.read(expr).filter(|local| self.all(*local).is_some());
                local.map(|local| (Some(local), 0))
            }
            Expr::Cast(CastOp::SExt, _, inner) if from(*inner) != Type::BOOL => {
                self.linear(state, *inner)
            }
            Expr::Cast(CastOp::ZExt, _, inner) => {
                let is_natural = self.eval(state, *inner).is_some_and(|range| range.low >= 0);
                if is_natural { self.linear(state, *inner) } else { None }
            }
            Expr::Binary(op @ (BinOp::AddS | BinOp::AddU | BinOp::SubS | BinOp::SubU), a, b) => {
                let (register, offset) = self.linear(state, *a)?;
                let step = constant(*b)?;
                let is_less = matches!(op, BinOp::SubS | BinOp::SubU);
                let offset = if is_less { offset - step } else { offset + step };
                let all = Interval::of(self.types[expr])?;
                let range = match register {
                    Some(register) => self.range(state, register)?,
                    None => Interval { low: 0, high: 0 },
                };
                let sum = range.plus(offset);
                let fits = all.contains(sum.low) && all.contains(sum.high);
                fits.then_some((register, offset))
            }
            _ => None,
        }
    }
}

/// The size of a global in every program that is linked with this one; `None` if it may differ.
fn known_size(program: &Program, global: GlobalId) -> Option<u64> {
    let global = &program.globals[global];
    let is_defined = !matches!(global.init, GlobalInit::Extern) && !global.weak;
    is_defined.then_some(global.size)
}
