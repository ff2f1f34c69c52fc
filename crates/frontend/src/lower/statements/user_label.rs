//! Labels of the user's own: `lydian_label("name", predicate)`.
//!
//! The call becomes a mark with the predicate as a tree of conditions. They are evaluated on the
//! state at the mark, so they must not change it.

use lydian_base::Span;
use lydian_ir::decision::Condition;
use lydian_ir::source::MarkStyle;
use lydian_ir::{Decision, DecisionKind, MarkKind};

use crate::ast::{self, ExprKind, StmtId};
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::Lowering;
use crate::lower::statements::marks::{Slot, statement_text};
use crate::preprocess::LABEL_FUNCTION;

impl FunctionLowering<'_, '_> {
    /// Whether a call's callee is the function that makes a label.
    pub(in crate::lower) fn is_user_label(&self, callee: ast::ExprId) -> bool {
        self.unit
            .direct_callee(callee)
            .is_some_and(|function| &*self.unit.functions[function].name == LABEL_FUNCTION)
    }

    /// A label as a statement.
    pub(in crate::lower) fn user_label(
        &mut self,
        whole: StmtId,
        slot: Slot,
        e: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        let text = statement_text(self.unit, self.module.source.text(), whole);
        match slot {
            Slot::Block => self.label_mark(e, args, text, MarkStyle::Before),
            Slot::Body => self.label_mark(e, args, text, MarkStyle::Wrap),
            Slot::ForInit(_) => self.nested_user_label(e, args),
        }
    }

    /// A label inside a larger expression.
    pub(in crate::lower) fn nested_user_label(
        &mut self,
        e: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        self.label_mark(e, args, self.unit.exprs[e].span, MarkStyle::Expression)
    }

    fn label_mark(
        &mut self,
        e: ast::ExprId,
        args: &[ast::ExprId],
        text: Span,
        style: MarkStyle,
    ) -> Lowering<()> {
        let span = self.unit.exprs[e].span;
        let [name, predicate] = args else {
            self.ill_formed("a label needs a name and a predicate", span);
            return Ok(());
        };
        let Some(name) = self.label_name(*name) else {
            self.ill_formed("the name of a label must be a string literal", span);
            return Ok(());
        };
        match self.predicate(*predicate)? {
            Some(predicate) => {
                let kind = MarkKind::UserLabel { name, predicate: Box::new(predicate) };
                self.mark(kind, text, style);
            }
            None => {
                let message = format!("the predicate of label `{name}` has a side effect");
                self.ill_formed(&message, self.unit.exprs[*predicate].span);
            }
        }
        Ok(())
    }

    fn ill_formed(&mut self, message: &str, span: Span) {
        self.report("ill-formed-objective", message.to_owned(), span);
    }

    fn label_name(&self, e: ast::ExprId) -> Option<String> {
        match &self.unit.exprs[self.unit.strip_implicit(e)].kind {
            ExprKind::String(literal) => {
                let units: Option<Vec<u8>> =
                    literal.units.iter().map(|unit| u8::try_from(*unit).ok()).collect();
                String::from_utf8(units?).ok()
            }
            _ => None,
        }
    }

    /// The predicate as a decision; `None` if it has effects.
    fn predicate(&mut self, e: ast::ExprId) -> Lowering<Option<Decision>> {
        let (tree, leaves) = self.tested(e).simplified().numbered();
        if leaves.iter().any(|leaf| self.effects_of(*leaf).hoists) {
            return Ok(None);
        }
        let mut conditions = lydian_base::Arena::new();
        for leaf in leaves {
            let (expr, span) = self.pure_condition(leaf)?;
            let purity = self.purity(expr, false);
            conditions.push(Condition::new(expr, purity, span));
        }
        let span = self.text(e);
        Ok(Some(Decision { kind: DecisionKind::Control, tree, conditions, span }))
    }
}
