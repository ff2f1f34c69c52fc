//! Fewer paths: a decision that has no effect and cannot trap forks once, whatever its conditions are,
//! and a choice between values is a term.
//!
//! Labels ask for the combinations of conditions that criteria want, so paths need not tell them apart.
//! What control would have passed on one of the ways is looked at under the condition of that way.
//! Where anything else is met (a trap that the path does not exclude, an address that only a split
//! decides, memory that was never written), the path forks as the program does.

use lydian_base::EntityId;
use lydian_eval::Traps;
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BlockId, Body, BranchOrigin, ConditionId, DecisionId, ExprId, FuncId, Stmt, StmtId,
};
use lydian_smt::Term;
use smallvec::SmallVec;

use super::explore::Engine;
use super::labels::SiteKey;
use super::regions::{Choice, Region, Way};
use super::state::{ConditionValue, Passed, State};
use super::tape::Question;
use crate::memory::depends_on_undefined;

/// So often a choice between values forks before it is merged. Paths that know a value make all later
/// questions simpler; many more of them than places in the program do not.
const FORKS: u32 = 4;

/// A branch that stands for a whole decision, or for one condition.
pub(super) struct Outcome {
    /// Where it goes to the first target.
    pub(super) holds: Term,
    pub(super) targets: [BlockId; 2],
    /// Whether it ends the decision that it belongs to, if it belongs to one.
    pub(super) ends: bool,
    /// Whether it stands for several conditions, whose values are noted.
    pub(super) merged: bool,
}

/// What conditions are on the several ways through a decision.
struct Evaluated {
    holds: Term,
    values: Vec<(ConditionId, ConditionValue)>,
    passed: SmallVec<[Passed; 4]>,
}

impl Engine<'_, '_> {
    /// What a branch decides: with all that is left of its decision, where that can be evaluated at
    /// once.
    pub(super) fn outcome_of(
        &mut self,
        state: &mut State,
        body: &Body,
        condition: Term,
        targets: [BlockId; 2],
        origin: Option<BranchOrigin>,
    ) -> Outcome {
        let ends = origin.is_none_or(|o| o.then_outcome.is_some() && o.else_outcome.is_some());
        let alone = Outcome { holds: condition, targets, ends, merged: false };
        if !self.merges(state, condition) {
            return alone;
        }
        let func = state.frame().func;
        let region = self.world.region(func, state.frame().block);
        let Some(region) = region else { return alone };
        if !state.tape.decide(Question::Merge, || self.may_merge(func, &region)) {
            return alone;
        }
        let Some(evaluated) = self.evaluate_region(state, &region, condition) else { return alone };
        if self.keeps_decisions(state) {
            let conditions = body.decisions[region.decision].conditions.len();
            let event = state.frame_mut().event_mut(region.decision, conditions, false);
            for (condition, value) in evaluated.values {
                event.values[condition.index()] = value;
            }
        }
        state.queue.extend(evaluated.passed);
        self.statistics.merged += u64::from(!state.tape.is_played());
        Outcome { holds: evaluated.holds, targets: region.targets, ends: true, merged: true }
    }

    /// Whether nothing but labels is looked at on the ways through a region: what sequences and
    /// hyperlabels ask for depends on the way.
    fn may_merge(&self, func: FuncId, region: &Region) -> bool {
        let decision = region.decision;
        !self.labels.is_watched(func, SiteKey::Decision(decision))
            && region.steps.iter().all(|step| self.is_silent(func, decision, step.condition))
            && region.steps[1..].iter().all(|step| {
                let site = SiteKey::Point(Point::Term(step.block));
                !self.hypers.sequences.watches(func, site)
            })
    }

    /// Whether nothing is looked at where one condition is evaluated.
    fn is_silent(&self, func: FuncId, decision: DecisionId, condition: ConditionId) -> bool {
        let site = SiteKey::Condition(decision, condition);
        !self.labels.is_open(func, site) && !self.hypers.sequences.watches(func, site)
    }

