//! The counts of the verdicts on one criterion's objectives in one function.

use std::collections::BTreeMap;

use lydian_base::Place;
use serde::{Deserialize, Serialize};

use super::{Contradiction, Evidence, Verdict};
use crate::assumption::Assumption;
use crate::criterion::Criterion;

/// The counts of one criterion for one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionRow {
    /// The criterion.
    pub criterion: Criterion,
    /// All objectives, duplicates too.
    pub objectives: usize,
    /// Those that a test covers as measured.
    pub covered: usize,
    /// Those that are proved to be out of reach.
    pub infeasible: usize,
    /// Those that are out of reach under assumptions that nobody stated or accepted.
    pub infeasible_as_assumed: usize,
    /// Those with the site and predicate of an earlier one.
    pub duplicate: usize,
    /// The rest.
    pub unknown: usize,
    /// Why the rest is unknown: each reason with its count, most frequent first.
    pub reasons: Vec<(String, usize)>,
    /// Those that are out of reach under assumptions, each with these.
    pub assumed: Vec<AssumedObjective>,
    /// The granted or accepted assumptions of the *infeasible* objectives, each once.
    pub granted: Vec<Assumption>,
}

/// An objective that is infeasible as assumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssumedObjective {
    /// Its name as an objective of its criterion.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// Its predicate, for the user.
    pub text: String,
    /// The assumptions.
    pub assumptions: Vec<Assumption>,
}

impl CriterionRow {
    /// Counts verdicts. The objectives that are infeasible as assumed are not listed.
    pub fn count(
        criterion: Criterion,
        verdicts: impl IntoIterator<Item = Result<Verdict, Contradiction>>,
    ) -> Self {
        let mut row = Self {
            criterion,
            objectives: 0,
            covered: 0,
            infeasible: 0,
            infeasible_as_assumed: 0,
            duplicate: 0,
            unknown: 0,
            reasons: Vec::new(),
            assumed: Vec::new(),
            granted: Vec::new(),
        };
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for verdict in verdicts {
            row.objectives += 1;
            match verdict {
                Ok(Verdict::Covered { .. }) => row.covered += 1,
                Ok(Verdict::Infeasible { argument }) => {
                    row.infeasible += 1;
                    row.add_granted(&argument);
                }
                Ok(Verdict::InfeasibleAssumed { .. }) => row.infeasible_as_assumed += 1,
                Ok(Verdict::Duplicate { .. }) => row.duplicate += 1,
                Ok(Verdict::Unknown { reason }) => {
                    *reasons.entry(reason.to_string()).or_default() += 1;
                }
                Err(_) => *reasons.entry("contradictory evidence".to_owned()).or_default() += 1,
            }
        }
        row.unknown = reasons.values().sum();
        row.reasons = reasons.into_iter().collect();
        row.reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        row
    }

    fn add_granted(&mut self, argument: &Evidence) {
        for assumption in argument.assumptions().unwrap_or_default() {
            if !self.granted.contains(assumption) {
                self.granted.push(assumption.clone());
            }
        }
    }
}
