//! Labels at their sites: free by the state's model, by a query of their own (tight, [000] V-A), or
//! as a branch (direct, [000] IV-A).

use lydian_eval::{Kleene, PredEnvironment, Traps, eval_pred};
use lydian_ir::{ConditionId, DecisionId, ExprArena, ExprId, Purity};
use lydian_smt::{Term, TermPool};

use super::env::{Scope, Stop};
use super::explore::Engine;
use super::labels::{GoalId, SiteKey};
use super::query::Feasible;
use super::state::State;
use super::step::Flow;
use super::{LabelDeletion, Mode, Unreached};
use crate::limits::Cut;
use crate::memory::definedness;

impl Engine<'_, '_> {
    /// Notes the labels of a site that control passes now.
    pub(super) fn pass(&mut self, state: &mut State, key: SiteKey) {
        if self.world.config.mode == Mode::Plain || state.root < self.roots.len() {
            return;
        }
        let func = state.frame().func;
        let goals = self.labels.at(func, key, self.world.config.label_deletion.deletes());
        state.queue.extend(goals);
    }

    /// Looks at the first label of the queue.
    pub(super) fn look_at_label(&mut self, state: &mut State) -> Result<(), Flow> {
        let goal = state.queue.remove(0);
        let result = self.look_at(state, goal);
        if state.queue.is_empty() && !state.undecided.is_empty() {
            self.defer(state);
        }
        result
    }

    fn look_at(&mut self, state: &mut State, goal: GoalId) -> Result<(), Flow> {
        if self.world.config.label_deletion.deletes() && self.labels.is_covered(goal) {
            return Ok(());
        }
        let (value, hindrance) = self.predicate(state, goal);
        if let Some(what) = hindrance {
            self.labels.hinder(goal, Cut::Unsupported(what));
        }
        let defined = definedness(&mut self.pool, value.surely_true);
        let holds = self.pool.and(value.surely_true, defined);
        if self.pool.as_bool(holds) == Some(false) {
            return Ok(());
        }
        if self.pool.as_bool(defined) != Some(true) {
            self.labels.hinder(goal, Cut::Undefined);
        }
        if state.undefined {
            self.labels.hinder(goal, Cut::Undefined);
            return Ok(());
        }
        if self.world.config.mode == Mode::Direct {
            return self.branch_on_label(state, goal, holds);
        }
        if state.knowledge().known(&mut self.pool, holds) != Some(false) {
            self.decide_label(state, goal, holds);
        }
        Ok(())
    }

    /// Tight instrumentation: covers a label of the place where a state is if some input of the
    /// path does, without constraining the path.
    ///
    /// Where another input of the path covers it and all that the state's model covers, that input
    /// becomes the model. Where none does, but one may that covers less, the label waits
    /// ([`Deferred`](super::deferred::Deferred)).
    pub(super) fn decide_label(&mut self, state: &mut State, goal: GoalId, holds: Term) {
        let deletion = self.world.config.label_deletion;
        if deletion.deletes() && self.labels.is_covered(goal) {
            return;
        }
        // An input that was made for one label looks at others only as far as its run counts.
        let counts_runs = matches!(deletion, LabelDeletion::Run | LabelDeletion::Kept);
        if state.replay && !counts_runs {
            return;
        }
        if self.evaluator.holds(&self.pool, &state.model, holds) {
            self.statistics.free_labels += 1;
            if counts_runs {
                self.take_label(state, goal, holds);
            } else {
                self.label_paths += 1;
                state.covered.extend(self.labels.cover(goal));
            }
            return;
        }
        if deletion != LabelDeletion::Kept {
            self.ask_for_label(state, goal, holds);
            return;
        }
        if state.haste {
            // Questions about this path are hard: its own end comes first.
            if !state.replay {
                state.undecided.push((goal, holds));
            }
            return;
        }
        self.statistics.label_queries += 1;
        match self.ask_keeping(state, holds) {
            Some(Feasible::Yes(model)) => {
                state.model = model;
                self.take_label(state, goal, holds);
            }
            Some(Feasible::No) => {}
            Some(Feasible::Unknown(_)) if !state.replay => {
                state.haste = true;
                state.undecided.push((goal, holds));
            }
            None if !state.replay => state.undecided.push((goal, holds)),
            Some(Feasible::Unknown(_)) | None => {}
        }
    }

    /// Notes a label that the state's model covers, and that it is to go on covering it.
    fn take_label(&mut self, state: &mut State, goal: GoalId, holds: Term) {
        state.covered.extend(self.labels.cover(goal));
        state.promises.push(holds);
    }

    /// Direct instrumentation: the label's predicate is a branch of the program.
    fn branch_on_label(
        &mut self,
        state: &mut State,
        goal: GoalId,
        holds: Term,
    ) -> Result<(), Flow> {
        let (taken, other) = self.split(state, holds);
        if taken {
            state.covered.extend(self.labels.cover(goal));
        }
        let Some(mut other) = other else { return Ok(()) };
        if !taken {
            // The other side looks at this label again and finds that it holds.
            other.queue.insert(0, goal);
        }
        self.push(other);
        Err(Flow::Yield)
    }

