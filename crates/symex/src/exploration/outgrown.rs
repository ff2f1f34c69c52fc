//! Paths that begin anew, since the code takes a pointer for one into more than it was taken for.
//!
//! What a pointer of the inputs leads to comes into being as elements of the type that the code takes it
//! for when it is first followed. Behind a `struct base` lie others of its kind then, pointers where these
//! have pointers, and so they would stay where the code goes on to look at a `struct derived` that begins
//! with it. So a path on which that happens is followed no further: the function is explored from its
//! beginning once more, where the pointer is known to lead to the larger struct. What the path's inputs do
//! is met there again, so nothing is left out. Each time a record is larger than the one before, which
//! comes to an end.

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::ending::Ending;

/// So often an exploration begins anew.
const MOST_BEGINNINGS: u32 = 32;
/// What is said where it would have to more often, or cannot.
const OUTGROWN: &str = "a pointer to a struct that is part of a larger one only later";

impl Engine<'_, '_> {
    /// Ends a path on which a pointer was taken for one into a larger record than what it leads to.
    pub(crate) fn begin_anew(&mut self, state: &mut State) {
        if !state.claims.covered.is_empty() || state.claims.keep {
            self.give_test(state, Ending::Cut(Cut::Unsupported(OUTGROWN.into())));
        }
        // Of several paths that found the same, the first did that for all.
        if self.machine.take_outgrown() {
            let first = self.machine.start().map(State::fork);
            self.begun_anew += 1;
            log::debug!("an object is larger than was planned: the exploration begins anew");
            match first.filter(|_| self.begun_anew <= MOST_BEGINNINGS) {
                Some(first) => self.push(first),
                None => self.machine.cut(Cut::Unsupported(OUTGROWN.into())),
            }
        }
    }
}
