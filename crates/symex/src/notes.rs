//! The notes that each part keeps with a state. A note travels with its state. The machine copies
//! notes and never looks into them; each part reads and writes its own.

use std::rc::Rc;
use std::sync::Arc;

use crate::goals::core_cache::OpenLabel;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::SequencesUnderWay;
use crate::goals::occurrences::PathOccurrences;
use crate::merging::cycles::CycleMark;
use crate::search::directed::Progress;
use crate::{State, machine};

/// The workers that may replay an evicted state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Home {
    /// Any worker. This worker evicted it.
    #[default]
    Any,
    /// This worker tries, and gives the state back to the worker with the number where it cannot.
    Elsewhere(usize),
    /// Only this worker: another worker failed to replay it.
    Here,
}

/// The notes of all parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllNotes {
    pub(crate) goals: GoalNotes,
    pub(crate) merging: MergingNotes,
    pub(crate) search: SearchNotes,
    pub(crate) eviction: EvictionNotes,
    /// The conditions of the path that augmentation may transform.
    pub(crate) occurrences: PathOccurrences,
}

/// Notes of the goals.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoalNotes {
    /// Labels of the site that control passes which no input covers together with the labels that
    /// the model covers; each with the condition under which it holds.
    pub(crate) undecided: Vec<OpenLabel>,
    /// The evaluations of decisions that hyperlabels ask for.
    pub(crate) trail: Trail,
    /// The sequences under way on the path.
    pub(crate) underway: SequencesUnderWay,
    /// Whether labels are deferred without a question, because the question for one of them was too
    /// hard.
    pub(crate) haste: bool,
}

/// Notes of merging.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergingNotes {
    /// The state at which the log begins, for a state that merging made of several paths. `None`
    /// where the log begins at the first state of the exploration.
    pub(crate) start: Option<Rc<State>>,
    /// An earlier state of the path, which a later one is compared with to find out whether the
    /// path is a cycle.
    pub(crate) mark: Option<Arc<CycleMark>>,
    /// The numbers of inputs and facts when the state was last compared with those of other paths.
    pub(crate) compared: (usize, usize),
}

/// Notes of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchNotes {
    /// How often in a row the state let others go on without being split meanwhile.
    pub(crate) idle: u32,
    /// The number of steps that the state had taken when it met an instruction that no path had
    /// passed. Only searches that use it set it.
    pub(crate) fresh_at: u64,
    /// The progress of a directed search with this state.
    pub(crate) progress: Progress,
}

/// Notes of the exploration about eviction.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvictionNotes {
    /// The fingerprint of an evicted state. Registers, memory and facts of the state are gone until
    /// it is replayed. `None` for a whole state.
    pub(crate) evicted: Option<u64>,
    /// The workers that may replay it.
    pub(crate) home: Home,
}

impl machine::state::Notes for AllNotes {
    fn fork(&self) -> Self {
        let GoalNotes { undecided: _, trail, underway, haste } = &self.goals;
        let (trail, underway) = (trail.clone(), underway.clone());
        let SearchNotes { idle: _, fresh_at, progress } = self.search;
        Self {
            goals: GoalNotes { undecided: Vec::new(), trail, underway, haste: *haste },
            merging: MergingNotes {
                start: self.merging.start.clone(),
                mark: None,
                compared: self.merging.compared,
            },
            search: SearchNotes { idle: 0, fresh_at, progress },
            eviction: EvictionNotes::default(),
            occurrences: self.occurrences.clone(),
        }
    }

    fn leave(&mut self, activation: u64) {
        self.goals.underway.leave(activation);
    }

    fn is_waiting(&self) -> bool {
        !self.goals.undecided.is_empty()
    }
}
