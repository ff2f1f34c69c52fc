//! Suite minimisation: chooses few tests that together cover everything that all tests cover.
//!
//! This is the set cover problem. First, forced steps are taken: a test that alone covers an
//! objective is chosen, a test that covers no more than another one is dropped, and so is an
//! objective that every test covers which covers some other objective. If at most [`MOST_EXACT`]
//! tests remain, the exact minimum is searched by branch and bound. Otherwise, or if the search takes
//! too long, tests are chosen greedily, always the one that adds most, and superfluous ones are
//! dropped.
//!
//! The chosen tests cover everything that all tests cover. Of equal tests the first is chosen, so the
//! same input gives the same suite.

use std::collections::{BTreeMap, BTreeSet};

/// The most tests, after forced steps, for which the minimum is searched.
pub const MOST_EXACT: usize = 25;
/// The number of choices after which the search for the minimum is given up.
const MOST_CHOICES: u64 = 200_000;

/// The effort to make a suite small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// All tests are kept.
    None,
    /// Greedily.
    Greedy,
    /// The minimum, if it is found in little time.
    #[default]
    Exact,
}

/// Chooses tests that together cover everything that all tests cover. Returns their positions, in
/// order. `covered` has the objectives of each test, in any order.
pub fn minimise(covered: &[Vec<u32>], effort: Effort) -> Vec<usize> {
    if effort == Effort::None {
        return (0..covered.len()).collect();
    }
    let mut problem = Problem::new(covered);
    problem.reduce();
    let mut chosen = problem.greedy();
    let rest = problem.tests.iter().filter(|test| !test.open.is_empty()).count();
    if effort == Effort::Exact && rest <= MOST_EXACT && chosen.len() > 1 {
        let mut search = Search { best: chosen, choices: 0 };
        search.cover(&problem.tests, &mut Vec::new());
        chosen = search.best;
    }
    chosen.extend(problem.taken);
    chosen.sort_unstable();
    chosen
}

/// A test, with the open objectives that it covers.
#[derive(Clone)]
struct Test {
    position: usize,
    open: BTreeSet<u32>,
}

struct Problem {
    /// The chosen tests, without which something is not covered.
    taken: Vec<usize>,
    /// The others.
    tests: Vec<Test>,
}

impl Problem {
    fn new(covered: &[Vec<u32>]) -> Self {
        let tests = covered
            .iter()
            .enumerate()
            .map(|(position, covered)| Test { position, open: covered.iter().copied().collect() });
        Self { taken: Vec::new(), tests: tests.collect() }
    }

    /// Takes forced steps until there are none.
    fn reduce(&mut self) {
        loop {
            self.drop_useless();
            let before = (self.taken.len(), self.tests.len());
            self.take_essential();
            self.drop_useless();
            self.drop_implied_objectives();
            if before == (self.taken.len(), self.tests.len()) {
                return;
            }
        }
    }

    /// Drops tests that cover no more than another; of those that cover the same the first stays.
    fn drop_useless(&mut self) {
        let mut covering: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, test) in self.tests.iter().enumerate() {
            test.open.iter().for_each(|one| covering.entry(*one).or_default().push(at));
        }
        let is_useless = |at: usize| {
            let own = &self.tests[at].open;
            // A test that covers as much covers the objective that the fewest tests cover.
            let rarest = own.iter().map(|one| &covering[one]).min_by_key(|tests| tests.len());
            rarest.is_none_or(|tests| {
                tests.iter().any(|other| {
                    let others = &self.tests[*other].open;
                    let is_more =
                        others.len() > own.len() || others.len() == own.len() && *other < at;
                    is_more && own.is_subset(others)
                })
            })
        };
        let useless: Vec<bool> = (0..self.tests.len()).map(is_useless).collect();
        let mut useless = useless.into_iter();
        self.tests.retain(|_| !useless.next().expect("one for each test"));
    }

    /// Takes tests that alone cover something.
    fn take_essential(&mut self) {
        let essential = |test: &Test, tests: &[Test]| {
            test.open.iter().any(|objective| {
                tests.iter().filter(|other| other.open.contains(objective)).count() == 1
            })
        };
        while let Some(at) =
            (0..self.tests.len()).find(|at| essential(&self.tests[*at], &self.tests))
        {
            let test = self.tests.remove(at);
            self.taken.push(test.position);
            for other in &mut self.tests {
                other.open.retain(|objective| !test.open.contains(objective));
            }
            self.tests.retain(|other| !other.open.is_empty());
        }
    }

    /// Drops objectives that every test covers which covers some other objective.
    fn drop_implied_objectives(&mut self) {
        let all: BTreeSet<u32> = self.tests.iter().flat_map(|test| &test.open).copied().collect();
        let covering = |objective: u32| -> Vec<usize> {
            let tests = self.tests.iter().enumerate();
            tests.filter(|(_, test)| test.open.contains(&objective)).map(|(at, _)| at).collect()
        };
        let sets: Vec<(u32, Vec<usize>)> = all.iter().map(|one| (*one, covering(*one))).collect();
        let mut implied = BTreeSet::new();
        for (objective, tests) in &sets {
            let by_another = sets.iter().any(|(other, of_other)| {
                other != objective
                    && !implied.contains(other)
                    && of_other.iter().all(|test| tests.contains(test))
            });
            if by_another {
                implied.insert(*objective);
            }
        }
        for test in &mut self.tests {
            test.open.retain(|objective| !implied.contains(objective));
        }
    }

    /// The positions of tests that cover the open objectives, always the test that adds most, without
    /// those that later ones made superfluous.
    fn greedy(&self) -> Vec<usize> {
        let mut open: BTreeSet<u32> = self.tests.iter().flat_map(|t| &t.open).copied().collect();
        let mut chosen: Vec<&Test> = Vec::new();
        while !open.is_empty() {
            let gain = |test: &&Test| test.open.intersection(&open).count();
            let Some(best) = self.tests.iter().rev().max_by_key(gain) else { break };
            open.retain(|objective| !best.open.contains(objective));
            chosen.push(best);
        }
        for at in (0..chosen.len()).rev() {
            let others = || chosen.iter().enumerate().filter(|(other, _)| *other != at);
            let superfluous = |objective| others().any(|(_, test)| test.open.contains(objective));
            if chosen[at].open.iter().all(superfluous) {
                chosen.remove(at);
            }
        }
        chosen.iter().map(|test| test.position).collect()
    }
}

