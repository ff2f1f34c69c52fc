//! Independence: the conditions of a decision that were seen to decide its outcome by themselves, and
//! the evaluations that are missing for the others.
//!
//! A condition *decides* in a row if short-circuit evaluation reached it, and the other conditions
//! that were reached do not determine the outcome: with this condition unknown the tree is unknown in
//! Kleene's logic ([003]; gcc's condition coverage and clang's MC/DC read rows in this way).
//!
//! - *Masking* MC/DC is shown by two rows with different outcomes in which the condition decides,
//!   once true and once false.
//! - *Unique-cause* MC/DC requires in addition that every other condition which was reached in both
//!   rows has the same value in both. Values of conditions that were not reached do not count.
//!
//! Decisions may have any number of conditions. Cost: rows times the square of conditions, and for
//! unique causes the square of the rows in which the condition decides.

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId, Truth};

use crate::coverage::{DecisionCoverage, DecisionRow};

/// The most pairs of rows that are compared for one condition.
const MOST_PAIRS: usize = 4_000_000;

/// The effects of one condition that the rows show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The positions of the rows in which it decides: where it is false, and where it is true.
    pub deciding: [Vec<usize>; 2],
    /// Two rows that show its independence under masking.
    pub masking: Option<(usize, usize)>,
    /// Two rows that show it as the unique cause.
    pub unique: Option<(usize, usize)>,
}

/// A row that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRow {
    /// The required value of each condition; `None` if it does not matter.
    pub values: Vec<Option<bool>>,
    /// The outcome that it has then.
    pub outcome: bool,
    /// The row that it makes a pair with, if that was seen.
    pub beside: Option<usize>,
}

impl Analysis {
    /// Whether the condition was seen to decide by being false, and by being true.
    pub fn decided(&self) -> [bool; 2] {
        [0, 1].map(|value| !self.deciding[value].is_empty())
    }
}

/// Analyses the rows of a decision for each of its conditions.
pub fn analyse(decision: &DecisionCoverage) -> Vec<Analysis> {
    (0..decision.conditions.len()).map(|index| analyse_one(decision, index)).collect()
}

fn analyse_one(decision: &DecisionCoverage, index: usize) -> Analysis {
    let mut deciding = [Vec::new(), Vec::new()];
    for (position, row) in decision.rows.iter().enumerate() {
        if let Some(value) = row.values[index]
            && decides(&decision.tree, row, index)
        {
            deciding[usize::from(value)].push(position);
        }
    }
    let unique = pair(decision, &deciding, |a, b| same_but(a, b, index));
    let masking = unique.or_else(|| masking_pair(decision, &deciding));
    Analysis { deciding, masking, unique }
}

/// Whether a condition decides the outcome in a row.
pub fn decides(tree: &BoolTree, row: &DecisionRow, index: usize) -> bool {
    row.reached[index]
        && tree.eval(&|condition: ConditionId| {
            let other = condition.index();
            match other != index && row.reached[other] {
                true => Truth::from(row.values[other]),
                false => Truth::Unknown,
            }
        }) == Truth::Unknown
}

/// Whether all other conditions that were reached in both of two rows have the same value there.
fn same_but(a: &DecisionRow, b: &DecisionRow, index: usize) -> bool {
    let differ = |at: usize| a.reached[at] && b.reached[at] && a.values[at] != b.values[at];
    (0..a.values.len()).all(|other| other == index || !differ(other))
}

/// The first two rows with different outcomes that satisfy a predicate. The row where the condition
/// is true comes first.
fn pair(
    decision: &DecisionCoverage,
    deciding: &[Vec<usize>; 2],
    asked: impl Fn(&DecisionRow, &DecisionRow) -> bool,
) -> Option<(usize, usize)> {
    let rows = &decision.rows;
    let pairs = deciding[1].iter().flat_map(|a| deciding[0].iter().map(move |b| (*a, *b)));
    pairs
        .take(MOST_PAIRS)
        .find(|(a, b)| rows[*a].outcome != rows[*b].outcome && asked(&rows[*a], &rows[*b]))
}

/// The same without a predicate, in time linear in the rows.
fn masking_pair(decision: &DecisionCoverage, deciding: &[Vec<usize>; 2]) -> Option<(usize, usize)> {
    let first = |value: usize, outcome: bool| {
        deciding[value].iter().copied().find(|row| decision.rows[*row].outcome == outcome)
    };
    let with = |outcome: bool| first(1, outcome).zip(first(0, !outcome));
    with(true).or_else(|| with(false))
}

