//! The decision of labels at their sites: without a question by the state's model, by a query
//! (tight, [000] V-A), or as a branch (direct, [000] IV-A).

use lydian_base::EntityId;
use lydian_eval::{EventReader, Kleene, Traps, Undetermined};
use lydian_ir::{BranchOrigin, ConditionId, DecisionId, ExprArena, ExprId, FuncId};
use lydian_smt::{SimplifiedTerm, Term, TermPool};
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::StateView;
use crate::config::{LabelDeletion, Mode};
use crate::goals::Goals;
use crate::goals::cache_keys::{GroupReads, Key, PredicateCache, ReadPlace};
use crate::goals::core_cache::OpenLabel;
use crate::goals::labels::GoalId;
use crate::limits::Cut;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::definedness;
use crate::machine::program::site::SiteKey;
use crate::machine::questions::Feasible;
use crate::machine::scope::Stop;
use crate::machine::state::EventPhase;
use crate::machine::state::{ConditionValue, PassedSite};

/// A label of a site that control passes, and the condition under which it may hold.
struct PassedLabel {
    site: SiteKey,
    goal: GoalId,
    holds: Term,
}

impl Goals<'_> {
    /// Whether labels may ask for the values that conditions had in this activation.
    pub(crate) fn keeps_decisions(&self, machine: &Machine<'_, '_>, state: &State) -> bool {
        machine.context.config.mode != Mode::Plain && self.labels.has(state.frame().func)
    }

    /// Notes the values of the mutants of a condition that is about to be evaluated. For the first
    /// condition of a decision, notes that the decision begins.
    pub(crate) fn begin_evaluation(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        origin: BranchOrigin,
    ) {
        let body = machine.body(state);
        let mutants = self.record_mutants(machine, state, origin.decision, origin.condition);
        let conditions = body.decisions[origin.decision].conditions.len();
        let phase = match origin.begins {
            true => EventPhase::Begins,
            false => EventPhase::Continues,
        };
        let event = state.frame_mut().event_mut(origin.decision, conditions, phase);
        event.mutants.extend(mutants);
        if origin.begins {
            self.begin_prefix(state, origin.decision);
        }
    }

    /// Whether no objective that is left asks for anything at a site of a function.
    pub(crate) fn is_silent(&self, func: FuncId, site: SiteKey) -> bool {
        !self.labels.is_open(func, site) && !self.hypers.sequences.watches(func, site)
    }

    /// Notes the labels of a site that control passes now.
    pub(crate) fn pass(&mut self, machine: &mut Machine<'_, '_>, state: &mut State, key: SiteKey) {
        if !machine.observes(state) {
            return;
        }
        let func = state.frame().func;
        let has_some =
            self.labels.reach(func, key, machine.context.config.label_deletion.deletes());
        self.count_turn(state, func, key);
        if has_some && self.may_hold_somewhere(machine, state, key) {
            state.passing.queue.push(PassedSite::Site(key));
        }
        if matches!(key, SiteKey::Point(_)) {
            // Sequences are handled once the addresses of the statement are decided.
            return;
        }
        let covered = self.pass_sequences(machine, state, key);
        if let SiteKey::Decision(decision) = key {
            self.meet_decision(machine, state, decision);
        }
        self.cover_sequences(machine, state, covered);
    }

    /// Looks at the labels of the queue: at all labels of a site together, in direct mode at the
    /// first label.
    pub(crate) fn look_at_labels(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
    ) -> Result<(), Interrupt> {
        let mut passed: SmallVec<[PassedLabel; 4]> = SmallVec::new();
        for entry in std::mem::take(&mut state.passing.queue) {
            match entry {
                PassedSite::Site(site) => {
                    let found = self.hold_somewhere(machine, state, site).into_iter();
                    passed.extend(found.map(|(goal, holds)| PassedLabel { site, goal, holds }));
                }
                PassedSite::Where { site, goal, holds } => {
                    passed.push(PassedLabel { site, goal, holds });
                }
            }
        }
        if machine.context.config.mode == Mode::Direct {
            return self.branch_on_labels(machine, state, passed);
        }
        let mut open = Vec::new();
        for PassedLabel { goal, holds, .. } in passed {
            let holds = self.condition_of(machine, state, goal, holds);
            let known = |pool: &mut TermPool, holds| state.knowledge().known(pool, holds);
            let holds = holds.filter(|holds| known(&mut machine.pool, *holds) != Some(false));
            open.extend(holds.map(|holds| OpenLabel::new(goal, holds)));
        }
        self.decide_labels(machine, state, open);
        if !state.notes.goals.undecided.is_empty() {
            self.defer(state);
        }
        Ok(())
    }

    /// The condition under which a label that control passes is covered; `None` if it is not left
    /// or holds on no input. Its predicate is true under `condition`.
    fn condition_of(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        goal: GoalId,
        condition: Term,
    ) -> Option<Term> {
        if !self.is_looked_for(machine, goal) || machine.pool.as_bool(condition) == Some(false) {
            return None;
        }
        let defined = definedness(&mut machine.pool, condition);
        let holds = machine.pool.and(condition, defined);
        self.hinder_by_undetermined(machine, state, goal, condition, defined);
        let may_hold = machine.pool.as_bool(holds) != Some(false) && !state.depends.are_some();
        may_hold.then_some(holds)
    }

    /// Notes a reason for a label where the path or the label's condition depends on undetermined
    /// values. There is no reason where the condition depends on unwritten memory on every input,
    /// as it has no value there, nor where it holds for no value.
    fn hinder_by_undetermined(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        goal: GoalId,
        condition: Term,
        defined: Term,
    ) {
        let mut reasons = machine.undetermined_of(state, condition, defined);
        if machine.pool.as_bool(defined) == Some(false) {
            let unwritten =
                |cut: &Cut| matches!(cut, Cut::Undetermined(Undetermined::Unwritten, _));
            reasons.retain(|reason| !unwritten(reason));
        }
        if reasons.is_empty() {
            return;
        }
        let is_any = |cut: &Cut| matches!(cut, Cut::Undetermined(kind, _) if kind.is_any());
        let is_any = reasons.iter().all(is_any);
        if is_any && matches!(machine.ask(state, Some(condition)), Feasible::No) {
            return;
        }
        reasons.into_iter().for_each(|reason| self.labels.hinder(goal, reason));
    }

    /// Looks at the labels of a site that control passes on the inputs that satisfy `guard`, and on
    /// no others of the state's path.
    pub(crate) fn pass_where(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        key: SiteKey,
        guard: Term,
        passed: &mut SmallVec<[PassedSite; 4]>,
    ) {
        if !machine.observes(state) {
            return;
        }
        let func = state.frame().func;
        if !self.labels.reach(func, key, machine.context.config.label_deletion.deletes()) {
            return;
        }
        let held = machine.where_holds(guard, |machine| self.hold_somewhere(machine, state, key));
        for (goal, holds) in held {
            let holds = machine.pool.and(guard, holds);
            passed.push(PassedSite::Where { site: key, goal, holds });
        }
    }

    /// Tight instrumentation: covers labels at the position of a state if some input of the path
    /// does, without constraining the path.
    ///
    /// Where another input of the path covers a label and everything that the state's model covers,
    /// that input becomes the model. Where no such input exists, but possibly one that covers less,
    /// the label waits ([`WaitingLabels`](crate::goals::deferred::WaitingLabels)).
    pub(crate) fn decide_labels(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        mut open: Vec<OpenLabel>,
    ) {
        let deletion = machine.context.config.label_deletion;
        // An input that was made for one label looks at other labels only if labels that runs cover
        // are deleted.
        let counts_runs = matches!(deletion, LabelDeletion::Run | LabelDeletion::Kept);
        if state.course.replay && !counts_runs {
            return;
        }
        if deletion != LabelDeletion::Kept {
            for label in open {
                self.decide_alone(machine, state, label.goal, label.predicate);
            }
            return;
        }
        let count = self.count_open(state, &open);
        let again = self.set_aside_covered(&mut open);
        let before = open.len();
        self.take_held(machine, state, &mut open);
        machine.statistics.free_labels += (before - open.len()) as u64;
        self.leave_occurrence(state, &mut open, again, count);
        if state.notes.goals.haste {
            // Questions about this path are hard, so the path is followed to its end first.
            put_off(state, open);
        } else {
            self.ask_for_any(machine, state, open);
        }
    }

    /// Simplifies the promises and the conditions of labels by the path's facts. Removes labels
    /// that the facts exclude.
    fn simplify(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        open: &mut Vec<OpenLabel>,
    ) {
        let labels = open.iter().map(|label| label.holds);
        let terms: Vec<Term> = labels.chain(state.claims.promises.iter().copied()).collect();
        let Some(given) = machine.pool.given(&state.path.facts, &terms) else { return };
        let mut given = given.into_iter();
        open.retain_mut(|label| {
            let Some(SimplifiedTerm { term, facts }) = given.next() else { return true };
            if machine.pool.as_bool(term) == Some(false) {
                self.cores.note(label.holds, &facts);
                return false;
            }
            (label.holds, label.facts) = (term, facts);
            !self.cores.excludes(&state.path.facts, term)
        });
        let promises = given.map(|promise| promise.term);
        state.claims.promises =
            promises.filter(|term| machine.pool.as_bool(*term) != Some(true)).collect();
    }

    /// Asks for inputs of the path that keep the promises and cover some of these labels, until
    /// there is none. All labels that no such input covers take one question.
    pub(crate) fn ask_for_any(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        mut open: Vec<OpenLabel>,
    ) {
        open.retain(|label| !self.cores.excludes(&state.path.facts, label.holds));
        if !open.is_empty() {
            self.simplify(machine, state, &mut open);
        }
        while !open.is_empty() {
            let any = machine.pool.or_all(open.iter().map(|label| label.holds));
            machine.statistics.label_queries += 1;
            match self.ask_keeping(machine, state, any, &open) {
                Some(Feasible::Yes(model)) => {
                    state.model = model;
                    let before = open.len();
                    self.take_held(machine, state, &mut open);
                    if open.len() == before {
                        return put_off(state, open);
                    }
                }
                Some(Feasible::No) => return,
                Some(Feasible::Unknown(_)) => {
                    state.notes.goals.haste |= !state.course.replay;
                    return put_off(state, open);
                }
                None => return put_off(state, open),
            }
        }
    }

    /// Covers those of some labels that hold on the state's model. Leaves the others that are not
    /// covered in `open`.
    pub(crate) fn take_held(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        open: &mut Vec<OpenLabel>,
    ) {
        open.retain(|label| {
            if self.labels.is_covered(label.goal) {
                return false;
            }
            let held = machine.evaluator.holds(&machine.pool, &state.model, label.holds);
            if held {
                self.take_label(machine, state, label.goal, label.holds);
            }
            !held
        });
    }

    /// Decides a label as in [000]: by the model, otherwise by a question of its own.
    fn decide_alone(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        goal: GoalId,
        holds: Term,
    ) {
        let deletion = machine.context.config.label_deletion;
        if deletion.deletes() && self.labels.is_covered(goal) {
            return;
        }
        if !machine.evaluator.holds(&machine.pool, &state.model, holds) {
            return self.ask_for_label(machine, state, goal, holds);
        }
        machine.statistics.free_labels += 1;
        if deletion == LabelDeletion::Run {
            self.take_label(machine, state, goal, holds);
        } else {
            self.label_paths += 1;
            state.claims.covered.extend(self.labels.cover(goal));
        }
    }

    /// Notes that the state's model covers a label, and promises that it goes on covering it.
    fn take_label(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        goal: GoalId,
        holds: Term,
    ) {
        let newly = self.labels.cover(goal);
        state.claims.covered.extend(newly);
        // A label that stays to be asked for was covered by another test before.
        if newly.is_some() && machine.pool.as_bool(holds) != Some(true) {
            state.claims.promises.push(holds);
            state.claims.conditions.push((goal, holds));
        }
    }

    /// Direct instrumentation: the predicate of the first label is a branch of the program. The
    /// other labels are looked at on both sides.
    fn branch_on_labels(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        mut passed: SmallVec<[PassedLabel; 4]>,
    ) -> Result<(), Interrupt> {
        if passed.is_empty() {
            return Ok(());
        }
        let PassedLabel { site, goal, holds } = passed.remove(0);
        let later = passed.into_iter().map(|PassedLabel { site, goal, holds }| PassedSite::Where {
            site,
            goal,
            holds,
        });
        state.passing.queue.extend(later);
        let Some(holds) = self.condition_of(machine, state, goal, holds) else { return Ok(()) };
        let (taken, other) = machine.split(state, holds);
        if taken {
            state.claims.covered.extend(self.labels.cover(goal));
        }
        let Some(mut other) = other else { return Ok(()) };
        if !taken {
            // The other side looks at this label again and finds that it holds.
            other.passing.queue.insert(0, PassedSite::Where { site, goal, holds });
        }
        machine.fork_off(other);
        Err(Interrupt::Yield)
    }

    /// Tight instrumentation as in [000]: a query, and a path of its own for the input found.
    fn ask_for_label(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        goal: GoalId,
        holds: Term,
    ) {
        if state.course.replay {
            return;
        }
        machine.statistics.label_queries += 1;
        match machine.ask(state, Some(holds)) {
            Feasible::Yes(model) => {
                self.label_paths += 1;
                let mut run = state.fork();
                run.model = model;
                run.course.replay = true;
                run.claims.covered.extend(self.labels.cover(goal));
                run.claims.promises.push(holds);
                run.claims.conditions.push((goal, holds));
                self.runs.push(run);
            }
            Feasible::No => {}
            Feasible::Unknown(cut) => self.labels.hinder(goal, cut),
        }
    }
}

