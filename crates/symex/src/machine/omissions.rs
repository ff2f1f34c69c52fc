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

use crate::config::Mode;
use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::control_flow::{ReachablePlaces, SitePlaces};
use crate::machine::site::SiteKey;
use crate::machine::state::{Notes, PassedSite, State};

/// What was left out of an exploration.
#[derive(Debug, Default)]
pub(crate) struct Omissions {
    /// Everything, and how often.
    counts: BTreeMap<Cut, u64>,
    /// What may concern every objective.
    everywhere: BTreeSet<Cut>,
    /// What was left out at places of paths: where these may come to.
    ahead: BTreeMap<Cut, ReachablePlaces>,
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

impl<N: Notes> Machine<'_, '_, N> {
    /// Whether something was left out that may concern every objective: then nothing is infeasible.
    pub(crate) fn is_cut(&self) -> bool {
        !self.omissions.everywhere.is_empty()
    }

    /// Notes that something was left out that may concern every objective.
    pub(crate) fn cut(&mut self, cut: Cut) {
        self.omissions.everywhere(cut);
    }

    /// Notes that what some inputs of a path do from where it is now was left out.
    pub(crate) fn cut_ahead(&mut self, state: &State<N>, cut: Cut) {
        let is_known = self.context.config.mode == Mode::Tight
            && self.control_flow.is_structured()
            && state.has_begun(self.roots.len());
        if !is_known {
            return self.cut(cut);
        }
        let mut reached = self.omissions.ahead.remove(&cut).unwrap_or_default();
        let is_complete = self.reach_from(state, &mut reached);
        self.omissions.ahead.insert(cut.clone(), reached);
        match is_complete {
            true => self.omissions.count(cut),
            false => self.omissions.everywhere(cut),
        }
    }

    /// Adds where a path may come to. False where that is not known.
    fn reach_from(&self, state: &State<N>, reached: &mut ReachablePlaces) -> bool {
        let ahead = &self.control_flow;
        let again = self.may_call_again(state).then_some(self.plan.function);
        if again.is_some_and(|function| !ahead.enter(reached, function)) {
            return false;
        }
        let mut frames = state.frames.iter();
        if !frames.all(|frame| ahead.go_on(reached, frame.func, frame.block, frame.next)) {
            return false;
        }
        // What was passed and not looked at yet.
        let Some(func) = state.frames.last().map(|frame| frame.func) else { return true };
        let evaluated = state.passing.evaluated.map(|(of, one)| SiteKey::Condition(of, one));
        for site in state.passing.arrival.into_iter().chain(evaluated) {
            reached.pass(func, site);
        }
        for passed in &state.passing.queue {
            match passed {
                PassedSite::Site(site) => reached.pass(func, *site),
                PassedSite::Where { site, .. } => reached.pass(func, *site),
            }
        }
        !state.notes.is_waiting()
    }
}
