//! How several orders take turns.

/// Orders that choose in turn, by their places among those of the searcher.
pub(super) struct Rota {
    clock: Clock,
    turns: Vec<Turns>,
    /// Which of `turns` chooses, and what the clock said when its turn began and when it chose last.
    turn: usize,
    began: u64,
    chose: u64,
    /// How often an order of this rota chose.
    choices: u64,
}

/// What turns are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// By choices of a state. Dear states take what time they need.
    Choices,
    /// By work. An order whose states are dear chooses less often than one whose states are cheap.
    Work,
}

/// What one order has of a rota.
struct Turns {
    order: usize,
    /// Its share beside those of the others.
    share: u64,
    /// What the clock says it took until now.
    took: u64,
}

/// A turn by work takes so much of it, in steps.
pub(super) const TURN: u64 = 4_000;

impl Rota {
    /// Of the orders that have a share, in the order of the searcher's.
    pub(super) fn new(clock: Clock, shares: &[u64]) -> Self {
        let turns = shares.iter().enumerate().filter(|(_, share)| **share > 0);
        let turns = turns.map(|(order, &share)| Turns { order, share, took: 0 }).collect();
        Self { clock, turns, turn: 0, began: 0, chose: 0, choices: 0 }
    }

    /// The rota has its turn again, after so much work of the whole exploration.
    pub(super) const fn resume(&mut self, work: u64) {
        if matches!(self.clock, Clock::Work) {
            self.began += work - self.chose;
            self.chose = work;
        }
    }

    /// Which order chooses, after so much work of the whole exploration: where its turn is over, the one
    /// that had least of its share.
    pub(super) fn choose(&mut self, work: u64) -> usize {
        self.account(work);
        let (now, turn) = match self.clock {
            Clock::Work => (work, TURN),
            Clock::Choices => (self.choices, 1),
        };
        if now - self.began >= turn {
            self.began = now;
            let had = |turns: &Turns| turns.took / turns.share;
            let next = (0..self.turns.len()).min_by_key(|at| had(&self.turns[*at]));
            self.turn = next.unwrap_or_default();
        }
        self.choices += 1;
        self.turns[self.turn].order
    }

    /// Counts for the order that chose last what was done since.
    pub(super) fn account(&mut self, work: u64) {
        let now = match self.clock {
            Clock::Work => work,
            Clock::Choices => self.choices,
        };
        self.turns[self.turn].took += now - self.chose;
        self.chose = now;
    }
}
