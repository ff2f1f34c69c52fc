//! A unit's functions and globals with the program's numbers.

use lydian_base::{EntityId, Span};

use super::types::{RecordIndex, UnitTypes};
use crate::program::ctype::CTypes;
use crate::program::decision::Decision;
use crate::program::expr::Expr;
use crate::program::function::{Body, Function};
use crate::program::source::FunctionSource;
use crate::program::stmt::{Callee, MarkKind, Stmt, Terminator};
use crate::program::{FuncId, Global, GlobalId, GlobalInit, RelocationTarget};

/// Leads from the ids and spans of a unit to those of the program.
pub(super) struct Renumbering<'t> {
    pub(super) types: UnitTypes<'t>,
    pub(super) functions: Vec<FuncId>,
    pub(super) globals: Vec<GlobalId>,
    /// Where the unit's text starts.
    pub(super) start: u32,
}

impl Renumbering<'_> {
    pub(super) fn function(
        &mut self,
        function: &mut Function,
        table: &mut CTypes,
        index: &mut RecordIndex,
    ) {
        function.ty = self.types.ty(function.ty, table, index);
        self.span(&mut function.span);
        if let Some(body) = &mut function.body {
            self.body(body, table, index);
        }
    }

    pub(super) fn global(
        &mut self,
        global: &mut Global,
        table: &mut CTypes,
        index: &mut RecordIndex,
    ) {
        global.ty = self.types.ty(global.ty, table, index);
        self.span(&mut global.span);
        let GlobalInit::Data { relocations, .. } = &mut global.init else { return };
        for relocation in relocations {
            match &mut relocation.target {
                RelocationTarget::Global(id) => *id = self.globals[id.index()],
                RelocationTarget::Function(id) => *id = self.functions[id.index()],
            }
        }
    }

    fn span(&self, span: &mut Span) {
        *span = span.shifted(self.start);
    }

    fn body(&mut self, body: &mut Body, table: &mut CTypes, index: &mut RecordIndex) {
        for (_, local) in body.locals.iter_mut() {
            local.ty = self.types.ty(local.ty, table, index);
            self.span(&mut local.scope);
        }
        for (_, expr) in body.exprs.iter_mut() {
            match expr {
                Expr::AddrGlobal(id) => *id = self.globals[id.index()],
                Expr::AddrFunc(id) => *id = self.functions[id.index()],
                Expr::Field { record, .. } => *record = self.types.record(*record, table, index),
                Expr::LoadBits { field, .. } => {
                    field.record = self.types.record(field.record, table, index);
                }
                _ => {}
            }
        }
        for (_, stmt) in body.stmts.iter_mut() {
            match stmt {
                Stmt::StoreBits { field, .. } => {
                    field.record = self.types.record(field.record, table, index);
                }
                Stmt::VaArg { ty, .. } => *ty = self.types.ty(*ty, table, index),
                Stmt::Call { callee, arg_types, ty, .. } => {
                    if let Callee::Direct(id) = callee {
                        *id = self.functions[id.index()];
                    }
                    *ty = self.types.ty(*ty, table, index);
                    for ty in arg_types {
                        *ty = self.types.ty(*ty, table, index);
                    }
                }
                _ => {}
            }
        }
        for (_, block) in body.blocks.iter_mut() {
            if let Terminator::Switch { cases, .. } = &mut block.term {
                cases.iter_mut().for_each(|case| self.span(&mut case.span));
            }
        }
        body.decisions.iter_mut().for_each(|(_, decision)| self.decision(decision));
        for (_, mark) in body.marks.iter_mut() {
            self.span(&mut mark.span);
            if let MarkKind::UserLabel { predicate, .. } = &mut mark.kind {
                self.decision(predicate);
            }
        }
        self.source(&mut body.source);
    }

    fn decision(&self, decision: &mut Decision) {
        self.span(&mut decision.span);
        for (_, condition) in decision.conditions.iter_mut() {
            self.span(&mut condition.span);
        }
    }

    fn source(&self, source: &mut FunctionSource) {
        let FunctionSource {
            body,
            stmts,
            terms,
            exprs,
            c_types: _,
            marks,
            labels,
            decisions,
            switches,
            roots,
            copies: _,
            unsequenced,
        } = source;
        self.span(body);
        stmts.set_values_mut().for_each(|span| self.span(span));
        terms.set_values_mut().for_each(|span| self.span(span));
        exprs.set_values_mut().for_each(|span| self.span(span));
        marks.iter_mut().for_each(|site| self.span(&mut site.span));
        labels.iter_mut().for_each(|site| self.span(&mut site.span));
        for site in decisions {
            self.span(&mut site.span);
            site.conditions.iter_mut().for_each(|span| self.span(span));
        }
        switches.iter_mut().for_each(|site| self.span(&mut site.operand));
        unsequenced.iter_mut().flatten().for_each(|span| self.span(span));
        for (_, root) in roots.iter_mut() {
            self.span(&mut root.span);
            root.captures.iter_mut().for_each(|capture| self.span(&mut capture.span));
        }
    }
}