    /// Whether a choice may be made a term, as [`may_merge`](Self::may_merge) says.
    fn may_choose(
        &self,
        func: FuncId,
        body: &Body,
        choice: &Choice,
        origin: Option<BranchOrigin>,
    ) -> bool {
        let is_watched = |site| self.hypers.sequences.watches(func, site);
        let ends_quietly = origin.is_none_or(|origin| {
            let site = SiteKey::Decision(origin.decision);
            let watched = is_watched(site) || self.labels.is_watched(func, site);
            !watched && self.is_silent(func, origin.decision, origin.condition)
        });
        let mut blocks = choice.sides.iter().flatten();
        ends_quietly
            && blocks.all(|block| {
                let ends = [
                    SiteKey::Point(Point::Term(*block)),
                    SiteKey::Edge(Edge { from: *block, way: 0 }),
                ];
                let stmts = body.blocks[*block].stmts.iter();
                let quiet = stmts.clone().all(|stmt| match &body.stmts[*stmt] {
                    Stmt::Mark(mark) => !is_watched(SiteKey::Mark(*mark)),
                    _ => true,
                });
                let points = stmts.map(|stmt| SiteKey::Point(Point::Stmt(*stmt)));
                quiet && !points.chain(ends).any(is_watched)
            })
    }

    /// Whether a condition that would split a path may be merged.
    fn merges(&mut self, state: &State, condition: Term) -> bool {
        self.world.config.merge
            && state.knowledge().known(&mut self.pool, condition).is_none()
            && !depends_on_undefined(&mut self.pool, condition)
    }

    /// Evaluates all conditions of a region, the first of which is known as a term.
    fn evaluate_region(
        &mut self,
        state: &mut State,
        region: &Region,
        first: Term,
    ) -> Option<Evaluated> {
        let mut reached = vec![self.pool.ff(); region.steps.len()];
        reached[0] = self.pool.tt();
        let (mut holds, mut passed) = (self.pool.ff(), SmallVec::new());
        let mut values: Vec<(ConditionId, Term, Term)> = Vec::new();
        for (at, step) in region.steps.iter().enumerate() {
            let here = reached[at];
            let value = match at {
                0 => first,
                _ => self.value_where(state, step.expr, here)?,
            };
            for (way, side) in step.ways.into_iter().zip([true, false]) {
                let condition = if side { value } else { self.pool.not(value) };
                let taken = self.pool.and(here, condition);
                match way {
                    Way::Step(to) => reached[to] = self.pool.or(reached[to], taken),
                    Way::Outcome(true) => holds = self.pool.or(holds, taken),
                    Way::Outcome(false) => {}
                }
            }
            // A condition that is lowered twice is reached by either way.
            match values.iter_mut().find(|known| known.0 == step.condition) {
                Some(known) => {
                    known.2 = self.pool.ite(here, value, known.2);
                    known.1 = self.pool.or(known.1, here);
                }
                None => values.push((step.condition, here, value)),
            }
        }
        for (at, step) in region.steps.iter().enumerate().skip(1) {
            let site = SiteKey::Point(Point::Term(step.block));
            self.pass_where(state, site, reached[at], &mut passed);
            let before = self.watch.guard.replace(reached[at]);
            let mutants = self.record_mutants(state, region.decision, step.condition);
            self.watch.guard = before;
            if let Some(event) = state.frame_mut().event_of(region.decision) {
                event.mutants.extend(mutants);
            }
        }
        let either =
            |(condition, reached, value)| (condition, ConditionValue::Either { reached, value });
        Some(Evaluated { holds, values: values.into_iter().map(either).collect(), passed })
    }

    /// The value of an expression that is evaluated only where `guard` holds; none where it may trap
    /// there, or has none without a split of the path.
    fn value_where(&mut self, state: &mut State, expr: ExprId, guard: Term) -> Option<Term> {
        let body = self.body(state);
        let mut traps = Traps::none();
        let before = self.watch.guard.replace(guard);
        let (mut scope, pool) = self.scope(state);
        let value = scope.eval(pool, &body.exprs, expr, &mut traps);
        self.settle_suspicions(state);
        self.watch.guard = before;
        let value = value.ok()?;
        for (_, condition) in traps.iter() {
            let trap = self.pool.and(guard, condition);
            if state.knowledge().known(&mut self.pool, trap) != Some(false) {
                return None;
            }
        }
        (!depends_on_undefined(&mut self.pool, value)).then_some(value)
    }

