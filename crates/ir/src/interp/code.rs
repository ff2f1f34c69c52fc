//! The linear code of a function, with its tables.
//!
//! Values live in *slots* of 64 bits, zero above the width of their type; 128-bit values take two,
//! the lower half first. A call's slots are a window of [`WINDOW`] slots in one stack of slots:
//!
//! `[parameters][registers that may be read unset][their flags][other registers][temporaries]`
//!
//! The arguments of a call are computed into temporaries that lie together at the end, and the
//! callee's window begins at the first of them: its parameters are where they are wanted.
//! Registers that find no slot are *far*: beside the window, reached by operations of their own.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use lydian_base::{EntityId, SideTable};
use smallvec::SmallVec;

use super::host_call::HostCall;
use super::layout::FrameLayout;
use super::plan::Plan;
use super::slots::{Slot, Window, read, write};
use crate::libc::Model;
use crate::program::decision::DecisionId;
use crate::program::expr::{BinOp, BitField, CastOp, CmpOp, ExprId, Type, UnOp};
use crate::program::function::Body;
use crate::program::source::{Point, RootId};
use crate::program::stmt::{BlockId, BranchOrigin, MarkId, Stmt, StmtId, TrapKind};
use crate::program::{FuncId, Program, arith};
use crate::variadic::Area;

/// One operation. Operands come after the destination; `u32`s that are no numbers of C's are
/// positions in the tables of [`Code`] or, for jumps, in [`Code::ops`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each is the operator of that name at that width")]
pub(super) enum Op {
    /// That many statements and terminators begin here.
    Steps(u32),
    /// The limit of steps is reached.
    Stop,
    Jump(u32),
    JumpIf(Slot, u32),
    JumpIfNot(Slot, u32),
    JEq(Slot, Slot, u32),
    JNe(Slot, Slot, u32),
    JLtU(Slot, Slot, u32),
    JLeU(Slot, Slot, u32),
    JLtS32(Slot, Slot, u32),
    JLeS32(Slot, Slot, u32),
    JLtS64(Slot, Slot, u32),
    JLeS64(Slot, Slot, u32),
    JEqI(Slot, u32, u64),
    JNeI(Slot, u32, u64),
    JLtUI(Slot, u32, u64),
    JGeUI(Slot, u32, u64),
    JLtS32I(Slot, u32, u64),
    JGeS32I(Slot, u32, u64),
    JLtS64I(Slot, u32, u64),
    JGeS64I(Slot, u32, u64),
    Switch(Slot, u32),
    Trap(TrapKind),
    /// A call of a function with a body.
    Call(FuncId, u32),
    /// Looks up the function at an address.
    Resolve(Slot, Slot, u32),
    /// A call of the function that was looked up.
    CallTo(Slot, u32),
    CallModel(u32),
    CallExternal(FuncId, u32),
    CallHost(HostCall, u32),
    Return,
    ReturnValue(Slot),
    ReturnWide(Slot),
    ReturnRecord(Slot),

    Const(Slot, u64),
    Move(Slot, Slot),
    /// Sets slots to zero, from the first to before the second.
    Clear(Slot, Slot),
    /// Sees by a flag whether a register, the second, was set.
    Check(Slot, Slot),
    GetFar(Slot, u32, bool),
    SetFar(Slot, u32, bool),
    FrameAddr(Slot, u32),
    LeaX(Slot, Slot, Slot, u32, i32),
    LeaS(Slot, Slot, Slot, u32, i32),
    /// Sees whether a subscript lies in its object, which has so many elements, the second number, of
    /// which the first number lie in front of the array.
    InsideX(Slot, u32, u32),
    /// The same of one of 32 bits.
    InsideS(Slot, u32, u32),
    PtrDiff(Slot, Slot, Slot, u64),
    /// The same where addresses have 32 bits.
    PtrDiff32(Slot, Slot, Slot, u64),

