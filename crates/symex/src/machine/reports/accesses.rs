//! Accesses of paths, compared with the bounds of the inputs.

use lydian_inputs::Bound;
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::memory::AccessKind;
use crate::machine::memory::Resolution;
use crate::machine::questions::Feasible;
use crate::machine::reports::bounds_monitor::{Actor, MOST_QUESTIONS, Suspicion};
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// Runs `act`, which happens only on inputs on which a condition holds.
    pub(crate) fn where_holds<R>(&mut self, guard: Term, act: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.bounds.set_guard(Some(guard));
        let result = act(self);
        self.bounds.set_guard(outer);
        result
    }

    /// Runs `act`, which makes a difference only to an actor, not to the program.
    pub(crate) fn on_behalf_of<R>(&mut self, actor: Actor, act: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.bounds.set_actor(actor);
        let result = act(self);
        self.bounds.set_actor(outer);
        result
    }

    /// Runs `act`, which evaluates addresses that need not be decided yet: they are decided before
    /// they are used.
    pub(crate) fn tentatively<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.bounds.set_tentative(true);
        let result = act(self);
        self.bounds.set_tentative(outer);
        result
    }

    /// Adds bounds of objects that other paths do not have.
    pub(crate) fn add_on_path(&mut self, bounds: &[Bound]) {
        self.bounds.add_on_path(bounds);
    }

    /// Asks the solver about suspicions that this path met a bound.
    pub(crate) fn settle_suspicions(&mut self, state: &State<N>) {
        if self.bounds.suspicions.is_empty() {
            return;
        }
        for suspicion in std::mem::take(&mut self.bounds.suspicions) {
            let Suspicion { condition, limit, actor } = suspicion;
            // The path that a replay follows does the same.
            let told = state.course.replay || state.log.is_played();
            self.on_behalf_of(actor, |machine| {
                let asks = !told && !machine.bounds.is_exceeded(limit);
                if asks && machine.may_hold(state, condition) {
                    machine.bounds.exceed(&state.memory, limit);
                }
            });
        }
    }

    /// Notes an access other than the load of a value.
    pub(crate) fn note_access(
        &mut self,
        state: &mut State<N>,
        resolution: &Resolution,
        size: u64,
        kind: AccessKind,
    ) {
        let (mut scope, pool) = self.scope(state);
        scope.note_touched(pool, resolution, size, kind);
        self.bounds.access(&mut self.pool, &state.memory, resolution, size, kind);
        self.settle_suspicions(state);
    }

    /// Whether a condition may hold on a path. It is taken to be possible without an answer, and
    /// where the exploration is incomplete so that it does not matter.
    fn may_hold(&mut self, state: &State<N>, condition: Term) -> bool {
        match state.knowledge().known(&mut self.pool, condition) {
            Some(known) => return known,
            None if self.evaluator.holds(&self.pool, &state.model, condition) => return true,
            None => {}
        }
        if self.is_cut() || self.bounds.questions >= MOST_QUESTIONS {
            return true;
        }
        self.bounds.questions += 1;
        !matches!(self.ask(state, Some(condition)), Feasible::No)
    }
}
