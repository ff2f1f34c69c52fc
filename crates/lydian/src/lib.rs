//! Lydian as a library: the objectives of tests of a C program, their measured coverage, the missing
//! tests, and proofs that no test can reach an objective.
//!
//! A [`Project`] is a C file with its flags, settings and the functions of it that are to be tested. It
//! has [`Objectives`]. A [`Generator`] makes tests for them within a budget, and [`Project::measure`]
//! measures given tests. [`wrapper::compile`] is a compiler for whole builds, and [`collect()`] makes a
//! coverage report of their runs.
//!
//! Nothing here prints or ends the process. An [`Observer`] gets diagnostics and progress while a task
//! is at work. An [`Error`] that ends a task has a kind.
//!
//! # Example
//! The objectives of a function, and tests for them:
//!
//! ```
//! use std::time::Duration;
//!
//! use lydian::{
//!     CancelToken, Criterion, Error, Event, Generator, GeneratorOptions, MeasurementOptions,
//!     ObjectiveRequest, Project, ProjectRequest, Severity, VerdictKind,
//! };
//!
//! /// A percentage that is never above 100, with a branch that no input takes.
//! const SOURCE: &str = "
//! int percent(int part, int whole) {
//!     if (whole <= 0 || part < 0)
//!         return 0;
//!     if (part > whole)
//!         return 100;
//!     if (whole < 0)
//!         return -1;
//!     return (int)((long)part * 100 / whole);
//! }
//! ";
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let place = tempfile::tempdir()?;
//!     let file = place.path().join("percent.c");
//!     std::fs::write(&file, SOURCE)?;
//!
//!     // Whoever is told of warnings and of progress.
//!     let observer = |event: Event<'_>| match event {
//!         Event::Diagnostic(diagnostic) => {
//!             assert!(diagnostic.severity < Severity::Error, "{}", diagnostic.message);
//!         }
//!         Event::Progress { function, counters } => {
//!             assert_eq!(function, "percent");
//!             assert!(counters.paths < 100);
//!         }
//!         _ => {}
//!     };
//!
//!     // The file, and what its functions are to be tested for.
//!     let project = Project::load(&ProjectRequest::new(&file), &observer)?;
//!     let request = ObjectiveRequest::new([Criterion::Bc, Criterion::Mcdc]);
//!     let objectives = project.objectives(&request, &observer)?;
//!     let [percent] = &objectives.functions[..] else { panic!("one function is defined") };
//!     let branches: Vec<&str> =
//!         percent.criteria[&Criterion::Bc].iter().map(|entry| entry.name.as_str()).collect();
//!     assert_eq!(branches.len(), 8, "{branches:?}");
//!
//!     // Tests within a budget; the folder has the suite, its ledger and a summary then.
//!     let options = GeneratorOptions {
//!         time: Duration::from_secs(20),
//!         ..GeneratorOptions::new(place.path().join("tests"))
//!     };
//!     let generator = Generator::new(&project, &objectives, options);
//!     let generation = generator.run(&CancelToken::new(), &observer)?;
//!     generation.written?;
//!
//!     // What is known of each objective.
//!     let [function] = &generation.summary.functions[..] else { panic!("one function was tested") };
//!     let of_branches = function.objectives.iter().filter(|one| one.criterion == Criterion::Bc);
//!     let infeasible: Vec<_> =
//!         of_branches.clone().filter(|one| one.verdict == VerdictKind::Infeasible).collect();
//!     assert_eq!(infeasible.len(), 1);
//!     assert_eq!((infeasible[0].line, infeasible[0].text.as_str()), (7, "whole < 0"));
//!     let covered = of_branches.filter(|one| one.verdict == VerdictKind::Covered).count();
//!     assert_eq!(covered, 7);
//!
//!     // The same tests, measured once more.
//!     let tests = lydian::read_suite(&place.path().join("tests"), &project)?;
//!     let (options, cancel) = (MeasurementOptions::default(), CancelToken::new());
//!     let measured = project.measure(&objectives, &tests, options, &cancel, &observer)?;
//!     let missing: Vec<u32> = measured
//!         .missing
//!         .iter()
//!         .filter(|one| one.criterion == Criterion::Bc)
//!         .map(|one| one.place.line)
//!         .collect();
//!     assert_eq!(missing, [7], "only the branch that no test can take");
//!
//!     // Trouble is data.
//!     let nowhere = Project::load(&ProjectRequest::new("nowhere.c"), &observer);
//!     let Err(Error { kind, .. }) = nowhere else { panic!("there is no such file") };
//!     assert_eq!(kind, lydian::ErrorKind::Source);
//!     Ok(())
//! }
//! ```

pub mod certificates;
mod changes;
mod configuration;
mod coverage_data;
mod error;
mod events;
pub mod files;
mod generation;
mod measurement;
pub mod mutation;
mod objectives;
mod outside;
mod project;
mod proving;
mod replay;
mod session;
mod shared_ledger;
mod suite;
pub mod wrapper;

pub use certificates::Certificates;
pub use certificates::checking::{CertificateCheck, CheckRequest, CheckResult, Checks};
pub use changes::{
    ChangeImpact, DiffRequest, DiffVerdict, Difference, FunctionDiff, FunctionImpact, NamedValue,
    Observed, PATH_OPTIONS, VersionDiff,
};
pub use configuration::{Configuration, FILE as CONFIGURATION_FILE};
pub use coverage_data::collect;
pub use error::{Error, ErrorKind};
pub use events::{Event, MutantProgress, Observer};
pub use generation::{
    FunctionShare, Generation, GenerationEnd, Generator, GeneratorOptions, OBJECTIVES_FILE,
};
pub use measurement::MeasurementOptions;
pub use measurement::suite_coverage::{MissingObjective, SuiteCoverage};
pub use objectives::{ObjectiveRequest, Objectives, Semantics};
pub use outside::{
    CheckedError, Checker, CheckerAnswer, CheckerOptions, CheckerReport, CommandTemplate,
    Conclusion, OutsideRequest, ProofInC, Witness, WitnessKind,
};
pub use project::linked::{LinkRequest, LinkedProgram};
pub use project::request::{ArgumentBounds, FileBounds, ProjectRequest, WholeProgramRequest};
pub use project::{Project, location_span};
pub use proving::{
    Argument, ErrorAnswer, ErrorProof, InputValue, NativeTest, ObjectiveProof,
    ObjectiveProofRequest, ObjectiveProofs, PointInvariants, ProofRequest, Proofs, Provers,
};
pub use replay::{Claim, ClaimedVerdict, KeptCase, Replay, ReplayEndings, ReplayedObjective};
pub use suite::{FailingTest, SuiteFormat, read_suite};

pub use lydian_base::{CancelToken, Diagnostic, Place, Severity};
pub use lydian_frontend::lower::ValueDecisions;
pub use lydian_ir::beginnings::Beginning;
pub use lydian_native::cc::Store;
pub use lydian_objective::{AssumptionKind, Criterion};
pub use lydian_report::suite::c::HEADER as SUITE_HEADER;
pub use lydian_report::suite::c::frameworks::Framework;
pub use lydian_report::suite::minimise::Effort;
pub use lydian_report::{SuiteTest, Summary, VerdictKind};
pub use lydian_symex::{Progress, TraceEvent, TracedAnswer};

/// The configuration of explorations.
pub mod exploration {
    pub use lydian_symex::{
        Augmentation, AugmentationKind, Config, LabelDeletion, Limits, Mode, Search,
    };
}
