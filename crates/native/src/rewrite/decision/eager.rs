//! A decision that is computed from the values of all its conditions.

use lydian_base::EntityId;
use lydian_ir::BoolTree;

use crate::rewrite::decision::DecisionEdit;

impl DecisionEdit {
    /// The bits of all conditions.
    pub(crate) fn eager_bits(&self) -> String {
        let bit = |index: usize| match index {
            0 => format!("(unsigned int){}", self.settled(index)),
            _ => format!("(unsigned int){} << {index}", self.settled(index)),
        };
        (0..self.texts.len()).map(bit).collect::<Vec<_>>().join(" | ")
    }

    /// The outcome, computed from the conditions' bits.
    pub(crate) fn computed(&self, tree: &BoolTree) -> String {
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
