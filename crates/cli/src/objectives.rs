//! The objectives of the functions that the user asked for.

use lydian_objective::{Criterion, FunctionObjectives, Request, annotate};

use crate::args::{CriteriaArgs, SemanticsArg};
use crate::exit::Failure;
use crate::load::Loaded;
use crate::render;

/// Annotates each function; shows what was left out.
pub(crate) fn of(
    loaded: &Loaded,
    criteria: &CriteriaArgs,
) -> Result<Vec<FunctionObjectives>, Failure> {
    let request = Request {
        short_circuit: criteria.semantics == SemanticsArg::ShortCircuit,
        ..Request::new(criteria.criteria.clone())
    };
    let mut all = Vec::new();
    for func in &loaded.functions {
        let annotation = annotate(&loaded.program, &loaded.map, *func, &request)
            .map_err(|error| Failure::source("no-body", error.to_string()))?;
        render::diagnostics(&annotation.diagnostics);
        all.push(annotation.objectives);
    }
    Ok(all)
}

/// Refuses criteria that engines have no tests for yet.
pub(crate) fn only_labels(criteria: &CriteriaArgs) -> Result<(), Failure> {
    let is_hyper = |criterion: &&Criterion| criterion.is_hyper();
    let hyper: Vec<_> = criteria.criteria.iter().filter(is_hyper).map(|c| c.name()).collect();
    if hyper.is_empty() {
        return Ok(());
    }
    let (names, verb) = (hyper.join(", "), if hyper.len() == 1 { "is" } else { "are" });
    let message = format!("{names} {verb} measured by cover and report, not generated yet");
    Err(Failure::usage("criteria", message))
}