    Add32(Slot, Slot, Slot),
    Add64(Slot, Slot, Slot),
    Sub32(Slot, Slot, Slot),
    Sub64(Slot, Slot, Slot),
    Mul32(Slot, Slot, Slot),
    Mul64(Slot, Slot, Slot),
    CheckedAdd32(Slot, Slot, Slot),
    CheckedAdd64(Slot, Slot, Slot),
    CheckedSub32(Slot, Slot, Slot),
    CheckedSub64(Slot, Slot, Slot),
    CheckedMul32(Slot, Slot, Slot),
    CheckedMul64(Slot, Slot, Slot),
    CheckedShl32(Slot, Slot, Slot),
    CheckedShl64(Slot, Slot, Slot),
    DivU(Slot, Slot, Slot),
    RemU(Slot, Slot, Slot),
    DivS32(Slot, Slot, Slot),
    RemS32(Slot, Slot, Slot),
    DivS64(Slot, Slot, Slot),
    RemS64(Slot, Slot, Slot),
    Shl32(Slot, Slot, Slot),
    Shl64(Slot, Slot, Slot),
    ShrU32(Slot, Slot, Slot),
    ShrU64(Slot, Slot, Slot),
    ShrS32(Slot, Slot, Slot),
    ShrS64(Slot, Slot, Slot),
    And(Slot, Slot, Slot),
    Or(Slot, Slot, Slot),
    Xor(Slot, Slot, Slot),
    FAdd32(Slot, Slot, Slot),
    FAdd64(Slot, Slot, Slot),
    FSub32(Slot, Slot, Slot),
    FSub64(Slot, Slot, Slot),
    FMul32(Slot, Slot, Slot),
    FMul64(Slot, Slot, Slot),
    FDiv32(Slot, Slot, Slot),
    FDiv64(Slot, Slot, Slot),
    Eq(Slot, Slot, Slot),
    Ne(Slot, Slot, Slot),
    LtU(Slot, Slot, Slot),
    LeU(Slot, Slot, Slot),
    LtS32(Slot, Slot, Slot),
    LeS32(Slot, Slot, Slot),
    LtS64(Slot, Slot, Slot),
    LeS64(Slot, Slot, Slot),
    FEq32(Slot, Slot, Slot),
    FEq64(Slot, Slot, Slot),
    FNe32(Slot, Slot, Slot),
    FNe64(Slot, Slot, Slot),
    FLt32(Slot, Slot, Slot),
    FLt64(Slot, Slot, Slot),
    FLe32(Slot, Slot, Slot),
    FLe64(Slot, Slot, Slot),

    AddI32(Slot, Slot, u64),
    AddI64(Slot, Slot, u64),
    /// An address moved by a number other than 0.
    MovePtr(Slot, Slot, u64),
    CheckedAddI32(Slot, Slot, u64),
    CheckedAddI64(Slot, Slot, u64),
    MulI32(Slot, Slot, u64),
    MulI64(Slot, Slot, u64),
    AndI(Slot, Slot, u64),
    OrI(Slot, Slot, u64),
    XorI(Slot, Slot, u64),
    ShlI32(Slot, Slot, u64),
    ShlI64(Slot, Slot, u64),
    ShrUI(Slot, Slot, u64),
    ShrSI32(Slot, Slot, u64),
    ShrSI64(Slot, Slot, u64),
    DivUI(Slot, Slot, u64),
    RemUI(Slot, Slot, u64),
    DivSI32(Slot, Slot, u64),
    RemSI32(Slot, Slot, u64),
    DivSI64(Slot, Slot, u64),
    RemSI64(Slot, Slot, u64),
    EqI(Slot, Slot, u64),
    NeI(Slot, Slot, u64),

    Neg32(Slot, Slot),
    Neg64(Slot, Slot),
    CheckedNeg32(Slot, Slot),
    CheckedNeg64(Slot, Slot),
    SExt8To32(Slot, Slot),
    SExt16To32(Slot, Slot),
    SExt8To64(Slot, Slot),
    SExt16To64(Slot, Slot),
    SExt32To64(Slot, Slot),
    S32ToF64(Slot, Slot),
    S64ToF64(Slot, Slot),
    U64ToF64(Slot, Slot),
    F32ToF64(Slot, Slot),
    F64ToF32(Slot, Slot),
    F64ToS32(Slot, Slot),
    F64ToS64(Slot, Slot),
    /// Any operator at any width.
    Slow(Slot, Slot, Slot, u32),
    /// A whole expression, too large for slots.
    Plan(Slot, u32, bool),