impl PredicateCache {
    /// The environment in which a predicate is evaluated on a state, with expressions of `exprs`
    /// and conditions of the decision; and the pool for new terms.
    pub(crate) fn site_scope<'a, 'p>(
        &'a mut self,
        machine: &'a mut Machine<'p, '_>,
        state: &'a mut State,
        exprs: &'a ExprArena,
        decision: Option<DecisionId>,
    ) -> (SiteScope<'a, 'p>, &'a mut TermPool) {
        let (scope, pool) = machine.scope(state);
        (SiteScope { scope, cache: self, exprs, decision, kept_by: None, hindrance: None }, pool)
    }
}

/// The environment in which the leaves of a predicate are evaluated.
pub(crate) struct SiteScope<'a, 'p> {
    pub(crate) scope: StateView<'a, 'p>,
    cache: &'a mut PredicateCache,
    pub(crate) exprs: &'a ExprArena,
    pub(crate) decision: Option<DecisionId>,
    /// The places that are read and their contents, as long as the values depend on nothing else;
    /// also `None` where the result is not to be cached.
    pub(crate) kept_by: Option<(GroupReads, Key)>,
    pub(crate) hindrance: Option<String>,
}

impl SiteScope<'_, '_> {
    /// The value of a condition in its decision's last evaluation.
    pub(crate) fn value(&self, condition: ConditionId) -> ConditionValue {
        let event = self.decision.and_then(|decision| self.scope.state.frame().event(decision));
        let value = event.and_then(|event| event.values.get(condition.index()).copied());
        value.unwrap_or(ConditionValue::NotReached)
    }