/// The rows that are missing to show a condition independent: none, one or two. They are as near to a
/// seen row as possible. `None` if no values of the conditions let it decide.
pub fn wanted(
    decision: &DecisionCoverage,
    index: usize,
    analysis: &Analysis,
) -> Option<Vec<MissingRow>> {
    if analysis.masking.is_some() {
        return Some(Vec::new());
    }
    let seen = [true, false]
        .into_iter()
        .find_map(|value| analysis.deciding[usize::from(value)].first().map(|row| (value, *row)));
    match seen {
        Some((value, row)) => {
            let near = reached_values(&decision.rows[row]);
            let target = Some(!decision.rows[row].outcome);
            let missing = build(&decision.tree, index, !value, &near, target)?;
            Some(vec![MissingRow { beside: Some(row), ..missing }])
        }
        None => {
            let near = decision.rows.first().map(reached_values);
            let near = near.unwrap_or_else(|| vec![None; decision.conditions.len()]);
            let one = build(&decision.tree, index, true, &near, None)?;
            let target = Some(!one.outcome);
            let other = build(&decision.tree, index, false, &one.values, target)?;
            Some(vec![one, other])
        }
    }
}

fn reached_values(row: &DecisionRow) -> Vec<Option<bool>> {
    row.values.iter().zip(&row.reached).map(|(value, reached)| value.filter(|_| *reached)).collect()
}

/// A row in which a condition has a value and decides. The other conditions are as in `near`, and the
/// outcome is the target, as far as possible.
fn build(
    tree: &BoolTree,
    index: usize,
    value: bool,
    near: &[Option<bool>],
    target: Option<bool>,
) -> Option<MissingRow> {
    let mut row = Builder { near, index, value, values: vec![None; near.len()] };
    row.values[index] = Some(value);
    let outcome = row.carry(tree, target)?;
    Some(MissingRow { values: row.values, outcome, beside: None })
}

/// Gives conditions values so that one of them decides.
struct Builder<'a> {
    near: &'a [Option<bool>],
    index: usize,
    value: bool,
    values: Vec<Option<bool>>,
}

