//! If-conversion: code that only computes is one path, whatever the number of ways through it. This
//! applies to assignments behind a branch, and to whole called functions. A value at the end is a
//! term that chooses.
//!
//! All ways are followed at once, block by block, each block under the condition on which control
//! comes there. Where ways meet, a register with different values becomes a choice between them. A
//! way that the path excludes is not followed. Labels are looked at under the condition of their
//! place, so that none is lost. Paths fork as the program does where it matters what is passed
//! (sequences, rows of hyperlabels, labels of single conditions). They also fork where anything may
//! trap, or an address or an unset value would need a path of its own; the attempt then has no
//! effect.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::to_bytes;
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BlockId, BranchOrigin, Callee, FuncId, LocalId, Stmt, StmtId, Storage, Terminator, Type,
};
use lydian_smt::Term;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::limits::Cut;
use crate::machine::calls::stack::leave_frame;
use crate::machine::decision_log::Question;
use crate::machine::program::site::SiteKey;
use crate::machine::state::{ConditionValue, Frame, PassedSite, ReturnTo};
use crate::machine::step::as_type;
use crate::merging::Merging;
use crate::merging::control::ways_of;
use crate::merging::decisions::{
    DecisionValues, Outcome, evaluate_region, look_at_region, may_merge, merges,
};
use crate::merging::regions::{Area, DecisionRegion};

/// The values of an activation's registers.
type Registers = Vec<Option<Term>>;

/// The registers of control that comes to a block, by one way or several.
struct IncomingRegisters {
    guard: Term,
    registers: Registers,
}

/// The result of following an area.
struct AreaResult {
    /// The registers where all ways meet; `None` where all return.
    registers: Option<Registers>,
    /// The returned value, if any.
    value: Option<Term>,
}

/// Options and findings of following an area.
#[derive(Default)]
struct AreaPass {
    /// Whether two ways differed in a value.
    differs: bool,
    /// The labels that were passed; `None` if labels are not looked at.
    labels: Option<SmallVec<[PassedSite; 4]>>,
}

/// The first condition of a decision, with its value where `guard` holds.
struct FirstCondition {
    origin: BranchOrigin,
    value: Term,
    guard: Term,
}

/// A call of a function that only computes.
struct ComputedCall<'a> {
    func: FuncId,
    args: &'a [Term],
}

/// Blocks, each with the condition under which control comes there.
type GuardedSuccessors = SmallVec<[(BlockId, Term); 2]>;

impl Merging {
    /// Follows both ways of a branch at once where they only compute and meet again. Returns
    /// whether it did.
    pub(crate) fn choose(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        outcome: &Outcome,
        origin: Option<BranchOrigin>,
    ) -> bool {
        if !outcome.ends || !merges(machine, state, outcome.holds) {
            return false;
        }
        let (func, block) = (state.frame().func, state.frame().block);
        let Some(area) = self.analyses.between(machine.context.program, func, outcome.targets)
        else {
            return false;
        };
        let Some(join) = area.join else { return false };
        let quiet =
            || ends_quietly(goals, func, origin) && self.is_quiet(machine, goals, func, &area);
        if !state.log.decide(Question::Choose, quiet) {
            return false;
        }
        let fails = machine.pool.not(outcome.holds);
        let starts = [(outcome.targets[0], outcome.holds), (outcome.targets[1], fails)];
        let Some(arrived) = self.go_through(machine, goals, state, &area, &starts, (func, block))
        else {
            return false;
        };
        let mut passed = SmallVec::new();
        if let Some(origin) = origin {
            end_decision(machine, goals, state, origin, outcome, &mut passed);
        }
        self.look_through(machine, goals, state, &area, &starts, passed);
        let frame = state.frame_mut();
        frame.registers = arrived.registers.unwrap_or_default();
        frame.go_to(join);
        true
    }

