//! The objectives of a certificate, by the places where they are asked.
//!
//! An objective is watched by an automaton beside the program ([001] 4.3, Figure 2): its flags, and what
//! is known of the decisions that its labels ask about, are parts of the state that no statement of the
//! program reads. So a certificate may say of them what it likes; it has to hold.

pub(crate) mod events;

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_ir::{
    BlockId, Body, ConditionId, DecisionId, ExprId, FuncId, Program, StmtId, Terminator, Type,
};

use crate::document::objectives::{Label, Moment, Objectives, Predicate, Scope};
use crate::document::{Certificate, Place};
use crate::fault::Fault;
use crate::unfolding::{Instance, Unfolding};

/// A mutant of a decision's condition: the numbers of the condition and the expression.
type Mutant = (u32, u32);

/// The effects of an event.
#[derive(Clone, Debug, Default)]
struct Effects {
    /// The flags that its labels set.
    sets: Vec<usize>,
    /// The flags that it resets.
    resets: BTreeSet<usize>,
    /// The goals that its labels are the last of.
    asks: Vec<usize>,
}

/// The objectives, and where they are asked.
#[derive(Debug)]
pub(crate) struct Monitor {
    objectives: Objectives,
    /// By function and place: the events, in order.
    at: BTreeMap<(FuncId, Moment), Vec<usize>>,
    effects: Vec<Effects>,
    /// The events at the start of the run.
    at_start: Vec<usize>,
    /// By function: the decisions that are watched, with their mutants.
    watched: BTreeMap<FuncId, BTreeMap<u32, BTreeSet<Mutant>>>,
    /// The parts of the state that it keeps.
    pub(crate) notes: BTreeSet<Place>,
}

/// Whether an expression of an instance is a truth value.
fn is_truth_value(instance: &Instance<'_>, expr: u32) -> bool {
    let expr = ExprId::from_index(expr as usize);
    instance.body.exprs.get(expr).is_some() && instance.types[expr] == Type::Int(1)
}

impl Monitor {
    pub(crate) fn new(unfolding: &Unfolding<'_>, certificate: &Certificate) -> Result<Self, Fault> {
        let objectives = certificate.objectives.clone().unwrap_or_default();
        let mut monitor = Self {
            effects: vec![Effects::default(); objectives.events.len()],
            objectives,
            at: BTreeMap::new(),
            at_start: Vec::new(),
            watched: BTreeMap::new(),
            notes: BTreeSet::new(),
        };
        monitor.add_events(unfolding.program)?;
        monitor.add_flags()?;
        monitor.add_goals()?;
        for label in monitor.objectives.labels() {
            monitor.check_label(unfolding, label)?;
        }
        monitor.watch(unfolding, certificate);
        monitor.notes = monitor.notes_of(unfolding);
        Ok(monitor)
    }

    fn add_events(&mut self, program: &Program) -> Result<(), Fault> {
        for (at, event) in self.objectives.events.iter().enumerate() {
            let function = FuncId::from_index(event.function as usize);
            let body = program.functions.get(function).and_then(|content| content.body.as_ref());
            let has_places =
                body.is_some_and(|body| event.at.iter().all(|place| is_there(body, *place)));
            if !has_places || event.at.is_empty() {
                return Err(Fault::form(format!("event {at} has no place in the program")));
            }
            for place in &event.at {
                match place {
                    Moment::Start => self.at_start.push(at),
                    place => self.at.entry((function, *place)).or_default().push(at),
                }
            }
        }
        Ok(())
    }

    fn add_flags(&mut self) -> Result<(), Fault> {
        for (at, flag) in self.objectives.flags.iter().enumerate() {
            let fault = || Fault::form(format!("flag {at} is of another flag or event"));
            if flag.after.is_some_and(|before| before >= at) {
                return Err(fault());
            }
            self.effects.get_mut(flag.label.event).ok_or_else(fault)?.sets.push(at);
            for event in &flag.ends {
                self.effects.get_mut(*event).ok_or_else(fault)?.resets.insert(at);
            }
        }
        Ok(())
    }

    fn add_goals(&mut self) -> Result<(), Fault> {
        for (at, goal) in self.objectives.goals.iter().enumerate() {
            let fault = || Fault::form(format!("objective {at} is of another flag or event"));
            if goal.after.is_some_and(|flag| flag >= self.objectives.flags.len()) {
                return Err(fault());
            }
            self.effects.get_mut(goal.label.event).ok_or_else(fault)?.asks.push(at);
        }
        Ok(())
    }

    /// The function of a label.
    fn function_of(&self, label: &Label) -> FuncId {
        FuncId::from_index(self.objectives.events[label.event].function as usize)
    }

    /// The functions with the last labels of goals, by goal.
    pub(crate) fn goal_functions(&self) -> impl Iterator<Item = FuncId> {
        self.objectives.goals.iter().map(|goal| self.function_of(&goal.label))
    }

    /// The functions with labels that set flags.
    fn flag_functions(&self) -> impl Iterator<Item = FuncId> {
        self.objectives.flags.iter().map(|flag| self.function_of(&flag.label))
    }

    /// The names of the goals, for people.
    pub(crate) fn goal_names(&self) -> Vec<String> {
        let goals = self.objectives.goals.iter().map(|goal| {
            let names =
                goal.of.iter().map(|of| format!("{}: {}: {}", of.place, of.criterion, of.text));
            names.collect::<Vec<String>>().join("; ")
        });
        goals.collect()
    }

