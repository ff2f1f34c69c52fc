//! The conditions under which an evaluation traps.

use lydian_ir::TrapKind;
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

/// Trap conditions in the order in which the evaluation meets them.
///
/// Each condition has its meaning only where none before it holds: the first that holds says how
/// the evaluation traps. Conditions that are surely false are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traps(SmallVec<[(TrapKind, Term); 2]>);

impl Traps {
    /// No trap.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a Boolean under which evaluation traps here.
    pub fn add(&mut self, pool: &TermPool, kind: TrapKind, condition: Term) {
        if pool.as_bool(condition) != Some(false) && !self.0.contains(&(kind, condition)) {
            self.0.push((kind, condition));
        }
    }

    /// The conditions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (TrapKind, Term)> + '_ {
        self.0.iter().copied()
    }

    /// Whether it surely does not trap.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many conditions there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets the conditions from position `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The Boolean that says that evaluation does not trap.
    pub fn absent(&self, pool: &mut TermPool) -> Term {
        let mut all = pool.tt();
        for (_, condition) in self.iter() {
            let absent = pool.not(condition);
            all = pool.and(all, absent);
        }
        all
    }
}