    /// Executes a function that was just entered at once, where it only computes a value. Returns
    /// whether it did.
    pub(crate) fn compute_call(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
    ) -> bool {
        let frame = state.frame();
        let (func, return_to) = (frame.func, frame.return_to);
        let entry = machine.body(state).entry;
        let begins = frame.block == entry && frame.next == 0 && !frame.sites_done;
        if !begins || state.frames.len() == 1 || !machine.context.config.merge {
            return false;
        }
        let area = self
            .analyses
            .computes(machine.context.program, func)
            .filter(|area| area.blocks.len() > 1);
        let Some(area) = area else { return false };
        let caller = state.frames[state.frames.len() - 2].func;
        let locals =
            machine.context.program.functions[caller].body.as_ref().map(|body| &body.locals);
        let is_integer = |register: LocalId| {
            let storage = locals.map(|locals| locals[register].storage);
            matches!(storage, Some(Storage::Register(Type::Int(_))))
        };
        if return_to.memory.is_some() || !return_to.register.is_none_or(is_integer) {
            return false;
        }
        state.log.begin();
        if !state.log.decide(Question::Choose, || self.is_quiet(machine, goals, func, &area)) {
            return false;
        }
        let starts = [(entry, machine.pool.tt())];
        let Some(arrived) = self.go_through(machine, goals, state, &area, &starts, (func, entry))
        else {
            return false;
        };
        if return_to.register.is_some() && arrived.value.is_none() {
            return false;
        }
        self.look_through(machine, goals, state, &area, &starts, SmallVec::new());
        leave_frame(state);
        if let (Some(register), Some(value)) = (return_to.register, arrived.value) {
            machine.set_register(state, register, value);
        }
        true
    }

    /// Whether an area passes labels alone.
    fn is_quiet(
        &self,
        machine: &Machine<'_, '_>,
        goals: &Goals<'_>,
        func: FuncId,
        area: &Area,
    ) -> bool {
        let Some(body) = &machine.context.program.functions[func].body else { return false };
        let is_watched = |site| goals.hypers.sequences.watches(func, site);
        area.blocks.iter().all(|block| {
            let found = &body.blocks[*block];
            let mut stmts = found.stmts.iter();
            let mut edges = 0;
            found.term.for_each_successor(|_| edges += 1);
            let edge = |way| is_watched(SiteKey::Edge(Edge { from: *block, way }));
            stmts.all(|stmt| {
                let quiet = match &body.stmts[*stmt] {
                    Stmt::Mark(mark) => !is_watched(SiteKey::Mark(*mark)),
                    _ => true,
                };
                quiet && !is_watched(SiteKey::Point(Point::Stmt(*stmt)))
            }) && !is_watched(SiteKey::Point(Point::Term(*block)))
                && !(0..edges).any(edge)
                && self.decides_quietly(machine, goals, func, *block, &found.term)
        }) && area.calls.iter().all(|callee| self.calls_quietly(machine, goals, *callee))
    }

    fn calls_quietly(&self, machine: &Machine<'_, '_>, goals: &Goals<'_>, callee: FuncId) -> bool {
        let area = self.analyses.computes(machine.context.program, callee);
        !goals.hypers.sequences.watches(callee, SiteKey::Entry)
            && area.is_some_and(|area| self.is_quiet(machine, goals, callee, &area))
    }

    fn decides_quietly(
        &self,
        machine: &Machine<'_, '_>,
        goals: &Goals<'_>,
        func: FuncId,
        block: BlockId,
        term: &Terminator,
    ) -> bool {
        let Terminator::Branch { origin, .. } = term else { return true };
        match self.analyses.region(machine.context.program, func, block) {
            Some(region) => may_merge(goals, func, &region),
            None => ends_quietly(goals, func, *origin),
        }
    }

    /// Follows an area without looking at labels. The state is unchanged. Returns `None` where
    /// paths are to fork.
    fn go_through(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        area: &Area,
        starts: &[(BlockId, Term)],
        place: (FuncId, BlockId),
    ) -> Option<AreaResult> {
        let mut pass = AreaPass::default();
        let arrived = self.walk_detached(machine, goals, state, area, starts, &mut pass)?;
        if pass.differs && self.forks_first(machine, state, place) {
            return None;
        }
        machine.statistics.merged += u64::from(!state.log.is_played());
        Some(arrived)
    }

