//! Many turns of a loop as one transition.
//!
//! Where a loop's turns take the same path again and again, and the path adds to its variables, the values
//! after *n* turns are known terms of *n* ([`forms`]), and so is the condition that each turn is possible.
//! Such a *jump* is one more transition, with *n* as an input. The unrolling of a system with jumps comes
//! in few layers to states behind thousands of turns (Kroening, Lewis and Weissenbacher:
//! *Under-Approximating Loops in C Programs for Fast Counterexample Detection*, 2013; closed forms as by
//! Bozga, Iosif and Konečný: *Fast Acceleration of Ultimately Periodic Relations*, 2010).
//!
//! A transition has several paths. Queries ask for those that are possible, one after the other. Inputs
//! have the same values in all turns of a jump. Sums wrap around; a comparison is only followed as long as
//! its sides do not leave their ranges.
//!
//! A jump has fewer runs than the loop. So jumps find runs, and states that refute guesses, and prove
//! nothing. A run with jumps is given with all its turns.

mod forms;
mod paths;
pub(crate) mod search;

use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Sort, Term, TermPool};

use crate::engines::acceleration::forms::{ClosedForms, before_last};
use crate::engines::acceleration::paths::Path;
use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::stage::Inputs;
use crate::engines::trace::{Choice, Course, Step};
use crate::system::{System, Transition};

/// The bits of a number of turns.
const TURN_BITS: u32 = 18;
/// The most turns of a whole run.
const MOST_TURNS: usize = 500_000;
/// The most paths of a transition that are looked at.
const MOST_PATHS: usize = 8;
/// The time of a query about paths.
const QUERY: Duration = Duration::from_millis(100);

/// A transition that is taken many times.
struct Jump {
    /// The position of the transition that each turn takes.
    transition: usize,
    /// The input that says how many turns.
    turns: Term,
}

/// A system with jumps.
pub(crate) struct Acceleration {
    /// The system. Its first transitions are those without jumps.
    system: System,
    /// The number of transitions that are no jumps.
    plain: usize,
    jumps: Vec<Jump>,
}

impl Acceleration {
    /// The system with jumps for its loops. The invariants hold in all states.
    pub(crate) fn of(queries: &mut Queries<'_>, system: &System, invariants: &Invariants) -> Self {
        let mut maker = Maker {
            inputs: Inputs::new(queries.pool, system).own().to_vec(),
            symbols: system.symbols().collect(),
            system,
            invariants,
            made: Self {
                system: system.clone(),
                plain: system.transitions.len(),
                jumps: Vec::new(),
            },
        };
        for (index, transition) in system.transitions.iter().enumerate() {
            if transition.from == transition.to {
                maker.accelerate(queries, index);
            }
        }
        maker.made
    }

    /// A run with each turn of its jumps; none if these are too many.
    fn in_turns(&self, pool: &TermPool, course: &Course) -> Option<Course> {
        let mut evaluator = Evaluator::new();
        let mut steps: Vec<Step> = Vec::new();
        for step in &course.steps {
            let Choice::Transition(index) = step.choice else {
                steps.push(step.clone());
                continue;
            };
            let (choice, turns) = match index.checked_sub(self.plain) {
                None => (step.choice, 1),
                Some(jump) => {
                    let Jump { transition, turns } = self.jumps.get(jump)?;
                    let turns = evaluator.eval_u64(pool, &step.values, *turns);
                    (Choice::Transition(*transition), usize::try_from(turns).ok()?)
                }
            };
            (steps.len() + turns <= MOST_TURNS).then_some(())?;
            let turn = Step { choice, values: step.values.clone() };
            steps.extend(std::iter::repeat_n(turn, turns));
        }
        Some(Course { initial: course.initial.clone(), steps })
    }
}

/// Adds jumps to a system.
struct Maker<'a> {
    system: &'a System,
    symbols: Vec<Term>,
    inputs: Vec<Term>,
    invariants: &'a Invariants,
    made: Acceleration,
}

impl Maker<'_> {
    /// Adds jumps for the paths of a transition from a point to itself.
    fn accelerate(&mut self, queries: &mut Queries<'_>, index: usize) {
        let transition = &self.system.transitions[index];
        let mut queries = queries.at_most(QUERY);
        let mut query = self.invariants[transition.from.index()].clone();
        query.push(transition.guard);
        for _ in 0..MOST_PATHS {
            if queries.expired() {
                return;
            }
            let Answer::Sat(model) = queries.check(&query) else { return };
            let Some(path) = Path::of(queries.pool, &model, transition) else { return };
            let all = queries.pool.and_all(path.literals.iter().copied());
            query.push(queries.pool.not(all));
            if let Some((jump, turns)) = self.jump(&mut queries, index, &path) {
                self.made.system.transitions.push(jump);
                self.made.jumps.push(Jump { transition: index, turns });
            }
        }
    }

    /// Many turns along a path, and the symbol for their number.
    fn jump(
        &self,
        queries: &mut Queries<'_>,
        index: usize,
        path: &Path,
    ) -> Option<(Transition, Term)> {
        let pool = &mut *queries.pool;
        let mut forms = ClosedForms::of(pool, &self.symbols, &path.next, &self.inputs);
        forms.has_growth().then_some(())?;
        let turns = pool.fresh_var("turns", Sort::BitVec(TURN_BITS));
        let two = pool.bv(TURN_BITS, 2);
        let mut guard = vec![pool.ule(two, turns)];
        for literal in &path.literals {
            guard.push(match forms.holds_during(queries.pool, *literal, turns) {
                Some(holds) => holds,
                None if self.is_kept(queries, path, *literal) => *literal,
                None => return None,
            });
        }
        let pool = &mut *queries.pool;
        let next = self.after(pool, &forms, path, turns)?;
        guard.push(forms.in_range(pool, turns));
        let point = self.system.transitions[index].from;
        let guard = pool.and_all(guard);
        Some((Transition { from: point, to: point, guard, next }, turns))
    }

    /// Whether a literal holds after a turn in which all did before.
    fn is_kept(&self, queries: &mut Queries<'_>, path: &Path, literal: Term) -> bool {
        let mut known = self.system.at(&path.next);
        let after = queries.pool.substituted(literal, &mut known);
        let mut query = path.literals.clone();
        query.push(queries.pool.not(after));
        queries.contradict(&query)
    }

    /// The values after some turns. Those that are set anew in each turn are the last turn's.
    fn after(
        &self,
        pool: &mut TermPool,
        forms: &ClosedForms,
        path: &Path,
        turns: Term,
    ) -> Option<Vec<Term>> {
        let mut at_end = forms.after(pool, turns);
        let last = before_last(pool, turns);
        let mut before = forms.after(pool, last);
        let mut next = Vec::new();
        for (symbol, value) in self.symbols.iter().zip(&path.next) {
            if forms.has(*symbol) {
                next.push(pool.substituted(*symbol, &mut at_end));
                continue;
            }
            let read = pool.vars_of(*value);
            read.iter().all(|symbol| forms.has(*symbol)).then_some(())?;
            next.push(pool.substituted(*value, &mut before));
        }
        Some(next)
    }
}
