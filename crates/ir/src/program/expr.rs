//! Pure expressions: trees in a function's arena that read memory and registers but change nothing.
//!
//! Every side effect is a statement, so an expression can be evaluated as often as one likes on one
//! state and always gives one value or one trap. Signedness is in the operator, not in the type.
//! C's `&&`, `||`, `!` on tests and `?:` are control flow where the program evaluates them; a
//! [`Expr::Select`] stands for them in what a condition is where evaluation does not reach it.

use lydian_base::Arena;
use serde::{Deserialize, Serialize};

use super::ids::{FuncId, GlobalId, LocalId, RecordId};

pub use super::ids::ExprId;
pub use super::machine_type::Type;
pub use super::operator::{BinOp, CastOp, CmpOp, UnOp};

/// The expressions of a function. Operands come before their users, so ids are a topological order.
pub type ExprArena = Arena<ExprId, Expr>;

/// What an address is computed from, as far as its expression shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    /// A local.
    Local,
    /// A global.
    Global(GlobalId),
    /// A pointer, or anything else.
    Pointer,
}

impl AddressOrigin {
    /// The origin of an address.
    pub fn of(exprs: &ExprArena, address: ExprId) -> Self {
        match &exprs[address] {
            Expr::AddrLocal(_) => Self::Local,
            Expr::AddrGlobal(global) => Self::Global(*global),
            Expr::Field { base, .. } | Expr::Index { base, .. } => Self::of(exprs, *base),
            _ => Self::Pointer,
        }
    }
}

/// The global that an address lies in, where it is computed from nothing but it and indices.
pub fn global_at(exprs: &ExprArena, address: ExprId) -> Option<GlobalId> {
    match AddressOrigin::of(exprs, address) {
        AddressOrigin::Global(global) => Some(global),
        AddressOrigin::Local | AddressOrigin::Pointer => None,
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A constant: its bits, zero-extended; floats by their IEEE pattern.
    Const(Type, u128),
    /// The value of a register local.
    Local(LocalId),
    /// The address of a memory local.
    AddrLocal(LocalId),
    /// The address of a global.
    AddrGlobal(GlobalId),
    /// The address of a function.
    AddrFunc(FuncId),
    /// The value at an address. Traps where the address is not of a live object with that many
    /// bytes left.
    Load {
        /// The type that is read.
        ty: Type,
        /// The address.
        addr: ExprId,
        /// Whether C calls it volatile. Such a load stands alone, as the whole value of an
        /// assignment to a temporary.
        volatile: bool,
    },
    /// The value of a bit-field, extended to its type.
    LoadBits {
        /// The bit-field.
        field: BitField,
        /// Address of the record's first byte plus `field.byte_offset`.
        addr: ExprId,
    },
    /// `op a`.
    Unary(UnOp, ExprId),
    /// `a op b`. Shift amounts have the type of what is shifted.
    Binary(BinOp, ExprId, ExprId),
    /// A comparison, of type `i1`.
    Cmp(CmpOp, ExprId, ExprId),
    /// A conversion to a type.
    Cast(CastOp, Type, ExprId),
    /// The address of a member: `base` plus the member's byte offset.
    Field {
        /// Address of the record.
        base: ExprId,
        /// Which struct or union.
        record: RecordId,
        /// Which member, by its position in the record.
        field: u32,
    },
    /// `base + index * size`, as C's subscripts and pointer arithmetic do.
    Index {
        /// Address of element 0.
        base: ExprId,
        /// A 64-bit signed integer.
        index: ExprId,
        /// Bytes of an element.
        size: u64,
        /// How many elements there are, for an array of known length that is subscripted directly.
        bound: Option<u64>,
    },
    /// `(a - b) / size` on addresses, as a 64-bit signed integer. The difference wraps at the
    /// width of the target's pointers.
    PtrDiff {
        /// Minuend.
        a: ExprId,
        /// Subtrahend.
        b: ExprId,
        /// Bytes of an element.
        size: u64,
    },
    /// `test ? then : otherwise`. Only the operand that is chosen is evaluated, so only that one may
    /// trap. It stands in no code: only in what a condition is where it is not reached
    /// ([`crate::program::decision::UnreachedValue`]).
    Select {
        /// An `i1`.
        test: ExprId,
        /// The value where the test is true.
        then: ExprId,
        /// The value where it is false, of the same type.
        otherwise: ExprId,
    },
}

/// A bit-field inside the bytes that hold it, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BitField {
    /// Which struct or union.
    pub record: RecordId,
    /// Which member, by its position in the record.
    pub field: u32,
    /// Offset in bytes of the first byte that holds a bit of it, from the record's start.
    pub byte_offset: u64,
    /// Position of its lowest bit within that byte, 0 to 7.
    pub bit: u8,
    /// How many bits, 1 to 128; at most 16 bytes hold them.
    pub bits: u8,
    /// Whether the value is sign-extended.
    pub signed: bool,
    /// The type of the value (the declared type).
    pub ty: Type,
}

