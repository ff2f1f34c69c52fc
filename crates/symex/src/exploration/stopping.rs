//! The reasons why an exploration stops before everything was looked at, and what is left out then.

use lydian_base::StopReason;

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;

impl Engine<'_, '_> {
    /// Notes a cut of a path, if something that is left may lie ahead of it, and the values that
    /// the path depends on.
    pub(crate) fn cut_path(&mut self, state: &State, cut: Cut) {
        self.machine.cut_dependences(state);
        if !self.is_hopeless(state) {
            self.machine.cut_ahead(state, cut);
        }
    }

    /// Stops the exploration. What waiting states would have reached is noted when they are
    /// dropped. States on their way between workers could reach anything, so the reason is noted
    /// for every place.
    pub(crate) fn stop(&mut self, reason: StopReason) {
        let cut = Cut::Stopped(reason);
        match self.exchange.is_shared() {
            true => self.machine.omissions.everywhere(cut),
            false => self.machine.omissions.count(cut),
        }
        self.stopped = true;
        self.stop_reason = Some(reason);
    }

    /// The reason why the exploration stopped before everything was looked at, if it did.
    pub(crate) fn cut_by_stop(&self) -> Option<Cut> {
        self.stop_reason.filter(|_| self.stopped).map(Cut::Stopped)
    }
}
