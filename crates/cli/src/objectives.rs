//! The objectives of the functions that the user asked for.

use lydian_objective::{FunctionObjectives, Request, annotate};

use crate::args::CriteriaArgs;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::render;

/// Annotates each function; shows what was left out.
pub(crate) fn of(
    loaded: &Loaded,
    criteria: &CriteriaArgs,
) -> Result<Vec<FunctionObjectives>, Failure> {
    let request = Request::new(criteria.criteria.clone());
    let mut all = Vec::new();
    for func in &loaded.functions {
        let annotation = annotate(&loaded.program, &loaded.map, *func, &request)
            .map_err(|error| Failure::source("no-body", error.to_string()))?;
        render::diagnostics(&annotation.diagnostics);
        all.push(annotation.objectives);
    }
    Ok(all)
}
