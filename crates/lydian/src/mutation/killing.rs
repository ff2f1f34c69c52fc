//! Tests that kill mutants: strong mutation as a goal of generation.
//!
//! 1. The suite so far runs on all mutants, as `lydian mutate` runs it. What it kills needs nothing more.
//! 2. Of the others a few are explored together with the original ([`super::comparison`]), at first of
//!    different lines. A mutant that ends as the original does on all inputs is equivalent.
//! 3. Inputs that tell a mutant apart become tests with assertions about what the original does. They run
//!    on all mutants that are left, and a few of those that kill any stay.
//!
//! Steps 2 and 3 are repeated until each mutant is decided or was explored, or the time is over.
//! **Invariant:** a mutant is killed if a test of the suite, as it is written, fails on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Diagnostic};
use lydian_ir::test::Test;
use lydian_ledger::PortableTest;
use lydian_mutate::results::{EquivalenceProof, Failure, MutantResult, MutationResults, Outcome};
use lydian_mutate::{Mutant, Operator, Pattern};
use lydian_native::Build;
use lydian_objective::Assumption;
use lydian_report::SuiteTest;
use lydian_report::suite::names;
use lydian_symex::Config;

use super::comparison::ComparedProgram;
use super::equivalence::{self, EquivalenceProver, ProofAttempts};
use super::known_mutants::{KeptVerdict, KnownMutants, MutantRecord};
use super::{MutationTask, MutationTests, TimeLimits};
use crate::changes::second_runs::{Comparison, ComparisonVerdict, Effort};
use crate::error::Error;
use crate::events::{Observer, tell};
use crate::files;
use crate::generation::workers;
use crate::measurement::test_runner::TestRunner;
use crate::project::Project;
use crate::suite::{KeptTest, Suite};

/// The mutants of the first round; each round has twice as many as the one before.
const FIRST_ROUND: usize = 8;
/// The share (one n-th) of a function's time that the exploration of one mutant may take.
const SHARE: u32 = 8;
/// The most tests that are asked for one mutant.
const MOST_TESTS: usize = 4;
/// The most mutants that are named for one line.
const MOST_NAMED: usize = 3;
/// The least time for the exploration of one mutant.
const LEAST: Duration = Duration::from_millis(500);

/// A request for tests that kill mutants.
pub(crate) struct KillRequest<'a> {
    pub(crate) project: &'a Project,
    /// The compiled program's undefined names.
    pub(crate) build: &'a Build,
    pub(crate) operators: &'a [Operator],
    pub(crate) patterns: &'a [Pattern],
    /// The functions whose mutants are to be killed.
    pub(crate) functions: Vec<String>,
    /// The time for each function.
    pub(crate) time: Duration,
    pub(crate) exploration: &'a Config,
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    pub(crate) cancel: &'a CancelToken,
    pub(crate) observer: &'a dyn Observer,
}

/// A mutant with its verdict.
pub(crate) struct StrongObjective {
    pub(crate) mutant: Mutant,
    pub(crate) verdict: StrongVerdict,
}

/// The verdict on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StrongVerdict {
    /// This test kills it.
    Killed(String),
    /// It does what the original does on all inputs. The argument.
    Equivalent(&'static str),
    /// The same, under assumptions.
    EquivalentAsAssumed(Vec<Assumption>),
    /// Neither is known, for this reason.
    Unknown(String),
    /// It is said to be equivalent, and this test kills it: an internal error.
    Contradictory(String),
}

impl StrongVerdict {
    /// The verdict after the suite, as it is written, ran on the mutant; none if it stays. Where runs may be
    /// slow, one that is too long is no contradiction.
    fn with_the_suite(&self, outcome: &Outcome) -> Option<Self> {
        match (self, outcome) {
            (Self::Killed(_), Outcome::Killed { .. }) => None,
            (Self::Killed(_), Outcome::Pending) => Some(Self::Unknown(INTERRUPTED.to_owned())),
            (Self::Killed(_), Outcome::Invalid { reason }) => Some(Self::Unknown(reason.clone())),
            (Self::Killed(_), _) => Some(Self::Unknown(NOT_ALWAYS.to_owned())),
            (_, Outcome::Killed { failure: Failure::Timeout, .. }) => None,
            // An assumption does not hold on the test's inputs.
            (Self::EquivalentAsAssumed(_), Outcome::Killed { test, .. }) => {
                Some(Self::Killed(test.clone()))
            }
            (_, Outcome::Killed { test, .. }) => Some(Self::Contradictory(test.clone())),
            _ => None,
        }
    }
}

