//! The request that annotators follow: criteria, limits, and the files of the user's objectives.

use crate::criterion::Criterion;
use crate::htol::HtolFile;

/// The criteria whose objectives are made, and the limits on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The criteria, in the order of the result. A criterion named twice counts once.
    pub criteria: Vec<Criterion>,
    /// The most conditions for which `mcc` makes objectives, since their number is 2^n. A decision
    /// with more gets none, and a warning. At most 20.
    pub mcc_conditions: u32,
    /// The most other variables that `wm` puts in the place of an assigned one.
    pub replaced_targets: usize,
    /// Whether a condition that evaluation does not reach has no value. Its value is then free for
    /// the active clause criteria, as in Table I of [003] ([`super::logic::clauses`]).
    pub short_circuit: bool,
    /// The most paths of a function for which a criterion of paths makes objectives. A function
    /// with more gets none, and a warning.
    pub paths: usize,
    /// The most times that `cpc` lets a node occur again on one path.
    pub loop_turns: u32,
    /// The files with the hyperlabels of `htol` and the paths of `spc`.
    pub htol: Vec<HtolFile>,
}

impl Request {
    /// A request for criteria with the usual limits: 16 conditions, 4 other variables, 2,000 paths,
    /// loops turned twice. Conditions that are not reached have their value on the state.
    pub fn new(criteria: impl Into<Vec<Criterion>>) -> Self {
        Self {
            criteria: criteria.into(),
            mcc_conditions: 16,
            replaced_targets: 4,
            short_circuit: false,
            paths: 2000,
            loop_turns: 2,
            htol: Vec::new(),
        }
    }
}
