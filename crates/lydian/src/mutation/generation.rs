//! Tests for the mutants that a user's tests leave alive.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_frontend::{ParseRequest, parse_unit};
use lydian_mutate::mutant::UnitMutants;
use lydian_mutate::results::{EquivalenceProof, MutationResults, Outcome, UnitResults};
use lydian_mutate::{Mutant, Operator};
use lydian_report::SuiteTest;
use lydian_symex::Config;

use super::kept::plain;
use super::killing::{KillRequest, Killing, StrongObjective, StrongVerdict};
use super::known_mutants::KnownMutants;
use super::patterns::patterns;
use super::products::includes;
use crate::error::Error;
use crate::events::Observer;
use crate::files;
use crate::measurement::compiled_program::Measurement;
use crate::measurement::{MeasurementOptions, confinement};
use crate::objectives::ObjectiveRequest;
use crate::project::paths::canonical;
use crate::project::{Project, UserBuild};
use crate::suite::{Suite, ownership};

const OTHERWISE_BUILT: &str =
    "equivalent as the flags after `--` compile the file, which its unit is not";

/// A request for tests that kill mutants.
#[derive(Clone, Debug)]
pub struct KillerRequest {
    /// The folder of the suite that is made.
    pub folder: PathBuf,
    /// The time for each function with such mutants.
    pub time: Duration,
    /// The operators.
    pub operators: Vec<Operator>,
    /// The number of threads; none for as many as there are cores.
    pub jobs: Option<NonZeroUsize>,
    /// Whether the user's tests are a suite, which is compiled with the project's flags. Units of a build may
    /// be compiled with others.
    pub of_suite: bool,
}

/// Tests that were made to kill mutants.
#[derive(Clone, Debug, Default)]
pub struct Killers {
    /// The tests, each with the mutants that it kills in [`SuiteTest::kept_for`].
    pub tests: Vec<SuiteTest>,
    /// The reasons for which mutants are neither killed nor known as equivalent, with their number.
    pub unknown: BTreeMap<String, usize>,
    /// Whether a test kills a mutant that is said to be equivalent: an internal error, which observers were
    /// told of.
    pub contradictory: bool,
}

impl KillerRequest {
    /// Makes sure that the folder's files may be written.
    ///
    /// # Errors
    /// Files of others in the folder.
    pub fn check(&self) -> Result<(), Error> {
        ownership::check(&self.folder, &Suite::files(&[]))
    }

    /// Makes tests for the mutants of a project's file that results have as alive, and writes them.
    /// Results are told which mutants they kill, and which are equivalent.
    ///
    /// # Errors
    /// A text that cannot be compiled, tests that cannot be run, a folder that cannot be written to.
    pub fn run(
        &self,
        project: &Project,
        results: &mut MutationResults,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Killers, Error> {
        project.require_x86_64()?;
        let alive = results.all().filter(|result| result.outcome.is_alive());
        let alive: BTreeMap<String, String> = alive
            .map(|result| (result.mutant.key.clone(), result.mutant.function.clone()))
            .collect();
        let mut functions: Vec<String> = alive.values().cloned().collect();
        functions.sort_unstable();
        functions.dedup();
        if alive.is_empty() {
            return Ok(Killers::default());
        }
        self.check()?;
        let objectives = project.objectives(&ObjectiveRequest::default(), observer)?;
        let options = MeasurementOptions::default();
        let confinement = confinement::confinement(options.confined, observer);
        let measurement = Measurement::new(project, &objectives, options, confinement);
        let compiled = measurement.begin();
        let build = compiled[0].get()?.build();
        let mut suite = Suite::default();
        let request = KillRequest {
            project,
            build,
            operators: &self.operators,
            patterns: &patterns(&project.request.configuration)?,
            functions,
            time: self.time,
            exploration: &Config { nice_values: true, ..Config::default() },
            jobs: self.jobs,
            cancel,
            observer,
        };
        let runner = &mut measurement.runner(&compiled);
        let asks = |mutant: &Mutant| alive.contains_key(&mutant.key);
        let known = &mut KnownMutants::new();
        let found = Killing { request, runner, suite: &mut suite, known }.run(&asks)?;
        files::folder(&self.folder)?;
        let written =
            suite.write(&self.folder, &project.build.file, project, build, &[], observer)?;
        files::files(&written)?;
        let unknown = tell(&found, results, &|unit| self.is_as_built(project, unit));
        let contradictory = found.iter().any(StrongObjective::is_contradictory);
        Ok(Killers { tests: suite.tests, unknown, contradictory })
    }
}

impl KillerRequest {
    /// Whether a unit is compiled as the project's file is, so that what is equivalent there is so here.
    fn is_as_built(&self, project: &Project, unit: &UnitMutants) -> bool {
        let UserBuild { file, flags, .. } = &project.build;
        if self.of_suite {
            return includes(unit, &canonical(file));
        }
        let parsed = parse_unit(&ParseRequest::new(file, flags.clone()));
        parsed.is_ok_and(|own| {
            own.flags.for_parsing().eq(unit.flags.iter().map(String::as_str))
                && plain(own.source.text()) == plain(&unit.text)
        })
    }
}

/// Tells results what became of mutants. Returns the reasons for which some are still alive. Arguments of
/// equivalence hold in units that are compiled in the same way.
fn tell(
    found: &[StrongObjective],
    results: &mut MutationResults,
    is_as_built: &dyn Fn(&UnitMutants) -> bool,
) -> BTreeMap<String, usize> {
    let verdicts: BTreeMap<&str, &StrongVerdict> =
        found.iter().map(|it| (it.mutant.key.as_str(), &it.verdict)).collect();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let alive = results.units.iter().enumerate().flat_map(|(at, of)| {
        let alive = of.mutants.iter().filter(|result| result.outcome.is_alive());
        alive.flat_map(move |result| result.also_in.iter().copied().chain([at]))
    });
    let alive: BTreeSet<usize> = alive.collect();
    let as_built: BTreeSet<usize> =
        alive.into_iter().filter(|at| is_as_built(&results.units[*at].unit)).collect();
    let all = results.units.iter_mut().enumerate().flat_map(|(at, UnitResults { mutants, .. })| {
        mutants.iter_mut().map(move |result| (at, result))
    });
    for (at, result) in all.filter(|(_, result)| result.outcome.is_alive()) {
        let is_same = result.also_in.iter().chain([&at]).all(|unit| as_built.contains(unit));
        let why = match verdicts.get(result.mutant.key.as_str()) {
            Some(StrongVerdict::Killed(test) | StrongVerdict::Contradictory(test)) => {
                result.generated = Some(test.clone());
                continue;
            }
            Some(StrongVerdict::Equivalent(_)) if !is_same => OTHERWISE_BUILT.to_owned(),
            Some(StrongVerdict::Equivalent(_)) => {
                result.outcome = Outcome::Equivalent { proof: EquivalenceProof::Proof };
                continue;
            }
            Some(StrongVerdict::EquivalentAsAssumed(assumed)) => {
                let all: Vec<String> = assumed.iter().map(ToString::to_string).collect();
                format!("equivalent as assumed: {}", all.join("; "))
            }
            Some(StrongVerdict::Unknown(reason)) => reason.clone(),
            None => "the mutant is not in the file as these flags compile it".to_owned(),
        };
        *unknown.entry(why).or_default() += 1;
    }
    unknown
}
