//! Synchronisation of workers about hyperlabels.

use std::sync::Arc;

use lydian_ir::{DecisionId, FuncId};
use lydian_objective::{CoverageRecord, DecisionVector};
use lydian_smt::{PortableTerms, Term};
use smallvec::SmallVec;

use crate::exploration::explore::Engine;
use crate::exploration::workers::SharedRecord;
use crate::exploration::workers::state_transfer::NamedModel;
use crate::goals::hyper_formula::Number;
use crate::goals::hyper_pairs::Occurrence;
use crate::goals::shared::OccurrencePlace;
use crate::machine::memory::Facts;

/// What one worker tells all others at the end of a round.
#[derive(Default)]
pub(crate) struct Findings {
    /// The coverage records of its tests.
    has: Vec<SharedRecord>,
    /// The vectors of decisions for which it found inputs.
    vectors: Vec<((FuncId, DecisionId), DecisionVector)>,
    occurrences: Vec<SharedOccurrence>,
}

/// A path that covers a part of a guarded conjunction.
struct SharedOccurrence {
    /// The index of the pairing, and of the part in it.
    of: (usize, usize),
    number: usize,
    /// The facts of the path, the condition under which the part is covered, and the values that it
    /// binds.
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
    /// The results since the last delivery, with the coverage records of given tests.
    pub(crate) fn findings(&mut self, has: Vec<SharedRecord>) -> Arc<Findings> {
        let vectors = std::mem::take(&mut self.goals.shared.vectors);
        let places = std::mem::take(&mut self.goals.shared.occurrences);
        let occurrences = self.told(places.into_iter());
        let has = has.into_iter().filter(|has| !has.is_empty()).collect();
        Arc::new(Findings { has, vectors, occurrences })
    }

    /// All results so far, for the workers that are just starting.
    pub(crate) fn all_findings(&mut self) -> Arc<Findings> {
        let given: Vec<(usize, CoverageRecord)> =
            self.goals.hypers.given.iter().cloned().enumerate().collect();
        let mut vectors = Vec::new();
        for (of, rows) in &self.goals.hypers.decisions {
            vectors.extend(rows.vectors().map(|vector| (*of, vector.clone())));
        }
        // A stable sort: the vectors of one decision stay in their order.
        vectors.sort_by_key(|(of, _)| *of);
        let places: Vec<_> = self.goals.hypers.pairs.all_occurrences().collect();
        let occurrences = self.told(places.into_iter());
        Arc::new(Findings { has: vec![given.into()], vectors, occurrences })
    }

    /// The occurrences to be told. Those of a covered hyperlabel are left out.
    fn told(&self, places: impl Iterator<Item = OccurrencePlace>) -> Vec<SharedOccurrence> {
        let pairs = &self.goals.hypers.pairs;
        let is_open = |pairing: usize| !self.goals.hypers.goals[pairs.goal(pairing)].covered;
        let places = places.filter(|place| is_open(place.pairing));
        let told = places.map(|place| {
            let Occurrence { state, holds, bound, number, .. } = pairs.occurrence(place);
            let bound = bound.iter().flat_map(|number| [number.known, number.value]);
            let terms = state.path.facts.iter().chain([holds]).copied().chain(bound);
            SharedOccurrence {
                of: (place.pairing, place.part),
                number: *number,
                terms: PortableTerms::take(&self.machine.pool, terms),
                facts: state.path.facts.len(),
                model: NamedModel::take(&self.machine.pool, &state.model),
            }
        });
        told.collect()
    }

    /// Notes the results of another worker. `asks` says whether this worker is to ask the questions
    /// that follow from the occurrences, which nobody asked before there were several workers.
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

    /// An occurrence of another worker, in this worker's terms.
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