    /// The value of a condition on the state, where it need not be reached.
    fn unreached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene {
        let func = self.scope.state.frame().func;
        match self.scope.context.unreached_condition(func, self.decision, condition) {
            Some(expr) => self.expr(pool, expr),
            None => Kleene::unknown(pool),
        }
    }

    /// Whether the mutants of a condition have a value where the condition is not reached, if they
    /// cannot trap.
    fn is_one_expression(&self, condition: ConditionId) -> bool {
        let func = self.scope.state.frame().func;
        self.scope.context.is_one_expression(func, self.decision, condition)
    }

    /// The condition under which an expression has a value.
    pub(crate) fn has_value(&mut self, pool: &mut TermPool, expr: ExprId) -> Term {
        let mut traps = Traps::none();
        let (value, tells) = self.scope.eval_observed(pool, self.exprs, expr, &mut traps);
        self.note_whether_kept(expr, tells);
        match value {
            Ok(_) => traps.absent(pool),
            Err(stop) => {
                self.hindered(stop);
                pool.ff()
            }
        }
    }

    /// Notes whether the result stays cacheable after the evaluation of an expression: `tells` is
    /// false, and the expression depends on nothing but the contents that are read.
    fn note_whether_kept(&mut self, expr: ExprId, tells: bool) {
        let Some((reads, key)) = &self.kept_by else { return };
        let places = self.cache.places_of(&self.scope, self.exprs, expr);
        let is_read = |place: &ReadPlace| {
            let position = reads.iter().position(|(read, _)| read == place);
            position.is_some_and(|position| key.has(position))
        };
        let by_places = places.is_some_and(|places| places.iter().all(is_read));
        if !by_places || tells {
            self.kept_by = None;
        }
    }

