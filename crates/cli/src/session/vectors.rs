//! Hyperlabels over the vectors of one decision that are infeasible whatever the program does before:
//! no states allow vectors that cover them together.
//!
//! A vector that no state allows is one whose conditions contradict each other, which a local proof
//! finds as it does for a label. What is left are all vectors that a run could have; where these
//! together do not cover a hyperlabel, no tests can.

use std::collections::BTreeMap;

use lydian_ir::{Body, DecisionId};
use lydian_objective::event::vector_bits;
use lydian_objective::harvest::vectors_give;
use lydian_objective::hyper::Atom;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{
    DecisionVector, FunctionObjectives, Harvest, Hyper, HyperId, Label, LabelId, Pred,
};

use rustc_hash::FxHashSet;

use super::Goal;

/// Decisions with more conditions are left to exploration: their vectors are too many.
const MOST_CONDITIONS: usize = 6;

/// Those of some hyperlabels that no vectors of their decision cover together but such as a label is
/// impossible that asks for them.
pub(super) fn infeasible(
    objectives: &FunctionObjectives,
    body: &Body,
    left: &[Goal],
    short_circuit: bool,
    is_impossible: &mut dyn FnMut(&Label) -> bool,
) -> Vec<HyperId> {
    let mut known: BTreeMap<DecisionId, Harvest> = BTreeMap::new();
    let mut found = Vec::new();
    for goal in left {
        let Goal::Hyper(_, id) = goal else { continue };
        let hyper = &objectives.hypers[*id].hyper;
        let Some((decision, like)) = decision_of(objectives, body, hyper) else { continue };
        let harvest = known.entry(decision).or_insert_with(|| {
            allowed(objectives, body, decision, short_circuit, like, is_impossible)
        });
        if harvest.covers(objectives, hyper) == Ok(false) {
            found.push(*id);
        }
    }
    found
}

/// The decision whose vectors say whether a hyperlabel is covered, if there is one and it is small, with
/// a label at it.
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

/// All vectors of a decision but those that `is_impossible` of a label which asks for them. `like` is
/// some label at the decision.
fn allowed(
    objectives: &FunctionObjectives,
    body: &Body,
    decision: DecisionId,
    short_circuit: bool,
    like: LabelId,
    is_impossible: &mut dyn FnMut(&Label) -> bool,
) -> Harvest {
    let mut harvest = Harvest::new();
    let of = &body.decisions[decision];
    let count = vector_bits(of, short_circuit);
    let mut seen: FxHashSet<DecisionVector> = FxHashSet::default();
    for bits in 0..1u64 << count {
        let vector = DecisionVector::from_bits(of, short_circuit, |bit| bits >> bit & 1 == 1);
        if seen.contains(&vector) {
            continue;
        }
        // What is not known of the vector is left out, so that the label asks for less.
        let known = of.conditions.iter().filter(|(id, _)| vector.known.contains(*id));
        let asked = known.fold(Pred::Const(true), |all, (id, _)| {
            let own = Pred::Cond(id);
            let own = if vector.value.contains(id) { own } else { Pred::not(own) };
            Pred::and(all, own)
        });
        let label = Label { pred: asked, ..objectives.labels[like].clone() };
        if !is_impossible(&label) {
            harvest.add_vector(decision, vector.clone());
        }
        seen.insert(vector);
    }
    harvest
}
