//! Why an exploration stops before everything was looked at, and what that leaves out.

use lydian_base::StopReason;

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;

impl Engine<'_, '_> {
    /// Notes that a path is followed no further, if what is left may lie ahead of it, and what it depends
    /// on.
    pub(crate) fn cut_path(&mut self, state: &State, cut: Cut) {
        self.machine.cut_dependences(state);
        if !self.is_hopeless(state) {
            self.machine.cut_ahead(state, cut);
        }
    }

    /// The exploration is stopped. What the states that wait would have come to is noted when they are
    /// dropped; what is on its way between workers then, everywhere.
    pub(crate) fn stop(&mut self, reason: StopReason) {
        let cut = Cut::Stopped(reason);
        match self.exchange.is_shared() {
            true => self.machine.omissions.everywhere(cut),
            false => self.machine.omissions.count(cut),
        }
        self.stopped = true;
        self.stop_reason = Some(reason);
    }

    /// Why the exploration is stopped before everything was looked at, if it is.
    pub(crate) fn cut_by_stop(&self) -> Option<Cut> {
        self.stop_reason.filter(|_| self.stopped).map(Cut::Stopped)
    }
}