    /// The address is a slot and an offset.
    Load8(Slot, Slot, i32),
    Load16(Slot, Slot, i32),
    Load32(Slot, Slot, i32),
    Load64(Slot, Slot, i32),
    /// The address is a slot, and another one times a size, and an offset.
    LoadX8(Slot, Slot, Slot, u32, i32),
    LoadX16(Slot, Slot, Slot, u32, i32),
    LoadX32(Slot, Slot, Slot, u32, i32),
    LoadX64(Slot, Slot, Slot, u32, i32),
    /// The same with an index of 32 bits that is extended by its sign.
    LoadS8(Slot, Slot, Slot, u32, i32),
    LoadS16(Slot, Slot, Slot, u32, i32),
    LoadS32(Slot, Slot, Slot, u32, i32),
    LoadS64(Slot, Slot, Slot, u32, i32),
    /// The address is an offset in the frame.
    LoadF8(Slot, u32),
    LoadF16(Slot, u32),
    LoadF32(Slot, u32),
    LoadF64(Slot, u32),
    /// The address is known.
    LoadA8(Slot, u64),
    LoadA16(Slot, u64),
    LoadA32(Slot, u64),
    LoadA64(Slot, u64),
    /// A number of any size into two slots.
    LoadWide(Slot, Slot, u32),
    LoadBits(Slot, Slot, u32),
    Store8(Slot, Slot, i32),
    Store16(Slot, Slot, i32),
    Store32(Slot, Slot, i32),
    Store64(Slot, Slot, i32),
    StoreX8(Slot, Slot, Slot, u32, i32),
    StoreX16(Slot, Slot, Slot, u32, i32),
    StoreX32(Slot, Slot, Slot, u32, i32),
    StoreX64(Slot, Slot, Slot, u32, i32),
    StoreS8(Slot, Slot, Slot, u32, i32),
    StoreS16(Slot, Slot, Slot, u32, i32),
    StoreS32(Slot, Slot, Slot, u32, i32),
    StoreS64(Slot, Slot, Slot, u32, i32),
    StoreF8(Slot, u32),
    StoreF16(Slot, u32),
    StoreF32(Slot, u32),
    StoreF64(Slot, u32),
    StoreA8(Slot, u64),
    StoreA16(Slot, u64),
    StoreA32(Slot, u64),
    StoreA64(Slot, u64),
    StoreWide(Slot, Slot, u32),
    /// A volatile load or store of at most 8 bytes: the value, the address, how many bytes.
    LoadVolatile(Slot, Slot, u32),
    StoreVolatile(Slot, Slot, u32),
    StoreBits(Slot, Slot, u32),
    /// Copies bytes: to where, from where, how many.
    Copy(Slot, Slot, u64),
    Zero(Slot, u64),
    Enter(u32, u32),
    Leave(u32, u32),
    /// Destination, size, alignment, whether it is an array.
    Alloca(Slot, Slot, u32, bool),
    Release(Slot),
    VaStart(Slot),
    /// Ends the run, with whether the values may differ between machines and runs.
    Havoc(bool),

    /// Events for an observer.
    SeesEntry,
    SeesRoots(u32),
    SeesMark(MarkId),
    SeesStatement(StmtId),
    SeesBlock(BlockId),
    SeesEdge(BlockId, u32),
    SeesCondition(u32),
    SeesOutcome(Slot, u32),
}

/// An operator that has no operation of its own at its width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slow {
    Unary(UnOp, Type),
    Binary(BinOp, Type),
    Cmp(CmpOp, Type),
    Cast(CastOp, Type, Type),
}

/// The bits from `low` to `high` with the operation that they lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BitRange {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) target: u32,
}

/// A case of a switch with the operation that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaseRange {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) target: u32,
}

/// Where a switch goes.
#[derive(Clone, Debug)]
pub(super) enum Table {
    /// By the value less the first.
    Dense { first: u64, targets: Vec<u32>, default: u32 },
    /// Ranges of bits that do not overlap, sorted.
    Ranges { ranges: Vec<BitRange>, default: u32 },
    /// Cases in order.
    Cases { ty: Type, cases: Vec<CaseRange>, default: u32 },
}

