//! Jumps: `goto`, `break`, `continue`, and `switch` with its cases.

use lydian_base::Span;
use lydian_ir::source::{Point, RootKind, SwitchSite};
use lydian_ir::{BlockId, Expr, Stmt, SwitchCase, Terminator, TrapKind, Type};

use crate::ast::{ExprId, LabelId, StmtId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::builder::gaps::Part;
use crate::lower::builder::labels::Dispatch;
use crate::lower::builder::nesting::JumpTargets;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};

impl FunctionLowering<'_, '_> {
    /// `break` and `continue`: to the innermost target that `target` finds.
    pub(in crate::lower) fn jump(
        &mut self,
        target: impl Fn(&JumpTargets) -> Option<BlockId>,
    ) -> Lowering<()> {
        let found = self.nesting.jumps().find_map(|jump| Some((target(jump)?, jump.depth)));
        let Some((block, depth)) = found else {
            return Err(UnsupportedConstruct::new(
                "a jump out of a statement expression",
                self.span,
            ));
        };
        let span = self.span;
        self.leave_down_to(depth);
        self.span = span;
        self.terminate_user(Terminator::Goto(block));
        Ok(())
    }

    /// `goto`: leaves the scopes that the label is not in.
    pub(in crate::lower) fn goto(&mut self, label: LabelId) -> Lowering<()> {
        let block = self.label_block(label);
        let Some(common) = self.depth_in_common(label) else {
            return Err(UnsupportedConstruct::new(
                "a `goto` to a label that is not here",
                self.span,
            ));
        };
        self.leave_down_to(common);
        self.terminate_user(Terminator::Goto(block));
        Ok(())
    }

    /// `goto *target`: to the function's dispatch. Where scopes that it leaves for one label go on for
    /// another, it has a dispatch of its own.
    pub(in crate::lower) fn computed_goto(&mut self, target: ExprId) -> Lowering<()> {
        let span = self.span;
        let text = self.text(target);
        let (pointer, captures) = self.with_captures(|l| l.rvalue(target))?;
        self.reopen();
        let labels = self.facts.addressed_labels.clone();
        let mut depths: Vec<usize> =
            labels.iter().filter_map(|label| self.depth_in_common(*label)).collect();
        depths.dedup();
        if let (Some(dispatch), [depth]) = (self.labels.dispatch(), &depths[..]) {
            let (dst, block, depth) = (dispatch.target, dispatch.block, *depth);
            let stmt = self.within(text, |l| l.emit(Stmt::Assign { dst, value: pointer }));
            self.root(Point::Stmt(stmt), pointer, RootKind::Value, text, captures);
            self.body.source.switches.push(SwitchSite { block, operand: text, computed: true });
            self.leave_down_to(depth);
            self.span = span;
            self.terminate_user(Terminator::Goto(block));
            return Ok(());
        }
        let block = self.current_block();
        self.root(Point::Term(block), pointer, RootKind::Value, text, captures);
        self.body.source.switches.push(SwitchSite { block, operand: text, computed: true });
        let targets: Vec<BlockId> = labels.iter().map(|_| self.new_block()).collect();
        self.switch_over_labels(pointer, &targets);
        for (block, label) in targets.into_iter().zip(labels) {
            self.start(block);
            self.goto(label)?;
        }
        Ok(())
    }

    /// How many of the scopes here are around a label, too.
    fn depth_in_common(&self, label: LabelId) -> Option<usize> {
        let around = self.facts.label_scopes.get(&label)?;
        let pairs = self.nesting.scopes().iter().zip(around);
        Some(pairs.take_while(|(scope, stmt)| scope.stmt == **stmt).count())
    }

    /// Ends the current block with a switch over the positions of the function's labels whose address
    /// is taken.
    fn switch_over_labels(&mut self, pointer: lydian_ir::ExprId, targets: &[BlockId]) {
        let labels = self.module.labels_of(self.function);
        let first = self.expr(Expr::AddrGlobal(labels));
        let value = self.expr(Expr::PtrDiff { a: pointer, b: first, size: 1 });
        let mut cases = Vec::new();
        for (label, target) in self.facts.addressed_labels.clone().into_iter().zip(targets) {
            let (_, index) = self.module.label_place(label);
            let (low, high) = (i128::from(index), i128::from(index));
            cases.push(SwitchCase { low, high, target: *target, span: self.label_text(label) });
        }
        let default = self.new_block();
        self.terminate(Terminator::Switch { value, cases, default });
        self.start(default);
        self.terminate(Terminator::Trap(TrapKind::BadJump));
    }

