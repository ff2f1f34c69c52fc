//! Strong mutation: which mutants of a program its tests kill.
//!
//! [`MutationTask`] has what is mutated and how it is tested: a suite that Lydian wrote, or commands of
//! a project that is built with `lydian cc --mutants`. [`MutationTask::run`] makes sure that the tests
//! pass, records which mutants each test reaches and infects, runs the tests on the mutants, and
//! compares survivors with the original.

mod build;
mod commands;
pub(crate) mod comparison;
mod equivalence;
#[cfg(test)]
mod examples;
mod generation;
mod kept;
pub(crate) mod killing;
pub(crate) mod known_mutants;
pub(crate) mod patterns;
mod products;
mod progress;
mod records;
mod repeated;
mod schedule;
mod serving;
mod warnings;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Diagnostic};
use lydian_mutate::mutant::UnitMutants;
use lydian_mutate::results::{MutantResult, MutationResults, Outcome, UnitResults};
use lydian_native::cc::Store;

use crate::error::{Error, ErrorKind};
use crate::events::Observer;
use crate::files;
use crate::project::paths::canonical;
use crate::wrapper::MutantRequest;
use crate::wrapper::mutants::units_of;
use build::SuiteProgram;
use commands::TestCommand;
pub use equivalence::{EquivalenceProver, ProofAttempts};
pub use generation::{KillerRequest, Killers};
use kept::{Dependences, KeptResults};
pub use lydian_mutate::{Mutant, Operator, Pattern, mutant, report, results};
pub use patterns::patterns;
pub use products::ProductProver;
use records::Records;
use repeated::Repeated;
use schedule::{KeptRuns, Schedule};
use warnings::warn;

/// A request for the mutants that tests kill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationTask {
    /// The C files with mutants. None for all that the builds of a project compiled.
    pub files: Vec<PathBuf>,
    /// The tests.
    pub tests: MutationTests,
    /// The operators.
    pub operators: Vec<Operator>,
    /// The user's own operators, for suites. A project's build reads them from the settings itself.
    pub patterns: Vec<Pattern>,
    /// The functions with mutants; none for all.
    pub functions: Vec<String>,
    /// How many tests run at once.
    pub jobs: NonZeroUsize,
    /// Whether all tests that infect a mutant run on it, and not only until one kills it.
    pub all_tests: bool,
    /// A test's time on a mutant: so many times that on the original, and the least of it.
    pub limits: TimeLimits,
    /// The time for running tests on mutants; none for no limit. Mutants that are left have no outcome, and a
    /// later run goes on with them.
    pub run_time: Option<Duration>,
    /// The file with results of earlier runs, which are taken over where nothing that they depend on
    /// changed, and which gets those of this run. None for none.
    pub kept: Option<PathBuf>,
    /// Whether tests that fail without any mutant are left out, with a warning, and do not end the task, nor
    /// does a suite without tests that can be run.
    pub leaves_out_failing: bool,
}

/// The tests of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutationTests {
    /// A suite that Lydian wrote.
    Suite {
        /// Its folder.
        folder: PathBuf,
        /// The compiler's flags.
        flags: Vec<String>,
    },
    /// Commands of a project.
    Commands {
        /// The command that builds the project, if the tests do not.
        build: Option<String>,
        /// The commands that test it, each of which is one test.
        tests: Vec<String>,
        /// The store of the build.
        store: PathBuf,
        /// `lydian cc` as words of a shell.
        compiler: String,
    },
}

/// Limits of a test's time on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// The factor over the original's time.
    pub factor: u32,
    /// What is added.
    pub more: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self { factor: 5, more: Duration::from_millis(500) }
    }
}

/// Where the program with all mutants is, and how it is tested.
pub(crate) struct Target {
    pub(crate) units: Vec<UnitMutants>,
    pub(crate) tests: Vec<TestCommand>,
    /// A folder that stays as long as the program is needed.
    _place: Option<tempfile::TempDir>,
}

