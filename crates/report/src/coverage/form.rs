//! The serialised form of a coverage, where it differs from the types: places are pairs, rows are
//! words, trees are nested lists, so that files are small and readable.

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{DecisionRow, Position};

impl From<(u32, u32)> for Position {
    fn from((line, column): (u32, u32)) -> Self {
        Self { line, column }
    }
}

impl From<Position> for (u32, u32) {
    fn from(position: Position) -> Self {
        (position.line, position.column)
    }
}

impl From<DecisionRow> for String {
    /// A letter for each condition, then the outcome: `Tf-=T`. `T` and `F` were reached; `t` and
    /// `f` were not, but are known; `-` and `?` are unknown, not reached and reached.
    fn from(row: DecisionRow) -> Self {
        let letter = |(value, reached): (&Option<bool>, &bool)| match (value, reached) {
            (Some(true), true) => 'T',
            (Some(false), true) => 'F',
            (Some(true), false) => 't',
            (Some(false), false) => 'f',
            (None, true) => '?',
            (None, false) => '-',
        };
        let mut text: Self = row.values.iter().zip(&row.reached).map(letter).collect();
        text.push_str(if row.outcome { "=T" } else { "=F" });
        text
    }
}

impl TryFrom<String> for DecisionRow {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no row of a decision");
        let (letters, outcome) = text.rsplit_once('=').ok_or_else(wrong)?;
        let outcome = match outcome {
            "T" => true,
            "F" => false,
            _ => return Err(wrong()),
        };
        let (mut values, mut reached) = (Vec::new(), Vec::new());
        for letter in letters.chars() {
            let (value, here) = match letter {
                'T' => (Some(true), true),
                'F' => (Some(false), true),
                't' => (Some(true), false),
                'f' => (Some(false), false),
                '?' => (None, true),
                '-' => (None, false),
                _ => return Err(wrong()),
            };
            values.push(value);
            reached.push(here);
        }
        Ok(Self { values, reached, outcome })
    }
}

/// Trees: a number is a condition, a truth value a constant, `{"and": [0, 1, 2]}` an operator from
/// left to right.
pub(super) mod tree {
    use super::*;

    /// The serialised form.
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Condition(u32),
        Constant(bool),
        Operator(Operator),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Operator {
        Not(Box<Form>),
        And(Vec<Form>),
        Or(Vec<Form>),
        BitAnd(Vec<Form>),
        BitOr(Vec<Form>),
        Eq(Vec<Form>),
        Xor(Vec<Form>),
        If(Vec<Form>),
    }

    pub(in super::super) fn serialize<S: Serializer>(
        tree: &BoolTree,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        form(tree).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BoolTree, D::Error> {
        tree(Form::deserialize(from)?).map_err(serde::de::Error::custom)
    }

    fn form(tree: &BoolTree) -> Form {
        let operator = match tree {
            BoolTree::Const(value) => return Form::Constant(*value),
            BoolTree::Cond(condition) => return Form::Condition(condition.index() as u32),
            BoolTree::Not(a) => Operator::Not(Box::new(form(a))),
            BoolTree::And(..) => Operator::And(chain(tree)),
            BoolTree::Or(..) => Operator::Or(chain(tree)),
            BoolTree::BitAnd(..) => Operator::BitAnd(chain(tree)),
            BoolTree::BitOr(..) => Operator::BitOr(chain(tree)),
            BoolTree::Eq(..) => Operator::Eq(chain(tree)),
            BoolTree::Xor(..) => Operator::Xor(chain(tree)),
            BoolTree::Ite(c, a, b) => Operator::If(vec![form(c), form(a), form(b)]),
        };
        Form::Operator(operator)
    }

    /// The operands of a chain of one operator that leans to the left, as `a && b && c` does.
    fn chain(tree: &BoolTree) -> Vec<Form> {
        let (mut operands, mut left) = (Vec::new(), tree);
        while let Some((a, b)) = operands_of(left) {
            if std::mem::discriminant(left) != std::mem::discriminant(tree) {
                break;
            }
            operands.push(form(b));
            left = a;
        }
        operands.push(form(left));
        operands.reverse();
        operands
    }

    fn operands_of(tree: &BoolTree) -> Option<(&BoolTree, &BoolTree)> {
        match tree {
            BoolTree::And(a, b)
            | BoolTree::Or(a, b)
            | BoolTree::BitAnd(a, b)
            | BoolTree::BitOr(a, b)
            | BoolTree::Eq(a, b)
            | BoolTree::Xor(a, b) => Some((a, b)),
            _ => None,
        }
    }

    fn tree(form: Form) -> Result<BoolTree, String> {
        let operator = match form {
            Form::Constant(value) => return Ok(BoolTree::Const(value)),
            Form::Condition(number) => {
                return Ok(BoolTree::Cond(ConditionId::from_index(number as usize)));
            }
            Form::Operator(operator) => operator,
        };
        match operator {
            Operator::Not(a) => Ok(BoolTree::Not(Box::new(tree(*a)?))),
            Operator::And(operands) => fold(operands, BoolTree::And),
            Operator::Or(operands) => fold(operands, BoolTree::Or),
            Operator::BitAnd(operands) => fold(operands, BoolTree::BitAnd),
            Operator::BitOr(operands) => fold(operands, BoolTree::BitOr),
            Operator::Eq(operands) => fold(operands, BoolTree::Eq),
            Operator::Xor(operands) => fold(operands, BoolTree::Xor),
            Operator::If(operands) => match <[Form; 3]>::try_from(operands) {
                Ok([c, a, b]) => {
                    Ok(BoolTree::Ite(Box::new(tree(c)?), Box::new(tree(a)?), Box::new(tree(b)?)))
                }
                Err(_) => Err("`if` of a decision's tree has three operands".into()),
            },
        }
    }

    type Join = fn(Box<BoolTree>, Box<BoolTree>) -> BoolTree;

    fn fold(operands: Vec<Form>, join: Join) -> Result<BoolTree, String> {
        if operands.len() < 2 {
            return Err("an operator of a decision's tree has at least two operands".into());
        }
        let mut operands = operands.into_iter().map(tree);
        let first = operands.next().expect("there are two or more")?;
        operands.try_fold(first, |left, right| Ok(join(Box::new(left), Box::new(right?))))
    }
}
