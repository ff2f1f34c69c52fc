//! The value of formulas.

use lydian_ir::ExprId;

use super::{Formula, FormulaOp};

impl Formula {
    /// Its value; `None` if it is unknown, because an operand is, a divisor is zero, or a number
    /// leaves 128 bits. `&&` and `||` are known if one side decides. Comparisons and connectives give
    /// 1 or 0.
    pub fn value(
        &self,
        name: &impl Fn(&str) -> Option<i128>,
        state: &impl Fn(ExprId) -> Option<i128>,
    ) -> Option<i128> {
        let value = |formula: &Self| formula.value(name, state);
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(metavariable) => name(metavariable),
            Self::State(expr) => state(*expr),
            Self::Not(a) => value(a).map(|a| i128::from(a == 0)),
            Self::Negate(a) => value(a).and_then(i128::checked_neg),
            Self::Binary(op, a, b) => op.apply(value(a), || value(b)),
        }
    }

    /// Whether it holds for these metavariables. Only for formulas without states.
    pub fn holds(&self, name: &impl Fn(&str) -> Option<i128>) -> bool {
        self.value(name, &|_| None).is_some_and(|value| value != 0)
    }

    /// Calls `visit` with each metavariable in it, from left to right.
    pub fn for_each_name<'f>(&'f self, visit: &mut impl FnMut(&'f str)) {
        match self {
            Self::Number(_) | Self::State(_) => {}
            Self::Name(name) => visit(name),
            Self::Not(a) | Self::Negate(a) => a.for_each_name(visit),
            Self::Binary(_, a, b) => {
                a.for_each_name(visit);
                b.for_each_name(visit);
            }
        }
    }

    /// The formulas whose conjunction it is.
    pub fn conjuncts(&self) -> Vec<&Self> {
        let mut found = Vec::new();
        let mut rest = vec![self];
        while let Some(formula) = rest.pop() {
            match formula {
                Self::Binary(FormulaOp::And, a, b) => rest.extend([&**b, &**a]),
                other => found.push(other),
            }
        }
        found
    }
}

impl FormulaOp {
    /// The operator on two values, either of which may be unknown.
    pub(crate) fn apply(self, a: Option<i128>, b: impl FnOnce() -> Option<i128>) -> Option<i128> {
        let truth = |value: Option<i128>| value.map(|value| value != 0);
        match self {
            Self::And | Self::Or => {
                let decides = self == Self::Or;
                let first = truth(a);
                if first == Some(decides) {
                    return Some(i128::from(decides));
                }
                match truth(b()) {
                    Some(second) if second == decides => Some(i128::from(decides)),
                    Some(_) => first.map(i128::from),
                    None => None,
                }
            }
            _ => self.strict(a?, b()?),
        }
    }

    fn strict(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Self::And => Some(i128::from(a != 0 && b != 0)),
            Self::Or => Some(i128::from(a != 0 || b != 0)),
            Self::Eq => Some(i128::from(a == b)),
            Self::Ne => Some(i128::from(a != b)),
            Self::Lt => Some(i128::from(a < b)),
            Self::Le => Some(i128::from(a <= b)),
            Self::Gt => Some(i128::from(a > b)),
            Self::Ge => Some(i128::from(a >= b)),
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => a.checked_div(b),
            Self::Rem => a.checked_rem(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i128) -> Formula {
        Formula::Number(value)
    }

    fn divided_by(divisor: i128) -> Formula {
        Formula::binary(FormulaOp::Div, number(1), number(divisor))
    }

    #[test]
    fn what_is_unknown_does_not_hold_unless_the_other_side_decides() {
        let unknown = || divided_by(0);
        assert!(divided_by(1).holds(&|_| None));
        assert!(!unknown().holds(&|_| None));
        assert!(!Formula::Not(Box::new(unknown())).holds(&|_| None));
        assert!(Formula::or(unknown(), number(1)).holds(&|_| None));
        assert!(Formula::or(number(2), unknown()).holds(&|_| None));
        assert!(!Formula::or(unknown(), number(0)).holds(&|_| None));
        let both = Formula::and(unknown(), number(0));
        assert!(Formula::Not(Box::new(both)).holds(&|_| None));
    }

    #[test]
    fn numbers_do_not_wrap() {
        let sum = Formula::binary(FormulaOp::Add, number(i128::MAX), number(1));
        let less = Formula::binary(FormulaOp::Lt, sum.clone(), number(0));
        assert!(!less.holds(&|_| None));
        let at_least = Formula::binary(FormulaOp::Ge, sum, number(0));
        assert!(!at_least.holds(&|_| None));
    }
}
