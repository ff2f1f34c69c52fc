//! Paths that are cycles.
//!
//! A path is a *cycle* if it comes back to a place with the same registers and memory, the same
//! path condition, and equal values of everything else that determines its steps. From there it
//! repeats its steps: each step follows from the state and from answers that the path condition
//! gives, since any other answer would have been added to it. Values that a call of an undefined
//! function or another source gives anew on each iteration are in no register, no memory and no
//! condition of the path, so nothing depends on them. A label that the next iterations pass holds
//! on no input of this path on which it did not hold before. So the path has no end and nothing new
//! lies on it: it is finished, and nothing is cut off.
//!
//! The place is found by Brent's algorithm for cycles: the state is kept when its number of steps
//! is a power of two, and each later state is compared with it.

use std::sync::Arc;

use lydian_ir::{ConditionId, DecisionId};
use smallvec::SmallVec;

use crate::State;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::SequencesUnderWay;
use crate::machine::memory::Memory;
use crate::machine::program::site::SiteKey;
use crate::machine::reports::undetermined::Dependences;
use crate::machine::state::Frame;

/// Paths of fewer steps are not looked at.
const FIRST: u64 = 1 << 11;

/// Everything that determines how a path goes on.
#[derive(Clone, Debug)]
pub(crate) struct CycleMark {
    frames: SmallVec<[Arc<Frame>; 4]>,
    memory: Memory,
    /// The number of facts: facts are never removed.
    facts: usize,
    evaluated: Option<(DecisionId, ConditionId)>,
    arrival: Option<SiteKey>,
    trail: Trail,
    underway: SequencesUnderWay,
    depends: Dependences,
    root: usize,
}

impl CycleMark {
    fn of(state: &State) -> Self {
        Self {
            frames: state.frames.clone(),
            memory: state.memory.clone(),
            facts: state.path.facts.len(),
            evaluated: state.passing.evaluated,
            arrival: state.passing.arrival,
            trail: state.notes.goals.trail.clone(),
            underway: state.notes.goals.underway.clone(),
            depends: state.depends.clone(),
            root: state.course.root,
        }
    }

    /// Whether a later state of the path goes on as this one did.
    fn is(&self, state: &State) -> bool {
        let same_frames = || {
            let mut pairs = self.frames.iter().rev().zip(state.frames.iter().rev());
            pairs.all(|(a, b)| Arc::ptr_eq(a, b) || a.goes_on_as(b))
        };
        self.frames.len() == state.frames.len()
            && self.facts == state.path.facts.len()
            && same_frames()
            && (self.evaluated, self.arrival) == (state.passing.evaluated, state.passing.arrival)
            && self.root == state.course.root
            && self.depends == state.depends
            && self.trail.is(&state.notes.goals.trail)
            && self.underway.is(&state.notes.goals.underway)
            && self.memory.is_same(&state.memory)
    }
}

impl Frame {
    /// Whether an activation goes on as it did before. Its counts of iterations are ignored, since
    /// they only bound it.
    pub(crate) fn goes_on_as(&self, later: &Self) -> bool {
        (self.block, self.next, self.sites_done) == (later.block, later.next, later.sites_done)
            && (self.func, self.serial) == (later.func, later.serial)
            && self.registers == later.registers
            && self.objects == later.objects
            && self.made == later.made
            && self.events == later.events
    }
}

/// Whether a path is a cycle. It must be asked at each step of the path.
pub(crate) fn is_in_a_cycle(state: &mut State) -> bool {
    if state.course.steps < FIRST || !state.passing.queue.is_empty() {
        return false;
    }
    if state.notes.merging.mark.as_ref().is_some_and(|mark| mark.is(state)) {
        return true;
    }
    if state.course.steps.is_power_of_two() {
        state.notes.merging.mark = Some(Arc::new(CycleMark::of(state)));
    }
    false
}
