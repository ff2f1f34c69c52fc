//! Proofs that a mutant of a function that only computes is equivalent, by products
//! ([`lydian_mutate::products`]).
//!
//! All products of a unit are one program, whose error calls the engines of proofs and the exploration
//! decide as those of any other. An error call that no run reaches is an equivalent mutant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_mutate::mutant::{FunctionNotes, Mutant, UnitMutants};
use lydian_mutate::{Operator, products};
use lydian_symex::Config;

use super::comparison::ComparedProgram;
use super::equivalence::{EquivalenceProver, ProofAttempts};
use super::patterns::patterns_near;
use crate::changes::second_runs::{ComparisonVerdict, Effort};
use crate::error::Error;
use crate::events::Event;
use crate::files;
use crate::generation::workers;
use crate::project::Project;
use crate::project::linked::LinkRequest;
use crate::project::paths::canonical;
use crate::project::request::ProjectRequest;
use crate::proving::{ErrorAnswer, ProofRequest, Proofs, Provers};

/// The most mutants of a product.
const MOST: usize = 40;
/// The most mutants of a program with choices, if it has more than one function with mutants.
const MOST_CHOICES: u32 = 400;
/// The share (one n-th) of a unit's time that the comparison of one mutant may take.
const SHARE: u32 = 8;

/// A prover that explores products: of functions that only compute as one program, and of others by second
/// runs ([`super::comparison`]).
#[derive(Clone, Debug)]
pub struct ProductProver {
    /// The time for each unit; with none, nothing is proved.
    pub time: Duration,
    /// The compiler's flags of the mutated file, where units are suites that include one. None where units
    /// are compiled as they are.
    pub suite: Option<Vec<String>>,
}

impl EquivalenceProver for ProductProver {
    fn effort(&self) -> String {
        format!("products in {:?}", self.time)
    }

    fn time(&self) -> Duration {
        self.time
    }

