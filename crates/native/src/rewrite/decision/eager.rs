//! Values of conditions that evaluation may not reach, and a decision that is computed from them.

use lydian_base::EntityId;
use lydian_ir::BoolTree;

use super::{DecisionEdit, Late};

impl DecisionEdit {
    /// The bits of all conditions.
    pub(super) fn eager_bits(&self) -> String {
        let bit = |index: usize| match index {
            0 => format!("(unsigned int){}", self.settled(index)),
            _ => format!("(unsigned int){} << {index}", self.settled(index)),
        };
        (0..self.texts.len()).map(bit).collect::<Vec<_>>().join(" | ")
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

    /// The outcome, computed from the conditions' bits.
    pub(super) fn computed(&self, tree: &BoolTree) -> String {
        let part = |tree: &BoolTree| self.computed(tree);
        match tree {
            BoolTree::Const(value) => u8::from(*value).to_string(),
            BoolTree::Cond(c) => {
                format!("((lydian_v{} & {}) != 0)", self.id.index(), self.bit(c.index()))
            }
            BoolTree::Not(a) => format!("!{}", part(a)),
            BoolTree::And(a, b) => format!("({} && {})", part(a), part(b)),
            BoolTree::Or(a, b) => format!("({} || {})", part(a), part(b)),
            BoolTree::BitAnd(a, b) => format!("({} & {})", part(a), part(b)),
            BoolTree::BitOr(a, b) => format!("({} | {})", part(a), part(b)),
            BoolTree::Eq(a, b) => format!("({} == {})", part(a), part(b)),
            BoolTree::Xor(a, b) => format!("({} != {})", part(a), part(b)),
            BoolTree::Ite(c, a, b) => format!("({} ? {} : {})", part(c), part(a), part(b)),
        }
    }
}
