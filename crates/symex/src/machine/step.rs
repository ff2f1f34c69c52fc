//! One statement or terminator of one state.

use lydian_base::EntityId;
use lydian_eval::{Traps, Undetermined, from_bytes, sort_of, to_bytes};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{
    BitField, BlockId, Body, BranchOrigin, Expr, ExprId, FuncId, LocalId, Stmt, Storage,
    SwitchCase, Terminator, Type,
};
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

use crate::config::Mode;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::evaluation::Stop;
use crate::machine::memory::{
    Background, Contents, NewObject, ObjectKind, Resolution, Target, mentions,
};
use crate::machine::questions::Feasible;
use crate::machine::site::SiteKey;
use crate::machine::state::{ConditionValue, State, VolatilePlace};
use crate::merging::cycles::is_in_a_circle;
use crate::merging::decisions::Outcome;

/// Why what a path covered is open again where none of its inputs goes on.
const NOWHERE: &str = "a path on which a pointer of the inputs leads nowhere";

/// Why a state does not simply go on.
#[derive(Debug)]
pub(crate) enum Flow {
    /// It was split; another state may go on first.
    Yield,
    /// It is at its end.
    End(Ending),
    /// No input takes it.
    Infeasible,
}

impl Flow {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::End(Ending::Cut(Cut::Unsupported(what.into())))
    }
}

