//! The answers that the exploration finds while the engines work on the same goals.
//!
//! Both parties see what the other decided: the engines ask before each step, and are stopped when the
//! exploration has decided everything. Where they have one thread together they take turns: the engines
//! give the exploration as much time before each of their rounds as the round takes, and wait
//! meanwhile. So slices grow by three for both ([001] 7.3), and both go on where they stopped.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_prove::engines::Companion;
use lydian_prove::system::GoalId;

use super::verdicts::InputValue;

/// The shares of a round of the engines, each as long as the time that the round begins with.
const SHARES: u32 = 16;
/// The most turns without a finding after which turns get shorter.
const MOST_IDLE: u32 = 2;
/// How long a party that waits sleeps before it looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What the exploration found about a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A run with these inputs gets there, as the interpreter confirms; it was found by this party.
    Reached(Vec<InputValue>, &'static str),
    /// No run gets there, for this reason.
    Unreachable(String),
    /// Neither is known, for this reason.
    Open(String),
}

impl Finding {
    const fn decides(&self) -> bool {
        !matches!(self, Self::Open(_))
    }

    /// Whether the engines need not look at the goal. Where certificates are wanted they do, though no
    /// run gets there: only their arguments have one.
    const fn relieves_engines(&self, certifies: bool) -> bool {
        match self {
            Self::Reached(..) => true,
            Self::Unreachable(_) => !certifies,
            Self::Open(_) => false,
        }
    }
}

/// Whose turn it is on a thread that both parties share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Engines,
    /// Until this moment.
    Exploration(Instant),
    /// Each has a thread, or the other has come to its end.
    Both,
}

/// What is found about goals, and whose turn it is.
#[derive(Debug)]
pub(super) struct Board<K = GoalId> {
    goals: usize,
    begun: Instant,
    /// Whether certificates are wanted.
    certifies: bool,
    found: Mutex<BTreeMap<K, (Finding, Duration)>>,
    turn: Mutex<Turn>,
    /// The turns of the exploration one after another in which it decided nothing.
    idle: Mutex<u32>,
    turned: Condvar,
    /// Stops the engines.
    engines: CancelToken,
    /// Stops the exploration.
    exploration: CancelToken,
}

impl<K: Copy + Ord> Board<K> {
    /// For so many goals. `alternates` says whether the parties share one thread.
    pub(super) fn new(goals: usize, alternates: bool) -> Self {
        Self {
            goals,
            begun: Instant::now(),
            certifies: false,
            found: Mutex::default(),
            turn: Mutex::new(if alternates { Turn::Engines } else { Turn::Both }),
            idle: Mutex::default(),
            turned: Condvar::new(),
            engines: CancelToken::new(),
            exploration: CancelToken::new(),
        }
    }

    /// The same, with certificates of all proofs if they are wanted.
    pub(super) const fn certifying(mut self, wanted: bool) -> Self {
        self.certifies = wanted;
        self
    }

    /// The token that stops the engines.
    pub(super) const fn engines(&self) -> &CancelToken {
        &self.engines
    }

    /// The token that stops the exploration.
    pub(super) const fn exploration(&self) -> &CancelToken {
        &self.exploration
    }

    /// Stops both.
    pub(super) fn stop(&self) {
        self.engines.cancel();
        self.exploration.cancel();
    }

    /// Notes a finding, unless the goal is decided. Stops the engines where nothing is left.
    pub(super) fn note(&self, goal: K, finding: Finding) {
        let mut found = self.found();
        if found.get(&goal).is_none_or(|(known, _)| !known.decides()) {
            found.insert(goal, (finding, self.begun.elapsed()));
        }
        let relieves = |known: &&(Finding, Duration)| known.0.relieves_engines(self.certifies);
        if found.values().filter(relieves).count() == self.goals {
            self.engines.cancel();
        }
    }

    /// What was found about a goal.
    pub(super) fn finding(&self, goal: K) -> Option<Finding> {
        self.found().get(&goal).map(|(finding, _)| finding.clone())
    }

    /// When that was found, since the search began.
    pub(super) fn found_after(&self, goal: K) -> Option<Duration> {
        self.found().get(&goal).map(|(_, after)| *after)
    }

    /// Whether a goal is decided.
    pub(super) fn decides(&self, goal: K) -> bool {
        self.found().get(&goal).is_some_and(|(finding, _)| finding.decides())
    }

    /// Whether the engines need not look at a goal any longer.
    pub(super) fn relieves_engines(&self, goal: K) -> bool {
        let found = self.found();
        found.get(&goal).is_some_and(|(found, _)| found.relieves_engines(self.certifies))
    }