impl StrongObjective {
    /// Whether it is said to be equivalent, and a test kills it.
    pub(crate) const fn is_contradictory(&self) -> bool {
        matches!(self.verdict, StrongVerdict::Contradictory(_))
    }

    fn tell_contradiction(&self, observer: &dyn Observer) {
        if self.is_contradictory() {
            let Mutant { function, name, file, start, .. } = &self.mutant;
            let what = format!(
                "{file}:{}: {function}: {name} is said to be equivalent, and a test kills it",
                start.line
            );
            tell(observer, &[Diagnostic::error("contradiction", what)]);
        }
    }
}

/// The search for tests.
pub(crate) struct Killing<'a, 'r, 'm> {
    pub(crate) request: KillRequest<'a>,
    pub(crate) runner: &'r mut TestRunner<'m>,
    pub(crate) suite: &'r mut Suite,
    /// What earlier runs found; at the end, what is known now.
    pub(crate) known: &'r mut KnownMutants,
}

/// The mutants that are not decided yet, and the verdicts on the others, by their keys.
struct Progress {
    mutants: Vec<Mutant>,
    keys: BTreeSet<String>,
    verdicts: BTreeMap<String, StrongVerdict>,
    explored: BTreeSet<String>,
    /// Whether the code of mutants was compared with the original's.
    is_compared: bool,
    end: Instant,
}

/// Inputs on which a mutant should differ, the last one to be tried first.
struct Candidates {
    mutant: Mutant,
    tests: Vec<Test>,
}

/// The argument of an exploration of both versions for all inputs.
pub(super) const EXPLORED: &str = "complete exploration of both";
const NOT_ALWAYS: &str =
    "a test fails on it at times: it reads memory that has no value, or its behaviour is undefined";
const INTERRUPTED: &str = "interrupted before the suite ran on it";
const NO_TIME: &str = "time limit: the mutant was not explored";
const UNCONFIRMED: &str =
    "inputs on which it should differ were found, but no test with them fails on it";

