//! Statements, terminators and blocks: everything that changes state or moves control.

use std::fmt;

use lydian_base::Span;
use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::expr::BitField;
use super::ids::{CTypeId, ConditionId, DecisionId, ExprId, FuncId, LocalId};
use super::machine_type::Type;

pub use super::ids::{BlockId, MarkId, StmtId};
pub use super::trap_kind::TrapKind;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stmt {
    /// A place of the source that control passes. Changes nothing.
    Mark(MarkId),
    /// Sets a register local.
    Assign {
        /// The register.
        dst: LocalId,
        /// Its new value.
        value: ExprId,
    },
    /// Writes a scalar to memory.
    Store {
        /// The address.
        addr: ExprId,
        /// The value.
        value: ExprId,
        /// Type of the value.
        ty: Type,
        /// Whether C calls it volatile.
        volatile: bool,
    },
    /// Writes a bit-field and leaves its neighbours alone.
    StoreBits {
        /// Address of the record's first byte plus `field.byte_offset`.
        addr: ExprId,
        /// Which bits.
        field: BitField,
        /// A value of the field's type; its low bits are kept.
        value: ExprId,
    },
    /// Copies the bytes of a struct, union or array. The two places are equal or do not overlap.
    Copy {
        /// The address that is written.
        dst: ExprId,
        /// The address that is read.
        src: ExprId,
        /// How many bytes.
        size: u64,
    },
    /// Sets bytes to zero (initialisers).
    Zero {
        /// The address.
        dst: ExprId,
        /// How many bytes.
        size: u64,
    },
    /// Calls a function.
    Call {
        /// The function.
        callee: Callee,
        /// The arguments: scalars by value, structs and unions by the address of the object that is copied.
        args: Vec<ExprId>,
        /// The C type of each argument as passed.
        arg_types: Vec<CTypeId>,
        /// The register that gets a scalar result.
        dst: Option<LocalId>,
        /// The address that gets a struct or union result.
        dst_addr: Option<ExprId>,
        /// The C type of the function.
        ty: CTypeId,
    },
    /// Begins the lifetime of a memory local, with indeterminate bytes.
    Enter(LocalId),
    /// Ends the lifetime of a memory local.
    Leave(LocalId),
    /// Makes an object on the stack, with indeterminate bytes: a variable length array, or what
    /// `alloca` gives. It lives until [`Stmt::Release`] or until the function returns. Traps with
    /// [`TrapKind::BadSize`] where the size as a signed number is negative, or not positive for an
    /// array, or more than [`MAX_OBJECT`]. An object of no bytes has an address of its own.
    Alloca {
        /// The register, an address, that gets the address of its first byte.
        dst: LocalId,
        /// Its size in bytes, an `i64`.
        size: ExprId,
        /// Its alignment in bytes, a power of two.
        align: u64,
        /// Whether it is a variable length array: C wants those to have an element.
        array: bool,
    },
    /// Ends the lifetime of the object that an `Alloca` of this activation made last at the address
    /// in a register, and sets the register to null. Does nothing where it is null or was never set:
    /// the scope of a variable length array can be left before its declaration.
    Release {
        /// The register that the `Alloca` set.
        pointer: LocalId,
    },
    /// Begins to read the variable arguments: makes a `va_list` in memory that leads to the first
    /// of them. See [`crate::variadic`].
    VaStart {
        /// The address of the `va_list`.
        list: ExprId,
    },
    /// Says that the next variable argument is about to be read, and does nothing. An engine that
    /// has the arguments of the function under test as inputs makes one of that type here.
    VaArg {
        /// The address of the argument's slot.
        at: ExprId,
        /// The C type that it is read with.
        ty: CTypeId,
    },
    /// Gives places values of which nothing is known: inline assembly was executed.
    Havoc(Box<Havoc>),
}

/// The most bytes that one object on the stack can have.
pub const MAX_OBJECT: u64 = 1 << 46;

/// The places that inline assembly may have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Havoc {
    /// Registers.
    pub registers: Vec<LocalId>,
    /// Addresses, and how many bytes from there; at least one.
    pub places: Vec<(ExprId, u64)>,
    /// Whether any memory that code outside of this function can name may have changed (a `memory`
    /// clobber).
    pub memory: bool,
    /// Whether the values may differ from machine to machine or from run to run (`cpuid`, `rdtsc`).
    pub varies: bool,
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// A function by name.
    Direct(FuncId),
    /// Through a pointer.
    Indirect(ExprId),
}

/// The kinds of marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// The start of a C statement (a compound statement is none; a declaration with an initialiser
    /// is one).
    Statement,
    /// A label of the user's: covered where the tree is true. Its conditions are evaluated on the
    /// state at this place, `MayTrap` ones where short-circuit evaluation reaches them.
    UserLabel {
        /// The label's name.
        name: String,
        /// Its predicate.
        predicate: Box<Decision>,
    },
}