impl<'p> Engine<'p, '_> {
    /// Takes one step.
    pub(crate) fn step(&mut self, state: &mut State) -> Result<(), Flow> {
        self.begin_anew_if_outgrown(state)?;
        if let Some((decision, condition)) = state.evaluated.take() {
            self.pass(state, SiteKey::Condition(decision, condition));
        }
        if let Some(site) = state.arrival.take() {
            self.pass(state, site);
        }
        if !state.queue.is_empty() {
            return self.look_at_labels(state);
        }
        self.count_step(state)?;
        self.begun |= state.has_begun(self.roots.len());
        if let Some(guide) = self.guide.as_mut().filter(|_| state.check.is_none()) {
            guide.step(state);
        }
        if self.compute_call(state) {
            return Ok(());
        }
        let body = self.body(state);
        let frame = state.frame();
        let block = &body.blocks[frame.block];
        let at = frame.block;
        match block.stmts.get(frame.next) {
            Some(id) => {
                if !frame.sites_done && self.pass_point(state, Point::Stmt(*id))? {
                    return Ok(());
                }
                state.tape.begin();
                self.statement(state, body, &body.stmts[*id])
            }
            None => {
                if !frame.sites_done && self.pass_point(state, Point::Term(at))? {
                    return Ok(());
                }
                state.tape.begin();
                self.terminator(state, body, &block.term)
            }
        }
    }

    fn count_step(&mut self, state: &mut State) -> Result<(), Flow> {
        if state.tape.is_played() {
            self.statistics.replayed_steps += 1;
            return Ok(());
        }
        state.steps += 1;
        self.statistics.steps += 1;
        let limit = self.world.config.limits.path_steps;
        if state.steps > limit {
            return Err(Flow::End(Ending::Cut(Cut::PathSteps(limit))));
        }
        match is_in_a_circle(state) {
            true => Err(Flow::End(Ending::Endless)),
            false => Ok(()),
        }
    }

    /// The body of the innermost activation.
    pub(crate) fn body(&self, state: &State) -> &'p Body {
        let function = &self.world.program.functions[state.frame().func];
        function.body.as_ref().expect("only functions with bodies are entered")
    }

    /// Notes the labels just before a statement or terminator; true where there are some.
    fn pass_point(&mut self, state: &mut State, point: Point) -> Result<bool, Flow> {
        if !self.labels.has(state.frame().func) {
            return Ok(false);
        }
        if state.tape.is_played() {
            let early = state.tape.was_early();
            if early {
                self.evaluate_early(state, point)?;
                state.frame_mut().sites_done = true;
            }
            return Ok(early);
        }
        let key = SiteKey::Point(point);
        self.pass(state, key);
        let watched = self.hypers.sequences.watches(state.frame().func, key);
        if state.queue.is_empty() && !watched {
            return Ok(false);
        }
        // Addresses are decided first, so that the labels' predicates can be evaluated.
        let waiting = std::mem::take(&mut state.queue);
        let mark = state.tape.begin_early();
        let evaluated = self.evaluate_early(state, point);
        state.tape.end_early(mark);
        evaluated?;
        state.queue = waiting;
        state.frame_mut().sites_done = true;
        if watched {
            let covered = self.pass_sequences(state, key);
            self.cover_sequences(state, covered);
        }
        Ok(true)
    }

    /// Evaluates what a statement or terminator will, so that addresses are decided.
    fn evaluate_early(&mut self, state: &mut State, point: Point) -> Result<(), Flow> {
        let body = self.body(state);
        let mut exprs: Vec<ExprId> = Vec::new();
        match point {
            Point::Stmt(id) => body.stmts[id].for_each_expr(|expr| exprs.push(expr)),
            Point::Term(block) => exprs.extend(body.blocks[block].term.operand()),
        }
        for expr in exprs {
            self.eval(state, expr, &mut Traps::none())?;
        }
        Ok(())
    }

    /// The value of an expression of the innermost activation's body.
    pub(crate) fn eval(
        &mut self,
        state: &mut State,
        expr: ExprId,
        traps: &mut Traps,
    ) -> Result<Term, Flow> {
        let body = self.body(state);
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let value = scope.eval(pool, &body.exprs, expr, traps);
        self.term_clock.end(span);
        self.settle_suspicions(state);
        self.begin_anew_if_outgrown(state)?;
        value.map_err(|stop| self.stopped(state, stop))
    }

    /// The objects that an address may lie in.
    pub(crate) fn resolve(&mut self, state: &mut State, addr: Term) -> Result<Resolution, Flow> {
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let resolution = scope.resolve(pool, addr, None);
        self.term_clock.end(span);
        resolution.map_err(|stop| self.stopped(state, stop))
    }

    /// The value of type `ty` at an address.
    pub(crate) fn load(
        &mut self,
        state: &mut State,
        ty: Type,
        addr: Term,
        traps: &mut Traps,
    ) -> Result<Term, Flow> {
        let span = self.term_clock.begin();
        let (mut scope, pool) = self.scope(state);
        let value = scope.load_at(pool, ty, addr, traps);
        self.term_clock.end(span);
        self.settle_suspicions(state);
        value.map_err(|stop| self.stopped(state, stop))
    }

    /// Resolves an address for writing and adds where that traps.
    pub(crate) fn resolve_for_write(
        &mut self,
        state: &mut State,
        addr: Term,
        size: u64,
        traps: &mut Traps,
    ) -> Result<Resolution, Flow> {
        let resolution = self.resolve(state, addr)?;
        self.meet_invariants(state, &resolution)?;
        self.note_access(state, &resolution, size, true);
        let span = self.term_clock.begin();
        state.memory.access_traps(&mut self.pool, &resolution, size, true, traps);
        self.term_clock.end(span);
        Ok(resolution)
    }

    /// Splits the path where an evaluation asked for it.
    pub(crate) fn stopped(&mut self, state: &mut State, stop: Stop) -> Flow {
        match stop {
            Stop::Unsupported(what) => Flow::unsupported(what),
            Stop::Infeasible => {
                self.retract_for(state, Cut::Unsupported(NOWHERE.into()));
                Flow::Infeasible
            }
            Stop::Suppose(condition) => {
                if self.narrow(state, condition, Cut::Unsupported(NOWHERE.into())) {
                    return Flow::Yield;
                }
                self.stopped(state, Stop::Infeasible)
            }
            Stop::Invariant(invariant, object) => self.suppose_invariant(state, invariant, object),
            Stop::Split(condition, resolved) => {
                let facts = state.facts.len();
                let (holds, other) = self.split(state, condition);
                let progress = other.is_some() || state.facts.len() > facts || resolved.is_some();
                if let Some(resolved) = resolved.filter(|_| holds) {
                    if self.is_by_chance(state, resolved) {
                        state.depends.add(Undetermined::Location, self.text_at(state));
                    }
                    state.resolved.entry(resolved.0).or_insert(resolved.1);
                }
                other.into_iter().for_each(|other| self.push(other));
                if progress { Flow::Yield } else { Flow::unsupported("an address of many objects") }
            }
        }
    }

    /// Whether an address lies in an object only because a number came out so: nothing in it was made
    /// from the object's address. Where objects lie differs from run to run and from suite to suite,
    /// so that no test should hang on it.
    fn is_by_chance(&mut self, state: &mut State, (address, target): (Term, Target)) -> bool {
        let base = match target {
            Target::Known(base, _) => base,
            // Other inputs of the path may reach an object.
            Target::Wild if !self.pool.mentions_address(address) => {
                if !self.watch.is_no_pointer(&mut self.pool, address) {
                    let at = self.text_at(state);
                    self.cut_ahead(state, Cut::Undetermined(Undetermined::Location, at));
                }
                self.value_on_model(state, address)
            }
            _ => return false,
        };
        let Some(id) = state.memory.object_at(base) else { return false };
        let object = state.memory.object(id);
        let in_object =
            |number: u64| number.checked_sub(object.base).is_some_and(|at| at <= object.size);
        !mentions(&self.pool, address, in_object)
    }

    /// Decides a Boolean by the state's model. The state goes on with that side; a pending state
    /// for the other side is given back unless the path excludes it.
    pub(crate) fn split(
        &mut self,
        state: &mut State,
        condition: Term,
    ) -> (bool, Option<Box<State>>) {
        let span = self.term_clock.begin();
        let known = state.knowledge().known(&mut self.pool, condition);
        self.term_clock.end(span);
        if let Some(known) = known {
            self.statistics.free_branches += u64::from(!state.tape.is_played());
            return (known, None);
        }
        self.meet_undefined(state, condition);
        let span = self.term_clock.begin();
        let Self { pool, evaluator, .. } = self;
        let told = state.tape.played(Question::Side);
        let side = match told {
            Some(side) => side != 0,
            None => evaluator.holds(pool, &state.model, condition),
        };
        let negation = self.pool.not(condition);
        self.term_clock.end(span);
        let (here, there) = if side { (condition, negation) } else { (negation, condition) };
        let mut other = None;
        if !state.replay {
            let mut fork = state.fork();
            fork.pending = true;
            fork.tape.note(Question::Side, u64::from(!side));
            let span = self.term_clock.begin();
            other = fork.add_fact(&mut self.pool, there).then_some(fork);
            self.term_clock.end(span);
        }
        state.tape.note(Question::Side, u64::from(side));
        let span = self.term_clock.begin();
        state.add_fact(&mut self.pool, here);
        self.term_clock.end(span);
        (side, other)
    }

    fn statement(&mut self, state: &mut State, body: &Body, stmt: &Stmt) -> Result<(), Flow> {
        let mut traps = Traps::none();
        match stmt {
            Stmt::Mark(mark) => {
                state.frame_mut().advance();
                self.pass(state, SiteKey::Mark(*mark));
                return Ok(());
            }
            Stmt::Assign { dst, value: expr } => {
                let value = self.eval(state, *expr, &mut traps)?;
                self.leave_traps(state, &traps)?;
                if let Expr::Load { addr, ty, volatile: true } = body.exprs[*expr] {
                    let address = self.eval(state, addr, &mut Traps::none())?;
                    let read = self.resolve(state, address)?.candidates;
                    read.iter()
                        .for_each(|at| state.note_volatile(VolatilePlace::of(at, ty.bytes())));
                    state.unknowns += 1;
                }
                state.frame_mut().registers[dst.index()] = Some(value);
            }
            Stmt::Store { addr, value, ty, volatile: _ } => {
                let value = self.eval(state, *value, &mut traps)?;
                let addr = self.eval(state, *addr, &mut traps)?;
                let to = self.resolve_for_write(state, addr, ty.bytes(), &mut traps)?;
                self.leave_traps(state, &traps)?;
                let span = self.term_clock.begin();
                state.memory.store(&mut self.pool, &to, ty.bytes(), value);
                self.term_clock.end(span);
            }
            Stmt::StoreBits { addr, field, value } => {
                self.store_bits(state, *addr, *field, *value)?;
            }
            Stmt::Copy { dst, src, size } => {
                let src = self.eval(state, *src, &mut traps)?;
                let dst = self.eval(state, *dst, &mut traps)?;
                self.copy(state, dst, src, *size, &mut traps)?;
            }
            Stmt::Zero { dst, size } => {
                let dst = self.eval(state, *dst, &mut traps)?;
                let to = self.resolve_for_write(state, dst, *size, &mut traps)?;
                self.leave_traps(state, &traps)?;
                state.memory.zero(&mut self.pool, &to, *size);
            }
            Stmt::Call { .. } => return self.call(state, stmt),
            Stmt::Enter(local) => self.enter_local(state, body, *local)?,
            Stmt::Leave(local) => leave_local(state, *local),
            Stmt::Alloca { dst, size, array, .. } => self.alloca(state, *dst, *size, *array)?,
            Stmt::Release { pointer } => self.release(state, *pointer)?,
            Stmt::VaStart { list } => self.va_start(state, *list)?,
            Stmt::VaArg { at, ty } => self.va_arg(state, *at, *ty)?,
            Stmt::Havoc(havoc) => self.havoc(state, havoc)?,
        }
        state.frame_mut().advance();
        Ok(())
    }

    /// Copies `size` bytes; traps found so far come first.
    pub(crate) fn copy(
        &mut self,
        state: &mut State,
        dst: Term,
        src: Term,
        size: u64,
        traps: &mut Traps,
    ) -> Result<(), Flow> {
        if size == 0 {
            return self.leave_traps(state, traps);
        }
        let from = self.resolve(state, src)?;
        self.meet_invariants(state, &from)?;
        self.note_access(state, &from, size, false);
        state.memory.access_traps(&mut self.pool, &from, size, false, traps);
        let to = self.resolve_for_write(state, dst, size, traps)?;
        self.leave_traps(state, traps)?;
        state.memory.copy(&mut self.pool, &to, &from, size);
        Ok(())
    }

    fn store_bits(
        &mut self,
        state: &mut State,
        addr: ExprId,
        field: BitField,
        value: ExprId,
    ) -> Result<(), Flow> {
        let mut traps = Traps::none();
        let value = self.eval(state, value, &mut traps)?;
        let addr = self.eval(state, addr, &mut traps)?;
        let size = field.bytes();
        let to = self.resolve_for_write(state, addr, size, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let bytes = state.memory.load(&mut self.pool, &to, size);
        let bytes = to_bytes(&mut self.pool, bytes);
        let value = to_bytes(&mut self.pool, value);
        let bytes = lydian_eval::expr::insert_bit_field(&mut self.pool, field, bytes, value);
        state.memory.store(&mut self.pool, &to, size, bytes);
        Ok(())
    }

    /// Begins the lifetime of a memory local, with indeterminate bytes.
    pub(crate) fn enter_local(
        &mut self,
        state: &mut State,
        body: &Body,
        local: LocalId,
    ) -> Result<(), Flow> {
        leave_local(state, local);
        let Storage::Memory { size, .. } = body.locals[local].storage else { return Ok(()) };
        let new = NewObject {
            size,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: body.locals[local].name.as_str().into(),
            contents: Contents::new(Background::Zero),
        };
        let object = state.memory.allocate(new);
        let Some(object) = object else { return Err(Flow::unsupported("more memory")) };
        let base = state.memory.object(object).base;
        state.memory.object_mut(object).contents = Contents::new(Background::Undefined(base));
        state.frame_mut().set_object(local, object);
        Ok(())
    }

    fn terminator(
        &mut self,
        state: &mut State,
        body: &Body,
        term: &Terminator,
    ) -> Result<(), Flow> {
        match term {
            Terminator::Goto(to) => {
                state.frame_mut().go_to(*to);
                Ok(())
            }
            Terminator::Branch { cond, then_to, else_to, origin } => {
                self.branch(state, body, *cond, [*then_to, *else_to], *origin)
            }
            Terminator::Switch { value, cases, default } => {
                self.switch(state, *value, cases, *default)
            }
            Terminator::Return(value) => self.return_from(state, *value),
            Terminator::Trap(kind) => Err(self.trapped(state, *kind)),
        }
    }

    fn branch(
        &mut self,
        state: &mut State,
        body: &Body,
        cond: ExprId,
        targets: [BlockId; 2],
        origin: Option<BranchOrigin>,
    ) -> Result<(), Flow> {
        let mut traps = Traps::none();
        let condition = self.eval(state, cond, &mut traps)?;
        self.leave_traps(state, &traps)?;
        self.learn_condition(state, condition);
        if let Some(origin) = origin.filter(|_| self.keeps_decisions(state)) {
            self.begin_evaluation(state, body, origin);
        }
        let outcome = self.outcome_of(state, body, condition, targets, origin);
        if self.choose(state, &outcome, origin) {
            return Ok(());
        }
        let (side, other) = self.split(state, outcome.holds);
        let at = state.frame().block;
        let Some(mut other) = other else {
            take_branch(state, side, &outcome, origin);
            return Ok(());
        };
        let stays = self.stays_in_loop(state, at, outcome.targets);
        take_branch(state, side, &outcome, origin);
        take_branch(&mut other, !side, &outcome, origin);
        let Some(bound) = self.world.config.limits.loop_bound.filter(|_| stays.is_some()) else {
            self.push(other);
            return Err(Flow::Yield);
        };
        let stays = stays == Some(side);
        let stayer = if stays { &mut *state } else { &mut *other };
        let over = count_stay(stayer, at) > bound;
        let leaver = if stays { &mut *other } else { &mut *state };
        leaver.frame_mut().loops.retain(|(block, _)| *block != at);
        match (over, stays) {
            (false, _) => self.push(other),
            (true, true) => {
                self.push(other);
                return Err(Flow::End(Ending::Cut(Cut::LoopBound(bound))));
            }
            (true, false) => self.cut_if_feasible(&other, Cut::LoopBound(bound)),
        }
        Err(Flow::Yield)
    }

    /// Notes what mutants of a condition are that is about to be evaluated; of the first one of a decision,
    /// that the decision begins.
    pub(crate) fn begin_evaluation(
        &mut self,
        state: &mut State,
        body: &Body,
        origin: BranchOrigin,
    ) {
        let mutants = self.record_mutants(state, origin.decision, origin.condition);
        let conditions = body.decisions[origin.decision].conditions.len();
        let event = state.frame_mut().event_mut(origin.decision, conditions, origin.begins);
        event.mutants.extend(mutants);
    }

    /// Whether labels may ask for the values that conditions had in this activation.
    pub(crate) fn keeps_decisions(&self, state: &State) -> bool {
        self.world.config.mode != Mode::Plain && self.labels.has(state.frame().func)
    }

    /// The side of a branch that stays in a loop that the other side leaves, if it is so.
    fn stays_in_loop(&mut self, state: &State, at: BlockId, targets: [BlockId; 2]) -> Option<bool> {
        let func = state.frame().func;
        let back = targets.map(|target| self.world.reaches(func, target, at));
        (back[0] != back[1]).then_some(back[0])
    }

    fn cut_if_feasible(&mut self, state: &State, cut: Cut) {
        if state.tape.is_played() {
            return;
        }
        self.cut_dependences(state);
        if self.is_hopeless(state) {
            return;
        }
        match self.ask(state, None) {
            Feasible::No => {}
            Feasible::Yes(_) | Feasible::Unknown(_) => {
                self.count_path(Ending::Cut(cut.clone()));
                self.cut_ahead(state, cut);
            }
        }
    }

    fn switch(
        &mut self,
        state: &mut State,
        value: ExprId,
        cases: &[SwitchCase],
        default: BlockId,
    ) -> Result<(), Flow> {
        let mut traps = Traps::none();
        let value = self.eval(state, value, &mut traps)?;
        self.leave_traps(state, &traps)?;
        let value = to_bytes(&mut self.pool, value);
        let from = state.frame().block;
        let ways = self.ways_of((state.frame().func, from), value, cases, default);
        let told = state.tape.played(Question::Way);
        let at = told.map_or_else(|| self.way_taken(state, &ways), |way| way as usize);
        let at = at.min(ways.len() - 1);
        let taken = &ways[at];
        let known = state.knowledge().known(&mut self.pool, taken.condition) == Some(true);
        if !known {
            self.meet_undefined(state, value);
        }
        if !known && !state.replay && told.is_none() {
            for (number, way) in ways.iter().enumerate().rev().filter(|(number, _)| *number != at) {
                let mut other = state.fork();
                other.pending = true;
                other.tape.note(Question::Way, number as u64);
                if other.add_fact(&mut self.pool, way.condition) {
                    self.take_way(&mut other, from, way);
                    self.push(other);
                }
            }
        }
        state.tape.note(Question::Way, at as u64);
        state.add_fact(&mut self.pool, taken.condition);
        self.take_way(state, from, taken);
        if known { Ok(()) } else { Err(Flow::Yield) }
    }

    /// The first way out of a switch that the state's path or its model takes.
    fn way_taken(&mut self, state: &State, ways: &[SwitchWay]) -> usize {
        let taken = ways.iter().position(|way| {
            let known = state.knowledge().known(&mut self.pool, way.condition);
            known.unwrap_or_else(|| self.evaluator.holds(&self.pool, &state.model, way.condition))
        });
        taken.unwrap_or(ways.len() - 1)
    }

    /// The ways out of a switch; those that lead to one block are one way, unless nothing is merged.
    pub(crate) fn ways_of(
        &mut self,
        (func, from): (FuncId, BlockId),
        value: Term,
        cases: &[SwitchCase],
        default: BlockId,
    ) -> Vec<SwitchWay> {
        let mut ways: Vec<SwitchWay> = Vec::with_capacity(cases.len() + 1);
        let mut no_case = self.pool.tt();
        let mut add = |pool: &mut TermPool, number: usize, condition: Term, target: BlockId| {
            let edge = (number as u32, condition);
            let quiet = |way| {
                let site = SiteKey::Edge(Edge { from, way });
                !self.hypers.sequences.watches(func, site)
            };
            let merge = self.world.config.merge && quiet(edge.0);
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
            let here = case_condition(&mut self.pool, value, case);
            let not = self.pool.not(here);
            no_case = self.pool.and(no_case, not);
            add(&mut self.pool, number, here, case.target);
        }
        add(&mut self.pool, cases.len(), no_case, default);
        ways
    }

    /// Takes one way out of a switch.
    fn take_way(&mut self, state: &mut State, from: BlockId, way: &SwitchWay) {
        state.frame_mut().go_to(way.target);
        if let [(number, _)] = way.edges[..] {
            state.arrival = Some(SiteKey::Edge(Edge { from, way: number }));
            return;
        }
        let mut passed = SmallVec::new();
        for (number, condition) in &way.edges {
            let site = SiteKey::Edge(Edge { from, way: *number });
            self.pass_where(state, site, *condition, &mut passed);
        }
        state.queue.extend(passed);
    }
}

