//! Paths that trap, and their tests.

use lydian_eval::{Fault, Traps};
use lydian_ir::TrapKind;
use lydian_smt::Term;

use crate::machine::Machine;
use crate::machine::decision_log::Question;
use crate::machine::ending::{CallEnd, Ending};
use crate::machine::interrupt::Interrupt;
use crate::machine::questions::Feasible;
use crate::machine::reports::outbox::EndedPath;
use crate::machine::state::{Notes, State};
use crate::machine::traps::crashes::CrashPlace;
use crate::machine::traps::crashes::place_of;

impl<N: Notes> Machine<'_, '_, N> {
    /// Continues with the inputs that do not trap. Paths of the others end here.
    pub(crate) fn leave_traps(
        &mut self,
        state: &mut State<N>,
        traps: &Traps,
    ) -> Result<(), Interrupt> {
        for (fault, condition) in traps.iter() {
            let Fault::Trap(kind) = fault else {
                let within = self.pool.not(condition);
                if state.knowledge().known(&mut self.pool, within) != Some(true) {
                    self.bounds.leave_room();
                }
                self.assume_in_program(state, within)?;
                continue;
            };
            let span = self.term_clock.begin();
            let known = state.knowledge().known(&mut self.pool, condition);
            self.term_clock.end(span);
            if known == Some(false) {
                continue;
            }
            if self.excludes_traps(state) {
                let safe = self.pool.not(condition);
                self.assume_in_program(state, safe)?;
                continue;
            }
            if known == Some(true) {
                return Err(self.trapped(state, kind));
            }
            self.meet_undefined(state, condition);
            let safe = self.pool.not(condition);
            let told = state.log.played(Question::Safe);
            let excluded = match told {
                // A path that is replayed did not end here the first time.
                Some(excluded) => excluded != 0,
                None if self.evaluator.holds(&self.pool, &state.model, condition) => {
                    self.leave_own_trap(state, kind, safe)?;
                    false
                }
                None => self.surely_safe(state, kind, condition),
            };
            state.log.note(Question::Safe, u64::from(excluded));
            if excluded {
                // The path condition already excludes it.
                continue;
            }
            self.note_end(state, &Ending::Trapped(kind));
            if !state.add_fact(&mut self.pool, safe) {
                return Err(self.trapped(state, kind));
            }
        }
        Ok(())
    }

    /// Whether inputs that trap are left out: a condition of the user that has no value does not hold, and
    /// good ends may be all that counts.
    fn excludes_traps(&self, state: &State<N>) -> bool {
        self.context.config.good_ends || !state.has_begun(self.roots.len())
    }

    /// Ends the path in a trap. Its test is kept if it is the first at this place.
    pub(crate) fn trapped(&mut self, state: &mut State<N>, kind: TrapKind) -> Interrupt {
        if self.excludes_traps(state) {
            return self.assumption_fails(state);
        }
        self.note_difference(state);
        if self.is_new_crash(state, kind) {
            state.claims.keep = true;
        }
        Interrupt::End(Ending::Trapped(kind))
    }

    /// Handles a trap on the state's own model: it ends one path, and an input that does not trap
    /// goes on.
    fn leave_own_trap(
        &mut self,
        state: &mut State<N>,
        kind: TrapKind,
        safe: Term,
    ) -> Result<(), Interrupt> {
        if state.course.replay {
            return Err(self.trapped(state, kind));
        }
        self.note_difference(state);
        // Labels that an input which goes on can cover are better covered by that one.
        if !state.claims.covered.is_empty()
            && let Feasible::Yes(model) = self.ask_with_promises(state, safe)
        {
            if self.is_new_crash(state, kind) {
                self.end_beside(Some(state.fork()), Ending::Trapped(kind));
            } else {
                self.end_beside(None, Ending::Trapped(kind));
            }
            state.model = model;
            return Ok(());
        }
        match self.ask(state, Some(safe)) {
            Feasible::Yes(model) => {
                let new = self.is_new_crash(state, kind);
                let is_wanted = new || !state.claims.covered.is_empty();
                let ended = is_wanted.then(|| state.take_claims());
                self.end_beside(ended, Ending::Trapped(kind));
                state.model = model;
                Ok(())
            }
            Feasible::No => Err(self.trapped(state, kind)),
            Feasible::Unknown(cut) => {
                self.cut_ahead(state, cut);
                Err(self.trapped(state, kind))
            }
        }
    }

