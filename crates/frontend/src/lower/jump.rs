//! Jumps: `goto`, `break`, `continue`, and `switch` with its cases.

use lydian_base::Span;
use lydian_ir::source::{Point, RootKind, SwitchSite};
use lydian_ir::{BlockId, Expr, SwitchCase, Terminator, TrapKind};

use super::builder::{FunctionLowering, JumpTargets};
use super::gaps::Part;
use super::roots::Frame;
use super::{Lowering, Unsupported};
use crate::ast::{ExprId, LabelId, StmtId};

/// The cases of a switch whose body is being lowered.
#[derive(Debug, Default)]
pub(super) struct SwitchCases {
    cases: Vec<SwitchCase>,
    default: Option<BlockId>,
}

impl FunctionLowering<'_, '_> {
    /// `break` and `continue`: to the innermost target that `target` finds.
    pub(super) fn jump(
        &mut self,
        target: impl Fn(&JumpTargets) -> Option<BlockId>,
    ) -> Lowering<()> {
        let found = self.jumps.iter().rev().find_map(|jump| Some((target(jump)?, jump.depth)));
        let Some((block, depth)) = found else {
            return Err(Unsupported::new("a jump out of a statement expression", self.span));
        };
        let span = self.span;
        self.leave_down_to(depth);
        self.span = span;
        self.terminate_user(Terminator::Goto(block));
        Ok(())
    }

    /// `goto`: leaves the scopes that the label is not in.
    pub(super) fn goto(&mut self, label: LabelId) -> Lowering<()> {
        let block = self.label_block(label);
        let Some(around) = self.facts.label_scopes.get(&label) else {
            return Err(Unsupported::new("a `goto` to a label that is not here", self.span));
        };
        let common =
            self.scopes.iter().zip(around).take_while(|(scope, stmt)| scope.stmt == **stmt).count();
        self.leave_down_to(common);
        self.terminate_user(Terminator::Goto(block));
        Ok(())
    }

    /// `goto *target`: a switch over the positions of the function's labels whose address is taken.
    pub(super) fn computed_goto(&mut self, target: ExprId) -> Lowering<()> {
        let span = self.span;
        let text = self.text(target);
        let (pointer, frame) = self.framed(|l| l.rvalue(target))?;
        self.reopen();
        let block = self.current;
        self.root(Point::Term(block), pointer, RootKind::Value, text, frame);
        let labels = self.module.labels_of(self.function);
        let first = self.expr(Expr::AddrGlobal(labels));
        let value = self.expr(Expr::PtrDiff { a: pointer, b: first, size: 1 });
        self.body.source.switches.push(SwitchSite { block, operand: text, computed: true });
        let (mut cases, mut arrivals) = (Vec::new(), Vec::new());
        for label in self.facts.addressed_labels.clone() {
            let (_, index) = self.module.label_place(label);
            let (low, high) = (i128::from(index), i128::from(index));
            let target = self.new_block();
            cases.push(SwitchCase { low, high, target, span: self.label_text(label) });
            arrivals.push((target, label));
        }
        let default = self.new_block();
        self.span = span;
        self.terminate(Terminator::Switch { value, cases, default });
        for (block, label) in arrivals {
            self.start(block);
            self.goto(label)?;
        }
        self.start(default);
        self.terminate(Terminator::Trap(TrapKind::BadJump));
        Ok(())
    }

    /// `&&label`.
    pub(super) fn label_address(&mut self, label: LabelId) -> lydian_ir::ExprId {
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
        match self.labels.get(&label) {
            Some(block) => *block,
            None => {
                let block = self.new_block();
                self.labels.insert(label, block);
                block
            }
        }
    }

    /// Goes on at a label.
    pub(super) fn place_label(&mut self, label: LabelId, span: Span) -> Lowering<()> {
        if self.placed_labels.contains(&label) {
            let what = "a label in an operand that is lowered twice";
            return Err(Unsupported::new(what, span));
        }
        self.placed_labels.push(label);
        let block = self.label_block(label);
        self.goto_and_start(block);
        Ok(())
    }

    /// `switch`.
    pub(super) fn switch(&mut self, value: ExprId, body: StmtId) -> Lowering<()> {
        let span = self.span;
        let text = self.text(value);
        let (operand, frame) = self.or_outline(
            Part::Expr(value),
            |l| l.framed(|l| l.rvalue(value)),
            |l| {
                l.apart(|l| l.outline(value))?;
                Ok((l.unknown_value(), Frame::default()))
            },
        )?;
        self.reopen();
        let block = self.current;
        self.root(Point::Term(block), operand, RootKind::Value, text, frame);
        self.body.source.switches.push(SwitchSite { block, operand: text, computed: false });
        self.span = span;
        // The terminator is known when the body's cases are.
        self.terminate(Terminator::Return(None));
        let exit = self.new_block();
        let depth = self.scopes.len();
        self.jumps.push(JumpTargets { break_to: exit, continue_to: None, depth });
        self.switches.push(SwitchCases::default());
        self.body_stmt(body)?;
        let found = self.switches.pop().unwrap_or_default();
        self.jumps.pop();
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
    pub(super) fn case(&mut self, low: i128, high: i128, span: Span, body: StmtId) -> Lowering<()> {
        let target = self.new_block();
        let label = Span::new(span.start, self.unit.stmts[body].span.start.max(span.start));
        let label = self.trimmed(label);
        let Some(switch) = self.switches.last_mut() else {
            return Err(Unsupported::new("a `case` outside of its switch", span));
        };
        // An empty range is no case.
        if low <= high {
            switch.cases.push(SwitchCase { low, high, target, span: label });
        }
        self.goto_and_start(target);
        Ok(())
    }

    /// `default:`
    pub(super) fn default_case(&mut self, span: Span) -> Lowering<()> {
        let target = self.new_block();
        let Some(switch) = self.switches.last_mut() else {
            return Err(Unsupported::new("a `default` outside of its switch", span));
        };
        switch.default = Some(target);
        self.goto_and_start(target);
        Ok(())
    }

    /// A label's text without what follows its colon.
    fn trimmed(&self, span: Span) -> Span {
        let text = self.module.source.slice(span);
        match text.rfind(':') {
            Some(colon) => Span::new(span.start, span.start + colon as u32 + 1),
            None => span,
        }
    }
}