/// Edges of a switch that lead to one block.
pub(crate) struct SwitchWay {
    pub(crate) condition: Term,
    pub(crate) target: BlockId,
    /// Their numbers, and when each is taken.
    pub(crate) edges: SmallVec<[(u32, Term); 1]>,
}

/// Ends the lifetime of a memory local, if it is alive.
pub(crate) fn leave_local(state: &mut State, local: LocalId) {
    if let Some(object) = state.frame().object(local) {
        state.frame_mut().objects[local.index()] = None;
        state.memory.release(object);
    }
}

/// Takes one side of a branch and records the condition's value and the decision's outcome.
fn take_branch(state: &mut State, side: bool, outcome: &Outcome, origin: Option<BranchOrigin>) {
    let frame = state.frame_mut();
    frame.go_to(outcome.targets[usize::from(!side)]);
    let Some(origin) = origin else { return };
    if !outcome.merged
        && let Some(event) = frame.event_of(origin.decision)
    {
        event.values[origin.condition.index()] = ConditionValue::Is(side);
    }
    state.evaluated = (!outcome.merged).then_some((origin.decision, origin.condition));
    let ends = if side { origin.then_outcome } else { origin.else_outcome };
    if outcome.merged || ends.is_some() {
        state.arrival = Some(SiteKey::Decision(origin.decision));
    }
}

/// Counts a decision to stay in the loop.
fn count_stay(state: &mut State, at: BlockId) -> u32 {
    let loops = &mut state.frame_mut().loops;
    if let Some((_, count)) = loops.iter_mut().find(|(block, _)| *block == at) {
        *count += 1;
        return *count;
    }
    loops.push((at, 1));
    1
}

/// Whether a value is one of a case's.
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

/// A value of the machine type from a term of the same number of bits.
pub(crate) fn as_type(pool: &mut TermPool, ty: Type, value: Term) -> Term {
    if pool.sort(value) == sort_of(ty) {
        return value;
    }
    let bytes = to_bytes(pool, value);
    // A call without a prototype may pass a wider integer.
    let bytes = pool.resize_unsigned(bytes, ty.bits().max(8));
    from_bytes(pool, ty, bytes)
}
