//! Rotas: how several orders take turns.

/// Orders that choose in turn, by their positions in the searcher.
pub(crate) struct Rota {
    clock: Clock,
    turns: Vec<OrderShare>,
    /// The position in `turns` of the order that chooses, and the amount that its turn has taken so
    /// far.
    turn: usize,
    used: u64,
}

/// The measure of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Choices of a state. Expensive states take the time that they need.
    Choices,
    /// Work. An order with expensive states chooses less often than one with cheap states.
    Work,
}

/// The part of one order in a rota.
struct OrderShare {
    order: usize,
    /// Its share relative to those of the others.
    share: u64,
    /// The amount that it took so far.
    took: u64,
}

impl Clock {
    /// The length of a turn: one choice, or an amount of work, in steps.
    const fn turn(self) -> u64 {
        match self {
            Self::Choices => 1,
            Self::Work => 4_000,
        }
    }
}

impl Rota {
    /// A rota of the orders with these shares, in the searcher's order.
    pub(crate) fn new(clock: Clock, shares: &[u64]) -> Self {
        let turns = shares.iter().enumerate().filter(|(_, share)| **share > 0);
        let turns = turns.map(|(order, &share)| OrderShare { order, share, took: 0 }).collect();
        Self { clock, turns, turn: 0, used: 0 }
    }

    /// Counts a choice, and the work that resulted from it, for the order that chose.
    pub(crate) fn charge(&mut self, work: u64) {
        let cost = match self.clock {
            Clock::Choices => 1,
            Clock::Work => work,
        };
        self.turns[self.turn].took += cost;
        self.used += cost;
    }

    /// The order that chooses: where a turn is over, the one that got the least of its share.
    pub(crate) fn choose(&mut self) -> usize {
        if self.used >= self.clock.turn() {
            self.used = 0;
            let had = |at: &usize| self.turns[*at].took / self.turns[*at].share;
            self.turn = (0..self.turns.len()).min_by_key(had).unwrap_or_default();
        }
        self.turns[self.turn].order
    }
}
