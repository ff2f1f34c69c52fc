//! The search for runs with jumps.

use lydian_base::EntityId as _;
use lydian_smt::Answer;

use crate::engines::acceleration::Acceleration;
use crate::engines::queries::Queries;
use crate::engines::sampling::Samples;
use crate::engines::trace::Course;
use crate::engines::unrolling::Unrolling;
use crate::system::GoalId;

/// An unrolling of a system with jumps.
pub(crate) struct JumpSearch<'s> {
    acceleration: &'s Acceleration,
    unrolling: Unrolling<'s>,
    /// By goal: the number of layers that were asked about.
    asked: Vec<usize>,
}

impl<'s> JumpSearch<'s> {
    /// A search of a system with jumps; none if it has no jumps.
    pub(crate) fn new(queries: &mut Queries<'_>, acceleration: &'s Acceleration) -> Option<Self> {
        (!acceleration.jumps.is_empty()).then(|| Self {
            acceleration,
            unrolling: Unrolling::from_entry(queries, &acceleration.system),
            asked: vec![0; acceleration.system.goals.len()],
        })
    }

    /// Goes on with the search up to a number of layers. Gives runs of the system without jumps to some of
    /// the goals, and keeps states behind jumps as samples.
    pub(crate) fn work(
        &mut self,
        queries: &mut Queries<'_>,
        (goals, layers): (&[GoalId], usize),
        samples: &mut Samples<'_>,
    ) -> Vec<(GoalId, Course)> {
        let mut found: Vec<(GoalId, Course)> = Vec::new();
        while !queries.expired() && !self.unrolling.is_over() {
            let depth = self.unrolling.depth();
            if depth > layers {
                break;
            }
            for goal in goals {
                if self.asked[goal.index()] > depth || found.iter().any(|(known, _)| known == goal)
                {
                    continue;
                }
                if let Some(course) = self.ask(queries, depth, *goal) {
                    found.push((*goal, course));
                }
                if queries.expired() {
                    return found;
                }
                self.asked[goal.index()] = depth + 1;
            }
            if found.len() == goals.len() {
                return found;
            }
            self.unrolling.extend(queries.pool);
            for model in self.unrolling.prune(queries) {
                if let Some((steps, _)) = self.unrolling.steps(queries.pool, &model, depth + 1) {
                    samples.keep_deep_run(queries.pool, (&self.acceleration.system, &steps));
                }
            }
        }
        found
    }

    /// A run that reaches a goal from a layer.
    fn ask(&mut self, queries: &mut Queries<'_>, depth: usize, goal: GoalId) -> Option<Course> {
        let mut query = self.unrolling.assumed().to_vec();
        query.push(self.unrolling.goal(queries.pool, depth, goal));
        let Answer::Sat(model) = queries.check(&query) else { return None };
        let course = self.unrolling.course(queries.pool, &model, depth, goal)?;
        self.acceleration.in_turns(queries.pool, &course)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::slicing::Slice;
    use crate::engines::testing::search::bits;
    use crate::engines::testing::{Fixture, random_loop, sliced, solver, system};

    /// The layers of a search.
    const LAYERS: usize = 5;

    /// The number of turns of the runs that jumps find, by goal. Each is replayed.
    fn found(fixture: &mut Fixture) -> Vec<Option<usize>> {
        let goals = fixture.goals();
        let Fixture { pool, system } = fixture;
        let slice = Slice::new(pool, system, &goals);
        let (mut solver, limits) = (solver(), Limits::none());
        let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
        let none = vec![Vec::new(); system.points.len()];
        let acceleration = Acceleration::of(&mut queries, &slice.system, &none);
        let mut samples = Samples::new(queries.pool, &slice.system);
        let mut found = vec![None; goals.len()];
        let ids: Vec<GoalId> = slice.system.goals.ids().collect();
        let Some(mut search) = JumpSearch::new(&mut queries, &acceleration) else { return found };
        for (goal, course) in search.work(&mut queries, (&ids, LAYERS), &mut samples) {
            let whole = slice.course_of_whole(queries.pool, &course, goal).expect("it is one");
            let at = goals[goal.index()];
            assert!(whole.replayed(queries.pool, system, at).is_some());
            found[goal.index()] = Some(course.steps.len());
        }
        found
    }

    fn is_found(text: &str) -> bool {
        found(&mut system(32, text)) != [None]
    }

    #[test]
    fn runs_of_thousands_of_turns_are_found() {
        let counter = "vars i n
            start i = 0
            p0 -> p1
            p1 -> p1 if i < n: i := i + 1
            p1 -> !bad if i == 30000";
        assert!(is_found(counter));
        let sum = "vars i n s
            start i = 0, s = 0
            p0 -> p1
            p1 -> p1 if i <=u n: i := i + 1, s := s + i
            p1 -> !bad if i >u n && s != (n * (n + 1)) / 2 && s != 0";
        assert!(is_found(sum));
        let unequal = "vars i s
            start i = 0, s = 0
            p0 -> p1
            p1 -> p1 if i != 40000: i := i + 4, s := s + 3
            p1 -> !bad if s == 30000";
        assert!(is_found(unequal));
    }

    #[test]
    fn phases_of_a_loop_follow_each_other() {
        let phases = "vars x y
            start x = 0, y = 0
            p0 -> p1
            p1 -> p1 if x < 5000: x := x + 1
            p1 -> p1 if x >= 5000 && x < 9000: x := x + 2, y := y + x
            p1 -> !bad if x >= 9000 && y != 0";
        assert!(is_found(phases));
    }

    #[test]
    fn no_goal_is_found_that_comparisons_which_wrap_around_seem_to_allow() {
        // After 2^31 turns `i` would be negative, and the loop would go on.
        let wrapping = "vars i
            start i = 2147483600
            p0 -> p1
            p1 -> p1 if i > 0: i := i + 1
            p1 -> !bad if i > 0 && i < 100";
        assert!(!is_found(wrapping));
    }

    #[test]
    fn states_behind_jumps_are_reachable_in_random_loops() {
        let (mut jumps, mut kept) = (0, 0);
        for seed in 7000..8200 {
            let (mut fixture, reached) = sliced(random_loop(seed));
            let goals = fixture.goals();
            let Fixture { pool, system } = &mut fixture;
            let (mut solver, limits) = (solver(), Limits::none());
            let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
            let none = vec![Vec::new(); system.points.len()];
            let acceleration = Acceleration::of(&mut queries, system, &none);
            jumps += acceleration.jumps.len();
            let mut samples = Samples::new(queries.pool, system);
            let search = JumpSearch::new(&mut queries, &acceleration);
            let Some(mut search) = search else { continue };
            for (goal, course) in search.work(&mut queries, (&goals, LAYERS), &mut samples) {
                assert!(reached.goals.contains_key(&goal), "seed {seed}");
                assert!(course.replayed(queries.pool, system, goal).is_some(), "seed {seed}");
            }
            for point in system.points.ids() {
                for state in samples.of(point) {
                    let state = state.iter().map(bits).collect();
                    assert!(reached.states.contains(&(point, state)), "seed {seed}");
                    kept += 1;
                }
            }
        }
        assert!(jumps > 100 && kept > 250, "{jumps} jumps, {kept} states");
    }
}
