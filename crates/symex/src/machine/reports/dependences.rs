//! What paths come to depend on that the program does not determine.

use lydian_base::Span;
use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::memory::undetermined;
use crate::machine::reports::undetermined::{Dependences, text_at};
use crate::machine::state::{Notes, State};

impl<N: Notes> Machine<'_, '_, N> {
    /// The text that a state is at.
    pub(crate) fn text_at(&self, state: &State<N>) -> Span {
        text_at(self.context.program, state)
    }

    /// What a value depends on that is not determined, as far as its term says, with where that was
    /// read; where that is not known, the text that the state is at.
    pub(crate) fn dependences_of(&mut self, state: &State<N>, value: Term) -> Dependences {
        let mut found = Dependences::default();
        let here = self.text_at(state);
        for var in self.pool.vars_of(value).iter() {
            if let Some(kind) = undetermined(&self.pool, *var) {
                found.add(kind, self.reads.0.get(var).copied().unwrap_or(here));
            }
        }
        found
    }

    /// Why nothing is claimed that hangs on a value which is defined where `defined` holds: what the
    /// state's path depends on, and the value, unless it is always defined.
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

    /// A state's path depends on what is not determined of a value.
    pub(crate) fn depend_on(&mut self, state: &mut State<N>, value: Term) {
        for cut in self.dependences_of(state, value).cuts() {
            if let Cut::Undetermined(kind, at) = cut {
                state.depends.add(kind, at);
            }
        }
    }

    /// Notes that what a state's path does from here on says nothing, where it depends on what is not
    /// determined and is not followed for that.
    pub(crate) fn cut_dependences(&mut self, state: &State<N>) {
        if state.depends.end_path() {
            self.leave_to_dependences(state);
        }
    }

    /// Notes that what lies ahead of a state was left out for what its path depends on.
    pub(crate) fn leave_to_dependences(&mut self, state: &State<N>) {
        state.depends.cuts().into_iter().for_each(|cut| self.cut_ahead(state, cut));
    }
}
