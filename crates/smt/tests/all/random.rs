//! Random numbers for queries, the same in each run.

use lydian_base::Rng;

/// A generator whose choices are remainders.
pub(crate) struct Random(Rng);

impl Random {
    /// The generator of a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