    /// A predicate speaks of truth values of its function. There is no state before the run.
    fn check_label(&self, unfolding: &Unfolding<'_>, label: &Label) -> Result<(), Fault> {
        let function = self.function_of(label);
        let event = &self.objectives.events[label.event];
        let is_at_start = event.at.contains(&Moment::Start);
        let instance = unfolding.instances.iter().find(|instance| instance.function == function);
        let is_truth = |expr: u32| instance.is_none_or(|instance| is_truth_value(instance, expr));
        let mut is_well_formed = true;
        label.predicate.for_each(&mut |part| {
            is_well_formed &= match part {
                Predicate::Expression(expr) => !is_at_start && is_truth(*expr),
                Predicate::Mutant { expression, .. } => is_truth(*expression),
                _ => true,
            };
        });
        match is_well_formed {
            true => Ok(()),
            false => Err(Fault::form("a predicate of an objective has no truth value")),
        }
    }

    /// Watches the decisions that labels ask about, and those that invariants speak of.
    fn watch(&mut self, unfolding: &Unfolding<'_>, certificate: &Certificate) {
        let mut watched: BTreeMap<FuncId, BTreeMap<u32, BTreeSet<Mutant>>> = BTreeMap::new();
        for label in self.objectives.labels() {
            let decisions = self.objectives.events[label.event].at.iter();
            for decision in decisions.filter_map(|place| match place {
                Moment::Decision(decision) => Some(*decision),
                _ => None,
            }) {
                let of_function = watched.entry(self.function_of(label)).or_default();
                let mutants = of_function.entry(decision).or_default();
                label.predicate.for_each(&mut |part| {
                    if let Predicate::Mutant { condition, expression } = part {
                        mutants.insert((*condition, *expression));
                    }
                });
            }
        }
        for part in &certificate.state {
            let (instance, decision, mutant) = match part.place {
                Place::Reached { instance, decision, .. }
                | Place::Outcome { instance, decision, .. } => (instance, decision, None),
                Place::Mutant { instance, decision, condition, expression, .. } => {
                    (instance, decision, Some((condition, expression)))
                }
                _ => continue,
            };
            let Some(instance) = unfolding.instances.get(instance) else { continue };
            let mutant = mutant.filter(|mutant| is_truth_value(instance, mutant.1));
            let of_function = watched.entry(instance.function).or_default();
            of_function.entry(decision).or_default().extend(mutant);
        }
        self.watched = watched;
    }

    /// The mutants of a decision that is watched.
    fn mutants(&self, function: FuncId, decision: u32) -> Option<&BTreeSet<Mutant>> {
        self.watched.get(&function)?.get(&decision)
    }

    /// The parts of the state that are kept of a decision of an instance.
    fn notes_on(
        &self,
        unfolding: &Unfolding<'_>,
        (instance, decision): (usize, u32),
    ) -> Vec<Place> {
        let content = &unfolding.instances[instance];
        let Some(mutants) = self.mutants(content.function, decision) else { return Vec::new() };
        let found = content.body.decisions.get(DecisionId::from_index(decision as usize));
        let Some(found) = found else { return Vec::new() };
        let mut all = Vec::new();
        for condition in 0..found.conditions.len() as u32 {
            all.push(Place::Reached { instance, decision, condition });
            all.push(Place::Outcome { instance, decision, condition });
            for (_, expression) in mutants.iter().filter(|mutant| mutant.0 == condition) {
                for value in [true, false] {
                    let expression = *expression;
                    all.push(Place::Mutant { instance, decision, condition, expression, value });
                }
            }
        }
        all
    }

    fn notes_of(&self, unfolding: &Unfolding<'_>) -> BTreeSet<Place> {
        let mut notes = BTreeSet::new();
        for (instance, content) in unfolding.instances.iter().enumerate() {
            for decision in self.watched.get(&content.function).into_iter().flat_map(BTreeMap::keys)
            {
                notes.extend(self.notes_on(unfolding, (instance, *decision)));
            }
        }
        for (flag, content) in self.objectives.flags.iter().enumerate() {
            let instances = unfolding.instances.iter().enumerate();
            let function = self.function_of(&content.label);
            match content.scope {
                Scope::Run => _ = notes.insert(flag_of(None, flag)),
                Scope::Activation => notes.extend(
                    instances
                        .filter(|(_, instance)| instance.function == function)
                        .map(|(instance, _)| flag_of(Some(instance), flag)),
                ),
            }
        }
        notes
    }

    /// The place of a flag in an instance.
    fn flag(&self, instance: usize, flag: usize) -> Place {
        match self.objectives.flags[flag].scope {
            Scope::Activation => flag_of(Some(instance), flag),
            Scope::Run => flag_of(None, flag),
        }
    }
}

const fn flag_of(instance: Option<usize>, flag: usize) -> Place {
    Place::Flag { instance, flag: flag as u32 }
}

/// Whether a function has a place.
fn is_there(body: &Body, place: Moment) -> bool {
    let block_of = |block: u32| body.blocks.get(BlockId::from_index(block as usize));
    let decision_of = |decision: u32| body.decisions.get(DecisionId::from_index(decision as usize));
    match place {
        Moment::Start | Moment::Entry => true,
        Moment::Block(block) | Moment::Terminator(block) => block_of(block).is_some(),
        Moment::Edge { block, way } => {
            block_of(block).is_some_and(|block| way < ways_of(&block.term))
        }
        Moment::Statement(stmt) => body.stmts.get(StmtId::from_index(stmt as usize)).is_some(),
        Moment::Decision(decision) => decision_of(decision).is_some(),
        Moment::Condition { decision, condition } => {
            let condition = ConditionId::from_index(condition as usize);
            decision_of(decision)
                .is_some_and(|decision| decision.conditions.get(condition).is_some())
        }
    }
}

/// The number of ways out of a terminator.
fn ways_of(terminator: &Terminator) -> u32 {
    let mut ways = 0;
    terminator.for_each_successor(|_| ways += 1);
    ways
}