    /// Makes the place where the function's computed `goto`s go on.
    pub(in crate::lower) fn prepare_dispatch(&mut self) {
        if self.facts.has_computed_goto && !self.facts.addressed_labels.is_empty() {
            let void = self.module.program.types.void();
            let ty = self.module.program.types.pointer(void);
            let target = self.temp_of(ty, Type::Ptr);
            let block = self.new_block();
            self.labels.set_dispatch(Dispatch { block, target });
        }
    }

    /// Builds it, when all of the function is lowered: the way to each label, if a `goto` leads here.
    pub(in crate::lower) fn place_dispatch(&mut self) {
        let Some(Dispatch { block, target }) = self.labels.dispatch() else { return };
        let mut sites = self.body.source.switches.iter();
        let Some(site) = sites.find(|site| site.block == block) else { return };
        self.span = site.operand;
        self.start(block);
        let pointer = self.expr(Expr::Local(target));
        let labels = self.facts.addressed_labels.clone();
        let targets: Vec<BlockId> = labels.iter().map(|label| self.label_block(*label)).collect();
        self.switch_over_labels(pointer, &targets);
    }

    /// `&&label`.
    pub(in crate::lower) fn label_address(&mut self, label: LabelId) -> lydian_ir::ExprId {
        let (function, index) = self.module.label_place(label);
        let labels = self.module.labels_of(function);
        let base = self.expr(Expr::AddrGlobal(labels));
        self.offset_addr(base, index as u64)
    }

    /// The text of a label's name, where it labels a statement.
    fn label_text(&self, label: LabelId) -> Span {
        let decl = &self.unit.labels[label];
        let Some(stmt) = decl.stmt else { return Span::NONE };
        let start = self.unit.stmts[stmt].span.start;
        Span::new(start, start + decl.name.len() as u32)
    }

    fn label_block(&mut self, label: LabelId) -> BlockId {
        self.labels.block(label).unwrap_or_else(|| {
            let block = self.new_block();
            self.labels.set_block(label, block);
            block
        })
    }

    /// Goes on at a label.
    pub(in crate::lower) fn place_label(&mut self, label: LabelId, span: Span) -> Lowering<()> {
        if !self.labels.place(label) {
            let what = "a label in an operand that is lowered twice";
            return Err(UnsupportedConstruct::new(what, span));
        }
        let block = self.label_block(label);
        self.goto_and_start(block);
        Ok(())
    }

    /// `switch`.
    pub(in crate::lower) fn switch(&mut self, value: ExprId, body: StmtId) -> Lowering<()> {
        let span = self.span;
        let text = self.text(value);
        let (operand, captures) = self.or_outline(
            Part::Expr(value),
            |l| l.with_captures(|l| l.rvalue(value)),
            |l| {
                l.apart(|l| l.outline(value))?;
                Ok((l.unknown_value(), Captures::default()))
            },
        )?;
        self.reopen();
        let block = self.current_block();
        self.root(Point::Term(block), operand, RootKind::Value, text, captures);
        self.body.source.switches.push(SwitchSite { block, operand: text, computed: false });
        self.span = span;
        // The terminator is known when the body's cases are.
        self.terminate(Terminator::Return(None));
        let exit = self.new_block();
        self.nesting.open_jumps(exit, None);
        self.nesting.open_switch();
        self.body_stmt(body)?;
        let found = self.nesting.close_switch();
        self.nesting.close_jumps();
        self.terminate(Terminator::Goto(exit));
        self.body.blocks[block].term = Terminator::Switch {
            value: operand,
            cases: found.cases,
            default: found.default.unwrap_or(exit),
        };
        self.start(exit);
        Ok(())
    }

    /// `case low ... high:`
    pub(in crate::lower) fn case(
        &mut self,
        low: i128,
        high: i128,
        span: Span,
        body: StmtId,
    ) -> Lowering<()> {
        let target = self.new_block();
        let label = Span::new(span.start, self.unit.stmts[body].span.start.max(span.start));
        let label = self.trimmed(label);
        let Some(switch) = self.nesting.switch_mut() else {
            return Err(UnsupportedConstruct::new("a `case` outside of its switch", span));
        };
        // An empty range is no case.
        if low <= high {
            switch.cases.push(SwitchCase { low, high, target, span: label });
        }
        self.goto_and_start(target);
        Ok(())
    }

    /// `default:`
    pub(in crate::lower) fn default_case(&mut self, span: Span) -> Lowering<()> {
        let target = self.new_block();
        let Some(switch) = self.nesting.switch_mut() else {
            return Err(UnsupportedConstruct::new("a `default` outside of its switch", span));
        };
        switch.default = Some(target);
        self.goto_and_start(target);
        Ok(())
    }

    /// A label's text up to its colon.
    fn trimmed(&self, span: Span) -> Span {
        let text = self.module.source.slice(span);
        match text.rfind(':') {
            Some(colon) => Span::new(span.start, span.start + colon as u32 + 1),
            None => span,
        }
    }
}
