//! The goals of a session's tests: the objectives of its functions under test.

use lydian_ledger::EvidenceScope;
use lydian_objective::changes::ImpactedObjectives;
use lydian_objective::evidence::{Contradiction, Verdict};
use lydian_objective::{Criterion, FunctionObjectives, HyperId, LabelId, LabelKey};
use rustc_hash::FxHashMap;

/// A function whose objectives are to be reached.
pub(crate) struct FunctionUnderTest<'a> {
    pub(crate) objectives: &'a FunctionObjectives,
    /// Position of the function among those that are measured.
    pub(crate) index: usize,
    pub(crate) scope: EvidenceScope,
    /// The objectives that are asked for, where only those are that a change affects.
    pub(crate) impacted: Option<&'a ImpactedObjectives>,
}

/// The verdicts on objectives, or their contradictory evidence.
pub(crate) type Verdicts = FxHashMap<LabelKey, Result<Verdict, Contradiction>>;

/// An objective of a function under test, by the function's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Goal {
    Label(usize, LabelId),
    Hyper(usize, HyperId),
}

/// An objective as a criterion counts it.
pub(crate) struct Entry<'t> {
    pub(crate) criterion: Criterion,
    /// The criterion's name for it.
    pub(crate) name: &'t str,
    pub(crate) goal: Goal,
    /// The name of the objective that it duplicates, if it does.
    pub(crate) same_as: Option<&'t str>,
}

impl Goal {
    /// The label, if it is one.
    pub(crate) const fn label(self) -> Option<LabelId> {
        match self {
            Self::Label(_, label) => Some(label),
            Self::Hyper(..) => None,
        }
    }

    /// Whether it is a label.
    pub(crate) const fn is_label(self) -> bool {
        self.label().is_some()
    }

    /// The position of the function under test.
    pub(crate) const fn target(self) -> usize {
        match self {
            Self::Label(target, _) | Self::Hyper(target, _) => target,
        }
    }
}

impl FunctionUnderTest<'_> {
    /// The key of an objective of it.
    pub(crate) fn key(&self, goal: Goal) -> &LabelKey {
        match goal {
            Goal::Label(_, label) => &self.objectives.labels[label].key,
            Goal::Hyper(_, hyper) => &self.objectives.hypers[hyper].key,
        }
    }

    /// Whether an objective of it is asked for.
    pub(crate) fn asks_for(&self, goal: Goal) -> bool {
        self.impacted.is_none_or(|impacted| match goal {
            Goal::Label(_, label) => impacted.labels.contains(&label),
            Goal::Hyper(_, hyper) => impacted.hypers.contains(&hyper),
        })
    }

    /// The place of an objective of it.
    pub(crate) fn place(&self, goal: Goal) -> &lydian_base::Place {
        match goal {
            Goal::Label(_, label) => &self.objectives.labels[label].place,
            Goal::Hyper(_, hyper) => &self.objectives.hypers[hyper].place,
        }
    }

    /// The objectives that its criteria count, so without duplicates; labels first. It is the function at a
    /// position.
    pub(crate) fn entries(&self, at: usize) -> impl Iterator<Item = Entry<'_>> {
        self.all_entries(at).filter(|entry| entry.same_as.is_none())
    }

    /// All objectives of its criteria, labels first. It is the function at a position.
    pub(crate) fn all_entries(&self, at: usize) -> impl Iterator<Item = Entry<'_>> {
        let FunctionObjectives { criteria, hyper_criteria, .. } = self.objectives;
        let labels = criteria.iter().flat_map(move |(&criterion, entries)| {
            entries.iter().map(move |entry| {
                let first = entry.duplicate_of.and_then(|first| entries.get(first as usize));
                let (goal, name) = (Goal::Label(at, entry.label), entry.name.as_str());
                Entry { criterion, name, goal, same_as: first.map(|first| first.name.as_str()) }
            })
        });
        let hypers = hyper_criteria.iter().flat_map(move |(&criterion, entries)| {
            entries.iter().map(move |entry| {
                let first = entry.duplicate_of.and_then(|first| entries.get(first as usize));
                let (goal, name) = (Goal::Hyper(at, entry.hyper), entry.name.as_str());
                Entry { criterion, name, goal, same_as: first.map(|first| first.name.as_str()) }
            })
        });
        labels.chain(hypers)
    }
}
