//! Questions about labels: whether some input of a path covers one of several labels.

use lydian_smt::{Answer, Reason, Term};

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::goals::core_cache::OpenLabel;
use crate::limits::Cut;
use crate::machine::questions::{Effort, Feasible};

impl Goals<'_> {
    /// Asks whether some input takes the path and makes `extra` true, which says that one of some
    /// labels holds. The effort depends on the number of tries.
    pub(crate) fn ask_for_labels(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        extra: Term,
        labels: &[OpenLabel],
        tries: u8,
    ) -> Feasible {
        let (answer, core) = machine.ask_within(state, &[], Some(extra), Effort::after(tries));
        if let Some(core) = &core {
            self.cores.note_core(&state.path.facts, extra, labels, core);
        }
        answer
    }

    /// Asks whether some input takes the path, makes `extra` true, and keeps the promises of the
    /// state's model. `extra` says that one of some labels holds. Returns `None` where the answer
    /// takes too much effort and an input may exist that breaks promises.
    pub(crate) fn ask_keeping(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        extra: Term,
        labels: &[OpenLabel],
    ) -> Option<Feasible> {
        // A hard question gets little time, and the label waits, since the program's own paths come
        // first.
        match machine.answer(state, &state.claims.promises, Some(extra), Effort::KEEPING) {
            Ok(Answer::Sat(model)) => Some(Feasible::Yes(model)),
            Ok(Answer::Unknown(Reason::Conflicts(_))) => None,
            Ok(Answer::Unknown(reason)) => Some(Feasible::Unknown(Cut::Solver(reason.to_string()))),
            Err(stop) => Some(Feasible::Unknown(Cut::Stopped(stop))),
            Ok(Answer::Unsat { core }) => {
                if let Some(core) = &core {
                    self.cores.note_core(&state.path.facts, extra, labels, core);
                }
                let is_broken = |term: &Term| {
                    state.claims.promises.contains(term) && !state.path.facts.contains(term)
                };
                let without = core.is_some_and(|core| !core.iter().any(is_broken));
                (state.claims.promises.is_empty() || without).then_some(Feasible::No)
            }
        }
    }
}
