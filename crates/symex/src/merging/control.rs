//! Control at the end of a block: branches and switches fork the path, unless the code on their
//! ways is merged.

use lydian_base::EntityId;
use lydian_eval::{Traps, to_bytes};
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, BranchOrigin, ExprId, FuncId, SwitchCase, Terminator, Type};
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::limits::Cut;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::program::site::SiteKey;
use crate::machine::state::ConditionValue;
use crate::merging::Merging;
use crate::merging::decisions::Outcome;

/// The edges of a switch that lead to one block.
pub(crate) struct SwitchWay {
    pub(crate) condition: Term,
    pub(crate) target: BlockId,
    /// The numbers of the edges, each with the condition under which it is taken.
    pub(crate) edges: SmallVec<[(u32, Term); 1]>,
}

impl Merging {
    /// Executes a terminator of the innermost activation.
    pub(crate) fn terminator(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        term: &Terminator,
    ) -> Result<(), Interrupt> {
        match term {
            Terminator::Goto(to) => {
                state.frame_mut().go_to(*to);
                Ok(())
            }
            Terminator::Branch { cond, then_to, else_to, origin } => {
                self.branch(machine, goals, state, *cond, [*then_to, *else_to], *origin)
            }
            Terminator::Switch { value, cases, default } => {
                switch(machine, goals, state, *value, cases, *default)
            }
            Terminator::Return(value) => machine.return_from(state, *value),
            Terminator::Trap(kind) => Err(machine.trapped(state, *kind)),
        }
    }

    fn branch(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        cond: ExprId,
        targets: [BlockId; 2],
        origin: Option<BranchOrigin>,
    ) -> Result<(), Interrupt> {
        let mut traps = Traps::none();
        let condition = machine.eval(state, cond, &mut traps)?;
        machine.leave_traps(state, &traps)?;
        machine.learn_condition(state, condition);
        if let Some(origin) = origin.filter(|_| goals.keeps_decisions(machine, state)) {
            goals.begin_evaluation(machine, state, origin);
        }
        let outcome = self.outcome_of(machine, goals, state, condition, targets, origin);
        if self.choose(machine, goals, state, &outcome, origin) {
            return Ok(());
        }
        let (side, other) = machine.split(state, outcome.holds);
        let at = state.frame().block;
        let Some(mut other) = other else {
            take_branch(state, side, &outcome, origin);
            return Ok(());
        };
        let stays = stays_in_loop(machine, state, at, outcome.targets);
        take_branch(state, side, &outcome, origin);
        take_branch(&mut other, !side, &outcome, origin);
        let Some(bound) = machine.context.config.limits.loop_bound.filter(|_| stays.is_some())
        else {
            machine.fork_off(other);
            return Err(Interrupt::Yield);
        };
        let stays = stays == Some(side);
        let stayer = if stays { &mut *state } else { &mut *other };
        let over = count_stay(stayer, at) > bound;
        let leaver = if stays { &mut *other } else { &mut *state };
        leaver.frame_mut().loops.retain(|(block, _)| *block != at);
        match (over, stays) {
            (false, _) => machine.fork_off(other),
            (true, true) => {
                machine.fork_off(other);
                return Err(Interrupt::End(Ending::Cut(Cut::LoopBound(bound))));
            }
            (true, false) => machine.outbox.abandoned.push((other, Cut::LoopBound(bound))),
        }
        Err(Interrupt::Yield)
    }
}

/// Takes one side of a branch, and records the condition's value and the decision's outcome.
fn take_branch(state: &mut State, side: bool, outcome: &Outcome, origin: Option<BranchOrigin>) {
    let frame = state.frame_mut();
    frame.go_to(outcome.targets[usize::from(!side)]);
    let Some(origin) = origin else { return };
    if !outcome.merged
        && let Some(event) = frame.event_of(origin.decision)
    {
        event.values[origin.condition.index()] = ConditionValue::Is(side);
    }
    state.passing.evaluated = (!outcome.merged).then_some((origin.decision, origin.condition));
    let ends = if side { origin.then_outcome } else { origin.else_outcome };
    if outcome.merged || ends.is_some() {
        state.passing.arrival = Some(SiteKey::Decision(origin.decision));
    }
}

/// Counts a decision to stay in a loop. Returns the new count.
fn count_stay(state: &mut State, at: BlockId) -> u32 {
    let loops = &mut state.frame_mut().loops;
    if let Some((_, count)) = loops.iter_mut().find(|(block, _)| *block == at) {
        *count += 1;
        return *count;
    }
    loops.push((at, 1));
    1
}

