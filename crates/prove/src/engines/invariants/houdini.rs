//! The largest set of candidates that all transitions preserve together.
//!
//! Houdini (Flanagan and Leino: *Houdini, an Annotation Assistant for ESC/Java*, 2001): all candidates
//! are assumed where a transition begins. Those that can fail where it ends are removed, until none can.
//! A model of a failure removes every candidate that is false in it.

use lydian_base::EntityId as _;
use lydian_smt::Answer;

use crate::engines::invariants::{Consecution, Invariants, both, settle};
use crate::engines::queries::Queries;
use crate::system::{System, Transition};

/// The candidates that are left.
pub(crate) struct Survivors {
    /// The candidates by point.
    pub(crate) candidates: Invariants,
    /// Whether they hold on every run; else the time was over before that was known.
    pub(crate) hold: bool,
}

/// The candidates that hold at their points on every run. `known` are other formulas that do.
pub(crate) fn preserved(
    queries: &mut Queries<'_>,
    system: &System,
    known: &Invariants,
    candidates: Invariants,
) -> Survivors {
    let mut houdini = Houdini { system, known, candidates, consecution: Consecution::new(system) };
    houdini.candidates[system.entry.index()].clear();
    let begins = |transition: &Transition, point| transition.from == point;
    let hold =
        settle(queries, system, begins, |queries, index| houdini.remove_failing(queries, index));
    Survivors { candidates: houdini.candidates, hold }
}

struct Houdini<'s> {
    system: &'s System,
    known: &'s Invariants,
    candidates: Invariants,
    consecution: Consecution<'s>,
}

impl Houdini<'_> {
    /// Removes candidates that fail, or are not shown to hold, where a transition ends. Whether some did.
    fn remove_failing(&mut self, queries: &mut Queries<'_>, index: usize) -> bool {
        let transition = &self.system.transitions[index];
        let to = transition.to.index();
        let claims = self.candidates[to].clone();
        if claims.is_empty() || queries.expired() {
            return false;
        }
        let premises = both(self.known, &self.candidates, transition.from);
        let kept = match self.consecution.violate(queries, index, &premises, &claims) {
            Answer::Unsat { .. } => return false,
            Answer::Sat(model) => self.consecution.kept(queries.pool, index, &model, &claims),
            Answer::Unknown(_) => self.consecution.kept_alone(queries, index, &premises, &claims),
        };
        self.candidates[to] = kept;
        self.candidates[to].len() < claims.len()
    }
}
