//! The outbox of a machine: what a step leaves for the exploration. It has forks, paths that ended
//! beside the one that is followed, and retractions.

use std::time::Duration;

use lydian_base::Span;

use crate::limits::Cut;
use crate::machine::ending::Ending;
use crate::machine::program::site::ObserverId;
use crate::machine::state::State;

/// A path that ended beside the one that is followed.
pub(crate) struct EndedPath<N> {
    /// The path with an input that takes it, if a test of it is wanted.
    pub(crate) state: Option<Box<State<N>>>,
    pub(crate) ending: Ending,
}

/// Labels that a model was to cover and does not.
pub(crate) struct Retraction {
    pub(crate) claims: Vec<ObserverId>,
    pub(crate) reason: Cut,
}

/// A question that was asked.
#[derive(Debug)]
pub(crate) struct AskedQuestion {
    /// The number of the state.
    pub(crate) state: u64,
    /// The answer; `None` if the solver gave none.
    pub(crate) answer: Option<bool>,
    pub(crate) time: Duration,
    pub(crate) place: Span,
}

/// Two states that were merged. The result has the number of the first.
#[derive(Debug)]
pub(crate) struct MergedStates {
    pub(crate) state: u64,
    pub(crate) other: u64,
    pub(crate) place: Span,
}

/// Everything that steps left since the outbox was emptied, in order.
#[derive(Default)]
pub(crate) struct Outbox<N> {
    pub(crate) forks: Vec<Box<State<N>>>,
    pub(crate) ended: Vec<EndedPath<N>>,
    /// States that a limit excludes, if any input takes them.
    pub(crate) abandoned: Vec<(Box<State<N>>, Cut)>,
    pub(crate) retracted: Vec<Retraction>,
    /// Questions, where a trace is made.
    pub(crate) asked: Vec<AskedQuestion>,
    /// Merged states, where a trace is made.
    pub(crate) merged: Vec<MergedStates>,
}

impl<N: Default> Outbox<N> {
    /// Takes everything except events of a trace.
    pub(crate) fn take(&mut self) -> Self {
        let (asked, merged) = (std::mem::take(&mut self.asked), std::mem::take(&mut self.merged));
        std::mem::replace(self, Self { asked, merged, ..Self::default() })
    }

    /// Whether there is nothing, except events of a trace.
    pub(crate) fn is_empty(&self) -> bool {
        self.forks.is_empty()
            && self.ended.is_empty()
            && self.abandoned.is_empty()
            && self.retracted.is_empty()
    }
}