/// Branch and bound.
struct Search {
    best: Vec<usize>,
    choices: u64,
}

impl Search {
    /// Covers the open objectives of some tests by few of them, in addition to those that were chosen
    /// before.
    fn cover(&mut self, tests: &[Test], chosen: &mut Vec<usize>) {
        self.choices += 1;
        if self.choices > MOST_CHOICES {
            return;
        }
        let open: BTreeSet<u32> = tests.iter().flat_map(|test| &test.open).copied().collect();
        if open.is_empty() {
            if chosen.len() < self.best.len() {
                self.best.clone_from(chosen);
            }
            return;
        }
        let most = tests.iter().map(|test| test.open.len()).max().unwrap_or(1);
        if chosen.len() + open.len().div_ceil(most) >= self.best.len() {
            return;
        }
        // Some test must cover the objective that the fewest tests cover.
        let covering =
            |objective: &u32| tests.iter().filter(|t| t.open.contains(objective)).count();
        let Some(hardest) = open.iter().min_by_key(|objective| covering(objective)) else { return };
        let mut candidates: Vec<&Test> =
            tests.iter().filter(|test| test.open.contains(hardest)).collect();
        candidates.sort_by_key(|test| std::cmp::Reverse(test.open.len()));
        for candidate in candidates {
            let rest = tests.iter().filter(|test| test.position != candidate.position);
            let rest: Vec<Test> = rest
                .map(|test| Test {
                    position: test.position,
                    open: test.open.difference(&candidate.open).copied().collect(),
                })
                .filter(|test| !test.open.is_empty())
                .collect();
            // The candidate must cover the objectives that no other test covers, or this is no
            // solution.
            chosen.push(candidate.position);
            self.cover(&rest, chosen);
            chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;

    use super::*;

    fn union(covered: &[Vec<u32>], chosen: &[usize]) -> BTreeSet<u32> {
        chosen.iter().flat_map(|at| &covered[*at]).copied().collect()
    }

    #[test]
    fn the_minimum_is_smaller_than_what_greed_finds() {
        // The largest test fits neither half.
        let covered = vec![vec![1, 2, 3, 4], vec![1, 2, 5], vec![3, 4, 6], vec![5], vec![6]];
        assert_eq!(minimise(&covered, Effort::Exact), [1, 2]);
        assert_eq!(minimise(&covered, Effort::None), [0, 1, 2, 3, 4]);
        let (a, b): (Vec<u32>, Vec<u32>) =
            ((0..14).step_by(2).collect(), (1..14).step_by(2).collect());
        let greedy = vec![(0..8).collect(), (8..12).collect(), vec![12, 13], a, b];
        assert_eq!(minimise(&greedy, Effort::Exact), [3, 4]);
    }

    #[test]
    fn what_all_tests_cover_stays_covered_and_no_smaller_suite_covers_it() {
        let mut rng = Rng::new(7);
        for round in 0..200 {
            let tests = 1 + rng.below(10) as usize;
            let covered: Vec<Vec<u32>> =
                (0..tests).map(|_| (0..12).filter(|_| rng.below(3) == 0).collect()).collect();
            let all: Vec<usize> = (0..tests).collect();
            let wanted = union(&covered, &all);
            let (exact, greedy) =
                (minimise(&covered, Effort::Exact), minimise(&covered, Effort::Greedy));
            assert_eq!(union(&covered, &exact), wanted, "round {round}: {covered:?}");
            assert_eq!(union(&covered, &greedy), wanted, "round {round}: {covered:?}");
            let least = (0u32..1 << tests)
                .filter(|set| {
                    let of_set: Vec<usize> =
                        all.iter().copied().filter(|at| set >> at & 1 == 1).collect();
                    union(&covered, &of_set) == wanted
                })
                .map(u32::count_ones)
                .min();
            assert_eq!(Some(exact.len() as u32), least, "round {round}: {covered:?}");
            assert!(greedy.len() >= exact.len());
        }
    }
}
