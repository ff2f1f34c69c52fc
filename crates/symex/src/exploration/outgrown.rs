//! Explorations that begin anew, because the code takes a pointer to a record for a pointer to a
//! larger one.
//!
//! A lazy object has elements of the type that the code uses the pointer with when it first follows
//! it. The elements behind a `struct base` are further `struct base`s, with pointers at their
//! pointers' offsets. They would remain where the code goes on to look at a `struct derived` that
//! begins with the `struct base`. So such a path is followed no further. The function is explored
//! once more from its beginning, with the pointer known to lead to the larger struct. The inputs of
//! the abandoned path are explored there again, so nothing is left out. Each new beginning has a
//! larger record than the one before, so this ends.

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::ending::Ending;

/// The most times that an exploration begins anew.
const MOST_BEGINNINGS: u32 = 32;
/// Message where more new beginnings would be needed, or none is possible.
const OUTGROWN: &str = "a pointer to a struct that is part of a larger one only later";

impl Engine<'_, '_> {
    /// Ends a path on which a pointer was used with a larger record than it leads to.
    pub(crate) fn begin_anew(&mut self, state: &mut State) {
        if !state.claims.covered.is_empty() || state.claims.keep {
            self.give_test(state, Ending::Cut(Cut::Unsupported(OUTGROWN.into())));
        }
        // Where several paths found the same, the first began anew for all of them.
        if self.machine.take_outgrown() {
            let first = self.machine.start().map(State::fork);
            self.begun_anew += 1;
            self.merging.visited.clear();
            log::debug!("an object is larger than was planned: the exploration begins anew");
            match first.filter(|_| self.begun_anew <= MOST_BEGINNINGS) {
                Some(first) => self.push(first),
                None => self.machine.cut(Cut::Unsupported(OUTGROWN.into())),
            }
        }
    }
}
