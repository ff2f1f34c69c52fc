//! What happens to objectives at the places of a path.
//!
//! At an event the goals are asked first; then flags are reset, and then set. The last label of a sequence
//! is asked with the flags as they were before.
//!
//! Flags are never reset too often and never set too rarely: where code is not followed they count as set.

use lydian_base::EntityId;
use lydian_ir::{BranchOrigin, ConditionId, DecisionId, ExprId, FuncId};

use crate::document::Place;
use crate::document::objectives::{Label, Moment, Predicate};
use crate::machine::Machine;
use crate::state::{Key, State, Value};
use crate::terms::{Sort, Term, Terms};

/// A truth value of Kleene's logic: where it is surely true, and where it is surely false.
#[derive(Clone, Copy, Debug)]
struct Truth {
    yes: Term,
    no: Term,
}

impl Truth {
    fn of(terms: &mut Terms, value: Term) -> Self {
        Self { yes: value, no: terms.not(value) }
    }

    fn constant(terms: &mut Terms, value: bool) -> Self {
        Self { yes: terms.truth(value), no: terms.truth(!value) }
    }

    const fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    fn and(self, terms: &mut Terms, other: Self) -> Self {
        Self { yes: terms.and(self.yes, other.yes), no: terms.or(self.no, other.no) }
    }

    fn xor(self, terms: &mut Terms, other: Self) -> Self {
        let (left, right) = (terms.and(self.yes, other.no), terms.and(self.no, other.yes));
        let (both, neither) = (terms.and(self.yes, other.yes), terms.and(self.no, other.no));
        Self { yes: terms.or(left, right), no: terms.or(both, neither) }
    }

    /// This where a condition holds, and another where it does not.
    fn where_else(self, terms: &mut Terms, condition: Term, other: Self) -> Self {
        let absent = terms.not(condition);
        let mut part = |one: Term, another: Term| {
            let (one, another) = (terms.and(condition, one), terms.and(absent, another));
            terms.or(one, another)
        };
        Self { yes: part(self.yes, other.yes), no: part(self.no, other.no) }
    }
}

/// A place of an instance, and the branch there that was taken.
#[derive(Clone, Copy, Debug)]
struct Happening {
    instance: usize,
    moment: Moment,
    taken: Option<(ConditionId, bool)>,
}

impl Machine<'_, '_> {
    /// The run begins.
    pub(crate) fn start_run(&mut self, state: &mut State, instance: usize) {
        let monitor = &self.scene.monitor;
        let here = Happening { instance, moment: Moment::Start, taken: None };
        for event in &monitor.at_start {
            self.happen(state, here, *event);
        }
    }

    /// Control enters an instance.
    pub(crate) fn enter_instance(&mut self, state: &mut State, instance: usize) {
        let monitor = &self.scene.monitor;
        let no = Value::plain(self.terms.truth(false));
        for flag in 0..monitor.objectives.flags.len() {
            let own = monitor.flag(instance, flag);
            if matches!(own, Place::Flag { instance: Some(_), .. }) && monitor.notes.contains(&own)
            {
                state.set(Key::Note(own), no);
            }
        }
        self.come_to(state, instance, Moment::Entry);
    }

    /// Control comes to a place of an instance.
    pub(crate) fn come_to(&mut self, state: &mut State, instance: usize, moment: Moment) {
        self.happen_at(state, Happening { instance, moment, taken: None });
    }

    fn happen_at(&mut self, state: &mut State, here: Happening) {
        let scene = self.scene;
        let function = scene.unfolding.instances[here.instance].function;
        for event in scene.monitor.at.get(&(function, here.moment)).into_iter().flatten() {
            self.happen(state, here, *event);
        }
    }

    /// An event happens.
    fn happen(&mut self, state: &mut State, here: Happening, event: usize) {
        let monitor = &self.scene.monitor;
        let effects = &monitor.effects[event];
        for goal in &effects.asks {
            let content = &monitor.objectives.goals[*goal];
            let covered = self.covers(state, here, (&content.label, content.after));
            let reached = self.terms.and(state.guard, covered);
            self.reach_goal(*goal, reached);
        }
        let mut new: Vec<(Place, Term)> = Vec::new();
        for flag in &effects.resets {
            if !effects.sets.contains(flag) {
                new.push((monitor.flag(here.instance, *flag), self.terms.truth(false)));
            }
        }
        for flag in &effects.sets {
            let content = &monitor.objectives.flags[*flag];
            let begins = self.covers(state, here, (&content.label, content.after));
            let value = match effects.resets.contains(flag) {
                true => begins,
                false => {
                    let before = self.flag_value(state, here.instance, *flag);
                    self.terms.or(before, begins)
                }
            };
            new.push((monitor.flag(here.instance, *flag), value));
        }
        for (place, value) in new.into_iter().filter(|(place, _)| monitor.notes.contains(place)) {
            state.set(Key::Note(place), Value::plain(value));
        }
    }

