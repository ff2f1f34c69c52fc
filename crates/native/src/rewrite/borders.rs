//! Boundary values: records where the operands of a relational condition meet, or are next to each
//! other ([004] 4.1).
//!
//! A condition's border has three cells: for the operand below, at and above the other. The condition's
//! own value leaves one or two of them: where `a < b` is true, `a` can only be one below, where it
//! is false only at `b` or one above. So the records stand on the ways of the condition, and a passage costs
//! a subtraction and a comparison, and for `==` no more than a store where it is true.
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
pub(super) struct Meeting {
    /// The comparison that the condition is, its operands being `a` and `b`.
    pub(super) op: CmpOp,
    pub(super) operands: Operands,
}

/// The operands of a condition with a border.
#[derive(Debug)]
pub(super) enum Operands {
    /// There is a label at the border alone: the comparison with it.
    Any { equal: String },
    /// Numbers of so many bits.
    Integers {
        a: String,
        b: String,
        bits: u32,
        signed: bool,
        /// Whether no number is below `b`.
        is_least: bool,
    },
}

/// What is recorded of a border on one way of its condition.
#[derive(Debug, PartialEq, Eq)]
enum OnWay {
    /// Nothing: the operands are not near each other.
    Nothing,
    /// That they are equal.
    Equal,
    /// What a statement finds out: a condition in C, before which `declared` stands, and the
    /// position of the cell to be set where it is true.
    Tested { declared: String, test: String, position: String },
}

impl Meeting {
    /// What is recorded where the condition has a value.
    fn on_way(&self, value: bool) -> OnWay {
        use CmpOp::{Eq, FEq, FNe, Ne};
        let (is_below, is_equal, is_above) = match (self.op, value) {
            (Eq | FEq, true) | (Ne | FNe, false) => return OnWay::Equal,
            (Eq, false) | (Ne, true) => (true, false, true),
            (FEq, false) | (FNe, true) => return OnWay::Nothing,
            (CmpOp::LtS | CmpOp::LtU, true) | (CmpOp::GeS | CmpOp::GeU, false) => {
                (true, false, false)
            }
            (CmpOp::LtS | CmpOp::LtU, false) | (CmpOp::GeS | CmpOp::GeU, true) => {
                (false, true, true)
            }
            (CmpOp::GtS | CmpOp::GtU, true) | (CmpOp::LeS | CmpOp::LeU, false) => {
                (false, false, true)
            }
            (CmpOp::GtS | CmpOp::GtU, false) | (CmpOp::LeS | CmpOp::LeU, true) => {
                (true, true, false)
            }
            // What is not less may be unordered.
            (CmpOp::FLt, value) | (CmpOp::FGt, value) => (!value, !value, !value),
            (CmpOp::FLe, value) | (CmpOp::FGe, value) => (value, value, value),
        };
        match &self.operands {
            Operands::Any { equal } if is_equal => OnWay::Tested {
                declared: String::new(),
                test: equal.clone(),
                position: "1".to_owned(),
            },
            Operands::Any { .. } => OnWay::Nothing,
            Operands::Integers { a, b, bits, signed, is_least } => {
                let sides = [is_below && !is_least, is_equal, is_above];
                beside((a, b), *bits, *signed, sides)
            }
        }
    }
}

/// Where one of the positions that are possible is taken. The difference of the operands does not wrap
/// where one order is possible alone; else the order is compared where the difference is small.
fn beside((a, b): (&str, &str), bits: u32, signed: bool, sides: [bool; 3]) -> OnWay {
    let ty = format!("lydian_u{bits}");
    let less = |a: &str, b: &str, position: &str| OnWay::Tested {
        declared: format!("{ty} lydian_d = ({ty})(({ty})({a}) - ({ty})({b})); "),
        test: "lydian_d <= 1".to_owned(),
        position: position.to_owned(),
    };
    // A sum with a constant leaves both operands in their registers, which a difference does not.
    let equal = |next: &str, position: &str| OnWay::Tested {
        declared: String::new(),
        test: format!("({ty})({a}) == ({ty})(({ty})({b}){next})"),
        position: position.to_owned(),
    };
    match sides {
        [false, false, false] => OnWay::Nothing,
        [false, true, false] => equal("", "1"),
        [false, false, true] => equal(" + 1", "2"),
        [false, true, true] => less(a, b, "1 + lydian_d"),
        [true, false, false] => equal(" - 1", "0"),
        [true, true, false] => less(b, a, "1 - lydian_d"),
        [true, _, true] => {
            let sign = if signed { 's' } else { 'u' };
            OnWay::Tested {
                declared: format!(
                    "{ty} lydian_a = {a}, lydian_b = {b}, \
                     lydian_d = ({ty})(lydian_a - lydian_b + 1); "
                ),
                test: format!(
                    "lydian_d <= 2 && (lydian_d == 1 || (lydian_d == 0) \
                     == ((lydian_{sign}{bits})lydian_a < (lydian_{sign}{bits})lydian_b))"
                ),
                position: "lydian_d".to_owned(),
            }
        }
    }
}

/// Whether a comparison says which operand is the lower one, as signed numbers or not.
pub(super) const fn orders(op: CmpOp, signed: bool) -> bool {
    match signed {
        true => matches!(op, CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS),
        false => matches!(op, CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU),
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

    /// The borders of a condition, each with the first of its cells.
    fn of(&self, condition: usize) -> impl Iterator<Item = (u32, &Border)> {
        let all = (self.first..).step_by(3).zip(&self.all);
        all.filter(move |(_, border)| border.condition == condition)
    }

    /// The cells that are set where a condition has a value, whatever the state is.
    pub(super) fn equal(&self, condition: usize, value: bool) -> impl Iterator<Item = u32> {
        let here = self.of(condition);
        let here = here.filter(move |(_, of)| of.meeting.on_way(value) == OnWay::Equal);
        here.map(|(first, _)| first + 1)
    }

    /// What is recorded besides where a condition has a value: expressions, each followed by a
    /// comma. `waits`: the name of the word that keeps what is not to be recorded yet, [`Self::equal`]
    /// too.
    pub(super) fn on_way(&self, condition: usize, value: bool, waits: Option<&str>) -> String {
        let record = |first: u32, position: &str| match waits {
            None => format!("lydian_hit[{first} + {position}] = 1; "),
            Some(word) => format!(
                "if (!lydian_hit[{first} + {position}]) {word} |= 1ull << ({} + {position}); ",
                first - self.first
            ),
        };
        let here =
            self.of(condition).map(|(first, border)| match (border.meeting.on_way(value), waits) {
                (OnWay::Nothing, _) | (OnWay::Equal, None) => String::new(),
                (OnWay::Equal, Some(_)) => format!("({{ {}}}), ", record(first, "1")),
                (OnWay::Tested { declared, test, position }, _) => {
                    let record = record(first, &position);
                    format!("({{ {declared}if (__builtin_expect({test}, 0)) {{ {record}}} }}), ")
                }
            });
        here.collect()
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