impl Target {
    /// Leaves out tests that fail without any mutant.
    fn leave_out_failing(
        &mut self,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut passing = Vec::new();
        for test in std::mem::take(&mut self.tests) {
            match commands::check_passes(&test, cancel) {
                Ok(_) => passing.push(test),
                Err(error) if error.kind == ErrorKind::Usage => {
                    let said: Vec<&str> =
                        error.diagnostics.iter().map(|it| it.message.as_str()).collect();
                    warn(observer, format!("{}; it is left out", said.join("; ")));
                }
                Err(error) => return Err(error),
            }
        }
        self.tests = passing;
        Ok(())
    }
}

impl MutationTask {
    /// Runs the tests on the mutants. `keeps` says which mutants are asked for, beside the files and
    /// functions; it gets each with the whole path of its file. What is found until `cancel` is in the results.
    ///
    /// # Errors
    /// A program that does not build, a suite that fails without any mutant, and files without mutants.
    pub fn run(
        &self,
        keeps: &dyn Fn(&Mutant) -> bool,
        prover: &dyn EquivalenceProver,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<MutationResults, Error> {
        let kept = self.kept.as_deref().map(KeptResults::read);
        let kept = kept.as_ref();
        let (mut results, repeated) = self.kills_with(kept, keeps, cancel, observer)?;
        let compare = |results: &mut MutationResults| {
            equivalence::leave_out(results, prover, kept, cancel, observer);
        };
        compare(&mut results);
        repeated.check(&mut results, compare);
        kept.map_or(Ok(()), KeptResults::write)?;
        Ok(results)
    }

    /// The same without a comparison of the mutants that are alive with the original, and without results
    /// of other runs.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub(crate) fn kills(
        &self,
        keeps: &dyn Fn(&Mutant) -> bool,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<MutationResults, Error> {
        Ok(self.kills_with(None, keeps, cancel, observer)?.0)
    }

    fn kills_with(
        &self,
        kept: Option<&KeptResults>,
        keeps: &dyn Fn(&Mutant) -> bool,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<(MutationResults, Repeated), Error> {
        let mut target = self.target(cancel, observer)?;
        self.check_files(&target)?;
        if self.leaves_out_failing {
            target.leave_out_failing(cancel, observer)?;
        }
        let place = files::temporary_folder()?;
        let records = Records::make(&target, place.path(), cancel, observer)?;
        let mut results = self.asked_for(&target, keeps);
        results.tests = records.tests();
        let kept_runs = kept.map(|kept| self.kept_runs(kept, &target));
        let end = self.run_time.map(|time| Instant::now() + time);
        let schedule =
            Schedule { target: &target, records: &records, task: self, kept: kept_runs, end };
        schedule.run(&mut results, cancel, observer)?;
        // What comes after it takes time, too.
        kept.map_or(Ok(()), KeptResults::write_so_far)?;
        let repeated = repeated::fold(&mut results);
        results.taken_over = kept.map_or(0, KeptResults::taken);
        results.all_tests = self.all_tests;
        if self.all_tests {
            results.mark_subsumed();
        }
        Ok((results, repeated))
    }

    /// Results of earlier runs of the tests, with the keys of what these depend on.
    fn kept_runs<'a>(&self, results: &'a KeptResults, target: &'a Target) -> KeptRuns<'a> {
        let units = Dependences::of(&target.units);
        let limits = self.limits;
        let key = |test: &TestCommand| {
            let (own, scripts) = (units.key(test.root().as_deref()), test.scripts());
            let more = format!("{own} {} {limits:?} {scripts}", test.name);
            blake3::hash(more.as_bytes()).to_hex()[..24].to_owned()
        };
        let tests = target.tests.iter().map(key).collect();
        KeptRuns { results, tests, units }
    }

    fn target(&self, cancel: &CancelToken, observer: &dyn Observer) -> Result<Target, Error> {
        match &self.tests {
            MutationTests::Suite { folder, flags } => {
                let request = MutantRequest {
                    files: self.files.clone(),
                    operators: self.operators.clone(),
                    patterns: Some(self.patterns.clone()),
                };
                let built = SuiteProgram::build(folder, flags, request, observer)?;
                let store = Store::at(built.place.path().join("store"));
                let tests = built.tests()?;
                if tests.is_empty() && !self.leaves_out_failing {
                    return Err(Error::usage("suite", "the suite has no tests that can be run"));
                }
                Ok(Target { units: units_of(&store), tests, _place: Some(built.place) })
            }
            MutationTests::Commands { build, tests, store, compiler } => {
                let variables =
                    [("CC", compiler.clone()), ("LYDIAN_DIR", store.display().to_string())];
                if let Some(build) = build {
                    build::of_project(build, &variables, observer)?;
                }
                let tests: Vec<TestCommand> =
                    tests.iter().map(|test| TestCommand::shell(test, &variables)).collect();
                // The first run of the tests may build what they test.
                tests.iter().try_for_each(|test| commands::check_passes(test, cancel).map(drop))?;
                Ok(Target { units: units_of(&Store::at(store)), tests, _place: None })
            }
        }
    }

    /// Makes sure that each file has mutants.
    fn check_files(&self, target: &Target) -> Result<(), Error> {
        for unit in &target.units {
            for (function, reason) in &unit.left_out {
                let what = format!("`{function}` has no mutants: {reason}");
                log::info!("{what}");
            }
        }
        let has = |file: &Path| target.units.iter().any(|unit| has_file(unit, file));
        match self.files.iter().find(|file| !has(file)) {
            _ if target.units.iter().all(|unit| unit.mutants.is_empty()) => {
                let what = "the program has no mutants";
                let error = Diagnostic::error("mutants", what);
                Err(Error::new(ErrorKind::Unsupported, error)
                    .note("a project is to be compiled with `lydian cc --mutants`, as $CC says"))
            }
            Some(file) => Err(Error::source(
                "mutants",
                format!("{} has no mutants in the tested program", file.display()),
            )),
            None => Ok(()),
        }
    }

    /// The mutants that are asked for, none of which was run.
    fn asked_for(&self, target: &Target, keeps: &dyn Fn(&Mutant) -> bool) -> MutationResults {
        let files: Vec<PathBuf> = self.files.iter().map(|file| canonical(file)).collect();
        let is_asked = |mutant: &Mutant| {
            let file = Path::new(&mutant.file);
            let of_file = files.is_empty() || files.iter().any(|own| own == file);
            let of_function =
                self.functions.is_empty() || self.functions.contains(&mutant.function);
            of_file && of_function && self.operators.contains(&mutant.operator) && keeps(mutant)
        };
        let units = target.units.iter().map(|unit| {
            let all = unit.mutants.iter();
            let all = all.map(|mutant| Mutant { file: whole(unit, mutant), ..mutant.clone() });
            let mutants = all.filter(|mutant| is_asked(mutant)).map(|mutant| MutantResult {
                outcome: left_out(unit, &mutant).unwrap_or(Outcome::Pending),
                mutant,
                reached_by: Vec::new(),
                infected_by: Vec::new(),
                killed_by: Vec::new(),
                subsumed: false,
                generated: None,
                also_in: Vec::new(),
            });
            UnitResults { mutants: mutants.collect(), unit: unit.clone() }
        });
        MutationResults { units: units.collect(), ..MutationResults::default() }
    }
}

/// The outcome of a mutant whose function the compiler refuses.
fn left_out(unit: &UnitMutants, mutant: &Mutant) -> Option<Outcome> {
    if unit.refused.contains(&mutant.number) {
        let reason = "the compiler refuses its function with mutants by patterns".to_owned();
        return Some(Outcome::Invalid { reason });
    }
    let (_, reason) = unit.left_out.iter().find(|(name, _)| *name == mutant.function)?;
    Some(Outcome::Invalid { reason: reason.clone() })
}

/// The path of a mutant's file.
fn whole(unit: &UnitMutants, mutant: &Mutant) -> String {
    canonical(&unit.directory.join(&mutant.file)).display().to_string()
}

fn has_file(unit: &UnitMutants, file: &Path) -> bool {
    unit.mutants.iter().any(|mutant| same(&unit.directory.join(&mutant.file), file))
}

fn same(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    a == b || (whole(a).is_some() && whole(a) == whole(b))
}
