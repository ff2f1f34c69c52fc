//! Rule 1: every id names something that is there.

use std::fmt::Display;

use lydian_base::{Arena, EntityId};

use super::violation::{Rule, Violations};
use crate::program::ctype::{CType, CTypeId, CTypes};
use crate::program::decision::Decision;
use crate::program::expr::Expr;
use crate::program::function::Body;
use crate::program::source::{Point, RootKind};
use crate::program::stmt::{Callee, MarkKind, Stmt, Terminator};
use crate::program::{Alias, GlobalInit, Program, RelocationTarget};

/// Looks ids up and remembers whether all were there.
struct Check<'a> {
    found: &'a mut Violations,
    type_count: usize,
    holds: bool,
}

impl Check<'_> {
    fn in_arena<I: EntityId, T>(&mut self, id: I, arena: &Arena<I, T>, user: impl Display) {
        self.below(id, arena.len(), user);
    }

    fn below<I: EntityId>(&mut self, id: I, len: usize, user: impl Display) {
        let there = id.index() < len;
        self.holds &= there;
        self.found.require(there, Rule::Ids, || format!("{user} names {id}, which does not exist"));
    }

    fn ty(&mut self, id: CTypeId, user: impl Display) {
        self.below(id, self.type_count, user);
    }
}

fn count(types: &CTypes) -> usize {
    types.iter().count()
}

/// Ids in types, globals and functions' heads.
pub(super) fn of_program(program: &Program, found: &mut Violations) -> bool {
    let mut check = Check { found, type_count: count(&program.types), holds: true };
    for (id, ty) in program.types.iter() {
        CTypes::parts(ty).into_iter().for_each(|part| check.ty(part, id));
        if let CType::Record(record) = ty {
            check.in_arena(*record, &program.types.records, id);
        }
    }
    for (id, record) in program.types.records.iter() {
        record.fields.iter().for_each(|field| check.ty(field.ty, id));
    }
    program.typedefs.iter().for_each(|(name, ty)| check.ty(*ty, name));
    for Alias { name, target } in &program.aliases {
        match *target {
            RelocationTarget::Global(target) => check.in_arena(target, &program.globals, name),
            RelocationTarget::Function(target) => check.in_arena(target, &program.functions, name),
        }
    }
    program.startup.iter().for_each(|entry| {
        check.in_arena(entry.function, &program.functions, "what runs beside `main`");
    });
    for (id, global) in program.globals.iter() {
        check.ty(global.ty, id);
        if let GlobalInit::Data { relocations, .. } = &global.init {
            for relocation in relocations {
                match relocation.target {
                    RelocationTarget::Global(target) => {
                        check.in_arena(target, &program.globals, id);
                    }
                    RelocationTarget::Function(target) => {
                        check.in_arena(target, &program.functions, id);
                    }
                }
            }
        }
    }
    for (id, function) in program.functions.iter() {
        check.ty(function.ty, id);
    }
    check.holds
}

/// Ids in a body.
pub(super) fn of_body(program: &Program, body: &Body, found: &mut Violations) -> bool {
    let mut check = Check { found, type_count: count(&program.types), holds: true };
    check.in_arena(body.entry, &body.blocks, "the body");
    body.params.iter().for_each(|id| check.in_arena(*id, &body.locals, "the parameter list"));
    body.locals.iter().for_each(|(id, local)| check.ty(local.ty, id));
    of_exprs(program, body, &mut check);
    of_stmts(program, body, &mut check);
    for (id, block) in body.blocks.iter() {
        block.stmts.iter().for_each(|stmt| check.in_arena(*stmt, &body.stmts, id));
        block.term.for_each_successor(|to| check.in_arena(to, &body.blocks, id));
        block.term.operand().iter().for_each(|expr| check.in_arena(*expr, &body.exprs, id));
        if let Terminator::Branch { origin: Some(origin), .. } = &block.term {
            check.in_arena(origin.decision, &body.decisions, id);
            if let Some(decision) = body.decisions.get(origin.decision) {
                check.in_arena(origin.condition, &decision.conditions, id);
            }
        }
    }
    for (id, decision) in body.decisions.iter() {
        of_decision(body, decision, id, &mut check);
    }
    for (id, mark) in body.marks.iter() {
        if let MarkKind::UserLabel { predicate, .. } = &mark.kind {
            of_decision(body, predicate, id, &mut check);
        }
    }
    of_source(body, &mut check);
    check.holds
}

