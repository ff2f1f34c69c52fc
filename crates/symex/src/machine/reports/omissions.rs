//! Omissions: what was left out of an exploration, and the objectives that it may concern.
//!
//! A path that is followed no further, or only on some of its inputs, might still have covered
//! objectives *ahead* of its position: those that edges, calls and returns lead to from there
//! ([`crate::search::distance`]). It could not have covered others. So a label that is left is
//! infeasible in spite of an omission, if no omitted part can reach the label. Where the reachable
//! places are not known, the omission keeps every objective undecided.
//!
//! # Why what is left is infeasible
//!
//! Let a run of the program cover a label that is left, and let no omission lie ahead of the
//! label's site or concern all objectives. The run's input takes some path, which the exploration
//! followed to some position: to its end, or to where it was left out or dropped. Had the
//! exploration followed it past the label, it would have asked there, or noted at the label why
//! not. So the run passes the label behind that position, and the label lies ahead of it. Then
//! either the path was left out there, which is excluded, or it was dropped because nothing that is
//! left lay ahead, which contradicts the label.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::FuncId;

use crate::limits::Cut;
use crate::machine::program::control_flow::{ReachablePlaces, SitePlaces};
use crate::machine::program::site::SiteKey;

/// The omissions of an exploration.
#[derive(Debug, Default)]
pub(crate) struct Omissions {
    /// All reasons, with their counts.
    counts: BTreeMap<Cut, u64>,
    /// The reasons that may concern every objective.
    pub(crate) everywhere: BTreeSet<Cut>,
    /// The reasons at positions of paths, with the places that these may reach.
    pub(crate) ahead: BTreeMap<Cut, ReachablePlaces>,
}

impl Omissions {
    /// Notes a reason that may concern every objective.
    pub(crate) fn everywhere(&mut self, cut: Cut) {
        self.everywhere.insert(cut.clone());
        self.count(cut);
    }

    pub(crate) fn count(&mut self, cut: Cut) {
        *self.counts.entry(cut).or_default() += 1;
    }

    /// Whether nothing was left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All reasons, with their counts.
    pub(crate) const fn counts(&self) -> &BTreeMap<Cut, u64> {
        &self.counts
    }

    /// Adds the omissions of another worker.
    pub(crate) fn add(&mut self, other: Self) {
        for (cut, count) in other.counts {
            *self.counts.entry(cut).or_default() += count;
        }
        self.everywhere.extend(other.everywhere);
        for (cut, reached) in other.ahead {
            self.ahead.entry(cut).or_default().add(reached);
        }
    }
}

/// The omissions by the sites that they concern.
pub(crate) struct Hindrances<'a> {
    pub(crate) omissions: &'a Omissions,
    /// The places of the sites.
    pub(crate) sites: &'a SitePlaces,
}

impl Hindrances<'_> {
    /// The reasons that keep an objective undecided that is covered at some sites.
    pub(crate) fn of(&self, sites: &[(FuncId, SiteKey)]) -> BTreeSet<Cut> {
        let Omissions { everywhere, ahead, .. } = self.omissions;
        let is_ahead = |reached: &ReachablePlaces| {
            sites.iter().any(|(func, site)| self.sites.lies_in(reached, *func, *site))
        };
        let ahead = ahead.iter().filter(|(_, reached)| is_ahead(reached)).map(|(cut, _)| cut);
        everywhere.iter().chain(ahead).cloned().collect()
    }
}
