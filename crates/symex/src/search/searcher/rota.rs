//! How several orders take turns.

/// Orders that choose in turn, by their places among those of the searcher.
pub(crate) struct Rota {
    clock: Clock,
    turns: Vec<Turns>,
    /// Which of `turns` chooses, and what its turn took until now.
    turn: usize,
    used: u64,
}

/// What turns are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
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
    /// What it took until now.
    took: u64,
}

impl Clock {
    /// How long a turn is: a choice, or so much work, in steps.
    const fn turn(self) -> u64 {
        match self {
            Self::Choices => 1,
            Self::Work => 4_000,
        }
    }
}

impl Rota {
    /// Of the orders that have a share, in the order of the searcher's.
    pub(crate) fn new(clock: Clock, shares: &[u64]) -> Self {
        let turns = shares.iter().enumerate().filter(|(_, share)| **share > 0);
        let turns = turns.map(|(order, &share)| Turns { order, share, took: 0 }).collect();
        Self { clock, turns, turn: 0, used: 0 }
    }

    /// Counts a choice, and the work that came of it, for the order that chose.
    pub(crate) fn charge(&mut self, work: u64) {
        let cost = match self.clock {
            Clock::Choices => 1,
            Clock::Work => work,
        };
        self.turns[self.turn].took += cost;
        self.used += cost;
    }

    /// Which order chooses: where its turn is over, the one that had least of its share.
    pub(crate) fn choose(&mut self) -> usize {
        if self.used >= self.clock.turn() {
            self.used = 0;
            let had = |at: &usize| self.turns[*at].took / self.turns[*at].share;
            self.turn = (0..self.turns.len()).min_by_key(had).unwrap_or_default();
        }
        self.turns[self.turn].order
    }
}
