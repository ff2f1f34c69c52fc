//! Diagnostics about confinement: missing features of the kernel, and attempts of tests.

use std::collections::BTreeSet;

use lydian_base::Diagnostic;
use lydian_native::{Attempt, Confinement, confine};
use lydian_report::AttemptSummary;

use crate::events::{Observer, tell};

/// The most attempts of a function that are shown.
const MOST_SHOWN: usize = 8;

/// The confinement for tests. Warns of missing features of the kernel if tests are to be confined.
pub(crate) fn confinement(confined: bool, observer: &dyn Observer) -> Confinement {
    if !confined {
        return Confinement::Off;
    }
    let missing = confine::missing();
    if let [first, others @ ..] = missing.as_slice() {
        let warning = Diagnostic::warning("unconfined", first.to_string());
        let all = others.iter().fold(warning, |warning, other| warning.note(other.to_string()));
        tell(observer, &[all.note("functions of the C library that would do so are stubs")]);
    }
    Confinement::On
}

/// Warns of attempts of a function's tests to reach out of the program.
pub(crate) fn warn(function: &str, attempts: &BTreeSet<Attempt>, observer: &dyn Observer) {
    let words = |refused: bool| {
        let of_kind = attempts.iter().filter(|attempt| attempt.refused == refused);
        together(&of_kind.map(|attempt| attempt.what.as_str()).collect::<Vec<_>>())
    };
    let warning =
        |what: String| Diagnostic::warning("attempt", format!("`{function}` tried to {what}"));
    let refused = words(true).map(|what| {
        warning(format!("{what}; refused (confined)"))
            .note("`--unconfined` lets code under test do what it likes")
    });
    let done = words(false).map(|what| {
        warning(format!("{what}; done in a folder that is removed"))
            .note("a suite does it in the folder that it runs in")
    });
    tell(observer, &refused.into_iter().chain(done).collect::<Vec<_>>());
}

/// The elements of a list in words; none if it is empty.
fn together(all: &[&str]) -> Option<String> {
    let shown = &all[..all.len().min(MOST_SHOWN)];
    let more = match all.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} other things"),
    };
    (!all.is_empty()).then(|| shown.join(", to ") + &more)
}

/// The attempts for the table as JSON.
pub(crate) fn summaries(attempts: &BTreeSet<Attempt>) -> Vec<AttemptSummary> {
    let summary = |Attempt { call, what, refused }: &Attempt| AttemptSummary {
        call: call.clone(),
        what: what.clone(),
        refused: *refused,
    };
    attempts.iter().map(summary).collect()
}
