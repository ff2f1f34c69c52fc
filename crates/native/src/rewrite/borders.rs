//! Boundary values: records where the operands of a relational condition meet, or are next to each
//! other ([004] 4.1).
//!
//! A condition's border has three cells: the operands' difference, plus one, is the cell's
//! position among them where it is at most two. So a passage costs a subtraction and a comparison.
//!
//! A label of a decision is covered where the decision's evaluation ends. Where that is sure when
//! the condition has been evaluated, its cell is set there. Else a bit for the cell waits in
//! `lydian_n` until the end.

use lydian_base::EntityId;
use lydian_ir::{BinOp, CmpOp, ConditionId, Expr, ExprArena, ExprId};
use lydian_objective::{LabelId, Pred};

/// The most borders of one decision: so many times three bits fit a word.
pub(super) const BORDERS: usize = 21;

/// A label that is covered where evaluation reaches a condition and an operand is at, below or above
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) condition: ConditionId,
    pub(super) a: ExprId,
    pub(super) b: ExprId,
    pub(super) side: Side,
    /// Whether the predicate needs that evaluation reaches the condition.
    pub(super) says_reached: bool,
}

/// On which side of the border the first operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// One below, as signed numbers or not.
    Below { signed: bool },
    /// At it. The comparison that says so.
    At(ExprId),
    /// One above, as signed numbers or not.
    Above { signed: bool },
}

impl Near {
    /// Reads a predicate of that form; `None` for all others.
    pub(super) fn of(pred: &Pred, exprs: &ExprArena) -> Option<Self> {
        let mut parts = Vec::new();
        conjuncts(pred, &mut parts);
        let mut reached = None;
        let mut tests = Vec::new();
        for part in parts {
            match part {
                Pred::Reached(condition) if reached.is_none() => reached = Some(*condition),
                Pred::Mutant(condition, test) => tests.push((*condition, *test)),
                _ => return None,
            }
        }
        let (condition, a, b, side) = match tests[..] {
            [(condition, test)] => match exprs[test] {
                Expr::Cmp(CmpOp::Eq | CmpOp::FEq, a, b) => (condition, a, b, Side::At(test)),
                _ => return None,
            },
            [(condition, equal), (same, order)] if condition == same => {
                let Expr::Cmp(CmpOp::Eq, beside, next) = exprs[equal] else { return None };
                let Expr::Cmp(op, a, b) = exprs[order] else { return None };
                let (step, side) = match op {
                    CmpOp::LtS => (BinOp::SubU, Side::Below { signed: true }),
                    CmpOp::LtU => (BinOp::SubU, Side::Below { signed: false }),
                    CmpOp::GtS => (BinOp::AddU, Side::Above { signed: true }),
                    CmpOp::GtU => (BinOp::AddU, Side::Above { signed: false }),
                    _ => return None,
                };
                let Expr::Binary(found, from, one) = exprs[next] else { return None };
                let is_next = found == step && from == b && is_one(exprs, one) && beside == a;
                is_next.then_some((condition, a, b, side))?
            }
            _ => return None,
        };
        let says_reached = reached == Some(condition);
        (says_reached || reached.is_none()).then_some(Self { condition, a, b, side, says_reached })
    }

    /// Its position among the cells of its border.
    pub(super) const fn position(&self) -> usize {
        match self.side {
            Side::Below { .. } => 0,
            Side::At(_) => 1,
            Side::Above { .. } => 2,
        }
    }
}

fn conjuncts<'p>(pred: &'p Pred, out: &mut Vec<&'p Pred>) {
    match pred {
        Pred::And(a, b) => {
            conjuncts(a, out);
            conjuncts(b, out);
        }
        other => out.push(other),
    }
}

fn is_one(exprs: &ExprArena, expr: ExprId) -> bool {
    matches!(exprs[expr], Expr::Const(_, 1))
}

/// The border of one condition.
#[derive(Debug)]
pub(super) struct Border {
    pub(super) condition: usize,
    pub(super) meeting: Meeting,
    /// The labels of its cells.
    pub(super) labels: [Vec<LabelId>; 3],
}

/// How a text finds where the operands meet.
#[derive(Debug)]
pub(super) enum Meeting {
    /// There is a label at the border alone: the comparison.
    Equal(String),
    /// The operands, as numbers of so many bits.
    Difference { a: String, b: String, bits: u32, signed: bool },
}

impl Meeting {
    /// Does `record`, a statement, where they meet; `lydian_d` is then the cell's position.
    pub(super) fn text(&self, record: &str) -> String {
        match self {
            Self::Equal(test) => {
                format!("if ({test}) {{ enum {{ lydian_d = 1 }}; {record}}} ")
            }
            Self::Difference { a, b, bits, signed } => {
                let sign = if *signed { 's' } else { 'u' };
                match bits {
                    ..64 => format!(
                        "{{ lydian_u64 lydian_d = (lydian_u64)((lydian_s64)(lydian_{sign}{bits})({a}) \
                         - (lydian_s64)(lydian_{sign}{bits})({b}) + 1); \
                         if (lydian_d <= 2) {{ {record}}} }} "
                    ),
                    // What lies beside the border must not have wrapped.
                    64.. => format!(
                        "{{ lydian_u{bits} lydian_a = {a}, lydian_b = {b}, \
                         lydian_d = lydian_a - lydian_b + 1; \
                         if (lydian_d <= 2 && (lydian_d == 1 || (lydian_d == 0) \
                         == ((lydian_{sign}{bits})lydian_a < (lydian_{sign}{bits})lydian_b))) \
                         {{ {record}}} }} "
                    ),
                }
            }
        }
    }
}

/// The borders of a decision.
#[derive(Debug, Default)]
pub(super) struct Borders {
    /// The cell of the first one; those of each border, and the borders, follow each other.
    pub(super) first: u32,
    pub(super) all: Vec<Border>,
}

impl Borders {
    pub(super) fn is_on(&self, condition: usize) -> bool {
        self.all.iter().any(|border| border.condition == condition)
    }

    /// What is done when a condition has been evaluated. `waits`: the name of the word that keeps
    /// what is not to be recorded yet.
    pub(super) fn after(&self, condition: usize, waits: Option<&str>) -> String {
        let here = self.all.iter().enumerate().filter(|(_, border)| border.condition == condition);
        here.map(|(index, border)| {
            let cell = format!("lydian_hit[{} + lydian_d]", self.first as usize + 3 * index);
            let record = match waits {
                None => format!("{cell} = 1; "),
                Some(word) => {
                    format!("if (!{cell}) {word} |= 1ull << ({} + lydian_d); ", 3 * index)
                }
            };
            border.meeting.text(&record)
        })
        .collect()
    }

    /// Records what has waited: an expression, followed by a comma.
    pub(super) fn flush(&self, word: &str) -> String {
        let first = self.first;
        format!(
            "({{ while ({word}) {{ lydian_hit[{first} + __builtin_ctzll({word})] = 1; \
             {word} &= {word} - 1; }} }}), "
        )
    }
}

/// The name of a decision's word of cells that wait for its end.
pub(super) fn waiting(decision: lydian_ir::DecisionId) -> String {
    format!("lydian_n{}", decision.index())
}
