//! Dependences of paths on values that the program does not determine.

use lydian_base::Span;
use lydian_eval::Undetermined;
use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::memory::undetermined;
use crate::machine::reports::undetermined::{Dependences, text_at};
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// The text at the position of a state.
    pub(crate) fn text_at(&self, state: &State<N>) -> Span {
        text_at(self.context.program, state)
    }

    /// The undetermined values that a value depends on, as far as its term shows, with the places
    /// of their reads; with the position of the state where the place is not known.
    pub(crate) fn dependences_of(&mut self, state: &State<N>, value: Term) -> Dependences {
        let mut found = Dependences::default();
        let here = self.text_at(state);
        for var in self.pool.vars_of(value).iter() {
            if let Some(kind) = undetermined(&self.pool, *var) {
                found.add(kind, self.reads.place_of(*var).unwrap_or(here));
            }
        }
        found
    }

    /// The reasons why nothing is claimed that depends on a value: the dependences of the state's
    /// path, and those of the value unless it is always defined. `defined` is the condition under
    /// which it is.
    pub(crate) fn undetermined_of(
        &mut self,
        state: &State<N>,
        value: Term,
        defined: Term,
    ) -> Vec<Cut> {
        let mut cuts = state.depends.cuts();
        if self.pool.as_bool(defined) != Some(true) {
            cuts.extend(self.dependences_of(state, value).cuts());
        }
        cuts
    }

    /// The place of the text where a path, or one of the conditions that a test is to meet, uses the
    /// number that the address of an object is: a run of the test may do something else.
    pub(crate) fn use_of_location(&mut self, state: &State<N>, met: Vec<Term>) -> Option<Span> {
        let by_chance = state.depends.cuts().into_iter().find_map(|cut| match cut {
            Cut::Undetermined(Undetermined::Location, at) => Some(at),
            _ => None,
        });
        if let Some(at) = state.placed.or(by_chance) {
            return Some(at);
        }
        let Self { context, pool, reads, .. } = self;
        let symbol = met.into_iter().find_map(|met| context.inputs.number_in(pool, met))?;
        Some(reads.place_of(symbol).unwrap_or_else(|| text_at(context.program, state)))
    }

    /// Makes a state's path depend on the undetermined part of a value.
    pub(crate) fn depend_on(&mut self, state: &mut State<N>, value: Term) {
        for cut in self.dependences_of(state, value).cuts() {
            if let Cut::Undetermined(kind, at) = cut {
                state.depends.add(kind, at);
            }
        }
    }

    /// Notes that the continuation of a state's path is left out, where the path depends on
    /// undetermined values and is not followed because of that.
    pub(crate) fn cut_dependences(&mut self, state: &State<N>) {
        if state.depends.end_path() {
            self.leave_to_dependences(state);
        }
    }

    /// Notes that everything ahead of a state was left out because of its path's dependences.
    pub(crate) fn leave_to_dependences(&mut self, state: &State<N>) {
        state.depends.cuts().into_iter().for_each(|cut| self.cut_ahead(state, cut));
    }
}
