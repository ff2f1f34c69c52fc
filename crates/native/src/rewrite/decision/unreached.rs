//! Values of conditions that evaluation does not reach, taken at the outcome.

use std::fmt::Write as _;

use lydian_base::EntityId;
use lydian_ir::ConditionId;

use super::{DecisionEdit, Recording};

/// What a condition is where evaluation does not reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rewrite) enum Late {
    /// Unknown.
    Never,
    /// The value of its text.
    Always,
    /// The value of a text of its own that sets `lydian_bad` where it has none. The bit says that it
    /// has one.
    WhereDefined { text: String, bit: usize },
}

impl DecisionEdit {
    /// The conditions to be evaluated at the outcome where they may not have been reached.
    pub(super) fn late(&self) -> Vec<usize> {
        let needed = |index: &usize| match &self.recording {
            _ if self.judges() => true,
            Recording::Vector { needed, .. } => needed >> index & 1 == 1,
            Recording::Wide(_) => true,
            Recording::Nothing | Recording::Outcome(_) => false,
        };
        let always = lydian_objective::decision::predicates::always_reached(&self.tree);
        let is_late = |index: &usize| !always.contains(ConditionId::from_index(*index));
        let has_value = |index: &usize| self.unreached[*index] != Late::Never;
        (0..self.spans.len()).filter(has_value).filter(needed).filter(is_late).collect()
    }

    /// The conditions to be evaluated where evaluation ends with a condition's value, since they were
    /// not reached.
    pub(super) fn late_at(&self, index: usize, value: usize) -> Vec<usize> {
        let reached = self.reached_at_ends[index][value];
        self.late().into_iter().filter(|late| reached >> late & 1 == 0).collect()
    }

    /// How many bits stand for a vector.
    pub(super) fn bits(&self) -> usize {
        let sometimes =
            self.unreached.iter().filter(|late| matches!(late, Late::WhereDefined { .. }));
        self.spans.len() + sometimes.count()
    }

    /// By how much the cell lies further for the values that a condition has where it is not
    /// reached.
    pub(super) fn cells_beyond(&self, index: usize) -> Vec<u32> {
        match &self.unreached[index] {
            Late::Never => Vec::new(),
            Late::Always => vec![1 << index],
            Late::WhereDefined { bit, .. } => vec![1 << bit, 1 << bit | 1 << index],
        }
    }

    /// The text of a condition's value, 0 or 1, for where evaluation may not reach it.
    pub(super) fn settled(&self, index: usize) -> String {
        let text = &self.texts[index];
        match self.doubtful[index] {
            false => format!("!!({text})"),
            true => format!(
                "({{ int lydian_b = !!({text}); __asm__(\"\" : \"+r\"(lydian_b)); lydian_b; }})"
            ),
        }
    }

    /// By how much the cell lies further for what a condition is that was not reached.
    pub(super) fn beyond(&self, index: usize) -> String {
        match &self.unreached[index] {
            Late::WhereDefined { text, bit } => {
                let (without, with) = (1u32 << bit, 1u32 << bit | 1 << index);
                let value = format!("lydian_bad ? 0 : lydian_b ? {with} : {without}");
                format!("({{ int lydian_bad = 0, lydian_b = {text}; {value}; }})")
            }
            Late::Never | Late::Always => format!("({} << {index})", self.settled(index)),
        }
    }

    /// An expression that notes the value of a condition that was not reached, if it has one.
    pub(super) fn noted_late(&self, index: usize) -> String {
        let (value, bit) = (self.value_word(index), self.bit(index));
        match &self.unreached[index] {
            Late::WhereDefined { text, bit: defined } => {
                let (word, defined) = (self.value_word(*defined), self.bit(*defined));
                format!(
                    "({{ int lydian_bad = 0, lydian_b = {text}; if (!lydian_bad) {{ \
                     {word} |= {defined}; if (lydian_b) {value} |= {bit}; }} 0; }})"
                )
            }
            Late::Never | Late::Always => {
                format!("({} ? ({value} |= {bit}, 0) : 0)", self.settled(index))
            }
        }
    }

    /// Values, at the outcome, of conditions and mutants that were not reached.
    pub(super) fn late_values(&self) -> String {
        let mut text = String::new();
        for index in self.late() {
            let noted = self.noted_late(index);
            if !self.keeps_reached() {
                // Nothing changes while the decision is evaluated: a second time gives the same.
                let _ = write!(text, "{noted}, ");
                continue;
            }
            let unreached = format!("!({} & (1ull << {}))", self.reached_word(index), index % 64);
            let hooks = self.mutants.called_late(index);
            match hooks.is_empty() {
                true => _ = write!(text, "({unreached} && {noted}), "),
                false => {
                    let _ = write!(text, "({{ if ({unreached}) {{ (void){noted}; {hooks}}} }}), ");
                }
            }
        }
        text
    }
}
