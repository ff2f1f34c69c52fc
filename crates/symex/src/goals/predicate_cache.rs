//! Cached evaluation of the labels of a site, and of the mutants of a condition. All are evaluated
//! together, and the results are cached by the contents of everything that they read ([`Group`]).

use std::sync::Arc;

use lydian_base::EntityId as _;
use lydian_eval::{EventReader as _, Kleene, eval_pred};
use lydian_ir::{ConditionId, DecisionId, ExprId, FuncId};
use lydian_objective::{FunctionObjectives, Pred};
use lydian_smt::Term;
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::config::Mode;
use crate::goals::Goals;
use crate::goals::cache_keys::{FewPlaces, Group, GroupReads, Key, LabelCondition, ReadPlace};
use crate::goals::labels::ConditionKey;
use crate::goals::labels::GoalId;
use crate::goals::labels::GoalLabel;
use crate::limits::Cut;
use crate::machine::program::site::SiteKey;
use crate::machine::reports::bounds_monitor::Actor;
use crate::machine::state::MutantValues;

/// The value of a label's predicate on a state.
struct PredicateValue {
    holds: Kleene,
    /// Whether the value is the same wherever the places that its group reads have the same
    /// contents.
    kept: bool,
}

impl Goals<'_> {
    /// Whether a label of a site that is left may hold on a path, as far as is known without
    /// evaluating its predicate.
    pub(crate) fn may_hold_somewhere(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: SiteKey,
    ) -> bool {
        let func = state.frame().func;
        self.cache.note_additions(machine.bounds.adds());
        self.group_of_site(machine, func, site);
        let Some(group) = self.cache.sites.get(&(func, site)) else { return true };
        if group.is_empty() {
            return true;
        }
        let reads = Arc::clone(&group.reads);
        // Addresses that are not decided yet are possible here; the predicates are then evaluated
        // later.
        let key = machine.tentatively(|machine| self.key_of_site(machine, state, site, &reads));
        let group = self.cache.sites.get(&(func, site));
        let gave = group.and_then(|group| group.get(&key));
        gave.is_none_or(|gave| gave.iter().any(|(goal, _)| self.is_looked_for(machine, *goal)))
    }

    /// The labels of a site that are left and may hold on a path, as far as their predicates tell,
    /// with their conditions.
    pub(crate) fn hold_somewhere(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: SiteKey,
    ) -> SmallVec<[(GoalId, Term); 4]> {
        let func = state.frame().func;
        self.cache.note_additions(machine.bounds.adds());
        self.group_of_site(machine, func, site);
        let Some(group) = self.cache.sites.get(&(func, site)) else { return SmallVec::new() };
        let (reads, goals) = (Arc::clone(&group.reads), Arc::clone(group.goals()));
        let key = self.key_of_site(machine, state, site, &reads);
        let group = self.cache.sites.get(&(func, site));
        let mut found = SmallVec::new();
        if let Some(gave) = group.and_then(|group| group.get(&key)).map(Arc::clone) {
            for (goal, said) in gave.iter() {
                if !self.is_looked_for(machine, *goal) {
                    continue;
                }
                let holds = match said {
                    LabelCondition::Where(holds) => *holds,
                    LabelCondition::Ask => {
                        self.predicate(machine, state, *goal, None).holds.surely_true
                    }
                };
                found.push((*goal, holds));
            }
        } else {
            let mut gives = Vec::new();
            for goal in goals.iter().copied() {
                if !self.is_looked_for(machine, goal) {
                    continue;
                }
                let kept_by = Some((Arc::clone(&reads), key.clone()));
                let PredicateValue { holds, kept } = self.predicate(machine, state, goal, kept_by);
                match kept {
                    false => gives.push((goal, LabelCondition::Ask)),
                    true if holds.is_never_true(&machine.pool) => {}
                    true => gives.push((goal, LabelCondition::Where(holds.surely_true))),
                }
                found.push((goal, holds.surely_true));
            }
            self.cache.keep_site((func, site), key, gives.into());
        }
        found.retain(|(_, holds)| machine.pool.as_bool(*holds) != Some(false));
        found
    }

    /// Whether a label is looked for.
    pub(crate) fn is_looked_for(&self, machine: &Machine<'_, '_>, goal: GoalId) -> bool {
        !machine.context.config.label_deletion.deletes() || !self.labels.is_covered(goal)
    }

    /// Makes a group for the labels of a site that are left, unless there is one.
    fn group_of_site(&mut self, machine: &mut Machine<'_, '_>, func: FuncId, site: SiteKey) {
        let deletes = machine.context.config.label_deletion.deletes();
        let group = self.cache.sites.get_mut(&(func, site));
        if group.is_some_and(|group| group.serves(&self.labels, deletes)) {
            return;
        }
        let left = self.labels.listed(func, site).iter();
        let left = left.filter(|goal| !deletes || !self.labels.is_covered(**goal));
        let goals: Arc<[GoalId]> = left.copied().collect();
        let mut reads = Vec::new();
        for goal in goals.iter() {
            let GoalLabel { objectives, pred, decision } = self.labels.goal_label(*goal);
            let mut expressions = self.labels.after(*goal).to_vec();
            self.may_evaluate(machine, func, decision, pred, &mut expressions);
            for expr in expressions {
                reads.extend(
                    self.places_read(machine, func, objectives, expr).map(|places| (places, *goal)),
                );
            }
        }
        self.cache.sites.insert((func, site), Group::new(goals, &self.labels, reads));
    }

    /// The expressions that a predicate is likely to evaluate.
    fn may_evaluate(
        &self,
        machine: &Machine<'_, '_>,
        func: FuncId,
        decision: Option<DecisionId>,
        pred: &Pred,
        found: &mut Vec<ExprId>,
    ) {
        // The first condition of a decision is always reached.
        let later = |condition: &ConditionId| condition.index() > 0;
        match pred {
            Pred::Const(_) | Pred::Reached(_) => {}
            Pred::Expr(expr) => found.push(*expr),
            Pred::Cond(condition) => {
                let expr = machine.context.unreached_condition(func, decision, *condition);
                found.extend(expr.filter(|_| later(condition)));
            }
            Pred::Mutant(condition, expr) => {
                found.extend(
                    Some(*expr).filter(|_| later(condition) && machine.context.config.merge),
                );
            }
            Pred::Not(a) => self.may_evaluate(machine, func, decision, a, found),
            Pred::And(a, b) | Pred::Or(a, b) | Pred::Xor(a, b) => {
                self.may_evaluate(machine, func, decision, a, found);
                self.may_evaluate(machine, func, decision, b, found);
            }
        }
    }

    /// The places that an expression of a function's labels reads; `None` if it is not cacheable.
    fn places_read(
        &mut self,
        machine: &mut Machine<'_, '_>,
        func: FuncId,
        objectives: &FunctionObjectives,
        expr: ExprId,
    ) -> Option<FewPlaces<ReadPlace>> {
        let register_type = |local| machine.context.register_type(func, local);
        self.cache.reads(func, &objectives.exprs, expr, register_type)
    }

    /// The key for the labels of a site: the contents that they read, and the values of the
    /// conditions of its decision and their mutants.
    fn key_of_site(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: SiteKey,
        reads: &GroupReads,
    ) -> Key {
        let mut key = self.key_of(machine, state, reads);
        let (SiteKey::Decision(decision) | SiteKey::Condition(decision, _)) = site else {
            return key;
        };
        if let Some(event) = state.frame().event(decision) {
            event.values.iter().for_each(|value| key.add_condition(*value));
            event.mutants.iter().for_each(|(of, mutants)| key.add_mutants(*of, mutants));
        }
        key
    }

    /// The key of the contents that are read.
    fn key_of(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        reads: &GroupReads,
    ) -> Key {
        let mut key = Key::default();
        let Some(objectives) = self.labels.objectives_of(state.frame().func) else { return key };
        for (place, readers) in reads.iter() {
            let read = machine.on_behalf_of(Actor::Labels(Arc::clone(readers)), |machine| {
                let (mut scope, pool) = machine.scope(state);
                self.cache.read(&mut scope, pool, &objectives.exprs, *place)
            });
            key.add_read(read);
        }
        machine.settle_suspicions(state);
        key
    }

    /// The value of a label's predicate on a state. Where it could not be evaluated, the reason is
    /// noted with the label.
    fn predicate(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        goal: GoalId,
        kept_by: Option<(GroupReads, Key)>,
    ) -> PredicateValue {
        let GoalLabel { objectives, pred, decision } = self.labels.goal_label(goal);
        let after = self.labels.after(goal).to_vec();
        let (value, hindrance) = machine.on_behalf_of(Actor::Labels([goal].into()), |machine| {
            let exprs = &objectives.exprs;
            let (mut env, pool) = self.cache.site_scope(machine, state, exprs, decision);
            env.kept_by = kept_by;
            let mut holds = eval_pred(pool, pred, &mut env);
            for expr in after {
                let has_value = env.has_value(pool, expr);
                holds = holds.only_where(pool, has_value);
            }
            (PredicateValue { holds, kept: env.kept_by.is_some() }, env.hindrance)
        });
        if let Some(what) = hindrance {
            self.labels.hinder(goal, Cut::Unsupported(what));
        }
        machine.settle_suspicions(state);
        value
    }

    /// The values of the mutants of a condition that labels need, just before the condition is
    /// evaluated; `None` if no label needs any. Where one could not be evaluated, the reason is noted
    /// with its labels.
    pub(crate) fn record_mutants(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        decision: DecisionId,
        condition: ConditionId,
    ) -> Option<(ConditionId, Arc<MutantValues>)> {
        if machine.context.config.mode == Mode::Plain || !state.has_begun(machine.roots.len()) {
            return None;
        }
        let func = state.frame().func;
        if !self.labels.have_mutants(func) {
            return None;
        }
        self.cache.note_additions(machine.bounds.adds());
        let deletion = machine.context.config.label_deletion.deletes();
        let of = ConditionKey { func, decision, condition };
        let objectives = self.labels.objectives_of(func)?;
        let group = self.cache.mutants.get_mut(&of);
        if !group.is_some_and(|group| group.serves(&self.labels, deletion)) {
            self.make_group_of_mutants(machine, of, objectives, deletion);
        }
        let group = self.cache.mutants.get(&of).filter(|group| !group.goals().is_empty())?;
        let reads = Arc::clone(&group.reads);
        let key = self.key_of(machine, state, &reads);
        if let Some(gave) = self.cache.mutants.get(&of).and_then(|group| group.get(&key)) {
            return Some((condition, Arc::clone(gave)));
        }
        let wanted = self.labels.mutants(of, deletion);
        let mut values = Vec::with_capacity(wanted.len());
        let mut all_kept = true;
        for (expr, goals) in wanted {
            let kept_by = Some((Arc::clone(&reads), key.clone()));
            let actor = Actor::Labels(goals.to_vec().into());
            let (value, kept, hindrance) = machine.on_behalf_of(actor, |machine| {
                let exprs = &objectives.exprs;
                let (mut env, pool) = self.cache.site_scope(machine, state, exprs, None);
                env.kept_by = kept_by;
                (env.expr(pool, expr), env.kept_by.is_some(), env.hindrance)
            });
            if let Some(what) = hindrance {
                let cut = Cut::Unsupported(what);
                goals.iter().for_each(|goal| self.labels.hinder(*goal, cut.clone()));
            }
            all_kept &= kept;
            machine.settle_suspicions(state);
            values.push((expr, value));
        }
        let mutants = self.cache.list(values);
        if all_kept {
            self.cache.keep_mutants(of, key, Arc::clone(&mutants));
        }
        Some((condition, mutants))
    }

    fn make_group_of_mutants(
        &mut self,
        machine: &mut Machine<'_, '_>,
        of: ConditionKey,
        objectives: &FunctionObjectives,
        deletion: bool,
    ) {
        let mut reads = Vec::new();
        let mut all: Vec<GoalId> = Vec::new();
        for (expr, goals) in self.labels.mutants(of, deletion) {
            let places = self.places_read(machine, of.func, objectives, expr);
            let of_goals = goals.iter().filter_map(|goal| Some((places.clone()?, *goal)));
            reads.extend(of_goals);
            all.extend(goals);
        }
        let group = Group::new(all.into(), &self.labels, reads);
        self.cache.mutants.insert(of, group);
    }
}
