//! The objectives of the functions that the user asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lydian_base::{Diagnostic, Severity};
use lydian_ir::FuncId;
use lydian_objective::hyper::Passage;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Annotators, Criterion, FunctionObjectives, HtolFile, Request};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::events::{Observer, tell};
use crate::project::Project;

/// The value of a condition whose evaluation a decision's outcome does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// Its value on the state at the outcome, if the evaluation has no effect and cannot trap; else
    /// unknown.
    #[default]
    ThreeValued,
    /// Always unknown.
    ShortCircuit,
}

/// A request for objectives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ObjectiveRequest {
    /// The criteria, in the order in which reports have them.
    pub criteria: Vec<Criterion>,
    /// The semantics of conditions that were not evaluated.
    pub semantics: Semantics,
    /// Files of hyperlabels and paths.
    pub htol: Vec<PathBuf>,
}

impl ObjectiveRequest {
    /// Some criteria, without files of hyperlabels.
    pub fn new(criteria: impl Into<Vec<Criterion>>) -> Self {
        Self { criteria: criteria.into(), ..Self::default() }
    }
}

/// The objectives of a project's functions.
#[derive(Debug)]
pub struct Objectives {
    /// Those of each function that the user asked for, in their order.
    pub functions: Vec<FunctionObjectives>,
    /// The labels of further functions that these objectives mention.
    pub(crate) further: Vec<FunctionObjectives>,
    /// The semantics of conditions that were not evaluated.
    pub(crate) semantics: Semantics,
    /// The request that they answer.
    pub(crate) request: ObjectiveRequest,
}

impl Project {
    /// The objectives of each requested function. The observer gets diagnostics about omissions.
    ///
    /// # Errors
    /// Hyperlabels and paths of the user's that are wrong.
    pub fn objectives(
        &self,
        request: &ObjectiveRequest,
        observer: &dyn Observer,
    ) -> Result<Objectives, Error> {
        annotate(self, request, observer)
    }
}

fn annotate(
    project: &Project,
    asked: &ObjectiveRequest,
    observer: &dyn Observer,
) -> Result<Objectives, Error> {
    let mut htol = htol_files(project, &asked.htol)?;
    let chosen = asked.criteria.clone();
    if chosen.iter().any(|criterion| criterion.is_written()) {
        let (comments, wrong) = HtolFile::of_comments(&project.program, &project.texts.written);
        if !wrong.is_empty() {
            return Err(Error { kind: ErrorKind::Usage, diagnostics: wrong });
        }
        htol.push(comments);
    }
    let request = Request {
        htol,
        short_circuit: asked.semantics == Semantics::ShortCircuit,
        ..Request::new(chosen)
    };
    let mut all = Vec::new();
    let Project { program, texts, .. } = project;
    let annotators = Annotators::new(program, &texts.all, &request);
    let annotators = annotators.of_units(&texts.users, &texts.starts);
    for func in &project.functions {
        let annotation = annotators
            .function(*func)
            .map_err(|error| Error::source("no-body", error.to_string()))?;
        let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            annotation.diagnostics.into_iter().partition(|d| d.severity == Severity::Error);
        tell(observer, &warnings);
        if !errors.is_empty() {
            return Err(Error { kind: ErrorKind::Usage, diagnostics: errors });
        }
        all.push(annotation.objectives);
    }
    let named: BTreeSet<FuncId> = all.iter().flat_map(functions_named).collect();
    let further = named.into_iter().filter(|func| !project.functions.contains(func));
    let further = further.filter_map(|func| annotators.labels_for_others(func).ok()).collect();
    let semantics = asked.semantics;
    Ok(Objectives { functions: all, further, semantics, request: asked.clone() })
}

/// Reads files of hyperlabels.
fn htol_files(project: &Project, paths: &[PathBuf]) -> Result<Vec<HtolFile>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::usage("htol", format!("cannot read {shown}: {error}")))?;
        let file = HtolFile::read(shown.clone(), text)
            .map_err(|diagnostic| Error::new(ErrorKind::Usage, diagnostic))?;
        let is_defined =
            |name: &&str| project.program.defined().any(|(_, function)| function.name == **name);
        if let Some(name) = file.functions().find(|name| !is_defined(name)) {
            let message = format!("{shown}: there is no function `{name}` with a body");
            return Err(Error::usage("htol", message));
        }
        files.push(file);
    }
    Ok(files)
}

/// The functions whose sites the given hyperlabels mention.
pub(crate) fn functions_named(open: &FunctionObjectives) -> FxHashSet<FuncId> {
    let mut found = FxHashSet::default();
    for entry in open.hyper_criteria.values().flatten() {
        open.hypers[entry.hyper].hyper.for_each_part(&mut |part| match part {
            Part::Atom(atom) => _ = found.insert(atom.function),
            Part::Sequence(id) => {
                let sequence = &open.sequences[id];
                found.extend(sequence.atoms.iter().map(|atom| atom.function));
                for passage in &sequence.passages {
                    match passage.otherwise() {
                        Passage::Clear(of) => found.extend(of.all().map(|(func, _)| *func)),
                        Passage::Cell(same) => {
                            found.extend(same.of.places.iter().map(|place| place.place.0));
                        }
                        Passage::Obliged(duties) => {
                            found.extend(duties.iter().map(|duty| duty.function));
                        }
                        Passage::Free | Passage::Adjacent | Passage::By(..) => {}
                    }
                }
            }
        });
    }
    found
}
