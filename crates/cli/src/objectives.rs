//! The objectives of the functions that the user asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lydian_base::{Diagnostic, Severity};
use lydian_ir::FuncId;
use lydian_objective::{Annotators, FunctionObjectives, HtolFile, Request};

use crate::args::{CriteriaArgs, SemanticsArg};
use crate::exit::{ExitCode, Failure};
use crate::load::Loaded;
use crate::render;
use crate::session::left::functions_named;

/// What functions are asked for.
pub(crate) struct Annotated {
    /// The objectives of the functions that the user asked for.
    pub(crate) objectives: Vec<FunctionObjectives>,
    /// The labels of other functions that these name, of other files or not asked for.
    pub(crate) further: Vec<FunctionObjectives>,
}

/// Annotates each function; shows what was left out.
pub(crate) fn of(
    loaded: &Loaded,
    criteria: &CriteriaArgs,
) -> Result<Vec<FunctionObjectives>, Failure> {
    Ok(annotated(loaded, criteria)?.objectives)
}

/// The same, with the labels of other functions.
pub(crate) fn annotated(loaded: &Loaded, criteria: &CriteriaArgs) -> Result<Annotated, Failure> {
    let mut htol = htol_files(loaded, &criteria.htol)?;
    let chosen = criteria.chosen();
    if chosen.iter().any(|criterion| criterion.is_written()) {
        let (comments, wrong) = HtolFile::of_comments(&loaded.program, &loaded.written);
        if !wrong.is_empty() {
            return Err(Failure { code: ExitCode::Usage, diagnostics: wrong });
        }
        htol.push(comments);
    }
    let request = Request {
        htol,
        short_circuit: criteria.semantics == SemanticsArg::ShortCircuit,
        ..Request::new(chosen)
    };
    let mut all = Vec::new();
    let Loaded { program, map, users, starts, .. } = loaded;
    let annotators = Annotators::new(program, map, &request).of_units(users, starts);
    for func in &loaded.functions {
        let annotation = annotators
            .function(*func)
            .map_err(|error| Failure::source("no-body", error.to_string()))?;
        let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            annotation.diagnostics.into_iter().partition(|d| d.severity == Severity::Error);
        render::diagnostics(&warnings);
        if !errors.is_empty() {
            return Err(Failure { code: ExitCode::Usage, diagnostics: errors });
        }
        all.push(annotation.objectives);
    }
    let named: BTreeSet<FuncId> = all.iter().flat_map(functions_named).collect();
    let further = named.into_iter().filter(|func| !loaded.functions.contains(func));
    let further = further.filter_map(|func| annotators.labels_for_others(func).ok()).collect();
    Ok(Annotated { objectives: all, further })
}

/// Reads files of hyperlabels.
fn htol_files(loaded: &Loaded, paths: &[PathBuf]) -> Result<Vec<HtolFile>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage("htol", format!("cannot read {shown}: {error}")))?;
        let file = HtolFile::read(shown.clone(), text)
            .map_err(|diagnostic| Failure::new(ExitCode::Usage, diagnostic))?;
        let is_defined =
            |name: &&str| loaded.program.defined().any(|(_, function)| function.name == **name);
        if let Some(name) = file.functions().find(|name| !is_defined(name)) {
            let message = format!("{shown}: there is no function `{name}` with a body");
            return Err(Failure::usage("htol", message));
        }
        files.push(file);
    }
    Ok(files)
}
