//! What each part notes of a state. A note travels with its state; the machine copies it and never looks
//! into it, and a part reads and writes its own.

use std::rc::Rc;
use std::sync::Arc;

use crate::goals::core_cache::OpenLabel;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::Underway;
use crate::merging::cycles::Mark;
use crate::search::directed::Progress;
use crate::{State, machine};

/// Who may make an evicted state again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Home {
    /// Any worker; it was evicted by this one.
    #[default]
    Any,
    /// This one tries, and gives it back to the worker of a number where it cannot.
    Elsewhere(usize),
    /// Only this one: another could not.
    Here,
}

/// The notes of all parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllNotes {
    pub(crate) goals: GoalNotes,
    pub(crate) merging: MergingNotes,
    pub(crate) search: SearchNotes,
    pub(crate) eviction: EvictionNotes,
}

/// What the goals note.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoalNotes {
    /// Labels of the site that control passes which no input covers together with what the model covers,
    /// and what makes each hold.
    pub(crate) undecided: Vec<OpenLabel>,
    /// The evaluations of decisions that hyperlabels ask for.
    pub(crate) trail: Trail,
    /// The sequences that the path is in the midst of.
    pub(crate) underway: Underway,
    /// Whether labels wait without being asked for, as one was too hard a question.
    pub(crate) haste: bool,
}

/// What merging notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergingNotes {
    /// Where the state's log begins, if that is not where all paths do: the union of several paths.
    pub(crate) start: Option<Rc<State>>,
    /// An earlier state of the path, to see whether it goes round in circles.
    pub(crate) mark: Option<Arc<Mark>>,
}

/// What the search notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchNotes {
    /// How often in a row the state let others go on without having been split meanwhile.
    pub(crate) idle: u32,
    /// How many steps it had taken when it met an instruction that no path had passed; only where a search
    /// asks for it.
    pub(crate) fresh_at: u64,
    /// How far a guided search has come with it.
    pub(crate) progress: Progress,
}

/// What the exploration notes of a state that was evicted.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvictionNotes {
    /// A fingerprint of what the state had that was evicted since: registers, memory and facts are gone
    /// until it is made again.
    pub(crate) evicted: Option<u64>,
    /// Who may make it again.
    pub(crate) home: Home,
}

impl machine::state::Notes for AllNotes {
    fn fork(&self) -> Self {
        let GoalNotes { undecided: _, trail, underway, haste } = &self.goals;
        let (trail, underway) = (trail.clone(), underway.clone());
        let SearchNotes { idle: _, fresh_at, progress } = self.search;
        Self {
            goals: GoalNotes { undecided: Vec::new(), trail, underway, haste: *haste },
            merging: MergingNotes { start: self.merging.start.clone(), mark: None },
            search: SearchNotes { idle: 0, fresh_at, progress },
            eviction: EvictionNotes::default(),
        }
    }

    fn leave(&mut self, activation: u64) {
        self.goals.underway.leave(activation);
    }

    fn is_waiting(&self) -> bool {
        !self.goals.undecided.is_empty()
    }
}