impl Table {
    /// Where a value leads; `upper` are the bits of a wide one above 64.
    #[inline]
    pub(super) fn target(&self, bits: u64, upper: u64) -> u32 {
        match self {
            Self::Dense { first, targets, default } => {
                let place = bits.wrapping_sub(*first);
                targets.get(place as usize).copied().unwrap_or(*default)
            }
            Self::Ranges { ranges, default } => {
                let after = ranges.partition_point(|range| range.low <= bits);
                match after.checked_sub(1).map(|index| ranges[index]) {
                    Some(range) if bits <= range.high => range.target,
                    _ => *default,
                }
            }
            Self::Cases { ty, cases, default } => {
                let bits = u128::from(upper) << 64 | u128::from(bits);
                let holds = |case: &&CaseRange| arith::in_case(*ty, bits, case.low, case.high);
                cases.iter().find(holds).map_or(*default, |case| case.target)
            }
        }
    }
}

/// The slot in which an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArgumentSlot {
    /// Its machine type.
    pub(super) ty: Type,
    /// Its first slot, from the first of all.
    pub(super) slot: Slot,
}

/// How a parameter is received.
#[derive(Clone, Copy, Debug)]
pub(super) enum Receive {
    /// The argument's slot is its own.
    Register,
    /// It is stored.
    Scalar { offset: u32, size: u32 },
    /// It is the address of a record, which is copied.
    Record { offset: u32, size: u32 },
}

/// A call as a function makes it.
pub(super) struct CallSite<'p> {
    pub(super) stmt: &'p Stmt,
    /// The first slot of the arguments.
    pub(super) at: Slot,
    pub(super) args: Vec<ArgumentSlot>,
    /// Where a scalar result goes.
    pub(super) dst: Option<(Slot, Type)>,
    /// The slot of the address where a record goes.
    pub(super) dst_addr: Option<Slot>,
    /// The model of the function that is called directly.
    pub(super) model: Option<&'static Model>,
    /// One more than the position of the function whose parameters were last found to suit; 0 for
    /// none.
    pub(super) suits: Cell<u32>,
    /// The same of the function whose type was last found to suit.
    pub(super) signature: Cell<u32>,
    pub(super) variable: OnceCell<Area>,
}

/// The values that a call passes.
pub(super) type Arguments = SmallVec<[u128; 6]>;

impl CallSite<'_> {
    /// The values of the arguments.
    pub(super) fn arguments(&self, regs: &Window) -> Arguments {
        self.args.iter().map(|arg| read(regs, self.at + arg.slot, arg.ty)).collect()
    }

    /// Gives the call its result.
    pub(super) fn give(&self, regs: &mut Window, bits: u128) {
        if let Some((dst, ty)) = self.dst {
            write(regs, dst, ty, arith::truncate(ty, bits));
        }
    }
}

/// How a function takes its arguments.
pub(super) struct Parameters {
    pub(super) slots: Vec<ArgumentSlot>,
    pub(super) receives: Vec<Receive>,
    /// Whether every parameter is a register with a slot, and no arguments are variable.
    pub(super) is_plain: bool,
    pub(super) is_variadic: bool,
}

/// Where a statement or terminator begins among the operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointStart {
    /// The position of its first operation.
    pub(super) pc: u32,
    pub(super) point: Point,
}

/// The statements and terminators of a function, by the operations that they are made of.
#[derive(Default)]
pub(super) struct PointTable {
    starts: Vec<PointStart>,
    /// For each [`Op::Steps`] in order the position of its first point.
    segments: Vec<u32>,
}

impl PointTable {
    /// A segment begins: the points that one [`Op::Steps`] counts.
    pub(super) fn begin_segment(&mut self) {
        self.segments.push(self.starts.len() as u32);
    }

    /// A statement or terminator begins at an operation.
    pub(super) fn begin(&mut self, pc: u32, point: Point) {
        self.starts.push(PointStart { pc, point });
    }

    /// The position among the points of the one that the operation at `pc` belongs to.
    pub(super) fn index_at(&self, pc: usize) -> Option<usize> {
        self.starts.partition_point(|start| start.pc as usize <= pc).checked_sub(1)
    }

    /// The position of the first point that begins at or behind `pc`.
    pub(super) fn index_from(&self, pc: usize) -> usize {
        self.starts.partition_point(|start| (start.pc as usize) < pc)
    }

    /// The point at a position.
    pub(super) fn get(&self, index: usize) -> Option<PointStart> {
        self.starts.get(index).copied()
    }

