//! Claims about memory in front of blocks.
//!
//! A mutant may read in front of the place that a pointer leads to. A test has that memory, unless the
//! path frees or reallocates the object later: then the pointer leads to the block's first byte, and
//! nothing is in front of it. The label is passed before that is known. So a claim that needs such memory
//! is withdrawn when the test is made, and the label is open again.

use lydian_inputs::concretise::relevant_inputs::RelevantInputs;
use lydian_inputs::lazy::{INDEX_BITS, LazyObject};
use lydian_smt::{Term, TermPool};

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::memory::ObjectKind;

impl Engine<'_, '_> {
    /// Withdraws the claims of a state that depend on memory in front of a block in its model. Returns
    /// whether no claim is left that the state was to be given a test for.
    pub(crate) fn withdraws_all_in_front_of_blocks(&mut self, state: &mut State) -> bool {
        let count = state.claims.covered.len();
        self.withdraw_in_front_of_blocks(state);
        let is_any_left = !state.claims.covered.is_empty() || state.claims.keep;
        count > 0 && !is_any_left
    }

    fn withdraw_in_front_of_blocks(&mut self, state: &mut State) {
        let blocks = state.memory.inputs().filter(|found| {
            !found.alive || found.kind != ObjectKind::Lazy // freed or reallocated
        });
        let fronts: Vec<Front> =
            blocks.filter_map(|found| Front::of(found.first.as_ref()?)).collect();
        if fronts.is_empty() {
            return;
        }
        let conditions = std::mem::take(&mut state.claims.conditions);
        for (goal, condition) in conditions {
            let Some(at) = state.claims.covered.iter().position(|covered| *covered == goal) else {
                continue;
            };
            let (pool, evaluator) = (&self.machine.pool, &mut self.machine.evaluator);
            let relevant = RelevantInputs::by(pool, evaluator, &state.model, [condition]);
            if fronts.iter().any(|front| front.is_relevant(pool, &relevant)) {
                state.claims.covered.remove(at);
                let reason = "memory in front of a block that the path frees";
                self.goals.labels.uncover(goal, Cut::Unsupported(reason.to_owned()));
            }
        }
    }
}

/// The inputs in front of the place that a pointer to a block leads to.
struct Front {
    /// The values of single parts.
    parts: Vec<Term>,
    /// The arrays with values at negative indices.
    arrays: Vec<Term>,
}

impl Front {
    /// Those of an object, if it has any.
    fn of(object: &LazyObject) -> Option<Self> {
        let is_in_front = |at: i64| at < object.own.origin;
        let parts = object.known_parts().into_iter();
        let parts = parts.filter(|(start, _)| is_in_front(*start)).map(|(_, term)| term).collect();
        let arrays = object.known_arrays().into_iter().map(|(_, array)| array).collect();
        let front = Self { parts, arrays };
        (!front.parts.is_empty() || !front.arrays.is_empty()).then_some(front)
    }

    fn is_relevant(&self, pool: &TermPool, relevant: &RelevantInputs) -> bool {
        let is_negative = |index: u64| index >> (INDEX_BITS - 1) & 1 != 0;
        self.parts.iter().any(|part| relevant.has(pool, *part))
            || self.arrays.iter().any(|array| relevant.elements(*array).any(is_negative))
    }
}