    /// Whether an event covers a label while a flag is set.
    fn covers(
        &mut self,
        state: &mut State,
        here: Happening,
        (label, after): (&Label, Option<usize>),
    ) -> Term {
        let begun = match after {
            Some(flag) => self.flag_value(state, here.instance, flag),
            None => self.terms.truth(true),
        };
        if self.terms.truth_of(begun) == Some(false) {
            return begun;
        }
        let covered = self.predicate(state, here, &label.predicate).yes;
        self.terms.and(begun, covered)
    }

    /// Whether a flag is set. One of another function's activations counts as set.
    fn flag_value(&mut self, state: &mut State, instance: usize, flag: usize) -> Term {
        let place = self.scene.monitor.flag(instance, flag);
        self.note(state, place).unwrap_or_else(|| self.terms.truth(true))
    }

    /// The value of a part of the state that the monitor keeps.
    fn note(&mut self, state: &mut State, place: Place) -> Option<Term> {
        let is_kept = self.scene.monitor.notes.contains(&place);
        is_kept.then(|| self.get(state, Key::Note(place)).term)
    }

    fn predicate(&mut self, state: &mut State, here: Happening, predicate: &Predicate) -> Truth {
        match predicate {
            Predicate::Constant(value) => Truth::constant(&mut self.terms, *value),
            Predicate::Expression(expr) => self.expression(state, here.instance, *expr),
            Predicate::Condition(condition) => self.condition_value(state, here, *condition),
            Predicate::Reached(condition) => {
                let reached = self.reached(state, here, *condition);
                Truth::of(&mut self.terms, reached)
            }
            Predicate::Mutant { condition, expression } => {
                self.mutant_value(state, here, (*condition, *expression))
            }
            Predicate::Not(a) => self.predicate(state, here, a).not(),
            Predicate::All(all) => {
                let mut truth = Truth::constant(&mut self.terms, true);
                for one in all {
                    let one = self.predicate(state, here, one);
                    truth = truth.and(&mut self.terms, one);
                }
                truth
            }
            Predicate::Any(all) => {
                let mut truth = Truth::constant(&mut self.terms, true);
                for one in all {
                    let one = self.predicate(state, here, one).not();
                    truth = truth.and(&mut self.terms, one);
                }
                truth.not()
            }
            Predicate::Either(both) => {
                let a = self.predicate(state, here, &both.0);
                let b = self.predicate(state, here, &both.1);
                a.xor(&mut self.terms, b)
            }
        }
    }

    /// The value of an expression, where it does not trap.
    fn expression(&mut self, state: &mut State, instance: usize, expr: u32) -> Truth {
        let guard = std::mem::replace(&mut state.guard, self.terms.truth(true));
        let value = self.eval(state, (instance, ExprId::from_index(expr as usize))).term;
        let known = std::mem::replace(&mut state.guard, guard);
        if self.terms.sort(value) != Sort::Bool {
            return self.anything_true_or_false();
        }
        let absent = self.terms.not(value);
        Truth { yes: self.terms.and(known, value), no: self.terms.and(known, absent) }
    }

    /// A truth value of which nothing is known.
    fn anything_true_or_false(&mut self) -> Truth {
        let value = self.terms.fresh("any", Sort::Bool);
        Truth::of(&mut self.terms, value)
    }

    /// Whether a decision's evaluation reached a condition.
    fn reached(&mut self, state: &mut State, here: Happening, condition: u32) -> Term {
        let instance = here.instance;
        let known = match here.moment {
            Moment::Decision(decision) => {
                self.note(state, Place::Reached { instance, decision, condition })
            }
            _ => None,
        };
        known.unwrap_or_else(|| self.terms.fresh("any", Sort::Bool))
    }

    fn condition_value(&mut self, state: &mut State, here: Happening, condition: u32) -> Truth {
        let instance = here.instance;
        if let Moment::Decision(decision) = here.moment {
            let value = self.note(state, Place::Outcome { instance, decision, condition });
            let inside = match value {
                Some(value) => Truth::of(&mut self.terms, value),
                None => self.anything_true_or_false(),
            };
            let outside = self.unreached(here, condition, false);
            return self.by_reached(state, (here, condition), (inside, outside));
        }
        match here.taken {
            Some((taken, holds)) if taken.index() == condition as usize => {
                Truth::constant(&mut self.terms, holds)
            }
            _ => self.anything_true_or_false(),
        }
    }

