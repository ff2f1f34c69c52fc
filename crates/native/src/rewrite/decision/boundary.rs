//! Boundary values: probes where the operands of a relational condition are equal, or differ by one
//! ([004] 4.1).
//!
//! The boundary of a condition has three cells: its first operand is one below, at, or one above
//! the second. The value of the condition leaves one or two of them: where `a < b` is true, `a` can
//! only be one below; where it is false, only at `b` or one above. So the probes stand on the ways
//! of the condition. A pass costs a subtraction and a comparison; for `==`, it costs one store
//! where the condition is true.
//!
//! A label of a decision is covered where the decision's evaluation ends. If the evaluation surely
//! ends once the condition was evaluated, the cell is set there. Otherwise a bit for the cell waits
//! in `lydian_n` until the end.

use lydian_base::EntityId;
use lydian_ir::{BinOp, CmpOp, ConditionId, Expr, ExprArena, ExprId};
use lydian_objective::{LabelId, Pred};

/// The most boundaries of one decision: so many times three bits fit a word.
pub(crate) const MOST_BOUNDARIES: usize = 21;

/// A label that is covered where evaluation reaches a condition and an operand is at, below or
/// above the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundaryLabel {
    pub(crate) condition: ConditionId,
    pub(crate) a: ExprId,
    pub(crate) b: ExprId,
    pub(crate) side: BoundarySide,
    /// Whether the predicate needs that evaluation reaches the condition.
    pub(crate) says_reached: bool,
}

/// On which side of the boundary the first operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundarySide {
    /// The first operand is one below the second, as signed numbers or not.
    Below { signed: bool },
    /// The operands are equal, by this comparison.
    At(ExprId),
    /// The first operand is one above the second, as signed numbers or not.
    Above { signed: bool },
}

