//! Local proofs under an assumption about inputs, of labels that exploration left.
//!
//! Mutants of subscripts read before an array (`s[-i]`). An exploration that is complete says of them
//! that they are infeasible, and tells that it assumed nothing to lie there. Where it is not, since
//! arrays can be longer than were tried or there was no time, the same assumption proves most of them
//! without it. This comes last: a label that some test covers is never asked about. Nor is it assumed of
//! objects before which the program itself may read: there inputs are looked for
//! ([`earlier`](super::earlier)).

use std::time::{Duration, Instant};

use lydian_base::Budget;
use lydian_objective::LabelId;
use lydian_objective::ledger::Evidence;
use lydian_prove::{LocalOutcome, LocalProver};
use lydian_smt::{ChainConfig, TermPool, standard_chain};
use lydian_symex::inputs::Start;
use lydian_symex::inputs::bounds::nothing_before;
use lydian_symex::{Config, Mode, Summary};

use super::{Goal, PROOF_TIME, Session, Target, semantics};
use crate::exit::Failure;

/// The time for all of these proofs of a target.
const TIME: Duration = Duration::from_millis(500);

impl Session<'_, '_> {
    /// Labels that exploration left, and that are infeasible under what it assumes of inputs.
    pub(super) fn prove_assuming(
        &mut self,
        summary: &Summary,
        config: &Config,
        budget: &Budget,
    ) -> Result<(), Failure> {
        let starts = summary.starts.iter().filter(|(_, early)| !early);
        let starts: Vec<&Start> = starts.map(|(start, _)| start).collect();
        if config.mode == Mode::Plain || self.loaded.entry.is_some() || starts.is_empty() {
            return Ok(());
        }
        let mut proofs = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            // The parameters of what is called by others can point anywhere.
            if target.objectives.function == self.entry {
                proofs.extend(self.proofs_assuming(at, target, &starts, config, budget)?);
            }
        }
        self.record_evidence(&proofs)
    }

    fn proofs_assuming(
        &self,
        at: usize,
        target: &Target<'_>,
        starts: &[&Start],
        config: &Config,
        budget: &Budget,
    ) -> Result<Vec<(Goal, Evidence)>, Failure> {
        let (program, objectives) = (&self.loaded.program, target.objectives);
        let mut proofs = Vec::new();
        let Some(body) = &program.functions[objectives.function].body else { return Ok(proofs) };
        let left = self.left_of(at, target)?;
        let left: Vec<LabelId> = left.into_iter().filter_map(Goal::label).collect();
        if left.is_empty() {
            return Ok(proofs);
        }
        let positions: Vec<usize> = starts.iter().map(|start| start.argument).collect();
        let prover = LocalProver::new(&program.types, body, objectives, semantics(config));
        let mut prover = prover.with_ranges(program).assuming_starts(&positions);
        let (mut pool, mut solver) = (TermPool::new(), standard_chain(&ChainConfig::default()));
        let begun = Instant::now();
        for label in left {
            let time = TIME.saturating_sub(begun.elapsed()).min(PROOF_TIME);
            if time.is_zero() || budget.cancel_token().is_cancelled() {
                break;
            }
            let mut limits = lydian_smt::Limits::time(time);
            limits.interrupt = Some(budget.cancel_token().flag().clone());
            let asked = &objectives.labels[label];
            let found = prover.prove(&mut pool, &mut *solver, &limits, asked);
            if !matches!(found, LocalOutcome::Infeasible) {
                continue;
            }
            let used: Vec<usize> = prover.starts_used().collect();
            let named = starts.iter().filter(|start| used.contains(&start.argument));
            let preconditions: Vec<String> =
                named.map(|start| nothing_before(&start.name)).collect();
            let evidence = Evidence::Complete {
                method: Evidence::ASSUMING.to_owned(),
                preconditions: preconditions.join("; "),
            };
            proofs.push((Goal::Label(at, label), evidence));
        }
        Ok(proofs)
    }
}
