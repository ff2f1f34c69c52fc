//! Merge scopes: loops and calls without a goal. The state that came to one, and all its forks, are
//! run at once until each has left it ([`merge_scopes`](crate::merging::merge_scopes)).

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::flow::Flow;
use crate::merging::merge_scopes::{ScopeEntry, ScopePlace};

/// From this number of states in a scope on, those still inside are put in the queue like others.
const MOST_STATES: usize = 64;
/// After this number of steps in a scope, too.
const MOST_STEPS: u64 = 1 << 14;
/// After this number of iterations of a loop of the C library, too. How far such a function reads
/// in a string without an end is not explored all at once.
const MOST_LIBRARY_TURNS: u32 = 2;

/// The outcome of following a state in a scope.
enum ScopeOutcome {
    Header(Box<State>),
    Behind(Box<State>),
    /// The state is still inside, and goes to the queue like others.
    Left(Box<State>),
    Gone,
}

/// The states inside a merge scope.
#[derive(Default)]
struct ScopeStates {
    /// States to be followed.
    waiting: Vec<Box<State>>,
    /// States at the header, for the next iteration.
    next: Vec<Box<State>>,
    behind: Vec<Box<State>>,
    left: Vec<Box<State>>,
}

impl ScopeStates {
    fn len(&self) -> usize {
        self.waiting.len() + self.next.len() + self.behind.len()
    }
}

impl Engine<'_, '_> {
    /// Runs a state through a merge scope, if it is at the beginning of one. Returns the state that
    /// goes on; `None` where the search is to choose one.
    pub(crate) fn pass_merge_scope(&mut self, mut state: Box<State>) -> Option<Box<State>> {
        let Some(here) =
            self.merging.begins_merge_scope(&mut self.machine, &mut self.goals, &mut state)
        else {
            return Some(state);
        };
        self.machine.statistics.scopes_run += 1;
        let mut found = self.run_scope(&here, state);
        let has_test = |state: &State| state.claims.keep || !state.claims.covered.is_empty();
        let is_nested = self.merging.scopes.is_running();
        let goes_on = match found.iter().position(|state| has_test(state)) {
            None if is_nested || found.len() == 1 || self.frontier.stays() => {
                found.iter().position(|state| !state.pending)
            }
            with_test => with_test,
        };
        let goes_on = goes_on.filter(|_| !self.stopped).map(|at| found.remove(at));
        found.into_iter().for_each(|state| self.push(state));
        if goes_on.is_none() {
            self.look_at_budget();
        }
        goes_on
    }

    /// Runs a state and all its forks through a scope. Returns the states that left it, merged
    /// where possible, and those that did not leave it.
    fn run_scope(&mut self, here: &ScopeEntry, state: Box<State>) -> Vec<Box<State>> {
        let outer = self.merging.scopes.enter(here);
        let until = self.machine.statistics.steps + MOST_STEPS;
        let mut inside = ScopeStates { waiting: vec![state], ..ScopeStates::default() };
        let in_library = self.machine.context.program.functions[here.begin.0].library;
        let mut turns = if in_library { MOST_LIBRARY_TURNS } else { u32::MAX };
        loop {
            while let Some(state) = inside.waiting.pop() {
                if self.stopped
                    || self.machine.statistics.steps > until
                    || inside.len() >= MOST_STATES
                {
                    inside.left.push(state);
                    inside.left.append(&mut inside.waiting);
                    inside.left.append(&mut inside.next);
                    break;
                }
                match self.follow(here, state) {
                    ScopeOutcome::Header(state) => inside.next.push(state),
                    ScopeOutcome::Behind(state) => inside.behind.push(state),
                    ScopeOutcome::Left(state) => inside.left.push(state),
                    ScopeOutcome::Gone => {}
                }
                for mut fork in self.merging.scopes.forks() {
                    match self.merging.place_in(&self.goals, here, &mut fork) {
                        ScopePlace::Header => inside.next.push(fork),
                        ScopePlace::Behind => inside.behind.push(fork),
                        ScopePlace::Inside => inside.waiting.push(fork),
                    }
                }
            }
            if inside.next.is_empty() {
                break;
            }
            inside.waiting =
                self.merging.merge_all(&mut self.machine, std::mem::take(&mut inside.next));
            turns -= 1;
            if turns == 0 {
                inside.left.append(&mut inside.waiting);
                break;
            }
        }
        self.merging.scopes.leave(outer);
        let (mut found, futile) = self.merging.merge_behind(&mut self.machine, inside.behind);
        if futile {
            self.merging.scopes.note_futile(here);
        }
        found.append(&mut inside.left);
        found
    }

    /// Runs a state until it has left a scope or is at its header again.
    fn follow(&mut self, here: &ScopeEntry, mut state: Box<State>) -> ScopeOutcome {
        let until = self.machine.statistics.steps + MOST_STEPS;
        loop {
            let Some(active) = self.activated(state) else { return ScopeOutcome::Gone };
            let Some(next) = self.pass_merge_scope(active) else { return ScopeOutcome::Gone };
            state = next;
            match self.merging.place_in(&self.goals, here, &mut state) {
                ScopePlace::Behind => return ScopeOutcome::Behind(state),
                ScopePlace::Inside | ScopePlace::Header => {}
            }
            let flow = self.step(&mut state);
            self.run_replays();
            match flow {
                Ok(()) => {}
                Err(Flow::Yield) => {
                    if self.drops(&mut state) {
                        return ScopeOutcome::Gone;
                    }
                }
                Err(Flow::End(ending)) => {
                    self.finish(state, ending);
                    self.look_at_budget();
                    return ScopeOutcome::Gone;
                }
                Err(Flow::Infeasible) => return ScopeOutcome::Gone,
            }
            let late =
                self.stopped || self.is_out_of_time() || self.machine.statistics.steps > until;
            if late || state.course.replay {
                return ScopeOutcome::Left(state);
            }
            match self.merging.place_in(&self.goals, here, &mut state) {
                ScopePlace::Inside => {}
                ScopePlace::Header => return ScopeOutcome::Header(state),
                ScopePlace::Behind => return ScopeOutcome::Behind(state),
            }
        }
    }
}