impl BoundaryLabel {
    /// Reads a predicate of that form; `None` for all others.
    pub(crate) fn of(pred: &Pred, exprs: &ExprArena) -> Option<Self> {
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
                Expr::Cmp(CmpOp::Eq | CmpOp::FEq, a, b) => {
                    (condition, a, b, BoundarySide::At(test))
                }
                _ => return None,
            },
            [(condition, equal), (same, order)] if condition == same => {
                let Expr::Cmp(CmpOp::Eq, beside, next) = exprs[equal] else { return None };
                let Expr::Cmp(op, a, b) = exprs[order] else { return None };
                let (step, side) = match op {
                    CmpOp::LtS => (BinOp::SubU, BoundarySide::Below { signed: true }),
                    CmpOp::LtU => (BinOp::SubU, BoundarySide::Below { signed: false }),
                    CmpOp::GtS => (BinOp::AddU, BoundarySide::Above { signed: true }),
                    CmpOp::GtU => (BinOp::AddU, BoundarySide::Above { signed: false }),
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

    /// Its position among the cells of its boundary.
    pub(crate) const fn position(&self) -> usize {
        match self.side {
            BoundarySide::Below { .. } => 0,
            BoundarySide::At(_) => 1,
            BoundarySide::Above { .. } => 2,
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

/// The boundary of one condition.
#[derive(Debug)]
pub(crate) struct Boundary {
    pub(crate) condition: usize,
    pub(crate) operand_test: OperandTest,
    /// The labels of its cells.
    pub(crate) labels: [Vec<LabelId>; 3],
}

/// How a text finds where the operands meet.
#[derive(Debug)]
pub(crate) struct OperandTest {
    /// The comparison that the condition is, its operands being `a` and `b`.
    pub(crate) op: CmpOp,
    pub(crate) operands: BoundaryOperands,
}

/// The operands of a condition with a boundary.
#[derive(Debug)]
pub(crate) enum BoundaryOperands {
    /// There is a label at the boundary alone: the comparison with it.
    Any { equal: String },
    /// Numbers of so many bits.
    Integers {
        a: String,
        b: String,
        bits: u32,
        signed: bool,
        /// Whether no number is below `b`.
        is_least: bool,
        /// Whether `b` is a constant with numbers on both sides.
        is_between: bool,
    },
}

/// The probe of a boundary on one way of its condition.
#[derive(Debug, PartialEq, Eq)]
enum BoundaryProbe {
    /// Nothing: the operands are not near each other.
    Nothing,
    /// That they are equal.
    Equal,
    /// A test in C, with the declarations before it, and the position of the cell that is set where
    /// the test is true.
    Tested { declared: String, test: String, position: String },
}

impl OperandTest {
    /// The probe where the condition has a value.
    fn on_way(&self, value: bool) -> BoundaryProbe {
        use CmpOp::{Eq, FEq, FNe, Ne};
        let (is_below, is_equal, is_above) = match (self.op, value) {
            (Eq | FEq, true) | (Ne | FNe, false) => return BoundaryProbe::Equal,
            (Eq, false) | (Ne, true) => (true, false, true),
            (FEq, false) | (FNe, true) => return BoundaryProbe::Nothing,
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
            // Floats that are not less may be unordered.
            (CmpOp::FLt, value) | (CmpOp::FGt, value) => (!value, !value, !value),
            (CmpOp::FLe, value) | (CmpOp::FGe, value) => (value, value, value),
        };
        match &self.operands {
            BoundaryOperands::Any { equal } if is_equal => BoundaryProbe::Tested {
                declared: String::new(),
                test: equal.clone(),
                position: "1".to_owned(),
            },
            BoundaryOperands::Any { .. } => BoundaryProbe::Nothing,
            BoundaryOperands::Integers { a, b, bits, is_between: true, .. }
                if is_below && is_above =>
            {
                around(a, b, *bits)
            }
            BoundaryOperands::Integers { a, b, bits, signed, is_least, .. } => {
                let sides = [is_below && !is_least, is_equal, is_above];
                beside((a, b), *bits, *signed, sides)
            }
        }
    }
}

/// Where one of the positions that are possible is taken. The difference of the operands does not
/// wrap where one order is possible alone; else the order is compared where the difference is
/// small.
fn beside((a, b): (&str, &str), bits: u32, signed: bool, sides: [bool; 3]) -> BoundaryProbe {
    let ty = format!("lydian_u{bits}");
    let less = |a: &str, b: &str, position: &str| BoundaryProbe::Tested {
        declared: format!("{ty} lydian_d = ({ty})(({ty})({a}) - ({ty})({b})); "),
        test: "lydian_d <= 1".to_owned(),
        position: position.to_owned(),
    };
    // A sum with a constant leaves both operands in their registers, which a difference does not.
    let equal = |next: &str, position: &str| BoundaryProbe::Tested {
        declared: String::new(),
        test: format!("({ty})({a}) == ({ty})(({ty})({b}){next})"),
        position: position.to_owned(),
    };
    match sides {
        [false, false, false] => BoundaryProbe::Nothing,
        [false, true, false] => equal("", "1"),
        [false, false, true] => equal(" + 1", "2"),
        [false, true, true] => less(a, b, "1 + lydian_d"),
        [true, false, false] => equal(" - 1", "0"),
        [true, true, false] => less(b, a, "1 - lydian_d"),
        [true, _, true] => {
            let sign = if signed { 's' } else { 'u' };
            BoundaryProbe::Tested {
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

/// Where one of the positions is taken and no number beside `b` wraps.
fn around(a: &str, b: &str, bits: u32) -> BoundaryProbe {
    let ty = format!("lydian_u{bits}");
    BoundaryProbe::Tested {
        declared: format!("{ty} lydian_d = ({ty})(({ty})({a}) - ({ty})({b}) + 1); "),
        test: "lydian_d <= 2".to_owned(),
        position: "lydian_d".to_owned(),
    }
}

/// Whether a comparison orders its operands, as signed numbers or not.
pub(crate) const fn is_ordering(op: CmpOp, signed: bool) -> bool {
    match signed {
        true => matches!(op, CmpOp::LtS | CmpOp::LeS | CmpOp::GtS | CmpOp::GeS),
        false => matches!(op, CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU),
    }
}

/// The boundaries of a decision.
#[derive(Debug, Default)]
pub(crate) struct DecisionBoundaries {
    /// The first cell of the first boundary. The cells of all boundaries are consecutive.
    pub(crate) first: u32,
    pub(crate) all: Vec<Boundary>,
}

impl DecisionBoundaries {
    pub(crate) fn is_on(&self, condition: usize) -> bool {
        self.all.iter().any(|boundary| boundary.condition == condition)
    }

    /// The boundaries of a condition, each with the first of its cells.
    fn of(&self, condition: usize) -> impl Iterator<Item = (u32, &Boundary)> {
        let all = (self.first..).step_by(3).zip(&self.all);
        all.filter(move |(_, boundary)| boundary.condition == condition)
    }

    /// The cells that are set where a condition has a value, whatever the state is.
    pub(crate) fn equal(&self, condition: usize, value: bool) -> impl Iterator<Item = u32> {
        let here = self.of(condition);
        let here =
            here.filter(move |(_, of)| of.operand_test.on_way(value) == BoundaryProbe::Equal);
        here.map(|(first, _)| first + 1)
    }

    /// The probes where a condition has a value, besides [`Self::equal`]: expressions, each
    /// followed by a comma. With `waits`, the name of a word, the cells wait in this word, those of
    /// [`Self::equal`] too.
    pub(crate) fn on_way(&self, condition: usize, value: bool, waits: Option<&str>) -> String {
        let record = |first: u32, position: &str| match waits {
            None => format!("lydian_hit[{first} + {position}] = 1; "),
            Some(word) => format!(
                "{word} |= (unsigned long long)!lydian_hit[{first} + {position}] \
                 << ({} + {position}); ",
                first - self.first
            ),
        };
        let here = self.of(condition).map(|(first, boundary)| {
            match (boundary.operand_test.on_way(value), waits) {
                (BoundaryProbe::Nothing, _) | (BoundaryProbe::Equal, None) => String::new(),
                (BoundaryProbe::Equal, Some(_)) => format!("({{ {}}}), ", record(first, "1")),
                (BoundaryProbe::Tested { declared, test, position }, _) => {
                    let record = record(first, &position);
                    format!("({{ {declared}if (__builtin_expect({test}, 0)) {{ {record}}} }}), ")
                }
            }
        });
        here.collect()
    }

    /// Sets the cells that have waited, by [`FLUSH`]: an expression, followed by a comma.
    pub(crate) fn flush(&self, word: &str) -> String {
        let first = self.first;
        format!("({{ if (__builtin_expect({word} != 0, 0)) lydian_flush({first}, {word}); }}), ")
    }
}

/// Sets the cells from `first` on whose bits are set. It is a call and no loop, because decisions
/// with many boundaries are many.
pub(crate) const FLUSH: &str = "\
static __attribute__((noinline, cold, unused, preserve_most)) void lydian_flush(\
unsigned long first, unsigned long long cells) { \
for (; cells; cells &= cells - 1) lydian_hit[first + __builtin_ctzll(cells)] = 1; }\n";

/// The name of a decision's word of cells that wait for its end.
pub(crate) fn pending_word(decision: lydian_ir::DecisionId) -> String {
    format!("lydian_n{}", decision.index())
}
