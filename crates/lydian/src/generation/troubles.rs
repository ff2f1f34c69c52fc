//! Diagnostics about functions that could not be explored as requested, or that show a fault of
//! Lydian's.

use lydian_base::Diagnostic;
use lydian_inputs::PlanError;
use lydian_inputs::settings::{INVARIANT, TomlStep};
use lydian_symex::{ExploreError, Unmet};

use super::GenerationEnd;
use crate::events::{Observer, tell};
use crate::measurement::confinement;
use crate::project::Project;
use crate::session::SessionOutcome;

/// Reports errors in the inputs of a function, and internal errors.
pub(super) fn tell_of(
    project: &Project,
    name: &str,
    outcome: &SessionOutcome,
    observer: &dyn Observer,
) -> GenerationEnd {
    let mut end = GenerationEnd::Done;
    if let Some(error) = &outcome.refused {
        let wrong = project.settings.config.wrong(&way_to(error), error.to_string());
        let note =
            "nothing was explored for it; `lydian init` shows what its inputs are taken to be";
        tell(observer, &[Diagnostic { code: "inputs", ..wrong }.note(note)]);
        end = GenerationEnd::WrongInputs;
    }
    confinement::warn(project.caller(name), &outcome.attempts, observer);
    for unmet in &outcome.unmet {
        tell(observer, &[unmet_diagnostic(project, name, unmet)]);
        end = GenerationEnd::WrongInputs;
    }
    if outcome.contradictions.is_empty() {
        return end;
    }
    let shown = outcome.contradictions.iter().map(|text| {
        Diagnostic::error("contradiction", format!("internal error in `{name}`: {text}"))
            .note("the objective is not counted; `lydian replay` runs a kept case again; please report it")
    });
    tell(observer, &shown.collect::<Vec<_>>());
    GenerationEnd::Contradiction
}

/// The diagnostic for a statement of the user that no input meets, with its place.
fn unmet_diagnostic(project: &Project, name: &str, unmet: &Unmet) -> Diagnostic {
    let way = match unmet {
        Unmet::Preconditions { .. } => {
            vec![
                TomlStep::Value("function"),
                TomlStep::Value(name),
                TomlStep::Value("preconditions"),
            ]
        }
        Unmet::Invariant { name, text } => {
            let stated = project.spec.settings.types.get(name);
            let at = stated.and_then(|of| of.invariants.iter().position(|one| one == text));
            let way = [TomlStep::Value("types"), TomlStep::Value(name), TomlStep::Value(INVARIANT)];
            [&way[..], &[TomlStep::Element(at.unwrap_or(0))]].concat()
        }
    };
    let wrong = project.settings.config.wrong(&way, format!("{name}: {unmet}"));
    wrong.note("nothing can be said of inputs that there are none of")
}

/// The path in the settings to the entry that does not fit the inputs of a function.
fn way_to(error: &ExploreError) -> Vec<TomlStep<'_>> {
    match error {
        ExploreError::Inputs(PlanError::Setting { function, place, .. }) => {
            let way = [TomlStep::Value("function"), TomlStep::Value(function)];
            [&way[..], &[TomlStep::Value("places"), TomlStep::Key(place)]].concat()
        }
        _ => Vec::new(),
    }
}