    /// The number of goals that are decided.
    fn decided(&self) -> usize {
        self.found().values().filter(|(finding, _)| finding.decides()).count()
    }

    /// Lets the exploration work before a round of the engines, if both have one thread together.
    pub(super) fn give_turn(&self, share: Duration) {
        let mut turn = self.turn();
        if *turn == Turn::Both {
            return;
        }
        let before = self.decided();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // A party that finds nothing gets less time: a half, then a quarter.
        let shares = SHARES >> *idle;
        *turn = Turn::Exploration(Instant::now() + share.saturating_mul(shares));
        self.turned.notify_all();
        while matches!(*turn, Turn::Exploration(_)) && !self.engines.is_cancelled() {
            turn = self.wait(turn);
        }
        *idle = if self.decided() == before { MOST_IDLE.min(*idle + 1) } else { 0 };
    }

    /// Lets the exploration wait where it is the turn of the engines.
    pub(super) fn await_exploration(&self) {
        let mut turn = self.turn();
        if matches!(*turn, Turn::Exploration(until) if Instant::now() >= until) {
            *turn = Turn::Engines;
            self.turned.notify_all();
        }
        while *turn == Turn::Engines && !self.exploration.is_cancelled() {
            turn = self.wait(turn);
        }
    }

    /// One of the parties came to its end: the other need not wait for it any longer.
    pub(super) fn end_turns(&self) {
        *self.turn() = Turn::Both;
        self.turned.notify_all();
    }

    fn wait<'g>(&self, turn: MutexGuard<'g, Turn>) -> MutexGuard<'g, Turn> {
        let waited = self.turned.wait_timeout(turn, LOOK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<K, (Finding, Duration)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Companion for Board {
    fn has_decided(&self, goal: GoalId) -> bool {
        self.relieves_engines(goal)
    }

    fn take_turn(&self, share: Duration) {
        self.give_turn(share);
    }
}

/// Ends the turns when it is dropped, however its party ended.
pub(super) struct Party<'b, K: Copy + Ord = GoalId>(pub(super) &'b Board<K>);

impl<K: Copy + Ord> Drop for Party<'_, K> {
    fn drop(&mut self) {
        self.0.end_turns();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId as _;

    #[test]
    fn engines_are_stopped_when_the_exploration_has_decided_every_goal() {
        let board = Board::new(2, false);
        let goal = GoalId::from_index;
        board.note(goal(0), Finding::Open("no time".to_owned()));
        board.note(goal(0), Finding::Reached(Vec::new(), "a run"));
        assert!(board.has_decided(goal(0)) && !board.has_decided(goal(1)));
        board.note(goal(0), Finding::Open("later".to_owned()));
        assert_eq!(board.finding(goal(0)), Some(Finding::Reached(Vec::new(), "a run")), "it stays");
        assert!(!board.engines().is_cancelled());
        board.note(goal(1), Finding::Unreachable("all paths end".to_owned()));
        assert!(board.engines().is_cancelled() && !board.exploration().is_cancelled());
    }

    #[test]
    fn engines_go_on_without_a_certificate_of_what_the_exploration_has_proved() {
        let board = Board::new(2, false).certifying(true);
        let goal = GoalId::from_index;
        board.note(goal(0), Finding::Unreachable("all paths end".to_owned()));
        board.note(goal(1), Finding::Reached(Vec::new(), "a run"));
        assert!(board.decides(goal(0)) && !board.has_decided(goal(0)));
        assert!(board.has_decided(goal(1)) && !board.engines().is_cancelled());
    }

    #[test]
    fn parties_on_one_thread_never_work_at_the_same_time() {
        let board = Board::new(1, true);
        let busy = std::sync::atomic::AtomicBool::new(false);
        let work = || {
            use std::sync::atomic::Ordering::SeqCst;
            assert!(!busy.swap(true, SeqCst), "the other party works");
            (0..100).for_each(|_| std::thread::yield_now());
            busy.store(false, SeqCst);
        };
        let turns = std::thread::scope(|scope| {
            let explorer = scope.spawn(|| {
                let _party = Party(&board);
                let mut turns = 0;
                while !board.exploration().is_cancelled() {
                    board.await_exploration();
                    if board.exploration().is_cancelled() {
                        break;
                    }
                    work();
                    turns += 1;
                }
                turns
            });
            for _ in 0..20 {
                board.take_turn(Duration::from_millis(5));
                work();
            }
            board.exploration().cancel();
            explorer.join().expect("it does not panic")
        });
        assert!(turns >= 20, "{turns}");
    }
}
