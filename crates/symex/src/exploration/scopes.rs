//! Loops and calls in which nothing is looked for are run through *aside*: the state that came to one and
//! all that forks off it, until each has left it ([`merge_scopes`](crate::merging::merge_scopes)).

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::stepping::Flow;
use crate::merging::merge_scopes::{At, Here};

/// With so many states aside, those that are still inside wait like others.
const MOST_STATES: usize = 64;
/// After so many steps aside, too.
const MOST_STEPS: u64 = 1 << 14;
/// After so many turns of a loop of the C library, too: how far such a function reads in a string that
/// has no end yet is nothing to look for all at once.
const MOST_LIBRARY_TURNS: u32 = 2;

/// What came of following a state.
enum Followed {
    Header(Box<State>),
    Behind(Box<State>),
    /// It waits like others.
    Left(Box<State>),
    Gone,
}

/// States that are aside.
#[derive(Default)]
struct Aside {
    /// To be followed.
    waiting: Vec<Box<State>>,
    /// At the header, for the next turn.
    next: Vec<Box<State>>,
    behind: Vec<Box<State>>,
    left: Vec<Box<State>>,
}

impl Aside {
    fn len(&self) -> usize {
        self.waiting.len() + self.next.len() + self.behind.len()
    }
}

impl Engine<'_, '_> {
    /// Goes through a stretch aside if a state is at the beginning of one that does not matter. Gives the
    /// state that is to go on; none where others are to be chosen from.
    pub(crate) fn pass_stretch(&mut self, mut state: Box<State>) -> Option<Box<State>> {
        let Some(here) =
            self.merging.begins_stretch(&mut self.machine, &mut self.goals, &mut state)
        else {
            return Some(state);
        };
        self.machine.statistics.stretches += 1;
        let mut found = self.go_aside(&here, state);
        let has_test = |state: &State| state.claims.keep || !state.claims.covered.is_empty();
        let aside = self.merging.stretches.is_aside();
        let goes_on = match found.iter().position(|state| has_test(state)) {
            None if aside || found.len() == 1 || self.frontier.stays() => {
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

    /// Runs a state and all that forks off it through a stretch. Gives those that came out, united where
    /// that was possible, and those that did not.
    fn go_aside(&mut self, here: &Here, state: Box<State>) -> Vec<Box<State>> {
        let outer = self.merging.stretches.enter(here);
        let until = self.machine.statistics.steps + MOST_STEPS;
        let mut aside = Aside { waiting: vec![state], ..Aside::default() };
        let in_library = self.machine.world.program.functions[here.begin.0].library;
        let mut turns = if in_library { MOST_LIBRARY_TURNS } else { u32::MAX };
        loop {
            while let Some(state) = aside.waiting.pop() {
                if self.stopped
                    || self.machine.statistics.steps > until
                    || aside.len() >= MOST_STATES
                {
                    aside.left.push(state);
                    aside.left.append(&mut aside.waiting);
                    aside.left.append(&mut aside.next);
                    break;
                }
                match self.follow(here, state) {
                    Followed::Header(state) => aside.next.push(state),
                    Followed::Behind(state) => aside.behind.push(state),
                    Followed::Left(state) => aside.left.push(state),
                    Followed::Gone => {}
                }
                for mut fork in self.merging.stretches.forks() {
                    match self.merging.place_in(&self.goals, here, &mut fork) {
                        At::Header => aside.next.push(fork),
                        At::Behind => aside.behind.push(fork),
                        At::Inside => aside.waiting.push(fork),
                    }
                }
            }
            if aside.next.is_empty() {
                break;
            }
            aside.waiting =
                self.merging.unite_all(&mut self.machine, std::mem::take(&mut aside.next));
            turns -= 1;
            if turns == 0 {
                aside.left.append(&mut aside.waiting);
                break;
            }
        }
        self.merging.stretches.leave(outer);
        let (mut found, futile) = self.merging.unite_behind(&mut self.machine, aside.behind);
        if futile {
            self.merging.stretches.note_futile(here);
        }
        found.append(&mut aside.left);
        found
    }

    /// Runs a state until it has left a stretch or is at its header again.
    fn follow(&mut self, here: &Here, mut state: Box<State>) -> Followed {
        let until = self.machine.statistics.steps + MOST_STEPS;
        loop {
            let Some(active) = self.activated(state) else { return Followed::Gone };
            let Some(next) = self.pass_stretch(active) else { return Followed::Gone };
            state = next;
            match self.merging.place_in(&self.goals, here, &mut state) {
                At::Behind => return Followed::Behind(state),
                At::Inside | At::Header => {}
            }
            let flow = self.step(&mut state);
            self.run_replays();
            match flow {
                Ok(()) => {}
                Err(Flow::Yield) => {
                    if self.drops(&mut state) {
                        return Followed::Gone;
                    }
                }
                Err(Flow::End(ending)) => {
                    self.finish(state, ending);
                    self.look_at_budget();
                    return Followed::Gone;
                }
                Err(Flow::Infeasible) => return Followed::Gone,
            }
            let late =
                self.stopped || self.is_out_of_time() || self.machine.statistics.steps > until;
            if late || state.course.replay {
                return Followed::Left(state);
            }
            match self.merging.place_in(&self.goals, here, &mut state) {
                At::Inside => {}
                At::Header => return Followed::Header(state),
                At::Behind => return Followed::Behind(state),
            }
        }
    }
}