impl Killing<'_, '_, '_> {
    /// Adds tests to the suite. Returns the mutants that `asks` for, with their verdicts.
    ///
    /// # Errors
    /// A text that cannot be compiled, and tests that cannot be run.
    pub(crate) fn run(
        &mut self,
        asks: &dyn Fn(&Mutant) -> bool,
    ) -> Result<Vec<StrongObjective>, Error> {
        let KillRequest { project, operators, patterns, .. } = self.request;
        let Some(compared) = ComparedProgram::load(project, operators, patterns)? else {
            return Ok(Vec::new());
        };
        let is_meant =
            |mutant: &&Mutant| self.request.functions.contains(&mutant.function) && asks(mutant);
        let mutants: Vec<Mutant> = compared.mutants.iter().filter(is_meant).cloned().collect();
        if mutants.is_empty() {
            return Ok(Vec::new());
        }
        // A program that is tested as a whole has one time for all of its functions.
        let count = match project.entry() {
            Some(_) => 1,
            None => u32::try_from(self.request.functions.len()).unwrap_or(u32::MAX),
        };
        let end = Instant::now() + self.request.time.saturating_mul(count);
        let mut progress = Progress {
            keys: mutants.iter().map(|mutant| mutant.key.clone()).collect(),
            mutants,
            verdicts: BTreeMap::new(),
            explored: BTreeSet::new(),
            is_compared: false,
            end,
        };
        if !self.suite.tests.is_empty() {
            let known = Suite { apart: true, ..self.suite.clone() };
            let mut results =
                self.results(&known, &|mutant| progress.is_open(&mutant.key), false)?;
            self.compare_code(&mut results, &mut progress);
            progress.learn(&results);
        }
        self.take_known(&mut progress)?;
        let mut size = FIRST_ROUND;
        while !self.request.cancel.is_cancelled() && Instant::now() < progress.end {
            let round = progress.next_round(size);
            if round.is_empty() {
                break;
            }
            let found = self.explore(&compared, &round, progress.end)?;
            self.take(&round, found, &mut progress)?;
            size *= 2;
        }
        self.keep_known(&progress);
        self.confirm(&mut progress)?;
        let objectives = progress.into_objectives();
        objectives.iter().for_each(|objective| objective.tell_contradiction(self.request.observer));
        Ok(objectives)
    }

    /// Runs the tests that earlier runs made, and takes over what their explorations found of mutants that
    /// these tests leave.
    fn take_known(&mut self, progress: &mut Progress) -> Result<(), Error> {
        let types = &self.request.project.program.types;
        let known: Vec<Test> = self
            .known
            .values()
            .flat_map(|of| &of.tests)
            .filter_map(|test| test.to_test(types))
            .collect();
        let mut candidates = Vec::new();
        for test in known {
            if !self.suite.tests.iter().any(|own| own.test == test) {
                let name = names::of_test(&test.function, "kills_mutants");
                candidates.extend(KeptTest::with_assertions(self.runner, test, name)?);
            }
        }
        if !candidates.is_empty() {
            self.keep_killers(candidates, progress)?;
        }
        for (key, verdict) in self.known.values().flat_map(|of| &of.verdicts) {
            let is_left = progress.keys.contains(key) && !progress.verdicts.contains_key(key);
            if let Some(verdict) = verdict.within(self.request.time).filter(|_| is_left) {
                progress.explored.insert(key.clone());
                progress.verdicts.insert(key.clone(), verdict);
            }
        }
        Ok(())
    }

    /// Notes for later runs the tests of the suite that kill mutants, and what explorations found.
    fn keep_known(&mut self, progress: &Progress) {
        let (time, types) = (self.request.time, &self.request.project.program.types);
        self.known.clear();
        let is_program = self.request.project.entry().is_some();
        for (at, function) in self.request.functions.iter().enumerate() {
            let killers = self.suite.tests.iter().filter(|test| test.thorough);
            // The first function has the tests of a program.
            let own = killers.filter(|test| match is_program {
                true => at == 0,
                false => test.test.function == *function,
            });
            let tests = own.map(|test| PortableTest::new(&test.test, types)).collect();
            let mut record = MutantRecord { tests, ..MutantRecord::default() };
            for mutant in progress.mutants.iter().filter(|mutant| mutant.function == *function) {
                let explored = progress.explored.contains(&mutant.key);
                let verdict = progress.verdicts.get(&mutant.key).filter(|_| explored);
                let kept = verdict.and_then(|verdict| KeptVerdict::of(verdict, time));
                record.verdicts.extend(kept.map(|kept| (mutant.key.clone(), kept)));
            }
            self.known.insert(function.clone(), record);
        }
    }

    /// Runs the suite as it is written on all mutants that are decided: on those that tests of it kill, and
    /// on those that are said to be equivalent.
    fn confirm(&self, progress: &mut Progress) -> Result<(), Error> {
        if self.suite.tests.is_empty() || self.request.cancel.is_cancelled() {
            return Ok(());
        }
        let is_decided = |mutant: &Mutant| {
            let verdict = progress.verdicts.get(&mutant.key);
            verdict.is_some_and(|verdict| !matches!(verdict, StrongVerdict::Unknown(_)))
        };
        let results = self.results(self.suite, &is_decided, false)?;
        for result in results.all() {
            let Some(verdict) = progress.verdicts.get_mut(&result.mutant.key) else { continue };
            if let Some(now) = verdict.with_the_suite(&result.outcome) {
                *verdict = now;
            }
        }
        Ok(())
    }

    /// Compares the code of the mutants that are alive with the original's, once.
    fn compare_code(&self, results: &mut MutationResults, progress: &mut Progress) {
        if !std::mem::replace(&mut progress.is_compared, true) {
            let KillRequest { cancel, observer, .. } = &self.request;
            equivalence::leave_out(results, &NoProver, None, cancel, *observer);
        }
    }

    /// Explores mutants, several at a time.
    fn explore(
        &self,
        compared: &ComparedProgram,
        round: &[Mutant],
        end: Instant,
    ) -> Result<Vec<(usize, Comparison)>, Error> {
        let KillRequest { project, time, exploration, jobs, cancel, .. } = &self.request;
        let own = CancelToken::new();
        let threads = vec![(); workers::count(*jobs, round.len())];
        let results = workers::work_on(round, threads, &own, |mutant, ()| {
            let left = end.saturating_duration_since(Instant::now());
            let time = (*time / SHARE).max(LEAST).min(left);
            if cancel.is_cancelled() || left.is_zero() {
                return Ok(None);
            }
            let effort = Effort { time, tests: MOST_TESTS };
            Ok(Some(compared.compare(mutant, &project.program, exploration, effort, cancel)))
        })?;
        if let Some(failure) = results.failure {
            return Err(failure);
        }
        Ok(results.done.into_iter().filter_map(|(at, found)| Some((at, found?))).collect())
    }

    /// Takes the findings of a round: verdicts, and tests that run on all mutants that are left.
    fn take(
        &mut self,
        round: &[Mutant],
        found: Vec<(usize, Comparison)>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let mut all = Vec::new();
        for (at, Comparison { mut tests, verdict, .. }) in found {
            let mutant = round[at].clone();
            progress.explored.insert(mutant.key.clone());
            let verdict = match verdict {
                ComparisonVerdict::Differs => StrongVerdict::Unknown(UNCONFIRMED.to_owned()),
                ComparisonVerdict::Same(assumed) if assumed.is_empty() => {
                    StrongVerdict::Equivalent(EXPLORED)
                }
                ComparisonVerdict::Same(assumed) => StrongVerdict::EquivalentAsAssumed(assumed),
                ComparisonVerdict::Unknown(reason) => StrongVerdict::Unknown(reason),
            };
            progress.verdicts.insert(mutant.key.clone(), verdict);
            tests.reverse();
            all.push(Candidates { mutant, tests });
        }
        while all.iter().any(|of| !of.tests.is_empty()) && !self.request.cancel.is_cancelled() {
            let mut tests = Vec::new();
            for of in &mut all {
                if progress.is_open(&of.mutant.key)
                    && let Some(test) = of.tests.pop()
                {
                    tests.extend(self.candidate(&of.mutant, test)?);
                }
            }
            all.retain(|of| progress.is_open(&of.mutant.key));
            if !tests.is_empty() {
                self.keep_killers(tests, progress)?;
            }
        }
        Ok(())
    }

    /// A test with assertions; none if the original does not end well on it, or not in a defined way.
    fn candidate(&mut self, mutant: &Mutant, test: Test) -> Result<Option<KeptTest>, Error> {
        if self.suite.tests.iter().any(|known| known.test == test) {
            return Ok(None);
        }
        log::debug!("inputs for {} on line {}: {test:?}", mutant.name, mutant.start.line);
        let words = format!("kills_{}_line_{}", mutant.operator, mutant.start.line);
        let name = names::of_test(&mutant.function, &words.to_ascii_lowercase());
        KeptTest::with_assertions(self.runner, test, name)
    }

    /// Runs candidates on the mutants that are left, and adds a few to the suite that together kill all that
    /// any of them kills.
    fn keep_killers(
        &mut self,
        candidates: Vec<KeptTest>,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let mut trial = Suite { tests: Vec::new(), names: self.suite.names.clone(), apart: true };
        trial.add(&self.request.project.program, candidates);
        trial.tests.iter_mut().for_each(|test| test.thorough = true);
        let mut results = self.results(&trial, &|mutant| progress.is_open(&mutant.key), true)?;
        self.compare_code(&mut results, progress);
        progress.learn(&results);
        for (name, killed) in chosen_killers(&trial, &results) {
            let Some(test) = trial.tests.iter().find(|test| test.name == name) else { continue };
            let (covers, kept_for) = (covered(&killed), reasons(&killed));
            self.suite.tests.push(SuiteTest { covers, kept_for, ..test.clone() });
            self.suite.names.insert(name.clone());
            for mutant in killed {
                let verdict = StrongVerdict::Killed(name.clone());
                progress.verdicts.insert(mutant.key.clone(), verdict);
            }
        }
        Ok(())
    }

    /// Runs a suite on the mutants that are not decided: until a test kills a mutant, or all tests.
    fn results(
        &self,
        suite: &Suite,
        is_open: &dyn Fn(&Mutant) -> bool,
        all_tests: bool,
    ) -> Result<MutationResults, Error> {
        let KillRequest {
            project, build, operators, patterns, functions, cancel, observer, ..
        } = &self.request;
        let place = files::temporary_folder()?;
        let written =
            suite.write(place.path(), &project.build.file, project, build, &[], *observer)?;
        files::files(&written)?;
        let task = MutationTask {
            files: vec![project.build.file.clone()],
            tests: MutationTests::Suite {
                folder: place.path().to_owned(),
                flags: project.build.flags.for_preprocessing().map(str::to_owned).collect(),
            },
            operators: operators.to_vec(),
            patterns: patterns.to_vec(),
            functions: functions.clone(),
            jobs: std::num::NonZeroUsize::new(workers::jobs(self.request.jobs))
                .unwrap_or(std::num::NonZeroUsize::MIN),
            all_tests,
            limits: TimeLimits::default(),
            run_time: None,
            kept: None,
            leaves_out_failing: true,
        };
        task.kills(is_open, cancel, *observer)
    }
}