    /// Follows an area once more, for its labels.
    fn look_through(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        area: &Area,
        starts: &[(BlockId, Term)],
        passed: SmallVec<[PassedSite; 4]>,
    ) {
        let mut pass = AreaPass { differs: false, labels: Some(passed) };
        if machine.observes(state) && self.has_labels(machine, goals, state.frame().func, area) {
            let outer = state.log.set_in_predicate(true);
            let arrived = self.walk_detached(machine, goals, state, area, starts, &mut pass);
            state.log.set_in_predicate(outer);
            if arrived.is_none() {
                machine.cut(Cut::Unsupported("labels of what is computed at once".into()));
            }
        }
        state.passing.queue.extend(pass.labels.into_iter().flatten());
    }

    /// Whether an area of a function, or a function called in it, has labels.
    fn has_labels(
        &self,
        machine: &Machine<'_, '_>,
        goals: &Goals<'_>,
        func: FuncId,
        area: &Area,
    ) -> bool {
        let has = |callee: &FuncId| {
            let area = self.analyses.computes(machine.context.program, *callee);
            area.is_some_and(|area| self.has_labels(machine, goals, *callee, &area))
        };
        goals.labels.has(func) || area.calls.iter().any(has)
    }

    /// Follows an area. The state's activations are unchanged.
    fn walk_detached(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        area: &Area,
        starts: &[(BlockId, Term)],
        pass: &mut AreaPass,
    ) -> Option<AreaResult> {
        let before = (state.frames.clone(), state.course.activations);
        let arrived = self.walk(machine, goals, state, area, starts, pass);
        (state.frames, state.course.activations) = before;
        arrived
    }

    /// Whether paths still fork at a choice.
    fn forks_first(
        &mut self,
        machine: &Machine<'_, '_>,
        state: &mut State,
        place: (FuncId, BlockId),
    ) -> bool {
        if state.course.check.is_some() {
            return false; // the same however often it is evaluated
        }
        let config = &machine.context.config;
        let most = if config.merge_silent_code { 0 } else { config.choice_forks };
        let choices = &mut self.choices;
        state.log.decide(Question::Follow, || {
            let met = choices.entry(place).or_default();
            *met += 1;
            *met <= most
        })
    }

    /// Follows all ways through an area of the innermost activation at once. The activation is left
    /// at an arbitrary position.
    fn walk(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        area: &Area,
        starts: &[(BlockId, Term)],
        pass: &mut AreaPass,
    ) -> Option<AreaResult> {
        let body = machine.body(state);
        let mut coming: FxHashMap<BlockId, IncomingRegisters> = FxHashMap::default();
        // The value returned on the ways so far: the outer `None` where none has returned yet.
        let mut value: Option<Option<Term>> = None;
        leave_for(machine, state, area, &mut coming, starts, pass)?;
        for block in &area.blocks {
            let Some(here) = coming.remove(block) else { continue };
            state.frame_mut().registers = here.registers;
            for stmt in &body.blocks[*block].stmts {
                self.statement_where(machine, goals, state, *stmt, here.guard, pass)?;
            }
            look(machine, goals, state, SiteKey::Point(Point::Term(*block)), here.guard, pass);
            if let Terminator::Return(returned) = &body.blocks[*block].term {
                let returned = match returned {
                    Some(returned) => Some(machine.value_where(state, *returned, here.guard)?),
                    None => None,
                };
                pass.differs |= value.is_some_and(|value| value != returned);
                value = Some(match (returned, value.unwrap_or(returned)) {
                    (Some(one), Some(other)) => Some(machine.pool.ite(here.guard, one, other)),
                    (None, None) => None,
                    // The result of a call that returns nothing is not set.
                    _ => return None,
                });
                continue;
            }
            let ways = self.ways_where(machine, goals, state, *block, here.guard, pass)?;
            leave_for(machine, state, area, &mut coming, &ways, pass)?;
        }
        let registers = area.join.and_then(|join| coming.remove(&join)).map(|end| end.registers);
        let arrived = AreaResult { registers, value: value.flatten() };
        (arrived.registers.is_some() == area.join.is_some()).then_some(arrived)
    }

