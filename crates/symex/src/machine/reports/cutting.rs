//! Notes of what is left out.

use crate::config::Mode;
use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::program::control_flow::ReachablePlaces;
use crate::machine::program::site::SiteKey;
use crate::machine::state::{Notes, PassedSite, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Whether something was left out that may concern every objective, so that nothing is
    /// infeasible.
    pub(crate) fn is_cut(&self) -> bool {
        !self.omissions.everywhere.is_empty()
    }

    /// Notes that something was left out that may concern every objective.
    pub(crate) fn cut(&mut self, cut: Cut) {
        self.omissions.everywhere(cut);
    }

    /// Notes that the continuations of some inputs of a path were left out from its current
    /// position on.
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

    /// Adds the places that a path may reach. Returns false where they are not known.
    fn reach_from(&self, state: &State<N>, reached: &mut ReachablePlaces) -> bool {
        let ahead = &self.control_flow;
        let again = self.may_call_again(state).then_some(self.plan.function);
        if again.is_some_and(|function| !ahead.enter(reached, function)) {
            return false;
        }
        let mut frames = state.frames.iter();
        if !frames.all(|frame| ahead.go_on(reached, frame.point())) {
            return false;
        }
        // Sites that were passed and not looked at yet.
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
