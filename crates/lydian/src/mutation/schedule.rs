//! The runs of tests on mutants.
//!
//! Each mutant meets the tests that infect it, the fastest first, until one fails. Mutants are shared
//! out among threads one by one; their outcomes do not depend on the order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use lydian_base::CancelToken;
use lydian_mutate::MUTANT_VARIABLE;
use lydian_mutate::results::{MutantResult, MutationResults, Outcome};

use super::kept::{KeptResults, run_key};
use super::records::Records;
use super::{MutationTask, Target};

pub(crate) struct Schedule<'a> {
    pub(crate) target: &'a Target,
    pub(crate) records: &'a Records,
    pub(crate) task: &'a MutationTask,
    pub(crate) kept: &'a KeptResults,
    /// The keys of the tests: what they depend on, but for the mutant.
    pub(crate) keys: Vec<String>,
}

/// A mutant that waits for its runs.
struct Waiting<'r> {
    unit: usize,
    result: &'r mut MutantResult,
}

impl Schedule<'_> {
    /// Runs the tests on all mutants that have no outcome yet.
    pub(crate) fn run(&self, results: &mut MutationResults, cancel: &CancelToken) {
        let begun = Instant::now();
        let runs = AtomicU64::new(0);
        let mut waiting: Vec<Mutex<Waiting<'_>>> = Vec::new();
        for (unit, of_unit) in results.units.iter_mut().enumerate() {
            let own = of_unit.mutants.iter_mut().filter(|it| it.outcome == Outcome::Pending);
            waiting.extend(own.map(|result| Mutex::new(Waiting { unit, result })));
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(mutant) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                if cancel.is_cancelled() {
                    break;
                }
                let mut mutant = mutant.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                self.mutant(&mut mutant, &runs, cancel);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.task.jobs.get().min(waiting.len()) {
                scope.spawn(work);
            }
            work();
        });
        drop(waiting);
        results.runs = runs.into_inner();
        results.micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    /// Finds the outcome of one mutant.
    fn mutant(&self, of: &mut Waiting<'_>, runs: &AtomicU64, cancel: &CancelToken) {
        let number = of.result.mutant.number;
        let tests = &self.target.tests;
        let contact = |test: &usize| self.records.contact(*test, of.unit, number);
        let name = |test: usize| tests[test].name.clone();
        let reached: Vec<usize> = (0..tests.len()).filter(|test| contact(test).reached).collect();
        let mut infected: Vec<usize> =
            reached.iter().copied().filter(|test| contact(test).infected).collect();
        of.result.reached_by = reached.iter().map(|test| name(*test)).collect();
        of.result.infected_by = infected.iter().map(|test| name(*test)).collect();
        of.result.outcome = match (reached.is_empty(), infected.is_empty()) {
            (true, _) => Outcome::NotReached,
            (false, true) => Outcome::NotInfected,
            (false, false) => {
                infected.sort_by_key(|test| self.records.time(*test));
                self.outcome(of, &infected, runs, cancel)
            }
        };
    }

    /// The outcome of running tests on a mutant: the first failure counts.
    fn outcome(
        &self,
        of: &mut Waiting<'_>,
        tests: &[usize],
        runs: &AtomicU64,
        cancel: &CancelToken,
    ) -> Outcome {
        let id = self.target.units[of.unit].id_of(&of.result.mutant).to_string();
        let limits = self.task.limits;
        let mut found = Outcome::Survived;
        for test in tests {
            let command = &self.target.tests[*test];
            let limit = self.records.time(*test) * limits.factor + limits.more;
            let key = run_key(&self.keys[*test], &of.result.mutant);
            let failure = match self.kept.run(&key) {
                Some(known) => known,
                None => {
                    runs.fetch_add(1, Ordering::Relaxed);
                    let run = command.run(Some((MUTANT_VARIABLE, &id)), limit, cancel);
                    if cancel.is_cancelled() {
                        return Outcome::Pending;
                    }
                    match run {
                        Ok(run) => {
                            self.kept.keep_run(key, run.failure);
                            run.failure
                        }
                        Err(error) => return Outcome::Invalid { reason: error.to_string() },
                    }
                }
            };
            let Some(failure) = failure else { continue };
            of.result.killed_by.push(command.name.clone());
            if found == Outcome::Survived {
                found = Outcome::Killed { test: command.name.clone(), failure };
            }
            if !self.task.all_tests {
                break;
            }
        }
        found
    }
}