/// Tests that together kill all mutants that any test kills, each with those that no test before it kills:
/// by turns the one that kills most of the rest.
fn chosen_killers<'r>(
    suite: &Suite,
    results: &'r MutationResults,
) -> Vec<(String, Vec<&'r Mutant>)> {
    let mut left: Vec<&MutantResult> =
        results.all().filter(|result| !result.killed_by.is_empty()).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let kills = |name: &String| left.iter().filter(|it| it.killed_by.contains(name)).count();
        let names = suite.tests.iter().map(|test| &test.name).rev();
        let Some(best) = names.max_by_key(|name| kills(name)) else { break };
        let (killed, rest): (Vec<&MutantResult>, Vec<&MutantResult>) =
            left.into_iter().partition(|it| it.killed_by.contains(best));
        if killed.is_empty() {
            break;
        }
        left = rest;
        chosen.push((best.clone(), killed.into_iter().map(|it| &it.mutant).collect()));
    }
    chosen
}

/// The objectives of a test, in words.
fn covered(killed: &[&Mutant]) -> Vec<String> {
    killed.iter().map(|mutant| format!("sm: {}", mutant.name)).collect()
}

/// The same by the lines of the source, for its reader.
fn reasons(killed: &[&Mutant]) -> Vec<String> {
    let mut lines: BTreeMap<(&str, u32), Vec<&str>> = BTreeMap::new();
    for mutant in killed {
        let names = lines.entry((&mutant.file, mutant.start.line)).or_default();
        if !names.contains(&mutant.name.as_str()) {
            names.push(&mutant.name);
        }
    }
    let line = |((file, line), names): ((&str, u32), Vec<&str>)| {
        let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let more = match names.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names[..names.len().min(MOST_NAMED)].join(", ");
        format!("{file}:{line}: kills {names}{more}")
    };
    lines.into_iter().map(line).collect()
}