    fn equivalent(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        cancel: &CancelToken,
    ) -> ProofAttempts {
        if self.time.is_zero() {
            let tried = mutants.iter().map(|it| it.number).collect();
            return ProofAttempts { tried, ..ProofAttempts::default() };
        }
        let end = Instant::now() + self.time;
        let (computing, others): (Vec<&Mutant>, Vec<&Mutant>) =
            mutants.iter().partition(|it| products::is_provable(unit, it));
        let mut found = ProofAttempts::default();
        let mut parts = computing.len().div_ceil(MOST) as u32 + u32::from(!others.is_empty());
        for part in computing.chunks(MOST) {
            let left = end.saturating_duration_since(Instant::now()) / parts.max(1);
            parts -= 1;
            if left.is_zero() || cancel.is_cancelled() {
                return found;
            }
            match proved(unit, part, left, cancel) {
                Ok(equal) => {
                    found.equivalent.extend(equal);
                    found.tried.extend(part.iter().map(|it| it.number));
                }
                Err(error) => log::info!("no proofs for {}: {error}", unit.source.display()),
            }
        }
        if !others.is_empty() && !cancel.is_cancelled() && Instant::now() < end {
            match self.compared(unit, &others, end, cancel) {
                Ok(own) => {
                    found.equivalent.extend(own.equivalent);
                    found.tried.extend(own.tried);
                }
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
    ) -> Result<ProofAttempts, Error> {
        let silent = |_: Event<'_>| {};
        let mut functions: Vec<String> = mutants.iter().map(|it| it.function.clone()).collect();
        functions.sort_unstable();
        functions.dedup();
        let files: BTreeSet<PathBuf> =
            mutants.iter().map(|it| canonical(&unit.directory.join(&it.file))).collect();
        let place = files::temporary_folder()?;
        let Some((file, flags)) = self.explored(unit, &files, place.path())? else {
            return Ok(ProofAttempts::default());
        };
        let request = ProjectRequest { functions, flags, ..ProjectRequest::new(file) };
        let project = Project::load(&request, &silent)?;
        let is_own = |name: &str| files.contains(&canonical(&unit.directory.join(name)));
        let patterns = patterns_near(&canonical(&unit.directory.join(&mutants[0].file)))?;
        let operators = (&Operator::ALL[..], &patterns[..]);
        let mut found = ProofAttempts::default();
        for names in groups(unit, mutants) {
            if Instant::now() >= end || cancel.is_cancelled() {
                break;
            }
            let is_asked = |function: &FunctionNotes| names.contains(&function.name);
            let Some(compared) = ComparedProgram::load_of(&project, operators, &is_own, &is_asked)?
            else {
                continue;
            };
            let own: Vec<&Mutant> =
                mutants.iter().copied().filter(|it| names.contains(&it.function)).collect();
            let own = self.compared_in((&compared, &project), &own, end, cancel)?;
            found.equivalent.extend(own.equivalent);
            found.tried.extend(own.tried);
        }
        Ok(found)
    }

    /// The same of mutants that one program has.
    fn compared_in(
        &self,
        (compared, project): (&ComparedProgram, &Project),
        mutants: &[&Mutant],
        end: Instant,
        cancel: &CancelToken,
    ) -> Result<ProofAttempts, Error> {
        let config = Config::default();
        let workers = vec![(); workers::count(None, mutants.len())];
        let results = workers::work_on(mutants, workers, &CancelToken::new(), |mutant, ()| {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || cancel.is_cancelled() {
                return Ok(None);
            }
            let Some(own) = compared.mutants.iter().find(|own| own.key == mutant.key) else {
                return Ok(Some(false));
            };
            let share = self.time / SHARE;
            let effort = Effort { time: share.min(left), tests: 1 };
            let found = compared.compare(own, &project.program, &config, effort, cancel);
            Ok(match found.verdict {
                ComparisonVerdict::Same(assumed) => Some(assumed.is_empty()),
                ComparisonVerdict::Differs => Some(false),
                // With its whole time it might be known.
                ComparisonVerdict::Unknown(_) => (left >= share).then_some(false),
            })
        })?;
        let mut found = ProofAttempts::default();
        for (at, is_same) in results.done {
            let Some(is_same) = is_same else { continue };
            found.tried.insert(mutants[at].number);
            if is_same {
                found.equivalent.insert(mutants[at].number);
            }
        }
        Ok(found)
    }

    /// The text to be explored, with its flags. A suite has definitions of its own of what the program
    /// leaves undefined, and would count as the program. So the file that it includes is explored, if all
    /// mutants are there; else there is none, as with mutants of headers.
    fn explored(
        &self,
        unit: &UnitMutants,
        files: &BTreeSet<PathBuf>,
        place: &Path,
    ) -> Result<Option<(PathBuf, Vec<String>)>, Error> {
        if let Some(flags) = &self.suite {
            let only = files.first().filter(|file| files.len() == 1 && includes(unit, file));
            return Ok(only.map(|file| (file.clone(), flags.clone())));
        }
        let text = place.join("unit.c");
        std::fs::write(&text, &unit.text).map_err(|error| {
            Error::environment("mutants", format!("a text cannot be written: {error}"))
        })?;
        Ok(Some((text, unit.flags.clone())))
    }
}

/// The names of the functions of some mutants, in groups that have not too many mutants together, the functions
/// with the fewest first.
fn groups(unit: &UnitMutants, mutants: &[&Mutant]) -> Vec<BTreeSet<String>> {
    let size = |name: &str| {
        let function = unit.functions.iter().find(|function| function.name == name);
        function.map_or(0, |function| function.numbers.1 - function.numbers.0)
    };
    let names: BTreeSet<&str> = mutants.iter().map(|it| it.function.as_str()).collect();
    let mut sized: Vec<(u32, &str)> = names.into_iter().map(|name| (size(name), name)).collect();
    sized.sort_unstable();
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    let mut room = 0;
    for (size, name) in sized {
        if size > room {
            groups.push(BTreeSet::new());
            room = MOST_CHOICES.max(size);
        }
        room -= size;
        groups.last_mut().into_iter().for_each(|group| _ = group.insert(name.to_owned()));
    }
    groups
}

/// Whether a suite includes a file itself.
pub(super) fn includes(suite: &UnitMutants, file: &Path) -> bool {
    let text = std::fs::read_to_string(&suite.source).unwrap_or_default();
    let folder = suite.source.parent().unwrap_or_else(|| Path::new(""));
    let name = |line: &str| {
        let name = line.strip_prefix("#include \"")?.strip_suffix('"')?;
        Some(canonical(&folder.join(name)))
    };
    text.lines().filter_map(name).any(|included| included == file)
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
    let place = files::temporary_folder()?;
    let file = place.path().join("product.c");
    std::fs::write(&file, products::text(unit, mutants)).map_err(unwritten)?;
    let mut flags = unit.flags.clone();
    flags.extend([products::WRAPPING.to_owned(), "-w".to_owned()]);
    let program = LinkRequest { files: vec![file], flags, compile_commands: None };
    let jobs = std::num::NonZeroUsize::new(1);
    let provers = Provers::Together;
    let (certify, ledger, again) = (false, None, false);
    let request = ProofRequest { program, time, provers, jobs, certify, ledger, again };
    let silent = |_: Event<'_>| {};
    let proofs = Proofs::of_errors(&request, cancel, &silent)?;
    let equal = proofs.errors.iter().filter_map(|error| match error.answer {
        ErrorAnswer::Unreachable(_) => products::compared(&error.function),
        _ => None,
    });
    Ok(equal.collect())
}

#[cfg(test)]
mod tests {
    use lydian_mutate::UnitId;

    use super::*;

    /// What is explored for mutants in some files of a unit, which a suite in `tests` includes.
    fn explored(suite: Option<&[&str]>, files: &[&str]) -> Option<(String, Vec<String>)> {
        let place = files::temporary_folder().unwrap();
        let at = canonical(place.path());
        let own = at.join("tests.c");
        std::fs::write(&own, "#include \"lydian.h\"\n#include \"q.c\"\n").unwrap();
        let files: BTreeSet<PathBuf> = files.iter().map(|name| at.join(name)).collect();
        for file in &files {
            std::fs::write(file, "").unwrap();
        }
        let unit = UnitMutants {
            id: UnitId::of("", &[]),
            source: own,
            directory: at.clone(),
            flags: vec!["-DUNIT".to_owned()],
            text: "int limit(void);".to_owned(),
            mutants: Vec::new(),
            functions: Vec::new(),
            left_out: Vec::new(),
            refused: Vec::new(),
            defined: Vec::new(),
        };
        let suite = suite.map(|flags| flags.iter().map(|&flag| flag.to_owned()).collect());
        let prover = ProductProver { time: Duration::ZERO, suite };
        let (file, flags) = prover.explored(&unit, &files, &at).unwrap()?;
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        Some((name, flags))
    }

    #[test]
    fn a_suite_with_its_definitions_is_never_explored_as_the_program() {
        let flags = vec!["-DOWN".to_owned()];
        assert_eq!(explored(Some(&["-DOWN"]), &["q.c"]), Some(("q.c".to_owned(), flags)));
        assert_eq!(explored(Some(&["-DOWN"]), &["q.c", "q.h"]), None);
        assert_eq!(explored(Some(&["-DOWN"]), &["q.h"]), None);
    }

    #[test]
    fn a_unit_of_a_project_is_explored_as_it_is_compiled() {
        let whole = Some(("unit.c".to_owned(), vec!["-DUNIT".to_owned()]));
        assert_eq!(explored(None, &["q.h"]), whole);
        assert_eq!(explored(None, &["q.c", "q.h"]), whole);
    }
}
