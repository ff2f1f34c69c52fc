//! Proofs that a mutant of a function that only computes is equivalent, by products
//! ([`lydian_mutate::products`]).
//!
//! All products of a unit are one program, whose error calls the engines of proofs and the exploration
//! decide as those of any other. An error call that no run reaches is an equivalent mutant.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_mutate::mutant::{Mutant, UnitMutants};
use lydian_mutate::{Operator, products};
use lydian_symex::Config;

use super::comparison::{ComparedProgram, ComparisonVerdict, Effort};
use super::equivalence::EquivalenceProver;
use super::patterns::patterns_near;
use crate::error::Error;
use crate::events::Event;
use crate::generation::workers;
use crate::project::Project;
use crate::project::linked::LinkRequest;
use crate::project::paths::canonical;
use crate::project::request::ProjectRequest;
use crate::proving::{ErrorAnswer, ProofRequest, Proofs, Provers};

/// The most mutants of a product.
const MOST: usize = 40;
/// The share (one n-th) of a unit's time that the comparison of one mutant may take.
const SHARE: u32 = 8;

/// A prover that explores products: of functions that only compute as one program, and of others by second
/// runs ([`super::comparison`]).
#[derive(Clone, Debug)]
pub struct ProductProver {
    /// The time for each unit; with none, nothing is proved.
    pub time: Duration,
    /// The compiler's flags of the mutated files, where units are suites that include them.
    pub flags: Vec<String>,
}

impl EquivalenceProver for ProductProver {
    fn effort(&self) -> String {
        format!("products in {:?}", self.time)
    }

    fn equivalent(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        cancel: &CancelToken,
    ) -> BTreeSet<u32> {
        let end = Instant::now() + self.time;
        let (computing, others): (Vec<&Mutant>, Vec<&Mutant>) =
            mutants.iter().partition(|it| products::is_provable(unit, it));
        let mut found = BTreeSet::new();
        let mut parts = computing.len().div_ceil(MOST) as u32 + u32::from(!others.is_empty());
        for part in computing.chunks(MOST) {
            let left = end.saturating_duration_since(Instant::now()) / parts.max(1);
            parts -= 1;
            if left.is_zero() || cancel.is_cancelled() {
                return found;
            }
            match proved(unit, part, left, cancel) {
                Ok(equal) => found.extend(equal),
                Err(error) => log::info!("no proofs for {}: {error}", unit.source.display()),
            }
        }
        if !others.is_empty() && !cancel.is_cancelled() && Instant::now() < end {
            match self.compared(unit, &others, end, cancel) {
                Ok(equal) => found.extend(equal),
                Err(error) => log::info!("no comparisons of {}: {error}", unit.source.display()),
            }
        }
        found
    }
}

impl ProductProver {
    /// The mutants that do what the original does by complete explorations of both.
    fn compared(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        end: Instant,
        cancel: &CancelToken,
    ) -> Result<BTreeSet<u32>, Error> {
        let silent = |_: Event<'_>| {};
        let mut functions: Vec<String> = mutants.iter().map(|it| it.function.clone()).collect();
        functions.sort_unstable();
        functions.dedup();
        let files: BTreeSet<PathBuf> =
            mutants.iter().map(|it| canonical(&unit.directory.join(&it.file))).collect();
        let place = tempfile::tempdir().map_err(|error| {
            Error::environment("mutants", format!("no temporary folder: {error}"))
        })?;
        // A suite has definitions of its own of what the program leaves undefined.
        let is_suite = !files.contains(&canonical(&unit.source));
        let (file, flags) = match files.first() {
            Some(file) if is_suite && files.len() == 1 => (file.clone(), self.flags.clone()),
            _ => {
                let text = place.path().join("unit.c");
                let unwritten = |error: std::io::Error| {
                    Error::environment("mutants", format!("a text cannot be written: {error}"))
                };
                std::fs::write(&text, &unit.text).map_err(unwritten)?;
                (text, unit.flags.clone())
            }
        };
        let request = ProjectRequest { functions, flags, ..ProjectRequest::new(file) };
        let project = Project::load(&request, &silent)?;
        let is_own = |name: &str| files.contains(&canonical(&unit.directory.join(name)));
        let compared = {
            let patterns = patterns_near(&canonical(&unit.directory.join(&mutants[0].file)))?;
            ComparedProgram::load_of(&project, (&Operator::ALL, &patterns), &is_own)?
        };
        let config = Config::default();
        let workers = vec![(); workers::count(None, mutants.len())];
        let results = workers::work_on(mutants, workers, &CancelToken::new(), |mutant, ()| {
            let left = end.saturating_duration_since(Instant::now());
            let own = compared.mutants.iter().find(|own| own.key == mutant.key);
            let Some(own) = own.filter(|_| !left.is_zero() && !cancel.is_cancelled()) else {
                return Ok(false);
            };
            let effort = Effort { time: (self.time / SHARE).min(left), tests: 1 };
            let found = compared.compare(own, &project.program, &config, effort, cancel);
            Ok(matches!(found.verdict, ComparisonVerdict::Same(assumed) if assumed.is_empty()))
        })?;
        let equal = results.done.into_iter().filter(|(_, is_same)| *is_same);
        Ok(equal.map(|(at, _)| mutants[at].number).collect())
    }
}

/// The mutants of a product that differ in no run.
fn proved(
    unit: &UnitMutants,
    mutants: &[&Mutant],
    time: Duration,
    cancel: &CancelToken,
) -> Result<Vec<u32>, Error> {
    let unwritten = |error: std::io::Error| {
        Error::environment("mutants", format!("a product cannot be written: {error}"))
    };
    let place = tempfile::tempdir().map_err(unwritten)?;
    let file = place.path().join("product.c");
    std::fs::write(&file, products::text(unit, mutants)).map_err(unwritten)?;
    let mut flags = unit.flags.clone();
    flags.extend([products::WRAPPING.to_owned(), "-w".to_owned()]);
    let program = LinkRequest { files: vec![file], flags, compile_commands: None };
    let jobs = std::num::NonZeroUsize::new(1);
    let request = ProofRequest { program, time, provers: Provers::Together, jobs, certify: false };
    let silent = |_: Event<'_>| {};
    let proofs = Proofs::of_errors(&request, cancel, &silent)?;
    let equal = proofs.errors.iter().filter_map(|error| match error.answer {
        ErrorAnswer::Unreachable(_) => products::compared(&error.function),
        _ => None,
    });
    Ok(equal.collect())
}
