//! Paths that continue with a part of their inputs: because of an assumption of the program, or of
//! the target of a pointer that it follows.

use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::questions::Feasible;
use crate::machine::reports::outbox::Retraction;
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Restricts the path to the inputs on which a condition holds. Returns whether there are any.
    /// Where its model is none of them, it gets another model, which keeps what the model covers if
    /// possible.
    pub(crate) fn narrow(&mut self, state: &mut State<N>, holds: Term, reason: Cut) -> bool {
        self.meet_undefined(state, holds);
        self.note_restriction(state);
        // A path that is replayed did not end here the first time.
        let told = state.log.is_played();
        if !told && !self.evaluator.holds(&self.pool, &state.model, holds) {
            let kept = self.ask_with_promises(state, holds);
            let answer = match kept {
                Feasible::Yes(model) => Feasible::Yes(model),
                _ if state.claims.covered.is_empty() => kept,
                _ => {
                    self.retract_for(state, reason);
                    self.ask(state, Some(holds))
                }
            };
            match answer {
                Feasible::Yes(model) => state.model = model,
                Feasible::No => return false,
                Feasible::Unknown(cut) => {
                    self.cut_ahead(state, cut);
                    return false;
                }
            }
        }
        state.add_fact(&mut self.pool, holds)
    }

    /// Leaves the other side of a split in the outbox.
    pub(crate) fn fork_off(&mut self, state: Box<State<N>>) {
        // It was left when the path was followed the first time.
        if !state.log.is_played() {
            self.outbox.forks.push(state);
        }
    }

    /// Reopens the labels that the state's model was to cover, for a reason.
    pub(crate) fn retract_for(&mut self, state: &mut State<N>, reason: Cut) {
        let claims = std::mem::take(&mut state.claims.covered);
        self.outbox.retracted.push(Retraction { claims, reason });
        state.claims.promises.clear();
        state.claims.conditions.clear();
    }
}
