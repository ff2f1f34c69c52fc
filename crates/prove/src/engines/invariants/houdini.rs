//! The largest set of candidates that all transitions preserve together.
//!
//! Houdini (Flanagan and Leino: *Houdini, an Annotation Assistant for ESC/Java*, 2001): all candidates
//! are assumed where a transition begins. Those that can fail where it ends are removed, until none can.
//! A model of a failure removes every candidate that is false in it.

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Term, TermPool};

use crate::engines::invariants::{Consecution, Invariants, both, settle};
use crate::engines::queries::Queries;
use crate::system::{PointId, System, Transition};

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
    let begins = |transition: &Transition, point| transition.from == point;
    let premises = |_: &mut TermPool, transition: &Transition, candidates: &Invariants| {
        both(known, candidates, transition.from)
    };
    preserved_with(queries, system, candidates, begins, premises)
}

/// The same, where `premises` are those of a transition with some candidates, and `again` has the
/// transitions whose premises may become fewer with the candidates at a point.
pub(crate) fn preserved_with(
    queries: &mut Queries<'_>,
    system: &System,
    mut candidates: Invariants,
    again: impl Fn(&Transition, PointId) -> bool,
    mut premises: impl FnMut(&mut TermPool, &Transition, &Invariants) -> Vec<Term>,
) -> Survivors {
    let mut consecution = Consecution::new(system);
    candidates[system.entry.index()].clear();
    let hold = settle(queries, system, again, |queries, index| {
        let transition = &system.transitions[index];
        let to = transition.to.index();
        let claims = candidates[to].clone();
        if claims.is_empty() || queries.expired() {
            return false;
        }
        let premises = premises(queries.pool, transition, &candidates);
        candidates[to] = match consecution.violate(queries, index, &premises, &claims) {
            Answer::Unsat { .. } => return false,
            Answer::Sat(model) => consecution.kept(queries.pool, index, &model, &claims),
            Answer::Unknown(_) => consecution.kept_alone(queries, index, &premises, &claims),
        };
        candidates[to].len() < claims.len()
    });
    Survivors { candidates, hold }
}
