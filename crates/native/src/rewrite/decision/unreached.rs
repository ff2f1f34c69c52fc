//! Values of conditions that evaluation does not reach, taken at the outcome.

use std::fmt::Write as _;

use lydian_base::EntityId;
use lydian_ir::ConditionId;

use crate::rewrite::decision::DecisionEdit;
use crate::rewrite::decision::vectors::Recording;

/// The value of a condition where evaluation does not reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LateEvaluation {
    /// Unknown.
    Never,
    /// The value of its text.
    Always,
    /// The value of a text of its own, which sets `lydian_bad` if it has no value. The bit says
    /// that it has a value.
    WhereDefined { text: String, bit: usize },
}

impl DecisionEdit {
    /// The conditions to be evaluated at the outcome where they may not have been reached.
    pub(crate) fn late(&self) -> Vec<usize> {
        let needed = |index: &usize| match &self.recording {
            _ if self.has_judged_labels() => true,
            Recording::Vector { needed, .. } => needed >> index & 1 == 1,
            Recording::Wide(_) => true,
            Recording::Nothing | Recording::Outcome(_) => false,
        };
        let always = lydian_objective::decision::predicates::always_reached(&self.tree);
        let is_late = |index: &usize| !always.contains(ConditionId::from_index(*index));
        let has_value = |index: &usize| self.unreached[*index] != LateEvaluation::Never;
        (0..self.spans.len()).filter(has_value).filter(needed).filter(is_late).collect()
    }

    /// The conditions to be evaluated where evaluation ends with a condition's value, since they
    /// were not reached.
    pub(crate) fn late_at(&self, index: usize, value: usize) -> Vec<usize> {
        let reached = self.reached_at_ends[index][value];
        self.late().into_iter().filter(|late| reached >> late & 1 == 0).collect()
    }

    /// How many bits stand for a vector.
    pub(crate) fn bits(&self) -> usize {
        let sometimes = self
            .unreached
            .iter()
            .filter(|late| matches!(late, LateEvaluation::WhereDefined { .. }));
        self.spans.len() + sometimes.count()
    }

    /// The offsets of a vector's cell for the values of a condition that is not reached.
    pub(crate) fn cells_beyond(&self, index: usize) -> Vec<u32> {
        match &self.unreached[index] {
            LateEvaluation::Never => Vec::new(),
            LateEvaluation::Always => vec![1 << index],
            LateEvaluation::WhereDefined { bit, .. } => vec![1 << bit, 1 << bit | 1 << index],
        }
    }

    /// The text of a condition's value, 0 or 1, for where evaluation may not reach it.
    pub(crate) fn settled(&self, index: usize) -> String {
        let text = &self.texts[index];
        match self.doubtful[index] {
            false => format!("!!({text})"),
            true => format!(
                "({{ int lydian_b = !!({text}); __asm__(\"\" : \"+r\"(lydian_b)); lydian_b; }})"
            ),
        }
    }

    /// The text of the offset of a vector's cell for the value of a condition that was not reached.
    pub(crate) fn beyond(&self, index: usize) -> String {
        match &self.unreached[index] {
            LateEvaluation::WhereDefined { text, bit } => {
                let (without, with) = (1u32 << bit, 1u32 << bit | 1 << index);
                let value = format!("lydian_bad ? 0 : lydian_b ? {with} : {without}");
                format!("({{ int lydian_bad = 0, lydian_b = {text}; {value}; }})")
            }
            LateEvaluation::Never | LateEvaluation::Always => {
                format!("({} << {index})", self.settled(index))
            }
        }
    }

    /// An expression that notes the value of a condition that was not reached, if it has one.
    pub(crate) fn noted_late(&self, index: usize) -> String {
        let (value, bit) = (self.value_word(index), self.bit(index));
        match &self.unreached[index] {
            LateEvaluation::WhereDefined { text, bit: defined } => {
                let (word, defined) = (self.value_word(*defined), self.bit(*defined));
                format!(
                    "({{ int lydian_bad = 0, lydian_b = {text}; if (!lydian_bad) {{ \
                     {word} |= {defined}; if (lydian_b) {value} |= {bit}; }} 0; }})"
                )
            }
            LateEvaluation::Never | LateEvaluation::Always => {
                format!("({} ? ({value} |= {bit}, 0) : 0)", self.settled(index))
            }
        }
    }

    /// Values, at the outcome, of conditions and mutants that were not reached.
    pub(crate) fn late_values(&self) -> String {
        let mut text = String::new();
        for index in self.late() {
            let noted = self.noted_late(index);
            if !self.keeps_reached() {
                // Nothing changes while the decision is evaluated: a second time gives the same.
                let _ = write!(text, "{noted}, ");
                continue;
            }
            let unreached = format!("!({} & (1ull << {}))", self.reached_word(index), index % 64);
            let call = self.mutants.called_late(index);
            match call.is_empty() {
                true => _ = write!(text, "({unreached} && {noted}), "),
                false => {
                    let _ = write!(text, "({{ if ({unreached}) {{ (void){noted}; {call}}} }}), ");
                }
            }
        }
        text
    }
}