fn of_exprs(program: &Program, body: &Body, check: &mut Check<'_>) {
    for (id, expr) in body.exprs.iter() {
        expr.for_each_operand(|operand| check.in_arena(operand, &body.exprs, id));
        match expr {
            Expr::Local(local) | Expr::AddrLocal(local) => {
                check.in_arena(*local, &body.locals, id);
            }
            Expr::AddrGlobal(global) => check.in_arena(*global, &program.globals, id),
            Expr::AddrFunc(function) => check.in_arena(*function, &program.functions, id),
            Expr::Field { record, .. } => check.in_arena(*record, &program.types.records, id),
            Expr::LoadBits { field, .. } => {
                check.in_arena(field.record, &program.types.records, id);
            }
            _ => {}
        }
    }
}

fn of_stmts(program: &Program, body: &Body, check: &mut Check<'_>) {
    for (id, stmt) in body.stmts.iter() {
        stmt.for_each_expr(|expr| check.in_arena(expr, &body.exprs, id));
        match stmt {
            Stmt::Mark(mark) => check.in_arena(*mark, &body.marks, id),
            Stmt::Assign { dst: local, .. } | Stmt::Enter(local) | Stmt::Leave(local) => {
                check.in_arena(*local, &body.locals, id);
            }
            Stmt::StoreBits { field, .. } => {
                check.in_arena(field.record, &program.types.records, id);
            }
            Stmt::Call { callee, arg_types, dst, ty, .. } => {
                if let Callee::Direct(function) = callee {
                    check.in_arena(*function, &program.functions, id);
                }
                arg_types.iter().for_each(|ty| check.ty(*ty, id));
                dst.iter().for_each(|local| check.in_arena(*local, &body.locals, id));
                check.ty(*ty, id);
            }
            Stmt::VaArg { ty, .. } => check.ty(*ty, id),
            Stmt::Alloca { dst: local, .. } | Stmt::Release { pointer: local } => {
                check.in_arena(*local, &body.locals, id);
            }
            Stmt::Havoc(havoc) => {
                havoc.registers.iter().for_each(|local| check.in_arena(*local, &body.locals, id));
            }
            Stmt::Store { .. } | Stmt::Copy { .. } | Stmt::Zero { .. } | Stmt::VaStart { .. } => {}
        }
    }
}

fn of_decision(body: &Body, decision: &Decision, user: impl Display, check: &mut Check<'_>) {
    decision.tree.for_each_condition(&mut |condition| {
        check.in_arena(condition, &decision.conditions, &user);
    });
    for condition in decision.conditions.values() {
        check.in_arena(condition.expr, &body.exprs, &user);
        if let Some(expr) = condition.unreached.expr() {
            check.in_arena(expr, &body.exprs, &user);
        }
    }
}

fn of_source(body: &Body, check: &mut Check<'_>) {
    let source = &body.source;
    source.marks.iter().for_each(|site| check.in_arena(site.mark, &body.marks, "a mark's site"));
    source.labels.iter().for_each(|site| check.in_arena(site.mark, &body.marks, "a label's site"));
    for site in &source.decisions {
        check.in_arena(site.decision, &body.decisions, "a decision's site");
    }
    for site in &source.switches {
        check.in_arena(site.block, &body.blocks, "a switch's site");
    }
    for (id, root) in source.roots.iter() {
        check.in_arena(root.expr, &body.exprs, id);
        root.points().for_each(|point| match point {
            Point::Stmt(stmt) => check.in_arena(stmt, &body.stmts, id),
            Point::Term(block) => check.in_arena(block, &body.blocks, id),
        });
        root.captures.iter().for_each(|capture| check.in_arena(capture.temp, &body.locals, id));
        match root.kind {
            RootKind::Assigned { local, addr } => {
                local.iter().for_each(|local| check.in_arena(*local, &body.locals, id));
                addr.iter().for_each(|addr| check.in_arena(*addr, &body.exprs, id));
            }
            RootKind::Condition { decision, condition } => {
                check.in_arena(decision, &body.decisions, id);
                if let Some(decision) = body.decisions.get(decision) {
                    check.in_arena(condition, &decision.conditions, id);
                }
            }
            RootKind::Value | RootKind::Address | RootKind::Update => {}
        }
    }
}
