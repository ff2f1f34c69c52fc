//! What a task tells while it is at work.
//!
//! The library prints nothing. Whoever starts a task gives it an [`Observer`], which gets diagnostics when
//! they arise and counters while functions are explored.

use lydian_base::Diagnostic;
use lydian_symex::{Progress, TraceEvent};

/// Something that a task tells.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A remark, a warning, or an error that the task outlives.
    Diagnostic(&'e Diagnostic),
    /// Work on a function begins, or on a program that is tested as a whole.
    Begun {
        /// The function that tests call.
        function: &'e str,
    },
    /// A path of an exploration ended.
    Progress {
        /// The function that tests call.
        function: &'e str,
        /// How far the exploration is.
        counters: Progress,
    },
    /// Something happened to a state of an exploration, where a trace is asked for.
    Trace {
        /// The function that tests call.
        function: &'e str,
        /// What.
        event: &'e TraceEvent,
        /// The place in the text where the state was, if it is known.
        place: Option<&'e str>,
    },
    /// Work on a function has ended.
    Ended {
        /// The function that tests call.
        function: &'e str,
    },
    /// A compiler or linker that the wrapper started has said something.
    CompilerOutput(&'e std::process::Output),
}

/// Whoever is told what tasks do. Several threads may tell at once.
///
/// Every `Fn(Event)` is one:
///
/// ```
/// use lydian::{Event, Observer};
///
/// let silent = |_: Event<'_>| {};
/// let observer: &dyn Observer = &silent;
/// observer.notice(Event::Begun { function: "f" });
/// ```
pub trait Observer: Sync {
    /// Takes notice of an event.
    fn notice(&self, event: Event<'_>);
}

impl<F: Fn(Event<'_>) + Sync> Observer for F {
    fn notice(&self, event: Event<'_>) {
        self(event);
    }
}

/// Tells an observer of diagnostics, one by one.
pub(crate) fn tell(observer: &dyn Observer, diagnostics: &[Diagnostic]) {
    diagnostics.iter().for_each(|diagnostic| observer.notice(Event::Diagnostic(diagnostic)));
}
