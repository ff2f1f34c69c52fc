//! Proofs by looking at the transitions before a goal.
//!
//! k-induction (Sheeran, Singh and Stålmarck: *Checking Safety Properties Using Induction and a
//! SAT-Solver*, 2000), strengthened by invariants as by Donaldson, Haller, Kroening and Rümmer
//! (*Software Verification Using k-Induction*, 2011). The base case is the unrolling's.

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::unrolling::Unrolling;
use crate::system::{GoalId, System};
use lydian_base::EntityId as _;

/// Successive states from anywhere, which satisfy the invariants.
pub(crate) struct Induction<'s> {
    system: &'s System,
    invariants: Invariants,
    window: Option<Unrolling<'s>>,
}

impl<'s> Induction<'s> {
    /// For given invariants.
    pub(crate) fn new(system: &'s System, invariants: &Invariants) -> Self {
        Self { system, invariants: invariants.clone(), window: None }
    }

    /// Whether the last of `depth` states cannot be at the goal where those before are not.
    pub(crate) fn step(&mut self, queries: &mut Queries<'_>, goal: GoalId, depth: usize) -> bool {
        if depth == 1 { self.plain(queries, goal) } else { self.window(queries, goal, depth) }
    }

    /// Whether the invariants exclude the goal.
    fn plain(&self, queries: &mut Queries<'_>, goal: GoalId) -> bool {
        let approaches = self.system.goals[goal].approaches.iter();
        let mut later = approaches.filter(|approach| approach.from != self.system.entry);
        later.all(|approach| {
            let invariants = &self.invariants[approach.from.index()];
            queries.check_with(&[approach.condition], invariants).is_unsat()
        })
    }

    fn window(&mut self, queries: &mut Queries<'_>, goal: GoalId, depth: usize) -> bool {
        let (system, invariants) = (self.system, &self.invariants);
        let window = self
            .window
            .get_or_insert_with(|| Unrolling::from_anywhere(queries, system, invariants));
        while window.depth() + 1 < depth {
            if queries.expired() {
                return false;
            }
            window.extend(queries.pool);
        }
        let mut query = window.assumed().to_vec();
        for before in 0..depth - 1 {
            let reached = window.goal(queries.pool, before, goal);
            query.push(queries.pool.not(reached));
        }
        query.push(window.goal(queries.pool, depth - 1, goal));
        queries.contradict(&query)
    }
}
