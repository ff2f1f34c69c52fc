//! What the ledger keeps of the choice of a suite's tests ([`super::kept_selection`]).

use std::collections::BTreeSet;

use lydian_ledger::PortableTest;
use lydian_objective::{HyperId, LabelId};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::session::goals::Goal;

/// The tests of a function that a suite has.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::session) struct KeptSelection {
    /// The effort for minimising.
    pub(in crate::session) effort: String,
    /// The time for making tests small, in milliseconds, where that was too short.
    pub(in crate::session) cut_after: Option<u64>,
    pub(in crate::session) tests: Vec<SelectedTest>,
}

/// A test of a selection.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::session) struct SelectedTest {
    pub(in crate::session) test: PortableTest,
    /// Its hash.
    pub(in crate::session) hash: String,
    pub(in crate::session) covers: GoalNumbers,
    /// What it covers that those before it do not.
    pub(in crate::session) adds: GoalNumbers,
}

/// Objectives by the positions of the functions under test.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::session) struct GoalNumbers {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    labels: BTreeSet<(usize, LabelId)>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    hypers: BTreeSet<(usize, HyperId)>,
}

impl GoalNumbers {
    pub(in crate::session) fn of(goals: &FxHashSet<Goal>) -> Self {
        let mut numbers = Self::default();
        for goal in goals {
            match *goal {
                Goal::Label(at, label) => _ = numbers.labels.insert((at, label)),
                Goal::Hyper(at, hyper) => _ = numbers.hypers.insert((at, hyper)),
            }
        }
        numbers
    }

    pub(in crate::session) fn goals(&self) -> FxHashSet<Goal> {
        let labels = self.labels.iter().map(|(at, label)| Goal::Label(*at, *label));
        labels.chain(self.hypers.iter().map(|(at, hyper)| Goal::Hyper(*at, *hyper))).collect()
    }
}
