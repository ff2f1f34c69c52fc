//! The runs of tests on mutants.
//!
//! Each mutant meets the tests that infect it, the fastest first, until one fails. Mutants are shared
//! out among threads one by one; their outcomes do not depend on the order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lydian_base::CancelToken;
use lydian_mutate::results::{Failure, MutationResults, Outcome};
use lydian_mutate::{MUTANT_VARIABLE, Mutant};
use rustc_hash::FxHashMap;

use super::kept::{Dependences, KeptResults, run_key};
use super::progress::Progress;
use super::records::Records;
use super::repeated::{At, changes};
use super::serving::TestServers;
use super::{MutationTask, Target};
use crate::error::Error;
use crate::events::Observer;
use crate::generation::workers;

pub(crate) struct Schedule<'a> {
    pub(crate) target: &'a Target,
    pub(crate) records: &'a Records,
    pub(crate) task: &'a MutationTask,
    pub(crate) kept: Option<KeptRuns<'a>>,
    /// When no further mutant is begun.
    pub(crate) end: Option<Instant>,
}

/// The results of earlier runs of the tests.
pub(crate) struct KeptRuns<'a> {
    pub(crate) results: &'a KeptResults,
    /// The keys of the tests: what they depend on, but for the mutant.
    pub(crate) tests: Vec<String>,
    /// The keys of the units.
    pub(crate) units: Dependences<'a>,
}

impl KeptRuns<'_> {
    fn key(&self, test: usize, of: &Waiting<'_>) -> String {
        run_key(&self.tests[test], self.units.unit(of.unit), of.mutant)
    }
}

/// A mutant that waits for its runs, with the position of its unit.
#[derive(Clone, Copy)]
struct Waiting<'r> {
    unit: usize,
    mutant: &'r Mutant,
}

/// What the runs of tests on a mutant tell.
#[derive(Default)]
struct Found {
    reached_by: Vec<String>,
    infected_by: Vec<String>,
    killed_by: Vec<String>,
    outcome: Option<Outcome>,
}

/// The groups in an order in which the first mutant of each line comes before the second of any. So what is
/// done when the time is over is spread over the program.
fn spread(mut groups: Vec<Vec<(usize, usize, Mutant)>>) -> Vec<Vec<(usize, usize, Mutant)>> {
    let mut seen: FxHashMap<(usize, u32), usize> = FxHashMap::default();
    let mut rank = |group: &[(usize, usize, Mutant)]| {
        let first = group.first().map(|(unit, _, mutant)| (*unit, mutant.start.line));
        let count = seen.entry(first.unwrap_or_default()).or_default();
        *count += 1;
        *count
    };
    let ranks: Vec<usize> = groups.iter().map(|group| rank(group)).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|at| ranks[*at]);
    order.into_iter().map(|at| std::mem::take(&mut groups[at])).collect()
}