    /// Executes a statement where `guard` holds. Returns `None` where that is not possible at once.
    fn statement_where(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        id: StmtId,
        guard: Term,
        pass: &mut AreaPass,
    ) -> Option<()> {
        let body = machine.body(state);
        look(machine, goals, state, SiteKey::Point(Point::Stmt(id)), guard, pass);
        match &body.stmts[id] {
            Stmt::Mark(mark) => look(machine, goals, state, SiteKey::Mark(*mark), guard, pass),
            Stmt::Assign { dst, value } => {
                let value = machine.value_where(state, *value, guard)?;
                state.frame_mut().registers[dst.index()] = Some(value);
            }
            Stmt::Call { callee: Callee::Direct(callee), args, dst, .. } => {
                let args = args.iter().map(|arg| machine.value_where(state, *arg, guard));
                let args: Vec<Term> = args.collect::<Option<_>>()?;
                let call = ComputedCall { func: *callee, args: &args };
                let value = self.call_where(machine, goals, state, call, guard, pass)?;
                if let Some(dst) = dst {
                    machine.set_register(state, *dst, value?);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The result of a function that only computes, called where `guard` holds.
    fn call_where(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        ComputedCall { func, args }: ComputedCall<'_>,
        guard: Term,
        pass: &mut AreaPass,
    ) -> Option<Option<Term>> {
        let area = self.analyses.computes(machine.context.program, func)?;
        let body = machine.context.program.functions[func].body.as_ref()?;
        if args.len() != body.params.len() || machine.check_depth(state, func).is_err() {
            return None;
        }
        state.course.activations += 1;
        let mut frame = Frame::new(func, body, state.course.activations, ReturnTo::default());
        for (param, arg) in body.params.iter().zip(args) {
            let Storage::Register(ty) = body.locals[*param].storage else { return None };
            frame.registers[param.index()] = Some(as_type(&mut machine.pool, ty, *arg));
        }
        state.frames.push(Arc::new(frame));
        look(machine, goals, state, SiteKey::Entry, guard, pass);
        let arrived = self.walk(machine, goals, state, &area, &[(body.entry, guard)], pass)?;
        state.frames.pop();
        Some(arrived.value)
    }

    /// The successors of a block, each with its condition.
    fn ways_where(
        &mut self,
        machine: &mut Machine<'_, '_>,
        goals: &mut Goals<'_>,
        state: &mut State,
        block: BlockId,
        guard: Term,
        pass: &mut AreaPass,
    ) -> Option<GuardedSuccessors> {
        let body = machine.body(state);
        match &body.blocks[block].term {
            Terminator::Goto(to) => Some(smallvec![(*to, guard)]),
            Terminator::Branch { cond, then_to, else_to, origin } => {
                let value = machine.value_where(state, *cond, guard)?;
                let func = state.frame().func;
                let region =
                    origin.and_then(|_| self.analyses.region(machine.context.program, func, block));
                let evaluated = match &region {
                    Some(region) => Some(evaluate_region(machine, state, region, (value, guard))?),
                    None => None,
                };
                let decided = region.as_deref().zip(evaluated.as_ref());
                if let Some(origin) = origin {
                    look_at_decision(
                        machine,
                        goals,
                        state,
                        FirstCondition { origin: *origin, value, guard },
                        decided,
                        pass,
                    );
                }
                let (holds, [then_to, else_to]) = match decided {
                    Some((region, evaluated)) => (evaluated.holds, region.targets),
                    None => (machine.pool.and(guard, value), [*then_to, *else_to]),
                };
                let fails = machine.pool.not(holds);
                let fails = machine.pool.and(guard, fails);
                Some(smallvec![(then_to, holds), (else_to, fails)])
            }
            Terminator::Switch { value, cases, default } => {
                let value = machine.value_where(state, *value, guard)?;
                let value = to_bytes(&mut machine.pool, value);
                let func = state.frame().func;
                let ways = ways_of(machine, goals, (func, block), value, cases, *default);
                let mut taken = GuardedSuccessors::new();
                for way in ways {
                    for (number, condition) in &way.edges {
                        let condition = machine.pool.and(guard, *condition);
                        let site = SiteKey::Edge(Edge { from: block, way: *number });
                        look(machine, goals, state, site, condition, pass);
                    }
                    taken.push((way.target, machine.pool.and(guard, way.condition)));
                }
                Some(taken)
            }
            Terminator::Return(_) | Terminator::Trap(_) => None,
        }
    }
}

/// The values of `a` where a condition holds, and those of `b` elsewhere.
fn either(
    machine: &mut Machine<'_, '_>,
    area: &Area,
    condition: Term,
    a: &[Option<Term>],
    b: &[Option<Term>],
    pass: &mut AreaPass,
) -> Option<Registers> {
    let both = a.iter().zip(b).zip(&area.own);
    both.map(|((a, b), own)| match (*a, *b) {
        (a, b) if a == b => Some(a),
        (Some(a), Some(b)) => {
            pass.differs = true;
            Some(Some(machine.pool.ite(condition, a, b)))
        }
        // Such a register is not read behind the area, and an access within it finds it unset.
        _ => own.then_some(None),
    })
    .collect()
}

/// Looks at the labels of a site, if labels are looked at.
fn look(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    key: SiteKey,
    guard: Term,
    pass: &mut AreaPass,
) {
    if let Some(labels) = &mut pass.labels {
        goals.pass_where(machine, state, key, guard, labels);
    }
}

/// Looks at the labels of a decision that ends on both sides.
fn end_decision(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    origin: BranchOrigin,
    outcome: &Outcome,
    passed: &mut SmallVec<[PassedSite; 4]>,
) {
    let everywhere = machine.pool.tt();
    if !outcome.merged
        && let Some(event) = state.frame_mut().event_of(origin.decision)
    {
        event.values[origin.condition.index()] =
            ConditionValue::Either { reached: everywhere, value: outcome.holds };
    }
    goals.pass_where(machine, state, SiteKey::Decision(origin.decision), everywhere, passed);
}

/// Whether the end of a condition's decision passes labels alone.
fn ends_quietly(goals: &Goals<'_>, func: FuncId, origin: Option<BranchOrigin>) -> bool {
    origin.is_none_or(|origin| {
        let site = SiteKey::Decision(origin.decision);
        let watched =
            goals.hypers.sequences.watches(func, site) || goals.labels.is_watched(func, site);
        !watched && goals.is_silent(func, SiteKey::Condition(origin.decision, origin.condition))
    })
}

/// Passes the registers to successors. Returns `None` where a register that is needed later has a
/// value on one way alone.
fn leave_for(
    machine: &mut Machine<'_, '_>,
    state: &State,
    area: &Area,
    coming: &mut FxHashMap<BlockId, IncomingRegisters>,
    ways: &[(BlockId, Term)],
    pass: &mut AreaPass,
) -> Option<()> {
    for (block, guard) in ways {
        if state.knowledge().known(&mut machine.pool, *guard) == Some(false) {
            continue;
        }
        let registers = &state.frame().registers;
        let arrived = match coming.remove(block) {
            None => IncomingRegisters { guard: *guard, registers: registers.clone() },
            Some(other) => IncomingRegisters {
                guard: machine.pool.or(*guard, other.guard),
                registers: either(machine, area, *guard, registers, &other.registers, pass)?,
            },
        };
        coming.insert(*block, arrived);
    }
    Some(())
}

/// Looks at the labels of a decision that begins with a condition of known value, where `guard`
/// holds, and at those of the conditions after it, if any.
fn look_at_decision(
    machine: &mut Machine<'_, '_>,
    goals: &mut Goals<'_>,
    state: &mut State,
    first: FirstCondition,
    decided: Option<(&DecisionRegion, &DecisionValues)>,
    pass: &mut AreaPass,
) {
    let FirstCondition { origin, value, guard } = first;
    let Some(labels) = &mut pass.labels else { return };
    if goals.keeps_decisions(machine, state) {
        machine.where_holds(guard, |machine| {
            goals.begin_evaluation(machine, state, origin);
        });
    }
    if let Some((region, evaluated)) = decided {
        look_at_region(machine, goals, state, region, evaluated, labels);
    } else if let Some(event) = state.frame_mut().event_of(origin.decision) {
        event.values[origin.condition.index()] = ConditionValue::Either { reached: guard, value };
    }
    goals.pass_where(machine, state, SiteKey::Decision(origin.decision), guard, labels);
}