    /// Goes both ways of a branch at once where they only assign and meet again. Whether it did.
    pub(super) fn choose(
        &mut self,
        state: &mut State,
        body: &Body,
        outcome: &Outcome,
        origin: Option<BranchOrigin>,
    ) -> bool {
        if !outcome.ends || !self.merges(state, outcome.holds) {
            return false;
        }
        let func = state.frame().func;
        let choice = Choice::of(body, outcome.targets);
        let Some(choice) = choice else { return false };
        let may = || self.may_choose(func, body, &choice, origin);
        if !state.tape.decide(Question::Choose, may) {
            return false;
        }
        let guards = [outcome.holds, self.pool.not(outcome.holds)];
        let before = state.frame().registers.clone();
        let mut after = [None, None];
        for ((side, guard), after) in choice.sides.into_iter().zip(guards).zip(&mut after) {
            let stmts = side.map_or(&[][..], |block| &body.blocks[block].stmts);
            let assigned = self.assign_where(state, body, stmts, guard);
            *after = Some(std::mem::replace(&mut state.frame_mut().registers, before.clone()));
            if !assigned {
                return false;
            }
        }
        let [Some(a), Some(b)] = after else { return false };
        if a != b && self.forks_first(state) {
            return false;
        }
        let Some(merged) = self.either(outcome.holds, &a, &b) else { return false };
        let mut passed = SmallVec::new();
        if let Some(origin) = origin {
            self.end_decision(state, origin, outcome, &mut passed);
        }
        for (side, guard) in choice.sides.into_iter().zip(guards) {
            if let Some(block) = side {
                self.pass_block(state, body, block, guard, &mut passed);
                state.frame_mut().registers.clone_from(&before);
            }
        }
        let frame = state.frame_mut();
        frame.registers = merged;
        frame.go_to(choice.join);
        state.queue.extend(passed);
        self.statistics.merged += u64::from(!state.tape.is_played());
        true
    }

    /// Whether paths are still told apart at a choice.
    fn forks_first(&mut self, state: &mut State) -> bool {
        let place = (state.frame().func, state.frame().block);
        let choices = &mut self.choices;
        state.tape.decide(Question::Follow, || {
            let met = choices.entry(place).or_default();
            *met += 1;
            *met <= FORKS
        })
    }

    /// Values that are the first ones where a condition holds, else the second ones. None where only one
    /// of two that differ is there.
    fn either(
        &mut self,
        condition: Term,
        a: &[Option<Term>],
        b: &[Option<Term>],
    ) -> Option<Vec<Option<Term>>> {
        let either = |(a, b): (&Option<Term>, &Option<Term>)| match (*a, *b) {
            (a, b) if a == b => Some(a),
            (Some(a), Some(b)) => Some(Some(self.pool.ite(condition, a, b))),
            _ => None,
        };
        a.iter().zip(b).map(either).collect()
    }

    /// The labels at a decision that ends both ways.
    fn end_decision(
        &mut self,
        state: &mut State,
        origin: BranchOrigin,
        outcome: &Outcome,
        passed: &mut SmallVec<[Passed; 4]>,
    ) {
        let everywhere = self.pool.tt();
        if !outcome.merged
            && let Some(event) = state.frame_mut().event_of(origin.decision)
        {
            event.values[origin.condition.index()] =
                ConditionValue::Either { reached: everywhere, value: outcome.holds };
        }
        self.pass_where(state, SiteKey::Decision(origin.decision), everywhere, passed);
    }

    /// Executes assignments where `guard` holds. Whether that was possible.
    fn assign_where(
        &mut self,
        state: &mut State,
        body: &Body,
        stmts: &[StmtId],
        guard: Term,
    ) -> bool {
        stmts.iter().all(|stmt| match &body.stmts[*stmt] {
            Stmt::Assign { dst, value } => {
                let value = self.value_where(state, *value, guard);
                if value.is_some() {
                    state.frame_mut().registers[dst.index()] = value;
                }
                value.is_some()
            }
            stmt => matches!(stmt, Stmt::Mark(_)),
        })
    }

    /// Executes a block's assignments again, with the labels at its statements.
    fn pass_block(
        &mut self,
        state: &mut State,
        body: &Body,
        block: BlockId,
        guard: Term,
        passed: &mut SmallVec<[Passed; 4]>,
    ) {
        for stmt in &body.blocks[block].stmts {
            self.pass_where(state, SiteKey::Point(Point::Stmt(*stmt)), guard, passed);
            if let Stmt::Mark(mark) = &body.stmts[*stmt] {
                self.pass_where(state, SiteKey::Mark(*mark), guard, passed);
            }
            self.assign_where(state, body, std::slice::from_ref(stmt), guard);
        }
        self.pass_where(state, SiteKey::Point(Point::Term(block)), guard, passed);
    }
}
