//! Second runs of paths, with which first runs are compared
//! ([`machine::calls::second_run`](crate::machine::calls::second_run)).

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::flow::Flow;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;

impl Engine<'_, '_> {
    /// Compares the calls so far of a path that goes on with a further call, on a path of its own.
    pub(crate) fn compare_beside(&mut self, state: &State) {
        let mut beside = state.fork();
        beside.log.note(Question::Again, 0);
        let begun = self.machine.begin_second_run(&mut beside);
        match self.settle(&mut beside, begun) {
            Ok(()) | Err(Flow::Yield) => self.push(beside),
            Err(Flow::End(ending)) => self.finish(beside, ending),
            Err(Flow::Infeasible) => {}
        }
    }

    /// Handles the return of the function under test in a second run.
    pub(crate) fn end_call_of_second_run(&mut self, state: &mut State) -> Result<(), Flow> {
        match self.machine.next_call_of_second_run(state) {
            Some(begun) => self.settle(state, begun),
            None => {
                self.machine.compare_runs(state);
                Err(Flow::End(Ending::Returned))
            }
        }
    }
}