impl Schedule<'_> {
    /// Runs the tests on all mutants that have no outcome yet.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub(crate) fn run(
        &self,
        results: &mut MutationResults,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let runs = AtomicU64::new(0);
        let all: Vec<Vec<(usize, usize, Mutant)>> = {
            let own = |at: &(usize, usize)| &results.units[at.0].mutants[at.1];
            let pending = |at: &(usize, usize)| own(at).outcome == Outcome::Pending;
            let groups = changes(results).into_iter();
            let groups = groups.map(|all| all.into_iter().filter(pending).collect::<Vec<_>>());
            let groups = groups.filter(|all| !all.is_empty());
            let mutant = |at: (usize, usize)| (at.0, at.1, own(&at).mutant.clone());
            spread(groups.map(|all| all.into_iter().map(mutant).collect()).collect())
        };
        let kept = self.kept.as_ref().map(|kept| kept.results);
        let progress = Progress::new(observer, kept, all.iter().map(Vec::len).sum());
        let count = workers::count(Some(self.task.jobs), all.len());
        let threads = std::iter::repeat_with(TestServers::default).take(count).collect();
        let found = workers::work_on(&all, threads, cancel, |group, servers| {
            let found = self.group(group, servers, &runs, cancel);
            let has_outcome = |outcome: &Outcome| *outcome != Outcome::Pending;
            let done = found.iter().filter(|(_, it)| it.outcome.as_ref().is_some_and(has_outcome));
            let killed = found.iter().filter(|(_, it)| !it.killed_by.is_empty());
            progress.add(done.count(), killed.count());
            Ok(found)
        })?;
        progress.end();
        for ((unit, at), found) in found.done.into_iter().flat_map(|(_, found)| found) {
            let result = &mut results.units[unit].mutants[at];
            result.reached_by = found.reached_by;
            result.infected_by = found.infected_by;
            result.killed_by = found.killed_by;
            result.outcome = found.outcome.unwrap_or(Outcome::Pending);
        }
        results.runs = runs.into_inner();
        results.micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Finds the outcomes of the mutants of one change of a file. Where one is killed, others need not run.
    fn group(
        &self,
        group: &[(usize, usize, Mutant)],
        servers: &mut TestServers,
        runs: &AtomicU64,
        cancel: &CancelToken,
    ) -> Vec<(At, Found)> {
        let mut all: Vec<(At, Found)> = Vec::new();
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return all;
        }
        for (unit, at, mutant) in group {
            let waiting = Waiting { unit: *unit, mutant };
            let is_killed = all.iter().any(|(_, found)| !found.killed_by.is_empty());
            let found = match is_killed && !self.task.all_tests {
                true => self.contacts(&waiting).0,
                false => self.mutant(&waiting, servers, runs, cancel),
            };
            all.push(((*unit, *at), found));
        }
        all
    }

    /// The tests that reach and infect a mutant; those that infect it by their positions, too.
    fn contacts(&self, of: &Waiting<'_>) -> (Found, Vec<usize>) {
        let tests = &self.target.tests;
        let contact = |test: &usize| self.records.contact(*test, of.unit, of.mutant.number);
        let name = |test: &usize| tests[*test].name.clone();
        let reached: Vec<usize> = (0..tests.len()).filter(|test| contact(test).reached).collect();
        let infected: Vec<usize> =
            reached.iter().copied().filter(|test| contact(test).infected).collect();
        let found = Found {
            reached_by: reached.iter().map(name).collect(),
            infected_by: infected.iter().map(name).collect(),
            ..Found::default()
        };
        (found, infected)
    }

    /// Finds the outcome of one mutant.
    fn mutant(
        &self,
        of: &Waiting<'_>,
        servers: &mut TestServers,
        runs: &AtomicU64,
        cancel: &CancelToken,
    ) -> Found {
        let (mut found, mut infected) = self.contacts(of);
        let outcome = match (found.reached_by.is_empty(), infected.is_empty()) {
            (true, _) => Outcome::NotReached,
            (false, true) => Outcome::NotInfected,
            (false, false) => {
                // Times differ from run to run, so a test that is known to fail need not be the fastest.
                infected.sort_by_key(|test| {
                    (!self.is_known_to_fail(*test, of), self.records.time(*test))
                });
                self.outcome(of, &infected, &mut found.killed_by, (servers, runs, cancel))
            }
        };
        found.outcome = Some(outcome);
        found
    }

    fn is_known_to_fail(&self, test: usize, of: &Waiting<'_>) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.results.is_failure(&kept.key(test, of)))
    }

    /// The outcome of running tests on a mutant: the first failure counts.
    fn outcome(
        &self,
        of: &Waiting<'_>,
        tests: &[usize],
        killed_by: &mut Vec<String>,
        (servers, runs, cancel): (&mut TestServers, &AtomicU64, &CancelToken),
    ) -> Outcome {
        let mut found = Outcome::Survived;
        for test in tests {
            let failure = match self.failure(of, *test, (&mut *servers, runs, cancel)) {
                Ok(failure) => failure,
                Err(without_result) => return without_result,
            };
            let Some(failure) = failure else { continue };
            let test = self.target.tests[*test].name.clone();
            killed_by.push(test.clone());
            if found == Outcome::Survived {
                found = Outcome::Killed { test, failure };
            }
            if !self.task.all_tests {
                break;
            }
        }
        found
    }

    /// How a test fails on a mutant, by an earlier run or by one now. An error is the outcome of a mutant
    /// that could not be run.
    fn failure(
        &self,
        of: &Waiting<'_>,
        test: usize,
        (servers, runs, cancel): (&mut TestServers, &AtomicU64, &CancelToken),
    ) -> Result<Option<Failure>, Outcome> {
        let kept = self.kept.as_ref().map(|kept| (kept.results, kept.key(test, of)));
        if let Some(known) = kept.as_ref().and_then(|(kept, key)| kept.run(key)) {
            return Ok(known);
        }
        runs.fetch_add(1, Ordering::Relaxed);
        let id = self.target.units[of.unit].id_of(of.mutant).to_string();
        let command = &self.target.tests[test];
        let (usual, limits) = (self.records.time(test), self.task.limits);
        let limit = usual * limits.factor + limits.more;
        let run = match servers.run(command, &id, (usual, limit), cancel) {
            Some(run) => Ok(run),
            None => command.run(Some((MUTANT_VARIABLE, &id)), limit, cancel),
        };
        if cancel.is_cancelled() {
            return Err(Outcome::Pending);
        }
        let failure = run.map_err(|error| Outcome::Invalid { reason: error.to_string() })?.failure;
        if let Some((kept, key)) = kept {
            kept.keep_run(key, failure);
        }
        Ok(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::some_mutant;
    use super::*;

    #[test]
    fn the_first_mutants_of_all_lines_come_first() {
        let on = |number, line| {
            let mut mutant = Mutant { number, ..some_mutant() };
            mutant.start.line = line;
            vec![(0, number as usize, mutant)]
        };
        let groups = vec![on(1, 3), on(2, 3), on(3, 3), on(4, 9), on(5, 9), on(6, 10)];
        let numbers = spread(groups).into_iter().map(|group| group[0].2.number);
        assert_eq!(numbers.collect::<Vec<_>>(), [1, 4, 6, 2, 5, 3]);
    }
}
