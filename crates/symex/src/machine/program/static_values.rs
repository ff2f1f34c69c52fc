//! The values that a static variable can have, as far as the program's text shows them.
//!
//! The name of a static local is known in its function alone. Other code can use its address: where
//! the address is stored, returned, turned into a number, or passed other than as a pointer to
//! const, any code may write to the variable at any time.

use std::collections::BTreeSet;

use lydian_ir::{
    Body, CType, CTypeId, Expr, ExprId, FuncId, Function, GlobalId, GlobalInit, Program,
    RelocationTarget, Stmt, Type, global_at,
};

/// The most values of a variable that are listed.
const MOST_VALUES: usize = 4;

/// The uses of a static variable in the program's text.
#[derive(Debug, Default)]
pub(crate) struct VariableUses {
    /// Whether other code may write through its address.
    pub(crate) escapes: bool,
    /// Whether it is written by its name.
    pub(crate) is_written: bool,
    /// The values that it can have, as bytes, including its initial one. `None` where more than a
    /// few constants are written to it, or its address escapes.
    pub(crate) values: Option<BTreeSet<Vec<u8>>>,
}

impl VariableUses {
    /// The uses of a variable in some functions, including the one that declares it.
    pub(crate) fn of(program: &Program, functions: &[FuncId], variable: GlobalId) -> Self {
        let global = &program.globals[variable];
        let first = program.types.scalar(global.ty).and_then(|ty| first_value(&global.init, ty));
        let values = first.map(|first| BTreeSet::from([first]));
        let mut uses = Self { values, ..Self::default() };
        let address = RelocationTarget::Global(variable);
        uses.escapes = program.relocations().any(|relocation| relocation.target == address);
        for function in functions.iter().map(|id| &program.functions[*id]) {
            if let Some(body) = &function.body {
                uses.add(&VariableInFunction { program, function, body, variable });
            }
        }
        let values = uses.values.take();
        uses.values = values.filter(|all| !uses.escapes && all.len() <= MOST_VALUES);
        uses
    }

    /// Whether it may have another value than its initial one.
    pub(crate) const fn may_change(&self) -> bool {
        self.escapes || self.is_written
    }

    fn add(&mut self, within: &VariableInFunction<'_>) {
        let VariableInFunction { program, function, body, .. } = *within;
        let leads_to = |expr: ExprId| within.leads_to(expr);
        for expr in body.exprs.values() {
            match expr {
                // Such expressions read the variable, or are addresses in it themselves.
                Expr::Load { .. }
                | Expr::LoadBits { .. }
                | Expr::Cmp(..)
                | Expr::PtrDiff { .. }
                | Expr::Field { .. }
                | Expr::Index { .. } => {}
                _ => expr.for_each_operand(|operand| self.escapes |= leads_to(operand)),
            }
        }
        for stmt in body.stmts.values() {
            match stmt {
                Stmt::Store { addr, value, ty, .. } => {
                    self.escapes |= leads_to(*value);
                    if leads_to(*addr) {
                        self.note_store(within, (*addr, *value), *ty);
                    }
                }
                Stmt::Assign { dst, value } => {
                    self.escapes |= leads_to(*value) && !is_to_const(program, body.locals[*dst].ty);
                }
                Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => {
                    self.note_write_if(leads_to(*dst))
                }
                Stmt::StoreBits { addr, .. } => self.note_write_if(leads_to(*addr)),
                Stmt::Call { args, arg_types, dst_addr, .. } => {
                    self.note_write_if(dst_addr.is_some_and(leads_to));
                    for (at, arg) in args.iter().enumerate() {
                        let stays = arg_types.get(at).is_some_and(|ty| is_to_const(program, *ty));
                        self.escapes |= leads_to(*arg) && !stays;
                    }
                }
                _ => stmt.for_each_expr(|expr| self.escapes |= leads_to(expr)),
            }
        }
        let gives_const = match program.types.get(function.ty) {
            CType::Function { result, .. } => is_to_const(program, *result),
            _ => false,
        };
        let operands = body.blocks.values().filter_map(|block| block.term.operand());
        self.escapes |= operands.into_iter().any(leads_to) && !gives_const;
    }

    fn note_write_if(&mut self, writes: bool) {
        if writes {
            (self.is_written, self.values) = (true, None);
        }
    }

    /// Notes that a value is stored at a place in the variable.
    fn note_store(
        &mut self,
        within: &VariableInFunction<'_>,
        (addr, value): (ExprId, ExprId),
        ty: Type,
    ) {
        self.is_written = true;
        let exprs = &within.body.exprs;
        let is_whole = matches!(exprs[addr], Expr::AddrGlobal(_))
            && within.program.globals[within.variable].size == ty.bytes();
        match (&exprs[value], &mut self.values) {
            (Expr::Const(_, bits), Some(values)) if is_whole => {
                values.insert(bits.to_le_bytes()[..ty.bytes() as usize].to_vec());
            }
            _ => self.values = None,
        }
    }
}

/// A function's text, and a variable that is searched for in it.
struct VariableInFunction<'a> {
    program: &'a Program,
    function: &'a Function,
    body: &'a Body,
    variable: GlobalId,
}

impl VariableInFunction<'_> {
    /// Whether an expression is an address in the variable.
    fn leads_to(&self, expr: ExprId) -> bool {
        global_at(&self.body.exprs, expr) == Some(self.variable)
    }
}

fn is_to_const(program: &Program, ty: CTypeId) -> bool {
    matches!(program.types.get(ty), CType::Pointer { to_const: true, .. })
}

/// The initial bytes of a variable of a scalar type; `None` where these are an address.
fn first_value(init: &GlobalInit, ty: Type) -> Option<Vec<u8>> {
    let mut bytes = vec![0; ty.bytes() as usize];
    match init {
        GlobalInit::Zero => {}
        GlobalInit::Data { items, relocations } if relocations.is_empty() => {
            for item in items {
                let at = item.offset as usize;
                bytes.get_mut(at..at + item.bytes.len())?.copy_from_slice(&item.bytes);
            }
        }
        GlobalInit::Extern | GlobalInit::Data { .. } => return None,
    }
    Some(bytes)
}
