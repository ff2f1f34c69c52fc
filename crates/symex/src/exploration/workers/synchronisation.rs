//! What workers tell each other of hyperlabels.

use std::sync::Arc;

use lydian_ir::{DecisionId, FuncId};
use lydian_objective::{CoverageRecord, DecisionVector};
use lydian_smt::{PortableTerms, Term};
use smallvec::SmallVec;

use crate::exploration::explore::Engine;
use crate::exploration::workers::Has;
use crate::exploration::workers::state_transfer::NamedModel;
use crate::goals::hyper_formula::Number;
use crate::goals::hyper_pairs::Occurrence;
use crate::machine::memory::Facts;

/// What one worker tells all others at the end of a round.
#[derive(Default)]
pub(crate) struct Findings {
    /// What the tests give that it found.
    has: Vec<Has>,
    /// The vectors of decisions with which it found inputs.
    vectors: Vec<((FuncId, DecisionId), DecisionVector)>,
    occurrences: Vec<SharedOccurrence>,
}

/// A path that covers a part of a guarded conjunction.
struct SharedOccurrence {
    /// The pairing and its part.
    of: (usize, usize),
    number: usize,
    /// Its facts, where the part is covered, and what that binds.
    terms: PortableTerms,
    facts: usize,
    model: NamedModel,
}

impl Findings {
    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.has.is_empty() && self.vectors.is_empty() && self.occurrences.is_empty()
    }
}

impl Engine<'_, '_> {
    /// What was found since others were told, with what the tests give that were given.
    pub(crate) fn findings(&mut self, has: Vec<Has>) -> Arc<Findings> {
        let vectors = std::mem::take(&mut self.goals.shared.vectors);
        let places = std::mem::take(&mut self.goals.shared.occurrences);
        let occurrences = self.told(places.into_iter());
        let has = has.into_iter().filter(|has| !has.is_empty()).collect();
        Arc::new(Findings { has, vectors, occurrences })
    }

    /// All that is known to the only worker that there was.
    pub(crate) fn all_findings(&mut self) -> Arc<Findings> {
        let given: Vec<(usize, CoverageRecord)> =
            self.goals.hypers.given.iter().cloned().enumerate().collect();
        let mut vectors = Vec::new();
        for (of, rows) in &self.goals.hypers.decisions {
            vectors.extend(rows.vectors().map(|vector| (*of, vector.clone())));
        }
        // Stable: the vectors of one decision stay in their order.
        vectors.sort_by_key(|(of, _)| *of);
        let places: Vec<_> = self.goals.hypers.pairs.all_occurrences().collect();
        let occurrences = self.told(places.into_iter());
        Arc::new(Findings { has: vec![given.into()], vectors, occurrences })
    }

    /// What is to be told of these occurrences. Nobody is told of those of a hyperlabel that is
    /// covered.
    fn told(&self, places: impl Iterator<Item = (usize, usize, usize)>) -> Vec<SharedOccurrence> {
        let pairs = &self.goals.hypers.pairs;
        let is_open = |pairing: usize| !self.goals.hypers.goals[pairs.goal(pairing)].covered;
        let places = places.filter(|(pairing, ..)| is_open(*pairing));
        let told = places.map(|place| {
            let Occurrence { state, holds, bound, number, .. } = pairs.occurrence(place);
            let bound = bound.iter().flat_map(|number| [number.known, number.value]);
            let terms = state.path.facts.iter().chain([holds]).copied().chain(bound);
            SharedOccurrence {
                of: (place.0, place.1),
                number: *number,
                terms: PortableTerms::take(&self.machine.pool, terms),
                facts: state.path.facts.len(),
                model: NamedModel::take(&self.machine.pool, &state.model),
            }
        });
        told.collect()
    }

    /// Notes what another worker told. `asks` says whether what follows from its occurrences is to be
    /// asked, and was not before there were several workers.
    pub(crate) fn learn_findings(&mut self, findings: &Findings, asks: bool) {
        for has in &findings.has {
            self.goals.learn_given(has, self.stopped);
        }
        for (of, vector) in &findings.vectors {
            self.goals.learn_vector(*of, vector, self.stopped);
        }
        for told in &findings.occurrences {
            let Some(occurrence) = self.occurrence_of(told) else {
                return self.lose_a_worker();
            };
            self.goals.learn_occurrence(told.of, occurrence, asks);
        }
    }

    /// What was told of an occurrence, in this worker's terms.
    fn occurrence_of(&mut self, told: &SharedOccurrence) -> Option<Occurrence> {
        let made = told.terms.make(&mut self.machine.pool);
        let (facts, rest) = made.split_at(told.facts);
        let (holds, bound) = rest.split_first()?;
        let bound = bound
            .chunks_exact(2)
            .map(|number: &[Term]| Number { known: number[0], value: number[1] });
        let bound: SmallVec<[Number; 2]> = bound.collect();
        let mut state = self.machine.start()?.fork();
        state.path.facts = Facts::new();
        facts.iter().for_each(|fact| state.path.facts.push(*fact));
        state.model = told.model.make(&mut self.machine.pool);
        Some(Occurrence { state, holds: *holds, bound, number: told.number, elsewhere: true })
    }
}
