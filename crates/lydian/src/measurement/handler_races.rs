//! Races between a handler of interrupts and the code that it interrupts.
//!
//! Compilers may keep variables that are not volatile in registers, whatever a handler does to memory. So C
//! does not say what a run does in which a handler writes a byte that the code accessed before and reads
//! again, or accesses one that the code wrote before. A byte that the code accesses only after the handler
//! is the usual way to hand data over: no compiler reads it before the volatile variable that says it is
//! there.

use std::ops::Range;

use lydian_ir::interp::{End, Interpreter, Observer, Options, View};
use lydian_ir::test::Test;
use lydian_ir::{AddressOrigin, Edge, Expr, ExprId, FuncId, Program, Stmt, StmtId, Terminator};
use rustc_hash::FxHashMap;

/// Whether a handler that a test lets run races with the code that it interrupts.
pub(crate) fn has_race(
    program: &Program,
    interpreter: &Interpreter<'_>,
    test: &Test,
    options: &Options,
) -> bool {
    let names = test.externals.iter().filter_map(|entry| entry.scripted_interrupt());
    let handlers: Vec<FuncId> =
        names.filter_map(|interrupt| program.function_named(&interrupt.handler)).collect();
    if handlers.is_empty() {
        return false;
    }
    let mut watch = RaceWatch { program, handlers, ..RaceWatch::new(program) };
    let run = interpreter.run(test, options, &mut watch);
    watch.leave(0);
    watch.found || !run.is_ok_and(|run| !matches!(run.end, End::Stopped(_)))
}

/// What was done with a byte so far.
#[derive(Clone, Copy, Default)]
struct ByteUse {
    /// The code accessed it.
    accessed: bool,
    /// The code wrote it.
    written: bool,
    /// A handler wrote it after that.
    overwritten: bool,
}

/// Watches a run for races.
struct RaceWatch<'p> {
    program: &'p Program,
    handlers: Vec<FuncId>,
    /// How many calls were open when the handler that runs began, itself among them.
    in_handler: Option<usize>,
    uses: FxHashMap<u64, ByteUse>,
    /// What the `return` at the end of a block reads, by the number of calls that are open.
    returning: Vec<(usize, Range<u64>)>,
    found: bool,
}

impl<'p> RaceWatch<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            handlers: Vec::new(),
            in_handler: None,
            uses: FxHashMap::default(),
            returning: Vec::new(),
            found: false,
        }
    }

    /// So many calls are open.
    fn leave(&mut self, depth: usize) {
        if self.in_handler.is_some_and(|handler| depth < handler) {
            self.in_handler = None;
        }
        let (ended, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.returning).into_iter().partition(|(of, _)| *of > depth);
        self.returning = open;
        ended.into_iter().for_each(|(_, bytes)| self.reads(bytes));
    }

    fn reads(&mut self, bytes: Range<u64>) {
        for byte in bytes {
            let known = self.uses.entry(byte).or_default();
            self.found |= match self.in_handler {
                Some(_) => known.written,
                None => known.overwritten,
            };
            known.accessed |= self.in_handler.is_none();
        }
    }

    fn writes(&mut self, bytes: Range<u64>) {
        for byte in bytes {
            let known = self.uses.entry(byte).or_default();
            match self.in_handler {
                Some(_) => {
                    self.found |= known.written;
                    known.overwritten |= known.accessed;
                }
                None => *known = ByteUse { accessed: true, written: true, overwritten: false },
            }
        }
    }

    /// What evaluating an expression reads other than as volatile.
    fn read_by(&self, view: &View<'_>, expr: ExprId) -> Vec<Range<u64>> {
        let body = view.body();
        let (mut found, mut waiting) = (Vec::new(), vec![expr]);
        while let Some(expr) = waiting.pop() {
            let target = self.program.types.target;
            match &body.exprs[expr] {
                Expr::Load { addr, ty, volatile: false } => {
                    found.extend(bytes_at(view, *addr, target.stored_bytes(*ty)));
                }
                Expr::LoadBits { addr, field } => {
                    found.extend(bytes_at(view, *addr, field.bytes()))
                }
                _ => {}
            }
            body.exprs[expr].for_each_operand(|operand| waiting.push(operand));
        }
        found
    }

    fn reads_of(&mut self, view: &View<'_>, expr: ExprId) {
        let read = self.read_by(view, expr);
        read.into_iter().for_each(|bytes| self.reads(bytes));
    }
}

impl Observer for RaceWatch<'_> {
    fn hears_statements(&self) -> bool {
        true
    }

    fn entry(&mut self, view: &View<'_>) {
        self.leave(view.depth());
        if self.in_handler.is_none() && self.handlers.contains(&view.function()) && view.depth() > 1
        {
            self.in_handler = Some(view.depth());
        }
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        self.leave(view.depth());
        let body = view.body();
        let stmt = &body.stmts[stmt];
        stmt.for_each_expr(|expr| self.reads_of(view, expr));
        let written = match stmt {
            Stmt::Store { addr, ty, volatile: false, .. } => {
                bytes_at(view, *addr, self.program.types.target.stored_bytes(*ty))
            }
            Stmt::StoreBits { addr, field, .. } => bytes_at(view, *addr, field.bytes()),
            Stmt::Copy { dst, src, size } => {
                bytes_at(view, *src, *size).into_iter().for_each(|bytes| self.reads(bytes));
                bytes_at(view, *dst, *size)
            }
            Stmt::Zero { dst, size } => bytes_at(view, *dst, *size),
            _ => None,
        };
        written.into_iter().for_each(|bytes| self.writes(bytes));
    }

    fn block(&mut self, view: &View<'_>, block: lydian_ir::BlockId) {
        self.leave(view.depth());
        if let Terminator::Return(Some(value)) = view.body().blocks[block].term {
            let read = self.read_by(view, value);
            self.returning.extend(read.into_iter().map(|bytes| (view.depth(), bytes)));
        }
    }

    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        self.leave(view.depth());
        let operand = view.body().blocks[edge.from].term.operand();
        operand.into_iter().for_each(|operand| self.reads_of(view, operand));
    }
}

/// The bytes at an address, unless it is that of a local, which no handler knows.
fn bytes_at(view: &View<'_>, addr: ExprId, size: u64) -> Option<Range<u64>> {
    if AddressOrigin::of(&view.body().exprs, addr) == AddressOrigin::Local {
        return None;
    }
    let start = view.eval(&view.body().exprs, addr).ok()?.bits as u64;
    Some(start..start.saturating_add(size))
}
