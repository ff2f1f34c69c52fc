//! Contracts that proofs do not need are left out, the larger groups first (Zeller and Hildebrandt:
//! *Simplifying and Isolating Failure-Inducing Input*, 2002).

use std::time::Duration;

use lydian_smt::{Limits, Solver, Term, TermPool};

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::recursion::contracts::{Contracts, Recursive};
use crate::engines::recursion::induction::inductive;
use crate::engines::schedule::{Decision, Verdict};

/// The time in all.
const TIME: Duration = Duration::from_millis(500);
/// The time of a query.
const QUERY: Duration = Duration::from_millis(100);

/// Proofs, and the system that they are about.
#[derive(Clone, Copy)]
pub(crate) struct Proofs<'p> {
    pub(crate) recursive: Recursive<'p>,
    pub(crate) verdicts: &'p [Option<Verdict>],
    pub(crate) limits: &'p Limits,
}

/// Contracts that suffice for all proofs.
pub(crate) fn reduced(
    pool: &mut TermPool,
    solver: &mut dyn Solver,
    proofs: Proofs<'_>,
    contracts: Contracts,
) -> Contracts {
    let limits = proofs.limits.within(TIME);
    let proofs = Proofs { limits: &limits, ..proofs };
    let mut best = contracts;
    let mut size = count(&best.invariants);
    while size > 0 {
        let mut at = 0;
        while at < count(&best.invariants) {
            if limits.expired() {
                return best;
            }
            let trial = without(&best.invariants, at, size);
            match suffice(pool, solver, proofs, trial) {
                Some(smaller) => best = smaller,
                None => at += size,
            }
        }
        size /= 2;
    }
    best
}

fn count(formulas: &Invariants) -> usize {
    formulas.iter().map(Vec::len).sum()
}

/// The formulas but for some, by their position among all.
fn without(formulas: &Invariants, from: usize, size: usize) -> Invariants {
    let mut at = 0;
    let mut is_kept = |_: &&Term| {
        at += 1;
        !(from..from + size).contains(&(at - 1))
    };
    let kept = formulas.iter().map(|own| own.iter().filter(&mut is_kept).copied().collect());
    kept.collect()
}

/// What holds of some formulas, if the proofs stand with it.
fn suffice(
    pool: &mut TermPool,
    solver: &mut dyn Solver,
    proofs: Proofs<'_>,
    formulas: Invariants,
) -> Option<Contracts> {
    let system = proofs.recursive.system;
    let none = Contracts::none(system).invariants;
    let mut queries = Queries::new(pool, solver, proofs.limits, QUERY);
    let found = inductive(&mut queries, proofs.recursive, &none, formulas);
    found.hold.then_some(())?;
    let contracts = Contracts { invariants: found.candidates };
    let system = contracts.close(pool, proofs.recursive);
    let limits = Limits { time: Some(QUERY), ..proofs.limits.clone() };
    let stands = proofs.verdicts.iter().flatten().all(|verdict| match &verdict.decision {
        Decision::Unreachable(certificate) => {
            !limits.expired()
                && certificate.check(pool, &system, verdict.goal, solver, &limits).is_ok()
        }
        _ => true,
    });
    stands.then_some(contracts)
}
