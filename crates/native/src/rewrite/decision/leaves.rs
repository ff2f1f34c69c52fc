//! The leaves of a predicate on a decision's event, as C at the decision's outcome.

use lydian_base::EntityId;
use lydian_ir::{ConditionId, ExprId};

use crate::rewrite::decision::DecisionEdit;
use crate::rewrite::decision::unreached::LateEvaluation;
use crate::rewrite::predicates::dual_rail::{DualRail, PredicateLeaves};
use crate::rewrite::predicates::writer::{LabelCell, PredicateWriter, TextContext};

/// The leaves of predicates on a decision's event.
pub(crate) struct EventLeaves<'e, 'h, 'a> {
    pub(crate) edit: &'e mut DecisionEdit,
    pub(crate) predicates: &'h mut PredicateWriter<'a>,
    /// The cell of the label. Once it is set, the label's mutants need no evaluation.
    pub(crate) cell: LabelCell,
    /// Whether the text stands in a function of its own.
    pub(crate) is_outside: bool,
}

impl EventLeaves<'_, '_, '_> {
    fn is_reached(&self, condition: ConditionId) -> String {
        let index = condition.index();
        format!("(int)({} >> {} & 1)", self.edit.reached_word(index), index % 64)
    }
}

impl PredicateLeaves for EventLeaves<'_, '_, '_> {
    type Error = String;

    fn condition(&mut self, condition: ConditionId) -> Result<DualRail, String> {
        let index = condition.index();
        let shift = index % 64;
        let value = format!("(int)({} >> {shift} & 1)", self.edit.value_word(index));
        let mut reached = self.is_reached(condition);
        match &self.edit.unreached[index] {
            LateEvaluation::Never => {}
            LateEvaluation::Always => return Ok(DualRail::known(&value)),
            LateEvaluation::WhereDefined { bit, .. } => {
                let is_defined = format!("{} >> {} & 1", self.edit.value_word(*bit), bit % 64);
                reached = format!("({reached} | (int)({is_defined}))");
            }
        }
        Ok(DualRail { yes: format!("({value})"), no: format!("({reached} & !({value}))") })
    }

    fn reached(&mut self, condition: ConditionId) -> Result<DualRail, String> {
        Ok(DualRail::known(&self.is_reached(condition)))
    }

    fn mutant(&mut self, condition: ConditionId, expr: ExprId) -> Result<DualRail, String> {
        let number = self.edit.mutant(condition, expr, self.predicates, self.cell)?;
        let variable = format!("lydian_m{}[{number}]", self.edit.id.index());
        Ok(DualRail { yes: format!("({variable} == 2)"), no: format!("({variable} == 1)") })
    }

    fn expr(&mut self, expr: ExprId) -> Result<String, String> {
        let at = self.edit.spans.last().map_or(0, |span| span.start);
        let parameters = self.is_outside.then_some(&self.edit.mutants.read_by_labels);
        self.predicates.text(expr, TextContext { parameters, ..TextContext::at(at) })
    }
}
