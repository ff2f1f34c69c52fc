//! What was left out of an exploration, and which objectives that may concern.
//!
//! A path that is followed no further, or on some of its inputs only, may still have covered what lies
//! *ahead* of where it was: what edges, calls and returns lead to from there ([`crate::search::distance`]). It says
//! nothing against what does not. So a label that is left is infeasible though something was left out, if
//! all that was left out lies where it cannot come to the label. Where that is not known of something, it
//! stands in the way of every objective.
//!
//! # Why what is left is infeasible
//!
//! Let a run of the program cover a label that is left, and let nothing that was left out lie ahead of
//! the label's site or stand in the way of all. The run's input takes some path, which the exploration
//! followed up to some place: to its end, or to where it was left out or dropped. Had the exploration
//! followed it past the label, it would have asked there, or noted at the label why not. So the run
//! passes the label behind that place. Then the label lies ahead of it, and either the path was left
//! out there, which is excluded, or it was dropped because nothing that was left lay ahead, which the
//! label did.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::FuncId;

use crate::limits::Cut;
use crate::machine::program::control_flow::{ReachablePlaces, SitePlaces};
use crate::machine::program::site::SiteKey;

/// What was left out of an exploration.
#[derive(Debug, Default)]
pub(crate) struct Omissions {
    /// Everything, and how often.
    counts: BTreeMap<Cut, u64>,
    /// What may concern every objective.
    pub(crate) everywhere: BTreeSet<Cut>,
    /// What was left out at places of paths: where these may come to.
    pub(crate) ahead: BTreeMap<Cut, ReachablePlaces>,
}

impl Omissions {
    /// Notes what may concern every objective.
    pub(crate) fn everywhere(&mut self, cut: Cut) {
        self.everywhere.insert(cut.clone());
        self.count(cut);
    }

    pub(crate) fn count(&mut self, cut: Cut) {
        *self.counts.entry(cut).or_default() += 1;
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Everything, and how often.
    pub(crate) const fn counts(&self) -> &BTreeMap<Cut, u64> {
        &self.counts
    }

    /// Adds what another worker left out.
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

/// What was left out, as those who ask for it by site see it.
pub(crate) struct Hindrances<'a> {
    pub(crate) omissions: &'a Omissions,
    /// Where the sites lie.
    pub(crate) sites: &'a SitePlaces,
}

impl Hindrances<'_> {
    /// What stands in the way of something that is covered at some sites.
    pub(crate) fn of(&self, sites: &[(FuncId, SiteKey)]) -> BTreeSet<Cut> {
        let Omissions { everywhere, ahead, .. } = self.omissions;
        let is_ahead = |reached: &ReachablePlaces| {
            sites.iter().any(|(func, site)| self.sites.lies_in(reached, *func, *site))
        };
        let ahead = ahead.iter().filter(|(_, reached)| is_ahead(reached)).map(|(cut, _)| cut);
        everywhere.iter().chain(ahead).cloned().collect()
    }
}