/// The condition that a value belongs to a case.
fn case_condition(pool: &mut TermPool, value: Term, case: &SwitchCase) -> Term {
    let width = pool.width(value);
    let ty = Type::Int(width as u8);
    let low = lydian_eval::sort::constant(pool, ty, case.low as u128);
    if case.low == case.high {
        return pool.eq(value, low);
    }
    let span = lydian_eval::sort::constant(pool, ty, (case.high - case.low) as u128);
    let distance = pool.sub(value, low);
    pool.ule(distance, span)
}

/// The side of a branch that stays in a loop, if the other side leaves it.
fn stays_in_loop(
    machine: &mut Machine<'_, '_>,
    state: &State,
    at: BlockId,
    targets: [BlockId; 2],
) -> Option<bool> {
    let func = state.frame().func;
    let back = targets.map(|target| machine.context.reaches(func, target, at));
    (back[0] != back[1]).then_some(back[0])
}

/// The position of the first way out of a switch that the state's path or model takes.
fn way_taken(machine: &mut Machine<'_, '_>, state: &State, ways: &[SwitchWay]) -> usize {
    let taken = ways.iter().position(|way| {
        let known = state.knowledge().known(&mut machine.pool, way.condition);
        known.unwrap_or_else(|| machine.evaluator.holds(&machine.pool, &state.model, way.condition))
    });
    taken.unwrap_or(ways.len() - 1)
}

/// The ways out of a switch. Edges to one block are one way, unless nothing is merged.
pub(crate) fn ways_of(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    (func, from): (FuncId, BlockId),
    value: Term,
    cases: &[SwitchCase],
    default: BlockId,
) -> Vec<SwitchWay> {
    let mut ways: Vec<SwitchWay> = Vec::with_capacity(cases.len() + 1);
    let mut no_case = machine.pool.tt();
    let mut add = |pool: &mut TermPool, number: usize, condition: Term, target: BlockId| {
        let edge = (number as u32, condition);
        let quiet = |way| {
            let site = SiteKey::Edge(Edge { from, way });
            !goals.hypers.sequences.watches(func, site)
        };
        let merge = machine.context.config.merge && quiet(edge.0);
        let fits = |way: &&mut SwitchWay| way.target == target && quiet(way.edges[0].0);
        match ways.iter_mut().find(fits).filter(|_| merge) {
            Some(way) => {
                way.condition = pool.or(way.condition, condition);
                way.edges.push(edge);
            }
            None => ways.push(SwitchWay { condition, target, edges: SmallVec::from([edge]) }),
        }
    };
    for (number, case) in cases.iter().enumerate() {
        let here = case_condition(&mut machine.pool, value, case);
        let not = machine.pool.not(here);
        no_case = machine.pool.and(no_case, not);
        add(&mut machine.pool, number, here, case.target);
    }
    add(&mut machine.pool, cases.len(), no_case, default);
    ways
}

/// Takes one way out of a switch.
fn take_way(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    from: BlockId,
    way: &SwitchWay,
) {
    state.frame_mut().go_to(way.target);
    if let [(number, _)] = way.edges[..] {
        state.passing.arrival = Some(SiteKey::Edge(Edge { from, way: number }));
        return;
    }
    let mut passed = SmallVec::new();
    for (number, condition) in &way.edges {
        let site = SiteKey::Edge(Edge { from, way: *number });
        goals.pass_where(machine, state, site, *condition, &mut passed);
    }
    state.passing.queue.extend(passed);
}

fn switch(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    value: ExprId,
    cases: &[SwitchCase],
    default: BlockId,
) -> Result<(), Interrupt> {
    let mut traps = Traps::none();
    let value = machine.eval(state, value, &mut traps)?;
    machine.leave_traps(state, &traps)?;
    let value = to_bytes(&mut machine.pool, value);
    let from = state.frame().block;
    let ways = ways_of(machine, goals, (state.frame().func, from), value, cases, default);
    let told = state.log.played(Question::Way);
    let at = told.map_or_else(|| way_taken(machine, state, &ways), |way| way as usize);
    let at = at.min(ways.len() - 1);
    let taken = &ways[at];
    let known = state.knowledge().known(&mut machine.pool, taken.condition) == Some(true);
    if !known {
        machine.meet_undefined(state, value);
    }
    if !known && !state.course.replay && told.is_none() {
        for (number, way) in ways.iter().enumerate().rev().filter(|(number, _)| *number != at) {
            let mut other = state.fork();
            other.pending = true;
            other.log.note(Question::Way, number as u64);
            if other.add_fact(&mut machine.pool, way.condition) {
                take_way(machine, goals, &mut other, from, way);
                machine.fork_off(other);
            }
        }
    }
    state.log.note(Question::Way, at as u64);
    state.add_fact(&mut machine.pool, taken.condition);
    take_way(machine, goals, state, from, taken);
    if known { Ok(()) } else { Err(Interrupt::Yield) }
}