    /// The operation at which a point begins.
    pub(super) fn start_of(&self, point: Point) -> Option<usize> {
        self.starts.iter().find(|start| start.point == point).map(|start| start.pc as usize)
    }

    /// How many points of a segment follow the one at a position.
    pub(super) fn rest_of_segment(&self, index: usize) -> usize {
        let next = self.segments.partition_point(|first| *first as usize <= index);
        let end = self.segments.get(next).map_or(self.starts.len(), |first| *first as usize);
        end - index - 1
    }
}

/// A root with the expression that tells whether it traps, where others follow it at its place.
#[derive(Debug)]
pub(super) struct RootEvent {
    pub(super) root: RootId,
    pub(super) may_trap: Option<Plan>,
}

/// The tables of the operations that make events for an observer.
#[derive(Default)]
pub(super) struct EventTables {
    pub(super) origins: Vec<BranchOrigin>,
    /// The roots of one place each, in the order of their evaluation.
    pub(super) roots: Vec<Vec<RootEvent>>,
}

/// A function, ready to run.
pub(super) struct Code<'p> {
    pub(super) function: FuncId,
    pub(super) body: &'p Body,
    pub(super) ops: Vec<Op>,
    pub(super) layout: FrameLayout,
    pub(super) params: Parameters,
    pub(super) points: PointTable,
    pub(super) sites: Vec<CallSite<'p>>,
    pub(super) slow: Vec<Slow>,
    pub(super) fields: Vec<BitField>,
    pub(super) tables: Vec<Table>,
    pub(super) plans: Vec<Plan>,
    pub(super) events: EventTables,
    /// The types of the body's expressions, made when an observer's view first needs them.
    expr_types: OnceCell<SideTable<ExprId, Type>>,
    /// The body's expressions that views evaluated, by expression.
    evaluated: OnceCell<Vec<OnceCell<Box<Plan>>>>,
    /// By decision the number of its first condition among those of all.
    first_conditions: Vec<u32>,
}

impl<'p> Code<'p> {
    /// The code of a function, without operations.
    pub(super) fn new(
        function: FuncId,
        body: &'p Body,
        layout: FrameLayout,
        is_variadic: bool,
    ) -> Self {
        let conditions = body.decisions.values().map(|decision| decision.conditions.len() as u32);
        let first_conditions = conditions.scan(0, |next, count| {
            *next += count;
            Some(*next - count)
        });
        Self {
            function,
            body,
            ops: Vec::new(),
            layout,
            params: Parameters {
                slots: Vec::new(),
                receives: Vec::new(),
                is_plain: !is_variadic,
                is_variadic,
            },
            points: PointTable::default(),
            sites: Vec::new(),
            slow: Vec::new(),
            fields: Vec::new(),
            tables: Vec::new(),
            plans: Vec::new(),
            events: EventTables::default(),
            expr_types: OnceCell::new(),
            evaluated: OnceCell::new(),
            first_conditions: first_conditions.collect(),
        }
    }

    /// The types of the body's expressions.
    fn types_of_exprs(&self) -> &SideTable<ExprId, Type> {
        self.expr_types.get_or_init(|| self.body.types_in(&self.body.exprs))
    }

    /// An expression of the body, prepared when it is first asked for.
    pub(super) fn plan_of(&self, program: &Program, expr: ExprId) -> &Plan {
        let all = self.evaluated.get_or_init(|| vec![OnceCell::new(); self.body.exprs.len()]);
        all[expr.index()].get_or_init(|| {
            Box::new(Plan::new(program, &self.body.exprs, self.types_of_exprs(), expr))
        })
    }

    /// The conditions of all decisions, none reached.
    pub(super) fn no_conditions(&self) -> Vec<Option<bool>> {
        let of = self.body.decisions.values().map(|decision| decision.conditions.len());
        vec![None; of.sum()]
    }

    /// Where the conditions of a decision are among those of all.
    pub(super) fn conditions_of(&self, decision: DecisionId) -> Range<usize> {
        let first = self.first_conditions[decision.index()] as usize;
        first..first + self.body.decisions[decision].conditions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_stays_small_as_they_are_read_all_the_time() {
        assert!(size_of::<Op>() <= 16, "{}", size_of::<Op>());
    }
}
