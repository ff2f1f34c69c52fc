//! What the ledger keeps of the choice of a suite's tests ([`super::selection`]).

use std::collections::BTreeSet;

use lydian_ledger::PortableTest;
use lydian_objective::{HyperId, LabelId};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::goals::Goal;

/// The tests of a function that a suite has.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptSelection {
    /// The effort for minimising.
    pub(super) effort: String,
    /// The time for making tests small, in milliseconds, where that was too short.
    pub(super) cut_after: Option<u64>,
    pub(super) tests: Vec<SelectedTest>,
}

/// A test of a selection.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SelectedTest {
    pub(super) test: PortableTest,
    /// Its hash.
    pub(super) hash: String,
    pub(super) covers: GoalNumbers,
    /// What it covers that those before it do not.
    pub(super) adds: GoalNumbers,
}

/// Objectives by the positions of the functions under test.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct GoalNumbers {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    labels: BTreeSet<(usize, LabelId)>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    hypers: BTreeSet<(usize, HyperId)>,
}

impl GoalNumbers {
    pub(super) fn of(goals: &FxHashSet<Goal>) -> Self {
        let mut numbers = Self::default();
        for goal in goals {
            match *goal {
                Goal::Label(at, label) => _ = numbers.labels.insert((at, label)),
                Goal::Hyper(at, hyper) => _ = numbers.hypers.insert((at, hyper)),
            }
        }
        numbers
    }

    pub(super) fn goals(&self) -> FxHashSet<Goal> {
        let labels = self.labels.iter().map(|(at, label)| Goal::Label(*at, *label));
        labels.chain(self.hypers.iter().map(|(at, hyper)| Goal::Hyper(*at, *hyper))).collect()
    }
}
