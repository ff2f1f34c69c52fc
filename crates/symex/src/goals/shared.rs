//! What several workers share about hyperlabels: which worker asks which question, and what the
//! others are to be told.

use lydian_ir::{DecisionId, FuncId};
use lydian_objective::DecisionVector;

/// One of several workers that share questions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// The number of this worker.
    pub(crate) index: usize,
    /// The number of workers.
    pub(crate) count: usize,
}

impl Asker {
    /// Whether this worker asks for a combination of occurrences with these numbers.
    pub(crate) fn asks(self, numbers: impl Iterator<Item = usize>) -> bool {
        numbers.sum::<usize>() % self.count == self.index
    }
}

/// The place of an occurrence: its pairing, its part, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OccurrencePlace {
    pub(crate) pairing: usize,
    pub(crate) part: usize,
    pub(crate) index: usize,
}

/// The shared questions of a worker, and what it has to tell the others.
#[derive(Debug)]
pub(crate) struct SharedQuestions {
    pub(crate) asker: Asker,
    /// Whether there are other workers to be told.
    pub(crate) tells: bool,
    /// The vectors of decisions found since the last delivery.
    pub(crate) vectors: Vec<((FuncId, DecisionId), DecisionVector)>,
    /// The occurrences found since the last delivery.
    pub(crate) occurrences: Vec<OccurrencePlace>,
}

impl Default for SharedQuestions {
    /// A single worker, which asks all questions.
    fn default() -> Self {
        let asker = Asker { index: 0, count: 1 };
        Self { asker, tells: false, vectors: Vec::new(), occurrences: Vec::new() }
    }
}

impl SharedQuestions {
    /// Notes that an input was found with a vector of a decision.
    pub(crate) fn note_vector(&mut self, of: (FuncId, DecisionId), vector: &DecisionVector) {
        // Workers that start later are told of everything found before when they begin.
        if self.tells {
            self.vectors.push((of, vector.clone()));
        }
    }

    /// Notes an occurrence that was found.
    pub(crate) fn note_occurrence(&mut self, place: OccurrencePlace) {
        if self.tells {
            self.occurrences.push(place);
        }
    }
}
