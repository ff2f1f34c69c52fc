//! The conditions under which an evaluation traps.

use lydian_ir::TrapKind;
use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Why an evaluation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The program traps.
    Trap(TrapKind),
    /// The input is not considered, since it would need an object that is too large.
    LeftOut,
}

impl From<TrapKind> for Fault {
    fn from(kind: TrapKind) -> Self {
        Self::Trap(kind)
    }
}

/// Trap conditions in the order in which the evaluation meets them.
///
/// Each condition applies only if none before it holds: the first that holds determines the trap.
/// Conditions that are surely false are left out.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    list: SmallVec<[(Fault, Term); 2]>,
    /// The list as a set once it is long, else empty. Models of C's library that read strings of
    /// unknown length add thousands of conditions.
    set: FxHashSet<(Fault, Term)>,
}

/// The length from which on a list is searched by its set.
const LONG: usize = 32;

impl PartialEq for Traps {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Traps {}

impl Traps {
    /// No trap.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a Boolean under which evaluation traps here.
    pub fn add(&mut self, pool: &TermPool, fault: impl Into<Fault>, condition: Term) {
        let trap = (fault.into(), condition);
        if pool.as_bool(condition) != Some(false) && !self.contains(trap) {
            self.list.push(trap);
            if self.list.len() > LONG {
                self.set.insert(trap);
            } else if self.list.len() == LONG {
                self.set.extend(self.list.iter().copied());
            }
        }
    }

    fn contains(&self, trap: (Fault, Term)) -> bool {
        match self.list.len() < LONG {
            true => self.list.contains(&trap),
            false => self.set.contains(&trap),
        }
    }

    /// The conditions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, Term)> + '_ {
        self.list.iter().copied()
    }

    /// Whether it surely does not trap.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many conditions there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Removes the conditions from position `len` on.
    pub fn truncate(&mut self, len: usize) {
        let kept = len.min(self.list.len());
        for trap in self.list.drain(kept..) {
            self.set.remove(&trap);
        }
        if kept < LONG {
            self.set.clear();
        }
    }

    /// The Boolean that evaluation does not trap.
    pub fn absent(&self, pool: &mut TermPool) -> Term {
        let mut all = pool.tt();
        for (_, condition) in self.iter() {
            let absent = pool.not(condition);
            all = pool.and(all, absent);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use lydian_smt::Sort;

    use super::*;

    #[test]
    fn each_condition_is_kept_once_in_the_order_of_the_evaluation_however_many_there_are() {
        let mut pool = TermPool::new();
        let conditions: Vec<Term> =
            (0..3 * LONG).map(|at| pool.var(&format!("c{at}"), Sort::Bool)).collect();
        let kind = TrapKind::DivisionByZero;
        let mut traps = Traps::none();
        // What is cut off may come again, on both sides of the length at which a list is long.
        for cut in [0, LONG / 2, LONG - 1, LONG, LONG + 1, 2 * LONG] {
            traps.truncate(cut);
            assert_eq!(traps.len(), cut);
            for condition in conditions.iter().chain(&conditions) {
                traps.add(&pool, kind, *condition);
            }
            let kept: Vec<Term> = traps.iter().map(|(_, condition)| condition).collect();
            assert_eq!(kept, conditions, "after a cut at {cut}");
        }
        traps.add(&pool, TrapKind::SignedOverflow, conditions[0]);
        assert_eq!(traps.len(), conditions.len() + 1, "another kind is another trap");
    }
}