/// No proofs: complete explorations have their place in the rounds.
struct NoProver;

impl EquivalenceProver for NoProver {
    fn effort(&self) -> String {
        "code alone".to_owned()
    }

    fn time(&self) -> Duration {
        Duration::ZERO
    }

    fn equivalent(
        &self,
        _: &super::mutant::UnitMutants,
        _: &[&Mutant],
        _: &CancelToken,
    ) -> ProofAttempts {
        ProofAttempts::default()
    }
}

impl Progress {
    /// Whether a mutant is neither killed nor equivalent, as far as is known.
    fn is_open(&self, key: &str) -> bool {
        self.keys.contains(key)
            && matches!(self.verdicts.get(key), None | Some(StrongVerdict::Unknown(_)))
    }

    /// Takes the outcomes of runs.
    fn learn(&mut self, results: &MutationResults) {
        for result in results.all() {
            let verdict = match &result.outcome {
                Outcome::Killed { test, .. } => StrongVerdict::Killed(test.clone()),
                Outcome::Equivalent { proof: EquivalenceProof::SameCode } => {
                    StrongVerdict::Equivalent("same optimised code")
                }
                Outcome::Invalid { reason } => StrongVerdict::Unknown(reason.clone()),
                _ => continue,
            };
            self.verdicts.insert(result.mutant.key.clone(), verdict);
        }
    }