    fn hindered(&mut self, stop: Stop) {
        self.hindrance = Some(hindrance(stop));
        self.kept_by = None;
    }

    fn cannot_trap(&self, expr: ExprId) -> bool {
        let func = self.scope.state.frame().func;
        !self.scope.context.may_trap(func, self.exprs, expr)
    }
}

impl EventReader for SiteScope<'_, '_> {
    fn condition(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene {
        match self.value(condition) {
            ConditionValue::Is(value) => Kleene::constant(pool, value),
            ConditionValue::NotReached => self.unreached(pool, condition),
            ConditionValue::Either { reached, value } => {
                let there = Kleene::known_where(pool, reached, value);
                if pool.as_bool(reached) == Some(true) {
                    return there;
                }
                let elsewhere = self.unreached(pool, condition);
                there.or_else(pool, elsewhere)
            }
        }
    }

    fn reached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Term {
        match self.value(condition) {
            ConditionValue::Is(_) => pool.tt(),
            ConditionValue::NotReached => pool.ff(),
            ConditionValue::Either { reached, .. } => reached,
        }
    }

    fn mutant(&mut self, pool: &mut TermPool, condition: ConditionId, expr: ExprId) -> Kleene {
        let event = self.decision.and_then(|decision| self.scope.state.frame().event(decision));
        let lists = event.into_iter().flat_map(|event| &event.mutants);
        let mut recorded = lists.filter(|(of, _)| *of == condition);
        let recorded = recorded.find_map(|(_, mutants)| mutants.value(expr));
        let here = match self.value(condition) {
            ConditionValue::Is(_) => {
                return recorded.unwrap_or_else(|| Kleene::unknown(pool));
            }
            ConditionValue::NotReached => Kleene::unknown(pool),
            ConditionValue::Either { reached, .. } => {
                let value = recorded.unwrap_or_else(|| Kleene::unknown(pool));
                if pool.as_bool(reached) == Some(true) {
                    return value;
                }
                value.only_where(pool, reached)
            }
        };
        if self.is_one_expression(condition) && self.cannot_trap(expr) {
            let elsewhere = self.expr(pool, expr);
            return here.or_else(pool, elsewhere);
        }
        here
    }

    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        let mut traps = Traps::none();
        let (value, tells) = self.scope.eval_observed(pool, self.exprs, expr, &mut traps);
        match value {
            Ok(value) => {
                let value = Kleene::guarded(pool, value, &traps);
                self.note_whether_kept(expr, tells);
                value
            }
            Err(stop) => {
                self.hindered(stop);
                Kleene::unknown(pool)
            }
        }
    }
}

/// Why an expression of a predicate has no known value.
pub(crate) fn hindrance(stop: Stop) -> String {
    match stop {
        Stop::Split(..) | Stop::Suppose(_) => {
            "an address that only a split of the path decides".into()
        }
        Stop::Unsupported(what) => what,
        Stop::Infeasible => "a pointer that can be nothing".into(),
        Stop::Invariant(..) => "an object whose invariant no path supposes yet".into(),
    }
}

/// Defers labels at the current position. A replayed input defers none: labels that it does not
/// cover wait already, or are asked for on the program's own paths.
fn put_off(state: &mut State, open: Vec<OpenLabel>) {
    if !state.course.replay {
        state.notes.goals.undecided.extend(open);
    }
}
