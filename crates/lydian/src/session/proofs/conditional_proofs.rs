//! Local proofs under an assumption about inputs, of labels that exploration left.
//!
//! Mutants of subscripts read before an array (`s[-i]`). A complete exploration calls them infeasible
//! as assumed, under the assumption that no elements lie there. An exploration may be incomplete
//! because arrays can be longer than those tried, or because time ran out. Then local proofs under the
//! same assumption prove most of these mutants infeasible without it. They come last, so that no label
//! that a test covers is tried. The assumption is not made about objects before which the program
//! itself may read: for these, inputs are tried ([`leading_elements`](crate::session::rounds)).
//!
//! The remaining labels are tried under another assumption: that no object of the inputs has
//! [`LARGE_OBJECT`] bytes. It excludes subscripts that are the least number of their type, whose
//! predecessor would be the greatest. No test of Lydian's has such an object, and any tester grants the
//! assumption.

use std::time::{Duration, Instant};

use lydian_base::Budget;
use lydian_inputs::Start;
use lydian_inputs::bounds::nothing_before;
use lydian_objective::evidence::Evidence;
use lydian_objective::{Assumption, AssumptionKind, LabelId};
use lydian_prove::ranges::LARGE_OBJECT;
use lydian_prove::{LocalOutcome, LocalProver};
use lydian_smt::TermPool;
use lydian_symex::{Config, Mode, Summary};

use super::local::{PROOF_TIME, semantics};
use crate::error::Error;
use crate::session::goals::{FunctionUnderTest, Goal};
use crate::session::state::Session;

/// The time for all of these proofs for one function under test.
const TIME: Duration = Duration::from_millis(500);

impl<'a> Session<'a, '_> {
    /// Tries to prove labels infeasible that exploration left, under its assumptions about inputs.
    pub(crate) fn prove_assuming(
        &mut self,
        summary: &Summary,
        config: &Config,
        budget: &Budget,
    ) -> Result<(), Error> {
        let is_disturbed = self.project.undisturbed(self.entry).is_some();
        if config.mode == Mode::Plain || self.project.entry().is_some() || is_disturbed {
            return Ok(());
        }
        let starts = summary.starts.iter().filter(|(_, early)| !early);
        let starts: Vec<&Start> = starts.map(|(start, _)| start).collect();
        for (at, target) in self.targets.iter().enumerate() {
            // The parameters of functions with other callers can point anywhere.
            if target.objectives.function == self.entry {
                let attempt = Attempt { at, target, config, budget, begun: Instant::now() };
                let from_starts = self.proofs_from_starts(&attempt, &starts)?;
                self.record_evidence(&from_starts)?;
                let of_small_objects = self.proofs_of_small_objects(&attempt)?;
                self.record_evidence(&of_small_objects)?;
            }
        }
        Ok(())
    }

    /// Proofs under the assumption that no elements lie before some objects.
    fn proofs_from_starts(
        &self,
        attempt: &Attempt<'_>,
        starts: &[&Start],
    ) -> Result<Vec<(Goal, Evidence)>, Error> {
        if starts.is_empty() {
            return Ok(Vec::new());
        }
        let positions: Vec<usize> = starts.iter().map(|start| start.argument).collect();
        let program = &self.project.program;
        let equip =
            &|prover: LocalProver<'a>| prover.with_ranges(program).assuming_starts(&positions);
        self.proofs_assuming(attempt, equip, |prover| {
            let used: Vec<usize> = prover.starts_used().collect();
            let named = starts.iter().filter(|start| used.contains(&start.argument));
            named.map(|start| nothing_before(&start.name)).collect()
        })
    }

    /// Proofs under the assumption that objects are not very large.
    fn proofs_of_small_objects(
        &self,
        attempt: &Attempt<'_>,
    ) -> Result<Vec<(Goal, Evidence)>, Error> {
        let program = &self.project.program;
        let equip = &|prover: LocalProver<'a>| prover.assuming_small_objects(program);
        let sentence = format!("no object of the inputs has {LARGE_OBJECT} bytes or more");
        let small = Assumption::new(AssumptionKind::ObjectSize, "", sentence);
        self.proofs_assuming(attempt, equip, |_| vec![small.clone()])
    }

    /// The open labels that a prover proves infeasible, with the assumptions of each proof. Transformed
    /// conditions of augmentation are not tried.
    fn proofs_assuming(
        &self,
        attempt: &Attempt<'_>,
        equip: &dyn Fn(LocalProver<'a>) -> LocalProver<'a>,
        assumptions: impl Fn(&LocalProver<'a>) -> Vec<Assumption>,
    ) -> Result<Vec<(Goal, Evidence)>, Error> {
        let Attempt { at, target, config, budget, begun } = *attempt;
        let (program, objectives) = (&self.project.program, self.targets[at].objectives);
        let mut proofs = Vec::new();
        let Some(body) = &program.functions[objectives.function].body else { return Ok(proofs) };
        let mut left = self.open_goals_of(at, target)?;
        if config.augmentation.is_some() {
            self.remove_transformed(&mut left);
        }
        let left: Vec<LabelId> = left.into_iter().filter_map(Goal::label).collect();
        if left.is_empty() {
            return Ok(proofs);
        }
        let prover = LocalProver::new(&program.types, body, objectives, semantics(config));
        let mut prover = equip(prover);
        let (mut pool, mut solver) = (TermPool::new(), self.solver(objectives.function));
        for label in left {
            let time = TIME.saturating_sub(begun.elapsed()).min(PROOF_TIME);
            if time.is_zero() || budget.cancel_token().is_cancelled() {
                break;
            }
            let mut limits = lydian_smt::Limits::time(time);
            limits.interrupt = Some(budget.cancel_token().flag().clone());
            let asked = &objectives.labels[label];
            let found = prover.prove(&mut pool, &mut *solver, &limits, asked);
            log::debug!(
                "a proof under assumptions that `{}` at {} is infeasible: {found}",
                asked.text,
                asked.place
            );
            if matches!(found, LocalOutcome::Infeasible) {
                let spec = &self.project.spec;
                let is_stated = |one: &Assumption| spec.states(program, self.entry, one);
                let (stated, assumed): (Vec<_>, Vec<_>) =
                    assumptions(&prover).into_iter().partition(is_stated);
                let stated: Vec<&str> = stated.iter().map(|one| one.sentence.as_str()).collect();
                let evidence = Evidence::Complete {
                    method: Evidence::ASSUMING.to_owned(),
                    preconditions: stated.join("; "),
                    assumptions: assumed,
                    invariants: Vec::new(),
                    certificates: Vec::new(),
                };
                proofs.push((Goal::Label(at, label), evidence));
            }
        }
        Ok(proofs)
    }
}

/// An attempt at proofs for a function under test.
struct Attempt<'s> {
    /// Its position.
    at: usize,
    target: &'s FunctionUnderTest<'s>,
    config: &'s Config,
    budget: &'s Budget,
    /// When they began.
    begun: Instant,
}
