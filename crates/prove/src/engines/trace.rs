//! Runs of a system that lead to a goal.

use lydian_ir::interp::memory::NULL_PAGE;
use lydian_smt::{Evaluator, Limits, Model, Term, TermPool, Value};

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

/// The numbers that are tried in place of others, in this order. One comes first: a count or a length of
/// one leaves an element to look at.
const SMALL: [u64; 4] = [1, 0, 2, u64::MAX];
/// Numbers up to this one, and down to its negative, are small.
const MOST_SMALL: u64 = 16;
/// Wider numbers may be addresses.
const WIDEST: u32 = 32;
/// The first address that is tried in place of a number that is none, and the distance to the next.
const ADDRESSES: (u64, u64) = (1 << 36, 1 << 24);

impl Trace {
    /// A run to the same goal on the same way with values that a program would rather have, where that is
    /// possible: small numbers, and addresses apart from each other. Within limits, and after so many tries
    /// at most.
    pub fn made_ordinary(
        self,
        pool: &mut TermPool,
        system: &System,
        goal: GoalId,
        (limits, mut tries): (&Limits, usize),
    ) -> Self {
        let mut run = self;
        let mut address = ADDRESSES.0;
        let places = std::iter::once(None).chain((0..run.steps.len()).map(Some));
        for place in places {
            let model = place.map_or(&run.initial, |at: usize| &run.steps[at].values);
            let all: Vec<(Term, Value)> =
                model.iter().map(|(symbol, value)| (symbol, value.clone())).collect();
            for (symbol, value) in all {
                let is_chosen = place.is_none() || !system.is_variable(symbol);
                address += ADDRESSES.1;
                for other in others(&value, address).into_iter().filter(|_| is_chosen) {
                    if tries == 0 || limits.expired() {
                        return run;
                    }
                    tries -= 1;
                    let Self { mut initial, mut steps } = run.clone();
                    let model = place.map_or(&mut initial, |at| &mut steps[at].values);
                    *model = model.with([(symbol, other)]);
                    if let Some(found) = (Course { initial, steps }).replayed(pool, system, goal) {
                        run = found;
                        break;
                    }
                }
            }
        }
        run
    }
}

/// Values that may take the place of one: of a number that is large or zero, and of a null address.
fn others(value: &Value, address: u64) -> Vec<Value> {
    let Value::Bits { width, value } = *value else { return Vec::new() };
    let mask = u64::MAX >> (64 - width);
    if width == 64 && value < NULL_PAGE {
        return vec![Value::Bits { width, value: address }];
    }
    if !(8..=WIDEST).contains(&width) {
        return Vec::new();
    }
    let is_large = value.min(value.wrapping_neg() & mask) > MOST_SMALL;
    let count = if is_large { SMALL.len() } else { usize::from(value == 0) };
    SMALL[..count].iter().map(|small| Value::Bits { width, value: small & mask }).collect()
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
