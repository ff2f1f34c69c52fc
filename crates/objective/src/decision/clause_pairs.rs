//! MC/DC, CACC, RACC and RICC from the evaluations of a decision, wherever they were recorded.
//!
//! These are the meanings of the hyperlabels of [`crate::annotate::logic::clauses`], for callers that
//! have evaluations and no labels: reports unite the evaluations of one decision of the source that
//! several units, builds and machines recorded.

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId};

use crate::criterion::{ClausePair, Criterion};
use crate::decision::masking::unmasked_conditions;
use crate::decision::predicates::{active_conditions, conditions};
use crate::decision::vector::DecisionVector;
use crate::label::Pred;

/// An objective about a condition of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClausePairObjective {
    /// The relation that two evaluations must have.
    pub pair: ClausePair,
    /// The condition.
    pub condition: ConditionId,
    /// For [`ClausePair::RestrictedInactive`], the outcome of both evaluations.
    pub outcome: Option<bool>,
}

impl ClausePairObjective {
    /// The objective of a criterion by its name ([`crate::annotate::logic::clauses`]), with the
    /// number of its decision in the function.
    pub fn named(criterion: Criterion, name: &str) -> Option<(usize, Self)> {
        let pair = criterion.clause_pair()?;
        let (id, rest) = name.split_once(' ')?;
        let (decision, condition) = id.split_once('.')?;
        let decision = decision.strip_prefix('d')?.parse().ok()?;
        let condition = ConditionId::from_index(condition.strip_prefix('c')?.parse().ok()?);
        let outcome = match pair {
            ClausePair::RestrictedInactive => Some(rest.ends_with(" true")),
            ClausePair::Masking | ClausePair::Correlated | ClausePair::Restricted => None,
        };
        Some((decision, Self { pair, condition, outcome }))
    }

    /// Whether evaluations show it. With `short_circuit`, conditions that were not reached have no
    /// value.
    pub fn is_shown(
        &self,
        tree: &BoolTree,
        short_circuit: bool,
        vectors: &[(DecisionVector, bool)],
    ) -> bool {
        match self.pair {
            ClausePair::Masking => self.is_correlated(unmasked_conditions(tree), vectors),
            ClausePair::Correlated if short_circuit => {
                self.is_correlated(unmasked_conditions(tree), vectors)
            }
            ClausePair::Correlated => self.is_correlated(active_conditions(tree), vectors),
            ClausePair::Restricted | ClausePair::RestrictedInactive => {
                self.is_restricted(tree, short_circuit, vectors)
            }
        }
    }

    /// Whether two evaluations with different outcomes, in which the condition counts, have it true
    /// and false.
    fn is_correlated(
        &self,
        counting: Vec<(ConditionId, Pred)>,
        vectors: &[(DecisionVector, bool)],
    ) -> bool {
        let Some((_, counts)) = counting.into_iter().find(|(id, _)| *id == self.condition) else {
            return false;
        };
        let mut seen = [[false; 2]; 2];
        for (vector, outcome) in vectors {
            if vector.known.contains(self.condition) && counts.eval(vector).is_true() {
                let value = vector.value.contains(self.condition);
                seen[usize::from(value)][usize::from(*outcome)] = true;
            }
        }
        seen[1][1] && seen[0][0] || seen[1][0] && seen[0][1]
    }

    /// Whether two evaluations differ in the condition alone, with different outcomes or with the
    /// required one.
    fn is_restricted(
        &self,
        tree: &BoolTree,
        short_circuit: bool,
        vectors: &[(DecisionVector, bool)],
    ) -> bool {
        let conditions = conditions(tree);
        let agree = |a: &DecisionVector, b: &DecisionVector, id: ConditionId| {
            let both = a.known.contains(id) && b.known.contains(id);
            let same = a.value.contains(id) == b.value.contains(id);
            match short_circuit {
                true => !(a.reached.contains(id) && b.reached.contains(id)) || same,
                false => both && same,
            }
        };
        let differs = |a: &DecisionVector, b: &DecisionVector| {
            let id = self.condition;
            let have = |vector: &DecisionVector| match short_circuit {
                true => vector.reached.contains(id),
                false => vector.known.contains(id),
            };
            have(a) && have(b) && a.value.contains(id) != b.value.contains(id)
        };
        let of = |wanted: bool| vectors.iter().filter(move |(_, outcome)| *outcome == wanted);
        let (first, second) = match self.outcome {
            Some(outcome) => (outcome, outcome),
            None => (true, false),
        };
        of(first).any(|(a, _)| {
            of(second).any(|(b, _)| {
                differs(a, b)
                    && conditions.iter().all(|id| *id == self.condition || agree(a, b, *id))
            })
        })
    }
}
