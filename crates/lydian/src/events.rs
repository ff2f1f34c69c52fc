//! Events that a task reports during its work.
//!
//! The library prints nothing. The caller of a task passes an [`Observer`], which gets diagnostics when
//! they arise and counters while functions are explored.

use lydian_base::Diagnostic;
use lydian_symex::{Progress, TraceEvent};

/// An event of a task.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A remark, a warning, or an error that does not end the task.
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
        /// The progress of the exploration.
        counters: Progress,
    },
    /// Tests ran on some of the mutants that are asked for.
    Mutants(MutantProgress),
    /// An event of a state of an exploration, if a trace is requested.
    Trace {
        /// The function that tests call.
        function: &'e str,
        /// The event.
        event: &'e TraceEvent,
        /// The place in the text where the state was, if it is known.
        place: Option<&'e str>,
    },
    /// Work on a function has ended.
    Ended {
        /// The function that tests call.
        function: &'e str,
    },
    /// The output of a compiler or linker that the wrapper started.
    CompilerOutput(&'e std::process::Output),
}

/// How far the runs of tests on mutants came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutantProgress {
    /// The mutants that have an outcome.
    pub done: usize,
    /// All mutants.
    pub all: usize,
    /// Those among the first that a test kills.
    pub killed: usize,
}

/// A receiver of events. Several threads may call it at once.
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

/// Reports diagnostics to an observer, one by one.
pub(crate) fn tell(observer: &dyn Observer, diagnostics: &[Diagnostic]) {
    diagnostics.iter().for_each(|diagnostic| observer.notice(Event::Diagnostic(diagnostic)));
}
