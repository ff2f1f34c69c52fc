//! The invariants that the proof of one goal needs.
//!
//! They are found backwards: those in the core of the goal's contradiction, and then those in the cores
//! of each transition's query for one that is needed already (as inductive validity cores of Ghassabani,
//! Gacek and Whalen: *Efficient Generation of Inductive Validity Cores for Safety Properties*, 2016).
//! Each query of the certificate's check is then one that was answered here.

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Term};

use crate::engines::invariants::{Consecution, Invariants};
use crate::engines::queries::Queries;
use crate::system::{GoalId, System};

/// The needed ones of some invariants that exclude a goal; all of them if a query has no answer.
pub(crate) fn needed(
    queries: &mut Queries<'_>,
    system: &System,
    goal: GoalId,
    invariants: &Invariants,
) -> Invariants {
    let mut core = InductiveCore {
        system,
        invariants,
        needed: vec![Vec::new(); system.points.len()],
        waiting: Vec::new(),
        consecution: Consecution::new(system),
    };
    match core.find(queries, goal) {
        Some(()) => core.needed,
        None => invariants.clone(),
    }
}

struct InductiveCore<'s> {
    system: &'s System,
    invariants: &'s Invariants,
    needed: Invariants,
    /// Needed formulas whose own reasons are not known, with the positions of their points.
    waiting: Vec<(usize, Term)>,
    consecution: Consecution<'s>,
}

impl InductiveCore<'_> {
    fn find(&mut self, queries: &mut Queries<'_>, goal: GoalId) -> Option<()> {
        let system = self.system;
        for approach in &system.goals[goal].approaches {
            let at = approach.from.index();
            let answer = queries.check_with(&[approach.condition], &self.invariants[at]);
            self.note(at, &answer)?;
        }
        while let Some((at, formula)) = self.waiting.pop() {
            for (index, transition) in system.transitions.iter().enumerate() {
                if transition.to.index() != at {
                    continue;
                }
                let from = transition.from.index();
                // Without other formulas first: most need few.
                let own = [formula];
                let alone: &[Term] = if from == at { &own } else { &[] };
                let short = self.consecution.violate(queries, index, alone, &own);
                if short.is_unsat() {
                    continue;
                }
                let premises = &self.invariants[from];
                let answer = self.consecution.violate(queries, index, premises, &own);
                self.note(from, &answer)?;
            }
        }
        Some(())
    }

    /// Notes the formulas in the core of an answer as needed.
    fn note(&mut self, at: usize, answer: &Answer) -> Option<()> {
        let Answer::Unsat { core } = answer else { return None };
        for formula in &self.invariants[at] {
            let in_core = core.as_ref().is_none_or(|core| core.contains(formula));
            if in_core && !self.needed[at].contains(formula) {
                self.needed[at].push(*formula);
                self.waiting.push((at, *formula));
            }
        }
        Some(())
    }
}
