//! Runs of a system that lead to a goal.

use lydian_smt::{Evaluator, Model, Term, TermPool, Value};

use crate::system::{Goal, GoalId, System};

/// The way that a run takes from a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A transition, by its position in the system.
    Transition(usize),
    /// An approach, by its position in the goal. It is the last step.
    Approach(usize),
}

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// The way from the point where the step begins.
    pub choice: Choice,
    /// The value of each variable before the step, and of each input that the step reads.
    pub values: Model,
}

/// A run from the entry to a goal.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The values of the inputs in `System::initial` and `System::assumed`.
    pub initial: Model,
    /// The steps in order. The last is an approach of the goal.
    pub steps: Vec<Step>,
}

/// The choices of a run, from which everything else of it follows.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The values of the initial inputs.
    pub(crate) initial: Model,
    /// The steps in order; each with the values of its inputs.
    pub(crate) steps: Vec<Step>,
}

impl Trace {
    /// Whether this is a run of the system that ends in the goal.
    pub fn leads_to(&self, pool: &mut TermPool, system: &System, goal: GoalId) -> bool {
        let steps = self.steps.clone();
        let course = Course { initial: self.initial.clone(), steps };
        let Some(replayed) = course.replayed(pool, system, goal) else { return false };
        let symbols: Vec<Term> = system.symbols().collect();
        let same = |ours: &Step, theirs: &Step| {
            symbols.iter().all(|symbol| ours.values.get(*symbol) == theirs.values.get(*symbol))
        };
        self.steps.len() == replayed.steps.len()
            && self.steps.iter().zip(&replayed.steps).all(|(ours, theirs)| same(ours, theirs))
    }
}

impl Course {
    /// The run with the values of all symbols, if it is one and ends in the goal.
    pub(crate) fn replayed(
        &self,
        pool: &mut TermPool,
        system: &System,
        goal: GoalId,
    ) -> Option<Trace> {
        let mut replay =
            Replay { pool, system, goal: &system.goals[goal], evaluator: Evaluator::new() };
        let mut state = replay.initial(&self.initial)?;
        let mut point = system.entry;
        let mut steps = Vec::new();
        for step in &self.steps {
            let values = replay.values(&state, step);
            steps.push(Step { choice: step.choice, values: values.clone() });
            match step.choice {
                Choice::Transition(index) => {
                    let transition = system.transitions.get(index)?;
                    let taken = transition.from == point && replay.holds(&values, transition.guard);
                    taken.then_some(())?;
                    state = replay.all(&values, &transition.next);
                    point = transition.to;
                }
                Choice::Approach(index) => {
                    let approach = system.goals[goal].approaches.get(index)?;
                    let there = approach.from == point && replay.holds(&values, approach.condition);
                    return there.then_some(Trace { initial: self.initial.clone(), steps });
                }
            }
        }
        None
    }
}

/// Follows a run by evaluation.
struct Replay<'a> {
    pool: &'a mut TermPool,
    system: &'a System,
    goal: &'a Goal,
    evaluator: Evaluator,
}

impl Replay<'_> {
    fn holds(&mut self, values: &Model, term: Term) -> bool {
        self.evaluator.holds(self.pool, values, term)
    }

    fn all(&mut self, values: &Model, terms: &[Term]) -> Vec<Value> {
        terms.iter().map(|term| self.evaluator.eval(self.pool, values, *term)).collect()
    }

    /// The state at the entry, if the initial inputs are possible.
    fn initial(&mut self, inputs: &Model) -> Option<Vec<Value>> {
        self.holds(inputs, self.system.assumed).then(|| self.all(inputs, &self.system.initial))
    }

    /// The values of a step's symbols: those of the variables, and those of the inputs that it reads.
    fn values(&mut self, state: &[Value], step: &Step) -> Model {
        let system = self.system;
        let read: Vec<Term> = match step.choice {
            Choice::Transition(index) => {
                system.transitions.get(index).map_or(vec![], |taken| taken.terms().collect())
            }
            Choice::Approach(index) => {
                self.goal.approaches.get(index).map(|way| way.condition).into_iter().collect()
            }
        };
        let mut values = Vec::new();
        for term in read {
            for symbol in self.pool.vars_of(term).iter() {
                values.push((*symbol, self.evaluator.eval(self.pool, &step.values, *symbol)));
            }
        }
        let variables = system.symbols();
        values.extend(variables.zip(state.iter().cloned()));
        Model::from_values(values)
    }
}
