//! What several workers share of hyperlabels: which of them asks what, and what the others are to be told.

use lydian_ir::{DecisionId, FuncId};
use lydian_objective::DecisionVector;

/// Who is asked, of several workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// The number of this worker.
    pub(crate) index: usize,
    /// How many there are.
    pub(crate) count: usize,
}

impl Asker {
    /// Whether this one asks for a combination of occurrences with these numbers.
    pub(crate) fn asks(self, numbers: impl Iterator<Item = usize>) -> bool {
        numbers.sum::<usize>() % self.count == self.index
    }
}

/// The place of an occurrence: its pairing, its part, and its position.
pub(crate) type OccurrencePlace = (usize, usize, usize);

/// What a worker shares.
#[derive(Debug)]
pub(crate) struct SharedQuestions {
    pub(crate) asker: Asker,
    /// Whether there are others to be told.
    pub(crate) tells: bool,
    /// The vectors that decisions were found to have since others were told.
    pub(crate) vectors: Vec<((FuncId, DecisionId), DecisionVector)>,
    /// The places of paths that cover a part of a guarded conjunction, found since others were told.
    pub(crate) occurrences: Vec<OccurrencePlace>,
}

impl Default for SharedQuestions {
    /// By the only worker that there is.
    fn default() -> Self {
        let asker = Asker { index: 0, count: 1 };
        Self { asker, tells: false, vectors: Vec::new(), occurrences: Vec::new() }
    }
}

impl SharedQuestions {
    /// Notes that an input was found with a vector of a decision.
    pub(crate) fn note_vector(&mut self, of: (FuncId, DecisionId), vector: &DecisionVector) {
        // What was found before there were others they are told when they begin.
        if self.tells {
            self.vectors.push((of, vector.clone()));
        }
    }

    /// Notes that a path was found which covers a part of a guarded conjunction, and its place.
    pub(crate) fn note_occurrence(&mut self, place: OccurrencePlace) {
        if self.tells {
            self.occurrences.push(place);
        }
    }
}
