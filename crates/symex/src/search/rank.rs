//! Ranks: the distance of a state to a label that is left, and whether it can meet one at all.

use lydian_base::EntityId;

use crate::State;
use crate::goals::labels::LabelTable;
use crate::machine::program::site::SiteKey;
use crate::machine::state::PassedSite;
use crate::search::distance::{DistanceTarget, Distances, FAR};

/// The cost of updating distances: one block may cost this many steps of states.
const STEPS: u64 = 2;

/// The added distance of a state for each time that it let others go on.
const IDLE: u64 = 8;

/// Distances to labels that are left, kept until enough of them are covered.
pub(crate) struct Ranks {
    distances: Distances,
    /// How often each block was picked, by function and block.
    visits: Vec<Vec<u32>>,
    /// The counters at the last update of the distances.
    updated_at: Option<UpdateCounters>,
}

/// Counters of an exploration that decide when distances are updated.
#[derive(Clone, Copy)]
struct UpdateCounters {
    /// Objectives that are left.
    left: usize,
    /// Labels that no path reached.
    unreached: usize,
    /// How often labels were reopened.
    reopened: usize,
    /// Steps taken.
    steps: u64,
}

impl Ranks {
    pub(crate) fn new(distances: Distances) -> Self {
        Self { distances, visits: Vec::new(), updated_at: None }
    }

    /// The distances to labels that are left.
    pub(crate) const fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The rank of a state: its distance, plus penalties for blocks that were picked often and for
    /// a state that was picked without being split. Where no unreached label lies ahead, the rank
    /// is that among all labels that are left, behind all others.
    pub(crate) fn rank(
        &self,
        state: &State,
        target: DistanceTarget,
        labels: &LabelTable<'_>,
    ) -> u64 {
        let mut best = FAR;
        for (depth, frame) in state.frames.iter().rev().enumerate() {
            let here = self.distances.distance(target, frame.func, frame.block, frame.next);
            best = best.min(here.unwrap_or(FAR).saturating_add(depth as u32));
        }
        if target == DistanceTarget::Left && best >= FAR && arrives_at_open_label(state, labels) {
            best = 0;
        }
        if target == DistanceTarget::New && best >= FAR {
            return u64::from(FAR) + self.rank(state, DistanceTarget::Left, labels);
        }
        let visits = state.frames.last().map_or(0, |frame| {
            let visits = self.visits.get(frame.func.index());
            visits.and_then(|of| of.get(frame.block.index()).copied()).unwrap_or(0)
        });
        u64::from(best)
            + u64::from((visits + 1).ilog2())
            + IDLE * u64::from(state.notes.search.idle)
    }

    /// Whether no continuation of a state's path meets a label that is left. Outdated distances may
    /// include labels that were covered since, but miss none.
    pub(crate) fn is_hopeless(&self, state: &State, labels: &LabelTable<'_>) -> bool {
        let far = |frame: &std::sync::Arc<crate::machine::state::Frame>| {
            let distance =
                self.distances.distance(DistanceTarget::Left, frame.func, frame.block, frame.next);
            distance.is_some_and(|distance| distance >= FAR)
        };
        let is_waiting = |passed: &PassedSite| match passed {
            PassedSite::Site(site) => labels.is_open(state.frame().func, *site),
            PassedSite::Where { goal, .. } => !labels.is_covered(*goal),
        };
        self.distances.is_structured()
            && !state.passing.queue.iter().any(is_waiting)
            && state.notes.goals.undecided.is_empty()
            && state.frames.iter().rev().all(far)
            && !arrives_at_open_label(state, labels)
    }

    /// Notes that a state was picked.
    pub(crate) fn picked(&mut self, state: &State) {
        if let Some(frame) = state.frames.last() {
            let (func, block) = (frame.func.index(), frame.block.index());
            if self.visits.len() <= func {
                self.visits.resize_with(func + 1, Vec::new);
            }
            let visits = &mut self.visits[func];
            if visits.len() <= block {
                visits.resize(block + 1, 0);
            }
            visits[block] += 1;
        }
    }

    /// Updates the distances if enough has happened since; at once where a label was reopened.
    pub(crate) fn refresh(&mut self, labels: &LabelTable<'_>, steps: u64) {
        let now = UpdateCounters {
            left: labels.left(),
            unreached: labels.new_ones(),
            reopened: labels.reopened(),
            steps,
        };
        if let Some(then) = self.updated_at {
            let due = steps - then.steps >= STEPS * self.distances.size() as u64;
            let same = now.left == then.left && now.unreached == then.unreached;
            if now.reopened == then.reopened && (same || now.left <= then.left && !due) {
                return;
            }
        }
        self.updated_at = Some(now);
        self.distances.refresh(labels);
    }
}

/// Whether a label that is left lies where the state arrives, or at the condition that it was split
/// at. The state passes it as it goes on, and its distances say nothing about it.
fn arrives_at_open_label(state: &State, labels: &LabelTable<'_>) -> bool {
    let func = state.frames.last().map(|frame| frame.func);
    let evaluated = state.passing.evaluated.map(|(of, one)| SiteKey::Condition(of, one));
    let mut sites = state.passing.arrival.into_iter().chain(evaluated);
    func.is_some_and(|func| sites.any(|site| labels.is_sought(func, site)))
}
