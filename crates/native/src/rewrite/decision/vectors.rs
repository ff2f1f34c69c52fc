//! How a decision is recorded, found by trying all of its vectors.
//!
//! A vector is the set of the true conditions, and of the conditions that were not reached but have
//! a value on this state. The conditions that were reached follow from it by the tree. If labels
//! are equal on all vectors with one outcome, the outcome alone is recorded. A condition that is
//! not reached is evaluated only if its value can change the covered labels.

use lydian_base::EntityId;
use lydian_ir::decision::Condition;
use lydian_ir::{Body, ConditionId, Decision, Expr, ExprId, LocalKind, Truth};
use lydian_objective::decision::vector::{DecisionVector, sometimes_defined, vector_bits};
use lydian_objective::{LabelId, Pred};

use crate::rewrite::request::{Purpose, RewriteRequest};

/// The most bits of vectors that have cells. Decisions with more bits record their vectors in
/// tables.
pub(crate) const CELL_CONDITIONS: usize = 10;

/// How the evaluations of a decision are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recording {
    /// They are not recorded.
    Nothing,
    /// Its outcome: labels of false, and of true.
    Outcome([Vec<LabelId>; 2]),
    /// Its vector: labels of each.
    Vector {
        labels: Vec<Vec<LabelId>>,
        /// The conditions, as bits, whose value matters where they are not reached.
        needed: u64,
    },
    /// Its vector, in a table. Labels are judged after the run.
    Wide(Vec<LabelId>),
}

/// The vector that the bits stand for.
pub(crate) fn vector(decision: &Decision, short_circuit: bool, values: &[u64]) -> DecisionVector {
    DecisionVector::from_bits(decision, short_circuit, |bit| {
        let word = values.get(bit / 64).copied().unwrap_or(0);
        word >> (bit % 64) & 1 == 1
    })
}

/// Decides how to record a decision for labels without mutants and expressions. With `wanted`,
/// hyperlabels are judged by its vectors too, and bind the values of these predicates.
pub(crate) fn recording(
    decision: &Decision,
    short_circuit: bool,
    labels: &[(LabelId, &Pred)],
    wanted: Option<&[Pred]>,
) -> Recording {
    let (count, bits) = (decision.conditions.len(), vector_bits(decision, short_circuit));
    if labels.is_empty() && wanted.is_none() {
        return Recording::Nothing;
    }
    if bits > CELL_CONDITIONS {
        return Recording::Wide(labels.iter().map(|(label, _)| *label).collect());
    }
    let vectors: Vec<_> = (0..1u64 << bits)
        .map(|bits| Vector::new(decision, short_circuit, bits, labels, wanted))
        .collect();
    if let Some(outcomes) = by_outcome(&vectors).filter(|_| wanted.is_none()) {
        return Recording::Outcome(outcomes);
    }
    let sometimes: Vec<ConditionId> = sometimes_defined(decision, short_circuit).collect();
    let mut needed = 0;
    for (bits, vector) in vectors.iter().enumerate().filter(|(_, vector)| vector.exists) {
        for bit in (0..count).map(|index| 1 << index) {
            let unreached = vector.known & bit != 0 && vector.reached & bit == 0;
            let differs = |other: usize| {
                let other = &vectors[other];
                vector.covers != other.covers || vector.bound != other.bound
            };
            if unreached && differs(bits ^ bit as usize) {
                needed |= bit;
            }
        }
        for (position, condition) in sometimes.iter().enumerate() {
            let (bit, defined) = (1 << condition.index(), 1 << (count + position));
            let without = &vectors[bits & !(bit | defined)];
            if bits & defined != 0
                && (vector.covers != without.covers || vector.bound != without.bound)
            {
                needed |= bit as u64;
            }
        }
    }
    Recording::Vector { labels: vectors.into_iter().map(|vector| vector.covers).collect(), needed }
}

struct Vector {
    /// Whether an evaluation can give it: unknown conditions are not true.
    exists: bool,
    reached: u64,
    known: u64,
    outcome: bool,
    covers: Vec<LabelId>,
    /// The values that hyperlabels bind.
    bound: Vec<Truth>,
}

impl Vector {
    fn new(
        decision: &Decision,
        short_circuit: bool,
        bits: u64,
        labels: &[(LabelId, &Pred)],
        wanted: Option<&[Pred]>,
    ) -> Self {
        let vector = vector(decision, short_circuit, &[bits]);
        let set = |holds: &dyn Fn(ConditionId) -> bool| {
            decision.conditions.ids().filter(|c| holds(*c)).fold(0, |set, c| set | 1 << c.index())
        };
        let known = set(&|c| vector.known.contains(c));
        let values = bits & ((1 << decision.conditions.len()) - 1);
        // A condition that is reached has its value anyway.
        let mut sometimes = sometimes_defined(decision, short_circuit).enumerate();
        let is_canonical = sometimes.all(|(position, condition)| {
            let is_said = bits >> (decision.conditions.len() + position) & 1 == 1;
            !(is_said && vector.reached.contains(condition))
        });
        let exists = values & !known == 0 && is_canonical;
        let outcome = decision.tree.eval(&|c| Truth::from(bits >> c.index() & 1 == 1)).is_true();
        let covered = labels.iter().filter(|(_, pred)| exists && pred.eval(&vector).is_true());
        let covers = covered.map(|(label, _)| *label).collect();
        let bound = wanted.unwrap_or_default().iter().map(|pred| pred.eval(&vector)).collect();
        Self {
            exists,
            reached: set(&|c| vector.reached.contains(c)),
            known,
            outcome,
            covers,
            bound,
        }
    }
}