    /// The next mutants to be explored, of different lines as far as possible.
    fn next_round(&self, size: usize) -> Vec<Mutant> {
        let mut lines: BTreeMap<(&str, u32), Vec<&Mutant>> = BTreeMap::new();
        let open = self.mutants.iter().filter(|mutant| {
            !self.explored.contains(&mutant.key) && !self.verdicts.contains_key(&mutant.key)
        });
        for mutant in open {
            lines.entry((&mutant.function, mutant.start.line)).or_default().push(mutant);
        }
        let most = lines.values().map(Vec::len).max().unwrap_or(0);
        let by_turn =
            (0..most).flat_map(|turn| lines.values().filter_map(move |all| all.get(turn).copied()));
        by_turn.take(size).cloned().collect()
    }

    fn into_objectives(mut self) -> Vec<StrongObjective> {
        let verdicts = &mut self.verdicts;
        let objective = |mutant: Mutant| {
            let open = || StrongVerdict::Unknown(NO_TIME.to_owned());
            let verdict = verdicts.remove(&mutant.key).unwrap_or_else(open);
            StrongObjective { mutant, verdict }
        };
        self.mutants.into_iter().map(objective).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killed(failure: Failure) -> Outcome {
        Outcome::Killed { test: "t".to_owned(), failure }
    }

    #[test]
    fn a_test_that_breaks_the_assumption_of_an_equivalence_kills() {
        let verdict = StrongVerdict::EquivalentAsAssumed(Vec::new());
        let now = verdict.with_the_suite(&killed(Failure::Status(1)));
        assert_eq!(now, Some(StrongVerdict::Killed("t".to_owned())));
    }

    #[test]
    fn a_kill_contradicts_a_proof_unless_the_test_was_merely_slow() {
        let verdict = StrongVerdict::Equivalent("complete exploration of both");
        let now = verdict.with_the_suite(&killed(Failure::Signal(11)));
        assert_eq!(now, Some(StrongVerdict::Contradictory("t".to_owned())));
        assert_eq!(verdict.with_the_suite(&killed(Failure::Timeout)), None);
        assert_eq!(verdict.with_the_suite(&Outcome::Survived), None);
    }

    #[test]
    fn kills_that_an_interrupted_run_did_not_see_again_are_unknown_for_that_reason() {
        let verdict = StrongVerdict::Killed("t".to_owned());
        let why = |outcome: &Outcome| match verdict.with_the_suite(outcome) {
            Some(StrongVerdict::Unknown(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(&Outcome::Pending), INTERRUPTED);
        assert_eq!(why(&Outcome::Survived), NOT_ALWAYS);
        assert_eq!(why(&Outcome::Invalid { reason: "no".to_owned() }), "no");
        assert_eq!(verdict.with_the_suite(&killed(Failure::Timeout)), None);
    }
}