impl BitField {
    /// How many bytes hold it.
    pub const fn bytes(&self) -> u64 {
        (self.bit as u64 + self.bits as u64).div_ceil(8)
    }
}

impl Expr {
    /// Calls `visit` with each operand, in order.
    pub fn for_each_operand(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Self::Const(..)
            | Self::Local(_)
            | Self::AddrLocal(_)
            | Self::AddrGlobal(_)
            | Self::AddrFunc(_) => {}
            Self::Load { addr, .. } | Self::LoadBits { addr, .. } => visit(*addr),
            Self::Unary(_, a) | Self::Cast(_, _, a) => visit(*a),
            Self::Field { base, .. } => visit(*base),
            Self::Binary(_, a, b) | Self::Cmp(_, a, b) | Self::PtrDiff { a, b, .. } => {
                visit(*a);
                visit(*b);
            }
            Self::Index { base, index, .. } => {
                visit(*base);
                visit(*index);
            }
            Self::Select { test, then, otherwise } => {
                visit(*test);
                visit(*then);
                visit(*otherwise);
            }
        }
    }

    /// Whether it has no operands: a constant, a register, an address. Such cannot trap.
    pub fn is_leaf(&self) -> bool {
        let mut leaf = true;
        self.for_each_operand(|_| leaf = false);
        leaf
    }

    /// The same expression with each operand replaced by the result of `map` on it.
    pub fn map_operands(&self, mut map: impl FnMut(ExprId) -> ExprId) -> Self {
        let mut new = self.clone();
        match &mut new {
            Self::Const(..)
            | Self::Local(_)
            | Self::AddrLocal(_)
            | Self::AddrGlobal(_)
            | Self::AddrFunc(_) => {}
            Self::Load { addr: a, .. }
            | Self::LoadBits { addr: a, .. }
            | Self::Unary(_, a)
            | Self::Cast(_, _, a)
            | Self::Field { base: a, .. } => *a = map(*a),
            Self::Binary(_, a, b)
            | Self::Cmp(_, a, b)
            | Self::PtrDiff { a, b, .. }
            | Self::Index { base: a, index: b, .. } => {
                *a = map(*a);
                *b = map(*b);
            }
            Self::Select { test, then, otherwise } => {
                *test = map(*test);
                *then = map(*then);
                *otherwise = map(*otherwise);
            }
        }
        new
    }
}

/// The type of an expression. `local_type` gives the type of a register local.
/// Linear in the length of chains of operators that keep their operand's type.
pub fn type_of(arena: &ExprArena, expr: ExprId, local_type: impl Fn(LocalId) -> Type) -> Type {
    let mut at = expr;
    loop {
        at = match &arena[at] {
            Expr::Const(ty, _) | Expr::Load { ty, .. } | Expr::Cast(_, ty, _) => return *ty,
            Expr::LoadBits { field, .. } => return field.ty,
            Expr::Local(local) => return local_type(*local),
            Expr::AddrLocal(_)
            | Expr::AddrGlobal(_)
            | Expr::AddrFunc(_)
            | Expr::Field { .. }
            | Expr::Index { .. } => return Type::Ptr,
            Expr::Cmp(..) => return Type::BOOL,
            Expr::PtrDiff { .. } => return Type::Int(64),
            Expr::Unary(_, a) | Expr::Binary(_, a, _) | Expr::Select { then: a, .. } => *a,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_stays_small_as_there_are_many() {
        assert!(size_of::<Expr>() <= 48, "{}", size_of::<Expr>());
    }
}