fn by_outcome(vectors: &[Vector]) -> Option<[Vec<LabelId>; 2]> {
    let mut outcomes: [Option<&Vec<LabelId>>; 2] = [None, None];
    for vector in vectors.iter().filter(|vector| vector.exists) {
        match &mut outcomes[usize::from(vector.outcome)] {
            Some(covers) if **covers != vector.covers => return None,
            found => *found = Some(&vector.covers),
        }
    }
    Some(outcomes.map(|covers| covers.cloned().unwrap_or_default()))
}

/// For each condition and its values false and true, the vector if evaluation ends there; `None` if
/// it continues. Conditions that are not reached count as false. The result is `None` if one end
/// belongs to several vectors, or if C leaves the order of evaluation open.
pub(crate) fn ends(decision: &Decision) -> Option<Vec<[Option<u32>; 2]>> {
    let count = decision.conditions.len();
    if count > CELL_CONDITIONS || !decision.tree.is_in_order() {
        return None;
    }
    let mut ends = vec![[None; 2]; count];
    for bits in 0..1u64 << count {
        let vector = vector(decision, true, &[bits]);
        let reached = |index: &usize| vector.reached.contains(ConditionId::from_index(*index));
        let last = (0..count).rev().find(reached)?;
        if (0..count).any(|index| bits >> index & 1 == 1 && !reached(&index)) {
            continue;
        }
        let end = &mut ends[last][(bits >> last & 1) as usize];
        if end.replace(bits as u32).is_some() {
            return None;
        }
    }
    Some(ends)
}

/// The conditions, as bits, that evaluation reaches where it ends with these true ones.
pub(crate) fn reached_with(decision: &Decision, bits: u32) -> u64 {
    let vector = vector(decision, true, &[u64::from(bits)]);
    let reached = decision.conditions.ids().filter(|c| vector.reached.contains(*c));
    reached.fold(0, |set, c| set | 1 << c.index())
}

/// Whether a predicate is surely true where the outcome is false, and where it is true. `None` if
/// that depends on more than the outcome.
pub(crate) fn truth_by_outcome(
    decision: &Decision,
    short_circuit: bool,
    pred: &Pred,
) -> Option<[bool; 2]> {
    let mut is_plain = !pred.has_mutant();
    pred.for_each_expr(&mut |_| is_plain = false);
    let count = vector_bits(decision, short_circuit);
    if !is_plain || count > CELL_CONDITIONS {
        return None;
    }
    let mut truths = [None; 2];
    for bits in 0..1u64 << count {
        let vector =
            Vector::new(decision, short_circuit, bits, &[], Some(std::slice::from_ref(pred)));
        let is_true = vector.bound.iter().all(|truth| truth.is_true());
        let known = &mut truths[usize::from(vector.outcome)];
        if vector.exists && known.replace(is_true).is_some_and(|before| before != is_true) {
            return None;
        }
    }
    Some(truths.map(|truth| truth.unwrap_or(false)))
}

/// The conditions whose value may be undefined where evaluation does not reach them: they read an
/// automatic variable, which may not be set then, or compute, which may overflow.
pub(crate) fn doubtful(
    decision: &Decision,
    request: &RewriteRequest<'_>,
    body: &Body,
) -> Vec<bool> {
    let always = lydian_objective::decision::predicates::always_reached(&decision.tree);
    let is_doubtful = |(id, condition): (ConditionId, &Condition)| {
        request.purpose == Purpose::Program
            && !always.contains(id)
            && condition.unreached.expr().is_some_and(|expr| may_be_undefined(body, expr))
    };
    decision.conditions.iter().map(is_doubtful).collect()
}

fn may_be_undefined(body: &Body, expr: ExprId) -> bool {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        let expr = &body.exprs[expr];
        match expr {
            Expr::Local(local) | Expr::AddrLocal(local)
                if body.locals[*local].kind != LocalKind::Param =>
            {
                return true;
            }
            Expr::Unary(..) | Expr::Binary(..) | Expr::Index { .. } | Expr::PtrDiff { .. } => {
                return true;
            }
            _ => expr.for_each_operand(|operand| work.push(operand)),
        }
    }
    false
}