    fn mutant_value(
        &mut self,
        state: &mut State,
        here: Happening,
        (condition, expression): (u32, u32),
    ) -> Truth {
        let instance = here.instance;
        let Moment::Decision(decision) = here.moment else { return self.anything_true_or_false() };
        let mut side = |value: bool| {
            let place = Place::Mutant { instance, decision, condition, expression, value };
            self.note(state, place)
        };
        let inside = match (side(true), side(false)) {
            (Some(yes), Some(no)) => Truth { yes, no },
            _ => self.anything_true_or_false(),
        };
        let outside = self.unreached(here, condition, true).map(|_| expression);
        self.by_reached(state, (here, condition), (inside, outside))
    }

    /// The expression whose value a condition has where it is not reached; of one whose mutants have a value
    /// there, if that is asked.
    fn unreached(&self, here: Happening, condition: u32, of_mutants: bool) -> Option<u32> {
        let Moment::Decision(decision) = here.moment else { return None };
        let body = self.scene.unfolding.instances[here.instance].body;
        let decision = body.decisions.get(DecisionId::from_index(decision as usize))?;
        let condition = decision.conditions.get(ConditionId::from_index(condition as usize))?;
        let is_wanted = !of_mutants || condition.is_one_expression();
        condition.unreached.expr().filter(|_| is_wanted).map(|expr| expr.index() as u32)
    }

    /// A value where a condition is reached, and that of an expression where it is not.
    fn by_reached(
        &mut self,
        state: &mut State,
        (here, condition): (Happening, u32),
        (inside, outside): (Truth, Option<u32>),
    ) -> Truth {
        let reached = self.reached(state, here, condition);
        let is_asked = !self.scene.monitor.objectives.short_circuit;
        let outside = match outside.filter(|_| is_asked) {
            Some(expr) => self.expression(state, here.instance, expr),
            None => {
                let never = self.terms.truth(false);
                Truth { yes: never, no: never }
            }
        };
        inside.where_else(&mut self.terms, reached, outside)
    }

    /// A branch has evaluated its condition.
    pub(crate) fn before_branch(
        &mut self,
        state: &mut State,
        (instance, origin): (usize, BranchOrigin),
        test: Term,
    ) {
        let scene = self.scene;
        let function = scene.unfolding.instances[instance].function;
        let (decision, condition) =
            (origin.decision.index() as u32, origin.condition.index() as u32);
        let Some(mutants) = scene.monitor.mutants(function, decision) else { return };
        if origin.begins {
            let no = Value::plain(self.terms.truth(false));
            for place in scene.monitor.notes_on(&scene.unfolding, (instance, decision)) {
                state.set(Key::Note(place), no);
            }
        }
        let yes = self.terms.truth(true);
        let reached = Place::Reached { instance, decision, condition };
        state.set(Key::Note(reached), Value::plain(yes));
        let outcome = Place::Outcome { instance, decision, condition };
        state.set(Key::Note(outcome), Value::plain(test));
        for (_, expression) in mutants.iter().filter(|mutant| mutant.0 == condition) {
            let expression = *expression;
            let truth = self.expression(state, instance, expression);
            for (value, term) in [(true, truth.yes), (false, truth.no)] {
                let place = Place::Mutant { instance, decision, condition, expression, value };
                state.set(Key::Note(place), Value::plain(term));
            }
        }
    }

    /// A branch was taken: its condition was evaluated, and its decision may have its outcome.
    pub(crate) fn after_branch(
        &mut self,
        state: &mut State,
        (instance, origin, holds): (usize, BranchOrigin, bool),
    ) {
        let (decision, condition) =
            (origin.decision.index() as u32, origin.condition.index() as u32);
        let taken = Some((origin.condition, holds));
        let moment = Moment::Condition { decision, condition };
        self.happen_at(state, Happening { instance, moment, taken });
        let outcome = if holds { origin.then_outcome } else { origin.else_outcome };
        if outcome.is_some() {
            let moment = Moment::Decision(decision);
            self.happen_at(state, Happening { instance, moment, taken });
        }
    }

    /// Code that is not followed may cover labels of the functions that it runs.
    pub(crate) fn run_anything(&mut self, state: &mut State, functions: Vec<FuncId>) {
        let scene = self.scene;
        let run = self.may_run(functions);
        if scene.monitor.flag_functions().any(|function| run.contains(&function)) {
            self.begin_anything(state);
        }
        for (goal, function) in scene.goal_functions().enumerate() {
            if run.contains(&function) {
                self.reach_goal(goal, state.guard);
            }
        }
    }

    /// Code that is not followed may be in the midst of any sequence of the run.
    pub(crate) fn begin_anything(&mut self, state: &mut State) {
        let yes = Value::plain(self.terms.truth(true));
        let notes = self.scene.monitor.notes.iter();
        for place in notes.filter(|place| matches!(place, Place::Flag { instance: None, .. })) {
            state.set(Key::Note(*place), yes);
        }
    }
}