impl Builder<'_> {
    /// Makes a tree with the condition in it depend on the condition. Returns its value then, which
    /// is the target if there is a choice; `None` if constants prevent it.
    fn carry(&mut self, tree: &BoolTree, target: Option<bool>) -> Option<bool> {
        match tree {
            BoolTree::Const(_) => None,
            BoolTree::Cond(_) => Some(self.value),
            BoolTree::Not(a) => self.carry(a, target.map(|t| !t)).map(|value| !value),
            BoolTree::And(a, b) => self.carry_lazily(a, b, true, target),
            BoolTree::Or(a, b) => self.carry_lazily(a, b, false, target),
            BoolTree::BitAnd(a, b) => self.carry_beside(a, b, true, target),
            BoolTree::BitOr(a, b) => self.carry_beside(a, b, false, target),
            BoolTree::Eq(a, b) => self.compare(a, b, true, target),
            BoolTree::Xor(a, b) => self.compare(a, b, false, target),
            BoolTree::Ite(c, a, b) if contains(c, self.index) => {
                let value = self.carry(c, None)?;
                let (taken, other) = if value { (a, b) } else { (b, a) };
                let result = self.pick(taken, target);
                self.can_be(other, !result).then_some(result)
            }
            BoolTree::Ite(c, a, b) => {
                let first = contains(a, self.index);
                self.force(c, first)?;
                self.carry(if first { a } else { b }, target)
            }
        }
    }

    /// `a && b` (neutral: true) and `a || b` (neutral: false). The right side matters only where
    /// the left one is neutral.
    fn carry_lazily(
        &mut self,
        a: &BoolTree,
        b: &BoolTree,
        neutral: bool,
        target: Option<bool>,
    ) -> Option<bool> {
        if contains(b, self.index) {
            self.force(a, neutral)?;
            return self.carry(b, target);
        }
        let value = self.carry(a, target)?;
        if value == neutral {
            self.force(b, neutral)?;
        } else if !self.can_be(b, neutral) {
            return None;
        }
        Some(value)
    }

    /// `a & b` and `a | b`: the other side is evaluated always.
    fn carry_beside(
        &mut self,
        a: &BoolTree,
        b: &BoolTree,
        neutral: bool,
        target: Option<bool>,
    ) -> Option<bool> {
        let (with, other) = if contains(a, self.index) { (a, b) } else { (b, a) };
        self.force(other, neutral)?;
        self.carry(with, target)
    }

    /// `a == b`, or else `a != b`; the side without the condition may be anything.
    fn compare(
        &mut self,
        a: &BoolTree,
        b: &BoolTree,
        equal: bool,
        target: Option<bool>,
    ) -> Option<bool> {
        let (with, other) = if contains(a, self.index) { (a, b) } else { (b, a) };
        let fixed = self.pick(other, None);
        let value = self.carry(with, target.map(|t| (t == equal) == fixed))?;
        Some((value == fixed) == equal)
    }

    /// Gives a tree without the condition the requested value, or else the nearest one, or true.
    fn pick(&mut self, tree: &BoolTree, asked: Option<bool>) -> bool {
        let value = asked.or_else(|| self.near_value(tree)).unwrap_or(true);
        match self.force(tree, value) {
            Some(()) => value,
            None => {
                let forced = self.force(tree, !value);
                debug_assert!(forced.is_some(), "a tree has a value");
                !value
            }
        }
    }

    /// Whether a tree can have a value.
    fn can_be(&self, tree: &BoolTree, value: bool) -> bool {
        let nothing = vec![None; self.near.len()];
        let mut trial = Builder { near: &nothing, values: nothing.clone(), ..*self };
        trial.force(tree, value).is_some()
    }

    /// Gives a tree without the condition a value. `None` if constants prevent it. Some of its
    /// conditions may then have values already.
    fn force(&mut self, tree: &BoolTree, value: bool) -> Option<()> {
        match tree {
            BoolTree::Const(constant) => (*constant == value).then_some(()),
            BoolTree::Cond(condition) => {
                self.values[condition.index()] = Some(value);
                Some(())
            }
            BoolTree::Not(a) => self.force(a, !value),
            BoolTree::And(a, b) | BoolTree::BitAnd(a, b) => {
                let both = matches!(tree, BoolTree::BitAnd(..));
                self.force_join(a, b, value, true, both)
            }
            BoolTree::Or(a, b) | BoolTree::BitOr(a, b) => {
                let both = matches!(tree, BoolTree::BitOr(..));
                self.force_join(a, b, value, false, both)
            }
            BoolTree::Eq(a, b) => self.force_compare(a, b, value),
            BoolTree::Xor(a, b) => self.force_compare(a, b, !value),
            BoolTree::Ite(c, a, b) => {
                let first = self.near_value(c).unwrap_or(true);
                [first, !first].into_iter().find_map(|way| {
                    let before = self.values.clone();
                    let done = self
                        .force(c, way)
                        .and_then(|()| self.force(if way { a } else { b }, value));
                    if done.is_none() {
                        self.values = before;
                    }
                    done
                })
            }
        }
    }

    /// `a && b` and its like: with their neutral value both sides have it, else one side suffices.
    fn force_join(
        &mut self,
        a: &BoolTree,
        b: &BoolTree,
        value: bool,
        neutral: bool,
        both: bool,
    ) -> Option<()> {
        if value == neutral {
            self.force(a, value)?;
            return self.force(b, value);
        }
        let right_first = self.near_value(a) == Some(neutral);
        let orders = if right_first { [(b, a), (a, b)] } else { [(a, b), (b, a)] };
        orders.into_iter().find_map(|(side, other)| {
            let before = self.values.clone();
            let on_the_right = std::ptr::eq(side, b);
            let done = self.force(side, value).and_then(|()| match on_the_right {
                true => self.force(other, neutral),
                false if both => {
                    self.pick(other, None);
                    Some(())
                }
                false => Some(()),
            });
            if done.is_none() {
                self.values = before;
            }
            done
        })
    }

    fn force_compare(&mut self, a: &BoolTree, b: &BoolTree, equal: bool) -> Option<()> {
        let first = self.near_value(a).unwrap_or(true);
        [first, !first].into_iter().find_map(|left| {
            let before = self.values.clone();
            let done = self.force(a, left).and_then(|()| self.force(b, left == equal));
            if done.is_none() {
                self.values = before;
            }
            done
        })
    }

    fn near_value(&self, tree: &BoolTree) -> Option<bool> {
        tree.eval(&|condition: ConditionId| Truth::from(self.near[condition.index()])).known()
    }
}

fn contains(tree: &BoolTree, index: usize) -> bool {
    match tree {
        BoolTree::Const(_) => false,
        BoolTree::Cond(condition) => condition.index() == index,
        BoolTree::Not(a) => contains(a, index),
        BoolTree::And(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b)
        | BoolTree::Eq(a, b)
        | BoolTree::Xor(a, b) => contains(a, index) || contains(b, index),
        BoolTree::Ite(c, a, b) => contains(c, index) || contains(a, index) || contains(b, index),
    }
}

#[cfg(test)]
mod tests;