    /// Tight instrumentation as in [000]: a query, and a path of its own for its answer.
    fn ask_for_label(&mut self, state: &mut State, goal: GoalId, holds: Term) {
        if state.replay {
            return;
        }
        self.statistics.label_queries += 1;
        match self.ask(state, Some(holds)) {
            Feasible::Yes(model) => {
                self.label_paths += 1;
                let mut run = state.fork();
                run.model = model;
                run.replay = true;
                run.covered.extend(self.labels.cover(goal));
                self.replays.push(run);
            }
            Feasible::No => {}
            Feasible::Unknown(cut) => self.labels.hinder(goal, cut),
        }
    }

    /// The value of a label's predicate on a state, and what could not be evaluated.
    fn predicate(&mut self, state: &mut State, goal: GoalId) -> (Kleene, Option<String>) {
        let (objectives, pred, decision) = self.labels.goal(goal);
        let mut env = SiteScope {
            unreached: self.world.config.unreached,
            scope: Scope {
                world: &self.world,
                evaluator: &mut self.evaluator,
                derived: &mut self.derived,
                watch: &mut self.watch,
                state,
            },
            exprs: &objectives.exprs,
            decision,
            hindrance: None,
        };
        let value = eval_pred(&mut self.pool, pred, &mut env);
        let hindrance = env.hindrance;
        self.settle_suspicions(state);
        (value, hindrance)
    }

    /// The values of mutants that labels need, just before their condition is evaluated.
    pub(super) fn record_mutants(
        &mut self,
        state: &mut State,
        decision: DecisionId,
        condition: ConditionId,
    ) -> Vec<(ConditionId, ExprId, Kleene)> {
        if self.world.config.mode == Mode::Plain || state.root < self.roots.len() {
            return Vec::new();
        }
        let func = state.frame().func;
        let deletion = self.world.config.label_deletion.deletes();
        let wanted = self.labels.mutants(func, decision, condition, deletion);
        let Some(objectives) = self.labels.objectives_of(func).filter(|_| !wanted.is_empty())
        else {
            return Vec::new();
        };
        let mut values = Vec::with_capacity(wanted.len());
        for expr in wanted {
            let mut env = SiteScope {
                unreached: self.world.config.unreached,
                scope: Scope {
                    world: &self.world,
                    evaluator: &mut self.evaluator,
                    derived: &mut self.derived,
                    watch: &mut self.watch,
                    state,
                },
                exprs: &objectives.exprs,
                decision: None,
                hindrance: None,
            };
            let value = env.expr(&mut self.pool, expr);
            self.settle_suspicions(state);
            values.push((condition, expr, value));
        }
        values
    }
}

/// Where the leaves of a predicate get their values from.
struct SiteScope<'a, 'p> {
    scope: Scope<'a, 'p>,
    exprs: &'a ExprArena,
    decision: Option<DecisionId>,
    unreached: Unreached,
    hindrance: Option<String>,
}

impl SiteScope<'_, '_> {
    /// The value of a condition where its decision's last evaluation reached it.
    fn value(&self, condition: ConditionId) -> Option<bool> {
        let event = self.scope.state.frame().event(self.decision?)?;
        event.values.get(lydian_base::EntityId::index(condition)).copied().flatten()
    }

    /// The condition's expression if it is pure and conditions that are not reached have values.
    fn pure_condition(&self, condition: ConditionId) -> Option<ExprId> {
        if self.unreached == Unreached::Unknown {
            return None;
        }
        let frame = self.scope.state.frame();
        let body = self.scope.world.program.functions[frame.func].body.as_ref()?;
        let condition = &body.decisions[self.decision?].conditions[condition];
        (condition.purity == Purity::Pure).then_some(condition.expr)
    }

    fn cannot_trap(&self, expr: ExprId) -> bool {
        let func = self.scope.state.frame().func;
        !self.scope.world.may_trap(func, self.exprs, expr)
    }
}

impl PredEnvironment for SiteScope<'_, '_> {
    fn condition(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene {
        match self.value(condition) {
            Some(value) => Kleene::constant(pool, value),
            None => match self.pure_condition(condition) {
                Some(expr) => self.expr(pool, expr),
                None => Kleene::unknown(pool),
            },
        }
    }

    fn reached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Term {
        pool.bool(self.value(condition).is_some())
    }

    fn mutant(&mut self, pool: &mut TermPool, condition: ConditionId, expr: ExprId) -> Kleene {
        if self.value(condition).is_some() {
            let frame = self.scope.state.frame();
            let event = self.decision.and_then(|decision| frame.event(decision));
            let recorded = event.and_then(|event| {
                let wanted = |entry: &&(ConditionId, ExprId, Kleene)| {
                    entry.0 == condition && entry.1 == expr
                };
                event.mutants.iter().find(wanted).map(|entry| entry.2)
            });
            return recorded.unwrap_or_else(|| Kleene::unknown(pool));
        }
        if self.pure_condition(condition).is_some() && self.cannot_trap(expr) {
            return self.expr(pool, expr);
        }
        Kleene::unknown(pool)
    }

    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        let mut traps = Traps::none();
        match self.scope.eval(pool, self.exprs, expr, &mut traps) {
            Ok(value) => Kleene::guarded(pool, value, &traps),
            Err(stop) => {
                self.hindrance = Some(match stop {
                    Stop::Split(..) => "an address that only a split of the path decides".into(),
                    Stop::Unsupported(what) => what,
                });
                Kleene::unknown(pool)
            }
        }
    }
}
