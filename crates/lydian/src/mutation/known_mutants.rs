//! What earlier runs found out about the mutants of functions, for the criterion of strong mutation.
//!
//! A run leaves the tests that it made for mutants, and the verdicts of explorations. A later run with the
//! same code and configuration runs these tests first, and explores a mutant again only if it may take more
//! time than the one that left it open. Whether a test kills a mutant is found out each time.

use std::collections::BTreeMap;
use std::time::Duration;

use lydian_ledger::PortableTest;
use lydian_objective::Assumption;
use serde::{Deserialize, Serialize};

use super::killing::{EXPLORED, StrongVerdict};

/// The records of functions, by their names.
pub(crate) type KnownMutants = BTreeMap<String, MutantRecord>;

/// What is known of the mutants of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MutantRecord {
    /// The tests that were made for them.
    pub(crate) tests: Vec<PortableTest>,
    /// What explorations found, by the keys of mutants.
    pub(crate) verdicts: BTreeMap<String, KeptVerdict>,
}

/// What the exploration of a mutant found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum KeptVerdict {
    /// No input tells it from the original, under these assumptions.
    Equivalent(Vec<Assumption>),
    /// It is not known, for this reason.
    Unknown {
        reason: String,
        /// The time for the function, in milliseconds.
        time: u64,
    },
}

impl KeptVerdict {
    /// What is kept of a verdict on a mutant that was explored; none of other arguments.
    pub(crate) fn of(verdict: &StrongVerdict, time: Duration) -> Option<Self> {
        match verdict {
            StrongVerdict::Equivalent(how) => {
                (*how == EXPLORED).then(|| Self::Equivalent(Vec::new()))
            }
            StrongVerdict::EquivalentAsAssumed(all) => Some(Self::Equivalent(all.clone())),
            StrongVerdict::Unknown(reason) => {
                Some(Self::Unknown { reason: reason.clone(), time: milliseconds(time) })
            }
            StrongVerdict::Killed(_) | StrongVerdict::Contradictory(_) => None,
        }
    }

    /// The verdict for a run with some time; none if that is more than the exploration had.
    pub(crate) fn within(&self, time: Duration) -> Option<StrongVerdict> {
        match self {
            Self::Equivalent(all) if all.is_empty() => Some(StrongVerdict::Equivalent(EXPLORED)),
            Self::Equivalent(all) => Some(StrongVerdict::EquivalentAsAssumed(all.clone())),
            Self::Unknown { reason, time: had } => {
                (milliseconds(time) <= *had).then(|| StrongVerdict::Unknown(reason.clone()))
            }
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_that_stayed_open_is_explored_again_with_more_time() {
        let (short, long) = (Duration::from_secs(2), Duration::from_secs(3));
        let open = StrongVerdict::Unknown("no time".to_owned());
        let kept = KeptVerdict::of(&open, short).expect("it is kept");
        assert_eq!(kept.within(short), Some(open));
        assert_eq!(kept.within(long), None);
        let same = StrongVerdict::Equivalent(EXPLORED);
        let kept = KeptVerdict::of(&same, short).expect("it is kept");
        assert_eq!(kept.within(long), Some(same));
        assert_eq!(KeptVerdict::of(&StrongVerdict::Killed("t".to_owned()), short), None);
        let by_code = StrongVerdict::Equivalent("same optimised code");
        assert_eq!(KeptVerdict::of(&by_code, short), None, "comparing code is quick");
    }
}
