//! Hot variables: the registers that decide where control goes, or which memory is accessed, behind
//! a place.
//!
//! A register is *hot* at a place if its value there may reach a condition, an address, a divisor,
//! an argument of a call or the result of the function before it is set again. The analysis is a
//! liveness analysis that begins at such uses alone and follows assignments. Values stored to
//! memory are not followed. A choice between terms in a hot register makes many later questions
//! harder; in any other register it costs next to nothing. (Kuznetsov, Kinder, Bucur and Candea,
//! "Efficient State Merging in Symbolic Execution", PLDI 2012, count such uses; here one is
//! enough.)

use lydian_base::EntityId;
use lydian_ir::{BinOp, BlockId, Body, Expr, ExprId, LocalId, Stmt, Terminator};

/// A set of registers, as bits.
type Registers = Vec<u64>;

/// The hot registers of a function.
#[derive(Debug)]
pub(crate) struct HotVariables {
    /// The hot registers at the start of each block.
    at_start: Vec<Registers>,
    /// Whether the result of the function is hot.
    result: bool,
    /// Whether values that are stored to memory are hot.
    stores: bool,
}

impl HotVariables {
    /// Analyses a function. `result` says whether its result is hot for its caller.
    pub(crate) fn new(body: &Body, result: bool) -> Self {
        Self::with(body, result, false)
    }

    /// Finds the registers that anything depends on: those that are hot, and those whose values are
    /// stored to memory.
    pub(crate) fn live(body: &Body) -> Self {
        Self::with(body, true, true)
    }

    fn with(body: &Body, result: bool, stores: bool) -> Self {
        let none = vec![0; body.locals.len().div_ceil(64)];
        let mut this = Self { at_start: vec![none; body.blocks.len()], result, stores };
        let mut changed = true;
        while changed {
            changed = false;
            for block in body.blocks.ids().rev() {
                let now = this.before(body, block, 0);
                let known = &mut this.at_start[block.index()];
                if *known != now {
                    *known = now;
                    changed = true;
                }
            }
        }
        this
    }

    /// The hot registers at a position of a block.
    pub(crate) fn before(&self, body: &Body, block: BlockId, position: usize) -> Registers {
        let found = &body.blocks[block];
        let mut set = vec![0; body.locals.len().div_ceil(64)];
        found.term.for_each_successor(|next| {
            set.iter_mut().zip(&self.at_start[next.index()]).for_each(|(a, b)| *a |= b);
        });
        if let Some(operand) = found.term.operand() {
            let returns = matches!(found.term, Terminator::Return(_));
            read(body, operand, self.result || !returns, &mut set);
        }
        for stmt in found.stmts.iter().skip(position).rev() {
            self.step_back(body, &body.stmts[*stmt], &mut set);
        }
        set
    }

    /// Turns the hot registers behind a statement into those before it.
    fn step_back(&self, body: &Body, stmt: &Stmt, set: &mut Registers) {
        match stmt {
            Stmt::Assign { dst, value } => {
                let matters = holds(set, *dst);
                set[dst.index() / 64] &= !(1 << (dst.index() % 64));
                read(body, *value, matters, set);
            }
            Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                read_hot(body, *addr, set);
                read(body, *value, self.stores, set);
            }
            _ => {
                if let Stmt::Release { pointer } = stmt
                    && self.stores
                {
                    set[pointer.index() / 64] |= 1 << (pointer.index() % 64);
                }
                if let Stmt::Call { dst: Some(dst), .. } | Stmt::Alloca { dst, .. } = stmt {
                    set[dst.index() / 64] &= !(1 << (dst.index() % 64));
                }
                stmt.for_each_expr(|expr| read_hot(body, expr, set));
            }
        }
    }
}

/// Whether a register is in a set.
pub(crate) fn holds(set: &Registers, register: LocalId) -> bool {
    set[register.index() / 64] >> (register.index() % 64) & 1 == 1
}

/// Adds the hot registers of an expression with a hot value.
fn read_hot(body: &Body, expr: ExprId, set: &mut Registers) {
    read(body, expr, true, set);
}

/// Adds the hot registers of an expression. `matters` says whether its own value is hot.
fn read(body: &Body, expr: ExprId, matters: bool, set: &mut Registers) {
    let found = &body.exprs[expr];
    match found {
        Expr::Local(local) if matters => set[local.index() / 64] |= 1 << (local.index() % 64),
        Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => read_hot(body, *addr, set),
        Expr::Binary(op, a, b) => {
            let divides = matches!(op, BinOp::DivU | BinOp::DivS | BinOp::RemU | BinOp::RemS);
            let shifts = matches!(op, BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS);
            read(body, *a, matters || *op == BinOp::DivS || *op == BinOp::RemS, set);
            read(body, *b, matters || divides || shifts, set);
        }
        _ => found.for_each_operand(|operand| read(body, operand, matters, set)),
    }
}
