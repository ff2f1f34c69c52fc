//! What the user is told of a function that could not be explored as asked, or that shows a fault of
//! Lydian's.

use lydian_base::Diagnostic;
use lydian_inputs::PlanError;
use lydian_inputs::settings::{INVARIANT, Within};
use lydian_symex::{ExploreError, Unmet};

use super::GenerationEnd;
use crate::events::{Observer, tell};
use crate::measurement::confinement;
use crate::project::Project;
use crate::session::SessionOutcome;

/// Tells what was wrong with the inputs of a function, and what went wrong inside Lydian.
pub(super) fn tell_of(
    project: &Project,
    name: &str,
    outcome: &SessionOutcome,
    observer: &dyn Observer,
) -> GenerationEnd {
    let mut end = GenerationEnd::Done;
    if let Some(error) = &outcome.refused {
        let wrong = project.config.wrong(&way_to(error), error.to_string());
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

/// What the user stated that no input meets, with its place.
fn unmet_diagnostic(project: &Project, name: &str, unmet: &Unmet) -> Diagnostic {
    let way = match unmet {
        Unmet::Preconditions { .. } => {
            vec![Within::Value("function"), Within::Value(name), Within::Value("preconditions")]
        }
        Unmet::Invariant { name, text } => {
            let stated = project.spec.settings.types.get(name);
            let at = stated.and_then(|of| of.invariants.iter().position(|one| one == text));
            let way = [Within::Value("types"), Within::Value(name), Within::Value(INVARIANT)];
            [&way[..], &[Within::Element(at.unwrap_or(0))]].concat()
        }
    };
    let wrong = project.config.wrong(&way, format!("{name}: {unmet}"));
    wrong.note("nothing can be said of inputs that there are none of")
}

/// The way in the settings to what does not fit the inputs of a function.
fn way_to(error: &ExploreError) -> Vec<Within<'_>> {
    match error {
        ExploreError::Inputs(PlanError::Setting { function, place, .. }) => {
            let way = [Within::Value("function"), Within::Value(function)];
            [&way[..], &[Within::Value("places"), Within::Key(place)]].concat()
        }
        _ => Vec::new(),
    }
}
