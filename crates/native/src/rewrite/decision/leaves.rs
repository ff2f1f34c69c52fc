//! What the parts of a predicate on a decision's event are in the text at its outcome.

use lydian_base::EntityId;
use lydian_ir::{ConditionId, ExprId};

use super::{DecisionEdit, Late};
use crate::rewrite::hooks::{Hooks, Recorded, Standing};
use crate::rewrite::rails::{Leaves, Rails};

/// Leaves of a decision's event.
pub(super) struct EventLeaves<'e, 'h, 'a> {
    pub(super) edit: &'e mut DecisionEdit,
    pub(super) hooks: &'h mut Hooks<'a>,
    /// The cell of the label that asks: once it is set, its mutants need no evaluation.
    pub(super) cell: Recorded,
    /// Whether the text stands in a function of its own.
    pub(super) is_outside: bool,
}

impl EventLeaves<'_, '_, '_> {
    fn is_reached(&self, condition: ConditionId) -> String {
        let index = condition.index();
        format!("(int)({} >> {} & 1)", self.edit.reached_word(index), index % 64)
    }
}

impl Leaves for EventLeaves<'_, '_, '_> {
    type Error = String;

    fn condition(&mut self, condition: ConditionId) -> Result<Rails, String> {
        let index = condition.index();
        let shift = index % 64;
        let value = format!("(int)({} >> {shift} & 1)", self.edit.value_word(index));
        let mut reached = self.is_reached(condition);
        match &self.edit.unreached[index] {
            Late::Never => {}
            Late::Always => return Ok(Rails::known(&value)),
            Late::WhereDefined { bit, .. } => {
                let is_defined = format!("{} >> {} & 1", self.edit.value_word(*bit), bit % 64);
                reached = format!("({reached} | (int)({is_defined}))");
            }
        }
        Ok(Rails { yes: format!("({value})"), no: format!("({reached} & !({value}))") })
    }

    fn reached(&mut self, condition: ConditionId) -> Result<Rails, String> {
        Ok(Rails::known(&self.is_reached(condition)))
    }

    fn mutant(&mut self, condition: ConditionId, expr: ExprId) -> Result<Rails, String> {
        let number = self.edit.mutant(condition, expr, self.hooks, self.cell)?;
        let variable = format!("lydian_m{}[{number}]", self.edit.id.index());
        Ok(Rails { yes: format!("({variable} == 2)"), no: format!("({variable} == 1)") })
    }

    fn expr(&mut self, expr: ExprId) -> Result<String, String> {
        let at = self.edit.spans.last().map_or(0, |span| span.start);
        let parameters = self.is_outside.then_some(&self.edit.mutants.read_by_labels);
        self.hooks.text(expr, Standing { parameters, ..Standing::at(at) })
    }
}