/// A place of the source that objectives refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its kind.
    pub kind: MarkKind,
    /// Its text.
    pub span: Span,
}

/// Where control goes at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Terminator {
    /// Always to one block.
    Goto(BlockId),
    /// To one of two, by an `i1`.
    Branch {
        /// The test.
        cond: ExprId,
        /// Where it goes when true.
        then_to: BlockId,
        /// Where it goes when false.
        else_to: BlockId,
        /// The condition that it evaluates; none for branches that no C decision made.
        origin: Option<BranchOrigin>,
    },
    /// To the case that holds the value.
    Switch {
        /// An integer.
        value: ExprId,
        /// Disjoint cases in source order.
        cases: Vec<SwitchCase>,
        /// Where all other values go.
        default: BlockId,
    },
    /// Back to the caller: with a scalar, or the address of the struct or union to copy.
    Return(Option<ExprId>),
    /// Ends the run as a fault of the program under test.
    Trap(TrapKind),
}

/// The condition that a branch evaluates, and how it ends its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchOrigin {
    /// The decision.
    pub decision: DecisionId,
    /// The condition. Several branches may evaluate one condition (the right side of a Boolean
    /// `==` is lowered twice), but no path passes two of them for one evaluation of the decision.
    pub condition: ConditionId,
    /// Whether it begins an evaluation of the decision, which forgets the one before.
    pub begins: bool,
    /// The decision's outcome if this edge ends it.
    pub then_outcome: Option<bool>,
    /// The decision's outcome if this edge ends it.
    pub else_outcome: Option<bool>,
}

/// One `case` of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchCase {
    /// Least value, as the switch's (promoted) type reads it.
    pub low: i128,
    /// Greatest value; equal to `low` but for GNU case ranges.
    pub high: i128,
    /// Where it goes.
    pub target: BlockId,
    /// The text of the label.
    pub span: Span,
}

/// A straight run of statements with one exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// In execution order.
    pub stmts: Vec<StmtId>,
    /// The exit.
    pub term: Terminator,
}

/// One way out of a block, by its position among them: `then` is 0 and `else` is 1; a switch's
/// cases count from 0 and its default comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// The block that is left.
    pub from: BlockId,
    /// Which way.
    pub way: u32,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.from, self.way)
    }
}

impl Terminator {
    /// The expression that it evaluates.
    pub const fn operand(&self) -> Option<ExprId> {
        match self {
            Self::Branch { cond, .. } => Some(*cond),
            Self::Switch { value, .. } => Some(*value),
            Self::Return(value) => *value,
            Self::Goto(_) | Self::Trap(_) => None,
        }
    }

    /// Calls `visit` with each successor, in the order of [`Edge::way`].
    pub fn for_each_successor(&self, mut visit: impl FnMut(BlockId)) {
        match self {
            Self::Goto(to) => visit(*to),
            Self::Branch { then_to, else_to, .. } => {
                visit(*then_to);
                visit(*else_to);
            }
            Self::Switch { cases, default, .. } => {
                cases.iter().for_each(|case| visit(case.target));
                visit(*default);
            }
            Self::Return(_) | Self::Trap(_) => {}
        }
    }
}

impl Stmt {
    /// The address of the object that it gives a value, of a call where its result goes.
    pub const fn written(&self) -> Option<ExprId> {
        match self {
            Self::Store { addr, .. } | Self::StoreBits { addr, .. } => Some(*addr),
            Self::Copy { dst, .. } | Self::Zero { dst, .. } => Some(*dst),
            Self::Call { dst_addr, .. } => *dst_addr,
            _ => None,
        }
    }

    /// Calls `visit` with each expression that it evaluates, in the order of their evaluation.
    pub fn for_each_expr(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Self::Mark(_) | Self::Enter(_) | Self::Leave(_) | Self::Release { .. } => {}
            Self::Alloca { size, .. } => visit(*size),
            Self::VaStart { list } => visit(*list),
            Self::VaArg { at, .. } => visit(*at),
            Self::Havoc(havoc) => havoc.places.iter().for_each(|(addr, _)| visit(*addr)),
            Self::Assign { value, .. } => visit(*value),
            Self::Store { addr, value, .. } | Self::StoreBits { addr, value, .. } => {
                visit(*value);
                visit(*addr);
            }
            Self::Copy { dst, src, .. } => {
                visit(*src);
                visit(*dst);
            }
            Self::Zero { dst, .. } => visit(*dst),
            Self::Call { callee, args, dst_addr, .. } => {
                if let Callee::Indirect(pointer) = callee {
                    visit(*pointer);
                }
                args.iter().copied().for_each(&mut visit);
                dst_addr.iter().copied().for_each(&mut visit);
            }
        }
    }
}
