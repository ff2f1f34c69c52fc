//! Contracts of recursive functions: formulas about arguments and results of each call that returns.
//!
//! The system has contracts as premises of the transitions with the calls. They hold if they are
//! invariants, at the points of return, of the system that has them as premises: of all returns in a run
//! of the program, the first one that violates its contract comes after calls that all satisfied theirs.
//! This is the rule for recursive procedures (Hoare 1971, *Procedures and Parameters: An Axiomatic Approach*,
//! 1971).

use lydian_base::EntityId as _;
use lydian_smt::{Limits, Solver, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::engines::certificate::{Argument, Certificate, Flaw, Parameters};
use crate::engines::invariants::{Invariants, extend};
use crate::system::{Approach, Goal, PointId, RecursiveCall, System};

/// A system with calls of recursive functions.
#[derive(Clone, Copy, Debug)]
pub struct Recursive<'s> {
    /// The system, in which a call may give anything.
    pub system: &'s System,
    /// The calls.
    pub calls: &'s [RecursiveCall],
}

impl<'s> Recursive<'s> {
    /// The calls on paths from a point, in order.
    pub(crate) fn calls_from(
        &self,
        point: PointId,
    ) -> impl Iterator<Item = &'s RecursiveCall> + use<'s> {
        self.calls.iter().filter(move |call| call.from == point)
    }
}

/// Contracts, and the other invariants that show that they hold.
#[derive(Clone, Debug)]
pub struct Contracts {
    /// Formulas by point. Those at points of return are the contracts.
    pub(crate) invariants: Invariants,
}

impl Contracts {
    /// Contracts that say nothing.
    pub fn none(system: &System) -> Self {
        Self { invariants: vec![Vec::new(); system.points.len()] }
    }

    /// Adds formulas that hold if the contracts do.
    pub(crate) fn extend(&mut self, more: Invariants) {
        extend(&mut self.invariants, more);
    }

    /// The formulas by point. Those at points of return are the contracts.
    pub fn formulas(&self) -> &[Vec<Term>] {
        &self.invariants
    }

    /// The formulas at a point.
    pub fn at(&self, point: PointId) -> &[Term] {
        &self.invariants[point.index()]
    }

    /// The system with the contracts as premises.
    pub fn close(&self, pool: &mut TermPool, recursive: Recursive<'_>) -> System {
        let mut system = recursive.system.clone();
        for call in recursive.calls {
            let premises = match call.exit {
                Some(exit) => {
                    self.at(exit).iter().filter_map(|own| instance(pool, call, *own)).collect()
                }
                None => vec![pool.not(call.returns)],
            };
            let premise = pool.and_all(premises);
            let guards = system.transitions.iter_mut().filter(|way| way.from == call.from);
            let guards = guards.map(|way| &mut way.guard);
            let approaches = system.goals.iter_mut().flat_map(|(_, goal)| &mut goal.approaches);
            let approaches = approaches.filter(|way| way.from == call.from);
            for condition in guards.chain(approaches.map(|way| &mut way.condition)) {
                if pool.vars_of(*condition).contains(&call.returns) {
                    *condition = pool.and(*condition, premise);
                }
            }
        }
        system
    }

    /// Confirms by queries of its own that the contracts hold. Uses the limits' time for each query.
    ///
    /// # Errors
    /// Where some part is false, or a query has no answer.
    pub fn check(
        &self,
        pool: &mut TermPool,
        recursive: Recursive<'_>,
        solver: &mut dyn Solver,
        limits: &Limits,
    ) -> Result<(), Flaw> {
        let mut system = self.close(pool, recursive);
        let mut approaches = Vec::new();
        for point in system.points.ids() {
            let holds = pool.and_all(self.at(point).iter().copied());
            approaches.push(Approach { from: point, condition: pool.not(holds) });
        }
        approaches.retain(|approach| pool.as_bool(approach.condition) != Some(false));
        let goal =
            system.goals.push(Goal { name: "a contract is violated".to_owned(), approaches });
        let invariants = self.invariants.clone();
        let certificate = Certificate {
            depth: 1,
            argument: Argument::Induction,
            invariants,
            parameters: Parameters::default(),
        };
        certificate.check(pool, &system, goal, solver, limits)
    }
}

/// A contract about a call, under the condition that it returns; none if the contract speaks of more than
/// the call's values.
pub(crate) fn instance(pool: &mut TermPool, call: &RecursiveCall, contract: Term) -> Option<Term> {
    let mut known: FxHashMap<Term, Term> = call.values.iter().copied().collect();
    let symbols = pool.vars_of(contract);
    symbols.iter().all(|symbol| known.contains_key(symbol)).then_some(())?;
    let holds = pool.substituted(contract, &mut known);
    let stays = pool.not(call.returns);
    Some(pool.or(stays, holds))
}
