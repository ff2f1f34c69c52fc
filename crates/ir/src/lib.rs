//! Lydian's IR: a typed control-flow graph that keeps what C's own level has and LLVM IR loses,
//! its decisions, conditions, statements and source variables.
//!
//! A [`Program`] is one translation unit. Functions own their locals, expressions, statements and
//! blocks in arenas; places in the source lie beside them in [`source::FunctionSource`].
//! The crate knows nothing of objectives, solvers or clang.

mod assigned;
pub mod beginnings;
pub mod cexact;
pub mod cfg;
pub mod ctext;
pub mod device;
pub mod interp;
pub mod libc;
pub mod link;
pub mod nonlocal;
pub mod outside;
pub mod program;
pub mod scalars;
pub mod test;
pub mod text;
pub mod trap;
pub mod unreached;
pub mod variadic;
pub mod verify;

pub use arith::Overflow;
pub use ctype::{CType, CTypeId, CTypes, Field, IntKind, Record, RecordId, Target};
pub use decision::{
    BoolTree, ConditionId, Decision, DecisionId, DecisionKind, Purity, Truth, UnreachedValue,
};
pub use expr::{
    AddressOrigin, BinOp, BitField, CastOp, CmpOp, Expr, ExprArena, ExprId, Type, UnOp, global_at,
};
pub use function::{Body, Function, Local, LocalId, LocalKind, Storage};
pub use program::{
    Alias, ArithmeticType, ExprTypes, FuncId, Global, GlobalId, GlobalInit, InitItem, Linkage,
    Moment, Program, Relocation, RelocationTarget, Startup,
};
pub use program::{arith, ctype, decision, expr, function, source, stmt};
pub use stmt::{
    Block, BlockId, BranchOrigin, Callee, Edge, Havoc, Mark, MarkId, MarkKind, Stmt, StmtId,
    SwitchCase, Terminator, TrapKind,
};
