//! Merging of decisions: a decision that has no effect and cannot trap forks once, whatever its
//! conditions are.
//!
//! Labels ask for the combinations of conditions that criteria want, so paths need not distinguish
//! them. Sites that control would have passed on one of the ways are looked at under the condition
//! of that way. The path forks as the program does where anything else is met: a trap that the path
//! does not exclude, an address that only a split decides, or memory that was never written.

use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::{BlockId, BranchOrigin, ConditionId, FuncId};
use lydian_smt::Term;
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::machine::decision_log::Question;
use crate::machine::memory::depends_on_undefined;
use crate::machine::program::site::SiteKey;
use crate::machine::state::EventPhase;
use crate::machine::state::{ConditionValue, PassedSite};
use crate::merging::Merging;
use crate::merging::regions::{ConditionWay, DecisionRegion};

/// A branch that stands for a whole decision, or for one condition.
pub(crate) struct Outcome {
    /// The condition under which it goes to the first target.
    pub(crate) holds: Term,
    pub(crate) targets: [BlockId; 2],
    /// Whether it ends the decision that it belongs to, if any.
    pub(crate) ends: bool,
    /// Whether it stands for several conditions, with values that are noted.
    pub(crate) merged: bool,
}

/// The values of conditions on the ways through a decision.
pub(crate) struct DecisionValues {
    /// The condition under which its outcome is true.
    pub(crate) holds: Term,
    values: Vec<(ConditionId, ConditionValue)>,
    /// The condition under which each step is reached.
    reached: Vec<Term>,
}

impl Merging {
    /// The outcome of a branch. It includes the rest of the branch's decision, where that can be
    /// evaluated at once.
    pub(crate) fn outcome_of(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        condition: Term,
        targets: [BlockId; 2],
        origin: Option<BranchOrigin>,
    ) -> Outcome {
        let ends = origin.is_none_or(|o| o.then_outcome.is_some() && o.else_outcome.is_some());
        let alone = Outcome { holds: condition, targets, ends, merged: false };
        if !merges(machine, state, condition) {
            return alone;
        }
        let func = state.frame().func;
        let region = self.analyses.region(machine.context.program, func, state.frame().block);
        let Some(region) = region else { return alone };
        if !state.log.decide(Question::Merge, || may_merge(goals, func, &region)) {
            return alone;
        }
        let everywhere = machine.pool.tt();
        let first = (condition, everywhere);
        let Some(evaluated) = evaluate_region(machine, state, &region, first) else {
            return alone;
        };
        let mut passed = SmallVec::new();
        look_at_region(machine, goals, state, &region, &evaluated, &mut passed);
        state.passing.queue.extend(passed);
        machine.statistics.merged += u64::from(!state.log.is_played());
        Outcome { holds: evaluated.holds, targets: region.targets, ends: true, merged: true }
    }
}

/// Whether a condition that would split a path may be merged.
pub(crate) fn merges(machine: &mut Machine<'_, '_>, state: &State, condition: Term) -> bool {
    machine.context.config.merge
        && state.knowledge().known(&mut machine.pool, condition).is_none()
        && !depends_on_undefined(&mut machine.pool, condition)
}

/// Whether the ways through a region pass labels alone: parts of sequences and hyperlabels depend
/// on the way.
pub(crate) fn may_merge(goals: &Goals<'_>, func: FuncId, region: &DecisionRegion) -> bool {
    let decision = region.decision;
    !goals.labels.is_watched(func, SiteKey::Decision(decision))
        && region.steps.iter().all(|step| {
            let site = SiteKey::Condition(decision, step.condition);
            goals.is_silent(func, site)
        })
        && region.steps[1..].iter().all(|step| {
            let site = SiteKey::Point(Point::Term(step.block));
            !goals.hypers.sequences.watches(func, site)
        })
}

/// A condition of a region.
struct ReachedCondition {
    condition: ConditionId,
    /// The condition under which it is reached.
    reached: Term,
    /// Its value where it is reached.
    value: Term,
}

/// Evaluates all conditions of a region. The value of the first is known, and so is the condition
/// under which it is reached.
pub(crate) fn evaluate_region(
    machine: &mut Machine<'_, '_>,
    state: &mut State,
    region: &DecisionRegion,
    (first, guard): (Term, Term),
) -> Option<DecisionValues> {
    let mut reached = vec![machine.pool.ff(); region.steps.len()];
    reached[0] = guard;
    let mut holds = machine.pool.ff();
    let mut values: Vec<ReachedCondition> = Vec::new();
    for (at, step) in region.steps.iter().enumerate() {
        let here = reached[at];
        let value = match at {
            0 => first,
            _ => machine.value_where(state, step.expr, here)?,
        };
        for (way, side) in step.ways.into_iter().zip([true, false]) {
            let condition = if side { value } else { machine.pool.not(value) };
            let taken = machine.pool.and(here, condition);
            match way {
                ConditionWay::RegionStep(to) => reached[to] = machine.pool.or(reached[to], taken),
                ConditionWay::Outcome(true) => holds = machine.pool.or(holds, taken),
                ConditionWay::Outcome(false) => {}
            }
        }
        // A condition that was lowered twice is reached by either way.
        match values.iter_mut().find(|known| known.condition == step.condition) {
            Some(known) => {
                known.value = machine.pool.ite(here, value, known.value);
                known.reached = machine.pool.or(known.reached, here);
            }
            None => {
                let condition = step.condition;
                values.push(ReachedCondition { condition, reached: here, value });
            }
        }
    }
    let either = |ReachedCondition { condition, reached, value }| {
        (condition, ConditionValue::Either { reached, value })
    };
    Some(DecisionValues { holds, values: values.into_iter().map(either).collect(), reached })
}

/// Looks at the labels on the ways through a region. The event of its decision must be present.
pub(crate) fn look_at_region(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    region: &DecisionRegion,
    evaluated: &DecisionValues,
    passed: &mut SmallVec<[PassedSite; 4]>,
) {
    let body = machine.body(state);
    for (step, reached) in region.steps.iter().zip(&evaluated.reached).skip(1) {
        let site = SiteKey::Point(Point::Term(step.block));
        goals.pass_where(machine, state, site, *reached, passed);
        let mutants = machine.where_holds(*reached, |machine| {
            goals.record_mutants(machine, state, region.decision, step.condition)
        });
        if let Some(event) = state.frame_mut().event_of(region.decision) {
            event.mutants.extend(mutants);
        }
    }
    if goals.keeps_decisions(machine, state) {
        let conditions = body.decisions[region.decision].conditions.len();
        let event = state.frame_mut().event_mut(region.decision, conditions, EventPhase::Continues);
        for (condition, value) in &evaluated.values {
            event.values[condition.index()] = *value;
        }
    }
}