    /// Looks for an input of the path that traps, unless one is known for this place. Returns true
    /// where there surely is none.
    fn surely_safe(&mut self, state: &State<N>, kind: TrapKind, condition: Term) -> bool {
        if state.course.replay {
            return false;
        }
        if state.course.first_run.is_some() {
            return self.is_safe_in_second_run(state, kind, condition);
        }
        if !self.context.config.crash_tests {
            return false;
        }
        let limit = self.context.config.limits.trap_queries;
        let crash = self.crashes.entry(place_of(state, kind)).or_default();
        if crash.found || crash.queries >= limit {
            return false;
        }
        crash.queries += 1;
        match self.ask_in_haste(state, Some(condition)) {
            Feasible::Yes(model) => {
                if self.is_new_crash(state, kind) {
                    let mut crashing = state.fork();
                    crashing.model = model;
                    self.end_beside(Some(crashing), Ending::Trapped(kind));
                }
                false
            }
            Feasible::No => true,
            Feasible::Unknown(_) => false,
        }
    }

    /// Notes within which call of the function under test a path ends, unless that is the end of the
    /// function itself, or a cut.
    pub(crate) fn note_end(&mut self, state: &State<N>, ending: &Ending) {
        if matches!(ending, Ending::Returned | Ending::Cut(_)) {
            return;
        }
        let called = state.frames.get(1).or_else(|| state.frames.first());
        if let Some(frame) = called {
            self.ends.insert(CallEnd { callee: frame.func, ending: ending.clone() });
        }
    }

    /// Whether a second run of the path surely does not trap where the first did not. Otherwise there is
    /// a test that does, or a note that none is known.
    fn is_safe_in_second_run(&mut self, state: &State<N>, kind: TrapKind, condition: Term) -> bool {
        if self.crashes.get(&place_of(state, kind)).is_some_and(|crash| crash.found) {
            return false;
        }
        match self.ask(state, Some(condition)) {
            Feasible::No => return true,
            Feasible::Yes(model) => {
                self.note_difference(state);
                if self.is_new_crash(state, kind) {
                    let mut crashing = state.fork();
                    crashing.model = model;
                    self.end_beside(Some(crashing), Ending::Trapped(kind));
                }
            }
            Feasible::Unknown(cut) => self.cut(cut),
        }
        false
    }

    /// Ends a path beside the one that is followed; with a test if its state is given.
    pub(crate) fn end_beside(&mut self, state: Option<Box<State<N>>>, ending: Ending) {
        self.outbox.ended.push(EndedPath { state, ending });
    }

    /// The places of traps in given tests.
    pub(crate) fn found_crashes(&self) -> Vec<CrashPlace> {
        let found = self.crashes.iter().filter(|(_, crash)| crash.found);
        let mut found: Vec<CrashPlace> = found.map(|(place, _)| *place).collect();
        found.sort_unstable();
        found
    }

    /// Notes a given test that traps at a place. Returns whether it is the first.
    pub(crate) fn note_crash(&mut self, place: CrashPlace) -> bool {
        let crash = self.crashes.entry(place).or_default();
        !std::mem::replace(&mut crash.found, true)
    }

    /// Whether a test that traps here is wanted, which is true only once.
    fn is_new_crash(&mut self, state: &State<N>, kind: TrapKind) -> bool {
        let wanted = self.context.config.crash_tests || state.course.first_run.is_some();
        if !wanted || state.depends.are_some() {
            return false;
        }
        self.note_crash(place_of(state, kind))
    }
}
