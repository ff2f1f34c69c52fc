//! Proofs that hyperlabels over the vectors of one decision are infeasible in every program state: no
//! possible vectors cover them together.
//!
//! A vector is impossible if its conditions contradict each other, which a local proof finds as for a
//! label. The remaining vectors are a superset of those that runs can have. If they do not cover a
//! hyperlabel together, no tests can.

use std::collections::BTreeMap;

use lydian_ir::{Body, DecisionId};
use lydian_objective::coverage_record::vectors_give;
use lydian_objective::decision::vector::vector_bits;
use lydian_objective::hyper::Atom;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{
    CoverageRecord, DecisionVector, FunctionObjectives, Hyper, HyperId, Label, LabelId, Pred,
};

use rustc_hash::FxHashSet;

use crate::session::goals::Goal;

/// Decisions with more conditions are left to exploration: their vectors are too many.
const MOST_CONDITIONS: usize = 6;

/// Questions about the labels of a decision.
pub(crate) trait LabelQuestions {
    /// Whether a state is known in which it is true. Costs little.
    fn is_possible(&mut self, label: &Label) -> bool;

    /// Whether it is true in no state. Uses a solver.
    fn is_impossible(&mut self, label: &Label) -> bool;
}

/// The hyperlabels that are covered by no vectors of their decision without a vector that is proved
/// impossible.
pub(crate) fn infeasible(
    objectives: &FunctionObjectives,
    body: &Body,
    left: &[Goal],
    short_circuit: bool,
    ask: &mut dyn LabelQuestions,
) -> Vec<HyperId> {
    let mut known: BTreeMap<DecisionId, Vectors> = BTreeMap::new();
    let mut found = Vec::new();
    for goal in left {
        let Goal::Hyper(_, id) = goal else { continue };
        let hyper = &objectives.hypers[*id].hyper;
        let Some((decision, like)) = decision_of(objectives, body, hyper) else { continue };
        let vectors = known
            .entry(decision)
            .or_insert_with(|| Vectors::of(objectives, body, (decision, like), short_circuit, ask));
        if vectors.exclude(objectives, hyper, ask) {
            found.push(*id);
        }
    }
    found
}

/// The decision whose vectors decide whether a hyperlabel is covered, if there is one and it is small,
/// with a label at it.
fn decision_of(
    objectives: &FunctionObjectives,
    body: &Body,
    hyper: &Hyper,
) -> Option<(DecisionId, LabelId)> {
    let mut decisions: Vec<Option<(DecisionId, LabelId)>> = Vec::new();
    hyper.for_each_part(&mut |part| {
        decisions.push(match part {
            Part::Atom(atom) => decision_of_atom(objectives, atom).map(|d| (d, atom.label)),
            Part::Sequence(_) => None,
        });
    });
    let first = (*decisions.first()?)?;
    let same = decisions.iter().all(|of| of.is_some_and(|(decision, _)| decision == first.0));
    let small = body.decisions[first.0].conditions.len() <= MOST_CONDITIONS;
    (same && small).then_some(first)
}

fn decision_of_atom(objectives: &FunctionObjectives, atom: &Atom) -> Option<DecisionId> {
    if atom.function != objectives.function {
        return None;
    }
    vectors_give(objectives, atom.label, atom.bindings.iter().map(|binding| &binding.value))
}

/// The vectors of a decision, by whether states are known to allow them.
struct Vectors {
    decision: DecisionId,
    /// The undecided vectors, for which neither a state nor a proof of impossibility is known, with
    /// labels for them.
    open: Vec<(DecisionVector, Label)>,
    /// The other vectors that are not impossible.
    allowed: CoverageRecord,
}

impl Vectors {
    /// All vectors of a decision. `like` is some label at it.
    fn of(
        objectives: &FunctionObjectives,
        body: &Body,
        (decision, like): (DecisionId, LabelId),
        short_circuit: bool,
        ask: &mut dyn LabelQuestions,
    ) -> Self {
        let mut this = Self { decision, open: Vec::new(), allowed: CoverageRecord::new() };
        let of = &body.decisions[decision];
        let count = vector_bits(of, short_circuit);
        let mut seen: FxHashSet<DecisionVector> = FxHashSet::default();
        for bits in 0..1u64 << count {
            let vector = DecisionVector::from_bits(of, short_circuit, |bit| bits >> bit & 1 == 1);
            if !seen.insert(vector.clone()) {
                continue;
            }
            // Unknown conditions of the vector are left out, which makes the label weaker.
            let known = of.conditions.iter().filter(|(id, _)| vector.known.contains(*id));
            let asked = known.fold(Pred::Const(true), |all, (id, _)| {
                let own = Pred::Cond(id);
                let own = if vector.value.contains(id) { own } else { Pred::not(own) };
                Pred::and(all, own)
            });
            let label = Label { pred: asked, ..objectives.labels[like].clone() };
            match ask.is_possible(&label) {
                true => _ = this.allowed.add_vector(decision, vector),
                false => this.open.push((vector, label)),
            }
        }
        this
    }

    /// Whether the possible vectors do not cover a hyperlabel together. Asks only about as many vectors
    /// as necessary.
    fn exclude(
        &mut self,
        objectives: &FunctionObjectives,
        hyper: &Hyper,
        ask: &mut dyn LabelQuestions,
    ) -> bool {
        while self.allowed.covers(objectives, hyper) == Ok(false) {
            let Some((vector, label)) = self.open.pop() else { return true };
            if !ask.is_impossible(&label) {
                self.allowed.add_vector(self.decision, vector);
            }
        }
        false
    }
}
